//! Switches with classes: strict priority above a group, rates of classes, gates by calendar and policers.

use pushout_core::rng::Stream;

use super::{DELAYS, HOST_DELAYS, RATES, Writer};

/// The classes; packets of each have one length at most.
const CLASSES: [&str; 3] = ["one", "two", "three"];

/// A random fabric of packets, or a row of switches of cells, whose ports have queues for classes.
pub(crate) fn switches(seed: u64) -> String {
    let mut draw = Stream::new(seed, "switches");
    let cells = draw.chance(0.15);
    let mut writer = Writer::new(draw, cells);
    writer.head(seed);
    let mut hashes = false;
    let (hosts, sections): (u64, [&'static str; 3]) = if cells {
        let (switches, hosts) = (1 + writer.below(3), 2 + writer.below(4));
        writer.network(switches, false, hosts);
        (hosts, ["default", "trunk", "\"access.back\""])
    } else {
        let ways = ["first\"", "ecmp\"", "ecmp-packet\""];
        let routing = writer.pick(&ways);
        writer.line(format_args!("routing = \"{routing}"));
        hashes = routing == "ecmp\"" && writer.draw.chance(0.6);
        let hosts = writer.leaf_spine();
        for (class, delays) in [("host", &HOST_DELAYS), ("fabric", &DELAYS)] {
            let (rate, delay) = (writer.pick(&RATES), writer.pick(delays));
            writer.line(format_args!("{class} = {{ rate = \"{rate}\", delay = \"{delay}\" }}"));
        }
        writer.choose_storm(&["fabric", "host.back"]);
        (hosts, ["default", "fabric", "\"host.back\""])
    };
    writer.shared = !cells && writer.draw.chance(0.4);
    for section in sections {
        if writer.draw.chance(0.8) {
            writer.port_of_classes(section);
        }
    }
    if !cells && writer.draw.chance(0.1) {
        writer.line(format_args!("[port.host]"));
        writer.class_gates();
    }
    writer.classes();
    if hashes {
        writer.hashes();
    }
    let tcp = writer.tcp();
    writer.line(format_args!("[flows]\nsource = {{ kind = \"greedy\" }}\ntransport = {tcp}"));
    for i in 1..=2 + writer.below(6) {
        let from = writer.below(hosts);
        let to = (from + 1 + writer.below(hosts - 1)) % hosts;
        let (from, to) = match cells {
            true => (format!("h{from}"), format!("h{to}")),
            false => (format!("host{}", from + 1), format!("host{}", to + 1)),
        };
        let (start, queue) = (writer.below(2000), writer.pick(&CLASSES));
        writer.line(format_args!(
            "[[flow]]\nname = \"f{i}\"\nfrom = \"{from}\"\nto = \"{to}\"\nqueue = \"{queue}\""
        ));
        writer.line(format_args!("start = \"{start} us\""));
        if writer.draw.chance(0.2) {
            writer.police();
        }
        writer.traffic(&tcp);
    }
    writer.storms();
    writer.text
}

impl Writer {
    /// Hashes of some nodes of a leaf-spine fabric, perhaps with one seed at both tiers.
    fn hashes(&mut self) {
        let functions = ["", ", function = \"crc32\""];
        let fields =
            ["", ", fields = [\"port\"]", ", fields = [\"from\", \"to\"]", ", fields = [\"to\", \"port\"]"];
        for node in ["leaf1", "leaf2", "spine1"] {
            if self.draw.chance(0.7) {
                let (seed, function, fields) = (self.below(3), self.pick(&functions), self.pick(&fields));
                self.line(format_args!(
                    "[[node]]\nname = \"{node}\"\nhash = {{ seed = {seed}{function}{fields} }}"
                ));
            }
        }
    }

    /// A port with a scheduler of classes, and perhaps gates by class.
    fn port_of_classes(&mut self, section: &'static str) {
        let unit = if self.cells { "cells" } else { "packets" };
        let buffer = 1 + self.below(40);
        match self.shared {
            true => self.line(format_args!("[port.{section}]\nmemory = \"chip\"")),
            false => self.line(format_args!("[port.{section}]\nbuffer = \"{buffer} {unit}\"")),
        }
        self.uses_memory |= self.shared;
        let admission = self.pick(&[
            "\"tail-drop\"",
            "\"tail-drop\"",
            "\"codel\"",
            "\"step\"",
            "\"ppd\"",
            "\"red\"",
            "\"red\", weight = 0.2, yellow = { min_threshold = \"1 %\", max_p = 0.5 }, red = { max_threshold = \"25 %\" }",
        ]);
        self.line(format_args!("admission = {{ policy = {admission} }}"));
        let group = self.pick(&[
            "",
            ", group = { queues = [\"one\", \"two\"] }",
            ", group = { queues = [\"two\", \"three\"], quantum = \"300 bytes\" }",
            ", group = { policy = \"wrr\", queues = [\"two\", \"three\"] }",
            ", group = { policy = \"wrr\", queues = [\"three\", \"one\", \"two\"] }",
        ]);
        let kind = self.below(7);
        let scheduler = match kind {
            0 => "policy = \"wrr\", queues = \"class\"".to_string(),
            1 => "policy = \"drr\", queues = \"class\"".to_string(),
            2 => "policy = \"fifo\"".to_string(),
            3 => format!(
                "policy = \"program\", queues = \"class\", code = [\"r0 = {}\", \"choose r0\"]",
                self.pick(&["longest", "next_backlogged -1"])
            ),
            _ => format!("policy = \"strict-priority\", queues = \"class\"{group}"),
        };
        self.line(format_args!("scheduler = {{ {scheduler} }}"));
        if self.draw.chance(0.4) {
            self.class_gates();
        }
        if self.draw.chance(0.3) {
            self.meter(!self.cells && !self.shared && kind != 2);
        }
    }

    /// A calendar with windows for all classes, long enough for the packets of each.
    fn class_gates(&mut self) {
        let (first, second) = (9000 + self.below(9000), 9000 + self.below(9000));
        let (gap, rest, offset) = (self.below(500), self.below(3000), self.below(40_000));
        let period = first + gap + second + rest;
        let lists = self.pick(&[
            "[\"one\"]], [\"two\", \"three\"]",
            "[\"one\", \"two\"]], [\"two\", \"three\"]",
            "[\"three\", \"two\", \"one\"]], [\"two\"]",
        ]);
        let (one, other) = lists.split_once("], ").expect("two lists");
        let guard = self.draw.chance(0.7);
        self.line(format_args!(
            "gates = {{ period = \"{period} us\", offset = \"{offset} us\", guard = {guard}, windows = [[\"0 us\", \"{first} us\", {one}], \
             [\"{} us\", \"{} us\", {other}]] }}",
            first + gap,
            first + gap + second
        ));
    }

    /// A policer of the port, which may put packets into a class where it `lowers` them.
    fn meter(&mut self, lowers: bool) {
        let (cir, pir) = (self.pick(&["4.24 Mb/s", "10 Mb/s"]), self.pick(&["10 Mb/s", "42.4 Mb/s"]));
        let (cbs, other) = (10_000 + self.below(20_000), 10_000 + self.below(20_000));
        let kind = match self.below(4) {
            0 => "kind = \"gcra\"".to_string(),
            1 => format!("kind = \"srtcm\", ebs = \"{other} bytes\""),
            2 => format!("kind = \"trtcm\", pir = \"{pir}\", pbs = \"{other} bytes\""),
            _ => format!("kind = \"trtcm-4115\", pir = \"{pir}\", ebs = \"{other} bytes\""),
        };
        let (by, colour) = (self.pick(&["port", "class", "circuit"]), self.pick(&["blind", "aware"]));
        let (yellow, red) = match lowers && self.draw.chance(0.6) {
            true => (
                self.pick(&["\"pass\"", "\"mark\"", "{ class = \"three\" }"]),
                self.pick(&["\"drop\"", "{ class = \"three\" }", "{ class = \"three\" }"]),
            ),
            false => (
                self.pick(&["\"pass\"", "\"mark\"", "\"drop\""]),
                self.pick(&["\"mark\"", "\"drop\"", "\"drop\""]),
            ),
        };
        self.line(format_args!(
            "police = {{ {kind}, cir = \"{cir}\", cbs = \"{cbs} bytes\", by = \"{by}\", colour = \"{colour}\", yellow = {yellow}, \
             red = {red} }}"
        ));
    }

    /// The sections of the classes, and of the memory.
    fn classes(&mut self) {
        if self.uses_memory {
            let size = 20 + self.below(200);
            let scheme = self.pick(&["complete-sharing", "dynamic-threshold"]);
            self.line(format_args!("[memory.chip]\nsize = \"{size} cells\"\ncell = \"256 bytes\"\nadmission = {{ policy = \"{scheme}\" }}"));
        }
        for class in CLASSES {
            let (priority, weight, burst) = (self.below(3), 1 + self.below(4), self.below(4000));
            self.line(format_args!(
                "[queue.{class}]\npriority = {priority}\nweight = {weight}\nburst = \"{burst} bytes\""
            ));
            if self.draw.chance(0.3) {
                let rate = self.pick(&["1 Mb/s", "2.5 Mb/s"]);
                self.line(format_args!("minimum = \"{rate}\""));
            }
            if self.draw.chance(0.4) {
                let rate = self.pick(&["4.24 Mb/s", "17.1072 Mb/s", "42.4 Mb/s"]);
                self.line(format_args!("maximum = \"{rate}\""));
            }
            if self.draw.chance(0.3) {
                let slope = self.pick(&["1 Mb/s", "4.24 Mb/s", "8 Mb/s"]);
                let bounds = self.pick(&["", ", hi_credit = \"900 bytes\"", ", lo_credit = \"200 bytes\""]);
                self.line(format_args!("cbs = {{ idle_slope = \"{slope}\"{bounds} }}"));
            }
        }
    }
}
