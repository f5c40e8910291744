//! Reads numbers before a unit, as people and programs write them: "149.76", "5e4", "1_000"; exact decimal
//! arithmetic.

use crate::excerpt::quoted;

/// Reason for which a number is not an integer of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotWhole {
    /// The text is not a decimal number.
    Malformed,
    /// The number has a fraction.
    TooFine,
    /// The number does not fit into 64 bits.
    TooLarge,
}

/// Treatment of a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fraction {
    /// A fraction is refused, unless it is so small (a part in 10¹² or less) that binary floating point caused it.
    Refused,
    /// A fraction is rounded, but not to 0.
    Rounded,
}

/// Split a text into its number and its unit; every character that resembles a part of the number belongs to it, even
/// if it is wrong.
pub(crate) fn split(text: &str) -> (&str, &str) {
    let text = text.trim_ascii();
    let ends = text.char_indices().take_while(|(_, c)| c.is_ascii_digit() || is_sign(*c) || is_separator(*c));
    let last = ends.filter(|(_, c)| !c.is_whitespace()).last();
    let mantissa = last.map_or(0, |(offset, c)| offset + c.len_utf8());
    let (number, unit) = text.split_at(mantissa + exponent(&text[mantissa..]));
    (number, unit.trim_ascii())
}

/// Return the length in octets of an exponent such as `e-05` at the beginning of a text.
fn exponent(text: &str) -> usize {
    let Some(rest) = text.strip_prefix(['e', 'E']) else { return 0 };
    let digits = rest.trim_start_matches(['+', '-']);
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    if count == 0 || rest.len() - digits.len() > 1 { 0 } else { text.len() - digits.len() + count }
}

fn is_sign(c: char) -> bool {
    matches!(c, '+' | '-')
}

/// Return whether a character may separate digits, correctly or not: a point, or a separator of groups of digits in
/// some country.
fn is_separator(c: char) -> bool {
    matches!(c, '.' | '_') || is_grouping(c)
}

fn is_grouping(c: char) -> bool {
    matches!(c, ',' | '\'' | '’' | ' ' | '\u{a0}' | '\u{2009}' | '\u{202f}')
}

/// Return `number · factor` as an integer; the error says why it is not one.
pub(crate) fn times(number: &str, factor: u128, fraction: Fraction) -> Result<u64, NotWhole> {
    let Decimal { mantissa, exponent } = Decimal::read(number)?;
    if mantissa == 0 {
        return Ok(0);
    }
    let power = |exponent: u32| 10u128.checked_pow(exponent);
    let (mut factor, mut scale) = (factor, 1);
    if exponent > 0 {
        let more = power(exponent.unsigned_abs()).and_then(|power| factor.checked_mul(power));
        factor = more.ok_or(NotWhole::TooLarge)?;
    } else {
        scale = power(exponent.unsigned_abs()).ok_or(NotWhole::TooFine)?;
    }
    while factor.is_multiple_of(10) && scale.is_multiple_of(10) {
        (factor, scale) = (factor / 10, scale / 10);
    }
    let product = mantissa.checked_mul(factor).ok_or(NotWhole::TooLarge)?;
    let rounded = nearest(product, scale, fraction).ok_or(NotWhole::TooFine)?;
    u64::try_from(rounded).map_err(|_| NotWhole::TooLarge)
}

/// Return `product / scale`, rounded if `fraction` allows it.
fn nearest(product: u128, scale: u128, fraction: Fraction) -> Option<u128> {
    let (whole, rest) = (product / scale, product % scale);
    let up = rest >= scale - rest;
    let error = if up { scale - rest } else { rest };
    let rounded = whole + u128::from(up && rest > 0);
    let noise = rest == 0 || error <= product / 1_000_000_000_000;
    (noise || fraction == Fraction::Rounded && rounded > 0).then_some(rounded)
}

/// A decimal number: `mantissa · 10^exponent`.
#[derive(Clone, Copy, Debug)]
struct Decimal {
    mantissa: u128,
    exponent: i32,
}

/// Greatest number of digits, and greatest exponent: longer numbers are taken for mistakes.
const MOST_DIGITS: usize = 30;
const MOST_POWER: i32 = 99;

impl Decimal {
    fn read(number: &str) -> Result<Decimal, NotWhole> {
        let number = number.strip_prefix('+').unwrap_or(number);
        let (digits, power) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
        let digits = digits.replace('_', "");
        let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
        let fraction = fraction.trim_end_matches('0');
        let significant = [whole, fraction].concat();
        let all_digits =
            significant.bytes().all(|c| c.is_ascii_digit()) && digits != "." && !digits.is_empty();
        let significant = significant.trim_start_matches('0');
        if !all_digits || significant.len() > MOST_DIGITS {
            return Err(NotWhole::Malformed);
        }
        let mantissa = format!("0{significant}").parse().map_err(|_| NotWhole::Malformed)?;
        let power: i32 = power.parse().map_err(|_| NotWhole::Malformed)?;
        let exponent = power.clamp(-MOST_POWER, MOST_POWER) - fraction.len().min(1000) as i32;
        Ok(Decimal { mantissa, exponent })
    }
}

/// Describe the fault of a number that is [`NotWhole::Malformed`], and how to write it.
pub(crate) fn mistake(number: &str) -> String {
    let shown = quoted(number);
    let groups = |separator: char| {
        let parts: Vec<&str> = number.split(separator).collect();
        let (first, others) = (parts[0], &parts[1..]);
        let three = |part: &&str| part.len() == 3 && part.bytes().all(|c| c.is_ascii_digit());
        let grouped = (1..=3).contains(&first.len()) && !others.is_empty() && others.iter().all(three);
        grouped.then(|| (parts.concat(), parts.join("_")))
    };
    let separator = number.chars().find(|c| is_grouping(*c));
    let name = match separator {
        Some(',') => "comma",
        Some('\'' | '’') => "apostrophe",
        Some(_) => "blank",
        None if number.matches('.').count() > 1 => "second decimal point",
        None if number.trim_start_matches('+').contains(is_sign) => "sign",
        None if number.bytes().filter(u8::is_ascii_digit).count() > MOST_DIGITS => {
            return format!("{shown} has more than {MOST_DIGITS} digits");
        }
        None => return format!("{shown} is not a decimal number"),
    };
    let point = number.replacen(',', ".", 1);
    let is_decimal = separator == Some(',') && Decimal::read(&point).is_ok();
    match (groups(separator.unwrap_or('.')), is_decimal) {
        (Some((plain, _)), true) => {
            format!("the {name} in {shown} must be removed: write {plain} or, as a decimal, {point}")
        }
        (Some((plain, spaced)), false) => {
            format!("the {name} in {shown} must be removed: write {plain} or {spaced}")
        }
        (None, true) => format!("the {name} in {shown} must be a point: write {point}"),
        (None, false) => format!("a {name} cannot stand in a number such as {shown}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_and_unit_come_apart() {
        for (text, number, unit) in [
            ("100us", "100", "us"),
            (" 149.76 Mb/s ", "149.76", "Mb/s"),
            ("5e4 bytes", "5e4", "bytes"),
            ("1E-05s", "1E-05", "s"),
            ("5 e4 bytes", "5", "e4 bytes"),
            ("5e bytes", "5", "e bytes"),
            ("5e+-4 s", "5", "e+-4 s"),
            ("50,000 bytes", "50,000", "bytes"),
            ("50 000 cells", "50 000", "cells"),
            ("50\u{a0}000\u{202f}kB", "50\u{a0}000", "\u{202f}kB"),
            ("1'000 s", "1'000", "s"),
            ("-3 s", "-3", "s"),
            ("fast", "", "fast"),
            ("7", "7", ""),
            ("", "", ""),
        ] {
            assert_eq!(split(text), (number, unit), "{text}");
        }
    }

    fn exact(number: &str, factor: u128) -> Result<u64, NotWhole> {
        times(number, factor, Fraction::Refused)
    }

    #[test]
    fn decimals_and_exponents_are_exact() {
        assert_eq!(exact("149.76", 1_000_000), Ok(149_760_000));
        assert_eq!(exact("5e4", 1), Ok(50_000));
        assert_eq!(exact("1e-05", 1_000_000_000_000), Ok(10_000_000));
        assert_eq!(exact("1.25E+3", 1), Ok(1250));
        assert_eq!(exact("+1_000.50", 10), Ok(10_005));
        assert_eq!(exact("18446744073709551615", 1), Ok(u64::MAX));
        assert_eq!(exact("0.000000000000000000000000000000000000000000000000", 1), Ok(0));
        assert_eq!(exact("0e99", 1), Ok(0));
        assert_eq!(exact("123456789012345678901234567890e-30", 1_000_000_000_000), Err(NotWhole::TooFine));
        assert_eq!(exact("0.1234567890120000000000", 1_000_000_000_000), Ok(123_456_789_012));
    }

    #[test]
    fn numbers_out_of_range_are_distinguished() {
        assert_eq!(exact("0.5", 1), Err(NotWhole::TooFine));
        assert_eq!(exact("1e-40", 1_000_000_000_000), Err(NotWhole::TooFine));
        assert_eq!(exact("1e-99999999", 1), Err(NotWhole::TooFine));
        assert_eq!(exact("18446744073709551616", 1), Err(NotWhole::TooLarge));
        assert_eq!(exact("1e20", 1), Err(NotWhole::TooLarge));
        assert_eq!(exact("999999999999999999999999999999", 1_000_000_000_000), Err(NotWhole::TooLarge));
        for number in ["", "+", ".", "e5", "1.2.3", "1,5", "1e5.5", "1-2", "0x10", "1e", "5_e"] {
            assert_eq!(exact(number, 1), Err(NotWhole::Malformed), "{number}");
        }
    }

    #[test]
    fn what_floating_point_adds_is_taken_away() {
        assert_eq!(exact("0.30000000000000004", 1_000_000_000_000), Ok(300_000_000_000));
        assert_eq!(exact("1500.0000000000002", 1), Ok(1500));
        assert_eq!(exact("2726337.448", 1), Err(NotWhole::TooFine), "a part in ten million is no noise");
    }

    #[test]
    fn a_fraction_may_be_rounded_but_not_to_nothing() {
        let rounded = |number| times(number, 1, Fraction::Rounded);
        assert_eq!(rounded("333333.3333333333"), Ok(333_333));
        assert_eq!(rounded("149759999.5"), Ok(149_760_000));
        assert_eq!(rounded("0.5"), Ok(1));
        assert_eq!(rounded("0.4"), Err(NotWhole::TooFine));
    }

    #[test]
    fn every_float_is_read_as_it_was_meant() {
        let draw = &mut crate::rng::Stream::new(1, "floats");
        for _ in 0..2000 {
            let rate = 10f64.powf(3.0 + 9.0 * draw.unit());
            for text in [format!("{rate}"), format!("{rate:e}"), format!("{rate:E}"), format!("{rate:.15e}")]
            {
                assert_eq!(times(&text, 1, Fraction::Rounded), Ok(rate.round() as u64), "{text}");
            }
            let whole = u64::from(draw.next_u32() >> 4);
            let (seconds, ps) = (whole as f64 * 1e-9, whole * 1000);
            for text in [format!("{seconds}"), format!("{seconds:e}")] {
                assert_eq!(times(&text, 1_000_000_000_000, Fraction::Refused), Ok(ps), "{text}");
            }
        }
    }

    #[test]
    fn the_part_that_is_wrong_is_named() {
        for (number, told) in [
            ("50,000", "the comma in \"50,000\" must be removed: write 50000 or, as a decimal, 50.000"),
            ("1,000,000", "the comma in \"1,000,000\" must be removed: write 1000000 or 1_000_000"),
            ("1,5", "the comma in \"1,5\" must be a point: write 1.5"),
            ("1,5,5", "a comma cannot stand in a number such as \"1,5,5\""),
            ("50 000", "the blank in \"50 000\" must be removed: write 50000 or 50_000"),
            ("1'000", "the apostrophe in \"1'000\" must be removed: write 1000 or 1_000"),
            (
                "1.000.000",
                "the second decimal point in \"1.000.000\" must be removed: write 1000000 or 1_000_000",
            ),
            ("1.2.3", "a second decimal point cannot stand in a number such as \"1.2.3\""),
            ("1-2", "a sign cannot stand in a number such as \"1-2\""),
            (".", "\".\" is not a decimal number"),
        ] {
            assert_eq!(mistake(number), told);
        }
        assert!(mistake(&"7".repeat(31)).ends_with("has more than 30 digits"));
    }
}
