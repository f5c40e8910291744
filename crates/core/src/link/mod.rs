//! Ports, lines and gates: where units wait, how they get to the next node, and what loses, holds or delays them on the way.

pub mod law;

pub mod line;

pub mod control;

pub mod gate;

pub mod port;
