//! Passing inner units of trains together.

use super::Inbox;
use super::merge_order::ArrivalPlace;
use crate::engine::cells::train::CellTrain;
use crate::units::Time;

impl Inbox {
    /// Return the number of lanes whose next unit is an inner unit of a train.
    pub(crate) fn count_within(&self) -> u64 {
        self.inner.lanes().len() as u64
    }

    /// Find for every lane within a train how many of its inner units arrive before the next end of a train and
    /// before `stop`; return the earlier of these two instants.
    #[inline]
    pub(crate) fn inner(&self, stop: Time, found: &mut Vec<CellTrain>) -> Time {
        let Some(end) = self.order.first().filter(|_| !self.inner.lanes().is_empty()) else { return stop };
        let until = end.time.min(stop);
        for &lane in self.inner.lanes() {
            if self.front(lane).beat.time > until {
                continue;
            }
            let units = if end.time < stop && lane != end.lane {
                self.count_ahead(lane, end)
            } else {
                self.lanes[lane as usize].count_before(until).0
            };
            self.find(lane, units, found);
        }
        until
    }

    #[inline]
    pub(super) fn find(&self, lane: u32, units: u64, found: &mut Vec<CellTrain>) {
        if units > 0 {
            found.push(CellTrain { units: units as u16, closed: false, ..*self.front(lane) });
        }
    }

    /// List in `order` those units of `found` that are not lost, by time of arrival: the time, and the index of their
    /// train in `found`.
    pub(crate) fn in_order(&mut self, found: &[CellTrain], order: &mut Vec<(Time, u32)>) {
        order.clear();
        if let [CellTrain { beat, units: 1, lost: None, .. }] = found {
            return order.push((beat.time, 0));
        }
        let mut merged = std::mem::take(&mut self.merged);
        for (place, train) in (0..).zip(found).filter(|(_, train)| train.lost.is_none()) {
            let times = self.lanes[train.lane as usize].times(train.units);
            if order.is_empty() {
                order.extend(times.map(|time| (time, place)));
                continue;
            }
            merged.clear();
            self.merge(found, order, times.map(|time| (time, place)), &mut merged);
            std::mem::swap(order, &mut merged);
        }
        self.merged = merged;
    }

    /// Merge the units of a train into the ordered list.
    fn merge(
        &self,
        found: &[CellTrain],
        order: &[(Time, u32)],
        units: impl Iterator<Item = (Time, u32)>,
        merged: &mut Vec<(Time, u32)>,
    ) {
        let place = |(time, train): (Time, u32)| ArrivalPlace { time, lane: found[train as usize].lane };
        let mut ahead = order.iter().copied().peekable();
        for unit in units {
            let is_first = |other: &(Time, u32)| self.ranks.is_before(place(*other), place(unit));
            while let Some(other) = ahead.next_if(is_first) {
                merged.push(other);
            }
            merged.push(unit);
        }
        merged.extend(ahead);
    }

    /// Pass the units that [`Inbox::inner`] has found; returns the sum of the arrival times of the units that
    /// `counts` selects.
    pub(crate) fn pass_inner(
        &mut self,
        found: &[CellTrain],
        mut counts: impl FnMut(&CellTrain) -> bool,
    ) -> u128 {
        let mut sum = 0;
        if !found.is_empty() {
            self.inner.disorder();
        }
        for train in found {
            let lane = &mut self.lanes[train.lane as usize];
            let wanted = counts(train);
            let instants = lane.pass(train.units, wanted);
            sum += if wanted { instants } else { 0 };
            if lane.front().units == 1 {
                self.inner.remove(train.lane);
            }
        }
        sum
    }
}
