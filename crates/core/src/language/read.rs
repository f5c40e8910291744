//! Reads a text (TOML, or JSON as its canonical form) into a tree of values with their positions.

use jsonc_parser::ast::{ObjectProp, Value as JsonValue};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::toml_error;
use super::tree::{DEEPEST, Fault, Key, Node, TextPlace, Value};
use crate::excerpt::{VALUE, excerpt, quoted};

/// Greatest length of a scenario in octets: a file is shorter, but recordings are added to it.
pub const LONGEST: usize = 128 << 20;

/// The two formats of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// TOML 1.1.
    Toml,
    /// JSON, without comments and trailing commas.
    Json,
}

impl Format {
    /// Return the format of a text with this name: JSON if the name ends with `.json` or the text begins with a
    /// brace.
    pub fn of(name: &str, text: &str) -> Format {
        let brace = text.trim_ascii_start().starts_with('{');
        if name.ends_with(".json") || brace { Format::Json } else { Format::Toml }
    }
}

/// Read the text of a scenario.
pub fn read(text: &str, format: Format) -> Result<Node, Fault> {
    if text.len() > LONGEST {
        let message = format!("{} bytes are more than the {LONGEST} that a scenario can have", text.len());
        return Err(Fault::at(TextPlace::default(), message));
    }
    if text.starts_with('\u{feff}') {
        return Err(Fault::at(
            TextPlace::default(),
            "a scenario must begin with a key, not with a byte order mark",
        ));
    }
    match format {
        Format::Toml => toml_document(text),
        Format::Json => json_document(text),
    }
}

/// Read one TOML value that starts `shift` octets into source number `source`; `None` if the text is not a TOML
/// value.
pub fn toml_value(text: &str, source: u32, shift: u32) -> Option<Result<Node, Fault>> {
    let reader = Toml { text, source, shift };
    DeValue::parse(text).ok().map(|value| reader.node(&value, 0, true, 1))
}

fn toml_document(text: &str) -> Result<Node, Fault> {
    let reader = Toml { text, source: 0, shift: 0 };
    match DeTable::parse(text) {
        Ok(table) => Ok(Node { value: reader.table(table.get_ref(), false, 1)?, place: reader.place(0) }),
        Err(error) => {
            let reason = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
            let offset = error.span().map_or(0, |span| span.start);
            let (offset, message) = toml_error::explain(text, offset, &excerpt(&reason, LONGEST_REASON));
            Err(Fault::at(reader.place(offset), message))
        }
    }
}

/// Characters that open an inline table or list.
const OPENING: [char; 2] = ['{', '['];

/// Converts the output of the TOML parser to a tree.
struct Toml<'a> {
    text: &'a str,
    source: u32,
    shift: u32,
}

impl Toml<'_> {
    fn place(&self, offset: usize) -> TextPlace {
        TextPlace { source: self.source, offset: self.shift + offset as u32 }
    }

    /// Convert a value at the depth `level`; `inline` says whether an inline list or table contains it. The position
    /// of a table that a header or dotted keys open is that of its key.
    fn node(
        &self,
        value: &Spanned<DeValue<'_>>,
        key: usize,
        inside: bool,
        level: usize,
    ) -> Result<Node, Fault> {
        let start = value.span().start;
        let inline = self.text.get(start..).is_some_and(|rest| rest.starts_with(OPENING))
            && (inside || !self.is_header(start));
        let place = match value.get_ref() {
            DeValue::Table(_) | DeValue::Array(_) if !inline => self.place(key),
            _ => self.place(start),
        };
        let value = match value.get_ref() {
            DeValue::Array(_) | DeValue::Table(_) if level >= DEEPEST => {
                return Err(Fault::at(place, too_deep()));
            }
            DeValue::Array(items) => self.list(items, key, inline, level + 1)?,
            DeValue::Table(table) => self.table(table, inline, level + 1)?,
            scalar => toml_scalar(scalar).map_err(|message| Fault::at(place, message))?,
        };
        Ok(Node { value, place })
    }

    /// Convert the items of a list under a key; the items are at the depth `level`. An item that a header opens has
    /// the position of its header.
    fn list(
        &self,
        items: &[Spanned<DeValue<'_>>],
        key: usize,
        inline: bool,
        level: usize,
    ) -> Result<Value, Fault> {
        let header = |start: usize| (!inline).then(|| self.in_header(start)).flatten();
        let own = |item: &Spanned<DeValue<'_>>| header(item.span().start).unwrap_or(key);
        let items = items.iter().map(|item| self.node(item, own(item), inline, level));
        Ok(Value::List(items.collect::<Result<_, _>>()?))
    }

    /// Return whether the text at `start` is a table header such as `[port.bottleneck]`, and not an inline list.
    fn is_header(&self, start: usize) -> bool {
        let before = self.text[..start].trim_end_matches(['[', ' ', '\t']);
        count_steps(start - before.len());
        self.text[start..].starts_with('[') && (before.is_empty() || before.ends_with('\n'))
    }

    /// Return the position of the last name in the table header at `start`, as in `[[zip]]`, if there is a header.
    fn in_header(&self, start: usize) -> Option<usize> {
        let header = &self.text[start..];
        let names = header.strip_prefix("[[").filter(|_| self.is_header(start))?;
        let names = &names[..names.find(']')?];
        let last = if names.contains(['"', '\'']) { names } else { names.rsplit('.').next()? };
        let shift = names.len() - last.trim_start().len();
        Some(start + 2 + shift)
    }

    /// Convert the entries of a table, in the order in which they are written; they are at the depth `level`.
    fn table(&self, table: &DeTable<'_>, inline: bool, level: usize) -> Result<Value, Fault> {
        let mut entries = Vec::with_capacity(table.len());
        for (key, value) in table {
            let start = key.span().start;
            let name = key.get_ref().to_string();
            entries.push((Key { name, place: self.place(start) }, self.node(value, start, inline, level)?));
        }
        entries.sort_by_key(|(key, _)| key.place.offset);
        Ok(Value::Table(entries))
    }
}

/// Convert a value that contains no other values; the error is the message.
fn toml_scalar(value: &DeValue<'_>) -> Result<Value, String> {
    match value {
        DeValue::Boolean(b) => Ok(Value::Bool(*b)),
        DeValue::Integer(i) => {
            i128::from_str_radix(i.as_str(), i.radix()).ok().and_then(whole).ok_or_else(|| {
                format!("{} is not a whole number of at most 64 bits", excerpt(i.as_str(), VALUE))
            })
        }
        DeValue::Float(x) => Ok(Value::Float(x.as_str().parse().unwrap_or(f64::NAN))),
        DeValue::String(text) => Ok(Value::Text(text.to_string())),
        DeValue::Datetime(date) => {
            Err(format!("{date} is a date, and a scenario has none; quote it if it is a text"))
        }
        DeValue::Array(_) | DeValue::Table(_) => unreachable!("lists and tables contain other values"),
    }
}

#[cfg(test)]
thread_local! {
    /// Number of octets that were read again backwards.
    static STEPS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// Count octets that are read again; tests compare their number with the length of the text.
#[inline]
fn count_steps(_octets: usize) {
    #[cfg(test)]
    STEPS.set(STEPS.get() + _octets + 1);
}

const STRICT: ParseOptions = ParseOptions {
    allow_comments: false,
    allow_loose_object_property_names: false,
    allow_trailing_commas: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

fn json_fault(offset: usize, message: String) -> Fault {
    Fault::at(json_place(offset), message)
}

fn json_place(offset: usize) -> TextPlace {
    TextPlace { source: 0, offset: offset as u32 }
}

fn json_document(text: &str) -> Result<Node, Fault> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &STRICT).map_err(|error| {
        let reason = excerpt(&error.kind().to_string(), LONGEST_REASON);
        json_fault(error.range().start, format!("this is not JSON: {reason}"))
    })?;
    match parsed.value {
        Some(value) => json_node(&value, 0),
        None => Err(json_fault(0, "this is not JSON: it is empty".to_string())),
    }
}

/// Convert a value at the depth `level`.
fn json_node(value: &JsonValue<'_>, level: usize) -> Result<Node, Fault> {
    let start = value.start();
    let value = match value {
        JsonValue::StringLit(text) => Value::Text(text.value.to_string()),
        JsonValue::NumberLit(number) => json_number(number.value).ok_or_else(|| {
            json_fault(start, format!("{} is too large a number", excerpt(number.value, VALUE)))
        })?,
        JsonValue::BooleanLit(boolean) => Value::Bool(boolean.value),
        JsonValue::Object(_) | JsonValue::Array(_) if level >= DEEPEST => {
            return Err(json_fault(start, too_deep()));
        }
        JsonValue::Object(object) => json_table(&object.properties, level + 1)?,
        JsonValue::Array(array) => {
            let entry = |item| json_node(item, level + 1);
            Value::List(array.elements.iter().map(entry).collect::<Result<_, _>>()?)
        }
        JsonValue::NullKeyword(_) => {
            return Err(json_fault(start, "null is no value: leave the key out".to_string()));
        }
    };
    Ok(Node { value, place: json_place(start) })
}

/// Greatest number of characters of a parser's sentence that a message repeats; the sentence may quote its input.
const LONGEST_REASON: usize = 120;

fn too_deep() -> String {
    format!("tables and lists must be nested at most {DEEPEST} levels deep")
}

/// Convert a number: to an integer if it is written as one.
fn json_number(text: &str) -> Option<Value> {
    if text.contains(['.', 'e', 'E']) {
        return text.parse().ok().filter(|x: &f64| x.is_finite()).map(Value::Float);
    }
    text.parse().ok().and_then(whole)
}

/// Return a whole number of at most 64 bits, with or without a sign.
fn whole(number: i128) -> Option<Value> {
    (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&number).then_some(Value::Integer(number))
}

/// Convert a table whose entries are at the depth `level`.
fn json_table(properties: &[ObjectProp<'_>], level: usize) -> Result<Value, Fault> {
    let mut seen = std::collections::BTreeSet::new();
    let mut entries = Vec::with_capacity(properties.len());
    for property in properties {
        let (name, start) = (property.name.as_str(), property.name.start());
        if !seen.insert(name) {
            return Err(json_fault(start, format!("this is not JSON: duplicate key {}", quoted(name))));
        }
        let key = Key { name: name.to_string(), place: json_place(start) };
        entries.push((key, json_node(&property.value, level)?));
    }
    Ok(Value::Table(entries))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every value with its path and the text that stands at its place.
    fn places(text: &str) -> Vec<(String, String)> {
        let root = read(text, Format::of("", text)).unwrap();
        let mut found = Vec::new();
        walk(&root, "", &mut |path, place| {
            let rest = &text[place.offset as usize..];
            found.push((path.to_string(), rest.chars().take(4).collect()));
        });
        found
    }

    fn walk(node: &Node, path: &str, see: &mut dyn FnMut(&str, TextPlace)) {
        see(path, node.place);
        match &node.value {
            Value::List(items) => {
                items.iter().enumerate().for_each(|(i, item)| walk(item, &format!("{path}[{i}]"), see));
            }
            Value::Table(entries) => {
                entries.iter().for_each(|(key, item)| walk(item, &format!("{path}.{}", key.name), see));
            }
            _ => {}
        }
    }

    #[test]
    fn every_entry_of_a_list_of_tables_stands_at_its_own_header() {
        let text = "[[a]]\nx = 1\n[[ a ]]\n[[b.c]]\n[[b . c]]\n";
        let root = read(text, Format::Toml).unwrap();
        let Value::List(items) = &root.get("a").unwrap().value else { panic!("a list") };
        assert_eq!(items.iter().map(|item| item.place.offset).collect::<Vec<_>>(), [2, 15]);
        let Value::List(items) = &root.along("b.c").value else { panic!("a list") };
        let rest = |offset: u32| &text[offset as usize..];
        assert_eq!(
            items.iter().map(|item| rest(item.place.offset)).collect::<Vec<_>>(),
            ["c]]\n[[b . c]]\n", "c]]\n"]
        );
    }

    fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|(path, text)| (path.to_string(), text.to_string())).collect()
    }

    #[test]
    fn toml_values_stand_where_they_are_written_and_tables_where_they_are_opened() {
        let text = "name = 'x'\n[port.left]\nbuffer = [ 1, 2 ]\na.b = 3\n[[flow]]\nx = { y = 5 }\n[[flow]]\n";
        let expected = [
            ("", "name"),
            (".name", "'x'\n"),
            (".port", "port"),
            (".port.left", "left"),
            (".port.left.buffer", "[ 1,"),
            (".port.left.buffer[0]", "1, 2"),
            (".port.left.buffer[1]", "2 ]\n"),
            (".port.left.a", "a.b "),
            (".port.left.a.b", "3\n[["),
            (".flow", "flow"),
            (".flow[0]", "flow"),
            (".flow[0].x", "{ y "),
            (".flow[0].x.y", "5 }\n"),
            (".flow[1]", "flow"),
        ];
        assert_eq!(places(text), pairs(&expected));
    }

    #[test]
    fn a_list_at_the_start_of_a_line_inside_a_list_is_no_header() {
        let text = "a = [\n  [1, 2],\n  [[3]],\n]\n";
        let expected = [
            ("", "a = "),
            (".a", "[\n  "),
            (".a[0]", "[1, "),
            (".a[0][0]", "1, 2"),
            (".a[0][1]", "2],\n"),
            (".a[1]", "[[3]"),
            (".a[1][0]", "[3]]"),
            (".a[1][0][0]", "3]],"),
        ];
        assert_eq!(places(text), pairs(&expected));
    }

    #[test]
    fn the_steps_to_find_places_grow_as_the_text_does() {
        let forms: [fn(usize) -> String; 6] = [
            |n| format!("a = [{}]", "{ x = 1, y = [2] }, ".repeat(n)),
            |n| format!("a = [\n{}]", "{ x = 1, y = [[2]] },\n".repeat(n)),
            |n| format!("a = [{}]", "[ 1, 2 ],".repeat(n)),
            |n| "[[a]]\nx = [ 1 ]\n[a.b]\nc = { d = [] }\n".repeat(n),
            |n| (0..n).map(|i| format!("a.b{i}.c = [[]]\n")).collect(),
            |n| format!("a = [{}{{ x = 1 }}]", " ".repeat(n)),
        ];
        for form in forms {
            let steps = |n| {
                let text = form(n);
                STEPS.set(0);
                read(&text, Format::Toml).unwrap();
                (STEPS.get(), text.len())
            };
            for (steps, length) in [steps(100), steps(1000)] {
                assert!(steps <= length, "{steps} steps in {}", form(2));
            }
        }
    }

    #[test]
    fn json_values_stand_where_they_are_written() {
        let text = r#"{ "a": [1, 2.5], "b": { "c": "x" } }"#;
        let expected = [
            ("", "{ \"a"),
            (".a", "[1, "),
            (".a[0]", "1, 2"),
            (".a[1]", "2.5]"),
            (".b", "{ \"c"),
            (".b.c", "\"x\" "),
        ];
        assert_eq!(places(text), pairs(&expected));
    }

    #[test]
    fn numbers_keep_their_kind_and_their_value() {
        let toml = read("a = 0xff\nb = 1_000\nc = -2\nd = 1e3\n", Format::Toml).unwrap();
        let json = read(r#"{"a": 255, "b": 1000, "c": -2, "d": 1e3}"#, Format::Json).unwrap();
        assert_eq!(toml.json(), json.json());
        assert_eq!(toml.get("a").unwrap().value, Value::Integer(255));
        assert_eq!(toml.get("d").unwrap().value, Value::Float(1000.0));
    }

    #[test]
    fn whole_numbers_have_at_most_64_bits() {
        for number in ["18446744073709551615", "-9223372036854775808"] {
            let toml = read(&format!("a = {number}\n"), Format::Toml).unwrap().json();
            let json = read(&format!("{{\"a\": {number}}}"), Format::Json).unwrap().json();
            assert_eq!((toml["a"].to_string().as_str(), &toml), (number, &json));
        }
        for number in ["18446744073709551616", "-9223372036854775809"] {
            assert!(refused(&format!("a = {number}\n"), Format::Toml).1.contains("64 bits"));
            assert!(refused(&format!("{{\"a\": {number}}}"), Format::Json).1.contains("too large"));
        }
    }

    fn refused(text: &str, format: Format) -> (u32, String) {
        let fault = read(text, format).unwrap_err();
        (fault.place.offset, fault.message)
    }

    #[test]
    fn what_is_neither_toml_nor_json_is_refused_with_the_parser_s_reason() {
        let (offset, message) = refused("a = 1\nb == 2\n", Format::Toml);
        assert_eq!((offset, message.starts_with("this is not TOML: ")), (9, true));
        assert_eq!(
            refused("{\"a\": 1,}", Format::Json),
            (7, "this is not JSON: Trailing commas are not allowed".into())
        );
        assert!(refused("{\"a\": 1 // one\n}", Format::Json).1.starts_with("this is not JSON: "));
        assert_eq!(
            refused("a = 1\na = 2\n", Format::Toml).1,
            "the key \"a\" is given twice, first in line 1"
        );
        assert_eq!(
            refused(r#"{"a": 1, "a": 2}"#, Format::Json),
            (9, "this is not JSON: duplicate key \"a\"".into())
        );
        assert_eq!(refused("", Format::Json), (0, "this is not JSON: it is empty".into()));
        assert!(refused("a = 2026-01-01\n", Format::Toml).1.contains("is a date"));
        assert!(refused("a = 99999999999999999999\n", Format::Toml).1.contains("64 bits"));
        assert!(refused(r#"{"a": null}"#, Format::Json).1.contains("leave the key out"));
    }

    #[test]
    fn deep_nesting_is_refused_and_does_not_exhaust_the_stack() {
        let deep = "[".repeat(100_000);
        assert!(read(&format!("a = {deep}"), Format::Toml).is_err());
        assert!(read(&format!("{{\"a\": {deep}"), Format::Json).is_err());
        assert!(read(&"{\"a\":".repeat(100_000), Format::Json).is_err());
    }

    #[test]
    fn tables_and_lists_are_nested_at_most_64_levels_deep() {
        let json = |levels: usize| "{\"a\":".repeat(levels) + "1" + &"}".repeat(levels);
        let lists = |levels: usize| format!("a = {}{}", "[".repeat(levels - 1), "]".repeat(levels - 1));
        let inline =
            |levels: usize| format!("{}1{}", "a={".repeat(levels - 1) + "a=", "}".repeat(levels - 1));
        let dotted = |levels: usize| format!("{} = 1", vec!["a"; levels].join("."));
        let headed = |levels: usize| format!("[{}]", vec!["a"; levels - 1].join("."));
        for toml in [&lists, &inline, &dotted, &headed] as [&dyn Fn(usize) -> String; 4] {
            assert!(read(&toml(64), Format::Toml).is_ok());
            assert!(refused(&toml(65), Format::Toml).1.contains("nested at most 64 levels deep"));
        }
        assert!(read(&json(64), Format::Json).is_ok());
        assert!(refused(&json(65), Format::Json).1.contains("nested at most 64 levels deep"));
        assert!(matches!(toml_value(&"[".repeat(65), 1, 0), None | Some(Err(_))));
    }

    #[test]
    fn keys_that_nest_in_values_that_nest_do_not_exhaust_the_stack() {
        let keys = vec!["a"; 79].join(".");
        let deep = format!("[{keys}]\n") + &format!("{keys}={{").repeat(79) + "a=1" + &"}".repeat(79);
        assert!(refused(&deep, Format::Toml).1.contains("nested at most 64 levels deep"));
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_a_scenario() {
        for format in [Format::Toml, Format::Json] {
            assert!(refused("\u{feff}{}", format).1.ends_with("not with a byte order mark"));
        }
    }

    #[test]
    fn what_a_message_repeats_of_a_text_is_short() {
        let long = "7".repeat(10_000);
        for text in [
            format!("a = {long}"),
            format!("{{\"a\": {long}}}"),
            format!("{{\"a\": x{long}}}"),
            format!("{{\"{long}\": 1, \"{long}\": 1}}"),
            format!("a = x{long}"),
        ] {
            assert!(refused(&text, Format::of("", &text)).1.chars().count() < 200);
        }
    }

    #[test]
    fn a_scenario_has_a_largest_size() {
        let long = "#".repeat(LONGEST + 1);
        assert!(refused(&long, Format::Toml).1.contains("more than the 134217728"));
    }
}
