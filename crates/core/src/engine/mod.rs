//! Engines: how a run gets from its first instant to its last.

pub mod reference;

mod cells;

mod packets;

mod exact;

mod timers;

pub mod floor;

use crate::buffer::verdict::Reason;
use crate::network::Network;
use crate::network::circuit::Circuit;
use crate::police;
use crate::scenario::model::{Engine, Line, Scenario};
use crate::unit::Unit;
use crate::units::{Span, Time};

/// Run a scenario on the engine that it names; with `log` every loss is recorded.
pub fn run(scenario: &Scenario, log: bool) -> Outcome {
    run_timed(scenario, log, &mut Stopwatch::default())
}

/// The same, with the event loop timed.
pub fn run_timed(scenario: &Scenario, log: bool, watch: &mut Stopwatch<'_>) -> Outcome {
    let mut outcome = match chosen(scenario).0 {
        Engine::Fast if packets::knows(scenario) => packets::run(scenario, log, watch),
        Engine::Fast => cells::run(scenario, log, watch),
        Engine::Reference => reference::run(scenario, log, watch),
    };
    outcome.losses.sort_by_key(|loss| (loss.time, loss.port)); // stable: each port keeps its order
    outcome
}

/// The engine on which a scenario runs and, if that is not the one it names, the reason.
pub fn chosen(scenario: &Scenario) -> (Engine, Option<&'static str>) {
    match scenario.engine {
        Engine::Fast if scenario.lines.iter().any(|line| line.port.credit.is_some()) => {
            (Engine::Reference, Some("with credits a port depends on its neighbours at every cell"))
        }
        engine => (engine, None),
    }
}

/// What times the event loop of a run, by the caller's clock, and tells the caller how far the run has come: the core has
/// no clock and no threads.
pub struct Stopwatch<'a> {
    clock: &'a dyn Fn() -> f64,
    reached: &'a dyn Fn(Time),
    /// How often the loop went round since the start.
    rounds: u32,
    start: f64,
    taken: f64,
}

/// The caller is told of one in so many rounds of the event loop, which take a millisecond or less.
const TOLD: u32 = 256;

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
    fn start(&mut self) {
        self.start = (self.clock)();
    }

    /// The event loop goes round, and has come to this instant of the run.
    #[inline(always)] // in the loop
    fn reach(&mut self, now: Time) {
        self.rounds = self.rounds.wrapping_add(1);
        if self.rounds.is_multiple_of(TOLD) {
            (self.reached)(now);
        }
    }

    /// The last event has been handled.
    fn stop(&mut self) {
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

/// Ports whose occupancy is sampled: those with a limited buffer.
///
/// Samples are taken at whole multiples of the scenario's interval, before anything that happens at that instant.
fn sampled_ports(scenario: &Scenario) -> Vec<usize> {
    (0..scenario.lines.len()).filter(|&port| scenario.lines[port].is_sampled()).collect()
}

/// Time from the end of a unit's transmission to its arrival at the next port or host.
fn latency(scenario: &Scenario, line: &Line) -> Span {
    line.delay + scenario.nodes[line.to].latency
}

/// For every port whether a circuit is policed when it arrives there.
fn policed_ports(scenario: &Scenario) -> Vec<bool> {
    let mut policed = vec![false; scenario.lines.len()];
    for flow in scenario.flows.iter().filter(|flow| flow.police.is_some()) {
        if let Some(&port) = scenario.vcs[flow.vc].path.get(usize::from(police::HOP)) {
            policed[port] = true;
        }
    }
    policed
}

/// The circuit of a queued unit, numbered within the port where it waits.
fn number_at_port(circuits: &[Circuit]) -> impl Fn(&Unit) -> usize + '_ {
    |unit| {
        let hop = circuits[unit.vc as usize].hop(unit.hop);
        hop.expect("a queued unit has a port").vc as usize
    }
}
