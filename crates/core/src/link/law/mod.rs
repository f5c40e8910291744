//! What a line carries over time.
//!
//! A constant rate is the plain case. The others have a file each: a table of rates (`steps.rs`, also read from a file), instants at
//! which a line may send a number of octets (`opportunities.rs`: mahimahi's traces, and grants of a shared medium), and two rates
//! between which a generator chooses (`states.rs`). A [`Course`] is the progress of a line along its law.
//!
//! Each reader of a rate says which one it means: [`Law::mean`] for shares, loads, shapers and buffers in time,
//! [`Law::peak`] for the most that can come, [`Law::fixed`] where only a rate that never changes can be meant. A scenario in
//! which that cannot be is refused before it runs, or runs on the reference engine.

mod file;

mod opportunities;

mod states;

mod steps;

use std::fmt;
use std::sync::Arc;

use serde_json::{Value as Json, json};

use crate::language::spec::{Field, Nested, Shape, read_section};
use crate::language::tree::{Fault, Node, Value};
use crate::language::values::FileText;
use crate::refused::{Refused, refuse, refuse_if};
use crate::section;
use crate::units::{Rate, Span, Time};

pub use opportunities::{Grants, OPPORTUNITY, Opportunities};
pub use states::States;
pub use steps::{Step, Steps};

use opportunities::OpportunityCourse;
use states::DrawnStates;
use steps::{Cursor, Tabled};

/// The fastest line: a cell still lasts four picoseconds.
pub const FASTEST: Rate = Rate(100_000_000_000_000);
/// The slowest line.
pub const SLOWEST: Rate = Rate(1_000);
/// The most steps or opportunities of a line.
pub const MOST_ENTRIES: usize = 4_000_000;

/// The rate of a line over time.
#[derive(Clone, Debug, PartialEq)]
pub enum Law {
    /// One rate, always.
    Constant(Rate),
    /// Any other law.
    Changing(Arc<Changing>),
}

/// A law under which the rate of a line changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Changing {
    /// The keys as they were written.
    forms: LawForms,
    kind: Kind,
    /// The mean rate over the run.
    mean: Rate,
}

/// The kinds of laws.
#[derive(Clone, Debug, PartialEq)]
enum Kind {
    /// A table of rates.
    Steps(Arc<Steps>),
    /// Instants at which the line may send a number of octets.
    Opportunities(Arc<Opportunities>),
    /// Two rates, drawn.
    States(States),
}

section! {
    /// The ways in which the rate of a line can change.
    pub struct LawForms {
        /// Times from 0 s on with the rate from then on, as in [["0 s", "20 Mb/s"], ["2 s", "5 Mb/s"]]; rate 0 stops the line.
        pub steps: Option<Vec<Step>> = None,
        /// A file: in each line the millisecond of a delivery opportunity of 1500 octets, as mahimahi writes them, or a time and the
        /// rate from then on.
        pub trace: Option<String> = None,
        /// The text of the file, which `pushout` adds.
        pub data: Option<FileText> = None,
        /// Time after which steps or a file begin again; `as-read` repeats opportunities after the last one, which is also the default.
        /// The last of other rates stays by default.
        pub period: Option<Period> = None,
        /// Octets that a shared medium lets the line send, again and again.
        pub grants: Option<Nested<Grants>> = None,
        /// Two rates between which the line changes at random.
        pub states: Option<Nested<States>> = None,
        /// Mean rate over the run, which `pushout explain` writes for readers; a scenario need not have it, and nothing follows from it.
        pub mean: Option<Rate> = None,
    }
}

/// After which time a law begins again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Period {
    /// After the last opportunity of a file.
    AsRead,
    /// After this time.
    Of(Span),
}

const AS_READ: &str = "as-read";

impl Field for Period {
    fn read(node: &Node, path: &str) -> Result<Self, Fault> {
        match &node.value {
            Value::Text(text) if text == AS_READ => Ok(Period::AsRead),
            _ => Span::read(node, path).map(Period::Of),
        }
    }

    fn write(&self) -> Json {
        match self {
            Period::AsRead => AS_READ.into(),
            Period::Of(time) => time.write(),
        }
    }

    fn shape() -> Shape {
        Shape { unit: "time", schema: json!({ "anyOf": [{ "const": AS_READ }, Span::shape().schema] }) }
    }
}

impl Field for Law {
    fn read(node: &Node, path: &str) -> Result<Self, Fault> {
        match node.value {
            Value::Table(_) => changing(node, path),
            _ => Rate::read(node, path).map(Law::Constant),
        }
    }

    fn write(&self) -> Json {
        match self {
            Law::Constant(rate) => rate.write(),
            Law::Changing(law) => {
                let mut keys = Nested(LawForms { mean: Some(law.mean), ..law.forms.clone() }).write();
                keys.as_object_mut().expect("a section is a table").retain(|_, value| !value.is_null());
                keys
            }
        }
    }

    fn shape() -> Shape {
        let text = json!({ "type": "string" });
        let mean = Rate::shape().schema;
        let form = |required: &str, mut keys: Json, example: Json| {
            keys["mean"] = mean.clone();
            json!({ "type": "object", "properties": keys, "required": [required], "additionalProperties": false, "examples": [example] })
        };
        let period = Period::shape().schema;
        let forms = [
            Rate::shape().schema,
            form(
                "steps",
                json!({ "steps": Vec::<Step>::shape().schema, "period": Span::shape().schema }),
                json!({ "steps": [["0 s", "20 Mb/s"], ["2 s", "5 Mb/s"]] }),
            ),
            form(
                "trace",
                json!({ "trace": text, "data": text, "period": period }),
                json!({ "trace": "cell.trace", "data": "1\n3\n7\n" }),
            ),
            form(
                "grants",
                json!({ "grants": Nested::<Grants>::shape().schema }),
                json!({ "grants": { "every": "10 ms", "size": "30 kB" } }),
            ),
            form(
                "states",
                json!({ "states": Nested::<States>::shape().schema }),
                json!({ "states": { "good": "50 Mb/s", "bad": "2 Mb/s", "to_bad": "0.5 per s", "to_good": "4 per s" } }),
            ),
        ];
        Shape { unit: "rate", schema: json!({ "anyOf": forms }) }
    }
}

/// Read a law under which the rate changes.
fn changing(node: &Node, path: &str) -> Result<Law, Fault> {
    let forms = LawForms { mean: None, ..read_section(node, path)? };
    let given =
        [forms.steps.is_some(), forms.trace.is_some(), forms.grants.is_some(), forms.states.is_some()];
    if given.iter().filter(|is_given| **is_given).count() != 1 {
        return Err(node.fault(path, "must have one key: steps, trace, grants or states"));
    }
    let kind = kind(&forms).map_err(|refused| match refused.key {
        Some(key) => node.fault_along(path, key, refused.why),
        None => node.fault(path, refused.why),
    })?;
    let mean = kind.long_run();
    Ok(Law::Changing(Arc::new(Changing { forms, kind, mean })))
}

/// Build the law of these keys, of which one kind is given.
fn kind(forms: &LawForms) -> Result<Kind, Refused> {
    let LawForms { steps, trace, data, period, grants, states, mean: _ } = forms;
    refuse_if(trace.is_none() && data.is_some(), "data", "must be beside trace, which names the file")?;
    let span = match period {
        Some(Period::Of(time)) => Some(*time),
        Some(Period::AsRead) | None => None,
    };
    if let Some(table) = steps {
        let fault = "must be a time here: only opportunities in a file repeat as read";
        refuse_if(*period == Some(Period::AsRead), "period", fault)?;
        let steps = Steps::new(table.clone(), span).map_err(|fault| fault.refused("steps"))?;
        return Ok(Kind::Steps(Arc::new(steps)));
    }
    if let Some(name) = trace {
        let Some(FileText(text)) = data else {
            let why = "the file has not been read; only pushout reads files, and an override cannot name another one";
            return refuse("trace", why);
        };
        return file::read(name, text, *period);
    }
    refuse_if(period.is_some(), "period", "must be beside steps or trace")?;
    match (grants, states) {
        (Some(Nested(grants)), _) => Ok(Kind::Opportunities(Arc::new(grants.opportunities()?))),
        (_, Some(Nested(states))) => states.check().map(|()| Kind::States(states.clone())),
        _ => unreachable!("one kind is given"),
    }
}

impl Law {
    /// Return the mean rate over the run.
    pub fn mean(&self) -> Rate {
        match self {
            Law::Constant(rate) => *rate,
            Law::Changing(law) => law.mean,
        }
    }

    /// Return the greatest rate that the line ever has; for opportunities that of the busiest millisecond.
    pub fn peak(&self) -> Rate {
        match self {
            Law::Constant(rate) => *rate,
            Law::Changing(law) => match &law.kind {
                Kind::Steps(steps) => steps.peak(),
                Kind::Opportunities(opportunities) => opportunities.peak(),
                Kind::States(states) => states.good.max(states.bad),
            },
        }
    }

    /// Return the rate of a line that always has the same one.
    ///
    /// # Panics
    ///
    /// If the rate changes: a caller excludes that before the run, or has another engine run the scenario.
    pub fn fixed(&self) -> Rate {
        match self {
            Law::Constant(rate) => *rate,
            Law::Changing(_) => panic!("the rate of this line changes: {self}"),
        }
    }

    /// Return whether the line always has the same rate.
    pub fn is_constant(&self) -> bool {
        matches!(self, Law::Constant(_))
    }

    /// Return whether packets may leave together, at an opportunity of the line.
    pub fn sends_at_once(&self) -> bool {
        matches!(self, Law::Changing(law) if matches!(law.kind, Kind::Opportunities(_)))
    }

    /// Return the mean rate from one instant to another, in bits per second; for states the mean of a long time.
    pub fn mean_between(&self, from: Span, to: Span) -> f64 {
        match self {
            Law::Constant(rate) => rate.as_f64(),
            Law::Changing(law) => law.kind.mean_between(from, to),
        }
    }

    /// List the opportunities that mahimahi would record on the line of this name until `end`: for each packet of 1500 octets, if one
    /// always waits, the millisecond at which it has left.
    pub fn opportunities(&self, seed: u64, name: &str, end: Span) -> Vec<u64> {
        let mut free = Time::ZERO;
        let ends: Box<dyn Iterator<Item = Span>> = match self.course(seed, name) {
            None => {
                Box::new((1..).map(|packets| Span(self.mean().time_of_bits(8 * OPPORTUNITY * packets).0)))
            }
            Some(mut course) => Box::new(std::iter::repeat_with(move || {
                (_, free) = course.send(Time::ZERO, free, OPPORTUNITY as u16);
                free.since(Time::ZERO)
            })),
        };
        ends.take_while(|time| *time <= end)
            .map(|time| time.0.div_ceil(Span::millis(1).0))
            .take(MOST_ENTRIES)
            .collect()
    }

    /// Set the mean to that of a run of `duration`; if nothing can leave in that time, to that of a long time.
    pub fn settle(&mut self, duration: Span) {
        if let Law::Changing(law) = self {
            let of_run = Rate(law.kind.mean_between(Span::ZERO, duration) as u64);
            let mean = if of_run == Rate(0) { law.kind.long_run().max(Rate(1)) } else { of_run };
            *self = Law::Changing(Arc::new(Changing { mean, ..Changing::clone(law) }));
        }
    }

    /// Return the last time in `steps`, if the scenario itself lists them.
    pub fn last_step(&self) -> Option<Span> {
        match self {
            Law::Constant(_) => None,
            Law::Changing(law) => law.forms.steps.as_ref()?.last().map(|step| step.0),
        }
    }

    /// Return the progress of a line along its law, at time zero; `None` for a constant rate. The random numbers of a line are those of
    /// `line.NAME.rate` under the seed.
    pub fn course(&self, seed: u64, name: &str) -> Option<Course> {
        let Law::Changing(law) = self else { return None };
        Some(match &law.kind {
            Kind::Steps(steps) => Course::Tabled(Cursor::new(Tabled::new(Arc::clone(steps)))),
            Kind::Opportunities(opportunities) => {
                Course::Opportunities(OpportunityCourse::new(Arc::clone(opportunities)))
            }
            Kind::States(states) => Course::Drawn(Cursor::new(DrawnStates::new(states, seed, name))),
        })
    }
}

impl Kind {
    /// Return the mean rate over a long time.
    fn long_run(&self) -> Rate {
        match self {
            Kind::Steps(steps) => steps.long_run(),
            Kind::Opportunities(opportunities) => opportunities.long_run(),
            Kind::States(states) => states.long_run(),
        }
    }

    fn mean_between(&self, from: Span, to: Span) -> f64 {
        match self {
            Kind::Steps(steps) => steps.mean_between(from, to),
            Kind::Opportunities(opportunities) => opportunities.mean_between(from, to),
            Kind::States(states) => states.long_run().as_f64(),
        }
    }
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Law::Constant(rate) => rate.fmt(f),
            Law::Changing(law) => write!(f, "{} on average", law.mean),
        }
    }
}

/// Refuse a rate that no line has; 0 stops a line.
fn check_rate(rate: Rate) -> Result<(), &'static str> {
    match rate {
        Rate(0) => Ok(()),
        rate if rate < SLOWEST => Err("must be 0 b/s or at least 1 kb/s"),
        rate if rate > FASTEST => Err("must be at most 100 Tb/s"),
        _ => Ok(()),
    }
}

/// The progress of a line along its law.
#[derive(Clone, Debug)]
pub enum Course {
    /// Along a table of rates.
    Tabled(Cursor<Tabled>),
    /// From opportunity to opportunity.
    Opportunities(OpportunityCourse),
    /// From state to state.
    Drawn(Cursor<DrawnStates>),
}

impl Course {
    /// Send `octets` octets at `now` or as soon as the line is free, which it is at `free`; return the instants of the first and the last bit.
    pub fn send(&mut self, now: Time, free: Time, octets: u16) -> (Time, Time) {
        match self {
            Course::Tabled(cursor) => cursor.send(now, free, octets),
            Course::Opportunities(course) => course.send(now, free, octets),
            Course::Drawn(cursor) => cursor.send(now, free, octets),
        }
    }

    /// Have the next unit start at `free`, after a rest, or later.
    pub fn rest(&mut self, free: Time) {
        match self {
            Course::Tabled(cursor) => cursor.rest(free),
            Course::Opportunities(course) => course.rest(),
            Course::Drawn(cursor) => cursor.rest(free),
        }
    }

    /// Record that no unit waits for the line.
    pub fn idle(&mut self) {
        if let Course::Opportunities(course) = self {
            course.idle();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::line::Line;

    fn ms(n: u64) -> Time {
        Time::ZERO + Span::millis(n)
    }

    /// A line whose rate follows a table: microseconds, and bits per second.
    fn stepped(table: &[(u64, u64)]) -> Line {
        let table = table.iter().map(|&(time, rate)| Step(Span::micros(time), Rate(rate))).collect();
        let steps = Arc::new(Steps::new(table, None).unwrap());
        Line::new(Rate(1), Span::ZERO).with_course(Some(Course::Tabled(Cursor::new(Tabled::new(steps)))))
    }

    fn trace(text: &str, period: Option<Period>) -> Result<Kind, Refused> {
        file::read("a.trace", text, period)
    }

    fn law(kind: Kind) -> Law {
        let (steps, trace, data, period, grants, states, mean) = (None, None, None, None, None, None, None);
        let forms = LawForms { steps, trace, data, period, grants, states, mean };
        Law::Changing(Arc::new(Changing { forms, mean: kind.long_run(), kind }))
    }

    #[test]
    fn the_bits_of_a_packet_in_service_are_conserved_when_the_rate_changes() {
        let end = |table: &[(u64, u64)]| stepped(table).send(Time::ZERO, 1500).ends;
        assert_eq!(end(&[(0, 12_000_000), (500, 6_000_000)]), Time::ZERO + Span::micros(1500));
        assert_eq!(end(&[(0, 12_000_000), (500, 0), (2500, 12_000_000)]), ms(3));
        assert_eq!(end(&[(0, 12_000_000), (1000, 1_000)]), ms(1), "a change at the end changes nothing");
    }

    #[test]
    fn a_line_whose_steps_have_one_rate_sends_at_that_rate() {
        let mut line = stepped(&[(0, 155_520_000), (7, 155_520_000)]);
        let ends: Vec<u64> = (0..9).map(|_| line.send(Time::ZERO, 53).ends.0).collect();
        let exact: Vec<u64> = (1..10).map(|n| Rate(155_520_000).time_of_bits(424 * n).0).collect();
        assert_eq!(ends, exact);
    }

    #[test]
    fn the_opportunities_of_a_trace_deliver_as_mahimahi_does() {
        // the trace 0 0 1 3 3 3 7 in its second lap, from 7 ms on: A and B have waited from before
        let kind = trace("0\n0\n1\n3\n3\n3\n7\n", Some(Period::AsRead)).unwrap();
        assert_eq!(kind.long_run(), Rate(12_000_000));
        let Kind::Opportunities(opportunities) = kind else { panic!("these are opportunities") };
        let course = Course::Opportunities(OpportunityCourse::new(opportunities));
        let mut line = Line::new(Rate(1), Span::ZERO).with_course(Some(course));
        assert_eq!(line.send(ms(5), 1500).ends, ms(7)); // uses the last opportunity of the first lap
        assert_eq!([1500, 1500].map(|octets| line.send(ms(7), octets).ends), [ms(7), ms(7)], "A, B");
        line.idle();
        assert_eq!([500, 500, 500].map(|octets| line.send(ms(7), octets).ends), [ms(8); 3], "C, D, E");
        line.idle();
        assert_eq!([1500, 750, 1500].map(|octets| line.send(ms(8), octets).ends), [ms(10); 3], "F, G, H");
        line.idle();
        assert_eq!(line.send(ms(11), 1500).ends, ms(14), "I");
        assert_eq!(line.send(ms(14), 4500).ends, ms(15), "a packet of three opportunities, two at the wrap");
    }

    #[test]
    fn a_run_in_which_nothing_can_leave_has_the_mean_of_a_long_time() {
        let kind = trace("3\n3\n", None).unwrap();
        let mut law = law(kind);
        law.settle(Span::millis(2));
        assert_eq!(law.mean(), Rate(8_000_000)); // 2 packets of 1500 octets in 3 ms
        law.settle(Span::millis(4));
        assert_eq!(law.mean(), Rate(6_000_000));
    }

    #[test]
    fn what_mahimahi_would_record_reads_back_as_the_same_opportunities() {
        let kind = trace("1\n1\n3\n7\n", None).unwrap();
        assert_eq!(law(kind).opportunities(1, "radio", Span::millis(14)), [1, 1, 3, 7, 8, 8, 10, 14]);
        // a packet each 1.5 ms, at the end of its last millisecond
        assert_eq!(Law::Constant(Rate(8_000_000)).opportunities(1, "x", Span::millis(6)), [2, 3, 5, 6]);
    }

    #[test]
    fn a_wrong_file_is_refused_with_its_line() {
        for (text, part) in [
            ("", "a.trace:1: must have a line"),
            ("# nothing\n\n", "a.trace:1: must have a line"),
            ("1\n5\n4\n", "a.trace:3: the trace goes back"),
            ("0\n0\n", "a.trace:2: the last millisecond must be greater than 0"),
            ("1\nsecret\n", "a.trace:2: must be the millisecond"),
            ("0 1000000\n1 s\n", "a.trace:2: must have a time and a rate"),
            ("0 1000000\n2 5000\n1 5000\n", "a.trace:3: its time must be later"),
            ("0 1000000\n2 0\n", "a.trace:2: nothing can leave after 2 s"),
            ("1 1000000\n", "a.trace:1: the first time must be 0 s"),
            ("0 10\n", "a.trace:1: its rate must be 0 b/s or at least 1 kb/s"),
        ] {
            let why = trace(text, None).unwrap_err().why;
            assert!(why.contains(part) && !why.contains("secret"), "{text:?}: {why}");
        }
    }
}
