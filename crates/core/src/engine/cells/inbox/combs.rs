//! Combs: single cells, each a frame by itself, that clocked sources send from hosts to one port.
//!
//! # What it assumes
//! Each lane carries one circuit, and its cells arrive in the order in which their host numbers them.
//!
//! # What it skips
//! Trains: a lane is a list of instants, and the number of its first cell gives those of all others.
//!
//! # Why that is exact
//! A frame of one cell has nothing but its number. Lanes are merged in the order of [`crate::kernel`], ties included.
//!
//! # What turns it off
//! Another circuit at the port: see `topology/combs.rs`.
//!
//! # What it saves
//! See `port/fifo/combs.rs`.

use super::merge_order::{ArrivalPlace, LaneRanks};
use crate::engine::cells::inbox::Arriving;
use crate::engine::cells::topology::Plan;
use crate::engine::cells::topology::combs::CombCircuit;
use crate::kernel::Ties;
use crate::unit::{Flags, Unit};
use crate::units::{CELL_BYTES, Time};

/// The pending cells of one circuit, and those that have started to leave the port.
#[derive(Clone, Debug)]
pub(crate) struct CombLane {
    /// The circuit of the cells.
    pub(crate) of: CombCircuit,
    /// When the cells arrive that are not merged yet, and the number of the first pending cell.
    arrivals: Vec<Time>,
    first: u32,
    /// Number and start of each cell that has left and is not delivered yet.
    pub(crate) started: Vec<(u32, Time)>,
}

/// A cell that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CombCell {
    pub(crate) time: Time,
    pub(crate) lane: u32,
    /// Its number on the circuit.
    pub(crate) number: u32,
}

/// The pending cells of all lanes of a port.
#[derive(Clone, Debug)]
pub(crate) struct Combs {
    pub(crate) lanes: Vec<CombLane>,
    ranks: LaneRanks,
    /// The next cells of all lanes in the order of their arrival, and the index of the next of them.
    order: Vec<ArrivalPlace>,
    next: usize,
    /// Work space for merging: cells, and the ends of the lists that are still to be merged.
    merged: Vec<ArrivalPlace>,
    ends: Vec<usize>,
}

impl CombLane {
    /// Build the empty lane of a circuit.
    fn new(of: CombCircuit) -> CombLane {
        CombLane { of, arrivals: Vec::new(), first: 0, started: Vec::new() }
    }

    /// Return the number of cells that are not merged yet.
    pub(crate) fn pending(&self) -> usize {
        self.arrivals.len()
    }

    /// Return the cell with this number, as a unit.
    pub(crate) fn unit(&self, number: u32) -> Unit {
        Unit {
            vc: self.of.circuit,
            frame: number,
            identity: number,
            index: 0,
            bytes: CELL_BYTES as u16,
            hop: self.of.hop,
            flags: Flags::FIRST.with(Flags::EOM),
        }
    }

    /// Return a cell as an arriving unit.
    pub(crate) fn arriving(&self, cell: CombCell) -> Arriving {
        Arriving { time: cell.time, unit: self.unit(cell.number), vc: self.of.vc, lost: None }
    }
}

impl Combs {
    /// Build the empty lanes of a port, if only combs arrive there.
    pub(crate) fn of_port(plan: &Plan, port: usize, ties: Ties) -> Option<Box<Combs>> {
        let lanes = plan.combs[port].as_ref()?.iter().map(|circuit| CombLane::new(*circuit)).collect();
        let lines = plan.lanes[port].iter().map(|lane| lane.line as u32).collect();
        Some(Box::new(Combs::new(lanes, LaneRanks::new(lines, ties))))
    }

    fn new(lanes: Vec<CombLane>, ranks: LaneRanks) -> Combs {
        Combs { lanes, ranks, order: Vec::new(), next: 0, merged: Vec::new(), ends: Vec::new() }
    }

    /// Append cells that arrive at these instants; the first has this number. Returns the number of cells that are not
    /// merged yet.
    pub(crate) fn push(&mut self, lane: u32, number: u32, arrivals: impl Iterator<Item = Time>) -> usize {
        let own = &mut self.lanes[lane as usize];
        if own.arrivals.is_empty() {
            own.first = number;
        }
        own.arrivals.extend(arrivals);
        own.arrivals.len()
    }

    /// Merge the cells that arrive before `limit`; those that were merged before have arrived.
    pub(crate) fn merge_before(&mut self, limit: Time) {
        let Combs { lanes, ranks, order, next, merged, ends } = self;
        *next = 0;
        order.clear();
        ends.clear();
        for (place, lane) in (0..).zip(lanes) {
            let count = lane.arrivals.partition_point(|time| *time < limit);
            order.extend(lane.arrivals.drain(..count).map(|time| ArrivalPlace { time, lane: place }));
            if count > 0 {
                ends.push(order.len());
            }
        }
        merged.resize(order.len(), ArrivalPlace { time: Time::NEVER, lane: 0 });
        while ends.len() > 1 {
            merge_pairs(ranks, order, ends, merged);
            std::mem::swap(order, merged);
        }
    }

    /// Return when the next cell arrives, if it is merged; otherwise `Time::NEVER`.
    pub(crate) fn next_time(&self) -> Time {
        self.order.get(self.next).map_or(Time::NEVER, |place| place.time)
    }

    /// Remove and return the next merged cell, if it arrives before `limit`.
    #[inline(always)] // once for each way to judge cells
    pub(crate) fn pop_before(&mut self, limit: Time) -> Option<CombCell> {
        let &ArrivalPlace { time, lane } = self.order.get(self.next).filter(|place| place.time < limit)?;
        self.next += 1;
        let CombLane { first, .. } = &mut self.lanes[lane as usize];
        let number = *first;
        *first = number.wrapping_add(1);
        Some(CombCell { time, lane, number })
    }
}

/// Merge each two lists of cells into one. The lists follow each other in `order`, and `ends` are their ends; so do the
/// merged lists in `merged`.
fn merge_pairs(
    ranks: &LaneRanks,
    order: &[ArrivalPlace],
    ends: &mut Vec<usize>,
    merged: &mut [ArrivalPlace],
) {
    let (mut from, mut pairs) = (0, 0);
    for place in (0..ends.len()).step_by(2) {
        let middle = ends[place];
        let end = ends.get(place + 1).copied().unwrap_or(middle);
        merge(ranks, &order[from..middle], &order[middle..end], &mut merged[from..end]);
        (from, ends[pairs], pairs) = (end, end, pairs + 1);
    }
    ends.truncate(pairs);
}

/// Merge two lists of cells into one of their total length.
#[inline]
fn merge(
    ranks: &LaneRanks,
    mut one: &[ArrivalPlace],
    mut other: &[ArrivalPlace],
    merged: &mut [ArrivalPlace],
) {
    for slot in merged {
        let [first, rest @ ..] = one else {
            (*slot, other) = (other[0], &other[1..]);
            continue;
        };
        match other {
            [second, others @ ..]
                if second.time <= first.time
                    && (second.time < first.time || ranks.is_before(*second, *first)) =>
            {
                (*slot, other) = (*second, others);
            }
            _ => (*slot, one) = (*first, rest),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::ids::{CircuitId, PortVc};

    /// Combs of circuits that arrive at these instants.
    fn combs(arrivals: &[&[u64]]) -> Combs {
        let lane = |flow: usize| {
            let (circuit, vc) = (CircuitId(flow as u32), PortVc(flow as u32));
            CombLane::new(CombCircuit { circuit, vc, hop: 1, flow })
        };
        let ranks = LaneRanks::new((0..arrivals.len() as u32).collect(), Ties::new(1));
        let mut combs = Combs::new((0..arrivals.len()).map(lane).collect(), ranks);
        for (lane, arrivals) in (0..).zip(arrivals) {
            combs.push(lane, 10 * lane, arrivals.iter().map(|time| Time(*time)));
        }
        combs
    }

    fn popped(combs: &mut Combs, limit: u64) -> Vec<(u64, u32, u32)> {
        combs.merge_before(Time(limit));
        let cells = std::iter::from_fn(|| combs.pop_before(Time(limit)));
        cells.map(|cell| (cell.time.0, cell.lane, cell.number)).collect()
    }

    #[test]
    fn cells_arrive_in_order_with_their_numbers() {
        let mut combs = combs(&[&[5, 20, 21], &[7, 9], &[1, 30]]);
        let found = popped(&mut combs, 30);
        assert_eq!(found, [(1, 2, 20), (5, 0, 0), (7, 1, 10), (9, 1, 11), (20, 0, 1), (21, 0, 2)]);
        assert_eq!((combs.next_time(), combs.lanes[2].pending()), (Time::NEVER, 1));
    }

    #[test]
    fn merged_cells_wait_for_their_instant() {
        let mut combs = combs(&[&[3, 4]]);
        combs.merge_before(Time(9));
        assert_eq!(combs.pop_before(Time(4)), Some(CombCell { time: Time(3), lane: 0, number: 0 }));
        assert_eq!((combs.pop_before(Time(4)), combs.next_time()), (None, Time(4)));
    }

    #[test]
    fn a_lane_that_was_empty_takes_part_again() {
        let mut combs = combs(&[&[2], &[8], &[]]);
        assert_eq!(popped(&mut combs, 5), [(2, 0, 0)]);
        combs.push(0, 1, [Time(7)].into_iter());
        combs.push(2, 20, [Time(6)].into_iter());
        assert_eq!(popped(&mut combs, 9), [(6, 2, 20), (7, 0, 1), (8, 1, 10)]);
    }

    #[test]
    fn cells_of_one_instant_arrive_by_the_ranks_of_their_lines() {
        for time in 0..20 {
            let mut combs = combs(&[&[time], &[time], &[time], &[time], &[time]]);
            let mut lines: Vec<u32> = (0..5).collect();
            lines.sort_by_key(|&line| (Ties::new(1).rank(Time(time), line), line));
            let found = popped(&mut combs, 21).into_iter().map(|(_, lane, _)| lane);
            assert_eq!(found.collect::<Vec<_>>(), lines);
        }
    }
}
