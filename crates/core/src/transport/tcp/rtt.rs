//! Clock ticks, round-trip estimation and the retransmission timeout.
//!
//! *Source*: V. Jacobson, "Congestion Avoidance and Control", SIGCOMM 1988, appendix A, in the integer arithmetic of
//! 4.4BSD (`tcp_xmit_timer`, `tcp_timers`; Stevens, vol. 2, chapter 25): time is counted in ticks of the slow
//! timer, the smoothed time has three and the mean deviation two bits after the binary point.
//!
//! Two things follow RFC 6298 (V. Paxson et al., "Computing TCP's Retransmission Timer", 2011) unless the scenario
//! asks for 4.4BSD's ways: how consecutive timeouts grow ([`Backoff`]), and the values before the first measurement
//! ([`InitialEstimate`]).
//!
//! 4.4BSD keeps one free-running tick for all connections of a host. A measurement is the number of tick edges that
//! passed, and a timer of n ticks ends at the n-th edge, hence lasts between n - 1 and n ticks. With a tick of one
//! picosecond the same arithmetic is exact.

use super::Params;
use crate::choice;
use crate::units::{Span, Time};

choice! {
    /// How consecutive timeouts grow.
    pub enum Backoff {
        /// Each one doubles the timeout in force, to which `min_rto` has been applied, up to `max_rto` (RFC 6298, 2.4 and
        /// 5.5). Only the first one for a segment halves the window (RFC 5681 section 3.1).
        Rfc6298 = "rfc6298",
        /// They multiply the estimate by 2, 4, … 64, and apply `min_rto` to the product: nothing doubles while that is less
        /// than `min_rto`. Each one halves the window (4.4BSD).
        Bsd = "bsd",
    }
}

choice! {
    /// Role of the initial values in the first measurement and in the back-off before it.
    pub enum InitialEstimate {
        /// A timeout and no more: the back-off doubles it, and the first measurement replaces it (RFC 6298, 2.1 and 2.2).
        /// Where the SYN was sent again, data begin with 3 s at least (5.7).
        Rfc6298 = "rfc6298",
        /// An estimate: the first measurement is averaged into `initial_srtt` and `initial_mdev`; without them the back-off
        /// of `bsd` starts from twice `initial_rto` (4.4BSD).
        Bsd = "bsd",
    }
}

choice! {
    /// What `min_rto` bounds.
    pub enum RtoFloor {
        /// The timeout: max(`min_rto`, srtt + 4 mdev) (RFC 6298, 2.4).
        Sum = "sum",
        /// Its part for variance: srtt + max(`min_rto`, 4 mdev), as in Linux (`tcp_rtt_estimator`, `tcp_set_rto`).
        Variance = "variance",
    }
}

/// The free-running clock of a host's timer, in ticks; it needs no events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TickClock {
    granularity: u64,
    phase: u64,
}

impl TickClock {
    /// Build a clock with tick edges at `phase`, `phase + granularity`, …; `granularity` must not be zero.
    pub fn new(granularity: Span, phase: Span) -> TickClock {
        TickClock { granularity: granularity.0, phase: phase.0 % granularity.0 }
    }

    /// Return the instant of the `ticks`-th edge after `now`; an edge at `now` itself has passed.
    pub fn after(&self, now: Time, ticks: u64) -> Time {
        let edge = (self.passed(now) + ticks).saturating_sub(1);
        Time(edge.saturating_mul(self.granularity).saturating_add(self.phase))
    }

    /// Return the number of edges after `from`, up to and including `to`.
    pub fn between(&self, from: Time, to: Time) -> u64 {
        self.passed(to) - self.passed(from)
    }

    /// Return the number of ticks that last at least `span`.
    pub fn ticks(&self, span: Span) -> u64 {
        span.0.div_ceil(self.granularity)
    }

    /// Return the length of `ticks` ticks.
    pub fn span(&self, ticks: u64) -> Span {
        Span(ticks.saturating_mul(self.granularity))
    }

    /// Return the number of edges up to and including `at`.
    fn passed(&self, at: Time) -> u64 {
        (at.0 + (self.granularity - self.phase)) / self.granularity
    }
}

/// Smoothed round-trip time, its mean deviation, the timeout computed from them, and the back-off; all in ticks.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Estimator {
    /// Smoothed round-trip time, scaled by 8; 0 before the first measurement.
    srtt: i64,
    /// Four times the mean deviation: the mean deviation scaled by 4.
    rttvar: i64,
    /// Timeouts since the last measurement.
    backoffs: u32,
    backoff: Backoff,
    /// Bounds of the timeout.
    min: u64,
    max: u64,
    /// Least value of the timeout's part for variance.
    least_variance: i64,
    /// With such a least value: the largest mean deviation in this round trip; next, the deviation that the timeout
    /// uses. Both are scaled like `rttvar`.
    largest: i64,
    in_force: i64,
    persist_min: u64,
    persist_max: u64,
    /// The timeout in force. It is the last field, next to the sender's data, because sending and acknowledging need
    /// no other field.
    timeout: u64,
}

impl Estimator {
    /// Build the state of a new connection.
    pub fn new(params: &Params, clock: &TickClock) -> Estimator {
        let floor = clock.ticks(params.min_rto).max(1);
        let (min, least_variance) = match params.rto_floor {
            RtoFloor::Sum => (floor, 0),
            RtoFloor::Variance => (1, floor as i64),
        };
        let mut estimator = Estimator {
            srtt: 0,
            rttvar: 0,
            backoffs: 0,
            backoff: params.backoff,
            timeout: 0,
            min,
            max: clock.ticks(params.max_rto).max(1),
            least_variance,
            largest: least_variance,
            in_force: least_variance,
            persist_min: clock.ticks(PERSIST_MIN),
            persist_max: clock.ticks(PERSIST_MAX),
        };
        estimator.start(params, clock);
        estimator
    }

    /// Set the initial values. With a smoothed time of 0 the next measurement replaces it.
    fn start(&mut self, params: &Params, clock: &TickClock) {
        let mut ticks = clock.ticks(params.initial_rto);
        if let (Some(srtt), Some(mdev)) = (params.initial_srtt, params.initial_mdev) {
            self.srtt = (clock.ticks(srtt) as i64) << SRTT_BITS;
            self.rttvar = (clock.ticks(mdev) as i64) << RTTVAR_BITS;
            ticks = self.unclipped();
        }
        match params.initial_estimate {
            InitialEstimate::Rfc6298 => (self.srtt, self.rttvar) = (0, ticks as i64),
            InitialEstimate::Bsd if self.srtt == 0 => self.rttvar = 2 * ticks as i64, // tcp_newtcpcb
            InitialEstimate::Bsd => {}
        }
        self.timeout = self.clipped(ticks);
    }

    /// Restart after the SYN was sent again, so that the handshake measured no round trip: a first timeout of less than
    /// 3 s was too short for this path, and data begin with 3 s (RFC 6298, 5.7).
    pub fn restart_after_syn_loss(&mut self, clock: &TickClock) {
        let ticks = clock.ticks(AFTER_SYN_LOSS);
        if self.unclipped() < ticks {
            self.rttvar = ticks as i64;
            self.backoffs = 0;
            self.timeout = self.clipped(ticks);
        }
    }

    /// Add the measurement of a round trip during which `edges` edges passed, and end the back-off
    /// (`tcp_xmit_timer`).
    ///
    /// 4.4BSD counts from one: the first measurement keeps the extra tick, later ones drop it.
    /// `ends_round` says that a round trip of measurements is over.
    pub fn sample(&mut self, edges: u64, ends_round: bool) {
        let rtt = edges as i64 + 1;
        if self.srtt == 0 {
            self.srtt = rtt << SRTT_BITS;
            self.rttvar = rtt << (RTTVAR_BITS - 1);
        } else {
            let error = rtt - 1 - (self.srtt >> SRTT_BITS);
            self.srtt = (self.srtt + error).max(1);
            let change = error.abs() - (self.rttvar >> RTTVAR_BITS);
            let is_shorter = self.least_variance > 0 && error < 0 && change > 0;
            self.rttvar = (self.rttvar + if is_shorter { change >> SRTT_BITS } else { change }).max(1);
        }
        self.hold_variance(ends_round);
        self.backoffs = 0;
        self.timeout = self.clipped(self.unclipped());
    }

    /// Limit the fall of the deviation: with a least part for variance, a rise of the largest mean deviation in a
    /// round trip takes effect at once, a fall only by a quarter of the difference per round trip
    /// (`tcp_rtt_estimator` of Linux).
    fn hold_variance(&mut self, ends_round: bool) {
        self.largest = self.largest.max(self.rttvar);
        self.in_force = self.in_force.max(self.largest);
        if ends_round {
            let above = self.in_force - self.largest;
            self.in_force -= (above + 3) >> RTTVAR_BITS; // rounded up, since ticks are coarser than the kernel's microseconds
            self.largest = self.least_variance;
        }
    }

    /// Lengthen the timeout after the timer has expired, and after the fourth time in a row discard the estimate, so
    /// that the next measurement replaces it (4.4BSD; RFC 6298 section 5 allows it).
    pub fn back_off(&mut self) {
        let factor = self.next_factor();
        self.timeout = self.clipped(match self.backoff {
            Backoff::Rfc6298 => self.timeout.saturating_mul(2),
            Backoff::Bsd => self.unclipped().saturating_mul(factor),
        });
        if self.backoffs > MAX_BACKOFFS / 4 {
            self.rttvar += self.srtt >> SRTT_BITS;
            self.srtt = 0;
        }
    }

    /// Return the ticks until the next window probe; each call doubles this time, between 5 and 60 s
    /// (`tcp_setpersist`).
    pub fn persist(&mut self) -> u64 {
        let ticks = (((self.srtt >> 2) + self.rttvar) >> 1) as u64;
        let factor = 1u64 << self.backoffs.min(MAX_DOUBLINGS);
        self.next_factor();
        ticks.saturating_mul(factor).clamp(self.persist_min, self.persist_max)
    }

    /// End the back-off.
    pub fn end_backoff(&mut self) {
        self.backoffs = 0;
    }

    /// Return the retransmission timeout in ticks, back-off included.
    pub fn timeout(&self) -> u64 {
        self.timeout
    }

    /// Return the smoothed round-trip time in whole ticks; `None` before the first measurement.
    pub fn srtt(&self) -> Option<u64> {
        (self.srtt != 0).then_some((self.srtt >> SRTT_BITS) as u64)
    }

    /// Return srtt + 4 mdev (`TCP_REXMTVAL`), with the least part for variance.
    fn unclipped(&self) -> u64 {
        let variance = if self.least_variance > 0 { self.in_force.max(self.rttvar) } else { self.rttvar };
        ((self.srtt >> SRTT_BITS) + variance) as u64
    }

    fn clipped(&self, ticks: u64) -> u64 {
        ticks.clamp(self.min, self.max)
    }

    fn next_factor(&mut self) -> u64 {
        self.backoffs = (self.backoffs + 1).min(MAX_BACKOFFS);
        1 << self.backoffs.min(MAX_DOUBLINGS)
    }
}

/// Fraction bits of the smoothed round-trip time: a gain of 1/8.
const SRTT_BITS: u32 = 3;
/// Fraction bits of the mean deviation: a gain of 1/4.
const RTTVAR_BITS: u32 = 2;
/// Greatest number of back-offs that are counted: TCP_MAXRXTSHIFT, after which 4.4BSD gives up, while this model
/// continues.
const MAX_BACKOFFS: u32 = 12;
/// Number of steps of tcp_backoff[] that double the timeout.
const MAX_DOUBLINGS: u32 = 6;
/// The first timeout of data after a SYN that was sent again (RFC 6298, 5.7).
const AFTER_SYN_LOSS: Span = Span::secs(3);
/// Shortest time between two window probes: TCPTV_PERSMIN.
const PERSIST_MIN: Span = Span::secs(5);
/// Longest time between two window probes: TCPTV_PERSMAX.
const PERSIST_MAX: Span = Span::secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    fn estimator(tick: Span, change: impl Fn(&mut Params)) -> Estimator {
        let mut params = super::super::tests::defaults();
        params.min_rto = Span::ZERO;
        change(&mut params);
        Estimator::new(&params, &TickClock::new(tick, Span::ZERO))
    }

    #[test]
    fn a_timer_of_n_ticks_ends_at_the_nth_edge_after_it_was_set() {
        let clock = TickClock::new(Span(100), Span(30));
        assert_eq!(clock.after(Time(0), 1), Time(30));
        assert_eq!(clock.after(Time(29), 2), Time(130));
        assert_eq!(clock.after(Time(30), 1), Time(130));
        assert_eq!(clock.after(Time(31), 3), Time(330));
        assert_eq!(clock.between(Time(0), Time(30)), 1);
        assert_eq!(clock.between(Time(30), Time(129)), 0);
        assert_eq!(clock.between(Time(29), Time(230)), 3);
    }

    #[test]
    fn a_tick_of_a_picosecond_is_exact() {
        let clock = TickClock::new(Span(1), Span::ZERO);
        assert_eq!(clock.after(Time(77), 23), Time(100));
        assert_eq!(clock.between(Time(77), Time(100)), 23);
    }

    #[test]
    fn a_span_is_covered_by_ticks_and_no_timeout_is_shorter_than_one() {
        let clock = TickClock::new(Span::millis(200), Span::ZERO);
        let ticks = |span: Span| clock.ticks(span);
        assert_eq!([Span::secs(1), Span(Span::secs(1).0 + 1), Span(1)].map(ticks), [5, 6, 1]);
        let shortest = |max_rto| {
            let mut estimator = estimator(Span::millis(200), |params| params.max_rto = max_rto);
            (estimator.srtt, estimator.rttvar) = (1, 0);
            (estimator.clipped(estimator.unclipped()), estimator.clipped(1000))
        };
        assert_eq!(shortest(Span::millis(1)), (1, 1));
        assert_eq!(shortest(Span::secs(1)), (1, 5));
    }

    fn timeouts(mut estimator: Estimator, count: usize) -> Vec<u64> {
        let mut ticks = vec![estimator.timeout()];
        ticks.resize_with(count, || {
            estimator.back_off();
            estimator.timeout()
        });
        ticks
    }

    #[test]
    fn without_a_measurement_the_back_off_doubles_the_first_timeout() {
        let estimator = estimator(Span::secs(1), |params| params.initial_rto = Span::secs(1));
        assert_eq!(timeouts(estimator, 8), [1, 2, 4, 8, 16, 32, 64, 64]);
    }

    #[test]
    fn in_44bsd_the_back_off_starts_from_twice_the_first_timeout() {
        // Stevens, vol. 2, chapter 25: 6, 24, 48, 64 s
        let estimator = estimator(Span::millis(500), |params| {
            params.initial_rto = Span::secs(6);
            (params.backoff, params.initial_estimate) = (Backoff::Bsd, InitialEstimate::Bsd);
        });
        assert_eq!(timeouts(estimator, 4), [12, 48, 96, 128]);
    }

    #[test]
    fn the_least_timeout_is_what_the_back_off_doubles() {
        let grown = |backoff| {
            let mut estimator = estimator(Span::millis(1), |params| {
                params.min_rto = Span::millis(200);
                params.backoff = backoff;
            });
            estimator.sample(4, true); // 15 ms
            timeouts(estimator, 5)
        };
        assert_eq!(grown(Backoff::Rfc6298), [200, 400, 800, 1600, 3200]);
        assert_eq!(grown(Backoff::Bsd), [200, 200, 200, 200, 240]);
    }

    #[test]
    fn with_a_floor_for_variance_the_timeout_is_that_of_a_kernel() {
        // Linux 6.18, whose jiffy of 4 ms rounds up: a steady round trip and the timeout, in ms
        for (rtt_us, kernel_ms) in
            [(81_500, 284), (91_300, 292), (146_600, 348), (227_100, 428), (250_300, 452)]
        {
            let change = |params: &mut Params| {
                (params.min_rto, params.rto_floor) = (Span::millis(200), RtoFloor::Variance);
            };
            let clock = TickClock::new(Span::millis(1), Span::ZERO);
            let mut estimator = estimator(Span::millis(1), change);
            for round in 0..100 {
                let sent = Time::ZERO + Span::micros(round * 300_123);
                estimator.sample(clock.between(sent, sent + Span::micros(rtt_us)), true);
            }
            assert_eq!(estimator.timeout().next_multiple_of(4), kernel_ms, "{rtt_us} us");
            estimator.back_off();
            assert!(estimator.timeout().abs_diff(2 * kernel_ms) <= 8, "the whole timeout doubles");
        }
    }

    #[test]
    fn a_longer_round_trip_raises_the_variance_at_once_and_lowers_it_slowly() {
        // after tcp_rtt_estimator, in ms: a step from 50 to 400, each measurement a round trip of its own
        let change = |params: &mut Params| {
            (params.min_rto, params.rto_floor) = (Span::millis(200), RtoFloor::Variance);
        };
        let mut estimator = estimator(Span::millis(1), change);
        (0..60).for_each(|_| estimator.sample(50, true));
        assert_eq!(estimator.timeout(), 250);
        let mut timeouts = Vec::new();
        for _ in 0..60 {
            estimator.sample(400, true);
            timeouts.push(estimator.timeout());
        }
        // srtt 93, mdev a quarter of the error of 350
        assert!(timeouts[0].abs_diff(443) <= 6, "{timeouts:?}");
        assert!(timeouts[8] > 600 + 100, "the largest deviation still counts: {timeouts:?}");
        assert!(timeouts[59].abs_diff(600) <= 8, "{timeouts:?}");
    }

    #[test]
    fn with_a_floor_for_variance_a_shorter_round_trip_raises_the_deviation_by_an_eighth_of_that() {
        // after tcp_rtt_estimator, in ms: 1000 until now, of which little deviation is left
        let deviation = |next: u64| {
            let change = |params: &mut Params| {
                (params.min_rto, params.rto_floor) = (Span::millis(1), RtoFloor::Variance);
            };
            let mut estimator = estimator(Span::millis(1), change);
            (0..200).for_each(|_| estimator.sample(1000, true));
            let before = estimator.rttvar;
            estimator.sample(next, true);
            estimator.rttvar - before
        };
        assert!((398..=400).contains(&deviation(1400)), "{}", deviation(1400));
        assert!((48..=50).contains(&deviation(600)), "{}", deviation(600));
    }

    #[test]
    fn the_first_measurement_counts_from_one_and_gives_three_times_itself() {
        let mut estimator = estimator(Span::millis(200), |_| ());
        estimator.sample(0, true); // less than a tick
        assert_eq!(estimator.timeout(), 3);
        estimator.sample(0, true); // now the extra tick is dropped: srtt 7/8, rttvar 2 + |-1| - 0
        assert_eq!((estimator.srtt, estimator.rttvar), (7, 3));
    }

    #[test]
    fn the_estimate_follows_a_constant_round_trip_and_its_deviation_dies_out() {
        let mut estimator = estimator(Span(1), |_| ());
        let rtt = Span::millis(10).0;
        for _ in 0..200 {
            estimator.sample(rtt, true);
        }
        assert!(estimator.timeout().abs_diff(rtt) < 16, "{}", estimator.timeout());
    }

    #[test]
    fn given_initial_values_replace_the_initial_timeout_and_the_first_measurement_replaces_them() {
        let started = |initial_estimate| {
            let mut estimator = estimator(Span::micros(1), |params| {
                params.initial_srtt = Some(Span::millis(10));
                params.initial_mdev = Some(Span::millis(1));
                params.initial_estimate = initial_estimate;
            });
            let before = estimator.timeout();
            estimator.sample(2000, true);
            (before, estimator.timeout())
        };
        assert_eq!(started(InitialEstimate::Rfc6298), (14_000, 3 * 2001));
        // srtt 10 - 8/8, mdev 1 + (8 - 1)/4
        assert_eq!(started(InitialEstimate::Bsd), (14_000, 9_000 + 4 * 2_750));
    }

    #[test]
    fn behind_a_lost_syn_data_begin_with_three_seconds_at_least() {
        let behind = |initial_rto| {
            let mut estimator = estimator(Span::secs(1), |params| params.initial_rto = initial_rto);
            (0..2).for_each(|_| estimator.back_off());
            estimator.restart_after_syn_loss(&TickClock::new(Span::secs(1), Span::ZERO));
            timeouts(estimator, 3)
        };
        assert_eq!(behind(Span::secs(1)), [3, 6, 12]);
        assert_eq!(behind(Span::secs(2)), [3, 6, 12]);
        assert_eq!(behind(Span::secs(3)), [12, 24, 48]);
    }

    #[test]
    fn after_four_timeouts_in_a_row_the_next_measurement_starts_anew() {
        let mut estimator = estimator(Span(1), |params| params.max_rto = Span::secs(64));
        estimator.sample(1000, true);
        let before = estimator.unclipped();
        (0..3).for_each(|_| estimator.back_off());
        assert!(estimator.srtt > 0, "not yet");
        estimator.back_off();
        assert_eq!(estimator.srtt, 0);
        assert_eq!(estimator.unclipped(), before);
        estimator.sample(10, true);
        assert_eq!(estimator.timeout(), 3 * 11);
    }
}
