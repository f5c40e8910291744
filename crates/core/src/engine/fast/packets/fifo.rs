//! A port with one queue that takes packets by a rule: when a packet leaves is known as soon as it comes.

use std::collections::VecDeque;

use super::super::books::{Books, Stay, Window};
use super::super::pace::{Beat, Pace};
use crate::buffer::admission::Rule;
use crate::buffer::frame::Frames;
use crate::buffer::size::Measure;
use crate::buffer::verdict::{Reason, Verdict};
use crate::link::port::Port;
use crate::metrics::occupancy::Occupancy;
use crate::scenario::model::{Line, Scenario};
use crate::unit::Unit;
use crate::units::Time;

/// What packets touch; one that finds the line idle needs no more than the first line of the cache.
///
/// How much is in the buffer matters only where it may be more than ever before, or too much. Up to there packets that
/// have left stay in the list, and what they took is an upper bound.
#[derive(Debug)]
#[repr(C, align(64))]
pub(in super::super) struct Fifo {
    /// When the line is free.
    free: Beat,
    /// Packets that came and went in the measured time, the integral of their occupancy, and their octets.
    area: u128,
    passed: u64,
    /// When a sample is due or the measured time begins.
    stop: Time,
    octets: u64,
    /// Size of the packet that came last, and of the largest that found the port empty.
    last: u16,
    largest: u16,
    in_bytes: bool,
    /// Whether a packet may be refused although the port is empty, or has to be shown to a frame rule.
    is_judged: bool,
    /// Whether the line is free a picosecond after the end of the last packet.
    carries: bool,
    /// Whether there are packets in the list.
    is_queued: bool,
    /// Packets before the last one, with their ends and sizes, and the sum of these.
    older: VecDeque<(Time, u16)>,
    waiting: u64,
    max: u64,
    capacity: u64,
    aside: Box<Aside>,
}

/// What few of them touch.
#[derive(Debug)]
struct Aside {
    /// The frame rule and its threshold, if there is one.
    frames: Option<(u64, Frames)>,
    books: Books,
    /// When the measured time begins, if it has not.
    begin: Time,
    /// The next sample.
    sample: Time,
    every: u64,
    occupancy: Occupancy,
}

/// When a packet starts and ends that has been taken.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Sent {
    pub(in super::super) starts: Time,
    pub(in super::super) ends: Time,
}

impl Fifo {
    /// An empty port that takes packets by this rule.
    pub(in super::super) fn new(
        scenario: &Scenario,
        number: usize,
        rule: Rule,
        window: Window,
        port: &Port,
    ) -> Fifo {
        let line = &scenario.lines[number];
        let frames = match rule {
            Rule::Fits => None,
            Rule::Frames { threshold, frames } => Some((threshold, frames)),
            Rule::Asked(_) => unreachable!("a port that is asked is none of these"),
        };
        let aside = Box::new(Aside::new(scenario, line, frames, window, port));
        let capacity = line.port.capacity;
        Fifo {
            free: Beat::default(),
            area: 0,
            passed: 0,
            octets: 0,
            stop: aside.begin.min(aside.sample),
            last: 0,
            largest: 0,
            in_bytes: line.port.measure == Measure::Bytes,
            is_judged: aside.frames.is_some() || capacity < u64::from(u16::MAX),
            carries: false,
            is_queued: false,
            older: VecDeque::new(),
            waiting: 0,
            max: 0,
            capacity,
            aside,
        }
    }

    /// A packet of so many octets and of this pace arrives: when is it sent, or why is it lost? Few want to know which unit
    /// it is, and of which circuit of the port.
    #[inline(always)] // a unit that nobody looks at need not be put together
    pub(in super::super) fn take(
        &mut self,
        window: Window,
        now: Time,
        bytes: u16,
        pace: &Pace,
        unit: impl Fn() -> (Unit, u32),
    ) -> Result<Sent, Reason> {
        if self.stop <= now {
            self.settle(now);
        }
        let size = if self.in_bytes { bytes } else { 1 };
        if self.is_judged || self.ends() > now {
            if !self.queue(now, size) {
                self.judge(now, unit(), size)?;
            }
        } else {
            if self.is_queued {
                self.empty();
            }
            self.largest = self.largest.max(size);
        }
        let start = self.free.not_before(now);
        let (starts, ends) = (start.time, Time(start.time.0 + pace.whole));
        self.free = start.next(pace);
        (self.last, self.carries) = (size, self.free.time > ends);
        if window.from <= now && ends < window.to {
            self.passed += 1;
            self.octets += u64::from(bytes);
            self.area += u128::from(ends.0 - now.0) * u128::from(size);
        } else {
            let (unit, vc) = unit();
            self.enter_part(window, &Stay { unit, vc, size: size.into(), arrived: now, starts, ends });
        }
        Ok(Sent { starts, ends })
    }

    /// At the end of the run, leave everything as if the port had done its own books.
    pub(in super::super) fn close(&mut self, window: Window, port: &mut Port) {
        self.settle(Time(window.to.0 - 1));
        let max = self.max.max(self.largest.into());
        self.aside.books.enter_whole(self.passed, self.octets, self.area, max);
        port.counters_mut().occupancy = self.aside.occupancy.clone();
        self.aside.books.close(port);
    }

    /// When the packet that came last has left.
    #[inline]
    fn ends(&self) -> Time {
        Time(self.free.time.0 - u64::from(self.carries))
    }

    /// A packet that may have to wait is taken, unless it has to be judged.
    #[inline(never)] // few registers will do for those that find the line idle
    fn queue(&mut self, now: Time, size: u16) -> bool {
        let level = self.bound(now) + u64::from(size);
        if self.is_judged || level > self.max.min(self.capacity) {
            self.drop_until(now);
            let level = self.bound(now) + u64::from(size);
            if self.is_judged || level > self.capacity {
                return false;
            }
            self.max = self.max.max(level);
        }
        self.join(now);
        true
    }

    /// A packet joins the queue, if there is one: the one before it goes to the list.
    #[inline]
    fn join(&mut self, now: Time) {
        if self.ends() > now {
            self.older.push_back((self.ends(), self.last));
            self.waiting += u64::from(self.last);
            self.is_queued = true;
        }
    }

    /// How much is in the buffer at most; exactly, if whoever has left is no longer in the list.
    #[inline]
    fn bound(&self, now: Time) -> u64 {
        if self.ends() > now { self.waiting + u64::from(self.last) } else { 0 }
    }

    /// A packet that does not fit, or that has to pass the frame rule: is it taken?
    #[inline(never)]
    fn judge(&mut self, now: Time, (unit, vc): (Unit, u32), size: u16) -> Result<(), Reason> {
        let level = self.bound(now);
        let fits = level + u64::from(size) <= self.capacity;
        let verdict = match &mut self.aside.frames {
            None if fits => Verdict::Accept,
            None => Verdict::Discard(Reason::Overflow),
            Some((threshold, frames)) => {
                let refuse = || (level >= *threshold).then_some(Reason::Early);
                frames.judge(&unit, vc as usize, fits, refuse)
            }
        };
        match verdict {
            Verdict::Discard(reason) => {
                self.aside.books.lose(now, &unit, reason);
                Err(reason)
            }
            _ => {
                self.max = self.max.max(level + u64::from(size));
                self.join(now);
                Ok(())
            }
        }
    }

    /// Everything has left.
    #[inline(never)]
    fn empty(&mut self) {
        self.older.clear();
        (self.waiting, self.is_queued) = (0, false);
    }

    /// What has ended up to `now` leaves the list.
    fn drop_until(&mut self, now: Time) {
        if self.ends() <= now {
            return self.empty();
        }
        while let Some(&(ends, size)) = self.older.front()
            && ends <= now
        {
            self.waiting -= u64::from(size);
            self.older.pop_front();
        }
        self.is_queued = !self.older.is_empty();
    }

    /// A packet during whose stay the measured time begins or ends, or that stays before it.
    #[cold]
    fn enter_part(&mut self, window: Window, stay: &Stay) {
        let books = &mut self.aside.books;
        books.frames_whole_out += u64::from(window.holds(stay.ends));
        books.enter(stay);
    }

    /// Take the samples up to `now`, and begin the measured time; both come before whatever else happens at an instant.
    #[cold]
    fn settle(&mut self, now: Time) {
        while self.stop <= now {
            let before = Time(self.stop.0.saturating_sub(1));
            self.drop_until(before);
            let level = self.bound(before);
            let aside = &mut *self.aside;
            if aside.begin == self.stop {
                aside.begin = Time::NEVER;
                (self.max, self.largest) = (level, 0);
            } else {
                aside.occupancy.sample(level);
                aside.sample.0 += aside.every;
            }
            self.stop = aside.begin.min(aside.sample);
        }
    }
}

impl Aside {
    /// What belongs to an empty port; samples before the measured time would not count.
    fn new(
        scenario: &Scenario,
        line: &Line,
        frames: Option<(u64, Frames)>,
        window: Window,
        port: &Port,
    ) -> Aside {
        let every = scenario.sample.0;
        let sampled = line.port.capacity != u64::MAX;
        let mut occupancy = port.counters().occupancy.clone();
        occupancy.reset(window.from, 0);
        Aside {
            frames,
            books: Books::new(window),
            begin: window.from,
            sample: if sampled { Time(window.from.0.div_ceil(every) * every) } else { Time::NEVER },
            every,
            occupancy,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_takes_two_lines_of_the_cache() {
        assert_eq!(size_of::<Fifo>(), 128);
    }
}
