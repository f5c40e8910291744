//! The pending arrivals at a port: trains on each incoming lane, merged in the order that [`crate::kernel`]
//! documents.
//!
//! # What it assumes
//! Each lane is in order. Lanes meet only here, so ties between their lines are resolved here.
//!
//! # What it skips
//! Inner units of trains have no entry in the merge order; only the first and the last unit of a train have one.
//!
//! # Why that is exact
//! How many inner units of a lane come before an instant, or before an end of another train, follows from its spacing.
//!
//! # What turns it off
//! A step unit by unit, which is possible at any time: then the lanes that are within a train are sorted by their
//! next unit.
//!
//! # What it saves
//! W1-cell calls a port once for 250 cells; without trains that pass by their ends it takes 8 times as long.

mod comb_order;
pub(crate) mod combs;
mod inner_lanes;
mod inner_units;
pub(crate) mod irregular;
pub(crate) mod lane;
mod merge_order;
mod reserved;
mod train_ends;

use crate::engine::cells::topology::Plan;
use crate::engine::cells::topology::leg::Lane;
use crate::engine::cells::train::CellTrain;
use crate::engine::exact::spacing::TransmissionTime;
use crate::kernel::Ties;
use crate::unit::Unit;
use crate::units::Time;

use crate::units::ids::LineId;
use inner_lanes::InnerLanes;
use irregular::IrregularArrivals;
pub(crate) use lane::Arriving;
use lane::InboxLane;
pub(crate) use merge_order::ArrivalPlace;
use merge_order::{LaneRanks, MergeOrder};

/// All pending arrivals of one port.
#[derive(Clone, Debug)]
pub(crate) struct Inbox {
    lanes: Vec<InboxLane>,
    ranks: LaneRanks,
    order: MergeOrder,
    inner: InnerLanes,
    /// Work space for merging lanes.
    merged: Vec<(Time, u32)>,
    /// Reserved trains: removed from their lanes when they began, with units that are still to arrive.
    reserved: Vec<CellTrain>,
}

/// Return the place of the next unit on a lane that has one.
#[inline]
fn next_on(lanes: &[InboxLane], lane: u32) -> ArrivalPlace {
    ArrivalPlace { time: lanes[lane as usize].front().beat.time, lane }
}

impl Inbox {
    /// Build the inbox of a port, with empty lanes.
    pub(crate) fn new(plan: &Plan, port: LineId, ties: &Ties) -> Inbox {
        let own = plan.spacing(port);
        let lane = |lane: &Lane| InboxLane::new(lane.line, plan.arriving_spacing(lane.line), &own);
        Inbox::of(plan.lanes[port].iter().map(lane).collect(), ties)
    }

    /// Build an inbox with the given lanes.
    pub(crate) fn of(lanes: Vec<InboxLane>, ties: &Ties) -> Inbox {
        Inbox {
            ranks: LaneRanks::new(lanes.iter().map(|lane| lane.line), ties),
            order: MergeOrder::new(lanes.len()),
            inner: InnerLanes::new(),
            merged: Vec::new(),
            reserved: Vec::new(),
            lanes,
        }
    }

    /// Return the number of units that can arrive during one transmission time `pace`.
    pub(crate) fn influx(&self, pace: &TransmissionTime) -> u64 {
        self.lanes.iter().map(|lane| pace.whole.0.div_ceil(lane.spacing.pace.whole.0)).sum()
    }

    /// Append a train to a lane; returns the number of trains now on this lane.
    #[inline(always)] // nearly always called for the frame that a host has just sent
    pub(crate) fn push(&mut self, lane: u32, train: CellTrain) -> usize {
        let place = lane as usize;
        self.lanes[place].push(CellTrain { lane, ..train });
        let count = self.lanes[place].trains.len();
        if count == 1 {
            self.expect(lane, train.beat.time);
        }
        count
    }

    /// Append irregular units of a frame to a lane; a host may await the last one. Returns the number of trains now
    /// on this lane.
    pub(crate) fn push_irregular(
        &mut self,
        lane: u32,
        units: &IrregularArrivals<'_>,
        awaited: bool,
    ) -> usize {
        let trains = &mut self.lanes[lane as usize];
        let queued = trains.trains.len();
        let begun = trains.trains.front().filter(|train| train.begun).map(|train| train.units);
        let extends = queued > 1 || begun.is_none() || self.order.sorted().is_some();
        let joined = trains.push_irregular(lane, units, extends, awaited);
        let (count, last) = (trains.trains.len(), trains.front().last);
        match begun {
            None if queued == 0 => self.expect(lane, units.arrivals[0]),
            Some(left) if joined && queued == 1 => self.extend_begun(lane, left, last),
            _ => {}
        }
        count
    }

    /// Set the last arrival of a train that has begun to arrive and was extended; before, it had `left` units left.
    fn extend_begun(&mut self, lane: u32, left: u16, last: Time) {
        if left == 1 {
            self.inner.join(lane);
        }
        self.order.remove(lane);
        self.expect(lane, last);
    }

    /// Remove and return the next unit, if it arrives before `limit`.
    #[inline]
    pub(crate) fn pop_before(&mut self, limit: Time) -> Option<Arriving> {
        let end = self.order.first()?;
        let Inbox { lanes, ranks, inner, .. } = self;
        inner.line_up(|lane| next_on(lanes, lane), ranks);
        if let Some(index) = inner.ahead_of(end, |lane| next_on(lanes, lane), ranks) {
            return self.pop_inner(index, limit);
        }
        if end.time >= limit {
            return None;
        }
        let (arriving, train) = lanes[end.lane as usize].take();
        let mut next = Some(train.last);
        if train.units == 0 {
            next = lanes[end.lane as usize].pop();
        } else if train.units > 1 {
            inner.join_in_turn(end.lane, |lane| next_on(lanes, lane), ranks);
        }
        self.take_turn(end.lane, next);
        Some(arriving)
    }

    /// Remove and return the next unit of the inner lane with this index, if it arrives before `limit`.
    fn pop_inner(&mut self, index: usize, limit: Time) -> Option<Arriving> {
        let Inbox { lanes, ranks, inner, .. } = self;
        let lane = &mut lanes[inner.lanes()[index] as usize];
        if lane.front().beat.time >= limit {
            return None;
        }
        let (arriving, train) = lane.take();
        inner.take_turn(index, train.units, |lane| next_on(lanes, lane), ranks);
        Some(arriving)
    }

    /// Add the next end of a train on a lane, which arrives at `time`.
    #[inline]
    fn expect(&mut self, lane: u32, time: Time) {
        self.order.expect(ArrivalPlace { time, lane }, &self.ranks);
    }

    /// Move the first lane of the merge order to its next end of a train at `next`, or remove the lane.
    #[inline]
    fn take_turn(&mut self, lane: u32, next: Option<Time>) {
        self.order.take_turn(lane, next, &self.ranks);
    }

    /// Return the place of the next unit.
    #[inline]
    fn next(&self) -> Option<ArrivalPlace> {
        let end = self.order.first()?;
        let ahead = self.inner.ahead_of(end, |lane| next_on(&self.lanes, lane), &self.ranks);
        Some(ahead.map_or(end, |index| next_on(&self.lanes, self.inner.lanes()[index])))
    }

    #[inline]
    fn front(&self, lane: u32) -> &CellTrain {
        self.lanes[lane as usize].front()
    }

    /// Return the next unit as a train of one unit.
    pub(crate) fn next_unit(&self) -> Option<CellTrain> {
        self.next().map(|next| CellTrain { units: 1, ..*self.front(next.lane) })
    }

    /// Return the next train, or the units left of it, if all of them arrive before `stop` and before any other unit.
    #[inline]
    pub(crate) fn alone_before(&self, stop: Time) -> Option<CellTrain> {
        let (&ArrivalPlace { lane, .. }, others) = self.order.sorted()?.split_last()?;
        if self.inner.has_others(lane) {
            return None;
        }
        let train = self.front(lane);
        let limit = others.last().map_or(stop, |second| second.time.min(stop));
        (train.units > 1 && train.last < limit).then_some(*train)
    }

    /// Return the sum of the arrival times of this train's units; the train is the first of its lane.
    pub(crate) fn arrivals(&self, train: &CellTrain) -> u128 {
        self.lanes[train.lane as usize].arrivals()
    }

    /// Return the arrival times of this train's units, if they are irregular; the train is the first of its lane.
    pub(crate) fn irregular(&self, train: &CellTrain) -> Option<impl Iterator<Item = Time>> {
        self.lanes[train.lane as usize].irregular()
    }

    /// Return the spacing of the units of a train; if they are irregular, the least spacing.
    pub(crate) fn pace_of(&self, train: &CellTrain) -> TransmissionTime {
        self.lanes[train.lane as usize].spacing.pace
    }

    /// Return the spacing of regular units on a lane.
    pub(crate) fn spacing_of(&self, lane: u32) -> TransmissionTime {
        self.lanes[lane as usize].spacing.pace
    }

    /// Return when the next unit arrives.
    pub(crate) fn next_time(&self) -> Option<Time> {
        self.next().map(|next| next.time)
    }

    /// Return when the next unit arrives that a host awaits; with many lanes, when the next end of a train arrives.
    #[inline]
    pub(crate) fn next_awaited(&self) -> Option<Time> {
        match &self.order {
            MergeOrder::Sorted(sorted) => {
                sorted.iter().filter_map(|end| self.lanes[end.lane as usize].next_awaited()).min()
            }
            MergeOrder::Heap(heap) => heap.first_time(),
        }
    }

    /// Return whether no unit is in flight.
    pub(crate) fn is_empty(&self) -> bool {
        self.order.first().is_none()
    }

    /// Return every unit that is still in flight.
    pub(crate) fn units(&self) -> impl Iterator<Item = Unit> {
        self.lanes.iter().flat_map(InboxLane::units)
    }

    /// Return the units of a regular train that arrive from `time` on, and whether some of its units arrive earlier.
    pub(crate) fn arrivals_from(
        &self,
        train: &CellTrain,
        time: Time,
    ) -> (impl Iterator<Item = ArrivalPlace>, bool) {
        self.lanes[train.lane as usize].arrivals_from(train, time)
    }

    /// Return whether the first unit arrives before the second.
    pub(crate) fn is_before(&self, first: ArrivalPlace, second: ArrivalPlace) -> bool {
        self.ranks.is_before(first, second)
    }
}

#[cfg(test)]
mod tests;
