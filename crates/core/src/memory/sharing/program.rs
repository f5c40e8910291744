//! A program in a pool: see `buffer/admission/program/mod.rs`.
//!
//! The program runs once for each unit that requests room, or for the first unit of each frame, and accepts or refuses
//! it; it has no threshold. Its decision holds for the unit, so that push-out makes room for an accepted unit and none
//! for a refused one. What it reads of its port as a port's policy, it reads of its pool here: the queue of the unit
//! stands for the circuit, the shared room of the pool for the buffer.

use super::{Context, Leaving, Pool, Sharing, Variables};
use crate::buffer::admission::Failure;
use crate::buffer::size::Level;
use crate::program::check::{Program, ProgramNames, check_functions};
use crate::program::code::{Attribute, Decision, OfQueue, Type, Word};
use crate::program::hook::{Asks, Hook};
use crate::program::run::{Machine, Outcome, View};
use crate::program::source::Texts;
use crate::program::values::{Buffer, Known, PARAMS, STATE, known};
use crate::refused::{Refused, refuse, refuse_if};
use crate::rng::Dice;
use crate::unit::Unit;
use crate::units::Time;
use crate::units::ids::{PoolQueue, QueueId};

pub use crate::buffer::admission::program::Params;

/// The scheme removes no packets.
pub const EXPELS: bool = false;

impl Buffer for Context<'_> {
    fn level(&self, key: &'static str, level: Level) -> Result<u64, Refused> {
        level.within(self.measure, self.capacity).or_else(|why| refuse(key, why))
    }
}

/// A program in one pool.
#[derive(Clone, Debug)]
pub struct Policy {
    asks: Asks,
    program: Program,
    state: Vec<Word>,
    per_queue: Vec<Word>,
    /// Number of variables of a queue.
    each: usize,
    dice: Dice,
    capacity: Word,
    /// Rates of the lines of the queues.
    rates: Box<[Word]>,
    empty_since: Time,
    /// The last unit that the program decided about, if it refused it.
    refused: Option<Unit>,
    depends_on: Option<String>,
    failure: Option<Failure>,
    texts: Box<Texts>,
}

impl Policy {
    /// Build the program of one pool; the error says why it cannot run there.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        check_keys(params)?;
        let names = ProgramNames {
            params: &known(&params.params, "params", PARAMS, context)?,
            state: &known(&params.state, "state", STATE, context)?,
            per_vc: &[],
            per_queue: &known(&params.per_queue, "per_queue", STATE, context)?,
        };
        params.limits.iter().try_for_each(|limits| limits.check(names.params))?;
        let source = params.source.as_ref().map(|source| source.0.as_ref().clone());
        let code = params.code.clone().unwrap_or_default().0;
        let texts = Texts::new(&params.name, vec![(Hook::Share(params.asks), code)], source)?;
        let program = check_functions(&texts, &names)?.remove(0);
        let words = |known: &[Known]| known.iter().map(|known| known.word).collect::<Vec<_>>();
        let queues = context.queues.len().max(1); // no flow may use the pool
        let rates = context.queues.iter().map(|queue| Word::size(queue.outlet.rate.0));
        Ok(Policy {
            asks: params.asks,
            depends_on: depends_on(&program, &names),
            program,
            state: words(names.state),
            per_queue: words(names.per_queue).repeat(queues),
            each: names.per_queue.len(),
            dice: context.dice(&params.stream),
            capacity: Word::size(context.capacity.up_to(u64::MAX)),
            rates: rates.collect(),
            empty_since: Time::ZERO,
            refused: None,
            failure: None,
            texts: Box::new(texts),
        })
    }

    /// Run the program for a unit.
    fn decide(&mut self, request: &Request<'_>) -> Decision {
        if self.program.steps.accepts_all() {
            return None;
        }
        let Policy { program, state, per_queue, each, dice, capacity, rates, empty_since, .. } = self;
        let of_queue = &mut per_queue[request.queue.index() * *each..][..*each];
        let draws = dice.about(request.unit.subject());
        let mut machine = Machine { state: [state, &mut [], of_queue], each: 0, ranks: None, draws };
        let view = PoolView { request, capacity: *capacity, rates, empty_since: *empty_since };
        match machine.run(&mut program.steps, &view) {
            Ok(Outcome::Decision(decision)) => decision,
            Ok(_) => unreachable!("a checked program of a memory decides"),
            Err(failed) => {
                let why = self.texts.message(self.program.hook, &failed);
                self.failure.get_or_insert(Failure { time: request.now, why });
                None
            }
        }
    }
}

/// Refuse keys of a port's program that have no meaning in a memory.
fn check_keys(params: &Params) -> Result<(), Refused> {
    let why =
        "must be left out in a memory, whose program decides about units that arrive and about nothing else";
    refuse_if(params.at_head.is_some(), "at_head", why)?;
    refuse_if(params.tick.is_some(), "tick", why)?;
    let has_circuits = params.per_vc.as_ref().is_some_and(|values| !values.is_empty());
    refuse_if(has_circuits, "per_vc", "must be left out in a memory, which has no circuits: use per_queue")
}

/// Return what the decisions depend on besides the lengths of queues and variables that have few values.
fn depends_on(program: &Program, names: &ProgramNames<'_>) -> Option<String> {
    let of_pool = names.state.iter().chain(names.per_queue);
    let real = of_pool
        .filter(|known| known.kind == Type::Float)
        .map(|known| format!("{}, a variable with a value of type float", known.name));
    let looks = program.steps.attributes().filter_map(|attribute| {
        Some(match attribute {
            Attribute::Now | Attribute::NowPs => "x.now, the instant",
            Attribute::EmptySince | Attribute::EmptySincePs => "x.empty_since, an instant",
            Attribute::Rate => "x.rate, the rate of a line",
            _ => return None,
        })
    });
    let draws = program.steps.draws().then_some("x.draw(), a random number");
    looks.chain(draws).map(str::to_string).chain(real).next()
}

impl Sharing for Policy {
    fn threshold(&self, _: &Pool, _: PoolQueue) -> f64 {
        f64::INFINITY
    }

    fn offered(&mut self, now: Time, pool: &Pool, queue: PoolQueue, size: u64, unit: &Unit) {
        if self.asks == Asks::Unit || unit.is_first() {
            let decision = self.decide(&Request { now, pool, queue, size, unit });
            self.refused = decision.map(|_| *unit);
        }
    }

    #[inline]
    fn refuses(&self, unit: &Unit) -> bool {
        self.refused.as_ref() == Some(unit)
    }

    fn judges_frames(&self) -> bool {
        self.asks == Asks::Frame
    }

    fn draws(&self) -> bool {
        self.program.steps.draws()
    }

    fn departed(&mut self, leaving: &Leaving<'_>, pool: &Pool, _: PoolQueue) {
        if pool.total() == 0 {
            self.empty_since = leaving.now;
        }
    }

    fn depends_on(&self) -> Option<&str> {
        self.depends_on.as_deref()
    }

    fn variables(&self) -> Variables {
        let bits = |words: &[Word]| words.iter().map(|word| word.bits()).collect();
        Variables { of_pool: bits(&self.state), of_queues: bits(&self.per_queue) }
    }

    fn set_variables(&mut self, variables: &Variables) {
        let words = |bits: &[u64]| bits.iter().map(|&bits| Word::of_bits(bits)).collect();
        (self.state, self.per_queue) = (words(&variables.of_pool), words(&variables.of_queues));
    }

    fn failure(&self) -> Option<&Failure> {
        self.failure.as_ref()
    }
}

/// A unit that requests room in a queue of a pool.
struct Request<'a> {
    now: Time,
    pool: &'a Pool,
    queue: PoolQueue,
    size: u64,
    unit: &'a Unit,
}

/// The values that a program can read about a pool and about a unit.
struct PoolView<'a> {
    request: &'a Request<'a>,
    capacity: Word,
    rates: &'a [Word],
    empty_since: Time,
}

impl View for PoolView<'_> {
    #[inline(never)] // beside the loop of the interpreter, where its registers count more
    fn look(&self, attribute: Attribute) -> Word {
        let &Request { now, pool, queue, size, unit } = self.request;
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
            Attribute::Fits => Word::bool(pool.fits(size)),
            Attribute::Own => Word::size(pool.of(queue)),
            Attribute::Total => Word::size(pool.total()),
            Attribute::Active => Word::size(pool.active().into()),
            Attribute::Circuits => Word::size(pool.vcs() as u64),
            Attribute::Capacity => self.capacity,
            Attribute::Rate => self.rates[queue.index()],
            Attribute::Queue => Word::size(queue.0.into()),
            Attribute::EmptySince => Word::float(self.empty_since.as_secs_f64()),
            Attribute::EmptySincePs => Word::size(self.empty_since.0),
            _ => unreachable!("a checked program of a memory looks at nothing else"),
        }
    }

    fn queues(&self) -> usize {
        self.request.pool.vcs()
    }

    fn choice_from(&self, number: usize) -> Option<QueueId> {
        let pool = self.request.pool;
        (number..pool.vcs()).find(|&queue| pool.of(PoolQueue::new(queue)) > 0).map(QueueId::new)
    }

    fn look_at(&self, property: OfQueue, queue: QueueId) -> Word {
        match property {
            OfQueue::Length => Word::size(self.request.pool.of(PoolQueue(queue.0))),
            _ => unreachable!("a checked program of a memory looks at lengths"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Spec;
    use super::*;
    use crate::language::read::{Format, read};
    use crate::language::spec::Field;
    use crate::memory::decide::{Decider, Policies};
    use crate::memory::sharing::tests::{context, terms};
    use crate::rng::Stream;
    use crate::serde_json::{Value as Json, json};
    use crate::units::ids::LineId;

    /// Build the policies of a memory: a program with these keys, and push-out if `pushes_out`.
    fn policies(keys: &Json, pushes_out: bool) -> Policies {
        let mut program = json!({ "policy": "program", "asks": "unit" });
        program.as_object_mut().unwrap().extend(keys.as_object().unwrap().clone());
        let pushout = pushes_out.then(|| json!({ "policy": "longest-queue" }));
        let mut table = json!({ "admission": program });
        pushout.into_iter().for_each(|pushout| table["pushout"] = pushout);
        Policies::read(&read(&table.to_string(), Format::Json).unwrap()).unwrap()
    }

    fn decider(policies: &Policies) -> Decider {
        Decider::new(policies, 20, 2).unwrap()
    }

    fn built(keys: &Json) -> Result<(), String> {
        let terms = [terms(LineId(0), None), terms(LineId(1), None)];
        let spec = policies(keys, false).admission;
        spec.build(&context(&terms)).map(|_| ()).map_err(|refused| refused.to_string())
    }

    fn threshold() -> Json {
        let code = [
            "r0 = x.own",
            "r1 = x.capacity",
            "r2 = x.total",
            "r1 = r1 - r2",
            "r3 = float r1",
            "r4 = params.alpha",
            "r3 = r3 * r4",
            "r5 = float r0",
            "r6 = r5 >= r3",
            "unless r6 jump 11",
            "refuse",
            "accept",
        ];
        json!({ "code": code, "params": { "alpha": 0.5 } })
    }

    /// The harmonic policy for two ports: together they may use the memory, and each of them 2/3 of it.
    fn harmonic() -> Json {
        let code = [
            "r0 = x.own",
            "r1 = 1",
            "r0 = r0 + r1",
            "r1 = 3",
            "r0 = r0 * r1",
            "r1 = 2",
            "r2 = x.capacity",
            "r1 = r1 * r2",
            "r3 = r0 > r1",
            "unless r3 jump 11",
            "refuse",
            "r0 = x.queue",
            "r1 = 1",
            "r1 = r1 - r0",
            "r0 = x.length[r1]",
            "r1 = x.own",
            "r0 = r0 + r1",
            "r3 = r0 >= r2",
            "unless r3 jump 20",
            "refuse",
            "accept",
        ];
        json!({ "code": code })
    }

    #[test]
    fn programs_decide_as_the_schemes_that_they_describe() {
        for (keys, scheme) in [
            (json!({}), json!({ "policy": "complete-sharing" })),
            (threshold(), json!({ "policy": "dynamic-threshold", "alpha": 0.5 })),
            (harmonic(), json!({ "policy": "harmonic" })),
        ] {
            for pushes_out in [false, true] {
                let program = policies(&keys, pushes_out);
                let text = scheme.to_string();
                let admission = Spec::read(&read(&text, Format::Json).unwrap(), "").unwrap();
                let published = Policies { admission, pushout: program.pushout.clone() };
                let mut sides = [decider(&program), decider(&published)];
                let mut draws = Stream::new(1, "arrivals");
                let mut refused = 0;
                for number in 0..2000 {
                    let queue = draws.up_to(1) as usize;
                    let accepted = sides.each_mut().map(|side| side.arrive(queue));
                    assert_eq!(accepted[0], accepted[1], "{text}, packet {number}");
                    refused += usize::from(!accepted[0]);
                    if draws.up_to(2) == 0 {
                        let queue = draws.up_to(1) as usize;
                        for side in &mut sides {
                            side.set_length(queue, side.length(queue).saturating_sub(1));
                        }
                    }
                }
                assert!((100..1900).contains(&refused), "{text}: {refused}");
            }
        }
    }

    #[test]
    fn push_out_makes_room_for_an_accepted_packet_and_none_for_a_refused_one() {
        let even = json!({ "code": [
            "r0 = state.count", "r1 = 1", "r2 = r0 + r1", "state.count = r2", "r1 = 2", "r0 = r0 % r1", "r1 = 0",
            "r3 = r0 == r1", "unless r3 jump 10", "accept", "refuse",
        ], "state": { "count": 0 } });
        let mut decider = decider(&policies(&even, true));
        decider.set_length(0, 20);
        let accepted = [1, 1, 1, 1].map(|queue| decider.arrive(queue));
        assert_eq!((accepted, decider.length(0), decider.length(1)), ([true, false, true, false], 18, 2));
        assert_eq!(decider.variables().of_pool, [4], "the program runs once for each packet");
    }

    #[test]
    fn each_queue_has_its_variables() {
        let code = ["r0 = queue.seen", "r1 = 1", "r0 = r0 + r1", "queue.seen = r0", "accept"];
        let mut decider = decider(&policies(&json!({ "code": code, "per_queue": { "seen": 0 } }), false));
        [1, 0, 1].into_iter().for_each(|queue| assert!(decider.arrive(queue)));
        assert_eq!(decider.variables().of_queues, [1, 2]);
        decider.set_variables(&Variables { of_queues: vec![7, 8], ..Variables::default() });
        decider.arrive(0);
        assert_eq!(decider.variables().of_queues, [8, 8]);
    }

    #[test]
    fn what_a_memory_does_not_have_is_refused() {
        let code = |line: &str| json!({ "code": [line, "accept"], "per_queue": { "seen": 0 } });
        for (keys, expected) in [
            (code("r0 = x.vc"), "a memory has queues of its ports, and neither circuits"),
            (code("r0 = x.waited"), "a memory has queues of its ports"),
            (code("r0 = least queue.seen"), "the state of the arriving unit's queue only"),
            (json!({ "code": ["r0 = 0", "r1 = x.weight[r0]", "accept"] }), "the length of a queue only"),
            (json!({ "code": ["mark"] }), "a memory accepts or refuses"),
            (json!({ "per_vc": { "seen": 0 } }), "must be left out in a memory, which has no circuits"),
            (json!({ "at_head": ["accept"] }), "at_head: must be left out in a memory"),
            (json!({ "tick": { "code": ["end"] } }), "tick: must be left out in a memory"),
        ] {
            let why = built(&keys).unwrap_err();
            assert!(why.contains(expected), "{keys}: {why}");
        }
        built(&json!({ "per_vc": {}, "code": ["r0 = x.now", "r1 = draw", "accept"] })).unwrap();
    }

    #[test]
    fn what_cannot_be_enumerated_is_named() {
        let above = |value: &str, limit: &str| {
            let [value, limit] = [format!("r0 = {value}"), format!("r1 = {limit}")];
            json!({ "code": [&value, &limit, "r2 = r0 > r1", "unless r2 jump 5", "refuse", "accept"] })
        };
        for (keys, other) in [
            (above("x.now_ps", "7"), "x.now, the instant"),
            (above("draw", "0.5"), "x.draw(), a random number"),
            (above("x.rate", "7"), "x.rate, the rate of a line"),
            (json!({ "state": { "mean": 0.5 } }), "mean, a variable with a value of type float"),
        ] {
            let decider = decider(&policies(&keys, false));
            assert_eq!(decider.depends_on(), Some(other));
        }
    }

    #[test]
    fn a_decision_that_cannot_be_computed_is_a_failure_with_its_place() {
        let code = ["r0 = x.own", "r1 = 1", "r0 = r1 // r0", "accept"];
        let mut decider = decider(&policies(&json!({ "code": code, "name": "mine" }), false));
        assert_eq!(decider.failure(), None);
        decider.arrive(0);
        let expected =
            "instruction 2 of \"mine\": a divisor must not be 0: quotient of 1 and 0 (`r0 = r1 // r0`)";
        assert_eq!(decider.failure(), Some(expected));
    }
}
