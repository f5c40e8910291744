//! The hosts: what is kept of every end of a flow beside its transport.
//!
//! # What it assumes
//! An end of a flow is a host for this purpose.
//!
//! # What it skips
//! The circuit: hosts count what they send and receive.
//!
//! # Why that is exact
//! The sums are put into the circuits at the end.
//!
//! # What turns it off
//! Nothing.
//!
//! # What it saves
//! Half a line of the cache a packet. Not measured by itself.

use crate::kernel::queue::{Class, Event};
use crate::network::circuit::Tally;
use crate::network::end::End;
use crate::scenario::model::Scenario;
use crate::units::Time;

/// An end of a flow: both ends of one share a line of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(crate) struct Host {
    /// For which instant it is in the agenda; a call for any other instant is out of date.
    called: Time,
    /// Packets that have arrived and that have set out.
    arrived: u64,
    sent: u64,
    /// Packets that will arrive although it acts ahead of time: the part of the run that is being computed ends before.
    pub(crate) awaited: u32,
    /// The first step of the way of what it sends.
    first: u32,
}

impl Host {
    /// A host whose packets set out at this step.
    fn new(first: u32) -> Host {
        Host { called: Time::NEVER, arrived: 0, sent: 0, awaited: 0, first }
    }

    /// A packet sets out: at which step, and which one is it?
    #[inline(always)]
    pub(crate) fn send(&mut self) -> (u32, u64) {
        self.sent += 1;
        (self.first, self.sent - 1)
    }

    /// A packet arrives.
    #[inline(always)]
    pub(crate) fn receive(&mut self) {
        self.arrived += 1;
    }

    /// The instant for which it is called; no timer of it goes off before that.
    #[inline(always)]
    pub(crate) fn called(&self) -> Time {
        self.called
    }

    /// The event that calls this end, whose number it is, for its next timer, unless it will be called before that anyway.
    #[inline(always)]
    pub(crate) fn call(&mut self, entity: usize, due: Option<Time>) -> Option<Event> {
        let time = due.filter(|time| *time < self.called)?;
        self.called = time;
        Some(Event::new(time, Class::Timer, entity as u32))
    }

    /// Such an event comes: is it up to date?
    pub(crate) fn answer(&mut self, now: Time) -> bool {
        let is_due = self.called == now;
        if is_due {
            self.called = Time::NEVER;
        }
        is_due
    }
}

/// The hosts of all flows, where the way of each circuit begins at such a step.
pub(crate) fn hosts(scenario: &Scenario, first: &[u32]) -> Vec<Host> {
    let host = |vc: Option<usize>| Host::new(vc.map_or(0, |vc| first[vc]));
    scenario.flows.iter().flat_map(|flow| [host(Some(flow.vc)), host(flow.back)]).collect()
}

/// What the hosts have counted, by circuit: packets sent, and packets arrived.
pub(crate) fn tallies(scenario: &Scenario, hosts: &[Host]) -> Vec<Tally> {
    let mut tallies = vec![Tally::default(); scenario.vcs.len()];
    for (flow, ends) in scenario.flows.iter().zip(hosts.chunks_exact(2)) {
        let [source, sink] = [ends[End::Source as usize], ends[End::Sink as usize]];
        for (vc, from, to) in [(Some(flow.vc), source, sink), (flow.back, sink, source)] {
            if let Some(vc) = vc {
                tallies[vc].sent += from.sent;
                tallies[vc].arrived += to.arrived;
            }
        }
    }
    tallies
}
