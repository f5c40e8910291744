//! Cells within frames about each of which the policy wants to be asked.
//!
//! They can be neither counted nor skipped. But up to the next end of a train their order is known, and nothing is waited
//! for, so they are put in order once and asked about in one loop.

use super::Fast;
use super::fifo::{Content, Fifo};
use super::lanes::Arriving;
use super::pace::Pace;
use super::plan::Manner;
use crate::buffer::verdict::Verdict;
use crate::units::Time;

/// What has been taken: how many cells, the sum of their stays in ps, and the largest occupancy with one of them.
#[derive(Clone, Copy, Debug, Default)]
struct Taken {
    cells: u64,
    stays: u128,
    most: u64,
}

impl Fifo {
    /// Ask about cells up to the next end of a train and not beyond `stop`, unless they are handed on one by one or the
    /// measured time begins or ends before they have left; then remember that they have to come by themselves.
    pub(super) fn ask_calmly(&mut self, engine: &mut Fast<'_>, port: usize, stop: Time) {
        let Content::Cells { pace, .. } = self.content else { return };
        let mut inner = std::mem::take(&mut self.inner);
        let until = self.inputs.inner(stop, &mut inner);
        if !inner.is_empty() {
            self.examined = until;
            let legs = &engine.plan.legs[port];
            let together = inner.iter().all(|inner| legs[inner.vc as usize].manner != Manner::Singly);
            let cells = inner.iter().map(|inner| inner.units).sum();
            if together && self.leave_in_time(self.free.not_before(until), cells) {
                let mut order = std::mem::take(&mut self.order);
                self.inputs.in_order(&inner, &mut order);
                self.inputs.pass_inner(&inner, |_| false);
                let mut taken = Taken::default();
                for &(time, place) in &order {
                    let inner = &mut inner[place as usize];
                    let arriving = Arriving { time, unit: inner.unit, vc: inner.vc };
                    inner.unit.index += 1;
                    self.ask_about(engine, port, &arriving, &pace, &mut taken);
                }
                self.order = order;
                if self.begin == Time::NEVER {
                    self.books.enter_inner(taken.cells, taken.stays, taken.most);
                }
            }
        }
        inner.clear();
        self.inner = inner;
    }

    /// Ask about one cell, and take it if that is the answer.
    #[inline]
    fn ask_about(
        &mut self,
        engine: &mut Fast<'_>,
        port: usize,
        arriving: &Arriving,
        pace: &Pace,
        taken: &mut Taken,
    ) {
        let &Arriving { time, unit, vc } = arriving;
        self.drop_before(engine, port, Time(time.0 + 1));
        if let Verdict::Discard(reason) = self.judge(engine, port, arriving, 1, self.content.level()) {
            return self.lose(engine, port, arriving, reason);
        }
        let start = self.free.not_before(time);
        self.content.join(start, pace.whole, 1);
        self.free = start.next(pace);
        if let Some(ledger) = &mut self.ledger {
            ledger.joined(vc, 1);
        }
        self.progress.sent(&unit, 1, vc as usize, self.begin == Time::NEVER);
        let gathering = &mut self.runs[vc as usize];
        gathering.join(engine, (port, vc), &unit, 1, pace.whole);
        match engine.plan.legs[port][vc as usize].manner {
            Manner::Timed => drop(gathering.start_many(start, 1, pace)),
            _ => gathering.last_starts(start.time),
        }
        taken.cells += 1;
        taken.stays += u128::from(start.time.0 + pace.whole - time.0);
        taken.most = taken.most.max(self.content.level());
    }
}
