//! Queues of a port: one that all circuits share, or one for each circuit.

use std::collections::VecDeque;

use super::runs::{Part, Runs};
use crate::unit::{Flags, Unit};

/// A queue of units with stable positions.
///
/// The `n`-th unit that joins has position `n` until the unit leaves; a unit removed from the middle leaves a gap.
/// Consecutive units of a frame that join in a row are kept as one train, so that a frame joins and leaves in
/// constant time, and a unit in the middle is found in time logarithmic in the number of trains.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    trains: VecDeque<Train>,
    /// The position of the next unit that joins.
    end: u64,
    len: usize,
    runs: Option<Box<Runs>>,
}

impl Queue {
    /// Build an empty queue of one circuit that records where frames begin and end.
    pub fn of_frames() -> Queue {
        Queue { runs: Some(Box::default()), ..Queue::default() }
    }

    /// Return the runs of frames; only a queue made by [`of_frames`](Queue::of_frames) has them.
    pub fn runs(&self) -> &Runs {
        self.runs.as_ref().expect("a queue of frames")
    }

    /// Return the run of the first entire packet whose first unit satisfies `is_one`.
    pub(crate) fn first_packet(&self, is_one: impl Fn(&Unit) -> bool) -> Option<usize> {
        let runs = self.runs();
        let from = runs.first_whole()?;
        let mut units = self.iter();
        (0..=runs.last()?).find(|&place| {
            let run = runs.get(place).expect("a run up to the last");
            let first = units.next();
            units.by_ref().take(run.units() - 1).for_each(drop);
            place >= from && run.is_whole() && first.is_some_and(|first| is_one(&first))
        })
    }

    /// Return the number of units in the queue.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Return whether the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Return the range of positions from the oldest unit to the next one that joins; gaps are included.
    pub fn positions(&self) -> std::ops::Range<u64> {
        self.trains.front().map_or(self.end, |train| train.start)..self.end
    }

    /// Return the unit at a position, if the unit is still there.
    pub fn at(&self, position: u64) -> Option<Unit> {
        let (train, place) = self.find(position)?;
        Some(self.trains[train].unit(place))
    }

    /// Return the oldest unit.
    pub fn front(&self) -> Option<&Unit> {
        self.trains.front().map(|train| &train.first)
    }

    /// Return the latest unit.
    pub fn back(&self) -> Option<Unit> {
        let train = self.trains.iter().rfind(|train| train.units > 0)?;
        Some(train.unit(train.units - 1))
    }

    /// Return the units, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = Unit> {
        self.trains.iter().flat_map(|train| (0..train.units).map(|place| train.unit(place)))
    }

    /// Append a unit; returns its position.
    #[inline]
    pub fn push(&mut self, unit: Unit) -> u64 {
        self.push_train(unit, 1, unit.is_eom());
        self.end - 1
    }

    /// Append `units` units of one frame, beginning with `first`; the last one ends the frame if it is `closed`.
    #[inline]
    pub(crate) fn push_train(&mut self, first: Unit, units: u16, closed: bool) {
        if let Some(runs) = &mut self.runs {
            runs.joined(&first, units, closed);
        }
        let start = self.end;
        self.end += u64::from(units);
        self.len += usize::from(units);
        match self.trains.back_mut() {
            Some(train) if train.goes_on_with(&first, start) => {
                (train.units, train.closed) = (train.units + units, closed);
            }
            _ => self.trains.push_back(Train { start, first, units, closed }),
        }
    }

    /// Remove the oldest unit.
    #[inline]
    pub fn pop(&mut self) -> Option<Unit> {
        let train = self.trains.front_mut()?;
        let unit = train.first;
        if train.units == 1 {
            self.trains.pop_front();
            self.trim_head();
        } else {
            train.advance(1);
        }
        if let Some(runs) = &mut self.runs {
            runs.left(1, unit.is_eom());
        }
        self.len -= 1;
        Some(unit)
    }

    /// Remove `units` units at the tail that have not arrived yet: units of the last frame, but not its first one.
    pub(crate) fn withdraw(&mut self, units: u16) {
        if let Some(runs) = &mut self.runs {
            runs.withdrawn(units.into());
        }
        let train = self.trains.back_mut().expect("a train that has begun to arrive");
        (train.units, train.closed) = (train.units - units, false);
        self.end -= u64::from(units);
        self.len -= usize::from(units);
    }

    /// Count the units at the head up to the EOM of the frame after the first `frames` frames, which have `units`
    /// units and no gaps. This EOM and the last unit of the queue are not counted. Return as well whether the count
    /// can grow when units join.
    #[inline]
    pub(crate) fn inner_ahead(&self, (frames, units): (usize, u64)) -> (u64, bool) {
        let Some(train) = self.trains.get(frames) else { return (units.saturating_sub(1), true) };
        let alone = frames + 1 == self.trains.len();
        (
            units + u64::from(train.units.saturating_sub(u16::from(train.closed || alone))),
            alone && !train.closed,
        )
    }

    /// Return the queued units of the frame after the first `frames` frames, if they end with the EOM and have no
    /// gap: its first queued unit, flagged EOM as the last one is, and the number of units.
    #[inline]
    pub(crate) fn closed_behind(&self, frames: usize) -> Option<(Unit, u16)> {
        let train = self.trains.get(frames).filter(|train| train.closed && train.units > 0)?;
        Some((train.marked(train.units), train.units))
    }

    /// Remove up to `most` units from the head, at most up to an EOM or a gap; returns the first unit with the mark
    /// of the last one, and the number of units.
    #[inline]
    pub(crate) fn pop_run(&mut self, most: u64) -> Option<(Unit, u16)> {
        let train = self.trains.front_mut()?;
        let units = u16::try_from(most).map_or(train.units, |most| most.min(train.units));
        let run = train.marked(units);
        train.advance(units);
        let gone = train.units == 0;
        if let Some(runs) = &mut self.runs {
            runs.left(units.into(), run.is_eom());
        }
        self.len -= usize::from(units);
        if gone {
            self.trim();
        }
        Some((run, units))
    }

    /// Remove the unit at a position, if it is still there.
    pub fn take(&mut self, position: u64) -> Option<Unit> {
        let (index, place) = self.find(position)?;
        let train = &mut self.trains[index];
        let mut behind = train.split(place);
        let unit = behind.first;
        behind.advance(1);
        if place == 0 {
            *train = behind;
        } else if behind.units > 0 {
            self.trains.insert(index + 1, behind);
        }
        self.len -= 1;
        if let Some(runs) = &mut self.runs {
            let ahead: usize = self.trains.iter().take(index).map(|train| usize::from(train.units)).sum();
            runs.taken(ahead + usize::from(place), &unit);
        }
        self.trim();
        Some(unit)
    }

    /// Remove a part of a queue of frames; returns its units, oldest first.
    pub fn cut(&mut self, part: Part) -> impl Iterator<Item = (u64, Unit)> + use<> {
        let (offset, units) = self.runs.as_mut().expect("a queue of frames").cut(part);
        let (from, to) = (self.boundary(offset), self.boundary(offset + units));
        let gone: Vec<Train> = self.trains.drain(from..to).collect();
        self.len -= units;
        self.trim();
        gone.into_iter().flat_map(|train| {
            (0..train.units).map(move |place| (train.start + u64::from(place), train.unit(place)))
        })
    }

    /// Return the train that contains a position, and the place in the train, if there is a unit.
    fn find(&self, position: u64) -> Option<(usize, u16)> {
        let index = self.trains.partition_point(|train| train.start <= position).checked_sub(1)?;
        let train = &self.trains[index];
        (position < train.end()).then(|| (index, (position - train.start) as u16))
    }

    /// Return the index of the train that begins after `units` units; split a train if none begins there.
    fn boundary(&mut self, mut units: usize) -> usize {
        let behind = |train: &Train| {
            let here = units < usize::from(train.units);
            units -= if here { 0 } else { usize::from(train.units) };
            here
        };
        let index = self.trains.iter().position(behind).unwrap_or(self.trains.len());
        if units == 0 {
            return index;
        }
        let behind = self.trains[index].split(units as u16);
        self.trains.insert(index + 1, behind);
        index + 1
    }

    /// Remove empty trains at both ends of the queue.
    #[inline]
    fn trim(&mut self) {
        self.trim_head();
        while is_gap(self.trains.back()) {
            self.trains.pop_back();
        }
    }

    /// Drop the gaps at the head.
    #[inline]
    fn trim_head(&mut self) {
        while is_gap(self.trains.front()) {
            self.trains.pop_front();
        }
    }
}

/// Return whether all units of a train have been removed.
#[inline]
fn is_gap(train: Option<&Train>) -> bool {
    train.is_some_and(|train| train.units == 0)
}

/// Consecutive units of one frame at consecutive positions, equal except for the marks of the first and of the last
/// one. A train whose units were all removed from the middle of the queue remains as an empty train.
#[derive(Clone, Copy, Debug)]
struct Train {
    start: u64,
    first: Unit,
    units: u16,
    /// Whether the last unit ends the frame.
    closed: bool,
}

impl Train {
    /// Return the position after the last unit.
    fn end(&self) -> u64 {
        self.start + u64::from(self.units)
    }

    /// Return the unit at a place in the train; for the place after the last one, the unit that would continue the
    /// train.
    #[inline]
    fn unit(&self, place: u16) -> Unit {
        if place == 0 {
            return self.first;
        }
        let inner = self.first.flags.without(Flags::FIRST);
        let is_last = self.closed && place + 1 == self.units;
        let flags = if is_last { inner.with(Flags::EOM) } else { inner };
        Unit { index: self.first.index.wrapping_add(place), flags, ..self.first }
    }

    /// Return the first unit, with the EOM mark if the first `units` units include the last one of a closed train.
    #[inline]
    fn marked(&self, units: u16) -> Unit {
        let ends = self.closed && units == self.units;
        let mark = if ends { Flags::EOM } else { Flags::default() };
        Unit { flags: self.first.flags.with(mark), ..self.first }
    }

    /// Return whether a unit at a position continues the train.
    #[inline]
    fn goes_on_with(&self, unit: &Unit, position: u64) -> bool {
        let next = Unit { flags: unit.flags.without(Flags::EOM), ..*unit };
        !self.closed && self.end() == position && self.unit(self.units) == next
    }

    /// Remove `units` units from the head of the train.
    #[inline]
    fn advance(&mut self, units: u16) {
        self.first = self.unit(units);
        self.start += u64::from(units);
        self.units -= units;
    }

    /// Keep the first `units` units of the train; return the others as a new train.
    fn split(&mut self, units: u16) -> Train {
        let mut behind = *self;
        behind.advance(units);
        if units < self.units {
            (self.units, self.closed) = (units, false);
        }
        behind
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::Flags;
    use crate::units::ids::CircuitId;
    use proptest::prelude::*;

    fn unit(frame: u32) -> Unit {
        Unit {
            vc: CircuitId(0),
            frame,
            identity: frame,
            index: 0,
            bytes: 53,
            hop: 0,
            flags: Flags::default(),
        }
    }

    #[test]
    fn positions_are_stable_while_units_leave_from_anywhere() {
        let mut queue = Queue::default();
        let positions: Vec<u64> = (0..5).map(|i| queue.push(unit(i))).collect();
        assert_eq!(queue.take(positions[2]), Some(unit(2)));
        assert_eq!(queue.take(positions[2]), None);
        assert_eq!(queue.pop(), Some(unit(0)));
        assert_eq!(queue.at(positions[3]), Some(unit(3)));
        assert_eq!(queue.take(positions[4]), Some(unit(4)));
        assert_eq!(queue.len(), 2);
        assert_eq!(queue.iter().map(|unit| unit.frame).collect::<Vec<_>>(), [1, 3]);
    }

    proptest! {
        #[test]
        fn the_inner_units_ahead_are_those_before_an_eom_or_a_gap_and_the_last_one(
            frames in prop::collection::vec((1u16..9, 0u16..9), 1..5),
            served in 0usize..4,
        ) {
            let mut queue = Queue::default();
            for (frame, (units, missing)) in (0..).zip(frames) {
                for index in (0..units).filter(|index| *index != missing) {
                    let flags = if index + 1 == units { Flags::EOM } else { Flags::default() };
                    queue.push(Unit { index, flags, ..unit(frame) });
                }
            }
            for _ in 0..served {
                queue.pop();
            }
            let units: Vec<Unit> = queue.iter().collect();
            let follows = |pair: &&[Unit]| {
                !pair[0].is_eom() && pair[0].frame == pair[1].frame && pair[0].index + 1 == pair[1].index
            };
            let run = units.windows(2).take_while(follows).count();
            // the unit before a gap is an inner one as well
            let gap = run + 1 < units.len() && !units[run].is_eom();
            let grows = units.last().is_none_or(|last| !last.is_eom()) && run + 1 >= units.len();
            prop_assert_eq!(queue.inner_ahead((0, 0)), ((run + usize::from(gap)) as u64, grows));
        }

        #[test]
        fn behind_whole_frames_comes_the_next_one(
            frames in prop::collection::vec(1u16..9, 1..5),
            behind in 0usize..5,
            served in 0u16..4,
        ) {
            let (mut queue, last) = (Queue::of_frames(), frames.len() - 1);
            for (frame, &units) in (0..).zip(&frames) {
                queue.push_train(Unit { flags: Flags::FIRST, ..unit(frame) }, units, true);
            }
            let gone = served.min(frames[0] - 1);
            prop_assert_eq!(queue.pop_run(gone.into()).map(|(first, units)| (first.is_eom(), units)), Some((false, gone)));
            let behind = behind.min(last + 1);
            let ahead: u16 = frames[..behind].iter().sum();
            let ahead = u64::from(ahead.saturating_sub(gone));
            let found = queue.closed_behind(behind).map(|(unit, units)| (unit.frame, unit.is_eom(), units));
            let left = |frame: usize| frames[frame] - if frame == 0 { gone } else { 0 };
            prop_assert_eq!(found, (behind <= last).then(|| (behind as u32, true, left(behind))));
            let inner = if behind > last { (ahead - 1, true) } else { (ahead + u64::from(left(behind)) - 1, false) };
            prop_assert_eq!(queue.inner_ahead((behind, ahead)), inner);
            if behind == 0 {
                let (first, popped) = queue.pop_run(u64::MAX).expect("what has not gone");
                prop_assert_eq!((first.frame, first.is_eom(), popped), (0, true, frames[0] - gone));
            }
        }

        #[test]
        fn what_is_withdrawn_from_a_train_may_come_again(units in 2u16..20, early in 1u16..19) {
            let early = early.min(units - 1);
            let (mut queue, mut other) = (Queue::of_frames(), Queue::of_frames());
            let first = Unit { flags: Flags::FIRST, ..unit(0) };
            queue.push_train(first, units, true);
            queue.withdraw(early);
            other.push_train(first, units - early, false);
            let flags = if early == 1 { Flags::EOM } else { Flags::default() };
            let rest = Unit { index: units - early, flags, ..unit(0) };
            for queue in [&mut queue, &mut other] {
                prop_assert_eq!(queue.runs().first_whole(), None);
                queue.push_train(rest, early, true);
            }
            prop_assert!(queue.iter().eq(other.iter()));
            prop_assert_eq!((queue.runs().first_whole(), queue.runs().get(0)), (Some(0), other.runs().get(0)));
        }
    }

    proptest! {
        #[test]
        fn a_queue_with_gaps_is_a_list_with_removals(
            steps in prop::collection::vec((0u8..6, 1u16..5), 1..200),
            missing in 4u16..9,
        ) {
            let (mut queue, mut model) = (Queue::default(), Vec::<(u64, Unit)>::new());
            for (serial, (step, units)) in steps.into_iter().enumerate() {
                match step {
                    0..=2 => {
                        let eom = |index| if index + 1 == units { Flags::EOM } else { Flags::default() };
                        for index in (0..units).filter(|index| *index != missing - units) {
                            let unit = Unit { index, flags: eom(index), ..unit(serial as u32) };
                            let position = queue.push(unit);
                            prop_assert!(model.iter().all(|(other, _)| *other < position));
                            model.push((position, unit));
                        }
                    }
                    3 => {
                        let expected = (!model.is_empty()).then(|| model.remove(0).1);
                        prop_assert_eq!(queue.pop(), expected);
                    }
                    _ if !model.is_empty() => {
                        let (position, unit) = model.remove(serial % model.len());
                        prop_assert_eq!(queue.take(position), Some(unit));
                    }
                    _ => {}
                }
                let held = queue.positions().filter_map(|position| Some((position, queue.at(position)?)));
                prop_assert_eq!(&held.collect::<Vec<_>>(), &model);
                prop_assert!(queue.iter().eq(model.iter().map(|(_, unit)| *unit)));
                prop_assert_eq!(queue.len(), model.len());
            }
        }
    }
}
