//! The hosts: arrivals, answers and timers.
//!
//! # What it assumes
//! An end of a flow reacts only to frames that arrive there and to its timers.
//!
//! # What it skips
//! Events for arrivals: a host acts as soon as a frame is in flight on the last line before it. A frame that needs no
//! answer waits until the host acts, or until many have accumulated.
//!
//! # Why that is exact
//! A host acts ahead only if none of its timers fires before the frame arrives, nothing else arrives before it over
//! this line, and no other flow sends over its interface, since the order between these events would matter.
//!
//! # What turns it off
//! Several flows at one host, or an interface that is not unlimited.
//!
//! # What it saves
//! Without acting ahead W1-cell takes 1.1 times as long, W1 under DT-EPD and push-out 1.1 times.

use super::Cells;
use super::port::PortProcess;
use super::topology::actor::Actor;
use super::train::Delivery;
use crate::engine::forms::{Form, allows, used};
use crate::kernel::queue::{Class, Event};
use crate::network::Network;
use crate::network::circuit::Emission;
use crate::network::end::End;
use crate::units::Time;

/// Number of deliveries that no host awaits after which the engine schedules an event for them.
const PATIENCE: usize = 256;

impl Cells<'_> {
    /// Deliver units to the host at the end of a line.
    pub(super) fn arrive(&mut self, line: usize, now: Time) {
        while let Some(&delivery) = self.deliveries[line].front()
            && delivery.time <= now
        {
            self.deliveries[line].pop_front();
            self.deliver(&delivery);
        }
    }

    /// Make hosts act now on pending arrivals, if no unit that is still unknown can arrive before them. Schedule
    /// events for all other arrivals.
    ///
    /// No port may be running, because a host may send to any port.
    #[inline]
    pub(super) fn act_ahead(&mut self) {
        let mut place = 0;
        while let Some(&delivery) = self.pending.get(place) {
            if self.deliveries[delivery.line as usize].is_empty() && self.may_act(&delivery) {
                used(Form::HostAhead);
                self.deliver(&delivery);
            } else {
                self.announce(delivery);
            }
            place += 1;
        }
        self.pending.clear();
    }

    /// Schedule an event for a pending arrival at a host, if it may lead to an answer.
    fn announce(&mut self, delivery: Delivery) {
        let Delivery { line, time, awaited, series, .. } = delivery;
        let deliveries = &mut self.deliveries[line as usize];
        deliveries.push_back(delivery);
        if awaited || deliveries.len().is_multiple_of(PATIENCE) {
            let rank = self.ties.rank(time, line);
            self.queue.push_next(series, Event { time, class: Class::Arrive, rank, entity: line });
        }
    }

    /// Return whether a host may act early on an arrival: none of the host's timers fires before it, and no other
    /// flow sends over the host's interface.
    #[inline]
    fn may_act(&self, delivery: &Delivery) -> bool {
        let time = delivery.time;
        let undisturbed = |actor: Actor| self.timers.at(actor.entity as usize) >= time;
        time < self.end
            && allows(Form::HostAhead)
            && self.plan.actors[delivery.unit.vc].is_some_and(undisturbed)
    }

    fn deliver(&mut self, delivery: &Delivery) {
        let Network { flows, circuits, .. } = &mut self.network;
        let circuit = &mut circuits[delivery.unit.vc];
        if !circuit.receive_run(&delivery.unit, delivery.units) {
            return;
        }
        let frame = circuit.take();
        let flow = frame.flow as usize;
        let end = flows[flow].deliver(delivery.time, &frame, circuits, &mut self.emitted);
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
    pub(super) fn set_timer(&mut self, flow: usize, end: End) {
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
        let (port, vc, from) = (hop.port as usize, hop.vc, self.out.length());
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
