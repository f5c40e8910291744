//! Transfers of a workload whose start is after the run.

use crate::scenario::model::Scenario;
use crate::scenario::warning::Warning;
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
