//! Every scheme beside a model of its own, cell by cell.
//!
//! Both engines run the same policies, so no comparison of engines sees a mistake in one. Here each scheme is written a
//! second time, from its paper and from the text at the top of its file, as one would on a blackboard: the cells of a port
//! stand in a list, and whatever a scheme asks of them is counted anew. Random traffic meets the port and its model,
//! and every loss with its reason, every cell sent, and the occupancy have to be the same.

#![allow(clippy::unwrap_used)] // here a panic is the report

mod board;
mod chips;
mod codel;
mod codes;
mod dualpi2;
mod fair;
mod frames;
mod front;
mod pie;
mod port;
mod pushing;
mod random;
mod rates;
mod turns;

use port::{Draw, compare};
