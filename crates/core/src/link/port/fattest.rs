//! Room for an arriving packet at the expense of the queue with the most octets.

use std::cmp::Reverse;

use crate::units::ids::QueueId;

/// Queues that can lose the packets at their heads.
pub(crate) trait Heads {
    /// Return the number of queues.
    fn count(&self) -> usize;

    /// Return the octets that wait in a queue, with those of the arriving packet if it would join this queue.
    fn octets(&self, queue: QueueId) -> u64;

    /// Lose the packet at the head of a queue; returns its octets, unless the queue is empty.
    fn lose_head(&mut self, queue: QueueId) -> Option<u16>;

    /// Return whether the arriving packet finds room, after packets have been lost.
    fn fits(&mut self) -> bool;
}

/// Shorten the queue with the most octets: remove half of them from its head, but at most `batch` packets, and repeat until the
/// arriving packet fits. Return whether it does. Among equal queues the first is chosen.
pub(crate) fn shorten_fattest(heads: &mut impl Heads, batch: u64) -> bool {
    loop {
        let queues = (0..heads.count()).map(QueueId::new);
        let Some(fattest) = queues.max_by_key(|&queue| (heads.octets(queue), Reverse(queue))) else {
            return false;
        };
        let (half, mut packets, mut gone) = (heads.octets(fattest) / 2, 0, 0);
        while packets == 0 || packets < batch && gone < half {
            let Some(octets) = heads.lose_head(fattest) else {
                return heads.fits() && packets > 0;
            };
            (packets, gone) = (packets + 1, gone + u64::from(octets));
        }
        if heads.fits() {
            return true;
        }
    }
}
