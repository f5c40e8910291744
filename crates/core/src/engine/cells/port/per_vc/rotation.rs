//! Slots of a stable round robin, in closed form.
//!
//! # What it assumes
//! As long as no queue becomes empty or ceases to be empty, the scheduler serves the same queues in every round.
//!
//! # What it skips
//! The scheduler: the number of assigned slots determines which cells have started, and when.
//!
//! # Why that is exact
//! The scheduler returns the order of queues that holds if no queue joins or leaves, and the instant until which it
//! holds. The first slot whose cell changes more than counters can be computed in advance.
//!
//! # What turns it off
//! A scheduler that returns no such order, a policy that observes every departure, cells that are forwarded one by
//! one.
//!
//! # What it saves
//! Without it W1 under DT-EPD and push-out takes 1.9 to 2.1 times the instructions, study 003 1.2 to 1.4 times.

use crate::engine::exact::spacing::ExactTime;
use crate::scheduler::Place;
use crate::units::Time;
use crate::units::ids::{IdVec, PortVc};

/// The part of a circuit's state that has not been reported to the port.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Turn {
    /// Cells at the head of the circuit's queue that change only counters.
    pub(super) left: u64,
    /// Whether cells that join may add to that number.
    pub(super) grows: bool,
    /// Cells of `left` that have started.
    pub(super) served: u64,
    /// Start of the last cell that has started, as a number of slots after an exact time.
    pub(super) last: (ExactTime, u64),
    /// Frames at the head of the circuit's queue that have already been forwarded completely.
    pub(super) frames: usize,
    /// Number of cells of these frames.
    pub(super) foretold: u64,
}

impl Turn {
    /// Record that `cells` cells have started, the last one `last.1` slots after the exact time `last.0`.
    #[inline]
    pub(super) fn serve(&mut self, cells: u64, last: (ExactTime, u64)) {
        (self.left, self.served, self.last) = (self.left - cells, self.served + cells, last);
    }
}

/// A number of cells that stands for no limit: more than any frame has.
pub(super) const MANY: u64 = 1 << 16;

/// Greatest number of queues in a rotation.
pub(super) const MOST_PLACES: usize = 64;

/// A rotation: slots that the queues of `places` get in turn, as the scheduler has planned. The first slot has the
/// number 0.
#[derive(Debug, Default)]
pub(super) struct Rotation {
    /// The queues in their order; empty if the scheduler must be called for every slot.
    pub(super) places: Vec<Place>,
    /// The place of each queue, if it has one.
    place_of: IdVec<PortVc, usize>,
    /// For each place the first slot whose cell changes more than counters.
    pub(super) stops: Vec<u64>,
    /// The earliest of those slots over all places.
    pub(super) stop: u64,
    /// The number of slots that the scheduler's plan covers.
    pub(super) sure: u64,
    /// The instant before which that plan is valid.
    pub(super) change: Time,
    /// Start of the first slot.
    pub(super) first: ExactTime,
    /// The number of assigned slots.
    pub(super) slots: u64,
    /// For each place the number of slots that have been reported to its queue.
    pub(super) reported: Vec<u64>,
    /// Number of slots whose departures the pool counts.
    pub(super) booked: u64,
    /// For the slot after these: the end of the cell before it, the circuit of that cell, and the start of
    /// the slot.
    pub(super) ends: Time,
    pub(super) sending: PortVc,
    pub(super) free: ExactTime,
}

impl Rotation {
    /// Return how many of the first `slots` slots go to a place.
    pub(super) fn turns(&self, place: usize, slots: u64) -> u64 {
        let places = self.places.len() as u64;
        slots / places + u64::from((place as u64) < slots % places)
    }

    /// Return the queues that get `slots` slots from number `from` on, and the number of slots that each gets.
    pub(super) fn shares(&self, from: u64, slots: u64) -> impl Iterator<Item = (PortVc, u64)> {
        let places = self.places.len().max(1) as u64;
        let (each, more) = (slots / places, slots % places);
        let (before, behind) = self.places.split_at((from % places) as usize);
        let share = move |(offset, place): (u64, &Place)| (place.queue.vc(), each + u64::from(offset < more));
        (0..slots).zip(behind.iter().chain(before)).map(share)
    }

    /// Return the number of unassigned slots before the first one whose cell changes more than counters.
    pub(super) fn before_stop(&self) -> u64 {
        self.stop - self.slots
    }

    /// Return whether the first slot whose cell changes more than counters is covered by the scheduler's plan.
    pub(super) fn stops_within_sure(&self) -> bool {
        self.stop < self.sure
    }

    /// Return the place and the queue that get the first slot whose cell changes more than counters.
    pub(super) fn at_stop(&self) -> (usize, PortVc) {
        let place = self.place(self.stop);
        (place, self.places[place].queue.vc())
    }

    /// Return the place that gets a slot.
    pub(super) fn place(&self, slot: u64) -> usize {
        (slot % self.places.len() as u64) as usize
    }

    /// Return the queue that gets a slot.
    pub(super) fn vc(&self, slot: u64) -> PortVc {
        self.places[self.place(slot)].queue.vc()
    }

    /// Begin a rotation among the queues of `places`; no slot has been assigned.
    pub(super) fn begin(&mut self, turns: &IdVec<PortVc, Turn>) {
        let count = self.places.len() as u64;
        let unlisted = if self.places.len() < MOST_PLACES { MANY } else { count };
        (self.sure, self.stop) = (unlisted, u64::MAX);
        self.stops.clear();
        if self.place_of.is_empty() {
            self.place_of = IdVec::filled(0, turns.len());
        }
        for (at, place) in (0..).zip(&self.places) {
            let stop = turns[place.queue.vc()].left * count + at;
            let last = place.cells.map(|cells| cells.saturating_mul(count).saturating_add(at));
            self.sure = last.map_or(self.sure, |last| last.min(self.sure));
            self.stop = self.stop.min(stop);
            self.stops.push(stop);
            self.place_of[place.queue.vc()] = at as usize;
        }
        self.reported.clear();
        self.reported.resize(self.places.len(), 0);
    }

    /// Return the place of a queue, if the queue has one.
    #[inline]
    pub(super) fn find(&self, vc: PortVc) -> Option<usize> {
        let place = *self.place_of.get(vc)?;
        self.places.get(place).is_some_and(|it| it.queue.vc() == vc).then_some(place)
    }

    /// Return the number of unassigned slots before a place gets a slot after `more` more slots of its own.
    pub(super) fn slots_before(&self, place: usize, more: u64) -> u64 {
        self.slot_behind(place, more) - self.slots
    }

    /// Return the number of the slot that a place gets after `more` more slots of its own.
    fn slot_behind(&self, place: usize, more: u64) -> u64 {
        (self.turns(place, self.slots) + more) * self.places.len() as u64 + place as u64
    }

    /// Set the first slot of a place whose cell changes more than counters: the slot after `left` more cells.
    pub(super) fn set_stop(&mut self, place: usize, left: u64) {
        let stop = self.slot_behind(place, left);
        if std::mem::replace(&mut self.stops[place], stop) != stop {
            self.stop = self.stops.iter().copied().fold(u64::MAX, u64::min);
        }
    }

    /// Return the number of assigned slots whose departures the pool does not count yet.
    pub(super) fn unbooked(&self) -> u64 {
        self.slots - self.booked
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::ids::QueueId;

    /// Three queues in turn; the first `left` cells of each do not matter.
    fn rotation(left: [u64; 3]) -> Rotation {
        let place = |queue| Place { queue: QueueId(queue), cells: None };
        let mut rotation = Rotation { places: [4, 0, 2].map(place).to_vec(), ..Rotation::default() };
        let mut turns = IdVec::filled(Turn::default(), 5);
        [4, 0, 2].iter().zip(left).for_each(|(vc, left)| turns[PortVc(*vc)].left = left);
        rotation.begin(&turns);
        rotation
    }

    #[test]
    fn slots_fall_to_the_places_in_turn() {
        let rotation = rotation([9, 9, 9]);
        assert_eq!([0, 1, 2, 3, 4].map(|slot| rotation.vc(slot).0), [4, 0, 2, 4, 0]);
        assert_eq!([0, 1, 2].map(|place| rotation.turns(place, 4)), [2, 1, 1]);
    }

    #[test]
    fn the_first_cell_that_matters_stops_the_rotation() {
        let rotation = rotation([2, 1, 3]);
        assert_eq!((rotation.before_stop(), rotation.at_stop()), (4, (1, PortVc(0))));
    }

    #[test]
    fn of_two_places_with_equally_many_cells_the_first_one_stops_the_rotation() {
        assert_eq!(rotation([2, 2, 2]).at_stop(), (0, PortVc(4)));
    }

    #[test]
    fn a_place_that_gets_more_cells_stops_later() {
        let mut rotation = rotation([2, 1, 3]);
        rotation.set_stop(1, 5);
        assert_eq!(rotation.at_stop(), (0, PortVc(4)));
        assert_eq!(rotation.slots_before(1, 2), 7);
    }

    #[test]
    fn shares_begin_with_the_queue_whose_slot_it_is() {
        let shares: Vec<_> = rotation([9, 9, 9]).shares(2, 4).collect();
        assert_eq!(shares, [(2, 2), (4, 1), (0, 1)].map(|(vc, slots)| (PortVc(vc), slots)));
    }

    #[test]
    fn a_queue_without_a_place_is_not_found() {
        let rotation = rotation([9, 9, 9]);
        assert_eq!(
            (rotation.find(PortVc(2)), rotation.find(PortVc(1)), rotation.find(PortVc(7))),
            (Some(2), None, None)
        );
    }
}
