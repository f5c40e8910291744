//! Warnings after a run: losses of classes that must lose nothing, and ports that pause each other.

use crate::engine::Outcome;
use crate::link::port::Port;
use crate::memory::Share;
use crate::network::PauseCycle;
use crate::scenario::Warning;
use crate::scenario::model::Scenario;
use crate::units::Time;
use crate::verdict::Reason;

/// Return the warnings about the results of a run.
pub(super) fn warnings(scenario: &Scenario, outcome: &Outcome) -> Vec<Warning> {
    lossless_drop(scenario, outcome).into_iter().chain(pause_cycle(scenario, outcome)).collect()
}

/// Return the packets that a port lost of classes that must lose nothing.
pub(super) fn lost_at(port: &Port) -> u64 {
    port.share().map_or(0, Share::lossless_drop)
}

fn lossless_drop(scenario: &Scenario, outcome: &Outcome) -> Option<Warning> {
    let ports = scenario.lines.iter().zip(&outcome.network.ports);
    let mut losing = ports.filter(|(_, port)| lost_at(port) > 0);
    let (line, port) = losing.next()?;
    let others = match losing.count() {
        0 => String::new(),
        others => format!(" ({others} other ports likewise)"),
    };
    let remedy = match port.counters().lost_for(Reason::Early) + port.counters().lost_for(Reason::Random) {
        0 => "they need more headroom, see pushout explain".to_string(),
        _ => format!(
            "its policy {} discards packets of every class: let it mark (action = \"mark\", and ecn = true in the transport of flows), or \
             take it from this port",
            line.port.admission.name()
        ),
    };
    let message = format!(
        "port {:?}: {} packets of classes that pause were lost{others}; {remedy}",
        line.name,
        lost_at(port)
    );
    Some(Warning { code: "lossless-drop", message })
}

fn pause_cycle(scenario: &Scenario, outcome: &Outcome) -> Option<Warning> {
    let cycle = outcome.network.pause_cycle.as_ref()?;
    let PauseCycle { since, class, ports } = cycle;
    let names: Vec<&str> = ports.iter().map(|&port| scenario.lines[port].name.as_str()).collect();
    let (class, _) = &scenario.sections.queues.0[*class as usize];
    let end = match outcome.network.is_closed(cycle) {
        true => "and still do at the end: a deadlock",
        false => "and went on later",
    };
    let message = format!(
        "from {} s on the ports {} paused each other in a cycle for the class {class:?}, {end}; choose routes without cycles",
        since.since(Time::ZERO).as_secs_f64(),
        names.join(", ")
    );
    Some(Warning { code: "pause-cycle", message })
}
