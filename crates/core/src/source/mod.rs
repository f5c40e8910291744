//! Sources: the traffic of applications, as data and times.
//!
//! A source that fills a transport (`greedy`, `file`) is driven by the transport's progress; a source that clocks
//! its own units (`cbr`, `poisson`, `on-off`, `fec-block`) is driven by time. Rates count every octet on the line,
//! headers and padding included, so that a load is simply the sum of rates over the rate of the line.
//!
//! A source is one file. To add one, write its file and add a line to the list below.

pub mod clock;

pub mod burst;

pub mod length;

pub mod recording;

pub mod sizes;

use crate::adaptation::coded::Code;
use crate::refused::Refused;
use crate::registry;
use crate::rng::Stream;
use crate::units::{Rate, Span};

use burst::{Added, BurstPattern};
use clock::UnitClock;
use length::Length;

registry! {
    /// A source as a scenario specifies it.
    "source" by "kind" {
        Greedy = "greedy" in greedy,
        File = "file" in file,
        Cbr = "cbr" in cbr,
        Poisson = "poisson" in poisson,
        OnOff = "on-off" in on_off,
        FecBlock = "fec-block" in fec_block,
        Arrivals = "arrivals" in arrivals,
        Query = "query" in query,
        Replay = "replay" in replay,
    }

    /// The interface of a source. The default methods are those of a source that always has data and that its
    /// transport paces.
    pub trait Source for Spec {
        /// Refuse parameters that cannot work. The packets of a source of blocks have `headers` octets of headers.
        fn check(&self, headers: u32) -> Result<(), Refused> {
            Ok(())
        }

        /// Return the octets of the longest packet, IP header included, with `headers` octets of headers, and the key
        /// that determines its length; `None` if the transport determines it.
        fn packet(&self, headers: u32) -> Option<(u64, &'static str)> {
            self.length().map(|length| datagram(length, headers))
        }

        /// Return the data lengths of the source's packets, or of the pieces that it writes to a transport, if the
        /// source determines them.
        fn length(&self) -> Option<&Length> {
            None
        }

        /// Return the highest rate on the line, if the source states one, and its key.
        fn peak(&self) -> Option<(&'static str, Rate)> {
            None
        }

        /// Return the mean bits of data per second that the source offers; `None` without a limit. A packet has
        /// `payload` octets of data and `bits` bits on the line.
        fn mean_rate(&self, payload: f64, bits: u64) -> Option<f64> {
            None
        }

        /// Return the bursts in which the source sends, and how parity packets change them.
        fn bursts(&self) -> Option<(BurstPattern, Added)> {
            None
        }

        /// Number of data packets to send; `None` without end.
        fn packets(&self) -> Option<u64> {
            None
        }

        /// Return the code of a source that groups its packets into blocks.
        fn code(&self) -> Option<Code> {
            None
        }

        /// Return the clock of a source that is driven by time, for packets of `bits` bits on the line. `stream`
        /// returns the flow's random numbers of a name.
        fn clock(&self, bits: u64, stream: &dyn Fn(&str) -> Stream) -> Option<UnitClock> {
            None
        }

        /// Return how long after the start of the flow the application starts.
        fn first(&self) -> Span {
            Span::ZERO
        }

        /// Return whether the source draws transfers before the run, each of which gets its own connection.
        fn draws_transfers(&self) -> bool {
            false
        }

        /// Return whether the source sends at random instants.
        fn is_random(&self) -> bool {
            false
        }
    }

    /// The kind of traffic.
    pub const TRAFFIC: Traffic as Kind::traffic;
}

/// Traffic of a source, which decides the transports that can carry it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traffic {
    /// Data that the transport cuts into packets and paces.
    Data,
    /// Pieces of data at instants that the source chooses: datagrams, single cells, or pieces that an application
    /// writes to a transport.
    Pieces,
    /// Packets of data and parity that form blocks.
    Blocks,
}

impl Spec {
    /// Return the number of packets sent for every packet with data: 1 + h / K for a source that adds parity.
    pub fn redundancy(&self) -> f64 {
        self.code().map_or(1.0, |code| f64::from(code.packets()) / f64::from(code.data))
    }
}

impl Traffic {
    /// Return whether a transport of `carried` traffic can carry it.
    pub fn fits(self, carried: Traffic) -> bool {
        self == carried || (self, carried) == (Traffic::Pieces, Traffic::Data)
    }
}

/// Return the octets of the packet with the longest payload, and the key `source.size`: see [`Source::packet`].
fn datagram(size: &Length, headers: u32) -> (u64, &'static str) {
    (size.longest().0.saturating_add(headers.into()), "source.size")
}

/// Convert a mean of `rate` bits per second on the line to bits of data per second: see [`Source::mean_rate`].
fn data_rate(rate: f64, payload: f64, bits: u64) -> f64 {
    rate * 8.0 * payload / bits as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::read::{Format, read};
    use crate::language::spec::Field;

    /// Every source with its defaults, and values for the keys that have none.
    fn every() -> Vec<Spec> {
        let spec = |kind: &Kind| {
            let text = format!(
                "kind = '{}'\nrate = '1 Mb/s'\npeak = '1 Mb/s'\nsize = '1 kB'\nsizes = '1 kB'\nfan_in = 1\nfile = 'a.csv'\ndata = '1 ms;AOgHA+gHBdwL'",
                kind.name()
            );
            let entry =
                CATALOGUE.iter().find(|entry| entry.name == kind.name()).expect("every kind is listed");
            let known: Vec<&str> = (entry.params)().iter().map(|param| param.name).collect();
            let is_known = |line: &&str| {
                let key = line.split(' ').next().unwrap_or_default();
                key == "kind" || known.contains(&key)
            };
            let text = if known.contains(&"gaps") { text.replace("1 Mb/s", "1 per s") } else { text };
            let text = text.lines().filter(is_known).collect::<Vec<_>>().join("\n");
            Spec::read(&read(&text, Format::Toml).unwrap(), "source").unwrap()
        };
        Kind::ALL.iter().map(spec).collect()
    }

    #[test]
    fn a_source_answers_what_its_traffic_calls_for() {
        for source in every() {
            let stream = |name: &str| Stream::new(1, name);
            let found = (
                source.clock(8000, &stream).is_some(),
                source.packet(28).is_some(),
                source.peak().is_some(),
                source.code().is_some(),
            );
            let expected = match source.kind().traffic() {
                Traffic::Data => (false, false, false, false),
                Traffic::Pieces => (true, true, source.kind() != Kind::Replay, false), // a recording states no rate
                Traffic::Blocks => (true, true, true, true),
            };
            assert_eq!(found, expected, "{}: clock, packet, peak, code", source.name());
        }
    }
}
