//! # Source
//! Paper 004 (S. Chatterjee, W. Xiao), section 5.3: a cell is marked with probability m, independently of all others.
//!
//! # Idea
//! The marking of a policer as the paper's analysis sees it, without the traffic that causes it.
//!
//! # Parameters
//! `probability` m (unprinted in the paper). `action`: `tag` (default) or `drop`; independent losses of `drop` also
//! stand for a noisy line.
//!
//! # Differences from the paper
//! None.
//!
//! # Complexity
//! Constant: one random number per unit.

use super::{Conformance, Context, ExcessAction, Police};
use crate::refused::{Refused, refuse};
use crate::rng::Keyed;
use crate::section;
use crate::unit::Unit;
use crate::units::Time;

section! {
    /// Mark units at random.
    pub struct Params {
        /// Probability that a unit is marked: m.
        pub probability: f64,
        /// What happens to marked units.
        pub action: ExcessAction = ExcessAction::Tag,
    }
}

/// Random marking for one circuit.
#[derive(Clone, Debug)]
pub struct Policy {
    probability: f64,
    action: ExcessAction,
    keyed: Keyed,
}

impl Policy {
    /// Build the policer of one flow.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        let Params { probability, action } = *params;
        if !(0.0..=1.0).contains(&probability) {
            return refuse("probability", "must be a number from 0 to 1");
        }
        Ok(Policy { probability, action, keyed: context.keyed() })
    }
}

impl Police for Policy {
    fn judge(&mut self, _: Time, unit: &Unit) -> Conformance {
        Conformance::of(self.keyed.unit(unit.subject()) < self.probability, self.action)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::Flags;
    use crate::units::ids::CircuitId;

    fn marked(probability: f64, flow: &str, cells: u32) -> u32 {
        let params = Params { probability, action: ExcessAction::Tag };
        let mut policer = Policy::new(&params, &Context { seed: 1, flow }).unwrap();
        let flags = Flags::default();
        let unit =
            |frame| Unit { vc: CircuitId(0), frame, identity: frame, index: 0, bytes: 53, hop: 1, flags };
        (0..cells).filter(|&frame| policer.judge(Time::ZERO, &unit(frame)) != Conformance::Conforming).count()
            as u32
    }

    #[test]
    fn the_share_of_marked_cells_is_the_probability() {
        assert!(marked(0.1, "a", 100_000).abs_diff(10_000) < 400);
        assert_eq!((marked(0.0, "a", 1000), marked(1.0, "a", 1000)), (0, 1000));
    }

    #[test]
    fn a_probability_above_one_is_refused() {
        let params = Params { probability: 1.1, action: ExcessAction::Tag };
        let refused = Policy::new(&params, &Context { seed: 1, flow: "a" }).unwrap_err();
        assert_eq!(refused.key, Some("probability"));
    }
}
