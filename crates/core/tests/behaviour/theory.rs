//! Closed forms against the engine: queues that can be solved, TCP over a path without loss, and max–min fair shares.
//!
//! What a port counts as its occupancy includes the unit in transmission: it is the number in the system, not the
//! number that waits.

use std::sync::Arc;

use pushout_core::api::{self, Request};
use pushout_core::buffer::capacity::Capacity;
use pushout_core::engine;
use pushout_core::report;
use pushout_core::scenario::model::Scenario;
use pushout_core::serde_json::Value as Json;
use pushout_core::units::{PS_PER_S, Span};

/// Time that a cell takes on a line of 155.52 Mb/s, in seconds.
const SLOT: f64 = 424.0 / 155.52e6;

fn load(text: &str, sets: &[&str]) -> Scenario {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    Request { text, name: "theory.toml", sets: &sets, ..Request::default() }.scenario().unwrap().0
}

fn run(scenario: &Scenario) -> Json {
    report::report(scenario, &engine::run(scenario, false), None)
}

/// The reports of replications with the seeds 1, 2, ….
fn replications(mut scenario: Scenario, count: u64) -> Vec<Json> {
    let mut run_with = |seed| {
        scenario.seed = seed;
        run(&scenario)
    };
    (1..=count).map(&mut run_with).collect()
}

fn number(json: &Json, pointer: &str) -> f64 {
    json.pointer(pointer)
        .and_then(Json::as_f64)
        .unwrap_or_else(|| panic!("no number at {pointer} in {json:#}"))
}

/// The report of a port.
fn port<'a>(report: &'a Json, name: &str) -> &'a Json {
    report["ports"].as_array().unwrap().iter().find(|port| port["name"] == name).unwrap()
}

/// Share of samples that found more than `level` units in a port, for levels that have bins of their own.
fn share_above(port: &Json, level: usize) -> f64 {
    let distribution = &port["occupancy_distribution"];
    assert_eq!(distribution["bin"], 1, "the bins have become too wide");
    let shares = distribution["share"].as_array().unwrap();
    shares.iter().skip(level + 1).map(|share| share.as_f64().unwrap()).sum()
}

/// The expected value must be within the 99 % confidence interval of the mean, so that the five comparisons of a test
/// hold together with 95 % (Bonferroni); and the interval must be narrow: its half width at most `precision` of the
/// expected value.
fn agrees(what: &str, measured: &[f64], expected: f64, precision: f64) {
    let n = measured.len() as f64;
    let mean = measured.iter().sum::<f64>() / n;
    let variance = measured.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
    let quantile = if measured.len() == REPLICATIONS as usize { 2.861 } else { 2.578 };
    let half = quantile * (variance / n).sqrt();
    assert!((mean - expected).abs() <= half, "{what}: {mean} ± {half}, but theory says {expected}");
    assert!(half <= precision * expected, "{what}: ± {half} is too wide to say anything about {expected}");
}

/// Replications of a queue that starts anew in each, and sets of phases. [`agrees`] knows Student's quantiles of both.
const REPLICATIONS: u64 = 20;
const PHASES: u64 = 2000;

/// `|measured / expected - 1| <= tolerance`.
fn close(what: &str, measured: f64, expected: f64, tolerance: f64) {
    let error = (measured / expected - 1.0).abs();
    assert!(error <= tolerance, "{what}: {measured}, but theory says {expected} (off by {error:.2e})");
}

// -- M/D/1 ---------------------------------------------------------------------------------------------------------

/// Probabilities that an M/D/1 system holds 0, 1, … customers (L. Kleinrock, "Queueing Systems", vol. 1, 1975,
/// section 5.6, from the embedded chain).
fn md1(rho: f64, most: usize) -> Vec<f64> {
    let poisson: Vec<f64> =
        std::iter::successors(Some((0.0, (-rho).exp())), |(k, p)| Some((k + 1.0, p * rho / (k + 1.0))))
            .map(|(_, p)| p)
            .take(most + 2)
            .collect();
    let mut pi = vec![1.0 - rho];
    for j in 0..most {
        let others: f64 = (1..=j).map(|i| pi[i] * poisson[j + 1 - i]).sum();
        pi.push((pi[j] - pi[0] * poisson[j] - others) / poisson[0]);
    }
    pi
}

const POISSON: &str = r#"
    name = "M/D/1"
    duration = "550 ms"
    warmup = "50 ms"
    sample = "5 us"
    port = { line = { buffer = "1000000 cells" } } # only limited buffers are sampled
    node = [{ name = "a", kind = "host" }, { name = "b", kind = "host" }]
    link = [{ name = "line", from = "a", to = "b", rate = "155.52 Mb/s", delay = "30 us" }]
    flow = [{ name = "cells", from = "a", to = "b", source = { kind = "poisson", rate = "1 b/s" }, transport = { kind = "cells" } }]
"#;

fn poisson_cells_are_md1(rho: f64, precision: f64) {
    let rate = format!("flow.cells.source.rate={} b/s", (rho * 155.52e6).round());
    let reports = replications(load(POISSON, &[&rate]), REPLICATIONS);
    let of = |pick: &dyn Fn(&Json) -> f64| reports.iter().map(pick).collect::<Vec<_>>();
    let waiting = rho / (2.0 * (1.0 - rho));
    let in_system = rho + rho * waiting;
    let mean = of(&|report| number(port(report, "line"), "/occupancy_mean"));
    agrees("mean number in the system", &mean, in_system, precision);
    let delay = of(&|report| number(report, "/flows/0/delivery_time_mean_s") - 30e-6);
    agrees("mean time in the system", &delay, SLOT * (1.0 + waiting), precision);
    let pi = md1(rho, 40);
    for level in [0, 1, 4] {
        let above = of(&|report| share_above(port(report, "line"), level));
        let expected = 1.0 - pi[..=level].iter().sum::<f64>();
        agrees(&format!("share of samples with more than {level} cells"), &above, expected, 5.0 * precision);
    }
}

#[test]
fn poisson_cells_at_half_load_queue_as_in_md1() {
    poisson_cells_are_md1(0.5, 0.01);
}

#[test]
fn poisson_cells_at_load_0_8_queue_as_in_md1() {
    poisson_cells_are_md1(0.8, 0.015);
}

#[test]
fn poisson_cells_at_load_0_9_queue_as_in_md1() {
    poisson_cells_are_md1(0.9, 0.03);
}

// -- N·D/D/1 -------------------------------------------------------------------------------------------------------

/// Pr{more than `r` slots of work are in the system} with `n` periodic sources of period `d` slots and independent
/// uniform phases (J. W. Roberts, J. T. Virtamo, "The superposition of periodic cell arrival streams in an ATM
/// multiplexer", IEEE Trans. Communications 39(2), 1991). A system with work in (r − 1, r] holds r cells, so for whole
/// `r` this is the probability of more than `r` cells, the one in transmission included.
fn nd_d_1(n: u32, d: f64, r: u32) -> f64 {
    let choose = |k: u32| (0..k).map(|i| f64::from(n - i) / f64::from(i + 1)).product::<f64>();
    let term = |k: u32| {
        let (late, x) = (f64::from(k - r), f64::from(k - r) / d);
        choose(k) * x.powf(f64::from(k)) * (1.0 - x).powf(f64::from(n - k)) * (d - f64::from(n - r))
            / (d - late)
    };
    (r + 1..=n).map(term).sum()
}

/// `n` sources with a period of `d` slots and random phases, measured over exactly one period after three to settle.
fn periodic(n: u32, d: u64) -> Scenario {
    let period = (SLOT * d as f64 * PS_PER_S as f64) as u64;
    let text = format!(
        r#"
        name = "N·D/D/1"
        duration = "{} ps"
        warmup = "{} ps"
        sample = "1 us"
        port = {{ bottleneck = {{ buffer = "{n} cells" }} }}
        topology = {{ template = "dumbbell", sources = {n}, access = {{ rate = "155.52 Mb/s", delay = "5 us" }}, bottleneck = {{ rate = "155.52 Mb/s", delay = "5 us" }}, egress = {{ rate = "155.52 Mb/s", delay = "5 us" }} }}
        flows = {{ start_spread = "{} ps", source = {{ kind = "cbr", rate = "{} b/s" }}, transport = {{ kind = "cells" }} }}
        "#,
        4 * period,
        3 * period,
        period - 1,
        155_520_000 / d,
    );
    load(&text, &[])
}

fn periodic_cells_are_nd_d_1(n: u32, d: u64, levels: &[u32]) {
    assert_eq!(155_520_000 % d, 0, "the period is a whole number of slots");
    let reports = replications(periodic(n, d), PHASES);
    let of = |pick: &dyn Fn(&Json) -> f64| {
        reports.iter().map(|report| pick(port(report, "bottleneck"))).collect::<Vec<_>>()
    };
    let mean = (0..n).map(|r| nd_d_1(n, d as f64, r)).sum();
    agrees("mean number of cells", &of(&|port| number(port, "/occupancy_mean")), mean, 0.02);
    for &level in levels {
        let above = of(&|port| share_above(port, level as usize));
        agrees(
            &format!("share of samples with more than {level} cells"),
            &above,
            nd_d_1(n, d as f64, level),
            0.12,
        );
    }
}

#[test]
fn the_formula_for_periodic_sources_gives_their_load() {
    for (n, d) in [(1, 2.0), (10, 11.0), (40, 50.0)] {
        close("Pr{busy}", nd_d_1(n, d, 0), f64::from(n) / d, 1e-12);
    }
}

#[test]
fn forty_periodic_sources_at_load_0_8_queue_as_in_nd_d_1() {
    periodic_cells_are_nd_d_1(40, 50, &[0, 1, 2, 4]);
}

#[test]
fn eighteen_periodic_sources_at_load_0_9_queue_as_in_nd_d_1() {
    periodic_cells_are_nd_d_1(18, 20, &[0, 1, 2, 4]);
}

// -- Single cells of many sources through a switch -----------------------------------------------------------------

/// `sources` sources of single cells that together offer `load` of a port; a cell passes the access line in `access` s.
fn through_a_switch(source: &str, sources: u32, load_of_port: f64, access: &str, more: &str) -> Scenario {
    let rate = (load_of_port * 155.52e6 / f64::from(sources)).round();
    let text = format!(
        r#"
        name = "single cells"
        {more}
        topology = {{ template = "dumbbell", sources = {sources}, access = {{ rate = "{access}", delay = "5 us" }}, bottleneck = {{ rate = "155.52 Mb/s", delay = "5 us" }}, egress = {{ rate = "155.52 Mb/s", delay = "5 us" }} }}
        flows = {{ source = {{ kind = "{source}", rate = "{rate} b/s" }}, transport = {{ kind = "cells" }} }}
        "#
    );
    load(&text, &[])
}

/// The mean wait of all cells at the port, in cell times: the time from host to host less three propagation delays,
/// `access` s on the access line and two cell times.
fn mean_wait(report: &Json, access: f64) -> f64 {
    let flows = report["flows"].as_array().unwrap();
    let (mut cells, mut sum) = (0.0, 0.0);
    for flow in flows {
        let received = number(flow, "/segments_received");
        cells += received;
        sum += received * number(flow, "/delivery_time_mean_s");
    }
    let events = number(report, "/engine/events");
    assert!(events < cells / 20.0, "{events} events for {cells} cells: they do not travel as combs");
    (sum / cells - 15e-6 - access) / SLOT - 2.0
}

fn poisson_cells_wait(rho: f64) {
    let more = "duration = '550 ms'\nwarmup = '50 ms'";
    let scenario = through_a_switch("poisson", 10, rho, "100 Gb/s", more);
    let access = 424.0 / 100e9;
    let waits: Vec<f64> =
        replications(scenario, REPLICATIONS).iter().map(|report| mean_wait(report, access)).collect();
    agrees("mean wait in cell times", &waits, rho / (2.0 * (1.0 - rho)), 0.03);
}

#[test]
fn poisson_cells_of_ten_sources_at_half_load_wait_as_in_md1() {
    poisson_cells_wait(0.5);
}

#[test]
fn poisson_cells_of_ten_sources_at_load_0_8_wait_as_in_md1() {
    poisson_cells_wait(0.8);
}

/// Periodic sources in phase are the worst case of N·D/D/1: the cells of a period find 0, 1, …, n − 1 others.
fn periodic_cells_in_phase_wait(n: u32, d: u64) {
    assert!(u64::from(n) <= d, "the port sends the cells of a period within it");
    let period = (SLOT * d as f64 * PS_PER_S as f64) as u64;
    // 100 periods have been received, and no cell of the next one
    let more =
        format!("duration = '{} ps'\nport.bottleneck.buffer = '1000 cells'", 100 * period + 10_000_000);
    let scenario = through_a_switch("cbr", n, f64::from(n) / d as f64, "155.52 Mb/s", &more);
    let report = run(&scenario);
    close("mean wait in cell times", mean_wait(&report, SLOT), f64::from(n - 1) / 2.0, 1e-6);
    assert_eq!(number(port(&report, "bottleneck"), "/occupancy_max"), f64::from(n));
}

#[test]
fn periodic_cells_in_phase_at_load_0_4_wait_for_all_others() {
    periodic_cells_in_phase_wait(20, 50);
}

#[test]
fn periodic_cells_in_phase_at_load_0_9_wait_for_all_others() {
    periodic_cells_in_phase_wait(45, 50);
}

// -- M/M/1 and M/G/1 ----------------------------------------------------------------------------------------------

/// Datagrams at Poisson instants over a line of 100 Mb/s, with a load of 0.8.
const LENGTHS: &str = r#"
    name = "M/G/1"
    duration = "6 s"
    warmup = "500 ms"
    port = { line = { buffer = "100000 packets" } }
    adaptation = { kind = "packet" }
    node = [{ name = "a", kind = "host" }, { name = "b", kind = "host" }]
    link = [{ name = "line", from = "a", to = "b", rate = "100 Mb/s", delay = "0 s" }]
    flow = [{ name = "f", from = "a", to = "b", source = { kind = "poisson", rate = "80 Mb/s" }, transport = { kind = "udp" } }]
"#;

/// Packets at a port of load 0.8 by the formula of Pollaczek and Khinchine, where lengths have this squared coefficient of
/// variation (L. Kleinrock, "Queueing Systems", vol. 1, 1975, section 5.6).
fn pollaczek_khinchine(variation: f64) -> f64 {
    0.8 + 0.8 * 0.8 * (1.0 + variation) / (2.0 * (1.0 - 0.8))
}

fn lengths_queue(size: &str, expected: f64) {
    let size = format!("flow.f.source.size={size}");
    let reports = replications(load(LENGTHS, &[&size]), REPLICATIONS);
    let of = |pick: &dyn Fn(&Json) -> f64| reports.iter().map(pick).collect::<Vec<_>>();
    let packets = of(&|report| number(port(report, "line"), "/occupancy_mean"));
    agrees("mean number in the system", &packets, expected, 0.03);
}

#[test]
fn exponential_packets_queue_as_in_mm1() {
    // the shortest packet has one octet of data, which makes the sum of squares 0.15 % and the mean 0.17 % larger
    assert_eq!(pollaczek_khinchine(1.0).round(), 4.0);
    lengths_queue("{ exponential = { mean = '472 bytes' } }", pollaczek_khinchine(1.0));
}

#[test]
fn packets_of_one_length_queue_as_in_md1() {
    lengths_queue("'472 bytes'", pollaczek_khinchine(0.0));
}

#[test]
fn a_mix_of_packets_queues_as_in_mg1() {
    let mix = [(64.0 + 28.0, 7.0), (594.0 + 28.0, 4.0), (1518.0 + 28.0, 1.0)];
    let moment = |power: i32| {
        mix.iter().map(|(octets, weight): &(f64, f64)| weight * octets.powi(power)).sum::<f64>() / 12.0
    };
    let variation = moment(2) / (moment(1) * moment(1)) - 1.0;
    lengths_queue(
        "{ mix = [['64 bytes', 7], ['594 bytes', 4], ['1518 bytes', 1]] }",
        pollaczek_khinchine(variation),
    );
}

// -- Little's law and overload -------------------------------------------------------------------------------------

/// Four Poisson sources over lines too fast to queue, into a small buffer.
const LITTLE: &str = r#"
    name = "Little"
    duration = "550 ms"
    warmup = "50 ms"
    topology = { template = "dumbbell", sources = 4, access = { rate = "1 Tb/s", delay = "20 us" }, bottleneck = { rate = "155.52 Mb/s", delay = "50 us" }, egress = { rate = "1 Tb/s", delay = "10 us" } }
    [flows]
    source = { kind = "poisson", rate = "1 b/s" }
    transport = { kind = "cells" }
"#;

/// Check L = λ W at the bottleneck, with W from the delivery times of units that were not lost; `bits` are those of a
/// unit on a line.
fn littles_law_holds(scenario: &Scenario, bits: f64) {
    let report = run(scenario);
    let flows = report["flows"].as_array().unwrap();
    let arrived: f64 = flows.iter().map(|flow| number(flow, "/segments_received")).sum();
    let time: f64 = flows
        .iter()
        .map(|flow| number(flow, "/segments_received") * number(flow, "/delivery_time_mean_s"))
        .sum();
    let elsewhere = 20e-6 + 50e-6 + 10e-6 + 2.0 * bits / 1e12;
    let bottleneck = port(&report, "bottleneck");
    let throughput = number(bottleneck, "/units_out") / 0.5;
    let by_law = throughput * (time / arrived - elsewhere);
    // not exact, because some units are in flight when the measured time starts and ends
    close("Little's law", number(bottleneck, "/occupancy_mean"), by_law, 2e-3);
}

#[test]
fn littles_law_holds_at_a_port_that_loses_nothing() {
    let rate = "flows.source.rate=34.992 Mb/s"; // load 0.9
    littles_law_holds(&load(LITTLE, &[rate]), 424.0);
}

#[test]
fn littles_law_holds_at_a_port_that_loses_a_sixth_of_its_cells() {
    let sets = ["flows.source.rate=46.656 Mb/s", "port.bottleneck.buffer=25 cells"]; // load 1.2
    littles_law_holds(&load(LITTLE, &sets), 424.0);
}

#[test]
fn littles_law_holds_for_packets() {
    let sets = [
        "adaptation={kind='packet', header='18 bytes'}",
        "flows.source={kind='poisson', rate='38 Mb/s', size='500 bytes'}",
        "flows.transport={kind='udp'}",
        "port.bottleneck.buffer=20 packets",
    ];
    littles_law_holds(&load(LITTLE, &sets), 8.0 * (500.0 + 28.0 + 18.0));
}

#[test]
fn what_periodic_sources_offer_beyond_the_line_is_lost() {
    let mut scenario = periodic(10, 9); // load 10/9
    (scenario.warmup, scenario.duration) = (Span::millis(100), Span::millis(200));
    scenario
        .lines
        .iter_mut()
        .filter(|line| line.name == "bottleneck")
        .for_each(|line| Arc::make_mut(&mut line.port).capacity = Capacity::limited(30));
    let report = run(&scenario);
    let bottleneck = port(&report, "bottleneck");
    close("cells sent", number(bottleneck, "/units_out"), 0.1 / SLOT, 1e-4);
    close("cells lost", number(bottleneck, "/lost/overflow"), 0.1 / SLOT / 9.0, 1e-3);
    assert_eq!(bottleneck["occupancy_max"], 30);
    // every period of nine slots brings a tenth cell, so it fills the buffer once and drains at most nine cells
    close("share of samples with more than 20 cells", share_above(bottleneck, 20), 1.0, 1e-9);
}

// -- TCP over an idle path -----------------------------------------------------------------------------------------

/// One TCP connection over three lines of 149.76 Mb/s.
const TCP: &str = r#"
    name = "one TCP"
    duration = "20 s"
    warmup = "2 s"
    topology = { template = "dumbbell", sources = 1, access = { rate = "149.76 Mb/s", delay = "5 ms" }, bottleneck = { rate = "149.76 Mb/s", delay = "5 ms" }, egress = { rate = "149.76 Mb/s", delay = "5 ms" } }
    [flows]
    source = { kind = "greedy" }
    transport = { kind = "tcp", delayed_ack = false }
"#;

const LINE: f64 = 149.76e6;

/// Time from the start of a frame on the first of three lines until its last bit has left the third.
fn transit(units: f64, octets: f64) -> f64 {
    (units + 2.0) * octets * 8.0 / LINE + 3.0 * 5e-3
}

/// Windows per round-trip time, measured over a whole number of rounds.
fn window_limited(sets: &[&str], window: f64, rtt: f64) {
    let mut scenario = load(TCP, sets);
    scenario.duration = scenario.warmup + Span((200.0 * rtt * PS_PER_S as f64) as u64);
    let report = run(&scenario);
    assert_eq!(report["flows"][0]["segments_retransmitted"], 0);
    close("window / RTT", number(&report, "/flows/0/goodput_bps"), 8.0 * window / rtt, 5e-4);
}

#[test]
fn tcp_over_cells_sends_a_window_per_round_trip_time() {
    // 1460 + 40 + 8 octets fill 32 cells, an acknowledgement one; 64 KiB hold 44 whole segments
    window_limited(&[], 44.0 * 1460.0, transit(32.0, 53.0) + transit(1.0, 53.0));
}

#[test]
fn tcp_with_llc_snap_and_large_segments_sends_a_window_per_round_trip_time() {
    let sets = ["adaptation.llc_snap=true", "flows.transport.mss=9140", "adaptation.kind=aal5"];
    window_limited(&sets, 7.0 * 9140.0, transit(192.0, 53.0) + transit(2.0, 53.0));
}

#[test]
fn tcp_over_packets_sends_a_window_per_round_trip_time() {
    let sets = ["adaptation={kind='packet', header='18 bytes'}", "flows.transport.window=10 KB"];
    window_limited(&sets, 6.0 * 1460.0, transit(1.0, 1518.0) + transit(1.0, 58.0));
}

#[test]
fn tcp_with_a_large_window_fills_the_line_with_payload() {
    for (sets, payload) in [
        (["flows.transport.mss=1460", "flows.transport.delayed_ack=false"], 1460.0 / (32.0 * 53.0)),
        (["flows.transport.mss=1460", "flows.transport.delayed_ack=true"], 1460.0 / (32.0 * 53.0)),
        (["flows.transport.mss=9140", "flows.transport.delayed_ack=true"], 9140.0 / (192.0 * 53.0)),
        (["flows.transport.mss=512", "adaptation={kind='packet'}"], 512.0 / 552.0),
    ] {
        let scenario = load(TCP, &[&["duration=5 s", "flows.transport.window=2 MB"], &sets[..]].concat());
        let report = run(&scenario);
        assert_eq!(report["flows"][0]["segments_retransmitted"], 0);
        close("line payload rate", number(&report, "/flows/0/goodput_bps"), payload * LINE, 1e-3);
        close("goodput_ratio", number(&report, "/summary/goodput_ratio"), 1.0, 1e-3);
    }
}

// -- max–min fair shares -------------------------------------------------------------------------------------------

/// A scenario of the repository, ideal rates of its flows in bits per second.
fn ideals(file: &str, sets: &[&str]) -> Vec<f64> {
    let path = format!("{}/../../{file}", env!("CARGO_MANIFEST_DIR"));
    report::ideal_rates(&load(&std::fs::read_to_string(path).unwrap(), sets))
}

fn all_are(rates: &[f64], printed: f64, rounding: f64) {
    let wrong: Vec<_> = rates.iter().filter(|rate| (*rate - printed).abs() > rounding).collect();
    assert!(!rates.is_empty() && wrong.is_empty(), "{wrong:?}, but print says {printed}");
}

#[test]
fn the_local_network_of_paper_000_has_the_printed_ideals() {
    all_are(&ideals("scenarios/lan.toml", &["flows.transport.mss=1460"]), 12.892e6, 500.0);
    all_are(&ideals("scenarios/lan.toml", &["flows.transport.mss=9140"]), 13.451e6, 500.0);
}

#[test]
fn the_access_network_of_paper_000_has_the_printed_ideals() {
    // figure 5: fifty sources share an E3 line, of which G.832 framing leaves 33.92 Mb/s to cells
    let links = [
        "topology.sources=50",
        "topology.access.rate=10 Mb/s",
        "topology.bottleneck.rate=33.92 Mb/s",
        "topology.egress.rate=2 Mb/s",
    ];
    let with = |mss| ideals("scenarios/lan.toml", &[&links[..], &[mss]].concat());
    assert_eq!(with("flows.transport.mss=1460").len(), 50);
    all_are(&with("flows.transport.mss=1460"), 584.0e3, 50.0);
    all_are(&with("flows.transport.mss=9140"), 609.3e3, 50.0);
}

const PARKING_LOT: &str = r#"
    name = "parking lot"
    duration = "1 s"
    node = [
        { name = "r0", kind = "switch" }, { name = "r1", kind = "switch" }, { name = "r2", kind = "switch" },
        { name = "r3", kind = "switch" },
        { name = "h0", kind = "host" }, { name = "h1", kind = "host" }, { name = "h2", kind = "host" }, { name = "h3", kind = "host" },
    ]
    link = [
        { from = "r0", to = "r1", rate = "100 Mb/s", delay = "0 s" },
        { from = "r1", to = "r2", rate = "60 Mb/s", delay = "0 s" },
        { from = "r2", to = "r3", rate = "90 Mb/s", delay = "0 s" },
        { from = "h0", to = "r0", rate = "622.08 Mb/s", delay = "0 s" },
        { from = "h1", to = "r1", rate = "622.08 Mb/s", delay = "0 s" },
        { from = "h2", to = "r2", rate = "622.08 Mb/s", delay = "0 s" },
        { from = "h3", to = "r3", rate = "622.08 Mb/s", delay = "0 s" },
    ]
    flow = [
        { name = "long", from = "h0", to = "h3" },
        { name = "first", from = "h0", to = "h1", transport = { mss = 512 } },
        { name = "second", from = "h1", to = "h2", transport = { mss = 9140 } },
        { name = "also second", from = "h1", to = "h2" },
        { name = "third", from = "h2", to = "h3" },
        { name = "slow", from = "h2", to = "h3", source = { kind = "cbr", rate = "10 Mb/s" }, transport = { kind = "udp" } },
    ]
    flows = { source = { kind = "greedy" }, transport = { kind = "tcp", mss = 1460 } }
"#;

#[test]
fn flows_of_a_parking_lot_get_their_max_min_shares_of_payload() {
    let cost = |cells: f64, payload: f64| cells * 53.0 / payload;
    let [small, medium, large] = [cost(12.0, 512.0), cost(32.0, 1460.0), cost(192.0, 9140.0)];
    let shared = 60e6 / (2.0 * medium + large); // the middle line is the bottleneck of three flows
    let slow = 10e6 / cost(32.0, 1460.0); // 1460 + 28 + 8 octets fill 32 cells
    let expected = [
        shared,
        (100e6 - shared * medium) / small,
        shared,
        shared,
        (90e6 - shared * medium - 10e6) / medium,
        slow,
    ];
    let rates = report::ideal_rates(&load(PARKING_LOT, &[]));
    assert_eq!(rates.len(), expected.len());
    rates.iter().zip(expected).for_each(|(rate, share)| close("max–min share", *rate, share, 1e-9));
}

#[test]
fn the_door_for_callers_gives_the_same_report_as_the_engine() {
    let request = Request { text: PARKING_LOT, name: "theory.toml", seed: Some(7), ..Request::default() };
    let scenario = Scenario { seed: 7, ..load(PARKING_LOT, &[]) };
    let mut expected = run(&scenario);
    expected["engine"]["wall_s"] = 0.0.into();
    assert_eq!(api::run(&request, || 0.0).unwrap(), expected);
}
