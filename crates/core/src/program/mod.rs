//! Programs: policies as data of a scenario. A program is one or several lists of instructions, one for each function.
//!
//! `instruction` reads the instructions, `check` refuses what could go wrong, `run` interprets what is left. Policies of every kind
//! that can be programs use them: they say what a program sees, and do what it answers.

pub(crate) mod check;

pub(crate) mod code;

pub(crate) mod hook;

pub(crate) mod instruction;

pub(crate) mod limits;

pub(crate) mod run;

pub(crate) mod source;

pub(crate) mod values;

pub use hook::{Asks, LooksAt};
pub use limits::{Limit, Limits};
pub use source::{Clock, Code, Lines, QuietCode, ServeCode, Source, VictimCode};
pub use values::Values;
