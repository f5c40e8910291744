//! The event queue: a quaternary heap of sixteen-octet keys, and rows for events that are added in order.

use std::collections::VecDeque;

use crate::units::ids::LineId;
use crate::units::{Span, Time};

/// Class of an event; classes set the order of simultaneous events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum Class {
    /// The last bit of a unit leaves a port.
    Free = 0,
    /// The clock of a port's policy ticks.
    Tick = 1,
    /// The first credit in flight to a port arrives there.
    Credit = 2,
    /// The first unit on a line arrives at the end of the line.
    Arrive = 3,
    /// A timer of a flow's end fires.
    Timer = 4,
}

/// An event: its time, its class, and its port, line or flow end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Instant of the event.
    pub time: Time,
    /// Class of the event.
    pub class: Class,
    /// Order among events of the same instant and class, before the entity: at most `LAST_RANK`, see
    /// [`Ties`](super::Ties).
    pub rank: u32,
    /// The port, line or flow end: below 2³⁰.
    pub entity: u32,
}

/// Number of bits of an entity in a key.
const ENTITY_BITS: u32 = 30;
/// Number of bits of a rank in a key. The class has the three bits above entity and rank.
pub(super) const RANK_BITS: u32 = 31;
/// The greatest rank.
pub(crate) const LAST_RANK: u32 = u32::MAX >> (u32::BITS - RANK_BITS);

impl Event {
    /// Build an event of a class without ranks.
    pub fn new(time: Time, class: Class, entity: u32) -> Event {
        Event { time, class, rank: 0, entity }
    }

    /// Return the event as a key: keys compare as events do.
    #[inline]
    pub(crate) fn key(self) -> u128 {
        debug_assert!(
            self.rank <= LAST_RANK && self.entity >> ENTITY_BITS == 0,
            "a key has room for {self:?}"
        );
        let class = u64::from(self.class as u32) << (ENTITY_BITS + RANK_BITS);
        let rank = u64::from(self.rank) << ENTITY_BITS;
        u128::from(self.time.0) << 64 | u128::from(class | rank | u64::from(self.entity))
    }

    /// Return the event of a key.
    #[inline]
    pub(crate) fn of_key(key: u128) -> Event {
        let low = key as u64;
        let class = match low >> (ENTITY_BITS + RANK_BITS) {
            0 => Class::Free,
            1 => Class::Tick,
            2 => Class::Credit,
            3 => Class::Arrive,
            _ => Class::Timer,
        };
        let rank = (low >> ENTITY_BITS) as u32 & LAST_RANK;
        Event {
            time: time_of(key),
            class,
            rank,
            entity: low as u32 & (u32::MAX >> (u32::BITS - ENTITY_BITS)),
        }
    }
}

/// A series: events that are added in the order in which they are due, with few exceptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Series(u64);

impl Series {
    /// Return the series of events that are added `delay`, or a picosecond or two more, before they are due.
    pub fn of(delay: Span) -> Series {
        Series(delay.0)
    }

    /// Return the series of events that a port causes `delay` after an event there.
    pub fn behind(port: LineId, delay: Span) -> Series {
        Series(delay.0 ^ (u64::from(port.0) + 1).rotate_right(20))
    }
}

/// Pending events, earliest first; events with equal keys are identical.
///
/// Events that are due a constant time after they are added are added in order: the ends of transmissions of one
/// length, arrivals over lines of one delay, or after one port. Such events queue in a row for each [`Series`], and
/// only the heads of a few rows and the heap, which takes all other events, must be compared.
///
/// A handled event of the heap usually causes the next one of its kind. So the place of the last removed event stays
/// open: if a new event is added next, it sinks from there, at half the cost of a removal and an insertion.
#[derive(Clone, Debug)]
pub struct EventQueue {
    /// The heap, padded with [`NOTHING`] so that every node has all its children.
    heap: Vec<u128>,
    len: usize,
    open: bool,
    /// Number of rows in use.
    used: usize,
    /// For each row: its series, its first key, its last key, and the keys after the first.
    series: [Series; MOST_ROWS],
    firsts: [u128; MOST_ROWS],
    lasts: [u128; MOST_ROWS],
    rows: [VecDeque<u128>; MOST_ROWS],
}

/// Number of rows beyond which the heap is cheaper than comparing the heads of rows.
const MOST_ROWS: usize = 8;
/// A key after all others.
const NOTHING: u128 = u128::MAX;
/// Number of children of a node: four, so that the heap is half as deep and a node's children share cache lines.
const ARITY: usize = 4;

impl Default for EventQueue {
    fn default() -> Self {
        EventQueue {
            heap: vec![NOTHING; ARITY + 1],
            len: 0,
            open: false,
            used: 0,
            series: [Series(0); MOST_ROWS],
            firsts: [NOTHING; MOST_ROWS],
            lasts: [0; MOST_ROWS],
            rows: Default::default(),
        }
    }
}

impl EventQueue {
    /// Return the number of pending events.
    pub fn len(&self) -> usize {
        let ahead = self.firsts.iter().filter(|first| **first != NOTHING).count();
        self.len - usize::from(self.open) + ahead + self.rows.iter().map(VecDeque::len).sum::<usize>()
    }

    /// Return whether no event is pending.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Add an event.
    #[inline]
    pub fn push(&mut self, event: Event) {
        self.push_key(event.key());
    }

    fn push_key(&mut self, key: u128) {
        if std::mem::take(&mut self.open) { self.sink(key) } else { self.rise(key) }
    }

    /// Add the next event of a series.
    #[inline]
    pub fn push_next(&mut self, series: Series, event: Event) {
        self.push_key_next(series, event.key());
    }

    fn push_key_next(&mut self, series: Series, key: u128) {
        match self.series.iter().take(self.used).position(|other| *other == series) {
            Some(place) if key >= self.lasts[place] => {
                self.lasts[place] = key;
                if time_of(self.firsts[place]) == Time::NEVER {
                    self.firsts[place] = key;
                } else {
                    self.rows[place].push_back(key);
                }
            }
            Some(place) => self.push_ahead(place, key),
            None => self.push_first(series, key),
        }
    }

    /// Remove and return the earliest event, if it is before `end`.
    #[inline(always)]
    pub fn pop_before(&mut self, end: Time) -> Option<Event> {
        if std::mem::take(&mut self.open) {
            self.close();
        }
        let (mut first, mut place) = (self.heap[0], MOST_ROWS);
        for (row, &key) in self.firsts.iter().take(self.used).enumerate() {
            if key < first {
                (first, place) = (key, row);
            }
        }
        if time_of(first) >= end {
            return None;
        }
        match self.rows.get_mut(place) {
            Some(row) => self.firsts[place] = row.pop_front().unwrap_or(NOTHING),
            None => self.open = true,
        }
        Some(Event::of_key(first))
    }

    /// Add an event that is due before the last event of its row.
    #[cold]
    fn push_ahead(&mut self, place: usize, key: u128) {
        let (first, row) = (&mut self.firsts[place], &mut self.rows[place]);
        let (key, behind) = (key.max(*first), key.min(*first));
        *first = behind;
        if key != NOTHING {
            row.insert(row.partition_point(|other| *other < key), key);
        }
        self.lasts[place] = row.back().copied().unwrap_or(behind);
    }

    /// Add the first event of a series.
    #[cold]
    fn push_first(&mut self, series: Series, key: u128) {
        if self.used == MOST_ROWS {
            return self.push_key(key);
        }
        (self.series[self.used], self.firsts[self.used], self.lasts[self.used]) = (series, key, key);
        self.used += 1;
    }

    /// Fill the open place with the last event of the heap.
    #[inline(never)]
    fn close(&mut self) {
        self.len -= 1;
        let last = std::mem::replace(&mut self.heap[self.len], NOTHING);
        if self.len > 0 {
            self.sink(last);
        }
    }

    /// Add `key` at the end of the heap and move it up to its place.
    fn rise(&mut self, key: u128) {
        let mut hole = self.len;
        self.len += 1;
        if self.heap.len() < self.len * ARITY + 1 {
            self.heap.resize(2 * self.len * ARITY + 1, NOTHING);
        }
        while hole > 0 {
            let parent = (hole - 1) / ARITY;
            if self.heap[parent] <= key {
                break;
            }
            self.heap[hole] = self.heap[parent];
            hole = parent;
        }
        self.heap[hole] = key;
    }

    /// Return the earliest event.
    pub(crate) fn first(&self) -> Option<Event> {
        let first = self.first_key();
        (first != NOTHING).then(|| Event::of_key(first))
    }

    /// Return when the earliest event is due.
    pub(crate) fn first_time(&self) -> Option<Time> {
        let first = self.first_key();
        (first != NOTHING).then_some(time_of(first))
    }

    /// Return the key of the earliest event, or [`NOTHING`].
    pub(crate) fn first_key(&self) -> u128 {
        // the root is vacant, so the least key is among its children
        let [root, children @ ..] =
            self.heap.first_chunk::<{ 1 + ARITY }>().expect("a root has all its children");
        let first = if self.open { children.iter().copied().min().unwrap_or(NOTHING) } else { *root };
        self.firsts.iter().copied().fold(first, u128::min)
    }

    /// Put `key` at the vacant root and move it down to its place.
    fn sink(&mut self, key: u128) {
        let mut hole = 0;
        while hole * ARITY + 1 < self.len {
            let children = self.heap[hole * ARITY + 1..].first_chunk();
            let [a, b, c, d] = *children.expect("every node has all its children");
            let (left, right) = (if b < a { (b, 1) } else { (a, 0) }, if d < c { (d, 3) } else { (c, 2) });
            let (least, offset) = if right.0 < left.0 { right } else { left };
            if key <= least {
                break;
            }
            self.heap[hole] = least;
            hole = hole * ARITY + 1 + offset;
        }
        self.heap[hole] = key;
    }
}

/// Return when the event of a key is due; `Time::NEVER` for [`NOTHING`].
#[inline]
fn time_of(key: u128) -> Time {
    Time((key >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn events_of_one_instant_come_in_the_documented_order() {
        let mut queue = EventQueue::default();
        let event = |class, entity| Event::new(Time(5), class, entity);
        let order = [
            event(Class::Free, 0),
            event(Class::Free, 3),
            event(Class::Tick, 1),
            event(Class::Credit, 4),
            event(Class::Arrive, 2),
            event(Class::Timer, 0),
        ];
        let ranked = Event { rank: 1 << 30, ..event(Class::Arrive, 1) };
        let order = [&order[..5], &[ranked], &order[5..]].concat();
        for event in order.iter().rev() {
            queue.push(*event);
        }
        assert_eq!(std::iter::from_fn(|| queue.pop_before(Time::NEVER)).collect::<Vec<_>>(), order);
    }

    proptest! {
        #[test]
        fn taking_and_adding_in_turn_is_a_priority_queue(steps in prop::collection::vec((0u64..30, 0u8..4), 1..300)) {
            let (mut queue, mut model) = (EventQueue::default(), std::collections::BTreeSet::new());
            for (entity, (time, step)) in (0u32..).zip(steps) {
                if step == 0 {
                    let expected = model.first().copied().filter(|(first, _)| *first < 20);
                    expected.iter().for_each(|first| { model.remove(first); });
                    prop_assert_eq!(queue.pop_before(Time(20)).map(|e| (e.time.0, e.entity)), expected);
                } else {
                    let event = Event::new(Time(time), Class::Free, entity);
                    if step == 1 { queue.push(event) } else { queue.push_next(Series::of(Span(time % 12)), event) }
                    model.insert((time, entity));
                }
                prop_assert_eq!(queue.len(), model.len());
                prop_assert_eq!(queue.first_time().map(|time| time.0), model.first().map(|first| first.0));
            }
        }

        #[test]
        fn events_leave_in_the_order_of_their_keys(times in prop::collection::vec(0u64..50, 0..300)) {
            let mut queue = EventQueue::default();
            let mut expected: Vec<(u64, u32)> = times.iter().zip(0u32..).map(|(&time, i)| (time, i)).collect();
            for &(time, entity) in &expected {
                queue.push(Event::new(Time(time), Class::Arrive, entity));
            }
            expected.sort_unstable();
            let got: Vec<_> = std::iter::from_fn(|| queue.pop_before(Time::NEVER)).map(|e| (e.time.0, e.entity)).collect();
            prop_assert_eq!(got, expected);
        }
    }
}
