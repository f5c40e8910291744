//! The payload of a packet in as few octets as possible: the engine copies it several times, but writes and reads it
//! once.
//!
//! # What it assumes
//! No kind of payload needs all fields.
//!
//! # What it skips
//! A queue of payloads at the circuit.
//!
//! # Why that is exact
//! Packing and unpacking are inverse: see the test.
//!
//! # What it saves
//! Access to a cache line per packet.

use crate::network::circuit::Payload;
use crate::transport::ecn::Ecn;
use crate::transport::fec::Label;
use crate::transport::tcp::Segment;
use crate::unit::Flags;
use crate::units::Time;

/// A [`Payload`] whose kinds share their fields, because no kind needs all of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PacketPayload {
    /// Time of sending; for an acknowledgement the timestamp that it echoes.
    stamp: Time,
    /// For a segment its first octet, for an acknowledgement the next expected octet.
    number: u64,
    /// Octets of data; for an acknowledgement the window.
    octets: u32,
    /// The connection of a segment; the block of a packet with parity.
    group: u32,
    /// Position in the block; for an acknowledgement the number of its list of blocks and the octets of this list.
    index: u32,
    /// Number of earlier sendings of a segment's first octet; for an acknowledgement, number of earlier ones with the
    /// same `number`.
    repeats: u16,
    kind: PayloadKind,
    ecn: Ecn,
}

/// The kind of a payload. The variants `Edge…` open a connection or, with data, end one; `EdgeCoded` ends a block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum PayloadKind {
    #[default]
    Data,
    EdgeData,
    Ack,
    EdgeAck,
    Datagram,
    Coded,
    EdgeCoded,
}

impl PayloadKind {
    /// Return the plain variant of a kind, or its `Edge…` variant.
    #[inline(always)]
    fn edge(is_edge: bool, [plain, edge]: [PayloadKind; 2]) -> PayloadKind {
        if is_edge { edge } else { plain }
    }
}

impl PacketPayload {
    /// Pack a payload.
    #[inline(always)] // so that fields stay in registers
    pub(crate) fn of(payload: Payload) -> PacketPayload {
        match payload {
            Payload::Tcp(Segment {
                ack,
                window,
                connection,
                stamp,
                syn,
                ecn,
                seq,
                len,
                repeats,
                is_ack: true,
                ..
            }) => PacketPayload {
                stamp,
                number: ack,
                octets: window,
                group: connection,
                index: packed(seq, len),
                repeats,
                kind: PayloadKind::edge(syn, [PayloadKind::Ack, PayloadKind::EdgeAck]),
                ecn,
            },
            Payload::Tcp(Segment { seq, len, connection, stamp, syn, last, repeats, ecn, .. }) => {
                let kind = PayloadKind::edge(syn || last, [PayloadKind::Data, PayloadKind::EdgeData]);
                let (number, octets, group) = (seq, len.into(), connection);
                PacketPayload { stamp, number, octets, group, repeats, kind, ecn, ..PacketPayload::default() }
            }
            Payload::Datagram { bytes, sent, ecn } => PacketPayload {
                stamp: sent,
                number: 0,
                octets: bytes,
                group: 0,
                index: 0,
                repeats: 0,
                kind: PayloadKind::Datagram,
                ecn,
            },
            Payload::Coded { label: Label { block, index }, ends_block, sent } => PacketPayload {
                stamp: sent,
                number: 0,
                octets: 0,
                group: block,
                index: index.into(),
                repeats: 0,
                kind: PayloadKind::edge(ends_block, [PayloadKind::Coded, PayloadKind::EdgeCoded]),
                ecn: Ecn::default(),
            },
        }
    }

    /// Return whether the payload is an acknowledgement.
    #[inline(always)]
    pub(crate) fn is_ack(&self) -> bool {
        matches!(self.kind, PayloadKind::Ack | PayloadKind::EdgeAck)
    }

    /// Return the payload's identity, as [`Payload::identity`] does.
    #[inline]
    pub(crate) fn identity(self, number: u32) -> u32 {
        self.payload().identity(number)
    }

    /// Return the marks of the packet's only unit.
    #[inline]
    pub(crate) fn flags(&self) -> Flags {
        let ends_block = self.kind == PayloadKind::EdgeCoded;
        let block_end = if ends_block { Flags::BLOCK_END } else { Flags::default() };
        block_end.with(self.ecn.flags()).with(Flags::FIRST).with(Flags::EOM)
    }

    /// Return this payload with the marks of the unit that carried it.
    pub(crate) fn marked_by(self, flags: Flags) -> PacketPayload {
        PacketPayload { ecn: self.ecn.marked_by(flags), ..self }
    }

    /// Return the payload that was packed.
    #[inline(always)]
    pub(crate) fn payload(self) -> Payload {
        let PacketPayload { stamp, number, octets, group, index, repeats, kind, ecn } = self;
        match kind {
            PayloadKind::Data | PayloadKind::EdgeData => Payload::Tcp(Segment {
                seq: number,
                len: octets as u16,
                connection: group,
                stamp,
                ecn,
                syn: kind == PayloadKind::EdgeData && octets == 0,
                last: kind == PayloadKind::EdgeData && octets > 0,
                repeats,
                ..Segment::default()
            }),
            PayloadKind::Ack | PayloadKind::EdgeAck => Payload::Tcp(Segment {
                seq: (index >> 4).into(),
                len: 4 * (index & 15) as u16,
                ack: number,
                window: octets,
                connection: group,
                stamp,
                ecn,
                syn: kind == PayloadKind::EdgeAck,
                is_ack: true,
                repeats,
                ..Segment::default()
            }),
            PayloadKind::Datagram => Payload::Datagram { bytes: octets, sent: stamp, ecn },
            PayloadKind::Coded | PayloadKind::EdgeCoded if ecn.has(Ecn::CUT) => Payload::headers(stamp),
            PayloadKind::Coded | PayloadKind::EdgeCoded => Payload::Coded {
                label: Label { block: group, index: index as u16 },
                ends_block: kind == PayloadKind::EdgeCoded,
                sent: stamp,
            },
        }
    }
}

/// Pack the number of an acknowledgement's list of blocks (28 bits) and the octets of the list (multiples of four up
/// to 36).
#[inline(always)]
fn packed(list: u64, octets: u16) -> u32 {
    (list as u32) << 4 | u32::from(octets / 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_unpacked_is_what_was_packed() {
        let data = Segment { seq: 1 << 40, len: 1460, connection: 2, stamp: Time(7), ..Segment::default() };
        let ack = Segment { ack: 1 << 40, window: 65_536, connection: 2, is_ack: true, ..Segment::default() };
        let segments = [
            data,
            Segment { repeats: 1, ..data },
            Segment { repeats: u16::MAX, ..ack },
            Segment { len: 0, syn: true, ..data },
            Segment { last: true, ..data },
            ack,
            Segment { syn: true, stamp: Time(9), ..ack },
            Segment { ecn: Ecn::ECT.with(Ecn::CWR), ..data },
            Segment { ecn: Ecn::ECE, ..ack },
            Segment { seq: (1 << 28) - 1, len: 36, ..ack },
            Segment { seq: 0x1234567, len: 12, ..ack },
        ];
        let datagram = Payload::Datagram { bytes: 1000, sent: Time(5), ecn: Ecn::ECT };
        let label = Label { block: 3, index: 4 };
        let coded = [false, true].map(|ends_block| Payload::Coded { label, ends_block, sent: Time(6) });
        for payload in segments.map(Payload::Tcp).into_iter().chain([datagram]).chain(coded) {
            let packed = PacketPayload::of(payload);
            assert_eq!(packed.payload(), payload);
            let marked = payload.marked_by(Flags::CE);
            assert_eq!(packed.marked_by(Flags::CE).payload(), marked);
        }
    }

    #[test]
    fn it_takes_half_a_line_of_the_cache() {
        assert_eq!(size_of::<PacketPayload>(), 32);
    }
}
