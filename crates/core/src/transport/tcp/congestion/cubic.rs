//! # Source
//! L. Xu, S. Ha, I. Rhee, V. Goel and L. Eggert, "CUBIC for Fast and Long-Distance Networks", RFC 9438, 2023; Linux,
//! `net/ipv4/tcp_cubic.c`, for what holds after a timeout and while the application rests.
//!
//! # Idea
//! The window is a function of the time t since congestion avoidance began, and not of the number of ACKs: it returns
//! quickly to the window W_max of the last loss, stays near it, and then probes for more.
//!
//! > W(t) = C · (t − K)³ + W_max,   K = ∛((W_max − cwnd_epoch) / C)
//!
//! With each segment acknowledged cwnd grows by (target − cwnd) / cwnd, where the target is W(t + RTT) within [cwnd, 1.5 · cwnd].
//! Where Reno would be faster, cwnd is that of Reno with the same reduction, W_est ← W_est + α · acked / cwnd with α = 3 · (1 −
//! β) / (1 + β), and 1 from the window before the loss on. A loss below W_max leaves the line to others (fast convergence): W_max
//! = cwnd · (1 + β) / 2. A loss or a mark leaves β · cwnd.
//!
//! # Parameters
//! `cubic_c` C, 0.4 by default, and β = 0.7 (RFC 9438 section 5). `cubic_law = "linux"` is `bictcp_update` with its integers: RTT is the
//! shortest of the connection, α stays 8/15, W_est is a target like W(t + RTT), β is 717/1024, and before the first loss the window
//! grows by at least 5 % in a round trip. `hystart` says how slow start ends before a loss. Losses are repaired as by `new-reno`, whose
//! keys count here as well, or by `recovery`.
//!
//! # Differences from the paper
//! The window in use is min(cwnd, advertised window), and its reduction is counted in whole segments, as for `reno`. RTT is the
//! average of the measured ones, with a gain of 1/8. After a timeout K = 0 and W_max = cwnd when congestion avoidance begins
//! (section 4.8). Time in which the application rests (Linux) or is the limit (section 5.8) does not count. A mark is a loss: the larger β of RFC 8511 is not
//! modelled. The cube root is exact, unlike that of Linux.
//!
//! # Complexity
//! O(1) for each ACK; a dozen numbers for each connection.

use super::bictcp::Bictcp;
use super::hystart::{Growth, HyStart};
use super::new_reno::NewReno;
use super::{Ack, Congestion, CongestionWindow, Facts, Loss, Reaction, Timeout};
use crate::choice;
use crate::metrics::state::Figure;
use crate::transport::tcp::Params;
use crate::units::{Span, Time};

choice! {
    /// How the window follows the curve and the window that Reno would have.
    pub enum CubicLaw {
        /// The curve is taken a smoothed round trip ahead (RFC 9438 section 4.2). Where it is larger, the window is that of Reno, which
        /// grows by a segment a round trip from the window before the loss on (section 4.3).
        Rfc9438 = "rfc9438",
        /// As in `bictcp_update`, in whole segments. The curve is taken the shortest round trip ahead. The window of Reno is a target as
        /// well, and always grows by 8/15 of a segment a round trip.
        Linux = "linux",
    }
}

const BETA: f64 = 0.7;
/// α of the Reno-friendly window (about 0.5294).
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);
/// Greatest number of segments for which an ACK opens the window in slow start with HyStart++ and no pacing (RFC 9406
/// section 4.3).
const BURST: u64 = 8;

/// A CUBIC sender. Its state is separate, so that Reno senders need no room for it.
#[derive(Clone, Debug)]
pub struct Control(Box<CubicState>);

#[derive(Clone, Debug)]
struct CubicState {
    losses: NewReno,
    curve: CubicCurve,
}

/// The window over time.
#[derive(Clone, Debug)]
struct CubicCurve {
    /// C of the curve.
    c: f64,
    /// The law of Linux, if that is asked for; fields below that follow the curve are then not used.
    linux: Option<Bictcp>,
    hystart: HyStart,
    /// W_max: the window at the last loss, in segments.
    w_max: f64,
    epoch: Option<Epoch>,
    /// Round-trip time in seconds, smoothed or the shortest; 0 before the first measurement.
    rtt: f64,
    /// The window in octets with its fraction; the sender uses it rounded down.
    cwnd: f64,
    /// The window before the last reduction, in segments.
    prior: f64,
    /// Time of the last ACK, moved later by idle times.
    last_ack: Time,
    /// Whether at the next ACK the application limits the flow, and not the window.
    is_limited: bool,
}

/// An epoch: congestion avoidance since the last reduction.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    began: Time,
    k: f64,
    /// The window at which the curve is level, in segments.
    origin: f64,
    /// The window that Reno would have, in segments.
    w_est: f64,
    /// C of the curve.
    c: f64,
}

impl Epoch {
    fn new(now: Time, cwnd: f64, w_max: f64, c: f64) -> Epoch {
        let (k, origin) = if cwnd < w_max { (k(w_max - cwnd, c), w_max) } else { (0.0, cwnd) };
        Epoch { began: now, k, origin, w_est: cwnd, c }
    }

    /// Return W(t), in segments.
    fn window(&self, t: f64) -> f64 {
        let from_k = t - self.k;
        self.c * from_k * from_k * from_k + self.origin
    }
}

/// Return K: the seconds until the curve is back at W_max, which is `segments` segments above the window.
fn k(segments: f64, c: f64) -> f64 {
    libm::cbrt(segments / c)
}

impl Control {
    pub(super) fn new(params: &Params) -> Control {
        let hystart = HyStart::new(params.hystart);
        let (last_ack, is_limited) = (Time::ZERO, false);
        let curve = CubicCurve {
            c: params.cubic_c,
            linux: (params.cubic_law == CubicLaw::Linux).then(|| Bictcp::new(params)),
            hystart,
            w_max: 0.0,
            epoch: None,
            rtt: 0.0,
            cwnd: 0.0,
            prior: 0.0,
            last_ack,
            is_limited,
        };
        Control(Box::new(CubicState { losses: NewReno::new(params), curve }))
    }
}

impl CubicCurve {
    /// Grow the window for `acked` octets that were acknowledged outside of recovery.
    fn grow(&mut self, window: &mut CongestionWindow, acked: u64, facts: Facts) {
        if self.linux.is_some() {
            return self.grow_as_linux(window, acked, facts);
        }
        if let Some(rtt) = facts.rtt {
            self.measure(rtt.as_secs_f64());
        }
        let since_last = facts.now.since(std::mem::replace(&mut self.last_ack, facts.now));
        let is_limited = std::mem::take(&mut self.is_limited);
        let is_slow_start = window.cwnd < window.ssthresh;
        if is_limited || is_slow_start {
            self.rest(since_last);
        }
        if is_limited {
            return;
        }
        if is_slow_start {
            return self.slow_start(window, acked, facts);
        }
        if self.cwnd as u64 != window.cwnd {
            self.cwnd = window.cwnd as f64; // something else has changed the window
        }
        let mss = window.mss as f64;
        let (cwnd, segments) = (self.cwnd / mss, acked as f64 / mss);
        let epoch = self.epoch.get_or_insert_with(|| Epoch::new(facts.now, cwnd, self.w_max, self.c));
        let t = facts.now.since(epoch.began).as_secs_f64();
        let alpha = if epoch.w_est < self.prior { ALPHA } else { 1.0 };
        epoch.w_est += alpha * segments / cwnd;
        let target = epoch.window(t + self.rtt).clamp(cwnd, 1.5 * cwnd);
        let grown = match epoch.window(t) < epoch.w_est {
            true => epoch.w_est.max(cwnd),
            false => cwnd + (target - cwnd) / cwnd * segments,
        };
        self.cwnd = (grown * mss).min(window.limit() as f64);
        window.cwnd = self.cwnd as u64;
    }

    /// Like `grow`, by the law of Linux, which lets the time run on while the application is the limit.
    fn grow_as_linux(&mut self, window: &mut CongestionWindow, acked: u64, facts: Facts) {
        let Some(linux) = &mut self.linux else { return };
        let measures = linux.measure(facts);
        if std::mem::take(&mut self.is_limited) {
            return;
        }
        if window.cwnd >= window.ssthresh {
            linux.avoid(window, acked, facts.now);
        } else if measures {
            self.slow_start(window, acked, facts);
        } else {
            window.grow(acked);
        }
    }

    fn measure(&mut self, rtt: f64) {
        self.rtt = if self.rtt == 0.0 { rtt } else { self.rtt + (rtt - self.rtt) / 8.0 };
    }

    /// Exclude time in which the window does not follow the curve (RFC 9438 section 5.8): the application limits the
    /// flow, or slow start continues after an idle time.
    fn rest(&mut self, time: Span) {
        self.linux.iter_mut().for_each(|linux| linux.rest(time));
        if let Some(epoch) = &mut self.epoch {
            epoch.began += time;
        }
    }

    fn slow_start(&mut self, window: &mut CongestionWindow, acked: u64, facts: Facts) {
        match self.hystart.on_ack(window, facts) {
            Growth::Leave => window.ssthresh = window.cwnd,
            Growth::By(1) => window.grow(acked),
            Growth::By(part) => window.open_by(acked.min(BURST * window.mss) / part),
        }
    }

    /// Reduce the window after a loss or a mark, and store the values with which the next epoch begins.
    fn reduce(&mut self, window: &mut CongestionWindow, facts: Facts) {
        if let Some(linux) = &mut self.linux {
            let segments = linux.reduce(window.cwnd.min(facts.send_window) / window.mss);
            window.ssthresh = segments.max(2) * window.mss;
            return;
        }
        let segments = window.cwnd.min(facts.send_window) as f64 / window.mss as f64;
        self.w_max = if segments < self.w_max { segments * (1.0 + BETA) / 2.0 } else { segments };
        (self.prior, self.epoch) = (segments, None);
        window.ssthresh = ((BETA * segments) as u64).max(2) * window.mss;
    }
}

impl Congestion for Control {
    #[inline(never)]
    fn on_ack(&mut self, window: &mut CongestionWindow, ack: Ack) -> Reaction {
        let Control(state) = self;
        state.losses.on_ack(window, ack).unwrap_or_else(|| {
            state.curve.grow(window, ack.acked, ack.facts);
            Reaction::Continue
        })
    }

    fn on_mark(&mut self, window: &mut CongestionWindow, facts: Facts) {
        self.0.curve.reduce(window, facts);
        window.cwnd = window.cwnd.min(window.ssthresh);
    }

    fn on_loss(&mut self, window: &mut CongestionWindow, loss: &Loss) {
        self.0.curve.reduce(window, loss.facts);
    }

    fn state(&self) -> Vec<Figure> {
        let CubicCurve { linux, w_max, .. } = &self.0.curve;
        vec![Figure::of_all("w_max", linux.as_ref().map_or(*w_max, |linux| linux.most as f64))]
    }

    fn on_duplicate(&mut self, window: &mut CongestionWindow, count: u32, facts: Facts) -> Reaction {
        let CubicState { losses, curve } = &mut *self.0;
        losses.on_duplicate(window, count, facts, |window| curve.reduce(window, facts))
    }

    fn on_timeout(&mut self, window: &mut CongestionWindow, facts: Facts, timeout: Timeout) {
        let CubicState { losses, curve } = &mut *self.0;
        losses.on_timeout(facts);
        if timeout == Timeout::First {
            curve.reduce(window, facts);
        }
        (curve.w_max, curve.epoch) = (0.0, None);
        curve.linux.iter_mut().for_each(Bictcp::reset);
        curve.hystart.reset();
        window.leave_recovery(window.mss);
    }

    fn on_idle(&mut self, idle: Span) {
        self.0.curve.rest(idle);
        self.0.curve.last_ack += idle;
    }

    fn on_limited(&mut self) {
        self.0.curve.is_limited = true;
    }

    fn is_recovering(&self) -> bool {
        self.0.losses.is_recovering()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;
    use crate::transport::tcp::congestion::Spec;
    use crate::transport::tcp::tests::defaults;
    use crate::transport::tcp::{Segment, Sender};
    use crate::vectors::{numbers, vector};

    const MSS: u64 = 1460;

    fn facts(ms: u64) -> Facts {
        Facts { now: Time::ZERO + Span::millis(ms), ..Facts::plain() }
    }

    fn started() -> (Control, CongestionWindow) {
        let params = Params {
            hystart: crate::transport::tcp::congestion::hystart::Mode::Off,
            window: crate::units::Bytes(6 << 20),
            ..defaults()
        };
        (Control::new(&params), CongestionWindow::new(&params))
    }

    #[test]
    fn the_curve_is_that_of_the_vectors() {
        for case in vector("cubic")["curve"].as_array().unwrap() {
            let [w_max, cwnd] = ["w_max", "cwnd"].map(|key| case[key].as_f64().unwrap());
            let epoch = Epoch::new(Time::ZERO, cwnd, w_max, 0.4);
            assert!((epoch.k - case["k_s"].as_f64().unwrap()).abs() < 5e-5, "{case}: {}", epoch.k);
            for (t, expected) in numbers(&case["t_s"]).into_iter().zip(numbers(&case["window"])) {
                assert!((epoch.window(t) - expected).abs() < 5e-3, "{case}: {} at {t}", epoch.window(t));
            }
        }
    }

    #[test]
    fn k_is_near_the_tables_of_linux() {
        for case in vector("cubic")["linux_k"].as_array().unwrap() {
            let exact = k(case["segments"].as_f64().unwrap(), 0.4) * 1024.0;
            let [table, printed] = ["table", "exact"].map(|key| case[key].as_f64().unwrap());
            assert!((exact - printed).abs() < 0.06 && (exact / table - 1.0).abs() < 3e-3, "{case}: {exact}");
        }
    }

    #[test]
    fn a_loss_leaves_seven_tenths_and_remembers_less_of_a_window_below_the_last() {
        let (mut cubic, mut window) = started();
        window.cwnd = 100 * MSS;
        cubic.on_loss(&mut window, &Loss::by_blocks(facts(0)));
        assert_eq!((window.ssthresh, cubic.0.curve.w_max), (70 * MSS, 100.0));
        window.cwnd = 70 * MSS;
        cubic.on_loss(&mut window, &Loss::by_blocks(facts(0)));
        assert_eq!((window.ssthresh, cubic.0.curve.w_max), (49 * MSS, 59.5));
    }

    /// The window after an ACK of one segment in each of these milliseconds.
    fn avoidance(
        cubic: &mut Control,
        window: &mut CongestionWindow,
        ms: std::ops::Range<u64>,
        rtt_ms: u64,
    ) -> f64 {
        for now in ms {
            let facts = Facts { rtt: Some(Span::millis(rtt_ms)), ..facts(now) };
            cubic.on_ack(window, Ack::of(MSS, facts));
        }
        window.cwnd as f64 / MSS as f64
    }

    #[test]
    fn the_window_follows_the_curve_a_round_trip_ahead_and_is_level_at_the_last_loss() {
        let (mut cubic, mut window) = started();
        window.cwnd = 1000 * MSS;
        cubic.on_loss(&mut window, &Loss::by_blocks(facts(0)));
        window.cwnd = window.ssthresh;
        // RTT 100 ms, and 20 ACKs in each millisecond, so that the window is near its target
        for now in 0..3000 {
            for _ in 0..20 {
                let facts = Facts { rtt: Some(Span::millis(100)), ..facts(now) };
                cubic.on_ack(&mut window, Ack::of(MSS, facts));
            }
        }
        let (after_3s, epoch) = (window.cwnd as f64 / MSS as f64, cubic.0.curve.epoch.unwrap());
        assert!((after_3s - epoch.window(3.1)).abs() < 3.0, "{after_3s} and {}", epoch.window(3.1));
    }

    #[test]
    fn in_the_reno_friendly_region_it_grows_as_reno_would() {
        let (mut cubic, mut window) = started();
        window.cwnd = 20 * MSS;
        cubic.on_loss(&mut window, &Loss::by_blocks(facts(0)));
        window.cwnd = window.ssthresh; // 14 segments, a round trip of 10 ms
        let grown = avoidance(&mut cubic, &mut window, 0..140, 10);
        // ten round trips of 0.53 segments each
        assert!((grown - 14.0 - 10.0 * ALPHA).abs() < 1.0, "{grown}");
    }

    #[test]
    fn in_linux_the_window_of_reno_is_a_target_and_grows_alike_above_the_last_window() {
        let grown = |law: CubicLaw| {
            let (mut cubic, mut window) = started();
            cubic.0.curve.linux = (law == CubicLaw::Linux).then(|| Bictcp::new(&defaults()));
            window.cwnd = 20 * MSS;
            cubic.on_loss(&mut window, &Loss::by_blocks(facts(0)));
            window.cwnd = window.ssthresh; // 14 segments, a round trip of 10 ms
            let below = avoidance(&mut cubic, &mut window, 0..100, 10);
            let level = avoidance(&mut cubic, &mut window, 100..300, 10);
            (below, level, avoidance(&mut cubic, &mut window, 300..500, 10))
        };
        let (linux, rfc) = (grown(CubicLaw::Linux), grown(CubicLaw::Rfc9438));
        // whole segments, of which the last is under way: a target of 17 is reached half a round trip later
        assert!(linux.0 == 16.0 && rfc.0 as u64 == 17, "{linux:?} {rfc:?}");
        // 200 ACKs are some ten round trips: 8/15 of a segment in each, against a whole one from the last window on
        assert!((rfc.2 - rfc.1) > 1.5 * (linux.2 - linux.1), "{linux:?} {rfc:?}");
    }

    #[test]
    fn after_a_timeout_the_next_epoch_begins_level() {
        let (mut cubic, mut window) = started();
        window.cwnd = 100 * MSS;
        cubic.on_timeout(&mut window, facts(0), Timeout::First);
        assert_eq!((window.ssthresh, window.cwnd), (70 * MSS, MSS));
        window.cwnd = 70 * MSS;
        cubic.on_ack(&mut window, Ack::of(MSS, facts(5)));
        assert_eq!((cubic.0.curve.epoch.unwrap().k, cubic.0.curve.epoch.unwrap().origin), (0.0, 70.0));
    }

    #[test]
    fn time_in_which_the_application_rests_does_not_count() {
        let (mut cubic, mut window) = started();
        window.cwnd = 100 * MSS;
        cubic.on_loss(&mut window, &Loss::by_blocks(facts(0)));
        window.cwnd = window.ssthresh;
        cubic.on_ack(&mut window, Ack::of(MSS, facts(0)));
        cubic.on_idle(Span::secs(9));
        cubic.on_ack(&mut window, Ack::of(MSS, facts(9000)));
        assert!(window.cwnd < 72 * MSS, "{}", window.cwnd);
    }

    #[test]
    fn while_the_application_is_the_limit_neither_the_curve_nor_the_window_of_reno_goes_on() {
        let grown = |limited: std::ops::Range<u64>| {
            let (mut cubic, mut window) = started();
            window.cwnd = 100 * MSS;
            cubic.on_loss(&mut window, &Loss::by_blocks(facts(0)));
            window.cwnd = window.ssthresh;
            for now in 0..limited.end + 1000 {
                if limited.contains(&now) {
                    cubic.on_limited();
                }
                cubic.on_ack(&mut window, Ack::of(MSS, Facts { rtt: Some(Span::millis(100)), ..facts(now) }));
            }
            let CubicState { curve, .. } = &*cubic.0;
            (window.cwnd, curve.cwnd, curve.epoch.unwrap().w_est)
        };
        assert_eq!(grown(500..9000), grown(500..500));
    }

    #[test]
    fn three_duplicates_reduce_to_seven_tenths_and_partial_acks_are_those_of_new_reno() {
        let (mut cubic, mut window) = started();
        window.cwnd = 10 * MSS;
        let sent = |acked: u64| Facts { unacknowledged: acked * MSS, sent: 10 * MSS, ..facts(1) };
        let third = cubic.on_duplicate(&mut window, 3, sent(0));
        assert_eq!(third, Reaction::Retransmit { restart_timer: true });
        assert_eq!((window.ssthresh, window.cwnd, window.inflation), (7 * MSS, 7 * MSS, 3 * MSS));
        assert!(matches!(cubic.on_ack(&mut window, Ack::of(4 * MSS, sent(4))), Reaction::Retransmit { .. }));
        assert!(cubic.is_recovering());
        cubic.on_ack(&mut window, Ack::of(6 * MSS, sent(10)));
        assert!(!cubic.is_recovering());
    }

    /// Return the segments acknowledged from a loss at this window until it is reached again, with a constant round
    /// trip, and the average window over time.
    fn cycle(rtt_s: f64, w_max: u64) -> (f64, f64) {
        let params = Params { window: crate::units::Bytes(64 << 20), ..defaults() };
        let (mut cubic, mut window) = (Control::new(&params), CongestionWindow::new(&params));
        window.cwnd = w_max * MSS;
        cubic.on_loss(&mut window, &Loss::by_blocks(facts(0)));
        window.cwnd = window.ssthresh;
        let (mut now, mut segments) = (Time::ZERO, 0.0);
        while window.cwnd < w_max * MSS {
            now += Span((rtt_s * 1e12 * MSS as f64 / window.cwnd as f64) as u64);
            segments += 1.0;
            let rtt = Some(Span((rtt_s * 1e12) as u64));
            cubic.on_ack(&mut window, Ack::of(MSS, Facts { now, rtt, ..Facts::plain() }));
        }
        (segments, segments * rtt_s / now.since(Time::ZERO).as_secs_f64())
    }

    #[test]
    fn average_windows_are_those_of_the_tables_of_the_rfc() {
        for case in vector("cubic")["average_window"].as_array().unwrap() {
            let [rtt_s, loss, expected] = ["rtt_s", "loss", "window"].map(|key| case[key].as_f64().unwrap());
            // the mean of the curve, or of Reno's line, from 0.7 to 1
            let share = if case["region"] == "cubic" { 1.0 - 0.3 / 4.0 } else { 0.85 };
            let (segments, window) = cycle(rtt_s, (expected / share).round() as u64);
            assert!((window / expected - 1.0).abs() < 0.07, "{case}: window {window}");
            assert!((segments * loss - 1.0).abs() < 0.1, "{case}: a loss in {segments} segments");
        }
    }

    /// The window in whole segments after each ACK of two segments, one in every 100 ms.
    fn windows_of_a_slow_path(acks: u64) -> Vec<u64> {
        let params = Params {
            congestion: Spec::Cubic.into(),
            cubic_law: CubicLaw::Linux,
            mss: 1000,
            sack: true,
            byte_counting: true,
            handshake: false,
            initial_window: 10,
            slow_timer: Span::millis(1),
            initial_rto: Span::secs(60),
            min_rto: Span::secs(60),
            window: crate::units::Bytes(6 << 20),
            ..defaults()
        };
        let mut sender = Sender::new(&params, Span::ZERO, Stream::new(1, "jitter"));
        let mut out = Vec::new();
        sender.open(Time::ZERO, &mut out);
        sender.write_forever(Time::ZERO, &mut out);
        let ack = |number: u64| Segment {
            ack: 2000 * number,
            window: 514 << 10,
            connection: 1,
            is_ack: true,
            ..Segment::default()
        };
        let mut windows = vec![sender.cwnd() / 1000];
        for number in 1..=acks {
            sender.on_segment(Time::ZERO + Span::millis(100 * number), &ack(number), &mut out);
            windows.push(sender.cwnd() / 1000);
        }
        windows
    }

    #[test]
    fn small_writes_behind_an_idle_time_do_not_move_the_curve_on() {
        let (mut cubic, mut window) = started();
        window.cwnd = 100 * MSS;
        cubic.on_loss(&mut window, &Loss::by_blocks(facts(0)));
        window.cwnd = window.ssthresh;
        avoidance(&mut cubic, &mut window, 0..100, 100);
        // idle for 10 s, which leaves the first window and the threshold; then a write every 20 ms for 20 s
        cubic.on_idle(Span::secs(10));
        window.cwnd = 10 * MSS;
        for now in (10_100..30_100).step_by(20) {
            let before = window.cwnd;
            cubic.on_limited();
            cubic.on_ack(&mut window, Ack::of(MSS, Facts { rtt: Some(Span::millis(100)), ..facts(now) }));
            window.cwnd = window.cwnd.min(before); // as the sender does
        }
        // and bulk for 3 s: slow start up to the threshold, then the curve of the loss, which is level at 100
        let mut largest = 0.0;
        for now in 30_100..33_100 {
            for _ in 0..(window.cwnd / MSS).div_ceil(100) {
                largest = avoidance(&mut cubic, &mut window, now..now + 1, 100);
            }
        }
        assert!((90.0..115.0).contains(&largest), "{largest} segments");
    }

    #[test]
    fn c_decides_how_fast_the_window_returns() {
        // RFC 9438 section 5.1: K = ∛(W_max · 0.3 / C)
        for (c, seconds) in [(0.04, 9.0856), (0.4, 4.2172), (4.0, 1.9574)] {
            let found = Epoch::new(Time::ZERO, 70.0, 100.0, c).k;
            assert!((found - seconds).abs() < 1e-4, "{c}: {found}");
        }
    }

    #[test]
    fn hystart_ends_slow_start_and_the_window_follows_the_curve_as_in_linux() {
        let measured: Vec<f64> = numbers(&vector("cubic")["linux_window"]);
        let seen = windows_of_a_slow_path(110);
        let end = measured.windows(2).position(|pair| pair[0] == pair[1]).unwrap();
        for (number, (seen, measured)) in seen.into_iter().zip(measured).enumerate() {
            let differs = (seen as f64 - measured).abs();
            assert!(
                differs <= if number > end { 1.0 } else { 0.0 },
                "ACK {number}: {seen}, measured {measured}"
            );
        }
    }
}
