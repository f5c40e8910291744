//! One side of a comparison as a table: its states, and where arrivals and the end of a slot lead from each.

use std::collections::HashMap;

use crate::side::{Side, Words};
use crate::symmetry::{Order, moved};
use crate::{Failure, Limit, Watch};

/// States between two looks at the caller's wish to stop.
const BETWEEN: usize = 1 << 14;

/// A state, and what the step to it earns.
type Next = (u32, u8);

/// The table of a side. State 0 has empty queues.
#[derive(Debug)]
pub(crate) struct Machine {
    ports: usize,
    /// The words of each state.
    states: Vec<Words>,
    numbers: HashMap<Words, u32>,
    /// What follows an arrival that the side takes, and one that it refuses, `ports` for each state.
    taken: Vec<Next>,
    refused: Vec<Next>,
    /// What follows the end of a slot.
    ticked: Vec<Next>,
}

impl Machine {
    /// Visit the states of a side, an optimum if it `may_refuse` arrivals; fail if there are more than the limit allows.
    pub(crate) fn explore(
        side: &mut dyn Side,
        ports: usize,
        may_refuse: bool,
        limit: Limit,
        watch: &Watch<'_>,
    ) -> Result<Machine, Failure> {
        let (states, numbers) = (Vec::new(), HashMap::new());
        let (taken, refused, ticked) = (Vec::new(), Vec::new(), Vec::new());
        let mut machine = Machine { ports, states, numbers, taken, refused, ticked };
        machine.number(side.start());
        while machine.ticked.len() < machine.len() {
            let before = machine.states[machine.ticked.len()].clone();
            for port in 0..ports {
                let taken = machine.next(side.arrive(&before, port, true));
                let refused =
                    if may_refuse { machine.next(side.arrive(&before, port, false)) } else { taken };
                machine.taken.push(taken);
                machine.refused.push(refused);
            }
            let ticked = machine.next(side.tick(&before));
            machine.ticked.push(ticked);
            limit.check(machine.len())?;
            if machine.ticked.len().is_multiple_of(BETWEEN) {
                watch.check()?;
            }
        }
        Ok(machine)
    }

    fn next(&mut self, (state, earned): (Words, u8)) -> Next {
        (self.number(state), earned)
    }

    /// Return the number of a state; a new state gets the next one.
    fn number(&mut self, state: Words) -> u32 {
        let next = self.len() as u32;
        if let Some(&number) = self.numbers.get(&state) {
            return number;
        }
        self.states.push(state.clone());
        self.numbers.insert(state, next);
        next
    }

    /// Return the number of states.
    pub(crate) fn len(&self) -> usize {
        self.states.len()
    }

    /// Return the words of a state.
    #[cfg(test)]
    pub(crate) fn words(&self, state: usize) -> &[u16] {
        &self.states[state]
    }

    /// Return the state after an arrival for a port, which the side takes or refuses, and what it earns.
    pub(crate) fn arrived(&self, state: usize, port: usize, takes: bool) -> (usize, u8) {
        let table = if takes { &self.taken } else { &self.refused };
        let (state, earned) = table[state * self.ports + port];
        (state as usize, earned)
    }

    /// Return the state after each queue has sent, and what that earns.
    pub(crate) fn ticked(&self, state: usize) -> (usize, u8) {
        let (state, earned) = self.ticked[state];
        (state as usize, earned)
    }

    /// Return the state in which ports have other places, for each state; `None` unless the side decides alike there.
    pub(crate) fn moved(&self, order: &Order) -> Option<Vec<u32>> {
        let image = |state: &Words| self.numbers.get(&moved(state, order)).copied();
        let images: Vec<u32> = self.states.iter().map(image).collect::<Option<_>>()?;
        let follows = |(state, earned): (usize, u8)| (images[state] as usize, earned);
        let is_alike = |state: usize| {
            let image = images[state] as usize;
            let arrivals = (0..self.ports).flat_map(|port| [(port, true), (port, false)]);
            follows(self.ticked(state)) == self.ticked(image)
                && arrivals.into_iter().all(|(port, takes)| {
                    follows(self.arrived(state, port, takes)) == self.arrived(image, order[port], takes)
                })
        };
        (0..self.len()).all(is_alike).then_some(images)
    }
}
