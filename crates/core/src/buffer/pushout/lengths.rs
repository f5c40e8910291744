//! Lengths of queues, and the choice of the longest: shared by the push-out schemes of paper 003.

use super::{Cut, Fallback, Full};
use crate::buffer::context::Context;
use crate::buffer::pool::Pool;
use crate::buffer::queue::Queue;
use crate::buffer::runs::{Extent, Part};
use crate::buffer::set::NumberSet;
use crate::refused::Refused;
use crate::units::ids::{IdVec, PortVc};

/// The circuits with units in the buffer, and the counted lengths of their queues.
#[derive(Clone, Debug)]
pub struct Lengths {
    busy: NumberSet<PortVc>,
    /// Whether each circuit's share of the buffer is subtracted from its length.
    shared: bool,
    /// Value of one unit of occupancy in the integers in which lengths are counted.
    scale: i128,
    /// Share of the buffer that is subtracted from each circuit's length, on that scale.
    share: IdVec<PortVc, i128>,
}

impl Lengths {
    /// Build the lengths; with `buffer_share` the length of a queue is its excess over its share of the buffer.
    /// Lengths are multiplied by the line's rate, so that no division rounds. The error says why the shares cannot be
    /// used.
    pub(super) fn new(context: &Context<'_>, buffer_share: bool) -> Result<Lengths, Refused> {
        if buffer_share {
            context.promised()?;
        }
        // Paper 003, equation (10), times the line's rate: BufferShare = MCR · BufferSize / LinkRate. Without a
        // BufferSize, no unit is ever pushed out.
        let capacity = i128::from(context.capacity.limit().unwrap_or(0));
        let share = |mcr| if buffer_share { i128::from(mcr) * capacity } else { 0 };
        Ok(Lengths {
            busy: NumberSet::new(context.vcs()),
            shared: buffer_share,
            scale: if buffer_share { i128::from(context.rate.0) } else { 1 },
            share: context.contracts.iter().map(|contract| share(contract.mcr.0)).collect(),
        })
    }

    /// Return the number of circuits.
    pub(super) fn circuits(&self) -> usize {
        self.share.len()
    }

    pub(super) fn joined(&mut self, vc: PortVc) {
        self.busy.insert(vc);
    }

    pub(super) fn left(&mut self, vc: PortVc, pool: &Pool) {
        if pool.of(vc) == 0 {
            self.busy.remove(vc);
        }
    }

    /// Return whether shares are subtracted, so that a queue can count as longer than one that holds more.
    pub(super) fn counts_shares(&self) -> bool {
        self.shared
    }

    /// Return the circuits with units in the buffer.
    pub(super) fn busy(&self) -> &NumberSet<PortVc> {
        &self.busy
    }

    /// Return the value of one unit of occupancy in counted lengths.
    pub(super) fn unit(&self) -> i128 {
        self.scale
    }

    /// Return the counted length of a queue. Paper 003, equation (11): VirtualQueueLength = QueueLength − BufferShare.
    pub(super) fn of(&self, pool: &Pool, vc: PortVc) -> i128 {
        i128::from(pool.of(vc)) * self.scale - self.share[vc]
    }

    /// Choose the part to remove: what `part` finds in the longest queue, or the alternative if it finds nothing
    /// there.
    pub(super) fn victim(
        &self,
        full: &Full<'_>,
        fallback: Fallback,
        part: impl Fn(&Queue) -> Option<Part>,
    ) -> Option<Cut> {
        let longest = self.longest(full, |queue| !queue.is_empty())?;
        let next = || cut(full, self.longest(full, |queue| part(queue).is_some())?, &part);
        fallback.choose(cut(full, longest, &part), next, || head(full, longest))
    }

    /// Return the longest of the queues that satisfy `will_do`; among equals the one with the lowest number.
    fn longest(&self, full: &Full<'_>, will_do: impl Fn(&Queue) -> bool) -> Option<PortVc> {
        let candidates = self.busy.iter().filter(|&vc| will_do(&full.queues[vc]));
        candidates.min_by_key(|&vc| -self.of(full.pool, vc))
    }
}

/// Return the cut of the part that `part` finds in the queue of circuit `vc`, if there is one.
pub(super) fn cut(full: &Full<'_>, vc: PortVc, part: impl Fn(&Queue) -> Option<Part>) -> Option<Cut> {
    part(&full.queues[vc]).map(|part| Cut { vc, part })
}

/// Return the cut of the head of the queue of circuit `vc`, if the queue has an EOM.
pub(super) fn head(full: &Full<'_>, vc: PortVc) -> Option<Cut> {
    cut(full, vc, |queue| head_fragment(queue, false))
}

/// Return the head of a queue up to its first EOM, if the queue has an EOM.
pub(crate) fn head_fragment(queue: &Queue, keep_eom: bool) -> Option<Part> {
    let runs = queue.runs();
    let closed = |run: usize| runs.get(run).filter(|run| run.is_closed());
    let head = closed(0)?;
    if !(keep_eom && runs.is_open_ahead()) {
        return Some(Part { run: 0, extent: Extent::Whole });
    }
    match head.units() {
        1 => closed(1).map(|_| Part { run: 1, extent: Extent::Whole }),
        _ => Some(Part { run: 0, extent: Extent::ButEom }),
    }
}
