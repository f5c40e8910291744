//! Division of pending events among agendas: with separate agendas for data and acknowledgements, similar work is
//! done together.
//!
//! # What it assumes
//! No port where lines meet, and no memory, receives both data and acknowledgements.
//!
//! # What it skips
//! Switching between the two for every packet.
//!
//! # Why that is exact
//! An event affects another agenda only after the least delay of a line, so one agenda can be processed alone for
//! that time.
//!
//! # What turns it off
//! A port that receives both, or a least delay in which fewer than eight packets are sent.

use crate::engine::questions::latency;
use crate::scenario::model::{Scenario, Vc};
use crate::units::Span;
use crate::units::ids::{IdVec, LineId, StationId};

/// The agenda of each kind of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lookahead {
    /// Packets that arrive at a port where lines meet: data, and acknowledgements.
    pub(crate) packets: [usize; 2],
    /// An event affects another agenda only after this time. So one agenda can be processed alone for this time while
    /// others have pending events, and without limit if the others are empty.
    pub(crate) lookahead: Span,
}

impl Lookahead {
    /// Divide the events among agendas. Data packets and acknowledgements get separate agendas if no port where lines
    /// meet (and no memory) receives both kinds, and if each such port can send more than `SEVERAL` of the largest
    /// packets within the shortest delay of a line; otherwise the separation would not pay. `meets` returns, for a
    /// port where lines meet, its number or, if it shares a memory, the number of all ports plus that of the memory;
    /// `None` for other ports.
    pub(crate) fn new(scenario: &Scenario, meets: impl Fn(LineId) -> Option<StationId>) -> Lookahead {
        let lines = scenario.vcs.iter().flat_map(Vc::routes).flatten().map(|line| &scenario.lines[*line]);
        let lookahead = lines.map(|line| latency(scenario, line)).min().unwrap_or_default();
        let largest = scenario.vcs.iter().map(|vc| vc.packet).max().unwrap_or_default();
        let (mut kinds, mut pays) =
            (IdVec::filled(None, scenario.lines.len() + scenario.memories.len()), true);
        let circuits = scenario.flows.iter().flat_map(|flow| [(Some(flow.vc), false), (flow.back, true)]);
        for (vc, is_ack) in circuits.filter_map(|(vc, is_ack)| Some((vc?, is_ack))) {
            let path = scenario.vcs[vc].lines();
            for (line, port) in path.iter().filter_map(|&line| Some((line, meets(line)?))) {
                let (time, _) = scenario.lines[line].rate.mean().time_of_bits(8 * u64::from(largest));
                pays &= time.saturating_mul(SEVERAL) < lookahead.0;
                pays &= kinds[port].replace(is_ack).is_none_or(|other| other == is_ack);
            }
        }
        if pays {
            Lookahead { packets: [DATA, ACKS], lookahead }
        } else {
            Lookahead { packets: [HOSTS, HOSTS], lookahead: Span::FOREVER }
        }
    }
}

/// Number of the agenda of hosts and of ports that judge every packet.
pub(crate) const HOSTS: usize = 0;
/// Numbers of the agendas of packets.
const DATA: usize = 1;
const ACKS: usize = 2;
pub(crate) const AGENDAS: usize = 3;
/// Number of packets in the least time between cause and effect from which separate agendas pay.
const SEVERAL: u64 = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::load;
    use crate::units::ids::FlowId;

    /// Divide a dumbbell whose lines all have this delay and meet other lines.
    fn division(delay: &str) -> Lookahead {
        let delay = |line: &str| format!("topology.{line}.delay={delay}");
        let delays = ["access", "bottleneck", "egress"].map(delay);
        Lookahead::new(&load(DUMBBELL, "test.toml", &delays).unwrap(), |port| Some(port.station()))
    }

    const DUMBBELL: &str = r#"
        name = "dumbbell"
        duration = "1 s"
        adaptation = { kind = "packet" }
        flows = { source = { kind = "greedy" }, transport = { kind = "tcp" } }
        [topology]
        template = "dumbbell"
        sources = 2
        access = { rate = "100 Mb/s", delay = "1 ms" }
        bottleneck = { rate = "100 Mb/s", delay = "1 ms" }
        egress = { rate = "100 Mb/s", delay = "1 ms" }
    "#;

    #[test]
    fn packets_stand_apart_where_several_come_in_the_time_between_cause_and_effect() {
        // 1500 octets take 120 us
        assert_eq!(division("1 ms"), Lookahead { packets: [DATA, ACKS], lookahead: Span::millis(1) });
        assert_eq!(division("900 us"), Lookahead { packets: [HOSTS, HOSTS], lookahead: Span::FOREVER });
    }

    #[test]
    fn a_port_that_gets_data_and_acknowledgements_takes_them_in_one_order() {
        let mut scenario = load(DUMBBELL, "test.toml", &[]).unwrap();
        assert_eq!(Lookahead::new(&scenario, |port| Some(port.station())).packets, [DATA, ACKS]);
        scenario.flows[FlowId(0)].back = Some(scenario.flows[FlowId(1)].vc);
        assert_eq!(Lookahead::new(&scenario, |port| Some(port.station())).packets, [HOSTS, HOSTS]);
    }
}
