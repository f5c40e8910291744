//! A port with one queue that takes packets by a rule: when a packet leaves is known as soon as it comes.

use std::collections::VecDeque;

use super::super::books::{Books, Stay, Window};
use super::super::pace::{Beat, Pace, Paces};
use super::steps::{Packet, Step};
use crate::buffer::admission::Rule;
use crate::buffer::frame::Frames;
use crate::buffer::size::Measure;
use crate::buffer::verdict::{Reason, Verdict};
use crate::link::port::Port;
use crate::metrics::occupancy::Occupancy;
use crate::scenario::model::{Line, Scenario};
use crate::unit::Unit;
use crate::units::Time;

/// What packets touch; one that finds the line idle needs no more than the first two lines of the cache.
#[derive(Debug)]
#[repr(C, align(64))]
pub(in super::super) struct Fifo {
    /// When the line is free.
    free: Beat,
    /// The pace of packets of the size that came last.
    pace: Pace,
    bytes: u16,
    in_bytes: bool,
    /// Whether a packet needs no more than to fit.
    is_plain: bool,
    /// End and size of the packet that came last.
    last: (Time, u64),
    /// What is in the buffer.
    level: u64,
    capacity: u64,
    /// When a sample is due or the measured time begins.
    stop: Time,
    max: u64,
    /// Packets that came and went in the measured time, their octets, and the integral of their occupancy.
    passed: u64,
    octets: u64,
    area: u128,
    /// Packets before the last one, with their ends and sizes.
    older: VecDeque<(Time, u64)>,
    /// The frame rule and its threshold, if there is one.
    frames: Option<Box<(u64, Frames)>>,
}

/// What few of them touch.
#[derive(Debug)]
pub(in super::super) struct Aside {
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
pub(in super::super) struct Sent {
    pub(in super::super) starts: Time,
    pub(in super::super) ends: Time,
}

impl Fifo {
    /// An empty port that takes packets by this rule.
    pub(in super::super) fn new(line: &Line, rule: Rule, aside: &Aside) -> Fifo {
        let frames = match rule {
            Rule::Fits => None,
            Rule::Frames { threshold, frames } => Some(Box::new((threshold, frames))),
            Rule::Asked(_) => unreachable!("a port that is asked is none of these"),
        };
        Fifo {
            free: Beat::default(),
            pace: Pace::default(),
            bytes: 0,
            in_bytes: line.port.measure == Measure::Bytes,
            is_plain: frames.is_none(),
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
    pub(in super::super) fn take(
        &mut self,
        aside: &mut Aside,
        window: Window,
        now: Time,
        packet: Packet,
        step: &Step,
    ) -> Result<Sent, Reason> {
        if self.stop <= now {
            self.settle(aside, now);
        }
        self.drop_until(now);
        let size = if self.in_bytes { u64::from(packet.bytes) } else { 1 };
        let fits = size <= self.capacity - self.level;
        if !(fits && self.is_plain) {
            self.judge(aside, now, packet.unit(step), (step.vc, fits))?;
        }
        if packet.bytes != self.bytes {
            (self.bytes, self.pace) = (packet.bytes, aside.paces.of(packet.bytes));
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
            self.octets += u64::from(packet.bytes);
            self.area += u128::from(ends.0 - now.0) * u128::from(size);
        } else {
            let stay = Stay { unit: packet.unit(step), vc: step.vc, size, arrived: now, starts, ends };
            aside.books.frames_whole_out += u64::from(window.holds(ends));
            aside.books.enter(&stay);
        }
        Ok(Sent { starts, ends })
    }

    /// At the end of the run, leave everything as if the port had done its own books.
    pub(in super::super) fn close(&mut self, aside: &mut Aside, window: Window, port: &mut Port) {
        self.settle(aside, Time(window.to.0 - 1));
        aside.books.enter_whole(self.passed, self.octets, self.area, self.max);
        port.counters_mut().occupancy = aside.occupancy.clone();
        aside.books.close(port);
    }

    /// A packet that does not fit, or that has to pass the frame rule: is it taken?
    fn judge(
        &mut self,
        aside: &mut Aside,
        now: Time,
        unit: Unit,
        (vc, fits): (u32, bool),
    ) -> Result<(), Reason> {
        let verdict = match self.frames.as_deref_mut() {
            None => Verdict::Discard(Reason::Overflow),
            Some((threshold, frames)) => {
                let refuse = || (self.level >= *threshold).then_some(Reason::Early);
                frames.judge(&unit, vc as usize, fits, refuse)
            }
        };
        match verdict {
            Verdict::Discard(reason) => {
                aside.books.lose(now, &unit, reason);
                Err(reason)
            }
            _ => Ok(()),
        }
    }

    /// What has ended up to `now` leaves.
    #[inline]
    fn drop_until(&mut self, now: Time) {
        if self.last.0 <= now {
            if self.level > self.last.1 {
                self.older.clear();
            }
            self.level = 0;
            return;
        }
        while self.level > self.last.1
            && let Some(&(ends, size)) = self.older.front()
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
    pub(in super::super) fn new(scenario: &Scenario, line: &Line, window: Window, port: &Port) -> Aside {
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
