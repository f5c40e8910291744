//! Sums and skips of exact transmission times of units that are sent back to back.
//!
//! # What it assumes
//! All units have one size, so that remainders repeat. Products and quotients of times are not times, so sums are
//! plain picoseconds.
//!
//! # What it skips
//! The start of each unit: the start of the n-th one and the sum of n starts are closed forms.
//!
//! # Why that is exact
//! A remainder is carried from unit to unit; its sum is a sum of floors, which Euclid's algorithm computes, or a
//! table where remainders repeat soon.
//!
//! # What turns it off
//! More than 2048 possible remainders: then there is no table.
//!
//! # What it saves
//! Every form that passes many cells together needs it.

pub(crate) use crate::pace::{ExactTime, TransmissionTime};
use crate::units::{Rate, Time};

impl TransmissionTime {
    /// Return the transmission time of units of `bytes` octets on a line.
    pub(crate) fn of_bytes(rate: Rate, bytes: u16) -> TransmissionTime {
        TransmissionTime::of(rate, u64::from(bytes) * 8)
    }

    /// Reduce the remainder to lowest terms, for a line on which all units take this time.
    pub(crate) fn in_lowest_terms(self) -> TransmissionTime {
        let part = gcd(self.rest, self.rate);
        TransmissionTime { rest: self.rest / part, rate: self.rate / part, ..self }
    }

    /// Return whether units with this spacing follow each other more closely than those with another.
    pub(crate) fn is_faster_than(&self, other: &TransmissionTime) -> bool {
        let exact = |pace: &TransmissionTime, rate: u64| u128::from(pace.rest) * u128::from(rate);
        (self.whole, exact(self, other.rate)) < (other.whole, exact(other, self.rate))
    }
}

impl ExactTime {
    /// Return the sum of the instants at which `units` units start.
    pub(crate) fn sum_of_starts(self, units: u64, pace: &TransmissionTime) -> u128 {
        let n = u128::from(units);
        let over = floors(n, pace.rate.into(), pace.rest.into(), self.carry.into());
        n * u128::from(self.time.0) + n * n.saturating_sub(1) / 2 * u128::from(pace.whole.0) + over
    }

    /// Return the start of the unit `units` units before the one that starts at this time, if all are sent back to
    /// back.
    pub(crate) fn before(self, units: u64, pace: &TransmissionTime) -> Time {
        Time(self.time.0 - self.span_of(units, pace))
    }

    /// Return the number of units that end after `now`, up to and including the one that starts at this time, if all
    /// are sent back to back.
    pub(crate) fn count_after(self, now: Time, pace: &TransmissionTime) -> u64 {
        let span = self.time.0 + pace.whole.0 - now.0;
        let mut units = span / (pace.whole.0 + 1);
        while self.span_of(units, pace) < span {
            units += 1;
        }
        units
    }

    /// Return the time since the start of the unit `units` units earlier.
    fn span_of(self, units: u64, pace: &TransmissionTime) -> u64 {
        units * pace.whole.0 + (units * pace.rest).saturating_sub(self.carry).div_ceil(pace.rate)
    }
}

/// Return Σ ⌊(a · i + b) / m⌋ over i from 0 to n − 1, by the steps of Euclid's algorithm: the sum counts the points
/// of a grid below a line, and those below a line of slope 1 or more are counted column by column, the others row by
/// row.
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

/// A transmission time with its remainders tabulated.
///
/// If the remainder of a unit is p / q of a picosecond, the k-th unit after a unit without a remainder starts ⌊k · p
/// / q⌋ ps later than if each unit took only the whole picoseconds. Every possible remainder belongs to one k below
/// q.
#[derive(Debug)]
pub(crate) struct SpacingTable {
    pub(crate) pace: TransmissionTime,
    /// The k of every remainder; empty if there are too many remainders.
    places: Vec<u16>,
    /// ⌊k · p / q⌋ for every k, and the sum of these values for all lower k.
    course: Vec<(u32, u32)>,
}

/// Greatest number of remainders in a table, and number of units that it covers from any remainder: more than a frame
/// has.
const MOST_PLACES: u64 = 2048;
const AHEAD: u64 = 512;

impl SpacingTable {
    /// Build the table of a transmission time in lowest terms.
    pub(crate) fn of(pace: TransmissionTime) -> SpacingTable {
        let TransmissionTime { rest: p, rate: q, .. } = pace;
        let (mut places, mut course) = (Vec::new(), Vec::new());
        if q <= MOST_PLACES {
            places = vec![0; q as usize];
            (0..q).for_each(|k| places[(k * p % q) as usize] = k as u16);
            let step = |sum: &mut u64, k| {
                let over = k * p / q;
                Some((over as u32, std::mem::replace(sum, *sum + over) as u32))
            };
            course.extend((0..q + AHEAD).scan(0, step));
        }
        SpacingTable { pace, places, course }
    }

    /// Return the exact start of the unit after `units` units, and the sum of the instants at which these units
    /// start.
    #[inline]
    pub(crate) fn after(&self, first: ExactTime, units: u64) -> (ExactTime, u128) {
        let Some((from, to)) = self.way(first, units) else {
            return (first.skip(units, &self.pace), first.sum_of_starts(units, &self.pace));
        };
        let over = u64::from(to.1 - from.1) - units * u64::from(from.0);
        let within = units * units.saturating_sub(1) / 2 * self.pace.whole.0 + over;
        let sum = u128::from(units) * u128::from(first.time.0) + u128::from(within);
        (self.arrive(first, units, (to.0 - from.0).into()), sum)
    }

    /// Return when the last of `units` units starts, and the sum of the instants at which all of them start.
    #[inline]
    pub(crate) fn run(&self, first: ExactTime, units: u64) -> (ExactTime, u128) {
        let (last, sum) = self.after(first, units - 1);
        (last, sum + u128::from(last.time.0))
    }

    /// Return the exact start of the unit after `units` units.
    #[inline]
    pub(crate) fn skip(&self, first: ExactTime, units: u64) -> ExactTime {
        match self.way(first, units) {
            Some((from, to)) => self.arrive(first, units, (to.0 - from.0).into()),
            None => first.skip(units, &self.pace),
        }
    }

    /// Return the number of units that start before `time`, and the exact start of the next unit.
    #[inline]
    pub(crate) fn count_before(&self, first: ExactTime, time: Time) -> (u64, ExactTime) {
        let Some(span) = time.0.checked_sub(first.time.0 + 1) else { return (0, first) };
        let mut units = span / (self.pace.whole.0 + 1) + 1;
        let mut beat = self.skip(first, units);
        while beat.time < time {
            (units, beat) = (units + 1, beat.next(&self.pace));
        }
        (units, beat)
    }

    /// Return the table's entries for a start and for the start `units` units later.
    #[inline]
    fn way(&self, first: ExactTime, units: u64) -> Option<((u32, u32), (u32, u32))> {
        let place = *self.places.get(first.carry as usize)?;
        Some((self.course[usize::from(place)], *self.course.get(usize::from(place) + units as usize)?))
    }

    /// Return the exact start of the unit after `units` units, whose remainders add up to `over` picoseconds.
    #[inline]
    fn arrive(&self, first: ExactTime, units: u64, over: u64) -> ExactTime {
        let TransmissionTime { whole, rest, rate } = self.pace;
        ExactTime {
            time: Time(first.time.0 + units * whole.0 + over),
            carry: first.carry + units * rest - over * rate,
        }
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if a == 0 { b } else { gcd(b % a, a) }
}

/// The transmission times of units of several sizes on one line.
#[derive(Clone, Debug)]
pub(crate) struct Paces {
    rate: Rate,
    known: Vec<(u16, TransmissionTime)>,
}

impl Paces {
    /// Build the transmission times on a line of this rate.
    pub(crate) fn new(rate: Rate) -> Paces {
        Paces { rate, known: Vec::new() }
    }

    /// Return the transmission time of units of `bytes` octets.
    #[inline]
    pub(crate) fn of(&mut self, bytes: u16) -> TransmissionTime {
        match self.known.iter().find(|(size, _)| *size == bytes) {
            Some((_, pace)) => *pace,
            None => self.add(bytes),
        }
    }

    #[cold]
    fn add(&mut self, bytes: u16) -> TransmissionTime {
        let pace = TransmissionTime::of_bytes(self.rate, bytes);
        if self.known.len() < MOST_SIZES {
            self.known.push((bytes, pace));
        }
        pace
    }
}

/// Number of sizes whose time is stored: enough for segments, acknowledgements and the last segments of files.
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
            let (rate, pace) = (Rate(rate), TransmissionTime::of_bytes(Rate(rate), 53).in_lowest_terms());
            let mut line = Line::new(rate, Span::ZERO);
            let first = ExactTime::at(Time(line.send(Time(7), 53).starts.0)).next(&pace).not_before(Time(idle));
            let starts: Vec<Time> = (0..units).map(|_| line.send(first.time, 53).starts).collect();
            let mut beat = first;
            let mut beats = Vec::new();
            for start in &starts {
                prop_assert_eq!(beat.time, *start);
                beats.push(beat);
                beat = beat.next(&pace);
            }
            let sum: u128 = starts.iter().map(|start| u128::from(start.0)).sum();
            let rhythm = SpacingTable::of(pace);
            prop_assert_eq!(rhythm.after(first, units), (beat, sum));
            prop_assert_eq!(rhythm.skip(first, units), beat);
            prop_assert_eq!(first.skip(units, &pace), beat);
            prop_assert_eq!(first.sum_of_starts(units, &pace), sum);
            for (count, start) in starts.iter().enumerate() {
                prop_assert_eq!(first.count_before(*start, &pace), count as u64);
                prop_assert_eq!(rhythm.count_before(first, *start), (count as u64, beats[count]));
                let behind = units - 1 - count as u64;
                prop_assert_eq!(beats[starts.len() - 1].before(behind, &pace), *start);
                prop_assert_eq!(beats[starts.len() - 1].back(behind, &pace), beats[count]);
                let end = start.later(pace.whole);
                prop_assert_eq!(beats[starts.len() - 1].count_after(end, &pace), behind);
            }
        }
    }

    #[test]
    fn remainders_of_common_rates_come_round_soon() {
        let parts = |rate| {
            SpacingTable::of(TransmissionTime::of_bytes(Rate(rate), 53).in_lowest_terms()).places.len()
        };
        let rates = [10_000_000, 44_736_000, 149_760_000, 155_520_000, 622_080_000];
        assert_eq!(rates.map(parts), [1, 699, 117, 243, 243]);
        assert_eq!(parts(155_520_001), 0, "nothing is remembered if they do not");
    }
}
