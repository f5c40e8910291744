//! Policing at the entrance of the network: it finds units beyond the contract of their circuit.
//!
//! A policer belongs to a flow and is located where its circuit reaches the first switch, after the sender's own
//! line. It tags a unit (CLP = 1), so that a congested switch may discard it before others, or drops it immediately.
//! One kind is one file; to add one, write it and add a line to the list below.

use crate::pace::{ExactTime, TransmissionTime};
use crate::rng::Keyed;
use crate::unit::{Flags, Unit};
use crate::units::Time;
use crate::verdict::Reason;
use crate::{choice, registry};

registry! {
    /// A policer as a scenario specifies it.
    "police" by "kind" {
        Gcra = "gcra" in gcra,
        Random = "random" in random,
    }

    /// The interface of a policer.
    pub trait Police for Policy {
        /// Judge a unit that arrives at the first switch now.
        fn judge(&mut self, now: Time, unit: &Unit) -> Conformance;

        /// Judge consecutive units of a frame, `unit` and those after it, up to the first one with another verdict;
        /// returns the verdict and the number of units with it, at least one.
        fn judge_run(&mut self, unit: &Unit, run: &EvenRun) -> (Conformance, u16);

        /// Return the action on a unit in excess.
        fn action(&self) -> ExcessAction;
    }
}

/// Units that arrive one spacing after the other.
#[derive(Clone, Copy, Debug)]
pub struct EvenRun {
    /// Exact arrival time of the first unit.
    pub first: ExactTime,
    /// The time between two units.
    pub spacing: TransmissionTime,
    /// The number of units, at least one.
    pub units: u16,
}

choice! {
    /// Action on a unit in excess.
    pub enum ExcessAction {
        /// It is marked with CLP = 1 and continues.
        Tag = "tag",
        /// It is lost.
        Drop = "drop",
    }
}

/// The verdict of a policer on a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conformance {
    /// The unit conforms to the contract.
    Conforming,
    /// The unit exceeds the contract, with this consequence.
    Excess(ExcessAction),
}

impl Conformance {
    /// Return the reason for which a unit with this verdict is lost, if it is lost.
    pub(crate) fn loss(self) -> Option<Reason> {
        (self == Conformance::Excess(ExcessAction::Drop)).then_some(Reason::Policed)
    }

    /// Return the verdict on a unit that is in excess or not.
    fn of(excess: bool, action: ExcessAction) -> Conformance {
        if excess { Conformance::Excess(action) } else { Conformance::Conforming }
    }

    /// Return the unit, tagged if the verdict says so; the error is the reason for its loss.
    pub fn apply(self, unit: Unit) -> Result<Unit, Reason> {
        match (self, self.loss()) {
            (_, Some(reason)) => Err(reason),
            (Conformance::Excess(_), None) => Ok(Unit { flags: unit.flags.with(Flags::CLP), ..unit }),
            (Conformance::Conforming, None) => Ok(unit),
        }
    }
}

/// Facts that a policer may use about its flow.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// Seed of the run.
    pub seed: u64,
    /// Name of the flow, or of the circuit that it shares with others.
    pub flow: &'a str,
}

impl Context<'_> {
    /// Return the policer's own random numbers.
    fn keyed(&self) -> Keyed {
        Keyed::new(self.seed, format_args!("flow.{}.police", self.flow))
    }
}

/// Hop at which a circuit is policed: at the first switch on its path, after the line of the sender.
pub const HOP: u8 = 1;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::ids::CircuitId;

    #[test]
    fn excess_is_tagged_or_dropped() {
        let unit =
            Unit { vc: CircuitId(0), frame: 0, identity: 0, index: 0, bytes: 53, hop: 1, flags: Flags::EOM };
        assert_eq!(Conformance::Conforming.apply(unit), Ok(unit));
        let tagged = Conformance::Excess(ExcessAction::Tag).apply(unit).unwrap();
        assert!(tagged.is_marked() && tagged.is_eom());
        assert_eq!(Conformance::Excess(ExcessAction::Drop).apply(unit), Err(Reason::Policed));
    }
}
