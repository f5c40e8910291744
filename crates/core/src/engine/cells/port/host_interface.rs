//! The interface of a host: an unlimited queue that only the host fills.
//!
//! # What it assumes
//! The buffer is unlimited and the scheduler is FIFO, so the starts of a frame's units can be computed when the host
//! hands over the frame.
//!
//! # What it skips
//! The cells of a frame: they leave as one train.
//!
//! # Why that is exact
//! Cells of a frame start back to back from the first free instant on; the sum of their sojourn times is a closed
//! form.
//!
//! # What turns it off
//! A frame during which the measured time begins or ends, or which the destination host receives unit by unit: its
//! units are counted one by one. A limited or scheduled interface runs in the form `per_unit.rs`.
//!
//! # What it saves
//! In the form `per_unit.rs` W1-cell takes 18 times as long.

use std::collections::VecDeque;
use std::rc::Rc;

use crate::adaptation::Shape;
use crate::buffer::size::Measure;
use crate::engine::cells::port::context::PortSetup;
use crate::engine::cells::port::outbox::{Departure, Outbox};
use crate::engine::exact::accounting::{Accounting, Sojourn};
use crate::engine::exact::spacing::{ExactTime, Paces, SpacingTable, TransmissionTime};
use crate::link::line::Rest;
use crate::link::port::Port;
use crate::network::circuit::Emission;
use crate::scenario::model::Medium;
use crate::unit::Flags;
use crate::units::ids::PortVc;
use crate::units::{CELL_BYTES, Span, Time};

/// The network interface of a host.
#[derive(Debug)]
pub(crate) struct HostInterface {
    books: Accounting,
    paces: Paces,
    rest: Option<Rest>,
    measure: Measure,
    free: ExactTime,
    /// The spacing of the interface's cells; `None` if it sends packets.
    spacing: Option<Rc<SpacingTable>>,
    /// Instants during which a frame must be counted unit by unit, the next instant last.
    cuts: Vec<Time>,
    /// Frames that wait or are being sent, possibly after some that have been sent, and the sum of their sizes.
    waiting: VecDeque<Waiting>,
    level: u64,
    /// Whether the measured time has begun, for the maximum occupancy.
    warm: bool,
}

/// Greatest number of sent frames that `waiting` may still contain.
const MOST_GONE: usize = 32;

#[derive(Clone, Copy, Debug)]
struct Waiting {
    first: ExactTime,
    pace: TransmissionTime,
    units: u64,
    /// Size of one unit of the frame.
    size: u64,
    ends: Time,
}

impl HostInterface {
    /// Build an idle interface.
    pub(crate) fn new(setup: &PortSetup<'_>) -> HostInterface {
        let line = &setup.scenario.lines[setup.index];
        HostInterface {
            books: Accounting::new(setup.window),
            paces: Paces::new(line.rate.fixed()),
            rest: setup.port.line().rests().cloned(),
            measure: line.port.measure,
            free: ExactTime::default(),
            spacing: (line.medium == Medium::Cells).then(|| setup.plan.spacing(setup.index)),
            cuts: setup.cuts(),
            waiting: VecDeque::new(),
            level: 0,
            warm: false,
        }
    }

    /// Accept a frame of a circuit from the host. If the frame is `collected` unit by unit, or the measured time
    /// begins or ends during it, send its units one by one and return `None`.
    pub(crate) fn emit(
        &mut self,
        out: &mut Outbox,
        now: Time,
        emission: &Emission,
        vc: PortVc,
        collected: bool,
    ) -> Option<Departure> {
        let shape = emission.shape;
        let pace = match &self.spacing {
            Some(spacing) => spacing.pace,
            None => self.paces.of(shape.bytes),
        };
        let (idle, first) = (self.free.time <= now, self.first_start(now, emission));
        let (last, sum) = self.starts_from(first, shape);
        self.free = last.next(&pace);
        let (last, whole) = (last.time, pace.whole);
        let ends = last.later(whole);
        let (units, size) = (u64::from(shape.units), self.size(shape));
        self.wait(now, Waiting { first, pace, units, size, ends }, idle);
        while self.cuts.pop_if(|cut| *cut <= first.time).is_some() {}
        let crossed = self.cuts.last().is_some_and(|cut| *cut <= last);
        let window = self.books.window;
        let early = ends < window.from;
        let inside = now >= window.from && ends < window.to;
        if collected || crossed || !(early || inside) {
            self.send_one_by_one(out, vc, now, emission);
            return None;
        }
        if !early {
            let units = u128::from(units);
            self.enter_frame(shape, sum + units * u128::from(whole.0) - units * u128::from(now.0));
        }
        let mut unit = emission.units().next().expect("a frame has units");
        unit.flags = unit.flags.with(Flags::EOM);
        Some(Departure { vc, units: shape.units, unit, first, last, whole, starts: None })
    }

    /// Accept single cells that the host hands over at these instants, up to the first one that must wait or during
    /// which the measured time begins or ends; returns their number. Each of them starts at once.
    pub(crate) fn pass_idle(&mut self, cells: &[Time]) -> usize {
        let pace = match &self.spacing {
            // the first cell of all sets the largest occupancy
            Some(spacing) if self.rest.is_none() && self.books.max > 0 => spacing.pace,
            _ => return 0,
        };
        let limit = if self.warm { self.books.window.to } else { self.books.window.from };
        let in_time = cells.partition_point(|cell| cell.later(pace.whole) < limit);
        let mut free = self.free.time;
        let waits = |cell: &Time| *cell < std::mem::replace(&mut free, cell.later(pace.whole));
        let count = cells[..in_time].iter().position(waits).unwrap_or(in_time);
        let Some(&last) = cells[..count].last() else { return 0 };
        let first = ExactTime::at(last);
        self.free = first.next(&pace);
        self.waiting.clear();
        self.level = 1;
        self.waiting.push_back(Waiting { first, pace, units: 1, size: 1, ends: last.later(pace.whole) });
        if self.warm {
            let (units, stays) = (count as u64, count as u128 * u128::from(pace.whole.0));
            self.books.enter_whole(units, units * CELL_BYTES, stays, 1);
        }
        count
    }

    /// Return when a frame that the host hands over at `now` can start.
    fn first_start(&self, now: Time, emission: &Emission) -> ExactTime {
        let rest = self.rest.as_ref().map_or(Span::ZERO, |rest| rest.before(emission.subject()));
        self.free.not_before(now).shifted(rest)
    }

    /// Return the start of the last unit of a frame, and the sum of the starts of all units.
    fn starts_from(&self, first: ExactTime, shape: Shape) -> (ExactTime, u128) {
        match (&self.spacing, shape.units) {
            (Some(spacing), units @ 2..) => spacing.run(first, units.into()),
            _ => (first, u128::from(first.time.0)),
        }
    }

    /// Count a frame that arrives and leaves in the measured time; the sojourn times of its units add up to `stays`
    /// picoseconds.
    fn enter_frame(&mut self, shape: Shape, stays: u128) {
        let (units, size) = (u64::from(shape.units), self.size(shape));
        self.books.frames_in += 1;
        self.books.frames_whole_out += 1;
        self.books.enter_units(
            units,
            shape.line_bytes(),
            if size == 1 { stays } else { stays * u128::from(size) },
        );
    }

    /// Count the units of the frame that was handed over last one by one, and send each separately.
    fn send_one_by_one(&mut self, out: &mut Outbox, vc: PortVc, now: Time, emission: &Emission) {
        let &Waiting { first: mut beat, pace, .. } = self.waiting.back().expect("the frame has just joined");
        let begun = beat.time.later(pace.whole) >= self.books.window.from;
        let size = self.size(emission.shape);
        for unit in emission.units() {
            let (starts, ends) = (beat.time, beat.time.later(pace.whole));
            self.books.enter(&Sojourn { unit, vc, size, arrived: now, starts, ends });
            self.books.frames_whole_out += u64::from(begun && unit.is_eom() && self.books.window.holds(ends));
            out.send(vc, unit, 1, starts, pace.whole);
            beat = beat.next(&pace);
        }
    }

    /// Finish the run: the measured time has begun, even if nothing was sent in it.
    pub(crate) fn close(&mut self, port: &mut Port) {
        self.begin();
        self.books.close(port);
    }

    /// Add a frame to the queue at `now`, possibly of an idle interface. Frames that have left are removed only when
    /// the queue may set a new maximum.
    fn wait(&mut self, now: Time, frame: Waiting, idle: bool) {
        if now >= self.books.window.from {
            self.begin();
        }
        if idle {
            self.waiting.clear();
            self.level = 0;
        }
        self.level += frame.units * frame.size;
        self.waiting.push_back(frame);
        if self.level > self.books.max || self.waiting.len() > MOST_GONE {
            self.drop_before(Time(now.0 + 1));
            self.books.max = self.books.max.max(self.level - self.gone_before(Time(now.0 + 1)));
        }
    }

    /// Begin the measured time: the units that wait then are the largest occupancy so far.
    fn begin(&mut self) {
        if !self.warm {
            self.warm = true;
            self.drop_before(self.books.window.from);
            self.books.max = self.level - self.gone_before(self.books.window.from);
        }
    }

    /// Remove frames that ended before `time`.
    fn drop_before(&mut self, time: Time) {
        while let Some(frame) = self.waiting.front().filter(|frame| frame.ends < time) {
            self.level -= frame.units * frame.size;
            self.waiting.pop_front();
        }
    }

    /// Return how much of the first frame has been sent before `time`, in the measure of the port (units or
    /// octets).
    fn gone_before(&self, time: Time) -> u64 {
        let Some(frame) = self.waiting.front() else { return 0 };
        let mut beat = frame.first;
        let mut gone = 0;
        while gone < frame.units && beat.time.later(frame.pace.whole) < time {
            gone += 1;
            beat = beat.next(&frame.pace);
        }
        gone * frame.size
    }

    fn size(&self, shape: Shape) -> u64 {
        if self.measure == Measure::Bytes { shape.bytes.into() } else { 1 }
    }
}
