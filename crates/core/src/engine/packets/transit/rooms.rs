//! Rooms: ports that judge every packet, with an order of events of their own.
//!
//! # What it assumes
//! The ports of a room depend only on packets from other nodes, and those of a day are known when it begins (`calendar.rs`).
//!
//! # What it skips
//! The order between the events of different rooms: ends of transmissions, ticks of policies and actions of memories.
//!
//! # Why that is exact
//! A room is one port with a buffer of its own, or all ports of a memory. Within a room events keep the order of the kernel, and
//! what it sends reaches another node only after the day.
//!
//! # What turns it off
//! A port of a host, which also gets packets within the day; pauses and credits, which a memory or a receiver may cause at other
//! ports: these take part in the common order.
//!
//! # What it saves
//! Without rooms a leaf-spine with CoDel at every port takes 1.2 times as many instructions.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::Transit;
use crate::kernel::queue::Event;
use crate::scenario::model::Scenario;
use crate::units::Time;

/// The keys of the pending events of one room: the first one, and the others. Most rooms have one.
#[derive(Clone, Debug)]
struct RoomEvents {
    first: u128,
    others: BinaryHeap<Reverse<u128>>,
}

/// The key that follows those of all events.
const NONE: u128 = u128::MAX;

impl Default for RoomEvents {
    fn default() -> RoomEvents {
        RoomEvents { first: NONE, others: BinaryHeap::new() }
    }
}

impl RoomEvents {
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
}

/// The instant of an event with this key.
#[inline]
fn time_of(key: u128) -> Time {
    Time((key >> u64::BITS) as u64)
}

/// The pending events of each room. A room has the number of its port, or that of its memory beyond those of ports.
#[derive(Debug)]
pub(crate) struct Rooms {
    /// For every port, then for every memory, its room; empty if there is none.
    of: Vec<Option<u32>>,
    /// For every number of a room its events.
    events: Vec<RoomEvents>,
    /// For every room the next instant for which the calendar has a visit.
    visited: Vec<Time>,
}

impl Rooms {
    /// Rooms without events, given the room of each port.
    pub(super) fn new(mut of: Vec<Option<u32>>, scenario: &Scenario) -> Rooms {
        if of.is_empty() {
            return Rooms { of, events: Vec::new(), visited: Vec::new() };
        }
        let all = scenario.lines.len() + scenario.memories.len();
        let is_room = |room: &u32| of.contains(&Some(*room));
        let memories: Vec<Option<u32>> =
            (of.len() as u32..all as u32).map(|room| Some(room).filter(is_room)).collect();
        of.extend(memories);
        Rooms { of, events: vec![RoomEvents::default(); all], visited: vec![Time::NEVER; all] }
    }

    /// Return whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.of.is_empty()
    }

    /// Return the room of a port.
    #[inline]
    pub(super) fn of(&self, port: u32) -> Option<u32> {
        *self.of.get(port as usize)?
    }

    /// Add an event to the room of its port or memory; returns whether that has one.
    #[inline]
    pub(super) fn push(&mut self, event: Event) -> bool {
        let room = self.of(event.entity);
        room.into_iter().for_each(|room| self.events[room as usize].push(event.key()));
        room.is_some()
    }

    /// Take the next event of a room, if it is due before `until`.
    #[inline]
    pub(crate) fn take(&mut self, room: u32, until: Time) -> Option<Event> {
        let events = &mut self.events[room as usize];
        (time_of(events.first) < until).then(|| Event::of_key(events.pop()))
    }

    /// Return when a room that has handled all events before `now` must be visited next, unless the calendar has an earlier visit.
    #[inline]
    pub(crate) fn next_visit(&mut self, room: u32, now: Time) -> Option<Time> {
        let (next, visited) = (time_of(self.events[room as usize].first), &mut self.visited[room as usize]);
        if next == Time::NEVER || *visited >= now && *visited <= next {
            return None;
        }
        *visited = next;
        Some(next)
    }
}

impl Transit {
    /// Return whether there are rooms.
    pub(crate) fn has_rooms(&self) -> bool {
        !self.asked.rooms.is_empty()
    }

    /// Return whether a number of a port, or of a memory beyond those of ports, is that of a room.
    #[inline]
    pub(crate) fn has_room(&self, place: u32) -> bool {
        self.asked.rooms.of(place) == Some(place)
    }

    /// Take the next event of a room, if it is due before `until`.
    #[inline]
    pub(crate) fn take_own(&mut self, room: u32, until: Time) -> Option<Event> {
        self.asked.rooms.take(room, until)
    }

    /// Note in the calendar when a room that has handled all events before `now` must be visited next.
    #[inline]
    pub(crate) fn note_visit(&mut self, room: u32, now: Time) {
        if let Some(next) = self.asked.rooms.next_visit(room, now) {
            self.arrivals.visit(room, next);
        }
    }

    /// Record that the calendar has no visit of a room any more.
    #[inline]
    pub(crate) fn end_visit(&mut self, room: u32) {
        self.asked.rooms.visited[room as usize] = Time::NEVER;
    }

    /// Note the first visit of each room.
    pub(crate) fn note_first_visits(&mut self) {
        (0..self.asked.rooms.events.len() as u32).for_each(|room| self.note_visit(room, Time::ZERO));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::queue::Class;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_events_of_a_room_come_in_the_order_of_the_kernel(
            steps in prop::collection::vec((0u64..50, 0u32..4, any::<bool>()), 1..200),
        ) {
            let (mut events, mut model) = (RoomEvents::default(), std::collections::BTreeSet::new());
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
    fn a_room_has_one_visit_at_a_time_unless_an_earlier_event_is_added() {
        let event = |time| Event::new(Time(time), Class::Free, 0).key();
        let mut rooms =
            Rooms { of: vec![Some(0)], events: vec![RoomEvents::default()], visited: vec![Time::NEVER] };
        assert_eq!(rooms.next_visit(0, Time(1)), None);
        rooms.events[0].push(event(90));
        assert_eq!(rooms.next_visit(0, Time(1)), Some(Time(90)));
        assert_eq!(rooms.next_visit(0, Time(2)), None);
        rooms.events[0].push(event(40));
        assert_eq!(rooms.next_visit(0, Time(3)), Some(Time(40)));
        assert_eq!(rooms.take(0, Time(40)), None);
        assert_eq!(rooms.take(0, Time(41)).map(|event| event.time), Some(Time(40)));
        assert_eq!(rooms.next_visit(0, Time(41)), Some(Time(90)), "the visit at 40 is over");
    }
}
