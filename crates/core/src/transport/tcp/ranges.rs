//! The out-of-order queue of a receiver: disjoint ranges of octets, sorted.

use std::collections::VecDeque;

/// Sorted ranges `[start, end)` that neither overlap nor touch.
#[derive(Clone, Debug, Default)]
pub(super) struct Ranges(VecDeque<(u64, u64)>);

impl Ranges {
    /// Return whether there are no ranges.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Remove all ranges.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Add `[start, end)`; returns how many of its octets were already in ranges.
    pub(super) fn insert(&mut self, start: u64, end: u64) -> u64 {
        match self.0.back_mut() {
            Some(last) if start < last.1 => return self.merge(start, end),
            Some(last) if start == last.1 => last.1 = end,
            _ => self.0.push_back((start, end)),
        }
        0
    }

    /// Insert a range that may touch or overlap ranges in the list.
    fn merge(&mut self, start: u64, end: u64) -> u64 {
        let index = self.0.partition_point(|range| range.1 < start);
        let (mut merged, mut known) = ((start, end), 0);
        while let Some(&range) = self.0.get(index).filter(|range| range.0 <= end) {
            known += range.1.min(end).saturating_sub(range.0.max(start));
            merged = (merged.0.min(range.0), merged.1.max(range.1));
            self.0.remove(index);
        }
        self.0.insert(index, merged);
        known
    }

    /// Return the range that contains an octet, if there is one.
    pub(super) fn containing(&self, octet: u64) -> Option<(u64, u64)> {
        let index = self.0.partition_point(|range| range.1 <= octet);
        self.0.get(index).copied().filter(|range| range.0 <= octet)
    }

    /// Return the end of the range that contains an octet (`Ok`), otherwise the start of the next range (`Err`).
    pub(super) fn around(&self, octet: u64) -> Result<u64, u64> {
        let index = self.0.partition_point(|range| range.1 <= octet);
        match self.0.get(index) {
            Some(&(start, end)) if start <= octet => Ok(end),
            Some(&(start, _)) => Err(start),
            None => Err(u64::MAX),
        }
    }

    /// Return the ranges, the last one first.
    pub(super) fn descending(&self) -> impl Iterator<Item = (u64, u64)> {
        self.0.iter().rev().copied()
    }

    /// Remove the ranges that continue the octets below `next`; returns the octet that is then expected next.
    pub(super) fn advance(&mut self, mut next: u64) -> u64 {
        while let Some(&(_, end)) = self.0.front().filter(|range| range.0 <= next) {
            next = next.max(end);
            self.0.pop_front();
        }
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_merge_where_they_touch_or_overlap() {
        let mut ranges = Ranges::default();
        assert_eq!(ranges.insert(10, 20), 0);
        assert_eq!(ranges.insert(30, 40), 0);
        assert_eq!(ranges.insert(50, 60), 0);
        assert_eq!(ranges.insert(20, 30), 0);
        assert_eq!(ranges.0, [(10, 40), (50, 60)]);
        assert_eq!(ranges.insert(35, 55), 10);
        assert_eq!(ranges.0, [(10, 60)]);
        assert_eq!(ranges.insert(0, 100), 50);
        assert_eq!(ranges.0, [(0, 100)]);
        assert_eq!(ranges.insert(20, 30), 10);
    }

    #[test]
    fn advancing_takes_what_joins_up_and_leaves_what_lies_behind_a_hole() {
        let mut ranges = Ranges::default();
        for (start, end) in [(10, 20), (30, 40), (2, 5)] {
            ranges.insert(start, end);
        }
        assert_eq!(ranges.advance(1), 1);
        assert_eq!(ranges.advance(12), 20);
        assert_eq!(ranges.0, [(30, 40)]);
        assert_eq!(ranges.advance(30), 40);
        assert!(ranges.is_empty());
    }
}
