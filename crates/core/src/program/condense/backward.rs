//! The pass from the last instruction to the first: which registers are read later on.

use super::{read_by, removed, tested_by};
use crate::program::code::{Answer, Op, Operand, REGISTERS, Reg, Unary};

/// A set of registers.
type Registers = [bool; REGISTERS];

/// Remove the instructions whose result no instruction reads, if they can neither fail nor draw.
pub(super) fn remove_unread(ops: &mut [Op]) {
    let mut read_from: Vec<Box<Registers>> = Vec::with_capacity(ops.len());
    for index in (0..ops.len()).rev() {
        // The list begins at the last instruction.
        let later = |target: usize| &read_from[ops.len() - 1 - target];
        let mut read = match ops[index] {
            Op::Answer(_) => Box::new([false; REGISTERS]),
            Op::Jump { target } => later(target.into()).clone(),
            Op::Branch { target, .. } => either(later(target.into()), later(index + 1)),
            Op::Set { .. } | Op::Store { .. } | Op::StoreAt { .. } => later(index + 1).clone(),
        };
        if let Op::Set { to, value } = ops[index] {
            if !read[to.index()] && only_computes(value) {
                ops[index] = removed(index);
            } else {
                read[to.index()] = false;
            }
        }
        registers_read(ops[index]).into_iter().flatten().for_each(|register| read[register.index()] = true);
        read_from.push(read);
    }
}

fn either(one: &Registers, other: &Registers) -> Box<Registers> {
    Box::new(std::array::from_fn(|register| one[register] || other[register]))
}

/// Return the registers that an instruction reads.
fn registers_read(op: Op) -> [Option<Reg>; 2] {
    let copied = |registers: [Option<&mut Reg>; 2]| registers.map(|register| register.copied());
    match op {
        Op::Set { mut value, .. } => copied(read_by(&mut value)),
        Op::Branch { mut condition, .. } => copied(tested_by(&mut condition)),
        Op::Store { from, .. } => [Some(from), None],
        Op::StoreAt { queue, from, .. } => [Some(queue), Some(from)],
        Op::Answer(Answer::Queue(register)) => [Some(register), None],
        Op::Jump { .. } | Op::Answer(_) => [None, None],
    }
}

/// Return whether an operand neither draws nor can fail.
fn only_computes(operand: Operand) -> bool {
    match operand {
        Operand::Draw | Operand::Property { .. } | Operand::StateAt { .. } => false,
        Operand::Unary { function, .. } => matches!(function, Unary::Not | Unary::Float),
        Operand::Whole { operator, .. } | Operand::Real { operator, .. } => operator.compares(),
        Operand::Constant(_)
        | Operand::Attribute(_)
        | Operand::State { .. }
        | Operand::Register(_)
        | Operand::NextBacklogged { .. }
        | Operand::Least { .. }
        | Operand::Longest => true,
    }
}
