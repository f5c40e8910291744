//! The texts of a program: its instructions, and the line of each in its source.

use serde_json::{Value as Json, json};

use super::code::Failed;
use super::hook::Hook;
use crate::language::spec::{Field, Nested, Shape};
use crate::language::tree::{Fault, Node};
use crate::refused::{Refused, refuse_if};
use crate::section;
use crate::units::Span;

section! {
    /// Lines on which instructions were written.
    pub struct Lines {
        /// The file.
        pub file: String,
        /// The line of each instruction.
        pub lines: Vec<u32>,
    }
}

section! {
    /// The text from which a program was translated, for messages.
    pub struct Source {
        /// Its file.
        pub file: String,
        /// The line of each instruction.
        pub lines: Vec<u32>,
        /// The lines of the function at the head.
        pub at_head: Option<Nested<Lines>> = None,
        /// The lines of the function that the clock calls.
        pub tick: Option<Nested<Lines>> = None,
        /// The lines of a scheduler's function for units that join.
        pub joined: Option<Nested<Lines>> = None,
        /// The lines of a scheduler's function for units that are sent.
        pub sent: Option<Nested<Lines>> = None,
        /// The lines of a congestion control's function for losses.
        pub on_loss: Option<Nested<Lines>> = None,
    }
}

impl Source {
    /// The file and the lines of a function.
    fn of(&self, hook: Hook) -> (&str, &[u32]) {
        let other = match hook {
            Hook::Arrival(_) | Hook::Share(_) | Hook::Serve | Hook::GiveWay | Hook::Ack => {
                return (&self.file, &self.lines);
            }
            Hook::Head(_) => &self.at_head,
            Hook::Tick => &self.tick,
            Hook::Joined => &self.joined,
            Hook::Sent => &self.sent,
            Hook::Loss => &self.on_loss,
        };
        other.as_ref().map_or(("", &[]), |Nested(other)| (&other.file, &other.lines))
    }
}

section! {
    /// A clock, and its function.
    pub struct Clock {
        /// Time between two calls, at least 1 us; the first call is that long after the start.
        pub every: Span = Span::millis(10),
        /// Instructions, once for each queue if there is state of queues.
        pub code: QuietCode = QuietCode::default(),
    }
}

/// The texts of a program, for messages.
#[derive(Clone, Debug)]
pub(crate) struct Texts {
    name: String,
    codes: Vec<(Hook, Vec<String>)>,
    source: Option<Source>,
}

impl Texts {
    /// Collect the texts of functions; the error says that the lines of the source do not fit the instructions.
    pub(crate) fn new(
        name: &str,
        codes: Vec<(Hook, Vec<String>)>,
        source: Option<Source>,
    ) -> Result<Texts, Refused> {
        for (source, (hook, code)) in
            source.iter().flat_map(|source| codes.iter().map(move |it| (source, it)))
        {
            let wrong = source.of(*hook).1.len() != code.len();
            let why =
                || format!("must have a line for each of {} instructions of {}", code.len(), hook.key());
            refuse_if(wrong, "source", why())?;
        }
        Ok(Texts { name: name.to_string(), codes, source })
    }

    /// Return the instructions of each function.
    pub(crate) fn codes(&self) -> impl Iterator<Item = (Hook, &[String])> {
        self.codes.iter().map(|(hook, code)| (*hook, code.as_slice()))
    }

    /// Return file and line of an instruction, if the source is known.
    pub(crate) fn line(&self, hook: Hook, number: usize) -> Option<String> {
        let (file, lines) = self.source.as_ref()?.of(hook);
        Some(format!("{file}:{}", lines[number]))
    }

    /// Return the message about the choice of a queue that cannot be chosen; `what` is the condition that it
    /// violates.
    pub(crate) fn no_choice(&self, number: i64, what: &str) -> String {
        let place = self.source.as_ref().map_or("", |source| &source.file);
        let colon = if place.is_empty() { "" } else { ": " };
        format!("{place}{colon}the choice of \"{}\" must be the number of a {what}, not {number}", self.name)
    }

    /// Return the message about an instruction that could not be computed.
    pub(crate) fn message(&self, hook: Hook, failed: &Failed) -> String {
        let number = failed.instruction;
        let of = || format!("instruction {number} of \"{}\"", self.name);
        let place = self.line(hook, number).unwrap_or_else(|| match hook {
            Hook::Arrival(_) | Hook::Share(_) | Hook::Serve | Hook::GiveWay => of(),
            _ => format!("{}, {}", of(), hook.key()),
        });
        let code = self.codes().find(|(of, _)| *of == hook).expect("only functions that there are run").1;
        format!("{place}: {} (`{}`)", failed.why, code[number])
    }
}

/// Declare a type for the instructions of one kind of function, with examples; the first example is the default.
macro_rules! code {
    ($(#[doc = $doc:literal])+ $name:ident: $examples:expr) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq)]
        pub struct $name(pub Vec<String>);

        impl $name {
            /// Examples that need neither parameters nor state.
            const EXAMPLES: &'static [&'static [&'static str]] = $examples;
        }

        impl Default for $name {
            fn default() -> $name {
                $name(Self::EXAMPLES[0].iter().map(|text| text.to_string()).collect())
            }
        }

        impl Field for $name {
            fn read(node: &Node, path: &str) -> Result<$name, Fault> {
                Vec::read(node, path).map($name)
            }

            fn write(&self) -> Json {
                self.0.write()
            }

            fn shape() -> Shape {
                let schema =
                    json!({ "type": "array", "items": { "type": "string" }, "examples": Self::EXAMPLES });
                Shape { unit: "-", schema }
            }
        }
    };
}

code! {
    /// Instructions about a unit; by default it is accepted if it fits.
    Code: &[
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
    ]
}

code! {
    /// Instructions that only change state; by default they do nothing.
    QuietCode: &[&["end"], &["r0 = draw", "end"]]
}

code! {
    /// Instructions that choose the queue to serve; by default the one with the lowest number.
    ServeCode: &[
        &["r0 = -1", "r0 = next_backlogged r0", "choose r0"],
        &["r0 = longest", "choose r0"],
        &["r0 = draw", "r1 = x.circuits", "r2 = float r1", "r0 = r0 * r2", "r1 = int r0", "r1 = next_backlogged r1", "choose r1"],
    ]
}

code! {
    /// Instructions that choose the queue to shorten; by default the longest, if it is longer than that of the arriving unit.
    VictimCode: &[
        &[
            "r0 = longest",
            "r1 = x.length[r0]",
            "r2 = x.own",
            "r3 = x.size",
            "r2 = r2 + r3",
            "r4 = r1 > r2",
            "unless r4 jump 8",
            "choose r0",
            "r0 = -1",
            "choose r0",
        ],
        &["r0 = x.vc", "r0 = next_backlogged r0", "choose r0"],
    ]
}
