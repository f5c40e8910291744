//! # Source
//! ITU-T Recommendation I.371 (1993), annex 1; ATM Forum, "Traffic Management Specification", generic cell rate
//! algorithm GCRA(I, L), virtual scheduling form; the policing of paper 004 (S. Chatterjee, W. Xiao), section 3.
//!
//! # Idea
//! Units are expected every I. A unit that arrives more than L before its theoretical arrival time does not conform
//! and leaves the state unchanged:
//!
//! > t < TAT − L: excess; otherwise TAT ← max(t, TAT) + I
//!
//! # Parameters
//! `rate` promised, every octet on the line counted, so I = size of the unit / rate; `tolerance` L (default 0).
//! `action` on excess: `tag` (default) or `drop`.
//!
//! # Differences from the paper
//! I belongs to the unit, so that packets of different lengths are policed by octets. It is kept as an exact fraction
//! of picoseconds as long as units come early.
//!
//! # Complexity
//! Constant.

use super::{Conformance, Context, ExcessAction, Police};
use crate::pace::TransmissionTime;
use crate::refused::{Refused, refuse};
use crate::section;
use crate::unit::Unit;
use crate::units::{Rate, Span, Time};

section! {
    /// Police by the generic cell rate algorithm.
    pub struct Params {
        /// Rate promised, headers and padding included.
        pub rate: Rate,
        /// How early a unit may come.
        pub tolerance: Span = Span::ZERO,
        /// What happens to units in excess.
        pub action: ExcessAction = ExcessAction::Tag,
    }
}

/// The state of the algorithm for one circuit.
#[derive(Clone, Debug)]
pub struct Policy {
    rate: Rate,
    tolerance: Span,
    action: ExcessAction,
    /// Theoretical arrival time of the next unit, and its carried remainder. With a large tolerance it may grow up to
    /// `Time::NEVER`.
    expected: Time,
    carry: u64,
}

impl Policy {
    /// Build the policer of one flow.
    pub fn new(params: &Params, _: &Context<'_>) -> Result<Policy, Refused> {
        let Params { rate, tolerance, action } = *params;
        if rate == Rate(0) {
            return refuse("rate", "must be greater than 0 b/s");
        }
        if rate > Rate(u64::MAX / 2) {
            return refuse("rate", "must be at most the rate of the fastest line, 100 Tb/s");
        }
        Ok(Policy { rate, tolerance, action, expected: Time::ZERO, carry: 0 })
    }
}

impl Police for Policy {
    fn judge(&mut self, now: Time, unit: &Unit) -> Conformance {
        if now + self.tolerance < self.expected {
            return Conformance::Excess(self.action);
        }
        let increment = TransmissionTime::of(self.rate, u64::from(unit.bytes) * 8);
        if now > self.expected {
            (self.expected, self.carry) = (now, 0);
        }
        self.expected += increment.step(&mut self.carry);
        Conformance::Conforming
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::Flags;
    use crate::units::ids::CircuitId;

    /// Return which of the cells that arrive at these times conform; I = 10 ps.
    fn conform(tolerance: u64, times: &[u64]) -> Vec<bool> {
        let rate = Rate(424 * 100_000_000_000);
        let params = Params { rate, tolerance: Span(tolerance), action: ExcessAction::Drop };
        let mut policer = Policy::new(&params, &Context { seed: 1, flow: "test" }).unwrap();
        let unit = Unit {
            vc: CircuitId(0),
            frame: 0,
            identity: 0,
            index: 0,
            bytes: 53,
            hop: 1,
            flags: Flags::default(),
        };
        times.iter().map(|time| policer.judge(Time(*time), &unit) == Conformance::Conforming).collect()
    }

    #[test]
    fn without_tolerance_a_cell_may_not_come_early() {
        assert_eq!(conform(0, &[0, 9, 10, 20, 29, 30]), [true, false, true, true, false, true]);
    }

    #[test]
    fn an_early_cell_within_the_tolerance_uses_it_up() {
        assert_eq!(conform(5, &[0, 5, 15, 24, 25]), [true, true, true, false, true]);
    }

    #[test]
    fn silence_earns_no_credit_beyond_the_tolerance() {
        assert_eq!(conform(0, &[0, 1000, 1005, 1010]), [true, true, false, true]);
    }

    #[test]
    fn a_burst_at_peak_rate_passes_up_to_the_size_that_the_tolerance_allows() {
        // MBS = 1 + ⌊L / (I − T)⌋ with T = 2: 1 + ⌊24 / 8⌋ = 4
        let times: Vec<u64> = (0..6).map(|i| 2 * i).collect();
        assert_eq!(conform(24, &times), [true, true, true, true, false, false]);
    }

    #[test]
    fn the_promised_rate_passes_however_odd_its_period() {
        let params = Params { rate: Rate(155_520_000), tolerance: Span::ZERO, action: ExcessAction::Tag };
        let mut policer = Policy::new(&params, &Context { seed: 1, flow: "test" }).unwrap();
        let mut line = crate::link::line::Line::new(Rate(155_520_000), Span::ZERO);
        let unit = Unit {
            vc: CircuitId(0),
            frame: 0,
            identity: 0,
            index: 0,
            bytes: 53,
            hop: 1,
            flags: Flags::default(),
        };
        let mut now = Time::ZERO;
        for _ in 0..100_000 {
            assert_eq!(policer.judge(now, &unit), Conformance::Conforming);
            line.send(now, 53);
            now = line.free();
        }
    }
}
