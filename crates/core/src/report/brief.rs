//! Listing of a report: everything, or what fits on a screen, so that runs of many flows are reported at once.

use serde_json::{Value as Json, json};

use super::asked_circuits;
use crate::engine::Outcome;
use crate::scenario::model::{Line, Scenario};
use crate::units::ids::{CircuitId, FlowId, LineId};
use crate::verdict::Reason;

/// The flows, ports and circuits of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Listing {
    /// List all flows, ports and circuits.
    #[default]
    All,
    /// List the first flows, the ports that lost, marked or often queued units, and no circuits; the key `omitted`
    /// counts the other flows and ports.
    Brief {
        /// Number of flows.
        flows: usize,
    },
}

/// For each unit in which a port measures its occupancy, the mean from which on the port counts as often queueing:
/// one cell, or one full packet.
pub const WAITING: [(&str, f64); 4] =
    [("cells", 1.0), ("packets", 1.0), ("bytes", 1500.0), ("memory cells", 6.0)];

/// The flows and ports that a report lists, by number.
pub(super) struct Listed {
    pub(super) flows: Vec<FlowId>,
    pub(super) ports: Vec<LineId>,
    pub(super) circuits: Vec<CircuitId>,
    /// The report's entry `omitted`: the numbers of flows and ports left out; `None` for a full listing.
    pub(super) omitted: Option<Json>,
}

impl Listed {
    /// Choose the flows and ports to list; `asked` are the flows that the scenario names.
    pub(super) fn new(listing: Listing, scenario: &Scenario, outcome: &Outcome, asked: &[FlowId]) -> Listed {
        let all = || scenario.lines.keys();
        let Listing::Brief { flows } = listing else {
            let (ports, circuits) = (all().collect(), asked_circuits(scenario));
            return Listed { flows: asked.to_vec(), ports, circuits, omitted: None };
        };
        let ports: Vec<LineId> =
            all().filter(|&port| is_busy(&scenario.lines[port], outcome, port)).collect();
        let flows = asked[..flows.min(asked.len())].to_vec();
        let omitted =
            json!({ "flows": asked.len() - flows.len(), "ports": scenario.lines.len() - ports.len() });
        Listed { flows, ports, circuits: Vec::new(), omitted: Some(omitted) }
    }
}

/// Return whether a port lost or marked a unit, or often queued one.
fn is_busy(line: &Line, outcome: &Outcome, port: LineId) -> bool {
    let counters = outcome.network.ports[port].counters();
    let decided = |reason| counters.lost_for(reason) + counters.marked_for(reason) > 0;
    let word = line.port.measure.word();
    let least = WAITING.iter().find(|(unit, _)| *unit == word).map_or(0.0, |(_, least)| *least);
    Reason::ALL.into_iter().any(decided) || counters.occupancy.mean() >= least
}
