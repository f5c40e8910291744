//! The event kernel: one queue, one documented total order.
//!
//! Events are ordered by `(time, class, rank, entity)`. At the same instant
//!
//! 1. the last bit of a unit leaves, and with it the unit leaves the buffer; the next one is chosen;
//! 2. the clock of a policy ticks;
//! 3. a credit or a pause frame reaches its port;
//! 4. a unit arrives at the end of a line; which line comes first is drawn anew for every instant ([`Ties`]);
//! 5. a timer of a host fires, flows in the order of the scenario, the sending end first.
//!
//! A departure thus makes room for an arrival of the same instant. Every hop takes positive time (every unit has a
//! transmission time), so events of different ports at the same instant do not affect each other, and the order above
//! defines a run completely: an engine that keeps it per port and per host computes the same run. Control frames are
//! the one exception: a unit that arrives or leaves may cause a credit or a pause frame, which joins another port of the same
//! node immediately. There the order of the ports in the scenario decides whether a line that becomes free at that instant
//! takes the control frame or a unit first.
//!
//! Ties between lines are common: sources that answer acknowledgements from one bottleneck are locked to its slots,
//! and their cells reach the next switch at the very same picosecond. A fixed order would always give the last free
//! place in a buffer to the same source.

use crate::rng::{self, NameKeys};
use crate::units::Time;
use crate::units::ids::LineId;

pub mod queue;

/// The order of units that reach the ends of different lines at one instant.
///
/// The order is random and fair, but has no state: it is a function of instant, seed and the line's name, so that every
/// engine computes the same order, and lines elsewhere do not change it.
#[derive(Clone, Debug)]
pub struct Ties {
    seed: u64,
    lines: NameKeys,
}

impl Ties {
    /// Build the order for this seed, among lines with these keys.
    pub fn new(seed: u64, lines: &NameKeys) -> Ties {
        Ties { seed: rng::mix(seed.wrapping_add(0x9e37_79b9_7f4a_7c15)), lines: lines.clone() }
    }

    /// Return what distinguishes a line from others, under this seed.
    #[inline]
    pub(crate) fn salt(&self, line: LineId) -> u64 {
        self.seed ^ self.lines.of(line.0)
    }

    /// Return the rank of a line at an instant, in 31 bits. Lines with lower ranks go first, lines with equal ranks
    /// in the order of the scenario.
    #[inline]
    pub fn rank(&self, time: Time, line: LineId) -> u32 {
        rank_of(time, self.salt(line))
    }
}

/// Return the rank at an instant of a line with this [`Ties::salt`].
#[inline]
pub(crate) fn rank_of(time: Time, salt: u64) -> u32 {
    (rng::mix(time.0 ^ salt) >> (u64::BITS - queue::RANK_BITS)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_comes_first_equally_often() {
        for seed in [0, 1, u64::MAX] {
            let ties = Ties::new(seed, &NameKeys::new(["a->b", "c->b", "d->b", "x"].iter()));
            let mut first = [0u32; 4];
            for time in 0..40_000 {
                let rank = |line: &u32| ties.rank(Time(1_000_000 + time), LineId(*line));
                first[(0..4).min_by_key(rank).unwrap() as usize] += 1;
            }
            assert!(first.iter().all(|count| (9_700..10_300).contains(count)), "seed {seed}: {first:?}");
        }
    }
}
