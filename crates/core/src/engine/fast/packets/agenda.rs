//! What is to happen, and when: packets under way, and calls of hosts and of ports that have to be asked.

use std::collections::VecDeque;

use super::steps::Packet;
use crate::kernel::queue::{Class, Event, EventQueue};
use crate::kernel::row::Row;
use crate::units::Time;

/// Everything that is pending, in the order of [`crate::kernel`].
///
/// Packets stand in rows, as cards in the game of patience: each joins the row whose last one arrives soonest before it
/// (C. L. Mallows, "Patience sorting", SIAM Review 5(4), 1963). What a port sends keeps its order, and so does what
/// answers to that; hence a few rows hold everything, each is a queue, and only their heads have to be compared. Packets
/// that find no row go through a heap. So do calls, through one of their own, for timers are many and far away.
#[derive(Debug)]
pub(super) struct Agenda {
    /// When the first event of each row is due, and when the last one.
    firsts: [Time; MOST_ROWS],
    lasts: [Time; MOST_ROWS],
    rows: Vec<Row<(u32, Packet)>>,
    /// Rows beyond which all others are empty.
    used: usize,
    /// Arrivals of packets without a row, and by line which ones.
    late: EventQueue,
    lanes: Vec<VecDeque<(u32, Packet)>>,
    first_late: Time,
    calls: EventQueue,
    first_call: Time,
}

/// What happens next.
#[derive(Debug)]
pub(super) enum Due {
    /// A packet arrives at a step of its way.
    Packet(u32, Packet),
    /// A host or a port is called.
    Call(Event),
}

/// Rows beyond which the heap is cheaper than their comparison.
const MOST_ROWS: usize = 12;
/// Where an event is that is in no row.
const CALLS: usize = MOST_ROWS;
const LATE: usize = MOST_ROWS + 1;

impl Agenda {
    /// Nothing is pending.
    pub(super) fn new(lines: usize) -> Agenda {
        Agenda {
            firsts: [Time::NEVER; MOST_ROWS],
            lasts: [Time::ZERO; MOST_ROWS],
            rows: vec![Row::default(); MOST_ROWS],
            used: 0,
            late: EventQueue::default(),
            lanes: vec![VecDeque::new(); lines],
            first_late: Time::NEVER,
            calls: EventQueue::default(),
            first_call: Time::NEVER,
        }
    }

    /// A packet will arrive at a step of its way, over a line; `rank` is that of the line then.
    #[inline]
    pub(super) fn expect(&mut self, packet: (u32, Packet), line: u32, time: Time, rank: u32) {
        let event = Event { time, class: Class::Arrive, rank, entity: line };
        let (mut row, mut closest) = (self.used, 0);
        for (other, last) in self.lasts[..self.used].iter().enumerate() {
            let close = if *last < time { last.0 + 1 } else { 0 };
            if close > closest {
                (row, closest) = (other, close);
            }
        }
        if row == MOST_ROWS {
            return self.expect_late(packet, event);
        }
        self.used = self.used.max(row + 1);
        self.rows[row].push(event.key(), packet);
        self.firsts[row] = self.firsts[row].min(time);
        self.lasts[row] = time;
    }

    /// A host or a port is to be called.
    #[inline]
    pub(super) fn call(&mut self, event: Event) {
        self.calls.push(event);
        self.first_call = self.first_call.min(event.time);
    }

    /// What happens next, if it is before `end`, and when.
    #[inline]
    pub(super) fn pop_before(&mut self, end: Time) -> Option<(Time, Due)> {
        let (mut first, mut place) = (self.first_call, CALLS);
        let mut tie = self.first_late == first;
        if self.first_late < first {
            (first, place) = (self.first_late, LATE);
        }
        for (row, &time) in self.firsts[..self.used].iter().enumerate() {
            tie = time == first || tie && time > first;
            if time < first {
                (first, place) = (time, row);
            }
        }
        if first >= end {
            return None;
        }
        if tie {
            place = self.least_at(first);
        }
        let due = match place {
            CALLS => self.pop_call(),
            LATE => self.pop_late(),
            row => self.pop_row(row),
        };
        Some((first, due))
    }

    /// Where the event is that goes first at an instant.
    #[cold]
    fn least_at(&self, time: Time) -> usize {
        let due = |&row: &usize| self.firsts[row] == time;
        let rows = (0..self.used).filter(due).map(|row| (self.rows[row].first(), row));
        let others = [(self.calls.first_key(), CALLS), (self.late.first_key(), LATE)];
        rows.chain(others).min().map_or(CALLS, |(_, place)| place)
    }

    #[inline]
    fn pop_row(&mut self, place: usize) -> Due {
        let row = &mut self.rows[place];
        let (_, (at, packet)) = row.pop().expect("a row that is due holds something");
        self.firsts[place] = Time((row.first() >> 64) as u64);
        if self.firsts[place] == Time::NEVER {
            self.lasts[place] = Time::ZERO;
            while self.used > 0 && self.firsts[self.used - 1] == Time::NEVER {
                self.used -= 1;
            }
        }
        Due::Packet(at, packet)
    }

    fn pop_late(&mut self) -> Due {
        let event = self.late.pop_before(Time::NEVER).expect("something is late");
        self.first_late = self.late.first_time().unwrap_or(Time::NEVER);
        let packet = self.lanes[event.entity as usize].pop_front();
        let (at, packet) = packet.expect("an arriving packet was on the line");
        Due::Packet(at, packet)
    }

    fn pop_call(&mut self) -> Due {
        let event = self.calls.pop_before(Time::NEVER).expect("somebody is to be called");
        self.first_call = self.calls.first_time().unwrap_or(Time::NEVER);
        Due::Call(event)
    }

    fn expect_late(&mut self, packet: (u32, Packet), event: Event) {
        self.lanes[event.entity as usize].push_back(packet);
        self.late.push(event);
        self.first_late = self.first_late.min(event.time);
    }
}
