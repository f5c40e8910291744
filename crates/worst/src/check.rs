//! The check of both certificates, which shares nothing with the solver but the model.
//!
//! Upper bound: a potential V with V(s) ≥ w + V(t) for every move s → t, and with every t among the states. A run of
//! weights w₁ … wₙ from s to t then has Σ w ≤ V(s) − V(t), which is bounded, so that no run exceeds the ratio for
//! ever. Lower bound: the input itself, played from empty queues until it repeats. The sums have 128 bits.

use crate::Failure;
use crate::graph::Graph;
use crate::model::{Model, Move};
use crate::ratio::Ratio;

/// Verify that no run exceeds the ratio by more than a constant.
pub(crate) fn upper(
    model: &impl Model,
    graph: &Graph,
    ratio: Ratio,
    potential: &[i64],
) -> Result<(), Failure> {
    let (opponent, policy) = ratio.parts();
    let weight = |step: &Move| {
        i128::from(policy) * i128::from(step.opponent) - i128::from(opponent) * i128::from(step.policy)
    };
    let mut moves = vec![Move::free(0); model.degree()];
    let holds = graph.states().iter().zip(potential).all(|(&state, &value)| {
        model.moves(state, &mut moves);
        moves.iter().all(|step| {
            let target = graph.find(step.to).map(|target| i128::from(potential[target]));
            target.is_some_and(|target| i128::from(value) >= weight(step) + target)
        })
    });
    let starts = graph.find(model.start()).is_some() && potential.len() == graph.len();
    if holds && starts { Ok(()) } else { Err(Failure::Certificate("upper")) }
}
