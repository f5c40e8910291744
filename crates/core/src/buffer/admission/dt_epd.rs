//! # Source
//! D. Wu, H. J. Chao, "Buffer management and scheduling schemes for TCP/IP over ATM-GFR" (paper 003), section 2,
//! equation (3), after A. K. Choudhury, E. L. Hahne, IEEE INFOCOM 1996.
//!
//! # Idea
//! Early packet discard whose threshold follows the room that is left: a frame of circuit i is refused as a whole when
//! its first cell meets a queue of
//!
//! > Xᵢ ≥ DT = α · (B − X)  (3)
//!
//! A frame that was accepted may exceed this and is cut short, as by partial packet discard, only if it overflows.
//!
//! A shared memory can have it too, as `admission` of `[memory.NAME]`: it refuses a frame of a class whose queue at a port
//! has reached α times the room that is free in its pool. The threshold judges the first cell alone; the memory accepts the
//! rest as long as there is room.
//!
//! # Parameters
//! `alpha` α (no unit, default 2, the worked example of section 2; the value of the runs is not printed). `pass_eom`
//! (default true): keep the EOM cell of a broken frame if it fits.
//!
//! # Differences from the paper
//! The paper does not say what happens to a frame that overflows: partial packet discard, as in every other scheme
//! here. A memory refuses the first cell, and the port discards the others: its admission policy is one by frames, as `ppd`,
//! and has the `pass_eom`, so that a memory has `alpha` alone. Queues there are those of classes at ports, each with its own
//! `alpha` if it has one; the free room leaves out what is reserved, and `dt_check` chooses the length that is compared.
//! Combined with push-out, room is made only for the rest of accepted frames: in a full buffer the threshold is
//! 0.
//!
//! # Complexity
//! Constant; two bits per circuit.

use super::dynamic_threshold::DynamicThreshold;
use super::{Admission, Arrival, Context, Interest, Properties, Rule, Shortcuts};
use crate::buffer::frame::Frames;
use crate::refused::Refused;
use crate::section;
use crate::verdict::{Reason, Verdict};

section! {
    /// Refuse whole frames of a circuit whose queue is longer than a multiple of the free room.
    pub struct Params {
        /// Length of a queue from which new frames are refused, as a multiple of the free room.
        pub alpha: f64 = 2.0,
        /// Keep the last cell of a broken frame as a delimiter, if it fits.
        pub pass_eom: bool = true,
    }
}

/// Dynamic threshold early packet discard at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    threshold: DynamicThreshold,
    frames: Frames,
}

impl Policy {
    /// Build the policy of one port; the error says why its factor cannot be used.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        let frames = Frames::new(context.vcs(), params.pass_eom);
        Ok(Policy { threshold: DynamicThreshold::new(params.alpha)?, frames })
    }
}

impl Admission for Policy {
    fn judge(&mut self, arrival: &mut Arrival<'_>) -> Verdict {
        let refuse = || self.threshold.blocks(arrival.pool, arrival.vc).then_some(Reason::Early);
        self.frames.judge(arrival.unit, arrival.vc, arrival.fits(), refuse)
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
        Some(Rule::Asked(Interest::Last))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::PolicyBench;
    use super::*;
    use crate::units::ids::PortVc;

    fn bench(alpha: f64, capacity: u64, vcs: usize) -> PolicyBench<Policy> {
        PolicyBench::new(capacity, vcs, move |context| {
            Policy::new(&Params { alpha, pass_eom: true }, context)
        })
    }

    #[test]
    fn a_frame_whose_first_cell_meets_a_queue_at_the_threshold_is_refused_whole() {
        let mut bench = bench(1.0, 8, 2);
        assert_eq!(bench.offer(0, "f..e"), "AAAA");
        assert_eq!(bench.offer(0, "f..e"), "rrrr", "4 ≥ 8 − 4");
        assert_eq!(bench.offer(1, "1"), "A", "0 < 8 − 4: only the long queue has to wait");
    }

    #[test]
    fn a_frame_that_was_taken_may_pass_the_threshold_and_fill_the_buffer() {
        let mut bench = bench(1.0, 8, 1);
        assert_eq!(bench.offer(0, "f........."), "AAAAAAAAop");
        bench.depart(0);
        assert_eq!(bench.offer(0, ".e"), "pA");
    }

    #[test]
    fn a_refused_frame_stays_refused_when_the_queue_drains() {
        let mut bench = bench(1.0, 4, 1);
        assert_eq!(bench.offer(0, "f.ef"), "AAAr");
        (0..3).for_each(|_| bench.depart(0));
        assert_eq!(bench.offer(0, ".ef"), "rrA");
    }

    #[test]
    fn circuits_that_send_frames_of_one_cell_share_as_with_the_plain_threshold() {
        let mut bench = bench(2.0, 210, 10);
        for _ in 0..210 {
            (0..10).for_each(|vc| drop(bench.offer(vc, "1")));
        }
        assert!((0..10).all(|vc| bench.pool.of(PortVc(vc)) == 20));
    }
}
