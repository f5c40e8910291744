//! The network of paper 001: Table 6.1, and two thirds of every link for the end-to-end connections.

use pushout_core::buffer::capacity::Capacity;
use pushout_core::report::report;
use pushout_core::scenario::contract::passing_circuits;
use pushout_core::scenario::model::{NodeKind, Scenario};

use super::{load, port, run};
use pushout_core::units::ids::FlowId;

const EPD: &str = include_str!("../../../../../scenarios/multi-hop.toml");
const FCVC: &str = include_str!("../../../../../scenarios/multi-hop-fcvc.toml");

/// Circuits with a buffer behind the lines of a class, and their cells in all.
fn buffers(scenario: &Scenario, class: &str) -> (u64, u64) {
    let passing = passing_circuits(scenario);
    let lines = scenario.lines.iter().zip(passing.iter()).filter(|(line, _)| line.class == class);
    lines.fold((0, 0), |(circuits, cells), (line, vcs)| {
        let terms = line.port.gates.credit.as_ref().expect("credits on every line of data").terms();
        let vcs = vcs.len() as u64;
        (circuits + vcs, cells + vcs * terms.room)
    })
}

#[test]
fn the_network_needs_the_memory_of_table_6_1() {
    let scenario = load(FCVC, &[]);
    let table = ["near", "cross", "far"].map(|class| buffers(&scenario, class));
    assert_eq!(table, [(26, 2418), (8, 5560), (2, 3580)]);
    let cells: u64 = table.iter().map(|(_, cells)| cells).sum();
    assert_eq!((cells, cells * 53), (11_558, 612_574));
    let document = report(&scenario, &run(&load(FCVC, &["duration=1 ms", "warmup=0 s"])), None);
    let ports = document["ports"].as_array().unwrap();
    assert_eq!(ports.iter().map(|port| port["credit_room"].as_u64().unwrap()).sum::<u64>(), 11_558);
    let room = |name: &str| scenario.lines[port(&scenario, name)].port.capacity.limit().unwrap();
    assert_eq!(room("entry"), 4 * 93, "from two hosts");
    assert_eq!(room("a"), 4 * 93 + 2 * 695, "from sw1 and a host at 0.95 ms");
    assert_eq!(room("c"), 4 * 93 + 2 * 1790, "from sw3 and the host at 2.5 ms");
}

#[test]
fn six_circuits_share_each_of_the_three_links_and_four_the_way_there() {
    let scenario = load(EPD, &[]);
    let passing = passing_circuits(&scenario);
    let sharing = |name: &str| passing.at(port(&scenario, name)).len();
    assert_eq!(["a", "b", "c", "entry", "access1", "exit7", "access5"].map(sharing), [6, 6, 6, 4, 2, 2, 2]);
    let delays = |flow: usize| -> u64 {
        let path = &scenario.vcs[scenario.flows[FlowId::new(flow)].vc].path;
        path.iter().map(|line| scenario.lines[*line].delay.least().0).sum::<u64>() / 1_000_000
    };
    let us: Vec<u64> = (0..10).map(delays).collect();
    assert_eq!(us, [500, 500, 500, 500, 2000, 2000, 2000, 2000, 2600, 2600], "one way");
}

#[test]
fn where_packets_travel_whole_the_switches_are_routers() {
    let scenario = load(EPD, &["adaptation={ kind = 'packet' }"]);
    let routers = scenario.nodes.iter().filter(|node| node.kind == NodeKind::Router).count();
    assert_eq!((routers, scenario.nodes.len()), (4, 12));
    assert_eq!(scenario.lines[port(&scenario, "a")].port.capacity, Capacity::limited(150_000));
}

#[test]
fn with_credits_end_to_end_connections_have_two_thirds_of_every_link() {
    let scenario = load(FCVC, &["duration=400 ms", "warmup=100 ms"]);
    let outcome = run(&scenario);
    let seconds = 0.3;
    let rate = |name: &str| -> f64 {
        let flows = scenario.flows.iter().zip(&outcome.flows).filter(|(spec, _)| spec.name.starts_with(name));
        flows.map(|(_, flow)| flow.figures.bytes as f64 * 8.0 / seconds).sum()
    };
    // 1460 octets of every 32 cells.
    let link = 149.76e6 * 1460.0 / (32.0 * 53.0);
    let near = |rate: f64, share: f64| (rate / link / share - 1.0).abs() < 0.01;
    assert!(near(rate("e2e"), 2.0 / 3.0), "{} of the link", rate("e2e") / link);
    for cross in [["cross1", "cross2"], ["cross3", "cross4"], ["cross5", "cross6"]] {
        let pair = rate(cross[0]) + rate(cross[1]);
        assert!(near(pair, 1.0 / 3.0), "{cross:?}: {} of the link", pair / link);
    }
    for port in &outcome.network.ports {
        assert_eq!(port.counters().lost_total(), 0);
    }
    let fast = outcome.flows.iter().map(|flow| flow.figures.fast_retransmits).sum::<u64>();
    assert_eq!(fast, 0, "whatever was sent again was sent after a timeout");
}
