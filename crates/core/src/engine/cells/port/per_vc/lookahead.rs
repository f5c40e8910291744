//! Where each circuit has its queue, what is known of cells before they leave.
//!
//! As long as slots go round the same queues, what arrives changes nothing of what leaves before it. So when it is sure that
//! nobody joins the round or leaves it, and what is pushed out is not missed, a frame is handed on as soon as the slot of its
//! last cell is known: nobody need be there when its time has come.

use super::rotation::MOST_PLACES;
use super::{MANY, PerVc, Turn};
use crate::buffer::pushout::{Bite, PushOut};
use crate::engine::cells::Fast;
use crate::engine::cells::inbox::{Ahead, Train};
use crate::engine::cells::train::Run;
use crate::link::port::Port;
use crate::scheduler::Place;
use crate::unit::Unit;
use crate::units::Time;

impl PerVc {
    /// Everything has happened up to `now`: hand on the frames of which it is known when they end, and answer when the
    /// EOM of another one can start at the earliest for which a host waits.
    pub(in crate::engine) fn earliest_eom(&mut self, engine: &mut Fast<'_>, index: usize, now: Time) -> Time {
        let queued = match self.ends {
            Time::NEVER => Time::NEVER,
            _ => self.earliest_in_queues(engine, index, now),
        };
        let queues = &engine.network.ports[index].queues;
        let joins = |train: &Train| if queues[train.vc as usize].is_empty() { train.last } else { queued };
        self.inputs.first_awaited(queued, joins)
    }

    /// The same for frames that have begun to arrive, and for those that join the queue behind others.
    fn earliest_in_queues(&mut self, engine: &mut Fast<'_>, index: usize, now: Time) -> Time {
        let goes_round = self.goes_round(&mut engine.network.ports[index]);
        let certain = self.slots_certain(&engine.network.ports[index], now);
        let slots = match goes_round {
            true => self.foretell_round(engine, index, now, certain),
            false => self.least_elsewhere(engine, index),
        };
        self.rhythm.skip(self.free, slots.min(certain)).time
    }

    /// For how many slots it makes no difference whether what is still to arrive after `now` of trains that have joined their
    /// queues finds room: there is some for all that can come, or their queues send what has arrived.
    fn slots_certain(&mut self, port: &Port, now: Time) -> u64 {
        self.inputs.list_from(Time(now.0 + 1), &mut self.rests);
        let rests = std::mem::take(&mut self.rests);
        let arrived = rests.iter().map(|rest| self.slots_with(port, rest)).min();
        self.rests = rests;
        self.rests.clear();
        arrived.map_or(MANY, |slots| slots.max(self.slots_with_room(port)))
    }

    /// How many slots go by before a queue has sent everything but the rest of a train.
    fn slots_with(&mut self, port: &Port, rest: &Ahead) -> u64 {
        let (vc, left) = (rest.train.vc, u64::from(rest.train.left));
        self.catch_up_with(vc as usize);
        let arrived = self.queued(port, vc) - left;
        self.round.find(vc as usize).map_or(arrived, |place| self.round.slots_before(place, arrived))
    }

    /// Hand on frames that go round, of whose slots so many are `certain`; answers how many go by at least before the EOM of
    /// another one.
    fn foretell_round(&mut self, engine: &mut Fast<'_>, index: usize, now: Time, certain: u64) -> u64 {
        let known = self.slots_known(&mut engine.network.ports[index]).min(certain);
        self.look_beyond_stop(&engine.network.ports[index]);
        let known = match self.round.before_stop() < known {
            true => self.foretell_until(engine, index, now, known),
            false => known,
        };
        // among very many queues there is always one that is near its EOM
        if self.turns.len() > MOST_PLACES {
            return known.min(self.round.before_stop());
        }
        self.least_behind(engine, index, known)
    }

    /// Hand on the frames whose EOMs stop the round in so many slots, as long as it is sure; answers how many slots go by before
    /// the round changes.
    fn foretell_until(&mut self, engine: &mut Fast<'_>, index: usize, now: Time, known: u64) -> u64 {
        let sure = self.slots_until_join(engine, index, known);
        let uncut = self.slots_until_cut(&engine.network.ports[index]);
        while self.round.before_stop() < known {
            if self.is_told(&engine.network.ports[index]) {
                return self.round.before_stop() + 1; // then the queue leaves
            }
            if self.round.before_stop() >= sure || !self.foretell_next(engine, index, uncut, now) {
                break;
            }
            self.look_beyond_stop(&engine.network.ports[index]);
        }
        known
    }

    /// Whether all of the queue has been handed on for which the round stops.
    fn is_told(&self, port: &Port) -> bool {
        let (_, vc) = self.round.at_stop();
        self.turns[vc].foretold == port.queues[vc].len() as u64
    }

    /// Hand on the frame whose EOM stops the round, if it is all there and can no longer be cut; answers whether it is handed on.
    fn foretell_next(&mut self, engine: &mut Fast<'_>, index: usize, uncut: u64, now: Time) -> bool {
        let (place, vc) = self.round.at_stop();
        self.catch_up(place);
        let port = &engine.network.ports[index];
        let Turn { frames, foretold, served, left, .. } = self.turns[vc];
        let Some((unit, units)) = port.queues[vc].closed_behind(frames) else { return false };
        let (end, ahead) = (foretold + u64::from(units), self.round.before_stop());
        let begins = ahead.saturating_sub((u64::from(units) - 1) * self.round.places.len() as u64);
        let is_kept = begins < uncut || self.has_begun(port, vc);
        if served + left + 1 != end || !is_kept || self.inputs.is_arriving(vc as u32, now) {
            return false;
        }
        (self.turns[vc].frames, self.turns[vc].foretold) = (frames + 1, end);
        self.see_ahead(port, place);
        let last = self.rhythm.skip(self.free, ahead).time;
        self.forward(engine, index, vc, Run { unit, units }, last);
        true
    }

    /// How many cells the queue of a place may go on to send, which knows of its turns.
    fn see_ahead(&mut self, port: &Port, place: usize) {
        let vc = self.round.places[place].queue;
        let turn = &mut self.turns[vc];
        let (cells, grows) = port.queues[vc].inner_ahead((turn.frames, turn.foretold));
        (turn.left, turn.grows) = (cells - turn.served, grows);
        self.round.set_stop(place, cells - turn.served);
    }

    /// More may have joined the queue that has the next cell of which somebody had to know.
    fn look_beyond_stop(&mut self, port: &Port) {
        let mut before = None;
        while self.round.stops_within_sure() && before != Some(self.round.before_stop()) {
            let (place, vc) = self.round.at_stop();
            if !self.turns[vc].grows {
                return;
            }
            before = Some(self.round.before_stop());
            self.catch_up(place);
            self.see_ahead(port, place);
        }
    }

    /// Whether the first frame of a queue that has not been handed on has begun to be sent. The queue knows of its turns.
    fn has_begun(&self, port: &Port, vc: usize) -> bool {
        let Turn { foretold, served, .. } = self.turns[vc];
        served > foretold || foretold == 0 && !port.queues[vc].front().is_some_and(Unit::is_first)
    }

    /// How many slots go by at least before the EOM of a frame can start that has not been handed on, the next `known` of them
    /// round the queues.
    fn least_behind(&mut self, engine: &mut Fast<'_>, index: usize, known: u64) -> u64 {
        let (least, spare) = self.least_of_cuts(&mut engine.network.ports[index]);
        let places = self.round.places.len() as u64;
        let alike = spare + 1 >= self.longest && known <= self.round.before_stop();
        let first = if alike { self.round.stop } else { self.first_eom(spare) };
        let before = first - self.round.slots;
        let going_round = before.min(known + before.saturating_sub(known) / places);
        let least = going_round.min(known + least);
        if engine.network.ports[index].pool.active() as usize > self.round.places.len() {
            return least.min(known + self.least_elsewhere(engine, index));
        }
        least
    }

    /// The first slot of the round in which the EOM of such a frame can start.
    fn first_eom(&mut self, spare: u64) -> u64 {
        self.catch_up_all();
        let places = self.round.places.len() as u64;
        let eom = |(it, stop): (&Place, &u64)| {
            let (cells, left) = (self.cells_before_eom(it.queue, spare), self.turns[it.queue].left);
            stop + cells * places - left * places
        };
        self.round.places.iter().zip(&self.round.stops).map(eom).fold(u64::MAX, u64::min)
    }

    /// The same if every slot may go to the same queue, as far as queues have no place in the round.
    fn least_elsewhere(&mut self, engine: &mut Fast<'_>, index: usize) -> u64 {
        let (mut least, spare) = self.least_of_cuts(&mut engine.network.ports[index]);
        for vc in 0..self.turns.len() {
            if self.queued(&engine.network.ports[index], vc as u32) == 0 || self.round.find(vc).is_some() {
                continue;
            }
            if self.turns[vc].left == 0 && self.turns[vc].grows {
                self.look_ahead(engine, index, vc);
            }
            least = least.min(self.cells_before_eom(vc, spare));
        }
        least
    }

    /// How many cells go at least before the EOM of a frame that comes to the head when others are pushed out: from now on, and
    /// from the beginning of a frame.
    fn least_of_cuts(&self, port: &mut Port) -> (u64, u64) {
        match port.pushout.as_mut().map(PushOut::bite) {
            None => (MANY, MANY),
            Some(Bite::AllButEom) => (0, self.shortest - 1),
            Some(_) => (self.shortest - 1, self.shortest - 1),
        }
    }

    /// How many cells a queue sends at least before the EOM of a frame that has not been handed on, in whose place may come
    /// one with so many before its EOM.
    fn cells_before_eom(&self, vc: usize, spare: u64) -> u64 {
        let Turn { foretold, served, left, .. } = self.turns[vc];
        let ahead = foretold.saturating_sub(served);
        left.min(ahead + spare).max(ahead)
    }

    /// How many slots go round as the scheduler has said, unless others join.
    fn slots_known(&mut self, port: &mut Port) -> u64 {
        let slots = self.slots_sure();
        match port.pushout.as_mut().map(PushOut::bite) {
            None => slots,
            _ if self.has_room_for(port, slots) => slots,
            Some(Bite::LongestPackets) => {
                slots.min(self.slots_until_cut(port).max(self.slots_with_packets(port)))
            }
            Some(Bite::Packets) => {
                slots.min(self.slots_until_cut(port).max(self.slots_with_frames_begun(port)))
            }
            Some(_) => slots.min(self.slots_until_cut(port)),
        }
    }

    /// How many of the slots that are known go like this for sure: no queue that is empty can be joined before.
    fn slots_until_join(&mut self, engine: &Fast<'_>, index: usize, known: u64) -> u64 {
        let last = self.rhythm.skip(self.free, known).time;
        if last < self.undisturbed {
            return known;
        }
        let queues = engine.network.ports[index].queues.iter().zip(&engine.plan.passing[index]);
        let empty = queues.filter(|(queue, _)| queue.is_empty());
        let rests = empty.map(|(_, &circuit)| engine.rests_until(circuit));
        self.undisturbed = rests.fold(Time::NEVER, Time::min);
        if last < self.undisturbed { known } else { self.rhythm.count_before(self.free, self.undisturbed).0 }
    }

    /// For how many slots nothing can be pushed out: in each of them no more arrives than fits over the lines.
    fn slots_until_cut(&self, port: &Port) -> u64 {
        if port.pushout.is_some() { self.slots_with_room(port) } else { MANY }
    }

    /// For how many slots everything that can arrive fits.
    fn slots_with_room(&self, port: &Port) -> u64 {
        self.free_at_first(port) / self.growth()
    }

    /// Whether so many slots are among these.
    fn has_room_for(&self, port: &Port, slots: u64) -> bool {
        slots * self.growth() <= self.free_at_first(port)
    }

    /// By how many cells the buffer can fill in a slot.
    fn growth(&self) -> u64 {
        self.influx.saturating_sub(1).max(1)
    }

    /// Room that is left when the cells of a slot have arrived and none has gone.
    fn free_at_first(&self, port: &Port) -> u64 {
        let used = port.pool.total() - self.unbooked();
        port.pool.capacity().beside(used + self.influx + 1)
    }

    /// For how many slots no queue can run empty because its packets are pushed out, if those of the longest queue go.
    ///
    /// All entire packets together are so many cells that the longest queue with any has more than one of them and what it
    /// sends in this time. After a cut there is no other before as many cells have arrived as it took out. What may be missing
    /// are packets that are begun to be sent, and those of which some cells are still to arrive.
    fn slots_with_packets(&self, port: &Port) -> u64 {
        let (queues, places) = (self.turns.len() as u64, self.round.places.len() as u64);
        let packets = self.packets.saturating_sub(places + self.influx);
        let cells = packets * self.shortest + self.free_at_first(port);
        let kept = self.shortest + 2 * self.influx + queues * (self.longest + 3);
        cells.saturating_sub(kept) / (self.influx + queues.div_ceil(places) + 1)
    }

    /// How many slots go by before the next one of whose cell somebody has to know, if in this time only packets are pushed
    /// out that no queue needs, for each has begun to send its frame.
    fn slots_with_frames_begun(&mut self, port: &Port) -> u64 {
        let slots = self.round.before_stop();
        let packets = self.packets.saturating_sub(self.round.places.len() as u64 + self.influx);
        self.catch_up_all();
        let enough = packets * self.shortest > self.shortest + self.influx * (slots + 2);
        let begun = |place: &Place| self.has_begun(port, place.queue);
        if enough && self.round.places.iter().all(begun) { slots } else { 0 }
    }
}
