//! The model of the path: rates, volumes, aggregation and round trips (section "Updating Network Path Model Parameters"), and what
//! losses change of it.

use super::state::{Bbr, INFINITE, Phase};
use crate::transport::tcp::congestion::CongestionWindow;
use crate::transport::tcp::rate::{LostSegment, RateSample};
use crate::units::{PS_PER_S, Span};

/// `Beta`, in percent.
const BETA: u64 = 70;
/// `LossThresh`: a part of 50, 2 %.
const LOSS_PART: u64 = 50;
/// `MinRTTFilterLen` and `ProbeRTTInterval`.
const MIN_RTT_FILTER: Span = Span::secs(10);
const PROBE_RTT_INTERVAL: Span = Span::secs(5);
/// `ExtraAckedFilterLen`, in rounds, and its length before the pipe is full.
const EXTRA_ACKED_ROUNDS: u64 = 10;
const EXTRA_ACKED_AT_FIRST: u64 = 1;

/// Return whether losses suggest that too much was in flight: `IsInflightTooHigh`.
pub(super) fn is_too_high(lost: u64, in_flight: u64) -> bool {
    lost.saturating_mul(LOSS_PART) > in_flight
}

/// Return what was in flight when the share of losses passed 2 %, within a segment of `size` octets: `InflightAtLoss`, whose sum
/// `prev + (0.02 · prev − lost_prev) / 0.98` is 50 · (prev − lost_prev) / 49.
pub(super) fn inflight_at_loss(in_flight: u64, lost: u64, size: u64) -> u64 {
    let (before, lost_before) = (in_flight.saturating_sub(size), lost.saturating_sub(size));
    before.saturating_sub(lost_before) * LOSS_PART / (LOSS_PART - 1)
}

/// Return a bound after a round with a loss: what the round delivered, but no less than 70 % of the bound.
pub(super) fn lowered(bound: u64, latest: u64) -> u64 {
    latest.max(share(bound, BETA))
}

/// Return some percent of a number.
pub(super) fn share(number: u64, percent: u64) -> u64 {
    (u128::from(number) * u128::from(percent) / 100) as u64
}

/// Return the octets that a rate of bits per second moves in a time.
pub(super) fn octets(rate: u64, time: Span) -> u64 {
    let octets = u128::from(rate) * u128::from(time.0) / (8 * u128::from(PS_PER_S));
    u64::try_from(octets).unwrap_or(INFINITE)
}

impl Bbr {
    pub(super) fn max_bw(&self) -> u64 {
        let [previous, current] = self.max_bw_filter;
        previous.max(current)
    }

    /// `StartRound`.
    pub(super) fn start_round(&mut self) {
        self.next_round_delivered = self.delivered;
    }

    /// `UpdateLatestDeliverySignals`.
    pub(super) fn update_latest_signals(&mut self, sample: &RateSample) {
        self.loss_round_start = false;
        self.bw_latest = self.bw_latest.max(sample.bits());
        self.inflight_latest = self.inflight_latest.max(sample.volume());
        if sample.volume() > 0 && sample.prior_delivered >= self.loss_round_delivered {
            self.loss_round_delivered = sample.delivered;
            self.loss_round_start = true;
        }
    }

    /// `AdvanceLatestDeliverySignals`.
    pub(super) fn advance_latest_signals(&mut self, sample: &RateSample) {
        if self.loss_round_start {
            (self.bw_latest, self.inflight_latest) = (sample.bits(), sample.volume());
            self.loss_ranges = 0;
        }
    }

    /// `ResetCongestionSignals`.
    pub(super) fn reset_congestion_signals(&mut self) {
        (self.is_loss_in_round, self.bw_latest, self.inflight_latest) = (false, 0, 0);
    }

    /// `UpdateCongestionSignals`.
    pub(super) fn update_congestion_signals(&mut self, window: &CongestionWindow, sample: &RateSample) {
        self.update_max_bw(sample);
        if self.loss_round_start {
            self.adapt_lower_bounds(window);
            self.is_loss_in_round = false;
        }
    }

    /// `UpdateMaxBw`, with `UpdateRound`.
    fn update_max_bw(&mut self, sample: &RateSample) {
        self.update_round(sample);
        let rate = sample.bits();
        if rate > 0 && (rate >= self.max_bw() || !sample.is_app_limited) {
            self.max_bw_filter[1] = self.max_bw_filter[1].max(rate);
        }
    }

    fn update_round(&mut self, sample: &RateSample) {
        self.round_start = sample.volume() > 0 && sample.prior_delivered >= self.next_round_delivered;
        if self.round_start {
            self.start_round();
            self.round_count += 1;
            self.rounds_since_probe_up += 1;
        }
    }

    /// `AdvanceMaxBwFilter`: a cycle ends; one without a sample changes nothing.
    pub(super) fn advance_max_bw_filter(&mut self) {
        self.cycle_count += 1;
        if self.max_bw_filter[1] > 0 {
            self.max_bw_filter = [self.max_bw_filter[1], 0];
        }
    }

    /// `AdaptLowerBoundsFromCongestion`.
    fn adapt_lower_bounds(&mut self, window: &CongestionWindow) {
        if self.phase.is_probing() || !self.is_loss_in_round || !self.bounds_losses {
            return;
        }
        if self.bw_shortterm == INFINITE {
            self.bw_shortterm = self.max_bw();
        }
        if self.inflight_shortterm == INFINITE {
            self.inflight_shortterm = window.cwnd;
        }
        self.bw_shortterm = lowered(self.bw_shortterm, self.bw_latest);
        self.inflight_shortterm = lowered(self.inflight_shortterm, self.inflight_latest);
    }

    /// `ResetShortTermModel`.
    pub(super) fn reset_short_term(&mut self) {
        (self.bw_shortterm, self.inflight_shortterm) = (INFINITE, INFINITE);
    }

    /// `BoundBWForModel`.
    pub(super) fn bound_bw(&mut self) {
        self.bw = self.max_bw().min(self.bw_shortterm);
    }

    /// `UpdateACKAggregation`.
    pub(super) fn update_ack_aggregation(&mut self, window: &CongestionWindow, sample: &RateSample) {
        let mut expected = octets(self.bw, sample.now.since(self.extra_acked_start));
        if self.extra_acked_delivered <= expected {
            (self.extra_acked_delivered, self.extra_acked_start, expected) = (0, sample.now, 0);
        }
        self.extra_acked_delivered += sample.newly_delivered;
        let extra = (self.extra_acked_delivered - expected).min(window.cwnd);
        let rounds = if self.full_bw_reached { EXTRA_ACKED_ROUNDS } else { EXTRA_ACKED_AT_FIRST };
        self.extra_acked = self.extra_acked_filter.update(self.round_count, extra, rounds);
    }

    /// `UpdateMinRTT`.
    pub(super) fn update_min_rtt(&mut self, sample: &RateSample) {
        let now = sample.now;
        self.probe_rtt_expired = now > self.probe_rtt_min_stamp + PROBE_RTT_INTERVAL;
        if let Some(rtt) = sample.rtt.filter(|rtt| *rtt < self.probe_rtt_min_delay || self.probe_rtt_expired)
        {
            (self.probe_rtt_min_delay, self.probe_rtt_min_stamp) = (rtt, now);
        }
        let is_expired = now > self.min_rtt_stamp + MIN_RTT_FILTER;
        if self.probe_rtt_min_delay < self.min_rtt || is_expired {
            (self.min_rtt, self.min_rtt_stamp) = (self.probe_rtt_min_delay, self.probe_rtt_min_stamp);
        }
    }

    /// `NoteLoss`: the first loss of a round begins a round of its own.
    pub(super) fn note_loss(&mut self, window: &CongestionWindow) {
        if !self.is_loss_in_round {
            self.loss_round_delivered = self.delivered;
            self.save_upon_loss(window);
        }
        self.is_loss_in_round = true;
    }

    /// `HandleLostPacket`.
    pub(super) fn handle_lost(&mut self, window: &CongestionWindow, lost: &LostSegment) {
        self.delivered = lost.delivered;
        self.note_loss(window);
        self.loss_ranges += u32::from(self.loss_ranges == 0 || lost.start != self.last_lost);
        self.last_lost = lost.start + lost.size;
        let may_bound = self.is_bw_probe_sample && self.bounds_losses;
        if may_bound && is_too_high(lost.lost, lost.sent_in_flight) {
            self.handle_too_high(window, lost);
        }
    }

    /// `HandleInflightTooHigh`.
    fn handle_too_high(&mut self, window: &CongestionWindow, lost: &LostSegment) {
        (self.prev_probe_too_high, self.is_bw_probe_sample) = (true, false);
        if !lost.is_app_limited {
            let at_loss = inflight_at_loss(lost.sent_in_flight, lost.lost, lost.size);
            self.inflight_longterm = at_loss.max(share(self.target_inflight(window), BETA));
        }
        if self.phase == Phase::Up {
            self.undo_phase = Some(Phase::Up);
            self.start_down(lost.now);
        }
    }

    /// `SaveStateUponLoss`.
    fn save_upon_loss(&mut self, window: &CongestionWindow) {
        self.save_cwnd(window);
        self.undo_phase = None;
        self.undo_bw_shortterm = self.bw_shortterm;
        self.undo_inflight_shortterm = self.inflight_shortterm;
        self.undo_inflight_longterm = self.inflight_longterm;
    }

    /// `OnEnterFastRecovery`.
    pub(super) fn enter_recovery(&mut self, window: &CongestionWindow) {
        self.save_upon_loss(window);
        (self.in_recovery, self.recovery_start) = (true, Some(self.delivered));
    }

    /// `OnEnterRTO`: all that was in flight counts as lost, and one segment is sent.
    pub(super) fn enter_timeout(&mut self, window: &mut CongestionWindow) {
        self.save_upon_loss(window);
        (self.in_recovery, self.recovery_start) = (true, None);
        window.cwnd = self.mss;
    }

    /// End a recovery.
    pub(super) fn leave_recovery(&mut self, window: &mut CongestionWindow) {
        (self.in_recovery, self.recovery_start) = (false, None);
        self.restore_cwnd(window);
    }

    /// `HandleSpuriousLossDetection`.
    pub(super) fn handle_spurious_loss(&mut self, window: &mut CongestionWindow) {
        self.restore_cwnd(window);
        self.is_loss_in_round = false;
        self.reset_full_bw();
        self.bw_shortterm = self.bw_shortterm.max(self.undo_bw_shortterm);
        self.inflight_shortterm = self.inflight_shortterm.max(self.undo_inflight_shortterm);
        self.inflight_longterm = self.inflight_longterm.max(self.undo_inflight_longterm);
        match self.undo_phase.take() {
            Some(Phase::Startup) if self.phase != Phase::Startup => {
                self.full_bw_reached = false;
                if self.phase != Phase::ProbeRtt {
                    self.enter_startup();
                }
            }
            Some(Phase::Up) if self.phase != Phase::Up && self.phase != Phase::ProbeRtt => {
                self.start_refill();
            }
            _ => {}
        }
    }
}
