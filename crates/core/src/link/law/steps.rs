//! A table of rates: from each of its times on the line has another rate.
//!
//! # Source
//! The bottlenecks of the test cases for congestion control: RFC 8867, section 5.1; draft-ietf-ccwg-bbr, appendix "BBR example test cases".
//!
//! # Idea
//! The work of a line up to an instant is the integral of its rate. A unit of b bits that starts when the line has done the work w ends
//! when the line has done w + b. So bits of the unit in service are conserved when the rate changes, and a rate of 0 stops the unit, which
//! later continues. Work is counted in bits times 10^12, so that a rate in bits per second does a whole amount in every picosecond:
//! all instants are exact, rounded down once.

use std::iter;
use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::{MOST_ENTRIES, check_rate};
use crate::language::spec::{Field, Shape};
use crate::language::tree::{Fault, Node, Value};
use crate::refused::Refused;
use crate::units::{PS_PER_S, Rate, Span, Time};

/// A time, and the rate from then on, or another quantity that changes in steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step<T = Rate>(pub Span, pub T);

/// A quantity of a line that can change in steps.
pub trait Stepped: Field {
    /// What a step must be, with an example.
    const WHAT: &'static str;
}

impl Stepped for Rate {
    const WHAT: &'static str = "a time and the rate from then on, as in [\"2 s\", \"5 Mb/s\"]";
}

impl Stepped for Span {
    const WHAT: &'static str = "a time and the delay from then on, as in [\"3 s\", \"60 ms\"]";
}

impl<T: Stepped> Field for Step<T> {
    fn read(node: &Node, path: &str) -> Result<Self, Fault> {
        match &node.value {
            Value::List(items) if items.len() == 2 => Ok(Step(
                Span::read(&items[0], &format!("{path}[0]"))?,
                T::read(&items[1], &format!("{path}[1]"))?,
            )),
            _ => Err(node.fault(path, format!("must be {}, not {}", T::WHAT, node.show()))),
        }
    }

    fn write(&self) -> Json {
        json!([self.0.write(), self.1.write()])
    }

    fn shape() -> Shape {
        let Shape { unit, schema } = T::shape();
        let items = [Span::shape().schema, schema];
        let schema = json!({ "type": "array", "prefixItems": items, "minItems": 2, "maxItems": 2 });
        Shape { unit, schema }
    }
}

/// Rates over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Steps {
    table: Vec<Step>,
    period: Option<Span>,
    /// The work of a period.
    lap: u128,
}

/// What is wrong with a table: the number of its step, if one is wrong, and why.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct StepsFault {
    pub(super) step: Option<usize>,
    pub(super) why: String,
}

impl StepsFault {
    /// Refuse the table under `key`.
    pub(super) fn refused(self, key: &'static str) -> Refused {
        let why = match self.step {
            Some(step) => format!("step {}: {}", step + 1, self.why),
            None => self.why,
        };
        Refused { key: Some(key), why }
    }
}

impl Steps {
    /// Check a table, which begins anew after each period.
    pub(super) fn new(table: Vec<Step>, period: Option<Span>) -> Result<Steps, StepsFault> {
        let fault = |step: Option<usize>, why: &str| Err(StepsFault { step, why: why.to_string() });
        let (Some(first), Some(last)) = (table.first(), table.last()) else {
            return fault(None, "must have at least one time with its rate");
        };
        if first.0 != Span::ZERO {
            return fault(Some(0), "the first time must be 0 s");
        }
        if table.len() > MOST_ENTRIES {
            return fault(Some(MOST_ENTRIES), "a line must have at most 4000000 steps");
        }
        if let Some(at) = table.windows(2).position(|pair| pair[1].0 <= pair[0].0) {
            return fault(Some(at + 1), "its time must be later than that of the entry before it");
        }
        let wrong = table.iter().enumerate().find_map(|(at, step)| Some((at, check_rate(step.1).err()?)));
        if let Some((at, why)) = wrong {
            return fault(Some(at), &format!("its rate {why}"));
        }
        if period.is_some_and(|period| period <= last.0) {
            return fault(None, &format!("must end before the period does; the last time is {}", last.0));
        }
        if period.is_none() && last.1 == Rate(0) {
            let from =
                table.iter().rev().take_while(|step| step.1 == Rate(0)).last().map_or(last.0, |step| step.0);
            let why = format!(
                "nothing can leave after {from}: the last rate must be greater than 0 b/s, or give a period"
            );
            return fault(Some(table.len() - 1), &why);
        }
        if table.iter().all(|step| step.1 == Rate(0)) {
            return fault(None, "nothing can leave: one rate must be greater than 0 b/s");
        }
        let mut steps = Steps { table, period, lap: 0 };
        steps.lap = period.map_or(0, |period| steps.work_until(period));
        Ok(steps)
    }

    /// Return the greatest rate.
    pub(super) fn peak(&self) -> Rate {
        self.table.iter().map(|step| step.1).max().unwrap_or_default()
    }

    /// Return the mean rate over a long time.
    pub(super) fn long_run(&self) -> Rate {
        match self.period {
            Some(period) => Rate((self.lap / u128::from(period.0)) as u64),
            None => self.table.last().map_or(Rate(0), |step| step.1),
        }
    }

    /// Return the mean rate from one instant to another.
    pub(super) fn mean_between(&self, from: Span, to: Span) -> f64 {
        let span = to.0.saturating_sub(from.0).max(1);
        (self.work(to) - self.work(from)) as f64 / span as f64
    }

    /// Return the work until an instant.
    fn work(&self, until: Span) -> u128 {
        let laps = self.period.map_or(0, |period| until.0 / period.0);
        let rest = until.0 - laps * self.period.unwrap_or_default().0;
        u128::from(laps) * self.lap + self.work_until(Span(rest))
    }

    /// Return the work until an instant of the first period.
    fn work_until(&self, until: Span) -> u128 {
        let ends = self.table[1..].iter().map(|step| step.0).chain(iter::once(until));
        let work = |(step, end): (&Step, Span)| {
            u128::from(step.1.0) * u128::from(end.min(until).0.saturating_sub(step.0.0))
        };
        self.table.iter().zip(ends).map(work).sum()
    }
}

/// Where rates come from, one after another.
pub trait Segments {
    /// Return the end of the next segment and its rate, or only its rate if it lasts for ever.
    fn next(&mut self) -> (Option<Time>, u64);

    /// Return the length and the work of a period, if rates repeat.
    fn lap(&self) -> Option<(u64, u128)>;

    /// Skip this many periods.
    fn skip(&mut self, laps: u64);
}

/// The segments of a table.
#[derive(Clone, Debug)]
pub struct Tabled {
    steps: Arc<Steps>,
    next: usize,
    /// The beginning of the present period.
    base: u64,
}

impl Tabled {
    pub(super) fn new(steps: Arc<Steps>) -> Tabled {
        Tabled { steps, next: 0, base: 0 }
    }
}

impl Segments for Tabled {
    fn next(&mut self) -> (Option<Time>, u64) {
        let Tabled { steps, next, base } = self;
        let rate = steps.table[*next].1.0;
        *next += 1;
        let end = match (steps.table.get(*next), steps.period) {
            (Some(step), _) => Some(*base + step.0.0),
            (None, Some(period)) => {
                (*next, *base) = (0, *base + period.0);
                Some(*base)
            }
            (None, None) => {
                *next -= 1; // the last one lasts
                None
            }
        };
        (end.map(Time), rate)
    }

    fn lap(&self) -> Option<(u64, u128)> {
        self.steps.period.map(|period| (period.0, self.steps.lap))
    }

    fn skip(&mut self, laps: u64) {
        self.base += laps * self.steps.period.map_or(0, |period| period.0);
    }
}

/// A place in a sequence of segments, which only moves forward.
#[derive(Clone, Debug)]
pub struct Cursor<S> {
    segments: S,
    /// Beginning and end of the present segment, its rate, and the work done before it.
    begins: u64,
    ends: u64,
    rate: u64,
    before: u128,
    /// The work after which the line is free.
    done: u128,
}

impl<S: Segments> Cursor<S> {
    pub(super) fn new(mut segments: S) -> Cursor<S> {
        let (end, rate) = segments.next();
        let ends = end.map_or(u64::MAX, |end| end.0);
        Cursor { segments, begins: 0, ends, rate, before: 0, done: 0 }
    }

    /// Send `octets` octets; see [`super::Course::send`].
    pub(super) fn send(&mut self, now: Time, free: Time, octets: u16) -> (Time, Time) {
        let starts = now.max(free);
        if now > free {
            self.rest(now);
        }
        self.done += u128::from(8 * u64::from(octets)) * u128::from(PS_PER_S);
        (starts, self.end_of_work())
    }

    /// Let the line do nothing until an instant.
    pub(super) fn rest(&mut self, until: Time) {
        self.seek(until.0);
        let work = u128::from(self.rate) * u128::from(until.0.saturating_sub(self.begins));
        self.done = self.done.max(self.before + work);
    }

    /// Move to the segment that contains an instant.
    fn seek(&mut self, time: u64) {
        if let Some((length, work)) =
            self.segments.lap().filter(|(length, _)| time.saturating_sub(self.ends) >= *length)
        {
            let laps = (time - self.ends) / length;
            self.jump(laps, length, work);
        }
        while self.ends <= time {
            self.advance();
        }
    }

    /// Move to the segment in which the work ends, and return that instant, rounded down.
    fn end_of_work(&mut self) -> Time {
        if let Some((length, work)) = self.segments.lap() {
            let laps = (self.done - self.before).saturating_sub(1) / work; // the work may end with the last of these laps
            if laps > 1 {
                self.jump(laps as u64 - 1, length, work);
            }
        }
        loop {
            let left = self.done - self.before;
            let room = u128::from(self.rate) * u128::from(self.ends - self.begins);
            if left <= room {
                return Time(self.begins + divided(left, self.rate));
            }
            self.advance();
        }
    }

    fn jump(&mut self, laps: u64, length: u64, work: u128) {
        self.segments.skip(laps);
        self.begins += laps * length;
        self.ends += laps * length;
        self.before += u128::from(laps) * work;
    }

    fn advance(&mut self) {
        self.before += u128::from(self.rate) * u128::from(self.ends - self.begins);
        self.begins = self.ends;
        let (end, rate) = self.segments.next();
        (self.ends, self.rate) = (end.map_or(u64::MAX, |end| end.0), rate);
    }
}

/// Divide; the quotient is below 2^64, and mostly the dividend as well.
fn divided(work: u128, rate: u64) -> u64 {
    match u64::try_from(work) {
        Ok(work) => work / rate.max(1),
        Err(_) => (work / u128::from(rate)) as u64,
    }
}
