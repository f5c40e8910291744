//! A bucket of tokens, exact to a picosecond.

use crate::units::{PerSecond, Time};

/// A token in parts: a bucket of `rate` millionths of a token in a second gains `rate` parts in a picosecond.
const TOKEN: u128 = 1_000_000_000_000_000_000;

/// Tokens that arrive at a rate, up to a depth.
#[derive(Clone, Debug)]
pub(super) struct Bucket {
    rate: u128,
    /// Depth in parts of a token.
    depth: u128,
    level: u128,
    /// Time at which the bucket had this level.
    at: Time,
}

impl Bucket {
    /// Build a full bucket.
    pub(super) fn new(rate: PerSecond, depth: u64) -> Bucket {
        let depth = u128::from(depth) * TOKEN;
        Bucket { rate: rate.0.into(), depth, level: depth, at: Time::ZERO }
    }

    /// Add the tokens since the last refill, up to `now`.
    pub(super) fn refill(&mut self, now: Time) {
        let gained = u128::from(now.since(self.at).0).saturating_mul(self.rate);
        self.level = self.level.saturating_add(gained).min(self.depth);
        self.at = now;
    }

    /// Remove `tokens` tokens, or all tokens if the bucket holds fewer.
    pub(super) fn take(&mut self, tokens: u64) {
        self.level = self.level.saturating_sub(u128::from(tokens) * TOKEN);
    }

    /// Return the time at which the bucket will hold `tokens` tokens or be full; `None` if it is so already.
    pub(super) fn wait_for(&self, tokens: u64) -> Option<Time> {
        let missing = (u128::from(tokens) * TOKEN).min(self.depth).saturating_sub(self.level);
        let wait = u64::try_from(missing.div_ceil(self.rate)).unwrap_or(u64::MAX);
        (missing > 0).then(|| Time(self.at.0.saturating_add(wait)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_bucket_of_200_tokens_is_good_for_25_packets_of_1500_octets_in_cells_of_200() {
        let mut bucket = Bucket::new(PerSecond(55_000_000_000_000), 200);
        for _ in 0..25 {
            assert_eq!(bucket.wait_for(8), None);
            bucket.take(8);
        }
        // 8 / 55 000 000 s, rounded up
        assert_eq!(bucket.wait_for(8), Some(Time(145_455)));
        bucket.refill(Time(145_454));
        assert_eq!(bucket.wait_for(8), Some(Time(145_455)));
        bucket.refill(Time(145_455));
        assert_eq!(bucket.wait_for(8), None);
    }

    #[test]
    fn a_packet_larger_than_the_bucket_needs_a_full_one() {
        let mut bucket = Bucket::new(PerSecond(1_000_000), 3);
        assert_eq!(bucket.wait_for(9), None);
        bucket.take(9);
        assert_eq!(bucket.wait_for(9), Some(Time(3_000_000_000_000)));
        bucket.refill(Time(u64::MAX));
        assert_eq!((bucket.wait_for(9), bucket.wait_for(u64::MAX)), (None, None));
    }
}
