//! A report holds what is declared.

use std::collections::BTreeSet;

use super::*;
use crate::report::{Listing, Report};
use crate::scenario::Warning;
use crate::{audit, engine, scenario};

/// Check a report against the keys, and record which keys occurred.
fn compare(path: &str, node: &Json, keys: &[ReportKey], seen: &mut BTreeSet<String>) {
    let table = node.as_object().unwrap_or_else(|| panic!("{path} is no table"));
    for name in table.keys() {
        assert!(keys.iter().any(|key| key.name == name), "{path}.{name} is not declared");
    }
    for ReportKey { name, holds, when, .. } in keys {
        let at = format!("{path}.{name}");
        let Some(value) = table.get(*name) else {
            assert!(!when.is_empty(), "{at} is missing");
            continue;
        };
        seen.insert(at.clone());
        let list = || value.as_array().unwrap_or_else(|| panic!("{at} is no list"));
        let right = match holds {
            Text => value.is_string(),
            Flag => value.is_boolean(),
            Whole | Count => value.is_u64(),
            Fixed(_) => value.is_number(),
            Number(_) => value.is_number() || value.is_null(),
            Numbers(_) => list().iter().all(|value| value.is_number() || value.is_null()),
            Texts => list().iter().all(Json::is_string),
            Wholes => list().iter().all(Json::is_u64),
            Reasons => value.as_object().unwrap().values().all(Json::is_u64),
            ListsByReason => {
                let lists = || value.as_object().unwrap().values().filter_map(Json::as_array);
                lists().count() == Reason::ALL.len() && lists().flatten().all(Json::is_u64)
            }
            Table(below) => {
                compare(&at, value, below, seen);
                true
            }
            Entries(below) | Rows(below) => {
                list().iter().for_each(|entry| compare(&at, entry, below, seen));
                true
            }
        };
        assert!(right, "{at} is {value}");
    }
}

fn every(path: &str, keys: &[ReportKey], all: &mut BTreeSet<String>) {
    for ReportKey { name, holds, .. } in keys {
        let at = format!("{path}.{name}");
        all.insert(at.clone());
        if let Table(below) | Entries(below) | Rows(below) = holds {
            every(&at, below, all);
        }
    }
}

#[test]
fn a_report_holds_what_is_declared_and_nothing_else() {
    let texts = [
        (
            include_str!("../../../../../scenarios/lan.toml"),
            vec!["measure.cwnd=[\"flow1\"]".to_string(), "measure.transfers=true".to_string()],
        ),
        (include_str!("../../../../../scenarios/gpj.toml"), vec![]),
        (
            include_str!("../../../../../scenarios/lan.toml"),
            vec![
                "port.bottleneck={ memory = \"chip\" }".to_string(),
                "memory.chip={ size = \"500 cells\" }".to_string(),
                "measure.memories=[\"chip\"]".to_string(),
            ],
        ),
        (
            include_str!("../../../../../scenarios/lan.toml"),
            vec![
                "port.bottleneck.admission={ policy = \"probe\", mark_from = \"0 cells\" }".to_string(),
                "flows.transport.ecn=true".to_string(),
                "flows.transport.sack=true".to_string(),
            ],
        ),
        (
            include_str!("../../../../../scenarios/w1-packet.toml"),
            vec![
                "port.bottleneck.buffer=\"20 packets\"".to_string(),
                "port.bottleneck.admission={ policy = \"step\", threshold = \"5 packets\", action = \"trim\" }"
                    .to_string(),
                "flows.transport.initial_window=20".to_string(),
            ],
        ),
        (
            include_str!("../../../../../scenarios/w1-packet.toml"),
            vec![
                "storm=[{ port = \"bottleneck\", from = \"1 ms\", to = \"2 ms\" }]".to_string(),
                "port.bottleneck={ memory = \"chip\", watchdog = { detect = \"1 s\", restore = \"1 s\" } }".to_string(),
                "memory.chip={ size = \"20 cells\", cell = \"1500 bytes\" }".to_string(),
                "queue.data={ trim = {}, limit = \"2 cells\" }".to_string(),
                "flows.transport.initial_window=20".to_string(),
            ],
        ),
        (
            include_str!("../../../../../scenarios/multi-hop.toml"),
            ["measure.delivery=true", "measure.sojourn=[\"a\"]", "measure.marks=[\"a\"]"].map(str::to_string).to_vec(),
        ),
        (
            include_str!("../../../../../scenarios/w1-packet.toml"),
            vec![
                "flows.transport.ecn=true".to_string(),
                "flows.transport.congestion=\"dctcp\"".to_string(),
                "port.bottleneck.admission={ policy = \"pie\" }".to_string(),
                "measure.state=[\"bottleneck\", \"flow1\"]".to_string(),
            ],
        ),
        (
            include_str!("../../../../../scenarios/cellular.toml"),
            vec!["reorder=[{ link = \"radio\", share = \"10 %\", by = \"1 ms\" }]".to_string()],
        ),
        (
            include_str!("../../../../../scenarios/wfepd-example.toml"),
            vec![
                "measure.window=\"20 ms\"".to_string(),
                "measure.occupancy=[\"bottleneck\"]".to_string(),
                "measure.losses=[\"bottleneck\"]".to_string(),
            ],
        ),
    ];
    let fabric = r#"
name = "drawn"
duration = "1 s"
adaptation = { kind = "packet" }
topology = { template = "leaf-spine", leaves = 2, spines = 1, hosts = 2, host = { rate = "1 Gb/s", delay = "1 us" }, fabric = { rate = "1 Gb/s", delay = "1 us" } }
measure = { transfers = true, pauses = ["host1->leaf1"] }
port = { default = { memory = "chip", police = { kind = "gcra", cir = "1 Gb/s", cbs = "1 MB" } } }
[memory.chip]
size = "1 MB"
pool = { in = { side = "ingress" } }
[queue.rdma]
limit = "30 cells"
pause = { xoff = "1 cell" }
[flows]
source = { kind = "arrivals", sizes = "hadoop", load = "20 %", to = "any" }
transport = { kind = "tcp" }
[[flow]]
name = "flow1"
source = { kind = "query", fan_in = 2, size = "10 kB", rate = "500 per s" }
"#;
    let listed = r#"
name = "listed"
duration = "1 s"
adaptation = { kind = "packet" }
topology = { template = "leaf-spine", leaves = 2, spines = 1, hosts = 2, host = { rate = "1 Gb/s", delay = "1 us" }, fabric = { rate = "1 Gb/s", delay = "1 us" } }
flows = { transport = { kind = "tcp" } }
workload = { kind = "list", data = "from,to,bytes,start,name,after\n0,1,9,0,a,\n1,2,9,0,b,a\n" }
"#;
    let texts = texts.into_iter().chain([(fabric, vec![]), (listed, vec![])]);
    let mut seen = BTreeSet::from([".seeds".to_string()]); // which a single run does not have
    for (text, mut sets) in texts {
        sets.extend(["duration=\"50 ms\"", "warmup=\"0 s\"", "sample=\"50 us\""].map(str::to_string));
        let scenario = scenario::load(text, "a scenario", &sets).unwrap();
        let outcome = engine::run(&scenario, true);
        let audit = audit::audit(&scenario, &outcome);
        let warnings = [Warning { code: "equal-routes", message: "2 equally short routes".to_string() }];
        let (scenario, outcome, warnings, audit) = (&scenario, &outcome, &warnings[..], Some(&audit));
        let report = Report { scenario, outcome, warnings, audit, wall_s: None, listing: Listing::All };
        compare("", &report.document(), RUN, &mut seen);
    }
    let mut all = BTreeSet::new();
    every("", RUN, &mut all);
    assert_eq!(all.difference(&seen).collect::<Vec<_>>(), Vec::<&String>::new(), "declared, but never there");
}
