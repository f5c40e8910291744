//! What is known to arrive at a port: trains of units on each incoming line, merged in the documented order.
//!
//! Only the ends of trains, their first and last units, are kept in order. Where the units between them stand, the inner
//! ones of lanes in the midst of a train, follows by arithmetic, and they may be taken one by one or all up to an instant.

mod course;
mod irregular;
mod lane;
mod midst;
mod reserved;

use crate::buffer::verdict::Reason;
use crate::engine::exact::spacing::{Beat, Pace};
use crate::kernel::Ties;
use crate::kernel::queue::{Class, Event, EventQueue};
use crate::unit::{Flags, Unit};
use crate::units::Time;

pub(in crate::engine) use course::{Arrival, ArrivalTimes};
pub(in crate::engine) use irregular::IrregularArrivals;
pub(in crate::engine) use lane::{InboxLane, Train};
pub(in crate::engine) use reserved::Ahead;

/// A unit that arrives: when, and its circuit's number at the port.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct Arriving {
    pub(in crate::engine) time: Time,
    pub(in crate::engine) unit: Unit,
    pub(in crate::engine) vc: u32,
}

/// Consecutive units of a train that pass together, the first and perhaps the last of which have given `unit` their marks.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct Inner {
    /// The lane.
    lane: u32,
    /// The first one.
    pub(in crate::engine) unit: Unit,
    /// Its circuit's number at the port.
    pub(in crate::engine) vc: u32,
    /// When it arrives.
    pub(in crate::engine) comes: Time,
    /// How many there are.
    pub(in crate::engine) units: u64,
    /// Whether they keep the pace of their line.
    pub(in crate::engine) even: bool,
    /// Why they are lost, if that is known.
    pub(in crate::engine) lost: Option<Reason>,
}

/// The first or the last unit of a train, which is the next of these to arrive.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct End {
    /// When it arrives.
    pub(in crate::engine) time: Time,
    lane: u32,
}

/// The next train of all, with which nothing else arrives.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct Alone {
    /// When its first unit arrives.
    pub(in crate::engine) beat: Beat,
    /// That unit.
    pub(in crate::engine) unit: Unit,
    /// Its circuit's number at the port.
    pub(in crate::engine) vc: u32,
    /// How many there are, two at least.
    pub(in crate::engine) units: u16,
    /// Whether some have arrived already.
    pub(in crate::engine) begun: bool,
    /// Whether the last one ends the frame.
    pub(in crate::engine) closed: bool,
    /// When the last one arrives.
    pub(in crate::engine) last: Time,
    /// The pace that they keep, or at which they follow each other at most.
    pub(in crate::engine) pace: Pace,
    lane: u32,
}

/// Everything that is on its way to one port.
#[derive(Clone, Debug)]
pub(in crate::engine) struct Inbox {
    lanes: Vec<InboxLane>,
    order: MergeOrder,
    /// Lanes where the next unit is an inner one of a train.
    midst: Vec<u32>,
    lined_up: LinedUp,
    /// Room to merge lanes in.
    merged: Vec<(Time, u32)>,
    ties: Ties,
    /// Trains that were taken as soon as they began, as far as something may still be to arrive.
    ahead: Vec<Ahead>,
}

/// Whether the lanes in the midst of a train stand in the order of their next units, the first of all last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LinedUp {
    No,
    /// No, and the first one has been looked for since they did.
    Sought,
    Yes,
}

/// The next end of a train on every lane that has one, by time.
///
/// A lane that has had its turn goes behind those that are in the midst of a train, and before the many where the next one
/// is still far away. With many lanes of packets that is no longer so.
#[derive(Clone, Debug)]
enum MergeOrder {
    /// The earliest one last.
    Ring(Vec<(Time, u32)>),
    Heap(Box<EventQueue>),
}

/// Most lanes of a ring.
const RING: usize = 256;
/// Most units of a short train, and most trains that cross each other.
const SHORT: u16 = 4;
pub(in crate::engine) const MOST_CROSSING: usize = 8;

impl MergeOrder {
    /// The earliest end of a train: when, and on which lane.
    #[inline]
    fn first(&self) -> Option<(Time, u32)> {
        match self {
            MergeOrder::Ring(ring) => ring.last().copied(),
            MergeOrder::Heap(heap) => heap.first().map(|event| (event.time, event.entity)),
        }
    }
}

impl Inbox {
    /// Nothing on these lanes.
    pub(in crate::engine) fn new(lanes: Vec<InboxLane>, ties: Ties) -> Inbox {
        let order = match lanes.len() {
            0..=RING => MergeOrder::Ring(Vec::with_capacity(lanes.len())),
            _ => MergeOrder::Heap(Box::default()),
        };
        let (midst, lined_up) = (Vec::new(), LinedUp::No);
        Inbox { lanes, order, midst, lined_up, merged: Vec::new(), ties, ahead: Vec::new() }
    }

    /// Units that can arrive in the time that one of this pace takes.
    pub(in crate::engine) fn influx(&self, pace: &Pace) -> u64 {
        self.lanes.iter().map(|lane| pace.whole.0.div_ceil(lane.rhythm.pace.whole.0)).sum()
    }

    /// A train sets out on a lane, behind all others there; answers how many are now on it.
    pub(in crate::engine) fn push(&mut self, lane: usize, train: Train) -> usize {
        self.lanes[lane].push(train);
        let count = self.lanes[lane].trains.len();
        if count == 1 {
            self.expect(lane, train.beat.time);
        }
        count
    }

    /// Units of a frame set out on a lane, behind all others there, that do not keep the pace; perhaps a host waits for the
    /// last one. Answers how many trains are now on it.
    pub(in crate::engine) fn push_uneven(
        &mut self,
        lane: usize,
        party: &IrregularArrivals<'_>,
        awaited: bool,
    ) -> usize {
        let it = &mut self.lanes[lane];
        let (queued, begun) =
            (it.trains.len(), it.trains.front().filter(|train| train.begun).map(|train| train.left));
        let extends = queued > 1 || begun.is_none() || matches!(self.order, MergeOrder::Ring(_));
        let joined = it.push_uneven(party, extends, awaited);
        let (count, last) = (it.trains.len(), it.front().last);
        match begun {
            None if queued == 0 => self.expect(lane, party.arrivals[0]),
            Some(left) if joined && queued == 1 => {
                if left == 1 {
                    self.join_midst(lane as u32);
                }
                if let MergeOrder::Ring(ring) = &mut self.order {
                    ring.retain(|(_, other)| *other != lane as u32);
                }
                self.expect(lane, last);
            }
            _ => {}
        }
        count
    }

    /// The next unit, if it arrives before `limit`.
    #[inline]
    pub(in crate::engine) fn pop_before(&mut self, limit: Time) -> Option<Arriving> {
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
        if train.left == 0 {
            next = self.lanes[lane as usize].pop();
        } else if train.left > 1 {
            self.join_midst_in_turn(lane);
        }
        self.take_turn(lane as usize, next);
        Some(arriving)
    }

    #[inline]
    fn front(&self, lane: u32) -> &Train {
        self.lanes[lane as usize].front()
    }

    /// The lane that was first in the order is to be expected at another time, or no more.
    #[inline]
    fn take_turn(&mut self, lane: usize, next: Option<Time>) {
        match &mut self.order {
            MergeOrder::Ring(ring) => {
                ring.pop();
                if let Some(next) = next
                    && ring.last().is_none_or(|second| next < second.0)
                {
                    ring.push((next, lane as u32));
                    return;
                }
            }
            MergeOrder::Heap(heap) => drop(heap.pop_before(Time::NEVER)),
        }
        if let Some(next) = next {
            self.expect(lane, next);
        }
    }

    /// The next train, or what is left of it, if all of it arrives before `stop` and before anything else does.
    #[inline]
    pub(in crate::engine) fn alone_before(&self, stop: Time) -> Option<Alone> {
        let MergeOrder::Ring(ring) = &self.order else { return None };
        let (&(_, lane), others) = ring.split_last()?;
        if self.midst.iter().any(|other| *other != lane) {
            return None;
        }
        let &Train { beat, unit, vc, left, begun, closed, last, .. } = self.front(lane);
        let limit = others.last().map_or(stop, |second| second.0.min(stop));
        let pace = self.lanes[lane as usize].rhythm.pace;
        let alone = Alone { beat, unit, vc, units: left, begun, closed, last, pace, lane };
        (left > 1 && last < limit).then_some(alone)
    }

    /// The sum of the instants at which its units arrive.
    pub(in crate::engine) fn arrivals(&self, alone: &Alone) -> u128 {
        self.lanes[alone.lane as usize].arrivals()
    }

    /// When its units arrive, if they do not keep the pace.
    pub(in crate::engine) fn uneven(&self, alone: &Alone) -> Option<impl Iterator<Item = Time>> {
        self.lanes[alone.lane as usize].uneven()
    }

    /// The train has passed whose end is the first.
    pub(in crate::engine) fn pop_train(&mut self) {
        let Some((_, lane)) = self.order.first() else { return };
        self.midst.retain(|other| *other != lane);
        let next = self.lanes[lane as usize].pop();
        self.take_turn(lane as usize, next);
    }

    /// Find the next train and those that it crosses, if they are short and few, and arrive before `stop` with nothing else in
    /// between; answers when the last of their units does.
    pub(in crate::engine) fn crossing(&self, stop: Time, found: &mut Vec<Inner>) -> Option<Time> {
        let MergeOrder::Ring(ring) = &self.order else { return None };
        let mut end = Time::ZERO;
        for &(time, lane) in ring.iter().rev() {
            if !found.is_empty() && time > end {
                break;
            }
            let &Train { beat, unit, vc, left, closed, even, last, .. } = self.front(lane);
            if left > SHORT || !even || found.len() == MOST_CROSSING {
                return None;
            }
            end = end.max(last);
            let eom = if closed { Flags::EOM } else { Flags::default() };
            let unit = Unit { flags: unit.flags.with(eom), ..unit };
            found.push(Inner { lane, unit, vc, comes: beat.time, units: left.into(), even, lost: None });
        }
        let behind = |train: &Inner| self.lanes[train.lane as usize].trains.get(1);
        let apart = found.iter().all(|train| behind(train).is_none_or(|next| next.beat.time > end));
        (apart && self.midst.is_empty() && !found.is_empty() && end < stop).then_some(end)
    }

    /// The next end of a train, if it arrives before `limit`.
    #[inline]
    pub(in crate::engine) fn next_end(&self, limit: Time) -> Option<End> {
        let (time, lane) = self.order.first()?;
        (time < limit).then_some(End { time, lane })
    }

    /// The train whose end this is.
    #[inline]
    pub(in crate::engine) fn train(&self, end: End) -> &Train {
        self.front(end.lane)
    }

    /// The sum of the instants at which its units arrive.
    pub(in crate::engine) fn sum_of_arrivals(&self, end: End) -> u128 {
        self.lanes[end.lane as usize].arrivals()
    }

    /// The first unit of the train has arrived whose end is the first, and stays on its lane.
    pub(in crate::engine) fn begin_train(&mut self, end: End) {
        let train = self.lanes[end.lane as usize].front_mut();
        train.begun = true;
        let last = train.last;
        self.join_midst(end.lane);
        self.take_turn(end.lane as usize, Some(last));
    }

    /// How many units of circuits that count come before an end of a train, on lanes in the midst of another.
    #[inline]
    pub(in crate::engine) fn ahead_of(&self, end: End, counts: impl Fn(u32) -> bool) -> u64 {
        let others = self.midst.iter().filter(|lane| **lane != end.lane && counts(self.front(**lane).vc));
        others.map(|lane| self.count_ahead(*lane, end)).sum()
    }

    /// How many units of circuits that count come before `time` on lanes in the midst of a train.
    pub(in crate::engine) fn before(&self, time: Time, counts: impl Fn(u32) -> bool) -> u64 {
        let lanes = self.midst.iter().filter(|lane| counts(self.front(**lane).vc));
        lanes.map(|lane| self.lanes[*lane as usize].count_before(time).0).sum()
    }

    /// A place in the order behind all units of lanes in the midst of a train that come before `time`, if there are such
    /// lanes; at most units that arrive a picosecond earlier come behind it.
    pub(in crate::engine) fn midst_before(&self, time: Time) -> Option<End> {
        let lane = *self.midst.first()?;
        Some(End { time: Time(time.0.checked_sub(1)?), lane })
    }

    /// How many units of a lane that is in the midst of a train come before an end of another.
    #[inline]
    fn count_ahead(&self, lane: u32, end: End) -> u64 {
        let (units, next) = self.lanes[lane as usize].count_before(end.time);
        units + u64::from(next == end.time && self.is_before((end.time, lane), (end.time, end.lane)))
    }

    /// How many lanes are in the midst of a train.
    pub(in crate::engine) fn in_midst(&self) -> u64 {
        self.midst.len() as u64
    }

    /// When the next unit arrives.
    pub(in crate::engine) fn next_time(&self) -> Option<Time> {
        let (time, lane) = self.order.first()?;
        let inner = self.inner_ahead_of(time, lane).map(|place| self.front(self.midst[place]).beat.time);
        Some(inner.unwrap_or(time))
    }

    /// Find for every lane in the midst of a train how many of its inner units arrive before the next end of a train and
    /// before `stop`; answers the earlier of these instants.
    #[inline]
    pub(in crate::engine) fn inner(&self, stop: Time, found: &mut Vec<Inner>) -> Time {
        let Some((time, first)) = self.order.first().filter(|_| !self.midst.is_empty()) else { return stop };
        let until = time.min(stop);
        for &lane in &self.midst {
            if self.front(lane).beat.time > until {
                continue;
            }
            let units = match time < stop && lane != first {
                true => self.count_ahead(lane, End { time, lane: first }),
                false => self.lanes[lane as usize].count_before(until).0,
            };
            self.find(lane, units, found);
        }
        until
    }

    /// Find for every lane in the midst of a train how many of its units come up to an end of a train that has arrived.
    pub(in crate::engine) fn up_to(&self, end: End, found: &mut Vec<Inner>) {
        for &lane in &self.midst {
            let units = match lane == end.lane {
                true => self.lanes[lane as usize].count_before(Time(end.time.0 + 1)).0,
                false => self.count_ahead(lane, end),
            };
            self.find(lane, units, found);
        }
    }

    #[inline]
    fn find(&self, lane: u32, units: u64, found: &mut Vec<Inner>) {
        let &Train { beat, unit, vc, even, .. } = self.front(lane);
        if units > 0 {
            found.push(Inner { lane, unit, vc, comes: beat.time, units, even, lost: None });
        }
    }

    /// List the units that [`Inbox::inner`] or [`Inbox::up_to`] has found and that are not lost in the order in which they arrive: when, and
    /// whose they are among those found.
    pub(in crate::engine) fn in_order(&mut self, found: &[Inner], order: &mut Vec<(Time, u32)>) {
        if let [Inner { comes, units: 1, lost: None, .. }] = found {
            order.clear();
            return order.push((*comes, 0));
        }
        let mut merged = std::mem::take(&mut self.merged);
        let rank = |(time, place): (Time, u32)| self.rank(time, found[place as usize].lane);
        order.clear();
        for (place, inner) in (0..).zip(found).filter(|(_, inner)| inner.lost.is_none()) {
            if order.is_empty() {
                order.extend(self.lanes[inner.lane as usize].times(inner.units).map(|time| (time, place)));
                continue;
            }
            let mut ahead = order.iter().copied().peekable();
            merged.clear();
            for time in self.lanes[inner.lane as usize].times(inner.units) {
                let unit = (time, place);
                let is_first =
                    |other: &(Time, u32)| other.0 < time || other.0 == time && rank(*other) < rank(unit);
                while let Some(other) = ahead.next_if(is_first) {
                    merged.push(other);
                }
                merged.push(unit);
            }
            merged.extend(ahead);
            std::mem::swap(order, &mut merged);
        }
        self.merged = merged;
    }

    /// Let the units pass that [`Inbox::inner`] has found; answers the sum of the instants at which those arrive that
    /// `counts` wants to know of.
    pub(in crate::engine) fn pass_inner(
        &mut self,
        found: &[Inner],
        mut counts: impl FnMut(&Inner) -> bool,
    ) -> u128 {
        let mut sum = 0;
        if !found.is_empty() {
            self.lined_up = LinedUp::No;
        }
        for inner in found {
            let lane = &mut self.lanes[inner.lane as usize];
            sum += lane.pass(inner.units, counts(inner));
            if lane.front().left == 1 {
                self.midst.retain(|lane| *lane != inner.lane);
            }
        }
        sum
    }

    /// Whether everything comes over one line, so that nothing that is not known yet can come before what is known.
    pub(in crate::engine) fn is_alone(&self) -> bool {
        self.lanes.len() == 1
    }

    /// When the next unit arrives for whose fate a host waits; with many lanes, when the next end of a train does.
    #[inline]
    pub(in crate::engine) fn next_awaited(&self) -> Option<Time> {
        match &self.order {
            MergeOrder::Ring(ring) => {
                ring.iter().filter_map(|&(_, lane)| self.lanes[lane as usize].next_awaited()).min()
            }
            MergeOrder::Heap(heap) => heap.first_time(),
        }
    }

    /// Whether nothing is on its way.
    pub(in crate::engine) fn is_empty(&self) -> bool {
        self.order.first().is_none()
    }

    /// Every unit that is still on its way.
    pub(in crate::engine) fn units(&self) -> impl Iterator<Item = Unit> {
        self.lanes.iter().flat_map(InboxLane::units)
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
            MergeOrder::Ring(ring) => {
                let lane = lane as u32;
                let later = |&(other, second): &(Time, u32)| {
                    other > time || other == time && rank(second) > rank(lane)
                };
                let place = ring.iter().rposition(later).map_or(0, |before| before + 1);
                ring.insert(place, (time, lane));
            }
            MergeOrder::Heap(heap) => {
                let rank = ties.rank(time, lanes[lane].line);
                heap.push(Event { time, class: Class::Arrive, rank, entity: lane as u32 });
            }
        }
    }
}

#[cfg(test)]
mod tests;
