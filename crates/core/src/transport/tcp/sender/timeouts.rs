//! The retransmission and the persist timer: when they run, and the actions of a sender when one expires
//! (`tcp_timers`).

use super::timers::{Timer, Timers};
use super::{Sender, State, Timed};
use crate::transport::tcp::congestion::{Reaction, Timeout};
use crate::transport::tcp::{Backoff, Laws, SegmentOutlet};
use crate::units::Time;

impl Sender {
    pub(super) fn start_retransmission_timer(&mut self, now: Time) {
        if self.timers.runs(Timer::Retransmit) {
            return;
        }
        if self.timers.runs(Timer::Persist) {
            self.estimator.end_backoff();
            self.timers.stop(Timer::Persist);
        }
        self.timers.set(Timer::Retransmit, self.clock.after(now, self.estimator.timeout()));
    }

    /// Restart the retransmission timer after an ACK of new data, or stop it if no octet is outstanding.
    #[inline]
    pub(super) fn restart_timer(&mut self, now: Time, reaction: Reaction) {
        if !self.timers.runs(Timer::Retransmit) {
            return;
        }
        if self.unacknowledged == self.sent {
            self.timers.stop(Timer::Retransmit);
        } else if reaction != (Reaction::Retransmit { restart_timer: false }) {
            self.timers.set(Timer::Retransmit, self.clock.after(now, self.estimator.timeout()));
        }
    }

    /// Handle the expiry of the retransmission timer: go back to the first unacknowledged octet and slow-start
    /// (`tcp_timers`).
    pub(super) fn time_out(&mut self, now: Time, out: &mut impl SegmentOutlet) {
        self.rare.stats.timeouts += 1;
        self.estimator.back_off();
        let (facts, timeout) = (self.facts(now, None), self.which_timeout());
        let before = (timeout == Timeout::First).then(|| (self.cwnd(), self.control.window().ssthresh()));
        self.control.on_timeout(facts, timeout);
        self.note_reduction();
        self.duplicates = 0;
        self.timers = Timers::STOPPED;
        if self.is_selective() && self.state == State::Established {
            return self.give_up_flight(now, before, out);
        }
        self.go_back(now, out);
    }

    /// Send again from the first unacknowledged octet on.
    pub(super) fn go_back(&mut self, now: Time, out: &mut impl SegmentOutlet) {
        self.timed = Timed::NONE;
        self.next = self.unacknowledged;
        if self.state == State::SynSent {
            self.send_syn(now, out);
        } else {
            self.output(now, out);
        }
    }

    /// Return whether the timer has sent this segment before; with the back-off of 4.4BSD every timeout counts as the
    /// first.
    pub(super) fn which_timeout(&mut self) -> Timeout {
        if self.state == State::SynSent || self.rare.params.backoff == Backoff::Bsd {
            return Timeout::First;
        }
        if self.is_reduced_for_this_window() {
            return Timeout::Repeated;
        }
        let last = self.rare.timed_out.replace(self.unacknowledged);
        if last == Some(self.unacknowledged) { Timeout::Repeated } else { Timeout::First }
    }

    /// Return whether a recovery has reduced the window for what is outstanding, so that a timeout does not do it again
    /// (`tcp_enter_loss` of Linux).
    fn is_reduced_for_this_window(&self) -> bool {
        self.rare.params.laws == Laws::Linux && self.is_recovering()
    }

    /// Handle the expiry of the persist timer: send one octet into a closed window, or as many octets as a small
    /// window permits.
    pub(super) fn probe(&mut self, now: Time, out: &mut impl SegmentOutlet) {
        let window = self.advertised.window.min(self.control.window().usable());
        let left = self.written - self.unacknowledged;
        self.rare.stats.window_probes += 1;
        let seq = self.unacknowledged;
        if window > 0 {
            let len = left.min(window).min(self.mss());
            self.transmit(now, seq, len, out);
            self.next = seq + len;
            self.start_retransmission_timer(now);
        } else {
            // a probe is not timed, since its ACK may not acknowledge the octet, and ports may not mark it unless
            // `ect` is `all` (RFC 3168 section 6.1.6)
            let ecn = self.rare.params.ect_of_others();
            self.emit(now, seq, 1, ecn, out);
            self.next = if self.is_selective() { self.sent } else { self.next };
            self.timers.set(Timer::Persist, self.clock.after(now, self.estimator.persist()));
        }
    }
}
