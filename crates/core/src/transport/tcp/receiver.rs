//! The receiving end: the data half of `tcp_input`, reassembly, and the delayed-acknowledgement timer.

use super::feedback::{self, Feedback};
use super::laws::{AckClock, Laws, QUICK_ACKS};
use super::ranges::Ranges;
use super::sack::{SackBlocks, SackLog};
use super::{MAX_WINDOW_FIELD, Params, ReceiverStats, Segment, SegmentOutlet};
use crate::transport::ecn::Ecn;
use crate::units::{Span, Time};

/// The largest distance from the expected octet to a segment without its data that an ACK can report: 28 bits.
const LARGEST_DISTANCE: u64 = (1 << 28) - 1;

/// The receiving end of a connection, and of later connections of the flow. The fields that every segment uses come
/// first, as in a [`Sender`](super::Sender).
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Receiver {
    connection: u32,
    shift: u32,
    delayed_ack: bool,
    /// Segments that are still acknowledged at once, before ACKs are delayed.
    quick: u32,
    quick_at_first: u32,
    /// Whether segments may be marked, and ACKs echo a mark until the sender reports that it has reacted.
    ecn: bool,
    /// Whether an ACK echoes exactly the marks of the segments that it acknowledges (RFC 8257).
    echoes_each: bool,
    /// ECN field of ACKs: whether they may be marked, and whether they echo a mark.
    ack_ecn: Ecn,
    /// The next expected octet (rcv_nxt).
    next: u64,
    /// The value of `next` in the last ACK.
    acked: u64,
    /// Number of ACKs, before the last one, with the `ack` of the last one.
    repeats: u16,
    /// Marked segments since the last ACK, and what ACKs report about marks.
    unreported: u8,
    feedback: Feedback,
    /// Marked segments of this connection.
    marked: u32,
    /// The octet after the last one that the sender may send (rcv_adv).
    advertised: u64,
    mss: u64,
    /// Size of the buffer (sb_hiwat).
    buffer: u64,
    /// Free part of the buffer (sbspace).
    space: u64,
    stats: ReceiverStats,
    /// The stamp to echo: that of the segment for which the last ACK waited (ts_recent).
    stamp: Time,
    /// Time of a delayed ACK.
    timer: Option<Time>,
    queue: Ranges,
    clock: AckClock,
    /// The log of blocks for selective acknowledgements, if the receiver reports blocks.
    sacks: Option<Box<SackLog>>,
    /// Whether the receiver reports segments that arrive twice.
    dsack: bool,
}

impl Receiver {
    /// Build a receiver that waits for a connection. `params` must have passed `Params::check`; `phase` is the first
    /// tick of the host's fast timer.
    pub fn new(params: &Params, phase: Span) -> Receiver {
        let window = params.advertised_window();
        let quick = match params.laws {
            _ if !params.delayed_ack => u32::MAX,
            Laws::Rfc => 0,
            Laws::Linux => QUICK_ACKS,
        };
        Receiver {
            clock: AckClock::new(params, phase),
            delayed_ack: quick == 0,
            quick,
            quick_at_first: quick,
            ecn: params.ecn,
            echoes_each: params.echoes_each(),
            ack_ecn: params.ect_of_others(),
            mss: params.segment_data(),
            shift: params.window_shift(),
            buffer: window,
            space: window,
            connection: 0,
            next: 0,
            acked: 0,
            repeats: 0,
            unreported: 0,
            feedback: params.feedback,
            marked: 0,
            advertised: window,
            queue: Ranges::default(),
            stamp: Time::ZERO,
            timer: None,
            stats: ReceiverStats::default(),
            dsack: params.sack && params.dsack,
            sacks: params.sack.then(|| Box::new(SackLog::new(params.timestamps))),
        }
    }

    /// Return the blocks of an ACK with selective acknowledgements; its `seq` is the number of their list.
    pub fn blocks(&mut self, ack: &Segment) -> SackBlocks {
        self.sacks.as_mut().map_or_else(SackBlocks::default, |sacks| sacks.take(ack.seq))
    }

    /// Receive a SYN or data. Other segments, and those of an older connection, are ignored.
    #[inline(always)] // as in a `Sender`
    pub fn on_segment(&mut self, now: Time, segment: &Segment, out: &mut impl SegmentOutlet) {
        if segment.is_ack || segment.connection < self.connection {
            return;
        }
        if segment.connection > self.connection {
            self.connection = segment.connection;
            self.queue.clear();
            self.timer = None;
            (self.quick, self.delayed_ack) = (self.quick_at_first, self.quick_at_first == 0);
            self.echo(false);
            self.marked = 0;
            self.count_marks(0);
        }
        if segment.syn {
            self.acknowledge(true, out);
        } else if segment.ecn.has(Ecn::CUT) {
            self.report_cut(segment, out);
        } else if segment.len > 0 {
            if segment.seq <= self.acked {
                self.stamp = segment.stamp; // RFC 7323 section 4.3
            }
            if self.ecn {
                return self.on_capable_data(now, segment, out);
            }
            self.on_data(now, segment, out);
        }
    }

    /// Receive data that ports may mark; acknowledge it at once if the marks change.
    #[inline(never)]
    fn on_capable_data(&mut self, now: Time, segment: &Segment, out: &mut impl SegmentOutlet) {
        let changes = self.see_marks(segment, out);
        self.on_data(now, segment, out);
        if changes && self.timer.is_some() {
            self.acknowledge(false, out);
        }
    }

    /// Handle the fast timer, which may have ticked; nothing happens before [`Receiver::next_timer`].
    pub fn on_timer(&mut self, now: Time, out: &mut impl SegmentOutlet) {
        if self.timer.is_some_and(|at| at <= now) {
            self.acknowledge(false, out);
        }
    }

    /// Return the exact instant at which a delayed ACK is due.
    pub fn next_timer(&self) -> Option<Time> {
        self.timer
    }

    /// Change the free part of the buffer to `bytes`, at most its size. An advertised window is never taken back; an
    /// ACK reports at once that the window has opened by two segments or half the buffer.
    pub fn set_window(&mut self, bytes: u64, out: &mut impl SegmentOutlet) {
        self.space = bytes.min(self.buffer);
        if self.worth_telling((self.next + self.offer()).saturating_sub(self.advertised)) {
            self.acknowledge(false, out);
        }
    }

    /// Return the octets delivered in order, over all connections.
    pub fn delivered(&self) -> u64 {
        self.next
    }

    /// Return the counts since the receiver was made.
    pub fn stats(&self) -> &ReceiverStats {
        &self.stats
    }

    /// Update what ACKs echo. By RFC 3168 section 6.1.3 every ACK echoes a mark until a segment reports that the
    /// window has been reduced. For DCTCP an ACK echoes the marks of the segments that it acknowledges: when the
    /// marks change, delayed segments are acknowledged first (RFC 8257 section 3.2; Linux). Return whether the
    /// segment itself is to be acknowledged at once.
    fn see_marks(&mut self, segment: &Segment, out: &mut impl SegmentOutlet) -> bool {
        let marked = segment.ecn.has(Ecn::CE);
        self.stats.marked += u64::from(marked);
        if self.feedback != Feedback::Rfc3168 {
            return self.count_marks(marked.into());
        }
        if !self.echoes_each {
            self.echo(marked || (self.echoes() && !segment.ecn.has(Ecn::CWR)));
            return false;
        }
        let changes = marked != self.echoes();
        if changes && self.timer.is_some() {
            self.acknowledge(false, out);
        }
        self.echo(marked);
        changes
    }

    /// Count marked segments for ACKs that report their number; returns whether an ACK is due.
    fn count_marks(&mut self, marked: u8) -> bool {
        self.marked = self.marked.wrapping_add(marked.into());
        self.unreported = self.unreported.saturating_add(marked);
        if self.feedback == Feedback::Accecn {
            let others = self.ack_ecn.without(Ecn::AE.with(Ecn::CWR).with(Ecn::ECE));
            self.ack_ecn = others.with(feedback::field(self.marked));
        }
        self.unreported >= feedback::DUE
    }

    fn echoes(&self) -> bool {
        self.ack_ecn.has(Ecn::ECE)
    }

    fn echo(&mut self, echoes: bool) {
        self.ack_ecn = self.ack_ecn.without(Ecn::ECE).with(Ecn::ECE.when(echoes));
    }

    #[inline(always)] // as in a `Sender`
    fn on_data(&mut self, now: Time, segment: &Segment, out: &mut impl SegmentOutlet) {
        let (seq, end) = (segment.seq, segment.seq + u64::from(segment.len));
        self.stats.segments += 1;
        self.stats.out_of_order += u64::from(seq != self.next);
        self.stats.duplicate_bytes += self.next.min(end).saturating_sub(seq);
        let (start, sent_end) = (seq.max(self.next), end);
        let end = end.min(self.next + self.room());
        if start >= end {
            self.note_duplicate(seq, sent_end);
            return self.acknowledge(false, out); // nothing new, or a probe of a closed window
        }
        if start > self.next || !self.queue.is_empty() {
            self.note_duplicate(seq, sent_end);
            if let Some(sacks) = &mut self.sacks {
                sacks.note(start);
            }
            self.stats.duplicate_bytes += self.queue.insert(start, end);
            self.next = self.queue.advance(self.next);
            return self.acknowledge(false, out);
        }
        self.next = end;
        let opened = (self.next + self.offer()).saturating_sub(self.advertised);
        if !self.delayed_ack {
            self.acknowledge_quickly(out);
        } else if segment.last || self.worth_telling(opened.max(self.next - self.acked)) {
            self.acknowledge(false, out);
        } else if self.timer.is_none() {
            self.timer = Some(self.clock.after(now));
        }
    }

    /// Acknowledge a segment at once; after the last of a number of them ACKs are delayed.
    #[inline(never)]
    fn acknowledge_quickly(&mut self, out: &mut impl SegmentOutlet) {
        if self.quick < u32::MAX {
            self.quick -= 1;
            self.delayed_ack = self.quick == 0;
        }
        self.acknowledge(false, out);
    }

    /// Return whether the window grew by two full segments or half the buffer: the window update of `tcp_output`, which
    /// is how 4.4BSD acknowledges every second segment (RFC 1122 section 4.2.3.2).
    fn worth_telling(&self, octets: u64) -> bool {
        octets >= 2 * self.mss || (octets > 0 && 2 * octets >= self.buffer)
    }

    /// Return the octets that the receiver accepts: the free part of the buffer or, if larger, the advertised window.
    fn room(&self) -> u64 {
        self.space.max(self.promised())
    }

    /// Return the octets that the sender may still send; 0 if it has sent more than was advertised.
    fn promised(&self) -> u64 {
        self.advertised.saturating_sub(self.next)
    }

    /// Return the octets to advertise: none rather than a silly few (RFC 1122 section 4.2.3.3), but never less than was
    /// advertised before.
    fn offer(&self) -> u64 {
        let silly = self.space < self.mss && self.space < self.buffer / 4;
        let free = if silly { 0 } else { self.space };
        free.max(self.promised())
    }

    /// Report by an ACK, at once, a segment that arrived without its data. The ACK has the distance from the expected
    /// octet to the segment's first octet, if its field can express this distance.
    #[cold]
    fn report_cut(&mut self, segment: &Segment, out: &mut impl SegmentOutlet) {
        let is_wanted = segment.seq + u64::from(segment.len) > self.next;
        let distance = segment.seq.saturating_sub(self.next);
        let mut acks = Vec::new();
        self.acknowledge(false, &mut acks);
        for ack in acks {
            match is_wanted && distance <= LARGEST_DISTANCE {
                true => out.put(Segment { seq: distance, len: 0, ecn: ack.ecn.with(Ecn::CUT), ..ack }),
                false => out.put(ack),
            }
        }
    }

    /// Record a segment for a report in the next ACK, if all of it has arrived before.
    fn note_duplicate(&mut self, seq: u64, end: u64) {
        if !self.dsack {
            return;
        }
        let is_known = end <= self.next || self.queue.containing(seq).is_some_and(|(_, known)| end <= known);
        if let Some(sacks) = self.sacks.as_mut().filter(|_| is_known && end > seq) {
            sacks.note_duplicate((seq, end));
        }
    }

    fn acknowledge(&mut self, syn: bool, out: &mut impl SegmentOutlet) {
        let offer = self.offer();
        let largest = if syn { MAX_WINDOW_FIELD } else { MAX_WINDOW_FIELD << self.shift };
        let window = if syn { offer.min(largest) } else { offer.min(largest) >> self.shift << self.shift };
        self.advertised = self.advertised.max(self.next + offer);
        self.repeats = if self.next == self.acked { self.repeats.saturating_add(1) } else { 0 };
        self.acked = self.next;
        (self.timer, self.unreported) = (None, 0);
        self.stats.acks += 1;
        let counts = self.feedback == Feedback::Counters;
        let (list, octets) = match &mut self.sacks {
            Some(sacks) if !syn && (sacks.has_duplicate() || !self.queue.is_empty() || counts) => {
                sacks.report(&self.queue, counts.then_some(self.marked))
            }
            _ => (0, 0),
        };
        out.put(Segment {
            seq: list,
            len: octets,
            ack: self.next,
            window: window as u32,
            connection: self.connection,
            syn,
            ecn: if syn { self.ack_ecn.with(Ecn::ECE.when(self.ecn)) } else { self.ack_ecn },
            stamp: self.stamp,
            is_ack: true,
            repeats: self.repeats,
            ..Segment::default()
        });
    }
}

#[cfg(test)]
mod tests {
    // The scripts in tests/behaviour/tcp test the answers of a receiver and their times.
    use super::*;
    use crate::transport::tcp::tests::defaults;

    #[test]
    fn an_ack_echoes_the_stamp_of_the_segment_that_it_was_waiting_for() {
        let params = Params { timestamps: true, delayed_ack: false, handshake: false, ..defaults() };
        let mut receiver = Receiver::new(&params, Span::ZERO);
        let mut echoed = |seq: u64, stamp: u64| {
            let mut out = Vec::new();
            let (connection, stamp) = (1, Time(stamp));
            let segment = Segment { seq, len: 1448, connection, stamp, ..Segment::default() };
            receiver.on_segment(Time(0), &segment, &mut out);
            (out[0].ack, out[0].stamp.0)
        };
        assert_eq!(echoed(0, 10), (1448, 10));
        assert_eq!(echoed(2896, 30), (1448, 10), "out of order: the stamp of the last one in order");
        assert_eq!(echoed(1448, 40), (4344, 40), "the hole is filled");
    }

    #[test]
    fn the_headers_of_a_segment_are_reported_at_once_unless_its_data_have_come() {
        let params = Params { mss: 1000, sack: true, ..defaults() };
        let mut receiver = Receiver::new(&params, Span::ZERO);
        let mut answer = |seq: u64, ecn: Ecn| {
            let mut out = Vec::new();
            let segment = Segment { seq, len: 1000, connection: 1, ecn, ..Segment::default() };
            receiver.on_segment(Time(0), &segment, &mut out);
            out.first().map(|ack| (ack.ack, ack.ecn.has(Ecn::CUT).then_some(ack.seq)))
        };
        assert_eq!(answer(2000, Ecn::CUT), Some((0, Some(2000))));
        assert_eq!(answer(0, Ecn::default()), None, "the ACK is delayed");
        assert_eq!(answer(1000, Ecn::CUT), Some((1000, Some(0))));
        assert_eq!(answer(0, Ecn::CUT), Some((1000, None)), "its data have come");
    }

    #[test]
    fn it_counts_segments_and_what_came_out_of_order_or_again() {
        let params = Params { mss: 1000, delayed_ack: false, ..defaults() };
        let mut receiver = Receiver::new(&params, Span::ZERO);
        for seq in [0, 2000, 500, 1000, 2000] {
            let segment = Segment { seq, len: 1000, connection: 1, ..Segment::default() };
            receiver.on_segment(Time(0), &segment, &mut Vec::new());
        }
        let ReceiverStats { segments, out_of_order, duplicate_bytes, acks, .. } = *receiver.stats();
        assert_eq!((segments, acks), (5, 5));
        assert_eq!(out_of_order, 4, "what is behind a hole, and what does not begin where it is wanted");
        // half of the third and of the fourth, and all of the last
        assert_eq!((receiver.delivered(), duplicate_bytes), (3000, 500 + 500 + 1000));
    }

    #[test]
    fn an_ack_is_due_with_the_third_mark_that_none_has_reported() {
        for feedback in [Feedback::Accecn, Feedback::Counters] {
            let params = Params { ecn: true, sack: true, feedback, ..defaults() };
            let mut receiver = Receiver::new(&params, Span::ZERO);
            assert_eq!(
                [1, 1, 0, 1, 1].map(|marked| receiver.count_marks(marked)),
                [false, false, false, true, true]
            );
            receiver.acknowledge(false, &mut Vec::new());
            assert!(!receiver.count_marks(1), "what an ACK has reported does not count");
        }
    }
}
