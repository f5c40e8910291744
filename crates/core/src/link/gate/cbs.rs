//! The credit-based shaper: a class starts a frame only if its credit is not negative.
//!
//! *Source*: IEEE 802.1Qav (now in IEEE 802.1Q, clause 8.6.8.2); the queueing discipline cbs of Linux. While frames of the class wait,
//! its credit grows at the idle slope; while one of them is sent, the credit changes at the send slope, which is the idle slope
//! less the rate of the line. A negative credit grows to 0 also when nothing waits. A positive credit is lost as soon as nothing waits
//! and none of its frames is in transmission. So a class gets its idle slope in the long run, and its frames are spread evenly.
//!
//! The standard bounds the credit by what other frames can do to the class: it never exceeds hiCredit or falls below loCredit, which
//! follow from their lengths. `hi_credit` and `lo_credit` cut it at other values, as in Linux.
//!
//! Credits are exact: they count in bits times picoseconds. A frame that arrives at the end of a transmission comes after it.

use super::{Build, ByClass, Gate, Site};
use crate::refused::{Refused, refuse_if};
use crate::section;
use crate::unit::Unit;
use crate::units::ids::PortVc;
use crate::units::{Bytes, OCTET, Rate, Time};

section! {
    /// The credit-based shaper of a class (IEEE 802.1Qav).
    pub struct Params {
        /// Rate at which its credit grows while its frames wait: what it gets of a line in the long run. The send slope is this less the
        /// rate of the line.
        pub idle_slope: Rate,
        /// Octets that its credit does not exceed, by default any.
        pub hi_credit: Option<Bytes> = None,
        /// Octets below 0 that its credit does not exceed, by default any.
        pub lo_credit: Option<Bytes> = None,
    }
}

impl Params {
    /// Refuse a shaper by which nothing would be sent, or that the line exceeds.
    pub(crate) fn check(&self, line: Rate) -> Result<(), Refused> {
        refuse_if(self.idle_slope == Rate(0), "idle_slope", "must be greater than 0")?;
        let why = format!("must be at most the rate of each line that it shapes, also {line}");
        refuse_if(self.idle_slope > line, "idle_slope", why)
    }
}

/// The shaper of a class at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slope {
    /// The class, numbered within the scenario.
    pub class: u32,
    /// Its idle slope.
    pub idle: Rate,
    /// Octets that its credit does not exceed, above and below 0.
    pub bounds: [Option<u64>; 2],
}

/// The credit-based shapers of a port.
#[derive(Clone, Debug)]
pub struct CreditBased {
    /// The number of the credit of the class of a unit, if that has one.
    of: ByClass<Option<usize>>,
    credits: Vec<Credit>,
    rate: Rate,
    /// Least octets of a unit on the line.
    minimum: u16,
}

/// The credit of a class. As soon as a frame starts, the whole frame is charged; until it ends, the credit grows at the idle slope.
#[derive(Clone, Debug)]
struct Credit {
    idle: i128,
    hi: i128,
    lo: i128,
    /// The credit at the instant `since`, in bits times picoseconds per second.
    credit: i128,
    since: Time,
    /// Whether frames wait, and when the transmission of one ends or has ended.
    waits: bool,
    ends: Time,
}

impl Credit {
    fn new(slope: &Slope) -> Credit {
        let bound =
            |octets: Option<u64>| octets.map_or(i128::MAX, |octets| OCTET as i128 * i128::from(octets));
        let [hi, lo] = slope.bounds.map(bound);
        let (credit, since, ends) = (0, Time::ZERO, Time::ZERO);
        Credit { idle: slope.idle.0.into(), hi, lo: -lo, credit, since, waits: false, ends }
    }

    fn grown(&self, credit: i128, from: Time, to: Time) -> i128 {
        credit + self.idle * i128::from(to.since(from).0)
    }

    /// Return the credit at `now`, no earlier than `since`. A frame that starts at the instant at which it leaves its queue empty takes the
    /// whole credit with it.
    fn at(&self, now: Time) -> i128 {
        if now == self.since {
            return self.credit;
        }
        if now < self.ends {
            return self.grown(self.credit, self.since, now);
        }
        let (mut credit, mut since) = (self.credit, self.since);
        if since < self.ends {
            (credit, since) = (self.grown(credit, since, self.ends).max(self.lo), self.ends);
        }
        let most = if self.waits { self.hi } else { 0 };
        self.grown(credit.min(most), since, now).min(most)
    }

    /// Record whether frames wait from `now` on.
    fn set(&mut self, now: Time, waits: bool) {
        (self.credit, self.since, self.waits) = (self.at(now), now, waits);
    }

    /// Return the first instant from `now` on at which a frame that waits may start.
    fn opens(&self, now: Time) -> Time {
        let lacks = u128::try_from(-self.at(now)).unwrap_or(0);
        let time = lacks.div_ceil(self.idle as u128);
        Time(u64::try_from(time).unwrap_or(Time::NEVER.0).saturating_add(now.0))
    }

    /// Charge a frame of `octets` octets that is sent from `now` to `ends`.
    fn charge(&mut self, now: Time, ends: Time, octets: u16) {
        let credit = self.at(now) - OCTET as i128 * i128::from(octets);
        (self.credit, self.since, self.ends) = (credit, now, ends);
    }
}

impl Build for CreditBased {
    fn build(site: &Site<'_>) -> Option<Self> {
        let place = |class: u32| site.slopes.iter().position(|slope| slope.class == class);
        site.all_classes().into_iter().find_map(place)?;
        let credits = site.slopes.iter().map(Credit::new).collect();
        Some(CreditBased { of: site.by_class(place), credits, rate: site.rate, minimum: site.minimum })
    }
}

impl Gate for CreditBased {
    fn holds(&self) -> bool {
        true
    }

    fn counts_waiting(&self) -> bool {
        true
    }

    fn waits(&mut self, now: Time, unit: &Unit, vc: PortVc, waits: bool) {
        if let Some(place) = self.of.of(unit, vc) {
            self.credits[place].set(now, waits);
        }
    }

    fn opens(&self, now: Time, unit: &Unit, vc: PortVc) -> Time {
        self.of.of(unit, vc).map_or(now, |place| self.credits[place].opens(now))
    }

    fn starts(&mut self, ready: Time, unit: &Unit, vc: PortVc) -> Time {
        if let Some(place) = self.of.of(unit, vc) {
            let octets = unit.bytes.max(self.minimum);
            let (whole, rest) = self.rate.time_of_bits(u64::from(octets) * 8);
            let ends = Time(ready.0 + whole + u64::from(rest > 0));
            self.credits[place].charge(ready, ends, octets);
        }
        ready
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    /// A line on which an octet takes 8 picoseconds.
    const LINE: Rate = Rate(1_000_000_000_000);

    /// A slope of `eighths` eighths of the line.
    fn credit(eighths: u64, bounds: [Option<u64>; 2]) -> Credit {
        Credit::new(&Slope { class: 0, idle: Rate(LINE.0 / 8 * eighths), bounds })
    }

    /// Send a frame that waits at `now` as soon as it may start; returns the start.
    fn send(credit: &mut Credit, now: u64, octets: u16, last: bool) -> u64 {
        let start = credit.opens(Time(now));
        if last {
            credit.set(start, false);
        }
        credit.charge(start, Time(start.0 + 8 * u64::from(octets)), octets);
        start.0
    }

    #[test]
    fn frames_are_spread_at_the_idle_slope() {
        // a quarter of the line: a frame of 10 octets takes 80 ps, costs 60 · 8 of credit and is paid after 320 ps
        let mut shaped = credit(2, [None; 2]);
        shaped.set(Time(5), true);
        let starts: Vec<u64> =
            [5, 85, 405, 725].iter().map(|now| send(&mut shaped, *now, 10, false)).collect();
        assert_eq!(starts, [5, 325, 645, 965]);
    }

    #[test]
    fn a_class_that_others_hold_up_catches_up_with_the_credit_of_the_wait() {
        let mut shaped = credit(4, [None; 2]);
        shaped.set(Time(100), true);
        // until 420 another frame is sent: the credit is 320 / 2 = 160 bits, 20 octets
        let starts: Vec<u64> = [420, 500, 580].iter().map(|now| send(&mut shaped, *now, 10, false)).collect();
        assert_eq!(starts, [420, 500, 580], "80 bits of line, 40 of them paid: 160, 120, 80, then 40");
        let rest: Vec<u64> = [660, 740, 820].iter().map(|now| send(&mut shaped, *now, 10, false)).collect();
        assert_eq!(rest, [660, 740, 900], "at 740 the credit is 0, at 820 it is -40, paid at 900");
    }

    #[test]
    fn a_positive_credit_is_lost_as_soon_as_nothing_waits() {
        let mut shaped = credit(4, [None; 2]);
        shaped.set(Time(0), true);
        assert_eq!(send(&mut shaped, 1000, 10, true), 1000, "500 bits of credit");
        assert_eq!(shaped.at(Time(1079)), 500_000_000_000_000 + 79 * 500_000_000_000 - 80_000_000_000_000);
        assert_eq!(shaped.at(Time(1080)), 0);
        shaped.set(Time(1200), true);
        assert_eq!(send(&mut shaped, 1200, 10, true), 1200);
        assert_eq!(shaped.at(Time(1280)), -40_000_000_000_000, "a negative credit stays");
        assert_eq!([1320, 1360, 2000].map(|now| shaped.at(Time(now))), [-20_000_000_000_000, 0, 0]);
        shaped.set(Time(2000), true);
        assert_eq!(send(&mut shaped, 2000, 10, false), 2000);
    }

    #[test]
    fn the_credit_stays_within_its_bounds() {
        let mut shaped = credit(4, [Some(5), Some(2)]);
        shaped.set(Time(0), true);
        assert_eq!(shaped.at(Time(10_000)), 40_000_000_000_000, "5 octets, not 5000 bits");
        assert_eq!(send(&mut shaped, 10_000, 10, false), 10_000);
        assert_eq!(
            send(&mut shaped, 10_080, 10, false),
            10_080,
            "40 bits less the 40 of the send slope are 0"
        );
        assert_eq!(send(&mut shaped, 10_160, 10, false), 10_192, "-16 bits, not -40, take 32 ps");
    }

    /// The credit of a class picosecond by picosecond, in eighths of a bit.
    struct Plain {
        idle: i64,
        bounds: [Option<u64>; 2],
        credit: i64,
        waiting: u64,
        sends: u64,
    }

    impl Plain {
        /// A picosecond passes.
        fn tick(&mut self) {
            if self.sends > 0 {
                self.sends -= 1;
                self.credit += self.idle - 8;
                if self.sends == 0 {
                    self.credit = self.bounds[1].map_or(self.credit, |lo| self.credit.max(-64 * lo as i64));
                }
            } else if self.waiting > 0 {
                self.credit += self.idle;
            } else if self.credit < 0 {
                self.credit = (self.credit + self.idle).min(0);
            }
            self.settle();
        }

        /// Apply what holds at once.
        fn settle(&mut self) {
            if self.sends == 0 {
                let hi = self.bounds[0].map_or(i64::MAX, |hi| 64 * hi as i64);
                self.credit = self.credit.min(if self.waiting > 0 { hi } else { 0 });
            }
        }
    }

    #[test]
    fn random_frames_start_when_a_count_picosecond_by_picosecond_says() {
        let (mut at_once, mut waited, mut frames) = (0, 0, 0);
        for seed in 0..1000 {
            let mut stream = Stream::new(seed, "cbs");
            let eighths = 1 + stream.up_to(7);
            let bounds = [0, 1].map(|_| (stream.up_to(1) == 1).then(|| stream.up_to(12)));
            let mut shaped = credit(eighths, bounds);
            let mut plain = Plain { idle: eighths as i64, bounds, credit: 0, waiting: 0, sends: 0 };
            let (mut other, mut busy) = (0_u64, 0_u64);
            for now in 0..3000 {
                // frames of the class arrive, one may be lost, and the line is given to other frames now and then
                if stream.up_to(99) == 0 {
                    plain.waiting += 1;
                    (plain.waiting == 1).then(|| shaped.set(Time(now), true));
                } else if stream.up_to(400) == 0 && plain.waiting > 0 {
                    plain.waiting -= 1;
                    (plain.waiting == 0).then(|| shaped.set(Time(now), false));
                    plain.settle();
                }
                if busy == 0 && stream.up_to(150) == 0 {
                    other = 1 + stream.up_to(200);
                }
                if busy == 0 && plain.sends == 0 && other == 0 && plain.waiting > 0 {
                    let may = plain.credit >= 0;
                    assert_eq!(shaped.opens(Time(now)) == Time(now), may, "seed {seed} at {now}");
                    waited += u64::from(!may);
                    if may {
                        at_once += 1;
                        let octets = 1 + stream.up_to(20) as u16;
                        plain.waiting -= 1;
                        (plain.waiting == 0).then(|| shaped.set(Time(now), false));
                        let ends = Time(now + 8 * u64::from(octets));
                        shaped.charge(Time(now), ends, octets);
                        plain.sends = 8 * u64::from(octets);
                        frames += 1;
                    }
                }
                busy = other;
                other = other.saturating_sub(1);
                plain.tick();
                let bits = i128::from(plain.credit) * 125_000_000_000;
                let shown = shaped.at(Time(now + 1));
                let charged = i128::from(plain.sends) * 1_000_000_000_000;
                assert_eq!(shown, bits - charged, "seed {seed} after {now}");
            }
        }
        assert!(frames > 10_000 && waited > 10_000 && at_once > 10_000, "{frames} {waited} {at_once}");
    }
}
