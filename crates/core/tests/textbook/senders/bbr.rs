//! BBR against a second one, ACK by ACK: written from the pseudocode of the draft as one function for each event, with the words of
//! the draft for its states.

use pushout_core::rng::{Keyed, Subject};
use pushout_core::transport::tcp::congestion::{Begin, Evidence};
use pushout_core::transport::tcp::rate::{LostSegment, RateSample};

use super::measured::{MSS, Measures, compare};
use crate::transport::tcp::congestion::Event;

const NONE: u64 = u64::MAX;
const SECOND: u64 = 1_000_000_000_000;

/// The states in the order of their numbers.
const STATES: [&str; 7] =
    ["Startup", "Drain", "ProbeBW_DOWN", "ProbeBW_CRUISE", "ProbeBW_REFILL", "ProbeBW_UP", "ProbeRTT"];

/// The state of the draft; rates in bits per second, volumes in octets, times in picoseconds.
#[derive(Clone, Debug)]
struct Model {
    draws: Keyed,
    connection: u32,
    cycle: u32,
    state: &'static str,
    cwnd: u64,
    initial: u64,
    pacing_rate: u64,
    quantum: u64,
    seen_rtt: bool,
    delivered: u64,
    next_round: u64,
    round_start: bool,
    rounds: u64,
    drain_start: u64,
    bw_now: u64,
    bw_before: u64,
    bw: u64,
    bw_latest: u64,
    bw_short: u64,
    in_latest: u64,
    in_short: u64,
    in_long: u64,
    loss_round: u64,
    loss_round_start: bool,
    loss_in_round: bool,
    ranges: Vec<(u64, u64)>,
    recovering: bool,
    fast_since: Option<u64>,
    aggregated: Vec<(u64, u64)>,
    extra_acked: u64,
    extra_start: u64,
    extra_delivered: u64,
    full_bw: u64,
    full_count: u32,
    full_now: bool,
    full_reached: bool,
    ack_phase: &'static str,
    probe_sample: bool,
    up_acked: u64,
    up_per_inc: u64,
    up_rounds: u32,
    since_up: u64,
    wait: u64,
    cycle_stamp: u64,
    too_high: bool,
    precaution: bool,
    min_rtt: u64,
    min_stamp: u64,
    probe_min: u64,
    probe_stamp: u64,
    expired: bool,
    done: Option<u64>,
    round_done: bool,
    idle_restart: bool,
    /// The last ACK came in ProbeRTT.
    probing_rtt: bool,
    prior_cwnd: u64,
    undo: (&'static str, u64, u64, u64),
}

fn moved(rate: u64, time: u64) -> u64 {
    (u128::from(rate) * u128::from(time) / (8 * u128::from(SECOND))) as u64
}

fn percent(of: u64, percent: u64) -> u64 {
    (u128::from(of) * u128::from(percent) / 100) as u64
}

impl Model {
    fn new(now: u64, rtt: Option<u64>, draws: Keyed, connection: u32, initial: u64) -> Model {
        let mut model = Model {
            draws,
            connection,
            cycle: 0,
            state: "Startup",
            cwnd: initial,
            initial,
            pacing_rate: 0,
            quantum: 0,
            seen_rtt: rtt.is_some(),
            delivered: 0,
            next_round: 0,
            round_start: false,
            rounds: 0,
            drain_start: 0,
            bw_now: 0,
            bw_before: 0,
            bw: 0,
            bw_latest: 0,
            bw_short: NONE,
            in_latest: 0,
            in_short: NONE,
            in_long: NONE,
            loss_round: 0,
            loss_round_start: false,
            loss_in_round: false,
            ranges: Vec::new(),
            recovering: false,
            fast_since: None,
            aggregated: Vec::new(),
            extra_acked: 0,
            extra_start: now,
            extra_delivered: 0,
            full_bw: 0,
            full_count: 0,
            full_now: false,
            full_reached: false,
            ack_phase: "INIT",
            probe_sample: false,
            up_acked: 0,
            up_per_inc: NONE,
            up_rounds: 0,
            since_up: 0,
            wait: 0,
            cycle_stamp: 0,
            too_high: false,
            precaution: false,
            min_rtt: rtt.unwrap_or(NONE),
            min_stamp: now,
            probe_min: rtt.unwrap_or(NONE),
            probe_stamp: now,
            expired: false,
            done: None,
            round_done: false,
            idle_restart: false,
            probing_rtt: false,
            prior_cwnd: 0,
            undo: ("", 0, 0, 0),
        };
        model.first_rate(rtt.unwrap_or(SECOND / 1000));
        model
    }

    fn first_rate(&mut self, rtt: u64) {
        self.pacing_rate =
            (u128::from(8 * 277 * self.initial) * u128::from(SECOND) / u128::from(100 * rtt)) as u64;
        self.set_quantum();
    }

    fn set_quantum(&mut self) {
        self.quantum = (self.pacing_rate / 8000).clamp(0, 65_536).max(2 * MSS);
    }

    fn max_bw(&self) -> u64 {
        self.bw_now.max(self.bw_before)
    }

    fn bdp(&self, bw: u64, gain: u64) -> u64 {
        if self.min_rtt == NONE { self.initial } else { percent(moved(bw, self.min_rtt), gain) }
    }

    fn quantized(&self, octets: u64) -> u64 {
        let up = if self.state == "ProbeBW_UP" { 2 * MSS } else { 0 };
        octets.max(3 * self.quantum).max(4 * MSS) + up
    }

    fn headroom(&self) -> u64 {
        if self.in_long == NONE {
            return NONE;
        }
        (self.in_long - percent(self.in_long, 15).max(MSS).min(self.in_long)).max(4 * MSS)
    }

    fn probe_rtt_cwnd(&self) -> u64 {
        self.bdp(self.bw, 50).max(4 * MSS)
    }

    fn target(&self) -> u64 {
        self.bdp(self.bw, 100).min(self.cwnd)
    }

    fn in_probe_bw(&self) -> bool {
        self.state.starts_with("ProbeBW")
    }

    fn gains(&self) -> (u64, u64) {
        match self.state {
            "Startup" => (277, 200),
            "Drain" => (50, 200),
            "ProbeBW_DOWN" => (90, 200),
            "ProbeBW_UP" => (125, 225),
            "ProbeRTT" => (100, 50),
            _ => (100, 200),
        }
    }

    fn pace(&mut self, gain: u64) {
        let rate = percent(percent(self.bw, gain), 99);
        if self.full_reached || rate > self.pacing_rate {
            self.pacing_rate = rate;
        }
    }

    fn save_cwnd(&mut self) {
        if !self.recovering && self.state != "ProbeRTT" {
            self.prior_cwnd = self.cwnd;
        } else {
            self.prior_cwnd = self.prior_cwnd.max(self.cwnd);
        }
    }

    fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }

    fn save_state(&mut self) {
        self.save_cwnd();
        self.undo = ("", self.bw_short, self.in_short, self.in_long);
    }

    fn reset_full(&mut self) {
        self.full_bw = 0;
        self.full_count = 0;
        self.full_now = false;
    }

    fn down(&mut self, now: u64) {
        self.loss_in_round = false;
        self.bw_latest = 0;
        self.in_latest = 0;
        self.up_per_inc = NONE;
        self.cycle += 1;
        let mut draws = self.draws.about(Subject::unit(self.connection, self.cycle, 0));
        self.since_up = draws.up_to(1);
        self.wait = 2 * SECOND + draws.up_to(SECOND);
        self.cycle_stamp = now;
        self.ack_phase = "STOPPING";
        self.next_round = self.delivered;
        self.state = "ProbeBW_DOWN";
    }

    fn refill(&mut self) {
        self.bw_short = NONE;
        self.in_short = NONE;
        self.up_rounds = 0;
        self.up_acked = 0;
        self.precaution = false;
        self.ack_phase = "REFILLING";
        self.next_round = self.delivered;
        self.state = "ProbeBW_REFILL";
    }

    fn slope(&mut self) {
        let growth = 1u64 << self.up_rounds;
        self.up_rounds = (self.up_rounds + 1).min(30);
        self.up_per_inc = (self.cwnd / growth).max(MSS);
    }

    fn recovered(&mut self) {
        self.recovering = false;
        self.fast_since = None;
        self.restore_cwnd();
    }

    fn note_loss(&mut self) {
        if !self.loss_in_round {
            self.loss_round = self.delivered;
            self.save_state();
        }
        self.loss_in_round = true;
    }

    fn lost(&mut self, packet: &LostSegment) {
        self.delivered = packet.delivered;
        self.note_loss();
        self.ranges.push((packet.start, packet.start + packet.size));
        if !self.probe_sample || packet.lost * 50 <= packet.sent_in_flight {
            return;
        }
        self.too_high = true;
        self.probe_sample = false;
        if !packet.is_app_limited {
            let before = (packet.sent_in_flight - packet.size) as f64;
            let lost_before = (packet.lost - packet.size) as f64;
            let at_loss = before + (before - 50.0 * lost_before) / 49.0;
            // exact but for the last bits of the quotient
            let at_loss = (at_loss.max(0.0) + 1e-9).floor() as u64;
            self.in_long = at_loss.max(percent(self.target(), 70));
        }
        if self.state == "ProbeBW_UP" {
            self.undo.0 = "ProbeBW_UP";
            self.down(packet.now.0);
        }
    }

    fn undo(&mut self) {
        self.restore_cwnd();
        self.loss_in_round = false;
        self.reset_full();
        self.bw_short = self.bw_short.max(self.undo.1);
        self.in_short = self.in_short.max(self.undo.2);
        self.in_long = self.in_long.max(self.undo.3);
        if self.undo.0 == "Startup" && self.state != "Startup" {
            self.full_reached = false;
            if self.state != "ProbeRTT" {
                self.state = "Startup";
            }
        } else if self.undo.0 == "ProbeBW_UP" && self.state != "ProbeBW_UP" && self.state != "ProbeRTT" {
            self.refill();
        }
        self.undo.0 = "";
    }

    fn restart(&mut self, now: u64) {
        self.idle_restart = true;
        self.extra_start = now;
        if self.in_probe_bw() {
            self.pace(100);
        } else if self.state == "ProbeRTT" {
            self.probe_rtt_done(now);
        }
    }

    /// Lost ranges of this round, by octets that follow each other in the order in which they were lost.
    fn lost_ranges(&self) -> usize {
        (0..self.ranges.len()).filter(|&n| n == 0 || self.ranges[n - 1].1 != self.ranges[n].0).count()
    }

    fn ack(&mut self, rs: &RateSample) {
        let now = rs.now.0;
        let (rate, volume) = (rs.rate.map_or(0, |rate| rate.0), rs.delivered - rs.prior_delivered);
        self.delivered = rs.delivered;
        if let (false, Some(rtt)) = (self.seen_rtt, rs.rtt) {
            self.seen_rtt = true;
            self.first_rate(rtt.0);
        }
        // latest delivery signals, congestion signals
        self.bw_latest = self.bw_latest.max(rate);
        self.in_latest = self.in_latest.max(volume);
        self.loss_round_start = volume > 0 && rs.prior_delivered >= self.loss_round;
        if self.loss_round_start {
            self.loss_round = self.delivered;
        }
        self.round_start = volume > 0 && rs.prior_delivered >= self.next_round;
        if self.round_start {
            self.next_round = self.delivered;
            self.rounds += 1;
            self.since_up += 1;
        }
        if rate > 0 && (rate >= self.max_bw() || !rs.is_app_limited) {
            self.bw_now = self.bw_now.max(rate);
        }
        if self.loss_round_start {
            let probing = ["Startup", "ProbeBW_REFILL", "ProbeBW_UP"].contains(&self.state);
            if self.loss_in_round && !probing {
                let bw_short = if self.bw_short == NONE { self.max_bw() } else { self.bw_short };
                let in_short = if self.in_short == NONE { self.cwnd } else { self.in_short };
                self.bw_short = self.bw_latest.max(percent(bw_short, 70));
                self.in_short = self.in_latest.max(percent(in_short, 70));
            }
            self.loss_in_round = false;
        }
        // aggregation
        let expected = moved(self.bw, now - self.extra_start);
        let extra = if self.extra_delivered <= expected {
            self.extra_delivered = rs.newly_delivered;
            self.extra_start = now;
            self.extra_delivered
        } else {
            self.extra_delivered += rs.newly_delivered;
            self.extra_delivered - expected
        };
        self.aggregated.push((self.rounds, extra.min(self.cwnd)));
        let since = self.rounds.saturating_sub(if self.full_reached { 10 } else { 1 });
        self.aggregated.retain(|(round, _)| *round >= since);
        self.extra_acked = self.aggregated.iter().map(|(_, extra)| *extra).max().unwrap();
        // a full pipe
        if !self.full_now && self.round_start && !rs.is_app_limited {
            if 100 * rate >= 125 * self.full_bw {
                self.reset_full();
                self.full_bw = rate;
            } else {
                self.full_count += 1;
                self.full_now = self.full_count >= 3;
                self.full_reached |= self.full_now;
            }
        }
        // Startup, Drain
        if self.state == "Startup" {
            let whole = self.fast_since.is_some_and(|since| rs.prior_delivered >= since);
            let high = rs.lost * 50 > rs.sent_in_flight;
            if self.loss_round_start && whole && high && self.lost_ranges() >= 6 {
                self.undo.0 = "Startup";
                self.full_now = true;
                self.full_reached = true;
                self.in_long = self.bdp(self.bw, 100).max(self.in_latest);
            }
            if self.full_reached {
                self.state = "Drain";
                self.drain_start = self.rounds;
            }
        }
        if self.state == "Drain"
            && (rs.in_flight <= self.quantized(self.bdp(self.bw, 100)) || self.rounds > self.drain_start + 3)
        {
            self.down(now);
        }
        if self.full_reached {
            self.cycle_phase(rs, rate);
        }
        self.round_trips(rs);
        if self.loss_round_start {
            self.bw_latest = rate;
            self.in_latest = volume;
            self.ranges.clear();
        }
        self.bw = self.max_bw().min(self.bw_short);
        self.pace(self.gains().0);
        self.set_quantum();
        self.set_cwnd(rs);
    }

    fn cycle_phase(&mut self, rs: &RateSample, rate: u64) {
        if self.ack_phase == "STARTING" && self.round_start {
            self.ack_phase = "FEEDBACK";
        }
        if self.ack_phase == "STOPPING" && self.round_start {
            self.probe_sample = false;
            self.ack_phase = "INIT";
            if self.in_probe_bw() && !rs.is_app_limited && self.bw_now > 0 {
                (self.bw_before, self.bw_now) = (self.bw_now, 0);
            }
            if self.in_probe_bw() && self.precaution && !self.too_high {
                return self.refill();
            }
        }
        if rs.lost * 50 <= rs.sent_in_flight && self.in_long != NONE {
            self.in_long = self.in_long.max(rs.sent_in_flight);
            if self.state == "ProbeBW_UP" && rs.is_window_limited && self.cwnd >= self.in_long {
                self.up_acked += rs.newly_delivered;
                while self.up_acked >= self.up_per_inc {
                    self.up_acked -= self.up_per_inc;
                    self.in_long += MSS;
                }
                if self.round_start {
                    self.slope();
                }
            }
        }
        let now = rs.now.0;
        let probe = now > self.cycle_stamp + self.wait || self.since_up >= (self.target() / MSS).min(63);
        match self.state {
            "ProbeBW_DOWN" | "ProbeBW_CRUISE" if probe => self.refill(),
            "ProbeBW_DOWN" => {
                let drained = rs.in_flight <= self.quantized(self.bdp(self.max_bw(), 100));
                if drained && rs.in_flight <= self.headroom() {
                    self.state = "ProbeBW_CRUISE";
                }
            }
            "ProbeBW_REFILL" if self.round_start => {
                self.probe_sample = true;
                self.ack_phase = "STARTING";
                self.next_round = self.delivered;
                self.reset_full();
                self.full_bw = rate;
                self.state = "ProbeBW_UP";
                self.slope();
            }
            "ProbeBW_UP" => {
                let down = if self.too_high && rs.in_flight >= self.in_long {
                    self.precaution = true;
                    true
                } else if rs.is_window_limited && self.cwnd >= self.in_long {
                    self.reset_full();
                    self.full_bw = rate;
                    false
                } else {
                    self.full_now
                };
                if down {
                    self.too_high = false;
                    self.down(now);
                }
            }
            _ => {}
        }
    }

    fn round_trips(&mut self, rs: &RateSample) {
        let now = rs.now.0;
        self.expired = now > self.probe_stamp + 5 * SECOND;
        if let Some(rtt) = rs.rtt
            && (rtt.0 < self.probe_min || self.expired)
        {
            self.probe_min = rtt.0;
            self.probe_stamp = now;
        }
        if self.probe_min < self.min_rtt || now > self.min_stamp + 10 * SECOND {
            self.min_rtt = self.probe_min;
            self.min_stamp = self.probe_stamp;
        }
        if self.state != "ProbeRTT" && self.expired && !self.idle_restart {
            self.state = "ProbeRTT";
            self.save_cwnd();
            self.done = None;
            self.ack_phase = "STOPPING";
            self.next_round = self.delivered;
        }
        self.probing_rtt = self.state == "ProbeRTT";
        if self.probing_rtt {
            if self.done.is_none() && rs.in_flight <= self.probe_rtt_cwnd() {
                self.done = Some(now + SECOND / 5);
                self.round_done = false;
                self.next_round = self.delivered;
            } else if self.done.is_some() {
                self.round_done |= self.round_start;
                if self.round_done {
                    self.probe_rtt_done(now);
                }
            }
        }
        if rs.delivered > rs.prior_delivered {
            self.idle_restart = false;
        }
    }

    fn probe_rtt_done(&mut self, now: u64) {
        if self.done.is_some_and(|done| now > done) {
            self.probe_stamp = now;
            self.restore_cwnd();
            self.bw_short = NONE;
            self.in_short = NONE;
            if self.full_reached {
                self.down(now);
                self.state = "ProbeBW_CRUISE";
            } else {
                self.state = "Startup";
            }
        }
    }

    fn set_cwnd(&mut self, rs: &RateSample) {
        let most = self.quantized(self.bdp(self.bw, self.gains().1) + self.extra_acked);
        if self.full_reached {
            self.cwnd = (self.cwnd + rs.newly_delivered).min(most);
        } else if self.cwnd < most || rs.delivered < self.initial {
            self.cwnd += rs.newly_delivered;
        }
        self.cwnd = self.cwnd.max(4 * MSS);
        if self.state == "ProbeRTT" {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd());
        }
        let cap = match self.state {
            "ProbeRTT" | "ProbeBW_CRUISE" => self.headroom(),
            state if state.starts_with("ProbeBW") => self.in_long,
            _ => NONE,
        };
        self.cwnd = self.cwnd.min(cap.min(self.in_short).max(4 * MSS));
    }
}

impl Measures for Model {
    fn begin(begin: &Begin, initial: u64) -> Model {
        Model::new(begin.now.0, begin.rtt.map(|rtt| rtt.0), begin.draws.clone(), begin.connection, initial)
    }

    fn event(&mut self, event: &Event) {
        match event {
            Event::Begin(_) => unreachable!("a connection has begun"),
            Event::Sample(rs) => self.ack(rs),
            Event::Lost(packet) => self.lost(packet),
            Event::Loss(Evidence::Blocks) => {
                self.save_state();
                self.recovering = true;
                self.fast_since = Some(self.delivered);
            }
            Event::Loss(Evidence::Probe) => self.note_loss(),
            Event::Timeout(_) => {
                self.save_state();
                self.recovering = true;
                self.fast_since = None;
                self.cwnd = MSS;
            }
            Event::Recovered => self.recovered(),
            Event::Undo => {
                self.recovered();
                self.undo();
            }
            Event::Restart(now) => self.restart(now.0),
        }
    }

    fn figures(&self) -> Vec<(&'static str, f64)> {
        let bound = |bound: u64| if bound == NONE { 0.0 } else { bound as f64 };
        vec![
            ("phase", self.place() as f64),
            ("pacing_gain", self.gains().0 as f64 / 100.0),
            ("cwnd_gain", self.gains().1 as f64 / 100.0),
            ("pacing_rate_bps", self.pacing_rate as f64),
            ("max_bw_bps", self.max_bw() as f64),
            ("bw_shortterm_bps", bound(self.bw_short)),
            ("min_rtt_s", if self.min_rtt == NONE { 0.0 } else { self.min_rtt as f64 / SECOND as f64 }),
            ("inflight_longterm", bound(self.in_long)),
            ("inflight_shortterm", bound(self.in_short)),
            ("extra_acked", self.extra_acked as f64),
            ("round_count", self.rounds as f64),
            ("full_bw_count", f64::from(self.full_count)),
            ("probe_wait_s", self.wait as f64 / SECOND as f64),
        ]
    }

    fn cwnd(&self) -> u64 {
        self.cwnd
    }

    fn pace(&self) -> u64 {
        self.pacing_rate
    }

    fn places(&self) -> Vec<usize> {
        let bounds = [self.bw_short, self.in_short, self.in_long].map(|bound| bound != NONE);
        let bounds = bounds.iter().enumerate().filter(|(_, is_set)| **is_set);
        [self.place()].into_iter().chain(bounds.map(|(place, _)| STATES.len() + place)).collect()
    }

    fn limits(&self) -> bool {
        self.probing_rtt
    }
}

impl Model {
    /// The number of the state.
    fn place(&self) -> usize {
        STATES.iter().position(|state| *state == self.state).unwrap()
    }
}

#[test]
fn a_second_bbr_finds_the_same_states_rates_and_windows() {
    let (all, count) = compare::<Model>(&["congestion = \"bbr\""], 40);
    assert!(all.samples > 500 * count && all.losses > 20 * count, "{all:?}");
    assert!(all.places[..10].iter().all(|&visits| visits > count), "{all:?}");
    assert!(all.timeouts > 0 && all.undone > 0 && all.restarts > count / 2, "{all:?}");
}
