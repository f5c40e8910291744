//! The interface of a host: an unlimited queue that only the host fills, so that everything about a frame is known when
//! it is handed over.

use std::collections::VecDeque;
use std::rc::Rc;

use crate::adaptation::Shape;
use crate::buffer::size::Measure;
use crate::engine::cells::Fast;
use crate::engine::cells::train::Run;
use crate::engine::exact::accounting::{Accounting, Sojourn, Window};
use crate::engine::exact::spacing::{Beat, Pace, Paces, SpacingTable};
use crate::link::line::Pause;
use crate::network::circuit::Emission;
use crate::units::{Span, Time};

/// An interface.
#[derive(Debug)]
pub(in crate::engine) struct HostInterface {
    pub(in crate::engine) books: Accounting,
    paces: Paces,
    pause: Option<Pause>,
    measure: Measure,
    free: Beat,
    /// The pace of its cells, if that is what it carries.
    rhythm: Option<Rc<SpacingTable>>,
    /// Starts on either side of which units of one frame are entered one by one, the next one last.
    cuts: Vec<Time>,
    /// Frames that have not been sent altogether, perhaps behind some that have, and the size of all these.
    waiting: VecDeque<Waiting>,
    level: u64,
    /// Whether the measured time has begun.
    warm: bool,
}

/// So many frames may be kept that have been sent.
const MOST_GONE: usize = 32;

#[derive(Clone, Copy, Debug)]
struct Waiting {
    first: Beat,
    pace: Pace,
    units: u64,
    /// Size of one unit.
    size: u64,
    ends: Time,
}

/// How a frame leaves an interface.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct Departure {
    /// When its first and its last unit start.
    pub(in crate::engine) first: Beat,
    pub(in crate::engine) last: Time,
    /// How long each of them takes.
    pub(in crate::engine) whole: Span,
    /// Whether it is sent on as one train.
    pub(in crate::engine) together: bool,
}

impl HostInterface {
    /// An idle interface.
    pub(in crate::engine) fn new(
        window: Window,
        (paces, rhythm): (Paces, Option<Rc<SpacingTable>>),
        pause: Option<Pause>,
        measure: Measure,
        mut cuts: Vec<Time>,
    ) -> HostInterface {
        cuts.reverse();
        HostInterface {
            books: Accounting::new(window),
            paces,
            pause,
            measure,
            free: Beat::default(),
            rhythm,
            cuts,
            waiting: VecDeque::new(),
            level: 0,
            warm: false,
        }
    }

    /// The host hands over a frame. If it is `collected` unit by unit, or the measured time begins or ends somewhere on its way,
    /// its units are yet to be sent one by one.
    pub(in crate::engine) fn emit(&mut self, now: Time, emission: Emission, collected: bool) -> Departure {
        let Emission { shape, .. } = emission;
        let pace = match &self.rhythm {
            Some(rhythm) => rhythm.pace,
            None => self.paces.of(shape.bytes),
        };
        let pause = self.pause.as_mut().map_or(Span::ZERO, Pause::draw);
        let idle = self.free.time <= now;
        let first = self.free.not_before(now).shifted(pause);
        let (last, sum) = match (&self.rhythm, shape.units) {
            (Some(rhythm), units @ 2..) => {
                let (last, sum) = rhythm.after(first, u64::from(units) - 1);
                (last, sum + u128::from(last.time.0))
            }
            _ => (first, u128::from(first.time.0)),
        };
        self.free = last.next(&pace);
        let last = last.time;
        let ends = last.later(pace.whole);
        let frame = Waiting { first, pace, units: shape.units.into(), size: self.size(shape), ends };
        self.wait(now, frame, idle);
        while self.cuts.pop_if(|cut| *cut <= first.time).is_some() {}
        let crossed = self.cuts.last().is_some_and(|cut| *cut <= last);
        let window = self.books.window;
        let early = ends < window.from;
        let inside = now >= window.from && ends < window.to;
        let together = !collected && !crossed && (early || inside);
        if together && !early {
            let (units, whole) = (u128::from(shape.units), u128::from(pace.whole.0));
            self.books.units_in += u64::from(shape.units);
            self.books.units_out += u64::from(shape.units);
            self.books.bytes_out += shape.line_bytes();
            self.books.frames_in += 1;
            self.books.frames_whole_out += 1;
            let area = sum + units * whole - units * u128::from(now.0);
            self.books.area += match self.size(shape) {
                1 => area,
                size => area * u128::from(size),
            };
        }
        Departure { first, last, whole: pace.whole, together }
    }

    /// Enter the units of the frame that was handed over last, and send them on, one by one.
    pub(in crate::engine) fn send_one_by_one(
        &mut self,
        engine: &mut Fast<'_>,
        port: usize,
        vc: u32,
        now: Time,
        emission: Emission,
    ) {
        let &Waiting { first: mut beat, pace, .. } = self.waiting.back().expect("the frame has just joined");
        let begun = beat.time.later(pace.whole) >= self.books.window.from;
        for unit in emission.units() {
            let (starts, ends) = (beat.time, beat.time.later(pace.whole));
            let size = self.size(emission.shape);
            self.books.enter(&Sojourn { unit, vc, size, arrived: now, starts, ends });
            self.books.frames_whole_out += u64::from(begun && unit.is_eom() && self.books.window.holds(ends));
            engine.send_on(port, vc, Run { unit, units: 1 }, Beat::at(starts), starts, pace.whole);
            beat = beat.next(&pace);
        }
    }

    /// At the end of the run the measured time has begun, even if nothing was sent in it.
    pub(in crate::engine) fn close(&mut self, port: &mut crate::link::port::Port) {
        self.begin();
        self.books.close(port);
    }

    /// A frame joins the queue at `now`, perhaps an idle one. What has left matters only if there may be more in the queue than
    /// ever.
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

    /// The measured time begins: what waits then is the largest occupancy so far.
    fn begin(&mut self) {
        if !self.warm {
            self.warm = true;
            self.drop_before(self.books.window.from);
            self.books.max = self.level - self.gone_before(self.books.window.from);
        }
    }

    /// Forget frames that have ended before `time`.
    fn drop_before(&mut self, time: Time) {
        while let Some(frame) = self.waiting.front()
            && frame.ends < time
        {
            self.level -= frame.units * frame.size;
            self.waiting.pop_front();
        }
    }

    /// What of the first frame has ended before `time`.
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
