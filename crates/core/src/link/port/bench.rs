//! A port driven by tests of push-out policies.

use super::{Loss, Parts, Port};
use crate::buffer::admission::{self, tail_drop};
use crate::buffer::context::{Context, Contract};
use crate::buffer::pool::Pool;
use crate::buffer::pushout;
use crate::buffer::size::Measure;
use crate::link::line::Line;
use crate::scheduler::{self, round_robin};
use crate::unit::{Flags, Unit};
use crate::units::ids::{CircuitId, IdSlice, IdVec, PortVc};
use crate::units::{Rate, Span, Time};
use crate::verdict::Reason;

/// A cell port at 155.52 Mb/s with tail drop, round robin and push-out; tests give and receive cells as letters.
///
/// Cells are spelled `f` first, `.` middle, `e` last, `1` a frame of one cell.
pub(crate) struct Bench {
    port: Port,
    now: Time,
    /// For every circuit the frame and the index of its next cell.
    next: IdVec<PortVc, (u32, u16)>,
    pushed_out: Vec<Unit>,
}

impl Bench {
    /// Build a port with a buffer of `capacity` cells for circuits with these minimum cell rates, in kilobits per
    /// second.
    pub(crate) fn new(capacity: u64, mcr: &[u64], pushout: pushout::Spec) -> Bench {
        let admission = admission::Spec::TailDrop(tail_drop::Params { clp_threshold: None });
        Bench::with(capacity, mcr, admission, Some(pushout))
    }

    pub(crate) fn with(
        capacity: u64,
        mcr: &[u64],
        admission: admission::Spec,
        pushout: Option<pushout::Spec>,
    ) -> Bench {
        let plain = Context::alone(capacity, 1).contracts[PortVc(0)];
        let contracts: Vec<Contract> =
            mcr.iter().map(|kbps| Contract { mcr: Rate(kbps * 1000), ..plain }).collect();
        let context = Context { contracts: IdSlice::new(&contracts), ..Context::alone(capacity, 0) };
        let port = Port::new(Parts {
            pushout: pushout.map(|pushout| pushout.build(&context).unwrap()),
            ..Parts::plain(
                Measure::Cells,
                Pool::new(context.capacity, mcr.len()),
                admission.build(&context).unwrap(),
                scheduler::Spec::RoundRobin(round_robin::Params {}).build(&context).unwrap(),
                Line::new(context.rate, Span::ZERO),
            )
        });
        Bench { port, now: Time::ZERO, next: IdVec::filled((0, 0), mcr.len()), pushed_out: Vec::new() }
    }

    /// Offer cells of one circuit; returns a letter for each cell: `A` accepted, `o` lost to overflow, `p` discarded
    /// as the rest of a broken frame, `r` refused early.
    pub(crate) fn offer(&mut self, vc: u32, cells: &str) -> String {
        cells.chars().map(|cell| self.offer_one(PortVc(vc), cell)).collect()
    }

    fn offer_one(&mut self, vc: PortVc, cell: char) -> char {
        let unit = self.spell(vc, cell);
        let mut losses = Vec::new();
        self.port.arrive(self.now, unit, vc, &mut losses);
        self.check();
        let mut answer = 'A';
        for Loss { unit: lost, reason } in losses {
            match reason {
                Reason::PushedOut | Reason::Front => self.pushed_out.push(lost),
                _ if lost != unit => panic!("{lost:?} was lost to {reason}"),
                Reason::Overflow => answer = 'o',
                Reason::Partial => answer = 'p',
                Reason::Early => answer = 'r',
                _ => answer = 'x',
            }
        }
        answer
    }

    fn spell(&mut self, vc: PortVc, cell: char) -> Unit {
        let flags = Flags::spelled(cell);
        let next = &mut self.next[vc];
        *next = if flags.has(Flags::FIRST) { (next.0 + 1, 0) } else { (next.0, next.1 + 1) };
        Unit { vc: CircuitId(vc.0), frame: next.0, identity: next.0, index: next.1, bytes: 53, hop: 0, flags }
    }

    /// Start to transmit the next cell; returns its circuit and its letter.
    pub(crate) fn start(&mut self) -> String {
        let started = self.port.start(self.now, &mut Vec::new()).expect("a cell to send");
        self.check();
        format!("{}{}", started.unit.vc, letter(&started.unit))
    }

    /// End the transmission.
    pub(crate) fn finish(&mut self) {
        self.now = self.port.line().free();
        self.port.finish(self.now);
        self.check();
    }

    /// Advance the time by `span`, in which no transmission ends.
    pub(crate) fn wait(&mut self, span: Span) {
        self.now += span;
    }

    /// Return the mean occupancy so far.
    pub(crate) fn mean(&mut self) -> f64 {
        self.port.close_counters(self.now);
        self.port.counters().occupancy.mean()
    }

    /// Send the next cell; returns its circuit and its letter.
    pub(crate) fn send(&mut self) -> String {
        let sent = self.start();
        self.finish();
        sent
    }

    /// List the units pushed out since the last call: `circuit:cells` for each frame.
    pub(crate) fn pushed_out(&mut self) -> String {
        let units = std::mem::take(&mut self.pushed_out);
        let frames = units.chunk_by(|a, b| (a.vc, a.frame) == (b.vc, b.frame));
        let spelled = frames.map(|frame| format!("{}:{}", frame[0].vc, letters(frame.iter())));
        spelled.collect::<Vec<_>>().join(" ")
    }

    /// List the units that wait in every queue.
    pub(crate) fn queues(&self) -> String {
        let queues = self.port.queues.iter().map(|queue| letters(queue.iter().collect::<Vec<_>>().iter()));
        queues.collect::<Vec<_>>().join(",")
    }

    /// List the units pushed out, and the units that still wait.
    pub(crate) fn outcome(&mut self) -> String {
        format!("{} / {}", self.pushed_out(), self.queues())
    }

    /// Return the occupancy of every circuit.
    pub(crate) fn lengths(&self) -> Vec<u64> {
        self.next.keys().map(|vc| self.port.pool.of(vc)).collect()
    }

    /// Return the number of cells marked for this reason.
    pub(crate) fn marked(&self, reason: Reason) -> u64 {
        self.port.counters().marked_for(reason)
    }

    /// Check that arrivals are departures plus losses plus content.
    fn check(&self) {
        let (port, counters) = (&self.port, self.port.counters());
        assert_eq!(counters.units_in, counters.units_out + counters.lost_total() + port.units_queued());
        assert_eq!(
            (port.pool.total(), self.lengths().iter().sum()),
            (port.size_queued(), port.size_queued())
        );
        assert!(port.pool.capacity().holds(counters.occupancy.max()), "never over the buffer");
    }
}

fn letters<'a>(units: impl Iterator<Item = &'a Unit>) -> String {
    units.map(letter).collect()
}

fn letter(unit: &Unit) -> char {
    match (unit.is_first(), unit.is_eom()) {
        (true, true) => '1',
        (true, false) => 'f',
        (false, true) => 'e',
        _ => '.',
    }
}
