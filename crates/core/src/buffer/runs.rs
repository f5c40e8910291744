//! Where frames begin and end in the queue of one circuit.

use std::collections::VecDeque;

use crate::unit::Unit;

/// The units of a queue, cut behind every EOM: what the receiver will collect into one frame each.
///
/// Only the last run can be without its EOM: that of a frame which is still arriving, or whose EOM was cut out.
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
    /// Index that the next unit of the frame has.
    next: u16,
    intact: bool,
    closed: bool,
}

/// A part of a queue that can be cut out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Place of the run in the queue, from 0.
    pub run: usize,
    /// What of it goes.
    pub extent: Extent,
}

/// What of a run is cut out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All of it.
    Whole,
    /// All but its EOM.
    ButEom,
    /// All of it and the EOM in front of it. It is the last run, or the empty one behind the last.
    AndEomBefore,
}

impl Run {
    /// Units that are queued.
    pub fn units(&self) -> usize {
        self.units
    }

    /// Whether its EOM is queued.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether it is one frame from the first unit to the last.
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
    /// The run at a place in the queue.
    pub fn get(&self, run: usize) -> Option<&Run> {
        self.list.get(run)
    }

    /// Number of runs that are whole frames.
    pub(crate) fn whole(&self) -> usize {
        self.whole
    }

    /// Units of the shortest run that has its EOM, behind what is left of a frame that is being sent.
    pub(crate) fn shortest(&self) -> Option<usize> {
        self.list.iter().skip(self.open_ahead.into()).filter(|run| run.closed).map(|run| run.units).min()
    }

    /// The place of the last run.
    pub fn last(&self) -> Option<usize> {
        self.list.len().checked_sub(1)
    }

    /// The place of the first run that is a whole frame, and that the receiver will not take for the rest of another one.
    pub fn first_whole(&self) -> Option<usize> {
        let begun = usize::from(self.open_ahead);
        if self.whole == 0 { None } else { (begun..self.list.len()).find(|&run| self.list[run].is_whole()) }
    }

    /// Whether the unit that was sent last was no EOM, so that the receiver waits for more of its frame.
    pub fn is_open_ahead(&self) -> bool {
        self.open_ahead
    }

    /// Consecutive units of one frame have joined, `first` and so many in all; the last one ends it if it is `closed`.
    #[inline(never)]
    pub(super) fn joined(&mut self, first: &Unit, units: u16, closed: bool) {
        if self.list.back().is_none_or(|run| run.closed) {
            self.list.push_back(Run { units: 0, frame: first.frame, next: 0, intact: true, closed: false });
        }
        let run = self.list.back_mut().expect("a run that was just made sure of");
        run.add(first, units, closed);
        self.whole += usize::from(run.is_whole());
    }

    /// So many units of the last frame have not come yet.
    pub(super) fn withdrawn(&mut self, units: usize) {
        let run = self.list.back_mut().expect("a frame that is arriving has a run");
        self.whole -= usize::from(run.is_whole());
        run.units -= units;
        run.next = run.next.wrapping_sub(units as u16);
        run.closed = false;
    }

    /// So many units of the first frame have left from the head; the last of them may have been its `eom`.
    pub(super) fn left(&mut self, units: usize, eom: bool) {
        self.open_ahead = !eom;
        self.spoil(0);
        self.list[0].units -= units;
        if self.list[0].units == 0 {
            self.list.pop_front();
        }
    }

    /// The unit at this offset from the head has been taken out.
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
            // Without its EOM the run goes on into the next one.
            self.list.remove(at);
            self.spoil(at);
            self.list[at].units += units;
        }
    }

    /// A part is cut out; answers its offset from the head and its length.
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

    /// A run is cut out; answers its length.
    fn cut_run(&mut self, run: usize) -> usize {
        self.spoil(run);
        self.list.remove(run).map_or(0, |run| run.units)
    }

    /// The last run loses its EOM.
    fn cut_eom(&mut self, last: usize) {
        self.spoil(last);
        let run = &mut self.list[last];
        run.units -= 1;
        run.closed = false;
        if run.units == 0 {
            self.list.remove(last);
        }
    }

    /// A run is no whole frame any more.
    fn spoil(&mut self, run: usize) {
        self.whole -= usize::from(self.list[run].is_whole());
        self.list[run].intact = false;
    }
}
