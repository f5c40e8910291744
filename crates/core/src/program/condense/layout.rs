//! The order of the steps: those that can be reached, without jumps to the next one.

use super::constants::Constants;
use crate::program::code::{Condition, Op, Operand, Reg};
use crate::program::step::{Orders, Step, Steps};

/// Return the steps of instructions.
pub(super) fn steps(ops: &[Op], mut constants: Constants) -> Steps {
    let order = order(ops);
    let (mut steps, mut instructions) = (Vec::new(), Vec::new());
    let mut starts = vec![0; ops.len()];
    for (place, &index) in order.iter().enumerate() {
        starts[index] = steps.len() as u16;
        let next = order.get(place + 1).copied();
        steps.extend(steps_of(ops, index, next, &mut constants));
        instructions.resize(steps.len(), index as u16);
    }
    steps.iter_mut().filter_map(target_of).for_each(|target| *target = starts[usize::from(*target)]);
    let (registers, constants) = constants.into_registers();
    Steps { steps, instructions, constants, registers }
}

/// Return the instructions that can be reached and do more than jump, in order.
fn order(ops: &[Op]) -> Vec<usize> {
    let mut is_reached = vec![false; ops.len()];
    is_reached[end_of(ops, 0)] = true;
    for index in 0..ops.len() {
        let behind = match ops[index] {
            _ if !is_reached[index] => [None, None],
            Op::Answer(_) => [None, None],
            Op::Branch { target, .. } => [Some(index + 1), Some(target.into())],
            _ => [Some(index + 1), None],
        };
        behind.into_iter().flatten().for_each(|target| is_reached[end_of(ops, target)] = true);
    }
    (0..ops.len()).filter(|&index| is_reached[index]).collect()
}

/// Return the first instruction from `target` on that does more than jump.
fn end_of(ops: &[Op], target: usize) -> usize {
    let mut end = target;
    while let Op::Jump { target } = ops[end] {
        end = target.into();
    }
    end
}

/// Return the steps of an instruction; targets of jumps are instructions, and `next` is the one that follows.
fn steps_of(
    ops: &[Op],
    index: usize,
    next: Option<usize>,
    constants: &mut Constants,
) -> impl Iterator<Item = Step> {
    let follows = |target: usize| next == Some(target);
    let jump = |target: usize| (!follows(target)).then_some(Step::Jump { target: target as u16 });
    let behind = || end_of(ops, index + 1);
    let (step, jump) = match ops[index] {
        Op::Answer(answer) => (Step::Answer(answer), None),
        Op::Set { to, value } => (assignment(to, value, constants), jump(behind())),
        Op::Store { scope, place, from } => (Step::Store { scope, place, from }, jump(behind())),
        Op::StoreAt { place, queue, from } => (Step::StoreAt { place, queue, from }, jump(behind())),
        Op::Branch { condition, when, target } => {
            let (target, otherwise) = (end_of(ops, target.into()), behind());
            match follows(target) {
                true => (branch(condition, !when, otherwise), None),
                false => (branch(condition, when, target), jump(otherwise)),
            }
        }
        Op::Jump { .. } => unreachable!("only instructions that do more than jump have steps"),
    };
    std::iter::once(step).chain(jump)
}

fn branch(condition: Condition, when: bool, target: usize) -> Step {
    let target = target as u16;
    match condition {
        Condition::Register(condition) => Step::Branch { condition, when, target },
        Condition::Whole { operator, left, right } => {
            Step::WholeBranch { orders: Orders::of(operator, when), left, right, target }
        }
        Condition::Real { operator, left, right } => {
            Step::RealBranch { orders: Orders::of(operator, when), left, right, target }
        }
    }
}

fn assignment(to: Reg, value: Operand, constants: &mut Constants) -> Step {
    match value {
        Operand::Constant(word) => match constants.register(word) {
            Some(from) => Step::Copy { to, from },
            None => Step::Constant { to, place: constants.place(word) },
        },
        Operand::Attribute(attribute) => Step::Look { to, attribute },
        Operand::State { scope, place } => Step::Load { to, scope, place },
        Operand::Register(from) => Step::Copy { to, from },
        Operand::Draw => Step::Draw { to },
        Operand::Property { property, queue } => Step::LookAt { to, property, queue },
        Operand::StateAt { place, queue } => Step::LoadAt { to, place, queue },
        Operand::NextBacklogged { after } => Step::NextBacklogged { to, after },
        Operand::Least { place, kind } => Step::Least { to, place, kind },
        Operand::Longest => Step::Longest { to },
        Operand::Unary { function, kind, of } => Step::Unary { to, function, kind, of },
        Operand::Whole { operator, left, right } => Step::Whole { to, operator, left, right },
        Operand::Real { operator, left, right } => Step::Real { to, operator, left, right },
    }
}

/// Return the target of a step that jumps.
fn target_of(step: &mut Step) -> Option<&mut u16> {
    match step {
        Step::Jump { target }
        | Step::Branch { target, .. }
        | Step::WholeBranch { target, .. }
        | Step::RealBranch { target, .. } => Some(target),
        _ => None,
    }
}
