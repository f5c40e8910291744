//! # Source
//! E. L. Hahne, A. Kesselman, Y. Mansour, "Competitive buffer management for shared-memory switches", SPAA 2001; for two ports
//! the exact bound of K. Kobayashi, S. Miyazaki, Y. Okabe, "A tight bound on online buffer management for
//! two-port shared-memory switches", IEICE Transactions E91-D(8), 2008: never less than (3M − 2) / (4M − 4) of what
//! an optimal policy sends from a memory of M packets, for even M. For odd M an exact search for the worst cycle of arrivals (M = 3, 5, 7, 9)
//! gives 3 / 4, which is less than the formula.
//!
//! # Idea
//! Longest queue drop: every arriving packet finds room as long as there is any. In a full buffer the longest queue loses a
//! packet for it, until the arriving one fits. A single queue can so use everything, and N queues that compete get equal
//! parts. In a shared memory the longest queue may be that of another port.
//!
//! # Parameters
//! `end` (default `tail`, as in the theory): which packet of the longest queue goes, the last or the first that waits; dropping
//! the first tells its sender earlier. `counts_arrival` (default true): whether the arriving packet counts for its own
//! queue. If its own queue is the longest, or as long as the longest, the arriving packet is lost.
//!
//! # Differences from the paper
//! The paper has packets of one size. With several sizes lengths are in the port's measure, in a memory in cells of shared room,
//! one arriving packet may need several others to go, and the longest queue is looked for after each. The packet in
//! transmission counts for its queue but is out of reach; a queue with nothing else does not give way. Among
//! equally long queues the one of the lowest number goes. On cell links whole packets go: from the tail the last one, from
//! the head the first one with its EOM, or nothing. In a memory single units go, so that its ports send packets;
//! `pushout-2` removes the packets of cell ports.
//!
//! # Complexity
//! One comparison per queue for a packet that finds no room.

use std::cmp::Reverse;

use super::lengths::{Lengths, cut, head_fragment};
use super::{Context, Cut, Full, PushOut};
use crate::buffer::frame::Frames;
use crate::buffer::queue::Queue;
use crate::buffer::runs::{Extent, Part};
use crate::refused::Refused;
use crate::units::ids::PortVc;
use crate::{choice, section};

section! {
    /// The longest queue loses a packet; in a shared memory, of whichever port it is.
    pub struct Params {
        /// Which of its packets goes.
        pub end: End = End::Tail,
        /// Whether an arriving packet counts for its own queue when queues are compared.
        pub counts_arrival: bool = true,
    }
}

choice! {
    /// The end of a queue at which a packet is removed.
    pub enum End {
        /// The packet that came last.
        Tail = "tail",
        /// The packet that would be sent next.
        Head = "head",
    }
}

/// Longest queue drop at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    params: Params,
    lengths: Lengths,
    frames: Frames,
}

impl Policy {
    /// Build the policy of one port.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        Ok(Policy {
            params: params.clone(),
            lengths: Lengths::new(context, false)?,
            frames: Frames::new(context.vcs(), true),
        })
    }
}

impl Params {
    /// Choose the queue that loses a packet for an arriving packet of `size`; `lengths` gives the number and the
    /// length of each queue. Return `None` if that is the packet's `own` queue: then the arriving packet is lost.
    /// `can_give` says whether a packet waits in a queue.
    pub fn victim<K: Copy + Ord>(
        &self,
        lengths: impl Iterator<Item = (K, u64)> + Clone,
        own: K,
        size: u64,
        can_give: impl Fn(K) -> bool,
    ) -> Option<K> {
        let added = if self.counts_arrival { size } else { 0 };
        let own_length = lengths.clone().find(|&(queue, _)| queue == own).map_or(0, |(_, length)| length);
        let longer = lengths.filter(|&(queue, length)| queue != own && length > own_length + added);
        let longest = longer
            .filter(|&(queue, _)| can_give(queue))
            .max_by_key(|&(queue, length)| (length, Reverse(queue)));
        longest.map(|(queue, _)| queue)
    }
}

impl PushOut for Policy {
    fn choose(&mut self, full: &Full<'_>) -> Option<Cut> {
        let lengths = self.lengths.busy().iter().map(|vc| (vc, full.pool.of(vc)));
        let end = self.params.end;
        let can_give = |vc: PortVc| part(&full.queues[vc], end).is_some();
        let (own, size) = full.arriving;
        let victim = self.params.victim(lengths, own, size, can_give)?;
        cut(full, victim, |queue| part(queue, end))
    }

    fn lengths(&mut self) -> &mut Lengths {
        &mut self.lengths
    }

    fn frames(&mut self) -> Option<&mut Frames> {
        Some(&mut self.frames)
    }
}

/// Return the packet that a queue loses at this end, if it has one.
pub(super) fn part(queue: &Queue, end: End) -> Option<Part> {
    match end {
        End::Tail => queue.runs().last().map(|run| Part { run, extent: Extent::Whole }),
        End::Head => head_fragment(queue, false),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Spec;
    use super::*;
    use crate::link::port::bench::Bench;

    const DEFAULT: Params = Params { end: End::Tail, counts_arrival: true };

    fn bench(params: Params, capacity: u64) -> Bench {
        Bench::new(capacity, &[0, 0, 0], Spec::LongestQueue(params))
    }

    #[test]
    fn a_full_buffer_is_shared_equally_by_those_who_come_later() {
        let mut bench = bench(DEFAULT, 10);
        bench.offer(0, "1111111111");
        assert_eq!(bench.offer(1, "1111111"), "AAAAAoo");
        assert_eq!(bench.pushed_out(), "0:1 0:1 0:1 0:1 0:1");
        assert_eq!(bench.queues(), "11111,11111,");
    }

    #[test]
    fn whether_the_arrival_counts_decides_when_one_queue_is_a_packet_longer() {
        for (counts_arrival, queues) in [(true, "111111,11111,"), (false, "11111,111111,")] {
            let mut bench = bench(Params { counts_arrival, ..DEFAULT }, 11);
            bench.offer(0, "11111111111");
            bench.offer(1, "11111111111");
            assert_eq!(bench.queues(), queues);
        }
    }

    #[test]
    fn the_last_packet_goes_or_the_first_one() {
        for (end, gone) in [(End::Tail, "0:f.."), (End::Head, "0:fe")] {
            let mut bench = bench(Params { end, ..DEFAULT }, 6);
            bench.offer(0, "fe1f..");
            bench.offer(1, "1");
            assert_eq!(bench.pushed_out(), gone, "{end:?}");
        }
    }

    #[test]
    fn a_packet_that_is_still_arriving_is_lost_with_its_rest() {
        let mut bench = bench(DEFAULT, 4);
        bench.offer(0, "1f..");
        assert_eq!(bench.offer(1, "1"), "A");
        assert_eq!((bench.pushed_out(), bench.offer(0, ".e")), ("0:f..".into(), "pp".into()));
    }

    #[test]
    fn the_packet_in_transmission_counts_but_is_out_of_reach() {
        let mut bench = bench(DEFAULT, 3);
        bench.offer(0, "fe1");
        bench.start();
        bench.offer(0, "");
        assert_eq!(bench.offer(1, "1"), "A");
        assert_eq!(bench.queues(), "e,1,", "what waits behind it goes, from the tail");
    }

    #[test]
    fn of_equally_long_queues_the_first_gives_way() {
        let mut bench = bench(DEFAULT, 6);
        (0..).zip(["111", "111"]).for_each(|(vc, cells)| drop(bench.offer(vc, cells)));
        bench.offer(2, "1");
        assert_eq!(bench.pushed_out(), "0:1");
    }
}
