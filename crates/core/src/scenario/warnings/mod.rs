//! Warnings: settings that are valid but may mislead, reported before a run and in its report.

mod cliff;

mod clocks;

mod growth;

mod idle;

mod late;

mod phases;

mod promises;

mod routes;

mod steps;

mod unmarked;

mod vacuous;

use super::contract::{Passing, context, contracts, passing_circuits};
use super::flows::Choice;
use super::model::{Line, Scenario};
use super::warning::Warning;
use super::{credits, headroom};
use crate::buffer::context::Context;
use crate::units::ids::{CircuitId, IdSlice, PortVc};

/// A checked scenario, with the findings from which warnings are made.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The scenario.
    pub scenario: Scenario,
    /// A choice between equally short routes that the scenario leaves open.
    pub(super) choice: Option<Choice>,
    /// Keys of `[flows]` that each flow replaces.
    pub(super) replaced: Vec<String>,
}

impl Checked {
    /// Return the warnings about valid input that may mislead.
    pub fn warnings(&self) -> Vec<Warning> {
        warnings(self)
    }
}

/// Return all warnings about a scenario.
fn warnings(checked: &Checked) -> Vec<Warning> {
    let Checked { scenario, choice, replaced } = checked;
    let passing = &passing_circuits(scenario);
    let routes = choice.iter().map(routes::equal);
    let ports = [clocks::samples(scenario), clocks::ticks(scenario, passing)];
    let others = [
        growth::warning(scenario),
        idle::classes(scenario),
        idle::defaults(replaced),
        late::transfers(scenario),
        late::steps(scenario),
        promises::broken(scenario, passing),
        phases::captured(scenario, passing),
        cliff::beyond(scenario, passing),
        steps::delayed(scenario),
        unmarked::prague(scenario),
        vacuous::values(scenario, passing),
    ];
    let routes = routes.chain(headroom::warning(scenario)).chain(credits::warning(scenario, passing));
    routes.chain(ports.into_iter().chain(others).flatten()).collect()
}

/// Join findings about several ports to one warning about the first port.
fn of_ports(
    code: &'static str,
    scenario: &Scenario,
    passing: &Passing,
    finding: impl Fn(&Line, &Context<'_>) -> Option<String>,
) -> Option<Warning> {
    let of_port = |(line, circuits): (&Line, IdSlice<'_, PortVc, CircuitId>)| {
        let contracts = contracts(scenario, line, circuits);
        finding(line, &context(scenario, line, &contracts))
            .map(|what| format!("port {:?}: {what}", line.name))
    };
    let mut messages = scenario.lines.iter().zip(passing.iter()).filter_map(of_port);
    let first = messages.next()?;
    let message = match messages.count() {
        0 => first,
        1 => format!("{first} (1 other port likewise)"),
        others => format!("{first} ({others} other ports likewise)"),
    };
    Some(Warning { code, message })
}
