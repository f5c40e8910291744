//! Pauses of classes that must lose nothing: the headroom of their pools, and the lines on which they can work.

use std::collections::BTreeSet;

use super::contract::Passing;
use super::file::PoolSection;
use super::model::{Line, Medium, MemoryQueue, NodeMemory, Scenario, Vc};
use crate::units::ids::{IdVec, LineId};

/// A refusal: the class, the key of its section, and the message.
pub(super) type PauseRefusal = (String, &'static str, String);

impl Scenario {
    /// Return for every line whether a memory at its end pauses it.
    pub(crate) fn paused_lines(&self) -> IdVec<LineId, bool> {
        let mut paused = IdVec::filled(false, self.lines.len());
        let queues = self.memories.iter().flat_map(|memory| &memory.queues);
        for queue in queues.filter(|queue| queue.limits.pause.is_some()) {
            paused[queue.line] = true;
        }
        paused
    }

    /// Return whether a memory at the end of a line, or a storm, may stop a class there.
    pub(crate) fn stops_class(&self, line: LineId, class: u32) -> bool {
        let mut pauses =
            self.memories.iter().flat_map(|memory| &memory.queues).filter(|queue| queue.line == line);
        pauses.any(|queue| queue.limits.pause.is_some_and(|pause| pause.class == class))
            || self
                .storms
                .iter()
                .any(|storm| storm.line == line && storm.class.is_none_or(|own| own == class))
    }

    /// Return for every line whether it can be paused, by a memory at its end or from outside.
    pub(crate) fn stopped_lines(&self) -> IdVec<LineId, bool> {
        let mut stopped = self.paused_lines();
        self.storms.iter().for_each(|storm| stopped[storm.line] = true);
        stopped
    }

    /// Return pairs of lines that memories can pause, of which the first may wait for the second: packets of a route go from the one to
    /// the other. Only those are returned from which such pairs lead on, and to which others lead: all that could be part of a cycle.
    pub(crate) fn pause_cycles(&self) -> Vec<[LineId; 2]> {
        let paused = self.paused_lines();
        if !paused.iter().any(|is_paused| *is_paused) {
            return Vec::new();
        }
        let routes = self.vcs.iter().flat_map(Vc::routes);
        let pairs = routes.flat_map(|path| path.windows(2).map(|pair| [pair[0], pair[1]]));
        let pairs: BTreeSet<[LineId; 2]> =
            pairs.filter(|pair| pair.iter().all(|line| paused[*line])).collect();
        let (mut pairs, mut count) = (Vec::from_iter(pairs), 0);
        while pairs.len() != std::mem::replace(&mut count, pairs.len()) {
            let mut ends = [IdVec::filled(false, self.lines.len()), IdVec::filled(false, self.lines.len())];
            pairs.iter().for_each(|[from, to]| (ends[0][*from], ends[1][*to]) = (true, true));
            pairs.retain(|[from, to]| ends[1][*from] && ends[0][*to]);
        }
        pairs
    }
}

/// Set the headroom of every pool for which the scenario gives none to what its queues may take together.
pub(super) fn settle_headroom(
    memory: &mut NodeMemory,
    asked: &[(String, PoolSection)],
) -> Result<(), PauseRefusal> {
    for (index, pool) in memory.pools.iter_mut().enumerate() {
        let own = memory.queues.iter().filter(|queue| queue.pool == index);
        let pausing = own.filter_map(|queue| Some((queue, queue.limits.pause?.xoff)));
        let together: u64 = pausing.clone().map(|(_, xoff)| xoff).sum();
        if asked[index].1.headroom.is_some() || together == 0 {
            continue;
        }
        if together > pool.shared {
            let (largest, _) = pausing.max_by_key(|(_, xoff)| *xoff).expect("some queue takes headroom");
            let message = format!(
                "must leave shared room in the pool {:?}; its queues may take {together} cells of headroom, and it has {}; \
                 give the pool a headroom that they share",
                pool.name, pool.shared
            );
            return Err((largest.class.clone(), "pause.xoff", message));
        }
        (pool.headroom, pool.shared) = (together, pool.shared - together);
    }
    Ok(())
}

/// Refuse pauses of lines on which they cannot work. `removes` returns whether the memory of a section removes
/// waiting packets.
pub(super) fn check_lines(
    scenario: &Scenario,
    passing: &Passing,
    memory: &NodeMemory,
    removes: impl Fn(&str) -> bool,
) -> Result<(), PauseRefusal> {
    for queue in memory.queues.iter().filter(|queue| queue.limits.pause.is_some()) {
        let refuse = |why: String| Err((queue.class.clone(), "pause", format!("must be left out: {why}")));
        if let Some(why) = misfit(scenario, queue) {
            return refuse(why);
        }
        let Line { name, port, .. } = &scenario.lines[queue.line];
        let mut classes: Vec<usize> =
            passing.at(queue.line).iter().map(|&vc| scenario.vcs[vc].queue).collect();
        classes.sort_unstable();
        classes.dedup();
        let mixes = classes.len() > 1 && !port.scheduler.separates_classes();
        if mixes && port.memory.as_deref().is_some_and(&removes) {
            return refuse(format!(
                "the memory of the port {name:?} removes packets that wait, and that port has one queue for several classes; \
                 choose a scheduler with a queue for each circuit, as in scheduler = {{ policy = \"drr\" }}"
            ));
        }
    }
    Ok(())
}

/// Return the reason why the line before a queue cannot be paused; `None` if it can.
fn misfit(scenario: &Scenario, queue: &MemoryQueue) -> Option<String> {
    let line = &scenario.lines[queue.line];
    if line.medium == Medium::Cells {
        return Some(format!("the line {:?} carries cells, and pauses are for packets", line.name));
    }
    let Some(back) = line.back.map(|back| &scenario.lines[back]) else {
        return Some(format!(
            "the line {:?} has no other direction on which pauses could travel (its link has duplex = false)",
            line.name
        ));
    };
    back.port.gates.delays_controls().map(|gate| {
        format!("the port {:?}, which sends the pauses, has {gate} that would delay them", back.name)
    })
}
