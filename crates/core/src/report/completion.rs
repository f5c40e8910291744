//! Completion times of transfers of workloads and of those that sources have drawn, compared with the times in an empty network.
//!
//! The ideal of a transfer is the shortest time that an empty network allows. Each line on the path sends the first
//! unit (a packet, or a cell) once it has arrived whole, the other units follow at the rate of the slowest line, with
//! all headers, and the acknowledgement of the last one comes back; propagation and the latency of nodes are added
//! both ways. A transfer counts if it starts in the measured time; its time begins with its arrival, so a handshake
//! is part of it, and ends when its last octet has been acknowledged.

use std::ops::Range;

use serde_json::{Value as Json, json};

use crate::adaptation::Shape;
use crate::engine::Outcome;
use crate::scenario::model::{Flow, Line, Scenario, Transfer};
use crate::transport::Transport;
use crate::units::ids::{CircuitId, FlowId, NodeId};
use crate::units::{Span, Time};

/// Transfers below this many octets are short.
const SHORT: u64 = 100_000;
/// Transfers of at least this many octets are long.
const LONG: u64 = 1_000_000;

/// A transfer that started in the measured time, and its duration.
struct Done {
    transfer: Transfer,
    /// The flow or the workload to which the transfer belongs.
    batch: usize,
    /// Duration of the transfer, if it has ended.
    time: Option<Span>,
    /// Time from the start of the transfer to its end, or to the end of the run if it has not ended.
    age: Span,
    ideal_s: f64,
}

impl Done {
    fn slowdown(&self) -> Option<f64> {
        self.time.map(|time| time.as_secs_f64() / self.ideal_s)
    }
}

/// Add the durations of transfers and queries to the summary, if there are any.
pub(super) fn append_to_summary(summary: &mut Json, scenario: &Scenario, outcome: &Outcome) {
    if !scenario.has_transfers() {
        return;
    }
    let all = all(scenario, outcome);
    let (answers, transfers): (Vec<&Done>, Vec<&Done>) =
        all.iter().partition(|done| done.transfer.query.is_some());
    summary["fct"] = completion(&transfers);
    let is_answer = |flow: &Flow| flow.transfer.is_some_and(|transfer| transfer.query.is_some());
    if scenario.flows.iter().any(is_answer) {
        summary["query"] = queries(&answers);
    }
}

/// Return every transfer with its size, its times and its slowdown.
pub(super) fn rows(scenario: &Scenario, outcome: &Outcome) -> Json {
    let node = |index: NodeId| scenario.nodes[index].name.as_str();
    let row = |(index, flow): (FlowId, &Flow)| {
        let transfer = flow.transfer?;
        let time = time(outcome, index);
        let slowdown = time.map(|time| time.as_secs_f64() / ideal_s(scenario, flow));
        Some(json!({
            "name": flow.name,
            "from": node(flow.from),
            "to": node(flow.to),
            "octets": transfer.octets,
            "start_s": start(scenario, outcome, index).map(Time::as_secs_f64),
            "time_s": time.map(Span::as_secs_f64),
            "slowdown": slowdown,
        }))
    };
    scenario.flows.pairs().filter_map(row).collect()
}

fn all(scenario: &Scenario, outcome: &Outcome) -> Vec<Done> {
    let end = Time::ZERO + scenario.duration;
    let of_batch = |(batch, range): (usize, Range<usize>)| range.map(move |flow| (batch, FlowId::new(flow)));
    let ranges = scenario.batches().map(|(_, flows)| flows.clone()).enumerate();
    let done = |(batch, index): (usize, FlowId)| {
        let flow = &scenario.flows[index];
        let (start, time) = (start(scenario, outcome, index)?, time(outcome, index));
        let age = time.unwrap_or(end.since(start));
        let transfer = flow.transfer?;
        let counts = (Time::ZERO + scenario.warmup..=end).contains(&start);
        counts.then(|| Done { transfer, batch, time, age, ideal_s: ideal_s(scenario, flow) })
    };
    ranges.flat_map(of_batch).filter_map(done).collect()
}

/// Return when a transfer starts; `None` if it still waits for others.
fn start(scenario: &Scenario, outcome: &Outcome, flow: FlowId) -> Option<Time> {
    match outcome.flows[flow].only_transfer {
        Some(transfer) => Some(transfer.began),
        None if scenario.waits(flow) => None,
        None => Some(Time::ZERO + scenario.flows[flow].start),
    }
}

/// Return the duration of the only transfer of a flow, if it has ended.
fn time(outcome: &Outcome, flow: FlowId) -> Option<Span> {
    outcome.flows[flow].transfers.as_ref()?.times.first().copied()
}

/// Return the time that a transfer would take in an empty network, as the head of this file defines it.
fn ideal_s(scenario: &Scenario, flow: &Flow) -> f64 {
    let octets = flow.transfer.map_or(0, |transfer| transfer.octets);
    let data = u64::from(flow.payload() - flow.transport.option_bytes());
    let headers = flow.packet() - data as u32;
    let framing = scenario.vcs[flow.vc].framing;
    let shape = |octets: u64| framing.shape(octets as u32 + headers);
    let rest = octets % data;
    let last = if rest == 0 { None } else { Some(shape(rest)) };
    let back = flow.back.map_or(0.0, |back| {
        let ack =
            scenario.vcs[back].framing.shape(flow.transport.header_bytes() + flow.transport.option_bytes());
        one_way(scenario, back, 0, ack, Some(ack))
    });
    one_way(scenario, flow.vc, octets / data, shape(data), last) + back
}

/// Return the seconds until the last of `full` equal frames, and of one that may follow, has reached the end of a
/// circuit. Each node sends a unit on as soon as the unit has arrived, and units of equal size wait only at the
/// slowest line. The last frame may be smaller and catch up with the frames before it; the line where this delays it
/// most determines its arrival.
fn one_way(scenario: &Scenario, vc: CircuitId, full: u64, shape: Shape, last: Option<Shape>) -> f64 {
    let lines = || scenario.vcs[vc].path.iter().map(|&line| &scenario.lines[line]);
    let travel = |line: &Line| (line.delay.least() + scenario.nodes[line.to].latency).as_secs_f64();
    let slowness: Vec<(f64, u16)> =
        lines().map(|line| (8.0 / line.sending_rate().as_f64(), line.minimum)).collect();
    let through = |units: u64, bytes: u16, lines: &[(f64, u16)]| {
        let padding = |minimum: u16| f64::from(bytes.max(minimum)) / f64::from(bytes.max(1));
        let slow = lines.iter().map(|&(slowness, minimum)| slowness * padding(minimum));
        let slowest = slow.clone().fold(0.0, f64::max);
        let behind = units.saturating_sub(1) as f64 * slowest;
        f64::from(bytes) * (slow.sum::<f64>() + behind)
    };
    let units = full * u64::from(shape.units);
    let sending = match last {
        None => through(units, shape.bytes, &slowness),
        Some(last) if units == 0 => through(last.units.into(), last.bytes, &slowness),
        Some(last) => (0..slowness.len())
            .map(|meeting| {
                let ahead = through(units, shape.bytes, &slowness[..=meeting]);
                ahead + through(last.units.into(), last.bytes, &slowness[meeting..])
            })
            .fold(0.0, f64::max),
    };
    sending + lines().map(travel).sum::<f64>()
}

fn completion(transfers: &[&Done]) -> Json {
    let of = |belongs: &dyn Fn(u64) -> bool| -> Vec<&Done> {
        transfers.iter().copied().filter(|done| belongs(done.transfer.octets)).collect()
    };
    let unfinished: Vec<&&Done> = transfers.iter().filter(|done| done.time.is_none()).collect();
    json!({
        "count": transfers.len() - unfinished.len(),
        "unfinished": unfinished.len(),
        "unfinished_age_max_s": unfinished.iter().map(|done| done.age).max().map(Span::as_secs_f64),
        "slowdown": {
            "all": slowdowns(transfers),
            "short": slowdowns(&of(&|octets| octets < SHORT)),
            "medium": slowdowns(&of(&|octets| (SHORT..LONG).contains(&octets))),
            "long": slowdowns(&of(&|octets| octets >= LONG)),
        },
    })
}

/// Return exact percentiles of the slowdown of ended transfers, and the numbers of ended and of unfinished transfers.
fn slowdowns(transfers: &[&Done]) -> Json {
    let slowdowns = transfers.iter().filter_map(|done| done.slowdown());
    let mut entry = spread(slowdowns.collect());
    let unfinished: Vec<f64> = transfers
        .iter()
        .filter(|done| done.time.is_none())
        .map(|done| done.age.as_secs_f64() / done.ideal_s)
        .collect();
    entry["unfinished"] = unfinished.len().into();
    entry["unfinished_max"] = unfinished.into_iter().reduce(f64::max).into();
    entry
}

/// Return count, mean and percentiles (nearest rank) of values.
fn spread(mut values: Vec<f64>) -> Json {
    values.sort_unstable_by(f64::total_cmp);
    let rank = |permille: usize| {
        let rank = (permille * values.len()).div_ceil(1000);
        rank.checked_sub(1).map(|rank| values[rank])
    };
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    json!({
        "count": values.len(),
        "mean": if values.is_empty() { None } else { Some(mean) },
        "p50": rank(500), "p95": rank(950), "p99": rank(990), "p999": rank(999),
    })
}

/// Return the durations of queries; a query is complete when the last of its answers is.
fn queries(answers: &[&Done]) -> Json {
    let same =
        |one: &&Done, other: &&Done| (one.batch, one.transfer.query) == (other.batch, other.transfer.query);
    let complete = |query: &[&Done]| {
        query
            .iter()
            .map(|done| done.time)
            .max()
            .flatten()
            .filter(|_| query.iter().all(|done| done.time.is_some()))
    };
    let times: Vec<Option<Span>> = answers.chunk_by(same).map(complete).collect();
    let mut entry = spread(times.iter().flatten().map(|time| time.as_secs_f64()).collect());
    entry["unfinished"] = times.iter().filter(|time| time.is_none()).count().into();
    entry
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_order_statistics() {
        let entry = spread((1..=1000).rev().map(f64::from).collect());
        assert_eq!(entry["p50"], 500.0);
        assert_eq!([&entry["p95"], &entry["p99"], &entry["p999"]], [950.0, 990.0, 999.0]);
        assert_eq!((&entry["count"], &entry["mean"]), (&json!(1000), &json!(500.5)));
        let none = spread(Vec::new());
        assert_eq!((&none["count"], &none["p50"], &none["mean"]), (&json!(0), &Json::Null, &Json::Null));
    }
}
