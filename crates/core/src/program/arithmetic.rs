//! Arithmetic of programs: functions of one or two values, as in Python, and why a result cannot be computed.

use super::code::{Binary, Type, Unary, Word};

const OVERFLOW: &str = "an integer of 64 bits cannot hold the result";
const BY_ZERO: &str = "a divisor must not be 0: quotient";
const NOT_A_NUMBER: &str = "no number is the result";

/// Return the function of a value of this type.
#[inline(always)] // the interpreter is one loop
pub(super) fn one(unary: Unary, kind: Type, value: Word) -> Result<Word, &'static str> {
    let (int, float) = (value.as_int(), value.as_float());
    match (unary, kind) {
        (Unary::Not, _) => Ok(Word::bool(!value.as_bool())),
        (Unary::Neg, Type::Int) => int.checked_neg().map(Word::int).ok_or(OVERFLOW),
        (Unary::Abs, Type::Int) => int.checked_abs().map(Word::int).ok_or(OVERFLOW),
        (Unary::Float, _) => Ok(Word::float(int as f64)),
        (Unary::Int, _) if (-9.2e18..9.2e18).contains(&float) => Ok(Word::int(float as i64)),
        (Unary::Int, _) => Err(OVERFLOW),
        (Unary::Neg, _) => number(-float),
        (Unary::Abs, _) => number(libm::fabs(float)),
        (Unary::Sqrt, _) => number(libm::sqrt(float)),
        (Unary::Exp, _) => number(libm::exp(float)),
        (Unary::Log, _) if float <= 0.0 => Err(NOT_A_NUMBER),
        (Unary::Log, _) => number(libm::log(float)),
    }
}

/// Return the result of an operator on two integers.
#[inline(always)] // the interpreter is one loop
pub(super) fn whole(binary: Binary, left: i64, right: i64) -> Result<Word, &'static str> {
    let result = match binary {
        Binary::Add => left.checked_add(right),
        Binary::Sub => left.checked_sub(right),
        Binary::Mul => left.checked_mul(right),
        Binary::Div | Binary::FloorDiv | Binary::Mod if right == 0 => return Err(BY_ZERO),
        Binary::Div | Binary::FloorDiv => floor_quotient(left, right),
        Binary::Mod => {
            floor_quotient(left, right).map(|quotient| left.wrapping_sub(quotient.wrapping_mul(right)))
        }
        Binary::Pow => u32::try_from(right).ok().and_then(|exponent| left.checked_pow(exponent)),
        Binary::Min => Some(left.min(right)),
        Binary::Max => Some(left.max(right)),
        _ => return Ok(Word::bool(compared(binary, &left, &right))),
    };
    result.map(Word::int).ok_or(OVERFLOW)
}

/// Return the quotient rounded towards minus infinity, as in Python.
fn floor_quotient(left: i64, right: i64) -> Option<i64> {
    let quotient = left.checked_div(right)?;
    let inexact = left % right != 0;
    Some(quotient - i64::from(inexact && (left < 0) != (right < 0)))
}

/// Return the result of an operator on two floats.
#[inline(always)] // the interpreter is one loop
pub(super) fn real(binary: Binary, left: f64, right: f64) -> Result<Word, &'static str> {
    match binary {
        Binary::Add => number(left + right),
        Binary::Sub => number(left - right),
        Binary::Mul => number(left * right),
        Binary::Div | Binary::FloorDiv | Binary::Mod if right == 0.0 => Err(BY_ZERO),
        Binary::Div => number(left / right),
        Binary::FloorDiv => number(floor_division(left, right).0),
        Binary::Mod => number(floor_division(left, right).1),
        Binary::Pow if left == 0.0 && right < 0.0 => Err(BY_ZERO),
        Binary::Pow => number(libm::pow(left, right)),
        // As in Python, the result is the first of two equal values.
        Binary::Min => Ok(Word::float(if right < left { right } else { left })),
        Binary::Max => Ok(Word::float(if right > left { right } else { left })),
        _ => Ok(Word::bool(compared(binary, &left, &right))),
    }
}

/// Return quotient and remainder as in Python: the remainder has the sign of the divisor.
fn floor_division(left: f64, right: f64) -> (f64, f64) {
    let mut rest = libm::fmod(left, right);
    let mut quotient = (left - rest) / right;
    if rest == 0.0 {
        rest = libm::copysign(0.0, right);
    } else if (right < 0.0) != (rest < 0.0) {
        rest += right;
        quotient -= 1.0;
    }
    if quotient == 0.0 {
        return (libm::copysign(0.0, left / right), rest);
    }
    let floor = libm::floor(quotient);
    (if quotient - floor > 0.5 { floor + 1.0 } else { floor }, rest)
}

fn compared<T: PartialOrd>(binary: Binary, left: &T, right: &T) -> bool {
    match binary {
        Binary::Lt => left < right,
        Binary::Le => left <= right,
        Binary::Gt => left > right,
        Binary::Ge => left >= right,
        Binary::Eq => left == right,
        _ => left != right,
    }
}

fn number(value: f64) -> Result<Word, &'static str> {
    if value.is_nan() { Err(NOT_A_NUMBER) } else { Ok(Word::float(value)) }
}
