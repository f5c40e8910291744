//! Ports, lines, credits and pauses: where units wait, how they get to the next node, and whether there is room for them.

pub mod line;

pub mod control;

pub mod pause;

pub mod credit;

pub mod loss;

pub mod port;

pub mod shaper;
