//! # Source
//! V. Addanki, M. Pacut, S. Schmid, "Credence: Augmenting Datacenter Switch Buffer Sharing with ML Predictions", USENIX NSDI
//! 2024, section 3 ("FollowLQD").
//!
//! # Idea
//! Longest queue drop needs push-out. FollowLQD needs none: beside the real buffer it keeps a virtual one, which gets the same
//! arrivals and is run by longest queue drop. The length Tᵢ of a virtual queue is the threshold of the real one: a packet
//! is taken iff it fits and its queue is shorter than Tᵢ, in which the packet counts.
//!
//! # Parameters
//! `counts_arrival` (default true): whether an arriving packet counts for its own virtual queue when the longest one is looked
//! for, as at `longest-queue`.
//!
//! # Differences from the paper
//! The paper has packets of one size and slots in which every queue sends one, whether the real queue is empty or not. Here every
//! virtual line sends packets at its own rate as soon as it has one, in the order in which they came, and the virtual
//! buffer has packets of all sizes: from the tail of the longest queue go as many as it takes, but not the one in
//! transmission. Pauses, shapers and schedulers other than `fifo` do not hold back virtual lines. At a port by itself all
//! circuits have one line. Credence, which asks a predictor as well, is not modelled.
//!
//! # Complexity
//! Per packet the number of lines, and for one that finds the virtual buffer full the number of queues.

mod virtual_buffer;

use super::{Admission, Arrival, Context, Departure, Pool, Properties, Shortcuts};
use crate::buffer::context::Outlet;
use crate::buffer::pushout::longest_queue;
use crate::refused::Refused;
use crate::section;
use crate::units::ids::{LineId, PortVc};
use crate::verdict::{Reason, Verdict};

pub(crate) use virtual_buffer::VirtualBuffer;

section! {
    /// Block a circuit whose queue is as long as it would be with longest queue drop.
    pub struct Params {
        /// Whether an arriving packet counts for its own virtual queue when queues are compared.
        pub counts_arrival: bool = true,
    }
}

impl Params {
    /// Return the rule by which the virtual buffer loses packets.
    pub(crate) fn rule(&self) -> longest_queue::Params {
        longest_queue::Params { end: longest_queue::End::Tail, counts_arrival: self.counts_arrival }
    }
}

/// FollowLQD at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    buffer: VirtualBuffer<PortVc>,
}

impl Policy {
    /// Build the policy; every port can have it.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        let outlets = (0..context.vcs()).map(|_| Outlet {
            line: LineId(0),
            rate: context.rate,
            minimum: context.minimum,
        });
        Ok(Policy { buffer: VirtualBuffer::new(params.rule(), context.capacity, outlets) })
    }
}

impl Admission for Policy {
    fn judge(&mut self, arrival: &mut Arrival<'_>) -> Verdict {
        let &mut Arrival { now, unit, vc, size, pool, .. } = arrival;
        self.buffer.offered(now, vc, size, unit.bytes);
        let threshold = self.buffer.length(vc);
        match arrival.fits() && pool.of(vc) < threshold {
            true => Verdict::Accept,
            false => Verdict::Discard(Reason::Overflow),
        }
    }

    fn departed(&mut self, departure: &Departure<'_>) {
        self.buffer.send_until(departure.now);
    }

    fn threshold(&self, _: &Pool, vc: PortVc) -> Option<f64> {
        Some(self.buffer.length(vc) as f64)
    }

    fn properties(&self) -> Properties {
        Properties { splits_frames: true, ..Properties::default() }
    }
}

impl Shortcuts for Policy {}

#[cfg(test)]
mod tests {
    use super::super::tests::PolicyBench;
    use super::*;

    fn bench(capacity: u64, vcs: usize) -> PolicyBench<Policy> {
        PolicyBench::new(capacity, vcs, |context| Policy::new(&Params { counts_arrival: true }, context))
    }

    #[test]
    fn one_queue_can_take_everything_and_gives_no_more_room_to_others_than_it_leaves() {
        let mut bench = bench(10, 2);
        assert_eq!(bench.offer(0, "..........."), "AAAAAAAAAAo");
        assert_eq!(bench.offer(1, "."), "o", "nothing is pushed out for it");
    }

    #[test]
    fn a_queue_that_the_virtual_buffer_has_shortened_takes_nothing_until_it_is_as_short() {
        let mut bench = bench(10, 2);
        bench.offer(0, "..........");
        bench.offer(1, "....."); // lost, but they push five of circuit 0 out of the virtual buffer
        (0..4).for_each(|_| bench.depart(0));
        assert_eq!(bench.offer(0, "."), "o", "6 real cells, 5 virtual ones");
        assert_eq!(bench.offer(1, "...."), "AAAA", "none of its 5 virtual cells is real");
    }
}
