//! Facts about a scenario that every engine uses.
//!
//! # What it assumes
//! The scenario has been checked.
//!
//! # Why that is exact
//! The facts follow from the scenario alone, so that no two engines can differ in them.

use std::collections::BTreeSet;

use crate::police;
use crate::scenario::model::{Line, Scenario};
use crate::units::Span;
use crate::units::ids::{IdVec, LineId};

/// Return the ports whose occupancy is sampled: those with a limited buffer.
///
/// Samples are taken at whole multiples of the scenario's interval, before anything that happens at that instant.
pub(super) fn sampled_ports(scenario: &Scenario) -> Vec<LineId> {
    scenario.lines.keys().filter(|&port| scenario.lines[port].is_sampled()).collect()
}

/// Return the time from the end of a unit's transmission to its arrival at the next port or host; if it changes, the shortest.
pub(super) fn latency(scenario: &Scenario, line: &Line) -> Span {
    line.delay.least() + scenario.nodes[line.to].latency
}

/// Return for every port whether a circuit is policed on arrival there.
pub(super) fn policed_ports(scenario: &Scenario) -> IdVec<LineId, bool> {
    let mut policed = IdVec::filled(false, scenario.lines.len());
    for flow in scenario.flows.iter().filter(|flow| flow.police.is_some()) {
        let ports = scenario.vcs[flow.vc].routes().filter_map(|path| path.get(usize::from(police::HOP)));
        ports.for_each(|&port| policed[port] = true);
    }
    policed
}

/// Return for every port whether a circuit is policed on arrival there whose packets may take other ports of their first
/// switch: its policer sees the arrivals at all of these ports in one order.
pub(super) fn policed_in_common(scenario: &Scenario) -> IdVec<LineId, bool> {
    let mut common = IdVec::filled(false, scenario.lines.len());
    for flow in scenario.flows.iter().filter(|flow| flow.police.is_some()) {
        let ports = scenario.vcs[flow.vc].routes().filter_map(|path| path.get(usize::from(police::HOP)));
        let ports: BTreeSet<LineId> = ports.copied().collect();
        ports.iter().filter(|_| ports.len() > 1).for_each(|&port| common[port] = true);
    }
    common
}
