//! End systems as a whole: processors that need time for every segment (paper 003, section 4.1), and many connections
//! on one circuit (paper 002, section VI).

use pushout_core::audit::audit;
use pushout_core::engine::{self, Outcome};
use pushout_core::report::report;
use pushout_core::scenario::load;
use pushout_core::scenario::model::Scenario;
use pushout_core::serde_json::Value as Json;

/// The local network of paper 003.
const LAN: &str = r#"
name = "hosts"
duration = "1 s"
warmup = "100 ms"
[topology]
template = "dumbbell"
sources = 1
access     = { rate = "155.52 Mb/s", delay = "5 us" }
bottleneck = { rate = "155.52 Mb/s", delay = "5 us" }
egress     = { rate = "155.52 Mb/s", delay = "5 us" }
[adaptation]
kind = "aal5"
llc_snap = true
[port.bottleneck]
buffer = "3000 cells"
admission = { policy = "epd", threshold = "1000 cells" }
[flows]
source = { kind = "greedy" }
processing = "300 us"
processing_variation = "10 us"
[flows.transport]
kind = "tcp"
mss = 2048
delayed_ack = false
slow_timer = "10 us"
fast_timer = "10 us"
min_rto = "10 ms"
initial_rto = "500 ms"
"#;

fn run(sets: &[&str]) -> (Scenario, Outcome) {
    let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
    let scenario = load(LAN, "hosts.toml", &sets).unwrap_or_else(|why| panic!("{why}"));
    let outcome = engine::run(&scenario, false);
    assert_eq!(audit(&scenario, &outcome).failures, Vec::<String>::new(), "{sets:?}");
    (scenario, outcome)
}

/// Goodput of every flow in megabits per second.
fn goodputs(sets: &[&str]) -> Vec<f64> {
    let (scenario, outcome) = run(sets);
    let seconds = (scenario.duration - scenario.warmup).as_secs_f64();
    let rate = |bytes: u64| bytes as f64 * 8e-6 / seconds;
    outcome.flows.iter().map(|flow| rate(flow.figures.bytes)).collect()
}

/// The whole document of a run.
fn document(sets: &[&str]) -> Json {
    let (scenario, outcome) = run(sets);
    report(&scenario, &outcome, None)
}

fn near(value: f64, wanted: f64, tolerance: f64) {
    assert!((value / wanted - 1.0).abs() < tolerance, "{value} instead of {wanted}");
}

#[test]
fn one_connection_with_an_acknowledgement_for_each_segment_gets_two_processing_times_per_segment() {
    near(goodputs(&[])[0], 2048.0 * 8.0 / 600.0, 0.003);
    near(goodputs(&["flows.processing=1 ms"])[0], 2048.0 * 8.0 / 2000.0, 0.01);
}

#[test]
fn an_acknowledgement_for_every_second_segment_leaves_the_processors_more_time() {
    let delayed = "flows.transport.delayed_ack=true";
    near(goodputs(&[delayed, "flows.transport.fast_timer=50 ms"])[0], 2.0 * 2048.0 * 8.0 / 900.0, 0.01);
    near(goodputs(&[delayed])[0], 2048.0 * 8.0 / 600.0, 0.003); // the timer does not wait for a second segment
}

#[test]
fn without_processing_times_the_line_is_the_limit() {
    let sets = ["flows.processing=0 s", "flows.processing_variation=0 s"];
    near(goodputs(&sets)[0], 155.52 * 2048.0 / 2332.0, 0.003);
}

#[test]
fn every_connection_has_processors_of_its_own() {
    let rates = goodputs(&["topology.sources=4"]);
    rates.iter().for_each(|rate| near(*rate, 27.31, 0.005));
    let rates = goodputs(&["flows.connections=3"]);
    assert_eq!(rates.len(), 3);
    rates.iter().for_each(|rate| near(*rate, 27.31, 0.005));
}

#[test]
fn a_processor_that_takes_no_time_after_all_loses_nothing() {
    let rates = goodputs(&["flows.processing=1 us", "flows.processing_variation=1 us"]);
    assert!(rates[0] > 100.0, "{rates:?}");
}

#[test]
fn connections_on_one_circuit_compete_as_on_circuits_of_their_own() {
    let none = ["flows.processing=0 s", "flows.processing_variation=0 s", "topology.sources=2"];
    let sets = [&none[..], &["flows.connections=5", "flows.start_spread=20 ms"]].concat();
    let rates = goodputs(&sets);
    assert_eq!(rates.len(), 10);
    assert!(rates.iter().all(|rate| *rate > 1.0), "{rates:?}");
    assert!((120.0..136.6).contains(&rates.iter().sum::<f64>()), "{rates:?}");
}

#[test]
fn a_circuit_reports_what_all_its_flows_get() {
    let document = document(&["topology.sources=2", "flows.connections=2"]);
    let names: Vec<&str> = document["circuits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|circuit| circuit["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["flow1", "flow2", "flow1.back", "flow2.back"]);
    let goodput = |list: &str, index: usize| document[list][index]["goodput_bps"].as_f64().unwrap();
    near(goodput("circuits", 1), goodput("flows", 2) + goodput("flows", 3), 1e-12);
    assert_eq!(goodput("circuits", 2), 0.0);
}
