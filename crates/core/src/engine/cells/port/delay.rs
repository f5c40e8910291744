//! A port at which nothing ever waits or is lost: its units come over one line, which is no faster than its own.

use crate::engine::cells::topology::route::DelayHop;
use crate::engine::exact::accounting::{Accounting, Progress, Sojourn, Window};
use crate::unit::Unit;
use crate::units::{CELL_BYTES, Time};

/// Whole frames that have left a port on one leg and have passed the ports behind it that only delay, all in the measured time.
///
/// What they add to the books of these ports follows from how many they were, so it is entered in the end.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::engine) struct Passed {
    pub(in crate::engine) frames: u64,
    pub(in crate::engine) units: u64,
}

impl Passed {
    /// One more, of so many units.
    #[inline]
    pub(in crate::engine) fn count(&mut self, units: u16) {
        self.frames += 1;
        self.units += u64::from(units);
    }
}

/// A port that only delays.
#[derive(Debug)]
pub(in crate::engine) struct Delay {
    pub(in crate::engine) books: Accounting,
    progress: Progress,
    /// Cells that have started before the end of the run.
    pub(in crate::engine) hops: u64,
}

impl Delay {
    /// A port that `vcs` circuits pass.
    pub(in crate::engine) fn new(window: Window, vcs: usize) -> Delay {
        Delay { books: Accounting::new(window), progress: Progress::new(vcs), hops: 0 }
    }

    /// Whole frames have passed in the measured time.
    pub(in crate::engine) fn enter_passed(&mut self, passage: &DelayHop, Passed { frames, units }: Passed) {
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
    pub(in crate::engine) fn pass(&mut self, passage: &DelayHop, unit: &Unit, units: u16, last: Time) {
        let Accounting { window, .. } = self.books;
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
            return books.enter(&Sojourn { unit: *unit, vc, size: 1, arrived, starts: last, ends });
        }
        books.units_in += u64::from(units);
        books.units_out += u64::from(units);
        books.bytes_out += u64::from(units) * CELL_BYTES;
        books.frames_in += u64::from(unit.begins_frame());
        books.area += u128::from(units) * u128::from(passage.whole.0);
    }
}
