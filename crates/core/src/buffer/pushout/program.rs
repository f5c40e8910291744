//! # Source
//! A push-out policy of your own: the instructions that a scenario gives. Write it in Python and let Pushout translate it.
//!
//! # Idea
//! `code` runs when a unit finds no room and some queue can give way. It chooses the queue that loses a packet, and
//! runs again until the unit fits. Longest queue drop, for example, is
//!
//! ```toml
//! [port.bottleneck.pushout]
//! policy = "program"
//! name = "my-longest-queue"
//! code = [
//!     "r0 = longest",
//!     "r1 = x.length[r0]",
//!     "r2 = x.own",
//!     "r3 = x.size",
//!     "r2 = r2 + r3",
//!     "r4 = r1 > r2",
//!     "unless r4 jump 8",
//!     "choose r0",
//!     "r0 = -1",
//!     "choose r0",
//! ]
//! ```
//!
//! # Parameters
//! Instructions are those of the [scheduler](scheduler-program.md). `choose r0` ends them, with the number of a queue that can give way,
//! or with -1: then the arriving unit is lost. `r0 = longest`, `r0 = next_backlogged r1` and `r0 = least queue.NAME` look among the queues that
//! can give way. `x.length[r0]` is the occupancy of a queue in the measure of the port, `x.weight[r0]` and `x.mcr[r0]` are those of its
//! circuit. `x.vc`, `x.own` and `x.size` are circuit, occupancy of the circuit and size of the arriving unit; `x.now`, `x.now_ps`, `x.total`,
//! `x.active`, `x.capacity`, `x.circuits` and `x.rate` are those of the port. `end` (default `tail`) says which packet of the queue goes, as
//! for `longest-queue`. `params`, `limits`, `state`, `per_queue`, `trace`, `stream`, `name` and `source` are those of the scheduler. By default the
//! longest queue gives way, as above. In a memory the queues are those of its ports: `x.vc` is the number of the arriving unit's queue, `x.own`
//! and `x.length[r0]` are cells of shared room, `x.total` and `x.capacity` are those of the full pool or memory, and `x.rate` is that
//! of the unit's port; weights, MCRs and state do not exist there.
//!
//! # Differences from the paper
//! There is no paper. A choice of a queue that cannot give way ends the run with a message, as what cannot be computed does. A memory
//! may ask more than once before it removes anything.
//!
//! # Complexity
//! At most as many instructions as the code has, which is at most 1024, and a step for each queue, for a packet that finds no room.

use super::lengths::{Lengths, cut};
use super::longest_queue::{self, End};
use super::{Context, Cut, Full, PushOut};
use crate::buffer::admission::Failure;
use crate::buffer::frame::Frames;
use crate::buffer::set::NumberSet;
use crate::language::spec::Boxed;
use crate::metrics::state::Figure;
use crate::program::check::{Program, ProgramNames, check_functions};
use crate::program::code::{Attribute, OfQueue, Word};
use crate::program::hook::Hook;
use crate::program::limits::Limits;
use crate::program::run::{Machine, Outcome, View};
use crate::program::source::{Source, Texts, VictimCode};
use crate::program::step::Steps;
use crate::program::trace::Trace;
use crate::program::values::{Buffer, PARAMS, STATE, Values, known};
use crate::refused::Refused;
use crate::rng::{Dice, Subject};
use crate::section;
use crate::units::Time;
use crate::units::ids::{IdVec, PortVc, QueueId};

section! {
    /// The queue that the instructions in the scenario choose loses a packet.
    pub struct Params {
        /// What messages call it.
        pub name: String = "program".to_string(),
        /// Which packet of the queue goes.
        pub end: End = End::Tail,
        /// Parameters, by name.
        pub params: Option<Values> = None,
        /// Limits of parameters, by name, as in `{ weight = { low = 0, high = 1 } }`; times count in seconds, rates in bits per second.
        pub limits: Option<Limits> = None,
        /// State of the port, by name: the initial values.
        pub state: Option<Values> = None,
        /// State of each queue, by name: the initial values.
        pub per_queue: Option<Values> = None,
        /// State of the port or of queues that reports with `measure.state` show over time, by name.
        pub trace: Option<Vec<String>> = None,
        /// Instructions that choose a queue; by default the longest.
        pub code: Option<VictimCode> = None,
        /// Name of its random numbers: programs with one name draw the same at a port.
        pub stream: String = "pushout".to_string(),
        /// The text from which the code comes.
        pub source: Option<Boxed<Source>> = None,
    }
}

/// A checked program with its state, which chooses a queue.
#[derive(Clone, Debug)]
pub(crate) struct Chooser {
    program: Program,
    state: Vec<Word>,
    per_queue: Vec<Word>,
    each: usize,
    trace: Trace,
    dice: Dice,
    failure: Option<Failure>,
    texts: Box<Texts>,
}

/// A program at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    chooser: Chooser,
    end: End,
    lengths: Lengths,
    frames: Frames,
    rate: Word,
    /// Weight and minimum rate of each circuit.
    contracts: IdVec<PortVc, [Word; 2]>,
}

impl Chooser {
    /// Build the program for a buffer with `queues` queues; the error says why it cannot run there.
    pub(crate) fn new(
        params: &Params,
        context: &impl Buffer,
        queues: usize,
        dice: Dice,
    ) -> Result<Chooser, Refused> {
        let names = ProgramNames {
            params: &known(&params.params, "params", PARAMS, context)?,
            state: &known(&params.state, "state", STATE, context)?,
            per_vc: &[],
            per_queue: &known(&params.per_queue, "per_queue", STATE, context)?,
        };
        params.limits.iter().try_for_each(|limits| limits.check(names.params))?;
        let source = params.source.as_ref().map(|source| source.0.as_ref().clone());
        let code = params.code.clone().unwrap_or_default().0;
        let texts = Texts::new(&params.name, vec![(Hook::GiveWay, code)], source)?;
        let program = check_functions(&texts, &names)?.remove(0);
        let of_queue: Vec<Word> = names.per_queue.iter().map(|known| known.word).collect();
        Ok(Chooser {
            program,
            state: names.state.iter().map(|known| known.word).collect(),
            each: of_queue.len(),
            trace: Trace::new(params.trace.as_deref().unwrap_or_default(), &names)?,
            per_queue: of_queue.repeat(queues),
            dice,
            failure: None,
            texts: Box::new(texts),
        })
    }

    /// Return the instructions.
    pub(crate) fn steps(&self) -> &Steps {
        &self.program.steps
    }

    /// Return the reason why the program could not compute a choice, if it failed.
    pub(crate) fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }

    /// Return the queue that the program chooses now for the unit `subject`, or `None` if that unit is lost.
    pub(crate) fn choose(
        &mut self,
        (now, subject): (Time, Subject),
        view: &impl View,
        choices: &NumberSet<QueueId>,
    ) -> Option<QueueId> {
        let chosen = self.chosen(subject, view, choices);
        chosen.unwrap_or_else(|why| {
            self.failure.get_or_insert(Failure { time: now, why });
            None
        })
    }

    /// Return the number that the program chooses; the error says why the program failed.
    fn victim(&mut self, subject: Subject, view: &impl View) -> Result<i64, String> {
        let Chooser { program, state, per_queue, each, dice, .. } = self;
        let draws = dice.about(subject);
        let mut machine = Machine { state: [state, &mut [], per_queue], each: *each, ranks: None, draws };
        match machine.run(&mut program.steps, view) {
            Ok(Outcome::Queue(number)) => Ok(number),
            Ok(_) => unreachable!("a checked program of push-out chooses"),
            Err(failed) => Err(self.texts.message(Hook::GiveWay, &failed)),
        }
    }

    /// Return the queue that gives way, or `None` if the arriving unit is lost; the error says why there is no choice.
    fn chosen(
        &mut self,
        subject: Subject,
        view: &impl View,
        choices: &NumberSet<QueueId>,
    ) -> Result<Option<QueueId>, String> {
        let number = self.victim(subject, view)?;
        match choices.iter().find(|queue| i64::from(queue.0) == number) {
            None if number != -1 => Err(self.texts.no_choice(number, "queue that can give way, or -1")),
            queue => Ok(queue),
        }
    }
}

impl Policy {
    /// Build the program of one port; the error says why it cannot run there.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        let contracts = context.contracts.iter();
        Ok(Policy {
            chooser: Chooser::new(params, context, context.vcs(), context.dice(&params.stream))?,
            end: params.end,
            lengths: Lengths::new(context, false)?,
            frames: Frames::new(context.vcs(), true),
            rate: Word::size(context.rate.0),
            contracts: contracts
                .map(|contract| [Word::float(contract.weight), Word::size(contract.mcr.0)])
                .collect(),
        })
    }
}

impl PushOut for Policy {
    fn choose(&mut self, full: &Full<'_>) -> Option<Cut> {
        let end = self.end;
        let part = |vc: PortVc| longest_queue::part(&full.queues[vc], end);
        let mut choices = NumberSet::new(self.lengths.circuits());
        let busy = self.lengths.busy().iter().filter(|&vc| part(vc).is_some());
        busy.for_each(|vc| choices.insert(vc.queue()));
        if choices.is_empty() {
            return None;
        }
        let Policy { chooser, rate, contracts, .. } = self;
        let view = BufferView { full, choices: &choices, rate: *rate, contracts };
        let victim = chooser.choose((full.now, full.subject), &view, &choices)?;
        cut(full, victim.vc(), |queue| longest_queue::part(queue, end))
    }

    fn lengths(&mut self) -> &mut Lengths {
        &mut self.lengths
    }

    fn frames(&mut self) -> Option<&mut Frames> {
        Some(&mut self.frames)
    }

    fn state(&self) -> Vec<Figure> {
        let Chooser { trace, state, per_queue, each, .. } = &self.chooser;
        trace.figures(state, per_queue, *each)
    }

    fn failure(&self) -> Option<&Failure> {
        self.chooser.failure()
    }
}

/// The values that a program can read about a full buffer.
struct BufferView<'a> {
    full: &'a Full<'a>,
    choices: &'a NumberSet<QueueId>,
    rate: Word,
    contracts: &'a IdVec<PortVc, [Word; 2]>,
}

impl View for BufferView<'_> {
    #[inline(never)] // beside the loop of the interpreter, where its registers count more
    fn look(&self, attribute: Attribute) -> Word {
        let Full { now, pool, arriving: (vc, size), .. } = *self.full;
        match attribute {
            Attribute::Now => Word::float(now.as_secs_f64()),
            Attribute::NowPs => Word::size(now.0),
            Attribute::Vc => Word::size(vc.0.into()),
            Attribute::Size => Word::size(size),
            Attribute::Own => Word::size(pool.of(vc)),
            Attribute::Total => Word::size(pool.total()),
            Attribute::Active => Word::size(pool.active().into()),
            Attribute::Capacity => Word::size(pool.capacity().up_to(u64::MAX)),
            Attribute::Circuits => Word::size(pool.vcs() as u64),
            Attribute::Rate => self.rate,
            _ => unreachable!("a checked program of push-out looks at nothing else"),
        }
    }

    fn queues(&self) -> usize {
        self.contracts.len()
    }

    fn choice_from(&self, number: usize) -> Option<QueueId> {
        self.choices.first_from(number)
    }

    fn look_at(&self, property: OfQueue, queue: QueueId) -> Word {
        let vc = queue.vc();
        match property {
            OfQueue::Length => Word::size(self.full.pool.of(vc)),
            OfQueue::Weight => self.contracts[vc][0],
            OfQueue::Mcr => self.contracts[vc][1],
            OfQueue::Octets => unreachable!("a checked program of push-out sees no unit at a head"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Spec;
    use super::*;
    use crate::link::port::bench::Bench;
    use crate::serde_json::{Value as Json, json};
    use crate::units::ids::IdSlice;

    /// The program with these keys.
    fn spec(keys: &Json) -> Spec {
        let mut table = json!({ "policy": "program" });
        table.as_object_mut().unwrap().extend(keys.as_object().unwrap().clone());
        let text = json!({ "pushout": table }).to_string();
        let root = crate::language::read::read(&text, crate::language::read::Format::Json).unwrap();
        <Spec as crate::language::spec::Field>::read(root.get("pushout").unwrap(), "").unwrap()
    }

    fn bench(keys: &Json) -> Bench {
        Bench::new(10, &[0, 0, 0], spec(keys))
    }

    #[test]
    fn by_default_the_longest_queue_gives_way() {
        let mut bench = bench(&json!({}));
        bench.offer(0, "1111111111");
        assert_eq!(bench.offer(1, "1111111"), "AAAAAoo");
        assert_eq!(bench.queues(), "11111,11111,");
    }

    #[test]
    fn the_queue_that_is_chosen_gives_way_at_its_end() {
        for (end, gone) in [("tail", "1:f.."), ("head", "1:fe")] {
            let code = ["r0 = x.vc", "r0 = next_backlogged r0", "choose r0"];
            let mut bench = bench(&json!({ "end": end, "code": code }));
            bench.offer(0, "1111");
            bench.offer(1, "fe1f..");
            assert_eq!((bench.offer(0, "1"), bench.pushed_out()), ("A".into(), gone.into()), "{end}");
        }
    }

    #[test]
    fn a_choice_of_no_queue_loses_the_arriving_unit() {
        let mut bench = bench(&json!({ "code": ["r0 = -1", "choose r0"] }));
        bench.offer(0, "1111111111");
        assert_eq!(bench.offer(1, "1"), "o");
    }

    #[test]
    fn a_choice_that_cannot_give_way_is_a_failure_with_its_values() {
        let context = Context::alone(4, 2);
        let Spec::ProgramPushout(params) = spec(&json!({ "code": ["r0 = 1", "choose r0"] })) else {
            unreachable!("it asks for a program")
        };
        let mut policy = Policy::new(&params, &context).unwrap();
        let mut choices = NumberSet::new(2);
        choices.insert(QueueId(0));
        let pool = crate::buffer::pool::Pool::new(context.capacity, 2);
        let full = full_of(&pool);
        let Policy { chooser, rate, contracts, .. } = &mut policy;
        let view = BufferView { full: &full, choices: &choices, rate: *rate, contracts };
        let why = chooser.chosen(full.subject, &view, &choices);
        let expected =
            "the choice of \"program\" must be the number of a queue that can give way, or -1, not 1";
        assert_eq!(why, Err(expected.to_string()));
    }

    fn full_of(pool: &crate::buffer::pool::Pool) -> Full<'_> {
        Full {
            now: Time::ZERO,
            pool,
            queues: IdSlice::new(&[]),
            arriving: (PortVc(1), 1),
            subject: Subject::unit(1, 0, 0),
        }
    }

    #[test]
    fn what_push_out_cannot_see_is_refused() {
        let cases = [
            (["r0 = x.bytes", "choose r0"], "push-out looks at now"),
            (["r0 = x.queue", "end"], "push-out looks at now"),
            (["r0 = 1", "accept"], "must end every path with choose"),
        ];
        for (code, expected) in cases {
            let why = spec(&json!({ "code": code })).build(&Context::alone(4, 2)).unwrap_err().to_string();
            assert!(why.contains(expected), "{code:?}: {why}");
        }
    }
}
