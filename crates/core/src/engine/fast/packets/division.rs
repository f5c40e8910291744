//! Which agenda a packet stands in: with one for each of the ports where lines meet, what is alike comes together.

use super::super::plan::latency;
use crate::scenario::model::Scenario;
use crate::units::{Span, Time};

/// How everything that is to happen is divided among agendas.
#[derive(Debug)]
pub(super) struct Division {
    /// By port, in which one stands what comes to it.
    pub(super) agendas: Vec<usize>,
    /// What happens leads to nothing in any agenda before so much time has passed. So one can be worked through for so long
    /// although something stands in others; without others forever.
    pub(super) lookahead: Span,
}

impl Division {
    /// Ports where lines meet have agendas apart from hosts and from ports that are asked, if that pays: if several packets
    /// come to them in the time that passes between cause and effect.
    pub(super) fn new(scenario: &Scenario, meets: impl Fn(usize) -> bool) -> Division {
        let passed = || scenario.vcs.iter().flat_map(|vc| vc.path.iter().map(move |line| (vc, &scenario.lines[*line])));
        let lookahead = passed().map(|(_, line)| latency(scenario, line)).min().unwrap_or_default();
        let largest = scenario.vcs.iter().map(|vc| vc.packet).max().unwrap_or_default();
        let ports: Vec<usize> = (0..scenario.lines.len()).filter(|&line| meets(line)).collect();
        let time = |port: &usize| scenario.lines[*port].rate.time_of_bits(8 * u64::from(largest)).0;
        let busiest = ports.iter().map(time).min();
        let mut division = Division { agendas: vec![HOSTS; scenario.lines.len()], lookahead: FOREVER };
        if busiest.is_some_and(|time| time * SEVERAL <= lookahead.0) {
            division.lookahead = lookahead;
            let agendas = (0..AGENDAS).filter(|agenda| *agenda != HOSTS).cycle();
            ports.into_iter().zip(agendas).for_each(|(port, agenda)| division.agendas[port] = agenda);
        }
        division
    }
}

/// How many agendas there are: one for either direction of most networks, and that of hosts and of ports that are asked.
pub(super) const AGENDAS: usize = 3;
pub(super) const HOSTS: usize = 0;
/// Packets in the time that passes between cause and effect for which agendas of their own pay.
const SEVERAL: u64 = 8;
const FOREVER: Span = Span(Time::NEVER.0);
