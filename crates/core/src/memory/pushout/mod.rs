//! Push-out from a memory: policies that remove waiting units at any port for an arriving one without room.
//!
//! The memory calls a policy when the thresholds allow an arriving unit, but the pool or the memory has no room for
//! it, and repeats this until the unit fits or the policy chooses nothing. One policy is one file. To add a policy,
//! write its file and add a line to the list below. A policy that ports with a buffer of their own can have as well
//! takes its arithmetic from its file in `buffer/pushout/`, which documents it.

use std::cmp::Reverse;

use super::{Memory, SharedQueue};
use crate::buffer::admission::Failure;
use crate::buffer::pushout::Fallback;
use crate::buffer::pushout::longest_queue::End;
use crate::buffer::pushout::pushout_3::LastEom;
use crate::buffer::size::Measure;
use crate::refused::Refused;
use crate::registry;
use crate::rng::{Dice, Keyed, NameKeys, Subject};
use crate::units::{Rate, Time};

registry! {
    /// A push-out policy as a scenario specifies it: the `pushout` of a memory.
    "pushout" by "policy" {
        LongestQueue = "longest-queue" in longest_queue,
        Pushout1 = "pushout-1" in pushout_1,
        Pushout2 = "pushout-2" in pushout_2,
        Pushout3 = "pushout-3" in pushout_3,
        QuasiPushout = "quasi-pushout" in quasi_pushout,
        Program = "program" in program,
    }

    /// The interface of a policy. Queues have their numbers within the memory.
    pub trait PushOut for Policy {
        /// Choose what to remove for the arriving unit; `None` if the unit itself is lost. A memory may ask more than once
        /// before it removes anything.
        fn choose(&mut self, full: &Full<'_>) -> Option<Cut>;

        /// Return the greatest occupancy of a memory of `capacity` at which the policy removes nothing. A memory calls it only for a unit
        /// that finds no room.
        fn quiet_up_to(&self, capacity: u64) -> u64 {
            capacity
        }

        /// Return whether the memory reports every queue that has received or sent a unit.
        fn watches(&self) -> bool {
            false
        }

        /// Record that a queue has received or sent a unit.
        fn changed(&mut self, queues: &[SharedQueue], queue: usize) {}

        /// Return what the choice depends on besides the lengths of queues.
        fn depends_on(&self) -> Option<&str> {
            None
        }

        /// Return the reason why the policy could not compute a choice, if it failed: the run has no result.
        fn failure(&self) -> Option<&Failure> {
            None
        }
    }

    /// Return whether a policy removes what the frames of circuits give it, so that ports of the memory can send cells.
    pub const GOES_BY_FRAMES: bool as Kind::goes_by_frames;
}

/// Facts about its memory that a policy may use before the run.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// The cells of the memory.
    pub cells: u64,
    /// Unit in which the memory counts.
    pub measure: Measure,
    /// The rate of the line of each queue.
    pub rates: &'a [Rate],
    /// Seed of the run.
    pub seed: u64,
    /// Name of the memory.
    pub name: &'a str,
    /// Keys of the circuits of the network, by their names.
    pub circuits: &'a NameKeys,
}

impl Context<'_> {
    /// Return random numbers for a policy in this memory, each keyed by the unit for which it makes room.
    fn dice(&self, policy: &str) -> Dice {
        let keyed = Keyed::new(self.seed, format_args!("memory.{}.{policy}", self.name));
        Dice::new(keyed.about_circuits(self.circuits))
    }
}

/// What a single push-out removes from a queue of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece {
    /// The waiting unit at one end.
    Unit(End),
    /// The first entire packet, of the longest circuit that has one.
    Packet,
    /// The head up to its first EOM, of the longest circuit that has one.
    Head {
        /// Whether the EOM stays if the receiver has a part of the frame.
        keep_eom: bool,
    },
    /// The tail behind the last EOM, of the longest circuit that has one; with this EOM if it goes as well.
    Tail(LastEom),
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
    /// The present instant.
    pub(super) now: Time,
    /// The arriving unit, for which random numbers are drawn.
    pub(super) subject: Subject,
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
    /// Return whether the queue of a cut has the piece, which waits.
    fn has(&self, queues: &[SharedQueue], cut: Cut) -> bool;

    /// Return the cells of a queue's unit in transmission.
    fn in_transmission(&self, queues: &[SharedQueue], queue: usize) -> u64;
}

/// A policy with which the longest queue loses such a piece, or what the fallback says. Queues within their reserved room
/// are excluded, since removing from them frees no room for others.
#[derive(Clone, Debug)]
pub struct ByLength {
    piece: Piece,
    fallback: Fallback,
}

impl ByLength {
    /// Build the policy of one memory.
    pub fn new<P>(params: &P, _: &Context<'_>) -> Result<ByLength, Refused>
    where
        ByLength: for<'a> From<&'a P>,
    {
        Ok(ByLength::from(params))
    }
}

impl PushOut for ByLength {
    fn choose(&mut self, full: &Full<'_>) -> Option<Cut> {
        if !full.can_fit() {
            return None; // packets would be lost for nothing
        }
        let ByLength { piece, fallback } = *self;
        let longest = full.longest(|queue| full.has(queue, Piece::Unit(End::Head)))?;
        let next = || full.cut(full.longest(|queue| full.has(queue, piece))?, piece);
        let head = || full.cut(longest, Piece::Head { keep_eom: false });
        fallback.choose(full.cut(longest, piece), next, head)
    }
}

impl Full<'_> {
    /// Return the queues from which units can be removed, with their lengths: the shared room that each uses.
    fn lengths(&self) -> impl Iterator<Item = (usize, u64)> + Clone {
        let gives = |other: &SharedQueue| self.pool.is_none_or(|pool| other.pool == pool);
        let queues = self.memory.queues.iter().enumerate().filter(move |(_, other)| gives(other));
        queues.map(|(number, other)| (number, other.shared()))
    }

    /// Return whether a queue has such a piece, which waits.
    fn has(&self, queue: usize, piece: Piece) -> bool {
        self.ports.has(&self.memory.queues, Cut { queue, piece })
    }

    /// Return the cut of such a piece of a queue, if removing it frees room.
    fn cut(&self, queue: usize, piece: Piece) -> Option<Cut> {
        let SharedQueue { pool, .. } = self.memory.queues[queue];
        let gives = self.pool.is_none_or(|full| full == pool) && self.memory.queues[queue].shared() > 0;
        (gives && self.has(queue, piece)).then_some(Cut { queue, piece })
    }

    /// Return the longest queue that satisfies `will_do`; among equals the one with the lowest number.
    fn longest(&self, will_do: impl Fn(usize) -> bool) -> Option<usize> {
        let queues = self.lengths().filter(|&(queue, length)| length > 0 && will_do(queue));
        queues.max_by_key(|&(queue, length)| (length, Reverse(queue))).map(|(queue, _)| queue)
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
            let held = self.ports.in_transmission(queues, number) + arriving;
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
    use crate::buffer::size::CellSize;
    use crate::language::spec::{Field, ParamSpec};
    use crate::language::tree::Node;
    use crate::memory::{Account, Charge, MemoryParts, QueueLimits, SharedPool, ThresholdCheck, sharing};
    use crate::rng::UNNAMED;
    use crate::unit::Unit;
    use crate::units::ids::{LineId, PoolQueue};

    /// Ports of three queues: what waits, by queue, and the cells that each sends.
    pub(super) struct Ports {
        pub(super) waiting: [&'static str; 3],
        pub(super) sending: [u64; 3],
    }

    impl Ports {
        /// Ports where these wait: `1` a unit, `p` an entire packet, `h` a head with an EOM, `t` a tail without one.
        pub(super) fn new(waiting: &[&'static str; 3]) -> Ports {
            Ports { waiting: *waiting, sending: [1; 3] }
        }
    }

    impl Content for Ports {
        fn has(&self, _: &[SharedQueue], cut: Cut) -> bool {
            let letter = match cut.piece {
                Piece::Unit(_) => '1',
                Piece::Packet => 'p',
                Piece::Head { .. } => 'h',
                Piece::Tail(_) => 't',
            };
            self.waiting[cut.queue].contains(letter)
        }

        fn in_transmission(&self, _: &[SharedQueue], queue: usize) -> u64 {
            self.sending[queue]
        }
    }

    pub(super) fn cut(queue: usize, piece: Piece) -> Option<Cut> {
        Some(Cut { queue, piece })
    }

    pub(super) fn build(spec: &Spec) -> Result<Policy, Refused> {
        let measure = Measure::MemoryCells(CellSize { octets: 100, header: 0 });
        let (rates, name) = (&[Rate(8_000_000); 3], "chip");
        spec.build(&Context { cells: 30, measure, rates, seed: 0, name, circuits: &UNNAMED })
    }

    /// Choose in a memory with queues of these lengths, each reserving two cells, that is full for a unit of three cells of
    /// queue 0.
    pub(super) fn chosen(spec: &Spec, lengths: &[u64], ports: &dyn Content) -> Option<Cut> {
        let memory = memory_with(spec, lengths, 2);
        build(spec).unwrap().choose(&full(&memory, ports))
    }

    pub(super) fn full<'a>(memory: &'a Memory, ports: &'a dyn Content) -> Full<'a> {
        let subject = Unit::default().subject();
        Full { now: Time(0), subject, memory, pool: Some(0), own: 0, size: 3, ports }
    }

    /// Build a memory of 30 cells with this policy and one pool, and queues of these lengths with `reserved` cells of
    /// reserved room each.
    pub(super) fn memory_with(spec: &Spec, lengths: &[u64], reserved: u64) -> Memory {
        let cells = 30;
        let scheme = sharing::Spec::read(&Node::named("policy", "complete-sharing"), "").unwrap();
        let scheme = scheme.build(&sharing::tests::context(&[])).unwrap();
        let promised = reserved * lengths.len() as u64;
        let pools = vec![SharedPool::new(cells - promised, lengths.len(), 0, scheme)];
        let limits = QueueLimits { reserved, ..QueueLimits::default() };
        let queue = |number| {
            SharedQueue::new(limits, LineId::new(number), Rate(8_000_000), 0, PoolQueue::new(number))
        };
        let queues = (0..lengths.len()).map(queue).collect();
        let pushout = Some(build(spec).unwrap());
        let parts = MemoryParts { cells, check: ThresholdCheck::Before, pools, queues, pushout };
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
    fn a_policy_that_goes_by_frames_never_removes_a_single_unit() {
        for policy in Spec::plain() {
            let cut = chosen(&policy, &[3, 15, 9], &Ports::new(&["1", "1", "1"]));
            assert_eq!(cut.is_none(), policy.kind().goes_by_frames(), "{}: {cut:?}", policy.name());
        }
    }
}
