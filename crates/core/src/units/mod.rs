//! Quantities are types: instants, spans, rates and sizes never mix silently.
//!
//! Time is an integer number of picoseconds. A cell at 155.52 Mb/s lasts 2 726 337.448… ps, so rounding
//! to nanoseconds would be wrong by 1.2 · 10⁻⁴ per cell; picoseconds are wrong by 1.6 · 10⁻⁷, and
//! [`crate::link::line::Line`] carries even that remainder. A `u64` of picoseconds lasts 213 days.
//!
//! Every quantity is written as a number and a unit (`"149.76 Mb/s"`, `"100 us"`, `"8192 cells"`); parsing is exact
//! decimal arithmetic, and a value finer than the type can hold is an error. Two things are rounded: rates, to a bit
//! per second, since programs write quotients, and digits that binary floating point adds (0.30000000000000004 s).

pub mod ids;

use core::fmt;
use core::ops::{Add, AddAssign, Sub};

use crate::excerpt::quoted;
use crate::number::{self, Fraction, NotWhole};
use crate::words::nearest::nearest_unit;

/// Octets of one cell on the line, header included (ITU-T I.361).
pub const CELL_BYTES: u64 = 53;

/// An octet where times are counted in picoseconds times a rate: the picoseconds of a second times the bits of an octet.
pub const OCTET: u128 = 8_000_000_000_000;
/// Octets of payload in one cell.
pub const CELL_PAYLOAD: u64 = 48;
/// Picoseconds in one second.
pub const PS_PER_S: u64 = 1_000_000_000_000;

/// An instant, in picoseconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

/// A length of time, in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(pub u64);

/// A rate, in bits per second. In a checked scenario a minimum cell rate may be zero; the rates of lines and sources
/// are not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(pub u64);

/// A size, in octets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// A number of cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellCount(pub u64);

/// A share of something, in parts per million.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartsPerMillion(pub u64);

/// A number of events in a second, in millionths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PerSecond(pub u64);

impl PerSecond {
    /// Return the number of events in a second as a real number.
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

impl Time {
    /// The start of every run.
    pub const ZERO: Time = Time(0);
    /// An instant after any event.
    pub const NEVER: Time = Time(u64::MAX);

    /// Return the seconds since the start; for reports only, since decisions use integers.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }

    /// Return this instant plus a span. Unlike `+` this does not check for overflow, which the checks of scenarios
    /// exclude.
    #[inline]
    pub(crate) fn later(self, by: Span) -> Time {
        Time(self.0 + by.0)
    }

    /// Return the span from `earlier` to this instant; zero if `earlier` is later.
    pub fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// A span of length zero.
    pub const ZERO: Span = Span(0);
    /// A span that is longer than any run.
    pub const FOREVER: Span = Span(u64::MAX);

    /// Return a span of `n` microseconds.
    pub const fn micros(n: u64) -> Span {
        Span(n * 1_000_000)
    }

    /// Return a span of `n` milliseconds.
    pub const fn millis(n: u64) -> Span {
        Span(n * 1_000_000_000)
    }

    /// Return a span of `n` seconds.
    pub const fn secs(n: u64) -> Span {
        Span(n * PS_PER_S)
    }

    /// Return the time by which this span is longer than another one; zero if it is not longer.
    pub fn beyond(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }

    /// Return the length in seconds, for reports and for schemes whose paper uses real numbers.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }
}

impl Rate {
    /// Return the rate in bits per second as a real number.
    pub fn as_f64(self) -> f64 {
        self.0 as f64
    }

    /// Return this rate times `by / over`, rounded down to a bit per second.
    pub fn scaled(self, by: u64, over: u64) -> Rate {
        Rate((u128::from(self.0) * u128::from(by) / u128::from(over)) as u64)
    }

    /// Return the time to send `bits` bits in picoseconds, rounded down to a picosecond; the remainder is in units of
    /// `1/rate` ps.
    pub fn time_of_bits(self, bits: u64) -> (u64, u64) {
        if let Some(total) = bits.checked_mul(PS_PER_S) {
            return (total / self.0, total % self.0);
        }
        let (total, rate) = (u128::from(bits) * u128::from(PS_PER_S), u128::from(self.0));
        ((total / rate) as u64, (total % rate) as u64)
    }
}

impl PartsPerMillion {
    /// The whole, 100 %.
    pub const WHOLE: PartsPerMillion = PartsPerMillion(1_000_000);

    /// Return this share of a rate, rounded down to a bit per second.
    pub fn of(self, rate: Rate) -> Rate {
        rate.scaled(self.0, PartsPerMillion::WHOLE.0)
    }
}

/// The sum saturates at [`Time::NEVER`].
impl Add<Span> for Time {
    type Output = Time;
    fn add(self, rhs: Span) -> Time {
        Time(self.0.saturating_add(rhs.0))
    }
}

/// Add a span, like `Time + Span`.
impl AddAssign<Span> for Time {
    fn add_assign(&mut self, rhs: Span) {
        *self = *self + rhs;
    }
}

/// The sum saturates at the longest span, which is longer than any run.
impl Add for Span {
    type Output = Span;
    fn add(self, rhs: Span) -> Span {
        Span(self.0.saturating_add(rhs.0))
    }
}

/// The difference must not be negative; where it may be, use [`Span::beyond`].
impl Sub for Span {
    type Output = Span;
    fn sub(self, rhs: Span) -> Span {
        debug_assert!(self >= rhs, "{rhs} is more than {self}");
        self.beyond(rhs)
    }
}

/// The reason why a text is not a quantity: a sentence without the text itself, which the caller adds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAQuantity(pub String);

impl fmt::Display for NotAQuantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotAQuantity {}

/// A quantity that can be written as a number and a unit.
pub trait Quantity: Sized + Copy {
    /// Name of the quantity in messages, as in "a rate".
    const WHAT: &'static str;
    /// Accepted units with the factor to the stored integer; the first one is preferred in output.
    const UNITS: &'static [(&'static str, u128)];
    /// An example for error messages.
    const EXAMPLE: &'static str;
    /// Build the quantity from the stored integer.
    fn from_raw(raw: u64) -> Self;
    /// Return the stored integer.
    fn raw(self) -> u64;

    /// Treatment of a fraction of the smallest step.
    const FRACTION: Fraction;
    /// Units that other programs write, with their factors; a message about them says how to write the quantity here.
    const FOREIGN: &'static [(&'static str, u128)];

    /// Read `"100 us"`; the unit is required, but not the blank before it.
    fn parse(text: &str) -> Result<Self, NotAQuantity> {
        let (number, unit) = number::split(text);
        let (what, example) = (Self::WHAT, Self::EXAMPLE);
        let wrong = |why: String| Err(NotAQuantity(why));
        if number.starts_with('-') {
            return wrong(format!("{what} cannot be negative"));
        }
        if number.is_empty() {
            return wrong(format!("{what} is a number and a unit, as in \"{example}\""));
        }
        if unit.is_empty() {
            let units = names::<Self>().join(", ");
            return wrong(format!(
                "the unit is missing: {what} is written as in \"{example}\" (units: {units})"
            ));
        }
        let factor = factor::<Self>(number, unit)?;
        let raw = number::times(number, factor, Self::FRACTION);
        raw.map(Self::from_raw).map_err(|why| NotAQuantity(not_whole::<Self>(why, number)))
    }

    /// Write the quantity in the largest unit in which its number is exact.
    fn show(self) -> String {
        let raw = u128::from(self.raw());
        let best = Self::UNITS
            .iter()
            .filter(|(_, factor)| raw.is_multiple_of(*factor) && raw >= *factor)
            .max_by(|a, b| a.1.cmp(&b.1).then(core::cmp::Ordering::Greater));
        let (name, factor) = best.unwrap_or(&Self::UNITS[0]);
        // Only where even the smallest unit has a fraction: its factor is a power of ten.
        match raw % factor {
            0 => format!("{} {name}", raw / factor),
            rest => {
                let digits = format!("{rest:0width$}", width = factor.ilog10() as usize);
                format!("{}.{} {name}", raw / factor, digits.trim_end_matches('0'))
            }
        }
    }
}

/// Return the names of the units of a quantity.
fn names<Q: Quantity>() -> Vec<&'static str> {
    Q::UNITS.iter().map(|(name, _)| *name).collect()
}

/// Return the factor of a unit: the number of stored steps in it.
fn factor<Q: Quantity>(number: &str, unit: &str) -> Result<u128, NotAQuantity> {
    // the micro sign and the Greek letter
    let unit = if matches!(unit, "\u{b5}s" | "\u{3bc}s") { "us" } else { unit };
    let found = Q::UNITS.iter().find(|(name, _)| *name == unit);
    found.map(|(_, factor)| *factor).ok_or_else(|| {
        let (names, what) = (names::<Q>(), Q::WHAT);
        NotAQuantity(unknown_unit(unit, what, translated::<Q>(number, unit), &names))
    })
}

/// Convert a quantity in a unit of another program to the form written here.
pub(crate) fn translated<Q: Quantity>(number: &str, unit: &str) -> Option<String> {
    let (_, factor) = Q::FOREIGN.iter().find(|(name, _)| *name == unit)?;
    Some(Q::from_raw(number::times(number, *factor, Q::FRACTION).ok()?).show())
}

/// Return the message about an unknown unit: it gives the quantity as written here, or the unit that was probably
/// meant.
pub(crate) fn unknown_unit(unit: &str, what: &str, translated: Option<String>, names: &[&str]) -> String {
    let of_octets = if what == Rate::WHAT && unit.contains('B') { "rates are in bits, " } else { "" };
    let hint = match (translated, nearest_unit(unit, names)) {
        (Some(text), _) => format!(": {of_octets}write \"{text}\""),
        (None, Some(near)) => format!("; did you mean \"{near}\"?"),
        (None, None) => String::new(),
    };
    format!("unknown unit {} for {what}{hint} (units: {})", quoted(unit), names.join(", "))
}

/// Return the reason why a number is not valid here.
fn not_whole<Q: Quantity>(why: NotWhole, number: &str) -> String {
    match why {
        NotWhole::Malformed => number::mistake(number),
        NotWhole::TooFine => {
            let finest = Q::UNITS.iter().rfind(|(_, factor)| *factor == 1).map_or("", |(unit, _)| unit);
            format!("finer than 1 {finest}, the smallest step there is")
        }
        NotWhole::TooLarge => {
            let (unit, factor) = Q::UNITS.iter().rev().max_by_key(|(_, factor)| factor).expect("units");
            format!("too large: at most {} {unit}", u128::from(u64::MAX) / factor)
        }
    }
}

macro_rules! quantity {
    (
        $type:ident, $what:literal, $example:literal, $fraction:ident,
        [$(($unit:literal, $factor:expr)),+ $(,)?],
        foreign [$(($foreign:literal, $times:expr)),* $(,)?] $(,)?
    ) => {
        impl Quantity for $type {
            const WHAT: &'static str = $what;
            const UNITS: &'static [(&'static str, u128)] = &[$(($unit, $factor)),+];
            const EXAMPLE: &'static str = $example;
            const FRACTION: Fraction = Fraction::$fraction;
            const FOREIGN: &'static [(&'static str, u128)] = &[$(($foreign, $times)),*];
            fn from_raw(raw: u64) -> Self {
                Self(raw)
            }
            fn raw(self) -> u64 {
                self.0
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.show())
            }
        }
    };
}

quantity!(
    Span,
    "a time",
    "100 us",
    Refused,
    [("s", 1_000_000_000_000), ("ms", 1_000_000_000), ("us", 1_000_000), ("ns", 1_000), ("ps", 1)],
    foreign [("sec", 1_000_000_000_000), ("secs", 1_000_000_000_000), ("second", 1_000_000_000_000), ("seconds", 1_000_000_000_000), ("msec", 1_000_000_000), ("msecs", 1_000_000_000), ("millisecond", 1_000_000_000), ("milliseconds", 1_000_000_000), ("usec", 1_000_000), ("usecs", 1_000_000), ("microsecond", 1_000_000), ("microseconds", 1_000_000), ("nsec", 1_000), ("nsecs", 1_000), ("nanosecond", 1_000), ("nanoseconds", 1_000), ("min", 60_000_000_000_000), ("minute", 60_000_000_000_000), ("minutes", 60_000_000_000_000), ("h", 3_600_000_000_000_000), ("hour", 3_600_000_000_000_000), ("hours", 3_600_000_000_000_000)]
);
quantity!(
    Rate,
    "a rate",
    "149.76 Mb/s",
    Rounded,
    [("b/s", 1), ("kb/s", 1_000), ("Mb/s", 1_000_000), ("Gb/s", 1_000_000_000), ("Tb/s", 1_000_000_000_000)],
    foreign [("bit", 1), ("k", 1_000), ("K", 1_000), ("M", 1_000_000), ("G", 1_000_000_000), ("T", 1_000_000_000_000), ("B/s", 8), ("Bps", 8), ("kB/s", 8_000), ("kBps", 8_000), ("KB/s", 8_000), ("KBps", 8_000), ("MB/s", 8_000_000), ("MBps", 8_000_000), ("GB/s", 8_000_000_000), ("GBps", 8_000_000_000), ("TB/s", 8_000_000_000_000), ("TBps", 8_000_000_000_000), ("KiB/s", 8_192), ("MiB/s", 8_388_608), ("GiB/s", 8_589_934_592)]
);
quantity!(
    Bytes,
    "a size",
    "64 KiB",
    Refused,
    [
        ("bytes", 1),
        ("byte", 1),
        ("B", 1),
        ("kB", 1_000),
        ("KB", 1_000),
        ("KiB", 1_024),
        ("MB", 1_000_000),
        ("MiB", 1_048_576),
        ("GB", 1_000_000_000),
        ("GiB", 1_073_741_824),
    ],
    foreign [("octet", 1), ("octets", 1), ("k", 1_000), ("K", 1_000), ("Ki", 1_024), ("M", 1_000_000), ("Mi", 1_048_576), ("G", 1_000_000_000), ("Gi", 1_073_741_824)]
);
quantity!(
    PerSecond,
    "a number in a second",
    "50 per s",
    Rounded,
    [("per s", 1_000_000), ("per ms", 1_000_000_000), ("per us", 1_000_000_000_000)],
    foreign [("/s", 1_000_000), ("per second", 1_000_000), ("1/s", 1_000_000), ("Hz", 1_000_000), ("kHz", 1_000_000_000), ("MHz", 1_000_000_000_000)]
);
quantity!(
    PartsPerMillion,
    "a share",
    "10 %",
    Refused,
    [("%", 10_000), ("ppm", 1)],
    foreign[("percent", 10_000)]
);
quantity!(
    CellCount,
    "a number of cells",
    "8192 cells",
    Refused,
    [("cells", 1), ("cell", 1)],
    foreign[("c", 1)]
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        assert_eq!(Rate::parse("149.76 Mb/s"), Ok(Rate(149_760_000)));
        assert_eq!(Span::parse("100us"), Ok(Span::micros(100)));
        assert_eq!(Span::parse("0.95 ms"), Ok(Span::micros(950)));
        assert_eq!(Bytes::parse("64 KiB"), Ok(Bytes(65_536)));
        assert_eq!(Bytes::parse("5 MB"), Ok(Bytes(5_000_000)));
        assert_eq!(CellCount::parse("8192 cells"), Ok(CellCount(8192)));
        assert_eq!(Span::parse("0 s"), Ok(Span::ZERO));
    }

    #[test]
    fn what_cannot_be_held_is_refused_and_not_rounded() {
        assert!(Span::parse("0.5 ps").unwrap_err().0.contains("finer"));
        assert!(CellCount::parse("0.5 cells").unwrap_err().0.contains("finer"));
        assert!(Span::parse("400 s").is_ok());
        assert_eq!(Span::parse("99999999 s").unwrap_err().0, "too large: at most 18446744 s");
    }

    #[test]
    fn blanks_and_digits_are_those_of_ascii() {
        assert_eq!(Span::parse(" 50\tms "), Ok(Span::millis(50)));
        for text in ["50\u{a0}ms", "\u{2003}50 ms", "50 ms\u{3000}", "\u{665} ms", "\u{ff15} ms"] {
            assert!(Span::parse(text).is_err(), "{text:?}");
        }
        assert!(
            Span::parse("50\u{a0}ms").unwrap_err().0.starts_with("unknown unit \"\\u{a0}ms\" for a time")
        );
    }

    #[test]
    fn a_wrong_text_says_what_is_wanted() {
        assert!(Rate::parse("10").unwrap_err().0.contains("unit is missing"));
        assert!(Rate::parse("10 mb/s").unwrap_err().0.contains("Mb/s"));
        assert!(Rate::parse("-1 Mb/s").unwrap_err().0.contains("negative"));
        assert!(Rate::parse("fast").unwrap_err().0.contains("number and a unit"));
        assert!(Rate::parse("1.2.3 Mb/s").unwrap_err().0.contains("second decimal point"));
    }

    #[test]
    fn what_other_programs_write_is_read() {
        assert_eq!(Bytes::parse("5e4 bytes"), Ok(Bytes(50_000)));
        assert_eq!(Span::parse("1e-05 s"), Ok(Span::micros(10)));
        assert_eq!(Span::parse("2.5E+2 ms"), Ok(Span::millis(250)));
        for micro in ["7 us", "7 \u{b5}s", "7\u{3bc}s"] {
            assert_eq!(Span::parse(micro), Ok(Span::micros(7)));
        }
        assert_eq!(Rate::parse("333333333.3333333 b/s"), Ok(Rate(333_333_333)));
        assert_eq!(Rate::parse("149.75999999999999 Mb/s"), Ok(Rate(149_760_000)));
        assert_eq!(Span::parse("0.30000000000000004 s"), Ok(Span::millis(300)));
    }

    #[test]
    fn the_unit_that_was_meant_is_suggested() {
        for (unit, near) in [("kb", "kB"), ("KIB", "KiB"), ("mb", "MB"), ("Bytes", "bytes"), ("stones", "")] {
            let told = Bytes::parse(&format!("64 {unit}")).unwrap_err().0;
            assert_eq!(told.contains(&format!("; did you mean \"{near}\"?")), !near.is_empty(), "{told}");
            assert!(told.starts_with(&format!("unknown unit \"{unit}\" for a size")), "{told}");
        }
        for (unit, near) in [("Mbps", "Mb/s"), ("mbit/s", "Mb/s"), ("bps", "b/s"), ("gb/s", "Gb/s")] {
            let told = Rate::parse(&format!("1 {unit}")).unwrap_err().0;
            assert!(told.contains(&format!("did you mean \"{near}\"?")), "{told}");
        }
        assert!(!Span::parse("5 m").unwrap_err().0.contains("did you mean"));
    }

    #[test]
    fn a_unit_of_another_program_leads_to_the_quantity_as_it_is_written_here() {
        for (given, here) in [("100 MB/s", "800 Mb/s"), ("1.2 GB/s", "9600 Mb/s"), ("0.5kBps", "4 kb/s")] {
            let told = Rate::parse(given).unwrap_err().0;
            assert!(told.contains(&format!("for a rate: rates are in bits, write \"{here}\" (")), "{told}");
        }
        let told = Rate::parse("10G").unwrap_err().0;
        assert!(told.contains("for a rate: write \"10 Gb/s\""), "{told}");
        let told = Span::parse("1 msec").unwrap_err().0;
        assert!(told.contains("for a time: write \"1 ms\""), "{told}");
        assert!(Span::parse("2 min").unwrap_err().0.contains("write \"120 s\""));
        assert!(Bytes::parse("1500 octets").unwrap_err().0.contains("write \"1500 bytes\""));
        assert!(PerSecond::parse("50/s").unwrap_err().0.contains("write \"50 per s\""));
        assert!(Rate::parse("1,5 MB/s").unwrap_err().0.contains("did you mean"), "no quantity to write");
    }

    #[test]
    fn the_comma_is_blamed_and_not_the_unit() {
        assert_eq!(Bytes::parse("50,000 bytes").unwrap_err().0, number::mistake("50,000"));
        assert_eq!(Rate::parse("149,76 Mb/s").unwrap_err().0, number::mistake("149,76"));
        assert_eq!(CellCount::parse("8 192 cells").unwrap_err().0, number::mistake("8 192"));
    }

    #[test]
    fn a_quantity_prints_as_it_can_be_read_again() {
        for span in [Span(0), Span(1), Span::micros(950), Span::secs(40), Span(2_726_337)] {
            assert_eq!(Span::parse(&span.to_string()), Ok(span));
        }
        assert_eq!(Span::micros(950).to_string(), "950 us");
        assert_eq!(Rate(149_760_000).to_string(), "149760 kb/s");
        assert_eq!(Bytes(65_536).to_string(), "64 KiB");
        assert_eq!(Bytes(1460).to_string(), "1460 bytes");
    }

    #[test]
    fn a_share_is_written_in_percent() {
        assert_eq!(PartsPerMillion::parse("10 %"), Ok(PartsPerMillion(100_000)));
        assert_eq!(PartsPerMillion::parse("12.5%").map(PartsPerMillion::show).as_deref(), Ok("125000 ppm"));
        assert_eq!(
            (PartsPerMillion(100_000).to_string(), PartsPerMillion(0).to_string()),
            ("10 %".into(), "0 %".into())
        );
        assert_eq!(PartsPerMillion(100_000).of(Rate(155_520_000)), Rate(15_552_000));
    }

    #[test]
    fn a_cell_at_stm1_rate_is_not_a_whole_number_of_picoseconds() {
        assert_eq!(Rate(155_520_000).time_of_bits(424), (2_726_337, 69_760_000));
    }
}
