//! The congestion control of a sender as a scenario writes it: a word, or the table of a program.

use std::sync::Arc;

use serde_json::{Map, Value as Json, json};

use super::{Control, Spec, program};
use crate::language::spec::{Field, Section, Shape, Table, object_schema, shape_of_words};
use crate::language::tree::{Fault, Node, Value, join};
use crate::transport::tcp::Params;

/// The congestion control of a sender.
#[derive(Clone, Debug, PartialEq)]
pub enum Chosen {
    /// One of those that a scenario names by a word.
    Word(Spec),
    /// A program, which the reader has checked.
    Program(Arc<program::Checked>),
}

/// The key of the table that says which control it is.
const TAG: &str = "policy";
/// Its value for a program.
const PROGRAM: &str = "program";

impl Chosen {
    /// Start the control of a new connection.
    pub fn start(&self, params: &Params) -> Control {
        match self {
            Chosen::Word(spec) => spec.start(params),
            Chosen::Program(_) => Spec::Program.start(params),
        }
    }

    /// Return the name of the control if it sets the rate at which its sender paces.
    pub fn pace_setter(&self) -> Option<&'static str> {
        match self {
            Chosen::Word(spec) => spec.measuring(),
            Chosen::Program(program) => program.paces().then_some(PROGRAM),
        }
    }

    /// Return the name of the control if it samples the delivery rate, so that it needs selective acknowledgements.
    pub fn measuring(&self) -> Option<&'static str> {
        if let Chosen::Word(spec) = self { spec.measuring() } else { None }
    }

    /// Return whether each acknowledgement has to echo the marks of its own segments (RFC 8257), instead of repeating a mark until the
    /// sender has reacted.
    pub fn echoes_each(&self) -> bool {
        match self {
            Chosen::Word(spec) => *spec == Spec::Dctcp,
            Chosen::Program(program) => program.echoes_each(),
        }
    }
}

impl From<Spec> for Chosen {
    fn from(spec: Spec) -> Chosen {
        Chosen::Word(spec)
    }
}

impl PartialEq<Spec> for Chosen {
    fn eq(&self, other: &Spec) -> bool {
        matches!(self, Chosen::Word(spec) if spec == other)
    }
}

impl Field for Chosen {
    fn read(node: &Node, path: &str) -> Result<Chosen, Fault> {
        if !matches!(node.value, Value::Table(_)) {
            return match Spec::read(node, path)? {
                Spec::Program => {
                    Err(node.fault(path, format!("must be a table {EXAMPLE}, not the word alone")))
                }
                spec => Ok(Chosen::Word(spec)),
            };
        }
        let mut table = Table::new(node, path)?;
        let name: String = table.required(TAG)?;
        if name != PROGRAM {
            let message = match Spec::from_word(&name) {
                Ok(_) => format!("must be the word alone: write congestion = \"{name}\""),
                Err(why) => why,
            };
            return Err(node.along(TAG).fault(&join(path, TAG), message));
        }
        let params = program::Params::take(&mut table)?;
        table.finish()?;
        let checked = program::Checked::new(params).map_err(|refused| match refused.key {
            Some(key) => node.along(key).fault(&join(path, key), refused.why),
            None => node.fault(path, refused.why),
        })?;
        Ok(Chosen::Program(Arc::new(checked)))
    }

    fn write(&self) -> Json {
        match self {
            Chosen::Word(spec) => spec.write(),
            Chosen::Program(program) => {
                let mut keys = Map::new();
                keys.insert(TAG.to_string(), PROGRAM.into());
                program.params().put(&mut keys);
                keys.into()
            }
        }
    }

    fn shape() -> Shape {
        let words: Vec<_> = Spec::WORDS.iter().copied().filter(|(word, _)| *word != PROGRAM).collect();
        let mut table = object_schema(&program::Params::params());
        table["title"] = PROGRAM.into();
        table["properties"][TAG] = json!({ "const": PROGRAM });
        table["required"] = json!([TAG]);
        Shape { unit: "word or table", schema: json!({ "oneOf": [shape_of_words(&words).schema, table] }) }
    }
}

/// A table, for messages.
const EXAMPLE: &str = "with the instructions of a program, as in { policy = \"program\", on_loss = [...] }";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::read::{Format, read};

    fn chosen(text: &str) -> Result<Chosen, String> {
        let root = read(&format!("congestion = {text}"), Format::Toml).unwrap();
        Chosen::read(root.get("congestion").unwrap(), "congestion").map_err(|fault| fault.to_string())
    }

    #[test]
    fn a_control_is_a_word_or_the_table_of_a_program() {
        assert_eq!(chosen("'cubic'").unwrap(), Chosen::Word(Spec::Cubic));
        let program = chosen("{ policy = 'program', name = 'mine' }").unwrap();
        assert_eq!(program.write()["name"], "mine");
        let again = chosen(&program.write().to_string().replace("\":", "\" = ")).unwrap();
        assert_eq!(again, program);
        assert!(program != Spec::Program && program.pace_setter().is_none() && !program.echoes_each());
    }

    #[test]
    fn what_is_neither_is_refused_with_the_right_form() {
        let word = chosen("'program'").unwrap_err();
        assert!(word.starts_with("congestion must be a table with the instructions of a program"), "{word}");
        let table = chosen("{ policy = 'cubic' }").unwrap_err();
        assert_eq!(table, "congestion.policy must be the word alone: write congestion = \"cubic\"");
        assert!(chosen("{ policy = 'cubik' }").unwrap_err().contains("did you mean \"cubic\""));
        assert!(chosen("{ policy = 'program', on_los = ['end'] }").unwrap_err().contains("on_loss"));
        assert!(chosen("{}").unwrap_err().contains("policy"));
    }
}
