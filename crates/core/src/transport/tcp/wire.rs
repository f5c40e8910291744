//! A segment on its way: how the fields of data and of acknowledgements share the words of a packet's cargo.

use super::Segment;
use crate::transport::Kind;
use crate::transport::cargo::{Cargo, Tag, Wire};

impl Wire for Segment {
    const TAG: Tag = Tag::of(Kind::Tcp as u8).with(Tag::NAMED, true);

    #[inline(always)] // so that fields stay in registers
    fn pack(&self) -> Cargo {
        let &Segment { seq, ack, len, ecn, window, connection, stamp, syn, last, is_ack, repeats } = self;
        let (group, tag) = (connection, Self::TAG.with(Tag::EDGE, syn || last));
        if is_ack {
            let (number, octets, index, tag) = (ack, window, packed(seq, len), tag.with(Tag::BACK, true));
            return Cargo { stamp, number, octets, group, index, repeats, tag, ecn };
        }
        Cargo { stamp, number: seq, octets: len.into(), group, index: 0, repeats, tag, ecn }
    }

    #[inline(always)] // see `pack`
    fn unpack(cargo: &Cargo) -> Segment {
        let &Cargo { stamp, number, octets, group: connection, index, repeats, tag, ecn } = cargo;
        let is_edge = tag.has(Tag::EDGE);
        if tag.has(Tag::BACK) {
            let (seq, len) = ((index >> 4).into(), 4 * (index & 15) as u16);
            let (ack, window) = (number, octets);
            let (syn, last, is_ack) = (is_edge, false, true);
            return Segment { seq, ack, len, ecn, window, connection, stamp, syn, last, is_ack, repeats };
        }
        let (syn, last) = (is_edge && octets == 0, is_edge && octets > 0);
        let (seq, len) = (number, octets as u16);
        Segment { seq, len, ecn, connection, stamp, syn, last, repeats, ..Segment::default() }
    }
}

/// Pack the number of an acknowledgement's list of blocks (28 bits) and the octets of the list (multiples of four up
/// to 36).
#[inline(always)]
fn packed(list: u64, octets: u16) -> u32 {
    (list as u32) << 4 | u32::from(octets / 4)
}
