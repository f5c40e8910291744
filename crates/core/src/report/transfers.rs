//! How long files take, from the start of each until its last octet is acknowledged: the flow completion time.

use serde_json::{Value as Json, json};

use super::PERCENTILES;
use crate::network::flow::{Flow, Transfers};
use crate::units::{PS_PER_S, Span};

/// Add to a flow's entry how long its files took: nothing for a flow without files.
pub(super) fn append_to_flow(entry: &mut Json, flow: &Flow) {
    let Some(Transfers { times, .. }) = flow.transfers() else { return };
    entry["transfer_time_mean_s"] = mean_s(times).into();
    entry["transfer_time_max_s"] = times.iter().max().map(|time| time.as_secs_f64()).into();
}

/// Add to the summary how long the files of all flows took, and how many had not ended: nothing without files.
pub(super) fn append_to_summary(summary: &mut Json, flows: &[Flow]) {
    let of_files: Vec<Transfers<'_>> = flows.iter().filter_map(Flow::transfers).collect();
    if of_files.is_empty() {
        return;
    }
    let mut times: Vec<Span> = of_files.iter().flat_map(|files| files.times.iter().copied()).collect();
    times.sort_unstable();
    summary["transfers"] = times.len().into();
    summary["transfers_unfinished"] = of_files.iter().filter(|files| files.under_way).count().into();
    summary["transfer_time_mean_s"] = mean_s(&times).into();
    for (name, percent) in PERCENTILES.into_iter().chain([("max", 100)]) {
        summary[format!("transfer_time_{name}_s")] =
            json!(percentile(&times, percent).map(Span::as_secs_f64));
    }
}

fn mean_s(times: &[Span]) -> Option<f64> {
    let sum: u128 = times.iter().map(|time| u128::from(time.0)).sum();
    (!times.is_empty()).then(|| sum as f64 / times.len() as f64 / PS_PER_S as f64)
}

/// The least time that so many of a hundred do not exceed: the nearest rank.
fn percentile(sorted: &[Span], percent: u64) -> Option<Span> {
    sorted.get((percent as usize * sorted.len()).div_ceil(100).checked_sub(1)?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(seconds: impl Iterator<Item = u64>) -> Vec<Span> {
        seconds.map(Span::secs).collect()
    }

    #[test]
    fn a_percentile_is_the_nearest_rank() {
        let hundred = spans(1..=100);
        for percent in [1, 50, 99, 100] {
            assert_eq!(percentile(&hundred, percent), Some(Span::secs(percent)));
        }
        let three = spans(1..=3);
        assert_eq!(percentile(&three, 50), Some(Span::secs(2)));
        assert_eq!(percentile(&three, 99), Some(Span::secs(3)));
    }

    #[test]
    fn without_a_file_that_ended_there_is_no_time() {
        assert_eq!((percentile(&[], 99), mean_s(&[])), (None, None));
        assert_eq!(mean_s(&spans(1..=4)), Some(2.5));
    }
}
