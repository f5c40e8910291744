//! Instants of virtual time.

use std::fmt;
use std::ops::Add;
use std::time::Duration;

use pushout_core::units;

/// An instant: whole picoseconds since the start of a path.
///
/// Stacks keep time in nanoseconds or coarser. [`Time::duration`] rounds up, so that a timer that is set by it is never
/// early.
///
/// ```
/// use std::time::Duration;
/// use pushout_net::Time;
///
/// let now = Time::ZERO + Duration::from_millis(3);
/// assert_eq!(now.picos(), 3_000_000_000);
/// assert_eq!(Time::from_picos(1).duration(), Duration::from_nanos(1));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(u64);

impl Time {
    /// The start.
    pub const ZERO: Time = Time(0);

    /// Return the instant this many picoseconds after the start.
    pub const fn from_picos(picos: u64) -> Time {
        Time(picos)
    }

    /// Return the picoseconds since the start.
    pub const fn picos(self) -> u64 {
        self.0
    }

    /// Return the time since the start, rounded up to a nanosecond.
    pub const fn duration(self) -> Duration {
        Duration::from_nanos(self.0.div_ceil(1000))
    }

    /// Return the seconds since the start.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / units::PS_PER_S as f64
    }

    pub(crate) fn core(self) -> units::Time {
        units::Time(self.0)
    }
}

impl From<units::Time> for Time {
    fn from(time: units::Time) -> Time {
        Time(time.0)
    }
}

/// A longer time than 213 days is the last instant.
impl From<Duration> for Time {
    fn from(since: Duration) -> Time {
        Time(u64::try_from(since.as_nanos().saturating_mul(1000)).unwrap_or(u64::MAX))
    }
}

impl Add<Duration> for Time {
    type Output = Time;
    fn add(self, later: Duration) -> Time {
        Time(self.0.saturating_add(Time::from(later).0))
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.seconds())
    }
}
