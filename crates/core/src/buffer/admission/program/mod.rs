//! # Source
//! A scheme of your own: the instructions that a scenario gives. Write it in Python and let Pushout translate it.
//!
//! # Idea
//! The policy is data: `code` is a list of instructions, which run from the first one to an answer. With `asks = "frame"` they
//! run at the first unit of every frame, and the frame rule (partial packet discard) decides about the others; with
//! `asks = "unit"` they run at every unit. `at_head` has instructions that run when such a unit comes to the head of its queue, about
//! to be sent, and `tick` has some that a clock runs. Early packet discard, for example, is
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
//! port), `vc.NAME` (of the circuit), `queue.NAME` (of the queue), or `x.NAME`, of the unit and its port:
//!
//! * `now`, `now_ps` (float, int): the instant, in seconds and in picoseconds
//! * `bytes`, `size` (int): the length of the unit, and what it adds to the occupancy in the measure of the port
//! * `index`, `is_first`, `is_last` (int, bool, bool): its place in its frame; only with `asks = "unit"`
//! * `clp`, `ect` (bool): whether it may be discarded before others, and whether its transport reacts to marks
//! * `fits` (bool): whether it can be queued; not in `at_head`
//! * `vc`, `circuits` (int): the number of its circuit at this port, and how many there are
//! * `total`, `own` (int): the occupancy, in total and of its circuit
//! * `active` (int): circuits with something in the buffer
//! * `capacity` (int): the buffer, in the measure of the port
//! * `rate`, `mcr` (int): of the line, and the minimum cell rate of the circuit, in bits per second
//! * `weight`, `frame` (float, int): the weight of the circuit, and its full frame in the measure of the port
//! * `empty_since`, `empty_since_ps` (float, int): when the buffer last became empty
//! * `overflows` (int): units of the port lost for want of room, as far as the policy was asked about them
//! * `mtu` (int): octets of the largest full frame of the circuits
//! * `queue`, `waiting` (int): the number of its queue, and the octets that wait in it, in `at_head` behind the unit
//! * `waited`, `waited_ps` (float, int): for how long it has waited, in seconds and in picoseconds; only in `at_head`
//! * `every` (float): the time between two calls of the clock, in seconds; only in `tick`
//!
//! `r0 = r1 OPERATOR r2` takes `+ - * / // % ** < <= > >= == !=`, `r0 = min r1 r2` and `max`, `r0 = FUNCTION r1` the
//! functions `neg`, `not`, `abs`, `int`, `float`, `sqrt`, `exp` and `log`. `state.NAME = r0`, `vc.NAME = r0` and
//! `queue.NAME = r0` change the state. `jump 7` and `unless r0 jump 7` go to instruction 7, counted from 0, which must come
//! later. `accept`, `refuse REASON` and `mark REASON` answer; without a reason it is `early`. A mark needs a unit whose
//! transport reacts to marks; any other is refused. By default every frame is accepted that fits (PPD).
//!
//! `at_head`: instructions of the same kind. `refuse` discards the unit instead of sending it, with `asks = "frame"` its whole frame.
//! `tick`: `every` is the time between two calls, `code` has instructions that end with `end`. They look at `now`, `now_ps`, `total`, `active`,
//! `circuits`, `capacity`, `rate`, `mtu`, `empty_since`, `empty_since_ps`, `overflows`, `queue` and `every`; with state of queues they run
//! once for each queue, and change that.
//!
//! `params`: names and values: an integer, a float, `true`, an occupancy ("80 %"), a time (in seconds) or a rate. `limits`: the least and the
//! largest value of a parameter. `state`, `per_vc`
//! and `per_queue`: the state of the port, of each circuit and of each queue, with initial values. `trace`: names of state of the port or of queues
//! that `measure.state` reports over time. `pass_eom` as for PPD. `stream`: the name of its random
//! numbers. `looks_at`: what of the books the program looks at; it is derived from the code, and a scenario that states less is
//! refused. `name` and `source`, the lines of the text from which the code comes, serve messages and do not identify a run.
//!
//! In a memory, as `[memory.NAME] admission`, the program decides about every unit that requests shared room, and one program has the
//! state of a pool. `own` is the shared room that the unit's queue uses, `total` that of the pool, `active` the number of queues that use any,
//! `circuits` that of all queues, `capacity` the shared room of the pool, `queue` the number of the unit's queue, `size` the cells
//! of the unit, `rate` that of the line of its queue; `fits` says whether the pool has room. Besides, the program looks at
//! other queues: `x.length[r0]` is what queue r0 uses, `longest` the number of the longest queue, the first of several, and
//! `next_backlogged r0` that of the next queue with anything after r0; both are -1 if no queue has anything. `per_queue` is state of the unit's queue. `vc`, `mcr`, `weight`,
//! `frame`, `mtu`, `overflows`, `waiting`, `waited`, `every`, marks, `per_vc`, `at_head` and `tick` are those of a port and refused in a memory. If the memory
//! pushes out, it makes room for units that the program accepts and that find none; the program is not asked about them again.
//!
//! # Differences from the paper
//! There is no paper. A type belongs to each register, integers have 64 bits, and `//` and `%` round as in Python. An overflow, a division
//! by zero or a result that is not a number ends the run with a message. Functions other than `sqrt` are those of `libm`.
//!
//! # Complexity
//! At most as many instructions for a decision as the code has, which is at most 1024; at most 16 values of state for the port, 16 for each
//! circuit and 16 for each queue. The fast engine asks as often as `asks` says, but about every unit if the program marks or looks at
//! queues.

mod view;

#[cfg(test)]
mod tests;

use super::{Admission, Arrival, Context, Departure, Failure, Head, Interest, Properties, Rule, Shortcuts};
use crate::buffer::frame::Frames;
use crate::buffer::pool::Pool;
use crate::language::spec::Boxed;
use crate::metrics::state::Figure;
use crate::program::check::{Program, ProgramNames, check_functions};
use crate::program::code::{Decision, Failed, Word};
use crate::program::hook::Hook;
use crate::program::limits::Limits;
use crate::program::run::{Machine, Outcome};
use crate::program::source::{Clock, Code, Source, Texts};
use crate::program::trace::Trace;
use crate::program::values::{Known, PARAMS, STATE, Values, known};
use crate::program::{Asks, LooksAt};
use crate::refused::{Refused, refuse_if};
use crate::rng::{Dice, Subject};
use crate::section;
use crate::units::ids::{IdVec, PortVc, QueueId};
use crate::units::{Span, Time};
use crate::verdict::{Action, HeadVerdict, Reason, Verdict};
use view::{AtPort, Noted, PortConstants, PortView};

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
        /// Limits of parameters, by name, as in `{ weight = { low = 0, high = 1 } }`; times count in seconds, rates in bits per second.
        pub limits: Option<Limits> = None,
        /// State of the port, by name: the initial values.
        pub state: Option<Values> = None,
        /// State of each circuit, by name: the initial values.
        pub per_vc: Option<Values> = None,
        /// State of each queue, by name: the initial values.
        pub per_queue: Option<Values> = None,
        /// State of the port or of queues that reports with `measure.state` show over time, by name.
        pub trace: Option<Vec<String>> = None,
        /// Instructions; by default `accept` alone.
        pub code: Option<Code> = None,
        /// Instructions about a unit at the head of its queue; by default it is sent.
        pub at_head: Option<Code> = None,
        /// A clock, and the instructions that it runs.
        pub tick: Option<Boxed<Clock>> = None,
        /// Keep the last cell of a broken frame as a delimiter, if it fits.
        pub pass_eom: bool = true,
        /// Name of its random numbers: programs with one name draw the same at a port, and with "red" what RED draws.
        pub stream: String = "program".to_string(),
        /// The text from which the code comes.
        pub source: Option<Boxed<Source>> = None,
    }
}

/// The shortest time between two calls of a program's clock.
const SHORTEST: Span = Span::micros(1);

/// A program at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    asks: Asks,
    looks_at: LooksAt,
    /// The functions of the program: for arriving units, for units at the head of a queue and for the clock.
    program: Program,
    at_head: Option<Program>,
    tick: Option<(Span, Program)>,
    frames: Frames,
    kept: Kept,
    trace: Trace,
    dice: Dice,
    place: PortConstants,
    noted: Noted,
    /// For each circuit whether the policy discards the frame at the head of its queue.
    discards: IdVec<PortVc, bool>,
    failure: Option<Failure>,
    texts: Box<Texts>,
}

/// The variables of a program: those of the port, those of each circuit in turn, and those of each queue in turn.
#[derive(Clone, Debug)]
struct Kept {
    state: Vec<Word>,
    per_vc: Vec<Word>,
    /// Number of variables of a circuit.
    of_vc: usize,
    per_queue: Vec<Word>,
    /// Number of variables of a queue.
    of_queue: usize,
    queues: usize,
}

impl Kept {
    fn new(names: &ProgramNames<'_>, vcs: usize) -> Kept {
        let words = |known: &[Known]| known.iter().map(|known| known.word).collect::<Vec<_>>();
        let queues = vcs.max(2); // two share a port where notification divides circuits
        Kept {
            state: words(names.state),
            per_vc: words(names.per_vc).repeat(vcs),
            of_vc: names.per_vc.len(),
            per_queue: words(names.per_queue).repeat(queues),
            of_queue: names.per_queue.len(),
            queues,
        }
    }

    /// Return the variables of the port, of a circuit and of a queue.
    #[inline]
    fn of(&mut self, vc: PortVc, queue: QueueId) -> [&mut [Word]; 3] {
        let Kept { state, per_vc, of_vc, per_queue, of_queue, .. } = self;
        let of_vc = &mut per_vc[vc.index() * *of_vc..][..*of_vc];
        [state, of_vc, &mut per_queue[queue.index() * *of_queue..][..*of_queue]]
    }

    /// Return the variables of the port and of a queue.
    fn of_queue(&mut self, queue: QueueId) -> [&mut [Word]; 3] {
        let Kept { state, per_queue, of_queue, .. } = self;
        [state, &mut [], &mut per_queue[queue.index() * *of_queue..][..*of_queue]]
    }
}

impl Params {
    /// Return the instructions of each function of the program.
    fn codes(&self) -> Vec<(Hook, Vec<String>)> {
        let arrival = (Hook::Arrival(self.asks), self.code.clone().unwrap_or_default().0);
        let head = self.at_head.clone().map(|Code(code)| (Hook::Head(self.asks), code));
        let tick = self.tick.as_ref().map(|tick| (Hook::Tick, tick.0.code.0.clone()));
        [Some(arrival), head, tick].into_iter().flatten().collect()
    }

    /// Return the time between two calls of the clock, if the program has a clock.
    fn every(&self) -> Result<Option<Span>, Refused> {
        let every = self.tick.as_ref().map(|tick| tick.0.every);
        let is_short = every.is_some_and(|every| every < SHORTEST);
        refuse_if(is_short, "tick", "every must be at least 1 us, for a run calls the clock each time")?;
        Ok(every)
    }
}

impl Policy {
    /// Build the program of one port; the error says why it cannot run there.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        let names = ProgramNames {
            params: &known(&params.params, "params", PARAMS, context)?,
            state: &known(&params.state, "state", STATE, context)?,
            per_vc: &known(&params.per_vc, "per_vc", STATE, context)?,
            per_queue: &known(&params.per_queue, "per_queue", STATE, context)?,
        };
        params.limits.iter().try_for_each(|limits| limits.check(names.params))?;
        let source = params.source.as_ref().map(|source| source.0.as_ref().clone());
        let every = params.every()?;
        let texts = Texts::new(&params.name, params.codes(), source)?;
        let programs = check_functions(&texts, &names)?;
        let looks_at = programs.iter().fold(LooksAt::Total, |most, program| most.max(program.looks_at));
        params.check_looks_at(looks_at)?;
        let mut programs = programs.into_iter();
        let mut function = || programs.next().expect("there is a program for each of the codes");
        Ok(Policy {
            asks: params.asks,
            looks_at,
            program: function(),
            at_head: params.at_head.as_ref().map(|_| function()),
            tick: every.map(|every| (every, function())),
            frames: Frames::new(context.vcs(), params.pass_eom),
            kept: Kept::new(&names, context.vcs()),
            trace: Trace::new(params.trace.as_deref().unwrap_or_default(), &names)?,
            dice: context.dice(&params.stream),
            place: PortConstants::new(context),
            noted: Noted::default(),
            discards: IdVec::filled(false, context.vcs()),
            failure: None,
            texts: Box::new(texts),
        })
    }

    /// Run the program for a unit that arrives.
    #[inline]
    fn decide(&mut self, arrival: &Arrival<'_>) -> Decision {
        let Policy { program, kept, dice, place, noted, .. } = self;
        if program.steps.accepts_all() {
            return None;
        }
        let draws = dice.about(arrival.unit.subject());
        let state = kept.of(arrival.vc, arrival.place);
        let mut machine = Machine { state, each: 0, ranks: None, draws };
        let result = machine.run(&mut program.steps, &AtPort { seen: arrival, place, noted });
        let hook = program.hook;
        self.decision(result, arrival.now, hook)
    }

    /// Run the program for a unit at the head of its queue.
    #[inline]
    fn decide_at_head(&mut self, head: &Head<'_>) -> Decision {
        let Policy { at_head, kept, dice, place, noted, .. } = self;
        let Some(program) = at_head else { return None };
        let draws = dice.about(head.unit.subject().at_head());
        let state = kept.of(head.vc, head.queue);
        let mut machine = Machine { state, each: 0, ranks: None, draws };
        let result = machine.run(&mut program.steps, &AtPort { seen: head, place, noted });
        let hook = program.hook;
        self.decision(result, head.now, hook)
    }

    /// Return the decision of a program that has run. A failed program accepts every unit that fits: the run will be
    /// refused.
    #[inline]
    fn decision(&mut self, result: Result<Outcome, Failed>, now: Time, hook: Hook) -> Decision {
        match result {
            Ok(Outcome::Decision(decision)) => decision,
            Ok(_) => None,
            Err(failed) => {
                self.note(now, hook, &failed);
                None
            }
        }
    }

    /// Run the function of the clock for a queue.
    fn call_clock(&mut self, port: &PortView<'_>) {
        let Policy { tick, kept, dice, place, noted, .. } = self;
        let Some((_, program)) = tick else { return };
        let draws = dice.about(Subject::instant(port.now.0, port.queue.index()));
        let state = kept.of_queue(port.queue);
        let mut machine = Machine { state, each: 0, ranks: None, draws };
        if let Err(failed) = machine.run(&mut program.steps, &AtPort { seen: port, place, noted }) {
            self.note(port.now, Hook::Tick, &failed);
        }
    }

    /// Store the first failure of the program; later ones are ignored.
    #[cold]
    fn note(&mut self, now: Time, hook: Hook, failed: &Failed) {
        let why = self.texts.message(hook, failed);
        self.failure.get_or_insert(Failure { time: now, why });
    }

    /// Return the verdict on a unit by a program that decides about every unit.
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

    /// Return the program's verdict on a unit at the head of its queue.
    fn judge_head(&mut self, head: &Head<'_>) -> HeadVerdict {
        match self.decide_at_head(head) {
            None => HeadVerdict::Send,
            Some((action, reason)) if action.marks(head.unit) => HeadVerdict::Mark(reason),
            Some((_, reason)) => HeadVerdict::Discard(reason),
        }
    }
}

impl Params {
    /// Refuse a scenario whose `looks_at` covers less than what the code reads.
    fn check_looks_at(&self, found: LooksAt) -> Result<(), Refused> {
        let why = match found {
            LooksAt::Queues => {
                "must be \"queues\", for the code looks at queues, at units at their heads, or at a clock"
            }
            _ => "must be \"own\", for the code looks at the unit's own circuit or at active circuits",
        };
        refuse_if(self.looks_at.is_some_and(|stated| stated.is_less_than(found)), "looks_at", why)
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
        self.noted.overflows += u64::from(verdict == Verdict::Discard(Reason::Overflow));
        verdict
    }

    fn departed(&mut self, departure: &Departure<'_>) {
        if departure.pool.total() == 0 {
            self.noted.empty_since = departure.now;
        }
    }

    fn at_head(&mut self, head: &Head<'_>) -> HeadVerdict {
        if self.at_head.is_none() {
            return HeadVerdict::Send;
        }
        if self.asks == Asks::Frame && !head.unit.is_first() {
            return match self.discards[head.vc] {
                true => HeadVerdict::Discard(Reason::Partial),
                false => HeadVerdict::Send,
            };
        }
        let verdict = self.judge_head(head);
        self.discards[head.vc] = matches!(verdict, HeadVerdict::Discard(_));
        verdict
    }

    fn broken(&mut self, vc: PortVc, fragment: bool) {
        if self.asks == Asks::Frame {
            self.frames.broken(vc, fragment);
        }
    }

    fn tick(&mut self, now: Time, pool: &Pool, _: Span) -> Option<Time> {
        let every = self.tick.as_ref()?.0;
        if now > Time::ZERO {
            let queues = if self.kept.per_queue.is_empty() { 1 } else { self.kept.queues };
            (0..queues)
                .map(QueueId::new)
                .for_each(|queue| self.call_clock(&PortView { now, pool, queue, every }));
        }
        Some(now + every)
    }

    fn state(&self) -> Vec<Figure> {
        let Kept { state, per_queue, of_queue, .. } = &self.kept;
        self.trace.figures(state, per_queue, *of_queue)
    }

    fn properties(&self) -> Properties {
        let arrival_times = self.looks_at == LooksAt::Queues;
        let splits_frames = self.asks == Asks::Unit || self.at_head.is_some();
        Properties { arrival_times, splits_frames, ..Properties::default() }
    }

    fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }
}

impl Shortcuts for Policy {
    fn frames(&mut self) -> Option<&mut Frames> {
        (self.asks == Asks::Frame && self.looks_at != LooksAt::Queues).then_some(&mut self.frames)
    }

    fn rule(&self) -> Option<Rule> {
        if self.asks == Asks::Frame
            && self.looks_at == LooksAt::Total
            && let Some(threshold) = self.program.steps.threshold()
        {
            return Some(Rule::Frames { threshold });
        }
        let interest = match self.looks_at {
            LooksAt::Total => Interest::Total,
            LooksAt::Own => Interest::Last,
            LooksAt::Queues => return None,
        };
        (!self.program.marks).then_some(Rule::Asked(interest))
    }
}
