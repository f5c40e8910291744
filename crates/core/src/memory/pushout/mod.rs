//! Push-out from a memory: policies that remove waiting units at any port for an arriving one without room.
//!
//! The memory calls a policy when the thresholds allow an arriving unit, but the pool or the memory has no room for
//! it, and repeats this until the unit fits or the policy chooses nothing. One policy is one file. To add a policy,
//! write its file and add a line to the list below. A policy that ports with a buffer of their own can have as well
//! takes its arithmetic from its file in `buffer/pushout/`, which documents it.

use super::{Memory, SharedQueue};
use crate::buffer::pushout::longest_queue::End;
use crate::registry;

registry! {
    /// A push-out policy as a scenario specifies it: the `pushout` of a memory.
    "pushout" by "policy" {
        LongestQueue = "longest-queue" in longest_queue,
        Pushout2 = "pushout-2" in pushout_2,
    }

    /// The interface of a policy. Queues have their numbers within the memory.
    pub trait PushOut for Spec {
        /// Choose what to remove for the arriving unit; `None` if the unit itself is lost.
        fn choose(&self, full: &Full<'_>) -> Option<Cut>;
    }

    /// Return whether a policy removes all cells of a packet together, so that ports of the memory can send cells.
    pub const KEEPS_PACKETS: bool as Kind::keeps_packets;
}

/// What a single push-out removes from a queue of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// The waiting unit at one end.
    Unit(End),
    /// The first entire packet, of the longest circuit that has one.
    Packet,
    /// The head of the longest circuit, up to its first EOM.
    Head,
}

/// The piece of a queue that push-out removes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The queue.
    pub queue: usize,
    /// The piece.
    pub piece: Piece,
}

/// A memory in which an arriving unit finds no room.
pub struct Full<'a> {
    pub(super) memory: &'a Memory,
    /// The full pool, from whose queues units are removed; `None` if the memory is full but the pool is not.
    pub(super) pool: Option<usize>,
    /// The queue of the arriving unit.
    pub(super) own: usize,
    /// Cells of the unit.
    pub(super) size: u64,
    /// Content of the ports.
    pub(super) ports: &'a dyn Content,
}

/// The content of the ports that share a memory, by the memory's queues.
pub trait Content {
    /// Return whether a queue has such a piece, which waits.
    fn has(&self, queue: usize, piece: Piece) -> bool;

    /// Return the cells of a queue's unit in transmission.
    fn in_transmission(&self, queue: usize) -> u64;
}

impl Full<'_> {
    /// Return the queues from which units can be removed, with their lengths: the shared room that each uses.
    fn lengths(&self) -> impl Iterator<Item = (usize, u64)> + Clone {
        let gives = |other: &SharedQueue| self.pool.is_none_or(|pool| other.pool == pool);
        let queues = self.memory.queues.iter().enumerate().filter(move |(_, other)| gives(other));
        queues.map(|(number, other)| (number, other.shared()))
    }

    /// Return the cells of the arriving unit beyond the reserved room of its queue.
    fn beyond(&self) -> u64 {
        self.memory.queues[self.own].beyond_reserved(self.size)
    }

    /// Return whether the unit would find room if nothing waited at any port.
    fn can_fit(&self) -> bool {
        let Memory { queues, pools, promised, cells, .. } = self.memory;
        let pool = queues[self.own].pool;
        let (mut all, mut of_pool) = (0, 0);
        for (number, queue) in queues.iter().enumerate() {
            let arriving = if number == self.own { self.size } else { 0 };
            let held = self.ports.in_transmission(number) + arriving;
            let shared = held.saturating_sub(queue.limits.reserved);
            all += shared;
            of_pool += if queue.pool == pool { shared } else { 0 };
        }
        all + promised <= *cells && pools[pool].books.capacity().holds(of_pool)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::pushout as of_ports;
    use crate::language::spec::{Field, ParamSpec};
    use crate::language::tree::Node;
    use crate::memory::{Account, Charge, MemoryParts, QueueLimits, SharedPool, ThresholdCheck, sharing};
    use crate::units::{Rate, Time};

    /// Ports of three queues: what waits, by queue, and the cells that each sends.
    pub(super) struct Ports {
        pub(super) waiting: [&'static str; 3],
        pub(super) sending: [u64; 3],
    }

    impl Ports {
        /// Ports where these wait: `1` a unit, `p` an entire packet, `h` a head with an EOM.
        pub(super) fn new(waiting: &[&'static str; 3]) -> Ports {
            Ports { waiting: *waiting, sending: [1; 3] }
        }
    }

    impl Content for Ports {
        fn has(&self, queue: usize, piece: Piece) -> bool {
            let letter = match piece {
                Piece::Unit(_) => '1',
                Piece::Packet => 'p',
                Piece::Head => 'h',
            };
            self.waiting[queue].contains(letter)
        }

        fn in_transmission(&self, queue: usize) -> u64 {
            self.sending[queue]
        }
    }

    /// Build a memory of 30 cells with one pool, and queues of these lengths with `reserved` cells of reserved room each.
    pub(super) fn memory(lengths: &[u64], reserved: u64) -> Memory {
        let cells = 30;
        let scheme = sharing::Spec::read(&Node::named("policy", "complete-sharing"), "").unwrap();
        let scheme = scheme.build(&sharing::tests::context(&[])).unwrap();
        let promised = reserved * lengths.len() as u64;
        let pools = vec![SharedPool::new(cells - promised, lengths.len(), 0, scheme)];
        let limits = QueueLimits { reserved, ..QueueLimits::default() };
        let queue = |number| SharedQueue::new(limits, number, Rate(8_000_000), 0, number);
        let queues = (0..lengths.len()).map(queue).collect();
        let parts = MemoryParts { cells, check: ThresholdCheck::Before, pools, queues, pushout: None };
        let mut memory = Memory::new(parts);
        for (queue, &length) in lengths.iter().enumerate() {
            memory.take_in(Time(0), Account::new(queue, None), Charge::Shared, length);
        }
        memory
    }

    /// The names, units and defaults of parameters.
    fn outside(params: fn() -> Vec<ParamSpec>) -> Vec<(&'static str, Option<serde_json::Value>)> {
        params().into_iter().map(|param| (param.name, param.default)).collect()
    }

    #[test]
    fn every_policy_has_its_page_among_the_policies_of_ports() {
        for entry in CATALOGUE {
            let page = of_ports::CATALOGUE.iter().find(|page| page.name == entry.name);
            let page = page.unwrap_or_else(|| panic!("{}: list it in scenario/catalogue.rs", entry.name));
            let known = outside(page.params);
            for param in outside(entry.params) {
                assert!(known.contains(&param), "{}: {param:?}", entry.name);
            }
        }
    }

    #[test]
    fn a_policy_that_keeps_packets_never_removes_a_single_unit() {
        let memory = memory(&[9, 9, 9], 0);
        for policy in Spec::plain() {
            let waiting = &["1", "1", "1"];
            let full = Full { memory: &memory, pool: None, own: 0, size: 1, ports: &Ports::new(waiting) };
            let cut = policy.choose(&full);
            assert!(!policy.kind().keeps_packets() || cut.is_none(), "{}: {cut:?}", policy.name());
        }
    }
}
