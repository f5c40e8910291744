//! Paced senders, and the network interfaces of their hosts.
//!
//! # What it assumes
//! An interface belongs to one line of a host, whose flows it calls in turn.
//!
//! # What it skips
//! Events for departures at a port that accepts packets by a rule: it has computed when its line is free. A flow that has its host to
//! itself takes its turns with its timers, without an interface. A turn that is due when an acknowledgement arrives needs no event.
//!
//! # Why that is exact
//! Only the host itself sends packets to that port, and an interface acts as a further end of its host: behind the others at one
//! instant. A host that acts ahead of time gets one packet at an instant, so without a timer at that instant nothing comes between.
//!
//! # What turns it off
//! A port that judges every packet: the end of each transmission calls the interface.
//!
//! # What it saves
//! Most events of a paced flow.

use super::{Packets, Setout};
use crate::host::end::End;
use crate::host::nic::{self, Act, Turn};
use crate::units::Time;
use crate::units::ids::{FlowId, LineId};

impl Packets<'_> {
    /// Return the first entity of interfaces in calls of hosts: the ends of flows come before.
    #[inline]
    pub(super) fn first_nic(&self) -> usize {
        2 * self.scenario.flows.len()
    }

    /// Let a paced flow that has received an acknowledgement take the turns that are due, unless a timer comes before, and call it for
    /// the next one.
    #[inline(never)] // where no sender paces, packets do not pay for it
    pub(super) fn await_turn(&mut self, flow: FlowId, now: Time) {
        if self.nics.has(flow) {
            return self.await_nic(flow, now);
        }
        let Some(connection) = self.connections.under_way(flow) else { return };
        let is_first = connection.next_timer(End::Source).is_none_or(|timer| timer > now);
        if is_first && connection.place().is_some() {
            self.take_turns(flow, now);
            self.call(flow, End::Source);
        }
    }

    /// Let a paced flow take the turns that are due, and call it for the next one.
    #[inline(never)]
    pub(super) fn take_turns(&mut self, flow: FlowId, now: Time) {
        if self.nics.has(flow) {
            return self.await_nic(flow, now);
        }
        while let Some(at) = self.turn(flow) {
            if at > now {
                let entity = End::Source.entity(flow);
                let event = self.transit.hosts.ends[entity].call(entity, Some(at));
                return event.into_iter().for_each(|event| self.transit.call(event));
            }
            self.connections.at(flow).take_turn(now, &mut Setout { transit: &mut self.transit, now });
        }
    }

    /// Return when a flow that has its host to itself may take its turn, if it waits for one.
    #[inline]
    fn turn(&mut self, flow: FlowId) -> Option<Time> {
        let place = self.connections.under_way(flow)?.place()?;
        Some(place.max(self.transit.free_before(End::Source.entity(flow))))
    }

    /// Fire the timers of a paced flow that has its host to itself, and let it take its turns, before `time`.
    #[inline(never)]
    pub(super) fn ring_paced_before(&mut self, flow: FlowId, time: Time) {
        loop {
            let timer = self.connections.next_timer(flow, End::Source).unwrap_or(Time::NEVER);
            let turn = self.turn(flow).unwrap_or(Time::NEVER);
            let now = timer.min(turn);
            if now >= time {
                return;
            }
            let connection = self.connections.at(flow);
            let setout = &mut Setout { transit: &mut self.transit, now };
            match timer <= turn {
                true => connection.ring(End::Source, now, setout),
                false => connection.take_turn(now, setout),
            }
        }
    }

    /// Let a flow that waits for its turn wait at its interface. Call the interface: at once, if nothing else is due.
    fn await_nic(&mut self, flow: FlowId, now: Time) {
        let Some(place) = self.connections.under_way(flow).and_then(|flow| flow.place()) else { return };
        let Some(nic) = self.nics.join(flow, place) else { return };
        let at = place.max(now).max(self.transit.ends(self.nics.line(nic)).unwrap_or(Time::ZERO));
        if at <= now && self.transit.hosts.is_idle_until(self.first_nic() + nic, now) {
            return self.serve(nic, now);
        }
        self.call_nic(nic, at);
    }

    /// Call the interface of a port whose line may be free now, or that may send a class again.
    #[inline]
    pub(super) fn notify_nic(&mut self, port: LineId, now: Time) {
        if !self.nics.is_empty() {
            self.call_nic_of(port, now);
        }
    }

    #[inline(never)]
    fn call_nic_of(&mut self, port: LineId, now: Time) {
        if let Some(nic) = self.nics.at(port).filter(|nic| self.nics.has_waiting(*nic)) {
            self.call_nic(nic, now);
        }
    }

    fn call_nic(&mut self, nic: usize, at: Time) {
        let entity = self.first_nic() + nic;
        if let Some(event) = self.transit.hosts.ends[entity].call(entity, Some(at)) {
            self.transit.call(event);
        }
    }

    /// Give turns to the flows that wait at an interface, as long as its line is free.
    #[inline(never)]
    pub(super) fn serve(&mut self, nic: usize, now: Time) {
        let line = self.nics.line(nic);
        loop {
            let act = match self.transit.ends(line) {
                Some(free) => self.nics.decide(nic, now, free, |_| true),
                None => {
                    let port = &self.transit.network.ports[line];
                    let free = if port.is_busy() { Time::NEVER } else { now }; // the end of the transmission calls
                    self.nics.decide(nic, now, free, |class| nic::lets(port, class))
                }
            };
            match act {
                Act::Sleep => return,
                Act::Wait(at) => return self.call_nic(nic, at),
                Act::Give(turn) => self.give(nic, turn, now),
            }
        }
    }

    /// Give a flow its turn.
    fn give(&mut self, nic: usize, turn: Turn, now: Time) {
        self.nics.take(nic, turn);
        let Some(flow) = self.connections.under_way(turn.flow) else { return };
        flow.take_turn(now, &mut Setout { transit: &mut self.transit, now });
        if let Some(place) = flow.place() {
            self.nics.join(turn.flow, place);
        }
        self.call(turn.flow, End::Source);
    }
}
