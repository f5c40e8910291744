//! Credits: no account exceeds the buffer space granted at the line's receiver, the receiver holds as many units as
//! its credit state says, and no unit sent with credits found the buffer full.

use std::collections::BTreeSet;

use super::Audit;
use crate::engine::Outcome;
use crate::link::gate::credit::{CreditReceiver, CreditSender};
use crate::memory::Side;
use crate::network::Network;
use crate::network::branches::Hop;
use crate::scenario::contract::passing_circuits;
use crate::scenario::model::Scenario;
use crate::unit::Unit;
use crate::units::ids::{CircuitId, IdSlice, IdVec, LineId, PortVc};
use crate::verdict::Reason;

pub(super) fn check(audit: &mut Audit, scenario: &Scenario, outcome: &Outcome) {
    let network = &outcome.network;
    if network.receivers.is_empty() {
        return;
    }
    let (passing, held) = (passing_circuits(scenario), held(network));
    for (line, receiver) in network.receivers.pairs() {
        if let (Some(sender), Some(receiver)) = (CreditSender::among(network.ports[line].gates()), receiver) {
            accounts(audit, scenario, passing.at(line), line, sender, receiver, &held[line]);
        }
    }
    losses(audit, scenario, network);
    memory_losses(audit, scenario, network);
}

/// Return for every line with credits and each of its accounts the number of units that the ports hold.
fn held(network: &Network) -> IdVec<LineId, Vec<u64>> {
    let mut held: IdVec<LineId, Vec<u64>> =
        network.ports.iter().map(|port| vec![0; port.pool().vcs()]).collect();
    let ports = network.ports.iter();
    let units = ports.flat_map(|port| port.waiting().chain(port.sending.map(|sending| sending.unit)));
    for unit in units.filter(|unit| unit.hop > 0) {
        let before = Unit { hop: unit.hop - 1, ..unit };
        let hop = network.circuits[unit.vc].hop(&before).expect("a unit came over a line");
        if let Some(receiver) = network.receiver(hop.port) {
            let account = receiver.account_of(hop.vc);
            held[hop.port][account] += receiver.terms().measure.size_of(&unit);
        }
    }
    held
}

/// Return the accounts of a line, each named by its first circuit.
fn accounts(
    audit: &mut Audit,
    scenario: &Scenario,
    vcs: IdSlice<'_, PortVc, CircuitId>,
    line: LineId,
    sender: &CreditSender,
    receiver: &CreditReceiver,
    held: &[u64],
) {
    let (room, mut seen) = (receiver.terms().room, BTreeSet::new());
    for (number, &vc) in vcs.pairs() {
        let account = receiver.account_of(number);
        if !seen.insert(account) {
            continue;
        }
        let name = || format!("circuit {} behind {}", scenario.vcs[vc].name, scenario.lines[line].name);
        let (books, balance) = (receiver.books(number), sender.account(number));
        let (sent, credited) = (balance.sent, balance.forwarded);
        audit.check(books.most <= room, || format!("{}: {} held, but room for {room}", name(), books.most));
        audit.check(sent - credited <= room, || {
            format!("{}: {} without credit, but room for {room}", name(), sent - credited)
        });
        audit.check(credited <= books.reported && books.forwarded + books.held <= sent, || {
            let books =
                format!("{} forwarded, {} held, {} reported", books.forwarded, books.held, books.reported);
            format!("{}: {sent} sent, {credited} credited, but {books}", name())
        });
        let is_last = scenario.vcs[vc].path.last() == Some(&line);
        let found = if is_last { books.held } else { held[account] };
        audit.check(found == books.held, || {
            format!("{}: {} by the credits, {found} by the ports", name(), books.held)
        });
    }
}

/// Check that ports with their own buffer lost no unit that came over a line with credits.
fn losses(audit: &mut Audit, scenario: &Scenario, network: &Network) {
    for (vc, circuit) in network.circuits.pairs() {
        for hops in circuit.route(0).windows(2) {
            let &[Hop { port: line, .. }, Hop { port: next, .. }] = hops else { unreachable!("a pair") };
            let behind = &network.ports[next];
            if network.receiver(line).is_none() || behind.share().is_some() {
                continue;
            }
            let (lost, name) = (behind.counters().lost_for(Reason::Overflow), &scenario.vcs[vc].name);
            audit.check(lost == 0, || {
                format!("circuit {name} behind {}: {lost} lost", scenario.lines[line].name)
            });
        }
    }
}

/// Check that queues of shared memories lost no unit that came over a line with credits.
fn memory_losses(audit: &mut Audit, scenario: &Scenario, network: &Network) {
    for (spec, memory) in scenario.memories.iter().zip(network.memories()) {
        for (queue, running) in spec.queues.iter().zip(memory.queues()) {
            let line = &scenario.lines[queue.line];
            if spec.pools[queue.pool].side == Side::Ingress && line.port.gates.credit.is_some() {
                let (class, lost) = (&queue.class, running.dropped);
                audit.check(lost == 0, || {
                    format!("memory {}: {lost} lost of {class} behind {}", spec.name, line.name)
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::audit;
    use crate::engine;
    use crate::link::gate::credit::Terms;
    use crate::scenario;
    use crate::unit::Flags;

    /// A circuit that fills the ten cells that its credits guarantee before a slow line. The run ends just after a
    /// credit has been used: the last of 198 cells has left at 19802 us.
    const CELLS: &str = r#"
        name = "credits"
        duration = "19850 us"
        node = [{ name = "a", kind = "host" }, { name = "s", kind = "switch" }, { name = "b", kind = "host" }]
        link = [
            { name = "in", from = "a", to = "s", rate = "424 Mb/s", delay = "1 us" },
            { name = "out", from = "s", to = "b", rate = "4.24 Mb/s", delay = "1 us" },
        ]
        flow = [{ name = "f", from = "a", to = "b", source = { kind = "cbr", rate = "424 Mb/s" }, transport = { kind = "cells" } }]
        [port.in]
        scheduler = { policy = "round-robin" }
        credit = { policy = "n23", n2 = "3 cells", n3 = "7 cells" }
        [port.out]
        scheduler = { policy = "round-robin" }
    "#;

    /// Two circuits of packets of 1028 octets, which take five credits each, before a slow port of a shared memory.
    const PACKETS: &str = r#"
        name = "credits"
        duration = "20 ms"
        adaptation = { kind = "packet" }
        node = [{ name = "a", kind = "host" }, { name = "s", kind = "router" }, { name = "b", kind = "host" }]
        link = [
            { name = "in", from = "a", to = "s", rate = "424 Mb/s", delay = "1 us" },
            { name = "out", from = "s", to = "b", rate = "4.24 Mb/s", delay = "1 us" },
        ]
        flow = [{ name = "f", from = "a", to = "b" }, { name = "g", from = "a", to = "b" }]
        flows = { source = { kind = "cbr", rate = "100 Mb/s", size = "1000 bytes" }, transport = { kind = "udp" } }
        [port.in]
        credit = { policy = "cbfc", credit_size = "254 bytes", room = "5080 bytes" }
        [port.out]
        memory = "chip"
        [memory.chip]
        size = "20 cells"
        cell = "254 bytes"
        pool.all = { side = "ingress" }
    "#;

    const CELL: Unit =
        Unit { vc: CircuitId(0), frame: 0, identity: 0, index: 0, bytes: 53, hop: 0, flags: Flags(0) };

    /// Return the faults that an audit finds in a run that was tampered with.
    fn failures(text: &str, tamper: impl FnOnce(&Scenario, &mut Network)) -> String {
        let scenario = scenario::load(text, "audit.toml", &[]).unwrap();
        let mut outcome = engine::run(&scenario, false);
        tamper(&scenario, &mut outcome.network);
        audit(&scenario, &outcome).failures.join("; ")
    }

    fn line(scenario: &Scenario, name: &str) -> LineId {
        scenario.lines.position(|line| line.name == name).unwrap()
    }

    /// Return the faults that an audit finds if the receiver of the first line was tampered with.
    fn found(text: &str, tamper: fn(&mut CreditReceiver)) -> String {
        failures(text, |scenario, network| {
            tamper(network.receivers[line(scenario, "in")].as_mut().unwrap());
        })
    }

    #[test]
    fn a_run_without_tampering_has_no_failures_although_the_rooms_were_full() {
        for (text, room) in [(CELLS, 10), (PACKETS, 20)] {
            let full = |scenario: &Scenario, network: &mut Network| {
                let receiver = network.receiver(line(scenario, "in")).unwrap();
                assert_eq!(receiver.books(PortVc(0)).most, room);
            };
            assert_eq!(failures(text, full), "");
        }
    }

    #[test]
    fn the_audit_finds_credits_beyond_the_promise_and_cells_without_credits() {
        assert!(
            found(CELLS, |receiver| receiver.arrived(PortVc(0), &CELL))
                .contains("11 by the credits, 10 by the ports")
        );
        assert!(
            found(CELLS, |receiver| receiver.arrived(PortVc(0), &CELL)).contains("11 held, but room for 10")
        );
        assert!(
            found(CELLS, |receiver| _ = receiver.left(PortVc(0), &CELL))
                .contains("9 by the credits, 10 by the ports")
        );
        let forgotten =
            found(CELLS, |receiver| *receiver = CreditReceiver::new(receiver.terms(), vec![0].into()));
        assert!(forgotten.contains("but 0 forwarded, 0 held, 0 reported"), "{forgotten}");
        let narrower = |receiver: &mut CreditReceiver| {
            *receiver = CreditReceiver::new(Terms { room: 9, ..receiver.terms() }, vec![0].into());
        };
        let narrower = found(CELLS, narrower);
        assert!(narrower.contains("10 without credit, but room for 9"), "{narrower}");
    }

    #[test]
    fn credits_of_a_class_are_compared_with_what_all_its_circuits_hold() {
        let packet = Unit { bytes: 1028, ..CELL };
        assert_eq!(packet.bytes.div_ceil(254), 5);
        let forged = found(PACKETS, |receiver| _ = receiver.left(PortVc(1), &Unit { bytes: 254, ..CELL }));
        assert_eq!(forged, "circuit f behind in: 19 by the credits, 20 by the ports");
    }

    #[test]
    fn a_cell_that_is_lost_behind_a_line_with_credits_is_found() {
        let found = failures(CELLS, |scenario, network| {
            network.ports[line(scenario, "out")].counters_mut().lost(Reason::Overflow);
        });
        assert!(found.contains("circuit f behind in: 1 lost"), "{found}");
    }

    #[test]
    fn a_packet_that_a_memory_loses_behind_a_line_with_credits_is_found() {
        let found = failures(PACKETS, |_, network| {
            let account =
                network.ports.iter().find_map(|port| Some(port.share()?.accounts()[PortVc(0)])).unwrap();
            network.memories_mut().next().unwrap().note_loss(account);
        });
        assert_eq!(found, "memory chip: 1 lost of all behind in");
    }
}
