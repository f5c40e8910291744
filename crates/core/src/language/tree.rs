//! A scenario file before it is checked: a tree of values with their positions.

use std::fmt;

use serde_json::Value as Json;

use crate::excerpt::{cut, quoted};

/// Deepest nesting of tables and lists, the outermost included; limited because the functions that visit them
/// recurse.
pub const DEEPEST: usize = 64;

/// Place of a value: a byte offset in one of the sources of a scenario.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TextPlace {
    /// Number of the source: 0 is the scenario file, `n` is the `n`-th override given with it.
    pub source: u32,
    /// Byte offset in this source.
    pub offset: u32,
}

impl TextPlace {
    /// The place of a value that a program has built: no text has it.
    pub const NONE: TextPlace = TextPlace { source: u32::MAX, offset: 0 };
}

/// A value and its position.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The value.
    pub value: Value,
    /// Place of the value's first byte.
    pub place: TextPlace,
}

/// A key of a table and its position.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    /// Name of the key, unquoted.
    pub name: String,
    /// Place of the key's first byte.
    pub place: TextPlace,
}

/// The values that TOML and JSON share.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number of at most 64 bits, with or without a sign.
    Integer(i128),
    /// A number with a fraction.
    Float(f64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// A table, in the order of the source.
    Table(Vec<(Key, Node)>),
}

impl From<bool> for Value {
    fn from(value: bool) -> Value {
        Value::Bool(value)
    }
}

impl From<u64> for Value {
    fn from(value: u64) -> Value {
        Value::Integer(value.into())
    }
}

impl From<f64> for Value {
    fn from(value: f64) -> Value {
        Value::Float(value)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.to_string())
    }
}

impl From<Node> for Value {
    fn from(node: Node) -> Value {
        node.value
    }
}

/// One fault in a scenario: its position, the reason, and the remedy.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// Position of the fault.
    pub place: TextPlace,
    /// The path of the key, as in `port.bottleneck.buffer`; empty for the file as a whole.
    pub path: String,
    /// The fault with the value, the allowed values and, for a key, the nearest valid one.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path.is_empty() {
            f.write_str(&self.message)
        } else {
            let colon = if self.message.starts_with(MUST) { "" } else { ":" };
            write!(f, "{}{colon} {}", cut(&self.path, LONGEST_PATH), self.message)
        }
    }
}

/// The beginning of a message whose subject is the path of the value.
const MUST: &str = "must ";

/// Greatest number of characters of a path that a message shows.
const LONGEST_PATH: usize = 100;

impl std::error::Error for Fault {}

impl Fault {
    /// Build a fault at a position without a key.
    pub fn at(place: TextPlace, message: impl Into<String>) -> Fault {
        Fault { place, path: String::new(), message: message.into() }
    }

    /// Append a sentence to the message of this fault.
    pub fn with(self, more: &str) -> Fault {
        Fault { message: self.message + more, ..self }
    }
}

/// Add the value to a message about it: "must CONDITION, not VALUE; MORE" (or ": MORE"), or else "VALUE: MESSAGE".
fn about(value: &str, message: String) -> String {
    if !message.starts_with(MUST) {
        return format!("{value}: {message}");
    }
    let (condition, more) = message.split_at(message.find([';', ':']).unwrap_or(message.len()));
    format!("{condition}, not {value}{more}")
}

impl Node {
    /// Build a table that has only the key `key`, with this text.
    pub fn named(key: &str, text: &str) -> Node {
        Node::table([(key, text.into())], TextPlace::default())
    }

    /// Build a table with these keys, all at one place.
    pub fn table<'k>(entries: impl IntoIterator<Item = (&'k str, Value)>, place: TextPlace) -> Node {
        let entry =
            |(name, value): (&str, Value)| (Key { name: name.to_string(), place }, Node { value, place });
        Node { value: Value::Table(entries.into_iter().map(entry).collect()), place }
    }

    /// Build a fault of this value.
    pub fn fault(&self, path: &str, message: impl Into<String>) -> Fault {
        Fault { place: self.place, path: path.to_string(), message: message.into() }
    }

    /// Build a fault of a key below this value, as in "transport.mss": its position is that of the key, whose value
    /// the message shows, or that of this value if the key is missing.
    pub fn fault_along(&self, path: &str, key: &str, message: impl Into<String>) -> Fault {
        let node = self.along(key);
        let (shown, message) = (node.show(), message.into());
        let told = match node.value {
            Value::Table(_) | Value::List(_) => true,
            Value::Text(_) => message.contains(&shown),
            _ => message.starts_with(&shown),
        };
        let message = if told { message } else { about(&shown, message) };
        node.fault(&if path.is_empty() { key.to_string() } else { format!("{path}.{key}") }, message)
    }

    /// Return the value as a person would write it, cut if it is long.
    pub fn show(&self) -> String {
        match &self.value {
            Value::Bool(b) => b.to_string(),
            Value::Integer(i) => i.to_string(),
            Value::Float(x) => format!("{x:?}"),
            Value::Text(text) => quoted(text),
            Value::List(_) => "a list".to_string(),
            Value::Table(_) => "a table".to_string(),
        }
    }

    /// Return the entry of a table with this name.
    pub fn get(&self, name: &str) -> Option<&Node> {
        match &self.value {
            Value::Table(entries) => entries.iter().find(|(key, _)| key.name == name).map(|(_, node)| node),
            _ => None,
        }
    }

    /// Return the entry at the end of a dotted key, or the last existing entry on its path.
    pub fn along(&self, key: &str) -> &Node {
        key.split('.').try_fold(self, |node, name| node.get(name).ok_or(node)).unwrap_or_else(|last| last)
    }

    /// Return the text, if the value is a text.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Return the name by which a path gives an entry of a list: its `name`, or "a->b" for a line from a to b. What
    /// happens at a port has times in those keys instead.
    pub fn label(&self) -> Option<String> {
        let text = |key| self.get(key).and_then(Node::text);
        let ends = || (text("port").is_none()).then(|| Some(arrow(text("from")?, text("to")?)))?;
        text("name").map(str::to_string).or_else(ends)
    }

    /// Convert this value to JSON.
    pub fn json(&self) -> Json {
        match &self.value {
            Value::Bool(b) => (*b).into(),
            Value::Integer(i) => u64::try_from(*i).map_or_else(|_| (*i as i64).into(), Json::from),
            Value::Float(x) => (*x).into(),
            Value::Text(text) => text.as_str().into(),
            Value::List(items) => items.iter().map(Node::json).collect(),
            Value::Table(entries) => {
                entries.iter().map(|(key, node)| (key.name.clone(), node.json())).collect()
            }
        }
    }
}

/// Return the default name of a line from `from` to `to`.
pub fn arrow(from: &str, to: &str) -> String {
    format!("{from}->{to}")
}

/// Return the path of an entry, with its name in quotes where it could be misread.
pub fn join(path: &str, name: &str) -> String {
    let plain = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "_->".contains(c));
    let quoted = if plain { String::new() } else { format!("{name:?}") };
    let name = if plain { name } else { &quoted };
    if path.is_empty() { name.to_string() } else { [path, ".", name].concat() }
}
