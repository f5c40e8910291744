//! Counts and sojourn times of a port whose units are counted frame by frame, or before they have left.
//!
//! # What it assumes
//! A unit is in the buffer from its arrival to the end of its transmission. When a unit is counted, its departure has
//! already been computed, so the measured part of this time can be added at once.
//!
//! # What it skips
//! Bookkeeping in the order of time.
//!
//! # Why that is exact
//! Every figure of a report is a sum over units, so their order does not matter. Only the largest occupancy is not
//! a sum; each form of port has its own way to find it.
//!
//! # What it saves
//! It lets a port advance ahead of the others.

use std::collections::VecDeque;

use crate::buffer::admission::{Admission, Arrival, Departure, Interest, Policy};
use crate::buffer::capacity::Capacity;
use crate::buffer::pool::Pool;
use crate::buffer::queue::Queue;
use crate::link::port::Port;
use crate::unit::{Flags, Unit};
use crate::units::ids::{CircuitId, IdVec, PortVc, QueueId};
use crate::units::{CELL_BYTES, Time};
use crate::verdict::Reason;

/// The measured time: from the end of the warm-up to the end of the run, which is not part of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub(crate) from: Time,
    pub(crate) to: Time,
}

impl Window {
    /// Return whether an instant lies in the measured time.
    #[inline]
    pub(crate) fn holds(&self, time: Time) -> bool {
        self.from <= time && time < self.to
    }

    /// Return how much of the time from `a` to `r` lies in the measured time, in ps.
    #[inline]
    fn share(&self, a: Time, r: Time) -> u64 {
        r.min(self.to).0.saturating_sub(a.max(self.from).0)
    }
}

/// Counts of a port in the measured time, and its content at the end.
#[derive(Debug)]
pub(crate) struct Accounting {
    pub(crate) window: Window,
    pub(crate) units_in: u64,
    pub(crate) units_out: u64,
    pub(crate) bytes_out: u64,
    pub(crate) frames_in: u64,
    pub(crate) frames_whole_out: u64,
    /// Integral of the occupancy: size times picoseconds in the buffer, summed over units.
    pub(crate) area: u128,
    pub(crate) max: u64,
    lost: [u64; Reason::ALL.len()],
    /// Units that were lost after they had waited, and their octets.
    given_up: (u64, u64),
    /// Units in the buffer at the end, each with its circuit's number and whether it is in transmission.
    rest: Vec<(Unit, PortVc, bool)>,
}

/// A unit that has been or will be sent: its arrival, its start and its end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sojourn {
    pub(crate) unit: Unit,
    pub(crate) vc: PortVc,
    pub(crate) size: u64,
    pub(crate) arrived: Time,
    pub(crate) starts: Time,
    pub(crate) ends: Time,
}

impl Accounting {
    /// Build counts of zero.
    pub(crate) fn new(window: Window) -> Accounting {
        Accounting {
            window,
            units_in: 0,
            units_out: 0,
            bytes_out: 0,
            frames_in: 0,
            frames_whole_out: 0,
            area: 0,
            max: 0,
            lost: [0; Reason::ALL.len()],
            given_up: (0, 0),
            rest: Vec::new(),
        }
    }

    /// Count `units` units that are a frame each and arrived and left in the measured time: their octets, their part
    /// `area` of the occupancy's integral, and the maximum occupancy `max`.
    pub(crate) fn enter_whole(&mut self, units: u64, octets: u64, area: u128, max: u64) {
        self.enter_units(units, octets, area);
        self.frames_in += units;
        self.frames_whole_out += units;
        self.max = self.max.max(max);
    }

    /// Count units that were accepted and sent in the measured time: their octets and their part `area` of the
    /// occupancy's integral.
    #[inline]
    pub(crate) fn enter_units(&mut self, units: u64, octets: u64, area: u128) {
        self.units_in += units;
        self.units_out += units;
        self.bytes_out += octets;
        self.area = self.area.wrapping_add(area);
    }

    /// Count one accepted unit. A unit that is in the buffer when the measured time begins counts as having arrived
    /// then.
    #[inline]
    pub(crate) fn enter(&mut self, stay: &Sojourn) {
        let Sojourn { unit, arrived, ends, .. } = *stay;
        let window = self.window;
        if window.from <= arrived && ends < window.to {
            self.units_in += 1;
            self.units_out += 1;
            self.bytes_out += u64::from(unit.bytes);
            self.frames_in += u64::from(unit.begins_frame());
            let area = u128::from(ends.0 - arrived.0) * u128::from(stay.size);
            self.area = self.area.wrapping_add(area);
            return;
        }
        self.enter_part(*stay); // a copy, so that other units need not be stored for the call
    }

    /// Count a unit during whose sojourn the measured time begins or ends, or that leaves before the measured time.
    #[cold]
    fn enter_part(&mut self, stay: Sojourn) {
        let Sojourn { unit, arrived, ends, .. } = stay;
        let window = self.window;
        self.units_in += u64::from(ends >= window.from && arrived < window.to);
        self.frames_in += u64::from(unit.begins_frame() && ends >= window.from && arrived < window.to);
        let area = u128::from(window.share(arrived, ends)) * u128::from(stay.size);
        self.area = self.area.wrapping_add(area);
        if window.holds(ends) {
            self.units_out += 1;
            self.bytes_out += u64::from(unit.bytes);
        } else if ends >= window.to && arrived < window.to {
            self.rest.push((unit, stay.vc, stay.starts < window.to));
        }
    }

    /// Count cells that were accepted and sent in the measured time; `stays` is the sum of their sojourn times in ps,
    /// `max` the largest occupancy at an arrival of one of them.
    #[inline]
    pub(crate) fn enter_inner(&mut self, cells: u64, stays: u128, max: u64) {
        self.enter_units(cells, cells * CELL_BYTES, stays);
        self.max = self.max.max(max);
    }

    /// Count units that were lost in the measured time; none of them starts a frame.
    pub(crate) fn lose_many(&mut self, units: u64, reason: Reason) {
        self.units_in += units;
        self.lost[reason as usize] += units;
    }

    /// Count one unit that was lost on arrival.
    #[inline]
    pub(crate) fn lose(&mut self, now: Time, unit: &Unit, reason: Reason) {
        if self.window.holds(now) {
            self.units_in += 1;
            self.frames_in += u64::from(unit.begins_frame());
            self.lost[reason as usize] += 1;
        }
    }

    /// Count a unit that arrived at `arrived`, waited, and was lost at `now`.
    pub(crate) fn give_up(&mut self, arrived: Time, now: Time, unit: &Unit, reason: Reason) {
        if self.window.holds(now) {
            self.lose(now, unit, reason);
            self.area = self.area.wrapping_add(self.window.share(arrived, now).into());
            self.given_up.0 += 1;
            self.given_up.1 += u64::from(unit.bytes);
        }
    }

    /// Count a unit that still waits at the end of the run.
    pub(crate) fn leave_waiting(&mut self, unit: Unit, vc: PortVc, arrived: Time) {
        self.enter(&Sojourn { unit, vc, size: 1, arrived, starts: Time::NEVER, ends: Time::NEVER });
    }

    /// Transfer the counts to the port at the end of the run.
    pub(crate) fn close(&mut self, port: &mut Port) {
        for (unit, vc, sending) in self.rest.drain(..) {
            port.restock(unit, vc, sending);
        }
        let counters = port.counters_mut();
        (counters.units_in, counters.units_out) = (self.units_in, self.units_out);
        (counters.bytes_out, counters.frames_in) = (self.bytes_out, self.frames_in);
        counters.frames_whole_out = self.frames_whole_out;
        if self.given_up.0 > 0 {
            let rare = counters.rare_mut();
            (rare.units_given_up, rare.bytes_given_up) = self.given_up;
        }
        Reason::ALL.iter().for_each(|&reason| counters.lost_many(reason, self.lost[reason as usize]));
        counters.occupancy.settle(self.window.to, self.area, self.max);
    }
}

/// For each circuit the frame that has been sent without a gap so far, and the number of its sent units, as in
/// [`crate::metrics::port::Counters`].
#[derive(Clone, Debug)]
pub(crate) struct Progress(IdVec<PortVc, (u32, u32)>);

/// Mark of a frame with a missing unit.
const GAP: u32 = u32::MAX;

impl Progress {
    /// Build the record of a port that has not sent a unit.
    pub(crate) fn new(vcs: usize) -> Progress {
        Progress(IdVec::filled((0, GAP), vcs))
    }

    /// Record that `units` units of a frame have been sent; `unit` has the marks of the first and the last. Returns
    /// whether the frame is complete. Only a frame whose first unit was `measured` can become complete.
    #[inline]
    pub(crate) fn sent(&mut self, unit: &Unit, units: u16, vc: PortVc, measured: bool) -> bool {
        let index = u32::from(unit.index);
        let goes_on = if unit.begins_frame() { measured } else { self.0[vc] == (unit.frame, index) };
        let next = if goes_on { index + u32::from(units) } else { GAP };
        self.0[vc] = (unit.frame, if unit.is_eom() { GAP } else { next });
        unit.is_eom() && goes_on
    }
}

/// The occupancies of a FIFO port, in total and by circuit, for a policy that reads them.
#[derive(Debug)]
pub(crate) struct VcAccounting {
    pub(crate) pool: Pool,
    interest: Interest,
    /// The content of the buffer in order; empty unless the policy reads the occupancy of each circuit. An entry
    /// stands for units of a circuit that may leave together: circuit, total size, and whether the last unit ends a
    /// frame.
    order: VecDeque<(PortVc, u64, bool)>,
    /// An empty queue for calls of the policy: policies with a rule do not read the queue.
    queue: Queue,
}

impl VcAccounting {
    /// Build the occupancies of an empty port.
    pub(crate) fn new(capacity: Capacity, vcs: usize, interest: Interest) -> VcAccounting {
        VcAccounting {
            pool: Pool::new(capacity, vcs),
            interest,
            order: VecDeque::new(),
            queue: Queue::default(),
        }
    }

    /// Return the policy's verdict on a unit that arrives at `now`.
    #[inline]
    pub(crate) fn ask(
        &self,
        policy: &mut Policy,
        now: Time,
        unit: &Unit,
        vc: PortVc,
        size: u64,
    ) -> Result<(), Reason> {
        let VcAccounting { pool, queue, .. } = self;
        policy
            .judge(&mut Arrival {
                now,
                unit,
                vc,
                size,
                pool,
                queue,
                place: QueueId(0),
                waiting: 0,
                elastic: false,
            })
            .taken()
    }

    /// Count accepted units of a circuit.
    #[inline]
    pub(crate) fn joined(&mut self, vc: PortVc, size: u64) {
        if self.interest == Interest::Total {
            return self.pool.hold(self.pool.total() + size);
        }
        self.pool.add_ahead(vc, size);
        match self.order.back_mut() {
            Some((last, units, false)) if *last == vc && self.interest != Interest::Every => *units += size,
            _ => self.order.push_back((vc, size, false)),
        }
    }

    /// Record that the last accepted unit ends a frame.
    #[inline]
    pub(crate) fn frame_ends(&mut self) {
        if self.interest == Interest::Ends
            && let Some(last) = self.order.back_mut()
        {
            last.2 = true;
        }
    }

    /// Subtract units of the total `size` that have left; the last one left at `now`.
    #[inline]
    pub(crate) fn left(&mut self, policy: &mut Policy, mut size: u64, now: Time) {
        if self.interest == Interest::Total {
            return match self.pool.total() - size {
                0 => self.emptied(policy, now),
                total => self.pool.hold(total),
            };
        }
        while size > 0 {
            let first = self.order.front_mut().expect("what leaves has been taken");
            let (vc, part) = (first.0, size.min(first.1));
            first.1 -= part;
            let (is_gone, closed) = (first.1 == 0, first.2 && first.1 == 0);
            if is_gone {
                self.order.pop_front();
            }
            size -= part;
            self.pool.remove(vc, part);
            if self.interest.includes(closed, vc, &self.pool) {
                self.report_departure(policy, now, vc, part, closed);
            }
        }
    }

    /// Record that the buffer became empty at `now`, for a policy that observes only this event.
    pub(crate) fn emptied(&mut self, policy: &mut Policy, now: Time) {
        self.pool.hold(0);
        self.report_departure(policy, now, PortVc(0), 0, false);
    }

    fn report_departure(&self, policy: &mut Policy, now: Time, vc: PortVc, size: u64, ends_frame: bool) {
        let unit = &unknown_unit(ends_frame);
        policy.departed(&Departure::of_sent(now, unit, vc, size, &self.pool));
    }
}

/// Build a unit for a policy that reads only whether the unit ends a frame.
pub(crate) fn unknown_unit(ends_frame: bool) -> Unit {
    let flags = if ends_frame { Flags::EOM } else { Flags::default() };
    Unit { vc: CircuitId(0), frame: 0, identity: 0, index: 0, bytes: 0, hop: 0, flags }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Window = Window { from: Time(100), to: Time(200) };

    fn unit(index: u16, eom: bool) -> Unit {
        Unit { index, bytes: 53, ..unknown_unit(eom) }
    }

    /// Books with one unit that stays from `arrived` to `ends`.
    fn books(arrived: u64, ends: u64) -> Accounting {
        let (arrived, starts, ends) = (Time(arrived), Time(ends - 10), Time(ends));
        let mut books = Accounting::new(WINDOW);
        books.enter(&Sojourn { unit: unit(0, true), vc: PortVc(0), size: 1, arrived, starts, ends });
        books
    }

    #[test]
    fn a_unit_that_stays_within_the_measured_time_counts_whole() {
        let books = books(120, 150);
        assert_eq!((books.units_in, books.units_out, books.area), (1, 1, 30));
    }

    #[test]
    fn a_unit_that_is_there_when_the_measured_time_begins_arrives_then() {
        let books = books(80, 130);
        assert_eq!((books.units_in, books.units_out, books.area), (1, 1, 30));
    }

    #[test]
    fn a_unit_that_is_there_when_the_run_ends_has_not_left() {
        let books = books(190, 230);
        assert_eq!((books.units_in, books.units_out, books.area, books.rest.len()), (1, 0, 10, 1));
    }

    #[test]
    fn a_unit_that_ends_at_the_end_of_the_run_has_not_left_and_one_that_ends_at_its_beginning_has() {
        assert_eq!((books(150, 200).units_out, books(50, 100).units_out), (0, 1));
    }

    #[test]
    fn a_unit_that_left_before_the_measured_time_does_not_count() {
        let books = books(50, 90);
        assert_eq!((books.units_in, books.units_out, books.area), (0, 0, 0));
    }

    #[test]
    fn a_unit_that_is_given_up_counts_as_arrived_and_lost_and_occupies_the_buffer_until_then() {
        let given_up = |arrived: u64, now: u64| {
            let mut books = Accounting::new(WINDOW);
            books.give_up(Time(arrived), Time(now), &unit(0, false), Reason::Front);
            (books.units_in, books.frames_in, books.lost[Reason::Front as usize], books.given_up, books.area)
        };
        assert_eq!(given_up(120, 150), (1, 1, 1, (1, 53), 30));
        assert_eq!(given_up(80, 130), (1, 1, 1, (1, 53), 30), "there when the measured time begins");
        assert_eq!(given_up(50, 90), (0, 0, 0, (0, 0), 0), "lost before the measured time");
    }

    #[test]
    fn a_unit_that_waits_when_the_run_ends_is_in_the_buffer() {
        let mut books = Accounting::new(WINDOW);
        books.leave_waiting(unit(0, false), PortVc(0), Time(170));
        assert_eq!((books.units_in, books.units_out, books.area), (1, 0, 30));
        assert!(matches!(books.rest[..], [(_, PortVc(0), false)]));
    }

    #[test]
    fn a_frame_is_whole_if_all_its_units_were_sent_in_the_measured_time() {
        let mut progress = Progress::new(1);
        assert!(!progress.sent(&unit(0, false), 2, PortVc(0), true));
        assert!(progress.sent(&unit(2, true), 1, PortVc(0), true));
        assert!(!progress.sent(&unit(0, false), 2, PortVc(0), false));
        assert!(!progress.sent(&unit(2, true), 1, PortVc(0), true), "its first unit was not measured");
    }

    #[test]
    fn a_frame_with_a_gap_is_not_whole() {
        let mut progress = Progress::new(1);
        assert!(!progress.sent(&unit(0, false), 2, PortVc(0), true));
        assert!(!progress.sent(&unit(3, true), 1, PortVc(0), true));
    }

    #[test]
    fn what_leaves_is_what_was_taken_first() {
        let mut ledger = VcAccounting::new(Capacity::limited(10), 2, Interest::Last);
        ledger.joined(PortVc(0), 2);
        ledger.joined(PortVc(1), 3);
        ledger.joined(PortVc(0), 1);
        assert_eq!((ledger.pool.of(PortVc(0)), ledger.pool.of(PortVc(1))), (3, 3));
        assert_eq!(ledger.order.len(), 3, "units of one circuit that leave together stand together");
    }
}
