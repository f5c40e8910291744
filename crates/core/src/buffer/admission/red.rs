//! # Source
//! S. Floyd, V. Jacobson, "Random early detection gateways for congestion avoidance", IEEE/ACM ToN 1(4), 1993; paper
//! 000 (V. Rosolen, O. Bonaventure, G. Leduc, 1998), section 2.3, equation (1) and figure 2; for `adaptive` S. Floyd, R.
//! Gummadi, S. Shenker, "Adaptive RED: an algorithm for increasing the robustness of RED's active queue management", ICSI, 2001.
//!
//! # Idea
//! An arriving packet is discarded at random, with a probability that grows with the average length of the queue. For
//! each packet that meets a queue of length q,
//!
//! > q > 0: avg ← (1 − w) · avg + w · q, else avg ← (1 − w)^m · avg with m = idle time / packet time
//! >
//! > p_b = maxp · (avg − minth) / (maxth − minth), p_a = p_b / (1 − count · p_b)
//!
//! where `count` packets have been accepted since the last one was discarded. With `adaptive` maxp is moved every `interval` so that avg
//! stays in the middle fifth between the thresholds:
//!
//! > avg above it and maxp ≤ 0.5: maxp ← maxp + min(0.01, maxp / 4), avg below it and maxp ≥ 0.01: maxp ← 0.9 · maxp
//!
//! # Parameters
//! `weight` w and `max_p`: 0.002 and 0.02, Floyd and Jacobson's and those of paper 000, Table 1. `min_threshold` and
//! `max_threshold`: occupancies, default 25 % and 75 %: maxth is three times minth, as Floyd advises. `curve`: `classic`
//! (default: discard everything from maxth on) or `gentle` (from maxp at maxth on a line to 1 at 2 · maxth).
//! `packet_time` for idle times: default the mean full frame of the circuits. `pass_eom` as for PPD. `action`: `drop`
//! (default) or `mark`, which keeps packets that are ECN-capable (RFC 3168) and discards the others. `adaptive` (default false) and
//! its `interval`, 500 ms as in the paper of 2001. `byte_mode` (default false): packets are discarded in proportion to their length,
//!
//! > p_a = p_b · (length ÷ `mtu`) / (1 − count · p_b)
//!
//! where `count` are the octets accepted since the last discard, ÷ `mtu` (default: the largest full frame of the circuits), as ns-2
//! does. With `count = "packets"` it is the letter of section 7 of the paper of 1993: p_b is multiplied by length ÷ `mtu`, and `count` are
//! packets. Then a long packet inherits the count of all short ones before it: at 1 Mb/s with 600 kb/s each of 1500 and of 100 octets
//! a long packet is discarded 140 times as often as a short one, instead of 15 times. From maxth on the length makes no difference.
//!
//! `yellow` and `red`: thresholds and `max_p` for packets that policers have coloured (WRED of switches), as in
//! `yellow = { min_threshold = "30 kB" }`. All colours have one average; each has a count of its own.
//!
//! # Differences from the paper
//! Thresholds and q are in the port's measure, so on a cell link avg is in cells, sampled at the first cell of every
//! frame; a frame is refused as a whole, and one that overflows is cut short as by PPD. After a packet has met an
//! empty queue, the idle time starts again, so that one idle period is not counted twice when that packet is discarded.
//! The paper of 2001 also sets w by the rate of the line and takes the gentle curve; here both are keys as always.
//!
//! # Complexity
//! Constant; two bits per circuit. A random number is drawn only for packets that meet an average above minth. With `adaptive` the
//! fast engine asks about every unit.

use super::{Admission, Arrival, Context, Departure, Interest, Rule, Shortcuts};
use crate::buffer::frame::Frames;
use crate::buffer::pool::Pool;
use crate::buffer::size::{Level, Measure};
use crate::language::spec::Nested;
use crate::metrics::state::Figure;
use crate::refused::{Refused, probability, refuse, refuse_if, share};
use crate::rng::Keyed;
use crate::unit::{Colour, Unit};
use crate::units::ids::PortVc;
use crate::units::{Bytes, CELL_BYTES, Span, Time};
use crate::verdict::{Action, Reason, Verdict};
use crate::{choice, section};

choice! {
    /// Shape of the probability of discard above maxth.
    pub enum Curve {
        /// Everything is discarded from maxth on.
        Classic = "classic",
        /// From maxp at maxth on a straight line to 1 at twice maxth.
        Gentle = "gentle",
    }
}

choice! {
    /// What is counted between two discards in byte mode.
    pub enum Count {
        /// Octets, so that the probability of discard is proportional to the length.
        Octets = "octets",
        /// Packets of any length.
        Packets = "packets",
    }
}

section! {
    /// Discard packets at random before the queue is full.
    pub struct Params {
        /// Weight w of a new sample in the average queue.
        pub weight: f64 = 0.002,
        /// Probability of discard when the average reaches the upper threshold.
        pub max_p: f64 = 0.02,
        /// Average below which nothing is discarded.
        pub min_threshold: Level = Level::Percent(25.0),
        /// Average at which the probability is maxp.
        pub max_threshold: Level = Level::Percent(75.0),
        /// What happens above the upper threshold.
        pub curve: Curve = Curve::Classic,
        /// Time in which an idle port could have sent a packet; by default a full frame of the average circuit.
        pub packet_time: Option<Span> = None,
        /// Keep the last cell of a broken frame as a delimiter, if it fits.
        pub pass_eom: bool = true,
        /// What happens to a packet that is drawn, and above the upper threshold to every one: `drop`, or `mark` where the transport reacts to marks (ECT).
        pub action: Action = Action::Drop,
        /// Move the largest probability so that the average stays in the middle between the thresholds (adaptive RED).
        pub adaptive: bool = false,
        /// Time between two moves.
        pub interval: Span = Span::millis(500),
        /// Discard short packets less often, in proportion to their length.
        pub byte_mode: bool = false,
        /// What is counted between two discards in byte mode: `octets`, or `packets` as in the letter of the paper of 1993.
        pub count: Count = Count::Octets,
        /// Octets of a full packet; by default a full frame.
        pub mtu: Option<Bytes> = None,
        /// What differs for packets that a policer has marked yellow, or tagged (CLP).
        pub yellow: Option<Nested<ColourParams>> = None,
        /// What differs for packets that a policer has marked red.
        pub red: Option<Nested<ColourParams>> = None,
    }
}

section! {
    /// What differs for packets of a colour (WRED): by default nothing.
    pub struct ColourParams {
        /// Average below which none of them is discarded.
        pub min_threshold: Option<Level> = None,
        /// Average at which the probability is `max_p`.
        pub max_threshold: Option<Level> = None,
        /// Probability of discard at that average.
        pub max_p: Option<f64> = None,
    }
}

/// The thresholds of a colour, and what was accepted since its last discard.
#[derive(Clone, Copy, Debug)]
struct Profile {
    levels: Levels,
    max_p: f64,
}

impl Profile {
    /// Build the profile of a colour, if it has one; the error says what cannot be used.
    fn new(key: &'static str, params: &Params, context: &Context<'_>) -> Result<Option<Profile>, Refused> {
        let own = if key == "yellow" { &params.yellow } else { &params.red };
        let Some(Nested(own)) = own else { return Ok(None) };
        let min = own.min_threshold.unwrap_or(params.min_threshold);
        let max = own.max_threshold.unwrap_or(params.max_threshold);
        let of_colour = |refused: Refused| Refused {
            key: Some(key),
            why: refused.key.map_or(refused.why.clone(), |key| format!("{key} {}", refused.why)),
        };
        let levels = Levels::new(context, min, max).map_err(of_colour)?;
        let max_p = probability("max_p", own.max_p.unwrap_or(params.max_p)).map_err(of_colour)?;
        Ok(Some(Profile { levels, max_p }))
    }
}

/// Random early detection at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    pub(super) detector: Detector,
    max_p: f64,
    /// Time between two changes of maxp, if `adaptive` is set.
    interval: Option<Span>,
    /// Octets of a full packet in byte mode; otherwise `None`.
    mtu: Option<f64>,
    /// What is counted between two discards in byte mode.
    count: Count,
    keyed: Keyed,
    frames: Frames,
    /// The profiles of yellow and of red packets, if any has one of its own.
    colours: Option<Box<[Option<Profile>; 2]>>,
}

impl Policy {
    /// Build the policy of one port; the error says why its parameters cannot be used.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        Policy::drawing(params, context, "red")
    }

    /// Like [`new`](Policy::new), for a scheme that builds on this one and draws from random numbers with its own
    /// name.
    pub(super) fn drawing(params: &Params, context: &Context<'_>, name: &str) -> Result<Policy, Refused> {
        let slot = params.packet_time.unwrap_or_else(|| mean_frame_time(context));
        for (key, time) in [("packet_time", slot), ("interval", params.interval)] {
            refuse_if(time == Span::ZERO, key, "must be greater than 0")?;
        }
        let &Params { weight, min_threshold, max_threshold, curve, .. } = params;
        let colours = [Profile::new("yellow", params, context)?, Profile::new("red", params, context)?];
        Ok(Policy {
            detector: Detector::new(context, weight, min_threshold, max_threshold, curve, slot)?,
            max_p: probability("max_p", params.max_p)?,
            interval: params.adaptive.then_some(params.interval),
            mtu: full_packet(params, context)?,
            count: params.count,
            keyed: context.keyed(name),
            frames: Frames::new(context.vcs(), params.pass_eom).acting(params.action),
            colours: colours.iter().any(Option::is_some).then(|| Box::new(colours)),
        })
    }

    /// Exchange thresholds with the profile of the colour of this unit, if it has one.
    fn exchange(&mut self, unit: &Unit) {
        let Some(colours) = &mut self.colours else { return };
        let profile = match unit.colour() {
            Colour::Green => None,
            Colour::Yellow => colours[0].as_mut(),
            Colour::Red => colours[1].as_mut(),
        };
        if let Some(Profile { levels, max_p }) = profile {
            std::mem::swap(&mut self.detector.levels, levels);
            std::mem::swap(&mut self.max_p, max_p);
        }
    }

    /// Judge a unit by the frame rule; `refused` is the reason for refusing a frame that starts with this unit, or
    /// `None`.
    pub(super) fn judge_frame(&mut self, arrival: &Arrival<'_>, refused: Option<Reason>) -> Verdict {
        let verdict = self.frames.judge(arrival.unit, arrival.vc, arrival.fits(), || refused);
        if verdict == Verdict::Discard(Reason::Overflow) {
            self.detector.lost();
        }
        verdict
    }

    /// Return the rule, unless the policy marks.
    pub(super) fn unless_marking(&self, rule: Rule) -> Option<Rule> {
        self.frames.unless_marking(rule)
    }

    /// Discard the whole frame, even where `action` is `mark`.
    pub(super) fn refuse(&mut self, vc: PortVc, reason: Reason) -> Verdict {
        self.frames.refuse(vc, reason)
    }

    /// Decide whether the packet that was counted last is discarded at random; `unit` is its first unit.
    pub(super) fn draw(&mut self, unit: &Unit) -> Option<Reason> {
        let draw = || self.keyed.unit(unit.subject());
        let marked = match self.mtu {
            None => self.detector.marks(self.max_p, draw),
            Some(mtu) => self.detector.marks_bytes(self.max_p, unit.bytes, mtu, self.count, draw),
        };
        marked.then_some(Reason::Random)
    }
}

/// Return the octets of a full packet in byte mode, or `None` otherwise.
fn full_packet(params: &Params, context: &Context<'_>) -> Result<Option<f64>, Refused> {
    let in_cells = params.byte_mode && context.measure == Measure::Cells;
    refuse_if(
        in_cells,
        "byte_mode",
        "must be false on a cell link, where no cell says how long its frame is",
    )?;
    refuse_if(params.mtu == Some(Bytes(0)), "mtu", "must be at least 1 byte")?;
    let frame = context.contracts.iter().map(|contract| contract.octets).max().unwrap_or(0).max(1);
    Ok(params.byte_mode.then(|| params.mtu.map_or(frame, |mtu| mtu.0) as f64))
}

/// Return maxp after an interval: changed if the average is above or below the middle fifth between the thresholds.
fn adapted(max_p: f64, average: f64, min: f64, max: f64) -> f64 {
    let fifth = (max - min) / 5.0;
    if average > min + 3.0 * fifth && max_p <= 0.5 {
        max_p + (max_p / 4.0).min(0.01)
    } else if average < min + 2.0 * fifth && max_p >= 0.01 {
        0.9 * max_p
    } else {
        max_p
    }
}

impl Admission for Policy {
    fn judge(&mut self, arrival: &mut Arrival<'_>) -> Verdict {
        self.exchange(arrival.unit);
        let mut refused = None;
        if arrival.unit.is_first() {
            self.detector.sample(arrival.now, arrival.pool.total());
            self.detector.count();
            refused = self.draw(arrival.unit);
        }
        let verdict = self.judge_frame(arrival, refused);
        self.exchange(arrival.unit);
        verdict
    }

    fn state(&self) -> Vec<Figure> {
        vec![Figure::of_all("average", self.detector.average()), Figure::of_all("max_p", self.max_p)]
    }

    fn departed(&mut self, departure: &Departure<'_>) {
        if departure.pool.total() == 0 {
            self.detector.idle(departure.now);
        }
    }

    fn tick(&mut self, now: Time, pool: &Pool, _: Span) -> Option<Time> {
        let interval = self.interval?;
        if now > Time::ZERO {
            let average = self.detector.at(now, pool.total());
            self.max_p = adapted(self.max_p, average, self.detector.levels.min, self.detector.levels.max);
        }
        Some(now + interval)
    }
}

impl Shortcuts for Policy {
    fn frames(&mut self) -> Option<&mut Frames> {
        Some(&mut self.frames)
    }

    fn rule(&self) -> Option<Rule> {
        let rule = self.frames.unless_marking(Rule::Asked(Interest::Total));
        rule.filter(|_| self.interval.is_none() && self.colours.is_none()) // it has a clock, or looks at colours
    }
}

/// The average queue length, and the decisions that follow from it, for RED and schemes that build on it.
#[derive(Clone, Debug)]
pub(super) struct Detector {
    weight: f64,
    levels: Levels,
    curve: Curve,
    /// Transmission time of a packet in picoseconds, for idle times.
    slot: f64,
    average: f64,
    idle_since: Time,
}

/// The thresholds, and what was accepted since the last discard.
#[derive(Clone, Copy, Debug)]
struct Levels {
    min: f64,
    max: f64,
    /// 1 / (maxth − minth), computed once because every unit needs it.
    per_level: f64,
    /// Packets since the last discard, −1 while the average is below minth, as in the paper.
    count: i64,
    /// Octets since the last discard, in byte mode.
    octets: u64,
}

impl Levels {
    fn new(context: &Context<'_>, min: Level, max: Level) -> Result<Levels, Refused> {
        let min = context.level("min_threshold", min)?;
        let max = context.level("max_threshold", max)?;
        if max < min {
            let word = context.measure.word();
            return refuse("max_threshold", format!("must be at least `min_threshold` of {min} {word}"));
        }
        let per_level = 1.0 / (max - min) as f64;
        Ok(Levels { min: min as f64, max: max as f64, per_level, count: -1, octets: 0 })
    }
}

impl Detector {
    pub(super) fn new(
        context: &Context<'_>,
        weight: f64,
        min: Level,
        max: Level,
        curve: Curve,
        slot: Span,
    ) -> Result<Detector, Refused> {
        Ok(Detector {
            levels: Levels::new(context, min, max)?,
            weight: share("weight", weight)?,
            curve,
            slot: slot.0.max(1) as f64,
            average: 0.0,
            idle_since: Time::ZERO,
        })
    }

    pub(super) fn average(&self) -> f64 {
        self.average
    }

    /// Return minth, in the port's measure.
    pub(super) fn min(&self) -> f64 {
        self.levels.min
    }

    /// Return whether the average has reached maxth.
    pub(super) fn is_above(&self) -> bool {
        self.average >= self.levels.max
    }

    /// Update the average with the queue length that an arriving packet meets.
    #[inline]
    pub(super) fn sample(&mut self, now: Time, queue: u64) {
        if queue > 0 {
            // from a signed number, which is one instruction
            self.average = smoothed(self.average, self.weight, queue.cast_signed() as f64);
        } else if self.average > 0.0 {
            let slots = now.since(self.idle_since).0 as f64 / self.slot;
            self.average = decayed(self.average, self.weight, slots);
            self.idle_since = now;
        }
    }

    /// Return the present average, without a sample by an arriving packet.
    fn at(&self, now: Time, queue: u64) -> f64 {
        match queue {
            0 => decayed(self.average, self.weight, now.since(self.idle_since).0 as f64 / self.slot),
            _ => self.average,
        }
    }

    /// Update the average with the queue length behind a departing packet, for schemes that sample at departures too.
    pub(super) fn sample_behind(&mut self, queue: u64) {
        self.average = smoothed(self.average, self.weight, queue as f64);
    }

    /// Record that the queue has become empty.
    pub(super) fn idle(&mut self, now: Time) {
        self.idle_since = now;
    }

    /// Count an arriving packet.
    #[inline]
    pub(super) fn count(&mut self) {
        self.levels.count += 1;
        if self.average < self.levels.min {
            (self.levels.count, self.levels.octets) = (-1, 0);
        }
    }

    /// Decide whether the packet that was counted last is discarded.
    #[inline(always)] // so that in a loop over cells a number is computed without what is equal for all of them
    pub(super) fn marks(&mut self, max_p: f64, draw: impl FnOnce() -> f64) -> bool {
        if self.average < self.levels.min {
            return false;
        }
        let base = self.base(max_p);
        let marked = drawn(base, self.levels.count as f64 * base, draw);
        if marked {
            self.lost();
        }
        marked
    }

    /// Like [`marks`](Detector::marks), for a packet of `bytes` octets where a full packet has `mtu`.
    fn marks_bytes(
        &mut self,
        max_p: f64,
        bytes: u16,
        mtu: f64,
        count: Count,
        draw: impl FnOnce() -> f64,
    ) -> bool {
        if self.average < self.levels.min {
            return false;
        }
        let (base, part) = (self.base(max_p), f64::from(bytes) / mtu);
        let spent = match count {
            Count::Octets => self.levels.octets as f64 / mtu * base,
            Count::Packets => self.levels.count as f64 * (base * part),
        };
        let marked = base >= 1.0 || drawn(base * part, spent, draw);
        if marked {
            self.lost();
        } else {
            self.levels.octets += u64::from(bytes);
        }
        marked
    }

    /// Record that a packet was lost for want of room.
    pub(super) fn lost(&mut self) {
        (self.levels.count, self.levels.octets) = (0, 0);
    }

    /// Return p_b for an average of at least minth: figure 2 of paper 000.
    #[inline]
    fn base(&self, max_p: f64) -> f64 {
        let (average, Levels { min, max, per_level, .. }) = (self.average, self.levels);
        if average < max {
            return max_p * ((average - min) * per_level);
        }
        match self.curve {
            Curve::Gentle if average < 2.0 * max => max_p + (1.0 - max_p) * (average - max) / max,
            _ => 1.0,
        }
    }
}

/// Return the new average after a sample: equation (1) of paper 000.
fn smoothed(average: f64, weight: f64, queue: f64) -> f64 {
    (1.0 - weight) * average + weight * queue
}

/// Decay the average as if `slots` packets had met an empty queue (Floyd and Jacobson, section 4).
fn decayed(average: f64, weight: f64, slots: f64) -> f64 {
    average * libm::pow(1.0 - weight, slots)
}

/// Return whether a number u from 0 to 1 is below p_a = p_b / (1 − `spent`), where `spent` is count · p_b. This makes
/// the gap between two discards uniform instead of geometric (Floyd and Jacobson, section 7). Where p_a is 1 or more no
/// u is drawn, and nothing is divided.
#[inline(always)]
fn drawn(p_b: f64, spent: f64, u: impl FnOnce() -> f64) -> bool {
    let left = 1.0 - spent;
    p_b >= left || u() * left < p_b
}

/// Return the time to send the mean full frame of the circuits, or a cell without circuits.
pub(super) fn mean_frame_time(context: &Context<'_>) -> Span {
    let octets: u64 = context.contracts.iter().map(|contract| contract.octets).sum();
    let mean = (octets / context.vcs().max(1) as u64).max(CELL_BYTES);
    Span(context.rate.time_of_bits(8 * mean).0)
}

#[cfg(test)]
mod tests {
    use super::super::tests::PolicyBench;
    use super::*;
    use crate::buffer::size::BufferSize;
    use crate::rng::Stream;
    use crate::unit::Flags;
    use crate::units::ids::CircuitId;
    use crate::vectors::{numbers, vector};

    fn params(weight: f64, max_p: f64, min: u64, max: u64) -> Params {
        let cells = |n| Level::Size(BufferSize::Cells(n));
        Params {
            weight,
            max_p,
            min_threshold: cells(min),
            max_threshold: cells(max),
            curve: Curve::Classic,
            packet_time: Some(Span(1000)),
            pass_eom: true,
            action: Action::Drop,
            adaptive: false,
            interval: Span::millis(500),
            byte_mode: false,
            count: Count::Octets,
            mtu: None,
            yellow: None,
            red: None,
        }
    }

    fn bench(params: Params) -> PolicyBench<Policy> {
        PolicyBench::new(100, 2, move |context| Policy::new(&params, context))
    }

    #[test]
    fn the_average_follows_equation_1() {
        let mut bench = bench(params(0.5, 0.0, 90, 100));
        bench.offer(0, "1");
        assert_eq!(bench.policy.detector.average, 0.0, "met an empty queue");
        bench.offer(0, "1");
        assert_eq!(bench.policy.detector.average, 0.5);
        bench.offer(0, "f..");
        assert_eq!(bench.policy.detector.average, 1.25, "0.5 · 0.5 + 0.5 · 2; sampled once per frame");
    }

    #[test]
    fn while_the_port_is_idle_the_average_decays_as_if_packets_had_met_an_empty_queue() {
        let mut bench = bench(params(0.5, 0.0, 90, 100));
        bench.offer(0, "111");
        assert_eq!(bench.policy.detector.average, 1.25);
        for now in [3000, 4000, 5000] {
            bench.now = Time(now);
            bench.depart(0);
        }
        bench.now = Time(8000);
        bench.offer(0, "1");
        assert_eq!(bench.policy.detector.average, 1.25 / 8.0, "m = 3 packet times");
    }

    #[test]
    fn an_idle_period_counts_once() {
        let mut bench = bench(params(0.5, 1.0, 1, 1));
        assert_eq!(bench.offer(0, "111"), "AAm", "avg = 0, 0.5, 1.25");
        bench.now = Time(5000);
        (0..2).for_each(|_| bench.depart(0));
        bench.now = Time(5100);
        assert_eq!(bench.offer(0, "1"), "m", "the average is still above maxth");
        let average = bench.policy.detector.average;
        assert_eq!(bench.offer(0, "1"), "m");
        assert_eq!(bench.policy.detector.average, average);
    }

    #[test]
    fn below_minth_no_discarding_occurs_and_from_maxth_on_everything_is_discarded() {
        let mut bench = bench(params(1.0, 0.0, 5, 10));
        assert_eq!(bench.offer(0, "1111111111"), "AAAAAAAAAA", "max_p = 0 leaves the slope at 0");
        assert_eq!(bench.offer(0, "f.e"), "mmm", "avg = maxth");
    }

    #[test]
    fn the_probability_rises_from_0_at_minth_to_maxp_at_maxth() {
        let mut red = bench(params(1.0, 0.1, 20, 60)).policy.detector;
        let base = |red: &mut Detector, average: f64| {
            red.average = average;
            red.base(0.1)
        };
        assert_eq!(base(&mut red, 20.0), 0.0);
        assert_eq!(base(&mut red, 40.0), 0.05);
        assert_eq!(base(&mut red, 60.0), 1.0);
        red.curve = Curve::Gentle;
        assert_eq!(base(&mut red, 60.0), 0.1);
        assert!((base(&mut red, 90.0) - 0.55).abs() < 1e-12, "half way to twice maxth");
        assert_eq!(base(&mut red, 120.0), 1.0);
    }

    #[test]
    fn the_gap_between_discards_never_exceeds_the_reciprocal_of_p_b() {
        for (count, p_a) in [(0.0, 0.25), (2.0, 0.5)] {
            assert!(drawn(0.25, 0.25 * count, || p_a - 0.001) && !drawn(0.25, 0.25 * count, || p_a));
        }
        for count in [3.0, 4.0] {
            assert!(drawn(0.25, 0.25 * count, || panic!("p_a is 1")));
        }
        let mut red = bench(params(1.0, 0.5, 0, 20)).policy;
        red.detector.average = 10.0; // p_b = 1/4
        let (mut gap, mut stream) = (0, Stream::new(1, "test"));
        for _ in 0..1000 {
            red.detector.count();
            gap += 1;
            if red.detector.marks(0.5, || stream.unit()) {
                assert!(gap <= 4, "a gap of {gap}");
                gap = 0;
            }
        }
    }

    #[test]
    fn count_starts_at_minus_one_and_again_at_zero_after_a_discard() {
        let mut red = bench(params(1.0, 0.5, 5, 20)).policy.detector;
        red.average = 4.0;
        red.count();
        assert_eq!(red.levels.count, -1);
        red.average = 6.0;
        red.count();
        red.count();
        assert_eq!(red.levels.count, 1);
        red.lost();
        assert_eq!(red.levels.count, 0, "a full buffer discards, too");
    }

    #[test]
    fn discards_are_uniform_over_the_gap_so_their_rate_is_twice_that_of_p_b() {
        let mut red = bench(params(1.0, 0.02, 0, 20)).policy;
        red.detector.average = 10.0; // p_b = 0.01: gaps uniform on 1 to 100, mean 50.5
        let mut stream = Stream::new(1, "test");
        let marked = (0..200_000).filter(|_| {
            red.detector.count();
            red.detector.marks(0.02, || stream.unit())
        });
        let rate = marked.count() as f64 / 200_000.0;
        assert!((rate * 50.5 - 1.0).abs() < 0.04, "rate {rate}"); // four standard errors
    }

    #[test]
    fn with_marks_a_packet_that_is_drawn_stays_and_one_that_cannot_be_marked_goes() {
        let mut bench = bench(Params { action: Action::Mark, ..params(1.0, 0.0, 1, 2) });
        assert_eq!(bench.offer(0, "222"), "AAM", "avg = 0, 1, 2: from maxth on every one");
        assert_eq!(bench.offer(0, "p-q"), "MAA", "the first cell bears the mark of a frame");
        assert_eq!(bench.offer(0, "f.e"), "mmm");
        let mut full = PolicyBench::new(2, 1, |context| {
            Policy::new(&Params { action: Action::Mark, ..params(1.0, 0.0, 1, 2) }, context)
        });
        assert_eq!(full.offer(0, "222"), "AAo", "a full buffer loses what could be marked");
    }

    #[test]
    fn the_largest_probability_follows_the_average_as_in_the_vectors() {
        for case in vector("red")["adaptive"].as_array().unwrap() {
            let mut max_p = case["before"].as_f64().unwrap();
            let (min, max) = (case["min"].as_f64().unwrap(), case["max"].as_f64().unwrap());
            for (average, after) in numbers(&case["average"]).into_iter().zip(numbers(&case["after"])) {
                max_p = adapted(max_p, average, min, max);
                assert!((max_p - after).abs() < 1e-9, "{max_p} instead of {after}");
            }
        }
    }

    #[test]
    fn adaptive_red_moves_its_probability_by_the_clock_and_by_the_average_of_an_idle_port() {
        let mut bench = bench(Params { adaptive: true, ..params(0.5, 0.02, 0, 10) });
        let tick =
            |bench: &mut PolicyBench<Policy>, now| bench.policy.tick(Time(now), &bench.pool, Span::ZERO);
        assert_eq!(tick(&mut bench, 0), Some(Time::ZERO + Span::millis(500)));
        bench.policy.detector.average = 9.0;
        bench.offer(0, "1");
        assert_eq!(bench.policy.max_p, 0.02, "not yet");
        bench.policy.detector.average = 9.0;
        tick(&mut bench, 1000);
        assert_eq!(bench.policy.max_p, 0.025);
        bench.now = Time(2000);
        bench.depart(0);
        tick(&mut bench, 4000);
        assert!((bench.policy.max_p - 0.0225).abs() < 1e-12, "two packet times without packets: 2.25");
        assert_eq!(bench_of_fixed().policy.tick(Time::ZERO, &bench.pool, Span::ZERO), None);
    }

    fn bench_of_fixed() -> PolicyBench<Policy> {
        bench(params(0.5, 0.02, 0, 10))
    }

    #[test]
    fn in_byte_mode_short_packets_are_discarded_in_proportion_to_their_length() {
        let packets = Context { measure: Measure::Packets, ..Context::alone(100, 1) };
        let params = Params {
            byte_mode: true,
            mtu: Some(Bytes(1500)),
            min_threshold: Level::Percent(0.0),
            max_threshold: Level::Percent(20.0),
            ..params(1.0, 0.2, 0, 20)
        };
        let mut red = Policy::new(&params, &packets).unwrap();
        red.detector.average = 10.0; // p_b = 0.1 of a full packet
        let packet = |identity, bytes| {
            let flags = Flags::FIRST.with(Flags::EOM);
            Unit { vc: CircuitId(0), frame: identity, identity, index: 0, bytes, hop: 0, flags }
        };
        let mut share = |bytes| {
            let drawn = (0..100_000).filter(|&identity| {
                (red.detector.levels.count, red.detector.levels.octets) = (0, 0);
                red.draw(&packet(identity, bytes)).is_some()
            });
            drawn.count() as f64 / 100_000.0
        };
        assert!((share(1500) - 0.1).abs() < 0.004);
        assert!((share(150) - 0.01).abs() < 0.0013); // four standard errors
        red.detector.average = 20.0;
        assert!(red.draw(&packet(0, 30)).is_some(), "from maxth on everything");
        let refused = Policy::new(&params, &Context::alone(100, 1));
        assert!(refused.unwrap_err().to_string().starts_with("byte_mode: must be false on a cell link"));
    }

    /// Compare the discards of packets of 1500 octets with those of packets of 100, of which 15 arrive for each large
    /// one.
    fn ratio_of_discards(count: Count) -> f64 {
        let packets = Context { measure: Measure::Packets, ..Context::alone(100, 1) };
        let level = |percent| Level::Percent(percent);
        let (min_threshold, max_threshold) = (level(0.0), level(20.0));
        let byte_mode = Params { byte_mode: true, mtu: Some(Bytes(1500)), count, ..params(1.0, 0.2, 0, 20) };
        let params = Params { min_threshold, max_threshold, ..byte_mode };
        let mut red = Policy::new(&params, &packets).unwrap();
        red.detector.average = 10.0; // p_b = 0.1
        let (mut discarded, flags) = ([0.0, 0.0], Flags::FIRST.with(Flags::EOM));
        let mut order = Stream::new(1, "order");
        for identity in 0..1_600_000 {
            let is_long = order.up_to(15) == 0;
            let bytes = if is_long { 1500 } else { 100 };
            red.detector.count();
            let unit = Unit { vc: CircuitId(0), frame: identity, identity, index: 0, bytes, hop: 0, flags };
            discarded[usize::from(is_long)] += f64::from(red.draw(&unit).is_some());
        }
        15.0 * discarded[1] / discarded[0]
    }

    #[test]
    fn in_byte_mode_the_loss_of_a_packet_is_proportional_to_its_length() {
        let ratio = ratio_of_discards(Count::Octets);
        assert!((ratio - 15.0).abs() < 1.0, "{ratio}");
    }

    #[test]
    fn by_the_letter_a_long_packet_inherits_the_count_of_all_short_ones() {
        assert!(ratio_of_discards(Count::Packets) > 25.0);
    }

    #[test]
    fn an_accepted_frame_that_overflows_is_cut_short_as_by_ppd() {
        let params = params(0.001, 0.0, 2, 3);
        let mut bench = PolicyBench::new(3, 1, move |context| Policy::new(&params, context));
        assert_eq!(bench.offer(0, "f..."), "AAAo");
        bench.depart(0);
        assert_eq!(bench.offer(0, ".e"), "pA");
    }

    #[test]
    fn impossible_parameters_are_refused() {
        let why = |params: Params| Policy::new(&params, &Context::alone(100, 1)).unwrap_err().to_string();
        assert_eq!(why(params(0.1, 1.5, 1, 2)), "max_p: must be from 0 to 1");
        assert_eq!(why(params(-0.1, 0.5, 1, 2)), "weight: must be greater than 0 and at most 1");
        assert_eq!(why(params(0.1, 0.5, 3, 2)), "max_threshold: must be at least `min_threshold` of 3 cells");
    }
}
