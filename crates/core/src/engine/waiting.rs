//! Transfers that start when others have ended.
//!
//! # What it assumes
//! A transfer ends when its last octet has been acknowledged. On the fast engine those that wait for it begin at its own host, or after
//! a delay.
//!
//! # Why that is exact
//! It is the definition: a transfer whose last predecessor ends at an instant starts at this instant, after its delay. At
//! one host this is a timer that the host sets; a host that acts ahead of time meets its own timers in order. Hosts that wait for each
//! other do not act ahead of time (`packets/route.rs`): what they receive and their timers keep the order of the kernel.
//!
//! # What turns it off
//! A scenario without such transfers.

use std::sync::Arc;

use crate::host::flow::Flow;
use crate::scenario::model::Scenario;
use crate::units::ids::FlowId;
use crate::units::{Span, Time};
use crate::workload::order::Order;

/// For each transfer of a workload the transfers that it still waits for.
#[derive(Clone, Debug)]
pub(super) struct Waiting {
    order: Arc<Order>,
    /// The first transfer among all flows.
    first: usize,
    left: Vec<u32>,
    has_ended: Vec<bool>,
    delays: Arc<[Span]>,
}

impl Waiting {
    /// Build the state before the start; `None` if no transfer waits for another one.
    pub(super) fn new(scenario: &Scenario) -> Option<Waiting> {
        let workload = scenario.workload.as_ref()?;
        let order = workload.order.clone()?;
        let left = order.waits().to_vec();
        let delays =
            scenario.flows.as_slice()[workload.flows.clone()].iter().map(|flow| flow.start).collect();
        Some(Waiting { first: workload.flows.start, has_ended: vec![false; left.len()], left, delays, order })
    }

    /// Return the transfers that waited for this flow only, with their starts, if its transfer has just ended.
    pub(super) fn release(&mut self, flow: &Flow, now: Time) -> Vec<(FlowId, Time)> {
        let number = flow.number().index().checked_sub(self.first);
        let Some(number) = number.filter(|number| *number < self.left.len()) else {
            return Vec::new();
        };
        if self.has_ended[number] || !flow.has_transferred() {
            return Vec::new();
        }
        self.has_ended[number] = true;
        let mut released = Vec::new();
        for next in self.order.next(number).iter().map(|&next| next as usize) {
            self.left[next] -= 1;
            if self.left[next] == 0 {
                released.push((FlowId::new(self.first + next), now + self.delays[next]));
            }
        }
        released
    }
}
