//! The language of scenario files: what can be written, and how a mistake is told. It knows no network.
//!
//! A text becomes a [`tree`] of values with their places ([`read`]); overrides change the tree ([`set`]); sections and
//! registries read their keys from it ([`spec`], [`registry`]). A mistake is a [`tree::Fault`], of which [`message`] makes
//! what people read.

pub mod tree;

pub mod nearest;

mod unmodelled;

pub(crate) mod prose;

pub mod spec;

mod values;

pub mod registry;

pub mod read;

mod toml_error;

pub mod set;

pub mod message;

pub(crate) mod item;

pub(crate) mod names;

pub mod document;

pub(crate) mod docs;

pub(crate) mod schema;
