//! Pauses from outside: a port receives pause frames at instants that the scenario gives.
//!
//! *Source*: test plans of switches, in which a tester or a broken host keeps sending pause frames (a storm, as SONiC's
//! watchdog of priority flow control calls it). Such a pause adds to those of memories: a class goes on when all of them
//! have ended.

use std::collections::{BTreeSet, VecDeque};

use crate::link::control::PauseFrame;
use crate::units::Time;
use crate::units::ids::{IdVec, LineId, PortVc};

/// Pauses with this number and the following ones stand for storms, in the place of the number of a memory.
pub(super) const OUTSIDE: u32 = 1 << 31;

/// A storm at the port of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spec {
    /// The line.
    pub line: LineId,
    /// The class that is paused, numbered within the scenario; `None` for all classes at the port.
    pub class: Option<u32>,
    /// The instants at which the pause begins and ends.
    pub from: Time,
    /// The end of the pause.
    pub to: Time,
}

/// The pause frames that a port will obey, in the order of time: those from outside, and those to which it needs time to
/// respond.
#[derive(Clone, Debug, Default)]
pub(super) struct Awaited(VecDeque<(Time, PauseFrame)>);

impl Awaited {
    /// Build the frames of these storms, for a port whose circuits have these classes.
    pub(super) fn new(specs: &[&Spec], of: &IdVec<PortVc, u32>) -> Awaited {
        let classes: BTreeSet<u32> = of.iter().copied().collect();
        let mut frames = Vec::new();
        for (storm, spec) in (OUTSIDE..).zip(specs) {
            let hit = classes.iter().filter(|&&class| spec.class.is_none_or(|only| only == class));
            for &class in hit {
                let frame = |stops| PauseFrame { class, memory: storm, stops };
                frames.extend([(spec.from, frame(true)), (spec.to, frame(false))]);
            }
        }
        // A storm that begins when another one ends continues it.
        frames.sort_by_key(|(time, frame)| (*time, !frame.stops));
        Awaited(frames.into())
    }

    /// Add a frame that the port obeys at `time`.
    pub(super) fn add(&mut self, time: Time, frame: PauseFrame) {
        let place = self.0.partition_point(|(other, _)| *other <= time);
        self.0.insert(place, (time, frame));
    }

    /// Return when the port obeys the next frame.
    pub(super) fn next(&self) -> Option<Time> {
        self.0.front().map(|(time, _)| *time)
    }

    /// Remove and return the next frame, if the port obeys it by `now`.
    pub(super) fn due(&mut self, now: Time) -> Option<PauseFrame> {
        self.next().filter(|time| *time <= now)?;
        self.0.pop_front().map(|(_, frame)| frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// List the frames of two storms over the classes 3 and 5: time, class and whether it stops.
    fn frames(specs: &[Spec]) -> Vec<(u64, u32, bool)> {
        let mut storms = Awaited::new(&specs.iter().collect::<Vec<_>>(), &[3, 5, 3].into());
        std::iter::from_fn(|| {
            let time = storms.next()?;
            let frame = storms.due(time)?;
            Some((time.0, frame.class, frame.stops))
        })
        .collect()
    }

    #[test]
    fn a_storm_stops_its_class_or_every_class_of_the_port() {
        let storm = |class, from, to| Spec { line: LineId(0), class, from: Time(from), to: Time(to) };
        assert_eq!(frames(&[storm(Some(5), 1, 2)]), [(1, 5, true), (2, 5, false)]);
        assert_eq!(frames(&[storm(Some(4), 1, 2)]), []);
        let all = frames(&[storm(None, 1, 2)]);
        assert_eq!(all, [(1, 3, true), (1, 5, true), (2, 3, false), (2, 5, false)]);
    }

    #[test]
    fn a_storm_that_follows_another_one_begins_before_that_ends() {
        let storm = |from, to| Spec { line: LineId(0), class: Some(3), from: Time(from), to: Time(to) };
        assert_eq!(
            frames(&[storm(5, 9), storm(1, 5)]),
            [(1, 3, true), (5, 3, true), (5, 3, false), (9, 3, false)]
        );
    }

    #[test]
    fn frames_that_need_time_come_in_the_order_of_time_between_those_of_storms() {
        let spec = Spec { line: LineId(0), class: Some(0), from: Time(4), to: Time(6) };
        let mut awaited = Awaited::new(&[&spec], &[0].into());
        let frame = |stops| PauseFrame { class: 0, memory: 7, stops };
        awaited.add(Time(5), frame(true));
        awaited.add(Time(5), frame(false));
        let order = std::iter::from_fn(|| awaited.due(Time(9))).map(|frame| (frame.memory, frame.stops));
        let expected = [(OUTSIDE, true), (7, true), (7, false), (OUTSIDE, false)];
        assert_eq!(order.collect::<Vec<_>>(), expected, "equal instants keep their order");
    }

    #[test]
    fn a_frame_is_due_at_its_instant() {
        let spec = Spec { line: LineId(0), class: None, from: Time(4), to: Time(6) };
        let mut storms = Awaited::new(&[&spec], &[0].into());
        assert_eq!(storms.due(Time(3)), None);
        assert!(storms.due(Time(4)).is_some_and(|frame| frame.stops && frame.memory == OUTSIDE));
    }
}
