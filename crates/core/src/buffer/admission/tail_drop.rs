//! # Source
//! The discipline of a switch without any, "vanilla UBR" in paper 000 (V. Rosolen, O. Bonaventure, G. Leduc, 1998),
//! section 4, and "plain ATM" in paper 001 (L. Kalampoukas, A. Varma, 1995), section 3.
//!
//! # Idea
//! A unit is taken if it fits. Frames are not looked at, so cells of frames that have lost a cell keep their place.
//!
//! # Parameters
//! None.
//!
//! # Differences from the paper
//! None.
//!
//! # Complexity
//! Constant, no state.

use super::{Admission, Arrival, Context, Rule};
use crate::buffer::verdict::{Reason, Verdict};
use crate::section;

section! {
    /// Take whatever fits.
    pub struct Params {}
}

/// Tail drop: no state at all.
#[derive(Clone, Debug)]
pub struct Policy;

impl Policy {
    /// The policy at one port.
    pub fn new(_: &Params, _: &Context<'_>) -> Result<Policy, String> {
        Ok(Policy)
    }
}

impl Policy {
    /// It decides unit by unit.
    pub(crate) fn rule(&self) -> Rule {
        Rule::Fits
    }
}

impl Admission for Policy {
    fn judge(&mut self, arrival: &mut Arrival<'_>) -> Verdict {
        if arrival.fits() { Verdict::Accept } else { Verdict::Discard(Reason::Overflow) }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Bench;
    use super::*;

    #[test]
    fn a_cell_is_taken_exactly_as_long_as_there_is_room() {
        let mut bench = Bench::new(3, 1, |context| Policy::new(&Params {}, context));
        assert_eq!(bench.offer(0, "f..."), "AAAo");
        bench.depart(0);
        assert_eq!(bench.offer(0, "."), "A");
    }

    #[test]
    fn cells_of_a_frame_that_has_lost_a_cell_are_taken_all_the_same() {
        let mut bench = Bench::new(2, 1, |context| Policy::new(&Params {}, context));
        assert_eq!(bench.offer(0, "f.."), "AAo");
        bench.depart(0);
        assert_eq!(bench.offer(0, "e"), "A");
    }
}
