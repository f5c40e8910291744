//! The content of the buffer of a FIFO port.
//!
//! # What it assumes
//! An accepted unit is never removed, so it leaves when the line has sent everything before it.
//!
//! # What it skips
//! A queue: for cells only their number and the end of the oldest one are kept.
//!
//! # Why that is exact
//! Cells are equally long, so those in the buffer leave one cell time apart.
//!
//! # What turns it off
//! Packets, which differ in size: they are in a list with their ends.
//!
//! # What it saves
//! A queue operation per cell.

use std::collections::VecDeque;
use std::rc::Rc;

use crate::engine::exact::spacing::{ExactTime, SpacingTable, TransmissionTime};
use crate::units::{Span, Time};

/// The content of the buffer.
#[derive(Debug)]
pub(super) enum Content {
    /// `count` cells; the transmission of the oldest one ends at the exact time `ends`.
    Cells { count: u64, ends: ExactTime, pace: TransmissionTime, spacing: Rc<SpacingTable> },
    /// Units of different sizes: the end of each transmission and its size, and the sum of the sizes.
    Packets { level: u64, units: VecDeque<(Time, u64)> },
}

/// Number of cell times from which on a division is cheaper than a loop.
const LONG: u64 = 12;
/// Number of cells up to which their total transmission time is computed in 64 bits.
const FAR: u64 = 1 << 16;

impl Content {
    /// Build an empty buffer of cells with this spacing, or, with `None`, of packets.
    pub(super) fn new(cell: Option<Rc<SpacingTable>>) -> Content {
        match cell {
            Some(spacing) => {
                Content::Cells { count: 0, ends: ExactTime::default(), pace: spacing.pace, spacing }
            }
            None => Content::Packets { level: 0, units: VecDeque::new() },
        }
    }

    /// Return the occupancy.
    #[inline]
    pub(super) fn level(&self) -> u64 {
        match self {
            Content::Cells { count, .. } => *count,
            Content::Packets { level, .. } => *level,
        }
    }

    /// Remove the cells that ended before `time`; returns when the last of these ended.
    #[inline]
    pub(super) fn drop_before(&mut self, time: Time) -> Time {
        let mut left = Time::ZERO;
        match self {
            Content::Cells { count, ends, pace, .. } => {
                while *count > 0 && ends.time < time {
                    let span = time.0 - 1 - ends.time.0;
                    let jump = span > LONG * pace.whole.0;
                    let gone = if jump { (span / (pace.whole.0 + 1) + 1).min(*count).min(FAR) } else { 1 };
                    *count -= gone;
                    let last = if jump { ends.skip(gone - 1, pace) } else { *ends };
                    (left, *ends) = (last.time, last.next(pace));
                }
            }
            Content::Packets { level, units } => {
                while let Some(&(ends, size)) = units.front().filter(|(ends, _)| *ends < time) {
                    (*level, left) = (*level - size, ends);
                    units.pop_front();
                }
            }
        }
        left
    }

    /// Add `cells` cells that start back to back, the first at `start`.
    pub(super) fn join_many(&mut self, start: ExactTime, cells: u64) {
        if let Content::Cells { count, ends, pace, .. } = self {
            if *count == 0 {
                *ends = start.shifted(pace.whole);
            }
            *count += cells;
        }
    }

    /// Add a unit whose transmission begins at `start`; for a short unit this may be a picosecond or so before the
    /// present unit ends.
    #[inline]
    pub(super) fn join(&mut self, start: ExactTime, whole: Span, size: u64) {
        match self {
            Content::Cells { count, ends, .. } => {
                if *count == 0 {
                    *ends = start.shifted(whole);
                }
                *count += 1;
            }
            Content::Packets { level, units } => {
                *level += size;
                units.push_back((start.time.later(whole), size));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Rate;

    /// Cells of 10 µs.
    fn cells() -> Content {
        let pace = TransmissionTime::of_bytes(Rate(42_400_000), 53).in_lowest_terms();
        Content::new(Some(Rc::new(SpacingTable::of(pace))))
    }

    fn us(us: u64) -> Time {
        Time(us * 1_000_000)
    }

    #[test]
    fn cells_leave_one_cell_time_apart() {
        let mut content = cells();
        content.join_many(ExactTime::at(us(5)), 3);
        assert_eq!((content.drop_before(us(26)), content.level()), (us(25), 1));
    }

    #[test]
    fn a_cell_that_ends_at_an_instant_has_not_ended_before_it() {
        let mut content = cells();
        content.join(ExactTime::at(us(5)), Span::micros(10), 1);
        assert_eq!((content.drop_before(us(15)), content.level()), (Time::ZERO, 1));
        assert_eq!((content.drop_before(Time(us(15).0 + 1)), content.level()), (us(15), 0));
    }

    #[test]
    fn many_cells_leave_as_if_one_by_one() {
        let mut content = cells();
        content.join_many(ExactTime::at(us(0)), 1000);
        assert_eq!((content.drop_before(us(5001)), content.level()), (us(5000), 500));
    }

    #[test]
    fn packets_leave_with_their_sizes() {
        let mut content = Content::new(None);
        content.join(ExactTime::at(us(0)), Span::micros(3), 40);
        content.join(ExactTime::at(us(3)), Span::micros(9), 1500);
        assert_eq!((content.drop_before(us(4)), content.level()), (us(3), 1500));
    }
}
