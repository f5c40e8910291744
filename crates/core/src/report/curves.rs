//! Figures over time, for the flows and ports that the scenario names.

use serde_json::{Map, Value as Json, json};

use crate::engine::Outcome;
use crate::link::gate::pause::Paused;
use crate::metrics::fairness;
use crate::metrics::port::Reading;
use crate::metrics::state::{Figure, over_time};
use crate::scenario::contract::passing_circuits;
use crate::scenario::model::Scenario;
use crate::units::Time;
use crate::units::ids::{CircuitId, FlowId, LineId};
use crate::verdict::Reason;

/// Add to a flow's entry its throughput and its congestion window over time.
pub(super) fn append_to_flow(entry: &mut Json, scenario: &Scenario, outcome: &Outcome, flow: FlowId) {
    if let Some(counts) = outcome.flows[flow].cwnd() {
        let (start, step) = (scenario.warmup.as_secs_f64(), scenario.sample.as_secs_f64());
        entry["cwnd"] = json!({ "start_s": start, "step_s": step, "octets": counts });
    }
    if let Some(rows) = outcome.flows[flow].state() {
        let (start, step) = (scenario.warmup.as_secs_f64(), scenario.sample.as_secs_f64());
        entry["state"] = json!({ "start_s": start, "step_s": step, "figures": figures(rows) });
    }
    let Some(windows) = scenario.measure.throughput else { return };
    entry["throughput"] = json!({
        "start_s": scenario.warmup.as_secs_f64(),
        "step_s": windows.step.as_secs_f64(),
        "window_s": windows.window.as_secs_f64(),
        "bps": outcome.flows[flow].throughput(windows.window),
    });
}

/// Add to the summary the deviation among flows over time.
pub(super) fn append_to_summary(summary: &mut Json, scenario: &Scenario, outcome: &Outcome) {
    let Some(windows) = scenario.measure.throughput else { return };
    let rates: Vec<Vec<f64>> =
        outcome.flows.iter().filter_map(|flow| flow.throughput(windows.window)).collect();
    summary["throughput_deviation"] = json!(deviations(&rates));
}

/// Add to a port's entry its occupancy and the readings of its policy over time.
pub(super) fn append_to_port(entry: &mut Json, scenario: &Scenario, outcome: &Outcome, port: LineId) {
    if scenario.measure.occupancy.contains(&port) {
        let mut samples = sampled(scenario);
        samples["values"] = json!(outcome.network.ports[port].counters().occupancy.trace());
        entry["occupancy"] = samples;
    }
    if scenario.measure.losses.contains(&port) {
        let losses = outcome.losses.iter().filter(|loss| loss.port == port);
        entry["losses"] = by_interval(scenario, losses.map(|loss| (loss.time, loss.reason)));
    }
    if let Some(marks) = &outcome.network.ports[port].counters().rare().marks {
        entry["marks"] = by_interval(scenario, marks.iter().copied());
    }
    if scenario.measure.pauses.contains(&port) {
        entry["pauses"] = pauses(scenario, outcome, port);
    }
    if let Some(rows) = &outcome.network.ports[port].counters().rare().state {
        let mut samples = sampled(scenario);
        samples["figures"] = figures(rows);
        entry["state"] = samples;
    }
    if scenario.measure.meter.contains(&port) {
        entry["meter"] = metered(scenario, outcome, port);
    }
}

/// Return how many units a port lost or marked in every interval between samples, by reason; the end of the run may cut the
/// last interval.
fn by_interval(scenario: &Scenario, units: impl Iterator<Item = (Time, Reason)>) -> Json {
    let (start, step) = (scenario.warmup, scenario.sample);
    let intervals = intervals(scenario);
    let mut counts = vec![vec![0_u64; intervals]; Reason::ALL.len()];
    let first = Time::ZERO + start;
    for (time, reason) in units.filter(|(time, _)| *time >= first) {
        let interval = (time.since(first).0 / step.0) as usize;
        counts[reason as usize][interval.min(intervals - 1)] += 1;
    }
    let units: Map<String, Json> = Reason::ALL
        .into_iter()
        .zip(counts)
        .map(|(reason, counts)| (reason.word().to_string(), json!(counts)))
        .collect();
    json!({ "start_s": start.as_secs_f64(), "step_s": step.as_secs_f64(), "units": units })
}

/// Return the number of intervals between samples in the measured time.
fn intervals(scenario: &Scenario) -> usize {
    (scenario.duration - scenario.warmup).0.div_ceil(scenario.sample.0) as usize
}

/// The name of the only class of a scenario without classes, as at queues of memories.
const EVERY: &str = "all";

/// Return the share of every interval between samples in which a port was not allowed to send a class, for each class that a
/// memory can stop there.
fn pauses(scenario: &Scenario, outcome: &Outcome, port: LineId) -> Json {
    let (first, end) = (Time::ZERO + scenario.warmup, Time::ZERO + scenario.duration);
    let log = Paused::among(outcome.network.ports[port].gates()).map(Paused::log).unwrap_or_default();
    let class = |name: &str, number: u32| {
        let mut shares = vec![0.0; intervals(scenario)];
        let mut since = None;
        for change in log.iter().filter(|change| change.class == number) {
            match (change.stops, since.take()) {
                (true, _) => since = Some(change.time),
                (false, Some(since)) => add_pause(&mut shares, scenario, first, since, change.time),
                (false, None) => {}
            }
        }
        if let Some(since) = since {
            add_pause(&mut shares, scenario, first, since, end);
        }
        json!({ "name": name, "share": shares })
    };
    let named: Vec<&str> = scenario.sections.queues.0.iter().map(|(name, _)| name.as_str()).collect();
    let names = if named.is_empty() { vec![EVERY] } else { named };
    let stopped = (0..).zip(names).filter(|(number, _)| scenario.stops_class(port, *number));
    let classes: Vec<Json> = stopped.map(|(number, name)| class(name, number)).collect();
    json!({ "start_s": scenario.warmup.as_secs_f64(), "step_s": scenario.sample.as_secs_f64(), "classes": classes })
}

/// Add a pause from `since` until `end` to the shares of the intervals that it meets.
fn add_pause(shares: &mut [f64], scenario: &Scenario, first: Time, since: Time, end: Time) {
    let step = scenario.sample.0;
    let (mut from, to) = (since.max(first).since(first).0, end.since(first).0);
    while from < to {
        let interval = (from / step) as usize;
        let until = to.min((interval as u64 + 1) * step);
        shares[interval.min(shares.len() - 1)] += (until - from) as f64 / step as f64;
        from = until;
    }
}

/// Return each figure of a state over time; only a figure of a single queue has the key `queue`.
fn figures(rows: &[Vec<Figure>]) -> Json {
    let entry = |(figure, values): (Figure, Vec<f64>)| {
        let mut entry = json!({ "name": figure.name, "values": values });
        figure.queue.into_iter().for_each(|queue| entry["queue"] = json!(queue));
        entry
    };
    over_time(rows).into_iter().map(entry).collect()
}

fn metered(scenario: &Scenario, outcome: &Outcome, port: LineId) -> Json {
    let passing = passing_circuits(scenario);
    let passing = passing.at(port);
    let rows = outcome.network.ports[port].counters().rare().meter.as_deref().unwrap_or_default();
    let circuit = |(place, &vc): (usize, &CircuitId)| {
        let row = rows.iter().skip(place).step_by(passing.len());
        let each = |what: fn(&Reading) -> f64| row.clone().map(what).collect::<Vec<f64>>();
        json!({
            "name": scenario.vcs[vc].name,
            "bps": each(|reading| reading.rate),
            "part_bps": each(|reading| reading.part),
            "granted_bps": each(|reading| reading.granted),
            "refusal": each(|reading| reading.refusal),
        })
    };
    let mut samples = sampled(scenario);
    samples["circuits"] = passing.iter().enumerate().map(circuit).collect();
    samples
}

/// Return the standard deviation among the flows divided by their mean, in each window; `None` if no flow delivers.
fn deviations(rates: &[Vec<f64>]) -> Vec<Option<f64>> {
    let windows = rates.iter().map(Vec::len).min().unwrap_or_default();
    let at = |window: usize| rates.iter().map(|rates| rates[window]).collect::<Vec<f64>>();
    (0..windows).map(|window| fairness::relative_deviation(&at(window))).collect()
}

/// Return when samples are taken: at multiples of the interval from the end of the warm-up on.
pub(super) fn sampled(scenario: &Scenario) -> Json {
    let first = scenario.warmup.0.div_ceil(scenario.sample.0) * scenario.sample.0;
    json!({ "start_s": Time(first).as_secs_f64(), "step_s": scenario.sample.as_secs_f64() })
}
