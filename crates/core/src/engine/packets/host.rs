//! The hosts: the state of every end of a flow outside its transport.
//!
//! # What it assumes
//! An end of a flow is a host in this file.
//!
//! # What it skips
//! Updates of the circuit: hosts count what they send and receive.
//!
//! # Why that is exact
//! The sums are added to the circuits at the end.
//!
//! # What it saves
//! Access to half a cache line per packet.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::route::Ends;
use crate::host::end::End;
use crate::kernel::queue::{Class, Event};
use crate::network::circuit::Tally;
use crate::scenario::model::{Flow, Scenario};
use crate::units::Time;
use crate::units::ids::{CircuitId, IdVec};

/// An end of a flow: both ends of one flow share a cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(crate) struct Host {
    /// Instant of the end's call in the agenda; a call at any other instant is outdated.
    called: Time,
    /// Number of packets that have arrived.
    arrived: u64,
    /// Number of packets sent.
    sent: u64,
    /// Packets in flight that a port has already forwarded, but that arrive after the part of the run that is being
    /// computed.
    pub(crate) awaited: u32,
    /// First step of the route of the end's packets.
    first: u32,
}

impl Host {
    /// Build an end whose packets start at this step.
    fn new(first: u32) -> Host {
        Host { called: Time::NEVER, arrived: 0, sent: 0, awaited: 0, first }
    }

    /// Count a packet that is sent; returns its first step and its number.
    #[inline(always)]
    pub(crate) fn send(&mut self) -> (u32, u64) {
        self.sent += 1;
        (self.first, self.sent - 1)
    }

    /// Count a packet that arrives.
    #[inline(always)]
    pub(crate) fn receive(&mut self) {
        self.arrived += 1;
    }

    /// Return the number of packets sent.
    pub(crate) fn sent(&self) -> u64 {
        self.sent
    }

    /// Return the number of packets that have arrived.
    pub(crate) fn arrived(&self) -> u64 {
        self.arrived
    }

    /// Return the instant of the end's call; none of its timers fires before it.
    #[inline(always)]
    pub(crate) fn called(&self) -> Time {
        self.called
    }

    /// Return the event that calls this end, given its number, for its next timer, unless an earlier call is pending.
    #[inline(always)]
    pub(crate) fn call(&mut self, entity: usize, due: Option<Time>) -> Option<Event> {
        let time = due.filter(|time| *time < self.called)?;
        self.called = time;
        Some(Event::new(time, Class::Timer, entity as u32))
    }

    /// Return whether a call that is due at `now` is still valid, and forget it if so.
    pub(crate) fn answer(&mut self, now: Time) -> bool {
        let is_due = self.called == now;
        if is_due {
            self.called = Time::NEVER;
        }
        is_due
    }
}

/// A host with several ends of flows that acts ahead of time.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedHost {
    /// Like [`Host::awaited`].
    pub(crate) awaited: u32,
    /// Calls of the host's ends, including outdated ones.
    calls: BinaryHeap<Reverse<(Time, u32)>>,
}

impl SharedHost {
    /// Add a call of an end; remove outdated calls before it.
    pub(crate) fn call(&mut self, hosts: &[Host], time: Time, entity: u32) {
        while self.calls.peek().is_some_and(|Reverse((time, end))| hosts[*end as usize].called != *time) {
            self.calls.pop();
        }
        self.calls.push(Reverse((time, entity)));
    }

    /// Remove and return the first call, if it is before `time`.
    pub(crate) fn take_before(&mut self, time: Time) -> Option<(Time, u32)> {
        let Reverse(first) = *self.calls.peek().filter(|Reverse((first, _))| *first < time)?;
        self.calls.pop();
        Some(first)
    }
}

/// All hosts.
#[derive(Debug)]
pub(crate) struct Hosts {
    pub(crate) ends: Vec<Host>,
    /// Hosts with several ends that act ahead of time.
    pub(crate) shared: Vec<SharedHost>,
    /// For each end the number of such a host, if it belongs to one.
    shared_by: Vec<Option<u32>>,
    /// The circuit on which each end of a flow receives packets.
    circuits: Vec<CircuitId>,
}

impl Hosts {
    /// Build the hosts of all flows; `begins` has the first step of each circuit's route.
    pub(crate) fn new(scenario: &Scenario, begins: &IdVec<CircuitId, u32>, ends: Ends) -> Hosts {
        let host = |vc: Option<CircuitId>| Host::new(vc.map_or(0, |vc| begins[vc]));
        let circuits_to = |flow: &Flow| [flow.back.unwrap_or(flow.vc), flow.vc];
        Hosts {
            ends: scenario.flows.iter().flat_map(|flow| [host(Some(flow.vc)), host(flow.back)]).collect(),
            shared: vec![SharedHost::default(); ends.shared],
            shared_by: ends.shared_by,
            circuits: scenario.flows.iter().flat_map(circuits_to).collect(),
        }
    }

    /// Return the circuit on which an end of a flow receives packets.
    pub(crate) fn circuit_to(&self, entity: usize) -> CircuitId {
        self.circuits[entity]
    }

    /// Record a call of an end at its host, if this host has several ends and acts ahead of time.
    #[inline]
    pub(crate) fn called(&mut self, event: &Event) {
        if let Some(host) = self.shared_by[event.entity as usize] {
            self.shared[host as usize].call(&self.ends, event.time, event.entity);
        }
    }
}

/// Return the counts of the hosts by circuit: packets sent, and packets arrived.
pub(crate) fn tallies(scenario: &Scenario, hosts: &[Host]) -> IdVec<CircuitId, Tally> {
    let mut tallies = IdVec::filled(Tally::default(), scenario.vcs.len());
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
