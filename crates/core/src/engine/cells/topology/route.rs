//! Route of the units of a circuit from a port: past ports that only delay them to one that can make them wait, or to a
//! host.
//!
//! # What it assumes
//! A circuit has one route.
//!
//! # What it skips
//! Ports that only delay: see `port/delay.rs`.
//!
//! # Why that is exact
//! Their delay is constant.
//!
//! # What turns it off
//! A port on the way at which units may wait.

use std::ops::Range;

use crate::engine::outcome::Work;
use crate::scenario::model::Medium;
use crate::units::ids::PortVc;
use crate::units::{Span, Time};

/// Route of the units of one circuit from one port.
#[derive(Clone, Debug)]
pub(crate) struct RouteSegment {
    /// Their next stop.
    pub(crate) to: Destination,
    /// The number of ports that they have passed there.
    pub(crate) hop: u8,
    /// Whether a host may answer to a frame of the circuit.
    pub(crate) answerable: bool,
    /// Form in which units of one frame may be forwarded.
    pub(crate) handoff: Handoff,
    /// Its index among the routes of all ports.
    pub(crate) number: usize,
    /// Medium of the line.
    pub(crate) medium: Medium,
    /// Time from the end of their transmission to their arrival at the next port.
    pub(crate) latency: Span,
    /// Ports on the way that only delay them.
    pub(crate) hops: Range<usize>,
    /// The delay at these ports.
    pub(crate) delay: Span,
}

/// Form in which consecutive units of one frame may be forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handoff {
    /// One by one, as soon as each starts.
    Singly,
    /// Together, since they go to a host that uses only the last one.
    Together,
    /// Together, each with its start, to a port that needs each arrival.
    Timed,
}

/// Destination of units.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Destination {
    /// At a port, on one of its lanes, with the circuit's number there.
    Port { port: u32, lane: u32, vc: PortVc },
    /// At the host at the end of a line.
    Host { line: u32 },
}

/// A port that only delays, as a circuit passes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DelayHop {
    pub(crate) port: u32,
    /// Its number there.
    pub(crate) vc: PortVc,
    /// Transmission time of a cell on the line, and the time until it arrives at the end.
    pub(crate) whole: Span,
    pub(crate) transit: Span,
}

impl RouteSegment {
    /// Return whether a host handles each unit separately: it does if any part of a frame may complete it.
    pub(crate) fn is_collected(&self) -> bool {
        matches!(self.to, Destination::Host { .. }) && self.handoff == Handoff::Singly
    }

    /// Count the hops of `units` started units.
    #[inline]
    pub(crate) fn count_hops(&self, work: &mut Work, units: u64) {
        let hops = match self.medium {
            Medium::Cells => &mut work.cell_hops,
            Medium::Packets => &mut work.packet_hops,
        };
        *hops += units;
    }

    /// Return when a unit that starts at `start` and takes `whole` on the line arrives at the next port.
    #[inline]
    pub(crate) fn first_arrival(&self, start: Time, whole: Span) -> Time {
        start.later(whole).later(self.latency)
    }

    /// The ports on the way, as indices into the list of hops.
    pub(crate) fn hops(&self) -> Range<usize> {
        self.hops.clone()
    }

    /// Return when it arrives at the next stop, beyond those ports.
    #[inline]
    pub(crate) fn arrival_behind(&self, first_arrival: Time) -> Time {
        first_arrival.later(self.delay)
    }

    /// Time from its start to that arrival.
    #[inline]
    pub(crate) fn span(&self, whole: Span) -> Span {
        whole + self.latency + self.delay
    }
}
