//! What applications want to send, and when.
//!
//! A source that fills a transport (`greedy`, `file`) is driven by the transport's progress; a source that clocks
//! its own units (`cbr`, `poisson`) is driven by time. Rates count every octet on the line, headers and padding
//! included, so that a load is simply the sum of rates over the rate of the line.

pub mod file;

pub mod greedy;

pub mod cbr;

pub mod poisson;

pub mod clock;

use crate::units::{Bytes, Rate};

crate::variants! {
    /// A source as a scenario asks for it.
    "source" by "kind" {
        Greedy = "greedy" in greedy,
        File = "file" in file,
        Cbr = "cbr" in cbr,
        Poisson = "poisson" in poisson,
    }
}

impl Spec {
    /// Payload of a datagram, if the source cuts its data into datagrams.
    pub fn datagram(&self) -> Option<Bytes> {
        match self {
            Spec::Cbr(cbr) => Some(cbr.size),
            Spec::Poisson(poisson) => Some(poisson.size),
            Spec::Greedy(_) | Spec::File(_) => None,
        }
    }

    /// Mean rate on the line, if the source has one of its own.
    pub fn rate(&self) -> Option<Rate> {
        match self {
            Spec::Cbr(cbr) => Some(cbr.rate),
            Spec::Poisson(poisson) => Some(poisson.rate),
            Spec::Greedy(_) | Spec::File(_) => None,
        }
    }

    /// Refuse parameters that cannot work: "key: reason".
    pub fn check(&self) -> Result<(), String> {
        match self {
            Spec::File(file) if file.size == Bytes(0) => {
                Err("size: a file has at least one byte".to_string())
            }
            _ => Ok(()),
        }
    }
}
