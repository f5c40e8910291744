//! # Source
//! The Poisson stream of M/D/1, as in L. Kleinrock, "Queueing Systems", vol. 1, 1975, section 2.4.
//!
//! # Idea
//! Independent, exponentially distributed gaps between units.
//!
//! # Parameters
//! Mean `rate` on the line, every octet counted; `size` of the payload of a datagram.
//!
//! # Differences from the paper
//! Gaps are rounded to whole picoseconds.
//!
//! # Complexity
//! Constant per unit: one logarithm.

use super::clock::Clock;
use super::{Source, Traffic, check_datagram, data_rate, datagram};
use crate::refused::Refused;
use crate::rng::Stream;
use crate::section;
use crate::units::{Bytes, Rate};

section! {
    /// A source whose units form a Poisson stream.
    pub struct Params {
        /// Mean rate on the line, headers and padding included.
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

    fn clock(&self, bits: u64, stream: &dyn Fn(&str) -> Stream) -> Option<Clock> {
        Some(Clock::poisson(bits, self.rate, stream("gaps")))
    }

    fn is_random(&self) -> bool {
        true
    }
}
