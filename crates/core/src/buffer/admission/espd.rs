//! # Source
//! K. Cheon, S. S. Panwar, "Early selective packet discard for alternating resource access of TCP over ATM-UBR", IEEE
//! LCN 1997; cited by paper 002 (A. Rácz, G. Fodor, Z. Turányi, 1999), section II.
//!
//! # Idea
//! Random discards hit many sessions at once and synchronise their windows. Instead a few sessions are selected and
//! lose every frame until the congestion is over, so that sessions take turns. When the occupancy X reaches H, the
//! circuit of the next frame is put on a list. The list grows while X continues to grow, and it is cleared when X
//! falls below L. A frame is refused iff its circuit is on the list.
//!
//! # Parameters
//! `low` L and `high` H: occupancies, default 70 % and 80 %, which the paper does not give. If L is far below H, sessions
//! limited by their windows may keep the queue above L for good, and the selected ones starve. `pass_eom` as for PPD.
//!
//! # Differences from the paper
//! Experimental: only the abstract and paper 002's summary were at hand, so no fidelity is claimed. The persistence of
//! the overflow rate, on which the list grows, is read off the occupancy: with `N_a` circuits that have anything queued
//! one more is listed while there are fewer than 1 + N_a · (X − H) / (B − H).
//!
//! # Complexity
//! Constant; two bits and the number of a congestion period per circuit.

use super::{Admission, Arrival, Context, Departure, Interest, Rule, Shortcuts};
use crate::buffer::frame::Frames;
use crate::buffer::pool::Pool;
use crate::buffer::size::Level;
use crate::refused::{Refused, refuse};
use crate::section;
use crate::units::ids::{IdVec, PortVc};
use crate::verdict::{Reason, Verdict};

section! {
    /// Refuse every frame of a few selected circuits while congestion lasts.
    pub struct Params {
        /// Occupancy L below which the list of selected circuits is cleared.
        pub low: Level = Level::Percent(70.0),
        /// Occupancy H from which circuits are selected.
        pub high: Level = Level::Percent(80.0),
        /// Keep the last cell of a broken frame as a delimiter, if it fits.
        pub pass_eom: bool = true,
    }
}

/// Early selective packet discard at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    low: u64,
    high: u64,
    /// The number of the present congestion period, and for each circuit the latest period in which it was selected.
    period: u64,
    selected: IdVec<PortVc, u64>,
    listed: u64,
    frames: Frames,
}

impl Policy {
    /// Build the policy of one port; the error says why its thresholds cannot be used.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        let (low, high) = (context.level("low", params.low)?, context.level("high", params.high)?);
        if low == 0 {
            return refuse(
                "low",
                "must be greater than 0; the occupancy is never below 0, so the list would never be cleared",
            );
        }
        if high < low {
            let word = context.measure.word();
            return refuse("high", format!("must be at least `low` of {low} {word}"));
        }
        let frames = Frames::new(context.vcs(), params.pass_eom);
        Ok(Policy { low, high, period: 1, selected: IdVec::filled(0, context.vcs()), listed: 0, frames })
    }

    /// Decide whether to refuse a frame that starts now; the decision may add its circuit to the list.
    fn refuses(&mut self, vc: PortVc, pool: &Pool) -> bool {
        if self.selected[vc] != self.period && self.may_select(pool) {
            self.selected[vc] = self.period;
            self.listed += 1;
        }
        self.selected[vc] == self.period
    }

    /// Return whether X ≥ H and fewer than 1 + N_a · (X − H) / (B − H) circuits are listed.
    fn may_select(&self, pool: &Pool) -> bool {
        let Some(above) = pool.total().checked_sub(self.high) else { return false };
        let grown = u128::from(pool.active()) * u128::from(above);
        match pool.capacity().limit().map(|limit| u128::from(limit - self.high)) {
            _ if self.listed == 0 => true,
            Some(span) => u128::from(self.listed) * span < span + grown,
            None => self.listed == 1 && grown > 0, // the quotient is less than any, but not nothing
        }
    }
}

impl Admission for Policy {
    fn judge(&mut self, arrival: &mut Arrival<'_>) -> Verdict {
        let refused = arrival.unit.is_first() && self.refuses(arrival.vc, arrival.pool);
        self.frames.judge(arrival.unit, arrival.vc, arrival.fits(), || refused.then_some(Reason::Early))
    }

    fn departed(&mut self, departure: &Departure<'_>) {
        if departure.pool.total() < self.low && self.listed > 0 {
            self.period += 1;
            self.listed = 0;
        }
    }

    fn broken(&mut self, vc: PortVc, fragment: bool) {
        self.frames.broken(vc, fragment);
    }
}

impl Shortcuts for Policy {
    fn rule(&self) -> Option<Rule> {
        Some(Rule::Asked(Interest::Every))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::PolicyBench;
    use super::*;
    use crate::buffer::size::BufferSize;

    fn bench(low: u64, high: u64, capacity: u64) -> PolicyBench<Policy> {
        let cells = |n| Level::Size(BufferSize::Cells(n));
        let params = Params { low: cells(low), high: cells(high), pass_eom: true };
        PolicyBench::new(capacity, 4, move |context| Policy::new(&params, context))
    }

    #[test]
    fn at_h_the_session_of_the_next_frame_is_selected_and_the_others_go_on() {
        let mut bench = bench(2, 4, 24);
        assert_eq!(bench.offer(0, "f..e"), "AAAA");
        assert_eq!(bench.offer(1, "f.e"), "rrr");
        assert_eq!(bench.offer(0, "1"), "A");
        assert_eq!(bench.offer(1, "1"), "r");
    }

    #[test]
    fn the_list_grows_while_the_queue_does() {
        let mut bench = bench(2, 4, 12);
        bench.offer(0, "f..e");
        assert_eq!(bench.offer(1, "1"), "r");
        // X = 4 + 4 of one circuit: room for one and a half
        assert_eq!(bench.offer(0, "f..e"), "AAAA");
        assert_eq!(bench.offer(2, "1"), "r");
        assert_eq!(bench.offer(3, "1"), "A", "two are listed");
    }

    #[test]
    fn the_list_grows_by_the_share_of_the_active_sessions_by_which_x_exceeds_h() {
        let mut bench = bench(2, 4, 12);
        (0..3).for_each(|vc| bench.pool.add(PortVc::new(vc), [3, 3, 2][vc]));
        // X = 8 of three: fewer than 1 + 3 · 4 / 8 are listed
        assert_eq!((0..4).map(|vc| bench.offer(vc, "1")).collect::<String>(), "rrrA");
    }

    #[test]
    fn selected_sessions_lose_every_frame_until_x_falls_below_l() {
        let mut bench = bench(2, 4, 12);
        bench.offer(0, "f..e");
        assert_eq!(bench.offer(1, "1"), "r");
        (0..2).for_each(|_| bench.depart(0));
        assert_eq!(bench.offer(1, "1"), "r", "X = L");
        bench.depart(0);
        assert_eq!(bench.offer(1, "1"), "A");
        bench.offer(0, "11");
        assert_eq!([bench.offer(2, "1"), bench.offer(1, "1")].concat(), "rA", "then the list is a new one");
    }

    #[test]
    fn a_frame_under_way_is_not_cut_short_by_selection() {
        let mut bench = bench(2, 4, 12);
        assert_eq!(bench.offer(1, "f"), "A");
        assert_eq!(bench.offer(0, "f..e"), "AAAA");
        assert_eq!(bench.offer(2, "1"), "r");
        assert_eq!(bench.offer(1, ".ef"), "AAr");
    }

    #[test]
    fn a_lower_threshold_of_0_is_refused() {
        let params = Params { low: Level::Percent(0.0), high: Level::Percent(80.0), pass_eom: true };
        let why = Policy::new(&params, &Context::alone(10, 1)).unwrap_err().to_string();
        assert_eq!(
            why,
            "low: must be greater than 0; the occupancy is never below 0, so the list would never be cleared"
        );
    }
}
