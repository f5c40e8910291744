//! The documentation as Markdown pages, from the same declarations as reader and schema: one page for each entry of the
//! catalogue, which opens with the header of its file, and a reference of the sections of a scenario file.

use serde_json::Value as Json;

use super::catalogue::catalogue;
use super::file::{Back, Fair, Flow, Head, Link, Measure, Node, Port};
use super::prose::plain;
use super::registry::{Entry, FENCE, TableForm};
use super::spec::{ParamSpec, Section};
use super::topology::WireKeys;
use crate::units::{Bytes, Cells, Quantity, Rate, Share, Span};

/// Every page: its path below the folder of the documentation, and its text.
pub fn docs() -> Vec<(String, String)> {
    let entries = catalogue();
    let mut pages: Vec<(String, String)> = entries.iter().map(|entry| (path(entry), page(entry))).collect();
    pages.push(("schemes/index.md".to_string(), index(&entries)));
    pages.push(("scenario.md".to_string(), reference(&entries)));
    pages
}

fn path(entry: &Entry) -> String {
    format!("schemes/{}", file_name(entry))
}

fn file_name(entry: &Entry) -> String {
    format!("{}-{}.md", entry.kind, entry.name)
}

/// The page of one entry.
fn page(entry: &Entry) -> String {
    let Entry { name, kind, .. } = entry;
    let experimental = match entry.experimental {
        true => "**Experimental**: its sources leave so much open that no fidelity is claimed.\n\n",
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

/// How an entry is asked for.
fn usage(entry: &Entry) -> String {
    let Entry { name, kind, .. } = entry;
    let Some(TableForm { tag, .. }) = entry.table else {
        return format!("transport = {{ kind = \"tcp\", {kind} = \"{name}\" }}");
    };
    match *kind {
        "adaptation" => format!("[adaptation] {tag} = \"{name}\""),
        "template" => format!("[topology] {tag} = \"{name}\""),
        _ => format!("{kind} = {{ {tag} = \"{name}\" }}"),
    }
}

/// The header of an entry's file, one level lower than its page.
fn header(entry: &Entry) -> String {
    let mut fenced = false;
    let line = |line: &str| {
        fenced ^= line.starts_with(FENCE);
        if line.starts_with('#') && !fenced { format!("#{line}") } else { line.to_string() }
    };
    entry.header().lines().map(line).collect::<Vec<_>>().join("\n")
}

/// The list of all pages.
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

/// The reference of scenario files.
fn reference(entries: &[Entry]) -> String {
    let mut text = INTRODUCTION.to_string();
    let mut section = |title: &str, doc: &str, params: &[ParamSpec]| {
        text += &format!("\n## {title}\n\n{}\n", plain(doc));
        if !params.is_empty() {
            text += &format!("\n{}", table(params, entries));
        }
    };
    let all = |kind: &str| {
        let links = entries.iter().filter(|entry| entry.kind == kind).map(link);
        format!("One of {}.", links.collect::<Vec<_>>().join(", "))
    };
    section("The top of the file", Head::DOC, &Head::params());
    let network = "A network in short form: what it makes can be changed and completed below. ";
    section("`[topology]`", &(network.to_string() + &all("template")), &[]);
    section("A link in `[topology]`", WireKeys::DOC, &WireKeys::params());
    section("`[adaptation]`", &format!("How packets travel. {}", all("adaptation")), &[]);
    section("`[[node]]`", Node::DOC, &Node::params());
    section("`[[link]]`", Link::DOC, &Link::params());
    section("`back` of a link", Back::DOC, &Back::params());
    section("`[port.NAME]`", Port::DOC, &Port::params());
    let flows = "`[flows]` has defaults for all flows, of every key but name, from, to and via.";
    section("`[flows]` and `[[flow]]`", &format!("{} {flows}", Flow::DOC), &Flow::params());
    section("`[measure]`", Measure::DOC, &Measure::params());
    section("`fairness` of `[measure]`", Fair::DOC, &Fair::params());
    text + "\n## Quantities\n\n" + &quantities() + GENERATED
}

/// A table of keys.
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

/// What a key means, and each of the words that can be its value.
fn meaning(param: &ParamSpec) -> String {
    let all = |name: &str| param.shape.schema[name].as_array().cloned().unwrap_or_default();
    let words = all("enum").into_iter().zip(all("enumDescriptions"));
    let words = words.map(|(word, doc)| format!(" `{}`: {}", toml(&word), doc.as_str().unwrap_or_default()));
    plain(&param.doc) + &words.collect::<String>()
}

/// What a value looks like: its unit, its words, or the entries of the catalogue among which it chooses.
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
        ("-", Some("array")) => "list of texts".to_string(),
        ("-", _) => "number".to_string(),
        (unit, Some("array")) => format!("list: {unit}"),
        (unit, _) => unit.to_string(),
    }
}

/// The link to the page of an entry.
fn link(entry: &Entry) -> String {
    format!("[{}]({})", entry.name, path(entry))
}

/// A value as it stands in a TOML file.
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

fn quantities() -> String {
    fn row<T: Quantity>() -> String {
        let units: Vec<String> = T::UNITS.iter().map(|(unit, _)| format!("`{unit}`")).collect();
        format!("| {} | `\"{}\"` | {} |\n", T::WHAT, T::EXAMPLE, units.join(", "))
    }
    let rows = [row::<Span>(), row::<Rate>(), row::<Bytes>(), row::<Cells>(), row::<Share>()];
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

/// A word as a heading.
fn title(word: &str) -> String {
    let (first, rest) = word.split_at(word.len().min(1));
    first.to_uppercase() + rest
}

const INTRODUCTION: &str = "# Scenario files

A scenario is a TOML file, or the same as JSON. Keys that are not listed here are errors. `pushout explain` writes a
scenario out in full, `pushout schema` describes all of this as a JSON Schema, and `--set key.path=value` replaces a value.
A network without a template is built step by step in [Draw your own network](how-to/network.md).
";

/// The end of a page that is written from declarations.
pub(crate) const GENERATED: &str =
    "\n<!-- Written by the program from its declarations: make generate. -->\n";

#[cfg(test)]
mod tests {
    use super::*;

    fn page_at(path: &str) -> String {
        docs().into_iter().find(|(found, _)| found == path).expect("there is such a page").1
    }

    /// Columns of a row of a table.
    fn columns(row: &str) -> usize {
        row.replace("\\|", "").matches('|').count() - 1
    }

    #[test]
    fn every_entry_has_a_page_with_its_source_and_all_its_keys() {
        for entry in catalogue() {
            let page = page_at(&path(&entry));
            assert!(page.starts_with(&format!("# {}\n", entry.name)), "{page}");
            for param in (entry.params)() {
                assert!(page.contains(&format!("\n| `{}` | ", param.name)), "{}: {page}", param.name);
            }
            let titles = page.lines().filter(|line| line.starts_with("# ")).count();
            assert!(titles == 1 && !page.contains("[`"), "{page}");
        }
    }

    #[test]
    fn a_page_reads_like_the_header_of_its_file() {
        let page = page_at("schemes/admission-epd.md");
        assert!(page.contains("`admission = { policy = \"epd\" }`, in Python `pushout.schemes.Epd()`\n\n## Source\nA. Romanow"), "{page}");
        assert!(page.contains("| `threshold` | size or % | `\"80 %\"` | "), "{page}");
        assert!(page_at("schemes/admission-espd.md").contains("**Experimental**"));
    }

    #[test]
    fn the_reference_has_every_key_of_every_section() {
        let text = page_at("scenario.md");
        let sections = [Head::params(), WireKeys::params(), Node::params(), Link::params(), Port::params()];
        for param in sections.concat().iter().chain(&Flow::params()).chain(&Measure::params()) {
            assert!(text.contains(&format!("\n| `{}` | ", param.name)), "{}", param.name);
        }
        assert!(text.contains("[epd](schemes/admission-epd.md)"), "{text}");
        assert!(text.contains("| `admission` | table: [tail-drop]"), "{text}");
    }

    #[test]
    fn links_lead_to_pages_and_tables_have_straight_columns() {
        let pages = docs();
        for (path, text) in &pages {
            let folder = path.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
            let targets = text.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
            for (target, _) in targets.filter(|(target, _)| !target.starts_with("http")) {
                let target = format!("{folder}{target}").replace("schemes/../", "");
                let written = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");
                let exists = std::path::Path::new(written).join(&target).exists();
                assert!(exists || pages.iter().any(|(page, _)| *page == target), "{path}: {target}");
            }
            let mut rows = text.lines().filter(|line| line.starts_with("| `")).map(columns);
            assert!(rows.all(|columns| columns == 4), "{path}:\n{text}");
        }
    }

    #[test]
    fn defaults_are_written_as_in_a_file() {
        let value = serde_json::json!({ "policy": "epd", "list": [1, "x"], "on": true });
        assert_eq!(toml(&value), "{ policy = \"epd\", list = [1, \"x\"], on = true }");
    }
}
