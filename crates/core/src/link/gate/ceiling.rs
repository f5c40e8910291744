//! Maximum rates of classes: a class that has had its rate waits, and the port sends others meanwhile.
//!
//! *Source*: the shapers of the queues of switches (maximum bandwidth and burst of a scheduler in SAI, `ceil` of tc-htb(8)). A
//! class may start a unit as soon as all its earlier octets are paid for at its rate, or `burst` octets before. So in any time t at
//! most burst + rate · t octets and one unit are sent. Unlike a shaper of the port, it holds no unit that the port has chosen.
//!
//! Times are exact: the bucket of a class stores when its octets are paid, in picoseconds times its rate.

use super::{Build, ByClass, Gate, Site};
use crate::unit::Unit;
use crate::units::ids::PortVc;
use crate::units::{OCTET, Rate, Time};

/// The maximum rate of a class at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Maximum {
    /// The class, numbered within the scenario.
    pub class: u32,
    /// Its maximum rate.
    pub rate: Rate,
    /// Octets that it may send ahead.
    pub burst: u64,
}

/// The maximum rates of the classes of a port.
#[derive(Clone, Debug)]
pub struct Ceilings {
    /// The number of the bucket of the class of a unit, if that has one.
    of: ByClass<Option<usize>>,
    buckets: Vec<Bucket>,
    /// Least octets of a unit on the line.
    minimum: u16,
}

#[derive(Clone, Debug)]
struct Bucket {
    rate: u128,
    /// What may be sent ahead, and when all octets are paid: both in picoseconds times the rate.
    burst: u128,
    paid: u128,
}

impl Bucket {
    fn new(maximum: &Maximum) -> Bucket {
        Bucket { rate: maximum.rate.0.into(), burst: OCTET * u128::from(maximum.burst), paid: 0 }
    }

    /// Return the first instant at which a unit may start.
    fn opens(&self) -> Time {
        let time = self.paid.saturating_sub(self.burst).div_ceil(self.rate);
        Time(u64::try_from(time).unwrap_or(Time::NEVER.0))
    }

    /// Charge the octets of a unit that starts at `now`.
    fn charge(&mut self, now: Time, octets: u16) {
        self.paid = self.paid.max(u128::from(now.0) * self.rate) + OCTET * u128::from(octets);
    }
}

impl Build for Ceilings {
    fn build(site: &Site<'_>) -> Option<Self> {
        let place = |class: u32| site.maxima.iter().position(|maximum| maximum.class == class);
        site.all_classes().into_iter().find_map(place)?;
        let buckets = site.maxima.iter().map(Bucket::new).collect();
        Some(Ceilings { of: site.by_class(place), buckets, minimum: site.minimum })
    }
}

impl Gate for Ceilings {
    fn holds(&self) -> bool {
        true
    }

    fn opens(&self, now: Time, unit: &Unit, vc: PortVc) -> Time {
        self.of.of(unit, vc).map_or(now, |bucket| self.buckets[bucket].opens().max(now))
    }

    fn starts(&mut self, ready: Time, unit: &Unit, vc: PortVc) -> Time {
        if let Some(bucket) = self.of.of(unit, vc) {
            self.buckets[bucket].charge(ready, unit.bytes.max(self.minimum));
        }
        ready
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Return the starts of units of `octets` octets that are always ready, at a rate of an octet each picosecond.
    fn starts(burst: u64, octets: u16, units: usize) -> Vec<u64> {
        let mut bucket = Bucket::new(&Maximum { class: 0, rate: Rate(8_000_000_000_000), burst });
        let start = |_| {
            let time = bucket.opens();
            bucket.charge(time, octets);
            time.0
        };
        (0..units).map(start).collect()
    }

    #[test]
    fn units_follow_each_other_at_the_rate_after_what_may_be_sent_ahead() {
        assert_eq!(starts(0, 10, 4), [0, 10, 20, 30]);
        assert_eq!(starts(25, 10, 6), [0, 0, 0, 5, 15, 25]);
    }

    #[test]
    fn a_class_that_was_silent_gets_no_more_than_its_burst() {
        let mut bucket = Bucket::new(&Maximum { class: 0, rate: Rate(8_000_000_000_000), burst: 10 });
        bucket.charge(Time(1000), 10);
        assert_eq!(bucket.opens(), Time(1000));
        bucket.charge(Time(1000), 10);
        assert_eq!(bucket.opens(), Time(1010));
    }

    #[test]
    fn a_rate_that_is_no_whole_number_of_picoseconds_is_exact_in_the_long_run() {
        let mut bucket = Bucket::new(&Maximum { class: 0, rate: Rate(3_000_000), burst: 0 });
        for _ in 0..3_000_000 {
            let time = bucket.opens();
            bucket.charge(time, 53);
        }
        let seconds = bucket.opens().0 as f64 / 1e12;
        assert!((seconds - 424.0).abs() < 1e-5, "3 000 000 cells of 424 bits take 424 s, not {seconds}");
    }
}
