//! The port of a switch with classes: strict priority above a group with weights, minimum and maximum rates, credits of IEEE 802.1Qav,
//! and a policer with a lower class.
//!
//! The reference engine reports what reaches the port and what leaves it. From the arrivals the model computes every departure.
//! Times are picoseconds, and at every rate an octet lasts whole nanoseconds.

use std::collections::VecDeque;
use std::fmt::Write;

use pushout_core::engine::{Stopwatch, reference};
use pushout_core::network::circuit::Circuit;
use pushout_core::rng::Stream;
use pushout_core::scenario::load;
use pushout_core::trace::{Tracer, What};
use pushout_core::unit::Unit;
use pushout_core::units::ids::{CircuitId, IdVec, LineId};
use pushout_core::units::{Quantity, Rate, Time};

/// Sequences that are compared.
const SEQUENCES: u64 = 1000;

/// The end of each run.
const END: u64 = 2_000_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Packet {
    class: usize,
    frame: u32,
    octets: u64,
}

/// A class at the port.
#[derive(Debug)]
struct Class {
    priority: u32,
    weight: u64,
    grouped: bool,
    /// How long an octet lasts at its minimum and at its maximum rate, if it has one.
    minimum: Option<u64>,
    maximum: Option<u64>,
    burst: u64,
    octets: u64,
    /// How long an octet lasts at its idle slope, if it has one, and the bounds of its credit in octets.
    slope: Option<u64>,
    bounds: [Option<u64>; 2],
    /// Whether it has a flow.
    flows: bool,
    // the state: when its next packet is due, when its octets are paid, its deficit and what waits
    due: u64,
    paid: u64,
    deficit: u64,
    waiting: VecDeque<Packet>,
    /// The credit, in octets times the time of an octet at the idle slope, and when it was this: no earlier than the end of its
    /// last transmission.
    credit: i64,
    since: u64,
}

/// A policer of one rate: what it does not pay joins another class.
#[derive(Debug)]
struct Policer {
    class: usize,
    /// How long an octet lasts at its rate, and the depth of a bucket in octets.
    lasts: u64,
    depth: u64,
    by_circuit: bool,
    /// The time that each bucket pays for, and since when.
    buckets: Vec<(u64, u64)>,
}

impl Policer {
    /// Return whether a packet is paid for.
    fn pays(&mut self, now: u64, packet: &Packet) -> bool {
        let (paid, since) = &mut self.buckets[if self.by_circuit { packet.class } else { 0 }];
        let has = (*paid + now - *since).min(self.depth * self.lasts);
        let needs = packet.octets * self.lasts;
        (*paid, *since) = (if has >= needs { has - needs } else { has }, now);
        has >= needs
    }
}

/// A random port.
#[derive(Debug)]
struct Switch {
    /// How long an octet lasts on the line.
    lasts: u64,
    classes: Vec<Class>,
    /// The octets of a quantum, or none if the group counts packets.
    quantum: Option<u64>,
    /// Classes of the group that have packets, in the order of visits; whether the visit to the first has begun.
    visits: Vec<usize>,
    is_visited: bool,
    /// The class that was served last at each priority.
    last: [usize; 3],
    policer: Option<Policer>,
    now: u64,
    left: Vec<(u64, Packet)>,
}

impl Switch {
    fn draw(stream: &mut Stream) -> Switch {
        let lasts = 1000 << stream.up_to(2);
        let classes = 1 + stream.up_to(4);
        let class = |_| {
            Class {
                priority: stream.up_to(2) as u32,
                weight: 1 + stream.up_to(4),
                grouped: stream.up_to(1) == 1,
                minimum: (stream.up_to(2) == 0).then(|| lasts << (3 + stream.up_to(2))), // so that all fit the line
                maximum: (stream.up_to(2) == 0).then(|| 1000 << stream.up_to(3)),
                burst: [0, 100, 1514, 5000][stream.up_to(3) as usize],
                octets: 29 + stream.up_to(1400),
                slope: (stream.up_to(2) == 0).then(|| lasts << stream.up_to(3)),
                bounds: [0, 1].map(|_| (stream.up_to(2) == 0).then(|| stream.up_to(1500))),
                flows: true,
                due: 0,
                paid: 0,
                deficit: 0,
                waiting: VecDeque::new(),
                credit: 0,
                since: 0,
            }
        };
        let mut classes: Vec<Class> = (0..classes).map(class).collect();
        for class in &mut classes {
            class.maximum = class.maximum.map(|maximum| maximum.min(class.minimum.unwrap_or(u64::MAX)));
        }
        let quantum = (stream.up_to(1) == 1).then(|| 1 + stream.up_to(2000));
        let (visits, is_visited, left) = (Vec::new(), false, Vec::new());
        let policer = (stream.up_to(1) == 0).then(|| Switch::police(stream, &mut classes, lasts));
        let last = [classes.len() - 1; 3];
        Switch { lasts, classes, quantum, visits, is_visited, last, policer, now: 0, left }
    }

    /// Draw a policer, whose lower class may be one without a flow: the last one then.
    fn police(stream: &mut Stream, classes: &mut [Class], lasts: u64) -> Policer {
        let circuits = classes.len();
        let class = stream.up_to(circuits as u64 - 1) as usize;
        if circuits > 1 && class + 1 == circuits {
            classes[class].flows = false;
        }
        let depth = 1429 + stream.up_to(3000);
        let lasts = lasts << stream.up_to(3);
        let buckets = vec![(depth * lasts, 0); circuits];
        Policer { class, lasts, depth, by_circuit: stream.up_to(1) == 1, buckets }
    }

    /// Write the scenario: a host for each class, whose packets have one length.
    fn text(&self, stream: &mut Stream) -> String {
        let group: Vec<String> = (0..)
            .zip(&self.classes)
            .filter(|(_, class)| class.grouped)
            .map(|(at, _)| format!("\"c{at}\""))
            .collect();
        let sharing = match self.quantum {
            Some(quantum) => format!("policy = \"drr\", quantum = \"{quantum} bytes\""),
            None => "policy = \"wrr\"".to_string(),
        };
        let group = match group.is_empty() {
            true => String::new(),
            false => format!(", group = {{ {sharing}, queues = [{}] }}", group.join(", ")),
        };
        let rate = 8_000_000 / self.lasts;
        let police = self.policer.as_ref().map_or(String::new(), |policer| {
            let Policer { class, lasts, depth, by_circuit, .. } = policer;
            let by = if *by_circuit { "circuit" } else { "port" };
            let cir = 8_000_000_000 / lasts;
            format!(
                "police = {{ kind = \"gcra\", cir = \"{cir} kb/s\", cbs = \"{depth} bytes\", by = \"{by}\", red = {{ class = \"c{class}\" }} }}\n"
            )
        });
        let mut text = format!(
            "name = \"switch\"\nduration = \"{END} ps\"\nadaptation = {{ kind = \"packet\" }}\n[port.out]\n\
             scheduler = {{ policy = \"strict-priority\", queues = \"class\"{group} }}\n{police}\
             [[node]]\nname = \"r\"\nkind = \"router\"\n[[node]]\nname = \"z\"\nkind = \"host\"\n\
             [[link]]\nname = \"out\"\nfrom = \"r\"\nto = \"z\"\nrate = \"{rate} Mb/s\"\ndelay = \"0 s\"\n"
        );
        for (at, class) in self.classes.iter().enumerate() {
            let Class { priority, weight, burst, octets, slope, bounds, .. } = class;
            writeln!(
                text,
                "[queue.c{at}]\npriority = {priority}\nweight = {weight}\nburst = \"{burst} bytes\""
            )
            .unwrap();
            for (key, lasts) in [("minimum", class.minimum), ("maximum", class.maximum)] {
                lasts
                    .iter()
                    .for_each(|lasts| writeln!(text, "{key} = \"{} kb/s\"", 8_000_000_000 / lasts).unwrap());
            }
            if let Some(slope) = slope {
                let bound = |key, octets: Option<u64>| {
                    octets.map_or(String::new(), |octets| format!(", {key} = \"{octets} bytes\""))
                };
                let (hi, lo) = (bound("hi_credit", bounds[0]), bound("lo_credit", bounds[1]));
                let idle = Rate(8_000_000_000_000 / slope).show();
                writeln!(text, "cbs = {{ idle_slope = \"{idle}\"{hi}{lo} }}").unwrap();
            }
            if !class.flows {
                continue;
            }
            writeln!(text, "[[node]]\nname = \"a{at}\"\nkind = \"host\"").unwrap();
            writeln!(text, "[[link]]\nfrom = \"a{at}\"\nto = \"r\"\nrate = \"8 Gb/s\"\ndelay = \"{at} ns\"")
                .unwrap();
            writeln!(text, "[[flow]]\nname = \"f{at}\"\nfrom = \"a{at}\"\nto = \"z\"\nqueue = \"c{at}\"")
                .unwrap();
            let (burst, off, data) = (1 + stream.up_to(20), 1 + stream.up_to(40_000), octets - 28);
            writeln!(
                text,
                "transport = {{ kind = \"udp\" }}\n[flow.source]\nkind = \"on-off\"\npeak = \"6 Gb/s\""
            )
            .unwrap();
            writeln!(text, "burst = {burst}\noff = \"{off} ns\"\nsize = \"{data} bytes\"").unwrap();
        }
        text
    }

    /// When the first packet of a class may start, from an instant on.
    fn opens(&self, at: usize, from: u64) -> Option<u64> {
        let Class { waiting, maximum, burst, paid, slope, credit, since, .. } = &self.classes[at];
        waiting.front()?;
        let opens = maximum.map_or(from, |lasts| from.max(paid.saturating_sub(burst * lasts)));
        Some(slope.map_or(opens, |_| opens.max(since + (-credit).max(0) as u64)))
    }

    /// Send all that starts up to an instant.
    fn send_until(&mut self, until: u64) {
        loop {
            let all = 0..self.classes.len();
            let Some(start) =
                all.filter_map(|at| self.opens(at, self.now)).min().filter(|start| *start <= until)
            else {
                return;
            };
            let (at, by_claim) = self.choose(start);
            self.start(at, start, by_claim);
        }
    }

    /// Return the class that is served, and whether for its claim.
    fn choose(&mut self, now: u64) -> (usize, bool) {
        let may: Vec<bool> = (0..self.classes.len()).map(|at| self.opens(at, now) == Some(now)).collect();
        let claims = (0..may.len()).filter(|&at| may[at] && self.classes[at].minimum.is_some());
        if let Some(at) =
            claims.filter(|&at| self.classes[at].due <= now).min_by_key(|&at| self.classes[at].due)
        {
            return (at, true);
        }
        let strict = |at: &usize| may[*at] && !self.classes[*at].grouped;
        if let Some(priority) = (0..may.len()).filter(strict).map(|at| self.classes[at].priority).min() {
            let last = &mut self.last[priority as usize];
            let behind = (1..=may.len()).map(|step| (*last + step) % may.len());
            let mut next = behind.filter(|at| may[*at] && !self.classes[*at].grouped);
            *last = next.find(|at| self.classes[*at].priority == priority).unwrap();
            return (*last, false);
        }
        loop {
            let at = self.visits[0];
            let class = &mut self.classes[at];
            if may[at] {
                if !self.is_visited {
                    class.deficit += self.quantum.map_or(class.weight, |quantum| quantum * class.weight);
                }
                self.is_visited = true;
                let octets = class.waiting[0].octets;
                if class.deficit >= if self.quantum.is_some() { octets } else { 1 } {
                    return (at, false);
                }
            }
            self.is_visited = false;
            self.visits.rotate_left(1);
        }
    }

    fn start(&mut self, at: usize, now: u64, by_claim: bool) {
        let class = &mut self.classes[at];
        let packet = class.waiting.pop_front().unwrap();
        if class.grouped {
            if class.waiting.is_empty() {
                class.deficit = 0;
                self.is_visited &= self.visits[0] != at;
                self.visits.retain(|other| *other != at);
            } else if !by_claim {
                class.deficit -= if self.quantum.is_some() { packet.octets } else { 1 };
            }
        }
        if let Some(lasts) = class.minimum {
            class.due = class.due.max(now.saturating_sub(class.burst * lasts)) + packet.octets * lasts;
        }
        if let Some(lasts) = class.maximum {
            class.paid = class.paid.max(now) + packet.octets * lasts;
        }
        let takes = packet.octets * self.lasts;
        if let Some(slope) = class.slope {
            let hi = class.bounds[0].map_or(i64::MAX, |hi| (hi * slope) as i64);
            let lo = class.bounds[1].map_or(i64::MAX, |lo| (lo * slope) as i64);
            let before = (class.credit + (now - class.since) as i64).min(hi);
            // the send slope: idle slope less line
            class.credit = (before + takes as i64 - (packet.octets * slope) as i64).max(-lo);
            class.since = now + takes;
        }
        self.now = now + takes;
        self.left.push((self.now, packet));
    }

    fn arrive(&mut self, now: u64, packet: Packet) {
        self.send_until(now);
        self.now = self.now.max(now);
        let lower =
            self.policer.as_mut().and_then(|policer| (!policer.pays(now, &packet)).then_some(policer.class));
        let at = lower.unwrap_or(packet.class);
        let class = &mut self.classes[at];
        if class.grouped && class.waiting.is_empty() {
            self.visits.push(at);
        }
        if class.waiting.is_empty() && now >= class.since {
            class.credit = (class.credit + (now - class.since) as i64).min(0);
            class.since = now;
        }
        class.waiting.push_back(packet);
        self.send_until(now);
    }
}

/// Arrivals at the port, and departures.
#[derive(Default)]
struct Seen {
    line: LineId,
    came: Vec<(u64, Packet)>,
    left: Vec<(u64, Packet)>,
}

impl Tracer for Seen {
    fn see(&mut self, now: Time, line: LineId, unit: &Unit, what: What, _: &IdVec<CircuitId, Circuit>) {
        if line != self.line {
            return;
        }
        let packet = Packet { class: unit.vc.0 as usize, frame: unit.frame, octets: unit.bytes.into() };
        match what {
            What::Leaves => self.left.push((now.0, packet)),
            What::Arrives => self.came.push((now.0, packet)),
            What::Lost(_) => panic!("nothing is lost"),
        }
    }
}

#[test]
fn classes_are_served_by_claim_then_by_priority_then_by_weight_and_none_exceeds_its_maximum() {
    let (mut sent, mut held, mut lowered, mut shaped) = (0, 0, 0, 0);
    for seed in 0..SEQUENCES {
        let mut stream = Stream::new(seed, "classes");
        let mut switch = Switch::draw(&mut stream);
        let text = switch.text(&mut stream);
        let scenario =
            load(&text, "switch.toml", &[]).unwrap_or_else(|why| panic!("seed {seed}: {why}\n{text}"));
        let line = scenario.lines.position(|line| line.name == "out").unwrap();
        let seen = Seen { line, ..Seen::default() };
        let (_, seen) = reference::run_traced(&scenario, false, seen, &mut Stopwatch::default());
        seen.came.iter().for_each(|(now, packet)| switch.arrive(*now, *packet));
        switch.send_until(END);
        let model: Vec<_> = switch.left.iter().filter(|(time, _)| *time < END).copied().collect();
        let first = model.iter().zip(&seen.left).position(|(one, other)| one != other);
        assert_eq!(first, None, "seed {seed}: {:?}\n{text}", first.map(|at| (model[at], seen.left[at])));
        assert_eq!(model.len(), seen.left.len(), "seed {seed}");
        sent += model.len();
        let lower = switch.policer.as_ref().map(|policer| policer.class);
        lowered += usize::from(lower.is_some_and(|class| !switch.classes[class].flows));
        shaped += switch.classes.iter().filter(|class| class.slope.is_some() && class.credit < 0).count();
        held += usize::from(switch.classes.iter().any(|class| class.maximum.is_some() && class.paid > END));
    }
    assert!(sent > 100_000 && held > 10, "{sent} {held}");
    assert!(lowered > 50 && shaped > 100, "{lowered} {shaped}");
}
