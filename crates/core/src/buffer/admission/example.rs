//! # Source
//! An example, published nowhere.
//!
//! # Idea
//! When the buffer is half full, a frame is refused as a whole if its circuit already has something in the buffer.
//!
//! # Parameters
//! `half`: the occupancy from which this holds, default 50 % of the buffer.
//!
//! # Differences from the paper
//! There is no paper.
//!
//! # Complexity
//! Constant; two bits per circuit.

use super::{Admission, Arrival, Context, Shortcuts};
use crate::buffer::frame::Frames;
use crate::buffer::size::Level;
use crate::refused::Refused;
use crate::section;
use crate::verdict::{Reason, Verdict};

section! {
    /// Refuse frames of circuits that already wait in a half-full buffer.
    pub struct Params {
        /// Occupancy that counts as half full.
        pub half: Level = Level::Percent(50.0),
    }
}

/// The policy at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    half: u64,
    frames: Frames,
}

impl Policy {
    /// Build the policy of one port; the error says why its level cannot be used.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        let half = context.level("half", params.half)?;
        Ok(Policy { half, frames: Frames::new(context.vcs(), true) })
    }
}

impl Admission for Policy {
    fn judge(&mut self, arrival: &mut Arrival<'_>) -> Verdict {
        let refuse = arrival.pool.total() >= self.half && arrival.pool.of(arrival.vc) > 0;
        self.frames.judge(arrival.unit, arrival.vc, arrival.fits(), || refuse.then_some(Reason::Early))
    }
}

impl Shortcuts for Policy {
    fn frames(&mut self) -> Option<&mut Frames> {
        Some(&mut self.frames)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::PolicyBench;
    use super::*;

    #[test]
    fn in_a_half_full_buffer_only_a_circuit_without_cells_may_start_a_frame() {
        let params = Params { half: Level::Percent(50.0) };
        let mut bench = PolicyBench::new(8, 2, |context| Policy::new(&params, context));
        assert_eq!(bench.offer(0, "f..e"), "AAAA"); // `f` first, `.` middle, `e` last: `A` accepted
        assert_eq!(bench.offer(0, "fe"), "rr"); // `r` refused early
        assert_eq!(bench.offer(1, "fe"), "AA");
    }
}
