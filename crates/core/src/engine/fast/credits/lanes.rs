//! Units on their way over lines.

use std::collections::VecDeque;
use std::ops::Range;

use super::earliest::Earliest;
use super::key::{Key, NEVER};
use crate::kernel::Ties;
use crate::kernel::queue::{Class, Event};
use crate::unit::Unit;
use crate::units::Time;

/// All lanes of a network: what a line brings to one port, or to the host at its end.
#[derive(Debug)]
pub(super) struct Lanes {
    lanes: Vec<Lane>,
    /// Lanes that were empty when a unit set out: whoever is at their end has to know before it arrives.
    pub(super) fresh: Vec<u32>,
    ties: Ties,
}

#[derive(Clone, Debug)]
struct Lane {
    line: u32,
    units: VecDeque<(Time, Unit)>,
}

impl Lanes {
    /// Empty lanes on these lines.
    pub(super) fn new(ties: Ties, lines: impl Iterator<Item = u32>) -> Lanes {
        let lanes = lines.map(|line| Lane { line, units: VecDeque::new() }).collect();
        Lanes { lanes, fresh: Vec::new(), ties }
    }

    /// A unit sets out and will arrive at `time`.
    #[inline]
    pub(super) fn push(&mut self, lane: u32, time: Time, unit: Unit) {
        let Lane { units, .. } = &mut self.lanes[lane as usize];
        if units.is_empty() {
            self.fresh.push(lane);
        }
        units.push_back((time, unit));
    }

    /// The first unit of a lane arrives.
    #[inline]
    pub(super) fn pop(&mut self, lane: u32) -> Unit {
        let (_, unit) = self.lanes[lane as usize].units.pop_front().expect("an arriving unit was on its way");
        unit
    }

    /// The first unit of those lanes whose heads these are arrives.
    #[inline(always)]
    pub(super) fn take(&mut self, heads: &mut Heads) -> Unit {
        let lane = heads.leader();
        let unit = self.pop(lane);
        heads.set(lane, self.head(lane));
        unit
    }

    /// When the first unit of a lane arrives.
    #[inline]
    pub(super) fn next(&self, lane: u32) -> Option<Time> {
        self.lanes[lane as usize].units.front().map(|(time, _)| *time)
    }

    /// The place at which the first unit of a lane arrives.
    #[inline]
    pub(super) fn head(&self, lane: u32) -> Key {
        self.next(lane).map_or(NEVER, |time| self.arrival(lane, time).key())
    }

    /// A unit of a lane arrives at this instant.
    #[inline]
    pub(super) fn arrival(&self, lane: u32, time: Time) -> Event {
        let line = self.lanes[lane as usize].line;
        Event { time, class: Class::Arrive, rank: self.ties.rank(time, line), entity: line }
    }

    /// Units that are on their way.
    pub(super) fn units(&self) -> impl Iterator<Item = &Unit> {
        self.lanes.iter().flat_map(|lane| lane.units.iter().map(|(_, unit)| unit))
    }
}

/// When the first units of the lanes that lead to one port arrive.
#[derive(Clone, Debug)]
pub(super) struct Heads {
    /// The first of these lanes; the others follow.
    base: u32,
    earliest: Earliest,
}

impl Heads {
    /// Nothing is on these lanes.
    pub(super) fn new(lanes: Range<u32>) -> Heads {
        Heads { base: lanes.start, earliest: Earliest::new(lanes.len()) }
    }

    /// The place of the first arrival.
    #[inline]
    pub(super) fn first(&self) -> Key {
        self.earliest.first()
    }

    /// The first unit of a lane arrives at this place.
    #[inline]
    pub(super) fn set(&mut self, lane: u32, key: Key) {
        self.earliest.set((lane - self.base) as usize, key);
    }

    /// The lane of the first arrival.
    #[inline]
    fn leader(&self) -> u32 {
        self.base + self.earliest.leader().0 as u32
    }
}

#[cfg(test)]
mod tests {
    use super::super::key::time_of;
    use super::*;
    use crate::unit::Flags;

    #[test]
    fn units_of_several_lines_come_in_the_order_of_the_kernel() {
        let ties = Ties::new(1);
        let mut lanes = Lanes::new(ties, 0..3);
        let arrivals = [(0, 10), (1, 10), (2, 10), (0, 14), (1, 12), (2, 14), (0, 20)];
        for (lane, time) in arrivals {
            let unit = Unit { vc: lane, frame: 0, index: 0, bytes: 53, hop: 1, flags: Flags::default() };
            lanes.push(lane, Time(time), unit);
        }
        let mut heads = Heads::new(0..3);
        std::mem::take(&mut lanes.fresh).into_iter().for_each(|lane| heads.set(lane, lanes.head(lane)));
        let mut expected = arrivals.map(|(lane, time)| (time, ties.rank(Time(time), lane), lane));
        expected.sort_unstable();
        for (time, _, lane) in expected {
            assert_eq!(time_of(heads.first()), Time(time));
            assert_eq!(lanes.take(&mut heads).vc, lane);
        }
        assert_eq!(heads.first(), NEVER);
    }
}
