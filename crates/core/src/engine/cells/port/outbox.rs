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

/// Consecutive units of a frame that start to leave a port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Departure {
    /// Number of their circuit at the port.
    pub(crate) vc: PortVc,
    pub(crate) units: u16,
    /// The first unit, with the marks of the first and of the last.
    pub(crate) unit: Unit,
    /// Start of the first unit, and of the last one.
    pub(crate) first: ExactTime,
    pub(crate) last: Time,
    /// Transmission time of each unit.
    pub(crate) whole: Span,
    /// Index of their first start in the outbox's list of starts, if the next port needs each start.
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
    /// Return the present length of the outbox.
    #[inline]
    pub(crate) fn length(&self) -> OutboxLength {
        OutboxLength { departures: self.departures.len(), starts: self.starts.len() }
    }

    /// Shorten the outbox to a former length.
    #[inline]
    pub(crate) fn truncate(&mut self, to: OutboxLength) {
        self.departures.truncate(to.departures);
        self.starts.truncate(to.starts);
    }

    /// Send units of which only the last start matters: to a host, or a single unit; the last one starts at `last`.
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
