//! The values that a program can read about its port and about a unit.

use super::super::{Arrival, Head};
use super::Context;
use crate::buffer::pool::Pool;
use crate::program::code::{Attribute, Word};
use crate::program::run::View;
use crate::unit::Unit;
use crate::units::ids::{IdVec, PortVc, QueueId};
use crate::units::{Span, Time};

/// Constants of a port.
#[derive(Clone, Debug)]
pub(super) struct PortConstants {
    capacity: Word,
    rate: Word,
    mtu: Word,
    /// Minimum rate, weight and full frame of every circuit.
    circuits: IdVec<PortVc, [Word; 3]>,
}

impl PortConstants {
    pub(super) fn new(context: &Context<'_>) -> PortConstants {
        let circuits = context.contracts.iter().map(|contract| {
            [Word::size(contract.mcr.0), Word::float(contract.weight), Word::size(contract.frame)]
        });
        let mtu = context.contracts.iter().map(|contract| contract.octets).max();
        PortConstants {
            capacity: Word::size(context.capacity.up_to(u64::MAX)),
            rate: Word::size(context.rate.0),
            mtu: Word::size(mtu.unwrap_or(0)),
            circuits: circuits.collect(),
        }
    }

    pub(super) fn circuits(&self) -> usize {
        self.circuits.len()
    }
}

/// The state of the port at an instant.
#[derive(Clone, Copy)]
pub(super) struct PortView<'a> {
    pub(super) now: Time,
    pub(super) pool: &'a Pool,
    pub(super) queue: QueueId,
    /// The time between two calls of the clock, if the program has a clock.
    pub(super) every: Span,
}

/// Values that a policy records for its program.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Noted {
    /// Time at which the buffer last became empty.
    pub(super) empty_since: Time,
    /// Units lost for want of room.
    pub(super) overflows: u64,
}

/// A unit that arrives or is at the head of its queue.
#[derive(Clone, Copy)]
pub(super) struct UnitView<'a> {
    pub(super) port: PortView<'a>,
    pub(super) unit: &'a Unit,
    pub(super) vc: PortVc,
    size: u64,
    waiting: u64,
    waited: Span,
    fits: bool,
}

/// A view of a unit or of the port, together with the constants and records of the port.
pub(super) struct AtPort<'a, S> {
    pub(super) seen: &'a S,
    pub(super) place: &'a PortConstants,
    pub(super) noted: &'a Noted,
}

impl View for AtPort<'_, UnitView<'_>> {
    #[inline]
    fn look(&self, attribute: Attribute) -> Word {
        self.seen.look(self.place, self.noted, attribute)
    }
}

impl View for AtPort<'_, PortView<'_>> {
    fn look(&self, attribute: Attribute) -> Word {
        self.seen.look(self.place, self.noted, attribute)
    }
}

impl<'a> From<&Arrival<'a>> for UnitView<'a> {
    fn from(arrival: &Arrival<'a>) -> UnitView<'a> {
        let &Arrival { now, unit, vc, size, pool, place, waiting, .. } = arrival;
        let port = PortView { now, pool, queue: place, every: Span::ZERO };
        UnitView { port, unit, vc, size, waiting, waited: Span::ZERO, fits: arrival.fits() }
    }
}

impl<'a> From<&Head<'a>> for UnitView<'a> {
    fn from(head: &Head<'a>) -> UnitView<'a> {
        let &Head { now, arrived, unit, queue, vc, size, behind, pool } = head;
        let waited = now.since(arrived.expect("the port keeps arrival times"));
        let port = PortView { now, pool, queue, every: Span::ZERO };
        UnitView { port, unit, vc, size, waiting: behind, waited, fits: true }
    }
}

impl PortView<'_> {
    /// Return the value of an attribute of the port.
    pub(super) fn look(&self, place: &PortConstants, noted: &Noted, attribute: Attribute) -> Word {
        match attribute {
            Attribute::Now => Word::float(self.now.as_secs_f64()),
            Attribute::NowPs => Word::size(self.now.0),
            Attribute::Total => Word::size(self.pool.total()),
            Attribute::Active => Word::size(self.pool.active().into()),
            Attribute::Circuits => Word::size(self.pool.vcs() as u64),
            Attribute::Capacity => place.capacity,
            Attribute::Rate => place.rate,
            Attribute::Mtu => place.mtu,
            Attribute::EmptySince => Word::float(noted.empty_since.as_secs_f64()),
            Attribute::EmptySincePs => Word::size(noted.empty_since.0),
            Attribute::Overflows => Word::size(noted.overflows),
            Attribute::Queue => Word::size(self.queue.0.into()),
            Attribute::Every => Word::float(self.every.as_secs_f64()),
            _ => unreachable!("a checked program looks at units only where there is one"),
        }
    }
}

impl UnitView<'_> {
    /// Return the value of an attribute of the unit, its circuit or the port.
    #[inline]
    pub(super) fn look(&self, place: &PortConstants, noted: &Noted, attribute: Attribute) -> Word {
        let UnitView { port, unit, vc, .. } = *self;
        match attribute {
            Attribute::Bytes => Word::size(unit.bytes.into()),
            Attribute::Size => Word::size(self.size),
            Attribute::Index => Word::size(unit.index.into()),
            Attribute::IsFirst => Word::bool(unit.is_first()),
            Attribute::IsLast => Word::bool(unit.is_eom()),
            Attribute::Clp => Word::bool(unit.is_marked()),
            Attribute::Ect => Word::bool(unit.is_ect()),
            Attribute::Fits => Word::bool(self.fits),
            Attribute::Vc => Word::size(vc.0.into()),
            Attribute::Own => Word::size(port.pool.of(vc)),
            Attribute::Mcr => place.circuits[vc][0],
            Attribute::Weight => place.circuits[vc][1],
            Attribute::Frame => place.circuits[vc][2],
            Attribute::Waiting => Word::size(self.waiting),
            Attribute::Waited => Word::float(self.waited.as_secs_f64()),
            Attribute::WaitedPs => Word::size(self.waited.0),
            of_port => port.look(place, noted, of_port),
        }
    }
}
