//! The realisation `credits`: circuits receive credits in every period, in whole cells and fractions of cells.

use super::Carry;
use crate::buffer::ring::Ring;
use crate::buffer::set::NumberSet;
use crate::refused::{Refused, refuse};
use crate::units::ids::{IdVec, QueueId};
use crate::units::{CELL_BYTES, PS_PER_S, Rate, Span, Time};

/// Credits of every circuit, in bits times picoseconds per second, so that no division rounds.
///
/// Circuits without cells are updated when they become active again.
#[derive(Clone, Debug)]
pub(super) struct Credits {
    period: Span,
    carry: Carry,
    /// Number of the present period.
    number: u64,
    /// End of the present period.
    end: Time,
    accounts: IdVec<QueueId, CircuitAccount>,
}

#[derive(Clone, Debug)]
struct CircuitAccount {
    /// Credits of one period.
    quota: Quota,
    /// Credits of the circuit in the period `number`: whole cells; next, the remainder.
    cells: u64,
    part: u64,
    number: u64,
}

/// The credits that a circuit receives in every period: whole cells, and a part of a cell.
#[derive(Clone, Copy, Debug)]
struct Quota {
    cells: u64,
    part: u64,
}

/// Credit that a cell costs.
pub(super) const CELL: u64 = CELL_BYTES * 8 * PS_PER_S;

impl Credits {
    pub(super) fn new(rates: &[Rate], period: Span, carry: Carry) -> Result<Credits, Refused> {
        if period == Span::ZERO {
            return refuse("period", "must be longer than 0 s");
        }
        let quota = |rate: &Rate| {
            let (exact, cell) = (u128::from(rate.0) * u128::from(period.0), u128::from(CELL));
            let part = if carry == Carry::Floor { 0 } else { (exact % cell) as u64 };
            Quota { cells: (exact / cell) as u64, part }
        };
        let account =
            |quota: Quota| CircuitAccount { quota, cells: quota.cells, part: quota.part, number: 0 };
        let accounts = rates.iter().map(quota).map(account).collect();
        Ok(Credits { period, carry, number: 0, end: Time::ZERO + period, accounts })
    }

    #[inline]
    pub(super) fn advance(&mut self, now: Time, busy: &NumberSet<QueueId>, owed: &mut Ring) {
        if now >= self.end {
            self.renew(now, busy, owed);
        }
    }

    #[cold]
    fn renew(&mut self, now: Time, busy: &NumberSet<QueueId>, owed: &mut Ring) {
        self.number = now.0 / self.period.0;
        self.end = Time((self.number * self.period.0).saturating_add(self.period.0));
        for queue in busy.iter() {
            if self.owes(queue) {
                owed.insert(queue);
            } else {
                owed.remove(queue);
            }
        }
    }

    pub(super) fn owes(&mut self, queue: QueueId) -> bool {
        let account = &mut self.accounts[queue];
        account.renew(self.number, self.carry);
        account.cells > 0
    }

    /// Return the number of cells that are owed to a circuit, which is owed at least one.
    pub(super) fn cells(&self, queue: QueueId) -> u64 {
        self.accounts[queue].cells
    }

    pub(super) fn charge(&mut self, queue: QueueId, cells: u64) {
        self.accounts[queue].cells -= cells;
    }

    /// Return when the present period ends.
    pub(super) fn end(&self) -> Time {
        self.end
    }
}

impl CircuitAccount {
    /// Set the credits for the period `number`: the quota, and up to one cell of the credits left over before.
    ///
    /// In each period in between the circuit had nothing to send, so its credits only add to the part that is carried
    /// over, up to one cell.
    fn renew(&mut self, number: u64, carry: Carry) {
        if number == self.number {
            return;
        }
        let Quota { cells, part } = self.quota;
        let left = match (carry, number - self.number - 1) {
            (Carry::Floor, _) => 0,
            _ if self.cells > 0 => CELL,
            (_, between) if between > 0 && cells > 0 => CELL,
            (_, between) => part.saturating_mul(between).saturating_add(self.part).min(CELL),
        };
        let over = part + left >= CELL;
        (self.cells, self.part) = (cells + u64::from(over), part + left - if over { CELL } else { 0 });
        self.number = number;
    }
}
