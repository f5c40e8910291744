//! A set of ids whose members are found quickly in the order of their numbers.

use crate::units::ids::Id;

use core::marker::PhantomData;

/// A set of the ids below a bound: one bit each, and one bit for every word that is not empty.
///
/// Members are added and removed in constant time; the next one is found by looking at two words, and at one more for
/// every 4096 numbers in between.
#[derive(Clone, Debug)]
pub struct NumberSet<K> {
    words: Vec<u64>,
    filled: Vec<u64>,
    keys: PhantomData<fn(K)>,
}

impl<K: Id> NumberSet<K> {
    /// Build an empty set of ids below `bound`.
    pub fn new(bound: usize) -> NumberSet<K> {
        let words = bound.div_ceil(WORD);
        NumberSet { words: vec![0; words], filled: vec![0; words.div_ceil(WORD)], keys: PhantomData }
    }

    /// Return whether the set has no member.
    pub fn is_empty(&self) -> bool {
        self.filled.iter().all(|&words| words == 0)
    }

    /// Remove all members.
    pub fn clear(&mut self) {
        self.words.fill(0);
        self.filled.fill(0);
    }

    /// Return whether an id is a member.
    pub fn contains(&self, member: K) -> bool {
        let member = member.index();
        self.words[member / WORD] >> (member % WORD) & 1 == 1
    }

    /// Add a member.
    pub fn insert(&mut self, member: K) {
        let member = member.index();
        let word = member / WORD;
        self.words[word] |= 1 << (member % WORD);
        self.filled[word / WORD] |= 1 << (word % WORD);
    }

    /// Remove a member.
    pub fn remove(&mut self, member: K) {
        let member = member.index();
        let word = member / WORD;
        self.words[word] &= !(1 << (member % WORD));
        if self.words[word] == 0 {
            self.filled[word / WORD] &= !(1 << (word % WORD));
        }
    }

    /// Return the smallest member that is not below `from`.
    #[inline]
    pub fn first_from(&self, from: usize) -> Option<K> {
        let word = from / WORD;
        let rest = *self.words.get(word)? >> (from % WORD);
        if rest != 0 {
            return Some(K::new(from + rest.trailing_zeros() as usize));
        }
        let word = first_bit(&self.filled, word + 1)?;
        Some(K::new(word * WORD + self.words[word].trailing_zeros() as usize))
    }

    /// Return the first member from `from` on; after the largest member, the smallest one.
    #[inline]
    pub fn next_round(&self, from: usize) -> Option<K> {
        if let [only] = self.words[..] {
            let ahead = only.checked_shr(from as u32).unwrap_or(0);
            let next = if ahead == 0 { only.trailing_zeros() } else { from as u32 + ahead.trailing_zeros() };
            return (only != 0).then(|| K::new(next as usize));
        }
        self.first_from(from).or_else(|| self.first_from(0))
    }

    /// Return the members from `from` on, in order.
    #[inline]
    pub fn from(&self, from: usize) -> Members<'_, K> {
        let word = from / WORD;
        let rest = self.words.get(word).map_or(0, |bits| bits >> (from % WORD) << (from % WORD));
        Members { set: self, word, rest }
    }

    /// Return all members, in order.
    pub fn iter(&self) -> Members<'_, K> {
        self.from(0)
    }
}

/// Members of a set, in order.
#[derive(Clone, Debug)]
pub struct Members<'a, K> {
    set: &'a NumberSet<K>,
    /// The current word, and its bits for members not yet returned.
    word: usize,
    rest: u64,
}

impl<K: Id> Iterator for Members<'_, K> {
    type Item = K;

    #[inline]
    fn next(&mut self) -> Option<K> {
        if self.rest == 0 {
            self.word = first_bit(&self.set.filled, self.word + 1)?;
            self.rest = self.set.words[self.word];
        }
        let member = self.word * WORD + self.rest.trailing_zeros() as usize;
        self.rest &= self.rest - 1;
        Some(K::new(member))
    }
}

const WORD: usize = u64::BITS as usize;

/// Return the index of the first set bit from `from` on.
fn first_bit(words: &[u64], from: usize) -> Option<usize> {
    let start = from / WORD;
    let first = words.get(start)? >> (from % WORD);
    if first != 0 {
        return Some(from + first.trailing_zeros() as usize);
    }
    let word = (start + 1..words.len()).find(|&word| words[word] != 0)?;
    Some(word * WORD + words[word].trailing_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::ids::QueueId;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn members_are_found_in_order(
            bound in prop_oneof![1usize..100, 1usize..10_000],
            steps in prop::collection::vec((any::<bool>(), 0usize..10_000), 0..60),
            from in 0usize..10_000,
        ) {
            let (mut set, mut model) = (NumberSet::new(bound), BTreeSet::new());
            for (add, member) in steps.into_iter().map(|(add, member)| (add, QueueId::new(member % bound))) {
                if add {
                    set.insert(member);
                    model.insert(member);
                } else {
                    set.remove(member);
                    model.remove(&member);
                }
                prop_assert_eq!(set.contains(member), add);
            }
            prop_assert_eq!(set.is_empty(), model.is_empty());
            prop_assert!(set.iter().eq(model.iter().copied()));
            let ahead = model.range(QueueId::new(from)..).chain(&model).next();
            prop_assert_eq!(set.next_round(from), ahead.copied());
            prop_assert!(set.from(from).eq(model.range(QueueId::new(from)..).copied()));
        }
    }
}
