//! Selective acknowledgements: the blocks that a receiver reports, and their transport with the ACK.
//!
//! *Source*: M. Mathis, J. Mahdavi, S. Floyd and A. Romanow, RFC 2018, 1996, section 4; for segments that arrive twice S. Floyd,
//! J. Mahdavi, M. Mathis and M. Podolsky, RFC 2883, 2000, section 4, if the receiver reports them (`dsack`).

use std::collections::VecDeque;

use super::ranges::Ranges;

/// Blocks of octets that have arrived out of order, the latest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(u64, u64); MOST],
    count: u8,
    /// Marked packets that the receiver has counted, if ACKs report them as a whole.
    marked: u32,
}

/// Most blocks in an option: three with timestamps.
const MOST: usize = 4;

impl SackBlocks {
    /// These blocks; only the first four are reported.
    pub fn of(list: &[(u64, u64)]) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        list.iter().take(MOST).for_each(|block| blocks.push(*block));
        blocks
    }

    fn push(&mut self, block: (u64, u64)) {
        self.blocks[usize::from(self.count)] = block;
        self.count += 1;
    }

    /// Each of them, from the first octet to the one after the last.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        self.blocks[..usize::from(self.count)].iter().copied()
    }

    /// Return the marked packets that the receiver has counted, if ACKs report them as a whole.
    pub(super) fn marked(&self) -> u32 {
        self.marked
    }

    /// Split off the segment that has arrived twice, if the first block reports one: it is below the ACK's number, or
    /// within the second block (RFC 2883 section 4); and return the other blocks.
    #[inline]
    pub(super) fn split(&self, ack: u64) -> (Option<(u64, u64)>, SackBlocks) {
        if self.count == 0 { (None, *self) } else { self.split_first(ack) }
    }

    fn split_first(&self, ack: u64) -> (Option<(u64, u64)>, SackBlocks) {
        let mut blocks = self.iter();
        let (first, second) = (blocks.next(), blocks.next());
        let is_within =
            |(start, end): (u64, u64)| second.is_some_and(|(from, to)| from <= start && end <= to);
        match first.filter(|&block| block.1 <= ack || is_within(block)) {
            Some(duplicate) => (Some(duplicate), SackBlocks::of(&self.blocks[1..usize::from(self.count)])),
            None => (None, *self),
        }
    }

    /// Octets of the option, padding included; none without blocks.
    pub fn octets(&self) -> u16 {
        if self.count == 0 { 0 } else { 4 + 8 * u16::from(self.count) }
    }
}

/// Octets of the largest option.
pub(super) const LARGEST: u32 = 4 + 8 * MOST as u32;
/// An ACK refers to its list of SACK blocks by number; numbers repeat after this many, far more than there are ACKs in
/// flight.
const NUMBERS: u64 = 1 << 28;

/// Most ACKs that one ACK overtakes where packets use several routes.
const OVERTAKEN: usize = 256;

/// The blocks that a receiver reports, and the lists of ACKs that have not arrived: an ACK carries the number of its
/// list.
#[derive(Clone, Debug)]
pub(super) struct SackLog {
    most: usize,
    /// The first octets of the latest segments out of order, the last one first.
    recent: Vec<u64>,
    /// A segment that has arrived twice, which the next ACK reports.
    duplicate: Option<(u64, u64)>,
    number: u64,
    under_way: VecDeque<(u64, SackBlocks)>,
}

impl SackLog {
    pub(super) fn new(timestamps: bool) -> SackLog {
        let most = if timestamps { MOST - 1 } else { MOST };
        SackLog { most, recent: Vec::new(), duplicate: None, number: 0, under_way: VecDeque::new() }
    }

    /// Record a segment that has arrived out of order.
    pub(super) fn note(&mut self, seq: u64) {
        self.recent.insert(0, seq);
        self.recent.truncate(2 * MOST);
    }

    /// Record a segment that has arrived twice.
    pub(super) fn note_duplicate(&mut self, block: (u64, u64)) {
        self.duplicate = Some(block);
    }

    /// Return whether the next ACK reports a segment that has arrived twice.
    pub(super) fn has_duplicate(&self) -> bool {
        self.duplicate.is_some()
    }

    /// Report by an ACK: return the number of its list and the octets of its option. The list has the marked packets that the receiver
    /// has counted, if ACKs report them.
    pub(super) fn report(&mut self, queue: &Ranges, marked: Option<u32>) -> (u64, u16) {
        let mut blocks = SackBlocks { marked: marked.unwrap_or(0), ..SackBlocks::default() };
        let mut starts = Vec::with_capacity(self.most);
        let duplicate = self.duplicate.take();
        duplicate.into_iter().for_each(|block| blocks.push(block));
        let others = usize::from(duplicate.is_some());
        for &seq in &self.recent {
            if let Some(block) =
                queue.containing(seq).filter(|block| !blocks.iter().skip(others).any(|known| known == *block))
                && starts.len() + others < self.most
            {
                blocks.push(block);
                starts.push(seq);
            }
        }
        self.recent = starts;
        if blocks.octets() == 0 && marked.is_none() {
            return (0, 0);
        }
        self.number = self.number % (NUMBERS - 1) + 1;
        self.under_way.push_back((self.number, blocks));
        (self.number, blocks.octets())
    }

    /// Remove the list of an ACK that has arrived, by its number. The ACK may have overtaken others; those far before
    /// it are lost.
    pub(super) fn take(&mut self, number: u64) -> SackBlocks {
        let Some(place) = self.under_way.iter().position(|(own, _)| *own == number) else {
            return SackBlocks::default();
        };
        let list = self.under_way.remove(place);
        self.under_way.drain(..place.saturating_sub(OVERTAKEN));
        list.map_or_else(SackBlocks::default, |(_, blocks)| blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_of_the_latest_segment_comes_first_and_four_are_reported() {
        let (mut log, mut queue) = (SackLog::new(false), Ranges::default());
        for start in [10, 30, 50, 70, 90, 11, 51] {
            queue.insert(start, start + 1);
            log.note(start);
        }
        let (number, octets) = log.report(&queue, None);
        assert_eq!((number, octets), (1, 36));
        let told: Vec<_> = log.take(number).iter().collect();
        assert_eq!(told, [(50, 52), (10, 12), (90, 91), (70, 71)]);
    }

    #[test]
    fn beside_timestamps_three_are_reported_and_lists_of_lost_acks_are_dropped() {
        let (mut log, mut queue) = (SackLog::new(true), Ranges::default());
        let numbers: Vec<u64> = (1..6)
            .map(|place| {
                queue.insert(10 * place, 10 * place + 1);
                log.note(10 * place);
                log.report(&queue, None).0
            })
            .collect();
        assert_eq!(log.take(numbers[3]).iter().collect::<Vec<_>>(), [(40, 41), (30, 31), (20, 21)]);
        assert_eq!(log.take(numbers[1]).iter().next(), Some((20, 21)), "it was overtaken");
        for _ in 0..300 {
            log.report(&queue, None);
        }
        let last = log.report(&queue, None).0;
        log.take(last);
        assert_eq!(log.under_way.len(), OVERTAKEN, "lost ACKs are forgotten");
        queue.clear();
        log.recent.clear();
        assert_eq!(log.report(&queue, None), (0, 0));
    }
}
