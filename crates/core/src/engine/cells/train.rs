//! Consecutive units of one frame, which move together.
//!
//! # What it assumes
//! The units of a train belong to one frame and differ only in their index and in the marks of the first and the last.
//!
//! # What it skips
//! Objects for single units: a train is its first unit, a count and a spacing.
//!
//! # Why that is exact
//! The first unit and its index give every other one; the spacing, regular or a list of instants, gives each arrival.
//!
//! # What turns it off
//! Parity, which may complete a frame early: then every unit is a train of its own. A policer divides a train where
//! its verdict changes.
//!
//! # What it saves
//! One object instead of 32 for a frame of W1-cell; without trains at FIFO ports W1-cell takes 32 times as long.

use crate::engine::cells::port::outbox::Outbox;
use crate::engine::exact::accounting::unknown_unit;
use crate::engine::exact::spacing::{ExactTime, TransmissionTime};
use crate::unit::{Flags, Unit};
use crate::units::ids::PortVc;
use crate::units::{Span, Time};
use crate::verdict::Reason;

/// Units of one frame that arrive one after the other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CellTrain {
    /// Exact arrival time of the first unit.
    pub(crate) beat: ExactTime,
    /// The first unit of the train; it has the EOM mark only if it is the only unit.
    pub(crate) unit: Unit,
    /// Arrival time of the last unit.
    pub(crate) last: Time,
    /// Number of their circuit at the port.
    pub(crate) vc: PortVc,
    /// The lane of the port's inbox on which they arrive.
    pub(crate) lane: u32,
    /// The number of units.
    pub(crate) units: u16,
    /// Whether the last unit ends the frame.
    pub(crate) closed: bool,
    /// Whether the units keep the spacing of the line; otherwise the lane lists their arrival times.
    pub(crate) even: bool,
    /// Whether some units have already arrived, although the train is still on the lane.
    pub(crate) begun: bool,
    /// Whether a host awaits the last unit.
    pub(crate) awaited: bool,
    /// The reason for the loss of the units, once a policer or the port has decided to lose them.
    pub(crate) lost: Option<Reason>,
}

impl CellTrain {
    /// Build a train of `units` units with the spacing of their line; `unit` has the marks of the first and of the
    /// last.
    pub(crate) fn new(beat: ExactTime, unit: Unit, vc: PortVc, units: u16, last: Time) -> CellTrain {
        let closed = unit.is_eom();
        let eom = if units > 1 { Flags::EOM } else { Flags::default() };
        let unit = Unit { flags: unit.flags.without(eom), ..unit };
        let (lane, lost, even, begun, awaited) = (0, None, true, false, false);
        CellTrain { beat, unit, last, vc, lane, units, closed, even, begun, awaited, lost }
    }

    /// Return the first unit, with the marks of the first and the last unit.
    #[inline]
    pub(crate) fn with_marks(&self) -> Unit {
        let eom = if self.closed { Flags::EOM } else { Flags::default() };
        Unit { flags: self.unit.flags.with(eom), ..self.unit }
    }

    /// Remove the first `units` units.
    #[inline]
    pub(crate) fn advance(&mut self, units: u16) {
        self.units -= units;
        self.begun = true;
        if self.units > 0 {
            self.unit.index += units;
            let end = if self.units == 1 && self.closed { Flags::EOM } else { Flags::default() };
            self.unit.flags = self.unit.flags.without(Flags::FIRST).with(end);
        }
    }

    /// Return whether a unit continues this train, so that the train may be extended by the unit.
    pub(crate) fn is_continued_by(&self, unit: &Unit) -> bool {
        let next = u32::from(self.unit.index) + u32::from(self.units);
        !self.even && !self.closed && self.unit.frame == unit.frame && u32::from(unit.index) == next
    }

    /// Return every unit of the train.
    pub(crate) fn each(mut self) -> impl Iterator<Item = Unit> {
        std::iter::from_fn(move || {
            let unit = self.unit;
            (self.units > 0).then(|| self.advance(1)).map(|()| unit)
        })
    }
}

/// Cells that arrive while no train begins or ends.
#[derive(Debug, Default)]
pub(crate) struct CellSegment {
    /// The trains of these cells.
    pub(crate) trains: Vec<CellTrain>,
    /// The cells in the order of their arrival, each with the index of its train.
    pub(crate) order: Vec<(Time, u32)>,
}

/// Units of one frame that have started to leave a port and are forwarded together.
#[derive(Clone, Debug)]
pub(crate) struct Gathering {
    /// The first unit, with the marks of the first and the last unit.
    unit: Unit,
    units: u16,
    /// Start of the last unit.
    last: Time,
    /// Start of each unit, where the next port needs it.
    starts: Vec<Time>,
}

impl Default for Gathering {
    fn default() -> Gathering {
        Gathering { unit: unknown_unit(false), units: 0, last: Time::ZERO, starts: Vec::new() }
    }
}

impl Gathering {
    /// Add `units` units; `unit` is the first of them, with the marks of the first and the last. If they do not
    /// continue the gathered units, forward the gathered units first.
    #[inline]
    pub(crate) fn join(&mut self, out: &mut Outbox, vc: PortVc, unit: &Unit, units: u16, whole: Span) {
        let next = u32::from(self.unit.index) + u32::from(self.units);
        if self.units > 0 && self.unit.frame == unit.frame && next == u32::from(unit.index) {
            self.units += units;
            self.unit.flags = self.unit.flags.with(unit.flags);
        } else {
            self.send(out, vc, whole);
            (self.unit, self.units) = (*unit, units);
        }
    }

    /// Record the start of the last unit that has joined.
    #[inline]
    pub(crate) fn last_starts(&mut self, last: Time) {
        self.last = last;
    }

    /// Record the start of the next unit that has joined.
    #[inline]
    pub(crate) fn starts_at(&mut self, start: Time) {
        self.starts.push(start);
    }

    /// Record that `units` units that have joined start back to back; returns when the next unit can start.
    #[inline]
    pub(crate) fn start_many(&mut self, first: ExactTime, units: u64, pace: &TransmissionTime) -> ExactTime {
        let mut beat = first;
        for _ in 0..units {
            self.starts.push(beat.time);
            beat = beat.next(pace);
        }
        beat
    }

    /// Return whether nothing has been gathered.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.units == 0
    }

    /// Return the octets of each gathered unit, if there is one.
    pub(crate) fn bytes(&self) -> Option<u16> {
        (!self.is_empty()).then_some(self.unit.bytes)
    }

    /// Forward all gathered units.
    pub(crate) fn send(&mut self, out: &mut Outbox, vc: PortVc, whole: Span) {
        if self.units == 0 {
            return;
        }
        let units = std::mem::take(&mut self.units);
        if self.starts.is_empty() {
            return out.send(vc, self.unit, units, self.last, whole);
        }
        out.send_timed(vc, self.unit, units, &self.starts, whole);
        self.starts.clear();
    }
}

/// Units on their way to a host; the last one arrives at `time`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Delivery {
    pub(crate) time: Time,
    /// The first unit, with the marks of the first and the last unit.
    pub(crate) unit: Unit,
    pub(crate) units: u16,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::ids::CircuitId;

    fn unit(frame: u32, index: u16, flags: Flags) -> Unit {
        Unit { vc: CircuitId(0), frame, identity: frame, index, bytes: 53, hop: 1, flags }
    }

    fn train(units: u16) -> CellTrain {
        let flags = Flags::FIRST.with(Flags::EOM);
        CellTrain::new(ExactTime::at(Time(5)), unit(7, 0, flags), PortVc(0), units, Time(50))
    }

    #[test]
    fn only_the_first_unit_begins_a_frame_and_only_the_last_ends_it() {
        let flags: Vec<Flags> = train(3).each().map(|unit| unit.flags).collect();
        assert_eq!(flags, [Flags::FIRST, Flags::default(), Flags::EOM]);
    }

    #[test]
    fn a_train_of_one_unit_has_both_marks() {
        assert_eq!(train(1).unit.flags, Flags::FIRST.with(Flags::EOM));
        assert_eq!(train(3).with_marks().flags, Flags::FIRST.with(Flags::EOM));
    }

    #[test]
    fn what_is_left_of_a_train_begins_no_frame() {
        let mut train = train(3);
        train.advance(2);
        assert_eq!((train.units, train.unit.index, train.unit.flags), (1, 2, Flags::EOM));
    }

    #[test]
    fn only_an_open_irregular_train_is_continued() {
        let open = CellTrain { even: false, closed: false, ..train(3) };
        assert!(open.is_continued_by(&unit(7, 3, Flags::EOM)));
        assert!(
            !open.is_continued_by(&unit(7, 4, Flags::EOM)) && !open.is_continued_by(&unit(8, 3, Flags::EOM))
        );
        assert!(!CellTrain { even: true, ..open }.is_continued_by(&unit(7, 3, Flags::EOM)));
    }

    #[test]
    fn units_that_follow_each_other_are_handed_on_together() {
        let (mut gathering, mut out) = (Gathering::default(), Outbox::default());
        gathering.join(&mut out, PortVc(3), &unit(1, 0, Flags::FIRST), 2, Span(10));
        gathering.join(&mut out, PortVc(3), &unit(1, 2, Flags::EOM), 1, Span(10));
        gathering.last_starts(Time(40));
        assert_eq!(out.departures.len(), 0);
        gathering.send(&mut out, PortVc(3), Span(10));
        let departure = out.departures[0];
        assert_eq!((departure.vc, departure.units, departure.last), (PortVc(3), 3, Time(40)));
        assert!(departure.unit.is_eom() && departure.unit.is_first() && gathering.is_empty());
    }

    #[test]
    fn a_gap_hands_on_what_has_been_gathered() {
        let (mut gathering, mut out) = (Gathering::default(), Outbox::default());
        gathering.join(&mut out, PortVc(0), &unit(1, 0, Flags::FIRST), 2, Span(10));
        gathering.last_starts(Time(10));
        gathering.join(&mut out, PortVc(0), &unit(1, 3, Flags::default()), 1, Span(10));
        assert_eq!(out.departures.iter().map(|it| (it.units, it.last)).collect::<Vec<_>>(), [(2, Time(10))]);
    }

    #[test]
    fn starts_that_matter_go_with_the_units() {
        let (mut gathering, mut out) = (Gathering::default(), Outbox::default());
        gathering.join(&mut out, PortVc(0), &unit(1, 0, Flags::FIRST.with(Flags::EOM)), 2, Span(10));
        gathering.starts_at(Time(3));
        gathering.starts_at(Time(30));
        gathering.send(&mut out, PortVc(0), Span(10));
        assert_eq!((out.departures[0].starts, out.departures[0].last), (Some(0), Time(30)));
        assert_eq!(out.starts, [Time(3), Time(30)]);
    }
}
