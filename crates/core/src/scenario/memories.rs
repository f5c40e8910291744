//! Ports that share a memory, and the limits of the classes of traffic in it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::contract::{Passing, context, contracts};
use super::file::{MarkAt, MemorySection, PauseSection, PoolSection, QueueSection, TrimSection};
use super::model::{
    Line, Medium, MemoryPool, MemoryQueue, NetworkNode, NodeMemory, Port, Scenario, Sections, Vc,
};
use super::{headroom, pauses};
use crate::adaptation::MAX_PACKET;
use crate::buffer::admission::{self, Admission};
use crate::buffer::capacity::Capacity;
use crate::buffer::context::{Outlet, QueueTerms};
use crate::buffer::size::{BufferSize, CellSize, Level, Measure};
use crate::language::item::Item;
use crate::language::names::name_fault;
use crate::language::registry::Entry;
use crate::language::spec::{Named, Nested, Section, read_section};
use crate::language::tree::{self, Fault, Value, join};
use crate::link::gate::credit;
use crate::link::gate::pause::MOST_CLASSES;
use crate::memory::sharing::{self, Sharing};
use crate::memory::{self, Account, QueueLimits, QueuePause, Side, Trim};
use crate::units::Span;
use crate::units::ids::{CircuitId, IdVec, LineId, MemoryId, NodeId, PoolQueue, PortVc};
use crate::words::nearest::unknown;

/// The sections `[memory.…]` and `[queue.…]` of a scenario.
#[derive(Debug)]
pub(super) struct Memories<'a> {
    memories: Vec<(&'a str, Item<'a, MemorySection>)>,
    queues: Vec<(&'a str, Item<'a, QueueSection>)>,
}

/// Greatest number of partitions: more than any chip has.
const MOST_PARTITIONS: u32 = 64;

/// Least octets of a packet that was cut: headers of IP and UDP.
const LEAST_HEADERS: u64 = 28;

/// Greatest number of cells: more than any chip has.
const MOST_CELLS: u64 = 1 << 40;

/// The properties of a memory that ports need: the size of its cells, and the number of cells of each partition.
#[derive(Clone, Copy, Debug)]
pub(super) struct MemoryCapacity {
    pub(super) cell: CellSize,
    pub(super) cells: u64,
}

/// Read the sections of one kind, with their names.
fn sections<'a, T: Section>(
    table: Option<&'a tree::Node>,
    kind: &str,
) -> Result<Vec<(&'a str, Item<'a, T>)>, Fault> {
    let Some(node) = table else { return Ok(Vec::new()) };
    let Value::Table(entries) = &node.value else {
        return Err(node.fault(kind, format!("{} is not a table: write [{kind}.NAME]", node.show())));
    };
    let section = |(key, section): &'a (tree::Key, tree::Node)| {
        let path = join(kind, &key.name);
        match name_fault(&key.name) {
            Some(message) => Err(Fault { place: key.place, path, message }),
            None => Ok((key.name.as_str(), Item::read(section, path)?)),
        }
    };
    entries.iter().map(section).collect()
}

/// Refuse policies that only ports can have, with a better message than "unknown policy".
fn check_policies(memory: Option<&tree::Node>) -> Result<(), Fault> {
    let Some(Value::Table(entries)) = memory.map(|node| &node.value) else { return Ok(()) };
    for (key, section) in entries {
        let policy = section.get("admission").and_then(|table| table.get("policy"));
        let Some((policy, name)) = policy.and_then(|policy| Some((policy, policy.text()?))) else {
            continue;
        };
        let lists = |catalogue: &[Entry]| catalogue.iter().any(|entry| entry.name == name);
        if !lists(sharing::CATALOGUE) && lists(admission::CATALOGUE) {
            let takes = sharing::CATALOGUE.iter().map(|entry| entry.name).collect::<Vec<_>>().join(", ");
            let message =
                format!("{name:?} decides about one port, not about a memory; a memory takes: {takes}");
            return Err(policy.fault(&format!("memory.{}.admission.policy", key.name), message));
        }
    }
    Ok(())
}

/// Return the names of the classes of a scenario.
pub(super) fn queue_names(table: Option<&tree::Node>) -> Vec<&str> {
    match table.map(|node| &node.value) {
        Some(Value::Table(entries)) => entries.iter().map(|(key, _)| key.name.as_str()).collect(),
        _ => Vec::new(),
    }
}

impl<'a> Memories<'a> {
    /// Read the sections, and refuse those that no network can use.
    pub(super) fn read(
        memory: Option<&'a tree::Node>,
        queue: Option<&'a tree::Node>,
    ) -> Result<Memories<'a>, Fault> {
        check_policies(memory)?;
        let read = Memories { memories: sections(memory, "memory")?, queues: sections(queue, "queue")? };
        read.memories.iter().try_for_each(|(_, item)| check_memory(item))?;
        for (_, item) in &read.queues {
            let none = "no memory is given that flows could share: write [memory.NAME], or leave only what schedulers with a \
                        queue for each class use: priority, weight, minimum, maximum, cbs and burst";
            let plain: QueueSection = plain();
            let QueueSection { priority, weight, minimum, maximum, burst, .. } = plain;
            let own =
                QueueSection { priority, weight, minimum, maximum, burst, cbs: None, ..item.it.clone() };
            let of_schedulers = own == plain;
            if read.memories.is_empty() && !of_schedulers {
                return Err(item.node.fault(&item.path, none));
            }
            let is_weight = item.it.weight > 0.0 && item.it.weight.is_finite();
            item.ensure(is_weight, "weight", "must be greater than 0 and finite")?;
            read.check_queue(item)?;
        }
        Ok(read)
    }

    /// Return the sections of classes, by their names.
    pub(super) fn queues(&self) -> &[(&'a str, Item<'a, QueueSection>)] {
        &self.queues
    }

    /// Return the sections as they were written.
    pub(super) fn sections(&self) -> Sections {
        fn named<T: Clone>(items: &[(&str, Item<'_, T>)]) -> Named<T> {
            Named(items.iter().map(|(name, item)| (name.to_string(), item.it.clone())).collect())
        }
        Sections { memories: named(&self.memories), queues: named(&self.queues), ..Sections::default() }
    }

    /// Find the memory of this name; the error lists the allowed names.
    pub(super) fn find(&self, name: &str) -> Result<MemoryCapacity, String> {
        match self.memories.iter().find(|(known, _)| *known == name) {
            Some((_, item)) => Ok(shared(&item.it)),
            None => {
                Err(unknown("memory", name, &self.memories.iter().map(|(name, _)| *name).collect::<Vec<_>>()))
            }
        }
    }

    fn check_queue(&self, item: &Item<'_, QueueSection>) -> Result<(), Fault> {
        let QueueSection { pool, alpha, opposite, .. } = &item.it;
        self.check_alpha(item, "alpha", *alpha)?;
        if let Some(pool) = pool {
            self.check_pool(item, "pool", pool)?;
        }
        if item.it.pause.is_some() {
            self.check_pause(item)?;
        }
        if let Some(Nested(trim)) = &item.it.trim {
            self.check_trim(item, trim)?;
        }
        let Some(opposite) = opposite else { return Ok(()) };
        self.check_alpha(item, "opposite.alpha", opposite.0.alpha)?;
        self.check_pool(item, "opposite.pool", &opposite.0.pool)?;
        for (name, memory) in &self.memories {
            let pools = pools(&memory.it);
            let side = |pool: Option<&String>| place_of(&pools, pool).map(|place| pools[place].1.side);
            let message = format!(
                "must name a pool of the other side; in the memory {name:?} it and the pool of the class count on the same"
            );
            item.ensure(side(pool.as_ref()) != side(Some(&opposite.0.pool)), "opposite.pool", &message)?;
        }
        Ok(())
    }

    /// Return the number of a class.
    fn place_of_queue(&self, name: &str) -> Option<usize> {
        self.queues.iter().position(|(known, _)| *known == name)
    }

    /// Refuse cuts of a class that loses nothing, headers that are no headers, and a class for headers that does not exist
    /// or is the class itself.
    fn check_trim(&self, item: &Item<'_, QueueSection>, trim: &TrimSection) -> Result<(), Fault> {
        let message = "must be left out beside pause: nothing is refused of a class that pauses";
        item.ensure(item.it.pause.is_none(), "trim", message)?;
        let message =
            format!("must be from {LEAST_HEADERS} bytes, the headers of IP and UDP, to {MAX_PACKET}");
        item.ensure((LEAST_HEADERS..=MAX_PACKET).contains(&trim.size.0), "trim.size", &message)?;
        let Some(name) = &trim.queue else { return Ok(()) };
        let Some(place) = self.place_of_queue(name) else {
            let names: Vec<&str> = self.queues.iter().map(|(name, _)| *name).collect();
            return Err(item.fault("trim.queue", unknown("queue", name, &names)));
        };
        let (_, other) = &self.queues[place];
        let message = "must name another class; without this key headers are of the class of their packets";
        item.ensure(other.path != item.path, "trim.queue", message)?;
        let message = format!(
            "must name a class that does not pause, unlike {name:?}: what finds no room there is lost"
        );
        item.ensure(other.it.pause.is_none(), "trim.queue", &message)
    }

    /// Refuse pauses of a class that is not counted on the ingress side alone, or of more classes than Ethernet has
    /// priorities.
    fn check_pause(&self, item: &Item<'_, QueueSection>) -> Result<(), Fault> {
        let message = "must be left out beside pause: a packet that found no room there would be lost";
        item.ensure(item.it.opposite.is_none(), "opposite", message)?;
        for (name, memory) in &self.memories {
            let pools = pools(&memory.it);
            let side = place_of(&pools, item.it.pool.as_ref()).map(|place| pools[place].1.side);
            let message = format!(
                "must be left out unless the class takes its room from a pool of the ingress side (side = \"ingress\"), which \
                 it does not in the memory {name:?}"
            );
            item.ensure(side == Some(Side::Ingress), "pause", &message)?;
        }
        let pausing = self.queues.iter().filter(|(_, item)| item.it.pause.is_some()).count();
        let message =
            format!("must be left out: at most {MOST_CLASSES} classes can pause, and here {pausing} do");
        item.ensure(pausing <= MOST_CLASSES, "pause", &message)
    }

    fn check_alpha(&self, item: &Item<'_, QueueSection>, key: &str, alpha: Option<f64>) -> Result<(), Fault> {
        let Some(alpha) = alpha else { return Ok(()) };
        let is_factor = alpha > 0.0 && alpha.is_finite();
        item.ensure(is_factor, key, "must be greater than 0 and finite")?;
        let message = "must stand beside a policy with dynamic thresholds; give the memory \
                       admission = { policy = \"dynamic-threshold\" }";
        item.ensure(self.memories.iter().any(|(_, memory)| memory.it.admission.takes_alpha()), key, message)
    }

    fn check_pool(&self, item: &Item<'_, QueueSection>, key: &str, name: &String) -> Result<(), Fault> {
        for (memory, other) in &self.memories {
            let pools = pools(&other.it);
            if place_of(&pools, Some(name)).is_none() {
                let names: Vec<&str> = pools.iter().map(|(name, _)| name.as_str()).collect();
                let message = format!("{} (in the memory {memory:?})", unknown("pool", name, &names));
                return Err(item.fault(key, message));
            }
        }
        Ok(())
    }

    /// Build the memories of a network; each port already holds the name of its memory's section.
    pub(super) fn settled(
        &self,
        scenario: &Scenario,
        passing: &Passing,
    ) -> Result<IdVec<MemoryId, NodeMemory>, Fault> {
        let (mut memories, mut sections) = (Vec::new(), Vec::new());
        for (name, item) in &self.memories {
            let found = self.of_section(name, item, scenario, passing)?;
            let unused =
                "no port shares this memory: write memory in the section of a port, as in [port.default]";
            if found.is_empty() {
                return Err(item.node.fault(&item.path, unused));
            }
            sections.extend(found.iter().map(|_| item));
            memories.extend(found);
        }
        let mut memories: IdVec<MemoryId, NodeMemory> = memories.into();
        let refused = |(class, key, message): pauses::PauseRefusal| {
            let section = self.queues.iter().find(|(name, _)| *name == class);
            section.expect("only a class pauses").1.fault(key, message)
        };
        let pause = |class: &str| {
            let section = self.queues.iter().find(|(name, _)| *name == class);
            let pause = section.and_then(|(_, item)| item.it.pause.as_ref());
            pause.map(|Nested(pause)| pause).expect("only a class with pauses is asked about")
        };
        headroom::settle(scenario, passing, &mut memories, pause).map_err(refused)?;
        for (memory, item) in memories.iter_mut().zip(sections) {
            pauses::settle_headroom(memory, &pools(&item.it)).map_err(refused)?;
            let queues = BTreeMap::new();
            Builder { memories: self, item, scenario, passing, queues }.check(memory)?;
        }
        Ok(memories)
    }

    /// Build the memories of one section: one for each partition at each node.
    fn of_section(
        &self,
        name: &str,
        item: &Item<'a, MemorySection>,
        scenario: &Scenario,
        passing: &Passing,
    ) -> Result<Vec<NodeMemory>, Fault> {
        let mut nodes: BTreeMap<NodeId, Vec<LineId>> = BTreeMap::new();
        for (index, line) in scenario.lines.pairs() {
            if line.port.memory.as_deref() == Some(name) {
                nodes.entry(line.from).or_default().push(index);
            }
        }
        let (several, partitions) = (nodes.len() > 1, item.it.partitions as usize);
        let mut memories = Vec::new();
        for (node, ports) in nodes {
            for partition in 0..partitions.min(ports.len()) {
                let at = if several { format!("@{}", scenario.nodes[node].name) } else { String::new() };
                let part = if partitions > 1 { format!("/{}", partition + 1) } else { String::new() };
                let own: Vec<LineId> = ports.iter().skip(partition).step_by(partitions).copied().collect();
                let builder = Builder { memories: self, item, scenario, passing, queues: BTreeMap::new() };
                memories.push(builder.build(format!("{name}{at}{part}"), node, &own)?);
            }
        }
        Ok(memories)
    }
}

/// Return the pools of a memory; if the section lists none, one pool for all queues.
fn pools(memory: &MemorySection) -> Vec<(String, PoolSection)> {
    match memory.pool.0.is_empty() {
        true => vec![("all".to_string(), plain())],
        false => memory.pool.0.clone(),
    }
}

/// Return a section with defaults for all keys.
fn plain<T: Section>() -> T {
    let empty = tree::Node { value: Value::Table(Vec::new()), place: Default::default() };
    read_section(&empty, "").expect("every key has a default")
}

/// Return the index of a pool, by default of the first.
fn place_of(pools: &[(String, PoolSection)], name: Option<&String>) -> Option<usize> {
    name.map_or(Some(0), |name| pools.iter().position(|(known, _)| known == name))
}

/// Return the size of the cells that packets fill in a memory, and the overhead of a packet.
fn cell_size(memory: &MemorySection) -> CellSize {
    let octets = |bytes: u64| u16::try_from(bytes).expect("a checked size");
    CellSize { octets: octets(memory.cell.0), header: octets(memory.header.0) }
}

fn shared(memory: &MemorySection) -> MemoryCapacity {
    let cell = cell_size(memory);
    let cells = memory.size.memory_cells(cell).expect("a checked size") / u64::from(memory.partitions);
    MemoryCapacity { cell, cells }
}

/// Refuse values in the section of a memory that are impossible whatever ports share it.
fn check_memory(item: &Item<'_, MemorySection>) -> Result<(), Fault> {
    let MemorySection { size, cell, header, partitions, .. } = &item.it;
    let most = u64::from(u16::MAX);
    let message = format!("must be from 1 to {most} bytes");
    item.ensure((1..=most).contains(&cell.0), "cell", &message)?;
    item.ensure(header.0 <= most, "header", &format!("must be at most {most} bytes"))?;
    let message = format!("must be from 1 to {MOST_PARTITIONS}");
    item.ensure((1..=MOST_PARTITIONS).contains(partitions), "partitions", &message)?;
    let Some(cells) = size.memory_cells(cell_size(&item.it)) else {
        let message = "must be in cells of the memory or in bytes, as in \"240086 cells\" or \"12 MB\"";
        return Err(item.fault("size", message));
    };
    item.ensure(cells <= MOST_CELLS, "size", &format!("must be at most {MOST_CELLS} cells"))?;
    let message = format!("must be at least one cell of {} bytes for each partition", cell.0);
    item.ensure(cells / u64::from(*partitions) > 0, "size", &message)?;
    check_sides(item)
}

/// Refuse push-out and expulsion where they are impossible.
fn check_sides(item: &Item<'_, MemorySection>) -> Result<(), Fault> {
    let Some(key) = removing_key(&item.it) else { return Ok(()) };
    let mut pools = item.it.pool.0.iter();
    match pools.find(|(_, pool)| pool.side == Side::Ingress) {
        None => Ok(()),
        Some((name, _)) => {
            let what = if key == "admission" { item.it.admission.name() } else { key };
            let message =
                format!("must be \"egress\" beside {what}, which removes packets from the queues of ports");
            item.ensure(false, &format!("pool.{name}.side"), &message)
        }
    }
}

/// Return the key by which a memory removes packets that wait, if it has one.
fn removing_key(memory: &MemorySection) -> Option<&'static str> {
    let expels = memory.admission.kind().expels();
    memory.pushout.as_ref().map(|_| "pushout").or(expels.then_some("admission"))
}

/// The pool in which a class is counted on one side, and the terms of the class there.
struct ClassTerms {
    pool: usize,
    limits: QueueLimits,
    alpha: Option<f64>,
}

/// A memory of one node that is being built, with the queues found so far.
struct Builder<'a, 'b> {
    memories: &'b Memories<'a>,
    item: &'b Item<'a, MemorySection>,
    scenario: &'b Scenario,
    passing: &'b Passing,
    /// The number of each queue, by pool, line and class.
    queues: BTreeMap<(usize, LineId, usize), usize>,
}

impl Builder<'_, '_> {
    fn build(mut self, name: String, node: NodeId, own: &[LineId]) -> Result<NodeMemory, Fault> {
        self.check_links(own)?;
        let MemoryCapacity { cell, cells } = shared(&self.item.it);
        let mut memory = NodeMemory {
            name,
            node,
            cells,
            cell,
            check: self.item.it.dt_check,
            sharing: self.item.it.admission.clone(),
            pushout: self.item.it.pushout.clone(),
            pools: self.pools()?,
            queues: Vec::new(),
            ports: Vec::new(),
            trims: BTreeMap::new(),
        };
        for &port in own {
            let accounts = self.passing.at(port).iter().map(|&vc| self.account(&mut memory, port, vc));
            let accounts = Arc::new(accounts.collect::<Result<_, _>>()?);
            memory.ports.push((port, accounts));
            let trims = self.passing.at(port).iter().map(|&vc| self.trim(&mut memory, port, vc));
            let trims = trims.collect::<Result<IdVec<PortVc, _>, _>>()?;
            if trims.iter().any(Option::is_some) {
                memory.trims.insert(port, Arc::new(trims));
            }
            self.check_marks(port)?;
        }
        let refused = |(class, key, message): pauses::PauseRefusal| {
            let section = self.memories.queues.iter().find(|(name, _)| *name == class);
            section.expect("only a class pauses").1.fault(key, message)
        };
        let removes = |name: &str| {
            self.memories
                .memories
                .iter()
                .any(|(other, item)| *other == name && removing_key(&item.it).is_some())
        };
        pauses::check_lines(self.scenario, self.passing, &memory, removes).map_err(refused)?;
        Ok(memory)
    }

    /// Refuse a memory that would remove single cells of packets where links carry cells, and push-out of packets
    /// where the cells of several circuits mix in one queue.
    fn check_links(&self, own: &[LineId]) -> Result<(), Fault> {
        let MemorySection { admission, pushout, .. } = &self.item.it;
        let lines = own.iter().map(|&line| &self.scenario.lines[line]);
        let Some(line) = lines.clone().find(|line| line.medium == Medium::Cells) else { return Ok(()) };
        if let Some(pushout) = pushout {
            let others = memory::pushout::Kind::ALL.iter().filter(|kind| kind.goes_by_frames());
            let others: Vec<&str> = others.map(|other| other.name()).collect();
            let message = format!(
                "must push out by frames where ports send cells, as the port {:?} does; these policies do: {}",
                line.name,
                others.join(", ")
            );
            self.item.ensure(pushout.kind().goes_by_frames(), "pushout", &message)?;
            let mut cells = lines.filter(|line| line.medium == Medium::Cells);
            let queues = |line: &Line| line.port.scheduler.check_queues(pushout.name());
            cells.try_for_each(queues).map_err(|refused| self.item.refuse("pushout", refused))?;
        }
        let message =
            "must be a policy that expels nothing where ports send cells: this one would break packets";
        self.item.ensure(!admission.kind().expels(), "admission", message)
    }

    /// Build the pools; at first their shared room is everything but the headroom.
    fn pools(&self) -> Result<Vec<MemoryPool>, Fault> {
        let partitions = u64::from(self.item.it.partitions);
        let pool = |(name, pool): &(String, PoolSection)| {
            let level = |key: &str, level| {
                let key = format!("pool.{name}.{key}");
                self.level(level).map(|cells| cells / partitions).map_err(|why| self.item.fault(&key, why))
            };
            let none = Level::Size(BufferSize::Cells(0));
            let (size, headroom) =
                (level("size", pool.size)?, level("headroom", pool.headroom.unwrap_or(none))?);
            let message = format!("must be at most the size of the pool, which is {size} cells");
            self.item.ensure(headroom <= size, &format!("pool.{name}.headroom"), &message)?;
            let (name, side, shared) = (name.clone(), pool.side, size - headroom);
            Ok(MemoryPool { name, side, shared, headroom, terms: Vec::new() })
        };
        pools(&self.item.it).iter().map(pool).collect()
    }

    /// Convert a level within the whole memory to cells.
    fn level(&self, level: Level) -> Result<u64, String> {
        let MemoryCapacity { cell, cells } = shared(&self.item.it);
        let all = Capacity::limited(cells * u64::from(self.item.it.partitions));
        level.within(Measure::MemoryCells(cell), all)
    }

    /// Return the queues in which a circuit is counted at a port; add new ones.
    fn account(&mut self, memory: &mut NodeMemory, port: LineId, vc: CircuitId) -> Result<Account, Fault> {
        let Vc { queue: class, unscheduled, .. } = self.scenario.vcs[vc];
        let account = self.account_of(memory, port, vc, class)?;
        if unscheduled == class {
            return Ok(account);
        }
        for class in [class, unscheduled] {
            self.check_unscheduled(class)?;
        }
        let first = self.account_of(memory, port, vc, unscheduled)?;
        Ok(account.with_unscheduled(first.queue()))
    }

    /// Refuse limits of a class that are impossible if the packets of a circuit belong to two classes.
    fn check_unscheduled(&self, class: usize) -> Result<(), Fault> {
        let Some((_, item)) = self.memories.queues.get(class) else { return Ok(()) };
        let message =
            "must be left out: flows with transport.unscheduled have packets of this class and of another";
        item.ensure(item.it.opposite.is_none(), "opposite", message)?;
        item.ensure(item.it.trim.is_none(), "trim", message)?;
        item.ensure(item.it.pause.is_none(), "pause", message)
    }

    /// Refuse marks at dequeue at a port that cannot set them.
    fn check_marks(&self, port: LineId) -> Result<(), Fault> {
        let line = &self.scenario.lines[port];
        let classes: BTreeSet<usize> =
            self.passing.at(port).iter().map(|&vc| self.scenario.vcs[vc].queue).collect();
        for (_, item) in classes.into_iter().filter_map(|class| self.memories.queues.get(class)) {
            if item.it.mark.as_ref().is_none_or(|Nested(mark)| mark.at != MarkAt::Dequeue) {
                continue;
            }
            let (name, policy) = (&line.name, &line.port.admission);
            let cells = format!(
                "must be \"arrival\" at the port {name:?}, where a frame is judged at its first cell"
            );
            item.ensure(line.medium == Medium::Packets, "mark.at", &cells)?;
            let message = format!(
                "must be \"arrival\" at the port {name:?}, whose policy {:?} decides about packets that arrive; the policy step can \
                 decide when they leave",
                policy.name()
            );
            item.ensure(!policy.marks_arrivals_only(), "mark.at", &message)?;
        }
        Ok(())
    }

    /// Return how packets of a circuit are cut at a port that the memory refuses, if they are.
    fn trim(&mut self, memory: &mut NodeMemory, port: LineId, vc: CircuitId) -> Result<Option<Trim>, Fault> {
        let Some((_, item)) = self.memories.queues.get(self.scenario.vcs[vc].queue) else { return Ok(None) };
        let Some(Nested(TrimSection { size, queue })) = &item.it.trim else { return Ok(None) };
        let line = &self.scenario.lines[port];
        let cells = format!("must be left out: the port {:?} sends cells, which cannot be cut", line.name);
        item.ensure(line.medium == Medium::Packets, "trim", &cells)?;
        let size = u16::try_from(size.0).expect("a checked size");
        let class = queue.as_ref().map(|name| self.memories.place_of_queue(name).expect("a checked class"));
        let account = class.map(|class| self.account_of(memory, port, vc, class)).transpose()?;
        Ok(Some(Trim { size, account }))
    }

    /// Return the queues in which packets of one class of a circuit are counted at a port; add new ones.
    fn account_of(
        &mut self,
        memory: &mut NodeMemory,
        port: LineId,
        vc: CircuitId,
        class: usize,
    ) -> Result<Account, Fault> {
        let default = plain();
        let section = self.memories.queues.get(class).map_or(&default, |(_, item)| &item.it);
        let known = pools(&self.item.it);
        let pool = |name: Option<&String>| place_of(&known, name).expect("a checked pool");
        let level = |name: &str, level| {
            self.level(level).map_err(|why| self.memories.queues[class].1.fault(name, why))
        };
        let limit = |name: &str, limit: Option<Level>| limit.map(|limit| level(name, limit)).transpose();
        let limits = QueueLimits {
            reserved: level("reserved", section.reserved)?,
            limit: limit("limit", section.limit)?,
            pause: section.pause.as_ref().map(|Nested(pause)| self.pause(class, pause)).transpose()?,
        };
        let own = ClassTerms { pool: pool(section.pool.as_ref()), limits, alpha: section.alpha };
        let other = match &section.opposite {
            Some(other) => {
                let limits =
                    QueueLimits { limit: limit("opposite.limit", other.0.limit)?, ..QueueLimits::default() };
                Some(ClassTerms { pool: pool(Some(&other.0.pool)), limits, alpha: other.0.alpha })
            }
            None => None,
        };
        let queue = self.queue(memory, port, vc, class, own)?;
        let other = other.map(|other| self.queue(memory, port, vc, class, other)).transpose()?;
        Ok(Account::new(queue, other))
    }

    /// Return the pause thresholds of a class, in cells.
    fn pause(&self, class: usize, pause: &PauseSection) -> Result<QueuePause, Fault> {
        let level = |name: &str, level| {
            let key = format!("pause.{name}");
            self.level(level).map_err(|why| self.memories.queues[class].1.fault(&key, why))
        };
        Ok(QueuePause {
            class: class as u32,
            xoff: pause.xoff.level().map_or(Ok(0), |xoff| level("xoff", xoff))?,
            xon: pause.xon.level().map_or(Ok(0), |xon| level("xon", xon))?,
            xon_offset: pause.xon_offset.map(|offset| level("xon_offset", offset)).transpose()?,
            response: Span::ZERO, // follows with the line
        })
    }

    /// Return the number of a queue; add the queue if this is its first circuit.
    fn queue(
        &mut self,
        memory: &mut NodeMemory,
        port: LineId,
        vc: CircuitId,
        class: usize,
        terms: ClassTerms,
    ) -> Result<usize, Fault> {
        let ClassTerms { pool, limits, alpha } = terms;
        let spec = &self.scenario.vcs[vc];
        let line = match memory.pools[pool].side {
            Side::Egress => port,
            Side::Ingress => self.incoming(spec, port, &memory.pools[pool].name)?,
        };
        let promised = self.promised(line, memory.pools[pool].side);
        let limits = QueueLimits { reserved: limits.reserved.max(promised), ..limits };
        let count = self.queues.len();
        let section = self.memories.queues.get(class);
        let priority = section.and_then(|(_, item)| item.it.priority).unwrap_or_default();
        let name = section.map_or("all", |(name, _)| name);
        Ok(*self.queues.entry((pool, line, class)).or_insert_with(|| {
            let of_pool = &mut memory.pools[pool].terms;
            let number = PoolQueue::new(of_pool.len());
            let Line { rate, minimum, .. } = &self.scenario.lines[line];
            let outlet = Outlet { line, rate: rate.mean(), minimum: *minimum };
            of_pool.push(QueueTerms { alpha, priority, outlet });
            memory.queues.push(MemoryQueue { class: name.to_string(), line, pool, number, limits });
            count
        }))
    }

    /// Return the line over which packets of a circuit arrive at a port.
    fn incoming(&self, spec: &Vc, port: LineId, pool: &str) -> Result<LineId, Fault> {
        let before = |path: &[LineId]| path.windows(2).find(|pair| pair[1] == port).map(|pair| pair[0]);
        let lines: BTreeSet<LineId> = spec.routes().filter_map(before).collect();
        if let (Some(&line), 1) = (lines.first(), lines.len()) {
            return Ok(line);
        }
        let message = format!(
            "must count at the egress side, because packets of {:?} come to {:?} over {} lines: set side = \"egress\", or give \
             flows one route",
            spec.name,
            self.scenario.lines[port].name,
            lines.len()
        );
        Err(self.item.fault(&format!("pool.{pool}.side"), message))
    }

    /// Subtract reserved room from the shared room of every pool; refuse more than the pool has, and a sharing scheme
    /// that cannot be built.
    fn check(&self, memory: &mut NodeMemory) -> Result<(), Fault> {
        let mut promised = 0;
        for (index, pool) in memory.pools.iter_mut().enumerate() {
            let own = memory.queues.iter().filter(|queue| queue.pool == index);
            let reserved: u64 = own.clone().map(|queue| queue.limits.reserved).sum();
            promised += reserved + pool.headroom;
            if reserved > pool.shared {
                let promises = own.clone().any(|queue| self.promised(queue.line, pool.side) > 0);
                let largest = own.max_by_key(|queue| queue.limits.reserved);
                return Err(self.too_much(
                    pool,
                    largest.map_or("", |queue| &queue.class),
                    reserved,
                    promises,
                ));
            }
            pool.shared -= reserved;
        }
        let scheme = |pool| {
            let scheme = memory.scheme(pool, self.scenario);
            scheme.map_err(|refused| self.item.refuse("admission", refused))
        };
        let schemes = memory.pools.iter().map(scheme).collect::<Result<Vec<_>, _>>()?;
        self.check_frames(memory, schemes.iter().any(Sharing::judges_frames))?;
        memory.makes_room(self.scenario).map_err(|refused| self.item.refuse("pushout", refused))?;
        let cells = memory.cells;
        let message = format!(
            "must be at least {promised} cells, which its queues reserve or its pools keep as headroom, in every partition"
        );
        self.item.ensure(promised <= cells, "size", &message)
    }

    /// Refuse a policy of the memory that decides about whole frames, as `judges_frames` says of its admission, if a
    /// port loses single cells of frames.
    fn check_frames(&self, memory: &NodeMemory, judges_frames: bool) -> Result<(), Fault> {
        let by_frames = judges_frames.then(|| memory.sharing.name());
        let pushout = memory.pushout.as_ref().filter(|pushout| pushout.kind().goes_by_frames());
        let refusing = by_frames.map(|name| ("admission", name, "refuses whole frames"));
        let removing =
            pushout.map(|pushout| ("pushout", pushout.name(), "pushes out by frames and refuses others"));
        let Some((key, name, does)) = refusing.or(removing) else { return Ok(()) };
        let Some(line) = memory.ports.iter().find_map(|(port, _)| self.splitting(*port)) else {
            return Ok(());
        };
        let message = format!(
            "{name:?} {does}, and {:?} at the port {:?} would send the rest of them: give the port a policy by frames, as in \
             admission = {{ policy = \"ppd\" }}",
            line.port.admission.name(),
            line.name
        );
        Err(self.item.fault(key, message))
    }

    /// Return the line of a port if the port handles cells and its policy may lose some cells of a frame and keep
    /// others.
    fn splitting(&self, port: LineId) -> Option<&Line> {
        let line = &self.scenario.lines[port];
        let contracts = contracts(self.scenario, line, self.passing.at(port));
        let policy = line.port.admission.build(&context(self.scenario, line, &contracts)).ok()?;
        (line.medium == Medium::Cells && policy.properties().splits_frames).then_some(line)
    }

    /// Return the cells that credits of a line grant to each class in a pool of this side.
    fn promised(&self, line: LineId, side: Side) -> u64 {
        reserved(&self.scenario.lines[line], side, cell_size(&self.item.it))
    }

    /// Build the fault of too much reserved room in a pool: `class` reserves most, and credits may be the reason
    /// (`promises`).
    fn too_much(&self, pool: &MemoryPool, class: &str, reserved: u64, promises: bool) -> Fault {
        let why = if promises { ", as credits of lines promise" } else { "" };
        let message = format!(
            "must leave shared room in the pool {:?}; its queues reserve {reserved} cells{why}, and without headroom it has {}",
            pool.name, pool.shared
        );
        match self.memories.queues.iter().find(|(name, _)| *name == class) {
            Some((_, item)) => item.fault("reserved", message),
            None => self.item.fault(&format!("pool.{}.size", pool.name), message), // credits without classes
        }
    }
}

/// Note at the ports of memories that they cut packets: headers overtake others there.
pub(super) fn note_trims(scenario: &mut Scenario) {
    for &port in scenario.memories.iter().flat_map(|memory| memory.trims.keys()) {
        let line = &mut scenario.lines[port];
        line.port = Arc::new(Port { trims: true, ..Port::clone(&line.port) });
    }
}

/// Return whether a port can share a memory; it must be at a switch or router.
pub(super) fn is_at_switch(line: &Line, nodes: &IdVec<NodeId, NetworkNode>) -> bool {
    nodes[line.from].kind != super::model::NodeKind::Host
}

/// Return the cells of a memory that must be reserved for each class that arrives over a line, if the line has
/// credits for classes.
fn reserved(line: &Line, side: Side, cell: CellSize) -> u64 {
    let is_own = |credit: &&credit::Spec| side == Side::Ingress && !credit.is_per_circuit();
    let credit = line.port.gates.credit.as_ref().filter(is_own);
    credit.map_or(0, |credit| credit.promised(Measure::MemoryCells(cell)))
}
