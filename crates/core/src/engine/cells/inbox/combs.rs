//! Combs: single cells, each a frame by itself, that clocked sources send from hosts to one port.
//!
//! # What it assumes
//! Each lane carries one circuit, and its cells arrive in the order in which their host numbers them.
//!
//! # What it skips
//! Trains and the frames in flight: a lane is a list of instants, and the number of its first cell gives those of all
//! others.
//!
//! # Why that is exact
//! A frame of one cell has nothing but its number. Lanes are merged in the order of [`crate::kernel`], ties included.
//!
//! # What turns it off
//! Another circuit at the port: see `topology/combs.rs`.
//!
//! # What it saves
//! See `port/fifo/combs.rs`.

use std::collections::VecDeque;

use super::comb_order::CombOrder;
use super::merge_order::LaneRanks;
use crate::engine::cells::inbox::Arriving;
use crate::engine::cells::topology::Plan;
use crate::engine::cells::topology::combs::CombCircuit;
use crate::host::endpoint::datagrams::SingleCell;
use crate::kernel::Ties;
use crate::unit::{Flags, Unit};
use crate::units::ids::LineId;
use crate::units::{CELL_BYTES, Time};

/// The cells of one circuit: those that have left the port and are not delivered yet, then those that arrive.
#[derive(Clone, Debug)]
pub(crate) struct CombLane {
    /// The circuit of the cells.
    pub(crate) of: CombCircuit,
    /// Up to the index `left` the cells that have left, each with its start; from `next` on those that arrive.
    cells: Vec<SingleCell>,
    left: usize,
    next: usize,
    /// The number of the cell at index `next`, less `next`.
    origin: u32,
    /// Numbers of the cells that arrive and that the policer found in excess.
    excess: VecDeque<u32>,
}

/// The cells of all lanes of a port.
#[derive(Clone, Debug)]
pub(crate) struct Combs {
    pub(crate) lanes: Vec<CombLane>,
    /// The next cells of all lanes in the order of their arrival, and the index of the next of them.
    order: CombOrder,
    next: usize,
    /// The instant before which cells have arrived.
    limit: Time,
}

impl CombLane {
    /// Build the empty lane of a circuit.
    fn new(of: CombCircuit) -> CombLane {
        CombLane { of, cells: Vec::new(), left: 0, next: 0, origin: 0, excess: VecDeque::new() }
    }

    /// Return the cells that arrive and have not passed.
    pub(crate) fn pending(&self) -> &[SingleCell] {
        &self.cells[self.next..]
    }

    /// Return the cells that have left and are not delivered yet, each with its start.
    pub(crate) fn started(&self) -> &[SingleCell] {
        &self.cells[..self.left]
    }

    /// Append cells that arrive; the first has this number.
    pub(crate) fn push(&mut self, number: u32, cells: impl Iterator<Item = SingleCell>) {
        if self.pending().is_empty() {
            self.origin = number.wrapping_sub(self.next as u32);
        }
        self.cells.extend(cells);
    }

    /// Return the pending cells from the one with this number on.
    pub(crate) fn pending_from(&self, number: u32) -> &[SingleCell] {
        &self.cells[number.wrapping_sub(self.origin) as usize..]
    }

    /// Record the numbers of cells that are in excess, in order.
    pub(crate) fn mark_excess(&mut self, numbers: impl Iterator<Item = u32>) {
        self.excess.extend(numbers);
    }

    /// Remove the next cell that arrives; returns the cell, and whether the policer found it in excess.
    #[inline(always)] // once for each way to judge cells
    fn pop(&mut self) -> (SingleCell, bool) {
        let cell = self.cells[self.next];
        self.next += 1;
        let excess = self.excess.front().is_some_and(|number| *number == self.number());
        if excess {
            self.excess.pop_front();
        }
        (cell, excess)
    }

    /// Return the number of the cell removed last.
    fn number(&self) -> u32 {
        self.origin.wrapping_add(self.next as u32 - 1)
    }

    /// Record that the cell removed last leaves; it starts at `start`.
    #[inline(always)] // see `pop`
    pub(crate) fn leave(&mut self, start: Time, sent: Time) {
        self.cells[self.left] = SingleCell { at: start, sent };
        self.left += 1;
    }

    /// Remove the first `count` cells that have left.
    pub(crate) fn deliver(&mut self, count: usize) {
        self.remove(0, count);
        self.left -= count;
    }

    /// Remove the cells that have passed and were lost.
    fn remove_passed(&mut self) {
        self.remove(self.left, self.next - self.left);
    }

    /// Remove `count` cells that have passed, from index `from` on.
    fn remove(&mut self, from: usize, count: usize) {
        self.cells.drain(from..from + count);
        self.next -= count;
        self.origin = self.origin.wrapping_add(count as u32);
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

    /// Return the cell removed last, which arrives at `time`, as a unit that is tagged if it is in excess.
    pub(crate) fn arriving(&self, time: Time, excess: bool) -> Arriving {
        let mut unit = self.unit(self.number());
        if excess {
            unit.flags = unit.flags.with(Flags::CLP);
        }
        Arriving { time, unit, vc: self.of.vc, lost: None }
    }
}

impl Combs {
    /// Build the empty lanes of a port, if only combs arrive there.
    pub(crate) fn of_port(plan: &Plan, port: LineId, ties: &Ties) -> Option<Box<Combs>> {
        let lanes = plan.combs[port].as_ref()?.iter().map(|circuit| CombLane::new(*circuit)).collect();
        let lines = plan.lanes[port].iter().map(|lane| lane.line);
        Some(Box::new(Combs::new(lanes, LaneRanks::new(lines, ties))))
    }

    fn new(lanes: Vec<CombLane>, ranks: LaneRanks) -> Combs {
        let order = CombOrder::new(lanes.len(), ranks);
        Combs { lanes, order, next: 0, limit: Time::ZERO }
    }

    /// Let the cells before `limit` arrive.
    pub(crate) fn arrive_before(&mut self, limit: Time) {
        self.limit = limit;
    }

    /// Return when the next cell arrives; `Time::NEVER` if it has not arrived yet.
    pub(crate) fn next_time(&self) -> Time {
        let first = self.lanes.iter().filter_map(|lane| Some(lane.pending().first()?.at)).min();
        first.filter(|time| *time < self.limit).unwrap_or(Time::NEVER)
    }

    /// Pass the cells that have arrived before `stop`, in order, each with its lane, and whether the policer found it in
    /// excess.
    #[inline(always)] // once for each way to judge cells
    pub(crate) fn pass_before(&mut self, stop: Time, mut pass: impl FnMut(&mut CombLane, SingleCell, bool)) {
        while self.next < self.order.len() || self.merge() {
            let next = self.order.lanes_before(self.next, stop);
            if next.len() == 0 {
                return;
            }
            self.next += next.len();
            for lane in next {
                let lane = &mut self.lanes[lane];
                let (cell, excess) = lane.pop();
                pass(lane, cell, excess);
            }
        }
    }

    /// Merge the next cells that have arrived, after all that were merged before have passed; returns whether there are
    /// any.
    #[inline(never)] // once for many cells
    fn merge(&mut self) -> bool {
        let first = self.next_time();
        if first == Time::NEVER {
            return false;
        }
        self.lanes.iter_mut().for_each(CombLane::remove_passed);
        let limit = self.limit.min(self.order.limit(first));
        let before = |lane: &CombLane| lane.pending().partition_point(|cell| cell.at < limit);
        self.order.sort(first, self.lanes.iter().map(|lane| &lane.pending()[..before(lane)]));
        self.next = 0;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::UNNAMED;
    use crate::units::ids::FlowId;
    use crate::units::ids::{CircuitId, LineId, PortVc};

    /// Combs of circuits that arrive at these instants.
    fn combs(arrivals: &[&[u64]]) -> Combs {
        let lane = |flow: usize| {
            let (circuit, vc) = (CircuitId(flow as u32), PortVc(flow as u32));
            CombLane::new(CombCircuit { circuit, vc, hop: 1, flow: FlowId::new(flow), drops_excess: true })
        };
        let ranks = LaneRanks::new((0..arrivals.len()).map(LineId::new), &Ties::new(1, &UNNAMED));
        let mut combs = Combs::new((0..arrivals.len()).map(lane).collect(), ranks);
        for (lane, arrivals) in (0..).zip(arrivals) {
            push(&mut combs, lane, 10 * lane as u32, arrivals);
        }
        combs
    }

    fn push(combs: &mut Combs, lane: usize, number: u32, arrivals: &[u64]) {
        let cells = arrivals.iter().map(|time| SingleCell { at: Time(*time), sent: Time::ZERO });
        combs.lanes[lane].push(number, cells);
    }

    fn popped(combs: &mut Combs, limit: u64) -> Vec<(u64, usize, u32)> {
        combs.arrive_before(Time(limit));
        pass(combs, limit)
    }

    /// Pass the cells before `stop`; return for each its arrival, its circuit and its number.
    fn pass(combs: &mut Combs, stop: u64) -> Vec<(u64, usize, u32)> {
        let mut passed = Vec::new();
        combs.pass_before(Time(stop), |lane, cell, _| {
            passed.push((cell.at.0, lane.of.flow.index(), lane.number()));
        });
        passed
    }

    #[test]
    fn cells_arrive_in_order_with_their_numbers() {
        let mut combs = combs(&[&[5, 20, 21], &[7, 9], &[1, 30]]);
        let found = popped(&mut combs, 30);
        assert_eq!(found, [(1, 2, 20), (5, 0, 0), (7, 1, 10), (9, 1, 11), (20, 0, 1), (21, 0, 2)]);
        assert_eq!((combs.next_time(), combs.lanes[2].pending().len()), (Time::NEVER, 1));
    }

    #[test]
    fn merged_cells_wait_for_their_instant() {
        let mut combs = combs(&[&[3, 4]]);
        combs.arrive_before(Time(9));
        assert_eq!(pass(&mut combs, 4), [(3, 0, 0)]);
        assert_eq!((pass(&mut combs, 4), combs.next_time()), (vec![], Time(4)));
    }

    #[test]
    fn cells_that_are_far_apart_are_merged_apart() {
        let far = 1 << 62;
        let mut combs = combs(&[&[1, far + 3], &[2, far + 2], &[], &[far]]);
        let found = popped(&mut combs, u64::MAX);
        assert_eq!(found, [(1, 0, 0), (2, 1, 10), (far, 3, 30), (far + 2, 1, 11), (far + 3, 0, 1)]);
    }

    #[test]
    fn cells_in_excess_are_those_with_their_numbers() {
        let mut combs = combs(&[&[1, 3, 5, 7], &[2, 4]]);
        combs.lanes[0].mark_excess([1, 3].into_iter());
        combs.lanes[1].mark_excess([10].into_iter());
        let mut found = Vec::new();
        for limit in [4, 9] {
            combs.arrive_before(Time(limit));
            combs.pass_before(Time(limit), |_, cell, excess| found.extend(excess.then_some(cell.at.0)));
        }
        assert_eq!(found, [2, 3, 7]);
    }

    #[test]
    fn a_lane_that_was_empty_takes_part_again() {
        let mut combs = combs(&[&[2], &[8], &[]]);
        assert_eq!(popped(&mut combs, 5), [(2, 0, 0)]);
        push(&mut combs, 0, 1, &[7]);
        push(&mut combs, 2, 20, &[6]);
        assert_eq!(popped(&mut combs, 9), [(6, 2, 20), (7, 0, 1), (8, 1, 10)]);
    }

    #[test]
    fn cells_that_crowd_in_a_part_of_the_time_arrive_in_order() {
        let near: Vec<u64> = (0..50).map(|place| 7 * place % 50).collect();
        let lanes: Vec<Vec<u64>> = near.iter().map(|time| vec![*time, 1_000_000 + time]).collect();
        let mut combs = combs(&lanes.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let times: Vec<u64> = popped(&mut combs, u64::MAX).into_iter().map(|(time, ..)| time).collect();
        assert_eq!(times, (0..50).chain(1_000_000..1_000_050).collect::<Vec<_>>());
    }

    #[test]
    fn cells_that_have_left_are_kept_until_they_are_delivered() {
        let mut combs = combs(&[&[1, 2, 3, 9]]);
        combs.arrive_before(Time(5));
        combs.pass_before(Time(5), |lane, cell, _| {
            if lane.number() != 1 {
                lane.leave(Time(cell.at.0 + 100), cell.sent);
            }
        });
        let starts =
            |combs: &Combs| combs.lanes[0].started().iter().map(|cell| cell.at.0).collect::<Vec<_>>();
        assert_eq!(starts(&combs), [101, 103]);
        combs.lanes[0].deliver(1);
        assert_eq!((popped(&mut combs, 10), starts(&combs)), (vec![(9, 0, 3)], vec![103]));
    }

    #[test]
    fn cells_of_one_instant_arrive_by_the_ranks_of_their_lines() {
        for time in 0..20 {
            let mut combs = combs(&[&[time], &[time], &[time], &[time], &[time]]);
            let mut lines: Vec<LineId> = (0..5).map(LineId).collect();
            lines.sort_by_key(|&line| (Ties::new(1, &UNNAMED).rank(Time(time), line), line));
            let found = popped(&mut combs, 21).into_iter().map(|(_, lane, _)| LineId::new(lane));
            assert_eq!(found.collect::<Vec<_>>(), lines);
        }
    }
}
