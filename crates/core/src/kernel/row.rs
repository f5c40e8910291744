//! A row: what comes nearly in the order in which it is due, so that no heap is needed.

use std::collections::VecDeque;

/// Keys in order, each with what it brings.
#[derive(Clone, Debug)]
pub(crate) struct Row<T> {
    entries: VecDeque<(u128, T)>,
    last: u128,
}

/// Later than any key.
pub(crate) const NOTHING: u128 = u128::MAX;

impl<T> Default for Row<T> {
    fn default() -> Self {
        Row { entries: VecDeque::new(), last: 0 }
    }
}

impl<T> Row<T> {
    /// The least key, or [`NOTHING`].
    #[inline]
    pub(crate) fn first(&self) -> u128 {
        self.entries.front().map_or(NOTHING, |entry| entry.0)
    }

    /// Add a key: behind all others, or a little further ahead.
    #[inline]
    pub(crate) fn push(&mut self, key: u128, load: T) {
        self.entries.push_back((key, load));
        if key < self.last {
            self.sort_in();
        } else {
            self.last = key;
        }
    }

    /// Take the least key.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(u128, T)> {
        self.entries.pop_front()
    }

    /// The key at the end moves to its place.
    fn sort_in(&mut self) {
        let mut place = self.entries.len() - 1;
        while place > 0 && self.entries[place - 1].0 > self.entries[place].0 {
            self.entries.swap(place - 1, place);
            place -= 1;
        }
        self.last = self.entries.back().map_or(0, |entry| entry.0);
    }
}
