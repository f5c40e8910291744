//! Content of a page, as JSON: numbers in flat lists, because there are thousands of units.

use serde_json::{Value as Json, json};

use pushout_core::buffer::size::Measure;
use pushout_core::link::gate::pause::{MOST_CLASSES, Paused};
use pushout_core::link::port::Port;
use pushout_core::scenario::model::{Line, Medium, Scenario};
use pushout_core::trace::What;
use pushout_core::trace::ring::Record;
use pushout_core::unit::Unit;
use pushout_core::units::{Span, Time};
use pushout_core::verdict::Reason;
use pushout_core::view::{FlowProgress, SenderWindow, fixed_thresholds, queue_thresholds, queued};

use crate::compare::Difference;
use crate::session::{RecentEvents, Session};
use crate::{history, memory, toml};
use pushout_core::units::ids::{FlowId, LineId};

/// Return the constants of a run.
pub(crate) fn scenario(session: &Session) -> Json {
    let Session { scenario, stepper, .. } = session;
    let port = session.port;
    let explained = pushout_core::scenario::explain(scenario);
    let state = history::state(&stepper.network().ports[port]);
    let losses = explained["loss"].as_array().into_iter().flatten().map(|loss| toml::inline(&stated(loss)));
    let vc = |spec: &pushout_core::scenario::model::Vc| spec.flow.map(|flow| &scenario.flows[flow].name);
    json!({
        "name": scenario.name,
        "title": scenario.title,
        "seed": scenario.seed.to_string(), // a number of JavaScript holds 53 bits
        "duration": scenario.duration.0,
        "warmup": scenario.warmup.0,
        "ports": scenario.lines.iter().map(line).collect::<Vec<_>>(),
        "port": port.0,
        "course": course(scenario, port),
        "thresholds": fixed_thresholds(scenario, port).iter().map(|it| json!([it.name, it.level])).collect::<Vec<_>>(),
        "flows": scenario.flows.iter().map(|flow| &flow.name).collect::<Vec<_>>(),
        "listed": numbers(&history::listed(scenario, port)),
        "passing": numbers(&history::passing(scenario, port)),
        "state": state.iter().map(|it| json!([it.name, it.queue])).collect::<Vec<_>>(),
        "losses": losses.collect::<Vec<_>>(),
        "circuits": scenario.vcs.iter().map(vc).collect::<Vec<_>>(),
        "reasons": Reason::ALL.map(Reason::word),
        "meanings": Reason::ALL.map(Reason::meaning),
        "memory": memory::terms(scenario, port),
        "policies": policies(scenario, port, &explained),
    })
}

/// Return what a line whose rate changes can carry, in bits per second in each of [`PARTS`] equal parts of the run; null for a constant
/// rate.
fn course(scenario: &Scenario, port: LineId) -> Option<Vec<u64>> {
    let line = &scenario.lines[port];
    if line.rate.is_constant() {
        return None;
    }
    let part = (scenario.duration.0 / PARTS as u64).max(1);
    let mut bits = vec![0_u128; PARTS];
    for time in line.rate.opportunities(scenario.seed, &line.name, scenario.duration) {
        // A packet that has left in a millisecond was sent before its end.
        let at = Span::millis(time.saturating_sub(1)).0 / part;
        bits[(at as usize).min(PARTS - 1)] += OPPORTUNITY_BITS;
    }
    Some(bits.iter().map(|bits| (bits * Span::secs(1).0 as u128 / part as u128) as u64).collect())
}

/// Return a table without its empty lists, which stand for keys that are left out.
fn stated(table: &Json) -> Json {
    let keys = table.as_object().into_iter().flatten();
    let stated = keys.filter(|(_, value)| value.as_array().is_none_or(|list| !list.is_empty()));
    stated.map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// Return the numbers of flows, as the page knows them.
fn numbers(flows: &[FlowId]) -> Vec<u32> {
    flows.iter().map(|flow| flow.0).collect()
}

/// Return the policies of a port, or of the memory that it shares, as a scenario writes them.
fn policies(scenario: &Scenario, port: LineId, explained: &Json) -> Json {
    let line = &scenario.lines[port];
    match &line.port.memory {
        Some(section) => explained["memory"][section].clone(),
        None => explained["port"][&line.name].clone(),
    }
}

fn line(line: &Line) -> Json {
    json!({
        "name": line.name,
        "measure": line.port.measure.word(),
        "capacity": line.port.capacity.limit(),
        "rate": line.rate.peak().0,
        "cells": line.medium == Medium::Cells,
        "cell": cell(line.port.measure),
        "limited": line.is_sampled(),
    })
}

/// Octets of a cell of packet memory, where packets take whole ones.
fn cell(measure: Measure) -> Option<u16> {
    match measure {
        Measure::MemoryCells(cell) => Some(cell.octets),
        Measure::Cells | Measure::Bytes | Measure::Packets => None,
    }
}

/// A run as it is now, and what was seen on the way.
pub(crate) fn picture(session: &Session, seen: &RecentEvents, have: usize) -> Json {
    let network = session.stepper.network();
    let port = &network.ports[session.port];
    let counters = port.counters();
    let marked = Reason::ALL.map(|reason| counters.marked_for(reason));
    let flows = session.history.flows().iter().map(|&flow| progress(&FlowProgress::of(&network.flows[flow])));
    let used = network.ports.iter().map(|port| port.pool().total());
    json!({
        "now": time(session.stepper.now()),
        "ended": session.stepper.now() >= session.stepper.end(),
        "units": units(session),
        "occupancy": port.pool().total(),
        "occupancies": used.collect::<Vec<_>>(),
        "paused": network.ports.iter().map(is_paused).collect::<Vec<_>>(),
        "losses": network.ports.keys().map(|port| lost(session, port)).collect::<Vec<_>>(),
        "memory": memory::filled(network, session.port),
        "queue_thresholds": queue_thresholds(network, session.port),
        "sent": counters.units_out,
        "lost": session.stepper.tracer().lost(session.port),
        "marked": marked,
        "flows": flows.collect::<Vec<_>>(),
        "delivered": network.flows.iter().map(|flow| FlowProgress::of(flow).delivered).collect::<Vec<_>>(),
        "records": seen.records.iter().flat_map(|it| record(session, it)).collect::<Vec<_>>(),
        "missed": seen.missed,
        "rows": session.history.since(have),
    })
}

/// Return whether a memory has stopped a class of this port.
fn is_paused(port: &Port) -> bool {
    let stops = |paused: &Paused| (0..MOST_CLASSES as u32).any(|class| paused.stops(class));
    Paused::among(port.gates()).is_some_and(stops)
}

/// Units lost at a port since the start of the run.
fn lost(session: &Session, port: LineId) -> u64 {
    session.stepper.tracer().lost(port).iter().sum()
}

/// Every unit of the buffer in [`UNIT`] numbers.
fn units(session: &Session) -> Vec<u64> {
    let queued = queued(&session.stepper.network().ports[session.port]);
    let queue = |queue: Option<usize>| queue.map_or(0, |queue| queue as u64 + 1);
    queued.flat_map(|it| [queue(it.queue)].into_iter().chain(unit(session, &it.unit))).collect()
}

/// Circuit, frame, index, octets, and marks: 1 EOM, 2 congestion, 4 first to be discarded, 8 its frame is broken.
fn unit(session: &Session, unit: &Unit) -> [u64; 5] {
    let broken = session.stepper.tracer().is_broken(unit.vc, unit.frame);
    let marks = [unit.is_eom(), unit.is_ce(), unit.is_marked(), broken];
    let marks = marks.iter().enumerate().map(|(bit, &is_set)| u64::from(is_set) << bit).sum();
    [unit.vc.0.into(), unit.frame.into(), unit.index.into(), unit.bytes.into(), marks]
}

/// Its time, what happened (0 arrives, 1 leaves, from 2 on lost for this reason), and the unit.
fn record(session: &Session, it: &Record) -> [u64; 7] {
    let [vc, frame, index, bytes, marks] = unit(session, &it.unit);
    [time(it.time), what(it.what), vc, frame, index, bytes, marks]
}

fn what(what: What) -> u64 {
    match what {
        What::Arrives => 0,
        What::Leaves => 1,
        What::Lost(reason) => 2 + reason as u64,
    }
}

fn progress(FlowProgress { delivered, window }: &FlowProgress) -> Json {
    let window = window.map(|SenderWindow { cwnd, ssthresh, srtt, flight, is_recovering, reactions }| {
        json!({
            "cwnd": cwnd,
            "ssthresh": ssthresh,
            "srtt": srtt.map(|span| span.0),
            "flight": flight,
            "recovering": is_recovering,
            "timeouts": reactions[0],
            "fast_retransmits": reactions[1],
        })
    });
    json!({ "delivered": delivered, "window": window })
}

/// Return the first difference of two runs.
pub(crate) fn difference(found: Option<&Difference>) -> Json {
    let record = |it: &Record| json!({ "what": what(it.what), "circuit": it.unit.vc.0, "frame": it.unit.frame, "index": it.unit.index });
    let one = |found: &Difference| json!({ "time": time(found.time), "records": found.records.each_ref().map(|it| it.as_ref().map(record)) });
    json!({ "difference": found.map(one) })
}

pub(crate) fn time(time: Time) -> u64 {
    time.since(Time::ZERO).0
}

/// Parts of a run for which the rate of a line is shown.
const PARTS: usize = 400;
/// Bits of the packet that an opportunity sends.
const OPPORTUNITY_BITS: u128 = 8 * 1500;
