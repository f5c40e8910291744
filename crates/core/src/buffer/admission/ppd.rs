//! # Source
//! A. Romanow, S. Floyd, "Dynamics of TCP traffic over ATM networks", IEEE JSAC 13(4), 1995, "partial packet
//! discard"; cited by papers 000 (section 2.1), 003 (section 1) and 004 (section 1).
//!
//! # Idea
//! Once a cell of a frame has been lost, the remaining cells are useless: discard them as they arrive. The last one
//! is kept, so that the receiver does not glue the fragment to the next frame.
//!
//! # Parameters
//! `pass_eom` (default true, after Romanow and Floyd): keep the EOM cell of a broken frame if it fits.
//!
//! # Differences from the paper
//! A frame that loses its very first cell leaves no fragment, so its EOM is discarded as well.
//!
//! # Complexity
//! Constant; two bits per circuit.

use super::{Admission, Arrival, Context, Properties, Rule, Shortcuts};
use crate::buffer::frame::Frames;
use crate::refused::Refused;
use crate::section;
use crate::verdict::Verdict;

section! {
    /// Discard the rest of a frame that has lost a cell.
    pub struct Params {
        /// Keep the last cell of a broken frame as a delimiter, if it fits.
        pub pass_eom: bool = true,
    }
}

/// Partial packet discard at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    frames: Frames,
}

impl Policy {
    /// Build the policy of one port.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        Ok(Policy { frames: Frames::new(context.vcs(), params.pass_eom) })
    }
}

impl Admission for Policy {
    fn judge(&mut self, arrival: &mut Arrival<'_>) -> Verdict {
        self.frames.judge(arrival.unit, arrival.vc, arrival.fits(), || None)
    }

    fn properties(&self) -> Properties {
        Properties { is_monotone: true, ..Properties::default() }
    }
}

impl Shortcuts for Policy {
    fn frames(&mut self) -> Option<&mut Frames> {
        Some(&mut self.frames)
    }

    fn rule(&self) -> Option<Rule> {
        Some(Rule::Frames { threshold: None })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::PolicyBench;
    use super::*;

    fn bench(pass_eom: bool) -> PolicyBench<Policy> {
        PolicyBench::new(2, 2, move |context| Policy::new(&Params { pass_eom }, context))
    }

    #[test]
    fn remaining_cells_of_a_frame_with_a_lost_cell_are_dropped_but_the_eom_is_kept() {
        let mut bench = bench(true);
        assert_eq!(bench.offer(0, "f.."), "AAo");
        bench.depart(0);
        assert_eq!(bench.offer(0, "..e"), "ppA");
    }

    #[test]
    fn with_pass_eom_off_the_eom_goes_too() {
        let mut bench = bench(false);
        assert_eq!(bench.offer(0, "f.."), "AAo");
        bench.depart(0);
        assert_eq!(bench.offer(0, ".e"), "pp");
    }

    #[test]
    fn circuits_do_not_share_their_frame_state() {
        let mut bench = bench(true);
        assert_eq!(bench.offer(0, "f.."), "AAo");
        bench.depart(0);
        assert_eq!(bench.offer(1, "f"), "A");
    }
}
