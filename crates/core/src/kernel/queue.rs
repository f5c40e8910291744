//! The event queue: a quaternary heap of sixteen-octet keys.

use crate::units::Time;

/// What happens: the class, in the order of simultaneous events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum Class {
    /// The last bit of a unit leaves a port.
    Free = 0,
    /// The clock of a port's policy ticks.
    Tick = 1,
    /// The first credit under way to a port reaches it.
    Credit = 2,
    /// The first unit on a line reaches its end.
    Arrive = 3,
    /// A timer of a flow's end goes off.
    Timer = 4,
}

/// An event: when, what, and to which port, line or flow end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// When.
    pub time: Time,
    /// What.
    pub class: Class,
    /// Order among events of the same instant and class, before the entity: see [`Ties`](super::Ties).
    pub rank: u32,
    /// To whom.
    pub entity: u32,
}

/// The classes by their numbers.
const CLASSES: [Class; 5] = [Class::Free, Class::Tick, Class::Credit, Class::Arrive, Class::Timer];
/// Bits of an entity and of a rank in a key; the class has the three above them.
const ENTITY_BITS: u32 = 30;
const RANK_BITS: u32 = 31;

impl Event {
    /// An event whose class needs no rank.
    pub fn new(time: Time, class: Class, entity: u32) -> Event {
        Event { time, class, rank: 0, entity }
    }

    fn key(self) -> u128 {
        let class = u64::from(self.class as u32) << (ENTITY_BITS + RANK_BITS);
        let rank = u64::from(self.rank >> (u32::BITS - RANK_BITS)) << ENTITY_BITS;
        u128::from(self.time.0) << 64 | u128::from(class | rank | u64::from(self.entity))
    }

    fn of_key(key: u128) -> Event {
        let low = key as u64;
        let class = CLASSES[(low >> (ENTITY_BITS + RANK_BITS)) as usize];
        let rank = ((low >> ENTITY_BITS) as u32) << (u32::BITS - RANK_BITS);
        Event {
            time: Time((key >> 64) as u64),
            class,
            rank,
            entity: low as u32 & (u32::MAX >> (u32::BITS - ENTITY_BITS)),
        }
    }
}

/// Pending events, earliest first; equal keys are one and the same event.
///
/// An event that is handled usually brings about the next one of its kind. So the place of the event taken last stays
/// open until it is known whether a new event can sink from there, which costs half of taking one and adding another.
#[derive(Clone, Debug, Default)]
pub struct EventQueue {
    heap: Vec<u128>,
    open: bool,
}

/// Children of a node: four, so that the heap is half as deep and a node's children share cache lines.
const ARITY: usize = 4;

impl EventQueue {
    /// Number of pending events.
    pub fn len(&self) -> usize {
        self.heap.len() - usize::from(self.open)
    }

    /// Whether nothing is pending.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Add an event.
    pub fn push(&mut self, event: Event) {
        let key = event.key();
        if std::mem::take(&mut self.open) {
            return self.sink(key);
        }
        self.heap.push(key);
        let mut hole = self.heap.len() - 1;
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

    /// Take the earliest event, if it is before `end`.
    pub fn pop_before(&mut self, end: Time) -> Option<Event> {
        if std::mem::take(&mut self.open) {
            let last = self.heap.pop()?;
            if !self.heap.is_empty() {
                self.sink(last);
            }
        }
        let first = Event::of_key(*self.heap.first()?);
        (first.time < end).then(|| {
            self.open = true;
            first
        })
    }

    /// Put `key` where the root was and let it sink to its place.
    fn sink(&mut self, key: u128) {
        let heap = &mut self.heap[..];
        let mut hole = 0;
        loop {
            let children = hole * ARITY + 1;
            let Some(group) = heap.get(children..heap.len().min(children + ARITY)) else { break };
            let Some((offset, &least)) = group.iter().enumerate().min_by_key(|(_, key)| **key) else { break };
            if key <= least {
                break;
            }
            heap[hole] = least;
            hole = children + offset;
        }
        heap[hole] = key;
    }
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
        let ranked = Event { rank: 1 << 31, ..event(Class::Arrive, 1) };
        let order = [&order[..5], &[ranked], &order[5..]].concat();
        for event in order.iter().rev() {
            queue.push(*event);
        }
        assert_eq!(std::iter::from_fn(|| queue.pop_before(Time::NEVER)).collect::<Vec<_>>(), order);
    }

    proptest! {
        #[test]
        fn taking_and_adding_in_turn_is_a_priority_queue(steps in prop::collection::vec((0u64..30, 0u8..3), 1..300)) {
            let (mut queue, mut model) = (EventQueue::default(), std::collections::BTreeSet::new());
            for (entity, (time, step)) in (0u32..).zip(steps) {
                if step == 0 {
                    let expected = model.first().copied().filter(|(first, _)| *first < 20);
                    expected.iter().for_each(|first| { model.remove(first); });
                    prop_assert_eq!(queue.pop_before(Time(20)).map(|e| (e.time.0, e.entity)), expected);
                } else {
                    queue.push(Event::new(Time(time), Class::Free, entity));
                    model.insert((time, entity));
                }
                prop_assert_eq!(queue.len(), model.len());
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
