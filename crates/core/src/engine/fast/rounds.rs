//! Slots that go round the queues, and what follows from that without looking at each.
//!
//! As long as no queue joins or leaves, the scheduler serves the same queues round after round. So the number of slots that
//! have been given away says which cells have started and when, and the first one of which somebody has to know is known in
//! advance. The books and the queues are told when somebody looks at them.

use super::Fast;
use super::pace::Beat;
use super::turns::{MANY, Turn, Turns};
use crate::buffer::pushout::{Bite, PushOut};
use crate::link::port::{Port, Sending};
use crate::scheduler::{Place, Scheduler, shares};
use crate::unit::Unit;
use crate::units::Time;

/// Slots that go round as the scheduler has said, counted from the first one.
#[derive(Debug, Default)]
pub(super) struct Round {
    /// The queues in their order; none where every slot has to be asked for.
    places: Vec<Place>,
    /// Where each queue has its place, if it has one.
    place_of: Vec<usize>,
    /// For each of them the first slot whose cell somebody has to know of; and the first slot of all these.
    stops: Vec<u64>,
    stop: u64,
    /// How many slots are sure to go like this, and the instant before which they have to be given away.
    sure: u64,
    change: Time,
    /// When the first slot begins, and how many were given away.
    first: Beat,
    slots: u64,
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
    fn shares(&self, from: u64, slots: u64) -> impl Iterator<Item = (usize, u64)> {
        let places = self.places.len().max(1) as u64;
        let (each, more) = (slots / places, slots % places);
        let (before, behind) = self.places.split_at((from % places) as usize);
        let share = move |(offset, place): (u64, &Place)| (place.queue, each + u64::from(offset < more));
        (0..slots).zip(behind.iter().chain(before)).map(share)
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
            self.sure = self.sure.min(place.cells.saturating_mul(count).saturating_add(at));
            self.stop = self.stop.min(stop);
            self.stops.push(stop);
            self.place_of[place.queue] = at as usize;
        }
        self.told.clear();
        self.told.resize(self.places.len(), 0);
    }

    /// The place of a queue.
    #[inline]
    fn find(&self, queue: usize) -> Option<usize> {
        let place = *self.place_of.get(queue)?;
        self.places.get(place).is_some_and(|it| it.queue == queue).then_some(place)
    }

    /// A place has so many cells before one of which somebody has to know.
    fn set_stop(&mut self, place: usize, left: u64) {
        self.stops[place] = (self.turns(place, self.slots) + left) * self.places.len() as u64 + place as u64;
        self.stop = self.stops.iter().copied().fold(u64::MAX, u64::min);
    }
}

impl Turns {
    /// Whether the next slot goes round; if it is not known yet, the scheduler is asked.
    #[inline]
    pub(super) fn goes_round(&mut self, port: &mut Port) -> bool {
        let Round { places, slots, sure, change, .. } = &self.round;
        let known = !places.is_empty() && slots < sure && self.ends < *change;
        known || self.unseen && self.begin_round(port)
    }

    /// Ask the scheduler what goes round from the next slot on; answers whether anything does.
    fn begin_round(&mut self, port: &mut Port) -> bool {
        self.end_round(port);
        let Turns { round, turns, .. } = self;
        round.change = port.scheduler.rounds(self.ends, MOST_PLACES, &mut round.places);
        round.begin(turns);
        let sending = self.ahead.or(port.sending.map(|sending| sending.vc));
        round.sending = sending.expect("a line ends what it has started");
        (round.first, round.ends, round.free) = (self.free, self.ends, self.free);
        !round.places.is_empty()
    }

    /// Slots are given away up to `until` of whose cells nobody needs to know yet, and the one behind them if that is not so.
    pub(super) fn go_round(&mut self, engine: &mut Fast<'_>, index: usize, until: Time) {
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

    /// So many slots go round.
    fn give_away(&mut self, slots: u64) {
        let last = self.rhythm.skip(self.free, slots - 1);
        self.ends = Time(last.time.0 + self.pace.whole);
        self.free = last.next(&self.pace);
        self.round.slots += slots;
    }

    /// How many of so many slots are given away up to `until`, and begin before cells are to be handed on separately.
    fn slots_within(&self, slots: u64, until: Time) -> u64 {
        let Some(last) = slots.checked_sub(1) else { return 0 };
        let begins = self.rhythm.skip(self.free, last).time;
        let before = |time: Time| self.rhythm.count_before(self.free, time).0;
        let given = match begins <= until {
            true => slots,
            false => slots.min(1 + before(Time(until.0 + 1 - self.pace.whole))),
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
    fn catch_up(&mut self, place: usize) {
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
    pub(super) fn catch_up_with(&mut self, vc: usize) {
        if let Some(place) = self.round.find(vc) {
            self.catch_up(place);
        }
    }

    /// Cells that a circuit has sent and that its queue does not know of.
    pub(super) fn untold(&self, vc: usize) -> u64 {
        let Round { told, slots, .. } = &self.round;
        self.round.find(vc).map_or(0, |place| self.round.turns(place, *slots) - told[place])
    }

    /// So do all of them.
    pub(super) fn catch_up_all(&mut self) {
        let Round { places, slots, .. } = &self.round;
        for (place, turns) in shares(places.len(), *slots).enumerate() {
            self.tell_turns(place, turns);
        }
    }

    /// Slots that are not in the books.
    fn unbooked(&self) -> u64 {
        self.round.slots - self.round.booked
    }

    /// Enter the slots that were given away in the books.
    pub(super) fn book_round(&mut self, port: &mut Port) {
        let Round { slots, booked, ends, free, sending, .. } = self.round;
        let Some(behind) = self.unbooked().checked_sub(1) else { return };
        let later = self.rhythm.after(free, behind).1 + u128::from(behind) * u128::from(self.pace.whole);
        port.counters.occupancy.drain(slots - booked, u128::from(ends.0) + later);
        port.pool.remove(sending, 1);
        if port.pool.of(sending) == 0 {
            self.tell(port, ends, sending);
        }
        for (vc, cells) in self.round.shares(booked, slots - booked) {
            port.pool.remove(vc, cells);
        }
        let sending = self.round.places[self.round.place(slots - 1)].queue;
        port.pool.add_ahead(sending, 1);
        let Round { booked, ends, free, sending: on_line, .. } = &mut self.round;
        (*booked, *ends, *free, *on_line) = (slots, self.ends, self.free, sending);
    }

    /// The scheduler is to be asked again: tell it what went round, and everybody else.
    pub(super) fn end_round(&mut self, port: &mut Port) {
        self.catch_up_all();
        self.book_round(port);
        let Round { places, slots, booked, .. } = &mut self.round;
        if *slots > 0 {
            port.scheduler.went_round(places, *slots);
        }
        places.clear();
        (*slots, *booked) = (0, 0);
    }

    /// The earliest instant at which an EOM can start that is in a queue.
    ///
    /// The frame's other cells go first, and with them those of other queues, as long as it is known how they go round and
    /// nothing can be pushed out. Behind the round it may be the next one.
    pub(super) fn earliest_eom(&mut self, engine: &mut Fast<'_>, index: usize, now: Time) -> Time {
        if self.ends == Time::NEVER {
            return Time(now.0 + 1);
        }
        let mut slots = 0;
        if self.goes_round(&mut engine.network.ports[index]) {
            self.look_beyond_stop(engine, index);
            let Round { stop, sure, slots: given, change, .. } = self.round;
            let known = self.slots_within(stop.min(sure) - given, Time(change.0 - 1));
            slots = self.slots_despite_cuts(&mut engine.network.ports[index], known);
            // among very many queues there is always one that is near its EOM
            if slots == known || self.turns.len() > MOST_PLACES {
                return self.rhythm.skip(self.free, slots).time;
            }
        }
        let least = self.least_behind(engine, index, slots);
        self.rhythm.skip(self.free, slots + least).time
    }

    /// More may have joined the queue that has the next cell of which somebody had to know.
    fn look_beyond_stop(&mut self, engine: &mut Fast<'_>, index: usize) {
        let mut before = None;
        while self.round.stop < self.round.sure && before != Some(self.round.stop) {
            let place = self.round.place(self.round.stop);
            let vc = self.round.places[place].queue;
            if self.turns[vc].left > 0 && !self.turns[vc].grows {
                return;
            }
            before = Some(self.round.stop);
            self.catch_up(place);
            self.look_ahead(engine, index, vc);
            self.round.set_stop(place, self.turns[vc].left);
        }
    }

    /// How many slots go by at least, behind the next `slots`, before the EOM of any queue can start.
    fn least_behind(&mut self, engine: &mut Fast<'_>, index: usize, slots: u64) -> u64 {
        self.catch_up_all();
        let mut least = match engine.network.ports[index].pushout.as_mut().map(PushOut::bite) {
            None => MANY,
            Some(Bite::AllButEom) => 0,
            Some(_) => self.shortest - 1, // of a frame that comes to the head when others are pushed out
        };
        self.round.shares(self.round.slots, slots).for_each(|(vc, cells)| self.soon[vc] = cells);
        for vc in 0..self.turns.len() {
            if least == 0 {
                break;
            }
            if self.queued(&engine.network.ports[index], vc as u32) == 0 {
                continue;
            }
            if self.turns[vc].left == 0 && self.turns[vc].grows {
                self.look_ahead(engine, index, vc);
            }
            least = least.min(self.turns[vc].left - self.soon[vc]);
        }
        self.round.shares(self.round.slots, slots).for_each(|(vc, _)| self.soon[vc] = 0);
        least
    }

    /// How many of the next `slots` go round as if nothing were pushed out.
    ///
    /// While there is room nothing is. And once every queue has begun to send its frame, it does not matter that whole ones
    /// behind it are, as long as there are any.
    fn slots_despite_cuts(&self, port: &mut Port, slots: u64) -> u64 {
        let Some(bite) = port.pushout.as_mut().map(PushOut::bite) else { return slots };
        if self.has_room_for(port, slots) {
            return slots;
        }
        let sure = self.slots_with_room(port);
        let spares = bite == Bite::Packets && self.has_packets_for(slots) && self.begin_within(port, sure);
        if spares { slots } else { sure }
    }

    /// Whether every queue of the round has begun to send its frame, or will have in so many slots.
    fn begin_within(&self, port: &Port, slots: u64) -> bool {
        let Round { places, told, slots: given, .. } = &self.round;
        let begun = |((place, told), turns): ((&Place, &u64), u64)| {
            let first = port.queues[place.queue].front().is_some_and(Unit::is_first);
            turns > *told || self.turns[place.queue].served > 0 || !first
        };
        let turns = || shares(places.len(), given + slots);
        slots >= places.len() as u64 || places.iter().zip(told).zip(turns()).all(begun)
    }

    /// Whether nothing can be pushed out in so many slots: in each of them no more arrives than fits over the lines.
    pub(super) fn has_room_for(&self, port: &Port, slots: u64) -> bool {
        slots * self.growth() <= self.free_at_first(port)
    }

    /// For how many slots that is so.
    fn slots_with_room(&self, port: &Port) -> u64 {
        self.free_at_first(port) / self.growth()
    }

    /// By how many cells the buffer can fill in a slot.
    fn growth(&self) -> u64 {
        self.influx.saturating_sub(1).max(1)
    }

    /// Room that is left when the cells of a slot have arrived and none has gone.
    fn free_at_first(&self, port: &Port) -> u64 {
        let used = port.pool.total() - self.unbooked();
        port.pool.capacity().saturating_sub(used + self.influx + 1)
    }

    /// Whether entire packets are left when in so many slots as many are pushed out as can be.
    ///
    /// After the first cut there is no other before as many cells have arrived as it took out. What may be missing are packets
    /// that are begun to be sent, and those of which some cells are still to arrive.
    fn has_packets_for(&self, slots: u64) -> bool {
        let left = self.packets.saturating_sub(self.round.places.len() as u64 + self.influx);
        left * self.shortest > self.shortest + self.influx * (slots + 2)
    }
}

/// Queues of a round that are worth listing.
const MOST_PLACES: usize = 64;
