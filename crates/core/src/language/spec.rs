//! One description of a section gives its reader, its writer, its schema and its documentation.
//!
//! [`section!`](crate::section) declares a struct whose fields are the keys of a table: the field's doc comment is
//! the key's documentation, `= value` its default; a field without default must be given. A declaration may end with
//! a field introduced by `with`: another section, whose keys stand in this table as well. [`choice!`](crate::choice)
//! declares an enum whose variants are words. These two macros and the registries of policies describe everything
//! that a scenario file can contain, so reader, catalogue and documentation cannot differ.

use serde_json::{Map, Value as Json, json};

use super::names::name_fault;
use super::prose::plain;
use super::tree::{Fault, Key, Node, TextPlace, Value, join};
use crate::excerpt::quoted;
use crate::words::aliases::{key_here, key_meaning, value_here};
use crate::words::nearest::{distance, nearest, unknown_but};

/// The form of a value, for catalogue, schema and documentation.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// Unit of the value: `time`, `rate`, `cells`, `-`, …
    pub unit: &'static str,
    /// JSON Schema of the value.
    pub schema: Json,
}

/// One key of a section.
#[derive(Clone, Debug, PartialEq)]
pub struct ParamSpec {
    /// Name of the key.
    pub name: &'static str,
    /// Form of the value.
    pub shape: Shape,
    /// The default, as a scenario would write it; `None` if the key must be given.
    pub default: Option<Json>,
    /// Documentation of the key.
    pub doc: String,
}

/// A type that can be the value of a key.
pub trait Field: Sized {
    /// Read a value; the error describes its fault.
    fn read(node: &Node, path: &str) -> Result<Self, Fault>;
    /// Write the value so that [`Field::read`] returns an equal one.
    fn write(&self) -> Json;
    /// Return the form of the values of this type.
    fn shape() -> Shape;
}

/// A table with known keys.
pub trait Section: Sized {
    /// The purpose of the section.
    const DOC: &'static str;
    /// The names of the section's keys.
    const KEYS: &'static [&'static str];
    /// Return the section's keys, in the order of the documentation.
    fn params() -> Vec<ParamSpec>;
    /// Read the keys of this section from a table that may hold other keys.
    fn take(table: &mut Table<'_>) -> Result<Self, Fault>;
    /// Write every key of the section.
    fn put(&self, into: &mut Map<String, Json>);
}

/// A table that is being read; it records which keys have been read.
pub struct Table<'a> {
    entries: &'a [(Key, Node)],
    taken: Vec<bool>,
    known: Vec<&'static str>,
    /// The position of the table.
    pub place: TextPlace,
    /// Path of the table.
    pub path: String,
}

impl<'a> Table<'a> {
    /// Prepare to read `node`, which must be a table.
    pub fn new(node: &'a Node, path: &str) -> Result<Table<'a>, Fault> {
        let Value::Table(entries) = &node.value else {
            return Err(node.fault(path, format!("must be a table of keys, not {}", node.show())));
        };
        let taken = vec![false; entries.len()];
        Ok(Table { entries, taken, known: Vec::new(), place: node.place, path: path.to_string() })
    }

    /// Return the path of a key of this table.
    pub fn path_of(&self, name: &str) -> String {
        join(&self.path, name)
    }

    /// Return the value of a key, if it is given; from now on the key counts as read.
    pub fn take(&mut self, name: &'static str) -> Option<&'a Node> {
        self.known.push(name);
        let index = self.entries.iter().position(|(key, _)| key.name == name)?;
        self.taken[index] = true;
        Some(&self.entries[index].1)
    }

    /// Read a key that must be given.
    pub fn required<T: Field>(&mut self, name: &'static str) -> Result<T, Fault> {
        match self.take(name) {
            Some(node) => self.read(node, name),
            None => Err(self.misspelt(name).unwrap_or_else(|| Fault {
                place: self.place,
                path: self.path.clone(),
                message: format!("the key \"{name}\" is missing"),
            })),
        }
    }

    /// Read the value of a key. To save allocations, the table's path is extended by the key meanwhile: a run of many
    /// flows reads millions of keys.
    fn read<T: Field>(&mut self, node: &Node, name: &'static str) -> Result<T, Fault> {
        let length = self.path.len();
        if length > 0 {
            self.path.push('.');
        }
        self.path.push_str(name);
        let value = T::read(node, &self.path);
        self.path.truncate(length);
        value
    }

    /// Return the fault of a key that was not read and resembles the missing key `name`, or is what other programs call
    /// it, if there is one.
    fn misspelt(&self, name: &str) -> Option<Fault> {
        let alias = self.rest().find_map(|(key, node)| Some((key, node, key_meaning(&key.name, &[name])?)));
        if let Some((key, node, meaning)) = alias {
            let converted = value_here(&key.name, &node.show());
            let message = format!("unknown key {}: {meaning}{converted}", quoted(&key.name));
            return Some(Fault { place: key.place, path: self.path_of(&key.name), message });
        }
        let (key, _) = self.rest().find(|(key, _)| distance(&key.name, name) <= 1 + name.len() / 6)?;
        let message =
            format!("unknown key {}; did you mean \"{name}\", which is missing?", quoted(&key.name));
        Some(Fault { place: key.place, path: self.path_of(&key.name), message })
    }

    /// Read an optional key.
    pub fn or<T: Field>(&mut self, name: &'static str, default: T) -> Result<T, Fault> {
        match self.take(name) {
            Some(node) => self.read(node, name),
            None => Ok(default),
        }
    }

    /// Return the keys that have not been read, with their values.
    pub fn rest(&self) -> impl Iterator<Item = &'a (Key, Node)> {
        self.entries.iter().zip(&self.taken).filter(|(_, taken)| !**taken).map(|(entry, _)| entry)
    }

    /// Refuse any key that has not been read.
    pub fn finish(self) -> Result<(), Fault> {
        self.finish_with(Vec::new)
    }

    /// Like `finish`, for a table with nested tables: the message says if an unknown key belongs to one of these.
    pub(super) fn finish_with(self, nested: impl Fn() -> Vec<String>) -> Result<(), Fault> {
        let Some((key, node)) = self.rest().next() else { return Ok(()) };
        let path = self.path_of(&key.name);
        let mut message = unknown_key(&key.name, &self.known, nested);
        if message.contains("it is called") {
            message += &value_here(&key.name, &node.show());
        }
        Err(Fault { place: key.place, path, message })
    }
}

/// Read a table that holds the keys of a section and no others.
pub fn read_section<T: Section>(node: &Node, path: &str) -> Result<T, Fault> {
    let mut table = Table::new(node, path)?;
    let section = T::take(&mut table)?;
    table.finish_with(nested_keys::<T>)?;
    Ok(section)
}

/// Like `read_section`, for the value of a key: the message about another value shows how the table begins.
fn nested_section<T: Section>(node: &Node, path: &str) -> Result<T, Fault> {
    let begin =
        || T::KEYS.iter().take(SHOWN_KEYS).map(|key| format!("{key} = …")).collect::<Vec<_>>().join(", ");
    let is_table = matches!(node.value, Value::Table(_));
    read_section(node, path).map_err(|fault| match is_table {
        true => fault,
        false => fault.with(&format!(", as in {{ {} }}", begin())),
    })
}

/// Largest number of keys that a message shows of a table.
const SHOWN_KEYS: usize = 2;

/// Return the message about an unknown key; the nearest valid key may be in a nested table.
pub(crate) fn unknown_key(name: &str, allowed: &[&str], nested: impl Fn() -> Vec<String>) -> String {
    let nested = nested();
    let last: Vec<&str> = nested.iter().filter_map(|path| path.rsplit('.').next()).collect();
    let (here, there) = (nearest(name, allowed), key_here(name, &last).or_else(|| nearest(name, &last)));
    let mistakes = |near: Option<&str>| near.map_or(usize::MAX, |near| distance(name, near));
    let near = match there.filter(|_| mistakes(there) < mistakes(here)) {
        Some(key) => last.iter().position(|last| *last == key).map(|index| nested[index].as_str()),
        None => here,
    };
    unknown_but("key", name, near, allowed)
}

/// Return the keys of the tables nested in a section, as in "transport.mss", for all kinds of each table.
pub(crate) fn nested_keys<T: Section>() -> Vec<String> {
    let of_param = |param: ParamSpec| {
        let schema = param.shape.schema;
        let forms = schema["oneOf"].as_array().cloned().unwrap_or_else(|| vec![schema]);
        let keys = forms.iter().filter_map(|form| form["properties"].as_object()).flat_map(Map::keys);
        keys.map(|key| format!("{}.{key}", param.name)).collect::<Vec<_>>()
    };
    T::params().into_iter().flat_map(of_param).collect()
}

/// A section as the value of a key.
#[derive(Clone, Debug, PartialEq)]
pub struct Nested<T>(pub T);

impl<T: Section> Field for Nested<T> {
    fn read(node: &Node, path: &str) -> Result<Self, Fault> {
        nested_section(node, path).map(Nested)
    }

    fn write(&self) -> Json {
        let mut keys = Map::new();
        self.0.put(&mut keys);
        keys.into()
    }

    fn shape() -> Shape {
        Shape { unit: "table", schema: object_schema(&T::params()) }
    }
}

/// A section on the heap, for a section that few scenarios have: so the struct that holds it stays small.
#[derive(Clone, Debug, PartialEq)]
pub struct Boxed<T>(pub Box<T>);

impl<T: Section> Field for Boxed<T> {
    fn read(node: &Node, path: &str) -> Result<Self, Fault> {
        nested_section(node, path).map(|section| Boxed(Box::new(section)))
    }

    fn write(&self) -> Json {
        let mut keys = Map::new();
        self.0.put(&mut keys);
        keys.into()
    }

    fn shape() -> Shape {
        Nested::<T>::shape()
    }
}

/// Tables of one kind under names, in the order in which they are written.
#[derive(Clone, Debug, PartialEq)]
pub struct Named<T>(pub Vec<(String, T)>);

impl<T> Default for Named<T> {
    fn default() -> Self {
        Named(Vec::new())
    }
}

impl<T: Section> Field for Named<T> {
    fn read(node: &Node, path: &str) -> Result<Self, Fault> {
        let Value::Table(entries) = &node.value else {
            return Err(
                node.fault(path, format!("{} is not a table of tables, each under a name", node.show()))
            );
        };
        let entry = |(key, node): &(Key, Node)| {
            let path = join(path, &key.name);
            match name_fault(&key.name) {
                Some(message) => Err(Fault { place: key.place, path, message }),
                None => Ok((key.name.clone(), read_section(node, &path)?)),
            }
        };
        entries.iter().map(entry).collect::<Result<_, _>>().map(Named)
    }

    fn write(&self) -> Json {
        let table = |section: &T| {
            let mut keys = Map::new();
            section.put(&mut keys);
            Json::from(keys)
        };
        self.0.iter().map(|(name, section)| (name.clone(), table(section))).collect()
    }

    fn shape() -> Shape {
        let schema = json!({ "type": "object", "additionalProperties": object_schema(&T::params()) });
        Shape { unit: "tables", schema }
    }
}

/// Declare a section: a struct, its keys, their defaults and their documentation in one place.
#[macro_export]
macro_rules! section {
    (
        $(#[doc = $doc:literal])+
        $vis:vis struct $name:ident {
            $( $(#[doc = $fdoc:literal])+ $fvis:vis $field:ident : $type:ty $(= $default:expr)? ),* $(,)?
        }
        $( with $part_vis:vis $part:ident : $part_type:ty )?
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq)]
        $vis struct $name {
            $( $(#[doc = $fdoc])+ $fvis $field: $type, )*
            $( #[doc = "Keys that another section declares."] $part_vis $part: $part_type, )?
        }

        impl $crate::language::spec::Section for $name {
            const DOC: &'static str = concat!($($doc, "\n"),+);
            const KEYS: &'static [&'static str] = &[$(stringify!($field)),*];
            fn params() -> Vec<$crate::language::spec::ParamSpec> {
                #[allow(unused_mut)] // only a section with a part extends it
                let mut params = vec![$( $crate::language::spec::ParamSpec {
                    name: stringify!($field),
                    shape: <$type as $crate::language::spec::Field>::shape(),
                    default: $crate::section!(@default $type $(, $default)?),
                    doc: [$($fdoc.trim()),+].join(" "),
                } ),*];
                $( params.extend(<$part_type as $crate::language::spec::Section>::params()); )?
                params
            }
            #[allow(unused_variables)]
            fn take(
                table: &mut $crate::language::spec::Table<'_>,
            ) -> Result<Self, $crate::language::tree::Fault> {
                Ok($name {
                    $( $field: $crate::section!(@take table, $field $(, $default)?), )*
                    $( $part: <$part_type as $crate::language::spec::Section>::take(table)?, )?
                })
            }
            #[allow(unused_variables)]
            fn put(&self, into: &mut $crate::serde_json::Map<String, $crate::serde_json::Value>) {
                $( $crate::language::spec::put(into, stringify!($field), &self.$field); )*
                $( $crate::language::spec::Section::put(&self.$part, into); )?
            }
        }
    };
    (@default $type:ty) => { None };
    (@default $type:ty, $default:expr) => {{
        let value: $type = $default;
        Some($crate::language::spec::Field::write(&value))
    }};
    (@take $table:ident, $field:ident) => { $table.required(stringify!($field))? };
    (@take $table:ident, $field:ident, $default:expr) => { $table.or(stringify!($field), $default)? };
}

/// Declare an enum whose variants are words in a scenario.
#[macro_export]
macro_rules! choice {
    (
        $(#[doc = $doc:literal])+
        $vis:vis enum $name:ident { $( $(#[doc = $vdoc:literal])+ $variant:ident = $word:literal ),+ $(,)? }
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $vis enum $name { $( $(#[doc = $vdoc])+ $variant ),+ }

        impl $name {
            /// The words, each with its documentation.
            $vis const WORDS: &'static [(&'static str, &'static str)] = &[$(($word, concat!($($vdoc, "\n"),+))),+];

            /// Return the variant of this name; the error lists the valid names.
            $vis fn from_word(word: &str) -> Result<Self, String> {
                match word {
                    $( $word => Ok($name::$variant), )+
                    _ => Err($crate::words::nearest::unknown("value", word, &[$($word),+])),
                }
            }
        }

        impl $crate::language::spec::Field for $name {
            fn read(
                node: &$crate::language::tree::Node,
                path: &str,
            ) -> Result<Self, $crate::language::tree::Fault> {
                match &node.value {
                    $crate::language::tree::Value::Text(word) => {
                        $name::from_word(word).map_err(|why| node.fault(path, why))
                    }
                    _ => Err(node.fault(path, format!("must be one of {}, not {}", [$($word),+].join(", "), node.show()))),
                }
            }
            fn write(&self) -> $crate::serde_json::Value {
                match self { $( $name::$variant => $word.into() ),+ }
            }
            fn shape() -> $crate::language::spec::Shape {
                $crate::language::spec::shape_of_words($name::WORDS)
            }
        }
    };
}

/// Write one key of a section; leave out a value that is not set.
pub fn put<T: Field>(into: &mut Map<String, Json>, name: &str, value: &T) {
    let json = value.write();
    if !json.is_null() {
        into.insert(name.to_string(), json);
    }
}

/// Return the form of a value that is one of these words.
pub fn shape_of_words(words: &[(&str, &str)]) -> Shape {
    let (names, docs): (Vec<_>, Vec<_>) = words.iter().map(|(word, doc)| (*word, plain(doc))).unzip();
    Shape { unit: "-", schema: json!({ "enum": names, "enumDescriptions": docs }) }
}

/// Return the JSON Schema of a table with these keys and no others.
pub fn object_schema(params: &[ParamSpec]) -> Json {
    let mut properties = Map::new();
    for param in params {
        let mut schema = param.shape.schema.clone();
        schema["description"] = param.doc.as_str().into();
        if let Some(default) = param.default.as_ref().filter(|default| !default.is_null()) {
            schema["default"] = default.clone();
        }
        properties.insert(param.name.to_string(), schema);
    }
    let required: Vec<_> =
        params.iter().filter(|param| param.default.is_none()).map(|param| param.name).collect();
    let mut schema = json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Span;

    choice! {
        /// A curve.
        enum Curve {
            /// Straight.
            Straight = "straight",
            /// Bent.
            Bent = "bent",
        }
    }

    section! {
        /// An example.
        struct Example {
            /// How long.
            delay: Span,
            /// Form of the curve.
            curve: Curve = Curve::Bent,
            /// Number of curves, if it is limited.
            count: Option<u32> = None,
        }
    }

    fn node(value: Value) -> Node {
        Node { value, place: TextPlace::default() }
    }

    fn table(entries: &[(&str, Value)]) -> Node {
        let key = |name: &str| Key { name: name.to_string(), place: TextPlace::default() };
        node(Value::Table(entries.iter().map(|(name, value)| (key(name), node(value.clone()))).collect()))
    }

    fn read(entries: &[(&str, Value)]) -> Result<Example, String> {
        let node = table(entries);
        let mut table = Table::new(&node, "example").map_err(|fault| fault.to_string())?;
        let example = Example::take(&mut table).map_err(|fault| fault.to_string())?;
        table.finish().map_err(|fault| fault.to_string())?;
        Ok(example)
    }

    #[test]
    fn a_section_reads_its_keys_and_fills_in_defaults() {
        let example = read(&[("delay", Value::Text("5 us".into()))]).unwrap();
        assert_eq!(example, Example { delay: Span::micros(5), curve: Curve::Bent, count: None });
        let mut written = Map::new();
        example.put(&mut written);
        assert_eq!(Json::Object(written), json!({ "delay": "5 us", "curve": "bent" }));
    }

    #[test]
    fn a_section_names_what_is_wrong() {
        assert!(read(&[]).unwrap_err().contains("\"delay\" is missing"));
        let latency = read(&[("latency", Value::Text("5 us".into()))]).unwrap_err();
        assert_eq!(latency, "example.latency: unknown key \"latency\": it is called \"delay\" here");
        let delay = ("delay", Value::Text("5 us".into()));
        let fault = read(&[delay.clone(), ("cruve", Value::Bool(true))]).unwrap_err();
        assert_eq!(
            fault,
            "example.cruve: unknown key \"cruve\"; did you mean \"curve\"? (allowed: delay, curve, count)"
        );
        let fault = read(&[delay.clone(), ("curve", Value::Text("round".into()))]).unwrap_err();
        assert_eq!(fault, "example.curve: unknown value \"round\" (allowed: straight, bent)");
        let fault = read(&[("delay", Value::Integer(5))]).unwrap_err();
        assert_eq!(fault, "example.delay must be a time with a unit, as in \"100 us\", not 5");
    }

    #[test]
    fn a_section_describes_itself() {
        let params = Example::params();
        assert_eq!(Example::DOC.trim(), "An example.");
        assert_eq!(params[0].name, "delay");
        assert_eq!(params[0].default, None);
        assert_eq!(params[0].shape.unit, "time");
        assert_eq!(params[1].default, Some(json!("bent")));
        assert_eq!(params[1].doc, "Form of the curve.");
    }
}
