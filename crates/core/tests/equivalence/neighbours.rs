//! What happens to a component does not depend on others that have nothing to do with it: on a flow that never sends, on a
//! network beside its own, or on the order of the tables of a file.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use pushout_core::scenario::load;
use pushout_core::scenario::model::EngineKind;
use pushout_core::serde_json::Value as Json;

use crate::equivalence::generator::{fabrics, scenario};
use crate::equivalence::{compare, how_many, run, seeds};

/// Policies that count the queues or the circuits of a port, also those that never send; Occamy expels nothing at a port with a single
/// one.
const COUNTING: [&str; 5] = ["\"harmonic\"", "\"dfba\"", "\"wfepd\"", "\"wrr-mcr\"", "\"occamy\""];

/// Return random scenarios; where RED measures idle time in packets of the mean circuit, it gets the time of a packet, and CoDel,
/// which spares the longest packet of all circuits, the octets that it spares.
fn networks(seed: u64) -> [String; 2] {
    let fixed = |text: String| {
        let timed = text.replace("\"red\"", "\"red\", packet_time = \"100 us\"");
        timed.replace("\"codel\"", "\"codel\", mtu = \"1 KB\"")
    };
    [scenario(seed), fabrics(seed)].map(fixed)
}

/// Return the tables of a text; the first one has the keys before all headings.
fn tables(text: &str) -> Vec<String> {
    let mut tables = vec![String::new()];
    for line in text.lines() {
        if line.starts_with('[') {
            tables.push(String::new());
        }
        let last = tables.last_mut().unwrap();
        last.push_str(line);
        last.push('\n');
    }
    tables
}

fn heading(table: &str) -> &str {
    table.lines().next().unwrap_or_default()
}

/// Return the text with a further table, before the first one of its kind or at the end.
fn with(text: &str, table: &str, is_first: bool) -> String {
    let mut tables = tables(text);
    let first = tables.iter().position(|other| heading(other) == heading(table)).filter(|_| is_first);
    tables.insert(first.unwrap_or(tables.len()), table.to_string());
    tables.concat()
}

/// Return a flow like the last one that never sends: with others, a port may have to be ready for longer packets, or for another
/// class.
fn idle(text: &str) -> String {
    let tables = tables(text);
    let last = tables.iter().rfind(|table| heading(table) == "[[flow]]").unwrap();
    let own = ["name =", "start =", "stop =", "start_spread ="];
    let is_other = |line: &&str| !own.iter().any(|key| line.starts_with(key));
    let keys: Vec<&str> = last.lines().skip(1).filter(is_other).collect();
    let has_ends = keys.iter().any(|key| key.starts_with("from ="));
    let ends = if has_ends { "" } else { "from = \"host1\"\nto = \"host2\"\n" };
    format!("[[flow]]\nname = \"idle\"\nstart = \"100 s\"\n{ends}{}\n", keys.join("\n"))
}

/// Return the tables of two hosts with a flow, connected to no other node.
fn beside() -> [&'static str; 4] {
    [
        "[[node]]\nname = \"here\"\nkind = \"host\"\n",
        "[[node]]\nname = \"there\"\nkind = \"host\"\n",
        "[[link]]\nname = \"lone\"\nfrom = \"here\"\nto = \"there\"\nrate = \"42.4 Mb/s\"\ndelay = \"10 us\"\n",
        "[[flow]]\nname = \"lone\"\nfrom = \"here\"\nto = \"there\"\n\
         source = { kind = \"cbr\", rate = \"4.24 Mb/s\", size = \"300 bytes\" }\ntransport = { kind = \"udp\" }\n",
    ]
}

/// Return whether each host has at most one flow: several that act at one instant go in the order of the file.
fn has_a_host_for_each_end(tables: &[String]) -> bool {
    let flows = tables.iter().filter(|table| heading(table) == "[[flow]]");
    let ends = flows
        .flat_map(|flow| flow.lines().filter(|key| ["from", "to ="].iter().any(|end| key.starts_with(end))));
    let ends: Vec<&str> = ends.map(|key| key.split(" = ").last().unwrap()).collect();
    !ends.is_empty() && ends.iter().collect::<BTreeSet<_>>().len() == ends.len()
}

/// Return the text with the tables of each kind in reverse order, flows only where their order decides nothing: a program sees the numbers
/// of circuits, and without instructions a scheduler serves the lowest one.
fn reversed(text: &str) -> String {
    let tables = tables(text);
    let flows_too = has_a_host_for_each_end(&tables) && !text.contains("policy = \"program\"");
    let mut kinds: BTreeMap<&str, VecDeque<&str>> = BTreeMap::new();
    tables.iter().for_each(|table| kinds.entry(heading(table)).or_default().push_back(table));
    let mut next = |table: &String| {
        let kind = kinds.get_mut(heading(table)).unwrap();
        let stays = heading(table) == "[[flow]]" && !flows_too;
        (if stays { kind.pop_front() } else { kind.pop_back() }).unwrap()
    };
    tables.iter().map(&mut next).collect()
}

/// Return whether the order of a file decides about the network: routes of equal length around a ring, which ports share a
/// partition of a memory, or which of equal queues of a memory gives up a unit.
fn depends_on_order(text: &str) -> bool {
    let count = |what: &str| text.lines().filter(|line| *line == what).count();
    let switches = count("kind = \"switch\"") + count("kind = \"router\"");
    let pushes_out = text.contains("[memory.") && text.contains("pushout = ");
    count("class = \"trunk\"") == switches && switches > 0 || count("partitions = 2") > 0 || pushes_out
}

/// Return the figures of each flow, port, memory and transfer of a report, by list and name, without numbers that count them.
fn figures(report: &Json) -> BTreeMap<String, Json> {
    let mut figures = BTreeMap::new();
    for list in ["flows", "ports", "memories", "transfers"] {
        for entry in report[list].as_array().into_iter().flatten() {
            let mut own = entry.clone();
            own.as_object_mut().unwrap().remove("vc");
            if let Some(queues) = own["queues"].as_array_mut() {
                queues.sort_by_key(|queue| queue["name"].to_string());
            }
            figures.insert(format!("{list} {}", entry["name"]), own);
        }
    }
    figures
}

/// Check that on both engines the components of a scenario keep their figures if its text becomes the other one; returns
/// whether it is a scenario.
fn keeps(text: &str, other: &str) -> bool {
    let Ok(checked) = load(text, "network.toml", &[]) else { return false };
    let changed = load(other, "changed.toml", &[]).unwrap_or_else(|why| panic!("{why}\n{other}"));
    let mut found = Vec::new();
    for engine in [EngineKind::Fast, EngineKind::Reference] {
        let [one, other] = [&checked, &changed].map(|scenario| figures(&run(scenario, engine, false).0));
        for (name, figures) in &one {
            compare(
                &format!("{engine:?} {name}"),
                figures,
                other.get(name).unwrap_or(&Json::Null),
                &mut found,
            );
        }
    }
    assert!(found.is_empty(), "{}\n{other}", found.join("\n"));
    true
}

/// Check that the networks of all seeds keep their figures after a change; `change` returns none for some.
fn all_keep(change: impl Fn(u64, &str) -> Option<String>) {
    let mut compared = 0;
    for (seed, text) in seeds(1).flat_map(|seed| networks(seed).map(|text| (seed, text))) {
        let Some(other) = change(seed, &text) else { continue };
        compared += u64::from(keeps(&text, &other));
    }
    assert!(compared * 2 >= how_many(), "only {compared} networks of {} were compared", 2 * how_many());
}

#[test]
fn a_flow_that_never_sends_changes_nothing_for_others() {
    all_keep(|seed, text| {
        let counts = COUNTING.iter().any(|policy| text.contains(policy));
        // a port that no flow used has no class that a storm could pause
        let is_first = text.contains("[topology]") && text.contains("[[storm]]");
        // the first flow of a shared circuit gives it its name
        let shares = text.contains("pvc = ");
        (!counts && !is_first).then(|| with(text, &idle(text), seed % 2 == 0 && !shares))
    });
}

#[test]
fn a_network_beside_another_changes_nothing_there() {
    all_keep(|seed, text| {
        let draws_hosts = text.contains("to = \"any\"") || text.contains("\"query\"");
        let add = |text: String, table: &&str| with(&text, table, seed % 2 == 0);
        (!draws_hosts).then(|| beside().iter().fold(text.to_string(), add))
    });
}

#[test]
fn the_order_of_tables_changes_nothing() {
    all_keep(|_, text| (!depends_on_order(text)).then(|| reversed(text)));
}
