//! # Source
//! M. I. Irland, "Buffer management in a packet switch", IEEE Transactions on Communications 26(3), 1978; the name is that of
//! F. Kamoun and L. Kleinrock, "Analysis of shared finite storage in a computer network node environment under general
//! traffic conditions", IEEE Transactions on Communications 28(7), 1980.
//!
//! # Idea
//! All queues share the room without limits: a unit is accepted iff it fits. One busy queue can take everything.
//!
//! # Parameters
//! None.
//!
//! # Differences from the paper
//! None. At a port with a buffer of its own it is tail drop without a threshold.
//!
//! # Complexity
//! Constant, no state.

use super::{Admission, Arrival, Context, Pool, Properties, Rule, Shortcuts};
use crate::refused::Refused;
use crate::section;
use crate::units::ids::PortVc;
use crate::verdict::{Reason, Verdict};

section! {
    /// Share the room without limits.
    pub struct Params {}
}

/// Complete sharing of one buffer.
#[derive(Clone, Debug)]
pub struct Policy;

impl Policy {
    /// Build the policy; every port can have it.
    pub fn new(_: &Params, _: &Context<'_>) -> Result<Policy, Refused> {
        Ok(Policy)
    }
}

impl Admission for Policy {
    fn judge(&mut self, arrival: &mut Arrival<'_>) -> Verdict {
        if arrival.fits() { Verdict::Accept } else { Verdict::Discard(Reason::Overflow) }
    }

    fn threshold(&self, _: &Pool, _: PortVc) -> Option<f64> {
        Some(f64::INFINITY)
    }

    fn properties(&self) -> Properties {
        Properties { splits_frames: true, is_monotone: true, ..Properties::default() }
    }
}

impl Shortcuts for Policy {
    fn rule(&self) -> Option<Rule> {
        Some(Rule::Fits)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::PolicyBench;
    use super::*;

    #[test]
    fn one_queue_can_take_everything() {
        let mut bench = PolicyBench::new(3, 2, |context| Policy::new(&Params {}, context));
        assert_eq!((bench.offer(0, "...."), bench.offer(1, ".")), ("AAAo".to_string(), "o".to_string()));
    }
}
