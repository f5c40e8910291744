//! Quantities are types: instants, spans, rates and sizes never mix silently.
//!
//! Time is an integer number of picoseconds. A cell at 155.52 Mb/s lasts 2 726 337.448… ps, so rounding
//! to nanoseconds would be wrong by 1.2 · 10⁻⁴ per cell; picoseconds are wrong by 1.6 · 10⁻⁷, and
//! [`crate::link::line::Line`] carries even that remainder. A `u64` of picoseconds lasts 213 days.
//!
//! Every quantity is written as a number and a unit (`"149.76 Mb/s"`, `"100 us"`, `"8192 cells"`); parsing is
//! exact decimal arithmetic, and a value finer than the type can hold is an error, never rounded.

use core::fmt;
use core::ops::{Add, AddAssign, Sub};

use crate::excerpt::quoted;

/// Octets of one cell on the line, header included (ITU-T I.361).
pub const CELL_BYTES: u64 = 53;
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

/// A rate, in bits per second. In a scenario that has been accepted a minimum cell rate may be zero, that of a line or a
/// source is not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(pub u64);

/// A size, in octets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// A number of cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cells(pub u64);

/// A share of something, in parts per million.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Share(pub u64);

impl Time {
    /// The start of every run.
    pub const ZERO: Time = Time(0);
    /// Later than anything that can happen.
    pub const NEVER: Time = Time(u64::MAX);

    /// Seconds since the start, for reports only: decisions stay in integers.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }

    /// This instant and so much more, within a run: unlike `+` it does not look at the end of time, which scenarios keep far
    /// away.
    #[inline]
    pub(crate) fn later(self, by: Span) -> Time {
        Time(self.0 + by.0)
    }

    /// The span from `earlier` to this instant; zero if `earlier` is later.
    pub fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(0);
    /// Longer than anything lasts.
    pub const FOREVER: Span = Span(u64::MAX);

    /// A span of whole microseconds.
    pub const fn micros(n: u64) -> Span {
        Span(n * 1_000_000)
    }

    /// A span of whole milliseconds.
    pub const fn millis(n: u64) -> Span {
        Span(n * 1_000_000_000)
    }

    /// A span of whole seconds.
    pub const fn secs(n: u64) -> Span {
        Span(n * PS_PER_S)
    }

    /// What this span lasts longer than another one; zero if it does not.
    pub fn beyond(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }

    /// Length in seconds, for reports and for schemes whose paper is real-valued.
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / PS_PER_S as f64
    }
}

impl Rate {
    /// Rate in bits per second as a real number.
    pub fn as_f64(self) -> f64 {
        self.0 as f64
    }

    /// This rate times `by / over`, rounded down to a bit per second.
    pub fn scaled(self, by: u64, over: u64) -> Rate {
        Rate((u128::from(self.0) * u128::from(by) / u128::from(over)) as u64)
    }

    /// Time to send `bits` bits, rounded down to a picosecond; the remainder is in units of `1/rate` ps.
    pub fn time_of_bits(self, bits: u64) -> (u64, u64) {
        if let Some(total) = bits.checked_mul(PS_PER_S) {
            return (total / self.0, total % self.0);
        }
        let (total, rate) = (u128::from(bits) * u128::from(PS_PER_S), u128::from(self.0));
        ((total / rate) as u64, (total % rate) as u64)
    }
}

impl Share {
    /// All of it.
    pub const WHOLE: Share = Share(1_000_000);

    /// This share of a rate, rounded down to a bit per second.
    pub fn of(self, rate: Rate) -> Rate {
        rate.scaled(self.0, Share::WHOLE.0)
    }
}

/// What would come after the end of time comes never: the sum stops at [`Time::NEVER`].
impl Add<Span> for Time {
    type Output = Time;
    fn add(self, rhs: Span) -> Time {
        Time(self.0.saturating_add(rhs.0))
    }
}

/// As `Time + Span`.
impl AddAssign<Span> for Time {
    fn add_assign(&mut self, rhs: Span) {
        *self = *self + rhs;
    }
}

/// The sum stops at the longest span, which lasts longer than any run.
impl Add for Span {
    type Output = Span;
    fn add(self, rhs: Span) -> Span {
        Span(self.0.saturating_add(rhs.0))
    }
}

/// Nobody takes more than there is; where that may be, [`Span::beyond`] says so.
impl Sub for Span {
    type Output = Span;
    fn sub(self, rhs: Span) -> Span {
        debug_assert!(self >= rhs, "{rhs} is more than {self}");
        self.beyond(rhs)
    }
}

/// Why a text is not a quantity: a sentence without the text itself, which the caller shows.
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
    /// What it measures, as in "a rate".
    const WHAT: &'static str;
    /// Accepted units with the factor to the stored integer, the one to print in first.
    const UNITS: &'static [(&'static str, u128)];
    /// An example for error messages.
    const EXAMPLE: &'static str;
    /// From the stored integer.
    fn from_raw(raw: u64) -> Self;
    /// To the stored integer.
    fn raw(self) -> u64;

    /// Read `"100 us"`; the unit is required, the blank before it is not.
    fn parse(text: &str) -> Result<Self, NotAQuantity> {
        let text = text.trim_ascii();
        let split =
            text.find(|c: char| !matches!(c, '0'..='9' | '.' | '_' | '+' | '-')).unwrap_or(text.len());
        let (number, unit) = (&text[..split], text[split..].trim_ascii());
        let units = || Self::UNITS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        if number.starts_with('-') {
            return Err(NotAQuantity(format!("{} cannot be negative", Self::WHAT)));
        }
        if number.is_empty() {
            return Err(NotAQuantity(format!(
                "{} is a number and a unit, as in \"{}\"",
                Self::WHAT,
                Self::EXAMPLE
            )));
        }
        if unit.is_empty() {
            return Err(NotAQuantity(format!(
                "the unit is missing: {} is written as in \"{}\" (units: {})",
                Self::WHAT,
                Self::EXAMPLE,
                units()
            )));
        }
        let Some((_, factor)) = Self::UNITS.iter().find(|(name, _)| *name == unit) else {
            return Err(NotAQuantity(format!(
                "unknown unit {} for {} (units: {})",
                quoted(unit),
                Self::WHAT,
                units()
            )));
        };
        match decimal_times(number, *factor) {
            Ok(raw) => Ok(Self::from_raw(raw)),
            Err(NotExact::Malformed) => {
                Err(NotAQuantity(format!("{} is not a decimal number", quoted(number))))
            }
            Err(NotExact::TooFine) => {
                let finest =
                    Self::UNITS.iter().rfind(|(_, factor)| *factor == 1).map_or("", |(unit, _)| unit);
                Err(NotAQuantity(format!("finer than 1 {finest}, the smallest step there is")))
            }
            Err(NotExact::TooLarge) => {
                let (unit, factor) =
                    Self::UNITS.iter().rev().max_by_key(|(_, factor)| factor).expect("units");
                let most = u128::from(u64::MAX) / factor;
                Err(NotAQuantity(format!("too large: at most {most} {unit}")))
            }
        }
    }

    /// Write it in the largest unit that keeps it exact.
    fn show(self) -> String {
        let raw = u128::from(self.raw());
        let best = Self::UNITS
            .iter()
            .filter(|(_, factor)| raw.is_multiple_of(*factor) && raw >= *factor)
            .max_by(|a, b| a.1.cmp(&b.1).then(core::cmp::Ordering::Greater));
        let (name, factor) = best.unwrap_or(&Self::UNITS[0]);
        format!("{} {name}", raw / factor)
    }
}

/// Why a number is no exact integer of 64 bits.
#[derive(Clone, Copy, Debug)]
enum NotExact {
    Malformed,
    TooFine,
    TooLarge,
}

/// `number · factor` as an exact integer, or why not.
fn decimal_times(number: &str, factor: u128) -> Result<u64, NotExact> {
    let digits = number.trim_start_matches('+').replace('_', "");
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    let all_digits = whole.chars().chain(fraction.chars()).all(|c| c.is_ascii_digit());
    if !all_digits || (whole.is_empty() && fraction.is_empty()) || digits.len() > 30 {
        return Err(NotExact::Malformed);
    }
    let fraction = fraction.trim_end_matches('0');
    let scale = 10u128.pow(fraction.len() as u32);
    let mantissa: u128 = format!("0{whole}{fraction}").parse().map_err(|_| NotExact::TooLarge)?;
    let product = mantissa.checked_mul(factor).ok_or(NotExact::TooLarge)?;
    if !product.is_multiple_of(scale) {
        return Err(NotExact::TooFine);
    }
    u64::try_from(product / scale).map_err(|_| NotExact::TooLarge)
}

macro_rules! quantity {
    ($type:ident, $what:literal, $example:literal, [$(($unit:literal, $factor:expr)),+ $(,)?]) => {
        impl Quantity for $type {
            const WHAT: &'static str = $what;
            const UNITS: &'static [(&'static str, u128)] = &[$(($unit, $factor)),+];
            const EXAMPLE: &'static str = $example;
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
    [("s", 1_000_000_000_000), ("ms", 1_000_000_000), ("us", 1_000_000), ("ns", 1_000), ("ps", 1)]
);
quantity!(
    Rate,
    "a rate",
    "149.76 Mb/s",
    [("b/s", 1), ("kb/s", 1_000), ("Mb/s", 1_000_000), ("Gb/s", 1_000_000_000), ("Tb/s", 1_000_000_000_000)]
);
quantity!(
    Bytes,
    "a size",
    "64 KiB",
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
    ]
);
quantity!(Share, "a share", "10 %", [("%", 10_000), ("ppm", 1)]);
quantity!(Cells, "a number of cells", "8192 cells", [("cells", 1), ("cell", 1)]);

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
        assert_eq!(Cells::parse("8192 cells"), Ok(Cells(8192)));
        assert_eq!(Span::parse("0 s"), Ok(Span::ZERO));
    }

    #[test]
    fn what_cannot_be_held_is_refused_and_not_rounded() {
        assert!(Span::parse("0.5 ps").unwrap_err().0.contains("finer"));
        assert!(Cells::parse("0.5 cells").unwrap_err().0.contains("finer"));
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
        assert!(Rate::parse("1.2.3 Mb/s").unwrap_err().0.contains("not a decimal"));
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
        assert_eq!(Share::parse("10 %"), Ok(Share(100_000)));
        assert_eq!(Share::parse("12.5%").map(Share::show).as_deref(), Ok("125000 ppm"));
        assert_eq!((Share(100_000).to_string(), Share(0).to_string()), ("10 %".into(), "0 %".into()));
        assert_eq!(Share(100_000).of(Rate(155_520_000)), Rate(15_552_000));
    }

    #[test]
    fn a_cell_at_stm1_rate_is_not_a_whole_number_of_picoseconds() {
        assert_eq!(Rate(155_520_000).time_of_bits(424), (2_726_337, 69_760_000));
    }
}
