//! Ratios of what two sides earn, as reduced fractions.

use std::cmp::Ordering;
use std::fmt;

/// What the opponent earns, divided by what the policy earns; unbounded if the policy earns nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio {
    opponent: u64,
    policy: u64,
}

impl Ratio {
    /// The ratio of an opponent that earns nothing.
    pub const ZERO: Ratio = Ratio { opponent: 0, policy: 1 };

    /// Build the ratio of two sums, of which at least one is not 0.
    pub fn new(opponent: u64, policy: u64) -> Ratio {
        let divisor = greatest_common_divisor(opponent, policy);
        assert!(divisor > 0, "a ratio needs something that is earned");
        Ratio { opponent: opponent / divisor, policy: policy / divisor }
    }

    /// Read a fraction, as in "5/4", or a whole number; `None` if the text is not one above 0.
    pub fn read(text: &str) -> Option<Ratio> {
        let (opponent, policy) = text.split_once('/').unwrap_or((text, "1"));
        let part = |text: &str| text.trim().parse::<u32>().ok().filter(|&part| part > 0).map(u64::from);
        Some(Ratio::new(part(opponent)?, part(policy)?))
    }

    /// Return whether the policy earns nothing.
    pub fn is_unbounded(self) -> bool {
        self.policy == 0
    }

    /// Return the ratio as a decimal number; infinite if it is unbounded.
    pub fn value(self) -> f64 {
        self.opponent as f64 / self.policy as f64
    }

    /// Return what the policy earns, divided by what the opponent earns; infinite if the opponent earns nothing.
    pub fn share(self) -> f64 {
        self.policy as f64 / self.opponent as f64
    }

    /// Return the numerator and the denominator.
    pub fn parts(self) -> (u64, u64) {
        (self.opponent, self.policy)
    }

    /// Return the part of what the opponent earns that the policy lacks; 0 if it earns as much.
    pub fn excess(self) -> Ratio {
        match self.opponent.checked_sub(self.policy) {
            None | Some(0) => Ratio::ZERO,
            Some(more) => Ratio::new(more, self.opponent),
        }
    }

    /// Return the weight of what opponent and policy earn on a move: positive if it exceeds the ratio.
    #[inline]
    pub(crate) fn weight(self, [opponent, policy]: [u8; 2]) -> i64 {
        self.policy as i64 * i64::from(opponent) - self.opponent as i64 * i64::from(policy)
    }
}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Ratio) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ratio {
    fn cmp(&self, other: &Ratio) -> Ordering {
        let product = |one: u64, other: u64| u128::from(one) * u128::from(other);
        product(self.opponent, other.policy).cmp(&product(other.opponent, self.policy))
    }
}

impl fmt::Display for Ratio {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.opponent, self.policy) {
            (_, 0) => f.write_str("unbounded"),
            (whole, 1) => write!(f, "{whole}"),
            (opponent, policy) => write!(f, "{opponent}/{policy}"),
        }
    }
}

fn greatest_common_divisor(mut one: u64, mut other: u64) -> u64 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}
