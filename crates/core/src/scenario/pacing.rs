//! Paced senders: on which lines they send, and where they cannot be exact.

use std::collections::BTreeSet;

use super::model::{Flow, Scenario, Vc};
use crate::adaptation::Framing;
use crate::language::tree::{Fault, Node};
use crate::transport::Transport;
use crate::transport::tcp::pacer::{Burst, Settings};
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

/// Return why a flow cannot pace on its circuit, if that is so: the key that is wrong, and the message. `setter` is the congestion
/// control that sets its rate, if one does; `processing` says whether its host needs time for segments.
pub(super) fn misfit(
    vc: &Vc,
    first: &str,
    setter: Option<&str>,
    processing: bool,
) -> Option<(&'static str, String)> {
    let (key, must) = match setter {
        Some(control) => ("transport.congestion", format!("must not be {control:?}, which paces,")),
        None => ("transport.pacing", "must be false".to_string()),
    };
    if !matches!(vc.framing, Framing::Packet(_)) {
        let message = format!(
            "{must} where the line {first:?} carries cells, which leave one by one, so that packets would not be paced exactly; \
             set the medium of the route to \"packets\""
        );
        return Some((key, message));
    }
    let message = format!(
        "{must} where the host needs time for each segment, after which its distance is another one; set processing = \"0 s\""
    );
    processing.then_some((key, message))
}

/// Refuse a paced flow whose packets leave their host on several lines.
pub(super) fn check(scenario: &Scenario, root: &Node) -> Result<(), Fault> {
    let leaves_by_several = |flow: &&Flow| {
        let vc = &scenario.vcs[flow.vc];
        flow.pacing().is_some() && vc.routes().any(|route| route[0] != vc.path[0])
    };
    let Some(flow) = scenario.flows.iter().find(leaves_by_several) else { return Ok(()) };
    let stop =
        if flow.transport.pace_setter().is_none() { "set its transport.pacing = false, or" } else { "set" };
    let message = format!(
        "must leave a paced flow one line at its host, and the packets of the flow {:?} leave on several: {stop} routing = \"ecmp\"",
        flow.name
    );
    Err(root.fault_along("", "routing", message))
}

/// Say which senders pace and by which rate: a sentence for each size of bursts and each control that sets the rate.
pub fn sentences(scenario: &Scenario) -> Vec<String> {
    let mut found: Vec<(Paced<'_>, Vec<&str>)> = Vec::new();
    for flow in &scenario.flows {
        let Some(settings) = flow.pacing() else { continue };
        let paced = (settings, flow.transport.pace_setter());
        match found.iter_mut().find(|(other, _)| *other == paced) {
            Some((_, names)) => names.push(&flow.name),
            None => found.push((paced, vec![&flow.name])),
        }
    }
    found.iter().map(|(paced, names)| sentence(*paced, names)).collect()
}

/// How senders pace, and the congestion control that sets their rate, if one does.
type Paced<'a> = (&'a Settings, Option<&'static str>);

fn sentence((settings, setter): Paced<'_>, names: &[&str]) -> String {
    let (who, paces) = match names {
        [name] => (format!("the sender of the flow {name:?}"), "paces"),
        [first, .., last] => {
            (format!("the senders of {} flows, {first:?} to {last:?},", names.len()), "pace")
        }
        [] => unreachable!("a group has a flow"),
    };
    let burst = settings.burst.map(Burst::show);
    if let Some(control) = setter {
        let burst = burst.unwrap_or_else(|| "the size that it sets".to_string());
        return format!(
            "{who} {paces} at the rate of its congestion control, {control:?}; bursts of {burst}"
        );
    }
    format!(
        "{who} {paces} at 2 cwnd / srtt in slow start while cwnd is less than half of ssthresh, else at 1.2 cwnd / srtt, the first \
         window in 1 ms without a round trip; bursts of {}",
        burst.unwrap_or_else(|| "1 packet".to_string())
    )
}
