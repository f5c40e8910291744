//! The frame rule that all frame-aware schemes share: a frame is accepted or refused at its first unit, and the rest
//! of a frame that has lost a unit is discarded (partial packet discard), unless the scenario turns this off.
//!
//! Source: A. Romanow, S. Floyd, "Dynamics of TCP traffic over ATM networks", IEEE JSAC 13(4), 1995. A scheme adds
//! only its own decision, once per frame: accept this frame or refuse it.

use crate::unit::Unit;
use crate::units::ids::{IdVec, PortVc};
use crate::verdict::{Action, Reason, Verdict};

/// The state of a circuit within its current frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FrameState {
    /// So far every unit of the frame has been queued.
    Whole,
    /// A unit was lost after others had been queued: the receiver holds a fragment that only an EOM can end.
    Broken,
    /// The frame was refused at its first unit: none of its units was queued.
    Refused(Reason),
}

/// The decision about the rest of a frame as long as there is room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Within {
    /// The rest is accepted.
    Taken,
    /// The rest is discarded.
    Lost(Reason),
    /// The rest is discarded, but its last unit may be accepted as a delimiter.
    Broken(Reason),
    /// The policy must judge each unit.
    Asked,
}

/// The frame state of every circuit at a port.
#[derive(Clone, Debug)]
pub struct Frames {
    state: IdVec<PortVc, FrameState>,
    keep_eom: bool,
    discard_rest: bool,
    action: Action,
}

impl Frames {
    /// Build the states of `vcs` circuits. With `keep_eom` the last unit of a broken frame is queued if it fits, so
    /// that the receiver does not take the next frame for a continuation of the fragment.
    pub fn new(vcs: usize, keep_eom: bool) -> Frames {
        Frames {
            state: IdVec::filled(FrameState::Whole, vcs),
            keep_eom,
            discard_rest: true,
            action: Action::Drop,
        }
    }

    /// Set the action on frames that the scheme refuses: drop, mark or trim.
    pub fn acting(self, action: Action) -> Frames {
        Frames { action, ..self }
    }

    /// Like `acting`, for a scheme whose action depends on the reason.
    pub(crate) fn act(&mut self, action: Action) {
        self.action = action;
    }

    /// Set whether the rest of a frame that has lost a unit is discarded, as it is by default. Otherwise its units
    /// are queued if they fit, and only a frame that is refused at its first unit is lost as a whole.
    pub fn discarding_rest(self, discard_rest: bool) -> Frames {
        Frames { discard_rest, ..self }
    }

    /// Return `rule` if the scheme neither marks nor trims, since an engine that applies a rule can only discard
    /// frames.
    pub(crate) fn unless_marking<R>(&self, rule: R) -> Option<R> {
        (self.action == Action::Drop).then_some(rule)
    }

    /// Judge a unit. `fits` says whether it could be queued now; `refuse` is called at the first unit of each frame and
    /// returns a reason to refuse the frame as a whole, or to mark its first unit.
    pub fn judge(
        &mut self,
        unit: &Unit,
        vc: PortVc,
        fits: bool,
        refuse: impl FnOnce() -> Option<Reason>,
    ) -> Verdict {
        if unit.is_first() {
            match refuse() {
                Some(reason) if self.action.marks(unit) => {
                    self.state[vc] = FrameState::Whole;
                    if fits {
                        return Verdict::Mark(reason);
                    }
                }
                refused => self.state[vc] = refused.map_or(FrameState::Whole, FrameState::Refused),
            }
        }
        match self.state[vc] {
            FrameState::Refused(reason) => Verdict::Discard(reason),
            FrameState::Whole if fits => Verdict::Accept,
            FrameState::Whole => {
                // A frame that does not fit at its first unit leaves no fragment behind.
                self.broken(vc, !unit.is_first());
                Verdict::Discard(Reason::Overflow)
            }
            FrameState::Broken if unit.is_eom() && self.keep_eom && fits => Verdict::Accept,
            FrameState::Broken => Verdict::Discard(Reason::Partial),
        }
    }

    /// Discard a frame as a whole from its first unit on, even where `action` is `mark`.
    pub(crate) fn refuse(&mut self, vc: PortVc, reason: Reason) -> Verdict {
        self.state[vc] = FrameState::Refused(reason);
        Verdict::Discard(reason)
    }

    /// Return whether a unit belongs to a frame that was refused or has lost a unit, so that it is useless.
    pub fn is_rest(&self, unit: &Unit, vc: PortVc) -> bool {
        !unit.is_first() && self.state[vc] != FrameState::Whole
    }

    /// Return the decision about the rest of the circuit's frame, if it fits.
    pub(crate) fn within(&self, vc: PortVc) -> Within {
        match self.state[vc] {
            FrameState::Whole => Within::Taken,
            FrameState::Broken => Within::Broken(Reason::Partial),
            FrameState::Refused(reason) => Within::Lost(reason),
        }
    }

    /// Record that a part of the circuit's arriving frame has been removed from the queue, so that the rest is useless.
    /// `fragment` says whether a part of the frame has already been sent.
    pub fn broken(&mut self, vc: PortVc, fragment: bool) {
        if self.discard_rest {
            self.state[vc] = if fragment { FrameState::Broken } else { FrameState::Refused(Reason::Partial) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::Flags;
    use crate::units::ids::CircuitId;

    /// Units of one frame, first to last.
    fn frame(cells: u16) -> Vec<Unit> {
        let flags = |i| match (i == 0, i + 1 == cells) {
            (true, true) => Flags::FIRST.with(Flags::EOM),
            (true, false) => Flags::FIRST,
            (false, true) => Flags::EOM,
            _ => Flags::default(),
        };
        (0..cells)
            .map(|i| Unit {
                vc: CircuitId(0),
                frame: 0,
                identity: 0,
                index: i,
                bytes: 53,
                hop: 0,
                flags: flags(i),
            })
            .collect()
    }

    const TAKEN: Verdict = Verdict::Accept;
    const REST: Verdict = Verdict::Discard(Reason::Partial);
    const FULL: Verdict = Verdict::Discard(Reason::Overflow);
    const EARLY: Verdict = Verdict::Discard(Reason::Early);

    fn verdicts(keep_eom: bool, fits: [bool; 4], refuse: bool) -> Vec<Verdict> {
        let mut frames = Frames::new(1, keep_eom);
        let question = || refuse.then_some(Reason::Early);
        frame(4).iter().zip(fits).map(|(unit, fits)| frames.judge(unit, PortVc(0), fits, question)).collect()
    }

    #[test]
    fn once_a_cell_is_lost_the_rest_of_its_frame_is_discarded_but_for_the_eom() {
        assert_eq!(verdicts(true, [true, false, true, true], false), [TAKEN, FULL, REST, TAKEN]);
    }

    #[test]
    fn without_keep_eom_the_last_cell_of_a_broken_frame_is_discarded_too() {
        assert_eq!(verdicts(false, [true, false, true, true], false), [TAKEN, FULL, REST, REST]);
    }

    #[test]
    fn the_eom_of_a_broken_frame_is_lost_when_there_is_no_room() {
        assert_eq!(verdicts(true, [true, false, true, false], false), [TAKEN, FULL, REST, REST]);
    }

    #[test]
    fn a_frame_that_lost_its_first_cell_left_nothing_to_delimit() {
        assert_eq!(verdicts(true, [false, true, true, true], false), [FULL, REST, REST, REST]);
    }

    #[test]
    fn a_refused_frame_is_refused_with_its_eom() {
        assert_eq!(verdicts(true, [true; 4], true), [EARLY; 4]);
    }

    #[test]
    fn without_partial_discard_the_rest_of_a_broken_frame_is_queued_as_far_as_it_fits() {
        let mut frames = Frames::new(1, true).discarding_rest(false);
        let mut offer = |fits: [bool; 4], refuse: Option<Reason>| -> Vec<Verdict> {
            frame(4)
                .iter()
                .zip(fits)
                .map(|(unit, fits)| frames.judge(unit, PortVc(0), fits, || refuse))
                .collect()
        };
        assert_eq!(offer([true, false, true, false], None), [TAKEN, FULL, TAKEN, FULL]);
        assert_eq!(offer([false, true, true, true], None), [FULL, TAKEN, TAKEN, TAKEN]);
        assert_eq!(offer([true; 4], Some(Reason::Early)), [EARLY; 4], "a refused frame is refused whole");
    }

    #[test]
    fn what_follows_a_lost_unit_is_the_rest_of_its_frame() {
        let (mut frames, units) = (Frames::new(1, true), frame(4));
        frames.judge(&units[0], PortVc(0), true, || None);
        assert!(!frames.is_rest(&units[1], PortVc(0)));
        frames.judge(&units[1], PortVc(0), false, || None);
        assert!(frames.is_rest(&units[3], PortVc(0)) && !frames.is_rest(&frame(2)[0], PortVc(0)));
    }

    #[test]
    fn a_frame_that_can_be_marked_is_marked_at_its_first_cell_and_stays_whole() {
        let mut frames = Frames::new(1, true).acting(Action::Mark);
        let mut offer = |fits: [bool; 4], ect: Flags| -> Vec<Verdict> {
            let units = frame(4).into_iter().map(|unit| Unit { flags: unit.flags.with(ect), ..unit });
            units
                .zip(fits)
                .map(|(unit, fits)| frames.judge(&unit, PortVc(0), fits, || Some(Reason::Early)))
                .collect()
        };
        let marked = Verdict::Mark(Reason::Early);
        assert_eq!(offer([true; 4], Flags::ECT), [marked, TAKEN, TAKEN, TAKEN]);
        assert_eq!(offer([true, false, true, true], Flags::ECT), [marked, FULL, REST, TAKEN]);
        assert_eq!(offer([false, true, true, true], Flags::ECT), [FULL, REST, REST, REST]);
        assert_eq!(offer([true; 4], Flags::default()), [EARLY; 4], "its transport does not react to marks");
    }

    #[test]
    fn the_next_frame_starts_afresh() {
        let mut frames = Frames::new(1, true);
        for unit in frame(4) {
            frames.judge(&unit, PortVc(0), false, || None);
        }
        assert_eq!(frames.judge(&frame(2)[0], PortVc(0), true, || None), TAKEN);
    }
}
