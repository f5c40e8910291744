//! Route of the units of a circuit from a port: past ports that only delay them, to a port at which they may wait, or
//! to a host.
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
use crate::units::ids::{LineId, PortVc};
use crate::units::{Span, Time};

/// Route of the units of one circuit from one port.
#[derive(Clone, Debug)]
pub(crate) struct RouteSegment {
    /// The next stop of the units.
    pub(crate) to: Destination,
    /// The number of ports that units have passed when they arrive at the stop.
    pub(crate) hop: u8,
    /// Whether a host may answer a frame of the circuit.
    pub(crate) answerable: bool,
    /// Form in which units of one frame may be forwarded.
    pub(crate) handoff: Handoff,
    /// Index of this route among the routes of all ports.
    pub(crate) number: usize,
    /// Medium of the port's line.
    pub(crate) medium: Medium,
    /// Time from the end of a unit's transmission to its arrival at the next port.
    pub(crate) latency: Span,
    /// The ports on the way that only delay, as indices into the list of hops.
    pub(crate) hops: Range<usize>,
    /// The total delay at these ports.
    pub(crate) delay: Span,
}

/// Form in which consecutive units of one frame may be forwarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handoff {
    /// One by one, as soon as each unit starts.
    Singly,
    /// Together, since they go to a host that uses only the last unit.
    Together,
    /// Together, each with its start, to a port that needs each arrival.
    Timed,
}

/// Destination of units.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Destination {
    /// At a port, on one of its lanes, with the circuit's number there.
    Port { port: LineId, lane: u32, vc: PortVc, entrance: Entrance },
    /// At the host at the end of a line.
    Host { line: LineId },
}

/// How units enter a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entrance {
    /// In trains.
    Trains,
    /// In trains that a policer may change first.
    Policer,
    /// As single cells of clocked sources, and nothing else arrives there.
    Combs,
}

/// A port that only delays, as a circuit passes it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DelayHop {
    pub(crate) port: LineId,
    /// Number of the circuit at this port.
    pub(crate) vc: PortVc,
    /// Transmission time of a cell on the line.
    pub(crate) whole: Span,
    /// The time from the end of its transmission to its arrival.
    pub(crate) transit: Span,
}

impl RouteSegment {
    /// Return whether the destination is a host that handles each unit separately, because any part of a frame may
    /// complete the frame.
    pub(crate) fn is_collected(&self) -> bool {
        self.handoff == Handoff::Singly && matches!(self.to, Destination::Host { .. })
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

    /// Return when a unit that starts at `start` and has the transmission time `whole` arrives at the next port.
    #[inline]
    pub(crate) fn first_arrival(&self, start: Time, whole: Span) -> Time {
        start.later(whole).later(self.latency)
    }

    /// Return the ports on the way that only delay, as indices into the list of hops.
    pub(crate) fn hops(&self) -> Range<usize> {
        self.hops.clone()
    }

    /// Return when a unit arrives at the next stop, given its arrival at the next port.
    #[inline]
    pub(crate) fn arrival_behind(&self, first_arrival: Time) -> Time {
        first_arrival.later(self.delay)
    }

    /// Return the time from the start of a unit to its arrival at the next stop.
    #[inline]
    pub(crate) fn span(&self, whole: Span) -> Span {
        whole + self.latency + self.delay
    }
}
