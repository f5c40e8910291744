//! # Source
//! The Poisson stream of M/D/1, as in L. Kleinrock, "Queueing Systems", vol. 1, 1975, section 2.4.
//!
//! # Idea
//! Independent, exponentially distributed gaps between units.
//!
//! # Parameters
//! Mean `rate` on the line, every octet counted; over TCP, which cuts data into segments by itself, the rate of the data alone. `size`
//! of the payload of a datagram, or of what the application writes to TCP at a time. With exponential lengths the port is M/M/1, with
//! others M/G/1.
//!
//! # Differences from the paper
//! Gaps are rounded to whole picoseconds.
//!
//! # Complexity
//! Constant per unit: one logarithm.

use super::clock::UnitClock;
use super::length::Length;
use super::{Source, Traffic, data_rate};
use crate::refused::Refused;
use crate::rng::Stream;
use crate::section;
use crate::units::{Bytes, Rate};

section! {
    /// A source whose units form a Poisson stream.
    pub struct Params {
        /// Mean rate on the line, headers and padding included.
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

    fn clock(&self, bits: u64, stream: &dyn Fn(&str) -> Stream) -> Option<UnitClock> {
        Some(UnitClock::poisson(bits, self.rate, stream("gaps")))
    }

    fn is_random(&self) -> bool {
        true
    }
}
