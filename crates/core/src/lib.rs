//! The simulator behind Pushout: it admits, discards, pushes out and serves the units of switch buffers, cell by
//! cell.
//!
//! This crate is *sans-I/O*: it opens no file, starts no thread, reads no clock and keeps no global state. A
//! scenario and a seed go in, a report comes out, and the same input gives the same bytes on every machine.
//!
//! The modules stand in their order from the ground up: each may use those above it in this file, and no other.

#[cfg(test)]
extern crate self as pushout_core; // tests here draw networks as those beside the crate do

pub mod excerpt;

pub mod number;

pub mod words;

pub mod units;

pub mod rng;

pub mod refused;

pub mod unit;

pub mod pace;

pub mod kernel;

pub mod language;

pub mod verdict;

pub mod metrics;

pub mod adaptation;

pub mod source;

pub mod workload;

pub mod program;

pub mod transport;

pub mod buffer;

pub mod scheduler;

pub mod discipline;

pub mod police;

pub mod memory;

pub mod link;

pub mod scenario;

pub mod host;

pub mod network;

pub mod trace;

pub mod view;

pub mod engine;

pub mod audit;

pub mod report;

pub mod why;

#[cfg(feature = "scenario")]
pub mod api;

pub use scenario::catalogue::catalogue;

#[doc(hidden)]
pub use serde_json;

#[cfg(test)]
pub(crate) mod vectors;

// The tests of whole networks are compiled with the tests of the modules, so that the core is compiled once for all of
// them; they use what is public, as `pushout_core`.

#[cfg(test)]
#[path = "../tests/behaviour/mod.rs"]
mod behaviour;

#[cfg(test)]
#[path = "../tests/equivalence/mod.rs"]
mod equivalence;

#[cfg(test)]
#[path = "../tests/textbook/mod.rs"]
mod textbook;
