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
pub(super) trait SeenUnit {
    /// Return the state of the port.
    fn port(&self) -> PortView<'_>;

    fn unit(&self) -> &Unit;

    fn vc(&self) -> PortVc;

    fn size(&self) -> u64;

    /// Return the octets that wait in the queue of a unit that arrives, or behind one at the head.
    fn waiting(&self) -> u64;

    fn waited(&self) -> Span;

    fn fits(&self) -> bool;
}

/// A view of a unit or of the port, together with the constants and records of the port.
pub(super) struct AtPort<'a, S> {
    pub(super) seen: &'a S,
    pub(super) place: &'a PortConstants,
    pub(super) noted: &'a Noted,
}

impl<S: SeenUnit> View for AtPort<'_, S> {
    #[inline(never)] // beside the loop of the interpreter, where its registers count more
    fn look(&self, attribute: Attribute) -> Word {
        let AtPort { seen, place, noted } = self;
        match attribute {
            Attribute::Bytes => Word::size(seen.unit().bytes.into()),
            Attribute::Size => Word::size(seen.size()),
            Attribute::Index => Word::size(seen.unit().index.into()),
            Attribute::IsFirst => Word::bool(seen.unit().is_first()),
            Attribute::IsLast => Word::bool(seen.unit().is_eom()),
            Attribute::Clp => Word::bool(seen.unit().is_marked()),
            Attribute::Ect => Word::bool(seen.unit().is_ect()),
            Attribute::Fits => Word::bool(seen.fits()),
            Attribute::Vc => Word::size(seen.vc().0.into()),
            Attribute::Own => Word::size(seen.port().pool.of(seen.vc())),
            Attribute::Mcr => place.circuits[seen.vc()][0],
            Attribute::Weight => place.circuits[seen.vc()][1],
            Attribute::Frame => place.circuits[seen.vc()][2],
            Attribute::Waiting => Word::size(seen.waiting()),
            Attribute::Waited => Word::float(seen.waited().as_secs_f64()),
            Attribute::WaitedPs => Word::size(seen.waited().0),
            of_port => seen.port().look(place, noted, of_port),
        }
    }
}

impl View for AtPort<'_, PortView<'_>> {
    fn look(&self, attribute: Attribute) -> Word {
        self.seen.look(self.place, self.noted, attribute)
    }
}

impl SeenUnit for Arrival<'_> {
    fn port(&self) -> PortView<'_> {
        PortView { now: self.now, pool: self.pool, queue: self.place, every: Span::ZERO }
    }

    fn unit(&self) -> &Unit {
        self.unit
    }

    fn vc(&self) -> PortVc {
        self.vc
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn waiting(&self) -> u64 {
        self.waiting
    }

    fn waited(&self) -> Span {
        Span::ZERO
    }

    fn fits(&self) -> bool {
        Arrival::fits(self)
    }
}

impl SeenUnit for Head<'_> {
    fn port(&self) -> PortView<'_> {
        PortView { now: self.now, pool: self.pool, queue: self.queue, every: Span::ZERO }
    }

    fn unit(&self) -> &Unit {
        self.unit
    }

    fn vc(&self) -> PortVc {
        self.vc
    }

    fn size(&self) -> u64 {
        self.size
    }

    fn waiting(&self) -> u64 {
        self.behind
    }

    fn waited(&self) -> Span {
        self.now.since(self.arrived.expect("the port keeps arrival times"))
    }

    fn fits(&self) -> bool {
        true
    }
}

impl PortView<'_> {
    /// Return the value of an attribute of the port.
    #[inline]
    fn look(&self, place: &PortConstants, noted: &Noted, attribute: Attribute) -> Word {
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
