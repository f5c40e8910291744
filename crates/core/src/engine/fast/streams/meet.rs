//! Where streams meet: one queue of cells that takes each by a rule.

use super::super::books::Stay;
use super::super::pace::{Beat, Pace};
use super::Ledger;
use super::stream::{Interface, Stream};
use super::ways::{Way, rule_of};
use crate::buffer::admission::Rule;
use crate::buffer::verdict::Reason;
use crate::engine::fast::plan::latency;
use crate::engine::{LossRecord, is_sampled};
use crate::kernel::Ties;
use crate::kernel::queue::{Class, Event};
use crate::kernel::row::Row;
use crate::network::Network;
use crate::scenario::model::Scenario;
use crate::units::{CELL_BYTES, Span, Time};

/// The port and all streams that come to it.
#[derive(Debug)]
pub(super) struct Meet {
    port: usize,
    /// Streams, with the line over which each comes and its circuit's number here.
    streams: Vec<(Stream, u32, u32)>,
    /// Which of them comes next.
    order: Row<u32>,
    ties: Ties,
    pace: Pace,
    /// Time from the end of a transmission to the arrival at the next port or host.
    latency: u64,
    /// Occupancy from which a cell is refused, and from which it does not fit.
    threshold: u64,
    capacity: u64,
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
    pub(super) fn new(
        scenario: &Scenario,
        port: usize,
        ways: Vec<Way>,
        network: &mut Network,
        ledger: &Ledger,
    ) -> Meet {
        let (line, window) = (&scenario.lines[port], ledger.window);
        let threshold = match rule_of(scenario, port) {
            Some(Rule::Frames { threshold, .. }) => threshold,
            _ => u64::MAX,
        };
        let streams = ways.into_iter().map(|way| {
            let (from, number) = (way.line, way.number);
            (Stream::new(scenario, way, network, ledger), from, number)
        });
        let every = scenario.sample;
        let next = Time(window.from.0.div_ceil(every.0) * every.0);
        let sample = if is_sampled(scenario, port) { next } else { Time::NEVER };
        Meet {
            port,
            streams: streams.collect(),
            order: Row::default(),
            ties: Ties::new(scenario.seed),
            pace: Pace::of(line.rate, CELL_BYTES as u16),
            latency: latency(scenario, line).0,
            threshold,
            capacity: line.port.capacity,
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
        }
    }

    /// From the first cell to the last.
    pub(super) fn run(&mut self, network: &mut Network, ledger: &mut Ledger) {
        (0..self.streams.len()).for_each(|index| self.expect(index, ledger));
        while let Some((key, index)) = self.order.pop() {
            self.arrive(index as usize, Time((key >> 64) as u64), network, ledger);
            self.expect(index as usize, ledger);
        }
        self.settle(Time(ledger.window.to.0 - 1), network);
    }

    /// Enter everything where it belongs; interfaces have books of their own.
    pub(super) fn close(
        self,
        network: &mut Network,
        ledger: &mut Ledger,
    ) -> impl Iterator<Item = Box<Interface>> {
        let Meet { port, streams, passed, area, max, .. } = self;
        ledger.books[port].enter_whole(passed, passed * CELL_BYTES, area, max);
        ledger.books[port].max = max;
        streams.into_iter().filter_map(move |(stream, ..)| stream.close(network, ledger))
    }

    /// The next cell of a stream is to come.
    #[inline]
    fn expect(&mut self, index: usize, ledger: &mut Ledger) {
        let (stream, line, _) = &mut self.streams[index];
        if let Some(time) = stream.send(ledger) {
            let rank = self.ties.rank(time, *line);
            let event = Event { time, class: Class::Arrive, rank, entity: *line };
            self.order.push(event.key(), index as u32);
        }
    }

    #[inline]
    fn arrive(&mut self, index: usize, now: Time, network: &mut Network, ledger: &mut Ledger) {
        if self.stop <= now {
            self.settle(now, network);
        }
        self.drop_until(now);
        if self.count >= self.threshold.min(self.capacity) {
            return self.lose(index, now, ledger);
        }
        let start = self.free.not_before(now);
        self.free = start.next(&self.pace);
        if self.count == 0 {
            self.ends = start.shifted(self.pace.whole);
        }
        self.count += 1;
        self.max = self.max.max(self.count);
        let ends = Time(start.time.0 + self.pace.whole);
        let (stream, _, vc) = &mut self.streams[index];
        if ledger.window.from <= now && ends < ledger.window.to {
            self.passed += 1;
            self.area += u128::from(ends.0 - now.0);
        } else {
            let (unit, books) = (stream.unit(stream.way.hop), &mut ledger.books[self.port]);
            books.frames_whole_out += u64::from(ledger.window.holds(ends));
            books.enter(&Stay { unit, vc: *vc, size: 1, arrived: now, starts: start.time, ends });
        }
        if start.time >= ledger.window.to {
            return;
        }
        ledger.work.cell_hops += 1;
        if let Some(next) = ledger.on_line(stream.way.vc as u32, Time(ends.0 + self.latency)) {
            stream.pass(now, next, ledger);
        }
    }

    /// A cell is lost.
    fn lose(&mut self, index: usize, time: Time, ledger: &mut Ledger) {
        let stream = &mut self.streams[index].0;
        let reason = if self.count >= self.threshold { Reason::Early } else { Reason::Overflow };
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
