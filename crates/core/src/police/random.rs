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
//! Constant: one random number per unit, and none if all units or no units are marked.

use super::{Conformance, Context, EvenRun, ExcessAction, Police};
use crate::refused::{Refused, refuse};
use crate::rng::{Keyed, Subject};
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

impl Policy {
    /// Return whether the unit is marked that is `later` units after this one in its frame.
    fn marks(&self, unit: &Unit, later: u16) -> bool {
        // the policer belongs to one circuit, whose name has keyed the numbers
        let subject = Subject::unit(0, unit.identity, unit.index + later);
        self.keyed.unit(subject) < self.probability
    }
}

impl Police for Policy {
    fn judge(&mut self, _: Time, unit: &Unit) -> Conformance {
        Conformance::of(self.marks(unit, 0), self.action)
    }

    fn judge_run(&mut self, unit: &Unit, run: &EvenRun) -> (Conformance, u16) {
        let is_marked = self.marks(unit, 0);
        let is_certain = self.probability == 0.0 || self.probability == 1.0;
        let alike = |later: &u16| is_certain || self.marks(unit, *later) == is_marked;
        let more = (1..run.units).take_while(alike).count();
        (Conformance::of(is_marked, self.action), 1 + more as u16)
    }

    fn action(&self) -> ExcessAction {
        self.action
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pace::{ExactTime, TransmissionTime};
    use crate::unit::Flags;
    use crate::units::Rate;
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
    fn cells_of_a_train_are_marked_as_if_they_came_alone() {
        let unit = Unit {
            vc: CircuitId(0),
            frame: 3,
            identity: 3,
            index: 5,
            bytes: 53,
            hop: 1,
            flags: Flags::default(),
        };
        let spacing = TransmissionTime::of(Rate(155_520_000), 424);
        for probability in [0.0, 0.3, 1.0] {
            let params = Params { probability, action: ExcessAction::Drop };
            let mut policer = Policy::new(&params, &Context { seed: 1, flow: "a" }).unwrap();
            let at = |index| Unit { index, ..unit };
            let single: Vec<_> = (5..105).map(|index| policer.judge(Time(0), &at(index))).collect();
            let mut together = Vec::new();
            while together.len() < 100 {
                let (next, units) = (5 + together.len() as u16, 100 - together.len() as u16);
                let run = EvenRun { first: ExactTime::at(Time(0)), spacing, units };
                let (verdict, units) = policer.judge_run(&at(next), &run);
                assert_ne!(together.last(), Some(&verdict), "each run is as long as its verdict holds");
                together.extend(std::iter::repeat_n(verdict, units.into()));
            }
            assert_eq!(single, together, "{probability}");
        }
    }

    #[test]
    fn a_probability_above_one_is_refused() {
        let params = Params { probability: 1.1, action: ExcessAction::Tag };
        let refused = Policy::new(&params, &Context { seed: 1, flow: "a" }).unwrap_err();
        assert_eq!(refused.key, Some("probability"));
    }
}
