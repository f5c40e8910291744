//! A port at which no unit ever waits or is lost.
//!
//! # What it assumes
//! The port's cells come over one line, which is no faster than its own line; the port's buffer is unlimited and no
//! circuit is policed there.
//!
//! # What it skips
//! The port: cells pass it as part of the route after the preceding port, and whole frames are only counted.
//!
//! # Why that is exact
//! The incoming line has spaced the cells, so each starts when it arrives. The counts of a frame follow from its
//! units alone, unless the measured time begins or ends during the frame.
//!
//! # What turns it off
//! A second line that leads to the port, a limited buffer, a policer, packets.
//!
//! # What it saves
//! Run as FIFO ports instead, W1-cell takes 3.1 times as long.

use crate::engine::cells::topology::route::DelayHop;
use crate::engine::exact::accounting::{Accounting, Progress, Sojourn, Window};
use crate::unit::Unit;
use crate::units::Time;

/// A port that only delays.
#[derive(Debug)]
pub(crate) struct Delay {
    pub(crate) books: Accounting,
    progress: Progress,
    /// Number of cells that the port has started to send before the end of the run.
    pub(crate) hops: u64,
}

/// Whole frames that have passed in the measured time, and their units.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PassedFrames {
    pub(crate) frames: u64,
    pub(crate) units: u64,
}

impl Delay {
    /// Build a port through which `vcs` circuits pass.
    pub(crate) fn new(window: Window, vcs: usize) -> Delay {
        Delay { books: Accounting::new(window), progress: Progress::new(vcs), hops: 0 }
    }

    /// Count whole frames that have passed in the measured time.
    pub(crate) fn enter_passed(&mut self, hop: &DelayHop, PassedFrames { frames, units }: PassedFrames) {
        self.hops += units;
        self.books.frames_in += frames;
        self.books.frames_whole_out += frames;
        self.books.enter_inner(units, u128::from(units) * u128::from(hop.whole.0), 1);
    }

    /// Pass cells of a frame; the last arrives at `last`. `unit` has the marks of the first and the last, and neither
    /// the beginning nor the end of the measured time falls between the cells.
    #[inline]
    pub(crate) fn pass(&mut self, hop: &DelayHop, unit: &Unit, units: u16, last: Time) {
        let window = self.books.window;
        if last >= window.to {
            return;
        }
        let ends = last.later(hop.whole);
        self.hops += u64::from(units);
        let whole = self.progress.sent(unit, units, hop.vc, ends >= window.from);
        if ends < window.from {
            return;
        }
        let books = &mut self.books;
        books.max = 1;
        books.frames_whole_out += u64::from(whole && ends < window.to);
        if units == 1 || last < window.from || ends >= window.to {
            let (vc, arrived) = (hop.vc, last);
            return books.enter(&Sojourn { unit: *unit, vc, size: 1, arrived, starts: last, ends });
        }
        books.frames_in += u64::from(unit.begins_frame());
        books.enter_inner(units.into(), u128::from(units) * u128::from(hop.whole.0), 1);
    }
}
