//! The functions of a program: when each is called, what it can look at, and how it ends.

use super::code::{Answer, Attribute, Scope};
use crate::choice;

choice! {
    /// How often a program is asked.
    pub enum Asks {
        /// Once a frame, at its first unit.
        Frame = "frame",
        /// Once a unit.
        Unit = "unit",
    }
}

choice! {
    /// What of the books a program looks at.
    pub enum LooksAt {
        /// The total occupancy.
        Total = "total",
        /// Also that of the unit's own circuit, or how many circuits are active.
        Own = "own",
        /// Also the queues: how long units wait, what waits behind them, state of queues, or units at the head.
        Queues = "queues",
    }
}

impl LooksAt {
    /// Whether it covers less than another one.
    pub(crate) fn is_less_than(self, other: LooksAt) -> bool {
        self.rank() < other.rank()
    }

    /// The one of the two that covers more.
    pub(crate) fn max(self, other: LooksAt) -> LooksAt {
        if self.is_less_than(other) { other } else { self }
    }

    fn rank(self) -> u8 {
        match self {
            LooksAt::Total => 0,
            LooksAt::Own => 1,
            LooksAt::Queues => 2,
        }
    }
}

/// A function of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hook {
    /// A unit arrives.
    Arrival(Asks),
    /// A unit has come to the head of its queue.
    Head(Asks),
    /// The clock of the program strikes.
    Tick,
}

impl Hook {
    /// The key that has its instructions.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Hook::Arrival(_) => "code",
            Hook::Head(_) => "at_head",
            Hook::Tick => "tick",
        }
    }

    /// Refuse an attribute that it cannot look at.
    pub(crate) fn check_look(self, attribute: Attribute) -> Result<(), &'static str> {
        match (self, attribute) {
            (Hook::Arrival(Asks::Frame) | Hook::Head(Asks::Frame), at) if at.is_within_frame() => {
                Err("a program asked once a frame cannot look at units within it; use asks = \"unit\"")
            }
            (Hook::Arrival(_), Attribute::Waited | Attribute::WaitedPs) => {
                Err("a unit that arrives has not waited; only at_head can look at this")
            }
            (Hook::Arrival(_) | Hook::Head(_), Attribute::Every) => {
                Err("only the function of a clock can look at this")
            }
            (Hook::Head(_), Attribute::Fits) => Err("a unit at the head is in the buffer already"),
            (Hook::Tick, at) if !at.is_of_port() => {
                Err("a clock has neither a unit nor a circuit, only the port and a queue")
            }
            _ => Ok(()),
        }
    }

    /// Refuse state that it cannot read.
    pub(crate) fn check_load(self, scope: Scope) -> Result<(), &'static str> {
        match (self, scope) {
            (Hook::Tick, Scope::Vc) => Err("a clock has no circuit; use state or per_queue"),
            _ => Ok(()),
        }
    }

    /// Refuse state that it cannot change; `has_queues` says whether there is state of queues.
    pub(crate) fn check_store(self, scope: Scope, has_queues: bool) -> Result<(), &'static str> {
        match (self, scope) {
            (Hook::Tick, Scope::Port) if has_queues => {
                Err("beside per_queue the clock runs once for each queue and can assign queue.NAME only")
            }
            _ => self.check_load(scope),
        }
    }

    /// Refuse an end that is not its own.
    pub(crate) fn check_answer(self, answer: Answer) -> Result<(), &'static str> {
        match (self, answer) {
            (Hook::Tick, Answer::End) => Ok(()),
            (Hook::Arrival(_) | Hook::Head(_), Answer::Decision(_)) => Ok(()),
            _ => Err(self.ends()),
        }
    }

    /// How it must end.
    pub(crate) fn ends(self) -> &'static str {
        match self {
            Hook::Arrival(_) | Hook::Head(_) => "must end every path with accept, refuse or mark",
            Hook::Tick => "must end every path with end",
        }
    }

    /// What it looks at by being there.
    pub(crate) fn looks_at(self) -> LooksAt {
        match self {
            Hook::Arrival(_) => LooksAt::Total,
            Hook::Head(_) | Hook::Tick => LooksAt::Queues,
        }
    }
}
