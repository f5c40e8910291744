//! The distribution of delivery times: of one flow, of a class and of all flows, if the scenario requests it.

use serde_json::{Value as Json, json};

use super::PERCENTILES;
use crate::metrics::spread::Spread;
use crate::network::figures::Figures;
use crate::units::Span;

/// Add percentiles of the time to deliver, the shortest and the longest, over these flows: none are added unless the scenario
/// requests them.
pub(super) fn append<'a>(entry: &mut Json, flows: impl Iterator<Item = &'a Figures>) {
    let spread = flows.filter_map(|figures| figures.delivery.spread()).fold(None, |all, one| {
        let mut all: Spread = all.unwrap_or_default();
        all.merge(one);
        Some(all)
    });
    let Some(spread) = spread else { return };
    let seconds = |ps: Option<u64>| json!(ps.map(|ps| Span(ps).as_secs_f64()));
    entry["delivery_time_min_s"] = seconds(spread.min());
    for (name, percent) in PERCENTILES {
        entry[format!("delivery_time_{name}_s")] = seconds(spread.percentile(percent));
    }
    entry["delivery_time_max_s"] = seconds(spread.max());
}
