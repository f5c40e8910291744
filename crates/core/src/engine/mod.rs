//! Engines: they compute a run from its first instant to its last.
//!
//! Four modules: `reference/` is the definition, one event for each unit and line. `cells/` passes trains of cells
//! through port processes. `packets/` passes packets one by one. `exact/` has the spacing and the accounting that
//! both use. [`chosen`] says which engine runs a scenario; all give the same report.
//!
//! # What it assumes
//! A scenario that has been checked, and a network before its start.
//!
//! # What it skips
//! The modules that a scenario does not need: its links and policies determine which one runs it.
//!
//! # Why that is exact
//! Each engine keeps the order of events that `kernel` documents, for every port and every host.
//!
//! # What turns it off
//! `engine = "reference"` in a scenario, lines with credits, transfers that start when one of another host ends, without a delay, or a network
//! in which no cells can travel in trains.
//!
//! # What it saves
//! With the reference engine W1-cell takes 21 times as long, 1000 flows of packets 5 times.

pub mod reference;

pub mod offer;

mod cells;

mod packets;

mod exact;

#[cfg(test)]
mod draws;

mod forms;

mod timers;

mod waiting;

mod outcome;

mod questions;

mod coupling;

pub mod floor;

pub use outcome::{LossRecord, Outcome, Stopwatch, Work};

use crate::rng;
use crate::scenario::model::{EngineKind, Scenario};
use crate::trace::TracedPackets;
use crate::units::Span;

/// Run a scenario on the engine that it names; with `log` every loss is recorded.
pub fn run(scenario: &Scenario, log: bool) -> Outcome {
    run_timed(scenario, log, &mut Stopwatch::default())
}

/// Run the scenario like `run`, and measure the time of the event loop.
pub fn run_timed(scenario: &Scenario, log: bool, watch: &mut Stopwatch<'_>) -> Outcome {
    let mut run = |log: bool| match chosen(scenario).0 {
        EngineKind::Fast if packets::covers(scenario) => packets::run(scenario, log, watch),
        EngineKind::Fast => cells::run(scenario, log, watch),
        EngineKind::Reference => reference::run(scenario, log, watch),
    };
    completed(scenario, log, |log| (run(log), ())).0
}

/// Run the scenario like `run_timed`, and record packets on the engine that [`recording`] says.
pub fn run_recorded(
    scenario: &Scenario,
    log: bool,
    packets: TracedPackets,
    watch: &mut Stopwatch<'_>,
) -> (Outcome, TracedPackets) {
    completed(scenario, log, |log| match recording(scenario) {
        EngineKind::Fast => packets::run_recorded(scenario, log, packets, watch),
        EngineKind::Reference => reference::run_traced(scenario, log, packets, watch),
    })
}

/// Return the engine that records the packets of a scenario: the one that runs it, but the reference engine for trains of
/// cells.
pub fn recording(scenario: &Scenario) -> EngineKind {
    if packets::covers(scenario) { chosen(scenario).0 } else { EngineKind::Reference }
}

/// Complete the outcome of a run, which records losses if its argument says so.
fn completed<T>(scenario: &Scenario, log: bool, run: impl FnOnce(bool) -> (Outcome, T)) -> (Outcome, T) {
    let log = log || !scenario.measure.losses.is_empty();
    let ((mut outcome, recorded), has_drawn) = rng::watching(|| run(log));
    outcome.work.draws = has_drawn || !scenario.drawings.is_empty();
    outcome.losses.sort_by_key(|loss| (loss.time, loss.port)); // stable: each port keeps its order
    (outcome, recorded)
}

/// Return the engine that runs a scenario and, if the scenario names another one, the reason.
pub fn chosen(scenario: &Scenario) -> (EngineKind, Option<&'static str>) {
    match scenario.engine {
        EngineKind::Fast if scenario.order().is_some() && !packets::covers(scenario) => {
            (EngineKind::Reference, Some("transfers over cells wait for others"))
        }
        EngineKind::Fast if !packets::covers(scenario) && scenario.is_paced() => {
            (EngineKind::Reference, Some("senders pace in a network that also has cells"))
        }
        EngineKind::Fast if scenario.waits_across_hosts().any(|[_, waiting]| waiting.start == Span::ZERO) => {
            (
                EngineKind::Reference,
                Some("a transfer starts at the instant at which one of another host ends; after_delay is 0"),
            )
        }
        EngineKind::Fast
            if !packets::covers(scenario) && scenario.lines.iter().any(|line| !line.is_steady()) =>
        {
            (EngineKind::Reference, Some("a line changes in a network that also has cells"))
        }
        EngineKind::Fast if scenario.lines.iter().any(|line| line.rate.sends_at_once()) => {
            (EngineKind::Reference, Some("packets may leave together, at the opportunities of a line"))
        }
        EngineKind::Fast if scenario.lines.iter().any(|line| !line.keeps_its_delay()) => {
            (EngineKind::Reference, Some("the delay of a line changes, or a link repeats packets"))
        }
        EngineKind::Fast if !scenario.reorders.is_empty() => {
            (EngineKind::Reference, Some("packets pass others behind a line, by intent"))
        }
        EngineKind::Fast if scenario.lines.iter().any(|line| line.port.gates.credit.is_some()) => {
            (EngineKind::Reference, Some("with credits a port depends on its neighbours at every unit"))
        }
        EngineKind::Fast if !packets::covers(scenario) && !scenario.memories.is_empty() => {
            (EngineKind::Reference, Some("ports that share a memory depend on each other at every cell"))
        }
        EngineKind::Fast if !packets::covers(scenario) && scenario.has_timed_gates() => {
            (EngineKind::Reference, Some("gates open by time, so a cell may wait before a line that is free"))
        }
        EngineKind::Fast
            if !packets::covers(scenario)
                && scenario.lines.iter().any(|line| line.port.gates.police.is_some()) =>
        {
            (EngineKind::Reference, Some("a port polices cells, so they travel one by one"))
        }
        EngineKind::Fast if !packets::covers(scenario) && !scenario.measure.state.ports.is_empty() => {
            (EngineKind::Reference, Some("the state of a port is read, so its policies see every cell"))
        }
        EngineKind::Fast if !packets::covers(scenario) && !scenario.measure.sojourn.is_empty() => {
            (EngineKind::Reference, Some("the wait of every cell at a port is measured"))
        }
        EngineKind::Fast if !packets::covers(scenario) && !scenario.losses.is_empty() => {
            (EngineKind::Reference, Some("a link loses cells by intent, so they travel one by one"))
        }
        EngineKind::Fast
            if !packets::covers(scenario) && scenario.lines.iter().any(|line| line.port.lets_overtake()) =>
        {
            (EngineKind::Reference, Some("packets of one circuit may overtake each other at a port"))
        }
        EngineKind::Fast if !packets::covers(scenario) && cells::topology::skips_nothing(scenario) => {
            (EngineKind::Reference, Some("all cells are policed or coded, and a policy is asked about each"))
        }
        engine => (engine, None),
    }
}

#[cfg(test)]
mod tests {
    use super::questions::policed_ports;
    use super::*;
    use crate::scenario::load;

    fn scenario(text: &str, sets: &[&str]) -> Scenario {
        load(text, "test.toml", &sets.iter().map(ToString::to_string).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn networks_with_credits_run_on_the_reference_engine_for_a_reason() {
        let credits = scenario(include_str!("../../../../scenarios/multi-hop-fcvc.toml"), &[]);
        let (engine, why) = chosen(&credits);
        assert_eq!(engine, EngineKind::Reference);
        assert!(why.is_some_and(|why| why.contains("credits")));
    }

    #[test]
    fn transfers_that_wait_run_on_the_fast_engine_unless_another_host_starts_them_at_once() {
        let list = |second: &str, start: u32| {
            let hosts =
                "host = { rate = '1 Gb/s', delay = '1 us' }, fabric = { rate = '1 Gb/s', delay = '1 us' }";
            format!(
                "name = 'list'
                duration = '1 ms'
                adaptation = {{ kind = 'packet' }}
                topology = {{ template = 'leaf-spine', leaves = 2, spines = 1, hosts = 1, {hosts} }}
                flows = {{ transport = {{ kind = 'tcp' }} }}
                [workload]
                kind = 'list'
                data = \"from,to,bytes,start,name,after\\nhost1,host2,1000,0,a,\\n{second},1000,{start},b,a\\n\""
            )
        };
        assert_eq!(chosen(&scenario(&list("host1,host2", 0), &[])), (EngineKind::Fast, None));
        let (engine, why) = chosen(&scenario(&list("host2,host1", 0), &[]));
        assert_eq!(engine, EngineKind::Reference);
        assert!(why.is_some_and(|why| why.contains("another host")));
        assert_eq!(chosen(&scenario(&list("host2,host1", 1), &[])), (EngineKind::Fast, None));
        let delayed = scenario(&list("host2,host1", 0), &["workload.after_delay='1 ps'"]);
        assert_eq!(chosen(&delayed), (EngineKind::Fast, None));
    }

    #[test]
    fn networks_in_which_nothing_can_be_skipped_run_on_the_reference_engine() {
        let text = include_str!("../../../../scenarios/gpj.toml");
        assert_eq!(chosen(&scenario(text, &[])).0, EngineKind::Reference);
        let tail_drop = "port.trunk.admission={policy='tail-drop', clp_threshold='80 %'}";
        assert_eq!(chosen(&scenario(text, &[tail_drop])), (EngineKind::Fast, None));
    }

    #[test]
    fn other_networks_run_on_the_engine_that_they_name() {
        let text = include_str!("../../../../scenarios/w1-cell.toml");
        assert_eq!(chosen(&scenario(text, &[])), (EngineKind::Fast, None));
        assert_eq!(chosen(&scenario(text, &["engine='reference'"])), (EngineKind::Reference, None));
    }

    #[test]
    fn a_circuit_is_policed_at_the_second_port_of_its_route() {
        let policed = "flow.flow1.police={kind='random', probability=0.1}";
        let scenario = scenario(include_str!("../../../../scenarios/w1-packet.toml"), &[policed]);
        let ports = policed_ports(&scenario);
        let named = scenario.lines.iter().zip(&ports).filter(|(_, is_policed)| **is_policed);
        assert_eq!(named.map(|(line, _)| line.name.as_str()).collect::<Vec<_>>(), ["bottleneck"]);
    }
}
