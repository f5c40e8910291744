//! Limits of the parameters of a program: an override or an edited scenario cannot exceed them.

use serde_json::{Value as Json, json};

use super::code::{Type, Word};
use super::values::Known;
use crate::language::spec::{Field, Named, Shape};
use crate::language::tree::{Fault, Node};
use crate::refused::{Refused, refuse, refuse_if};
use crate::section;
use crate::words::nearest::unknown;

section! {
    /// The least and the largest value of a parameter.
    pub struct Limit {
        /// Its least value.
        pub low: Option<f64> = None,
        /// Its largest value.
        pub high: Option<f64> = None,
    }
}

/// Limits by the name of the parameter.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits(Named<Limit>);

impl Limits {
    /// Refuse a parameter beyond its limits, and limits that are not numbers.
    pub(crate) fn check(&self, params: &[Known]) -> Result<(), Refused> {
        for (name, limit) in &self.0.0 {
            let Some(known) = params.iter().find(|known| known.name == *name) else {
                let names: Vec<&str> = params.iter().map(|known| known.name.as_str()).collect();
                return refuse("limits", unknown("parameter", name, &names));
            };
            limit.check(known)?;
        }
        Ok(())
    }
}

impl Limit {
    fn check(&self, known: &Known) -> Result<(), Refused> {
        let Known { name, kind, word } = known;
        let value = number(*kind, *word);
        refuse_if(value.is_none(), "limits", format!("{name} must have none, for it is true or false"))?;
        let fault =
            |what: &str, limit: f64| format!("{name} must be at {what} {limit}, not {}", word.shown(*kind));
        let below = self.low.filter(|low| value.is_some_and(|value| value < *low));
        let above = self.high.filter(|high| value.is_some_and(|value| value > *high));
        let why = below.map(|low| fault("least", low)).or(above.map(|high| fault("most", high)));
        why.map_or(Ok(()), |why| refuse("params", why))
    }
}

/// Return the value of a parameter, if it is a number.
fn number(kind: Type, word: Word) -> Option<f64> {
    match kind {
        Type::Int => Some(word.as_int() as f64),
        Type::Float => Some(word.as_float()),
        Type::Bool => None,
    }
}

impl Field for Limits {
    fn read(node: &Node, path: &str) -> Result<Limits, Fault> {
        Named::read(node, path).map(Limits)
    }

    fn write(&self) -> Json {
        self.0.write()
    }

    fn shape() -> Shape {
        let Shape { unit, mut schema } = Named::<Limit>::shape();
        schema["examples"] = json!([{}]);
        Shape { unit, schema }
    }
}
