//! What the model sets: pacing rate, send quantum and window (section "Updating Control Parameters").

use super::model::{octets, share};
use super::state::{Bbr, INFINITE, Phase};
use crate::transport::tcp::congestion::{Begin, CongestionWindow};
use crate::transport::tcp::rate::RateSample;
use crate::units::{PS_PER_S, Span};

/// `StartupPacingGain`, in percent: the gain of the first rate.
const FIRST_GAIN: u64 = 277;
/// The round trip that is assumed without a measurement.
const FIRST_ROUND_TRIP: Span = Span::millis(1);
/// 100 % minus `PacingMarginPercent`.
const PACING_SHARE: u64 = 99;
/// The largest send quantum, and its parts of a second.
const LARGEST_QUANTUM: u64 = 65_536;
const QUANTUM_PART: u64 = 1000;
/// Quanta of the offload budget of TCP.
const OFFLOAD_QUANTA: u64 = 3;
/// `MinPipeCwnd`, in segments.
const MIN_PIPE: u64 = 4;
/// `ProbeRTTCwndGain` and `Headroom`, in percent.
const PROBE_RTT_SHARE: u64 = 50;
const HEADROOM: u64 = 15;

/// Return a rate of bits per second times a gain in percent.
fn times(rate: u64, gain: u64) -> u64 {
    (u128::from(rate) * u128::from(gain) / 100).min(u128::from(INFINITE)) as u64
}

impl Bbr {
    /// `OnInit`, when a connection is established.
    pub(super) fn begin(&mut self, begin: Begin) {
        (self.draws, self.connection) = (Some(begin.draws), begin.connection);
        let now = begin.now;
        (self.min_rtt_stamp, self.probe_rtt_min_stamp, self.extra_acked_start) = (now, now, now);
        if let Some(rtt) = begin.rtt {
            (self.min_rtt, self.probe_rtt_min_delay, self.has_rtt) = (rtt, rtt, true);
        }
        self.init_pacing_rate(begin.rtt);
    }

    /// Set the first pacing rate once more by the first round trip, if the connection began without one.
    pub(super) fn meet_first_rtt(&mut self, sample: &RateSample) {
        if let Some(rtt) = sample.rtt.filter(|_| !self.has_rtt) {
            self.has_rtt = true;
            self.init_pacing_rate(Some(rtt));
        }
    }

    /// `InitPacingRate`.
    pub(super) fn init_pacing_rate(&mut self, rtt: Option<Span>) {
        let rtt = rtt.filter(|rtt| *rtt > Span::ZERO).unwrap_or(FIRST_ROUND_TRIP);
        let bits = u128::from(8 * self.initial_cwnd) * u128::from(FIRST_GAIN);
        let rate = bits * u128::from(PS_PER_S) / (100 * u128::from(rtt.0));
        self.pacing_rate = rate.min(u128::from(INFINITE)) as u64;
        self.set_send_quantum();
    }

    /// `SetPacingRateWithGain`, for a gain in percent: before the pipe is full the rate only rises.
    pub(super) fn set_pacing_rate(&mut self, gain: u64) {
        let rate = times(times(self.bw, gain), PACING_SHARE);
        if self.full_bw_reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    /// `SetSendQuantum`.
    pub(super) fn set_send_quantum(&mut self) {
        let quantum = self.pacing_rate / 8 / QUANTUM_PART;
        self.send_quantum = quantum.min(LARGEST_QUANTUM).max(2 * self.mss);
    }

    /// `BBR.bdp` at a rate; the first window without a round trip.
    pub(super) fn bdp(&self, bw: u64) -> u64 {
        if self.min_rtt == Span::FOREVER { self.initial_cwnd } else { octets(bw, self.min_rtt) }
    }

    /// `BDPMultiple`, for a gain in percent.
    fn bdp_multiple(&self, bw: u64, gain: u64) -> u64 {
        if self.min_rtt == Span::FOREVER { self.initial_cwnd } else { times(self.bdp(bw), gain) }
    }

    /// `QuantizationBudget`.
    fn quantized(&self, inflight: u64) -> u64 {
        let least = (OFFLOAD_QUANTA * self.send_quantum).max(MIN_PIPE * self.mss);
        inflight.max(least).saturating_add(if self.phase == Phase::Up { 2 * self.mss } else { 0 })
    }

    /// `Inflight` at a gain of 1.
    pub(super) fn inflight(&self, bw: u64) -> u64 {
        self.quantized(self.bdp(bw))
    }

    /// `TargetInflight`.
    pub(super) fn target_inflight(&self, window: &CongestionWindow) -> u64 {
        self.bdp(self.bw).min(window.cwnd)
    }

    /// `InflightWithHeadroom`.
    pub(super) fn inflight_with_headroom(&self) -> u64 {
        if self.inflight_longterm == INFINITE {
            return INFINITE;
        }
        let headroom = share(self.inflight_longterm, HEADROOM).max(self.mss);
        self.inflight_longterm.saturating_sub(headroom).max(MIN_PIPE * self.mss)
    }

    /// `ProbeRTTCwnd`.
    pub(super) fn probe_rtt_cwnd(&self) -> u64 {
        self.bdp_multiple(self.bw, PROBE_RTT_SHARE).max(MIN_PIPE * self.mss)
    }

    /// `SaveCwnd`.
    pub(super) fn save_cwnd(&mut self, window: &CongestionWindow) {
        let is_modulated = self.in_recovery || self.phase == Phase::ProbeRtt;
        self.prior_cwnd = if is_modulated { self.prior_cwnd.max(window.cwnd) } else { window.cwnd };
    }

    /// `RestoreCwnd`.
    pub(super) fn restore_cwnd(&self, window: &mut CongestionWindow) {
        window.cwnd = window.cwnd.max(self.prior_cwnd);
    }

    /// `SetCwnd`.
    pub(super) fn set_cwnd(&mut self, window: &mut CongestionWindow, sample: &RateSample) {
        let most =
            self.quantized(self.bdp_multiple(self.bw, self.cwnd_gain).saturating_add(self.extra_acked));
        let opened = window.cwnd + sample.newly_delivered;
        if self.full_bw_reached {
            window.cwnd = opened.min(most);
        } else if window.cwnd < most || sample.delivered < self.initial_cwnd {
            window.cwnd = opened;
        }
        window.cwnd = window.cwnd.max(MIN_PIPE * self.mss).min(self.cap()).min(window.limit());
    }

    /// `BoundCwndForProbeRTT` and `BoundCwndForModel`.
    fn cap(&self) -> u64 {
        let of_state = match self.phase {
            Phase::Down | Phase::Refill | Phase::Up => self.inflight_longterm,
            Phase::Cruise => self.inflight_with_headroom(),
            Phase::ProbeRtt => self.inflight_with_headroom().min(self.probe_rtt_cwnd()),
            Phase::Startup | Phase::Drain => INFINITE,
        };
        of_state.min(self.inflight_shortterm).max(MIN_PIPE * self.mss)
    }
}
