//! A flow whose packets form blocks with parity: the clock of its source, the encoder and the decoder.

use super::Endpoint;
use crate::adaptation::coded::Code;
use crate::host::end::{End, Uplink};
use crate::host::figures::{Coding, Figures};
use crate::host::processor::Interfaces;
use crate::host::sources::clock;
use crate::scenario::model::Scenario;
use crate::source::Source;
use crate::source::clock::{UnitClock, before};
use crate::transport::cargo::{Cargo, Wire};
use crate::transport::fec::{CodedPacket, Decoder, Encoder};
use crate::transport::udp;
use crate::units::Time;
use crate::units::ids::FlowId;

/// The source and the sink of a flow of blocks.
#[derive(Clone, Debug)]
pub(in crate::host) struct Coded {
    clock: UnitClock,
    /// Time of the next packet; `Time::NEVER` after the last one.
    next: Time,
    /// Time at which the source stops.
    stop: Time,
    /// Octets of every packet, IP header included.
    packet: u32,
    encoder: Encoder,
    decoder: Decoder,
    code: Code,
    figures: Figures,
    /// Data packets sent in the blocks that the decoder counts.
    data_sent: u64,
}

impl Endpoint for Coded {
    fn new(scenario: &Scenario, index: FlowId) -> Coded {
        let spec = &scenario.flows[index];
        let vc = &scenario.vcs[spec.vc];
        let packet = spec.packet();
        let bits = spec.mean_bits(vc.framing.without_parity());
        let code = spec.source.code().expect("a checked coded flow has a source of blocks");
        let blocks = spec.source.packets().map(|packets| packets / u64::from(code.data));
        Coded {
            clock: clock(scenario, spec, bits),
            next: Time::NEVER,
            stop: spec.stops_at(),
            packet,
            encoder: Encoder::new(code, blocks),
            decoder: Decoder::new(code),
            code,
            figures: Figures::new(scenario.measure.delivery),
            data_sent: 0,
        }
    }

    fn start<U: Uplink>(&mut self, out: &mut Interfaces<'_, U>) {
        self.next = before(self.stop, out.now + self.clock.first());
    }

    fn next_timer(&self, end: End) -> Option<Time> {
        (end == End::Source).then_some(self.next)
    }

    fn on_timer<U: Uplink>(&mut self, _: End, out: &mut Interfaces<'_, U>) {
        let (sent, label) = (out.now, self.encoder.take());
        let next = self.encoder.peek();
        self.next = next.map_or(Time::NEVER, |data| before(self.stop, sent + self.clock.gap(data)));
        self.figures.sent += 1;
        self.data_sent += u64::from(label.index < self.code.data && self.decoder.counts(label.block));
        let ends_block = label.index + 1 == self.code.packets();
        out.send(self.packet, CodedPacket { label, ends_block, sent }.pack());
    }

    fn receive<U: Uplink>(&mut self, cargo: &Cargo, out: &mut Interfaces<'_, U>) {
        if cargo.is_cut() {
            return; // its data are lost
        }
        let CodedPacket { label, sent, .. } = CodedPacket::unpack(cargo);
        let packets = self.decoder.receive(label);
        self.figures.received += 1;
        self.figures.bytes += u64::from(packets) * u64::from(self.packet - udp::HEADERS);
        if label.index < self.code.data {
            self.figures.delivery.add(out.now.since(sent));
        }
    }

    fn delivered(&self) -> u64 {
        self.figures.bytes
    }

    fn figures(&self) -> Figures {
        Figures {
            coded: Some(Box::new(Coding { data_sent: self.data_sent, books: self.decoder.books() })),
            ..self.figures.clone()
        }
    }

    fn reset_counters(&mut self) {
        self.figures = self.figures.fresh();
        self.decoder.reset(self.encoder.blocks_begun());
        self.data_sent = 0;
    }

    /// Decide the outcome of every block that was sent, if no packet is in flight.
    fn finish(&mut self, is_quiet: bool) {
        if is_quiet {
            self.decoder.close(self.encoder.blocks());
        }
    }
}
