//! The constants of a program, in registers that its instructions do not use.

use crate::program::code::{Op, REGISTERS, Reg, Word};

/// Constants with their registers, and those for which there is none.
#[derive(Debug)]
pub(super) struct Constants {
    /// Number of registers, from the first one, that belong to the instructions.
    used: usize,
    placed: Vec<Word>,
    others: Vec<Word>,
}

impl Constants {
    /// Build the constants of a program, none so far.
    pub(super) fn new(ops: &[Op]) -> Constants {
        let written = ops.iter().map(|op| if let Op::Set { to, .. } = op { to.index() + 1 } else { 0 });
        Constants { used: written.max().unwrap_or(0), placed: Vec::new(), others: Vec::new() }
    }

    /// Return the number of registers that belong to the instructions; those from there on have constants.
    pub(super) fn used(&self) -> usize {
        self.used
    }

    /// Return the register that has a constant, if one is left.
    pub(super) fn register(&mut self, word: Word) -> Option<Reg> {
        let known = self.placed.iter().position(|placed| *placed == word);
        let place = known.unwrap_or(self.placed.len());
        let register = Reg(u8::try_from(self.used + place).ok()?);
        if known.is_none() {
            self.placed.push(word);
        }
        Some(register)
    }

    /// Return the constant that a register has, if it has one.
    pub(super) fn value(&self, register: Reg) -> Option<Word> {
        self.placed.get(register.index().checked_sub(self.used)?).copied()
    }

    /// Return the place of a constant that has no register.
    pub(super) fn place(&mut self, word: Word) -> u16 {
        let known = self.others.iter().position(|other| *other == word);
        known.unwrap_or_else(|| {
            self.others.push(word);
            self.others.len() - 1
        }) as u16
    }

    /// Return the registers before a run, and the constants that have none.
    pub(super) fn into_registers(self) -> (Box<[Word; REGISTERS]>, Vec<Word>) {
        let mut registers = Box::new([Word::default(); REGISTERS]);
        registers[self.used..][..self.placed.len()].copy_from_slice(&self.placed);
        (registers, self.others)
    }
}
