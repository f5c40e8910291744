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
//! Constant; for units at a fixed spacing T too, if all are in excess, or all conform and I differs from T.

use super::{Conformance, Context, EvenRun, ExcessAction, Police};
use crate::pace::{ExactTime, TransmissionTime};
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
    /// Theoretical arrival time of the next unit. With a large tolerance it may grow up to `Time::NEVER`.
    expected: ExactTime,
    /// The size of the latest unit, in octets, and its I.
    latest: (u16, TransmissionTime),
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
        let latest = (0, TransmissionTime::default());
        Ok(Policy { rate, tolerance, action, expected: ExactTime::default(), latest })
    }
}

/// Up to this time and this rate, multiples by the number of a frame's units are computed without overflow.
const NEAR: u64 = 1 << 46;

impl Policy {
    /// Return I for units of this size.
    fn increment(&mut self, unit: &Unit) -> TransmissionTime {
        if self.latest.0 != unit.bytes {
            self.latest = (unit.bytes, TransmissionTime::of(self.rate, u64::from(unit.bytes) * 8));
        }
        self.latest.1
    }

    /// Return whether a unit that arrives now comes too early.
    fn is_early(&self, now: Time) -> bool {
        now + self.tolerance < self.expected.time
    }

    /// Record a unit that conforms and arrives now.
    fn pass(&mut self, now: Time, increment: &TransmissionTime) {
        let ExactTime { time, mut carry } = self.expected.not_before(now);
        let step = increment.step(&mut carry);
        self.expected = ExactTime { time: time + step, carry };
    }

    /// Record the first unit of a run, which conforms, and those after it that certainly do; returns their number.
    fn pass_some(&mut self, run: &EvenRun, increment: &TransmissionTime) -> u16 {
        let EvenRun { first, ref spacing, units } = *run;
        if increment.whole < spacing.whole && self.expected.time < first.time {
            // every unit finds the state of a circuit that was silent
            self.pass(first.skip(u64::from(units) - 1, spacing).time, increment);
            return units;
        }
        if increment.whole > spacing.whole && self.is_near(increment) {
            // each unit comes earlier than the one before it
            let expected = self.expected.not_before(first.time);
            let passed = first_before(units, |unit| {
                first.skip(unit, spacing).time + self.tolerance < expected.skip(unit, increment).time
            });
            self.expected = expected.skip(passed.into(), increment);
            return passed;
        }
        self.pass(first.time, increment);
        1
    }

    /// Return whether multiples of I up to the length of a frame may be added to the state.
    fn is_near(&self, increment: &TransmissionTime) -> bool {
        increment.whole.0.max(increment.rate) < NEAR && self.expected.time.0 < u64::MAX / 4
    }
}

/// Return the number of units before the first one that is early; if a unit is early, all after it are, and the first
/// one of all is not.
fn first_before(units: u16, is_early: impl Fn(u64) -> bool) -> u16 {
    if !is_early(u64::from(units) - 1) {
        return units;
    }
    let (mut low, mut high) = (1, units - 1);
    while low < high {
        let middle = low + (high - low) / 2;
        if is_early(middle.into()) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

impl Police for Policy {
    fn judge(&mut self, now: Time, unit: &Unit) -> Conformance {
        if self.is_early(now) {
            return Conformance::Excess(self.action);
        }
        let increment = self.increment(unit);
        self.pass(now, &increment);
        Conformance::Conforming
    }

    fn judge_run(&mut self, unit: &Unit, run: &EvenRun) -> (Conformance, u16) {
        let EvenRun { first, spacing, units } = *run;
        if self.is_early(first.time) {
            let enough = Time(self.expected.time.0 - self.tolerance.0);
            let early = first.count_before(enough, &spacing).min(units.into());
            return (Conformance::Excess(self.action), early as u16);
        }
        let increment = self.increment(unit);
        let (mut beat, mut passed) = (first, 0);
        while passed < units && !self.is_early(beat.time) {
            let some = self.pass_some(&EvenRun { first: beat, spacing, units: units - passed }, &increment);
            (beat, passed) = (beat.skip(some.into(), &spacing), passed + some);
        }
        (Conformance::Conforming, passed)
    }

    fn draws(&self) -> bool {
        false
    }

    fn action(&self) -> ExcessAction {
        self.action
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::Flags;
    use crate::units::ids::CircuitId;
    use proptest::prelude::*;

    const UNIT: Unit =
        Unit { vc: CircuitId(0), frame: 0, identity: 0, index: 0, bytes: 53, hop: 1, flags: Flags(0) };

    /// Return the verdicts on the cells of a run, as judged together and as judged one by one, and both states after it.
    fn both_ways(policer: &Policy, run: &EvenRun) -> [(Vec<Conformance>, ExactTime); 2] {
        let (mut together, mut single) = (policer.clone(), policer.clone());
        let (mut verdicts, mut rest) = (Vec::new(), *run);
        while rest.units > 0 {
            let (verdict, units) = together.judge_run(&UNIT, &rest);
            assert!(
                units > 0 && verdicts.last() != Some(&verdict),
                "each run is as long as its verdict holds"
            );
            verdicts.extend(std::iter::repeat_n(verdict, units.into()));
            rest.first = rest.first.skip(units.into(), &run.spacing);
            rest.units -= units;
        }
        let arrivals = (0..run.units).map(|unit| run.first.skip(unit.into(), &run.spacing).time);
        let one_by_one = arrivals.map(|time| single.judge(time, &UNIT)).collect();
        [(verdicts, together.expected), (one_by_one, single.expected)]
    }

    proptest! {
        #[test]
        fn cells_of_a_train_are_judged_as_if_they_came_alone(
            promised in prop_oneof![1u64..200_000_000, Just(155_520_000), 150_000_000u64..160_000_000],
            rate in prop_oneof![1_000_000u64..200_000_000, Just(155_520_000)],
            (units, tolerance, early) in (1u16..300, 0u64..3_000_000_000, 0u64..3_000_000_000),
        ) {
            let params = Params { rate: Rate(promised), tolerance: Span(tolerance), action: ExcessAction::Drop };
            let mut policer = Policy::new(&params, &Context { seed: 1, flow: "test" }).unwrap();
            let spacing = TransmissionTime::of(Rate(rate), 424);
            let first = ExactTime::at(Time(3_000_000_000)).next(&spacing);
            policer.judge(Time(first.time.0 - early), &UNIT);
            let [together, one_by_one] = both_ways(&policer, &EvenRun { first, spacing, units });
            prop_assert_eq!(together, one_by_one);
        }
    }

    #[test]
    fn a_state_near_the_end_of_time_stays_there() {
        let params = Params { rate: Rate(1), tolerance: Span(u64::MAX), action: ExcessAction::Tag };
        let mut policer = Policy::new(&params, &Context { seed: 1, flow: "test" }).unwrap();
        policer.expected = ExactTime::at(Time::NEVER);
        let spacing = TransmissionTime::of(Rate(155_520_000), 424);
        let run = EvenRun { first: ExactTime::at(Time(5)), spacing, units: 32 };
        let [together, one_by_one] = both_ways(&policer, &run);
        assert_eq!(together, one_by_one);
        assert_eq!(together.0, [Conformance::Conforming; 32]);
    }

    /// Return which of the cells that arrive at these times conform; I = 10 ps.
    fn conform(tolerance: u64, times: &[u64]) -> Vec<bool> {
        let rate = Rate(424 * 100_000_000_000);
        let params = Params { rate, tolerance: Span(tolerance), action: ExcessAction::Drop };
        let mut policer = Policy::new(&params, &Context { seed: 1, flow: "test" }).unwrap();
        times.iter().map(|time| policer.judge(Time(*time), &UNIT) == Conformance::Conforming).collect()
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
        let mut now = Time::ZERO;
        for _ in 0..100_000 {
            assert_eq!(policer.judge(now, &UNIT), Conformance::Conforming);
            line.send(now, 53);
            now = line.free();
        }
    }
}
