//! # Source
//! A scheduler of your own: the instructions that a scenario gives. Write it in Python and let Pushout translate it.
//!
//! # Idea
//! `code` runs when the line is free and some queue may send, and chooses the queue. `joined` runs when a unit has
//! joined a queue, `sent` when one that was chosen is sent; they only change state. Round robin, for example, is
//!
//! ```toml
//! [port.bottleneck.scheduler]
//! policy = "program"
//! name = "my-round-robin"
//! state = { last = -1 }
//! code = ["r0 = state.last", "r0 = next_backlogged r0", "state.last = r0", "choose r0"]
//! ```
//!
//! # Parameters
//! Instructions are those of the [admission policy](admission-program.md), without `vc.NAME` and answers about units. `code` ends with
//! `choose r0`, with the number of a queue that may send; queues have the numbers of their circuits, from 0, or
//! with `queues = "class"` those of the classes at the port, in the order of their sections. `r0 = next_backlogged r1`
//! is the first queue behind that of r1 which may send (behind the last the first of all; -1 is before all), `r0 = least queue.NAME` the
//! one with the least value of its state, `r0 = longest` the one with the most units, of several the lowest number. `x.PROPERTY[r0]` is a
//! property of a queue:
//!
//! * `length`, `octets` (int): its units, and the octets of the unit at its head; `octets` only in `code`
//! * `weight`, `mcr` (float, int): the weight and the minimum cell rate of its circuit, or the weight and the `minimum` rate of its class
//!
//! `x.now`, `x.now_ps`, `x.circuits` and `x.rate` are those of the port (`x.circuits` counts queues), in `joined` and `sent` `x.queue` is the queue, and in `sent` `x.bytes`
//! the length of the unit. `queue.NAME[r0]` is state of a queue (`per_queue`). `joined` and `sent` end with `end`. `params`, `limits`, `state`,
//! `trace`, `stream`, `name` and `source` are those of the admission policy. By default the queue with the lowest number is served.
//!
//! # Differences from the paper
//! There is no paper. A choice of a queue that cannot send ends the run with a message, as what cannot be computed does.
//!
//! # Complexity
//! At most as many instructions as each function has, which is at most 1024, and a step for each queue that may send. The engine
//! asks about each unit.

#[cfg(test)]
mod tests;

use super::{Context, Division, QueueFor, Queues, Scheduler};
use crate::buffer::admission::Failure;
use crate::buffer::set::NumberSet;
use crate::language::spec::Boxed;
use crate::metrics::state::Figure;
use crate::program::check::{Program, ProgramNames, check_functions};
use crate::program::code::{Attribute, Failed, OfQueue, Word};
use crate::program::hook::Hook;
use crate::program::limits::Limits;
use crate::program::ranks::Ranks;
use crate::program::run::{Machine, Outcome, View};
use crate::program::source::{QuietCode, ServeCode, Source, Texts};
use crate::program::trace::Trace;
use crate::program::values::{Known, PARAMS, STATE, Values, known};
use crate::refused::Refused;
use crate::rng::{Dice, Subject};
use crate::section;
use crate::units::ids::{IdVec, PortVc, QueueId};
use crate::units::{CELL_BYTES, Time};

section! {
    /// Serve the queue that the instructions in the scenario choose.
    pub struct Params {
        /// What messages call it.
        pub name: String = "program".to_string(),
        /// Parameters, by name.
        pub params: Option<Values> = None,
        /// Limits of parameters, by name, as in `{ weight = { low = 0, high = 1 } }`; times count in seconds, rates in bits per second.
        pub limits: Option<Limits> = None,
        /// What has a queue of its own.
        pub queues: QueueFor = QueueFor::Circuit,
        /// State of the port, by name: the initial values.
        pub state: Option<Values> = None,
        /// State of each queue, by name: the initial values.
        pub per_queue: Option<Values> = None,
        /// State of the port or of queues that reports with `measure.state` show over time, by name.
        pub trace: Option<Vec<String>> = None,
        /// Instructions that choose a queue; by default the first.
        pub code: Option<ServeCode> = None,
        /// Instructions for a unit that has joined a queue.
        pub joined: Option<QuietCode> = None,
        /// Instructions for a unit that is sent.
        pub sent: Option<QuietCode> = None,
        /// Name of its random numbers: programs with one name draw the same at a port.
        pub stream: String = "scheduler".to_string(),
        /// The text from which the code comes.
        pub source: Option<Boxed<Source>> = None,
    }
}

impl Params {
    /// Return the instructions of each function of the program.
    fn codes(&self) -> Vec<(Hook, Vec<String>)> {
        let serve = (Hook::Serve, self.code.clone().unwrap_or_default().0);
        let joined = self.joined.clone().map(|QuietCode(code)| (Hook::Joined, code));
        let sent = self.sent.clone().map(|QuietCode(code)| (Hook::Sent, code));
        [Some(serve), joined, sent].into_iter().flatten().collect()
    }
}

/// How this scheduler divides units into queues.
pub const QUEUES: Queues = Queues::PerCircuit;

/// Whether this scheduler counts octets.
pub const COUNTS_OCTETS: bool = true;

/// A program at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    serve: Program,
    joined: Option<Program>,
    sent: Option<Program>,
    memory: Memory,
    trace: Trace,
    queues: ProgramQueues,
    /// The queues that may send, if these are not all that have units.
    choices: NumberSet<QueueId>,
    /// Instant of the last run.
    now: Time,
    failure: Option<Failure>,
    texts: Box<Texts>,
}

/// Memory that the program may change.
#[derive(Clone, Debug)]
struct Memory {
    state: Vec<Word>,
    /// State of all queues, queue after queue, with `each` values a queue.
    per_queue: Vec<Word>,
    each: usize,
    ranks: Ranks,
    dice: Dice,
}

/// Facts about queues that the program may read.
#[derive(Clone, Debug)]
struct ProgramQueues {
    rate: Word,
    lengths: IdVec<QueueId, u64>,
    backlogged: NumberSet<QueueId>,
    /// Weight and minimum rate of each queue.
    terms: IdVec<QueueId, [Word; 2]>,
    /// For each circuit its queue, if circuits share queues, and the queue of units in a lower class.
    places: IdVec<PortVc, QueueId>,
    lowered: Option<QueueId>,
}

impl Memory {
    fn new(names: &ProgramNames<'_>, serve: &Program, queues: usize, dice: Dice) -> Memory {
        let words = |known: &[Known]| known.iter().map(|known| known.word).collect::<Vec<_>>();
        let of_queue = words(names.per_queue);
        Memory {
            state: words(names.state),
            per_queue: of_queue.repeat(queues),
            each: of_queue.len(),
            ranks: Ranks::new(&serve.steps, &of_queue, queues),
            dice,
        }
    }

    /// Run a program. Numbers that it draws depend on the instant, and on the number of earlier draws at that instant.
    fn run(&mut self, program: &mut Program, now: Time, view: &impl View) -> Result<Outcome, Failed> {
        let Memory { state, per_queue, each, ranks, dice } = self;
        let draws = dice.about(Subject::instant(now.0, 0));
        let ranks = Some(ranks);
        Machine { state: [state, &mut [], per_queue], each: *each, ranks, draws }
            .run(&mut program.steps, view)
    }
}

impl ProgramQueues {
    fn new(division: Division, context: &Context<'_>) -> ProgramQueues {
        let Division { queues, places, lowered } = division;
        ProgramQueues {
            rate: Word::size(context.rate.0),
            lengths: IdVec::filled(0, queues.len()),
            backlogged: NumberSet::new(queues.len()),
            terms: queues.iter().map(|own| [Word::float(own.weight), Word::size(own.minimum)]).collect(),
            places,
            lowered,
        }
    }
}

impl Policy {
    /// Build the program of one port; the error says why it cannot run there.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        let names = ProgramNames {
            params: &known(&params.params, "params", PARAMS, context)?,
            state: &known(&params.state, "state", STATE, context)?,
            per_vc: &[],
            per_queue: &known(&params.per_queue, "per_queue", STATE, context)?,
        };
        params.limits.iter().try_for_each(|limits| limits.check(names.params))?;
        let source = params.source.as_ref().map(|source| source.0.as_ref().clone());
        let texts = Texts::new(&params.name, params.codes(), source)?;
        let mut programs = check_functions(&texts, &names)?.into_iter();
        let mut function = || programs.next().expect("there is a program for each of the codes");
        let serve = function();
        let queues = ProgramQueues::new(params.queues.divide(context), context);
        let count = queues.lengths.len();
        let memory = Memory::new(&names, &serve, count, context.dice(&params.stream));
        Ok(Policy {
            serve,
            joined: params.joined.as_ref().map(|_| function()),
            sent: params.sent.as_ref().map(|_| function()),
            memory,
            trace: Trace::new(params.trace.as_deref().unwrap_or_default(), &names)?,
            queues,
            choices: NumberSet::new(count),
            now: Time::ZERO,
            failure: None,
            texts: Box::new(texts),
        })
    }

    /// Return the queue that the program chooses among those that may send, or the first of them if it fails.
    fn choose(&mut self, octets: &dyn Fn(QueueId) -> u64) -> Option<QueueId> {
        let Policy { serve, memory, queues, choices, now, .. } = self;
        let choices = if memory.ranks.are_choices { &queues.backlogged } else { &*choices };
        let first = choices.first_from(0)?;
        let view = QueueView { queues, choices, now: *now, unit: None, octets };
        let why = match memory.run(serve, *now, &view) {
            Ok(Outcome::Queue(number)) => {
                let queue = usize::try_from(number).ok().filter(|queue| *queue < view.queues());
                let queue = queue.map(QueueId::new).filter(|queue| choices.contains(*queue));
                if queue.is_some() {
                    return queue;
                }
                self.texts.no_choice(number, "queue that may send")
            }
            Ok(_) => unreachable!("a checked program of a scheduler chooses"),
            Err(failed) => self.texts.message(Hook::Serve, &failed),
        };
        self.fail(why); // the run has no result, but goes on
        Some(first)
    }

    /// Run a function that changes state, for a unit of `octets` octets.
    fn note(&mut self, hook: Hook, queue: QueueId, octets: u64) {
        let Policy { joined, sent, memory, queues, choices, now, .. } = self;
        let function = if hook == Hook::Joined { joined } else { sent };
        let Some(program) = function else { return };
        let view = QueueView { queues, choices, now: *now, unit: Some((queue, octets)), octets: &|_| 0 };
        if let Err(failed) = memory.run(program, *now, &view) {
            self.fail(self.texts.message(hook, &failed));
        }
    }

    /// Store the first failure of the program; later ones are ignored.
    #[cold]
    fn fail(&mut self, why: String) {
        self.failure.get_or_insert(Failure { time: self.now, why });
    }
}

/// The values that a program can read about the queues.
struct QueueView<'a> {
    queues: &'a ProgramQueues,
    choices: &'a NumberSet<QueueId>,
    now: Time,
    /// The queue of the unit that has joined or is sent, and its octets.
    unit: Option<(QueueId, u64)>,
    octets: &'a dyn Fn(QueueId) -> u64,
}

impl View for QueueView<'_> {
    #[inline(never)] // beside the loop of the interpreter, where its registers count more
    fn look(&self, attribute: Attribute) -> Word {
        let unit = || self.unit.expect("a checked program looks at a unit only where there is one");
        match attribute {
            Attribute::Now => Word::float(self.now.as_secs_f64()),
            Attribute::NowPs => Word::size(self.now.0),
            Attribute::Circuits => Word::size(self.queues() as u64),
            Attribute::Rate => self.queues.rate,
            Attribute::Queue => Word::size(unit().0.0.into()),
            Attribute::Bytes => Word::size(unit().1),
            _ => unreachable!("a checked program of a scheduler looks at nothing else"),
        }
    }

    fn queues(&self) -> usize {
        self.queues.lengths.len()
    }

    fn choice_from(&self, number: usize) -> Option<QueueId> {
        self.choices.first_from(number)
    }

    #[inline(always)] // one of the few steps that most decisions take
    fn look_at(&self, property: OfQueue, queue: QueueId) -> Word {
        match property {
            OfQueue::Length => Word::size(self.queues.lengths[queue]),
            OfQueue::Octets => Word::size((self.octets)(queue)),
            OfQueue::Weight => self.queues.terms[queue][0],
            OfQueue::Mcr => self.queues.terms[queue][1],
        }
    }
}

impl Scheduler for Policy {
    fn joined(&mut self, queue: QueueId) {
        self.queues.lengths[queue] += 1;
        if self.queues.lengths[queue] == 1 {
            self.queues.backlogged.insert(queue);
            self.memory.ranks.fill(queue, true);
        }
        self.note(Hook::Joined, queue, 0);
    }

    fn left(&mut self, queue: QueueId, empty: bool) {
        self.queues.lengths[queue] -= 1;
        if empty {
            self.queues.backlogged.remove(queue);
            self.memory.ranks.fill(queue, false);
        }
    }

    fn next(&mut self, now: Time, may_send: &mut dyn FnMut(QueueId) -> bool) -> Option<QueueId> {
        self.next_by_size(now, may_send, &|_| CELL_BYTES)
    }

    fn next_by_size(
        &mut self,
        now: Time,
        may_send: &mut dyn FnMut(QueueId) -> bool,
        octets: &dyn Fn(QueueId) -> u64,
    ) -> Option<QueueId> {
        self.now = now;
        self.choices.clear();
        self.queues
            .backlogged
            .iter()
            .filter(|queue| may_send(*queue))
            .for_each(|queue| self.choices.insert(queue));
        self.memory.ranks.are_choices = false;
        self.choose(octets)
    }

    fn turn_by_size(&mut self, now: Time, octets: &dyn Fn(QueueId) -> u64) -> Option<QueueId> {
        self.now = now;
        self.memory.ranks.are_choices = true;
        self.choose(octets)
    }

    fn state(&self) -> Vec<Figure> {
        self.trace.figures(&self.memory.state, &self.memory.per_queue, self.memory.each)
    }

    fn sent(&mut self, queue: QueueId, octets: u64) {
        self.note(Hook::Sent, queue, octets);
    }

    fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    fn places(&self) -> IdVec<PortVc, QueueId> {
        self.queues.places.clone()
    }

    fn lowered(&self) -> Option<QueueId> {
        self.queues.lowered
    }
}
