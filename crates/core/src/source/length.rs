//! Lengths of packets: one for all, exponential, or a mix.
//!
//! A length is the data of one packet. The exponential distribution is that of the whole packet with its IP and
//! transport headers, rounded to octets, since M/M/1 requires it: a packet has the mean of `mean` octets of data plus
//! its headers, at least one octet of data and at most `max`.

use serde_json::{Value as Json, json};

use super::recording::{Reader, Recording};
use crate::language::spec::{Field, Nested, Shape, read_section};
use crate::language::tree::{Fault, Node, Value};
use crate::refused::{Refused, refuse, refuse_if};
use crate::rng::Stream;
use crate::section;
use crate::units::Bytes;

/// Octets of data in a packet.
#[derive(Clone, Debug, PartialEq)]
pub enum Length {
    /// One length.
    Fixed(Bytes),
    /// Exponentially distributed.
    Exponential(Exponential),
    /// One of several, each with its weight.
    Mix(Vec<MixPart>),
    /// Lengths of a recording.
    Recorded(Recording),
}

section! {
    /// Exponentially distributed lengths.
    pub struct Exponential {
        /// Mean length.
        pub mean: Bytes,
        /// The longest; what would be longer is cut to it.
        pub max: Bytes = Bytes(60_000),
    }
}

section! {
    /// The ways in which lengths can vary.
    struct LengthForms {
        /// Exponentially distributed.
        exponential: Option<Nested<Exponential>> = None,
        /// Lengths with their weights, as in [["64 bytes", 7], ["1518 bytes", 1]].
        mix: Option<Vec<MixPart>> = None,
    }
}

/// A length of a mix and its weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MixPart(pub Bytes, pub f64);

impl Field for MixPart {
    fn read(node: &Node, path: &str) -> Result<Self, Fault> {
        match &node.value {
            Value::List(items) if items.len() == 2 => Ok(MixPart(
                Bytes::read(&items[0], &format!("{path}[0]"))?,
                f64::read(&items[1], &format!("{path}[1]"))?,
            )),
            _ => {
                let what = "must be a length and its weight, as in [\"64 bytes\", 7]";
                Err(node.fault(path, format!("{what}, not {}", node.show())))
            }
        }
    }

    fn write(&self) -> Json {
        json!([self.0.write(), self.1])
    }

    fn shape() -> Shape {
        let items = [Bytes::shape().schema, f64::shape().schema];
        let schema = json!({ "type": "array", "prefixItems": items, "minItems": 2, "maxItems": 2 });
        Shape { unit: "size", schema }
    }
}

impl Field for Length {
    fn read(node: &Node, path: &str) -> Result<Self, Fault> {
        if !matches!(node.value, Value::Table(_)) {
            return Bytes::read(node, path).map(Length::Fixed);
        }
        let LengthForms { exponential, mix } = read_section(node, path)?;
        match (exponential, mix) {
            (Some(Nested(exponential)), None) => Ok(Length::Exponential(exponential)),
            (None, Some(mix)) => Ok(Length::Mix(mix)),
            _ => Err(node.fault(path, "must have one key: exponential or mix")),
        }
    }

    fn write(&self) -> Json {
        match self {
            Length::Fixed(size) => size.write(),
            Length::Exponential(exponential) => json!({ "exponential": Nested(exponential.clone()).write() }),
            Length::Mix(parts) => json!({ "mix": parts.write() }),
            Length::Recorded(_) => Json::Null, // no key of a scenario has these
        }
    }

    fn shape() -> Shape {
        let form = |key: &str, schema: Json| json!({ "type": "object", "properties": { key: schema }, "required": [key], "additionalProperties": false });
        let forms = [
            Bytes::shape().schema,
            form("exponential", Nested::<Exponential>::shape().schema),
            form("mix", Vec::<MixPart>::shape().schema),
        ];
        Shape { unit: "size", schema: json!({ "anyOf": forms }) }
    }
}

impl Length {
    /// Return the longest possible length.
    pub fn longest(&self) -> Bytes {
        match self {
            Length::Fixed(size) => *size,
            Length::Exponential(exponential) => exponential.max,
            Length::Mix(parts) => parts.iter().map(|part| part.0).max().unwrap_or_default(),
            Length::Recorded(recording) => Bytes(recording.longest()),
        }
    }

    /// Return the shortest possible length.
    pub fn shortest(&self) -> Bytes {
        match self {
            Length::Fixed(size) => *size,
            Length::Exponential(_) | Length::Recorded(_) => Bytes(1),
            Length::Mix(parts) => parts.iter().map(|part| part.0).min().unwrap_or_default(),
        }
    }

    /// Refuse lengths of no octets and impossible weights.
    pub fn check(&self) -> Result<(), Refused> {
        match self {
            Length::Fixed(size) => refuse_if(*size == Bytes(0), "size", "must be at least 1 byte"),
            Length::Exponential(Exponential { mean, max }) => {
                refuse_if(*mean == Bytes(0), "size.exponential.mean", "must be at least 1 byte")?;
                refuse_if(max < mean, "size.exponential.max", "must be at least the mean")
            }
            Length::Mix(parts) => check_mix(parts),
            Length::Recorded(_) => Ok(()),
        }
    }

    /// Return the mean of a quantity that depends on the data of a packet with `headers` octets of headers.
    pub fn mean_of(&self, headers: u32, quantity: impl Fn(u64) -> f64) -> f64 {
        match self {
            Length::Fixed(size) => quantity(size.0),
            Length::Exponential(exponential) => exponential.mean_of(headers, quantity),
            Length::Mix(parts) => {
                let sum: f64 = parts.iter().map(|part| part.1 * quantity(part.0.0)).sum();
                sum / total(parts)
            }
            Length::Recorded(recording) => {
                let (mut reader, packets) = (recording.reader(), recording.packets());
                let sum: f64 =
                    (0..packets).map(|_| quantity(reader.advance().octets - u64::from(headers))).sum();
                sum / packets as f64
            }
        }
    }

    /// Return a generator of the data lengths of packets, each with `headers` octets of headers.
    pub fn draws(&self, headers: u32, stream: Stream) -> PacketLengths {
        let form = match self {
            Length::Fixed(size) => return PacketLengths::Fixed(size.0),
            Length::Exponential(exponential) => LengthForm::Exponential(exponential.clone(), headers),
            Length::Mix(parts) => LengthForm::Mix(parts.clone(), total(parts)),
            Length::Recorded(recording) => return PacketLengths::Recorded(recording.reader(), headers),
        };
        PacketLengths::Random(form, stream)
    }
}

fn check_mix(parts: &[MixPart]) -> Result<(), Refused> {
    let wrong = |weight: f64| !weight.is_finite() || weight < 0.0;
    if let Some(part) = parts.iter().find(|part| wrong(part.1)) {
        return refuse("size.mix", format!("a weight must be at least 0, not {}", part.1));
    }
    refuse_if(parts.iter().any(|part| part.0 == Bytes(0)), "size.mix", "a length must be at least 1 byte")?;
    let none = total(parts) <= 0.0;
    refuse_if(none, "size.mix", "must have a length with a weight greater than 0")?;
    refuse_if(!total(parts).is_finite(), "size.mix", "the sum of the weights must be finite")
}

fn total(parts: &[MixPart]) -> f64 {
    parts.iter().map(|part| part.1).sum()
}

impl Exponential {
    /// Return the octets of data in a packet of `length` octets.
    fn data(&self, length: f64, headers: u32) -> u64 {
        let data = libm::round(length) - f64::from(headers);
        (data.max(1.0) as u64).min(self.max.0)
    }

    /// Compute [`Length::mean_of`]: the sum over all lengths, each with its probability.
    fn mean_of(&self, headers: u32, quantity: impl Fn(u64) -> f64) -> f64 {
        let mean = self.mean.0 as f64 + f64::from(headers);
        let beyond = |data: u64| libm::exp(-(data as f64 + f64::from(headers) - 0.5) / mean);
        let (mut sum, mut left) = (0.0, 1.0);
        for data in 1..self.max.0 {
            let rest = beyond(data + 1);
            sum += (left - rest) * quantity(data);
            left = rest;
            if rest < 1e-15 {
                break;
            }
        }
        sum + left * quantity(self.max.0)
    }
}

/// The lengths of the packets of one flow.
#[derive(Clone, Debug)]
pub enum PacketLengths {
    /// One length.
    Fixed(u64),
    /// Lengths that are drawn one by one.
    Random(LengthForm, Stream),
    /// Lengths of a recording, less these octets of headers.
    Recorded(Reader, u32),
}

/// Distribution from which a length is drawn.
#[derive(Clone, Debug)]
pub enum LengthForm {
    /// The length of the packet with its headers is exponentially distributed.
    Exponential(Exponential, u32),
    /// One of several, and the sum of their weights.
    Mix(Vec<MixPart>, f64),
}

impl PacketLengths {
    /// Return the octets of data in the next packet.
    #[inline]
    pub fn draw(&mut self) -> u64 {
        match self {
            PacketLengths::Fixed(size) => *size,
            PacketLengths::Random(form, stream) => form.draw(stream),
            PacketLengths::Recorded(reader, headers) => reader.advance().octets - u64::from(*headers),
        }
    }
}

impl LengthForm {
    #[inline(never)]
    fn draw(&self, stream: &mut Stream) -> u64 {
        match self {
            LengthForm::Exponential(exponential, headers) => {
                let mean = exponential.mean.0 as f64 + f64::from(*headers);
                exponential.data(mean * stream.exponential(), *headers)
            }
            LengthForm::Mix(parts, total) => {
                let mut left = stream.unit() * total;
                let chosen = parts.iter().find(|part| {
                    left -= part.1;
                    left < 0.0
                });
                let last = || parts.iter().rfind(|part| part.1 > 0.0);
                chosen.or_else(last).expect("a checked mix has a weight").0.0
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::read::{Format, read};

    fn length(text: &str) -> Result<Length, String> {
        let table = read(&format!("size = {text}"), Format::Toml).expect("a table");
        let Value::Table(entries) = &table.value else { panic!("a table") };
        Length::read(&entries[0].1, "size").map_err(|fault| fault.to_string())
    }

    fn mean_drawn(length: &Length, headers: u32, n: u32) -> f64 {
        let mut lengths = length.draws(headers, Stream::new(1, "sizes"));
        (0..n).map(|_| lengths.draw() as f64).sum::<f64>() / f64::from(n)
    }

    #[test]
    fn a_length_is_written_as_it_was_read() {
        for text in
            ["'472 bytes'", "{ exponential = { mean = '472 bytes' } }", "{ mix = [['64 bytes', 7.0]] }"]
        {
            let read = length(text).unwrap();
            let written = read.write().to_string();
            let toml = written.replace("\":", "\"=");
            assert_eq!(length(&toml), Ok(read), "{written}");
        }
    }

    #[test]
    fn the_packets_of_a_mix_come_in_the_ratio_of_their_weights() {
        let mix = length("{ mix = [['64 bytes', 7], ['594 bytes', 4], ['1518 bytes', 1]] }").unwrap();
        let mean = mix.mean_of(28, |data| data as f64);
        assert!((mean - (7.0 * 64.0 + 4.0 * 594.0 + 1518.0) / 12.0).abs() < 1e-9);
        assert!((mean_drawn(&mix, 28, 200_000) / mean - 1.0).abs() < 0.01);
    }

    #[test]
    fn a_whole_packet_is_exponential_with_the_mean_of_data_and_headers() {
        let length = length("{ exponential = { mean = '472 bytes' } }").unwrap();
        let moment = |power: i32| length.mean_of(28, |data| (data as f64 + 28.0).powi(power));
        // the shortest packets have one octet of data, which 6 % of an exponential packet of 500 octets would not reach
        assert!((moment(1) / 500.85 - 1.0).abs() < 1e-3, "{}", moment(1));
        assert!((moment(2) / (2.0 * 500.0 * 500.0) - 1.0).abs() < 1e-3, "{}", moment(2));
        let mean = length.mean_of(28, |data| data as f64);
        assert!((mean_drawn(&length, 28, 400_000) / mean - 1.0).abs() < 0.01);
    }

    #[test]
    fn lengths_that_cannot_be_are_refused_by_their_key() {
        let key = |text: &str| length(text).unwrap().check().unwrap_err().key;
        assert_eq!(key("'0 bytes'"), Some("size"));
        assert_eq!(key("{ exponential = { mean = '0 bytes' } }"), Some("size.exponential.mean"));
        assert_eq!(
            key("{ exponential = { mean = '9 bytes', max = '8 bytes' } }"),
            Some("size.exponential.max")
        );
        assert_eq!(key("{ mix = [] }"), Some("size.mix"));
        assert_eq!(key("{ mix = [['64 bytes', -1]] }"), Some("size.mix"));
        assert_eq!(key("{ mix = [['0 bytes', 1]] }"), Some("size.mix"));
        assert_eq!(length("{ mix = [['64 bytes', 0], ['65 bytes', 1]] }").unwrap().check(), Ok(()));
        assert!(length("{}").unwrap_err().contains("must have one key: exponential or mix"));
        assert!(length("{ mix = ['64 bytes'] }").unwrap_err().contains("as in [\"64 bytes\", 7]"));
    }
}
