//! A unit departs: the next queue in turn, the gates, and the line; control frames go first.

use super::Handling;
use super::Loss;
use super::ONLY_QUEUE;
use super::Started;
use super::arrivals::ArrivalTimes;
use super::offer::Exit;
use super::offer::Offer;
use super::offer::Taken;
use super::{Port, Sending};
use crate::buffer::admission::Admission;
use crate::buffer::admission::Head;
use crate::link::control::Control;
use crate::link::gate::Gate;
use crate::link::line::Sent;
use crate::scheduler::Scheduler;
use crate::unit::Unit;
use crate::units::Time;
use crate::units::ids::PortVc;
use crate::units::ids::QueueId;
use crate::verdict::HeadVerdict;

impl Port {
    /// Start to send the next unit, if the line is free and the scheduler has one. Units at the head that the
    /// admission policy discards are appended to `losses`.
    #[inline(always)]
    pub fn start(&mut self, now: Time, losses: &mut Vec<Loss>) -> Option<Started> {
        if self.is_busy() {
            return None;
        }
        let (unit, vc) = if self.asks_whose_turn() {
            self.next_in_turn(now, losses)?
        } else {
            let unit = self.queues[ONLY_QUEUE].pop()?;
            (unit, self.numbers.of(unit.vc))
        };
        Some(self.send(now, unit, vc))
    }

    /// Take the next unit to be sent out of its queue; scheduler, credits and admission policy choose it.
    #[inline(never)]
    pub(super) fn next_in_turn(&mut self, now: Time, losses: &mut Vec<Loss>) -> Option<(Unit, PortVc)> {
        if self.trims()
            && let Some(header) = self.next_header(now)
        {
            return Some(header);
        }
        loop {
            let Port { scheduler, gates, queues, line, .. } = self;
            let lets =
                |unit: &Unit| gates.iter().all(|gate| gate.opens(now, unit, self.numbers.of(unit.vc)) <= now);
            let mut may_send = |queue: QueueId| queues[queue].front().is_none_or(lets);
            let octets =
                |queue: QueueId| queues[queue].front().map_or(0, |unit| line.octets(unit.bytes).into());
            let index = if gates.is_empty() {
                scheduler.turn_by_size(now, &octets)?
            } else {
                scheduler.next_by_size(now, &mut may_send, &octets)?
            };
            let queue = &mut self.queues[index];
            let head = queue.positions().start;
            let mut unit = queue.pop().expect("a scheduler picks a queue that holds something");
            let empty = queue.is_empty();
            let arrived = self.arrivals.get_mut(index).map(|times| times.left(head));
            let vc = if self.shares_queues() { self.numbers.of(unit.vc) } else { index.vc() };
            self.left_queue(now, index, (&unit, vc), empty);
            if matches!(self.handling, Handling::Weighed | Handling::Asked) {
                let taken = Taken { now, unit, queue: index, vc, exit: Exit::Discarded(index) };
                match self.judge_head(&taken, arrived) {
                    HeadVerdict::Send => {}
                    HeadVerdict::Mark(reason) => self.mark_shared(now, &mut unit, vc, reason),
                    HeadVerdict::Discard(reason) => {
                        self.give_up(&taken, reason, losses);
                        continue;
                    }
                }
            }
            if let Some(arrived) = arrived {
                self.counters.waited(now, arrived);
            }
            self.scheduler.sent(index, self.line.octets(unit.bytes).into());
            return Some((unit, vc));
        }
    }

    pub(super) fn judge_head(&mut self, taken: &Taken, arrived: Option<Time>) -> HeadVerdict {
        let &Taken { now, ref unit, queue, vc, .. } = taken;
        let behind = self.arrivals.get(queue).map_or(0, ArrivalTimes::octets);
        let (size, pool) = (self.size_of(unit), &self.pool);
        self.admission.at_head(&Head { now, arrived, unit, queue, vc, size, behind, pool })
    }

    /// Record that a unit has left its queue, from any position; `empty` if it was the last one.
    #[inline]
    pub(super) fn left_queue(&mut self, now: Time, queue: QueueId, (unit, vc): (&Unit, PortVc), empty: bool) {
        self.scheduler.left(queue, empty);
        if empty && self.reports_waiting {
            self.gates.iter_mut().for_each(|gate| gate.waits(now, unit, vc, false));
        }
        if let Some(times) = self.arrivals.get_mut(queue) {
            times.shrink(unit.bytes);
        }
    }

    /// Queue a control frame ahead of all units that wait, and in place of a frame that it makes superfluous.
    pub fn queue_control(&mut self, control: Control) {
        let waiting = &mut self.rare.get_or_insert_default().controls;
        waiting.retain(|other| !control.replaces(*other));
        waiting.push_back(control);
    }

    /// Start to send the next control frame, if the line is free and one waits.
    pub fn start_control(&mut self, now: Time) -> Option<(Control, Sent)> {
        if self.is_busy() {
            return None;
        }
        let control = self.rare.as_mut()?.controls.pop_front()?;
        self.sending_control = true;
        control.count(self.counters.rare_mut());
        Some((control, self.line.send(now, control.octets())))
    }

    /// React to a control frame from the node at the far end.
    pub fn receive_control(&mut self, now: Time, control: Control) {
        self.gates.iter_mut().for_each(|gate| gate.receives(now, control));
    }

    /// Finish the transmission: the unit leaves the buffer. Return it, unless it was a control frame.
    #[inline(always)]
    pub fn finish(&mut self, now: Time) -> Option<Unit> {
        if std::mem::take(&mut self.sending_control) {
            return None;
        }
        let Sending { unit, vc, size } = self.sending.take().expect("a line finishes what it has started");
        self.leave(now, &unit, vc, size);
        if unit.is_cut() && self.trims() {
            self.counters.departed_cut();
        }
        if matches!(self.handling, Handling::Weighed | Handling::Asked) {
            let is_header = self.headers.as_mut().is_some_and(|headers| std::mem::take(&mut headers.sending));
            let exit = if is_header { Exit::Headers { sent: true } } else { Exit::Sent };
            self.report_departure(&Offer { now, unit, vc, size }, exit);
        }
        Some(unit)
    }

    /// Remove a unit that has been sent from the books.
    #[inline(always)]
    pub(super) fn leave(&mut self, now: Time, unit: &Unit, vc: PortVc, size: u64) {
        let left = self.pool.total() - size;
        self.counters.occupancy.change(now, self.pool.total(), left);
        self.pool.remove(vc, size);
        self.counters.departed(unit, vc);
        if left == 0 {
            self.line.idle();
        }
    }

    #[inline(always)]
    pub(super) fn send(&mut self, now: Time, unit: Unit, vc: PortVc) -> Started {
        if unit.begins_frame() {
            self.line.rest(now, unit.subject());
        }
        let sent = if self.gates.is_empty() {
            self.line.send(now, unit.bytes)
        } else {
            self.send_through_gates(now, &unit, vc)
        };
        self.sending = Some(Sending { unit, vc, size: self.size_of(&unit) });
        Started { unit: self.boundaries[vc].pass(unit), sent }
    }

    /// Send a unit past the gates, which may delay its start and its arrival.
    #[inline(never)]
    fn send_through_gates(&mut self, now: Time, unit: &Unit, vc: PortVc) -> Sent {
        let ready = now.max(self.line.free());
        let ready = self.gates.iter_mut().fold(ready, |ready, gate| gate.starts(ready, unit, vc));
        let sent = self.line.send(ready, unit.bytes);
        let arrives =
            self.gates.iter_mut().fold(sent.arrives, |arrives, gate| gate.arrives(sent.ends, arrives, unit));
        Sent { arrives, ..sent }
    }

    /// Take the first of the headers that wait, unless a gate holds it.
    pub(super) fn next_header(&mut self, now: Time) -> Option<(Unit, PortVc)> {
        let headers = self.headers.as_mut()?;
        let &(header, vc) = headers.waiting.front()?;
        headers.sending = self.gates.iter().all(|gate| gate.opens(now, &header, vc) <= now);
        if headers.sending { headers.waiting.pop_front() } else { None }
    }
}
