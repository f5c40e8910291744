//! Two runs under equal traffic: the first difference at a port.

use pushout_core::scenario::model::Scenario;
use pushout_core::trace::ring::Record;
use pushout_core::units::{Span, Time};

use crate::session::stepper;

/// The first record in which two runs differ; `None` for a run without further records.
#[derive(Debug, PartialEq)]
pub(crate) struct Difference {
    pub(crate) time: Time,
    pub(crate) records: [Option<Record>; 2],
}

/// The first difference between two runs at a port of each, if there is one.
pub(crate) fn first_difference(runs: [(&Scenario, usize); 2]) -> Option<Difference> {
    let mut steppers = runs.map(|(scenario, port)| stepper(scenario, port, usize::MAX));
    let end = steppers[0].end().max(steppers[1].end());
    let mut now = Time::ZERO;
    while now < end {
        now = (now + STEP).min(end);
        let seen = steppers.each_mut().map(|stepper| {
            stepper.advance(now);
            stepper.tracer_mut().take().0
        });
        if let Some(found) = differs(&seen, [runs[0].1, runs[1].1]) {
            return Some(found);
        }
    }
    None
}

fn differs([a, b]: &[Vec<Record>; 2], ports: [usize; 2]) -> Option<Difference> {
    let pairs = (0..a.len().max(b.len())).map(|index| [a.get(index).copied(), b.get(index).copied()]);
    let same = |records: &[Option<Record>; 2]| match records {
        [Some(a), Some(b)] => Record { port: ports[1] as u32, ..*a } == *b,
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

    fn lan(admission: &str) -> (Scenario, usize) {
        let policy = format!("port.bottleneck.admission={{policy='{admission}'}}");
        let scenario = load(LAN, "lan.toml", &["duration=300 ms".to_string(), policy]).unwrap();
        let port = scenario.lines.iter().position(|line| line.name == "bottleneck").unwrap();
        (scenario, port)
    }

    #[test]
    fn a_run_does_not_differ_from_itself() {
        let (scenario, port) = lan("epd");
        assert_eq!(first_difference([(&scenario, port), (&scenario, port)]), None);
    }

    #[test]
    fn the_first_difference_is_the_first_loss_that_only_one_of_two_native_runs_has() {
        let ((epd, port), (ppd, _)) = (lan("epd"), lan("ppd"));
        let found = first_difference([(&epd, port), (&ppd, port)]).unwrap();
        let log = |scenario| engine::run(scenario, true).losses;
        let (a, b): (Vec<LossRecord>, Vec<LossRecord>) = (log(&epd), log(&ppd));
        let only = |these: &[LossRecord], those: &[LossRecord]| {
            these.iter().find(|loss| !those.contains(loss)).map_or(Time::NEVER, |loss| loss.time)
        };
        assert_eq!(found.time, only(&a, &b).min(only(&b, &a)));
        assert!(found.records.iter().flatten().any(|record| matches!(record.what, What::Lost(_))));
    }
}
