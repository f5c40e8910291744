//! What a line carries over time.
//!
//! Who asks a line for its rate says which one is meant: [`Law::mean`] for shares, loads and buffers in time, [`Law::peak`]
//! for the most that can come, [`Law::fixed`] where only a rate that never changes can be meant; a scenario in which that
//! cannot be is refused before it runs, or runs on the reference engine.

use std::fmt;

use crate::units::Rate;

/// The rate of a line over time.
#[derive(Clone, Debug, PartialEq)]
pub enum Law {
    /// One rate, always.
    Constant(Rate),
}

impl Law {
    /// Return the mean rate over a long time.
    pub fn mean(&self) -> Rate {
        match self {
            Law::Constant(rate) => *rate,
        }
    }

    /// Return the greatest rate that the line ever has.
    pub fn peak(&self) -> Rate {
        match self {
            Law::Constant(rate) => *rate,
        }
    }

    /// Return the rate of a line that always has the same one.
    pub fn fixed(&self) -> Rate {
        match self {
            Law::Constant(rate) => *rate,
        }
    }
}

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Law::Constant(rate) => rate.fmt(f),
        }
    }
}
