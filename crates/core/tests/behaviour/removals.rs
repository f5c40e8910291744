//! Every admission policy beside every other component that cuts packets or takes waiting ones away: its books must follow.

use std::collections::BTreeMap;

use crate::behaviour::both::run_on_both;
use pushout_core::buffer::admission;
use pushout_core::scenario::load;

/// Four senders of two classes, together faster than the line behind their router.
const CROWD: &str = r#"
    name = "crowd"
    duration = "60 ms"
    warmup = "7 ms"
    adaptation = { kind = "packet" }
    topology = { template = "dumbbell", sources = 4, access = { rate = "100 Mb/s", delay = "1 us" }, bottleneck = { rate = "10 Mb/s", delay = "1 us" } }
    queue = { qa = {}, qb = {} }
    flows = { source = { kind = "poisson", rate = "6 Mb/s", size = "1000 bytes" }, transport = { kind = "udp", ecn = true } }
    [[flow]]
    name = "flow2"
    queue = "qb"
    [[flow]]
    name = "flow4"
    queue = "qb"
    source = { kind = "greedy" }
    transport = { kind = "tcp", sack = true, initial_window = 10, min_rto = "5 ms" }
"#;

const MEMORY: &str = "memory.m={size='9 kB', admission={policy='dynamic-threshold'}}";
const STORM: [&str; 2] = [
    "storm=[{port='bottleneck', from='10 ms', to='13 ms'}, {port='bottleneck', queue='qa', from='20 ms', to='30 ms'}]",
    "port.bottleneck.watchdog={detect='1 ms', restore='2 ms'}",
];

/// Return what removes packets, by name: the overrides, without those of the policy.
fn events() -> Vec<(&'static str, Vec<&'static str>)> {
    let pushout = |policy| {
        vec!["port.bottleneck.buffer=9 kB", "port.bottleneck.scheduler={policy='round-robin'}", policy]
    };
    let of_memory = |keys: &[&'static str]| [&[MEMORY, "port.bottleneck.memory=m"], keys].concat();
    vec![
        ("cut", of_memory(&["queue.qa.trim={}"])),
        ("cut into another class", of_memory(&["queue.qa.trim={queue='qb'}"])),
        ("pushed out of a memory at the tail", of_memory(&["memory.m.pushout={policy='longest-queue'}"])),
        (
            "pushed out of a memory at the head",
            of_memory(&["memory.m.pushout={policy='longest-queue', end='head'}"]),
        ),
        ("pushed out of a memory as packets", of_memory(&["memory.m.pushout={policy='pushout-2'}"])),
        ("pushed out of a memory at its head", of_memory(&["memory.m.pushout={policy='pushout-1'}"])),
        (
            "pushed out of a memory from the tail",
            of_memory(&["memory.m.pushout={policy='pushout-3', last_eom='goes'}"]),
        ),
        ("pushed out of a memory by a register", of_memory(&["memory.m.pushout={policy='quasi-pushout'}"])),
        ("pushed out of a memory by a program", of_memory(&["memory.m.pushout={policy='program'}"])),
        ("expelled", of_memory(&["memory.m.admission={policy='occamy', alpha=0.5}"])),
        ("cleared", [&["port.bottleneck.buffer=9 kB"][..], &STORM].concat()),
        ("cut and cleared", of_memory(&[&["queue.qa.trim={}"][..], &STORM].concat())),
        ("pushed out by packets", pushout("port.bottleneck.pushout={policy='pushout-2'}")),
        ("pushed out at the tail", pushout("port.bottleneck.pushout={policy='pushout-3'}")),
        ("pushed out at the head", pushout("port.bottleneck.pushout={policy='pushout-1'}")),
    ]
}

#[test]
fn the_books_of_every_policy_follow_whatever_takes_packets_away() {
    let mut ran: BTreeMap<&str, u32> = BTreeMap::new();
    for entry in admission::CATALOGUE.iter().filter(|entry| entry.name != "program") {
        for (event, sets) in events() {
            let policy = format!("port.bottleneck.admission={{policy='{}'}}", entry.name);
            let sets = [&sets[..], &[&policy]].concat();
            let owned: Vec<String> = sets.iter().map(ToString::to_string).collect();
            if load(CROWD, "crowd.toml", &owned).is_ok() {
                run_on_both(CROWD, &sets);
                *ran.entry(event).or_default() += 1;
            }
        }
    }
    let most = admission::CATALOGUE.len() as u32;
    assert!(events().iter().all(|(event, _)| ran.get(event) >= Some(&(most / 2))), "{ran:?} of {most}");
}
