//! The clocks of sources.

use crate::rng::Stream;
use crate::scenario::model::{self, Scenario};
use crate::source::Source;
use crate::source::clock::UnitClock;

/// Build the clock of a flow's source, whose packets have `bits` bits on the line.
pub(super) fn clock(scenario: &Scenario, spec: &model::Flow, bits: u64) -> UnitClock {
    let stream = |name: &str| Stream::new(scenario.seed, format_args!("flow.{}.{name}", spec.name));
    spec.source.clock(bits, &stream).expect("a checked flow of pieces or blocks has a source with a clock")
}
