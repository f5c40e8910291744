//! Trains that a port has removed from their lanes when they began, and their units that are still to arrive.
//!
//! # What it assumes
//! The port counts the units of such a train as arrived, and this file lists those that have not arrived yet.
//!
//! # What it skips
//! Looking at the lane again for every unit of the train.
//!
//! # Why that is exact
//! The units still to arrive after an instant follow from the spacing of the line, ties included.
//!
//! # What turns it off
//! More lanes than the merge order keeps in a sorted list, or a policy that judges every cell.
//!
//! # What it saves
//! Without reservation W1 under DT-EPD takes 1.7 times as long, under push-out 2.0 times.

use crate::engine::cells::inbox::{ArrivalPlace, Inbox};
use crate::engine::cells::train::CellTrain;
use crate::units::Time;
use crate::units::ids::PortVc;

impl Inbox {
    /// Return the train that begins with the next unit, if all its units arrive before `stop`, even if other units
    /// arrive in between.
    pub(crate) fn next_train(&self, stop: Time) -> Option<CellTrain> {
        let &end = self.order.sorted()?.last()?;
        let &train = self.front(end.lane);
        let is_next = train.beat.time == end.time && self.next() == Some(end);
        (is_next && train.last < stop).then_some(train)
    }

    /// Remove a train, which [`Inbox::next_train`] has returned, from its lane, and list it as reserved.
    pub(crate) fn reserve(&mut self, train: &CellTrain) {
        self.reserved.push(*self.front(train.lane));
        self.pop_train();
    }

    /// Return the earliest `instant` of a train that a host awaits, but no later than `limit`; with many lanes, the
    /// time of the next end of a train.
    pub(crate) fn first_awaited(&self, limit: Time, instant: impl Fn(&CellTrain) -> Time) -> Time {
        let Some(sorted) = self.order.sorted() else {
            return self.order.first().map_or(limit, |end| end.time.min(limit));
        };
        let mut first = limit;
        for end in sorted {
            for train in &self.lanes[end.lane as usize].trains {
                if train.last >= first {
                    break; // and the trains after it end even later
                }
                if train.awaited {
                    first = first.min(instant(train));
                }
            }
        }
        first
    }

    /// List the units of reserved trains that arrive after the next unit.
    pub(crate) fn list_behind_next(&mut self, rests: &mut Vec<CellTrain>) {
        if self.reserved.is_empty() {
            return;
        }
        if let Some(next) = self.next() {
            self.list(next.time, Some(next.lane), rests);
        }
    }

    /// List the units of reserved trains that arrive from `now` on.
    pub(crate) fn list_from(&mut self, now: Time, rests: &mut Vec<CellTrain>) {
        self.list(now, None, rests);
    }

    /// Put the missing units of reserved trains back on their lanes; no other unit has arrived in between.
    pub(crate) fn put_back(&mut self, rests: &[CellTrain]) {
        self.reserved.clear();
        for &train in rests {
            let lane = train.lane;
            self.lanes[lane as usize].put_back(train);
            if train.units > 1 {
                self.inner.join(lane);
            }
            self.order.remove(lane);
            self.expect(lane, train.last);
        }
    }

    /// Return the number of reserved trains that may have units still to arrive.
    pub(crate) fn begun(&self) -> u64 {
        self.reserved.len() as u64
    }

    /// Return whether units of a circuit's reserved train arrive after `now`.
    pub(crate) fn is_arriving(&self, vc: PortVc, now: Time) -> bool {
        self.reserved.iter().any(|train| train.vc == vc && train.last > now)
    }

    /// Return whether the units of a train arrive at least as far apart as the port sends them.
    pub(crate) fn is_spaced(&self, train: &CellTrain) -> bool {
        self.lanes[train.lane as usize].is_spaced
    }

    /// Return the sum of the arrival times of a reserved train's units.
    pub(crate) fn arrivals_of(&self, train: &CellTrain) -> u128 {
        self.lanes[train.lane as usize].sum_of(train)
    }

    fn list(&mut self, now: Time, next: Option<u32>, rests: &mut Vec<CellTrain>) {
        self.reserved.retain(|train| train.last >= now);
        rests.extend(
            self.reserved.iter().map(|train| self.rest(train, now, next)).filter(|rest| rest.units > 0),
        );
    }

    /// Return the units of a train that arrive from `now` on; with a lane `next`, those after the unit that arrives
    /// on this lane at `now`.
    fn rest(&self, train: &CellTrain, now: Time, next: Option<u32>) -> CellTrain {
        let (mut train, lane) = (*train, train.lane);
        let spacing = &self.lanes[lane as usize].spacing;
        let (before, beat) = spacing.count_before(train.beat, now);
        let at = |lane: u32| ArrivalPlace { time: now, lane };
        let ties = beat.time == now && next.is_some_and(|next| self.is_before(at(lane), at(next)));
        train.beat = if ties { beat.next(&spacing.pace) } else { beat };
        train.advance(before as u16 + u16::from(ties));
        train
    }
}
