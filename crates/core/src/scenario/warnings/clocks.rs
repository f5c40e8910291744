//! Clocks and samples so frequent that they dominate the run time.

use super::of_ports;
use crate::buffer::admission::Admission;
use crate::buffer::context::Context;
use crate::buffer::pool::Pool;
use crate::scenario::contract::Passing;
use crate::scenario::model::{Line, Scenario};
use crate::scenario::warning::Warning;
use crate::units::{Span, Time};

const CODE: &str = "short-clock";

/// Run time in seconds below which there is no warning.
const PATIENCE: f64 = 10.0;

/// Measured cost in seconds, at 2 to 3 GHz: of one tick for each circuit; next, of one sample for each port.
const TICK: f64 = 30e-9;
const SAMPLE: f64 = 30e-9;

/// Warn of policies whose clock ticks so often that it dominates the run time.
pub(super) fn ticks(scenario: &Scenario, passing: &Passing) -> Option<Warning> {
    of_ports(CODE, scenario, passing, |line, context| {
        let period = period(line, context)?;
        let cost = TICK * context.vcs() as f64;
        let (ticks, time) = costly(scenario.duration, period, cost)?;
        let name = line.port.admission.name();
        Some(format!(
            "the clock of {name} ticks every {period}, {ticks} times: about {time}. Give it a longer period"
        ))
    })
}

/// Warn that occupancies are sampled so often that it dominates the run time.
pub(super) fn samples(scenario: &Scenario) -> Option<Warning> {
    let ports = scenario.lines.iter().filter(|line| line.is_sampled()).count();
    let (samples, time) = costly(scenario.duration, scenario.sample, SAMPLE * ports as f64)?;
    let message = format!(
        "the occupancy of buffers is sampled every {}, {samples} times: about {time}. Make sample longer",
        scenario.sample
    );
    Some(Warning { code: CODE, message })
}

/// Return the time from one tick of a port's policy to the next, if it has a clock.
fn period(line: &Line, context: &Context<'_>) -> Option<Span> {
    let mut policy = line.port.admission.build(context).ok()?;
    let next = policy.tick(Time::ZERO, &Pool::new(context.capacity, context.vcs()), Span::ZERO)?;
    Some(next.since(Time::ZERO))
}

/// Return the number of events and their total time at `cost` seconds each, if this time deserves a warning.
fn costly(duration: Span, period: Span, cost: f64) -> Option<(String, String)> {
    let times = duration.0 as f64 / period.0 as f64;
    let seconds = times * cost;
    (seconds > PATIENCE).then(|| (format!("{times:.1e}"), rough(seconds)))
}

/// Return a long time to two digits.
fn rough(seconds: f64) -> String {
    let scales = [(365.0 * 86_400.0, "years"), (86_400.0, "days"), (3600.0, "hours"), (60.0, "minutes")];
    let (scale, unit) =
        scales.into_iter().find(|(scale, _)| seconds >= 2.0 * scale).unwrap_or((1.0, "seconds"));
    let number = seconds / scale;
    if number < 10.0 { format!("{number:.1} {unit}") } else { format!("{number:.0} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::checked;

    fn warned(sets: &[&str]) -> Vec<String> {
        let example = include_str!("../../../../../scenarios/wfepd-example.toml");
        let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
        let warnings = checked(example, "x.toml", &sets).unwrap().warnings();
        warnings.into_iter().filter(|warning| warning.code == CODE).map(|warning| warning.message).collect()
    }

    #[test]
    fn a_clock_of_a_picosecond_is_reported_with_its_cost() {
        let warned = warned(&["port.bottleneck.admission.interval=1 ps", "duration=24 ms"]);
        assert_eq!(warned.len(), 1);
        let expected = "port \"bottleneck\": the clock of wfepd ticks every 1 ps, 2.4e10 times: about ";
        assert!(warned[0].starts_with(expected), "{warned:?}");
        assert!(
            warned[0].ends_with("hours. Give it a longer period") || warned[0].contains("minutes"),
            "{warned:?}"
        );
    }

    #[test]
    fn usual_clocks_are_not() {
        assert!(warned(&[]).is_empty());
        assert!(warned(&["port.bottleneck.admission.interval=100 us", "duration=100 s"]).is_empty());
    }

    #[test]
    fn samples_are_as_well() {
        let warned = warned(&["sample=1 ps", "measure={}"]);
        assert!(
            warned[0].starts_with("the occupancy of buffers is sampled every 1 ps, 1.2e10 times"),
            "{warned:?}"
        );
    }

    #[test]
    fn long_times_are_shown_in_their_unit() {
        for (seconds, warned) in [
            (12.0, "12 seconds"),
            (150.0, "2.5 minutes"),
            (8000.0, "2.2 hours"),
            (1e6, "12 days"),
            (1e9, "32 years"),
        ] {
            assert_eq!(rough(seconds), warned);
        }
    }
}
