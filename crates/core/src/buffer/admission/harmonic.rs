//! # Source
//! A. Kesselman, Y. Mansour, "Harmonic buffer management policy for shared memory switches", Theoretical Computer Science 324(2–3),
//! 2004.
//!
//! # Idea
//! Limits that fall as the harmonic numbers: of N queues one alone may hold B / H_N, and the k longest together H_k / H_N of the
//! buffer, where H_k = 1 + 1/2 + … + 1/k. So room stays free for short queues, and yet all queues together can fill the
//! buffer. The policy takes nothing back; against an optimum that knows the future it sends at least 1 / (ln N + 2) as much.
//! The longest that queue i may become beside the others is
//!
//! > T = min over k of ⌊B · H_k / H_N⌋ − (the k − 1 longest other queues)
//!
//! # Parameters
//! None.
//!
//! # Differences from the paper
//! The paper has packets of one size. Here a unit is blocked iff its queue has reached T before it, so that one of several
//! cells can exceed T; in a memory `dt_check = "after"` prevents this. N counts the circuits of the port, in a memory the queues
//! of the pool, in use or not. A blocked unit counts as lost to overflow.
//!
//! # Complexity
//! For each unit the lengths of the queues in use are sorted. No state.

use super::{Admission, Arrival, Context, Pool, Properties, Shortcuts};
use crate::buffer::capacity::Capacity;
use crate::refused::Refused;
use crate::section;
use crate::units::ids::{Id, PortVc};
use crate::verdict::{Reason, Verdict};

section! {
    /// Limit the k longest queues together by the k-th harmonic number.
    pub struct Params {}
}

/// The harmonic policy at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    limits: Limits,
}

/// The least common multiple of 1 … 40: with it the harmonic numbers of up to 40 queues are integers, and those of more
/// queues are short by less than a part in 10¹².
const UNIT: u128 = 5_342_931_457_063_200;

/// What the longest queues may hold together.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// For each number of queues what as many may hold; empty in an unlimited buffer.
    of: Box<[u64]>,
}

impl Limits {
    pub(crate) fn new(capacity: Capacity, queues: usize) -> Limits {
        let Some(limit) = capacity.limit() else { return Limits { of: Box::default() } };
        let numbers = (1..=queues as u128).scan(0, |sum, number| {
            *sum += UNIT / number;
            Some(*sum)
        });
        let numbers: Vec<u128> = numbers.collect();
        let all = numbers.last().copied().unwrap_or(UNIT);
        Limits { of: numbers.iter().map(|number| (u128::from(limit) * number / all) as u64).collect() }
    }

    /// Return the length that a queue may reach beside the others; infinite in an unlimited buffer.
    pub(crate) fn threshold<K: Id>(&self, pool: &Pool<K>, queue: K) -> f64 {
        let others = pool.keys().filter(|&other| other != queue).map(|other| pool.of(other));
        let mut others: Vec<u64> = others.filter(|&length| length > 0).collect();
        others.sort_unstable_by(|one, other| other.cmp(one));
        let longer = others.iter().chain(std::iter::repeat(&0)).scan(0, |sum, length| {
            let before = *sum;
            *sum += length;
            Some(before)
        });
        let rest = self.of.iter().zip(longer).map(|(limit, longer)| limit.saturating_sub(longer));
        rest.min().map_or(f64::INFINITY, |least| least as f64)
    }
}

impl Policy {
    /// Build the policy; every port can have it.
    pub fn new(_: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        Ok(Policy { limits: Limits::new(context.capacity, context.vcs()) })
    }
}

impl Admission for Policy {
    fn judge(&mut self, arrival: &mut Arrival<'_>) -> Verdict {
        let is_below = (arrival.pool.of(arrival.vc) as f64) < self.limits.threshold(arrival.pool, arrival.vc);
        if arrival.fits() && is_below { Verdict::Accept } else { Verdict::Discard(Reason::Overflow) }
    }

    fn threshold(&self, pool: &Pool, vc: PortVc) -> Option<f64> {
        Some(self.limits.threshold(pool, vc))
    }

    fn properties(&self) -> Properties {
        Properties { splits_frames: true, ..Properties::default() }
    }
}

impl Shortcuts for Policy {}

#[cfg(test)]
mod tests {
    use super::super::tests::PolicyBench;
    use super::*;

    #[test]
    fn limits_grow_as_harmonic_numbers_up_to_the_buffer() {
        let limits = |cells, queues| Limits::new(Capacity::limited(cells), queues).of;
        assert_eq!(*limits(11, 3), [6, 9, 11], "11 · (1, 3/2, 11/6) / (11/6)");
        assert_eq!(*limits(8, 2), [5, 8], "8 · 2/3 is 5.3");
        assert_eq!(limits(1000, 500).last(), Some(&1000));
        assert!(limits(9, 0).is_empty());
    }

    #[test]
    fn one_queue_stops_at_its_limit_and_the_others_share_the_rest() {
        let mut bench = PolicyBench::new(11, 3, |context| Policy::new(&Params {}, context));
        assert_eq!(bench.offer(0, "......."), "AAAAAAo", "6 of 11");
        assert_eq!(bench.offer(1, "...."), "AAAo", "9 of 11 for two");
        assert_eq!(bench.offer(2, "..."), "AAo", "the buffer is full");
        bench.depart(0);
        assert_eq!(bench.offer(1, "."), "A", "5 and 4 are 9, and 2 more are 11");
        assert_eq!(bench.offer(0, "."), "o");
    }
}
