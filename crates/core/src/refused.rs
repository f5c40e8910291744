//! Refusals of parameters by policies, sources, transports and templates.
//!
//! A policy names the invalid parameter and the reason. It has no access to the file, so the reader of scenarios adds
//! the position of the parameter.

use std::error::Error;
use std::fmt;

/// Parameters that are refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The invalid parameter; `None` if the parameters are only invalid in combination.
    pub key: Option<&'static str>,
    /// The reason, and the allowed values.
    pub why: String,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.key {
            Some(key) => write!(f, "{key}: {}", self.why),
            None => f.write_str(&self.why),
        }
    }
}

impl Error for Refused {}

/// Refuse the value of the parameter `key`.
pub fn refuse<T>(key: &'static str, why: impl Into<String>) -> Result<T, Refused> {
    Err(Refused { key: Some(key), why: why.into() })
}

/// Refuse the value of the parameter `key` if it is `wrong`.
pub fn refuse_if(wrong: bool, key: &'static str, why: impl Into<String>) -> Result<(), Refused> {
    if wrong { refuse(key, why) } else { Ok(()) }
}

/// Refuse parameters that are only invalid in combination.
pub fn unfit<T>(why: impl Into<String>) -> Result<T, Refused> {
    Err(Refused { key: None, why: why.into() })
}

/// Return the value of the parameter `key`; refuse it unless it is greater than 0 and at most 1.
pub fn share(key: &'static str, value: f64) -> Result<f64, Refused> {
    if value > 0.0 && value <= 1.0 { Ok(value) } else { refuse(key, "must be greater than 0 and at most 1") }
}

/// Refuse two gains of 0, with which a controller never changes its probability.
pub fn gains(alpha: f64, beta: f64) -> Result<(), Refused> {
    refuse_if(
        alpha == 0.0 && beta == 0.0,
        "alpha",
        "must be greater than 0 where beta is 0: the probability would never change",
    )
}

/// Return the value of the parameter `key`; refuse it unless it is from 0 to 1.
pub fn probability(key: &'static str, value: f64) -> Result<f64, Refused> {
    if (0.0..=1.0).contains(&value) { Ok(value) } else { refuse(key, "must be from 0 to 1") }
}
