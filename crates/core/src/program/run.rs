//! The interpreter: one decision of a checked program.

use super::code::{
    Answer, Attribute, Binary, Failed, OfQueue, Op, Operand, REGISTERS, Reg, Scope, Type, Unary, Word,
};
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

    /// Return the queues that the program can choose, in the order of their numbers.
    fn choices(&self) -> &[QueueId] {
        &[]
    }

    /// Return a property of a queue.
    fn look_at(&self, property: OfQueue, queue: QueueId) -> Word {
        unreachable!("a program that sees {property:?} of queue {queue} has queues")
    }
}

/// Memory that a decision may change.
pub(crate) struct Machine<'a> {
    pub(crate) state: &'a mut [Word],
    pub(crate) per_vc: &'a mut [Word],
    /// State of one queue, or of all queues, with `each` values a queue.
    pub(crate) per_queue: &'a mut [Word],
    pub(crate) each: usize,
    pub(crate) draws: &'a mut Draws,
    /// Registers. Their initial content does not matter: the check ensures that each register is written before it is
    /// read.
    pub(crate) registers: &'a mut [Word; REGISTERS],
}

impl Machine<'_> {
    /// Run a program to its answer.
    #[inline]
    pub(crate) fn run(&mut self, ops: &[Op], view: &impl View) -> Result<Answer, Failed> {
        let mut next = 0;
        loop {
            let instruction = next;
            next += 1;
            match ops[instruction] {
                Op::Set { to, ref value } => {
                    let value = self.value(value, view);
                    self.registers[to.index()] = value.map_err(|why| why.at(instruction))?;
                }
                Op::Store { scope, place, from } => self.state(scope)[usize::from(place)] = self.at(from),
                Op::StoreAt { place, queue, from } => {
                    let queue = self.queue(view, queue).map_err(|why| why.at(instruction))?;
                    self.per_queue[queue.index() * self.each + usize::from(place)] = self.at(from);
                }
                Op::Jump { target } => next = usize::from(target),
                Op::Unless { condition, target } => {
                    if !self.at(condition).as_bool() {
                        next = usize::from(target);
                    }
                }
                Op::Answer(answer) => return Ok(answer),
            }
        }
    }

    /// Compute a value that an instruction assigns.
    #[inline(always)] // the interpreter is one loop
    fn value(&mut self, value: &Operand, view: &impl View) -> Result<Word, Unusable> {
        Ok(match *value {
            Operand::Constant(word) => word,
            Operand::Attribute(attribute) => view.look(attribute),
            Operand::State { scope, place } => self.state(scope)[usize::from(place)],
            Operand::Register(from) => self.at(from),
            Operand::Draw => Word::float(self.draws.unit()),
            Operand::Property { property, queue } => view.look_at(property, self.queue(view, queue)?),
            Operand::StateAt { place, queue } => {
                self.per_queue[self.queue(view, queue)?.index() * self.each + usize::from(place)]
            }
            Operand::NextBacklogged { after } => next_behind(view.choices(), self.at(after).as_int()),
            Operand::Least { place, kind } => self.least(view, place, kind),
            Operand::Longest => longest(view),
            Operand::Unary { function, kind, of } => {
                let value = self.at(of);
                one(function, kind, value).map_err(|why| Unusable::new(why, kind, &[value]))?
            }
            Operand::Whole { operator, left, right } => {
                let values = [self.at(left), self.at(right)];
                let result = whole(operator, values[0].as_int(), values[1].as_int());
                result.map_err(|why| Unusable::new(why, Type::Int, &values))?
            }
            Operand::Real { operator, left, right } => {
                let values = [self.at(left), self.at(right)];
                let result = real(operator, values[0].as_float(), values[1].as_float());
                result.map_err(|why| Unusable::new(why, Type::Float, &values))?
            }
        })
    }

    /// Return the queue whose number is in a register.
    fn queue(&self, view: &impl View, register: Reg) -> Result<QueueId, Unusable> {
        let number = self.at(register);
        usize::try_from(number.as_int())
            .ok()
            .filter(|queue| *queue < view.queues())
            .map(QueueId::new)
            .ok_or_else(|| Unusable::new("there is no such queue: the number", Type::Int, &[number]))
    }

    /// Return, of the queues that can be chosen, the one with the least value of a state variable; the first of
    /// several.
    fn least(&self, view: &impl View, place: u8, kind: Type) -> Word {
        let value = |queue: QueueId| self.per_queue[queue.index() * self.each + usize::from(place)];
        let is_less = |one: Word, other: Word| match kind {
            Type::Float => one.as_float() < other.as_float(),
            _ => one.as_int() < other.as_int(),
        };
        let least = view
            .choices()
            .iter()
            .copied()
            .reduce(|least, queue| if is_less(value(queue), value(least)) { queue } else { least });
        number_of(least)
    }

    fn at(&self, register: Reg) -> Word {
        self.registers[register.index()]
    }

    fn state(&mut self, scope: Scope) -> &mut [Word] {
        match scope {
            Scope::Port => self.state,
            Scope::Vc => self.per_vc,
            Scope::Queue => self.per_queue,
        }
    }
}

/// Return the number of a queue, or -1 without a queue.
fn number_of(queue: Option<QueueId>) -> Word {
    queue.map_or(Word::int(-1), |queue| Word::size(queue.0.into()))
}

/// Return the first queue after number `after` that can be chosen; after the last one, the first of all.
fn next_behind(choices: &[QueueId], after: i64) -> Word {
    let behind = choices.partition_point(|queue| i64::from(queue.0) <= after);
    number_of(choices.get(behind).or(choices.first()).copied())
}

/// Return the longest of the queues that can be chosen; the first of several.
fn longest(view: &impl View) -> Word {
    let length = |queue: QueueId| view.look_at(OfQueue::Length, queue).as_int();
    number_of(
        view.choices().iter().copied().reduce(
            |longest, queue| {
                if length(queue) > length(longest) { queue } else { longest }
            },
        ),
    )
}

/// The reason why an instruction cannot use its values.
struct Unusable(String);

impl Unusable {
    #[cold]
    fn new(why: &str, kind: Type, values: &[Word]) -> Unusable {
        let values: Vec<String> = values.iter().map(|value| value.shown(kind)).collect();
        Unusable(format!("{why} of {}", values.join(" and ")))
    }

    #[cold]
    fn at(self, instruction: usize) -> Failed {
        Failed { instruction, why: self.0 }
    }
}

const OVERFLOW: &str = "an integer of 64 bits cannot hold the result";
const BY_ZERO: &str = "a divisor must not be 0: quotient";
const NOT_A_NUMBER: &str = "no number is the result";

fn one(unary: Unary, kind: Type, value: Word) -> Result<Word, &'static str> {
    let (int, float) = (value.as_int(), value.as_float());
    match (unary, kind) {
        (Unary::Not, _) => Ok(Word::bool(!value.as_bool())),
        (Unary::Neg, Type::Int) => int.checked_neg().map(Word::int).ok_or(OVERFLOW),
        (Unary::Abs, Type::Int) => int.checked_abs().map(Word::int).ok_or(OVERFLOW),
        (Unary::Float, _) => Ok(Word::float(int as f64)),
        (Unary::Int, _) if (-9.2e18..9.2e18).contains(&float) => Ok(Word::int(float as i64)),
        (Unary::Int, _) => Err(OVERFLOW),
        (Unary::Neg, _) => number(-float),
        (Unary::Abs, _) => number(libm::fabs(float)),
        (Unary::Sqrt, _) => number(libm::sqrt(float)),
        (Unary::Exp, _) => number(libm::exp(float)),
        (Unary::Log, _) if float <= 0.0 => Err(NOT_A_NUMBER),
        (Unary::Log, _) => number(libm::log(float)),
    }
}

fn whole(binary: Binary, left: i64, right: i64) -> Result<Word, &'static str> {
    let result = match binary {
        Binary::Add => left.checked_add(right),
        Binary::Sub => left.checked_sub(right),
        Binary::Mul => left.checked_mul(right),
        Binary::Div | Binary::FloorDiv | Binary::Mod if right == 0 => return Err(BY_ZERO),
        Binary::Div | Binary::FloorDiv => floor_quotient(left, right),
        Binary::Mod => {
            floor_quotient(left, right).map(|quotient| left.wrapping_sub(quotient.wrapping_mul(right)))
        }
        Binary::Pow => u32::try_from(right).ok().and_then(|exponent| left.checked_pow(exponent)),
        Binary::Min => Some(left.min(right)),
        Binary::Max => Some(left.max(right)),
        _ => return Ok(Word::bool(compared(binary, &left, &right))),
    };
    result.map(Word::int).ok_or(OVERFLOW)
}

/// Return the quotient rounded towards minus infinity, as in Python.
fn floor_quotient(left: i64, right: i64) -> Option<i64> {
    let quotient = left.checked_div(right)?;
    let inexact = left % right != 0;
    Some(quotient - i64::from(inexact && (left < 0) != (right < 0)))
}

fn real(binary: Binary, left: f64, right: f64) -> Result<Word, &'static str> {
    match binary {
        Binary::Add => number(left + right),
        Binary::Sub => number(left - right),
        Binary::Mul => number(left * right),
        Binary::Div | Binary::FloorDiv | Binary::Mod if right == 0.0 => Err(BY_ZERO),
        Binary::Div => number(left / right),
        Binary::FloorDiv => number(floor_division(left, right).0),
        Binary::Mod => number(floor_division(left, right).1),
        Binary::Pow if left == 0.0 && right < 0.0 => Err(BY_ZERO),
        Binary::Pow => number(libm::pow(left, right)),
        // As in Python, the result is the first of two equal values.
        Binary::Min => Ok(Word::float(if right < left { right } else { left })),
        Binary::Max => Ok(Word::float(if right > left { right } else { left })),
        _ => Ok(Word::bool(compared(binary, &left, &right))),
    }
}

/// Return quotient and remainder as in Python: the remainder has the sign of the divisor.
fn floor_division(left: f64, right: f64) -> (f64, f64) {
    let mut rest = libm::fmod(left, right);
    let mut quotient = (left - rest) / right;
    if rest == 0.0 {
        rest = libm::copysign(0.0, right);
    } else if (right < 0.0) != (rest < 0.0) {
        rest += right;
        quotient -= 1.0;
    }
    if quotient == 0.0 {
        return (libm::copysign(0.0, left / right), rest);
    }
    let floor = libm::floor(quotient);
    (if quotient - floor > 0.5 { floor + 1.0 } else { floor }, rest)
}

fn compared<T: PartialOrd>(binary: Binary, left: &T, right: &T) -> bool {
    match binary {
        Binary::Lt => left < right,
        Binary::Le => left <= right,
        Binary::Gt => left > right,
        Binary::Ge => left >= right,
        Binary::Eq => left == right,
        _ => left != right,
    }
}

fn number(value: f64) -> Result<Word, &'static str> {
    if value.is_nan() { Err(NOT_A_NUMBER) } else { Ok(Word::float(value)) }
}
