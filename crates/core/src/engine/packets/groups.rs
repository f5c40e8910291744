//! Groups of ports and memories that may affect each other at one instant: each group keeps the order of the kernel.
//!
//! # What it assumes
//! A port affects another one at the same instant only by a memory that both share, by a pause frame of its memory that the other one
//! carries, or in the search for a cycle of pauses (`network/pause_cycle.rs`).
//!
//! # Why that is exact
//! All other effects are frames on lines, which arrive on a later day: see `transit/stations.rs`.

use crate::engine::forms::{Form, allows};
use crate::network::Network;
use crate::scenario::model::Scenario;
use crate::units::ids::{IdVec, LineId, MemoryId, StationId};

/// For every port, then for every memory, its station, if all ports of its group are apart: they judge every packet, and depend only on
/// frames from other nodes. Empty if there is none.
pub(super) fn stations(
    scenario: &Scenario,
    network: &Network,
    is_apart: impl Fn(LineId) -> bool,
) -> IdVec<StationId, Option<StationId>> {
    let mut groups = groups(scenario, network);
    let mut is_common = IdVec::filled(false, groups.0.len());
    for port in scenario.lines.keys().filter(|&port| !is_apart(port)) {
        is_common[groups.of(port.station())] = true;
    }
    let members = (0..groups.0.len()).map(StationId::new);
    let station = |member| Some(groups.of(member)).filter(|station| !is_common[*station]);
    let stations: IdVec<StationId, Option<StationId>> = members.map(station).collect();
    let has_ports = stations.iter().take(scenario.lines.len()).any(Option::is_some);
    if allows(Form::Stations) && has_ports { stations } else { IdVec::default() }
}

/// The ports, then the memories, that may affect each other at one instant: the ports of a memory, those that carry its pause frames,
/// and those that may wait for each other in a cycle of pauses, for which the network searches at every pause.
fn groups(scenario: &Scenario, network: &Network) -> Groups {
    let of_memory = |memory: MemoryId| StationId::new(scenario.lines.len() + memory.index());
    let mut groups =
        Groups((0..scenario.lines.len() + scenario.memories.len()).map(StationId::new).collect());
    for (number, port) in network.ports.pairs() {
        port.share().into_iter().for_each(|share| groups.join(number.station(), of_memory(share.number())));
    }
    for (number, memory) in scenario.memories.pairs() {
        let pausing = memory.queues.iter().filter(|queue| queue.limits.pause.is_some());
        let carriers = pausing.filter_map(|queue| scenario.lines[queue.line].back);
        carriers.for_each(|line| groups.join(line.station(), of_memory(number)));
    }
    for [from, to] in scenario.pause_cycles() {
        groups.join(from.station(), to.station());
    }
    groups
}

/// Groups of ports and memories: each member leads to a greater one of its group, and the greatest to itself.
struct Groups(IdVec<StationId, StationId>);

impl Groups {
    /// Return the greatest member of a group.
    fn of(&mut self, member: StationId) -> StationId {
        let Groups(next) = self;
        let mut at = member;
        while next[at] != at {
            (next[at], at) = (next[next[at]], next[at]);
        }
        at
    }

    /// Make one group of those of two members.
    fn join(&mut self, one: StationId, other: StationId) {
        let (one, other) = (self.of(one), self.of(other));
        self.0[one.min(other)] = one.max(other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::load;
    use crate::scenario::model::NodeKind;
    use std::collections::BTreeSet;

    /// Count the stations of a ring of three switches whose memories pause, with a host at each; every flow passes three switches.
    fn stations_of_ring(flows: &[usize]) -> usize {
        let mut text = "
            name = 'ring'
            duration = '1 ms'
            adaptation = { kind = 'packet' }
            port.default = { memory = 'chip' }
            memory.chip = { size = '99 cells', cell = '1500 bytes', pool.lossless = { side = 'ingress' } }
            queue.one = { limit = '3 cells', pause = { xoff = '4 cells', xon = '1 cell' } }
            flows.source = { kind = 'cbr', rate = '1 Mb/s', size = '99 bytes' }
            flows.transport = { kind = 'udp' }
            "
        .to_string();
        for at in 0..3 {
            text += &format!(
                "[[node]]\nname = 's{at}'\nkind = 'router'\n[[node]]\nname = 'h{at}'\nkind = 'host'\n"
            );
        }
        for at in 0..3 {
            for (from, to) in
                [(format!("s{at}"), format!("s{}", (at + 1) % 3)), (format!("h{at}"), format!("s{at}"))]
            {
                text += &format!("[[link]]\nfrom = '{from}'\nto = '{to}'\nrate = '1 Gb/s'\ndelay = '1 us'\n");
            }
        }
        for &at in flows {
            let (next, last) = ((at + 1) % 3, (at + 2) % 3);
            text += &format!(
                "[[flow]]\nname = 'f{at}'\nfrom = 'h{at}'\nto = 'h{last}'\nvia = ['s{at}', 's{next}', 's{last}']\n"
            );
        }
        let scenario = load(&text, "ring.toml", &[]).unwrap_or_else(|why| panic!("{why}"));
        let network = Network::between_hosts(&scenario);
        let is_from_switch =
            |port: LineId| scenario.nodes[scenario.lines[port].from].kind == NodeKind::Router;
        let stations = stations(&scenario, &network, is_from_switch).into_iter().take(scenario.lines.len());
        stations.flatten().collect::<BTreeSet<_>>().len()
    }

    #[test]
    fn switches_that_pause_each_other_are_stations_and_those_that_could_do_so_in_a_cycle_are_one() {
        assert_eq!((stations_of_ring(&[0, 1]), stations_of_ring(&[0, 1, 2])), (3, 1));
    }
}
