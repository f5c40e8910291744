//! # Source
//! D. Wu, H. J. Chao, "Buffer management and scheduling schemes for TCP/IP over ATM-GFR" (paper 003), section 3.1
//! ("Pushout-2"), and section 4.3.4, equations (10) and (11), for the buffer share.
//!
//! # Idea
//! When the buffer is full, the first entire packet from the head of the longest queue is discarded. No packet that the
//! receiver has begun to collect is damaged, and the sender of the lost packet detects the loss early.
//!
//! A shared memory can have it too, as `pushout` of `[memory.NAME]`, also where its ports send cells: what AAL5 switches
//! do. Then the longest queue is that of a class at a port, by the shared room that it has taken, and it loses the first
//! entire packet of the longest circuit that has one. Each such port has a scheduler with a queue for each circuit and an
//! admission policy by frames, as `ppd`, which discards the rest of a packet that found no room.
//!
//! # Parameters
//! `buffer_share` (default off): the longest queue is the one with the largest
//!
//! > VirtualQueueLength = QueueLength − MCR · BufferSize / LinkRate  (10, 11)
//!
//! with MCR taken as cells on the line like the link rate, even if the scheduler's `layer` is another. `fallback`
//! (default `next-queue`) says what goes when the longest queue has no entire packet: that of the next longest queue
//! and, if there is none, the head of the longest queue up to its first EOM; that head at once; or nothing. `pass_eom`
//! (default true): keep the EOM cell of a frame that loses its end, if there is room. A memory has `fallback` alone: the
//! `pass_eom` is that of the port's admission policy.
//!
//! # Differences from the paper
//! A packet is entire when all its cells are queued, so one that has lost cells before is not, although a switch
//! could not detect that. A packet whose first cell is at the head and not yet sent counts as entire. After a frame
//! whose beginning the receiver has and whose EOM it will not get, the next frame is taken for its rest and is not
//! entire. The paper is silent on ties (the lowest circuit number is chosen), on queues without an entire packet, and
//! on the rest of a frame whose cell finds no room: it is discarded as by partial packet discard. A cell in
//! transmission counts as part of its queue's length, but cannot be removed. No packet goes for one that would not fit
//! beside what is in transmission. In a memory a queue within its reserved room is spared.
//!
//! # Complexity
//! Constant per cell; when the buffer is full, one comparison per circuit with cells, and one per frame that is not
//! entire at the head of the longest queue. In a memory, in addition one search of the runs of each circuit's queue.

use super::lengths::Lengths;
use super::{Context, Cut, Fallback, Full, PushOut, Scope};
use crate::buffer::frame::Frames;
use crate::buffer::queue::Queue;
use crate::buffer::runs::{Extent, Part};
use crate::refused::Refused;
use crate::section;

section! {
    /// The longest queue loses its first entire packet.
    pub struct Params {
        /// Count a queue only by what it has beyond its circuit's share of the buffer, by MCR.
        pub buffer_share: bool = false,
        /// What goes when the longest queue has no entire packet.
        pub fallback: Fallback = Fallback::NextQueue,
        /// Keep the last cell of a frame that loses its end as a delimiter, if there is room.
        pub pass_eom: bool = true,
    }
}

/// Push-out of entire packets at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    lengths: Lengths,
    fallback: Fallback,
    frames: Frames,
}

impl Policy {
    /// Build the policy of one port.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        Ok(Policy {
            lengths: Lengths::new(context, params.buffer_share)?,
            fallback: params.fallback,
            frames: Frames::new(context.vcs(), params.pass_eom),
        })
    }
}

impl PushOut for Policy {
    fn choose(&mut self, full: &Full<'_>) -> Option<Cut> {
        self.lengths.victim(full, self.fallback, entire_packet)
    }

    fn lengths(&mut self) -> &mut Lengths {
        &mut self.lengths
    }

    fn frames(&mut self) -> Option<&mut Frames> {
        Some(&mut self.frames)
    }

    fn scope(&mut self) -> Scope {
        match self.fallback {
            Fallback::HeadFragment => Scope::Runs,
            _ if self.lengths.counts_shares() => Scope::Packets,
            _ => Scope::LongestPackets,
        }
    }

    fn goes_by_queues(&self) -> bool {
        true
    }
}

/// Return the first entire packet from the head of a queue, if the queue has one.
pub(super) fn entire_packet(queue: &Queue) -> Option<Part> {
    queue.runs().first_whole().map(|run| Part { run, extent: Extent::Whole })
}

#[cfg(test)]
mod tests {
    use super::super::Spec;
    use super::*;
    use crate::link::port::bench::Bench;

    const DEFAULT: Params = Params { buffer_share: false, fallback: Fallback::NextQueue, pass_eom: true };

    fn bench(params: Params, capacity: u64) -> Bench {
        Bench::new(capacity, &[0, 0, 0], Spec::Pushout2(params))
    }

    #[test]
    fn a_packet_whose_first_cell_waits_at_the_head_is_entire() {
        let mut bench = bench(DEFAULT, 6);
        bench.offer(0, "f.efe");
        assert_eq!(bench.offer(1, "fe"), "AA");
        assert_eq!(bench.outcome(), "0:f.e / fe,fe,");
    }

    #[test]
    fn a_packet_that_is_partly_sent_is_skipped() {
        let mut bench = bench(DEFAULT, 6);
        bench.offer(0, "f..efe");
        assert_eq!(bench.send(), "0f");
        assert_eq!(bench.offer(1, "1"), "A");
        assert_eq!(bench.offer(2, "1"), "A");
        assert_eq!(bench.outcome(), "0:fe / ..e,1,1");
    }

    #[test]
    fn a_packet_whose_first_cell_is_in_transmission_is_skipped_too() {
        let mut bench = bench(DEFAULT, 5);
        bench.offer(0, "f.efe");
        bench.start();
        assert_eq!(bench.offer(1, "1"), "A");
        assert_eq!(bench.outcome(), "0:fe / .e,1,");
    }

    #[test]
    fn the_first_entire_packet_goes_and_not_a_later_one() {
        let mut bench = bench(DEFAULT, 9);
        bench.offer(0, "f..ef.efe");
        bench.send();
        bench.offer(1, "11");
        assert_eq!(bench.outcome(), "0:f.e / ..efe,11,");
    }

    #[test]
    fn equal_queues_lose_in_the_order_of_their_numbers() {
        let mut bench = bench(DEFAULT, 4);
        bench.offer(1, "fe");
        bench.offer(0, "fe");
        bench.offer(2, "1");
        assert_eq!(bench.pushed_out(), "0:fe");
    }

    #[test]
    fn without_an_entire_packet_in_the_longest_queue_the_next_longest_gives_way() {
        let mut bench = bench(DEFAULT, 7);
        bench.offer(0, "f...");
        bench.offer(1, "1");
        bench.offer(2, "fe");
        bench.offer(1, "1");
        assert_eq!(bench.outcome(), "2:fe / f...,11,");
    }

    #[test]
    fn without_an_entire_packet_anywhere_the_longest_queue_loses_its_head() {
        let mut bench = bench(DEFAULT, 5);
        bench.offer(0, "f.e");
        bench.send();
        bench.offer(1, "f..");
        assert_eq!(bench.offer(0, "f"), "o", "the longest queue is all of an arriving frame");
        let mut other = self::bench(DEFAULT, 5);
        other.offer(0, "f..e");
        other.send();
        other.offer(1, "f.");
        assert_eq!(other.offer(1, "."), "A");
        assert_eq!(other.outcome(), "0:..e / ,f..,");
    }

    #[test]
    fn or_that_head_goes_before_others_are_asked() {
        let mut bench = bench(Params { fallback: Fallback::HeadFragment, ..DEFAULT }, 6);
        bench.offer(0, "f...e");
        bench.send();
        bench.offer(1, "fe");
        bench.offer(2, "1");
        assert_eq!(bench.outcome(), "0:...e / ,fe,1");
    }

    #[test]
    fn or_the_arrival_is_lost_with_the_rest_of_its_frame() {
        let mut bench = bench(Params { fallback: Fallback::Refuse, ..DEFAULT }, 6);
        bench.offer(0, "f...e");
        bench.send();
        bench.offer(1, "fe");
        assert_eq!(bench.offer(2, "f.e1"), "oppo");
        assert_eq!(bench.queues(), "...e,fe,");
    }

    #[test]
    fn a_packet_that_has_lost_a_cell_is_not_entire() {
        let mut bench = bench(Params { fallback: Fallback::Refuse, ..DEFAULT }, 5);
        bench.offer(0, "1");
        assert_eq!(bench.offer(1, "f...."), "AAAAo");
        bench.send();
        assert_eq!(bench.offer(1, "e"), "A");
        assert_eq!((bench.offer(2, "1").as_str(), bench.queues().as_str()), ("o", ",f...e,"));
    }
}
