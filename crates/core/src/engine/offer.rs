//! Traffic from outside: packets that the caller offers to a run, at instants that the caller chooses, and what becomes of
//! them.
//!
//! Use it to put recorded or real traffic through a network: the caller offers packets as they come, lets time pass, and
//! takes the [`Fate`] of each from [`Fates`]. Packets travel in both directions, if the scenario has a flow for each.
//! `crates/net` is the interface for tests of transports.
//!
//! The offered packets are beside those of the flow's own source, which the report alone counts as sent. For a flow whose
//! source sends nothing, set `start` beyond `duration`. A flow of TCP has a sender of its own, so packets are offered to
//! flows of datagrams (`udp`).
//!
//! # What it assumes
//! Instants do not go back. A packet that is offered at an instant comes after all else that happens then, and before what is
//! offered later.
//!
//! # Why that is exact
//! The packet enters the first port of its circuit through the function by which every host hands over its frames, and at
//! the place in the order of events that the timer of the last flow has.

use std::collections::BTreeMap;
use std::fmt;

use super::reference::Stepper;
use crate::adaptation::MAX_PACKET;
use crate::network::circuit::Circuit;
use crate::scenario::model::Scenario;
use crate::trace::{Tracer, What};
use crate::transport::cargo::{Cargo, Wire};
use crate::transport::ecn::Ecn;
use crate::transport::udp::Datagram;
use crate::unit::Unit;
use crate::units::Time;
use crate::units::ids::{CircuitId, FlowId, IdVec, LineId};
use crate::verdict::Reason;

/// A packet from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offered {
    /// Number of the flow on whose circuit the packet travels.
    pub flow: FlowId,
    /// Length in octets, IP header included.
    pub bytes: u32,
    /// The ECN field: whether a port may mark the packet, or has marked it.
    pub ecn: Ecn,
}

/// Why a packet cannot be offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unoffered {
    /// The instant is before this one, which the run has reached.
    Past(Time),
    /// The instant is not before this one, the end of the run.
    Ended(Time),
    /// There is no flow with this number that carries datagrams.
    NoDatagrams(FlowId),
    /// A packet of this many octets does not exist.
    Length(u32),
}

impl fmt::Display for Unoffered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unoffered::Past(now) => {
                write!(f, "the instant must be at least {} s, which the run has reached", now.as_secs_f64())
            }
            Unoffered::Ended(end) => {
                write!(f, "the instant must be before {} s, the end of the run", end.as_secs_f64())
            }
            Unoffered::NoDatagrams(flow) => write!(f, "flow number {} must carry datagrams", flow.0),
            Unoffered::Length(bytes) => {
                write!(f, "a packet must have 1 to {MAX_PACKET} octets with what lines add, not {bytes}")
            }
        }
    }
}

impl<T: Tracer> Stepper<T> {
    /// Let the time pass to this instant, and put a packet into the first port of its circuit; returns its number on the
    /// circuit.
    pub fn offer(&mut self, time: Time, Offered { flow, bytes, ecn }: Offered) -> Result<u32, Unoffered> {
        if time >= self.end() {
            return Err(Unoffered::Ended(self.end()));
        }
        let network = &self.engine.network;
        let circuit = network.flows.get(flow).and_then(|flow| flow.datagram_circuit());
        let vc = circuit.ok_or(Unoffered::NoDatagrams(flow))?;
        if bytes == 0 || bytes > network.circuits[vc].longest_packet() {
            return Err(Unoffered::Length(bytes));
        }
        if !self.goes_to(time) {
            return Err(Unoffered::Past(self.now()));
        }
        let cargo = Datagram { bytes, sent: time, ecn }.pack();
        let emission = self.engine.network.circuits[vc].emit(flow, bytes, cargo);
        self.engine.hand_over(emission, time);
        Ok(emission.frame)
    }
}

/// What became of an offered packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fate {
    /// When it was delivered or lost.
    pub time: Time,
    /// Its circuit.
    pub vc: CircuitId,
    /// Its number on the circuit.
    pub number: u32,
    /// How it ended.
    pub ending: Ending,
    /// The port that marked it, and when it left that port.
    pub mark: Option<(LineId, Time)>,
}

/// How a packet ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// It reached its host.
    Delivered,
    /// It reached its host without its data, because a port has cut it.
    Cut,
    /// A port, or the link before it, lost it.
    Lost(LineId, Reason),
}

/// The fates of packets on some circuits of packet links, in the order in which they ended.
#[derive(Clone, Debug)]
pub struct Fates {
    watched: IdVec<CircuitId, bool>,
    /// Packets on their way that a port has marked.
    marks: BTreeMap<(CircuitId, u32), (LineId, Time)>,
    ended: Vec<Fate>,
}

impl Fates {
    /// Record the fates of packets of these flows.
    pub fn of(scenario: &Scenario, flows: impl IntoIterator<Item = FlowId>) -> Fates {
        let mut watched = IdVec::filled(false, scenario.vcs.len());
        flows.into_iter().for_each(|flow| watched[scenario.flows[flow].vc] = true);
        Fates { watched, marks: BTreeMap::new(), ended: Vec::new() }
    }

    /// Return whether no packet has ended since the last call of [`Fates::take`].
    pub fn is_empty(&self) -> bool {
        self.ended.is_empty()
    }

    /// Remove and return the fates since the last call, in the order of time.
    pub fn take(&mut self) -> Vec<Fate> {
        self.ended.sort_by_key(|fate| fate.time); // stable; departures are handled after their time
        std::mem::take(&mut self.ended)
    }

    fn end(&mut self, time: Time, unit: &Unit, ending: Ending) {
        let (vc, number) = (unit.vc, unit.frame);
        let mark = if unit.is_ce() { self.marks.remove(&(vc, number)) } else { None };
        self.ended.push(Fate { time, vc, number, ending, mark });
    }
}

impl Tracer for Fates {
    #[inline]
    fn see(&mut self, now: Time, port: LineId, unit: &Unit, what: What, _: &IdVec<CircuitId, Circuit>) {
        if !self.watched[unit.vc] {
            return;
        }
        match what {
            What::Arrives => {}
            What::Leaves if unit.is_ce() => {
                self.marks.entry((unit.vc, unit.frame)).or_insert((port, now));
            }
            What::Leaves => {}
            What::Lost(reason) => self.end(now, unit, Ending::Lost(port, reason)),
        }
    }

    #[inline]
    fn delivers(&mut self, now: Time, unit: &Unit, cargo: &Cargo) {
        if self.watched[unit.vc] {
            self.end(now, unit, if cargo.is_cut() { Ending::Cut } else { Ending::Delivered });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::load;
    use crate::scenario::model::Scenario;
    use crate::trace::What;
    use crate::trace::ring::{Record, RecordRing};
    use crate::units::Span;

    const TAIL_DROP: &str = r#""tail-drop""#;
    const RED: &str = r#""red", min_threshold = "2 kB", max_threshold = "15 kB", weight = 0.1"#;
    const PORT: &str = r#"
        name = "offered"
        duration = "50 ms"
        topology = { template = "dumbbell", sources = 3, access = LINK, bottleneck = LINK, egress = LINK }
        [port.bottleneck]
        buffer = "BUFFER"
        admission = { policy = POLICY }
        [adaptation]
        kind = "ADAPTATION"
        [flows]
        source = { kind = "poisson", rate = "5 Mb/s", size = "600 bytes" }
        transport = { kind = "udp" }
    "#;

    /// The scenario, with its sources silent or not, and the number of its bottleneck.
    fn scenario([adaptation, buffer, policy]: [&str; 3], start: &str) -> (Scenario, LineId) {
        let text = PORT
            .replace("LINK", r#"{ rate = "10 Mb/s", delay = "1 ms" }"#)
            .replace("BUFFER", buffer)
            .replace("POLICY", policy)
            .replace("ADAPTATION", adaptation);
        let scenario = load(&text, "offered.toml", &[format!("flows.start={start}")]).unwrap();
        let port = scenario.lines.position(|line| line.name == "bottleneck").unwrap();
        (scenario, port)
    }

    fn stepper(scenario: &Scenario) -> Stepper<RecordRing> {
        let ports: Vec<LineId> = scenario.lines.keys().collect();
        Stepper::new(scenario, true, RecordRing::new(ports.len(), &ports, usize::MAX))
    }

    /// The packets of a run as they leave their hosts, and all events at its bottleneck.
    fn sent(scenario: &Scenario, port: LineId) -> (Vec<(Time, Offered)>, Vec<Record>) {
        let mut stepper = stepper(scenario);
        stepper.advance(stepper.end());
        let (records, _) = stepper.tracer_mut().take();
        let starts =
            |record: &&Record| record.what == What::Arrives && record.unit.hop == 0 && record.unit.index == 0;
        let offered = |record: &Record| {
            let flow = scenario.vcs[record.unit.vc].flow.unwrap();
            (record.time, Offered { flow, bytes: 628, ecn: Ecn::default() })
        };
        let offers = records.iter().filter(starts).map(offered).collect();
        (offers, records.into_iter().filter(|record| record.port == port).collect())
    }

    #[test]
    fn packets_from_outside_fare_as_those_of_the_hosts_that_they_replace() {
        for (form, reason) in [
            (["packet", "4 kB", TAIL_DROP], "overflow"),
            (["packet", "20 kB", RED], "random"),
            (["aal5", "60 cells", r#""epd""#], "early"),
        ] {
            let ((scenario_with, port), (silent, _)) = (scenario(form, "0 ms"), scenario(form, "60 ms"));
            let (offers, expected) = sent(&scenario_with, port);
            let mut stepper = stepper(&silent);
            for (time, packet) in offers {
                stepper.offer(time, packet).unwrap();
            }
            stepper.advance(stepper.end());
            let seen: Vec<Record> = stepper.tracer_mut().take().0;
            let seen: Vec<Record> = seen.into_iter().filter(|record| record.port == port).collect();
            let lost = seen.iter().filter(|it| matches!(it.what, What::Lost(why) if why.word() == reason));
            assert!(lost.count() > 0 && seen.len() > 100, "{form:?}");
            assert_eq!(seen, expected, "{form:?}");
        }
    }

    #[test]
    fn the_number_of_an_offered_packet_finds_it_in_the_records() {
        let (silent, port) = scenario(["packet", "4 kB", TAIL_DROP], "60 ms");
        let mut stepper = stepper(&silent);
        let packet = Offered { flow: FlowId(1), bytes: 1000, ecn: Ecn::default() };
        let instants = [1, 1, 7].map(|millis| Time::ZERO + Span::millis(millis));
        let numbers = instants.map(|time| stepper.offer(time, packet).unwrap());
        stepper.advance(stepper.end());
        let left = |record: &Record| record.port == port && record.what == What::Leaves;
        let seen = stepper.tracer_mut().take().0.into_iter().filter(left).map(|record| record.unit.frame);
        assert_eq!(seen.collect::<Vec<u32>>(), numbers);
        assert_eq!(stepper.network().flows[FlowId(1)].delivered(), 3000);
    }

    #[test]
    fn what_cannot_be_offered_is_an_error() {
        let (silent, _) = scenario(["packet", "4 kB", TAIL_DROP], "60 ms");
        let mut stepper = stepper(&silent);
        let packet = Offered { flow: FlowId(0), bytes: 1000, ecn: Ecn::default() };
        let at = |micros| Time::ZERO + Span::micros(micros);
        stepper.offer(at(7), packet).unwrap();
        stepper.offer(at(7), packet).unwrap();
        stepper.pass(at(8));
        let mut refused = |time, packet| stepper.offer(time, packet).unwrap_err();
        assert_eq!(refused(at(7), packet), Unoffered::Past(at(8) + Span(1)));
        assert_eq!(refused(at(50_000), packet), Unoffered::Ended(at(50_000)));
        let unknown = Offered { flow: FlowId(3), ..packet };
        assert_eq!(refused(at(9), unknown), Unoffered::NoDatagrams(FlowId(3)));
        for bytes in [0, 65_536, u32::MAX] {
            assert_eq!(refused(at(9), Offered { bytes, ..packet }), Unoffered::Length(bytes));
        }
        stepper.offer(at(8), packet).unwrap();
    }

    /// Fates of packets over a port with ECN, when time passes only to the instants that the stepper names.
    #[test]
    fn every_packet_has_one_fate_at_an_instant_that_was_named() {
        let marking =
            r#""red", min_threshold = "2 kB", max_threshold = "15 kB", weight = 0.1, action = "mark""#;
        let (silent, port) = scenario(["packet", "16 kB", marking], "60 ms");
        let mut stepper = Stepper::new(&silent, false, Fates::of(&silent, silent.flows.keys()));
        let (mut offers, mut ended) = (Vec::new(), Vec::new());
        for number in 0..90 {
            let at = Time::ZERO + Span::micros(200 * number);
            while let Some(next) = stepper.next().filter(|next| *next <= at) {
                stepper.pass(next);
                let fates = stepper.tracer_mut().take();
                assert!(fates.iter().all(|fate| fate.time == next), "{fates:?}");
                ended.extend(fates);
            }
            let flow = FlowId::new(number as usize % 3);
            let ecn = Ecn::ECT.when(number % 2 == 0);
            offers.push((flow, stepper.offer(at, Offered { flow, bytes: 1000, ecn }).unwrap()));
        }
        stepper.advance(stepper.end());
        ended.extend(stepper.tracer_mut().take());
        let mut named: Vec<_> =
            ended.iter().map(|fate| (silent.vcs[fate.vc].flow.unwrap(), fate.number)).collect();
        named.sort_unstable();
        offers.sort_unstable();
        assert_eq!(named, offers);
        let lost =
            ended.iter().filter(|fate| matches!(fate.ending, Ending::Lost(at, _) if at == port)).count();
        let marks: Vec<_> = ended.iter().filter_map(|fate| fate.mark).collect();
        assert!(lost > 5 && marks.len() > 5 && marks.iter().all(|(at, _)| *at == port), "{lost} {marks:?}");
    }
}
