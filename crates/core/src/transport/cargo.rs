//! What a packet carries from one host to another: 32 octets that engines copy, and only transports read.
//!
//! A transport packs what its other end has to know with `Wire`. Everything between the hosts sees only what stands on
//! the outside: the direction, the ECN field, the end of a block, and the packet's name for random draws.

use crate::rng::mix;
use crate::transport::ecn::Ecn;
use crate::unit::Flags;
use crate::units::Time;

/// What a packet carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cargo {
    /// Words of the transport's own; [`Cargo::number`], [`Cargo::group`], [`Cargo::repeats`] and whether it has
    /// [`Cargo::octets`] name the packet if it is [`Tag::NAMED`].
    pub(crate) stamp: Time,
    pub(crate) number: u64,
    pub(crate) octets: u32,
    pub(crate) group: u32,
    pub(crate) index: u32,
    pub(crate) repeats: u16,
    /// The outside of the packet.
    pub(crate) tag: Tag,
    pub(crate) ecn: Ecn,
}

/// What kind of packet it is: the transport that packed it, and bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tag(u8);

impl Tag {
    /// The packet travels to the source of its flow.
    pub(crate) const BACK: Tag = Tag(1 << 3);
    /// Its content names the packet, because its source may send it again or with other packets missing; otherwise its
    /// serial number names it.
    pub(crate) const NAMED: Tag = Tag(1 << 4);
    /// The packet is the last one of its block.
    pub(crate) const ENDS_BLOCK: Tag = Tag(1 << 5);
    /// A bit of the transport's own.
    pub(crate) const EDGE: Tag = Tag(1 << 6);

    /// Return the tag of the packets of the transport with this number, below 8.
    pub(crate) const fn of(transport: u8) -> Tag {
        assert!(transport < 8, "three bits tell transports apart");
        Tag(transport)
    }

    /// Return the tag with these bits, if `holds`.
    #[inline(always)]
    pub(crate) const fn with(self, bits: Tag, holds: bool) -> Tag {
        if holds { Tag(self.0 | bits.0) } else { self }
    }

    /// Return whether all these bits are set.
    #[inline(always)]
    pub(crate) const fn has(self, bits: Tag) -> bool {
        self.0 & bits.0 == bits.0
    }

    /// Return the transport's tag without bits.
    #[inline(always)]
    const fn transport(self) -> Tag {
        Tag(self.0 & 7)
    }
}

/// What one kind of packet says to the other end, and how it is packed; to be the inverse of each other is all that the
/// two functions owe.
pub(crate) trait Wire: Sized {
    /// The tag of these packets, by the number of the transport; each transport has one kind of packet.
    const TAG: Tag;

    /// Pack it; the answer has [`Wire::TAG`].
    fn pack(&self) -> Cargo;

    /// Unpack what has been packed, with the marks that ports have set since.
    fn unpack(cargo: &Cargo) -> Self;
}

impl Cargo {
    /// Return the packet as this kind, if it is one.
    #[inline]
    pub(crate) fn open<W: Wire>(&self) -> Option<W> {
        (self.tag.transport() == W::TAG.transport()).then(|| W::unpack(self))
    }

    /// Return whether the packet travels to the source of its flow.
    #[inline(always)] // called for every arrival
    pub(crate) fn is_back(&self) -> bool {
        self.tag.has(Tag::BACK)
    }

    /// Return a number that identifies the packet at its source, whether or not earlier packets are lost: for a packet
    /// without feedback its `number` on the circuit, otherwise a hash of its name.
    #[inline(always)] // see `Circuit::emit`
    pub(crate) fn identity(&self, number: u32) -> u32 {
        if !self.tag.has(Tag::NAMED) {
            return number;
        }
        let bare = u64::from(self.octets == 0 && !self.is_back());
        let turn = u64::from(self.group) << 17 | bare << 16 | u64::from(self.repeats);
        (mix(mix(turn) ^ self.number) >> 32) as u32
    }

    /// Return the marks of every unit of the packet.
    #[inline]
    pub(crate) fn marks(&self) -> Flags {
        let block_end = if self.tag.has(Tag::ENDS_BLOCK) { Flags::BLOCK_END } else { Flags::default() };
        block_end.with(self.ecn.flags())
    }

    /// Return the ECN field; packets of a block have none.
    pub fn ecn(&self) -> Ecn {
        self.ecn
    }

    /// Return whether a port has cut the packet to its headers.
    #[inline]
    pub(crate) fn is_cut(&self) -> bool {
        self.ecn.has(Ecn::CUT)
    }

    /// Return the packet as ports have left it: with a congestion mark, or cut to its headers.
    pub(crate) fn marked_by(self, flags: Flags) -> Cargo {
        Cargo { ecn: self.ecn.marked_by(flags), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::fec::{CodedPacket, Label};
    use crate::transport::tcp::Segment;
    use crate::transport::udp::Datagram;

    /// Check that what is unpacked is what was packed, with marks set under way; returns what was packed.
    fn travels<W: Wire + PartialEq + std::fmt::Debug>(packet: &W, marked: impl Fn(&W) -> W) -> Cargo {
        let cargo = packet.pack();
        assert_eq!(cargo.open::<W>().as_ref(), Some(packet));
        assert_eq!(cargo.marked_by(Flags::CE).open(), Some(marked(packet)));
        cargo
    }

    #[test]
    fn a_segment_is_unpacked_as_it_was_packed_and_keeps_its_name() {
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
        for segment in segments {
            let marked = |segment: &Segment| Segment { ecn: segment.ecn.with(Ecn::CE), ..*segment };
            let cargo = travels(&segment, marked);
            assert_eq!((cargo.is_back(), cargo.marks()), (segment.is_ack, segment.ecn.flags()));
            assert!(cargo.open::<Datagram>().is_none() && cargo.open::<CodedPacket>().is_none());
        }
        let name = |segment: Segment| segment.pack().identity(7);
        let others = [
            Segment { seq: 1, ..data },
            Segment { repeats: 1, ..data },
            Segment { connection: 3, ..data },
            Segment { len: 0, ..data },
        ];
        assert!(others.iter().all(|other| name(*other) != name(data)));
        assert_eq!(name(Segment { last: true, ecn: Ecn::ECT, stamp: Time(8), ..data }), name(data));
    }

    #[test]
    fn packets_without_feedback_are_named_by_their_serial_numbers() {
        let datagram = Datagram { bytes: 1000, sent: Time(5), ecn: Ecn::ECT };
        let cargo = travels(&datagram, |datagram| Datagram { ecn: Ecn::ECT.with(Ecn::CE), ..*datagram });
        assert_eq!((cargo.identity(7), cargo.is_back(), cargo.is_cut()), (7, false, false));
        assert!(cargo.marked_by(Flags::CUT).is_cut());
        for ends_block in [false, true] {
            let label = Label { block: 3, index: 4 };
            let coded = CodedPacket { label, ends_block, sent: Time(6) };
            let cargo = travels(&coded, |coded| *coded);
            assert_eq!((cargo.identity(7), cargo.marks().has(Flags::BLOCK_END)), (7, ends_block));
        }
    }

    #[test]
    fn it_takes_half_a_line_of_the_cache() {
        assert_eq!(size_of::<Cargo>(), 32);
    }
}
