//! Credits in every period, in whole and broken cells.

use super::Carry;
use crate::buffer::set::Set;
use crate::scheduler::ring::Ring;
use crate::units::{CELL_BYTES, PS_PER_S, Rate, Span, Time};

/// Credits of every circuit, in bits times picoseconds per second, so that no division ever rounds.
///
/// Circuits without cells are brought up to date when they come back.
#[derive(Clone, Debug)]
pub(super) struct Credits {
    period: Span,
    carry: Carry,
    /// Number of the present period, and when it ends.
    number: u64,
    end: Time,
    accounts: Vec<Account>,
}

#[derive(Clone, Debug)]
struct Account {
    /// Credits of one period.
    quota: u128,
    /// Credits in the period `number`: for so many cells, and what is left over.
    cells: u64,
    part: u128,
    number: u64,
}

/// What a cell costs.
const CELL: u128 = CELL_BYTES as u128 * 8 * PS_PER_S as u128;

impl Credits {
    pub(super) fn new(rates: &[Rate], period: Span, carry: Carry) -> Result<Credits, String> {
        if period == Span::ZERO {
            return Err("period: no credits come in no time".to_string());
        }
        let quota = |rate: &Rate| {
            let exact = u128::from(rate.0) * u128::from(period.0);
            if carry == Carry::Floor { exact - exact % CELL } else { exact }
        };
        let account = |quota| Account { quota, cells: (quota / CELL) as u64, part: quota % CELL, number: 0 };
        let accounts = rates.iter().map(quota).map(account).collect();
        Ok(Credits { period, carry, number: 0, end: Time::ZERO + period, accounts })
    }

    #[inline]
    pub(super) fn advance(&mut self, now: Time, busy: &Set, owed: &mut Ring) {
        if now >= self.end {
            self.renew(now, busy, owed);
        }
    }

    #[cold]
    fn renew(&mut self, now: Time, busy: &Set, owed: &mut Ring) {
        self.number = now.0 / self.period.0;
        self.end = Time((self.number * self.period.0).saturating_add(self.period.0));
        for vc in busy.iter() {
            if self.owes(vc) {
                owed.insert(vc);
            } else {
                owed.remove(vc);
            }
        }
    }

    pub(super) fn owes(&mut self, vc: usize) -> bool {
        let account = &mut self.accounts[vc];
        account.renew(self.number, self.carry);
        account.cells > 0
    }

    /// Cells that a circuit is owed, which is known to be owed one.
    pub(super) fn cells(&self, vc: usize) -> u64 {
        self.accounts[vc].cells
    }

    pub(super) fn charge(&mut self, vc: usize, cells: u64) {
        self.accounts[vc].cells -= cells;
    }

    /// When the present period ends.
    pub(super) fn end(&self) -> Time {
        self.end
    }
}

impl Account {
    /// Credits at the start of period `number`: the quota, and with it up to one cell that was left before.
    ///
    /// Periods in between, in which the circuit had nothing to send, fill the carried part alike.
    fn renew(&mut self, number: u64, carry: Carry) {
        if number == self.number {
            return;
        }
        let between = u128::from(number - self.number - 1);
        let left = if self.cells > 0 { CELL } else { self.part };
        let left = left.saturating_add(between.saturating_mul(self.quota)).min(CELL);
        let credit = self.quota + if carry == Carry::Exact { left } else { 0 };
        (self.cells, self.part) = ((credit / CELL) as u64, credit % CELL);
        self.number = number;
    }
}
