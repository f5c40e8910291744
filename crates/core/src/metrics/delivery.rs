//! How long packets take to be delivered: exact mean and deviation, and percentiles for those who ask for them.

use std::collections::BTreeMap;

use crate::units::{PS_PER_S, Span};

/// Times of delivery: of a timed segment from its first transmission to the ACK that covers it, its retransmissions included
/// (Kalampoukas and Varma 1995, section 4.4), of a datagram until it arrives. Sums are exact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeliveryTime {
    /// Packets measured.
    pub count: u64,
    /// Sum of their times, in ps.
    sum: u128,
    /// Sum of the squares, in ps².
    squares: u128,
    /// How they are spread, if somebody wants to see it.
    spread: Option<Box<Spread>>,
}

impl DeliveryTime {
    /// Before the first packet; with percentiles or without.
    pub fn new(percentiles: bool) -> DeliveryTime {
        DeliveryTime { spread: percentiles.then(Box::default), ..DeliveryTime::default() }
    }

    /// The same before the first packet.
    pub fn fresh(&self) -> DeliveryTime {
        DeliveryTime::new(self.spread.is_some())
    }

    /// One more packet.
    #[inline]
    pub fn add(&mut self, time: Span) {
        self.count += 1;
        self.sum += u128::from(time.0);
        self.squares += u128::from(time.0) * u128::from(time.0);
        if let Some(spread) = &mut self.spread {
            spread.add(time);
        }
    }

    /// Mean in seconds; `None` without a measurement.
    pub fn mean_s(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64 / PS_PER_S as f64)
    }

    /// Standard deviation in seconds, of the packets measured; `None` without a measurement.
    pub fn sd_s(&self) -> Option<f64> {
        let n = u128::from(self.count);
        // Σx² − (Σx)²/n, the square split so that it cannot overflow
        let (mean, rest) = (self.sum.checked_div(n)?, self.sum % n.max(1));
        let spread = self.squares - (mean * (self.sum + rest) + rest * rest / n);
        Some((spread as f64 / self.count as f64).sqrt() / PS_PER_S as f64)
    }

    /// How the times are spread, if that is measured.
    pub fn spread(&self) -> Option<&Spread> {
        self.spread.as_deref()
    }
}

/// Counts of times in classes less than a hundredth wide, which are added up over flows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spread {
    /// Counts by the power of two and the part above it; below [`PARTS`] ps every time is counted by itself.
    octaves: BTreeMap<u32, [u64; PARTS]>,
    max: Span,
}

impl Spread {
    fn add(&mut self, time: Span) {
        let (octave, part) = class_of(time);
        self.octaves.entry(octave).or_insert([0; PARTS])[part] += 1;
        self.max = self.max.max(time);
    }

    /// Count all that another one has counted.
    pub fn merge(&mut self, other: &Spread) {
        for (&octave, counts) in &other.octaves {
            let own = self.octaves.entry(octave).or_insert([0; PARTS]);
            own.iter_mut().zip(counts).for_each(|(own, count)| *own += count);
        }
        self.max = self.max.max(other.max);
    }

    /// The longest time; `None` without a measurement.
    pub fn max(&self) -> Option<Span> {
        (!self.octaves.is_empty()).then_some(self.max)
    }

    /// A time that so many of a hundred packets do not exceed, by the nearest rank: the upper end of its class, at most 1/128
    /// above the least such time. `None` without a measurement.
    pub fn percentile(&self, percent: u64) -> Option<Span> {
        let total: u64 = self.octaves.values().flatten().sum();
        let mut missing = (percent * total).div_ceil(100);
        for (&octave, counts) in &self.octaves {
            for (part, &count) in counts.iter().enumerate() {
                if count >= missing && missing > 0 {
                    return Some(end_of(octave, part).min(self.max));
                }
                missing -= count.min(missing);
            }
        }
        None
    }
}

/// Parts of equal width into which the times between a power of two and the next are counted.
const PARTS: usize = 128;

/// The class in which a time is counted.
fn class_of(time: Span) -> (u32, usize) {
    let octave = (time.0 / PARTS as u64).checked_ilog2().map_or(0, |above| above + 1);
    let width = octave.saturating_sub(1);
    (octave, (time.0 >> width) as usize % PARTS)
}

/// The longest time of a class.
fn end_of(octave: u32, part: usize) -> Span {
    match octave {
        0 => Span(part as u64),
        _ => Span(((PARTS + part + 1) as u64).checked_shl(octave - 1).map_or(u64::MAX, |end| end - 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn mean_and_deviation_are_those_of_the_packets_since_the_last_reset() {
        let mut times = DeliveryTime::default();
        assert_eq!((times.mean_s(), times.sd_s()), (None, None));
        times.add(Span::secs(100));
        times = times.fresh();
        [2, 4, 4, 4, 5, 5, 7, 9].iter().for_each(|s| times.add(Span::secs(*s)));
        assert_eq!(times.count, 8);
        assert_eq!(times.mean_s(), Some(5.0));
        assert_eq!(times.sd_s(), Some(2.0));
        assert_eq!(times.spread(), None, "nobody asked for it");
    }

    #[test]
    fn the_deviation_is_exact_where_floating_point_sums_would_cancel() {
        let mut times = DeliveryTime::default();
        for i in 0..1000 {
            times.add(Span(Span::secs(1000).0 + i % 2 * 2));
        }
        assert!((times.sd_s().unwrap() - 1e-12).abs() < 1e-18);
    }

    #[test]
    fn short_times_are_counted_one_by_one() {
        let mut times = DeliveryTime::new(true);
        assert_eq!((times.spread().unwrap().percentile(50), times.spread().unwrap().max()), (None, None));
        (1..=100).for_each(|ps| times.add(Span(ps)));
        let spread = times.spread().unwrap();
        assert_eq!([1, 50, 95, 99, 100].map(|p| spread.percentile(p).unwrap().0), [1, 50, 95, 99, 100]);
    }

    #[test]
    fn what_begins_anew_remembers_neither_percentile_nor_maximum() {
        let mut times = DeliveryTime::new(true);
        times.add(Span::secs(9));
        times = times.fresh();
        times.add(Span::secs(2));
        let spread = times.spread().unwrap();
        assert_eq!((spread.percentile(99), spread.max()), (Some(Span::secs(2)), Some(Span::secs(2))));
    }

    proptest! {
        /// Also when the counts of two flows are added up.
        #[test]
        fn a_percentile_is_the_nearest_rank_or_less_than_a_hundredth_above_it(
            mut times in prop::collection::vec((0u32..63, 0u64..u64::MAX), 1..200),
            percent in 1u64..=100,
        ) {
            let mut halves = [Spread::default(), Spread::default()];
            let mut sorted = Vec::new();
            for (index, (shift, bits)) in times.drain(..).enumerate() {
                let time = Span(bits >> shift >> 1);
                halves[index % 2].add(time);
                sorted.push(time.0);
            }
            let [mut all, other] = halves;
            all.merge(&other);
            sorted.sort_unstable();
            let exact = sorted[(percent as usize * sorted.len()).div_ceil(100) - 1];
            let told = all.percentile(percent).unwrap().0;
            prop_assert!(exact <= told && told - exact <= exact / 128, "{told} for {exact}");
            prop_assert_eq!(all.max(), Some(Span(*sorted.last().unwrap())));
        }
    }
}
