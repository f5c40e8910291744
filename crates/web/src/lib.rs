//! The simulator for browsers, compiled to WebAssembly: a request comes in as JSON, an answer goes out as JSON.
//!
//! `abi.rs` is all that a page sees, `request.rs` says what can be asked, `session.rs` is a run to be looked at.

pub mod abi;

mod compare;

mod history;

mod memory;

pub mod request;

mod session;

mod show;

mod toml;
