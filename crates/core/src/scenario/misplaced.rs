//! Names the table of a key that stands in another one: TOML gives every key below a `[table]` to that table.

use super::file::HeadSection;
use super::topology;
use crate::excerpt::quoted;
use crate::language::spec::{Field, Section};
use crate::language::tree::Fault;

/// Complete the fault of a key that the table does not have: its place, or what a file begins with.
pub(super) fn placed(fault: Fault) -> Fault {
    let message = match fault.path.rsplit_once('.') {
        _ if fault.message == "the key \"name\" is missing" && fault.path.is_empty() => {
            "the key \"name\" is missing: a scenario begins with a name, as in name = \"my-lab\"".to_string()
        }
        Some((_, key)) if is_unknown(&fault) && HeadSection::KEYS.contains(&key) => {
            format!("unknown key {}: it belongs to the scenario itself, above its first [table]", quoted(key))
        }
        None if is_unknown(&fault) && is_of_template(&fault.path) => {
            format!("unknown key {}: it is a key of [topology]", quoted(&fault.path))
        }
        _ => return fault,
    };
    Fault { message, ..fault }
}

/// Return whether the fault is a key that its table does not have under any name.
fn is_unknown(fault: &Fault) -> bool {
    fault.message.starts_with("unknown key") && !fault.message.contains("it is called")
}

/// Return whether a template has this key.
fn is_of_template(key: &str) -> bool {
    let schema = topology::Spec::shape().schema;
    schema["oneOf"].as_array().into_iter().flatten().any(|form| form["properties"].get(key).is_some())
}

#[cfg(test)]
mod tests {
    use crate::scenario::load;

    const LAN: &str = include_str!("../../../../scenarios/lan.toml");

    fn message(text: &str) -> String {
        load(text, "lan.toml", &[]).err().unwrap().message
    }

    #[test]
    fn a_key_of_the_scenario_in_a_table_leads_to_the_top() {
        let told = message(&LAN.replace("[adaptation]", "[adaptation]\nseed = 4"));
        let why = "adaptation.seed: unknown key \"seed\": it belongs to the scenario itself, above its first [table]";
        assert!(told.contains(why), "{told}");
    }

    #[test]
    fn a_key_of_a_template_at_the_top_leads_to_the_topology() {
        for (old, new) in [("[topology]", ""), ("[topology]", "[template]")] {
            let told = message(&LAN.replace(old, new));
            assert!(told.contains("unknown key \"template\": it is a key of [topology]"), "{told}");
        }
    }

    #[test]
    fn a_scenario_without_a_name_gets_one() {
        let told = message(&LAN.replace("name = \"lan\"", ""));
        assert!(told.contains("as in name = \"my-lab\""), "{told}");
    }
}
