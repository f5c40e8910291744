//! # Source
//! M. I. Irland, "Buffer management in a packet switch", IEEE Transactions on Communications 26(3), 1978 ("sharing with
//! maximum queue lengths"); the "static threshold" with which paper 003 (D. Wu, H. J. Chao, 1998), section 2, compares the
//! dynamic one.
//!
//! # Idea
//! No queue may exceed a fixed limit, even if there is room.
//!
//! # Parameters
//! `limit`: length that every queue may have, default 50 % of the buffer, so that no queue can fill it alone. In a shared
//! memory a class can have a `limit` of its own, which then counts as well.
//!
//! # Differences from the paper
//! None. A unit is blocked iff its queue has reached the limit before it. It counts as lost to overflow.
//!
//! # Complexity
//! Constant, no state.

use super::{Admission, Arrival, Context, Interest, Pool, Properties, Rule, Shortcuts};
use crate::buffer::size::Level;
use crate::refused::{Refused, refuse_if};
use crate::section;
use crate::units::ids::PortVc;
use crate::verdict::{Reason, Verdict};

section! {
    /// Block a circuit whose queue has reached a fixed length.
    pub struct Params {
        /// Length that a queue may have.
        pub limit: Level = Level::Percent(50.0),
    }
}

/// Static threshold at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    limit: u64,
}

impl Policy {
    /// Build the policy; the error says why its limit cannot be used.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        Ok(Policy { limit: checked(context.level("limit", params.limit)?)? })
    }
}

/// Return the limit; refuse 0, with which no queue could hold anything.
pub(crate) fn checked(limit: u64) -> Result<u64, Refused> {
    refuse_if(limit == 0, "limit", "must be greater than 0: no queue could hold anything")?;
    Ok(limit)
}

impl Admission for Policy {
    fn judge(&mut self, arrival: &mut Arrival<'_>) -> Verdict {
        match arrival.fits() && arrival.pool.of(arrival.vc) < self.limit {
            true => Verdict::Accept,
            false => Verdict::Discard(Reason::Overflow),
        }
    }

    fn threshold(&self, _: &Pool, _: PortVc) -> Option<f64> {
        Some(self.limit as f64)
    }

    fn properties(&self) -> Properties {
        Properties { splits_frames: true, is_monotone: true, ..Properties::default() }
    }
}

impl Shortcuts for Policy {
    fn rule(&self) -> Option<Rule> {
        Some(Rule::Asked(Interest::Last))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::PolicyBench;
    use super::*;

    #[test]
    fn a_queue_stops_at_its_limit_and_leaves_the_rest_to_others() {
        let params = Params { limit: Level::Percent(60.0) };
        let mut bench = PolicyBench::new(10, 2, move |context| Policy::new(&params, context));
        assert_eq!(bench.offer(0, "........"), "AAAAAAoo");
        assert_eq!(bench.offer(1, "....."), "AAAAo");
        bench.depart(0);
        assert_eq!(bench.offer(0, ".."), "Ao");
    }
}
