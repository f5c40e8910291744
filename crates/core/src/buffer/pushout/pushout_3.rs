//! # Source
//! D. Wu, H. J. Chao, "Buffer management and scheduling schemes for TCP/IP over ATM-GFR" (paper 003), section 3.1
//! ("Pushout-3"), and section 4.3.4, equations (10) and (11), for the buffer share.
//!
//! # Idea
//! When the buffer is full, the longest queue loses the partial packet at its tail, from behind the last EOM to the last
//! cell: the frame that is still arriving, whose rest is then discarded as it comes.
//!
//! # Parameters
//! `buffer_share` (default off): the longest queue is the one with the largest
//!
//! > VirtualQueueLength = QueueLength − MCR · BufferSize / LinkRate  (10, 11)
//!
//! with MCR and link rate both counted in cells on the line. `fallback` (default `next-queue`) says what goes when the
//! longest queue ends with an EOM: the partial packet of the next longest queue and, if there is none, the head of the
//! longest queue up to its first EOM; that head at once; or nothing. `discard_rest` (default true): discard what still
//! arrives of a frame that has lost a cell. `pass_eom` (default true): keep the EOM cell of a
//! frame that loses its end, if there is room and the receiver already has a part of it.
//!
//! # Differences from the paper
//! The rest of a frame that was pushed out is discarded, also the arriving cell if the frame is its own. The paper does
//! not say so, hence `discard_rest`. It is silent on ties (the lowest circuit number goes), and on queues that end with
//! an EOM. A cell in transmission counts as part of its queue's length, but is
//! out of reach.
//!
//! # Complexity
//! Constant per cell; when the buffer is full, one comparison per circuit with cells.

use super::lengths::Lengths;
use super::{Context, Cut, Fallback, Full, PushOut};
use crate::buffer::frame::Frames;
use crate::buffer::pool::Pool;
use crate::buffer::queue::Queue;
use crate::buffer::runs::Part;
use crate::section;

section! {
    /// The longest queue loses its tail back to the last EOM.
    pub struct Params {
        /// Whether a circuit's share of the buffer, by its MCR, does not count.
        pub buffer_share: bool = false,
        /// What goes when the longest queue ends with an EOM.
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
    fallback: Fallback,
    frames: Option<Frames>,
}

impl Policy {
    /// The policy at one port.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, String> {
        Ok(Policy {
            lengths: Lengths::new(context, params.buffer_share),
            fallback: params.fallback,
            frames: params.discard_rest.then(|| Frames::new(context.vcs(), params.pass_eom)),
        })
    }
}

impl PushOut for Policy {
    fn choose(&mut self, full: &Full<'_>) -> Option<Cut> {
        self.lengths.victim(full, self.fallback, tail_fragment)
    }

    fn joined(&mut self, vc: usize, _: &Pool) {
        self.lengths.joined(vc);
    }

    fn left(&mut self, vc: usize, pool: &Pool, _: bool) {
        self.lengths.left(vc, pool);
    }

    fn frames(&mut self) -> Option<&mut Frames> {
        self.frames.as_mut()
    }
}

/// What follows the last EOM of a queue, if anything does.
fn tail_fragment(queue: &Queue) -> Option<Part> {
    let run = queue.runs().last()?;
    let open = queue.runs().get(run).is_some_and(|run| !run.is_closed());
    open.then_some(Part { run, keep_eom: false })
}

#[cfg(test)]
mod tests {
    use super::super::Spec;
    use super::*;
    use crate::buffer::admission::{self, epd, ppd, tail_drop};
    use crate::buffer::size::Level;
    use crate::link::port::bench::Bench;

    const DEFAULT: Params =
        Params { buffer_share: false, fallback: Fallback::NextQueue, discard_rest: true, pass_eom: true };

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
            // the EOM is lost on its way here
            assert_eq!(bench.offer(0, "f.e"), "AAA");
            assert_eq!(bench.outcome(), "0:f.... / f.e,1,");
        }
    }

    #[test]
    fn a_frame_aware_admission_policy_hears_of_what_was_broken() {
        let epd = admission::Spec::Epd(epd::Params {
            threshold: Level::Percent(100.0),
            reserve: None,
            pass_eom: true,
            discard_rest: true,
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
}
