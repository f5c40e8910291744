//! The order in which cells of several combs arrive.
//!
//! The time is divided into slots, one or two for each cell. A cell goes into its slot, and cells that are still in the
//! wrong order change places: on average less than one for each cell, however many lanes there are.

use std::cmp::Ordering;

use super::merge_order::{ArrivalPlace, LaneRanks};
use crate::host::endpoint::datagrams::SingleCell;
use crate::units::ids::LineId;
use crate::units::{Span, Time};

/// Cells of several lanes in the order of their arrival.
///
/// A cell is a number: from the highest bit on the time since `base`, then the index of its lane in `lane_bits` bits.
#[derive(Clone, Debug)]
pub(super) struct CombOrder {
    ranks: LaneRanks,
    lane_bits: u32,
    base: Time,
    cells: Vec<u64>,
    /// For each slot the index in `cells` of its next cell.
    slots: Vec<u32>,
}

/// Number of places that cells may move, for each cell, before they are sorted by another method.
const MOVES: usize = 8;

impl CombOrder {
    /// Build an order of no cells, for lanes with these ranks.
    pub(super) fn new(lanes: usize, ranks: LaneRanks) -> CombOrder {
        let lane_bits = usize::BITS - lanes.leading_zeros();
        CombOrder { ranks, lane_bits, base: Time::ZERO, cells: Vec::new(), slots: Vec::new() }
    }

    /// Return the instant from which on cells arrive too late to be sorted together with one that arrives at `base`.
    pub(super) fn limit(&self, base: Time) -> Time {
        base + Span(1 << (u64::BITS - self.lane_bits))
    }

    /// Return the number of cells.
    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    /// Return the lanes of the cells from index `from` on that arrive before `limit`, in order.
    #[inline(always)] // see `Combs::pass_before`
    pub(super) fn lanes_before(&self, from: usize, limit: Time) -> impl ExactSizeIterator<Item = usize> {
        let (cells, span) = (&self.cells[from..], limit.0.saturating_sub(self.base.0));
        let count = cells.partition_point(|cell| self.time(*cell) < span);
        let lane_mask = (1 << self.lane_bits) - 1;
        cells[..count].iter().map(move |cell| (cell & lane_mask) as usize)
    }

    /// Sort the cells of these lanes, the first of which arrives at `base`, and the last before `limit(base)`.
    pub(super) fn sort<'l>(&mut self, base: Time, lanes: impl Iterator<Item = &'l [SingleCell]> + Clone) {
        self.base = base;
        let count: usize = lanes.clone().map(<[SingleCell]>::len).sum();
        let last = lanes.clone().filter_map(|cells| Some(cells.last()?.at)).max().unwrap_or(base);
        let span = last.0 - base.0;
        let width = (span / (count as u64).max(1)).max(1).ilog2();
        let slot = |cell: &SingleCell| ((cell.at.0 - base.0) >> width) as usize;
        self.slots.clear();
        self.slots.resize((span >> width) as usize + 2, 0);
        self.cells.clear();
        self.cells.resize(count, 0);
        let CombOrder { slots, cells: order, lane_bits, .. } = self;
        let (slots, order, lane_bits) = (&mut slots[..], &mut order[..], *lane_bits);
        for cells in lanes.clone() {
            cells.iter().for_each(|cell| slots[slot(cell) + 1] += 1);
        }
        let mut sum = 0;
        for slot in slots.iter_mut() {
            sum += *slot;
            *slot = sum;
        }
        for (lane, cells) in (0..).zip(lanes) {
            for cell in cells {
                let next = &mut slots[slot(cell)];
                order[*next as usize] = (cell.at.0 - base.0) << lane_bits | lane;
                *next += 1;
            }
        }
        self.put_right();
    }

    /// Put cells that are in the order of their slots into the right order.
    fn put_right(&mut self) {
        let mut cells = std::mem::take(&mut self.cells);
        let (mut moves, mut latest) = (MOVES * cells.len(), cells.first().copied().unwrap_or(0));
        let instant = 1 << self.lane_bits;
        for place in 1..cells.len() {
            let cell = cells[place];
            if cell >= latest && cell ^ latest >= instant {
                latest = cell;
                continue;
            }
            let mut to = place;
            while to > 0 && moves > 0 && self.compare(cell, cells[to - 1]).is_lt() {
                cells[to] = cells[to - 1];
                (to, moves) = (to - 1, moves - 1);
            }
            cells[to] = cell;
            latest = cells[place];
        }
        if moves == 0 {
            cells.sort_unstable_by(|&one, &other| self.compare(one, other));
        }
        self.cells = cells;
    }

    /// Compare two cells by time, and cells of one instant by their ranks.
    fn compare(&self, one: u64, other: u64) -> Ordering {
        let times = self.time(one).cmp(&self.time(other));
        times.then_with(|| self.rank(one).cmp(&self.rank(other)))
    }

    /// Return the time since `base` at which a cell arrives.
    #[inline]
    fn time(&self, cell: u64) -> u64 {
        cell >> self.lane_bits
    }

    #[inline]
    fn lane(&self, cell: u64) -> usize {
        (cell & ((1 << self.lane_bits) - 1)) as usize
    }

    /// Return the rank of a cell among the cells that arrive at the same instant.
    fn rank(&self, cell: u64) -> (u32, LineId) {
        let time = Time(self.base.0 + self.time(cell));
        self.ranks.rank(ArrivalPlace { time, lane: self.lane(cell) as u32 })
    }
}
