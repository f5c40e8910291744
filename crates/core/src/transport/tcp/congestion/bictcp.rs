//! CUBIC with the integers of Linux.
//!
//! *Source*: Linux 6.18, `net/ipv4/tcp_cubic.c` (`bictcp_update`) and `tcp_cong.c` (`tcp_cong_avoid_ai`).
//!
//! Windows are whole segments, so that the target is rounded up below the level of the curve and down above it, and the window grows by one when as
//! many segments as `interval` says are acknowledged. The curve is taken the shortest round trip ahead, at most once in a tick.

use super::{CongestionWindow, Facts};
use crate::transport::tcp::Params;
use crate::units::{Span, Time};

/// The factor of the window after a loss, in 1024ths (`beta`).
const BETA: u64 = 717;
/// Segments acknowledged for each window by which Reno's window grows, in eighths (`beta_scale`).
const RENO_SCALE: u64 = 15;
/// Longest interval of growth as long as there was no loss: 5 % in a round trip.
const UNKNOWN: u64 = 20;
/// Shortest interval of growth: a segment for two acknowledged.
const SHORTEST: u64 = 2;
/// Time after which the curve is looked at again although the window is the same.
const STALE: Span = Span(Span::secs(1).0 / 32);
/// Samples of round trips are left out so long after the beginning of an epoch.
const UNMEASURED: Span = Span::secs(1);

/// The state of one sender; numbers of segments, unless they say otherwise.
#[derive(Clone, Debug, Default)]
pub(super) struct Bictcp {
    /// C of the curve, in 1024ths of a segment in (100 ms)³ (`bic_scale`).
    scale: u64,
    tick: u64,
    /// The window at the last loss, or less if that was below the one before; 0 without a loss (`last_max_cwnd`).
    pub(super) most: u64,
    epoch: Option<Epoch>,
    /// The shortest round trip.
    shortest: Option<Span>,
    /// Segments acknowledged for a window larger by one (`cnt`); next, the window and time for which that was computed.
    interval: u64,
    window: u64,
    looked: Time,
    /// Octets acknowledged since the window last grew (`snd_cwnd_cnt`).
    counted: u64,
}

#[derive(Clone, Copy, Debug)]
struct Epoch {
    began: Time,
    /// K in 1024ths of a second, and the level of the curve.
    k: u64,
    origin: u64,
    /// Octets acknowledged that do not yet count in Reno's window; next, that window.
    acked: u64,
    reno: u64,
}

impl Bictcp {
    pub(super) fn new(params: &Params) -> Bictcp {
        let scale = libm::round(params.cubic_c * 102.4).clamp(1.0, 1e9) as u64;
        let tick = params.kernel_tick.max(Span::millis(1)).0;
        Bictcp { scale, tick, ..Bictcp::default() }
    }

    /// Grow the window in congestion avoidance.
    pub(super) fn avoid(&mut self, window: &mut CongestionWindow, acked: u64, now: Time) {
        let cwnd = window.cwnd / window.mss;
        self.update(cwnd.max(1), acked, window.mss, now);
        let full = self.interval * window.mss;
        if self.counted >= full {
            self.counted = 0;
            window.open_by(window.mss);
        }
        self.counted += acked;
        window.open_by(self.counted / full * window.mss);
        self.counted %= full;
    }

    fn update(&mut self, cwnd: u64, acked: u64, mss: u64, now: Time) {
        if let Some(epoch) = &mut self.epoch {
            epoch.began = epoch.began.min(now); // an idle time began before it
            epoch.acked += acked;
            if self.window == cwnd && now.since(self.looked) <= STALE {
                return;
            }
        }
        if self.epoch.is_none() || now.0 / self.tick != self.looked.0 / self.tick {
            (self.window, self.looked) = (cwnd, now);
            let target = self.target(cwnd, acked, now);
            self.interval = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
            self.interval = if self.most == 0 { self.interval.min(UNKNOWN) } else { self.interval };
        }
        if let Some(epoch) = &mut self.epoch {
            let each = (cwnd * RENO_SCALE / 8 * mss).max(1);
            let grown = epoch.acked.saturating_sub(1) / each;
            (epoch.reno, epoch.acked) = (epoch.reno + grown, epoch.acked - grown * each);
            if epoch.reno > cwnd {
                self.interval = self.interval.min(cwnd / (epoch.reno - cwnd));
            }
        }
        self.interval = self.interval.max(SHORTEST);
    }

    /// Return the curve's window a round trip ahead.
    fn target(&mut self, cwnd: u64, acked: u64, now: Time) -> u64 {
        let (most, scale) = (self.most, self.scale);
        let epoch = *self.epoch.get_or_insert_with(|| Epoch {
            began: now,
            k: if most > cwnd { k(most - cwnd, scale) } else { 0 },
            origin: most.max(cwnd),
            acked,
            reno: cwnd,
        });
        let ticks = now.0 / self.tick - epoch.began.0 / self.tick
            + self.shortest.unwrap_or_default().0.div_ceil(self.tick);
        let t = (u128::from(ticks) * u128::from(self.tick) * 1024 / 1_000_000_000_000) as u64;
        let off = u128::from(t.abs_diff(epoch.k));
        let cube = off.saturating_mul(off).saturating_mul(off).saturating_mul(u128::from(10 * self.scale));
        let delta = u64::try_from(cube >> 40).unwrap_or(u64::MAX);
        if t < epoch.k { epoch.origin.saturating_sub(delta) } else { epoch.origin.saturating_add(delta) }
    }

    /// Measure a round trip; returns whether it counts.
    pub(super) fn measure(&mut self, facts: Facts) -> bool {
        let whole = |at: Time| at.0 - at.0 % self.tick;
        let is_late = self.epoch.is_none_or(|epoch| facts.now.0 >= whole(epoch.began) + UNMEASURED.0);
        if let Some(rtt) = facts.rtt.filter(|_| is_late) {
            self.shortest = Some(self.shortest.map_or(rtt, |shortest| shortest.min(rtt)));
        }
        is_late
    }

    /// End the epoch with a loss at this window, and return the threshold.
    pub(super) fn reduce(&mut self, cwnd: u64) -> u64 {
        self.most = if cwnd < self.most { cwnd * (1024 + BETA) / 2048 } else { cwnd };
        (self.epoch, self.counted) = (None, 0);
        cwnd * BETA / 1024
    }

    /// Begin anew after a timeout.
    pub(super) fn reset(&mut self) {
        *self = Bictcp { scale: self.scale, tick: self.tick, ..Bictcp::default() };
    }

    /// Move the curve by a time in which the application rested.
    pub(super) fn rest(&mut self, idle: Span) {
        self.epoch.iter_mut().for_each(|epoch| epoch.began += idle);
    }
}

/// Return K, in 1024ths of a second, for a window `segments` segments below the last.
fn k(segments: u64, scale: u64) -> u64 {
    let cube = ((1u64 << 40) / (10 * scale)) as f64 * segments as f64;
    libm::cbrt(cube) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::tcp::tests::defaults;
    use crate::vectors::vector;

    fn started(segments: u64) -> (Bictcp, CongestionWindow) {
        let mut window =
            CongestionWindow::new(&Params { window: crate::units::Bytes(64 << 20), ..defaults() });
        window.cwnd = segments * window.mss;
        (Bictcp::new(&defaults()), window)
    }

    fn facts(ms: u64, rtt: u64) -> Facts {
        Facts { now: Time::ZERO + Span::millis(ms), rtt: Some(Span::millis(rtt)), ..Facts::plain() }
    }

    #[test]
    fn k_is_that_of_the_vectors_to_the_tables_error() {
        for case in vector("cubic")["linux_k"].as_array().unwrap() {
            let own = k(case["segments"].as_u64().unwrap(), 41) as f64;
            assert!((own / case["table"].as_f64().unwrap() - 1.0).abs() < 3e-3, "{case}: {own}");
        }
    }

    #[test]
    fn a_loss_leaves_717_of_1024_and_a_loss_below_the_last_remembers_less() {
        let (mut cubic, _) = started(1);
        assert_eq!((cubic.reduce(100), cubic.most), (70, 100));
        assert_eq!((cubic.reduce(70), cubic.most), (49, 59), "fast convergence, rounded down");
        assert_eq!(cubic.reduce(70), 49);
        assert_eq!(cubic.most, 70, "not below the last");
    }

    #[test]
    fn below_the_level_of_the_curve_the_target_is_rounded_up_and_above_it_down() {
        let (mut cubic, _) = started(70);
        cubic.reduce(100);
        let targets =
            [0, 1000, 2000, 4000, 6000].map(|ms| cubic.target(70, 1, Time::ZERO + Span::millis(ms)));
        // W(t) = 70.0, 86.7, 95.6, 100.0 and 102.3 (cubic.json); K is rounded down, hence 70.02 at 0
        assert_eq!(targets, [71, 87, 96, 100, 102]);
    }

    #[test]
    fn before_a_loss_the_window_grows_by_a_twentieth_and_never_faster_than_half_of_what_is_acknowledged() {
        let grown =
            |cubic: &mut Bictcp, window: &mut CongestionWindow, ms: std::ops::Range<u64>, acks: u64| {
                let before = window.cwnd / window.mss;
                for now in ms {
                    (0..acks).for_each(|_| cubic.avoid(window, window.mss, Time::ZERO + Span::millis(now)));
                }
                window.cwnd / window.mss - before
            };
        let (mut cubic, mut window) = started(100);
        assert_eq!(grown(&mut cubic, &mut window, 0..100, 1), 5);
        let (mut cubic, mut window) = started(100);
        cubic.reduce(100);
        window.cwnd = 70 * window.mss;
        grown(&mut cubic, &mut window, 0..1, 1);
        assert!(
            (48..=51).contains(&grown(&mut cubic, &mut window, 20_000..20_100, 1)),
            "far above the curve's level"
        );
    }

    #[test]
    fn samples_of_the_first_second_of_an_epoch_are_left_out() {
        let (mut cubic, mut window) = started(100);
        assert!(cubic.measure(facts(0, 80)));
        cubic.avoid(&mut window, 1460, Time::ZERO);
        assert!(!cubic.measure(facts(999, 60)));
        assert_eq!(cubic.shortest, Some(Span::millis(80)));
        assert!(cubic.measure(facts(1000, 70)));
        assert_eq!(cubic.shortest, Some(Span::millis(70)));
        cubic.reset();
        assert_eq!((cubic.shortest, cubic.most), (None, 0), "a timeout begins anew");
    }
}
