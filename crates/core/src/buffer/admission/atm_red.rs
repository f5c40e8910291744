//! # Source
//! V. Rosolen, O. Bonaventure, G. Leduc, "Impact of cell discard strategies on TCP/IP in ATM UBR networks", ULg
//! RUN-PP98-02, 1998: paper 000, section 2.3 (a), figures 2 and 3.
//!
//! # Idea
//! RED in cells, without a queue per circuit: every arriving cell updates RED's average and may be marked. A mark
//! discards the *next* frame of the cell's circuit as a whole. Two bits per circuit store its state (m: the cell is
//! marked, e: it is the EOM; A: accept, D: discard):
//!
//! | state | m̄, ē | m̄, e | m, ē | m, e |
//! |---|---|---|---|---|
//! | accept-first | A, accept-cell | A, accept-first | D, discard-cell | D, accept-first |
//! | accept-cell | A, accept-cell | A, accept-first | A, accept-rest | A, discard-cell |
//! | accept-rest | A, accept-rest | A, discard-cell | – | – |
//! | discard-cell | D, discard-cell | D, accept-first | – | – |
//!
//! # Parameters
//! `weight` w per cell, `max_p`, `min_threshold`, `max_threshold`: defaults are paper 000's Table 1 (0.002, 0.02, 2000
//! and 6000 cells of 8192 as shares). `max_p` is the value per *packet*; the machine uses it divided by the cells of
//! the circuit's full frame, or by `frame` if given. `curve`: `gentle` (default; figure 2's "first part") or `classic`.
//! `literal_eom` (default false): discard an EOM that is itself marked, in accept-cell. `pass_eom` as for PPD.
//! `discard_rest` (default true): partial packet discard when a frame overflows; without it the policy is exactly
//! figure 3.
//! `action` (default `drop`): with `mark` a marked cell carries a congestion mark (EFCI) and costs no frame, if its
//! transport reacts to that.
//!
//! # Differences from the paper
//! Figure 3 is not in the text; the table is the only reading in which marks are evaluated in two states of four and
//! "the packet discard decision concerns the next packet". Its sentence "either the current cell (if EOM is on) or the
//! next packet will be discarded", taken literally, spoils two frames: see `literal_eom`. A frame that overflows is cut
//! short as by PPD, which the paper leaves open, and stands for a mark that was pending. Only maxp is per cell: the
//! second part of the gentle curve still ends at 1.
//!
//! # Complexity
//! Constant; two bits per circuit and one for overflow. A random number is drawn only above minth.

use super::red::{Curve, Detector, mean_frame_time};
use super::{
    Admission, Arrival, Context, Departure, InnerArrival, Interest, Measure, Rule, Shortcuts, Within,
};
use crate::buffer::size::Level;
use crate::metrics::state::Figure;
use crate::refused::{Refused, probability, refuse};
use crate::rng::Keyed;
use crate::section;
use crate::unit::Unit;
use crate::units::ids::{IdVec, PortVc};
use crate::units::{CELL_BYTES, CellCount, Span};
use crate::verdict::{Action, Reason, Verdict};

section! {
    /// Random early detection in cells: a marked cell costs its circuit the next frame.
    pub struct Params {
        /// Weight w of one cell in the average queue.
        pub weight: f64 = 0.002,
        /// Probability per packet at the upper threshold; divided by the cells of a full frame.
        pub max_p: f64 = 0.02,
        /// Average below which nothing is discarded.
        pub min_threshold: Level = Level::Percent(24.414_062_5),
        /// Average at which the probability is maxp.
        pub max_threshold: Level = Level::Percent(73.242_187_5),
        /// What happens above the upper threshold.
        pub curve: Curve = Curve::Gentle,
        /// Cells of a full frame by which maxp is divided; by default those of each circuit's own.
        pub frame: Option<CellCount> = None,
        /// Discard a marked EOM of an accepted frame, as one sentence of the paper has it.
        pub literal_eom: bool = false,
        /// Keep the last cell of a frame that overflowed as a delimiter, if it fits.
        pub pass_eom: bool = true,
        /// Discard the rest of a frame that has lost a cell (PPD); if not, it is queued as far as it fits.
        pub discard_rest: bool = true,
        /// What a mark causes: `drop`, the loss of the circuit's next frame, or `mark`, a congestion mark on the cell
        /// itself where the transport reacts to marks (ECT).
        pub action: Action = Action::Drop,
    }
}

/// The state of a circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CircuitState {
    /// The next cell starts a frame.
    AcceptFirst,
    /// Within a frame that is accepted.
    AcceptCell,
    /// Within a frame that is accepted; the next one will be discarded.
    AcceptRest,
    /// Within a frame that is discarded.
    DiscardCell,
    /// Within a frame that has lost a cell for want of room; `fragment` if earlier ones were accepted.
    Broken { fragment: bool },
}

use CircuitState::{AcceptCell, AcceptFirst, AcceptRest, Broken, DiscardCell};

impl CircuitState {
    /// Return the state in which a cell is judged. A first cell ends the frame before it, even if that frame's EOM
    /// never arrived here: a port with push-out discards the rest of a broken frame, with the EOM, before this
    /// policy.
    fn at(self, cell: &Unit) -> CircuitState {
        match self {
            AcceptRest if cell.is_first() => DiscardCell,
            AcceptCell | Broken { .. } if cell.is_first() => AcceptFirst,
            other => other,
        }
    }

    /// Return whether RED may mark the next cell.
    fn is_open(self) -> bool {
        matches!(self, AcceptFirst | AcceptCell)
    }

    /// Apply figure 3: return whether the cell is accepted, and the state after it.
    fn step(self, marked: bool, eom: bool, literal_eom: bool) -> (bool, CircuitState) {
        match (self, marked, eom) {
            (AcceptFirst | AcceptCell, false, false) => (true, AcceptCell),
            (AcceptFirst | AcceptCell, false, true) => (true, AcceptFirst),
            (AcceptFirst, true, false) => (false, DiscardCell),
            (AcceptFirst, true, true) => (false, AcceptFirst),
            (AcceptCell, true, false) => (true, AcceptRest),
            (AcceptCell, true, true) if literal_eom => (false, AcceptFirst),
            (AcceptCell, true, true) => (true, DiscardCell),
            (AcceptRest, _, false) => (true, AcceptRest),
            (AcceptRest, _, true) => (true, DiscardCell),
            (DiscardCell | Broken { .. }, _, true) => (false, AcceptFirst),
            (DiscardCell | Broken { .. }, _, false) => (false, self),
        }
    }

    /// Return the state after a cell that figure 3 accepts found no room in the buffer.
    fn overflow(self, eom: bool) -> CircuitState {
        if eom { AcceptFirst } else { Broken { fragment: self != AcceptFirst } }
    }
}

/// ATM-RED at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    detector: Detector,
    circuits: IdVec<PortVc, AtmRedCircuit>,
    literal_eom: bool,
    pass_eom: bool,
    discard_rest: bool,
    action: Action,
    keyed: Keyed,
}

#[derive(Clone, Debug)]
struct AtmRedCircuit {
    state: CircuitState,
    /// `maxp`, divided so that it is a probability per cell.
    max_p: f64,
}

impl Policy {
    /// Build the policy of one port; the error says why its parameters cannot be used.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        let max_p = probability("max_p", params.max_p)?;
        match params.frame {
            Some(CellCount(0)) => return refuse("frame", "must be at least 1 cell"),
            Some(_) if context.measure != Measure::Cells => {
                return refuse("frame", "cannot be set on packet links, where every unit is a whole frame");
            }
            _ => {}
        }
        let Params { weight, min_threshold, max_threshold, curve, .. } = *params;
        let circuit = |own| {
            let frame = params.frame.map_or(own, |frame| frame.0).max(1);
            AtmRedCircuit { state: AcceptFirst, max_p: max_p / frame as f64 }
        };
        let slot = unit_time(context);
        Ok(Policy {
            detector: Detector::new(context, weight, min_threshold, max_threshold, curve, slot)?,
            circuits: frame_units(context).map(circuit).collect(),
            literal_eom: params.literal_eom,
            pass_eom: params.pass_eom,
            discard_rest: params.discard_rest,
            action: params.action,
            keyed: context.keyed("atm-red"),
        })
    }
}

/// Return the number of units in a full frame of every circuit.
fn frame_units<'a>(context: &Context<'a>) -> impl Iterator<Item = u64> + use<'a> {
    let cells = context.measure == Measure::Cells;
    context.contracts.iter().map(move |contract| if cells { contract.frame } else { 1 })
}

/// Return the time that the line needs for one unit.
fn unit_time(context: &Context<'_>) -> Span {
    match context.measure {
        Measure::Cells => Span(context.rate.time_of_bits(8 * CELL_BYTES).0),
        _ => mean_frame_time(context),
    }
}

impl Admission for Policy {
    fn judge(&mut self, arrival: &mut Arrival<'_>) -> Verdict {
        let Policy { detector, keyed, .. } = self;
        let AtmRedCircuit { state, max_p } = &mut self.circuits[arrival.vc];
        detector.sample(arrival.now, arrival.pool.total());
        detector.count();
        let (before, eom, fits) = (state.at(arrival.unit), arrival.unit.is_eom(), arrival.fits());
        let marked = before.is_open() && detector.marks(*max_p, || keyed.unit(arrival.unit.subject()));
        let bears = marked && self.action.marks(arrival.unit);
        let (accepted, after) = before.step(marked && !bears, eom, self.literal_eom);
        *state = after;
        match before {
            Broken { fragment } if eom && fragment && self.pass_eom && fits => Verdict::Accept,
            Broken { .. } => Verdict::Discard(Reason::Partial),
            _ if !accepted => Verdict::Discard(Reason::Random),
            _ if fits && bears => Verdict::Mark(Reason::Random),
            _ if fits => Verdict::Accept,
            _ => {
                if self.discard_rest {
                    *state = before.overflow(eom);
                }
                detector.lost();
                Verdict::Discard(Reason::Overflow)
            }
        }
    }

    fn state(&self) -> Vec<Figure> {
        vec![Figure::of_all("average", self.detector.average())]
    }

    fn departed(&mut self, departure: &Departure<'_>) {
        if departure.pool.total() == 0 {
            self.detector.idle(departure.now);
        }
    }

    fn broken(&mut self, vc: PortVc, fragment: bool) {
        if self.discard_rest {
            self.circuits[vc].state = Broken { fragment };
        }
    }
}

impl Shortcuts for Policy {
    /// Return the fate of an inner unit: a mark within a frame concerns the next frame of the circuit.
    fn foresees(&self, vc: PortVc) -> Within {
        match self.circuits[vc].state {
            AcceptFirst => Within::Asked,
            AcceptCell | AcceptRest => Within::Taken,
            DiscardCell => Within::Lost(Reason::Random),
            Broken { .. } => Within::Broken(Reason::Partial),
        }
    }

    fn see(&mut self, first: &Unit, vc: PortVc, arrivals: &[InnerArrival]) {
        let Policy { detector, keyed, .. } = self;
        let AtmRedCircuit { state, max_p } = &mut self.circuits[vc];
        for (&InnerArrival { time, level }, index) in arrivals.iter().zip(first.index..) {
            detector.sample(time, level);
            detector.count();
            let subject = || Unit { index, ..*first }.subject();
            if *state == AcceptCell && detector.marks(*max_p, || keyed.unit(subject())) {
                *state = AcceptRest;
            }
        }
    }

    fn rule(&self) -> Option<Rule> {
        (self.action == Action::Drop).then_some(Rule::Asked(Interest::Total))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::PolicyBench;
    use super::*;
    use crate::buffer::capacity::Capacity;
    use crate::buffer::size::BufferSize;
    use crate::language::spec::Section;

    fn params(min: u64, max: u64) -> Params {
        let cells = |n| Level::Size(BufferSize::Cells(n));
        Params {
            weight: 1.0,
            max_p: 0.0,
            min_threshold: cells(min),
            max_threshold: cells(max),
            curve: Curve::Classic,
            frame: None,
            literal_eom: false,
            pass_eom: true,
            discard_rest: true,
            action: Action::Drop,
        }
    }

    /// Send all cells of circuit 0, and wait until the average has decayed.
    fn drain(bench: &mut PolicyBench<Policy>) {
        (0..bench.pool.of(PortVc(0))).for_each(|_| bench.depart(0));
        bench.now += Span::secs(1);
    }

    /// With w = 1, maxp = 0 and the classic curve a cell is marked iff it meets at least `max` cells.
    fn bench(capacity: u64, max: u64) -> PolicyBench<Policy> {
        PolicyBench::new(capacity, 2, move |context| Policy::new(&params(max, max), context))
    }

    #[test]
    fn a_frame_of_no_cells_and_one_on_packet_links_are_refused() {
        let why = |cells, measure| {
            let params = Params { frame: Some(CellCount(cells)), ..params(4, 8) };
            Policy::new(&params, &Context { measure, ..Context::alone(9, 1) }).unwrap_err().to_string()
        };
        assert_eq!(why(0, Measure::Cells), "frame: must be at least 1 cell");
        assert_eq!(
            why(8, Measure::Packets),
            "frame: cannot be set on packet links, where every unit is a whole frame"
        );
    }

    #[test]
    fn every_row_of_the_transition_table() {
        let rows = [
            (AcceptFirst, false, false, true, AcceptCell),
            (AcceptFirst, false, true, true, AcceptFirst),
            (AcceptFirst, true, false, false, DiscardCell),
            (AcceptFirst, true, true, false, AcceptFirst),
            (AcceptCell, false, false, true, AcceptCell),
            (AcceptCell, false, true, true, AcceptFirst),
            (AcceptCell, true, false, true, AcceptRest),
            (AcceptCell, true, true, true, DiscardCell),
            (AcceptRest, false, false, true, AcceptRest),
            (AcceptRest, true, false, true, AcceptRest),
            (AcceptRest, false, true, true, DiscardCell),
            (AcceptRest, true, true, true, DiscardCell),
            (DiscardCell, false, false, false, DiscardCell),
            (DiscardCell, true, false, false, DiscardCell),
            (DiscardCell, false, true, false, AcceptFirst),
            (DiscardCell, true, true, false, AcceptFirst),
        ];
        for (state, marked, eom, accepted, next) in rows {
            assert_eq!(state.step(marked, eom, false), (accepted, next), "{state:?} m {marked} e {eom}");
            let literal = state.step(marked, eom, true);
            let exception = (state, marked, eom) == (AcceptCell, true, true);
            assert_eq!(literal, if exception { (false, AcceptFirst) } else { (accepted, next) });
        }
    }

    #[test]
    fn marks_are_evaluated_only_in_accept_first_and_accept_cell() {
        let open = [AcceptFirst, AcceptCell, AcceptRest, DiscardCell, Broken { fragment: true }];
        assert_eq!(open.map(CircuitState::is_open), [true, true, false, false, false]);
    }

    #[test]
    fn the_decision_concerns_the_packet_after_the_one_with_the_marked_cell() {
        let mut bench = bench(20, 2);
        assert_eq!(bench.offer(0, "f...e"), "AAAAA", "its third cell is marked");
        drain(&mut bench);
        assert_eq!(bench.offer(0, "f.e"), "mmm", "discarded whole although the queue is empty");
        assert_eq!(bench.offer(0, "f"), "A");
    }

    #[test]
    fn with_persistent_congestion_an_entire_series_of_packets_is_discarded() {
        let mut bench = bench(20, 3);
        assert_eq!(bench.offer(0, "f.e"), "AAA");
        assert_eq!(bench.offer(0, "f.ef.e1f.e"), "mmmmmmmmmm");
    }

    #[test]
    fn a_mark_on_the_eom_concerns_the_next_packet_or_literally_the_eom_itself() {
        for (literal_eom, verdicts) in [(false, "AAAmm"), (true, "AAmAA")] {
            let params = Params { literal_eom, ..params(2, 2) };
            let mut bench = PolicyBench::new(20, 1, move |context| Policy::new(&params, context));
            let mut answers = bench.offer(0, "f.e");
            drain(&mut bench);
            answers += &bench.offer(0, "fe");
            assert_eq!(answers, verdicts);
        }
    }

    #[test]
    fn each_circuit_has_its_own_state() {
        let mut bench = bench(20, 2);
        assert_eq!(bench.offer(0, "f.."), "AAA");
        drain(&mut bench);
        assert_eq!(bench.offer(1, "1"), "A");
        assert_eq!(bench.offer(0, "ef"), "Am");
    }

    #[test]
    fn a_frame_that_overflows_is_cut_short_as_by_ppd() {
        let mut bench =
            PolicyBench::new(3, 1, |context| Policy::new(&Params { weight: 0.001, ..params(3, 3) }, context));
        assert_eq!(bench.offer(0, "f..."), "AAAo");
        bench.depart(0);
        assert_eq!(bench.offer(0, ".e"), "pA");
        assert_eq!(bench.offer(0, "f.e"), "opp", "nothing of it was queued, so its EOM goes too");
        bench.depart(0);
        assert_eq!(bench.offer(0, "1"), "A");
    }

    #[test]
    fn without_partial_discard_overflow_does_not_move_the_machine() {
        let params = Params { weight: 0.001, discard_rest: false, ..params(3, 3) };
        let mut bench = PolicyBench::new(3, 1, move |context| Policy::new(&params, context));
        assert_eq!(bench.offer(0, "f...."), "AAAoo");
        bench.depart(0);
        assert_eq!(bench.offer(0, ".e"), "Ao");
        assert_eq!(bench.policy.circuits[PortVc(0)].state, AcceptFirst);
    }

    #[test]
    fn a_lost_frame_settles_a_pending_mark() {
        let mut bench = bench(3, 2);
        assert_eq!(bench.offer(0, "f..."), "AAAo");
        drain(&mut bench);
        assert_eq!(bench.offer(0, ".ef"), "pAA");
    }

    #[test]
    fn what_is_foreseen_and_seen_is_what_would_have_been_judged() {
        let params = Params { weight: 0.3, max_p: 0.5, frame: Some(CellCount(8)), ..params(4, 12) };
        let build = move |context: &Context<'_>| Policy::new(&params, context);
        let (mut asked, mut shown) = (PolicyBench::new(20, 1, &build), PolicyBench::new(20, 1, &build));
        let mut foreseen = String::new();
        for round in 0..500 {
            assert_eq!(asked.offer(0, "f"), shown.offer(0, "f"));
            let fate = match shown.policy.foresees(PortVc(0)) {
                Within::Taken => "A",
                Within::Lost(Reason::Random) => "m",
                fate => panic!("{fate:?} of a frame that fits"),
            };
            assert_eq!(asked.offer(0, "...."), fate.repeat(4));
            let (time, added) = (shown.now, u64::from(fate == "A"));
            for _ in 0..4 {
                let arrival = InnerArrival { time, level: shown.pool.total() };
                let unit = shown.next_cell(PortVc(0), '.');
                shown.policy.see(&unit, PortVc(0), &[arrival]);
                shown.pool.add(PortVc(0), added);
            }
            assert_eq!(asked.offer(0, "e"), shown.offer(0, "e"));
            assert_eq!(asked.policy.detector.average(), shown.policy.detector.average());
            while asked.pool.total() > round % 14 {
                asked.depart(0);
                shown.depart(0);
            }
            foreseen += fate;
        }
        assert!(foreseen.contains('A') && foreseen.contains('m'));
    }

    #[test]
    fn maxp_is_divided_by_the_cells_of_a_frame() {
        let context = Context::alone(100, 1);
        let of = |frame| {
            let params = Params { max_p: 0.02, frame, ..params(10, 90) };
            Policy::new(&params, &context).unwrap().circuits[PortVc(0)].max_p
        };
        assert_eq!(of(None), 0.02 / 32.0, "the circuit's own frame");
        assert_eq!(of(Some(CellCount(192))), 0.02 / 192.0);
    }

    #[test]
    fn the_defaults_are_table_1_of_paper_000() {
        let thresholds: Vec<_> = Params::params()[2..4].iter().map(|param| param.default.clone()).collect();
        assert_eq!(thresholds, [Some("24.4140625 %".into()), Some("73.2421875 %".into())]);
        let levels = [24.414_062_5, 73.242_187_5]
            .map(|share| Level::Percent(share).within(Measure::Cells, Capacity::limited(8192)));
        assert_eq!(levels, [Ok(2000), Ok(6000)]);
    }

    #[test]
    fn on_packet_links_a_frame_is_one_unit_and_maxp_is_that_of_a_packet() {
        let packets = Context { measure: Measure::Packets, ..Context::alone(100, 1) };
        let params = Params {
            min_threshold: Level::Percent(10.0),
            max_threshold: Level::Percent(90.0),
            max_p: 0.02,
            ..params(0, 0)
        };
        assert_eq!(Policy::new(&params, &packets).unwrap().circuits[PortVc(0)].max_p, 0.02);
    }

    #[test]
    fn while_the_port_is_idle_the_average_decays_with_every_cell_time() {
        let params = Params { weight: 0.5, ..params(90, 90) };
        let mut bench = PolicyBench::new(100, 1, move |context| Policy::new(&params, context));
        bench.offer(0, "f.e");
        bench.now += Span::millis(1);
        (0..3).for_each(|_| bench.depart(0));
        bench.now += Span(3 * 2_726_337);
        bench.offer(0, "1");
        let average = bench.policy.detector.average();
        assert!((average / (1.25 / 8.0) - 1.0).abs() < 1e-5, "{average}");
    }

    #[test]
    fn the_average_moves_at_every_cell_whatever_becomes_of_it() {
        let params = Params { weight: 0.5, ..params(90, 90) };
        let mut bench = PolicyBench::new(100, 1, move |context| Policy::new(&params, context));
        bench.offer(0, "f.e");
        assert_eq!(bench.policy.detector.average(), 1.25, "samples 0, 1, 2");
    }
}
