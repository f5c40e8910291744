//! The shortest input with at least a given ratio, from empty queues to empty queues.
//!
//! A search by slots: after each number of slots, every state has the largest weight of an input that leads to it. The
//! weight is that of the ratio (see `solve.rs`), with what the opponent sends as its smallest part, so that an input on
//! which nothing is sent does not count.

use crate::graph::Graph;
use crate::ratio::Ratio;
use crate::{Failure, Watch, refuse};

/// Most entries of all layers: half a gigabyte.
const MOST_ENTRIES: usize = 40_000_000;

/// No input leads to the state.
const NEVER: i64 = i64::MIN;

/// How a state was reached: the state before, and its move.
#[derive(Clone, Copy, Debug)]
struct Step {
    from: u32,
    number: u8,
}

/// The states after one more slot.
struct Layer {
    /// How the last slot's end led to each state.
    ticks: Vec<Step>,
    /// How arrivals after it led to each state; a state that they did not improve keeps `from` as its own number.
    arrivals: Vec<Step>,
}

/// Find the moves of an input with the fewest slots whose ratio is at least `ratio`, which the worst ratio is not below.
pub(crate) fn shortest(graph: &Graph, ratio: Ratio, watch: &Watch<'_>) -> Result<Vec<u8>, Failure> {
    let most = (MOST_ENTRIES / graph.len()).max(1);
    let unit = most as i64 * i64::from(u8::MAX) + 1;
    let weight = |gain: [u8; 2]| unit * ratio.weight(gain) + i64::from(gain[0]);
    let mut weights = vec![NEVER; graph.len()];
    weights[0] = 0;
    let mut layers = Vec::new();
    for _ in 0..most {
        watch.check()?;
        let arrivals = arrive(graph, &mut weights);
        let (ticks, after) = tick(graph, &weights, weight);
        layers.push(Layer { ticks, arrivals });
        weights = after;
        if weights[0] > 0 {
            return Ok(moves(&layers));
        }
    }
    Err(refuse(
        "reach",
        format!("must be lower, or the memory smaller: no input of {most} slots has this ratio"),
    ))
}

/// Improve the weight of each state by arrivals, on which nothing is earned; returns how each state was reached.
fn arrive(graph: &Graph, weights: &mut [i64]) -> Vec<Step> {
    let mut steps: Vec<Step> = (0..graph.len() as u32).map(|from| Step { from, number: 0 }).collect();
    let mut waiting: Vec<u32> =
        (0..graph.len() as u32).filter(|&state| weights[state as usize] > NEVER).collect();
    while !waiting.is_empty() {
        let mut next = Vec::new();
        for from in waiting {
            for (number, &to) in graph.targets(from as usize).iter().enumerate().skip(1) {
                if weights[from as usize] > weights[to as usize] {
                    weights[to as usize] = weights[from as usize];
                    steps[to as usize] = Step { from, number: number as u8 };
                    next.push(to);
                }
            }
        }
        waiting = next;
    }
    steps
}

/// Let each queue send; returns how each state was reached, and its weight.
fn tick(graph: &Graph, weights: &[i64], weight: impl Fn([u8; 2]) -> i64) -> (Vec<Step>, Vec<i64>) {
    let mut steps = vec![Step { from: 0, number: 0 }; graph.len()];
    let mut after = vec![NEVER; graph.len()];
    for (from, &before) in weights.iter().enumerate().filter(|(_, weight)| **weight > NEVER) {
        let to = graph.targets(from)[0] as usize;
        let reached = before + weight(graph.gains(from)[0]);
        if reached > after[to] {
            after[to] = reached;
            steps[to] = Step { from: from as u32, number: 0 };
        }
    }
    (steps, after)
}

/// Return the moves that led to the first state at the end of the last layer.
fn moves(layers: &[Layer]) -> Vec<u8> {
    let mut state = 0;
    let mut moves = Vec::new();
    for layer in layers.iter().rev() {
        moves.push(0);
        state = layer.ticks[state].from as usize;
        while layer.arrivals[state].from as usize != state {
            moves.push(layer.arrivals[state].number);
            state = layer.arrivals[state].from as usize;
        }
    }
    moves.reverse();
    moves
}
