//! Declarations as Markdown: a page for each entry of a catalogue, which opens with the header of its file, and tables of
//! keys.

use serde_json::Value as Json;

use super::prose::plain;
use super::registry::{Entry, FENCE, TableForm};
use super::spec::{ParamSpec, Section};
use crate::units::{Bytes, CellCount, PartsPerMillion, Quantity, Rate, Span};

/// The last lines of a page that is written from declarations.
pub(crate) const GENERATED: &str =
    "\n<!-- Written by the program from its declarations: make generate. -->\n";

/// Return the pages of a catalogue: one for each entry, and a page that lists them.
pub(crate) fn pages(entries: &[Entry]) -> Vec<(String, String)> {
    let mut pages: Vec<(String, String)> = entries.iter().map(|entry| (path(entry), page(entry))).collect();
    pages.push(("schemes/index.md".to_string(), index(entries)));
    pages
}

/// Return the reference page of a file format: an introduction, its sections, and the form of quantities.
pub(crate) fn reference(introduction: &str, sections: &[String]) -> String {
    format!("{introduction}{}\n## Quantities\n\n{}{GENERATED}", sections.concat(), quantities())
}

/// Return the path of an entry's page, below the folder of the documentation.
pub(crate) fn path(entry: &Entry) -> String {
    format!("schemes/{}", file_name(entry))
}

fn file_name(entry: &Entry) -> String {
    format!("{}-{}.md", entry.kind, entry.name)
}

/// Return the page of one entry.
fn page(entry: &Entry) -> String {
    let Entry { name, kind, .. } = entry;
    let experimental = match entry.experimental {
        true => "**Experimental**: its sources leave important details open, so no fidelity is claimed.\n\n",
        false => "",
    };
    let params = (entry.params)();
    let keys = if params.is_empty() { "None.\n".to_string() } else { table(&params, &[]) };
    let (usage, header) = (usage(entry), header(entry));
    let class =
        entry.table.map_or(String::new(), |form| format!(", in Python `pushout.schemes.{}()`", form.class));
    format!(
        "# {name}\n\n{}\n\n{}: `{usage}`{class}\n\n{experimental}{header}\n\n## Keys\n\n{keys}{GENERATED}",
        entry.summary(),
        title(kind)
    )
}

/// Return the sentence that says how a scenario names an entry.
fn usage(entry: &Entry) -> String {
    let Entry { name, kind, .. } = entry;
    let Some(TableForm { tag, .. }) = entry.table else {
        return match *kind {
            "discipline" => format!("{kind} = \"{name}\""),
            _ => format!("transport = {{ kind = \"tcp\", {kind} = \"{name}\" }}"),
        };
    };
    match *kind {
        "adaptation" => format!("[adaptation] {tag} = \"{name}\""),
        "template" => format!("[topology] {tag} = \"{name}\""),
        _ => format!("{kind} = {{ {tag} = \"{name}\" }}"),
    }
}

/// Return the header of an entry's file, with each heading one level lower.
fn header(entry: &Entry) -> String {
    let mut fenced = false;
    let line = |line: &str| {
        fenced ^= line.starts_with(FENCE);
        if line.starts_with('#') && !fenced { format!("#{line}") } else { line.to_string() }
    };
    entry.header().lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Return the page that lists all entries.
fn index(entries: &[Entry]) -> String {
    let mut text = "# Schemes\n\nEverything that has a name in a [scenario](../scenario.md).\n".to_string();
    let mut last = "";
    for entry in entries {
        if entry.kind != last {
            last = entry.kind;
            text += &format!("\n## {}\n\n", title(last));
        }
        let mark = if entry.experimental { " (experimental)" } else { "" };
        let source = entry.source();
        text += &format!(
            "- [{}]({}){mark}: {} Source: {source}\n",
            entry.name,
            file_name(entry),
            entry.summary()
        );
    }
    text + GENERATED
}

/// Return the reference of a section: its purpose and its keys.
pub(crate) fn section<T: Section>(title: &str, more: &str, entries: &[Entry]) -> String {
    let keys = table(&T::params(), entries);
    format!("\n## {title}\n\n{}\n\n{keys}", plain(&format!("{}{more}", T::DOC)))
}

/// Return the reference of a section that is one of the entries of a kind.
pub(crate) fn choice(title: &str, doc: &str, kind: &str, entries: &[Entry]) -> String {
    let links = entries.iter().filter(|entry| entry.kind == kind).map(link);
    format!("\n## {title}\n\n{doc} One of {}.\n", links.collect::<Vec<_>>().join(", "))
}

/// Return a table of keys.
fn table(params: &[ParamSpec], entries: &[Entry]) -> String {
    let row = |param: &ParamSpec| {
        let default = match &param.default {
            None => "required".to_string(),
            Some(Json::Null) => "none".to_string(),
            Some(value) => format!("`{}`", toml(value)),
        };
        let value = value(param, entries);
        let cells = [format!("`{}`", param.name), value, default, meaning(param)];
        format!("| {} |\n", cells.map(|cell| cell.replace('|', "\\|")).join(" | "))
    };
    let head = "| key | value | default | meaning |\n|---|---|---|---|\n";
    head.to_string() + &params.iter().map(row).collect::<String>()
}

/// Return the meaning of a key, and of each word that can be its value.
fn meaning(param: &ParamSpec) -> String {
    let all = |name: &str| param.shape.schema[name].as_array().cloned().unwrap_or_default();
    let words = all("enum").into_iter().zip(all("enumDescriptions"));
    let words = words.map(|(word, doc)| format!(" `{}`: {}", toml(&word), doc.as_str().unwrap_or_default()));
    plain(&param.doc) + &words.collect::<String>()
}

/// Return the form of a key's value: its unit, its words, or the entries of the catalogue that it can name.
fn value(param: &ParamSpec, entries: &[Entry]) -> String {
    let schema = &param.shape.schema;
    if let Some(kinds) = schema["oneOf"].as_array() {
        let of_kind = |name: &str| {
            entries.iter().find(|entry| entry.kind == param.name && entry.name == name).map(link)
        };
        let name = |kind: &Json| {
            let name = kind["title"].as_str().unwrap_or_default();
            of_kind(name).unwrap_or_else(|| format!("`{name}`"))
        };
        return format!("table: {}", kinds.iter().map(name).collect::<Vec<_>>().join(", "));
    }
    if let Some(words) = schema["enum"].as_array() {
        return words.iter().map(|word| format!("`{}`", toml(word))).collect::<Vec<_>>().join(", ");
    }
    match (param.shape.unit, schema["type"].as_str()) {
        ("-", Some("boolean")) => "`true`, `false`".to_string(),
        ("-", Some("integer")) => "whole number".to_string(),
        ("-", Some("string")) => "text".to_string(),
        ("-", Some("array")) if schema["items"]["type"] == "integer" => "list of whole numbers".to_string(),
        ("-", Some("array")) => "list of texts".to_string(),
        ("-", Some("object")) => "table of names and values".to_string(),
        ("-", _) => "number".to_string(),
        (unit, Some("array")) => format!("list: {unit}"),
        (unit, _) => unit.to_string(),
    }
}

/// Return the link to the page of an entry.
fn link(entry: &Entry) -> String {
    format!("[{}]({})", entry.name, path(entry))
}

/// Return a value as written in a TOML file.
fn toml(value: &Json) -> String {
    match value {
        Json::Object(keys) => {
            let keys: Vec<String> =
                keys.iter().map(|(key, value)| format!("{key} = {}", toml(value))).collect();
            format!("{{ {} }}", keys.join(", "))
        }
        Json::Array(items) => format!("[{}]", items.iter().map(toml).collect::<Vec<_>>().join(", ")),
        _ => value.to_string(),
    }
}

/// List the quantities and how to write them.
fn quantities() -> String {
    fn row<T: Quantity>() -> String {
        let units: Vec<String> = T::UNITS.iter().map(|(unit, _)| format!("`{unit}`")).collect();
        format!("| {} | `\"{}\"` | {} |\n", T::WHAT, T::EXAMPLE, units.join(", "))
    }
    let rows = [row::<Span>(), row::<Rate>(), row::<Bytes>(), row::<CellCount>(), row::<PartsPerMillion>()];
    format!(
        "| quantity | example | units |\n|---|---|---|\n{}\n`kB` and `KB` are 1000 bytes, `KiB` is 1024. A buffer or a threshold \
         is a size or a number of cells on cell links, and a size or a number of packets (`\"100 packets\"`) on packet \
         links; a threshold may be a share of the buffer as well.\n\nA number has a decimal point and perhaps an exponent \
         (`\"1e-05 s\"`); `_` may group its digits, commas and blanks may not. `µs` is `us`. A rate is rounded to a whole bit per \
         second; of other quantities only the error of binary floating point (`\"0.30000000000000004 s\"`) is rounded away, \
         and what is finer than their smallest step is refused.\n",
        rows.concat()
    )
}

/// Return a word as a heading.
fn title(word: &str) -> String {
    let (first, rest) = word.split_at(word.len().min(1));
    first.to_uppercase() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_written_as_in_a_file() {
        let value = serde_json::json!({ "policy": "epd", "list": [1, "x"], "on": true });
        assert_eq!(toml(&value), "{ policy = \"epd\", list = [1, \"x\"], on = true }");
    }
}
