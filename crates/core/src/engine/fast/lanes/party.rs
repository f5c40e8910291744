//! Units that arrive at instants of their own.

use super::Arriving;
use crate::unit::{Flags, Unit};
use crate::units::Time;

/// Consecutive units of one frame that arrive with nothing in between. Its first and its last unit have given their marks
/// to `unit`, which is the first one otherwise.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Party<'a> {
    pub(in super::super) unit: Unit,
    /// Their circuit's number at the port.
    pub(in super::super) vc: u32,
    /// When each of them arrives.
    pub(in super::super) arrivals: &'a [Time],
}

impl<'a> Party<'a> {
    /// The first `count` units, and the others.
    pub(in super::super) fn split(self, count: usize) -> (Party<'a>, Party<'a>) {
        let (early, late) = self.arrivals.split_at(count);
        let eom = if late.is_empty() { Flags::default() } else { Flags::EOM };
        let first = Unit { flags: self.unit.flags.without(eom), ..self.unit };
        let flags = self.unit.flags.without(Flags::FIRST);
        let second = Unit { index: self.unit.index + count as u16, flags, ..self.unit };
        (Party { unit: first, arrivals: early, ..self }, Party { unit: second, arrivals: late, ..self })
    }

    /// The units, each with its arrival.
    pub(in super::super) fn units(self) -> impl Iterator<Item = Arriving> {
        let Party { mut unit, vc, arrivals } = self;
        let (flags, last) = (unit.flags, arrivals.len().saturating_sub(1));
        arrivals.iter().enumerate().map(move |(i, &time)| {
            let inner = if i == 0 { flags } else { flags.without(Flags::FIRST) };
            unit.flags = if i == last { inner } else { inner.without(Flags::EOM) };
            let arriving = Arriving { time, unit, vc };
            unit.index += 1;
            arriving
        })
    }
}
