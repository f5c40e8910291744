//! JSON Schema (2020-12) of a file, made from the declarations of sections from which its reader is made as well.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json, json};

use super::spec::{ParamSpec, object_schema};

/// Return the schema of a file with this title and purpose, the keys at its top, its other sections with their
/// names and purposes, and names for forms that occur repeatedly.
pub(crate) fn file(
    title: &str,
    description: &str,
    forms: &[(&str, Json)],
    top: &[ParamSpec],
    sections: impl IntoIterator<Item = (&'static str, &'static str, Json)>,
) -> Json {
    let mut schema = object_schema(top);
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    schema["title"] = title.into();
    schema["description"] = description.into();
    for (name, doc, mut section) in sections {
        section["description"] = doc.split_whitespace().collect::<Vec<_>>().join(" ").into();
        schema["properties"][name] = section;
    }
    shared(schema, forms)
}

/// Return the schema of tables with these keys, under names that the author of the file chooses.
pub(crate) fn named(params: &[ParamSpec]) -> Json {
    json!({ "type": "object", "additionalProperties": object_schema(params) })
}

/// Return the schema of a list of tables, each with at least one of the sets of keys in `least`: an entry that
/// changes an entry of a template has few keys.
pub(crate) fn list(mut entry: Json, least: &[&[&str]]) -> Json {
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

/// Return the schema of a table that is merged with another one, so that every key may be missing, also the keys that
/// choose an entry of a catalogue.
pub(crate) fn partial(params: &[ParamSpec], choices: &[&str]) -> Json {
    let mut schema = object_schema(params);
    let keys = schema.as_object_mut().expect("a schema is an object");
    keys.remove("required");
    for name in choices {
        let table = &mut keys["properties"][name];
        let mut kinds = table["oneOf"].take();
        kinds.as_array_mut().expect("a catalogue has entries").iter_mut().for_each(|kind| {
            kind.as_object_mut().expect("a schema is an object").remove("required");
        });
        *table = json!({ "description": table["description"], "anyOf": kinds });
    }
    schema
}

/// Return a copy of the table without these keys.
pub(crate) fn without(mut table: Json, keys: &[&str]) -> Json {
    let properties = table["properties"].as_object_mut().expect("a table has properties");
    properties.retain(|name, _| !keys.contains(&name.as_str()));
    table
}

/// What a key says about a value beside its form.
const NOTES: [&str; 2] = ["description", "default"];

/// Length of the shortest text of a form that is worth a reference.
const LEAST: usize = 60;

/// Write each form that occurs repeatedly once, below `$defs`, under its name in `named`, its title or the first key
/// that has it. The schema accepts what it accepted before.
pub(crate) fn shared(mut schema: Json, named: &[(&str, Json)]) -> Json {
    let names = named.iter().map(|(name, form)| (form.to_string(), name.to_string())).collect();
    let defs = match schema.as_object_mut().and_then(|keys| keys.remove("$defs")) {
        Some(Json::Object(defs)) => defs,
        _ => Map::new(),
    };
    let mut sharing = Sharing { uses: BTreeMap::new(), names, defs };
    below(&mut schema, "", &mut |part, name| sharing.count(part, name));
    below(&mut schema, "", &mut |part, name| sharing.replace(part, name));
    if !sharing.defs.is_empty() {
        schema["$defs"] = sharing.defs.into();
    }
    schema
}

/// The forms of a schema that are to be written once.
struct Sharing {
    /// How often a form occurs outside of forms that are written once, by its text.
    uses: BTreeMap<String, usize>,
    /// Names of forms, by their text.
    names: BTreeMap<String, String>,
    /// Forms by name.
    defs: Map<String, Json>,
}

impl Sharing {
    fn count(&mut self, part: &mut Json, name: &str) {
        let uses = self.uses.entry(form(part).to_string()).or_default();
        *uses += 1;
        if *uses == 1 {
            below(part, name, &mut |part, name| self.count(part, name));
        }
    }

    /// Replace a form that occurs again by a reference, and the others by what they are with references.
    fn replace(&mut self, part: &mut Json, name: &str) {
        let mut form = form(part);
        let text = form.to_string();
        if self.uses[&text] == 1 || text.len() < LEAST {
            return below(part, name, &mut |part, name| self.replace(part, name));
        }
        let known = self.names.get(&text).filter(|name| self.defs.contains_key(*name));
        let name = known.cloned().unwrap_or_else(|| {
            let name = self.names.get(&text).cloned().unwrap_or_else(|| self.unused(name));
            self.defs.insert(name.clone(), Json::Null); // forms below come after it
            self.names.insert(text, name.clone());
            below(&mut form, &name, &mut |part, name| self.replace(part, name));
            self.defs[&name] = form;
            name
        });
        let mut reference = json!({ "$ref": format!("#/$defs/{name}") });
        for note in NOTES {
            if let Some(value) = part.get_mut(note) {
                reference[note] = value.take();
            }
        }
        *part = reference;
    }

    /// Return this name, or with the first number behind it that makes it a new one.
    fn unused(&self, name: &str) -> String {
        let taken =
            |name: &String| self.defs.contains_key(name) || self.names.values().any(|other| other == name);
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        std::iter::once(name.to_string())
            .chain(numbered)
            .find(|name| !taken(name))
            .expect("numbers do not end")
    }
}

/// Return the form of a value without the notes of its key.
fn form(part: &Json) -> Json {
    let mut form = part.clone();
    if let Some(keys) = form.as_object_mut() {
        keys.retain(|key, _| !NOTES.contains(&key.as_str()));
    }
    form
}

/// Call `visit` with each schema directly below one, and with its name: its title, else its key, else `name`.
fn below(schema: &mut Json, name: &str, visit: &mut dyn FnMut(&mut Json, &str)) {
    let Some(keys) = schema.as_object_mut() else { return };
    for (key, value) in keys {
        match (key.as_str(), value) {
            ("properties", Json::Object(parts)) => parts.iter_mut().for_each(|(key, part)| visit(part, key)),
            ("items" | "additionalProperties", part @ Json::Object(_)) => visit(part, name),
            ("oneOf" | "anyOf" | "prefixItems", Json::Array(parts)) => {
                for part in parts.iter_mut().filter(|part| part.get("$ref").is_none()) {
                    let title = part["title"].as_str().unwrap_or(name).to_string();
                    visit(part, &title);
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::spec::{Field, Section};
    use crate::section;
    use crate::units::Span;

    section! {
        /// A house.
        struct House {
            /// Its street.
            street: String,
            /// Its storeys.
            storeys: u64 = 2,
        }
    }

    #[test]
    fn an_entry_of_a_list_needs_one_of_the_least_sets_of_keys_and_no_other() {
        let entry = || object_schema(&House::params());
        assert_eq!(entry()["required"], json!(["street"]));
        assert_eq!(list(entry(), &[&["storeys"]])["items"]["required"], json!(["storeys"]));
        let either = list(entry(), &[&["street"], &["storeys"]]);
        assert_eq!(either["items"]["required"], Json::Null);
        assert_eq!(
            either["items"]["anyOf"],
            json!([{ "required": ["street"] }, { "required": ["storeys"] }])
        );
    }

    #[test]
    fn of_a_partial_table_every_key_may_be_missing() {
        let schema = partial(&House::params(), &[]);
        assert_eq!(
            (&schema["required"], &schema["properties"]["storeys"]["default"]),
            (&Json::Null, &json!(2))
        );
    }

    #[test]
    fn a_form_that_occurs_again_is_written_once_under_the_name_of_its_quantity_or_key() {
        let house = || object_schema(&House::params());
        let street = json!({ "type": "array", "items": house(), "description": "Houses.", "default": [] });
        let time = |doc: &str| {
            let mut schema = Span::shape().schema;
            schema["description"] = doc.into();
            schema
        };
        let town = json!({ "properties": {
            "first": street, "second": street, "house": house(), "start": time("A."), "end": time("B."),
            "time": { "enum": ["long"] },
        } });
        assert_eq!(
            shared(town, &[("time", Span::shape().schema)]),
            json!({
                "properties": {
                    "first": { "$ref": "#/$defs/first", "description": "Houses.", "default": [] },
                    "second": { "$ref": "#/$defs/first", "description": "Houses.", "default": [] },
                    "house": { "$ref": "#/$defs/first-2" },
                    "start": { "$ref": "#/$defs/time", "description": "A." },
                    "end": { "$ref": "#/$defs/time", "description": "B." },
                    "time": { "enum": ["long"] },
                },
                "$defs": {
                    "first": { "type": "array", "items": { "$ref": "#/$defs/first-2" } },
                    "first-2": house(),
                    "time": Span::shape().schema,
                },
            })
        );
    }

    #[test]
    fn a_file_has_the_keys_at_its_top_and_its_sections_with_what_they_are_for() {
        let houses = ("house", "All houses,\n one by one.", named(&House::params()));
        let schema = file("Town", "A town.", &[], &[], [houses]);
        assert_eq!((&schema["title"], &schema["description"]), (&json!("Town"), &json!("A town.")));
        let house = &schema["properties"]["house"];
        assert_eq!(house["description"], "All houses, one by one.");
        assert!(house["additionalProperties"]["properties"]["street"].is_object());
        let unnamed = without(house["additionalProperties"].clone(), &["street"]);
        assert_eq!(unnamed["properties"].as_object().unwrap().keys().collect::<Vec<_>>(), ["storeys"]);
    }
}
