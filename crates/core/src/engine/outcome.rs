//! What is left when a run is over.
//!
//! # What it assumes
//! An engine that computes part of a network ahead has put its counts back before the run ends.
//!
//! # What it skips
//! Nothing.
//!
//! # Why that is exact
//! It only reads; the clock is the caller's.
//!
//! # What turns it off
//! Nothing.
//!
//! # What it saves
//! Nothing.

use crate::buffer::verdict::Reason;
use crate::network::Network;
use crate::units::Time;

/// What times the event loop of a run, by the caller's clock, and tells the caller how far the run has come: the core has
/// no clock and no threads.
pub struct Stopwatch<'a> {
    clock: &'a dyn Fn() -> f64,
    reached: &'a dyn Fn(Time),
    /// Rounds of the event loop since the start.
    rounds: u32,
    start: f64,
    taken: f64,
}

/// The caller receives every 64th round of the event loop.
const TOLD: u32 = 64;

impl Default for Stopwatch<'_> {
    /// One that stands still.
    fn default() -> Self {
        Stopwatch::new(&|| 0.0)
    }
}

impl Stopwatch<'_> {
    /// One that goes by a clock, which shows seconds.
    pub fn new(clock: &dyn Fn() -> f64) -> Stopwatch<'_> {
        Stopwatch { clock, reached: &|_| (), rounds: 0, start: 0.0, taken: 0.0 }
    }

    /// The same, and whenever the run has come a little further, `reached` is called with the simulated time.
    pub fn telling<'a>(clock: &'a dyn Fn() -> f64, reached: &'a dyn Fn(Time)) -> Stopwatch<'a> {
        Stopwatch { reached, ..Stopwatch::new(clock) }
    }

    /// The network has been built, and the first event is due.
    pub(super) fn start(&mut self) {
        self.start = (self.clock)();
    }

    /// Count a round of the event loop, which has come to this instant of the run.
    #[inline(always)] // in the loop
    pub(super) fn reach(&mut self, now: Time) {
        self.rounds = self.rounds.wrapping_add(1);
        if self.rounds.is_multiple_of(TOLD) {
            (self.reached)(now);
        }
    }

    /// The last event has been handled.
    pub(super) fn stop(&mut self) {
        self.taken = (self.clock)() - self.start;
    }

    /// How many seconds that took.
    pub fn seconds(&self) -> f64 {
        self.taken
    }
}

/// What is left when a run is over.
#[derive(Debug)]
pub struct Outcome {
    /// The network at the end, with everything it counted.
    pub network: Network,
    /// Units still on their way over a line, by circuit.
    pub on_lines: Vec<u64>,
    /// How much work the run was.
    pub work: Work,
    /// Every loss, if it was asked for, by time and port; what a port loses at one instant stays in order.
    pub losses: Vec<LossRecord>,
}

/// How much work a run was, warm-up included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Cells that lines have started to send.
    pub cell_hops: u64,
    /// Packets that lines have started to send.
    pub packet_hops: u64,
    /// Events that the kernel has handled.
    pub events: u64,
}

/// A loss, as the log has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossRecord {
    /// When.
    pub time: Time,
    /// At which port.
    pub port: u32,
    /// Circuit of the lost unit.
    pub vc: u32,
    /// Its frame.
    pub frame: u32,
    /// Its position in the frame.
    pub index: u16,
    /// Why.
    pub reason: Reason,
}
