//! Figures over time, for the flows and ports for which the scenario asks.

use serde_json::{Value as Json, json};

use crate::buffer::admission::Reading;
use crate::engine::Outcome;
use crate::metrics::fairness;
use crate::scenario::contract::passing_circuits;
use crate::scenario::model::Scenario;
use crate::units::Time;

/// Add the curves to the entries of flows and ports.
pub(super) fn append(document: &mut Json, scenario: &Scenario, outcome: &Outcome) {
    if let Some(windows) = scenario.measure.throughput {
        for (index, flow) in outcome.network.flows.iter().enumerate() {
            document["flows"][index]["throughput"] = json!({
                "start_s": scenario.warmup.as_secs_f64(),
                "step_s": windows.step.as_secs_f64(),
                "window_s": windows.window.as_secs_f64(),
                "bps": flow.throughput(windows.window),
            });
        }
        let rates: Vec<Vec<f64>> =
            outcome.network.flows.iter().filter_map(|flow| flow.throughput(windows.window)).collect();
        document["summary"]["throughput_deviation"] = json!(deviations(&rates));
    }
    for &port in &scenario.measure.occupancy {
        let mut samples = sampled(scenario);
        samples["values"] = json!(outcome.network.ports[port].counters().occupancy.trace());
        document["ports"][port]["occupancy"] = samples;
    }
    if scenario.measure.meter.is_empty() {
        return;
    }
    let passing = passing_circuits(scenario);
    for &port in &scenario.measure.meter {
        let mut samples = sampled(scenario);
        let rows = outcome.network.ports[port].counters().meter.as_deref().unwrap_or_default();
        let circuit = |(place, &vc): (usize, &usize)| {
            let row = rows.iter().skip(place).step_by(passing[port].len());
            let each = |what: fn(&Reading) -> f64| row.clone().map(what).collect::<Vec<f64>>();
            json!({
                "name": scenario.vcs[vc].name,
                "bps": each(|reading| reading.rate),
                "part_bps": each(|reading| reading.part),
                "granted_bps": each(|reading| reading.granted),
                "refusal": each(|reading| reading.refusal),
            })
        };
        samples["circuits"] = passing[port].iter().enumerate().map(circuit).collect();
        document["ports"][port]["meter"] = samples;
    }
}

/// In each window the standard deviation among the flows, over their mean; nothing where nobody sends.
fn deviations(rates: &[Vec<f64>]) -> Vec<Option<f64>> {
    let windows = rates.iter().map(Vec::len).min().unwrap_or_default();
    let at = |window: usize| rates.iter().map(|rates| rates[window]).collect::<Vec<f64>>();
    (0..windows).map(|window| fairness::relative_deviation(&at(window))).collect()
}

/// When samples are taken: at multiples of the interval from the end of the warm-up on.
fn sampled(scenario: &Scenario) -> Json {
    let first = scenario.warmup.0.div_ceil(scenario.sample.0) * scenario.sample.0;
    json!({ "start_s": Time(first).as_secs_f64(), "step_s": scenario.sample.as_secs_f64() })
}
