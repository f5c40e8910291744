//! A day of the calendar: its arrivals port by port, then the events that must keep one order.
//!
//! # What it assumes
//! Events of a day add no arrival to it: see `calendar.rs`.
//!
//! # What it skips
//! The order between ports that accept packets by a rule, except those that share a memory.
//!
//! # Why that is exact
//! At each such port arrivals are in the order of the kernel. So are all others, together with calls.
//!
//! # What turns it off
//! See `calendar.rs`.
//!
//! # What it saves
//! See `calendar.rs`; a port's state stays in the cache for all its packets of a day.

use super::Packets;
use super::agenda::Arrival;
use super::lookahead::HOSTS;
use super::transit::Transit;
use crate::engine::outcome::Stopwatch;
use crate::units::Time;
use crate::units::ids::{IdVec, LineId, StationId};

/// The arrivals of a day.
#[derive(Debug, Default)]
pub(crate) struct Day {
    arrivals: Vec<Arrival>,
    /// Ports that accept packets by a rule, or memories of such ports, that have arrivals; for each the last arrival,
    /// and for each arrival the one before it at its port.
    ports: Vec<StationId>,
    /// Ports that have events of their own.
    visits: Vec<StationId>,
    lasts: IdVec<StationId, u32>,
    before: Vec<u32>,
    /// The arrivals at one port, by time.
    turn: Vec<(Time, u32)>,
    /// The other arrivals, by their keys.
    ordered: Vec<(u128, u32)>,
}

/// The index of no arrival.
const NONE: u32 = u32::MAX;
/// Stands in `lasts` for "no arrival yet, but the port is already listed in `ports`".
const VISITED: u32 = NONE - 1;

impl Day {
    /// A day without arrivals in a network of `ports` ports and memories.
    pub(crate) fn new(ports: usize) -> Day {
        Day { lasts: IdVec::filled(NONE, ports), ..Day::default() }
    }

    /// Divide the arrivals before `until`; the others return to the calendar.
    fn begin(&mut self, transit: &mut Transit, until: Time) {
        self.ports.clear();
        self.ordered.clear();
        self.before.clear();
        self.before.resize(self.arrivals.len(), NONE);
        for &port in &self.visits {
            transit.end_visit(port);
            if std::mem::replace(&mut self.lasts[port], VISITED) == NONE {
                self.ports.push(port);
            }
        }
        for index in 0..self.arrivals.len() {
            let Arrival { time, line, at, .. } = self.arrivals[index];
            if time >= until {
                transit.arrivals.add(self.arrivals[index]);
            } else if let Some(place) = transit.turn_of(at) {
                self.join(place, index);
            } else {
                self.ordered.push((transit.arrivals.key(time, line), index as u32));
            }
        }
        self.ordered.sort_unstable();
    }

    /// Add an arrival to those of its port.
    #[inline]
    fn join(&mut self, port: StationId, index: usize) {
        self.before[index] = std::mem::replace(&mut self.lasts[port], index as u32);
        if self.before[index] == NONE {
            self.ports.push(port);
        }
    }

    /// Put the arrivals at a port in order, the last one first.
    fn take_turn(&mut self, port: StationId, transit: &Transit) {
        self.turn.clear();
        let mut index = std::mem::replace(&mut self.lasts[port], NONE);
        while index < VISITED {
            self.turn.push((self.arrivals[index as usize].time, index));
            index = self.before[index as usize];
        }
        if self.turn.len() > 1 {
            let key = |index: u32, time: Time| transit.arrivals.key(time, self.arrivals[index as usize].line);
            self.turn.sort_unstable_by(|(time, index), (other_time, other)| {
                other_time.cmp(time).then_with(|| key(*other, *time).cmp(&key(*index, *time)))
            });
        }
    }
}

impl Packets<'_> {
    /// Handle all events before `end`, day by day.
    pub(super) fn handle_days(&mut self, end: Time, watch: &mut Stopwatch<'_>) {
        let mut day = std::mem::take(&mut self.day);
        while let Some((start, until)) =
            self.transit.arrivals.take_day(end, &mut day.arrivals, &mut day.visits)
        {
            watch.reach_with(start, 1 + day.arrivals.len() as u64);
            day.begin(&mut self.transit, until);
            self.handle_ports(&mut day, until);
            self.handle_in_order(&day, until);
        }
        self.day = day;
    }

    /// Handle the arrivals of a day at ports that accept packets by a rule.
    fn handle_ports(&mut self, day: &mut Day, until: Time) {
        for place in 0..day.ports.len() {
            let port = day.ports[place];
            day.take_turn(port, &self.transit);
            self.events += day.turn.len() as u64;
            if self.transit.is_station(port) {
                match self.transit.ordered_station(port) {
                    Some(line) => self.handle_ordered(day, line, until),
                    None => self.handle_station(day, port, until),
                }
                continue;
            }
            for &(_, index) in day.turn.iter().rev() {
                self.arrive(&day.arrivals[index as usize]);
            }
        }
    }

    /// Handle the arrivals of a day at the ports of a station, and the station's own events before `until`.
    fn handle_station(&mut self, day: &Day, station: StationId, until: Time) {
        for &(time, index) in day.turn.iter().rev() {
            self.catch_up(station, Time(time.0 + 1));
            let Arrival { at, ref packet, .. } = day.arrivals[index as usize];
            if let Some(onward) = self.transit.judge(at, packet, time) {
                self.come_later(&onward);
            }
        }
        self.catch_up(station, until);
        self.transit.note_visit(station, until);
    }

    /// Like `handle_station`, for a port whose packets are in rows.
    fn handle_ordered(&mut self, day: &Day, port: LineId, until: Time) {
        for &(time, index) in day.turn.iter().rev() {
            self.catch_up_in_order(port, Time(time.0 + 1));
            let Arrival { at, ref packet, .. } = day.arrivals[index as usize];
            if let Some(onward) = self.transit.judge(at, packet, time) {
                self.come_later(&onward);
            }
        }
        self.catch_up_in_order(port, until);
        self.transit.note_visit(port.station(), until);
    }

    /// Handle the ends of transmissions behind which packets wait in rows, and the ticks of the policy, before `until`.
    #[inline(always)] // mostly there is none
    fn catch_up_in_order(&mut self, port: LineId, until: Time) {
        if self.transit.next_in_order(port) < until {
            self.act_in_order(port, until);
        }
    }

    /// Like `catch_up_in_order`, if there is one.
    #[inline(never)]
    fn act_in_order(&mut self, port: LineId, until: Time) {
        loop {
            if let Some(now) = self.transit.due_in_order(port, until) {
                self.events += 1;
                if let Some(onward) = self.transit.free_in_order(port, now) {
                    self.come_later(&onward);
                }
            } else if let Some(event) = self.transit.take_own(port.station(), until) {
                self.events += 1;
                self.called(event, event.time);
            } else {
                return;
            }
        }
    }

    /// Handle the events of a station itself that are due before `until`.
    fn catch_up(&mut self, station: StationId, until: Time) {
        while let Some(event) = self.transit.take_own(station, until) {
            self.events += 1;
            self.called(event, event.time);
        }
    }

    /// Handle the other arrivals of a day, and the calls before `until`.
    fn handle_in_order(&mut self, day: &Day, until: Time) {
        for &(key, index) in &day.ordered {
            self.handle_calls(key);
            self.events += 1;
            self.arrive(&day.arrivals[index as usize]);
        }
        self.handle_calls(u128::from(until.0) << u64::BITS);
    }

    /// Handle the calls whose keys are less than this one.
    fn handle_calls(&mut self, key: u128) {
        while self.transit.arrivals.agendas[HOSTS].first_call() < key {
            self.events += 1;
            let event = self.transit.arrivals.agendas[HOSTS].pop_call();
            self.called(event, event.time);
        }
    }
}
