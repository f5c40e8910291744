//! # Source
//! M. Shreedhar and G. Varghese, "Efficient fair queueing using deficit round robin", ACM SIGCOMM 1995, section 3.
//!
//! # Idea
//! Queues that are not empty are visited in turn. A visit adds `quantum` octets, times the weight of the circuit, to
//! the deficit of the queue, which sends packets as long as the one at its head is not longer than the deficit. The
//! queue keeps the unused deficit for the next visit; a queue that becomes empty loses it.
//!
//! # Parameters
//! `quantum`: default 1514 octets, a full Ethernet frame as in tc-drr(8). The work for each packet is constant only if no
//! packet is longer than the quantum. Weights are those of flows (`weight`). `queues`: whether each circuit has a queue, or each
//! class of traffic, with the weight of its section.
//!
//! # Differences from the paper
//! None. A queue that becomes active goes to the end of the list. A packet that the admission policy discards at the
//! head costs the queue nothing. On a cell link every cell has 53 octets.
//!
//! # Complexity
//! Constant per packet that is not longer than the quantum; a number of octets and a place in the list per queue.

use std::collections::VecDeque;

use super::{Context, Division, QueueFor, Queues, Scheduler, Terms};
use crate::metrics::state::Figure;
use crate::refused::{Refused, refuse_if};
use crate::section;
use crate::units::ids::{IdVec, PortVc, QueueId};
use crate::units::{Bytes, CELL_BYTES, Time};

section! {
    /// Serve queues in turn by octets, in proportion to their weights.
    pub struct Params {
        /// Octets that a queue of weight 1 may send in a round.
        pub quantum: Bytes = Bytes(1514),
        /// What has a queue of its own.
        pub queues: QueueFor = QueueFor::Circuit,
    }
}

/// How this scheduler divides units into queues.
pub const QUEUES: Queues = Queues::PerCircuit;

/// Whether this scheduler counts octets.
pub const COUNTS_OCTETS: bool = true;

/// Deficit round robin at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    /// For each queue the octets that a visit adds to its deficit.
    quanta: IdVec<QueueId, u64>,
    /// The deficit of each queue, in octets.
    deficits: IdVec<QueueId, u64>,
    /// Queues that are not empty, in the order of visits; the first one is visited now or next.
    active: VecDeque<QueueId>,
    is_active: IdVec<QueueId, bool>,
    /// Whether the visit to the first queue has begun.
    is_visited: bool,
    /// For each circuit its queue, if circuits share queues.
    places: IdVec<PortVc, QueueId>,
    lowered: Option<QueueId>,
}

impl Policy {
    /// Build the scheduler of one port; the error says why its quantum cannot be used.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        let quantum = params.quantum.0;
        refuse_if(quantum == 0, "quantum", "must be at least 1 byte")?;
        let division = params.queues.divide(context);
        let own = |terms: &Terms| ((quantum as f64 * terms.weight) as u64).max(1);
        Ok(Policy::visiting(division.queues.iter().map(own).collect(), division))
    }

    /// Build a scheduler whose visits add these numbers to the deficits of queues.
    pub(super) fn visiting(quanta: IdVec<QueueId, u64>, division: Division) -> Policy {
        let Division { places, lowered, .. } = division;
        let queues = quanta.len();
        Policy {
            quanta,
            deficits: IdVec::filled(0, queues),
            active: VecDeque::new(),
            is_active: IdVec::filled(false, queues),
            is_visited: false,
            places,
            lowered,
        }
    }

    /// Return the queue whose visit goes on or begins, among those that may send, of which there is one.
    #[inline(always)]
    fn visit(
        &mut self,
        mut may_send: impl FnMut(QueueId) -> bool,
        octets: &dyn Fn(QueueId) -> u64,
    ) -> Option<QueueId> {
        loop {
            let queue = *self.active.front()?;
            if may_send(queue) {
                if !std::mem::replace(&mut self.is_visited, true) {
                    self.deficits[queue] += self.quanta[queue];
                }
                if octets(queue) <= self.deficits[queue] {
                    return Some(queue);
                }
            }
            self.leave();
        }
    }

    /// End the visit to the first queue: move it to the end of the list.
    fn leave(&mut self) {
        let first = self.active.pop_front();
        self.active.extend(first);
        self.is_visited = false;
    }
}

impl Scheduler for Policy {
    fn joined(&mut self, queue: QueueId) {
        if !std::mem::replace(&mut self.is_active[queue], true) {
            self.active.push_back(queue);
        }
    }

    fn left(&mut self, queue: QueueId, empty: bool) {
        if !empty {
            return;
        }
        (self.deficits[queue], self.is_active[queue]) = (0, false);
        if self.active.front() == Some(&queue) {
            self.active.pop_front();
            self.is_visited = false;
        } else {
            self.active.retain(|other| *other != queue);
        }
    }

    fn state(&self) -> Vec<Figure> {
        Figure::of_queues("deficit", self.deficits.iter().map(|&octets| octets as f64)).collect()
    }

    fn next(&mut self, now: Time, may_send: &mut dyn FnMut(QueueId) -> bool) -> Option<QueueId> {
        self.next_by_size(now, may_send, &|_| CELL_BYTES)
    }

    fn next_by_size(
        &mut self,
        _: Time,
        may_send: &mut dyn FnMut(QueueId) -> bool,
        octets: &dyn Fn(QueueId) -> u64,
    ) -> Option<QueueId> {
        if !self.active.iter().any(|&queue| may_send(queue)) {
            return None;
        }
        self.visit(may_send, octets)
    }

    fn turn_by_size(&mut self, _: Time, octets: &dyn Fn(QueueId) -> u64) -> Option<QueueId> {
        self.visit(|_| true, octets)
    }

    fn sent(&mut self, queue: QueueId, octets: u64) {
        self.deficits[queue] = self.deficits[queue].saturating_sub(octets);
    }

    fn places(&self) -> IdVec<PortVc, QueueId> {
        self.places.clone()
    }

    fn lowered(&self) -> Option<QueueId> {
        self.lowered
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::context::Contract;
    use crate::serde_json::Value as Json;
    use crate::units::ids::{IdSlice, PortVc};
    use crate::vectors::vector;

    /// Queues of packets, driven by hand.
    struct Bench {
        policy: Policy,
        queues: IdVec<QueueId, VecDeque<u64>>,
    }

    impl Bench {
        /// Queues of these weights.
        fn new(quantum: u64, weights: &[f64]) -> Bench {
            let plain = Context::alone(1, 1).contracts[PortVc(0)];
            let contracts: Vec<Contract> =
                weights.iter().map(|&weight| Contract { weight, ..plain }).collect();
            let context = Context { contracts: IdSlice::new(&contracts), ..Context::alone(100, 0) };
            let policy =
                Policy::new(&Params { quantum: Bytes(quantum), queues: QueueFor::Circuit }, &context)
                    .unwrap();
            Bench { policy, queues: IdVec::filled(VecDeque::new(), weights.len()) }
        }

        fn join(&mut self, queue: usize, packets: usize, octets: u64) {
            let queue = QueueId::new(queue);
            for _ in 0..packets {
                self.queues[queue].push_back(octets);
                self.policy.joined(queue);
            }
        }

        /// Send the next packet; returns its queue, and the rest of the queue's credit.
        fn send(&mut self) -> (usize, u64) {
            let queues = &self.queues;
            let queue = self.policy.next_by_size(Time::ZERO, &mut |_| true, &|queue| queues[queue][0]);
            let queue = queue.unwrap();
            let octets = self.queues[queue].pop_front().unwrap();
            self.policy.sent(queue, octets);
            let left = self.policy.deficits[queue];
            self.policy.left(queue, self.queues[queue].is_empty());
            (queue.index(), left)
        }
    }

    #[test]
    fn a_visit_gives_a_quantum_and_a_queue_keeps_what_it_does_not_use() {
        let case = &vector("drr")["backlogged"][0];
        let number = |value: &Json| value.as_u64().unwrap();
        let mut bench = Bench::new(number(&case["quantum"]), &[1.0, 1.0]);
        let sizes = [0, 1].map(|queue| number(&case["packets"][queue]));
        (0..2).for_each(|queue| bench.join(queue, 10, sizes[queue]));
        for visit in case["visits"].as_array().unwrap() {
            let [queue, deficit, packets, left] = [0, 1, 2, 3].map(|place| number(&visit[place]));
            let size = sizes[queue as usize];
            for packet in 1..=packets {
                assert_eq!(bench.send(), (queue as usize, deficit - packet * size));
            }
            assert_eq!(left, deficit - packets * size);
        }
    }

    #[test]
    fn queues_share_the_line_in_octets_by_their_weights() {
        let mut bench = Bench::new(1500, &[1.0, 1.0, 2.5]);
        let mut octets = [0_u64; 3];
        for (queue, size) in [(0, 100), (1, 1500), (2, 700)] {
            bench.join(queue, 20_000, size);
        }
        for _ in 0..15_000 {
            let queue = bench.send().0;
            octets[queue] += [100, 1500, 700][queue];
        }
        let share = |queue: usize| octets[queue] as f64 / octets[0] as f64;
        assert!((share(1) - 1.0).abs() < 0.01 && (share(2) - 2.5).abs() < 0.02, "{octets:?}");
    }

    #[test]
    fn a_queue_that_becomes_empty_loses_what_it_has_left() {
        let mut bench = Bench::new(500, &[1.0, 1.0]);
        bench.join(0, 1, 100);
        bench.join(1, 3, 500);
        assert_eq!((bench.send(), bench.send()), ((0, 400), (1, 0)));
        bench.join(0, 1, 600);
        assert_eq!((bench.send(), bench.send(), bench.send()), ((1, 0), (0, 400), (1, 0)));
    }

    #[test]
    fn a_queue_that_may_not_send_is_passed_over_and_gets_nothing() {
        let mut policy = Bench::new(500, &[1.0, 1.0]).policy;
        [0, 1].into_iter().for_each(|queue| policy.joined(QueueId(queue)));
        assert_eq!(policy.next(Time::ZERO, &mut |queue| queue == QueueId(1)), Some(QueueId(1)));
        assert_eq!(policy.deficits, [0, 500].into());
        assert_eq!(policy.next(Time::ZERO, &mut |_| false), None);
    }
}
