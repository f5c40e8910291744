//! Units sent back to back: the arithmetic of [`crate::link::line::Line`], apart from any line.

use crate::units::{Rate, Time};

/// The exact time that one unit of a constant size takes on a line: `whole` ps and `rest / rate` of one more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pace {
    pub(super) whole: u64,
    rest: u64,
    rate: u64,
}

/// The instant at which a unit starts, and the remainder that its line carries then.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Beat {
    pub(super) time: Time,
    carry: u64,
}

impl Pace {
    /// The pace of units of `bytes` octets on a line.
    pub(super) fn of(rate: Rate, bytes: u16) -> Pace {
        let (whole, rest) = rate.time_of_bits(u64::from(bytes) * 8);
        Pace { whole, rest, rate: rate.0 }
    }

    /// Whether units of this pace follow each other more closely than those of another.
    pub(super) fn is_faster_than(&self, other: &Pace) -> bool {
        let exact = |pace: &Pace, rate: u64| u128::from(pace.rest) * u128::from(rate);
        (self.whole, exact(self, other.rate)) < (other.whole, exact(other, self.rate))
    }
}

impl Beat {
    /// A beat without remainder.
    pub(super) fn at(time: Time) -> Beat {
        Beat { time, carry: 0 }
    }

    /// When a line that is free from here on starts a unit that comes at `now`.
    #[inline]
    pub(super) fn not_before(self, now: Time) -> Beat {
        if now > self.time { Beat::at(now) } else { self }
    }

    /// The beat of the next unit.
    #[inline]
    pub(super) fn next(self, pace: &Pace) -> Beat {
        let carry = self.carry + pace.rest;
        let over = carry >= pace.rate;
        let carry = if over { carry - pace.rate } else { carry };
        Beat { time: Time(self.time.0 + pace.whole + u64::from(over)), carry }
    }

    /// The beat after `units` units, and the sum of the instants at which they start.
    pub(super) fn after(self, units: u64, pace: &Pace) -> (Beat, u128) {
        let (mut carry, mut over, mut sum) = (self.carry, 0, 0);
        for _ in 0..units {
            sum += over;
            carry += pace.rest;
            let more = u64::from(carry >= pace.rate);
            carry -= more * pace.rate;
            over += more;
        }
        let time = self.time.0 + units * pace.whole + over;
        let pairs = u128::from(units) * u128::from(units.saturating_sub(1)) / 2;
        let sum =
            u128::from(units) * u128::from(self.time.0) + pairs * u128::from(pace.whole) + u128::from(sum);
        (Beat { time: Time(time), carry }, sum)
    }

    /// The sum of the instants at which `units` units start, without a look at each.
    pub(super) fn sum_of_starts(self, units: u64, pace: &Pace) -> u128 {
        let n = u128::from(units);
        let over = floors(n, pace.rate.into(), pace.rest.into(), self.carry.into());
        n * u128::from(self.time.0) + n * n.saturating_sub(1) / 2 * u128::from(pace.whole) + over
    }

    /// The same with the help of what was found out before.
    pub(super) fn after_with(self, units: u64, pace: &Pace, known: &mut Known) -> (Beat, u128) {
        let place = (self.carry.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize % known.0.len();
        let course = &mut known.0[place];
        if (course.carry, course.units, course.pace) != (self.carry, units, *pace) {
            let (end, sum) = Beat { time: Time::ZERO, carry: self.carry }.after(units, pace);
            *course = Course { carry: self.carry, units, pace: *pace, end, sum };
        }
        (course.end.shifted(self.time.0), course.sum + u128::from(units) * u128::from(self.time.0))
    }

    /// The beat after `units` units, without a look at those between.
    pub(super) fn skip(self, units: u64, pace: &Pace) -> Beat {
        let carry = self.carry + units * pace.rest;
        let time = self.time.0 + units * pace.whole + carry / pace.rate;
        Beat { time: Time(time), carry: carry % pace.rate }
    }

    /// How many units start before `time`.
    pub(super) fn count_before(self, time: Time, pace: &Pace) -> u64 {
        let Some(span) = time.0.checked_sub(self.time.0 + 1) else { return 0 };
        let mut units = span / (pace.whole + 1) + 1;
        let mut beat = self.skip(units, pace);
        while beat.time < time {
            (units, beat) = (units + 1, beat.next(pace));
        }
        units
    }

    /// The same beat, later.
    pub(super) fn shifted(self, by: u64) -> Beat {
        Beat { time: Time(self.time.0 + by), carry: self.carry }
    }
}

/// Σ ⌊(a · i + b) / m⌋ over i from 0 to n − 1, by the steps of Euclid's algorithm: the sum counts the points of a grid
/// below a line, and those below a line of slope 1 or more are counted column by column, the others row by row.
fn floors(mut n: u128, mut m: u128, mut a: u128, mut b: u128) -> u128 {
    let mut sum = 0;
    while n > 0 {
        sum += n * (n - 1) / 2 * (a / m) + n * (b / m);
        (a, b) = (a % m, b % m);
        let top = a * n + b;
        (n, b) = (top / m, top % m);
        (m, a) = (a, m);
    }
    sum
}

/// Frames of cells that start with the same remainder take the same course, sooner or later.
#[derive(Clone, Debug, Default)]
pub(super) struct Known([Course; 16]);

/// The beat after so many cells and the sum of their beats, if the first is at time zero and has this remainder.
#[derive(Clone, Copy, Debug, Default)]
struct Course {
    carry: u64,
    units: u64,
    pace: Pace,
    end: Beat,
    sum: u128,
}

/// The paces of units of several sizes on one line.
#[derive(Clone, Debug)]
pub(super) struct Paces {
    rate: Rate,
    known: Vec<(u16, Pace)>,
}

impl Paces {
    /// Those of a line of this rate.
    pub(super) fn new(rate: Rate) -> Paces {
        Paces { rate, known: Vec::new() }
    }

    /// That of units of `bytes` octets.
    #[inline]
    pub(super) fn of(&mut self, bytes: u16) -> Pace {
        match self.known.iter().find(|(size, _)| *size == bytes) {
            Some((_, pace)) => *pace,
            None => self.learn(bytes),
        }
    }

    #[cold]
    fn learn(&mut self, bytes: u16) -> Pace {
        let pace = Pace::of(self.rate, bytes);
        if self.known.len() < MOST_SIZES {
            self.known.push((bytes, pace));
        }
        pace
    }
}

/// Sizes that are worth remembering: those of segments, of acknowledgements and of what ends a file.
const MOST_SIZES: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::line::Line;
    use crate::units::Span;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn beats_are_the_starts_on_a_line(rate in 1u64..10_000_000_000, units in 1u64..300, idle in 0u64..1000) {
            let (rate, pace) = (Rate(rate), Pace::of(Rate(rate), 53));
            let mut line = Line::new(rate, Span::ZERO);
            let first = Beat::at(Time(line.send(Time(7), 53).starts.0)).next(&pace).not_before(Time(idle));
            let starts: Vec<Time> = (0..units).map(|_| line.send(first.time, 53).starts).collect();
            let mut beat = first;
            for start in &starts {
                prop_assert_eq!(beat.time, *start);
                beat = beat.next(&pace);
            }
            let sum: u128 = starts.iter().map(|start| u128::from(start.0)).sum();
            prop_assert_eq!(first.after(units, &pace), (beat, sum));
            prop_assert_eq!(first.after_with(units, &pace, &mut Known::default()), (beat, sum));
            prop_assert_eq!(first.skip(units, &pace), beat);
            prop_assert_eq!(first.sum_of_starts(units, &pace), sum);
            for (count, start) in starts.iter().enumerate() {
                prop_assert_eq!(first.count_before(*start, &pace), count as u64);
            }
        }
    }

    #[test]
    fn a_known_course_is_taken_again() {
        let pace = Pace::of(Rate(155_520_000), 53);
        let mut known = Known::default();
        let early = Beat::at(Time(5)).after_with(44, &pace, &mut known);
        assert_eq!(Beat::at(Time(5)).after_with(44, &pace, &mut known), early);
        let late = Beat::at(Time(1_005)).after_with(44, &pace, &mut known);
        assert_eq!((late.0, late.1), (early.0.shifted(1_000), early.1 + 44_000));
    }
}
