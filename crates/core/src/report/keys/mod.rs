//! Every key of the report, with unit and meaning, declared once: the page of the documentation and the JSON Schema
//! are made from this declaration.

mod flows;
mod memories;
mod ports;
mod summary;
#[cfg(test)]
mod tests;
mod transfers;

use std::fmt::Write;

use serde_json::{Map, Value as Json, json};

use crate::language::docs::GENERATED;
use crate::language::schema::shared;
use crate::verdict::Reason;

use flows::{CIRCUIT, FLOW};
use memories::MEMORY;
use ports::PORT;
use summary::{CLASS, SUMMARY};
use transfers::TRANSFER;

/// A key of a table in the report.
struct ReportKey {
    name: &'static str,
    holds: Holds,
    /// Condition under which the report has the key; empty if it always has it.
    when: &'static str,
    doc: &'static str,
}

/// The type of a value.
enum Holds {
    /// A word or a name.
    Text,
    /// True or false, the same in all replications.
    Flag,
    /// A whole number, the same in all replications.
    Whole,
    /// A number, the same in all replications.
    Fixed(&'static str),
    /// A whole number from a count.
    Count,
    /// A measured number in this unit; null without a measurement.
    Number(&'static str),
    /// A list of measured numbers in this unit; null without a measurement.
    Numbers(&'static str),
    /// A list of texts.
    Texts,
    /// A list of whole numbers.
    Wholes,
    /// A count for each reason for which a unit was lost or marked.
    Reasons,
    /// A list of counts for each reason, each under the name of the reason.
    ListsByReason,
    /// A nested table.
    Table(&'static [ReportKey]),
    /// A list of tables, each with a name.
    Entries(&'static [ReportKey]),
    /// A list of tables without names.
    Rows(&'static [ReportKey]),
}

use Holds::{
    Count, Entries, Fixed, Flag, ListsByReason, Number, Numbers, Reasons, Rows, Table, Text, Texts, Whole,
    Wholes,
};

const fn key(name: &'static str, holds: Holds, doc: &'static str) -> ReportKey {
    ReportKey { name, holds, when: "", doc }
}

const fn if_so(name: &'static str, holds: Holds, when: &'static str, doc: &'static str) -> ReportKey {
    ReportKey { name, holds, when, doc }
}

const WITH_CODE: &str = "with a code";
const WITH_FILES: &str = "with files";
const WITH_DELIVERY: &str = "with `measure.delivery`";
const WITH_TRIPS: &str = "with `measure.delivery` and TCP";
const MEASURED: &str = "with `measure.window`";

const RUN: &[ReportKey] = &[
    key("scenario", Text, "Name of the scenario."),
    key("seed", Whole, "Seed of the run; with several replications, the first seed."),
    if_so("seeds", Wholes, "with several replications", "Their seeds."),
    key("duration_s", Fixed("s"), "Simulated time."),
    key("warmup_s", Fixed("s"), "Initial period excluded from all figures."),
    key("engine", Table(ENGINE), "The engine that ran, its version and its work."),
    key("warnings", Rows(WARNING), "Reasons why the scenario or the figures of the run may mislead."),
    key("flows", Entries(FLOW), "Every flow."),
    key("ports", Entries(PORT), "Every port, in the order of the output lines."),
    if_so(
        "memories",
        Entries(MEMORY),
        "with memories",
        "Every memory that ports share, or every partition of it.",
    ),
    key("circuits", Entries(CIRCUIT), "Every circuit, those of acknowledgements included."),
    if_so(
        "transfers",
        Rows(TRANSFER),
        "with `measure.transfers` and a workload, or sources `arrivals` or `query`",
        "Every transfer of the workload, or that such a source has drawn; of several replications one after the other.",
    ),
    key("summary", Table(SUMMARY), "All flows together."),
    if_so("audit", Table(AUDIT), "with `--audit`", "Result of the audit."),
];

const ENGINE: &[ReportKey] = &[
    key("name", Text, "Which engine ran: `fast` or `reference`."),
    key("version", Text, "Version of the simulator."),
    key("cell_hops", Count, "Cells whose transmission on a line has started, counted on every line."),
    key("packet_hops", Count, "Packets whose transmission on a line has started, counted on every line."),
    key("events", Count, "Events that the kernel has handled."),
    key("draws", Flag, "Whether a random number was drawn. If not, every seed gives this result."),
    key("wall_s", Number("s"), "Wall-clock time of the event loop."),
];

const WARNING: &[ReportKey] = &[
    key("code", Text, "Stable identifier, such as `equal-routes`."),
    key("message", Text, "The warning and its remedy."),
];

const WITH_STATE: &str = "with `measure.state`";

const AUDIT: &[ReportKey] = &[
    key("checks", Whole, "Equations that were checked."),
    key("failures", Texts, "Those that do not hold."),
];

/// Return the documentation's page about results.
pub fn page() -> String {
    let mut text = "# Results\n\n\
        What `pushout run --json` prints, `pushout.run` gives as `document`, and paths such as \
        `flows.flow3.goodput_bps` lead to. Of several replications every number that was measured is \
        `{ mean, ci95, n }`. [Measures](concepts/measures.md) says what the important ones mean; \
        `schema/result.schema.json` is this page for programs.\n"
        .to_string();
    section(&mut text, "A run", RUN);
    text.push_str(GENERATED);
    text
}

/// Return when a report has the key `name`, for the kind of entry whose present keys are `names`; `None` if it
/// always has it, or never.
pub(super) fn when(name: &str, names: &[&str]) -> Option<&'static str> {
    let is_of = |keys: &[ReportKey]| keys.iter().all(|key| !key.when.is_empty() || names.contains(&key.name));
    let keys = [FLOW, PORT, CIRCUIT, SUMMARY, CLASS].into_iter().find(|keys| is_of(keys))?;
    keys.iter().find(|key| key.name == name && !key.when.is_empty()).map(|key| key.when)
}

fn section(text: &mut String, title: &str, keys: &[ReportKey]) {
    write!(text, "\n## {title}\n\n| key | unit | meaning |\n|---|---|---|\n").expect("a text takes text");
    for ReportKey { name, holds, when, doc } in keys {
        let when = if when.is_empty() { String::new() } else { format!(" Only {when}.") };
        writeln!(text, "| `{name}` | {} | {doc}{when} |", holds.unit()).expect("a text takes text");
    }
    for ReportKey { name, holds, .. } in keys {
        if let Table(below) | Entries(below) | Rows(below) = holds {
            let path = if title == "A run" {
                (*name).to_string()
            } else {
                format!("{}.{name}", title.trim_matches('`'))
            };
            section(text, &format!("`{path}`"), below);
        }
    }
}

impl Holds {
    /// Return the unit of a number, or the type of another value.
    fn unit(&self) -> &'static str {
        match self {
            Text => "text",
            Flag => "true or false",
            Whole | Count => "count",
            Reasons => "counts",
            ListsByReason => "lists of counts",
            Fixed(unit) | Number(unit) => unit,
            Numbers("1") => "list",
            Numbers("b/s") => "list, b/s",
            Numbers("s") => "list, s",
            Numbers("octets") => "list, octets",
            Numbers("cells") => "list, cells",
            Numbers(_) => "list, `occupancy_unit`",
            Texts | Wholes | Rows(_) => "list",
            Table(_) => "table",
            Entries(_) => "list by name",
        }
    }

    fn schema(&self) -> Json {
        match self {
            Text => json!({ "type": "string" }),
            Flag => json!({ "type": "boolean" }),
            Whole => json!({ "type": "integer", "minimum": 0 }),
            Fixed(_) => json!({ "type": "number" }),
            Count => json!({ "$ref": "#/$defs/count" }),
            Number(_) => json!({ "$ref": "#/$defs/number" }),
            Numbers(_) => json!({ "type": "array", "items": { "$ref": "#/$defs/number" } }),
            Texts => json!({ "type": "array", "items": { "type": "string" } }),
            Wholes => json!({ "type": "array", "items": { "type": "integer", "minimum": 0 } }),
            Reasons => by_reason(&json!({ "$ref": "#/$defs/count" })),
            ListsByReason => by_reason(&json!({ "type": "array", "items": { "$ref": "#/$defs/count" } })),
            Table(keys) => object(keys),
            Entries(keys) | Rows(keys) => json!({ "type": "array", "items": object(keys) }),
        }
    }
}

/// Return the schema of a table with such an entry for each reason that occurred.
fn by_reason(entry: &Json) -> Json {
    let reasons: Map<String, Json> =
        Reason::ALL.into_iter().map(|reason| (reason.word().to_string(), entry.clone())).collect();
    json!({ "type": "object", "additionalProperties": false, "properties": reasons })
}

fn object(keys: &[ReportKey]) -> Json {
    let property = |key: &ReportKey| {
        let mut schema = key.holds.schema();
        schema["description"] = key.doc.into();
        (key.name.to_string(), schema)
    };
    let properties: Map<String, Json> = keys.iter().map(property).collect();
    let required: Vec<&str> = keys.iter().filter(|key| key.when.is_empty()).map(|key| key.name).collect();
    json!({ "type": "object", "additionalProperties": false, "required": required, "properties": properties })
}

/// Return the JSON Schema (2020-12) of a run's report, of one replication or of several.
pub fn schema() -> Json {
    let interval = json!({
        "type": "object",
        "additionalProperties": false,
        "required": ["mean", "ci95", "n"],
        "properties": {
            "mean": { "type": "number" },
            "ci95": { "type": ["array", "null"], "items": { "type": "number" }, "minItems": 2, "maxItems": 2 },
            "n": { "type": "integer", "minimum": 1 },
        },
    });
    let mut schema = object(RUN);
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    schema["title"] = "Pushout result".into();
    schema["description"] = "What a run measured.".into();
    schema["$defs"] = json!({
        "interval": interval,
        "count": { "anyOf": [{ "type": "integer", "minimum": 0 }, { "$ref": "#/$defs/interval" }] },
        "number": { "anyOf": [{ "type": ["number", "null"] }, { "$ref": "#/$defs/interval" }] },
    });
    shared(schema, &[])
}
