//! Cells that cannot change a decision are skipped arithmetically.
//!
//! Between the cells that begin or end frames, a frame-aware port does with each cell what it does with its frame, as long
//! as the buffer cannot overflow. If the line has work for all that time, then every cell that is taken starts one cell
//! time after the one before, whichever circuit it belongs to; what counts is how many there are, and the sum of the times
//! that they spend in the buffer.

use super::Fast;
use super::fifo::{Content, Fifo};
use super::lanes::Inner;
use super::plan::Stop;
use super::run::Run;
use crate::buffer::admission::Rule;
use crate::buffer::verdict::Reason;
use crate::units::Time;

/// Fewer cells than this are not worth the look at all lanes.
const WORTH: u64 = 4;

impl Fifo {
    /// Let cells pass up to the next one that begins or ends a frame, if all is as it must be; otherwise remember that
    /// they have to be taken one by one.
    pub(super) fn skip_calm(&mut self, engine: &mut Fast<'_>, port: usize, stop: Time) {
        let Content::Cells { pace, .. } = &self.content else { return };
        let worth = (WORTH - 1) * pace.whole;
        let (Some(calm), Some(first)) = (self.inputs.calm_until(worth), self.inputs.next_time()) else {
            return;
        };
        let until = calm.min(stop);
        self.examined = until;
        if first.0 + worth >= until.0 || self.free.time < until {
            return;
        }
        self.content.drop_before(first);
        let mut inner = std::mem::take(&mut self.inner);
        self.inputs.inner(until, &mut inner);
        if let Some(taken) = self.count(engine, port, &inner)
            && self.has_room(taken)
        {
            self.pass(engine, port, &inner, taken);
        }
        inner.clear();
        self.inner = inner;
    }

    /// How many cells would be taken; `None` if they matter one by one.
    fn count(&self, engine: &Fast<'_>, port: usize, inner: &[Inner]) -> Option<u64> {
        let mut taken = 0;
        for &Inner { vc, units, .. } in inner {
            let refused = refuses(&self.rule, vc).is_some();
            let separate = || matches!(engine.plan.legs[port][vc as usize].to, Stop::Port { .. });
            if refused && engine.log.is_some() || !refused && separate() {
                return None;
            }
            taken += if refused { 0 } else { units };
        }
        Some(taken)
    }

    /// Whether so many cells fit, whatever leaves meanwhile, without a new largest occupancy, and the measured time neither
    /// begins nor ends before they have left.
    fn has_room(&self, taken: u64) -> bool {
        let Content::Cells { count, pace, .. } = &self.content else { return false };
        let measured = self.begin == Time::NEVER;
        let most = if measured { self.capacity.min(self.books.max) } else { self.capacity };
        let limit = if measured { self.books.window.to } else { self.begin };
        let last = self.free.skip(taken + 1, pace).time;
        *count > 0 && *count + taken <= most && last < limit && self.cuts.last().is_none_or(|cut| last < *cut)
    }

    /// Let them pass.
    fn pass(&mut self, engine: &mut Fast<'_>, port: usize, inner: &[Inner], taken: u64) {
        let measured = self.begin == Time::NEVER;
        let Fifo { inputs, books, rule, content, progress, runs, free, .. } = self;
        let Content::Cells { count, pace, .. } = content else { return };
        for &Inner { unit, vc, units, .. } in inner {
            if let Some(reason) = refuses(rule, vc) {
                engine.network.circuits[unit.vc as usize].lost_many(units);
                if measured {
                    books.lose_many(units, reason);
                }
                continue;
            }
            progress.sent(&unit, units as u16, vc as usize, measured);
            let (run, last) = &mut runs[vc as usize];
            if !run.join(&unit, units as u16) {
                let gone = std::mem::replace(run, Run { unit, units: units as u16 });
                gone.send(engine, port, vc, *last, pace.whole);
            }
            *last = free.time;
        }
        let arrivals = inputs.pass_inner(inner, |vc| measured && refuses(rule, vc).is_none());
        let (after, starts) = free.after(taken, pace);
        if measured {
            books.enter_cells(taken, starts + u128::from(taken) * u128::from(pace.whole) - arrivals);
        }
        *free = after;
        *count += taken;
    }
}

/// Why an inner cell of a circuit's frame would be discarded now, if it would.
fn refuses(rule: &Rule, vc: u32) -> Option<Reason> {
    match rule {
        Rule::Fits => None,
        Rule::Frames { frames, .. } => frames.refuses(vc as usize),
    }
}
