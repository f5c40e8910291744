//! Random scenarios: small, short and nasty. Few different rates and delays, so that units meet at the very same
//! picosecond; buffers of a few units; timers of a millisecond, so that a short run loses and repeats a lot.

use std::fmt::Write;

use pushout_core::buffer::{admission, pushout};
use pushout_core::discipline;
use pushout_core::rng::Stream;
use pushout_core::scheduler;

/// Cells at 42.4 Mb/s last 10 µs exactly, at 84.8 Mb/s 5 µs; at 155.52 Mb/s they last no whole number of picoseconds.
const RATES: [&str; 7] =
    ["42.4 Mb/s", "42.4 Mb/s", "84.8 Mb/s", "155.52 Mb/s", "155.52 Mb/s", "149.76 Mb/s", "10 Mb/s"];
const DELAYS: [&str; 6] = ["0 s", "10 us", "10 us", "5 us", "3.7 us", "200 us"];

/// Delays of the lines of hosts: with the longest, many packets are under way there while ports answer each other quickly.
const HOST_DELAYS: [&str; 6] = ["0 s", "10 us", "3.7 us", "200 us", "1 ms", "5 ms"];

mod switches;

pub(crate) use switches::switches;

struct Writer {
    draw: Stream,
    text: String,
    cells: bool,
    /// Classes of ports with a limited buffer.
    limited: Vec<&'static str>,
    /// The switch of each host.
    switches: Vec<u64>,
    /// True if ports of switches share a memory, and if any port does.
    shared: bool,
    uses_memory: bool,
    /// Whether the memory of the ports pushes out packets of cells.
    pushes_packets: bool,
    /// True if packets that TCP sends before its first acknowledgement are of the class `two`.
    marks_unscheduled: bool,
    /// True if a flow of the class `tcp` has been written.
    has_tcp: bool,
    /// The class of ports that outside pauses, perhaps.
    stormed: Option<&'static str>,
}

/// A random scenario; not every text is one.
pub(crate) fn scenario(seed: u64) -> String {
    let mut draw = Stream::new(seed, "equivalence");
    let cells = draw.chance(0.65);
    let mut writer = Writer::new(draw, cells);
    writer.head(seed);
    let switches = 1 + writer.below(4);
    let ring = switches >= 3 && writer.draw.chance(0.2);
    let hosts = 2 + writer.below(6);
    writer.network(switches, ring, hosts);
    writer.choose_storm(&["access", "access.back"]);
    writer.ports();
    writer.flows(hosts, switches, ring);
    writer.measure();
    writer.losses(&["access", "access.back", "trunk"]);
    writer.storms();
    writer.text
}

/// A random scenario of cell streams without feedback.
pub(crate) fn streams(seed: u64) -> String {
    let mut writer = Writer::new(Stream::new(seed, "streams"), true);
    writer.head(seed);
    let sources = 1 + writer.below(12);
    writer.line(format_args!("[topology]\ntemplate = \"dumbbell\"\nsources = {sources}"));
    for class in ["access", "bottleneck", "egress"] {
        let (rate, delay) = (writer.pick(&RATES), writer.pick(&DELAYS));
        writer.line(format_args!("{class} = {{ rate = \"{rate}\", delay = \"{delay}\" }}"));
    }
    let tagged = "tail-drop\", clp_threshold = \"50 %";
    let (buffer, policy) =
        (1 + writer.below(40), writer.pick(&["tail-drop", "tail-drop", tagged, "epd", "ppd", "red"]));
    writer.line(format_args!("[port.bottleneck]\nbuffer = \"{buffer} cells\""));
    writer.line(format_args!("admission = {{ policy = \"{policy}\" }}"));
    for i in 1..=sources {
        let rate = writer.pick(&["42.4 Mb/s", "4.24 Mb/s", "21.2 Mb/s", "60 Mb/s", "17.1072 Mb/s"]);
        let source = match writer.below(4) {
            0 => format!("kind = \"poisson\", rate = \"{rate}\""),
            1 => {
                let phase = writer.pick(&["random", "aligned"]);
                format!(
                    "kind = \"on-off\", peak = \"{rate}\", burst = 7, activity = 0.4, phase = \"{phase}\", total = 60"
                )
            }
            _ => format!("kind = \"cbr\", rate = \"{rate}\""),
        };
        let (start, spread) = (writer.below(2) * writer.below(4000), writer.below(2) * writer.below(300));
        writer.line(format_args!("[[flow]]\nname = \"flow{i}\"\nsource = {{ {source} }}"));
        writer.line(format_args!("start = \"{start} us\"\nstart_spread = \"{spread} us\""));
        if writer.draw.chance(0.2) {
            writer.police_more_or_less();
        }
    }
    writer.line(format_args!("[flows]\ntransport = {{ kind = \"cells\" }}"));
    writer.text
}

/// A random scenario in which frames of many cells are policed before a port that they share, and perhaps a second one.
pub(crate) fn policed(seed: u64) -> String {
    let mut writer = Writer::new(Stream::new(seed, "policed"), true);
    writer.head(seed);
    let sources = 1 + writer.below(6);
    writer.line(format_args!("[topology]\ntemplate = \"dumbbell\"\nsources = {sources}"));
    let rate = writer.pick(&RATES);
    for class in ["access", "bottleneck", "egress"] {
        let rate = if writer.draw.chance(0.5) { rate } else { writer.pick(&RATES) };
        let delay = writer.pick(&DELAYS);
        writer.line(format_args!("{class} = {{ rate = \"{rate}\", delay = \"{delay}\" }}"));
    }
    writer.tags_at("bottleneck");
    if writer.draw.chance(0.5) {
        writer.tags_at("egress");
    }
    let tcp = writer.tcp();
    for i in 1..=sources {
        let (start, size) = (writer.below(3000), 1 + writer.below(4000));
        writer.line(format_args!("[[flow]]\nname = \"flow{i}\"\nstart = \"{start} us\""));
        if writer.draw.chance(0.7) {
            writer.police_more_or_less();
        }
        let rate = writer.pick(&RATES);
        let traffic = match writer.draw.chance(0.5) {
            true => format!("source = {{ kind = \"greedy\" }}\ntransport = {tcp}"),
            false => {
                let source = format!("kind = \"cbr\", rate = \"{rate}\", size = \"{size} bytes\"");
                format!("source = {{ {source} }}\ntransport = {{ kind = \"udp\" }}")
            }
        };
        writer.line(format_args!("{traffic}"));
    }
    writer.text
}

/// A random scenario of one port with a queue for each circuit and enough frames that queues seldom run empty.
pub(crate) fn circuits(seed: u64) -> String {
    let mut writer = Writer::new(Stream::new(seed, "circuits"), true);
    writer.head(seed);
    let sources = 2 + writer.below(11);
    writer.line(format_args!("[topology]\ntemplate = \"dumbbell\"\nsources = {sources}"));
    let rate = writer.pick(&RATES);
    for class in ["access", "bottleneck", "egress"] {
        let rate = if writer.draw.chance(0.6) { rate } else { writer.pick(&RATES) };
        let delay = writer.pick(&DELAYS);
        writer.line(format_args!("{class} = {{ rate = \"{rate}\", delay = \"{delay}\" }}"));
    }
    writer.queues("bottleneck");
    let tcp = writer.tcp();
    for i in 1..=sources {
        let (start, mcr, priority) = (writer.below(3000), writer.below(3) * 400, writer.below(2));
        writer
            .line(format_args!("[[flow]]\nname = \"flow{i}\"\nstart = \"{start} us\"\nmcr = \"{mcr} kb/s\""));
        writer.line(format_args!("priority = {priority}"));
        let size = 1 + writer.below(300_000);
        let source = match writer.draw.chance(0.8) {
            true => "{ kind = \"greedy\" }".to_string(),
            false => format!("{{ kind = \"file\", size = \"{size} bytes\", off = \"1 ms\" }}"),
        };
        writer.line(format_args!("source = {source}"));
    }
    writer.line(format_args!("[flows]\ntransport = {tcp}"));
    writer.text
}

/// A random ring of switches that give each circuit a queue; units that go round come to ports on whose own they depend.
pub(crate) fn rings(seed: u64) -> String {
    let mut draw = Stream::new(seed, "rings");
    let (switches, hosts) = (3 + draw.up_to(1), 3 + draw.up_to(5));
    let mut writer = Writer::new(draw, true);
    writer.head(seed);
    writer.network(switches, true, hosts);
    for section in ["trunk", "trunk.back", "access.back"] {
        if writer.draw.chance(0.8) {
            writer.queues(section);
        }
    }
    writer.flows(hosts, switches, true);
    writer.measure();
    writer.text
}

/// A random leaf-spine or fat-tree whose flows, or whose packets, are spread, perhaps over parallel links.
pub(crate) fn fabrics(seed: u64) -> String {
    let mut draw = Stream::new(seed, "fabrics");
    let cells = draw.chance(0.3);
    let mut writer = Writer::new(draw, cells);
    writer.head(seed);
    if !cells && writer.draw.chance(0.4) {
        let routing =
            writer.pick(&["ecmp-packet\"", "ecmp-packet\"", "ecmp-flowlet\"\nflowlet_gap = \"200 us\""]);
        writer.line(format_args!("routing = \"{routing}"));
    }
    let has_leaves = writer.draw.chance(0.7);
    let hosts = if has_leaves { writer.leaf_spine() } else { writer.fat_tree() };
    for (class, delays) in [("host", &HOST_DELAYS), ("fabric", &DELAYS)] {
        let (rate, delay) = (writer.pick(&RATES), writer.pick(delays));
        writer.line(format_args!("{class} = {{ rate = \"{rate}\", delay = \"{delay}\" }}"));
    }
    writer.choose_storm(&["host", "fabric", "host.back"]);
    for section in ["default", "fabric", "\"host.back\""] {
        if writer.draw.chance(0.6) {
            writer.port(section);
        }
    }
    if has_leaves && writer.draw.chance(0.3) {
        let weight = 2 + writer.below(5);
        writer.line(format_args!("[[link]]\nname = \"leaf1->spine1\"\nweight = {weight}"));
    }
    let tcp = writer.tcp();
    for i in 1..=hosts {
        let start = writer.below(2000);
        writer.line(format_args!("[[flow]]\nname = \"flow{i}\"\nstart = \"{start} us\""));
        match writer.below(4) {
            0 => writer.transfers(&tcp, hosts),
            _ => writer.traffic(&tcp),
        }
    }
    writer.losses(&["host", "fabric", "fabric.back"]);
    writer.storms();
    writer.text
}

/// A random fabric of packets in which everything meets: policers, spread packets, memories, cut, pushed-out and cleared packets,
/// gates, every admission policy, and long lines of hosts.
pub(crate) fn together(seed: u64) -> String {
    let mut writer = Writer::new(Stream::new(seed, "together"), false);
    writer.head(seed);
    let ways =
        ["first\"", "ecmp\"", "ecmp-packet\"", "ecmp-packet\"", "ecmp-flowlet\"\nflowlet_gap = \"200 us\""];
    let routing = writer.pick(&ways);
    writer.line(format_args!("routing = \"{routing}"));
    let hosts = writer.leaf_spine();
    for (class, delays) in [("host", &HOST_DELAYS), ("fabric", &DELAYS)] {
        let (rate, delay) = (writer.pick(&RATES), writer.pick(delays));
        writer.line(format_args!("{class} = {{ rate = \"{rate}\", delay = \"{delay}\" }}"));
    }
    writer.choose_storm(&["fabric", "host.back"]);
    writer.shared = writer.draw.chance(0.5);
    for section in ["default", "fabric", "\"host.back\""] {
        if writer.draw.chance(0.7) {
            writer.port(section);
            writer.uses_memory |= writer.shared;
        }
    }
    if writer.uses_memory {
        writer.memory();
    }
    let tcp = writer.tcp();
    writer.line(format_args!("[flows]\nsource = {{ kind = \"greedy\" }}\ntransport = {tcp}"));
    for i in 1..=2 + writer.below(5) {
        let from = writer.below(hosts);
        let to = (from + 1 + writer.below(hosts - 1)) % hosts;
        let start = writer.below(2000);
        writer.line(format_args!(
            "[[flow]]\nname = \"f{i}\"\nfrom = \"host{}\"\nto = \"host{}\"",
            from + 1,
            to + 1
        ));
        writer.line(format_args!("start = \"{start} us\""));
        if writer.uses_memory && writer.draw.chance(0.5) && !writer.marks_unscheduled {
            writer.line(format_args!("queue = \"two\""));
        }
        if writer.draw.chance(0.5) {
            writer.police();
        }
        writer.traffic(&tcp);
    }
    writer.losses(&["host", "fabric", "fabric.back"]);
    writer.storms();
    writer.text
}

/// A random fabric of packets whose switches have a memory with one pool and no classes, which removes packets or only limits them, and
/// whose size is such that its bound is seldom, often or always near.
pub(crate) fn memories(seed: u64) -> String {
    let mut writer = Writer::new(Stream::new(seed, "memories"), false);
    writer.head(seed);
    let hosts = writer.routed_fabric();
    for section in ["fabric", "\"fabric.back\"", "\"host.back\""] {
        let admission = if writer.draw.chance(0.9) { "tail-drop" } else { "red" };
        writer.line(format_args!(
            "[port.{section}]\nmemory = \"chip\"\nadmission = {{ policy = \"{admission}\" }}"
        ));
    }
    writer.lean_memory();
    let tcp = writer.tcp();
    writer.line(format_args!("[flows]\nsource = {{ kind = \"greedy\" }}\ntransport = {tcp}"));
    for i in 1..=4 + writer.below(3 * hosts) {
        let to = if writer.draw.chance(0.6) { 0 } else { writer.below(hosts) };
        let from = (to + 1 + writer.below(hosts - 1)) % hosts;
        let start = writer.below(3000);
        writer.line(format_args!(
            "[[flow]]\nname = \"f{i}\"\nfrom = \"host{}\"\nto = \"host{}\"\nstart = \"{start} us\"",
            from + 1,
            to + 1
        ));
        if writer.draw.chance(0.5) {
            writer.traffic(&tcp);
        }
    }
    writer.text
}

/// A random list of transfers, some of which may wait for others, over a random network.
pub(crate) fn lists(seed: u64) -> String {
    let mut draw = Stream::new(seed, "lists");
    let cells = draw.chance(0.3);
    let mut writer = Writer::new(draw, cells);
    writer.head(seed);
    let hosts = if writer.draw.chance(0.5) {
        let hosts = if writer.draw.chance(0.7) { writer.leaf_spine() } else { writer.fat_tree() };
        for class in ["host", "fabric"] {
            let (rate, delay) = (writer.pick(&RATES), writer.pick(&DELAYS));
            writer.line(format_args!("{class} = {{ rate = \"{rate}\", delay = \"{delay}\" }}"));
        }
        ["fabric", "\"host.back\""].iter().for_each(|section| writer.port(section));
        hosts
    } else {
        let (switches, hosts) = (1 + writer.below(4), 2 + writer.below(6));
        writer.network(switches, false, hosts);
        writer.ports();
        hosts
    };
    let tcp = writer.tcp();
    writer.line(format_args!("[flows]\ntransport = {tcp}\n[measure]\ntransfers = true"));
    writer.list(hosts);
    writer.text
}

/// A random network of packets whose switches pause each other: a fabric, or a ring in which pauses may form a cycle.
pub(crate) fn pauses(seed: u64) -> String {
    let mut writer = Writer::new(Stream::new(seed, "pauses"), false);
    writer.head(seed);
    let ring = if writer.draw.chance(0.3) { 3 + writer.below(2) } else { 0 };
    let (hosts, classes) = match ring {
        0 => (writer.routed_fabric(), ["host", "fabric"]),
        switches => (writer.ring(switches), ["access", "trunk"]),
    };
    writer.choose_storm(&classes);
    let to_hosts = if ring > 0 { "\"access.back\"" } else { "\"host.back\"" };
    for section in ["default", to_hosts, classes[1]] {
        if section == "default" || writer.draw.chance(0.3) {
            writer.lossless_port(section);
        }
    }
    writer.lossless_memory();
    let tcp = writer.tcp();
    if ring == 0 {
        writer.line(format_args!(
            "[flows]\nsource = {{ kind = \"greedy\" }}\ntransport = {tcp}\nqueue = \"one\""
        ));
    }
    for i in 0..ring + 1 + writer.below(2 * hosts) {
        let from = if i < ring { i } else { writer.below(hosts) };
        let to = if i < ring { (i + 2) % ring } else { (from + 1 + writer.below(hosts - 1)) % hosts };
        let (first, prefix) = if ring > 0 { (0, "h") } else { (1, "host") };
        let (from_name, to_name) = (format!("{prefix}{}", from + first), format!("{prefix}{}", to + first));
        let start = writer.below(3000);
        let queue = if i < ring { "one" } else { writer.pick(&["one", "one", "two", "three"]) };
        writer.line(format_args!("[[flow]]\nname = \"f{i}\"\nfrom = \"{from_name}\"\nto = \"{to_name}\""));
        writer.line(format_args!("start = \"{start} us\"\nqueue = \"{queue}\""));
        if ring > 0 {
            writer.go_round(from, to, ring);
        }
        if writer.draw.chance(0.1) {
            writer.police();
        }
        match i < ring && writer.draw.chance(0.7) {
            true => {
                let rate = writer.pick(&RATES);
                let source = format!("kind = \"cbr\", rate = \"{rate}\", size = \"700 bytes\"");
                writer.line(format_args!("source = {{ {source} }}\ntransport = {{ kind = \"udp\" }}"));
            }
            false => writer.traffic(&tcp),
        }
    }
    writer.losses(&classes);
    if let Some(port) = writer.stormed {
        let (from, to) = (writer.below(2000), 2001 + writer.below(3000));
        writer.line(format_args!(
            "[[storm]]\nport = \"{port}\"\nqueue = \"one\"\nfrom = \"{from} us\"\nto = \"{to} us\""
        ));
    }
    writer.text
}

/// A random network with credits on some of its lines; not every text is a scenario.
pub(crate) fn credits(seed: u64) -> String {
    let mut draw = Stream::new(seed, "credits");
    let cells = draw.chance(0.7);
    let mut writer = Writer::new(draw, cells);
    writer.head(seed);
    let switches = 1 + writer.below(4);
    let ring = switches >= 3 && writer.draw.chance(0.2);
    let hosts = 2 + writer.below(6);
    writer.network(switches, ring, hosts);
    writer.governed();
    writer.flows(hosts, switches, ring);
    writer.measure();
    writer.text
}

impl Writer {
    fn new(draw: Stream, cells: bool) -> Writer {
        Writer {
            draw,
            text: String::new(),
            cells,
            limited: Vec::new(),
            switches: Vec::new(),
            shared: false,
            uses_memory: false,
            pushes_packets: false,
            marks_unscheduled: false,
            has_tcp: false,
            stormed: None,
        }
    }

    /// Write a fabric with its routing and the rates and delays of its lines; returns the number of its hosts.
    fn routed_fabric(&mut self) -> u64 {
        let routing = self.pick(&["first", "ecmp", "ecmp", "ecmp-packet"]);
        self.line(format_args!("routing = \"{routing}\""));
        let hosts = if self.draw.chance(0.8) { self.leaf_spine() } else { self.fat_tree() };
        let same = self.pick(&RATES);
        for (class, delays) in [("host", &HOST_DELAYS), ("fabric", &DELAYS)] {
            let rate = if self.draw.chance(0.6) { same } else { self.pick(&RATES) };
            let delay = self.pick(delays);
            self.line(format_args!("{class} = {{ rate = \"{rate}\", delay = \"{delay}\" }}"));
        }
        hosts
    }

    /// A small leaf-spine without its links; answers its number of hosts.
    fn leaf_spine(&mut self) -> u64 {
        let (leaves, spines) = (2 + self.below(2), 1 + self.below(3));
        let (hosts, links) = (1 + self.below(3), 1 + self.below(2));
        self.line(format_args!(
            "[topology]\ntemplate = \"leaf-spine\"\nleaves = {leaves}\nspines = {spines}"
        ));
        self.line(format_args!("hosts = {hosts}\nlinks = {links}"));
        leaves * hosts
    }

    /// A small fat-tree without its links; answers its number of hosts.
    fn fat_tree(&mut self) -> u64 {
        let radix = self.pick(&["2", "4"]);
        self.line(format_args!("[topology]\ntemplate = \"fat-tree\"\nradix = {radix}"));
        if radix == "2" { 2 } else { 16 }
    }

    /// Ports of a network with credits: on all lines, on those that leave hosts, on those between switches, or on those
    /// that lead to hosts. Behind a governed line nothing may be lost, so only other ports have a policy.
    fn governed(&mut self) {
        let (governed, lossy): (&[&str], &[&'static str]) = match self.below(5) {
            0 => (&["default"], &[]),
            1 => (&["default", "access", "trunk.back"], &["access"]),
            2 => (&["access", "trunk"], &["access"]),
            3 => (&["trunk", "trunk.back"], &["access"]),
            _ => (&["access.back"], &["access", "trunk", "access.back"]),
        };
        for section in ["default", "access", "access.back", "trunk", "trunk.back"] {
            if section != "default" && !governed.contains(&section) && !lossy.contains(&section) {
                continue;
            }
            self.line(format_args!("[port.\"{section}\"]"));
            if lossy.contains(&section) && self.draw.chance(0.7) {
                let buffer = 1 + self.below(60);
                let policy = if self.draw.chance(0.5) { "tail-drop" } else { self.any(admission::CATALOGUE) };
                let unit = if self.cells { "cells" } else { "packets" };
                self.line(format_args!(
                    "buffer = \"{buffer} {unit}\"\nadmission = {{ policy = \"{policy}\" }}"
                ));
                if policy == "tail-drop" && self.draw.chance(0.5) {
                    let pushout = self.any(pushout::CATALOGUE);
                    self.line(format_args!("pushout = {{ policy = \"{pushout}\" }}"));
                }
                self.limited.push(section);
            }
            let scheduler = match self.cells {
                true => self.pick(&[
                    "policy = \"round-robin\"",
                    "policy = \"round-robin\"",
                    "policy = \"wrr-mcr\", period = \"300 us\"",
                    "policy = \"wrr-mcr\", realisation = \"virtual-clock\"",
                    "policy = \"strict-priority\"",
                ]),
                false => self.pick(&[
                    "policy = \"fifo\"",
                    "policy = \"round-robin\"",
                    "policy = \"drr\"",
                    "policy = \"strict-priority\"",
                ]),
            };
            self.line(format_args!("scheduler = {{ {scheduler} }}"));
            if governed.contains(&section) {
                self.credit();
            }
        }
    }

    /// Credits of each circuit behind a line: seldom enough to keep it busy.
    fn credit(&mut self) {
        if !self.cells {
            return self.packet_credit();
        }
        let (n2, charge) = (1 + self.below(3) * self.below(5), self.draw.chance(0.7));
        let room = match self.below(4) {
            0 => String::new(),
            1 => "peak = \"5 Mb/s\", ".to_string(),
            _ => format!("n3 = \"{} cells\", ", self.below(12)),
        };
        self.line(format_args!(
            "credit = {{ policy = \"n23\", n2 = \"{n2} cells\", {room}charge = {charge} }}"
        ));
    }

    /// Credits of all packets behind a line: often those of a few packets only.
    fn packet_credit(&mut self) {
        let (size, update) =
            (self.pick(&["1 bytes", "128 bytes", "254 bytes", "1500 bytes"]), 8 + self.below(4000));
        let room = match self.below(3) {
            0 => String::new(),
            _ => format!("room = \"{} bytes\", ", 3000 + self.below(9000)),
        };
        self.line(format_args!(
            "credit = {{ policy = \"cbfc\", credit_size = \"{size}\", {room}update = \"{update} bytes\" }}"
        ));
    }

    /// Ports at which each circuit has a queue.
    fn queues(&mut self, section: &'static str) {
        let buffer = 40 + self.below(40) * self.below(40);
        let scheduler = self.pick(&[
            "policy = \"round-robin\"",
            "policy = \"wrr-mcr\"",
            "policy = \"wrr-mcr\", carry = \"floor\", period = \"300 us\"",
            "policy = \"wrr-mcr\", realisation = \"virtual-clock\"",
            "policy = \"strict-priority\"",
        ]);
        self.line(format_args!("[port.\"{section}\"]\nbuffer = \"{buffer} cells\""));
        self.limited.push(section);
        self.line(format_args!("scheduler = {{ {scheduler} }}"));
        if self.draw.chance(0.5) {
            let pushout = self.any(pushout::CATALOGUE);
            let others =
                ["dt-epd", "ppd", "fba", "dfba", "wfepd", "selective-drop", "virtual-queueing", "atm-red"];
            let policy = if self.draw.chance(0.5) { "tail-drop" } else { self.pick(&others) };
            return self.line(format_args!(
                "admission = {{ policy = \"{policy}\" }}\npushout = {{ policy = \"{pushout}\" }}"
            ));
        }
        let policies =
            ["dt-epd", "dt-epd", "tail-drop", "ppd", "selective-drop", "fba", "wfepd", "dynamic-threshold"];
        let policy = self.pick(&policies);
        self.line(format_args!("admission = {{ policy = \"{policy}\" }}"));
    }

    fn below(&mut self, count: u64) -> u64 {
        self.draw.up_to(count - 1)
    }

    fn pick<'t>(&mut self, choices: &[&'t str]) -> &'t str {
        choices[self.below(choices.len() as u64) as usize]
    }

    fn line(&mut self, text: std::fmt::Arguments<'_>) {
        self.text.write_fmt(text).expect("a string takes every text");
        self.text.push('\n');
    }

    fn head(&mut self, seed: u64) {
        let duration = 2 + self.below(30);
        self.line(format_args!("name = \"random-{seed}\"\nseed = {seed}\nduration = \"{duration} ms\""));
        if self.draw.chance(0.6) {
            let warmup = self.below(duration * 1000);
            self.line(format_args!("warmup = \"{warmup} us\""));
        }
        let sample = self.pick(&["1 ms", "10 us", "137 us"]);
        let kind = if self.cells { "aal5" } else { "packet" };
        let padding = match self.cells {
            true => "",
            false => self.pick(&[
                "",
                "",
                "",
                ", header = \"38 bytes\", minimum = \"84 bytes\"",
                ", minimum = \"400 bytes\"",
            ]),
        };
        self.line(format_args!("sample = \"{sample}\"\nadaptation = {{ kind = \"{kind}\"{padding} }}"));
    }

    /// Switches in a row or in a ring, and hosts at some of them.
    fn network(&mut self, switches: u64, ring: bool, hosts: u64) {
        let relay = if self.cells { "switch" } else { "router" };
        let same = self.draw.chance(0.4).then(|| (self.pick(&RATES), self.pick(&DELAYS)));
        let latency = self.pick(&["0 s", "0 s", "2 us"]);
        for i in 0..switches {
            let head = format!("name = \"s{i}\"\nkind = \"{relay}\"");
            self.line(format_args!("[[node]]\n{head}\nlatency = \"{latency}\""));
        }
        (0..hosts).for_each(|i| self.line(format_args!("[[node]]\nname = \"h{i}\"\nkind = \"host\"")));
        for i in 0..hosts {
            let switch = self.below(switches);
            self.switches.push(switch);
            self.link("access", &format!("h{i}"), &format!("s{switch}"), same);
        }
        for i in 1..switches + u64::from(ring) {
            self.link("trunk", &format!("s{}", i - 1), &format!("s{}", i % switches), same);
        }
    }

    fn link(&mut self, class: &str, from: &str, to: &str, same: Option<(&str, &str)>) {
        let (rate, delay) = same.unwrap_or_else(|| (self.pick(&RATES), self.pick(&DELAYS)));
        let ends = format!("class = \"{class}\"\nfrom = \"{from}\"\nto = \"{to}\"");
        self.line(format_args!("[[link]]\n{ends}\nrate = \"{rate}\"\ndelay = \"{delay}\""));
        if class == "access" && self.draw.chance(0.2) {
            let pause = self.pick(&["1 ps", "3 us", "150 us"]);
            self.line(format_args!("pause = \"{pause}\""));
        }
        if !self.cells && self.draw.chance(0.15) {
            let minimum = self.pick(&["400 bytes", "1500 bytes"]);
            self.line(format_args!("minimum = \"{minimum}\""));
        }
    }

    fn ports(&mut self) {
        self.shared = self.draw.chance(0.15);
        self.pushes_packets = self.shared && self.cells && self.draw.chance(0.4);
        for (section, chance) in [("default", 0.8), ("trunk", 0.5), ("access", 0.1)] {
            if self.draw.chance(chance) {
                self.port(section);
                self.uses_memory |= self.shared && section != "access";
            }
        }
        if self.uses_memory {
            self.memory();
        }
    }

    /// A memory for the ports of every switch, and classes of traffic in it.
    fn memory(&mut self) {
        let (size, cell) =
            (20 + self.below(200), self.pick(&["53 bytes", "96 bytes", "256 bytes", "1000 bytes"]));
        let (check, partitions) = (self.pick(&["before", "after"]), 1 + self.below(8) / 7);
        let policies = [
            "complete-sharing",
            "static-threshold",
            "dynamic-threshold",
            "harmonic",
            "abm",
            "follow-lqd",
            "occamy",
        ];
        let policy = self.pick(&policies[..if self.cells { 6 } else { 7 }]);
        self.line(format_args!(
            "[memory.chip]\nsize = \"{size} cells\"\ncell = \"{cell}\"\ndt_check = \"{check}\""
        ));
        let tokens = match policy {
            "occamy" => format!(
                ", alpha = 2.0, token_rate = \"{} per ms\", token_depth = \"9 cells\"",
                1 + self.below(99)
            ),
            _ => String::new(),
        };
        self.line(format_args!("partitions = {partitions}\nadmission = {{ policy = \"{policy}\"{tokens} }}"));
        let (share, headroom) = (50 + self.below(51), self.below(5));
        let headroom = if headroom < 4 { format!("headroom = \"{headroom} cells\"") } else { String::new() };
        let pushes_out = self.pushes_packets || !self.cells && self.draw.chance(0.4);
        if pushes_out {
            let keys = self.memory_pushout();
            self.line(format_args!("pushout = {{ {keys} }}"));
        }
        let removes = pushes_out || policy == "occamy";
        let side = if removes { "egress" } else { "ingress" };
        self.line(format_args!("pool.out = {{ size = \"{share} %\" }}"));
        self.line(format_args!("pool.in = {{ side = \"{side}\", {headroom} }}"));
        let alpha = if ["dynamic-threshold", "abm", "occamy"].contains(&policy) { "alpha = 0.5" } else { "" };
        let limit = 1 + self.below(90);
        self.line(format_args!("[queue.one]\nlimit = \"{limit} %\"\nreserved = \"1 cell\"\n{alpha}"));
        if !self.cells && self.draw.chance(0.2) {
            self.line(format_args!("mark = {{ at = \"dequeue\" }}"));
        }
        let response = self.pick(&["", "", ", response = \"30 us\"", ", response = \"700 bytes\""]);
        let xoff =
            if self.draw.chance(0.2) { "auto".to_string() } else { format!("{} cells", 1 + self.below(20)) };
        let xon = if self.draw.chance(0.2) { "auto".to_string() } else { format!("{} cells", self.below(9)) };
        let pauses = format!("pause = {{ xoff = \"{xoff}\", xon = \"{xon}\"{response} }}");
        let kind = self.below(2);
        self.marks_unscheduled = self.draw.chance(0.4);
        let opposite = match kind {
            _ if removes || self.marks_unscheduled => "",
            0 if !self.cells => &pauses,
            _ => "opposite = { pool = \"out\" }",
        };
        let trims = !self.cells && !self.marks_unscheduled && !opposite.starts_with("pause");
        let trim = match trims && self.draw.chance(0.3) {
            true => self.pick(&["trim = { queue = \"one\" }", "trim = { size = \"200 bytes\" }"]),
            false => "",
        };
        self.line(format_args!("[queue.two]\npool = \"in\"\n{opposite}\n{trim}"));
    }

    /// A memory with one pool and no classes.
    fn lean_memory(&mut self) {
        let (octets, cell) = (1500 * (2 + self.below(20)), self.pick(&["1", "53", "256", "1000"]));
        let cells = octets / cell.parse::<u64>().expect("a number");
        let check = self.pick(&["before", "after"]);
        self.line(format_args!(
            "[memory.chip]\nsize = \"{cells} cells\"\ncell = \"{cell} bytes\"\ndt_check = \"{check}\""
        ));
        let alpha = self.pick(&["0.5", "1.0", "8.0"]);
        let (rate, depth) = (1 + self.below(9999), 1 + self.below(octets));
        let policy = match self.below(5) {
            0 => format!("dynamic-threshold\", alpha = {alpha}"),
            2 => "program\", code = ['r0 = draw', 'r1 = 0.1', 'r2 = r0 < r1', 'unless r2 jump 5', 'refuse', 'accept']".to_string(),
            1 => format!(
                "occamy\", alpha = {alpha}, token_rate = \"{rate} per ms\", token_depth = \"{depth} cells\""
            ),
            _ => format!("{}\"", self.pick(&["complete-sharing", "complete-sharing", "abm", "follow-lqd"])),
        };
        self.line(format_args!("admission = {{ policy = \"{policy} }}"));
        if self.draw.chance(0.6) {
            let keys = self.memory_pushout();
            self.line(format_args!("pushout = {{ {keys} }}"));
        }
    }

    /// A push-out policy of a memory: where ports send cells, by frames.
    fn memory_pushout(&mut self) -> String {
        if self.cells || self.draw.chance(0.5) {
            let fallback = self.pick(&["next-queue", "next-queue", "head-fragment", "refuse"]);
            let policy = self.pick(&[
                "\"pushout-1\"",
                "\"pushout-1\", keep_eom = true",
                "\"pushout-2\"",
                "\"pushout-3\"",
                "\"pushout-3\", last_eom = \"goes\"",
                "\"quasi-pushout\"",
            ]);
            return format!("policy = {policy}, fallback = \"{fallback}\"");
        }
        let (end, counts) = (self.pick(&["tail", "head"]), self.draw.chance(0.5));
        if self.draw.chance(0.3) {
            return format!("policy = \"program\", end = \"{end}\"");
        }
        format!("policy = \"longest-queue\", end = \"{end}\", counts_arrival = {counts}")
    }

    /// The policies of a port whose memory pushes out packets of cells.
    fn port_of_packets(&mut self, section: &'static str) {
        let by_frames =
            ["dt-epd", "ppd", "ppd", "epd", "fba", "wfepd", "selective-drop", "virtual-queueing", "atm-red"];
        let admission = self.pick(&by_frames);
        let scheduler = self.pick(&["round-robin", "wrr-mcr", "strict-priority"]);
        self.line(format_args!("[port.{section}]\nmemory = \"chip\""));
        self.line(format_args!("admission = {{ policy = \"{admission}\" }}"));
        self.line(format_args!("scheduler = {{ policy = \"{scheduler}\" }}"));
    }

    fn port(&mut self, section: &'static str) {
        if self.pushes_packets && section != "access" {
            return self.port_of_packets(section);
        }

        let buffer = match (self.cells, self.below(8)) {
            (_, 0) => "unlimited".to_string(),
            (true, 1..5) => format!("{} cells", 1 + self.below(60)),
            (true, _) => format!("{} cells", 1 + self.below(1000)),
            (false, 1..4) => format!("{} packets", 1 + self.below(12)),
            (false, _) => format!("{} bytes", 1600 + self.below(9000)),
        };
        if section != "default" && buffer != "unlimited" {
            self.limited.push(section);
        }
        if !self.cells && self.draw.chance(0.15) {
            let discipline = self.any(discipline::CATALOGUE);
            return self.line(format_args!(
                "[port.{section}]\nbuffer = \"{buffer}\"\ndiscipline = \"{discipline}\""
            ));
        }
        let admission = match self.below(3) {
            0 => self.pick(&["tail-drop", "ppd", "epd", "epd"]),
            _ => self.any(admission::CATALOGUE),
        };
        let threshold = match admission {
            "epd" => format!(", threshold = \"{} %\"", 10 + self.below(91)),
            "codel" => self.delays(),
            "pie" => self.gains(),
            "pi2" => self.coupled(),
            "red" => self.moving(),
            _ => String::new(),
        };
        let scheduler = match self.any(scheduler::CATALOGUE) {
            "dual-queue" if self.cells => "fifo",
            _ if self.draw.chance(0.7) => "fifo",
            "drr" if self.draw.chance(0.5) => "drr\", queues = \"class",
            "strict-priority" if self.draw.chance(0.5) => "strict-priority\", queues = \"class",
            scheduler => scheduler,
        };
        match self.shared && section != "access" {
            true => self.line(format_args!("[port.{section}]\nmemory = \"chip\"")),
            false => self.line(format_args!("[port.{section}]\nbuffer = \"{buffer}\"")),
        }
        let action = self.action(admission);
        self.line(format_args!("admission = {{ policy = \"{admission}\"{threshold}{action} }}"));
        self.line(format_args!("scheduler = {{ policy = \"{scheduler}\" }}"));
        if self.draw.chance(0.15) {
            let rate = self.pick(&["4.24 Mb/s", "17.1072 Mb/s", "100 Mb/s"]);
            let burst = if self.cells { 53 + self.below(500) } else { 10_000 + self.below(5000) };
            self.line(format_args!("shaper = {{ rate = \"{rate}\", burst = \"{burst} bytes\" }}"));
        }
        let covers_storm = section == "default" && self.stormed == Some("access.back");
        if covers_storm || self.stormed.is_some_and(|class| section.trim_matches('"') == class) {
            let (detect, restore) = (1 + self.below(900), 1 + self.below(900));
            let action = self.pick(&["drop", "drop", "forward"]);
            self.line(format_args!(
                "watchdog = {{ detect = \"{detect} us\", restore = \"{restore} us\", action = \"{action}\" }}"
            ));
        }
    }

    /// CoDel with intervals of a few packets.
    fn delays(&mut self) -> String {
        let (target, interval) = (self.below(500), 1 + self.below(3000));
        let (law, full) = (self.pick(&["exact", "linux"]), self.pick(&["arrival", "fattest-queue"]));
        format!(
            ", target = \"{target} us\", interval = \"{interval} us\", law = \"{law}\", full = \"{full}\", batch = 3"
        )
    }

    /// PIE that updates every few packets and soon discards many.
    fn gains(&mut self) -> String {
        let (target, update) = (50 + self.below(500), 100 + self.below(900));
        let law = self.pick(&["rfc", "linux"]);
        format!(
            ", target = \"{target} us\", update = \"{update} us\", burst = \"1 ms\", alpha = 40.0, beta = 400.0, \
             law = \"{law}\""
        )
    }

    /// PI2 that updates every few packets and is soon overloaded.
    fn coupled(&mut self) -> String {
        let (target, update, step) = (50 + self.below(500), 100 + self.below(900), self.below(400));
        let (law, overload) = (self.pick(&["exact", "linux"]), self.pick(&["drop", "overflow"]));
        format!(
            ", target = \"{target} us\", update = \"{update} us\", alpha = 40.0, beta = 400.0, step = \"{step} us\", \
             law = \"{law}\", overload = \"{overload}\""
        )
    }

    /// RED that moves its probability every few packets, or looks at the lengths of packets.
    fn moving(&mut self) -> String {
        let (adaptive, interval) = (self.draw.chance(0.5), 100 + self.below(900));
        let byte_mode = !self.cells && self.draw.chance(0.5);
        format!(
            ", weight = 0.2, max_p = 0.2, min_threshold = \"10 %\", adaptive = {adaptive}, interval = \"{interval} us\", \
             byte_mode = {byte_mode}"
        )
    }

    /// Perhaps an early policy marks.
    fn action(&mut self, policy: &str) -> &'static str {
        let entry = admission::CATALOGUE.iter().find(|entry| entry.name == policy);
        let is_early = entry.is_some_and(|entry| (entry.params)().iter().any(|param| param.name == "action"));
        let actions = [", action = \"mark\"", ", action = \"drop\"", ", action = \"trim\""];
        let trims = !self.cells && !["codel", "pi2"].contains(&policy);
        if is_early { self.pick(&actions[..if trims { 3 } else { 2 }]) } else { "" }
    }

    fn any(&mut self, catalogue: &[pushout_core::language::registry::Entry]) -> &'static str {
        catalogue[self.below(catalogue.len() as u64) as usize].name
    }

    /// A ring of switches with lines of one kind, and at least one host at each; answers its number of hosts.
    fn ring(&mut self, switches: u64) -> u64 {
        let (hosts, same) = (switches + self.below(3), Some((self.pick(&RATES), self.pick(&DELAYS))));
        (0..switches).for_each(|i| self.line(format_args!("[[node]]\nname = \"s{i}\"\nkind = \"router\"")));
        for i in 0..hosts {
            self.line(format_args!("[[node]]\nname = \"h{i}\"\nkind = \"host\""));
            self.switches.push(i % switches);
            self.link("access", &format!("h{i}"), &format!("s{}", i % switches), same);
        }
        for i in 0..switches {
            self.link("trunk", &format!("s{i}"), &format!("s{}", (i + 1) % switches), same);
        }
        hosts
    }

    /// Lead a flow through a ring in one direction.
    fn go_round(&mut self, from: u64, to: u64, switches: u64) {
        let (mut at, last) = (self.switches[from as usize], self.switches[to as usize]);
        let mut via = vec![format!("s{at}")];
        while at != last {
            at = (at + 1) % switches;
            via.push(format!("s{at}"));
        }
        self.line(format_args!("via = {via:?}"));
    }

    /// A port that shares a memory with classes that pause; seldom one with a buffer of its own.
    fn lossless_port(&mut self, section: &'static str) {
        self.line(format_args!("[port.{section}]"));
        match section == "default" || self.draw.chance(0.8) {
            true => self.line(format_args!("memory = \"chip\"")),
            false => self.line(format_args!("buffer = \"20 packets\"")),
        }
        let admission = self.pick(&["tail-drop", "tail-drop", "tail-drop", "red", "codel", "pie"]);
        let scheduler = self.pick(&[
            "fifo",
            "round-robin",
            "drr\", queues = \"class",
            "strict-priority\", queues = \"class",
        ]);
        self.line(format_args!(
            "admission = {{ policy = \"{admission}\" }}\nscheduler = {{ policy = \"{scheduler}\" }}"
        ));
        if self.draw.chance(0.3) {
            let (detect, restore) = (100 + self.below(2000), 1 + self.below(900));
            let action = self.pick(&["drop", "drop", "forward"]);
            self.line(format_args!(
                "watchdog = {{ detect = \"{detect} us\", restore = \"{restore} us\", action = \"{action}\" }}"
            ));
        }
    }

    /// A memory with two classes that pause and one that does not.
    fn lossless_memory(&mut self) {
        let (size, cell) = (100 + self.below(300), self.pick(&["256 bytes", "1000 bytes", "1500 bytes"]));
        let policies =
            ["\"complete-sharing\"", "\"dynamic-threshold\", alpha = 0.5", "\"harmonic\"", "\"abm\""];
        let (check, policy) = (self.pick(&["before", "after"]), self.pick(&policies));
        self.line(format_args!(
            "[memory.chip]\nsize = \"{size} cells\"\ncell = \"{cell}\"\ndt_check = \"{check}\""
        ));
        self.line(format_args!("admission = {{ policy = {policy} }}"));
        let headroom = 1 + self.below(60);
        let headroom =
            if self.draw.chance(0.6) { format!(", headroom = \"{headroom} cells\"") } else { String::new() };
        self.line(format_args!(
            "pool.lossless = {{ side = \"ingress\"{headroom} }}\npool.lossy = {{ size = \"50 %\" }}"
        ));
        for class in ["one", "two"] {
            let (limit, xoff, xon) = (1 + self.below(12), 1 + self.below(9), self.below(6));
            let response = self.pick(&["", "", ", response = \"30 us\"", ", response = \"700 bytes\""]);
            let offset = self.pick(&["", ", xon_offset = \"2 cells\""]);
            self.line(format_args!("[queue.{class}]\npool = \"lossless\"\nlimit = \"{limit} cells\""));
            self.line(format_args!(
                "pause = {{ xoff = \"{xoff} cells\", xon = \"{xon} cells\"{offset}{response} }}"
            ));
        }
        self.line(format_args!("[queue.three]\npool = \"lossy\""));
    }

    fn flows(&mut self, hosts: u64, switches: u64, ring: bool) {
        let tcp = self.tcp();
        let together = self.draw.chance(0.5);
        for i in 0..1 + self.below(6) {
            let from = self.below(hosts);
            let to = (from + 1 + self.below(hosts - 1)) % hosts;
            self.line(format_args!("[[flow]]\nname = \"f{i}\"\nfrom = \"h{from}\"\nto = \"h{to}\""));
            if ring && self.draw.chance(0.5) {
                self.go_round(from, to, switches);
            }
            if !together {
                let (start, spread) = (self.below(2000), self.below(300));
                self.line(format_args!("start = \"{start} us\"\nstart_spread = \"{spread} us\""));
            }
            if self.draw.chance(0.15) {
                let stop = 2001 + self.below(4000);
                self.line(format_args!("stop = \"{stop} us\""));
            }
            if self.uses_memory && self.draw.chance(0.5) && !self.marks_unscheduled {
                self.line(format_args!("queue = \"two\""));
            }
            if self.draw.chance(0.3) {
                self.line(format_args!("mcr = \"1 Mb/s\"\nweight = 2.0"));
            }
            if self.draw.chance(0.2) {
                self.line(format_args!("pvc = \"h{from} to h{to}\""));
                self.traffic(&tcp);
                continue;
            }
            if self.draw.chance(0.2) {
                self.police();
            }
            if self.draw.chance(0.15) { self.blocks() } else { self.traffic(&tcp) }
        }
    }

    /// Write the traffic of a flow.
    fn traffic(&mut self, tcp: &str) {
        if self.draw.chance(0.6) {
            let size = 1 + self.below(200_000);
            let pause = self.pick(&["off = \"1 ms\"", "every = \"3 ms\""]);
            let file = format!("{{ kind = \"file\", size = \"{size} bytes\", {pause} }}");
            let source = if self.draw.chance(0.5) { "{ kind = \"greedy\" }".to_string() } else { file };
            if self.draw.chance(0.2) && !tcp.contains("pacing") {
                let processing = self.pick(&["1 us", "10 us", "100 us"]);
                self.line(format_args!("processing = \"{processing}\"\nprocessing_variation = \"1 us\""));
            }
            if self.draw.chance(0.1) {
                let connections = 1 + self.below(4);
                self.line(format_args!("connections = {connections}"));
            }
            self.has_tcp = true;
            return self.line(format_args!("source = {source}\ntransport = {tcp}\nclass = \"tcp\""));
        }
        self.pieces();
        if self.draw.chance(0.2) {
            self.has_tcp = true;
            return self.line(format_args!("transport = {tcp}\nclass = \"tcp\""));
        }
        let transport = if self.cells && self.draw.chance(0.5) { "cells" } else { "udp" };
        let ecn = match transport {
            "udp" => self.pick(&["", ", ecn = true", ", ecn = true, l4s = true"]),
            _ => "",
        };
        self.line(format_args!("transport = {{ kind = \"{transport}\"{ecn} }}"));
    }

    /// Transfers or queries that arrive by themselves, each on a connection of its own.
    fn transfers(&mut self, tcp: &str, hosts: u64) {
        let gaps = self.pick(&["poisson", "fixed"]);
        let sizes = self.pick(&["\"hadoop\"", "\"3 kB\"", "{ pareto = { mean = \"9 kB\", shape = 1.5 } }"]);
        let source = match self.draw.chance(0.3) {
            true => format!("kind = \"query\", fan_in = {}, size = \"20 kB\"", 1 + self.below(hosts - 1)),
            false => format!("kind = \"arrivals\", sizes = {sizes}, to = \"any\""),
        };
        let rate = self.pick(&["200 per s", "2 per ms"]);
        self.line(format_args!("source = {{ {source}, rate = \"{rate}\", gaps = \"{gaps}\" }}"));
        self.line(format_args!("transport = {tcp}"));
    }

    /// A workload of up to 40 transfers among the hosts.
    fn list(&mut self, hosts: u64) {
        let (waits, transfers) = (self.draw.chance(0.6), 1 + self.below(40));
        let is_local = waits && self.draw.chance(0.6); // each waits for transfers of its own host
        let mut senders = Vec::new();
        self.line(format_args!("[workload]\nkind = \"list\""));
        if waits && transfers > 9 && self.draw.chance(0.5) {
            let delay = self.pick(&["0.000001 us", "1 us", "200 us"]); // in the unit of the rows
            self.line(format_args!("after_delay = \"{delay}\""));
        }
        self.line(format_args!("data = \"\"\"\nfrom,to,bytes,start,name,after"));
        for number in 0..transfers {
            let from = self.below(if is_local { hosts.min(3) } else { hosts });
            let to = (from + 1 + self.below(hosts - 1)) % hosts;
            senders.push(from);
            let most = [100, 1500, 20_000, 200_000][self.below(4) as usize];
            let bytes = 1 + self.below(most);
            let awaited = if waits && self.draw.chance(0.8) { self.below(number + 1) } else { 0 };
            let start = self.below(2) * self.below(if awaited > 0 { 400 } else { 4000 });
            let first = self.below(number + 1 - awaited);
            let awaited =
                (first..first + awaited.min(3)).filter(|&other| !is_local || senders[other as usize] == from);
            let after: Vec<String> = awaited.map(|other| format!("t{other}")).collect();
            self.line(format_args!("{from},{to},{bytes},{start} us,t{number},{}", after.join(";")));
        }
        self.line(format_args!("\"\"\""));
    }

    /// A source that acts by time, with packets of one length or of several.
    fn pieces(&mut self) {
        let kind = self.pick(&["cbr", "poisson"]);
        let rate = self.pick(&["42.4 Mb/s", "4.24 Mb/s", "21.2 Mb/s", "60 Mb/s"]);
        let (one, other) = (1 + self.below(3000), 1 + self.below(200));
        let size = match self.below(5) {
            0 => format!("{{ exponential = {{ mean = \"{one} bytes\", max = \"9000 bytes\" }} }}"),
            1 => format!("{{ mix = [[\"{one} bytes\", 1], [\"{other} bytes\", 2]] }}"),
            _ => format!("\"{one} bytes\""),
        };
        self.line(format_args!("source = {{ kind = \"{kind}\", rate = \"{rate}\", size = {size} }}"));
    }

    /// A port with a policy that may look at tags or not.
    fn tags_at(&mut self, section: &str) {
        let (buffer, low) = (20 + self.below(400), 1 + self.below(90));
        let policy = match self.below(6) {
            0 => format!("\"tail-drop\", clp_threshold = \"{low} %\""),
            1 => format!("\"dfba\", low = \"{low} %\", high = \"100 %\""),
            2 => "\"gatekeeper-janitor\"".to_string(),
            3 => format!("\"epd\", threshold = \"{low} %\""),
            4 => "\"ppd\"".to_string(),
            _ => "\"tail-drop\"".to_string(),
        };
        self.line(format_args!("[port.{section}]\nbuffer = \"{buffer} cells\""));
        self.line(format_args!("admission = {{ policy = {policy} }}"));
        if self.draw.chance(0.2) && !policy.contains("gatekeeper") {
            self.line(format_args!("scheduler = {{ policy = \"round-robin\" }}"));
        }
    }

    /// Some units are marked at the first switch, or lost there.
    fn police(&mut self) {
        let action = self.pick(&["tag", "tag", "drop"]);
        let kind = match self.draw.chance(0.5) {
            true => format!("kind = \"gcra\", rate = \"{}\", tolerance = \"20 us\"", self.pick(&RATES)),
            false => format!("kind = \"random\", probability = 0.{}", self.below(4)),
        };
        self.line(format_args!("police = {{ {kind}, action = \"{action}\" }}"));
    }

    /// A policer that acts on few units or on many, or never.
    fn police_more_or_less(&mut self) {
        let action = self.pick(&["tag", "tag", "drop"]);
        let kind = match self.draw.chance(0.5) {
            true => {
                let (rate, tolerance) = (self.pick(&RATES), self.pick(&["0 us", "20 us", "500 us", "20 ms"]));
                format!("kind = \"gcra\", rate = \"{rate}\", tolerance = \"{tolerance}\"")
            }
            false => format!("kind = \"random\", probability = {}", self.pick(&["0", "0.01", "0.1", "0.3"])),
        };
        self.line(format_args!("police = {{ {kind}, action = \"{action}\" }}"));
    }

    /// Packets and frames that repair themselves.
    fn blocks(&mut self) {
        let (peak, block, mtu) = (self.pick(&RATES), 1 + self.below(6), 576 + self.below(1000));
        let (packets, cells) = (self.below(3), if self.cells { self.below(3) } else { 0 });
        let phase = self.pick(&["random", "aligned"]);
        let source = format!(
            "kind = \"fec-block\", peak = \"{peak}\", activity = 0.5, burst = 53, phase = \"{phase}\""
        );
        let block = format!("block = {block}, parity = {packets}, mtu = \"{mtu} bytes\"");
        self.line(format_args!("source = {{ {source}, {block} }}"));
        self.line(format_args!("transport = {{ kind = \"fec\", parity_cells = {cells} }}"));
    }

    /// Curves over time.
    fn measure(&mut self) {
        if self.draw.chance(0.3) {
            let limited = format!("{:?}", self.limited);
            self.line(format_args!(
                "[measure]\nwindow = \"100 us\"\nstep = \"20 us\"\ndelivery = true\noccupancy = {limited}"
            ));
            let cwnd = if self.has_tcp { "[\"tcp\"]" } else { "[]" };
            self.line(format_args!("losses = {limited}\ncwnd = {cwnd}\ntransfers = true"));
            let waits = if self.cells { "[]" } else { &limited };
            self.line(format_args!("marks = {limited}\nsojourn = {waits}"));
        }
    }

    /// Choose a class of ports that outside will pause, in one network of packets of four.
    fn choose_storm(&mut self, classes: &[&'static str]) {
        if !self.cells && self.draw.chance(0.25) {
            self.stormed = Some(classes[self.below(classes.len() as u64) as usize]);
        }
    }

    /// Pauses from outside that overlap, follow each other, or are apart.
    fn storms(&mut self) {
        let Some(port) = self.stormed else { return };
        for _ in 0..=self.below(3) {
            let (begin, length) = (self.below(2000), 1 + self.below(3000));
            let queue = if self.uses_memory { self.pick(&["", "queue = \"one\"\n"]) } else { "" };
            self.line(format_args!(
                "[[storm]]\nport = \"{port}\"\n{queue}from = \"{begin} us\"\nto = \"{} us\"",
                begin + length
            ));
        }
    }

    /// Losses by intent on the links of a class, in one network of six.
    fn losses(&mut self, classes: &[&str]) {
        if !self.draw.chance(0.17) {
            return;
        }
        for _ in 0..=self.below(2) {
            let link = self.pick(classes);
            let (begin, length) = (self.below(9000), 1 + self.below(4000));
            let unit = if self.cells { "cells" } else { "packets" };
            let pattern = match self.below(3) {
                0 => format!("{unit} = [1, 3, {}]", 4 + self.below(60)),
                1 => {
                    let reroute =
                        if self.cells { "" } else { self.pick(&["", "\nreroute_after = \"200 us\""]) };
                    format!("down = [[\"{begin} us\", \"{} us\"]]{reroute}", begin + length)
                }
                _ => "gilbert = { to_bad = 0.05, to_good = 0.4, good = 0.01 }".to_string(),
            };
            self.line(format_args!("[[loss]]\nlink = \"{link}\"\n{pattern}"));
        }
    }

    /// One kind of TCP for all flows that use it.
    fn tcp(&mut self) -> String {
        let mss = [100, 512, 536, 1460, 2048, 9140][self.below(6) as usize];
        let window = mss * (2 + self.below(24));
        let phase = self.pick(&["random", "aligned"]);
        let congestion = match self.cells {
            true => self.pick(&["reno", "new-reno", "reno", "new-reno", "tahoe", "cubic", "dctcp"]),
            false => self.pick(&["reno", "new-reno", "reno", "tahoe", "cubic", "dctcp", "bbr", "prague"]),
        };
        let measures = ["bbr", "prague"].contains(&congestion);
        let counts = congestion == "prague";
        let feedback = if counts { self.pick(&["accecn", "counters"]) } else { "rfc3168" };
        let (ack, bytes) = (self.draw.chance(0.6), self.draw.chance(0.3));
        let ecn = congestion == "dctcp" || counts || (self.draw.chance(0.4) && !measures);
        let ect = self.pick(&["data", "all"]);
        let l4s = counts || (congestion == "dctcp" && self.draw.chance(0.6));
        let (sack, stamps, limited) = (self.draw.chance(0.5), self.draw.chance(0.3), self.draw.chance(0.7));
        let sack = sack || measures;
        let recovery = self.pick(&["rfc6675", "prr", "rack"]);
        let mss = if stamps { mss.max(100) } else { mss };
        let pacing = match self.cells {
            true => "",
            false if measures => self.pick(&["pacing = \"auto\", ", "pacing.burst = \"3 packets\", "]),
            false => self.pick(&["", "", "pacing = true, ", "pacing.burst = \"3 packets\", "]),
        };
        let unscheduled = match self.marks_unscheduled {
            true => format!("initial_window = {}, unscheduled = \"two\", ", 1 + self.below(12)),
            false => String::new(),
        };
        format!(
            "{{ kind = \"tcp\", {unscheduled}{pacing}congestion = \"{congestion}\", mss = {mss}, window = \"{window} bytes\", \
             ecn = {ecn}, ect = \"{ect}\", l4s = {l4s}, feedback = \"{feedback}\", byte_counting = {bytes}, sack = {sack}, \
             recovery = \"{recovery}\", limited_transmit = {limited}, timestamps = {stamps}, delayed_ack = {ack}, slow_timer = \"1 ms\", fast_timer = \"500 us\", min_rto = \"2 ms\", \
             initial_rto = \"4 ms\", timer_phase = \"{phase}\" }}"
        )
    }
}
