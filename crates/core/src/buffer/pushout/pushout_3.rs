//! # Source
//! D. Wu, H. J. Chao, "Buffer management and scheduling schemes for TCP/IP over ATM-GFR" (paper 003), section 3.1
//! ("Pushout-3"), and section 4.3.4, equations (10) and (11), for the buffer share.
//!
//! # Idea
//! When the buffer is full, the longest queue loses the partial packet at its tail, from behind the last EOM to the
//! last cell: the frame that is still arriving, whose rest is then discarded as it comes.
//!
//! # Parameters
//! `buffer_share` (default off): the longest queue is the one with the largest
//!
//! > VirtualQueueLength = QueueLength − MCR · BufferSize / LinkRate  (10, 11)
//!
//! with MCR taken as cells on the line like the link rate, even if the scheduler's `layer` is another. `last_eom`
//! (default `stays`): whether the last EOM is itself a part of the tail; if it `goes`, a queue that ends with an EOM
//! loses this cell alone. `fallback` (default `next-queue`) says what goes when the longest queue ends with an EOM
//! that stays: the partial packet of the next longest queue and, if there is none, the head of the longest queue up to
//! its first EOM; that head at once; or nothing. `discard_rest` (default true): discard what still arrives of a frame
//! that has lost a cell. `pass_eom` (default true): keep the EOM cell of a frame that loses its end, if there is room
//! and the receiver already has a part of it. A memory has `last_eom` and `fallback` alone: the port's admission policy, one for
//! frames, discards the rest of a broken frame.
//!
//! # Differences from the paper
//! "Delimited by the tail cell and the last EOM cell" leaves open whether that EOM is among what is dropped, hence
//! `last_eom`. The rest of a frame that was pushed out is discarded, also the arriving cell if the frame is its own;
//! the paper does not say so, hence `discard_rest`. It is silent on ties (the lowest circuit number goes), and on
//! queues that end with an EOM. A cell in transmission counts as part of its queue's length, but is out of reach. In a memory the
//! longest queue is that of a port and class, a queue within its reserved room is spared, and no cell goes for one that would
//! not fit beside what is in transmission.
//!
//! # Complexity
//! Constant per cell; when the buffer is full, one comparison per circuit with cells.

use super::lengths::Lengths;
use super::{Context, Cut, Fallback, Full, PushOut};
use crate::buffer::frame::Frames;
use crate::buffer::queue::Queue;
use crate::buffer::runs::{Extent, Part};
use crate::refused::Refused;
use crate::{choice, section};

choice! {
    /// Treatment of the last EOM of a queue: whether it is a part of the tail behind it.
    pub enum LastEom {
        /// It stays, so that the frame that it ends is not touched.
        Stays = "stays",
        /// It goes as well: the frame that it ended goes on into the next one, and both are lost.
        Goes = "goes",
    }
}

section! {
    /// The longest queue loses its tail back to the last EOM.
    pub struct Params {
        /// Count a queue only by what it has beyond its circuit's share of the buffer, by MCR.
        pub buffer_share: bool = false,
        /// Whether the last EOM goes as well.
        pub last_eom: LastEom = LastEom::Stays,
        /// What goes when the longest queue ends with an EOM that stays.
        pub fallback: Fallback = Fallback::NextQueue,
        /// Whether to discard the rest of a frame that has lost a cell.
        pub discard_rest: bool = true,
        /// Keep the last cell of a frame that loses its end as a delimiter, if there is room.
        pub pass_eom: bool = true,
    }
}

/// Push-out from the tail at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    lengths: Lengths,
    last_eom: LastEom,
    fallback: Fallback,
    frames: Option<Frames>,
}

impl Policy {
    /// Build the policy of one port.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        Ok(Policy {
            lengths: Lengths::new(context, params.buffer_share)?,
            last_eom: params.last_eom,
            fallback: params.fallback,
            frames: params.discard_rest.then(|| Frames::new(context.vcs(), params.pass_eom)),
        })
    }
}

impl PushOut for Policy {
    fn choose(&mut self, full: &Full<'_>) -> Option<Cut> {
        self.lengths.victim(full, self.fallback, |queue| tail(queue, self.last_eom))
    }

    fn lengths(&mut self) -> &mut Lengths {
        &mut self.lengths
    }

    fn frames(&mut self) -> Option<&mut Frames> {
        self.frames.as_mut()
    }

    fn goes_by_queues(&self) -> bool {
        true
    }
}

/// Return the units behind the last EOM of a queue, and that EOM if it goes as well; `None` if there are no such units.
pub(crate) fn tail(queue: &Queue, last_eom: LastEom) -> Option<Part> {
    let last = queue.runs().last()?;
    let open = queue.runs().get(last).is_some_and(|run| !run.is_closed());
    let behind = if open { last } else { last + 1 };
    match last_eom {
        LastEom::Goes if behind > 0 => Some(Part { run: behind, extent: Extent::AndEomBefore }),
        _ => open.then_some(Part { run: last, extent: Extent::Whole }),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Spec;
    use super::*;
    use crate::buffer::admission::{self, epd, ppd, tail_drop};
    use crate::buffer::size::Level;
    use crate::link::port::bench::Bench;
    use crate::verdict::Action;

    const DEFAULT: Params = Params {
        buffer_share: false,
        last_eom: LastEom::Stays,
        fallback: Fallback::NextQueue,
        discard_rest: true,
        pass_eom: true,
    };
    const WITH_EOM: Params = Params { last_eom: LastEom::Goes, discard_rest: false, ..DEFAULT };

    fn ppd() -> admission::Spec {
        admission::Spec::Ppd(ppd::Params { pass_eom: true })
    }

    fn bench(params: Params, capacity: u64) -> Bench {
        Bench::new(capacity, &[0, 0, 0], Spec::Pushout3(params))
    }

    #[test]
    fn the_longest_queue_loses_its_tail_back_to_the_last_eom_and_then_the_rest_of_that_frame() {
        let mut bench = bench(DEFAULT, 7);
        bench.offer(0, "fef..");
        bench.offer(1, "1");
        assert_eq!(bench.offer(1, "11"), "AA");
        assert_eq!(bench.outcome(), "0:f.. / fe,111,");
        assert_eq!(bench.offer(0, "..e"), "ppp", "nothing of it was sent, so there is nothing to delimit");
        assert_eq!(bench.offer(0, "1"), "A", "the next frame starts afresh");
    }

    #[test]
    fn the_eom_stays_when_a_part_of_the_frame_was_sent() {
        let mut bench = bench(DEFAULT, 4);
        bench.offer(0, "f...");
        bench.send();
        bench.offer(1, "11");
        assert_eq!(bench.outcome(), "0:... / ,11,");
        assert_eq!(bench.offer(0, ".e"), "pA");
        let mut without = self::bench(Params { pass_eom: false, ..DEFAULT }, 4);
        without.offer(0, "f...");
        without.send();
        without.offer(1, "11");
        assert_eq!(without.offer(0, ".e"), "pp");
    }

    #[test]
    fn an_arriving_cell_whose_own_frame_is_pushed_out_goes_with_it() {
        let mut bench = bench(DEFAULT, 6);
        bench.offer(1, "fe");
        bench.offer(0, "f...");
        assert_eq!(bench.offer(0, "..e"), "ppp");
        assert_eq!(bench.outcome(), "0:f... / ,fe,");
    }

    #[test]
    fn an_arriving_eom_whose_own_frame_is_pushed_out_delimits_what_was_sent() {
        let mut bench = bench(DEFAULT, 6);
        bench.offer(1, "fe");
        bench.offer(0, "f...");
        bench.start();
        assert_eq!(bench.offer(0, "e"), "A");
        assert_eq!(bench.outcome(), "0:... / e,fe,");
    }

    #[test]
    fn without_discard_rest_what_still_arrives_is_queued() {
        let mut bench = bench(Params { discard_rest: false, ..DEFAULT }, 6);
        bench.offer(1, "fe");
        bench.offer(0, "f...");
        assert_eq!(bench.offer(0, "..e"), "AAA");
        assert_eq!(bench.outcome(), "0:f... / ..e,fe,");
    }

    #[test]
    fn unless_the_admission_policy_discards_it() {
        let spec = Spec::Pushout3(Params { discard_rest: false, ..DEFAULT });
        let mut bench = Bench::with(6, &[0, 0, 0], ppd(), Some(spec));
        bench.offer(0, "f...");
        bench.offer(1, "fe");
        bench.offer(2, "1");
        assert_eq!(bench.offer(0, ".e"), "pp");
        assert_eq!(bench.outcome(), "0:f... / ,fe,1");
    }

    #[test]
    fn a_frame_that_lost_its_eom_goes_without_harm_to_the_one_that_arrives() {
        for admission in [admission::Spec::TailDrop(tail_drop::Params { clp_threshold: None }), ppd()] {
            let mut bench = Bench::with(6, &[0, 0, 0], admission, Some(Spec::Pushout3(DEFAULT)));
            bench.offer(0, "f....");
            bench.offer(1, "1");
            // the EOM is lost before it arrives here
            assert_eq!(bench.offer(0, "f.e"), "AAA");
            assert_eq!(bench.outcome(), "0:f.... / f.e,1,");
        }
    }

    #[test]
    fn a_frame_aware_admission_policy_is_notified_of_broken_frames() {
        let epd = admission::Spec::Epd(epd::Params {
            threshold: Level::Percent(100.0),
            reserve: None,
            pass_eom: true,
            discard_rest: true,
            action: Action::Drop,
        });
        let mut bench = Bench::with(4, &[0, 0], epd, Some(Spec::Pushout3(DEFAULT)));
        assert_eq!(bench.offer(0, "f..."), "AAAA");
        assert_eq!(bench.offer(1, "1"), "r", "at its threshold it refuses what push-out would take");
        assert_eq!(bench.offer(0, "."), "p");
        assert_eq!((bench.offer(1, "1"), bench.offer(0, ".e")), ("A".into(), "pp".into()));
        assert_eq!(bench.outcome(), "0:f... / ,1");
    }

    #[test]
    fn when_the_longest_queue_ends_with_an_eom_the_next_partial_packet_goes() {
        let mut bench = bench(DEFAULT, 7);
        bench.offer(0, "f..e");
        bench.offer(1, "1f");
        bench.offer(2, "1");
        assert_eq!(bench.offer(2, "1"), "A");
        assert_eq!(bench.outcome(), "1:f / f..e,1,11");
        assert_eq!(bench.offer(2, "1"), "A");
        assert_eq!(bench.outcome(), "0:f..e / ,1,111");
    }

    #[test]
    fn or_the_head_of_the_longest_queue_or_nothing() {
        let run = |fallback| {
            let mut bench = bench(Params { fallback, ..DEFAULT }, 6);
            bench.offer(0, "fefe");
            bench.offer(1, "f.");
            (bench.offer(2, "1"), bench.pushed_out())
        };
        assert_eq!(run(Fallback::HeadFragment), ("A".to_string(), "0:fe".to_string()));
        assert_eq!(run(Fallback::Refuse), ("o".to_string(), String::new()));
    }

    #[test]
    fn if_the_last_eom_goes_as_well_the_frame_that_it_ended_goes_on_into_the_next() {
        let mut bench = bench(WITH_EOM, 7);
        bench.offer(0, "f.ef.");
        bench.offer(1, "11");
        assert_eq!(bench.offer(2, "1"), "A");
        assert_eq!(bench.outcome(), "0:e 0:f. / f.,11,1");
        assert_eq!(bench.offer(0, "e"), "A", "what is left of two frames is one for the receiver");
        assert_eq!(bench.queues(), "f.e,11,1");
    }

    #[test]
    fn a_queue_that_ends_with_an_eom_then_loses_that_cell_alone() {
        let mut bench = bench(WITH_EOM, 5);
        bench.offer(0, "f..e");
        bench.offer(1, "1");
        assert_eq!(bench.offer(2, "1"), "A");
        assert_eq!(bench.outcome(), "0:e / f..,1,1");
        assert_eq!(bench.offer(2, "1"), "A");
        assert_eq!(bench.outcome(), "0:f.. / ,1,11", "now there is no EOM to stop at");
    }

    #[test]
    fn an_arriving_frame_that_is_cut_off_then_still_brings_its_eom() {
        let mut bench = bench(Params { discard_rest: true, ..WITH_EOM }, 6);
        bench.offer(0, "fef.");
        bench.offer(1, "11");
        assert_eq!(bench.offer(2, "1"), "A");
        assert_eq!(bench.outcome(), "0:e 0:f. / f,11,1");
        assert_eq!(bench.offer(0, ".e"), "pA", "to delimit the frame that lost its own");
    }
}
