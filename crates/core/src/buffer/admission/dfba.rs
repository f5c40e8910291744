//! # Source
//! R. Goyal, R. Jain, S. Fahmy, B. Vandalore, "Buffer management for the GFR service", ATM Forum/98-0405, July 1998
//! (differential fair buffer allocation); `muxwfqbuffman.c` of the simulator YATS.
//!
//! # Idea
//! Keep minimum cell rates in one FIFO: a circuit that holds more than its weight's share of the queue loses frames at
//! random, the more probably the more it holds and the fuller the buffer is. With `X_i` of X queued for the circuit
//! and r = W_i / W, its part of all weights, a frame is judged at its first cell:
//!
//! | occupancy | untagged (CLP = 0) | tagged (CLP = 1) |
//! |---|---|---|
//! | X < L | accept | accept |
//! | L ≤ X < H, `X_i` ≤ r · X | accept | refuse |
//! | L ≤ X < H, `X_i` > r · X | refuse with probability P | refuse |
//! | X ≥ H | refuse | refuse |
//!
//! > P = (1 − r) · (a · (X_i − r · X) / (X · (1 − r)) + (1 − a) · (X − L) / (H − L))
//!
//! # Parameters
//! `low` L and `high` H: occupancies, default 50 % and 90 %, a choice. `fairness` a, without unit, from 0 to 1,
//! default 0.5: the part of a circuit's excess in P; the load of the buffer has the rest. `pass_eom` (default true): keep
//! the EOM cell of a broken frame if it fits. The weight of a circuit is its MCR.
//!
//! # Differences from the paper
//! Only its abstract and two renderings of its rule were at hand. The factor 1 − r in front of P, by which a circuit
//! with a large promise loses less, is the text's Z_i; YATS has 1 there, and draws for circuits above an equal share X / N
//! instead of r · X. If no circuit has an MCR, all weights are equal; one without MCR beside others with MCRs has weight
//! 0. X and `X_i` do not count the arriving cell. A circuit with all the weight never holds more than X and meets no draw.
//!
//! # Complexity
//! Constant; two bits and one counter per circuit. A random number is drawn only between L and H.

use super::{Admission, Arrival, Context, Interest, Rule, Shortcuts};
use crate::buffer::frame::Frames;
use crate::buffer::pool::Pool;
use crate::buffer::size::Level;
use crate::refused::{Refused, probability, refuse};
use crate::rng::Keyed;
use crate::section;
use crate::unit::Unit;
use crate::units::ids::{IdVec, PortVc};
use crate::verdict::{Reason, Verdict};

section! {
    /// Refuse frames of circuits that hold more of one queue than their minimum cell rate's share, at random.
    pub struct Params {
        /// Occupancy L below which every frame is taken; from it on none that is tagged (CLP = 1).
        pub low: Level = Level::Percent(50.0),
        /// Occupancy H from which every frame is refused.
        pub high: Level = Level::Percent(90.0),
        /// Part a that a circuit's excess has in the probability of refusal; the load of the buffer has the rest.
        pub fairness: f64 = 0.5,
        /// Keep the last cell of a broken frame as a delimiter, if it fits.
        pub pass_eom: bool = true,
    }
}

/// Differential fair buffer allocation at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    low: u64,
    high: u64,
    fairness: f64,
    weights: IdVec<PortVc, u64>,
    total_weight: u64,
    keyed: Keyed,
    frames: Frames,
}

impl Policy {
    /// Build the policy of one port; the error says why its parameters cannot be used.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        let (low, high) = (context.level("low", params.low)?, context.level("high", params.high)?);
        if high < low {
            let word = context.measure.word();
            return refuse("high", format!("must be at least `low` of {low} {word}"));
        }
        let (weights, total_weight) = match context.promised()? {
            0 => (IdVec::filled(1, context.vcs()), context.vcs() as u64),
            sum => (context.contracts.iter().map(|contract| contract.mcr.0).collect(), sum),
        };
        Ok(Policy {
            low,
            high,
            fairness: probability("fairness", params.fairness)?,
            weights,
            total_weight,
            keyed: context.keyed("dfba"),
            frames: Frames::new(context.vcs(), params.pass_eom),
        })
    }

    /// Return the reason for refusing the frame that starts with `unit`, or `None`.
    fn refuses(&self, unit: &Unit, vc: PortVc, pool: &Pool) -> Option<Reason> {
        match pool.total() {
            total if total < self.low => None,
            _ if unit.is_marked() => Some(Reason::Marked),
            total if total >= self.high => Some(Reason::Early),
            _ if !self.is_above_share(vc, pool) => None,
            _ => (self.keyed.unit(unit.subject()) < self.probability(vc, pool)).then_some(Reason::Random),
        }
    }

    /// Return whether X_i > r · X, without division.
    fn is_above_share(&self, vc: PortVc, pool: &Pool) -> bool {
        let (own, total) = (u128::from(pool.of(vc)), u128::from(pool.total()));
        own * u128::from(self.total_weight) > total * u128::from(self.weights[vc])
    }

    /// Return P at an occupancy from L up to H for a circuit above its share, so that r < 1 and X > 0.
    fn probability(&self, vc: PortVc, pool: &Pool) -> f64 {
        let (own, total) = (pool.of(vc) as f64, pool.total() as f64);
        let share = self.weights[vc] as f64 / self.total_weight as f64;
        let excess = (own - share * total) / (total * (1.0 - share));
        let load = (pool.total() - self.low) as f64 / (self.high - self.low) as f64;
        (1.0 - share) * (self.fairness * excess + (1.0 - self.fairness) * load)
    }
}

impl Admission for Policy {
    fn judge(&mut self, arrival: &mut Arrival<'_>) -> Verdict {
        let Arrival { unit, vc, pool, .. } = *arrival;
        let refused = if unit.is_first() { self.refuses(unit, vc, pool) } else { None };
        self.frames.judge(unit, vc, arrival.fits(), || refused)
    }
}

impl Shortcuts for Policy {
    fn frames(&mut self) -> Option<&mut Frames> {
        Some(&mut self.frames)
    }

    fn rule(&self) -> Option<Rule> {
        Some(Rule::Asked(Interest::Last))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::PolicyBench;
    use super::*;
    use crate::buffer::context::Contract;
    use crate::buffer::size::BufferSize;
    use crate::unit::Flags;
    use crate::units::Rate;
    use crate::units::ids::{CircuitId, IdSlice};

    fn params(low: u64, high: u64, fairness: f64) -> Params {
        let cells = |n| Level::Size(BufferSize::Cells(n));
        Params { low: cells(low), high: cells(high), fairness, pass_eom: true }
    }

    /// Circuits with these minimum cell rates in Mb/s.
    fn contracts(mcr: &[u64]) -> Vec<Contract> {
        let plain = Context::alone(1, 1).contracts[PortVc(0)];
        mcr.iter().map(|megabits| Contract { mcr: Rate(megabits * 1_000_000), ..plain }).collect()
    }

    fn built(params: &Params, capacity: u64, mcr: &[u64]) -> Result<Policy, Refused> {
        Policy::new(
            params,
            &Context { contracts: IdSlice::new(&contracts(mcr)), ..Context::alone(capacity, 0) },
        )
    }

    fn bench(capacity: u64, params: &Params, mcr: &[u64]) -> PolicyBench<Policy> {
        let contracts = contracts(mcr);
        PolicyBench::new(capacity, mcr.len(), |context| {
            Policy::new(params, &Context { contracts: IdSlice::new(&contracts), ..*context })
        })
    }

    /// Judge a frame of the circuit whose r is 0.1, with L = 1000, H = 3000 and a = 0.5, when the buffer holds `total`
    /// cells, `own` of them of this circuit: accepted, refused, or refused with a probability.
    fn fate(total: u64, own: u64, is_tagged: bool) -> Result<f64, Reason> {
        let policy = built(&params(1000, 3000, 0.5), 4000, &[1, 9]).unwrap();
        let mut pool: Pool = Pool::new(Context::alone(4000, 2).capacity, 2);
        pool.add(PortVc(0), own);
        pool.add(PortVc(1), total - own);
        let flags = Flags::FIRST.with(if is_tagged { Flags::CLP } else { Flags::default() });
        let refuses = |identity| {
            let unit = Unit { vc: CircuitId(0), frame: 0, identity, index: 0, bytes: 53, hop: 0, flags };
            policy.refuses(&unit, PortVc(0), &pool)
        };
        match (0..10_000).filter_map(refuses).collect::<Vec<_>>() {
            all if all.len() == 10_000 && all[0] != Reason::Random => Err(all[0]),
            drawn => {
                assert!(drawn.iter().all(|reason| *reason == Reason::Random));
                let share = drawn.len() as f64 / 10_000.0;
                let p = if share > 0.0 { policy.probability(PortVc(0), &pool) } else { 0.0 };
                assert!((share - p).abs() < 0.02, "four deviations of {p}: {share}");
                Ok(p)
            }
        }
    }

    #[test]
    fn every_region_and_the_probability_in_the_middle_one() {
        let rows = [
            (999, 900, true, Ok(0.0)),
            (2000, 200, false, Ok(0.0)),
            (2000, 200, true, Err(Reason::Marked)),
            (2000, 380, false, Ok(0.27)),
            (2000, 2000, false, Ok(0.675)),
            (1000, 190, false, Ok(0.045)),
            (3000, 1, false, Err(Reason::Early)),
        ];
        for (total, own, is_tagged, expected) in rows {
            match (fate(total, own, is_tagged), expected) {
                (Ok(p), Ok(printed)) => assert!((p - printed).abs() < 1e-12, "X {total}, X_i {own}: {p}"),
                (found, expected) => assert_eq!(found, expected, "X {total}, X_i {own}"),
            }
        }
    }

    #[test]
    fn the_excess_and_the_load_have_the_parts_that_fairness_gives_them() {
        for (fairness, expected) in [(1.0, 0.9 * 0.1), (0.0, 0.9 * 0.5)] {
            let policy = built(&params(1000, 3000, fairness), 4000, &[1, 9]).unwrap();
            let mut pool: Pool = Pool::new(Context::alone(4000, 2).capacity, 2);
            pool.add(PortVc(0), 380);
            pool.add(PortVc(1), 1620);
            assert!((policy.probability(PortVc(0), &pool) - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn a_circuit_up_to_its_weighted_share_is_taken_up_to_h_although_an_equal_share_is_less() {
        let mut bench = bench(20, &params(3, 12, 0.5), &[1, 3]);
        assert_eq!(bench.offer(1, "111"), "AAA");
        bench.pool.add(PortVc(0), 1);
        // X = 4, and three quarters of it are circuit 1's
        assert_eq!(bench.offer(1, "f"), "A");
        bench.pool.add(PortVc(0), 8);
        assert_eq!(bench.pool.total(), 13);
        assert_eq!(
            bench.offer(1, ".e1"),
            "AAr",
            "a frame under way goes on above H, the next one is refused"
        );
    }

    #[test]
    fn from_l_on_tagged_frames_are_refused_and_a_tag_within_a_frame_comes_too_late() {
        let mut bench = bench(20, &params(2, 12, 0.5), &[1, 1]);
        assert_eq!(bench.offer(0, "F"), "A");
        assert_eq!(bench.offer(1, "f"), "A");
        assert_eq!(bench.offer(0, ":E"), "AA", "X ≥ L within a frame");
        assert_eq!(bench.offer(1, ":E"), "AA");
        assert_eq!(bench.offer(1, "F:E"), "ccc");
    }

    #[test]
    fn a_frame_that_overflows_keeps_only_its_eom() {
        let mut bench = bench(4, &params(4, 4, 0.5), &[1, 1]);
        assert_eq!(bench.offer(0, "f...."), "AAAAo");
        bench.depart(0);
        assert_eq!(bench.offer(0, ".e"), "pA");
    }

    #[test]
    fn without_any_mcr_all_weights_are_equal_and_with_some_that_of_the_others_is_0() {
        let held = |mcr: &[u64], own| {
            let policy = built(&params(0, 9, 0.5), 10, mcr).unwrap();
            let mut pool: Pool = Pool::new(Context::alone(10, 2).capacity, 2);
            pool.add(PortVc(0), own);
            pool.add(PortVc(1), 8 - own);
            policy.is_above_share(PortVc(0), &pool)
        };
        assert_eq!([held(&[0, 0], 4), held(&[0, 0], 5)], [false, true]);
        assert_eq!([held(&[0, 7], 0), held(&[0, 7], 1)], [false, true]);
        assert!(!held(&[7, 0], 8), "all the weight");
    }

    #[test]
    fn with_h_at_l_it_is_epd() {
        let mut bench = bench(20, &params(4, 4, 0.5), &[1, 1]);
        assert_eq!(bench.offer(0, "f..e"), "AAAA");
        assert_eq!(bench.offer(1, "1"), "r");
    }

    #[test]
    fn what_cannot_be_is_refused() {
        let why = |params| built(&params, 4000, &[1, 1]).unwrap_err().to_string();
        assert_eq!(why(params(5, 4, 0.5)), "high: must be at least `low` of 5 cells");
        assert_eq!(why(params(4, 5, 1.5)), "fairness: must be from 0 to 1");
        assert!(built(&params(4, 5, 0.5), 4000, &[100, 100]).unwrap_err().to_string().contains("add up to"));
    }
}
