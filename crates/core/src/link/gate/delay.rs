//! A delay that changes: from each of its times on, the line has another propagation delay.
//!
//! # Source
//! The hand-overs of satellite and mobile links, and the tests of spurious timeouts (RFC 3522, section 1; draft-ietf-ccwg-bbr, appendix
//! "BBR example test cases").
//!
//! # Idea
//! A packet has the delay of the instant at which its last bit leaves. The line keeps the order of its packets: when the delay
//! becomes shorter, a packet waits for those before it and arrives with the last of them.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::{Build, Gate, Site};
use crate::language::spec::{Field, Nested, Shape, read_section};
use crate::language::tree::{Fault, Node, Value};
use crate::link::law::Step;
use crate::refused::{Refused, refuse, refuse_if};
use crate::section;
use crate::unit::Unit;
use crate::units::{Span, Time};

/// The longest delay: 255 hops of it are a few days, which fit into instants of 64 bits.
pub const LONGEST: Span = Span::secs(3_600);
/// The most steps of a delay.
const MOST_STEPS: usize = 1_000_000;

/// The delay of a line over time.
#[derive(Clone, Debug, PartialEq)]
pub enum Delay {
    /// One delay, always.
    Constant(Span),
    /// Another delay from each of several times on.
    Steps(Arc<DelayForms>),
}

section! {
    /// How the delay of a link changes.
    pub struct DelayForms {
        /// Times from 0 s on with the delay from then on, as in [["0 s", "20 ms"], ["3 s", "60 ms"]]. A packet has the delay of the instant
        /// at which its last bit leaves, and none overtakes another one.
        pub steps: Vec<Step<Span>>,
        /// Time after which the steps begin again; by default the last delay stays.
        pub period: Option<Span> = None,
    }
}

impl DelayForms {
    fn check(&self) -> Result<(), Refused> {
        let DelayForms { steps, period } = self;
        let at = |place: usize, why: &str| {
            let why = format!("step {}: {why}", place + 1);
            refuse("steps", why)
        };
        let Some(last) = steps.last() else {
            return refuse("steps", "must have at least one time with its delay");
        };
        if steps[0].0 != Span::ZERO {
            return at(0, "the first time must be 0 s");
        }
        refuse_if(steps.len() > MOST_STEPS, "steps", format!("must be at most {MOST_STEPS} steps"))?;
        if let Some(place) = steps.windows(2).position(|pair| pair[1].0 <= pair[0].0) {
            return at(place + 1, "its time must be later than that of the entry before it");
        }
        if let Some(place) = steps.iter().position(|step| step.1 > LONGEST) {
            return at(place, "its delay must be at most an hour");
        }
        let why = format!("must be longer than the last time, {}", last.0);
        refuse_if(period.is_some_and(|period| period <= last.0), "period", why)
    }

    /// Return the delay at an instant.
    fn at(&self, time: Time) -> Span {
        let time = time.since(Time::ZERO);
        let time = self.period.map_or(time, |period| Span(time.0 % period.0));
        self.steps[self.steps.partition_point(|step| step.0 <= time) - 1].1
    }
}

impl Delay {
    /// Return the shortest delay that the line ever has: that of a base round trip.
    pub fn least(&self) -> Span {
        match self {
            Delay::Constant(delay) => *delay,
            Delay::Steps(forms) => forms.steps.iter().map(|step| step.1).min().unwrap_or_default(),
        }
    }

    /// Return whether the line always has the same delay.
    pub fn is_constant(&self) -> bool {
        matches!(self, Delay::Constant(_))
    }

    /// Return the last time at which the delay changes, if it does not repeat.
    pub fn last_step(&self) -> Option<Span> {
        match self {
            Delay::Constant(_) => None,
            Delay::Steps(forms) => forms.steps.last().map(|step| step.0),
        }
    }
}

impl Field for Delay {
    fn read(node: &Node, path: &str) -> Result<Self, Fault> {
        if !matches!(node.value, Value::Table(_)) {
            return Span::read(node, path).map(Delay::Constant);
        }
        let forms: DelayForms = read_section(node, path)?;
        match forms.check() {
            Ok(()) => Ok(Delay::Steps(Arc::new(forms))),
            Err(Refused { key, why }) => Err(node.fault_along(path, key.unwrap_or("steps"), why)),
        }
    }

    fn write(&self) -> Json {
        match self {
            Delay::Constant(delay) => delay.write(),
            Delay::Steps(forms) => {
                let mut keys = Nested(DelayForms::clone(forms)).write();
                keys.as_object_mut().expect("a section is a table").retain(|_, value| !value.is_null());
                keys
            }
        }
    }

    fn shape() -> Shape {
        let mut forms = Nested::<DelayForms>::shape().schema;
        forms["examples"] = json!([{ "steps": [["0 s", "20 ms"], ["3 s", "60 ms"]] }]);
        Shape { unit: "time", schema: json!({ "anyOf": [Span::shape().schema, forms] }) }
    }
}

/// The changing delay of one line.
#[derive(Clone, Debug)]
pub struct Delays {
    forms: Arc<DelayForms>,
    /// The shortest delay, which the line itself has.
    least: Span,
    /// The arrival of the latest packet.
    last: Time,
}

impl Build for Delays {
    fn build(site: &Site<'_>) -> Option<Self> {
        match site.delay {
            Delay::Constant(_) => None,
            Delay::Steps(forms) => {
                Some(Delays { forms: Arc::clone(forms), least: site.delay.least(), last: Time::ZERO })
            }
        }
    }
}

impl Gate for Delays {
    fn arrives(&mut self, ends: Time, arrives: Time, _unit: &Unit) -> Time {
        let beyond = Span(self.forms.at(ends).0 - self.least.0);
        self.last = self.last.max(arrives + beyond);
        self.last
    }
}
