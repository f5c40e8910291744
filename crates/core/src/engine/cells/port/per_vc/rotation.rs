//! Slots that go round the queues, and what follows from that without looking at each.
//!
//! As long as no queue joins or leaves, the scheduler serves the same queues round after round. So the number of slots that
//! have been given away says which cells have started and when, and the first one of which somebody has to know is known in
//! advance. The books and the queues are told when somebody looks at them.

use super::{MANY, PerVc, Turn};
use crate::engine::cells::Fast;
use crate::engine::exact::spacing::Beat;
use crate::link::port::{Port, Sending};
use crate::scheduler::{Place, Scheduler, shares};
use crate::units::Time;

/// Slots that go round as the scheduler has said, counted from the first one.
#[derive(Debug, Default)]
pub(in crate::engine) struct Round {
    /// The queues in their order; none where every slot has to be asked for.
    pub(in crate::engine) places: Vec<Place>,
    /// Where each queue has its place, if it has one.
    place_of: Vec<usize>,
    /// For each of them the first slot whose cell somebody has to know of; and the first slot of all these.
    pub(in crate::engine) stops: Vec<u64>,
    pub(in crate::engine) stop: u64,
    /// How many slots are sure to go like this, and the instant before which they have to be given away.
    sure: u64,
    change: Time,
    /// When the first slot begins, and how many were given away.
    first: Beat,
    pub(in crate::engine) slots: u64,
    /// For each place how many of its slots its queue knows of.
    told: Vec<u64>,
    /// Slots that are in the books; when the cell before the next one ends, whose it is, and when the next one begins.
    booked: u64,
    ends: Time,
    sending: usize,
    free: Beat,
}

impl Round {
    /// How many of the first `slots` fall to a place.
    fn turns(&self, place: usize, slots: u64) -> u64 {
        let places = self.places.len() as u64;
        slots / places + u64::from((place as u64) < slots % places)
    }

    /// Which queues so many slots fall to from the one with this number on, and how many to each.
    pub(in crate::engine) fn shares(&self, from: u64, slots: u64) -> impl Iterator<Item = (usize, u64)> {
        let places = self.places.len().max(1) as u64;
        let (each, more) = (slots / places, slots % places);
        let (before, behind) = self.places.split_at((from % places) as usize);
        let share = move |(offset, place): (u64, &Place)| (place.queue, each + u64::from(offset < more));
        (0..slots).zip(behind.iter().chain(before)).map(share)
    }

    /// How many slots go by before the first one whose cell somebody has to know of.
    pub(in crate::engine) fn before_stop(&self) -> u64 {
        self.stop - self.slots
    }

    /// Whether it is among those that are sure.
    pub(in crate::engine) fn stops_within_sure(&self) -> bool {
        self.stop < self.sure
    }

    /// Where it falls to, and to which queue.
    pub(in crate::engine) fn at_stop(&self) -> (usize, usize) {
        let place = self.place(self.stop);
        (place, self.places[place].queue)
    }

    /// The place that a slot falls to.
    fn place(&self, slot: u64) -> usize {
        (slot % self.places.len() as u64) as usize
    }

    /// The places are known and no slot has been given away.
    fn begin(&mut self, turns: &[Turn]) {
        let count = self.places.len() as u64;
        let unlisted = if self.places.len() < MOST_PLACES { MANY } else { count };
        (self.sure, self.stop) = (unlisted, u64::MAX);
        self.stops.clear();
        self.place_of.resize(turns.len(), 0);
        for (at, place) in (0..).zip(&self.places) {
            let stop = turns[place.queue].left * count + at;
            let last = place.cells.map(|cells| cells.saturating_mul(count).saturating_add(at));
            self.sure = last.map_or(self.sure, |last| last.min(self.sure));
            self.stop = self.stop.min(stop);
            self.stops.push(stop);
            self.place_of[place.queue] = at as usize;
        }
        self.told.clear();
        self.told.resize(self.places.len(), 0);
    }

    /// The place of a queue.
    #[inline]
    pub(in crate::engine) fn find(&self, queue: usize) -> Option<usize> {
        let place = *self.place_of.get(queue)?;
        self.places.get(place).is_some_and(|it| it.queue == queue).then_some(place)
    }

    /// How many slots go by before a place has had so many more and is to have another.
    pub(in crate::engine) fn slots_before(&self, place: usize, more: u64) -> u64 {
        self.slot_behind(place, more) - self.slots
    }

    /// The slot that falls to a place when it has had so many more.
    fn slot_behind(&self, place: usize, more: u64) -> u64 {
        (self.turns(place, self.slots) + more) * self.places.len() as u64 + place as u64
    }

    /// A place has so many cells before one of which somebody has to know.
    pub(in crate::engine) fn set_stop(&mut self, place: usize, left: u64) {
        let stop = self.slot_behind(place, left);
        if std::mem::replace(&mut self.stops[place], stop) != stop {
            self.stop = self.stops.iter().copied().fold(u64::MAX, u64::min);
        }
    }
}

impl PerVc {
    /// Whether the next slot goes round; if it is not known yet, the scheduler is asked.
    #[inline]
    pub(in crate::engine) fn goes_round(&mut self, port: &mut Port) -> bool {
        let Round { places, slots, sure, change, .. } = &self.round;
        let known = !places.is_empty() && slots < sure && self.ends < *change;
        known || self.unseen && self.begin_round(port)
    }

    /// Ask the scheduler what goes round from the next slot on; answers whether anything does.
    fn begin_round(&mut self, port: &mut Port) -> bool {
        self.end_round(port);
        let PerVc { round, turns, .. } = self;
        round.change = port.scheduler.rounds(self.ends, MOST_PLACES, &mut round.places);
        round.begin(turns);
        let sending = self.ahead.or(port.sending.map(|sending| sending.vc));
        round.sending = sending.expect("a line ends what it has started");
        (round.first, round.ends, round.free) = (self.free, self.ends, self.free);
        !round.places.is_empty()
    }

    /// Slots are given away up to `until` of whose cells nobody needs to know yet, and the one behind them if that is not so.
    pub(in crate::engine) fn go_round(&mut self, engine: &mut Fast<'_>, index: usize, until: Time) {
        let Round { stop, sure, slots: given, change, .. } = self.round;
        let until = until.min(Time(change.0 - 1));
        let slots = self.slots_within(stop.min(sure) - given, until);
        if slots > 0 {
            self.give_away(slots);
            self.has_left(&mut engine.network.ports[index]);
            self.ahead = Some(self.round.places[self.round.place(given + slots - 1)].queue);
        }
        if slots == 0 || given + slots == stop && stop < sure && self.ends <= until {
            self.stop_at_next(engine, index);
        }
    }

    /// One slot goes round and into the books, where all others are, if nobody needs to know yet of its cell; answers whether
    /// it has.
    #[inline]
    pub(in crate::engine) fn give_one(&mut self, port: &mut Port) -> bool {
        let Round { stop, sure, slots, booked, change, sending, .. } = self.round;
        let cut = self.cuts.last().is_some_and(|cut| *cut <= self.free.time);
        if slots >= stop.min(sure)
            || booked < slots
            || self.ends >= change
            || cut
            || self.round.places.is_empty()
        {
            return false;
        }
        self.has_left(port);
        port.counters.occupancy.drain(1, self.ends.0.into());
        port.pool.remove(sending, 1);
        if port.pool.of(sending) == 0 {
            self.tell(port, self.ends, sending, false);
        }
        let queue = self.round.places[self.round.place(slots)].queue;
        self.send(self.ends);
        self.ahead = Some(queue);
        let Round { slots, booked, ends, free, sending, .. } = &mut self.round;
        (*slots, *booked, *ends, *free, *sending) = (*slots + 1, *booked + 1, self.ends, self.free, queue);
        true
    }

    /// How many of the slots to come are sure to go round, and begin before cells are to be handed on separately.
    pub(in crate::engine) fn slots_sure(&self) -> u64 {
        let Round { sure, slots, change, .. } = self.round;
        self.slots_within(sure - slots, Time(change.0 - 1))
    }

    /// So many slots go round.
    fn give_away(&mut self, slots: u64) {
        let last = self.rhythm.skip(self.free, slots - 1);
        self.ends = last.time.later(self.pace.whole);
        self.free = last.next(&self.pace);
        self.round.slots += slots;
    }

    /// How many of so many slots are given away up to `until`, and begin before cells are to be handed on separately.
    pub(in crate::engine) fn slots_within(&self, slots: u64, until: Time) -> u64 {
        let Some(last) = slots.checked_sub(1) else { return 0 };
        let begins = self.rhythm.skip(self.free, last).time;
        let before = |time: Time| self.rhythm.count_before(self.free, time).0;
        let given = match begins <= until {
            true => slots,
            false => slots.min(1 + before(Time(until.0 + 1 - self.pace.whole.0))),
        };
        match self.cuts.last() {
            Some(cut) if *cut <= begins => given.min(before(*cut)),
            _ => given,
        }
    }

    /// The next slot goes to a cell of which somebody has to know.
    fn stop_at_next(&mut self, engine: &mut Fast<'_>, index: usize) {
        self.has_left(&mut engine.network.ports[index]);
        self.ahead = None;
        let place = self.round.place(self.round.slots);
        self.catch_up(place);
        let starts = self.send(self.ends);
        self.round.slots += 1;
        self.round.told[place] += 1;
        let vc = self.round.places[place].queue;
        self.start_one(engine, index, vc, starts);
        if !self.round.places.is_empty() {
            self.round.set_stop(place, self.turns[vc].left);
        }
    }

    /// The cell has left, if there was one, that the port knew was in transmission.
    fn has_left(&self, port: &mut Port) {
        if let Some(Sending { unit, vc, .. }) = port.sending.take() {
            port.counters.departed(&unit, vc);
        }
    }

    /// A queue learns of the cells that it has sent.
    pub(in crate::engine) fn catch_up(&mut self, place: usize) {
        self.tell_turns(place, self.round.turns(place, self.round.slots));
    }

    /// The queue of a place learns that it has had so many turns.
    #[inline]
    fn tell_turns(&mut self, place: usize, turns: u64) {
        let Round { places, first, told, .. } = &mut self.round;
        if turns > told[place] {
            let last = (turns - 1) * places.len() as u64 + place as u64;
            self.turns[places[place].queue].serve(turns - told[place], (*first, last));
            told[place] = turns;
        }
    }

    /// So does that of a circuit.
    pub(in crate::engine) fn catch_up_with(&mut self, vc: usize) {
        if let Some(place) = self.round.find(vc) {
            self.catch_up(place);
        }
    }

    /// So do all of them.
    pub(in crate::engine) fn catch_up_all(&mut self) {
        let Round { places, slots, .. } = &self.round;
        for (place, turns) in shares(places.len(), *slots).enumerate() {
            self.tell_turns(place, turns);
        }
    }

    /// Slots that are not in the books.
    pub(in crate::engine) fn unbooked(&self) -> u64 {
        self.round.slots - self.round.booked
    }

    /// Enter the slots that were given away in the books.
    pub(in crate::engine) fn book_round(&mut self, port: &mut Port) {
        let Round { slots, booked, ends, free, sending, .. } = self.round;
        let Some(behind) = self.unbooked().checked_sub(1) else { return };
        let later = self.rhythm.after(free, behind).1 + u128::from(behind) * u128::from(self.pace.whole.0);
        port.counters.occupancy.drain(slots - booked, u128::from(ends.0) + later);
        port.pool.remove(sending, 1);
        if port.pool.of(sending) == 0 {
            self.tell(port, ends, sending, false);
        }
        for (vc, cells) in self.round.shares(booked, slots - booked) {
            port.pool.remove(vc, cells);
        }
        if let Some(missed) = &mut self.missed {
            missed.leave(ends, sending);
            let mut starts = free;
            for slot in booked..slots - 1 {
                missed.leave(
                    starts.time.later(self.pace.whole),
                    self.round.places[self.round.place(slot)].queue,
                );
                starts = starts.next(&self.pace);
            }
        }
        let sending = self.round.places[self.round.place(slots - 1)].queue;
        port.pool.add_ahead(sending, 1);
        let Round { booked, ends, free, sending: on_line, .. } = &mut self.round;
        (*booked, *ends, *free, *on_line) = (slots, self.ends, self.free, sending);
    }

    /// The scheduler is to be asked again: tell it what went round, and everybody else.
    pub(in crate::engine) fn end_round(&mut self, port: &mut Port) {
        self.catch_up_all();
        self.book_round(port);
        let Round { places, slots, booked, .. } = &mut self.round;
        if *slots > 0 {
            port.scheduler.went_round(places, *slots);
        }
        places.clear();
        (*slots, *booked) = (0, 0);
    }
}

/// Queues of a round that are worth listing.
pub(in crate::engine) const MOST_PLACES: usize = 64;
