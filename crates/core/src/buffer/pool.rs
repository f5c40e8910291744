//! The occupancy of a port's buffer, in total and of each circuit.

use super::capacity::Capacity;
use crate::units::ids::{Id, IdVec, PortVc};

/// Occupancy of a buffer, in the port's measure, in total and of each circuit; for a pool of a shared memory, of each
/// of its queues.
///
/// A unit is counted from the instant at which it is accepted until its last bit has left, so the unit in
/// transmission counts.
#[derive(Clone, Debug)]
pub struct Pool<K = PortVc> {
    capacity: Capacity,
    /// Largest occupancy that is allowed now: the capacity, or what the shared memory grants.
    room: Capacity,
    total: u64,
    of: IdVec<K, u64>,
    active: u32,
}

impl<K: Id> Pool<K> {
    /// Build the record of an empty buffer that `vcs` circuits share.
    pub fn new(capacity: Capacity, vcs: usize) -> Pool<K> {
        Pool { capacity, room: capacity, total: 0, of: IdVec::filled(0, vcs), active: 0 }
    }

    /// Return the capacity of the buffer: B.
    pub fn capacity(&self) -> Capacity {
        self.capacity
    }

    /// Return the occupancy: X.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Return the occupancy of one circuit: `X_i`.
    pub fn of(&self, vc: K) -> u64 {
        self.of[vc]
    }

    /// Return all circuits, in order.
    pub fn keys(&self) -> impl Iterator<Item = K> + use<K> {
        self.of.keys()
    }

    /// Return the number of circuits that pass through this port.
    pub fn vcs(&self) -> usize {
        self.of.len()
    }

    /// Return the number of circuits with units in the buffer: `N_a`.
    pub fn active(&self) -> u32 {
        self.active
    }

    /// Return the free room B − X, or `None` for an unlimited buffer.
    pub fn free(&self) -> Option<u64> {
        self.capacity.limit().map(|limit| limit - self.total)
    }

    /// Return whether a unit of `size` fits.
    pub fn fits(&self, size: u64) -> bool {
        self.room.holds(self.total + size)
    }

    /// Allow `size` beyond the present occupancy, as the shared memory grants it; 0 refuses every unit.
    pub(crate) fn grant(&mut self, size: u64) {
        self.room = Capacity::limited(self.total + size);
    }

    /// Count an accepted unit of `size`.
    pub(crate) fn add(&mut self, vc: K, size: u64) {
        assert!(self.fits(size), "never over the buffer");
        self.add_ahead(vc, size);
    }

    /// Like `add`, for an engine that counts arrivals before the departures that make room for them.
    pub(crate) fn add_ahead(&mut self, vc: K, size: u64) {
        self.total += size;
        self.active += u32::from(self.of[vc] == 0);
        self.of[vc] += size;
    }

    /// Set the total, for an engine or an analysis that counts all circuits as the first one.
    #[inline]
    pub fn hold(&mut self, total: u64) {
        self.total = total;
        self.active = u32::from(total > 0);
        self.of[K::new(0)] = total;
    }

    /// Subtract a unit of `size` that was sent or lost.
    pub(crate) fn remove(&mut self, vc: K, size: u64) {
        self.of[vc] = self.of[vc].checked_sub(size).expect("a circuit holds what it gives up");
        self.total -= size;
        self.active -= u32::from(self.of[vc] == 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn books_follow_every_entry_and_exit() {
        let mut pool: Pool = Pool::new(Capacity::limited(10), 3);
        pool.add(PortVc(0), 4);
        pool.add(PortVc(2), 1);
        pool.add(PortVc(0), 2);
        assert_eq!((pool.total(), pool.of(PortVc(0)), pool.of(PortVc(1)), pool.of(PortVc(2))), (7, 6, 0, 1));
        assert_eq!((pool.active(), pool.free()), (2, Some(3)));
        assert!(pool.fits(3) && !pool.fits(4));
        pool.remove(PortVc(2), 1);
        assert_eq!((pool.active(), pool.total()), (1, 6));
    }

    #[test]
    #[should_panic(expected = "never over the buffer")]
    fn nothing_enters_a_full_buffer() {
        Pool::new(Capacity::limited(1), 1).add(PortVc(0), 2);
    }
}
