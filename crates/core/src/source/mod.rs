//! What applications want to send, and when.
//!
//! A source that fills a transport (`greedy`, `file`) is driven by the transport's progress; a source that clocks
//! its own units (`cbr`, `poisson`, `on-off`, `fec-block`) is driven by time. Rates count every octet on the line,
//! headers and padding included, so that a load is simply the sum of rates over the rate of the line.

pub mod clock;

pub mod burst;

use crate::refused::{Refused, refuse};
use crate::registry;
use crate::units::{Bytes, Rate};

registry! {
    /// A source as a scenario asks for it.
    "source" by "kind" {
        Greedy = "greedy" in greedy,
        File = "file" in file,
        Cbr = "cbr" in cbr,
        Poisson = "poisson" in poisson,
        OnOff = "on-off" in on_off,
        FecBlock = "fec-block" in fec_block,
    }
}

impl Spec {
    /// Payload of a datagram, if the source cuts its data into datagrams.
    pub fn datagram(&self) -> Option<Bytes> {
        match self {
            Spec::Cbr(cbr) => Some(cbr.size),
            Spec::Poisson(poisson) => Some(poisson.size),
            Spec::OnOff(on_off) => Some(on_off.size),
            Spec::Greedy(_) | Spec::File(_) | Spec::FecBlock(_) => None,
        }
    }

    /// The rate on the line that the source states, if it states one, and the key that does.
    pub fn rate(&self) -> Option<(&'static str, Rate)> {
        match self {
            Spec::Cbr(cbr) => Some(("rate", cbr.rate)),
            Spec::Poisson(poisson) => Some(("rate", poisson.rate)),
            Spec::OnOff(on_off) => Some(("peak", on_off.peak)),
            Spec::FecBlock(blocks) => Some(("peak", blocks.peak)),
            Spec::Greedy(_) | Spec::File(_) => None,
        }
    }

    /// Bits of data per second that the source wants to send by itself, if there is a limit to it. They come in packets
    /// of `payload` octets, each of which is `bits` bits on the line.
    pub fn offered(&self, payload: f64, bits: u64) -> Option<f64> {
        let on_the_line = match self {
            Spec::Greedy(_) => return None,
            Spec::File(file) => return file.rate(),
            Spec::Cbr(cbr) => cbr.rate.as_f64(),
            Spec::Poisson(poisson) => poisson.rate.as_f64(),
            Spec::OnOff(on_off) => on_off.peak.as_f64() * on_off.pattern().activity(bits),
            Spec::FecBlock(blocks) => blocks.peak.as_f64() * blocks.pattern().activity(bits),
        };
        Some(on_the_line * 8.0 * payload / bits as f64)
    }

    /// Packets with data after which the source stops, if it does.
    pub fn packets(&self) -> Option<u64> {
        match self {
            Spec::OnOff(on_off) => on_off.total,
            Spec::FecBlock(blocks) => Some(u64::from(blocks.blocks?) * u64::from(blocks.block)),
            _ => None,
        }
    }

    /// Packets sent for every packet with data: 1 + h / K for a source that adds parity.
    pub fn redundancy(&self) -> f64 {
        match self {
            Spec::FecBlock(blocks) => f64::from(blocks.block + blocks.parity) / f64::from(blocks.block),
            _ => 1.0,
        }
    }

    /// Refuse parameters that cannot work; packets of blocks begin with so many octets of `headers`.
    pub fn check(&self, headers: u32) -> Result<(), Refused> {
        match self {
            Spec::File(file) => file.check(),
            Spec::OnOff(on_off) if on_off.total == Some(0) => {
                refuse("total", "a source sends at least one packet")
            }
            Spec::OnOff(on_off) => on_off.pattern().check(),
            Spec::FecBlock(blocks) => blocks.check(headers.into()),
            _ => Ok(()),
        }
    }
}
