//! # Source
//! N. Cardwell, I. Swett and J. Beshay (editors), "BBR Congestion Control", draft-ietf-ccwg-bbr of the IETF, as of 3 August 2026
//! (commit 4ce5e87d of its repository): version 3 of the algorithm. Names here are those of its pseudocode.
//!
//! # Idea
//! The sender keeps a model of its path: the largest delivery rate of the last two cycles, the smallest round trip of the last 10 s,
//! and how much may be in flight before more than 2 % are lost. It paces at that rate times the gain of its state, and its window is
//! a multiple of rate times round trip:
//!
//! | state | pacing gain | window | leaves when |
//! |---|---|---|---|
//! | Startup | 2.77 | 2 BDP | three rounds without 25 % growth, or more than 2 % of a round lost in six ranges |
//! | Drain | 0.5 | 2 BDP | in flight at most a BDP, or after three rounds |
//! | ProbeBW: DOWN | 0.9 | 2 BDP | in flight at most a BDP, with headroom |
//! | ProbeBW: CRUISE | 1 | 2 BDP | 2 to 3 s after the probe, or as many rounds as the window has packets, at most 63 |
//! | ProbeBW: REFILL | 1 | 2 BDP | after a round |
//! | ProbeBW: UP | 1.25 | 2.25 BDP | three rounds without growth, more than 2 % lost, or the bound of the last probe |
//! | ProbeRTT | 1 | ½ BDP | after 200 ms and a round; every 5 s without a smaller round trip |
//!
//! A loss during a probe bounds what is in flight (`inflight_longterm`); other losses bound rate and flight until the next probe
//! (`bw_shortterm`, `inflight_shortterm`), by a factor of 0.7 for each round with a loss.
//!
//! # Parameters
//! `initial_window`; the constants are those of the draft. For control experiments `bbr_rounds` (on) and `bbr_loss_bounds` (on) switch
//! off the probes after a number of rounds, and the bounds by losses. It needs `sack`, and it paces; `pacing.burst` replaces the send quantum of
//! 1 ms, from 2 segments to 64 KiB. Without a `profile` the other keys are those of `profile = "linux"`. `measure.state` samples the
//! model; `phase` counts from 0, Startup, to 6, ProbeRTT, in the order of the table.
//!
//! # Differences from the paper
//! Rates count octets of data, as delivery rates do; the pacer adds the headers. Where text and pseudocode differ, the pseudocode
//! holds: Drain is not bounded by `inflight_longterm`. `IsRenoCoexistenceProbeTime` compares rounds with packets, where the draft has
//! octets. Of the smallest round trip for ProbeRTT the draft leaves the first value open: it is that of the handshake, as in Linux.
//! Without a handshake the first pacing rate follows from 1 ms until a round trip is measured, as in Linux. `is_cwnd_limited` is true
//! until all that was in flight when the window was full has been delivered. A loss that a tail-loss probe has repaired counts as a loss
//! of its round, without a test of what was in flight. Marks: the draft has no reaction to them, so `ecn` must be false.
//!
//! # Complexity
//! O(1) for each ACK and each lost segment; some fifty numbers for each connection, and seven for each segment in flight.

mod controls;
mod machine;
mod model;
mod state;

#[cfg(test)]
mod tests;

use super::{
    Ack, Begin, Congestion, CongestionWindow, Evidence, Facts, Loss, Needs, Pace, Reaction, Timeout, Upshot,
};
use crate::metrics::state::Figure;
use crate::transport::tcp::Params;
use crate::transport::tcp::rate::{LostSegment, RateSample};
use crate::units::{Rate, Span, Time};

use state::{Bbr, INFINITE};

/// A BBR sender. Its state is separate, so that other senders need no room for it.
#[derive(Clone, Debug)]
pub struct Control(Box<Bbr>);

impl Control {
    pub(super) fn new(params: &Params) -> Control {
        Control(Box::new(Bbr::new(params)))
    }
}

impl Bbr {
    fn new(params: &Params) -> Bbr {
        let mut bbr = Bbr::blank(params);
        bbr.init_pacing_rate(None);
        bbr.enter_startup();
        bbr
    }

    /// Follow an ACK: `UpdateModelAndState` and `UpdateControlParameters`. Returns whether what is in flight counts as limited by the
    /// application.
    fn update(&mut self, window: &mut CongestionWindow, sample: &RateSample) -> bool {
        (self.delivered, self.inflight, self.is_app_limited) =
            (sample.delivered, sample.in_flight, sample.is_app_limited);
        self.meet_first_rtt(sample);
        self.update_latest_signals(sample);
        self.update_congestion_signals(window, sample);
        self.update_ack_aggregation(window, sample);
        self.check_full_bw_reached(sample);
        self.check_startup_done(sample);
        self.check_drain_done(sample);
        self.update_probe_bw(window, sample);
        self.update_min_rtt(sample);
        let marks_limited = self.check_probe_rtt(window, sample);
        self.advance_latest_signals(sample);
        self.bound_bw();
        self.set_pacing_rate(self.pacing_gain);
        self.set_send_quantum();
        self.set_cwnd(window, sample);
        marks_limited
    }

    /// Return the variables, for reports; 0 stands for a bound that is not set.
    fn figures(&self) -> Vec<Figure> {
        let set = |bound: u64| if bound == INFINITE { 0.0 } else { bound as f64 };
        let seconds = |span: Span| if span == Span::FOREVER { 0.0 } else { span.as_secs_f64() };
        [
            ("phase", self.phase as u32 as f64),
            ("pacing_gain", self.pacing_gain as f64 / 100.0),
            ("cwnd_gain", self.cwnd_gain as f64 / 100.0),
            ("pacing_rate_bps", self.pacing_rate as f64),
            ("max_bw_bps", self.max_bw() as f64),
            ("bw_shortterm_bps", set(self.bw_shortterm)),
            ("min_rtt_s", seconds(self.min_rtt)),
            ("inflight_longterm", set(self.inflight_longterm)),
            ("inflight_shortterm", set(self.inflight_shortterm)),
            ("extra_acked", self.extra_acked as f64),
            ("inflight", self.inflight as f64),
            ("is_app_limited", f64::from(u8::from(self.is_app_limited))),
            ("probe_wait_s", self.bw_probe_wait.as_secs_f64()),
            ("round_count", self.round_count as f64),
            ("cycle_count", self.cycle_count as f64),
            ("full_bw_count", f64::from(self.full_bw_count)),
            ("full_bw_reached", f64::from(u8::from(self.full_bw_reached))),
            ("idle_restart", f64::from(u8::from(self.idle_restart))),
        ]
        .map(|(name, value)| Figure::of_all(name, value))
        .into()
    }
}

impl Congestion for Control {
    fn needs(&self) -> Needs {
        Needs { samples: true }
    }

    fn begin(&mut self, _: &mut CongestionWindow, begin: Begin) {
        self.0.begin(begin);
    }

    fn pace(&self) -> Option<Pace> {
        Some(Pace { rate: Rate(self.0.pacing_rate), quantum: self.0.send_quantum })
    }

    fn on_sample(&mut self, window: &mut CongestionWindow, sample: &RateSample) -> Upshot {
        Upshot { is_limited: self.0.update(window, sample), ..Upshot::default() }
    }

    fn on_lost(&mut self, window: &mut CongestionWindow, lost: &LostSegment) {
        self.0.handle_lost(window, lost);
    }

    fn on_restart(&mut self, window: &mut CongestionWindow, now: Time) {
        self.0.handle_restart(window, now);
    }

    fn on_ack(&mut self, _: &mut CongestionWindow, _: Ack) -> Reaction {
        Reaction::Continue
    }

    fn on_proposal(&mut self, _: &mut CongestionWindow, _: u64) {}

    fn on_loss(&mut self, window: &mut CongestionWindow, loss: &Loss) {
        match loss.evidence {
            Evidence::Blocks => self.0.enter_recovery(window),
            Evidence::Probe => self.0.note_loss(window),
        }
    }

    fn on_recovery_end(&mut self, window: &mut CongestionWindow) {
        self.0.leave_recovery(window);
    }

    fn on_timeout_end(&mut self, window: &mut CongestionWindow) {
        self.0.leave_recovery(window);
    }

    fn on_undo(&mut self, window: &mut CongestionWindow, _: u64, _: u64) {
        self.0.leave_recovery(window);
        self.0.handle_spurious_loss(window);
    }

    fn on_duplicate(&mut self, _: &mut CongestionWindow, _: u32, _: Facts) -> Reaction {
        Reaction::Continue
    }

    fn on_timeout(&mut self, window: &mut CongestionWindow, _: Facts, _: Timeout) {
        self.0.enter_timeout(window);
    }

    fn state(&self) -> Vec<Figure> {
        self.0.figures()
    }

    fn is_recovering(&self) -> bool {
        false
    }
}
