//! Delivery times and round trips of one flow, of a class and of all flows, and the sojourn times of a port, if the scenario
//! requests them.

use serde_json::{Value as Json, json};

use super::PERCENTILES;
use crate::host::figures::Figures;
use crate::metrics::durations::Durations;
use crate::metrics::spread::Spread;
use crate::units::Span;

/// Add percentiles of the time to deliver, the shortest and the longest, over these flows, and the round trips of those that
/// measure some: none are added unless the scenario requests them.
pub(super) fn append<'a>(entry: &mut Json, flows: impl Iterator<Item = &'a Figures> + Clone) {
    if let Some(deliveries) = merged(flows.clone().map(|figures| &figures.delivery))
        && let Some(spread) = deliveries.spread()
    {
        entry["delivery_time_min_s"] = seconds(spread.min());
        append_percentiles(entry, "delivery_time", spread);
    }
    let Some(trips) = merged(flows.filter_map(|figures| figures.round_trips.as_ref())) else { return };
    let spread = trips.spread().expect("round trips are recorded with percentiles");
    entry["round_trip_min_s"] = seconds(spread.min());
    entry["round_trip_mean_s"] = json!(trips.mean_s());
    append_percentiles(entry, "round_trip", spread);
    entry["rpm"] = json!(trips.mean_s().map(|mean| 60.0 / mean));
}

/// Add the sojourn times of a port.
pub(super) fn append_sojourn(entry: &mut Json, waits: &Durations) {
    let spread = waits.spread().expect("waits are recorded with percentiles");
    entry["sojourn_mean_s"] = json!(waits.mean_s());
    append_percentiles(entry, "sojourn", spread);
    entry["sojourn_p999_s"] = seconds(spread.per_mille(999));
}

fn append_percentiles(entry: &mut Json, of: &str, spread: &Spread) {
    for (name, percent) in PERCENTILES {
        entry[format!("{of}_{name}_s")] = seconds(spread.percentile(percent));
    }
    entry[format!("{of}_max_s")] = seconds(spread.max());
}

/// Return all durations of these records together; `None` without a record.
fn merged<'a>(records: impl Iterator<Item = &'a Durations>) -> Option<Durations> {
    records.fold(None, |all, one| {
        let mut all = all.unwrap_or_else(|| one.fresh());
        all.merge(one);
        Some(all)
    })
}

fn seconds(ps: Option<u64>) -> Json {
    json!(ps.map(|ps| Span(ps).as_secs_f64()))
}
