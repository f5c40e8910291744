//! Sizes of buffers and thresholds within them: in cells, octets or packets, or as a share of the buffer.

use serde_json::{Value as Json, json};

use super::capacity::Capacity;
use crate::language::spec::{Field, Shape};
use crate::language::tree::{Fault, Node, Value};
use crate::number::{self, Fraction, NotWhole};
use crate::unit::Unit;
use crate::units::{Bytes, CELL_BYTES, CellCount, PS_PER_S, Quantity, Rate, Span, translated, unknown_unit};

/// Measure of a port: every occupancy, capacity and threshold of the port is in this measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Cells, the measure of every port on a cell link.
    Cells,
    /// Octets of queued packets.
    Bytes,
    /// Packets, whatever their length.
    Packets,
    /// Cells of a packet memory: a packet takes whole cells.
    MemoryCells(CellSize),
}

/// Cells of a packet memory: a packet takes as many cells as hold it, together with the header that the memory adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellSize {
    /// Octets of a cell.
    pub octets: u16,
    /// Octets that the memory stores with every packet.
    pub header: u16,
}

impl CellSize {
    /// Return the cells that a packet of `octets` octets takes.
    #[inline]
    pub fn cells(self, octets: u64) -> u64 {
        (octets + u64::from(self.header)).div_ceil(u64::from(self.octets))
    }

    /// Return the whole cells that fit into a memory of this size; for a threshold, round up to the cells that
    /// contain it.
    fn count(self, size: BufferSize, is_threshold: bool) -> Option<Capacity> {
        let octets = u64::from(self.octets);
        match size {
            BufferSize::Cells(cells) => Some(Capacity::limited(cells)),
            BufferSize::Bytes(bytes) if is_threshold => Some(Capacity::limited(bytes.div_ceil(octets))),
            BufferSize::Bytes(bytes) => Some(Capacity::limited(bytes / octets)),
            BufferSize::MemoryCells(cells, size) if u64::from(size) == octets => {
                Some(Capacity::limited(cells))
            }
            BufferSize::Unlimited | BufferSize::Packets(_) | BufferSize::MemoryCells(..) => None,
        }
    }
}

impl Measure {
    /// Return the size of a unit in this measure.
    #[inline]
    pub fn size_of(self, unit: &Unit) -> u64 {
        match self {
            Measure::Bytes => u64::from(unit.bytes),
            Measure::Cells | Measure::Packets => 1,
            Measure::MemoryCells(cell) => cell.cells(unit.bytes.into()),
        }
    }

    /// Return the name of the measure in reports.
    pub fn word(self) -> &'static str {
        match self {
            Measure::Cells => "cells",
            Measure::Bytes => "bytes",
            Measure::Packets => "packets",
            Measure::MemoryCells(_) => "memory cells",
        }
    }
}

/// Capacity of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferSize {
    /// No limit.
    Unlimited,
    /// A number of cells.
    Cells(u64),
    /// A number of octets; on a cell link the whole cells that fit, headers included.
    Bytes(u64),
    /// A number of packets.
    Packets(u64),
    /// A number of cells of a packet memory, and the octets of each.
    MemoryCells(u64, u16),
}

/// Capacity of the buffer of a port, as a scenario writes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PortBuffer {
    /// A size.
    Size(BufferSize),
    /// The time in which the line sends a full buffer.
    Time(Span),
    /// A multiple of the product of bandwidth and delay, in parts per million.
    Product(u64),
}

/// An occupancy within a buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Level {
    /// An amount, in the measure of the port.
    Size(BufferSize),
    /// A share of the buffer, in percent.
    Percent(f64),
}

impl BufferSize {
    /// Return the measure of a port on a cell link or a packet link, and the port's capacity in that measure; `None`
    /// if such a link cannot have a size in this unit.
    pub fn on_link(self, cells: bool) -> Option<(Measure, Capacity)> {
        let (measure, capacity) = match (self, cells) {
            (BufferSize::Unlimited, true) => (Measure::Cells, Capacity::UNLIMITED),
            (BufferSize::Unlimited, false) => (Measure::Bytes, Capacity::UNLIMITED),
            (BufferSize::Cells(n), true) => (Measure::Cells, Capacity::limited(n)),
            (BufferSize::Bytes(n), true) => (Measure::Cells, Capacity::limited(n / CELL_BYTES)),
            (BufferSize::Bytes(n), false) => (Measure::Bytes, Capacity::limited(n)),
            (BufferSize::Packets(n), false) => (Measure::Packets, Capacity::limited(n)),
            (BufferSize::MemoryCells(n, octets), false) => {
                (Measure::MemoryCells(CellSize { octets, header: 0 }), Capacity::limited(n))
            }
            (BufferSize::Packets(_) | BufferSize::MemoryCells(..), true) | (BufferSize::Cells(_), false) => {
                return None;
            }
        };
        Some((measure, capacity))
    }
}

impl PortBuffer {
    /// Return the octets that a line of this rate sends in `time`, rounded down; `None` if there are too many to count.
    pub fn octets_in(time: Span, rate: Rate) -> Option<u64> {
        let bits = u128::from(rate.0) * u128::from(time.0) / u128::from(PS_PER_S);
        u64::try_from(bits / 8).ok()
    }

    /// Return this multiple, in parts per million, of what a line of this rate sends in a round trip, in octets rounded down.
    pub fn octets_of_product(parts: u64, rate: Rate, round_trip: Span) -> Option<u64> {
        let bits = u128::from(rate.0).checked_mul(round_trip.0.into())?.checked_mul(parts.into())?;
        u64::try_from(bits / (8 * u128::from(PS_PER_S) * u128::from(WHOLE))).ok()
    }

    fn parse(text: &str) -> Result<PortBuffer, String> {
        let (number, unit) = number::split(text);
        if let Some(time) = translated::<Span>(number, unit) {
            return Err(unknown_unit(unit, BUFFER.what, Some(time), &[&UNITS[..], BUFFER.units].concat()));
        }
        match (number, unit) {
            (number, "BDP") if !number.is_empty() => product(number).map(PortBuffer::Product),
            (number, unit) if !number.is_empty() && Span::UNITS.iter().any(|(name, _)| *name == unit) => {
                Span::parse(text).map(PortBuffer::Time).map_err(|why| why.0)
            }
            _ => BufferSize::parse(text, &BUFFER).map(PortBuffer::Size),
        }
    }
}

/// Parts per million in a whole.
const WHOLE: u64 = 1_000_000;

/// Read a multiple of the product of bandwidth and delay.
fn product(number: &str) -> Result<u64, String> {
    number::times(number, WHOLE.into(), Fraction::Refused).map_err(|why| match why {
        NotWhole::Malformed => number::mistake(number),
        NotWhole::TooFine => "finer than a millionth of the BDP".to_string(),
        NotWhole::TooLarge => format!("too large: at most {} BDP", u64::MAX / WHOLE),
    })
}

impl Level {
    /// Return the occupancy in the port's measure; the error says why this level has no meaning there.
    ///
    /// A share is rounded up to the next whole unit: 90 % of 8192 cells are 7373 (paper 000, Table 1).
    pub fn within(self, measure: Measure, capacity: Capacity) -> Result<u64, String> {
        let wanted = match self {
            Level::Percent(share) => {
                let limit = capacity.limit().ok_or_else(|| {
                    "a share of an unlimited buffer is no threshold; give the port a buffer".to_string()
                })?;
                // The product is rounded to nine digits first, so that binary fractions do not tip the ceiling.
                libm::ceil(libm::round(limit as f64 * share * 1e7) / 1e9) as u64
            }
            Level::Size(size) => match size.in_measure(measure) {
                Some(level) => level.up_to(u64::MAX), // a level that is never reached
                None => return Err(format!("this port counts {}, not {}", measure.word(), size.word())),
            },
        };
        if !capacity.holds(wanted) {
            return Err(format!("{wanted} is above the buffer of {capacity} {}", measure.word()));
        }
        Ok(wanted)
    }

    /// Convert a level in packets to octets, for packets of `packet` octets; `None` for other levels.
    pub fn octets(self, packet: u64) -> Option<Bytes> {
        match self {
            Level::Size(BufferSize::Packets(packets)) => packets.checked_mul(packet).map(Bytes),
            _ => None,
        }
    }
}

impl BufferSize {
    /// Convert a threshold of this size to `measure`; `None` if that is impossible.
    fn in_measure(self, measure: Measure) -> Option<Capacity> {
        match measure {
            Measure::MemoryCells(cell) => cell.count(self, true),
            _ => self
                .on_link(measure == Measure::Cells)
                .filter(|(found, _)| *found == measure)
                .map(|(_, size)| size),
        }
    }

    /// Return the whole cells of a packet memory of this size; `None` unless the size is given in octets or in such
    /// cells.
    pub fn memory_cells(self, cell: CellSize) -> Option<u64> {
        cell.count(self, false)?.limit()
    }

    fn word(self) -> &'static str {
        match self {
            BufferSize::Unlimited => "unlimited",
            BufferSize::Cells(_) => "cells",
            BufferSize::Bytes(_) => "bytes",
            BufferSize::Packets(_) => "packets",
            BufferSize::MemoryCells(..) => "memory cells of another size",
        }
    }

    fn parse(text: &str, wanted: &Wanted) -> Result<BufferSize, String> {
        if text == "unlimited" {
            return Ok(BufferSize::Unlimited);
        }
        if let Some((cells, octets)) = text.split_once(" of ") {
            return memory_cells(cells.trim_ascii(), octets.trim_ascii());
        }
        let (number, unit) = number::split(text);
        if number.is_empty() {
            let Wanted { what, or, .. } = wanted;
            return Err(format!("{what} is a size, as in \"8192 cells\" or \"150 KB\", {or}"));
        }
        match unit {
            "" => {
                Err("the unit is missing: a size is written as in \"8192 cells\" or \"150 KB\"".to_string())
            }
            "packets" | "packet" => packets(number).map(BufferSize::Packets),
            "cells" | "cell" => CellCount::parse(text).map(|n| BufferSize::Cells(n.0)).map_err(|why| why.0),
            _ if Bytes::UNITS.iter().any(|(name, _)| *name == unit) => {
                Bytes::parse(text).map(|n| BufferSize::Bytes(n.0)).map_err(|why| why.0)
            }
            _ => {
                let units = [&UNITS[..], wanted.units].concat();
                Err(unknown_unit(unit, wanted.what, translated_size(number, unit), &units))
            }
        }
    }

    fn show(self) -> String {
        match self {
            BufferSize::Unlimited => "unlimited".to_string(),
            BufferSize::Cells(n) => CellCount(n).show(),
            BufferSize::Bytes(n) => Bytes(n).show(),
            BufferSize::Packets(n) => format!("{n} packets"),
            BufferSize::MemoryCells(n, octets) => {
                format!("{} of {}", CellCount(n).show(), Bytes(octets.into()).show())
            }
        }
    }
}

/// Translate a size with a unit of another program into a size as a scenario writes it.
fn translated_size(number: &str, unit: &str) -> Option<String> {
    match unit {
        "p" | "pkt" | "pkts" => Some(BufferSize::Packets(packets(number).ok()?).show()),
        _ => translated::<Bytes>(number, unit).or_else(|| translated::<CellCount>(number, unit)),
    }
}

/// Read a number of packets.
fn packets(number: &str) -> Result<u64, String> {
    number::times(number, 1, Fraction::Refused).map_err(|why| match why {
        NotWhole::Malformed => number::mistake(number),
        NotWhole::TooFine => "packets are whole".to_string(),
        NotWhole::TooLarge => format!("too large: at most {} packets", u64::MAX),
    })
}

/// Read a size in cells of a packet memory, as in "100 cells of 256 bytes".
fn memory_cells(cells: &str, octets: &str) -> Result<BufferSize, String> {
    let cells = CellCount::parse(cells).map_err(|why| why.0)?;
    let octets = Bytes::parse(octets).map_err(|why| why.0)?.0;
    match u16::try_from(octets) {
        Ok(octets) if octets > 0 => Ok(BufferSize::MemoryCells(cells.0, octets)),
        _ => Err(format!("a cell of a packet memory has 1 to {} bytes, not {octets}", u16::MAX)),
    }
}

const UNITS: [&str; 11] = ["cells", "packets", "bytes", "B", "kB", "KB", "KiB", "MB", "MiB", "GB", "GiB"];

/// The part of a message that says what a size must look like.
struct Wanted {
    what: &'static str,
    units: &'static [&'static str],
    or: &'static str,
}

const BUFFER: Wanted = Wanted {
    what: "a buffer",
    units: &["s", "ms", "us", "BDP"],
    or: "a time at the rate of the line (\"25 ms\"), a multiple of its BDP (\"1.5 BDP\") or \"unlimited\"",
};
const MEMORY: Wanted = Wanted { what: "a memory", units: &[], or: "or \"unlimited\"" };
const LEVEL: Wanted =
    Wanted { what: "a threshold", units: &["%"], or: "or a share of the buffer, as in \"90 %\"" };

const NUMBER_PATTERN: &str = "[0-9_]*\\.?[0-9_]+([eE][+-]?[0-9]+)?";
const SIZE_PATTERN: &str = "[0-9_]*\\.?[0-9_]+([eE][+-]?[0-9]+)? *(cells?|packets?|bytes?|B|kB|KB|KiB|MB|MiB|GB|GiB)( of [0-9_]+ *(bytes?|B))?";

fn read_size(node: &Node, path: &str, text: &str, wanted: &Wanted) -> Result<BufferSize, Fault> {
    BufferSize::parse(text.trim_ascii(), wanted)
        .map_err(|why| node.fault(path, format!("{}: {why}", node.show())))
}

fn not_a_size(node: &Node, path: &str) -> Fault {
    node.fault(
        path,
        format!("must be a size with a unit, as in \"8192 cells\" or \"150 KB\", not {}", node.show()),
    )
}

impl Field for BufferSize {
    fn read(node: &Node, path: &str) -> Result<Self, Fault> {
        match &node.value {
            Value::Text(text) => read_size(node, path, text, &MEMORY),
            _ => Err(not_a_size(node, path)),
        }
    }

    fn write(&self) -> Json {
        self.show().into()
    }

    fn shape() -> Shape {
        let pattern = format!("^(unlimited|{SIZE_PATTERN})$");
        Shape {
            unit: "size",
            schema: json!({ "type": "string", "pattern": pattern, "examples": ["8192 cells"] }),
        }
    }
}

impl Field for PortBuffer {
    fn read(node: &Node, path: &str) -> Result<Self, Fault> {
        let Value::Text(text) = &node.value else { return Err(not_a_size(node, path)) };
        PortBuffer::parse(text.trim_ascii())
            .map_err(|why| node.fault(path, format!("{}: {why}", node.show())))
    }

    fn write(&self) -> Json {
        match *self {
            PortBuffer::Size(size) => size.write(),
            PortBuffer::Time(time) => time.show().into(),
            PortBuffer::Product(parts) => format!("{} BDP", parts as f64 / WHOLE as f64).into(),
        }
    }

    fn shape() -> Shape {
        let times: Vec<&str> = Span::UNITS.iter().map(|(name, _)| *name).collect();
        let pattern = format!("^(unlimited|{SIZE_PATTERN}|{NUMBER_PATTERN} *({}|BDP))$", times.join("|"));
        Shape {
            unit: "size, time or BDP",
            schema: json!({ "type": "string", "pattern": pattern, "examples": ["8192 cells", "25 ms"] }),
        }
    }
}

impl Field for Level {
    fn read(node: &Node, path: &str) -> Result<Self, Fault> {
        let Value::Text(text) = &node.value else { return Err(not_a_size(node, path)) };
        let Some(share) = text.trim_ascii().strip_suffix('%') else {
            return read_size(node, path, text, &LEVEL).map(Level::Size);
        };
        match share.trim_ascii().parse::<f64>() {
            Ok(share) if (0.0..=100.0).contains(&share) => Ok(Level::Percent(share)),
            Err(_) if number::split(text) == (share.trim_ascii(), "%") => {
                Err(node.fault(path, format!("{}: {}", node.show(), number::mistake(share.trim_ascii()))))
            }
            _ => Err(node.fault(path, format!("must be a share from 0 % to 100 %, not {}", node.show()))),
        }
    }

    fn write(&self) -> Json {
        match self {
            Level::Size(size) => size.write(),
            Level::Percent(share) => format!("{share} %").into(),
        }
    }

    fn shape() -> Shape {
        let pattern = format!("^({SIZE_PATTERN}|[0-9.]+ *%)$");
        Shape {
            unit: "size or %",
            schema: json!({ "type": "string", "pattern": pattern, "examples": ["7373 cells", "90 %"] }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::tree::TextPlace;

    fn level(text: &str) -> Result<Level, String> {
        let node = Node { value: Value::Text(text.to_string()), place: TextPlace::default() };
        Level::read(&node, "threshold").map_err(|fault| fault.to_string())
    }

    #[test]
    fn ninety_percent_of_8192_cells_is_7373_as_in_table_1_of_paper_000() {
        assert_eq!(level("90 %").unwrap().within(Measure::Cells, Capacity::limited(8192)), Ok(7373));
        assert_eq!(level("80 %").unwrap().within(Measure::Cells, Capacity::limited(1000)), Ok(800));
    }

    #[test]
    fn a_unit_of_another_program_leads_to_the_size_as_it_is_written_here() {
        for (given, here) in [("100p", "100 packets"), ("64k", "64 kB"), ("1500 octets", "1500 bytes")] {
            let told = level(given).unwrap_err();
            assert!(told.contains(&format!("for a threshold: write \"{here}\" (")), "{told}");
        }
    }

    #[test]
    fn fifty_kilobytes_hold_943_cells_as_in_paper_001() {
        assert_eq!(BufferSize::Bytes(50_000).on_link(true), Some((Measure::Cells, Capacity::limited(943))));
        assert_eq!(BufferSize::Bytes(300_000).on_link(true), Some((Measure::Cells, Capacity::limited(5660))));
    }

    #[test]
    fn a_level_must_fit_the_port() {
        let many = Capacity::limited(8192);
        let above = level("9000 cells").unwrap().within(Measure::Cells, many).unwrap_err();
        assert_eq!(above, "9000 is above the buffer of 8192 cells");
        let other = level("10 packets").unwrap().within(Measure::Cells, many).unwrap_err();
        assert_eq!(other, "this port counts cells, not packets");
        let octets =
            level("1500 bytes").unwrap().within(Measure::Packets, Capacity::limited(10)).unwrap_err();
        assert_eq!(octets, "this port counts packets, not bytes");
        let share = level("90 %").unwrap().within(Measure::Cells, Capacity::UNLIMITED).unwrap_err();
        assert_eq!(share, "a share of an unlimited buffer is no threshold; give the port a buffer");
        assert!(level("101 %").unwrap_err().contains("0 % to 100 %"));
        assert!(level("10").unwrap_err().contains("unit is missing"));
        let unknown = level("10 pakets").unwrap_err();
        assert!(unknown.contains("unknown unit \"pakets\" for a threshold") && unknown.ends_with("GiB, %)"));
        assert!(level("half").unwrap_err().ends_with("or a share of the buffer, as in \"90 %\""));
    }
}
