//! # Source
//! J. Heinanen, K. Kilkki, "A fair buffer allocation scheme", Computer Communications 21(3), 1998; paper 000
//! (V. Rosolen, O. Bonaventure, G. Leduc, 1998), section 2.2 and figure 1.
//!
//! # Idea
//! As selective drop, but the share that a circuit may hold falls smoothly while the buffer fills, instead of at once:
//! above R a frame is accepted iff
//!
//! > W_i = X_i · N_a / X ≤ Z · (1 + (K − X) / (X − R)) = Z · (K − R) / (X − R)
//!
//! # Parameters
//! `threshold` R, `capacity` K (the occupancy at which the bound is Z) and `scale` Z: defaults are those of paper 000,
//! Table 1, R = 6000 and K = 8000 cells of 8192 as shares of the buffer, and Z = 0.9; Table 2 has R = 4000, Z = 0.75.
//! `pass_eom` (default true): keep the EOM cell of a broken frame if it fits. `discard_rest` (default true): partial
//! packet discard when a frame overflows.
//! `action` (default `drop`): `mark` accepts frames that could be marked, with a mark.
//!
//! # Differences from the paper
//! None in the formula, which is the second form above; "the rejection function goes below 1" of the text is the bound
//! divided by `W_i`. X, `X_i` and `N_a` do not count the arriving cell. Above K, which is below the buffer in the
//! paper, the bound goes on falling below Z.
//!
//! # Complexity
//! Constant; two bits and one counter per circuit.

use super::selective_drop::load_ratio;
use super::{Admission, Arrival, Context, Interest, Rule, Shortcuts};
use crate::buffer::frame::Frames;
use crate::buffer::pool::Pool;
use crate::buffer::size::Level;
use crate::refused::{Refused, refuse};
use crate::section;
use crate::units::ids::PortVc;
use crate::verdict::{Action, Reason, Verdict};

section! {
    /// Refuse whole frames of circuits that hold more than a share which falls while the buffer fills.
    pub struct Params {
        /// Occupancy R up to which every frame is taken.
        pub threshold: Level = Level::Percent(73.242_187_5),
        /// Occupancy K at which a circuit may hold Z fair shares.
        pub capacity: Level = Level::Percent(97.656_25),
        /// Scaling factor Z of the share that a circuit may hold.
        pub scale: f64 = 0.9,
        /// Keep the last cell of a broken frame as a delimiter, if it fits.
        pub pass_eom: bool = true,
        /// Discard the rest of a frame that has lost a cell (PPD); if not, it is queued as far as it fits.
        pub discard_rest: bool = true,
        /// What happens to a frame of a circuit with more than its share: `drop`, or `mark` where the transport reacts to marks (ECT).
        pub action: Action = Action::Drop,
    }
}

/// Fair buffer allocation at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    threshold: u64,
    capacity: u64,
    scale: f64,
    frames: Frames,
}

impl Policy {
    /// Build the policy of one port; the error says why its parameters cannot be used.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        let threshold = context.level("threshold", params.threshold)?;
        let capacity = context.level("capacity", params.capacity)?;
        if capacity < threshold {
            return refuse(
                "capacity",
                format!("{capacity} is below the threshold of {threshold} {}", context.measure.word()),
            );
        }
        if params.scale < 0.0 {
            return refuse("scale", "must be at least 0");
        }
        let frames = Frames::new(context.vcs(), params.pass_eom)
            .discarding_rest(params.discard_rest)
            .acting(params.action);
        Ok(Policy { threshold, capacity, scale: params.scale, frames })
    }

    /// Return the greatest load ratio that is accepted at an occupancy X above R: Z · (K − R) / (X − R).
    fn bound(&self, total: u64) -> f64 {
        self.scale * (self.capacity - self.threshold) as f64 / (total - self.threshold) as f64
    }

    fn refuses(&self, pool: &Pool, vc: PortVc) -> bool {
        pool.total() > self.threshold && load_ratio(pool, vc) > self.bound(pool.total())
    }
}

impl Admission for Policy {
    fn judge(&mut self, arrival: &mut Arrival<'_>) -> Verdict {
        let Arrival { unit, vc, pool, .. } = *arrival;
        let refused = unit.is_first() && self.refuses(pool, vc);
        self.frames.judge(unit, vc, arrival.fits(), || refused.then_some(Reason::Early))
    }
}

impl Shortcuts for Policy {
    fn frames(&mut self) -> Option<&mut Frames> {
        Some(&mut self.frames)
    }

    fn rule(&self) -> Option<Rule> {
        self.frames.unless_marking(Rule::Asked(Interest::Last))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::PolicyBench;
    use super::*;
    use crate::buffer::size::BufferSize;
    use crate::language::read::{Format, read};
    use crate::language::spec::read_section;

    fn params(threshold: u64, capacity: u64, scale: f64) -> Params {
        let cells = |n| Level::Size(BufferSize::Cells(n));
        Params {
            threshold: cells(threshold),
            capacity: cells(capacity),
            scale,
            pass_eom: true,
            discard_rest: true,
            action: Action::Drop,
        }
    }

    fn policy(buffer: u64, params: &Params) -> Policy {
        Policy::new(params, &Context::alone(buffer, 1)).unwrap()
    }

    #[test]
    fn the_bound_falls_from_plenty_at_r_to_z_at_k_as_in_table_1_of_paper_000() {
        let fba = policy(8192, &params(6000, 8000, 0.9));
        for (total, bound) in [(6500, 3.6), (7000, 1.8), (7500, 1.2), (8000, 0.9)] {
            assert!((fba.bound(total) - bound).abs() < 1e-12, "X = {total}: {}", fba.bound(total));
        }
        assert_eq!(fba.bound(6001), 1800.0, "just above R the bound is out of reach");
        assert!(fba.bound(8100) < 0.9, "above K it goes on falling");
    }

    #[test]
    fn both_forms_of_the_bound_are_the_same() {
        let fba = policy(8192, &params(4000, 8000, 0.75));
        for total in [4001u32, 5000, 6789, 8000, 8192] {
            let (x, k, r) = (f64::from(total), 8000.0, 4000.0);
            let first_form = 0.75 * (1.0 + (k - x) / (x - r));
            assert!((fba.bound(u64::from(total)) / first_form - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn the_defaults_are_table_1_of_paper_000() {
        let fba = policy(8192, &read_section(&read("", Format::Toml).unwrap(), "admission").unwrap());
        assert_eq!((fba.threshold, fba.capacity, fba.scale), (6000, 8000, 0.9));
    }

    #[test]
    fn a_circuit_may_exceed_its_fair_share_while_there_is_room() {
        // R = 2, K = 10, Z = 1: the bound is 8 / (X − 2)
        let mut bench = PolicyBench::new(12, 2, |context| Policy::new(&params(2, 10, 1.0), context));
        assert_eq!(bench.offer(0, "11111"), "AAAAA");
        assert_eq!(bench.offer(1, "1"), "A");
        // X = 6: circuit 0 holds 5 · 2 / 6 = 1.67 shares of the 2 it may hold
        assert_eq!(bench.offer(0, "1"), "A");
        // X = 7: 6 · 2 / 7 = 1.71 of 1.6
        assert_eq!(bench.offer(0, "f.e"), "rrr");
        assert_eq!(bench.offer(1, "1"), "A");
    }

    #[test]
    fn up_to_r_everything_is_accepted_and_a_circuit_with_nothing_queued_always() {
        let mut bench = PolicyBench::new(6, 2, |context| Policy::new(&params(2, 4, 0.1), context));
        assert_eq!(bench.offer(0, "11"), "AA");
        assert_eq!(bench.offer(0, "1"), "A", "X = R");
        assert_eq!(bench.offer(0, "1"), "r", "X = R + 1 and a bound of 0.2");
        assert_eq!(bench.offer(1, "f.."), "AAA");
        assert_eq!(bench.offer(1, "."), "o");
    }

    #[test]
    fn with_k_equal_to_r_every_circuit_with_cells_is_refused_above_r() {
        let mut bench = PolicyBench::new(6, 2, |context| Policy::new(&params(1, 1, 0.9), context));
        assert_eq!(bench.offer(0, "111"), "AAr");
        assert_eq!(bench.offer(1, "11"), "Ar");
    }

    #[test]
    fn a_capacity_below_the_threshold_is_refused() {
        let why = Policy::new(&params(5, 4, 0.9), &Context::alone(10, 1)).unwrap_err().to_string();
        assert_eq!(why, "capacity: 4 is below the threshold of 5 cells");
    }
}
