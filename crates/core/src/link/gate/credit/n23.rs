//! # Source
//! H. T. Kung, A. Chapman, "The FCVC (flow-controlled virtual channels) proposal for ATM networks", ICNP 1993; paper 001
//! (L. Kalampoukas, A. Varma, 1995), section 2 and appendix A. The balance is that of the credit update protocol:
//! H. T. Kung, T. Blackwell, A. Chapman, SIGCOMM 1994.
//!
//! # Idea
//! Every circuit has its own buffer of N2 + N3 cells behind every line, and the sender never has more cells in flight
//! than fit there. The receiver counts the cells `Vr` that it has forwarded and reports the count to the sender after
//! every N2 of them; the sender counts the cells `Vs` that it has sent and sends as long as its balance is positive:
//!
//! > bal = N2 + N3 − (Vs − Vr)
//!
//! No cell is ever lost (a circuit has X ≤ N2 + N3 cells behind the line) and none is blocked for ever (if a sender
//! has no balance, at least N2 of its cells are still to be forwarded). A circuit gets at most N2 + N3 cells in the
//! time of N2 cells and one round trip, from the last bit of a cell to its credit: with all three in cells
//!
//! > rate / line rate ≤ (N2 + N3) / (RTT + N2)
//!
//! # Parameters
//! `n2` N2, default 20 cells (appendix A). `n3` N3: a number of cells, or by the rule of appendix A
//!
//! > N3 = RTT · B_VC / cell
//!
//! rounded up, where RTT is the propagation delay both ways, the latency of both nodes, and the transmission time of
//! a cell at the next port, of the credit cell, and, if credit cells are charged, of a data cell before it; so one
//! circuit can fill its line, as long as the line back can carry a credit cell for every N2 cells. `peak` B_VC,
//! default the rate of the line. `charge`: whether credit cells take time on the line in the other direction, ahead
//! of data waiting there, or take none. One credit cell answers N2 cells: by default a twentieth of a line of the
//! same rate, but with N2 = 1 all of it.
//!
//! # Differences from the paper
//! Table 6.1 prints N3 = 73, 675 and 1770 cells for delays of 0.1, 0.95 and 2.5 ms: 2.4 to 4 cells above propagation
//! alone, by a rule that is not printed. The rule above gives 74, 675 and 1770, and without charge 73, 674 and 1769.
//! The paper does not say whether credit cells were charged, nor how large its buffers for acknowledgements were.
//!
//! # Complexity
//! Constant per cell; six counters per circuit and hop.

use super::{CreditReport, HopContext, Terms};
use crate::buffer::size::Measure;
use crate::refused::{Refused, refuse_if};
use crate::section;
use crate::units::{CELL_BYTES, CellCount, PS_PER_S, Rate, Span};

section! {
    /// Credits for a buffer of N2 + N3 cells per circuit (N23).
    pub struct Params {
        /// Cells that the receiver forwards before it sends the next credit cell: N2.
        pub n2: CellCount = CellCount(20),
        /// Cells that keep the line busy for one round trip: N3; by default just enough for `peak`.
        pub n3: Option<CellCount> = None,
        /// Peak rate of one circuit, for the default of `n3`; by default the rate of the line.
        pub peak: Option<Rate> = None,
        /// Whether credit cells take their time on the line in the other direction, ahead of waiting data.
        pub charge: bool = true,
    }
}

impl Params {
    /// Return the parameters with N3, which is computed by the rule unless the scenario gives it.
    pub(super) fn settled(&self, way: &HopContext) -> Result<Params, Refused> {
        let n3 = self.n3.unwrap_or_else(|| self.sized(way));
        refuse_if(self.n2 == CellCount(0), "n2", "must be at least 1 cell")?;
        refuse_if(self.n2 > MOST, "n2", format!("must be at most {MOST}"))?;
        refuse_if(self.peak == Some(Rate(0)), "peak", "must be greater than 0 b/s")?;
        refuse_if(
            self.n3.is_none() && n3 > MOST,
            "peak",
            format!("must give an N3 of at most {MOST}; this rate gives {n3}"),
        )?;
        refuse_if(n3 > MOST, "n3", format!("must be at most {MOST}"))?;
        Ok(Params { n3: Some(n3), ..self.clone() })
    }

    /// Return what the scheme guarantees to each account, computed from its fixed parameters.
    pub(super) fn terms(&self) -> Terms {
        let n3 = self.n3.expect("the parameters of a checked scenario are settled");
        let report = CreditReport::Cells { every: self.n2.0, charge: self.charge };
        Terms { room: self.n2.0 + n3.0, measure: Measure::Cells, report }
    }

    /// Return N3 = RTT · B_VC / cell, rounded up.
    fn sized(&self, way: &HopContext) -> CellCount {
        let peak = self.peak.unwrap_or(way.rate);
        let bits = u128::from(self.round_trip(way).0) * u128::from(peak.0);
        let cells = bits.div_ceil(u128::from(PS_PER_S) * u128::from(CELL_BYTES * 8));
        CellCount(u64::try_from(cells).unwrap_or(u64::MAX))
    }

    /// Return the time from the last bit of a cell to its credit, over an idle next port.
    fn round_trip(&self, way: &HopContext) -> Span {
        let cell = |rate: Rate| Span(rate.time_of_bits(CELL_BYTES * 8).0);
        let credit = if self.charge { cell(way.back) + cell(way.back) } else { cell(way.back) };
        way.delay + cell(way.rate) + credit
    }
}

/// Upper limit of N2 and N3, beyond any real buffer, so that a typing error cannot overflow the sums.
const MOST: CellCount = CellCount(1_000_000_000);

#[cfg(test)]
mod tests {
    use super::super::{CreditAccount, CreditReceiver, CreditSender};
    use super::*;
    use crate::link::control::Credit;
    use crate::link::gate::Gate;
    use crate::unit::{Flags, Unit};
    use crate::units::Time;
    use crate::units::ids::{CircuitId, IdVec, PortVc};

    const LINK: Rate = Rate(149_760_000);

    fn params(n2: u64, n3: Option<u64>) -> Params {
        Params { n2: CellCount(n2), n3: n3.map(CellCount), peak: None, charge: true }
    }

    const CELL: Unit =
        Unit { vc: CircuitId(0), frame: 0, identity: 0, index: 0, bytes: 53, hop: 0, flags: Flags(0) };

    /// Both ends of a hop with a number of circuits.
    fn ends(terms: Terms, vcs: u32) -> (CreditSender, CreditReceiver) {
        let accounts: IdVec<PortVc, u32> = (0..vcs).collect();
        (CreditSender::new(terms, accounts.clone()), CreditReceiver::new(terms, accounts))
    }

    fn way(delay: Span) -> HopContext {
        HopContext { rate: LINK, back: LINK, delay: delay + delay, largest: [CELL_BYTES; 2], classes: 1 }
    }

    fn terms(room: u64, every: u64, charge: bool) -> Terms {
        Terms { room, measure: Measure::Cells, report: CreditReport::Cells { every, charge } }
    }

    fn n3(params: Params, delay: Span) -> u64 {
        params.settled(&way(delay)).unwrap().n3.unwrap().0
    }

    #[test]
    fn the_rule_comes_within_one_cell_of_table_6_1_of_paper_001() {
        let delays = [Span::micros(100), Span::micros(950), Span::micros(2500)];
        let free = Params { charge: false, ..params(20, None) };
        assert_eq!(delays.map(|delay| n3(params(20, None), delay)), [74, 675, 1770]);
        assert_eq!(delays.map(|delay| n3(free.clone(), delay)), [73, 674, 1769]);
    }

    #[test]
    fn a_circuit_of_a_quarter_of_the_rate_needs_a_quarter_of_the_buffer() {
        let quarter = Params { peak: Some(Rate(LINK.0 / 4)), ..params(20, None) };
        assert_eq!(n3(quarter, Span::micros(950)), 674_u64.div_ceil(4));
    }

    #[test]
    fn a_given_size_is_kept() {
        assert_eq!(n3(params(20, Some(5)), Span::millis(1)), 5);
        let settled = params(20, Some(73)).settled(&way(Span::ZERO)).unwrap();
        assert_eq!(settled.terms(), terms(93, 20, true));
    }

    #[test]
    fn parameters_that_cannot_work_are_refused_by_name() {
        let refused = |params: Params| params.settled(&way(Span::secs(3600))).unwrap_err().key;
        assert_eq!(refused(params(0, Some(1))), Some("n2"));
        assert_eq!(refused(params(MOST.0 + 1, Some(1))), Some("n2"));
        assert_eq!(refused(params(1, Some(MOST.0 + 1))), Some("n3"));
        assert_eq!(refused(params(1, None)), Some("peak"));
        assert_eq!(refused(Params { peak: Some(Rate(0)), ..params(1, None) }), Some("peak"));
    }

    #[test]
    fn the_balance_is_the_room_less_what_is_not_known_to_have_left() {
        let (mut sender, mut receiver) = ends(terms(5, 2, false), 2);
        for balance in [4, 3, 2, 1, 0] {
            sender.starts(Time::ZERO, &CELL, PortVc(1));
            receiver.arrived(PortVc(1), &CELL);
            assert_eq!(sender.balance(PortVc(1)), balance);
        }
        assert_eq!(
            (sender.balance(PortVc(0)), receiver.books(PortVc(1)).held),
            (5, 5),
            "circuits do not share"
        );
        assert_eq!(receiver.left(PortVc(1), &CELL), None, "the first cell of two");
        let credit = receiver.left(PortVc(1), &CELL);
        assert_eq!(credit, Some(Credit { account: 1, forwarded: 2 }));
        sender.credited(credit.unwrap());
        assert_eq!(
            (sender.balance(PortVc(1)), sender.account(PortVc(1))),
            (2, CreditAccount { sent: 5, forwarded: 2 })
        );
    }

    #[test]
    fn a_credit_says_how_many_cells_have_left_in_all_so_that_the_next_one_mends_its_loss() {
        let (mut sender, mut receiver) = ends(terms(6, 2, false), 1);
        for _ in 0..4 {
            sender.starts(Time::ZERO, &CELL, PortVc(0));
            receiver.arrived(PortVc(0), &CELL);
        }
        let credits: Vec<Credit> = (0..4).filter_map(|_| receiver.left(PortVc(0), &CELL)).collect();
        assert_eq!(credits.iter().map(|credit| credit.forwarded).collect::<Vec<_>>(), [2, 4]);
        sender.credited(credits[1]);
        assert_eq!(sender.balance(PortVc(0)), 6);
    }

    #[test]
    #[should_panic(expected = "no unit without credit")]
    fn a_circuit_without_balance_sends_nothing() {
        let (mut sender, _) = ends(terms(1, 1, false), 1);
        sender.starts(Time::ZERO, &CELL, PortVc(0));
        sender.starts(Time::ZERO, &CELL, PortVc(0));
    }
}
