//! Scenarios that come with Pushout, with another port, other packets and other neighbours: buffers, rates and timers as
//! people have them, for many seconds. What goes wrong only where a thousand cells wait, or once in a million, shows here.

use pushout_core::scenario::model::Scenario;
use pushout_core::serde_json::{Value as Json, json};

use crate::equivalence::random::schema::Draw;
use crate::equivalence::random::{load, port_schema};

/// A scenario, the section of the port that is drawn, and how many milliseconds it runs at most.
const SHIPPED: [(&str, &str, u64); 10] = [
    (include_str!("../../../../scenarios/w1-cell.toml"), "bottleneck", 30_000),
    (include_str!("../../../../scenarios/lan.toml"), "bottleneck", 60_000),
    (include_str!("../../../../studies/000-ubr-discard/access.toml"), "bottleneck", 120_000),
    (include_str!("../../../../studies/002-weighted-fair-epd/port.toml"), "bottleneck", 300_000),
    (include_str!("../../../../studies/002-weighted-fair-epd/backbone.toml"), "bottleneck", 12_000),
    (include_str!("../../../../studies/003-gfr-buffer-management/gfr.toml"), "bottleneck", 20_000),
    (include_str!("../../../../scenarios/multi-hop.toml"), "default", 10_000),
    (include_str!("../../../../scenarios/mux-poisson.toml"), "bottleneck", 10_000),
    (include_str!("../../../../scenarios/w1-packet.toml"), "bottleneck", 60_000),
    (include_str!("../../../../scenarios/incast.toml"), "bottleneck", 5_000),
];

/// Seed number `seed`: the text of a scenario and what was read from it.
pub(crate) fn scenario(seed: u64) -> (Json, Scenario) {
    let mut draw = Draw::new(seed);
    let &(text, section, longest) = draw.of(&SHIPPED);
    let mut document: Json = toml::from_str(text).expect("a scenario is TOML");
    document["seed"] = seed.into();
    let duration = draw.magnitude(longest / 20, longest);
    document["duration"] = format!("{duration} ms").into();
    document["warmup"] = format!("{} ms", draw.between(0, duration / 4)).into();
    packets(&mut draw, &mut document["flows"]["transport"]);
    if let Some(flows) = document.get_mut("flow").and_then(Json::as_array_mut) {
        flows.iter_mut().for_each(|flow| neighbour(&mut draw, flow));
    }
    if draw.chance(0.5) {
        document["flows"]["mcr"] = format!("{} kb/s", draw.between(10, 100)).into();
    }
    for _ in 0..200 {
        document["port"][section] = port(&mut draw, document["adaptation"]["kind"] == "packet");
        match load(&document) {
            Ok(scenario) => return (document, scenario),
            Err(why) => assert!(why.contains(": port."), "seed {seed} is no scenario: {why}\n{document:#}"),
        }
    }
    panic!("seed {seed}: every port was refused\n{document:#}")
}

/// Other segments and coarser timers, for TCP.
fn packets(draw: &mut Draw, transport: &mut Json) {
    if transport["kind"] == "tcp" && draw.chance(0.5) {
        transport["mss"] = (*draw.of(&[512, 1460, 9140])).into();
        transport["window"] = "64000 bytes".into();
    }
    if transport["kind"] == "tcp" && draw.chance(0.3) {
        (transport["slow_timer"], transport["min_rto"]) = ("10 ms".into(), "20 ms".into());
    }
}

/// Some flows have no feedback.
fn neighbour(draw: &mut Draw, flow: &mut Json) {
    if draw.chance(0.2) && flow.get("source").is_none() {
        let rate = format!("{} Mb/s", draw.magnitude(1, 100));
        flow["transport"] = json!({ "kind": "udp" });
        flow["source"] = match draw.between(0, 2) {
            0 => json!({ "kind": "cbr", "rate": rate }),
            1 => json!({ "kind": "poisson", "rate": rate }),
            _ => json!({ "kind": "on-off", "peak": rate, "on": "5 ms", "off": "10 ms" }),
        };
    }
}

/// A port as its section describes itself; its policies may refuse the draw.
fn port(draw: &mut Draw, packets: bool) -> Json {
    draw.size = match packets {
        true => (draw.magnitude(20_000, 2_000_000), "bytes"),
        false => (draw.magnitude(200, 20_000), "cells"),
    };
    let mut port = draw.instance(&port_schema());
    port["buffer"] = format!("{} {}", draw.size.0, draw.size.1).into();
    port
}
