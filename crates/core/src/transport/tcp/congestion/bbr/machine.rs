//! The state machine (section "State Machine Operation"): start-up, the cycle of probes for bandwidth, and probes for the round trip.

use super::model::is_too_high;
use super::state::{AckPhase, Bbr, INFINITE, Phase};
use crate::rng::Subject;
use crate::transport::tcp::congestion::CongestionWindow;
use crate::transport::tcp::rate::RateSample;
use crate::units::{PS_PER_S, Span, Time};

/// Gains, in percent.
const STARTUP_PACING: u64 = 277;
const DRAIN_PACING: u64 = 50;
const DOWN_PACING: u64 = 90;
const UP_PACING: u64 = 125;
const DEFAULT_CWND: u64 = 200;
const UP_CWND: u64 = 225;
const PROBE_RTT_CWND: u64 = 50;
/// Rounds without growth that mean a full pipe, and the growth, in percent.
const FULL_ROUNDS: u32 = 3;
const FULL_GROWTH: u128 = 125;
/// `BBRStartupFullLossCnt`.
const STARTUP_LOSS_RANGES: u32 = 6;
/// Rounds that Drain takes at most.
const DRAIN_ROUNDS: u64 = 3;
/// Rounds between probes at most.
const MOST_ROUNDS: u64 = 63;
/// The least wait between probes; up to a second more is drawn.
const PROBE_WAIT: Span = Span::secs(2);
const PROBE_RTT_DURATION: Span = Span::millis(200);
/// Greatest exponent of the slope of `inflight_longterm`.
const STEEPEST: u32 = 30;

impl Bbr {
    fn enter(&mut self, phase: Phase, pacing_gain: u64, cwnd_gain: u64) {
        (self.phase, self.pacing_gain, self.cwnd_gain) = (phase, pacing_gain, cwnd_gain);
    }

    /// `EnterStartup`.
    pub(super) fn enter_startup(&mut self) {
        self.enter(Phase::Startup, STARTUP_PACING, DEFAULT_CWND);
    }

    /// `ResetFullBW`.
    pub(super) fn reset_full_bw(&mut self) {
        (self.full_bw, self.full_bw_count, self.full_bw_now) = (0, 0, false);
    }

    /// `CheckFullBWReached`.
    pub(super) fn check_full_bw_reached(&mut self, sample: &RateSample) {
        if self.full_bw_now || !self.round_start || sample.is_app_limited {
            return;
        }
        if u128::from(sample.bits()) * 100 >= u128::from(self.full_bw) * FULL_GROWTH {
            self.reset_full_bw();
            self.full_bw = sample.bits();
            return;
        }
        self.full_bw_count += 1;
        self.full_bw_now = self.full_bw_count >= FULL_ROUNDS;
        self.full_bw_reached |= self.full_bw_now;
    }

    /// `CheckStartupDone`.
    pub(super) fn check_startup_done(&mut self, sample: &RateSample) {
        if self.phase != Phase::Startup {
            return;
        }
        if self.is_startup_loss_high(sample) {
            self.undo_phase = Some(Phase::Startup);
            (self.full_bw_now, self.full_bw_reached) = (true, true);
            self.inflight_longterm = self.bdp(self.bw).max(self.inflight_latest);
        }
        if self.full_bw_reached {
            self.enter(Phase::Drain, DRAIN_PACING, DEFAULT_CWND);
            self.drain_start_round = self.round_count;
        }
    }

    /// `CheckStartupHighLoss`: a whole round in fast recovery, more than 2 % lost, in at least six ranges.
    fn is_startup_loss_high(&self, sample: &RateSample) -> bool {
        let is_whole_round = self.recovery_start.is_some_and(|start| sample.prior_delivered >= start);
        self.bounds_losses
            && self.loss_round_start
            && is_whole_round
            && self.loss_ranges >= STARTUP_LOSS_RANGES
            && is_too_high(sample.lost, sample.sent_in_flight)
    }

    /// `CheckDrainDone`.
    pub(super) fn check_drain_done(&mut self, sample: &RateSample) {
        let is_late = || self.round_count > self.drain_start_round + DRAIN_ROUNDS;
        if self.phase == Phase::Drain && (sample.in_flight <= self.inflight(self.bw) || is_late()) {
            self.start_down(sample.now);
        }
    }

    /// `StartProbeBW_DOWN`.
    pub(super) fn start_down(&mut self, now: Time) {
        self.reset_congestion_signals();
        self.probe_up_acked_per_inc = INFINITE;
        self.pick_probe_wait();
        self.cycle_stamp = now;
        self.ack_phase = AckPhase::Stopping;
        self.start_round();
        self.enter(Phase::Down, DOWN_PACING, DEFAULT_CWND);
    }

    /// `PickProbeWait`.
    fn pick_probe_wait(&mut self) {
        self.cycle += 1;
        let subject = Subject::unit(self.connection, self.cycle, 0);
        let mut draws = self.draws.as_ref().map(|draws| draws.about(subject));
        let mut up_to = |limit| draws.as_mut().map_or(0, |draws| draws.up_to(limit));
        self.rounds_since_probe_up = up_to(1);
        self.bw_probe_wait = PROBE_WAIT + Span(up_to(PS_PER_S));
    }

    pub(super) fn start_cruise(&mut self) {
        self.enter(Phase::Cruise, 100, DEFAULT_CWND);
    }

    /// `StartProbeBW_REFILL`.
    pub(super) fn start_refill(&mut self) {
        self.reset_short_term();
        (self.bw_probe_up_rounds, self.bw_probe_up_acked) = (0, 0);
        self.prev_probe_precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        self.start_round();
        self.enter(Phase::Refill, 100, DEFAULT_CWND);
    }

    /// `StartProbeBW_UP`.
    pub(super) fn start_up(&mut self, window: &CongestionWindow, sample: &RateSample) {
        self.ack_phase = AckPhase::Starting;
        self.start_round();
        self.reset_full_bw();
        self.full_bw = sample.bits();
        self.enter(Phase::Up, UP_PACING, UP_CWND);
        self.raise_slope(window);
    }

    /// `UpdateProbeBWCyclePhase`.
    pub(super) fn update_probe_bw(&mut self, window: &CongestionWindow, sample: &RateSample) {
        if !self.full_bw_reached || self.adapt_long_term(window, sample) {
            return;
        }
        let phase = self.phase;
        match phase {
            Phase::Down | Phase::Cruise if self.is_time_to_probe(window, sample.now) => self.start_refill(),
            Phase::Down if self.is_time_to_cruise(sample) => self.start_cruise(),
            Phase::Refill if self.round_start => {
                self.is_bw_probe_sample = true;
                self.start_up(window, sample);
            }
            Phase::Up if self.is_time_to_go_down(window, sample) => {
                self.prev_probe_too_high = false;
                self.start_down(sample.now);
            }
            _ => {}
        }
    }

    /// `AdaptLongTermModel`; returns whether it has decided about the state.
    fn adapt_long_term(&mut self, window: &CongestionWindow, sample: &RateSample) -> bool {
        if self.ack_phase == AckPhase::Starting && self.round_start {
            self.ack_phase = AckPhase::Feedback;
        }
        if self.ack_phase == AckPhase::Stopping && self.round_start {
            self.is_bw_probe_sample = false;
            self.ack_phase = AckPhase::Init;
            if self.phase.is_probe_bw() && !sample.is_app_limited {
                self.advance_max_bw_filter();
            }
            if self.phase.is_probe_bw() && self.prev_probe_precautionary && !self.prev_probe_too_high {
                self.start_refill();
                return true;
            }
        }
        if !is_too_high(sample.lost, sample.sent_in_flight) && self.inflight_longterm != INFINITE {
            self.inflight_longterm = self.inflight_longterm.max(sample.sent_in_flight);
            if self.phase == Phase::Up {
                self.probe_upward(window, sample);
            }
        }
        false
    }

    /// `IsTimeToProbeBW`.
    fn is_time_to_probe(&self, window: &CongestionWindow, now: Time) -> bool {
        let reno_rounds = (self.target_inflight(window) / self.mss).min(MOST_ROUNDS);
        let is_round = self.counts_rounds && self.rounds_since_probe_up >= reno_rounds;
        now > self.cycle_stamp + self.bw_probe_wait || is_round
    }

    /// `IsTimeToCruise`.
    fn is_time_to_cruise(&self, sample: &RateSample) -> bool {
        sample.in_flight <= self.inflight_with_headroom() && sample.in_flight <= self.inflight(self.max_bw())
    }

    /// `IsTimeToGoDown`.
    fn is_time_to_go_down(&mut self, window: &CongestionWindow, sample: &RateSample) -> bool {
        if self.prev_probe_too_high && sample.in_flight >= self.inflight_longterm {
            self.prev_probe_precautionary = true;
            return true;
        }
        if sample.is_window_limited && window.cwnd >= self.inflight_longterm {
            self.reset_full_bw();
            self.full_bw = sample.bits();
            return false;
        }
        self.full_bw_now
    }

    /// `RaiseInflightLongtermSlope`.
    pub(super) fn raise_slope(&mut self, window: &CongestionWindow) {
        let growth = 1 << self.bw_probe_up_rounds;
        self.bw_probe_up_rounds = (self.bw_probe_up_rounds + 1).min(STEEPEST);
        self.probe_up_acked_per_inc = (window.cwnd / growth).max(self.mss);
    }

    /// `ProbeInflightLongtermUpward`.
    fn probe_upward(&mut self, window: &CongestionWindow, sample: &RateSample) {
        if !sample.is_window_limited || window.cwnd < self.inflight_longterm {
            return;
        }
        self.bw_probe_up_acked += sample.newly_delivered;
        let steps = self.bw_probe_up_acked / self.probe_up_acked_per_inc;
        self.bw_probe_up_acked -= steps * self.probe_up_acked_per_inc;
        self.inflight_longterm += steps * self.mss;
        if self.round_start {
            self.raise_slope(window);
        }
    }

    /// `CheckProbeRTT`; returns whether what is in flight counts as limited by the application.
    pub(super) fn check_probe_rtt(&mut self, window: &mut CongestionWindow, sample: &RateSample) -> bool {
        if self.phase != Phase::ProbeRtt && self.probe_rtt_expired && !self.idle_restart {
            self.enter(Phase::ProbeRtt, 100, PROBE_RTT_CWND);
            self.save_cwnd(window);
            self.probe_rtt_done_stamp = None;
            self.ack_phase = AckPhase::Stopping;
            self.start_round();
        }
        let is_probing = self.phase == Phase::ProbeRtt;
        if is_probing {
            self.handle_probe_rtt(window, sample);
        }
        self.idle_restart &= sample.volume() == 0;
        is_probing
    }

    /// `HandleProbeRTT`.
    fn handle_probe_rtt(&mut self, window: &mut CongestionWindow, sample: &RateSample) {
        if self.probe_rtt_done_stamp.is_none() {
            if sample.in_flight <= self.probe_rtt_cwnd() {
                self.probe_rtt_done_stamp = Some(sample.now + PROBE_RTT_DURATION);
                self.probe_rtt_round_done = false;
                self.start_round();
            }
            return;
        }
        self.probe_rtt_round_done |= self.round_start;
        if self.probe_rtt_round_done {
            self.check_probe_rtt_done(window, sample.now);
        }
    }

    /// `CheckProbeRTTDone`, with `ExitProbeRTT`.
    pub(super) fn check_probe_rtt_done(&mut self, window: &mut CongestionWindow, now: Time) {
        if self.probe_rtt_done_stamp.is_none_or(|done| now <= done) {
            return;
        }
        self.probe_rtt_min_stamp = now;
        self.restore_cwnd(window);
        self.reset_short_term();
        if self.full_bw_reached {
            self.start_down(now);
            self.start_cruise();
        } else {
            self.enter_startup();
        }
    }

    /// `HandleRestartFromIdle`.
    pub(super) fn handle_restart(&mut self, window: &mut CongestionWindow, now: Time) {
        self.idle_restart = true;
        self.extra_acked_start = now;
        if self.phase.is_probe_bw() {
            self.set_pacing_rate(100);
        } else if self.phase == Phase::ProbeRtt {
            self.check_probe_rtt_done(window, now);
        }
    }
}
