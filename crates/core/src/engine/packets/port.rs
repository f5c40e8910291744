//! A port with one queue that accepts packets by a rule: the departure of a packet is computed on arrival.
//!
//! # What it assumes
//! The policy is a rule, and no accepted packet is removed.
//!
//! # What it skips
//! A queue, as long as all waiting packets have one size: each departure follows from the time at which the line is
//! free, and the number of waiting packets from the sojourn time of the last one.
//!
//! # Why that is exact
//! Packets of one size leave one transmission time apart; others are in a list.
//!
//! # What turns it off
//! Packets of several sizes, a buffer that may overflow, a threshold that may be met, a sample that is due, a line whose rate
//! changes.
//!
//! # What it saves
//! See `mod.rs`; a packet touches only one cache line of the port.

use super::agenda::Row;
use crate::buffer::admission::{Policy, Rule};
use crate::buffer::capacity::Capacity;
use crate::buffer::size::Measure;
use crate::engine::exact::accounting::{Accounting, Sojourn, Window};
use crate::engine::exact::spacing::{ExactTime, TransmissionTime};
use crate::link::law::Course;
use crate::link::port::Port;
use crate::metrics::occupancy::Occupancy;
use crate::scenario::model::Scenario;
use crate::unit::Unit;
use crate::units::ids::{LineId, PortVc};
use crate::units::{Span, Time};
use crate::verdict::{Reason, Verdict};

/// The data that every packet touches: a packet of the usual size needs only this cache line of a port.
///
/// As long as all waiting packets have one size, each departure follows from the time at which the line is free, and
/// the number of waiting packets from the sojourn time of the last one. So no data are stored per packet.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct PacketFifo {
    /// Time at which the line is free.
    free: ExactTime,
    /// Whether that time is a picosecond after the end of the last packet, by the carried remainder.
    carries: bool,
    in_bytes: bool,
    /// Octets of the last packet.
    last: u16,
    /// Octets of every packet in the buffer (the usual size); 0 if sizes differ: then the list of the queue has the
    /// packets.
    usual: u16,
    /// Number of packets of the usual size that `tally` does not count yet.
    alike: u64,
    /// The sum of the sojourn times of these packets.
    stays: u128,
    /// A packet with at most this sojourn time fits into the buffer and sets no new maximum occupancy.
    sure: Span,
    /// Packets that arrive before this instant need no check of samples, of the measured time or by the policy.
    quiet: Time,
}

/// The data for packets that are judged or counted one by one.
///
/// First comes a cache line for packets that only begin a series of one size.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct PacketQueue {
    /// Time of the next sample, or of the beginning of the measured time.
    stop: Time,
    /// Departure of the last packet before the present series of packets of one size.
    alike_from: Time,
    /// The transmission time of packets of the usual size.
    pace: TransmissionTime,
    capacity: Capacity,
    /// Sum of the sizes of the packets in `older`.
    waiting: u64,
    /// Whether packets are handled one by one: one may be refused although the port is empty, or the rate changes.
    is_single: bool,
    tally: Tally,
    /// Beginning of the measured time; `Time::NEVER` once it has begun.
    begin: Time,
    /// Packets of several sizes in the buffer except the last one, each with its end and its size.
    older: Row<(Time, u64)>,
    /// Rule by which packets are accepted; the policy itself keeps the state of frames.
    rule: Rule,
    samples: Option<Box<Samples>>,
    /// Counts of packets that were lost, or that were only partly in the measured time; `None` without such
    /// packets.
    books: Option<Box<Accounting>>,
}

/// Counts of packets that arrived and left in the measured time, or, before it has begun, in the warm-up.
#[derive(Debug, Default)]
#[repr(C)]
struct Tally {
    /// The maximum occupancy.
    max: u64,
    passed: u64,
    /// The integral of the occupancy.
    area: u128,
    octets: u64,
}

/// The samples of a limited buffer.
#[derive(Debug)]
struct Samples {
    next: Time,
    every: Span,
    occupancy: Occupancy,
}

/// An accepted packet: its start, its end, and the reason for its mark, if it is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) starts: Time,
    pub(crate) ends: Time,
    pub(crate) mark: Option<Reason>,
}

impl PacketFifo {
    /// Build an empty port that accepts packets by this rule.
    pub(crate) fn new(
        scenario: &Scenario,
        number: LineId,
        rule: Rule,
        window: Window,
        port: &Port,
    ) -> (PacketFifo, PacketQueue) {
        let line = &scenario.lines[number];
        let fifo = PacketFifo {
            free: ExactTime::default(),
            carries: false,
            in_bytes: line.port.measure == Measure::Bytes,
            last: 0,
            usual: 0,
            alike: 0,
            stays: 0,
            sure: Span::ZERO,
            quiet: Time::ZERO,
        };
        let samples = Samples::of(scenario, number, window, port).map(Box::new);
        let is_judged = rule.may_refuse(0) || !line.port.capacity.holds(u16::MAX.into());
        let queue = PacketQueue {
            pace: TransmissionTime::default(),
            older: Row::default(),
            waiting: 0,
            alike_from: Time::ZERO,
            stop: window.from,
            tally: Tally::default(),
            capacity: line.port.capacity,
            is_single: is_judged || !line.rate.is_constant(),
            begin: window.from,
            rule,
            samples,
            books: None,
        };
        (fifo, queue)
    }

    /// Accept a packet of the usual size whose sojourn time is within `sure`, if it arrives before the next sample
    /// and the beginning of the measured time, and ends before `edge`; returns its end. Return `None` for any other
    /// packet.
    #[inline(always)]
    pub(crate) fn pass(
        &mut self,
        now: Time,
        bytes: u16,
        pace: &TransmissionTime,
        edge: Time,
    ) -> Option<Time> {
        let start = self.free.not_before(now);
        let ends = start.time.later(pace.whole);
        let stay = ends.0 - now.0;
        if bytes != self.usual || Span(stay) > self.sure || now >= self.quiet || ends >= edge {
            return None;
        }
        self.send(start, bytes, pace);
        self.alike += 1;
        self.stays += u128::from(stay);
        Some(ends)
    }

    /// Like [`PacketFifo::pass`], also for a packet that is the first of its size, sets a new maximum occupancy, or
    /// arrives when a sample is due.
    #[inline(never)] // keeps few registers in use for all others
    pub(crate) fn pass_first(
        &mut self,
        queue: &mut PacketQueue,
        now: Time,
        bytes: u16,
        pace: &TransmissionTime,
        edge: Time,
    ) -> Option<Time> {
        if queue.stop <= now {
            self.settle(queue, now);
        }
        if queue.is_single {
            return None;
        }
        let alike_from = if self.last == bytes { queue.alike_from } else { self.free.time };
        if self.usual != bytes && alike_from <= now {
            self.renew(queue, bytes, pace);
        }
        if self.usual == bytes {
            self.reach(queue, self.free.not_before(now).count_after(now, pace));
        }
        self.pass(now, bytes, pace, edge)
    }

    /// Handle any packet; returns its start and end, or the reason of its loss. `course` is the progress of a line whose rate
    /// changes, and the octets that the packet has there; `unit` is called only if the unit and its circuit are needed.
    #[inline(always)] // builds the unit only if it is looked at
    pub(crate) fn take(
        &mut self,
        (queue, policy): (&mut PacketQueue, &mut Policy),
        window: Window,
        now: Time,
        bytes: u16,
        (pace, course): (&TransmissionTime, Option<(&mut Course, u16)>),
        unit: impl Fn() -> (Unit, PortVc),
    ) -> Result<Taken, Reason> {
        if queue.stop <= now {
            self.settle(queue, now);
        }
        if self.last != bytes {
            queue.alike_from = self.free.time;
        }
        if self.usual != 0 && self.usual != bytes {
            self.list(queue, now);
        }
        let size = self.size(bytes);
        let level = self.level(queue, now) + size;
        let mark = if queue.takes(level - size, level) {
            None
        } else {
            queue.judge(policy, window, now, level, unit(), size)?
        };
        queue.tally.max = queue.tally.max.max(level);
        if self.usual == 0 && self.ends() > now {
            queue.join(self.ends(), self.size(self.last));
        }
        let (starts, ends) = match course {
            None => {
                let start = self.free.not_before(now);
                self.send(start, bytes, pace);
                (start.time, start.time.later(pace.whole))
            }
            Some((course, octets)) => {
                let sent = course.send(now, self.free.time, octets);
                (self.free, self.last) = (ExactTime::at(sent.1), bytes);
                sent
            }
        };
        if window.from <= now && ends < window.to {
            queue.tally.enter(1, bytes.into(), u128::from(ends.0 - now.0) * u128::from(size));
        } else {
            let (unit, vc) = unit();
            let unit = if mark.is_some() { unit.marked() } else { unit };
            queue.enter_part(window, &Sojourn { unit, vc, size, arrived: now, starts, ends });
        }
        Ok(Taken { starts, ends, mark })
    }

    /// At the end of the run, restore the state that the port would have if its own counters had counted every
    /// packet.
    pub(crate) fn close(mut self, mut queue: PacketQueue, window: Window, port: &mut Port) {
        self.settle(&mut queue, Time(window.to.0 - 1));
        self.enter_alike(&mut queue);
        let occupancy = &mut port.counters_mut().occupancy;
        match queue.samples.take() {
            Some(samples) => *occupancy = samples.occupancy,
            None => occupancy.reset(window.from, 0),
        }
        let Tally { passed, octets, area, max } = queue.tally;
        let mut books = queue.books.map_or_else(|| Accounting::new(window), |books| *books);
        books.enter_whole(passed, octets, area, max);
        books.close(port);
    }

    /// Send a packet on the line.
    #[inline(always)]
    fn send(&mut self, start: ExactTime, bytes: u16, pace: &TransmissionTime) {
        self.free = start.next(pace);
        (self.last, self.carries) = (bytes, self.free.time.0 > start.time.0 + pace.whole.0);
    }

    /// Begin a series of packets of `bytes` octets: count the packets of the previous series, and make this size the
    /// usual one.
    fn renew(&mut self, queue: &mut PacketQueue, bytes: u16, pace: &TransmissionTime) {
        self.enter_alike(queue);
        queue.drop_until(Time::NEVER);
        (self.usual, self.sure, queue.pace) = (bytes, Span::ZERO, *pace);
        self.reach(queue, queue.tally.max / self.size(bytes));
    }

    /// Set `sure` so that up to `packets` packets may be in the buffer, if the rule accepts all of them; occupancies
    /// up to this number then set no new maximum.
    fn reach(&mut self, queue: &mut PacketQueue, packets: u64) {
        let (size, level) = (self.size(self.usual), packets * self.size(self.usual));
        if queue.takes(level.saturating_sub(size), level) {
            queue.tally.max = queue.tally.max.max(level);
            self.sure = self.sure.max(Span(packets * queue.pace.whole.0));
        }
    }

    /// Put the packets that are in the buffer at `now` into the list, since they no longer have one size.
    fn list(&mut self, queue: &mut PacketQueue, now: Time) {
        self.enter_alike(queue);
        let (size, pace) = (self.size(self.usual), queue.pace);
        for place in (2..=self.usual_at(queue, now)).rev() {
            queue.join(self.free.before(place, &pace).later(pace.whole), size);
        }
        (self.usual, self.sure) = (0, Span::ZERO);
    }

    /// Add the packets of the usual size to `tally`.
    fn enter_alike(&mut self, queue: &mut PacketQueue) {
        let size = self.size(self.usual);
        let (alike, stays) = (std::mem::take(&mut self.alike), std::mem::take(&mut self.stays));
        queue.tally.enter(alike, alike * u64::from(self.usual), stays * u128::from(size));
    }

    /// Return what one packet adds to the occupancy.
    #[inline(always)]
    fn size(&self, bytes: u16) -> u64 {
        if self.in_bytes { bytes.into() } else { 1 }
    }

    /// Return when the last packet leaves.
    #[inline(always)]
    pub(crate) fn ends(&self) -> Time {
        Time(self.free.time.0 - u64::from(self.carries))
    }

    /// Return the occupancy; remove packets that have left from the list.
    #[inline(always)]
    fn level(&self, queue: &mut PacketQueue, now: Time) -> u64 {
        if self.usual != 0 {
            return self.usual_at(queue, now) * self.size(self.usual);
        }
        queue.drop_until(now);
        if self.ends() > now { queue.waiting + self.size(self.last) } else { 0 }
    }

    /// Return the number of packets of the usual size in the buffer at `now`.
    fn usual_at(&self, queue: &PacketQueue, now: Time) -> u64 {
        if self.ends() > now { self.free.count_after(now, &queue.pace) - 1 } else { 0 }
    }

    /// Take the samples up to `now`, and begin the measured time if it is due; both precede all other events of an
    /// instant.
    #[cold]
    fn settle(&mut self, queue: &mut PacketQueue, now: Time) {
        while queue.stop <= now {
            let before = Time(queue.stop.0.saturating_sub(1));
            let level = self.level(queue, before);
            if queue.begin == queue.stop {
                queue.begin = Time::NEVER;
                queue.tally = Tally { max: level, ..Tally::default() };
                (self.alike, self.stays, self.sure) = (0, 0, Span::ZERO);
            } else if let Some(samples) = &mut queue.samples {
                samples.take(level);
            }
            let next = queue.samples.as_ref().map_or(Time::NEVER, |samples| samples.next);
            queue.stop = queue.begin.min(next);
            self.quiet = if queue.is_single { Time::ZERO } else { queue.stop };
        }
    }
}

impl PacketQueue {
    /// Return whether a packet that meets the occupancy `found` and makes it `made` is accepted without a mark.
    #[inline(always)]
    fn takes(&self, found: u64, made: u64) -> bool {
        self.capacity.holds(made) && !self.rule.may_refuse(found)
    }

    /// Add a packet that ends at this instant.
    #[inline(always)]
    fn join(&mut self, ends: Time, size: u64) {
        *self.older.add() = (ends, size);
        self.waiting += size;
    }

    /// Decide whether a packet that does not fit, or that meets a threshold, is accepted; `level` is the occupancy with
    /// it. Returns the reason of its mark, if it gets one.
    #[inline(never)]
    fn judge(
        &mut self,
        policy: &mut Policy,
        window: Window,
        now: Time,
        level: u64,
        (unit, vc): (Unit, PortVc),
        size: u64,
    ) -> Result<Option<Reason>, Reason> {
        match self.rule.judge_packet(policy, &unit, vc, (level - size, self.capacity.holds(level))) {
            Verdict::Mark(reason) => Ok(Some(reason)),
            verdict => {
                let taken = verdict.taken().inspect_err(|&reason| self.lose(window, now, &unit, reason));
                taken.map(|()| None)
            }
        }
    }

    /// Count a packet as lost before it reaches the port.
    pub(crate) fn lose(&mut self, window: Window, now: Time, unit: &Unit, reason: Reason) {
        self.books(window).lose(now, unit, reason);
    }

    fn books(&mut self, window: Window) -> &mut Accounting {
        self.books.get_or_insert_with(|| Box::new(Accounting::new(window)))
    }

    /// Remove from the list the packets that ended by `now`.
    fn drop_until(&mut self, now: Time) {
        while let Some(&(ends, size)) = self.older.first()
            && ends <= now
        {
            self.waiting -= size;
            self.older.drop_first();
        }
    }

    /// Count a packet during whose sojourn the measured time begins or ends, or that leaves before it.
    #[cold]
    fn enter_part(&mut self, window: Window, stay: &Sojourn) {
        let books = self.books(window);
        books.frames_whole_out += u64::from(window.holds(stay.ends));
        books.enter(stay);
    }
}

impl Tally {
    /// Count `packets` packets that arrive and leave, with `octets` octets in total and their part `area` of the
    /// occupancy's integral.
    #[inline(always)]
    fn enter(&mut self, packets: u64, octets: u64, area: u128) {
        self.passed += packets;
        self.octets += octets;
        self.area += area;
    }
}

impl Samples {
    /// Build the samples of a port, if its buffer is limited; they begin with the measured time.
    fn of(scenario: &Scenario, number: LineId, window: Window, port: &Port) -> Option<Samples> {
        let mut occupancy = scenario.lines[number].is_sampled().then(|| port.counters().occupancy.clone())?;
        occupancy.reset(window.from, 0);
        let every = scenario.sample;
        Some(Samples { next: Time(window.from.0.next_multiple_of(every.0)), every, occupancy })
    }

    /// Add a sample of this occupancy.
    fn take(&mut self, level: u64) {
        self.occupancy.sample(level);
        self.next = self.next.later(self.every);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::admission::Shortcuts;
    use crate::network::Network;
    use crate::scenario::load;
    use crate::scenario::model::Line;
    use crate::unit::Flags;
    use crate::units::ids::CircuitId;
    use proptest::prelude::*;
    use std::iter;

    /// Return the departures of the bottleneck and its final counts, when packets with these gaps and sizes arrive; if
    /// it judges each, it keeps them in a list.
    fn run(
        packets: &[(u64, bool)],
        [buffer, admission]: [&str; 2],
        one_by_one: bool,
    ) -> (Vec<Option<Time>>, String) {
        let sets = [("buffer", buffer), ("admission", admission)];
        let sets = sets.map(|(key, value)| format!("port.bottleneck.{key}={value}"));
        let scenario = load(BOTTLENECK, "test.toml", &sets).unwrap();
        let number = scenario.lines.position(|line| line.name == "bottleneck").unwrap();
        let port = &mut Network::new(&scenario).ports[number];
        let window = Window { from: Time::ZERO, to: Time::ZERO + scenario.duration };
        let rule = port.admission.rule_for_packets().unwrap();
        let (mut fifo, mut queue) = PacketFifo::new(&scenario, number, rule, window, port);
        let (mut now, mut ends) = (Time::ZERO, Vec::new());
        for &(gap, is_large) in packets {
            now.0 += gap;
            let bytes = if is_large { 1500 } else { 40 };
            let pace = TransmissionTime::of_bytes(scenario.lines[number].rate.fixed(), bytes);
            let flags = Flags::default().with(Flags::FIRST).with(Flags::EOM);
            let unit = || {
                (Unit { vc: CircuitId(0), frame: 0, identity: 0, index: 0, bytes, hop: 1, flags }, PortVc(0))
            };
            let passed = if one_by_one {
                None
            } else {
                fifo.pass(now, bytes, &pace, window.to)
                    .or_else(|| fifo.pass_first(&mut queue, now, bytes, &pace, window.to))
            };
            let policy = port.admission_mut();
            let taken = || {
                fifo.take((&mut queue, policy), window, now, bytes, (&pace, None), unit)
                    .ok()
                    .map(|taken| taken.ends)
            };
            ends.push(passed.or_else(taken));
        }
        fifo.close(queue, window, port);
        (ends, format!("{:?}", port.counters()))
    }

    const BOTTLENECK: &str = r#"
        name = "bottleneck"
        duration = "1 s"
        adaptation = { kind = "packet" }
        flows = { source = { kind = "greedy" }, transport = { kind = "tcp" } }
        [topology]
        template = "dumbbell"
        sources = 1
        access = { rate = "1 Gb/s", delay = "1 ms" }
        bottleneck = { rate = "155.52 Mb/s", delay = "1 ms" }
        egress = { rate = "1 Gb/s", delay = "1 ms" }
    "#;

    proptest! {
        #[test]
        fn how_long_the_last_packet_stays_says_how_many_there_are(
            bursts in prop::collection::vec((0u64..10_000_000_000, 0u64..90_000_000, 1usize..120, any::<bool>()), 1..9),
        ) {
            let burst = |(rest, gap, packets, is_large)| {
                let gap = if is_large { gap } else { gap / 32 };
                iter::once((rest, is_large)).chain(iter::repeat_n((gap, is_large), packets))
            };
            let packets: Vec<(u64, bool)> = bursts.into_iter().flat_map(burst).collect();
            let epd = "{policy='epd', threshold='30 %'}";
            for port in [["70 kB", "{policy='tail-drop'}"], ["70000 packets", "{policy='tail-drop'}"], ["70 kB", epd], ["70 packets", epd]] {
                prop_assert_eq!(run(&packets, port, false), run(&packets, port, true));
            }
        }
    }

    #[test]
    fn a_packet_like_those_around_it_touches_one_line_of_the_cache() {
        assert_eq!(size_of::<PacketFifo>(), 64);
    }

    #[test]
    fn a_large_network_has_small_ports() {
        assert_eq!((size_of::<Port>(), size_of::<PacketQueue>(), size_of::<Line>()), (448, 192, 128));
    }
}
