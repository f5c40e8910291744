//! Fabrics: templates of leaf-spines and fat-trees, and flows that a hash spreads over equally short routes.

#![allow(clippy::unwrap_used)] // here a panic is the report

#[path = "both/mod.rs"]
mod both;

use std::collections::BTreeSet;

use both::run_on_both;
use pushout_core::api::Request;
use pushout_core::scenario::explain;
use pushout_core::scenario::model::Scenario;

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
    let path = &scenario.vcs[scenario.flows[flow].vc].path;
    path.iter().map(|line| scenario.lines[*line].name.as_str()).collect()
}

/// Flows over every line whose name begins like this.
fn flows_over(scenario: &Scenario, begin: &str) -> Vec<u64> {
    let count =
        |(line, _)| scenario.flows.iter().filter(|flow| scenario.vcs[flow.vc].path.contains(&line)).count();
    let chosen = scenario.lines.iter().enumerate().filter(|(_, line)| line.name.starts_with(begin));
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
    // with one seed an aggregation switch would see flows of one hash, and send them all to the same core switch
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
    refused(leaves, &tree(74), "topology.radix must be at most 72: a fat tree has at most 100000 hosts");
}
