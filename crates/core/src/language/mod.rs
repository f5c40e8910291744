//! The language of scenario files: the forms of values, and the messages about faults. It does not depend on
//! networks.
//!
//! A text becomes a [`tree`] of values with their positions ([`read`]); overrides change the tree ([`set`]); sections
//! and registries read their keys from it ([`spec`], [`registry`]). A fault is a [`tree::Fault`], from which
//! [`message`] makes the text that users read.

pub mod tree;

pub(crate) mod merge;

pub(crate) mod prose;

pub mod spec;

pub mod values;

pub mod registry;

#[cfg(feature = "scenario")]
pub mod read;

#[cfg(feature = "scenario")]
mod toml_error;

pub mod set;

pub mod message;

pub(crate) mod item;

pub(crate) mod names;

#[cfg(feature = "scenario")]
pub mod document;

pub(crate) mod docs;

pub(crate) mod schema;
