//! Single cells of clocked sources pass a FIFO port.
//!
//! # What it assumes
//! Only combs arrive at the port, and their cells go to hosts.
//!
//! # What it skips
//! Trains, gathered units and departures: the number of a cell and its start are all that its host needs.
//!
//! # Why that is exact
//! Each cell is judged and starts as it would alone.
//!
//! # What turns it off
//! Another circuit at the port: see `topology/combs.rs`.
//!
//! # What it saves
//! W2 takes 7 times the instructions if each cell is a train.

use super::{CellFifo, Content};
use crate::buffer::admission::Rule;
use crate::engine::cells::inbox::combs::{CombCell, CombLane, Combs};
use crate::engine::cells::port::context::Context;
use crate::engine::exact::accounting::Sojourn;
use crate::engine::exact::spacing::{ExactTime, TransmissionTime};
use crate::units::{CELL_BYTES, Time};
use crate::verdict::Reason;

/// The buffer and the line of a port while single cells pass.
#[derive(Clone, Copy, Debug)]
struct SingleCells {
    /// Cells in the buffer, the end of the oldest one, and when the line is free.
    count: u64,
    ends: ExactTime,
    free: ExactTime,
    pace: TransmissionTime,
    /// The measured cells, and the sum of their sojourn times.
    measured: u64,
    stays: u128,
    max: u64,
}

impl SingleCells {
    /// Remove the cells that have left by `time`.
    #[inline]
    fn leave_by(&mut self, time: Time) {
        while self.count > 0 && self.ends.time <= time {
            (self.count, self.ends) = (self.count - 1, self.ends.next(&self.pace));
        }
    }

    /// Accept a cell that arrives at `time`; returns when it starts.
    #[inline]
    fn join(&mut self, time: Time) -> Time {
        let start = self.free.not_before(time);
        if self.count == 0 {
            self.ends = start.shifted(self.pace.whole);
        }
        self.count += 1;
        self.max = self.max.max(self.count);
        self.free = start.next(&self.pace);
        start.time
    }
}

impl CellFifo {
    /// Pass the cells that arrive before `stop`.
    pub(super) fn pass_combs(&mut self, cx: &mut Context<'_>, combs: &mut Combs, stop: Time) {
        match self.entry.rule {
            Rule::Fits => self.pass_singles::<true>(cx, combs, stop),
            Rule::Frames { .. } | Rule::Asked(_) => self.pass_singles::<false>(cx, combs, stop),
        }
    }

    /// Pass cells, each of which is accepted if it `FITS`, or else if the policy accepts it.
    #[inline(never)] // a loop of its own has more registers
    fn pass_singles<const FITS: bool>(&mut self, cx: &mut Context<'_>, combs: &mut Combs, stop: Time) {
        let Content::Cells { count, ends, pace, .. } = self.content else { return };
        let (free, max, capacity) = (self.free, self.books.max, self.entry.capacity);
        let mut cells = SingleCells { count, ends, free, pace, measured: 0, stays: 0, max };
        // cells that end before this instant have arrived and leave in the measured time
        let limit = if self.is_measured() { self.books.window.to } else { Time::ZERO };
        while let Some(cell) = combs.pop_before(stop) {
            let lane = &mut combs.lanes[cell.lane as usize];
            let verdict = if FITS {
                cells.leave_by(cell.time);
                if capacity.holds(cells.count + 1) { Ok(()) } else { Err(Reason::Overflow) }
            } else {
                self.judge_by_policy(cx, &mut cells, lane, cell)
            };
            if let Err(reason) = verdict {
                self.lose(cx, &lane.arriving(cell), reason);
                continue;
            }
            let starts = cells.join(cell.time);
            let ends = starts.later(pace.whole);
            if ends < limit {
                cells.measured += 1;
                cells.stays += u128::from(ends.0 - cell.time.0);
            } else {
                let (unit, vc, arrived) = (lane.unit(cell.number), lane.of.vc, cell.time);
                self.enter_odd(&Sojourn { unit, vc, size: 1, arrived, starts, ends });
            }
            lane.started.push((cell.number, starts));
        }
        self.settle_single(&cells);
    }

    /// Count a cell during whose sojourn the measured time begins or ends, or that leaves before the measured time.
    #[cold]
    fn enter_odd(&mut self, stay: &Sojourn) {
        self.enter(stay);
    }

    /// Let the policy judge a single cell.
    fn judge_by_policy(
        &mut self,
        cx: &mut Context<'_>,
        cells: &mut SingleCells,
        lane: &CombLane,
        cell: CombCell,
    ) -> Result<(), Reason> {
        self.settle_content(cells);
        self.drop_before(cx, Time(cell.time.0 + 1));
        if let Content::Cells { count, ends, .. } = self.content {
            (cells.count, cells.ends) = (count, ends);
        }
        self.judge(cx, &lane.arriving(cell), 1, cells.count)?;
        if let Some(ledger) = &mut self.entry.ledger {
            ledger.joined(lane.of.vc, 1);
            ledger.frame_ends();
        }
        Ok(())
    }

    fn settle_content(&mut self, cells: &SingleCells) {
        if let Content::Cells { count, ends, .. } = &mut self.content {
            (*count, *ends) = (cells.count, cells.ends);
        }
    }

    /// Record what has happened to the buffer and to the line.
    fn settle_single(&mut self, cells: &SingleCells) {
        self.settle_content(cells);
        self.free = cells.free;
        self.books.enter_whole(cells.measured, cells.measured * CELL_BYTES, cells.stays, cells.max);
    }
}
