//! Onward from a port: where units go, and who has to look after them there.

use super::hosts::{Delivery, PendingDelivery};
use super::{Fast, PortProcess};
use crate::engine::cells::inbox::IrregularArrivals;
use crate::engine::cells::inbox::Train;
use crate::engine::cells::topology::route::Destination;
use crate::engine::cells::train::Run;
use crate::engine::exact::spacing::Beat;
use crate::kernel::queue::Series;
use crate::unit::Unit;
use crate::units::{Span, Time};

impl Fast<'_> {
    /// Units of a frame start at a port, the last of them at `last`: hand them on to where they arrive next.
    pub(in crate::engine) fn send_on(
        &mut self,
        port: usize,
        vc: u32,
        run: Run,
        first: Beat,
        last: Time,
        whole: Span,
    ) {
        if last >= self.window.to {
            return;
        }
        let time = self.pass_through(port, vc, &run, last, whole);
        let leg = &self.plan.legs[port][vc as usize];
        let awaited = run.unit.is_eom() && leg.answered;
        match leg.to {
            Destination::Port { port, lane, vc } => {
                let unit = Unit { hop: leg.hop, ..self.boundaries[leg.number].pass(run.unit) };
                let train = Train::new(first.shifted(leg.span(whole)), unit, vc, run.units, time);
                self.expect(port, lane, Train { awaited, ..train });
            }
            Destination::Host { line } => {
                let series = Series::behind(port as u32, leg.span(whole));
                self.coming.push(PendingDelivery { line, landing: Delivery { time, run }, awaited, series });
            }
        }
    }

    /// The same with the instant at which each of them starts.
    pub(in crate::engine) fn send_timed(
        &mut self,
        port: usize,
        vc: u32,
        run: Run,
        starts: &mut [Time],
        whole: Span,
    ) {
        let Some(&last) = starts.last().filter(|last| **last < self.window.to) else { return };
        let time = self.pass_through(port, vc, &run, last, whole);
        let leg = &self.plan.legs[port][vc as usize];
        let Destination::Port { port, lane, vc } = leg.to else {
            unreachable!("hosts need no more than the last start")
        };
        let (span, unit) =
            (leg.span(whole), Unit { hop: leg.hop, ..self.boundaries[leg.number].pass(run.unit) });
        starts.iter_mut().for_each(|start| *start = start.later(span));
        let awaited = unit.is_eom() && leg.answered;
        let PortProcess::Fifo(fifo) = &mut self.stations[port as usize] else {
            unreachable!("other ports get no timed units")
        };
        let behind = fifo.inputs.push_uneven(
            lane as usize,
            &IrregularArrivals { unit, vc, arrivals: starts },
            awaited,
        );
        if awaited || behind.is_multiple_of(PATIENCE) {
            self.look_after(port, time);
        }
    }

    /// Units of a frame start at a port, the last of them at `last`, and pass the ports behind it that only delay them; answers
    /// when it arrives at their next stop.
    #[inline]
    fn pass_through(&mut self, port: usize, vc: u32, run: &Run, last: Time, whole: Span) -> Time {
        let leg = &self.plan.legs[port][vc as usize];
        let first = leg.first_arrival(last, whole);
        let behind = leg.arrival_behind(first);
        if run.is_frame() && first >= self.window.from && behind < self.window.to {
            self.passed[leg.number].count(run.units);
        } else {
            self.pass_port_by_port(port, vc, run, first);
        }
        behind
    }

    /// The same where a frame is in parts or the measured time begins or ends; the last unit arrives at the first of these ports
    /// at `time`.
    #[inline(never)]
    fn pass_port_by_port(&mut self, port: usize, vc: u32, run: &Run, mut time: Time) {
        let leg = &self.plan.legs[port][vc as usize];
        leg.count_hops(&mut self.work, run.units.into());
        for passage in &self.plan.passages[leg.passages()] {
            if let PortProcess::Delay(through) = &mut self.stations[passage.port as usize] {
                through.pass(passage, &run.unit, run.units, time);
            }
            time = time.later(passage.transit);
        }
    }

    /// Enter at the ports that only delay, and in the count of hops, the frames that were only counted.
    pub(in crate::engine) fn enter_passed(&mut self) {
        for leg in self.plan.legs.iter().flatten() {
            let passed = self.passed[leg.number];
            if passed.frames == 0 {
                continue;
            }
            leg.count_hops(&mut self.work, passed.units);
            for passage in &self.plan.passages[leg.passages()] {
                if let PortProcess::Delay(through) = &mut self.stations[passage.port as usize] {
                    through.enter_passed(passage, passed);
                }
            }
        }
    }

    /// A train will arrive at a port. If a host waits for its last unit, or there are so many trains that somebody has to look
    /// after them, the port is called in time.
    fn expect(&mut self, port: u32, lane: u32, train: Train) {
        let (reach, Train { last: time, awaited, .. }) = (self.plan.reach[port as usize], train);
        match &mut self.stations[port as usize] {
            PortProcess::Fifo(fifo) => {
                let behind = fifo.inputs.push(lane as usize, train);
                if awaited || behind.is_multiple_of(PATIENCE) {
                    self.look_after(port, time);
                }
            }
            PortProcess::PerVc(turns) => {
                let behind = turns.inputs.push(lane as usize, train);
                if (awaited || behind.is_multiple_of(PATIENCE)) && turns.call_by(time + reach) {
                    self.soonest = self.soonest.min((time + reach, port));
                }
            }
            PortProcess::PerUnit(general) => {
                let behind = general.inputs.push(lane as usize, train);
                if awaited || behind.is_multiple_of(PATIENCE) {
                    self.wake(port, time + reach);
                }
            }
            _ => unreachable!("units stop at ports that take their time"),
        }
    }

    /// Call a port with one queue before a unit that arrives at `time` can have passed it and the line behind it, or let the
    /// unit pass at once if nothing can come before it.
    fn look_after(&mut self, port: u32, time: Time) {
        let reach = self.plan.reach[port as usize];
        let PortProcess::Fifo(fifo) = &mut self.stations[port as usize] else { return };
        if fifo.inputs.is_alone() && time < self.end {
            return self.step(port as usize, time);
        }
        let call = fifo.not_out_before(time) + reach;
        if call < fifo.called {
            fifo.called = call;
            self.wake(port, call);
        }
    }
}

/// Trains on a lane that nobody waits for: when there are so many, somebody looks after them.
const PATIENCE: usize = 256;
