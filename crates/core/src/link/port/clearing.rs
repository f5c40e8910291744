//! Gates that act at instants of their own, and the units that they take from the queues of their port.

use super::offer::{Exit, Removal, Taken};
use super::{Loss, Port};
use crate::buffer::queue::Queue;
use crate::link::gate::Gate;
use crate::unit::Unit;
use crate::units::Time;
use crate::units::ids::PortVc;
use crate::verdict::Reason;

impl Port {
    /// Return whether its gates change nothing before a control frame reaches it or they act by themselves.
    pub(crate) fn has_open_gates(&self) -> bool {
        self.gates.iter().all(Gate::is_open)
    }

    /// Return whether it sends control frames now, or has some to send.
    pub(crate) fn has_controls(&self) -> bool {
        self.sending_control || self.rare.as_ref().is_some_and(|rare| !rare.controls.is_empty())
    }

    /// Return when a gate acts by itself, if one does.
    pub(crate) fn next_action(&self) -> Option<Time> {
        self.gates.iter().filter_map(Gate::next_action).min()
    }

    /// Return when a gate lets the first unit start that waits at the head of a queue, if the line is free and that instant is known.
    pub(crate) fn opens(&self, now: Time) -> Option<Time> {
        if self.gates.is_empty() || self.is_busy() {
            return None;
        }
        let headers = self.headers.as_ref().and_then(|headers| headers.waiting.front());
        let first = headers.map(|(unit, _)| unit).into_iter();
        let heads = first.chain(self.queues.iter().filter_map(Queue::front));
        let opens = |unit: &Unit| {
            let vc = self.numbers.of(unit.vc);
            self.gates.iter().map(|gate| gate.opens(now, unit, vc)).max()
        };
        heads.filter_map(opens).min().filter(|time| *time > now && *time < Time::NEVER)
    }

    /// Have the gates act that do so by now; waiting units that they refuse from now on are lost.
    pub(crate) fn act(&mut self, now: Time, losses: &mut Vec<Loss>) {
        let mut clears = false;
        for gate in &mut self.gates {
            clears |= gate.act(now);
        }
        if clears {
            self.clear(now, losses);
        }
    }

    /// Lose the waiting units that a gate refuses; the unit in transmission is sent.
    fn clear(&mut self, now: Time, losses: &mut Vec<Loss>) {
        for queue in self.queues.keys() {
            for position in self.queues[queue].positions().collect::<Vec<_>>() {
                let found = self.queues[queue].at(position);
                if found.is_some_and(|unit| self.is_refused(self.numbers.of(unit.vc))) {
                    self.remove_one(now, queue, Removal::At(position), Reason::Watchdog, losses);
                }
            }
        }
        let Some(headers) = &mut self.headers else { return };
        for (unit, vc) in std::mem::take(&mut headers.waiting) {
            if self.is_refused(vc) {
                let queue = self.queue_of(&unit, vc);
                let exit = Exit::Headers { sent: false };
                self.give_up(&Taken { now, unit, queue, vc, exit }, Reason::Watchdog, losses);
            } else if let Some(headers) = &mut self.headers {
                headers.waiting.push_back((unit, vc));
            }
        }
    }

    fn is_refused(&self, vc: PortVc) -> bool {
        self.gates.iter().any(|gate| gate.refuses(vc))
    }
}
