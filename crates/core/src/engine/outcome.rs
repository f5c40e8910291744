//! The result of a run.
//!
//! # What it assumes
//! An engine that computes part of a network ahead has put its counts back before the run ends.
//!
//! # Why that is exact
//! This module only reads the network, and the clock belongs to the caller.

use crate::host::outcome::FlowOutcome;
use crate::network::Network;
use crate::scenario::Refusal;
use crate::scenario::model::Scenario;
use crate::units::Time;
use crate::units::ids::{CircuitId, FlowId, IdVec, LineId};
use crate::verdict::Reason;

/// Times the event loop of a run by the caller's clock, and reports progress to the caller: the core has no clock and
/// no threads.
pub struct Stopwatch<'a> {
    clock: &'a dyn Fn() -> f64,
    reached: &'a dyn Fn(Time),
    /// Events since the last report of progress to the caller.
    events: u64,
    start: f64,
    taken: f64,
}

/// Number of events between two reports of progress to the caller.
const REPORTED: u64 = 64;

impl Default for Stopwatch<'_> {
    /// Build a stopwatch whose clock stands still.
    fn default() -> Self {
        Stopwatch::new(&|| 0.0)
    }
}

impl Stopwatch<'_> {
    /// Build a stopwatch with a clock that returns seconds.
    pub fn new(clock: &dyn Fn() -> f64) -> Stopwatch<'_> {
        Stopwatch { clock, reached: &|_| (), events: 0, start: 0.0, taken: 0.0 }
    }

    /// Make a stopwatch that also calls `reached` with the simulated time each time the run has advanced a little.
    pub fn telling<'a>(clock: &'a dyn Fn() -> f64, reached: &'a dyn Fn(Time)) -> Stopwatch<'a> {
        Stopwatch { reached, ..Stopwatch::new(clock) }
    }

    /// Start the clock: the network has been built, and the first event is due.
    pub(super) fn start(&mut self) {
        self.start = (self.clock)();
    }

    /// Count an event at the instant `now` of the run.
    #[inline(always)] // in the loop
    pub(super) fn reach(&mut self, now: Time) {
        self.reach_with(now, 1);
    }

    /// Count the events of a round of the event loop that begins at `now`. In large networks with long delays a round
    /// has millions of events, so a count of rounds would leave the caller without a report for minutes.
    #[inline(always)] // in the loop
    pub(super) fn reach_with(&mut self, now: Time, events: u64) {
        self.events += events;
        if self.events >= REPORTED {
            self.events = 0;
            (self.reached)(now);
        }
    }

    /// Stop the clock after the last event.
    pub(super) fn stop(&mut self) {
        self.taken = (self.clock)() - self.start;
    }

    /// Return the measured time, in seconds.
    pub fn seconds(&self) -> f64 {
        self.taken
    }
}

/// The state of a run after its end.
#[derive(Debug)]
pub struct Outcome {
    /// The network at the end, with all its counters, but without its flows.
    pub network: Network,
    /// Outcomes of the flows.
    pub flows: IdVec<FlowId, FlowOutcome>,
    /// Units in flight over a line, by circuit.
    pub on_lines: IdVec<CircuitId, u64>,
    /// Amount of work of the run.
    pub work: Work,
    /// Every loss, if losses are logged, by time and port; losses of a port at one instant stay in order.
    pub losses: Vec<LossRecord>,
}

impl Outcome {
    /// Refuse a run in which a policy could not compute a decision: it has no result.
    pub fn complete(&self, scenario: &Scenario) -> Result<(), Refusal> {
        self.network
            .complete(scenario, self.flows.iter().map(|flow| flow.failure.as_deref()))
            .map_err(|message| Refusal { message, ..Refusal::default() })
    }
}

/// The amount of work of a run, warm-up included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Cells that lines have started to send.
    pub cell_hops: u64,
    /// Packets that lines have started to send.
    pub packet_hops: u64,
    /// Events that the kernel has handled.
    pub events: u64,
    /// Whether a random number was drawn, during the run or for its transfers; without draws every seed gives this
    /// result.
    pub draws: bool,
}

/// An entry of the log of losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossRecord {
    /// Instant of the loss.
    pub time: Time,
    /// Port at which the unit was lost.
    pub port: LineId,
    /// Circuit of the lost unit.
    pub vc: CircuitId,
    /// Frame of the lost unit.
    pub frame: u32,
    /// Position of the lost unit in its frame.
    pub index: u16,
    /// The reason.
    pub reason: Reason,
}
