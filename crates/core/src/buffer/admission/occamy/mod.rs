//! # Source
//! D. Shan et al., "Occamy: A Preemptive Buffer Management for On-chip Shared-memory Switches", EuroSys 2025, and the
//! authors' prototype (DPDK), which has the rate and the depth of the token bucket.
//!
//! # Idea
//! Admission is that of a dynamic threshold with a large α, so that hardly any memory stays unused. What a queue has beyond its
//! threshold, because the threshold fell after packets were accepted, is expelled: packets go from the heads of such queues, one at a
//! time and in turn, for as long as the memory has bandwidth to spare.
//!
//! # Parameters
//! `alpha` α (no unit, default 8; a class can have an `alpha` of its own). `token_rate` (default 55000000 per s) and `token_depth`
//! (default 200 cells): a bucket of tokens stands for the spare bandwidth. Every leaving packet takes a token for each of its cells. A
//! packet is expelled only when there are tokens for all of its cells, so the lines are served first.
//!
//! # Differences from the paper
//! The bucket does not go below 0 when lines take more than it has. A packet of more cells than the bucket holds needs a full bucket.
//! Every pool of a memory has its own bucket. The packet in transmission stays; a queue with nothing else is passed over. At a port by
//! itself circuits have the thresholds, and tokens are for units of the port's measure; units are expelled when others arrive while the
//! line is busy, if every circuit has its own queue. On cell links these are cells, without regard to frames.
//!
//! # Complexity
//! The number of queues for every packet that arrives or leaves; one bucket.

mod bucket;

use super::dynamic_threshold::{DynamicThreshold, bars_pushout};
use super::{Admission, Arrival, Context, Departure, Expulsion, Properties, Shortcuts};
use crate::buffer::pool::Pool;
use crate::refused::{Refused, refuse_if};
use crate::section;
use crate::units::ids::{Id, PortVc};
use crate::units::{CellCount, PerSecond, Time};
use crate::verdict::Verdict;

use bucket::Bucket;

section! {
    /// Block a circuit by a dynamic threshold, and expel what a queue has beyond it.
    pub struct Params {
        /// Length that a queue may have, as a multiple of the free room.
        pub alpha: f64 = 8.0,
        /// Tokens that the bucket gains: cells that the memory can read, sent or expelled.
        pub token_rate: PerSecond = PerSecond(55_000_000_000_000),
        /// Tokens that the bucket holds.
        pub token_depth: CellCount = CellCount(200),
    }
}

/// Occamy at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    threshold: DynamicThreshold,
    expeller: Expeller,
    bars_pushout: Option<&'static str>,
}

/// Expels packets from queues over their threshold, as long as there are tokens.
#[derive(Clone, Debug)]
pub(crate) struct Expeller {
    bucket: Bucket,
    /// The queue that is next in turn to lose a packet.
    turn: usize,
}

impl Expeller {
    /// Build an expeller with a full bucket; the error says why its parameters cannot be used.
    pub(crate) fn new(params: &Params) -> Result<Expeller, Refused> {
        let &Params { token_rate, token_depth, .. } = params;
        refuse_if(token_rate == PerSecond(0), "token_rate", "must be greater than 0 per s")?;
        refuse_if(token_depth == CellCount(0), "token_depth", "must be at least 1 cell")?;
        Ok(Expeller { bucket: Bucket::new(token_rate, token_depth.0), turn: 0 })
    }

    /// Remove the tokens for a packet of `size` cells that has left.
    pub(crate) fn departed(&mut self, now: Time, size: u64) {
        self.bucket.refill(now);
        self.bucket.take(size);
    }

    /// Choose, in turn, the next queue that is over its threshold, if the bucket has tokens for the packet at its
    /// head; otherwise return the instant at which it has. `head` returns the size of a queue's head packet.
    pub(crate) fn expels<K: Id>(
        &mut self,
        now: Time,
        queues: usize,
        is_over: impl Fn(K) -> bool,
        head: &dyn Fn(K) -> Option<u64>,
    ) -> Option<Expulsion<K>> {
        let in_turn = (self.turn..queues).chain(0..self.turn).map(K::new);
        let mut over = in_turn.filter(|&queue| is_over(queue));
        let (queue, size) = over.find_map(|queue| Some((queue, head(queue)?)))?;
        self.bucket.refill(now);
        match self.bucket.wait_for(size) {
            Some(wait) => Some(Expulsion::At(wait)),
            None => {
                self.turn = queue.index() + 1;
                Some(Expulsion::Now(queue))
            }
        }
    }
}

impl Policy {
    /// Build the policy of one port; the error says why its parameters cannot be used.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        let expeller = Expeller::new(params)?;
        let bars_pushout = bars_pushout(context.measure);
        Ok(Policy { threshold: DynamicThreshold::new(params.alpha)?, expeller, bars_pushout })
    }
}

impl Admission for Policy {
    fn judge(&mut self, arrival: &mut Arrival<'_>) -> Verdict {
        self.threshold.judge(arrival)
    }

    fn departed(&mut self, departure: &Departure<'_>) {
        self.expeller.departed(departure.now, departure.size);
    }

    fn threshold(&self, pool: &Pool, _: PortVc) -> Option<f64> {
        Some(self.threshold.of(pool))
    }

    fn expels(
        &mut self,
        now: Time,
        pool: &Pool,
        head: &dyn Fn(PortVc) -> Option<u64>,
    ) -> Option<Expulsion<PortVc>> {
        let Policy { threshold, expeller, .. } = self;
        expeller.expels(now, pool.vcs(), |queue| threshold.is_exceeded(pool, queue), head)
    }

    fn properties(&self) -> Properties {
        let bars_pushout = self.bars_pushout;
        Properties { expels: true, splits_frames: true, bars_pushout, ..Properties::default() }
    }
}

impl Shortcuts for Policy {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::port::bench::Bench;

    const PARAMS: Params =
        Params { alpha: 1.0, token_rate: PerSecond(1_000_000_000_000), token_depth: CellCount(100) };

    fn bench(params: Params, capacity: u64) -> Bench {
        Bench::with(capacity, &[0, 0, 0], super::super::Spec::Occamy(params), None)
    }

    #[test]
    fn a_queue_whose_threshold_has_fallen_loses_what_it_has_beyond_it_from_its_head() {
        let mut bench = bench(PARAMS, 12);
        bench.offer(0, "1");
        bench.start();
        assert_eq!(bench.offer(0, "f...."), "AAAAA", "6 of 12, and a threshold of 6");
        assert_eq!(bench.offer(1, "111"), "AAA");
        assert_eq!(
            bench.outcome(),
            "0:f. / ...,111,",
            "with the first 6 > 12 − 7, with the third 5 > 12 − 8"
        );
    }

    #[test]
    fn nothing_is_expelled_without_tokens() {
        let slow = Params { token_rate: PerSecond(1), token_depth: CellCount(1), ..PARAMS };
        let mut bench = bench(slow, 12);
        bench.offer(0, "1");
        bench.start();
        bench.offer(0, "f....");
        assert_eq!((bench.offer(1, "111"), bench.pushed_out().as_str()), ("AAA".into(), "0:f"));
    }

    #[test]
    fn a_bucket_that_gains_or_holds_nothing_is_refused() {
        let key = |params: Params| Policy::new(&params, &Context::alone(9, 1)).unwrap_err().key;
        assert_eq!(key(Params { token_rate: PerSecond(0), ..PARAMS }), Some("token_rate"));
        assert_eq!(key(Params { token_depth: CellCount(0), ..PARAMS }), Some("token_depth"));
        assert_eq!(key(Params { alpha: 0.0, ..PARAMS }), Some("alpha"));
    }
}
