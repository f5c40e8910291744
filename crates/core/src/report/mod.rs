//! The report of one run: every figure by its name in the JSON document that commands print.

mod brief;

mod classes;

mod curves;

mod deliveries;

mod figures;

mod ideal;

mod memories;

mod pauses;

pub mod keys;

mod transfers;

mod workload;

mod completion;

pub use brief::{Listing, WAITING};
pub use figures::{figures, no_entry};
pub use ideal::ideal_rates;

use brief::Listed;
use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Map, Value as Json, json};

use crate::audit::Audit;
use crate::engine::{self, Outcome};
use crate::host::figures::{Coding, Figures};
use crate::language::spec::Field;
use crate::link::gate::Gate;
use crate::link::gate::credit::CreditReceiver;
use crate::metrics::fairness;
use crate::scenario::Warning;
use crate::scenario::model::{Line, Scenario};
use crate::source::Source;
use crate::transport::{self, Transport};
use crate::units::Time;
use crate::units::ids::{CircuitId, FlowId, IdVec, LineId};
use crate::verdict::Reason;

/// The report of a run. Its text is written entry by entry, so that only the longest entry must fit into memory.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// The scenario that was run.
    pub scenario: &'a Scenario,
    /// The outcome of the run.
    pub outcome: &'a Outcome,
    /// The warnings about the scenario.
    pub warnings: &'a [Warning],
    /// The findings of the audit, if there was one.
    pub audit: Option<&'a Audit>,
    /// Time that the event loop took, if the caller has a clock.
    pub wall_s: Option<f64>,
    /// Which flows, ports and circuits the report lists.
    pub listing: Listing,
}

/// Return the JSON document of a run without warnings; `engine.wall_s` is null.
pub fn report(scenario: &Scenario, outcome: &Outcome, audit: Option<&Audit>) -> Json {
    Report { scenario, outcome, warnings: &[], audit, wall_s: None, listing: Listing::All }.document()
}

impl Report<'_> {
    /// Return the report as a JSON document.
    pub fn document(&self) -> Json {
        serde_json::to_value(self).expect("a report is JSON")
    }

    /// Format the report as text.
    pub fn text(&self) -> String {
        serde_json::to_string(self).expect("a report is JSON")
    }
}

impl Serialize for Report<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Report { scenario, outcome, warnings, audit, wall_s, listing } = *self;
        let all = Flows::new(scenario, outcome);
        let listed = Listed::new(listing, scenario, outcome, &all.asked);
        let mut document = serializer.serialize_map(None)?;
        document.serialize_entry("scenario", &scenario.name)?;
        document.serialize_entry("seed", &scenario.seed)?;
        document.serialize_entry("duration_s", &scenario.duration.as_secs_f64())?;
        document.serialize_entry("warmup_s", &scenario.warmup.as_secs_f64())?;
        document.serialize_entry("engine", &engine_json(scenario, outcome, wall_s))?;
        let warnings = [warnings, &pauses::warnings(scenario, outcome)].concat();
        document.serialize_entry("warnings", &List(warnings.len(), |i: usize| warnings[i].json()))?;
        let flow = |i: usize| flow_json(scenario, outcome, &all, listed.flows[i]);
        document.serialize_entry("flows", &List(listed.flows.len(), flow))?;
        let port = |i: usize| port_json(scenario, outcome, listed.ports[i]);
        document.serialize_entry("ports", &List(listed.ports.len(), port))?;
        if !scenario.memories.is_empty() {
            document.serialize_entry("memories", &memories::entries(scenario, outcome))?;
        }
        let circuit = |i: usize| circuit_json(scenario, outcome, listed.circuits[i], &all.shared);
        document.serialize_entry("circuits", &List(listed.circuits.len(), circuit))?;
        if let Some(omitted) = &listed.omitted {
            document.serialize_entry("omitted", omitted)?;
        }
        if scenario.measure.transfers && scenario.has_transfers() {
            document.serialize_entry("transfers", &completion::rows(scenario, outcome))?;
        }
        let mut summary = summary(scenario, outcome, &all);
        curves::append_to_summary(&mut summary, scenario, outcome);
        document.serialize_entry("summary", &summary)?;
        if let Some(audit) = audit {
            let audit = json!({ "checks": audit.checks, "failures": audit.failures });
            document.serialize_entry("audit", &audit)?;
        }
        document.end()
    }
}

/// A list of a given length, whose entries are built while they are written.
struct List<F>(usize, F);

impl<F: Fn(usize) -> Json> Serialize for List<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((0..self.0).map(&self.1))
    }
}

fn engine_json(scenario: &Scenario, outcome: &Outcome, wall_s: Option<f64>) -> Json {
    json!({
        "name": engine::chosen(scenario).0.write(),
        "version": env!("CARGO_PKG_VERSION"),
        "cell_hops": outcome.work.cell_hops,
        "packet_hops": outcome.work.packet_hops,
        "events": outcome.work.events,
        "draws": outcome.work.draws,
        "wall_s": wall_s,
    })
}

/// The counts of the flows.
struct Flows<'a> {
    figures: IdVec<FlowId, &'a Figures>,
    /// Goodput in bits per second.
    rates: IdVec<FlowId, f64>,
    /// The flows that the scenario names, without the transfers that sources have drawn.
    asked: Vec<FlowId>,
    shared: SharedCircuits,
}

impl Flows<'_> {
    fn new<'a>(scenario: &Scenario, outcome: &'a Outcome) -> Flows<'a> {
        let figures: IdVec<FlowId, &Figures> = outcome.flows.iter().map(|flow| &flow.figures).collect();
        let seconds = (scenario.duration - scenario.warmup).as_secs_f64();
        let rates: IdVec<FlowId, f64> =
            figures.iter().map(|figures| figures.bytes as f64 * 8.0 / seconds).collect();
        let shared = SharedCircuits::new(scenario, rates.as_slice());
        let asked = rates.keys().filter(|&flow| scenario.flows[flow].transfer.is_none()).collect();
        Flows { figures, rates, asked, shared }
    }

    /// Return the rates of the flows that the scenario names.
    fn asked_rates(&self) -> Vec<f64> {
        self.asked.iter().map(|&flow| self.rates[flow]).collect()
    }
}

/// Return the circuits of the flows that the scenario names.
fn asked_circuits(scenario: &Scenario) -> Vec<CircuitId> {
    let mut drawn = IdVec::filled(false, scenario.vcs.len());
    for flow in scenario.flows.iter().filter(|flow| flow.transfer.is_some()) {
        drawn[flow.vc] = true;
        flow.back.into_iter().for_each(|vc| drawn[vc] = true);
    }
    drawn.keys().filter(|&vc| !drawn[vc]).collect()
}

fn flow_json(scenario: &Scenario, outcome: &Outcome, all: &Flows<'_>, index: FlowId) -> Json {
    let (spec, figures) = (&scenario.flows[index], all.figures[index]);
    let mut flow = json!({
        "name": spec.name,
        "vc": spec.vc.0,
        "goodput_bps": all.rates[index],
        "segments_sent": figures.sent,
        "segments_retransmitted": figures.retransmitted,
        "segments_received": figures.received,
        "timeouts": figures.timeouts,
        "fast_retransmits": figures.fast_retransmits,
        "transfers": figures.transfers,
        "delivery_time_mean_s": figures.delivery.mean_s(),
        "delivery_time_sd_s": figures.delivery.sd_s(),
    });
    if let Some(coding) = &figures.coded {
        append_coding(&mut flow, coding);
    }
    if spec.transport.ecn() {
        flow["segments_marked"] = figures.marked.into();
        flow["mark_reactions"] = figures.mark_reactions.into();
    }
    if matches!(&*spec.transport, transport::Spec::Tcp(tcp) if tcp.sack) {
        flow["segments_found_lost"] = figures.found_lost.into();
        flow["tail_loss_probes"] = figures.tail_probes.into();
    }
    deliveries::append(&mut flow, std::iter::once(figures));
    transfers::append_to_flow(&mut flow, &outcome.flows[index], scenario.measure.transfers);
    if !spec.class.is_empty() {
        flow["class"] = spec.class.as_str().into();
    }
    curves::append_to_flow(&mut flow, scenario, outcome, index);
    flow
}

/// Append the results of a code to a flow's entry: its counts cover data packets; parity packets are only in
/// `segments_sent`.
fn append_coding(entry: &mut Json, coding: &Coding) {
    let &Coding { data_sent, books } = coding;
    entry["packets_sent"] = data_sent.into();
    entry["packets_received"] = books.received.into();
    entry["packets_recovered"] = books.recovered.into();
    entry["packets_lost"] = books.lost.into();
    entry["blocks_whole"] = books.blocks_whole.into();
    entry["blocks_lost"] = books.blocks_lost.into();
    entry["packet_throughput"] = books.throughput().into();
}

fn port_json(scenario: &Scenario, outcome: &Outcome, index: LineId) -> Json {
    let mut port = plain_port(&scenario.lines[index], outcome, index);
    curves::append_to_port(&mut port, scenario, outcome, index);
    port
}

/// Return the part of an entry that every port has.
fn plain_port(line: &Line, outcome: &Outcome, index: LineId) -> Json {
    let port = &outcome.network.ports[index];
    let counters = port.counters();
    let marked = by_reason(|reason| counters.marked_for(reason));
    let rare = counters.rare();
    let (bin, shares) = counters.occupancy.distribution();
    let mut entry = json!({
        "name": line.name,
        "units_in": counters.units_in,
        "units_out": counters.units_out,
        "octets_out": counters.bytes_out,
        "units_queued": port.units_queued(),
        "units_given_up": rare.units_given_up,
        "octets_given_up": rare.bytes_given_up,
        "lost": by_reason(|reason| counters.lost_for(reason)),
        "frames_in": counters.frames_in,
        "frames_whole_out": counters.frames_whole_out,
        "credit_cells": rare.credit_cells,
        "credit_room": outcome.network.receiver(index).map_or(0, CreditReceiver::room),
        "occupancy_mean": counters.occupancy.mean(),
        "occupancy_max": counters.occupancy.max(),
        "occupancy_unit": line.port.measure.word(),
        "occupancy_distribution": { "bin": bin, "share": shares },
    });
    if !marked.is_empty() {
        entry["marked"] = marked.into();
    }
    if let Some(figures) = entry.as_object_mut() {
        port.gates().iter().for_each(|gate| gate.report(figures));
    }
    if rare.trimmed > 0 {
        entry["trimmed"] = rare.trimmed.into();
    }
    if rare.pause_frames > 0 {
        entry["pause_frames"] = rare.pause_frames.into();
    }
    if let Some(waits) = &rare.waits {
        deliveries::append_sojourn(&mut entry, waits);
    }
    if pauses::lost_at(port) > 0 {
        entry["lossless_drop"] = pauses::lost_at(port).into();
    }
    if line.port.capacity.is_limited() {
        let spread = counters.occupancy.spread().filter(|spread| spread.count() >= ENOUGH);
        for (name, percent) in PERCENTILES {
            entry[format!("occupancy_{name}")] = spread.and_then(|spread| spread.percentile(percent)).into();
        }
    }
    entry
}

/// Return the counts of units by reason, without the reasons whose count is zero.
fn by_reason(count: impl Fn(Reason) -> u64) -> Map<String, Json> {
    let counts = Reason::ALL.into_iter().map(|reason| (reason.word().to_string(), count(reason)));
    counts.filter(|(_, count)| *count > 0).map(|(word, count)| (word, count.into())).collect()
}

/// The throughput of each circuit of data: the sum over the flows that share the circuit.
struct SharedCircuits {
    /// Rate of each circuit; 0 for a circuit that carries only acknowledgements.
    rates: IdVec<CircuitId, f64>,
    /// Circuits of data.
    data: Vec<CircuitId>,
    /// Weighted shares of the circuits of data, if anything was delivered.
    shares: Option<Vec<f64>>,
}

impl SharedCircuits {
    fn new(scenario: &Scenario, rates: &[f64]) -> SharedCircuits {
        let mut shared = IdVec::filled(0.0, scenario.vcs.len());
        let mut has_data = IdVec::filled(false, scenario.vcs.len());
        for (flow, rate) in scenario.flows.iter().zip(rates).filter(|(flow, _)| flow.transfer.is_none()) {
            shared[flow.vc] += rate;
            has_data[flow.vc] = true;
        }
        let data: Vec<CircuitId> = has_data.keys().filter(|&vc| has_data[vc]).collect();
        let weights: Vec<f64> = data.iter().map(|&vc| scenario.vcs[vc].weight).collect();
        let of_data: Vec<f64> = data.iter().map(|&vc| shared[vc]).collect();
        SharedCircuits { shares: fairness::weighted_shares(&of_data, &weights), rates: shared, data }
    }

    /// Return the rate of each circuit of data beyond its minimum cell rate.
    fn excess(&self, scenario: &Scenario) -> Vec<f64> {
        self.data.iter().map(|&vc| self.rates[vc] - scenario.vcs[vc].mcr.as_f64()).collect()
    }

    fn share(&self, vc: CircuitId) -> Option<f64> {
        let place = self.data.binary_search(&vc).ok()?;
        self.shares.as_ref().map(|shares| shares[place])
    }
}

fn circuit_json(scenario: &Scenario, outcome: &Outcome, circuit: CircuitId, shared: &SharedCircuits) -> Json {
    let received = outcome.network.circuits[circuit].received();
    json!({
        "name": scenario.vcs[circuit].name,
        "goodput_bps": shared.rates[circuit],
        "weighted_share": shared.share(circuit),
        "frames_whole": received.whole,
        "frames_wrong_length": received.wrong_length,
        "frames_wrong_crc": received.wrong_crc,
    })
}

fn summary(scenario: &Scenario, outcome: &Outcome, flows: &Flows<'_>) -> Json {
    let Flows { figures, rates, shared, .. } = flows;
    let asked_rates = flows.asked_rates();
    let goodput: f64 = rates.iter().sum();
    // transfers that start and end during the run have no ideal
    let ideal: f64 = if scenario.has_transfers() { 0.0 } else { ideal_rates(scenario).iter().sum() };
    let mut summary = json!({
        "goodput_bps": goodput,
        "goodput_ratio": if ideal > 0.0 { Some(goodput / ideal) } else { None },
        "ideal_bps": ideal,
        "fairness_mean_deviation": fairness::mean_deviation(&asked_rates),
        "fairness_jain": fairness::jain(&shared.excess(scenario)),
        "difference": fairness::difference(&asked_rates),
        "retransmission_ratio": retransmission_ratio(scenario, figures.as_slice()),
        "weighted_deviation": shared.shares.as_deref().and_then(fairness::weighted_deviation),
        "goodput_drift": drift(scenario, figures.as_slice()),
    });
    append_slow_starts(&mut summary, outcome);
    deliveries::append(&mut summary, figures.iter().copied());
    transfers::append_to_summary(&mut summary, outcome.flows.as_slice(), Time::ZERO + scenario.duration);
    completion::append_to_summary(&mut summary, scenario, outcome);
    workload::append_to_summary(&mut summary, scenario, outcome);
    classes::append(&mut summary, scenario, figures.as_slice(), rates.as_slice());
    let coded = figures.iter().filter_map(|figures| figures.coded.as_deref().copied()).reduce(Coding::plus);
    if let Some(coding) = coded {
        append_coding(&mut summary, &coding);
    }
    summary
}

/// Compare the deliveries of the second half of the measured time with those of the first: return the difference
/// divided by the mean of both, for flows that do not stop by themselves.
fn drift(scenario: &Scenario, figures: &[&Figures]) -> Option<f64> {
    let sum = |octets: fn(&Figures) -> u64| {
        let flows = scenario.flows.iter().zip(figures);
        let lasting = flows.filter(|(flow, _)| flow.source.packets().is_none());
        lasting.map(|(_, figures)| octets(figures)).sum::<u64>() as f64
    };
    let (all, late) = (sum(|figures| figures.bytes), sum(|figures| figures.late_bytes));
    (all > 0.0).then(|| 2.0 * (2.0 * late - all) / all)
}

/// Add the number of greedy TCP flows that were still in slow start when the measured time began, if there are such
/// flows.
fn append_slow_starts(summary: &mut Json, outcome: &Outcome) {
    let greedy: Vec<bool> = outcome.flows.iter().filter_map(|flow| flow.began_in_slow_start).collect();
    if !greedy.is_empty() {
        summary["flows_in_slow_start"] = greedy.iter().filter(|starting| **starting).count().into();
    }
}

/// Return segments sent again divided by segments sent, by the flows with retransmissions.
fn retransmission_ratio(scenario: &Scenario, figures: &[&Figures]) -> Option<f64> {
    let flows = scenario.flows.iter().zip(figures);
    let (sent, again) = flows
        .filter(|(flow, _)| matches!(*flow.transport, transport::Spec::Tcp(_)))
        .fold((0, 0), |(sent, again), (_, figures)| (sent + figures.sent, again + figures.retransmitted));
    (sent > 0).then(|| again as f64 / sent as f64)
}

/// Least number of samples for percentiles of an occupancy: ten of 1000 samples lie above the 99th percentile, with
/// fewer it is not reliable.
const ENOUGH: u64 = 1000;

/// The percentiles in reports, each with the ending of its key.
const PERCENTILES: [(&str, u64); 3] = [("p50", 50), ("p95", 95), ("p99", 99)];
