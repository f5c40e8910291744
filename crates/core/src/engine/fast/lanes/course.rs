//! When single units of a lane arrive, for those who want to know of each in the end.

use super::{Ahead, Alone, Inner, Inputs};
use crate::engine::fast::pace::Beat;
use crate::units::Time;

/// Consecutive units of a lane that keep its pace.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Course {
    /// Their circuit's number at the port.
    pub(in super::super) vc: u32,
    /// How many there are.
    pub(in super::super) units: u64,
    pub(super) beat: Beat,
    pub(super) lane: u32,
}

/// When a unit arrives, and on which lane.
pub(in super::super) type Arrival = (Time, u32);

impl Course {
    /// What is still to arrive of a train that was taken.
    pub(in super::super) fn of_rest(rest: &Ahead) -> Course {
        let Ahead { train, lane, .. } = rest;
        Course { vc: train.vc, units: train.left.into(), beat: train.beat, lane: *lane }
    }

    /// Whether a train that was taken was one of these.
    pub(in super::super) fn is_of(&self, rest: &Ahead) -> bool {
        self.lane == rest.lane
    }
}

impl Inputs {
    /// Those of a train.
    pub(in super::super) fn course_of_train(&self, alone: &Alone) -> Course {
        let &Alone { vc, units, beat, lane, .. } = alone;
        Course { vc, units: units.into(), beat, lane }
    }

    /// Those found on a lane, which have not passed yet.
    pub(in super::super) fn course_of(&self, inner: &Inner) -> Course {
        let &Inner { vc, units, lane, .. } = inner;
        Course { vc, units, beat: self.front(lane).beat, lane }
    }

    /// The next unit.
    pub(in super::super) fn course_of_next(&self) -> Option<Course> {
        let (time, first) = self.order.first()?;
        let lane = self.inner_ahead_of(time, first).map_or(first, |place| self.midst[place]);
        let train = self.front(lane);
        Some(Course { vc: train.vc, units: 1, beat: train.beat, lane })
    }

    /// The units of a course that arrive from `time` on, and whether these are not all.
    pub(in super::super) fn arrivals_from(
        &self,
        course: &Course,
        time: Time,
    ) -> (impl Iterator<Item = Arrival>, bool) {
        let &Course { units, beat, lane, .. } = course;
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
    pub(in super::super) fn comes_before(&self, one: Arrival, other: Arrival) -> bool {
        self.is_before(one, other)
    }
}
