//! How the rates of circuits are measured: section IV.

use super::{Meter, Params};
use crate::refused::{Refused, refuse};
use crate::units::Span;

/// The accepted rate of every circuit.
#[derive(Clone, Debug)]
pub(super) struct Gauge {
    meter: Meter,
    interval: f64,
    memory: f64,
    /// Octets accepted in the current interval: c_i.
    pub(super) accepted: Vec<u64>,
    /// Number of intervals in the window.
    intervals: usize,
    /// What was accepted in each, a row of circuits behind another, and the row to be replaced next.
    history: Vec<u64>,
    oldest: usize,
    /// Octets accepted in the window: C_i.
    total: Vec<u64>,
    /// Octets per second: r_i.
    pub(super) rates: Vec<f64>,
}

impl Gauge {
    pub(super) fn new(params: &Params, vcs: usize) -> Result<Gauge, Refused> {
        if params.interval == Span::ZERO {
            return refuse("interval", "must be longer than 0 s");
        }
        if !(0.0..1.0).contains(&params.memory) {
            return refuse("memory", "must be at least 0 and less than 1");
        }
        let intervals = match params.meter {
            Meter::MovingAverage => 0,
            Meter::SlidingWindow => intervals(params.window, params.interval, vcs)?,
        };
        Ok(Gauge {
            meter: params.meter,
            interval: params.interval.as_secs_f64(),
            memory: params.memory,
            accepted: vec![0; vcs],
            intervals,
            history: vec![0; intervals * vcs],
            oldest: 0,
            total: vec![0; vcs],
            rates: vec![0.0; vcs],
        })
    }

    /// An interval δ is over.
    pub(super) fn measure(&mut self) {
        match self.meter {
            Meter::MovingAverage => self.average(),
            Meter::SlidingWindow => self.slide(),
        }
        self.accepted.fill(0);
    }

    /// Equation (2): r ← q · r + (1 − q) · c / δ.
    fn average(&mut self) {
        for (rate, &accepted) in self.rates.iter_mut().zip(&self.accepted) {
            *rate = self.memory * *rate + (1.0 - self.memory) * accepted as f64 / self.interval;
        }
    }

    /// Equation (1): C(k + 1) = C(k) − c(k + 1 − n) + c(k + 1); r = C / T.
    fn slide(&mut self) {
        let window = self.interval * self.intervals as f64;
        let vcs = self.total.len();
        let leaving = &mut self.history[self.oldest * vcs..][..vcs];
        for (vc, total) in self.total.iter_mut().enumerate() {
            *total = *total - leaving[vc] + self.accepted[vc];
            self.rates[vc] = *total as f64 / window;
        }
        leaving.copy_from_slice(&self.accepted);
        self.oldest = (self.oldest + 1) % self.intervals;
    }
}

/// What a window remembers at most: intervals times circuits.
const MOST_REMEMBERED: u64 = 10_000_000;

/// n = T / δ.
fn intervals(window: Span, interval: Span, vcs: usize) -> Result<usize, Refused> {
    if window == Span::ZERO || !window.0.is_multiple_of(interval.0) {
        return refuse("window", format!("must be a multiple of the interval of {interval}"));
    }
    let (intervals, most) = (window.0 / interval.0, MOST_REMEMBERED / vcs.max(1) as u64);
    if intervals > most {
        let have = format!("must have at most {most} intervals of {interval} for {vcs} circuits");
        return refuse("window", have);
    }
    Ok(intervals as usize)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{DEFAULTS, near};
    use super::*;

    #[test]
    fn the_moving_average_follows_equation_2() {
        let mut gauge = Gauge::new(&DEFAULTS, 1).unwrap();
        for (accepted, rate) in [(1000, 5000.0), (0, 4750.0), (2000, 14_512.5)] {
            gauge.accepted[0] = accepted;
            gauge.measure();
            assert!(near(gauge.rates[0], rate, 6), "{}", gauge.rates[0]);
            assert_eq!(gauge.accepted[0], 0, "counters are reset at the end of each δ");
        }
    }

    #[test]
    fn the_sliding_window_remembers_the_last_n_intervals_equally_and_nothing_before() {
        const INTERVALS: [(u64, u64); 8] =
            [(300, 300), (600, 900), (0, 900), (300, 1200), (0, 900), (0, 300), (0, 300), (0, 0)];
        let params = Params { meter: Meter::SlidingWindow, window: Span::millis(40), ..DEFAULTS };
        let mut gauge = Gauge::new(&params, 1).unwrap();
        for (accepted, total) in INTERVALS {
            gauge.accepted[0] = accepted;
            gauge.measure();
            assert_eq!(gauge.total[0], total);
            assert!(near(gauge.rates[0], total as f64 / 0.04, 6));
        }
    }
}
