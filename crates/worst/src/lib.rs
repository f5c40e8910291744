//! The exact worst case of a policy of a shared memory.
//!
//! Ports share a memory of a few cells, packets take one cell each, and time goes in slots: any number of packets
//! arrives in any order, then each queue sends one. The policy decides by the code that runs in the simulator
//! ([`pushout_core::memory::decide`]). Its opponent is the optimum, which knows the whole input and may refuse any packet,
//! or another policy. All states of both sides that can be reached from empty queues form a finite graph; the worst
//! ratio of what both sides send is the largest ratio of a cycle. The answer carries a certificate in both directions: a
//! potential, which no run can exceed, and the input of a cycle that attains the ratio. All arithmetic is in integers.
//!
//! Optima need no push-out: an optimum can refuse from the start what it would push out later.
//!
//! A second model has one FIFO port and frames of several cells ([`Subject::Frames`]), a third one senders that a memory
//! stops ([`Subject::Pauses`]).

#[cfg(test)]
mod tests;

mod answer;

mod ask;

mod check;

mod delay;

mod frames;

mod graph;

mod input;

mod machine;

mod model;

mod never;

mod pair;

mod pauses;

mod ratio;

mod reach;

mod search;

mod side;

mod solve;

mod symmetry;

use std::fmt;

use pushout_core::buffer::admission;
use pushout_core::language::tree::{Fault, TextPlace};
use pushout_core::memory::decide::Policies;
use pushout_core::memory::decide::lossless::Headroom;
use pushout_core::memory::sharing;
use pushout_core::refused::Refused;

pub use answer::{Answer, Lap};
pub use delay::Delay;
pub use input::{Arrival, Input, Played};
pub use never::{Event, Example, Proof};
pub use pauses::{Pauses, Slot};
pub use ratio::Ratio;

use answer::Found;
use frames::Frames;
use graph::Graph;
use machine::Machine;
use model::Model as _;
use pair::Pair;
use pauses::{MOST_RESPONSE, Senders};
use side::{Memory, Side};

/// Most ports that a question can have.
pub const MOST_PORTS: usize = 8;

/// Most states that a question can have: beyond, numbers of states would need more bits.
pub const MOST_STATES: usize = 1 << 28;

/// Most states of one side of a comparison, which is a table.
const MOST_LENGTHS: usize = 1 << 17;

/// Most states of a policy that is looked at alone.
const MOST_VISITED: usize = 1 << 21;

/// Longest frame.
const MOST_LENGTH: u16 = 1000;

/// A search does not begin if the pairs of states are this many times the limit: policies reach over half of all pairs,
/// unless they keep queues very short.
const HOPELESS: u128 = 64;

/// A question: the worst ratio of a policy, for a buffer of one size.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The policy, and what it is compared with.
    pub subject: Subject,
    /// Number of ports, of circuits that send frames, or of senders that are stopped.
    pub ports: usize,
    /// Number of cells.
    pub cells: u64,
    /// Most states that may be visited.
    pub limit: usize,
    /// The least ratio of the input; `None` for laps of the worst cycle.
    pub reach: Option<Ratio>,
    /// Whether to search without a proof if there are more states than the limit allows.
    pub searches: bool,
}

/// The policy of a question.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant)] // a question has one
pub enum Subject {
    /// A memory that ports share, for packets of one cell.
    Memory {
        /// The policies of the memory.
        policies: Policies,
        /// The policies of the opponent; `None` for the optimum.
        against: Option<Policies>,
    },
    /// One FIFO port, for frames; the opponent is the optimum.
    Frames {
        /// The policy of the port.
        policy: admission::Spec,
        /// Cells of a frame.
        length: u16,
    },
    /// A memory that stops its senders, for packets of one cell of a lossless class.
    Pauses {
        /// The scheme that divides the shared room.
        scheme: sharing::Spec,
        /// When senders stop, and go on.
        pauses: Pauses,
    },
}

/// The reason for which a question has no answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// The question cannot be answered; the path is that of a key of the question.
    Refused(Fault),
    /// There are more states than the limit allows.
    States(Limit),
    /// The caller wants no answer any more.
    Interrupted,
    /// A certificate does not hold: the solver has a fault.
    Certificate(&'static str),
}

impl Failure {
    fn refused(Refused { key, why }: Refused) -> Failure {
        refuse(key.unwrap_or("policy"), why)
    }
}

/// Build the refusal of a key.
fn refuse(key: &str, why: impl Into<String>) -> Failure {
    Failure::Refused(Fault { path: key.to_string(), ..Fault::at(TextPlace::default(), why) })
}

impl From<Fault> for Failure {
    fn from(fault: Fault) -> Failure {
        Failure::Refused(fault)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Refused(fault) => fault.fmt(f),
            Failure::States(Limit { states, most }) => write!(
                f,
                "states must be greater than {states}: up to {} states can be reached, which take {} MB; raise it, or lower \
                 ports or memory",
                most.states,
                most.megabytes()
            ),
            Failure::Interrupted => f.write_str("interrupted"),
            Failure::Certificate(bound) => write!(f, "the certificate of the {bound} bound does not hold"),
        }
    }
}

/// What a search can need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Need {
    /// Most states that it can visit.
    pub states: u128,
    /// Most octets of memory that they take.
    pub octets: u128,
}

impl Need {
    /// Return the memory in megabytes, rounded up.
    pub fn megabytes(self) -> u128 {
        self.octets.div_ceil(1_000_000)
    }
}

/// The limit of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// Most states that the search may visit.
    pub states: usize,
    /// What the search could need without the limit.
    pub most: Need,
}

impl Limit {
    /// Fail if more states were found than the limit allows.
    fn check(self, found: usize) -> Result<(), Failure> {
        if found > self.states { Err(Failure::States(self)) } else { Ok(()) }
    }
}

/// The caller's part in a search.
#[derive(Clone, Copy)]
#[allow(missing_debug_implementations)] // a function has nothing to show
pub struct Watch<'a> {
    /// Return whether the computation shall stop.
    pub is_over: &'a dyn Fn() -> bool,
    /// Receive what the search can need, before it begins.
    pub announce: &'a dyn Fn(Need),
}

impl Watch<'_> {
    fn check(&self) -> Result<(), Failure> {
        if (self.is_over)() { Err(Failure::Interrupted) } else { Ok(()) }
    }
}

/// Return the policies of the optimum: it takes whatever fits, unless the input says that it refuses.
fn optimum() -> Policies {
    Policies {
        admission: sharing::Spec::CompleteSharing(sharing::complete_sharing::Params {}),
        pushout: None,
    }
}

impl Question {
    /// Find the worst ratio, verify it, and unroll the input that shows it.
    pub fn answer(&self, watch: Watch<'_>) -> Result<Answer, Failure> {
        self.check(MOST_LENGTHS)?;
        let pair = self.pair(&watch)?;
        let limit = Limit { states: self.limit, most: self.need(&pair, pair.most_states()) };
        if self.searches && limit.most.states > self.limit as u128 {
            return self.search(&pair, limit, &watch);
        }
        if limit.most.states > HOPELESS * self.limit as u128 {
            return Err(Failure::States(limit));
        }
        let need = self.need(&pair, limit.most.states.min(self.limit as u128));
        (watch.announce)(need);
        let graph = Graph::explore(&pair, limit, &watch)?;
        let solution = solve::solve(&graph, &watch)?;
        if !solution.ratio.is_unbounded() {
            check::upper(&pair, &graph, solution.ratio, &solution.potential)?;
        }
        let shortest = match self.reach {
            Some(reach) if reach > solution.ratio => {
                let why = format!("must be at most the worst ratio, {}, not {reach}", solution.ratio);
                return Err(refuse("reach", why));
            }
            Some(reach) => Some(reach::shortest(&graph, reach, &watch)?),
            None => None,
        };
        let shortest = shortest.as_deref();
        Answer::new(self, &pair, &Found { graph: &graph, solution: &solution, shortest, coarse: None }, need)
    }

    /// Find a bad ratio among the states that coarse moves reach, and unroll the input that shows it.
    fn search(&self, pair: &Pair, limit: Limit, watch: &Watch<'_>) -> Result<Answer, Failure> {
        if self.reach.is_some() || matches!(self.subject, Subject::Frames { .. }) {
            return Err(Failure::States(limit));
        }
        let need = self.need(pair, self.limit as u128);
        (watch.announce)(need);
        let (coarse, graph) = search::explore(pair, (self.ports, self.cells), limit, watch)?;
        let solution = solve::solve(&graph, watch)?;
        let found = Found { graph: &graph, solution: &solution, shortest: None, coarse: Some(&coarse) };
        Answer::new(self, pair, &found, need)
    }

    /// Return what a search of this number of states needs.
    fn need(&self, pair: &Pair, states: u128) -> Need {
        let of_reach = if self.reach.is_some() { reach::MOST_OCTETS } else { 0 };
        let of_states = states.saturating_mul(Graph::octets_of_state(pair.degree()) as u128);
        Need { states, octets: of_states.saturating_add((pair.octets() + of_reach) as u128) }
    }

    /// Refuse a question that cannot be answered, with the reason and the size; a side can have `most` states.
    fn check(&self, most: usize) -> Result<(), Failure> {
        if !(1..=MOST_PORTS).contains(&self.ports) {
            return Err(refuse("ports", format!("must be from 1 to {MOST_PORTS}, not {}", self.ports)));
        }
        if self.cells == 0 {
            return Err(refuse("memory", "must be at least 1 packet, not 0"));
        }
        if !(1..=MOST_STATES).contains(&self.limit) {
            return Err(refuse("states", format!("must be from 1 to {MOST_STATES}, not {}", self.limit)));
        }
        match &self.subject {
            Subject::Memory { .. } => self.check_size(most),
            Subject::Frames { length, .. } if !(2..=MOST_LENGTH).contains(length) => {
                Err(refuse("frames", format!("must be from 2 to {MOST_LENGTH} cells, not {length}")))
            }
            Subject::Pauses { pauses: Pauses { headroom: Headroom { xoff, xon, .. }, .. }, .. }
                if *xoff.max(xon) > self.cells =>
            {
                let (key, value) = if xoff > &self.cells { ("xoff", xoff) } else { ("xon", xon) };
                Err(refuse(
                    "pause",
                    format!(
                        "must have {key} of at most the {} packets of the memory, not {value}",
                        self.cells
                    ),
                ))
            }
            Subject::Pauses { pauses: Pauses { response, .. }, .. }
                if !(1..=MOST_RESPONSE).contains(response) =>
            {
                Err(refuse(
                    "pause",
                    format!("must have a response from 1 to {MOST_RESPONSE} slots, not {response}"),
                ))
            }
            Subject::Frames { .. } | Subject::Pauses { .. } => self.check_size(most),
        }
    }

    /// Refuse a buffer of which one side alone has too many states, before any of them is visited.
    fn check_size(&self, most: usize) -> Result<(), Failure> {
        let lengths = self.lengths();
        match &self.subject {
            Subject::Memory { .. } if lengths > most as u128 => Err(self.too_large(lengths, most)),
            Subject::Frames { .. } if lengths > HOPELESS * most as u128 => Err(self.too_large(lengths, most)),
            _ if self.cells > u16::MAX.into() => {
                Err(refuse("memory", format!("must be at most {}, not {}", u16::MAX, self.cells)))
            }
            _ => Ok(()),
        }
    }

    /// Build the refusal of a buffer of which one side can have this number of states.
    fn too_large(&self, lengths: u128, most: usize) -> Failure {
        let why = match self.subject {
            Subject::Pauses { .. } => format!(
                "must be smaller for {} senders, or their response shorter: they have more than the {most} states that \
                 can be visited",
                self.ports
            ),
            _ => format!(
                "must be smaller for {} ports or circuits: {} up to {lengths} states, and at most {most} can be tabulated",
                self.ports,
                if self.may_refuse() { "the optimum alone has" } else { "each policy has" }
            ),
        };
        refuse("memory", why)
    }

    /// Return whether a side keeps variables besides the lengths of queues.
    fn keeps_variables(&self, side: &dyn Side) -> bool {
        matches!(self.subject, Subject::Memory { .. }) && side.start().len() > self.ports
    }

    /// Return the most states that a side can have; with variables, the `most` that can be tabulated.
    fn states_of(&self, side: &dyn Side, most: usize) -> u128 {
        if self.keeps_variables(side) { most as u128 } else { self.lengths() }
    }

    /// Build the refusal of a side that has more states than can be tabulated.
    fn too_many(&self, side: &dyn Side, most: usize) -> Failure {
        if !self.keeps_variables(side) {
            return self.too_large(self.lengths(), most);
        }
        let why = format!(
            "must keep variables with few values: with the lengths of {} queues they have more than {most} states, and at \
             most as many can be tabulated; a variable that only grows has states without end",
            self.ports
        );
        refuse("policy", why)
    }

    /// Return the number of states that the queues of one side can have.
    fn lengths(&self) -> u128 {
        match &self.subject {
            Subject::Memory { .. } => choose(self.cells.saturating_add(self.ports as u64), self.ports as u64),
            Subject::Frames { length, .. } => {
                let open = (3 * u128::from(*length)).checked_pow(self.ports as u32);
                open.and_then(|open| open.checked_mul(u128::from(self.cells) + 1)).unwrap_or(u128::MAX)
            }
            Subject::Pauses { pauses, .. } => {
                // shared room and headroom of a queue, and bits: two of the slot, the others of its stops
                let bits = 1_u128 << (pauses.response + 4);
                let room = (u128::from(self.cells) + 1) * (u128::from(pauses.headroom.xoff) + 1);
                let of_sender = room.saturating_mul(bits);
                of_sender.checked_pow(self.ports as u32).unwrap_or(u128::MAX)
            }
        }
    }

    /// Return whether the opponent is an optimum, which may refuse what it could accept.
    fn may_refuse(&self) -> bool {
        !matches!(self.subject, Subject::Memory { against: Some(_), .. })
    }

    /// Build the policy and its opponent.
    fn sides(&self) -> Result<[Box<dyn Side>; 2], Failure> {
        Ok([self.side()?, self.opponent()?])
    }

    /// Build the policy.
    fn side(&self) -> Result<Box<dyn Side>, Failure> {
        Ok(match &self.subject {
            Subject::Memory { policies, .. } => Box::new(self.memory(policies)?),
            Subject::Frames { policy, length } => {
                Box::new(frames::Port::new(policy, self.frames_of(*length)).map_err(Failure::refused)?)
            }
            Subject::Pauses { scheme, pauses } => Box::new(self.senders(scheme, *pauses)?),
        })
    }

    /// Build the opponent.
    fn opponent(&self) -> Result<Box<dyn Side>, Failure> {
        Ok(match &self.subject {
            Subject::Memory { against, .. } => Box::new(self.memory(against.as_ref().unwrap_or(&optimum()))?),
            Subject::Frames { length, .. } => Box::new(frames::Optimum(self.frames_of(*length))),
            Subject::Pauses { .. } => return Err(refuse("pause", "needs never, as in never lossless_drop")),
        })
    }

    fn memory(&self, policies: &Policies) -> Result<Memory, Failure> {
        Memory::new(policies, self.cells, self.ports).map_err(Failure::refused)
    }

    fn frames_of(&self, length: u16) -> Frames {
        Frames { length, circuits: self.ports, cells: self.cells }
    }

    fn senders(&self, scheme: &sharing::Spec, pauses: Pauses) -> Result<Senders, Failure> {
        Senders::new(scheme, self.cells, self.ports, pauses).map_err(Failure::refused)
    }

    /// Return the number of arrivals that a state can have: where senders are stopped, outputs send one by one too.
    fn moves(&self) -> usize {
        match self.subject {
            Subject::Pauses { .. } => 2 * self.ports,
            _ => self.ports,
        }
    }

    fn pair(&self, watch: &Watch<'_>) -> Result<Pair, Failure> {
        let [mut policy, mut opponent] = self.sides()?;
        let explore = |side: &mut dyn Side, may_refuse| {
            let limit = Limit {
                states: MOST_LENGTHS,
                most: Need { states: self.states_of(side, MOST_LENGTHS), octets: 0 },
            };
            Machine::explore(side, self.ports, may_refuse, limit, watch).map_err(|failure| match failure {
                Failure::States(_) => self.too_many(side, MOST_LENGTHS),
                other => other,
            })
        };
        let policy = explore(policy.as_mut(), false)?;
        let opponent = explore(opponent.as_mut(), self.may_refuse())?;
        Ok(Pair::new(policy, opponent, self.ports, self.may_refuse()))
    }
}

/// Return the number of ways to choose `of` things of `from`; the largest number if it has too many digits.
fn choose(from: u64, of: u64) -> u128 {
    (1..=u128::from(of))
        .try_fold(1_u128, |product, factor| {
            let next = u128::from(from - of) + factor;
            product.checked_mul(next).map(|product| product / factor)
        })
        .unwrap_or(u128::MAX)
}
