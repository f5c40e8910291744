//! Warns of transfers that wait for others whose last acknowledgement is delayed.

use crate::scenario::model::Scenario;
use crate::scenario::warning::Warning;
use crate::transport;

/// Warn of steps (`after`) over TCP with delayed acknowledgements: a transfer is complete when the sender has the last
/// acknowledgement, which the receiver may keep until its timer ticks.
pub(super) fn delayed(scenario: &Scenario) -> Option<Warning> {
    scenario.order()?;
    let transport::Spec::Tcp(params) = &scenario.workload.as_ref()?.asked.transport else { return None };
    let message = format!(
        "transfers wait for others (after), and each step may take a delayed acknowledgement longer, up to {}: set \
         flows.transport.delayed_ack = false, or a shorter flows.transport.fast_timer",
        params.fast_timer
    );
    params.delayed_ack.then_some(Warning { code: "delayed-steps", message })
}
