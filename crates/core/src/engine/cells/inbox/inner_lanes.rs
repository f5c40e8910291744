//! The lanes whose next unit is an inner one of a train.

use super::merge_order::{ArrivalPlace, LaneRanks};

/// Lanes whose next unit is an inner one of a train.
///
/// The methods that compare lanes get the place of the next unit on each as `next`.
#[derive(Clone, Debug)]
pub(super) struct InnerLanes {
    lanes: Vec<u32>,
    lined_up: LinedUp,
}

/// Order of these lanes: sorted by their next units, the earliest last, or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LinedUp {
    No,
    /// Not sorted, and the earliest has been searched for since they were sorted.
    Sought,
    Yes,
}

/// Number of lanes for which a linear search costs no more than sorting.
const FEW: usize = 3;

impl InnerLanes {
    /// No lanes.
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

    /// Add a lane at any place.
    pub(super) fn join(&mut self, lane: u32) {
        self.lanes.push(lane);
        self.lined_up = LinedUp::No;
    }

    /// Add a lane, in order if the lanes are in order.
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

    /// Forget the order, since units pass in another one.
    pub(super) fn disorder(&mut self) {
        self.lined_up = LinedUp::No;
    }

    /// Put the lanes in order, if the next unit is needed twice in a row: then a lane that has had its turn goes to the
    /// back, and the others need no comparison.
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

    /// Return the lane whose inner unit arrives first of all, by its index, if it arrives before an end of a train that
    /// is first in the order.
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

    /// Move the lane that was ahead of all, by its index, to its next unit; it has `left` units left.
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
        // the first of all stands last
        if let Some(lane) = self.lanes.pop().filter(|_| left > 1) {
            self.join_in_turn(lane, next, ranks);
        }
    }
}
