//! The functions of a program: when they run, which attributes they can read, and how they end.

use super::code::{Answer, Attribute, OfQueue, Scope};
use crate::choice;
use crate::verdict::Action;

/// The state variable of a congestion control that is its slow-start threshold.
pub(crate) const THRESHOLD: &str = "threshold";

choice! {
    /// Occasions on which a program runs.
    pub enum Asks {
        /// Once a frame, at its first unit.
        Frame = "frame",
        /// Once a unit.
        Unit = "unit",
    }
}

choice! {
    /// What a program reads of the port's occupancies and queues.
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
    /// Return whether this value covers less than another one.
    pub(crate) fn is_less_than(self, other: LooksAt) -> bool {
        self.rank() < other.rank()
    }

    /// Return the one of the two that covers more.
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
    /// A unit arrives at a port.
    Arrival(Asks),
    /// A unit requests shared room of a memory.
    Share(Asks),
    /// A unit has come to the head of its queue.
    Head(Asks),
    /// The clock of the program ticks.
    Tick,
    /// The line is free: a scheduler chooses a queue.
    Serve,
    /// A unit has joined a queue of the scheduler.
    Joined,
    /// A unit is sent that the scheduler has chosen.
    Sent,
    /// A unit finds no room: push-out chooses a queue.
    GiveWay,
    /// A sender receives an acknowledgement.
    Ack,
    /// A sender has found a loss, its timer has expired, or a mark is echoed.
    Loss,
}

impl Hook {
    /// Return the key of the scenario that has the function's instructions.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Hook::Arrival(_) | Hook::Share(_) | Hook::Serve | Hook::GiveWay => "code",
            Hook::Head(_) => "at_head",
            Hook::Tick => "tick",
            Hook::Joined => "joined",
            Hook::Sent => "sent",
            Hook::Ack => "on_ack",
            Hook::Loss => "on_loss",
        }
    }

    /// Refuse an attribute that the function cannot read.
    pub(crate) fn check_look(self, attribute: Attribute) -> Result<(), &'static str> {
        match (self, attribute) {
            (Hook::Ack | Hook::Loss, at) => self.check_look_at_connection(at),
            (_, at) if at.is_of_connection() => {
                Err("only a congestion control looks at acknowledgements and losses")
            }
            (Hook::Arrival(Asks::Frame) | Hook::Share(Asks::Frame) | Hook::Head(Asks::Frame), at)
                if at.is_within_frame() =>
            {
                Err("a program asked once a frame cannot look at units within it; use asks = \"unit\"")
            }
            (Hook::Arrival(_), Attribute::Waited | Attribute::WaitedPs) => {
                Err("a unit that arrives has not waited; only at_head can look at this")
            }
            (Hook::Share(_), at) if !at.is_of_memory() => Err(
                "a memory has queues of its ports, and neither circuits nor units that wait; look at own, queue or \
                     length",
            ),
            (Hook::Arrival(_) | Hook::Head(_), Attribute::Every) => {
                Err("only the function of a clock can look at this")
            }
            (Hook::Head(_), Attribute::Fits) => Err("a unit at the head is in the buffer already"),
            (Hook::Serve | Hook::Joined | Hook::Sent | Hook::GiveWay, at) => self.check_look_at_queues(at),
            (Hook::Tick, at) if !at.is_of_port() => {
                Err("a clock has neither a unit nor a circuit, only the port and a queue")
            }
            _ => Ok(()),
        }
    }

    fn check_look_at_connection(self, attribute: Attribute) -> Result<(), &'static str> {
        use Attribute::{Acked, ByMark, ByTimeout, Delivered, Lost, Marked, Now, NowPs, Opens, Rtt, RttPs};
        match (self, attribute) {
            (_, Now | NowPs) => Ok(()),
            (Hook::Ack, ByTimeout | ByMark) => {
                Err("only on_loss has a cause; on_ack looks at lost and marked")
            }
            (Hook::Loss, Acked | Delivered | Lost | Marked | Opens | Rtt | RttPs) => {
                Err("this belongs to an acknowledgement: store it in on_ack")
            }
            (_, at) if at.is_of_connection() => Ok(()),
            _ => Err("a congestion control looks at its connection, and neither at ports nor at units"),
        }
    }

    /// Refuse random numbers where the function has none.
    pub(crate) fn check_draw(self) -> Result<(), &'static str> {
        match self {
            Hook::Ack | Hook::Loss => Err("a congestion control has no random numbers"),
            _ => Ok(()),
        }
    }

    /// Refuse the assignment of a state variable by its name.
    pub(crate) fn check_assign(self, name: &str) -> Result<(), &'static str> {
        match self {
            Hook::Loss if name == THRESHOLD => {
                Err("on_loss assigns window, and the threshold becomes what the window falls to")
            }
            _ => Ok(()),
        }
    }

    fn check_look_at_queues(self, attribute: Attribute) -> Result<(), &'static str> {
        use Attribute::{Active, Bytes, Capacity, Circuits, Now, NowPs, Own, Queue, Rate, Size, Total, Vc};
        match (self, attribute) {
            (_, Now | NowPs | Circuits | Rate)
            | (Hook::Joined, Queue)
            | (Hook::Sent, Queue | Bytes)
            | (Hook::GiveWay, Vc | Size | Own | Total | Active | Capacity) => Ok(()),
            (Hook::Serve, _) => {
                Err("a scheduler looks at now, now_ps, circuits and rate, and at queues by their numbers")
            }
            (Hook::GiveWay, _) => Err(
                "push-out looks at now, now_ps, circuits, rate, vc, size, own, total, active and capacity",
            ),
            _ => Err("joined and sent look at queue, now, now_ps, circuits and rate, sent at bytes as well"),
        }
    }

    /// Refuse a property of queues that the function cannot read.
    pub(crate) fn check_look_at(self, property: OfQueue) -> Result<(), &'static str> {
        match (self, property) {
            (Hook::Serve, _) | (Hook::Share(_), OfQueue::Length) => Ok(()),
            (Hook::Share(_), _) => Err("the policy of a memory looks at the length of a queue only"),
            (Hook::Joined | Hook::Sent | Hook::GiveWay, OfQueue::Octets) => {
                Err("only a scheduler that chooses a queue sees the units at the heads")
            }
            _ => self.check_queues(),
        }
    }

    /// Refuse to name a queue by its number in a function that runs for a given queue.
    pub(crate) fn check_queues(self) -> Result<(), &'static str> {
        match self {
            Hook::Serve | Hook::Joined | Hook::Sent | Hook::GiveWay => Ok(()),
            Hook::Share(_) => Err("the policy of a memory has the state of the arriving unit's queue only"),
            _ => Err("only schedulers, push-out and the policy of a memory look at queues by their numbers"),
        }
    }

    /// Refuse to search for a queue where the function chooses none.
    pub(crate) fn check_search(self) -> Result<(), &'static str> {
        match self {
            Hook::Serve | Hook::GiveWay | Hook::Share(_) => Ok(()),
            _ => Err("only the policy of a memory, or a function that chooses a queue, can look for one"),
        }
    }

    /// Refuse state that the function cannot read.
    pub(crate) fn check_load(self, scope: Scope) -> Result<(), &'static str> {
        match (self, scope) {
            (Hook::Tick, Scope::Vc) => Err("a clock has no circuit; use state or per_queue"),
            (Hook::Share(_), Scope::Vc) => Err("a memory has no circuits; use state or per_queue"),
            (_, Scope::Queue) if self.check_queues().is_ok() => {
                Err("state of queues needs the number of a queue, as in queue.NAME[r0]")
            }
            _ => Ok(()),
        }
    }

    /// Refuse state that the function cannot change; `has_queues` says whether the program has state of queues.
    pub(crate) fn check_store(self, scope: Scope, has_queues: bool) -> Result<(), &'static str> {
        match (self, scope) {
            (Hook::Tick, Scope::Port) if has_queues => {
                Err("beside per_queue the clock runs once for each queue and can assign queue.NAME only")
            }
            _ => self.check_load(scope),
        }
    }

    /// Refuse an instruction that ends the program in a way that this function cannot: each has its own (a
    /// decision, a queue, or just `end`).
    pub(crate) fn check_answer(self, answer: Answer) -> Result<(), &'static str> {
        match (self, answer) {
            (Hook::Tick | Hook::Joined | Hook::Sent | Hook::Ack | Hook::Loss, Answer::End) => Ok(()),
            (Hook::Serve | Hook::GiveWay, Answer::Queue(_)) => Ok(()),
            (Hook::Share(_), Answer::Decision(Some((Action::Mark, _)))) => {
                Err("a memory accepts or refuses; the admission policy of a port can mark")
            }
            (Hook::Arrival(_) | Hook::Share(_) | Hook::Head(_), Answer::Decision(_)) => Ok(()),
            _ => Err(self.ends()),
        }
    }

    /// Return the sentence that says how the function must end.
    pub(crate) fn ends(self) -> &'static str {
        match self {
            Hook::Arrival(_) | Hook::Head(_) => "must end every path with accept, refuse or mark",
            Hook::Share(_) => "must end every path with accept or refuse",
            Hook::Tick | Hook::Joined | Hook::Sent | Hook::Ack | Hook::Loss => "must end every path with end",
            Hook::Serve | Hook::GiveWay => "must end every path with choose",
        }
    }

    /// Return what a program with this function reads at least.
    pub(crate) fn looks_at(self) -> LooksAt {
        match self {
            Hook::Arrival(_) | Hook::Ack | Hook::Loss => LooksAt::Total,
            _ => LooksAt::Queues,
        }
    }
}
