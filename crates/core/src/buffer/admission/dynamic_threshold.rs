//! # Source
//! A. K. Choudhury, E. L. Hahne, "Dynamic queue length thresholds in a shared memory ATM switch", IEEE INFOCOM 1996, as
//! paper 003 (D. Wu, H. J. Chao, 1998) gives it in section 2, equations (1) and (2).
//!
//! # Idea
//! No queue may be longer than α times the free room. Thus a few long queues get most of the buffer, many queues get
//! equal parts of it, and a small part stays free for new ones:
//!
//! > T(t) = α · (B − X(t))  (2)
//!
//! A cell of circuit i is blocked iff Xᵢ ≥ T. With N greedy circuits Xᵢ settles at α B / (1 + α N).
//!
//! # Parameters
//! `alpha` α (no unit, default 2, the worked example of paper 003, which does not print the value of its runs; a power of
//! two costs hardware only a shift).
//!
//! # Differences from the paper
//! None. Push-out acts only when the buffer is full, so it can be combined with this policy only on ports that count
//! octets. Cells are judged one by one, without regard to frames; paper 003 adds that, see `dt-epd`. A blocked cell
//! counts as lost to overflow: its queue has used up its room.
//!
//! # Complexity
//! Constant, no state.

use super::{Admission, Arrival, Context, Interest, Properties, Rule, Shortcuts};
use crate::buffer::pool::Pool;
use crate::buffer::size::Measure;
use crate::refused::{Refused, refuse};
use crate::section;
use crate::units::ids::{Id, PortVc};
use crate::verdict::{Reason, Verdict};

section! {
    /// Block a circuit whose queue is longer than a multiple of the free room.
    pub struct Params {
        /// Length that a queue may have, as a multiple of the free room.
        pub alpha: f64 = 2.0,
    }
}

/// Dynamic threshold at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    threshold: DynamicThreshold,
    bars_pushout: Option<&'static str>,
}

/// The threshold by equation (2).
#[derive(Clone, Copy, Debug)]
pub(crate) struct DynamicThreshold {
    alpha: f64,
}

impl DynamicThreshold {
    pub(crate) fn new(alpha: f64) -> Result<DynamicThreshold, Refused> {
        match alpha > 0.0 && alpha.is_finite() {
            true => Ok(DynamicThreshold { alpha }),
            false => refuse("alpha", "must be greater than 0"),
        }
    }

    /// Return the lower one of two thresholds over the same pool.
    pub(crate) fn lower(self, other: DynamicThreshold) -> DynamicThreshold {
        if self.alpha < other.alpha { self } else { other }
    }

    /// Accept a unit that fits, unless its queue is blocked.
    pub(super) fn judge(self, arrival: &Arrival<'_>) -> Verdict {
        match arrival.fits() && !self.blocks(arrival.pool, arrival.vc) {
            true => Verdict::Accept,
            false => Verdict::Discard(Reason::Overflow),
        }
    }

    /// Return whether a circuit's queue has reached the threshold; never in an unlimited buffer.
    pub(super) fn blocks(self, pool: &Pool, vc: PortVc) -> bool {
        pool.of(vc) as f64 >= self.of(pool)
    }

    /// Return whether a queue is longer than the threshold.
    pub(crate) fn is_exceeded<K: Id>(self, pool: &Pool<K>, queue: K) -> bool {
        pool.of(queue) as f64 > self.of(pool)
    }

    /// Return the present threshold; infinite in an unlimited buffer.
    #[inline]
    pub(crate) fn of<K: Id>(self, pool: &Pool<K>) -> f64 {
        pool.free().map_or(f64::INFINITY, |free| self.alpha * free as f64)
    }
}

/// Return the reason why push-out would never act at a port with this threshold and this measure; `None` if it can
/// act.
pub(super) fn bars_pushout(measure: Measure) -> Option<&'static str> {
    (measure != Measure::Bytes)
        .then_some("when the buffer is full, the dynamic threshold of every queue is 0")
}

impl Policy {
    /// Build the policy of one port; the error says why its factor cannot be used.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        let bars_pushout = bars_pushout(context.measure);
        Ok(Policy { threshold: DynamicThreshold::new(params.alpha)?, bars_pushout })
    }
}

impl Admission for Policy {
    fn judge(&mut self, arrival: &mut Arrival<'_>) -> Verdict {
        self.threshold.judge(arrival)
    }

    fn threshold(&self, pool: &Pool, _: PortVc) -> Option<f64> {
        Some(self.threshold.of(pool))
    }

    fn properties(&self) -> Properties {
        let bars_pushout = self.bars_pushout;
        Properties { splits_frames: true, is_monotone: true, bars_pushout, ..Properties::default() }
    }
}

impl Shortcuts for Policy {
    fn rule(&self) -> Option<Rule> {
        Some(Rule::Asked(Interest::Last))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::PolicyBench;
    use super::*;
    use crate::link::port;

    fn bench(alpha: f64, capacity: u64, vcs: usize) -> PolicyBench<Policy> {
        PolicyBench::new(capacity, vcs, move |context| Policy::new(&Params { alpha }, context))
    }

    /// Offer a cell each in turn for circuits below `greedy`, until the queues are stable; returns their lengths.
    fn settle(bench: &mut PolicyBench<Policy>, greedy: u32) -> Vec<u64> {
        for _ in 0..bench.pool.capacity().limit().unwrap() {
            (0..greedy).for_each(|vc| drop(bench.offer(vc, ".")));
        }
        (0..greedy).map(|vc| bench.pool.of(PortVc(vc))).collect()
    }

    #[test]
    fn a_cell_is_blocked_iff_its_queue_has_reached_alpha_times_the_free_room() {
        let mut bench = bench(2.0, 12, 2);
        // one queue: 0 < 24, 1 < 22, … 7 < 10, and then 8 ≥ 8
        assert_eq!(bench.offer(0, "........."), "AAAAAAAAo");
        // the other: 0 < 8, 1 < 6, and then 2 ≥ 2 · 2 does not hold, 3 ≥ 2 · 1 does
        assert_eq!(bench.offer(1, "...."), "AAAo");
        bench.depart(1);
        bench.depart(1);
        assert_eq!(bench.offer(0, "."), "o", "8 ≥ 2 · 3: the long queue waits until it has drained");
    }

    #[test]
    fn a_single_queue_takes_two_thirds_of_the_buffer() {
        assert_eq!(settle(&mut bench(2.0, 300, 1), 1), [200]);
    }

    #[test]
    fn two_queues_take_two_fifths_each() {
        assert_eq!(settle(&mut bench(2.0, 300, 2), 2), [120, 120]);
    }

    #[test]
    fn three_queues_take_two_sevenths_each() {
        assert_eq!(settle(&mut bench(2.0, 210, 3), 3), [60, 60, 60]);
    }

    #[test]
    fn ten_queues_take_two_twenty_firsts_each() {
        assert_eq!(settle(&mut bench(2.0, 210, 10), 10), [20; 10]);
    }

    #[test]
    fn alpha_times_b_over_one_plus_alpha_n_for_other_factors() {
        assert_eq!(settle(&mut bench(1.0, 300, 2), 2), [100, 100]);
        assert_eq!(settle(&mut bench(0.5, 300, 4), 4), [50; 4]);
    }

    /// Keep a port busy with two cells of each circuit below `greedy` for every cell that it sends.
    fn overload(bench: &mut port::bench::Bench, greedy: u32, slots: usize) {
        for _ in 0..slots {
            for vc in 0..greedy {
                bench.offer(vc, "11");
            }
            bench.send();
        }
    }

    #[test]
    fn at_a_busy_port_three_queues_stay_at_two_sevenths_and_drain_when_seven_more_become_active() {
        let spec = super::super::Spec::DynamicThreshold(Params { alpha: 2.0 });
        let mut bench = port::bench::Bench::with(210, &[0; 10], spec, None);
        for (greedy, length) in [(1, 140), (2, 84), (3, 60), (10, 20)] {
            overload(&mut bench, greedy, 2000);
            let lengths = bench.lengths();
            let settled = lengths.iter().take(greedy as usize).all(|found| found.abs_diff(length) <= 2);
            assert!(settled, "{greedy} greedy queues of {length} cells: {lengths:?}");
        }
    }

    #[test]
    fn a_factor_of_nothing_is_refused() {
        for alpha in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let refused = Policy::new(&Params { alpha }, &Context::alone(9, 1)).unwrap_err();
            assert_eq!(refused.key, Some("alpha"));
        }
    }
}
