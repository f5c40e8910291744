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
mod clearing;
pub(crate) mod fattest;
mod in_order;
mod offer;
mod places;
mod room;

use std::collections::VecDeque;

use crate::buffer::admission::{
    self, Admission, Arrival, Departure, Displaced, Failure, Head, Properties, Rule, Settled, Shortcuts,
};
use crate::buffer::pool::Pool;
use crate::buffer::pushout::{self, PushOut};
use crate::buffer::queue::Queue;
use crate::buffer::size::Measure;
use crate::link::control::Control;
use crate::link::gate::{self, Gate};
use crate::link::line::{Line, Sent};
use crate::memory::{Leaving, Share};
use crate::metrics::durations::Durations;
use crate::metrics::port::Counters;
use crate::metrics::state::Figure;
use crate::scheduler::{self, Scheduler};
use crate::unit::{Boundary, Unit};
use crate::units::ids::{IdVec, PortVc, QueueId};
use crate::units::{Span, Time};
use crate::verdict::{HeadVerdict, Reason, Verdict};

use arrivals::ArrivalTimes;
pub(crate) use in_order::{Backlog, Leader};
pub(crate) use offer::Offer;
use offer::{Exit, Taken};
use places::Places;

/// The queue of a port where all circuits share one.
const ONLY_QUEUE: QueueId = QueueId(0);

/// A running port. Engines may take over some of its parts for a while.
#[derive(Clone, Debug)]
pub struct Port {
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
    /// Headers of packets that were cut, with their circuits, if packets are cut instead of being lost: they go first.
    headers: Option<Box<Headers>>,
    handling: Handling,
    /// Whether the admission policy accepts every unit that fits.
    takes_all: bool,
    pub(crate) line: Line,
    pub(crate) sending: Option<Sending>,
    /// With push-out, for every circuit whether the admission policy has refused the arriving frame.
    refused: IdVec<PortVc, bool>,
    /// For every circuit the boundaries of the frames that are sent.
    boundaries: IdVec<PortVc, Boundary>,
    /// Control frames that wait for the line, once there have been any, and whether one is in transmission.
    controls: Option<Box<Controls>>,
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

/// The control frames that wait at a port.
#[derive(Clone, Debug, Default)]
struct Controls(VecDeque<Control>);

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
    /// The parts of a port of its own buffer: without push-out, gates or trimming, and with a queue for each circuit.
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
            None if places.by_notification => 2,
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
        Port {
            takes_all: matches!(rule, Some(Rule::Fits)),
            handling: match rule {
                _ if parts.pushout.is_some() || parts.share.is_some() || parts.trims => Handling::Asked,
                Some(Rule::Fits) if !is_fifo || may_wait => Handling::InTurn,
                Some(Rule::Fits) => Handling::Plain,
                Some(Rule::Frames { .. }) if is_fifo && !may_wait => Handling::Judged,
                _ if expels || displaces == Displaced::Any => Handling::Asked,
                _ => Handling::Weighed,
            },
            refused: IdVec::filled(false, if parts.pushout.is_some() { vcs } else { 0 }),
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
            gates: parts.gates,
            line: parts.line,
            sending: None,
            controls: None,
            sending_control: false,
            counters,
        }
    }

    /// The occupancy of the buffer, in total and of each circuit.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// Return whether packets of one circuit may overtake each other here.
    pub(crate) fn lets_overtake(&self) -> bool {
        self.places.by_notification || self.trims()
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

    /// Return the counts since the last reset.
    pub fn counters(&self) -> &Counters {
        &self.counters
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

    /// Handle the arrival of a unit of the port's circuit `vc`. The losses that it causes, its own or others', are
    /// appended to `losses`; `vc_of` returns the circuit, numbered within the port, of a unit that must be removed.
    #[inline(always)]
    pub fn arrive(
        &mut self,
        now: Time,
        unit: Unit,
        vc: PortVc,
        vc_of: impl Fn(&Unit) -> PortVc,
        losses: &mut Vec<Loss>,
    ) {
        self.counters.arrived(&unit);
        let size = self.size_of(&unit);
        match self.handling {
            Handling::Asked => return self.arrive_asking(Offer { now, unit, vc, size }, vc_of, losses),
            Handling::Weighed => return self.arrive_weighed(Offer { now, unit, vc, size }, vc_of, losses),
            Handling::Plain | Handling::Judged | Handling::InTurn => {}
        }
        let Some(unit) = self.admit(Offer { now, unit, vc, size }, losses) else { return };
        let queue = self.queue_of(&unit, vc);
        self.queues[queue].push(unit);
        if self.handling == Handling::InTurn {
            self.scheduler.joined(queue);
        }
    }

    /// Handle the arrival of a unit; a free line starts to send the next unit: this one, if no scheduler is needed,
    /// because then no other unit waits.
    #[inline(always)]
    pub fn pass(
        &mut self,
        now: Time,
        unit: Unit,
        vc: PortVc,
        vc_of: impl Fn(&Unit) -> PortVc,
        losses: &mut Vec<Loss>,
    ) -> Option<Started> {
        if self.is_busy() || self.asks_whose_turn() {
            self.arrive(now, unit, vc, &vc_of, losses);
            return self.start(now, &vc_of, losses);
        }
        self.counters.arrived(&unit);
        let offer = Offer { now, unit, vc, size: self.size_of(&unit) };
        self.admit(offer, losses).map(|unit| self.send(now, unit, vc))
    }

    /// Admit a unit at a port where only the admission policy decides. Return the unit as it is queued if the policy
    /// accepts it; then the books count it.
    #[inline(always)]
    fn admit(&mut self, offer: Offer, losses: &mut Vec<Loss>) -> Option<Unit> {
        let Offer { now, mut unit, vc, size } = offer;
        let verdict = match self.handling {
            Handling::Plain | Handling::InTurn if self.pool.fits(size) => Verdict::Accept,
            Handling::Plain | Handling::InTurn => Verdict::Discard(Reason::Overflow),
            Handling::Judged | Handling::Weighed | Handling::Asked => self.judge_alone(&offer),
        };
        match verdict {
            Verdict::Discard(reason) => {
                self.lose(unit, reason, losses);
                return None;
            }
            Verdict::Mark(reason) => self.mark(now, &mut unit, reason),
            Verdict::Accept | Verdict::Replace(..) => {}
        }
        self.take_in(now, vc, size);
        Some(unit)
    }

    /// Set a congestion mark on a unit.
    fn mark(&mut self, now: Time, unit: &mut Unit, reason: Reason) {
        assert!(unit.is_ect(), "a port marks only what reacts to marks");
        self.counters.marked(now, unit, reason);
        *unit = unit.marked();
    }

    /// Like `mark`, at a port that may share a memory: the memory counts the mark as well.
    fn mark_shared(&mut self, now: Time, unit: &mut Unit, vc: PortVc, reason: Reason) {
        self.mark(now, unit, reason);
        if let Some(share) = &mut self.share {
            share.note_mark(unit, vc);
        }
    }

    /// Return whether departures may differ from the order of arrival.
    #[inline]
    fn asks_whose_turn(&self) -> bool {
        matches!(self.handling, Handling::InTurn | Handling::Weighed | Handling::Asked)
    }

    fn judge_alone(&mut self, &Offer { now, ref unit, vc, size }: &Offer) -> Verdict {
        let (pool, queue, place) = (&self.pool, &self.queues[ONLY_QUEUE], ONLY_QUEUE);
        let (waiting, elastic) = (0, false);
        self.admission.judge(&mut Arrival { now, unit, vc, size, pool, queue, place, waiting, elastic })
    }

    /// Lose a unit at the entrance, before it reaches the admission policy.
    pub fn refuse(&mut self, unit: Unit, reason: Reason, losses: &mut Vec<Loss>) {
        self.counters.arrived(&unit);
        self.lose(unit, reason, losses);
    }

    /// Start to send the next unit, if the line is free and the scheduler has one. Units at the head that the
    /// admission policy discards are appended to `losses`.
    #[inline(always)]
    pub fn start(
        &mut self,
        now: Time,
        vc_of: impl Fn(&Unit) -> PortVc,
        losses: &mut Vec<Loss>,
    ) -> Option<Started> {
        if self.is_busy() {
            return None;
        }
        let (unit, vc) = if self.asks_whose_turn() {
            self.next_in_turn(now, vc_of, losses)?
        } else {
            let unit = self.queues[ONLY_QUEUE].pop()?;
            (unit, vc_of(&unit))
        };
        Some(self.send(now, unit, vc))
    }

    /// Take the next unit to be sent out of its queue; scheduler, credits and admission policy choose it.
    #[inline(never)]
    fn next_in_turn(
        &mut self,
        now: Time,
        vc_of: impl Fn(&Unit) -> PortVc,
        losses: &mut Vec<Loss>,
    ) -> Option<(Unit, PortVc)> {
        if self.trims()
            && let Some(header) = self.next_header()
        {
            return Some(header);
        }
        loop {
            let Port { scheduler, gates, queues, line, .. } = self;
            let lets = |unit: &Unit| gates.iter().all(|gate| gate.lets(unit, vc_of(unit)));
            let mut may_send = |queue: QueueId| queues[queue].front().is_none_or(lets);
            let octets =
                |queue: QueueId| queues[queue].front().map_or(0, |unit| line.octets(unit.bytes).into());
            let index = if gates.is_empty() {
                scheduler.turn_by_size(now, &octets)?
            } else {
                scheduler.next_by_size(now, &mut may_send, &octets)?
            };
            let queue = &mut self.queues[index];
            let head = queue.positions().start;
            let mut unit = queue.pop().expect("a scheduler picks a queue that holds something");
            let empty = queue.is_empty();
            let arrived = self.arrivals.get_mut(index).map(|times| times.left(head));
            self.left_queue(index, &unit, empty);
            let vc = if self.shares_queues() { vc_of(&unit) } else { index.vc() };
            if matches!(self.handling, Handling::Weighed | Handling::Asked) {
                let taken = Taken { now, unit, queue: index, vc, exit: Exit::Discarded(index) };
                match self.judge_head(&taken, arrived) {
                    HeadVerdict::Send => {}
                    HeadVerdict::Mark(reason) => self.mark_shared(now, &mut unit, vc, reason),
                    HeadVerdict::Discard(reason) => {
                        self.give_up(&taken, reason, losses);
                        continue;
                    }
                }
            }
            if let Some(arrived) = arrived {
                self.counters.waited(now, arrived);
            }
            self.scheduler.sent(index, self.line.octets(unit.bytes).into());
            return Some((unit, vc));
        }
    }

    fn judge_head(&mut self, taken: &Taken, arrived: Option<Time>) -> HeadVerdict {
        let &Taken { now, ref unit, queue, vc, .. } = taken;
        let behind = self.arrivals.get(queue).map_or(0, ArrivalTimes::octets);
        let (size, pool) = (self.size_of(unit), &self.pool);
        self.admission.at_head(&Head { now, arrived, unit, queue, vc, size, behind, pool })
    }

    /// Record that a unit has left its queue, from any position; `empty` if it was the last one.
    fn left_queue(&mut self, queue: QueueId, unit: &Unit, empty: bool) {
        self.scheduler.left(queue, empty);
        if let Some(times) = self.arrivals.get_mut(queue) {
            times.shrink(unit.bytes);
        }
    }

    /// Queue a control frame ahead of all units that wait, and in place of a frame that it makes superfluous.
    pub fn queue_control(&mut self, control: Control) {
        let Controls(waiting) = &mut **self.controls.get_or_insert_default();
        waiting.retain(|other| !control.replaces(*other));
        waiting.push_back(control);
    }

    /// Start to send the next control frame, if the line is free and one waits.
    pub fn start_control(&mut self, now: Time) -> Option<(Control, Sent)> {
        if self.is_busy() {
            return None;
        }
        let control = self.controls.as_mut()?.0.pop_front()?;
        self.sending_control = true;
        control.count(self.counters.rare_mut());
        Some((control, self.line.send(now, control.octets())))
    }

    /// Pass a unit through the gates before the port; the error says why the link loses it.
    #[inline]
    pub(crate) fn enter(&mut self, now: Time, unit: Unit, vc: PortVc) -> Result<Unit, Reason> {
        self.gates.iter_mut().try_fold(unit, |unit, gate| gate.enters(now, unit, vc))
    }

    /// React to a control frame from the node at the far end.
    pub fn receive_control(&mut self, now: Time, control: Control) {
        self.gates.iter_mut().for_each(|gate| gate.receives(now, control));
    }

    /// Finish the transmission: the unit leaves the buffer. Return it, unless it was a control frame.
    #[inline(always)]
    pub fn finish(&mut self, now: Time) -> Option<Unit> {
        if std::mem::take(&mut self.sending_control) {
            return None;
        }
        let Sending { unit, vc, size } = self.sending.take().expect("a line finishes what it has started");
        self.leave(now, &unit, vc, size);
        if unit.is_cut() && self.trims() {
            self.counters.departed_cut();
        }
        if matches!(self.handling, Handling::Weighed | Handling::Asked) {
            let is_header = self.headers.as_mut().is_some_and(|headers| std::mem::take(&mut headers.sending));
            let exit = if is_header { Exit::Headers { sent: true } } else { Exit::Sent };
            self.report_departure(&Offer { now, unit, vc, size }, exit);
        }
        Some(unit)
    }

    /// Remove a unit that has been sent from the books.
    #[inline(always)]
    fn leave(&mut self, now: Time, unit: &Unit, vc: PortVc, size: u64) {
        self.counters.occupancy.change(now, self.pool.total(), self.pool.total() - size);
        self.pool.remove(vc, size);
        self.counters.departed(unit, vc);
    }

    /// Run the clock of the admission policy; returns when it must run again.
    pub fn tick(&mut self, now: Time) -> Option<Time> {
        let wait = if self.arrivals.is_empty() { Span::ZERO } else { self.longest_wait(now) };
        self.admission.tick(now, &self.pool, wait)
    }

    /// The longest wait of the units at the heads of the queues.
    fn longest_wait(&self, now: Time) -> Span {
        let heads = self.queues.iter().map(|queue| queue.positions().start).zip(&self.arrivals);
        let waits = heads.filter_map(|(head, times)| Some(now.since(times.oldest(head)?)));
        waits.max().unwrap_or(Span::ZERO)
    }

    /// Reset the counters; units in the buffer count as having just arrived.
    pub fn reset_counters(&mut self, now: Time) {
        let queued: Vec<Unit> = self.units().collect();
        self.counters.reset(now, queued.into_iter(), self.pool.total());
        self.gates.iter_mut().for_each(|gate| gate.reset(now));
        self.share.iter_mut().for_each(|share| share.reset_counters());
    }

    /// Take a sample of the occupancy for its distribution, and one for the admission policy.
    pub fn sample(&mut self) {
        self.sample_level(self.pool.total(), 1);
    }

    /// Add `samples` samples of a level, for an engine that tracks the occupancy itself and found it unchanged.
    pub(crate) fn sample_level(&mut self, level: u64, samples: u64) {
        self.counters.occupancy.sample_many(level, samples);
        if self.counters.rare().state.is_some() {
            let row = self.state();
            let rows = self.counters.rare_mut().state.get_or_insert_default();
            rows.extend((0..samples).map(|_| row.clone()));
        }
        if let Some(meter) = self.counters.meter_mut() {
            for _ in 0..samples {
                let reading = |vc| self.admission.meter(vc).unwrap_or_default();
                meter.extend(self.pool.keys().map(reading));
            }
        }
    }

    /// List the variables of the policies and the gates; of a policy by queues only for queues that exist.
    pub fn state(&self) -> Vec<Figure> {
        let is_known = |figure: &Figure| figure.queue.is_none_or(|queue| queue < self.queues.len());
        let of_pushout = self.pushout.as_ref().map(PushOut::state).unwrap_or_default();
        let policies = self.admission.state().into_iter().chain(self.scheduler.state()).chain(of_pushout);
        policies.filter(is_known).chain(self.gates.iter().flat_map(Gate::state)).collect()
    }

    /// Extend time averages to the end of the run.
    pub fn close_counters(&mut self, now: Time) {
        self.counters.occupancy.change(now, self.pool.total(), self.pool.total());
        self.gates.iter_mut().for_each(|gate| gate.close(now));
    }

    /// The counters, for an engine that keeps some of them itself.
    pub(crate) fn counters_mut(&mut self) -> &mut Counters {
        &mut self.counters
    }

    /// The first decision that one of its policies could not compute.
    pub(crate) fn failure(&self) -> Option<&Failure> {
        let of_pushout = self.pushout.as_ref().and_then(PushOut::failure);
        let all = [self.admission.failure(), self.scheduler.failure(), of_pushout];
        all.into_iter().flatten().min_by_key(|failure| failure.time)
    }

    /// The admission policy, for an engine that keeps the books itself.
    pub(crate) fn admission_mut(&mut self) -> &mut admission::Policy {
        &mut self.admission
    }

    /// Count a unit that waits or is in transmission without a recorded arrival: an engine that forwards units without
    /// the port reports at the end the units that the port would hold.
    pub(crate) fn restock(&mut self, unit: Unit, vc: PortVc, sending: bool) {
        let size = self.size_of(&unit);
        self.pool.add(vc, size);
        if sending {
            self.sending = Some(Sending { unit, vc, size });
        } else {
            let queue = self.queue_of(&unit, vc);
            self.queues[queue].push(unit);
        }
    }

    /// Add a unit to the books.
    #[inline]
    fn take_in(&mut self, now: Time, vc: PortVc, size: u64) {
        self.counters.occupancy.change(now, self.pool.total(), self.pool.total() + size);
        self.pool.add(vc, size);
    }

    fn enqueue(&mut self, queue: QueueId, Offer { now, unit, vc, size }: Offer) {
        self.take_in(now, vc, size);
        if let Some(share) = &mut self.share {
            share.take_in(now, &unit, vc, size);
        }
        let position = self.queues[queue].push(unit);
        if let Some(times) = self.arrivals.get_mut(queue) {
            times.joined(self.queues[queue].positions().start, position, now, unit.bytes);
        }
        self.admission.settled(&unit, vc, Settled::Queued { position });
        self.scheduler.joined(queue);
        if let Some(pushout) = &mut self.pushout {
            pushout.joined(vc, &self.pool);
        }
    }

    #[inline(always)]
    fn send(&mut self, now: Time, unit: Unit, vc: PortVc) -> Started {
        if unit.begins_frame() {
            self.line.rest(now, unit.subject());
        }
        let ready = self.pass_gates(now, &unit, vc);
        let sent = self.line.send(ready, unit.bytes);
        self.sending = Some(Sending { unit, vc, size: self.size_of(&unit) });
        Started { unit: self.boundaries[vc].pass(unit), sent }
    }

    /// Return when a unit may start that is to be sent now or as soon as the line is free.
    #[inline(always)]
    fn pass_gates(&mut self, now: Time, unit: &Unit, vc: PortVc) -> Time {
        if self.gates.is_empty() {
            return now;
        }
        let ready = now.max(self.line.free());
        self.gates.iter_mut().fold(ready, |ready, gate| gate.starts(ready, unit, vc))
    }

    fn lose(&mut self, unit: Unit, reason: Reason, losses: &mut Vec<Loss>) {
        self.counters.lost(reason);
        losses.push(Loss { unit, reason });
    }

    /// Lose a unit that has been taken out of a queue.
    fn give_up(
        &mut self,
        &Taken { now, unit, vc, exit, .. }: &Taken,
        reason: Reason,
        losses: &mut Vec<Loss>,
    ) {
        let size = self.size_of(&unit);
        self.counters.occupancy.change(now, self.pool.total(), self.pool.total() - size);
        self.pool.remove(vc, size);
        self.report_departure(&Offer { now, unit, vc, size }, exit);
        self.counters.gave_up(&unit, reason);
        if reason != Reason::Watchdog {
            self.note_loss(&unit, vc); // those of a watchdog are intended, and no fault of the memory
        }
        losses.push(Loss { unit, reason });
    }

    /// Count the loss of a unit of a circuit at the shared memory, which counts losses by queue.
    fn note_loss(&mut self, unit: &Unit, vc: PortVc) {
        if let Some(share) = &mut self.share {
            share.note_loss(unit, vc);
        }
    }

    /// Notify the policies that observe departures of a unit that was sent, or lost after it had been taken in.
    #[inline(never)]
    fn report_departure(&mut self, &Offer { now, ref unit, vc, size }: &Offer, exit: Exit) {
        let sent = matches!(exit, Exit::Sent | Exit::Headers { sent: true });
        let accepted = !matches!(exit, Exit::Headers { .. });
        let (queue, position) = match exit {
            Exit::Sent | Exit::Headers { .. } => (None, None),
            Exit::Discarded(queue) => (Some(queue), None),
            Exit::Removed(queue, position) => (Some(queue), Some(position)),
        };
        if let Some(share) = &mut self.share {
            share.release(vc, &Leaving { now, unit, size, sent });
        }
        let of_sent = Departure::of_sent(now, unit, vc, size, &self.pool);
        self.admission.departed(&Departure { queue, position, sent, accepted, ..of_sent });
        if let Some(pushout) = &mut self.pushout {
            pushout.left(vc, &self.pool, sent);
        }
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
