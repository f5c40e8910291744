//! The state of every segment that a sender with selective acknowledgements has sent and that is not acknowledged.
//!
//! *Source*: M. Mathis, J. Mahdavi, S. Floyd and A. Romanow, RFC 2018, 1996; E. Blanton, M. Allman, L. Wang, I. Jarvinen, M. Kojo
//! and Y. Nishida, RFC 6675, 2012, for `IsLost`, `SetPipe` and `NextSeg`.

use std::collections::VecDeque;

use super::ranges::Ranges;
use super::sack::SackBlocks;
use crate::units::Time;

/// A segment that was sent; it begins where the one before it ends.
#[derive(Clone, Copy, Debug)]
struct SentSegment {
    end: u64,
    /// Time of its last sending.
    at: Time,
    state: SegmentState,
    /// It was sent more than once.
    resent: bool,
}

/// What is known of a segment that is not acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SegmentState {
    /// It was sent once, and nothing says that it is lost.
    InFlight,
    /// It counts as lost and waits to be sent again.
    Lost,
    /// It was sent again without counting as lost: both copies may be in flight.
    Repeated,
    /// It counted as lost and was sent again.
    Retransmitted,
    /// It is selectively acknowledged.
    Sacked,
}

impl SegmentState {
    fn is_lost(self) -> bool {
        matches!(self, SegmentState::Lost | SegmentState::Retransmitted)
    }

    /// Its latest copy is a retransmission that is not known to be lost.
    fn is_sent_again(self) -> bool {
        matches!(self, SegmentState::Repeated | SegmentState::Retransmitted)
    }
}

/// The octets that an ACK has reported as arrived.
#[derive(Clone, Copy, Debug, Default)]
pub struct Delivered {
    /// Octets, acknowledged or selectively acknowledged for the first time.
    pub(super) octets: u64,
    /// Those of them that were selectively acknowledged.
    pub(super) sacked: u64,
    /// Of the segment among these that was sent last: the time of its last sending, its end, and whether it had
    /// been sent more than once.
    pub(super) newest: Option<(Time, u64, bool)>,
    /// Time at which the last segment was sent that was sent only once.
    pub(super) clean: Option<Time>,
    /// Time at which the first segment was sent that was sent only once and is selectively acknowledged now.
    pub(super) first_sacked: Option<Time>,
    /// The lowest end of one that was sent once only, and the highest end of all.
    lowest: Option<u64>,
    highest: u64,
    /// One that was sent once only has arrived after a later one.
    pub(super) is_overtaken: bool,
    /// The ACK reports a segment that has arrived twice.
    pub(super) is_duplicate: bool,
}

impl Delivered {
    /// An ACK that delivers `octets`, of which the segment `newest` was sent last.
    #[cfg(test)]
    pub(super) fn of(octets: u64, newest: (Time, u64, bool)) -> Delivered {
        Delivered { octets, newest: Some(newest), ..Delivered::default() }
    }

    fn add(&mut self, octets: u64, sent: &SentSegment) {
        self.octets += octets;
        if self.newest.is_none_or(|(at, end, _)| (at, end) < (sent.at, sent.end)) {
            self.newest = Some((sent.at, sent.end, sent.resent));
        }
        if !sent.resent {
            self.clean = self.clean.max(Some(sent.at));
            self.lowest = Some(self.lowest.map_or(sent.end, |lowest| lowest.min(sent.end)));
        }
        self.highest = self.highest.max(sent.end);
    }
}

/// The segments between the first unacknowledged octet and the last that was sent.
#[derive(Clone, Debug, Default)]
pub struct Scoreboard {
    base: u64,
    segments: VecDeque<SentSegment>,
    ranges: Ranges,
    sacked: u64,
    /// Octets that count as lost and are not selectively acknowledged, and retransmitted octets in flight.
    lost: u64,
    again: u64,
    /// Below this octet every segment counts as lost or is selectively acknowledged.
    scanned: u64,
    /// Below this octet no lost segment waits to be sent again.
    mended: u64,
    /// Below this octet every segment was sent again or is selectively acknowledged.
    filled: u64,
    /// Transmissions in their order, with the end of each segment; some are out of date. None are listed as long as every
    /// segment was sent once: then their order is that of the segments.
    order: VecDeque<(Time, u64)>,
    is_listed: bool,
    /// The highest end of a segment that has arrived (RACK.fack).
    highest: u64,
    /// The end of each segment that has been declared lost, for a control that asks for them.
    found: Option<Box<FoundLosses>>,
}

/// The ends of segments that have been declared lost, in this order.
#[derive(Clone, Debug, Default)]
struct FoundLosses(VecDeque<u64>);

impl Scoreboard {
    /// A scoreboard without outstanding octets; the next one is `base`.
    pub(super) fn new(base: u64) -> Scoreboard {
        Scoreboard { base, scanned: base, mended: base, filled: base, ..Scoreboard::default() }
    }

    /// List the segments that are declared lost from now on.
    pub(super) fn list_losses(&mut self) {
        self.found = Some(Box::default());
    }

    /// Take the oldest entry of the list of losses: the end of a segment, and its octets that are not acknowledged.
    pub(super) fn next_found(&mut self) -> Option<(u64, u64)> {
        let end = self.found.as_mut()?.0.pop_front()?;
        let index = self.index_of(end - 1);
        Some((end, self.len_of(index)))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    pub(super) fn has_one(&self) -> bool {
        self.segments.len() == 1
    }

    /// Return when the first unacknowledged segment was sent last.
    pub(super) fn head_sent(&self) -> Option<Time> {
        self.segments.front().map(|head| head.at)
    }

    /// Octets that are selectively acknowledged.
    pub(super) fn sacked(&self) -> u64 {
        self.sacked
    }

    /// Octets that count as lost, sent again or not.
    pub(super) fn lost(&self) -> u64 {
        self.lost
    }

    /// Octets in the network, by the reports so far (RFC 6675, `SetPipe`).
    pub(super) fn pipe(&self) -> u64 {
        self.outstanding() - self.sacked - self.lost + self.again
    }

    pub(super) fn outstanding(&self) -> u64 {
        self.end() - self.base
    }

    fn end(&self) -> u64 {
        self.segments.back().map_or(self.base, |last| last.end)
    }

    fn start_of(&self, index: usize) -> u64 {
        if index == 0 { self.base } else { self.segments[index - 1].end }
    }

    fn len_of(&self, index: usize) -> u64 {
        self.segments[index].end - self.start_of(index)
    }

    /// The segment that contains an octet.
    fn index_of(&self, octet: u64) -> usize {
        self.segments.partition_point(|segment| segment.end <= octet)
    }

    /// Record that new data up to this octet was sent.
    #[inline]
    pub(super) fn sent(&mut self, end: u64, now: Time) {
        if end > self.end() {
            self.segments.push_back(SentSegment {
                end,
                at: now,
                state: SegmentState::InFlight,
                resent: false,
            });
            if self.is_listed {
                self.order.push_back((now, end));
            }
        }
    }

    /// List the transmissions of segments that were sent once.
    fn list(&mut self) {
        if !self.is_listed {
            self.is_listed = true;
            self.order.extend(self.segments.iter().map(|segment| (segment.at, segment.end)));
        }
    }

    /// Record that a segment is sent again.
    pub(super) fn resend(&mut self, index: usize, now: Time) {
        self.list();
        let (start, len) = (self.start_of(index), self.len_of(index));
        let segment = &mut self.segments[index];
        self.again += if segment.state.is_sent_again() { 0 } else { len };
        segment.state =
            if segment.state.is_lost() { SegmentState::Retransmitted } else { SegmentState::Repeated };
        (segment.resent, segment.at) = (true, now);
        self.order.push_back((now, segment.end));
        self.mended = self.mended.max(start + len);
    }

    /// Return the first octet of a segment, and its length.
    pub(super) fn piece(&self, index: usize) -> (u64, u64) {
        (self.start_of(index), self.len_of(index))
    }

    /// Record an ACK up to this octet.
    #[inline(always)] // for the door
    pub(super) fn acknowledge(&mut self, ack: u64) -> Delivered {
        if self.is_clean() {
            return self.acknowledge_in_order(ack);
        }
        self.acknowledge_known(ack)
    }

    /// Like `acknowledge`, where some segments are known to be lost or to have arrived.
    #[inline(never)]
    fn acknowledge_known(&mut self, ack: u64) -> Delivered {
        let mut delivered = Delivered::default();
        while let Some(&first) = self.segments.front().filter(|_| self.base < ack) {
            let gone = first.end.min(ack) - self.base;
            if first.state == SegmentState::Sacked {
                self.sacked -= gone;
            } else {
                delivered.add(gone, &first);
                self.uncount(first.state, gone);
            }
            self.base += gone;
            if first.end <= ack {
                self.segments.pop_front();
            }
        }
        self.ranges.advance(ack);
        for below in [&mut self.scanned, &mut self.mended, &mut self.filled] {
            *below = (*below).max(ack);
        }
        while self.order.front().is_some_and(|&(_, end)| end <= self.base) {
            self.order.pop_front();
        }
        delivered
    }

    /// Like `acknowledge`, where every segment was sent once and nothing says that one is lost or has arrived. The octets below which
    /// segments are known stay: one below the first segment means as much as that segment.
    #[inline(always)] // nearly every ACK is one
    pub(super) fn acknowledge_in_order(&mut self, ack: u64) -> Delivered {
        if self.is_listed {
            self.is_listed = false;
            self.order.clear();
        }
        let Some(&first) = self.segments.front().filter(|_| self.base < ack) else {
            return Delivered::default();
        };
        let (before, mut last) = (self.base, first);
        while last.end < ack {
            self.segments.pop_front();
            last = *self.segments.front().expect("an ACK is for octets that were sent");
        }
        if last.end == ack {
            self.segments.pop_front();
        }
        self.base = ack;
        Delivered {
            octets: ack - before,
            newest: Some((last.at, last.end, false)),
            clean: Some(last.at),
            lowest: Some(first.end),
            highest: last.end,
            ..Delivered::default()
        }
    }

    /// Return whether every segment was sent once, and nothing says that it is lost or has arrived.
    #[inline(always)] // for the doors
    pub(super) fn is_clean(&self) -> bool {
        (self.sacked | self.lost | self.again) == 0 && self.ranges.is_empty()
    }

    /// Record the blocks that an ACK reports as arrived.
    #[inline]
    pub(super) fn sack(&mut self, blocks: &SackBlocks, delivered: &mut Delivered) {
        for (start, end) in blocks.iter() {
            let mut at = start.max(self.base);
            let end = end.min(self.end());
            while at < end {
                let stop = match self.ranges.around(at) {
                    Ok(known) => known.min(end),
                    Err(next) => {
                        let stop = next.min(end);
                        self.mark_sacked(at, stop, delivered);
                        stop
                    }
                };
                at = stop;
            }
            if start.max(self.base) < end {
                self.ranges.insert(start.max(self.base), end);
            }
        }
    }

    /// Record whether segments have overtaken others, after all reports of an ACK are entered.
    pub(super) fn note_order(&mut self, delivered: &mut Delivered) {
        delivered.is_overtaken = delivered.lowest.is_some_and(|lowest| lowest < self.highest);
        self.highest = self.highest.max(delivered.highest);
    }

    /// Octets of a segment in this state have arrived.
    fn uncount(&mut self, state: SegmentState, octets: u64) {
        self.lost -= if state.is_lost() { octets } else { 0 };
        self.again -= if state.is_sent_again() { octets } else { 0 };
    }

    fn mark_sacked(&mut self, start: u64, end: u64, delivered: &mut Delivered) {
        let mut index = self.index_of(start);
        while index < self.segments.len() && self.segments[index].end <= end {
            let (from, len) = self.piece(index);
            let segment = &mut self.segments[index];
            if from >= start && segment.state != SegmentState::Sacked {
                let before = std::mem::replace(&mut segment.state, SegmentState::Sacked);
                let segment = *segment;
                self.uncount(before, len);
                self.sacked += len;
                delivered.sacked += len;
                delivered.add(len, &segment);
                if !segment.resent {
                    delivered.first_sacked =
                        Some(delivered.first_sacked.map_or(segment.at, |at| at.min(segment.at)));
                }
            }
            index += 1;
        }
    }

    /// Declare lost every segment with `threshold` blocks, or more than `threshold - 1` full segments of octets, above
    /// it (RFC 6675, `IsLost`); returns the octets.
    #[inline]
    pub(super) fn lose_by_blocks(&mut self, threshold: u32, mss: u64) -> u64 {
        if self.ranges.is_empty() { 0 } else { self.lose_below_blocks(threshold, mss) }
    }

    fn lose_below_blocks(&mut self, threshold: u32, mss: u64) -> u64 {
        let (mut blocks, mut octets) = (0, 0);
        let mut below = None;
        for (start, end) in self.ranges.descending() {
            (blocks, octets) = (blocks + 1, octets + (end - start));
            if blocks >= threshold || octets > u64::from(threshold - 1) * mss {
                below = Some(start);
                break;
            }
        }
        let Some(below) = below else { return 0 };
        let before = self.lost;
        let mut index = self.index_of(self.scanned);
        while index < self.segments.len() && self.start_of(index) < below {
            self.lose(index);
            index += 1;
        }
        self.scanned = self.scanned.max(below);
        self.lost - before
    }

    /// Declare lost every segment that was sent before the delivered one (RFC 8985 section 6.2) and `expires` by now.
    /// Return the last instant at which another one of them expires.
    pub(super) fn lose_by_time(
        &mut self,
        delivered: (Time, u64),
        now: Time,
        expires: impl Fn(Time) -> Time,
    ) -> Option<Time> {
        if !self.is_listed && self.segments.front().is_none_or(|first| (first.at, first.end) >= delivered) {
            return None;
        }
        self.list();
        let (mut place, mut wait) = (0, None);
        while let Some(&(at, end)) = self.order.get(place).filter(|sent| **sent < delivered) {
            let index = self.index_of(end - 1);
            let stale = end <= self.base
                || self.segments.get(index).is_none_or(|segment| {
                    let is_known = matches!(segment.state, SegmentState::Sacked | SegmentState::Lost);
                    is_known || (segment.end, segment.at) != (end, at)
                });
            if !stale && expires(at) > now {
                wait = wait.max(Some(expires(at)));
                place += 1;
                continue;
            }
            if !stale {
                self.lose_again(index);
            }
            if place == 0 {
                self.order.pop_front();
            } else {
                place += 1;
            }
        }
        wait
    }

    /// Declare all segments lost after a timeout: none is in flight any more.
    pub(super) fn lose_all(&mut self) {
        (0..self.segments.len()).for_each(|index| self.lose_again(index));
        self.mended = self.base;
    }

    /// Declare the last sending of the segment that contains this octet lost.
    pub(super) fn lose_at(&mut self, octet: u64) {
        if (self.base..self.end()).contains(&octet) {
            self.lose_again(self.index_of(octet));
        }
    }

    fn lose(&mut self, index: usize) {
        let (start, len) = self.piece(index);
        let segment = &mut self.segments[index];
        match segment.state {
            SegmentState::InFlight => {
                segment.state = SegmentState::Lost;
                self.mended = self.mended.min(start);
                self.found.iter_mut().for_each(|found| found.0.push_back(start + len));
            }
            SegmentState::Repeated => segment.state = SegmentState::Retransmitted,
            SegmentState::Lost | SegmentState::Retransmitted | SegmentState::Sacked => return,
        }
        self.lost += len;
    }

    /// Declare a segment lost, and its retransmission as well if it had one.
    fn lose_again(&mut self, index: usize) {
        let (start, len) = self.piece(index);
        let segment = &mut self.segments[index];
        if segment.state.is_sent_again() {
            self.lost += if segment.state.is_lost() { 0 } else { len };
            self.again -= len;
            segment.state = SegmentState::Lost;
            (self.mended, self.filled) = (self.mended.min(start), self.filled.min(start));
            self.found.iter_mut().for_each(|found| found.0.push_back(start + len));
        }
        self.lose(index);
    }

    /// The first segment that is lost and has not been sent again (`NextSeg`, rule 1).
    pub(super) fn next_lost(&mut self) -> Option<usize> {
        if self.lost == 0 {
            return None;
        }
        let mut index = self.index_of(self.mended);
        while let Some(segment) = self.segments.get(index) {
            if segment.state == SegmentState::Lost {
                return Some(index);
            }
            index += 1;
        }
        self.mended = self.end();
        None
    }

    /// The first segment below the highest block that neither has arrived nor was sent again (`NextSeg`, rule 3).
    pub(super) fn next_hole(&mut self) -> Option<usize> {
        let (highest, _) = self.ranges.descending().next()?;
        let waits = |&index: &usize| {
            matches!(self.segments[index].state, SegmentState::InFlight | SegmentState::Lost)
        };
        let hole = (self.index_of(self.filled)..self.index_of(highest)).find(waits);
        self.filled = hole.map_or(self.filled.max(highest), |index| self.start_of(index));
        hole
    }

    /// The last segment, if it has not arrived (`NextSeg`, rule 4; RFC 8985 section 7.3).
    pub(super) fn last(&self) -> Option<usize> {
        let index = self.segments.len().checked_sub(1)?;
        (self.segments[index].state != SegmentState::Sacked).then_some(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    /// Ten segments, sent a millisecond apart.
    fn board() -> Scoreboard {
        let mut board = Scoreboard::new(0);
        (1..=10).for_each(|segment| board.sent(segment * MSS, Time(segment * 1_000_000_000)));
        board
    }

    #[test]
    fn a_sender_that_never_rests_remembers_only_what_is_in_flight() {
        let mut board = board();
        for segment in 11..=1000 {
            board.sent(segment * MSS, Time(segment * 1_000_000_000));
            board.acknowledge((segment - 10) * MSS);
        }
        assert_eq!((board.segments.len(), board.order.len()), (10, 0));
        board.resend(0, Time(1001 * 1_000_000_000));
        assert_eq!(board.order.len(), 11, "from then on their order is not that of the segments");
        board.acknowledge(991 * MSS);
        board.acknowledge(992 * MSS);
        assert_eq!((board.segments.len(), board.order.len()), (8, 0), "and then it is again");
    }

    fn arrive(board: &mut Scoreboard, segments: &[u64]) -> Delivered {
        let mut delivered = Delivered::default();
        for segment in segments {
            board.sack(&SackBlocks::of(&[(segment * MSS, (segment + 1) * MSS)]), &mut delivered);
        }
        delivered
    }

    fn lost(board: &Scoreboard) -> Vec<usize> {
        (0..board.segments.len()).filter(|&index| board.segments[index].state.is_lost()).collect()
    }

    #[test]
    fn three_blocks_or_more_than_two_segments_above_mean_a_loss() {
        let mut board = board();
        arrive(&mut board, &[2, 4]);
        assert_eq!(board.lose_by_blocks(3, MSS), 0, "two blocks of one segment");
        arrive(&mut board, &[6]);
        assert_eq!(board.lose_by_blocks(3, MSS), 2 * MSS);
        assert_eq!(lost(&board), [0, 1], "what is below the third block from the top");
        let mut board = self::board();
        arrive(&mut board, &[2, 3]);
        assert_eq!(board.lose_by_blocks(3, MSS), 0, "exactly two segments are not more than two");
        arrive(&mut board, &[4]);
        board.lose_by_blocks(3, MSS);
        assert_eq!(lost(&board), [0, 1]);
    }

    #[test]
    fn the_pipe_counts_what_is_under_way_and_what_was_sent_again() {
        let mut board = board();
        arrive(&mut board, &[2, 4, 6]);
        board.lose_by_blocks(3, MSS);
        assert_eq!(board.pipe(), (10 - 3 - 2) * MSS);
        let first = board.next_lost().unwrap();
        board.resend(first, Time(50));
        assert_eq!((first, board.pipe()), (0, 6 * MSS));
        assert_eq!(board.next_lost(), Some(1));
        board.acknowledge(MSS);
        assert_eq!(board.pipe(), 5 * MSS, "what was sent again has arrived");
        board.acknowledge(10 * MSS);
        assert_eq!((board.pipe(), board.lost(), board.sacked()), (0, 0, 0));
    }

    #[test]
    fn a_block_that_is_reported_again_delivers_nothing_new() {
        let mut board = board();
        assert_eq!(arrive(&mut board, &[2, 3]).octets, 2 * MSS);
        let mut delivered = Delivered::default();
        board.sack(&SackBlocks::of(&[(2 * MSS, 5 * MSS)]), &mut delivered);
        assert_eq!(delivered.octets, MSS);
        assert_eq!(delivered.newest.map(|newest| newest.1), Some(5 * MSS));
        assert_eq!(board.acknowledge(5 * MSS).octets, 2 * MSS, "segments 0 and 1");
    }

    #[test]
    fn the_rest_of_a_segment_that_an_ack_has_cut_overtakes_nothing() {
        let mut board = board();
        let overtakes = |board: &mut Scoreboard, ack: u64| {
            let mut delivered = board.acknowledge(ack);
            board.note_order(&mut delivered);
            delivered.is_overtaken
        };
        assert!(!overtakes(&mut board, 2 * MSS + 1));
        assert!(!overtakes(&mut board, 3 * MSS), "its end is that of the octet before");
        let mut delivered = arrive(&mut board, &[5]);
        board.note_order(&mut delivered);
        assert!(overtakes(&mut board, 4 * MSS), "segment 3 arrives behind segment 5");
    }

    #[test]
    fn what_was_sent_before_a_delivered_segment_is_lost_when_its_time_has_come() {
        let mut board = board();
        arrive(&mut board, &[4]);
        let delivered = (Time(5_000_000_000), 5 * MSS);
        let wait = board.lose_by_time(delivered, Time(9_000_000_000), |at| Time(at.0 + 7_000_000_000));
        assert_eq!((lost(&board), wait), (vec![0, 1], Some(Time(11_000_000_000))));
        assert_eq!(
            board.lose_by_time(delivered, Time(11_000_000_000), |at| Time(at.0 + 7_000_000_000)),
            None
        );
        assert_eq!(lost(&board), [0, 1, 2, 3]);
    }

    #[test]
    fn a_retransmission_is_lost_when_something_sent_later_is_delivered() {
        let mut board = board();
        arrive(&mut board, &[2, 3, 4]);
        board.lose_by_blocks(3, MSS);
        board.resend(0, Time(20_000_000_000));
        board.sent(11 * MSS, Time(21_000_000_000));
        assert_eq!(board.next_lost(), Some(1));
        board.resend(1, Time(22_000_000_000));
        arrive(&mut board, &[10]);
        board.lose_by_time((Time(21_000_000_000), 11 * MSS), Time(40_000_000_000), |at| at);
        assert_eq!(board.next_lost(), Some(0), "the second one was sent later");
    }

    #[test]
    fn holes_are_below_the_highest_block_and_the_last_segment_may_rescue() {
        let mut board = board();
        arrive(&mut board, &[2]);
        assert_eq!((board.next_hole(), board.last()), (Some(0), Some(9)));
        board.resend(0, Time(30));
        board.resend(1, Time(31));
        assert_eq!(board.next_hole(), None);
        arrive(&mut board, &[9]);
        assert_eq!((board.next_hole(), board.last()), (Some(3), None));
    }
}
