//! Network interfaces of hosts with paced senders.
//!
//! # What it assumes
//! An interface belongs to one line of a host, whose flows it calls in turn.
//!
//! # What it skips
//! Events for departures at a port that accepts packets by a rule: it has computed when its line is free.
//!
//! # Why that is exact
//! Only the host itself sends packets to that port, and an interface acts as a further end of its host: behind the others at one instant.
//!
//! # What turns it off
//! A port that judges every packet: the end of each transmission calls the interface.
//!
//! # What it saves
//! Half of the events of a paced flow.

use super::{Packets, Setout};
use crate::network::end::End;
use crate::network::nic::{self, Act, Turn};
use crate::units::Time;
use crate::units::ids::{FlowId, LineId};

impl Packets<'_> {
    /// Return the first entity of interfaces in calls of hosts: the ends of flows come before.
    #[inline]
    pub(super) fn first_nic(&self) -> usize {
        2 * self.scenario.flows.len()
    }

    /// Let a flow that waits for its turn wait at its interface, and call the interface.
    #[inline]
    pub(super) fn await_nic(&mut self, flow: FlowId, now: Time) {
        if self.nics.is_empty() {
            return;
        }
        let Some(place) = self.connections.at(flow).place() else { return };
        let Some(nic) = self.nics.join(flow, place) else { return };
        let at = place.max(now);
        let free = self.transit.free_at(self.nics.line(nic));
        self.call_nic(nic, if free == Time::NEVER { at } else { at.max(free) });
    }

    /// Call the interface of a port whose line may be free now, or that may send a class again.
    #[inline]
    pub(super) fn notify_nic(&mut self, port: LineId, now: Time) {
        if self.nics.is_empty() {
            return;
        }
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
    pub(super) fn serve(&mut self, nic: usize, now: Time) {
        let line = self.nics.line(nic);
        loop {
            let (free, port) = (self.transit.free_at(line), &self.transit.network.ports[line]);
            match self.nics.decide(nic, now, free, |class| nic::lets(port, class)) {
                Act::Sleep => return,
                Act::Wait(at) => return self.call_nic(nic, at),
                Act::Give(turn) => self.take_turn(nic, turn, now),
            }
        }
    }

    fn take_turn(&mut self, nic: usize, turn: Turn, now: Time) {
        self.nics.take(nic, turn);
        let Some(flow) = self.connections.under_way(turn.flow) else { return };
        flow.take_turn(now, &mut Setout { transit: &mut self.transit, now });
        if let Some(place) = flow.place() {
            self.nics.join(turn.flow, place);
        }
        self.call(turn.flow, End::Source);
    }
}
