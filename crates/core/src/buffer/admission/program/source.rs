//! The texts of a program: its instructions, and where in a source each of them was written.

use serde_json::{Value as Json, json};

use crate::language::spec::{Field, Shape};
use crate::language::tree::{Fault, Node};
use crate::refused::{Refused, refuse_if};
use crate::section;

section! {
    /// The text from which a program was translated, for messages.
    pub struct Source {
        /// Its file.
        pub file: String,
        /// The line of each instruction.
        pub lines: Vec<u32>,
    }
}

impl Source {
    pub(super) fn check(&self, instructions: usize) -> Result<(), Refused> {
        let wrong = self.lines.len() != instructions;
        refuse_if(wrong, "source", format!("must have a line for each of {instructions} instructions"))
    }

    /// Where an instruction was written.
    pub(super) fn line(&self, instruction: usize) -> String {
        format!("{}:{}", self.file, self.lines[instruction])
    }
}

/// The instructions of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct Code(pub Vec<String>);

impl Default for Code {
    /// Accept every frame that fits.
    fn default() -> Code {
        Code(vec!["accept".to_string()])
    }
}

/// Programs that need neither parameters nor state.
const EXAMPLES: [&[&str]; 3] = [
    &["accept"],
    &[
        "r0 = x.total",
        "r1 = x.capacity",
        "r2 = 2",
        "r0 = r0 * r2",
        "r3 = r0 >= r1",
        "unless r3 jump 7",
        "refuse",
        "accept",
    ],
    &[
        "r0 = draw",
        "r1 = 0.125",
        "r2 = r0 < r1",
        "unless r2 jump 9",
        "r3 = x.own",
        "r4 = 10",
        "r2 = r3 > r4",
        "unless r2 jump 9",
        "mark random",
        "accept",
    ],
];

impl Field for Code {
    fn read(node: &Node, path: &str) -> Result<Code, Fault> {
        Vec::read(node, path).map(Code)
    }

    fn write(&self) -> Json {
        self.0.write()
    }

    fn shape() -> Shape {
        let schema = json!({ "type": "array", "items": { "type": "string" }, "examples": EXAMPLES });
        Shape { unit: "-", schema }
    }
}
