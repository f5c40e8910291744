//! What a policy never does, proved by a visit to all its states, or the shortest input on which it does.
//!
//! The states are those of the policy alone: arrivals in any order and ends of slots lead from one to the next, so a visit
//! to all of them is a proof for every input. A second pass, with a policy that is built anew and without the tables of the
//! search, verifies that no step leaves the states that were found, and that none of them is the event.

use pushout_core::words::nearest::unknown;
use serde_json::{Value as Json, json};

use crate::input::{Arrival, Input, slots};
use crate::machine::Machine;
use crate::model::Step;
use crate::pauses::Slot;
use crate::side::Side;
use crate::{Failure, Limit, MOST_VISITED, Need, Question, Subject, Watch, frames, pauses};

/// What a policy may be asked never to do. Every event is an arrival after which a packet, or a cell of a frame, is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Something is refused or pushed out.
    Loss,
    /// Something is refused or pushed out, although the buffer has room for the arrival.
    LossWhileRoom,
    /// A port whose queue is empty is refused a packet, so that its line stays idle.
    Starved,
    /// A cell of a frame is lost after the first cells of this frame were queued.
    BrokenFrame,
    /// A packet of a lossless class is lost, although the memory stops the senders.
    LosslessDrop,
}

const OF_MEMORIES: &[Event] = &[Event::Loss, Event::LossWhileRoom, Event::Starved];
const OF_FRAMES: &[Event] = &[Event::Loss, Event::LossWhileRoom, Event::BrokenFrame];
const OF_PAUSES: &[Event] = &[Event::LosslessDrop];

/// An arrival at one side: the states before and after.
#[derive(Clone, Copy)]
pub(crate) struct Occurrence<'a> {
    before: &'a [u16],
    after: &'a [u16],
    port: usize,
}

impl Event {
    /// Return the name of the event.
    pub fn name(self) -> &'static str {
        match self {
            Event::Loss => "loss",
            Event::LossWhileRoom => "loss while room",
            Event::Starved => "starved",
            Event::BrokenFrame => "broken frame",
            Event::LosslessDrop => "lossless_drop",
        }
    }

    /// Read the name of an event that the subject can have; the error says why it cannot, and which it can have.
    pub(crate) fn read(name: &str, subject: &Subject) -> Result<Event, String> {
        let events = match subject {
            Subject::Memory { .. } => OF_MEMORIES,
            Subject::Frames { .. } => OF_FRAMES,
            Subject::Pauses { .. } => OF_PAUSES,
        };
        let names: Vec<&str> = events.iter().map(|event| event.name()).collect();
        let allowed = names.join(", ");
        match (name, events.iter().find(|event| event.name() == name)) {
            (_, Some(&event)) => Ok(event),
            ("lossless_drop", None) => Err(format!(
                "must be one of {allowed}, not lossless_drop, which needs pause, as in pause xoff=3,response=2"
            )),
            ("idle while waiting", None) => Err(format!(
                "must be one of {allowed}, not idle while waiting: every port with packets sends one in each slot"
            )),
            (_, None) => Err(unknown("event", name, &names)),
        }
    }

    /// Return whether an arrival is the event.
    fn is(self, side: &dyn Side, cells: u64, Occurrence { before, after, port }: Occurrence<'_>) -> bool {
        if self == Event::LosslessDrop {
            return pauses::has_lost(after) && !pauses::has_lost(before);
        }
        let held = |state: &[u16]| side.lengths(state).iter().sum::<u64>();
        let is_loss = held(after) <= held(before);
        is_loss
            && match self {
                Event::Loss => true,
                Event::LossWhileRoom => held(before) < cells,
                Event::Starved => before[port] == 0 && after[port] == 0,
                Event::BrokenFrame => frames::is_whole_so_far(before[port]),
                Event::LosslessDrop => unreachable!("it was told apart"),
            }
    }
}

/// The answer to the question whether an event never happens.
#[derive(Clone, Debug, PartialEq)]
pub struct Proof {
    /// The event.
    pub event: Event,
    /// States of the policy that an input can reach; all were visited.
    pub states: usize,
    /// What the search could need, as announced.
    pub need: Need,
    /// The shortest input with the event, if there is one.
    pub example: Option<Example>,
}

/// An input whose last arrival is the event; then the queues become empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Example {
    /// The arrivals of each slot; `takes` is false if an arrival loses a packet, its own or a queued one.
    pub input: Input,
    /// The queues in each slot before they send.
    pub played: Vec<Vec<u64>>,
    /// Packets, or cells of frames, that the policy sends.
    pub sent: u64,
    /// Packets, or cells of frames, that are lost.
    pub lost: u64,
    /// Of senders that are stopped: all about each slot. The input ends with the loss.
    pub pauses: Vec<Slot>,
}

impl Question {
    /// Prove that an event never happens, or find the input with the fewest arrivals and slots on which it does.
    pub fn never(&self, event: Event, watch: Watch<'_>) -> Result<Proof, Failure> {
        let Visited { policy, machine, need } = self.visit(watch)?;
        let example = match self.first(event, policy.as_ref(), &machine) {
            Some((state, port)) => Some(self.example(event, &machine, state, port)?),
            None => {
                self.verify(event, &machine)?;
                None
            }
        };
        Ok(Proof { event, states: machine.len(), need, example })
    }

    /// Visit all states of the policy.
    pub(crate) fn visit(&self, watch: Watch<'_>) -> Result<Visited, Failure> {
        self.check(MOST_VISITED)?;
        let mut policy = self.side()?;
        let most = self.states_of(policy.as_ref(), MOST_VISITED);
        let states = most.min(self.limit.min(MOST_VISITED) as u128);
        let of_state = |states: u128| Need {
            states,
            octets: states.saturating_mul(Machine::octets_of_state(self.moves(), &policy.start()) as u128),
        };
        let limit = Limit { states: states as usize, most: of_state(most) };
        let need = of_state(states);
        (watch.announce)(need);
        let explored = Machine::explore(policy.as_mut(), self.moves(), false, limit, &watch);
        let machine = explored.map_err(|failure| {
            let is_table_full = matches!(failure, Failure::States(_)) && self.limit >= MOST_VISITED;
            if is_table_full { self.too_many(policy.as_ref(), MOST_VISITED) } else { failure }
        })?;
        Ok(Visited { policy, machine, need })
    }

    /// Return the state with the shortest way from empty queues in which an arrival is the event, and the port.
    fn first(&self, event: Event, policy: &dyn Side, machine: &Machine) -> Option<(usize, usize)> {
        // the order of the states is that of their distances
        let arrivals = (0..machine.len()).flat_map(|state| (0..self.moves()).map(move |port| (state, port)));
        arrivals.into_iter().find(|&(state, port)| {
            let (after, _) = machine.arrived(state, port, true);
            let (before, after) = (machine.words(state), machine.words(after));
            event.is(policy, self.cells, Occurrence { before, after, port })
        })
    }

    /// Verify that no step from a state is the event, nor leads to a state that was not found.
    pub(crate) fn verify(&self, event: Event, machine: &Machine) -> Result<(), Failure> {
        let mut policy = self.side()?;
        let mut is_kept = |state: usize| {
            let before = machine.words(state);
            let is_closed = machine.find(&policy.tick(before).0).is_some();
            is_closed
                && (0..self.moves()).all(|port| {
                    let after = policy.arrive(before, port, true).0;
                    let occurrence = Occurrence { before, after: &after, port };
                    machine.find(&after).is_some() && !event.is(policy.as_ref(), self.cells, occurrence)
                })
        };
        let starts = machine.find(&self.side()?.start()).is_some();
        if starts && (0..machine.len()).all(&mut is_kept) {
            Ok(())
        } else {
            Err(Failure::Certificate("upper"))
        }
    }

    /// Play the input that leads to a state and then has an arrival, which is the event.
    fn example(
        &self,
        event: Event,
        machine: &Machine,
        state: usize,
        port: usize,
    ) -> Result<Example, Failure> {
        let mut steps = machine.way(state);
        steps.push(Step::Arrival { port, takes: true });
        if let Subject::Pauses { scheme, pauses } = &self.subject {
            let slots = self.senders(scheme, *pauses)?.play(&steps);
            return slots.and_then(Example::with_pauses).ok_or(Failure::Certificate("lower"));
        }
        let mut is_shown = false;
        let example = self.played(steps, |policy: &dyn Side, occurrence: Occurrence<'_>| {
            is_shown |= event.is(policy, self.cells, occurrence);
        })?;
        if is_shown { Ok(example) } else { Err(Failure::Certificate("lower")) }
    }

    /// Play steps, and let the queues become empty, with a policy that is built anew; `see` receives every arrival.
    pub(crate) fn played(
        &self,
        mut steps: Vec<Step>,
        mut see: impl FnMut(&dyn Side, Occurrence<'_>),
    ) -> Result<Example, Failure> {
        steps.extend((0..=self.cells).map(|_| Step::Tick));
        let mut policy = self.side()?;
        let mut example = Example { input: slots(steps.iter()), ..Example::default() };
        let mut state = policy.start();
        for slot in &mut example.input {
            for arrival in slot {
                let after = policy.arrive(&state, arrival.port, true).0;
                let occurrence = Occurrence { before: &state, after: &after, port: arrival.port };
                arrival.takes = !Event::Loss.is(policy.as_ref(), self.cells, occurrence);
                example.lost += u64::from(!arrival.takes);
                see(policy.as_ref(), occurrence);
                state = after;
            }
            let lengths = policy.lengths(&state);
            example.sent += lengths.iter().filter(|&&length| length > 0).count() as u64;
            example.played.push(lengths);
            state = policy.tick(&state).0;
        }
        let slots = example.played.iter().rposition(|queues| queues.iter().any(|&length| length > 0));
        let slots = slots.map_or(1, |last| last + 1);
        example.input.truncate(slots);
        example.played.truncate(slots);
        Ok(example)
    }
}

/// A policy, whose states were all visited.
pub(crate) struct Visited {
    pub(crate) policy: Box<dyn Side>,
    pub(crate) machine: Machine,
    /// What the visit could need, as announced.
    pub(crate) need: Need,
}

impl Example {
    /// Build an example of slots in which senders are stopped, if its last arrival, and no other, is lost.
    fn with_pauses(pauses: Vec<Slot>) -> Option<Example> {
        let arrivals: Vec<bool> =
            pauses.iter().flat_map(|slot| &slot.arrivals).map(|&(_, kept)| kept).collect();
        let (last, others) = arrivals.split_last()?;
        let is_shown = !last && others.iter().all(|kept| *kept);
        is_shown.then(|| Example { sent: others.len() as u64, lost: 1, pauses, ..Example::default() })
    }

    /// Return the slots as a document.
    pub(crate) fn document(&self) -> Json {
        if !self.pauses.is_empty() {
            return self.pauses.iter().map(Slot::document).collect();
        }
        let slot = |(arrivals, queues): (&Vec<Arrival>, &Vec<u64>)| {
            json!({
                "arrivals": arrivals.iter().map(|arrival| json!([arrival.port, arrival.takes])).collect::<Json>(),
                "policy": queues,
            })
        };
        self.input.iter().zip(&self.played).map(slot).collect()
    }
}

impl Proof {
    /// Return the proof as a document.
    pub fn document(&self, question: &Question) -> Json {
        json!({
            "policy": question.name(),
            "policies": question.policies(),
            "ports": question.ports,
            "frames": question.frames(),
            "pause": question.pause(),
            "memory": question.cells,
            "never": self.event.name(),
            "proved": self.example.is_none(),
            "states": self.states,
            "most_states": self.need.states as u64,
            "memory_mb": self.need.megabytes() as u64,
            "policy_count": self.example.as_ref().map(|example| example.sent),
            "lost_count": self.example.as_ref().map(|example| example.lost),
            "input": self.example.as_ref().map(Example::document),
        })
    }
}
