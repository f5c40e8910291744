//! Random scenarios: small networks in explicit form, with everything that a scenario can say about ports and flows.

pub(crate) mod schema;

use pushout_core::api::Request;
use pushout_core::scenario::file;
use pushout_core::scenario::model::Scenario;
use pushout_core::scenario::spec::{Field, Section, object_schema};
use pushout_core::serde_json::{Map, Value as Json, json};
use pushout_core::transport::tcp;
use pushout_core::units::{Quantity, Rate};
use pushout_core::{source, transport};

use schema::Draw;

/// Seed number `seed`: the text of a scenario and what was read from it.
///
/// A draw whose policies refuse their ports (a threshold above the buffer, say) is drawn again.
pub(crate) fn scenario(seed: u64) -> (Json, Scenario) {
    let mut draw = Draw::new(seed);
    for _ in 0..200 {
        let text = Net::draw(&mut draw).document(&mut draw, seed);
        match load(&text) {
            Ok(scenario) => return (text, scenario),
            Err(why) => assert!(why.contains(": port."), "seed {seed} is no scenario: {why}\n{text:#}"),
        }
    }
    panic!("seed {seed}: every draw was refused")
}

/// The scenario of a document.
pub(crate) fn load(document: &Json) -> Result<Scenario, String> {
    Request { text: &document.to_string(), name: "random.json", ..Request::default() }.scenario()
}

/// Everything that a section `[port.…]` can say but for the buffer.
pub(crate) fn port_schema() -> Json {
    let params: Vec<_> = file::Port::params().into_iter().filter(|param| param.name != "buffer").collect();
    object_schema(&params)
}

/// A network while it is drawn.
struct Net {
    cells: bool,
    relays: usize,
    llc_snap: bool,
    header: u64,
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
        let (source, transport) = self.application(draw, self.access_rate(&from, &to));
        let mut flow = json!({
            "name": format!("flow{index}"), "from": from, "to": to, "source": source, "transport": transport,
            "weight": draw.of(&[1.0, 0.5, 2.5]),
        });
        if draw.chance(0.5) {
            flow["start"] = format!("{} us", draw.between(0, 5_000)).into();
            flow["start_spread"] = draw.of(&["0 s", "1 ms"]).to_string().into();
        }
        if draw.chance(0.3) {
            flow["mcr"] = "50 kb/s".into();
        }
        self.flows.push(flow);
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

    /// A source and a transport that fit each other and this network, and what they may ask of it.
    fn application(&mut self, draw: &mut Draw, limit: Rate) -> (Json, Json) {
        draw.rate = limit;
        loop {
            let transport = match draw.instance(&transport::Spec::shape().schema) {
                transport if transport["kind"] == "tcp" => tcp_keys(draw),
                transport => transport,
            };
            let source = draw.instance(&source::Spec::shape().schema);
            let Ok(alone) = load(&self.alone(&source, &transport)) else { continue };
            let (flow, circuit) = (&alone.flows[0], &alone.vcs[0]);
            let rate = flow.source.rate().map_or(limit, |(_, rate)| rate).0;
            self.work += rate as f64 * (self.relays + 1) as f64 / 424.0;
            let packet = u64::from(circuit.packet) + self.header.max(8);
            self.frame = self.frame.max(if self.cells { (packet + 8).div_ceil(48) * 53 } else { packet });
            return (source, transport);
        }
    }

    /// The scenario of this application by itself.
    fn alone(&self, source: &Json, transport: &Json) -> Json {
        json!({
            "name": "alone", "duration": "1 s", "adaptation": self.adaptation(),
            "node": [{ "name": "a", "kind": "host" }, { "name": "b", "kind": "host" }],
            "link": [{ "from": "a", "to": "b", "rate": "1 Mb/s", "delay": "0 s" }],
            "flow": [{ "name": "f", "from": "a", "to": "b", "source": source, "transport": transport }],
        })
    }

    fn adaptation(&self) -> Json {
        match self.cells {
            true => json!({ "kind": "aal5", "llc_snap": self.llc_snap }),
            false => json!({ "kind": "packet", "header": format!("{} bytes", self.header) }),
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

    fn ports(&self, draw: &mut Draw) -> Map<String, Json> {
        let schema = port_schema();
        let trunks = (1..self.relays).flat_map(|i| [format!("trunk{i}"), format!("trunk{i}.back")]);
        let names = trunks.chain((self.relays == 0).then(|| "direct".to_string()));
        let names: Vec<String> = names.chain((self.relays > 0).then(|| "default".to_string())).collect();
        let mut ports = Map::new();
        for name in names.into_iter().filter(|_| draw.chance(0.8)).collect::<Vec<_>>() {
            let buffer = self.buffer(draw);
            let mut port = draw.instance(&schema);
            port["buffer"] = buffer.into();
            ports.insert(name, port);
        }
        ports
    }

    fn document(&self, draw: &mut Draw, seed: u64) -> Json {
        let seconds = draw.magnitude(5_000, 200_000) as f64 / self.work;
        let micros = (seconds * 1e6) as u64 + 100;
        let warmup = if draw.chance(0.4) { draw.between(0, micros / 2) } else { 0 };
        json!({
            "name": "random", "seed": seed,
            "duration": format!("{} us", micros.min(3_000_000)), "warmup": format!("{} us", warmup.min(1_000_000)),
            "adaptation": self.adaptation(), "port": self.ports(draw),
            "node": self.nodes, "link": self.links, "flow": self.flows,
        })
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
        }
    }
    if window > 65_536 {
        keys["window_scaling"] = true.into();
    }
    keys
}

fn rate_of(text: &Json) -> Rate {
    Rate::parse(text.as_str().expect("a rate is a text")).expect("a link has a rate")
}
