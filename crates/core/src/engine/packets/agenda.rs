//! The pending events, by time: packets in flight, and calls of hosts and of ports that judge every packet.
//!
//! # What it assumes
//! A port keeps the order of its packets, and so do the answers to them.
//!
//! # What it skips
//! A heap: packets are in a few rows, each a queue, and only their heads are compared.
//!
//! # Why that is exact
//! Each packet joins a row whose last packet arrives before it, so every row is in order; ties are resolved where
//! heads meet.
//!
//! # What turns it off
//! More than 64 rows at once, or more than 12 for long: from then on arrivals are in a calendar (`calendar.rs`).
//!
//! # What it saves
//! With a calendar W3-1000 takes 1.2 times as many instructions.

use super::route::Packet;
use super::timer_wheel::TimerWheel;
use crate::kernel::Ties;
use crate::kernel::queue::{Class, Event};
use crate::units::Time;
use crate::units::ids::LineId;

/// Everything that is pending, in the order of [`crate::kernel`].
///
/// Packets are in rows, as cards in the game of patience: each joins the row whose last packet arrives latest but
/// before it (C. L. Mallows, "Patience sorting", SIAM Review 5(4), 1963). A port keeps the order of its packets, and
/// so do the answers to them. Hence a few rows hold everything, each is a queue, and only their heads must be
/// compared. A packet that finds no row ends the work on the agenda: see [`ArrivalAgenda::overflows`]. Calls have their
/// own [`TimerWheel`].
///
/// No row holds two packets of one instant, so the [`Ties`] between lines are resolved only where the heads of rows
/// meet.
#[derive(Debug)]
pub(crate) struct ArrivalAgenda {
    ties: Ties,
    /// Time of the first event of each place: the calls, and the rows.
    firsts: [Time; PLACES],
    /// The lines over which the packets at the heads of rows arrive.
    lines: [LineId; MOST_ROWS],
    /// The earliest of these times, and the first and the last place with an event at that time. They are updated as
    /// soon as the previous event is taken, so that dependent work can begin while that event is handled.
    next: (Time, usize, usize),
    /// Time of the last event of each row, or of its former last one if the row is empty; rows with later ones come
    /// first.
    lasts: [Time; MOST_ROWS],
    rows: [Row<Arrival>; MOST_ROWS],
    /// The number of rows in use; all others are empty.
    used: usize,
    /// Packets that have joined rows beyond the first few.
    crowd: u32,
    /// Packets without a row, in no order.
    late: Vec<Arrival>,
    /// Events from this instant on are not handled now.
    until: Time,
    calls: TimerWheel,
}

/// A packet in flight; aligned to a cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
pub(crate) struct Arrival {
    pub(crate) time: Time,
    /// The line, and the step of the route at which the packet arrives.
    pub(crate) line: LineId,
    pub(crate) at: u32,
    pub(crate) packet: Packet,
}

/// The place of the next event: a row, or the calls.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Due {
    Row(usize),
    Call,
}

/// Number of rows beyond which a calendar is cheaper than their comparison.
const FEW_ROWS: usize = 12;
/// Most rows for a while, as when many hosts start together, and most packets that may join them.
const MOST_ROWS: usize = 64;
const MOST_CROWD: u32 = 4096;
/// The place of the calls.
const CALLS: usize = 0;
/// The place of the first row.
const ROWS: usize = 1;
const PLACES: usize = ROWS + MOST_ROWS;

impl ArrivalAgenda {
    /// An agenda without events.
    pub(crate) fn new(ties: Ties) -> ArrivalAgenda {
        ArrivalAgenda {
            ties,
            firsts: [Time::NEVER; PLACES],
            lines: [LineId(0); MOST_ROWS],
            next: (Time::NEVER, CALLS, CALLS),
            lasts: [Time::ZERO; MOST_ROWS],
            rows: std::array::from_fn(|_| Row::default()),
            used: 0,
            crowd: 0,
            late: Vec::new(),
            until: Time::ZERO,
            calls: TimerWheel::default(),
        }
    }

    /// Add the arrival of a packet.
    #[inline(always)] // see `Row::add`
    pub(crate) fn expect(&mut self, arrival: Arrival) {
        let Arrival { time, line, .. } = arrival;
        let row = self.lasts[..self.used].iter().position(|last| *last < time).unwrap_or(self.used);
        if row >= FEW_ROWS && self.is_crowded(row) {
            return self.add_late(arrival);
        }
        *self.join(row, time, line).add() = arrival;
    }

    /// Return whether a row beyond the first few must not be used: there is none, or such rows have often been used.
    #[cold]
    fn is_crowded(&mut self, row: usize) -> bool {
        self.crowd += 1;
        row == MOST_ROWS || self.crowd > MOST_CROWD
    }

    /// The row that a packet joins.
    #[inline(always)]
    fn join(&mut self, row: usize, time: Time, line: LineId) -> &mut Row<Arrival> {
        self.used = self.used.max(row + 1);
        self.lasts[row] = time;
        if time < self.firsts[ROWS + row] {
            self.lines[row] = line;
        }
        self.announce(ROWS + row, time);
        &mut self.rows[row]
    }

    /// Add a packet that finds no row: the work on this agenda ends.
    #[cold]
    fn add_late(&mut self, arrival: Arrival) {
        self.late.push(arrival);
        self.until = Time::ZERO;
    }

    /// Return whether a packet has found no row.
    pub(crate) fn overflows(&self) -> bool {
        !self.late.is_empty()
    }

    /// Remove all arrivals.
    pub(crate) fn take_arrivals(&mut self) -> Vec<Arrival> {
        let mut arrivals = std::mem::take(&mut self.late);
        for row in 0..self.used {
            while self.firsts[ROWS + row] != Time::NEVER {
                arrivals.push(self.pop_row(row));
            }
        }
        arrivals
    }

    /// Begin work on this agenda: events before `until` are handled.
    #[inline]
    pub(crate) fn begin(&mut self, until: Time) {
        self.until = until;
    }

    /// Return whether the work ends.
    #[inline(always)]
    pub(crate) fn is_done(&self) -> bool {
        self.next.0 >= self.until
    }

    /// Add a call of a host or a port.
    #[inline]
    pub(crate) fn call(&mut self, event: Event) {
        self.announce(CALLS, event.time);
        self.calls.push(event);
    }

    /// Return when the next event is due.
    #[inline]
    pub(crate) fn first_time(&self) -> Time {
        self.next.0
    }

    /// The place of the next event.
    #[inline(always)]
    pub(crate) fn first(&self) -> Due {
        let (first, place, last) = self.next;
        let place = if place == last { place } else { self.least_of(first, place, last) };
        match place {
            CALLS => Due::Call,
            row => Due::Row(row - ROWS),
        }
    }

    /// Find the next event: without a branch, because the place cannot be predicted.
    #[inline(always)]
    fn find_next(&mut self) {
        let (mut first, mut place, mut last) = (self.firsts[CALLS], CALLS, CALLS);
        for (other, &time) in self.firsts[..ROWS + self.used].iter().enumerate().skip(ROWS) {
            place = if time < first { other } else { place };
            last = if time <= first { other } else { last };
            first = first.min(time);
        }
        self.next = (first, place, last);
    }

    /// Update the next event, for an event at a place at `time`.
    #[inline(always)]
    fn announce(&mut self, place: usize, time: Time) {
        self.firsts[place] = self.firsts[place].min(time);
        if time <= self.next.0 {
            self.find_next();
        }
    }

    /// Return the place, of these two and those between them, whose event at `time` goes first.
    #[inline(never)]
    fn least_of(&self, time: Time, first: usize, last: usize) -> usize {
        let (key, other) = (self.order(time, first), self.order(time, last));
        let mut least = if other < key { (other, last) } else { (key, first) };
        for place in first + 1..last {
            if self.firsts[place] == time {
                least = least.min((self.order(time, place), place));
            }
        }
        least.1
    }

    /// The key that decides the order of the first event of a place among those that are due at `time`.
    #[inline(always)]
    fn order(&self, time: Time, place: usize) -> u64 {
        let key = match place {
            CALLS => self.calls.first_key(),
            row => self.event(time, self.lines[row - ROWS]).key(),
        };
        key as u64 // the time is in the bits above
    }

    /// The arrival of a packet as an event of the kernel.
    #[inline]
    pub(crate) fn event(&self, time: Time, line: LineId) -> Event {
        Event { time, class: Class::Arrive, rank: self.ties.rank(time, line), entity: line.0 }
    }

    /// Take the first packet of a row.
    #[inline(always)] // an option would be copied field by field
    pub(crate) fn pop_row(&mut self, row: usize) -> Arrival {
        let packets = &mut self.rows[row];
        let arrival = *packets.first().expect("a row that is due holds something");
        packets.drop_first();
        match packets.first() {
            Some(next) => (self.firsts[ROWS + row], self.lines[row]) = (next.time, next.line),
            None => self.end_row(row),
        }
        self.find_next();
        arrival
    }

    /// Release an empty row: if it is the last one in use it can wait until it is needed again.
    #[inline]
    fn end_row(&mut self, place: usize) {
        self.firsts[ROWS + place] = Time::NEVER;
        while self.used > 0 && self.firsts[ROWS + self.used - 1] == Time::NEVER {
            self.used -= 1;
        }
    }

    /// The key of the first call, or one that is later than all.
    pub(crate) fn first_call(&self) -> u128 {
        self.calls.first_key()
    }

    /// Take the first call.
    pub(crate) fn pop_call(&mut self) -> Event {
        let event = self.calls.pop().expect("a call is pending");
        self.firsts[CALLS] = self.calls.first_time();
        self.find_next();
        event
    }
}

/// Packets in flight, or their records, in the order in which they were added.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row<T> {
    /// A power of two of places, or none yet.
    places: Vec<T>,
    first: usize,
    len: usize,
}

impl<T: Clone + Default> Row<T> {
    /// Return the place of one more packet, to be filled in place: each field is written once, while the copy of a
    /// complete value would have to wait until all its fields have been written.
    #[inline(always)]
    pub(crate) fn add(&mut self) -> &mut T {
        if self.len == self.places.len() {
            self.grow();
        }
        let place = (self.first + self.len) & (self.places.len() - 1);
        self.len += 1;
        &mut self.places[place]
    }

    /// The first packet.
    #[inline(always)]
    pub(crate) fn first(&self) -> Option<&T> {
        if self.len == 0 { None } else { self.places.get(self.first) }
    }

    /// Remove the first packet.
    #[inline(always)]
    pub(crate) fn drop_first(&mut self) {
        self.len -= 1;
        // places that were used recently are still in the cache
        self.first = if self.len == 0 { 0 } else { (self.first + 1) & (self.places.len() - 1) };
    }

    /// The packets, in the order in which they were added.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        (0..self.len).map(|place| &self.places[(self.first + place) & (self.places.len() - 1)])
    }

    /// Double the number of places, since all are occupied.
    #[cold]
    fn grow(&mut self) {
        self.places.rotate_left(self.first);
        self.first = 0;
        self.places.resize((2 * self.len).max(FEW), T::default());
    }
}

/// Initial number of places of a row.
const FEW: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Take the next event before `end`: a packet's time and line, or the time of a call.
    fn pop(agenda: &mut ArrivalAgenda, end: Time) -> Option<(Time, Option<LineId>)> {
        if agenda.first_time() >= end {
            return None;
        }
        let arrival = match agenda.first() {
            Due::Row(row) => agenda.pop_row(row),
            Due::Call => return Some((agenda.pop_call().time, None)),
        };
        Some((arrival.time, Some(arrival.line)))
    }

    proptest! {
        #[test]
        fn packets_and_calls_come_in_the_order_of_the_kernel(
            steps in prop::collection::vec((0u64..40, 0u32..MOST_ROWS as u32, 0u8..5), 1..400),
        ) {
            let ties = Ties::new(7, &crate::rng::UNNAMED);
            let (mut agenda, mut model) = (ArrivalAgenda::new(ties), std::collections::BTreeSet::new());
            let (mut now, mut last) = (Time::ZERO, [Time::ZERO; MOST_ROWS]);
            for (entity, (ahead, line, step)) in (0u32..).zip(steps) {
                let line = LineId(line);
                // a line keeps its order, and no two units arrive on it at one instant
                let time = Time(now.0 + ahead);
                if step == 0 {
                    let call = Event::new(time, Class::Timer, entity);
                    agenda.call(call);
                    model.insert((call.key(), time, None));
                } else if step < 3 && time > last[line.index()] {
                    last[line.index()] = time;
                    agenda.expect(Arrival { time, line, ..Arrival::default() });
                    model.insert((agenda.event(time, line).key(), time, Some(line)));
                } else {
                    let expected = model.first().copied().filter(|first| first.1 < Time(1000));
                    expected.iter().for_each(|first| { model.remove(first); now = first.1; });
                    let popped = pop(&mut agenda, Time(1000));
                    prop_assert_eq!(popped, expected.map(|(_, time, line)| (time, line)));
                }
            }
        }
    }

    #[test]
    fn packets_leave_in_the_order_in_which_they_came_whenever_the_row_grows() {
        let mut row: Row<Arrival> = Row::default();
        let (mut added, mut taken) = (0, 0);
        for round in 0..50 {
            for _ in 0..round {
                row.add().time = Time(added);
                added += 1;
            }
            for _ in 0..round / 2 {
                assert_eq!(row.first().map(|arrival| arrival.time), Some(Time(taken)));
                row.drop_first();
                taken += 1;
            }
        }
        assert_eq!(row.len as u64, added - taken);
    }
}
