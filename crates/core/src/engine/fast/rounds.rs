//! Slots that go round the queues, and what follows from that without looking at each.
//!
//! As long as no queue joins or leaves, the scheduler serves the same queues round after round. So the number of slots that
//! have been given away says which cells have started and when, and the first one of which somebody has to know is known in
//! advance. The books and the queues are told when somebody looks at them.

use super::Fast;
use super::pace::Beat;
use super::turns::{MANY, Turns};
use crate::buffer::pushout::{Bite, PushOut};
use crate::link::port::Port;
use crate::scheduler::{Place, Scheduler};
use crate::unit::Unit;
use crate::units::Time;

/// Slots that go round as the scheduler has said, counted from the first one.
#[derive(Debug, Default)]
pub(super) struct Round {
    /// The queues in their order; none where every slot has to be asked for.
    places: Vec<Place>,
    /// For each of them the first slot whose cell somebody has to know of; and the first slot of all these.
    stops: Vec<u64>,
    stop: u64,
    /// How many slots are sure to go like this, and the instant before which they have to be given away.
    sure: u64,
    change: Time,
    /// Slots that were given away.
    slots: u64,
    /// Slots of them that are in the books; when the cell before the next one ends, and when that one begins.
    booked: u64,
    ends: Time,
    free: Beat,
}

impl Round {
    /// How many of the first `slots` fall to a place.
    fn turns(&self, place: usize, slots: u64) -> u64 {
        let places = self.places.len() as u64;
        slots / places + u64::from((place as u64) < slots % places)
    }

    /// The place of the next slot.
    fn next(&self) -> usize {
        (self.slots % self.places.len() as u64) as usize
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
        let count = round.places.len() as u64;
        let unlisted = if round.places.len() < MOST_PLACES { MANY } else { count };
        let sent = |(at, place): (u64, &Place)| place.cells.saturating_mul(count).saturating_add(at);
        round.sure = (0..).zip(&round.places).map(sent).fold(unlisted, u64::min);
        let stop = |(at, place): (u64, &Place)| turns[place.queue].left * count + at;
        round.stops.clear();
        round.stops.extend((0..).zip(&round.places).map(stop));
        round.stop = round.stops.iter().copied().fold(u64::MAX, u64::min);
        (round.slots, round.booked, round.ends, round.free) = (0, 0, self.ends, self.free);
        count > 0
    }

    /// Slots are given away up to `until` of whose cells nobody needs to know yet; answers whether there was one.
    pub(super) fn go_round(&mut self, until: Time) -> bool {
        let Round { stop, sure, slots, change, .. } = self.round;
        let slots = self.slots_within(stop.min(sure) - slots, until.min(Time(change.0 - 1)));
        let Some(behind) = slots.checked_sub(1) else { return false };
        let last = self.free.skip(behind, &self.pace);
        self.ends = Time(last.time.0 + self.pace.whole);
        self.free = last.next(&self.pace);
        self.round.slots += slots;
        true
    }

    /// How many of so many slots are given away up to `until`, and begin before cells are to be handed on separately.
    fn slots_within(&self, slots: u64, until: Time) -> u64 {
        let Some(last) = slots.checked_sub(1) else { return 0 };
        let begins = self.free.skip(last, &self.pace).time;
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
    pub(super) fn stop_at_next(&mut self, engine: &mut Fast<'_>, index: usize) {
        let port = &mut engine.network.ports[index];
        self.book_round(port);
        self.leave(port, self.ends);
        let place = self.round.next();
        let vc = self.round.places[place].queue;
        let starts = self.send(self.ends);
        let Round { slots, booked, ends, free, .. } = &mut self.round;
        (*slots, *booked, *ends, *free) = (*slots + 1, *booked + 1, self.ends, self.free);
        self.start_one(engine, index, vc, starts);
        if !self.round.places.is_empty() {
            self.round.set_stop(place, self.turns[vc].left);
        }
    }

    /// Enter the slots that were given away in the books.
    pub(super) fn book_round(&mut self, port: &mut Port) {
        let Round { slots, booked, ends, free, .. } = self.round;
        let Some(behind) = (slots - booked).checked_sub(1) else { return };
        self.leave(port, ends);
        let sum = self.rhythm.after(free, behind).1 + u128::from(behind) * u128::from(self.pace.whole);
        port.counters.occupancy.drain(ends, port.pool.total(), behind, sum);
        let (places, served) = (self.round.places.len() as u64, slots - booked);
        let (each, more) = (served / places, served % places);
        let (before, behind) = self.round.places.split_at((booked % places) as usize);
        for (offset, place) in (0..served).zip(behind.iter().chain(before)) {
            let cells = each + u64::from(offset < more);
            self.turns[place.queue].serve(cells, (free, offset + (cells - 1) * places));
            port.pool.remove(place.queue, cells);
        }
        let sending = self.round.places[((slots - 1) % places) as usize].queue;
        port.pool.add_ahead(sending, 1);
        self.ahead = Some(sending);
        (self.round.booked, self.round.ends, self.round.free) = (slots, self.ends, self.free);
    }

    /// The scheduler is to be asked again: tell it what went round.
    pub(super) fn end_round(&mut self, port: &mut Port) {
        self.book_round(port);
        let Round { places, slots, .. } = &mut self.round;
        if *slots > 0 {
            port.scheduler.went_round(places, *slots);
        }
        places.clear();
        (self.round.slots, self.round.booked) = (0, 0);
    }

    /// The earliest instant at which an EOM can start that is in a queue.
    ///
    /// The frame's other cells go first, and with them those of other queues, as long as it is known how they go round and
    /// nothing can be pushed out.
    pub(super) fn earliest_eom(&mut self, engine: &mut Fast<'_>, index: usize, now: Time) -> Time {
        if self.ends == Time::NEVER {
            return Time(now.0 + 1);
        }
        let mut slots = 0;
        if self.goes_round(&mut engine.network.ports[index]) {
            self.look_beyond_stop(engine, index);
            let Round { stop, sure, slots: given, change, .. } = self.round;
            slots = self.slots_within(stop.min(sure) - given, Time(change.0 - 1));
            slots = self.slots_despite_cuts(&mut engine.network.ports[index], slots);
            if given + slots == stop {
                return self.free.skip(slots, &self.pace).time;
            }
        }
        let least = self.least_behind(engine, index, slots);
        self.free.skip(slots + least, &self.pace).time
    }

    /// More may have joined the queue that has the next cell of which somebody had to know.
    fn look_beyond_stop(&mut self, engine: &mut Fast<'_>, index: usize) {
        let mut before = None;
        while self.round.stop < self.round.sure && before != Some(self.round.stop) {
            let place = (self.round.stop % self.round.places.len() as u64) as usize;
            let vc = self.round.places[place].queue;
            if self.turns[vc].left > 0 && !self.turns[vc].grows {
                return;
            }
            before = Some(self.round.stop);
            self.book_round(&mut engine.network.ports[index]);
            self.look_ahead(engine, index, vc);
            self.round.set_stop(place, self.turns[vc].left);
        }
    }

    /// How many slots go by at least, behind the next `slots`, before the EOM of any queue can start.
    fn least_behind(&mut self, engine: &mut Fast<'_>, index: usize, slots: u64) -> u64 {
        self.book_round(&mut engine.network.ports[index]);
        for vc in 0..self.turns.len() {
            if self.turns[vc].left == 0 && self.queued(&engine.network.ports[index], vc as u32) > 0 {
                self.look_ahead(engine, index, vc);
            }
        }
        let port = &mut engine.network.ports[index];
        let least = match port.pushout.as_mut().map(PushOut::bite) {
            None => MANY,
            Some(Bite::AllButEom) => 0,
            Some(_) => self.shortest - 1, // of a frame that comes to the head when others are pushed out
        };
        let Turns { round, turns, lefts, .. } = self;
        lefts.clear();
        lefts.extend(port.queues.iter().zip(turns).map(|(queue, turn)| match queue.len() as u64 - turn.served {
            0 => u64::MAX,
            _ => turn.left,
        }));
        for (at, place) in round.places.iter().enumerate() {
            lefts[place.queue] -= round.turns(at, round.slots + slots) - round.turns(at, round.slots);
        }
        lefts.iter().copied().fold(least, u64::min)
    }

    /// How many of the next `slots` go round as if nothing were pushed out.
    ///
    /// While there is room nothing is. And once every queue has begun
    /// to send its frame, it does not matter that whole ones behind it are, as long as there are any.
    fn slots_despite_cuts(&self, port: &mut Port, slots: u64) -> u64 {
        let Some(bite) = port.pushout.as_mut().map(PushOut::bite) else { return slots };
        let sure = self.slots_with_room(port);
        let spares = || {
            bite == Bite::Packets && self.begin_within(port, sure) && self.has_packets_for(port, slots)
        };
        if slots <= sure || spares() { slots } else { sure }
    }

    /// Whether every queue of the round has begun to send its frame, or will have in so many slots.
    fn begin_within(&self, port: &Port, slots: u64) -> bool {
        let round = &self.round;
        let begun = |(at, place): (usize, &Place)| {
            let after = round.turns(at, round.slots + slots) > round.turns(at, round.booked);
            let first = port.queues[place.queue].front().is_some_and(Unit::is_first);
            after || self.turns[place.queue].served > 0 || !first
        };
        slots >= round.places.len() as u64 || round.places.iter().enumerate().all(begun)
    }

    /// For how many slots nothing can be pushed out: in each of them no more arrives than fits over the lines.
    fn slots_with_room(&self, port: &Port) -> u64 {
        let used = port.pool.total() - (self.round.slots - self.round.booked);
        let free = port.pool.capacity().saturating_sub(used);
        free.saturating_sub(self.influx + 1) / self.influx.saturating_sub(1).max(1)
    }

    /// Whether entire packets are left when in so many slots as many are pushed out as can be.
    ///
    /// After the first cut there is no other before as many cells have arrived as it took out. What may be missing are packets
    /// that are begun to be sent, and those of which some cells are still to arrive.
    fn has_packets_for(&self, port: &Port, slots: u64) -> bool {
        let whole: usize = port.queues.iter().map(|queue| queue.runs().whole()).sum();
        let left = (whole as u64).saturating_sub(self.round.places.len() as u64 + self.influx);
        left * self.shortest > self.shortest + self.influx * (slots + 2)
    }
}

/// Queues of a round that are worth listing.
const MOST_PLACES: usize = 64;
