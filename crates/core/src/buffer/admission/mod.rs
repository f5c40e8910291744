//! Admission: policies that accept or discard an arriving unit.
//!
//! One published scheme is one file, which contains only what its paper describes: the port keeps the books and acts,
//! a policy answers. To add a scheme, write its file and add a line to the list below.

#[cfg(test)]
mod conformance;

#[cfg(test)]
pub mod example;

use super::context::Context;
use super::frame::Frames;
use super::pool::Pool;
use super::queue::Queue;
use super::size::Measure;
use crate::language::spec::Field;
use crate::metrics::port::Reading;
use crate::metrics::state::Figure;
use crate::registry;
use crate::unit::Unit;
use crate::units::ids::{PortVc, QueueId};
use crate::units::{Span, Time};
use crate::verdict::{HeadVerdict, Reason, Verdict};

pub use super::frame::Within;

registry! {
    /// An admission policy as a scenario asks for it.
    "admission" by "policy" {
        TailDrop = "tail-drop" in tail_drop,
        Ppd = "ppd" in ppd,
        Epd = "epd" in epd,
        SelectiveDrop = "selective-drop" in selective_drop,
        Fba = "fba" in fba,
        Dfba = "dfba" in dfba,
        DropFromFront = "drop-from-front" in drop_from_front,
        Red = "red" in red,
        AtmRed = "atm-red" in atm_red,
        Fred = "fred" in fred [experimental],
        Step = "step" in step,
        Codel = "codel" in codel at "codel/mod.rs",
        Pie = "pie" in pie at "pie/mod.rs",
        Pi2 = "pi2" in pi2 at "pi2/mod.rs",
        Espd = "espd" in espd [experimental],
        VirtualQueueing = "virtual-queueing" in virtual_queueing,
        Wfepd = "wfepd" in wfepd at "wfepd/mod.rs",
        CompleteSharing = "complete-sharing" in complete_sharing,
        StaticThreshold = "static-threshold" in static_threshold,
        DynamicThreshold = "dynamic-threshold" in dynamic_threshold,
        Abm = "abm" in abm,
        FollowLqd = "follow-lqd" in follow_lqd at "follow_lqd/mod.rs",
        Occamy = "occamy" in occamy at "occamy/mod.rs",
        DtEpd = "dt-epd" in dt_epd,
        GatekeeperJanitor = "gatekeeper-janitor" in gatekeeper_janitor at "gatekeeper_janitor/mod.rs",
        Program = "program" in program at "program/mod.rs",
    } testing {
        Probe = "probe" in probe,
    }

    /// The interface of a policy. Circuits are numbered within the port, from 0.
    pub trait Admission: Shortcuts for Policy {
        /// Accept this unit or lose it. The books do not count it yet.
        fn judge(&mut self, arrival: &mut Arrival<'_>) -> Verdict;

        /// Record what the port did with an accepted unit.
        fn settled(&mut self, unit: &Unit, vc: PortVc, end: Settled) {}

        /// Return a queued unit that must be lost, and the reason. Called after every arrival until it returns `None`.
        fn sweep(&mut self, queue: &Queue, pool: &Pool) -> Option<(u64, Reason)> {
            None
        }

        /// Record that a unit has left the buffer; the books no longer count it.
        fn departed(&mut self, departure: &Departure<'_>) {}

        /// Send or lose a unit that has come to the head of its queue. It has left the queue, but not the books.
        fn at_head(&mut self, head: &Head<'_>) -> HeadVerdict {
            HeadVerdict::Send
        }

        /// Record that the tail of a circuit's arriving frame has been removed from the queue, so that the rest is
        /// useless. `fragment` says whether an earlier part of the frame stays queued or has been sent. Where there is
        /// a frame rule, it handles this.
        fn broken(&mut self, vc: PortVc, fragment: bool) {
            if let Some(frames) = self.frames() {
                frames.broken(vc, fragment);
            }
        }

        /// Run the clock of a policy that has one: called first at time zero, then at each returned instant. `wait` is
        /// the longest wait of a unit at the head of a queue, at a port that keeps
        /// [arrival times](Properties::arrival_times).
        fn tick(&mut self, now: Time, pool: &Pool, wait: Span) -> Option<Time> {
            None
        }

        /// Return the measured rates of a circuit, for a policy with a meter.
        fn meter(&mut self, vc: PortVc) -> Option<Reading> {
            None
        }

        /// Return the most that a circuit may hold now, for pictures of a policy that shares a buffer by a threshold of
        /// every circuit: infinite where there is none.
        fn threshold(&self, pool: &Pool, vc: PortVc) -> Option<f64> {
            None
        }

        /// Return the policy's variables, for reports over time: always the same figures in the same order.
        fn state(&self) -> Vec<Figure> {
            Vec::new()
        }

        /// Return the reason why the policy could not compute a decision, if it failed: the run has no result.
        fn failure(&self) -> Option<&Failure> {
            None
        }

        /// Return the queue that loses the packet at its head now although nothing arrives for it, or the instant of
        /// the next check; `head` returns the size of that packet, if one waits. The port calls this after packets have
        /// joined or left, until no queue is returned.
        fn expels(&mut self, now: Time, pool: &Pool, head: &dyn Fn(PortVc) -> Option<u64>) -> Option<Expulsion<PortVc>> {
            None
        }

        /// Return the properties of the policy, which stay as they are during a run.
        fn properties(&self) -> Properties {
            Properties::default()
        }
    }

    /// Shortcuts by which the fast engine decides without a call of the policy for every unit. The defaults offer none:
    /// the engine calls the policy for each unit, as the reference engine does. A wrong answer here gives wrong figures
    /// without an error; only the comparison of the engines finds it.
    pub trait Shortcuts for Policy {
        /// Return the rule by which the policy decides, if it has one; otherwise it judges every unit and sees the
        /// whole port. A policy that marks accepted units has no rule: a mark makes a unit differ from the rest of its
        /// frame.
        fn rule(&self) -> Option<Rule> {
            None
        }

        /// Return the rule where every unit is a frame; there a policy that marks may have a rule as well.
        fn rule_for_packets(&self) -> Option<Rule> {
            self.rule()
        }

        /// Return the frame rule, if it alone decides about all units of a frame but the first. An engine may then
        /// count a frame before all its units have arrived, so a policy that reads the books when units leave returns
        /// `None`.
        fn frames(&mut self) -> Option<&mut Frames> {
            None
        }

        /// Record that `units` units inside frames were accepted on the verdict of [`frames`](Shortcuts::frames).
        fn taken(&mut self, vc: PortVc, units: u64, octets: u64) {}

        /// Return the fate of the rest of a circuit's frame, if it fits. For a policy that has decided it but must
        /// still [see](Shortcuts::see) every unit.
        fn foresees(&self, vc: PortVc) -> Within {
            Within::Asked
        }

        /// Observe a unit inside a frame that finds `level` in the buffer. The policy has
        /// [foreseen](Shortcuts::foresees) its fate.
        fn see(&mut self, now: Time, unit: &Unit, vc: PortVc, level: u64) {}
    }
}

impl Spec {
    /// Return whether packets are cut to their headers instead of being lost: its key `action` says so.
    pub fn trims(&self) -> bool {
        self.write().get("action").and_then(|word| word.as_str()) == Some("trim")
    }
}

/// A policy's decision in simple form, if it has one: an engine may then apply it without a call.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// A unit is accepted if it fits.
    Fits,
    /// A frame is refused if its first unit meets this occupancy or more; otherwise the policy's [frame rule](Shortcuts::frames)
    /// decides alone.
    Frames {
        /// Occupancy from which on a frame is refused; `None` if only the frame rule decides.
        threshold: Option<u64>,
    },
    /// The policy must be called, but it depends only on the books, and never removes an accepted unit.
    Asked(Interest),
}

impl Rule {
    /// Return whether the rest of a circuit's frame is accepted if it fits, if that follows without a call of the
    /// policy.
    #[inline]
    pub(crate) fn takes_rest(&self, policy: &mut Policy, vc: PortVc) -> bool {
        match self {
            Rule::Fits => true,
            Rule::Frames { .. } => policy.within(vc) == Within::Taken,
            Rule::Asked(_) => false,
        }
    }

    /// Judge a unit that meets this occupancy, if the rule decides without a call of its policy; the error says why it
    /// is lost.
    #[inline]
    pub(crate) fn judge(
        &self,
        policy: &mut Policy,
        unit: &Unit,
        vc: PortVc,
        (level, fits): (u64, bool),
    ) -> Result<(), Reason> {
        self.judge_packet(policy, unit, vc, (level, fits)).taken()
    }

    /// Like `judge`, for a policy that may mark the unit.
    #[inline]
    pub(crate) fn judge_packet(
        &self,
        policy: &mut Policy,
        unit: &Unit,
        vc: PortVc,
        (level, fits): (u64, bool),
    ) -> Verdict {
        match self {
            Rule::Fits if fits => Verdict::Accept,
            Rule::Fits => Verdict::Discard(Reason::Overflow),
            Rule::Frames { .. } => {
                let frames = policy.frames().expect("a policy that goes by the frame rule has one");
                let refuse = || self.may_refuse(level).then_some(Reason::Early);
                frames.judge(unit, vc, fits, refuse)
            }
            Rule::Asked(_) => unreachable!("the policy has to be asked"),
        }
    }

    /// Return whether a frame that meets at most this occupancy may be refused, if that follows without a call of the
    /// policy.
    #[inline]
    pub(crate) fn may_refuse(&self, level: u64) -> bool {
        match self {
            Rule::Fits => false,
            Rule::Frames { threshold, .. } => threshold.is_some_and(|threshold| level >= threshold),
            Rule::Asked(_) => true,
        }
    }

    /// Return the departures that the policy observes.
    pub(crate) fn interest(&self) -> Interest {
        if let Rule::Asked(interest) = self { *interest } else { Interest::Last }
    }
}

/// Departures that a policy observes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// Those that leave the buffer empty; of the books the policy reads only the total.
    Total,
    /// Those that leave the buffer empty.
    Last,
    /// Those that end a frame, or leave no unit of their circuit in the buffer; of the unit the policy reads only
    /// whether it ends a frame.
    Ends,
    /// All of them; the policy reads neither the unit nor the exact instant.
    Every,
}

impl Interest {
    /// Return whether the policy observes a departure that leaves these books, of a unit that ends a frame or does not.
    #[inline]
    pub(crate) fn includes(self, ends_frame: bool, vc: PortVc, pool: &Pool) -> bool {
        match self {
            Interest::Total | Interest::Last => pool.total() == 0,
            Interest::Ends => ends_frame || pool.of(vc) == 0,
            Interest::Every => true,
        }
    }
}

impl Policy {
    /// Return the fate of the rest of a circuit's frame, if it fits and the frame rule decides about it.
    pub(crate) fn within(&mut self, vc: PortVc) -> Within {
        self.frames().map_or(Within::Asked, |frames| frames.within(vc))
    }

    /// Return whether it decides about every unit, and not only about the first one of each frame.
    pub(crate) fn asks_for_all(&mut self) -> bool {
        !matches!(self.rule(), Some(Rule::Fits)) && self.frames().is_none()
    }
}

/// The first decision that a policy could not compute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Instant of the decision.
    pub time: Time,
    /// Place in its text, and the reason.
    pub why: String,
}

/// What the port did with a unit that its policy has accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// It has joined its queue.
    Queued {
        /// Its position there.
        position: u64,
    },
    /// It is lost after all: push-out could not make room for it, or removed the rest of its own frame.
    TurnedAway {
        /// Its size in the port's measure.
        size: u64,
    },
}

/// Properties of a policy: its requirements on its port, and what the port and its engine may rely on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Properties {
    /// All circuits share one queue.
    pub one_queue: bool,
    /// The port stores the arrival of each queued unit and the octets that wait, for [`at_head`](Admission::at_head).
    pub arrival_times: bool,
    /// It decides about units when they come to the head of their queue.
    pub decides_at_head: bool,
    /// It chooses packets that it [expels](Admission::expels).
    pub expels: bool,
    /// Waiting units that it may lose when another arrives.
    pub displaces: Displaced,
    /// It may lose some units of a frame and keep others even where there is room. Without this it refuses a frame as a
    /// whole at its first unit or not at all.
    pub splits_frames: bool,
    /// A unit that it accepts it would also accept with less in the buffer, of any circuit, and judging the first unit
    /// of a refused frame again changes nothing.
    pub is_monotone: bool,
    /// The reason why a push-out policy would never act with this one, if there is one.
    pub bars_pushout: Option<&'static str>,
}

/// Waiting units that a policy may lose when another arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Displaced {
    /// None.
    #[default]
    Nothing,
    /// Those at the head of the queue with the most octets: [`Victim::FattestQueue`](crate::verdict::Victim).
    FattestHead,
    /// Others, by [`Verdict::Replace`] or by [`sweep`](Admission::sweep).
    Any,
}

/// The answer of a policy that expels packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expulsion<K> {
    /// This queue loses the packet at its head.
    Now(K),
    /// A queue loses one at that instant, unless a packet joins or leaves before.
    At(Time),
}

/// A unit that requests admission.
#[derive(Debug)]
pub struct Arrival<'a> {
    /// Its arrival.
    pub now: Time,
    /// The unit.
    pub unit: &'a Unit,
    /// Its circuit, numbered within the port.
    pub vc: PortVc,
    /// Its size in the port's measure.
    pub size: u64,
    /// Occupancy of the buffer, in total and of each circuit, before the unit arrives.
    pub pool: &'a Pool,
    /// The queue that it would join, as it is before it.
    pub queue: &'a Queue,
    /// The number of that queue.
    pub place: QueueId,
    /// Octets that wait in that queue, at a port that keeps [arrival times](Properties::arrival_times).
    pub waiting: u64,
    /// Whether a push-out policy makes room when there is none.
    pub elastic: bool,
}

impl Arrival<'_> {
    /// Return whether the unit can be queued now.
    pub fn fits(&self) -> bool {
        self.elastic || self.pool.fits(self.size)
    }
}

/// A unit at the head of its queue, about to be sent.
#[derive(Debug)]
pub struct Head<'a> {
    /// The present instant.
    pub now: Time,
    /// Its arrival, at a port that keeps [arrival times](Properties::arrival_times).
    pub arrived: Option<Time>,
    /// The unit.
    pub unit: &'a Unit,
    /// The queue that it comes from.
    pub queue: QueueId,
    /// Its circuit, numbered within the port.
    pub vc: PortVc,
    /// Its size in the port's measure.
    pub size: u64,
    /// Octets that wait behind it in its queue, at a port that keeps [arrival times](Properties::arrival_times).
    pub behind: u64,
    /// Occupancy of the buffer, in total and of each circuit, the unit still counted.
    pub pool: &'a Pool,
}

/// A unit that has left, sent or lost.
#[derive(Debug)]
pub struct Departure<'a> {
    /// Its departure.
    pub now: Time,
    /// The unit.
    pub unit: &'a Unit,
    /// The queue in which it was, if it was not sent.
    pub queue: Option<QueueId>,
    /// Its circuit, numbered within the port.
    pub vc: PortVc,
    /// Its size in the port's measure.
    pub size: u64,
    /// Occupancy of the buffer, in total and of each circuit, after the unit has left.
    pub pool: &'a Pool,
    /// True if it was sent, false if it was lost or pushed out.
    pub sent: bool,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::refused::Refused;
    use crate::unit::Flags;
    use crate::units::ids::CircuitId;

    /// A policy driven by tests: cells in, verdicts out, one letter each.
    pub(crate) struct PolicyBench<P> {
        pub(crate) policy: P,
        pub(crate) pool: Pool,
        pub(crate) queue: Queue,
        pub(crate) now: Time,
        /// Octets that wait, for policies that use them.
        pub(crate) waiting: u64,
        /// Cells offered so far: each is a packet of its own for random draws.
        offered: u32,
    }

    impl<P: Admission> PolicyBench<P> {
        pub(crate) fn new(
            capacity: u64,
            vcs: usize,
            build: impl Fn(&Context<'_>) -> Result<P, Refused>,
        ) -> PolicyBench<P> {
            let context = Context::alone(capacity, vcs);
            let policy = build(&context).unwrap();
            let (pool, queue) = (Pool::new(context.capacity, vcs), Queue::default());
            PolicyBench { policy, pool, queue, now: Time::ZERO, waiting: 0, offered: 0 }
        }

        /// Offer cells of one circuit, spelled as in [`Flags::spelled`].
        ///
        /// Answers: `A` accepted, `M` accepted and marked, `o` overflow, `p` rest of a broken frame, `r` frame refused early, `m` random,
        /// `c` marked, `g` gatekeeper, `x` anything else.
        pub(crate) fn offer(&mut self, vc: u32, cells: &str) -> String {
            cells.chars().map(|cell| self.offer_one(PortVc(vc), cell)).collect()
        }

        /// The next cell that is offered, as [`offer`](PolicyBench::offer) spells it.
        pub(crate) fn next_cell(&mut self, vc: PortVc, cell: char) -> Unit {
            self.offered += 1;
            Unit { identity: self.offered, ..cell_of(vc, cell) }
        }

        fn offer_one(&mut self, vc: PortVc, cell: char) -> char {
            let unit = self.next_cell(vc, cell);
            let (now, pool, queue, waiting) = (self.now, &self.pool, &self.queue, self.waiting);
            let arrival = &mut Arrival {
                now,
                unit: &unit,
                vc,
                size: 1,
                pool,
                queue,
                place: QueueId(0),
                waiting,
                elastic: false,
            };
            let verdict = self.policy.judge(arrival);
            match verdict {
                Verdict::Accept | Verdict::Mark(_) => {
                    assert!(self.pool.fits(1), "accepted into a full buffer");
                    self.pool.add(vc, 1);
                    if verdict == Verdict::Accept { 'A' } else { 'M' }
                }
                Verdict::Discard(Reason::Overflow) => 'o',
                Verdict::Discard(Reason::Partial) => 'p',
                Verdict::Discard(Reason::Early) => 'r',
                Verdict::Discard(Reason::Random) => 'm',
                Verdict::Discard(Reason::Marked) => 'c',
                Verdict::Discard(Reason::Gatekeeper) => 'g',
                _ => 'x',
            }
        }

        /// Send a cell of this circuit.
        pub(crate) fn depart(&mut self, vc: u32) {
            self.send(vc, '.');
        }

        /// Send a cell of this circuit, spelled as in [`offer`](PolicyBench::offer).
        pub(crate) fn send(&mut self, vc: u32, cell: char) {
            let vc = PortVc(vc);
            self.pool.remove(vc, 1);
            let (unit, pool) = (cell_of(vc, cell), &self.pool);
            let departure =
                Departure { now: self.now, unit: &unit, queue: None, vc, size: 1, pool, sent: true };
            self.policy.departed(&departure);
        }

        /// Advance the instant to `now`, and call the policy's clock.
        pub(crate) fn tick(&mut self, now: Time) -> Option<Time> {
            self.now = now;
            self.policy.tick(now, &self.pool, Span::ZERO)
        }
    }

    /// A cell as [`PolicyBench::offer`] spells it.
    fn cell_of(vc: PortVc, cell: char) -> Unit {
        Unit {
            vc: CircuitId(vc.0),
            frame: 0,
            identity: 0,
            index: 0,
            bytes: 53,
            hop: 0,
            flags: Flags::spelled(cell),
        }
    }
}
