//! Merges tables: given values replace defaults.

use super::tree::{Node, Value, join};

/// Merge `over` into `base`: tables are merged key by key, unless they are of different kinds; other values are
/// replaced.
pub(crate) fn merge(base: &Node, over: &Node) -> Node {
    let (Value::Table(below), Value::Table(above)) = (&base.value, &over.value) else { return over.clone() };
    if is_of_another_kind(base, over) {
        return over.clone();
    }
    let mut entries = Vec::with_capacity(below.len() + above.len());
    for (key, node) in below {
        let on_top = above.iter().find(|(name, _)| name.name == key.name);
        entries.push(
            on_top.map_or_else(
                || (key.clone(), node.clone()),
                |(key, upper)| (key.clone(), merge(node, upper)),
            ),
        );
    }
    entries.extend(above.iter().filter(|(key, _)| base.get(&key.name).is_none()).cloned());
    Node { value: Value::Table(entries), place: over.place }
}

/// Keys that name the kind of a table.
const TAGS: [&str; 2] = ["kind", "policy"];

/// The kind of a policy that is written out: its parts belong together, so no two of them are the same.
const PROGRAM: &str = "program";

/// Return whether a table names another kind than the one below it, so that it replaces the whole.
fn is_of_another_kind(base: &Node, over: &Node) -> bool {
    let differs = |tag: &&str| {
        over.get(tag).is_some_and(|kind| {
            let is_program = matches!(&kind.value, Value::Text(kind) if kind == PROGRAM);
            is_program || base.get(tag).map(|node| &node.value) != Some(&kind.value)
        })
    };
    TAGS.iter().any(differs)
}

/// Return the paths of the values of `base` that every table of `overs`, merged into it, replaces: whole keys where all of their
/// values are replaced, and else single values.
pub(crate) fn replaced(base: &Node, overs: &[Node]) -> Vec<String> {
    let Value::Table(entries) = &base.value else { return Vec::new() };
    let mut found = Vec::new();
    for (key, below) in entries {
        let mut paths = Vec::new();
        leaves(below, vec![&key.name], &mut paths);
        let all = paths.len();
        for over in overs {
            paths.retain(|path| replaces(over, base, path));
            if paths.is_empty() {
                break;
            }
        }
        if paths.len() == all {
            found.push(key.name.clone());
            continue;
        }
        let values = paths.iter().filter(|path| path.last().is_some_and(|name| !TAGS.contains(name)));
        found.extend(values.map(|path| path.iter().fold(String::new(), |path, name| join(&path, name))));
    }
    found
}

/// Collect the paths of the values in a node, which is at `path`.
fn leaves<'a>(node: &'a Node, path: Vec<&'a str>, found: &mut Vec<Vec<&'a str>>) {
    match &node.value {
        Value::Table(entries) if !entries.is_empty() => {
            entries.iter().for_each(|(key, inner)| leaves(inner, [&path[..], &[&key.name]].concat(), found));
        }
        _ => found.push(path),
    }
}

/// Return whether a table that is merged into `base` replaces the value of `base` at a path.
fn replaces(mut over: &Node, mut base: &Node, path: &[&str]) -> bool {
    for name in path {
        if !matches!(over.value, Value::Table(_)) || is_of_another_kind(base, over) {
            return true;
        }
        let (Some(above), Some(below)) = (over.get(name), base.get(name)) else { return false };
        (over, base) = (above, below);
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::read::{Format, read};
    use serde_json::{Value as Json, json};

    fn merged(text: &str) -> Json {
        let root = read(text, Format::Toml).unwrap();
        merge(root.get("base").unwrap(), root.get("over").unwrap()).json()
    }

    #[test]
    fn tables_of_the_same_kind_are_merged_key_by_key() {
        let text = "base = { kind = 'cbr', rate = '1 Mb/s', size = '9 bytes' }\nover = { rate = '2 Mb/s' }";
        assert_eq!(merged(text), json!({ "kind": "cbr", "rate": "2 Mb/s", "size": "9 bytes" }));
        let text = "base = { t = { kind = 'a', x = 1 } }\nover = { t = { kind = 'a', y = 2 }, u = 3 }";
        assert_eq!(merged(text), json!({ "t": { "kind": "a", "x": 1, "y": 2 }, "u": 3 }));
    }

    #[test]
    fn a_table_of_another_kind_replaces_the_whole() {
        let text = "base = { t = { kind = 'a', x = 1 } }\nover = { t = { kind = 'b' } }";
        assert_eq!(merged(text), json!({ "t": { "kind": "b" } }));
        let text = "base = { t = { policy = 'epd', threshold = '90 %' } }\nover = { t = { policy = 'ppd' } }";
        assert_eq!(merged(text), json!({ "t": { "policy": "ppd" } }));
    }

    #[test]
    fn a_program_replaces_another_one_whole() {
        let text = "base = { t = { policy = 'program', on_loss = 1 } }\nover = { t = { policy = 'program', on_ack = 2 } }";
        assert_eq!(merged(text), json!({ "t": { "policy": "program", "on_ack": 2 } }));
        let text = "base = { t = { policy = 'program', params = { a = 1 } } }\nover = { t = { params = { a = 2 } } }";
        assert_eq!(merged(text), json!({ "t": { "policy": "program", "params": { "a": 2 } } }));
    }

    #[test]
    fn values_that_every_table_replaces_are_found() {
        let of = |text: &str| {
            let root = read(text, Format::Toml).unwrap();
            let Value::List(overs) = &root.get("overs").unwrap().value else { unreachable!("it is a list") };
            replaced(root.get("base").unwrap(), overs)
        };
        let base = "base = { t = { kind = 'a', x = 1, y = 2 }, u = 3 }\n";
        assert_eq!(of(&format!("{base}overs = [{{ t = {{ kind = 'b' }} }}, {{ t = 1, u = 4 }}]")), ["t"]);
        assert_eq!(
            of(&format!("{base}overs = [{{ t = {{ kind = 'a', x = 5 }} }}, {{ t = {{ x = 6 }} }}]")),
            ["t.x"]
        );
        assert_eq!(of(&format!("{base}overs = [{{ t = {{ kind = 'a' }}, u = 4 }}, {{ u = 5 }}]")), ["u"]);
        assert!(of(&format!("{base}overs = [{{ t = {{ kind = 'b' }} }}, {{}}]")).is_empty());
    }
}
