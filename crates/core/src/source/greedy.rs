//! # Source
//! The infinite source of most TCP studies, for example paper 001 section 3 ("infinite supply of data").
//!
//! # Idea
//! There is always more to send.
//!
//! # Parameters
//! None.
//!
//! # Differences from the paper
//! None.
//!
//! # Complexity
//! Constant.

use super::{Source, Traffic};
use crate::section;

section! {
    /// An application that always has data to send.
    pub struct Params {}
}

/// Kind of traffic, which decides the transports that can carry it.
pub const TRAFFIC: Traffic = Traffic::Data;

impl Source for Params {}
