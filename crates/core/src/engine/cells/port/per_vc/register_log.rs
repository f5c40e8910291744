//! What a register that names a queue has not been told of yet.
//!
//! # What it assumes
//! The register compares queues at every cell, but only what it names when something has to go matters.
//!
//! # What it skips
//! Telling the register of each cell: the port notes trains that join and cells that leave.
//!
//! # Why that is exact
//! The last few changes mostly say what the register names. It is reminded of more of them until it knows, of all if need be.
//!
//! # What turns it off
//! A push-out policy without a register, or cells that join one by one.
//!
//! # What it saves
//! Not measured by itself; without it quasi-push-out would go by the cell.

use std::cmp::Ordering;

use crate::buffer::pushout::Change;
use crate::engine::cells::inbox::Inbox;
use crate::engine::cells::train::CellTrain;
use crate::units::Time;

/// What has joined and left since it was known what the register names.
#[derive(Debug, Default)]
pub(super) struct RegisterLog {
    /// What it named then.
    pub(super) before: usize,
    joined: Vec<CellTrain>,
    /// When each cell has left, and whose it was.
    left: Vec<(Time, u32)>,
    /// Cells that have joined, each on a lane, or left: when, and whose they are.
    moments: Vec<(Time, Option<u32>, u32)>,
    pub(super) changes: Vec<Change>,
}

/// Slots of which a register is reminded first, for each queue.
pub(super) const FIRST: u64 = 3;
/// If these do not say what it names, it is reminded of this many times as many.
pub(super) const MORE: u64 = 4;
/// Changes that are noted at most before the register is reminded in any case.
const MOST: usize = 1 << 9;

impl RegisterLog {
    /// Cells join.
    pub(super) fn join(&mut self, train: CellTrain) {
        self.joined.push(train);
    }

    /// A cell leaves.
    #[inline]
    pub(super) fn leave(&mut self, time: Time, vc: usize) {
        self.left.push((time, vc as u32));
    }

    /// Whether the register is to be reminded in any case.
    pub(super) fn is_long(&self) -> bool {
        self.left.len().max(self.joined.len()) >= MOST
    }

    /// What is still to arrive of trains that have joined has not.
    pub(super) fn withdraw(&mut self, rests: &[CellTrain]) {
        for rest in rests {
            let train = self.joined.iter_mut().rfind(|train| train.lane == rest.lane);
            train.expect("what has joined was noted").units -= rest.units;
        }
    }

    /// The register has been reminded: it names this queue, and no more than `rests` is noted.
    pub(super) fn begin(&mut self, longest: usize, rests: &[CellTrain]) {
        self.joined.clear();
        self.left.clear();
        self.joined.extend(rests);
        self.before = longest;
    }

    /// List what has changed since `from`; answers whether that is all.
    pub(super) fn list_from(&mut self, inbox: &Inbox, from: Time) -> bool {
        let RegisterLog { joined, left, moments, changes, .. } = self;
        moments.clear();
        let late = left.iter().rev().take_while(|(time, _)| *time >= from);
        moments.extend(late.map(|&(time, vc)| (time, None, vc)));
        let mut all = moments.len() == left.len();
        for train in joined.iter() {
            let (arrivals, more) = inbox.arrivals_from(train, from);
            moments.extend(arrivals.map(|(time, lane)| (time, Some(lane), train.vc)));
            all &= !more;
        }
        moments.sort_unstable_by(|one, other| order((one.0, one.1), (other.0, other.1), inbox));
        changes.clear();
        changes.extend(moments.iter().map(|&(_, lane, vc)| Change { vc, joined: lane.is_some() }));
        all
    }
}

/// At one instant the line is served before anything arrives.
fn order((time, lane): (Time, Option<u32>), (other, second): (Time, Option<u32>), inbox: &Inbox) -> Ordering {
    time.cmp(&other).then_with(|| match (lane, second) {
        (Some(lane), Some(second)) if inbox.is_before((time, lane), (other, second)) => Ordering::Less,
        (Some(lane), Some(second)) if inbox.is_before((other, second), (time, lane)) => Ordering::Greater,
        (lane, second) => lane.is_some().cmp(&second.is_some()),
    })
}
