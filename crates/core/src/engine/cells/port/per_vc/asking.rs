//! Cells within frames about each of which the policy wants to be asked, where each circuit has a queue.
//!
//! They can be neither counted nor skipped. But up to the next end of a train their order is known, so they are put in order
//! once and asked about in one loop, and as long as slots go round and queues do not run empty nobody else is called.

use super::PerVc;
use crate::buffer::admission::{Admission, Arrival};
use crate::buffer::verdict::Verdict;
use crate::engine::cells::Fast;
use crate::engine::cells::inbox::Arriving;
use crate::link::port::Port;
use crate::units::Time;

impl PerVc {
    /// Ask about cells up to the next end of a train and before `stop`; answers whether there were any.
    pub(in crate::engine) fn ask_inner(&mut self, engine: &mut Fast<'_>, index: usize, stop: Time) -> bool {
        let (mut inner, mut order) = (std::mem::take(&mut self.inner), std::mem::take(&mut self.order));
        self.inputs.inner(stop, &mut inner);
        let found = !inner.is_empty();
        if found {
            self.inputs.in_order(&inner, &mut order);
            self.inputs.pass_inner(&inner, |_| false);
            self.book_round(&mut engine.network.ports[index]);
            for &(time, place) in &order {
                let next = &mut inner[place as usize];
                let arriving = Arriving { time, unit: next.unit, vc: next.vc };
                next.unit.index += 1;
                self.serve_one_by_one(engine, index, time);
                match engine.network.ports[index].queues[next.vc as usize].is_empty() {
                    true => self.enter(engine, index, &arriving, None),
                    false => ask_about(engine, index, &arriving),
                }
            }
            inner.clear();
        }
        (self.inner, self.order) = (inner, order);
        found
    }

    /// The line works up to `until`, that instant included, and every slot goes into the books at once.
    fn serve_one_by_one(&mut self, engine: &mut Fast<'_>, index: usize, until: Time) {
        while self.ends <= until {
            if !self.give_one(&mut engine.network.ports[index]) {
                self.serve(engine, index, until);
                self.book_round(&mut engine.network.ports[index]);
            }
        }
    }
}

/// Ask about a cell, and let it join its queue, which is not empty, if that is the answer.
#[inline]
fn ask_about(engine: &mut Fast<'_>, index: usize, arriving: &Arriving) {
    let &Arriving { time, unit, vc } = arriving;
    let (port, vc) = (&mut engine.network.ports[index], vc as usize);
    port.counters.arrived(&unit);
    let Port { pool, queues, admission, counters, .. } = port;
    let queue = &queues[vc];
    let mut arrival = Arrival { now: time, unit: &unit, vc, size: 1, pool, queue, elastic: false };
    match admission.judge(&mut arrival) {
        Verdict::Discard(reason) => {
            counters.lost(reason);
            engine.network.circuits[unit.vc as usize].lost();
        }
        _ => {
            counters.occupancy.change(time, pool.total(), pool.total() + 1);
            pool.add(vc, 1);
            queues[vc].push_train(unit, 1, false);
        }
    }
}
