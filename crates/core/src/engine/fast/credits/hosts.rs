//! The hosts: cells that end there, frames that are whole, and timers.

use super::Governed;
use super::notes::Note;
use crate::kernel::queue::{Class, Event};
use crate::network::Network;
use crate::network::end::End;
use crate::units::Time;

impl Governed<'_> {
    /// Units arrive at the host at the end of a lane before `end`.
    pub(super) fn land(&mut self, lane: u32, end: Time) {
        while let Some(time) = self.lanes.next(lane).filter(|time| *time < end) {
            let unit = self.lanes.pop(lane);
            if let Some(answer) = &self.ways.stop(&unit).answer {
                let (receiver, vc) = answer.receiver(&mut self.network.receivers);
                receiver.arrived(vc);
                if let Some(credit) = receiver.left(vc) {
                    self.give_back(*answer, credit, self.lanes.arrival(lane, time));
                }
            }
            if let Some(frame) = self.network.circuits[unit.vc as usize].receive(&unit) {
                let arrival = self.lanes.arrival(lane, time);
                self.frames[arrival.entity as usize].push_back(frame);
                self.queue.push(arrival);
            }
        }
        self.agenda.expect(lane as usize, self.lanes.next(lane).unwrap_or(Time::NEVER));
    }

    /// The hosts do what they have to do before `end`.
    pub(super) fn act(&mut self, end: Time) {
        while let Some(event) = self.queue.pop_before(end) {
            self.work.events += 1;
            let entity = event.entity as usize;
            let acted = match event.class {
                Class::Arrive => Some(self.deliver(entity, event.time)),
                _ => self.calls.ring(&mut self.network, entity, event.time, &mut self.outbox),
            };
            if let Some((flow, end)) = acted {
                self.emit(event);
                self.call(flow, end);
            }
        }
    }

    /// A frame has come over a line; answers whose it was.
    fn deliver(&mut self, line: usize, now: Time) -> (usize, End) {
        let frame = self.frames[line].pop_front().expect("a frame that was announced");
        let Network { flows, circuits, .. } = &mut self.network;
        let flow = frame.flow as usize;
        (flow, flows[flow].deliver(now, &frame, circuits, &mut self.outbox))
    }

    /// Call a flow's end for its next timer.
    pub(super) fn call(&mut self, flow: usize, end: End) {
        if let Some(event) = self.calls.next(&self.network.flows, flow, end) {
            self.queue.push(event);
        }
    }

    /// Hand the frames that a host has written to its network interface.
    fn emit(&mut self, event: Event) {
        let mut emissions = std::mem::take(&mut self.outbox.emissions);
        for emission in emissions.drain(..) {
            let to = self.ways.source(emission.vc);
            self.tell(to, event.key(), Note::Frame(emission));
        }
        self.outbox.emissions = emissions;
    }
}
