//! # Source
//! The discipline of a switch without a discard policy, "vanilla UBR" in paper 000 (V. Rosolen, O. Bonaventure, G.
//! Leduc, 1998), section 4, and "plain ATM" in paper 001 (L. Kalampoukas, A. Varma, 1995), section 3. The threshold
//! for marked cells: the "selective threshold discarder" of paper 004 (S. Chatterjee, W. Xiao), section 3.
//!
//! # Idea
//! A unit is accepted if it fits. The policy ignores frames, so cells of frames that have lost a cell stay queued.
//!
//! # Parameters
//! `clp_threshold`: occupancy from which marked units (CLP = 1) are refused; by default they are treated as all others.
//!
//! # Differences from the paper
//! A marked unit is refused iff X ≥ threshold, with X counted before it.
//!
//! # Complexity
//! Constant, no state.

use super::{Admission, Arrival, Context, Interest, Properties, Rule, Shortcuts};
use crate::buffer::size::Level;
use crate::refused::Refused;
use crate::section;
use crate::verdict::{Reason, Verdict};

section! {
    /// Accept everything that fits.
    pub struct Params {
        /// Occupancy from which marked units are refused.
        pub clp_threshold: Option<Level> = None,
    }
}

/// Tail drop at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    clp_threshold: Option<u64>,
}

impl Policy {
    /// Build the policy of one port; the error says why its threshold cannot be used.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        let level = |level| context.level("clp_threshold", level);
        Ok(Policy { clp_threshold: params.clp_threshold.map(level).transpose()? })
    }
}

impl Admission for Policy {
    fn judge(&mut self, arrival: &mut Arrival<'_>) -> Verdict {
        let above = self.clp_threshold.is_some_and(|threshold| arrival.pool.total() >= threshold);
        if above && arrival.unit.is_marked() {
            return Verdict::Discard(Reason::Marked);
        }
        if arrival.fits() { Verdict::Accept } else { Verdict::Discard(Reason::Overflow) }
    }

    fn properties(&self) -> Properties {
        Properties { splits_frames: true, is_monotone: true, ..Properties::default() }
    }
}

impl Shortcuts for Policy {
    /// Return the rule: without a threshold a unit is accepted if it fits; with one the occupancy decides as well.
    fn rule(&self) -> Option<Rule> {
        Some(if self.clp_threshold.is_none() { Rule::Fits } else { Rule::Asked(Interest::Total) })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::PolicyBench;
    use super::*;

    #[test]
    fn a_cell_is_taken_exactly_as_long_as_there_is_room() {
        let mut bench =
            PolicyBench::new(3, 1, |context| Policy::new(&Params { clp_threshold: None }, context));
        assert_eq!(bench.offer(0, "f..."), "AAAo");
        bench.depart(0);
        assert_eq!(bench.offer(0, "."), "A");
    }

    #[test]
    fn cells_of_a_frame_that_has_lost_a_cell_are_taken_all_the_same() {
        let mut bench =
            PolicyBench::new(2, 1, |context| Policy::new(&Params { clp_threshold: None }, context));
        assert_eq!(bench.offer(0, "f.."), "AAo");
        bench.depart(0);
        assert_eq!(bench.offer(0, "e"), "A");
    }

    #[test]
    fn without_a_threshold_marked_cells_are_taken_as_all_others() {
        let mut bench =
            PolicyBench::new(3, 1, |context| Policy::new(&Params { clp_threshold: None }, context));
        assert_eq!(bench.offer(0, "f:::"), "AAAo");
    }

    #[test]
    fn a_marked_cell_is_refused_from_its_threshold_on_and_others_are_not() {
        let params = Params { clp_threshold: Some(Level::Percent(50.0)) };
        let mut bench = PolicyBench::new(4, 1, move |context| Policy::new(&params, context));
        assert_eq!(bench.offer(0, "f::.:.."), "AAcAcAo");
    }
}
