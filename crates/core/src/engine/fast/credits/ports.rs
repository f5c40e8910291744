//! The ports, unit by unit and credit by credit: each is asked exactly what the reference engine asks it.

use super::Governed;
use super::key::{Key, NEVER, beginning, time_of};
use super::lanes::Heads;
use super::notes::{Note, Notes};
use crate::engine::LossRecord;
use crate::kernel::queue::{Class, Event};
use crate::link::credit::Credit;
use crate::link::line::Sent;
use crate::link::port::relay::Relay;
use crate::link::port::{Loss, Started};
use crate::network::Network;
use crate::unit::Unit;
use crate::units::Time;

/// The local time of a port.
#[derive(Debug)]
pub(super) struct Station {
    /// The heads of the lanes that lead here.
    pub(super) heads: Heads,
    /// When the last bit of what is being sent leaves.
    pub(super) free: Key,
    notes: Notes,
    /// When the clock of the policy ticks and when the occupancy is sampled next.
    tick: Key,
    sample: Key,
    /// When something happens next that is not the way of a unit: a note, a tick or a sample.
    aside: Key,
    /// The buffer of a port that takes whatever comes and serves its circuits round robin.
    pub(super) relay: Option<Relay>,
    /// Units and credit cells that the line has started to send.
    pub(super) hops: u64,
}

impl Station {
    /// A port at time zero.
    pub(super) fn new(
        heads: Heads,
        notes: Notes,
        tick: Option<Event>,
        sampled: bool,
        relay: Option<Relay>,
    ) -> Station {
        let tick = tick.map_or(NEVER, Event::key);
        let sample = if sampled { beginning(Time::ZERO) } else { NEVER };
        Station { heads, free: NEVER, notes, tick, sample, aside: tick.min(sample), relay, hops: 0 }
    }

    /// When something happens next.
    #[inline]
    pub(super) fn next(&self) -> Key {
        self.free.min(self.heads.first()).min(self.aside)
    }

    /// A note comes.
    pub(super) fn tell(&mut self, row: u32, key: Key, note: Note) {
        self.notes.push(row, key, note);
        self.aside = self.aside.min(key);
    }

    /// What has happened aside is done.
    fn look_ahead(&mut self) {
        self.aside = self.sample.min(self.tick).min(self.notes.first());
    }
}

impl Governed<'_> {
    /// Let the ports of a group act in turn until `end`, each until another one has something to do.
    ///
    /// A port that is given a credit to send meanwhile need not act at once: until it has something else to do it
    /// sends nothing but credit cells, which let no credits go when they leave.
    pub(super) fn take_turns(&mut self, group: usize, end: Key) {
        loop {
            let first = self.order[group].first();
            if first >= end {
                return self.agenda.expect(self.landings + group, time_of(first));
            }
            let (place, others) = self.order[group].leader();
            let port = self.ways.groups[group][place] as usize;
            self.advance(port, end.min(others).max(first + 1));
        }
    }

    /// Let happen at a port what comes before `limit`.
    fn advance(&mut self, port: usize, limit: Key) {
        loop {
            let station = &self.stations[port];
            let (aside, next) = (station.aside, station.next());
            if next >= limit {
                let (group, place) = self.places[port];
                return self.order[group].set(place, next);
            }
            if next == aside {
                self.look_aside(port, next);
            } else if station.relay.is_some() {
                self.relay(port, aside.min(limit));
            } else if next == station.free {
                self.free(port, next);
            } else {
                self.arrive(port, next);
            }
        }
    }

    /// It is time for a sample, for a tick of the policy's clock or for a note.
    #[inline(never)]
    fn look_aside(&mut self, port: usize, key: Key) {
        let (station, it) = (&mut self.stations[port], &mut self.network.ports[port]);
        let now = time_of(key);
        if key == station.sample {
            station.sample = beginning(now + self.scenario.sample);
            match &station.relay {
                Some(relay) => relay.sample(it),
                None => it.sample(),
            }
            station.look_ahead();
        } else if key == station.tick {
            let next = it.tick(now);
            station.tick = next.map_or(NEVER, |time| Event::new(time, Class::Tick, port as u32).key());
            station.look_ahead();
        } else {
            let (note, relays) = (station.notes.pop(), station.relay.is_some());
            station.look_ahead();
            if relays { self.heed_relay(port, note, key) } else { self.heed(port, note, key) }
        }
    }

    /// The last bit of a unit or of a credit cell has left.
    fn free(&mut self, port: usize, key: Key) {
        self.stations[port].free = NEVER;
        if let Some(unit) = self.network.ports[port].finish(time_of(key)) {
            self.forwarded(&unit, key);
        }
        self.start(port, key);
    }

    /// The first unit on its way arrives.
    fn arrive(&mut self, port: usize, key: Key) {
        let unit = self.lanes.take(&mut self.stations[port].heads);
        let Network { ports, receivers, circuits, .. } = &mut self.network;
        let stop = self.ways.stop(&unit);
        if let Some(answer) = &stop.answer {
            let (receiver, vc) = answer.receiver(receivers);
            receiver.arrived(vc);
        }
        if !stop.polices {
            return self.enter(port, unit, key);
        }
        match circuits[unit.vc as usize].police(time_of(key), unit) {
            Ok(unit) => self.enter(port, unit, key),
            Err(reason) => {
                ports[port].refuse(unit, reason, &mut self.losses);
                self.count_losses(port, key);
            }
        }
    }

    /// A unit enters the buffer of a port, or is lost there.
    fn enter(&mut self, port: usize, unit: Unit, key: Key) {
        let number = |unit: &Unit| self.ways.number(unit);
        let it = &mut self.network.ports[port];
        it.arrive(time_of(key), unit, number(&unit), number, &mut self.losses);
        if !it.is_busy() {
            self.start(port, key);
        } else if !self.losses.is_empty() {
            self.count_losses(port, key);
        }
    }

    /// A frame or a credit comes.
    fn heed(&mut self, port: usize, note: Note, key: Key) {
        match note {
            Note::Frame(emission) => return emission.units().for_each(|unit| self.enter(port, unit, key)),
            Note::Due(credit) => self.network.ports[port].queue_credit(credit),
            Note::Credit(credit) => self.network.ports[port].credited(credit),
        }
        if !self.network.ports[port].is_busy() {
            self.start(port, key);
        }
    }

    /// A line is free: let its port start the next credit cell or else the next unit.
    fn start(&mut self, port: usize, key: Key) {
        let (it, now) = (&mut self.network.ports[port], time_of(key));
        if let Some((credit, sent)) = it.start_credit(now) {
            return self.credit_started(port, credit, sent);
        }
        let number = |unit: &Unit| self.ways.number(unit);
        if let Some(Started { unit, sent }) = it.start(now, number, &mut self.losses) {
            self.started(port, unit, sent);
        }
        if !self.losses.is_empty() {
            self.count_losses(port, key);
        }
    }

    /// A unit is on its way.
    pub(super) fn started(&mut self, port: usize, unit: Unit, sent: Sent) {
        let station = &mut self.stations[port];
        station.hops += u64::from(sent.starts < self.end); // a host may still be resting then
        station.free = Event::new(sent.ends, Class::Free, port as u32).key();
        let unit = Unit { hop: unit.hop + 1, ..unit };
        self.lanes.push(self.ways.stop(&unit).lane, sent.arrives, unit);
    }

    /// A credit cell is on its way.
    pub(super) fn credit_started(&mut self, port: usize, credit: Credit, sent: Sent) {
        let station = &mut self.stations[port];
        station.hops += 1;
        station.free = Event::new(sent.ends, Class::Free, port as u32).key();
        let to = self.ways.far[port].expect("credit cells go against the data of a line");
        let arrival = Event::new(sent.arrives, Class::Credit, port as u32);
        self.tell(to, arrival.key(), Note::Credit(credit));
    }

    /// What a port has just lost.
    #[cold]
    fn count_losses(&mut self, port: usize, key: Key) {
        let mut losses = std::mem::take(&mut self.losses);
        for Loss { unit, reason } in losses.drain(..) {
            let Unit { vc, frame, index, .. } = unit;
            self.network.circuits[vc as usize].lost();
            if let Some(log) = &mut self.log {
                log.push(LossRecord { time: time_of(key), port: port as u32, vc, frame, index, reason });
            }
            self.forwarded(&unit, key);
        }
        self.losses = losses;
    }

    /// A unit has left a port, sent or lost: a credit may be due.
    pub(super) fn forwarded(&mut self, unit: &Unit, key: Key) {
        let Some(answer) = &self.ways.stop(unit).answer else { return };
        let (receiver, vc) = answer.receiver(&mut self.network.receivers);
        if let Some(credit) = receiver.left(vc) {
            self.give_back(*answer, credit, Event::of_key(key));
        }
    }
}
