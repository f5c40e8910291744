//! Programs: policies as data of a scenario. A program is one or several lists of instructions, one for each function.
//!
//! `instruction` reads the instructions, `check` refuses programs that could fail in avoidable ways, `run` interprets
//! a checked program. Each kind of policy that can be a program supplies the values that the program reads, and
//! carries out its decision.

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
