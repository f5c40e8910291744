//! # Source
//! V. Addanki, M. Apostolaki, M. Ghobadi, S. Schmid, L. Vanbever, "ABM: Active Buffer Management in Datacenters", ACM SIGCOMM 2022,
//! equation (9); how congested queues are counted and how rates are measured is from the authors' code (ns3-datacenter).
//!
//! # Idea
//! A dynamic threshold limits the room of a queue, but a queue that drains slowly keeps its room for long. ABM divides the
//! threshold by the number n of congested queues of the same priority, and multiplies it by the share μ of its line that
//! the queue gets:
//!
//! > T(t) = α · (B − X(t)) · μ / n
//!
//! So queues of a priority together hold at most α (B − X), and every queue drains in bounded time.
//!
//! # Parameters
//! `alpha` α (no unit, default 0.5 as in the paper's runs; a class can have an `alpha` of its own). `update` (default 80 µs, the
//! round trip of the paper's network): interval over which μ is measured. `congested` (default 28000 bytes): a queue of this
//! length or more counts as one congested queue, a shorter one as the share that it has of it; n is at least 1.
//!
//! # Differences from the paper
//! n is that of the moment, not of the last interval. μ is what the queue has sent in the last whole interval by what its line
//! could send; it is 1 for a queue that was empty at some time in it or that sent nothing, because then the rate says what came and not
//! what could leave. The code takes 1 for all shares below 1 / (number of priorities), which equal queues fall below by
//! rounding. Classes that leave a memory over one line with one priority are one queue here, so each has what is left of the threshold
//! by its own α beside the others. Thus packets of a first round trip may be a class (`unscheduled` of TCP) with a larger α, as in the
//! code. Nothing is taken back when a threshold falls.
//!
//! # Complexity
//! The number of queues per packet.

use super::{Admission, Arrival, Context, Departure, Pool, Properties, Shortcuts};
use crate::buffer::context::{Contract, Outlet, QueueTerms};
use crate::buffer::size::Measure;
use crate::refused::{Refused, refuse};
use crate::section;
use crate::units::ids::{Id, IdVec, LineId, PortVc};
use crate::units::{Bytes, CELL_BYTES, Span, Time};
use crate::verdict::{Reason, Verdict};

section! {
    /// Block a circuit by a dynamic threshold divided by the number of congested queues and scaled by its rate.
    pub struct Params {
        /// Length that all queues of a priority may have, as a multiple of the free room.
        pub alpha: f64 = 0.5,
        /// Interval over which rates are measured.
        pub update: Span = Span::micros(80),
        /// Length from which a queue counts as congested.
        pub congested: Bytes = Bytes(28_000),
    }
}

/// ABM at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    shares: Shares<PortVc>,
}

/// The parts of a buffer that ABM gives to queues.
#[derive(Clone, Debug)]
pub(crate) struct Shares<K> {
    update: Span,
    congested: u64,
    /// For each queue that the port or the pool counts, its part in a queue as the paper defines queues: one for each
    /// line and priority.
    parts: IdVec<K, QueuePart>,
    queues: Vec<QueueMeter<K>>,
    /// The number of the present interval.
    interval: u64,
}

/// A queue that the port or the pool counts: one class, or all classes, of a queue as the paper defines it.
#[derive(Clone, Copy, Debug)]
struct QueuePart {
    alpha: f64,
    /// The number of the queue as the paper defines it.
    queue: usize,
}

/// Measurements of a queue, as the paper defines it.
#[derive(Clone, Debug)]
struct QueueMeter<K> {
    priority: u32,
    outlet: Outlet,
    /// The numbers of the counted queues that make up this queue.
    parts: Vec<K>,
    /// Octets that have left in the present interval, and whether the queue was empty at some time in this interval.
    octets: u64,
    was_empty: bool,
    /// Share of the line that the queue used in the last whole interval: μ.
    share: f64,
}

/// A packet that has left a queue, with the octets to count for the queue's rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentOctets<K> {
    pub(crate) queue: K,
    /// Octets of the packet; 0 if the packet was lost.
    pub(crate) octets: u16,
}

impl Policy {
    /// Build the policy of one port, where each circuit has its own queue; the error says why its parameters cannot
    /// be used.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        let Context { measure, rate, contracts, .. } = *context;
        let terms = |(line, contract): (LineId, &Contract)| QueueTerms {
            alpha: None,
            priority: contract.priority,
            outlet: Outlet { line, rate, minimum: 0 },
        };
        let terms: Vec<QueueTerms> = (0..).map(LineId).zip(contracts).map(terms).collect();
        let largest = contracts.iter().map(|contract| contract.octets).max().unwrap_or(1);
        Ok(Policy { shares: Shares::new(params, &terms, congested(params, measure, largest))? })
    }
}

impl<K: Id> Shares<K> {
    /// Divide a buffer among queues with these terms. A queue counts as congested from the length `congested` on, in
    /// the measure of the port or pool. The error says why the parameters cannot be used.
    pub(crate) fn new(params: &Params, terms: &[QueueTerms], congested: u64) -> Result<Shares<K>, Refused> {
        if params.update == Span::ZERO {
            return refuse("update", "must be longer than 0 s");
        }
        let is_factor = |alpha: f64| alpha > 0.0 && alpha.is_finite();
        let factor = |terms: &QueueTerms| terms.alpha.unwrap_or(params.alpha);
        if !is_factor(params.alpha) || !terms.iter().map(factor).all(is_factor) {
            return refuse("alpha", "must be greater than 0 and finite");
        }
        let (mut parts, mut queues) = (Vec::new(), Vec::<QueueMeter<K>>::new());
        for one in terms {
            let &QueueTerms { priority, outlet, .. } = one;
            let is_joined = |queue: &QueueMeter<K>| (queue.outlet, queue.priority) == (outlet, priority);
            let queue = queues.iter().position(is_joined).unwrap_or_else(|| {
                queues.push(QueueMeter::new(priority, outlet));
                queues.len() - 1
            });
            queues[queue].parts.push(K::new(parts.len()));
            parts.push(QueuePart { alpha: factor(one), queue });
        }
        Ok(Shares { update: params.update, congested, parts: parts.into(), queues, interval: 0 })
    }

    /// Begin a new interval if the last one has ended by `now`; the counted queue `released` has just sent or lost a
    /// unit.
    pub(crate) fn advance(&mut self, now: Time, pool: &Pool<K>, released: Option<K>) {
        let interval = now.0 / self.update.0;
        if interval == self.interval {
            return;
        }
        let is_next = interval == self.interval + 1;
        self.interval = interval;
        for queue in &mut self.queues {
            let is_empty =
                queue.length(pool) == 0 && !released.is_some_and(|part| queue.parts.contains(&part));
            let has_rate = is_next && !queue.was_empty && queue.octets > 0;
            queue.share = if has_rate { queue.share_over(self.update) } else { 1.0 };
            (queue.octets, queue.was_empty) = (0, is_empty);
        }
    }

    /// Return the number of congested queues of a priority: n.
    fn congested_queues(&self, pool: &Pool<K>, priority: u32) -> f64 {
        let of = |queue: &QueueMeter<K>| match queue.priority == priority {
            true => (queue.length(pool) as f64 / self.congested as f64).min(1.0),
            false => 0.0,
        };
        self.queues.iter().map(of).sum::<f64>().max(1.0)
    }

    /// Return the length that a counted queue may reach, given the present lengths of the other counted queues with
    /// its line and priority; infinite in an unlimited buffer.
    pub(crate) fn threshold(&self, pool: &Pool<K>, part: K) -> f64 {
        let QueuePart { alpha, queue } = self.parts[part];
        let queue = &self.queues[queue];
        let free = pool.free().map_or(f64::INFINITY, |free| free as f64);
        let others = queue.length(pool) - pool.of(part);
        (alpha * free * queue.share / self.congested_queues(pool, queue.priority) - others as f64).max(0.0)
    }

    /// Record that a packet requests room in a queue.
    pub(crate) fn offered(&mut self, now: Time, pool: &Pool<K>, queue: K) {
        self.advance(now, pool, None);
        let meter = &mut self.queues[self.parts[queue].queue];
        meter.was_empty |= meter.length(pool) == 0;
    }

    /// Record that a packet has left its queue.
    pub(crate) fn departed(
        &mut self,
        now: Time,
        pool: &Pool<K>,
        SentOctets { queue, octets }: SentOctets<K>,
    ) {
        self.advance(now, pool, Some(queue));
        let meter = &mut self.queues[self.parts[queue].queue];
        meter.octets += u64::from(octets);
        meter.was_empty |= meter.length(pool) == 0;
    }
}

/// Convert the length from which a queue counts as congested to the measure of a port, where the largest packet has
/// `largest` octets; at least 1.
pub(crate) fn congested(params: &Params, measure: Measure, largest: u64) -> u64 {
    let unit = match measure {
        Measure::Bytes => 1,
        Measure::Cells => CELL_BYTES,
        Measure::Packets => largest.max(1),
        Measure::MemoryCells(cell) => cell.octets.into(),
    };
    params.congested.0.div_ceil(unit).max(1)
}

impl<K: Id> QueueMeter<K> {
    /// Build an empty queue without counted queues.
    fn new(priority: u32, outlet: Outlet) -> QueueMeter<K> {
        QueueMeter { priority, outlet, parts: Vec::new(), octets: 0, was_empty: true, share: 1.0 }
    }

    /// Return the length of the queue: the sum over its counted queues.
    fn length(&self, pool: &Pool<K>) -> u64 {
        self.parts.iter().map(|&part| pool.of(part)).sum()
    }

    /// Return the octets that the queue sent in an interval divided by the octets that the line could send.
    fn share_over(&self, update: Span) -> f64 {
        let bits = 8.0 * self.octets as f64 * 1e12;
        (bits / (self.outlet.rate.0 as f64 * update.0 as f64)).min(1.0)
    }
}

impl Admission for Policy {
    fn judge(&mut self, arrival: &mut Arrival<'_>) -> Verdict {
        self.shares.offered(arrival.now, arrival.pool, arrival.vc);
        let threshold = self.shares.threshold(arrival.pool, arrival.vc);
        match arrival.fits() && (arrival.pool.of(arrival.vc) as f64) < threshold {
            true => Verdict::Accept,
            false => Verdict::Discard(Reason::Overflow),
        }
    }

    fn departed(&mut self, departure: &Departure<'_>) {
        let &Departure { now, unit, vc, pool, sent, .. } = departure;
        self.shares.departed(now, pool, SentOctets { queue: vc, octets: if sent { unit.bytes } else { 0 } });
    }

    fn threshold(&self, pool: &Pool, vc: PortVc) -> Option<f64> {
        Some(self.shares.threshold(pool, vc))
    }

    fn properties(&self) -> Properties {
        Properties { splits_frames: true, ..Properties::default() }
    }
}

impl Shortcuts for Policy {}

#[cfg(test)]
mod tests {
    use super::super::tests::PolicyBench;
    use super::*;
    use crate::units::Rate;

    /// Queues that each have a line of this rate, or one for all.
    fn bench(lines: &[LineId], priorities: &[u32], alpha: f64) -> PolicyBench<Policy> {
        PolicyBench::new(1000, lines.len(), |context| {
            let queue = |(&line, &priority): (&LineId, &u32)| QueueTerms {
                alpha: None,
                priority,
                outlet: Outlet { line, rate: Rate(8_000_000), minimum: 0 },
            };
            let terms: Vec<QueueTerms> = lines.iter().zip(priorities).map(queue).collect();
            let params = Params { alpha, update: Span::millis(1), congested: Bytes(53 * 10) };
            let congested = congested(&params, context.measure, CELL_BYTES);
            Ok(Policy { shares: Shares::new(&params, &terms, congested)? })
        })
    }

    /// Fill all queues in turn until each is refused a cell.
    fn fill(bench: &mut PolicyBench<Policy>) -> Vec<u64> {
        let queues = bench.pool.vcs();
        (0..1000).for_each(|_| (0..queues as u32).for_each(|vc| drop(bench.offer(vc, "."))));
        bench.pool.keys().map(|vc| bench.pool.of(vc)).collect()
    }

    #[test]
    fn queues_of_one_priority_hold_together_what_one_of_them_would() {
        for ports in [1, 4, 10] {
            let lines: Vec<LineId> = (0..ports).map(LineId::new).collect();
            let held: u64 = fill(&mut bench(&lines, &vec![0; ports], 0.5)).iter().sum();
            assert!(held.abs_diff(333) <= ports as u64, "{ports} queues hold {held}, not α B / (1 + α)");
        }
    }

    #[test]
    fn other_priorities_leave_each_its_share() {
        // B α / (1 + Σ α) for each of two priorities, however many queues the first has
        let mut bench = bench(&[0, 1, 2, 3].map(LineId), &[0, 0, 0, 1], 1.0);
        fill(&mut bench);
        for _ in 0..2000 {
            (0..4).for_each(|vc| bench.depart(vc));
            (0..4).for_each(|vc| drop(bench.offer(vc, "..")));
        }
        let held: Vec<u64> = (0..4).map(|vc| bench.pool.of(PortVc(vc))).collect();
        assert!(held[3].abs_diff(333) <= 4, "{held:?}");
        assert!(held[..3].iter().all(|cells| cells.abs_diff(111) <= 4), "{held:?}");
    }

    #[test]
    fn a_queue_that_gets_half_of_its_line_gets_half_of_the_threshold() {
        let mut bench = bench(&[0, 0].map(LineId), &[0, 1], 1.0);
        (0..200).for_each(|_| (0..2).for_each(|vc| drop(bench.offer(vc, "."))));
        let threshold = |bench: &PolicyBench<Policy>| bench.policy.threshold(&bench.pool, PortVc(0)).unwrap();
        assert_eq!(threshold(&bench), 600.0);
        for cell in 1..=60_u32 {
            bench.now = Time(53_000_000 * u64::from(cell)); // 53 octets at 8 Mb/s: 18 or 19 in an interval
            bench.depart(cell % 2);
        }
        let free = 1000 - bench.pool.total();
        let share = threshold(&bench) / free as f64;
        assert!((share - 0.5).abs() < 0.053, "{share}, and not 0.5 to within a cell");
    }

    #[test]
    fn classes_of_one_line_and_priority_are_one_queue() {
        let mut joined = bench(&[0, 0, 1].map(LineId), &[0, 0, 0], 0.5);
        (0..1000).for_each(|_| drop(joined.offer(0, ".")));
        assert_eq!(
            joined.pool.of(PortVc(0)),
            334,
            "a queue has reached the threshold when it is as long: 334 ≥ (1000 − 334) / 2"
        );
        joined.offer(1, ".");
        assert_eq!(joined.pool.of(PortVc(1)), 0, "the threshold has no room left for another class");
        joined.depart(0);
        joined.offer(1, ".");
        assert_eq!((joined.pool.of(PortVc(0)), joined.pool.of(PortVc(1))), (333, 1));
        let threshold = |part| joined.policy.threshold(&joined.pool, part).unwrap();
        assert_eq!(
            (threshold(PortVc(0)), threshold(PortVc(1)), threshold(PortVc(2))),
            (332.0, 0.0, 333.0),
            "333 less what the other holds"
        );
    }

    #[test]
    fn an_interval_or_a_factor_of_nothing_is_refused() {
        let right = Params { alpha: 1.0, update: Span::millis(1), congested: Bytes(1) };
        let key = |params: Params| Policy::new(&params, &Context::alone(9, 1)).unwrap_err().key;
        assert_eq!(key(Params { update: Span::ZERO, ..right.clone() }), Some("update"));
        assert_eq!(key(Params { alpha: 0.0, ..right }), Some("alpha"));
    }
}
