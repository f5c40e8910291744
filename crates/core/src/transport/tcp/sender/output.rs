//! Output of a sender: `tcp_output`, with the silly-window avoidance and the congestion notification of segments.

use super::timers::{Timer, Timers};
use super::{Sender, State, Timed};
use crate::transport::Transport;
use crate::transport::ecn::Ecn;
use crate::transport::tcp::{Laws, Segment, SegmentOutlet};
use crate::units::Time;

impl Sender {
    /// Send as many segments as the window allows (`tcp_output`).
    pub(super) fn output(&mut self, now: Time, out: &mut impl SegmentOutlet) {
        if self.state != State::Established {
            return;
        }
        if self.is_selective() | self.flags.is_paced {
            return self.output_specially(now, out);
        }
        self.output_in_order(now, out, false);
    }

    /// Like `output`, for a sender with selective acknowledgements or one that paces.
    #[inline(never)]
    fn output_specially(&mut self, now: Time, out: &mut impl SegmentOutlet) {
        if self.is_selective() {
            return self.push_selective(now, out);
        }
        self.prepare_pace();
        self.output_in_order(now, out, true);
    }

    /// Send from the next octet on, without selective acknowledgements.
    #[inline(always)] // once for senders that pace, so that others do not ask
    fn output_in_order(&mut self, now: Time, out: &mut impl SegmentOutlet, paces: bool) {
        let window = self.advertised.window.min(self.control.window().usable());
        let end = self.written.min(self.unacknowledged.saturating_add(window));
        while self.next < end {
            let len = (end - self.next).min(self.mss());
            if !self.worth_sending(len) || (paces && self.holds_back(now, len)) {
                break;
            }
            self.transmit(now, self.next, len, out);
            self.next += len;
            self.start_retransmission_timer(now);
        }
        self.end_output(now, window);
    }

    /// Record the use of a window, and set the timers, when all has been sent that the window allows.
    #[inline(always)] // for what nearly every output ends with
    fn end_output(&mut self, now: Time, window: u64) {
        if self.flags.heeds_application {
            self.note_usage(now, self.control.window().usable());
        }
        if window == 0 && self.next > self.unacknowledged {
            // the receiver closed the window while data was in flight: probe the window instead of sending data again
            self.timers = Timers::STOPPED;
            self.next = self.unacknowledged;
        }
        let is_waiting = self.timers.runs(Timer::Retransmit) || self.timers.runs(Timer::Persist);
        if !is_waiting && self.unacknowledged < self.written && !self.waits_for_turn() {
            self.timers.set(Timer::Persist, self.clock.after(now, self.estimator.persist()));
        }
    }

    /// Return the octets of a full segment.
    #[inline]
    pub(super) fn mss(&self) -> u64 {
        self.control.window().mss()
    }

    /// Record the use of the window, after all allowed segments have been sent.
    pub(in super::super) fn note_usage(&mut self, now: Time, window: u64) {
        let flight = self.flight();
        let is_full = self.sent < self.written || flight + self.mss() > window;
        if is_full || self.last_sent == now {
            self.rare.usage.note(flight, is_full, self.unacknowledged, self.sent);
            if self.rare.params.laws == Laws::Linux && !self.is_recovering() {
                let rto = self.rto();
                let unused = self.rare.usage.unused(now, rto, flight, is_full);
                unused.into_iter().for_each(|used| self.control.on_unused(used));
            }
        }
    }

    /// Return the largest window to which the sender may grow: the present one while the application limits the flow,
    /// so that the window is never much larger than what has been in flight (RFC 7661); in slow start up to twice the
    /// greatest amount in flight, as in Linux (`tcp_is_cwnd_limited`).
    #[inline]
    pub(in super::super) fn largest_growth(&self) -> u64 {
        let (cwnd, ssthresh) = (self.cwnd(), self.control.window().ssthresh());
        let usage = &self.rare.usage;
        let may_grow =
            !self.flags.heeds_application || usage.is_full || (cwnd < ssthresh && cwnd < 2 * usage.most);
        if may_grow { u64::MAX } else { cwnd }
    }

    /// Return whether no octet is outstanding, and none has been sent for longer than the timeout in force (RFC 5681
    /// section 4.1).
    pub(super) fn was_idle(&self, now: Time) -> bool {
        self.sent == self.unacknowledged && self.clock.after(self.last_sent, self.estimator.timeout()) < now
    }

    /// Return whether the `len` octets at `next` are worth a segment: silly-window avoidance of the sender (RFC 1122
    /// section 4.2.3.4).
    pub(in super::super) fn worth_sending(&self, len: u64) -> bool {
        len == self.mss()
            || self.next + len == self.written
            || 2 * len >= self.advertised.largest
            || (self.next == self.unacknowledged && self.next < self.sent)
    }

    #[inline(always)] // for what nearly every segment is sent by
    pub(in super::super) fn transmit(&mut self, now: Time, seq: u64, len: u64, out: &mut impl SegmentOutlet) {
        if seq >= self.sent && self.timed.is_none() {
            self.timed = Timed { seq, since: now };
        }
        if self.flags.ecn | self.flags.is_unscheduled | self.flags.is_paced {
            return self.emit_marked(now, seq, len, out);
        }
        self.emit(now, seq, len, Ecn::default(), out);
    }

    /// Send a segment with an ECN field, with the mark of packets sent before the first acknowledgement, or of a sender that
    /// paces.
    #[inline(never)]
    pub(super) fn emit_marked(&mut self, now: Time, seq: u64, len: u64, out: &mut impl SegmentOutlet) {
        if let Some(pacer) = &mut self.rare.pacer {
            pacer.sent(now, len);
        }
        let is_new = seq >= self.sent;
        let unscheduled = Ecn::UNSCHEDULED.when(self.flags.is_unscheduled && is_new);
        let ecn = if self.flags.ecn { self.notification(seq) } else { Ecn::default() };
        self.emit(now, seq, len, ecn.with(unscheduled), out);
    }

    /// Return the ECN field of a segment: ports may not mark a segment that is sent again (RFC 3168 section 6.1.5),
    /// unless `ect` is `all`.
    pub(super) fn notification(&mut self, seq: u64) -> Ecn {
        if seq < self.sent {
            return self.rare.params.ect_of_others();
        }
        self.rare.params.ect().with(Ecn::CWR.when(std::mem::take(&mut self.flags.tells_reduced)))
    }

    pub(super) fn emit(&mut self, now: Time, seq: u64, len: u64, ecn: Ecn, out: &mut impl SegmentOutlet) {
        let is_repeated = seq < self.sent;
        let repeats = if is_repeated { self.rare.repeats.count(seq, self.unacknowledged) } else { 0 };
        if seq + len > self.sent {
            self.sent = seq + len;
            self.deliveries.sent(self.sent, now);
        }
        self.last_sent = now;
        self.counts.sent += 1;
        self.counts.retransmitted += u64::from(is_repeated);
        let connection = self.connection;
        let stamp = if self.flags.timestamps { now } else { Time::ZERO };
        let last = self.flags.ends_writes && seq + len == self.written;
        out.put(Segment {
            seq,
            len: len as u16,
            ecn,
            connection,
            repeats,
            last,
            stamp,
            ..Segment::default()
        });
    }

    pub(super) fn send_syn(&mut self, now: Time, out: &mut impl SegmentOutlet) {
        let ecn = Ecn::ECE.with(Ecn::CWR).when(self.flags.ecn).with(self.rare.params.ect_of_others());
        out.put(Segment {
            seq: self.next,
            connection: self.connection,
            syn: true,
            ecn,
            repeats: self.rare.syns,
            ..Segment::default()
        });
        self.rare.syns = self.rare.syns.saturating_add(1);
        self.start_retransmission_timer(now);
    }

    /// Send the first unacknowledged segment again; the next octet to send does not change.
    pub(super) fn retransmit_first(&mut self, now: Time, out: &mut impl SegmentOutlet) {
        let left = self.written - self.unacknowledged;
        let len = left.min(self.advertised.window).min(self.mss());
        self.timed = Timed::NONE;
        if len > 0 {
            self.transmit(now, self.unacknowledged, len, out);
            self.next = self.next.max(self.unacknowledged + len);
            self.start_retransmission_timer(now);
        }
    }
}
