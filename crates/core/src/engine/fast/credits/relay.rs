//! Ports that take whatever comes and serve their circuits round robin: the ways of cells in one loop.

use super::Governed;
use super::key::{Key, NEVER, time_of};
use super::lanes::{Heads, Lanes};
use super::notes::Note;
use super::ports::Station;
use super::ways::{Answer, Ways};
use crate::kernel::queue::{Class, Event};
use crate::link::credit::{Credit, Receiver};
use crate::link::line::Sent;
use crate::link::port::Port;
use crate::link::port::relay::Relay;
use crate::network::Network;
use crate::network::circuit::Emission;
use crate::unit::Unit;
use crate::units::Time;

/// Such a port at work, and what its cells touch.
struct Works<'a> {
    number: u32,
    relay: &'a mut Relay,
    port: &'a mut Port,
    heads: &'a mut Heads,
    /// When the last bit of what is being sent leaves.
    free: &'a mut Key,
    hops: &'a mut u64,
    lanes: &'a mut Lanes,
    ways: &'a Ways,
    receivers: &'a mut [Option<Receiver>],
    /// When the run is over.
    end: Time,
}

impl<'a> Works<'a> {
    /// The first cell on its way arrives, and is sent on if it need not wait.
    #[inline(always)]
    fn arrive(&mut self, now: Time) {
        let cell = self.lanes.take(self.heads);
        let stop = self.ways.stop(&cell);
        if let Some(answer) = &stop.answer {
            let (receiver, vc) = answer.receiver(self.receivers);
            receiver.arrived(vc);
        }
        if let Some(sent) = self.relay.arrive(self.port, now, cell, stop.number()) {
            self.set_out(cell, sent);
        }
    }

    /// The last bit of what was being sent leaves; answers the credit that is due.
    #[inline(always)]
    fn leave(&mut self, now: Time) -> Option<(&'a Answer, Credit)> {
        *self.free = NEVER;
        let cell = self.relay.leave(self.port, now)?;
        let answer = self.ways.stop(&cell).answer.as_ref()?;
        let (receiver, vc) = answer.receiver(self.receivers);
        receiver.left(vc).map(|credit| (answer, credit))
    }

    /// The line is free for the cell whose turn it is.
    #[inline(always)]
    fn start(&mut self, now: Time) {
        if let Some((cell, sent)) = self.relay.send_next(self.port, now) {
            self.set_out(cell, sent);
        }
    }

    #[inline(always)]
    fn set_out(&mut self, cell: Unit, sent: Sent) {
        *self.hops += u64::from(sent.starts < self.end); // a host may still be resting then
        *self.free = Event::new(sent.ends, Class::Free, self.number).key();
        let cell = Unit { hop: cell.hop + 1, ..cell };
        self.lanes.push(self.ways.stop(&cell).lane, sent.arrives, cell);
    }
}

impl Governed<'_> {
    /// Cells come and go at such a port before `limit`, until a credit is due or has to be sent.
    pub(super) fn relay(&mut self, port: usize, limit: Key) {
        let Governed { stations, network: Network { ports, receivers, .. }, lanes, ways, .. } = self;
        let Station { heads, free, relay: Some(relay), hops, .. } = &mut stations[port] else { return };
        let (number, end, it) = (port as u32, self.end, &mut ports[port]);
        let mut works = Works { number, relay, port: it, heads, free, hops, lanes, ways, receivers, end };
        loop {
            let arrival = works.heads.first();
            if arrival < *works.free {
                if arrival >= limit {
                    return;
                }
                works.arrive(time_of(arrival));
                continue;
            }
            let key = *works.free;
            if key >= limit {
                return;
            }
            let due = works.leave(time_of(key));
            let credits_wait = works.port.has_credits();
            if !credits_wait {
                works.start(time_of(key));
            }
            if credits_wait || due.is_some() {
                let due = due.map(|(answer, credit)| (*answer, credit));
                return self.attend(port, key, credits_wait, due);
            }
        }
    }

    /// A line is free for a credit cell, or a credit is due for what has just left.
    #[inline(never)]
    fn attend(&mut self, port: usize, key: Key, credits_wait: bool, due: Option<(Answer, Credit)>) {
        if credits_wait {
            self.start_relay(port, key);
        }
        if let Some((answer, credit)) = due {
            self.give_back(answer, credit, Event::of_key(key));
        }
    }

    /// A frame or a credit comes to such a port.
    pub(super) fn heed_relay(&mut self, port: usize, note: Note, key: Key) {
        let it = &mut self.network.ports[port];
        let Some(relay) = &mut self.stations[port].relay else { return };
        match note {
            Note::Frame(emission) => return self.relay_frame(port, emission, key),
            Note::Due(credit) => it.queue_credit(credit),
            Note::Credit(credit) => relay.credited(it, credit),
        }
        if !relay.is_busy(it) {
            self.start_relay(port, key);
        }
    }

    fn relay_frame(&mut self, port: usize, emission: Emission, key: Key) {
        let (it, now) = (&mut self.network.ports[port], time_of(key));
        let Some(relay) = &mut self.stations[port].relay else { return };
        let mut cells = emission.units();
        let first = cells.next().expect("a frame has a cell");
        let vc = self.ways.number(&first);
        let sent = relay.arrive(it, now, first, vc);
        relay.follow(it, now, cells, vc);
        if let Some(sent) = sent {
            self.started(port, first, sent);
        }
    }

    /// A line is free: let its port start the next credit cell or else the next cell.
    fn start_relay(&mut self, port: usize, key: Key) {
        let (it, now) = (&mut self.network.ports[port], time_of(key));
        if let Some((credit, sent)) = it.start_credit(now) {
            return self.credit_started(port, credit, sent);
        }
        let Some(relay) = &mut self.stations[port].relay else { return };
        if let Some((cell, sent)) = relay.send_next(it, now) {
            self.started(port, cell, sent);
        }
    }
}
