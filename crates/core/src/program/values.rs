//! The named values of a program: its parameters, and the initial values of its state.

use serde_json::{Map, Value as Json, json};

use super::code::{Type, Word};
use crate::buffer::context::Context;
use crate::buffer::size::{BufferSize, Level};
use crate::excerpt::quoted;
use crate::language::spec::{Field, Shape};
use crate::language::tree::{Fault, Node, Value, join};
use crate::refused::{Refused, refuse};
use crate::units::{Quantity, Rate, Span};

/// One value as a scenario writes it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Scalar {
    Int(i64),
    Float(f64),
    Bool(bool),
    /// An occupancy: an integer in the measure of the port.
    Level(Level),
    /// A time: a number of seconds.
    Time(Span),
    /// A rate: an integer, in bits per second.
    Rate(Rate),
}

/// Values by name, in the order of the scenario.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values(Box<[(String, Scalar)]>);

/// A named value with its type, converted for a buffer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Known {
    pub(crate) name: String,
    pub(crate) kind: Type,
    pub(crate) word: Word,
}

/// A buffer, or a pool of a memory, of which parameters can be parts.
pub(crate) trait Buffer {
    /// Return the occupancy that a level under the key `key` stands for; the error says why it has no meaning there.
    fn level(&self, key: &'static str, level: Level) -> Result<u64, Refused>;
}

impl Buffer for Context<'_> {
    fn level(&self, key: &'static str, level: Level) -> Result<u64, Refused> {
        Context::level(self, key, level)
    }
}

/// A connection has no buffer, so that occupancies are octets.
pub(crate) struct Octets;

impl Buffer for Octets {
    fn level(&self, key: &'static str, level: Level) -> Result<u64, Refused> {
        match level {
            Level::Size(BufferSize::Bytes(octets)) => Ok(octets),
            _ => refuse(key, "must have occupancies in octets, as in \"10 kB\": a connection has no buffer"),
        }
    }
}

/// Greatest number of state variables of the port, of each circuit and of each queue.
pub(crate) const STATE: usize = 16;

/// Greatest number of parameters of a program.
pub(crate) const PARAMS: usize = 64;

/// Convert the values of an optional key for one buffer.
pub(crate) fn known(
    values: &Option<Values>,
    key: &'static str,
    most: usize,
    context: &impl Buffer,
) -> Result<Vec<Known>, Refused> {
    values.as_ref().map_or(Ok(Vec::new()), |values| values.at(key, most, context))
}

impl Values {
    /// Return whether there are no values.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Convert the values for one buffer; `key` is their key, and `most` the greatest number of values.
    pub(crate) fn at(
        &self,
        key: &'static str,
        most: usize,
        context: &impl Buffer,
    ) -> Result<Vec<Known>, Refused> {
        if self.0.len() > most {
            return refuse(key, format!("must have at most {most} names, not {}", self.0.len()));
        }
        self.0
            .iter()
            .map(|(name, scalar)| {
                let (kind, word) = scalar.at(key, context)?;
                Ok(Known { name: name.clone(), kind, word })
            })
            .collect()
    }
}

impl Scalar {
    fn at(self, key: &'static str, context: &impl Buffer) -> Result<(Type, Word), Refused> {
        Ok(match self {
            Scalar::Int(value) => (Type::Int, Word::int(value)),
            Scalar::Float(value) => (Type::Float, Word::float(value)),
            Scalar::Bool(value) => (Type::Bool, Word::bool(value)),
            Scalar::Level(level) => (Type::Int, Word::size(context.level(key, level)?)),
            Scalar::Time(time) => (Type::Float, Word::float(time.as_secs_f64())),
            Scalar::Rate(rate) => (Type::Int, Word::size(rate.0)),
        })
    }

    fn read(node: &Node, path: &str) -> Result<Scalar, Fault> {
        let fault = || {
            let what = "must be a number, true, false, or a quantity as in \"80 %\", \"5 ms\" or \"10 Mb/s\"";
            node.fault(path, format!("{what}, not {}", node.show()))
        };
        match &node.value {
            Value::Bool(value) => Ok(Scalar::Bool(*value)),
            Value::Integer(value) => i64::try_from(*value).map(Scalar::Int).map_err(|_| fault()),
            Value::Float(value) if value.is_finite() => Ok(Scalar::Float(*value)),
            Value::Text(text) => {
                let level = Level::read(node, path).ok().map(Scalar::Level);
                let time = || Span::parse(text).ok().map(Scalar::Time);
                let rate = || Rate::parse(text).ok().map(Scalar::Rate);
                level.or_else(time).or_else(rate).ok_or_else(fault)
            }
            _ => Err(fault()),
        }
    }

    fn write(self) -> Json {
        match self {
            Scalar::Int(value) => value.into(),
            Scalar::Float(value) => value.into(),
            Scalar::Bool(value) => value.into(),
            Scalar::Level(level) => level.write(),
            Scalar::Time(time) => time.write(),
            Scalar::Rate(rate) => rate.write(),
        }
    }
}

/// Return whether an instruction can contain this name.
fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && chars.all(|other| other.is_ascii_alphanumeric() || other == '_')
}

impl Field for Values {
    fn read(node: &Node, path: &str) -> Result<Values, Fault> {
        let Value::Table(entries) = &node.value else {
            return Err(node.fault(path, format!("must be a table of names and values, not {}", node.show())));
        };
        let value = |(key, node): &(crate::language::tree::Key, Node)| {
            if !is_name(&key.name) {
                let why = format!(
                    "must have names of letters, digits and underscores, as in \"threshold\", not {}",
                    quoted(&key.name)
                );
                return Err(Fault { place: key.place, path: path.to_string(), message: why });
            }
            Ok((key.name.clone(), Scalar::read(node, &join(path, &key.name))?))
        };
        entries.iter().map(value).collect::<Result<_, _>>().map(Values)
    }

    fn write(&self) -> Json {
        self.0.iter().map(|(name, scalar)| (name.clone(), scalar.write())).collect::<Map<_, _>>().into()
    }

    fn shape() -> Shape {
        let value = json!({ "type": ["integer", "number", "boolean", "string"] });
        Shape {
            unit: "-",
            schema: json!({ "type": "object", "additionalProperties": value, "examples": [{}] }),
        }
    }
}
