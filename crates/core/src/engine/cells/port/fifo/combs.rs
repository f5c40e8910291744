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
//! W2 took more than ten times the instructions when each cell was a train.

use super::{CellFifo, Content};
use crate::buffer::admission::Rule;
use crate::engine::cells::inbox::Arriving;
use crate::engine::cells::inbox::combs::Combs;
use crate::engine::cells::port::context::Context;
use crate::engine::exact::accounting::Sojourn;
use crate::engine::exact::spacing::{ExactTime, TransmissionTime};
use crate::host::endpoint::datagrams::SingleCell;
use crate::units::{CELL_BYTES, Time};
use crate::verdict::Reason;

/// The line of a port while single cells pass.
#[derive(Clone, Copy, Debug)]
struct SingleCells {
    /// When the line is free, and the time that it takes for a cell.
    free: ExactTime,
    pace: TransmissionTime,
    /// A cell finds room if the line is free less than this after the cell arrives.
    room: ExactTime,
    /// The longest time from the arrival of a cell until it starts.
    longest: ExactTime,
    /// The measured cells, and the sum of the times until they start.
    measured: u64,
    waits: u128,
}

impl SingleCells {
    /// Return whether a cell that arrives at `time` finds room: the cell that would have to leave before has ended.
    #[inline(always)] // once for each cell
    fn has_room(&self, time: Time) -> bool {
        let (free, latest) = (self.free, self.room.time.0 + time.0);
        free.time.0 < latest || free.time.0 == latest && free.carry < self.room.carry
    }

    /// Accept a cell that arrives at `time`; returns when it starts.
    #[inline(always)] // once for each cell
    fn join(&mut self, time: Time) -> Time {
        let start = self.free.not_before(time);
        let wait = ExactTime { time: Time(start.time.0 - time.0), ..start };
        // nearly never, so a branch is faster than a comparison of both parts
        if wait.time >= self.longest.time {
            self.longest = self.longest.max(wait);
        }
        self.free = start.next(&self.pace);
        start.time
    }

    /// Return the cells that have not left before `stop`: their number and the end of the oldest one.
    fn content(&self, stop: Time) -> (u64, ExactTime) {
        let last = self.free.back(1, &self.pace);
        if last.time.later(self.pace.whole) < stop {
            return (0, ExactTime::default());
        }
        let count = last.count_after(Time(stop.0 - 1), &self.pace);
        (count, last.back(count - 1, &self.pace).shifted(self.pace.whole))
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
        let Some(mut cells) = self.single_cells() else { return };
        // cells that start before this instant have arrived and leave in the measured time
        let limit =
            if self.is_measured() { self.books.window.to.0.saturating_sub(cells.pace.whole.0) } else { 0 };
        combs.pass_before(stop, |lane, SingleCell { at: time, sent }, excess| {
            let verdict = if excess && lane.of.drops_excess {
                Err(Reason::Policed)
            } else if FITS {
                if cells.has_room(time) { Ok(()) } else { Err(Reason::Overflow) }
            } else {
                self.judge_by_policy(cx, &lane.arriving(time, excess), cells.free)
            };
            if let Err(reason) = verdict {
                return self.lose(cx, &lane.arriving(time, excess), reason);
            }
            let starts = cells.join(time);
            if starts.0 < limit {
                cells.measured += 1;
                cells.waits += u128::from(starts.0 - time.0);
            } else {
                self.enter_odd(&lane.arriving(time, excess), starts, starts.later(cells.pace.whole));
            }
            lane.leave(starts, sent);
        });
        self.settle_single::<FITS>(&cells, stop);
    }

    /// Return the state of the line; `None` if the port sends packets.
    fn single_cells(&self) -> Option<SingleCells> {
        let Content::Cells { pace, .. } = self.content else { return None };
        let room = self.entry.capacity.limit().map(|most| room_of(most, &pace));
        let room = room.unwrap_or(ENDLESS).min(ENDLESS);
        Some(SingleCells {
            free: self.free,
            pace,
            room,
            longest: ExactTime::default(),
            measured: 0,
            waits: 0,
        })
    }

    /// Count a cell during whose sojourn the measured time begins or ends, or that leaves before the measured time.
    #[cold]
    #[inline(never)]
    fn enter_odd(&mut self, &Arriving { time: arrived, unit, vc, .. }: &Arriving, starts: Time, ends: Time) {
        self.enter(&Sojourn { unit, vc, size: 1, arrived, starts, ends });
    }

    /// Let the policy judge a single cell; the line is free at `free`.
    fn judge_by_policy(
        &mut self,
        cx: &mut Context<'_>,
        arriving: &Arriving,
        free: ExactTime,
    ) -> Result<(), Reason> {
        let time = arriving.time;
        self.drop_before(cx, Time(time.0 + 1));
        self.judge(cx, arriving, 1, self.content.level())?;
        if let Content::Cells { pace, .. } = self.content {
            self.content.join(free.not_before(time), pace.whole, 1);
        }
        if let Some(ledger) = &mut self.entry.ledger {
            ledger.joined(arriving.vc, 1);
            ledger.frame_ends();
        }
        Ok(())
    }

    /// Record what has happened to the buffer, unless the policy was asked, and to the line before `stop`.
    fn settle_single<const FITS: bool>(&mut self, cells: &SingleCells, stop: Time) {
        if cells.free == self.free {
            return;
        }
        if FITS && let Content::Cells { count, ends, .. } = &mut self.content {
            (*count, *ends) = cells.content(stop);
        }
        self.free = cells.free;
        let stays = cells.waits + u128::from(cells.measured) * u128::from(cells.pace.whole.0);
        let max = cells.longest.count_after(Time::ZERO, &cells.pace);
        self.books.enter_whole(cells.measured, cells.measured * CELL_BYTES, stays, max);
    }
}

/// More time than a run has.
const ENDLESS: ExactTime = ExactTime { time: Time(u64::MAX / 2), carry: 0 };

/// Return the time before which the line must be free, counted from its arrival, for a cell to find room in a buffer of
/// `most` cells: one cell time, and a picosecond more, after the oldest of `most` cells would have started.
fn room_of(most: u64, pace: &TransmissionTime) -> ExactTime {
    let over = u128::from(most) * u128::from(pace.rest);
    let time = u128::from(most) * u128::from(pace.whole.0) + over / u128::from(pace.rate) + 1;
    let time = u64::try_from(time - u128::from(pace.whole.0)).unwrap_or(u64::MAX);
    ExactTime { time: Time(time), carry: (over % u128::from(pace.rate)) as u64 }
}
