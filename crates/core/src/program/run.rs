//! The interpreter: one decision of a checked program.

use super::arithmetic::{one, real, whole};
use super::code::{Answer, Attribute, Decision, Failed, OfQueue, Reg, Scope, Type, Word};
use super::ranks::Ranks;
use super::step::{Step, Steps};
use crate::rng::Draws;
use crate::units::ids::QueueId;

/// The values that a program can read about its port.
pub(crate) trait View {
    /// Return the value of an attribute, which the check has allowed.
    fn look(&self, attribute: Attribute) -> Word;

    /// Return the number of queues that the program can name.
    fn queues(&self) -> usize {
        0
    }

    /// Return the first queue that the program can choose whose number is at least `number`.
    fn choice_from(&self, number: usize) -> Option<QueueId> {
        unreachable!("a program that looks for a queue from {number} on has queues")
    }

    /// Return a property of a queue.
    fn look_at(&self, property: OfQueue, queue: QueueId) -> Word {
        unreachable!("a program that sees {property:?} of queue {queue} has queues")
    }
}

/// Memory that a decision may change.
pub(crate) struct Machine<'a> {
    /// State of the port, of the circuit, and of one queue or of all queues, with `each` values a queue.
    pub(crate) state: [&'a mut [Word]; 3],
    pub(crate) each: usize,
    /// Ranks of the queues, at a scheduler.
    pub(crate) ranks: Option<&'a mut Ranks>,
    pub(crate) draws: &'a mut Draws,
}

/// The end of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Outcome {
    Decision(Decision),
    /// The program has only changed its state.
    End,
    /// The number of a queue.
    Queue(i64),
}

impl Machine<'_> {
    /// Run a program to its answer.
    #[inline]
    pub(crate) fn run(&mut self, program: &mut Steps, view: &impl View) -> Result<Outcome, Failed> {
        let Steps { steps, instructions, constants, registers } = program;
        let mut next = 0;
        loop {
            let step = next;
            next += 1;
            let at = |register: Reg| registers[register.index()];
            let fail = |why, kind, values: &[Word]| Err(failed(instructions[step], why, kind, values));
            let (to, word) = match steps[step] {
                Step::Copy { to, from } => (to, at(from)),
                Step::Constant { to, place } => (to, constants[usize::from(place)]),
                Step::Look { to, attribute } => (to, view.look(attribute)),
                Step::Load { to, scope, place } => (to, self.state[scope as usize][usize::from(place)]),
                Step::Draw { to } => (to, Word::float(self.draws.unit())),
                Step::LookAt { to, property, queue } => match queue_of(view, at(queue)) {
                    Some(queue) => (to, view.look_at(property, queue)),
                    None => return fail(NO_QUEUE, Type::Int, &[at(queue)]),
                },
                Step::LoadAt { to, place, queue } => match queue_of(view, at(queue)) {
                    Some(queue) => (to, self.of_queue(queue, place)),
                    None => return fail(NO_QUEUE, Type::Int, &[at(queue)]),
                },
                Step::NextBacklogged { to, after } => (to, next_behind(view, at(after).as_int())),
                Step::Least { to, place, kind } => (to, self.least(view, place, kind)),
                Step::Longest { to } => (to, longest(view)),
                Step::Unary { to, function, kind, of } => match one(function, kind, at(of)) {
                    Ok(word) => (to, word),
                    Err(why) => return fail(why, kind, &[at(of)]),
                },
                Step::Whole { to, operator, left, right } => {
                    match whole(operator, at(left).as_int(), at(right).as_int()) {
                        Ok(word) => (to, word),
                        Err(why) => return fail(why, Type::Int, &[at(left), at(right)]),
                    }
                }
                Step::Real { to, operator, left, right } => {
                    match real(operator, at(left).as_float(), at(right).as_float()) {
                        Ok(word) => (to, word),
                        Err(why) => return fail(why, Type::Float, &[at(left), at(right)]),
                    }
                }
                Step::Store { scope, place, from } => {
                    self.state[scope as usize][usize::from(place)] = at(from);
                    continue;
                }
                Step::StoreAt { place, queue, from } => match queue_of(view, at(queue)) {
                    Some(queue) => {
                        self.store_at(queue, place, at(from));
                        continue;
                    }
                    None => return fail(NO_QUEUE, Type::Int, &[at(queue)]),
                },
                Step::Jump { target } => {
                    next = usize::from(target);
                    continue;
                }
                Step::Branch { condition, when, target } => {
                    if at(condition).as_bool() == when {
                        next = usize::from(target);
                    }
                    continue;
                }
                Step::WholeBranch { orders, left, right, target } => {
                    if orders.hold(at(left).as_int(), at(right).as_int()) {
                        next = usize::from(target);
                    }
                    continue;
                }
                Step::RealBranch { orders, left, right, target } => {
                    if orders.hold(at(left).as_float(), at(right).as_float()) {
                        next = usize::from(target);
                    }
                    continue;
                }
                Step::Answer(Answer::Decision(decision)) => return Ok(Outcome::Decision(decision)),
                Step::Answer(Answer::End) => return Ok(Outcome::End),
                Step::Answer(Answer::Queue(register)) => return Ok(Outcome::Queue(at(register).as_int())),
            };
            registers[to.index()] = word;
        }
    }

    /// Return the index of a state variable of a queue.
    fn index(&self, queue: QueueId, place: u8) -> usize {
        queue.index() * self.each + usize::from(place)
    }

    fn of_queue(&self, queue: QueueId, place: u8) -> Word {
        self.state[Scope::Queue as usize][self.index(queue, place)]
    }

    fn store_at(&mut self, queue: QueueId, place: u8, word: Word) {
        let index = self.index(queue, place);
        self.state[Scope::Queue as usize][index] = word;
        self.ranks.iter_mut().for_each(|ranks| ranks.set(queue, place, word));
    }

    /// Return, of the queues that can be chosen, the one with the least value of a state variable; the first of
    /// several.
    fn least(&self, view: &impl View, place: u8, kind: Type) -> Word {
        if let Some(least) = self.ranks.as_ref().and_then(|ranks| ranks.least(place)) {
            return number_of(least);
        }
        let value = |queue: QueueId| self.of_queue(queue, place);
        let is_less = |one: Word, other: Word| match kind {
            Type::Float => one.as_float() < other.as_float(),
            _ => one.as_int() < other.as_int(),
        };
        let least = choices(view)
            .reduce(|least, queue| if is_less(value(queue), value(least)) { queue } else { least });
        number_of(least)
    }
}

/// Return the queues that the program can choose, in the order of their numbers.
fn choices(view: &impl View) -> impl Iterator<Item = QueueId> {
    std::iter::successors(view.choice_from(0), |queue| view.choice_from(queue.index() + 1))
}

/// Return the queue with this number, if it exists.
fn queue_of(view: &impl View, number: Word) -> Option<QueueId> {
    let number = number.as_int().cast_unsigned(); // beyond all queues if it is below 0
    (number < view.queues() as u64).then(|| QueueId::new(number as usize))
}

/// Return the number of a queue, or -1 without a queue.
fn number_of(queue: Option<QueueId>) -> Word {
    queue.map_or(Word::int(-1), |queue| Word::size(queue.0.into()))
}

/// Return the first queue after number `after` that can be chosen; after the last one, the first of all.
fn next_behind(view: &impl View, after: i64) -> Word {
    let from = usize::try_from(after.saturating_add(1)).unwrap_or(0);
    number_of(view.choice_from(from).or_else(|| view.choice_from(0)))
}

/// Return the longest of the queues that can be chosen; the first of several.
fn longest(view: &impl View) -> Word {
    let length = |queue: QueueId| view.look_at(OfQueue::Length, queue).as_int();
    number_of(
        choices(view).reduce(|longest, queue| if length(queue) > length(longest) { queue } else { longest }),
    )
}

/// What is said of the number of a queue that does not exist.
const NO_QUEUE: &str = "there is no such queue: the number";

/// Return the failure of an instruction that cannot use its values.
#[cold]
fn failed(instruction: u16, why: &str, kind: Type, values: &[Word]) -> Failed {
    let values: Vec<String> = values.iter().map(|value| value.shown(kind)).collect();
    Failed { instruction: instruction.into(), why: format!("{why} of {}", values.join(" and ")) }
}
