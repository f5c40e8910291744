//! A queue of a memory: the packets of one class at a port, or from an incoming line.

use super::pause::QueuePause;
use crate::link::gate::pause;
use crate::metrics::occupancy::Occupancy;
use crate::unit::Unit;
use crate::units::ids::{LineId, PoolQueue};
use crate::units::{Rate, Span, Time};

/// An account: the queues in which the packets of a circuit are counted at a port. Numbers have few bits, since ports
/// have an account for each circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    queue: u32,
    unscheduled: u32,
    other: Option<u32>,
}

impl Account {
    /// Build an account with the queue in the pool of the class, and the queue on the other side, if the class has a
    /// pool there.
    pub fn new(queue: usize, other: Option<usize>) -> Account {
        Account { queue: small(queue), unscheduled: small(queue), other: other.map(small) }
    }

    /// Return the account with another queue for packets marked as unscheduled.
    pub fn with_unscheduled(self, queue: usize) -> Account {
        Account { unscheduled: small(queue), ..self }
    }

    /// Return the account for a unit, with the queue for units with its mark.
    #[inline]
    pub fn of(self, unit: &Unit) -> Account {
        Account { queue: if unit.is_unscheduled() { self.unscheduled } else { self.queue }, ..self }
    }

    /// Return the queue of packets marked as unscheduled, in the pool of its class; usually the queue of the other
    /// packets.
    #[inline]
    pub fn unscheduled(self) -> usize {
        self.unscheduled as usize
    }

    /// Return the queue in the pool of the class.
    #[inline]
    pub fn queue(self) -> usize {
        self.queue as usize
    }

    /// Return the queue on the other side, if the class has a pool there.
    #[inline]
    pub fn other(self) -> Option<usize> {
        self.other.map(|other| other as usize)
    }
}

fn small(queue: usize) -> u32 {
    u32::try_from(queue).expect("a memory has fewer queues")
}

/// The limits of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueLimits {
    /// Cells that are kept free for the queue.
    pub reserved: u64,
    /// Greatest number of cells of shared room, in addition to the limit of the sharing scheme.
    pub limit: Option<u64>,
    /// Thresholds at which the queue's sender is stopped and resumed, if its class must lose nothing.
    pub pause: Option<QueuePause>,
}

impl QueueLimits {
    /// Return the shared room that a queue may have, given the threshold of its scheme.
    #[inline]
    pub(super) fn below(&self, threshold: f64) -> f64 {
        threshold.min(self.limit.map_or(f64::INFINITY, |limit| limit as f64))
    }
}

/// A running queue.
#[derive(Clone, Debug)]
pub struct SharedQueue {
    /// Limits of the queue.
    pub limits: QueueLimits,
    /// The line of the queue's port; on the ingress side, the line over which its packets arrive.
    pub line: LineId,
    /// Index of the queue's pool.
    pub pool: usize,
    /// Number of the queue in its pool.
    pub number: PoolQueue,
    /// The time after which the frame that stops the queue's sender is repeated.
    pub(super) refresh: Span,
    held: u64,
    headroom: u64,
    headroom_max: u64,
    occupancy: Occupancy,
    /// The lowest threshold that an arriving packet has met; infinite without one.
    threshold_min: f64,
    thresholds: Option<Vec<f64>>,
    /// Packets of the queue lost at their port, except those that a policer drops.
    pub dropped: u64,
    /// Packets of the queue marked at their port.
    pub marked: u64,
    /// Packets of the queue cut to their headers at their port.
    pub trimmed: u64,
    /// Octets of packets of the queue that were pushed out, after they had used earlier links in vain.
    pub pushed_out_octets: u64,
}

impl SharedQueue {
    /// Build an empty queue, number `number` of its pool, of the port of a line or of an incoming line with this
    /// rate.
    pub fn new(limits: QueueLimits, line: LineId, rate: Rate, pool: usize, number: PoolQueue) -> SharedQueue {
        SharedQueue {
            limits,
            line,
            pool,
            number,
            refresh: pause::refresh(rate),
            held: 0,
            headroom: 0,
            headroom_max: 0,
            occupancy: Occupancy::new(),
            threshold_min: f64::INFINITY,
            thresholds: None,
            dropped: 0,
            marked: 0,
            trimmed: 0,
            pushed_out_octets: 0,
        }
    }

    /// Return the cells that the queue holds.
    pub fn held(&self) -> u64 {
        self.held
    }

    /// Return the cells of headroom that the queue holds.
    pub fn headroom(&self) -> u64 {
        self.headroom
    }

    /// Return the cells of shared room that the queue holds.
    pub fn shared(&self) -> u64 {
        (self.held - self.headroom).saturating_sub(self.limits.reserved)
    }

    /// Return the greatest headroom that the queue has held.
    pub fn headroom_max(&self) -> u64 {
        self.headroom_max
    }

    /// Return the statistics of the queue's occupancy.
    pub fn occupancy(&self) -> &Occupancy {
        &self.occupancy
    }

    /// Return the lowest threshold that an arriving packet has met; `None` without packets or without a threshold.
    pub fn threshold_min(&self) -> Option<f64> {
        self.threshold_min.is_finite().then_some(self.threshold_min)
    }

    /// Return the thresholds at every sample, if they are stored.
    pub fn thresholds(&self) -> Option<&[f64]> {
        self.thresholds.as_deref()
    }

    /// Return the cells of a packet of `size` cells that do not fit into reserved room.
    pub(super) fn beyond_reserved(&self, size: u64) -> u64 {
        size.saturating_sub(self.limits.reserved.saturating_sub(self.held - self.headroom))
    }

    /// Return whether the queue may take `size` more cells of headroom. In a pool with classes that pause only these
    /// may take headroom.
    pub(super) fn may_take_headroom(&self, size: u64, is_lossless: bool) -> bool {
        self.limits.pause.map_or(!is_lossless, |pause| self.headroom + size <= pause.xoff)
    }

    /// Return whether the queue's sender may send again, if the queue may hold `shared` cells of shared room.
    pub(super) fn lets_go_on(&self, shared: impl Fn() -> f64) -> bool {
        let most = || self.limits.reserved as f64 + shared();
        self.headroom == 0 && self.limits.pause.is_none_or(|pause| pause.is_over(self.held, most))
    }

    /// Return whether the queue can stop this class on this line.
    pub(crate) fn can_stop(&self, line: LineId, class: u32) -> bool {
        self.line == line && self.limits.pause.is_some_and(|pause| pause.class == class)
    }

    #[inline]
    pub(super) fn enter(&mut self, now: Time, size: u64) {
        self.occupancy.change(now, self.held, self.held + size);
        self.held += size;
    }

    /// Count `size` cells of the queue's content as headroom.
    pub(super) fn take_headroom(&mut self, size: u64) {
        self.headroom += size;
        self.headroom_max = self.headroom_max.max(self.headroom);
    }

    /// Subtract a packet; returns the shared room and the headroom that it frees. Headroom is freed first.
    pub(super) fn leave(&mut self, now: Time, size: u64) -> (u64, u64) {
        let before = self.shared();
        let headroom = self.headroom.min(size);
        self.occupancy.fall(now, self.held);
        self.held -= size;
        self.headroom -= headroom;
        (before - self.shared(), headroom)
    }

    /// Release a packet of a queue that holds only shared room.
    #[inline]
    pub(super) fn leave_shared(&mut self, now: Time, size: u64) {
        self.occupancy.fall(now, self.held);
        self.held -= size;
    }

    #[inline]
    pub(super) fn note_threshold(&mut self, threshold: f64) {
        if threshold < self.threshold_min {
            self.threshold_min = threshold;
        }
    }

    pub(super) fn keep_trace(&mut self) {
        self.occupancy.keep_trace();
        self.thresholds = Some(Vec::new());
    }

    pub(super) fn sample(&mut self, threshold: f64) {
        if let Some(thresholds) = &mut self.thresholds {
            self.occupancy.sample(self.held);
            thresholds.push(threshold);
        }
    }

    pub(super) fn reset_counters(&mut self, now: Time) {
        self.occupancy.reset(now, self.held);
        self.headroom_max = self.headroom;
        self.threshold_min = f64::INFINITY;
        self.thresholds = self.thresholds.take().map(|_| Vec::new());
        (self.dropped, self.marked, self.trimmed, self.pushed_out_octets) = (0, 0, 0, 0);
    }

    pub(super) fn close_counters(&mut self, now: Time) {
        self.occupancy.change(now, self.held, self.held);
    }
}
