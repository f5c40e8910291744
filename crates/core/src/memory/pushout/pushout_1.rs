//! Push-out from the head in a memory: see `buffer/pushout/pushout_1.rs`.

use super::{ByLength, Piece};
use crate::buffer::pushout::Fallback;
use crate::section;

pub use super::ByLength as Policy;

section! {
    /// The longest queue loses its head up to the first EOM.
    pub struct Params {
        /// Whether the EOM stays when the receiver already has a part of the frame.
        pub keep_eom: bool = false,
        /// What goes when the longest queue has no EOM.
        pub fallback: Fallback = Fallback::NextQueue,
    }
}

/// The policy removes what the receiver will take for one frame.
pub const GOES_BY_FRAMES: bool = true;

impl From<&Params> for ByLength {
    fn from(params: &Params) -> ByLength {
        ByLength { piece: Piece::Head { keep_eom: params.keep_eom }, fallback: params.fallback }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Spec;
    use super::super::tests::{Ports, chosen, cut};
    use super::*;

    #[test]
    fn the_longest_queue_of_any_port_loses_its_head_or_the_next_longest_that_has_an_eom() {
        let ports = Ports::new(&["1h", "1h", "1h"]);
        let spec = |keep_eom, fallback| Spec::Pushout1(Params { keep_eom, fallback });
        let next = spec(false, Fallback::NextQueue);
        let head = Piece::Head { keep_eom: false };
        assert_eq!(chosen(&next, &[5, 9, 9], &ports), cut(1, head), "the first of equal ones");
        assert_eq!(
            chosen(&spec(true, Fallback::NextQueue), &[9, 5, 8], &ports),
            cut(0, Piece::Head { keep_eom: true })
        );
        let without = Ports::new(&["1h", "1", "1h"]);
        assert_eq!(chosen(&next, &[5, 9, 8], &without), cut(2, head));
        assert_eq!(chosen(&spec(false, Fallback::Refuse), &[5, 9, 8], &without), None);
        assert_eq!(chosen(&next, &[2, 1, 2], &ports), None, "queues within their reserved room");
    }
}
