//! The instructions of a program as they are written.

use super::code::{Answer, Attribute, Binary, Decision, OfQueue, REASONS, Reg, Scope, Type, Unary, Word};
use crate::excerpt::quoted;
use crate::verdict::{Action, Reason};
use crate::words::nearest::unknown;

/// An instruction as it is written; names are not yet resolved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Instruction<'a> {
    /// Assign a value to a register.
    Set {
        to: Reg,
        value: Expression<'a>,
    },
    /// Assign a register to a state variable.
    Store {
        scope: Scope,
        name: &'a str,
        from: Reg,
    },
    /// Assign a register to a state variable of the queue whose number is in another register.
    StoreAt {
        name: &'a str,
        queue: Reg,
        from: Reg,
    },
    Jump {
        target: usize,
    },
    /// Jump if the condition is false.
    Unless {
        condition: Reg,
        target: usize,
    },
    Answer(Answer),
}

/// A value that an instruction assigns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Expression<'a> {
    Literal {
        kind: Type,
        word: Word,
    },
    Attribute(Attribute),
    Param(&'a str),
    State {
        scope: Scope,
        name: &'a str,
    },
    Register(Reg),
    Draw,
    /// A property of the queue whose number is in a register.
    Property {
        property: OfQueue,
        queue: Reg,
    },
    /// A state variable of the queue whose number is in a register.
    StateAt {
        name: &'a str,
        queue: Reg,
    },
    /// The next queue after another one that can be chosen.
    NextBacklogged {
        after: Reg,
    },
    /// Of the queues that can be chosen, the one with the least value of a state variable.
    Least {
        name: &'a str,
    },
    /// The longest of the queues that can be chosen.
    Longest,
    Unary {
        function: Unary,
        of: Reg,
    },
    Binary {
        operator: Binary,
        left: Reg,
        right: Reg,
    },
}

/// The forms of an instruction, for messages.
const FORMS: &str = "write `r0 = VALUE`, `r0 = FUNCTION r1`, `r0 = r1 OPERATOR r2`, `state.NAME = r0`, `vc.NAME = r0`, \
                     `queue.NAME = r0`, `queue.NAME[r1] = r0`, `jump N`, `unless r0 jump N`, `accept`, `refuse REASON`, \
                     `mark REASON`, `choose r0` or `end`";

impl<'a> Instruction<'a> {
    /// Read one instruction.
    pub(crate) fn parse(text: &'a str) -> Result<Instruction<'a>, String> {
        let words: Vec<&str> = text.split_whitespace().take(7).collect();
        match words[..] {
            ["accept"] => Ok(decision(None)),
            ["refuse", ref rest @ ..] => Ok(decision(Some((Action::Drop, reason(rest)?)))),
            ["mark", ref rest @ ..] => Ok(decision(Some((Action::Mark, reason(rest)?)))),
            ["end"] => Ok(Instruction::Answer(Answer::End)),
            ["choose", queue] => Ok(Instruction::Answer(Answer::Queue(register(queue)?))),
            ["jump", target] => Ok(Instruction::Jump { target: number(target)? }),
            ["unless", condition, "jump", target] => {
                Ok(Instruction::Unless { condition: register(condition)?, target: number(target)? })
            }
            [target, "=", value] if target.contains('.') => store(target, register(value)?),
            [target, "=", ref rest @ ..] => {
                let to = register(target)?;
                value(rest).map(|value| Instruction::Set { to, value })
            }
            _ => Err(FORMS.to_string()),
        }
    }

    /// Return the registers that the instruction reads.
    pub(crate) fn reads(&self) -> impl Iterator<Item = Reg> {
        let reads = match *self {
            Instruction::Set { value, .. } => value.reads(),
            Instruction::Store { from, .. } => [Some(from), None],
            Instruction::StoreAt { queue, from, .. } => [Some(queue), Some(from)],
            Instruction::Unless { condition, .. } => [Some(condition), None],
            Instruction::Answer(Answer::Queue(queue)) => [Some(queue), None],
            Instruction::Jump { .. } | Instruction::Answer(_) => [None, None],
        };
        reads.into_iter().flatten()
    }
}

impl Expression<'_> {
    /// Return the registers that the value reads.
    fn reads(&self) -> [Option<Reg>; 2] {
        match *self {
            Expression::Register(from)
            | Expression::Unary { of: from, .. }
            | Expression::NextBacklogged { after: from } => [Some(from), None],
            Expression::Property { queue, .. } | Expression::StateAt { queue, .. } => [Some(queue), None],
            Expression::Binary { left, right, .. } => [Some(left), Some(right)],
            Expression::Literal { .. }
            | Expression::Attribute(_)
            | Expression::Param(_)
            | Expression::State { .. }
            | Expression::Draw
            | Expression::Least { .. }
            | Expression::Longest => [None, None],
        }
    }
}

fn decision<'a>(decision: Decision) -> Instruction<'a> {
    Instruction::Answer(Answer::Decision(decision))
}

/// Read the assignment of a register to a state variable.
fn store(target: &str, from: Reg) -> Result<Instruction<'_>, String> {
    match indexed(target) {
        Some((path, index)) => {
            Ok(Instruction::StoreAt { name: of_queues(path)?, queue: register(index)?, from })
        }
        None => state(target).map(|(scope, name)| Instruction::Store { scope, name, from }),
    }
}

/// Read the value that these words describe.
fn value<'a>(words: &[&'a str]) -> Result<Expression<'a>, String> {
    match *words {
        ["longest"] => Ok(Expression::Longest),
        [word] => single(word),
        ["next_backlogged", after] => Ok(Expression::NextBacklogged { after: register(after)? }),
        ["least", path] => Ok(Expression::Least { name: of_queues(path)? }),
        [function, value] => match Unary::from_word(function) {
            Some(function) => Ok(Expression::Unary { function, of: register(value)? }),
            None => Err(unknown("function", function, Unary::WORDS)),
        },
        [function @ ("min" | "max"), left, right] | [left, function, right] => {
            match Binary::from_word(function) {
                Some(operator) => {
                    Ok(Expression::Binary { operator, left: register(left)?, right: register(right)? })
                }
                None => Err(unknown("operator", function, Binary::WORDS)),
            }
        }
        _ => Err(FORMS.to_string()),
    }
}

/// Read the value of one word: a constant, a register, or a name.
fn single(word: &str) -> Result<Expression<'_>, String> {
    if let Some((path, index)) = indexed(word) {
        return at_queue(path, register(index)?);
    }
    match word.split_once('.') {
        Some(("x", name)) => match Attribute::from_word(name) {
            Some(attribute) => Ok(Expression::Attribute(attribute)),
            None => Err(unknown("attribute", name, Attribute::WORDS)),
        },
        Some(("params", name)) => Ok(Expression::Param(name)),
        Some(("state", name)) => Ok(Expression::State { scope: Scope::Port, name }),
        Some(("vc", name)) => Ok(Expression::State { scope: Scope::Vc, name }),
        Some(("queue", name)) => Ok(Expression::State { scope: Scope::Queue, name }),
        _ if word == "draw" => Ok(Expression::Draw),
        _ if word.starts_with('r') => register(word).map(Expression::Register),
        _ => literal(word).map(|(kind, word)| Expression::Literal { kind, word }),
    }
}

/// Split a path such as `queue.NAME[r0]` into the path and the register in brackets.
fn indexed(text: &str) -> Option<(&str, &str)> {
    text.strip_suffix(']')?.split_once('[')
}

/// Read a property or a state variable of the queue whose number is in a register.
fn at_queue(path: &str, queue: Reg) -> Result<Expression<'_>, String> {
    match path.strip_prefix("x.") {
        Some(name) => match OfQueue::from_word(name) {
            Some(property) => Ok(Expression::Property { property, queue }),
            None => Err(unknown("property of queues", name, OfQueue::WORDS)),
        },
        None => Ok(Expression::StateAt { name: of_queues(path)?, queue }),
    }
}

/// Return the name of a state variable of queues.
fn of_queues(path: &str) -> Result<&str, String> {
    path.strip_prefix("queue.")
        .ok_or_else(|| format!("only state of queues, `queue.NAME`, is meant here, not {}", quoted(path)))
}

fn literal(text: &str) -> Result<(Type, Word), String> {
    match text {
        "true" | "false" => return Ok((Type::Bool, Word::bool(text == "true"))),
        _ if text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte)) => {}
        _ => return Err(format!("a value must be a number, a register or a name, not {}", quoted(text))),
    }
    if let Ok(value) = text.parse() {
        return Ok((Type::Int, Word::int(value)));
    }
    let is_float = text.contains(['.', 'e', 'E']);
    let value = text.parse::<f64>().ok().filter(|value| is_float && value.is_finite());
    let value = value.ok_or_else(|| {
        format!("a number must be an integer of 64 bits or a finite float, not {}", quoted(text))
    })?;
    Ok((Type::Float, Word::float(value)))
}

fn register(text: &str) -> Result<Reg, String> {
    let number = text.strip_prefix('r').filter(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
    number
        .and_then(|number| number.parse().ok().map(Reg))
        .ok_or_else(|| format!("a register must be one of r0 to r255, not {}", quoted(text)))
}

fn number(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| {
        format!("the target of a jump must be the number of an instruction, not {}", quoted(text))
    })
}

fn state(text: &str) -> Result<(Scope, &str), String> {
    match text.split_once('.') {
        Some(("state", name)) => Ok((Scope::Port, name)),
        Some(("vc", name)) => Ok((Scope::Vc, name)),
        Some(("queue", name)) => Ok((Scope::Queue, name)),
        _ => Err(format!(
            "only `state.NAME`, `vc.NAME`, `queue.NAME` and registers can be assigned, not {}",
            quoted(text)
        )),
    }
}

fn reason(words: &[&str]) -> Result<Reason, String> {
    let allowed = REASONS.map(Reason::word);
    match *words {
        [] => Ok(Reason::Early),
        [word] => REASONS
            .into_iter()
            .find(|reason| reason.word() == word)
            .ok_or_else(|| unknown("reason", word, &allowed)),
        _ => Err(FORMS.to_string()),
    }
}
