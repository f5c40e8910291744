//! Congestion windows from their papers, in octets and seconds.

/// Octets of a segment.
pub(crate) const MSS: u64 = 1000;

/// Cause of a change of the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Reno { once: bool },
    NewReno,
    Tahoe,
    Cubic,
    Dctcp,
}

/// An ACK that arrives at a window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Facts {
    pub(crate) now: f64,
    pub(crate) rtt: f64,
    /// Octets acknowledged, the first unacknowledged octet, and the octet after the last sent.
    pub(crate) acked: u64,
    pub(crate) unacknowledged: u64,
    pub(crate) sent: u64,
    pub(crate) echo: bool,
}

/// cwnd, its inflation by duplicates, and ssthresh.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    pub(crate) kind: Kind,
    by_bytes: bool,
    pub(crate) cwnd: u64,
    pub(crate) inflation: u64,
    pub(crate) ssthresh: u64,
    counted: u64,
    pub(crate) cubic: Cubic,
    dctcp: Dctcp,
}

impl Window {
    pub(crate) fn new(kind: Kind, by_bytes: bool, initial: u64) -> Window {
        Window {
            kind,
            by_bytes,
            cwnd: initial * MSS,
            inflation: 0,
            ssthresh: u64::MAX,
            counted: 0,
            cubic: Cubic::default(),
            dctcp: Dctcp { alpha: 1024, ..Dctcp::default() },
        }
    }

    /// Observe an ACK of new data; DCTCP does so in recovery, too.
    pub(crate) fn observe(&mut self, facts: Facts) {
        if self.kind == Kind::Dctcp {
            self.dctcp.count(facts);
        }
    }

    /// Grow by new data that was acknowledged outside of recovery, without an echo.
    pub(crate) fn grow(&mut self, facts: Facts) {
        match self.kind {
            Kind::Cubic if self.cubic.linux => {
                self.cubic.integers.measure(facts);
                match self.cwnd < self.ssthresh {
                    true => self.grow_as_reno(facts.acked),
                    false => self.cwnd += MSS * self.cubic.integers.avoid(self.cwnd / MSS, facts),
                }
            }
            Kind::Cubic => {
                self.cubic.measure(facts.rtt);
                let pause = facts.now - std::mem::replace(&mut self.cubic.last, facts.now);
                match self.cwnd < self.ssthresh {
                    true => {
                        self.cubic.epoch.iter_mut().for_each(|epoch| epoch[0] += pause);
                        self.grow_as_reno(facts.acked);
                    }
                    false => self.cwnd = self.cubic.avoid(self.cwnd, facts),
                }
            }
            _ => self.grow_as_reno(facts.acked),
        }
    }

    /// Grow by RFC 5681 section 3.1, or by RFC 3465 with L = 2.
    fn grow_as_reno(&mut self, acked: u64) {
        let at_threshold = self.cwnd == self.ssthresh && !self.by_bytes;
        let slow_start = self.cwnd < self.ssthresh || at_threshold;
        self.cwnd += match (slow_start, self.by_bytes) {
            (true, false) => MSS,
            (true, true) => acked.min(2 * MSS).min(self.ssthresh - self.cwnd),
            (false, false) => (MSS * MSS / self.cwnd).max(1),
            (false, true) => {
                self.counted += acked;
                let full = self.counted >= self.cwnd;
                self.counted -= if full { self.cwnd } else { 0 };
                if full { MSS } else { 0 }
            }
        };
    }

    /// Set the threshold after a loss.
    pub(crate) fn lose(&mut self) {
        let segments = match self.kind {
            Kind::Cubic if self.cubic.linux => self.cubic.integers.reduce(self.cwnd / MSS),
            Kind::Cubic => self.cubic.reduce(self.cwnd) as u64,
            _ => self.cwnd / 2 / MSS,
        };
        self.ssthresh = segments.max(2) * MSS;
        self.counted = if self.kind == Kind::Cubic { self.counted } else { 0 };
    }

    /// React to a mark, once in a round trip.
    pub(crate) fn mark(&mut self) {
        match self.kind {
            Kind::Dctcp => {
                self.ssthresh = (self.cwnd - self.cwnd * self.dctcp.alpha / 2048).max(2 * MSS);
                self.counted = 0;
            }
            _ => self.lose(),
        }
        self.cwnd = self.cwnd.min(self.ssthresh);
    }

    /// Collapse to one segment after a timeout; a segment that the timer sends for the second time does not change the
    /// threshold.
    pub(crate) fn collapse(&mut self, is_first: bool) {
        if is_first {
            self.lose();
        }
        (self.cubic.w_max, self.cubic.epoch, self.cubic.integers) = (0.0, None, Integers::default());
        (self.cwnd, self.inflation) = (MSS, 0);
    }
}

/// RFC 9438, in segments and seconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cubic {
    /// As in `bictcp_update` of Linux.
    pub(crate) linux: bool,
    integers: Integers,
    w_max: f64,
    /// cwnd before the reduction.
    prior: f64,
    rtt: f64,
    /// cwnd in octets with its fraction.
    exact: f64,
    /// Beginning of congestion avoidance, K, the level part of the curve, and W_est.
    epoch: Option<[f64; 4]>,
    /// Last time at which the window could grow: slow start does not count as congestion avoidance.
    last: f64,
}

impl Cubic {
    fn measure(&mut self, rtt: f64) {
        self.rtt = if self.rtt == 0.0 { rtt } else { 0.875 * self.rtt + 0.125 * rtt };
    }

    /// Fast convergence (section 4.7), and 0.7 of the window (section 4.6).
    fn reduce(&mut self, cwnd: u64) -> f64 {
        self.prior = cwnd as f64 / MSS as f64;
        let below = self.prior < self.w_max;
        self.w_max = if below { self.prior * (1.0 + 0.7) / 2.0 } else { self.prior };
        self.epoch = None;
        0.7 * self.prior
    }

    /// cwnd after an ACK in congestion avoidance (sections 4.2 to 4.5).
    fn avoid(&mut self, cwnd: u64, facts: Facts) -> u64 {
        if self.exact.floor() as u64 != cwnd {
            self.exact = cwnd as f64;
        }
        let (window, acked) = (self.exact / MSS as f64, facts.acked as f64 / MSS as f64);
        let origin = self.w_max.max(window);
        let start = [facts.now, ((origin - window) / 0.4).cbrt(), origin, window];
        let [began, k, level, w_est] = *self.epoch.get_or_insert(start);
        let alpha = if w_est < self.prior { 3.0 * (1.0 - 0.7) / (1.0 + 0.7) } else { 1.0 };
        let w_est = w_est + alpha * acked / window;
        self.epoch = Some([began, k, level, w_est]);
        let w_cubic = |t: f64| 0.4 * (t - k).powi(3) + level;
        let t = facts.now - began;
        let next = if w_cubic(t) < w_est {
            w_est.max(window)
        } else {
            let target = w_cubic(t + self.rtt).max(window).min(1.5 * window);
            window + (target - window) / window * acked
        };
        self.exact = next * MSS as f64;
        self.exact.floor() as u64
    }
}

/// CUBIC with the integers of Linux, its names, and a tick of 1 ms.
#[derive(Clone, Debug, Default)]
struct Integers {
    last_max_cwnd: u64,
    /// Milliseconds.
    epoch_start: Option<u64>,
    bic_k: u64,
    origin_point: u64,
    /// Octets.
    ack_cnt: u64,
    tcp_cwnd: u64,
    cnt: u64,
    last_cwnd: u64,
    /// Microseconds.
    last_time: u64,
    delay_min: Option<u64>,
    /// Octets.
    cwnd_cnt: u64,
}

impl Integers {
    fn reduce(&mut self, cwnd: u64) -> u64 {
        let below = cwnd < self.last_max_cwnd;
        self.last_max_cwnd = if below { cwnd * (1024 + 717) / (2 * 1024) } else { cwnd };
        (self.epoch_start, self.cwnd_cnt) = (None, 0);
        cwnd * 717 / 1024
    }

    fn measure(&mut self, facts: Facts) {
        let [now, rtt] = [facts.now, facts.rtt].map(|seconds| (seconds * 1e6).round() as u64);
        if self.epoch_start.is_none_or(|start| now >= 1000 * start + 1_000_000) {
            self.delay_min = Some(self.delay_min.map_or(rtt, |delay| delay.min(rtt)));
        }
    }

    /// Return by how many segments the window grows.
    fn avoid(&mut self, cwnd: u64, facts: Facts) -> u64 {
        self.update(cwnd, facts.acked, (facts.now * 1e6).round() as u64);
        let mut grown = 0;
        if self.cwnd_cnt >= self.cnt * MSS {
            (self.cwnd_cnt, grown) = (0, 1);
        }
        self.cwnd_cnt += facts.acked;
        while self.cwnd_cnt >= self.cnt * MSS {
            (self.cwnd_cnt, grown) = (self.cwnd_cnt - self.cnt * MSS, grown + 1);
        }
        grown
    }

    fn update(&mut self, cwnd: u64, acked: u64, now: u64) {
        self.ack_cnt += acked;
        if self.epoch_start.is_some() && self.last_cwnd == cwnd && now - self.last_time <= 1_000_000 / 32 {
            return;
        }
        if self.epoch_start.is_none() || now / 1000 != self.last_time / 1000 {
            (self.last_cwnd, self.last_time) = (cwnd, now);
            if self.epoch_start.is_none() {
                (self.epoch_start, self.ack_cnt, self.tcp_cwnd) = (Some(now / 1000), acked, cwnd);
                let below = self.last_max_cwnd.saturating_sub(cwnd);
                self.bic_k = ((1u64 << 40) as f64 / 410.0 * below as f64).cbrt() as u64;
                self.origin_point = self.last_max_cwnd.max(cwnd);
            }
            let ahead = self.delay_min.unwrap_or(0).div_ceil(1000);
            let t = (now / 1000 - self.epoch_start.unwrap() + ahead) * 1024 / 1000;
            let delta = (410 * t.abs_diff(self.bic_k).pow(3)) >> 40;
            let target = if t < self.bic_k { self.origin_point - delta } else { self.origin_point + delta };
            self.cnt = if target > cwnd { cwnd / (target - cwnd) } else { 100 * cwnd };
            if self.last_max_cwnd == 0 {
                self.cnt = self.cnt.min(20);
            }
        }
        let delta = (cwnd * 15 / 8) * MSS;
        while self.ack_cnt > delta {
            (self.ack_cnt, self.tcp_cwnd) = (self.ack_cnt - delta, self.tcp_cwnd + 1);
        }
        if self.tcp_cwnd > cwnd {
            self.cnt = self.cnt.min(cwnd / (self.tcp_cwnd - cwnd));
        }
        self.cnt = self.cnt.max(2);
    }
}

/// RFC 8257 with the integers of Linux.
#[derive(Clone, Debug, Default)]
struct Dctcp {
    /// In units of 1/1024.
    alpha: u64,
    acked: u64,
    marked: u64,
    window_end: u64,
}

impl Dctcp {
    fn count(&mut self, facts: Facts) {
        self.acked += facts.acked;
        self.marked += if facts.echo { facts.acked } else { 0 };
        if facts.unacknowledged > self.window_end {
            self.alpha -= if self.alpha < 16 { self.alpha } else { self.alpha / 16 };
            self.alpha = (self.alpha + 64 * self.marked / self.acked.max(1)).min(1024);
            (self.acked, self.marked, self.window_end) = (0, 0, facts.sent);
        }
    }
}
