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
        (self.cubic.w_max, self.cubic.epoch) = (0.0, None);
        (self.cwnd, self.inflation) = (MSS, 0);
    }
}

/// RFC 9438, in segments and seconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cubic {
    /// As in `bictcp_update` of Linux: the shortest round trip, and W_est as a target in whole segments with α = 8/15.
    pub(crate) linux: bool,
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
        let next = if self.linux { self.rtt.min(rtt) } else { 0.875 * self.rtt + 0.125 * rtt };
        self.rtt = if self.rtt == 0.0 { rtt } else { next };
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
        let alpha = match self.linux {
            true => 8.0 / 15.0,
            false if w_est < self.prior => 3.0 * (1.0 - 0.7) / (1.0 + 0.7),
            false => 1.0,
        };
        let w_est = w_est + alpha * acked / window;
        self.epoch = Some([began, k, level, w_est]);
        let w_cubic = |t: f64| 0.4 * (t - k).powi(3) + level;
        let t = facts.now - began;
        let next = if w_cubic(t) < w_est && !self.linux {
            w_est.max(window)
        } else {
            let reno = if self.linux { w_est.floor() } else { 0.0 };
            let target = w_cubic(t + self.rtt).max(reno).max(window).min(1.5 * window);
            window + (target - window) / window * acked
        };
        self.exact = next * MSS as f64;
        self.exact.floor() as u64
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
