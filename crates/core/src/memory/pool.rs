//! A pool: a counter over a memory, with the scheme that divides its shared room.

use super::leaving::Leaving;
use super::queue::SharedQueue;
use super::sharing::{self, Pool, Sharing};
use crate::buffer::admission::Expulsion;
use crate::buffer::capacity::Capacity;
use crate::metrics::occupancy::Occupancy;
use crate::unit::Unit;
use crate::units::Time;
use crate::units::ids::{IdVec, PoolQueue};

/// A running pool.
#[derive(Clone, Debug)]
pub struct SharedPool {
    /// Shared room of the pool: capacity, part in use, and part of each queue.
    pub(super) books: Pool,
    scheme: sharing::Policy,
    judges_frames: bool,
    /// The place in the memory of each queue of the pool, by the queue's number in the pool.
    members: IdVec<PoolQueue, usize>,
    /// Whether one of the pool's classes must lose nothing.
    pub(super) is_lossless: bool,
    headroom: u64,
    headroom_used: u64,
    headroom_max: u64,
    occupancy: Occupancy,
}

impl SharedPool {
    /// Build an empty pool with `cells` cells of shared room for `queues` queues, and `headroom` cells of headroom.
    pub fn new(cells: u64, queues: usize, headroom: u64, scheme: sharing::Policy) -> SharedPool {
        SharedPool {
            books: Pool::new(Capacity::limited(cells), queues.max(1)), // no flow may use it
            judges_frames: scheme.judges_frames(),
            scheme,
            members: IdVec::filled(0, queues),
            is_lossless: false,
            headroom,
            headroom_used: 0,
            headroom_max: 0,
            occupancy: Occupancy::new(),
        }
    }

    /// Record a queue of the pool and its place in the memory.
    pub(super) fn add_member(&mut self, queue: &SharedQueue, place: usize) {
        self.members[queue.number] = place;
        self.is_lossless |= queue.limits.pause.is_some();
    }

    /// Return the headroom of the pool.
    pub fn headroom(&self) -> u64 {
        self.headroom
    }

    /// Return the headroom in use.
    pub fn headroom_used(&self) -> u64 {
        self.headroom_used
    }

    /// Return the greatest headroom that was in use.
    pub fn headroom_max(&self) -> u64 {
        self.headroom_max
    }

    /// Return the shared room, and what each queue uses of it.
    pub fn books(&self) -> &Pool {
        &self.books
    }

    /// Return the statistics of the shared room in use.
    pub fn occupancy(&self) -> &Occupancy {
        &self.occupancy
    }

    /// Return the shared room that queue `number` may have now.
    #[inline]
    pub fn threshold(&self, number: PoolQueue) -> f64 {
        self.scheme.threshold(&self.books, number)
    }

    /// Return the threshold of queue `number` for a unit: see [`SharedPool::applied`].
    #[inline]
    pub(super) fn threshold_for(&self, number: PoolQueue, unit: &Unit) -> f64 {
        self.applied(unit, || self.threshold(number))
    }

    /// Return the threshold that applies to a unit: infinite if the scheme does not judge this unit, below all lengths of
    /// queues if it has refused it.
    #[inline]
    pub(super) fn applied(&self, unit: &Unit, threshold: impl Fn() -> f64) -> f64 {
        match self.scheme.refuses(unit) {
            true => f64::NEG_INFINITY,
            false if self.judges(unit) => threshold(),
            false => f64::INFINITY,
        }
    }

    /// Return whether the scheme has refused a unit.
    pub(super) fn refuses(&self, unit: &Unit) -> bool {
        self.scheme.refuses(unit)
    }

    /// Return the scheme.
    pub(super) fn scheme(&self) -> &sharing::Policy {
        &self.scheme
    }

    /// Return the scheme, to change what it keeps.
    pub(super) fn scheme_mut(&mut self) -> &mut sharing::Policy {
        &mut self.scheme
    }

    /// Return whether the scheme judges a unit: with a scheme for frames only first units.
    #[inline]
    pub(super) fn judges(&self, unit: &Unit) -> bool {
        !self.judges_frames || unit.is_first()
    }

    pub(super) fn has_headroom(&self, size: u64) -> bool {
        self.headroom_used + size <= self.headroom
    }

    pub(super) fn take_headroom(&mut self, size: u64) {
        self.headroom_used += size;
        self.headroom_max = self.headroom_max.max(self.headroom_used);
    }

    /// Count `size` cells of shared room as used by a queue; reserved room and headroom do not count here.
    pub(super) fn share(&mut self, now: Time, number: PoolQueue, size: u64) {
        if size > 0 {
            self.occupancy.change(now, self.books.total(), self.books.total() + size);
            self.books.add(number, size);
        }
    }

    /// Report that a packet requests room in queue `number`.
    pub(super) fn offer(&mut self, now: Time, number: PoolQueue, size: u64, unit: &Unit) {
        self.scheme.offered(now, &self.books, number, size, unit);
    }

    /// Like `offer`; returns the threshold of the queue then.
    #[inline]
    pub(super) fn meets(&mut self, now: Time, number: PoolQueue, size: u64, unit: &Unit) -> f64 {
        self.scheme.meets(now, &self.books, number, size, unit)
    }

    /// Advance a scheme whose thresholds depend on time.
    pub(super) fn catch_up(&mut self, now: Time) {
        self.scheme.catch_up(now, &self.books);
    }

    /// Return whether the scheme expels packets.
    pub(super) fn is_expelling(&self) -> bool {
        self.scheme.kind().expels()
    }

    /// Choose the queue, by its place in the memory, from which the scheme expels a packet now, or return the instant of
    /// the next check; `head` returns the size of the first waiting packet of such a queue.
    pub(super) fn expels(
        &mut self,
        now: Time,
        head: impl Fn(usize) -> Option<u64>,
    ) -> Option<Expulsion<usize>> {
        let SharedPool { scheme, books, members, .. } = self;
        match scheme.expels(now, books, &|number| head(members[number]))? {
            Expulsion::Now(number) => Some(Expulsion::Now(members[number])),
            Expulsion::At(time) => Some(Expulsion::At(time)),
        }
    }

    /// Free the shared room and the headroom of a packet that leaves queue `number`.
    pub(super) fn give_back(&mut self, leaving: &Leaving<'_>, number: PoolQueue, shared: u64, headroom: u64) {
        if shared > 0 {
            self.occupancy.fall(leaving.now, self.books.total());
            self.books.remove(number, shared);
        }
        self.headroom_used -= headroom;
        self.scheme.departed(leaving, &self.books, number);
    }

    /// Like `give_back`, for a pool whose books are those of its memory; they no longer count the packet.
    #[inline]
    pub(super) fn give_back_lean(&mut self, leaving: &Leaving<'_>, number: PoolQueue) {
        self.books.remove(number, leaving.size);
        self.scheme.departed(leaving, &self.books, number);
    }

    pub(super) fn reset_counters(&mut self, now: Time) {
        self.occupancy.reset(now, self.books.total());
        self.headroom_max = self.headroom_used;
    }

    /// Bring its time average up to the end of the run; `whole` has the occupancy of a memory that has no other pool.
    pub(super) fn close_counters(&mut self, now: Time, whole: Option<&Occupancy>) {
        match whole {
            Some(whole) => self.occupancy.follow(whole),
            None => self.occupancy.change(now, self.books.total(), self.books.total()),
        }
    }
}
