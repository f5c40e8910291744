//! Overrides given with a file, as in `port.bottleneck.buffer="8192 cells"`.
//!
//! The value is read as TOML or, if that fails, as a text; it replaces the previous value of the key. The path gives
//! an entry of a list by its name or by its position, from 0.

#[cfg(feature = "scenario")]
use super::read;
#[cfg(feature = "scenario")]
use super::tree::DEEPEST;
use super::tree::{Fault, Key, Node, TextPlace, Value, join};
use crate::words::nearest::unknown;

/// A key and its new value.
#[derive(Clone, Debug, PartialEq)]
pub struct Set {
    /// The keys of the path, outermost first; never empty.
    pub keys: Vec<Key>,
    /// The value.
    pub value: Node,
}

impl Set {
    /// Set the key in `root` to its value.
    pub fn apply(&self, root: &mut Node) -> Result<(), Fault> {
        put(root, &self.keys, &self.value, "")
    }

    /// Return whether this override changes a single entry of a list that a template may have made.
    pub fn concerns_an_entry(&self) -> bool {
        self.keys.len() > 1 && ["node", "link", "flow"].contains(&self.keys[0].name.as_str())
    }

    /// Return the port, or class of ports, whose section this override changes.
    pub fn port(&self) -> Option<&str> {
        match &self.keys[..] {
            [port, name, ..] if port.name == "port" => Some(&name.name),
            _ => None,
        }
    }

    /// Return whether this override changes a key of a section, not a whole section.
    pub fn concerns_a_part(&self) -> bool {
        self.keys.len() > 2
    }

    /// Return the keys as one path.
    pub fn path(&self) -> String {
        path(&self.keys)
    }
}

#[cfg(feature = "scenario")]
impl Set {
    /// Read `key.path=value`, which is source number `source` of the scenario.
    pub fn parse(argument: &str, source: u32) -> Result<Set, Fault> {
        let malformed = |offset: usize| {
            let message =
                "an override is written key.path=value, as in port.bottleneck.buffer=\"8192 cells\"";
            Fault::at(TextPlace { source, offset: offset as u32 }, message)
        };
        let equals = unquoted(argument, '=').next().ok_or_else(|| malformed(argument.len()))?;
        let keys = keys(&argument[..equals], source).ok_or_else(|| malformed(0))?;
        if keys.len() > DEEPEST {
            let message = format!("the path of an override has at most {DEEPEST} keys, not {}", keys.len());
            return Err(Fault::at(TextPlace { source, offset: 0 }, message));
        }
        let value = value(&argument[equals + 1..], source, equals as u32 + 1)?;
        Ok(Set { keys, value })
    }
}

/// Return the path of an override `key.path=value`, as [`Set::path`] does.
pub(crate) fn path_of(argument: &str) -> Option<String> {
    let equals = unquoted(argument, '=').next()?;
    Some(path(&keys(&argument[..equals], 0)?))
}

/// Return keys as one path.
fn path(keys: &[Key]) -> String {
    keys.iter().fold(String::new(), |path, key| join(&path, &key.name))
}

/// Return the names along a dotted path, some possibly in quotes; `None` if a name is empty or its quotes are not
/// closed.
pub fn steps(path: &str) -> Option<Vec<String>> {
    Some(keys(path, 0)?.into_iter().map(|key| key.name).collect())
}

/// Return the offsets at which a character stands outside of quotes.
fn unquoted(text: &str, wanted: char) -> impl Iterator<Item = usize> {
    let mut quote = None;
    text.char_indices().filter_map(move |(offset, c)| match quote {
        Some(open) => {
            quote = (c != open).then_some(open);
            None
        }
        None => {
            quote = matches!(c, '"' | '\'').then_some(c);
            (c == wanted).then_some(offset)
        }
    })
}

/// Return the keys of a dotted path.
fn keys(path: &str, source: u32) -> Option<Vec<Key>> {
    let ends = unquoted(path, '.').chain([path.len()]);
    let mut start = 0;
    ends.map(|end| {
        let part = path[start..end].trim_ascii();
        let place = TextPlace { source, offset: start as u32 };
        start = end + 1;
        let bare = |quote| part.strip_prefix(quote).map(|rest: &str| rest.strip_suffix(quote));
        let name = bare('"').or_else(|| bare('\'')).unwrap_or(Some(part))?;
        (!name.is_empty()).then(|| Key { name: name.to_string(), place })
    })
    .collect()
}

/// Read the value as TOML; a text that is not TOML is the value itself.
#[cfg(feature = "scenario")]
fn value(text: &str, source: u32, shift: u32) -> Result<Node, Fault> {
    let place = TextPlace { source, offset: shift };
    let plain = || Node { value: Value::Text(text.to_string()), place };
    let looks_like_toml = text.trim_ascii_start().starts_with(['{', '[', '"', '\'']);
    match read::toml_value(text, source, shift) {
        Some(Ok(node)) => Ok(node),
        Some(Err(fault)) if looks_like_toml => Err(fault),
        None if looks_like_toml => Err(Fault::at(
            place,
            format!(
                "{} is not a TOML value; texts inside have quotes, which a shell leaves alone between others, as in \
                 'port.bottleneck.admission={{policy=\"epd\"}}'",
                plain().show()
            ),
        )),
        _ => Ok(plain()),
    }
}

fn put(node: &mut Node, keys: &[Key], value: &Node, path: &str) -> Result<(), Fault> {
    let Some((key, rest)) = keys.split_first() else {
        *node = value.clone();
        return Ok(());
    };
    let path = join(path, &key.name);
    let fault = |message| Fault { place: key.place, path: path.clone(), message };
    if !matches!(node.value, Value::Table(_) | Value::List(_)) {
        return Err(fault(format!("there is no such key: {} is not a table", node.show())));
    }
    match &mut node.value {
        Value::Table(entries) => {
            let index = entries.iter().position(|(found, _)| found.name == key.name).unwrap_or_else(|| {
                let table = Node { value: Value::Table(Vec::new()), place: key.place };
                entries.push((key.clone(), table));
                entries.len() - 1
            });
            put(&mut entries[index].1, rest, value, &path)
        }
        Value::List(items) => match entry(items, &key.name) {
            Some(index) => put(&mut items[index], rest, value, &path),
            None => {
                let labels: Vec<String> = items.iter().filter_map(Node::label).collect();
                let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
                Err(fault(unknown("entry", &key.name, &labels)))
            }
        },
        _ => unreachable!("neither a table nor a list was refused"),
    }
}

/// Return the index of the entry of a list with this name, or at this position.
fn entry(items: &[Node], name: &str) -> Option<usize> {
    let named = items.iter().position(|item| item.label().as_deref() == Some(name));
    named.or_else(|| name.parse().ok().filter(|index| *index < items.len()))
}

#[cfg(test)]
mod tests {
    use super::super::read::Format;
    use super::*;
    use serde_json::{Value as Json, json};

    fn after(text: &str, sets: &[&str]) -> Result<Json, String> {
        let mut root = read::read(text, Format::Toml).unwrap();
        for (index, argument) in sets.iter().enumerate() {
            let set = Set::parse(argument, 1 + index as u32);
            set.and_then(|set| set.apply(&mut root)).map_err(|fault| fault.to_string())?;
        }
        Ok(root.json())
    }

    #[test]
    fn a_value_is_toml_or_else_a_text() {
        let sets = ["a=5", "b=true", "c=8192 cells", "d=\"7\"", "e={ policy = 'epd' }", "f=[1, 2]", "g="];
        let expected = json!({
            "a": 5, "b": true, "c": "8192 cells", "d": "7", "e": { "policy": "epd" }, "f": [1, 2], "g": ""
        });
        assert_eq!(after("", &sets), Ok(expected));
        assert_eq!(after("", &["day=2026-01-01"]), Ok(json!({ "day": "2026-01-01" })));
    }

    #[test]
    fn a_key_is_made_or_replaced_as_a_whole() {
        let text = "[port.left]\nbuffer = '1 cell'\nadmission = { policy = 'epd', threshold = '90 %' }\n";
        let sets = ["port.left.admission={policy='ppd'}", "port.right.buffer=9 cells"];
        let expected = json!({ "port": {
            "left": { "buffer": "1 cell", "admission": { "policy": "ppd" } }, "right": { "buffer": "9 cells" }
        } });
        assert_eq!(after(text, &sets), Ok(expected));
    }

    #[test]
    fn entries_of_a_list_go_by_name_or_by_position() {
        let text = "[[flow]]\nname = 'x'\n[[link]]\nfrom = 'a'\nto = 'b'\n";
        let sets = ["flow.x.weight=2", "flow.0.start='1 s'", "link.a->b.delay=5 ms"];
        let expected = json!({
            "flow": [{ "name": "x", "weight": 2, "start": "1 s" }],
            "link": [{ "from": "a", "to": "b", "delay": "5 ms" }],
        });
        assert_eq!(after(text, &sets), Ok(expected));
        let fault = after(text, &["flow.y.weight=2"]).unwrap_err();
        assert_eq!(fault, "flow.y: unknown entry \"y\"; did you mean \"x\"? (allowed: x)");
        assert!(after(text, &["flow.7.weight=2"]).is_err());
    }

    #[test]
    fn a_quoted_key_may_hold_a_dot() {
        let sets = ["port.\"left.back\".buffer=1 cell", "'a=b'=1"];
        assert_eq!(
            after("", &sets),
            Ok(json!({ "port": { "left.back": { "buffer": "1 cell" } }, "a=b": 1 }))
        );
    }

    #[test]
    fn a_path_has_at_most_64_keys() {
        let deep = |keys: usize| format!("{}=1", vec!["a"; keys].join("."));
        assert!(after("", &[&deep(64)]).is_ok());
        for keys in [65, 20_000, 100_000] {
            let refused = format!("the path of an override has at most 64 keys, not {keys}");
            assert_eq!(after("", &[&deep(keys)]), Err(refused));
        }
    }

    #[test]
    fn what_is_no_override_is_refused() {
        for argument in ["", "name", "=1", ".=1", "a..b=1", "\"a=1", "a\"=1"] {
            assert!(after("", &[argument]).unwrap_err().contains("key.path=value"), "{argument}");
        }
        let fault = after("", &["a={ b = epd }"]).unwrap_err();
        assert!(
            fault.starts_with("\"{ b = epd }\" is not a TOML value; texts inside have quotes"),
            "{fault}"
        );
        let fault = after("a = 5\n", &["a.b=1"]).unwrap_err();
        assert_eq!(fault, "a.b: there is no such key: 5 is not a table");
    }
}
