//! # Source
//! The periodic source of N·D/D/1 analyses: J. W. Roberts, J. T. Virtamo, "The superposition of periodic cell
//! arrival streams in an ATM multiplexer", IEEE Trans. Communications 39(2), 1991.
//!
//! # Idea
//! One unit every period, exactly.
//!
//! # Parameters
//! `rate` on the line, every octet counted; `size` of the payload of a datagram (single cells have a size of their
//! own). The phase is the flow's start.
//!
//! # Differences from the paper
//! None. The period is kept as an exact fraction, so that the rate does not drift.
//!
//! # Complexity
//! Constant per unit.

use super::clock::Clock;
use super::{Source, Traffic, check_datagram, data_rate, datagram};
use crate::refused::Refused;
use crate::rng::Stream;
use crate::section;
use crate::units::{Bytes, Rate};

section! {
    /// A source that sends one unit every period.
    pub struct Params {
        /// Rate on the line, headers and padding included.
        pub rate: Rate,
        /// Payload of one datagram; a transport of single cells has 48 octets whatever this says.
        pub size: Bytes = Bytes(1460),
    }
}

/// Which transports can carry it.
pub const TRAFFIC: Traffic = Traffic::Datagrams;

impl Source for Params {
    fn check(&self, _: u32) -> Result<(), Refused> {
        check_datagram(self.size)
    }

    fn packet(&self, headers: u32) -> Option<(u64, &'static str)> {
        Some(datagram(self.size, headers))
    }

    fn peak(&self) -> Option<(&'static str, Rate)> {
        Some(("rate", self.rate))
    }

    fn mean_rate(&self, payload: f64, bits: u64) -> Option<f64> {
        Some(data_rate(self.rate.as_f64(), payload, bits))
    }

    fn clock(&self, bits: u64, _: &dyn Fn(&str) -> Stream) -> Option<Clock> {
        Some(Clock::periodic(bits, self.rate))
    }
}
