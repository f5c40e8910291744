//! How far a workload has come, over the whole run: the warm-up hides none of its transfers here.

use serde_json::{Value as Json, json};

use crate::engine::Outcome;
use crate::host::outcome::TransferSpan;
use crate::scenario::model::{Scenario, Workload};
use crate::units::Time;
use crate::units::ids::FlowId;

/// Add the counts of a workload to the summary, if there is one.
pub(super) fn append_to_summary(summary: &mut Json, scenario: &Scenario, outcome: &Outcome) {
    let Some(workload) = &scenario.workload else { return };
    let spans = || outcome.flows.as_slice()[workload.flows.clone()].iter().map(|flow| flow.only_transfer);
    let ends: Vec<Option<Time>> = spans().map(|span| span.and_then(end)).collect();
    let completed = ends.iter().flatten().count();
    let begun = spans().flatten().count();
    let first = spans().flatten().map(|span| span.began).min();
    let last = ends.iter().flatten().max();
    summary["workload"] = json!({
        "transfers": ends.len(),
        "completed": completed,
        "unfinished": begun - completed,
        "not_started": ends.len() - begun,
        "octets": scenario.flows.as_slice()[workload.flows.clone()].iter().filter_map(|flow| flow.transfer).map(|one| one.octets).sum::<u64>(),
        "first_start_s": first.map(Time::as_secs_f64),
        "last_finish_s": last.copied().map(Time::as_secs_f64),
    });
    if workload.order.is_some() {
        summary["workload"]["critical_path"] = critical_path(scenario, workload, &ends).into();
    }
}

fn end(span: TransferSpan) -> Option<Time> {
    Some(span.began + span.time?)
}

/// Return the names of the transfers that determined when the last one ended: of those that each waited for, the one that
/// ended last.
fn critical_path<'a>(scenario: &'a Scenario, workload: &Workload, ends: &[Option<Time>]) -> Vec<&'a str> {
    let Some(order) = &workload.order else { return Vec::new() };
    let mut before: Vec<Option<usize>> = vec![None; ends.len()];
    for (number, end) in ends.iter().enumerate() {
        for &next in order.next(number) {
            let latest = &mut before[next as usize];
            if latest.is_none_or(|other| ends[other] < *end) {
                *latest = Some(number);
            }
        }
    }
    let last = (0..ends.len()).filter(|&number| ends[number].is_some()).max_by_key(|&number| ends[number]);
    let path = std::iter::successors(last, |&number| before[number]);
    let mut names: Vec<&str> =
        path.map(|number| scenario.flows[FlowId::new(workload.flows.start + number)].name.as_str()).collect();
    names.reverse();
    names
}
