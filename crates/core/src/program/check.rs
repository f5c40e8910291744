//! The check of a program. It makes scenarios of unknown origin safe: a checked program ends, reads only registers
//! that have been written, and computes with values of the right type.

use super::code::{Answer, Attribute, Binary, Condition, Op, Operand, REGISTERS, Reg, Scope, Type, Unary};
use super::condense::condensed;
use super::hook::{Hook, LooksAt};
use super::instruction::{Expression, Instruction};
use super::source::Texts;
use super::step::Steps;
use super::values::Known;
use crate::excerpt::quoted;
use crate::refused::{Refused, refuse};
use crate::verdict::Action;
use crate::words::nearest::unknown;

/// Greatest number of instructions of a program; as jumps only lead forward, a decision runs at most as many.
pub(crate) const FUEL: usize = 1024;

/// The names to which the instructions of a program may refer.
#[derive(Debug)]
pub(crate) struct ProgramNames<'a> {
    pub(crate) params: &'a [Known],
    pub(crate) state: &'a [Known],
    pub(crate) per_vc: &'a [Known],
    pub(crate) per_queue: &'a [Known],
}

/// A function of a program that has been checked.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) hook: Hook,
    pub(crate) steps: Steps,
    pub(crate) looks_at: LooksAt,
    /// Whether the function can mark a unit.
    pub(crate) marks: bool,
}

/// For each parameter whether a function of the program reads it.
#[derive(Debug)]
struct Read(Vec<bool>);

impl Read {
    /// Build a record in which no parameter is read.
    fn new(names: &ProgramNames<'_>) -> Read {
        Read(vec![false; names.params.len()])
    }

    /// Check that every parameter is read: a misspelt override must not add an unused parameter.
    fn check_all(&self, names: &ProgramNames<'_>) -> Result<(), (&'static str, String)> {
        let params = || names.params.iter().zip(&self.0);
        let Some((param, _)) = params().find(|(_, read)| !**read) else { return Ok(()) };
        let read: Vec<&str> =
            params().filter(|(_, read)| **read).map(|(param, _)| param.name.as_str()).collect();
        Err(("params", unknown("parameter", &param.name, &read)))
    }
}

/// Check all functions of a program.
pub(crate) fn check_functions(texts: &Texts, names: &ProgramNames<'_>) -> Result<Vec<Program>, Refused> {
    let mut read = Read::new(names);
    let programs: Result<Vec<_>, _> =
        texts.codes().map(|(hook, code)| check(texts, code, hook, names, &mut read)).collect();
    let checked = programs.and_then(|programs| read.check_all(names).map(|()| programs));
    checked.or_else(|(key, why)| refuse(key, why))
}

/// Check a function of a program; the error names the key of the scenario that is wrong, and the reason.
fn check(
    texts: &Texts,
    code: &[String],
    hook: Hook,
    names: &ProgramNames<'_>,
    read: &mut Read,
) -> Result<Program, (&'static str, String)> {
    let key = hook.key();
    if code.is_empty() || code.len() > FUEL {
        return Err((key, format!("must have 1 to {FUEL} instructions, not {}", code.len())));
    }
    let mut check = Checker::new(code.len(), hook, names, read);
    let mut ops = Vec::with_capacity(code.len());
    for (number, text) in code.iter().enumerate() {
        let op = Instruction::parse(text).and_then(|instruction| check.step(number, &instruction));
        let place = || texts.line(hook, number).unwrap_or_else(|| format!("instruction {number}"));
        ops.push(op.map_err(|why| (key, format!("{}, {}: {why}", place(), quoted(text))))?);
    }
    if check.reached.is_some() {
        return Err((key, hook.ends().to_string()));
    }
    let marks = ops.iter().any(|op| matches!(op, Op::Answer(Answer::Decision(Some((Action::Mark, _))))));
    Ok(Program { hook, steps: condensed(ops), looks_at: check.looks_at, marks })
}

/// Registers that have a value on every path to an instruction.
type Written = [bool; REGISTERS];

/// A program that is being checked, from its first instruction to its last.
struct Checker<'a> {
    names: &'a ProgramNames<'a>,
    hook: Hook,
    types: [Option<Type>; REGISTERS],
    /// The registers written on the way to the next instruction from the instruction before it; `None` if it cannot
    /// be reached from there.
    reached: Option<Written>,
    /// For each later instruction the registers written on the way to it by a jump.
    jumps: Vec<Option<Box<Written>>>,
    read: &'a mut Read,
    looks_at: LooksAt,
}

impl<'a> Checker<'a> {
    fn new(length: usize, hook: Hook, names: &'a ProgramNames<'a>, read: &'a mut Read) -> Checker<'a> {
        Checker {
            names,
            hook,
            types: [None; REGISTERS],
            reached: Some([false; REGISTERS]),
            jumps: vec![None; length],
            read,
            looks_at: hook.looks_at(),
        }
    }

    fn step(&mut self, number: usize, instruction: &Instruction<'_>) -> Result<Op, String> {
        let arrivals = self.jumps[number].take().map(|written| *written);
        self.reached = joined(self.reached, arrivals);
        let Some(written) = self.reached else { return Err("must be reachable".to_string()) };
        if let Some(register) = instruction.reads().find(|register| !written[register.index()]) {
            return Err(format!("{register} must be assigned on every path before it is read"));
        }
        self.resolve(number, instruction)
    }

    /// Resolve the names and types of the instruction; record the registers that it writes and the jumps that it makes.
    fn resolve(&mut self, number: usize, instruction: &Instruction<'_>) -> Result<Op, String> {
        match *instruction {
            Instruction::Set { to, value } => {
                let (value, kind) = self.value(value)?;
                self.write(to, kind)?;
                Ok(Op::Set { to, value })
            }
            Instruction::Store { scope, name, from } => {
                self.hook.check_assign(name)?;
                self.hook.check_store(scope, !self.names.per_queue.is_empty())?;
                let (place, kind) = self.state(scope, name)?;
                same(kind, self.kind(from), name)?;
                Ok(Op::Store { scope, place, from })
            }
            Instruction::StoreAt { name, queue, from } => {
                let (place, kind) = self.state_at(name, queue)?;
                same(kind, self.kind(from), name)?;
                Ok(Op::StoreAt { place, queue, from })
            }
            Instruction::Jump { target } => {
                let target = self.jump(number, target)?;
                self.reached = None;
                Ok(Op::Jump { target })
            }
            Instruction::Unless { condition, target } => {
                same(Type::Bool, self.kind(condition), "the condition")?;
                let target = self.jump(number, target)?;
                Ok(Op::Branch { condition: Condition::Register(condition), when: false, target })
            }
            Instruction::Answer(answer) => {
                self.hook.check_answer(answer)?;
                if let Answer::Queue(register) = answer {
                    self.check_index(register)?;
                }
                self.reached = None;
                Ok(Op::Answer(answer))
            }
        }
    }

    /// Resolve the names and types of a value; returns the value with its type.
    fn value(&mut self, value: Expression<'_>) -> Result<(Operand, Type), String> {
        match value {
            Expression::Literal { kind, word } => Ok((Operand::Constant(word), kind)),
            Expression::Attribute(attribute) => {
                self.look(attribute)?;
                Ok((Operand::Attribute(attribute), attribute.kind()))
            }
            Expression::Param(name) => {
                let index = find("parameter", name, self.names.params)?;
                self.read.0[index] = true;
                let known = &self.names.params[index];
                Ok((Operand::Constant(known.word), known.kind))
            }
            Expression::State { scope, name } => {
                self.hook.check_load(scope)?;
                let (place, kind) = self.state(scope, name)?;
                Ok((Operand::State { scope, place }, kind))
            }
            Expression::Register(from) => Ok((Operand::Register(from), self.kind(from))),
            Expression::Draw => {
                self.hook.check_draw()?;
                Ok((Operand::Draw, Type::Float))
            }
            Expression::Property { property, queue } => {
                self.hook.check_look_at(property)?;
                self.check_index(queue)?;
                Ok((Operand::Property { property, queue }, property.kind()))
            }
            Expression::StateAt { name, queue } => {
                let (place, kind) = self.state_at(name, queue)?;
                Ok((Operand::StateAt { place, queue }, kind))
            }
            Expression::NextBacklogged { after } => {
                self.hook.check_search()?;
                self.check_index(after)?;
                Ok((Operand::NextBacklogged { after }, Type::Int))
            }
            Expression::Least { name } => self.least(name),
            Expression::Longest => {
                self.hook.check_search()?;
                Ok((Operand::Longest, Type::Int))
            }
            Expression::Unary { function, of } => {
                let kind = self.kind(of);
                Ok((Operand::Unary { function, kind, of }, result_of(function, kind)?))
            }
            Expression::Binary { operator, left, right } => self.binary(operator, left, right),
        }
    }

    fn look(&mut self, attribute: Attribute) -> Result<(), String> {
        self.hook.check_look(attribute)?;
        let looks_at = match attribute {
            _ if attribute.needs_queues() => LooksAt::Queues,
            _ if attribute.needs_circuits() => LooksAt::Own,
            _ => LooksAt::Total,
        };
        self.looks_at = self.looks_at.max(looks_at);
        Ok(())
    }

    fn check_index(&self, register: Reg) -> Result<(), String> {
        same(Type::Int, self.kind(register), "the number of a queue")
    }

    /// Return the place and the type of a state variable of the queue whose number is in a register.
    fn state_at(&mut self, name: &str, queue: Reg) -> Result<(u8, Type), String> {
        self.hook.check_queues()?;
        self.check_index(queue)?;
        self.state(Scope::Queue, name)
    }

    fn least(&mut self, name: &str) -> Result<(Operand, Type), String> {
        self.hook.check_search()?;
        self.hook.check_queues()?;
        let (place, kind) = self.state(Scope::Queue, name)?;
        if kind == Type::Bool {
            return Err(format!("{name} must be int or float, not bool"));
        }
        Ok((Operand::Least { place, kind }, Type::Int))
    }

    fn binary(&self, operator: Binary, left: Reg, right: Reg) -> Result<(Operand, Type), String> {
        let kind = self.kind(left);
        same(kind, self.kind(right), "the right side")?;
        let result = if operator.compares() { Type::Bool } else { kind };
        match (kind, operator) {
            (Type::Bool, _) => Err("takes numbers, not bools".to_string()),
            (Type::Int, Binary::Div) => Err("takes floats; convert with `float`, or use `//`".to_string()),
            (Type::Int, _) => Ok((Operand::Whole { operator, left, right }, result)),
            (Type::Float, _) => Ok((Operand::Real { operator, left, right }, result)),
        }
    }

    /// Record that a register is written with a value of this type.
    fn write(&mut self, to: Reg, kind: Type) -> Result<(), String> {
        let known = self.types[to.index()].get_or_insert(kind);
        same(*known, kind, &to.to_string())?;
        if let Some(written) = &mut self.reached {
            written[to.index()] = true;
        }
        Ok(())
    }

    /// Return the type of a register that has been written.
    fn kind(&self, register: Reg) -> Type {
        self.types[register.index()].expect("a register that has been written has a type")
    }

    fn jump(&mut self, number: usize, target: usize) -> Result<u16, String> {
        if target <= number || target >= self.jumps.len() {
            return Err(format!(
                "a jump must lead forward, to one of the instructions {} to {}, not {target}",
                number + 1,
                self.jumps.len() - 1
            ));
        }
        let earlier = self.jumps[target].take().map(|written| *written);
        self.jumps[target] = joined(self.reached, earlier).map(Box::new);
        Ok(target as u16)
    }

    fn state(&mut self, scope: Scope, name: &str) -> Result<(u8, Type), String> {
        let (what, known) = match scope {
            Scope::Port => ("state", self.names.state),
            Scope::Vc => ("state of circuits", self.names.per_vc),
            Scope::Queue => ("state of queues", self.names.per_queue),
        };
        if scope == Scope::Queue {
            self.looks_at = LooksAt::Queues;
        }
        let index = find(what, name, known)?;
        Ok((index as u8, known[index].kind))
    }
}

/// Return the registers written on both of two paths that meet; `None` is a path that does not exist.
fn joined(one: Option<Written>, other: Option<Written>) -> Option<Written> {
    match (one, other) {
        (Some(one), Some(other)) => Some(std::array::from_fn(|register| one[register] && other[register])),
        (path, None) | (None, path) => path,
    }
}

fn find(what: &str, name: &str, known: &[Known]) -> Result<usize, String> {
    let names = || known.iter().map(|known| known.name.as_str()).collect::<Vec<_>>();
    known.iter().position(|known| known.name == name).ok_or_else(|| unknown(what, name, &names()))
}

fn same(expected: Type, found: Type, what: &str) -> Result<(), String> {
    if expected == found { Ok(()) } else { Err(format!("{what} must be {expected}, not {found}")) }
}

fn result_of(unary: Unary, kind: Type) -> Result<Type, String> {
    match (unary, kind) {
        (Unary::Not, Type::Bool) => Ok(Type::Bool),
        (Unary::Neg | Unary::Abs, Type::Int | Type::Float) => Ok(kind),
        (Unary::Int, Type::Float) => Ok(Type::Int),
        (Unary::Float, Type::Int) | (Unary::Sqrt | Unary::Exp | Unary::Log, Type::Float) => Ok(Type::Float),
        _ => Err(format!("cannot be computed of a {kind}")),
    }
}
