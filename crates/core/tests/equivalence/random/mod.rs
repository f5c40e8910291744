//! Random scenarios: small networks in explicit form, with everything that a scenario can say about ports and flows.

pub(crate) mod schema;

use pushout_core::adaptation::Framing;
use pushout_core::api::Request;
use pushout_core::language::spec::{Field, Section, object_schema};
use pushout_core::scenario::file::{FlowSection, PortSection};
use pushout_core::scenario::model::Scenario;
use pushout_core::serde_json::{Value as Json, json};
use pushout_core::source::Source;
use pushout_core::transport::tcp;
use pushout_core::units::ids::{CircuitId, FlowId};
use pushout_core::units::{Quantity, Rate};
use pushout_core::{source, transport};

use schema::Draw;

/// Seed number `seed`: the text of a scenario and what was read from it.
pub(crate) fn scenario(seed: u64) -> (Json, Scenario) {
    let mut draw = Draw::new(seed);
    let text = Net::draw(&mut draw).document(&mut draw, seed);
    match load(&text) {
        Ok(scenario) => (text, scenario),
        Err(why) => panic!("seed {seed} is no scenario: {why}\n{text:#}"),
    }
}

/// The scenario of a document.
pub(crate) fn load(document: &Json) -> Result<Scenario, String> {
    let text = document.to_string();
    let (scenario, _) = Request { text: &text, name: "random.json", ..Request::default() }.scenario()?;
    Ok(scenario)
}

/// Everything that a section `[port.…]` can say but for the buffer, and for memories and credits, which ask more of a network than a
/// random one has.
pub(crate) fn port_schema() -> Json {
    schema_without::<PortSection>(&["buffer", "memory", "credit"])
}

/// Everything that an entry of `[[flow]]` can say.
pub(crate) fn flow_schema() -> Json {
    schema_without::<FlowSection>(&[])
}

/// A section's schema without the keys that are drawn by hand.
fn schema_without<T: Section>(keys: &[&str]) -> Json {
    let params: Vec<_> = T::params().into_iter().filter(|param| !keys.contains(&param.name)).collect();
    let mut schema = object_schema(&params);
    drop_probe(&mut schema);
    schema
}

/// Remove the policy that no scenario of a user can name.
fn drop_probe(schema: &mut Json) {
    match schema {
        Json::Array(list) => {
            list.retain(|value| value.pointer("/properties/policy/const").is_none_or(|name| name != "probe"));
            list.iter_mut().for_each(drop_probe);
        }
        Json::Object(table) => table.values_mut().for_each(drop_probe),
        _ => {}
    }
}

/// Keys of a flow that are drawn by hand.
const FLOW_KEYS: [&str; 17] = [
    "name",
    "from",
    "to",
    "via",
    "source",
    "transport",
    "start",
    "start_spread",
    "stop",
    "mcr",
    "weight",
    "queue",
    "pvc",
    "connections",
    "class",
    "processing",
    "processing_variation",
];

/// A network while it is drawn.
struct Net {
    cells: bool,
    relays: usize,
    llc_snap: bool,
    header: u64,
    minimum: u64,
    nodes: Vec<Json>,
    links: Vec<Json>,
    flows: Vec<Json>,
    /// Largest frame, in octets on the line.
    frame: u64,
    /// Cells that all flows together could ask of all lines in a second, at most.
    work: f64,
}

impl Net {
    /// One to six flows along a chain of up to three switches or routers, one to four hops each.
    fn draw(draw: &mut Draw) -> Net {
        let mut net = Net {
            cells: draw.chance(0.6),
            relays: draw.between(0, 3) as usize,
            llc_snap: draw.chance(0.5),
            header: *draw.of(&[0, 0, 18, 38]),
            minimum: *draw.of(&[0, 0, 84, 600]),
            nodes: Vec::new(),
            links: Vec::new(),
            flows: Vec::new(),
            frame: 53,
            work: 0.0,
        };
        let kind = if net.cells { "switch" } else { "router" };
        (0..net.relays).for_each(|i| net.nodes.push(json!({ "name": format!("relay{i}"), "kind": kind })));
        for i in 1..net.relays {
            net.link(draw, &format!("trunk{i}"), &format!("relay{}", i - 1), &format!("relay{i}"));
        }
        for i in 0..draw.between(1, 6) as usize {
            net.flow(draw, i);
        }
        net
    }

    fn link(&mut self, draw: &mut Draw, name: &str, from: &str, to: &str) {
        let rate = |draw: &mut Draw| format!("{} kb/s", draw.magnitude(1_000, 622_080));
        let delay = |draw: &mut Draw| *draw.of(&["0 s", "5 us", "777 ns", "100 us", "1 ms", "5 ms"]);
        let mut link =
            json!({ "name": name, "from": from, "to": to, "rate": rate(draw), "delay": delay(draw) });
        if draw.chance(0.2) {
            link["back"] = json!({ "rate": rate(draw), "delay": delay(draw) });
        }
        if !self.cells && draw.chance(0.15) {
            link["minimum"] = format!("{} bytes", draw.between(600, 2000)).into();
        }
        self.links.push(link);
    }

    /// A flow between two new hosts, or between the hosts of the flow before in either direction.
    fn flow(&mut self, draw: &mut Draw, index: usize) {
        let (from, to) = match self.flows.last() {
            Some(last) if self.relays == 0 || draw.chance(0.3) => {
                let ends = (last["from"].clone(), last["to"].clone());
                if draw.chance(0.5) { ends } else { (ends.1, ends.0) }
            }
            _ => self.hosts(draw, index),
        };
        let mut flow = self.application(draw, self.access_rate(&from, &to));
        (flow["name"], flow["from"], flow["to"]) = (format!("flow{index}").into(), from, to);
        flow["weight"] = (*draw.of(&[1.0, 0.5, 2.5])).into();
        if draw.chance(0.5) {
            flow["start"] = format!("{} us", draw.between(0, 5_000)).into();
            flow["start_spread"] = draw.of(&["0 s", "1 ms"]).to_string().into();
        }
        if draw.chance(0.2) {
            flow["stop"] = format!("{} us", draw.magnitude(5_001, 200_000)).into();
        }
        if draw.chance(0.3) {
            flow["mcr"] = "50 kb/s".into();
        }
        if flow["transport"]["kind"] == "tcp" {
            if !self.cells && draw.chance(0.4) {
                flow["transport"]["pacing"] =
                    draw.of(&[json!(true), json!({ "burst": "2 packets" })]).clone();
            } else if draw.chance(0.2)
                && !["bbr", "prague"].contains(&flow["transport"]["congestion"].as_str().unwrap_or(""))
            {
                flow["processing"] = draw.of(&["3 us", "300 us"]).to_string().into();
                flow["processing_variation"] = draw.of(&["0 s", "3 us"]).to_string().into();
            }
            if draw.chance(0.1) && !draws_transfers(&flow) {
                flow["connections"] = draw.between(1, 3).into();
            }
        }
        if draw.chance(0.5) {
            self.share(&mut flow);
        }
        self.flows.push(flow);
    }

    /// Put a flow on the circuit of the one before, if that carries the same kind of units between the same ends.
    fn share(&self, flow: &mut Json) {
        let Some(last) = self.flows.last() else { return };
        let alone = |flow: &Json| {
            draws_transfers(flow) || ["cells", "fec"].iter().any(|kind| flow["transport"]["kind"] == *kind)
        };
        if last["from"] != flow["from"] || last["to"] != flow["to"] || alone(last) || alone(flow) {
            return;
        }
        flow["pvc"] = last.get("pvc").unwrap_or(&last["name"]).clone();
        for key in ["mcr", "weight", "priority", "police"] {
            match last.get(key) {
                Some(value) => flow[key] = value.clone(),
                None => drop(flow.as_object_mut().expect("a flow is a table").remove(key)),
            }
        }
    }

    fn hosts(&mut self, draw: &mut Draw, index: usize) -> (Json, Json) {
        let names = [format!("from{index}"), format!("to{index}")];
        let latency = *draw.of(&["0 s", "0 s", "7 us"]);
        names.iter().for_each(|name| {
            self.nodes.push(json!({ "name": name, "kind": "host", "latency": latency }));
        });
        if self.relays == 0 {
            self.link(draw, "direct", &names[0], &names[1]);
        } else {
            for (name, link) in names.iter().zip(["in", "out"]) {
                let relay = format!("relay{}", draw.between(0, self.relays as u64 - 1));
                self.link(draw, &format!("{link}{index}"), name, &relay);
            }
        }
        (names[0].as_str().into(), names[1].as_str().into())
    }

    /// The rate that the links of two hosts leave them at most, whichever direction is faster.
    fn access_rate(&self, from: &Json, to: &Json) -> Rate {
        let fastest = |link: &Json| {
            let back = link.get("back").map(|back| rate_of(&back["rate"]));
            rate_of(&link["rate"]).max(back.unwrap_or_default())
        };
        let own = self.links.iter().filter(|link| link["from"] == *from || link["from"] == *to);
        own.map(fastest).min().expect("a host has a link")
    }

    /// A flow without its ends: source, transport and what else it may say, as far as it fits together and into this
    /// network.
    fn application(&mut self, draw: &mut Draw, limit: Rate) -> Json {
        draw.rate = limit;
        loop {
            let mut flow = draw.instance(&schema_without::<FlowSection>(&FLOW_KEYS));
            flow["transport"] = match draw.instance(&transport::Spec::shape().schema) {
                transport if transport["kind"] == "tcp" => tcp_keys(draw),
                transport => transport,
            };
            flow["source"] = draw.instance(&source::Spec::shape().schema);
            if flow["source"]["kind"] == "replay" {
                flow["source"]["data"] = recording(draw).into();
            }
            if flow["source"]["kind"] == "arrivals" {
                arrivals_keys(draw, &mut flow["source"]);
            }
            let Ok(alone) = load(&self.alone(&flow)) else { continue };
            let Some(first) = alone.flows.get(FlowId(0)) else { continue }; // no transfer was drawn
            let rate = first.source.peak().map_or(limit, |(_, rate)| rate);
            self.work += rate.as_f64() * (self.relays + 1) as f64 / 424.0;
            let packet = u64::from(alone.vcs[CircuitId(0)].packet) + self.header.max(8);
            let frame = match alone.vcs[CircuitId(0)].framing {
                Framing::Cell => 53,
                Framing::Aal5 { .. } => (packet + 8).div_ceil(48) * 53,
                Framing::Packet(_) => packet.max(self.minimum),
            };
            self.frame = self.frame.max(frame);
            return flow;
        }
    }

    /// The scenario of a flow by itself, over a switch or router if the network has any.
    fn alone(&self, flow: &Json) -> Json {
        let relay = if self.cells { "switch" } else { "router" };
        let path = if self.relays == 0 { vec!["a", "b"] } else { vec!["a", "r", "b"] };
        let kind = |name: &str| if name == "r" { relay } else { "host" };
        let nodes: Json = path.iter().map(|name| json!({ "name": name, "kind": kind(name) })).collect();
        let link =
            |ends: &[&str]| json!({ "from": ends[0], "to": ends[1], "rate": "1 Mb/s", "delay": "0 s" });
        let links: Json = path.windows(2).map(link).collect();
        let mut flow = flow.clone();
        (flow["name"], flow["from"], flow["to"]) = ("f".into(), "a".into(), "b".into());
        json!({
            "name": "alone", "duration": "1 s", "adaptation": self.adaptation(),
            "node": nodes, "link": links, "flow": [flow],
        })
    }

    fn adaptation(&self) -> Json {
        match self.cells {
            true => json!({ "kind": "aal5", "llc_snap": self.llc_snap }),
            false if self.minimum == 0 => {
                json!({ "kind": "packet", "header": format!("{} bytes", self.header) })
            }
            false => {
                let (header, minimum) = (format!("{} bytes", self.header), format!("{} bytes", self.minimum));
                json!({ "kind": "packet", "header": header, "minimum": minimum })
            }
        }
    }

    /// Buffers from one frame up, some a good deal smaller.
    fn buffer(&self, draw: &mut Draw) -> String {
        let (frame, unit) = match self.cells {
            true => (self.frame / 53, "cells"),
            false if draw.chance(0.3) => (1, "packets"),
            false => (self.frame, "bytes"),
        };
        let least = if unit == "cells" && draw.chance(0.2) { 1 } else { frame };
        draw.size = (draw.magnitude(least, 40 * frame), unit);
        format!("{} {unit}", draw.size.0)
    }

    /// Names of the sections that ports can have.
    fn port_names(&self) -> Vec<String> {
        let trunks = (1..self.relays).flat_map(|i| [format!("trunk{i}"), format!("trunk{i}.back")]);
        trunks.chain([if self.relays == 0 { "direct" } else { "default" }.to_string()]).collect()
    }

    /// Give a port a section: an admission policy, and whatever else it works with. A draw that its policies refuse (a
    /// threshold above the buffer, say) is repeated; a policy that never works here is not for this network.
    fn add_port(&self, draw: &mut Draw, name: &str, document: &mut Json) {
        let schema = port_schema();
        let admissions = schema["properties"]["admission"]["oneOf"].as_array().expect("a list of policies");
        let admission = draw.of(admissions);
        for _ in 0..50 {
            let buffer = self.buffer(draw);
            let mut port = draw.instance(&schema);
            (port["buffer"], port["admission"]) = (buffer.into(), draw.instance(admission));
            choose_discipline(draw, &mut port);
            document["port"][name] = port;
            let Err(why) = load(document) else { return };
            assert!(why.contains(": port."), "this is no scenario: {why}\n{document:#}");
        }
        document["port"].as_object_mut().expect("a table of ports").remove(name);
    }

    /// The whole scenario.
    fn document(&self, draw: &mut Draw, seed: u64) -> Json {
        let seconds = draw.magnitude(4_000, 150_000) as f64 / self.work;
        let micros = (seconds * 1e6) as u64 + 100;
        let warmup = if draw.chance(0.4) { draw.between(0, micros / 2) } else { 0 };
        let mut document = json!({
            "name": "random", "seed": seed,
            "duration": format!("{} us", micros.min(3_000_000)), "warmup": format!("{} us", warmup.min(1_000_000)),
            "adaptation": self.adaptation(), "port": {},
            "node": self.nodes, "link": self.links, "flow": self.flows,
        });
        if !self.cells && draw.chance(0.3) {
            document["storm"] = self.storms(draw);
        }
        for name in self.port_names() {
            if draw.chance(0.8) {
                self.add_port(draw, &name, &mut document);
            }
        }
        if draw.chance(0.2) {
            document["loss"] = self.losses(draw);
        }
        let is_coded = |flow: &Json| flow["transport"]["kind"] == "fec";
        let has_routes = !self.cells && !self.flows.iter().any(is_coded);
        if has_routes && draw.chance(0.2) {
            document["routing"] = draw.of(&["ecmp-packet", "ecmp-flowlet"]).to_string().into();
        } else if draw.chance(0.2) {
            document["routing"] = json!("ecmp");
        }
        if document.get("routing").is_some() {
            let place = draw.between(0, self.links.len() as u64 - 1) as usize;
            document["link"][place]["weight"] = draw.between(1, 9).into();
        }
        if has_routes && draw.chance(0.5) {
            add_reroutes(draw, &mut document);
        }
        if !self.cells && draw.chance(0.2) {
            self.delay_arrivals(draw, &mut document);
        }
        document
    }

    /// Packets that arrive late behind their links: by a delay that changes, by repetitions, or held back.
    fn delay_arrivals(&self, draw: &mut Draw, document: &mut Json) {
        let link = |draw: &mut Draw| draw.between(0, self.links.len() as u64 - 1) as usize;
        let micros = |draw: &mut Draw| format!("{} us", draw.magnitude(1, 5_000));
        if draw.chance(0.5) {
            let steps = json!([["0 s", micros(draw)], [micros(draw), "0 s"], ["6 ms", micros(draw)]]);
            document["link"][link(draw)]["delay"] = json!({ "steps": steps, "period": "9 ms" });
        }
        if draw.chance(0.5) {
            let share = format!("{} %", draw.between(1, 50));
            let repeat = json!({ "share": share, "delay": micros(draw), "most": draw.between(1, 4) });
            document["link"][link(draw)]["repeat"] = repeat;
        }
        if draw.chance(0.5) {
            let name = document["link"][link(draw)]["name"].clone();
            let share = json!({ "link": name, "by": micros(draw), "share": "5 %" });
            document["reorder"] = json!([share, { "link": name, "by": micros(draw), "packets": [2, 3, 7] }]);
        }
    }

    /// Pauses from outside at the ports of some links.
    fn storms(&self, draw: &mut Draw) -> Json {
        let storm = |draw: &mut Draw| {
            let link = draw.of(&self.links)["name"].as_str().expect("a name").to_string();
            let (begin, back) = (draw.between(0, 50), *draw.of(&["", "", ".back"]));
            let end = begin + draw.magnitude(1, 20_000);
            json!({ "port": link + back, "from": format!("{begin} us"), "to": format!("{end} us") })
        };
        (0..draw.between(1, 3)).map(|_| storm(draw)).collect()
    }

    /// Losses by intent on some links.
    fn losses(&self, draw: &mut Draw) -> Json {
        let shares = |flow: &Json| {
            let with = |other: &Json| other["pvc"] == flow["name"];
            flow.get("pvc").is_some() || self.flows.iter().any(with) || flow.get("connections").is_some()
        };
        let alone: Vec<&Json> = self.flows.iter().filter(|flow| !shares(flow)).collect();
        let loss = |draw: &mut Draw| {
            let link = draw.of(&self.links)["name"].clone();
            let begin = draw.between(0, 20_000);
            let end = begin + draw.magnitude(1, 20_000);
            match draw.between(0, 3) {
                0 if self.cells => json!({ "link": link, "cells": [1, 2, 40, 41, 90] }),
                0 => json!({ "link": link, "packets": [2, 5, 6] }),
                3 if !alone.is_empty() => {
                    json!({ "link": link, "flow": draw.of(&alone)["name"], "frames": [2, 3, 9] })
                }
                1 => json!({ "link": link, "down": [[format!("{begin} us"), format!("{end} us")]] }),
                _ => json!({ "link": link, "gilbert": { "to_bad": 0.05, "to_good": 0.4, "good": 0.01 } }),
            }
        };
        (0..draw.between(1, 3)).map(|_| loss(draw)).collect()
    }
}

/// Have flows take other routes some time after an outage begins, where it leaves any.
fn add_reroutes(draw: &mut Draw, document: &mut Json) {
    let entries = document["loss"].as_array().map_or(0, Vec::len);
    for entry in 0..entries {
        if !document["loss"][entry]["down"].is_array() {
            continue;
        }
        document["loss"][entry]["reroute_after"] = format!("{} us", draw.between(0, 5_000)).into();
        let Err(why) = load(document) else { continue };
        assert!(why.contains("no route of at most"), "this is no scenario: {why}\n{document:#}");
        document["loss"][entry].as_object_mut().expect("an outage is a table").remove("reroute_after");
    }
}

/// A port with a discipline keeps that, or the parts that would be beside it.
fn choose_discipline(draw: &mut Draw, port: &mut Json) {
    let keys = port.as_object_mut().expect("a port is a table");
    if keys.contains_key("discipline") {
        let parts = ["admission", "scheduler", "pushout"];
        let others = if draw.chance(0.3) { &parts[..] } else { &["discipline"] };
        others.iter().for_each(|other| _ = keys.remove(*other));
    }
}

/// TCP with timers from exact to coarse, segments from small to large and windows of one segment up; everything else
/// that is a word or a yes or no is drawn as TCP describes itself.
fn tcp_keys(draw: &mut Draw) -> Json {
    let mss = *draw.of(&[100, 512, 1460, 2048, 9140]);
    let window = mss * draw.of(&[1, 2, 5, 40]) + draw.between(0, mss - 1);
    let mut keys = json!({
        "kind": "tcp", "mss": mss, "window": format!("{window} bytes"),
        "slow_timer": draw.of(&["1 ps", "1 ms", "10 ms", "200 ms"]),
        "fast_timer": draw.of(&["1 ps", "3 ms", "50 ms"]),
        "min_rto": draw.of(&["0 s", "5 ms", "1 s"]), "initial_rto": draw.of(&["20 ms", "6 s"]),
        "rtt_jitter": draw.of(&["0 s", "100 us"]), "initial_window": draw.between(1, 4),
        "dupack_threshold": draw.of(&[3, 3, 1, 1000]),
    });
    for param in tcp::Params::params() {
        let schema = &param.shape.schema;
        if schema["type"] == "boolean" || schema.get("enum").is_some() {
            keys[param.name] = draw.instance(schema);
        } else if param.name == "congestion" {
            keys[param.name] = draw.instance(&schema["oneOf"][0]); // `programs` has those of a table
        }
    }
    if keys["congestion"] != "dctcp" {
        keys["l4s"] = false.into();
    }
    match keys["congestion"].as_str() {
        Some("bbr") => {
            (keys["sack"], keys["ecn"], keys["feedback"]) = (true.into(), false.into(), json!("rfc3168"))
        }
        Some("prague") => {
            (keys["sack"], keys["ecn"], keys["l4s"]) = (true.into(), true.into(), true.into());
            keys["feedback"] = draw.of(&["accecn", "counters"]).to_string().into();
        }
        _ => keys["feedback"] = json!("rfc3168"),
    }
    if window > 65_536 {
        keys["window_scaling"] = true.into();
    }
    keys
}

/// Return whether a flow stands for transfers with a circuit each.
fn draws_transfers(flow: &Json) -> bool {
    ["arrivals", "query"].iter().any(|kind| flow["source"]["kind"] == *kind)
}

/// A recording of a few packets: gaps in microseconds and octets, each in groups of seven bits, in base64.
fn recording(draw: &mut Draw) -> String {
    let mut octets = Vec::new();
    for _ in 0..draw.between(1, 60) {
        let gap = if draw.chance(0.3) { 0 } else { draw.magnitude(1, 20_000) };
        for mut number in [gap, draw.magnitude(28, 3_000)] {
            while number > 127 {
                octets.push(number as u8 | 128);
                number >>= 7;
            }
            octets.push(number as u8);
        }
    }
    let letter = |bits: usize| char::from(LETTERS[bits & 63]);
    let group = |group: &[u8]| {
        let bits = (0..3).fold(0, |bits, at| bits << 8 | usize::from(group.get(at).copied().unwrap_or(0)));
        let letters = [18, 12, 6, 0].map(|shift| letter(bits >> shift));
        letters[..=group.len()].iter().collect::<String>()
    };
    format!("1 us;{}", octets.chunks(3).map(group).collect::<String>())
}

const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Transfers that are neither too many for a test nor only one.
fn arrivals_keys(draw: &mut Draw, source: &mut Json) {
    source["sizes"] = match draw.between(0, 2) {
        0 => "hadoop".into(),
        1 => json!({ "log_normal": { "mean": "20 kB", "sigma": 1 } }),
        _ => json!({ "exponential": { "mean": "20 kB" } }),
    };
    source["load"] = "50 %".into();
    source.as_object_mut().expect("a source is a table").remove("rate");
}

fn rate_of(text: &Json) -> Rate {
    Rate::parse(text.as_str().expect("a rate is a text")).expect("a link has a rate")
}
