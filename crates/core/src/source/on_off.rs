//! # Source
//! Paper 004 (S. Chatterjee, W. Xiao), section 5.1: bursty sources with a peak rate, a burst size and an activity ratio;
//! the bursty UDP sources of paper 002, section VI.
//!
//! # Idea
//! Packets back to back at the peak rate during a burst, then silence.
//!
//! # Parameters
//! `peak`: rate within a burst, every octet on the line counted. The length of bursts as a number of packets (`burst`)
//! or a time (`on`), the silence by the share of time within bursts (`activity`, the paper's a) or as a time (`off`).
//! `distribution`: `periodic` (the paper's "on/off (periodic) cycle") or `exponential`. `phase`: whether the source
//! begins its cycle at an instant of its own (`random`) or with all others (`aligned`). `total` packets after which the source stops.
//! `size` of the payload of a datagram, or of what the application writes to TCP at a time; over TCP rates are those of the data alone.
//! Within a burst packets are spaced by the time that their mean length takes at the peak rate.
//!
//! # Differences from the paper
//! Papers 002 and 004 print only the load, and do not mention phases.
//!
//! # Complexity
//! Constant per packet.

use super::burst::{Added, BurstPattern, Bursts, Distribution, StartPhase};
use super::clock::UnitClock;
use super::length::Length;
use super::{Source, Traffic, data_rate};
use crate::refused::{Refused, refuse_if};
use crate::rng::Stream;
use crate::section;
use crate::units::{Bytes, Rate, Span};

section! {
    /// A bursty source.
    pub struct Params {
        /// Rate within a burst, headers and padding included.
        pub peak: Rate,
        /// Mean number of packets in a burst.
        pub burst: Option<u32> = None,
        /// Mean length of a burst, instead of `burst`.
        pub on: Option<Span> = None,
        /// Share of time within bursts.
        pub activity: Option<f64> = None,
        /// Mean length of a silence, instead of `activity`.
        pub off: Option<Span> = None,
        /// How bursts and silences vary.
        pub distribution: Distribution = Distribution::Exponential,
        /// The state of the source when it starts.
        pub phase: StartPhase = StartPhase::Random,
        /// Packets after which the source stops; by default it never does.
        pub total: Option<u64> = None,
        /// Data of one packet, or of one piece that the application writes to TCP: one length, `{ exponential = { mean, max } }` or
        /// `{ mix = [[length, weight], …] }`. A transport of single cells has 48 octets whatever this says.
        pub size: Length = Length::Fixed(Bytes(1460)),
    }
}

/// Kind of traffic, which decides the transports that can carry it.
pub const TRAFFIC: Traffic = Traffic::Pieces;

impl Source for Params {
    fn check(&self, _: u32) -> Result<(), Refused> {
        refuse_if(self.total == Some(0), "total", "must be at least 1 packet")?;
        self.pattern().check()?;
        self.size.check()
    }

    fn length(&self) -> Option<&Length> {
        Some(&self.size)
    }

    fn peak(&self) -> Option<(&'static str, Rate)> {
        Some(("peak", self.peak))
    }

    fn mean_rate(&self, payload: f64, bits: u64) -> Option<f64> {
        Some(data_rate(self.pattern().mean_rate(bits), payload, bits))
    }

    fn bursts(&self) -> Option<(BurstPattern, Added)> {
        Some((self.pattern(), Added::NOTHING))
    }

    fn packets(&self) -> Option<u64> {
        self.total
    }

    fn clock(&self, bits: u64, stream: &dyn Fn(&str) -> Stream) -> Option<UnitClock> {
        Some(UnitClock::Bursts(Bursts::new(&self.pattern(), bits, Added::NOTHING, stream("bursts"))))
    }

    fn is_random(&self) -> bool {
        true
    }
}

impl Params {
    fn pattern(&self) -> BurstPattern {
        let Params { peak, burst, on, activity, off, distribution, phase, .. } = *self;
        BurstPattern { peak, burst, on, activity, off, distribution, phase }
    }
}
