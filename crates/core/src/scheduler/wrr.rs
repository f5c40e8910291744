//! # Source
//! M. Katevenis, S. Sidiropoulos and C. Courcoubetis, "Weighted round-robin cell multiplexing in a general-purpose ATM switch chip",
//! IEEE Journal on Selected Areas in Communications 9(8), 1991; the scheduler "WRR" of switches with traffic classes.
//!
//! # Idea
//! Queues that are not empty are visited in turn. At a visit a queue sends as many packets as its weight says, or fewer if it
//! becomes empty.
//!
//! # Parameters
//! Weights are whole numbers of packets: those of flows (`weight`), or of sections `[queue.NAME]` where each class has a queue
//! (`queues`).
//!
//! # Differences from the paper
//! The paper spreads the services of a queue evenly over a round; here they follow each other, as in most switches. A queue that
//! becomes active goes to the end of the list. A packet that the admission policy discards at the head costs the queue nothing.
//!
//! # Complexity
//! Constant per packet; a number and a place in the list per queue.

use super::{Context, QueueFor, Queues, Scheduler, drr};
use crate::metrics::state::Figure;
use crate::refused::{Refused, unfit};
use crate::section;
use crate::units::Time;
use crate::units::ids::{IdVec, PortVc, QueueId};

section! {
    /// Serve queues in turn, each as many packets as its weight says.
    pub struct Params {
        /// What has a queue of its own.
        pub queues: QueueFor = QueueFor::Circuit,
    }
}

/// How this scheduler divides units into queues.
pub const QUEUES: Queues = Queues::PerCircuit;

/// Whether this scheduler counts octets.
pub const COUNTS_OCTETS: bool = true; // it counts packets that are sent, which the port reports with their octets

/// Weighted round robin at one port: deficit round robin in which each packet costs one.
#[derive(Clone, Debug)]
pub struct Policy {
    visits: drr::Policy,
}

impl Policy {
    /// Build the scheduler of one port; the error says which weight cannot be used.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        let division = params.queues.divide(context);
        let weights = || division.queues.iter().map(|terms| terms.weight);
        if let Some(weight) = weights().find(|weight| libm::floor(*weight) != *weight || *weight < 1.0) {
            return unfit(format!(
                "counts packets, so that a weight must be a whole number from 1 on, not {weight}; the scheduler \"drr\" takes any"
            ));
        }
        Ok(Policy {
            visits: drr::Policy::visiting(weights().map(|weight| weight as u64).collect(), division),
        })
    }
}

impl Scheduler for Policy {
    fn joined(&mut self, queue: QueueId) {
        self.visits.joined(queue);
    }

    fn left(&mut self, queue: QueueId, empty: bool) {
        self.visits.left(queue, empty);
    }

    fn state(&self) -> Vec<Figure> {
        self.visits.state()
    }

    fn next(&mut self, now: Time, may_send: &mut dyn FnMut(QueueId) -> bool) -> Option<QueueId> {
        self.visits.next_by_size(now, may_send, &|_| 1)
    }

    fn turn_by_size(&mut self, now: Time, _octets: &dyn Fn(QueueId) -> u64) -> Option<QueueId> {
        self.visits.turn_by_size(now, &|_| 1)
    }

    fn sent(&mut self, queue: QueueId, _octets: u64) {
        self.visits.sent(queue, 1);
    }

    fn places(&self) -> IdVec<PortVc, QueueId> {
        self.visits.places()
    }

    fn lowered(&self) -> Option<QueueId> {
        self.visits.lowered()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Bench, contracts};
    use super::*;
    use crate::units::ids::IdSlice;

    fn with_weights<T>(weights: &[f64], work: impl FnOnce(&Context<'_>) -> T) -> T {
        let mut contracts = contracts(&vec![0; weights.len()]);
        contracts.iter_mut().zip(weights).for_each(|(contract, &weight)| contract.weight = weight);
        work(&Context { contracts: IdSlice::new(&contracts), ..Context::alone(100, 0) })
    }

    /// Serve packets as a port does, which reports each one that it sends.
    fn serve(bench: &mut Bench<Policy>, packets: usize) -> Vec<usize> {
        let mut served = Vec::new();
        for _ in 0..packets {
            let Some(queue) = bench.policy.turn(bench.now) else { break };
            bench.push_out(queue);
            bench.policy.sent(queue, 1500);
            served.push(queue.index());
        }
        served
    }

    #[test]
    fn a_visit_sends_as_many_packets_as_the_weight_says() {
        with_weights(&[1.0, 3.0, 2.0], |context| {
            let mut bench =
                Bench::new(context, |context| Policy::new(&Params { queues: QueueFor::Circuit }, context));
            bench.join(&[0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2]);
            assert_eq!(serve(&mut bench, 11), [0, 1, 1, 1, 2, 2, 0, 1, 1, 2, 0]);
        });
    }

    #[test]
    fn weights_are_whole_numbers() {
        for weight in [0.5, 1.5] {
            let refused = with_weights(&[1.0, weight], |context| {
                Policy::new(&Params { queues: QueueFor::Circuit }, context).unwrap_err().why
            });
            assert!(
                refused.contains(&format!("must be a whole number from 1 on, not {weight}")),
                "{refused}"
            );
        }
    }
}
