//! A scenario with its overrides as a TOML file of its own: every node, link, port and flow, and every value.

use serde_json::{Map, Value as Json};

/// Write an explicit scenario: plain values first, then a section for each table, with an entry per line in lists of tables.
pub(crate) fn written(scenario: &Json) -> String {
    let mut text = String::new();
    section(&mut text, "", scenario.as_object().expect("a scenario is a table"));
    text
}

/// The keys of a table below its heading.
fn section(text: &mut String, path: &str, keys: &Map<String, Json>) {
    let is_section = |value: &Json| value.as_object().is_some_and(|keys| keys.values().any(Json::is_object));
    let is_table = |value: &Json| value.is_object() && (path.is_empty() || is_section(value));
    for (name, value) in keys.iter().filter(|(_, value)| !is_table(value) && !value.is_null()) {
        *text += &format!("{} = {}\n", key(name), entries(value));
    }
    for (name, value) in keys {
        let Some(inner) = value.as_object().filter(|_| is_table(value)) else { continue };
        let path = if path.is_empty() { key(name) } else { format!("{path}.{}", key(name)) };
        *text += &format!("\n[{path}]\n");
        section(text, &path, inner);
    }
}

/// A value; of a list of tables each in a line.
fn entries(value: &Json) -> String {
    match value.as_array() {
        Some(list) if list.iter().any(Json::is_object) => {
            let lines: String = list.iter().map(|entry| format!("    {},\n", inline(entry))).collect();
            format!("[\n{lines}]")
        }
        _ => inline(value),
    }
}

/// A value in one line. A text of JSON is one of TOML.
pub(crate) fn inline(value: &Json) -> String {
    match value {
        Json::Array(list) => format!("[{}]", list.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Json::Object(keys) => {
            let pairs = keys.iter().filter(|(_, value)| !value.is_null());
            let pairs = pairs.map(|(name, value)| format!("{} = {}", key(name), inline(value)));
            format!("{{ {} }}", pairs.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

fn key(name: &str) -> String {
    let is_bare = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    if !name.is_empty() && name.chars().all(is_bare) {
        name.to_string()
    } else {
        Json::from(name).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pushout_core::scenario::{explain, load};

    #[test]
    fn what_is_written_is_read_back_to_the_same_scenario_for_every_shipped_one() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios");
        let mut compared = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            if text.contains("\nscenario = ") {
                continue; // a sweep
            }
            let explicit = explain(
                &load(&text, "shipped.toml", &["duration=3 s", "warmup=0 s"].map(str::to_string)).unwrap(),
            );
            let again = load(&written(&explicit), "written.toml", &[]);
            assert_eq!(explain(&again.unwrap()), explicit, "{}", path.display());
            compared += 1;
        }
        assert!(compared > 10);
    }

    #[test]
    fn a_key_or_a_text_with_signs_is_quoted() {
        let port = serde_json::json!({ "x.y": { "buffer": 3, "none": null, "shaper": { "rate": 1 } } });
        let scenario = serde_json::json!({ "title": "a \"b\"", "port": port });
        let expected =
            "title = \"a \\\"b\\\"\"\n\n[port]\n\n[port.\"x.y\"]\nbuffer = 3\nshaper = { rate = 1 }\n";
        assert_eq!(written(&scenario), expected);
    }
}
