//! Exact arithmetic for both fast rooms: when units that follow each other start, and what a port counts of them.

pub(crate) mod accounting;
pub(crate) mod spacing;
