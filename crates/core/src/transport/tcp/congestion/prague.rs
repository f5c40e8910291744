//! # Source
//! K. De Schepper, O. Tilmans and B. Briscoe, "Prague Congestion Control", draft-briscoe-iccrg-prague-congestion-control; the
//! reference code of its authors, L4STeam/udp_prague@e8e34353, `prague_cc.cpp`, of which these are the integers: microseconds,
//! millionths of octets for the window, 2⁻²⁰ for α.
//!
//! # Idea
//! A sender for L4S (RFC 9331): its packets bear ECT(1), ports mark them at a shallow queue, and a mark reduces the window by half of the
//! average share of marks α, as in DCTCP. Two things are new. The clock of α, of growth and of reductions is a *virtual* round trip of
//! at least 25 ms, and the window grows by (srtt / vrtt)² of a packet in a round trip, so that flows with short round trips take no more
//! than others. And the sender paces, at window ÷ srtt, 3 % faster in the first half of a virtual round trip and 3 % slower in the second.
//!
//! > α ← α + (p − α) / 16,   W ← W · (1 − α / 2),   W ← W + acks · size² / W · (srtt / vrtt)²
//!
//! After a wait of 7 virtual round trips, and one more for each 15.36 Mb/s, without a reduction the window grows by 1 ms of queue a round
//! trip instead of a packet. Below 2 ms, or below the time of a packet, the rate is the variable instead of the window.
//!
//! # Parameters
//! `feedback`, what ACKs report about marks: `accecn` or `counters`; `initial_window`, which is sent in the first virtual round trip;
//! `prague_rtt`, the shortest virtual round trip (25 ms; 0 s for control experiments: then growth depends on round trips as in DCTCP).
//! `ecn`, `l4s`, `sack` and pacing are on. Without a `profile` the other keys are those of `profile = "linux"`. `measure.state` samples
//! α, rate and round trips.
//!
//! # Differences from the paper
//! Segments keep their size, where the reference shrinks packets to 150 octets at low rates: so the least rate is two segments in 25 ms,
//! and the first one is that of `initial_window`, where the reference begins at 100 kb/s. Received, marked and lost packets are those
//! that ACKs, blocks and the recovery report; a packet counts as lost when the recovery says so, not at once with a gap. All ECN
//! fields are taken as valid. There is no mode for frames of video, and no detection of ports that mark as for classic senders.
//!
//! # Complexity
//! O(1) for each ACK; some thirty numbers for each connection, and those of samples for each segment in flight.

use super::{Ack, Begin, Congestion, CongestionWindow, Facts, Loss, Needs, Pace, Reaction, Timeout, Upshot};
use crate::metrics::state::Figure;
use crate::transport::tcp::Params;
use crate::transport::tcp::rate::{LostSegment, RateSample};
use crate::units::{Rate, Time};

/// Microseconds: the reference round trip, queue growth and burst.
const REF_RTT: u64 = 25_000;
const QUEUE_GROWTH: u64 = 1_000;
const BURST_TIME: u64 = 250;
/// Round trip up to which the rate is the variable.
const SHORT_RTT: u64 = 2_000;
/// Virtual round trips before growth, and octets per second for each one more.
const MIN_STEP: i64 = 7;
const RATE_STEP: u64 = 1_920_000;
const PROB_SHIFT: u32 = 20;
const MAX_PROB: i64 = 1 << PROB_SHIFT;
const ALPHA_PART: i64 = 16;
const MIN_WINDOW: u64 = 2;
const MAX_RATE: u64 = 12_500_000_000;
/// Percent by which the pace is higher in the first half of a virtual round trip, and lower in the second.
const OFFSET: u64 = 3;
const MILLION: u64 = 1_000_000;

/// A Prague sender. Its state is separate, so that other senders need no room for it.
#[derive(Clone, Debug)]
pub struct Control(Box<Prague>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Init,
    Avoid,
    InLoss,
    InCwr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Window,
    Rate,
}

/// Counts of packets at an instant.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    received: u64,
    marked: u64,
    lost: u64,
    sent: u64,
}

#[derive(Clone, Debug)]
struct Prague {
    size: u64,
    init_rate: u64,
    min_rate: u64,
    /// Shortest virtual round trip, in microseconds.
    least_vrtt: u64,
    /// Microseconds; 0 before a measurement.
    srtt: u64,
    vrtt: u64,
    state: State,
    mode: Mode,
    alpha: i64,
    /// Octets per second.
    rate: u64,
    /// Millionths of octets.
    window: u64,
    rtts_to_growth: i64,
    /// Octets delivered and lost, and the counts of the last ACK.
    octets: (u64, u64),
    counts: Counts,
    /// When α was updated last, and the counts then.
    alpha_at: u64,
    alpha_counts: Counts,
    /// The last reduction for a loss, to be taken back.
    lost_window: u64,
    lost_rate: u64,
    lost_rtts_to_growth: i64,
    loss_mode: Mode,
    loss_at: u64,
    loss_sent: u64,
    cwr_at: u64,
    cwr_sent: u64,
    is_first_half: bool,
}

/// Return `a / divisor`, rounded to the nearest; a division by 0 gives the largest number.
fn rounded(a: u128, divisor: u128) -> u64 {
    (a + divisor / 2).checked_div(divisor).and_then(|quotient| quotient.try_into().ok()).unwrap_or(u64::MAX)
}

/// Return α after a virtual round trip in which `marked` of `received` packets were marked.
fn averaged(alpha: i64, marked: u64, received: u64) -> i64 {
    let share = ((marked << PROB_SHIFT) / received) as i64;
    (alpha + (share - alpha) / ALPHA_PART).min(MAX_PROB)
}

/// Return half of the share `alpha` of a window or rate.
fn half_share(of: u64, alpha: i64) -> u64 {
    ((u128::from(of) * alpha as u128) >> (PROB_SHIFT + 1)) as u64
}

/// Return the wait for growth at a rate, in virtual round trips.
fn wait_for_growth(rate: u64) -> i64 {
    (rate / RATE_STEP) as i64 + MIN_STEP
}

impl Control {
    pub(super) fn new(params: &Params) -> Control {
        let size = params.segment_data();
        let min_rate = (MIN_WINDOW * size * MILLION / REF_RTT).min(MAX_RATE);
        let first = u128::from(params.initial_window) * u128::from(size * MILLION / REF_RTT);
        let init_rate = first.clamp(min_rate.into(), MAX_RATE.into()) as u64;
        let least = params.prague_rtt.0 / MILLION;
        Control(Box::new(Prague {
            least_vrtt: least,
            vrtt: least.max(1),
            ..Prague::new(size, init_rate, min_rate)
        }))
    }
}

impl Prague {
    fn new(size: u64, init_rate: u64, min_rate: u64) -> Prague {
        Prague {
            size,
            init_rate,
            min_rate,
            least_vrtt: REF_RTT,
            srtt: 0,
            vrtt: REF_RTT,
            state: State::Init,
            mode: Mode::Window,
            alpha: 0,
            rate: init_rate,
            window: 0,
            rtts_to_growth: wait_for_growth(init_rate),
            octets: (0, 0),
            counts: Counts::default(),
            alpha_at: 0,
            alpha_counts: Counts::default(),
            lost_window: 0,
            lost_rate: 0,
            lost_rtts_to_growth: 0,
            loss_mode: Mode::Window,
            loss_at: 0,
            loss_sent: 0,
            cwr_at: 0,
            cwr_sent: 0,
            is_first_half: true,
        }
    }

    /// Add the measurement of a round trip.
    fn measure(&mut self, rtt: u64) {
        self.srtt = match self.state {
            State::Init => rtt,
            _ => (self.srtt as i64 + ((rtt as i64 - self.srtt as i64) >> 3)) as u64,
        };
        self.vrtt = self.srtt.max(self.least_vrtt).max(1);
    }

    /// Return the counts after an ACK.
    fn counted(&mut self, sample: &RateSample) -> Counts {
        self.octets.0 += sample.newly_delivered;
        let (received, lost) = (self.octets.0 / self.size, self.octets.1 / self.size);
        let sent = received + lost + sample.in_flight / self.size;
        Counts { received, lost, sent, marked: self.counts.marked + sample.newly_marked }
    }

    /// React to an ACK, in the order of the reference; returns whether marks reduced the window.
    fn acknowledge(&mut self, now: u64, counts: Counts) -> bool {
        if self.state == State::Init {
            self.window = self.srtt.saturating_mul(self.rate);
            self.state = State::Avoid;
        }
        self.choose_mode();
        self.update_alpha(now, counts);
        let is_over = |at: u64, sent: u64| counts.received + counts.lost > sent && now - at >= self.vrtt;
        if self.state == State::InLoss && is_over(self.loss_at, self.loss_sent) {
            self.state = State::Avoid;
        }
        if self.state != State::InLoss && counts.lost > self.counts.lost {
            self.reduce_for_loss(now, counts);
        }
        let acks =
            (counts.received - self.counts.received).saturating_sub(counts.marked - self.counts.marked);
        if self.state != State::InLoss && acks > 0 {
            self.grow(acks);
        }
        let is_over = |at: u64, sent: u64| counts.received + counts.lost > sent && now - at >= self.vrtt;
        if self.state == State::InCwr && is_over(self.cwr_at, self.cwr_sent) {
            self.state = State::Avoid;
        }
        let is_marked = self.state == State::Avoid && counts.marked > self.counts.marked;
        if is_marked {
            self.reduce_for_marks(now, counts);
        }
        self.counts = counts;
        self.settle();
        is_marked
    }

    /// Choose rate or window as the variable, without a change of the rate.
    fn choose_mode(&mut self) {
        let interval = self.size * MILLION / self.rate;
        if self.srtt <= SHORT_RTT || self.srtt <= interval {
            self.mode = Mode::Rate;
            return;
        }
        if self.mode == Mode::Rate {
            self.window = self.srtt.saturating_mul(self.rate);
        }
        self.mode = Mode::Window;
    }

    /// Update α, once a window of packets and a virtual round trip have passed; not if nothing was received.
    fn update_alpha(&mut self, now: u64, counts: Counts) {
        let before = self.alpha_counts;
        if counts.received + counts.lost <= before.sent || now - self.alpha_at < self.vrtt {
            return;
        }
        if counts.received > before.received {
            self.alpha =
                averaged(self.alpha, counts.marked - before.marked, counts.received - before.received);
        }
        (self.alpha_at, self.alpha_counts) = (now, counts);
        self.rtts_to_growth = (self.rtts_to_growth - 1).max(0);
    }

    fn reduce_for_loss(&mut self, now: u64, counts: Counts) {
        let wait = (self.rate / 2 / self.size * REF_RTT / self.vrtt * REF_RTT / MILLION) as i64;
        self.lost_rtts_to_growth = (self.lost_rtts_to_growth + wait - self.rtts_to_growth).min(wait);
        self.rtts_to_growth = wait;
        match self.mode {
            Mode::Window => {
                self.lost_window = self.window / 2;
                self.window -= self.lost_window;
            }
            Mode::Rate => {
                self.lost_rate = self.rate / 2;
                self.rate -= self.lost_rate;
            }
        }
        (self.state, self.loss_mode) = (State::InLoss, self.mode);
        (self.loss_at, self.loss_sent) = (now, counts.sent);
    }

    /// Take back the last reduction for a loss, because nothing was lost.
    fn undo_loss(&mut self) {
        if self.lost_window == 0 && self.lost_rate == 0 {
            return;
        }
        self.mode = self.loss_mode;
        match self.mode {
            Mode::Rate => self.rate += std::mem::take(&mut self.lost_rate),
            Mode::Window => self.window += std::mem::take(&mut self.lost_window),
        }
        self.rtts_to_growth = (self.rtts_to_growth - std::mem::take(&mut self.lost_rtts_to_growth)).max(0);
        self.state = State::Avoid;
    }

    /// Grow by `acks` packets without a mark.
    fn grow(&mut self, acks: u64) {
        let queue = (u128::from(self.rate) * u128::from(QUEUE_GROWTH) / u128::from(MILLION)) as u64;
        let increment = if self.rtts_to_growth > 0 { self.size } else { queue.max(self.size) };
        let [acks, size, srtt, vrtt, million] =
            [acks, self.size, self.srtt, self.vrtt, MILLION].map(u128::from);
        match self.mode {
            Mode::Window => {
                let scale = rounded(srtt * million * srtt, vrtt * vrtt);
                let increase = rounded(acks * size * u128::from(scale) * million, self.window.into());
                self.window = self.window.saturating_add(increase.saturating_mul(increment));
            }
            Mode::Rate => {
                let packets = rounded(u128::from(self.rate) * vrtt, size * million);
                let increase = rounded(acks * u128::from(increment) * million, vrtt);
                self.rate = self.rate.saturating_add(rounded(increase.into(), packets.into()));
            }
        }
    }

    fn reduce_for_marks(&mut self, now: u64, counts: Counts) {
        self.rtts_to_growth = wait_for_growth(self.rate);
        match self.mode {
            Mode::Window => self.window -= half_share(self.window, self.alpha),
            Mode::Rate => self.rate -= half_share(self.rate, self.alpha),
        }
        (self.state, self.cwr_at, self.cwr_sent) = (State::InCwr, now, counts.sent);
    }

    /// Set the rate by the window, or the window by the rate, within their limits.
    fn settle(&mut self) {
        if self.mode == Mode::Window {
            self.rate = self.window / self.srtt.max(1);
        }
        self.rate = self.rate.clamp(self.min_rate, MAX_RATE);
        self.window = self.rate.saturating_mul(self.srtt).max(1);
    }

    /// Return the packets that may be in flight: 3 % more than the window, and one.
    fn packet_window(&self) -> u64 {
        let octets = u128::from(self.window) * u128::from(100 + OFFSET) / u128::from(100 * MILLION);
        (octets as u64 / self.size + 1).max(MIN_WINDOW)
    }

    /// Return the pace in octets per second.
    fn pace(&self) -> u64 {
        if self.is_first_half { self.rate * (100 + OFFSET) / 100 } else { self.rate * 100 / (100 + OFFSET) }
    }

    /// Return the packets that may follow each other.
    fn burst(&self) -> u64 {
        (self.rate * BURST_TIME / MILLION / self.size).max(1)
    }

    /// Begin again after a timeout.
    fn reset(&mut self, now: u64) {
        (self.state, self.mode, self.alpha, self.rate) = (State::Init, Mode::Window, 0, self.init_rate);
        (self.alpha_at, self.window) = (now, self.size * MILLION);
        (self.rtts_to_growth, self.lost_rtts_to_growth) = (wait_for_growth(self.rate), 0);
        (self.lost_window, self.lost_rate) = (0, 0);
    }
}

/// Return an instant in microseconds.
fn micros(now: Time) -> u64 {
    now.0 / MILLION
}

impl Congestion for Control {
    fn needs(&self) -> Needs {
        Needs { samples: true }
    }

    fn begin(&mut self, window: &mut CongestionWindow, begin: Begin) {
        let prague = &mut self.0;
        prague.alpha_at = micros(begin.now);
        if let Some(rtt) = begin.rtt {
            prague.measure((rtt.0 / MILLION).max(1));
        }
        window.cwnd = window.cwnd.max(MIN_WINDOW * prague.size).min(window.limit());
    }

    fn pace(&self) -> Option<Pace> {
        let prague = &self.0;
        Some(Pace { rate: Rate(8 * prague.pace()), quantum: prague.burst() * prague.size })
    }

    fn on_sample(&mut self, window: &mut CongestionWindow, sample: &RateSample) -> Upshot {
        let prague = &mut self.0;
        let now = micros(sample.now);
        sample.rtt.into_iter().for_each(|rtt| prague.measure((rtt.0 / MILLION).max(1)));
        let counts = prague.counted(sample);
        if prague.srtt == 0 {
            return Upshot::default();
        }
        let has_reduced = prague.acknowledge(now, counts);
        prague.is_first_half = now - prague.alpha_at < prague.vrtt / 2;
        window.cwnd = (prague.packet_window() * prague.size).min(window.limit());
        Upshot { has_reduced, ..Upshot::default() }
    }

    fn on_lost(&mut self, _: &mut CongestionWindow, lost: &LostSegment) {
        self.0.octets.1 += lost.size;
    }

    fn on_ack(&mut self, _: &mut CongestionWindow, _: Ack) -> Reaction {
        Reaction::Continue
    }

    fn on_proposal(&mut self, _: &mut CongestionWindow, _: u64) {}

    fn on_loss(&mut self, _: &mut CongestionWindow, _: &Loss) {}

    fn on_recovery_end(&mut self, _: &mut CongestionWindow) {}

    fn on_undo(&mut self, window: &mut CongestionWindow, _: u64, _: u64) {
        self.0.undo_loss();
        self.0.settle();
        window.cwnd = (self.0.packet_window() * self.0.size).min(window.limit());
    }

    fn on_duplicate(&mut self, _: &mut CongestionWindow, _: u32, _: Facts) -> Reaction {
        Reaction::Continue
    }

    fn on_timeout(&mut self, window: &mut CongestionWindow, facts: Facts, _: Timeout) {
        self.0.reset(micros(facts.now));
        window.cwnd = MIN_WINDOW * self.0.size;
    }

    fn state(&self) -> Vec<Figure> {
        let prague = &self.0;
        [
            ("alpha", prague.alpha as f64 / MAX_PROB as f64),
            ("rate_bps", 8.0 * prague.rate as f64),
            ("srtt_s", prague.srtt as f64 / MILLION as f64),
            ("vrtt_s", prague.vrtt as f64 / MILLION as f64),
            ("rtts_to_growth", prague.rtts_to_growth as f64),
            ("marked", prague.counts.marked as f64),
        ]
        .map(|(name, value)| Figure::of_all(name, value))
        .into()
    }

    fn is_recovering(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value as Json;

    use super::*;
    use crate::transport::tcp::rate::nothing;
    use crate::transport::tcp::tests::defaults;
    use crate::vectors::{numbers, vector};

    fn cases(list: &str) -> Vec<Json> {
        vector("prague")[list].as_array().unwrap().clone()
    }

    fn number(case: &Json, key: &str) -> u64 {
        case[key].as_u64().unwrap()
    }

    /// A sender with this round trip and window, which is not about to grow by more than a packet.
    fn sender(srtt: u64, window: u64) -> Prague {
        let mut prague = Prague::new(1400, 112_000, 112_000);
        prague.measure(srtt);
        (prague.state, prague.window, prague.rate) =
            (State::Avoid, window * MILLION, window * MILLION / srtt);
        prague
    }

    #[test]
    fn alpha_moves_by_the_integers_of_the_authors() {
        for case in cases("alpha") {
            let sequence = numbers(&case["sequence"]);
            let mut alpha = sequence[0] as i64;
            for next in &sequence[1..] {
                alpha = averaged(alpha, number(&case, "marked"), number(&case, "received"));
                assert_eq!(alpha, *next as i64, "{case}");
            }
        }
    }

    #[test]
    fn a_mark_takes_half_of_alpha_and_a_loss_half_of_the_window() {
        for case in cases("reduction") {
            let mut prague = sender(25_000, number(&case, "window"));
            prague.alpha = number(&case, "alpha") as i64;
            prague.reduce_for_marks(1, Counts::default());
            assert_eq!(prague.window, number(&case, "after") * MILLION, "{case}");
        }
        let mut prague = sender(25_000, 100_000);
        prague.reduce_for_loss(1, Counts::default());
        assert_eq!((prague.window, prague.state), (50_000 * MILLION, State::InLoss));
        prague.undo_loss();
        assert_eq!((prague.window, prague.state), (100_000 * MILLION, State::Avoid));
        prague.undo_loss();
        assert_eq!(prague.window, 100_000 * MILLION, "once");
    }

    #[test]
    fn growth_is_the_square_of_the_share_of_the_virtual_round_trip() {
        for case in cases("growth") {
            let window = number(&case, "window");
            let mut prague = sender(number(&case, "srtt_us"), window);
            prague.grow(number(&case, "acks"));
            assert_eq!(prague.window / MILLION - window, number(&case, "octets"), "{case}");
        }
    }

    #[test]
    fn the_wait_for_growth_and_the_step_after_it_are_those_of_the_vectors() {
        for case in cases("wait") {
            assert_eq!(wait_for_growth(number(&case, "rate")), number(&case, "rtts") as i64, "{case}");
        }
        for case in cases("wait_after_loss") {
            let mut prague = Prague::new(number(&case, "size"), 112_000, 112_000);
            (prague.rate, prague.vrtt) = (number(&case, "rate"), number(&case, "vrtt_us"));
            prague.reduce_for_loss(1, Counts::default());
            assert_eq!(prague.rtts_to_growth, number(&case, "rtts") as i64, "{case}");
        }
        for case in cases("step") {
            let (rate, srtt) = (number(&case, "rate"), 25_000);
            let mut prague = sender(srtt, rate * srtt / MILLION);
            (prague.rate, prague.rtts_to_growth) = (rate, 0);
            let (before, packets) = (prague.window, prague.window / MILLION / prague.size);
            prague.grow(packets);
            let grown = (prague.window - before) / MILLION;
            assert!(grown.abs_diff(number(&case, "octets_per_rtt")) <= 60, "{case}: {grown}");
        }
    }

    #[test]
    fn the_pace_is_three_percent_more_and_then_less() {
        for case in cases("pace") {
            let mut prague = sender(25_000, 100_000);
            prague.rate = number(&case, "rate");
            let halves = [true, false].map(|first| {
                prague.is_first_half = first;
                prague.pace() as f64
            });
            assert_eq!(halves.to_vec(), numbers(&case["halves"]), "{case}");
            assert_eq!(prague.burst(), number(&case, "burst"), "{case}");
        }
    }

    #[test]
    fn marks_reduce_once_in_a_virtual_round_trip_and_never_within_a_loss() {
        let mut prague = sender(40_000, 100_000);
        prague.alpha = MAX_PROB / 2;
        prague.counts = Counts { received: 100, sent: 170, ..Counts::default() };
        let ack = |prague: &mut Prague, ms: u64, marked: u64, lost: u64| {
            let counts = prague.counts;
            let (received, marked, lost) = (counts.received + 1, counts.marked + marked, counts.lost + lost);
            prague.acknowledge(1000 * ms, Counts { received, marked, lost, sent: received + lost + 70 })
        };
        prague.alpha_at = 1_000_000;
        assert_eq!([1001, 1010, 1040].map(|ms| ack(&mut prague, ms, 1, 0)), [true, false, false]);
        for ms in 1041..1111 {
            assert!(!ack(&mut prague, ms, 0, 0), "{ms}");
        }
        assert!(ack(&mut prague, 1112, 1, 0), "a window of packets and a virtual round trip later");
        let mut prague = sender(40_000, 100_000);
        prague.alpha_at = 1_000_000;
        prague.counts = Counts { received: 100, sent: 170, ..Counts::default() };
        assert!(!ack(&mut prague, 1001, 0, 2));
        assert_eq!(prague.state, State::InLoss);
        assert!(!ack(&mut prague, 1002, 1, 1), "neither a mark nor another loss");
        assert!(prague.window / MILLION < 51_000);
    }

    #[test]
    fn the_rate_is_the_variable_up_to_2_ms_and_below_the_time_of_a_packet() {
        for (srtt, rate, mode) in [
            (2000, 12_500_000, Mode::Rate),
            (2001, 12_500_000, Mode::Window),
            (11_200, 125_000, Mode::Rate),
            (11_201, 125_000, Mode::Window),
        ] {
            let mut prague = Prague { srtt, rate, ..sender(srtt, 14_000) };
            prague.choose_mode();
            assert_eq!(prague.mode, mode, "{srtt} us at {rate} octets/s");
        }
        // the window that the rate has left is that of the round trip of the ACK
        let mut prague = Prague { mode: Mode::Rate, rate: 1_250_000, srtt: 3000, ..sender(1500, 14_000) };
        prague.choose_mode();
        assert_eq!((prague.mode, prague.window), (Mode::Window, 3750 * MILLION));
        prague.choose_mode();
        prague.window += MILLION;
        prague.choose_mode();
        assert_eq!(prague.window, 3751 * MILLION, "and then it is the variable");
    }

    #[test]
    fn a_rate_grows_by_a_packet_in_a_virtual_round_trip() {
        let mut prague = sender(1000, 14_000);
        (prague.mode, prague.rate) = (Mode::Rate, 1_250_000);
        prague.grow(10);
        // 10 · 1400 octets in 25 ms, over the 22 packets of that time
        assert_eq!(prague.rate, 1_250_000 + 560_000 / 22 + 1);
    }

    #[test]
    fn the_pace_falls_behind_half_of_a_virtual_round_trip() {
        let params = Params { mss: 1400, ..defaults() };
        let mut control = Control::new(&params);
        let mut window = CongestionWindow::new(&params);
        control.0.measure(40_000);
        (control.0.state, control.0.rate, control.0.window) = (State::Avoid, 1_250_000, 50_000 * MILLION);
        (control.0.alpha_at, control.0.alpha_counts.sent) = (1_000_000, u64::MAX);
        let mut faster = |ms: u64| {
            let sample = RateSample { now: Time(1_000_000_000 * ms), ..nothing() };
            control.on_sample(&mut window, &sample);
            control.pace().unwrap().rate > Rate(8 * control.0.rate)
        };
        assert_eq!([1001, 1019, 1020, 1039].map(&mut faster), [true, true, false, false]);
    }
}
