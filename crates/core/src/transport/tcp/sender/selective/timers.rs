//! The timers of a sender with selective acknowledgements: searches for losses, probes and timeouts.

use super::{Selective, TimerProgress, Undo};
use crate::transport::tcp::SegmentOutlet;
use crate::transport::tcp::congestion::{Ack, Evidence, Facts, Loss};
use crate::transport::tcp::recovery::Recovery;
use crate::transport::tcp::sack::SackBlocks;
use crate::transport::tcp::scoreboard::Delivered;
use crate::transport::tcp::sender::timers::{Timer, Timers};
use crate::transport::tcp::sender::{Sender, State, Timed};
use crate::units::{Span, Time};

/// The probe timeout without a measurement (RFC 8985 section 7.2).
const FIRST_PROBE: Span = Span::secs(1);

impl Sender {
    /// Set the timers: for the retransmission timeout, and for the next search for losses or a probe before it. Only an ACK of new data
    /// postpones the timeout (RFC 6298, 5.1 and 5.3), since new segments may follow a lost retransmission for long;
    /// with `sack_restarts_timer` also a block of data older than that retransmission.
    #[inline]
    pub(super) fn set_selective_timer(
        &mut self,
        now: Time,
        progress: TimerProgress,
        wait: Option<Time>,
        sack: &mut Selective,
    ) {
        if sack.board.is_empty() {
            self.timers = Timers::STOPPED;
            let is_open = self.unacknowledged < self.written && self.state == State::Established;
            if is_open && !self.waits_for_turn() {
                self.timers.set(Timer::Persist, self.clock.after(now, self.estimator.persist()));
            }
            return;
        }
        let was_running = self.timers.runs(Timer::Retransmit);
        if progress.acked || !was_running || std::mem::take(&mut sack.head_resent) {
            self.start_timeout(now, sack);
        }
        let restart = progress.acked || progress.sent || !was_running;
        let timeout = self.timers.at(Timer::Retransmit);
        self.timers.stop(Timer::Persist);
        self.timers.stop(Timer::Reordering);
        if let Some(at) = wait {
            self.timers.stop(Timer::Probe);
            let at = at + sack.slack;
            if at < timeout {
                self.timers.set(Timer::Reordering, at);
            }
        } else if restart && self.may_probe(sack) {
            self.timers.set(Timer::Probe, (now + sack.probe_timeout()).min(timeout));
        } else if restart || !self.keeps_probe(sack) {
            self.timers.stop(Timer::Probe);
        }
    }

    /// Return the instant of the next search for losses, if there will be one: that for which [`Sender::set_selective_timer`] set
    /// its timer.
    pub(super) fn awaited_search(&self, sack: &Selective) -> Option<Time> {
        let at = self.timers.at(Timer::Reordering);
        self.timers.runs(Timer::Reordering).then(|| Time(at.0 - sack.slack.0))
    }

    /// Start the retransmission timer anew.
    #[inline]
    fn start_timeout(&mut self, now: Time, sack: &Selective) {
        let at = self.clock.after(now, self.estimator.timeout()) + sack.tick;
        self.timers.set(Timer::Retransmit, at);
    }

    /// Return whether the timer of a probe runs on: as long as one is permitted, in Linux until a recovery begins.
    fn keeps_probe(&self, sack: &Selective) -> bool {
        if sack.is_linux { sack.point.is_none() && sack.probe.is_none() } else { self.may_probe(sack) }
    }

    /// Return whether a probe is permitted by RFC 8985 section 7.2: not in recovery, not while an octet is selectively
    /// acknowledged, and not twice.
    fn may_probe(&self, sack: &Selective) -> bool {
        let is_open = sack.point.is_none() && sack.after_timeout.is_none() && sack.probe.is_none();
        is_open && sack.recovery.probes() && sack.board.sacked() == 0
    }

    /// Search for losses, when the reordering timer has expired.
    pub(in super::super) fn look_again(&mut self, now: Time, out: &mut impl SegmentOutlet) {
        self.with_selective(|sender, sack| {
            let report = sender.ack_report(now, Delivered::default(), sack);
            let (found, wait) = sender.find_losses(&report, sack.board.lost(), sack);
            let facts = sender.facts(now, None);
            if !sack.is_linux || sack.point.is_none() {
                let credit = if sack.is_linux { sender.mss() } else { 0 };
                sender.react(Ack { lost: found, ..Ack::of(0, facts) }, credit, sack);
            }
            sender.report_losses(now, 0, sack);
            let sent = sender.output_selective(now, sack, out);
            sender.set_selective_timer(now, TimerProgress { acked: false, sent }, wait, sack);
        });
    }

    /// Send a probe, when its timer has expired: new data, or the last segment again (RFC 8985 section 7.3).
    pub(in super::super) fn send_probe(&mut self, now: Time, out: &mut impl SegmentOutlet) {
        self.with_selective(|sender, sack| {
            sender.rare.stats.tail_probes += 1;
            if let Some(len) = sender.new_data() {
                sender.send_new(now, len, sack, out);
                sack.probe = Some((sender.sent, false));
            } else if let Some(last) = sack.board.last() {
                sender.resend(now, last, sack, out);
                sack.probe = Some((sender.sent, true));
            }
            sack.head_resent = false;
            sender.timers.stop(Timer::Probe);
            sender.start_timeout(now, sack);
        });
    }

    /// Handle an ACK beyond a probe: if the probe repeated a segment and no duplicate arrived, the original was lost
    /// (RFC 8985 section 7.4.2).
    pub(super) fn end_probe(&mut self, facts: Facts, acked: u64, blocks: &SackBlocks, sack: &mut Selective) {
        let Some((end, repeats)) = sack.probe.filter(|(end, _)| self.unacknowledged >= *end) else { return };
        if repeats && self.unacknowledged > end {
            self.control.on_loss(&Loss { evidence: Evidence::Probe, facts });
            self.note_reduction();
        }
        let arrived_twice = acked == 0 && blocks.octets() == 0;
        if !repeats || self.unacknowledged > end || arrived_twice {
            sack.probe = None;
        }
    }

    /// Declare all segments lost, when the retransmission timer has expired: slow start sends them again. `before` has the window and
    /// its threshold before a first timeout, which Linux takes back if all that is sent again arrives twice.
    pub(in super::super) fn give_up_flight(
        &mut self,
        now: Time,
        before: Option<(u64, u64)>,
        out: &mut impl SegmentOutlet,
    ) {
        self.with_selective(|sender, sack| {
            let from = sender.unacknowledged;
            if !sack.is_linux {
                sack.undo = None;
            } else if let Some((cwnd, ssthresh)) = before.filter(|_| sack.point.is_none()) {
                sack.undo = Some(Undo { cwnd, ssthresh, from, repeats: 0 });
            }
            sack.board.lose_all();
            sender.report_losses(now, 0, sack);
            (sack.point, sack.after_timeout, sack.probe) = (None, Some(sender.sent), None);
            sack.is_forced = true;
            sender.timed = Timed::NONE;
            sender.output_selective(now, sack, out);
            sender.set_selective_timer(now, TimerProgress { acked: true, sent: true }, None, sack);
        });
    }
}

impl Selective {
    /// Return whether a block reports data, sent once only, that left before the first unacknowledged segment was
    /// most recently sent: the path still delivers data older than the retransmission, so its ACK cannot have arrived yet.
    pub(super) fn reports_older_than_head(&self, delivered: &Delivered) -> bool {
        let head = self.board.head_sent();
        self.sack_restarts_timer && delivered.first_sacked.zip(head).is_some_and(|(sent, head)| sent < head)
    }

    /// Return the probe timeout of RFC 8985 section 7.2: twice the smoothed round trip, and for one segment the delay
    /// of its ACK.
    fn probe_timeout(&self) -> Span {
        let delay = if self.board.has_one() { self.ack_delay + self.tick } else { self.slack };
        self.smoothed.map_or(FIRST_PROBE, |smoothed| Span(2 * smoothed.0) + delay)
    }
}
