//! Which of several things comes first.

use super::key::{Key, NEVER};

/// When each of several things comes: a tree over them of the earlier of every two.
#[derive(Clone, Debug)]
pub(super) struct Earliest(Vec<Key>);

impl Earliest {
    /// So many things that do not come.
    pub(super) fn new(things: usize) -> Earliest {
        Earliest(vec![NEVER; 2 * things.next_power_of_two()])
    }

    /// When the first one comes.
    #[inline]
    pub(super) fn first(&self) -> Key {
        self.0[ROOT]
    }

    /// Which one that is, of equal ones that with the lowest number; and when the next one of the others comes.
    #[inline]
    pub(super) fn leader(&self) -> (usize, Key) {
        let (mut node, mut others) = (ROOT, NEVER);
        while node < self.things() {
            let (left, right) = (self.0[2 * node], self.0[2 * node + 1]);
            node = 2 * node + usize::from(right < left);
            others = others.min(left.max(right));
        }
        (node - self.things(), others)
    }

    /// When one of them comes.
    #[inline]
    pub(super) fn at(&self, thing: usize) -> Key {
        self.0[self.things() + thing]
    }

    /// When one of them comes from now on.
    #[inline]
    pub(super) fn set(&mut self, thing: usize, key: Key) {
        let mut node = self.things() + thing;
        self.0[node] = key;
        while node > ROOT {
            node /= 2;
            self.0[node] = self.0[2 * node].min(self.0[2 * node + 1]);
        }
    }

    /// How many there may be.
    #[inline]
    fn things(&self) -> usize {
        self.0.len() / 2
    }
}

const ROOT: usize = 1;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_leader_is_the_first_of_those_that_come_first(
            things in 1usize..20,
            steps in prop::collection::vec((0usize..20, 0u64..9), 1..60),
        ) {
            let mut earliest = Earliest::new(things);
            for (thing, key) in steps {
                earliest.set(thing % things, Key::from(key));
                let mut keys: Vec<(Key, usize)> = (0..things).map(|thing| (earliest.at(thing), thing)).collect();
                keys.sort_unstable();
                prop_assert_eq!(earliest.first(), keys[0].0);
                prop_assert_eq!(earliest.leader(), (keys[0].1, keys.get(1).map_or(NEVER, |next| next.0)));
            }
        }
    }
}
