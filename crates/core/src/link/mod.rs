//! Ports and lines: where units wait and how they get to the next node.

pub mod line;

pub mod port;
