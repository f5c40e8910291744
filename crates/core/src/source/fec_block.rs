//! # Source
//! Paper 004 (S. Chatterjee, W. Xiao), sections 3 and 5.1: bursty sources whose packets are grouped into blocks.
//!
//! # Idea
//! K packets of data are followed by h packets of parity. Parity comes on top of the data and so raises the load:
//!
//! > λ_eff = λ · (1 + h / K)
//!
//! # Parameters
//! `block` K (10 in the paper), `parity` h (1; 0 is a source without correction, the paper's model 1), `blocks` to send
//! (10; by default the source never stops), `mtu`: octets of every packet, IP header included (1500). Bursts as in
//! the source `on-off`, their length in packets of data. `peak` is the rate of data packets on the line, parity packets
//! and parity cells not counted. `parity_adds`: whether parity packets raise the peak rate, so that a burst lasts as
//! long as without them (the paper's formula, default), or lengthen the burst at the same peak rate.
//!
//! # Differences from the paper
//! Burst lengths and phases are unprinted; see the source `on-off`.
//!
//! # Complexity
//! Constant per packet.

use super::burst::{Added, BurstPattern, Bursts, Distribution, StartPhase};
use super::clock::UnitClock;
use super::{Source, Traffic, data_rate};
use crate::adaptation::coded::Code;
use crate::refused::{Refused, refuse};
use crate::rng::Stream;
use crate::section;
use crate::units::{Bytes, Rate, Span};

crate::choice! {
    /// What parity packets do to a burst.
    pub enum ParityAdds {
        /// More packets in the same time.
        Rate = "rate",
        /// A longer burst at the same rate.
        Time = "time",
    }
}

section! {
    /// A bursty source whose packets form blocks with parity.
    pub struct Params {
        /// Rate of data packets within a burst, headers and padding included, parity not.
        pub peak: Rate,
        /// Mean number of data packets in a burst.
        pub burst: Option<u32> = None,
        /// Mean length of a burst, instead of `burst`.
        pub on: Option<Span> = None,
        /// Share of time within bursts.
        pub activity: Option<f64> = None,
        /// Mean length of a silence, instead of `activity`.
        pub off: Option<Span> = None,
        /// How bursts and silences vary.
        pub distribution: Distribution = Distribution::Periodic,
        /// The state of the source when it starts.
        pub phase: StartPhase = StartPhase::Random,
        /// Data packets in a block: K.
        pub block: u32 = 10,
        /// Parity packets added to a block: h.
        pub parity: u32 = 1,
        /// Blocks after which the source stops; by default it never does.
        pub blocks: Option<u32> = None,
        /// Octets of every packet, IP header included.
        pub mtu: Bytes = Bytes(1500),
        /// What parity packets do to a burst.
        pub parity_adds: ParityAdds = ParityAdds::Rate,
    }
}

/// Kind of traffic, which decides the transports that can carry it.
pub const TRAFFIC: Traffic = Traffic::Blocks;

/// Greatest number of packets in a block: their positions are counted in sixteen bits.
const LONGEST: u64 = 65_535;

impl Source for Params {
    fn check(&self, headers: u32) -> Result<(), Refused> {
        self.pattern().check()?;
        if self.block == 0 {
            return refuse("block", "must be at least 1 packet");
        }
        if u64::from(self.block) + u64::from(self.parity) > LONGEST {
            return refuse(
                "parity",
                format!("must be smaller; a block has at most {LONGEST} packets, parity included"),
            );
        }
        if self.blocks == Some(0) {
            return refuse("blocks", "must be at least 1 block");
        }
        if self.mtu.0 <= u64::from(headers) {
            return refuse("mtu", format!("must be greater than the headers of {headers} bytes"));
        }
        let share = f64::from(self.block) / f64::from(self.block + self.parity);
        if self.parity_adds == ParityAdds::Time && self.activity.is_some_and(|activity| activity > share) {
            return refuse(
                "activity",
                format!("with their parity packets bursts fill the time above {share:.4}"),
            );
        }
        Ok(())
    }

    fn packet(&self, _: u32) -> Option<(u64, &'static str)> {
        Some((self.mtu.0, "source.mtu"))
    }

    fn peak(&self) -> Option<(&'static str, Rate)> {
        Some(("peak", self.peak))
    }

    fn mean_rate(&self, payload: f64, bits: u64) -> Option<f64> {
        Some(data_rate(self.pattern().mean_rate(bits), payload, bits))
    }

    fn bursts(&self) -> Option<(BurstPattern, Added)> {
        Some((self.pattern(), self.added()))
    }

    fn packets(&self) -> Option<u64> {
        Some(u64::from(self.blocks?) * u64::from(self.block))
    }

    fn code(&self) -> Option<Code> {
        let count = |n| u16::try_from(n).expect("a checked block counts its packets in sixteen bits");
        Some(Code { data: count(self.block), parity: count(self.parity) })
    }

    fn clock(&self, bits: u64, stream: &dyn Fn(&str) -> Stream) -> Option<UnitClock> {
        Some(UnitClock::Bursts(Bursts::new(&self.pattern(), bits, self.added(), stream("bursts"))))
    }
}

impl Params {
    fn pattern(&self) -> BurstPattern {
        let Params { peak, burst, on, activity, off, distribution, phase, .. } = *self;
        BurstPattern { peak, burst, on, activity, off, distribution, phase }
    }

    /// Return how parity packets change bursts.
    fn added(&self) -> Added {
        let closer = self.parity_adds == ParityAdds::Rate;
        Added { data: self.block, all: self.block + self.parity, closer }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::read::{Format, read};
    use crate::language::spec::read_section;

    fn params(more: &str) -> Params {
        let text = format!("peak = '100 Mb/s'\nburst = 50\n{more}");
        read_section(&read(&text, Format::Toml).unwrap(), "source").unwrap()
    }

    #[test]
    fn the_defaults_are_those_of_section_5_1() {
        let params = params("activity = 0.1395");
        assert_eq!((params.block, params.parity, params.mtu), (10, 1, Bytes(1500)));
        assert_eq!(params.added(), Added { data: 10, all: 11, closer: true });
        assert_eq!(params.check(28), Ok(()));
    }

    #[test]
    fn impossible_blocks_are_refused_by_their_key() {
        let key = |more: &str| params(more).check(28).unwrap_err().key;
        assert_eq!(key("activity = 0.1\nblock = 0"), Some("block"));
        assert_eq!(key("activity = 0.1\nparity = 65535"), Some("parity"));
        assert_eq!(key("activity = 0.1\nblocks = 0"), Some("blocks"));
        assert_eq!(key("activity = 0.1\nmtu = '28 bytes'"), Some("mtu"));
        assert_eq!(key("activity = 0.95\nparity_adds = 'time'"), Some("activity"));
        assert_eq!(params("activity = 0.95").check(28), Ok(()));
    }
}
