//! Where streams meet: one queue of cells that takes each by a rule.

use super::Ledger;
use super::order::{Next, Order};
use super::stream::{Interface, Stream};
use super::ways::{Way, rule_of};
use crate::buffer::admission::Rule;
use crate::buffer::capacity::Capacity;
use crate::buffer::verdict::Reason;
use crate::engine::LossRecord;
use crate::engine::exact::accounting::Sojourn;
use crate::engine::exact::spacing::{Beat, Pace};
use crate::engine::latency;
use crate::network::Network;
use crate::scenario::model::Scenario;
use crate::units::{CELL_BYTES, Span, Time};

/// The port and all streams that come to it.
#[derive(Debug)]
pub(crate) struct Meet {
    /// Streams, with the circuit's number here of each.
    streams: Vec<(Stream, u32)>,
    order: Order,
    queue: Queue,
}

/// The port's queue of cells.
#[derive(Debug)]
struct Queue {
    port: usize,
    pace: Pace,
    /// Time from the end of a transmission to the arrival at the next port or host.
    latency: Span,
    /// Occupancy from which a cell is lost, and why.
    room: Capacity,
    reason: Reason,
    /// When the line is free; so many cells are in the buffer, of which the oldest one ends at that beat.
    free: Beat,
    count: u64,
    ends: Beat,
    /// When the measured time begins, if it has not, when a sample is due, and the earlier of both.
    begin: Time,
    sample: Time,
    every: Span,
    stop: Time,
    /// Cells that came and went in the measured time, the integral of their number, and its maximum.
    passed: u64,
    area: u128,
    max: u64,
}

impl Meet {
    /// The port before the first cell.
    pub(crate) fn new(
        scenario: &Scenario,
        port: usize,
        ways: Vec<Way>,
        network: &mut Network,
        ledger: &mut Ledger,
    ) -> Meet {
        let (line, window) = (&scenario.lines[port], ledger.window);
        let capacity = line.port.capacity;
        let (room, reason) = match rule_of(scenario, port) {
            Some(Rule::Frames { threshold: Some(threshold), .. }) if capacity.holds(threshold) => {
                (Capacity::limited(threshold), Reason::Early)
            }
            _ => (capacity, Reason::Overflow),
        };
        let mut order = Order::new(scenario.seed);
        let mut streams = Vec::with_capacity(ways.len());
        for way in ways {
            let (line, number, stream) = (way.line, way.number, streams.len() as u32);
            streams.push((Stream::new(scenario, way, network, ledger), number));
            if let Some(time) = streams[stream as usize].0.send(ledger) {
                order.add(Next { time, stream, line });
            }
        }
        let every = scenario.sample;
        let next = Time(window.from.0.next_multiple_of(every.0));
        let sample = if scenario.lines[port].is_sampled() { next } else { Time::NEVER };
        let queue = Queue {
            port,
            pace: Pace::of_bytes(line.rate, CELL_BYTES as u16),
            latency: latency(scenario, line),
            room,
            reason,
            free: Beat::default(),
            count: 0,
            ends: Beat::default(),
            begin: window.from,
            sample,
            every,
            stop: window.from.min(sample),
            passed: 0,
            area: 0,
            max: 0,
        };
        Meet { streams, order, queue }
    }

    /// From the first cell to the last.
    pub(crate) fn run(&mut self, network: &mut Network, ledger: &mut Ledger) {
        let Meet { streams, order, queue } = self;
        while let Some(Next { time, stream, .. }) = order.first() {
            let (stream, vc) = &mut streams[stream as usize];
            if queue.stop <= time {
                queue.settle(time, network);
            }
            queue.arrive(stream, *vc, time, ledger);
            match stream.send(ledger) {
                Some(time) => order.follow(time),
                None => order.end(),
            }
        }
        queue.settle(Time(ledger.window.to.0 - 1), network);
    }

    /// Enter everything where it belongs; interfaces have books of their own.
    pub(crate) fn close(
        self,
        network: &mut Network,
        ledger: &mut Ledger,
    ) -> impl Iterator<Item = Box<Interface>> {
        let Meet { streams, queue: Queue { port, passed, area, max, .. }, .. } = self;
        ledger.books[port].enter_whole(passed, passed * CELL_BYTES, area, max);
        ledger.books[port].max = max;
        streams.into_iter().filter_map(move |(stream, ..)| stream.close(network, ledger))
    }
}

impl Queue {
    /// A cell of a stream, the circuit `vc`, arrives.
    #[inline]
    fn arrive(&mut self, stream: &mut Stream, vc: u32, now: Time, ledger: &mut Ledger) {
        self.drop_until(now);
        if !self.room.holds(self.count + 1) {
            return self.lose(stream, now, ledger);
        }
        let start = self.free.not_before(now);
        self.free = start.next(&self.pace);
        if self.count == 0 {
            self.ends = start.shifted(self.pace.whole);
        }
        self.count += 1;
        self.max = self.max.max(self.count);
        let ends = start.time.later(self.pace.whole);
        if ledger.window.from <= now && ends < ledger.window.to {
            self.passed += 1;
            self.area += u128::from(ends.0 - now.0);
        } else {
            let unit = stream.unit(stream.way.hop);
            let stay = Sojourn { unit, vc, size: 1, arrived: now, starts: start.time, ends };
            ledger.enter_crossing(self.port, &stay);
        }
        if start.time >= ledger.window.to {
            return;
        }
        ledger.work.cell_hops += 1;
        if let Some(next) = ledger.on_line(stream.way.vc as u32, ends.later(self.latency)) {
            stream.pass(now, next, ledger);
        }
    }

    /// A cell is lost.
    #[inline(never)]
    fn lose(&mut self, stream: &mut Stream, time: Time, ledger: &mut Ledger) {
        let reason = self.reason;
        let unit = stream.unit(stream.way.hop);
        stream.lose();
        ledger.books[self.port].lose(time, &unit, reason);
        if let Some(losses) = &mut ledger.losses {
            let (port, vc, frame, index) = (self.port as u32, unit.vc, unit.frame, unit.index);
            losses.push(LossRecord { time, port, vc, frame, index, reason });
        }
    }

    /// What has ended up to `now` leaves.
    #[inline]
    fn drop_until(&mut self, now: Time) {
        while self.count > 0 && self.ends.time <= now {
            self.count -= 1;
            self.ends = self.ends.next(&self.pace);
        }
    }

    /// Take the samples up to `now`, and begin the measured time; both come before whatever else happens at an instant.
    #[cold]
    fn settle(&mut self, now: Time, network: &mut Network) {
        while self.stop <= now {
            self.drop_until(Time(self.stop.0.saturating_sub(1)));
            if self.begin == self.stop {
                self.begin = Time::NEVER;
                self.max = self.count;
            } else {
                network.ports[self.port].counters_mut().occupancy.sample(self.count);
                self.sample += self.every;
            }
            self.stop = self.begin.min(self.sample);
        }
    }
}
