//! Durations of files, from the start of each until its last octet is acknowledged: the flow completion time.

use serde_json::{Value as Json, json};

use super::PERCENTILES;
use crate::host::outcome::{FlowOutcome, Transfers};
use crate::units::{PS_PER_S, Span, Time};

/// Add to a flow's entry the durations of its files, if it has files.
///
/// With `each` the time of every file is included.
pub(super) fn append_to_flow(entry: &mut Json, flow: &FlowOutcome, each: bool) {
    let Some(Transfers { times, .. }) = &flow.transfers else { return };
    entry["transfer_time_mean_s"] = mean_s(times).into();
    entry["transfer_time_max_s"] = times.iter().max().map(|time| time.as_secs_f64()).into();
    if each {
        entry["transfer_times_s"] = times.iter().map(|time| time.as_secs_f64()).collect();
    }
}

/// Add to the summary the durations of the files of all flows, and those which had not ended at `end`, if there are
/// files.
pub(super) fn append_to_summary(summary: &mut Json, flows: &[FlowOutcome], end: Time) {
    let of_files: Vec<&Transfers> = flows.iter().filter_map(|flow| flow.transfers.as_ref()).collect();
    if of_files.is_empty() {
        return;
    }
    let mut times: Vec<Span> = of_files.iter().flat_map(|files| files.times.iter().copied()).collect();
    times.sort_unstable();
    summary["transfers"] = times.len().into();
    let ages: Vec<Span> = of_files.iter().filter_map(|files| Some(end.since(files.under_way?))).collect();
    summary["transfers_unfinished"] = ages.len().into();
    summary["transfer_age_max_s"] = ages.iter().max().map(|age| age.as_secs_f64()).into();
    summary["transfer_time_mean_s"] = mean_s(&times).into();
    for (name, percent) in PERCENTILES.into_iter().chain([("max", 100)]) {
        summary[format!("transfer_time_{name}_s")] =
            json!(percentile(&times, percent).map(Span::as_secs_f64));
    }
    summary["transfer_time_drift"] = drift(of_files.iter().map(|files| &*files.times)).into();
}

/// Compare the later half of each flow's files with the earlier half: return the difference of their mean durations
/// divided by the mean of both.
fn drift<'a>(of_flows: impl Iterator<Item = &'a [Span]>) -> Option<f64> {
    let sum = |times: &[Span]| times.iter().map(|time| u128::from(time.0)).sum::<u128>() as f64;
    let halves = of_flows.map(|times| {
        let half = times.len() / 2;
        (sum(&times[..half]), sum(&times[times.len() - half..]))
    });
    let (early, late) = halves.fold((0.0, 0.0), |(early, late), (one, other)| (early + one, late + other));
    (early + late > 0.0).then(|| 2.0 * (late - early) / (early + late))
}

fn mean_s(times: &[Span]) -> Option<f64> {
    let sum: u128 = times.iter().map(|time| u128::from(time.0)).sum();
    (!times.is_empty()).then(|| sum as f64 / times.len() as f64 / PS_PER_S as f64)
}

/// Return the percentile `percent` by the nearest rank.
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

    #[test]
    fn the_drift_compares_the_halves_of_each_flow() {
        let (steady, slower) = (spans([4, 2, 3].into_iter()), spans([1, 9, 2].into_iter()));
        assert_eq!(
            drift([&slower[..]].into_iter()),
            Some(2.0 / 3.0),
            "the file in the middle is in neither half"
        );
        let both = [&steady[..], &slower[..]];
        assert_eq!(drift(both.into_iter()), Some(0.0), "4 + 1 s earlier and 3 + 2 s later");
        assert_eq!(drift([&steady[..1], &[]].into_iter()), None, "one file has no halves");
    }
}
