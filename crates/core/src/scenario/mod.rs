//! From a file to a scenario that has been checked: parse once, then no more checks.

pub mod tree;

pub mod spec;

pub mod registry;

pub mod model;
