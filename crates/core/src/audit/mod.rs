//! Conservation: every unit that entered a port left it, was lost for a counted reason, or is still there; every
//! octet that a TCP receiver reports was sent, once and in order; no circuit has more units at a line's receiver than
//! its credits allow, and none of those units is lost; memories, their pools and queues hold the content of their
//! ports.

mod credits;

use crate::engine::Outcome;
use crate::host::outcome::DataProgress;
use crate::scenario::model::{self, Scenario};

/// Findings of an audit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    /// Number of balances checked.
    pub checks: u64,
    /// Balances that do not hold, in words.
    pub failures: Vec<String>,
}

impl Audit {
    fn check(&mut self, holds: bool, failure: impl FnOnce() -> String) {
        self.checks += 1;
        if !holds {
            self.failures.push(failure());
        }
    }
}

/// Audit the end of a run.
pub fn audit(scenario: &Scenario, outcome: &Outcome) -> Audit {
    let mut audit = Audit::default();
    ports(&mut audit, scenario, outcome);
    circuits(&mut audit, scenario, outcome);
    flows(&mut audit, scenario, outcome);
    credits::check(&mut audit, scenario, outcome);
    marks(&mut audit, outcome);
    memories(&mut audit, scenario, outcome);
    audit
}

fn ports(audit: &mut Audit, scenario: &Scenario, outcome: &Outcome) {
    for (line, port) in scenario.lines.iter().zip(&outcome.network.ports) {
        let counters = port.counters();
        let (units_in, units_out, queued) = (counters.units_in, counters.units_out, port.units_queued());
        let lost = counters.lost_total();
        audit.check(units_in == units_out + lost + queued, || {
            format!("port {}: {units_in} in, but {units_out} out, {lost} lost and {queued} queued", line.name)
        });
        let (total, capacity) = (port.pool().total(), port.pool().capacity());
        audit.check(capacity.holds(total) && capacity.holds(counters.occupancy.max()), || {
            format!("port {}: {} in a buffer of {capacity}", line.name, total.max(counters.occupancy.max()))
        });
        let by_vc: u64 = port.pool().keys().map(|vc| port.pool().of(vc)).sum();
        audit.check(by_vc == total && port.size_queued() == total, || {
            format!(
                "port {}: the books say {total}, circuits {by_vc}, queues {}",
                line.name,
                port.size_queued()
            )
        });
        let (frames_in, whole_out) = (counters.frames_in, counters.frames_whole_out);
        audit.check(whole_out <= frames_in, || {
            format!("port {}: {whole_out} whole frames left, but only {frames_in} arrived", line.name)
        });
    }
}

fn circuits(audit: &mut Audit, scenario: &Scenario, outcome: &Outcome) {
    let mut under_way = outcome.on_lines.clone();
    for port in &outcome.network.ports {
        port.waiting().for_each(|unit| under_way[unit.vc] += 1);
    }
    for (vc, circuit) in outcome.network.circuits.pairs() {
        let tally = circuit.tally();
        audit.check(tally.sent == tally.arrived + tally.lost + under_way[vc], || {
            format!(
                "circuit {}: {} units sent, but {} arrived, {} lost and {} in flight",
                scenario.vcs[vc].name, tally.sent, tally.arrived, tally.lost, under_way[vc]
            )
        });
    }
}

/// Check congestion marks that ports have set: each has arrived, is lost or is in flight.
fn marks(audit: &mut Audit, outcome: &Outcome) {
    let (ports, circuits) = (&outcome.network.ports, &outcome.network.circuits);
    let set: u64 = ports.iter().map(|port| port.counters().newly_marked()).sum();
    let gone: u64 = circuits.iter().map(|circuit| circuit.marks().arrived + circuit.marks().lost).sum();
    let tallies = circuits.iter().map(|circuit| circuit.tally());
    let under_way: u64 = tallies.map(|tally| tally.sent.saturating_sub(tally.arrived + tally.lost)).sum();
    audit.check(gone <= set && set <= gone + under_way, || {
        format!("ports marked {set} units, but {gone} have arrived or are lost and {under_way} are in flight")
    });
}

/// Check the cells of shared memories: ports, queues and pools hold equal amounts, and no more cells than the memory
/// has.
fn memories(audit: &mut Audit, scenario: &Scenario, outcome: &Outcome) {
    for (spec, memory) in scenario.memories.iter().zip(outcome.network.memories()) {
        let (used, cells, name) = (memory.used(), memory.cells(), &spec.name);
        let most = memory.occupancy().max().max(used);
        audit.check(most <= cells, || format!("memory {name}: {most} of {cells} cells in use"));
        let in_ports = spec.ports.iter().map(|(port, _)| outcome.network.ports[*port].pool().total());
        let in_ports: u64 = in_ports.sum();
        audit.check(in_ports == used, || {
            format!("memory {name}: {used} cells in use, but {in_ports} in its ports")
        });
        let charged = charged(spec, outcome);
        for (index, queue) in memory.queues().iter().enumerate() {
            let (held, found, class) = (queue.held(), charged[index], &spec.queues[index].class);
            audit.check(held == found, || {
                format!("memory {name}: a queue of {class} holds {held} cells, but its port {found}")
            });
            let (headroom, most) =
                (queue.headroom_max(), queue.limits.pause.map_or(u64::MAX, |pause| pause.xoff));
            audit.check(headroom <= most, || {
                format!(
                    "memory {name}: a queue of {class} held {headroom} cells of headroom, but may take {most}"
                )
            });
        }
        for (index, pool) in memory.pools().iter().enumerate() {
            let own = memory.queues().iter().filter(|queue| queue.pool == index);
            let (shared, headroom) = own.fold((0, 0), |(shared, headroom), queue| {
                (shared + queue.shared(), headroom + queue.headroom())
            });
            let holds = (shared, headroom) == (pool.books().total(), pool.headroom_used());
            audit.check(holds && headroom <= pool.headroom(), || {
                let (total, used) = (pool.books().total(), pool.headroom_used());
                let pool = &spec.pools[index].name;
                format!(
                    "memory {name}, pool {pool}: {total} cells shared and {used} of headroom, but its queues hold {shared} and \
                     {headroom}"
                )
            });
        }
    }
}

/// Return for each queue of a memory what the units in its ports fill of it: headers may have a queue of their own, and so may
/// unscheduled packets.
fn charged(memory: &model::NodeMemory, outcome: &Outcome) -> Vec<u64> {
    let mut charged = vec![0; memory.queues.len()];
    for (number, accounts) in &memory.ports {
        let port = &outcome.network.ports[*number];
        for unit in port.units() {
            let hop = outcome.network.circuits[unit.vc].hop(&unit);
            let vc = hop.expect("a unit in a port has a port on its way").vc;
            let trim = memory.trims.get(number).and_then(|trims| trims[vc]).filter(|_| unit.is_cut());
            let account = trim.and_then(|trim| trim.account).unwrap_or_else(|| accounts[vc].of(&unit));
            charged[account.queue()] += port.size_of(&unit);
            account.other().iter().for_each(|&other| charged[other] += port.size_of(&unit));
        }
    }
    charged
}

fn flows(audit: &mut Audit, scenario: &Scenario, outcome: &Outcome) {
    for (spec, flow) in scenario.flows.iter().zip(&outcome.flows) {
        let Some(DataProgress { sent, delivered, acked }) = flow.progress else { continue };
        audit.check(acked <= delivered && delivered <= sent, || {
            format!("flow {}: {sent} bytes sent, {delivered} delivered, {acked} acknowledged", spec.name)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine;
    use crate::metrics::port::Counters;
    use crate::scenario;
    use crate::unit::{Flags, Unit};
    use crate::units::Time;
    use crate::units::ids::{CircuitId, FlowId, LineId, PortVc};
    use crate::verdict::Reason;

    /// Two files through a buffer that is too small for both.
    const FILES: &str = r#"
        name = "files"
        duration = "4 s"
        [topology]
        template = "dumbbell"
        sources = 2
        access = { rate = "149.76 Mb/s", delay = "100 us" }
        bottleneck = { rate = "149.76 Mb/s", delay = "100 us" }
        egress = { rate = "149.76 Mb/s", delay = "100 us" }
        [port.bottleneck]
        buffer = "60 cells"
        [flows]
        source = { kind = "file", size = "200 KB", off = "10 s" }
        transport = { kind = "tcp" }
    "#;

    const CELL: Unit =
        Unit { vc: CircuitId(0), frame: 0, identity: 0, index: 0, bytes: 53, hop: 0, flags: Flags(0) };

    /// Return the faults that an audit finds in a run that was tampered with.
    fn failures(text: &str, tamper: impl FnOnce(&Scenario, &mut Outcome)) -> String {
        let scenario = scenario::load(text, "audit.toml", &[]).unwrap();
        let mut outcome = engine::run(&scenario, false);
        tamper(&scenario, &mut outcome);
        audit(&scenario, &outcome).failures.join("; ")
    }

    fn line(scenario: &Scenario, name: &str) -> LineId {
        scenario.lines.position(|line| line.name == name).unwrap()
    }

    #[test]
    fn a_run_without_tampering_has_no_failures_although_buffers_were_full() {
        assert_eq!(failures(FILES, |_, _| {}), "");
    }

    #[test]
    fn a_unit_or_frame_too_many_at_a_port_is_found() {
        let found = |tamper: fn(&mut Counters)| {
            failures(FILES, |scenario, outcome| {
                tamper(outcome.network.ports[line(scenario, "bottleneck")].counters_mut());
            })
        };
        assert!(found(|port| port.units_in += 1).contains("in, but"));
        assert!(found(|port| port.units_out += 1).contains("in, but"));
        assert!(found(|port| port.lost(Reason::Overflow)).contains("in, but"));
        assert!(
            found(|port| port.frames_whole_out = port.frames_in + 1).contains("whole frames left, but only")
        );
        let above = found(|port| port.occupancy.change(Time(5_000_000_000_000), 0, 61));
        assert_eq!(above, "port bottleneck: 61 in a buffer of 60");
    }

    #[test]
    fn a_cell_in_the_books_that_is_not_queued_is_found() {
        let found = failures(FILES, |scenario, outcome| {
            let port = &mut outcome.network.ports[line(scenario, "bottleneck")];
            (0..2).for_each(|_| port.restock(CELL, PortVc(0), true)); // the second one takes the place of the first
        });
        assert!(found.contains("port bottleneck: the books say 2, circuits 2, queues 1"), "{found}");
    }

    #[test]
    fn a_unit_that_is_neither_received_nor_lost_nor_under_way_is_found() {
        let found = failures(FILES, |_, outcome| outcome.network.circuits[CircuitId(0)].lost(&CELL));
        assert!(found.starts_with("circuit ") && found.contains(" units sent, but "), "{found}");
    }

    #[test]
    fn a_mark_that_no_port_has_set_and_one_that_vanishes_are_found() {
        let marked = Unit { flags: Flags::CE, ..CELL };
        let forged = failures(FILES, |_, outcome| outcome.network.circuits[CircuitId(0)].lost(&marked));
        assert!(forged.contains("ports marked 0 units, but 1 have arrived or are lost"), "{forged}");
        let vanished = failures(FILES, |_, outcome| {
            outcome.network.ports[LineId(0)].counters_mut().marked(Time::ZERO, &CELL, Reason::Early);
        });
        assert_eq!(vanished, "ports marked 1 units, but 0 have arrived or are lost and 0 are in flight");
    }

    #[test]
    fn octets_that_were_never_sent_and_acknowledgements_for_what_has_not_come_are_found() {
        let found = |text: &str, forge: fn(&mut DataProgress)| {
            failures(text, |_, outcome| forge(outcome.flows[FlowId(0)].progress.as_mut().unwrap()))
        };
        let forged = found(FILES, |progress| progress.delivered += 1000);
        assert!(forged.ends_with(": 200000 bytes sent, 201000 delivered, 200000 acknowledged"), "{forged}");
        let greedy = FILES.replace(r#"kind = "file", size = "200 KB", off = "10 s""#, r#"kind = "greedy""#);
        let early = found(&greedy, |progress| progress.acked = progress.sent);
        assert!(early.contains(" bytes sent, "), "{early}");
    }
}
