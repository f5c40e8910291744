//! Optional parts of a report: classes, curves over time, and both together.

use crate::behaviour::both::{entry, run_on_both};
use pushout_core::api::{self, Request};
use pushout_core::scenario::{explain, load};
use pushout_core::serde_json::Value as Json;

/// Ten TCP sources over a slow port (paper 002, section VI), in two classes with different weights.
const WAN: &str = r#"
name = "measures"
duration = "30 s"
warmup = "5 s"
sample = "100 ms"
[topology]
template = "dumbbell"
sources = 4
access     = { rate = "10 Mb/s", delay = "5 ms" }
bottleneck = { rate = "2.35 Mb/s", delay = "20 ms" }
egress     = { rate = "10 Mb/s", delay = "5 ms" }
[port.bottleneck]
buffer = "1200 cells"
admission = { policy = "wfepd" }
[flows]
source = { kind = "greedy" }
transport = { kind = "tcp", mss = 512 }
class = "many"
[[flow]]
name = "flow4"
class = "few"
weight = 3
"#;

fn run(measure: &str, sets: &[&str]) -> Json {
    let text = format!("{WAN}[measure]\n{measure}\n");
    let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
    let request =
        Request { text: &text, name: "measures.toml", sets: &sets, audit: true, ..Request::default() };
    let document = api::run(&request, || 0.0).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(document["audit"]["failures"].as_array().unwrap().len(), 0, "{:#}", document["audit"]);
    document
}

fn refused(measure: &str, wanted: &str) {
    let why = load(&format!("{WAN}[measure]\n{measure}\n"), "measures.toml", &[]).unwrap_err().message;
    assert!(why.contains(wanted), "{why}");
}

fn numbers(list: &Json) -> Vec<f64> {
    list.as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
}

fn near(value: f64, wanted: f64, tolerance: f64) {
    assert!((value - wanted).abs() <= tolerance * wanted.abs(), "{value} instead of {wanted}");
}

fn port(document: &Json) -> &Json {
    let ports = document["ports"].as_array().unwrap();
    ports.iter().find(|port| port["name"] == "bottleneck").unwrap()
}

#[test]
fn windows_without_gaps_add_up_to_the_goodput() {
    let document = run("window = \"5 s\"", &[]);
    for flow in document["flows"].as_array().unwrap() {
        let curve = numbers(&flow["throughput"]["bps"]);
        assert_eq!((curve.len(), &flow["throughput"]["start_s"]), (5, &Json::from(5.0)));
        near(curve.iter().sum::<f64>() / 5.0, flow["goodput_bps"].as_f64().unwrap(), 1e-9);
    }
}

#[test]
fn moving_windows_overlap() {
    let document = run("window = \"5 s\"\nstep = \"1 s\"", &[]);
    let flow = &document["flows"][0];
    let curve = numbers(&flow["throughput"]["bps"]);
    assert_eq!(curve.len(), 21);
    let apart: f64 = curve.iter().step_by(5).sum::<f64>();
    near(apart / 5.0, flow["goodput_bps"].as_f64().unwrap(), 1e-9);
}

#[test]
fn the_flows_deviate_from_window_to_window() {
    let document = run("window = \"5 s\"", &[]);
    let deviations = numbers(&document["summary"]["throughput_deviation"]);
    let flows = document["flows"].as_array().unwrap();
    let rates: Vec<Vec<f64>> = flows.iter().map(|flow| numbers(&flow["throughput"]["bps"])).collect();
    assert_eq!((deviations.len(), rates.len()), (5, 4));
    for (window, deviation) in deviations.into_iter().enumerate() {
        let mean = rates.iter().map(|rates| rates[window]).sum::<f64>() / 4.0;
        let variance = rates.iter().map(|rates| (rates[window] - mean).powi(2)).sum::<f64>() / 4.0;
        near(deviation, variance.sqrt() / mean, 1e-9);
    }
}

#[test]
fn datagrams_are_counted_over_time_where_they_arrive() {
    let udp = [
        "flow.flow1.source={kind=\"cbr\", rate=\"100 kb/s\", size=\"512 bytes\"}",
        "flow.flow1.transport={kind=\"udp\"}",
        "port.bottleneck.admission={policy=\"tail-drop\"}",
        "port.bottleneck.buffer=100000 cells",
    ];
    let document = run("window = \"5 s\"", &udp);
    let curve = numbers(&document["flows"][0]["throughput"]["bps"]);
    curve.iter().for_each(|rate| near(*rate, 100e3 * 512.0 / 636.0, 0.03));
}

#[test]
fn the_kept_samples_have_the_reported_distribution() {
    let document = run("occupancy = [\"bottleneck\"]", &[]);
    let port = port(&document);
    let samples = numbers(&port["occupancy"]["values"]);
    assert_eq!(samples.len(), 250);
    assert_eq!((&port["occupancy"]["start_s"], &port["occupancy"]["step_s"]), (&5.0.into(), &0.1.into()));
    let bin = port["occupancy_distribution"]["bin"].as_f64().unwrap();
    for (index, share) in numbers(&port["occupancy_distribution"]["share"]).into_iter().enumerate() {
        let found = samples.iter().filter(|sample| (*sample / bin).floor() == index as f64).count();
        near(found as f64 / 250.0, share, 1e-12);
    }
    assert!(samples.iter().any(|sample| *sample > 10.0));
}

#[test]
fn losses_over_time_add_up_to_those_of_the_port() {
    for engine in ["engine=\"reference\"", "engine=\"fast\""] {
        let document = run("losses = [\"bottleneck\"]", &[engine]);
        let (losses, lost) = (&port(&document)["losses"], &port(&document)["lost"]);
        assert_eq!((&losses["start_s"], &losses["step_s"]), (&5.0.into(), &0.1.into()));
        assert!(lost["random"].as_u64().unwrap() > 0, "{lost}");
        for (reason, units) in losses["units"].as_object().unwrap() {
            let units: Vec<u64> =
                units.as_array().unwrap().iter().map(|each| each.as_u64().unwrap()).collect();
            assert_eq!(units.len(), 250, "{reason}");
            assert_eq!(units.iter().sum::<u64>(), lost[reason].as_u64().unwrap_or(0), "{reason}");
        }
    }
}

#[test]
fn the_congestion_window_over_time_is_the_same_with_both_engines() {
    let cwnd = |engine: &str| {
        let document = run("cwnd = [\"few\"]", &[engine]);
        let flows = document["flows"].as_array().unwrap();
        assert!(flows[..3].iter().all(|flow| flow.get("cwnd").is_none()), "nothing asks for these");
        assert_eq!((&flows[3]["cwnd"]["start_s"], &flows[3]["cwnd"]["step_s"]), (&5.0.into(), &0.1.into()));
        numbers(&flows[3]["cwnd"]["octets"])
    };
    let (reference, fast) = (cwnd("engine=\"reference\""), cwnd("engine=\"fast\""));
    assert_eq!(reference, fast);
    assert_eq!(reference.len(), 251, "the last sample is that at the end");
    assert!(reference.iter().all(|octets| *octets >= 512.0));
    let falls = reference.windows(2).filter(|pair| pair[1] < pair[0]).count();
    let rises = reference.windows(2).filter(|pair| pair[1] > pair[0]).count();
    assert!(falls > 0 && rises > falls, "a saw tooth: {falls} falls, {rises} rises");
}

#[test]
fn a_meter_follows_the_circuits_that_pass_its_port() {
    let document = run("meter = [\"bottleneck\"]", &["port.bottleneck.admission.memory=0.99"]);
    let circuits = port(&document)["meter"]["circuits"].as_array().unwrap();
    assert_eq!(
        circuits.iter().map(|circuit| circuit["name"].as_str().unwrap()).collect::<Vec<_>>(),
        ["flow1", "flow2", "flow3", "flow4"]
    );
    let means = circuits.iter().map(|circuit| {
        let rates = numbers(&circuit["bps"]);
        assert_eq!(rates.len(), 250);
        rates.iter().sum::<f64>() / 250.0
    });
    let means: Vec<f64> = means.collect();
    for (flow, mean) in document["flows"].as_array().unwrap().iter().zip(means) {
        near(mean, flow["goodput_bps"].as_f64().unwrap() * 636.0 / 512.0, 0.1);
    }
}

#[test]
fn a_meter_shows_the_division_of_the_line() {
    // Section V.D of paper 002 in cells per 10 ms: the offers of six constant streams in the first interval are
    // accepted.
    let streams = [(0.25, 30), (0.2, 30), (0.15, 30), (0.1, 20), (0.2, 15), (0.1, 5)];
    let stream = |(index, (weight, cells)): (usize, (f64, u64))| {
        format!(
            "[[flow]]\nname = \"flow{}\"\nweight = {weight:?}\nsource = {{ kind = \"cbr\", rate = \"{} b/s\" }}\n",
            index + 1,
            42_400 * cells
        )
    };
    let text = format!(
        "name = \"example\"\nduration = \"12 ms\"\nwarmup = \"1 ms\"\nsample = \"11 ms\"\n[topology]\n\
         template = \"dumbbell\"\nsources = 6\naccess = {{ rate = \"155.52 Mb/s\", delay = \"5 us\" }}\n\
         bottleneck = {{ rate = \"4.24 Mb/s\", delay = \"5 us\" }}\negress = {{ rate = \"155.52 Mb/s\", delay = \"5 us\" }}\n\
         [port.bottleneck]\nbuffer = \"100 cells\"\n\
         admission = {{ policy = \"wfepd\", memory = 0.0, max_p = 1.0 }}\n\
         [measure]\nmeter = [\"bottleneck\"]\n[flows]\ntransport = {{ kind = \"cells\" }}\n{}",
        streams.into_iter().enumerate().map(stream).collect::<String>()
    );
    let document = api::run(&Request { text: &text, ..Request::default() }, || 0.0).unwrap();
    let circuits = port(&document)["meter"]["circuits"].as_array().unwrap();
    let readings = |key: &str| -> Vec<f64> { circuits.iter().map(|one| numbers(&one[key])[0]).collect() };
    for (key, unit, wanted) in [
        ("bps", 42_400.0, [30.0, 30.0, 30.0, 20.0, 15.0, 5.0]),
        ("part_bps", 42_400.0, [28.5714, 22.2222, 1e-9, 8.0, 21.1111, 10.0]),
        ("granted_bps", 42_400.0, [28.5714, 22.8571, 17.1429, 11.4286, 15.0, 5.0]),
        ("refusal", 1.0, [1.0, 1.0, 1.0, 1.0, 0.0351, 1e-9]),
    ] {
        let found = readings(key);
        let close = found.iter().zip(wanted).all(|(value, wanted)| (value / unit - wanted).abs() < 1e-4);
        assert!(close, "{key}: {found:?}");
    }
}

#[test]
fn effective_throughput_counts_ip_packets_in_what_cell_headers_leave_of_a_line() {
    let document = run("reference = \"bottleneck\"", &[]);
    let summary = &document["summary"];
    let wanted = summary["goodput_bps"].as_f64().unwrap() * 552.0 / 512.0 / (2.35e6 * 48.0 / 53.0);
    near(summary["effective_throughput"].as_f64().unwrap(), wanted, 1e-12);
    let classes = summary["classes"].as_array().unwrap();
    let names: Vec<_> =
        classes.iter().map(|class| (class["name"].as_str().unwrap(), &class["flows"])).collect();
    assert_eq!(names, [("many", &3.into()), ("few", &1.into())]);
    let sum = |key: &str| classes.iter().map(|class| class[key].as_f64().unwrap()).sum::<f64>();
    near(sum("effective_throughput"), wanted, 1e-12);
    near(sum("goodput_bps"), summary["goodput_bps"].as_f64().unwrap(), 1e-12);
    assert_eq!(document["flows"][3]["class"], "few");
}

#[test]
fn classes_are_compared_by_their_fair_shares() {
    let document =
        run("fairness = [{ class = \"few\", share = 0.25 }, { class = \"many\", share = 0.75 }]", &[]);
    let goodput = |index: usize| document["summary"]["classes"][index]["goodput_bps"].as_f64().unwrap();
    let ratio = document["summary"]["class_fairness"].as_f64().unwrap();
    near(ratio, (goodput(1) / 0.25) / (goodput(0) / 0.75), 1e-12);
    assert!(ratio > 1.2, "the one has three times the weight of each of the many: {ratio}");
}

#[test]
fn the_share_of_a_circuit_is_measured_by_its_weight() {
    let document = run("", &[]);
    let goodput = |flow: &Json| flow["goodput_bps"].as_f64().unwrap();
    let goodputs: Vec<f64> = document["flows"].as_array().unwrap().iter().map(goodput).collect();
    let total: f64 = goodputs.iter().sum();
    let circuits = document["circuits"].as_array().unwrap();
    let mut largest: f64 = 0.0;
    for ((circuit, goodput), weight) in circuits.iter().zip(&goodputs).zip([1.0, 1.0, 1.0, 3.0]) {
        let share = circuit["weighted_share"].as_f64().unwrap();
        near(share, goodput / total / (weight / 6.0), 1e-12);
        largest = largest.max((share - 1.0).abs());
    }
    assert_eq!(document["summary"]["weighted_deviation"], largest);
    assert!(circuits[4..].iter().all(|circuit| circuit["weighted_share"].is_null()), "acknowledgements");
}

#[test]
fn optional_figures_are_absent_unless_requested() {
    let document = run("", &[]);
    let summary = document["summary"].as_object().unwrap();
    assert!(!summary.contains_key("effective_throughput") && !summary.contains_key("class_fairness"));
    assert!(document["flows"].as_array().unwrap().iter().all(|flow| flow.get("throughput").is_none()));
    for key in ["cwnd", "transfer_times_s"] {
        assert!(document["flows"].as_array().unwrap().iter().all(|flow| flow.get(key).is_none()), "{key}");
    }
    for key in ["occupancy", "losses"] {
        assert!(document["ports"].as_array().unwrap().iter().all(|port| port.get(key).is_none()), "{key}");
    }
}

#[test]
fn the_canonical_form_asks_for_the_same() {
    let all = "window = \"4 s\"\nstep = \"2 s\"\noccupancy = [\"bottleneck\"]\nmeter = [\"bottleneck\"]\n\
        losses = [\"bottleneck\"]\ncwnd = [\"flow4\"]\ntransfers = true\n\
        reference = \"bottleneck\"\nfairness = [{ class = \"few\", share = 0.5 }, { class = \"many\" }]";
    let first = load(&format!("{WAN}[measure]\n{all}\n"), "measures.toml", &[]).unwrap();
    assert!(first.measure.throughput.is_some() && first.measure.fairness.is_some());
    let second = load(&explain(&first).to_string(), "measures.json", &[]).unwrap();
    assert_eq!(first, second);
}

#[test]
fn what_cannot_be_measured_is_refused() {
    refused("step = \"1 s\"", "there is no window that could move");
    refused("window = \"5 s\"\nstep = \"2 s\"", "a window of 5 s is no multiple of it");
    refused("window = \"26 s\"", "a window lasts longer than 0 s and at most the measured time of 25 s");
    refused("window = \"5 s\"\nstep = \"1 us\"", "more than 1000000 steps");
    refused("occupancy = [\"bottlneck\"]", "did you mean \"bottleneck\"?");
    refused("occupancy = [\"egress\"]", "\"egress1\" must have a limited buffer");
    refused("losses = [\"bottlneck\"]", "did you mean \"bottleneck\"?");
    refused("cwnd = [\"flow5\"]", "unknown flow \"flow5\"");
    refused("meter = [\"egress\"]", "\"egress1\" must have a limited buffer");
    refused("reference = \"left\"", "unknown port \"left\"");
    refused("fairness = [{ class = \"few\" }]", "two classes can be compared, not 1");
    refused("fairness = [{ class = \"few\" }, { class = \"man\" }]", "did you mean \"many\"?");
    refused("fairness = [{ class = \"few\", share = 0 }, { class = \"many\" }]", "greater than 0");
}

/// One sender over three packet links of 10 Mb/s and 1 ms: a packet of 1500 octets lasts 1.2 ms on each, an
/// acknowledgement of 40 octets 32 µs.
const FILES: &str = r#"
name = "files"
duration = "1 s"
[topology]
template = "dumbbell"
sources = 1
access     = { rate = "10 Mb/s", delay = "1 ms" }
bottleneck = { rate = "10 Mb/s", delay = "1 ms" }
egress     = { rate = "10 Mb/s", delay = "1 ms" }
[adaptation]
kind = "packet"
[port.bottleneck]
buffer = "100 kB"
[flows]
source = { kind = "file", size = "1460 bytes", off = "90 ms" }
transport = { kind = "tcp", handshake = false, delayed_ack = false }
"#;

fn files(sets: &[&str]) -> Json {
    let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
    let request = Request { text: FILES, name: "files.toml", sets: &sets, audit: true, ..Request::default() };
    api::run(&request, || 0.0).unwrap_or_else(|why| panic!("{why}"))
}

#[test]
fn a_file_of_one_segment_takes_a_round_trip() {
    for engine in ["engine=\"reference\"", "engine=\"fast\""] {
        let document = files(&[engine]);
        let round_trip = 3.0 * (1.2e-3 + 32e-6 + 2e-3);
        for name in ["mean", "p50", "p95", "p99", "max"] {
            near(document["summary"][format!("transfer_time_{name}_s")].as_f64().unwrap(), round_trip, 1e-9);
        }
        near(document["flows"][0]["transfer_time_mean_s"].as_f64().unwrap(), round_trip, 1e-9);
        near(document["flows"][0]["transfer_time_max_s"].as_f64().unwrap(), round_trip, 1e-9);
        assert!(document["flows"][0].get("transfer_times_s").is_none());
        // one every 99.696 ms; the eleventh starts at 996.96 ms
        assert_eq!(document["summary"]["transfers"], 10);
        assert_eq!(document["summary"]["transfers_unfinished"], 1);
        near(document["summary"]["transfer_age_max_s"].as_f64().unwrap(), 1.0 - 0.99696, 1e-9);
        near(1.0 + document["summary"]["transfer_time_drift"].as_f64().unwrap(), 1.0, 1e-9);
    }
}

#[test]
fn every_transfer_has_its_time_in_the_report_if_the_scenario_asks_for_it() {
    let document = files(&["measure.transfers=true"]);
    let times = numbers(&document["flows"][0]["transfer_times_s"]);
    assert_eq!(times.len(), 10);
    times.iter().for_each(|time| near(*time, 3.0 * (1.2e-3 + 32e-6 + 2e-3), 1e-9));
}

#[test]
fn a_flow_without_tcp_has_no_congestion_window() {
    let udp = ["flow.flow1.source={kind=\"cbr\", rate=\"1 Mb/s\"}", "flow.flow1.transport={kind=\"udp\"}"];
    let sets: Vec<String> =
        udp.iter().chain(&["measure.cwnd=[\"flow1\"]"]).map(|set| set.to_string()).collect();
    let why = load(FILES, "files.toml", &sets).unwrap_err().message;
    assert!(why.contains("\"flow1\" has no congestion window"), "{why}");
}

#[test]
fn a_connection_of_its_own_costs_a_file_another_round_trip() {
    let document = files(&["flows.transport.handshake=true"]);
    let (syn, segment) = (3.0 * (32e-6 + 1e-3), 3.0 * (1.2e-3 + 1e-3));
    near(document["summary"]["transfer_time_mean_s"].as_f64().unwrap(), 3.0 * syn + segment, 1e-9);
}

#[test]
fn files_at_fixed_intervals_are_all_that_is_offered() {
    let document = files(&["flows.source={kind=\"file\", size=\"1460 bytes\", every=\"20 ms\"}"]);
    let summary = &document["summary"];
    assert_eq!((&summary["transfers"], &summary["transfers_unfinished"]), (&50.into(), &0.into()));
    near(summary["ideal_bps"].as_f64().unwrap(), 8.0 * 1460.0 / 0.02, 1e-12);
    near(summary["goodput_ratio"].as_f64().unwrap(), 1.0, 1e-12);
}

#[test]
fn files_that_end_during_the_warm_up_are_not_counted() {
    let document = files(&["warmup=\"0.5 s\""]);
    assert_eq!(document["summary"]["transfers"], 5);
    assert_eq!(document["flows"][0]["transfers"], 5);
}

#[test]
fn where_no_file_ends_there_is_no_time_but_a_file_under_way() {
    let document = files(&["flows.source.size=\"10 MB\""]);
    let summary = &document["summary"];
    assert_eq!((&summary["transfers"], &summary["transfers_unfinished"]), (&0.into(), &1.into()));
    assert!(
        summary["transfer_time_p99_s"].is_null() && document["flows"][0]["transfer_time_mean_s"].is_null()
    );
    assert!(summary["transfer_time_drift"].is_null());
    near(summary["transfer_age_max_s"].as_f64().unwrap(), 1.0, 1e-12);
}

#[test]
fn without_files_nothing_is_said_of_transfers() {
    let document = files(&["flows.source={kind=\"greedy\"}"]);
    assert!(document["summary"].get("transfers").is_none());
    assert!(document["flows"][0].get("transfer_time_mean_s").is_none());
}

#[test]
fn delivery_times_have_percentiles_if_they_are_asked_for() {
    let names = ["mean", "p50", "p95", "p99", "max"].map(|name| format!("delivery_time_{name}_s"));
    let of = |entry: &Json| names.each_ref().map(|name| entry[name].as_f64());
    let document = run("delivery = true", &[]);
    let flows = document["flows"].as_array().unwrap();
    for flow in flows {
        let [mean, half, most, nearly, max] = of(flow).map(Option::unwrap);
        assert!(mean > 0.03 && half <= most && most <= nearly && nearly <= max, "{flow:#}");
    }
    let longest = flows.iter().map(|flow| of(flow)[4].unwrap()).fold(0.0, f64::max);
    assert_eq!(of(&document["summary"])[4], Some(longest));
    let class = |name: &str| {
        let classes = document["summary"]["classes"].as_array().unwrap();
        of(classes.iter().find(|class| class["name"] == name).unwrap())[1..].to_vec()
    };
    assert_eq!(class("few"), of(&flows[3])[1..], "the only one of its class");
    assert!(class("many")[3].unwrap() <= longest);
    let fast = document["flows"].clone();
    assert_eq!(run("delivery = true", &["engine=reference"])["flows"], fast);
    let plain = run("", &[]);
    assert!(plain["flows"][0].get(&names[1]).is_none() && plain["summary"].get(&names[1]).is_none());
}

/// The drift of the goodput as two windows show it, each one half of the measured time.
fn drift_of_windows(document: &Json) -> f64 {
    let flows = document["flows"].as_array().unwrap();
    let half =
        |index: usize| flows.iter().map(|flow| numbers(&flow["throughput"]["bps"])[index]).sum::<f64>();
    2.0 * (half(1) - half(0)) / (half(1) + half(0))
}

#[test]
fn the_goodput_drifts_from_one_half_of_the_measured_time_to_the_other() {
    let datagrams = [
        "flow.flow1.source={kind=\"on-off\", peak=\"1 Mb/s\", size=\"512 bytes\", on=\"2 s\", off=\"2 s\"}",
        "flow.flow1.transport={kind=\"udp\"}",
        "port.bottleneck.admission={policy=\"tail-drop\"}",
    ];
    let processors = ["flows.processing=\"20 ms\"", "flows.processing_variation=\"5 ms\""];
    for sets in [&[][..], &datagrams[..], &processors[..]] {
        for engine in ["engine=fast", "engine=reference"] {
            let document = run("window = \"12.5 s\"", &[sets, &[engine]].concat());
            near(document["summary"]["goodput_drift"].as_f64().unwrap(), drift_of_windows(&document), 1e-9);
        }
    }
}

#[test]
fn cells_without_feedback_drift_as_little_as_their_sources() {
    let text = include_str!("../../../../scenarios/mux-poisson.toml");
    let sets: Vec<String> = ["duration=0.3 s", "measure.window=0.1 s"].map(str::to_string).to_vec();
    for engine in ["fast", "reference"] {
        let engine = Some(engine);
        let request = Request { text, name: "mux.toml", sets: &sets, engine, ..Request::default() };
        let document = api::run(&request, || 0.0).unwrap_or_else(|why| panic!("{why}"));
        near(document["summary"]["goodput_drift"].as_f64().unwrap(), drift_of_windows(&document), 1e-9);
    }
}

#[test]
fn a_source_that_stops_by_itself_does_not_drift() {
    let udp = "flow.flow1.transport={kind=\"udp\"}";
    let drift = |source: &str| {
        let document = files(&[&format!("flow.flow1.source={{{source}}}"), udp, "duration=\"20 s\""]);
        document["summary"]["goodput_drift"].as_f64()
    };
    let burst = "kind=\"on-off\", peak=\"1 Mb/s\", size=\"512 bytes\", activity=0.5, on=\"1 s\"";
    assert_eq!(drift(&format!("{burst}, total=100")), None, "its end is no drift");
    assert!(drift(burst).is_some());
}

#[test]
fn a_warm_up_may_end_inside_slow_start() {
    let starting = |warmup: &str, more: &str| {
        let greedy = "flows.source={kind=\"greedy\"}";
        let document = files(&[greedy, "duration=\"20 s\"", &format!("warmup=\"{warmup}\""), more]);
        document["summary"]["flows_in_slow_start"].clone()
    };
    let window = |octets: u32| format!("flows.transport.window=\"{octets} bytes\"");
    assert_eq!(starting("0 s", &window(65_535)), 1, "without a warm-up all of it is measured");
    assert_eq!(starting("20 ms", &window(65_535)), 1);
    assert_eq!(starting("5 s", &window(65_535)), 0, "the receiver's window ends it");
    assert_eq!(starting("5 s", &window(1_000_000)), 0, "a loss ends it");
    assert_eq!(starting("10 ms", "flows.start=\"5 s\""), 1, "it has not even begun");
    assert!(files(&[])["summary"].get("flows_in_slow_start").is_none(), "files are no greedy flows");
}

/// Two senders that share a port of packets, with the state of the port and of the first sender at every 10 ms.
const STATES: &str = r#"
name = "states"
duration = "4 s"
warmup = "1 s"
sample = "10 ms"
adaptation = { kind = "packet" }
[topology]
template = "dumbbell"
sources = 2
access = { rate = "100 Mb/s", delay = "1 ms" }
bottleneck = { rate = "10 Mb/s", delay = "5 ms" }
egress = { rate = "100 Mb/s", delay = "1 ms" }
[port.bottleneck]
buffer = "100 packets"
[flows]
source = { kind = "greedy" }
transport = { kind = "tcp", window = "1 MB", window_scaling = true, congestion = "dctcp", ecn = true }
[measure]
state = ["bottleneck", "flow1"]
"#;

/// The values of a figure of the state of a port or a flow, of one queue if it has several.
fn state(document: &Json, list: &str, name: &str, figure: (&str, Option<u64>)) -> Vec<f64> {
    let figures = entry(document, list, name)["state"]["figures"].as_array().unwrap();
    let is_wanted = |found: &&Json| found["name"] == figure.0 && found["queue"].as_u64() == figure.1;
    numbers(&figures.iter().find(is_wanted).unwrap_or_else(|| panic!("{figure:?} in {figures:#?}"))["values"])
}

#[test]
fn the_state_of_policies_and_senders_is_a_series_on_both_engines() {
    let with =
        |port: &str| run_on_both(STATES, &[&format!("port.bottleneck={{ buffer='100 packets', {port} }}")]);
    let red = with(
        "admission={ policy='red', min_threshold='5 %', max_threshold='60 %', action='mark', weight=0.02 }",
    );
    let average = state(&red, "ports", "bottleneck", ("average", None));
    assert_eq!(average.len(), 300, "every 10 ms from the end of the warm-up to before the end");
    let mean = average.iter().sum::<f64>() / 300.0;
    near(mean, entry(&red, "ports", "bottleneck")["occupancy_mean"].as_f64().unwrap(), 0.1);
    let alpha = state(&red, "flows", "flow1", ("alpha", None));
    assert!(alpha.iter().all(|alpha| (0.0..=1.0).contains(alpha)) && alpha.iter().any(|alpha| *alpha < 0.9));
    let pie = with("admission={ policy='pie', target='5 ms', action='mark' }");
    let p = state(&pie, "ports", "bottleneck", ("probability", Some(0)));
    assert!(p.iter().any(|p| *p > 0.0) && p.windows(2).any(|pair| pair[0] != pair[1]));
    let codel = with("discipline='fq-codel'");
    let counts = state(&codel, "ports", "bottleneck", ("count", Some(0)));
    assert!(counts.iter().any(|count| *count >= 2.0), "CoDel discards again and again");
    let deficits = state(&codel, "ports", "bottleneck", ("deficit", Some(1)));
    assert!(deficits.iter().all(|octets| (-1514.0..=1514.0).contains(octets)));
    assert!(deficits.iter().any(|octets| *octets != deficits[0]));
}

#[test]
fn credits_in_use_and_left_add_up_to_the_room() {
    let text = STATES.replace("\"bottleneck\", \"flow1\"", "\"bottleneck\"");
    let credit = "port.bottleneck={ buffer='100 packets', credit={ policy='cbfc', room='20 kB', credit_size='100 bytes' } }";
    let document = run_on_both(&text, &[credit]);
    let of = |name| state(&document, "ports", "bottleneck", (name, Some(0)));
    assert!(of("credits").iter().zip(of("credits_in_use")).all(|(left, used)| left + used == 200.0));
}

#[test]
fn a_state_that_nothing_keeps_is_refused() {
    refused("state = [\"bottlneck\"]", "did you mean \"bottleneck\"?");
    refused(
        "state = [\"bottleneck\"]",
        "neither its admission policy \"wfepd\" nor its scheduler \"fifo\" has any",
    );
    refused("state = [\"flow1\"]", "the congestion control of the flow \"flow1\" keeps no state");
    refused("state = [\"egress\"]", "\"egress1\" must have a limited buffer");
}
