//! # Source
//! R. Goyal, R. Jain, S. Kalyanaraman, S. Fahmy, S.-C. Kim, "UBR+: improving performance of TCP over ATM-UBR service",
//! ATM Forum/96-1269, 1996; described as "selective packet dropping" in paper 000 (V. Rosolen, O. Bonaventure,
//! G. Leduc, 1998), section 2.2.
//!
//! # Idea
//! Above an occupancy R, a frame is refused as a whole if its circuit already holds more than its fair share of what
//! is queued. With `X_i` of X queued for this circuit and `N_a` circuits that have anything queued, refuse iff
//!
//! > X > R and X_i · N_a / X > Z
//!
//! # Parameters
//! `threshold` R: an occupancy, default 90 % as for EPD in paper 000, Table 1. `scale` Z, without unit, default 0.8,
//! from the range 0.5 to 1 that the literature uses; paper 000 prints neither. `pass_eom` (default true): keep the EOM
//! cell of a broken frame if it fits.
//! `action` (default `drop`): `mark` accepts frames that could be marked, with a mark.
//!
//! # Differences from the paper
//! Paper 000 gives only the idea; the test is Goyal's, from memory. X, `X_i` and `N_a` do not count the first cell
//! itself, so a circuit with nothing queued is always accepted. At X = R every frame is accepted, while EPD refuses
//! from its threshold on.
//!
//! # Complexity
//! Constant; two bits and one counter per circuit.

use super::{Admission, Arrival, Context, Interest, Rule, Shortcuts};
use crate::buffer::frame::Frames;
use crate::buffer::pool::Pool;
use crate::buffer::size::Level;
use crate::refused::{Refused, refuse};
use crate::section;
use crate::units::ids::PortVc;
use crate::verdict::{Action, Reason, Verdict};

section! {
    /// Refuse whole frames of circuits that hold more than their share of the queue.
    pub struct Params {
        /// Occupancy up to which every frame is taken.
        pub threshold: Level = Level::Percent(90.0),
        /// Multiple of the fair share from which a circuit is refused.
        pub scale: f64 = 0.8,
        /// Keep the last cell of a broken frame as a delimiter, if it fits.
        pub pass_eom: bool = true,
        /// What happens to a frame of a circuit with more than its share: `drop`, or `mark` where the transport reacts to marks (ECT).
        pub action: Action = Action::Drop,
    }
}

/// Selective drop at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    threshold: u64,
    scale: f64,
    frames: Frames,
}

impl Policy {
    /// Build the policy of one port; the error says why its parameters cannot be used.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        if params.scale < 0.0 {
            return refuse("scale", "must be at least 0");
        }
        Ok(Policy {
            threshold: context.level("threshold", params.threshold)?,
            scale: params.scale,
            frames: Frames::new(context.vcs(), params.pass_eom).acting(params.action),
        })
    }
}

/// Return the load ratio W_i = X_i · N_a / X: the occupancy of a circuit divided by its fair share; 0 in an empty
/// buffer.
pub(super) fn load_ratio(pool: &Pool, vc: PortVc) -> f64 {
    match pool.total() {
        0 => 0.0,
        total => pool.of(vc) as f64 * f64::from(pool.active()) / total as f64,
    }
}

impl Admission for Policy {
    fn judge(&mut self, arrival: &mut Arrival<'_>) -> Verdict {
        let Arrival { pool, vc, .. } = *arrival;
        let greedy = || pool.total() > self.threshold && load_ratio(pool, vc) > self.scale;
        self.frames.judge(arrival.unit, vc, arrival.fits(), || greedy().then_some(Reason::Early))
    }
}

impl Shortcuts for Policy {
    fn frames(&mut self) -> Option<&mut Frames> {
        Some(&mut self.frames)
    }

    fn rule(&self) -> Option<Rule> {
        self.frames.unless_marking(Rule::Asked(Interest::Last))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::PolicyBench;
    use super::*;
    use crate::buffer::size::BufferSize;

    fn bench(threshold: u64, scale: f64) -> PolicyBench<Policy> {
        let threshold = Level::Size(BufferSize::Cells(threshold));
        let params = Params { threshold, scale, pass_eom: true, action: Action::Drop };
        PolicyBench::new(20, 3, move |context| Policy::new(&params, context))
    }

    #[test]
    fn up_to_the_threshold_even_a_greedy_circuit_is_accepted() {
        let mut bench = bench(4, 0.8);
        assert_eq!(bench.offer(0, "f..e"), "AAAA");
        assert_eq!(bench.offer(0, "f"), "A", "R itself is free for all");
    }

    #[test]
    fn a_frame_is_discarded_if_its_circuit_takes_more_than_its_fair_share() {
        let mut bench = bench(4, 0.8);
        assert_eq!(bench.offer(0, "f..e"), "AAAA");
        assert_eq!(bench.offer(1, "1"), "A");
        // X = 5, two active: circuit 0 holds 4 · 2 / 5 = 1.6 shares, circuit 1 holds 0.4, circuit 2 nothing
        assert_eq!(bench.offer(0, "f.e"), "rrr");
        assert_eq!(bench.offer(1, "f.e"), "AAA");
        // X = 8: circuits 0 and 1 hold exactly one share each, which is above Z
        assert_eq!(bench.offer(1, "1"), "r");
        assert_eq!(bench.offer(2, "1"), "A");
    }

    #[test]
    fn a_load_ratio_of_exactly_z_is_accepted() {
        let mut bench = bench(1, 1.0);
        assert_eq!(bench.offer(0, "11"), "AA");
        assert_eq!(bench.offer(1, "11"), "AA");
        assert_eq!(load_ratio(&bench.pool, PortVc(0)), 1.0);
        assert_eq!(bench.offer(0, "1"), "A");
        assert_eq!(bench.offer(0, "1"), "r", "3 · 2 / 5 is above 1");
    }

    #[test]
    fn once_taken_a_frame_is_taken_whole() {
        let mut bench = bench(1, 0.5);
        assert_eq!(bench.offer(0, "f......e"), "AAAAAAAA");
        assert_eq!(bench.offer(0, "f"), "r");
    }

    #[test]
    fn a_negative_scale_is_refused() {
        let params =
            Params { threshold: Level::Percent(50.0), scale: -1.0, pass_eom: true, action: Action::Drop };
        assert_eq!(
            Policy::new(&params, &Context::alone(10, 1)).unwrap_err().to_string(),
            "scale: must be at least 0"
        );
    }
}
