//! Queues of a port: one that all circuits share, or one for each circuit.

use std::collections::VecDeque;

use super::runs::{Part, Runs};
use crate::unit::{Flags, Unit};

/// A queue of units with stable positions.
///
/// The unit that joins as the `n`-th one has position `n` until it leaves; a unit taken out of the middle leaves a gap
/// that the head skips, so that any unit can be reached and removed in constant time.
///
/// A queue that knows its frames has no gaps: what is ahead of a unit that is taken out moves up to close it. Only the
/// positions of those units change.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    slots: VecDeque<Slot>,
    head: u64,
    len: usize,
    runs: Option<Runs>,
}

/// A unit or a gap: every unit has octets, so that none stand for a gap and a slot takes no more room than a unit.
#[derive(Clone, Copy, Debug)]
struct Slot(Unit);

impl Slot {
    #[inline]
    fn unit(&self) -> Option<&Unit> {
        (self.0.bytes != 0).then_some(&self.0)
    }

    /// The unit leaves, if there is one, and a gap stays.
    fn take(&mut self) -> Option<Unit> {
        let unit = self.unit().copied();
        self.0.bytes = 0;
        unit
    }
}

impl Queue {
    /// An empty queue of one circuit that knows where frames begin and end.
    pub fn of_frames() -> Queue {
        Queue { runs: Some(Runs::default()), ..Queue::default() }
    }

    /// Where frames begin and end; only a queue that was made [`of_frames`](Queue::of_frames) knows.
    pub fn runs(&self) -> &Runs {
        self.runs.as_ref().expect("a queue of frames")
    }

    /// Number of units in the queue.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing is queued.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Positions that may hold a unit, oldest first.
    pub fn positions(&self) -> std::ops::Range<u64> {
        self.head..self.head + self.slots.len() as u64
    }

    /// The unit at a position, if it is still there.
    pub fn at(&self, position: u64) -> Option<&Unit> {
        self.slots.get(position.checked_sub(self.head)? as usize)?.unit()
    }

    /// The oldest unit.
    pub fn front(&self) -> Option<&Unit> {
        self.slots.front()?.unit()
    }

    /// Units with their positions, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, &Unit)> {
        self.slots.iter().enumerate().filter_map(|(i, slot)| Some((self.head + i as u64, slot.unit()?)))
    }

    /// A unit joins at the tail; answers its position.
    #[inline(always)]
    pub fn push(&mut self, unit: Unit) -> u64 {
        if let Some(runs) = &mut self.runs {
            runs.pushed(&unit);
        }
        self.slots.push_back(Slot(unit));
        self.len += 1;
        self.head + self.slots.len() as u64 - 1
    }

    /// The oldest unit leaves.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<Unit> {
        let Slot(unit) = self.slots.pop_front()?;
        if let Some(runs) = &mut self.runs {
            runs.popped(&unit);
        }
        self.head += 1;
        self.len -= 1;
        self.trim();
        Some(unit)
    }

    /// Units of one frame join, of which `unit` is the first and only the last has the mark `last`, if there is one.
    pub(crate) fn push_train(&mut self, unit: Unit, units: u16, last: Flags) {
        let inner = Flags(unit.flags.0 & !Flags::FIRST.0);
        let end = Unit { index: unit.index + units - 1, flags: inner.with(last), ..unit };
        let first = Unit { flags: if units == 1 { unit.flags.with(last) } else { unit.flags }, ..unit };
        self.push(first);
        if units == 1 {
            return;
        }
        let between = (unit.index + 1..end.index).map(|index| Slot(Unit { index, flags: inner, ..unit }));
        self.slots.extend(between);
        self.len += usize::from(units) - 2;
        if let Some(runs) = &mut self.runs {
            runs.grown(usize::from(units) - 2);
        }
        self.push(end);
    }

    /// So many units at the tail have not come yet: those of the last frame, but not its first one.
    pub(crate) fn withdraw(&mut self, units: usize) {
        if let Some(runs) = &mut self.runs {
            runs.withdrawn(units);
        }
        self.slots.truncate(self.slots.len() - units);
        self.len -= units;
    }

    /// How many units at the head of a queue without gaps belong to one frame and do not end it, short of the last one of the
    /// queue; and whether there may be more when others have joined. The search begins at a `guess`.
    pub(crate) fn inner_ahead(&self, guess: u64) -> (u64, bool) {
        let Some(Slot(first)) = self.slots.front() else { return (0, true) };
        let is_inner = |place: usize| {
            let Slot(unit) = &self.slots[place];
            let consecutive = usize::from(unit.index) == usize::from(first.index) + place;
            unit.frame == first.frame && consecutive && !unit.is_eom()
        };
        // indices grow no more slowly than places, so that behind one that is not inner there is no other
        let (mut inner, mut end) = (0, self.slots.len() - 1);
        let mut guesses = [guess as usize, (guess as usize).wrapping_sub(1)].into_iter();
        while inner < end {
            let guess = guesses.next().filter(|guess| (inner..end).contains(guess));
            let probe = guess.unwrap_or((inner + end) / 2);
            if is_inner(probe) {
                inner = probe + 1;
            } else {
                end = probe;
            }
        }
        (inner as u64, is_inner(inner))
    }

    /// So many units of one frame leave from the head, not its last one; answers the first.
    pub(crate) fn skip(&mut self, units: usize) -> Option<Unit> {
        let first = *self.front()?;
        if let Some(runs) = &mut self.runs {
            runs.skipped(units);
        }
        self.slots.drain(..units);
        self.head += units as u64;
        self.len -= units;
        Some(first)
    }

    /// The unit at a position leaves, if it is still there.
    pub fn take(&mut self, position: u64) -> Option<Unit> {
        let index = position.checked_sub(self.head)? as usize;
        let unit = self.slots.get_mut(index)?.take()?;
        self.len -= 1;
        if let Some(runs) = &mut self.runs {
            runs.taken(index, &unit);
            self.slots.remove(index);
            self.head += 1;
        }
        self.trim();
        Some(unit)
    }

    /// A part of a queue of frames leaves; answers its units, oldest first.
    pub fn cut(&mut self, part: Part) -> impl ExactSizeIterator<Item = Unit> {
        let (offset, units) = self.runs.as_mut().expect("a queue of frames").cut(part);
        self.head += units as u64;
        self.len -= units;
        self.slots.drain(offset..offset + units).map(|Slot(unit)| unit)
    }

    /// Keep gaps away from both ends.
    #[inline]
    fn trim(&mut self) {
        if self.len < self.slots.len() {
            self.drop_gaps();
        }
    }

    #[inline(never)]
    fn drop_gaps(&mut self) {
        while self.slots.front().is_some_and(|slot| slot.unit().is_none()) {
            self.slots.pop_front();
            self.head += 1;
        }
        while self.slots.back().is_some_and(|slot| slot.unit().is_none()) {
            self.slots.pop_back();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::runs::{Extent, Run};
    use crate::unit::Flags;
    use proptest::prelude::*;

    fn unit(frame: u32) -> Unit {
        Unit { vc: 0, frame, index: 0, bytes: 53, hop: 0, flags: Flags::default() }
    }

    #[test]
    fn positions_are_stable_while_units_leave_from_anywhere() {
        let mut queue = Queue::default();
        let positions: Vec<u64> = (0..5).map(|i| queue.push(unit(i))).collect();
        assert_eq!(queue.take(positions[2]), Some(unit(2)));
        assert_eq!(queue.take(positions[2]), None);
        assert_eq!(queue.pop(), Some(unit(0)));
        assert_eq!(queue.at(positions[3]), Some(&unit(3)));
        assert_eq!(queue.take(positions[4]), Some(unit(4)));
        assert_eq!(queue.len(), 2);
        assert_eq!(queue.iter().map(|(_, unit)| unit.frame).collect::<Vec<_>>(), [1, 3]);
    }

    proptest! {
        #[test]
        fn the_inner_units_ahead_are_those_before_an_eom_or_a_gap_and_the_last_one(
            frames in prop::collection::vec((1u16..9, 0u16..9), 1..5),
            served in 0usize..4,
            guess in 0u64..12,
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
            let units: Vec<Unit> = queue.iter().map(|(_, unit)| *unit).collect();
            let follows = |pair: &&[Unit]| {
                !pair[0].is_eom() && pair[0].frame == pair[1].frame && pair[0].index + 1 == pair[1].index
            };
            let run = units.windows(2).take_while(follows).count();
            // the one before a gap is inner as well
            let gap = run + 1 < units.len() && !units[run].is_eom();
            let grows = units.last().is_none_or(|last| !last.is_eom()) && run + 1 >= units.len();
            prop_assert_eq!(queue.inner_ahead(guess), ((run + usize::from(gap)) as u64, grows));
        }

        #[test]
        fn what_is_withdrawn_from_a_train_may_come_again(units in 2u16..20, early in 1u16..19) {
            let early = early.min(units - 1);
            let (mut queue, mut other) = (Queue::of_frames(), Queue::of_frames());
            let first = Unit { flags: Flags::FIRST, ..unit(0) };
            queue.push_train(first, units, Flags::EOM);
            queue.withdraw(usize::from(early));
            other.push_train(first, units - early, Flags::default());
            let rest = Unit { index: units - early, ..unit(0) };
            for queue in [&mut queue, &mut other] {
                prop_assert_eq!(queue.runs().first_whole(), None);
                queue.push_train(rest, early, Flags::EOM);
            }
            prop_assert!(queue.iter().eq(other.iter()));
            prop_assert_eq!((queue.runs().first_whole(), queue.runs().get(0)), (Some(0), other.runs().get(0)));
        }
    }

    proptest! {
        #[test]
        fn a_queue_with_gaps_is_a_list_with_removals(steps in prop::collection::vec(0u8..6, 1..200)) {
            let (mut queue, mut model) = (Queue::default(), Vec::<(u64, u32)>::new());
            for (serial, step) in steps.into_iter().enumerate() {
                match step {
                    0..=2 => {
                        let position = queue.push(unit(serial as u32));
                        prop_assert!(model.iter().all(|(other, _)| *other < position));
                        model.push((position, serial as u32));
                    }
                    3 => {
                        let expected = (!model.is_empty()).then(|| model.remove(0).1);
                        prop_assert_eq!(queue.pop().map(|unit| unit.frame), expected);
                    }
                    _ if !model.is_empty() => {
                        let (position, frame) = model.remove(serial % model.len());
                        prop_assert_eq!(queue.take(position).map(|unit| unit.frame), Some(frame));
                    }
                    _ => {}
                }
                let seen: Vec<(u64, u32)> = queue.iter().map(|(p, unit)| (p, unit.frame)).collect();
                prop_assert_eq!(&seen, &model);
                prop_assert_eq!(queue.len(), model.len());
            }
        }
    }

    /// A queue of frames that were spelled: `f` first, `.` middle, `e` last, `1` a frame of one unit.
    fn spelled(units: &str) -> Queue {
        let (mut queue, mut frame, mut index) = (Queue::of_frames(), 0, 0);
        for letter in units.chars() {
            let flags = match letter {
                'f' => Flags::FIRST,
                'e' => Flags::EOM,
                '1' => Flags::FIRST.with(Flags::EOM),
                _ => Flags::default(),
            };
            (frame, index) = if flags.has(Flags::FIRST) { (frame + 1, 0) } else { (frame, index + 1) };
            queue.push(Unit { vc: 0, frame, index, bytes: 53, hop: 0, flags });
        }
        queue
    }

    /// Lengths of the runs, with `w` for a whole frame, `c` for another closed one and `o` for an open one.
    fn runs(queue: &Queue) -> String {
        let kind = |run: &Run| match (run.is_whole(), run.is_closed()) {
            (true, _) => 'w',
            (_, true) => 'c',
            _ => 'o',
        };
        let runs = (0..).map_while(|i| queue.runs().get(i));
        runs.map(|run| format!("{}{}", run.units(), kind(run))).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn runs_end_at_eoms() {
        assert_eq!(runs(&spelled("f..e1fef.")), "4w 1w 2w 2o");
        assert_eq!(runs(&spelled("f.f.e.e")), "5c 2c", "an EOM is missing, and a frame its start");
    }

    #[test]
    fn a_frame_that_has_begun_to_leave_is_not_whole() {
        let mut queue = spelled("f.ef");
        queue.pop();
        assert_eq!((runs(&queue).as_str(), queue.runs().is_open_ahead()), ("2c 1o", true));
        assert_eq!(queue.runs().first_whole(), None);
        queue.pop();
        queue.pop();
        assert_eq!((runs(&queue).as_str(), queue.runs().is_open_ahead()), ("1o", false));
    }

    #[test]
    fn a_part_is_cut_out_of_the_middle_and_the_gap_closed() {
        let mut queue = spelled("f.ef.efe");
        queue.pop();
        let last = queue.positions().end - 1;
        let cut: Vec<u32> =
            queue.cut(Part { run: 1, extent: Extent::Whole }).map(|unit| unit.frame).collect();
        assert_eq!(cut, [2, 2, 2]);
        assert_eq!((runs(&queue).as_str(), queue.len()), ("2c 2w", 4));
        assert_eq!(queue.at(last).map(|unit| unit.frame), Some(3), "what is behind keeps its position");
        assert_eq!(queue.cut(Part { run: 0, extent: Extent::ButEom }).len(), 1);
        assert_eq!(queue.pop().map(|unit| unit.is_eom()), Some(true));
    }

    #[test]
    fn a_run_without_its_eom_goes_on_into_the_next() {
        let mut queue = spelled("f.efe");
        let eom = queue.positions().start + 2;
        assert!(queue.take(eom).is_some_and(|unit| unit.is_eom()));
        assert_eq!((runs(&queue).as_str(), queue.runs().first_whole()), ("4c", None));
    }

    proptest! {
        #[test]
        fn runs_are_the_queue_cut_behind_every_eom(
            steps in prop::collection::vec((0u8..8, 0usize..100), 1..200)
        ) {
            let (mut queue, mut frame, mut index) = (Queue::of_frames(), 0u32, 0u16);
            for (step, choice) in steps {
                match step {
                    0..=3 => {
                        let first = if index == 0 { Flags::FIRST } else { Flags::default() };
                        let eom = step == 0 || index > 4;
                        let flags = if eom { first.with(Flags::EOM) } else { first };
                        queue.push(Unit { vc: 0, frame, index, bytes: 53, hop: 0, flags });
                        (frame, index) = if eom { (frame + 1, 0) } else { (frame, index + 1) };
                    }
                    4 => (frame, index) = (frame + 1, 0),
                    5 => drop(queue.pop()),
                    6 if !queue.is_empty() => {
                        let position = queue.positions().start + (choice % queue.len()) as u64;
                        prop_assert!(queue.take(position).is_some());
                    }
                    7 if !queue.is_empty() => {
                        let run = choice % (queue.runs().last().unwrap() + 1);
                        let closed = queue.runs().get(run).unwrap().is_closed();
                        let last = queue.runs().last().unwrap();
                        let part = match choice {
                            0..40 if run > 0 => Part { run: last + usize::from(run == last), extent: Extent::AndEomBefore },
                            0..70 if closed => Part { run, extent: Extent::ButEom },
                            _ => Part { run, extent: Extent::Whole },
                        };
                        let before = queue.len();
                        let gone = queue.cut(part).len();
                        prop_assert_eq!(queue.len(), before - gone);
                    }
                    _ => {}
                }
                let units: Vec<&Unit> = queue.iter().map(|(_, unit)| unit).collect();
                let expected = units.split_inclusive(|unit| unit.is_eom()).map(|run| run.len());
                let found = (0..).map_while(|i| queue.runs().get(i)).map(Run::units);
                prop_assert!(found.eq(expected));
                let whole = |i: &usize| queue.runs().get(*i).unwrap().is_whole();
                let count = queue.runs().last().map_or(0, |last| last + 1);
                prop_assert_eq!(queue.runs().first_whole(), (0..count).find(whole));
            }
        }
    }
}
