//! A queue of a memory: the packets of one class at a port, or from an incoming line.

use super::pause::QueuePause;
use crate::link::gate::pause;
use crate::metrics::occupancy::Occupancy;
use crate::unit::Unit;
use crate::units::{Rate, Span, Time};

/// The queues to which the packets of a circuit are charged at a port. Ports have one account for each circuit, hence
/// the small numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Account {
    queue: u32,
    unscheduled: u32,
    other: Option<u32>,
}

impl Account {
    /// The queue in the pool of the class, and that on the other side, if the class has a pool there.
    pub fn new(queue: usize, other: Option<usize>) -> Account {
        Account { queue: small(queue), unscheduled: small(queue), other: other.map(small) }
    }

    /// Charge packets marked as unscheduled to this queue.
    pub fn with_unscheduled(self, queue: usize) -> Account {
        Account { unscheduled: small(queue), ..self }
    }

    /// Return the account of a unit: that of its mark.
    #[inline]
    pub fn of(self, unit: &Unit) -> Account {
        Account { queue: if unit.is_unscheduled() { self.unscheduled } else { self.queue }, ..self }
    }

    /// The queue of packets marked as unscheduled, in the pool of its class: mostly the queue of the other packets.
    #[inline]
    pub fn unscheduled(self) -> usize {
        self.unscheduled as usize
    }

    /// The queue in the pool of the class.
    #[inline]
    pub fn queue(self) -> usize {
        self.queue as usize
    }

    /// The queue on the other side, if the class has a pool there.
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
    /// Cells that are kept free for it.
    pub reserved: u64,
    /// The most cells of shared room, in addition to the limit of the policy.
    pub limit: Option<u64>,
    /// Limits at which its sender is stopped, if its class must lose nothing.
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
    /// Its limits.
    pub limits: QueueLimits,
    /// Its port, or the line over which its packets come.
    pub line: usize,
    /// Its pool.
    pub pool: usize,
    /// Its number in that pool.
    pub number: usize,
    /// The time after which the frame that stops its sender is repeated.
    pub(super) refresh: Span,
    held: u64,
    headroom: u64,
    headroom_max: u64,
    occupancy: Occupancy,
    /// The lowest threshold that an arriving packet has met; infinite without one.
    threshold_min: f64,
    thresholds: Option<Vec<f64>>,
    /// Packets lost at its port, except those that a policer drops.
    pub dropped: u64,
    /// Packets marked at its port.
    pub marked: u64,
    /// Octets of packets that were pushed out: they had used other links in vain.
    pub pushed_out_octets: u64,
}

impl SharedQueue {
    /// An empty queue of a port or of an incoming line, given the line's rate, number `number` of its pool.
    pub fn new(limits: QueueLimits, line: usize, rate: Rate, pool: usize, number: usize) -> SharedQueue {
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
            pushed_out_octets: 0,
        }
    }

    /// Cells that it holds.
    pub fn held(&self) -> u64 {
        self.held
    }

    /// Return the cells of headroom that the queue holds.
    pub fn headroom(&self) -> u64 {
        self.headroom
    }

    /// Of these, cells of shared room.
    pub fn shared(&self) -> u64 {
        (self.held - self.headroom).saturating_sub(self.limits.reserved)
    }

    /// The most headroom that it has held.
    pub fn headroom_max(&self) -> u64 {
        self.headroom_max
    }

    /// Statistics of its occupancy.
    pub fn occupancy(&self) -> &Occupancy {
        &self.occupancy
    }

    /// The lowest threshold that an arriving packet has met; `None` without packets or without a threshold.
    pub fn threshold_min(&self) -> Option<f64> {
        self.threshold_min.is_finite().then_some(self.threshold_min)
    }

    /// Thresholds at every sample, if they are kept.
    pub fn thresholds(&self) -> Option<&[f64]> {
        self.thresholds.as_deref()
    }

    /// The part of a packet of `size` cells that does not fit into reserved room.
    pub(super) fn beyond_reserved(&self, size: u64) -> u64 {
        size.saturating_sub(self.limits.reserved.saturating_sub(self.held - self.headroom))
    }

    /// Return whether it may take `size` more of headroom. Headroom belongs to classes that pause.
    pub(super) fn may_take_headroom(&self, size: u64, is_lossless: bool) -> bool {
        self.limits.pause.map_or(!is_lossless, |pause| self.headroom + size <= pause.xoff)
    }

    /// Return whether its sender may send again, if the queue may hold this much of shared room.
    pub(super) fn lets_go_on(&self, shared: f64) -> bool {
        let most = self.limits.reserved as f64 + shared;
        self.headroom == 0 && self.limits.pause.is_none_or(|pause| pause.is_over(self.held, most))
    }

    /// Return whether it can stop this class on this line.
    pub(crate) fn can_stop(&self, line: usize, class: u32) -> bool {
        self.line == line && self.limits.pause.is_some_and(|pause| pause.class == class)
    }

    #[inline]
    pub(super) fn enter(&mut self, now: Time, size: u64) {
        self.occupancy.change(now, self.held, self.held + size);
        self.held += size;
    }

    /// Count `size` cells of its content as headroom.
    pub(super) fn take_headroom(&mut self, size: u64) {
        self.headroom += size;
        self.headroom_max = self.headroom_max.max(self.headroom);
    }

    /// Release a packet; returns the shared room and the headroom that it frees, headroom first.
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
        (self.dropped, self.marked, self.pushed_out_octets) = (0, 0, 0);
    }

    pub(super) fn close_counters(&mut self, now: Time) {
        self.occupancy.change(now, self.held, self.held);
    }
}
