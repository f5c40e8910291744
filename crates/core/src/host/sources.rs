//! The clocks of sources, and the lengths of what they send.

use crate::rng::Stream;
use crate::scenario::model::{self, Scenario};
use crate::source::Source;
use crate::source::clock::{Ticks, UnitClock};
use crate::source::length::PacketLengths;

/// Build the clock of a flow's source, whose packets have `bits` bits on the line.
pub(super) fn clock(scenario: &Scenario, spec: &model::Flow, bits: u64) -> UnitClock {
    let stream = |name: &str| Stream::new(scenario.seed, format_args!("flow.{}.{name}", spec.name));
    spec.source.clock(bits, &stream).expect("a checked flow of pieces or blocks has a source with a clock")
}

/// Return the instants at which a source sends, if its mean packet has `bits` bits.
pub(super) fn ticks(scenario: &Scenario, spec: &model::Flow, bits: u64) -> Ticks {
    Ticks::new(clock(scenario, spec, bits), spec.source.packets(), spec.stops_at())
}

/// Return the packet lengths of a flow whose source chooses them.
pub(super) fn lengths(scenario: &Scenario, spec: &model::Flow, headers: u32) -> PacketLengths {
    let length = spec.source.length().expect("a source by time has lengths");
    length.draws(headers, Stream::new(scenario.seed, format_args!("flow.{}.sizes", spec.name)))
}
