//! Push-out: when the buffer is full, which queued units give way to an arriving one.
//!
//! Every arriving unit is welcome as long as there is room, and when there is none, a part of a long queue goes. A port
//! with push-out has a queue for each circuit and its own frame rule: what it breaks, and the rest of a frame that could
//! not be saved, is not let in, whatever its admission policy says. One published scheme is one file. To add a scheme,
//! write its file and add a line to the list below.

mod lengths;
mod register;

use super::context::Context;
use super::frame::Frames;
use super::pool::Pool;
use super::queue::Queue;
use super::runs::Part;
use crate::{choice, registry};

pub use lengths::Lengths;
pub use register::{Change, Register};

registry! {
    /// A push-out policy as a scenario asks for it.
    "pushout" by "policy" {
        Pushout1 = "pushout-1" in pushout_1,
        Pushout2 = "pushout-2" in pushout_2,
        Pushout3 = "pushout-3" in pushout_3,
        QuasiPushout = "quasi-pushout" in quasi_pushout,
    }

    /// What a push-out policy is told and asked. Circuits are numbered within the port, and each has its queue.
    pub trait PushOut for Policy {
        /// What should go, if anything can? Asked when an arriving unit does not fit; the answer changes nothing yet.
        fn choose(&mut self, full: &Full<'_>) -> Option<Cut>;

        /// How long the queues are.
        fn lengths(&mut self) -> &mut Lengths;

        /// A unit has joined this circuit's queue; the books count it.
        fn joined(&mut self, vc: usize, pool: &Pool) {
            self.lengths().joined(vc);
        }

        /// A unit of this circuit has left the buffer, sent or else lost; the books no longer count it.
        fn left(&mut self, vc: usize, pool: &Pool, sent: bool) {
            self.lengths().left(vc, pool);
        }

        /// The frame rule of the port, if it has one.
        fn frames(&mut self) -> Option<&mut Frames>;

        /// What a cut can be like.
        fn scope(&mut self) -> Scope {
            Scope::Runs
        }

        /// Whether it looks at nothing but what waits when there is no room, and at its register, so that a queue which has
        /// something may grow and shrink by many units at once; otherwise it is told of each.
        fn goes_by_queues(&self) -> bool {
            false
        }

        /// The register that names a queue, if the policy has one: an engine that does not report each unit reports the
        /// latest ones to it before it asks for a choice.
        fn register(&mut self) -> Option<&mut Register> {
            None
        }
    }
}

choice! {
    /// What goes when the queue that should give way has nothing of the kind that the scheme pushes out. The papers do
    /// not say. When nothing is found, the arriving unit is lost and with it the rest of its frame.
    pub enum Fallback {
        /// The same of the next queue that has it; if there is none, as `head-fragment`.
        NextQueue = "next-queue",
        /// The head of that queue up to and including its first EOM, if it has one.
        HeadFragment = "head-fragment",
        /// Nothing.
        Refuse = "refuse",
    }
}

/// What a push-out takes out at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Entire packets, as long as any queue has one.
    Packets,
    /// The same, and of the queues that have one the longest gives way.
    LongestPackets,
    /// Everything up to an EOM or from one on.
    Runs,
    /// The same, but perhaps not the EOM.
    AllButEom,
}

/// The buffer in which something has to go. The unit in transmission is in the books, but in no queue any more.
#[derive(Clone, Copy, Debug)]
pub struct Full<'a> {
    /// The books.
    pub pool: &'a Pool,
    /// The queues, each of which knows its frames.
    pub queues: &'a [Queue],
}

/// What is to be pushed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The circuit that has to give way.
    pub vc: usize,
    /// The part of its queue that goes.
    pub part: Part,
}
