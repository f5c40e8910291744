//! One side of a comparison as a table: its states, and where arrivals and the end of a slot lead from each.

use std::collections::HashMap;

use pushout_core::memory::decide::Decider;

use crate::symmetry::{Order, moved};
use crate::{Failure, Limit, Watch};

/// The table of a memory under its policies. State 0 has empty queues.
#[derive(Debug)]
pub(crate) struct Machine {
    ports: usize,
    /// The lengths of all queues, `ports` for each state.
    lengths: Vec<u16>,
    /// The state after an arrival, `ports` for each state.
    arrived: Vec<u32>,
    /// The state after each queue has sent a packet, and the number of packets.
    sent: Vec<(u32, u8)>,
    numbers: HashMap<Box<[u16]>, u32>,
}

impl Machine {
    /// Visit the states of a memory; fail if there are more than the limit allows. `decided` returns the queues after an
    /// arrival for a port.
    pub(crate) fn explore(
        mut decided: impl FnMut(&[u16], usize) -> Box<[u16]>,
        ports: usize,
        limit: Limit,
        watch: &Watch<'_>,
    ) -> Result<Machine, Failure> {
        let (lengths, arrived, sent, numbers) = (Vec::new(), Vec::new(), Vec::new(), HashMap::new());
        let mut machine = Machine { ports, lengths, arrived, sent, numbers };
        machine.number(vec![0; ports].into());
        let mut next = 0;
        while next < machine.len() {
            let before: Box<[u16]> = machine.of(next).into();
            for port in 0..ports {
                let after = decided(&before, port);
                let number = machine.number(after);
                machine.arrived.push(number);
            }
            let after = before.iter().map(|length| length.saturating_sub(1)).collect();
            let packets = before.iter().filter(|&&length| length > 0).count();
            let number = machine.number(after);
            machine.sent.push((number, packets as u8));
            limit.check(machine.len())?;
            next += 1;
            if next.is_multiple_of(1 << 14) {
                watch.check()?;
            }
        }
        Ok(machine)
    }

    /// Return the number of a state; a new state gets the next one.
    fn number(&mut self, state: Box<[u16]>) -> u32 {
        let next = self.len() as u32;
        if let Some(&number) = self.numbers.get(&state) {
            return number;
        }
        self.lengths.extend_from_slice(&state);
        self.numbers.insert(state, next);
        next
    }

    /// Return the number of states.
    pub(crate) fn len(&self) -> usize {
        self.lengths.len() / self.ports
    }

    /// Return the lengths of the queues in a state.
    pub(crate) fn of(&self, state: usize) -> &[u16] {
        &self.lengths[state * self.ports..][..self.ports]
    }

    /// Return the state after an arrival for a port.
    pub(crate) fn arrived(&self, state: usize, port: usize) -> usize {
        self.arrived[state * self.ports + port] as usize
    }

    /// Return the state after each queue has sent a packet, and the number of packets.
    pub(crate) fn sent(&self, state: usize) -> (usize, u8) {
        let (state, packets) = self.sent[state];
        (state as usize, packets)
    }

    /// Return the state in which ports have other places, for each state; `None` unless the policy decides alike there.
    pub(crate) fn moved(&self, order: &Order) -> Option<Vec<u32>> {
        let state_of = |state| self.numbers.get(&moved(self.of(state), order)).copied();
        let images: Vec<u32> = (0..self.len()).map(state_of).collect::<Option<_>>()?;
        let is_alike = |state: usize| {
            let image = images[state] as usize;
            (0..self.ports)
                .all(|port| images[self.arrived(state, port)] as usize == self.arrived(image, order[port]))
        };
        (0..self.len()).all(is_alike).then_some(images)
    }
}

/// Return the queues of a memory after an arrival for a port.
pub(crate) fn decided(decider: &mut Decider, before: &[u16], port: usize) -> Box<[u16]> {
    before.iter().enumerate().for_each(|(queue, &length)| decider.set_length(queue, length.into()));
    decider.arrive(port);
    (0..before.len()).map(|queue| decider.length(queue) as u16).collect()
}
