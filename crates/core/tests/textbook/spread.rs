//! Packets of one flow on several routes: the route of each, hop by hop, without links that are known to be down.
//!
//! The simulator lists all routes of a circuit before the run. The model knows no routes: when a packet leaves its host, it walks
//! through the network, and at every node it counts the hops that are left over each line.

use std::collections::BTreeMap;
use std::fmt::Write;

use pushout_core::engine::{Stopwatch, reference};
use pushout_core::network::circuit::Circuit;
use pushout_core::rng::Stream;
use pushout_core::scenario::load;
use pushout_core::scenario::model::{NodeKind, Scenario};
use pushout_core::trace::{Tracer, What};
use pushout_core::unit::Unit;
use pushout_core::units::Time;
use pushout_core::units::ids::{CircuitId, IdVec, LineId, NodeId};

/// A line that is down in the tables of all nodes, from one microsecond to another.
#[derive(Clone, Copy, Debug)]
struct Outage {
    line: LineId,
    from: u64,
    to: u64,
}

/// The routes of all packets, to compare with those of the engine.
struct Walks<'a> {
    scenario: &'a Scenario,
    outages: Vec<Outage>,
    /// The ends of every circuit, and its key.
    ends: Vec<(NodeId, NodeId, u64)>,
    /// The lines that a packet still has to pass, the next one last.
    left: BTreeMap<(CircuitId, u32), Vec<LineId>>,
    /// The packets of every circuit by their routes.
    packets: BTreeMap<(u32, Vec<LineId>), u64>,
    said: String,
}

/// The finaliser of D. Stafford ("Mix13") in SplitMix64.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The hash of a path with a seed: FNV-1a, mixed.
fn key(seed: u64, path: &str) -> u64 {
    let fnv = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = path.bytes().fold(0xcbf2_9ce4_8422_2325, fnv);
    mix(mix(hash) ^ mix(seed.wrapping_add(0x9e37_79b9_7f4a_7c15)))
}

impl<'a> Walks<'a> {
    fn new(scenario: &'a Scenario, outages: Vec<Outage>, said: String) -> Walks<'a> {
        let mut ends = vec![(NodeId(0), NodeId(0), 0); scenario.vcs.len()];
        for flow in &scenario.flows {
            let key = |vc: usize| {
                key(scenario.seed, &format!("flow.{}.packets", scenario.vcs[CircuitId::new(vc)].name))
            };
            ends[flow.vc.index()] = (flow.from, flow.to, key(flow.vc.index()));
            if let Some(back) = flow.back {
                ends[back.index()] = (flow.to, flow.from, key(back.index()));
            }
        }
        Walks { scenario, outages, ends, left: BTreeMap::new(), packets: BTreeMap::new(), said }
    }

    /// Lines that start at a node and are not known to be down, by name.
    fn lines_from(&self, node: NodeId, now: u64) -> Vec<LineId> {
        let is_down = |line: LineId| {
            self.outages.iter().any(|outage| outage.line == line && (outage.from..outage.to).contains(&now))
        };
        let lines = self.scenario.lines.keys();
        let own = lines.filter(|line| self.scenario.lines[*line].from == node && !is_down(*line));
        let mut own: Vec<LineId> = own.collect();
        own.sort_by_key(|line| &self.scenario.lines[*line].name);
        own
    }

    /// The fewest lines from a node to another, where hosts do not forward; `most` of them are too many.
    fn hops(&self, node: NodeId, to: NodeId, now: u64, most: usize) -> usize {
        if node == to || most == 0 {
            return 0;
        }
        if self.scenario.nodes[node].kind == NodeKind::Host {
            return most;
        }
        let after = |line: LineId, most| 1 + self.hops(self.scenario.lines[line].to, to, now, most);
        self.lines_from(node, now).into_iter().fold(most, |best, line| best.min(after(line, best - 1)))
    }

    /// Return the lines that a packet passes: at every node one of the lines with the fewest hops left after it.
    fn walk(&self, (from, to, key): (NodeId, NodeId, u64), frame: u32, now: u64) -> Vec<LineId> {
        let most = self.scenario.nodes.len();
        let draw = u128::from(mix(key ^ u64::from(frame)));
        let (mut at, mut low, mut width, mut path) = (from, 0u128, 1u128 << 64, Vec::new());
        while at != to {
            let lines = self.lines_from(at, now);
            let left = |line: &LineId| self.hops(self.scenario.lines[*line].to, to, now, most);
            let least = lines.iter().map(left).min().unwrap();
            let equal: Vec<LineId> = lines.into_iter().filter(|line| left(line) == least).collect();
            let count = equal.len() as u128;
            let border = |number: u128| low + width * number / count;
            let chosen = (0..count).rfind(|number| border(*number) <= draw).unwrap();
            (low, width) = (border(chosen), border(chosen + 1) - border(chosen));
            path.push(equal[chosen as usize]);
            at = self.scenario.lines[equal[chosen as usize]].to;
        }
        path
    }
}

impl Tracer for Walks<'_> {
    fn see(&mut self, now: Time, line: LineId, unit: &Unit, what: What, _: &IdVec<CircuitId, Circuit>) {
        let (packet, ends) = ((unit.vc, unit.frame), self.ends[unit.vc.index()]);
        if what != What::Arrives {
            return;
        }
        if self.scenario.lines[line].from == ends.0 {
            let now = now.since(Time::ZERO).0 / 1_000_000;
            let mut path = self.walk(ends, unit.frame, now);
            *self.packets.entry((unit.vc.0, path.clone())).or_default() += 1;
            path.reverse();
            assert!(self.left.insert(packet, path).is_none(), "{}: it leaves once", self.said);
        }
        let next = self.left.get_mut(&packet).and_then(Vec::pop);
        assert_eq!(next, Some(line), "{}: the next line of packet {packet:?} at {now:?}", self.said);
    }
}

/// Draw routers in a ring with some lines across, hosts at them, and flows between these.
fn scenario(stream: &mut Stream) -> (String, Vec<(String, u64, u64, u64)>) {
    let routers = 3 + stream.up_to(3);
    let mut text = format!(
        "name = \"spread\"\nseed = {}\nduration = \"3 ms\"\nrouting = \"ecmp-packet\"\nadaptation = {{ kind = \"packet\" }}\n\
         [flows]\nsource = {{ kind = \"file\", size = \"60 kB\" }}\ntransport = {{ kind = \"tcp\", window = \"16 kB\" }}\n\
         [port.default]\nbuffer = \"12 packets\"\n",
        stream.up_to(1 << 60)
    );
    let mut links: Vec<(String, String)> = Vec::new();
    for n in 0..routers {
        writeln!(text, "[[node]]\nname = \"r{n}\"\nkind = \"router\"").unwrap();
        for _ in 0..=stream.up_to(1) {
            links.push((format!("r{n}"), format!("r{}", (n + 1) % routers)));
        }
    }
    for _ in 0..stream.up_to(6) {
        let from = stream.up_to(routers - 1);
        let to = (from + 1 + stream.up_to(routers - 2)) % routers;
        links.push((format!("r{from}"), format!("r{to}")));
    }
    let between = links.len();
    for n in 0..4 {
        writeln!(text, "[[node]]\nname = \"h{n}\"\nkind = \"host\"").unwrap();
        links.push((format!("h{n}"), format!("r{}", n % routers)));
        if stream.up_to(1) == 1 {
            links.push((format!("h{n}"), format!("r{}", stream.up_to(routers - 1))));
        }
    }
    for (n, (from, to)) in links.iter().enumerate() {
        writeln!(text, "[[link]]\nname = \"l{n}\"\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"1 Gb/s\"")
            .unwrap();
        writeln!(text, "delay = \"{} us\"", 1 + stream.up_to(20)).unwrap();
    }
    for n in 0..3 {
        writeln!(text, "[[flow]]\nname = \"f{n}\"\nfrom = \"h{n}\"\nto = \"h{}\"", n + 1).unwrap();
    }
    let mut outages = Vec::new();
    for _ in 0..stream.up_to(2) {
        let link =
            format!("l{}{}", stream.up_to(between as u64 - 1), [".back", ""][stream.up_to(1) as usize]);
        let (begin, delay) = (1 + stream.up_to(1000), stream.up_to(300));
        let end = begin + 1 + stream.up_to(1500);
        writeln!(text, "[[loss]]\nlink = \"{link}\"\ndown = [[\"{begin} us\", \"{end} us\"]]").unwrap();
        writeln!(text, "reroute_after = \"{delay} us\"").unwrap();
        outages.push((link, begin, end, delay));
    }
    (text, outages)
}

/// Compare the routes of all packets of a random network; returns by how many the routes exceed the circuits. Where an
/// outage leaves no route, there are none to compare.
fn compare(seed: u64) -> Option<u64> {
    let (text, outages) = scenario(&mut Stream::new(seed, "spread"));
    let scenario = match load(&text, "spread.toml", &[]) {
        Ok(scenario) => scenario,
        Err(refusal) if refusal.message.contains("is left from") => return None,
        Err(refusal) => panic!("{}\n{text}", refusal.message),
    };
    let line = |name: &str| scenario.lines.position(|line| line.name == name).unwrap();
    let known = outages.iter().filter(|(_, begin, end, delay)| begin + delay < *end);
    let outage = |(name, begin, end, delay): &(String, u64, u64, u64)| Outage {
        line: line(name),
        from: begin + delay,
        to: end + delay,
    };
    let outages = known.map(outage).collect();
    let walks = Walks::new(&scenario, outages, format!("seed {seed}"));
    let (_, walks) = reference::run_traced(&scenario, false, walks, &mut Stopwatch::default());
    Some(walks.packets.len() as u64 - scenario.vcs.len() as u64)
}

#[test]
fn every_packet_goes_where_a_walk_over_the_shortest_ways_leads_it() {
    let many = std::env::var("PUSHOUT_EQUIVALENCE").map_or(100, |count| count.parse().unwrap());
    let found: Vec<u64> = (0..many).filter_map(compare).collect();
    assert!(found.len() as u64 > many / 2, "{} networks", found.len());
    assert!(found.iter().sum::<u64>() > many, "{found:?}");
}
