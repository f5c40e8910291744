//! The event kernel: one queue, one documented total order.
//!
//! Events are ordered by `(time, class, entity)`. At the same instant
//!
//! 1. a line becomes free: the unit that was being sent leaves the buffer, the next one starts;
//! 2. the clock of a policy ticks;
//! 3. a unit arrives at the end of a line, lines in the order of the scenario;
//! 4. a timer of a host goes off, flows in the order of the scenario, the sending end first.
//!
//! A departure thus makes room for an arrival of the same instant. Nothing takes no time on its way (every unit has a
//! transmission time), so events of different ports at the same instant do not touch each other, and the order above
//! is the whole truth about a run: an engine that keeps it per port and per host computes the same run.

pub mod queue;
