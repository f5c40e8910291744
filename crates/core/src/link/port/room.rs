//! How a port makes room: its push-out or admission policy chooses a unit; the port removes, counts and reports it.
//!
//! A port with push-out has its own frame rule in front of its admission policy, because the schemes of paper 003
//! accept every arrival: the rest of a frame that was cut off in its queue, or that found no room, is refused. A
//! frame that the admission policy has refused is in no queue, so neither can happen to it: all its units are lost
//! for the policy's reason.

use std::cmp::Reverse;

use super::arrivals::ArrivalTimes;
use super::fattest::{Heads, shorten_fattest};
use super::offer::{Exit, Offer, Removal, Taken};
use super::{Loss, Port};
use crate::buffer::admission::{Admission, Arrival, Departure, Expulsion, Settled, Within};
use crate::buffer::pushout::longest_queue::End;
use crate::buffer::pushout::pushout_3::tail;
use crate::buffer::pushout::{Cut, Full, PushOut, head_fragment};
use crate::buffer::queue::Queue;
use crate::buffer::runs::{Extent, Part};
use crate::link::gate::Gate;
use crate::memory::Trim;
use crate::memory::pushout::{self as memory, Piece};
use crate::scheduler::Scheduler;
use crate::unit::{CUT_BYTES, Unit};
use crate::units::Time;
use crate::units::ids::{PortVc, QueueId};
use crate::verdict::{Reason, Verdict, Victim};

/// The queues of a port at which a unit arrives that does not fit.
struct PortHeads<'a, F> {
    port: &'a mut Port,
    offer: &'a Offer,
    /// The queue that the unit would join.
    own: QueueId,
    reason: Reason,
    vc_of: F,
    losses: &'a mut Vec<Loss>,
}

impl<F: Fn(&Unit) -> PortVc> Heads for PortHeads<'_, F> {
    fn count(&self) -> usize {
        self.port.queues.len()
    }

    fn octets(&self, queue: QueueId) -> u64 {
        let arriving = if queue == self.own { self.offer.unit.bytes.into() } else { 0 };
        self.port.arrivals[queue].octets() + arriving
    }

    fn lose_head(&mut self, queue: QueueId) -> Option<u16> {
        let PortHeads { port, offer, reason, vc_of, losses, .. } = self;
        let removed = port.remove_one(offer.now, queue, Removal::Head, *reason, &*vc_of, losses);
        removed.map(|unit| unit.bytes)
    }

    fn fits(&mut self) -> bool {
        self.port.ask_memory(self.offer);
        self.port.pool.fits(self.offer.size)
    }
}

impl Port {
    /// Handle the arrival of a unit at a port where it may displace others, or where policies observe it.
    #[inline(never)]
    pub(super) fn arrive_asking(
        &mut self,
        offer: Offer,
        vc_of: impl Fn(&Unit) -> PortVc,
        losses: &mut Vec<Loss>,
    ) {
        self.report_offer(&offer);
        let cut = self.cut_for(&offer);
        let verdict = self.judge(&offer, cut.is_some());
        self.act_on(verdict, cut, offer, vc_of, losses);
    }

    /// Handle the arrival of a unit at a port where nothing but the admission policy judges it.
    #[inline]
    pub(super) fn arrive_weighed(
        &mut self,
        offer: Offer,
        vc_of: impl Fn(&Unit) -> PortVc,
        losses: &mut Vec<Loss>,
    ) {
        let verdict = self.judge(&offer, false);
        if verdict == Verdict::Accept && self.pool.fits(offer.size) {
            let queue = self.queue_of(&offer.unit, offer.vc);
            return self.enqueue(queue, offer);
        }
        self.act_on(verdict, None, offer, vc_of, losses);
    }

    /// Judge an arriving unit that can find room in a memory by push-out.
    pub(crate) fn consult(&mut self, now: Time, unit: Unit, vc: PortVc) -> Verdict {
        self.counters.arrived(&unit);
        let offer = Offer { now, unit, vc, size: self.size_of(&unit) };
        self.report_offer(&offer);
        self.judge(&offer, true)
    }

    /// Carry out the verdict on such a unit, now that the memory has made the room that it could.
    pub(crate) fn conclude(
        &mut self,
        verdict: Verdict,
        now: Time,
        unit: Unit,
        vc: PortVc,
        vc_of: impl Fn(&Unit) -> PortVc,
        losses: &mut Vec<Loss>,
    ) {
        let offer = Offer { now, unit, vc, size: self.size_of(&unit) };
        self.ask_memory(&offer);
        self.act_on(verdict, None, offer, vc_of, losses);
    }

    /// Carry out the verdict on an arriving unit; `cut` goes first if it does not fit.
    fn act_on(
        &mut self,
        verdict: Verdict,
        cut: Option<Cut>,
        offer: Offer,
        vc_of: impl Fn(&Unit) -> PortVc,
        losses: &mut Vec<Loss>,
    ) {
        let Offer { now, unit, vc, .. } = offer;
        let queue = self.queue_of(&unit, vc);
        match verdict {
            Verdict::Accept => self.let_in(offer, cut, None, losses),
            Verdict::Mark(reason) => self.let_in(offer, cut, Some(reason), losses),
            Verdict::Discard(reason) => self.lose_or_cut(&offer, reason, losses),
            Verdict::Replace(Victim::FattestQueue(batch), reason) => {
                if self.shorten_fattest(&offer, batch, reason, &vc_of, losses) {
                    self.enqueue(queue, offer);
                } else {
                    self.turn_away(&offer, Reason::Overflow, losses);
                }
            }
            Verdict::Replace(victim, reason) => {
                if self.make_room(&offer, victim, reason, &vc_of, losses) {
                    self.enqueue(queue, offer);
                } else {
                    self.lose_shared(&offer, Reason::Overflow, losses);
                    self.admission.broken(vc, !unit.is_first());
                }
            }
        }
        self.sweep(now, queue, &vc_of, losses);
        if self.is_busy() && !self.shares_queues() && self.admission.properties().expels {
            self.expel_excess(now, losses);
        }
    }

    /// Queue the headers of a packet that would be lost, ahead of all units, or the whole packet if it is no longer
    /// than its headers. Lose it if the port, or its shared memory, has no room for the headers either. A packet that
    /// was cut before waits with other cut packets.
    fn cut_down(&mut self, offer: &Offer, reason: Reason, losses: &mut Vec<Loss>) {
        let &Offer { now, unit, vc, .. } = offer;
        let octets = self.trim_of(vc).map_or(CUT_BYTES, |trim| trim.size);
        let is_long = unit.bytes > self.line.octets(octets);
        let header = if is_long { unit.cut(octets) } else { unit };
        let size = self.size_of(&header);
        if let Some(share) = &mut self.share {
            let granted = if share.admits_headers(now, &header, vc, size) { size } else { 0 };
            self.pool.grant(granted);
        }
        if !self.pool.fits(size) {
            return self.lose_shared(offer, reason, losses);
        }
        self.take_in(now, vc, size);
        if let Some(share) = &mut self.share {
            share.take_in(now, &header, vc, size);
        }
        if let Some(headers) = &mut self.headers {
            headers.waiting.push_back((header, vc));
        }
        self.counters.rare_mut().trimmed += u64::from(is_long);
        if let Some(share) = self.share.as_mut().filter(|_| is_long) {
            share.note_trim(&unit, vc);
        }
    }

    /// Lose an arriving unit, or queue its headers if the port cuts what it refuses for this reason.
    fn lose_or_cut(&mut self, offer: &Offer, reason: Reason, losses: &mut Vec<Loss>) {
        if self.cuts_all() || reason == Reason::Overflow && self.trim_of(offer.vc).is_some() {
            self.cut_down(offer, reason, losses);
        } else {
            self.lose_shared(offer, reason, losses);
        }
    }

    /// Return whether the port cuts every packet that it refuses.
    fn cuts_all(&self) -> bool {
        self.headers.as_ref().is_some_and(|headers| headers.of_all)
    }

    /// Return how the port cuts packets of a circuit that its memory refuses, if it does.
    fn trim_of(&self, vc: PortVc) -> Option<Trim> {
        self.share.as_ref()?.trim_of(vc)
    }

    /// Take the first of the headers that wait, unless a gate holds it.
    pub(super) fn next_header(&mut self) -> Option<(Unit, PortVc)> {
        let headers = self.headers.as_mut()?;
        let &(header, vc) = headers.waiting.front()?;
        headers.sending = self.gates.iter().all(|gate| gate.lets(&header, vc));
        if headers.sending { headers.waiting.pop_front() } else { None }
    }

    /// Lose units at the heads of the circuits' queues for as long as the admission policy expels any.
    fn expel_excess(&mut self, now: Time, losses: &mut Vec<Loss>) {
        loop {
            let Port { admission, pool, queues, measure, .. } = self;
            let head = |vc: PortVc| queues[vc.queue()].front().map(|unit| measure.size_of(unit));
            let Some(Expulsion::Now(vc)) = admission.expels(now, pool, &head) else { return };
            self.remove_one(now, vc.queue(), Removal::Head, Reason::PushedOut, |_| vc, losses);
        }
    }

    /// Lose the unit at a place of a queue; returns it, unless the queue has none there.
    pub(super) fn remove_one(
        &mut self,
        now: Time,
        queue: QueueId,
        place: Removal,
        reason: Reason,
        vc_of: impl Fn(&Unit) -> PortVc,
        losses: &mut Vec<Loss>,
    ) -> Option<Unit> {
        let waiting = &mut self.queues[queue];
        let (position, unit) = match place {
            Removal::Head => (waiting.positions().start, waiting.pop()?),
            Removal::At(position) => (position, waiting.take(position)?),
        };
        self.left_queue(queue, &unit, self.queues[queue].is_empty());
        let (vc, exit) = (vc_of(&unit), Exit::Removed(queue, position));
        self.give_up(&Taken { now, unit, queue, vc, exit }, reason, losses);
        Some(unit)
    }

    /// Report an arriving unit to the memory that the port shares.
    fn report_offer(&mut self, &Offer { now, ref unit, vc, size }: &Offer) {
        if let Some(share) = &mut self.share {
            let granted = if share.offer(now, unit, vc, size) { size } else { 0 };
            self.pool.grant(granted);
        }
    }

    /// Set the room for a unit of this circuit to what the shared memory grants, if the port shares one.
    fn ask_memory(&mut self, &Offer { now, ref unit, vc, size }: &Offer) {
        if let Some(share) = &mut self.share {
            let granted = if share.admits(now, unit, vc, size) { size } else { 0 };
            self.pool.grant(granted);
        }
    }

    /// Lose an arriving unit at a port that may share a memory.
    fn lose_shared(&mut self, &Offer { unit, vc, .. }: &Offer, reason: Reason, losses: &mut Vec<Loss>) {
        self.note_loss(&unit, vc);
        if let Some(share) = &mut self.share {
            share.note_refusal(vc);
        }
        self.lose(unit, reason, losses);
    }

    /// Remove from a queue all units that the admission policy has decided to lose.
    fn sweep(&mut self, now: Time, queue: QueueId, vc_of: impl Fn(&Unit) -> PortVc, losses: &mut Vec<Loss>) {
        while let Some((position, reason)) = self.admission.sweep(&self.queues[queue], &self.pool) {
            let removed = self.remove_one(now, queue, Removal::At(position), reason, &vc_of, losses);
            assert!(removed.is_some(), "a policy gives up units that are queued");
        }
    }

    /// Make room for an arriving unit at the expense of the queue with the most octets; returns whether there is room then.
    fn shorten_fattest(
        &mut self,
        offer: &Offer,
        batch: u64,
        reason: Reason,
        vc_of: impl Fn(&Unit) -> PortVc,
        losses: &mut Vec<Loss>,
    ) -> bool {
        let own = self.queue_of(&offer.unit, offer.vc);
        self.can_be_held(offer.size)
            && (self.pool.fits(offer.size)
                || shorten_fattest(&mut PortHeads { port: self, offer, own, reason, vc_of, losses }, batch))
    }

    /// Return whether the buffer could hold a unit of this size beside the one in transmission.
    pub(super) fn can_be_held(&self, size: u64) -> bool {
        self.pool.capacity().holds(size + self.sending.map_or(0, |sending| sending.size))
    }

    /// Remove the unit that the policy has chosen in a queue. While the arriving one, of `size`, does not fit, remove
    /// more from the head, or the units that the policy has chosen; returns whether it fits in the end. The unit in
    /// transmission cannot be removed.
    fn make_room(
        &mut self,
        offer: &Offer,
        victim: Victim,
        reason: Reason,
        vc_of: impl Fn(&Unit) -> PortVc,
        losses: &mut Vec<Loss>,
    ) -> bool {
        let &Offer { now, size, .. } = offer;
        let queue = self.queue_of(&offer.unit, offer.vc);
        if !self.can_be_held(size) {
            return false;
        }
        let mut chosen = victim;
        loop {
            let place = match chosen {
                Victim::Head | Victim::FattestQueue(_) => Removal::Head,
                Victim::At(position) => Removal::At(position),
            };
            if self.remove_one(now, queue, place, reason, &vc_of, losses).is_none() {
                return false;
            }
            self.ask_memory(offer);
            if self.pool.fits(size) {
                return true;
            }
            if victim != Victim::Head {
                let Some((next, _)) = self.admission.sweep(&self.queues[queue], &self.pool) else {
                    return false;
                };
                chosen = Victim::At(next);
            }
        }
    }

    /// Find the first or last of the waiting units that a memory charges to its queue `number`, by queue of the port
    /// and position. Where circuits have queues of their own, the longest of these is searched.
    pub(crate) fn find_waiting(
        &self,
        number: usize,
        end: End,
        vc_of: impl Fn(&Unit) -> PortVc,
    ) -> Option<(QueueId, u64)> {
        let share = self.share.as_ref()?;
        let is_of = |queue: &Queue, position: u64| {
            queue.at(position).is_some_and(|unit| share.account(&unit, vc_of(&unit)).queue() == number)
        };
        let found = self.queues.pairs().filter_map(|(index, queue)| {
            let mut positions = queue.positions();
            let position = match end {
                End::Head => positions.find(|&position| is_of(queue, position)),
                End::Tail => positions.rev().find(|&position| is_of(queue, position)),
            };
            position.map(|position| (index, position))
        });
        found.max_by_key(|&(index, _)| (self.queues[index].len(), Reverse(index)))
    }

    /// Return whether a piece waits that a memory charges to one of its queues.
    pub(crate) fn has_piece(&self, cut: memory::Cut, vc_of: impl Fn(&Unit) -> PortVc) -> bool {
        match cut.piece {
            Piece::Unit(end) => self.find_waiting(cut.queue, end, vc_of).is_some(),
            _ => self.find_piece(cut, vc_of).is_some(),
        }
    }

    /// Lose a piece: a port of the memory needs its room. Return the circuit if the piece had no EOM, so that its frame may
    /// still be arriving, and whether an earlier part of that frame stays queued or has been sent.
    pub(crate) fn expel(
        &mut self,
        now: Time,
        cut: memory::Cut,
        vc_of: impl Fn(&Unit) -> PortVc,
        losses: &mut Vec<Loss>,
    ) -> Option<(PortVc, bool)> {
        if let Piece::Unit(end) = cut.piece {
            self.expel_one(now, (cut.queue, end), vc_of, losses);
            return None;
        }
        let (queue, part) = self.find_piece(cut, &vc_of).expect("a queue that gives way has the piece");
        let runs = self.queues[queue].runs();
        let is_open = runs.get(part.run).is_some_and(|run| !run.is_closed());
        let fragment = part.leaves_fragment(runs);
        let (mut waiting, mut last) = (self.queues[queue].len(), None);
        for (position, unit) in self.queues[queue].cut(part) {
            waiting -= 1;
            last = Some(vc_of(&unit));
            self.left_queue(queue, &unit, waiting == 0);
            let (vc, exit) = (vc_of(&unit), Exit::Removed(queue, position));
            self.give_up(&Taken { now, unit, queue, vc, exit }, Reason::PushedOut, losses);
            self.note_pushed_out(&unit, vc);
        }
        last.filter(|_| is_open).map(|vc| (vc, fragment))
    }

    /// Record that the arriving frame of a circuit has lost its end to a memory, so that the rest is useless.
    pub(crate) fn break_frame(&mut self, vc: PortVc, fragment: bool) {
        if matches!(self.admission.within(vc), Within::Lost(reason) if reason != Reason::Partial) {
            return; // the policy has refused the arriving frame: an earlier one was cut
        }
        self.admission.broken(vc, fragment);
        if let Some(share) = &mut self.share {
            share.note_refusal(vc);
        }
    }

    /// Judge an accepted unit again whose own frame a memory has just cut: it may still be a delimiter.
    pub(crate) fn judge_again(&mut self, accepted: Verdict, now: Time, unit: Unit, vc: PortVc) -> Verdict {
        let offer = Offer { now, unit, vc, size: self.size_of(&unit) };
        let verdict = match self.admission.within(vc) {
            Within::Lost(reason) => Verdict::Discard(reason),
            Within::Broken(reason) if !unit.is_eom() => Verdict::Discard(reason),
            Within::Broken(_) => {
                self.ask_memory(&offer);
                self.judge(&offer, false)
            }
            Within::Taken | Within::Asked => accepted,
        };
        if let Verdict::Discard(_) = verdict {
            self.admission.settled(&unit, vc, Settled::TurnedAway { size: offer.size });
        }
        verdict
    }

    /// Lose the first or last of the waiting units that a memory charges to one of its queues.
    fn expel_one(
        &mut self,
        now: Time,
        (number, end): (usize, End),
        vc_of: impl Fn(&Unit) -> PortVc,
        losses: &mut Vec<Loss>,
    ) {
        let (queue, position) =
            self.find_waiting(number, end, &vc_of).expect("a queue that gives way has something");
        let removed = self.remove_one(now, queue, Removal::At(position), Reason::PushedOut, &vc_of, losses);
        let unit = removed.expect("a unit that was found");
        self.note_pushed_out(&unit, vc_of(&unit));
    }

    fn note_pushed_out(&mut self, unit: &Unit, vc: PortVc) {
        if let Some(share) = &mut self.share {
            share.note_pushed_out(unit, vc);
        }
    }

    /// Find a piece that a memory charges to one of its queues, by queue of the port and part: of the longest queue that has
    /// one.
    fn find_piece(&self, cut: memory::Cut, vc_of: impl Fn(&Unit) -> PortVc) -> Option<(QueueId, Part)> {
        let is_own = |unit: &Unit| self.is_charged(cut.queue, unit, &vc_of);
        let part = |queue: &Queue| match cut.piece {
            Piece::Packet => queue.first_packet(is_own).map(|run| Part { run, extent: Extent::Whole }),
            Piece::Head { keep_eom } if queue.front().is_some_and(is_own) => head_fragment(queue, keep_eom),
            Piece::Tail(last_eom) if queue.back().is_some_and(|last| is_own(&last)) => tail(queue, last_eom),
            _ => None,
        };
        let found = self.queues.pairs().filter_map(|(index, queue)| Some((index, part(queue)?)));
        found.max_by_key(|&(index, _)| (self.length_of(index), Reverse(index)))
    }

    /// Return whether a memory charges a unit to its queue `number`.
    fn is_charged(&self, number: usize, unit: &Unit, vc_of: impl Fn(&Unit) -> PortVc) -> bool {
        self.share.as_ref().is_some_and(|share| share.account(unit, vc_of(unit)).queue() == number)
    }

    /// Return the length of a queue; of one circuit with its unit in transmission.
    fn length_of(&self, queue: QueueId) -> u64 {
        if self.shares_queues() { self.queues[queue].len() as u64 } else { self.pool.of(queue.vc()) }
    }

    /// Return the size of the unit in transmission, if a memory charges it to its queue `number`.
    pub(crate) fn in_transmission(&self, number: usize) -> u64 {
        let sending = self.sending.filter(|sending| self.is_charged(number, &sending.unit, |_| sending.vc));
        sending.map_or(0, |sending| sending.size)
    }

    /// Return whether the port has refused a unit of the arriving frame, if its memory pushes out whole packets.
    pub(crate) fn is_rest(&mut self, unit: &Unit, vc: PortVc) -> bool {
        self.share.as_mut().is_some_and(|share| share.is_rest(unit, vc))
    }

    /// Return the size of the first of the waiting packets that a memory charges to its queue `number`.
    pub(crate) fn head_of(&self, number: usize, vc_of: impl Fn(&Unit) -> PortVc) -> Option<u64> {
        let (queue, position) = self.find_waiting(number, End::Head, vc_of)?;
        self.queues[queue].at(position).map(|unit| self.size_of(&unit))
    }

    /// Choose the first units to remove for an arriving unit that does not fit. Return `None` if it fits, if none can
    /// be removed, or if it is the rest of a broken frame, for which none is removed.
    fn cut_for(&mut self, &Offer { now, ref unit, vc, size }: &Offer) -> Option<Cut> {
        let sending = self.sending.map_or(0, |sending| sending.size);
        let pushout = self.pushout.as_mut()?;
        let is_rest = pushout.frames().is_some_and(|frames| frames.is_rest(unit, vc));
        if self.pool.fits(size) || !self.pool.capacity().holds(sending + size) || is_rest {
            return None;
        }
        pushout.choose(&Full {
            now,
            pool: &self.pool,
            queues: self.queues.view().by_circuit(),
            arriving: (vc, size),
            subject: unit.subject(),
        })
    }

    /// Judge an arriving unit: first by the frame rule of a port with push-out, then by the admission policy.
    pub(crate) fn judge(&mut self, &Offer { now, ref unit, vc, size }: &Offer, elastic: bool) -> Verdict {
        if unit.is_cut() && (self.cuts_all() || self.trim_of(vc).is_some()) {
            return Verdict::Discard(Reason::Overflow);
        }
        let place = self.queue_of(unit, vc);
        let (pool, queue) = (&self.pool, &self.queues[place]);
        let waiting = self.arrivals.get(place).map_or(0, ArrivalTimes::octets);
        let mut arrival = Arrival { now, unit, vc, size, pool, queue, place, waiting, elastic };
        let Some(pushout) = &mut self.pushout else { return self.admission.judge(&mut arrival) };
        self.refused[vc] &= !unit.is_first();
        if !self.refused[vc]
            && let Some(frames) = pushout.frames()
        {
            let verdict = frames.judge(unit, vc, arrival.fits(), || None);
            if verdict == Verdict::Discard(Reason::Overflow) {
                self.admission.broken(vc, !unit.is_first());
            }
            if verdict != Verdict::Accept {
                return verdict;
            }
        }
        let verdict = self.admission.judge(&mut arrival);
        if !self.takes_all && unit.is_first() {
            let refused = matches!(verdict, Verdict::Discard(reason) if reason != Reason::Overflow);
            self.refused[vc] = refused && !self.admission.properties().splits_frames;
        }
        verdict
    }

    /// Return the fate of a unit within a circuit's frame, if it fits.
    #[inline(never)] // inlined it would cost more than a call
    pub(crate) fn within(&mut self, vc: PortVc) -> Within {
        let frames = self.pushout.as_mut().and_then(PushOut::frames);
        match frames.map_or(Within::Taken, |frames| frames.within(vc)) {
            Within::Taken if self.takes_all => Within::Taken,
            Within::Taken => self.admission.within(vc),
            other => other,
        }
    }

    /// Queue a unit that the admission policy has accepted; if it does not fit, remove units for it, `cut` first. It
    /// is queued with a congestion mark if there is a reason to mark it.
    fn let_in(&mut self, offer: Offer, cut: Option<Cut>, mark: Option<Reason>, losses: &mut Vec<Loss>) {
        let Offer { now, mut unit, vc, size } = offer;
        let mut chosen = cut;
        while !self.pool.fits(size) {
            let Some(cut) = chosen.take().or_else(|| self.cut_for(&offer)) else {
                self.cut_off(vc, !unit.is_first());
                return self.turn_away(&offer, Reason::Overflow, losses);
            };
            let own = self.push_out(cut, &offer, losses);
            if own && let Verdict::Discard(reason) = self.judge_rest(&unit, vc, size) {
                return self.turn_away(&offer, reason, losses);
            }
        }
        let queue = self.queue_of(&unit, vc);
        if let Some(reason) = mark {
            self.mark_shared(now, &mut unit, vc, reason);
        }
        self.enqueue(queue, Offer { unit, ..offer });
    }

    /// Lose a unit that the admission policy has accepted.
    fn turn_away(&mut self, offer: &Offer, reason: Reason, losses: &mut Vec<Loss>) {
        let &Offer { ref unit, vc, size, .. } = offer;
        self.admission.settled(unit, vc, Settled::TurnedAway { size });
        self.lose_or_cut(offer, reason, losses);
    }

    /// Push out a part of a queue; returns whether that was the beginning of the arrival's own frame.
    fn push_out(&mut self, cut: Cut, offer: &Offer, losses: &mut Vec<Loss>) -> bool {
        let Cut { vc, part } = cut;
        let runs = self.queues[vc.queue()].runs();
        let run = runs.get(part.run).copied();
        let fragment = part.leaves_fragment(runs);
        self.remove(offer.now, cut, losses);
        let Some(run) = run else { return false };
        // Only a run without EOM can still grow, unless a newer frame already arrives.
        let arriving = !run.is_closed() && (vc != offer.vc || !offer.unit.is_first());
        if arriving {
            self.cut_off(vc, fragment);
        }
        arriving && vc == offer.vc
    }

    /// Take a part out of its queue and out of the books.
    fn remove(&mut self, now: Time, Cut { vc, part }: Cut, losses: &mut Vec<Loss>) {
        let measure = self.measure;
        let pushout = self.pushout.as_mut().expect("only push-out cuts");
        let queue = &mut self.queues[vc.queue()];
        let mut queued = queue.len();
        let units = queue.cut(part);
        assert!(queue.len() < queued, "a cut takes something out");
        for (position, unit) in units {
            let size = measure.size_of(&unit);
            self.counters.occupancy.change(now, self.pool.total(), self.pool.total() - size);
            self.pool.remove(vc, size);
            queued -= 1;
            self.scheduler.left(vc.queue(), queued == 0);
            if let Some(times) = self.arrivals.get_mut(vc.queue()) {
                times.shrink(unit.bytes);
            }
            let pool = &self.pool;
            let (queue, position) = (Some(vc.queue()), Some(position));
            let of_sent = Departure::of_sent(now, &unit, vc, size, pool);
            self.admission.departed(&Departure { queue, position, sent: false, ..of_sent });
            pushout.left(vc, &self.pool, false);
            self.counters.gave_up(&unit, Reason::PushedOut);
            losses.push(Loss { unit, reason: Reason::PushedOut });
        }
    }

    /// Refuse the rest of a circuit's arriving frame, unless it has been refused already: then an earlier frame was
    /// cut.
    fn cut_off(&mut self, vc: PortVc, fragment: bool) {
        if self.refused.get(vc) == Some(&true) {
            return;
        }
        if let Some(frames) = self.pushout.as_mut().and_then(PushOut::frames) {
            frames.broken(vc, fragment);
        }
        self.admission.broken(vc, fragment);
    }

    /// Judge a unit whose frame has just been cut off: it may still be a delimiter.
    fn judge_rest(&mut self, unit: &Unit, vc: PortVc, size: u64) -> Verdict {
        let fits = self.pool.fits(size);
        let frames = self.pushout.as_mut().and_then(PushOut::frames);
        frames.map_or(Verdict::Accept, |frames| frames.judge(unit, vc, fits, || None))
    }
}

#[cfg(test)]
mod tests {
    use crate::buffer::admission::{self, atm_red, drop_from_front, epd, virtual_queueing};
    use crate::buffer::pushout::{self, pushout_1, pushout_2, pushout_3};
    use crate::language::read::{Format, read};
    use crate::language::spec::{Section, read_section};
    use crate::link::port::bench::Bench;
    use crate::units::Span;

    fn params<P: Section>(text: &str) -> P {
        read_section(&read(text, Format::Toml).unwrap(), "port").unwrap()
    }

    fn from_the_head() -> pushout::Spec {
        pushout::Spec::Pushout1(params::<pushout_1::Params>(""))
    }

    #[test]
    fn what_gives_way_is_in_the_mean_occupancy_for_the_time_that_it_was_there() {
        let mut pushed_out = Bench::new(4, &[0, 0], from_the_head());
        pushed_out.offer(0, "f..e");
        pushed_out.wait(Span(1000));
        pushed_out.offer(1, "1");
        pushed_out.wait(Span(1000));
        assert_eq!((pushed_out.mean(), pushed_out.lengths()), (2.5, vec![0, 1]));
        let front = admission::Spec::DropFromFront(params::<drop_from_front::Params>(""));
        let mut dropped = Bench::with(2, &[0], front, None);
        dropped.offer(0, "f.");
        dropped.wait(Span(1000));
        dropped.offer(0, "e");
        assert_eq!((dropped.mean(), dropped.pushed_out().as_str()), (2.0, "0:f"));
    }

    #[test]
    fn the_admission_policy_is_notified_of_every_unit_that_is_pushed_out() {
        let mut bench = Bench::with(4, &[0, 0], virtual_queues(), Some(from_the_head()));
        bench.offer(0, "f..e");
        assert_eq!(bench.offer(0, "1"), "r", "its virtual queue is not empty");
        assert_eq!(bench.offer(1, "1"), "A");
        assert_eq!(bench.offer(0, "1"), "A", "its virtual queue has gone with the real one");
    }

    fn virtual_queues() -> admission::Spec {
        let text = "threshold = '1 cell'\nshare = 'none'";
        admission::Spec::VirtualQueueing(params::<virtual_queueing::Params>(text))
    }

    #[test]
    fn the_admission_policy_is_notified_of_a_unit_refused_since_its_own_frame_was_cut_off() {
        let tails = pushout::Spec::Pushout3(params::<pushout_3::Params>(""));
        let mut bench = Bench::with(5, &[0, 0], virtual_queues(), Some(tails));
        assert_eq!(bench.offer(1, "1"), "A");
        assert_eq!(bench.offer(0, "f..."), "AAAA");
        assert_eq!(bench.offer(0, ".e"), "pp", "for want of room all of the frame goes");
        assert_eq!(bench.offer(0, "1"), "A", "nothing of it is left in its virtual queue");
    }

    fn epd(threshold: &str) -> admission::Spec {
        admission::Spec::Epd(params::<epd::Params>(&format!("threshold = '{threshold}'")))
    }

    #[test]
    fn a_refused_frame_is_refused_to_its_end_even_where_nothing_can_go_for_it() {
        let whole_packets = pushout::Spec::Pushout2(params::<pushout_2::Params>("fallback = 'refuse'"));
        let mut bench = Bench::with(4, &[0, 0], epd("3 cells"), Some(whole_packets));
        assert_eq!(bench.offer(0, "f.."), "AAA");
        assert_eq!(bench.offer(1, "f"), "r");
        assert_eq!(bench.offer(0, "."), "A", "now the buffer is full");
        assert_eq!(bench.offer(1, "."), "r");
        bench.send();
        assert_eq!(bench.offer(1, "e"), "r", "there is no fragment that its EOM could end");
        assert_eq!(bench.offer(0, "e"), "A");
    }

    #[test]
    fn a_refused_frame_is_refused_to_its_end_even_when_one_before_it_is_cut_off() {
        for discard_rest in [true, false] {
            let tails = params::<pushout_3::Params>(&format!("discard_rest = {discard_rest}"));
            let mut bench = Bench::with(5, &[0, 0], epd("4 cells"), Some(pushout::Spec::Pushout3(tails)));
            assert_eq!(bench.offer(1, "f"), "A");
            assert_eq!(bench.offer(0, "f.."), "AAA", "its EOM was not admitted");
            assert_eq!(bench.offer(0, "f"), "r");
            assert_eq!(bench.offer(1, ".."), "AA");
            assert_eq!(bench.outcome(), "0:f.. / ,f..");
            assert_eq!(bench.offer(0, ".e"), "rr");
        }
    }

    #[test]
    fn the_frame_behind_a_refused_one_can_be_cut_off_again() {
        let tails = pushout::Spec::Pushout3(params::<pushout_3::Params>(""));
        let mut bench = Bench::with(4, &[0, 0], epd("3 cells"), Some(tails));
        assert_eq!(bench.offer(1, "1f."), "AAA");
        assert_eq!(bench.offer(0, "fe"), "rr");
        bench.send();
        assert_eq!(bench.offer(0, "f."), "AA");
        assert_eq!(bench.offer(1, "."), "A");
        assert_eq!(bench.pushed_out(), "0:f.");
        assert_eq!(bench.offer(0, ".e"), "pp");
    }

    #[test]
    fn a_frame_behind_one_that_was_pushed_out_is_judged_afresh() {
        let admission = admission::Spec::AtmRed(params::<atm_red::Params>(""));
        let spec = pushout::Spec::Pushout3(params::<pushout_3::Params>(""));
        let mut bench = Bench::with(4, &[0, 0], admission, Some(spec));
        bench.offer(0, "f...");
        assert_eq!(bench.offer(1, "1"), "A");
        assert_eq!(bench.offer(0, ".e"), "pp", "the rest of what was pushed out never reaches the policy");
        assert_eq!(bench.offer(0, "fe"), "AA");
    }

    #[test]
    fn a_mark_in_a_frame_that_is_pushed_out_still_costs_the_next_one_and_no_other() {
        let text = "weight = 1.0\nmax_p = 1.0\nframe = '1 cells'\nmin_threshold = '4 cells'\n\
                    max_threshold = '4 cells'\ncurve = 'classic'\ndiscard_rest = false";
        let admission = admission::Spec::AtmRed(params::<atm_red::Params>(text));
        let spec = pushout::Spec::Pushout3(params::<pushout_3::Params>(""));
        let mut bench = Bench::with(6, &[0, 0], admission, Some(spec));
        assert_eq!(bench.offer(1, "f"), "A");
        assert_eq!(bench.offer(0, "f...."), "AAAAA", "the last but one is marked");
        assert_eq!(bench.offer(1, "."), "A");
        assert_eq!(bench.offer(0, ".e"), "pp");
        bench.send();
        bench.send();
        bench.wait(Span::secs(1));
        assert_eq!(bench.offer(0, "fe"), "xx");
        assert_eq!(bench.offer(0, "fe"), "AA");
    }
}
