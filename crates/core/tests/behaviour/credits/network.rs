//! Random networks with credits on every hop, a thousand of cells and some of packets: no unit is lost or held back for
//! ever, and the audit of credits finds no failure, except in changed outcomes.

use std::panic::{AssertUnwindSafe, catch_unwind};

use pushout_core::audit::audit;
use pushout_core::engine;
use pushout_core::link::gate::credit::{CreditReceiver, CreditReport, CreditSender};
use pushout_core::report::report;
use pushout_core::rng::Stream;
use pushout_core::scenario::explain;
use pushout_core::serde_json::{Value as Json, json};
use pushout_core::unit::{Flags, Unit};
use pushout_core::units::ids::{CircuitId, FlowId, LineId, PortVc};

use super::{load, run};

const NETWORKS: u64 = 1000;
const NETWORKS_OF_PACKETS: u64 = 300;

/// The classes of traffic of networks of packets with a memory.
const CLASSES: [&str; 3] = ["bulk", "plain", "urgent"];

/// A network while it is drawn: two to five switches in a row, and hosts at any of them.
struct Net {
    draw: Stream,
    /// True if links carry packets, and if ports of routers share a memory.
    packets: bool,
    memory: bool,
    nodes: Vec<Json>,
    links: Vec<Json>,
    flows: Vec<Json>,
    /// Bits per second of all lines together: the work of a second of this network.
    work: u64,
}

impl Net {
    fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.draw.up_to(high - low)
    }

    fn of(&mut self, list: &[&'static str]) -> &'static str {
        list[self.draw.up_to(list.len() as u64 - 1) as usize]
    }

    fn node(&mut self, name: &str, kind: &str) {
        let latency = self.of(&["0 s", "0 s", "3 us", "777 ns"]);
        self.nodes.push(json!({ "name": name, "kind": kind, "latency": latency }));
    }

    fn link(&mut self, name: &str, from: &str, to: &str) {
        let rates = ["2 Mb/s", "10 Mb/s", "33.92 Mb/s", "149.76 Mb/s", "424 Mb/s"];
        let delays = ["0 s", "1 us", "20 us", "150 us", "1 ms"];
        let (rate, delay) = (self.of(&rates), self.of(&delays));
        let mut link = json!({ "name": name, "class": &name[..2], "from": from, "to": to, "rate": rate, "delay": delay });
        if self.between(0, 3) == 0 {
            link["back"] = json!({ "rate": self.of(&rates), "delay": self.of(&delays) });
        }
        self.work += 300_000_000;
        self.links.push(link);
    }

    fn flow(&mut self, index: usize, switches: u64) {
        let (from, to) = (format!("from{index}"), format!("to{index}"));
        for (name, link) in [(&from, "in"), (&to, "ex")] {
            self.node(name, "host");
            let switch = format!("s{}", self.between(1, switches));
            self.link(&format!("{link}{index}"), name, &switch);
        }
        let rate = self.of(&["1 Mb/s", "20 Mb/s", "400 Mb/s"]);
        let (source, transport) = match self.between(0, 3) {
            0 if self.packets => {
                let size = format!("{} bytes", self.between(1, 1472));
                (json!({ "kind": "poisson", "rate": rate, "size": size }), json!({ "kind": "udp" }))
            }
            0 => (json!({ "kind": "poisson", "rate": rate }), json!({ "kind": "cells" })),
            1 => (json!({ "kind": "cbr", "rate": rate, "size": "1460 bytes" }), json!({ "kind": "udp" })),
            _ => (json!({ "kind": "greedy" }), json!({ "kind": "tcp", "mss": 512, "window": "8 KiB" })),
        };
        let mut flow = json!({ "name": format!("flow{index}"), "from": from, "to": to, "source": source, "transport": transport });
        if self.memory {
            flow["queue"] = CLASSES[self.between(0, 2) as usize].into();
        }
        self.flows.push(flow);
    }

    fn credit(&mut self) -> Json {
        if self.packets {
            return self.packet_credit();
        }
        let n2 = self.between(1, 6);
        let mut credit =
            json!({ "policy": "n23", "n2": format!("{n2} cells"), "charge": self.between(0, 1) == 1 });
        if self.between(0, 2) > 0 {
            credit["n3"] = format!("{} cells", self.between(0, 8)).into();
        } else if self.between(0, 1) == 0 {
            credit["peak"] = "5 Mb/s".into();
        }
        json!({ "scheduler": { "policy": self.of(&["round-robin", "strict-priority"]) }, "credit": credit })
    }

    fn packet_credit(&mut self) -> Json {
        let (size, overhead) = (self.between(1, 600), self.between(0, 1) * self.between(0, 40));
        let mut credit = json!({
            "policy": "cbfc", "credit_size": format!("{size} bytes"), "overhead": format!("{overhead} bytes"),
            "update": format!("{} bytes", self.between(8, 2000)),
        });
        if self.between(0, 3) > 0 {
            let least = (1500 + overhead).div_ceil(size); // credits of the largest packet
            let room = size * (least + self.between(0, 3 * least));
            credit["room"] = format!("{room} bytes").into();
        }
        let scheduler = self.of(&["fifo", "round-robin", "strict-priority", "drr", "fair-queue"]);
        json!({ "scheduler": { "policy": scheduler }, "credit": credit })
    }

    /// Set the keys that make a network one of packets.
    fn packet_keys(&mut self, document: &mut Json) {
        document["adaptation"] = json!({ "kind": "packet" });
        if !self.memory {
            return;
        }
        let alpha = self.of(&["0.01", "1.0"]).parse::<f64>().unwrap();
        let cell = self.between(1, 300);
        document["memory"] = json!({ "chip": {
            "size": "3 GB", "cell": format!("{cell} bytes"), "header": format!("{} bytes", self.between(0, 1) * 8),
            "admission": { "policy": "dynamic-threshold", "alpha": alpha }, "pool": { "all": { "side": "ingress" } },
        } });
        document["queue"] = CLASSES.iter().map(|class| (class.to_string(), json!({}))).collect();
        for section in ["default", "tr", "ex.back", "in.back"] {
            if document["port"][section].is_null() {
                document["port"][section] = json!({});
            }
            document["port"][section]["memory"] = "chip".into();
        }
    }

    /// Network number `seed`, of cells or of packets.
    fn document(seed: u64, packets: bool) -> Json {
        let mut draw = Stream::new(seed, if packets { "packets" } else { "network" });
        let memory = packets && draw.up_to(1) == 1;
        let (nodes, links, flows) = (Vec::new(), Vec::new(), Vec::new());
        let mut net = Net { draw, packets, memory, nodes, links, flows, work: 0 };
        let switches = net.between(2, 5);
        (1..=switches).for_each(|i| net.node(&format!("s{i}"), if packets { "router" } else { "switch" }));
        (1..switches).for_each(|i| net.link(&format!("trunk{i}"), &format!("s{i}"), &format!("s{}", i + 1)));
        (0..net.between(1, 5) as usize).for_each(|i| net.flow(i, switches));
        let mut port = json!({ "default": net.credit(), "in": net.credit() });
        if net.between(0, 1) == 0 {
            port["tr"] = net.credit();
        }
        if net.between(0, 3) > 0 {
            port["ex.back"] = net.credit();
        }
        let longer = if packets { 8 } else { 1 }; // fewer units
        let micros = longer * net.between(12_000_000_000_000, 60_000_000_000_000) / net.work;
        let mut document = json!({
            "name": "random", "seed": seed, "duration": format!("{micros} us"), "warmup": format!("{} us", micros / 5 * (seed % 2)),
            "node": std::mem::take(&mut net.nodes), "link": std::mem::take(&mut net.links), "flow": std::mem::take(&mut net.flows), "port": port,
        });
        if packets {
            net.packet_keys(&mut document);
        }
        document
    }
}

/// Events in all runs together: a test without them proves nothing.
#[derive(Default, Debug)]
struct Seen {
    full_hops: u64,
    blocked: u64,
    credits: u64,
    free: u64,
    arrived: u64,
}

fn check(text: &Json, seen: &mut Seen) {
    let scenario = load(&text.to_string(), &[]);
    let outcome = run(&scenario);
    let again = load(&explain(&scenario).to_string(), &[]);
    assert_eq!(again, scenario, "the explicit form says the same");
    let twice = engine::run(&again, false);
    assert_eq!(report(&scenario, &outcome, None).to_string(), report(&again, &twice, None).to_string());
    for (index, line) in scenario.lines.pairs() {
        let port = &outcome.network.ports[index];
        assert!(line.port.memory.is_some() || port.counters().lost_total() == 0, "{}", line.name);
        seen.credits += port.counters().rare().credit_cells;
        let (Some(sender), Some(receiver)) =
            (CreditSender::among(port.gates()), outcome.network.receiver(index))
        else {
            continue;
        };
        for vc in 0..port.pool().vcs() {
            let largest = Unit {
                vc: CircuitId(0),
                frame: 0,
                identity: 0,
                index: 0,
                bytes: 1500,
                hop: 0,
                flags: Flags(0),
            };
            seen.blocked +=
                u64::from(!sender.lets(&largest, PortVc::new(vc)) && port.pool().of(PortVc::new(vc)) > 0);
            seen.full_hops += u64::from(receiver.books(PortVc::new(vc)).most == receiver.terms().room);
            if matches!(receiver.terms().report, CreditReport::Cells { charge: false, .. }) {
                seen.free += receiver.books(PortVc::new(vc)).reported;
            }
        }
    }
    seen.arrived += outcome.network.circuits.iter().map(|circuit| circuit.tally().arrived).sum::<u64>();
}

/// Check networks of cells or of packets.
fn check_all(networks: u64, packets: bool) -> Seen {
    let mut seen = Seen::default();
    for seed in 0..networks {
        let text = Net::document(seed, packets);
        let checked = catch_unwind(AssertUnwindSafe(|| check(&text, &mut seen)));
        assert!(checked.is_ok(), "network {seed}, for the reason above:\n{text:#}");
    }
    seen
}

#[test]
fn no_cell_is_lost_in_a_thousand_random_networks() {
    let seen = check_all(NETWORKS, false);
    let Seen { full_hops, blocked, credits, free, arrived } = seen;
    assert!(full_hops > 500 && blocked > 500, "{seen:?}");
    assert!(credits > 50_000 && free > 100_000 && arrived > 100_000, "{seen:?}");
}

#[test]
fn no_packet_with_credits_is_lost_in_random_networks() {
    let seen = check_all(NETWORKS_OF_PACKETS, true);
    let Seen { full_hops, blocked, credits, arrived, .. } = seen;
    assert!(full_hops > 100 && blocked > 100 && credits > 20_000 && arrived > 20_000, "{seen:?}");
}

#[test]
fn room_for_one_cell_at_every_hop_is_enough_for_a_file_to_get_through() {
    let text = r#"
        name = "narrow"
        duration = "2 s"
        node = [{ name = "a", kind = "host" }, { name = "s", kind = "switch" }, { name = "t", kind = "switch" }, { name = "b", kind = "host" }]
        link = [
            { name = "in", from = "a", to = "s", rate = "100 Mb/s", delay = "10 us" },
            { name = "mid", from = "s", to = "t", rate = "10 Mb/s", delay = "10 us" },
            { name = "out", from = "t", to = "b", rate = "100 Mb/s", delay = "10 us" },
        ]
        port = { in = PORT, default = PORT }
        [[flow]]
        name = "file"
        from = "a"
        to = "b"
        source = { kind = "file", size = "100 KB", off = "10 s" }
        transport = { kind = "tcp" }
    "#;
    let port = "{ scheduler = { policy = 'round-robin' }, credit = { policy = 'n23', n2 = '1 cell', n3 = '0 cells' } }";
    let scenario = load(&text.replace("PORT", port), &[]);
    let outcome = run(&scenario);
    assert_eq!(outcome.flows[FlowId(0)].figures.transfers, 1);
}

#[test]
fn the_audit_of_credits_misses_a_receiver_that_has_forgotten_what_it_held() {
    let scenario = load(&Net::document(3, false).to_string(), &[]);
    let mut outcome = run(&scenario);
    let busy = |line: &LineId| {
        let (port, receiver) = (&outcome.network.ports[*line], outcome.network.receiver(*line));
        receiver.is_some_and(|receiver| {
            (0..port.pool().vcs()).any(|vc| receiver.books(PortVc::new(vc)).reported > 0)
        })
    };
    let line = scenario.lines.keys().find(busy).expect("some circuit has had credits");
    let vcs = outcome.network.ports[line].pool().vcs() as u32;
    let receiver = outcome.network.receivers[line].as_mut().unwrap();
    **receiver = CreditReceiver::new(receiver.terms(), (0..vcs).collect());
    let failures = audit(&scenario, &outcome).failures;
    let place = format!("behind {}", scenario.lines[line].name);
    assert!(failures.iter().any(|failure| failure.contains(&place)), "{failures:?}");
}
