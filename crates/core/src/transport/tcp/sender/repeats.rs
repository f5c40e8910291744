//! Number of earlier sendings of each octet that is sent again: part of the name of a segment, see `Segment::identity`.

use std::collections::BTreeMap;

/// Counts of repeated segments that are not acknowledged, by their first octet.
#[derive(Clone, Debug, Default)]
pub(super) struct Repeats(BTreeMap<u64, u16>);

impl Repeats {
    /// Return how often the segment that begins at `seq` was sent before it is sent again now; `unacknowledged` is the
    /// first octet without an acknowledgement.
    pub(super) fn count(&mut self, seq: u64, unacknowledged: u64) -> u16 {
        while self.0.first_key_value().is_some_and(|(&first, _)| first < unacknowledged) {
            self.0.pop_first();
        }
        let repeats = self.0.entry(seq).or_default();
        *repeats = repeats.saturating_add(1);
        *repeats
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_are_counted_by_first_octet_until_they_are_acknowledged() {
        let mut repeats = Repeats::default();
        assert_eq!(
            [(0, 0), (1000, 0), (0, 0), (0, 0)].map(|(seq, una)| repeats.count(seq, una)),
            [1, 1, 2, 3]
        );
        assert_eq!((repeats.count(1000, 1000), repeats.0.len()), (2, 1), "what is acknowledged is forgotten");
    }
}
