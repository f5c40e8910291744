//! The packet memory that several ports of a node share.
//!
//! A memory has a number of cells; a packet takes whole cells, from its acceptance until its last bit has left.
//! **Pools** are counters over the memory, not pieces of it. Packets of a **class** of traffic are counted in one
//! pool. If the pool counts on the egress side, the class has its own queue at each port; if it counts on the ingress
//! side, one for each incoming line. A class may also have to fit a pool of the other side.
//!
//! A packet takes room in this order: the unused part of its queue's **reserved** room; **shared** room, as long as
//! the scheme's threshold, the class's limit, the pool and the memory allow it; **headroom** of the pool, which a
//! queue continues to take until it has returned all of it. A departure frees headroom first, then shared, then
//! reserved room. Reserved room and headroom are always kept free for their queues: they belong neither to the shared
//! room of a pool nor to the shared room of the memory.
//!
//! A memory with **push-out** makes room for a packet that the thresholds allow but that finds no room: a long queue,
//! at any port, loses a packet, and so on until the arriving one fits. With a scheme that **expels**, queues also
//! lose packets without an arrival that needs their room (`engine/coupling.rs`).
//!
//! A [`Port`](crate::link::port::Port) checks with the memory whether an arriving unit fits, as it would with its own
//! buffer; its own admission policy decides as well. The network lends the memory to one port at a time
//! (`Network::at`).

pub mod decide;

pub mod headroom;

mod lean;

mod leaving;

mod pause;

mod pausing;

mod pool;

pub mod pushout;

mod queue;

mod share;

mod trim;

pub mod response;

pub mod sharing;

use crate::buffer::admission::{Expulsion, Failure};
use crate::metrics::occupancy::Occupancy;
use crate::unit::Unit;
use crate::units::Time;

use crate::units::ids::LineId;
use pause::Stopped;
use pushout::{Content, Cut, Full, PushOut};
use sharing::Sharing;

pub use leaving::Leaving;
pub use pause::QueuePause;
pub(crate) use pause::Signal;
pub use pool::SharedPool;
pub use queue::{Account, QueueLimits, SharedQueue};
pub use share::Share;
pub use trim::Trim;

crate::choice! {
    /// Side of a node on which a pool counts.
    pub enum Side {
        /// The ingress side: a queue for every incoming line and class.
        Ingress = "ingress",
        /// The egress side: a queue for every port and class.
        Egress = "egress",
    }
}

crate::choice! {
    /// Length of a queue that the memory compares with its threshold.
    pub enum ThresholdCheck {
        /// Its length before the packet: a packet is blocked iff it has reached the threshold. Switch chips do this.
        Before = "before",
        /// Its length with the packet: a packet is blocked iff it would exceed the threshold.
        After = "after",
    }
}

impl ThresholdCheck {
    /// Return whether a queue that holds `held` cells may take `size` more at this threshold.
    #[inline]
    pub(crate) fn allows(self, held: u64, size: u64, threshold: f64) -> bool {
        match self {
            ThresholdCheck::Before => (held as f64) < threshold,
            ThresholdCheck::After => (held + size) as f64 <= threshold,
        }
    }
}

/// A running memory.
#[derive(Clone, Debug)]
pub struct Memory {
    cells: u64,
    used: u64,
    /// Cells of shared room in use.
    shared: u64,
    /// Cells of reserved room and headroom, in use or not.
    promised: u64,
    check: ThresholdCheck,
    /// Whether its books are those of one pool and nothing else: see `lean.rs`.
    is_lean: bool,
    pools: Vec<SharedPool>,
    queues: Vec<SharedQueue>,
    pushout: Option<pushout::Policy>,
    /// Queues whose senders are stopped, and signals for senders.
    stopped: Vec<Stopped>,
    signals: Vec<Signal>,
    occupancy: Occupancy,
}

/// The parts of a memory.
#[derive(Debug)]
pub struct MemoryParts {
    /// Number of cells.
    pub cells: u64,
    /// Which length of a queue is compared with its threshold.
    pub check: ThresholdCheck,
    /// Pools.
    pub pools: Vec<SharedPool>,
    /// Queues, each with the number of its pool.
    pub queues: Vec<SharedQueue>,
    /// Push-out policy, if the memory has one.
    pub pushout: Option<pushout::Policy>,
}

/// The room that a packet takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Charge {
    /// Reserved and shared room.
    Shared,
    /// The rest of the reserved room, and headroom.
    Headroom,
}

impl Memory {
    /// Build an empty memory.
    pub fn new(MemoryParts { cells, check, mut pools, queues, pushout }: MemoryParts) -> Memory {
        for (place, queue) in queues.iter().enumerate() {
            pools[queue.pool].add_member(queue, place);
        }
        let reserved: u64 = queues.iter().map(|queue| queue.limits.reserved).sum();
        let headroom: u64 = pools.iter().map(SharedPool::headroom).sum();
        assert!(reserved + headroom <= cells, "no more is promised than there is");
        let promised = reserved + headroom;
        let (stopped, signals, occupancy) = (Vec::new(), Vec::new(), Occupancy::new());
        let (used, shared, is_lean) = (0, 0, false);
        let memory = Memory {
            cells,
            used,
            shared,
            promised,
            check,
            is_lean,
            pools,
            queues,
            pushout,
            stopped,
            signals,
            occupancy,
        };
        Memory { is_lean: memory.can_be_lean(), ..memory }
    }

    /// Return the number of cells of the memory.
    pub fn cells(&self) -> u64 {
        self.cells
    }

    /// Return the number of cells in use.
    pub fn used(&self) -> u64 {
        self.used
    }

    /// Return the pools.
    pub fn pools(&self) -> &[SharedPool] {
        &self.pools
    }

    /// Return the queues.
    pub fn queues(&self) -> &[SharedQueue] {
        &self.queues
    }

    /// Return the statistics of the occupancy.
    pub fn occupancy(&self) -> &Occupancy {
        &self.occupancy
    }

    /// Report an arriving unit of `size` cells to the schemes of its queues' pools, and return the result of
    /// [`Memory::admits`].
    #[inline]
    pub(crate) fn offer(&mut self, now: Time, account: Account, size: u64, unit: &Unit) -> Option<Charge> {
        match self.is_lean {
            true => self.offer_lean(now, account, size, unit),
            false => self.offer_fully(now, account, size, unit),
        }
    }

    #[inline(never)]
    fn offer_fully(&mut self, now: Time, account: Account, size: u64, unit: &Unit) -> Option<Charge> {
        if let Some(SharedQueue { pool, number, .. }) = account.other().map(|other| &self.queues[other]) {
            self.pools[*pool].offer(now, *number, size, unit);
        }
        let queue = &mut self.queues[account.queue()];
        let pool = &mut self.pools[queue.pool];
        pool.offer(now, queue.number, size, unit);
        let threshold = pool.threshold(queue.number);
        queue.note_threshold(threshold);
        let threshold = pool.applied(unit, || threshold);
        self.admits_below(threshold, now, account, size, unit)
    }

    /// Return the room that a packet of `size` cells would take in its queues, or `None` if it does not fit. If it
    /// does not, stop its sender, if the class pauses; departures later let the sender resume.
    pub(crate) fn admits(&mut self, now: Time, account: Account, size: u64, unit: &Unit) -> Option<Charge> {
        let SharedQueue { pool, number, .. } = self.queues[account.queue()];
        self.admits_below(self.pools[pool].threshold_for(number, unit), now, account, size, unit)
    }

    /// Like `admits`, with this threshold for the first queue.
    #[inline(always)] // saves a call for each packet
    fn admits_below(
        &mut self,
        threshold: f64,
        now: Time,
        account: Account,
        size: u64,
        unit: &Unit,
    ) -> Option<Charge> {
        let charge = self.charge(threshold, account, size, unit);
        if charge.is_none() && self.used > 0 {
            self.stop(now, account.queue());
        }
        charge
    }

    /// Return the room that a unit would take, given the threshold of its first queue; `None` if it does not fit.
    #[inline(always)]
    fn charge(&self, threshold: f64, account: Account, size: u64, unit: &Unit) -> Option<Charge> {
        let is_allowed = account.other().is_none_or(|other| self.shares(other, size, unit));
        if self.used + size > self.cells || !is_allowed {
            return None;
        }
        let queue = &self.queues[account.queue()];
        let beyond = queue.beyond_reserved(size);
        let shares = |beyond: u64| {
            let (books, below) = (&self.pools[queue.pool].books, queue.limits.below(threshold));
            self.check.allows(books.of(queue.number), beyond, below) && books.fits(beyond)
        };
        if beyond == 0 || queue.headroom() == 0 && shares(beyond) && self.has_room(beyond) {
            return Some(Charge::Shared);
        }
        let has_headroom = queue.may_take_headroom(beyond, self.pools[queue.pool].is_lossless)
            && self.pools[queue.pool].has_headroom(beyond);
        has_headroom.then_some(Charge::Headroom)
    }

    /// Return the room that the headers of a refused packet would take, or `None` if they do not fit. Headers wait in
    /// a separate queue, so the threshold and the limit of the packet's queue do not apply to them: only pools and
    /// memory must have room, as in switch chips.
    pub(crate) fn admits_headers(&self, account: Account, size: u64) -> Option<Charge> {
        let queue = &self.queues[account.queue()];
        let beyond = queue.beyond_reserved(size);
        let fits = |queue: usize, size| self.pools[self.queues[queue].pool].books.fits(size);
        let has_room = beyond == 0 || fits(account.queue(), beyond) && self.has_room(beyond);
        let is_free = self.used + size <= self.cells && account.other().is_none_or(|other| fits(other, size));
        (has_room && is_free).then_some(Charge::Shared)
    }

    /// Return whether a queue can take a unit of `size` cells into the shared room of its pool.
    fn shares(&self, queue: usize, size: u64, unit: &Unit) -> bool {
        let SharedQueue { limits, pool, number, .. } = &self.queues[queue];
        let (books, below) = (&self.pools[*pool].books, self.pools[*pool].threshold_for(*number, unit));
        self.check.allows(books.of(*number), size, limits.below(below)) && books.fits(size)
    }

    /// Return whether a queue is below its threshold and the limit of its class.
    fn is_below(&self, queue: usize, size: u64) -> bool {
        let SharedQueue { pool, number, .. } = self.queues[queue];
        self.check.allows(self.pools[pool].books.of(number), size, self.threshold(queue))
    }

    /// Return the shared room that a queue may have: the lesser of its threshold and the limit of its class.
    fn threshold(&self, queue: usize) -> f64 {
        let SharedQueue { limits, pool, number, .. } = self.queues[queue];
        limits.below(self.pools[pool].threshold(number))
    }

    /// Return whether the memory makes room by push-out.
    #[inline]
    pub(crate) fn pushes_out(&self) -> bool {
        self.pushout.is_some()
    }

    /// Choose what push-out removes for a unit of `size` cells that the scheme allows but that finds no room;
    /// `None` if the unit itself is lost.
    pub(crate) fn victim(
        &mut self,
        now: Time,
        account: Account,
        size: u64,
        unit: &Unit,
        ports: &dyn Content,
    ) -> Option<Cut> {
        let queue = account.queue();
        let own = &self.queues[queue];
        let beyond = own.beyond_reserved(size);
        if beyond == 0 || !self.is_below(queue, beyond) || self.pools[own.pool].refuses(unit) {
            return None;
        }
        let is_pool_full = !self.pools[own.pool].books.fits(beyond);
        if !is_pool_full && self.has_room(beyond) {
            return None;
        }
        let pool = is_pool_full.then_some(own.pool);
        let mut pushout = self.pushout.take()?;
        let subject = unit.subject();
        let cut = pushout.choose(&Full { now, subject, memory: self, pool, own: queue, size, ports });
        self.pushout = Some(pushout);
        cut
    }

    /// Report a queue that has received or sent a unit to a push-out policy that watches the queues.
    fn report_change(&mut self, queue: usize) {
        if let Some(pushout) = &mut self.pushout {
            pushout.changed(&self.queues, queue);
        }
    }

    /// Return the first decision that the scheme of a pool or the push-out policy could not compute.
    pub(crate) fn failure(&self) -> Option<&Failure> {
        let of_pools = self.pools.iter().filter_map(|pool| pool.scheme().failure());
        let of_pushout = self.pushout.iter().filter_map(PushOut::failure);
        of_pools.chain(of_pushout).min_by_key(|failure| failure.time)
    }

    /// Return whether the scheme of a pool expels packets.
    pub(crate) fn is_expelling(&self) -> bool {
        self.pools.iter().any(SharedPool::is_expelling)
    }

    /// Return whether the scheme of a pool draws random numbers about packets.
    pub(crate) fn draws(&self) -> bool {
        self.pools.iter().any(|pool| pool.scheme().draws())
    }

    /// Return whether the memory does more than limit arrivals: it removes accepted packets, or stops senders.
    pub(crate) fn acts(&self) -> bool {
        self.pushout.is_some() || self.is_expelling() || self.is_pausing()
    }

    /// Return the occupancy up to which the memory removes no packet, whatever arrives that does not exceed it; `None` if its policies do not
    /// name one, or if the occupancy alone does not decide.
    pub(crate) fn quiet_bound(&self) -> Option<u64> {
        if self.is_pausing() {
            return (self.pushout.is_none() && !self.is_expelling()).then_some(self.cells);
        }
        let [pool] = self.pools.as_slice() else { return None };
        if !self.is_lean {
            return None;
        }
        let capacity = pool.books().capacity().limit().map_or(self.cells, |limit| limit.min(self.cells));
        let of_scheme = if pool.is_expelling() { pool.scheme().quiet_up_to(capacity)? } else { capacity };
        let of_pushout = self.pushout.as_ref().map_or(capacity, |pushout| pushout.quiet_up_to(capacity));
        Some(of_scheme.min(of_pushout))
    }

    /// Choose the queue from which the memory expels a packet now, or return the instant of the next check. `head`
    /// returns the size of the first waiting packet of a queue, given the queue's line and number.
    pub(crate) fn expulsion(
        &mut self,
        now: Time,
        head: impl Fn(LineId, usize) -> Option<u64>,
    ) -> Option<Expulsion<usize>> {
        let Memory { pools, queues, .. } = self;
        let mut soonest: Option<Time> = None;
        for pool in pools.iter_mut() {
            match pool.expels(now, |place| head(queues[place].line, place)) {
                Some(Expulsion::At(time)) => {
                    soonest = Some(soonest.map_or(time, |soonest| soonest.min(time)))
                }
                Some(now) => return Some(now),
                None => {}
            }
        }
        soonest.map(Expulsion::At)
    }

    /// Return whether the memory has `size` cells of shared room left.
    fn has_room(&self, size: u64) -> bool {
        self.shared + self.promised + size <= self.cells
    }

    /// Count an accepted packet in the room that [`Memory::admits`] has returned.
    #[inline]
    pub(crate) fn take_in(&mut self, now: Time, account: Account, charge: Charge, size: u64) {
        match self.is_lean {
            true => self.take_in_lean(now, account, size),
            false => self.take_in_fully(now, account, charge, size),
        }
    }

    #[inline(never)]
    fn take_in_fully(&mut self, now: Time, account: Account, charge: Charge, size: u64) {
        self.occupancy.change(now, self.used, self.used + size);
        self.used += size;
        let beyond = self.queues[account.queue()].beyond_reserved(size);
        self.queues[account.queue()].enter(now, size);
        let queue = &mut self.queues[account.queue()];
        match charge {
            Charge::Shared => {
                self.pools[queue.pool].share(now, queue.number, beyond);
                self.shared += beyond;
            }
            Charge::Headroom => {
                queue.take_headroom(beyond);
                self.pools[queue.pool].take_headroom(beyond);
                self.stop(now, account.queue());
            }
        }
        if let Some(other) = account.other() {
            self.queues[other].enter(now, size);
            let SharedQueue { pool, number, .. } = self.queues[other];
            self.pools[pool].share(now, number, size);
        }
        self.report_change(account.queue());
    }

    /// Free the room of a packet that was sent or lost.
    #[inline]
    pub(crate) fn release(&mut self, account: Account, leaving: &Leaving<'_>) {
        match self.is_lean {
            true => self.release_lean(account, leaving),
            false => self.release_fully(account, leaving),
        }
    }

    #[inline(never)]
    fn release_fully(&mut self, account: Account, leaving: &Leaving<'_>) {
        let &Leaving { now, size, .. } = leaving;
        self.occupancy.fall(now, self.used);
        self.used -= size;
        self.shared -= self.leave(account.queue(), leaving);
        account.other().map(|other| self.leave(other, leaving));
        if !self.stopped.is_empty() {
            self.let_go_on();
        }
        if leaving.sent {
            self.report_change(account.queue());
        }
    }

    /// Free the room of a packet in one of its queues; returns the shared room that it frees.
    #[inline(always)]
    fn leave(&mut self, queue: usize, leaving: &Leaving<'_>) -> u64 {
        let queue = &mut self.queues[queue];
        let (shared, headroom) = queue.leave(leaving.now, leaving.size);
        self.pools[queue.pool].give_back(leaving, queue.number, shared, headroom);
        shared
    }

    /// Return whether the class of a queue must lose nothing.
    pub(crate) fn is_lossless(&self, account: Account) -> bool {
        self.queues[account.queue()].limits.pause.is_some()
    }

    /// Count a packet of a queue that was lost at its port.
    pub(crate) fn note_loss(&mut self, account: Account) {
        self.queues[account.queue()].dropped += 1;
    }

    /// Count a packet of a queue that was pushed out.
    pub(crate) fn note_pushed_out(&mut self, account: Account, octets: u64) {
        self.queues[account.queue()].pushed_out_octets += octets;
    }

    /// Count a packet of a queue that was cut to its headers at its port.
    pub(crate) fn note_trim(&mut self, account: Account) {
        self.queues[account.queue()].trimmed += 1;
    }

    /// Count a packet of a queue that was marked at its port.
    pub(crate) fn note_mark(&mut self, account: Account) {
        self.queues[account.queue()].marked += 1;
    }

    /// Store every sample of queues and thresholds from now on.
    pub(crate) fn keep_traces(&mut self) {
        self.occupancy.keep_trace();
        self.queues.iter_mut().for_each(SharedQueue::keep_trace);
    }

    /// Take a sample of the occupancy and, if they are stored, of queues and thresholds.
    pub(crate) fn sample(&mut self, now: Time) {
        self.occupancy.sample(self.used);
        let before = Time(now.0.saturating_sub(1)); // a sample comes before whatever else happens at its instant
        self.pools.iter_mut().for_each(|pool| pool.catch_up(before));
        let pools = &self.pools;
        self.queues.iter_mut().for_each(|queue| queue.sample(pools[queue.pool].threshold(queue.number)));
    }

    /// Reset the counters.
    pub(crate) fn reset_counters(&mut self, now: Time) {
        self.occupancy.reset(now, self.used);
        self.pools.iter_mut().for_each(|pool| pool.reset_counters(now));
        self.queues.iter_mut().for_each(|queue| queue.reset_counters(now));
    }

    /// Extend the time averages to the end of the run.
    pub(crate) fn close_counters(&mut self, now: Time) {
        self.occupancy.change(now, self.used, self.used);
        let whole = self.is_lean.then_some(&self.occupancy);
        self.pools.iter_mut().for_each(|pool| pool.close_counters(now, whole));
        self.queues.iter_mut().for_each(|queue| queue.close_counters(now));
    }
}
