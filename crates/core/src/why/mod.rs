//! Why was this frame lost? Which earlier decision of the port, made differently, would have saved it.
//!
//! A **decision** is the arrival of a frame at the port, or at a port that shares its memory. In the world of a decision
//! that frame is refused, before any policy is asked, and everything else follows the rules: a frame is **saved** by
//! the decision if it then passes its port. Every world is run: nothing is inferred.
//!
//! # What it assumes
//! Random draws are about packets, not about arrivals in their order: a frame that is missing changes no draw about
//! another one (`engine/draws.rs`).
//!
//! # Sources that react
//! With [`Reaction::On`] the network goes on from the refusal by itself: the sender of the refused frame will notice.
//! With [`Reaction::Off`] the ports get the arrivals that were recorded. Then nothing before the busy period can matter,
//! so the busy period bounds the search.

mod answer;
mod record;
mod request;
#[cfg(test)]
mod tests;
mod watch;
mod worlds;

use crate::scenario::model::{NodeMemory, Scenario};
use crate::unit::Unit;
use crate::units::Span;
use crate::units::ids::{CircuitId, IdVec, LineId};

pub use answer::{Asked, Rival, Which, answer};
pub use record::{Decision, Trouble};
pub use worlds::{Fates, Pairs, Progress, Saves, Tried, Worlds};

/// A frame by its name at the source, which no loss of another frame changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Packet {
    /// Its circuit.
    pub vc: CircuitId,
    /// Its identity on the circuit, as that of a unit.
    pub identity: u32,
}

impl Packet {
    fn of(unit: &Unit) -> Packet {
        Packet { vc: unit.vc, identity: unit.identity }
    }
}

/// What happened to a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ill {
    /// A unit of it was lost.
    Lost,
    /// It was marked.
    Marked,
    /// It was cut to its headers.
    Trimmed,
    /// It took longer from its arrival at the port to its departure.
    Late(Span),
}

impl Ill {
    /// Return the word of requests and answers.
    fn word(self) -> &'static str {
        match self {
            Ill::Lost => "lost",
            Ill::Marked => "marked",
            Ill::Trimmed => "trimmed",
            Ill::Late(_) => "late",
        }
    }

    /// Return what a port did to a frame, as a verb.
    fn verb(self) -> &'static str {
        match self {
            Ill::Lost => "lost",
            Ill::Marked => "marked",
            Ill::Trimmed => "cut",
            Ill::Late(_) => "delayed",
        }
    }
}

/// Whether sources react to the refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reaction {
    /// They do.
    On,
    /// The ports get the recorded arrivals.
    Off,
}

/// A question about a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Question {
    /// The port.
    pub port: LineId,
    /// What happened to frames there.
    pub ill: Ill,
    /// Whether sources react.
    pub reaction: Reaction,
    /// The most decisions before the arrival of a frame to be tried, besides those while it waited.
    pub most: usize,
    /// Decisions just before that arrival that are left out, with those while it waited: another question has tried them.
    pub skip: usize,
}

/// Return which ports a decision at `port` can depend on: the port itself, or all that share its memory.
fn scope(scenario: &Scenario, port: LineId) -> IdVec<LineId, bool> {
    let has = |memory: &&NodeMemory, port: LineId| memory.ports.iter().any(|(other, _)| *other == port);
    let memory = scenario.memories.iter().find(|memory| has(memory, port));
    scenario
        .lines
        .keys()
        .map(|other| other == port || memory.is_some_and(|memory| has(&memory, other)))
        .collect()
}

/// Return why recorded arrivals do not determine what these ports do; `None` if they do.
fn undetermined(scenario: &Scenario, ports: &IdVec<LineId, bool>) -> Option<String> {
    let paused = scenario.paused_lines();
    let of = |number: LineId| {
        let line = &scenario.lines[number];
        let why = match () {
            () if line.port.gates.credit.is_some() => "waits for credits",
            () if paused[number] => "can be paused",
            () => return None,
        };
        Some(format!(
            "port {:?} {why} of the next node, so its arrivals alone do not determine what it does",
            line.name
        ))
    };
    ports.keys().filter(|&port| ports[port]).find_map(of)
}
