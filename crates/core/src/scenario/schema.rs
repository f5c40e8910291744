//! JSON Schema of scenario files, from the same declarations as their reader.

use serde_json::{Value as Json, json};

use super::file::{Flow, Head, Link, Measure, Node, OWN_KEYS, Port};
use super::topology;
use crate::adaptation;
use crate::language::spec::{Field, Section, object_schema};

/// JSON Schema (2020-12) of a scenario file, for editors and for whoever writes scenarios by program.
pub fn schema() -> Json {
    let mut schema = object_schema(&Head::params());
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    schema["title"] = "Pushout scenario".into();
    schema["description"] = "A network, its traffic and the policies of its buffers.".into();
    let sections = [
        ("topology", "A network in short form.", topology::Spec::shape().schema),
        ("adaptation", "How packets travel.", adaptation::Spec::shape().schema),
        (
            "port",
            Port::DOC,
            json!({ "type": "object", "additionalProperties": object_schema(&Port::params()) }),
        ),
        ("flows", "Defaults of every flow.", flows()),
        ("node", Node::DOC, entries::<Node>(&[&["name"]])),
        ("link", Link::DOC, entries::<Link>(&[&["name"], &["from", "to", "rate", "delay"]])),
        ("flow", Flow::DOC, list(partial_flow(), &[&["name"]])),
        ("measure", Measure::DOC, object_schema(&Measure::params())),
    ];
    for (name, doc, mut section) in sections {
        section["description"] = doc.split_whitespace().collect::<Vec<_>>().join(" ").into();
        schema["properties"][name] = section;
    }
    schema
}

/// A list of tables that have at least one of these sets of keys: an entry that changes one of a template has few keys.
fn entries<T: Section>(least: &[&[&str]]) -> Json {
    list(object_schema(&T::params()), least)
}

fn list(mut entry: Json, least: &[&[&str]]) -> Json {
    let keys = entry.as_object_mut().expect("a schema is an object");
    keys.remove("required");
    match least {
        [one] => keys.insert("required".to_string(), json!(one)),
        several => {
            let any: Vec<Json> = several.iter().map(|required| json!({ "required": required })).collect();
            keys.insert("anyOf".to_string(), any.into())
        }
    };
    json!({ "type": "array", "items": entry })
}

/// `[flows]`: what can have a default.
fn flows() -> Json {
    let mut schema = partial_flow();
    let properties = schema["properties"].as_object_mut().expect("a section has properties");
    properties.retain(|name, _| !OWN_KEYS.contains(&name.as_str()));
    schema
}

/// A flow of which any part may be missing, since `[flows]` and `[[flow]]` are merged.
fn partial_flow() -> Json {
    let mut schema = object_schema(&Flow::params());
    let keys = schema.as_object_mut().expect("a schema is an object");
    keys.remove("required");
    for name in ["source", "transport"] {
        let table = &mut keys["properties"][name];
        let mut kinds = table["oneOf"].take();
        kinds.as_array_mut().expect("a catalogue has entries").iter_mut().for_each(|kind| {
            kind.as_object_mut().expect("a schema is an object").remove("required");
        });
        *table = json!({ "description": table["description"], "anyOf": kinds });
    }
    schema
}
