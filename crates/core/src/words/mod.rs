//! Words that people write: other names for what is there, names from the literature for what is not, and the nearest
//! valid word to a wrong one.

mod aliases;

mod unmodelled;

pub mod nearest;
