//! Admission: policies that accept or discard an arriving unit.
//!
//! One published scheme is one file, which contains only what its paper describes: the port counts its units in a
//! [`Pool`] and acts; a policy only decides. To add a scheme, write its file and add a line to the list below.

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
pub use crate::program::Failure;
use crate::registry;
use crate::unit::Unit;
use crate::units::ids::{PortVc, QueueId};
use crate::units::{Span, Time};
use crate::verdict::{HeadVerdict, Reason, Verdict};

pub use super::frame::Within;

registry! {
    /// An admission policy as a scenario specifies it.
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
        Harmonic = "harmonic" in harmonic,
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
        /// Decide whether to accept this unit. The pool does not count the unit yet.
        fn judge(&mut self, arrival: &mut Arrival<'_>) -> Verdict;

        /// Record what the port did with an accepted unit.
        fn settled(&mut self, unit: &Unit, vc: PortVc, end: Settled) {}

        /// Return the position of a queued unit that the port must discard, and the reason. Called after every
        /// arrival until it returns `None`.
        fn sweep(&mut self, queue: &Queue, pool: &Pool) -> Option<(u64, Reason)> {
            None
        }

        /// Record that a unit has left the buffer; the pool no longer counts the unit.
        fn departed(&mut self, departure: &Departure<'_>) {}

        /// Decide whether to send a unit that has come to the head of its queue. The unit has left the queue, but the
        /// pool still counts it.
        fn at_head(&mut self, head: &Head<'_>) -> HeadVerdict {
            HeadVerdict::Send
        }

        /// Record that the tail of a circuit's arriving frame has been removed from the queue, so that the rest is
        /// useless. `fragment` says whether an earlier part of the frame stays queued or has been sent. By default
        /// the policy's frame rule, if it has one, records this.
        fn broken(&mut self, vc: PortVc, fragment: bool) {
            if let Some(frames) = self.frames() {
                frames.broken(vc, fragment);
            }
        }

        /// Run the policy's clock, and return the instant of the next call, if there is one. The port calls this
        /// first at time zero, then at each returned instant. `wait` is the longest wait of a unit at the head of a
        /// queue, at a port that keeps [arrival times](Properties::arrival_times).
        fn tick(&mut self, now: Time, pool: &Pool, wait: Span) -> Option<Time> {
            None
        }

        /// Return the measured rates of a circuit, if the policy measures rates.
        fn meter(&mut self, vc: PortVc) -> Option<Reading> {
            None
        }

        /// Return the present threshold of a circuit's queue, for plots of policies with such thresholds: infinite in
        /// an unlimited buffer.
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

        /// Return the queue whose head packet the port must discard now, although no packet arrives, or the instant
        /// of the next check. `head` returns the size of a queue's head packet, if one waits. The port calls this
        /// after packets have joined or left, again and again until no queue is returned.
        fn expels(&mut self, now: Time, pool: &Pool, head: &dyn Fn(PortVc) -> Option<u64>) -> Option<Expulsion<PortVc>> {
            None
        }

        /// Return the properties of the policy, which are constant during a run.
        fn properties(&self) -> Properties {
            Properties::default()
        }
    }

    /// Shortcuts by which the fast engine decides about units without calling the policy for each. By default there
    /// are none, and the engine calls the policy for each unit, as the reference engine does. A wrong shortcut gives
    /// wrong figures without an error; only the comparison of the engines detects it.
    pub trait Shortcuts for Policy {
        /// Return the rule by which the policy decides. Without a rule the engine calls the policy for every unit,
        /// with the exact state of the port. A policy that marks accepted units has no rule, because a mark makes a
        /// unit differ from the rest of its frame.
        fn rule(&self) -> Option<Rule> {
            None
        }

        /// Return the rule at ports where every unit is a frame; a policy that marks may have a rule there.
        fn rule_for_packets(&self) -> Option<Rule> {
            self.rule()
        }

        /// Return the rule by which the policy loses waiting units, if it accepts every unit that fits and reads neither
        /// the pool nor the queue. Without it, or a [`rule`](Shortcuts::rule), the engine calls the policy for every
        /// unit.
        fn head_rule(&self) -> Option<HeadRule> {
            None
        }

        /// Return an instant before which [`at_head`](Admission::at_head) discards no unit that has not come to the head
        /// by `now`; for a policy with the rule [`HeadRule::JudgesFrames`].
        fn spares_until(&self, now: Time) -> Time {
            now
        }

        /// Return the frame rule, if the frame rule alone decides about all units of a frame but the first. An engine
        /// may then count a frame before all its units have arrived, so a policy that reads the pool at departures
        /// returns `None`.
        fn frames(&mut self) -> Option<&mut Frames> {
            None
        }

        /// Record that an engine has accepted `units` units inside frames by the rule that
        /// [`frames`](Shortcuts::frames) returns.
        fn taken(&mut self, vc: PortVc, units: u64, octets: u64) {}

        /// Return the decision about the rest of a circuit's frame, if it fits; for a policy that has already decided
        /// but must still [see](Shortcuts::see) every unit, and that reads of the pool only the [total](Interest::Total).
        fn foresees(&self, vc: PortVc) -> Within {
            Within::Asked
        }

        /// Observe consecutive units inside a frame, of which `first` is the first. The policy has already decided about
        /// them by [`foresees`](Shortcuts::foresees).
        fn see(&mut self, first: &Unit, vc: PortVc, arrivals: &[InnerArrival]) {}
    }
}

impl Spec {
    /// Return whether the policy has `action = "trim"`: packets are cut to their headers instead of being lost.
    pub fn trims(&self) -> bool {
        self.has_action("trim")
    }

    /// Return whether the policy decides about marks when packets arrive, and could not when they leave.
    pub fn marks_arrivals_only(&self) -> bool {
        self.has_action("mark") && !matches!(self, Spec::Step(_) | Spec::Codel(_) | Spec::Pi2(_))
    }

    fn has_action(&self, action: &str) -> bool {
        self.write().get("action").and_then(|word| word.as_str()) == Some(action)
    }
}

/// The rule by which a policy decides, in a form that an engine can apply without calling the policy.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// A unit is accepted if it fits.
    Fits,
    /// A frame is refused if its first unit meets this occupancy or more; below it the policy's [frame
    /// rule](Shortcuts::frames) alone decides.
    Frames {
        /// Occupancy from which on a frame is refused; `None` if only the frame rule decides.
        threshold: Option<u64>,
    },
    /// The engine must call the policy, whose decision depends only on the pool, and which never removes an accepted
    /// unit.
    Asked(Interest),
}

impl Rule {
    /// Return true if the rule implies, without a call of the policy, that the rest of a circuit's frame is accepted
    /// if it fits.
    #[inline]
    pub(crate) fn takes_rest(&self, policy: &mut Policy, vc: PortVc) -> bool {
        match self {
            Rule::Fits => true,
            Rule::Frames { .. } => policy.within(vc) == Within::Taken,
            Rule::Asked(_) => false,
        }
    }

    /// Judge a unit that meets the occupancy `level`; `None` if the rule needs a call of the policy. The error is the
    /// reason for the loss.
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

    /// Return false if the rule implies, without a call of the policy, that no frame is refused that meets at most
    /// the occupancy `level`.
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

/// The arrival of a unit inside a frame.
#[derive(Clone, Copy, Debug)]
pub struct InnerArrival {
    /// The instant.
    pub time: Time,
    /// The occupancy that the unit meets.
    pub level: u64,
}

/// How a policy loses units at the head of the queue that accepts every unit that fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadRule {
    /// [`at_head`](Admission::at_head) judges the first unit of each frame: it is sent, or discarded and with it the
    /// rest of its frame. It reads only the instants, the queue and the octets behind. A unit that does not fit is lost.
    JudgesFrames,
    /// A unit that does not fit takes the place of the one at the head, which is lost for this reason. The policy
    /// discards no other unit.
    GivesUp(Reason),
}

/// Departures that the engine must report to the policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interest {
    /// Departures that leave the buffer empty; of the pool the policy reads only the total.
    Total,
    /// Departures that leave the buffer empty.
    Last,
    /// Departures that end a frame or leave no unit of their circuit in the buffer; of the unit the policy reads only
    /// whether it ends a frame.
    Ends,
    /// All departures; the policy reads neither the unit nor the exact instant.
    Every,
}

impl Interest {
    /// Return whether the engine must report this departure to the policy; `pool` is the occupancy after it.
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
    /// Return the frame rule's decision about the rest of a circuit's frame, if it fits.
    pub(crate) fn within(&mut self, vc: PortVc) -> Within {
        self.frames().map_or(Within::Asked, |frames| frames.within(vc))
    }

    /// Return whether the engine must call the policy for every unit, and not only for the first unit of each frame.
    pub(crate) fn asks_for_all(&mut self) -> bool {
        !matches!(self.rule(), Some(Rule::Fits)) && self.frames().is_none()
    }
}

/// The port's action on a unit that its policy has accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Settled {
    /// The unit has joined its queue.
    Queued {
        /// Position of the unit in the queue.
        position: u64,
    },
    /// The unit is lost after all: push-out could not make room for the unit, or removed the beginning of its frame.
    TurnedAway {
        /// Size of the unit in the port's measure.
        size: u64,
    },
}

/// Properties of a policy: what it needs from its port, and what the port and the engine may assume about it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Properties {
    /// The policy works only where all circuits share one queue.
    pub one_queue: bool,
    /// The policy needs the arrival time of each queued unit and the octets that wait, for
    /// [`at_head`](Admission::at_head).
    pub arrival_times: bool,
    /// The policy decides about units when they come to the head of their queue.
    pub decides_at_head: bool,
    /// The policy chooses queues that lose their head packet: see [`expels`](Admission::expels).
    pub expels: bool,
    /// Waiting units that it may lose when another arrives.
    pub displaces: Displaced,
    /// It may lose some units of a frame and keep others even where there is room. Without this it refuses a frame as a
    /// whole at its first unit or not at all.
    pub splits_frames: bool,
    /// If the policy accepts a unit, it would also accept the unit at any lower occupancy of any circuit; and judging
    /// the first unit of a refused frame again changes no state.
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
    /// The packet at the head of this queue is discarded now.
    Now(K),
    /// A packet is discarded at this instant, unless a packet joins or leaves before.
    At(Time),
}

/// A unit that requests admission.
#[derive(Debug)]
pub struct Arrival<'a> {
    /// The instant of arrival.
    pub now: Time,
    /// The unit.
    pub unit: &'a Unit,
    /// Circuit of the unit, numbered within the port.
    pub vc: PortVc,
    /// Size of the unit in the port's measure.
    pub size: u64,
    /// Occupancy of the buffer, in total and of each circuit, before the unit arrives.
    pub pool: &'a Pool,
    /// The queue that the unit would join, without the unit.
    pub queue: &'a Queue,
    /// The number of that queue.
    pub place: QueueId,
    /// Octets that wait in that queue, at a port that keeps [arrival times](Properties::arrival_times).
    pub waiting: u64,
    /// Whether the port has a push-out policy, which makes room for accepted units.
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
    /// Arrival time of the unit, at a port that keeps [arrival times](Properties::arrival_times).
    pub arrived: Option<Time>,
    /// The unit.
    pub unit: &'a Unit,
    /// The queue from which the unit comes.
    pub queue: QueueId,
    /// Circuit of the unit, numbered within the port.
    pub vc: PortVc,
    /// Size of the unit in the port's measure.
    pub size: u64,
    /// Octets that wait behind the unit in its queue, at a port that keeps [arrival
    /// times](Properties::arrival_times).
    pub behind: u64,
    /// Occupancy of the buffer, in total and of each circuit, including the unit.
    pub pool: &'a Pool,
}

/// A unit that has left, sent or lost.
#[derive(Debug)]
pub struct Departure<'a> {
    /// The instant of departure.
    pub now: Time,
    /// The unit.
    pub unit: &'a Unit,
    /// The queue from which the unit was discarded; `None` if it was sent, or was in no queue.
    pub queue: Option<QueueId>,
    /// Position of the unit in its queue, if it was removed there; `None` at the head, where the policy discards.
    pub position: Option<u64>,
    /// Circuit of the unit, numbered within the port.
    pub vc: PortVc,
    /// Size of the unit in the port's measure.
    pub size: u64,
    /// Occupancy of the buffer, in total and of each circuit, after the unit has left.
    pub pool: &'a Pool,
    /// True if the unit was sent, false if it was discarded or pushed out.
    pub sent: bool,
    /// Whether the policy has accepted the unit. Headers of refused packets are in the pool, but in none of the policy's books.
    pub accepted: bool,
}

impl<'a> Departure<'a> {
    /// Return the departure of a unit that the policy had accepted and the line has sent.
    pub(crate) fn of_sent(now: Time, unit: &'a Unit, vc: PortVc, size: u64, pool: &'a Pool) -> Departure<'a> {
        Departure { now, unit, queue: None, position: None, vc, size, pool, sent: true, accepted: true }
    }
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
        /// Cells offered so far: this number identifies each cell in random draws.
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

        /// Return the next cell to be offered, spelled as in [`offer`](PolicyBench::offer).
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
            let departure = Departure::of_sent(self.now, &unit, vc, 1, pool);
            self.policy.departed(&departure);
        }

        /// Advance the instant to `now`, and call the policy's clock.
        pub(crate) fn tick(&mut self, now: Time) -> Option<Time> {
            self.now = now;
            self.policy.tick(now, &self.pool, Span::ZERO)
        }
    }

    /// Build a cell, spelled as in [`PolicyBench::offer`].
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
