//! A run in steps; the caller can inspect it between two steps.
//!
//! The stepper uses the reference engine, because only there the whole network is at one instant. The fast engine
//! passes trains and has a local clock at every port; it adds its counts to the ports only at the end of a run.
//!
//! # What it assumes
//! Time only goes forward; to go back, keep a clone.
//!
//! # Why that is exact
//! [`run`] is a stepper that advances once. The engine handles the same events in the same order, however often it
//! stops. At a stop every port advances to that instant, as its next event would make it do.

use std::fmt;

use super::super::outcome::{Outcome, Stopwatch};
use super::{Engine, Offered};
use crate::network::Network;
use crate::scenario::model::Scenario;
use crate::trace::Tracer;
use crate::units::Time;
use crate::units::ids::{IdVec, LineId};

/// A run up to some instant. A clone continues exactly as the original does.
#[derive(Clone)]
pub struct Stepper<T> {
    pub(in crate::engine) engine: Engine<T>,
    now: Time,
    /// The end of the warm-up; `None` once it has passed.
    warmup: Option<Time>,
    end: Time,
}

impl<T> fmt::Debug for Stepper<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stepper").field("now", &self.now).field("end", &self.end).finish_non_exhaustive()
    }
}

impl<T: Tracer> Stepper<T> {
    /// Prepare a run at its first instant; with `log` every loss is recorded, and `tracer` receives every unit at
    /// every port.
    pub fn new(scenario: &Scenario, log: bool, tracer: T) -> Stepper<T> {
        Stepper {
            engine: Engine::new(scenario, log, tracer),
            now: Time::ZERO,
            warmup: Some(Time::ZERO + scenario.warmup),
            end: Time::ZERO + scenario.duration,
        }
    }

    /// Handle all events before this instant, or before the end of the run if that comes first.
    pub fn advance(&mut self, until: Time) {
        self.advance_watched(until, &mut Stopwatch::default());
    }

    /// Advance and report the progress to the caller.
    pub(super) fn advance_watched(&mut self, until: Time, watch: &mut Stopwatch<'_>) {
        let until = until.min(self.end);
        if let Some(warmup) = self.warmup.take_if(|warmup| *warmup <= until) {
            self.engine.run_until(warmup, watch);
            self.engine.network.reset_counters(warmup);
        }
        self.engine.run_until(until, watch);
        self.now = self.now.max(until);
    }

    /// Handle all events up to this instant, those at it included.
    pub fn pass(&mut self, instant: Time) {
        self.advance(super::after(instant));
    }

    /// Let the time pass to this instant; returns whether it is not before an earlier one. What is offered at one instant
    /// comes after all that has been handled then.
    pub(in crate::engine) fn goes_to(&mut self, instant: Time) -> bool {
        let is_later = super::after(instant) >= self.now;
        if is_later {
            self.pass(instant);
        }
        is_later
    }

    /// Return the next instant at which something happens in the run, if there is one before its end: then a host may
    /// receive a packet, or a port lose one. It may also be the departure of a unit, or a clock.
    pub fn next(&self) -> Option<Time> {
        self.engine.next().filter(|next| *next < self.end)
    }

    /// Handle events one by one before `until`, or before the end of the run, as long as `goes_on` allows it; then
    /// [`now`](Stepper::now) is the last instant that was reached for certain.
    pub fn advance_while(&mut self, until: Time, goes_on: impl Fn(&T) -> bool) {
        let until = until.min(self.end);
        if let Some(warmup) = self.warmup.filter(|warmup| *warmup <= until) {
            self.engine.run_while(warmup, &goes_on);
            if !goes_on(&self.engine.tracer) {
                return;
            }
            self.advance(warmup);
        }
        self.engine.run_while(until, &goes_on);
        if goes_on(&self.engine.tracer) {
            self.now = self.now.max(until);
        }
    }

    /// Let these ports (`true`, by number) have recorded units from now on instead of those of the network, to the end
    /// of the run or as long as `goes_on` allows it. The run cannot continue otherwise.
    pub fn replay(&mut self, ports: &IdVec<LineId, bool>, units: &[Offered], goes_on: impl Fn(&T) -> bool) {
        self.engine.run_held(ports, units, self.end, goes_on);
    }

    /// Return the instant before which all events have been handled.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Return the end of the run.
    pub fn end(&self) -> Time {
        self.end
    }

    /// Return the network in its present state.
    pub fn network(&self) -> &Network {
        &self.engine.network
    }

    /// Return the tracer.
    pub fn tracer(&self) -> &T {
        &self.engine.tracer
    }

    /// Return the tracer for writing, so that the caller can remove its records.
    pub fn tracer_mut(&mut self) -> &mut T {
        &mut self.engine.tracer
    }

    /// Advance to the end of the run; returns the outcome and the tracer.
    pub fn finish(mut self) -> (Outcome, T) {
        self.advance(self.end);
        self.engine.network.close_counters(self.end);
        let (mut outcome, tracer) = self.engine.outcome();
        outcome.losses.sort_by_key(|loss| (loss.time, loss.port)); // stable: each port keeps its order
        (outcome, tracer)
    }
}

/// Run a scenario from its first instant to its last; with `log` every loss is recorded. `watch` times the
/// event loop.
pub fn run(scenario: &Scenario, log: bool, watch: &mut Stopwatch<'_>) -> Outcome {
    run_traced(scenario, log, (), watch).0
}

/// Run a scenario as [`run`] does, and notify `tracer` of every unit at every port.
pub fn run_traced<T: Tracer>(
    scenario: &Scenario,
    log: bool,
    tracer: T,
    watch: &mut Stopwatch<'_>,
) -> (Outcome, T) {
    let mut stepper = Stepper::new(scenario, log, tracer);
    watch.start();
    stepper.advance_watched(Time::ZERO + scenario.duration, watch);
    watch.stop();
    stepper.finish()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::engine;
    use crate::report::report;
    use crate::rng::Stream;
    use crate::scenario::load;
    use crate::units::Span;

    const LAN: &str = include_str!("../../../../../scenarios/lan.toml");

    /// Names and texts of all scenarios in the repository's folder; a sweep has none of its own.
    fn shipped() -> Vec<(String, String)> {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
        let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let files = paths.filter(|path| path.extension().is_some_and(|end| end == "toml"));
        let read = |path: PathBuf| (path.display().to_string(), std::fs::read_to_string(path).unwrap());
        files.map(read).filter(|(_, text)| !text.contains("\nscenario = ")).collect()
    }

    fn scenario(text: &str) -> Scenario {
        load(text, "test.toml", &["duration=120 ms", "warmup=50 ms"].map(String::from)).unwrap()
    }

    /// Advance in steps of random length; one step of ten is thrown away, and a clone from before it continues.
    fn stepped(scenario: &Scenario) -> Outcome {
        let mut stepper = Stepper::new(scenario, true, ());
        let mut lengths = Stream::new(7, format_args!("steps"));
        while stepper.now() < stepper.end() {
            let kept = stepper.clone();
            stepper.advance(stepper.now() + Span(1 + lengths.up_to(Span::millis(1).0)));
            if lengths.up_to(9) == 0 {
                stepper = kept;
            }
        }
        stepper.finish().0
    }

    #[test]
    fn steps_of_any_length_give_the_bytes_of_a_run_for_every_shipped_scenario() {
        let scenarios = shipped();
        assert!(scenarios.len() >= 13);
        for (name, text) in &scenarios {
            let scenario = scenario(text);
            let mut whole = run(&scenario, true, &mut Stopwatch::default());
            whole.losses.sort_by_key(|loss| (loss.time, loss.port));
            let steps = stepped(&scenario);
            assert_eq!(steps.work, whole.work, "{name}");
            assert_eq!(steps.losses, whole.losses, "{name}");
            let bytes = |outcome| report(&scenario, outcome, None).to_string();
            assert_eq!(bytes(&steps), bytes(&whole), "{name}");
        }
    }

    #[test]
    fn a_stepper_of_a_fast_scenario_gives_the_figures_of_the_fast_engine() {
        let scenario = scenario(LAN);
        let (fast, steps) = (engine::run(&scenario, true), stepped(&scenario));
        assert_eq!(steps.losses, fast.losses);
        let ports = |outcome| report(&scenario, outcome, None)["ports"].to_string();
        assert_eq!(ports(&steps), ports(&fast));
    }

    #[test]
    fn time_does_not_go_back_and_ends_with_the_run() {
        let mut stepper = Stepper::new(&scenario(LAN), false, ());
        stepper.advance(Time::ZERO + Span::millis(3));
        stepper.advance(Time::ZERO + Span::millis(2));
        assert_eq!(stepper.now(), Time::ZERO + Span::millis(3));
        stepper.advance(Time::NEVER);
        assert_eq!(stepper.now(), Time::ZERO + Span::millis(120));
    }
}
