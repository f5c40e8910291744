//! A recording of traffic: gaps and octets, packet by packet, in a few octets each.
//!
//! The text form has the unit of times, a semicolon, and in base64 two numbers for every packet: the gap since the
//! previous packet (for the first one, since the start) in this unit, and the octets. A number is written in groups
//! of seven bits, the lowest group first; the eighth bit says that more groups follow (LEB128). So a packet takes
//! about four octets, and nothing is rounded.

use std::sync::Arc;

use crate::units::{Quantity, Span};

/// Greatest duration of a recording, equal to that of a run; a longer one is taken for a mistake.
const LONGEST: u64 = Span::secs(50 * 86_400).0;
/// The largest number of octets that a source can write at once.
const MOST_OCTETS: u64 = 1 << 40;

/// The packets of a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    tick: Span,
    records: Arc<[u8]>,
    totals: Totals,
}

/// Totals and extremes over all packets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Totals {
    packets: u64,
    shortest: u64,
    longest: u64,
    /// Time from the start to the last packet.
    time: Span,
}

/// An iterator over the packets of a recording.
#[derive(Clone, Debug)]
pub struct Reader {
    tick: Span,
    records: Arc<[u8]>,
    at: usize,
}

/// A packet of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordedPacket {
    /// Time since the previous packet.
    pub gap: Span,
    /// Octets of the packet.
    pub octets: u64,
}

impl Recording {
    /// Return the text form of a recording whose unit of times is a picosecond.
    pub fn written(packets: impl IntoIterator<Item = RecordedPacket>) -> String {
        let mut records = Vec::new();
        for RecordedPacket { gap, octets } in packets {
            for mut number in [gap.0, octets] {
                while number >= 0x80 {
                    records.push(number as u8 | 0x80);
                    number >>= 7;
                }
                records.push(number as u8);
            }
        }
        format!("{};{}", Span(1).show(), encoded(&records))
    }

    /// Parse the text form of a recording.
    pub(super) fn parse(text: &str) -> Result<Recording, String> {
        let (tick, records) = text.split_once(';').ok_or("the unit of times is missing")?;
        let tick = Span::parse(tick).map_err(|why| why.to_string())?;
        if tick == Span::ZERO {
            return Err("the unit of times must be longer than 0 s".to_string());
        }
        let records: Arc<[u8]> = decoded(records)?.into();
        let totals = Totals::of(Reader { tick, records: records.clone(), at: 0 })?;
        Ok(Recording { tick, records, totals })
    }

    /// Return the text form, which [`Recording::parse`] reads.
    pub(super) fn text(&self) -> String {
        format!("{};{}", self.tick.show(), encoded(&self.records))
    }

    /// Return an iterator over the packets.
    pub fn reader(&self) -> Reader {
        Reader { tick: self.tick, records: self.records.clone(), at: 0 }
    }

    /// Return the number of packets.
    pub fn packets(&self) -> u64 {
        self.totals.packets
    }

    /// Return the octets of the shortest packet.
    pub fn shortest(&self) -> u64 {
        self.totals.shortest
    }

    /// Return the octets of the longest packet.
    pub fn longest(&self) -> u64 {
        self.totals.longest
    }

    /// Return the mean number of packets per second.
    pub fn packets_per_second(&self) -> f64 {
        self.totals.packets as f64 / self.totals.time.as_secs_f64()
    }
}

impl Totals {
    fn of(mut reader: Reader) -> Result<Totals, String> {
        let mut totals = Totals { shortest: u64::MAX, ..Totals::default() };
        while reader.at < reader.records.len() {
            let damaged = || format!("damaged at packet {}", totals.packets + 1);
            let RecordedPacket { gap, octets } = reader.read().ok_or_else(damaged)?;
            let time = totals.time.0.checked_add(gap.0).filter(|time| *time <= LONGEST);
            totals.time = Span(time.ok_or("lasts more than 50 days")?);
            totals.packets += 1;
            (totals.shortest, totals.longest) = (totals.shortest.min(octets), totals.longest.max(octets));
        }
        if totals.packets == 0 { Err("has no packets".to_string()) } else { Ok(totals) }
    }
}

impl Reader {
    /// Return the next packet; after the last one, a packet with no octets and no gap.
    #[inline]
    pub fn advance(&mut self) -> RecordedPacket {
        self.read().unwrap_or(RecordedPacket { gap: Span::ZERO, octets: 0 })
    }

    fn read(&mut self) -> Option<RecordedPacket> {
        let gap = self.number()?.checked_mul(self.tick.0).filter(|gap| *gap <= LONGEST)?;
        let octets = self.number().filter(|octets| *octets <= MOST_OCTETS)?;
        Some(RecordedPacket { gap: Span(gap), octets })
    }

    #[inline]
    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..63).step_by(7) {
            let group = *self.records.get(self.at)?;
            self.at += 1;
            number |= u64::from(group & 0x7f) << shift;
            if group < 0x80 {
                return Some(number);
            }
        }
        None
    }
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Encode octets in base64 (RFC 4648).
fn encoded(octets: &[u8]) -> String {
    let mut text = String::with_capacity(octets.len().div_ceil(3) * 4);
    for group in octets.chunks(3) {
        let bits = (0..3).fold(0, |bits, at| bits << 8 | u32::from(group.get(at).copied().unwrap_or(0)));
        for at in 0..4 {
            let letter = ALPHABET[(bits >> (18 - 6 * at) & 63) as usize] as char;
            text.push(if at <= group.len() { letter } else { '=' });
        }
    }
    text
}

/// Decode a text in base64.
fn decoded(text: &str) -> Result<Vec<u8>, String> {
    let mut values = [u8::MAX; 256];
    (0..).zip(ALPHABET).for_each(|(value, letter)| values[usize::from(*letter)] = value);
    let text = text.trim_end_matches('=').as_bytes();
    let mut octets = Vec::with_capacity(text.len() / 4 * 3 + 3);
    for group in text.chunks(4) {
        let values = group.iter().map(|letter| values[usize::from(*letter)]);
        if group.len() == 1 || values.clone().any(|value| value == u8::MAX) {
            return Err("is not in base64".to_string());
        }
        let bits = values.fold(0, |bits: u32, value| bits << 6 | u32::from(value)) << (6 * (4 - group.len()));
        octets.extend(&bits.to_be_bytes()[1..group.len()]);
    }
    Ok(octets)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_gives_gaps_and_octets_as_they_were_written() {
        let recording = Recording::parse("1 ms;AOgHA+gHBdwL").unwrap();
        let mut reader = recording.reader();
        let packets = [reader.advance(), reader.advance(), reader.advance()]
            .map(|RecordedPacket { gap, octets }| (gap, octets));
        assert_eq!(packets, [(Span::ZERO, 1000), (Span::millis(3), 1000), (Span::millis(5), 1500)]);
        assert_eq!((recording.packets(), recording.shortest(), recording.longest()), (3, 1000, 1500));
        assert_eq!(recording.packets_per_second(), 3.0 / 0.008);
    }

    #[test]
    fn what_is_written_is_read_to_the_picosecond() {
        let packets = [(0, 40), (127, 128), (128, 1500), (4_319_999_000_000_000_000, 65_535)];
        let packets = packets.map(|(gap, octets)| RecordedPacket { gap: Span(gap), octets });
        let mut reader = Recording::parse(&Recording::written(packets)).unwrap().reader();
        assert_eq!(packets.map(|_| reader.advance()), packets);
    }

    #[test]
    fn base64_is_that_of_the_rfc() {
        for (octets, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")]
        {
            assert_eq!(encoded(octets.as_bytes()), text);
            assert_eq!(decoded(text).unwrap(), octets.as_bytes());
        }
        assert!(decoded("Zm9v!").is_err() && decoded("Zm9vY").is_err());
    }

    #[test]
    fn a_recording_that_is_damaged_or_too_long_says_where() {
        for (text, why) in [
            ("AOgH", "the unit of times is missing"),
            ("0 s;AOgH", "the unit of times must be longer than 0 s"),
            ("1 ms;", "has no packets"),
            ("1 ms;AOgHA+g", "damaged at packet 2"),
            ("1 s;gICAgBDoBw==", "damaged at packet 1"), // 2^32 seconds
        ] {
            assert_eq!(Recording::parse(text).unwrap_err(), why, "{text}");
        }
    }
}
