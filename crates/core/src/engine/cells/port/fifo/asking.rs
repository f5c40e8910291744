//! Cells within frames about each of which the policy wants to be asked.
//!
//! They can be neither counted nor skipped. But up to the next end of a train their order is known, and nothing is waited
//! for, so they are put in order once and asked about in one loop. If the policy knows what becomes of them, it is only
//! shown each, and all the rest is done for the cells of a lane at once.

use super::{CellFifo, Content};
use crate::buffer::admission::{Shortcuts, Within};
use crate::buffer::verdict::Verdict;
use crate::engine::cells::Fast;
use crate::engine::cells::inbox::{Arriving, Inner};
use crate::engine::cells::topology::route::Handoff;
use crate::engine::exact::spacing::Pace;
use crate::units::Time;

/// What has been taken: how many cells, the sum of their stays in ps, and the largest occupancy with one of them.
#[derive(Clone, Copy, Debug, Default)]
struct Taken {
    cells: u64,
    stays: u128,
    most: u64,
}

impl Taken {
    /// One more is taken, which stays for so many ps and is the last of so many in the buffer.
    #[inline]
    fn add(&mut self, stay: u64, level: u64) {
        self.cells += 1;
        self.stays += u128::from(stay);
        self.most = self.most.max(level);
    }
}

impl CellFifo {
    /// Ask about cells up to the next end of a train and not beyond `stop`, unless they are handed on one by one or the
    /// measured time begins or ends before they have left; then remember that they have to come by themselves.
    pub(in crate::engine) fn ask_calmly(&mut self, engine: &mut Fast<'_>, port: usize, stop: Time) {
        let Content::Cells { pace, .. } = self.content else { return };
        let mut inner = std::mem::take(&mut self.inner);
        let until = self.inputs.inner(stop, &mut inner);
        if !inner.is_empty() {
            self.examined = until;
            let legs = &engine.plan.legs[port];
            let together = inner.iter().all(|inner| legs[inner.vc as usize].manner != Handoff::Singly);
            let cells = inner.iter().map(|inner| inner.units).sum();
            if together && self.leave_in_time(self.free.not_before(until), cells) {
                let mut order = std::mem::take(&mut self.order);
                self.inputs.in_order(&inner, &mut order);
                self.inputs.pass_inner(&inner, |_| false);
                let taken = match self.foresee(engine, port, &mut inner) {
                    true => self.show(engine, port, &inner, &order, &pace),
                    false => self.ask(engine, port, &mut inner, &order, &pace),
                };
                self.order = order;
                if self.begin == Time::NEVER {
                    self.books.enter_inner(taken.cells, taken.stays, taken.most);
                }
            }
        }
        inner.clear();
        self.inner = inner;
    }

    /// Find out what becomes of these cells; answers whether the policy knows it before it has seen them, and there is room
    /// for them.
    fn foresee(&self, engine: &mut Fast<'_>, port: usize, inner: &mut [Inner]) -> bool {
        let policy = engine.network.ports[port].admission_mut();
        let mut taken = 0;
        for Inner { vc, units, lost, .. } in inner {
            *lost = match policy.foresees(*vc as usize) {
                Within::Asked => return false,
                Within::Lost(_) | Within::Broken(_) if engine.log.is_some() => return false,
                Within::Lost(reason) | Within::Broken(reason) => Some(reason),
                Within::Taken => None,
            };
            taken += if lost.is_none() { *units } else { 0 };
        }
        self.capacity.holds(self.content.level() + taken)
    }

    /// Let the policy see these cells, of which it is known what becomes of them.
    fn show(
        &mut self,
        engine: &mut Fast<'_>,
        port: usize,
        inner: &[Inner],
        order: &[(Time, u32)],
        pace: &Pace,
    ) -> Taken {
        self.gather(engine, port, inner, pace);
        let mut taken = Taken::default();
        let Fast { network, plan, .. } = engine;
        let (policy, legs) = (network.ports[port].admission_mut(), &plan.legs[port]);
        let CellFifo {
            content: Content::Cells { count, ends, .. }, ledger: Some(ledger), runs, free, ..
        } = self
        else {
            return taken;
        };
        for &(time, place) in order {
            let Inner { vc, lost, .. } = inner[place as usize];
            let before = *count;
            let mut left = Time::ZERO;
            while *count > 0 && ends.time <= time {
                (left, *ends, *count) = (ends.time, ends.next(pace), *count - 1);
            }
            if *count == 0 && before > 0 {
                ledger.emptied(policy, left);
            }
            policy.see(time, vc as usize, *count);
            if lost.is_some() {
                continue;
            }
            let start = free.not_before(time);
            if *count == 0 {
                *ends = start.shifted(pace.whole);
            }
            (*count, *free) = (*count + 1, start.next(pace));
            match legs[vc as usize].manner {
                Handoff::Timed => runs[vc as usize].starts_at(start.time),
                _ => runs[vc as usize].last_starts(start.time),
            }
            taken.add(start.time.0 + pace.whole.0 - time.0, *count);
        }
        ledger.holds(*count);
        taken
    }

    /// Ask about these cells, one after the other.
    fn ask(
        &mut self,
        engine: &mut Fast<'_>,
        port: usize,
        inner: &mut [Inner],
        order: &[(Time, u32)],
        pace: &Pace,
    ) -> Taken {
        let mut taken = Taken::default();
        for &(time, place) in order {
            let Inner { vc, unit, .. } = &mut inner[place as usize];
            let arriving = Arriving { time, unit: *unit, vc: *vc };
            unit.index += 1;
            self.ask_about(engine, port, &arriving, pace, &mut taken);
        }
        taken
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
        self.progress.sent(&unit, 1, vc as usize, self.begin == Time::NEVER);
        self.runs[vc as usize].join(engine, (port, vc), &unit, 1, pace.whole);
        self.join(engine, (port, vc), time, pace, taken);
    }

    /// The next cell of what is gathered of a circuit is taken.
    #[inline]
    fn join(
        &mut self,
        engine: &Fast<'_>,
        (port, vc): (usize, u32),
        time: Time,
        pace: &Pace,
        taken: &mut Taken,
    ) {
        let start = self.free.not_before(time);
        self.content.join(start, pace.whole, 1);
        self.free = start.next(pace);
        if let Some(ledger) = &mut self.ledger {
            ledger.joined(vc, 1);
        }
        let gathering = &mut self.runs[vc as usize];
        match engine.plan.legs[port][vc as usize].manner {
            Handoff::Timed => gathering.starts_at(start.time),
            _ => gathering.last_starts(start.time),
        }
        taken.add(start.time.0 + pace.whole.0 - time.0, self.content.level());
    }
}
