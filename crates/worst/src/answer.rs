//! The answer to a question, and its JSON document.

use pushout_core::buffer::admission;
use pushout_core::language::spec::Field;
use pushout_core::memory::decide::Policies;
use pushout_core::memory::decide::lossless::Headroom;
use serde_json::{Value as Json, json};

use crate::graph::Graph;
use crate::input::{Input, LAPS, Played, Sides, Unrolled, of_moves};
use crate::pair::{Pair, Plan};
use crate::pauses::Pauses;
use crate::ratio::Ratio;
use crate::search::Coarse;
use crate::solve::Solution;
use crate::{Failure, Need, Question, Subject};

/// The worst case of a policy, or the worst that a search has found. The bounds have been verified.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The worst ratio; if it is not proved, no input is known with a larger one.
    pub ratio: Ratio,
    /// Packets in a coarse move, if the search was not exhaustive: the ratio is a lower bound only.
    pub unit: Option<usize>,
    /// States of both sides that can be reached.
    pub states: usize,
    /// Orders of the ports that count as one state.
    pub orders: usize,
    /// Sweeps of the solver over all moves.
    pub sweeps: usize,
    /// What the search could need, as announced.
    pub need: Need,
    /// One lap of the cycle.
    pub lap: Lap,
    /// The input that shows the ratio: to the cycle, three laps, and idle slots.
    pub input: Input,
    /// The queues of both sides in each slot of the input.
    pub played: Vec<Played>,
    /// Packets of the input that the opponent sends.
    pub opponent_count: u64,
    /// Packets of the input that the policy sends.
    pub policy_count: u64,
}

impl Question {
    /// Return the name of the policy.
    pub(crate) fn name(&self) -> String {
        match &self.subject {
            Subject::Memory { policies, .. } => policies.name(),
            Subject::Frames { policy: admission::Spec::Program(program), .. } => program.name.clone(),
            Subject::Frames { policy, .. } => policy.name().to_string(),
            Subject::Pauses { scheme, .. } => scheme.name().to_string(),
        }
    }

    /// Return the name of the opponent.
    fn against(&self) -> String {
        match &self.subject {
            Subject::Memory { against: Some(against), .. } => against.name(),
            _ => "optimum".to_string(),
        }
    }

    /// Return the policies as a scenario writes them.
    pub(crate) fn policies(&self) -> Json {
        match &self.subject {
            Subject::Memory { policies, against } => {
                json!({ "policy": policies.write(), "against": against.as_ref().map(Policies::write) })
            }
            Subject::Frames { policy, .. } => json!({ "policy": policy.write(), "against": null }),
            Subject::Pauses { scheme, .. } => {
                json!({ "policy": { "admission": scheme.write() }, "against": null })
            }
        }
    }

    /// Return the cells of a frame, if the question is about frames.
    pub(crate) fn frames(&self) -> Option<u16> {
        match self.subject {
            Subject::Frames { length, .. } => Some(length),
            _ => None,
        }
    }

    /// Return the pauses, if the question is about senders that a memory stops.
    pub(crate) fn pause(&self) -> Option<Json> {
        let Subject::Pauses { pauses: Pauses { headroom, response }, .. } = self.subject else { return None };
        let Headroom { xoff, xon, all } = headroom;
        Some(json!({ "xoff": xoff, "xon": xon, "headroom": all, "response": response }))
    }
}

/// The size of one lap of a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lap {
    /// Slots.
    pub slots: usize,
    /// Packets that arrive.
    pub arrivals: usize,
}

/// What a search has found.
pub(crate) struct Found<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) solution: &'a Solution,
    /// The moves of the shortest input with a given ratio.
    pub(crate) shortest: Option<&'a [u8]>,
    /// The moves of the graph, if they are coarse.
    pub(crate) coarse: Option<&'a Coarse<'a>>,
}

impl Answer {
    /// Unroll the cycle of a solution and verify that it attains the ratio; the input is that of the `shortest` moves
    /// instead of laps of the cycle, if they are given.
    pub(crate) fn new(
        question: &Question,
        pair: &Pair,
        Found { graph, solution, shortest, coarse }: &Found<'_>,
        need: Need,
    ) -> Result<Answer, Failure> {
        let plan: &dyn Plan = match coarse {
            Some(coarse) => *coarse,
            None => pair,
        };
        let unrolled = Unrolled::new(pair, plan, graph, &solution.cycle);
        unrolled.verify(question, solution.ratio)?;
        let mut input = match shortest {
            Some(moves) => of_moves(pair, moves),
            None => unrolled.input(LAPS, question.cells),
        };
        let ([opponent_count, policy_count], mut played) = Sides::new(question)?.play(&input)?;
        let is_busy =
            |played: &Played| played.policy.iter().chain(&played.opponent).any(|&length| length > 0);
        let slots = played.iter().rposition(is_busy).map_or(0, |last| last + 1);
        input.truncate(slots);
        played.truncate(slots);
        let (slots, arrivals) = unrolled.lap();
        Ok(Answer {
            ratio: solution.ratio,
            unit: coarse.map(|coarse| coarse.unit),
            states: graph.len(),
            orders: pair.orders(),
            sweeps: solution.sweeps,
            need,
            lap: Lap { slots, arrivals },
            input,
            played,
            opponent_count,
            policy_count,
        })
    }

    /// Return the answer as a document.
    pub fn document(&self, question: &Question) -> Json {
        let ratio = self.ratio.to_string();
        let slot = |(arrivals, played): (&Vec<crate::Arrival>, &Played)| {
            json!({
                "arrivals": arrivals.iter().map(|arrival| json!([arrival.port, arrival.takes])).collect::<Json>(),
                "policy": played.policy,
                "optimum": played.opponent,
            })
        };
        json!({
            "policy": question.name(),
            "policies": question.policies(),
            "against": question.against(),
            "ports": question.ports,
            "frames": question.frames(),
            "memory": question.cells,
            "objective": "throughput",
            "ratio": ratio,
            "value": self.ratio.value().is_finite().then_some(self.ratio.value()),
            "share": Some(self.ratio.share()).filter(|share| share.is_finite()),
            "excess_loss": self.ratio.excess().to_string(),
            "lower": ratio,
            "upper": self.unit.is_none().then_some(&ratio),
            "proved": self.unit.is_none(),
            "unit": self.unit,
            "states": self.states,
            "orders": self.orders,
            "sweeps": self.sweeps,
            "most_states": self.need.states as u64,
            "memory_mb": self.need.megabytes() as u64,
            "reach": question.reach.map(|reach| reach.to_string()),
            "lap": { "slots": self.lap.slots, "arrivals": self.lap.arrivals },
            "policy_count": self.policy_count,
            "optimum_count": self.opponent_count,
            "input": self.input.iter().zip(&self.played).map(slot).collect::<Json>(),
        })
    }
}
