//! A port with one queue that takes packets by a rule: when a packet leaves is known as soon as it comes.

use std::collections::VecDeque;

use super::super::books::{Books, Stay, Window};
use super::super::pace::{Beat, Pace, Paces};
use crate::buffer::admission::Rule;
use crate::buffer::frame::Frames;
use crate::buffer::size::Measure;
use crate::buffer::verdict::{Reason, Verdict};
use crate::link::port::Port;
use crate::metrics::occupancy::Occupancy;
use crate::scenario::model::{Line, Scenario};
use crate::unit::Unit;
use crate::units::Time;

/// What every packet touches.
#[derive(Debug)]
pub(super) struct Fifo {
    /// When the line is free.
    free: Beat,
    /// The pace of packets of the size that came last.
    pace: Pace,
    bytes: u16,
    measure: Measure,
    /// What is in the buffer.
    level: u64,
    /// End and size of the packet that came last.
    last: (Time, u64),
    /// When a sample is due or the measured time begins.
    stop: Time,
    /// Packets that came and went in the measured time, their octets, and what they add to the books besides.
    passed: u64,
    octets: u64,
    area: u128,
    max: u64,
    /// Packets before the last one, with their ends and sizes.
    older: VecDeque<(Time, u64)>,
    capacity: u64,
    /// The frame rule and its threshold, if it is more than that a packet must fit.
    frames: Option<Box<(u64, Frames)>>,
}

/// What few of them touch.
#[derive(Debug)]
pub(super) struct Aside {
    books: Books,
    paces: Paces,
    /// When the measured time begins, if it has not.
    begin: Time,
    /// The next sample.
    sample: Time,
    every: u64,
    occupancy: Occupancy,
}

/// When a packet starts and ends that has been taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sent {
    pub(super) starts: Time,
    pub(super) ends: Time,
}

impl Fifo {
    /// An empty port that takes packets by this rule.
    pub(super) fn new(line: &Line, rule: Rule, aside: &Aside) -> Fifo {
        let frames = match rule {
            Rule::Fits => None,
            Rule::Frames { threshold, frames } => Some(Box::new((threshold, frames))),
            Rule::Asked(_) => unreachable!("a port that is asked is none of these"),
        };
        Fifo {
            free: Beat::default(),
            pace: Pace::default(),
            bytes: 0,
            measure: line.port.measure,
            level: 0,
            last: (Time::ZERO, 0),
            stop: aside.begin.min(aside.sample),
            passed: 0,
            octets: 0,
            area: 0,
            max: 0,
            older: VecDeque::new(),
            capacity: line.port.capacity,
            frames,
        }
    }

    /// A packet of the port's circuit `vc` arrives: when is it sent, or why is it lost?
    #[inline]
    pub(super) fn take(
        &mut self,
        aside: &mut Aside,
        window: Window,
        now: Time,
        (unit, vc): (Unit, u32),
    ) -> Result<Sent, Reason> {
        if self.stop <= now {
            self.settle(aside, now);
        }
        self.drop_until(now);
        let size = if self.measure == Measure::Bytes { u64::from(unit.bytes) } else { 1 };
        let fits = size <= self.capacity - self.level;
        if let Verdict::Discard(reason) = self.judge(&unit, vc, fits) {
            aside.books.lose(now, &unit, reason);
            return Err(reason);
        }
        if unit.bytes != self.bytes {
            (self.bytes, self.pace) = (unit.bytes, aside.paces.of(unit.bytes));
        }
        let start = self.free.not_before(now);
        let (starts, ends) = (start.time, Time(start.time.0 + self.pace.whole));
        self.free = start.next(&self.pace);
        if self.level > 0 {
            self.older.push_back(self.last);
        }
        self.last = (ends, size);
        self.level += size;
        self.max = self.max.max(self.level);
        if window.from <= now && ends < window.to {
            self.passed += 1;
            self.octets += u64::from(unit.bytes);
            self.area += u128::from(ends.0 - now.0) * u128::from(size);
        } else {
            aside.books.frames_whole_out += u64::from(window.holds(ends));
            aside.books.enter(&Stay { unit, vc, size, arrived: now, starts, ends });
        }
        Ok(Sent { starts, ends })
    }

    /// At the end of the run, leave everything as if the port had done its own books.
    pub(super) fn close(&mut self, aside: &mut Aside, window: Window, port: &mut Port) {
        self.settle(aside, Time(window.to.0 - 1));
        let books = &mut aside.books;
        books.units_in += self.passed;
        books.units_out += self.passed;
        books.frames_in += self.passed;
        books.frames_whole_out += self.passed;
        books.bytes_out += self.octets;
        books.area += self.area;
        books.max = self.max;
        port.counters_mut().occupancy = aside.occupancy.clone();
        books.close(port);
    }

    #[inline]
    fn judge(&mut self, unit: &Unit, vc: u32, fits: bool) -> Verdict {
        match &mut self.frames {
            None if fits => Verdict::Accept,
            None => Verdict::Discard(Reason::Overflow),
            Some(rule) => {
                let (threshold, frames) = &mut **rule;
                frames.judge(unit, vc as usize, fits, || (self.level >= *threshold).then_some(Reason::Early))
            }
        }
    }

    /// What has ended up to `now` leaves.
    #[inline]
    fn drop_until(&mut self, now: Time) {
        if self.last.0 <= now {
            self.level = 0;
            self.older.clear();
            return;
        }
        while let Some(&(ends, size)) = self.older.front()
            && ends <= now
        {
            self.level -= size;
            self.older.pop_front();
        }
    }

    /// Take the samples up to `now`, and begin the measured time; both come before whatever else happens at an instant.
    #[cold]
    fn settle(&mut self, aside: &mut Aside, now: Time) {
        while self.stop <= now {
            self.drop_until(Time(self.stop.0.saturating_sub(1)));
            if aside.begin == self.stop {
                aside.begin = Time::NEVER;
                self.max = self.level;
            } else {
                aside.occupancy.sample(self.level);
                aside.sample.0 += aside.every;
            }
            self.stop = aside.begin.min(aside.sample);
        }
    }
}

impl Aside {
    /// What belongs to an empty port; samples before the measured time would not count.
    pub(super) fn new(scenario: &Scenario, line: &Line, window: Window, port: &Port) -> Aside {
        let every = scenario.sample.0;
        let sampled = line.port.capacity != u64::MAX;
        let mut occupancy = port.counters().occupancy.clone();
        occupancy.reset(window.from, 0);
        Aside {
            books: Books::new(window),
            paces: Paces::new(line.rate),
            begin: window.from,
            sample: if sampled { Time(window.from.0.div_ceil(every) * every) } else { Time::NEVER },
            every,
            occupancy,
        }
    }
}
