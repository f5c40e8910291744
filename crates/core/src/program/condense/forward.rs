//! The pass from the first instruction to the last: what is known of registers where an instruction runs.

use super::constants::Constants;
use super::{read_by, removed, tested_by};
use crate::program::arithmetic::{one, real, whole};
use crate::program::code::{Answer, Condition, Op, Operand, Reg, Type, Unary, Word};

/// What is known of a register.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Value {
    Unknown,
    Constant(Word),
    /// It has the value of another register.
    Copy(Reg),
}

/// What is known at an instruction, whichever way leads there.
#[derive(Clone, Debug)]
struct Known {
    /// What is known of each register that instructions write.
    values: Vec<Value>,
    /// Operands and, for each, a register that has its value.
    held: Vec<(Operand, Reg)>,
}

/// Simplify every instruction that can be reached.
pub(super) fn simplify(ops: &mut [Op], constants: &mut Constants) {
    let mut arriving: Vec<Option<Known>> = vec![None; ops.len()];
    arriving[0] = Some(Known { values: vec![Value::Unknown; constants.used()], held: Vec::new() });
    for index in 0..ops.len() {
        let Some(mut known) = arriving[index].take() else { continue };
        let before = ops[index];
        ops[index] = known.simplified(before, index, constants);
        match ops[index] {
            Op::Answer(_) => {}
            Op::Jump { target } => {
                let target = known.end_of(target, ops, constants);
                ops[index] = Op::Jump { target };
                known.arrive(&mut arriving[usize::from(target)]);
            }
            Op::Branch { condition, when, target } => {
                let mut jumping = known.clone();
                jumping.assume(before, true);
                let target = jumping.end_of(target, ops, constants);
                ops[index] = Op::Branch { condition, when, target };
                jumping.arrive(&mut arriving[usize::from(target)]);
                known.assume(before, false);
                known.arrive(&mut arriving[index + 1]);
            }
            op => {
                known.run(op);
                known.arrive(&mut arriving[index + 1]);
            }
        }
    }
}

impl Known {
    /// Return a simpler instruction with equal effects here.
    fn simplified(&self, op: Op, index: usize, constants: &mut Constants) -> Op {
        match op {
            Op::Set { to, value } => match self.simpler(value, constants) {
                Operand::Register(from) if from == to => removed(index),
                value if self.is_assigned(to, value) => removed(index),
                value => Op::Set { to, value },
            },
            Op::Store { scope, place, from } => {
                let from = self.read(from, constants);
                match self.held.contains(&(Operand::State { scope, place }, from)) {
                    true => removed(index),
                    false => Op::Store { scope, place, from },
                }
            }
            Op::StoreAt { place, queue, from } => {
                Op::StoreAt { place, queue: self.read(queue, constants), from: self.read(from, constants) }
            }
            Op::Branch { condition, when, target } => {
                let (condition, when) = self.simpler_condition(condition, when, constants);
                match self.decided(condition, constants) {
                    Some(result) if result == when => Op::Jump { target },
                    Some(_) => removed(index),
                    None => Op::Branch { condition, when, target },
                }
            }
            Op::Answer(Answer::Queue(register)) => Op::Answer(Answer::Queue(self.read(register, constants))),
            Op::Jump { .. } | Op::Answer(_) => op,
        }
    }

    /// Return a simpler operand with an equal value.
    fn simpler(&self, mut operand: Operand, constants: &mut Constants) -> Operand {
        if let Some(word) = self.computed(operand, constants) {
            return Operand::Constant(word);
        }
        for register in read_by(&mut operand).into_iter().flatten() {
            *register = self.read(*register, constants);
        }
        let holder = self.held.iter().find(|(held, _)| *held == operand);
        holder.map_or(operand, |&(_, register)| match self.constant(register, constants) {
            Some(word) => Operand::Constant(word),
            None => Operand::Register(register),
        })
    }

    /// Return the value of an operand that depends on constants alone and can be computed.
    fn computed(&self, operand: Operand, constants: &Constants) -> Option<Word> {
        let word = |register: Reg| self.constant(register, constants);
        match operand {
            Operand::Constant(constant) => Some(constant),
            Operand::Register(from) => word(from),
            Operand::Unary { function, kind, of } => one(function, kind, word(of)?).ok(),
            Operand::Whole { operator, left, right } => {
                whole(operator, word(left)?.as_int(), word(right)?.as_int()).ok()
            }
            Operand::Real { operator, left, right } => {
                real(operator, word(left)?.as_float(), word(right)?.as_float()).ok()
            }
            _ => None,
        }
    }

    /// Return the comparison that a condition stands for, and when it jumps.
    fn simpler_condition(
        &self,
        mut condition: Condition,
        mut when: bool,
        constants: &mut Constants,
    ) -> (Condition, bool) {
        for register in tested_by(&mut condition).into_iter().flatten() {
            *register = self.read(*register, constants);
        }
        while let Condition::Register(register) = condition {
            let held = self.held.iter().filter(|(_, holder)| *holder == register);
            let Some((stands_for, negated)) = held.filter_map(|(operand, _)| tested(*operand)).next() else {
                break;
            };
            condition = stands_for;
            when ^= negated;
        }
        (condition, when)
    }

    /// Return the result of a condition, if it is known.
    fn decided(&self, condition: Condition, constants: &Constants) -> Option<bool> {
        let operand = match condition {
            Condition::Register(register) => Operand::Register(register),
            Condition::Whole { operator, left, right } => Operand::Whole { operator, left, right },
            Condition::Real { operator, left, right } => Operand::Real { operator, left, right },
        };
        self.computed(operand, constants).map(Word::as_bool)
    }

    /// Return the first instruction at or behind the target of a jump that does more than jump from here.
    fn end_of(&self, target: u16, ops: &[Op], constants: &Constants) -> u16 {
        let mut end = target;
        loop {
            end = match ops[usize::from(end)] {
                Op::Jump { target } => target,
                Op::Branch { condition, when, target } => match self.decided(condition, constants) {
                    Some(result) if result == when => target,
                    Some(_) => end + 1,
                    None => return end,
                },
                _ => return end,
            }
        }
    }

    /// Add what the result of a jump says about its register: the jump is made if `jumps`.
    fn assume(&mut self, branch: Op, jumps: bool) {
        if let Op::Branch { condition: Condition::Register(register), when, .. } = branch
            && let Some(value) = self.values.get_mut(register.index())
        {
            *value = Value::Constant(Word::bool(when == jumps));
        }
    }

    /// Return the register to read instead of this one: that of its constant, or the one that it copies.
    fn read(&self, register: Reg, constants: &mut Constants) -> Reg {
        match self.values.get(register.index()) {
            Some(Value::Constant(word)) => constants.register(*word).unwrap_or(register),
            Some(Value::Copy(of)) => *of,
            Some(Value::Unknown) | None => register,
        }
    }

    /// Return the value of a register, if it is a constant.
    fn constant(&self, register: Reg, constants: &Constants) -> Option<Word> {
        match self.values.get(register.index()) {
            Some(Value::Constant(word)) => Some(*word),
            Some(Value::Copy(_) | Value::Unknown) => None,
            None => constants.value(register),
        }
    }

    /// Return whether a register is known to have this value.
    fn is_assigned(&self, to: Reg, value: Operand) -> bool {
        self.values[to.index()] != Value::Unknown && self.values[to.index()] == value_of(value)
    }

    /// Take into account what an instruction assigns.
    fn run(&mut self, op: Op) {
        match op {
            Op::Set { to, value } => self.assign(to, value),
            Op::Store { scope, place, from } => {
                let state = Operand::State { scope, place };
                self.held.retain(|(held, _)| *held != state);
                self.held.push((state, from));
            }
            Op::StoreAt { place, queue, from } => {
                self.held.retain(|(held, _)| !depends_on(*held, place));
                self.held.push((Operand::StateAt { place, queue }, from));
            }
            Op::Jump { .. } | Op::Branch { .. } | Op::Answer(_) => {}
        }
    }

    /// Take into account that a register has a new value.
    fn assign(&mut self, to: Reg, mut value: Operand) {
        self.held.retain_mut(|(held, holder)| *holder != to && !reads(held, to));
        self.values
            .iter_mut()
            .filter(|value| **value == Value::Copy(to))
            .for_each(|value| *value = Value::Unknown);
        self.values[to.index()] = value_of(value);
        if can_be_held(value) && !reads(&mut value, to) {
            self.held.push((value, to));
        }
    }

    /// Add the way from here to what is known at an instruction.
    fn arrive(self, known: &mut Option<Known>) {
        match known {
            None => *known = Some(self),
            Some(known) => {
                let values = known.values.iter_mut().zip(&self.values);
                values.filter(|(one, other)| one != other).for_each(|(one, _)| *one = Value::Unknown);
                known.held.retain(|held| self.held.contains(held));
            }
        }
    }
}

/// Return what is known of a register to which an operand is assigned.
fn value_of(value: Operand) -> Value {
    match value {
        Operand::Constant(word) => Value::Constant(word),
        Operand::Register(from) => Value::Copy(from),
        _ => Value::Unknown,
    }
}

/// Return whether the operand has one value as long as the registers and the state that it reads have theirs.
fn can_be_held(operand: Operand) -> bool {
    !matches!(operand, Operand::Draw | Operand::Constant(_) | Operand::Register(_))
}

fn reads(operand: &mut Operand, register: Reg) -> bool {
    read_by(operand).into_iter().flatten().any(|read| *read == register)
}

/// Return whether the operand depends on a state variable of queues.
fn depends_on(operand: Operand, variable: u8) -> bool {
    matches!(operand, Operand::StateAt { place, .. } | Operand::Least { place, .. } if place == variable)
}

/// Return the condition whose result an operand is, and whether it is the opposite.
fn tested(operand: Operand) -> Option<(Condition, bool)> {
    match operand {
        Operand::Unary { function: Unary::Not, kind: Type::Bool, of } => {
            Some((Condition::Register(of), true))
        }
        Operand::Whole { operator, left, right } if operator.compares() => {
            Some((Condition::Whole { operator, left, right }, false))
        }
        Operand::Real { operator, left, right } if operator.compares() => {
            Some((Condition::Real { operator, left, right }, false))
        }
        _ => None,
    }
}
