//! Calls of hosts and of ports, most of which are timers in the far future.
//!
//! # What it assumes
//! Most timers are set again before they fire.
//!
//! # What it skips
//! A heap for timers in the far future: they wait unsorted among others of their slot.
//!
//! # Why that is exact
//! Only calls whose slot has been reached can be due, and these are kept in order (G. Varghese and T. Lauck, "Hashed
//! and hierarchical timing wheels", SOSP 1987).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::kernel::queue::Event;
use crate::units::Time;

/// Pending calls, in the order of [`crate::kernel`].
///
/// A timing wheel (G. Varghese and T. Lauck, "Hashed and hierarchical timing wheels", SOSP 1987): time passes in
/// rounds of slots, and a call waits unsorted among others of its slot until this slot is reached. Only the few calls
/// whose slot has been reached are kept in order. As long as a call is pending, at least one call is among these.
#[derive(Debug, Default)]
pub(crate) struct TimerWheel {
    /// Keys of the calls whose slot has been reached.
    near: BinaryHeap<Reverse<u128>>,
    /// The next slot, counted from time zero.
    next: u64,
    /// For each slot of a round the keys of the calls that wait for it, in this round or a later one.
    slots: Vec<Vec<u128>>,
    waiting: usize,
}

/// Duration of a slot in bits: 2³³ ps are 8.6 ms. Next, slots in a round, which takes 2.2 s.
const SLOT_BITS: u32 = 33;
const SLOTS: u64 = 256;

impl TimerWheel {
    /// Add a call.
    #[inline]
    pub(crate) fn push(&mut self, call: Event) {
        let (key, slot) = (call.key(), call.time.0 >> SLOT_BITS);
        if self.near.is_empty() {
            self.next = slot + 1;
        }
        if slot < self.next {
            return self.near.push(Reverse(key));
        }
        if self.slots.is_empty() {
            self.slots.resize(SLOTS as usize, Vec::new());
        }
        self.slots[(slot % SLOTS) as usize].push(key);
        self.waiting += 1;
    }

    /// Return when the first call is due; `Time::NEVER` without calls.
    #[inline]
    pub(crate) fn first_time(&self) -> Time {
        Time((self.first_key() >> u64::BITS) as u64)
    }

    /// Return the key of the first call; without calls, a key after all others.
    #[inline]
    pub(crate) fn first_key(&self) -> u128 {
        self.near.peek().map_or(u128::MAX, |key| key.0)
    }

    /// Remove and return the first call.
    pub(crate) fn pop(&mut self) -> Option<Event> {
        let Reverse(key) = self.near.pop()?;
        let round = self.next + SLOTS;
        while self.near.is_empty() && self.waiting > 0 {
            if self.next == round {
                self.skip(); // all waiting calls belong to a later round
            }
            self.turn();
        }
        Some(Event::of_key(key))
    }

    /// Advance to the next slot.
    fn turn(&mut self) {
        let keys = &mut self.slots[(self.next % SLOTS) as usize];
        self.next += 1;
        let before = self.near.len();
        self.near.extend(keys.extract_if(.., |key| slot_of(*key) < self.next).map(Reverse));
        self.waiting -= self.near.len() - before;
    }

    /// Advance to the next slot for which a call waits.
    #[cold]
    fn skip(&mut self) {
        let slots = self.slots.iter().flatten().map(|key| slot_of(*key));
        self.next = slots.min().unwrap_or(self.next);
    }
}

/// Return the slot of a call, counted from time zero.
fn slot_of(key: u128) -> u64 {
    (key >> (SLOT_BITS + u64::BITS)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::queue::Class;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn calls_come_in_the_order_of_the_kernel_however_far_away_they_are(
            steps in prop::collection::vec((0u32..63, 0u64..u64::MAX, any::<bool>()), 1..300),
        ) {
            let (mut wheel, mut model) = (TimerWheel::default(), std::collections::BTreeSet::new());
            let mut now = 0u64;
            for (entity, (bits, ahead, adds)) in (0u32..).zip(steps) {
                if adds {
                    let call = Event::new(Time(now.saturating_add(ahead % (1 << bits))), Class::Timer, entity);
                    wheel.push(call);
                    model.insert(call.key());
                } else {
                    let (first, popped) = (wheel.first_key(), wheel.pop());
                    prop_assert_eq!(popped.map(Event::key), model.pop_first());
                    prop_assert_eq!(first, popped.map_or(u128::MAX, Event::key));
                    now = popped.map_or(now, |call| call.time.0);
                }
                let first = model.first().map_or(Time::NEVER, |key| Event::of_key(*key).time);
                prop_assert_eq!(wheel.first_time(), first);
            }
        }
    }
}
