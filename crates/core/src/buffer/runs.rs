//! Runs of frames in the queue of one circuit.

use std::collections::VecDeque;

use crate::unit::Unit;

/// The units of a queue, divided after every EOM: the receiver will take each run for one frame.
///
/// Only the last run can be without an EOM: its frame is still arriving, or its EOM was removed.
#[derive(Clone, Debug, Default)]
pub struct Runs {
    list: VecDeque<Run>,
    whole: usize,
    open_ahead: bool,
}

/// Consecutive units up to an EOM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    units: usize,
    frame: u32,
    /// Index of the unit that continues the frame.
    next: u16,
    intact: bool,
    closed: bool,
}

/// A part of a queue that can be cut out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Place of the run in the queue, from 0.
    pub run: usize,
    /// How much of the run is removed.
    pub extent: Extent,
}

/// How much of a run is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// The whole run.
    Whole,
    /// The run without its EOM.
    ButEom,
    /// The whole run and the EOM in front of it. The run is the last one, or the empty one behind the last.
    AndEomBefore,
}

impl Part {
    /// Return whether the receiver will take what stays of this part's frame for the beginning of the next one.
    pub(crate) fn leaves_fragment(self, runs: &Runs) -> bool {
        self.extent == Extent::AndEomBefore || (self.run == 0 && runs.is_open_ahead())
    }
}

impl Run {
    /// Return the number of queued units of the run.
    pub fn units(&self) -> usize {
        self.units
    }

    /// Return whether the EOM of the run is queued.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Return whether the run is one complete frame from its first unit to its EOM.
    pub fn is_whole(&self) -> bool {
        self.closed && self.intact
    }

    fn add(&mut self, first: &Unit, units: u16, closed: bool) {
        self.intact &= first.frame == self.frame && first.index == self.next;
        (self.frame, self.next) = (first.frame, first.index.wrapping_add(units));
        self.closed = closed;
        self.units += usize::from(units);
    }
}

impl Runs {
    /// Return the run at a place in the queue.
    pub fn get(&self, run: usize) -> Option<&Run> {
        self.list.get(run)
    }

    /// Return the number of runs that are whole frames.
    pub(crate) fn whole(&self) -> usize {
        self.whole
    }

    /// Return the units of the shortest run with an EOM, without the run of a frame that is being sent.
    pub(crate) fn shortest(&self) -> Option<usize> {
        self.list.iter().skip(self.open_ahead.into()).filter(|run| run.closed).map(|run| run.units).min()
    }

    /// Return the place of the last run.
    pub fn last(&self) -> Option<usize> {
        self.list.len().checked_sub(1)
    }

    /// Return the first run that is a whole frame and that the receiver will not take for the rest of another one.
    pub fn first_whole(&self) -> Option<usize> {
        let begun = usize::from(self.open_ahead);
        if self.whole == 0 { None } else { (begun..self.list.len()).find(|&run| self.list[run].is_whole()) }
    }

    /// Return whether the unit that was sent last was not an EOM, so that the receiver expects more of its frame.
    pub fn is_open_ahead(&self) -> bool {
        self.open_ahead
    }

    /// Record that `units` consecutive units of one frame have joined, `first` first; if `closed`, the last one ends
    /// the frame.
    #[inline(never)]
    pub(super) fn joined(&mut self, first: &Unit, units: u16, closed: bool) {
        if self.list.back().is_none_or(|run| run.closed) {
            self.list.push_back(Run { units: 0, frame: first.frame, next: 0, intact: true, closed: false });
        }
        let run = self.list.back_mut().expect("a run that was just made sure of");
        run.add(first, units, closed);
        self.whole += usize::from(run.is_whole());
    }

    /// Subtract `units` units of the last frame that were added but have not arrived yet.
    pub(super) fn withdrawn(&mut self, units: usize) {
        let run = self.list.back_mut().expect("a frame that is arriving has a run");
        self.whole -= usize::from(run.is_whole());
        run.units -= units;
        run.next = run.next.wrapping_sub(units as u16);
        run.closed = false;
    }

    /// Record that `units` units of the first frame have left from the head; the last of them may have been its `eom`.
    pub(super) fn left(&mut self, units: usize, eom: bool) {
        self.open_ahead = !eom;
        self.spoil(0);
        self.list[0].units -= units;
        if self.list[0].units == 0 {
            self.list.pop_front();
        }
    }

    /// Record that the unit at this offset from the head has been removed.
    pub(super) fn taken(&mut self, mut offset: usize, unit: &Unit) {
        let holds = |run: &Run| {
            let here = offset < run.units;
            offset = offset.saturating_sub(run.units);
            here
        };
        let at = self.list.iter().position(holds).expect("every unit is in a run");
        self.spoil(at);
        let run = &mut self.list[at];
        run.units -= 1;
        run.closed &= !unit.is_eom();
        let Run { units, closed, .. } = *run;
        if units == 0 {
            self.list.remove(at);
        } else if !closed && at + 1 < self.list.len() {
            // Without its EOM the run is joined with the next one.
            self.list.remove(at);
            self.spoil(at);
            self.list[at].units += units;
        }
    }

    /// Cut out a part; returns its offset from the head and its length.
    pub(super) fn cut(&mut self, part: Part) -> (usize, usize) {
        let offset = self.list.iter().take(part.run).map(Run::units).sum();
        match part.extent {
            Extent::Whole => (offset, self.cut_run(part.run)),
            Extent::ButEom => {
                self.spoil(part.run);
                let units = std::mem::replace(&mut self.list[part.run].units, 1);
                (offset, units - 1)
            }
            Extent::AndEomBefore => {
                let units = if part.run < self.list.len() { self.cut_run(part.run) } else { 0 };
                self.cut_eom(part.run - 1);
                (offset - 1, units + 1)
            }
        }
    }

    /// Cut out a run; returns its length.
    fn cut_run(&mut self, run: usize) -> usize {
        self.spoil(run);
        self.list.remove(run).map_or(0, |run| run.units)
    }

    /// Remove the EOM of the last run.
    fn cut_eom(&mut self, last: usize) {
        self.spoil(last);
        let run = &mut self.list[last];
        run.units -= 1;
        run.closed = false;
        if run.units == 0 {
            self.list.remove(last);
        }
    }

    /// Record that a run is no longer a whole frame.
    fn spoil(&mut self, run: usize) {
        self.whole -= usize::from(self.list[run].is_whole());
        self.list[run].intact = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::queue::Queue;
    use crate::unit::Flags;
    use crate::units::ids::CircuitId;
    use proptest::prelude::*;

    /// A queue of frames spelled as `f` first, `.` middle, `e` last, `1` a frame of one unit.
    fn spelled(units: &str) -> Queue {
        let (mut queue, mut frame, mut index) = (Queue::of_frames(), 0, 0);
        for letter in units.chars() {
            let flags = Flags::spelled(letter);
            (frame, index) = if flags.has(Flags::FIRST) { (frame + 1, 0) } else { (frame, index + 1) };
            queue.push(Unit { vc: CircuitId(0), frame, identity: frame, index, bytes: 53, hop: 0, flags });
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
    fn a_frame_behind_one_that_was_sent_without_its_eom_is_the_rest_of_it_for_the_receiver() {
        let mut queue = spelled("f.");
        for _ in 0..2 {
            queue.pop();
        }
        for unit in spelled("f.efe").iter() {
            queue.push(unit);
        }
        assert_eq!((runs(&queue).as_str(), queue.runs().first_whole()), ("3w 2w", Some(1)));
    }

    #[test]
    fn a_part_is_cut_out_of_the_middle_and_the_gap_closed() {
        let mut queue = spelled("f.ef.efe");
        queue.pop();
        let last = queue.positions().end - 1;
        let cut: Vec<u32> =
            queue.cut(Part { run: 1, extent: Extent::Whole }).map(|(_, unit)| unit.frame).collect();
        assert_eq!(cut, [2, 2, 2]);
        assert_eq!((runs(&queue).as_str(), queue.len()), ("2c 2w", 4));
        assert_eq!(queue.at(last).map(|unit| unit.frame), Some(3), "what is behind keeps its position");
        assert_eq!(queue.cut(Part { run: 0, extent: Extent::ButEom }).count(), 1);
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
                        queue.push(Unit { vc: CircuitId(0), frame, identity: frame, index, bytes: 53, hop: 0, flags });
                        (frame, index) = if eom { (frame + 1, 0) } else { (frame, index + 1) };
                    }
                    4 => (frame, index) = (frame + 1, 0),
                    5 => drop(queue.pop()),
                    6 if !queue.is_empty() => {
                        let mut held = queue.positions().filter(|position| queue.at(*position).is_some());
                        let position = held.nth(choice % queue.len());
                        prop_assert!(queue.take(position.unwrap()).is_some());
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
                        let gone = queue.cut(part).count();
                        prop_assert_eq!(queue.len(), before - gone);
                    }
                    _ => {}
                }
                let units: Vec<Unit> = queue.iter().collect();
                let expected: Vec<&[Unit]> = units.split_inclusive(|unit| unit.is_eom()).collect();
                let found = (0..).map_while(|i| queue.runs().get(i)).map(Run::units);
                prop_assert!(found.eq(expected.iter().map(|run| run.len())));
                let whole = |i: &usize| queue.runs().get(*i).unwrap().is_whole();
                let count = queue.runs().last().map_or(0, |last| last + 1);
                let begun = usize::from(queue.runs().is_open_ahead());
                prop_assert_eq!(queue.runs().first_whole(), (begun..count).find(whole));
                prop_assert_eq!(queue.runs().whole(), (0..count).filter(whole).count());
                let is_odd = |unit: &Unit| unit.frame % 2 == 1;
                let odd = (begun..count).filter(whole).find(|&i| is_odd(&expected[i][0]));
                prop_assert_eq!(queue.first_packet(is_odd), odd);
                for run in (0..count).filter(whole).map(|i| expected[i]) {
                    let place = |unit: &Unit| (unit.frame, usize::from(unit.index));
                    prop_assert!(run.iter().map(place).eq((0..run.len()).map(|index| (run[0].frame, index))));
                }
            }
        }
    }
}
