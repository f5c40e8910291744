//! The hosts: arrivals, answers and timers.
//!
//! # What it assumes
//! An end of a flow reacts only to frames that arrive there and to its timers.
//!
//! # What it skips
//! Events for frames that need no answer: such a frame waits until the host acts, or until many have accumulated.
//!
//! # Why that is exact
//! A delivery keeps its instant, and a line delivers in order.

use super::Cells;
use super::port::PortProcess;
use super::train::Delivery;
use crate::host::end::End;
use crate::kernel::queue::{Class, Event, Series};
use crate::network::Network;
use crate::network::circuit::Emission;
use crate::units::Time;
use crate::units::ids::{FlowId, LineId};

/// Number of deliveries that no host awaits after which the engine schedules an event for them.
const PATIENCE: usize = 256;

impl Cells<'_> {
    /// Deliver units to the host at the end of a line.
    pub(super) fn arrive(&mut self, line: LineId, now: Time) {
        while let Some(&delivery) = self.deliveries[line].front()
            && delivery.time <= now
        {
            self.deliveries[line].pop_front();
            self.deliver(&delivery);
        }
    }

    /// Put units on their way to the host at the end of a line. Schedule an event for their arrival if the host may answer
    /// it, or if many deliveries wait.
    pub(super) fn announce(&mut self, delivery: Delivery, line: LineId, (awaited, series): (bool, Series)) {
        let time = delivery.time;
        let deliveries = &mut self.deliveries[line];
        deliveries.push_back(delivery);
        if awaited || deliveries.len().is_multiple_of(PATIENCE) {
            let rank = self.ties.rank(time, line);
            self.queue.push_next(series, Event { time, class: Class::Arrive, rank, entity: line.0 });
        }
    }

    fn deliver(&mut self, delivery: &Delivery) {
        let Network { flows, circuits, .. } = &mut self.network;
        let circuit = &mut circuits[delivery.unit.vc];
        if !circuit.receive_run(&delivery.unit, delivery.units) {
            return;
        }
        let frame = circuit.take();
        let flow = frame.flow;
        let end = self.emitted.deliver(&mut flows[flow], delivery.time, &frame.cargo, circuits);
        self.emit(delivery.time);
        self.set_timer(flow, end);
    }

    /// Fire a timer of one end of a flow, unless the timer has already fired.
    pub(super) fn ring(&mut self, entity: usize, now: Time) {
        let rung = self.timers.ring(&mut self.network, entity, now, &mut self.emitted);
        if let Some((flow, end)) = rung {
            self.emit(now);
            self.send_ahead(flow);
            self.set_timer(flow, end);
        }
    }

    /// Schedule the next timer of a flow's end, unless an earlier call is already scheduled.
    pub(super) fn set_timer(&mut self, flow: FlowId, end: End) {
        if let Some(event) = self.timers.next(&self.network.flows, flow, end) {
            self.queue.push(event);
        }
    }

    /// Hand over the frames that a host has written to its network interface.
    pub(super) fn emit(&mut self, now: Time) {
        for place in 0..self.emitted.emissions.len() {
            self.emit_one(now, self.emitted.emissions[place]);
        }
        self.emitted.emissions.clear();
    }

    fn emit_one(&mut self, now: Time, emission: Emission) {
        let hop = self.network.circuits[emission.vc].route(emission.frame)[0];
        let (port, vc, from) = (hop.port, hop.vc, self.out.length());
        if let PortProcess::HostInterface(interface) = &mut self.ports[port] {
            let collected = self.plan.routes[port][vc].is_collected();
            return match interface.emit(&mut self.out, now, &emission, vc, collected) {
                Some(departure) => self.forward(port, &departure),
                None => self.deliver_from(port, from),
            };
        }
        self.advance_to(port, now);
        self.work_at(port, |process, cx, out| process.take_frame(cx, out, now, &emission, vc));
        self.schedule(port, now);
    }
}
