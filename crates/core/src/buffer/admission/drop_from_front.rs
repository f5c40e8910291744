//! # Source
//! T. V. Lakshman, A. Neidhardt, T. J. Ott, "The drop from front strategy in TCP and in TCP over ATM", IEEE INFOCOM
//! 1996; cited by papers 000 (section 2) and 003 (section 3.1). The frame form is from memory of that paper.
//!
//! # Idea
//! A full buffer takes the arriving cell and gives up the one at the head of the queue, so that a sender detects the
//! loss a whole queue earlier. In the frame form, the remaining cells of a frame that has lost a cell at the head are
//! discarded when they reach the head, except the EOM that delimits the part that has been sent.
//!
//! # Parameters
//! `form`: `cell` (default, the scheme itself) or `frame`. `pass_eom` (default true): in the frame form, send the EOM
//! of a frame of which earlier cells have been sent.
//!
//! # Differences from the paper
//! The cell in transmission is never given up: with no other cell waiting the arriving one is lost. In the frame form
//! a cell that arrives for a frame already broken is discarded at once rather than at the head, and a frame that lost
//! its first cell leaves no fragment, so its EOM goes too. An EOM that stands at the head of a full queue is given up
//! like any other cell. Where every circuit has a queue of its own, a cell takes the place of one of its own circuit, and
//! is lost if there is none. On a port that counts octets as many units are given up as the arriving one needs.
//! Frames are distinguished by number, so one behind a lost EOM is not taken for the rest of the frame before.
//!
//! # Complexity
//! Constant; the frame form keeps the number of the broken frame of each circuit.

use super::{Admission, Arrival, Context, Departure, Displaced, Head, HeadRule, Properties, Shortcuts};
use crate::refused::Refused;
use crate::unit::Unit;
use crate::units::ids::{IdVec, PortVc};
use crate::verdict::{HeadVerdict, Reason, Verdict, Victim};
use crate::{choice, section};

choice! {
    /// Units that are discarded at the head of the queue.
    pub enum HeadForm {
        /// One cell for each arriving cell.
        Cell = "cell",
        /// One cell, and then the rest of its frame.
        Frame = "frame",
    }
}

section! {
    /// Make room for the newest cell by giving up the oldest.
    pub struct Params {
        /// What is given up.
        pub form: HeadForm = HeadForm::Cell,
        /// Send the last cell of a broken frame as a delimiter; for the frame form only.
        pub pass_eom: bool = true,
    }
}

/// Drop from front at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    /// The latest broken frame of each circuit; empty in the cell form.
    broken: IdVec<PortVc, Option<Broken>>,
    /// Number of the frame whose unit was judged last.
    arriving: u32,
    pass_eom: bool,
}

/// A frame that has lost a unit.
#[derive(Clone, Copy, Debug)]
struct Broken {
    frame: u32,
    /// Whether units of the frame have been sent before the loss.
    fragment: bool,
}

impl Policy {
    /// Build the policy of one port.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        let circuits = if params.form == HeadForm::Frame { context.vcs() } else { 0 };
        Ok(Policy { broken: IdVec::filled(None, circuits), arriving: 0, pass_eom: params.pass_eom })
    }

    /// Record that a unit of this frame is lost. `fragment` says whether earlier units of the frame have been sent;
    /// if the frame is already recorded, its record remains.
    fn lost(&mut self, vc: PortVc, frame: u32, fragment: bool) {
        if let Some(broken) = self.broken.get_mut(vc) {
            let known = broken.filter(|broken| broken.frame == frame);
            *broken = Some(known.unwrap_or(Broken { frame, fragment }));
        }
    }

    /// Return whether a unit belongs to a broken frame and is not the EOM that must delimit the fragment.
    fn is_useless(&self, unit: &Unit, vc: PortVc) -> bool {
        self.broken.get(vc).copied().flatten().is_some_and(|broken| {
            let delimiter = unit.is_eom() && broken.fragment && self.pass_eom;
            unit.frame == broken.frame && !delimiter
        })
    }
}

impl Admission for Policy {
    fn judge(&mut self, arrival: &mut Arrival<'_>) -> Verdict {
        self.arriving = arrival.unit.frame;
        match self.is_useless(arrival.unit, arrival.vc) {
            true => Verdict::Discard(Reason::Partial),
            false if arrival.fits() => Verdict::Accept,
            false => Verdict::Replace(Victim::Head, Reason::Front),
        }
    }

    fn departed(&mut self, departure: &Departure<'_>) {
        let unit = departure.unit;
        if departure.accepted && !departure.sent {
            self.lost(departure.vc, unit.frame, !unit.is_first());
        }
    }

    fn at_head(&mut self, head: &Head<'_>) -> HeadVerdict {
        if self.is_useless(head.unit, head.vc) {
            HeadVerdict::Discard(Reason::Partial)
        } else {
            HeadVerdict::Send
        }
    }

    fn broken(&mut self, vc: PortVc, fragment: bool) {
        self.lost(vc, self.arriving, fragment);
    }

    fn properties(&self) -> Properties {
        let why = "drop-from-front makes the room itself; use tail-drop with push-out";
        Properties {
            displaces: Displaced::Any,
            splits_frames: true,
            bars_pushout: Some(why),
            ..Properties::default()
        }
    }
}

impl Shortcuts for Policy {
    fn head_rule(&self) -> Option<HeadRule> {
        self.broken.is_empty().then_some(HeadRule::GivesUp(Reason::Front))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Spec;
    use super::super::conformance::Rig;
    use super::super::tests::PolicyBench;
    use super::*;
    use crate::buffer::size::Measure;

    fn rig(capacity: u64, form: HeadForm) -> Rig {
        let spec = Spec::DropFromFront(Params { form, pass_eom: true });
        Rig::new(&spec, Measure::Cells, capacity, 2, 1)
    }

    #[test]
    fn a_full_buffer_gives_up_the_cell_at_the_head_and_keeps_the_newest() {
        let mut rig = rig(3, HeadForm::Cell);
        rig.offer(0, "f");
        rig.start();
        rig.offer(0, "....e");
        // the first cell is on the line; the next three are discarded for the last two
        assert_eq!(rig.lost(), ["0:0.1 front", "0:0.2 front", "0:0.3 front"]);
        assert_eq!(rig.waiting(), ["0:0.4", "0:0.5"]);
    }

    #[test]
    fn the_cell_in_transmission_is_never_given_up() {
        let mut rig = rig(1, HeadForm::Cell);
        rig.offer(0, "f");
        rig.start();
        rig.offer(0, "e");
        assert_eq!(rig.lost(), ["0:0.1 overflow"]);
    }

    #[test]
    fn in_the_cell_form_the_rest_of_a_broken_frame_is_sent() {
        let mut rig = rig(3, HeadForm::Cell);
        rig.offer(0, "f.e");
        rig.offer(1, "1");
        assert_eq!(rig.lost(), ["0:0.0 front"]);
        assert_eq!(rig.drain(), ["0:0.1", "0:0.2", "1:0.0"]);
    }

    #[test]
    fn in_the_frame_form_the_rest_of_a_frame_is_discarded_as_it_reaches_the_head() {
        let mut rig = rig(5, HeadForm::Frame);
        rig.offer(0, "f.");
        rig.offer(1, "f");
        rig.offer(0, ".e");
        rig.offer(1, "e");
        assert_eq!(rig.lost(), ["0:0.0 front"]);
        assert_eq!(rig.pool_total(), 5, "the rest keeps its place until it comes to the head");
        assert_eq!(rig.drain(), ["1:0.0", "1:0.1"]);
        assert_eq!(rig.lost(), ["0:0.0 front", "0:0.1 partial", "0:0.2 partial", "0:0.3 partial"]);
    }

    #[test]
    fn the_eom_that_ends_a_fragment_is_sent() {
        let mut rig = rig(4, HeadForm::Frame);
        rig.offer(0, "f");
        rig.start();
        rig.offer(0, "..e");
        rig.offer(1, "1");
        assert_eq!(rig.lost(), ["0:0.1 front"]);
        assert_eq!(rig.drain(), ["0:0.0", "0:0.3", "1:0.0"]);
        assert_eq!(rig.lost(), ["0:0.1 front", "0:0.2 partial"]);
    }

    #[test]
    fn a_cell_that_arrives_for_a_broken_frame_is_not_worth_another_ones_place() {
        let mut rig = rig(2, HeadForm::Frame);
        rig.offer(0, "f.");
        rig.offer(1, "1");
        rig.offer(0, ".e1");
        assert_eq!(rig.lost(), ["0:0.0 front", "0:0.2 partial", "0:0.3 partial", "0:0.1 front"]);
        assert_eq!(rig.drain(), ["1:0.0", "0:1.0"]);
    }

    #[test]
    fn the_rest_of_a_frame_that_found_no_room_is_not_worth_queueing() {
        let params = Params { form: HeadForm::Frame, pass_eom: true };
        for (fragment, verdicts) in [(true, "ApA"), (false, "App")] {
            let mut bench = PolicyBench::new(9, 1, |context| Policy::new(&params, context));
            let first = bench.offer(0, "f");
            bench.policy.broken(PortVc(0), fragment);
            assert_eq!(first + &bench.offer(0, ".e"), verdicts);
        }
    }

    #[test]
    fn a_long_packet_may_cost_several_short_ones() {
        let spec = Spec::DropFromFront(Params { form: HeadForm::Cell, pass_eom: true });
        let mut rig = Rig::new(&spec, Measure::Bytes, 1500, 1, 1);
        for _ in 0..3 {
            rig.packet(0, 500);
        }
        rig.packet(0, 900);
        assert_eq!(rig.lost(), ["0:0.0 front", "0:1.0 front"]);
        assert_eq!(rig.waiting(), ["0:2.0", "0:3.0"]);
        rig.packet(0, 1501);
        assert_eq!(rig.lost().len(), 3, "a packet larger than the buffer removes no other packet");
        assert_eq!(rig.lost()[2], "0:4.0 overflow");
    }
}
