//! The pending arrivals by day: those of a day are handled port by port.
//!
//! # What it assumes
//! An event at one node affects another node only after the latency of a line and the transmission of a packet.
//!
//! # What it skips
//! The order of all arrivals: a heap, and the comparison of rows.
//!
//! # Why that is exact
//! A day is no longer than the least time between cause and effect, so all arrivals of a day are known when it begins, and
//! those at one port affect no other port before the day ends. Each port still gets its packets in the order of the kernel.
//!
//! # What turns it off
//! A few rows of arrivals (`agenda.rs`) are cheaper: a network begins with these, and uses days from the moment at which they
//! no longer suffice; one with stations (`transit/stations.rs`) uses days from the start. Hosts that do not act ahead, ports that judge
//! every packet but have no station, and calls keep one order within a day.
//!
//! # What it saves
//! Half of the instructions of a packet's hop in a leaf-spine of 64 hosts, and a third of the cache misses.

use super::agenda::Arrival;
use crate::buffer::size::Measure;
use crate::engine::questions::latency;
use crate::scenario::model::{Line, Scenario};
use crate::units::Time;
use crate::units::ids::StationId;
use std::collections::BTreeMap;

/// Arrivals by day: those of the next days in a ring, a place for each day, and later ones by the round of the ring
/// that contains their days.
///
/// A calendar queue (R. Brown, "Calendar queues", CACM 31(10), 1988) whose days need no order among ports.
#[derive(Debug)]
pub(crate) struct Calendar {
    /// Binary logarithm of the picoseconds of a day.
    bits: u32,
    /// The instant up to which all events have been handled, and its day.
    reached: Time,
    today: u64,
    days: Vec<Vec<Arrival>>,
    /// For each place of the ring whether it has arrivals, 64 to a word.
    used: Vec<u64>,
    /// Arrivals on days for which the ring has no place yet, by round.
    later: BTreeMap<u64, Vec<Arrival>>,
    /// Empty lists of former days, for reuse.
    spare: Vec<Vec<Arrival>>,
    /// For each place of the ring the ports that have events of their own on that day; and those of later days.
    visits: Vec<Vec<StationId>>,
    later_visits: BTreeMap<u64, Vec<StationId>>,
}

/// Shortest and longest ring.
const FEW_DAYS: u64 = 256;
const MOST_DAYS: u64 = 1 << 14;
/// Most large packets that a line may send in one day of the calendar: with more, sorting the arrivals of a day at a port
/// costs too much.
const PACKETS_A_DAY: u64 = 8;
/// Octets of the smallest packet: an IP header.
const SMALLEST: u64 = 20;

impl Calendar {
    /// An empty calendar; no more events happen before `from`.
    pub(crate) fn new(scenario: &Scenario, from: Time) -> Calendar {
        let largest = scenario.vcs.iter().map(|vc| vc.packet).max().unwrap_or_default();
        let lengths = scenario.lines.iter().map(|line| longest_day(scenario, line, largest.into()));
        let bits = lengths.min().unwrap_or_default().max(1).ilog2();
        let ahead = scenario.lines.iter().map(|line| longest_flight(scenario, line, largest.into())).max();
        let days = (ahead.unwrap_or_default() >> bits).clamp(FEW_DAYS, MOST_DAYS).next_power_of_two();
        Calendar {
            bits,
            reached: from,
            today: from.0 >> bits,
            days: vec![Vec::new(); days as usize],
            used: vec![0; days.div_ceil(u64::BITS.into()) as usize],
            later: BTreeMap::new(),
            spare: Vec::new(),
            visits: vec![Vec::new(); days as usize],
            later_visits: BTreeMap::new(),
        }
    }

    /// Add an arrival.
    #[inline]
    pub(crate) fn add(&mut self, arrival: Arrival) {
        let day = self.day_of(arrival.time);
        if day - self.today >= self.days.len() as u64 {
            return self.add_later(day, arrival);
        }
        let place = self.place(day);
        if self.days[place].is_empty() {
            self.begin(place);
        }
        self.days[place].push(arrival);
    }

    /// Add an arrival on a day for which the ring has no place yet.
    #[cold]
    fn add_later(&mut self, day: u64, arrival: Arrival) {
        self.later.entry(self.round(day)).or_default().push(arrival);
    }

    /// Note that a port has an event of its own at `time`.
    #[inline]
    pub(crate) fn visit(&mut self, station: StationId, time: Time) {
        let day = self.day_of(time);
        if day - self.today >= self.days.len() as u64 {
            return self.visit_later(day, station);
        }
        let place = self.place(day);
        self.used[place / 64] |= 1 << (place % 64);
        self.visits[place].push(station);
    }

    #[cold]
    fn visit_later(&mut self, day: u64, station: StationId) {
        if day < self.day_of(Time::NEVER) {
            self.later_visits.entry(day).or_default().push(station);
        }
    }

    /// Mark a place that gets its first arrival.
    #[inline(never)]
    fn begin(&mut self, place: usize) {
        self.used[place / 64] |= 1 << (place % 64);
        if let Some(list) = self.spare.pop() {
            self.days[place] = list;
        }
    }

    /// The day of an instant.
    #[inline]
    fn day_of(&self, time: Time) -> u64 {
        time.0 >> self.bits
    }

    /// Return when a day begins.
    fn start_of(&self, day: u64) -> Time {
        Time(day.checked_mul(1 << self.bits).unwrap_or(Time::NEVER.0))
    }

    /// Return the first day from the present one on that may have arrivals.
    fn first_day(&self) -> Option<u64> {
        let (start, words) = (self.place(self.today), self.used.len());
        let rest = self.used[start / 64] >> (start % 64);
        if rest != 0 {
            return Some(self.today + u64::from(rest.trailing_zeros()));
        }
        let (day, first) = (self.today - (start % 64) as u64, start / 64);
        let found = (1..=words).find(|word| self.used[(first + word) % words] != 0)?;
        Some(day + 64 * found as u64 + u64::from(self.used[(first + found) % words].trailing_zeros()))
    }

    /// Return the first day that may have arrivals, or `called` if that is earlier. Later arrivals move into the ring
    /// as soon as no event is due before their round.
    fn next_day(&mut self, called: u64) -> u64 {
        loop {
            let day = self.first_day().map_or(called, |day| day.min(called));
            let day = self.later_visits.first_key_value().map_or(day, |(first, _)| day.min(*first));
            match self.later.first_entry() {
                Some(entry) if *entry.key() <= day / self.days.len() as u64 => {
                    let (round, arrivals) = entry.remove_entry();
                    self.today = self.today.max(round * self.days.len() as u64);
                    arrivals.into_iter().for_each(|arrival| self.add(arrival));
                }
                _ => return day,
            }
        }
    }

    /// Take the arrivals of a day.
    fn take(&mut self, day: u64, arrivals: &mut Vec<Arrival>, visits: &mut Vec<StationId>) {
        let place = self.place(day);
        arrivals.clear();
        visits.clear();
        std::mem::swap(&mut self.visits[place], visits);
        if let Some(more) = self.later_visits.remove(&day) {
            visits.extend(more);
        }
        self.used[place / 64] &= !(1 << (place % 64));
        if !self.days[place].is_empty() {
            let list = std::mem::take(&mut self.days[place]);
            self.spare.push(std::mem::replace(arrivals, list));
        }
    }

    /// Take the arrivals of the first day before `end` that may have any, or on which a call at `call` is due; those
    /// that are not due on that day before `end` must be added again. Returns the beginning of that day and its end, or
    /// `end` if that is earlier.
    pub(crate) fn take_first(
        &mut self,
        call: Time,
        end: Time,
        arrivals: &mut Vec<Arrival>,
        visits: &mut Vec<StationId>,
    ) -> Option<(Time, Time)> {
        let day = self.next_day(self.day_of(call));
        let start = self.start_of(day);
        if start.max(self.reached) >= end {
            return None; // so the day is not the last of all, after which none begins
        }
        self.reached = self.start_of(day + 1).min(end);
        self.today = self.day_of(self.reached);
        self.take(day, arrivals, visits);
        Some((start, self.reached))
    }

    #[inline]
    fn place(&self, day: u64) -> usize {
        day as usize & (self.days.len() - 1)
    }

    /// Return the round of the ring that contains a day.
    fn round(&self, day: u64) -> u64 {
        day / self.days.len() as u64
    }
}

/// Return the longest day that a line permits: at most the time until its smallest packet can affect another node,
/// and at most the time to send `PACKETS_A_DAY` of the largest packets.
fn longest_day(scenario: &Scenario, line: &Line, largest: u64) -> u64 {
    let time = |octets: u64| line.rate.peak().time_of_bits(8 * octets).0;
    (latency(scenario, line).0 + time(SMALLEST)).min(PACKETS_A_DAY * time(largest))
}

/// Return the longest time from the sending of a packet to its arrival: the time to empty a full buffer, and the
/// latency of the line.
fn longest_flight(scenario: &Scenario, line: &Line, largest: u64) -> u64 {
    let octets = line.port.capacity.limit().map_or(0, |limit| match line.port.measure {
        Measure::Bytes => limit,
        Measure::MemoryCells(size) => limit.saturating_mul(size.octets.into()),
        Measure::Packets | Measure::Cells => limit.saturating_mul(largest),
    });
    latency(scenario, line).0.saturating_add(line.rate.peak().time_of_bits(octets.saturating_mul(8)).0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A calendar of few days, so that arrivals are many rounds away.
    fn small(bits: u32) -> Calendar {
        Calendar {
            bits,
            reached: Time::ZERO,
            today: 0,
            days: vec![Vec::new(); 256],
            used: vec![0; 4],
            later: BTreeMap::new(),
            spare: Vec::new(),
            visits: vec![Vec::new(); 256],
            later_visits: BTreeMap::new(),
        }
    }

    proptest! {
        #[test]
        fn every_arrival_is_taken_on_its_day_however_far_away_that_is(
            times in prop::collection::vec((0u64..63).prop_flat_map(|bits| 0u64..1 << bits.min(24)), 0..200),
            bits in 3u32..12,
            call in 0u64..1 << 24,
            pause in 0u64..1 << 24,
        ) {
            let mut calendar = small(bits);
            // every third one is a visit instead, at the port of that number
            let visited: Vec<(StationId, Time)> =
                (0..).zip(&times).filter(|(port, _)| port % 3 == 2).map(|(port, time)| (StationId(port), Time(*time))).collect();
            visited.iter().for_each(|&(port, time)| calendar.visit(port, time));
            let times: Vec<u64> = (0..).zip(times).filter(|(place, _)| place % 3 != 2).map(|(_, time)| time).collect();
            let (mut ports, mut seen) = (Vec::new(), Vec::new());
            times.iter().for_each(|time| calendar.add(Arrival { time: Time(*time), ..Arrival::default() }));
            let (mut taken, mut arrivals, mut called) = (Vec::new(), Vec::new(), Time(call));
            for end in [Time(pause), Time(1 << 25)] {
                while let Some((start, until)) = calendar.take_first(called, end, &mut arrivals, &mut ports) {
                    prop_assert!(start.0 >> bits == (until.0 - 1) >> bits, "a period within one day");
                    prop_assert!(called >= start, "no call is passed over");
                    called = if called < until { Time::NEVER } else { called };
                    for port in ports.drain(..) {
                        let &(_, time) = visited.iter().find(|(other, _)| *other == port).unwrap();
                        if time < until { seen.push((port, start, time)) } else { calendar.visit(port, time) }
                    }
                    for arrival in arrivals.drain(..) {
                        if arrival.time < until {
                            taken.push((start, arrival.time));
                        } else {
                            calendar.add(arrival);
                        }
                    }
                }
            }
            prop_assert!(called == Time::NEVER && taken.iter().all(|(start, time)| start <= time));
            prop_assert!(seen.iter().all(|(_, start, time)| start.0 >> bits == time.0 >> bits), "on their days");
            seen.sort_unstable();
            let seen: Vec<(StationId, Time)> = seen.into_iter().map(|(port, _, time)| (port, time)).collect();
            prop_assert_eq!(seen, visited);
            let (mut expected, taken) = (times, taken.iter().map(|(_, time)| time.0));
            expected.sort_unstable();
            let mut taken: Vec<u64> = taken.collect();
            taken.sort_unstable();
            prop_assert_eq!(taken, expected);
        }
    }
}
