//! A token bucket that delays: it limits the rate of a line, except for bursts.
//!
//! Tokens for octets arrive at `rate` and fill a bucket of `burst`, which is full at the start. A unit starts when
//! the bucket has as many tokens as the unit has octets, and removes these tokens. So in any time t at most burst +
//! rate · t octets are sent. Units wait in order, and are lost only if the buffer has no room. As with the token
//! bucket filter of Linux (tc-tbf(8)), a unit waits for tokens after the port has chosen it and its policies have
//! judged it.
//!
//! Times are exact: the bucket stores when it will be full, in picoseconds times the rate.

use super::{Build, Gate, Site};
use crate::buffer::size::BufferSize;
use crate::language::spec::Nested;
use crate::refused::{Refused, refuse, refuse_if};
use crate::section;
use crate::unit::Unit;
use crate::units::ids::PortVc;
use crate::units::{CELL_BYTES, OCTET, Rate, Time};

section! {
    /// A token bucket that delays what a port sends.
    pub struct Params {
        /// Rate of the octets on the line, cell headers included.
        pub rate: Rate,
        /// Octets that may go out at the rate of the line after a time without traffic; at least the largest packet.
        pub burst: BufferSize,
    }
}

/// The bucket of a line.
#[derive(Clone, Debug)]
pub struct Shaper {
    rate: u128,
    /// Least octets of a unit on the line.
    minimum: u16,
    /// Tokens of the full bucket; next, the time at which the bucket will be full. Both are in picoseconds times the
    /// rate.
    depth: u128,
    full: u128,
}

impl Params {
    /// Return the octets of the full bucket.
    fn octets(&self) -> u64 {
        match self.burst {
            BufferSize::Cells(cells) => cells.saturating_mul(CELL_BYTES),
            BufferSize::Bytes(bytes) => bytes,
            BufferSize::MemoryCells(cells, octets) => cells.saturating_mul(octets.into()),
            BufferSize::Unlimited | BufferSize::Packets(_) => 0,
        }
    }

    /// Refuse a bucket through which units of up to `largest` octets cannot pass.
    pub fn check(&self, largest: u64) -> Result<(), Refused> {
        refuse_if(self.rate == Rate(0), "rate", "must be greater than 0")?;
        if let BufferSize::Unlimited | BufferSize::Packets(_) = self.burst {
            return refuse("burst", "must be in bytes or cells, as in \"15 kB\" or \"5 cells\"");
        }
        let octets = self.octets();
        let why = format!("must be at least {largest} bytes, the largest packet on this line");
        refuse_if(octets < largest, "burst", why)
    }
}

impl Shaper {
    /// Build the full bucket of a line.
    pub fn new(params: &Params) -> Shaper {
        let (rate, depth) = (u128::from(params.rate.0), OCTET * u128::from(params.octets()));
        Shaper { rate, minimum: 0, depth, full: 0 }
    }

    /// Remove the tokens for a unit of `bytes` octets that is ready at `now`; returns when the unit starts.
    fn start(&mut self, now: Time, bytes: u16) -> Time {
        let taken = OCTET * u128::from(bytes);
        // the bucket keeps the exact time, although a unit starts at a whole picosecond
        let start = (u128::from(now.0) * self.rate).max((self.full + taken).saturating_sub(self.depth));
        self.full = self.full.max(start) + taken;
        Time(start.div_ceil(self.rate) as u64)
    }
}

impl Build for Shaper {
    fn build(site: &Site<'_>) -> Option<Self> {
        let Nested(params) = site.keys.shaper.as_ref()?;
        Some(Shaper { minimum: site.minimum, ..Shaper::new(params) })
    }
}

impl Gate for Shaper {
    fn starts(&mut self, ready: Time, unit: &Unit, _vc: PortVc) -> Time {
        self.start(ready, unit.bytes.max(self.minimum))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

    fn params(rate: u64, burst: u64) -> Params {
        Params { rate: Rate(rate), burst: BufferSize::Bytes(burst) }
    }

    /// Return the starts of units that are ready at these times.
    fn starts(shaper: &mut Shaper, bytes: u16, times: &[u64]) -> Vec<u64> {
        times.iter().map(|&time| shaper.start(Time(time), bytes).0).collect()
    }

    #[test]
    fn a_burst_goes_out_at_once_and_what_follows_at_the_rate() {
        let mut shaper = Shaper::new(&params(8_000_000_000_000, 3)); // an octet each picosecond
        assert_eq!(starts(&mut shaper, 1, &[10; 6]), [10, 10, 10, 11, 12, 13]);
    }

    #[test]
    fn tokens_fill_the_bucket_again_but_no_further() {
        let mut shaper = Shaper::new(&params(8_000_000_000_000, 3));
        starts(&mut shaper, 3, &[10]);
        assert_eq!(starts(&mut shaper, 1, &[12, 12, 12]), [12, 12, 13]);
        assert_eq!(starts(&mut shaper, 1, &[99; 4]), [99, 99, 99, 100]);
    }

    #[test]
    fn a_rate_that_is_no_whole_number_of_picoseconds_is_exact_in_the_long_run() {
        let mut shaper = Shaper::new(&params(3_000_000, 53));
        let second = 1_000_000_000_000;
        (0..3_000_000).for_each(|_| _ = shaper.start(Time::ZERO, 53));
        assert_eq!(
            shaper.start(Time::ZERO, 53),
            Time(424 * second),
            "3 000 000 cells of 424 bits take 424 s"
        );
        assert_eq!(shaper.start(Time::ZERO + Span::secs(424), 53), Time((424 * second) + 141_333_334));
    }

    #[test]
    fn a_bucket_that_is_smaller_than_a_packet_is_refused() {
        let why = params(1000, 1499).check(1500).unwrap_err().to_string();
        assert_eq!(why, "burst: must be at least 1500 bytes, the largest packet on this line");
        assert_eq!(params(1000, 1500).check(1500), Ok(()));
        let why = Params { burst: BufferSize::Packets(2), ..params(1, 1) }.check(1).unwrap_err().to_string();
        assert!(why.starts_with("burst: must be in bytes or cells"), "{why}");
        assert!(params(0, 1500).check(1500).is_err());
    }
}
