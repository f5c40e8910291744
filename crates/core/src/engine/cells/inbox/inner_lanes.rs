//! The lanes whose next unit is an inner unit of a train: neither its first nor its last.

use super::merge_order::{ArrivalPlace, LaneRanks};

/// Lanes whose next unit is an inner unit of a train.
///
/// The methods that compare lanes get the place of the next unit on each as `next`.
#[derive(Clone, Debug)]
pub(super) struct InnerLanes {
    lanes: Vec<u32>,
    lined_up: LinedUp,
}

/// Whether these lanes are sorted by their next units, with the earliest one last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LinedUp {
    No,
    /// Not sorted, but a search has already been made for the earliest one.
    Sought,
    Yes,
}

/// Number of lanes up to which a linear search costs no more than sorting.
const FEW: usize = 3;

impl InnerLanes {
    /// Build an empty list of lanes.
    pub(super) fn new() -> InnerLanes {
        InnerLanes { lanes: Vec::new(), lined_up: LinedUp::No }
    }

    /// Return these lanes in any order.
    #[inline]
    pub(super) fn lanes(&self) -> &[u32] {
        &self.lanes
    }

    /// Return whether there are other lanes than this one.
    #[inline]
    pub(super) fn has_others(&self, lane: u32) -> bool {
        self.lanes.iter().any(|other| *other != lane)
    }

    /// Add a lane without regard to the order.
    pub(super) fn join(&mut self, lane: u32) {
        self.lanes.push(lane);
        self.lined_up = LinedUp::No;
    }

    /// Add a lane; if the lanes are sorted, add it at its place.
    #[inline]
    pub(super) fn join_in_turn(&mut self, lane: u32, next: impl Fn(u32) -> ArrivalPlace, ranks: &LaneRanks) {
        if self.lined_up != LinedUp::Yes {
            return self.lanes.push(lane);
        }
        let ahead = self.lanes.iter().position(|other| ranks.is_before(next(*other), next(lane)));
        self.lanes.insert(ahead.unwrap_or(self.lanes.len()), lane);
    }

    /// Remove a lane.
    #[inline]
    pub(super) fn remove(&mut self, lane: u32) {
        self.lanes.retain(|other| *other != lane);
    }

    /// Mark the lanes as not sorted, since units are about to pass in another order.
    pub(super) fn disorder(&mut self) {
        self.lined_up = LinedUp::No;
    }

    /// Put the lanes in order, if the next unit is needed twice in a row: in a sorted list a lane whose unit has
    /// passed only moves to its new place, and the other lanes need no comparison.
    #[inline]
    pub(super) fn line_up(&mut self, next: impl Fn(u32) -> ArrivalPlace, ranks: &LaneRanks) {
        match self.lined_up {
            LinedUp::Yes => {}
            LinedUp::No => self.lined_up = LinedUp::Sought,
            LinedUp::Sought if self.lanes.len() <= FEW => {}
            LinedUp::Sought => {
                self.lanes.sort_unstable_by_key(|lane| {
                    let place = next(*lane);
                    std::cmp::Reverse((place.time, ranks.rank(place)))
                });
                self.lined_up = LinedUp::Yes;
            }
        }
    }

    /// Return the index of the lane whose inner unit arrives first, if this unit arrives before the end of a train
    /// `end`, which is the first in the merge order.
    #[inline]
    pub(super) fn ahead_of(
        &self,
        end: ArrivalPlace,
        next: impl Fn(u32) -> ArrivalPlace,
        ranks: &LaneRanks,
    ) -> Option<usize> {
        let last = self.lanes.len().saturating_sub(1);
        let from = if self.lined_up == LinedUp::Yes { last } else { 0 };
        let (mut first, mut ahead) = (end, None);
        for (index, &lane) in self.lanes.iter().enumerate().skip(from) {
            let place = next(lane);
            if ranks.is_before(place, first) {
                (first, ahead) = (place, Some(index));
            }
        }
        ahead
    }

    /// Move the lane with this index, whose unit was the first of all, to its next unit; the train has `left` units
    /// left.
    #[inline]
    pub(super) fn take_turn(
        &mut self,
        index: usize,
        left: u16,
        next: impl Fn(u32) -> ArrivalPlace,
        ranks: &LaneRanks,
    ) {
        if self.lined_up != LinedUp::Yes {
            if left == 1 {
                self.lanes.swap_remove(index);
            }
            return;
        }
        // the lane with the first unit is the last in the list
        if let Some(lane) = self.lanes.pop().filter(|_| left > 1) {
            self.join_in_turn(lane, next, ranks);
        }
    }
}
