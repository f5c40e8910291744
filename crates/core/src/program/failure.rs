//! The failure of a program in a run.

use crate::units::Time;

/// The first decision that a program could not compute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Instant of the decision.
    pub time: Time,
    /// Place in the program's text, and the reason.
    pub why: String,
}
