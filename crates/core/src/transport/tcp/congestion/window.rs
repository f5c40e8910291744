//! The congestion window and the rules that change it, which are common to the controls: slow start, congestion avoidance, and the
//! reaction to a timeout. Only controls and their owner change it.

use super::{Facts, Timeout};
use crate::transport::tcp::{Laws, MAX_WINDOW_FIELD, Params};
use crate::units::Span;

/// A slow-start threshold above every window, which stands for no threshold. It is a number instead of an `Option`,
/// because with a thousand senders memory access dominates; callers use [`CongestionWindow::threshold`].
const UNLIMITED: u64 = u64::MAX;

/// The congestion window and the rules that change it.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct CongestionWindow {
    /// Congestion window, in octets, without inflation.
    pub(super) cwnd: u64,
    /// The inflation by duplicate ACKs in fast recovery, in octets; a loss halves this part only with
    /// `halve_inflation`.
    pub(super) inflation: u64,
    /// Slow-start threshold, in octets; a value above every window stands for none: see
    /// [`CongestionWindow::threshold`].
    pub(super) ssthresh: u64,
    /// Octets of a full segment.
    pub(super) mss: u64,
    /// Greatest value of the window: the largest window that a receiver can advertise, or the initial window if that
    /// is larger.
    limit: u64,
    extra: u32,
    halves_inflation: bool,
    counts_bytes: bool,
    /// The window follows the laws of Linux.
    is_linux: bool,
    initial: u64,
    /// Octets acknowledged since the window last grew, with `byte_counting` (RFC 3465).
    counted: u64,
}

impl CongestionWindow {
    /// Build the window of a new connection.
    pub(super) fn new(params: &Params) -> CongestionWindow {
        let mss = params.segment_data();
        let initial = mss * u64::from(params.initial_window);
        CongestionWindow {
            cwnd: initial,
            inflation: 0,
            ssthresh: params.initial_ssthresh.map_or(UNLIMITED, |bytes| bytes.0),
            mss,
            limit: initial.max(MAX_WINDOW_FIELD << params.window_shift()),
            extra: if params.extra_increase { params.mss / 8 } else { 0 },
            halves_inflation: params.halve_inflation,
            initial,
            counts_bytes: params.byte_counting,
            is_linux: params.laws == Laws::Linux,
            counted: 0,
        }
    }

    /// Return the greatest value of the window.
    pub(super) fn limit(&self) -> u64 {
        self.limit
    }

    /// Return the congestion window, in octets, without inflation.
    #[inline]
    pub fn cwnd(&self) -> u64 {
        self.cwnd
    }

    /// Return the octets that duplicate ACKs have added in fast recovery.
    #[inline]
    pub fn inflation(&self) -> u64 {
        self.inflation
    }

    /// Return the octets of a full segment.
    #[inline]
    pub fn mss(&self) -> u64 {
        self.mss
    }

    /// Return the slow-start threshold, in octets; above every window if there is none.
    #[inline]
    pub(in super::super) fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    /// Return the octets that congestion control allows the sender to have outstanding.
    #[inline]
    pub fn usable(&self) -> u64 {
        self.cwnd + self.inflation
    }

    /// Return the slow-start threshold, in octets, if there is one.
    pub fn threshold(&self) -> Option<u64> {
        (self.ssthresh != UNLIMITED).then_some(self.ssthresh)
    }

    /// Grow the window by one ACK of `acked` new octets: a segment more in slow start, `mss²/cwnd` in whole octets,
    /// at least one, in congestion avoidance (RFC 5681 section 3.1). At the threshold itself slow start still
    /// applies, as in 4.4BSD; the RFC leaves this open.
    #[inline]
    pub(super) fn grow(&mut self, acked: u64) {
        if self.counts_bytes {
            return self.grow_by_bytes(acked);
        }
        let avoidance = self.cwnd > self.ssthresh;
        let increase = match avoidance {
            true => (self.mss * self.mss / self.cwnd).max(1) + u64::from(self.extra),
            false => self.mss,
        };
        self.cwnd = (self.cwnd + increase).min(self.limit);
    }

    /// Grow the window by acknowledged octets: in slow start by up to two segments more, in congestion avoidance by
    /// one when a whole window was acknowledged (RFC 3465 sections 2.1 and 2.2). Slow start stops at the threshold,
    /// as in Linux; otherwise the window would grow by two more segments after each recovery, which leaves it at the
    /// threshold.
    #[inline(never)]
    fn grow_by_bytes(&mut self, acked: u64) {
        if self.cwnd < self.ssthresh {
            let most = if self.is_linux { u64::MAX } else { 2 * self.mss };
            return self.open_by(acked.min(most).min(self.ssthresh - self.cwnd));
        }
        let counted = self.counted + acked;
        let full = counted >= self.cwnd;
        self.counted = if full { counted - self.cwnd } else { counted };
        self.open_by(if full { self.mss } else { 0 } + u64::from(self.extra));
    }

    /// Increase the window by `octets`.
    pub(super) fn open_by(&mut self, octets: u64) {
        self.cwnd = (self.cwnd + octets).min(self.limit);
    }

    /// After a loss set the threshold to half of the window in use, in whole segments and at least two.
    pub(super) fn halve(&mut self, send_window: u64) {
        let in_use = if self.halves_inflation { self.usable() } else { self.cwnd };
        let segments = in_use.min(send_window) / 2 / self.mss;
        self.reduce_to(segments * self.mss);
    }

    /// Set the threshold, to which the window falls after a loss or a mark, to `octets`, but to at least two
    /// segments; octets counted before no longer increase the window (Linux).
    pub(super) fn reduce_to(&mut self, octets: u64) {
        self.ssthresh = octets.max(2 * self.mss);
        self.counted = 0;
    }

    /// Enter fast recovery: halve the window, unless it has been reduced for a mark in this round trip, and add the
    /// segments that have left the network according to the duplicates (RFC 5681 section 3.2, steps 2 and 3; RFC 3168
    /// section 6.1.2).
    pub(super) fn enter_recovery(&mut self, facts: Facts, duplicates: u32) {
        if !facts.is_reduced {
            self.halve(facts.send_window);
        }
        self.begin_recovery(duplicates);
    }

    /// Set the window to the threshold, and inflate it by a segment for each duplicate.
    pub(super) fn begin_recovery(&mut self, duplicates: u32) {
        self.cwnd = self.ssthresh;
        self.inflation = u64::from(duplicates) * self.mss;
    }

    /// Inflate the window by one more duplicate in fast recovery: one more segment has left the network (RFC 5681
    /// section 3.2, step 4).
    pub(super) fn inflate(&mut self) {
        self.inflation += self.mss;
    }

    /// Deflate the window after a partial ACK: subtract the acknowledged octets and add one segment (RFC 6582 section
    /// 3.2, step 3). Inflation is reduced first, then the window itself.
    pub(super) fn deflate(&mut self, acked: u64) {
        let left = self.usable().saturating_sub(acked) + self.mss;
        self.cwnd = self.cwnd.min(left);
        self.inflation = left - self.cwnd;
    }

    /// Leave fast recovery with the window `cwnd` (RFC 5681 section 3.2, step 6).
    pub(super) fn leave_recovery(&mut self, cwnd: u64) {
        self.cwnd = cwnd;
        self.inflation = 0;
    }

    /// Return to slow start from one segment after a timeout. The threshold becomes half of the window in use, but
    /// only at the first timeout of a segment (RFC 5681 section 3.1).
    pub(super) fn collapse(&mut self, send_window: u64, timeout: Timeout) {
        if timeout == Timeout::First {
            self.halve(send_window);
        }
        self.leave_recovery(self.mss);
    }

    /// Shrink the window after an idle time longer than the timeout `rto`.
    pub(super) fn on_idle(&mut self, idle: Span, rto: Span) {
        if self.is_linux { self.rest(idle, rto) } else { self.restart() }
    }

    /// Take back a reduction: the window and the threshold were these before it.
    pub(super) fn take_back(&mut self, cwnd: u64, ssthresh: u64) {
        self.cwnd = self.cwnd.max(cwnd);
        self.ssthresh = self.ssthresh.max(ssthresh);
    }

    /// Return to slow start from the initial window after an idle time (RFC 5681 section 4.1).
    pub(super) fn restart(&mut self) {
        self.cwnd = self.cwnd.min(self.initial);
    }

    /// Halve the window after an idle time, once for each timeout `rto` in it but the part after the last, down to the initial window,
    /// and keep three quarters of it as the threshold (`tcp_cwnd_restart` of Linux).
    pub(super) fn rest(&mut self, idle: Span, rto: Span) {
        self.keep_threshold();
        let segments = self.cwnd / self.mss;
        let halvings = (idle.0.saturating_sub(1) / rto.0.max(1)).min(63);
        self.cwnd = self.cwnd.min(self.initial.max((segments >> halvings) * self.mss));
    }

    /// Keep three quarters of the window as the threshold (`tcp_current_ssthresh`).
    fn keep_threshold(&mut self) {
        let segments = self.cwnd / self.mss;
        self.ssthresh = self.ssthresh.max((segments / 2 + segments / 4) * self.mss);
    }

    /// Halve the part of the window that `used` octets in flight have not used, but for the initial window
    /// (`tcp_cwnd_application_limited` of Linux).
    pub(super) fn shrink_towards(&mut self, used: u64) {
        let used = used.max(self.initial);
        if used < self.cwnd {
            self.keep_threshold();
            self.cwnd = (self.cwnd / self.mss + used / self.mss) / 2 * self.mss;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::tcp::tests::defaults;
    use crate::units::Bytes;
    use crate::vectors::vector;

    #[test]
    fn bytes_open_the_window_by_two_segments_an_ack_and_by_one_a_window() {
        let params = Params { byte_counting: true, initial_ssthresh: Some(Bytes(9 * 1460)), ..defaults() };
        let mut window = CongestionWindow::new(&params);
        let grown = [1, 2, 3, 2].map(|segments: u64| {
            window.grow(segments * 1460);
            window.cwnd / 1460
        });
        assert_eq!(grown, [2, 4, 6, 8]);
        window.grow(2 * 1460);
        assert_eq!(window.cwnd / 1460, 9, "slow start ends at the threshold");
        let grown = [2; 9].map(|segments: u64| {
            window.grow(segments * 1460);
            window.cwnd / 1460
        });
        assert_eq!(grown, [9, 9, 9, 9, 10, 10, 10, 10, 10]);
    }

    #[test]
    fn a_window_beyond_the_square_of_a_segment_still_grows_by_an_octet_an_ack() {
        let params = Params { window: Bytes(4 << 20), initial_ssthresh: Some(Bytes(2 * 1460)), ..defaults() };
        let mut window = CongestionWindow::new(&params);
        window.cwnd = 1460 * 1460 + 1;
        window.grow(1460);
        assert_eq!(window.cwnd, 1460 * 1460 + 2);
    }

    #[test]
    fn congestion_avoidance_opens_the_window_by_about_a_segment_in_a_round_trip() {
        let mut params = defaults();
        params.mss = 1000;
        params.initial_window = 10;
        params.initial_ssthresh = Some(Bytes(5_000));
        let grown = |params: &Params| {
            let mut window = CongestionWindow::new(params);
            (0..10).for_each(|_| window.grow(1460));
            window.cwnd
        };
        assert_eq!(grown(&params), 10_956);
        params.extra_increase = true;
        assert!((12_000..12_250).contains(&grown(&params)));
    }

    #[test]
    fn slow_start_goes_one_segment_past_the_threshold() {
        let params = Params { initial_ssthresh: Some(Bytes(4 * 1460)), ..defaults() };
        let mut window = CongestionWindow::new(&params);
        let grown = [(); 6].map(|()| {
            window.grow(1460);
            window.cwnd
        });
        let avoidance = 5 * 1460 + 1460 / 5;
        assert_eq!(grown, [2920, 4380, 5840, 7300, avoidance, avoidance + 1460 * 1460 / avoidance]);
    }

    #[test]
    fn the_window_opens_no_further_than_can_be_advertised() {
        let mut window = CongestionWindow::new(&defaults());
        (0..1000).for_each(|_| window.grow(1460));
        assert_eq!(window.cwnd, 131_070);
    }

    #[test]
    fn an_idle_time_never_opens_the_window() {
        let mut window = CongestionWindow::new(&Params { initial_window: 4, ..defaults() });
        (0..3).for_each(|_| window.grow(1460));
        window.restart();
        assert_eq!(window.cwnd, 4 * 1460);
        window.collapse(u64::MAX, Timeout::First);
        window.restart();
        assert_eq!(window.cwnd, 1460);
    }

    #[test]
    fn behind_an_idle_time_the_window_is_that_of_a_kernel_to_a_segment() {
        let recorded = vector("recovery");
        let idle = recorded["kernel"]["idle"].as_array().unwrap();
        let mut halvings = std::collections::BTreeSet::new();
        for case in idle {
            let number = |key: &str| case[key].as_u64().unwrap();
            let params =
                Params { laws: Laws::Linux, initial_window: 10, window: Bytes(64 << 20), ..defaults() };
            let mut window = CongestionWindow::new(&params);
            let unlimited = number("ssthresh") == u64::from(i32::MAX as u32);
            window.cwnd = number("cwnd") * window.mss;
            window.ssthresh = if unlimited { UNLIMITED } else { number("ssthresh") * window.mss };
            let (idle, rto) = (Span::millis(number("idle_ms")), Span::micros(number("rto_us")));
            if idle > rto {
                window.rest(idle, rto);
            }
            let after = window.cwnd / window.mss;
            assert!(after.abs_diff(number("cwnd_after")) <= 1, "{case}: {after}");
            let threshold = window.threshold().map(|octets| octets / window.mss);
            assert_eq!(threshold, (!unlimited).then(|| number("ssthresh_after")), "{case}");
            halvings.insert(number("cwnd") / number("cwnd_after"));
        }
        assert!(halvings.len() > 4 && idle.len() > 20, "{halvings:?}");
    }

    #[test]
    fn an_application_that_uses_a_part_of_the_window_halves_the_rest_of_it_in_each_timeout() {
        let params = Params { laws: Laws::Linux, initial_window: 10, ..defaults() };
        let mut window = CongestionWindow::new(&params);
        (window.cwnd, window.ssthresh) = (101 * 1460, 1460);
        window.shrink_towards(40 * 1460);
        assert_eq!((window.cwnd / 1460, window.ssthresh / 1460), (70, 50 + 25));
        window.shrink_towards(1460);
        assert_eq!(
            (window.cwnd / 1460, window.ssthresh / 1460),
            (40, 75),
            "the initial window counts as used"
        );
        window.shrink_towards(41 * 1460);
        assert_eq!(window.cwnd / 1460, 40);
    }

    #[test]
    fn an_ack_of_linux_opens_the_window_by_all_that_it_delivers() {
        let params = Params { laws: Laws::Linux, byte_counting: true, ..defaults() };
        let mut window = CongestionWindow::new(&params);
        window.grow(5 * 1460);
        assert_eq!(window.cwnd, 6 * 1460);
    }

    #[test]
    fn half_a_window_is_counted_in_whole_segments_and_never_less_than_two() {
        let mut window = CongestionWindow::new(&defaults());
        window.cwnd = 15 * 1460;
        window.halve(u64::MAX);
        assert_eq!(window.ssthresh, 7 * 1460);
        window.halve(9 * 1460 + 1459);
        assert_eq!(window.ssthresh, 4 * 1460);
        window.cwnd = 1460;
        window.collapse(u64::MAX, Timeout::First);
        assert_eq!((window.ssthresh, window.cwnd), (2 * 1460, 1460));
    }

    #[test]
    fn a_loss_in_the_round_trip_of_a_mark_does_not_halve_the_window_once_more() {
        let facts = |is_reduced| Facts { is_reduced, ..Facts::plain() };
        let entered = |is_reduced| {
            let mut window = CongestionWindow::new(&defaults());
            (window.cwnd, window.ssthresh) = (20 * 1460, 20 * 1460);
            window.enter_recovery(facts(is_reduced), 3);
            (window.ssthresh / 1460, window.cwnd / 1460, window.inflation / 1460)
        };
        assert_eq!((entered(false), entered(true)), ((10, 10, 3), (20, 20, 3)));
    }

    #[test]
    fn a_repeated_timeout_leaves_the_threshold_to_the_first_one() {
        let mut window = CongestionWindow::new(&defaults());
        window.cwnd = 20 * 1460;
        window.collapse(u64::MAX, Timeout::First);
        window.collapse(u64::MAX, Timeout::Repeated);
        assert_eq!((window.ssthresh, window.cwnd), (10 * 1460, 1460));
        window.collapse(u64::MAX, Timeout::First);
        assert_eq!(window.ssthresh, 2 * 1460);
    }

    #[test]
    fn a_partial_ack_takes_from_the_inflation_first_and_leaves_a_segment() {
        let mut window = CongestionWindow::new(&defaults());
        let deflated = |acked: u64| {
            (window.cwnd, window.inflation) = (10 * 1460, 5 * 1460);
            window.deflate(acked * 1460);
            (window.cwnd / 1460, window.inflation / 1460)
        };
        assert_eq!([1, 4, 6, 8, 15, 20].map(deflated), [(10, 5), (10, 2), (10, 0), (8, 0), (1, 0), (1, 0)]);
    }
}
