//! The variables of a sender, by the names of the draft.

use std::collections::VecDeque;

use crate::rng::Keyed;
use crate::transport::tcp::Params;
use crate::units::{Span, Time};

/// No bound.
pub(super) const INFINITE: u64 = u64::MAX;

/// The model of a path and the state of its sender; rates in bits per second, volumes in octets of data.
#[derive(Clone, Debug)]
pub(super) struct Bbr {
    pub(super) mss: u64,
    pub(super) initial_cwnd: u64,
    /// Rounds end a wait for a probe, and losses bound the model.
    pub(super) counts_rounds: bool,
    pub(super) bounds_losses: bool,
    /// The numbers of the flow, the connection and the cycle for which waits are drawn.
    pub(super) draws: Option<Keyed>,
    pub(super) connection: u32,
    pub(super) cycle: u32,
    pub(super) phase: Phase,
    pub(super) pacing_gain: u64,
    pub(super) cwnd_gain: u64,
    pub(super) pacing_rate: u64,
    pub(super) send_quantum: u64,
    /// What was in flight at the last ACK, and whether the application was the limit of what it reported.
    pub(super) inflight: u64,
    pub(super) is_app_limited: bool,
    pub(super) has_rtt: bool,
    pub(super) idle_restart: bool,
    pub(super) in_recovery: bool,
    /// Octets delivered when the present fast recovery began.
    pub(super) recovery_start: Option<u64>,
    /// Rounds.
    pub(super) delivered: u64,
    pub(super) next_round_delivered: u64,
    pub(super) round_start: bool,
    pub(super) round_count: u64,
    pub(super) drain_start_round: u64,
    /// Rate: of the previous cycle and of this one.
    pub(super) max_bw_filter: [u64; 2],
    pub(super) cycle_count: u64,
    pub(super) bw: u64,
    pub(super) bw_latest: u64,
    pub(super) bw_shortterm: u64,
    /// Volumes.
    pub(super) inflight_latest: u64,
    pub(super) inflight_shortterm: u64,
    pub(super) inflight_longterm: u64,
    pub(super) loss_round_delivered: u64,
    pub(super) loss_round_start: bool,
    pub(super) is_loss_in_round: bool,
    /// Separate ranges lost in this round, and the octet after the last lost one.
    pub(super) loss_ranges: u32,
    pub(super) last_lost: u64,
    /// Aggregation.
    pub(super) extra_acked: u64,
    pub(super) extra_acked_filter: MaxFilter,
    pub(super) extra_acked_start: Time,
    pub(super) extra_acked_delivered: u64,
    /// Search for a full pipe.
    pub(super) full_bw: u64,
    pub(super) full_bw_count: u32,
    pub(super) full_bw_now: bool,
    pub(super) full_bw_reached: bool,
    /// Probes for bandwidth.
    pub(super) ack_phase: AckPhase,
    pub(super) is_bw_probe_sample: bool,
    pub(super) bw_probe_up_acked: u64,
    pub(super) probe_up_acked_per_inc: u64,
    pub(super) bw_probe_up_rounds: u32,
    pub(super) rounds_since_probe_up: u64,
    pub(super) bw_probe_wait: Span,
    pub(super) cycle_stamp: Time,
    pub(super) prev_probe_too_high: bool,
    pub(super) prev_probe_precautionary: bool,
    /// Round trips.
    pub(super) min_rtt: Span,
    pub(super) min_rtt_stamp: Time,
    pub(super) probe_rtt_min_delay: Span,
    pub(super) probe_rtt_min_stamp: Time,
    pub(super) probe_rtt_expired: bool,
    pub(super) probe_rtt_done_stamp: Option<Time>,
    pub(super) probe_rtt_round_done: bool,
    /// What a loss that was none restores.
    pub(super) prior_cwnd: u64,
    pub(super) undo_phase: Option<Phase>,
    pub(super) undo_bw_shortterm: u64,
    pub(super) undo_inflight_shortterm: u64,
    pub(super) undo_inflight_longterm: u64,
}

/// The state of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl Phase {
    /// `IsInAProbeBWState`.
    pub(super) fn is_probe_bw(self) -> bool {
        matches!(self, Phase::Down | Phase::Cruise | Phase::Refill | Phase::Up)
    }

    /// `IsProbingBW`.
    pub(super) fn is_probing(self) -> bool {
        matches!(self, Phase::Startup | Phase::Refill | Phase::Up)
    }
}

/// What ACKs say about a probe for bandwidth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AckPhase {
    Init,
    Refilling,
    Starting,
    Feedback,
    Stopping,
}

/// The largest value of the last rounds.
#[derive(Clone, Debug, Default)]
pub(super) struct MaxFilter(VecDeque<(u64, u64)>);

impl MaxFilter {
    /// Add a value of the round `now`; return the largest one that is at most `rounds` rounds old.
    pub(super) fn update(&mut self, now: u64, value: u64, rounds: u64) -> u64 {
        while self.0.back().is_some_and(|(_, other)| *other <= value) {
            self.0.pop_back();
        }
        self.0.push_back((now, value));
        while self.0.front().is_some_and(|(since, _)| now - since > rounds) {
            self.0.pop_front();
        }
        self.0.front().map_or(0, |(_, largest)| *largest)
    }
}

impl Bbr {
    /// The state before a connection.
    pub(super) fn blank(params: &Params) -> Bbr {
        let mss = params.segment_data();
        Bbr {
            mss,
            initial_cwnd: mss * u64::from(params.initial_window),
            counts_rounds: params.bbr_rounds,
            bounds_losses: params.bbr_loss_bounds,
            draws: None,
            connection: 0,
            cycle: 0,
            phase: Phase::Startup,
            pacing_gain: 0,
            cwnd_gain: 0,
            pacing_rate: 0,
            send_quantum: 0,
            inflight: 0,
            is_app_limited: false,
            has_rtt: false,
            idle_restart: false,
            in_recovery: false,
            recovery_start: None,
            delivered: 0,
            next_round_delivered: 0,
            round_start: false,
            round_count: 0,
            drain_start_round: 0,
            max_bw_filter: [0; 2],
            cycle_count: 0,
            bw: 0,
            bw_latest: 0,
            bw_shortterm: INFINITE,
            inflight_latest: 0,
            inflight_shortterm: INFINITE,
            inflight_longterm: INFINITE,
            loss_round_delivered: 0,
            loss_round_start: false,
            is_loss_in_round: false,
            loss_ranges: 0,
            last_lost: 0,
            extra_acked: 0,
            extra_acked_filter: MaxFilter::default(),
            extra_acked_start: Time::ZERO,
            extra_acked_delivered: 0,
            full_bw: 0,
            full_bw_count: 0,
            full_bw_now: false,
            full_bw_reached: false,
            ack_phase: AckPhase::Init,
            is_bw_probe_sample: false,
            bw_probe_up_acked: 0,
            probe_up_acked_per_inc: INFINITE,
            bw_probe_up_rounds: 0,
            rounds_since_probe_up: 0,
            bw_probe_wait: Span::ZERO,
            cycle_stamp: Time::ZERO,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
            min_rtt: Span::FOREVER,
            min_rtt_stamp: Time::ZERO,
            probe_rtt_min_delay: Span::FOREVER,
            probe_rtt_min_stamp: Time::ZERO,
            probe_rtt_expired: false,
            probe_rtt_done_stamp: None,
            probe_rtt_round_done: false,
            prior_cwnd: 0,
            undo_phase: None,
            undo_bw_shortterm: 0,
            undo_inflight_shortterm: 0,
            undo_inflight_longterm: 0,
        }
    }
}
