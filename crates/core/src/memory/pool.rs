//! A pool: a counter over a memory, with the policy that divides its shared room.

use crate::buffer::admission::{self, Admission};
use crate::buffer::capacity::Capacity;
use crate::buffer::pool::Pool;
use crate::metrics::occupancy::Occupancy;
use crate::units::Time;

/// A running pool.
#[derive(Clone, Debug)]
pub struct SharedPool {
    /// Its shared room, how much of it is in use, and by which queue.
    pub(super) books: Pool,
    policy: admission::Policy,
    headroom: u64,
    headroom_used: u64,
    headroom_max: u64,
    occupancy: Occupancy,
}

impl SharedPool {
    /// An empty pool of `cells` cells of shared room for `queues` queues, and this much headroom.
    pub fn new(cells: u64, queues: usize, headroom: u64, policy: admission::Policy) -> SharedPool {
        SharedPool {
            books: Pool::new(Capacity::limited(cells), queues),
            policy,
            headroom,
            headroom_used: 0,
            headroom_max: 0,
            occupancy: Occupancy::new(),
        }
    }

    /// Its headroom.
    pub fn headroom(&self) -> u64 {
        self.headroom
    }

    /// How much of its headroom is in use.
    pub fn headroom_used(&self) -> u64 {
        self.headroom_used
    }

    /// The most headroom that was in use.
    pub fn headroom_max(&self) -> u64 {
        self.headroom_max
    }

    /// Its shared room, and how much each queue uses.
    pub fn books(&self) -> &Pool {
        &self.books
    }

    /// Statistics of the shared room in use.
    pub fn occupancy(&self) -> &Occupancy {
        &self.occupancy
    }

    /// The most that its queue `number` may have of the shared room now.
    pub fn threshold(&self, number: usize) -> f64 {
        self.policy.threshold(&self.books, number).expect("a memory takes only policies with thresholds")
    }

    pub(super) fn has_headroom(&self, size: u64) -> bool {
        self.headroom_used + size <= self.headroom
    }

    pub(super) fn take_headroom(&mut self, size: u64) {
        self.headroom_used += size;
        self.headroom_max = self.headroom_max.max(self.headroom_used);
    }

    /// A queue takes shared room, if any: what reserved room or headroom holds does not count here.
    pub(super) fn share(&mut self, now: Time, number: usize, size: u64) {
        if size > 0 {
            self.occupancy.change(now, self.books.total(), self.books.total() + size);
            self.books.add(number, size);
        }
    }

    /// A queue gives back shared room and headroom.
    pub(super) fn give_back(&mut self, now: Time, number: usize, (shared, headroom): (u64, u64)) {
        if shared > 0 {
            self.occupancy.change(now, self.books.total(), self.books.total() - shared);
            self.books.remove(number, shared);
        }
        self.headroom_used -= headroom;
    }

    pub(super) fn reset_counters(&mut self, now: Time) {
        self.occupancy.reset(now, self.books.total());
        self.headroom_max = self.headroom_used;
    }

    pub(super) fn close_counters(&mut self, now: Time) {
        self.occupancy.change(now, self.books.total(), self.books.total());
    }
}
