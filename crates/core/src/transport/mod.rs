//! Transports: what turns the data of a source into segments and reacts to their fate.
//!
//! A transport is a pair of state machines without clock or queue: facts go in (data to send, a segment that has
//! arrived, a timer that has expired), segments come out, and [`next_timer`](tcp::Sender::next_timer) says when it
//! wants to be asked again.

pub mod tcp;
