//! Where a register names a queue, what it has missed.
//!
//! A register compares queues whenever a cell joins or leaves, but nobody asks what it names before something has to go, and
//! then the last few cells mostly say it. So the port notes trains that join and cells that leave, and reminds the register of
//! as many of the last ones as it needs.

use std::cmp::Ordering;

use super::PerVc;
use crate::buffer::pushout::{Change, PushOut};
use crate::engine::cells::Fast;
use crate::engine::cells::inbox::{Ahead, Arrival, ArrivalTimes, Inbox};
use crate::link::port::Port;
use crate::units::Time;

/// What has joined and left since it was known what the register names.
#[derive(Debug, Default)]
pub(in crate::engine) struct RegisterLog {
    /// What it named then.
    before: usize,
    joined: Vec<ArrivalTimes>,
    /// When each cell has left, and whose it was.
    left: Vec<(Time, u32)>,
    moments: Vec<Moment>,
    changes: Vec<Change>,
}

/// A cell joins a queue, on a lane, or leaves it.
#[derive(Clone, Copy, Debug)]
struct Moment {
    time: Time,
    lane: Option<u32>,
    vc: u32,
}

/// Slots of which a register is reminded first, for each queue.
const FIRST: u64 = 3;
/// If these do not say what it names, so many times as many may.
const MORE: u64 = 4;

/// Cells that are noted at most before the register is reminded in any case.
const MOST: usize = 1 << 9;

impl RegisterLog {
    /// Cells join.
    pub(in crate::engine) fn join(&mut self, course: ArrivalTimes) {
        self.joined.push(course);
    }

    /// A cell leaves.
    #[inline]
    pub(in crate::engine) fn leave(&mut self, time: Time, vc: usize) {
        self.left.push((time, vc as u32));
    }

    /// What is still to arrive of trains that have joined has not.
    fn withdraw(&mut self, rests: &[Ahead]) {
        for rest in rests {
            let train = self.joined.iter_mut().rfind(|course| course.is_of(rest));
            train.expect("what has joined was noted").units -= u64::from(rest.train.left);
        }
    }

    /// List what has changed since `from`; answers whether that is all.
    fn list_from(&mut self, inputs: &Inbox, from: Time) -> bool {
        let RegisterLog { joined, left, moments, changes, .. } = self;
        moments.clear();
        let late = left.iter().rev().take_while(|(time, _)| *time >= from);
        moments.extend(late.map(|&(time, vc)| Moment { time, lane: None, vc }));
        let mut all = moments.len() == left.len();
        for course in joined.iter() {
            let (arrivals, more) = inputs.arrivals_from(course, from);
            moments.extend(arrivals.map(|(time, lane)| Moment { time, lane: Some(lane), vc: course.vc }));
            all &= !more;
        }
        moments.sort_unstable_by(|one, other| one.order(other, inputs));
        changes.clear();
        changes.extend(moments.iter().map(|it| Change { vc: it.vc, joined: it.lane.is_some() }));
        all
    }
}

impl Moment {
    /// At one instant the line is served before anything arrives.
    fn order(&self, other: &Moment, inputs: &Inbox) -> Ordering {
        let arrival = |it: &Moment| -> Option<Arrival> { Some((it.time, it.lane?)) };
        self.time.cmp(&other.time).then_with(|| match (arrival(self), arrival(other)) {
            (Some(one), Some(other)) if inputs.comes_before(one, other) => Ordering::Less,
            (Some(one), Some(other)) if inputs.comes_before(other, one) => Ordering::Greater,
            (one, other) => one.is_some().cmp(&other.is_some()),
        })
    }
}

impl PerVc {
    /// The trains listed go back to where they come from.
    pub(in crate::engine) fn miss_rests(&mut self) {
        if let Some(missed) = &mut self.missed {
            missed.withdraw(&self.rests);
        }
    }

    /// Remind the register of what it has missed. The books are as they are at `now`, without what is listed of trains.
    pub(in crate::engine) fn remind(&mut self, port: &mut Port, now: Time) {
        let (Some(missed), Some(pushout)) = (&mut self.missed, &mut port.pushout) else { return };
        let Some(register) = pushout.register() else { return };
        missed.withdraw(&self.rests);
        let mut slots = FIRST * self.turns.len() as u64;
        loop {
            let from = Time(now.0.saturating_sub(slots * self.pace.whole.0));
            let all = missed.list_from(&self.inputs, from);
            let before = all.then_some(missed.before);
            if register.recall(&port.pool, &missed.changes, before) {
                break;
            }
            slots *= MORE;
        }
        missed.joined.clear();
        missed.left.clear();
        missed.joined.extend(self.rests.iter().map(ArrivalTimes::of_rest));
        missed.before = register.longest();
    }

    /// The register has been told of all that happened since then.
    pub(in crate::engine) fn was_told(&mut self, port: &mut Port) {
        let register = port.pushout.as_mut().and_then(PushOut::register);
        if let (Some(missed), Some(register)) = (&mut self.missed, register) {
            missed.before = register.longest();
        }
    }

    /// Remind the register before the next unit arrives, if it has missed much.
    pub(in crate::engine) fn remind_in_time(&mut self, engine: &mut Fast<'_>, index: usize, next: Time) {
        if self.missed.as_ref().is_none_or(|missed| missed.left.len().max(missed.joined.len()) < MOST) {
            return;
        }
        self.serve(engine, index, next);
        let port = &mut engine.network.ports[index];
        self.book_round(port);
        self.inputs.list_behind_next(&mut self.rests);
        self.set_aside(port, next);
        self.remind(port, next);
        self.bring_back(port);
    }
}
