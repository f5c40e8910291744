//! Exact arithmetic for both fast rooms: when units that follow each other start, and what a port counts of them.

pub(in crate::engine) mod accounting;
pub(in crate::engine) mod spacing;
