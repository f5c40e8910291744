//! One lane: the units that follow each other to a port.

use std::collections::VecDeque;
use std::rc::Rc;

use super::Arriving;
use super::irregular::IrregularArrivals;
use crate::engine::exact::spacing::{Beat, SpacingTable};
use crate::unit::{Flags, Unit};
use crate::units::Time;

/// Units of one frame that arrive one behind the other, at the pace of the line from which they come or at instants of
/// their own.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct Train {
    /// When the first one arrives.
    pub(in crate::engine) beat: Beat,
    /// The first one.
    pub(in crate::engine) unit: Unit,
    /// Its circuit's number at the port.
    pub(in crate::engine) vc: u32,
    /// How many there are.
    pub(in crate::engine) left: u16,
    /// Whether the last one ends the frame.
    pub(in crate::engine) closed: bool,
    /// Whether they keep the pace of the line.
    pub(in crate::engine) even: bool,
    /// Whether some have arrived already, though they may still be on the lane.
    pub(in crate::engine) begun: bool,
    /// When the last one arrives.
    pub(in crate::engine) last: Time,
    /// Whether a host waits for that.
    pub(in crate::engine) awaited: bool,
}

/// What is on its way over one incoming line, or what of one circuit is.
#[derive(Clone, Debug)]
pub(in crate::engine) struct InboxLane {
    pub(in crate::engine) line: u32,
    /// The pace that units of a train keep, or at which they follow each other at most.
    pub(in crate::engine) rhythm: Rc<SpacingTable>,
    pub(in crate::engine) trains: VecDeque<Train>,
    /// How many of them are awaited.
    awaited: usize,
    /// When units arrive that do not keep the pace, those of all trains one behind the other.
    times: VecDeque<Time>,
}

impl Train {
    /// A train of `units` units at the pace of their line, the first and the last of which have given `unit` their marks.
    pub(in crate::engine) fn new(beat: Beat, mut unit: Unit, vc: u32, units: u16, last: Time) -> Train {
        let closed = unit.is_eom();
        if units > 1 {
            unit.flags = unit.flags.without(Flags::EOM);
        }
        Train { beat, unit, vc, left: units, closed, even: true, begun: false, last, awaited: false }
    }

    /// So many units are gone.
    #[inline]
    pub(in crate::engine) fn advance(&mut self, units: u16) {
        self.left -= units;
        self.begun = true;
        if self.left > 0 {
            self.unit.index += units;
            let end = if self.left == 1 && self.closed { Flags::EOM } else { Flags::default() };
            self.unit.flags = self.unit.flags.without(Flags::FIRST).with(end);
        }
    }

    /// Whether a unit is the next one behind this train.
    fn is_before(&self, unit: &Unit) -> bool {
        let next = u32::from(self.unit.index) + u32::from(self.left);
        !self.even && !self.closed && self.unit.frame == unit.frame && u32::from(unit.index) == next
    }

    /// Every unit.
    fn units(mut self) -> impl Iterator<Item = Unit> {
        std::iter::from_fn(move || {
            let unit = self.unit;
            (self.left > 0).then(|| self.advance(1)).map(|()| unit)
        })
    }
}

impl InboxLane {
    /// The empty end of a line on which the units of a train keep this pace, or are no closer to each other.
    pub(in crate::engine) fn new(line: usize, rhythm: Rc<SpacingTable>) -> InboxLane {
        InboxLane { line: line as u32, rhythm, trains: VecDeque::new(), awaited: 0, times: VecDeque::new() }
    }

    /// A train sets out, behind all others.
    #[inline]
    pub(in crate::engine) fn push(&mut self, train: Train) {
        self.awaited += usize::from(train.awaited);
        self.trains.push_back(train);
    }

    /// A train is here again that had been taken, before all others.
    pub(in crate::engine) fn put_back(&mut self, train: Train) {
        self.awaited += usize::from(train.awaited);
        self.trains.push_front(train);
    }

    /// When the last unit of the first train arrives for which a host waits.
    #[inline]
    pub(in crate::engine) fn next_awaited(&self) -> Option<Time> {
        let mut awaited = self.trains.iter().filter(|train| train.awaited);
        if self.awaited > 0 { awaited.next().map(|train| train.last) } else { None }
    }

    /// The train whose turn it is.
    #[inline]
    pub(in crate::engine) fn front(&self) -> &Train {
        self.trains.front().expect("a lane in the order has a train")
    }

    #[inline]
    pub(in crate::engine) fn front_mut(&mut self) -> &mut Train {
        self.trains.front_mut().expect("a lane in the order has a train")
    }

    /// Take the next unit; the train is left behind even if it was the last one.
    #[inline]
    pub(in crate::engine) fn take(&mut self) -> (Arriving, Train) {
        let InboxLane { rhythm, trains, times, .. } = self;
        let train = trains.front_mut().expect("a lane in the order has a train");
        let arriving = Arriving { time: train.beat.time, unit: train.unit, vc: train.vc };
        train.beat = if train.even {
            train.beat.next(&rhythm.pace)
        } else {
            times.pop_front();
            Beat::at(times.front().copied().unwrap_or_default())
        };
        train.advance(1);
        (arriving, *train)
    }

    /// How many units of the first train arrive before `until`, none of the next one does; and when the one behind them
    /// does.
    #[inline]
    pub(in crate::engine) fn count_before(&self, until: Time) -> (u64, Time) {
        let train = self.front();
        if train.even {
            let (units, next) = self.rhythm.count_before(train.beat, until);
            return (units, next.time);
        }
        let units = self.times.iter().take_while(|time| **time < until).count();
        (units as u64, self.times.get(units).copied().unwrap_or(Time::NEVER))
    }

    /// When the first of these units arrive.
    pub(in crate::engine) fn times(&self, units: u64) -> impl Iterator<Item = Time> {
        let Train { even, mut beat, .. } = *self.front();
        (0..units as usize).map(move |place| match even {
            true => {
                let time = beat.time;
                beat = beat.next(&self.rhythm.pace);
                time
            }
            false => self.times[place],
        })
    }

    /// So many units of the first train pass, and it goes on behind them; answers the sum of their arrivals if it is
    /// `wanted`.
    pub(in crate::engine) fn pass(&mut self, units: u64, wanted: bool) -> u128 {
        let InboxLane { rhythm, trains, times, .. } = self;
        let train = trains.front_mut().expect("a lane in the order has a train");
        let mut sum = 0;
        train.beat = match (train.even, wanted) {
            (true, true) => {
                let (beat, instants) = rhythm.after(train.beat, units);
                sum = instants;
                beat
            }
            (true, false) => rhythm.skip(train.beat, units),
            (false, _) => {
                let instants =
                    times.drain(..units as usize).map(|time| if wanted { u128::from(time.0) } else { 0 });
                sum = instants.sum();
                Beat::at(times.front().copied().unwrap_or_default())
            }
        };
        train.advance(units as u16);
        sum
    }

    /// The first train leaves, whatever there is of it; answers when the next one comes.
    pub(in crate::engine) fn pop(&mut self) -> Option<Time> {
        if let Some(train) = self.trains.pop_front() {
            self.awaited -= usize::from(train.awaited);
            if !train.even {
                self.times.drain(..usize::from(train.left));
            }
        }
        if self.trains.is_empty() {
            self.trains.clear(); // the next ones find their places in the first level of the cache
            return None;
        }
        Some(self.front().beat.time)
    }

    /// When the units of the first train arrive, if they do not keep the pace.
    pub(in crate::engine) fn uneven(&self) -> Option<impl Iterator<Item = Time>> {
        let train = self.front();
        (!train.even).then(|| self.times.iter().take(train.left.into()).copied())
    }

    /// The sum of the instants at which the units of the first train arrive.
    pub(in crate::engine) fn arrivals(&self) -> u128 {
        let train = self.front();
        match self.uneven() {
            Some(times) => times.map(|time| u128::from(time.0)).sum(),
            None => self.rhythm.after(train.beat, train.left.into()).1,
        }
    }

    /// Units set out that do not keep the pace; perhaps the last one is awaited. They join the last train if it has not left,
    /// they continue its frame, and it may be extended; answers whether they do.
    pub(in crate::engine) fn push_uneven(
        &mut self,
        party: &IrregularArrivals<'_>,
        extend: bool,
        awaited: bool,
    ) -> bool {
        let &IrregularArrivals { unit, vc, arrivals } = party;
        let (first, last) = (arrivals[0], arrivals[arrivals.len() - 1]);
        self.times.extend(arrivals);
        let units = arrivals.len() as u16;
        if let Some(train) = self.trains.back_mut().filter(|train| extend && train.is_before(&unit)) {
            (train.left, train.last, train.closed) = (train.left + units, last, unit.is_eom());
            train.awaited = awaited; // one that is not closed was not
            self.awaited += usize::from(awaited);
            return true;
        }
        let train = Train::new(Beat::at(first), unit, vc, units, last);
        self.push(Train { even: false, awaited, ..train });
        false
    }

    /// Every unit.
    pub(in crate::engine) fn units(&self) -> impl Iterator<Item = Unit> {
        self.trains.iter().flat_map(|train| train.units())
    }
}
