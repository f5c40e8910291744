//! The states that can be reached from empty queues, by breadth-first search, and the moves between them.

use crate::model::{Model, Move, State};
use crate::{Failure, Limit, Watch};

/// States between two looks at the clock and at the caller's wish to stop.
const BETWEEN: usize = 1 << 16;

/// The reachable states of a model. A state's number is its place in the order of the search; the first is empty.
#[derive(Debug)]
pub(crate) struct Graph {
    degree: usize,
    /// The packed states, by their numbers.
    states: Vec<State>,
    numbers: Numbers,
    /// The number of the state to which each move leads, `degree` for each state.
    targets: Vec<u32>,
    /// What opponent and policy earn on each move.
    gains: Vec<[u8; 2]>,
}

impl Graph {
    /// Search the states of a model; fail if there are more than the limit allows.
    pub(crate) fn explore(model: &impl Model, limit: Limit, watch: &Watch<'_>) -> Result<Graph, Failure> {
        let degree = model.degree();
        let (targets, gains, states) = (Vec::new(), Vec::new(), Vec::new());
        let mut graph = Graph { degree, states, numbers: Numbers::new(), targets, gains };
        graph.number(model.start());
        let mut moves = vec![Move::free(0); degree];
        let mut next = 0;
        while let Some(&state) = graph.states.get(next) {
            model.moves(state, &mut moves);
            for step in &moves {
                let target = graph.number(step.to);
                graph.targets.push(target);
                graph.gains.push([step.opponent, step.policy]);
            }
            limit.check(graph.states.len())?;
            next += 1;
            if next.is_multiple_of(BETWEEN) {
                watch.check()?;
            }
        }
        Ok(graph)
    }

    /// Return the most octets of memory that `states` states take, with the tables of the solver.
    pub(crate) fn octets(states: usize, degree: usize) -> usize {
        const GROWTH: usize = 2; // lists double, so half of one can be unused
        let of_lists = degree * (size_of::<u32>() + size_of::<[u8; 2]>()) + size_of::<State>();
        let of_table = GROWTH * size_of::<u32>(); // at most half of its places are taken
        let of_solver = size_of::<i64>() + 3; // the value, the best move, and two marks of its walk
        states * (GROWTH * (of_lists + of_table) + of_solver)
    }

    /// Return the number of a state; a new state gets the next one.
    fn number(&mut self, state: State) -> u32 {
        self.numbers.of(state, &mut self.states)
    }

    /// Return the number of a state that the search has found.
    pub(crate) fn find(&self, state: State) -> Option<usize> {
        self.numbers.find(state, &self.states).map(|number| number as usize)
    }

    /// Return the number of states.
    pub(crate) fn len(&self) -> usize {
        self.states.len()
    }

    /// Return the packed states, by their numbers.
    pub(crate) fn states(&self) -> &[State] {
        &self.states
    }

    /// Return the numbers of the states to which the moves from a state lead.
    pub(crate) fn targets(&self, state: usize) -> &[u32] {
        &self.targets[state * self.degree..][..self.degree]
    }

    /// Return what opponent and policy earn on each move from a state.
    pub(crate) fn gains(&self, state: usize) -> &[[u8; 2]] {
        &self.gains[state * self.degree..][..self.degree]
    }

    /// Find the shortest way from the first state to one of `ends`; returns the moves.
    pub(crate) fn path(&self, ends: &[u32]) -> Vec<u8> {
        let mut is_end = vec![false; self.len()];
        ends.iter().for_each(|&end| is_end[end as usize] = true);
        let mut before = vec![(u32::MAX, 0_u8); self.len()];
        let mut queue = vec![0_u32];
        let mut next = 0;
        while !is_end[queue[next] as usize] {
            let state = queue[next];
            for (number, &target) in self.targets(state as usize).iter().enumerate() {
                if target != 0 && before[target as usize].0 == u32::MAX {
                    before[target as usize] = (state, number as u8);
                    queue.push(target);
                }
            }
            next += 1;
        }
        let mut moves = Vec::new();
        let mut state = queue[next];
        while state != 0 {
            let (from, number) = before[state as usize];
            moves.push(number);
            state = from;
        }
        moves.reverse();
        moves
    }
}

/// Numbers of states: a table with open addressing that stores numbers only, since the states are listed elsewhere.
#[derive(Debug)]
struct Numbers {
    /// The number of the state in each place, or `EMPTY`; the length is a power of two.
    places: Vec<u32>,
}

const EMPTY: u32 = u32::MAX;

impl Numbers {
    fn new() -> Numbers {
        Numbers { places: vec![EMPTY; 1 << 10] }
    }

    /// Return the place of a state, or the place where it belongs.
    fn place(&self, state: State, states: &[State]) -> usize {
        const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15; // 2^64 divided by the golden ratio: Knuth, volume 3, section 6.4
        let mask = self.places.len() - 1;
        let mut place = (state.wrapping_mul(SPREAD) >> 32) as usize & mask;
        while self.places[place] != EMPTY && states[self.places[place] as usize] != state {
            place = (place + 1) & mask;
        }
        place
    }

    fn find(&self, state: State, states: &[State]) -> Option<u32> {
        let number = self.places[self.place(state, states)];
        (number != EMPTY).then_some(number)
    }

    /// Return the number of a state; append a new state to the list.
    fn of(&mut self, state: State, states: &mut Vec<State>) -> u32 {
        let place = self.place(state, states);
        if self.places[place] != EMPTY {
            return self.places[place];
        }
        let number = states.len() as u32;
        states.push(state);
        self.places[place] = number;
        if 2 * states.len() > self.places.len() {
            self.grow(states);
        }
        number
    }

    fn grow(&mut self, states: &[State]) {
        self.places = vec![EMPTY; 2 * self.places.len()];
        for (number, &state) in states.iter().enumerate() {
            let place = self.place(state, states);
            self.places[place] = number as u32;
        }
    }
}
