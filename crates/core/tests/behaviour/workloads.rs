//! Open-loop workloads: transfers that arrive by a random process, queries, and how long they take.

use std::collections::BTreeSet;

use crate::behaviour::both::run_on_both;
use pushout_core::api::Request;
use pushout_core::scenario::explain;
use pushout_core::scenario::model::Scenario;
use pushout_core::serde_json::Value as Json;
use pushout_core::units::PS_PER_S;
use pushout_core::units::ids::{FlowId, NodeId};

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
    let gap = fixed.flows[FlowId(1)].start.0 - fixed.flows[FlowId(0)].start.0;
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
fn transfers_go_to_their_given_hosts() {
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

/// Transfers of one size, one after another, over four lines; none meets another one, and none shakes hands.
fn lone_transfers(size: u64, rates: [u64; 2], adaptation: &str) -> Json {
    let [host, fabric] = rates;
    let text = format!(
        r#"
        name = "lone"
        duration = "3 s"
        adaptation = {{ kind = "{adaptation}" }}
        [topology]
        template = "leaf-spine"
        leaves = 2
        spines = 1
        hosts = 1
        host = {{ rate = "{host} Mb/s", delay = "5 us" }}
        fabric = {{ rate = "{fabric} Mb/s", delay = "5 us" }}
        [flows]
        source = {{ kind = "arrivals", sizes = "{size} B", rate = "2 per s", gaps = "fixed", to = "other-leaf" }}
        transport = {{ kind = "tcp", profile = "linux", handshake = false }}
        [[flow]]
        name = "flow2"
        start = "10 s"
        [measure]
        transfers = true
        "#
    );
    run_on_both(&text, &[])
}

/// The time that these packets take back to back, and the answer to the last one, by following each unit through each line:
/// packets whole, or as cells of 53 octets with 48 of payload, eight of which end the last one.
fn shortest_time(size: u64, [host, fabric]: [u64; 2], adaptation: &str) -> f64 {
    let units = |packet: u64| match adaptation {
        "packet" => vec![packet],
        _ => vec![53; (packet + 8).div_ceil(48) as usize],
    };
    let through = |units: &[u64]| {
        let mut free = [0.0; 4];
        let mut last = 0.0;
        for &unit in units {
            let mut at = 0.0;
            for (line, rate) in [host, fabric, fabric, host].into_iter().enumerate() {
                free[line] = f64::max(free[line], at) + 8.0 * unit as f64 / (rate as f64 * 1e6);
                at = free[line] + 5e-6;
            }
            last = at;
        }
        last
    };
    let packets = (0..size.div_ceil(1448)).map(|index| 52 + (size - 1448 * index).min(1448));
    through(&packets.flat_map(units).collect::<Vec<_>>()) + through(&units(52))
}

#[test]
fn the_ideal_of_a_transfer_counts_its_transmission_at_each_hop_and_the_way_of_its_acknowledgement() {
    let sizes = [1, 100, 1448, 1449, 2900, 14_600, 99_999, 1_000_000];
    for rates in [[1000, 1000], [1000, 400], [400, 1000]] {
        for (size, adaptation) in sizes.into_iter().flat_map(|size| [(size, "packet"), (size, "aal5")]) {
            let report = lone_transfers(size, rates, adaptation);
            let transfers = report["transfers"].as_array().unwrap();
            assert!(!transfers.is_empty());
            let expected = shortest_time(size, rates, adaptation);
            for transfer in transfers {
                let (time, slowdown) =
                    (transfer["time_s"].as_f64().unwrap(), transfer["slowdown"].as_f64().unwrap());
                let ideal = time / slowdown;
                assert!((ideal / expected - 1.0).abs() < 1e-12, "{size} {rates:?}: {ideal}, not {expected}");
                assert!(slowdown > 1.0 - 1e-6, "{size} {rates:?} {adaptation}: {slowdown}");
            }
        }
    }
}

#[test]
fn a_lone_transfer_through_an_empty_network_has_the_slowdown_1() {
    for size in [100, 1448, 14_600, 1_000_000] {
        for transfer in lone_transfers(size, [1000, 1000], "packet")["transfers"].as_array().unwrap() {
            let slowdown = transfer["slowdown"].as_f64().unwrap();
            assert!((slowdown - 1.0).abs() < 0.01, "{size}: {slowdown}");
        }
    }
    let report = lone_transfers(1448, [1000, 1000], "packet");
    let time = report["transfers"][0]["time_s"].as_f64().unwrap();
    assert!((time - 89.664e-6).abs() < 1e-9, "four transmissions, four delays, and those of its ACK: {time}");
}

#[test]
fn a_query_is_complete_with_its_last_answer() {
    let source = "flows.source={kind='query', fan_in=5, size='100001 bytes', rate='100 per s'}";
    let sets = [source, "measure={transfers=true}"];
    let (report, scenario) = (run_on_both(FABRIC, &sets), load(&sets));
    let queries = scenario.flows.len() / 5;
    poisson("queries", queries, 8.0 * 5.0);
    for answers in scenario.flows.as_slice().chunks(5) {
        let hosts: BTreeSet<NodeId> = answers.iter().map(|flow| flow.from).collect();
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
