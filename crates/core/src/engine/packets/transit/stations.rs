//! Stations: ports that judge every packet, with an order of events of their own.
//!
//! # What it assumes
//! The ports of a station depend only on packets and pause frames from other nodes, and those of a day are known when it begins
//! (`calendar.rs`).
//!
//! # What it skips
//! The order between the events of different stations: ends of transmissions, ticks of policies, actions of memories and of gates, and
//! pause frames that arrive.
//!
//! # Why that is exact
//! A station is one port with a buffer of its own, or all ports of a memory and those that carry its pause frames. Within a station
//! events keep the order of the kernel, and what it sends reaches another node only after the day: a pause frame is longer than the
//! smallest packet. Ports that could pause each other in a cycle are one station, because the network searches for such cycles when a
//! frame arrives.
//!
//! # What turns it off
//! A port of a host, which also gets packets within the day; a policer before several ports, which sees the arrivals at all of them:
//! these, and all that would be of one station with them, take part in the common order.
//!
//! # What it saves
//! Without stations a leaf-spine with CoDel at every port takes 1.4 times as many instructions: 1.1 times by the order of events,
//! and without stations no port can have rows (`in_order.rs`).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Transit;
use crate::kernel::queue::Event;
use crate::units::Time;
use crate::units::ids::{IdVec, LineId, StationId};

/// The events of the ports of each station. A station has the number of its port, or that of its memory beyond those of ports.
#[derive(Debug)]
pub(crate) struct Stations {
    /// For every port, then for every memory, its station; empty if there is none.
    of: IdVec<StationId, Option<StationId>>,
    /// For every number of a station its events.
    events: IdVec<StationId, StationEvents>,
}

/// The keys of the pending events of one station: the first key, and the others. Most stations have one.
#[derive(Clone, Debug)]
struct StationEvents {
    first: u128,
    others: BinaryHeap<Reverse<u128>>,
    /// The next instant for which the calendar has a visit.
    visited: Time,
}

/// The key that follows those of all events.
const NONE: u128 = u128::MAX;

impl Default for StationEvents {
    fn default() -> StationEvents {
        StationEvents { first: NONE, others: BinaryHeap::new(), visited: Time::NEVER }
    }
}

impl StationEvents {
    #[inline]
    fn push(&mut self, key: u128) {
        let later = self.first.max(key);
        self.first = self.first.min(key);
        if later != NONE {
            self.others.push(Reverse(later));
        }
    }

    #[inline]
    fn pop(&mut self) -> u128 {
        let next = if self.others.is_empty() { None } else { self.others.pop() };
        std::mem::replace(&mut self.first, next.map_or(NONE, |Reverse(key)| key))
    }

    /// Return when a station that has handled all events before `now`, and must choose a packet when that is `due`, must be visited next,
    /// unless the calendar has an earlier visit.
    #[inline]
    fn next_visit(&mut self, now: Time, due: Time) -> Option<Time> {
        let next = time_of(self.first).min(due);
        if next == Time::NEVER || self.visited >= now && self.visited <= next {
            return None;
        }
        self.visited = next;
        Some(next)
    }
}

/// The instant of an event with this key.
#[inline]
fn time_of(key: u128) -> Time {
    Time((key >> u64::BITS) as u64)
}

impl Stations {
    /// Build stations without events, given that of each port and memory.
    pub(super) fn new(of: IdVec<StationId, Option<StationId>>) -> Stations {
        Stations { events: IdVec::filled(StationEvents::default(), of.len()), of }
    }

    /// Return whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// Return for each number of a station whether a port of that number is its only member.
    pub(super) fn alone(&self) -> IdVec<StationId, bool> {
        let mut members = IdVec::filled(0, self.of.len());
        self.of.iter().flatten().for_each(|station| members[*station] += 1);
        members.pairs().map(|(number, count)| self.of[number] == Some(number) && *count == 1).collect()
    }

    /// Return when the next event of a station is due.
    #[inline(always)]
    pub(super) fn next_of(&self, station: StationId) -> Time {
        time_of(self.events[station].first)
    }

    /// Return the station of a port.
    #[inline]
    pub(super) fn of(&self, port: LineId) -> Option<StationId> {
        self.of_member(port.station())
    }

    /// Return the station of a port or a memory.
    #[inline]
    fn of_member(&self, member: StationId) -> Option<StationId> {
        *self.of.get(member)?
    }

    /// Add an event to the station of a port or a memory; returns whether that has one.
    #[inline]
    pub(super) fn push(&mut self, member: StationId, event: Event) -> bool {
        let station = self.of_member(member);
        station.into_iter().for_each(|station| self.events[station].push(event.key()));
        station.is_some()
    }

    /// Take the next event of a station, if it is due before `until`.
    #[inline]
    pub(crate) fn take(&mut self, station: StationId, until: Time) -> Option<Event> {
        let events = &mut self.events[station];
        (time_of(events.first) < until).then(|| Event::of_key(events.pop()))
    }
}

impl Transit {
    /// Return whether there are stations.
    pub(crate) fn has_stations(&self) -> bool {
        !self.judging.stations.is_empty()
    }

    /// Return whether a number of a port, or of a memory beyond those of ports, is that of a station.
    #[inline]
    pub(crate) fn is_station(&self, turn: StationId) -> bool {
        self.judging.stations.of_member(turn) == Some(turn)
    }

    /// Take the next event of a station, if it is due before `until`.
    #[inline]
    pub(crate) fn take_own(&mut self, station: StationId, until: Time) -> Option<Event> {
        self.judging.stations.take(station, until)
    }

    /// Note in the calendar when a station that has handled all events before `now` must be visited next.
    #[inline]
    pub(crate) fn note_visit(&mut self, station: StationId, now: Time) {
        let due = self.judging.ordered.due(LineId::new(station.index()));
        if let Some(next) = self.judging.stations.events[station].next_visit(now, due) {
            self.arrivals.visit(station, next);
        }
    }

    /// Note in the calendar that a port's station must be visited at `time`, on a later day, for a frame from another node.
    pub(super) fn note_frame(&mut self, port: LineId, time: Time) {
        let Some(station) = self.judging.stations.of(port) else { return };
        let visited = &mut self.judging.stations.events[station].visited;
        if time < *visited {
            *visited = time;
            self.arrivals.visit(station, time);
        }
    }

    /// Record that the calendar has no visit of a station any more.
    #[inline]
    pub(crate) fn end_visit(&mut self, station: StationId) {
        self.judging.stations.events[station].visited = Time::NEVER;
    }

    /// Note the first visit of each station.
    pub(crate) fn note_first_visits(&mut self) {
        self.judging.stations.events.keys().for_each(|station| self.note_visit(station, Time::ZERO));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::queue::Class;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_events_of_a_station_come_in_the_order_of_the_kernel(
            steps in prop::collection::vec((0u64..50, 0u32..4, any::<bool>()), 1..200),
        ) {
            let (mut events, mut model) = (StationEvents::default(), std::collections::BTreeSet::new());
            for (time, entity, adds) in steps {
                let class = if entity % 2 == 0 { Class::Free } else { Class::Tick };
                let key = Event::new(Time(time), class, entity).key();
                if adds && model.insert(key) {
                    events.push(key);
                } else if !adds {
                    prop_assert_eq!(events.pop(), model.pop_first().unwrap_or(NONE));
                }
                prop_assert_eq!(events.first, model.first().copied().unwrap_or(NONE));
            }
        }
    }

    #[test]
    fn a_station_has_one_visit_at_a_time_unless_an_earlier_event_is_added() {
        let event = |time| Event::new(Time(time), Class::Free, 0).key();
        let mut events = StationEvents::default();
        assert_eq!(events.next_visit(Time(1), Time::NEVER), None);
        events.push(event(90));
        assert_eq!(events.next_visit(Time(1), Time::NEVER), Some(Time(90)));
        assert_eq!(events.next_visit(Time(2), Time::NEVER), None);
        events.push(event(40));
        assert_eq!(events.next_visit(Time(3), Time::NEVER), Some(Time(40)));
        assert_eq!(events.pop(), event(40));
        assert_eq!(
            events.next_visit(Time(41), Time(60)),
            Some(Time(60)),
            "a packet must be chosen before, and the visit at 40 is over"
        );
        assert_eq!(events.next_visit(Time(61), Time::NEVER), Some(Time(90)));
    }
}
