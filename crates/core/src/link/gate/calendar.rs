//! Gates that open by a calendar: a class is sent only in its windows of a period.
//!
//! *Source*: IEEE 802.1Qbv (now in IEEE 802.1Q, clause 8.6.8.4); the queueing discipline taprio of Linux. Each period begins at
//! `offset` plus a multiple of `period`, before the first as well. A frame starts only in a window of its class, and with `guard` only
//! if it ends there: in front of the end of the window there is a guard band that depends on its length. Windows of a class that
//! follow each other without a gap are one. A frame that has begun is not interrupted.
//!
//! A port of one queue keeps the order of its packets, so that one of a class whose gate is closed holds up those behind it:
//! classes are apart with a scheduler that has a queue for each.

use serde_json::{Value as Json, json};

use super::{Build, ByClass, Gate, Site};
use crate::language::spec::{Field, Nested, Shape};
use crate::language::tree::{Fault, Node, Value};
use crate::refused::{Refused, refuse, refuse_if};
use crate::section;
use crate::unit::Unit;
use crate::units::ids::PortVc;
use crate::units::{Quantity, Rate, Span, Time};

section! {
    /// Windows of time in which classes may be sent.
    pub struct Params {
        /// Time after which the windows repeat.
        pub period: Span,
        /// When a period begins.
        pub offset: Span = Span::ZERO,
        /// The windows of a period: each with its begin and its end, counted from the begin of the period, and the classes that may be
        /// sent then, as in `[["0 us", "100 us", ["control"]], ["100 us", "500 us", ["bulk", "web"]]]`; without a list of classes all may.
        pub windows: Vec<Window>,
        /// Whether a frame must end within its window. Otherwise it need only start there.
        pub guard: bool = true,
    }
}

/// A window of a period, and the classes that may be sent then; all if there is no list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    from: Span,
    to: Span,
    classes: Option<Vec<String>>,
}

impl Field for Window {
    fn read(node: &Node, path: &str) -> Result<Self, Fault> {
        let at = |number: usize| format!("{path}[{number}]");
        let Value::List(items) = &node.value else { return Err(not_a_window(node, path)) };
        let ([from, to] | [from, to, _]) = &items[..] else { return Err(not_a_window(node, path)) };
        let classes = items.get(2).map(|classes| Vec::read(classes, &at(2))).transpose()?;
        Ok(Window { from: Span::read(from, &at(0))?, to: Span::read(to, &at(1))?, classes })
    }

    fn write(&self) -> Json {
        match &self.classes {
            Some(classes) => json!([self.from.write(), self.to.write(), classes]),
            None => json!([self.from.write(), self.to.write()]),
        }
    }

    fn shape() -> Shape {
        let time = || Span::shape().schema;
        let items = [time(), time(), Vec::<String>::shape().schema];
        Shape {
            unit: "window",
            schema: json!({ "type": "array", "prefixItems": items, "minItems": 2, "maxItems": 3 }),
        }
    }
}

fn not_a_window(node: &Node, path: &str) -> Fault {
    let what = "must be a begin, an end and a list of classes, as in [\"0 us\", \"100 us\", [\"control\"]]";
    node.fault(path, format!("{what}, not {}", node.show()))
}

impl Params {
    /// Return the classes that the windows name.
    pub(crate) fn classes(&self) -> impl Iterator<Item = &[String]> {
        self.windows.iter().filter_map(|window| window.classes.as_deref())
    }

    /// Refuse windows that are empty, overlap or exceed the period.
    pub(super) fn check(&self) -> Result<(), Refused> {
        refuse_if(self.period == Span::ZERO, "period", "must be longer than 0 s")?;
        refuse_if(
            self.windows.is_empty(),
            "windows",
            "must have a window; to send at any time leave gates out",
        )?;
        for Window { from, to, .. } in &self.windows {
            let why = format!("must end after they begin, unlike that from {} to {}", from.show(), to.show());
            refuse_if(from >= to, "windows", why)?;
            let (end, period) = (to.show(), self.period.show());
            refuse_if(
                *to > self.period,
                "windows",
                format!("must end within the period of {period}, not at {end}"),
            )?;
        }
        let mut sorted: Vec<&Window> = self.windows.iter().collect();
        sorted.sort_by_key(|window| window.from);
        match sorted.windows(2).find(|pair| pair[0].to > pair[1].from) {
            None => Ok(()),
            Some(pair) => refuse(
                "windows",
                format!(
                    "must not overlap, but one ends at {} and the next begins at {}: write the time that both have as a window with \
                     the classes of both",
                    pair[0].to.show(),
                    pair[1].from.show()
                ),
            ),
        }
    }

    /// Return the times of a period, from its begin, in which a class may be sent. One that goes on in the next period ends after this
    /// one.
    fn open(&self, class: Option<&str>) -> Vec<[u64; 2]> {
        let has = |window: &&Window| {
            window.classes.as_ref().is_none_or(|all| all.iter().any(|own| Some(own.as_str()) == class))
        };
        let mut own: Vec<[u64; 2]> =
            self.windows.iter().filter(has).map(|window| [window.from.0, window.to.0]).collect();
        own.sort_unstable();
        own.dedup_by(|next, last| {
            let follows = next[0] == last[1];
            last[1] = if follows { next[1] } else { last[1] };
            follows
        });
        if let [first, .., last] = &mut own[..]
            && first[0] == 0
            && last[1] == self.period.0
        {
            last[1] += first[1];
        }
        own
    }

    /// Refuse a calendar by which the largest packet of a class could never be sent, of `octets` octets at this rate.
    pub(crate) fn check_class(&self, class: Option<&str>, octets: u64, rate: Rate) -> Result<(), Refused> {
        let name = class.map_or(String::new(), |class| format!(" {class:?}"));
        let (open, needs) = (self.open(class), Span(lasts(octets, rate)));
        let Some(longest) = open.iter().map(|[from, to]| to - from).max() else {
            return refuse(
                "windows",
                format!("must have one for every class of the port, and have none for{name}"),
            );
        };
        let is_always = open == [[0, self.period.0]];
        let why = format!(
            "must have one of at least {} for the class{name}, the time of its largest packet of {octets} bytes, and the longest has {}; \
             without that its packets would wait for ever (guard = false lets them start)",
            needs.show(),
            Span(longest).show()
        );
        refuse_if(self.guard && !is_always && longest < needs.0, "windows", why)
    }
}

/// Return how long a unit takes on a line, in picoseconds, rounded up.
fn lasts(octets: u64, rate: Rate) -> u64 {
    let (whole, rest) = rate.time_of_bits(octets * 8);
    whole + u64::from(rest > 0)
}

/// The calendar of a port.
#[derive(Clone, Debug)]
pub struct Calendar {
    period: u64,
    offset: u64,
    guard: bool,
    rate: Rate,
    /// Least octets of a unit on the line.
    minimum: u16,
    /// The number of the class of a unit in `open`.
    of: ByClass<usize>,
    /// For each class at the port the times of a period in which it may be sent.
    open: Vec<Vec<[u64; 2]>>,
}

impl Calendar {
    /// Return when a unit of a class that takes `lasts` may start, from `now` on.
    fn opening(&self, open: &[[u64; 2]], now: u64, lasts: u64) -> Option<u64> {
        let place = (now + self.period - self.offset % self.period) % self.period;
        let needs = if self.guard { lasts } else { 1 };
        let starts = |[from, to]: &[u64; 2]| {
            let is_always = to - from >= self.period;
            match place.max(*from) {
                _ if is_always => Some(place),
                start if start + needs <= *to => Some(start),
                _ => (from + needs <= *to).then_some(from + self.period),
            }
        };
        let start = open.iter().filter_map(starts).min()?;
        Some(now + (start - place))
    }
}

impl Build for Calendar {
    fn build(site: &Site<'_>) -> Option<Self> {
        let Nested(params) = site.keys.gates.as_ref()?;
        let classes = site.all_classes();
        let name = |class: &u32| site.names.get(*class as usize).copied();
        Some(Calendar {
            period: params.period.0,
            offset: params.offset.0,
            guard: params.guard,
            rate: site.rate,
            minimum: site.minimum,
            of: site.by_class(|own| classes.partition_point(|class| *class < own)),
            open: classes.iter().map(|class| params.open(name(class))).collect(),
        })
    }
}

impl Gate for Calendar {
    fn holds(&self) -> bool {
        true
    }

    fn opens(&self, now: Time, unit: &Unit, vc: PortVc) -> Time {
        let lasts = lasts(unit.bytes.max(self.minimum).into(), self.rate);
        self.opening(&self.open[self.of.of(unit, vc)], now.0, lasts).map_or(Time::NEVER, Time)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;

    fn params(period: u64, offset: u64, windows: &[(u64, u64, &[&str])], guard: bool) -> Params {
        let window = |(from, to, classes): &(u64, u64, &[&str])| Window {
            from: Span(*from),
            to: Span(*to),
            classes: Some(classes.iter().map(ToString::to_string).collect()),
        };
        let windows = windows.iter().map(window).collect();
        Params { period: Span(period), offset: Span(offset), windows, guard }
    }

    /// A calendar for the classes a and b, whose units take as many picoseconds as they have octets.
    fn calendar(params: &Params) -> Calendar {
        Calendar {
            period: params.period.0,
            offset: params.offset.0,
            guard: params.guard,
            rate: Rate(8_000_000_000_000),
            minimum: 0,
            of: ByClass { of: [0, 1].into(), lowered: None },
            open: ["a", "b"].map(|class| params.open(Some(class))).into(),
        }
    }

    fn opens(calendar: &Calendar, now: u64, bytes: u16, vc: u32) -> u64 {
        calendar.opens(Time(now), &Unit { bytes, ..Unit::default() }, PortVc(vc)).0
    }

    #[test]
    fn a_frame_starts_in_its_window_if_it_ends_there() {
        let params = params(100, 10, &[(0, 30, &["a"]), (30, 90, &["b"])], true);
        let calendar = calendar(&params);
        // class a may be sent from 10 to 40, 110 to 140, 210 to 240; class b from 40 to 100, 140 to 200
        let cases = [
            (0, 20, 0, 10),
            (9, 20, 0, 10),
            (10, 20, 0, 10),
            (20, 20, 0, 20),
            (21, 20, 0, 110),
            (39, 1, 0, 39),
            (40, 1, 0, 110),
            (40, 30, 0, 110),
            (109, 30, 0, 110),
            (110, 30, 0, 110),
            (111, 30, 0, 210),
            (0, 60, 1, 40),
            (40, 60, 1, 40),
            (41, 60, 1, 140),
            (99, 1, 1, 99),
            (100, 1, 1, 140),
            (139, 5, 1, 140),
            (195, 5, 1, 195),
            (196, 5, 1, 240),
            (1_000_000_005, 5, 0, 1_000_000_010),
        ];
        for (now, bytes, class, expected) in cases {
            assert_eq!(opens(&calendar, now, bytes, class), expected, "{bytes} octets of {class} at {now}");
        }
    }

    #[test]
    fn windows_that_follow_each_other_are_one_also_beyond_the_period() {
        let params = params(100, 0, &[(0, 20, &["a"]), (20, 30, &["a", "b"]), (80, 100, &["a"])], true);
        let calendar = calendar(&params);
        assert_eq!(
            [(80, 50), (81, 50), (15, 15), (16, 15)].map(|(now, bytes)| opens(&calendar, now, bytes, 0)),
            [80, 180, 15, 80]
        );
        assert_eq!(opens(&calendar, 0, 11, 1), Time::NEVER.0);
        let always = self::params(100, 0, &[(0, 100, &["a"])], true);
        assert_eq!(opens(&self::calendar(&always), 77, 5000, 0), 77);
        assert_eq!(always.check_class(Some("a"), 5000, Rate(8_000_000_000_000)), Ok(()));
    }

    #[test]
    fn without_a_guard_band_a_frame_need_only_start_in_its_window() {
        let params = params(100, 0, &[(50, 60, &["a"])], false);
        let calendar = calendar(&params);
        assert_eq!([0, 50, 59, 60].map(|now| opens(&calendar, now, 1500, 0)), [50, 50, 59, 150]);
    }

    #[test]
    fn random_calendars_open_when_a_search_picosecond_by_picosecond_says() {
        let (mut waited, mut never) = (0, 0);
        for seed in 0..1000 {
            let mut stream = Stream::new(seed, "calendar");
            let period = 1 + stream.up_to(60);
            let mut ends: Vec<u64> = (0..1 + stream.up_to(5)).map(|_| stream.up_to(period)).collect();
            ends.sort_unstable();
            ends.dedup();
            let lists: [&[&str]; 3] = [&["a"], &["b"], &["a", "b"]];
            let windows: Vec<(u64, u64, &[&str])> =
                ends.windows(2).map(|pair| (pair[0], pair[1], lists[stream.up_to(2) as usize])).collect();
            let params = params(period, stream.up_to(200), &windows, stream.up_to(1) == 1);
            let calendar = calendar(&params);
            for _ in 0..20 {
                let (now, bytes, class) =
                    (stream.up_to(400), 1 + stream.up_to(40) as u16, stream.up_to(1) as u32);
                let is_open = |time: u64| {
                    let place = (time + 10 * period * params.offset.0 - params.offset.0) % period;
                    let name = ["a", "b"][class as usize];
                    windows.iter().any(|(from, to, own)| (*from..*to).contains(&place) && own.contains(&name))
                };
                let needs = if params.guard { u64::from(bytes) } else { 1 };
                let start = (now..=now + 2 * period).find(|start| (*start..start + needs).all(is_open));
                assert_eq!(
                    opens(&calendar, now, bytes, class),
                    start.unwrap_or(Time::NEVER.0),
                    "{params:?} {now} {bytes} {class}"
                );
                waited += u64::from(start.is_some_and(|start| start > now));
                never += u64::from(start.is_none());
            }
        }
        assert!(waited > 3000 && never > 1000, "{waited} {never}");
    }

    #[test]
    fn impossible_windows_are_refused() {
        let why = |windows: &[(u64, u64, &[&str])]| params(100, 0, windows, true).check().unwrap_err().why;
        assert!(why(&[]).contains("must have a window"));
        assert!(why(&[(5, 5, &[])]).contains("must end after they begin"));
        assert!(why(&[(5, 101, &[])]).contains("must end within the period of 100 ps, not at 101 ps"));
        let overlap = why(&[(50, 60, &[]), (0, 51, &[])]);
        assert!(
            overlap.contains("must not overlap, but one ends at 51 ps and the next begins at 50 ps"),
            "{overlap}"
        );
        let short = params(100, 0, &[(0, 10, &["a"])], true);
        let why =
            |class, octets| short.check_class(Some(class), octets, Rate(8_000_000_000_000)).unwrap_err().why;
        assert!(
            why("a", 11).contains("must have one of at least 11 ps for the class \"a\""),
            "{}",
            why("a", 11)
        );
        assert!(why("b", 1).contains("have none for \"b\""));
    }
}
