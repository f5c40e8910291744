//! # Source
//! A. Rácz, G. Fodor, Z. Turányi, "Weighted fair early packet discard at an ATM switch output port", IEEE INFOCOM 1999:
//! paper 002, sections III to V.
//!
//! # Idea
//! The rate `r_i` at which each circuit is accepted is measured. Every δ the rate R of the line is divided by shares
//! α_i among the circuits that want more than their part, while the others get what they offer. Circuits above their
//! part are *violating*, and their frames are refused; those near it are *pending*, and theirs are refused
//! with a probability that rises with the rate; the others are *clear*.
//!
//! # Parameters
//! `meter`: `moving-average` (default, as in the simulations), `sliding-window`, or `cell-window`, which has no clock
//! and measures at every frame. `interval` δ and `memory` q: 10 ms and 0.95, section VI. `window` T: default 200 ms,
//! the memory of a moving average with these values. `bottom` th_b: 0.7 as in the example; `top` th_t: 1, `max_p`
//! p_p: 0.1, `margin` (R as a multiple of the line's rate): 1, none of them printed. `threshold`: occupancy from
//! which frames are refused at all, default 0 as in the simulations. Shares α_i are the weights of the circuits; only
//! their ratios matter. `pass_eom` as for PPD.
//!
//! # Differences from the paper
//! Corrections without which its own examples fail: test (8) reads "≤" and finds the first *clear* circuit; pending are
//! those from ω up to it, and violating ones up to th_t · r_sch; (10) has r_calc in both terms of its denominator; (1)
//! subtracts the interval that leaves the window; q < 1. "Smallest" ω and ν means the first in the list. Rates count
//! octets on the line, cell headers included.
//!
//! # Complexity
//! Constant per cell; N log N every δ.

mod divider;
mod gauge;

use super::{Admission, Arrival, Context, Interest, Rule, Settled, Shortcuts};
use crate::buffer::frame::Frames;
use crate::buffer::pool::Pool;
use crate::buffer::size::Level;
use crate::metrics::port::Reading;
use crate::refused::Refused;
use crate::rng::Keyed;
use crate::unit::Unit;
use crate::units::ids::{IdVec, PortVc};
use crate::units::{Span, Time};
use crate::verdict::{Reason, Verdict};
use crate::{choice, section};

use divider::{Divider, Division};
use gauge::Gauge;

choice! {
    /// How the rate of a circuit is measured.
    pub enum Meter {
        /// Exponentially weighted: equation (2).
        MovingAverage = "moving-average",
        /// All intervals of a window equally: equation (1).
        SlidingWindow = "sliding-window",
        /// All units of a window that moves with every cell, measured at every frame: the alternative of section
        /// IV-A.
        CellWindow = "cell-window",
    }
}

section! {
    /// Refuse frames of circuits above their weighted share of the line.
    pub struct Params {
        /// How the rate of a circuit is measured.
        pub meter: Meter = Meter::MovingAverage,
        /// Interval between two measurements.
        pub interval: Span = Span::millis(10),
        /// Weight of the past in the moving average, below 1.
        pub memory: f64 = 0.95,
        /// Length of the window; of a sliding one, a multiple of the interval.
        pub window: Span = Span::millis(200),
        /// Part of its share from which a circuit is pending.
        pub bottom: f64 = 0.7,
        /// Multiple of its share up to which a circuit is pending.
        pub top: f64 = 1.0,
        /// Highest probability with which frames of pending circuits are refused.
        pub max_p: f64 = 0.1,
        /// Multiple of the line's rate that is divided among the circuits.
        pub margin: f64 = 1.0,
        /// Occupancy below which every frame is taken.
        pub threshold: Level = Level::Percent(0.0),
        /// Keep the last cell of a broken frame as a delimiter, if it fits.
        pub pass_eom: bool = true,
    }
}

/// Weighted fair early packet discard at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    interval: Span,
    gauge: Gauge,
    divider: Divider,
    /// The latest division of the line's rate.
    division: Division,
    /// For each circuit the probability with which its frames are refused.
    refusal: IdVec<PortVc, f64>,
    threshold: u64,
    keyed: Keyed,
    frames: Frames,
}

impl Policy {
    /// Build the policy of one port; the error says why its parameters cannot be used.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        let threshold = match params.threshold {
            Level::Percent(0.0) => 0, // of an unlimited buffer, too
            level => context.level("threshold", level)?,
        };
        let (gauge, divider) = (Gauge::new(params, context.vcs())?, Divider::new(params, context)?);
        Ok(Policy {
            interval: params.interval,
            division: divider.divide(&gauge.rates),
            gauge,
            divider,
            refusal: IdVec::filled(0.0, context.vcs()),
            threshold,
            keyed: context.keyed("wfepd"),
            frames: Frames::new(context.vcs(), params.pass_eom),
        })
    }
}

impl Admission for Policy {
    fn judge(&mut self, arrival: &mut Arrival<'_>) -> Verdict {
        let Arrival { now, unit, vc, pool, .. } = *arrival;
        let Policy { gauge, divider, division, refusal, threshold, keyed, frames, .. } = self;
        let verdict = frames.judge(unit, vc, arrival.fits(), || {
            if gauge.has_no_clock() {
                gauge.slide_to(now);
                *division = divider.divide(&gauge.rates);
                *refusal = divider.refusals(&gauge.rates, division);
            }
            match refusal[vc] {
                _ if pool.total() < *threshold => None,
                p if p >= 1.0 => Some(Reason::Early),
                p if p > 0.0 => (keyed.unit(unit.subject()) < p).then_some(Reason::Random),
                _ => None,
            }
        });
        if verdict == Verdict::Accept {
            gauge.accept(now, vc, u64::from(unit.bytes));
        }
        verdict
    }

    /// Subtract a unit that the port could not queue after all: only queued units count for the rates.
    fn settled(&mut self, unit: &Unit, vc: PortVc, end: Settled) {
        if let Settled::TurnedAway { .. } = end {
            self.gauge.take_back(vc, u64::from(unit.bytes));
        }
    }

    fn broken(&mut self, vc: PortVc, fragment: bool) {
        self.frames.broken(vc, fragment);
    }

    fn tick(&mut self, now: Time, _: &Pool, _: Span) -> Option<Time> {
        if self.gauge.has_no_clock() {
            return None;
        }
        if now > Time::ZERO {
            self.gauge.measure();
            self.division = self.divider.divide(&self.gauge.rates);
            self.refusal = self.divider.refusals(&self.gauge.rates, &self.division);
        }
        Some(now + self.interval)
    }

    fn meter(&mut self, vc: PortVc) -> Option<Reading> {
        let Policy { gauge, divider, division, refusal, .. } = self;
        let place = division.order.iter().position(|&other| other == vc)?;
        let bits = |per_share: f64| 8.0 * per_share * divider.shares[vc];
        let rate = 8.0 * gauge.rates[vc];
        Some(Reading {
            rate,
            part: bits(division.parts[place]),
            granted: if place < division.omega { bits(division.scheduled) } else { rate },
            refusal: refusal[vc],
        })
    }
}

impl Shortcuts for Policy {
    fn taken(&mut self, vc: PortVc, _: u64, octets: u64) {
        self.gauge.accepted[vc] += octets;
    }

    fn frames(&mut self) -> Option<&mut Frames> {
        (!self.gauge.has_no_clock()).then_some(&mut self.frames)
    }

    fn rule(&self) -> Option<Rule> {
        (!self.gauge.has_no_clock()).then_some(Rule::Asked(Interest::Last))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::PolicyBench;
    use super::*;
    use crate::buffer::capacity::Capacity;
    use crate::buffer::context::Contract;
    use crate::buffer::size::BufferSize;
    use crate::units::Rate;
    use crate::units::ids::IdSlice;

    pub(super) const DEFAULTS: Params = Params {
        meter: Meter::MovingAverage,
        interval: Span::millis(10),
        memory: 0.95,
        window: Span::millis(200),
        bottom: 0.7,
        top: 1.0,
        max_p: 0.1,
        margin: 1.0,
        threshold: Level::Percent(0.0),
        pass_eom: true,
    };

    pub(super) fn near(a: f64, b: f64, digits: i32) -> bool {
        (a - b).abs() <= 0.5 * libm::pow(10.0, f64::from(-digits))
    }

    /// Two circuits at a line of 8480 b/s: ten cells in 500 ms.
    fn bench(params: Params) -> PolicyBench<Policy> {
        let params = Params { memory: 0.0, interval: Span::millis(500), window: Span::secs(1), ..params };
        PolicyBench::new(20, 2, move |context| {
            Policy::new(&params, &Context { rate: Rate(8480), ..*context })
        })
    }

    #[test]
    fn frames_of_a_violating_circuit_are_refused_whole_and_those_of_clear_ones_accepted() {
        let mut bench = bench(DEFAULTS);
        let half = |n: u64| Time(n * 500_000_000_000);
        assert_eq!(bench.tick(half(0)), Some(half(1)));
        assert_eq!(bench.offer(0, "1111111111f"), "AAAAAAAAAAA");
        assert_eq!(bench.offer(1, "1"), "A");
        bench.tick(half(1));
        assert_eq!(bench.offer(0, ".e"), "AA", "a frame in flight is not cut short");
        assert_eq!(bench.offer(0, "f.e"), "rrr");
        assert_eq!(bench.offer(1, "f.e"), "AAA");
        bench.tick(half(2));
        assert_eq!(bench.offer(0, "1"), "A", "discarded cells are not included in the measured rate");
    }

    #[test]
    fn a_window_that_moves_with_every_cell_asks_anew_for_every_frame() {
        let mut bench = bench(Params { meter: Meter::CellWindow, max_p: 0.0, ..DEFAULTS });
        assert_eq!(bench.tick(Time::ZERO), None, "it has no clock");
        for _ in 0..2 {
            assert_eq!(bench.offer(0, "1111111111"), "AAAAAAAAAA");
            bench.pool = Pool::new(Capacity::limited(20), 2);
        }
        assert_eq!(bench.offer(1, "1"), "A");
        assert_eq!(bench.offer(0, "f.e"), "rrr", "20 cells in the window of 1 s are all that the line takes");
        assert_eq!(bench.offer(1, "f.e"), "AAA");
        bench.tick(Time::ZERO + Span::secs(1));
        assert_eq!(bench.offer(0, "f.e"), "AAA", "the window has moved on");
    }

    #[test]
    fn frames_of_a_pending_circuit_are_refused_at_random() {
        let mut bench = bench(Params { max_p: 1.0, ..DEFAULTS });
        bench.offer(0, "1111");
        bench.offer(1, "111111"); // ten cells: both want all of the line; circuit 0 has 4 of 5, circuit 1 6 of 6
        bench.tick(Time(500_000_000_000));
        let division = bench.policy.divider.divide(&bench.policy.gauge.rates);
        assert_eq!((division.omega, division.nu), (0, 2));
        (0..10).for_each(|i| bench.depart(u32::from(i > 3)));
        let answers: String = (0..400)
            .map(|_| (bench.offer(0, "1"), bench.pool = Pool::new(Capacity::limited(20), 2)).0)
            .collect();
        let refused = answers.matches('m').count();
        assert!((105..=165).contains(&refused), "p = 1/3: {refused} of 400"); // about three standard errors
    }

    #[test]
    fn below_the_buffer_threshold_every_frame_is_accepted() {
        let mut bench = bench(Params { threshold: Level::Size(BufferSize::Cells(13)), ..DEFAULTS });
        bench.offer(0, "11111111111");
        bench.tick(Time(500_000_000_000));
        assert_eq!(bench.offer(0, "111"), "AAr");
    }

    #[test]
    fn impossible_parameters_are_refused() {
        let why = |params: &Params| Policy::new(params, &Context::alone(100, 1)).unwrap_err().to_string();
        assert_eq!(why(&Params { memory: 1.0, ..DEFAULTS }), "memory: must be at least 0 and less than 1");
        assert_eq!(why(&Params { top: 0.9, ..DEFAULTS }), "top: must be at least 1");
        let window = Params { meter: Meter::SlidingWindow, window: Span::millis(15), ..DEFAULTS };
        assert_eq!(why(&window), "window: must be a multiple of the interval of 10 ms");
        for long in [Span::millis(1), Span::secs(1_000_000)] {
            let window = Params { interval: Span(1), window: long, ..window };
            assert!(why(&window).ends_with("at most 10000000 intervals of 1 ps for 1 circuits"));
        }
        assert_eq!(why(&Params { margin: 0.0, ..DEFAULTS }), "margin: must be greater than 0");
        let contracts = [Contract { weight: 0.0, ..Context::alone(100, 1).contracts[PortVc(0)] }];
        let context = Context { contracts: IdSlice::new(&contracts), ..Context::alone(100, 1) };
        let weight = Policy::new(&DEFAULTS, &context).unwrap_err().to_string();
        assert_eq!(weight, "a circuit's weight must be positive, not 0");
    }
}
