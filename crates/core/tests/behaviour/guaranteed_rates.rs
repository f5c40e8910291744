//! Paper 003 (D. Wu, H. J. Chao, 1998), section 4.3.3, as a whole: ten TCP connections with minimum cell rates over one
//! link, with every push-out policy, audited.

use std::fmt::Write;
use std::sync::Arc;

use pushout_core::audit::audit;
use pushout_core::buffer::pushout;
use pushout_core::engine;
use pushout_core::language::spec::Field;
use pushout_core::language::tree::Node;
use pushout_core::metrics::fairness::jain;
use pushout_core::scenario;
use pushout_core::scenario::model::Scenario;
use pushout_core::verdict::Reason;

/// Table 3, in megabits per second.
const MCR: [f64; 10] = [2.0, 4.0, 8.0, 10.0, 10.0, 15.0, 15.0, 18.0, 18.0, 20.0];

const WRR: &str = "{ policy = \"wrr-mcr\" }";

const LAN: &str = r#"
name = "gfr"
duration = "1 s"

[topology]
template = "dumbbell"
sources = 10
access     = { rate = "155.52 Mb/s", delay = "5 us" }
bottleneck = { rate = "155.52 Mb/s", delay = "5 us" }
egress     = { rate = "155.52 Mb/s", delay = "5 us" }

[adaptation]
kind = "aal5"

[port.bottleneck]
buffer = "3000 cells"

[flows]
source = { kind = "greedy" }

[flows.transport]
kind = "tcp"
mss = 2048
window = "64 KiB"
delayed_ack = false
slow_timer = "1 ms"
fast_timer = "1 ms"
min_rto = "10 ms"
initial_rto = "500 ms"
"#;

fn lan(scheduler: &str, pushout: Option<&str>) -> Scenario {
    let mut text = LAN.replace("cells\"\n", &format!("cells\"\nscheduler = {scheduler}\n"));
    for (i, mcr) in MCR.iter().enumerate() {
        write!(text, "\n[[flow]]\nname = \"flow{}\"\nmcr = \"{mcr} Mb/s\"\n", i + 1).unwrap();
    }
    let mut scenario = scenario::load(&text, "gfr.toml", &[]).unwrap();
    let bottleneck = scenario.lines.iter_mut().find(|line| line.name == "bottleneck").unwrap();
    Arc::make_mut(&mut bottleneck.port).pushout = pushout.map(by_name);
    scenario
}

fn by_name(name: &str) -> pushout::Spec {
    Field::read(&Node::named("policy", name), "pushout").unwrap()
}

/// Goodput of every flow over the second in megabits per second, and units that were pushed out.
fn run(scheduler: &str, pushout: Option<&str>) -> (Vec<f64>, u64) {
    let scenario = lan(scheduler, pushout);
    let outcome = engine::run(&scenario, false);
    assert_eq!(audit(&scenario, &outcome).failures, Vec::<String>::new(), "{scheduler}, {pushout:?}");
    let rates = outcome.flows.iter().map(|flow| flow.figures.bytes as f64 * 8e-6).collect();
    let lost = outcome.network.ports.iter().map(|port| port.counters().lost_for(Reason::PushedOut)).sum();
    (rates, lost)
}

/// Compute the fair share of a circuit in the line's 136.58 Mb/s of segments: its MCR and an equal part of the excess,
/// both in cells on the line.
fn fair(mcr: f64) -> f64 {
    (mcr + (155.52 - MCR.iter().sum::<f64>()) / 10.0) * 2048.0 / 2332.0
}

#[test]
fn every_push_out_policy_keeps_the_books_of_a_whole_network() {
    for entry in pushout::CATALOGUE {
        let (rates, pushed_out) = run(WRR, Some(entry.name));
        assert!(pushed_out > 1000, "{}: {pushed_out}", entry.name);
        let total: f64 = rates.iter().sum();
        assert!((110.0..136.6).contains(&total), "{}: {total} Mb/s", entry.name);
    }
}

#[test]
fn pushing_out_entire_packets_keeps_the_link_full_and_gives_more_to_those_who_were_promised_more() {
    for scheme in ["pushout-2", "quasi-pushout"] {
        let (rates, _) = run(WRR, Some(scheme));
        assert!(rates.iter().sum::<f64>() > 0.97 * 136.58, "{scheme}: {rates:?}");
        for (rate, mcr) in rates.iter().zip(MCR) {
            assert!((rate - fair(mcr)).abs() < 3.0, "{scheme}: {rate} instead of {} Mb/s", fair(mcr));
        }
    }
}

#[test]
fn without_a_guarantee_all_circuits_get_the_same() {
    let (rates, _) = run("{ policy = \"round-robin\" }", Some("pushout-2"));
    assert!(rates.iter().all(|rate| (rate - 13.6).abs() < 1.5), "{rates:?}");
}

#[test]
fn rates_are_fairer_with_mcr_plus() {
    // Table 5: from 0.774 to 0.995
    let fairness = |scheduler| {
        let (rates, _) = run(scheduler, Some("pushout-2"));
        let excess: Vec<f64> = rates.iter().zip(MCR).map(|(rate, mcr)| rate - mcr).collect();
        jain(&excess).unwrap()
    };
    let (plain, plus) = (fairness(WRR), fairness("{ policy = \"wrr-mcr\", mcr_plus = true }"));
    assert!(plus > plain, "{plain} {plus}");
}
