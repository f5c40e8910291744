//! Explicit congestion notification: the bits in the headers of a packet.
//!
//! *Source*: K. Ramakrishnan, S. Floyd and D. Black, "The Addition of Explicit Congestion Notification (ECN) to IP",
//! RFC 3168 (2001). Two bits of the IP header say whether a port may mark the packet (ECT) and whether one has (CE);
//! two bits of the TCP header carry the mark back (ECE) and report that the sender has reacted (CWR). A second
//! codepoint, ECT(1), stands for scalable congestion controls (K. De Schepper and B. Briscoe, RFC 9331, 2023).

use crate::unit::Flags;

/// The bits of congestion notification in the headers of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ecn(u8);

impl Ecn {
    /// The transport reacts to marks.
    pub const ECT: Ecn = Ecn(Flags::ECT.0 as u8);
    /// A port has met congestion.
    pub const CE: Ecn = Ecn(Flags::CE.0 as u8);
    /// The transport reacts to marks as a scalable congestion control does: ECT(1), in addition to [`Ecn::ECT`].
    pub const L4S: Ecn = Ecn(Flags::L4S.0 as u8);
    /// The receiver reports a mark: ECN-Echo.
    pub const ECE: Ecn = Ecn(1);
    /// A port has cut the packet to its headers; on an ACK: the acknowledged segment reached the receiver without its
    /// data. In IP this is a code point for differentiated services.
    pub const CUT: Ecn = Ecn(2);
    /// The sender has not received an acknowledgement yet. In IP this is a code point for differentiated services as
    /// well.
    pub const UNSCHEDULED: Ecn = Ecn(Flags::UNSCHEDULED.0 as u8);
    /// On an ACK with accurate ECN: the highest bit of the field ACE, whose others are [`Ecn::CWR`] and [`Ecn::ECE`].
    pub const AE: Ecn = Ecn(4);
    /// The sender has reduced its window: congestion window reduced.
    pub const CWR: Ecn = Ecn(128);

    /// Return the union of both sets of bits.
    pub const fn with(self, other: Ecn) -> Ecn {
        Ecn(self.0 | other.0)
    }

    /// Return these bits without those of `other`.
    pub const fn without(self, other: Ecn) -> Ecn {
        Ecn(self.0 & !other.0)
    }

    /// Return whether all bits of `other` are set.
    pub const fn has(self, other: Ecn) -> bool {
        self.0 & other.0 == other.0
    }

    /// Return these bits if `holds`, otherwise no bits.
    #[inline]
    pub const fn when(self, holds: bool) -> Ecn {
        Ecn(if holds { self.0 } else { 0 })
    }

    /// Return the marks of a unit that ports use: ECT(0), ECT(1) and CE, and the mark of packets sent before the
    /// first acknowledgement.
    #[inline]
    pub const fn flags(self) -> Flags {
        let seen = Flags::ECT.with(Flags::L4S).with(Flags::CE).with(Flags::UNSCHEDULED);
        Flags(self.0 as u16 & seen.0)
    }

    /// Return the two bits of the IP header (RFC 3168 section 5): 0 not capable, 1 and 2 capable (ECT(1) and ECT(0)),
    /// 3 marked (CE).
    pub const fn codepoint(self) -> u8 {
        match (self.has(Ecn::CE), self.has(Ecn::L4S), self.has(Ecn::ECT)) {
            (true, _, _) => 3,
            (false, true, _) => 1,
            (false, false, true) => 2,
            (false, false, false) => 0,
        }
    }

    /// Return these bits with the marks that ports have set on a unit with these bits.
    #[inline]
    pub const fn marked_by(self, flags: Flags) -> Ecn {
        let cut = Ecn::CUT.when(flags.has(Flags::CUT));
        self.with(Ecn::CE.when(flags.has(Flags::CE))).with(cut)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_see_the_bits_of_ip_and_not_those_of_tcp() {
        let all = [Ecn::ECT, Ecn::L4S, Ecn::CE, Ecn::ECE, Ecn::AE, Ecn::CWR];
        let all = all.into_iter().fold(Ecn::default(), Ecn::with);
        assert_eq!(all.flags(), Flags::ECT.with(Flags::L4S).with(Flags::CE));
        assert_eq!(Ecn::ECE.with(Ecn::CWR).flags(), Flags::default());
        assert_eq!(Ecn::UNSCHEDULED.with(Ecn::CUT).flags(), Flags::UNSCHEDULED);
    }

    #[test]
    fn the_bits_of_ip_are_those_of_the_rfc() {
        let l4s = Ecn::ECT.with(Ecn::L4S);
        let all = [Ecn::default(), Ecn::ECE, Ecn::ECT, l4s, Ecn::ECT.with(Ecn::CE), l4s.with(Ecn::CE)];
        assert_eq!(all.map(Ecn::codepoint), [0, 0, 2, 1, 3, 3]);
    }

    #[test]
    fn a_packet_takes_the_mark_of_its_units_and_nothing_else() {
        let unit = Flags::FIRST.with(Flags::EOM).with(Flags::CLP).with(Flags::ECT);
        assert_eq!(Ecn::ECT.marked_by(unit), Ecn::ECT);
        assert_eq!(Ecn::ECT.marked_by(unit.with(Flags::CE)), Ecn::ECT.with(Ecn::CE));
        assert_eq!(Ecn::ECT.marked_by(unit.with(Flags::CUT)), Ecn::ECT.with(Ecn::CUT));
    }
}
