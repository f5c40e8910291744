//! Units that have started to leave a port.
//!
//! # What it assumes
//! The loop delivers the outbox after the port has returned.
//!
//! # What it skips
//! A copy of the starts of a frame where only the last one matters.
//!
//! # Why that is exact
//! A host uses only the last unit of a frame, and a regular train has the spacing of its line.
//!
//! # What turns it off
//! A next port that needs each unit's start: then each start is sent with it.

use crate::engine::exact::spacing::ExactTime;
use crate::unit::Unit;
use crate::units::ids::PortVc;
use crate::units::{Span, Time};

/// Units that start to leave a port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Departure {
    /// Their circuit's number at the port.
    pub(crate) vc: PortVc,
    pub(crate) units: u16,
    /// The first unit, with the marks of the first and of the last.
    pub(crate) unit: Unit,
    /// Starts of the first and the last one.
    pub(crate) first: ExactTime,
    pub(crate) last: Time,
    /// Transmission time of each of them.
    pub(crate) whole: Span,
    /// Place of their starts in the outbox, if each start matters.
    pub(crate) starts: Option<u32>,
}

/// Departures that are still to be delivered.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    pub(crate) departures: Vec<Departure>,
    pub(crate) starts: Vec<Time>,
}

/// Length of an outbox.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutboxLength {
    pub(crate) departures: usize,
    pub(crate) starts: usize,
}

impl Outbox {
    /// Return how much it holds.
    #[inline]
    pub(crate) fn length(&self) -> OutboxLength {
        OutboxLength { departures: self.departures.len(), starts: self.starts.len() }
    }

    /// Shorten it to a former length.
    #[inline]
    pub(crate) fn truncate(&mut self, to: OutboxLength) {
        self.departures.truncate(to.departures);
        self.starts.truncate(to.starts);
    }

    /// Send units to a host or one by one; the last of them starts at `last`.
    #[inline]
    pub(crate) fn send(&mut self, vc: PortVc, unit: Unit, units: u16, last: Time, whole: Span) {
        self.send_train(vc, unit, units, ExactTime::at(last), last, whole);
    }

    /// Send units that keep the spacing of the line.
    #[inline]
    pub(crate) fn send_train(
        &mut self,
        vc: PortVc,
        unit: Unit,
        units: u16,
        first: ExactTime,
        last: Time,
        whole: Span,
    ) {
        self.departures.push(Departure { vc, units, unit, first, last, whole, starts: None });
    }

    /// Send units with irregular starts.
    pub(crate) fn send_timed(&mut self, vc: PortVc, unit: Unit, units: u16, starts: &[Time], whole: Span) {
        let Some(&last) = starts.last() else { return };
        let place = Some(self.starts.len() as u32);
        self.starts.extend_from_slice(starts);
        let first = ExactTime::at(starts[0]);
        self.departures.push(Departure { vc, units, unit, first, last, whole, starts: place });
    }
}
