//! How a port makes room: its push-out or admission policy chooses a unit; the port removes, counts and reports it.
//!
//! A port with push-out has its own frame rule in front of its admission policy, because the schemes of paper 003
//! accept every arrival: the rest of a frame that was cut off in its queue, or that found no room, is refused. A
//! frame that the admission policy has refused is in no queue, so neither can happen to it: all its units are lost
//! for the policy's reason.

use std::cmp::Reverse;

use super::fattest::{Heads, shorten_fattest};
use super::offer::{Exit, Offer, Removal, Taken};
use super::{Loss, Port};
use crate::buffer::admission::{Admission, Departure, Expulsion, Within};
use crate::buffer::pushout::longest_queue::End;
use crate::buffer::pushout::pushout_3::tail;
use crate::buffer::pushout::{Cut, Full, PushOut, head_fragment};
use crate::buffer::queue::Queue;
use crate::buffer::runs::{Extent, Part};
use crate::memory::pushout::{self as memory, Piece};
use crate::scheduler::Scheduler;
use crate::unit::Unit;
use crate::units::Time;
use crate::units::ids::{PortVc, QueueId};
use crate::verdict::{Reason, Victim};

/// The queues of a port at which a unit arrives that does not fit.
struct PortHeads<'a> {
    port: &'a mut Port,
    offer: &'a Offer,
    /// The queue that the unit would join.
    own: QueueId,
    reason: Reason,
    losses: &'a mut Vec<Loss>,
}

impl Heads for PortHeads<'_> {
    fn count(&self) -> usize {
        self.port.queues.len()
    }

    fn octets(&self, queue: QueueId) -> u64 {
        let arriving = if queue == self.own { self.offer.unit.bytes.into() } else { 0 };
        self.port.arrivals[queue].octets() + arriving
    }

    fn lose_head(&mut self, queue: QueueId) -> Option<u16> {
        let PortHeads { port, offer, reason, losses, .. } = self;
        let removed = port.remove_one(offer.now, queue, Removal::Head, *reason, losses);
        removed.map(|unit| unit.bytes)
    }

    fn fits(&mut self) -> bool {
        self.port.ask_memory(self.offer);
        self.port.pool.fits(self.offer.size)
    }
}

impl Port {
    /// Lose units at the heads of the circuits' queues for as long as the admission policy expels any.
    pub(super) fn expel_excess(&mut self, now: Time, losses: &mut Vec<Loss>) {
        loop {
            let Port { admission, pool, queues, measure, .. } = self;
            let head = |vc: PortVc| queues[vc.queue()].front().map(|unit| measure.size_of(unit));
            let Some(Expulsion::Now(vc)) = admission.expels(now, pool, &head) else { return };
            self.remove_one(now, vc.queue(), Removal::Head, Reason::PushedOut, losses);
        }
    }

    /// Lose the unit at a place of a queue; returns it, unless the queue has none there.
    pub(super) fn remove_one(
        &mut self,
        now: Time,
        queue: QueueId,
        place: Removal,
        reason: Reason,
        losses: &mut Vec<Loss>,
    ) -> Option<Unit> {
        let waiting = &mut self.queues[queue];
        let (position, unit) = match place {
            Removal::Head => (waiting.positions().start, waiting.pop()?),
            Removal::At(position) => (position, waiting.take(position)?),
        };
        let (vc, exit) = (self.numbers.of(unit.vc), Exit::Removed(queue, position));
        self.left_queue(now, queue, (&unit, vc), self.queues[queue].is_empty());
        self.give_up(&Taken { now, unit, queue, vc, exit }, reason, losses);
        Some(unit)
    }

    /// Remove from a queue all units that the admission policy has decided to lose.
    pub(super) fn sweep(&mut self, now: Time, queue: QueueId, losses: &mut Vec<Loss>) {
        while let Some((position, reason)) = self.admission.sweep(&self.queues[queue], &self.pool) {
            let removed = self.remove_one(now, queue, Removal::At(position), reason, losses);
            assert!(removed.is_some(), "a policy gives up units that are queued");
        }
    }

    /// Make room for an arriving unit at the expense of the queue with the most octets; returns whether there is room then.
    pub(super) fn shorten_fattest(
        &mut self,
        offer: &Offer,
        batch: u64,
        reason: Reason,
        losses: &mut Vec<Loss>,
    ) -> bool {
        let own = self.queue_of(&offer.unit, offer.vc);
        self.can_be_held(offer.size)
            && (self.pool.fits(offer.size)
                || shorten_fattest(&mut PortHeads { port: self, offer, own, reason, losses }, batch))
    }

    /// Return whether the buffer could hold a unit of this size beside the one in transmission.
    pub(super) fn can_be_held(&self, size: u64) -> bool {
        self.pool.capacity().holds(size + self.sending.map_or(0, |sending| sending.size))
    }

    /// Remove the unit that the policy has chosen in a queue. While the arriving one, of `size`, does not fit, remove
    /// more from the head, or the units that the policy has chosen; returns whether it fits in the end. The unit in
    /// transmission cannot be removed.
    pub(super) fn make_room(
        &mut self,
        offer: &Offer,
        victim: Victim,
        reason: Reason,
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
            if self.remove_one(now, queue, place, reason, losses).is_none() {
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
    pub(crate) fn find_waiting(&self, number: usize, end: End) -> Option<(QueueId, u64)> {
        let is_of = |queue: &Queue, position: u64| {
            queue.at(position).is_some_and(|unit| self.is_charged(number, &unit))
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
    pub(crate) fn has_piece(&self, cut: memory::Cut) -> bool {
        match cut.piece {
            Piece::Unit(end) => self.find_waiting(cut.queue, end).is_some(),
            _ => self.find_piece(cut).is_some(),
        }
    }

    /// Lose a piece: a port of the memory needs its room. Return the circuit if the piece had no EOM, so that its frame may
    /// still be arriving, and whether an earlier part of that frame stays queued or has been sent.
    pub(crate) fn expel(
        &mut self,
        now: Time,
        cut: memory::Cut,
        losses: &mut Vec<Loss>,
    ) -> Option<(PortVc, bool)> {
        if let Piece::Unit(end) = cut.piece {
            self.expel_one(now, (cut.queue, end), losses);
            return None;
        }
        let (queue, part) = self.find_piece(cut).expect("a queue that gives way has the piece");
        let runs = self.queues[queue].runs();
        let is_open = runs.get(part.run).is_some_and(|run| !run.is_closed());
        let fragment = part.leaves_fragment(runs);
        let (mut waiting, mut last) = (self.queues[queue].len(), None);
        for (position, unit) in self.queues[queue].cut(part) {
            waiting -= 1;
            last = Some(self.numbers.of(unit.vc));
            let (vc, exit) = (self.numbers.of(unit.vc), Exit::Removed(queue, position));
            self.left_queue(now, queue, (&unit, vc), waiting == 0);
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

    /// Lose the first or last of the waiting units that a memory charges to one of its queues.
    fn expel_one(&mut self, now: Time, (number, end): (usize, End), losses: &mut Vec<Loss>) {
        let (queue, position) = self.find_waiting(number, end).expect("a queue that gives way has something");
        let removed = self.remove_one(now, queue, Removal::At(position), Reason::PushedOut, losses);
        let unit = removed.expect("a unit that was found");
        self.note_pushed_out(&unit, self.numbers.of(unit.vc));
    }

    /// Find a piece that a memory charges to one of its queues, by queue of the port and part: of the longest queue that has
    /// one.
    pub(super) fn find_piece(&self, cut: memory::Cut) -> Option<(QueueId, Part)> {
        let is_own = |unit: &Unit| self.is_charged(cut.queue, unit);
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
    pub(super) fn is_charged(&self, number: usize, unit: &Unit) -> bool {
        self.share
            .as_ref()
            .is_some_and(|share| share.account(unit, self.numbers.of(unit.vc)).queue() == number)
    }

    /// Return the length of a queue; of one circuit with its unit in transmission.
    pub(super) fn length_of(&self, queue: QueueId) -> u64 {
        if self.shares_queues() { self.queues[queue].len() as u64 } else { self.pool.of(queue.vc()) }
    }

    /// Return the size of the unit in transmission, if a memory charges it to its queue `number`.
    pub(crate) fn in_transmission(&self, number: usize) -> u64 {
        let sending = self.sending.filter(|sending| self.is_charged(number, &sending.unit));
        sending.map_or(0, |sending| sending.size)
    }

    /// Return the size of the first of the waiting packets that a memory charges to its queue `number`.
    pub(crate) fn head_of(&self, number: usize) -> Option<u64> {
        let (queue, position) = self.find_waiting(number, End::Head)?;
        self.queues[queue].at(position).map(|unit| self.size_of(&unit))
    }

    /// Choose the first units to remove for an arriving unit that does not fit. Return `None` if it fits, if none can
    /// be removed, or if it is the rest of a broken frame, for which none is removed.
    pub(super) fn cut_for(&mut self, &Offer { now, ref unit, vc, size }: &Offer) -> Option<Cut> {
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

    /// Push out a part of a queue; returns whether that was the beginning of the arrival's own frame.
    pub(super) fn push_out(&mut self, cut: Cut, offer: &Offer, losses: &mut Vec<Loss>) -> bool {
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
    pub(super) fn remove(&mut self, now: Time, Cut { vc, part }: Cut, losses: &mut Vec<Loss>) {
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
    pub(super) fn cut_off(&mut self, vc: PortVc, fragment: bool) {
        if self.rare.as_ref().is_some_and(|rare| rare.refused.get(vc) == Some(&true)) {
            return;
        }
        if let Some(frames) = self.pushout.as_mut().and_then(PushOut::frames) {
            frames.broken(vc, fragment);
        }
        self.admission.broken(vc, fragment);
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
