//! Changes of queues that a push-out policy's register has not received yet.
//!
//! # What it assumes
//! The register compares queues at every cell, but the policy reads it only when a cell must be pushed out.
//!
//! # What it skips
//! Updates of the register for each cell: the port records trains that join and cells that leave.
//!
//! # Why that is exact
//! The last few changes usually determine the named queue. If they do not, the register receives more changes, if
//! necessary all of them.
//!
//! # What turns it off
//! A push-out policy without a register, or cells that join one by one.
//!
//! # What it saves
//! Without it quasi-push-out would run cell by cell.

use std::cmp::Ordering;

use crate::buffer::pushout::Change;
use crate::engine::cells::inbox::{ArrivalPlace, Inbox};
use crate::engine::cells::train::CellTrain;
use crate::units::Time;
use crate::units::ids::PortVc;

/// Log of changes of queues since the register's named queue was last determined.
#[derive(Debug, Default)]
pub(super) struct RegisterLog {
    /// The queue that the register named then.
    pub(super) before: PortVc,
    joined: Vec<CellTrain>,
    /// Departure time and circuit of each cell that has left.
    left: Vec<(Time, PortVc)>,
    /// Work space: the recorded changes in the order of time.
    moments: Vec<Moment>,
    pub(super) changes: Vec<Change>,
}

/// A cell that has joined a queue, with the lane on which it arrived, or has left.
#[derive(Clone, Copy, Debug)]
struct Moment {
    time: Time,
    lane: Option<u32>,
    vc: PortVc,
}

/// Number of slots per queue whose changes are replayed to the register first.
pub(super) const FIRST: u64 = 3;
/// If these changes do not determine the named queue, the number of slots is multiplied by this factor.
pub(super) const MORE: u64 = 4;
/// Number of recorded changes from which on they are replayed in any case.
const MOST: usize = 1 << 9;

impl RegisterLog {
    /// Record a train whose cells join a queue.
    pub(super) fn join(&mut self, train: CellTrain) {
        self.joined.push(train);
    }

    /// Record a cell that leaves.
    #[inline]
    pub(super) fn leave(&mut self, time: Time, vc: PortVc) {
        self.left.push((time, vc));
    }

    /// Return whether the recorded changes must be replayed in any case.
    pub(super) fn is_long(&self) -> bool {
        self.left.len().max(self.joined.len()) >= MOST
    }

    /// Remove the cells that have not arrived yet (`rests`) from the recorded trains.
    pub(super) fn withdraw(&mut self, rests: &[CellTrain]) {
        for rest in rests {
            let train = self.joined.iter_mut().rfind(|train| train.lane == rest.lane);
            train.expect("what has joined was noted").units -= rest.units;
        }
    }

    /// Begin a new log after a replay: the register now names `longest`; the cells of `rests`, which are still to
    /// arrive, remain recorded.
    pub(super) fn begin(&mut self, longest: PortVc, rests: &[CellTrain]) {
        self.joined.clear();
        self.left.clear();
        self.joined.extend(rests);
        self.before = longest;
    }

    /// List the changes since `from`; returns whether these are all recorded changes.
    pub(super) fn list_from(&mut self, inbox: &Inbox, from: Time) -> bool {
        let RegisterLog { joined, left, moments, changes, .. } = self;
        moments.clear();
        let late = left.iter().rev().take_while(|(time, _)| *time >= from);
        moments.extend(late.map(|&(time, vc)| Moment { time, lane: None, vc }));
        let mut all = moments.len() == left.len();
        for train in joined.iter() {
            let (arrivals, more) = inbox.arrivals_from(train, from);
            let vc = train.vc;
            moments.extend(arrivals.map(|at| Moment { time: at.time, lane: Some(at.lane), vc }));
            all &= !more;
        }
        moments.sort_unstable_by(|one, other| order(one, other, inbox));
        changes.clear();
        changes.extend(moments.iter().map(|&Moment { lane, vc, .. }| Change { vc, joined: lane.is_some() }));
        all
    }
}

/// Order two changes: at one instant a departure precedes every arrival.
fn order(one: &Moment, other: &Moment, inbox: &Inbox) -> Ordering {
    let place = |moment: &Moment| Some(ArrivalPlace { time: moment.time, lane: moment.lane? });
    one.time.cmp(&other.time).then_with(|| match (place(one), place(other)) {
        (Some(first), Some(second)) if inbox.is_before(first, second) => Ordering::Less,
        (Some(first), Some(second)) if inbox.is_before(second, first) => Ordering::Greater,
        (first, second) => first.is_some().cmp(&second.is_some()),
    })
}
