//! Transfers of a workload, and changes of the rate of a line, after the end of the run.

use std::cmp::Reverse;

use crate::scenario::model::{Line, Scenario};
use crate::scenario::warning::Warning;
use crate::units::Span;
use crate::units::ids::FlowId;

/// Warn of transfers that cannot start, since the run ends before.
pub(super) fn transfers(scenario: &Scenario) -> Option<Warning> {
    let flows = scenario.workload.as_ref()?.flows.clone();
    let all = flows.len();
    let starts =
        flows.map(FlowId::new).filter(|&flow| !scenario.waits(flow)).map(|flow| scenario.flows[flow].start);
    let late: Vec<_> = starts.filter(|start| *start >= scenario.duration).collect();
    let latest = late.iter().max()?;
    let message = format!(
        "{} of the {all} transfers of the workload start after the end of the run at {}, the last at {latest}: make \
         duration longer, or shift the starts",
        late.len(),
        scenario.duration,
    );
    Some(Warning { code: "late-transfers", message })
}

/// Warn of steps of a line's rate or delay that cannot come, since the run ends before.
pub(super) fn steps(scenario: &Scenario) -> Option<Warning> {
    let of_line = |line: &Line| {
        let steps = [("rate", line.rate.last_step()), ("delay", line.delay.last_step())];
        steps.map(|(what, last)| last.map(|last| (last, what, line.name.clone())))
    };
    let steps = scenario.lines.iter().flat_map(of_line).flatten();
    let (last, what, line) = steps.min_by_key(|(last, ..)| Reverse(*last))?;
    (last > Span::ZERO && last >= scenario.duration).then(|| {
        let end = scenario.duration;
        let message = format!(
            "the {what} of line {line:?} changes after the end of the run at {end}, the last time at {last}: make duration longer, or \
             leave these steps out"
        );
        Warning { code: "late-steps", message }
    })
}

#[cfg(test)]
mod tests {
    use crate::scenario::checked;

    #[test]
    fn steps_after_the_end_of_the_run_are_named_in_a_warning() {
        let lan = include_str!("../../../../../scenarios/lan.toml");
        let warned = |steps: &str| {
            let sets =
                [format!("topology.bottleneck.rate={{ steps = {steps} }}"), "duration=2 s".to_string()];
            let warnings = checked(lan, "x.toml", &sets).unwrap().warnings();
            warnings.into_iter().find(|warning| warning.code == "late-steps").map(|warning| warning.message)
        };
        let expected = "the rate of line \"bottleneck\" changes after the end of the run at 2 s, the last time at 2 s: make duration \
                        longer, or leave these steps out";
        assert_eq!(warned("[['0 s', '100 Mb/s'], ['2 s', '50 Mb/s']]").as_deref(), Some(expected));
        assert_eq!(warned("[['0 s', '100 Mb/s'], ['1999 ms', '50 Mb/s']]"), None);
        assert_eq!(warned("[['0 s', '100 Mb/s']]"), None);
    }
}
