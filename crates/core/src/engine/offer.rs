//! Traffic from outside: packets that the caller offers to a run, at instants that the caller chooses.
//!
//! Use it to put recorded or real traffic through a port: the caller offers packets as they come, advances, and reads
//! from the tracer which of them leave, when, and which are lost, for what reason. The frame number that
//! [`Stepper::offer`] returns identifies a packet in these records.
//!
//! It cannot replace the host of a TCP flow, whose sender has not sent the packets: so the flow must carry datagrams
//! (`udp`). The report of the flow counts offered packets where they arrive, but not as sent by its source. For a
//! flow whose own source sends nothing, set `start` beyond `duration`.
//!
//! # What it assumes
//! Instants do not go back. A packet that is offered at an instant comes before all else that happens then.
//!
//! # Why that is exact
//! The packet enters the first port of its circuit through the function by which every host hands over its frames.

use super::reference::Stepper;
use crate::trace::Tracer;
use crate::transport::cargo::Wire;
use crate::transport::ecn::Ecn;
use crate::transport::udp::Datagram;
use crate::units::Time;
use crate::units::ids::FlowId;

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

impl<T: Tracer> Stepper<T> {
    /// Advance to this instant, and put a packet into the first port of its circuit; returns its number on the circuit.
    pub fn offer(&mut self, time: Time, Offered { flow, bytes, ecn }: Offered) -> u32 {
        assert!(
            self.now() <= time && time < self.end(),
            "a packet is offered between now and the end of the run"
        );
        self.advance(time);
        let network = &mut self.engine.network;
        let vc = network.flows[flow].datagram_circuit().expect("packets are offered to a flow of datagrams");
        let cargo = Datagram { bytes, sent: time, ecn }.pack();
        let emission = network.circuits[vc].emit(flow, bytes, cargo);
        self.engine.hand_over(emission, time);
        emission.frame
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::load;
    use crate::scenario::model::Scenario;
    use crate::trace::What;
    use crate::trace::ring::{Record, RecordRing};
    use crate::units::ids::LineId;

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
                stepper.offer(time, packet);
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
        let instants = [1, 1, 7].map(|millis| Time::ZERO + crate::units::Span::millis(millis));
        let numbers = instants.map(|time| stepper.offer(time, packet));
        stepper.advance(stepper.end());
        let left = |record: &Record| record.port == port && record.what == What::Leaves;
        let seen = stepper.tracer_mut().take().0.into_iter().filter(left).map(|record| record.unit.frame);
        assert_eq!(seen.collect::<Vec<u32>>(), numbers);
        assert_eq!(stepper.network().flows[FlowId(1)].delivered(), 3000);
    }

    #[test]
    #[should_panic(expected = "offered between now and the end")]
    fn a_packet_is_not_offered_in_the_past() {
        let (silent, _) = scenario(["packet", "4 kB", TAIL_DROP], "60 ms");
        let mut stepper = stepper(&silent);
        stepper.advance(stepper.end());
        stepper.offer(Time::ZERO, Offered { flow: FlowId(0), bytes: 1000, ecn: Ecn::default() });
    }
}
