//! Measurement of the rates of circuits: section IV.

use std::collections::VecDeque;

use super::{Meter, Params};
use crate::refused::{Refused, refuse};
use crate::units::ids::{IdVec, PortVc};
use crate::units::{Span, Time};

/// The accepted rate of every circuit.
#[derive(Clone, Debug)]
pub(super) struct Gauge {
    meter: Meter,
    interval: f64,
    memory: f64,
    /// Octets accepted in the current interval: c_i.
    pub(super) accepted: IdVec<PortVc, u64>,
    /// Number of intervals in the window.
    intervals: usize,
    /// Accepted units of each circuit in each interval, and the index of the interval to be replaced next.
    history: Vec<IdVec<PortVc, u64>>,
    oldest: usize,
    /// Octets accepted in the window: C_i.
    total: IdVec<PortVc, u64>,
    /// Length of the window, and, if the window moves with every unit, each unit accepted in it.
    window: Span,
    recent: VecDeque<GaugedUnit>,
    /// Rate of each circuit in octets per second: r_i.
    pub(super) rates: IdVec<PortVc, f64>,
}

/// An accepted unit in a window that moves with every unit.
#[derive(Clone, Copy, Debug)]
struct GaugedUnit {
    at: Time,
    vc: PortVc,
    octets: u64,
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
            Meter::CellWindow if params.window == Span::ZERO => {
                return refuse("window", "must be longer than 0 s");
            }
            Meter::CellWindow => 0,
        };
        Ok(Gauge {
            meter: params.meter,
            interval: params.interval.as_secs_f64(),
            memory: params.memory,
            accepted: IdVec::filled(0, vcs),
            intervals,
            history: vec![IdVec::filled(0, vcs); intervals],
            oldest: 0,
            total: IdVec::filled(0, vcs),
            window: params.window,
            recent: VecDeque::new(),
            rates: IdVec::filled(0.0, vcs),
        })
    }

    /// Return whether rates are measured at every frame, without a clock.
    pub(super) fn has_no_clock(&self) -> bool {
        self.meter == Meter::CellWindow
    }

    /// Count an accepted unit.
    pub(super) fn accept(&mut self, at: Time, vc: PortVc, octets: u64) {
        if self.has_no_clock() {
            self.total[vc] += octets;
            self.recent.push_back(GaugedUnit { at, vc, octets });
        } else {
            self.accepted[vc] += octets;
        }
    }

    /// Subtract the latest accepted unit of a circuit, which is lost after all.
    pub(super) fn take_back(&mut self, vc: PortVc, octets: u64) {
        if !self.has_no_clock() {
            self.accepted[vc] -= octets;
        } else if let Some(place) =
            self.recent.iter().rposition(|unit| unit.vc == vc && unit.octets == octets)
        {
            self.recent.remove(place);
            self.total[vc] -= octets;
        }
    }

    /// Move the window to its end `now`, and set each rate to r = C / T over the last T.
    pub(super) fn slide_to(&mut self, now: Time) {
        while let Some(&GaugedUnit { vc, octets, .. }) =
            self.recent.front().filter(|unit| unit.at + self.window <= now)
        {
            self.recent.pop_front();
            self.total[vc] -= octets;
        }
        let window = self.window.as_secs_f64();
        for (rate, &total) in self.rates.iter_mut().zip(&self.total) {
            *rate = total as f64 / window;
        }
    }

    /// Measure the rates at the end of an interval δ.
    pub(super) fn measure(&mut self) {
        match self.meter {
            Meter::MovingAverage => self.average(),
            Meter::SlidingWindow => self.slide(),
            Meter::CellWindow => unreachable!("a window that moves with every cell has no clock"),
        }
        self.accepted.fill(0);
    }

    /// Apply equation (2): r ← q · r + (1 − q) · c / δ.
    fn average(&mut self) {
        for (rate, &accepted) in self.rates.iter_mut().zip(&self.accepted) {
            *rate = self.memory * *rate + (1.0 - self.memory) * accepted as f64 / self.interval;
        }
    }

    /// Apply equation (1): C(k + 1) = C(k) − c(k + 1 − n) + c(k + 1); r = C / T.
    fn slide(&mut self) {
        let window = self.interval * self.intervals as f64;
        let leaving = &mut self.history[self.oldest];
        for (vc, total) in self.total.pairs_mut() {
            *total = *total - leaving[vc] + self.accepted[vc];
            self.rates[vc] = *total as f64 / window;
        }
        std::mem::swap(leaving, &mut self.accepted);
        self.oldest = (self.oldest + 1) % self.intervals;
    }
}

/// Largest number of counts that a window may store: intervals times circuits.
const MOST_REMEMBERED: u64 = 10_000_000;

/// Return the number of intervals in the window, n = T / δ.
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
            gauge.accepted[PortVc(0)] = accepted;
            gauge.measure();
            assert!(near(gauge.rates[PortVc(0)], rate, 6), "{}", gauge.rates[PortVc(0)]);
            assert_eq!(gauge.accepted[PortVc(0)], 0, "counters are reset at the end of each δ");
        }
    }

    #[test]
    fn the_window_that_moves_with_every_cell_forgets_each_after_its_length() {
        let params = Params { meter: Meter::CellWindow, window: Span::millis(10), ..DEFAULTS };
        let mut gauge = Gauge::new(&params, 2).unwrap();
        let ms = |n: u64| Time::ZERO + Span::millis(n);
        gauge.accept(ms(0), PortVc(0), 300);
        gauge.accept(ms(4), PortVc(1), 600);
        gauge.accept(ms(4), PortVc(1), 53);
        gauge.take_back(PortVc(1), 53);
        for (now, rates) in
            [(4, [30_000.0, 60_000.0]), (9, [30_000.0, 60_000.0]), (10, [0.0, 60_000.0]), (14, [0.0; 2])]
        {
            gauge.slide_to(ms(now));
            assert!(
                near(gauge.rates[PortVc(0)], rates[0], 6) && near(gauge.rates[PortVc(1)], rates[1], 6),
                "{:?}",
                gauge.rates
            );
        }
    }

    #[test]
    fn the_sliding_window_remembers_the_last_n_intervals_equally_and_nothing_before() {
        const INTERVALS: [(u64, u64); 8] =
            [(300, 300), (600, 900), (0, 900), (300, 1200), (0, 900), (0, 300), (0, 300), (0, 0)];
        let params = Params { meter: Meter::SlidingWindow, window: Span::millis(40), ..DEFAULTS };
        let mut gauge = Gauge::new(&params, 1).unwrap();
        for (accepted, total) in INTERVALS {
            gauge.accepted[PortVc(0)] = accepted;
            gauge.measure();
            assert_eq!(gauge.total[PortVc(0)], total);
            assert!(near(gauge.rates[PortVc(0)], total as f64 / 0.04, 6));
        }
    }
}
