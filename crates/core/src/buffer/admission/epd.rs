//! # Source
//! A. Romanow, S. Floyd, "Dynamics of TCP traffic over ATM networks", IEEE JSAC 13(4), 1995; paper 000 (V. Rosolen,
//! O. Bonaventure, G. Leduc, 1998), section 2.1; paper 001 (L. Kalampoukas, A. Varma, 1995), section 3, for the
//! threshold that leaves room for three segments.
//!
//! # Idea
//! A frame is refused as a whole when the occupancy X that its first cell meets has reached the threshold τ. An
//! accepted frame may fill the buffer, and is cut short as by partial packet discard only if it overflows.
//!
//! # Parameters
//! `threshold` τ: an occupancy ("7373 cells" or "90 %" in paper 000, Table 1; 1000 cells in paper 003), default 80 %,
//! the floor of paper 001's rule. `reserve` replaces it by paper 001's rule
//!
//! > τ / B = max(0.8, (B − 3 · segment) / B)
//!
//! where `reserve` is 3 · segment as a size. `pass_eom` (default true): keep the EOM cell of a broken frame if it
//! fits. `action` (default `drop`): `mark` accepts frames that could be marked, with a mark. `discard_rest` (default
//! true): partial packet discard when a frame overflows; without it the cells of such a frame that still fit are
//! queued, as by a switch that has only EPD.
//!
//! # Differences from the paper
//! Refused iff X ≥ τ, with X counted before the arriving cell; the papers only say "reaches" and "exceeds".
//!
//! # Complexity
//! Constant; two bits per circuit.

use super::{Admission, Arrival, Context, Properties, Rule, Shortcuts};
use crate::buffer::frame::Frames;
use crate::buffer::size::{BufferSize, Level};
use crate::refused::{Refused, refuse};
use crate::section;
use crate::verdict::{Action, Reason, Verdict};

section! {
    /// Refuse whole frames above a threshold.
    pub struct Params {
        /// Occupancy from which new frames are refused.
        pub threshold: Level = Level::Percent(80.0),
        /// Room to keep free instead of a fixed threshold, but never more than a fifth of the buffer (paper 001).
        pub reserve: Option<BufferSize> = None,
        /// Keep the last cell of a broken frame as a delimiter, if it fits.
        pub pass_eom: bool = true,
        /// Discard the rest of a frame that has lost a cell (PPD); if not, it is queued as far as it fits.
        pub discard_rest: bool = true,
        /// What happens to a frame that meets the threshold: `drop`, or `mark` where the transport reacts to marks (ECT).
        pub action: Action = Action::Drop,
    }
}

/// Early packet discard at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    threshold: u64,
    frames: Frames,
}

impl Policy {
    /// Build the policy of one port; the error says why its threshold cannot be used.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        let threshold = match params.reserve {
            Some(reserve) => below(reserve, context)?,
            None => context.level("threshold", params.threshold)?,
        };
        Ok(Policy {
            threshold,
            frames: Frames::new(context.vcs(), params.pass_eom)
                .discarding_rest(params.discard_rest)
                .acting(params.action),
        })
    }
}

/// Return the threshold by paper 001's rule, which keeps `min(reserve, B / 5)` of the buffer free.
fn below(reserve: BufferSize, context: &Context<'_>) -> Result<u64, Refused> {
    let four_fifths = context.level("reserve", Level::Percent(80.0))?;
    match reserve.on_link(context.measure == super::Measure::Cells) {
        _ if reserve == BufferSize::Unlimited => refuse("reserve", "must be smaller than the buffer"),
        Some((measure, reserve)) if measure == context.measure => {
            let rest =
                context.capacity.limit().zip(reserve.limit()).map(|(all, kept)| all.saturating_sub(kept));
            Ok(four_fifths.max(rest.unwrap_or(0)))
        }
        _ => refuse("reserve", format!("must be in {}, the measure of this port", context.measure.word())),
    }
}

impl Admission for Policy {
    fn judge(&mut self, arrival: &mut Arrival<'_>) -> Verdict {
        let full = arrival.pool.total() >= self.threshold;
        self.frames.judge(arrival.unit, arrival.vc, arrival.fits(), || full.then_some(Reason::Early))
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
        self.frames.unless_marking(Rule::Frames { threshold: Some(self.threshold) })
    }

    fn rule_for_packets(&self) -> Option<Rule> {
        Some(Rule::Frames { threshold: Some(self.threshold) })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::PolicyBench;
    use super::*;

    fn params(threshold: u64) -> Params {
        Params {
            threshold: Level::Size(BufferSize::Cells(threshold)),
            reserve: None,
            pass_eom: true,
            discard_rest: true,
            action: Action::Drop,
        }
    }

    #[test]
    fn a_frame_that_starts_at_the_threshold_is_refused_whole() {
        let mut bench = PolicyBench::new(10, 2, |context| Policy::new(&params(3), context));
        assert_eq!(bench.offer(0, "f.e"), "AAA");
        assert_eq!(bench.offer(1, "f..e"), "rrrr");
        bench.depart(0);
        assert_eq!(bench.offer(1, "f..e"), "AAAA");
    }

    #[test]
    fn a_frame_that_started_below_the_threshold_may_fill_the_buffer() {
        let mut bench = PolicyBench::new(5, 1, |context| Policy::new(&params(1), context));
        assert_eq!(bench.offer(0, "f....."), "AAAAAo");
    }

    #[test]
    fn an_accepted_frame_that_overflows_is_cut_short_as_by_ppd() {
        let mut bench = PolicyBench::new(3, 1, |context| Policy::new(&params(2), context));
        assert_eq!(bench.offer(0, "f..."), "AAAo");
        bench.depart(0);
        assert_eq!(bench.offer(0, ".e"), "pA");
    }

    #[test]
    fn a_refused_frame_stays_refused_when_the_queue_drains() {
        let mut bench = PolicyBench::new(10, 1, |context| Policy::new(&params(1), context));
        assert_eq!(bench.offer(0, "1"), "A");
        assert_eq!(bench.offer(0, "f."), "rr");
        bench.depart(0);
        assert_eq!(bench.offer(0, ".e"), "rr");
        assert_eq!(bench.offer(0, "f"), "A");
    }

    #[test]
    fn paper_001_reserves_three_segments_but_at_most_a_fifth_of_the_buffer() {
        let tau = |buffer: u64, segment: u64| {
            let params = Params { reserve: Some(BufferSize::Cells(3 * segment)), ..params(0) };
            PolicyBench::new(buffer, 1, move |context| Policy::new(&params, context)).policy.threshold
        };
        assert_eq!(tau(5660, 32), 5660 - 96);
        assert_eq!(tau(5660, 192), 5660 - 576);
        assert_eq!(tau(943, 192), 755); // ⌈0.8 · 943⌉
    }

    #[test]
    fn what_is_reserved_must_be_in_the_measure_of_the_port() {
        let packets = Context { measure: super::super::Measure::Packets, ..Context::alone(100, 1) };
        let why = |reserve| {
            Policy::new(&Params { reserve: Some(reserve), ..params(0) }, &packets).unwrap_err().to_string()
        };
        for other in [BufferSize::Cells(10), BufferSize::Bytes(1500)] {
            assert_eq!(why(other), "reserve: must be in packets, the measure of this port");
        }
        assert_eq!(why(BufferSize::Unlimited), "reserve: must be smaller than the buffer");
    }

    #[test]
    fn a_threshold_above_the_buffer_is_refused() {
        let context = Context::alone(100, 1);
        let why = Policy::new(&params(101), &context).unwrap_err().to_string();
        assert_eq!(why, "threshold: 101 is above the buffer of 100 cells");
    }
}
