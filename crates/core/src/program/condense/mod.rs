//! The condensation of a checked program: fewer steps with equal results, draws and failures.
//!
//! `forward` follows what is known of registers from the first instruction to the last: it computes constants, reads a
//! copied register instead of its copy, omits what a register holds already, and makes a jump and its comparison one.
//! `backward` removes what no instruction reads. A removed instruction becomes a jump to the next one; `layout` leaves
//! such jumps out.

mod backward;
mod constants;
mod forward;
mod layout;

#[cfg(test)]
mod tests;

use super::code::{Condition, Op, Operand, Reg};
use super::step::Steps;
use constants::Constants;

/// Greatest number of rounds: each removes what the round before it made superfluous, and a few have an effect.
const ROUNDS: usize = 4;

/// Condense a checked program.
pub(super) fn condensed(mut ops: Vec<Op>) -> Steps {
    let mut constants = Constants::new(&ops);
    for _ in 0..ROUNDS {
        let before = ops.clone();
        forward::simplify(&mut ops, &mut constants);
        backward::remove_unread(&mut ops);
        if ops == before {
            break;
        }
    }
    layout::steps(&ops, constants)
}

/// Return the jump that stands for a removed instruction.
fn removed(index: usize) -> Op {
    Op::Jump { target: index as u16 + 1 }
}

/// Return the registers that an operand reads.
fn read_by(operand: &mut Operand) -> [Option<&mut Reg>; 2] {
    match operand {
        Operand::Register(of)
        | Operand::Unary { of, .. }
        | Operand::Property { queue: of, .. }
        | Operand::StateAt { queue: of, .. }
        | Operand::NextBacklogged { after: of } => [Some(of), None],
        Operand::Whole { left, right, .. } | Operand::Real { left, right, .. } => [Some(left), Some(right)],
        Operand::Constant(_)
        | Operand::Attribute(_)
        | Operand::State { .. }
        | Operand::Draw
        | Operand::Least { .. }
        | Operand::Longest => [None, None],
    }
}

/// Return the registers that a condition reads.
fn tested_by(condition: &mut Condition) -> [Option<&mut Reg>; 2] {
    match condition {
        Condition::Register(register) => [Some(register), None],
        Condition::Whole { left, right, .. } | Condition::Real { left, right, .. } => {
            [Some(left), Some(right)]
        }
    }
}
