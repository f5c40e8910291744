//! Consecutive units of one frame that are handed on together.

use crate::engine::cells::Fast;
use crate::engine::exact::spacing::{Beat, Pace};
use crate::network::circuit::Emission;
use crate::unit::{Flags, Unit};
use crate::units::{Span, Time};

/// A run of consecutive units of one frame. Its first and its last unit have given the mark to `unit`, which is the first
/// one otherwise.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct Run {
    pub(in crate::engine) unit: Unit,
    pub(in crate::engine) units: u16,
}

impl Default for Run {
    fn default() -> Run {
        let unit = Unit { vc: 0, frame: 0, index: 0, bytes: 0, hop: 0, flags: Flags::default() };
        Run { unit, units: 0 }
    }
}

impl Run {
    /// Units of which nothing is known but whether the last one ends a frame.
    pub(in crate::engine) fn of_unknown(ends_frame: bool) -> Run {
        let flags = if ends_frame { Flags::EOM } else { Flags::default() };
        let Run { unit, units } = Run::default();
        Run { unit: Unit { flags, ..unit }, units }
    }

    /// A frame that a host sends.
    #[inline]
    pub(in crate::engine) fn of_frame(emission: &Emission) -> Run {
        let mut unit = emission.units().next().expect("a frame has units");
        unit.flags = unit.flags.with(Flags::EOM);
        Run { unit, units: emission.shape.units }
    }

    /// Whether it is a whole frame.
    #[inline]
    pub(in crate::engine) fn is_frame(&self) -> bool {
        self.unit.begins_frame() && self.unit.is_eom()
    }

    /// Whether `unit` is the next one; then it belongs to the run with so many consecutive units.
    #[inline]
    pub(in crate::engine) fn join(&mut self, unit: &Unit, units: u16) -> bool {
        let next = self.units > 0
            && self.unit.frame == unit.frame
            && u32::from(self.unit.index) + u32::from(self.units) == u32::from(unit.index);
        if next {
            self.units += units;
            self.unit.flags = self.unit.flags.with(unit.flags);
        }
        next
    }

    /// All but the last unit, and the last one.
    pub(in crate::engine) fn split_last(self) -> (Run, Unit) {
        let Run { unit, units } = self;
        let others = units - 1;
        let ahead = if others > 0 { Flags::FIRST } else { Flags::default() };
        let last = Unit { index: unit.index + others, flags: unit.flags.without(ahead), ..unit };
        (Run { unit: Unit { flags: unit.flags.without(Flags::EOM), ..unit }, units: others }, last)
    }

    /// Hand it on, if there is anything, knowing when its last unit starts.
    pub(in crate::engine) fn send(
        self,
        engine: &mut Fast<'_>,
        port: usize,
        vc: u32,
        last: Time,
        whole: Span,
    ) {
        if self.units > 0 {
            engine.send_on(port, vc, self, Beat::at(last), last, whole);
        }
    }
}

/// A run that is being gathered, to be handed on together.
#[derive(Clone, Debug, Default)]
pub(in crate::engine) struct Gathering {
    run: Run,
    /// When the last unit starts.
    last: Time,
    /// When each of them does, where that matters.
    starts: Vec<Time>,
}

impl Gathering {
    /// Hand on what has been gathered, if this is not the next unit of it.
    #[inline]
    pub(in crate::engine) fn join(
        &mut self,
        engine: &mut Fast<'_>,
        (port, vc): (usize, u32),
        unit: &Unit,
        units: u16,
        whole: Span,
    ) {
        if !self.run.join(unit, units) {
            self.send(engine, port, vc, whole);
            self.run = Run { unit: *unit, units };
        }
    }

    /// The last unit that has joined starts then.
    #[inline]
    pub(in crate::engine) fn last_starts(&mut self, last: Time) {
        self.last = last;
    }

    /// The next unit that has joined starts then, and that matters.
    #[inline]
    pub(in crate::engine) fn starts_at(&mut self, start: Time) {
        self.starts.push(start);
    }

    /// So many units that have joined start one behind the other; answers when the next one can.
    #[inline]
    pub(in crate::engine) fn start_many(&mut self, first: Beat, units: u64, pace: &Pace) -> Beat {
        let mut beat = first;
        for _ in 0..units {
            self.starts.push(beat.time);
            beat = beat.next(pace);
        }
        beat
    }

    /// Whether nothing has been gathered.
    #[inline]
    pub(in crate::engine) fn is_empty(&self) -> bool {
        self.run.units == 0
    }

    /// Octets of each unit, if there is one.
    pub(in crate::engine) fn bytes(&self) -> Option<u16> {
        (!self.is_empty()).then_some(self.run.unit.bytes)
    }

    /// Hand everything on.
    pub(in crate::engine) fn send(&mut self, engine: &mut Fast<'_>, port: usize, vc: u32, whole: Span) {
        let run = std::mem::take(&mut self.run);
        if self.starts.is_empty() {
            return run.send(engine, port, vc, self.last, whole);
        }
        engine.send_timed(port, vc, run, &mut self.starts, whole);
        self.starts.clear();
    }
}
