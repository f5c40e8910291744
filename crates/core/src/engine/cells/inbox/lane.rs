//! One lane of an inbox: units that arrive at a port in order.
//!
//! # What it assumes
//! Units of a lane arrive in the order in which they were pushed, and no closer to each other than its line allows.
//!
//! # What it skips
//! Visiting each unit: counts and sums of arrivals are closed forms of the spacing of the line.
//!
//! # Why that is exact
//! `exact/spacing.rs` gives the instant of every unit with its remainder; irregular units have a list of instants.

use std::collections::VecDeque;
use std::rc::Rc;

use crate::engine::cells::inbox::ArrivalPlace;
use crate::engine::cells::inbox::irregular::IrregularArrivals;
use crate::engine::cells::train::CellTrain;
use crate::engine::exact::spacing::{ExactTime, SpacingTable};
use crate::unit::Unit;
use crate::units::Time;
use crate::units::ids::{LineId, PortVc};
use crate::verdict::Reason;

/// An arriving unit: its time, and its circuit's number at the port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arriving {
    pub(crate) time: Time,
    pub(crate) unit: Unit,
    pub(crate) vc: PortVc,
    /// The reason for which a policer has already decided to lose it.
    pub(crate) lost: Option<Reason>,
}

/// The units on one incoming line, or those of one circuit on it.
#[derive(Clone, Debug)]
pub(crate) struct InboxLane {
    pub(crate) line: LineId,
    /// The spacing of units in a train; irregular units are at least this far apart.
    pub(crate) spacing: Rc<SpacingTable>,
    /// Whether units arrive at least as far apart as the port sends them.
    pub(crate) is_spaced: bool,
    pub(crate) trains: VecDeque<CellTrain>,
    /// The number of trains on the lane that a host awaits.
    awaited: usize,
    /// Arrival times of irregular units, of all trains in order.
    times: VecDeque<Time>,
}

impl InboxLane {
    /// Build the empty lane of a line with this spacing, at a port that sends with the spacing `own`.
    pub(crate) fn new(line: LineId, spacing: Rc<SpacingTable>, own: &SpacingTable) -> InboxLane {
        let is_spaced = !spacing.pace.is_faster_than(&own.pace);
        let (trains, times) = (VecDeque::new(), VecDeque::new());
        InboxLane { line, spacing, is_spaced, trains, awaited: 0, times }
    }

    /// Append a train.
    #[inline]
    pub(crate) fn push(&mut self, train: CellTrain) {
        self.awaited += usize::from(train.awaited);
        self.trains.push_back(train);
    }

    /// Put a train back at the front.
    pub(crate) fn put_back(&mut self, train: CellTrain) {
        self.awaited += usize::from(train.awaited);
        self.trains.push_front(train);
    }

    /// Return when the last unit of the first awaited train arrives.
    #[inline]
    pub(crate) fn next_awaited(&self) -> Option<Time> {
        let mut awaited = self.trains.iter().filter(|train| train.awaited);
        if self.awaited > 0 { awaited.next().map(|train| train.last) } else { None }
    }

    /// Return the first train.
    #[inline]
    pub(crate) fn front(&self) -> &CellTrain {
        self.trains.front().expect("a lane in the order has a train")
    }

    #[inline]
    pub(crate) fn front_mut(&mut self) -> &mut CellTrain {
        self.trains.front_mut().expect("a lane in the order has a train")
    }

    /// Remove the next unit; the train stays on the lane even if that was its last unit.
    #[inline]
    pub(crate) fn take(&mut self) -> (Arriving, CellTrain) {
        let InboxLane { spacing, trains, times, .. } = self;
        let train = trains.front_mut().expect("a lane in the order has a train");
        let arriving = Arriving { time: train.beat.time, unit: train.unit, vc: train.vc, lost: train.lost };
        train.beat = if train.even {
            train.beat.next(&spacing.pace)
        } else {
            times.pop_front();
            ExactTime::at(times.front().copied().unwrap_or_default())
        };
        train.advance(1);
        (arriving, *train)
    }

    /// Return the number of units of the first train that arrive before `until` and before the next train, and the
    /// arrival time of the unit after them.
    #[inline]
    pub(crate) fn count_before(&self, until: Time) -> (u64, Time) {
        let train = self.front();
        if train.even {
            let (units, next) = self.spacing.count_before(train.beat, until);
            return (units, next.time);
        }
        let units = self.times.iter().take_while(|time| **time < until).count();
        (units as u64, self.times.get(units).copied().unwrap_or(Time::NEVER))
    }

    /// Return the arrival times of the first `units` units.
    pub(crate) fn times(&self, units: u16) -> impl Iterator<Item = Time> {
        let CellTrain { even, mut beat, .. } = *self.front();
        (0..usize::from(units)).map(move |place| {
            if !even {
                return self.times[place];
            }
            let time = beat.time;
            beat = beat.next(&self.spacing.pace);
            time
        })
    }

    /// Pass the first `units` units of the first train; returns the sum of their arrival times if it is `wanted`.
    pub(crate) fn pass(&mut self, units: u16, wanted: bool) -> u128 {
        let InboxLane { spacing, trains, times, .. } = self;
        let train = trains.front_mut().expect("a lane in the order has a train");
        let mut sum = 0;
        train.beat = match (train.even, wanted) {
            (true, true) => {
                let (beat, instants) = spacing.after(train.beat, units.into());
                sum = instants;
                beat
            }
            (true, false) => spacing.skip(train.beat, units.into()),
            (false, _) => {
                sum = times.drain(..usize::from(units)).map(|time| u128::from(time.0)).sum();
                ExactTime::at(times.front().copied().unwrap_or_default())
            }
        };
        train.advance(units);
        sum
    }

    /// Remove the first train with all its remaining units; returns when the next train arrives.
    pub(crate) fn pop(&mut self) -> Option<Time> {
        if let Some(train) = self.trains.pop_front() {
            self.awaited -= usize::from(train.awaited);
            if !train.even {
                self.times.drain(..usize::from(train.units));
            }
        }
        if self.trains.is_empty() {
            self.trains.clear(); // the following trains move towards the first-level cache
            return None;
        }
        Some(self.front().beat.time)
    }

    /// Return the arrival times of the units of the first train, if they are irregular.
    pub(crate) fn irregular(&self) -> Option<impl Iterator<Item = Time>> {
        let train = self.front();
        (!train.even).then(|| self.times.iter().take(train.units.into()).copied())
    }

    /// Return the sum of the arrival times of the first train's units.
    pub(crate) fn arrivals(&self) -> u128 {
        match self.irregular() {
            Some(times) => times.map(|time| u128::from(time.0)).sum(),
            None => self.sum_of(self.front()),
        }
    }

    /// Return the sum of the arrival times of a regular train's units.
    pub(crate) fn sum_of(&self, train: &CellTrain) -> u128 {
        self.spacing.after(train.beat, train.units.into()).1
    }

    /// Append irregular units; a host may await the last one. If the last train on the lane can be extended and these
    /// units continue its frame, add them to this train. Return whether they were added to it.
    pub(crate) fn push_irregular(
        &mut self,
        lane: u32,
        units: &IrregularArrivals<'_>,
        extend: bool,
        awaited: bool,
    ) -> bool {
        let &IrregularArrivals { unit, vc, arrivals } = units;
        let (first, last) = (arrivals[0], arrivals[arrivals.len() - 1]);
        self.times.extend(arrivals);
        let units = arrivals.len() as u16;
        if let Some(train) = self.trains.back_mut().filter(|train| extend && train.is_continued_by(&unit)) {
            (train.units, train.last, train.closed) = (train.units + units, last, unit.is_eom());
            train.awaited = awaited; // a train that is not closed was not awaited
            self.awaited += usize::from(awaited);
            return true;
        }
        let train = CellTrain::new(ExactTime::at(first), unit, vc, units, last);
        self.push(CellTrain { even: false, lane, awaited, ..train });
        false
    }

    /// Return the units of a regular train that arrive from `time` on, and whether some of its units arrive earlier.
    pub(crate) fn arrivals_from(
        &self,
        train: &CellTrain,
        time: Time,
    ) -> (impl Iterator<Item = ArrivalPlace>, bool) {
        let (lane, units) = (train.lane, u64::from(train.units));
        let (before, mut beat) = self.spacing.count_before(train.beat, time);
        let arrivals = (before..units).map(move |_| {
            let time = beat.time;
            beat = beat.next(&self.spacing.pace);
            ArrivalPlace { time, lane }
        });
        (arrivals, before > 0)
    }

    /// Return every unit on the lane.
    pub(crate) fn units(&self) -> impl Iterator<Item = Unit> {
        self.trains.iter().flat_map(|train| train.each())
    }
}
