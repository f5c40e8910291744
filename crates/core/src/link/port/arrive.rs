//! A unit arrives: the verdict about it, and what the port does with the verdict.

use super::Handling;
use super::Loss;
use super::ONLY_QUEUE;
use super::Port;
use super::Started;
use super::arrivals::ArrivalTimes;
use super::offer::Offer;
use crate::buffer::admission::Admission;
use crate::buffer::admission::Arrival;
use crate::buffer::admission::Settled;
use crate::buffer::admission::Within;
use crate::buffer::pushout::Cut;
use crate::buffer::pushout::PushOut;
use crate::link::gate::Gate;
use crate::memory::Trim;
use crate::scheduler::Scheduler;
use crate::unit::CUT_BYTES;
use crate::unit::Unit;
use crate::units::Time;
use crate::units::ids::PortVc;
use crate::units::ids::QueueId;
use crate::verdict::Reason;
use crate::verdict::Verdict;
use crate::verdict::Victim;

impl Port {
    /// Handle the arrival of a unit of the port's circuit `vc`. The losses that it causes, its own or others', are
    /// appended to `losses`.
    #[inline(always)]
    pub fn arrive(&mut self, now: Time, unit: Unit, vc: PortVc, losses: &mut Vec<Loss>) {
        self.counters.arrived(&unit);
        let size = self.size_of(&unit);
        match self.handling {
            Handling::Asked => return self.arrive_asking(Offer { now, unit, vc, size }, losses),
            Handling::Weighed => return self.arrive_weighed(Offer { now, unit, vc, size }, losses),
            Handling::Plain | Handling::Judged | Handling::InTurn => {}
        }
        let Some(unit) = self.admit(Offer { now, unit, vc, size }, losses) else { return };
        let queue = self.queue_of(&unit, vc);
        self.queues[queue].push(unit);
        if self.handling == Handling::InTurn {
            self.scheduler.joined(queue);
            self.report_joined(now, queue, &unit, vc);
        }
    }

    /// Handle the arrival of a unit; a free line starts to send the next unit: this one, if no scheduler is needed,
    /// because then no other unit waits.
    #[inline(always)]
    pub fn pass(&mut self, now: Time, unit: Unit, vc: PortVc, losses: &mut Vec<Loss>) -> Option<Started> {
        if self.is_busy() || self.asks_whose_turn() {
            self.arrive(now, unit, vc, losses);
            return self.start(now, losses);
        }
        self.counters.arrived(&unit);
        let offer = Offer { now, unit, vc, size: self.size_of(&unit) };
        self.admit(offer, losses).map(|unit| self.send(now, unit, vc))
    }

    /// Admit a unit at a port where only the admission policy decides. Return the unit as it is queued if the policy
    /// accepts it; then the books count it.
    #[inline(always)]
    pub(super) fn admit(&mut self, offer: Offer, losses: &mut Vec<Loss>) -> Option<Unit> {
        let Offer { now, mut unit, vc, size } = offer;
        let verdict = match self.handling {
            Handling::Plain | Handling::InTurn if self.pool.fits(size) => Verdict::Accept,
            Handling::Plain | Handling::InTurn => Verdict::Discard(Reason::Overflow),
            Handling::Judged | Handling::Weighed | Handling::Asked => self.judge_alone(&offer),
        };
        match verdict {
            Verdict::Discard(reason) => {
                self.lose(unit, reason, losses);
                return None;
            }
            Verdict::Mark(reason) => self.mark(now, &mut unit, reason),
            Verdict::Accept | Verdict::Replace(..) => {}
        }
        self.take_in(now, vc, size);
        Some(unit)
    }

    /// Set a congestion mark on a unit.
    pub(super) fn mark(&mut self, now: Time, unit: &mut Unit, reason: Reason) {
        assert!(unit.is_ect(), "a port marks only what reacts to marks");
        self.counters.marked(now, unit, reason);
        *unit = unit.marked();
    }

    /// Like `mark`, at a port that may share a memory: the memory counts the mark as well.
    pub(super) fn mark_shared(&mut self, now: Time, unit: &mut Unit, vc: PortVc, reason: Reason) {
        self.mark(now, unit, reason);
        if let Some(share) = &mut self.share {
            share.note_mark(unit, vc);
        }
    }

    /// Return whether departures may differ from the order of arrival.
    #[inline]
    pub(super) fn asks_whose_turn(&self) -> bool {
        matches!(self.handling, Handling::InTurn | Handling::Weighed | Handling::Asked)
    }

    pub(super) fn judge_alone(&mut self, &Offer { now, ref unit, vc, size }: &Offer) -> Verdict {
        let (pool, queue, place) = (&self.pool, &self.queues[ONLY_QUEUE], ONLY_QUEUE);
        let (waiting, elastic) = (0, false);
        self.admission.judge(&mut Arrival { now, unit, vc, size, pool, queue, place, waiting, elastic })
    }

    /// Lose a unit at the entrance, before it reaches the admission policy.
    pub fn refuse(&mut self, unit: Unit, reason: Reason, losses: &mut Vec<Loss>) {
        self.counters.arrived(&unit);
        self.lose(unit, reason, losses);
    }

    /// Pass a unit through the gates before the port; the error says why the link loses it.
    #[inline]
    pub(crate) fn enter(&mut self, now: Time, unit: Unit, vc: PortVc) -> Result<Unit, Reason> {
        self.gates.iter_mut().try_fold(unit, |unit, gate| gate.enters(now, unit, vc))
    }

    /// Add a unit to the books.
    #[inline]
    pub(super) fn take_in(&mut self, now: Time, vc: PortVc, size: u64) {
        self.counters.occupancy.change(now, self.pool.total(), self.pool.total() + size);
        self.pool.add(vc, size);
    }

    pub(super) fn enqueue(&mut self, queue: QueueId, Offer { now, unit, vc, size }: Offer) {
        self.take_in(now, vc, size);
        if let Some(share) = &mut self.share {
            share.take_in(now, &unit, vc, size);
        }
        let position = self.queues[queue].push(unit);
        if let Some(times) = self.arrivals.get_mut(queue) {
            times.joined(self.queues[queue].positions().start, position, now, unit.bytes);
        }
        self.admission.settled(&unit, vc, Settled::Queued { position });
        self.scheduler.joined(queue);
        self.report_joined(now, queue, &unit, vc);
        if let Some(pushout) = &mut self.pushout {
            pushout.joined(vc, &self.pool);
        }
    }

    /// Report to gates that count what waits a unit that joins an empty queue.
    #[inline]
    fn report_joined(&mut self, now: Time, queue: QueueId, unit: &Unit, vc: PortVc) {
        if self.reports_waiting && self.queues[queue].len() == 1 {
            self.gates.iter_mut().for_each(|gate| gate.waits(now, unit, vc, true));
        }
    }

    /// Handle the arrival of a unit at a port where it may displace others, or where policies observe it.
    #[inline(never)]
    pub(super) fn arrive_asking(&mut self, offer: Offer, losses: &mut Vec<Loss>) {
        self.report_offer(&offer);
        let cut = self.cut_for(&offer);
        let verdict = self.judge(&offer, cut.is_some());
        self.act_on(verdict, cut, offer, losses);
    }

    /// Handle the arrival of a unit at a port where nothing but the admission policy judges it.
    #[inline]
    pub(super) fn arrive_weighed(&mut self, offer: Offer, losses: &mut Vec<Loss>) {
        let verdict = self.judge(&offer, false);
        if verdict == Verdict::Accept && self.pool.fits(offer.size) {
            let queue = self.queue_of(&offer.unit, offer.vc);
            return self.enqueue(queue, offer);
        }
        self.act_on(verdict, None, offer, losses);
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
        losses: &mut Vec<Loss>,
    ) {
        let offer = Offer { now, unit, vc, size: self.size_of(&unit) };
        self.ask_memory(&offer);
        self.act_on(verdict, None, offer, losses);
    }

    /// Carry out the verdict on an arriving unit; `cut` goes first if it does not fit.
    pub(super) fn act_on(
        &mut self,
        verdict: Verdict,
        cut: Option<Cut>,
        offer: Offer,
        losses: &mut Vec<Loss>,
    ) {
        let Offer { now, unit, vc, .. } = offer;
        let queue = self.queue_of(&unit, vc);
        match verdict {
            Verdict::Accept => self.let_in(offer, cut, None, losses),
            Verdict::Mark(reason) => self.let_in(offer, cut, Some(reason), losses),
            Verdict::Discard(reason) => self.lose_or_cut(&offer, reason, losses),
            Verdict::Replace(Victim::FattestQueue(batch), reason) => {
                if self.shorten_fattest(&offer, batch, reason, losses) {
                    self.enqueue(queue, offer);
                } else {
                    self.turn_away(&offer, Reason::Overflow, losses);
                }
            }
            Verdict::Replace(victim, reason) => {
                if self.make_room(&offer, victim, reason, losses) {
                    self.enqueue(queue, offer);
                } else {
                    self.lose_shared(&offer, Reason::Overflow, losses);
                    self.admission.broken(vc, !unit.is_first());
                }
            }
        }
        self.sweep(now, queue, losses);
        if self.is_busy() && !self.shares_queues() && self.admission.properties().expels {
            self.expel_excess(now, losses);
        }
    }

    /// Queue the headers of a packet that would be lost, ahead of all units, or the whole packet if it is no longer
    /// than its headers. Lose it if the port, or its shared memory, has no room for the headers either. A packet that
    /// was cut before waits with other cut packets.
    pub(super) fn cut_down(&mut self, offer: &Offer, reason: Reason, losses: &mut Vec<Loss>) {
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
    pub(super) fn lose_or_cut(&mut self, offer: &Offer, reason: Reason, losses: &mut Vec<Loss>) {
        if self.cuts_all() || reason == Reason::Overflow && self.trim_of(offer.vc).is_some() {
            self.cut_down(offer, reason, losses);
        } else {
            self.lose_shared(offer, reason, losses);
        }
    }

    /// Return whether the port cuts every packet that it refuses.
    pub(super) fn cuts_all(&self) -> bool {
        self.headers.as_ref().is_some_and(|headers| headers.of_all)
    }

    /// Return how the port cuts packets of a circuit that its memory refuses, if it does.
    pub(super) fn trim_of(&self, vc: PortVc) -> Option<Trim> {
        self.share.as_ref()?.trim_of(vc)
    }

    /// Report an arriving unit to the memory that the port shares.
    pub(super) fn report_offer(&mut self, &Offer { now, ref unit, vc, size }: &Offer) {
        if let Some(share) = &mut self.share {
            let granted = if share.offer(now, unit, vc, size) { size } else { 0 };
            self.pool.grant(granted);
        }
    }

    /// Set the room for a unit of this circuit to what the shared memory grants, if the port shares one.
    pub(super) fn ask_memory(&mut self, &Offer { now, ref unit, vc, size }: &Offer) {
        if let Some(share) = &mut self.share {
            let granted = if share.admits(now, unit, vc, size) { size } else { 0 };
            self.pool.grant(granted);
        }
    }

    /// Lose an arriving unit at a port that may share a memory.
    pub(super) fn lose_shared(
        &mut self,
        &Offer { unit, vc, .. }: &Offer,
        reason: Reason,
        losses: &mut Vec<Loss>,
    ) {
        self.note_loss(&unit, vc);
        if let Some(share) = &mut self.share {
            share.note_refusal(vc);
        }
        self.lose(unit, reason, losses);
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

    /// Return whether the port has refused a unit of the arriving frame, if its memory pushes out whole packets.
    pub(crate) fn is_rest(&mut self, unit: &Unit, vc: PortVc) -> bool {
        self.share.as_mut().is_some_and(|share| share.is_rest(unit, vc))
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
        let (Some(pushout), Some(rare)) = (&mut self.pushout, &mut self.rare) else {
            return self.admission.judge(&mut arrival);
        };
        let refused = &mut rare.refused;
        refused[vc] &= !unit.is_first();
        if !refused[vc]
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
            let is_refused = matches!(verdict, Verdict::Discard(reason) if reason != Reason::Overflow);
            refused[vc] = is_refused && !self.admission.properties().splits_frames;
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
    pub(super) fn let_in(
        &mut self,
        offer: Offer,
        cut: Option<Cut>,
        mark: Option<Reason>,
        losses: &mut Vec<Loss>,
    ) {
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
    pub(super) fn turn_away(&mut self, offer: &Offer, reason: Reason, losses: &mut Vec<Loss>) {
        let &Offer { ref unit, vc, size, .. } = offer;
        self.admission.settled(unit, vc, Settled::TurnedAway { size });
        self.lose_or_cut(offer, reason, losses);
    }

    /// Judge a unit whose frame has just been cut off: it may still be a delimiter.
    pub(super) fn judge_rest(&mut self, unit: &Unit, vc: PortVc, size: u64) -> Verdict {
        let fits = self.pool.fits(size);
        let frames = self.pushout.as_mut().and_then(PushOut::frames);
        frames.map_or(Verdict::Accept, |frames| frames.judge(unit, vc, fits, || None))
    }
}
