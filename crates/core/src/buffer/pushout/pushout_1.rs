//! # Source
//! D. Wu, H. J. Chao, "Buffer management and scheduling schemes for TCP/IP over ATM-GFR" (paper 003), section 3.1
//! ("Pushout-1"), and section 4.3.4, equations (10) and (11), for the buffer share.
//!
//! # Idea
//! An arriving cell is accepted as long as there is room; when the buffer is full, the longest queue loses the
//! partial packet at its head, from the first cell to the first EOM. Thus short queues grow at the expense of long
//! ones, and no room is ever reserved.
//!
//! # Parameters
//! `buffer_share` (default off): the longest queue is the one with the largest
//!
//! > VirtualQueueLength = QueueLength − MCR · BufferSize / LinkRate  (10, 11)
//!
//! with MCR taken as cells on the line like the link rate, even if the scheduler's `layer` is another. `keep_eom`
//! (default off, as in the paper): leave the EOM cell when the receiver already has a part of that frame, so that it
//! does not take the next frame for its rest; an EOM that is left over is passed over. `fallback` (default
//! `next-queue`) says what goes when the longest queue holds no EOM: the fragment of the next longest queue that does,
//! or nothing. `pass_eom` (default true): keep the EOM cell of a frame that loses its end, if there is room. A memory has
//! `keep_eom` and `fallback` alone: the `pass_eom` is that of the port's admission policy.
//!
//! # Differences from the paper
//! The paper is silent on ties (the lowest circuit number goes), on a queue without EOM, and on the rest of a frame
//! whose cell finds no space: it is discarded as by partial packet discard. A cell in transmission counts as part of
//! its queue's length, but is out of reach. In a memory the longest queue is that of a port and class: of its circuits the longest
//! with an EOM loses its head. A queue within its reserved room is spared there, and no cell goes for one that would not fit beside
//! what is in transmission.
//!
//! # Complexity
//! Constant per cell; when the buffer is full, one comparison per circuit with cells.

use super::lengths::{Lengths, head_fragment};
use super::{Context, Cut, Fallback, Full, PushOut, Scope};
use crate::buffer::frame::Frames;
use crate::refused::Refused;
use crate::section;

section! {
    /// The longest queue loses its head up to the first EOM.
    pub struct Params {
        /// Count a queue only by what it has beyond its circuit's share of the buffer, by MCR.
        pub buffer_share: bool = false,
        /// Whether the EOM stays when the receiver already has a part of the frame.
        pub keep_eom: bool = false,
        /// What goes when the longest queue has no EOM.
        pub fallback: Fallback = Fallback::NextQueue,
        /// Keep the last cell of a frame that loses its end as a delimiter, if there is room.
        pub pass_eom: bool = true,
    }
}

/// Push-out from the head at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    lengths: Lengths,
    keep_eom: bool,
    fallback: Fallback,
    frames: Frames,
}

impl Policy {
    /// Build the policy of one port.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        Ok(Policy {
            lengths: Lengths::new(context, params.buffer_share)?,
            keep_eom: params.keep_eom,
            fallback: params.fallback,
            frames: Frames::new(context.vcs(), params.pass_eom),
        })
    }
}

impl PushOut for Policy {
    fn choose(&mut self, full: &Full<'_>) -> Option<Cut> {
        self.lengths.victim(full, self.fallback, |queue| head_fragment(queue, self.keep_eom))
    }

    fn lengths(&mut self) -> &mut Lengths {
        &mut self.lengths
    }

    fn frames(&mut self) -> Option<&mut Frames> {
        Some(&mut self.frames)
    }

    fn scope(&mut self) -> Scope {
        if self.keep_eom { Scope::AllButEom } else { Scope::Runs }
    }

    fn goes_by_queues(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::super::Spec;
    use super::*;
    use crate::link::port::bench::Bench;

    const DEFAULT: Params =
        Params { buffer_share: false, keep_eom: false, fallback: Fallback::NextQueue, pass_eom: true };

    fn bench(params: Params, capacity: u64) -> Bench {
        Bench::new(capacity, &[0, 0, 0], Spec::Pushout1(params))
    }

    #[test]
    fn arriving_cells_enter_as_long_as_there_is_space() {
        let mut bench = bench(DEFAULT, 6);
        assert_eq!(bench.offer(0, "f.ef.e"), "AAAAAA");
        assert_eq!(bench.pushed_out(), "");
    }

    #[test]
    fn the_longest_queue_loses_its_head_up_to_and_including_the_first_eom() {
        let mut bench = bench(DEFAULT, 8);
        assert_eq!((bench.offer(0, "fe"), bench.offer(1, "f.efe")), ("AA".into(), "AAAAA".into()));
        assert_eq!(bench.offer(2, "f.e"), "AAA");
        assert_eq!(bench.pushed_out(), "1:f.e");
        assert_eq!(bench.queues(), "fe,fe,f.e");
    }

    #[test]
    fn the_arriving_cell_joins_its_own_queue_even_if_that_is_the_longest() {
        let mut bench = bench(DEFAULT, 6);
        assert_eq!((bench.offer(0, "fe"), bench.offer(1, "f.e")), ("AA".into(), "AAA".into()));
        assert_eq!(bench.offer(1, "fe"), "AA");
        assert_eq!(bench.outcome(), "1:f.e / fe,fe,");
    }

    #[test]
    fn a_frame_that_is_partly_sent_loses_the_rest_that_is_queued() {
        let mut bench = bench(DEFAULT, 7);
        bench.offer(0, "f.efe");
        assert_eq!(bench.send(), "0f");
        bench.start(); // the second cell is in transmission and out of reach
        assert_eq!(bench.offer(1, "f.e"), "AAA");
        assert_eq!(bench.pushed_out(), "");
        assert_eq!(bench.offer(2, "1"), "A");
        assert_eq!(bench.outcome(), "0:e / fe,f.e,1");
    }

    #[test]
    fn with_keep_eom_the_receiver_gets_a_delimiter_and_then_the_next_frame_goes() {
        let mut bench = bench(Params { keep_eom: true, ..DEFAULT }, 6);
        bench.offer(0, "f..ef.e");
        assert_eq!(bench.outcome(), "0:f..e / f.e,,");
        bench.send();
        bench.offer(0, "fefe");
        assert_eq!(bench.outcome(), " / .efefe,,");
        bench.offer(1, "1");
        assert_eq!(bench.outcome(), "0:. / efefe,1,");
        bench.offer(1, "1");
        assert_eq!(bench.outcome(), "0:fe / efe,11,");
        assert_eq!([bench.offer(2, "1"), bench.offer(2, "1")].concat(), "AA");
        assert_eq!(bench.outcome(), "0:fe / e,11,11", "its last frame, behind the delimiter");
    }

    #[test]
    fn of_the_frames_behind_a_delimiter_the_first_one_goes() {
        let mut bench = bench(Params { keep_eom: true, ..DEFAULT }, 6);
        bench.offer(0, "fe");
        bench.send();
        bench.offer(0, "f.e1");
        bench.offer(1, "11");
        assert_eq!(bench.outcome(), "0:f.e / e1,11,");
    }

    #[test]
    fn a_longest_queue_without_eom_is_spared_and_the_next_longest_gives_way() {
        let mut bench = bench(DEFAULT, 7);
        bench.offer(0, "f...");
        bench.offer(1, "1");
        bench.offer(2, "fe");
        assert_eq!(bench.offer(1, "1"), "A");
        assert_eq!(bench.outcome(), "2:fe / f...,11,");
    }

    #[test]
    fn or_the_arrival_is_lost_with_the_rest_of_its_frame() {
        let mut bench = bench(Params { fallback: Fallback::Refuse, ..DEFAULT }, 6);
        bench.offer(0, "f...");
        bench.offer(1, "fe");
        assert_eq!(bench.offer(1, "f.e"), "opp");
        bench.send();
        assert_eq!(bench.offer(1, "1"), "A", "the next frame starts afresh");
    }

    #[test]
    fn when_only_arriving_frames_are_queued_the_arrival_is_lost() {
        let mut bench = bench(DEFAULT, 4);
        bench.offer(0, "f..");
        assert_eq!(bench.offer(1, "f."), "Ao");
        assert_eq!((bench.send(), bench.send()), ("0f".into(), "1f".into()));
        assert_eq!(bench.offer(1, ".e"), "pA", "the EOM delimits the fragment that was sent");
        bench.offer(2, "f");
        assert_eq!(bench.offer(0, "e"), "A");
        assert_eq!(bench.outcome(), "1:e / ..e,,f");
    }

    #[test]
    fn a_delimiter_pushes_nothing_out() {
        let mut bench = bench(DEFAULT, 4);
        bench.offer(0, "f..");
        assert_eq!(bench.offer(1, "f."), "Ao");
        bench.send();
        assert_eq!(bench.offer(2, "1"), "A");
        assert_eq!(bench.offer(1, "e"), "p");
        assert_eq!(bench.pushed_out(), "", "though the frame of circuit 2 could have gone");
    }

    #[test]
    fn by_buffer_share_the_queue_furthest_above_its_share_gives_way() {
        // shares of 15 cells: 77.76 / 155.52 of it are 7.5, and 31.104 / 155.52 are 3
        let victim = |buffer_share, queues: [&str; 3]| {
            let spec = Spec::Pushout1(Params { buffer_share, ..DEFAULT });
            let mut bench = Bench::new(15, &[77_760, 31_104, 0], spec);
            (0..).zip(queues).for_each(|(vc, cells)| drop(bench.offer(vc, cells)));
            bench.offer(1, "1");
            bench.pushed_out()
        };
        let last = ["f.e1fefe", "fefe", "fe1"]; // 8 − 7.5, 4 − 3, 3 − 0
        assert_eq!([victim(false, last), victim(true, last)], ["0:f.e", "2:fe"]);
        let middle = ["f.e1fefe", "f..efe", "1"]; // 8 − 7.5, 6 − 3, 1 − 0
        assert_eq!([victim(false, middle), victim(true, middle)], ["0:f.e", "1:f..e"]);
    }
}
