//! What is known to arrive at a port: trains of units on each incoming line, merged in the documented order.
//!
//! Only the ends of trains, their first and last units, are kept in order. Where the units between them stand, the inner
//! ones of lanes in the midst of a train, follows by arithmetic, and they may be taken one by one or all up to an instant.

use std::collections::VecDeque;

use super::pace::{Beat, Pace};
use crate::buffer::verdict::Reason;
use crate::kernel::Ties;
use crate::kernel::queue::{Class, Event, EventQueue};
use crate::unit::{Flags, Unit};
use crate::units::Time;

/// Units of one frame that follow each other at the pace of the line from which they come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Train {
    /// When the first one arrives.
    beat: Beat,
    /// The first one.
    unit: Unit,
    /// Its circuit's number at the port.
    vc: u32,
    /// How many there are; if more than one, the last one ends the frame.
    left: u16,
    /// When the last one arrives.
    last: Time,
}

/// What is on its way over one incoming line.
#[derive(Clone, Debug)]
pub(super) struct Lane {
    line: u32,
    pace: Pace,
    trains: VecDeque<Train>,
}

/// A unit that arrives: when, and its circuit's number at the port.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arriving {
    pub(super) time: Time,
    pub(super) unit: Unit,
    pub(super) vc: u32,
}

/// Units that arrive on one lane and neither begin nor end a frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inner {
    /// The lane.
    lane: u32,
    /// When the first one arrives.
    beat: Beat,
    /// The first one.
    pub(super) unit: Unit,
    /// Its circuit's number at the port.
    pub(super) vc: u32,
    /// How many there are.
    pub(super) units: u64,
    /// Why they are lost, if that is known.
    pub(super) lost: Option<Reason>,
}

/// The next train of all, with which nothing else arrives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alone {
    /// When its first unit arrives.
    pub(super) beat: Beat,
    /// That unit.
    pub(super) unit: Unit,
    /// Its circuit's number at the port.
    pub(super) vc: u32,
    /// How many there are, two at least; the last one ends the frame.
    pub(super) units: u16,
    /// When the last one arrives.
    pub(super) last: Time,
    /// The pace that they keep.
    pub(super) pace: Pace,
}

/// Everything that is on its way to one port.
#[derive(Clone, Debug)]
pub(super) struct Inputs {
    lanes: Vec<Lane>,
    order: Order,
    /// Lanes where the next unit is an inner one of a train.
    midst: Vec<u32>,
    ties: Ties,
    /// When units arrive for whose fate a host waits, in order; with many lanes of packets that may be any unit.
    awaited: VecDeque<Time>,
}

/// The next end of a train on every lane that has one, by time.
///
/// A lane that has had its turn goes behind those that are in the midst of a train, and before the many where the next one
/// is still far away. With many lanes of packets that is no longer so.
#[derive(Clone, Debug)]
enum Order {
    /// The earliest one last.
    Ring(Vec<(Time, u32)>),
    Heap(Box<EventQueue>),
}

/// Most lanes of a ring.
const RING: usize = 64;

impl Order {
    /// The earliest end of a train: when, and on which lane.
    #[inline]
    fn first(&self) -> Option<(Time, u32)> {
        match self {
            Order::Ring(ring) => ring.last().copied(),
            Order::Heap(heap) => heap.first().map(|event| (event.time, event.entity)),
        }
    }
}

impl Train {
    /// A train of `units` units, the first and the last of which have given `unit` their marks.
    pub(super) fn new(beat: Beat, mut unit: Unit, vc: u32, units: u16, last: Time) -> Train {
        if units > 1 {
            unit.flags = Flags(unit.flags.0 & !Flags::EOM.0);
        }
        Train { beat, unit, vc, left: units, last }
    }

    /// Take the first unit and answer when it arrives; the train goes on with the next one.
    #[inline]
    fn take(&mut self, pace: &Pace) -> (Time, Unit) {
        let (time, unit) = (self.beat.time, self.unit);
        self.left -= 1;
        if self.left > 0 {
            self.beat = self.beat.next(pace);
            self.unit.index += 1;
            let end = if self.left == 1 { Flags::EOM.0 } else { 0 };
            self.unit.flags = Flags(unit.flags.0 & !Flags::FIRST.0 | end);
        }
        (time, unit)
    }

    /// Every unit.
    fn units(mut self, pace: Pace) -> impl Iterator<Item = Unit> {
        std::iter::from_fn(move || (self.left > 0).then(|| self.take(&pace).1))
    }
}

impl Lane {
    /// The empty end of a line on which the units of a train keep this pace.
    pub(super) fn new(line: usize, pace: Pace) -> Lane {
        Lane { line: line as u32, pace, trains: VecDeque::new() }
    }
}

impl Inputs {
    /// Nothing on these lanes.
    pub(super) fn new(lanes: Vec<Lane>, ties: Ties) -> Inputs {
        let order = match lanes.len() {
            0..=RING => Order::Ring(Vec::with_capacity(lanes.len())),
            _ => Order::Heap(Box::default()),
        };
        Inputs { lanes, order, midst: Vec::new(), ties, awaited: VecDeque::new() }
    }

    /// Units that can arrive in the time that one of this pace takes.
    pub(super) fn influx(&self, pace: &Pace) -> u64 {
        self.lanes.iter().map(|lane| pace.whole.div_ceil(lane.pace.whole)).sum()
    }

    /// A train sets out on a lane, behind all others there; answers how many are now on it.
    pub(super) fn push(&mut self, lane: usize, train: Train) -> usize {
        let trains = &mut self.lanes[lane].trains;
        trains.push_back(train);
        let count = trains.len();
        if count == 1 {
            self.expect(lane, train.beat.time);
        }
        count
    }

    /// The next unit, if it arrives before `limit`.
    #[inline]
    pub(super) fn pop_before(&mut self, limit: Time) -> Option<Arriving> {
        let (time, lane) = self.order.first()?;
        if let Some(inner) = self.inner_ahead_of(time, lane) {
            return self.pop_inner(inner, limit);
        }
        if time >= limit {
            return None;
        }
        let Lane { pace, trains, .. } = &mut self.lanes[lane as usize];
        let train = trains.front_mut().expect("a lane in the order has a train");
        let (vc, (time, unit)) = (train.vc, train.take(pace));
        let mut next = Some(train.last);
        if train.left == 0 {
            trains.pop_front();
            next = trains.front().map(|train| train.beat.time);
        } else if train.left > 1 {
            self.midst.push(lane);
        }
        self.take_turn(lane as usize, next);
        Some(Arriving { time, unit, vc })
    }

    /// Where in the list the lane is whose inner unit is the first of all, if it comes before the end of a train that is
    /// first in the order.
    #[inline]
    fn inner_ahead_of(&self, time: Time, lane: u32) -> Option<usize> {
        let (mut first, mut ahead) = ((time, lane), None);
        for (place, &lane) in self.midst.iter().enumerate() {
            let time = self.front(lane).beat.time;
            if self.is_before((time, lane), first) {
                (first, ahead) = ((time, lane), Some(place));
            }
        }
        ahead
    }

    /// The next unit of a lane in the midst of a train, if it arrives before `limit`.
    fn pop_inner(&mut self, place: usize, limit: Time) -> Option<Arriving> {
        let lane = &mut self.lanes[self.midst[place] as usize];
        let train = lane.trains.front_mut().expect("a train has inner units");
        if train.beat.time >= limit {
            return None;
        }
        let (vc, (time, unit)) = (train.vc, train.take(&lane.pace));
        if train.left == 1 {
            self.midst.swap_remove(place);
        }
        Some(Arriving { time, unit, vc })
    }

    #[inline]
    fn front(&self, lane: u32) -> &Train {
        self.lanes[lane as usize].trains.front().expect("a lane in the order has a train")
    }

    /// Whether the first unit arrives before the second, each given by its instant and its lane.
    #[inline]
    fn is_before(&self, (time, lane): (Time, u32), (other, second): (Time, u32)) -> bool {
        time < other || time == other && self.rank(time, lane) < self.rank(time, second)
    }

    /// The place of a lane among those on which units arrive at the same instant.
    fn rank(&self, time: Time, lane: u32) -> (u32, u32) {
        let line = self.lanes[lane as usize].line;
        (self.ties.rank(time, line) >> 1, line)
    }

    /// The lane that was first in the order is to be expected at another time, or no more.
    #[inline]
    fn take_turn(&mut self, lane: usize, next: Option<Time>) {
        match &mut self.order {
            Order::Ring(ring) => {
                ring.pop();
                if let Some(next) = next
                    && ring.last().is_none_or(|second| next < second.0)
                {
                    ring.push((next, lane as u32));
                    return;
                }
            }
            Order::Heap(heap) => drop(heap.pop_before(Time::NEVER)),
        }
        if let Some(next) = next {
            self.expect(lane, next);
        }
    }

    /// The next train, or what is left of it, if all of it arrives before `stop` and before anything else does.
    #[inline]
    pub(super) fn alone_before(&self, stop: Time) -> Option<Alone> {
        let Order::Ring(ring) = &self.order else { return None };
        let (&(_, lane), others) = ring.split_last()?;
        if !matches!(self.midst[..], [] | [_]) || self.midst.first().is_some_and(|only| *only != lane) {
            return None;
        }
        let Lane { pace, trains, .. } = &self.lanes[lane as usize];
        let &Train { beat, unit, vc, left, last } = trains.front()?;
        let limit = others.last().map_or(stop, |second| second.0.min(stop));
        (left > 1 && last < limit).then_some(Alone { beat, unit, vc, units: left, last, pace: *pace })
    }

    /// That train has passed.
    pub(super) fn pop_train(&mut self) {
        let Some((_, lane)) = self.order.first() else { return };
        self.midst.clear();
        let trains = &mut self.lanes[lane as usize].trains;
        trains.pop_front();
        let next = trains.front().map(|train| train.beat.time);
        self.take_turn(lane as usize, next);
    }

    /// When the next unit arrives.
    pub(super) fn next_time(&self) -> Option<Time> {
        let (time, lane) = self.order.first()?;
        let inner = self.inner_ahead_of(time, lane).map(|place| self.front(self.midst[place]).beat.time);
        Some(inner.unwrap_or(time))
    }

    /// Find for every lane in the midst of a train how many of its inner units arrive before the next end of a train and
    /// before `stop`; answers the earlier of these instants.
    #[inline]
    pub(super) fn inner(&self, stop: Time, found: &mut Vec<Inner>) -> Time {
        let Some((end, first)) = self.order.first().filter(|_| !self.midst.is_empty()) else { return stop };
        let until = end.min(stop);
        for &lane in &self.midst {
            let &Train { beat, unit, vc, .. } = self.front(lane);
            if beat.time > until {
                continue;
            }
            let pace = &self.lanes[lane as usize].pace;
            let units = beat.count_before(until, pace);
            let ties = end < stop && beat.skip(units, pace).time == end && self.is_before((end, lane), (end, first));
            let units = units + u64::from(ties && lane != first);
            if units > 0 {
                found.push(Inner { lane, beat, unit, vc, units, lost: None });
            }
        }
        until
    }

    /// Name the circuits of units that [`Inputs::inner`] has found in the order in which they arrive, with how many follow
    /// each other.
    pub(super) fn merge(&self, found: &mut Vec<Inner>, mut name: impl FnMut(u32, u64)) {
        let rank = |inner: &Inner| {
            let line = self.lanes[inner.lane as usize].line;
            (self.ties.rank(inner.beat.time, line) >> 1, line)
        };
        while found.len() > 1 {
            let mut first = 0;
            for i in 1..found.len() {
                let (time, least) = (found[i].beat.time, found[first].beat.time);
                if time < least || time == least && rank(&found[i]) < rank(&found[first]) {
                    first = i;
                }
            }
            let next = &mut found[first];
            name(next.vc, 1);
            next.beat = next.beat.next(&self.lanes[next.lane as usize].pace);
            next.units -= 1;
            if next.units == 0 {
                found.swap_remove(first);
            }
        }
        found.drain(..).for_each(|rest| name(rest.vc, rest.units));
    }

    /// Let the units pass that [`Inputs::inner`] has found; answers the sum of the instants at which those arrive that
    /// `counts` wants to know of.
    pub(super) fn pass_inner(&mut self, found: &[Inner], mut counts: impl FnMut(&Inner) -> bool) -> u128 {
        let mut sum = 0;
        for inner in found {
            let lane = &mut self.lanes[inner.lane as usize];
            let train = lane.trains.front_mut().expect("a lane in the order has a train");
            if counts(inner) {
                let (beat, instants) = train.beat.after(inner.units, &lane.pace);
                sum += instants;
                train.beat = beat;
            } else {
                train.beat = train.beat.skip(inner.units, &lane.pace);
            }
            train.unit.index += inner.units as u16;
            train.left -= inner.units as u16;
            if train.left == 1 {
                train.unit.flags = train.unit.flags.with(Flags::EOM);
                self.midst.retain(|lane| *lane != inner.lane);
            }
        }
        sum
    }

    /// Whether everything comes over one line, so that nothing that is not known yet can come before what is known.
    pub(super) fn is_alone(&self) -> bool {
        self.lanes.len() == 1
    }

    /// A host waits for what becomes of a unit that arrives at `time`.
    pub(super) fn wait_for(&mut self, time: Time) {
        if let Order::Ring(_) = self.order {
            let behind = self.awaited.iter().rev().take_while(|other| **other > time).count();
            self.awaited.insert(self.awaited.len() - behind, time);
        }
    }

    /// When the next unit arrives after `now` for which a host may wait.
    pub(super) fn next_awaited(&mut self, now: Time) -> Option<Time> {
        match &self.order {
            Order::Ring(_) => {
                while self.awaited.front().is_some_and(|time| *time <= now) {
                    self.awaited.pop_front();
                }
                self.awaited.front().copied()
            }
            Order::Heap(heap) => heap.first_time(),
        }
    }

    /// Whether nothing is on its way.
    pub(super) fn is_empty(&self) -> bool {
        self.order.first().is_none()
    }

    /// Every unit that is still on its way.
    pub(super) fn units(&self) -> impl Iterator<Item = Unit> {
        let of_lane = |lane: &Lane| {
            let pace = lane.pace;
            lane.trains.clone().into_iter().flat_map(move |train| train.units(pace))
        };
        self.lanes.iter().flat_map(of_lane)
    }

    /// The next end of a train on a lane arrives at `time`.
    #[inline]
    fn expect(&mut self, lane: usize, time: Time) {
        let Inputs { lanes, order, ties, .. } = self;
        let rank = |lane: u32| {
            let line = lanes[lane as usize].line;
            (ties.rank(time, line) >> 1, line)
        };
        match order {
            Order::Ring(ring) => {
                let lane = lane as u32;
                let later = |&(other, second): &(Time, u32)| {
                    other > time || other == time && rank(second) > rank(lane)
                };
                let place = ring.iter().rposition(later).map_or(0, |before| before + 1);
                ring.insert(place, (time, lane));
            }
            Order::Heap(heap) => {
                let rank = ties.rank(time, lanes[lane].line);
                heap.push(Event { time, class: Class::Arrive, rank, entity: lane as u32 });
            }
        }
    }
}
