//! One side of a comparison: its states, and what it does with arrivals and at the end of a slot.

use pushout_core::memory::decide::{Decider, Policies};
use pushout_core::refused::Refused;

/// What a side keeps: a word for each port (or circuit), then words that belong to none.
pub(crate) type Words = Box<[u16]>;

/// A side of a comparison. What a step earns is the second part of its answer.
pub(crate) trait Side {
    /// Return the state in which all queues are empty.
    fn start(&self) -> Words;

    /// Return the state after an arrival at a port. `takes` says whether an optimum accepts it if it can; a policy decides
    /// itself.
    fn arrive(&mut self, state: &[u16], port: usize, takes: bool) -> (Words, u8);

    /// Return the state after each queue has sent.
    fn tick(&self, state: &[u16]) -> (Words, u8);

    /// Return the lengths of the queues.
    fn lengths(&self, state: &[u16]) -> Vec<u64>;
}

/// A memory that ports share: a word is the length of a port's queue. A packet counts when it is sent.
#[derive(Debug)]
pub(crate) struct Memory {
    ports: usize,
    decider: Decider,
}

impl Memory {
    /// Build a memory; the error says why its policies cannot work there.
    pub(crate) fn new(policies: &Policies, cells: u64, ports: usize) -> Result<Memory, Refused> {
        Ok(Memory { ports, decider: Decider::new(policies, cells, ports)? })
    }
}

impl Side for Memory {
    fn start(&self) -> Words {
        vec![0; self.ports].into()
    }

    fn arrive(&mut self, state: &[u16], port: usize, takes: bool) -> (Words, u8) {
        if !takes {
            return (state.into(), 0);
        }
        let decider = &mut self.decider;
        state.iter().enumerate().for_each(|(queue, &length)| decider.set_length(queue, length.into()));
        decider.arrive(port);
        ((0..self.ports).map(|queue| decider.length(queue) as u16).collect(), 0)
    }

    fn tick(&self, state: &[u16]) -> (Words, u8) {
        let packets = state.iter().filter(|&&length| length > 0).count();
        (state.iter().map(|length| length.saturating_sub(1)).collect(), packets as u8)
    }

    fn lengths(&self, state: &[u16]) -> Vec<u64> {
        state.iter().map(|&length| length.into()).collect()
    }
}
