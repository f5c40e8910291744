//! What ports and memories do to other ports: push-out for an arrival, actions of memories and gates, control frames.
//!
//! # What it assumes
//! A unit that waits at a port with a free line is held by a gate, and so are all units behind it in its queue. So a
//! port that loses a packet for another port has no unit to start.
//!
//! # Why that is exact
//! Both engines call these functions; each engine only schedules the events that they return.
//!
//! # What turns it off
//! A memory without push-out and without a policy that expels: there a port affects the others only by the room that
//! it takes. Lines without pauses and credits: they carry no control frames.

use std::collections::VecDeque;

use crate::buffer::pushout::longest_queue::End;
use crate::kernel::queue::{Class, Event};
use crate::link::control::{Control, PauseFrame};
use crate::link::port::Loss;
use crate::memory::pushout::{Cut, Piece};
use crate::memory::{Memory, Signal};
use crate::network::Network;
use crate::scenario::model::Scenario;
use crate::unit::Unit;
use crate::units::Time;
use crate::units::ids::{IdVec, LineId, MemoryId, PortVc};
use crate::verdict::Verdict;

/// Handle the arrival of a unit at a port, where its circuit has the number `vc`. If the port's memory makes room by
/// push-out, other ports may lose packets for the unit; the hop of a lost unit gives the port that lost it.
pub(super) fn arrive(
    network: &mut Network,
    now: Time,
    (port, vc): (LineId, PortVc),
    unit: Unit,
    losses: &mut Vec<Loss>,
) {
    let can_push_out = network.pushes_out(port)
        && !network.ports[port].is_rest(&unit, vc)
        && network.victim(now, port, vc, &unit).is_some();
    if !can_push_out {
        return network.at(port, |port| {
            port.arrive(now, unit, vc, losses);
        });
    }
    let mut verdict = network.at(port, |port| port.consult(now, unit, vc));
    while matches!(verdict, Verdict::Accept | Verdict::Mark(_))
        && let Some((other, cut)) = network.victim(now, port, vc, &unit)
    {
        let cut = network.at(other, |port| port.expel(now, cut, losses));
        let is_own = |circuit: PortVc| (other, circuit) == (port, vc);
        // if a newer frame begins to arrive, the frame that was cut arrives no longer
        if let Some((circuit, fragment)) = cut.filter(|(cut, _)| !(is_own(*cut) && unit.is_first())) {
            network.at(other, |port| port.break_frame(circuit, fragment));
            if is_own(circuit) {
                verdict = network.at(port, |port| port.judge_again(verdict, now, unit, vc));
                break;
            }
        }
    }
    network.at(port, |port| {
        port.conclude(verdict, now, unit, vc, losses);
    });
}

/// Memories that act at instants of their own: they expel packets and pause senders.
#[derive(Clone)]
pub(super) struct ActingMemories {
    /// For every port its memory, if this memory acts at instants of its own; empty if no memory does.
    of: IdVec<LineId, Option<MemoryId>>,
    /// Time of the next action of each memory.
    clocks: IdVec<MemoryId, Time>,
    /// Whether each memory may expel packets.
    expels: IdVec<MemoryId, bool>,
    /// Event entity of the first memory: the entities of memories follow those of ports.
    first: usize,
}

impl ActingMemories {
    /// Build the record of the memories of a network at time zero.
    pub(super) fn new(scenario: &Scenario, network: &Network) -> ActingMemories {
        let clocks = IdVec::filled(Time::NEVER, scenario.memories.len());
        let expels = network.memories().map(Memory::is_expelling).collect();
        ActingMemories { of: network.acting_memories(), clocks, expels, first: scenario.lines.len() }
    }

    /// Return whether a memory has something to do now, after a packet has joined or left it: it may expel packets, has signals for
    /// senders, or repeats pauses. Its clock shows the first repetition, or an earlier instant.
    #[inline]
    pub(super) fn are_due(&self, network: &Network, memory: MemoryId, now: Time) -> bool {
        self.expels[memory] || self.clocks[memory] <= now || network.has_signals(memory)
    }

    /// Return the memory of a port, if this memory acts at instants of its own.
    #[inline]
    pub(super) fn of(&self, port: LineId) -> Option<MemoryId> {
        *self.of.get(port)?
    }

    /// Return the memory whose clock has this event entity, if there is one.
    pub(super) fn ticking(&mut self, entity: usize) -> Option<MemoryId> {
        let memory = MemoryId::new(entity.checked_sub(self.first)?);
        self.clocks[memory] = Time::NEVER;
        Some(memory)
    }

    /// Run the actions of a memory that are due now: discard the packets that it expels, at any port, and repeat
    /// pauses. Return the event of the memory's next action, unless an earlier event is scheduled.
    pub(super) fn act(
        &mut self,
        network: &mut Network,
        memory: MemoryId,
        now: Time,
        losses: &mut Vec<Loss>,
    ) -> Option<Event> {
        let repeats = network.repeat_pauses(memory, now);
        let expels = loop {
            match network.expulsion(memory, now) {
                Some(Ok((port, queue))) => network.at(port, |port| {
                    let cut = Cut { queue, piece: Piece::Unit(End::Head) };
                    let _ = port.expel(now, cut, losses); // a single unit breaks no frame
                }),
                Some(Err(time)) => break Some(time),
                None => break None,
            }
        };
        let next = expels.into_iter().chain(repeats).min().filter(|next| *next < self.clocks[memory])?;
        self.clocks[memory] = next;
        Some(Event::new(next, Class::Tick, (self.first + memory.index()) as u32))
    }
}

/// Ports with gates that act at instants of their own: pauses from outside begin and end there, watchdogs act, and classes may be
/// sent again.
#[derive(Clone)]
pub(super) struct GateClocks {
    /// Time of the next action at each port; empty if no gate acts by itself.
    clocks: IdVec<LineId, Time>,
    /// Whether a gate may let a class start again at an instant that is known.
    can_open: bool,
    /// Event entity of the first port: the entities of such ports follow those of memories and of messages of receivers.
    first: usize,
}

impl GateClocks {
    /// Build the clocks of a network at time zero.
    pub(super) fn new(scenario: &Scenario) -> GateClocks {
        let lines = scenario.lines.len();
        let can_open = scenario.has_timed_gates();
        let can_act = can_open || scenario.stopped_lines().iter().any(|stops| *stops);
        let clocks = IdVec::filled(Time::NEVER, if can_act { lines } else { 0 });
        GateClocks { clocks, can_open, first: 2 * lines + scenario.memories.len() }
    }

    /// Return the port whose gates have this event entity, if there is one.
    #[inline]
    pub(super) fn port_of(&self, entity: usize) -> Option<LineId> {
        entity.checked_sub(self.first).map(LineId::new)
    }

    /// Have the gates of a port act that do so by themselves now; return whether the event was still valid.
    pub(super) fn act(
        &mut self,
        network: &mut Network,
        port: LineId,
        now: Time,
        losses: &mut Vec<Loss>,
    ) -> bool {
        if self.clocks[port] != now {
            return false;
        }
        self.clocks[port] = Time::NEVER;
        network.at(port, |port| port.act(now, losses));
        true
    }

    /// Return the event of the next action of a port's gates, unless an earlier event is scheduled.
    pub(super) fn next(&mut self, network: &Network, port: LineId) -> Option<Event> {
        let time = network.ports.get(port).filter(|_| !self.clocks.is_empty())?.next_action()?;
        self.call(port, time)
    }

    /// Return the event at which a gate lets a unit start that waits at a port whose line is free, unless an earlier event is
    /// scheduled.
    #[inline]
    pub(super) fn opening(&mut self, network: &Network, port: LineId, now: Time) -> Option<Event> {
        if !self.can_open {
            return None;
        }
        let time = network.ports[port].opens(now)?;
        self.call(port, time)
    }

    /// Return the event of an action of a port's gates at this time, unless an earlier event is scheduled.
    fn call(&mut self, port: LineId, time: Time) -> Option<Event> {
        let clock = &mut self.clocks[port];
        (time < *clock).then(|| {
            *clock = time;
            Event::new(time, Class::Tick, (self.first + port.index()) as u32)
        })
    }
}

/// Control frames in flight.
#[derive(Clone)]
pub(super) struct Controls {
    /// For each port the frames in flight to it, with their arrival times; empty if the scenario has no control
    /// frames.
    in_flight: IdVec<LineId, VecDeque<(Time, Control)>>,
    /// For each line the line in the other direction.
    back: IdVec<LineId, Option<LineId>>,
}

impl Controls {
    /// Prepare for the control frames of a scenario; no frame is in flight yet.
    pub(super) fn new(scenario: &Scenario) -> Controls {
        let has_credits = scenario.lines.iter().any(|line| line.port.gates.credit.is_some());
        let can_be = has_credits || scenario.stopped_lines().iter().any(|stops| *stops);
        let ports = if can_be { scenario.lines.len() } else { 0 };
        let back = scenario.lines.iter().map(|line| line.back).collect();
        Controls { in_flight: IdVec::filled(VecDeque::new(), ports), back }
    }

    /// Return whether the scenario can have control frames.
    #[inline]
    pub(super) fn can_be(&self) -> bool {
        !self.in_flight.is_empty()
    }

    /// Return the line of the opposite direction, over which control frames for `line` travel.
    pub(super) fn back(&self, line: LineId) -> LineId {
        self.back[line].expect("control frames go against the data of a line")
    }

    /// Remove the pause signals of a memory, and return them as pause frames, each with the port that sends it.
    pub(super) fn of_memory(&self, network: &mut Network, memory: MemoryId) -> Vec<(LineId, Control)> {
        let frame = |Signal { line, class, stops }| {
            (self.back(line), Control::Pause(PauseFrame { class, memory: memory.0, stops }))
        };
        network.take_signals(memory).into_iter().map(frame).collect()
    }

    /// Put a frame on its way to a port; returns the event of its arrival, unless another frame arrives at this port
    /// before.
    pub(super) fn send(&mut self, port: LineId, arrives: Time, control: Control) -> Option<Event> {
        let frames = &mut self.in_flight[port];
        frames.push_back((arrives, control));
        (frames.len() == 1).then(|| Event::new(arrives, Class::Credit, port.0))
    }

    /// Remove and return the frame that reaches a port now, and the event of the next frame.
    pub(super) fn arrive(&mut self, port: LineId) -> (Control, Option<Event>) {
        let frames = &mut self.in_flight[port];
        let (_, control) = frames.pop_front().expect("what arrives was in flight");
        let next = frames.front().map(|&(time, _)| Event::new(time, Class::Credit, port.0));
        (control, next)
    }
}
