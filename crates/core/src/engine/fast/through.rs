//! A port at which nothing ever waits or is lost: its units come over one line, which is no faster than its own.

use super::books::{Books, Progress, Stay, Window};
use super::leg::Passage;
use crate::unit::Unit;
use crate::units::{CELL_BYTES, Time};

/// Whole frames that have left a port on one leg and have passed the ports behind it that only delay, all in the measured time.
///
/// What they add to the books of these ports follows from how many they were, so it is entered in the end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Passed {
    pub(super) frames: u64,
    pub(super) units: u64,
}

impl Passed {
    /// One more, of so many units.
    #[inline]
    pub(super) fn count(&mut self, units: u16) {
        self.frames += 1;
        self.units += u64::from(units);
    }
}

/// A port that only delays.
#[derive(Debug)]
pub(super) struct Through {
    pub(super) books: Books,
    progress: Progress,
    /// Cells that have started before the end of the run.
    pub(super) hops: u64,
}

impl Through {
    /// A port that `vcs` circuits pass.
    pub(super) fn new(window: Window, vcs: usize) -> Through {
        Through { books: Books::new(window), progress: Progress::new(vcs), hops: 0 }
    }

    /// Whole frames have passed in the measured time.
    pub(super) fn enter_passed(&mut self, passage: &Passage, Passed { frames, units }: Passed) {
        self.hops += units;
        let books = &mut self.books;
        books.max = 1;
        books.frames_in += frames;
        books.frames_whole_out += frames;
        books.units_in += units;
        books.units_out += units;
        books.bytes_out += units * CELL_BYTES;
        books.area += u128::from(units) * u128::from(passage.whole.0);
    }

    /// Cells of a frame pass, the last of which arrives at `last`. The first and the last have given `unit` their
    /// marks, and all of them are on the same side of the ends of the measured time.
    #[inline]
    pub(super) fn pass(&mut self, passage: &Passage, unit: &Unit, units: u16, last: Time) {
        let Books { window, .. } = self.books;
        if last >= window.to {
            return;
        }
        let ends = last.later(passage.whole);
        self.hops += u64::from(units);
        let whole = self.progress.sent(unit, units, passage.vc as usize, ends >= window.from);
        if ends < window.from {
            return;
        }
        let books = &mut self.books;
        books.max = 1;
        books.frames_whole_out += u64::from(whole && ends < window.to);
        if units == 1 || last < window.from || ends >= window.to {
            let (vc, arrived) = (passage.vc, last);
            return books.enter(&Stay { unit: *unit, vc, size: 1, arrived, starts: last, ends });
        }
        books.units_in += u64::from(units);
        books.units_out += u64::from(units);
        books.bytes_out += u64::from(units) * CELL_BYTES;
        books.frames_in += u64::from(unit.begins_frame());
        books.area += u128::from(units) * u128::from(passage.whole.0);
    }
}
