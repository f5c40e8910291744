//! Why what a scenario asks for cannot be: what policies, sources, transports and templates answer in its place.
//!
//! Whoever refuses knows which of its own parameters is wrong, but neither file nor path. The reader of scenarios, who
//! asks, knows where that parameter stands, and tells it there.

use std::error::Error;
use std::fmt;

/// Parameters that are refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The parameter whose value cannot be; none if no single one is wrong, but they do not fit here.
    pub key: Option<&'static str>,
    /// Why, and what is allowed.
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

/// Refuse parameters of which no single one is wrong, since they do not fit here.
pub fn unfit<T>(why: impl Into<String>) -> Result<T, Refused> {
    Err(Refused { key: None, why: why.into() })
}

/// The value of the parameter `key`, which must be from 0 to 1.
pub fn probability(key: &'static str, value: f64) -> Result<f64, Refused> {
    if (0.0..=1.0).contains(&value) { Ok(value) } else { refuse(key, format!("{value} is not from 0 to 1")) }
}
