//! A source that sends packets at instants of its clock, and the sink of these packets.

use super::Endpoint;
use crate::host::end::{End, Uplink};
use crate::host::figures::Figures;
use crate::host::processor::Interfaces;
use crate::host::sources::{lengths, ticks};
use crate::scenario::model::Scenario;
use crate::source::clock::Ticks;
use crate::source::length::PacketLengths;
use crate::transport::cargo::{Cargo, Wire};
use crate::transport::ecn::Ecn;
use crate::transport::udp::Datagram;
use crate::transport::{self, Transport};
use crate::units::ids::FlowId;
use crate::units::{Span, Time};

/// The source and the sink of datagrams or of single cells.
#[derive(Clone, Debug)]
pub(crate) struct Datagrams {
    ticks: Ticks,
    lengths: PacketLengths,
    headers: u32,
    ecn: Ecn,
    pub(in crate::host) figures: Figures,
}

/// A frame of one cell, of which an engine stores what arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SingleCell {
    /// When it arrives at a port or, after it has left the port, when it started.
    pub(crate) at: Time,
    /// When its source wrote it.
    pub(crate) sent: Time,
}

impl Endpoint for Datagrams {
    fn new(scenario: &Scenario, index: FlowId) -> Datagrams {
        let spec = &scenario.flows[index];
        let vc = &scenario.vcs[spec.vc];
        let ticks = ticks(scenario, spec, spec.mean_bits(vc.framing));
        let headers = spec.transport.header_bytes();
        let lengths = match *spec.transport {
            transport::Spec::Cells(_) => PacketLengths::Fixed(spec.payload().into()),
            _ => lengths(scenario, spec, headers),
        };
        let figures = Figures::new(scenario.measure.delivery);
        let ecn = spec.transport.ect();
        Datagrams { ticks, lengths, headers, ecn, figures }
    }

    fn start<U: Uplink>(&mut self, out: &mut Interfaces<'_, U>) {
        self.ticks.start(out.now);
    }

    fn next_timer(&self, end: End) -> Option<Time> {
        (end == End::Source).then(|| self.ticks.next())
    }

    fn on_timer<U: Uplink>(&mut self, _: End, out: &mut Interfaces<'_, U>) {
        self.ticks.step();
        self.figures.sent += 1;
        let bytes = self.lengths.draw() as u32;
        let datagram = Datagram { bytes, sent: out.now, ecn: self.ecn };
        out.send(self.headers + bytes, datagram.pack());
    }

    #[inline(always)] // see `Flow::receive`
    fn receive<U: Uplink>(&mut self, cargo: &Cargo, out: &mut Interfaces<'_, U>) {
        if cargo.is_cut() {
            return; // its data are lost
        }
        let Datagram { bytes, sent, ecn } = Datagram::unpack(cargo);
        self.figures.received += 1;
        self.figures.marked += u64::from(ecn.has(Ecn::CE));
        self.figures.bytes += u64::from(bytes);
        self.figures.delivery.add(out.now.since(sent));
    }

    fn delivered(&self) -> u64 {
        self.figures.bytes
    }

    fn figures(&self) -> Figures {
        self.figures.clone()
    }

    fn reset_counters(&mut self) {
        self.figures = self.figures.fresh();
    }
}

impl Datagrams {
    /// Append the instants at which single cells are due before `until`, at most `most`; the host sends them. Nothing but
    /// the clock influences the flow.
    pub(in crate::host) fn take_cells(&mut self, until: Time, most: usize, sends: &mut Vec<Time>) {
        self.ticks.take_before(until, most, sends);
        self.figures.sent += sends.len() as u64;
    }

    /// Return the single cell that the host sends at `now`, and its octets.
    pub(in crate::host) fn cell(&mut self, now: Time) -> (u32, Cargo) {
        let bytes = self.lengths.draw() as u32;
        (bytes, Datagram { bytes, sent: now, ecn: self.ecn }.pack())
    }

    /// Receive single cells that arrive one after the other, `span` after they have started.
    pub(in crate::host) fn receive_cells(&mut self, span: Span, cells: &[SingleCell]) {
        self.figures.received += cells.len() as u64;
        self.figures.bytes += cells.len() as u64 * self.cell_bytes();
        self.figures.delivery.add_all(cells.iter().map(|cell| Span(cell.at.0 + span.0 - cell.sent.0)));
    }

    /// Return the octets of each single cell.
    pub(in crate::host) fn cell_bytes(&mut self) -> u64 {
        self.lengths.draw()
    }
}
