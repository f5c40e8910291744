//! # Source
//! A scheme of your own: the instructions that a scenario gives. Write it in Python and let Pushout translate it.
//!
//! # Idea
//! The policy is data: `code` is a list of instructions, which run from the first one to an answer. With `asks = "frame"` they
//! run at the first unit of every frame, and the frame rule (partial packet discard) decides about the others; with
//! `asks = "unit"` they run at every unit. Early packet discard, for example, is
//!
//! ```toml
//! [port.bottleneck.admission]
//! policy = "program"
//! name = "my-epd"
//! asks = "frame"
//! params = { threshold = "80 %" }
//! code = [
//!     "r0 = x.total",
//!     "r1 = params.threshold",
//!     "r2 = r0 >= r1",
//!     "unless r2 jump 5",
//!     "refuse early",
//!     "accept",
//! ]
//! ```
//!
//! # Parameters
//! `code`: one instruction each, counted from 0. `r0 = VALUE` assigns a register, of r0 to r255, a number, `true`, `false`, another
//! register, `draw` (the next random number from 0 to 1 of the port's own stream), or a name: `params.NAME`, `state.NAME` (of the
//! port), `vc.NAME` (of the circuit), or `x.NAME`, of what arrives:
//!
//! * `now`, `now_ps` (float, int): the instant, in seconds and in picoseconds
//! * `bytes`, `size` (int): the length of the unit, and what it adds to the occupancy in the measure of the port
//! * `index`, `is_first`, `is_last` (int, bool, bool): its place in its frame; only with `asks = "unit"`
//! * `clp`, `ect` (bool): whether it may be discarded before others, and whether its transport reacts to marks
//! * `fits` (bool): whether it can be queued
//! * `vc`, `circuits` (int): the number of its circuit at this port, and how many there are
//! * `total`, `own` (int): the occupancy, in total and of its circuit
//! * `active` (int): circuits with something in the buffer
//! * `capacity` (int): the buffer, in the measure of the port
//! * `rate`, `mcr` (int): of the line, and the minimum cell rate of the circuit, in bits per second
//! * `weight`, `frame` (float, int): the weight of the circuit, and its full frame in the measure of the port
//! * `empty_since`, `empty_since_ps` (float, int): when the buffer last became empty
//! * `overflows` (int): units of the port lost for want of room, as far as the policy was asked about them
//!
//! `r0 = r1 OPERATOR r2` takes `+ - * / // % ** < <= > >= == !=`, `r0 = min r1 r2` and `max`, `r0 = FUNCTION r1` the functions `neg`,
//! `not`, `abs`, `int`, `float`, `sqrt`, `exp` and `log`. `state.NAME = r0` and `vc.NAME = r0` change the state. `jump 7` and
//! `unless r0 jump 7` lead forward. `accept`, `refuse REASON` and `mark REASON` answer; without a reason it is `early`. A mark needs a
//! unit whose transport reacts to marks; any other is refused. By default every frame is accepted that fits (PPD).
//!
//! `params`: names and values: an integer, a float, `true`, an occupancy ("80 %"), a time (in seconds) or a rate. `state` and
//! `per_vc`: the state of the port and of each circuit, with initial values. `pass_eom` as for PPD. `stream`: the name of its random
//! numbers. `looks_at`: what of the books the program looks at; it is derived from the code, and a scenario that states less is
//! refused. `name` and `source`, the lines of the text from which the code comes, serve messages and do not identify a run.
//!
//! # Differences from the paper
//! There is no paper. A type belongs to each register, integers have 64 bits, and `//` and `%` round as in Python. An overflow, a division
//! by zero or a result that is not a number ends the run with a message. Functions other than `sqrt` are those of `libm`.
//!
//! # Complexity
//! At most as many instructions for a decision as the code has, which is at most 1024; at most 16 values of state for the port and 16 for each
//! circuit. The fast engine asks as often as `asks` says, but about every unit if the program marks.

mod check;

mod code;

mod run;

mod source;

mod values;

#[cfg(test)]
mod tests;

pub use source::Source;
pub use values::Values;

use super::{Admission, Arrival, Context, Departure, Failure, Interest, Rule, Shortcuts};
use crate::buffer::frame::Frames;
use crate::buffer::verdict::{Action, Reason, Verdict};
use crate::language::spec::Nested;
use crate::refused::{Refused, refuse, refuse_if};
use crate::rng::Stream;
use crate::units::Time;
use crate::{choice, section};
use check::{Names, Program, REGISTERS};
use code::{Attribute, Decision, Word};
use run::{Failed, Machine};
use values::Known;

choice! {
    /// How often a program is asked.
    pub enum Asks {
        /// Once a frame, at its first unit.
        Frame = "frame",
        /// Once a unit.
        Unit = "unit",
    }
}

choice! {
    /// What of the books a program looks at.
    pub enum LooksAt {
        /// The total occupancy.
        Total = "total",
        /// Also that of the unit's own circuit, or how many circuits are active.
        Own = "own",
    }
}

section! {
    /// Do what the instructions in the scenario say.
    pub struct Params {
        /// What messages call it.
        pub name: String = "program".to_string(),
        /// How often it is asked.
        pub asks: Asks = Asks::Frame,
        /// What it looks at; by default what the code says.
        pub looks_at: Option<LooksAt> = None,
        /// Parameters, by name.
        pub params: Option<Values> = None,
        /// State of the port, by name: the initial values.
        pub state: Option<Values> = None,
        /// State of each circuit, by name: the initial values.
        pub per_vc: Option<Values> = None,
        /// Instructions; by default `accept` alone.
        pub code: Option<Code> = None,
        /// Keep the last cell of a broken frame as a delimiter, if it fits.
        pub pass_eom: bool = true,
        /// Name of its random numbers: programs with one name draw the same at a port, and with "red" what RED draws.
        pub stream: String = "program".to_string(),
        /// The text from which the code comes.
        pub source: Option<Nested<Source>> = None,
    }
}

pub use source::Code;

/// Values of state that a port has at most, and each circuit.
const STATE: usize = 16;

/// Parameters that a program has at most.
const PARAMS: usize = 64;

/// A program at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    asks: Asks,
    program: Program,
    frames: Frames,
    /// What the program keeps: of the port, and of one circuit after the other.
    state: Vec<Word>,
    per_vc: Vec<Word>,
    stream: Stream,
    registers: Box<[Word; REGISTERS]>,
    place: Place,
    empty_since: Time,
    overflows: u64,
    failure: Option<Failure>,
    /// For messages: the name of the program, its instructions and its text.
    told: Box<(String, Vec<String>, Option<Source>)>,
}

/// What does not change at a port.
#[derive(Clone, Debug)]
struct Place {
    capacity: Word,
    rate: Word,
    /// Minimum rate, weight and frame of every circuit.
    circuits: Vec<[Word; 3]>,
}

impl Place {
    fn new(context: &Context<'_>) -> Place {
        let circuits = context.contracts.iter().map(|contract| {
            [Word::size(contract.mcr.0), Word::float(contract.weight), Word::size(contract.frame)]
        });
        Place {
            capacity: Word::size(context.capacity.up_to(u64::MAX)),
            rate: Word::size(context.rate.0),
            circuits: circuits.collect(),
        }
    }
}

/// The initial values of state.
fn words(known: &[Known]) -> impl Iterator<Item = Word> + Clone {
    known.iter().map(|known| known.word)
}

impl Policy {
    /// The program at one port, or why it cannot run there.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        let none = Values::default();
        let known = params.params.as_ref().unwrap_or(&none).at("params", PARAMS, context)?;
        let state = params.state.as_ref().unwrap_or(&none).at("state", STATE, context)?;
        let per_vc = params.per_vc.as_ref().unwrap_or(&none).at("per_vc", STATE, context)?;
        let names = Names { params: &known, state: &state, per_vc: &per_vc };
        let Code(code) = &params.code.clone().unwrap_or_default();
        let program = check::check(code, params.asks, &names).or_else(|(key, why)| refuse(key, why))?;
        let states_less = params.looks_at == Some(LooksAt::Total) && program.looks_at == LooksAt::Own;
        refuse_if(
            states_less,
            "looks_at",
            "must be \"own\", for the code looks at the unit's own circuit or at active circuits",
        )?;
        let source = params.source.clone().map(|source| source.0);
        source.iter().try_for_each(|source| source.check(code.len()))?;
        let vcs = context.vcs();
        Ok(Policy {
            asks: params.asks,
            program,
            frames: Frames::new(vcs, params.pass_eom),
            state: words(&state).collect(),
            per_vc: (0..vcs).flat_map(|_| words(&per_vc)).collect(),
            stream: context.stream(&params.stream),
            registers: Box::new([Word::default(); REGISTERS]),
            place: Place::new(context),
            empty_since: Time::ZERO,
            overflows: 0,
            failure: None,
            told: Box::new((params.name.clone(), code.clone(), source)),
        })
    }

    /// Run the program about a unit. One that has failed accepts what fits: the run will be refused.
    fn decide(&mut self, arrival: &Arrival<'_>) -> Decision {
        let Policy { program, state, per_vc, stream, registers, place, empty_since, overflows, .. } = self;
        let kept = per_vc.len() / place.circuits.len().max(1);
        let per_vc = &mut per_vc[arrival.vc * kept..][..kept];
        let view = View { arrival, place, empty_since: *empty_since, overflows: *overflows };
        let mut machine = Machine { state, per_vc, stream, registers };
        match machine.run(&program.ops, |attribute| view.look(attribute)) {
            Ok(decision) => decision,
            Err(failed) => {
                self.note(arrival.now, &failed);
                None
            }
        }
    }

    /// Keep the first failure.
    #[cold]
    fn note(&mut self, now: Time, failed: &Failed) {
        let (name, code, source) = &*self.told;
        let text = &code[failed.instruction];
        let place = match source {
            Some(source) => source.line(failed.instruction),
            None => format!("instruction {} of \"{name}\"", failed.instruction),
        };
        let why = format!("{place}: {} (`{text}`)", failed.why);
        self.failure.get_or_insert(Failure { time: now, why });
    }

    /// The verdict about a unit of a program that is asked about every one.
    fn verdict(&self, decision: Decision, arrival: &Arrival<'_>) -> Verdict {
        match decision {
            Some((action, reason)) if !action.marks(arrival.unit) => Verdict::Discard(reason),
            _ if !arrival.fits() => Verdict::Discard(Reason::Overflow),
            Some((_, reason)) => Verdict::Mark(reason),
            None => Verdict::Accept,
        }
    }

    fn judge_frame(&mut self, arrival: &Arrival<'_>) -> Verdict {
        let decision = if arrival.unit.is_first() { self.decide(arrival) } else { None };
        let (action, reason) = decision.unzip();
        self.frames.act(action.unwrap_or(Action::Drop));
        self.frames.judge(arrival.unit, arrival.vc, arrival.fits(), || reason)
    }
}

/// What a program sees of an arrival.
struct View<'a> {
    arrival: &'a Arrival<'a>,
    place: &'a Place,
    empty_since: Time,
    overflows: u64,
}

impl View<'_> {
    #[inline]
    fn look(&self, attribute: Attribute) -> Word {
        let Arrival { now, unit, vc, size, pool, .. } = *self.arrival;
        match attribute {
            Attribute::Now => Word::float(now.as_secs_f64()),
            Attribute::NowPs => Word::size(now.0),
            Attribute::Bytes => Word::size(unit.bytes.into()),
            Attribute::Size => Word::size(size),
            Attribute::Index => Word::size(unit.index.into()),
            Attribute::IsFirst => Word::bool(unit.is_first()),
            Attribute::IsLast => Word::bool(unit.is_eom()),
            Attribute::Clp => Word::bool(unit.is_marked()),
            Attribute::Ect => Word::bool(unit.is_ect()),
            Attribute::Fits => Word::bool(self.arrival.fits()),
            Attribute::Vc => Word::size(vc as u64),
            Attribute::Total => Word::size(pool.total()),
            Attribute::Own => Word::size(pool.of(vc)),
            Attribute::Active => Word::size(pool.active().into()),
            Attribute::Circuits => Word::size(pool.vcs() as u64),
            Attribute::Capacity => self.place.capacity,
            Attribute::Rate => self.place.rate,
            Attribute::Mcr => self.place.circuits[vc][0],
            Attribute::Weight => self.place.circuits[vc][1],
            Attribute::Frame => self.place.circuits[vc][2],
            Attribute::EmptySince => Word::float(self.empty_since.as_secs_f64()),
            Attribute::EmptySincePs => Word::size(self.empty_since.0),
            Attribute::Overflows => Word::size(self.overflows),
        }
    }
}

impl Admission for Policy {
    fn judge(&mut self, arrival: &mut Arrival<'_>) -> Verdict {
        let verdict = match self.asks {
            Asks::Frame => self.judge_frame(arrival),
            Asks::Unit => {
                let decision = self.decide(arrival);
                self.verdict(decision, arrival)
            }
        };
        self.overflows += u64::from(verdict == Verdict::Discard(Reason::Overflow));
        verdict
    }

    fn departed(&mut self, departure: &Departure<'_>) {
        if departure.pool.total() == 0 {
            self.empty_since = departure.now;
        }
    }

    fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    fn goes_by_frames(&self) -> bool {
        self.asks == Asks::Frame
    }
}

impl Shortcuts for Policy {
    fn frames(&mut self) -> Option<&mut Frames> {
        (self.asks == Asks::Frame).then_some(&mut self.frames)
    }

    fn rule(&self) -> Option<Rule> {
        let interest = match self.program.looks_at {
            LooksAt::Total => Interest::Total,
            LooksAt::Own => Interest::Last,
        };
        (!self.program.marks).then_some(Rule::Asked(interest))
    }
}
