//! Network interfaces of hosts with paced senders, in the reference engine: departures at their ports are events.

use super::Engine;
use crate::host::end::End;
use crate::host::nic::{self, Act, Turn};
use crate::network::Network;
use crate::trace::Tracer;
use crate::units::Time;
use crate::units::ids::{FlowId, LineId};

impl<T: Tracer> Engine<T> {
    /// Return the first entity of interfaces in events of timers: the ends of flows come before.
    pub(super) fn first_nic(&self) -> usize {
        2 * self.network.flows.len()
    }

    /// Let a flow that waits for its turn wait at its interface, and call the interface.
    #[inline]
    pub(super) fn await_nic(&mut self, flow: FlowId, now: Time) {
        if self.nics.is_empty() {
            return;
        }
        let Some(place) = self.network.flows[flow].place() else { return };
        let Some(nic) = self.nics.join(flow, place) else { return };
        self.call_nic(nic, place.max(now));
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
        let is_new = self.timers.call(entity, at);
        is_new.into_iter().for_each(|event| self.queue.push(event));
    }

    /// Give turns to the flows that wait at an interface, as long as its line is free.
    pub(super) fn serve(&mut self, nic: usize, now: Time) {
        if !self.timers.take(self.first_nic() + nic, now) {
            return;
        }
        let line = self.nics.line(nic);
        loop {
            let port = &self.network.ports[line];
            let free = if port.is_busy() { Time::NEVER } else { now }; // the end of the transmission calls
            match self.nics.decide(nic, now, free, |class| nic::lets(port, class)) {
                Act::Sleep => return,
                Act::Wait(at) => return self.call_nic(nic, at),
                Act::Give(turn) => self.take_turn(nic, turn, now),
            }
        }
    }

    fn take_turn(&mut self, nic: usize, turn: Turn, now: Time) {
        self.nics.take(nic, turn);
        let Network { flows, circuits, .. } = &mut self.network;
        self.outbox.take_turn(&mut flows[turn.flow], now, circuits);
        self.emit(now);
        self.call(turn.flow, End::Source);
        if let Some(place) = self.network.flows[turn.flow].place() {
            self.nics.join(turn.flow, place);
        }
    }
}
