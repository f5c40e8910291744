//! The optional forms of the fast engine, each with a switch that only tests have.
//!
//! # What it assumes
//! A run gives the same bytes with a form and without it.
//!
//! # What it skips
//! The checks outside tests: there every form is allowed, and the compiler removes them.
//!
//! # Why that is exact
//! The tests below switch each form off on random networks, and check that the form was used with the switch on.
//!
//! # What turns it off
//! A release build.
//!
//! # What it saves
//! It costs no time. Without it no test would fail if a form silently ceased to apply: figures stay right, and only
//! the time changes.

/// A form: an optional way to pass units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// FIFO, by arithmetic: a train that no other crosses; trains that interleave, by their ends; a segment on a busy
    /// line.
    WholeTrain,
    TrainEnds,
    BusySegment,
    /// FIFO, in one loop: a segment; cells that a policy must observe.
    LoopedSegment,
    ShownCells,
    /// One queue: cells may be lost at its head, and departures follow arrivals in a loop of their own.
    HeadDrop,
    /// Per-circuit queues: a train is reserved when it begins.
    ReservedTrain,
    /// Per-circuit queues: slots are assigned by counts; a frame is forwarded before it leaves.
    Rotation,
    Lookahead,
    /// A source without feedback sends ahead.
    OpenLoop,
    /// Single cells of clocked sources travel as lists of instants.
    Combs,
    /// Packets: arrivals in a few rows instead of a calendar; ports of a memory compute departures on arrival.
    Rows,
    SharedPorts,
    /// Packets: ports that judge every packet, with an order of their own, and with rows instead of queues.
    Stations,
    OrderedPorts,
    /// Packets: ports in rows while their memory removes no packet and stops no sender, and nothing stops them.
    QuietPorts,
}

/// Return whether a form may be used.
#[cfg(not(test))]
#[inline(always)]
pub(crate) fn allows(_: Form) -> bool {
    true
}

/// Record that a form has been used.
#[cfg(not(test))]
#[inline(always)]
pub(crate) fn used(_: Form) {}

#[cfg(test)]
pub(crate) use tests::{allows, switch_off, take_used, used};

#[cfg(test)]
mod tests;
