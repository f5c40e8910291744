//! The port: one buffer, one admission policy, an optional push-out policy, one scheduler and one line.
//!
//! The scheduler passes over queues whose first unit a gate holds ([`crate::link::gate`]). Control frames for the node at the far
//! end are sent before everything else; they are not units, so they are neither in the books nor in the counters of units.
//!
//! The port keeps the books and acts; policies answer. A unit is counted from its acceptance until its last bit has
//! left. Time comes in as an argument, and the consequences of an action (the next instant at which the port must be
//! called, the arrival at the far end) are returned: an engine decides how to get there. The code that every unit
//! passes is inlined there, because passing a unit to a call through memory costs more than the work itself.

#[cfg(test)]
pub(crate) mod bench;

pub(crate) mod ahead;
mod arrivals;
mod arrive;
mod books;
mod clearing;
mod depart;
pub(crate) mod fattest;
mod in_order;
mod numbers;
mod offer;
mod places;
mod room;

use std::collections::VecDeque;

use crate::buffer::admission::{self, Admission, Displaced, Properties, Rule, Shortcuts};
use crate::buffer::pool::Pool;
use crate::buffer::pushout;
use crate::buffer::queue::Queue;
use crate::buffer::size::Measure;
use crate::link::control::Control;
use crate::link::gate::{self, Gate};
use crate::link::line::{Line, Sent};
use crate::memory::Share;
use crate::metrics::durations::Durations;
use crate::metrics::port::Counters;
use crate::scheduler;
use crate::unit::{Boundary, Unit};
use crate::units::ids::{CircuitId, IdVec, PortVc, QueueId};
use crate::verdict::Reason;

use arrivals::ArrivalTimes;
pub(crate) use in_order::{Backlog, Leader};
pub use numbers::Numbers;
pub(crate) use offer::Offer;

use places::Places;

/// The queue of a port where all circuits share one.
const ONLY_QUEUE: QueueId = QueueId(0);

/// A running port. Engines may take over some of its parts for a while.
#[derive(Clone, Debug)]
pub struct Port {
    numbers: Numbers,
    measure: Measure,
    pub(crate) pool: Pool,
    /// Its share of a memory, if it has no buffer of its own.
    share: Option<Box<Share>>,
    pub(crate) queues: IdVec<QueueId, Queue>,
    places: Places,
    /// Arrival times of each queue, if the admission policy needs them.
    arrivals: IdVec<QueueId, ArrivalTimes>,
    pub(crate) admission: admission::Policy,
    pub(crate) pushout: Option<pushout::Policy>,
    pub(crate) scheduler: scheduler::Policy,
    /// What loses, holds or delays its units.
    gates: Box<[gate::Policy]>,
    /// Whether gates count what waits.
    reports_waiting: bool,
    /// Headers of packets that were cut, with their circuits, if packets are cut instead of being lost: they go first.
    headers: Option<Box<Headers>>,
    handling: Handling,
    /// Whether the admission policy accepts every unit that fits.
    takes_all: bool,
    pub(crate) line: Line,
    pub(crate) sending: Option<Sending>,
    /// For every circuit the boundaries of the frames that are sent.
    boundaries: IdVec<PortVc, Boundary>,
    /// What few ports need.
    rare: Option<Box<Rare>>,
    /// Whether a control frame is in transmission.
    sending_control: bool,
    pub(crate) counters: Counters,
}

/// The headers that wait at a port, with their circuits.
#[derive(Clone, Debug, Default)]
struct Headers {
    waiting: VecDeque<(Unit, PortVc)>,
    /// Whether the unit in transmission is one of them.
    sending: bool,
    /// Whether every refused packet is cut, and not only what a memory refuses of some classes.
    of_all: bool,
}

/// The state of ports with push-out, and of those that have sent control frames.
#[derive(Clone, Debug, Default)]
struct Rare {
    /// With push-out, for every circuit whether the admission policy has refused the arriving frame.
    refused: IdVec<PortVc, bool>,
    /// Control frames that wait for the line.
    controls: VecDeque<Control>,
}

/// Parts of a port that must be called for a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Handling {
    /// No part is called: every unit that fits is accepted and sent in order. Most ports of a network are like
    /// this.
    Plain,
    /// The admission policy judges arrivals; accepted units are sent in order.
    Judged,
    /// Every unit that fits is accepted; scheduler and credits choose the next unit.
    InTurn,
    /// The admission policy judges arrivals, and units at the head; a scheduler chooses the next unit. Nothing else acts.
    Weighed,
    /// Every part is called: also push-out, or an admission policy that removes units it has admitted.
    Asked,
}

/// The unit in transmission: no longer queued, still in the buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sending {
    pub(crate) unit: Unit,
    pub(crate) vc: PortVc,
    pub(crate) size: u64,
}

/// A unit that the port has started to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Started {
    /// The unit.
    pub unit: Unit,
    /// End of its transmission, when the engine must call [`Port::finish`], and its arrival at the far end.
    pub sent: Sent,
}

/// A unit that the port has lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The unit.
    pub unit: Unit,
    /// The reason.
    pub reason: Reason,
}

/// The parts of a port.
#[derive(Debug)]
pub struct Parts {
    /// The circuits that pass it.
    pub numbers: Numbers,
    /// Measure in which it counts.
    pub measure: Measure,
    /// Its books, empty.
    pub pool: Pool,
    /// Its share of a memory, if it shares one.
    pub share: Option<Share>,
    /// Its admission policy.
    pub admission: admission::Policy,
    /// Policy that chooses the queued units to remove when the buffer is full, if the port has one; it needs a queue
    /// for each circuit.
    pub pushout: Option<pushout::Policy>,
    /// Its scheduler.
    pub scheduler: scheduler::Policy,
    /// Whether all circuits share one queue.
    pub shared_queue: bool,
    /// What loses, holds or delays its units.
    pub gates: Box<[gate::Policy]>,
    /// Whether every refused packet is cut to its headers instead of being lost.
    pub trims: bool,
    /// Whether the waits of its units are measured; then every unit passes its queues, whatever the policies are.
    pub times_waits: bool,
    /// The line that it feeds.
    pub line: Line,
}

impl Parts {
    /// The parts of a port of its own buffer, for circuits that are numbered as in the network: without push-out, gates or
    /// trimming, and with a queue for each circuit.
    pub fn plain(
        measure: Measure,
        pool: Pool,
        admission: admission::Policy,
        scheduler: scheduler::Policy,
        line: Line,
    ) -> Parts {
        let (share, pushout, gates) = (None, None, Box::default());
        let (shared_queue, trims, times_waits) = (false, false, false);
        Parts {
            numbers: Numbers::From(CircuitId(0)),
            measure,
            pool,
            share,
            admission,
            pushout,
            scheduler,
            shared_queue,
            gates,
            trims,
            times_waits,
            line,
        }
    }
}

impl Port {
    /// An empty port.
    pub fn new(parts: Parts) -> Port {
        let vcs = parts.pool.vcs();
        let places = Places::new(&parts.scheduler);
        let queues = match places.last() {
            Some(last) => last.index() + 1,
            None if parts.shared_queue => 1,
            None if places.go_by_notification() => 2,
            None => vcs,
        };
        let is_shared = parts.shared_queue || !places.are_circuits();
        assert!(parts.pushout.is_none() || !is_shared, "push-out needs a queue for each circuit");
        let keeps_frames = parts.pushout.is_some() || parts.share.as_ref().is_some_and(Share::keeps_frames);
        let queue = if keeps_frames { Queue::of_frames() } else { Queue::default() };
        let is_fifo = matches!(parts.scheduler, scheduler::Policy::Fifo(_));
        let may_wait = parts.gates.iter().any(Gate::holds);
        let rule = parts.admission.rule().filter(|_| !parts.times_waits);
        let trims = parts.trims || parts.share.as_ref().is_some_and(Share::trims);
        let Properties { arrival_times, expels, displaces, .. } = parts.admission.properties();
        let arrival_times = arrival_times || parts.times_waits;
        let mut counters = Counters::new(vcs);
        if parts.times_waits {
            counters.rare_mut().waits = Some(Durations::new(true));
        }
        assert!(
            !arrival_times || rule.is_none(),
            "only a policy that is asked about every unit sees arrival times"
        );
        let refused = || Rare { refused: IdVec::filled(false, vcs), ..Rare::default() };
        let rare = parts.pushout.is_some().then(|| Box::new(refused()));
        Port {
            numbers: parts.numbers,
            takes_all: matches!(rule, Some(Rule::Fits)),
            handling: match rule {
                _ if parts.pushout.is_some() || parts.share.is_some() || parts.trims => Handling::Asked,
                Some(Rule::Fits) if !is_fifo || may_wait => Handling::InTurn,
                Some(Rule::Fits) => Handling::Plain,
                Some(Rule::Frames { .. }) if is_fifo && !may_wait => Handling::Judged,
                _ if expels || displaces == Displaced::Any => Handling::Asked,
                _ => Handling::Weighed,
            },
            boundaries: IdVec::filled(Boundary::default(), vcs),
            measure: parts.measure,
            pool: parts.pool,
            headers: trims.then(|| Box::new(Headers { of_all: parts.trims, ..Headers::default() })),
            share: parts.share.map(Box::new),
            queues: IdVec::filled(queue, queues),
            places,
            arrivals: IdVec::filled(ArrivalTimes::default(), if arrival_times { queues } else { 0 }),
            admission: parts.admission,
            pushout: parts.pushout,
            scheduler: parts.scheduler,
            reports_waiting: parts.gates.iter().any(Gate::counts_waiting),
            gates: parts.gates,
            line: parts.line,
            sending: None,
            rare,
            sending_control: false,
            counters,
        }
    }

    /// The occupancy of the buffer, in total and of each circuit.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Return the number of a circuit that passes it.
    #[inline]
    pub(crate) fn number_of(&self, circuit: CircuitId) -> PortVc {
        self.numbers.of(circuit)
    }

    /// Return whether packets of one circuit may overtake each other here.
    pub(crate) fn lets_overtake(&self) -> bool {
        self.places.split_circuits() || self.trims()
    }

    /// Return whether the waits of its units are measured.
    pub(crate) fn times_waits(&self) -> bool {
        self.counters.rare().waits.is_some()
    }

    /// Return whether packets are cut to their headers instead of being lost.
    pub(crate) fn trims(&self) -> bool {
        self.headers.is_some()
    }

    /// Its share of a memory, if it shares one.
    pub fn share(&self) -> Option<&Share> {
        self.share.as_deref()
    }

    /// Return the share that the network fills with the memory while the port runs.
    pub(crate) fn share_mut(&mut self) -> Option<&mut Share> {
        self.share.as_deref_mut()
    }

    /// What loses, holds or delays its units.
    pub fn gates(&self) -> &[gate::Policy] {
        &self.gates
    }

    /// The line.
    pub fn line(&self) -> &Line {
        &self.line
    }

    /// Return whether the line is sending.
    #[inline]
    pub fn is_busy(&self) -> bool {
        self.sending.is_some() || self.sending_control
    }

    /// Number of units in the buffer, the one in transmission included.
    pub fn units_queued(&self) -> u64 {
        let headers = self.headers.as_ref().map_or(0, |headers| headers.waiting.len() as u64);
        let queued = self.queues.iter().map(|queue| queue.len() as u64).sum::<u64>();
        queued + headers + u64::from(self.sending.is_some())
    }

    /// Count the units in the queues and on the line one by one, in the port's measure.
    pub fn size_queued(&self) -> u64 {
        let sending = self.sending.map_or(0, |sending| sending.size);
        sending + self.waiting().map(|unit| self.size_of(&unit)).sum::<u64>()
    }

    /// Units that wait in the queues; the one in transmission is already on the line.
    pub fn waiting(&self) -> impl Iterator<Item = Unit> {
        let headers = self.headers.iter().flat_map(|headers| headers.waiting.iter().map(|(unit, _)| *unit));
        headers.chain(self.queues.iter().flat_map(Queue::iter))
    }

    /// Units in the buffer, the one in transmission included.
    pub(crate) fn units(&self) -> impl Iterator<Item = Unit> {
        self.sending.iter().map(|sending| sending.unit).chain(self.waiting())
    }

    /// The admission policy, for an engine that keeps the books itself.
    pub(crate) fn admission_mut(&mut self) -> &mut admission::Policy {
        &mut self.admission
    }

    /// Return whether what waits keeps back every unit behind it, while the line is free: it waits in the only queue, or for credits.
    pub(crate) fn is_blocked(&self) -> bool {
        let waits_for_credits = || self.gates.iter().any(|gate| matches!(gate, gate::Policy::Credit(_)));
        self.units_queued() > 0 && (self.queues.len() == 1 || waits_for_credits())
    }

    /// Return whether several circuits may be in one queue.
    fn shares_queues(&self) -> bool {
        self.queues.len() == 1 || !self.places.are_circuits()
    }

    /// The queue that a unit joins.
    #[inline]
    pub(crate) fn queue_of(&self, unit: &Unit, vc: PortVc) -> QueueId {
        match self.queues.len() {
            1 => ONLY_QUEUE,
            _ => self.places.of(unit, vc),
        }
    }

    pub(crate) fn size_of(&self, unit: &Unit) -> u64 {
        self.measure.size_of(unit)
    }
}
