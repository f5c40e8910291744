//! The capacity of a buffer: B, if it has a limit.

use core::fmt;

/// Capacity of a buffer, in the port's measure.
///
/// Ports test for room at every cell, so the capacity is one number, and the test is one comparison. The number is
/// private: formulas with B use [`limit`](Capacity::limit), which is `None` for an unlimited buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity(u64);

impl Capacity {
    /// The capacity of an unlimited buffer.
    pub const UNLIMITED: Capacity = Capacity(u64::MAX);

    /// Build a capacity of `most`; the largest number of 64 bits stands for an unlimited buffer.
    pub const fn limited(most: u64) -> Capacity {
        Capacity(most)
    }

    /// Return the limit B, or `None` for an unlimited buffer.
    pub fn limit(self) -> Option<u64> {
        self.is_limited().then_some(self.0)
    }

    /// Return whether there is a limit.
    pub fn is_limited(self) -> bool {
        self != Capacity::UNLIMITED
    }

    /// Return whether the buffer can hold a total of `level`.
    #[inline]
    pub fn holds(self, level: u64) -> bool {
        level <= self.0
    }

    /// Return the lesser of `level` and the capacity.
    #[inline]
    pub(crate) fn up_to(self, level: u64) -> u64 {
        self.0.min(level)
    }

    /// Return the free room at the occupancy `level`: in an unlimited buffer more than a run can fill.
    #[inline]
    pub(crate) fn beside(self, level: u64) -> u64 {
        self.0.saturating_sub(level)
    }
}

impl fmt::Display for Capacity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.limit() {
            Some(limit) => limit.fmt(f),
            None => f.write_str("unlimited"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limited_buffer_holds_up_to_its_limit() {
        let ten = Capacity::limited(10);
        assert!(ten.holds(10) && !ten.holds(11));
        assert_eq!((ten.limit(), ten.to_string().as_str()), (Some(10), "10"));
        assert_eq!((ten.up_to(7), ten.up_to(12), ten.beside(4), ten.beside(11)), (7, 10, 6, 0));
    }

    #[test]
    fn an_unlimited_one_holds_whatever_comes_and_has_no_number() {
        let all = Capacity::UNLIMITED;
        assert!(all.holds(u64::MAX));
        assert_eq!((all.limit(), all.to_string().as_str()), (None, "unlimited"));
        assert_eq!(Capacity::limited(u64::MAX), all, "no run can fill it");
        assert_eq!(all.up_to(12), 12);
    }
}
