//! The simulator behind Pushout: it admits, discards, pushes out and serves the units of switch buffers, cell by
//! cell.
//!
//! This crate is *sans-I/O*: it opens no file, starts no thread, reads no clock and keeps no global state. A
//! scenario and a seed go in, a report comes out, and the same input gives the same bytes on every machine.
//!
//! The modules are in the order in which a cell travels.

#[cfg(test)]
extern crate self as pushout_core; // tests here draw networks as those beside the crate do

pub mod units;

pub mod number;

pub mod pace;

pub mod rng;

pub mod excerpt;

pub mod refused;

pub mod unit;

pub mod kernel;

pub mod source;

pub mod transport;

pub mod adaptation;

pub mod police;

pub mod link;

pub mod program;

pub mod buffer;

pub mod memory;

pub mod scheduler;

pub mod discipline;

pub mod metrics;

pub mod network;

pub mod language;

pub mod scenario;

pub mod engine;

pub mod trace;

pub mod view;

pub mod audit;

pub mod report;

pub mod api;

pub use scenario::catalogue::catalogue;

#[doc(hidden)]
pub use serde_json;

#[cfg(test)]
pub(crate) mod vectors;
