//! Policers of a port: meters with two buckets give packets colours, and what happens depends on the colour.
//!
//! *Source*: J. Heinanen, R. Guerin, "A single rate three color marker", RFC 2697; the same, "A two rate three color marker", RFC 2698;
//! O. Aboul-Magd, S. Rabie, "A differentiated service two-rate, three-color marker with efficient handling of in-profile traffic",
//! RFC 4115; for `gcra`, with one bucket and without yellow, ITU-T I.371: a bucket of `cbs` is a tolerance of cbs less one packet.
//!
//! Buckets are full at the start. `cir` fills the bucket of `cbs`; with `srtcm` what does not fit fills that of `ebs`, with `trtcm`
//! `pir` fills that of `pbs`, and with `trtcm-4115` `pir` − `cir` (EIR) that of `ebs`. A packet of B octets is
//!
//! > srtcm: green if C ≥ B, else yellow if E ≥ B, else red; the bucket that has paid loses B
//! >
//! > trtcm: red if P < B, else yellow if C < B, else green; P loses B, and C too if the packet is green
//! >
//! > trtcm-4115: green if C ≥ B, else yellow if E ≥ B, else red; the bucket that has paid loses B
//!
//! A packet may also join the queue of another class at the port, which is the local priority of switches: other ports have it in the
//! class of its flow again. With `colour = "aware"` no packet becomes better than an earlier policer has made it. A packet that is lost for its
//! colour has been charged all the same. Tokens are exact: they count in picoseconds times bits per second. The RFCs add whole
//! octets at intervals, which is the same for intervals that are short enough.

use serde_json::{Map, Value as Json, json};

use super::{Build, Gate, Site};
use crate::buffer::size::{BufferSize, PortBuffer};
use crate::choice;
use crate::language::spec::{Field, Nested, Shape};
use crate::language::tree::{Fault, Node, Value};
use crate::refused::{Refused, refuse, refuse_if};
use crate::section;
use crate::unit::{Colour, Unit};
use crate::units::ids::{IdVec, PortVc};
use crate::units::{CELL_BYTES, OCTET, Rate, Time};
use crate::verdict::Reason;
use crate::words::nearest::unknown;

choice! {
    /// The meter of a policer.
    pub enum Kind {
        /// One rate and one bucket: green or red.
        Gcra = "gcra",
        /// One rate and two buckets: RFC 2697.
        Srtcm = "srtcm",
        /// Two rates, of which the peak rate counts everything: RFC 2698.
        Trtcm = "trtcm",
        /// Two rates that count apart: RFC 4115.
        Trtcm4115 = "trtcm-4115",
    }
}

choice! {
    /// What has a meter of its own.
    pub enum Per {
        /// The port.
        Port = "port",
        /// Every class of traffic.
        Class = "class",
        /// Every circuit.
        Circuit = "circuit",
    }
}

choice! {
    /// Whether the colour with which a packet arrives counts.
    pub enum Awareness {
        /// It does not.
        Blind = "blind",
        /// A packet keeps its colour or gets a worse one.
        Aware = "aware",
    }
}

/// What happens to a packet of a colour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// It goes on as it is.
    Pass,
    /// It gets the colour, for policies and policers behind: both colours set its loss priority (CLP).
    Mark,
    /// It is lost.
    Drop,
    /// It joins the queue of this class at the port.
    Class(String),
}

/// The actions that are words.
const WORDS: [(&str, Action); 3] = [("pass", Action::Pass), ("mark", Action::Mark), ("drop", Action::Drop)];

section! {
    /// A class for packets of a colour.
    pub struct Lower {
        /// Its name: that of a section `[queue.NAME]`.
        pub class: String,
    }
}

impl Field for Action {
    fn read(node: &Node, path: &str) -> Result<Self, Fault> {
        if let Value::Table(_) = node.value {
            return Nested::<Lower>::read(node, path).map(|Nested(Lower { class })| Action::Class(class));
        }
        let known = || WORDS.map(|(word, _)| word);
        let message = match node.text() {
            Some(text) => match WORDS.into_iter().find(|(word, _)| *word == text) {
                Some((_, action)) => return Ok(action),
                None => format!("{}, or {{ class = \"NAME\" }}", unknown("value", text, &known())),
            },
            None => format!(
                "must be one of {}, or {{ class = \"NAME\" }}, not {}",
                known().join(", "),
                node.show()
            ),
        };
        Err(node.fault(path, message))
    }

    fn write(&self) -> Json {
        match (self, WORDS.iter().find(|(_, action)| action == self)) {
            (Action::Class(class), _) => Nested(Lower { class: class.clone() }).write(),
            (_, word) => word.map_or(Json::Null, |(word, _)| (*word).into()),
        }
    }

    fn shape() -> Shape {
        let table = Nested::<Lower>::shape().schema;
        Shape {
            unit: "pass, mark, drop or { class }",
            schema: json!({ "anyOf": [{ "enum": WORDS.map(|(word, _)| word) }, table] }),
        }
    }
}

section! {
    /// A policer of what arrives at a port.
    pub struct Params {
        /// The meter.
        pub kind: Kind,
        /// Rate up to which packets are green, every octet on the line counted.
        pub cir: Rate,
        /// The bucket that this rate fills: octets, or a time at this rate.
        pub cbs: PortBuffer,
        /// With `trtcm` and `trtcm-4115`, the rate up to which they are yellow.
        pub pir: Option<Rate> = None,
        /// With `trtcm`, the bucket that this rate fills.
        pub pbs: Option<PortBuffer> = None,
        /// With `srtcm` and `trtcm-4115`, the bucket for yellow packets: octets, or a time at `cir` or at `pir` − `cir`.
        pub ebs: Option<PortBuffer> = None,
        /// What has a meter of its own.
        pub by: Per = Per::Port,
        /// Whether the colours of earlier policers count.
        pub colour: Awareness = Awareness::Blind,
        /// What happens to yellow packets: with "pass" they go on as they are; with "mark" they get the colour, for policies and
        /// policers behind (both colours set the loss priority CLP); with "drop" they are lost; with `{ class = "bulk" }` they join the
        /// queue of that class at this port, whose scheduler has a queue for each class.
        pub yellow: Action = Action::Mark,
        /// What happens to red packets, in the same words.
        pub red: Action = Action::Drop,
    }
}

impl Params {
    /// Return the class that gets packets of a colour, if one does, and the key that names it.
    pub(crate) fn lower(&self) -> Option<(&'static str, &str)> {
        [("yellow.class", &self.yellow), ("red.class", &self.red)].into_iter().find_map(|(key, action)| {
            match action {
                Action::Class(class) => Some((key, class.as_str())),
                _ => None,
            }
        })
    }

    /// Return the rates that fill the two buckets.
    fn rates(&self) -> [u64; 2] {
        let pir = self.pir.unwrap_or(self.cir).0;
        match self.kind {
            Kind::Gcra | Kind::Srtcm => [self.cir.0, self.cir.0],
            Kind::Trtcm => [self.cir.0, pir],
            Kind::Trtcm4115 => [self.cir.0, pir.saturating_sub(self.cir.0)],
        }
    }

    /// Return the sizes of the two buckets, in picoseconds times bits per second.
    fn depths(&self) -> [u128; 2] {
        let [first, second] = self.rates();
        let other = if self.kind == Kind::Trtcm { self.pbs } else { self.ebs };
        [depth(self.cbs, first).unwrap_or(0), other.and_then(|other| depth(other, second)).unwrap_or(0)]
    }

    /// Refuse a meter that lacks a key, has one that it does not use, or lets no packet of `largest` octets pass.
    pub(super) fn check(&self, largest: u64) -> Result<(), Refused> {
        refuse_if(self.cir == Rate(0), "cir", "must be greater than 0")?;
        let uses = match self.kind {
            Kind::Gcra => [false, false, false],
            Kind::Srtcm => [false, false, true],
            Kind::Trtcm => [true, true, false],
            Kind::Trtcm4115 => [true, false, true],
        };
        let given = [self.pir.is_some(), self.pbs.is_some(), self.ebs.is_some()];
        for (key, (uses, given)) in ["pir", "pbs", "ebs"].into_iter().zip(uses.into_iter().zip(given)) {
            let (kind, _) = Kind::WORDS[self.kind as usize];
            refuse_if(uses && !given, key, format!("must be given for the meter {kind}"))?;
            refuse_if(
                given && !uses,
                key,
                format!("must be left out beside the meter {kind}, which has no such key"),
            )?;
        }
        if let Some(pir) = self.pir.filter(|pir| *pir < self.cir) {
            return refuse("cir", format!("must be at most pir, which is {pir}"));
        }
        for (key, size) in [("cbs", Some(self.cbs)), ("pbs", self.pbs), ("ebs", self.ebs)] {
            let wrong = size.is_some_and(|size| depth(size, 1).is_none());
            refuse_if(wrong, key, "must be octets or a time, as in \"64 kB\" or \"5 ms\"")?;
        }
        if let (Action::Class(yellow), Action::Class(red)) = (&self.yellow, &self.red) {
            let why =
                format!("must name the class of yellow packets, {yellow:?}: a port has one lower class");
            refuse_if(yellow != red, "red.class", why)?;
        }
        let (needs, [committed, other]) = (OCTET * u128::from(largest), self.depths());
        let (key, has) = match self.kind {
            Kind::Gcra => ("cbs", committed),
            Kind::Trtcm => ("pbs", other),
            Kind::Srtcm | Kind::Trtcm4115 => ("cbs", committed.max(other)),
        };
        let beside = if key == "cbs" && self.ebs.is_some() { "or ebs " } else { "" };
        let why = format!(
            "{beside}must be at least {largest} bytes, the largest packet on this line, which would always be red"
        );
        refuse_if(has < needs, key, why)
    }
}

/// Return the size of a bucket in picoseconds times bits per second; `None` if it is neither octets nor a time.
fn depth(size: PortBuffer, rate: u64) -> Option<u128> {
    match size {
        PortBuffer::Size(BufferSize::Bytes(octets)) => Some(OCTET * u128::from(octets)),
        PortBuffer::Size(BufferSize::Cells(cells)) => {
            Some(OCTET * u128::from(cells) * u128::from(CELL_BYTES))
        }
        PortBuffer::Time(time) => Some(u128::from(time.0) * u128::from(rate)),
        PortBuffer::Size(_) | PortBuffer::Product(_) => None,
    }
}

/// The two buckets of a meter.
#[derive(Clone, Debug)]
pub struct Meter {
    kind: Kind,
    rates: [u64; 2],
    depths: [u128; 2],
    /// The tokens of both at the instant `since`.
    tokens: [u128; 2],
    since: Time,
}

impl Meter {
    /// Build a meter with full buckets.
    pub fn new(params: &Params) -> Meter {
        let (rates, depths) = (params.rates(), params.depths());
        Meter { kind: params.kind, rates, depths, tokens: depths, since: Time::ZERO }
    }

    /// Fill the buckets up to `now`.
    fn fill(&mut self, now: Time) {
        let time = u128::from(now.since(self.since).0);
        let [mut committed, mut other] = self.tokens;
        committed += time * u128::from(self.rates[0]);
        let rest = committed.saturating_sub(self.depths[0]);
        other += match self.kind {
            Kind::Gcra => 0,
            Kind::Srtcm => rest,
            Kind::Trtcm | Kind::Trtcm4115 => time * u128::from(self.rates[1]),
        };
        self.tokens = [committed - rest, other.min(self.depths[1])];
        self.since = now;
    }

    /// Return the colour of a packet of `octets` octets that arrives at `now` and has the colour `before`.
    pub fn colour(&mut self, now: Time, octets: u64, before: Colour) -> Colour {
        self.fill(now);
        let needs = OCTET * u128::from(octets);
        let [committed, other] = &mut self.tokens;
        let (is_green, is_red) = (before == Colour::Green, before == Colour::Red);
        match self.kind {
            _ if is_red => Colour::Red,
            Kind::Gcra if *committed < needs => Colour::Red,
            Kind::Gcra => {
                *committed -= needs;
                before
            }
            Kind::Trtcm if *other < needs => Colour::Red,
            Kind::Trtcm => {
                *other -= needs;
                let colour = if is_green && *committed >= needs { Colour::Green } else { Colour::Yellow };
                *committed -= if colour == Colour::Green { needs } else { 0 };
                colour
            }
            Kind::Srtcm | Kind::Trtcm4115 if is_green && *committed >= needs => {
                *committed -= needs;
                Colour::Green
            }
            Kind::Srtcm | Kind::Trtcm4115 if *other >= needs => {
                *other -= needs;
                Colour::Yellow
            }
            Kind::Srtcm | Kind::Trtcm4115 => Colour::Red,
        }
    }
}

/// What a running policer does with a packet of a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Pass,
    Mark,
    Lower,
    Drop,
}

impl Fate {
    fn of(action: &Action) -> Fate {
        match action {
            Action::Pass => Fate::Pass,
            Action::Mark => Fate::Mark,
            Action::Drop => Fate::Drop,
            Action::Class(_) => Fate::Lower,
        }
    }
}

/// The policer of a port.
#[derive(Clone, Debug)]
pub struct Policer {
    colour: Awareness,
    /// What happens to packets of each colour.
    fates: [Fate; 3],
    /// For each circuit the number of its meter.
    of: IdVec<PortVc, usize>,
    meters: Vec<Meter>,
    /// Least octets of a unit on the line.
    minimum: u16,
    /// Units of each colour since the last reset.
    counts: [u64; 3],
}

impl Build for Policer {
    fn build(site: &Site<'_>) -> Option<Self> {
        let Nested(params) = site.keys.police.as_ref()?;
        let subjects: IdVec<PortVc, u32> = match params.by {
            Per::Port => IdVec::filled(0, site.classes.len()),
            Per::Class => site.classes.clone(),
            Per::Circuit => (0..site.classes.len() as u32).collect(),
        };
        let mut known: Vec<u32> = subjects.iter().copied().collect();
        known.sort_unstable();
        known.dedup();
        Some(Policer {
            colour: params.colour,
            fates: [Fate::Pass, Fate::of(&params.yellow), Fate::of(&params.red)],
            of: subjects.iter().map(|own| known.partition_point(|other| other < own)).collect(),
            meters: vec![Meter::new(params); known.len()],
            minimum: site.minimum,
            counts: [0; 3],
        })
    }
}

impl Gate for Policer {
    fn enters(&mut self, now: Time, unit: Unit, vc: PortVc) -> Result<Unit, Reason> {
        let before = if self.colour == Awareness::Aware { unit.colour() } else { Colour::Green };
        let octets = unit.bytes.max(self.minimum).into();
        let colour = self.meters[self.of[vc]].colour(now, octets, before);
        self.counts[colour as usize] += 1;
        let fate = self.fates[colour as usize];
        match fate {
            Fate::Pass | Fate::Lower if self.fates.contains(&Fate::Lower) => {
                Ok(unit.lowered(fate == Fate::Lower))
            }
            Fate::Pass | Fate::Lower => Ok(unit),
            Fate::Mark => Ok(unit.coloured(colour).lowered(false)),
            Fate::Drop => Err(Reason::Policed),
        }
    }

    /// Report how many units of each colour have arrived since the last reset.
    fn report(&self, figures: &mut Map<String, Json>) {
        let names = ["policed_green", "policed_yellow", "policed_red"];
        figures
            .extend(names.into_iter().zip(self.counts).map(|(name, count)| (name.to_string(), count.into())));
    }

    fn reset(&mut self, _: Time) {
        self.counts = [0; 3];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

    fn octets(size: u64) -> PortBuffer {
        PortBuffer::Size(BufferSize::Bytes(size))
    }

    /// A meter whose committed rate is an octet each picosecond.
    fn params(kind: Kind, cbs: u64, pir: Option<u64>, other: u64) -> Params {
        let octet = 8_000_000_000_000;
        let (peak, excess) = (kind == Kind::Trtcm, matches!(kind, Kind::Srtcm | Kind::Trtcm4115));
        Params {
            kind,
            cir: Rate(octet),
            cbs: octets(cbs),
            pir: pir.map(|pir| Rate(pir * octet)),
            pbs: peak.then(|| octets(other)),
            ebs: excess.then(|| octets(other)),
            by: Per::Port,
            colour: Awareness::Blind,
            yellow: Action::Mark,
            red: Action::Drop,
        }
    }

    /// Return the colours of packets that arrive at these times with these octets: `g`, `y` or `r`.
    fn colours(params: &Params, packets: &[(u64, u64)], before: Colour) -> String {
        let mut meter = Meter::new(params);
        let mut of =
            |&(time, octets): &(u64, u64)| ['g', 'y', 'r'][meter.colour(Time(time), octets, before) as usize];
        packets.iter().map(&mut of).collect()
    }

    #[test]
    fn buckets_pay_as_their_rfcs_say() {
        let packets = [(0, 10), (0, 10), (0, 10), (5, 10), (10, 10), (30, 10), (30, 10), (30, 10)];
        let cases = [
            (params(Kind::Gcra, 10, None, 0), Colour::Green, "grrrggrr"),
            // from 20 to 30 the full bucket C overflows into E
            (params(Kind::Srtcm, 10, None, 10), Colour::Green, "gyrrggyr"),
            (params(Kind::Srtcm, 10, None, 10), Colour::Yellow, "yrrryyrr"),
            (params(Kind::Trtcm, 10, Some(2), 20), Colour::Green, "gyryggyr"),
            (params(Kind::Trtcm, 10, Some(2), 20), Colour::Yellow, "yyryyyyr"),
            (params(Kind::Trtcm4115, 10, Some(2), 20), Colour::Green, "gyyrggyy"),
            (params(Kind::Trtcm4115, 10, Some(2), 20), Colour::Red, "rrrrrrrr"),
        ];
        for (params, before, expected) in cases {
            assert_eq!(colours(&params, &packets, before), expected, "{:?} {before:?}", params.kind);
        }
    }

    #[test]
    fn a_bucket_of_time_has_what_the_rate_gives_in_it() {
        let time = Params { cbs: PortBuffer::Time(Span(25)), ..params(Kind::Gcra, 0, None, 0) };
        assert_eq!(colours(&time, &[(0, 10), (0, 10), (0, 10), (4, 10), (5, 10)], Colour::Green), "ggrrg");
    }

    #[test]
    fn impossible_meters_are_refused() {
        let why = |params: Params| params.check(1500).unwrap_err().to_string();
        let fits = params(Kind::Trtcm, 1500, Some(2), 1500);
        assert_eq!(fits.check(1500), Ok(()));
        let above = Params { cir: Rate(3_000_000_000_000_000), ..fits.clone() };
        assert!(why(above).starts_with("cir: must be at most pir, which is "));
        assert!(why(Params { pir: None, ..fits.clone() }).contains("pir: must be given for the meter trtcm"));
        assert!(why(Params { ebs: Some(octets(1)), ..fits }).contains("ebs: must be left out"));
        let small = why(params(Kind::Srtcm, 1499, None, 0));
        assert!(small.starts_with("cbs: or ebs must be at least 1500 bytes"), "{small}");
        let packets = PortBuffer::Size(BufferSize::Packets(2));
        assert!(
            why(Params { cbs: packets, ..params(Kind::Gcra, 0, None, 0) })
                .contains("must be octets or a time")
        );
    }
}
