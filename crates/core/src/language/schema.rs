//! JSON Schema (2020-12) of a file, made from the declarations of sections from which its reader is made as well.

use serde_json::{Value as Json, json};

use super::spec::{ParamSpec, object_schema};

/// Return the schema of a file with this title and purpose, the keys at its top, and its other sections with their
/// names and purposes.
pub(crate) fn file(
    title: &str,
    description: &str,
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
    schema
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::spec::Section;
    use crate::section;

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
    fn a_file_has_the_keys_at_its_top_and_its_sections_with_what_they_are_for() {
        let houses = ("house", "All houses,\n one by one.", named(&House::params()));
        let schema = file("Town", "A town.", &[], [houses]);
        assert_eq!((&schema["title"], &schema["description"]), (&json!("Town"), &json!("A town.")));
        let house = &schema["properties"]["house"];
        assert_eq!(house["description"], "All houses, one by one.");
        assert!(house["additionalProperties"]["properties"]["street"].is_object());
        let unnamed = without(house["additionalProperties"].clone(), &["street"]);
        assert_eq!(unnamed["properties"].as_object().unwrap().keys().collect::<Vec<_>>(), ["storeys"]);
    }
}
