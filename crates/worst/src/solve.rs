//! The largest ratio of a cycle, by Newton's method, with a potential that proves that no cycle has a larger one.
//!
//! For a ratio p/q the weight of a move is `w = q * opponent - p * policy`, an integer. The value V of a state is the
//! largest weight of a run from the state, which may end anywhere: the fixed point of V(s) = max(0, w + V(t)) over the
//! moves s → t. Each state remembers its best move. As long as the graph of best moves has no cycle, V follows from it
//! exactly (policy iteration); sweeps over all moves improve it. A cycle of best moves has a positive weight, so its
//! ratio is larger than p/q, and the iteration goes on with that ratio. When a sweep changes nothing, V is a
//! certificate, and the last cycle attains the ratio.
//!
//! That a cycle of best moves has a positive weight: each stored move fulfils V(s) ≤ w + V(t), with equality after an
//! evaluation, and values only grow between two evaluations. Along a cycle the sum gives 0 ≤ Σ w. The move that closed
//! the cycle had raised its value, so the sum is positive.

use crate::graph::Graph;
use crate::ratio::Ratio;
use crate::{Failure, Watch};

/// A solved graph.
#[derive(Debug)]
pub(crate) struct Solution {
    /// The largest ratio of a cycle.
    pub(crate) ratio: Ratio,
    /// The potential of each state for this ratio; empty if the ratio is unbounded.
    pub(crate) potential: Vec<i64>,
    /// A cycle that attains the ratio; empty if the opponent earns nothing on any cycle.
    pub(crate) cycle: Cycle,
    /// Sweeps over all moves.
    pub(crate) sweeps: usize,
}

/// A cycle of the graph: its states, and the move from each to the next.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cycle {
    pub(crate) states: Vec<u32>,
    pub(crate) moves: Vec<u8>,
}

/// No move: the run ends.
const STOP: u8 = u8::MAX;

/// Find the largest ratio of a cycle.
pub(crate) fn solve(graph: &Graph, watch: &Watch<'_>) -> Result<Solution, Failure> {
    let mut search = Search::new(graph);
    let mut cycle = Cycle::default();
    while search.sweep() {
        watch.check()?;
        let Some((ratio, found)) = search.evaluate() else { continue };
        (cycle, search.ratio) = (found, ratio);
        if ratio.is_unbounded() {
            return Ok(Solution { ratio, potential: Vec::new(), cycle, sweeps: search.sweeps });
        }
        assert!(search.evaluate().is_none(), "each cycle was opened");
    }
    let Search { ratio, value, sweeps, .. } = search;
    Ok(Solution { ratio, potential: value, cycle, sweeps })
}

/// The state of the iteration.
struct Search<'a> {
    graph: &'a Graph,
    ratio: Ratio,
    value: Vec<i64>,
    /// The best move of each state, or `STOP`.
    best: Vec<u8>,
    sweeps: usize,
}

impl Search<'_> {
    fn new(graph: &Graph) -> Search<'_> {
        let (value, best) = (vec![0; graph.len()], vec![STOP; graph.len()]);
        Search { graph, ratio: Ratio::ZERO, value, best, sweeps: 0 }
    }

    /// Return the value of a state if a move is taken.
    fn by(&self, state: usize, number: usize) -> i64 {
        let target = self.graph.targets(state)[number] as usize;
        self.ratio.weight(self.graph.gains(state)[number]) + self.value[target]
    }

    /// Improve the value of each state by its moves; return whether a value has changed. Sweeps alternate their
    /// direction, since values spread along it at once.
    fn sweep(&mut self) -> bool {
        self.sweeps += 1;
        let count = self.graph.len();
        let is_backward = self.sweeps % 2 == 1;
        (0..count).fold(false, |changed, place| {
            let state = if is_backward { count - 1 - place } else { place };
            self.improve(state) || changed
        })
    }

    /// Improve the value of a state by its moves; return whether it has changed.
    fn improve(&mut self, state: usize) -> bool {
        let (targets, gains) = (self.graph.targets(state), self.graph.gains(state));
        let before = self.value[state];
        let mut largest = before;
        for (number, (&target, &gain)) in targets.iter().zip(gains).enumerate() {
            let value = self.ratio.weight(gain) + self.value[target as usize];
            if value > largest {
                largest = value;
                self.best[state] = number as u8;
            }
        }
        self.value[state] = largest;
        largest > before
    }

    /// Compute the values along the best moves. Return the largest ratio of a cycle that they have, with the cycle;
    /// each cycle is opened, and the values are then without meaning.
    fn evaluate(&mut self) -> Option<(Ratio, Cycle)> {
        let mut is_known = vec![false; self.graph.len()];
        let mut is_on_way = vec![false; self.graph.len()];
        let mut way: Vec<u32> = Vec::new();
        let mut found: Option<(Ratio, Cycle)> = None;
        for start in 0..self.graph.len() {
            let mut state = start;
            while !is_known[state] && !is_on_way[state] && self.best[state] != STOP {
                is_on_way[state] = true;
                way.push(state as u32);
                state = self.graph.targets(state)[self.best[state] as usize] as usize;
            }
            if is_on_way[state] {
                let (ratio, cycle) = self.cycle(&way, state);
                if found.as_ref().is_none_or(|(largest, _)| ratio > *largest) {
                    found = Some((ratio, cycle));
                }
                let last = way.pop().expect("a cycle has a last state") as usize;
                self.best[last] = STOP;
                is_on_way[last] = false;
                state = last;
            }
            if !is_known[state] && self.best[state] == STOP {
                self.value[state] = 0;
                is_known[state] = true;
            }
            while let Some(state) = way.pop() {
                let state = state as usize;
                self.settle(state);
                is_on_way[state] = false;
                is_known[state] = true;
            }
        }
        found
    }

    /// Compute the value of a state from that of the next one; a run of negative weight ends at once instead.
    fn settle(&mut self, state: usize) {
        let value = self.by(state, self.best[state] as usize);
        self.value[state] = value.max(0);
        if value < 0 {
            self.best[state] = STOP;
        }
    }

    /// Return the cycle at the end of a way that has come back to `state`, and its ratio.
    fn cycle(&self, way: &[u32], state: usize) -> (Ratio, Cycle) {
        let first =
            way.iter().position(|&visited| visited as usize == state).expect("the state is on the way");
        let states = way[first..].to_vec();
        let moves: Vec<u8> = states.iter().map(|&state| self.best[state as usize]).collect();
        let gains = states
            .iter()
            .zip(&moves)
            .map(|(&state, &number)| self.graph.gains(state as usize)[usize::from(number)].map(u64::from));
        let [opponent, policy] = gains.fold([0, 0], |sum, gain| [sum[0] + gain[0], sum[1] + gain[1]]);
        (Ratio::new(opponent, policy), Cycle { states, moves })
    }
}
