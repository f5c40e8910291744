//! Ports that pause each other in a cycle.
//!
//! A paused port waits until a queue at the node after its line gets shorter. If the packets of that queue wait at a
//! port that is itself paused for their class, and so on in a cycle back to the first port, possibly none of these
//! ports ever sends again: a deadlock (cyclic buffer dependency).

use std::collections::BTreeSet;

use super::Network;
use crate::buffer::pushout::longest_queue::End;
use crate::link::control::PauseFrame;
use crate::link::gate::pause::Paused;
use crate::units::Time;
use crate::units::ids::LineId;

/// A cycle of ports: each waits for the next one, and the last for the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PauseCycle {
    /// Time at which the last port of the cycle was paused.
    pub since: Time,
    /// The paused class, numbered within the scenario.
    pub class: u32,
    /// The ports.
    pub ports: Vec<LineId>,
}

impl Network {
    /// Search for a cycle after a pause frame has reached a port, unless an earlier one is known. An engine may search in ports that can
    /// wait for each other before it searches in others at an earlier instant.
    pub(super) fn seek_pause_cycle(&mut self, port: LineId, now: Time, frame: PauseFrame) {
        let is_first = |known: &PauseCycle| (now, port) < (known.since, known.ports[0]);
        if frame.stops
            && self.pause_cycle.as_ref().is_none_or(is_first)
            && let Some(ports) = self.find_cycle(port, frame.class)
        {
            self.pause_cycle = Some(PauseCycle { since: now, class: frame.class, ports });
        }
    }

    /// Return whether all ports of a cycle are still paused for its class.
    pub(crate) fn is_closed(&self, cycle: &PauseCycle) -> bool {
        cycle.ports.iter().all(|&port| self.is_paused(port, cycle.class))
    }

    fn is_paused(&self, port: LineId, class: u32) -> bool {
        Paused::among(self.ports[port].gates()).is_some_and(|paused| paused.stops(class))
    }

    /// Return a cycle of ports that are paused for a class, beginning with this one.
    fn find_cycle(&self, port: LineId, class: u32) -> Option<Vec<LineId>> {
        let mut path = vec![port];
        self.closes(&mut path, &mut BTreeSet::new(), class).then_some(path)
    }

    /// Return whether the last port of a path waits for the first one; extend the path by the ports between them.
    fn closes(&self, path: &mut Vec<LineId>, seen: &mut BTreeSet<LineId>, class: u32) -> bool {
        for next in self.waits_for(path[path.len() - 1], class) {
            if next == path[0] {
                return true;
            }
            if seen.insert(next) {
                path.push(next);
                if self.closes(path, seen, class) {
                    return true;
                }
                path.pop();
            }
        }
        false
    }

    /// Return the paused ports whose waiting packets keep a paused port from sending.
    fn waits_for(&self, port: LineId, class: u32) -> Vec<LineId> {
        let Some(paused) = Paused::among(self.ports[port].gates()) else { return Vec::new() };
        let mut found = Vec::new();
        for memory in paused.memories(class) {
            let queues = self.memories[memory].as_ref().expect("no port works now").queues();
            let Some(queue) = queues.iter().position(|queue| queue.can_stop(port, class)) else { continue };
            let holds = |next: &LineId| {
                let shares = self.ports[*next].share().is_some_and(|share| share.number() == memory);
                shares
                    && self.is_paused(*next, class)
                    && self.ports[*next].find_waiting(queue, End::Head).is_some()
            };
            found.extend(self.ports.keys().filter(holds));
        }
        found
    }
}
