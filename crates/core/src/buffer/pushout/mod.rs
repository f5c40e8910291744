//! Push-out: policies that remove queued units for an arriving one when the buffer is full.
//!
//! Every arriving unit is accepted as long as there is room; if there is none, a part of a long queue is removed. A
//! port with push-out has a queue for each circuit and its own frame rule: the rest of a frame that it has broken, or
//! that found no room, is discarded, whatever its admission policy decides. One published scheme is one file. To add
//! a scheme, write its file and add a line to the list below.

mod lengths;
mod register;

use super::admission::Failure;
use super::context::Context;
use super::frame::Frames;
use super::pool::Pool;
use super::queue::Queue;
use super::runs::Part;
use crate::metrics::state::Figure;
use crate::rng::Subject;
use crate::units::Time;
use crate::units::ids::{IdSlice, PortVc};
use crate::{choice, registry};

pub use lengths::Lengths;
pub(crate) use lengths::head_fragment;
pub(crate) use register::longer;
pub use register::{Change, Register};

registry! {
    /// A push-out policy as a scenario specifies it.
    "pushout" by "policy" {
        Pushout1 = "pushout-1" in pushout_1,
        Pushout2 = "pushout-2" in pushout_2,
        Pushout3 = "pushout-3" in pushout_3,
        QuasiPushout = "quasi-pushout" in quasi_pushout,
        LongestQueue = "longest-queue" in longest_queue,
        ProgramPushout = "program" in program,
    }

    /// The interface of a push-out policy. Circuits are numbered within the port, and each has its queue.
    pub trait PushOut for Policy {
        /// Choose the part to remove, if any. Called when an arriving unit does not fit; the choice changes no state
        /// yet.
        fn choose(&mut self, full: &Full<'_>) -> Option<Cut>;

        /// Return the reason why the policy could not compute a decision, if it failed: the run has no result.
        fn failure(&self) -> Option<&Failure> {
            None
        }

        /// Return the policy's variables, for reports over time: always the same figures in the same order.
        fn state(&self) -> Vec<Figure> {
            Vec::new()
        }

        /// Return the lengths of the queues.
        fn lengths(&mut self) -> &mut Lengths;

        /// Record that a unit has joined this circuit's queue; the pool counts the unit.
        fn joined(&mut self, vc: PortVc, pool: &Pool) {
            self.lengths().joined(vc);
        }

        /// Record that a unit of this circuit has left the buffer, sent or lost; the pool no longer counts the unit.
        fn left(&mut self, vc: PortVc, pool: &Pool, sent: bool) {
            self.lengths().left(vc, pool);
        }

        /// Return the policy's frame rule, if it has one.
        fn frames(&mut self) -> Option<&mut Frames>;

        /// Return the kind of parts that the policy may remove from a queue.
        fn scope(&mut self) -> Scope {
            Scope::Runs
        }

        /// Return whether the policy's choice depends only on its register and on the queues at the instant when
        /// there is no room. An engine may then report changes of a queue that stays non-empty together; otherwise it
        /// must report each unit.
        fn goes_by_queues(&self) -> bool {
            false
        }

        /// Return the register that names a queue, if the policy has one. An engine that does not report each unit
        /// reports the latest changes to the register before it calls [`choose`](PushOut::choose).
        fn register(&mut self) -> Option<&mut Register> {
            None
        }
    }
}

choice! {
    /// Units to remove when the chosen queue has no part of the kind that the scheme pushes out. The papers do not say.
    /// If nothing is found, the arriving unit is lost and with it the rest of its frame.
    pub enum Fallback {
        /// Such a part of the next queue that has one; if there is none, as `head-fragment`.
        NextQueue = "next-queue",
        /// The head of that queue up to and including its first EOM, if it has one.
        HeadFragment = "head-fragment",
        /// Nothing.
        Refuse = "refuse",
    }
}

impl Fallback {
    /// Choose what is removed: the part of the chosen queue, if it has one; else what `next` finds in another queue, or the
    /// `head` of the chosen queue.
    pub(crate) fn choose<C>(
        self,
        part: Option<C>,
        next: impl FnOnce() -> Option<C>,
        head: impl FnOnce() -> Option<C>,
    ) -> Option<C> {
        part.or_else(|| match self {
            Fallback::NextQueue => next().or_else(head),
            Fallback::HeadFragment => head(),
            Fallback::Refuse => None,
        })
    }
}

/// The kinds of parts that a push-out may remove.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Entire packets, as long as any queue has one.
    Packets,
    /// Entire packets, of the longest queue that has one.
    LongestPackets,
    /// All units up to an EOM, or after an EOM.
    Runs,
    /// All units up to an EOM or after an EOM, possibly without this EOM.
    AllButEom,
}

/// A full buffer, in which an arriving unit needs room. The pool counts the unit in transmission, but no queue
/// contains it.
#[derive(Clone, Copy, Debug)]
pub struct Full<'a> {
    /// The present instant.
    pub now: Time,
    /// Occupancy of the buffer, in total and of each circuit.
    pub pool: &'a Pool,
    /// The queues, each with its frames.
    pub queues: IdSlice<'a, PortVc, Queue>,
    /// The circuit of the arriving unit, and its size.
    pub arriving: (PortVc, u64),
    /// The arriving unit, for which random numbers are drawn.
    pub subject: Subject,
}

/// Units to be pushed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The circuit whose queue is cut.
    pub vc: PortVc,
    /// The part of this queue that is removed.
    pub part: Part,
}
