//! Open-loop workloads: transfers that arrive by a random process, queries, and how long they take.

#![allow(clippy::unwrap_used)] // here a panic is the report

#[path = "both/mod.rs"]
mod both;

use std::collections::BTreeSet;

use both::run_on_both;
use pushout_core::api::Request;
use pushout_core::scenario::explain;
use pushout_core::scenario::model::Scenario;
use pushout_core::serde_json::Value as Json;
use pushout_core::units::PS_PER_S;

/// Two leaves with four hosts each; the fabric is as fast as all hosts of a leaf.
const FABRIC: &str = r#"
name = "workload"
duration = "50 ms"
adaptation = { kind = "packet" }
[topology]
template = "leaf-spine"
leaves = 2
spines = 2
hosts = 4
host = { rate = "1 Gb/s", delay = "10 us" }
fabric = { rate = "2 Gb/s", delay = "10 us" }
[flows]
source = { kind = "arrivals", sizes = { exponential = { mean = "20 kB" } }, load = "40 %", to = "other-leaf" }
transport = { kind = "tcp", profile = "datacenter" }
"#;

fn load(sets: &[&str]) -> Scenario {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    Request { text: FABRIC, name: "workload.toml", sets: &sets, ..Request::default() }.scenario().unwrap().0
}

fn refused(sets: &[&str]) -> String {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    Request { text: FABRIC, name: "workload.toml", sets: &sets, ..Request::default() }
        .scenario()
        .unwrap_err()
        .message
}

fn octets(scenario: &Scenario) -> Vec<f64> {
    scenario.flows.iter().map(|flow| flow.transfer.unwrap().octets as f64).collect()
}

/// `count` events of a Poisson process with this mean, within the interval of 99.9 %.
fn poisson(what: &str, count: usize, mean: f64) {
    assert!((count as f64 - mean).abs() < 3.29 * mean.sqrt() + 0.5, "{what}: {count}, not {mean}");
}

#[test]
fn arrivals_come_at_the_rate_that_makes_the_load_of_the_senders_link() {
    // λ = 0.4 · 1 Gb/s / (8 · 20 kB) = 2500 a second at each of eight hosts
    let scenario = load(&["duration=2 s"]);
    poisson("arrivals", scenario.flows.len(), 8.0 * 2.0 * 2500.0);
    let mean = octets(&scenario).iter().sum::<f64>() / scenario.flows.len() as f64;
    assert!((mean / 20_000.0 - 1.0).abs() < 3.29 / (scenario.flows.len() as f64).sqrt(), "{mean}");
    let fixed =
        load(&["flows.source={kind='arrivals', sizes='1 kB', rate='100 per s', gaps='fixed', to='any'}"]);
    assert_eq!(fixed.flows.len(), 8 * 5);
    let gap = fixed.flows[1].start.0 - fixed.flows[0].start.0;
    assert!(gap.abs_diff(PS_PER_S / 100) <= 1, "{gap}");
}

#[test]
fn the_rates_of_abms_study_follow_from_its_load() {
    // 10 Gb/s, load 0.8 of the fabric, which is oversubscribed four times: 146.09 flows a second at each server
    let sets =
        ["topology.host.rate=10 Gb/s", "flows.source={kind='arrivals', sizes='websearch', load='20 %'}"];
    let scenario = load(&[&sets[..], &["duration=20 s"]].concat());
    poisson("arrivals", scenario.flows.len(), 8.0 * 20.0 * 146.09);
}

#[test]
fn transfers_go_where_they_are_told() {
    let ends = |sets: &[&str]| {
        let scenario = load(sets);
        let of_first = scenario.flows.iter().filter(|flow| scenario.nodes[flow.from].name == "host1");
        of_first.map(|flow| scenario.nodes[flow.to].name.clone()).collect::<BTreeSet<_>>()
    };
    assert_eq!(ends(&[]), ["host5", "host6", "host7", "host8"].map(String::from).into());
    let any = ["host2", "host3", "host4", "host5", "host6", "host7", "host8"];
    assert_eq!(ends(&["flows.source.to=any"]), any.map(String::from).into());
    assert_eq!(
        ends(&["flows.source.to=['host1', 'host3', 'host6']"]),
        ["host3", "host6"].map(String::from).into()
    );
    let own = "flows.source={kind='arrivals', sizes='20 kB', load='40 %'}";
    assert_eq!(ends(&[own]), ["host5"].map(String::from).into());
}

#[test]
fn traffic_follows_from_the_seed_and_not_from_ports_and_policies() {
    let drawn = |scenario: &Scenario| {
        let one = |flow: &pushout_core::scenario::model::Flow| {
            (flow.name.clone(), flow.start, flow.to, flow.transfer)
        };
        scenario.flows.iter().map(one).collect::<Vec<_>>()
    };
    let (one, other) =
        (load(&[]), load(&["port.default.buffer=20 packets", "flows.transport.congestion=cubic"]));
    assert_eq!(drawn(&one), drawn(&other));
    let reseeded = one.with_seed(2).unwrap();
    assert_ne!(drawn(&one), drawn(&reseeded));
    assert_eq!(drawn(&reseeded), drawn(&load(&["seed=2"])));
    assert_eq!(drawn(&reseeded.with_seed(1).unwrap()), drawn(&one));
    // another source has draws of its own
    let without = load(&["flow.flow8.source={kind='greedy'}"]);
    assert_eq!(drawn(&one)[..500], drawn(&without)[..500]);
}

#[test]
fn a_scenario_and_its_explicit_form_draw_the_same() {
    let scenario = load(&["flow.flow3.source={kind='greedy'}"]);
    let text = explain(&scenario).to_string();
    let again = Request { text: &text, name: "explicit.json", ..Request::default() }.scenario().unwrap().0;
    assert_eq!((again.flows, again.vcs), (scenario.flows, scenario.vcs));
}

#[test]
fn every_transfer_is_a_connection_of_its_own_on_both_engines() {
    let sets = ["measure={transfers=true}", "port.default.buffer=30 packets", "duration=20 ms"];
    let report = run_on_both(FABRIC, &sets);
    let scenario = load(&sets);
    let transfers = report["transfers"].as_array().unwrap();
    assert_eq!(transfers.len(), scenario.flows.len());
    let ended = transfers.iter().filter(|transfer| !transfer["time_s"].is_null()).count();
    let fct = &report["summary"]["fct"];
    assert_eq!(fct["count"], ended);
    assert_eq!(fct["unfinished"], transfers.len() - ended);
    assert!(ended * 10 > transfers.len() * 9, "{ended} of {}", transfers.len());
    let of_size = ["short", "medium", "long"].map(|size| fct["slowdown"][size]["count"].as_u64().unwrap());
    assert_eq!(of_size.iter().sum::<u64>(), ended as u64);
    assert!(
        transfers.iter().filter_map(|transfer| transfer["slowdown"].as_f64()).all(|slowdown| slowdown >= 1.0)
    );
    assert_eq!(report["flows"].as_array().unwrap().len(), 0);
    assert_eq!(report["circuits"].as_array().unwrap().len(), 0);
}

#[test]
fn a_lone_transfer_takes_its_ideal_time_and_what_switches_add() {
    // 60 a second over four lines of 10 us; ten segments of 1448 octets in the first window, 12 octets of options and no more headers
    let source = "flow.flow1.source={kind='arrivals', sizes='14480 bytes', load='6950 ppm', gaps='fixed'}";
    let others = (2..=8).map(|flow| format!("flow.flow{flow}.stop=1 ps"));
    let sets: Vec<String> = [source.to_string()].into_iter().chain(others).collect();
    let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
    let report = run_on_both(FABRIC, &[&sets[..], &["measure={transfers=true}"]].concat());
    let transfers = report["transfers"].as_array().unwrap();
    assert_eq!(transfers.len(), 3);
    let scenario = load(&[&sets[..], &["measure={transfers=true}"]].concat());
    let packet = f64::from(scenario.flows[0].packet());
    let data = f64::from(scenario.flows[0].payload());
    let segments = (14_480.0 / data).ceil();
    let octets = 14_480.0 + segments * (packet - data);
    let ideal = 80e-6 + 8.0 * octets / 1e9;
    let (time, slowdown) =
        (transfers[0]["time_s"].as_f64().unwrap(), transfers[0]["slowdown"].as_f64().unwrap());
    assert!((time / slowdown / ideal - 1.0).abs() < 1e-2, "{time} {slowdown} {ideal}");
    // a packet is stored and forwarded three times on the way, its acknowledgement four, and a handshake takes a round trip
    assert!(slowdown > 1.0 && time < 2.0 * 80e-6 + 8.0 * (octets + 6.0 * 1500.0) / 1e9, "{time} {slowdown}");
}

#[test]
fn a_query_is_complete_with_its_last_answer() {
    let source = "flows.source={kind='query', fan_in=5, size='100001 bytes', rate='100 per s'}";
    let sets = [source, "measure={transfers=true}"];
    let (report, scenario) = (run_on_both(FABRIC, &sets), load(&sets));
    let queries = scenario.flows.len() / 5;
    poisson("queries", queries, 8.0 * 5.0);
    for answers in scenario.flows.chunks(5) {
        let hosts: BTreeSet<usize> = answers.iter().map(|flow| flow.from).collect();
        assert_eq!(hosts.len(), 5, "hosts answer once");
        assert!(answers.iter().all(|flow| flow.to == answers[0].to && flow.start == answers[0].start));
        assert_eq!(answers.iter().map(|flow| flow.transfer.unwrap().octets).sum::<u64>(), 100_001);
    }
    let times: Vec<Option<f64>> =
        report["transfers"].as_array().unwrap().iter().map(|transfer| transfer["time_s"].as_f64()).collect();
    let complete = times.chunks(5).filter(|times| times.iter().all(Option::is_some));
    let mut last: Vec<f64> =
        complete.map(|times| times.iter().flatten().copied().fold(0.0, f64::max)).collect();
    last.sort_by(f64::total_cmp);
    let query = &report["summary"]["query"];
    assert_eq!(query["count"], last.len());
    assert_eq!(query["unfinished"], queries - last.len());
    assert!((query["p50"].as_f64().unwrap() - last[last.len().div_ceil(2) - 1]).abs() < 1e-12);
    assert_eq!(report["summary"]["fct"]["count"], 0);
}

#[test]
fn what_no_transfer_can_be_drawn_from_is_refused() {
    let source = |keys: &str| format!("flows.source={{kind='arrivals', {keys}}}");
    let why = |keys: &str| refused(&[&source(keys)]);
    assert!(why("sizes='websearch'").contains("must have load or rate, and not both"));
    assert!(why("sizes='websearch', load='0 %'").contains("load must be greater than 0 %"));
    let falling = why("sizes={table=[['1 kB', 0.5], ['2 kB', 0.4], ['3 kB', 1]]}, load='10 %'");
    assert!(
        falling.contains("sizes.table must not fall, neither in size nor in share, as entry 2 does"),
        "{falling}"
    );
    assert!(why("sizes='1 byte', load='100 %'").contains("transfers; shorten the run or lower the load"));
    let listed = |hosts: &str| why(&format!("sizes='20 kB', load='40 %', to={hosts}"));
    assert!(listed("['host3', 'host9']").contains("source.to: unknown node \"host9\""));
    assert!(listed("['host3', 'leaf1']").contains("source.to must be a host; flows start and end at hosts"));
    assert!(listed("['host3', 'host3']").contains("\"host3\" is listed twice"));
    assert!(listed("['host1']").contains("there is no such host"));
    assert!(listed("'nearest'").contains("unknown value \"nearest\" (allowed: any, other-leaf)"));
    let query = refused(&["flows.source={kind='query', fan_in=8, size='1 MB', rate='1 per s'}"]);
    assert!(
        query.contains("fan_in must be at most 7, the number of hosts that can answer, not 8"),
        "{query}"
    );
    assert!(refused(&["flows.pvc=one"]).contains("every transfer has a circuit of its own"));
}

#[test]
fn a_run_without_an_arrival_is_a_run() {
    let report: Json = run_on_both(FABRIC, &["duration=1 ns", "sample=1 ns"]);
    assert_eq!(report["summary"]["fct"]["count"], 0);
    assert_eq!(report["summary"]["fct"]["slowdown"]["all"]["p99"], Json::Null);
}
