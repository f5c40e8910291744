//! Times that are not a whole number of picoseconds: the remainder of each is carried to the next.
//!
//! Periodic sources, policers, virtual clocks and lines all work like this: `n` units in a row take `n` exact times,
//! rounded down once. [`Line`](crate::link::line::Line) contains its own version of this code, because it sends units
//! of any size.

use crate::units::{Rate, Span, Time};

/// The exact time of a number of bits at a rate: `whole` ps and `rest / rate` of one more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TransmissionTime {
    /// The time of one unit, rounded down.
    pub whole: Span,
    pub(crate) rest: u64,
    pub(crate) rate: u64,
}

/// An exact instant: whole picoseconds and the carried remainder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ExactTime {
    /// The instant, rounded down.
    pub time: Time,
    /// The remainder, in units of `1 / rate` picoseconds.
    pub(crate) carry: u64,
}

impl TransmissionTime {
    /// Return the transmission time of units of `bits` bits at exactly `rate`, which is not zero.
    pub fn of(rate: Rate, bits: u64) -> TransmissionTime {
        let (whole, rest) = rate.time_of_bits(bits);
        TransmissionTime { whole: Span(whole), rest, rate: rate.0 }
    }

    /// Return the time of the next unit in whole picoseconds: one picosecond more when the remainders in `carry` add
    /// up to one.
    #[inline]
    pub fn step(&self, carry: &mut u64) -> Span {
        *carry += self.rest;
        let extra = u64::from(*carry >= self.rate);
        *carry -= extra * self.rate; // multiply: a branch here would mispredict
        Span(self.whole.0 + extra)
    }
}

impl ExactTime {
    /// Build an instant without remainder.
    #[inline]
    pub fn at(time: Time) -> ExactTime {
        ExactTime { time, carry: 0 }
    }

    /// Return this instant, or `now` without remainder if that is later: the start of a unit that arrives at `now`, on
    /// a line that is free from this instant on.
    #[inline]
    pub fn not_before(self, now: Time) -> ExactTime {
        if now > self.time { ExactTime::at(now) } else { self }
    }

    /// Return the exact start of the next unit, as [`TransmissionTime::step`] does, but in a form that compilers
    /// translate without a branch in the hot loop of packets.
    #[inline]
    pub fn next(self, pace: &TransmissionTime) -> ExactTime {
        let carry = self.carry + pace.rest;
        let over = carry >= pace.rate;
        let carry = if over { carry - pace.rate } else { carry };
        ExactTime { time: Time(self.time.0 + pace.whole.0 + u64::from(over)), carry }
    }

    /// Move this instant later by `by`.
    #[inline]
    pub fn shifted(self, by: Span) -> ExactTime {
        ExactTime { time: self.time.later(by), ..self }
    }

    /// Return the exact start of the unit `units` units later.
    pub(crate) fn skip(self, units: u64, pace: &TransmissionTime) -> ExactTime {
        let carry = self.carry + units * pace.rest;
        let time = self.time.0 + units * pace.whole.0 + carry / pace.rate;
        ExactTime { time: Time(time), carry: carry % pace.rate }
    }

    /// Return the exact start of the unit `units` units earlier.
    pub(crate) fn back(self, units: u64, pace: &TransmissionTime) -> ExactTime {
        let borrowed = (units * pace.rest).saturating_sub(self.carry).div_ceil(pace.rate);
        let time = self.time.0 - units * pace.whole.0 - borrowed;
        ExactTime { time: Time(time), carry: self.carry + borrowed * pace.rate - units * pace.rest }
    }

    /// Return how many units start before `time`.
    pub(crate) fn count_before(self, time: Time, pace: &TransmissionTime) -> u64 {
        let Some(span) = time.0.checked_sub(self.time.0 + 1) else { return 0 };
        let mut units = span / (pace.whole.0 + 1) + 1;
        let mut beat = self.skip(units, pace);
        while beat.time < time {
            (units, beat) = (units + 1, beat.next(pace));
        }
        units
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STM1: Rate = Rate(155_520_000);

    #[test]
    fn units_in_a_row_take_their_exact_times_rounded_down_once() {
        let pace = TransmissionTime::of(STM1, 424);
        let beats = std::iter::successors(Some(ExactTime::at(Time(7))), |beat| Some(beat.next(&pace)));
        for (n, beat) in (0..1000).zip(beats) {
            let exact = u128::from(Rate::time_of_bits(STM1, 424 * n).0);
            assert_eq!(u128::from(beat.time.0), 7 + exact, "{n} cells");
        }
    }

    #[test]
    fn a_later_train_begins_without_a_remainder() {
        let pace = TransmissionTime::of(STM1, 424);
        let beat = ExactTime::at(Time(0)).next(&pace);
        assert_eq!(beat.not_before(beat.time), beat);
        assert_eq!(beat.not_before(Time(3_000_000)), ExactTime::at(Time(3_000_000)));
        assert!(beat.carry > 0 && beat.shifted(Span(5)).carry == beat.carry);
    }
}
