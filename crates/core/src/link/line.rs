//! The line: one direction of a link, which sends one unit at a time at an exact rate.
//!
//! Units start at whole picoseconds. While the line is busy it carries the remainder of every transmission time, so
//! that `n` units sent back to back take `n` exact transmission times, rounded down once. A unit's last bit leaves
//! `⌊transmission time⌋` after its start; only the instant at which the *next* unit may start includes the remainder,
//! and is at most a picosecond later. Hence a train from a line of an equal or lower rate passes an idle line with
//! unchanged gaps, and all its units have equal transmission times.

use super::law::Course;
use crate::pace::TransmissionTime;
use crate::rng::{Keyed, Subject};
use crate::units::{CELL_BYTES, Rate, Span, Time};

/// State of a line.
#[derive(Clone, Debug)]
pub struct Line {
    rate: Rate,
    latency: Span,
    /// What few lines have, apart: a large network has many lines.
    extras: Option<Box<Extras>>,
    free: Time,
    carry: u64,
    cell: (u64, u64),
}

/// The rests, the padding and the changing rate of a line.
#[derive(Clone, Debug, Default)]
struct Extras {
    rest: Option<Rest>,
    /// Least octets of a unit on the line: shorter ones are padded.
    minimum: u16,
    /// Progress along its law, if its rate changes.
    course: Option<Course>,
}

/// The random time that a host waits before each frame: a remedy against phase effects (S. Floyd, V. Jacobson, "On
/// traffic phase effects in packet-switched gateways", 1992).
#[derive(Clone, Debug)]
pub struct Rest {
    longest: Span,
    keyed: Keyed,
}

impl Rest {
    /// Build rests of up to `longest`.
    pub fn new(longest: Span, keyed: Keyed) -> Rest {
        Rest { longest, keyed }
    }

    /// Return the rest before a frame, drawn for its first unit `subject`.
    pub fn before(&self, subject: Subject) -> Span {
        Span(self.keyed.up_to(subject, self.longest.0))
    }
}

/// The times of a transmission at both ends of the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Time at which the first bit leaves.
    pub starts: Time,
    /// Time at which the last bit leaves, and with it the unit leaves the buffer.
    pub ends: Time,
    /// Time at which the unit is ready at the far end: after its last bit, propagation and the node's latency.
    pub arrives: Time,
}

impl Line {
    /// Build an idle line; `latency` is its propagation delay plus the constant delay of the node at its end.
    pub fn new(rate: Rate, latency: Span) -> Line {
        let cell = rate.time_of_bits(CELL_BYTES * 8);
        Line { rate, latency, extras: None, free: Time::ZERO, carry: 0, cell }
    }

    /// Return this line with a least size of units: a shorter unit takes as long.
    pub fn with_minimum(mut self, minimum: u16) -> Line {
        if minimum > 0 {
            self.extras.get_or_insert_default().minimum = minimum;
        }
        self
    }

    /// Return this line with a rate that changes; its own rate is the mean.
    pub fn with_course(mut self, course: Option<Course>) -> Line {
        if course.is_some() {
            self.extras.get_or_insert_default().course = course;
        }
        self
    }

    /// Return whether the rate of the line changes.
    pub(crate) fn changes(&self) -> bool {
        self.extras.as_ref().is_some_and(|extras| extras.course.is_some())
    }

    /// Return the octets that a unit of `bytes` octets takes on the line.
    #[inline]
    pub fn octets(&self, bytes: u16) -> u16 {
        self.extras.as_ref().map_or(bytes, |extras| bytes.max(extras.minimum))
    }

    /// Return this line with a rest before each frame.
    pub fn with_rest(mut self, rest: Option<Rest>) -> Line {
        if rest.is_some() {
            self.extras.get_or_insert_default().rest = rest;
        }
        self
    }

    /// Return the rests before frames, if the line has them.
    pub fn rests(&self) -> Option<&Rest> {
        self.extras.as_ref()?.rest.as_ref()
    }

    /// Delay the next start by the rest before the frame `subject`, which will be sent at `now` or as soon as the
    /// line is free.
    #[inline]
    pub fn rest(&mut self, now: Time, subject: Subject) {
        if let Some(extras) = &mut self.extras
            && let Some(rest) = &extras.rest
        {
            if now > self.free {
                (self.free, self.carry) = (now, 0);
            }
            self.free += rest.before(subject);
            if let Some(course) = &mut extras.course {
                course.rest(self.free);
            }
        }
    }

    /// Record that no unit waits for the line.
    #[inline]
    pub(crate) fn idle(&mut self) {
        if let Some(course) = self.extras.as_mut().and_then(|extras| extras.course.as_mut()) {
            course.idle();
        }
    }

    /// Return the earliest instant at which a unit may start.
    pub fn free(&self) -> Time {
        self.free
    }

    /// Return the time between the start of a unit of `bytes` octets and its arrival at the far end.
    pub fn transit(&self, bytes: u16) -> Span {
        Span(self.transmission(bytes).0) + self.latency
    }

    /// Return the transmission time of `octets` octets.
    pub(crate) fn duration(&self, octets: u64) -> Span {
        Span(self.rate.time_of_bits(octets * 8).0)
    }

    /// Send a unit of `bytes` octets at `now` or as soon as the line is free.
    #[inline]
    pub fn send(&mut self, now: Time, bytes: u16) -> Sent {
        let bytes = match &mut self.extras {
            None => bytes,
            Some(extras) if extras.course.is_none() => bytes.max(extras.minimum),
            Some(_) => return self.send_on_course(now, bytes),
        };
        if now > self.free {
            (self.free, self.carry) = (now, 0);
        }
        let starts = self.free;
        let (whole, rest) = self.time_of(bytes);
        self.carry += rest;
        let extra = u64::from(self.carry >= self.rate.0);
        self.carry -= extra * self.rate.0;
        self.free = starts + Span(whole + extra);
        let ends = starts + Span(whole);
        Sent { starts, ends, arrives: ends + self.latency }
    }

    /// Like `send`, for a unit that is known to take this time on a line of a constant rate.
    #[inline]
    pub(crate) fn send_for(&mut self, now: Time, pace: &TransmissionTime) -> Sent {
        if now > self.free {
            (self.free, self.carry) = (now, 0);
        }
        let starts = self.free;
        self.free = starts + pace.step(&mut self.carry);
        let ends = starts + pace.whole;
        Sent { starts, ends, arrives: ends + self.latency }
    }

    /// Send a unit on a line whose rate changes: its ends are exact instants, rounded down.
    #[inline(never)]
    fn send_on_course(&mut self, now: Time, bytes: u16) -> Sent {
        let octets = self.octets(bytes);
        let course = self.extras.as_mut().and_then(|extras| extras.course.as_mut());
        let (starts, ends) = course.expect("the rate changes").send(now, self.free, octets);
        self.free = ends;
        Sent { starts, ends, arrives: ends + self.latency }
    }

    #[inline]
    fn transmission(&self, bytes: u16) -> (u64, u64) {
        self.time_of(self.octets(bytes))
    }

    /// Return the transmission time of a unit that takes `bytes` octets on the line.
    #[inline]
    fn time_of(&self, bytes: u16) -> (u64, u64) {
        if u64::from(bytes) == CELL_BYTES { self.cell } else { self.rate.time_of_bits(u64::from(bytes) * 8) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STM1: Rate = Rate(155_520_000);

    #[test]
    fn back_to_back_cells_keep_the_exact_rate() {
        let mut line = Line::new(STM1, Span::ZERO);
        let mut now = Time::ZERO;
        for _ in 0..155_520_000 / 424 {
            now = line.send(now, 53).ends;
        }
        // 366 792 cells last 366 792 · 424 / 155 520 000 s, rounded down once
        assert_eq!(line.free(), Time(999_998_765_432));
    }

    #[test]
    fn an_idle_line_starts_a_busy_period_without_remainder() {
        let mut line = Line::new(STM1, Span::micros(100));
        let first = line.send(Time(0), 53);
        assert_eq!((first.starts, first.ends, first.arrives), (Time(0), Time(2_726_337), Time(102_726_337)));
        let later = line.send(Time(5_000_000), 53);
        assert_eq!((later.starts, later.ends), (Time(5_000_000), Time(7_726_337)));
    }

    #[test]
    fn a_line_rests_before_each_frame_for_a_random_time() {
        let rest = Rest::new(Span(1000), Keyed::new(1, "rest"));
        let mut line = Line::new(STM1, Span::ZERO).with_rest(Some(rest));
        let mut rests = Vec::new();
        let mut now = Time(5_000_000);
        for frame in 0..2000 {
            line.rest(now, Subject::unit(0, frame, 0));
            let sent = line.send(now, 53);
            rests.push(sent.starts.since(now).0);
            now = line.send(sent.ends, 53).ends + Span(1); // the second cell of a frame follows at once
        }
        let mean = rests.iter().sum::<u64>() as f64 / 2000.0;
        assert!(rests.iter().all(|&rest| rest <= 1000) && (mean - 500.0).abs() < 25.0, "{mean}");
    }

    #[test]
    fn on_a_busy_line_the_rest_begins_when_it_is_free() {
        let rest = || Rest::new(Span(1000), Keyed::new(1, "rest"));
        let mut line = Line::new(STM1, Span::ZERO).with_rest(Some(rest()));
        let free = line.send(Time(0), 53).ends;
        let frame = Subject::unit(0, 7, 0);
        line.rest(Time(1), frame);
        assert_eq!(line.send(Time(1), 53).starts, free + rest().before(frame));
    }

    #[test]
    fn a_packet_lasts_as_long_as_its_octets() {
        let mut line = Line::new(Rate(8_000_000), Span::ZERO);
        assert_eq!(line.send(Time(0), 1500).ends, Time::ZERO + Span::micros(1500));
    }

    #[test]
    fn a_unit_below_the_minimum_of_the_line_takes_as_long_as_the_least_one() {
        let mut line = Line::new(Rate(8_000_000), Span::ZERO).with_minimum(84);
        let ends = [64, 84, 85].map(|bytes| line.send(Time(0), bytes).ends);
        assert_eq!(ends, [84, 168, 253].map(|octets| Time::ZERO + Span::micros(octets)));
        assert_eq!(line.transit(1), Span::micros(84));
    }

    #[test]
    fn a_train_passes_an_idle_line_of_its_own_rate_with_its_gaps_unchanged() {
        let (mut first, mut second) = (Line::new(STM1, Span::ZERO), Line::new(STM1, Span::ZERO));
        let mut now = Time(17);
        for _ in 0..1000 {
            let sent = first.send(now, 53);
            assert!(second.free() <= sent.arrives, "never waits");
            let passed = second.send(sent.arrives, 53);
            assert_eq!((passed.starts, passed.ends.since(passed.starts)), (sent.arrives, Span(2_726_337)));
            now = sent.ends;
        }
    }
}
