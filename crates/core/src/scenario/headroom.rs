//! The headroom that links need if their senders can be paused, compared with the headroom that memories have.

use super::contract::{Passing, passing_circuits};
use super::file::PauseSection;
use super::model::{Flow, Line, MemoryQueue, NodeMemory, Scenario};
use super::pauses::PauseRefusal;
use super::warning::Warning;
use crate::link::control::PAUSE_OCTETS;
use crate::memory::headroom::{Link, Terms};
use crate::memory::response::PauseLevel;
use crate::source::Source;
use crate::transport::{self, Transport};
use crate::units::Span;
use crate::units::ids::{CircuitId, IdVec, MemoryId};

/// The headroom of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headroom {
    /// Number of the memory, and number of the queue in it.
    pub queue: (MemoryId, usize),
    /// Cells of headroom that the queue may take.
    pub given: u64,
    /// Cells of headroom that the queue's link needs.
    pub needed: u64,
    /// Number of lines that share the headroom of the queue's pool.
    pub lines: u64,
    /// Number of these lines that can use the headroom at once, counted from the lines that need most.
    pub lines_at_once: u64,
    /// Cells that all these lines need together.
    pub all_need: u64,
    /// Cells of headroom of the pool.
    pub pool: u64,
    /// The link of the queue.
    pub link: Link,
}

/// Verdict about headroom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadroomVerdict {
    /// The headroom suffices even if all senders must stop at once.
    Enough,
    /// The headroom suffices as long as at most [`Headroom::lines_at_once`] senders must stop at once.
    Shared,
    /// The headroom does not even suffice for this link alone.
    TooLittle,
}

impl HeadroomVerdict {
    /// Return the words for this verdict in the output of `explain`.
    pub fn word(self) -> &'static str {
        match self {
            HeadroomVerdict::Enough => "enough",
            HeadroomVerdict::Shared => "shared",
            HeadroomVerdict::TooLittle => "too little",
        }
    }
}

impl Headroom {
    /// Return the verdict on the headroom.
    pub fn verdict(&self) -> HeadroomVerdict {
        match () {
            () if self.given < self.needed => HeadroomVerdict::TooLittle,
            () if self.lines_at_once < self.lines => HeadroomVerdict::Shared,
            () => HeadroomVerdict::Enough,
        }
    }
}

/// Return the headroom of every queue that can pause its sender.
pub fn headrooms(scenario: &Scenario) -> Vec<Headroom> {
    if !scenario.paused_lines().iter().any(|pauses| *pauses) {
        return Vec::new();
    }
    let passing = passing_circuits(scenario);
    let links = Links::new(scenario, &scenario.memories, &passing);
    scenario.memories.pairs().flat_map(|(number, memory)| links.of_memory(number, memory)).collect()
}

/// Return the sentences of `explain` about each headroom.
pub(super) fn sentences(scenario: &Scenario) -> Vec<String> {
    let sentence = |headroom: Headroom| {
        let Headroom { queue: (memory, queue), given, needed, lines, lines_at_once, all_need, pool, .. } =
            headroom;
        let memory = &scenario.memories[memory];
        let MemoryQueue { class, line, .. } = &memory.queues[queue];
        let verdict = headroom.verdict();
        let shared = match verdict {
            HeadroomVerdict::Shared => format!(
                ": the {pool} cells of its pool are enough for {lines_at_once} of {lines} lines at once ({:.1} : 1)",
                all_need as f64 / pool.max(1) as f64
            ),
            _ => String::new(),
        };
        format!(
            "memory {:?}, class {class:?} over {:?}: the link needs {needed} cells of headroom, and may take {given}: {}{shared} ({})",
            memory.name,
            scenario.lines[*line].name,
            verdict.word(),
            sum(&headroom.link)
        )
    };
    headrooms(scenario).into_iter().map(sentence).collect()
}

/// Return the sum that gives the headroom of a link, in words.
fn sum(link: &Link) -> String {
    let Terms { waits, frames, cable, response, begun } = link.terms();
    let (first, (cells, octets)) = (link.cell.cells(begun), link.occupancy());
    let terms = [
        (waits, "before the pause frame in the other direction"),
        (frames, "for pause frames"),
        (cable, "on the cable and in the nodes"),
        (response, "until the sender obeys"),
        (begun, "of a packet that it has begun"),
    ];
    let given = terms.iter().filter(|(octets, _)| *octets > 0);
    let given: Vec<String> = given.map(|(octets, what)| format!("{octets} octets {what}")).collect();
    format!(
        "{first} cells for the packet that takes the first one, and at {cells} cells for each {octets} octets {}",
        given.join(", ")
    )
}

/// Set the thresholds of pauses that the links determine, and the times that their senders need to obey. `section` returns
/// what a class says about its pauses; the error has the class, its key and the message.
pub(super) fn settle<'s>(
    scenario: &Scenario,
    passing: &Passing,
    memories: &mut IdVec<MemoryId, NodeMemory>,
    section: impl Fn(&str) -> &'s PauseSection,
) -> Result<(), PauseRefusal> {
    for queue in memories.iter_mut().flat_map(|memory| &mut memory.queues) {
        let Some(pause) = &mut queue.limits.pause else { continue };
        let lines = [Some(queue.line), scenario.lines[queue.line].back];
        let mut lines = lines.into_iter().flatten().map(|line| &scenario.lines[line]);
        if let Some(line) = lines.find(|line| !line.is_steady()) {
            let why =
                "must be left out: headroom follows from a constant rate and delay, and one of the line";
            return Err((queue.class.clone(), "pause", format!("{why} {:?} changes", line.name)));
        }
        let Some(response) = section(&queue.class).response else { continue };
        let Line { name, rate, .. } = &scenario.lines[queue.line];
        pause.response = response.time(rate.peak()).map_err(|why| {
            (queue.class.clone(), "pause.response", format!("{why} (on the line {name:?})"))
        })?;
    }
    let links = Links::new(scenario, memories, passing);
    let link = |(number, memory): (MemoryId, &NodeMemory)| {
        let pausing = memory.queues.iter().enumerate().filter(|(_, queue)| queue.limits.pause.is_some());
        pausing.map(|(place, queue)| ((number, place), links.link(memory, queue))).collect::<Vec<_>>()
    };
    let needs: Vec<_> = memories.pairs().flat_map(link).collect();
    for ((number, place), link) in needs {
        let queue = &mut memories[number].queues[place];
        let (section, pause) =
            (section(&queue.class), queue.limits.pause.as_mut().expect("a class that pauses"));
        if section.xoff == PauseLevel::Auto {
            pause.xoff = link.headroom();
        }
        if section.xon == PauseLevel::Auto {
            pause.xon = link.resumption();
        }
    }
    Ok(())
}

/// Warn of links with too little headroom.
pub(super) fn warning(scenario: &Scenario) -> Option<Warning> {
    let found = headrooms(scenario);
    let mut short = found.iter().filter(|headroom| headroom.verdict() == HeadroomVerdict::TooLittle);
    let Some(&Headroom { queue: (memory, queue), given, needed, .. }) = short.next() else {
        return shared_warning(scenario, &found);
    };
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

/// Warn of headroom that not all lines of a pool may use at once.
fn shared_warning(scenario: &Scenario, found: &[Headroom]) -> Option<Warning> {
    let first = found.iter().find(|headroom| headroom.verdict() == HeadroomVerdict::Shared)?;
    let Headroom { queue: (memory, queue), lines, lines_at_once, all_need, pool, .. } = *first;
    let memory = &scenario.memories[memory];
    let queue = &memory.queues[queue];
    let message = format!(
        "class {:?} may lose packets although it pauses: the {pool} cells of headroom of pool {:?} of memory {:?} are enough for \
         {lines_at_once} of its {lines} lines at once; all of them need {all_need}",
        queue.class, memory.pools[queue.pool].name, memory.name
    );
    Some(Warning { code: "headroom", message })
}

/// A scenario, with facts about the packets on its links.
struct Links<'a> {
    scenario: &'a Scenario,
    memories: &'a IdVec<MemoryId, NodeMemory>,
    passing: &'a Passing,
    /// For every circuit the octets of the smallest packet that it carries in large numbers, IP header included.
    smallest: IdVec<CircuitId, u32>,
}

impl<'a> Links<'a> {
    fn new(
        scenario: &'a Scenario,
        memories: &'a IdVec<MemoryId, NodeMemory>,
        passing: &'a Passing,
    ) -> Links<'a> {
        Links { scenario, memories, passing, smallest: smallest_packets(scenario) }
    }

    /// Return the headroom of each queue of a memory that can pause its sender.
    fn of_memory(&self, number: MemoryId, memory: &NodeMemory) -> Vec<Headroom> {
        let pausing = memory.queues.iter().enumerate().filter(|(_, queue)| queue.limits.pause.is_some());
        let need = |(place, queue)| {
            let link = self.link(memory, queue);
            (place, queue, link.headroom(), link)
        };
        let needs: Vec<(usize, &MemoryQueue, u64, Link)> = pausing.map(need).collect();
        let headroom = |&(place, queue, needed, link): &(usize, &MemoryQueue, u64, Link)| {
            let pool = memory.pools[queue.pool].headroom;
            let mut others: Vec<u64> =
                needs.iter().filter(|other| other.1.pool == queue.pool).map(|other| other.2).collect();
            others.sort_unstable_by_key(|need| std::cmp::Reverse(*need));
            let used = others.iter().scan(0_u64, |used, need| {
                *used = used.saturating_add(*need);
                Some(*used)
            });
            Headroom {
                queue: (number, place),
                given: queue.limits.pause.map_or(0, |pause| pause.xoff).min(pool),
                needed,
                lines: others.len() as u64,
                lines_at_once: used.take_while(|used| *used <= pool).count() as u64,
                all_need: others.iter().fold(0, |sum, need| need.saturating_add(sum)),
                pool,
                link,
            }
        };
        needs.iter().map(headroom).collect()
    }

    /// Return the properties of the link over which the packets of a queue arrive.
    fn link(&self, memory: &NodeMemory, queue: &MemoryQueue) -> Link {
        let (Scenario { lines, nodes, vcs, .. }, memories) = (self.scenario, self.memories);
        let line = &lines[queue.line];
        let back_number = line.back.expect("a line that can be paused has another direction");
        let back = &lines[back_number];
        let class = pause_class(queue);
        let own = self.passing.at(queue.line).iter().filter(|&&vc| Some(vcs[vc].queue as u32) == class);
        let octets = |&vc: &CircuitId| vcs[vc].framing.shape(self.smallest[vc]).line_bytes();
        let data = own.clone().filter(|&&vc| vcs[vc].payload.is_some());
        let acks = own.clone().filter(|&&vc| vcs[vc].payload.is_none()).map(octets).max();
        let (smallest, acknowledgement) = match data.map(octets).min() {
            Some(smallest) => (smallest, acks),
            None => (acks.unwrap_or(1), None),
        };
        let largest = own.map(|&vc| vcs[vc].framing.shape(vcs[vc].packet).line_bytes());
        let returning = self.passing.at(back_number).iter();
        let returning = returning.map(|&vc| vcs[vc].framing.shape(vcs[vc].packet).line_bytes());
        let latency = |line: &Line| line.delay.least() + nodes[line.to].latency;
        let pausing = |other: &&MemoryQueue| other.line == queue.line && other.limits.pause.is_some();
        Link {
            rate: line.rate.peak(),
            back: back.rate.fixed(),
            delay: latency(line) + latency(back),
            response: queue.limits.pause.map_or(Span::ZERO, |pause| pause.response),
            packets: (smallest, largest.max().unwrap_or(1)),
            acknowledgement,
            largest_back: returning.max().map_or(0, |octets| back.octets(octets)),
            pause: back.octets(PAUSE_OCTETS.into()),
            frames: memories.iter().flat_map(|memory| &memory.queues).filter(pausing).count() as u64,
            cell: memory.cell,
        }
    }
}

fn pause_class(queue: &MemoryQueue) -> Option<u32> {
    queue.limits.pause.map(|pause| pause.class)
}

/// Return for every circuit the octets of the smallest packet that it carries in large numbers, IP header included.
fn smallest_packets(scenario: &Scenario) -> IdVec<CircuitId, u32> {
    let mut smallest: IdVec<CircuitId, u32> = scenario.vcs.iter().map(|vc| vc.packet).collect();
    for flow in &scenario.flows {
        smallest[flow.vc] = smallest[flow.vc].min(least(flow));
        if let Some(back) = flow.back {
            smallest[back] = smallest[back].min(flow.transport.header_bytes());
        }
    }
    smallest
}

/// Return the octets of the smallest packet of data that a flow may send in large numbers: a datagram, or a full
/// segment.
fn least(flow: &Flow) -> u32 {
    let headers = flow.transport.header_bytes();
    let length = flow.source.length().filter(|_| matches!(*flow.transport, transport::Spec::Udp(_)));
    length.map_or(u32::MAX, |length| headers + u32::try_from(length.shortest().0).unwrap_or(u32::MAX / 2))
}
