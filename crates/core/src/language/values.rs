//! Values of keys: quantities, numbers, words and lists of them are read, written and described here.

use std::sync::Arc;

use serde_json::{Value as Json, json};

use super::spec::{Field, Shape};
use super::tree::{Fault, Node, Value};
use crate::excerpt::is_control;
use crate::units::Quantity;

impl<T: Quantity> Field for T {
    fn read(node: &Node, path: &str) -> Result<Self, Fault> {
        match &node.value {
            Value::Text(text) => {
                T::parse(text).map_err(|why| node.fault(path, format!("{}: {why}", node.show())))
            }
            Value::Integer(_) | Value::Float(_) => Err(node.fault(
                path,
                format!("must be {} with a unit, as in \"{}\", not {}", T::WHAT, T::EXAMPLE, node.show()),
            )),
            _ => {
                let example = T::EXAMPLE;
                Err(node
                    .fault(path, format!("must be {}, as in \"{example}\", not {}", T::WHAT, node.show())))
            }
        }
    }

    fn write(&self) -> Json {
        self.show().into()
    }

    fn shape() -> Shape {
        let names: Vec<&str> = T::UNITS.iter().map(|(name, _)| *name).collect();
        let units = names.join("|").replace("|us|", "|[uµμ]s|");
        let pattern = format!("^\\+?[0-9_]*\\.?[0-9_]+([eE][+-]?[0-9]+)? *({units})$");
        let unit = T::WHAT.trim_start_matches("a number of ").trim_start_matches("a ");
        Shape { unit, schema: json!({ "type": "string", "pattern": pattern, "examples": [T::EXAMPLE] }) }
    }
}

impl Field for bool {
    fn read(node: &Node, path: &str) -> Result<Self, Fault> {
        match node.value {
            Value::Bool(b) => Ok(b),
            _ => Err(node.fault(path, format!("must be true or false, not {}", node.show()))),
        }
    }

    fn write(&self) -> Json {
        (*self).into()
    }

    fn shape() -> Shape {
        Shape { unit: "-", schema: json!({ "type": "boolean" }) }
    }
}

impl Field for u32 {
    fn read(node: &Node, path: &str) -> Result<Self, Fault> {
        let fault =
            || node.fault(path, format!("must be an integer from 0 to {}, not {}", u32::MAX, node.show()));
        match node.value {
            Value::Integer(i) => u32::try_from(i).map_err(|_| fault()),
            Value::Float(x) => whole(x).and_then(|i| u32::try_from(i).ok()).ok_or_else(fault),
            _ => Err(fault()),
        }
    }

    fn write(&self) -> Json {
        (*self).into()
    }

    fn shape() -> Shape {
        Shape { unit: "-", schema: json!({ "type": "integer", "minimum": 0, "maximum": u32::MAX }) }
    }
}

impl Field for u64 {
    fn read(node: &Node, path: &str) -> Result<Self, Fault> {
        let fault =
            || node.fault(path, format!("must be an integer from 0 to {}, not {}", u64::MAX, node.show()));
        match node.value {
            Value::Integer(i) => u64::try_from(i).map_err(|_| fault()),
            Value::Float(x) => whole(x).ok_or_else(fault),
            _ => Err(fault()),
        }
    }

    fn write(&self) -> Json {
        (*self).into()
    }

    fn shape() -> Shape {
        Shape { unit: "-", schema: json!({ "type": "integer", "minimum": 0 }) }
    }
}

/// Return an integer that is written as `5e4` or `50000.0`, within the precision of binary floating point.
fn whole(x: f64) -> Option<u64> {
    let most = (1u64 << 53) as f64;
    ((0.0..=most).contains(&x) && libm::trunc(x) == x).then_some(x as u64)
}

impl Field for f64 {
    fn read(node: &Node, path: &str) -> Result<Self, Fault> {
        match node.value {
            Value::Integer(i) => Ok(i as f64),
            Value::Float(x) if x.is_finite() => Ok(x),
            _ => Err(node.fault(path, format!("must be a number, not {}", node.show()))),
        }
    }

    fn write(&self) -> Json {
        (*self).into()
    }

    fn shape() -> Shape {
        Shape { unit: "-", schema: json!({ "type": "number" }) }
    }
}

impl Field for String {
    fn read(node: &Node, path: &str) -> Result<Self, Fault> {
        match &node.value {
            Value::Text(text) if text.chars().any(is_control) => {
                Err(node.fault(path, format!("must be without control characters, not {}", node.show())))
            }
            Value::Text(text) => Ok(text.clone()),
            _ => Err(node.fault(path, format!("must be a string, not {}", node.show()))),
        }
    }

    fn write(&self) -> Json {
        self.as_str().into()
    }

    fn shape() -> Shape {
        Shape { unit: "-", schema: json!({ "type": "string" }) }
    }
}

/// The text of a file that a scenario names, line breaks included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileText(pub Arc<str>);

impl Field for FileText {
    fn read(node: &Node, path: &str) -> Result<Self, Fault> {
        match &node.value {
            Value::Text(text) => Ok(FileText(text.as_str().into())),
            _ => Err(node.fault(path, format!("must be a text of lines, not {}", node.show()))),
        }
    }

    fn write(&self) -> Json {
        (*self.0).into()
    }

    fn shape() -> Shape {
        Shape { unit: "lines", schema: json!({ "type": "string" }) }
    }
}

impl<T: Field> Field for Option<T> {
    fn read(node: &Node, path: &str) -> Result<Self, Fault> {
        T::read(node, path).map(Some)
    }

    fn write(&self) -> Json {
        self.as_ref().map_or(Json::Null, Field::write)
    }

    fn shape() -> Shape {
        T::shape()
    }
}

impl<T: Field> Field for Vec<T> {
    fn read(node: &Node, path: &str) -> Result<Self, Fault> {
        match &node.value {
            Value::List(items) => {
                items.iter().enumerate().map(|(i, item)| T::read(item, &format!("{path}[{i}]"))).collect()
            }
            _ => Err(node.fault(path, format!("must be a list, not {}", node.show()))),
        }
    }

    fn write(&self) -> Json {
        self.iter().map(Field::write).collect()
    }

    fn shape() -> Shape {
        let item = T::shape();
        Shape { unit: item.unit, schema: json!({ "type": "array", "items": item.schema }) }
    }
}
