//! A random value of a JSON Schema, as the sections of a scenario describe themselves: a policy that is registered is
//! drawn with all of its parameters, without a change of the tests.

use pushout_core::rng::Stream;
use pushout_core::serde_json::{Map, Value as Json};
use pushout_core::units::{Bytes, CellCount, PerSecond, Quantity, Rate, Span};

/// Random choices, and how large the quantities are among which they choose.
pub(crate) struct Draw {
    chance: Stream,
    /// Usual rate in this section.
    pub(crate) rate: Rate,
    /// Usual size of a buffer in this section, with its unit.
    pub(crate) size: (u64, &'static str),
}

impl Draw {
    pub(crate) fn new(seed: u64) -> Draw {
        Draw { chance: Stream::new(seed, "scenario"), rate: Rate(10_000_000), size: (100, "cells") }
    }

    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.chance.chance(probability)
    }

    /// One of a list.
    pub(crate) fn of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.chance.up_to(list.len() as u64 - 1) as usize]
    }

    /// A whole number from `low` to `high`.
    pub(crate) fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.chance.up_to(high - low)
    }

    /// A whole number from `low` to `high`, every order of magnitude equally likely.
    pub(crate) fn magnitude(&mut self, low: u64, high: u64) -> u64 {
        let (low_log, high_log) = ((low as f64).ln(), (high as f64).ln());
        ((low_log + (high_log - low_log) * self.chance.unit()).exp() as u64).clamp(low, high)
    }

    /// A value that the schema allows.
    pub(crate) fn instance(&mut self, schema: &Json) -> Json {
        for alternatives in ["oneOf", "anyOf", "enum"] {
            if let Some(list) = schema[alternatives].as_array() {
                let chosen = self.of(list);
                return if alternatives == "enum" { chosen.clone() } else { self.instance(chosen) };
            }
        }
        if let Some(constant) = schema.get("const") {
            return constant.clone();
        }
        let is_compound = schema["type"] == "array" || schema["type"] == "object";
        if let (true, Some(examples)) = (is_compound, schema["examples"].as_array()) {
            return self.of(examples).clone();
        }
        match schema["type"].as_str() {
            Some("boolean") => self.chance(0.5).into(),
            Some("integer") => self.integer(schema).into(),
            Some("number") => {
                (schema["default"].as_f64().unwrap_or(1.0) * self.of(&[0.25, 0.5, 1.0, 1.5])).into()
            }
            Some("string") => self.text(schema).into(),
            Some("array") if schema["prefixItems"].is_array() => {
                let items = schema["prefixItems"].as_array().expect("a list of schemas");
                items.iter().map(|item| self.instance(item)).collect()
            }
            Some("array") => (0..self.between(0, 3)).map(|_| self.instance(&schema["items"])).collect(),
            Some("object") => self.object(schema).into(),
            _ => panic!("the tests cannot draw a value of {schema}"),
        }
    }

    /// A table: every required key, and each of the others with even chances.
    fn object(&mut self, schema: &Json) -> Map<String, Json> {
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        let mut table = Map::new();
        for (name, value) in schema["properties"].as_object().expect("a table has keys") {
            if required.contains(&name.as_str().into()) || self.chance(0.5) {
                table.insert(name.clone(), self.instance(value));
            }
        }
        table
    }

    fn integer(&mut self, schema: &Json) -> u64 {
        let usual = schema["default"].as_u64().unwrap_or(2);
        let drawn = *self.of(&[usual / 2, usual, usual + 1, usual * 2]);
        let (low, high) = (schema["minimum"].as_u64(), schema["maximum"].as_u64());
        drawn.max(low.unwrap_or(0)).min(high.unwrap_or(u64::MAX))
    }

    /// A quantity, told by the unit of the schema's examples.
    fn text(&mut self, schema: &Json) -> String {
        let pattern = schema["pattern"].as_str().unwrap_or_default();
        if pattern.contains('%') {
            return format!("{} %", self.between(0, 100));
        }
        if schema["format"] == "recording" {
            return schema["examples"][0].as_str().expect("a recording has an example").to_string();
        }
        if pattern.is_empty() && schema["examples"].is_null() {
            return schema["default"].as_str().unwrap_or("text").to_string(); // any text is allowed
        }
        let Some(example) = schema["examples"][0].as_str() else { panic!("the tests cannot draw {schema}") };
        if example.ends_with(" packets") {
            format!("{} packets", self.between(1, 4))
        } else if CellCount::parse(example).is_ok() {
            let (most, unit) = self.size;
            format!("{} {unit}", self.between(1, most))
        } else if Span::parse(example).is_ok() {
            (*self.of(&["10 us", "300 us", "2 ms", "15 ms"])).to_string()
        } else if Rate::parse(example).is_ok() {
            format!("{} b/s", self.magnitude(self.rate.0 / 20 + 1, self.rate.0 * 3 / 2))
        } else if PerSecond::parse(example).is_ok() {
            format!("{} per s", self.magnitude(1, 1000))
        } else if Bytes::parse(example).is_ok() {
            format!("{} bytes", self.magnitude(40, 60_000))
        } else {
            panic!("the tests cannot draw a text like {example:?}")
        }
    }
}

/// The words under `tag` that a schema offers: the names of policies, of sources, ….
pub(crate) fn names(schema: &Json, tag: &str) -> Vec<String> {
    let mut found = Vec::new();
    match schema {
        Json::Object(table) => {
            if let Some(name) = table.get(tag).and_then(|value| value["const"].as_str()) {
                found.push(name.to_string());
            }
            table.values().for_each(|value| found.extend(names(value, tag)));
        }
        Json::Array(list) => list.iter().for_each(|value| found.extend(names(value, tag))),
        _ => {}
    }
    found
}
