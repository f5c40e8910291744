//! The queue with the least value of a state variable, found without a look at all queues.

use super::code::{Type, Word};
use super::step::Steps;
use crate::units::ids::{IdVec, QueueId};

/// State variables whose least value a program looks for, over the queues with units.
#[derive(Clone, Debug)]
pub(crate) struct Ranks {
    ranks: Vec<Rank>,
    /// Whether the program can choose each queue with units. If not, it has to look at those that it can choose.
    pub(crate) are_choices: bool,
}

impl Ranks {
    /// Build the ranks of a program whose queues have no units; `initial` are the state variables of a queue.
    pub(crate) fn new(steps: &Steps, initial: &[Word], queues: usize) -> Ranks {
        let mut ranks: Vec<Rank> = Vec::new();
        for (place, kind) in steps.least() {
            if ranks.iter().all(|rank| rank.place != place) {
                ranks.push(Rank::new(place, kind, initial[usize::from(place)], queues));
            }
        }
        Ranks { ranks, are_choices: false }
    }

    /// Return the queue with the least value of a variable, if every queue with units can be chosen.
    #[inline]
    pub(super) fn least(&self, place: u8) -> Option<Option<QueueId>> {
        let rank = self.ranks.iter().find(|rank| self.are_choices && rank.place == place)?;
        Some(rank.first())
    }

    /// Record the value of a variable of a queue.
    #[inline]
    pub(super) fn set(&mut self, queue: QueueId, place: u8, word: Word) {
        self.ranks.iter_mut().filter(|rank| rank.place == place).for_each(|rank| rank.set(queue, word));
    }

    /// Record whether a queue has units.
    #[inline]
    pub(crate) fn fill(&mut self, queue: QueueId, has_units: bool) {
        self.ranks.iter_mut().for_each(|rank| rank.fill(queue, has_units));
    }
}

/// A tournament of queues: the one with the least value of a variable wins, the first of several.
#[derive(Clone, Debug)]
struct Rank {
    place: u8,
    kind: Type,
    /// The key of each queue, also of those without units.
    keys: IdVec<QueueId, i64>,
    /// Winners of matches: node 1 is the final, and the players of node n are the winners of 2n and 2n + 1. From
    /// the number of leaves on, each node is a queue.
    winners: Vec<Player>,
}

/// A queue with units, or what stands for one without: numbers in the order of their keys and, for equal keys, of the
/// queues. Without units it comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Player(i128);

const NO_PLAYER: Player = Player(i128::MAX);

impl Player {
    fn new(key: i64, queue: QueueId) -> Player {
        Player(i128::from(key) << u32::BITS | i128::from(queue.0))
    }

    fn queue(self) -> Option<QueueId> {
        (self != NO_PLAYER).then_some(QueueId(self.0 as u32))
    }
}

impl Rank {
    fn new(place: u8, kind: Type, initial: Word, queues: usize) -> Rank {
        let keys = IdVec::filled(key(kind, initial), queues);
        Rank { place, kind, keys, winners: vec![NO_PLAYER; 2 * queues.next_power_of_two()] }
    }

    fn first(&self) -> Option<QueueId> {
        self.winners[1].queue()
    }

    fn set(&mut self, queue: QueueId, word: Word) {
        self.keys[queue] = key(self.kind, word);
        if self.winners[self.leaf(queue)] != NO_PLAYER {
            self.fill(queue, true);
        }
    }

    /// Let a queue play, or no longer.
    fn fill(&mut self, queue: QueueId, has_units: bool) {
        let mut node = self.leaf(queue);
        self.winners[node] = if has_units { Player::new(self.keys[queue], queue) } else { NO_PLAYER };
        while node > 1 {
            let winner = self.winners[node].min(self.winners[node ^ 1]);
            node /= 2;
            self.winners[node] = winner;
        }
    }

    fn leaf(&self, queue: QueueId) -> usize {
        self.winners.len() / 2 + queue.index()
    }
}

/// Return an integer that orders values as they are: equal for equal values, also for 0.0 and -0.0.
fn key(kind: Type, word: Word) -> i64 {
    if kind != Type::Float {
        return word.as_int();
    }
    let bits = (word.as_float() + 0.0).to_bits().cast_signed();
    if bits < 0 { bits ^ i64::MAX } else { bits }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_winner_has_the_least_value_of_the_queues_with_units(
            queues in 1usize..20,
            is_float in any::<bool>(),
            steps in prop::collection::vec((0usize..20, 0i8..3, prop_oneof![Just(None), any::<bool>().prop_map(Some)]), 1..60),
        ) {
            let kind = if is_float { Type::Float } else { Type::Int };
            // -0.0 and 0.0 are equal.
            let word = |value: i8| match is_float {
                true => Word::float([-1.5, -0.0, 0.0][value as usize]),
                false => Word::int((value - 1).into()),
            };
            let number = |value: i8| if is_float && value > 0 { 1 } else { value };
            let mut rank = Rank::new(0, kind, word(1), queues);
            let mut model = vec![(1, false); queues];
            for (queue, value, has_units) in steps {
                let queue = queue % queues;
                match has_units {
                    None => {
                        rank.set(QueueId::new(queue), word(value));
                        model[queue].0 = number(value);
                    }
                    Some(has_units) => {
                        rank.fill(QueueId::new(queue), has_units);
                        model[queue].1 = has_units;
                    }
                }
                let backlogged = (0..queues).filter(|&queue| model[queue].1);
                let least = backlogged.min_by_key(|&queue| model[queue].0);
                prop_assert_eq!(rank.first(), least.map(QueueId::new));
            }
        }
    }
}
