//! Merges tables: given values replace defaults.

use super::tree::{Node, Value};

/// Merge `over` into `base`: tables are merged key by key, unless they are of different kinds; other values are
/// replaced.
pub(crate) fn merge(base: &Node, over: &Node) -> Node {
    let (Value::Table(below), Value::Table(above)) = (&base.value, &over.value) else { return over.clone() };
    let differs =
        |tag| over.get(tag).is_some_and(|kind| base.get(tag).map(|node| &node.value) != Some(&kind.value));
    if differs("kind") || differs("policy") {
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
}
