//! The three models of paper 004 on the network of its figure 6: whole runs, audited.

mod closed_form;

use pushout_core::scenario::{self, model::Scenario};
use pushout_core::{audit, engine, report, serde_json};
use serde_json::Value as Json;

const GPJ: &str = include_str!("../../../../../scenarios/gpj.toml");
const TAIL_DROP: &str = "port.trunk.admission={ policy = 'tail-drop' }";
/// Models 1 and 2 drop marked cells above the gatekeeper's threshold.
const DISCARDER: &str = "port.trunk.admission={ policy = 'tail-drop', clp_threshold = '80 %' }";

fn load(seed: u64, sets: &[&str]) -> Scenario {
    let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
    let mut scenario = scenario::load(GPJ, "gpj.toml", &sets).expect("a right scenario");
    scenario.seed = seed;
    scenario
}

fn run(seed: u64, sets: &[&str]) -> Json {
    let scenario = load(seed, sets);
    let outcome = engine::run(&scenario, false);
    let audit = audit::audit(&scenario, &outcome);
    assert!(audit.failures.is_empty(), "{:?}", audit.failures);
    report::report(&scenario, &outcome, Some(&audit))
}

fn model(number: u32, seed: u64, sets: &[&str]) -> Json {
    let plain = [DISCARDER, "flows.source.parity=0", "flows.transport.parity_cells=0"];
    let more: &[&str] = match number {
        1 => &plain,
        2 => &plain[..1],
        _ => &[],
    };
    run(seed, &[more, sets].concat())
}

/// Mean packet throughput after decoding.
fn throughput(number: u32, seeds: u64, sets: &[&str]) -> f64 {
    let one = |seed| model(number, seed, sets)["summary"]["packet_throughput"].as_f64();
    (1..=seeds).filter_map(one).sum::<f64>() / seeds as f64
}

#[test]
fn every_source_sends_its_ten_blocks() {
    for (number, packets, cells) in [(1, 100, 32), (2, 110, 33), (3, 110, 33)] {
        let document = model(number, 1, &["port.trunk.buffer='unlimited'", TAIL_DROP]);
        for flow in document["flows"].as_array().unwrap() {
            assert_eq!(flow["segments_sent"], packets);
            assert_eq!((&flow["packets_sent"], &flow["packets_received"]), (&100.into(), &100.into()));
            assert_eq!((&flow["blocks_whole"], &flow["packet_throughput"]), (&10.into(), &1.0.into()));
        }
        let units = document["ports"].as_array().unwrap().iter().find(|port| port["name"] == "trunk");
        assert_eq!(units.unwrap()["units_out"], 10 * packets * cells, "model {number}");
    }
}

#[test]
fn packets_after_decoding_balance() {
    for seed in 1..=3 {
        for number in 1..=3 {
            let document = model(number, seed, &["port.trunk.buffer='1500 cells'"]);
            let summary = &document["summary"];
            let count = |key: &str| summary[key].as_u64().unwrap();
            let there = count("packets_received") + count("packets_recovered");
            assert_eq!(there + count("packets_lost"), 1000);
            assert_eq!(count("blocks_whole") + count("blocks_lost"), 100);
            assert!(count("packets_lost") > 0, "1500 cells are too few");
            let recovered = count("packets_recovered");
            assert!(
                if number == 1 { recovered == 0 } else { number == 2 || recovered > 0 },
                "model {number}"
            );
            let goodput = document["summary"]["goodput_bps"].as_f64().unwrap();
            assert!((goodput - there as f64 * 1472.0 * 8.0 / 0.4).abs() < 1.0);
        }
    }
}

#[test]
fn the_scheme_gets_more_packets_through_than_plain_correction_at_every_buffer() {
    for buffer in
        ["port.trunk.buffer='1500 cells'", "port.trunk.buffer='2500 cells'", "port.trunk.buffer='3500 cells'"]
    {
        let [two, three] = [2, 3].map(|number| throughput(number, 10, &[buffer]));
        assert!(three > two, "{buffer}: {three} against {two}");
    }
}

#[test]
fn with_a_buffer_of_3500_cells_only_the_scheme_loses_nothing() {
    let [one, two, three] = [1, 2, 3].map(|number| throughput(number, 5, &[]));
    assert!(three == 1.0 && one < 0.9 && two < one, "{one}, {two}, {three}");
}

#[test]
fn what_gets_through_of_sources_in_step_is_in_proportion_to_the_buffer() {
    let through = |cells: u32| throughput(1, 5, &[&format!("port.trunk.buffer='{cells} cells'")]);
    let each = through(1000);
    for thousands in 2..=3 {
        let ratio = through(1000 * thousands) / (each * f64::from(thousands));
        assert!((ratio - 1.0).abs() < 0.03, "{thousands}: {ratio}");
    }
}

#[test]
fn a_policer_marks_what_exceeds_the_contract_or_drops_it() {
    let police = |action: &str| {
        format!(
            "flows.police={{ kind = 'gcra', rate = '70 Mb/s', tolerance = '10 us', action = '{action}' }}"
        )
    };
    let pace = ["flows.source.peak='69.75 Mb/s'"];
    let lost = |sets: &[&str], reason: &str| {
        let document = run(1, &[&pace, sets].concat());
        let ports = document["ports"].as_array().unwrap();
        let trunk = ports.iter().find(|port| port["name"] == "trunk").unwrap();
        trunk["lost"][reason].as_u64().unwrap_or(0)
    };
    // Bursts arrive at 79.12 Mb/s on the line: except for the few cells that the tolerance lets pass, one in 8.7 is in
    // excess of 70 Mb/s.
    let policed = lost(&[&police("drop"), TAIL_DROP, "port.trunk.buffer='unlimited'"], "policed");
    assert!((0.110..0.1185).contains(&(policed as f64 / 36_300.0)), "{policed}");
    let threshold = "port.trunk.admission={ policy = 'tail-drop', clp_threshold = '0 %' }";
    let marked = lost(&[&police("tag"), threshold, "port.trunk.buffer='9000 cells'"], "marked");
    assert_eq!(marked, policed, "the same cells");
}

#[test]
fn cells_lost_at_random_cost_the_frames_and_blocks_that_the_codes_cannot_repair() {
    let noise = "flows.police={ kind = 'random', probability = 0.02, action = 'drop' }";
    let long =
        ["port.trunk.buffer='unlimited'", TAIL_DROP, noise, "flows.source.blocks=100", "duration='4 s'"];
    let summary = |sets: &[&str]| {
        let document = run(7, &[&long[..], sets].concat());
        let flows = document["flows"].as_array().unwrap().clone();
        let total = |key: &str| flows.iter().map(|flow| flow[key].as_u64().unwrap()).sum::<u64>() as f64;
        let frames = 1.0 - total("segments_received") / total("segments_sent");
        (frames, document["summary"]["blocks_lost"].as_f64().unwrap() / 1000.0)
    };
    // A frame of 33 cells survives one loss, a block of 11 frames one more.
    let (frames, blocks) = summary(&[]);
    let lost = closed_form::marked_twice(0.02, 33);
    assert!((frames - lost).abs() < 0.015, "{frames} against {lost}");
    let lost = closed_form::marked_twice(lost, 11);
    assert!((blocks - lost).abs() < 0.05, "{blocks} against {lost}");
    // Without parity cells the loss of any cell loses its frame of 32 cells, and the loss of an EOM the next frame as
    // well.
    let (frames, _) = summary(&["flows.transport.parity_cells=0"]);
    let lost = 1.0 - 0.98f64.powi(33);
    assert!((frames - lost).abs() < 0.015, "{frames} against {lost}");
}

#[test]
fn blocks_travel_over_packet_links_as_well() {
    let packets = "adaptation={ kind = 'packet' }";
    let lost = |policy: &str, buffer: &str| {
        let port = format!("port.trunk={{ buffer = '{buffer}', admission = {{ policy = '{policy}' }} }}");
        let document = run(2, &[packets, &port, "flows.transport.parity_cells=0"]);
        let count = |key: &str| document["summary"][key].as_u64().unwrap();
        assert_eq!(count("packets_received") + count("packets_recovered") + count("packets_lost"), 1000);
        assert_eq!(document["engine"]["cell_hops"], 0);
        count("packets_lost")
    };
    for buffer in ["50 packets", "75 KB"] {
        let (scheme, plain) = (lost("gatekeeper-janitor", buffer), lost("tail-drop", buffer));
        assert!(scheme < plain, "{buffer}: {scheme} against {plain}");
    }
}

#[test]
fn a_run_that_ends_early_counts_only_blocks_whose_fate_is_known() {
    let document = run(1, &["duration='50 ms'", TAIL_DROP, "port.trunk.buffer='unlimited'"]);
    let count = |key: &str| document["summary"][key].as_u64().unwrap();
    assert!(count("packets_sent") < 1000 && count("packets_lost") == 0);
    assert!(count("packets_received") < count("packets_sent"));
    assert_eq!(count("packets_received"), 10 * count("blocks_whole"));
}

#[test]
fn bursty_datagrams_have_the_given_load_and_stop_at_the_given_time() {
    let udp = "flows.transport={ kind = 'udp' }";
    let source = |more: &str| {
        format!(
            "flows.source={{ kind = 'on-off', peak = '100 Mb/s', on = '5 ms', off = '15 ms', size = '1000 bytes'{more} }}"
        )
    };
    let plain = ["duration='5 s'", TAIL_DROP, "port.trunk.buffer='unlimited'", udp];
    let document = run(3, &[&plain[..], &[&source("")]].concat());
    let (goodput, ideal) = (&document["summary"]["goodput_bps"], &document["summary"]["ideal_bps"]);
    // A quarter of 100 Mb/s for each of ten sources is more than the trunk carries, so that all of it is used.
    assert!((ideal.as_f64().unwrap() / (155e6 * 8000.0 / (22.0 * 424.0)) - 1.0).abs() < 1e-9);
    assert!((goodput.as_f64().unwrap() / ideal.as_f64().unwrap() - 1.0).abs() < 0.03, "{goodput}");
    let sent = document["flows"][0]["segments_sent"].as_f64().unwrap();
    assert!((sent * 22.0 * 424.0 / 5.0 / 25e6 - 1.0).abs() < 0.2, "{sent}");
    let document = run(3, &[&plain[..], &[&source(", total = 70")]].concat());
    for flow in document["flows"].as_array().unwrap() {
        assert_eq!((&flow["segments_sent"], &flow["segments_received"]), (&70.into(), &70.into()));
        assert!(flow.get("packets_lost").is_none(), "there is no code");
    }
}

#[test]
fn what_cannot_work_is_refused_in_words() {
    let refused = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
        scenario::load(GPJ, "gpj.toml", &sets).unwrap_err().message
    };
    assert!(refused(&["flows.transport={ kind = 'udp' }"]).contains("cbr, poisson, on-off"));
    assert!(refused(&["flows.source.peak='0 Mb/s'"]).contains("must be greater than 0 b/s"));
    assert!(refused(&["flows.source.activity=2"]).contains("must be greater than 0 and at most 1, not 2"));
    assert!(refused(&["flows.source.mtu='70000 bytes'"]).contains("65535"));
    assert!(refused(&["flows.transport.parity_cells=2000"]).contains("at most 1024"));
    assert!(refused(&["flows.police.probability=2"]).contains("from 0 to 1"));
    let packets = ["adaptation={ kind = 'packet' }", "port.trunk={ buffer = '100 packets' }"];
    assert!(refused(&packets).contains("packets have no parity cells"));
    assert!(
        refused(&["port.trunk.scheduler={ policy = 'round-robin' }"])
            .contains("needs one queue that all circuits share")
    );
}
