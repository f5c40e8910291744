//! # Source
//! The periodic source of N·D/D/1 analyses: J. W. Roberts, J. T. Virtamo, "The superposition of periodic cell
//! arrival streams in an ATM multiplexer", IEEE Trans. Communications 39(2), 1991.
//!
//! # Idea
//! One unit every period, exactly.
//!
//! # Parameters
//! `rate` on the line, every octet counted; over TCP, which cuts data into segments by itself, the rate of the data alone. `size`
//! of the payload of a datagram (single cells have a size of their own), or of what the application writes to TCP at a time. The
//! phase is the flow's start. Lengths that vary do not change the period, which is that of their mean.
//!
//! # Differences from the paper
//! None. The period is kept as an exact fraction, so that the rate does not drift.
//!
//! # Complexity
//! Constant per unit.

use super::clock::UnitClock;
use super::length::Length;
use super::{Source, Traffic, data_rate};
use crate::refused::Refused;
use crate::rng::Stream;
use crate::section;
use crate::units::{Bytes, Rate};

section! {
    /// A source that sends one unit every period.
    pub struct Params {
        /// Rate on the line, headers and padding included.
        pub rate: Rate,
        /// Data of one packet, or of one piece that the application writes to TCP: one length, `{ exponential = { mean, max } }` or
        /// `{ mix = [[length, weight], …] }`. A transport of single cells has 48 octets whatever this says.
        pub size: Length = Length::Fixed(Bytes(1460)),
    }
}

/// Kind of traffic, which decides the transports that can carry it.
pub const TRAFFIC: Traffic = Traffic::Pieces;

impl Source for Params {
    fn check(&self, _: u32) -> Result<(), Refused> {
        self.size.check()
    }

    fn length(&self) -> Option<&Length> {
        Some(&self.size)
    }

    fn peak(&self) -> Option<(&'static str, Rate)> {
        Some(("rate", self.rate))
    }

    fn mean_rate(&self, payload: f64, bits: u64) -> Option<f64> {
        Some(data_rate(self.rate.as_f64(), payload, bits))
    }

    fn clock(&self, bits: u64, _: &dyn Fn(&str) -> Stream) -> Option<UnitClock> {
        Some(UnitClock::periodic(bits, self.rate))
    }
}
