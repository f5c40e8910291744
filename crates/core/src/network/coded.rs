//! A flow whose packets form blocks with parity: the clock of its source, the encoder and the decoder.

use super::circuit::{Circuit, Payload};
use super::figures::{Coding, Figures};
use super::sources::clock;
use crate::adaptation::coded::Code;
use crate::scenario::model::{self, Scenario};
use crate::source::Source;
use crate::source::clock::{UnitClock, before};
use crate::transport::fec::{Decoder, Encoder, Label};
use crate::transport::udp;
use crate::units::Time;

/// The source and the sink of a flow of blocks.
#[derive(Clone, Debug)]
pub(super) struct Coded {
    clock: UnitClock,
    /// Time of the next packet; `Time::NEVER` after the last one.
    pub(super) next: Time,
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

impl Coded {
    pub(super) fn new(scenario: &Scenario, spec: &model::Flow) -> Coded {
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

    pub(super) fn start(&mut self, now: Time) {
        self.next = before(self.stop, now + self.clock.first());
    }

    /// Send the next packet; returns its length in octets and its payload.
    pub(super) fn send(&mut self, now: Time) -> (u32, Payload) {
        let label = self.encoder.take();
        self.next =
            self.encoder.peek().map_or(Time::NEVER, |data| before(self.stop, now + self.clock.gap(data)));
        self.figures.sent += 1;
        self.data_sent += u64::from(label.index < self.code.data && self.decoder.counts(label.block));
        let ends_block = label.index + 1 == self.code.packets();
        (self.packet, Payload::Coded { label, ends_block, sent: now })
    }

    /// Receive a packet.
    pub(super) fn receive(&mut self, now: Time, label: Label, sent: Time) {
        let packets = self.decoder.receive(label);
        self.figures.received += 1;
        self.figures.bytes += u64::from(packets) * u64::from(self.packet - udp::HEADERS);
        if label.index < self.code.data {
            self.figures.delivery.add(now.since(sent));
        }
    }

    /// At the end of the run decide the outcome of every block that was sent, if no packet is in flight.
    pub(super) fn finish(&mut self, circuit: &Circuit) {
        if circuit.tally().under_way() == 0 {
            self.decoder.close(self.encoder.blocks());
        }
    }

    pub(super) fn figures(&self) -> Figures {
        Figures {
            coded: Some(Box::new(Coding { data_sent: self.data_sent, books: self.decoder.books() })),
            ..self.figures.clone()
        }
    }

    pub(super) fn reset_counters(&mut self) {
        self.figures = self.figures.fresh();
        self.decoder.reset(self.encoder.blocks_begun());
        self.data_sent = 0;
    }
}
