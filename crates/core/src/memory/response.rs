//! When a sender obeys a pause, and thresholds that follow from it.
//!
//! *Source*: IEEE 802.3, annex 31B: it gives the most quanta of 512 bit times after which a station must have stopped when a pause frame
//! has arrived. The quanta by rate are those of SONiC's `doc/qos/dynamically-headroom-calculation.md`.

use serde_json::{Value as Json, json};

use crate::buffer::size::Level;
use crate::language::spec::{Field, Shape};
use crate::language::tree::{Fault, Node};
use crate::units::{Bytes, Quantity, Rate, Span};

/// Bits of a quantum of pause times.
const QUANTUM: u64 = 512;

/// The most quanta that a sender needs, by rate in Gb/s.
const QUANTA: [(u64, u64); 7] =
    [(10, 67), (25, 80), (40, 118), (50, 147), (100, 394), (200, 453), (400, 905)];

/// The name of the standard in a scenario.
const STANDARD: &str = "802.3";

/// The word for a threshold that follows from the link.
const AUTO: &str = "auto";

/// The longest time that the sender of a class may need to stop, after a pause frame has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Response {
    /// That of the standard for the rate of the line.
    Standard,
    /// The time in which the line carries these octets.
    Octets(Bytes),
    /// A time.
    Time(Span),
}

impl Response {
    /// Return the time on a line of this rate; the error says why there is none.
    pub fn time(self, rate: Rate) -> Result<Span, String> {
        match self {
            Response::Time(time) => Ok(time),
            Response::Octets(octets) => Ok(Span(rate.time_of_bits(8 * octets.0).0)),
            Response::Standard => {
                let found = QUANTA.iter().find(|(gigabits, _)| Rate(gigabits * 1_000_000_000) == rate);
                let known = || QUANTA.map(|(gigabits, _)| gigabits.to_string()).join(", ");
                let quanta = found.map(|(_, quanta)| quanta).ok_or_else(|| {
                    format!(
                        "must be octets or a time: \"{STANDARD}\" has values for {} Gb/s, not for {rate}",
                        known()
                    )
                });
                quanta.map(|quanta| Span(rate.time_of_bits(QUANTUM * quanta).0))
            }
        }
    }
}

impl Field for Response {
    fn read(node: &Node, path: &str) -> Result<Self, Fault> {
        let text = node.text().unwrap_or_default().trim_ascii();
        let octets = || Bytes::parse(text).map(Response::Octets);
        let time = || Span::parse(text).map(Response::Time);
        match text {
            STANDARD => Ok(Response::Standard),
            _ if node.show() == STANDARD => Ok(Response::Standard), // a number, as overrides have it
            _ => octets().or_else(|_| time()).map_err(|_| {
                let message = format!(
                    "must be \"{STANDARD}\", octets or a time, as in \"25216 bytes\" or \"2 us\", not {}",
                    node.show()
                );
                node.fault(path, message)
            }),
        }
    }

    fn write(&self) -> Json {
        match self {
            Response::Standard => STANDARD.into(),
            Response::Octets(octets) => octets.write(),
            Response::Time(time) => time.write(),
        }
    }

    fn shape() -> Shape {
        let (octets, time) = (Bytes::shape().schema, Span::shape().schema);
        Shape {
            unit: "802.3, octets or time",
            schema: json!({ "anyOf": [{ "const": STANDARD }, octets, time] }),
        }
    }
}

/// A threshold of pauses, or that the link determines it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PauseLevel {
    /// What the rate of the link, its cable and the response time of its sender demand.
    Auto,
    /// This much.
    Level(Level),
}

impl PauseLevel {
    /// Return the level, if the link does not determine it.
    pub fn level(self) -> Option<Level> {
        match self {
            PauseLevel::Auto => None,
            PauseLevel::Level(level) => Some(level),
        }
    }
}

impl Field for PauseLevel {
    fn read(node: &Node, path: &str) -> Result<Self, Fault> {
        match node.text().map(str::trim_ascii) {
            Some(AUTO) => Ok(PauseLevel::Auto),
            _ => Level::read(node, path).map(PauseLevel::Level),
        }
    }

    fn write(&self) -> Json {
        self.level().map_or_else(|| AUTO.into(), |level| level.write())
    }

    fn shape() -> Shape {
        let level = Level::shape().schema;
        Shape { unit: "size, % or auto", schema: json!({ "anyOf": [{ "const": AUTO }, level] }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_gives_a_sender_at_100_gigabits_394_quanta() {
        let time = |response: Response, gigabits: u64| response.time(Rate(gigabits * 1_000_000_000));
        assert_eq!(time(Response::Standard, 100), Ok(Span(394 * 512 * 10)));
        assert_eq!(
            time(Response::Octets(Bytes(394 * 64)), 100),
            Ok(Span(394 * 512 * 10)),
            "24.625 kB of 1024"
        );
        assert_eq!(time(Response::Time(Span(7)), 100), Ok(Span(7)));
        let why = time(Response::Standard, 1).unwrap_err();
        assert!(why.starts_with("must be octets or a time: \"802.3\" has values for 10, 25, 40"), "{why}");
    }
}
