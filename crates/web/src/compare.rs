//! Two runs under equal traffic: the first difference at a port.

use pushout_core::engine::reference::Stepper;
use pushout_core::scenario::model::Scenario;
use pushout_core::trace::ring::{Record, RecordRing};
use pushout_core::units::ids::LineId;
use pushout_core::units::{Span, Time};

use crate::session::stepper;

/// The first record in which two runs differ; `None` for a run without further records.
#[derive(Debug, PartialEq)]
pub(crate) struct Difference {
    pub(crate) time: Time,
    pub(crate) records: [Option<Record>; 2],
}

/// Two runs that advance together until they differ.
#[derive(Debug)]
pub(crate) struct Comparison {
    steppers: [Stepper<RecordRing>; 2],
    ports: [LineId; 2],
    now: Time,
    found: Option<Difference>,
}

impl Comparison {
    /// Compare two runs at a port of each, from the start.
    pub(crate) fn new(runs: [(&Scenario, LineId); 2]) -> Comparison {
        let steppers = runs.map(|(scenario, port)| stepper(scenario, port, usize::MAX));
        Comparison { steppers, ports: runs.map(|(_, port)| port), now: Time::ZERO, found: None }
    }

    /// Return the instant up to which the runs have been compared.
    pub(crate) fn seen(&self) -> Time {
        self.now
    }

    /// Compare up to `until`, and return the first difference if it has been found.
    pub(crate) fn advance(&mut self, until: Time) -> Option<&Difference> {
        let end = self.steppers[0].end().max(self.steppers[1].end());
        while self.found.is_none() && self.now < until.min(end) {
            self.now = (self.now + STEP).min(end);
            let seen = self.steppers.each_mut().map(|stepper| {
                stepper.advance(self.now);
                stepper.tracer_mut().take().0
            });
            self.found = differs(&seen, self.ports);
        }
        self.found.as_ref()
    }
}

fn differs([a, b]: &[Vec<Record>; 2], ports: [LineId; 2]) -> Option<Difference> {
    let pairs = (0..a.len().max(b.len())).map(|index| [a.get(index).copied(), b.get(index).copied()]);
    let same = |records: &[Option<Record>; 2]| match records {
        [Some(a), Some(b)] => Record { port: ports[1], ..*a } == *b,
        _ => false,
    };
    let records = pairs.into_iter().find(|records| !same(records))?;
    let time = records.iter().flatten().map(|record| record.time).min().expect("one of them has a record");
    Some(Difference { time, records })
}

const STEP: Span = Span::millis(1);

#[cfg(test)]
mod tests {
    use super::*;
    use pushout_core::engine::{self, LossRecord};
    use pushout_core::scenario::load;
    use pushout_core::trace::What;

    const LAN: &str = include_str!("../../../scenarios/lan.toml");

    fn lan(admission: &str) -> (Scenario, LineId) {
        let policy = format!("port.bottleneck.admission={{policy='{admission}'}}");
        let scenario = load(LAN, "lan.toml", &["duration=300 ms".to_string(), policy]).unwrap();
        let port = scenario.lines.position(|line| line.name == "bottleneck").unwrap();
        (scenario, port)
    }

    #[test]
    fn a_run_does_not_differ_from_itself() {
        let (scenario, port) = lan("epd");
        assert_eq!(Comparison::new([(&scenario, port), (&scenario, port)]).advance(Time::NEVER), None);
    }

    #[test]
    fn the_first_difference_is_the_first_loss_that_only_one_of_two_native_runs_has() {
        let ((epd, port), (ppd, _)) = (lan("epd"), lan("ppd"));
        let runs = [(&epd, port), (&ppd, port)];
        let mut comparison = Comparison::new(runs);
        let found = comparison.advance(Time::NEVER).unwrap();
        let mut in_parts = Comparison::new(runs);
        while in_parts.advance(in_parts.seen() + Span::millis(3)).is_none() {}
        assert_eq!(in_parts.advance(Time::NEVER), Some(found));
        let log = |scenario| engine::run(scenario, true).losses;
        let (a, b): (Vec<LossRecord>, Vec<LossRecord>) = (log(&epd), log(&ppd));
        let only = |these: &[LossRecord], those: &[LossRecord]| {
            these.iter().find(|loss| !those.contains(loss)).map_or(Time::NEVER, |loss| loss.time)
        };
        assert_eq!(found.time, only(&a, &b).min(only(&b, &a)));
        assert!(found.records.iter().flatten().any(|record| matches!(record.what, What::Lost(_))));
    }
}
