//! Carries units from a departure to the next inbox.
//!
//! # What it assumes
//! A route leads past ports that only delay to a port where units may wait, or to a host.
//!
//! # What it skips
//! Ports that only delay: whole frames that pass them in the measured time are only counted.
//!
//! # Why that is exact
//! The delay of a route is constant, so a train keeps its spacing; the counts of these frames are added to the ports'
//! counters at the end of the run.
//!
//! # What turns it off
//! A frame in parts, or a train during which the measured time begins or ends: then each of these ports is passed in
//! turn. A policer divides a train where its verdict changes, if the verdict matters.
//!
//! # What it saves
//! See `port/delay.rs`. Access networks take 1.2 times as long if ports with only one line do not act immediately.

use super::Cells;
use super::inbox::irregular::IrregularArrivals;
use super::port::PortProcess;
use super::port::outbox::{Departure, OutboxLength};
use super::topology::policing::PolicerUse;
use super::topology::route::{Destination, Entrance};
use super::train::{CellTrain, Delivery};
use crate::engine::exact::spacing::ExactTime;
use crate::kernel::queue::Series;
use crate::police::EvenRun;
use crate::unit::{Flags, Unit};
use crate::units::Time;
use crate::units::ids::LineId;

/// Number of trains on one incoming lane from which the engine wakes the port, even if no host waits for any of them.
const PATIENCE: usize = 256;

impl Cells<'_> {
    /// Deliver the units that a port has sent since the outbox had the length `from`.
    #[inline]
    pub(super) fn deliver_from(&mut self, port: LineId, from: OutboxLength) {
        for place in from.departures..self.out.departures.len() {
            let departure = self.out.departures[place];
            self.forward(port, &departure);
        }
        self.out.truncate(from);
    }

    /// Forward units of a frame that start to leave a port to their next stop.
    pub(super) fn forward(&mut self, from: LineId, departure: &Departure) {
        let &Departure { vc, units, unit, first, last, whole, starts } = departure;
        if last >= self.window.to {
            return;
        }
        let time = self.pass_delays(from, departure);
        let route = &self.plan.routes[from][vc];
        let (awaited, span) = (unit.is_eom() && route.answerable, route.span(whole));
        match route.to {
            Destination::Host { line } => {
                let series = Series::behind(from, span);
                self.announce(Delivery { time, unit, units }, line, (awaited, series));
            }
            Destination::Port { port, lane, vc, entrance } => {
                if entrance != Entrance::Trains {
                    return self.push_apart(from, departure, time);
                }
                let unit = Unit { hop: route.hop, ..self.boundaries[route.number].pass(unit) };
                let inbox = self.ports[port].inbox_mut();
                let count = match starts {
                    None => {
                        let train = CellTrain::new(first.shifted(span), unit, vc, units, time);
                        inbox.push(lane, CellTrain { awaited, ..train })
                    }
                    Some(place) => {
                        let arrivals = &mut self.out.starts[place as usize..][..usize::from(units)];
                        arrivals.iter_mut().for_each(|start| *start = start.later(span));
                        inbox.push_irregular(lane, &IrregularArrivals { unit, vc, arrivals }, awaited)
                    }
                };
                if awaited || count.is_multiple_of(PATIENCE) {
                    self.look_after(port, time);
                }
            }
        }
    }

    /// Push units to a port that they do not enter in plain trains; the last one arrives there at `time`.
    #[inline(never)]
    fn push_apart(&mut self, from: LineId, departure: &Departure, time: Time) {
        let &Departure { vc, units, unit, first, whole, starts, .. } = departure;
        let route = &self.plan.routes[from][vc];
        let Destination::Port { port, lane, vc, entrance } = route.to else { return };
        if entrance == Entrance::Combs {
            return self.push_single(port, lane, &unit, time);
        }
        debug_assert!(starts.is_none(), "a host sends regular trains");
        let awaited = unit.is_eom() && route.answerable;
        let unit = Unit { hop: route.hop, ..self.boundaries[route.number].pass(unit) };
        let train = CellTrain::new(first.shifted(route.span(whole)), unit, vc, units, time);
        self.push_policed(port, lane, CellTrain { awaited, ..train });
    }

    /// Push a train to the first switch, where its circuit is policed: in as many trains as the policer's verdict
    /// makes of it, if its verdict matters.
    ///
    /// A policer depends only on the arrivals of its own circuit, which come in order, so it may judge them before
    /// they arrive.
    #[inline(never)]
    fn push_policed(&mut self, port: LineId, lane: u32, train: CellTrain) {
        let spacing = self.ports[port].inbox_mut().spacing_of(lane);
        // the remainder of a packet's arrival is not one of the lane's spacing
        let first = if train.units == 1 { ExactTime::at(train.beat.time) } else { train.beat };
        let mut run = EvenRun { first, spacing, units: train.units };
        let mut unit = train.with_marks();
        let policer = &mut self.policers[unit.vc];
        if *policer == PolicerUse::Once && first.time < self.window.to {
            self.network.circuits[unit.vc].police_run(unit, &EvenRun { units: 1, ..run });
            *policer = PolicerUse::Never;
        }
        if *policer != PolicerUse::Always || first.time >= self.window.to {
            return self.push(port, lane, train);
        }
        while run.units > 0 {
            let part = self.network.circuits[unit.vc].police_run(unit, &run);
            let last = run.first.skip(u64::from(part.units) - 1, &spacing);
            run.units -= part.units;
            let is_last = run.units == 0;
            let time = if is_last { train.last } else { last.time };
            let piece = CellTrain::new(run.first, part.unit, train.vc, part.units, time);
            let awaited = is_last && train.awaited && part.lost.is_none();
            self.push(port, lane, CellTrain { awaited, lost: part.lost, ..piece });
            run.first = last.next(&spacing);
            unit.index += part.units;
            unit.flags = unit.flags.without(Flags::FIRST);
        }
    }

    /// Push a train to a port.
    fn push(&mut self, port: LineId, lane: u32, train: CellTrain) {
        let count = self.ports[port].inbox_mut().push(lane, train);
        if train.awaited || count.is_multiple_of(PATIENCE) {
            self.look_after(port, train.last);
        }
    }

    /// Pass units of a frame through the ports after the first one that only delay them; returns when the last unit
    /// arrives at its next stop.
    #[inline]
    fn pass_delays(&mut self, port: LineId, departure: &Departure) -> Time {
        let &Departure { vc, units, ref unit, last, whole, .. } = departure;
        let route = &self.plan.routes[port][vc];
        let first = route.first_arrival(last, whole);
        let behind = route.arrival_behind(first);
        let is_frame = unit.begins_frame() && unit.is_eom();
        if is_frame && first >= self.window.from && behind < self.window.to {
            let passed = &mut self.passed[route.number];
            passed.frames += 1;
            passed.units += u64::from(units);
        } else {
            self.pass_one_by_one(port, departure, first);
        }
        behind
    }

    /// Pass the units one by one through the following ports that only delay them, because they are only a part of
    /// a frame, or because the measured time begins or ends between them; the last unit arrives at the first of
    /// those ports at `time`.
    #[inline(never)]
    pub(super) fn pass_one_by_one(&mut self, port: LineId, departure: &Departure, mut time: Time) {
        let route = &self.plan.routes[port][departure.vc];
        route.count_hops(&mut self.work, departure.units.into());
        for hop in &self.plan.delay_hops[route.hops()] {
            if let PortProcess::Delay(delay) = &mut self.ports[hop.port] {
                delay.pass(hop, &departure.unit, departure.units, time);
            }
            time = time.later(hop.transit);
        }
    }

    /// Add the frames that were only counted on their routes to the counts of the ports that only delay, and to the
    /// count of hops.
    pub(super) fn enter_passed(&mut self) {
        for route in self.plan.routes.iter().flatten() {
            let passed = self.passed[route.number];
            if passed.frames == 0 {
                continue;
            }
            route.count_hops(&mut self.work, passed.units);
            for hop in &self.plan.delay_hops[route.hops()] {
                if let PortProcess::Delay(delay) = &mut self.ports[hop.port] {
                    delay.enter_passed(hop, passed);
                }
            }
        }
    }

    /// Wake the port at the latest when a unit that arrives there at `time` can have passed it and the line after it.
    #[inline(always)] // nearly always called for the frame that a host has just sent
    pub(super) fn look_after(&mut self, port: LineId, time: Time) {
        let reach = self.plan.reach[port];
        let wakeup = time + reach;
        match &mut self.ports[port] {
            PortProcess::Fifo(fifo) => {
                let wakeup = fifo.not_out_before(time) + reach;
                if wakeup < fifo.called {
                    fifo.called = wakeup;
                    self.wake_at(port, wakeup);
                }
            }
            PortProcess::PerVc(per_vc) => {
                if per_vc.call_by(wakeup) {
                    self.next_wakeup = self.next_wakeup.min((wakeup, port));
                }
            }
            PortProcess::HeadDrop(queue) => {
                if let Some(wakeup) = queue.earlier_wakeup(time, reach) {
                    self.wake_at(port, wakeup);
                }
            }
            PortProcess::PerUnit(_) => self.wake_at(port, wakeup),
            PortProcess::HostInterface(_) | PortProcess::Delay(_) => {}
        }
    }
}
