//! # Source
//! A. Rácz, G. Fodor, Z. Turányi, "Weighted fair early packet discard at an ATM switch output port", IEEE INFOCOM 1999:
//! paper 002, sections III to V.
//!
//! # Idea
//! The rate `r_i` at which each circuit is accepted is measured, and every δ the rate R of the line is divided by
//! shares α_i among those that want more than their part, while the others get what they offer. Circuits above their
//! part are *violating*, and their frames are refused; those near it are *pending*, and theirs are refused with a
//! probability that rises with the rate; the others are *clear*.
//!
//! # Parameters
//! `meter`: `moving-average` (default, as in the simulations) or `sliding-window`. `interval` δ and `memory` q: 10 ms
//! and 0.95, section VI; `window` T: default 200 ms, as long as a moving average with these remembers. `bottom` th_b:
//! 0.7 as in the example; `top` th_t: 1, `max_p` p_p: 0.1, `margin` (R as a multiple of the line's rate): 1, none of
//! them printed. `threshold`: occupancy from which frames are refused at all, default 0 as in the simulations. Shares α_i
//! are the weights of the circuits; only their ratios matter. `pass_eom` as for PPD.
//!
//! # Differences from the paper
//! Corrections without which its own examples fail: test (8) reads "≤" and finds the first *clear* circuit; pending are
//! those from ω up to it, and violating ones up to th_t · r_sch; (10) has r_calc in both terms of its denominator; (1)
//! subtracts the interval that leaves the window; q < 1. "Smallest" ω and ν means the first in the list. Rates count
//! octets on the line, cell headers included.
//!
//! # Complexity
//! Constant per cell; N log N every δ.

use super::red::probability;
use super::{Admission, Arrival, Context, Interest, Reading, Rule};
use crate::buffer::frame::Frames;
use crate::buffer::pool::Pool;
use crate::buffer::size::Level;
use crate::buffer::verdict::{Reason, Verdict};
use crate::refused::{Refused, refuse, unfit};
use crate::rng::Stream;
use crate::unit::Unit;
use crate::units::{Span, Time};
use crate::{choice, section};

choice! {
    /// How the rate of a circuit is measured.
    pub enum Meter {
        /// Exponentially weighted: equation (2).
        MovingAverage = "moving-average",
        /// All intervals of a window equally: equation (1).
        SlidingWindow = "sliding-window",
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
        /// Length of the sliding window, a multiple of the interval.
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
    /// How the line was divided last.
    division: Division,
    /// The probability with which a frame of each circuit is refused.
    refusal: Vec<f64>,
    threshold: u64,
    stream: Stream,
    frames: Frames,
}

impl Policy {
    /// The policy at one port, or why its parameters cannot be.
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
            refusal: vec![0.0; context.vcs()],
            threshold,
            stream: context.stream("wfepd"),
            frames: Frames::new(context.vcs(), params.pass_eom),
        })
    }
}

impl Admission for Policy {
    fn judge(&mut self, arrival: &mut Arrival<'_>) -> Verdict {
        let Arrival { unit, vc, pool, .. } = *arrival;
        let Policy { gauge, refusal, threshold, stream, frames, .. } = self;
        let verdict = frames.judge(unit, vc, arrival.fits(), || match refusal[vc] {
            _ if pool.total() < *threshold => None,
            p if p >= 1.0 => Some(Reason::Early),
            p if p > 0.0 => stream.chance(p).then_some(Reason::Random),
            _ => None,
        });
        if verdict == Verdict::Accept {
            gauge.accepted[vc] += u64::from(unit.bytes);
        }
        verdict
    }

    /// Only what has been admitted into the buffer counts.
    fn turned_away(&mut self, unit: &Unit, vc: usize, _: u64) {
        self.gauge.accepted[vc] -= u64::from(unit.bytes);
    }

    fn broken(&mut self, vc: usize, fragment: bool) {
        self.frames.broken(vc, fragment);
    }

    fn tick(&mut self, now: Time, _: &Pool) -> Option<Time> {
        if now > Time::ZERO {
            self.gauge.measure();
            self.division = self.divider.divide(&self.gauge.rates);
            self.refusal = self.divider.refusals(&self.gauge.rates, &self.division);
        }
        Some(now + self.interval)
    }

    fn meter(&mut self, vc: usize) -> Option<Reading> {
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

    fn taken(&mut self, vc: usize, _: u64, octets: u64) {
        self.gauge.accepted[vc] += octets;
    }

    fn frames(&mut self) -> Option<&mut Frames> {
        Some(&mut self.frames)
    }

    fn rule(&self) -> Option<Rule> {
        Some(Rule::Asked(Interest::Last))
    }
}

/// The accepted rate of every circuit: section IV.
#[derive(Clone, Debug)]
struct Gauge {
    meter: Meter,
    interval: f64,
    memory: f64,
    /// Octets accepted in the current interval: c_i.
    accepted: Vec<u64>,
    /// So many intervals has the window.
    intervals: usize,
    /// What was accepted in each, a row of circuits behind another, and the row to be replaced next.
    history: Vec<u64>,
    oldest: usize,
    /// Octets accepted in the window: C_i.
    total: Vec<u64>,
    /// Octets per second: r_i.
    rates: Vec<f64>,
}

impl Gauge {
    fn new(params: &Params, vcs: usize) -> Result<Gauge, Refused> {
        if params.interval == Span::ZERO {
            return refuse("interval", "0 s is no interval");
        }
        if !(0.0..1.0).contains(&params.memory) {
            return refuse("memory", format!("{} is not from 0 to below 1", params.memory));
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
    fn measure(&mut self) {
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
        return refuse("window", format!("{window} is no multiple of {interval}"));
    }
    let (intervals, most) = (window.0 / interval.0, MOST_REMEMBERED / vcs.max(1) as u64);
    if intervals > most {
        let whole = format!("{window} has {intervals} intervals of {interval}");
        return refuse("window", format!("{whole}; of {vcs} circuits at most {most} are remembered"));
    }
    Ok(intervals as usize)
}

/// How the line is divided and who has to pay: section V.
#[derive(Clone, Debug)]
struct Divider {
    /// R, in octets per second.
    capacity: f64,
    shares: Vec<f64>,
    bottom: f64,
    top: f64,
    max_p: f64,
}

/// The outcome of section V for one set of rates. Places in the list count from 0.
#[derive(Clone, Debug, PartialEq)]
struct Division {
    /// Circuits by falling r / α.
    order: Vec<usize>,
    /// What each circuit of the list and those before it may have, per share: right-hand side of (6), over α.
    parts: Vec<f64>,
    /// Place of the first circuit that is not violating: ω.
    omega: usize,
    /// Place of the first circuit that is clear: ν.
    nu: usize,
    /// Rate per share for violating circuits: r_sch / α.
    scheduled: f64,
    /// Rate per share for circuits that are not clear: r_calc / α.
    calculated: f64,
}

impl Divider {
    fn new(params: &Params, context: &Context<'_>) -> Result<Divider, Refused> {
        probability("bottom", params.bottom)?;
        probability("max_p", params.max_p)?;
        if params.margin <= 0.0 {
            return refuse("margin", format!("{} is not above 0", params.margin));
        }
        if params.top < 1.0 {
            return refuse("top", format!("{} is below 1", params.top));
        }
        let shares: Vec<f64> = context.contracts.iter().map(|contract| contract.weight).collect();
        if let Some(share) = shares.iter().find(|share| **share <= 0.0) {
            return unfit(format!("a circuit's weight of {share} is no share"));
        }
        let capacity = params.margin * context.rate.as_f64() / 8.0;
        Ok(Divider { capacity, shares, bottom: params.bottom, top: params.top, max_p: params.max_p })
    }

    /// Order the circuits and find ω and ν.
    fn divide(&self, rates: &[f64]) -> Division {
        let ratio = |vc: usize| rates[vc] / self.shares[vc];
        let mut order: Vec<usize> = (0..rates.len()).collect();
        order.sort_by(|&a, &b| ratio(b).total_cmp(&ratio(a)));
        let overflow = rates.iter().sum::<f64>() - self.capacity; // ψ, equation (3)
        let (mut rate, mut share) = (0.0, 0.0);
        let parts = order.iter().map(|&vc| {
            (rate, share) = (rate + rates[vc], share + self.shares[vc]);
            fair_part(rate, overflow, share)
        });
        let parts: Vec<f64> = parts.collect();
        let first = |factor: f64| {
            let mut list = order.iter().zip(&parts);
            let place = list.position(|(&vc, part)| rates[vc] <= factor * part * self.shares[vc]);
            place.unwrap_or(order.len())
        };
        let (omega, nu) = (first(1.0), first(self.bottom)); // (6) and (8)
        let before = |place: usize| if place > 0 { parts[place - 1] } else { 0.0 };
        let (scheduled, calculated) = (before(omega), before(nu)); // (7) and (11)
        Division { order, parts, omega, nu, scheduled, calculated }
    }

    /// With which probability a frame of each circuit is refused.
    fn refusals(&self, rates: &[f64], division: &Division) -> Vec<f64> {
        let mut refusal = vec![0.0; rates.len()];
        for (place, &vc) in division.order[..division.nu].iter().enumerate() {
            let (rate, share) = (rates[vc], self.shares[vc]);
            let violating = place < division.omega && rate > self.top * division.scheduled * share; // (9)
            refusal[vc] = if violating { 1.0 } else { self.pending(rate, division.calculated * share) };
        }
        refusal
    }

    /// Equation (10), with r_calc throughout.
    fn pending(&self, rate: f64, calculated: f64) -> f64 {
        let (bottom, top) = (self.bottom * calculated, self.top * calculated);
        let height = if top > bottom { (rate - bottom) / (top - bottom) } else { 1.0 };
        self.max_p * height.clamp(0.0, 1.0)
    }
}

/// What the first circuits of the list may have together, per share: (Σ r − ψ) / Σ α, the core of (6), (7), (8), (11).
fn fair_part(rate: f64, overflow: f64, share: f64) -> f64 {
    (rate - overflow).max(0.0) / share
}

#[cfg(test)]
mod tests {
    use super::super::tests::Bench;
    use super::*;
    use crate::buffer::context::Contract;
    use crate::buffer::size::BufferSize;
    use crate::units::Rate;

    const DEFAULTS: Params = Params {
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

    fn divider(shares: &[f64], max_p: f64) -> Divider {
        Divider { capacity: 100.0, shares: shares.to_vec(), bottom: 0.7, top: 1.0, max_p }
    }

    /// Section V.D: rates of circuits I to VI in octets per second, of a line of 100.
    const RATES: [f64; 6] = [30.0, 30.0, 30.0, 20.0, 15.0, 5.0];
    const FIRST: [f64; 6] = [0.25, 0.2, 0.15, 0.1, 0.2, 0.1];
    const SECOND: [f64; 6] = [0.01, 0.4, 0.4, 0.1, 0.05, 0.04];

    fn near(a: f64, b: f64, digits: i32) -> bool {
        (a - b).abs() <= 0.5 * libm::pow(10.0, f64::from(-digits))
    }

    #[test]
    fn the_first_example_finds_four_violating_one_pending_and_one_clear_circuit() {
        let divider = divider(&FIRST, 1.0);
        let division = divider.divide(&RATES);
        assert_eq!(division.order, [2, 3, 1, 0, 4, 5], "III, IV, II, I, V, VI");
        assert_eq!((division.omega + 1, division.nu + 1), (5, 6));
        let scheduled = [2, 3, 1, 0].map(|vc| division.scheduled * FIRST[vc]);
        let expected = [17.143, 11.429, 22.857, 28.571];
        assert!(scheduled.iter().zip(expected).all(|(&a, b)| near(a, b, 3)), "{scheduled:?}");
        assert!(near(scheduled.iter().sum(), 80.0, 9));
        let refusals = divider.refusals(&RATES, &division);
        assert_eq!(refusals[..4], [1.0; 4]);
        assert!(near(refusals[4], 0.035, 3), "pending = {{V}}: {}", refusals[4]);
        assert_eq!(refusals[5], 0.0);
    }

    #[test]
    fn the_first_example_has_the_printed_bounds() {
        // Circuits III, IV, II, I, V, VI: sums of rates and shares, ψ = 30
        let sums = [(30.0, 0.15), (50.0, 0.25), (80.0, 0.45), (110.0, 0.7), (125.0, 0.9), (130.0, 1.0)];
        let shares = [0.15, 0.1, 0.2, 0.25, 0.2, 0.1];
        let bounds = sums.iter().zip(shares).map(|(&(rate, sum), share)| fair_part(rate, 30.0, sum) * share);
        let expected = [0.0, 8.0, 22.22, 28.57, 21.11, 10.0];
        assert!(bounds.clone().zip(expected).all(|(a, b)| near(a, b, 2)), "(6), (12)");
        let expected = [0.0, 5.6, 15.56, 20.0, 14.78, 7.0];
        assert!(bounds.zip(expected).all(|(a, b)| near(0.7 * a, b, 2)), "(8), (13), (14)");
        let division = divider(&FIRST, 1.0).divide(&RATES);
        let parts = division.parts.iter().zip(shares).map(|(part, share)| part * share);
        assert!(parts.zip([0.0, 8.0, 22.22, 28.57, 21.11, 10.0]).all(|(a, b)| near(a, b, 2)));
        assert!(near(division.calculated * 0.2, 21.11, 2), "(11) for V");
    }

    #[test]
    fn the_second_example_punishes_i_and_v_only() {
        let divider = divider(&SECOND, 1.0);
        let division = divider.divide(&RATES);
        assert_eq!(division.order[..2], [0, 4]);
        assert_eq!(division.omega + 1, 3);
        assert!(near(division.scheduled * 0.01, 2.5, 9) && near(division.scheduled * 0.05, 12.5, 9));
        let refusals = divider.refusals(&RATES, &division);
        assert_eq!((refusals[0], refusals[4]), (1.0, 1.0));
        assert!([1, 2, 3, 5].iter().all(|&vc| refusals[vc] < 1.0), "the rest gets what it offers");
    }

    #[test]
    fn nobody_is_refused_when_the_line_is_not_filled() {
        let divider = divider(&FIRST, 1.0);
        for rates in [[0.0; 6], [10.0, 10.0, 1.0, 1.0, 1.0, 1.0]] {
            let division = divider.divide(&rates);
            assert_eq!((division.omega, division.nu), (0, 0));
            assert_eq!(divider.refusals(&rates, &division), [0.0; 6]);
        }
    }

    #[test]
    fn a_lone_circuit_above_the_rate_of_the_line_is_violating() {
        let divider = divider(&[1.0], 1.0);
        let division = divider.divide(&[120.0]);
        assert_eq!((division.omega, division.nu), (1, 1));
        assert_eq!((division.scheduled, division.calculated), (100.0, 100.0));
        assert_eq!(divider.refusals(&[120.0], &division), [1.0]);
    }

    #[test]
    fn the_top_threshold_turns_slightly_violating_circuits_into_pending_ones() {
        let divider = Divider { top: 1.25, ..divider(&[0.5, 0.5], 0.5) };
        let rates = [60.0, 55.0]; // each may have 50
        let division = divider.divide(&rates);
        assert_eq!(division.omega, 2);
        let refusals = divider.refusals(&rates, &division);
        let expected = [0.5 * (60.0 - 35.0) / 27.5, 0.5 * (55.0 - 35.0) / 27.5];
        assert!(refusals.iter().zip(expected).all(|(&a, b)| near(a, b, 9)), "{refusals:?}");
        assert_eq!(divider.refusals(&[70.0, 55.0], &divider.divide(&[70.0, 55.0]))[0], 1.0);
    }

    #[test]
    fn the_probability_rises_linearly_to_its_maximum_at_the_calculated_rate() {
        let divider = divider(&[1.0], 0.2);
        assert_eq!(divider.pending(70.0, 100.0), 0.0);
        assert!(near(divider.pending(85.0, 100.0), 0.1, 9));
        assert_eq!(divider.pending(100.0, 100.0), 0.2);
        assert_eq!(divider.pending(110.0, 100.0), 0.2);
    }

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

    /// Two circuits at a line of 8480 b/s: ten cells in 500 ms.
    fn bench(params: Params) -> Bench<Policy> {
        let params = Params { memory: 0.0, interval: Span::millis(500), window: Span::secs(1), ..params };
        Bench::new(20, 2, move |context| Policy::new(&params, &Context { rate: Rate(8480), ..*context }))
    }

    #[test]
    fn frames_of_a_violating_circuit_are_refused_whole_and_those_of_clear_ones_accepted() {
        let mut bench = bench(DEFAULTS);
        let half = |n: u64| Time(n * 500_000_000_000);
        assert_eq!(bench.tick(half(0)), Some(half(1)));
        assert_eq!(bench.offer(0, "1111111111f"), "AAAAAAAAAAA");
        assert_eq!(bench.offer(1, "1"), "A");
        bench.tick(half(1));
        assert_eq!(bench.offer(0, ".e"), "AA", "a frame under way is not cut short");
        assert_eq!(bench.offer(0, "f.e"), "rrr");
        assert_eq!(bench.offer(1, "f.e"), "AAA");
        bench.tick(half(2));
        assert_eq!(bench.offer(0, "1"), "A", "discarded cells are not included in the measured rate");
    }

    #[test]
    fn frames_of_a_pending_circuit_are_refused_at_random() {
        let mut bench = bench(Params { max_p: 1.0, ..DEFAULTS });
        bench.offer(0, "1111");
        bench.offer(1, "111111"); // ten cells: both want all of the line; circuit 0 has 4 of 5, circuit 1 6 of 6
        bench.tick(Time(500_000_000_000));
        let division = bench.policy.divider.divide(&bench.policy.gauge.rates);
        assert_eq!((division.omega, division.nu), (0, 2));
        (0..10).for_each(|i| bench.depart(usize::from(i > 3)));
        let answers: String =
            (0..400).map(|_| (bench.offer(0, "1"), bench.pool = Pool::new(20, 2)).0).collect();
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
        assert_eq!(why(&Params { memory: 1.0, ..DEFAULTS }), "memory: 1 is not from 0 to below 1");
        assert_eq!(why(&Params { top: 0.9, ..DEFAULTS }), "top: 0.9 is below 1");
        let window = Params { meter: Meter::SlidingWindow, window: Span::millis(15), ..DEFAULTS };
        assert_eq!(why(&window), "window: 15 ms is no multiple of 10 ms");
        for long in [Span::millis(1), Span::secs(1_000_000)] {
            let window = Params { interval: Span(1), window: long, ..window };
            assert!(
                why(&window).ends_with("intervals of 1 ps; of 1 circuits at most 10000000 are remembered")
            );
        }
        assert_eq!(why(&Params { margin: 0.0, ..DEFAULTS }), "margin: 0 is not above 0");
        let contracts = [Contract { weight: 0.0, ..Context::alone(100, 1).contracts[0] }];
        let context = Context { contracts: &contracts, ..Context::alone(100, 1) };
        let weight = Policy::new(&DEFAULTS, &context).unwrap_err().to_string();
        assert_eq!(weight, "a circuit's weight of 0 is no share");
    }
}
