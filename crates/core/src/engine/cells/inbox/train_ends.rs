//! Passing trains by their ends: only the first and the last unit of a train have a place in the merge order.

use super::Inbox;
use super::merge_order::ArrivalPlace;
use crate::engine::cells::train::CellTrain;
use crate::units::Time;
use crate::units::ids::PortVc;

impl Inbox {
    /// Return the next end of a train (its first or its last unit), if it arrives before `limit`.
    #[inline]
    pub(crate) fn next_end(&self, limit: Time) -> Option<ArrivalPlace> {
        self.order.first().filter(|end| end.time < limit)
    }

    /// Return the train that has this end.
    #[inline]
    pub(crate) fn train(&self, end: ArrivalPlace) -> &CellTrain {
        self.front(end.lane)
    }

    /// Begin the train whose first unit is the first end in the merge order: this unit arrives, and the train stays
    /// on its lane.
    pub(crate) fn begin_train(&mut self, end: ArrivalPlace) {
        let train = self.lanes[end.lane as usize].front_mut();
        train.begun = true;
        let last = train.last;
        self.inner.join(end.lane);
        self.take_turn(end.lane, Some(last));
    }

    /// Remove the train whose last unit is the first end in the merge order.
    pub(crate) fn pop_train(&mut self) {
        let Some(ArrivalPlace { lane, .. }) = self.order.first() else { return };
        self.inner.remove(lane);
        let next = self.lanes[lane as usize].pop();
        self.take_turn(lane, next);
    }

    /// Return how many inner units of other trains arrive before an end of a train, on circuits that `counts`
    /// selects; a policer has not decided to lose them.
    #[inline]
    pub(crate) fn ahead_of(&self, end: ArrivalPlace, mut counts: impl FnMut(PortVc) -> bool) -> u64 {
        let others = self.inner.lanes().iter();
        let others = others.filter(|lane| **lane != end.lane && counted(self.front(**lane), &mut counts));
        others.map(|lane| self.count_ahead(*lane, end)).sum()
    }

    /// Return how many inner units arrive before `time`, on circuits that `counts` selects; a policer has not decided
    /// to lose them.
    pub(crate) fn before(&self, time: Time, mut counts: impl FnMut(PortVc) -> bool) -> u64 {
        let lanes = self.inner.lanes().iter().filter(|lane| counted(self.front(**lane), &mut counts));
        lanes.map(|lane| self.lanes[*lane as usize].count_before(time).0).sum()
    }

    /// Return a place in the order of arrivals just before `time`, if a lane is within a train: only units that
    /// arrive a picosecond before `time` may follow it.
    pub(crate) fn midst_before(&self, time: Time) -> Option<ArrivalPlace> {
        let lane = *self.inner.lanes().first()?;
        Some(ArrivalPlace { time: Time(time.0.checked_sub(1)?), lane })
    }

    /// Find for every lane within a train how many of its units arrive up to `end`, an end of a train that has
    /// already passed.
    pub(crate) fn up_to(&self, end: ArrivalPlace, found: &mut Vec<CellTrain>) {
        for &lane in self.inner.lanes() {
            let units = if lane == end.lane {
                self.lanes[lane as usize].count_before(Time(end.time.0 + 1)).0
            } else {
                self.count_ahead(lane, end)
            };
            self.find(lane, units, found);
        }
    }

    /// Return how many units of a lane within a train arrive before an end of another train.
    #[inline]
    pub(super) fn count_ahead(&self, lane: u32, end: ArrivalPlace) -> u64 {
        let (units, time) = self.lanes[lane as usize].count_before(end.time);
        units + u64::from(time == end.time && self.ranks.is_before(ArrivalPlace { time, lane }, end))
    }
}

/// Return whether units of a train are counted: no policer has decided to lose them, and `counts` selects their circuit.
fn counted(train: &CellTrain, counts: &mut impl FnMut(PortVc) -> bool) -> bool {
    train.lost.is_none() && counts(train.vc)
}
