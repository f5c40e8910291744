//! What is to happen, and when: packets under way, and calls of hosts and of ports that have to be asked.

use std::collections::VecDeque;

use super::steps::Packet;
use crate::kernel::queue::{Class, Event, EventQueue};
use crate::kernel::row::{NOTHING, Row};
use crate::units::Time;

/// Everything that is pending, in the order of [`crate::kernel`].
///
/// Most packets need no sorting. Those that a port sends one after another and that nothing delays on their way keep their
/// order, and so do those that hosts send at once over lines of one delay: each such stream is a row. The others go
/// through a heap, as do timers through one of their own, because there are many of those and they are far away.
#[derive(Debug)]
pub(super) struct Agenda {
    /// Where the packets of a row come from, and how long they take from there.
    names: [(u32, u64); MOST_ROWS],
    firsts: [u128; MOST_ROWS],
    rows: Vec<Row<Packet>>,
    /// Arrivals of other packets, and by line which ones.
    late: EventQueue,
    lanes: Vec<VecDeque<Packet>>,
    first_late: u128,
    calls: EventQueue,
    first_call: u128,
}

/// What happens next.
#[derive(Debug)]
pub(super) enum Due {
    /// A packet arrives.
    Packet(Packet),
    /// A host or a port is called.
    Call(Event),
}

/// Since when it is known when a packet arrives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    /// The port that has sent it, or [`HOSTS`].
    pub(super) port: u32,
    /// When that was.
    pub(super) time: Time,
    /// Whether nothing has delayed it since then.
    pub(super) straight: bool,
}

/// All hosts together: what they send, they send now.
pub(super) const HOSTS: u32 = u32::MAX;
/// Rows beyond which the heap is cheaper than their comparison.
const MOST_ROWS: usize = 12;

impl Agenda {
    /// Nothing is pending.
    pub(super) fn new(lines: usize) -> Agenda {
        Agenda {
            names: [(HOSTS, 0); MOST_ROWS],
            firsts: [NOTHING; MOST_ROWS],
            rows: Vec::new(),
            late: EventQueue::default(),
            lanes: vec![VecDeque::new(); lines],
            first_late: NOTHING,
            calls: EventQueue::default(),
            first_call: NOTHING,
        }
    }

    /// A packet will arrive over a line; `rank` is that of the line then.
    #[inline]
    pub(super) fn expect(&mut self, packet: Packet, line: u32, time: Time, rank: u32, origin: Origin) {
        let event = Event { time, class: Class::Arrive, rank, entity: line };
        if origin.straight {
            let name = (origin.port, time.since(origin.time).0);
            let known = self.names[..self.rows.len()].iter().position(|other| *other == name);
            if let Some(place) = known.or_else(|| self.new_row(name)) {
                let key = event.key();
                self.rows[place].push(key, packet);
                self.firsts[place] = self.firsts[place].min(key);
                return;
            }
        }
        self.lanes[line as usize].push_back(packet);
        self.late.push(event);
        self.first_late = self.first_late.min(event.key());
    }

    /// A host or a port is to be called.
    #[inline]
    pub(super) fn call(&mut self, event: Event) {
        self.calls.push(event);
        self.first_call = self.first_call.min(event.key());
    }

    /// What happens next, if it is before `end`, and when.
    #[inline]
    pub(super) fn pop_before(&mut self, end: Time) -> Option<(Time, Due)> {
        let (mut first, mut place) = (self.first_call.min(self.first_late), MOST_ROWS);
        for (row, &key) in self.firsts[..self.rows.len()].iter().enumerate() {
            if key < first {
                (first, place) = (key, row);
            }
        }
        let time = Time((first >> 64) as u64);
        if time >= end {
            return None;
        }
        let due = match self.rows.get_mut(place) {
            Some(row) => {
                let (_, packet) = row.pop().expect("a row has the key that it is first with");
                self.firsts[place] = row.first();
                Due::Packet(packet)
            }
            None if first == self.first_late => self.pop_late(),
            None => self.pop_call(),
        };
        Some((time, due))
    }

    fn pop_late(&mut self) -> Due {
        let event = self.late.pop_before(Time::NEVER).expect("its first key is known");
        self.first_late = self.late.first_key();
        let packet = self.lanes[event.entity as usize].pop_front();
        Due::Packet(packet.expect("an arriving packet was on the line"))
    }

    fn pop_call(&mut self) -> Due {
        let event = self.calls.pop_before(Time::NEVER).expect("its first key is known");
        self.first_call = self.calls.first_key();
        Due::Call(event)
    }

    #[cold]
    fn new_row(&mut self, name: (u32, u64)) -> Option<usize> {
        let place = self.rows.len();
        *self.names.get_mut(place)? = name;
        self.rows.push(Row::default());
        Some(place)
    }
}
