//! The headroom that links need whose senders can be paused, and whether they have it.

use super::Warning;
use super::contract::{Passing, passing_circuits};
use super::model::{Flow, Line, Memory, MemoryQueue, Scenario};
use crate::memory::headroom::Link;
use crate::network::paused_lines;
use crate::source::Source;
use crate::transport::{self, Transport};

/// The headroom of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headroom {
    /// The number of the memory, and of its queue.
    pub queue: (usize, usize),
    /// Cells that it may take.
    pub given: u64,
    /// Cells that the link needs.
    pub needed: u64,
}

/// The headroom of every queue that can pause its sender.
pub fn headrooms(scenario: &Scenario) -> Vec<Headroom> {
    if !paused_lines(scenario).contains(&true) {
        return Vec::new();
    }
    let links = Links { scenario, passing: passing_circuits(scenario), smallest: smallest_packets(scenario) };
    let mut found = Vec::new();
    for (number, memory) in scenario.memories.iter().enumerate() {
        for (place, queue) in memory.queues.iter().enumerate() {
            let Some(pause) = queue.limits.pause else { continue };
            let given = pause.xoff.min(memory.pools[queue.pool].headroom);
            let needed = links.link(memory, queue).headroom();
            found.push(Headroom { queue: (number, place), given, needed });
        }
    }
    found
}

/// What `explain` says about each.
pub(super) fn told(scenario: &Scenario) -> Vec<String> {
    let told = |headroom: Headroom| {
        let Headroom { queue: (memory, queue), given, needed } = headroom;
        let memory = &scenario.memories[memory];
        let MemoryQueue { class, line, .. } = &memory.queues[queue];
        let verdict = if given < needed { "too little" } else { "enough" };
        format!(
            "memory {:?}, class {class:?} over {:?}: the link needs {needed} cells of headroom, and may take {given}: {verdict}",
            memory.name, scenario.lines[*line].name
        )
    };
    headrooms(scenario).into_iter().map(told).collect()
}

/// A warning of links that have too little.
pub(super) fn warning(scenario: &Scenario) -> Option<Warning> {
    let mut short = headrooms(scenario).into_iter().filter(|headroom| headroom.given < headroom.needed);
    let Headroom { queue: (memory, queue), given, needed } = short.next()?;
    let MemoryQueue { class, line, .. } = &scenario.memories[memory].queues[queue];
    let others = match short.count() {
        0 => String::new(),
        others => format!(" ({others} other queues likewise)"),
    };
    let message = format!(
        "class {class:?} over {:?} may lose packets although it pauses: the link needs {needed} cells of headroom, not {given}; \
         raise pause.xoff, or the headroom of the pool{others}",
        scenario.lines[*line].name
    );
    Some(Warning { code: "headroom", message })
}

/// What the links of a scenario carry.
struct Links<'a> {
    scenario: &'a Scenario,
    passing: Passing,
    /// Octets of the smallest packet of every circuit, IP header included.
    smallest: Vec<u32>,
}

impl Links<'_> {
    /// The link over which the packets of a queue come.
    fn link(&self, memory: &Memory, queue: &MemoryQueue) -> Link {
        let Scenario { lines, nodes, vcs, memories, .. } = self.scenario;
        let line = &lines[queue.line];
        let back_number = line.back.expect("a line that can be paused has another direction");
        let back = &lines[back_number];
        let class = pause_class(queue);
        let own = self.passing[queue.line].iter().filter(|&&vc| Some(vcs[vc].queue as u32) == class);
        let smallest = own.clone().map(|&vc| vcs[vc].framing.shape(self.smallest[vc]).line_bytes());
        let largest = own.map(|&vc| vcs[vc].framing.shape(vcs[vc].packet).line_bytes());
        let returning = self.passing[back_number].iter();
        let returning = returning.map(|&vc| vcs[vc].framing.shape(vcs[vc].packet).line_bytes());
        let latency = |line: &Line| line.delay + nodes[line.to].latency;
        let pausing = |other: &&MemoryQueue| other.line == queue.line && other.limits.pause.is_some();
        Link {
            rate: line.rate,
            back: back.rate,
            delay: latency(line) + latency(back),
            packets: (smallest.min().unwrap_or(1), largest.max().unwrap_or(1)),
            largest_back: returning.max().unwrap_or(0),
            frames: memories.iter().flat_map(|memory| &memory.queues).filter(pausing).count() as u64,
            cell: memory.cell,
        }
    }
}

fn pause_class(queue: &MemoryQueue) -> Option<u32> {
    queue.limits.pause.map(|pause| pause.class)
}

/// Octets of the smallest packet of every circuit, IP header included.
fn smallest_packets(scenario: &Scenario) -> Vec<u32> {
    let mut smallest: Vec<u32> = scenario.vcs.iter().map(|vc| vc.packet).collect();
    for flow in &scenario.flows {
        let data = least(flow);
        smallest[flow.vc] = smallest[flow.vc].min(data);
        if let Some(back) = flow.back {
            smallest[back] = smallest[back].min(flow.transport.header_bytes());
        }
    }
    smallest
}

/// Octets of a flow's smallest packet.
fn least(flow: &Flow) -> u32 {
    let headers = flow.transport.header_bytes();
    match flow.source.length().filter(|_| matches!(*flow.transport, transport::Spec::Udp(_))) {
        Some(length) => headers + u32::try_from(length.shortest().0).unwrap_or(u32::MAX / 2),
        None => headers,
    }
}
