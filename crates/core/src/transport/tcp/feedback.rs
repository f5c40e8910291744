//! What acknowledgements report about congestion marks, and how a sender counts them.
//!
//! *Source*: B. Briscoe, M. Kühlewind and R. Scheffenegger, "More Accurate Explicit Congestion Notification (AccECN) Feedback in TCP",
//! RFC 9768 (draft-ietf-tcpm-accurate-ecn-34, sections 3.2 and A.2), without its options; for whole counters the receiver of UDP
//! Prague (L4STeam/udp_prague@e8e34353).

use crate::choice;
use crate::transport::ecn::Ecn;

choice! {
    /// What acknowledgements report about marks.
    pub enum Feedback {
        /// That there was a mark, until the sender reacts (RFC 3168); for `dctcp` the marks of the segments that they acknowledge
        /// (RFC 8257).
        Rfc3168 = "rfc3168",
        /// The number of marked packets in three bits of the header, modulo 8 (accurate ECN, RFC 9768). The sender assumes the wrap
        /// that fits the packets acknowledged, if an ACK is for fewer than four on average.
        Accecn = "accecn",
        /// The number of marked packets as a whole, as in QUIC and in UDP Prague.
        Counters = "counters",
    }
}

/// The first value of the counter of marked packets.
const FIRST: u64 = 5;
/// Values of the field ACE.
const VALUES: u64 = 8;
/// Packets that an ACK acknowledges on average, from which a wrap of the field is not assumed.
const MANY: u64 = 4;
/// Marked packets since the last ACK that make an ACK due.
pub(super) const DUE: u8 = 3;
/// The bits of the field ACE, with their values.
const BITS: [(Ecn, u64); 3] = [(Ecn::AE, 4), (Ecn::CWR, 2), (Ecn::ECE, 1)];

/// Return the field ACE of a receiver to which `marked` packets have come with a mark.
pub(super) fn field(marked: u32) -> Ecn {
    let ace = (FIRST + u64::from(marked)) % VALUES;
    BITS.iter().fold(Ecn::default(), |field, (bit, value)| field.with(bit.when(ace & value != 0)))
}

/// Return the field ACE of an ACK.
fn ace(ecn: Ecn) -> u64 {
    BITS.iter().filter(|(bit, _)| ecn.has(*bit)).map(|(_, value)| value).sum()
}

/// The marks that a sender knows of.
#[derive(Clone, Copy, Debug)]
pub(super) struct MarkCounter {
    feedback: Feedback,
    /// Marked packets, from [`FIRST`] on for ACE.
    known: u64,
    /// Packets that ACKs have reported as delivered, and these ACKs.
    packets: u64,
    acks: u64,
}

impl MarkCounter {
    /// The counter of a new connection.
    pub(super) fn new(feedback: Feedback) -> MarkCounter {
        let known = if feedback == Feedback::Accecn { FIRST } else { 0 };
        MarkCounter { feedback, known, packets: 0, acks: 0 }
    }

    /// Return the packets of which an ACK with these bits, or with this whole count, says that they were marked; it delivers `packets`
    /// packets.
    pub(super) fn newly(&mut self, ecn: Ecn, count: u32, packets: u64) -> u64 {
        let newly = match self.feedback {
            Feedback::Rfc3168 => 0,
            Feedback::Counters => u64::from(count).saturating_sub(self.known),
            Feedback::Accecn if packets == 0 => 0, // it may be older than others
            Feedback::Accecn => self.unwrapped(ace(ecn), packets),
        };
        self.known += newly;
        newly
    }

    /// Return the marks between the known ones and a field: the most that fit into the packets, if few are acknowledged at once.
    fn unwrapped(&mut self, ace: u64, packets: u64) -> u64 {
        (self.packets, self.acks) = (self.packets + packets, self.acks + 1);
        let least = (ace + VALUES - self.known % VALUES) % VALUES;
        let is_thinned = self.packets >= MANY * self.acks;
        if is_thinned || packets < least { least } else { safest(least, packets) }
    }
}

/// Return the largest number of marks that leaves the remainder `least` and is at most `packets`.
fn safest(least: u64, packets: u64) -> u64 {
    packets - (packets - least) % VALUES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors::{numbers, vector};

    /// The bits of this value of the field.
    fn bits(ace: u64) -> Ecn {
        field((ace + 3) as u32)
    }

    #[test]
    fn the_field_is_that_of_the_vectors_and_starts_at_five() {
        let vectors = vector("accecn");
        for case in vectors["delta"].as_array().unwrap() {
            let number = |key: &str| case[key].as_u64().unwrap();
            let mut counter = MarkCounter {
                known: number("cep"),
                acks: 1,
                packets: 99,
                ..MarkCounter::new(Feedback::Accecn)
            };
            assert_eq!(counter.newly(bits(number("ace")), 0, 1), number("marks"), "{case}");
        }
        for case in vectors["safe"].as_array().unwrap() {
            let number = |key: &str| case[key].as_u64().unwrap();
            assert_eq!(safest(number("least"), number("packets")), number("marks"), "{case}");
        }
        assert_eq!((ace(field(0)), ace(field(3)), ace(field(1 << 20))), (5, 0, 5));
    }

    #[test]
    fn every_mark_is_counted_as_in_the_vectors() {
        for case in vector("accecn")["sequences"].as_array().unwrap() {
            let (mut marked, mut sender) = (0, MarkCounter::new(Feedback::Accecn));
            let mut found = Vec::new();
            for packets in numbers(&case["packets_per_ack"]) {
                marked += packets as u32;
                found.push(sender.newly(field(marked), 0, packets as u64) as f64);
            }
            assert_eq!(found, numbers(&case["marks"]), "{case}");
        }
    }

    #[test]
    fn an_ack_without_new_octets_does_not_wind_the_counter() {
        let mut counter = MarkCounter::new(Feedback::Accecn);
        assert_eq!(
            [(7, 2), (6, 0), (7, 1)].map(|(ace, packets)| counter.newly(bits(ace), 0, packets)),
            [2, 0, 0]
        );
        let mut counter = MarkCounter::new(Feedback::Counters);
        assert_eq!([9, 4, 30].map(|count| counter.newly(Ecn::default(), count, 1)), [9, 0, 21]);
    }
}
