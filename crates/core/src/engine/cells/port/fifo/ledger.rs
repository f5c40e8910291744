//! What a policy that has to be asked knows of a FIFO port's buffer: how much of which circuit is in it.
//!
//! Departures are entered when somebody asks next, in the order in which units were taken.

use std::collections::VecDeque;

use crate::buffer::admission::{Admission, Arrival, Departure, Interest, Policy};
use crate::buffer::capacity::Capacity;
use crate::buffer::pool::Pool;
use crate::buffer::queue::Queue;
use crate::buffer::verdict::Verdict;
use crate::engine::cells::train::Run;
use crate::unit::Unit;
use crate::units::Time;

/// The books of a FIFO port by circuit.
#[derive(Debug)]
pub(in crate::engine) struct VcAccounting {
    pub(in crate::engine) pool: Pool,
    interest: Interest,
    /// Units in the buffer, if anybody wants to know whose they are: as many of a circuit together as may leave together.
    order: VecDeque<Share>,
    /// These policies do not look at the queue.
    queue: Queue,
}

/// Consecutive units of one circuit in the buffer.
#[derive(Clone, Copy, Debug)]
struct Share {
    vc: u32,
    size: u64,
    /// Whether the last one ends a frame, if anybody wants to know.
    closed: bool,
}

impl VcAccounting {
    /// The books of an empty port.
    pub(in crate::engine) fn new(capacity: Capacity, vcs: usize, interest: Interest) -> VcAccounting {
        VcAccounting {
            pool: Pool::new(capacity, vcs),
            interest,
            order: VecDeque::new(),
            queue: Queue::default(),
        }
    }

    /// What the policy says of a unit that arrives at `now`.
    #[inline]
    pub(in crate::engine) fn ask(
        &self,
        policy: &mut Policy,
        now: Time,
        unit: &Unit,
        (vc, size): (usize, u64),
    ) -> Verdict {
        let VcAccounting { pool, queue, .. } = self;
        policy.judge(&mut Arrival { now, unit, vc, size, pool, queue, elastic: false })
    }

    /// Something of a circuit was taken.
    #[inline]
    pub(in crate::engine) fn joined(&mut self, vc: u32, size: u64) {
        if self.interest == Interest::Total {
            return self.pool.add_ahead(0, size);
        }
        self.pool.add_ahead(vc as usize, size);
        match self.order.back_mut() {
            Some(last) if last.vc == vc && !last.closed && self.interest != Interest::Every => {
                last.size += size
            }
            _ => self.order.push_back(Share { vc, size, closed: false }),
        }
    }

    /// What was taken last ends a frame.
    #[inline]
    pub(in crate::engine) fn frame_ends(&mut self) {
        if self.interest == Interest::Ends
            && let Some(last) = self.order.back_mut()
        {
            last.closed = true;
        }
    }

    /// So much has left, the last of it at `now`.
    #[inline]
    pub(in crate::engine) fn left(&mut self, policy: &mut Policy, mut size: u64, now: Time) {
        if self.interest == Interest::Total {
            return match self.pool.total() - size {
                0 => self.emptied(policy, now),
                total => self.holds(total),
            };
        }
        while size > 0 {
            let first = self.order.front_mut().expect("what leaves has been taken");
            let (vc, part) = (first.vc as usize, size.min(first.size));
            first.size -= part;
            let closed = first.closed && first.size == 0;
            if first.size == 0 {
                self.order.pop_front();
            }
            size -= part;
            self.pool.remove(vc, part);
            if self.interest.includes(closed, vc, &self.pool) {
                self.tell(policy, now, (vc, part), closed);
            }
        }
    }

    /// Everything has left, the last of it at `now`, for a policy that asks for no more.
    #[inline]
    pub(in crate::engine) fn emptied(&mut self, policy: &mut Policy, now: Time) {
        self.holds(0);
        self.tell(policy, now, (0, 0), false);
    }

    /// So much is in the buffer, for a policy that does not ask whose it is: all is booked on one circuit.
    #[inline]
    pub(in crate::engine) fn holds(&mut self, total: u64) {
        let before = self.pool.total();
        self.pool.add_ahead(0, total.saturating_sub(before));
        self.pool.remove(0, before.saturating_sub(total));
    }

    fn tell(&self, policy: &mut Policy, now: Time, (vc, size): (usize, u64), ends_frame: bool) {
        let unit = &Run::of_unknown(ends_frame).unit;
        policy.departed(&Departure { now, unit, vc, size, pool: &self.pool, sent: true });
    }
}
