//! The clock of a source that sends units by time: periodic, Poisson or in bursts.

use super::burst::Bursts;
use super::recording::Reader;
use crate::pace::{ExactTime, TransmissionTime};
use crate::rng::Stream;
use crate::units::{Rate, Span, Time};

/// Gaps between units, kept exact: the remainder of a period is carried to the next one.
#[derive(Clone, Debug)]
pub enum UnitClock {
    /// Equal gaps.
    Periodic {
        /// Time between two units.
        pace: TransmissionTime,
        /// Fraction of a picosecond carried to the next gap.
        carry: u64,
    },
    /// Exponential gaps.
    Poisson {
        /// Mean gap in picoseconds.
        mean: f64,
        /// Random numbers of the gaps.
        stream: Stream,
    },
    /// Equal gaps within bursts.
    Bursts(Bursts),
    /// Gaps of a recording.
    Recorded(Reader),
}

impl UnitClock {
    /// Build the clock of units of `bits` bits at exactly `rate`.
    pub fn periodic(bits: u64, rate: Rate) -> UnitClock {
        UnitClock::Periodic { pace: TransmissionTime::of(rate, bits), carry: 0 }
    }

    /// Build the clock of units of `bits` bits at a mean of `rate`.
    pub fn poisson(bits: u64, rate: Rate, stream: Stream) -> UnitClock {
        UnitClock::Poisson { mean: bits as f64 * 1e12 / rate.as_f64(), stream }
    }

    /// Return the gap before the first unit: zero for a periodic source, whose phase is set by its start.
    pub fn first(&mut self) -> Span {
        match self {
            UnitClock::Periodic { .. } => Span::ZERO,
            UnitClock::Poisson { .. } | UnitClock::Recorded(_) => self.gap(true),
            UnitClock::Bursts(bursts) => bursts.first(),
        }
    }

    /// Return the gap to the next unit; `data` says whether that unit carries data and so counts in its burst.
    #[inline]
    pub fn gap(&mut self, data: bool) -> Span {
        match self {
            UnitClock::Periodic { pace, carry } => pace.step(carry),
            UnitClock::Poisson { mean, stream } => Span(rounded(*mean * stream.exponential())),
            UnitClock::Bursts(bursts) => bursts.gap(data),
            UnitClock::Recorded(reader) => reader.advance().gap,
        }
    }
}

/// The instants at which a source sends.
#[derive(Clone, Debug)]
pub struct Ticks {
    clock: UnitClock,
    next: Time,
    /// Number of units that the source still sends; `None` without such a limit.
    left: Option<u64>,
    /// Time at which the source stops.
    stop: Time,
}

impl Ticks {
    /// Build the instants of a clock, before the source starts. The source stops after `total` units or at `stop`,
    /// whichever is first.
    pub fn new(clock: UnitClock, total: Option<u64>, stop: Time) -> Ticks {
        Ticks { clock, next: Time::NEVER, left: total, stop }
    }

    /// Start the source.
    pub fn start(&mut self, now: Time) {
        self.next = before(self.stop, now + self.clock.first());
    }

    /// Stop the source at once.
    pub fn stop(&mut self, now: Time) {
        (self.next, self.stop) = (Time::NEVER, now);
    }

    /// Return when the next unit is due; `Time::NEVER` before the start and after the last one.
    #[inline]
    pub fn next(&self) -> Time {
        self.next
    }

    /// Append the instants before `until` at which units are due, at most `most`, to a list, and advance past them.
    pub(crate) fn take_before(&mut self, until: Time, most: usize, due: &mut Vec<Time>) {
        if let (UnitClock::Periodic { pace, carry }, None) = (&mut self.clock, self.left) {
            // `most` cells are due before `end`, and so few more that their times cannot overflow
            let end = until.min(self.stop).min(self.next + Span((pace.whole.0 + 1) * most as u64));
            if self.next < end {
                let mut next = ExactTime { time: self.next, carry: *carry };
                let count = next.count_before(end, pace).min(most as u64);
                due.extend((0..count).map(|_| {
                    let due = next.time;
                    next = next.next(pace);
                    due
                }));
                (self.next, *carry) = (before(self.stop, next.time), next.carry);
            }
            return;
        }
        while self.next < until && due.len() < most {
            due.push(self.next);
            self.step();
        }
    }

    /// Advance to the next unit, after the due one has been sent.
    #[inline]
    pub fn step(&mut self) {
        if let Some(left) = &mut self.left {
            *left -= 1;
        }
        self.next = match self.left {
            Some(0) => Time::NEVER,
            _ => before(self.stop, self.next + self.clock.gap(true)),
        };
    }
}

/// Round a number from 0 to 2⁶³ to the nearest whole number, halves up. Signed numbers convert fastest.
fn rounded(number: f64) -> u64 {
    let whole = number as i64;
    whole as u64 + u64::from(number - whole as f64 >= 0.5)
}

/// Return an instant if it is before `stop`.
#[inline]
pub(crate) fn before(stop: Time, next: Time) -> Time {
    if next < stop { next } else { Time::NEVER }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_that_is_no_whole_number_of_picoseconds_does_not_drift() {
        let mut clock = UnitClock::periodic(424, Rate(17_107_200));
        let total: u64 = (0..17_107_200u64).map(|_| clock.gap(true).0).sum();
        assert_eq!(total, 424 * 1_000_000_000_000);
    }

    #[test]
    fn a_source_sends_nothing_from_the_instant_on_at_which_it_stops() {
        let stop = Time::ZERO + Span(30);
        let mut ticks = Ticks::new(UnitClock::periodic(1, Rate(100_000_000_000)), None, stop); // every 10 ps
        ticks.start(Time::ZERO);
        let mut sent = Vec::new();
        while ticks.next() < Time::NEVER {
            sent.push(ticks.next().0);
            ticks.step();
        }
        assert_eq!(sent, [0, 10, 20]);
        ticks.start(stop);
        assert_eq!(ticks.next(), Time::NEVER);
    }

    #[test]
    fn instants_that_are_taken_together_are_those_of_single_steps() {
        for stop in [400, 1_000_000] {
            let mut together = Ticks::new(UnitClock::periodic(7, Rate(3_000_000_000_000)), None, Time(stop));
            let mut single = together.clone();
            together.start(Time(5));
            single.start(Time(5));
            let (mut taken, mut stepped) = (Vec::new(), Vec::new());
            for (until, most) in [(3, 10), (20, 10), (900, 50), (900, 1000)] {
                taken.clear();
                together.take_before(Time(until), most, &mut taken);
                while single.next() < Time(until) && stepped.len() < most {
                    stepped.push(single.next());
                    single.step();
                }
                assert_eq!((&taken, together.next()), (&stepped, single.next()), "{until} {most}");
                stepped.clear();
            }
        }
    }

    #[test]
    fn gaps_are_rounded_as_by_the_library() {
        let next_below = |number: f64| f64::from_bits(number.to_bits() - 1);
        for number in [0.1_f64, 0.4, 0.5, 1.5, 2.5, 7.49, 1e9 + 0.5, 4.5e15, 9.1e15, 1.6e16] {
            for number in [number, next_below(number)] {
                assert_eq!(rounded(number), libm::round(number) as u64, "{number}");
            }
        }
    }

    #[test]
    fn poisson_gaps_have_the_right_mean() {
        let mut clock = UnitClock::poisson(424, Rate(155_520_000), Stream::new(3, "test"));
        let n = 50_000;
        let mean = (0..n).map(|_| clock.gap(true).0 as f64).sum::<f64>() / f64::from(n);
        assert!((mean / 2_726_337.4 - 1.0).abs() < 0.02);
    }
}
