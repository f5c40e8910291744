//! Ports that are asked about every unit: arrivals that concern other ports, actions of memories, and control frames.
//!
//! # What it assumes
//! What waits at a port with a free line is held by a gate, and so is all behind it in its queue, so that a port that loses a
//! packet for another port has nothing to start.
//!
//! # Why that is exact
//! It is the definition, which both engines share; each only schedules the events that it returns.
//!
//! # What turns it off
//! A memory without push-out and without a policy that expels: its ports depend on each other only in what fits. Lines without
//! pauses and credits: they carry no control frames.

use std::collections::VecDeque;

use super::questions::number_at_port;
use crate::buffer::pushout::longest_queue::End;
use crate::kernel::queue::{Class, Event};
use crate::link::control::{Control, PauseFrame};
use crate::link::port::Loss;
use crate::memory::Signal;
use crate::memory::pushout::{Cut, Piece};
use crate::network::Network;
use crate::scenario::model::Scenario;
use crate::unit::Unit;
use crate::units::Time;
use crate::units::ids::PortVc;
use crate::verdict::Verdict;

/// Handle the arrival of a unit at a port, as its circuit `vc` there. If its memory makes room by push-out, other ports
/// may lose packets for it: the port of a loss is that of the unit's hop.
pub(super) fn arrive(
    network: &mut Network,
    now: Time,
    (port, vc): (usize, PortVc),
    unit: Unit,
    losses: &mut Vec<Loss>,
) {
    if !network.pushes_out(port) {
        return network.at(port, |port, circuits| {
            port.arrive(now, unit, vc, number_at_port(circuits), losses);
        });
    }
    let elastic = !network.ports[port].is_rest(&unit, vc) && network.victim(port, vc, &unit).is_some();
    let verdict = network.at(port, |port, _| port.consult(now, unit, vc, elastic));
    if elastic && matches!(verdict, Verdict::Accept | Verdict::Mark(_)) {
        while let Some((other, cut)) = network.victim(port, vc, &unit) {
            network.at(other, |port, circuits| {
                port.expel(now, cut, number_at_port(circuits), losses);
            });
        }
    }
    network.at(port, |port, circuits| {
        port.conclude(verdict, now, unit, vc, number_at_port(circuits), losses);
    });
}

/// Memories that act by themselves: they expel packets and pause senders.
#[derive(Clone)]
pub(super) struct ActingMemories {
    /// For every port its memory, if that acts by itself; empty if none does.
    of: Vec<Option<usize>>,
    /// The next action of each memory.
    clocks: Vec<Time>,
    /// Number of the first memory as the entity of an event: it follows the last port.
    first: usize,
}

impl ActingMemories {
    /// The memories of a network at time zero.
    pub(super) fn new(scenario: &Scenario, network: &Network) -> ActingMemories {
        let clocks = vec![Time::NEVER; scenario.memories.len()];
        ActingMemories { of: network.acting_memories(), clocks, first: scenario.lines.len() }
    }

    /// Return the memory of a port, if it acts by itself.
    #[inline]
    pub(super) fn of(&self, port: usize) -> Option<usize> {
        *self.of.get(port)?
    }

    /// Return the memory whose clock the entity of an event stands for.
    pub(super) fn ticking(&mut self, entity: usize) -> Option<usize> {
        let memory = entity.checked_sub(self.first)?;
        self.clocks[memory] = Time::NEVER;
        Some(memory)
    }

    /// Run the actions of a memory that are due now: lose packets that it expels, at any port, and repeat pauses. Return the
    /// event of its next action, unless an earlier one is scheduled.
    pub(super) fn act(
        &mut self,
        network: &mut Network,
        memory: usize,
        now: Time,
        losses: &mut Vec<Loss>,
    ) -> Option<Event> {
        let repeats = network.repeat_pauses(memory, now);
        let expels = loop {
            match network.expulsion(memory, now) {
                Some(Ok((port, queue))) => network.at(port, |port, circuits| {
                    let cut = Cut { queue, piece: Piece::Unit(End::Head) };
                    port.expel(now, cut, number_at_port(circuits), losses);
                }),
                Some(Err(time)) => break Some(time),
                None => break None,
            }
        };
        let next = expels.into_iter().chain(repeats).min().filter(|next| *next < self.clocks[memory])?;
        self.clocks[memory] = next;
        Some(Event::new(next, Class::Tick, (self.first + memory) as u32))
    }
}

/// Control frames in flight.
#[derive(Clone)]
pub(super) struct Controls {
    /// For each port the frames in flight to it, with their arrivals; empty if there can be none.
    in_flight: Vec<VecDeque<(Time, Control)>>,
    /// For each line the line in the other direction.
    back: Vec<Option<usize>>,
}

impl Controls {
    /// Prepare for the control frames of a scenario; none is in flight yet.
    pub(super) fn new(scenario: &Scenario) -> Controls {
        let has_credits = scenario.lines.iter().any(|line| line.port.gates.credit.is_some());
        let can_be = has_credits || scenario.paused_lines().contains(&true);
        let ports = if can_be { scenario.lines.len() } else { 0 };
        let back = scenario.lines.iter().map(|line| line.back).collect();
        Controls { in_flight: vec![VecDeque::new(); ports], back }
    }

    /// Return whether there can be any.
    #[inline]
    pub(super) fn can_be(&self) -> bool {
        !self.in_flight.is_empty()
    }

    /// Return the line of the opposite direction, over which control frames for `line` travel.
    pub(super) fn back(&self, line: usize) -> usize {
        self.back[line].expect("control frames go against the data of a line")
    }

    /// Take the signals of a memory to senders, each with the port that sends it as a pause frame.
    pub(super) fn of_memory(&self, network: &mut Network, memory: usize) -> Vec<(usize, Control)> {
        let frame = |Signal { line, class, stops }| {
            (self.back(line), Control::Pause(PauseFrame { class, memory: memory as u32, stops }))
        };
        network.take_signals(memory).into_iter().map(frame).collect()
    }

    /// Put a frame on its way to a port; returns the event of its arrival, unless another one arrives before.
    pub(super) fn send(&mut self, port: usize, arrives: Time, control: Control) -> Option<Event> {
        let frames = &mut self.in_flight[port];
        frames.push_back((arrives, control));
        (frames.len() == 1).then(|| Event::new(arrives, Class::Credit, port as u32))
    }

    /// Take the frame that reaches a port now; returns the event of the next one as well.
    pub(super) fn arrive(&mut self, port: usize) -> (Control, Option<Event>) {
        let frames = &mut self.in_flight[port];
        let (_, control) = frames.pop_front().expect("what arrives was in flight");
        let next = frames.front().map(|&(time, _)| Event::new(time, Class::Credit, port as u32));
        (control, next)
    }
}
