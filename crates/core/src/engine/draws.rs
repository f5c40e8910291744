//! Tests of every random draw about a unit: it depends only on the unit, not on earlier events.

use std::collections::BTreeMap;

use super::run;
use crate::buffer::admission;
use crate::rng::log::{DrawnBlock, during};
use crate::scenario::load;

/// Parts of a test's scenario: keys of the links from hosts, the section of the port, and other sections.
struct DrawnSections<'a> {
    link: &'a str,
    port: String,
    more: &'a str,
}

/// Write a scenario: four open-loop sources and a TCP connection through two ports, on packet links or on cell links.
fn scenario(DrawnSections { link, port, more }: &DrawnSections<'_>, is_packets: bool) -> String {
    let (adaptation, rate) = if is_packets { ("packet", "10 Mb/s") } else { ("aal5", "12 Mb/s") };
    let (mut nodes, mut links, mut flows) = (String::new(), String::new(), String::new());
    for host in 0..5 {
        nodes += &format!("{{ name = 'a{host}', kind = 'host' }}, ");
        links += &format!(
            "{{ name = 'in{host}', from = 'a{host}', to = 'r', rate = '{rate}', delay = '1 ms'{link} }}, "
        );
        let keys = match host {
            4 => "source = { kind = 'greedy' }, transport = { kind = 'tcp', initial_window = 20 }",
            3 => {
                "source = { kind = 'on-off', peak = '6 Mb/s', on = '5 ms', off = '5 ms', size = '900 bytes' }"
            }
            _ => {
                "source = { kind = 'poisson', rate = '2.5 Mb/s', size = { mix = [['1000 bytes', 2], ['200 bytes', 1]] } }"
            }
        };
        flows += &format!("{{ name = 'f{host}', from = 'a{host}', to = 'b', {keys} }}, ");
    }
    let kind = if is_packets { "router" } else { "switch" };
    format!(
        "name = 'draws'\nduration = '400 ms'\nadaptation = {{ kind = '{adaptation}' }}\n\
         node = [{nodes} {{ name = 'r', kind = '{kind}' }}, {{ name = 's', kind = '{kind}' }}, {{ name = 'b', kind = 'host' }}]\n\
         link = [{links} {{ name = 'out', from = 'r', to = 's', rate = '10 Mb/s', delay = '1 ms' }},\n\
         {{ name = 'last', from = 's', to = 'b', rate = '8 Mb/s', delay = '0 s' }}]\nflow = [{flows}]\n\
         [flows]\ntransport = {{ kind = 'udp', ecn = true }}\n{port}\n{more}\n"
    )
}

/// Return every draw of a run under its key: the component that draws, and the unit for which it draws.
fn drawn(text: &str, sets: &[&str]) -> BTreeMap<([u32; 2], String), [u32; 4]> {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    let scenario = load(text, "draws.toml", &sets).unwrap_or_else(|why| panic!("{text}\n{why}"));
    let key = |(component, subject, block, numbers): DrawnBlock| {
        ((component, format!("{subject:?} {block}")), numbers)
    };
    during(|| drop(run(&scenario, true))).into_iter().map(key).collect()
}

/// Check that the loss of one early packet of an open-loop source on its first link does not change the draws for
/// other packets.
fn check(what: &str, draws: &DrawnSections<'_>, is_packets: bool) {
    for engine in ["fast", "reference"] {
        let text = scenario(draws, is_packets);
        let engine = format!("engine='{engine}'");
        let whole = drawn(&text, &[&engine]);
        assert!(whole.len() > 30, "{what}, {engine}: only {} draws", whole.len());
        for (flow, number) in [(0, 3), (3, 5)] {
            let units = if is_packets { "packets" } else { "cells" };
            let loss = format!("[[loss]]\nlink = 'in{flow}'\n{units} = [{number}]\n");
            let part = drawn(&format!("{text}{loss}"), &[&engine]);
            let both = part.iter().filter(|(key, _)| whole.contains_key(key)).count();
            // a scheduler's draws depend on instants, which the loss changes
            let least = if what.contains("scheduler") { 10 } else { whole.len() / 2 };
            assert!(both > least, "{what}, {engine}: {both} draws of {} about the same", whole.len());
            for (key, numbers) in &part {
                assert!(whole.get(key).is_none_or(|other| other == numbers), "{what}, {engine}: {key:?}");
            }
        }
    }
}

/// Write the section of a port with this admission policy and a buffer of 40 packets or 800 cells.
fn port_with(policy: &str, is_packets: bool) -> String {
    let buffer = if is_packets { "40 packets" } else { "800 cells" };
    format!("[port.out]\nbuffer = '{buffer}'\nadmission = {{ {policy} }}")
}

const DRAWING: [&str; 10] = [
    "policy = 'red', min_threshold = '5 %', max_threshold = '90 %', weight = 0.1, max_p = 0.3",
    "policy = 'red', min_threshold = '5 %', max_threshold = '90 %', weight = 0.1, max_p = 0.3, action = 'mark'",
    "policy = 'red', min_threshold = '5 %', max_threshold = '90 %', weight = 0.1, max_p = 0.3, adaptive = true",
    "policy = 'fred', min_threshold = '30 %', max_threshold = '95 %', weight = 0.02, max_p = 0.1, min_packets = 1",
    "policy = 'atm-red', min_threshold = '5 %', max_threshold = '90 %', weight = 0.1, max_p = 0.9",
    "policy = 'pie', target = '2 ms', burst = '1 ms', alpha = 100.0, beta = 10.0, derandomise = false",
    "policy = 'pi2', target = '2 ms', alpha = 10.0",
    "policy = 'wfepd', memory = 0.0, max_p = 1.0",
    "policy = 'dfba', low = '5 %', high = '95 %'",
    "policy = 'pie', law = 'linux', target = '2 ms', burst = '1 ms', alpha = 100.0, beta = 10.0 }\nscheduler = { policy = 'fair-queue'",
];

#[test]
fn every_admission_policy_that_draws_is_among_them() {
    let takes_draws = |file: &str| file.contains("context.keyed(") || file.contains("context.draws(");
    let drawing = admission::CATALOGUE.iter().filter(|entry| takes_draws(entry.file)).map(|entry| entry.name);
    for name in drawing.filter(|name| *name != "program") {
        let is_it = |policy: &&str| policy.starts_with(&format!("policy = '{name}'"));
        assert!(DRAWING.iter().any(is_it), "{name} draws random numbers: add it to DRAWING");
    }
}

#[test]
fn draws_of_admission_policies_depend_on_the_unit() {
    for policy in DRAWING {
        for is_packets in [true, false] {
            check(
                policy,
                &DrawnSections { link: "", port: port_with(policy, is_packets), more: "" },
                is_packets,
            );
        }
    }
}

#[test]
fn draws_of_programs_depend_on_the_unit_or_on_the_instant() {
    let refuse = "r0 = draw', 'r1 = 0.2', 'r2 = r0 < r1', 'unless r2 jump 5', 'refuse', 'accept";
    let tick = "tick = { every = '1 ms', code = ['r0 = draw', 'state.a = r0', 'end'] }, state = { a = 0.0 }";
    let policies = [
        format!("policy = 'program', code = ['{refuse}'], {tick}"),
        format!("policy = 'program', asks = 'unit', code = ['accept'], at_head = ['{refuse}']"),
    ];
    for (policy, is_packets) in policies.iter().flat_map(|policy| [(policy, true), (policy, false)]) {
        check(policy, &DrawnSections { link: "", port: port_with(policy, is_packets), more: "" }, is_packets);
    }
    let queue = "code = ['r0 = draw', 'r1 = longest', 'choose r1']";
    for is_packets in [true, false] {
        let program = format!("policy = 'tail-drop' }}\nscheduler = {{ policy = 'program', {queue}");
        check(
            &program,
            &DrawnSections { link: "", port: port_with(&program, is_packets), more: "" },
            is_packets,
        );
        let pushing = format!(
            "policy = 'tail-drop' }}\npushout = {{ policy = 'program', {queue} }}\nscheduler = {{ policy = 'round-robin'"
        );
        check(
            &pushing,
            &DrawnSections { link: "", port: port_with(&pushing, is_packets), more: "" },
            is_packets,
        );
    }
}

#[test]
fn draws_of_links_hosts_and_policers_depend_on_the_unit() {
    let gilbert = "[[loss]]\nlink = 'out'\ngilbert = { to_bad = 0.05, to_good = 0.3 }\n";
    let police = "[flows.police]\nkind = 'random'\nprobability = 0.1\naction = 'drop'\n";
    for is_packets in [true, false] {
        let port = || port_with("policy = 'tail-drop'", is_packets);
        let of = |link, more| DrawnSections { link, port: port(), more };
        check("a line with bursts of losses", &of("", gilbert), is_packets);
        check("a policer", &of("", police), is_packets);
        check("interfaces that rest", &of(", pause = '100 us'", ""), is_packets);
    }
}

#[test]
fn connections_that_share_a_circuit_draw_apart() {
    let text = "name = 'shared'\nduration = '2 s'\nadaptation = { kind = 'packet' }\n\
                topology = { template = 'dumbbell', sources = 1, access = { rate = '100 Mb/s', delay = '1 ms' }, \
                bottleneck = { rate = '10 Mb/s', delay = '1 ms' }, egress = { rate = '100 Mb/s', delay = '1 ms' } }\n\
                port.bottleneck = { buffer = '60 kB', admission = { policy = 'red', weight = 1, min_threshold = '1 %', max_threshold = '90 %' } }\n\
                flow = [{ name = 'flow1', connections = 3 }]\n\
                flows = { source = { kind = 'file', size = '60 kB' }, transport = { kind = 'tcp' } }\n";
    for engine in ["reference", "fast"] {
        let scenario = load(text, "shared.toml", &[format!("engine={engine}")]).unwrap();
        let drawn = during(|| drop(run(&scenario, false)));
        let mut subjects: Vec<_> =
            drawn.iter().map(|(key, subject, block, _)| (key, subject, block)).collect();
        let count = subjects.len();
        subjects.sort_unstable();
        subjects.dedup();
        assert!(count > 100, "only {count} draws");
        assert_eq!(subjects.len(), count, "{engine}: two packets have the same draw");
    }
}
