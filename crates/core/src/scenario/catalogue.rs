//! The catalogue: all entries that a scenario can name, from all registries.

use serde_json::Value as Json;

use super::topology;
use crate::adaptation;
use crate::buffer::{admission, pushout};
use crate::discipline;
use crate::language::registry::Entry;
use crate::link::gate::credit;
use crate::police;
use crate::scheduler;
use crate::source;
use crate::transport::{self, tcp::congestion, tcp::recovery};
use crate::workload;

/// Return all entries: policies of ports first, then sources and transports, then templates.
pub fn catalogue() -> Vec<Entry> {
    let ports = [admission::CATALOGUE, pushout::CATALOGUE, scheduler::CATALOGUE];
    let ports = [ports.concat(), discipline::CATALOGUE.to_vec()].concat();
    let ports = [ports, credit::CATALOGUE.to_vec(), police::CATALOGUE.to_vec()].concat();
    let senders =
        [congestion::CATALOGUE, recovery::CATALOGUE, source::CATALOGUE, transport::CATALOGUE].concat();
    let senders = [senders, workload::CATALOGUE.to_vec()].concat();
    let networks = [adaptation::CATALOGUE, topology::CATALOGUE].concat();
    ports.into_iter().chain(senders).chain(networks).collect()
}

/// Return the catalogue as a JSON document.
pub fn policies() -> Json {
    catalogue().iter().map(Entry::document).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_entry_names_its_source_and_documents_its_parameters() {
        for entry in catalogue() {
            let Entry { kind, name, .. } = entry;
            assert!(!entry.source().is_empty(), "{kind} {name} has no source");
            assert!(entry.summary().ends_with('.'), "{kind} {name}: {}", entry.summary());
            for param in (entry.params)() {
                assert!(param.doc.ends_with('.'), "{kind} {name}.{}: {:?}", param.name, param.doc);
            }
        }
    }

    fn all_different<T: Ord>(mut names: Vec<T>) -> bool {
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        names.len() == count
    }

    #[test]
    fn no_two_entries_of_a_kind_have_the_same_name_and_no_two_of_all_the_same_class() {
        let entries = catalogue();
        assert!(all_different(entries.iter().map(|entry| (entry.kind, entry.name)).collect()));
        let classes = entries.iter().filter_map(|entry| entry.table.map(|form| form.class));
        assert!(all_different(classes.collect()));
    }

    #[test]
    fn the_document_says_of_each_parameter_its_unit_and_default() {
        let policies = policies();
        let epd = policies.as_array().unwrap().iter().find(|policy| policy["name"] == "epd").unwrap();
        let threshold = &epd["params"][0];
        assert_eq!((&epd["kind"], &epd["experimental"]), (&json!("admission"), &json!(false)));
        assert_eq!(threshold["name"], "threshold");
        assert_eq!(threshold["unit"], "size or %");
        assert_eq!(threshold["default"], "80 %");
        assert_eq!(threshold["schema"]["type"], "string");
        assert_eq!(epd["table"], json!({ "tag": "policy", "class": "Epd" }));
        assert!(epd["header"].as_str().unwrap().starts_with("# Source\n"));
        assert!(epd["source"].as_str().unwrap().starts_with("A. Romanow"));
    }
}
