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
//! A step unit by unit, which is possible at any time: then lanes within a train are sorted by their next unit.
//!
//! # What it saves
//! W1-cell calls a port once for 250 cells; without trains that pass by their ends it takes 8 times as long.

pub(crate) mod irregular;
pub(crate) mod lane;
mod reserved;

use crate::engine::cells::topology::Plan;
use crate::engine::cells::topology::leg::Lane;
use crate::engine::cells::train::CellTrain;
use crate::engine::exact::spacing::TransmissionTime;
use crate::kernel::Ties;
use crate::kernel::queue::{Class, Event, EventQueue};
use crate::unit::Unit;
use crate::units::Time;

use irregular::IrregularArrivals;
pub(crate) use lane::Arriving;
use lane::InboxLane;

/// The first or the last unit of a train: the one that arrives next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrainEnd {
    /// Its arrival.
    pub(crate) time: Time,
    lane: u32,
}

/// All pending arrivals of one port.
#[derive(Clone, Debug)]
pub(crate) struct Inbox {
    lanes: Vec<InboxLane>,
    order: MergeOrder,
    /// Lanes whose next unit is an inner one of a train.
    within: Vec<u32>,
    lined_up: LinedUp,
    /// Work space for merging lanes.
    merged: Vec<(Time, u32)>,
    ties: Ties,
    /// Trains that were reserved when they began, while some of their units are still to arrive.
    reserved: Vec<CellTrain>,
}

/// Order of the lanes within a train: sorted by their next units, the earliest last, or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LinedUp {
    No,
    /// Not sorted, and the earliest has been searched for since they were sorted.
    Sought,
    Yes,
}

/// The next end of a train on every lane that has one, by time.
///
/// A lane whose turn is over is placed after those within a train and before the many lanes whose next train is far
/// away. With many lanes of packets this no longer holds.
#[derive(Clone, Debug)]
enum MergeOrder {
    /// The earliest one last.
    Sorted(Vec<(Time, u32)>),
    Heap(Box<EventQueue>),
}

/// Longest sorted list of lanes.
const MOST_SORTED: usize = 256;
/// Number of lanes for which a linear search costs no more than sorting.
const FEW: usize = 3;
/// Most units of a short train, and most trains that cross each other.
const SHORT: u16 = 4;
pub(crate) const MOST_CROSSING: usize = 8;

impl MergeOrder {
    /// The earliest end of a train: its time and its lane.
    #[inline]
    fn first(&self) -> Option<(Time, u32)> {
        match self {
            MergeOrder::Sorted(sorted) => sorted.last().copied(),
            MergeOrder::Heap(heap) => heap.first().map(|event| (event.time, event.entity)),
        }
    }
}

impl Inbox {
    /// The empty lanes of a port.
    pub(crate) fn new(plan: &Plan, port: usize, ties: Ties) -> Inbox {
        let own = plan.spacing(port);
        let lane = |lane: &Lane| InboxLane::new(lane.line, plan.arriving_spacing(lane.line), &own);
        Inbox::of(plan.lanes[port].iter().map(lane).collect(), ties)
    }

    /// The given lanes.
    pub(crate) fn of(lanes: Vec<InboxLane>, ties: Ties) -> Inbox {
        let order = match lanes.len() {
            0..=MOST_SORTED => MergeOrder::Sorted(Vec::with_capacity(lanes.len())),
            _ => MergeOrder::Heap(Box::default()),
        };
        let (within, merged, reserved) = (Vec::new(), Vec::new(), Vec::new());
        Inbox { lanes, order, within, lined_up: LinedUp::No, merged, ties, reserved }
    }

    /// Units that can arrive during one transmission time of this spacing.
    pub(crate) fn influx(&self, pace: &TransmissionTime) -> u64 {
        self.lanes.iter().map(|lane| pace.whole.0.div_ceil(lane.spacing.pace.whole.0)).sum()
    }

    /// Append a train to a lane; returns the number of trains now on it.
    pub(crate) fn push(&mut self, lane: u32, train: CellTrain) -> usize {
        let place = lane as usize;
        self.lanes[place].push(CellTrain { lane, ..train });
        let count = self.lanes[place].trains.len();
        if count == 1 {
            self.expect(place, train.beat.time);
        }
        count
    }

    /// Append irregular units of a frame to a lane; a host may await the last one. Returns the number of trains now
    /// on it.
    pub(crate) fn push_irregular(
        &mut self,
        lane: u32,
        units: &IrregularArrivals<'_>,
        awaited: bool,
    ) -> usize {
        let place = lane as usize;
        let it = &mut self.lanes[place];
        let queued = it.trains.len();
        let begun = it.trains.front().filter(|train| train.begun).map(|train| train.units);
        let extends = queued > 1 || begun.is_none() || matches!(self.order, MergeOrder::Sorted(_));
        let joined = it.push_irregular(lane, units, extends, awaited);
        let (count, last) = (it.trains.len(), it.front().last);
        match begun {
            None if queued == 0 => self.expect(place, units.arrivals[0]),
            Some(left) if joined && queued == 1 => self.extend_begun(lane, left, last),
            _ => {}
        }
        count
    }

    /// Change the end of the train that has begun to arrive on a lane and had `left` units left.
    fn extend_begun(&mut self, lane: u32, left: u16, last: Time) {
        if left == 1 {
            self.join_within(lane);
        }
        if let MergeOrder::Sorted(sorted) = &mut self.order {
            sorted.retain(|(_, other)| *other != lane);
        }
        self.expect(lane as usize, last);
    }

    /// The next unit, if it arrives before `limit`.
    #[inline]
    pub(crate) fn pop_before(&mut self, limit: Time) -> Option<Arriving> {
        let (time, lane) = self.order.first()?;
        self.line_up();
        if let Some(inner) = self.inner_ahead_of(time, lane) {
            return self.pop_inner(inner, limit);
        }
        if time >= limit {
            return None;
        }
        let (arriving, train) = self.lanes[lane as usize].take();
        let mut next = Some(train.last);
        if train.units == 0 {
            next = self.lanes[lane as usize].pop();
        } else if train.units > 1 {
            self.join_within_in_turn(lane);
        }
        self.take_turn(lane as usize, next);
        Some(arriving)
    }

    #[inline]
    fn front(&self, lane: u32) -> &CellTrain {
        self.lanes[lane as usize].front()
    }

    /// The lane on which the next unit arrives.
    fn next_lane(&self) -> Option<u32> {
        let (time, lane) = self.order.first()?;
        Some(self.inner_ahead_of(time, lane).map_or(lane, |place| self.within[place]))
    }

    /// The next unit, as a train of its own.
    pub(crate) fn next_unit(&self) -> Option<CellTrain> {
        self.next_lane().map(|lane| CellTrain { units: 1, ..*self.front(lane) })
    }

    /// Move the first lane of the order to its next end of a train, or remove it.
    #[inline]
    fn take_turn(&mut self, lane: usize, next: Option<Time>) {
        match &mut self.order {
            MergeOrder::Sorted(sorted) => {
                sorted.pop();
                if let Some(next) = next
                    && sorted.last().is_none_or(|second| next < second.0)
                {
                    sorted.push((next, lane as u32));
                    return;
                }
            }
            MergeOrder::Heap(heap) => drop(heap.pop_before(Time::NEVER)),
        }
        if let Some(next) = next {
            self.expect(lane, next);
        }
    }

    /// The next train, or its remaining units, if all of them arrive before `stop` and before any other unit.
    #[inline]
    pub(crate) fn alone_before(&self, stop: Time) -> Option<CellTrain> {
        let MergeOrder::Sorted(sorted) = &self.order else { return None };
        let (&(_, lane), others) = sorted.split_last()?;
        if self.within.iter().any(|other| *other != lane) {
            return None;
        }
        let train = self.front(lane);
        let limit = others.last().map_or(stop, |second| second.0.min(stop));
        (train.units > 1 && train.last < limit).then_some(*train)
    }

    /// The sum of the instants at which the units of the first train of a lane arrive.
    pub(crate) fn arrivals(&self, train: &CellTrain) -> u128 {
        self.lanes[train.lane as usize].arrivals()
    }

    /// Return when the units of the first train of a lane arrive, if they are irregular.
    pub(crate) fn irregular(&self, train: &CellTrain) -> Option<impl Iterator<Item = Time>> {
        self.lanes[train.lane as usize].irregular()
    }

    /// The spacing of the units of a train, or the least one if they are irregular.
    pub(crate) fn pace_of(&self, train: &CellTrain) -> TransmissionTime {
        self.lanes[train.lane as usize].spacing.pace
    }

    /// Remove the train whose end is the first.
    pub(crate) fn pop_train(&mut self) {
        let Some((_, lane)) = self.order.first() else { return };
        self.within.retain(|other| *other != lane);
        let next = self.lanes[lane as usize].pop();
        self.take_turn(lane as usize, next);
    }

    /// Find the next train and those that it crosses, if they are short and few, and arrive before `stop` with nothing else in
    /// between; returns when the last of their units does.
    pub(crate) fn crossing(&self, stop: Time, found: &mut Vec<CellTrain>) -> Option<Time> {
        let MergeOrder::Sorted(sorted) = &self.order else { return None };
        let mut end = Time::ZERO;
        for &(time, lane) in sorted.iter().rev() {
            if !found.is_empty() && time > end {
                break;
            }
            let &train = self.front(lane);
            if train.units > SHORT || !train.even || found.len() == MOST_CROSSING {
                return None;
            }
            end = end.max(train.last);
            found.push(train);
        }
        let behind = |train: &CellTrain| self.lanes[train.lane as usize].trains.get(1);
        let apart = found.iter().all(|train| behind(train).is_none_or(|next| next.beat.time > end));
        (apart && self.within.is_empty() && !found.is_empty() && end < stop).then_some(end)
    }

    /// The next end of a train, if it arrives before `limit`.
    #[inline]
    pub(crate) fn next_end(&self, limit: Time) -> Option<TrainEnd> {
        let (time, lane) = self.order.first()?;
        (time < limit).then_some(TrainEnd { time, lane })
    }

    /// Return the train of this end.
    #[inline]
    pub(crate) fn train(&self, end: TrainEnd) -> &CellTrain {
        self.front(end.lane)
    }

    /// Begin the train whose end is the first: its first unit has arrived, and the train stays on its lane.
    pub(crate) fn begin_train(&mut self, end: TrainEnd) {
        let train = self.lanes[end.lane as usize].front_mut();
        train.begun = true;
        let last = train.last;
        self.join_within(end.lane);
        self.take_turn(end.lane as usize, Some(last));
    }

    /// Return how many units of circuits that count arrive before an end of a train, on lanes within another train.
    #[inline]
    pub(crate) fn ahead_of(&self, end: TrainEnd, mut counts: impl FnMut(u32) -> bool) -> u64 {
        let others = self.within.iter().filter(|lane| **lane != end.lane && counts(self.front(**lane).vc));
        others.map(|lane| self.count_ahead(*lane, end)).sum()
    }

    /// Return how many units of circuits that count arrive before `time` on lanes within a train.
    pub(crate) fn before(&self, time: Time, mut counts: impl FnMut(u32) -> bool) -> u64 {
        let lanes = self.within.iter().filter(|lane| counts(self.front(**lane).vc));
        lanes.map(|lane| self.lanes[*lane as usize].count_before(time).0).sum()
    }

    /// Return a place in the order behind all units before `time` on lanes within a train, if there are such lanes; at
    /// most units that arrive a picosecond earlier are behind it.
    pub(crate) fn midst_before(&self, time: Time) -> Option<TrainEnd> {
        let lane = *self.within.first()?;
        Some(TrainEnd { time: Time(time.0.checked_sub(1)?), lane })
    }

    /// Return how many units of a lane within a train arrive before an end of another train.
    #[inline]
    fn count_ahead(&self, lane: u32, end: TrainEnd) -> u64 {
        let (units, next) = self.lanes[lane as usize].count_before(end.time);
        units + u64::from(next == end.time && self.is_before((end.time, lane), (end.time, end.lane)))
    }

    /// Return how many lanes are within a train.
    pub(crate) fn count_within(&self) -> u64 {
        self.within.len() as u64
    }

    /// Return when the next unit arrives.
    pub(crate) fn next_time(&self) -> Option<Time> {
        let (time, lane) = self.order.first()?;
        let inner = self.inner_ahead_of(time, lane).map(|place| self.front(self.within[place]).beat.time);
        Some(inner.unwrap_or(time))
    }

    /// Find for every lane within a train how many of its inner units arrive before the next end of a train and before
    /// `stop`; return the earlier of these instants.
    #[inline]
    pub(crate) fn inner(&self, stop: Time, found: &mut Vec<CellTrain>) -> Time {
        let Some((time, first)) = self.order.first().filter(|_| !self.within.is_empty()) else { return stop };
        let until = time.min(stop);
        for &lane in &self.within {
            if self.front(lane).beat.time > until {
                continue;
            }
            let units = match time < stop && lane != first {
                true => self.count_ahead(lane, TrainEnd { time, lane: first }),
                false => self.lanes[lane as usize].count_before(until).0,
            };
            self.find(lane, units, found);
        }
        until
    }

    /// Find for every lane within a train how many of its units arrive up to an end of a train that has arrived.
    pub(crate) fn up_to(&self, end: TrainEnd, found: &mut Vec<CellTrain>) {
        for &lane in &self.within {
            let units = match lane == end.lane {
                true => self.lanes[lane as usize].count_before(Time(end.time.0 + 1)).0,
                false => self.count_ahead(lane, end),
            };
            self.find(lane, units, found);
        }
    }

    #[inline]
    fn find(&self, lane: u32, units: u64, found: &mut Vec<CellTrain>) {
        if units > 0 {
            found.push(CellTrain { units: units as u16, closed: false, ..*self.front(lane) });
        }
    }

    /// List the units found that are not lost, in the order of their arrivals: the instant, and the index of their
    /// train among those found.
    pub(crate) fn in_order(&mut self, found: &[CellTrain], order: &mut Vec<(Time, u32)>) {
        order.clear();
        if let [CellTrain { beat, units: 1, lost: None, .. }] = found {
            return order.push((beat.time, 0));
        }
        let mut merged = std::mem::take(&mut self.merged);
        for (place, train) in (0..).zip(found).filter(|(_, train)| train.lost.is_none()) {
            let times = self.lanes[train.lane as usize].times(train.units);
            if order.is_empty() {
                order.extend(times.map(|time| (time, place)));
                continue;
            }
            merged.clear();
            self.merge(found, order, times.map(|time| (time, place)), &mut merged);
            std::mem::swap(order, &mut merged);
        }
        self.merged = merged;
    }

    /// Merge units into those in order.
    fn merge(
        &self,
        found: &[CellTrain],
        order: &[(Time, u32)],
        units: impl Iterator<Item = (Time, u32)>,
        merged: &mut Vec<(Time, u32)>,
    ) {
        let rank = |(time, place): (Time, u32)| self.rank(time, found[place as usize].lane);
        let mut ahead = order.iter().copied().peekable();
        for unit in units {
            let is_first =
                |other: &(Time, u32)| other.0 < unit.0 || other.0 == unit.0 && rank(*other) < rank(unit);
            while let Some(other) = ahead.next_if(is_first) {
                merged.push(other);
            }
            merged.push(unit);
        }
        merged.extend(ahead);
    }

    /// Pass the units that [`Inbox::inner`] has found; returns the sum of the arrivals of those that `counts` selects.
    pub(crate) fn pass_inner(
        &mut self,
        found: &[CellTrain],
        mut counts: impl FnMut(&CellTrain) -> bool,
    ) -> u128 {
        let mut sum = 0;
        if !found.is_empty() {
            self.lined_up = LinedUp::No;
        }
        for train in found {
            let lane = &mut self.lanes[train.lane as usize];
            let wanted = counts(train);
            let instants = lane.pass(train.units, wanted);
            sum += if wanted { instants } else { 0 };
            if lane.front().units == 1 {
                self.within.retain(|lane| *lane != train.lane);
            }
        }
        sum
    }

    /// Return whether all units arrive over one line, so that no unknown arrival can precede a known one.
    pub(crate) fn is_alone(&self) -> bool {
        self.lanes.len() == 1
    }

    /// Return when the next unit arrives that decides a wait of a host; with many lanes, when the next end of a train
    /// arrives.
    #[inline]
    pub(crate) fn next_awaited(&self) -> Option<Time> {
        match &self.order {
            MergeOrder::Sorted(sorted) => {
                sorted.iter().filter_map(|&(_, lane)| self.lanes[lane as usize].next_awaited()).min()
            }
            MergeOrder::Heap(heap) => heap.first_time(),
        }
    }

    /// Return whether no unit is in flight.
    pub(crate) fn is_empty(&self) -> bool {
        self.order.first().is_none()
    }

    /// Every unit that is still in flight.
    pub(crate) fn units(&self) -> impl Iterator<Item = Unit> {
        self.lanes.iter().flat_map(InboxLane::units)
    }

    /// The units of a regular train that arrive from `time` on, each with its lane, and whether these are not all.
    pub(crate) fn arrivals_from(
        &self,
        train: &CellTrain,
        time: Time,
    ) -> (impl Iterator<Item = (Time, u32)>, bool) {
        self.lanes[train.lane as usize].arrivals_from(train, time)
    }

    /// The next end of a train on a lane arrives at `time`.
    #[inline]
    fn expect(&mut self, lane: usize, time: Time) {
        let Inbox { lanes, order, ties, .. } = self;
        let rank = |lane: u32| {
            let line = lanes[lane as usize].line;
            (ties.rank(time, line), line)
        };
        match order {
            MergeOrder::Sorted(sorted) => {
                let lane = lane as u32;
                let later = |&(other, second): &(Time, u32)| {
                    other > time || other == time && rank(second) > rank(lane)
                };
                let place = sorted.iter().rposition(later).map_or(0, |before| before + 1);
                sorted.insert(place, (time, lane));
            }
            MergeOrder::Heap(heap) => {
                let rank = ties.rank(time, lanes[lane].line);
                heap.push(Event { time, class: Class::Arrive, rank, entity: lane as u32 });
            }
        }
    }

    /// Put the lanes within a train in order, if the next unit is needed twice in a row: then a lane that has had its
    /// turn goes to the back, and the others need no comparison.
    #[inline]
    fn line_up(&mut self) {
        match self.lined_up {
            LinedUp::Yes => {}
            LinedUp::No => self.lined_up = LinedUp::Sought,
            LinedUp::Sought if self.within.len() <= FEW => {}
            LinedUp::Sought => {
                let mut within = std::mem::take(&mut self.within);
                within.sort_unstable_by_key(|lane| {
                    let time = self.front(*lane).beat.time;
                    std::cmp::Reverse((time, self.rank(time, *lane)))
                });
                (self.within, self.lined_up) = (within, LinedUp::Yes);
            }
        }
    }

    /// Add a lane within a train at any place of the list.
    fn join_within(&mut self, lane: u32) {
        self.within.push(lane);
        self.lined_up = LinedUp::No;
    }

    /// Add a lane within a train, in order if the list is in order.
    #[inline]
    fn join_within_in_turn(&mut self, lane: u32) {
        if self.lined_up != LinedUp::Yes {
            return self.within.push(lane);
        }
        let at = |lane: u32| (self.front(lane).beat.time, lane);
        let ahead = self.within.iter().position(|other| self.is_before(at(*other), at(lane)));
        self.within.insert(ahead.unwrap_or(self.within.len()), lane);
    }

    /// Return the place in the list of the lane whose inner unit arrives first of all, if it arrives before the end of
    /// a train that is first in the order.
    #[inline]
    fn inner_ahead_of(&self, time: Time, lane: u32) -> Option<usize> {
        let last = self.within.len().saturating_sub(1);
        let from = if self.lined_up == LinedUp::Yes { last } else { 0 };
        let (mut first, mut ahead) = ((time, lane), None);
        for (place, &lane) in self.within.iter().enumerate().skip(from) {
            let time = self.front(lane).beat.time;
            if self.is_before((time, lane), first) {
                (first, ahead) = ((time, lane), Some(place));
            }
        }
        ahead
    }

    /// Remove and return the next unit of a lane within a train, if it arrives before `limit`.
    fn pop_inner(&mut self, place: usize, limit: Time) -> Option<Arriving> {
        let index = self.within[place];
        let lane = &mut self.lanes[index as usize];
        if lane.front().beat.time >= limit {
            return None;
        }
        let (arriving, train) = lane.take();
        if self.lined_up == LinedUp::Yes {
            self.within.pop(); // the first of all stands last
            if train.units > 1 {
                self.join_within_in_turn(index);
            }
        } else if train.units == 1 {
            self.within.swap_remove(place);
        }
        Some(arriving)
    }

    /// Return whether the first unit arrives before the second, each given by its instant and its lane.
    #[inline]
    pub(crate) fn is_before(&self, (time, lane): (Time, u32), (other, second): (Time, u32)) -> bool {
        time < other || time == other && self.rank(time, lane) < self.rank(time, second)
    }

    /// The place of a lane among those on which units arrive at the same instant.
    fn rank(&self, time: Time, lane: u32) -> (u32, u32) {
        let line = self.lanes[lane as usize].line;
        (self.ties.rank(time, line), line)
    }
}

#[cfg(test)]
mod tests;
