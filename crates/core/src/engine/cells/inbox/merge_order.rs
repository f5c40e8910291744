//! The order in which units arrive from several lanes.

use crate::kernel::queue::{Class, Event, EventQueue};
use crate::kernel::{Ties, rank_of};
use crate::units::Time;
use crate::units::ids::LineId;

/// Place of a unit in the order of arrivals: its arrival time and its lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ArrivalPlace {
    pub(crate) time: Time,
    pub(crate) lane: u32,
}

/// The order of units that arrive at one instant on different lanes.
#[derive(Clone, Debug)]
pub(super) struct LaneRanks {
    /// The line of each lane, and what distinguishes it from other lines: see [`Ties::salt`].
    lines: Vec<(LineId, u64)>,
}

impl LaneRanks {
    /// Build the order of lanes, given the line of each lane.
    pub(super) fn new(lines: impl Iterator<Item = LineId>, ties: &Ties) -> LaneRanks {
        LaneRanks { lines: lines.map(|line| (line, ties.salt(line))).collect() }
    }

    /// Return the rank of a lane among the lanes on which units arrive at this instant.
    #[inline]
    pub(super) fn rank(&self, ArrivalPlace { time, lane }: ArrivalPlace) -> (u32, LineId) {
        let (line, salt) = self.lines[lane as usize];
        (rank_of(time, salt), line)
    }

    /// Return whether the first unit arrives before the second.
    #[inline]
    pub(super) fn is_before(&self, first: ArrivalPlace, second: ArrivalPlace) -> bool {
        first.time < second.time || first.time == second.time && self.rank(first) < self.rank(second)
    }
}

/// For every lane that is not empty the next end of a train (its first or last unit), by time.
///
/// A sorted list is fast, because a lane whose unit has passed usually moves only past the few lanes that are within
/// a train, and not past the many lanes whose next train is far away. With many lanes this no longer holds.
#[derive(Clone, Debug)]
pub(super) enum MergeOrder {
    /// A sorted list, the earliest end last.
    Sorted(Vec<ArrivalPlace>),
    Heap(Box<EventQueue>),
}

/// Number of lanes up to which the list is sorted.
const MOST_SORTED: usize = 256;

impl MergeOrder {
    /// Build the order of `lanes` empty lanes.
    pub(super) fn new(lanes: usize) -> MergeOrder {
        match lanes {
            0..=MOST_SORTED => MergeOrder::Sorted(Vec::with_capacity(lanes)),
            _ => MergeOrder::Heap(Box::default()),
        }
    }

    /// Return the earliest end of a train.
    #[inline]
    pub(super) fn first(&self) -> Option<ArrivalPlace> {
        match self {
            MergeOrder::Sorted(sorted) => sorted.last().copied(),
            MergeOrder::Heap(heap) => {
                heap.first().map(|event| ArrivalPlace { time: event.time, lane: event.entity })
            }
        }
    }

    /// Return the sorted list of ends, the earliest last; `None` with too many lanes for a list.
    #[inline]
    pub(super) fn sorted(&self) -> Option<&[ArrivalPlace]> {
        match self {
            MergeOrder::Sorted(sorted) => Some(sorted),
            MergeOrder::Heap(_) => None,
        }
    }

    /// Add the next end of a train on a lane.
    #[inline]
    pub(super) fn expect(&mut self, end: ArrivalPlace, ranks: &LaneRanks) {
        match self {
            MergeOrder::Sorted(sorted) => {
                let place = sorted.iter().rposition(|other| ranks.is_before(end, *other));
                sorted.insert(place.map_or(0, |before| before + 1), end);
            }
            MergeOrder::Heap(heap) => {
                let ArrivalPlace { time, lane } = end;
                let (rank, _) = ranks.rank(end);
                heap.push(Event { time, class: Class::Arrive, rank, entity: lane });
            }
        }
    }

    /// Move the first lane of the order to its next end of a train at `next`, or remove the lane.
    #[inline]
    pub(super) fn take_turn(&mut self, lane: u32, next: Option<Time>, ranks: &LaneRanks) {
        let next = next.map(|time| ArrivalPlace { time, lane });
        match self {
            MergeOrder::Sorted(sorted) => {
                sorted.pop();
                if let Some(next) = next
                    && sorted.last().is_none_or(|second| next.time < second.time)
                {
                    sorted.push(next);
                    return;
                }
            }
            MergeOrder::Heap(heap) => drop(heap.pop_before(Time::NEVER)),
        }
        if let Some(next) = next {
            self.expect(next, ranks);
        }
    }

    /// Remove a lane from a sorted list.
    pub(super) fn remove(&mut self, lane: u32) {
        if let MergeOrder::Sorted(sorted) = self {
            sorted.retain(|other| other.lane != lane);
        }
    }
}
