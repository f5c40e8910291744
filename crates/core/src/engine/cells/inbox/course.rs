//! When single units of a lane arrive, for those who want to know of each in the end.

use super::{Ahead, Alone, Inbox, Inner};
use crate::engine::exact::spacing::Beat;
use crate::units::Time;

/// Consecutive units of a lane that keep its pace.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct ArrivalTimes {
    /// Their circuit's number at the port.
    pub(in crate::engine) vc: u32,
    /// How many there are.
    pub(in crate::engine) units: u64,
    pub(in crate::engine) beat: Beat,
    pub(in crate::engine) lane: u32,
}

/// When a unit arrives, and on which lane.
pub(in crate::engine) type Arrival = (Time, u32);

impl ArrivalTimes {
    /// What is still to arrive of a train that was taken.
    pub(in crate::engine) fn of_rest(rest: &Ahead) -> ArrivalTimes {
        let Ahead { train, lane, .. } = rest;
        ArrivalTimes { vc: train.vc, units: train.left.into(), beat: train.beat, lane: *lane }
    }

    /// Whether a train that was taken was one of these.
    pub(in crate::engine) fn is_of(&self, rest: &Ahead) -> bool {
        self.lane == rest.lane
    }
}

impl Inbox {
    /// Those of a train.
    pub(in crate::engine) fn course_of_train(&self, alone: &Alone) -> ArrivalTimes {
        let &Alone { vc, units, beat, lane, .. } = alone;
        ArrivalTimes { vc, units: units.into(), beat, lane }
    }

    /// Those found on a lane, which have not passed yet.
    pub(in crate::engine) fn course_of(&self, inner: &Inner) -> ArrivalTimes {
        let &Inner { vc, units, lane, .. } = inner;
        ArrivalTimes { vc, units, beat: self.front(lane).beat, lane }
    }

    /// The next unit.
    pub(in crate::engine) fn course_of_next(&self) -> Option<ArrivalTimes> {
        let (time, first) = self.order.first()?;
        let lane = self.inner_ahead_of(time, first).map_or(first, |place| self.midst[place]);
        let train = self.front(lane);
        Some(ArrivalTimes { vc: train.vc, units: 1, beat: train.beat, lane })
    }

    /// The units of a course that arrive from `time` on, and whether these are not all.
    pub(in crate::engine) fn arrivals_from(
        &self,
        course: &ArrivalTimes,
        time: Time,
    ) -> (impl Iterator<Item = Arrival>, bool) {
        let &ArrivalTimes { units, beat, lane, .. } = course;
        let rhythm = &self.lanes[lane as usize].rhythm;
        let (before, mut beat) = rhythm.count_before(beat, time);
        let arrivals = (before..units).map(move |_| {
            let time = beat.time;
            beat = beat.next(&rhythm.pace);
            (time, lane)
        });
        (arrivals, before > 0)
    }

    /// Whether the first of two units arrives before the second.
    pub(in crate::engine) fn comes_before(&self, one: Arrival, other: Arrival) -> bool {
        self.is_before(one, other)
    }
}
