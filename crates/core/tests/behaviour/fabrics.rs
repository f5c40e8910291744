//! Fabrics: templates of leaf-spines and fat-trees, and flows that a hash spreads over equally short routes.

use std::collections::BTreeSet;

use crate::behaviour::both::{entry, run_on_both};
use pushout_core::api::Request;
use pushout_core::scenario::model::Scenario;
use pushout_core::scenario::{self, explain};
use pushout_core::serde_json::{Value as Json, json};
use pushout_core::units::ids::FlowId;

/// Four spines between two leaves with 32 hosts each.
const LEAF_SPINE: &str = r#"
name = "leaf-spine"
duration = "200 us"
adaptation = { kind = "packet" }
[topology]
template = "leaf-spine"
leaves = 2
spines = 4
hosts = 32
host = { rate = "10 Gb/s", delay = "1 us" }
fabric = { rate = "40 Gb/s", delay = "1 us" }
[flows]
source = { kind = "file", size = "20 kB" }
transport = { kind = "tcp", window = "60000 bytes", initial_window = 10 }
"#;

const FAT_TREE: &str = r#"
name = "fat-tree"
duration = "200 us"
adaptation = { kind = "packet" }
[topology]
template = "fat-tree"
radix = 8
host = { rate = "10 Gb/s", delay = "1 us" }
fabric = { rate = "10 Gb/s", delay = "1 us" }
[flows]
source = { kind = "greedy" }
transport = { kind = "tcp" }
"#;

fn load(text: &str, sets: &[&str], seed: u64) -> Scenario {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    let request = Request { text, name: "fabric.toml", sets: &sets, seed: Some(seed), ..Request::default() };
    request.scenario().unwrap().0
}

/// Names of the lines on the way of a flow.
fn lines(scenario: &Scenario, flow: usize) -> Vec<&str> {
    let path = &scenario.vcs[scenario.flows[FlowId::new(flow)].vc].path;
    path.iter().map(|line| scenario.lines[*line].name.as_str()).collect()
}

/// Flows over every line whose name begins like this.
fn flows_over(scenario: &Scenario, begin: &str) -> Vec<u64> {
    let count =
        |(line, _)| scenario.flows.iter().filter(|flow| scenario.vcs[flow.vc].path.contains(&line)).count();
    let chosen = scenario.lines.pairs().filter(|(_, line)| line.name.starts_with(begin));
    chosen.map(|chosen| count(chosen) as u64).collect()
}

/// Each count must be as in `n` draws with the probability `p`, within the interval of 99.9 %.
fn binomial(counts: &[u64], n: f64, p: f64) {
    let half = 3.29 * (n * p * (1.0 - p)).sqrt() + 0.5;
    assert!(counts.iter().all(|count| (*count as f64 - n * p).abs() <= half), "{counts:?} of {n} with {p}");
}

#[test]
fn flows_spread_over_the_spines_as_independent_draws() {
    let (mut spines, mut back) = ([0; 4], [0; 4]);
    for seed in 1..=50 {
        let scenario = load(LEAF_SPINE, &[], seed);
        for (sum, more) in spines.iter_mut().zip(flows_over(&scenario, "leaf1->spine")) {
            *sum += more;
        }
        for (sum, more) in back.iter_mut().zip(flows_over(&scenario, "leaf2->spine")) {
            *sum += more;
        }
        binomial(&flows_over(&scenario, "leaf1->spine"), 32.0, 0.25);
    }
    binomial(&spines, 50.0 * 32.0, 0.25);
    binomial(&back, 50.0 * 32.0, 0.25);
}

#[test]
fn every_switch_has_a_seed_of_its_own_so_that_all_lines_of_the_second_tier_are_used() {
    // with one seed an aggregation switch would get flows of one hash, and send them all to the same core switch
    let mut used = [0; 64];
    for seed in 1..=20 {
        let counts = flows_over(&load(FAT_TREE, &[], seed), "agg");
        let to_cores = load(FAT_TREE, &[], seed);
        let cores = to_cores.lines.iter().filter(|line| line.name.starts_with("agg"));
        let up: Vec<u64> =
            cores.zip(counts).filter(|(line, _)| line.class == "core").map(|(_, n)| n).collect();
        up.iter().zip(&mut used).for_each(|(more, sum)| *sum += more);
    }
    // of 128 flows that leave their pods 16 start in each, and a pod has 16 lines to core switches
    binomial(&used, 20.0 * 16.0, 1.0 / 16.0);
}

#[test]
fn parallel_links_have_names_and_share_the_flows() {
    let scenario = load(LEAF_SPINE, &["topology.spines=2", "topology.links=3"], 1);
    let names: Vec<&str> = scenario.lines.iter().map(|line| line.name.as_str()).collect();
    for name in ["host1->leaf1", "leaf1->host1", "leaf1->spine2", "leaf1->spine2.3", "spine2->leaf1.3"] {
        assert!(names.contains(&name), "{name}");
    }
    binomial(&flows_over(&scenario, "leaf1->spine"), 32.0, 1.0 / 6.0);
}

#[test]
fn routes_follow_from_the_seed_and_nothing_else() {
    let ways = |sets: &[&str], seed| {
        let scenario = load(LEAF_SPINE, sets, seed);
        (0..64).map(|flow| lines(&scenario, flow).join(" ")).collect::<Vec<_>>()
    };
    assert_eq!(ways(&[], 7), ways(&["port.default.buffer=10 packets", "duration=1 ms"], 7));
    assert_ne!(ways(&[], 7), ways(&[], 8));
    assert_eq!(ways(&["seed=7"], 7), ways(&[], 7));
    let first = ways(&["routing=first"], 7);
    assert_eq!(first[0], "host1->leaf1 leaf1->spine1 spine1->leaf2 leaf2->host33");
    assert!(first.iter().all(|way| way.contains("spine1")));
}

#[test]
fn a_scenario_and_its_explicit_form_have_the_same_routes() {
    for text in [LEAF_SPINE, FAT_TREE] {
        let scenario = load(text, &[], 3);
        let explicit = load(&explain(&scenario).to_string(), &[], 3);
        let ways = |scenario: &Scenario| {
            (0..scenario.flows.len()).map(|flow| lines(scenario, flow).join(" ")).collect::<Vec<_>>()
        };
        assert_eq!(ways(&scenario), ways(&explicit));
    }
}

#[test]
fn a_fat_tree_of_radix_8_has_128_hosts_and_ways_of_six_hops_between_pods() {
    let scenario = load(FAT_TREE, &[], 1);
    let nodes = |begin: &str| scenario.nodes.iter().filter(|node| node.name.starts_with(begin)).count();
    assert_eq!(["host", "edge", "agg", "core"].map(nodes), [128, 32, 32, 16]);
    assert_eq!(scenario.lines.len(), 2 * 3 * 128);
    assert!((0..128).all(|flow| lines(&scenario, flow).len() == 6));
    let ports: BTreeSet<&str> = scenario.lines.iter().map(|line| line.class.as_str()).collect();
    assert_eq!(
        ports.into_iter().collect::<Vec<_>>(),
        ["core", "core.back", "fabric", "fabric.back", "host", "host.back"]
    );
}

#[test]
fn both_engines_run_a_fabric_alike() {
    run_on_both(LEAF_SPINE, &["port.default.buffer=8 packets"]);
    run_on_both(FAT_TREE, &["port.default.buffer=8 packets"]);
}

/// Octets that left ports whose names begin like this.
fn octets(report: &Json, begin: &str) -> Vec<f64> {
    let ports = report["ports"].as_array().unwrap().iter();
    let chosen = ports.filter(|port| port["name"].as_str().unwrap().starts_with(begin));
    chosen.map(|port| port["octets_out"].as_f64().unwrap()).collect()
}

#[test]
fn packets_of_every_flow_share_the_spines_within_5_percent() {
    let load =
        ["duration=4 ms", "flows.source={kind='arrivals', sizes='websearch', load='60 %', to='other-leaf'}"];
    let report = run_on_both(LEAF_SPINE, &[&load[..], &["routing=ecmp-packet"]].concat());
    for begin in ["leaf1->spine", "leaf2->spine"] {
        let spines = octets(&report, begin);
        let mean = spines.iter().sum::<f64>() / 4.0;
        assert!(spines.iter().all(|own| (own / mean - 1.0).abs() < 0.05), "{spines:?}");
        assert!(mean > 5e6, "{mean}");
    }
    let by_flow = octets(&run_on_both(LEAF_SPINE, &load), "leaf1->spine");
    let mean = by_flow.iter().sum::<f64>() / 4.0;
    assert!(by_flow.iter().any(|own| (own / mean - 1.0).abs() > 0.05), "{by_flow:?}");
}

#[test]
fn both_engines_divide_packets_alike_over_every_tier_and_parallel_links() {
    let sets = ["routing=ecmp-packet", "port.default.buffer=8 packets"];
    run_on_both(LEAF_SPINE, &[&sets[..], &["topology.links=2"]].concat());
    run_on_both(FAT_TREE, &sets);
    let fair = "port.default.scheduler={policy='drr', quantum='1500 bytes'}";
    run_on_both(FAT_TREE, &[&sets[..], &[fair, "duration=100 us"]].concat());
}

/// Datagrams of 1000 octets every 10 us from one leaf to the other, over the first of two spines.
const STEADY: &str = r#"
name = "steady"
duration = "10 ms"
routing = "first"
adaptation = { kind = "packet" }
[topology]
template = "leaf-spine"
leaves = 2
spines = 2
hosts = 1
host = { rate = "10 Gb/s", delay = "1 us" }
fabric = { rate = "10 Gb/s", delay = "1 us" }
[flows]
source = { kind = "cbr", rate = "800 Mb/s", size = "972 bytes" }
transport = { kind = "udp" }
"#;

/// Packets that left a port of such a run, and packets that its link lost.
fn passed(sets: &[&str], port: &str) -> (u64, u64) {
    let report = run_on_both(STEADY, sets);
    let port = entry(&report, "ports", port);
    (port["frames_whole_out"].as_u64().unwrap(), port["lost"]["link"].as_u64().unwrap_or(0))
}

#[test]
fn packets_take_the_routes_that_are_left_some_time_after_a_link_has_failed_and_return() {
    let down = "link='leaf1->spine1', down=[['2 ms', '6 ms']]";
    let stays = format!("loss=[{{{down}}}]");
    let leaves = format!("loss=[{{{down}, reroute_after='1 ms'}}]");
    let (up, other) = ("leaf1->spine1", "leaf1->spine2");
    for (sets, first, second) in [
        (vec![stays.as_str()], (600, 400), (0, 0)),
        (vec![leaves.as_str()], (500, 100), (400, 0)),
        (vec![leaves.as_str(), "port.default.buffer=1 packets"], (500, 100), (400, 0)),
    ] {
        for ((frames, lost), (out, gone)) in [(passed(&sets, up), first), (passed(&sets, other), second)] {
            assert!(frames.abs_diff(out) <= 1 && lost.abs_diff(gone) <= 1, "{sets:?}: {frames}, {lost}");
        }
    }
}

#[test]
fn flows_of_a_hash_that_cross_the_link_are_hashed_anew_and_sprayed_packets_avoid_it() {
    let down = "loss=[{link='leaf1->spine1', down=[['10 us', '150 us']], reroute_after='10 us'}]";
    for routing in ["routing=ecmp", "routing=ecmp-packet", "routing=first"] {
        let report = run_on_both(LEAF_SPINE, &[routing, down, "port.default.buffer=40 packets"]);
        let sent = octets(&report, "leaf1->spine");
        assert!(sent[1..].iter().all(|octets| *octets > 0.0) || routing == "routing=first", "{sent:?}");
        assert!(sent[0] < sent[1], "{routing}: {sent:?}");
    }
}

#[test]
fn packets_without_a_long_gap_take_one_route_and_each_flowlet_draws_another_one() {
    let spines = |sets: &[&str]| {
        let report = run_on_both(STEADY, &[&["routing=ecmp-flowlet"], sets].concat());
        octets(&report, "leaf1->spine").into_iter().map(|octets| octets / 1000.0).collect::<Vec<f64>>()
    };
    let alone = spines(&["flowlet_gap=10 us"]);
    assert!(
        alone.contains(&0.0) && alone.iter().sum::<f64>() > 990.0,
        "a gap of 10 us is not longer: {alone:?}"
    );
    let all = spines(&["flowlet_gap=9 us"]);
    assert!(all.iter().all(|packets| (450.0..550.0).contains(packets)), "every packet is a flowlet: {all:?}");
    // ten packets at a time, and then none for as long: a flowlet takes one route as a whole
    let bursts = "flows.source={kind='on-off', peak='800 Mb/s', burst=10, off='100 us', distribution='periodic', phase='aligned', size='972 bytes'}";
    let halves = spines(&["flowlet_gap=50 us", bursts]);
    assert!(halves.iter().all(|packets| packets % 10.0 == 0.0 && *packets > 100.0), "{halves:?}");
}

#[test]
fn a_link_of_weight_3_carries_three_times_as_many_packets_as_its_neighbour() {
    let weights = ["routing=ecmp-packet", "link.\"leaf1->spine2\".weight=3"];
    let sent = octets(&run_on_both(STEADY, &weights), "leaf1->spine");
    let share = sent[1] / (sent[0] + sent[1]);
    assert!((share - 0.75).abs() < 0.04, "{sent:?}");
    let explained =
        Request { text: STEADY, name: "s.toml", sets: &weights.map(String::from), ..Request::default() };
    let scenario = explained.scenario().unwrap().0;
    let text = explain(&scenario).to_string();
    assert_eq!(scenario::load(&text, "", &[]).unwrap().lines, scenario.lines, "and explain writes it");
}

#[test]
fn an_outage_that_is_over_before_it_is_noticed_changes_nothing() {
    let down = "link='leaf1->spine1', down=[['2 ms', '3 ms']]";
    let short = [format!("loss=[{{{down}, reroute_after='1 ms'}}]"), format!("loss=[{{{down}}}]")];
    let [one, other] = short.map(|set| run_on_both(STEADY, &[&set]));
    assert_eq!(one["flows"], other["flows"]);
}

#[test]
fn other_routes_that_cannot_be_are_refused() {
    let refused = |sets: &[&str], why: &str| {
        let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
        let request = Request { text: STEADY, name: "steady.toml", sets: &sets, ..Request::default() };
        let message = request.scenario().unwrap_err().message;
        assert!(message.contains(why), "{message}");
    };
    let reroute = "down=[['2 ms', '6 ms']], reroute_after='1 ms'";
    refused(
        &[&format!("loss=[{{link='leaf1->host1', {reroute}}}]")],
        "at 3 ms no route of at most 255 hops is left from \"host2\" to \"host1\", with leaf1->host1 down",
    );
    refused(&["loss=[{link='host', packets=[1], reroute_after='1 ms'}]"], "belongs to outages");
    refused(
        &[&format!("loss=[{{link='host', flow='flow1', {reroute}}}]")],
        "belongs to outages of a whole link",
    );
    refused(
        &[
            "topology={template='leaf-spine', leaves=2, spines=1025, hosts=1, host={rate='1 Gb/s', delay='1 us'}, \
           fabric={rate='1 Gb/s', delay='1 us'}}",
            "routing=ecmp-packet",
        ],
        "more than 1024 equally short routes",
    );
    refused(&["routing=hash"], "unknown value \"hash\" (allowed: first, ecmp, ecmp-packet, ecmp-flowlet)");
    refused(
        &["flowlet_gap=1 us"],
        "must be left out unless flowlets choose routes, not \"1 us\": set routing = \"ecmp-flowlet\"",
    );
    refused(
        &["routing=ecmp-flowlet", "flowlet_gap=0 s"],
        "must be longer than 0 s, not \"0 s\"; routing = \"ecmp-packet\" has every packet draw a route",
    );
    refused(
        &["link.\"leaf1->spine1\".weight=2"],
        "must be left out with routing = \"first\", which takes the first of equal lines",
    );
    refused(&["routing=ecmp", "link.\"leaf1->spine1\".weight=0"], "must be from 1 to 65535");
    let earlier = "loss=[{link='leaf1->spine1', down=[['2 ms', '6 ms']], reroute_after='-1 ms'}]";
    refused(&[earlier], "loss[0].reroute_after: \"-1 ms\": a time cannot be negative");
}

#[test]
fn several_routes_for_cells_and_for_blocks_with_parity_are_refused() {
    let lost = "loss=[{link='leaf1->spine1', down=[['2 ms', '6 ms']], reroute_after='1 ms'}]";
    let coded = "flows={source={kind='fec-block', peak='22 Mb/s', burst=33, activity=0.5, block=10, parity=1, blocks=10, \
                 mtu='1500 bytes'}, transport={kind='fec', parity_cells=0}}";
    let cells = "adaptation={kind='aal5'}";
    for (network, why) in [
        (coded, "several routes for one flow change the order of its packets"),
        (cells, "several routes for one flow need packet links everywhere"),
    ] {
        for (sets, key) in [("routing=ecmp-packet", "routing"), (lost, "loss[0].reroute_after")] {
            let sets = [sets, network].map(str::to_string);
            let request = Request { text: STEADY, name: "steady.toml", sets: &sets, ..Request::default() };
            let message = request.scenario().unwrap_err().message;
            assert!(message.contains(why) && message.contains(key), "{message}");
        }
    }
}

#[test]
fn what_a_template_cannot_make_is_refused() {
    let message = |line: &str, other: &str| {
        let text = LEAF_SPINE.replace(line, other);
        Request { text: &text, name: "fabric.toml", ..Request::default() }.scenario().unwrap_err().message
    };
    let refused = |line: &str, other: &str, why: &str| {
        let message = message(line, other);
        assert!(message.contains(why), "{message}");
    };
    refused("leaves = 2", "leaves = 1", "topology.leaves must be at least 2, not 1");
    refused("spines = 4", "spines = 0", "topology.spines must be at least 1, not 0");
    refused("leaves = 2", "leaves = 1000000", "topology.leaves must be at most 100000, not 1000000");
    let most = |key: &str, most: u32, count: u32| {
        format!("topology.{key} must be at most {most} here, 100000 at all leaves together, not {count}")
    };
    refused("hosts = 32", "hosts = 60000", &most("hosts", 50_000, 60_000));
    refused("spines = 4", "spines = 4000000000", &most("spines", 50_000, 4_000_000_000));
    refused("hosts = 32", "hosts = 32\nlinks = 12501", &most("links", 12_500, 12_501));
    let tree = |radix| format!("template = \"fat-tree\"\nradix = {radix}");
    let leaves = "template = \"leaf-spine\"\nleaves = 2\nspines = 4\nhosts = 32";
    refused(leaves, &tree(5), "topology.radix must be an even number of at least 2, not 5");
    refused(
        leaves,
        &tree(74),
        "topology.radix must be at most 72, not 74: a fat tree has at most 100000 hosts",
    );
}

/// Two flows whose packets alternate between two routes, one of which is 300 µs longer; no packet is lost.
const SPRAYED: &str = r#"
name = "sprayed"
duration = "200 ms"
routing = "ecmp-packet"
adaptation = { kind = "packet" }
node = [
    { name = "a", kind = "host" }, { name = "b", kind = "host" }, { name = "l", kind = "router" }, { name = "m", kind = "router" },
    { name = "s", kind = "router" }, { name = "t", kind = "router" },
]
link = [
    { from = "a", to = "l", rate = "10 Gb/s", delay = "1 us" }, { from = "m", to = "b", rate = "10 Gb/s", delay = "1 us" },
    { from = "l", to = "s", rate = "10 Gb/s", delay = "50 us" }, { from = "s", to = "m", rate = "10 Gb/s", delay = "50 us" },
    { from = "l", to = "t", rate = "10 Gb/s", delay = "200 us" }, { from = "t", to = "m", rate = "10 Gb/s", delay = "200 us" },
]
flow = [{ name = "f", from = "a", to = "b" }]
[flows]
source = { kind = "greedy" }
transport = { kind = "tcp", profile = "linux", laws = "rfc", window = "300 kB" }
"#;

#[test]
fn reports_of_duplicates_teach_a_sender_that_packets_overtake_each_other() {
    let figures = |dsack: bool| {
        let report = run_on_both(SPRAYED, &[&format!("flows.transport.dsack={dsack}")]);
        let flow = entry(&report, "flows", "f");
        let lost =
            report["ports"].as_array().unwrap().iter().filter(|port| port["lost"] != json!({})).count();
        assert_eq!(lost, 0, "nothing is lost");
        (flow["segments_retransmitted"].as_u64().unwrap(), flow["goodput_bps"].as_f64().unwrap())
    };
    let ((without, slow), (with, fast)) = (figures(false), figures(true));
    assert!(with < 50 && with * 3 < without, "{with} needless repeats instead of {without}");
    assert!(fast > 2.0 * slow, "{fast} b/s instead of {slow}");
}

/// A policed flow whose packets are spread over two lines of its first switch.
const SPREAD_AND_POLICED: &str = r#"
name = "spread and policed"
duration = "40 ms"
adaptation = { kind = "packet" }
topology = { template = "leaf-spine", leaves = 2, spines = 2, hosts = 2, host = { rate = "100 Mb/s", delay = "1 ms" }, fabric = { rate = "8 Mb/s", delay = "200 us" } }
port.default = { buffer = "9 packets", admission = { policy = "red" } }
flows = { transport = { kind = "udp" }, source = { kind = "cbr", rate = "1 Mb/s", size = "500 bytes" } }
flow = [{ name = "f2", from = "host4", to = "host1", source = { kind = "poisson", rate = "33.3 Mb/s", size = "207 bytes" }, police = { kind = "gcra", rate = "5 Mb/s", action = "drop" } }]
"#;

#[test]
fn a_policer_behind_spread_ports_counts_in_the_order_of_arrival() {
    let ports: [&[&str]; 4] = [
        &[],
        &["port.default.admission={policy='tail-drop'}"],
        &["port.\"leaf2->spine2\"={buffer='9 packets', admission={policy='tail-drop'}}"], // one judges, one has a rule
        &[
            "port.default={memory='chip'}",
            "memory.chip={size='40 kB', admission={policy='dynamic-threshold'}}",
        ],
    ];
    let rates = [&[][..], &["topology.fabric.rate=800 Mb/s"]];
    for (ports, rate) in ports.iter().flat_map(|ports| rates.iter().map(move |rate| (ports, rate))) {
        for routing in ["routing=ecmp", "routing=ecmp-packet", "routing=ecmp-flowlet"] {
            let sets = [&[routing], *ports, *rate].concat();
            let report = run_on_both(SPREAD_AND_POLICED, &sets);
            let policed = |port: &Json| port["lost"]["policed"].as_u64();
            let policed: u64 = report["ports"].as_array().unwrap().iter().filter_map(policed).sum();
            assert_eq!(policed, 571, "{sets:?}: what reaches the policer is the same on every route");
        }
    }
}
