//! Scenarios as trees of values, and as TOML.

use std::fmt::Write;

use pushout_core::language::tree::{Key, Node, TextPlace, Value};

/// Build a table.
pub(crate) fn table<'k>(entries: impl IntoIterator<Item = (&'k str, Value)>) -> Node {
    Node::table(entries, TextPlace::NONE)
}

/// Add an entry to the list of a section that may occur several times, as `[[flow]]`.
pub(crate) fn add(root: &mut Node, section: &str, entry: Node) {
    match &mut entry_of(root, section, || Value::List(Vec::new())).value {
        Value::List(entries) => entries.push(entry),
        _ => unreachable!("the section was built or checked as a list"),
    }
}

/// Set a key of a table; a table that is there keeps its other keys.
pub(crate) fn set(root: &mut Node, key: &str, value: Value) {
    entry_of(root, key, || Value::Bool(false)).value = value;
}

fn entry_of<'n>(table: &'n mut Node, key: &str, new: impl FnOnce() -> Value) -> &'n mut Node {
    let Value::Table(entries) = &mut table.value else { unreachable!("a scenario is a table") };
    let index = entries.iter().position(|(found, _)| found.name == key).unwrap_or_else(|| {
        let place = TextPlace::NONE;
        entries.push((Key { name: key.to_string(), place }, Node { value: new(), place }));
        entries.len() - 1
    });
    &mut entries[index].1
}

/// Add the keys of a table to another one: lists become longer, tables get more keys. The error is the path of a key that both have.
#[cfg(feature = "scenario")]
pub(crate) fn join(root: &mut Node, more: Node) -> Result<(), String> {
    let (Value::Table(_), Value::Table(added)) = (&root.value, more.value) else {
        return Err(String::new());
    };
    for (key, node) in added {
        let Value::Table(present) = &mut root.value else { unreachable!("it is a table") };
        let found = present.iter_mut().find(|(other, _)| other.name == key.name);
        match (found.map(|(_, below)| below), node) {
            (None, node) => present.push((key, node)),
            (Some(Node { value: Value::List(items), .. }), Node { value: Value::List(more), .. }) => {
                items.extend(more)
            }
            (Some(below), node) => join(below, node).map_err(|path| {
                if path.is_empty() { key.name.clone() } else { format!("{}.{path}", key.name) }
            })?,
        }
    }
    Ok(())
}

/// Write a scenario as TOML: first the keys at the top, then a section for each table.
pub(crate) fn written(root: &Node) -> String {
    let Value::Table(entries) = &root.value else { unreachable!("a scenario is a table") };
    let (sections, keys): (Vec<_>, Vec<_>) = entries.iter().partition(|(_, node)| is_section(node));
    let mut text = String::new();
    for (key, node) in keys {
        line(&mut text, key, node);
    }
    for (key, node) in sections {
        let name = spelled(&key.name);
        match &node.value {
            Value::List(items) => {
                items.iter().for_each(|item| section(&mut text, &format!("[[{name}]]"), item))
            }
            Value::Table(tables) if !tables.is_empty() && tables.iter().all(|(_, node)| is_table(node)) => {
                let part = |text: &mut String, (key, node): &(Key, Node)| {
                    section(text, &format!("[{name}.{}]", spelled(&key.name)), node);
                };
                tables.iter().for_each(|entry| part(&mut text, entry));
            }
            _ => section(&mut text, &format!("[{name}]"), node),
        }
    }
    text
}

fn is_table(node: &Node) -> bool {
    matches!(node.value, Value::Table(_))
}

fn is_section(node: &Node) -> bool {
    match &node.value {
        Value::List(items) => !items.is_empty() && items.iter().all(is_table),
        _ => is_table(node),
    }
}

fn section(text: &mut String, header: &str, table: &Node) {
    let _ = writeln!(text, "\n{header}");
    if let Value::Table(entries) = &table.value {
        entries.iter().for_each(|(key, node)| line(text, key, node));
    }
}

fn line(text: &mut String, key: &Key, node: &Node) {
    let _ = writeln!(text, "{} = {}", spelled(&key.name), value(node));
}

/// Return a value on one line.
fn value(node: &Node) -> String {
    match &node.value {
        Value::Bool(yes) => yes.to_string(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) if number.is_nan() => "nan".to_string(),
        Value::Float(number) => format!("{number:?}"),
        Value::Text(text) => quoted(text),
        Value::List(items) => format!("[{}]", items.iter().map(value).collect::<Vec<_>>().join(", ")),
        Value::Table(entries) => {
            let entry = |(key, node): &(Key, Node)| format!("{} = {}", spelled(&key.name), value(node));
            format!("{{ {} }}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
    }
}

/// Return a key, in quotes where TOML needs them.
fn spelled(key: &str) -> String {
    let is_bare = !key.is_empty() && key.bytes().all(|c| c.is_ascii_alphanumeric() || b"_-".contains(&c));
    if is_bare { key.to_string() } else { quoted(key) }
}

/// Return a text as a TOML string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            letter if letter.is_control() => {
                let _ = write!(quoted, "\\u{:04x}", letter as u32);
            }
            letter => quoted.push(letter),
        }
    }
    quoted + "\""
}
