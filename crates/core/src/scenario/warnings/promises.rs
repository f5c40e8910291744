//! Warns of minimum rates that a scheduler cannot guarantee.

use super::of_ports;
use crate::scenario::contract::Passing;
use crate::scenario::model::Scenario;
use crate::scenario::warning::Warning;
use crate::scheduler::{self, wrr_mcr};

/// Warn of ports at which weighted round robin may give a circuit less than its MCR.
pub(super) fn broken(scenario: &Scenario, passing: &Passing) -> Option<Warning> {
    of_ports("promised-rates", scenario, passing, |line, context| match &line.port.scheduler {
        scheduler::Spec::WrrMcr(params) => wrr_mcr::broken(params, context)
            .map(|why| format!("wrr-mcr may not keep the promised rates: {why}")),
        _ => None,
    })
}
