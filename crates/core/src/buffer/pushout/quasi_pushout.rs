//! # Source
//! Y. S. Lin et al., "Quasi-pushout cell discarding", IEEE Communications Letters 1(5), 1997, as paper 003 (D. Wu,
//! H. J. Chao, 1998) gives it in section 3.2 with its pseudocode; equations (10) and (11) there for the buffer share.
//!
//! # Idea
//! Push-out of entire packets without a search for the longest queue: a register LQ names the quasi-longest one.
//! Whenever a queue receives or sends a cell, it is compared with queue LQ, and replaces it if it is longer. The
//! register may name another queue than the longest for a while, until the longest queue receives or sends a cell.
//!
//! # Parameters
//! `buffer_share` (default off): queues are compared by
//!
//! > VirtualQueueLength = QueueLength − MCR · BufferSize / LinkRate  (10, 11)
//!
//! with MCR taken as cells on the line like the link rate, even if the scheduler's `layer` is another. `fallback`
//! (default `next-queue`) says what goes when queue LQ has no entire packet: that of the next circuit in the order of
//! numbers that has one and, if there is none, the head of queue LQ up to its first EOM; that head at once; or
//! nothing. `pass_eom` (default true): keep the EOM cell of a frame that loses its end, if there is room. A memory has `fallback`
//! alone: the `pass_eom` is that of the port's admission policy.
//!
//! # Differences from the paper
//! The pseudocode is followed where the prose contradicts it: comparisons are of the queue that has changed with queue
//! LQ, strict, so that LQ stays on ties, and a push-out compares nothing. At first LQ names the first circuit. A cell
//! is transmitted when its last bit has left. The paper is silent on a queue LQ without an entire packet, and on the
//! rest of a frame whose cell finds no space: it is discarded as by partial packet discard. In a memory one register compares the
//! queues of all ports by their shared room; where a pool is full to which queue LQ does not belong, or that queue is within its
//! reserved room, the next queue gives way.
//!
//! # Complexity
//! Constant per cell, also when the buffer is full, unless queue LQ has no entire packet.

use super::lengths::{Lengths, cut, head};
use super::pushout_2::entire_packet;
use super::register::Register;
use super::{Context, Cut, Fallback, Full, PushOut, Scope};
use crate::buffer::frame::Frames;
use crate::buffer::pool::Pool;
use crate::refused::Refused;
use crate::section;
use crate::units::ids::PortVc;

section! {
    /// The quasi-longest queue loses its first entire packet.
    pub struct Params {
        /// Count a queue only by what it has beyond its circuit's share of the buffer, by MCR.
        pub buffer_share: bool = false,
        /// What goes when the quasi-longest queue has no entire packet.
        pub fallback: Fallback = Fallback::NextQueue,
        /// Keep the last cell of a frame that loses its end as a delimiter, if there is room.
        pub pass_eom: bool = true,
    }
}

/// Quasi-push-out at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    /// The register LQ with the number of the quasi-longest queue.
    register: Register,
    fallback: Fallback,
    frames: Frames,
}

impl Policy {
    /// Build the policy of one port.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        Ok(Policy {
            register: Register::new(Lengths::new(context, params.buffer_share)?),
            fallback: params.fallback,
            frames: Frames::new(context.vcs(), params.pass_eom),
        })
    }

    /// Return the entire packet of the next circuit after LQ, in cyclic order of numbers, that has one.
    fn next(&self, full: &Full<'_>) -> Option<Cut> {
        let (longest, busy) = (self.register.longest(), self.register.lengths().busy());
        let (behind, ahead) = (busy.from(longest.index() + 1), busy.iter().take_while(|&vc| vc < longest));
        behind.chain(ahead).find_map(|vc| cut(full, vc, entire_packet))
    }
}

impl PushOut for Policy {
    fn choose(&mut self, full: &Full<'_>) -> Option<Cut> {
        let longest = self.register.longest();
        self.fallback.choose(cut(full, longest, entire_packet), || self.next(full), || head(full, longest))
    }

    fn lengths(&mut self) -> &mut Lengths {
        self.register.lengths_mut()
    }

    fn joined(&mut self, vc: PortVc, pool: &Pool) {
        self.register.lengths_mut().joined(vc);
        self.register.compare(vc, pool);
    }

    fn left(&mut self, vc: PortVc, pool: &Pool, sent: bool) {
        self.register.lengths_mut().left(vc, pool);
        if sent {
            self.register.compare(vc, pool);
        }
    }

    fn frames(&mut self) -> Option<&mut Frames> {
        Some(&mut self.frames)
    }

    fn scope(&mut self) -> Scope {
        if self.fallback == Fallback::HeadFragment { Scope::Runs } else { Scope::Packets }
    }

    fn goes_by_queues(&self) -> bool {
        true
    }

    fn register(&mut self) -> Option<&mut Register> {
        Some(&mut self.register)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Spec;
    use super::*;
    use crate::buffer::capacity::Capacity;
    use crate::link::port::bench::Bench;

    const DEFAULT: Params = Params { buffer_share: false, fallback: Fallback::NextQueue, pass_eom: true };

    fn bench(params: Params, capacity: u64) -> Bench {
        Bench::new(capacity, &[0, 0, 0], Spec::QuasiPushout(params))
    }

    /// Return the register after each step: `+i` a cell of circuit i arrives, `-i` one is transmitted, `xi` one is
    /// pushed out.
    fn register(steps: &str) -> Vec<u32> {
        let mut policy = Policy::new(&DEFAULT, &Context::alone(100, 3)).unwrap();
        let mut pool: Pool = Pool::new(Capacity::limited(100), 3);
        let step = |step: &str| {
            let vc = PortVc(step[1..].parse().unwrap());
            match &step[..1] {
                "+" => {
                    pool.add(vc, 1);
                    policy.joined(vc, &pool);
                }
                sign => {
                    pool.remove(vc, 1);
                    policy.left(vc, &pool, sign == "-");
                }
            }
            policy.register.longest().0
        };
        steps.split(' ').map(step).collect()
    }

    #[test]
    fn an_arrival_makes_its_queue_the_quasi_longest_if_it_is_longer() {
        // lengths 0,1,0  1,1,0  2,1,0  2,2,0  2,2,1  2,3,1
        assert_eq!(register("+1 +0 +0 +1 +2 +1"), [1, 1, 0, 0, 0, 1]);
    }

    #[test]
    fn a_departure_makes_its_queue_the_quasi_longest_if_it_is_still_longer() {
        // lengths 3,0,0  3,2,0, and then circuit 0 sends: 2,2  1,2  0,2; circuit 1 sends: 0,1
        assert_eq!(register("+0 +0 +0 +1 +1 -0 -0 -0 -1"), [0, 0, 0, 0, 0, 0, 0, 0, 1]);
    }

    #[test]
    fn the_register_may_miss_the_longest_queue_until_that_queue_is_served() {
        // lengths 1,2,0 with LQ = 1; circuit 1 sends twice and becomes the shortest unnoticed
        assert_eq!(register("+1 +1 +0 -1 -1"), [1, 1, 1, 1, 1]);
        assert_eq!(
            register("+1 +1 +0 -1 -1 +2"),
            [1, 1, 1, 1, 1, 2],
            "2 is no longer than 0, but longer than 1"
        );
        assert_eq!(register("+1 +1 +0 -1 -1 +0"), [1, 1, 1, 1, 1, 0], "an arrival corrects it");
        assert_eq!(register("+1 +1 +0 +0 -1 -1 -0"), [1, 1, 1, 1, 1, 1, 0], "and so does a departure");
    }

    #[test]
    fn a_push_out_compares_nothing() {
        assert_eq!(register("+0 +0 +1 x0 x0 +2"), [0, 0, 0, 0, 0, 2]);
        assert_eq!(register("+0 +0 +1 x0 x0"), [0, 0, 0, 0, 0]);
        // lengths 3,1,0 with LQ = 1, and then 2,1,0: the longest queue is cut and still not named
        assert_eq!(register("+1 +1 +1 +0 +0 +0 -1 -1 x0"), [1; 9]);
    }

    #[test]
    fn the_first_entire_packet_of_the_quasi_longest_queue_goes() {
        let mut bench = bench(DEFAULT, 8);
        bench.offer(0, "f.efe");
        bench.offer(1, "fe");
        bench.send();
        bench.offer(1, "1");
        assert_eq!((bench.offer(2, "1").as_str(), bench.pushed_out().as_str()), ("A", ""));
        assert_eq!((bench.offer(2, "1").as_str(), bench.pushed_out().as_str()), ("A", "0:fe"));
        assert_eq!(bench.queues(), ".e,fe1,11");
    }

    #[test]
    fn a_mistracked_queue_gives_way_although_another_is_longer() {
        let mut bench = bench(DEFAULT, 6);
        bench.offer(0, "1111"); // LQ = 0
        bench.offer(1, "1");
        assert_eq!([bench.send(), bench.send(), bench.send(), bench.send()], ["01", "11", "01", "01"]);
        bench.offer(1, "1"); // as long as queue 0, so LQ = 0
        bench.offer(0, "1"); // lengths 2, 1, 0
        bench.offer(2, "11");
        assert_eq!(bench.lengths(), [2, 1, 2]);
        bench.offer(1, "1");
        assert_eq!((bench.offer(2, "1").as_str(), bench.pushed_out().as_str()), ("A", "0:1"));
        assert_eq!(bench.lengths(), [1, 2, 3], "and the arrival makes its queue the quasi-longest");
        assert_eq!((bench.offer(1, "1").as_str(), bench.pushed_out().as_str()), ("A", "2:1"));
    }

    #[test]
    fn without_an_entire_packet_in_the_quasi_longest_queue_the_next_circuit_that_has_one_gives_way() {
        let mut bench = bench(DEFAULT, 7);
        bench.offer(1, "f...");
        bench.offer(0, "1");
        bench.offer(2, "fe");
        bench.offer(0, "1");
        assert_eq!(bench.outcome(), "2:fe / 11,f...,");
        bench.offer(0, "1");
        bench.offer(0, "1");
        assert_eq!(bench.pushed_out(), "0:1", "and behind the last circuit comes the first");
    }

    #[test]
    fn or_the_arrival_is_lost() {
        let mut bench = bench(Params { fallback: Fallback::Refuse, ..DEFAULT }, 5);
        bench.offer(1, "f...");
        bench.offer(0, "1");
        assert_eq!(bench.offer(0, "fe"), "op");
    }
}
