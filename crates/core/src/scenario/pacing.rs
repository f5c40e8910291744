//! Paced senders: on which lines they send, and where they cannot be exact.

use std::collections::BTreeSet;

use super::model::{Flow, Scenario, Vc};
use crate::adaptation::Framing;
use crate::language::tree::{Fault, Node};
use crate::transport::Transport;
use crate::transport::tcp::pacer::Settings;
use crate::units::ids::{FlowId, LineId};

impl Flow {
    /// Return how the sender of the flow paces, if it does.
    pub(crate) fn pacing(&self) -> Option<&Settings> {
        self.transport.pacing()
    }
}

impl Scenario {
    /// Return whether any sender paces.
    pub(crate) fn is_paced(&self) -> bool {
        self.flows.iter().any(|flow| flow.pacing().is_some())
    }

    /// Return the line of the sending host on which a flow paces, if it does.
    pub(crate) fn paced_line(&self, flow: FlowId) -> Option<LineId> {
        let flow = &self.flows[flow];
        flow.pacing().map(|_| self.vcs[flow.vc].path[0])
    }

    /// Return the lines of hosts on which flows pace, in the order of the scenario.
    pub(crate) fn paced_lines(&self) -> Vec<LineId> {
        let lines: BTreeSet<LineId> = self.flows.keys().filter_map(|flow| self.paced_line(flow)).collect();
        lines.into_iter().collect()
    }
}

/// Return why a flow cannot pace on its circuit, if that is so; `processing` says whether its host needs time for segments.
pub(super) fn misfit(vc: &Vc, first: &str, processing: bool) -> Option<String> {
    if !matches!(vc.framing, Framing::Packet(_)) {
        return Some(format!(
            "must be false where the line {first:?} carries cells, which leave one by one, so that packets would not be paced exactly; \
             set the medium of the route to \"packets\""
        ));
    }
    processing.then(|| {
        "must be false where the host needs time for each segment, after which its distance is another one; set processing = \"0 s\""
            .to_string()
    })
}

/// Refuse a paced flow whose packets leave their host on several lines.
pub(super) fn check(scenario: &Scenario, root: &Node) -> Result<(), Fault> {
    let leaves_by_several = |flow: &&Flow| {
        let vc = &scenario.vcs[flow.vc];
        flow.pacing().is_some() && vc.routes().any(|route| route[0] != vc.path[0])
    };
    let Some(flow) = scenario.flows.iter().find(leaves_by_several) else { return Ok(()) };
    let message = format!(
        "must leave a paced flow one line at its host, and the packets of the flow {:?} leave on several: set its transport.pacing = \
         false, or routing = \"ecmp\"",
        flow.name
    );
    Err(root.fault_along("", "routing", message))
}

/// Say which senders pace and by which rate: a sentence for each size of bursts.
pub fn sentences(scenario: &Scenario) -> Vec<String> {
    let mut found: Vec<(&Settings, Vec<&str>)> = Vec::new();
    for flow in &scenario.flows {
        let Some(settings) = flow.pacing() else { continue };
        match found.iter_mut().find(|(other, _)| *other == settings) {
            Some((_, names)) => names.push(&flow.name),
            None => found.push((settings, vec![&flow.name])),
        }
    }
    found.iter().map(|(settings, names)| sentence(settings, names)).collect()
}

fn sentence(settings: &Settings, names: &[&str]) -> String {
    let (who, paces) = match names {
        [name] => (format!("the sender of the flow {name:?}"), "paces"),
        [first, .., last] => {
            (format!("the senders of {} flows, {first:?} to {last:?},", names.len()), "pace")
        }
        [] => unreachable!("a group has a flow"),
    };
    format!(
        "{who} {paces} at 2 cwnd / srtt in slow start while cwnd is less than half of ssthresh, else at 1.2 cwnd / srtt, the first \
         window in 1 ms without a round trip; bursts of {}",
        settings.burst.show()
    )
}
