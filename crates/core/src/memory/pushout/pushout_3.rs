//! Push-out from the tail in a memory: see `buffer/pushout/pushout_3.rs`.
//!
//! The port that loses the tail reports to its own policy for frames that the rest of this frame is useless.

use super::{ByLength, Piece};
use crate::buffer::pushout::Fallback;
use crate::buffer::pushout::pushout_3::LastEom;
use crate::section;

pub use super::ByLength as Policy;

section! {
    /// The longest queue loses its tail back to the last EOM.
    pub struct Params {
        /// Whether the last EOM goes as well.
        pub last_eom: LastEom = LastEom::Stays,
        /// What goes when the longest queue ends with an EOM that stays.
        pub fallback: Fallback = Fallback::NextQueue,
    }
}

/// The policy removes the end of a frame, whose rest the port then discards.
pub const GOES_BY_FRAMES: bool = true;

impl From<&Params> for ByLength {
    fn from(params: &Params) -> ByLength {
        ByLength { piece: Piece::Tail(params.last_eom), fallback: params.fallback }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Spec;
    use super::super::tests::{Ports, chosen, cut};
    use super::*;

    #[test]
    fn the_longest_queue_of_any_port_loses_its_tail_or_else_what_the_fallback_says() {
        let spec = |last_eom, fallback| Spec::Pushout3(Params { last_eom, fallback });
        let next = spec(LastEom::Stays, Fallback::NextQueue);
        let tail = Piece::Tail(LastEom::Stays);
        let ports = Ports::new(&["1t", "1h", "1ht"]);
        assert_eq!(chosen(&next, &[9, 5, 8], &ports), cut(0, tail));
        assert_eq!(chosen(&next, &[5, 9, 8], &ports), cut(2, tail), "queue 1 ends with an EOM");
        let head = Piece::Head { keep_eom: false };
        assert_eq!(chosen(&spec(LastEom::Stays, Fallback::HeadFragment), &[5, 9, 8], &ports), cut(1, head));
        assert_eq!(chosen(&spec(LastEom::Stays, Fallback::Refuse), &[5, 9, 8], &ports), None);
        assert_eq!(chosen(&next, &[5, 9, 8], &Ports::new(&["1", "1h", "1"])), cut(1, head));
        let goes = spec(LastEom::Goes, Fallback::NextQueue);
        assert_eq!(chosen(&goes, &[9, 5, 8], &ports), cut(0, Piece::Tail(LastEom::Goes)));
    }
}
