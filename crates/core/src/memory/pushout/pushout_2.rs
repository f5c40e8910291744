//! Push-out of entire packets from a memory: see `buffer/pushout/pushout_2.rs`.
//!
//! Ports whose circuits have queues of their own record which packets are entire. A policy for frames at the port
//! discards the rest of a packet that found no room, as partial packet discard.

use super::{ByLength, Piece};
use crate::buffer::pushout::Fallback;
use crate::section;

pub use super::ByLength as Policy;

section! {
    /// The longest queue loses its first entire packet.
    pub struct Params {
        /// What goes when the longest queue has no entire packet.
        pub fallback: Fallback = Fallback::NextQueue,
    }
}

/// The policy removes entire packets, or the rest of a packet whose first cells have been sent.
pub const GOES_BY_FRAMES: bool = true;

impl From<&Params> for ByLength {
    fn from(params: &Params) -> ByLength {
        ByLength { piece: Piece::Packet, fallback: params.fallback }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Cut;
    use super::super::Spec;
    use super::super::tests::{self, Ports};
    use super::*;

    fn chosen(lengths: &[u64], fallback: Fallback, ports: &Ports) -> Option<Cut> {
        tests::chosen(&Spec::Pushout2(Params { fallback }), lengths, ports)
    }

    const HEAD: Piece = Piece::Head { keep_eom: false };
    const NEXT: Fallback = Fallback::NextQueue;

    #[test]
    fn the_longest_queue_with_an_entire_packet_gives_way_the_first_of_equal_ones() {
        let ports = Ports::new(&["1p", "1p", "1p"]);
        let cut = |queue| Some(Cut { queue, piece: Piece::Packet });
        assert_eq!(chosen(&[5, 9, 9], NEXT, &ports), cut(1));
        assert_eq!(chosen(&[9, 9, 5], NEXT, &ports), cut(0), "the queue of the arriving unit as well");
        assert_eq!(chosen(&[5, 9, 9], NEXT, &Ports::new(&["1p", "1", "1p"])), cut(2));
    }

    #[test]
    fn without_an_entire_packet_the_fallback_decides() {
        let ports = Ports::new(&["1p", "1h", "1ph"]);
        let cut = |queue, piece| Some(Cut { queue, piece });
        assert_eq!(chosen(&[5, 9, 8], NEXT, &ports), cut(2, Piece::Packet));
        assert_eq!(chosen(&[5, 9, 8], Fallback::HeadFragment, &ports), cut(1, HEAD));
        assert_eq!(chosen(&[5, 9, 8], Fallback::Refuse, &ports), None);
        assert_eq!(chosen(&[5, 9, 8], NEXT, &Ports::new(&["1", "1h", "1h"])), cut(1, HEAD));
        assert_eq!(
            chosen(&[5, 9, 8], NEXT, &Ports::new(&["1", "1", "1h"])),
            None,
            "no head of another queue"
        );
    }

    #[test]
    fn a_queue_within_its_reserved_room_is_spared() {
        assert_eq!(chosen(&[2, 1, 2], NEXT, &Ports::new(&["1p", "1p", "1p"])), None);
    }

    #[test]
    fn no_packet_goes_for_one_that_could_not_fit_beside_what_is_sent() {
        let ports = |sending| Ports { sending, ..Ports::new(&["1p", "1p", "1p"]) };
        // of 30 cells the queues reserve 6: the unit needs one more, and the transmissions beyond 2 each
        assert!(chosen(&[9, 9, 9], NEXT, &ports([2, 14, 12])).is_none());
        assert!(chosen(&[9, 9, 9], NEXT, &ports([2, 13, 12])).is_some());
    }
}
