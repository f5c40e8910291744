//! # Source
//! M. Alizadeh, A. Greenberg, D. A. Maltz, J. Padhye, P. Patel, B. Prabhakar, S. Sengupta and M. Sridharan, "Data Center TCP
//! (DCTCP)", ACM SIGCOMM 2010, section 3.1; S. Bensley, D. Thaler, P. Balasubramanian, L. Eggert and G. Judd, RFC 8257, 2017,
//! section 3.1.
//!
//! # Idea
//! An arriving packet is marked if the present queue is longer than a threshold K: no average and no random number,
//! because the senders average over a round trip.
//!
//! > mark iff X > K
//!
//! # Parameters
//! `threshold` K: an occupancy, default 20 % of the buffer; the paper takes 20 packets at 1 Gb/s and 65 at 10 Gb/s,
//! and asks for K > C · RTT / 7. `action`: `mark` (default), which discards packets that are not ECN-capable, or `drop`. `pass_eom` as for PPD.
//! At a port of a memory, packets of a class with `mark = { at = "dequeue" }` are judged when they are sent, by what they leave behind.
//!
//! # Differences from the paper
//! X counts the packet in transmission and not the one that arrives; at dequeue it does not count the one that leaves. On a cell link frames are judged at their first cell.
//!
//! # Complexity
//! Constant; two bits per circuit.

use super::{Admission, Arrival, Context, Head, Properties, Rule, Shortcuts};
use crate::buffer::context::Contract;
use crate::buffer::frame::Frames;
use crate::buffer::size::Level;
use crate::refused::Refused;
use crate::section;
use crate::unit::Unit;
use crate::units::ids::{IdVec, PortVc};
use crate::verdict::{Action, HeadVerdict, Reason, Verdict};

section! {
    /// Mark packets that meet an occupancy above a threshold.
    pub struct Params {
        /// Occupancy above which packets are marked.
        pub threshold: Level = Level::Percent(20.0),
        /// What happens to a packet that finds an occupancy above the threshold: `mark` where the transport reacts to marks (ECT), or `drop`.
        pub action: Action = Action::Mark,
        /// Keep the last cell of a broken frame as a delimiter, if it fits.
        pub pass_eom: bool = true,
    }
}

/// Step marking at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    threshold: u64,
    frames: Frames,
    /// For each circuit whether its packets are marked when they leave; empty if none are.
    leaving: IdVec<PortVc, bool>,
}

impl Policy {
    /// Build the policy of one port; the error says why its threshold cannot be used.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        let threshold = context.level("threshold", params.threshold)?;
        let marks = |contract: &Contract| contract.class.marks_leaving && params.action == Action::Mark;
        let leaving = match context.contracts.iter().any(marks) {
            true => context.contracts.iter().map(marks).collect(),
            false => IdVec::default(),
        };
        let frames = Frames::new(context.vcs(), params.pass_eom).acting(params.action);
        Ok(Policy { threshold, frames, leaving })
    }

    /// Return whether a unit is marked when it leaves.
    fn marks_leaving(&self, unit: &Unit, vc: PortVc) -> bool {
        unit.is_ect() && self.leaving.get(vc) == Some(&true)
    }
}

impl Admission for Policy {
    fn judge(&mut self, arrival: &mut Arrival<'_>) -> Verdict {
        let above = arrival.pool.total() > self.threshold && !self.marks_leaving(arrival.unit, arrival.vc);
        self.frames.judge(arrival.unit, arrival.vc, arrival.fits(), || above.then_some(Reason::Early))
    }

    fn at_head(&mut self, head: &Head<'_>) -> HeadVerdict {
        let above = head.pool.total() - head.size > self.threshold;
        match above && self.marks_leaving(head.unit, head.vc) {
            true => HeadVerdict::Mark(Reason::Early),
            false => HeadVerdict::Send,
        }
    }

    fn properties(&self) -> Properties {
        Properties { is_monotone: true, ..Properties::default() }
    }
}

impl Shortcuts for Policy {
    fn frames(&mut self) -> Option<&mut Frames> {
        Some(&mut self.frames)
    }

    fn rule(&self) -> Option<Rule> {
        self.frames.unless_marking(Rule::Frames { threshold: Some(self.threshold + 1) })
    }

    fn rule_for_packets(&self) -> Option<Rule> {
        self.leaving.is_empty().then_some(Rule::Frames { threshold: Some(self.threshold + 1) })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::PolicyBench;
    use super::*;
    use crate::buffer::size::BufferSize;

    fn bench(threshold: u64, action: Action) -> PolicyBench<Policy> {
        let threshold = Level::Size(BufferSize::Cells(threshold));
        let params = Params { threshold, action, pass_eom: true };
        PolicyBench::new(6, 2, move |context| Policy::new(&params, context))
    }

    #[test]
    fn a_packet_is_marked_if_it_finds_more_than_the_threshold() {
        let mut bench = bench(2, Action::Mark);
        assert_eq!(bench.offer(0, "2222"), "AAAM", "three of them met 0, 1 and 2");
        bench.depart(0);
        bench.depart(0);
        assert_eq!(bench.offer(0, "2"), "A", "the queue at this instant, no average");
    }

    #[test]
    fn a_packet_that_cannot_be_marked_is_lost_and_a_full_buffer_loses_everything() {
        let mut bench = bench(2, Action::Mark);
        assert_eq!(bench.offer(0, "2221"), "AAAr");
        assert_eq!(bench.offer(1, "2222"), "MMMo");
    }

    #[test]
    fn with_drop_nothing_is_marked() {
        assert_eq!(bench(2, Action::Drop).offer(0, "2222"), "AAAr");
    }

    #[test]
    fn of_a_frame_in_cells_the_first_one_bears_the_mark() {
        let mut bench = bench(2, Action::Mark);
        assert_eq!(bench.offer(0, "222"), "AAA");
        assert_eq!(bench.offer(0, "p-q"), "MAA");
    }
}
