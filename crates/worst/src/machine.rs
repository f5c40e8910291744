//! One side of a comparison as a table: its states, and where arrivals and the end of a slot lead from each.

use std::collections::HashMap;

use crate::model::Step;
use crate::side::{Side, Words};
use crate::symmetry::{Order, moved};
use crate::{Failure, Limit, Watch, refuse};

/// States between two looks at the caller's wish to stop.
const BETWEEN: usize = 1 << 14;

/// A state, and what the step to it earns.
type Next = (u32, u8);

/// The table of a side. State 0 has empty queues.
#[derive(Debug)]
pub(crate) struct Machine {
    ports: usize,
    /// Blocks of a state, which move with the ports.
    blocks: usize,
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
        let blocks = side.blocks();
        let mut machine = Machine { ports, blocks, states, numbers, taken, refused, ticked };
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
            if let Some(why) = side.failure() {
                let queues = side.lengths(&before).iter().map(u64::to_string).collect::<Vec<_>>().join(" ");
                return Err(refuse(
                    "policy",
                    format!("must decide about a packet for queues of {queues}: {why}"),
                ));
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

    /// Return the most octets of memory that a state takes, given the words of one.
    pub(crate) fn octets_of_state(ports: usize, words: &[u16]) -> usize {
        const GROWTH: usize = 2; // lists double, so half of one can be unused
        const OF_BLOCK: usize = 16; // what the allocator adds to a block
        let of_steps = (2 * ports + 1) * size_of::<Next>();
        let of_keys = 2 * size_of::<(Words, u32)>(); // the map of numbers is at least half full
        let of_words = 2 * (size_of_val(words) + OF_BLOCK) + size_of::<Words>(); // the list and the map have a copy each
        GROWTH * (of_steps + of_keys + of_words)
    }

    /// Return the octets of memory that the tables take, at most.
    pub(crate) fn octets(&self) -> usize {
        self.len() * Machine::octets_of_state(self.ports, &self.states[0])
    }

    /// Return the number of a state that the search has found.
    pub(crate) fn find(&self, words: &[u16]) -> Option<usize> {
        self.numbers.get(words).map(|&number| number as usize)
    }

    /// Return the steps of a shortest way from empty queues to a state.
    pub(crate) fn way(&self, mut state: usize) -> Vec<Step> {
        let mut before = vec![None; self.len()];
        for from in 0..self.len() {
            // the order of the states is that of the search, so the first step to a state is on a shortest way
            for step in self.steps() {
                before[self.after(from, step)].get_or_insert((from, step));
            }
        }
        let mut steps = Vec::new();
        while state != 0 {
            let (from, step) = before[state].expect("a step led to the state");
            steps.push(step);
            state = from;
        }
        steps.reverse();
        steps
    }

    /// Return the steps from each state, if the side takes what it can.
    fn steps(&self) -> impl Iterator<Item = Step> {
        (0..self.ports).map(|port| Step::Arrival { port, takes: true }).chain([Step::Tick])
    }

    /// Return the state after a step.
    fn after(&self, state: usize, step: Step) -> usize {
        match step {
            Step::Tick => self.ticked(state).0,
            Step::Arrival { port, takes } => self.arrived(state, port, takes).0,
        }
    }

    /// Return the words of a state.
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
        let image = |state: &Words| self.numbers.get(&moved(state, order, self.blocks)).copied();
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Need;
    use crate::tests::GO_ON;

    /// What a side does otherwise at its port 1 than at port 0.
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Odd {
        Nothing,
        /// Its queue holds a packet less.
        Limit,
        /// A packet earns nothing when it arrives there.
        Earns,
        /// An optimum cannot refuse there.
        Refuses,
        /// It sends two packets in a slot.
        Sends,
        /// It earns nothing at the end of a slot.
        Sent,
    }

    /// Two queues of three packets; a packet earns 1 when it arrives and each queue earns 1 when it sends.
    struct TwoQueues(Odd);

    impl Side for TwoQueues {
        fn start(&self) -> Words {
            [0, 0].into()
        }

        fn arrive(&mut self, state: &[u16], port: usize, takes: bool) -> (Words, u8) {
            let is_odd = |what| port == 1 && self.0 == what;
            let limit = if is_odd(Odd::Limit) { 2 } else { 3 };
            let mut after: Words = state.into();
            if state[port] == limit || !takes && !is_odd(Odd::Refuses) {
                return (after, 0);
            }
            after[port] += 1;
            (after, u8::from(!is_odd(Odd::Earns)))
        }

        fn tick(&self, state: &[u16]) -> (Words, u8) {
            let sent = [1, if self.0 == Odd::Sends { 2 } else { 1 }];
            let after = state.iter().zip(sent).map(|(held, sent)| held.saturating_sub(sent)).collect();
            let counts = |(port, held): (usize, &u16)| *held > 0 && (port == 0 || self.0 != Odd::Sent);
            (after, state.iter().enumerate().filter(|each| counts(*each)).count() as u8)
        }

        fn lengths(&self, state: &[u16]) -> Vec<u64> {
            state.iter().map(|&held| held.into()).collect()
        }
    }

    #[test]
    fn ports_may_change_places_only_if_every_step_is_alike_there() {
        let limit = Limit { states: 100, most: Need { states: 100, octets: 0 } };
        for odd in [Odd::Nothing, Odd::Limit, Odd::Earns, Odd::Refuses, Odd::Sends, Odd::Sent] {
            let machine = Machine::explore(&mut TwoQueues(odd), 2, true, limit, &GO_ON).unwrap();
            let images = machine.moved(&vec![1, 0]);
            assert_eq!(images.is_some(), odd == Odd::Nothing, "{odd:?}");
            for (state, image) in images.into_iter().flatten().enumerate() {
                let [one, other] = *machine.words(state) else { panic!("two queues") };
                assert_eq!(*machine.words(image as usize), [other, one]);
            }
            let same = machine.moved(&vec![0, 1]).unwrap();
            assert!(same.into_iter().enumerate().all(|(state, image)| state == image as usize), "{odd:?}");
        }
    }
}
