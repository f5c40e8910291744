//! Programs: policies and congestion controls as data of a scenario. A program is one or several lists of instructions, one for each function.
//!
//! `instruction` reads the instructions, `check` refuses programs that could fail in avoidable ways, `condense` makes
//! fewer steps of a checked program, and `run` interprets them. Each kind of policy that can be a program supplies the values that the program reads, and
//! carries out its decision.

mod arithmetic;

pub(crate) mod check;

pub(crate) mod code;

mod condense;

mod failure;

pub(crate) mod hook;

pub(crate) mod instruction;

pub(crate) mod limits;

pub(crate) mod ranks;

pub(crate) mod run;

pub(crate) mod source;

pub(crate) mod step;

pub(crate) mod trace;

pub(crate) mod values;

pub use failure::Failure;
pub use hook::{Asks, LooksAt};
pub use limits::{Limit, Limits};
pub use source::{Clock, Code, Lines, QuietCode, ServeCode, Source, VictimCode};
pub use values::Values;
