//! The sections of a scenario file, in the order of its schema and of its reference. `language/` makes schema,
//! reference and reader from the same declarations.

use serde_json::{Value as Json, json};

use super::catalogue::catalogue;
use super::file::{
    BackSection, FairSection, FlowSection, HeadSection, LinkSection, LossSection, MarkSection,
    MeasureSection, MemorySection, NodeSection, OWN_KEYS, OppositeSection, PauseSection, PoolSection,
    PortSection, QueueSection, ReorderSection, StormSection, TrimSection,
};
use super::hash::Hash;
use super::topology::{self, WireKeys};
use crate::adaptation;
use crate::buffer::size::{BufferSize, Level, PortBuffer};
use crate::language::docs::{choice, pages, reference, section};
use crate::language::registry::Entry;
use crate::language::schema::{file, list, named, partial, without};
use crate::language::spec::{Field, Section, object_schema};
use crate::link::gate::delay::DelayForms;
use crate::link::gate::loss::Gilbert;
use crate::link::gate::{calendar, cbs, meter, repeat};
use crate::link::law::{Grants, LawForms, States};
use crate::scheduler::group;
use crate::source::replay;
use crate::units::{Bytes, CellCount, PartsPerMillion, Rate, Span};
use crate::workload::{self, list};

/// Return the JSON Schema of a scenario file, for editors and for programs that write scenarios.
pub fn schema() -> Json {
    let flow = || partial(&FlowSection::params(), &["source", "transport"]); // `[flows]` and `[[flow]]` are merged
    let node = list(object_schema(&NodeSection::params()), &[&["name"]]);
    let link = list(object_schema(&LinkSection::params()), &[&["name"], &["from", "to", "rate", "delay"]]);
    let texts = json!({ "type": "object", "additionalProperties": { "type": "string" } });
    let recordings = "Packets of files that sources replay, which pushout adds.";
    let rows = "Rows of a file that the workload names, or texts of files with sizes or with rates of lines, which pushout adds.";
    let sections = [
        ("topology", "A network in short form.", topology::Spec::shape().schema),
        ("adaptation", "How packets travel.", adaptation::Spec::shape().schema),
        ("port", PortSection::DOC, named(&PortSection::params())),
        ("memory", MemorySection::DOC, named(&MemorySection::params())),
        ("queue", QueueSection::DOC, named(&QueueSection::params())),
        ("flows", "Defaults of every flow.", without(flow(), &OWN_KEYS)),
        ("node", NodeSection::DOC, node),
        ("link", LinkSection::DOC, link),
        ("flow", FlowSection::DOC, list(flow(), &[&["name"]])),
        ("loss", LossSection::DOC, list(object_schema(&LossSection::params()), &[&["link"]])),
        ("reorder", ReorderSection::DOC, list(object_schema(&ReorderSection::params()), &[&["link", "by"]])),
        (
            "storm",
            StormSection::DOC,
            list(object_schema(&StormSection::params()), &[&["port", "from", "to"]]),
        ),
        ("workload", WORKLOAD, workload::Spec::shape().schema),
        (replay::Params::TABLE, recordings, texts.clone()),
        (list::Params::TABLE, rows, texts),
        ("measure", MeasureSection::DOC, object_schema(&MeasureSection::params())),
    ];
    let purpose = "A network, its traffic and the policies of its buffers.";
    file("Pushout scenario", purpose, &forms(), &HeadSection::params(), sections)
}

/// Return the forms of quantities with the names that the schema gives them.
fn forms() -> [(&'static str, Json); 8] {
    fn form<T: Field>(name: &'static str) -> (&'static str, Json) {
        (name, T::shape().schema)
    }
    [
        form::<Span>("time"),
        form::<Rate>("rate"),
        form::<Bytes>("bytes"),
        form::<CellCount>("cells"),
        form::<PartsPerMillion>("ppm"),
        form::<BufferSize>("size"),
        form::<PortBuffer>("buffer"),
        form::<Level>("level"),
    ]
}

/// Return every page of the documentation: its path below the folder, and its text.
pub fn docs() -> Vec<(String, String)> {
    let entries = catalogue();
    let mut pages = pages(&entries);
    pages.push(("scenario.md".to_string(), reference(INTRODUCTION, &sections(&entries))));
    pages
}

/// Return the reference of each section, with its introduction.
fn sections(entries: &[Entry]) -> Vec<String> {
    let network = "A network in short form: what it makes can be changed and completed below.";
    let flows = " `[flows]` has defaults for all flows, of every key but name, from, to and via.";
    vec![
        section::<HeadSection>("The top of the file", "", entries),
        choice("`[topology]`", network, "template", entries),
        section::<WireKeys>("A link in `[topology]`", "", entries),
        choice("`[adaptation]`", "How packets travel.", "adaptation", entries),
        section::<NodeSection>("`[[node]]`", "", entries),
        section::<Hash>("`hash` of a node", "", entries),
        section::<LinkSection>("`[[link]]`", "", entries),
        section::<LawForms>("`rate` of a link that changes", "", entries),
        section::<Grants>("`grants` of a rate", "", entries),
        section::<States>("`states` of a rate", "", entries),
        section::<DelayForms>("`delay` of a link that changes", "", entries),
        section::<repeat::Params>("`repeat` of a link", "", entries),
        section::<BackSection>("`back` of a link", "", entries),
        section::<PortSection>("`[port.NAME]`", "", entries),
        section::<group::Params>("`group` of the scheduler strict-priority", "", entries),
        section::<calendar::Params>("`gates` of a port", "", entries),
        section::<meter::Params>("`police` of a port", "", entries),
        section::<MemorySection>("`[memory.NAME]`", "", entries),
        section::<PoolSection>("`pool.NAME` of a memory", "", entries),
        section::<QueueSection>("`[queue.NAME]`", "", entries),
        section::<cbs::Params>("`cbs` of a class", "", entries),
        section::<PauseSection>("`pause` of a class", "", entries),
        section::<MarkSection>("`mark` of a class", "", entries),
        section::<TrimSection>("`trim` of a class", "", entries),
        section::<OppositeSection>("`opposite` of a class", "", entries),
        section::<FlowSection>("`[flows]` and `[[flow]]`", flows, entries),
        choice("`[workload]`", WORKLOAD, "workload", entries),
        section::<LossSection>("`[[loss]]`", "", entries),
        section::<Gilbert>("`gilbert` of `[[loss]]`", "", entries),
        section::<ReorderSection>("`[[reorder]]`", "", entries),
        section::<StormSection>("`[[storm]]`", "", entries),
        section::<MeasureSection>("`[measure]`", "", entries),
        section::<FairSection>("`fairness` of `[measure]`", "", entries),
    ]
}

const WORKLOAD: &str = "What hosts send, on any topology: with it a template makes no flows. `[flows]` has the transport and other defaults of its transfers.";

const INTRODUCTION: &str = "# Scenario files

A scenario is a TOML file, or the same as JSON. Keys that are not listed here are errors. `pushout explain --json` writes a
scenario out in full, `pushout list --schema` describes all of this as a JSON Schema, and `--set key.path=value` replaces a value.
A network without a template is built step by step in [Draw your own network](how-to/network.md).
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::docs::path;

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
        let sections = [
            HeadSection::params(),
            WireKeys::params(),
            NodeSection::params(),
            LinkSection::params(),
            PortSection::params(),
        ];
        let losses = [LossSection::params(), Gilbert::params(), ReorderSection::params()].concat();
        let shared = [
            losses,
            MemorySection::params(),
            PoolSection::params(),
            QueueSection::params(),
            OppositeSection::params(),
        ]
        .concat();
        for param in sections
            .concat()
            .iter()
            .chain(&FlowSection::params())
            .chain(&MeasureSection::params())
            .chain(&shared)
        {
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
}
