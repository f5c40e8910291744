//! The longest delay of a packet, in slots, over all inputs.
//!
//! A queue sends one packet a slot in the order of arrival, so that a packet with k packets in its queue, itself included, leaves at the
//! end of the k-th slot. The longest delay is therefore the longest queue among all states of the policy, which are visited; an
//! input that leads there, and then has no arrivals, attains it.

use serde_json::{Value as Json, json};

use crate::never::{Example, Visited};
use crate::{Failure, Need, Question, Watch};

/// The longest delay, with an input that attains it.
#[derive(Clone, Debug, PartialEq)]
pub struct Delay {
    /// Slots from the arrival of the packet to the end of its transmission.
    pub slots: u64,
    /// States of the policy that an input can reach; all were visited.
    pub states: usize,
    /// What the search could need, as announced.
    pub need: Need,
    /// An input with the fewest arrivals and slots that attains the delay.
    pub example: Example,
}

impl Question {
    /// Find the longest delay of a packet, and the input that shows it.
    pub fn delay(&self, watch: Watch<'_>) -> Result<Delay, Failure> {
        let Visited { policy, machine, need } = self.visit(watch)?;
        let longest = |state: usize| policy.lengths(machine.words(state)).into_iter().max().unwrap_or(0);
        let slots = (0..machine.len()).map(longest).max().unwrap_or(0);
        // the order of the states is that of their distances
        let state =
            (0..machine.len()).find(|&state| longest(state) == slots).expect("one state is the largest");
        let example = self.played(machine.way(state), |_, _| ())?;
        let attained = example.played.iter().flatten().copied().max().unwrap_or(0);
        if attained != slots {
            return Err(Failure::Certificate("lower"));
        }
        Ok(Delay { slots, states: machine.len(), need, example })
    }
}

impl Delay {
    /// Return the answer as a document.
    pub fn document(&self, question: &Question) -> Json {
        json!({
            "policy": question.name(),
            "policies": question.policies(),
            "ports": question.ports,
            "frames": question.frames(),
            "memory": question.cells,
            "objective": "delay",
            "delay_slots": self.slots,
            "proved": true,
            "states": self.states,
            "most_states": self.need.states as u64,
            "memory_mb": self.need.megabytes() as u64,
            "policy_count": self.example.sent,
            "lost_count": self.example.lost,
            "input": self.example.document(),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::{GO_ON, LQD, dt, question};

    #[test]
    fn the_longest_delay_is_the_longest_queue() {
        let delay = |policy: &str, ports, cells| question(policy, ports, cells).delay(GO_ON).unwrap();
        for (policy, cells, slots) in [("{}", 8, 8), (LQD, 8, 8), (&dt(1.0), 8, 4), (&dt(0.5), 9, 3)] {
            let found = delay(policy, 2, cells);
            assert_eq!(found.slots, slots, "{policy}");
            let last = found.example.input.iter().rposition(|slot| !slot.is_empty()).unwrap();
            assert_eq!(found.example.played.len() - last, slots as usize, "the last packet leaves then");
        }
    }
}
