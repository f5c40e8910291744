//! Queues of a port: one that all circuits share, or one for each circuit.

use std::collections::VecDeque;

use crate::unit::Unit;

/// A queue of units with stable positions.
///
/// The unit that joins as the `n`-th one has position `n` until it leaves; a unit taken out of the middle leaves a gap
/// that the head skips, so that any unit can be reached and removed in constant time.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    slots: VecDeque<Option<Unit>>,
    head: u64,
    len: usize,
}

impl Queue {
    /// Number of units in the queue.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing is queued.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Positions that may hold a unit, oldest first.
    pub fn positions(&self) -> std::ops::Range<u64> {
        self.head..self.head + self.slots.len() as u64
    }

    /// The unit at a position, if it is still there.
    pub fn at(&self, position: u64) -> Option<&Unit> {
        self.slots.get(position.checked_sub(self.head)? as usize)?.as_ref()
    }

    /// The oldest unit.
    pub fn front(&self) -> Option<&Unit> {
        self.slots.front()?.as_ref()
    }

    /// Units with their positions, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, &Unit)> {
        self.slots.iter().enumerate().filter_map(|(i, slot)| Some((self.head + i as u64, slot.as_ref()?)))
    }

    /// A unit joins at the tail; answers its position.
    pub fn push(&mut self, unit: Unit) -> u64 {
        self.slots.push_back(Some(unit));
        self.len += 1;
        self.positions().end - 1
    }

    /// The oldest unit leaves.
    pub fn pop(&mut self) -> Option<Unit> {
        let unit = self.slots.pop_front()??;
        self.head += 1;
        self.len -= 1;
        self.trim();
        Some(unit)
    }

    /// The unit at a position leaves, if it is still there.
    pub fn take(&mut self, position: u64) -> Option<Unit> {
        let index = position.checked_sub(self.head)? as usize;
        let unit = self.slots.get_mut(index)?.take()?;
        self.len -= 1;
        self.trim();
        Some(unit)
    }

    /// Keep gaps away from both ends.
    fn trim(&mut self) {
        while let Some(None) = self.slots.front() {
            self.slots.pop_front();
            self.head += 1;
        }
        while let Some(None) = self.slots.back() {
            self.slots.pop_back();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::Flags;
    use proptest::prelude::*;

    fn unit(frame: u32) -> Unit {
        Unit { vc: 0, frame, index: 0, bytes: 53, hop: 0, flags: Flags::default() }
    }

    #[test]
    fn positions_are_stable_while_units_leave_from_anywhere() {
        let mut queue = Queue::default();
        let positions: Vec<u64> = (0..5).map(|i| queue.push(unit(i))).collect();
        assert_eq!(queue.take(positions[2]), Some(unit(2)));
        assert_eq!(queue.take(positions[2]), None);
        assert_eq!(queue.pop(), Some(unit(0)));
        assert_eq!(queue.at(positions[3]), Some(&unit(3)));
        assert_eq!(queue.take(positions[4]), Some(unit(4)));
        assert_eq!(queue.len(), 2);
        assert_eq!(queue.iter().map(|(_, unit)| unit.frame).collect::<Vec<_>>(), [1, 3]);
    }

    proptest! {
        #[test]
        fn a_queue_with_gaps_is_a_list_with_removals(steps in prop::collection::vec(0u8..6, 1..200)) {
            let (mut queue, mut model) = (Queue::default(), Vec::<(u64, u32)>::new());
            for (serial, step) in steps.into_iter().enumerate() {
                match step {
                    0..=2 => {
                        let position = queue.push(unit(serial as u32));
                        prop_assert!(model.iter().all(|(other, _)| *other < position));
                        model.push((position, serial as u32));
                    }
                    3 => {
                        let expected = (!model.is_empty()).then(|| model.remove(0).1);
                        prop_assert_eq!(queue.pop().map(|unit| unit.frame), expected);
                    }
                    _ if !model.is_empty() => {
                        let (position, frame) = model.remove(serial % model.len());
                        prop_assert_eq!(queue.take(position).map(|unit| unit.frame), Some(frame));
                    }
                    _ => {}
                }
                let seen: Vec<(u64, u32)> = queue.iter().map(|(p, unit)| (p, unit.frame)).collect();
                prop_assert_eq!(&seen, &model);
                prop_assert_eq!(queue.len(), model.len());
            }
        }
    }
}
