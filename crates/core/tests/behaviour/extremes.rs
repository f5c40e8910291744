//! Every accepted scenario runs: each key of the catalogue and of the sections of a scenario gets the least and the
//! largest value that can be written, alone and together with every other key of its table. The scenario is refused
//! with a message about the table, or both engines run it, pass the audit and agree.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pushout_core::api::Request;
use pushout_core::audit::audit;
use pushout_core::catalogue;
use pushout_core::engine;
use pushout_core::language::registry::Entry;
use pushout_core::language::spec::{ParamSpec, Section};
use pushout_core::link::gate::loss::Gilbert;
use pushout_core::report::report;
use pushout_core::scenario::file::{
    BackSection, FairSection, FlowSection, HeadSection, LinkSection, LossSection, MeasureSection,
    MemorySection, NodeSection, OppositeSection, PauseSection, PoolSection, PortSection, QueueSection,
};
use pushout_core::scenario::model::{EngineKind, Scenario};
use pushout_core::scenario::topology::WireKeys;
use pushout_core::serde_json::{Value as Json, json};

/// A scenario with the table under test, and the keys that the table can have.
struct Place {
    text: Json,
    /// The table as a JSON pointer, with its required keys already set.
    path: String,
    params: Vec<ParamSpec>,
}

/// Two hosts on each side of a bottleneck for half a microsecond, a hundred cells: enough for losses and timeouts, and short
/// enough for clocks of a picosecond.
fn network() -> Json {
    let fast = json!({ "rate": "100 Gb/s", "delay": "10 ns" });
    json!({
        "name": "extremes", "duration": "500 ns", "sample": "100 ns", "adaptation": { "kind": "aal5" },
        "topology": {
            "template": "dumbbell", "sources": 2, "access": fast, "egress": fast,
            "bottleneck": { "rate": "80 Gb/s", "delay": "10 ns" },
        },
        "port": { "default": { "buffer": "50 cells" } },
        "flows": {
            "source": { "kind": "greedy" },
            "transport": {
                "kind": "tcp", "initial_window": 20, "slow_timer": "1 ns", "min_rto": "10 ns", "initial_rto": "100 ns",
            },
        },
        "flow": [{ "name": "flow1" }],
    })
}

/// Return `network()` with packet links.
fn packet_network() -> Json {
    let mut text = network();
    text["adaptation"]["kind"] = "packet".into();
    text["port"]["default"]["buffer"] = "20 kB".into();
    text
}

/// List the places of an entry of the catalogue in networks of either kind, with the keys that it needs.
fn of_entry(entry: &Entry) -> Vec<Place> {
    let path = match entry.kind {
        "source" | "transport" | "police" => format!("/flow/0/{}", entry.kind),
        "adaptation" | "workload" => format!("/{}", entry.kind),
        "template" => "/topology".to_string(),
        kind => format!("/port/default/{kind}"),
    };
    let networks = match (entry.kind, entry.name) {
        (_, "n23" | "aal5" | "cells" | "iwu" | "wrr-mcr") => vec![network()],
        (_, "packet" | "dual-queue" | "cbfc") => vec![packet_network()],
        _ => vec![network(), packet_network()],
    };
    let place = |mut text: Json| {
        beside(entry, &mut text);
        let (parent, key) = path.rsplit_once('/').unwrap();
        text.pointer_mut(parent).unwrap()[key] = table(entry.kind, entry.name);
        Place { text, path: path.clone(), params: (entry.params)() }
    };
    networks.into_iter().map(place).collect()
}

/// Add the keys that an entry needs.
fn beside(entry: &Entry, text: &mut Json) {
    let flow = |text: &mut Json, kind: &str, name: &str| text["flow"][0][kind] = table(kind, name);
    match (entry.kind, entry.name) {
        ("pushout", _) => text["port"]["default"]["scheduler"] = table("scheduler", "round-robin"),
        ("credit", _) => text["port"]["default"] = json!({ "scheduler": table("scheduler", "round-robin") }),
        ("source", "fec-block") => flow(text, "transport", "fec"),
        ("source", "cbr" | "poisson" | "on-off") => flow(text, "transport", "udp"),
        ("transport", "udp" | "cells") => flow(text, "source", "cbr"),
        ("transport", "fec") => flow(text, "source", "fec-block"),
        ("template", _) => text["flow"] = json!([]),
        ("workload", _) => {
            text["flow"] = json!([]);
            text["flows"] = json!({ "transport": text["flows"]["transport"] });
        }
        _ => {}
    }
    if text["adaptation"]["kind"] == "packet" && text["flow"][0]["transport"]["kind"] == "fec" {
        text["flow"][0]["transport"]["parity_cells"] = 0.into();
    }
}

/// Build the table of an entry with its required keys.
fn table(kind: &str, name: &str) -> Json {
    let wire = json!({ "rate": "80 Gb/s", "delay": "10 ns" });
    match (kind, name) {
        ("source", "file") => json!({ "kind": name, "size": "3 kB" }),
        ("source", "cbr" | "poisson") => json!({ "kind": name, "rate": "50 Gb/s" }),
        ("source", "on-off" | "fec-block") => {
            json!({ "kind": name, "peak": "50 Gb/s", "burst": 10, "activity": 0.5 })
        }
        ("source", "arrivals") => json!({ "kind": name, "sizes": "1 kB", "rate": "10 per us" }),
        ("source", "replay") => json!({ "kind": name, "file": "a.csv", "data": "1 ns;AGQKZAo8" }),
        ("source", "query") => json!({ "kind": name, "fan_in": 1, "size": "1 kB", "rate": "10 per us" }),
        ("workload", "list") => {
            let rows =
                ["from,to,bytes,start,name,after", "source1,sink1,1000,0,a,", "source1,sink1,1000,0,b,a"];
            json!({ "kind": name, "data": rows.join("\n") })
        }
        ("source" | "transport" | "adaptation", _) => json!({ "kind": name }),
        ("police", "random") => json!({ "kind": name, "probability": 0.5 }),
        ("police", _) => json!({ "kind": name, "rate": "20 Gb/s" }),
        ("template", "parking-lot") => json!({ "template": name }),
        ("template", "iwu") => json!({ "template": name, "sources": 2, "access": wire, "trunk": wire }),
        ("template", "leaf-spine") => {
            json!({ "template": name, "leaves": 2, "spines": 2, "hosts": 1, "host": wire, "fabric": wire })
        }
        ("template", "fat-tree") => json!({ "template": name, "radix": 2, "host": wire, "fabric": wire }),
        ("template", _) => {
            json!({ "template": name, "sources": 2, "access": wire, "bottleneck": wire, "egress": wire })
        }
        _ => json!({ "policy": name }),
    }
}

/// The sections that are not in the catalogue.
fn sections() -> Vec<Place> {
    let place =
        |text: &Json, path: &str, params| Place { text: text.clone(), path: path.to_string(), params };
    let mut text = network();
    text["node"] = json!([{ "name": "source1" }]);
    text["link"] = json!([{ "name": "bottleneck", "back": {} }]);
    text["flow"] = json!([{ "name": "flow1", "class": "one" }, { "name": "flow2", "class": "two" }]);
    let mut node = NodeSection::params();
    node.retain(|param| param.name != "kind"); // a host cannot be anything else
    let mut measured = text.clone();
    measured["measure"] = json!({
        "window": "100 ns", "occupancy": ["bottleneck"], "losses": ["bottleneck"], "fairness": [{ "class": "one" }, { "class": "two" }],
    });
    let mut lossy = packet_network();
    lossy["loss"] = json!([{ "link": "bottleneck", "gilbert": { "to_bad": 0.1, "to_good": 0.3 } }]);
    let mut shared = packet_network();
    shared["port"]["default"] = json!({ "memory": "chip" });
    shared["memory"] =
        json!({ "chip": { "size": "20 kB", "pool": { "in": { "side": "ingress" }, "out": {} } } });
    shared["queue"] = json!({ "one": { "opposite": { "pool": "out" } } });
    let mut pausing = shared.clone();
    pausing["queue"] = json!({ "one": { "pause": { "xoff": "1 cells" } } });
    let mut memory = MemorySection::params();
    memory.retain(|param| param.name != "pool"); // its tables stand below
    vec![
        place(&shared, "/memory/chip", memory),
        place(&shared, "/memory/chip/pool/in", PoolSection::params()),
        place(&shared, "/queue/one", QueueSection::params()),
        place(&shared, "/queue/one/opposite", OppositeSection::params()),
        place(&pausing, "/queue/one/pause", PauseSection::params()),
        place(&text, "", HeadSection::params()),
        place(&text, "/topology/bottleneck", WireKeys::params()),
        place(&text, "/node/0", node),
        place(&text, "/link/0", LinkSection::params()),
        place(&text, "/link/0/back", BackSection::params()),
        place(&text, "/port/default", PortSection::params()),
        place(&text, "/flow/0", FlowSection::params()),
        place(&lossy, "/loss/0", LossSection::params()),
        place(&lossy, "/loss/0/gilbert", Gilbert::params()),
        place(&measured, "/measure", MeasureSection::params()),
        place(&measured, "/measure/fairness/0", FairSection::params()),
    ]
}

/// The least and the largest values that can be written for a key, and all of its words.
fn extremes(param: &ParamSpec) -> Vec<Json> {
    let schema = &param.shape.schema;
    let units: &[&str] = match param.shape.unit {
        "time" => &["ps"],
        "rate" => &["b/s"],
        "share" => &["ppm"],
        "cells" => &["cells"],
        "size" | "size or %" => &["bytes", "cells", "packets"],
        _ => &[],
    };
    let quantity = |unit| [0, 1, u64::MAX].map(|number| Json::from(format!("{number} {unit}")));
    let mut values: Vec<Json> = units.iter().flat_map(quantity).collect();
    match param.shape.unit {
        "time" => values.push("1 ns".into()),
        "size or %" => values.extend(["0 %", "100 %"].map(Json::from)),
        _ => {}
    }
    values.extend(schema["enum"].as_array().cloned().unwrap_or_default());
    match schema["type"].as_str() {
        Some("boolean") => values.extend([false, true].map(Json::from)),
        Some("integer") => {
            values.extend([0, 1, schema["maximum"].as_i64().unwrap_or(i64::MAX)].map(Json::from));
        }
        Some("number") => values.extend([0.0, 5e-324, 1.0, f64::MAX].map(Json::from)),
        _ => {}
    }
    values
}

/// A key with a value.
type Set<'a> = (&'a str, Json);

/// Every key with each of its extremes, alone and with every other key. A clock of a picosecond is slow: it is tested
/// alone.
fn cases(params: &[ParamSpec]) -> Vec<Vec<Set<'_>>> {
    let of = |param| extremes(param).into_iter().map(|value| (param.name, value)).collect::<Vec<_>>();
    let all: Vec<Set<'_>> = params.iter().flat_map(of).collect();
    let alone = all.iter().map(|set| vec![set.clone()]);
    let many: Vec<&Set<'_>> = all.iter().filter(|(_, value)| *value != "1 ps").collect();
    let pairs = (0..many.len()).flat_map(|one| (one + 1..many.len()).map(move |other| [one, other]));
    let pairs = pairs.map(|pair| pair.map(|at| many[at].clone())).filter(|[one, other]| one.0 != other.0);
    alone.chain(pairs.map(Vec::from)).collect()
}

/// Describe the fault of a scenario, if it has one; the message of a refused scenario contains one of these words.
fn fault(text: &Json, words: &[&str]) -> Option<String> {
    let request = Request { text: &text.to_string(), name: "extremes.json", ..Request::default() };
    let tried = catch_unwind(AssertUnwindSafe(|| match request.scenario() {
        Ok((scenario, _)) => differences(&scenario),
        Err(why) => {
            let message = String::from(why);
            let message = message.lines().next().unwrap_or_default();
            let told = words.iter().any(|word| message.contains(word));
            (!told).then(|| format!("the message tells nothing of it: {message}"))
        }
    }));
    tried.unwrap_or_else(|_| Some("a panic".to_string()))
}

/// Describe the findings of the audit, or the difference of the engines.
fn differences(scenario: &Scenario) -> Option<String> {
    let run = |engine| {
        let scenario = Scenario { engine, ..scenario.clone() };
        let outcome = engine::run(&scenario, false);
        let audit = audit(&scenario, &outcome);
        let mut document = report(&scenario, &outcome, None);
        document["engine"] = Json::Null;
        (document.to_string(), audit.failures)
    };
    let (fast, reference) = (run(EngineKind::Fast), run(EngineKind::Reference));
    match fast.1.first().or(reference.1.first()) {
        Some(failure) => Some(format!("the audit: {failure}")),
        None => (fast.0 != reference.0).then(|| "the engines differ".to_string()),
    }
}

/// Return the faults of all cases at a place. A message names the key, its value, or another key of the table: of two
/// that contradict each other, the first.
fn faults(Place { text, path, params }: &Place) -> Vec<String> {
    let mut faults = Vec::new();
    let table = format!("{}.", path.rsplit('/').next().unwrap_or_default());
    for sets in cases(params) {
        let mut text = text.clone();
        let keys = text.pointer_mut(path).unwrap();
        sets.iter().for_each(|(key, value)| keys[key] = value.clone());
        let words = sets.iter().flat_map(|(key, value)| [Some(*key), value.as_str()]).flatten();
        let words: Vec<&str> =
            words.chain([table.as_str()].into_iter().filter(|table| table.len() > 2)).collect();
        faults.extend(fault(&text, &words).map(|fault| format!("{path} {sets:?}: {fault}")));
    }
    faults
}

fn check(places: &[Place]) {
    let faults: Vec<String> = places.iter().flat_map(faults).collect();
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn every_key_of_the_catalogue_works_at_its_extremes_or_is_refused() {
    let entries = catalogue().into_iter().filter(|entry| entry.table.is_some());
    check(&entries.flat_map(|entry| of_entry(&entry)).collect::<Vec<_>>());
}

#[test]
fn every_key_of_the_sections_works_at_its_extremes_or_is_refused() {
    check(&sections());
}

/// Instants of waiting units are computed ahead, so a scenario is refused if a unit could wait longer than instants can
/// express.
#[test]
fn the_slowest_line_behind_the_fastest_source_works_or_is_refused() {
    let window = json!({ "kind": "tcp", "window": "1 GB", "initial_window": 10_000, "handshake": false });
    let sources = [
        (json!({ "kind": "cbr", "rate": "100 Tb/s" }), json!({ "kind": "udp" })),
        (json!({ "kind": "cbr", "rate": "100 Tb/s" }), json!({ "kind": "cells" })),
        (json!({ "kind": "greedy" }), window),
    ];
    for (source, transport) in sources {
        for (mut text, scheduler) in [
            (network(), "fifo"),
            (network(), "round-robin"),
            (packet_network(), "fifo"),
            (packet_network(), "round-robin"),
        ] {
            text["duration"] = "100 ns".into();
            text["topology"]["access"]["rate"] = "100 Tb/s".into();
            text["flows"] = json!({ "source": source, "transport": transport });
            text["port"]["default"] = json!({ "scheduler": table("scheduler", scheduler) });
            for rate in ["1 b/s", "1 kb/s", "1 Mb/s"] {
                text["topology"]["bottleneck"]["rate"] = rate.into();
                let found = fault(&text, &["rate", "transport"]);
                assert!(found.is_none(), "{}:\n{text:#}", found.unwrap_or_default());
            }
        }
    }
}

#[test]
fn the_longest_run_with_the_longest_delays_works() {
    let mut text = network();
    (text["duration"], text["sample"]) = (format!("{} s", 50 * 86_400).into(), "10000 s".into());
    for link in ["access", "bottleneck", "egress"] {
        text["topology"][link] = json!({ "rate": "1 kb/s", "delay": "3600 s", "pause": "0 s" });
    }
    text["topology"]["host_latency"] = "3600 s".into();
    text["topology"]["switch_latency"] = "3600 s".into();
    text["flows"]["transport"] = json!({
        "kind": "tcp", "slow_timer": "86400 s", "fast_timer": "86400 s", "min_rto": "86400 s", "max_rto": "86400 s",
    });
    assert_eq!(fault(&text, &[]), None);
}
