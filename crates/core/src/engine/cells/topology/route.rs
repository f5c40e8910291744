//! Where the units of a circuit go from a port: to the next one that can make them wait or to a host, past those that only
//! delay them.

use std::ops::Range;

use crate::engine::Work;
use crate::scenario::model::Medium;
use crate::units::{Span, Time};

/// Where the units of one circuit go from one port.
#[derive(Clone, Debug)]
pub(in crate::engine) struct RouteSegment {
    /// Where they arrive next.
    pub(in crate::engine) to: Destination,
    /// How many ports they will have behind them there.
    pub(in crate::engine) hop: u8,
    /// Whether a host may answer to a frame of the circuit.
    pub(in crate::engine) answered: bool,
    /// How units of one frame may be handed on.
    pub(in crate::engine) manner: Handoff,
    /// Its place among the legs of all ports.
    pub(in crate::engine) number: usize,
    /// What the line carries.
    pub(in crate::engine) medium: Medium,
    /// Time from the end of their transmission to their arrival at the next port.
    pub(in crate::engine) latency: Span,
    /// Ports on the way that only delay them.
    pub(in crate::engine) passages: Range<usize>,
    /// The delay there.
    pub(in crate::engine) delay: Span,
}

/// How consecutive units of one frame may be handed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::engine) enum Handoff {
    /// One by one, as soon as each starts.
    Singly,
    /// Together, since they go to a host that only looks at the last one.
    Together,
    /// Together, each with its start, to a port that takes them as they come.
    Timed,
}

/// Where units arrive.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) enum Destination {
    /// At a port, on one of its lanes, with the circuit's number there.
    Port { port: u32, lane: u32, vc: u32 },
    /// At the host at the end of a line.
    Host { line: u32 },
}

/// A circuit passes a port that only delays it.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct DelayHop {
    pub(in crate::engine) port: u32,
    /// Its number there.
    pub(in crate::engine) vc: u32,
    /// Time that a cell takes on the line, and until it arrives at the end.
    pub(in crate::engine) whole: Span,
    pub(in crate::engine) transit: Span,
}

impl RouteSegment {
    /// Whether a host looks at every unit by itself, as it does if any part of a frame may complete it.
    pub(in crate::engine) fn is_collected(&self) -> bool {
        matches!(self.to, Destination::Host { .. }) && self.manner == Handoff::Singly
    }

    /// So many units have started.
    #[inline]
    pub(in crate::engine) fn count_hops(&self, work: &mut Work, units: u64) {
        let hops = match self.medium {
            Medium::Cells => &mut work.cell_hops,
            Medium::Packets => &mut work.packet_hops,
        };
        *hops += units;
    }

    /// When a unit arrives at the next port that starts at `start` and takes `whole` on the line.
    #[inline]
    pub(in crate::engine) fn first_arrival(&self, start: Time, whole: Span) -> Time {
        start.later(whole).later(self.latency)
    }

    /// The ports on the way, as places in the list of passages.
    pub(in crate::engine) fn passages(&self) -> Range<usize> {
        self.passages.clone()
    }

    /// When it arrives at the next stop, beyond those ports.
    #[inline]
    pub(in crate::engine) fn arrival_behind(&self, first_arrival: Time) -> Time {
        first_arrival.later(self.delay)
    }

    /// Time from its start to that.
    #[inline]
    pub(in crate::engine) fn span(&self, whole: Span) -> Span {
        whole + self.latency + self.delay
    }
}
