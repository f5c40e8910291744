//! CoDel's state machine at one queue, packet by packet.
//!
//! The pseudocode of RFC 8289 and of Linux removes packets from the queue in a loop until it finds a packet to be
//! sent. Here one call judges each packet that comes to the head, and [`Control::after`] stores the point that the
//! loop has reached.

use super::Law;
use crate::units::{Span, Time};
use crate::verdict::{HeadVerdict, Reason};

/// The clock of a law: Linux counts in ticks of 1024 ns.
#[derive(Clone, Copy, Debug)]
pub(super) struct LawClock {
    law: Law,
    target: u64,
    interval: u64,
}

/// A packet at the head of a queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeadPacket {
    pub(super) now: Time,
    pub(super) arrived: Time,
    /// Whether no more than an MTU waits behind the packet.
    pub(super) is_short: bool,
}

/// The state at one queue.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Control {
    /// Time at which all waits will have exceeded the target for a whole interval; `None` while waits are below the
    /// target.
    first_above: Option<u64>,
    is_dropping: bool,
    /// Time of the next discard.
    next: u64,
    /// Packets discarded since dropping began, and the value of this count when dropping began.
    count: u32,
    last_count: u32,
    /// 1/√count in units of 2⁻¹⁶, as Linux stores it.
    fraction: u16,
    after: Option<After>,
}

/// Why the packet before the one now at the head was discarded.
#[derive(Clone, Copy, Debug)]
enum After {
    /// The discard was the first one: dropping has begun.
    First,
    /// The next discard was due.
    Due,
}

impl LawClock {
    pub(super) fn new(law: Law, target: Span, interval: Span) -> LawClock {
        let unit = unit(law);
        LawClock { law, target: target.0 / unit, interval: interval.0 / unit }
    }

    fn count(&self, time: Time) -> u64 {
        time.0 / unit(self.law)
    }
}

/// Picoseconds in one tick of this law's clock; a tick of Linux is 1024 ns.
fn unit(law: Law) -> u64 {
    match law {
        Law::Exact => 1,
        Law::Linux => 1_024_000,
    }
}

impl Control {
    /// Return the packets discarded since dropping began.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// Return whether the queue is in the dropping state, because waits have exceeded the target for an interval.
    pub(super) fn is_dropping(&self) -> bool {
        self.is_dropping
    }

    /// Decide about a packet at the head; `marks` says whether a packet due for discard is marked instead.
    pub(super) fn judge(&mut self, clock: &LawClock, waiting: HeadPacket, marks: bool) -> HeadVerdict {
        let now = clock.count(waiting.now);
        let is_late = self.is_late(clock, now, &waiting);
        match self.after.take() {
            Some(After::First) => return HeadVerdict::Send,
            Some(After::Due) if is_late => self.next = self.later(clock, self.next),
            None if !self.is_dropping && is_late => return self.begin(clock, now, marks),
            _ => self.is_dropping &= is_late,
        }
        if !self.is_dropping || now < self.next {
            return HeadVerdict::Send;
        }
        self.count = self.count.wrapping_add(1);
        self.fraction = newton(self.fraction, self.count);
        if marks {
            self.next = self.later(clock, self.next);
            return HeadVerdict::Mark(Reason::Delay);
        }
        self.after = Some(After::Due);
        HeadVerdict::Discard(Reason::Delay)
    }

    /// Return an instant before which no packet is discarded that comes to the head after `now`.
    pub(super) fn spares_until(&self, clock: &LawClock, now: Time) -> Time {
        let ticks = match (self.after, self.first_above) {
            (Some(After::Due), _) => return now,
            _ if self.is_dropping => self.next,
            (_, Some(due)) => due,
            (_, None) => clock.count(now).saturating_add(clock.interval),
        };
        Time(ticks.saturating_mul(unit(clock.law)))
    }

    /// Count a packet that was removed from the queue because the buffer was full: like a discard, it raises the rate
    /// of discards.
    pub(super) fn overflowed(&mut self) {
        self.count = self.count.wrapping_add(1);
    }

    /// Return whether waits have exceeded the target for a whole interval, so that this packet may be discarded.
    fn is_late(&mut self, clock: &LawClock, now: u64, waiting: &HeadPacket) -> bool {
        if now - clock.count(waiting.arrived) < clock.target || waiting.is_short {
            self.first_above = None;
            return false;
        }
        let Some(due) = self.first_above else {
            self.first_above = Some(now.saturating_add(clock.interval));
            return false;
        };
        match clock.law {
            Law::Exact => now >= due,
            Law::Linux => now > due,
        }
    }

    /// Enter the dropping state, at the earlier rate if the last dropping state ended recently.
    fn begin(&mut self, clock: &LawClock, now: u64, marks: bool) -> HeadVerdict {
        let delta = self.count.wrapping_sub(self.last_count);
        let is_recent = now.saturating_sub(self.next) < clock.interval.saturating_mul(16);
        (self.count, self.fraction) = match delta > 1 && is_recent {
            true => (delta, newton(self.fraction, delta)),
            false => (1, u16::MAX),
        };
        (self.last_count, self.is_dropping) = (self.count, true);
        self.next = self.later(clock, now);
        if marks {
            return HeadVerdict::Mark(Reason::Delay);
        }
        self.after = Some(After::First);
        HeadVerdict::Discard(Reason::Delay)
    }

    /// Return the time of the next discard by the control law: t + interval / √count.
    fn later(&self, clock: &LawClock, time: u64) -> u64 {
        time.saturating_add(match clock.law {
            Law::Exact => (clock.interval as f64 / f64::from(self.count).sqrt()) as u64,
            Law::Linux => ((u128::from(clock.interval) * u128::from(self.fraction)) >> 16) as u64,
        })
    }
}

/// One step of Newton's method towards 1/√count, x ← x · (3 − count · x²) / 2, with the widths of the kernel's integers.
fn newton(fraction: u16, count: u32) -> u16 {
    let x = u64::from(fraction) << 16;
    let square = (x * x) >> 32;
    let rest = (3_u64 << 32).wrapping_sub(u64::from(count).wrapping_mul(square)) >> 2;
    (rest.wrapping_mul(x) >> 31 >> 16) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;
    use crate::serde_json::Value as Json;
    use crate::vectors::{numbers, vector};

    const CODEL: (Span, Span) = (Span::millis(5), Span::millis(100));

    #[test]
    fn no_packet_is_discarded_while_it_spares_packets() {
        for (law, seed) in [(Law::Exact, 1), (Law::Linux, 2)] {
            let clock = LawClock::new(law, Span::micros(50), Span::micros(500));
            let (mut control, mut stream) = (Control::default(), Stream::new(seed, "spared"));
            let (mut now, mut spared, mut discarded, mut later) = (Time(1_000_000_000), Time::ZERO, 0, 0);
            for _ in 0..20_000 {
                // most waits are too long, but now and then the queue is short
                let wait = if stream.chance(0.01) { Span::ZERO } else { Span::micros(60) };
                let waiting = HeadPacket { now, arrived: Time(now.0 - wait.0), is_short: false };
                if matches!(control.judge(&clock, waiting, false), HeadVerdict::Discard(_)) {
                    assert!(now >= spared, "{law:?}: discarded at {now:?}, spared until {spared:?}");
                    discarded += 1;
                } else {
                    now += Span::micros(7);
                }
                spared = control.spares_until(&clock, now);
                later += u32::from(spared > now);
            }
            assert!(discarded > 100 && later > 1000, "{discarded} discarded, {later} spared");
        }
    }

    /// Microseconds at which packets are discarded, or marked, at a queue where every packet has waited too long, after the
    /// first one; a packet departs each microsecond.
    fn times(law: Law, marks: bool, packets: usize) -> Vec<u64> {
        let clock = LawClock::new(law, CODEL.0, CODEL.1);
        let mut control = Control::default();
        let mut times = Vec::new();
        for micros in 10_000.. {
            let now = Time::ZERO + Span::micros(micros);
            let waiting = HeadPacket { now, arrived: Time(now.0 / 2), is_short: false };
            while control.judge(&clock, waiting, marks) != HeadVerdict::Send {
                times.push(micros);
                if marks {
                    break;
                }
            }
            if times.len() >= packets {
                break;
            }
        }
        times.iter().map(|time| time - times[0]).collect()
    }

    /// Compare milliseconds with expected values of three digits.
    fn assert_near(times: &[u64], expected: &[f64]) {
        assert_eq!(times.len(), expected.len());
        for (&time, &expected) in times.iter().zip(expected) {
            let error = time as f64 / 1000.0 - expected;
            assert!((-0.001..0.003).contains(&error), "{times:?} instead of {expected}");
        }
    }

    #[test]
    fn packets_are_discarded_at_intervals_that_shrink_with_the_square_root_of_their_number() {
        let expected = numbers(&vector("codel")["exact"][0]["drops"]);
        assert_near(&times(Law::Exact, false, 11), &expected);
        assert_near(&times(Law::Exact, true, 11), &expected);
    }

    #[test]
    fn linux_takes_one_step_of_newtons_method_for_each_packet() {
        let clock = LawClock::new(Law::Linux, CODEL.0, CODEL.1);
        let mut control = Control { count: 1, fraction: u16::MAX, ..Control::default() };
        for case in vector("codel")["linux"].as_array().unwrap() {
            let increment = control.later(&clock, 0) as f64 * 1.024;
            assert_eq!(
                [control.count, control.fraction.into()].map(Json::from),
                [&case["count"], &case["fraction"]].map(Json::clone)
            );
            let expected = case["increment"].as_f64().unwrap();
            assert!((increment - expected).abs() <= 1.1, "{increment} instead of {expected}");
            control.count += 1;
            control.fraction = newton(control.fraction, control.count);
        }
    }

    #[test]
    fn linux_discards_its_third_packet_50_ms_after_the_second() {
        for marks in [false, true] {
            let times = times(Law::Linux, marks, 4);
            let gaps: Vec<u64> = times.windows(2).map(|pair| (pair[1] - pair[0] + 5) / 10).collect();
            assert_eq!(gaps, [10_000, 5_000, 5_625]);
        }
    }

    /// Return the verdict on a packet that has waited `wait` ms and departs at `now` ms.
    fn depart(control: &mut Control, law: Law, now: f64, wait: f64) -> HeadVerdict {
        let time = |millis: f64| Time((millis * 1e9) as u64);
        let waiting = HeadPacket { now: time(now), arrived: time(now - wait), is_short: false };
        control.judge(&LawClock::new(law, CODEL.0, CODEL.1), waiting, false)
    }

    #[test]
    fn the_first_packet_goes_at_the_first_departure_an_interval_after_the_wait_has_reached_the_target() {
        for (law, late) in [(Law::Exact, 110.0), (Law::Linux, 110.002)] {
            let mut control = Control::default();
            for (now, wait) in [(5.0, 4.9), (10.0, 5.0), (60.0, 50.0), (109.9, 5.0)] {
                assert_eq!(depart(&mut control, law, now, wait), HeadVerdict::Send);
            }
            assert_eq!(depart(&mut control, law, late, 5.0), HeadVerdict::Discard(Reason::Delay));
            assert_eq!(depart(&mut control, law, late, 5.0), HeadVerdict::Send, "one packet");
        }
    }

    #[test]
    fn a_packet_below_the_target_starts_the_interval_anew_and_ends_the_dropping() {
        let mut control = Control::default();
        assert_eq!(depart(&mut control, Law::Exact, 10.0, 6.0), HeadVerdict::Send);
        assert_eq!(depart(&mut control, Law::Exact, 100.0, 4.0), HeadVerdict::Send);
        assert_eq!(depart(&mut control, Law::Exact, 120.0, 6.0), HeadVerdict::Send);
        assert_eq!(depart(&mut control, Law::Exact, 219.0, 6.0), HeadVerdict::Send);
        assert_eq!(depart(&mut control, Law::Exact, 220.0, 6.0), HeadVerdict::Discard(Reason::Delay));
        assert_eq!(depart(&mut control, Law::Exact, 220.0, 6.0), HeadVerdict::Send);
        assert_eq!(depart(&mut control, Law::Exact, 319.0, 4.0), HeadVerdict::Send);
        assert_eq!(depart(&mut control, Law::Exact, 320.0, 6.0), HeadVerdict::Send, "no longer dropping");
    }

    /// Measure the time to the next discard after dropping has begun again, in ms, after `drops` packets the first time
    /// and `pause` ms without.
    fn second_gap(drops: u32, pause: u64) -> f64 {
        let clock = LawClock::new(Law::Exact, CODEL.0, CODEL.1);
        let next = 1_000_000_000_000;
        let mut control = Control { count: drops, last_count: 1, next, ..Control::default() };
        let now = next + pause * 1_000_000_000;
        control.begin(&clock, now, false);
        (control.next - now) as f64 / 1e9
    }

    #[test]
    fn dropping_goes_on_where_it_ended_if_that_was_less_than_sixteen_intervals_ago() {
        assert!((second_gap(5, 1599) - 50.0).abs() < 1e-6, "four packets more than one");
        assert_eq!(second_gap(5, 1600), 100.0);
        assert_eq!(second_gap(2, 10), 100.0, "one packet more does not count");
    }

    #[test]
    fn with_no_more_than_an_mtu_behind_it_no_packet_is_discarded() {
        let clock = LawClock::new(Law::Exact, CODEL.0, CODEL.1);
        let mut control = Control::default();
        for millis in 0..1000 {
            let (now, arrived) = (Time::ZERO + Span::millis(millis + 500), Time::ZERO);
            let waiting = HeadPacket { now, arrived, is_short: true };
            assert_eq!(control.judge(&clock, waiting, false), HeadVerdict::Send);
        }
    }
}
