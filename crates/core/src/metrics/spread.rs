//! The distribution of numbers: percentiles of any number of values, in little memory.

use std::collections::BTreeMap;

/// Counts of integers in bins less than 1 % wide; the counts of several distributions can be added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spread {
    /// For each power of two the counts of the numbers between it and the next, in [`PARTS`] parts; numbers below
    /// [`PARTS`] have a count each. Boxed, since a node of the map has room for eleven values, and most distributions
    /// of a large network have one.
    octaves: BTreeMap<u32, Box<[u64; PARTS]>>,
    min: Option<u64>,
    max: u64,
}

impl Spread {
    /// Count a number `times` times.
    pub fn add(&mut self, number: u64, times: u64) {
        let (octave, part) = class_of(number);
        self.counts(octave)[part] += times;
        self.note_least(number);
        self.max = self.max.max(number);
    }

    /// Add the counts of another distribution.
    pub fn merge(&mut self, other: &Spread) {
        for (&octave, counts) in &other.octaves {
            let own = self.counts(octave);
            own.iter_mut().zip(&counts[..]).for_each(|(own, count)| *own += count);
        }
        other.min.into_iter().for_each(|number| self.note_least(number));
        self.max = self.max.max(other.max);
    }

    fn note_least(&mut self, number: u64) {
        self.min = Some(self.min.map_or(number, |least| least.min(number)));
    }

    fn counts(&mut self, octave: u32) -> &mut [u64; PARTS] {
        self.octaves.entry(octave).or_insert_with(|| Box::new([0; PARTS]))
    }

    /// Return the number of values.
    pub fn count(&self) -> u64 {
        self.octaves.values().flat_map(|counts| counts.iter()).sum()
    }

    /// Return the least number; `None` without numbers.
    pub fn min(&self) -> Option<u64> {
        self.min
    }

    /// Return the upper end of the highest bin that is not empty; `None` without numbers.
    pub fn max(&self) -> Option<u64> {
        (!self.octaves.is_empty()).then_some(self.max)
    }

    /// Return the percentile `percent`, by the nearest rank: the upper end of its bin, at most 1/128 above the exact
    /// value. `None` without numbers.
    pub fn percentile(&self, percent: u64) -> Option<u64> {
        self.per_mille(10 * percent)
    }

    /// Like [`Spread::percentile`], in thousandths: 999 for the percentile 99.9.
    pub fn per_mille(&self, share: u64) -> Option<u64> {
        let mut missing = (share * self.count()).div_ceil(1000);
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

/// Number of bins of equal width between a power of two and the next.
const PARTS: usize = 128;

/// Return the bin of a number: octave and part.
fn class_of(number: u64) -> (u32, usize) {
    let octave = (number / PARTS as u64).checked_ilog2().map_or(0, |above| above + 1);
    let width = octave.saturating_sub(1);
    (octave, (number >> width) as usize % PARTS)
}

/// Return the largest number of a bin.
fn end_of(octave: u32, part: usize) -> u64 {
    match octave {
        0 => part as u64,
        _ => ((PARTS + part + 1) as u64).checked_shl(octave - 1).map_or(u64::MAX, |end| end - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_numbers_are_counted_one_by_one() {
        let mut spread = Spread::default();
        assert_eq!((spread.percentile(50), spread.max()), (None, None));
        (1..=100).for_each(|number| spread.add(number, 1));
        assert_eq!(
            [1, 50, 95, 99, 100].map(|percent| spread.percentile(percent)),
            [1, 50, 95, 99, 100].map(Some)
        );
        assert_eq!((spread.min(), spread.max()), (Some(1), Some(100)));
        spread.add(0, 200);
        assert_eq!(spread.percentile(50), Some(0), "two thirds are zero");
        let mut both = Spread::default();
        both.add(7, 1);
        both.merge(&spread);
        assert_eq!((both.min(), both.max()), (Some(0), Some(100)));
    }

    proptest! {
        /// A percentile is right even when the counts of two distributions are added.
        #[test]
        fn a_percentile_is_the_nearest_rank_or_less_than_a_hundredth_above_it(
            numbers in prop::collection::vec((0u32..63, 0u64..u64::MAX), 1..200),
            percent in 1u64..=100,
        ) {
            let mut halves = [Spread::default(), Spread::default()];
            let mut sorted = Vec::new();
            for (index, (shift, bits)) in numbers.into_iter().enumerate() {
                let number = bits >> shift >> 1;
                halves[index % 2].add(number, 1);
                sorted.push(number);
            }
            let [mut all, other] = halves;
            all.merge(&other);
            sorted.sort_unstable();
            let exact = sorted[(percent as usize * sorted.len()).div_ceil(100) - 1];
            let told = all.percentile(percent).unwrap();
            prop_assert!(exact <= told && told - exact <= exact / 128, "{told} for {exact}");
            prop_assert_eq!(all.max(), sorted.last().copied());
        }
    }
}
