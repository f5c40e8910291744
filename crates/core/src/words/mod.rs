//! Words that people write: other names for entries, names from the literature for missing entries, and the nearest
//! valid word to a wrong one.

pub(crate) mod aliases;

mod unmodelled;

pub mod nearest;
