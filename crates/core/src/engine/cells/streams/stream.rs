//! One stream: when its cells come where it meets others, and what is counted of it.

use super::Ledger;
use super::ways::{Pass, Way};
use crate::buffer::admission::Rule;
use crate::engine::exact::accounting::Sojourn;
use crate::engine::exact::spacing::Pace;
use crate::engine::packets::{PacketFifo as Fifo, PacketQueue as Queue};
use crate::metrics::delivery::DeliveryTime;
use crate::network::Network;
use crate::network::circuit::Tally;
use crate::scenario::model::Scenario;
use crate::source::clock::Ticks;
use crate::unit::{Flags, Unit};
use crate::units::{CELL_BYTES, Span, Time};

/// A stream of cells.
#[derive(Debug)]
pub(crate) struct Stream {
    pub(crate) way: Way,
    ticks: Ticks,
    /// The interface of its host, if cells can wait there.
    interface: Option<Box<Interface>>,
    /// Time on the way to the meeting and from it, without what cells wait.
    before: Span,
    behind: Span,
    /// When the cell was sent that comes next.
    sent: Time,
    /// Cells sent before the measured time, and those that did not pass the ports before the meeting within it.
    unmeasured: u64,
    astray: u64,
    /// How long those took that were received in the measured time, and how many of them did not pass the ports behind
    /// the meeting within it.
    delivery: DeliveryTime,
    late: u64,
    /// Cells sent and lost, and those arrived that are not among the former.
    tally: Tally,
}

/// The interface of a host where cells wait for each other.
#[derive(Debug)]
pub(crate) struct Interface {
    pub(crate) port: usize,
    pub(crate) fifo: Fifo,
    pub(crate) queue: Queue,
    transit: Pass,
    pace: Pace,
}

impl Stream {
    /// A stream before its first cell.
    pub(crate) fn new(scenario: &Scenario, mut way: Way, network: &mut Network, ledger: &Ledger) -> Stream {
        let ticks = network.flows[way.flow].take_ticks().expect("a source of single cells has a clock");
        let waits = ticks.shortest_gap() <= way.before[0].whole;
        let interface = waits.then(|| {
            let transit = way.before.remove(0);
            let port = transit.port as usize;
            let (fifo, queue) = Fifo::new(scenario, port, Rule::Fits, ledger.window, &network.ports[port]);
            let pace = Pace::of_bytes(scenario.lines[port].rate, CELL_BYTES as u16);
            Box::new(Interface { port, fifo, queue, transit, pace })
        });
        let time = |passes: &[Pass]| passes.iter().fold(Span::ZERO, |sum, pass| sum + pass.transit);
        Stream {
            interface,
            before: time(&way.before),
            behind: time(&way.behind),
            way,
            ticks,
            sent: Time::ZERO,
            unmeasured: 0,
            astray: 0,
            delivery: DeliveryTime::new(scenario.measure.delivery),
            late: 0,
            tally: Tally::default(),
        }
    }

    /// The cell that comes next, as a port at this place of its way sees it.
    pub(crate) fn unit(&self, hop: usize) -> Unit {
        let (vc, frame, flags) =
            (self.way.vc as u32, self.tally.sent as u32 - 1, Flags::FIRST.with(Flags::EOM));
        Unit { vc, frame, index: 0, bytes: CELL_BYTES as u16, hop: hop as u8, flags }
    }

    /// The source sends its next cell; answers when it comes to the meeting, unless the run is over then.
    #[inline]
    pub(crate) fn send(&mut self, ledger: &mut Ledger) -> Option<Time> {
        loop {
            let now = self.ticks.next();
            if now >= ledger.window.to {
                return None;
            }
            self.ticks.step();
            self.sent = now;
            self.tally.sent += 1;
            let comes = now.later(self.before);
            if now >= ledger.window.from && comes < ledger.window.to && self.interface.is_none() {
                return Some(comes);
            }
            if let Some(comes) = self.walk(now, ledger) {
                return Some(comes);
            }
        }
    }

    /// The cell passes the ports before the meeting one by one, or waits at its interface; answers when it has come, unless
    /// the run is over then.
    fn walk(&mut self, now: Time, ledger: &mut Ledger) -> Option<Time> {
        self.unmeasured += u64::from(now < ledger.window.from);
        self.astray += 1;
        let first = if self.interface.is_some() { self.wait(now, ledger)? } else { now };
        let comes = first.later(self.before);
        if first >= ledger.window.from && comes < ledger.window.to {
            self.astray -= 1;
            return Some(comes);
        }
        let unit = self.unit(usize::from(self.interface.is_some()));
        ledger.walk(&self.way.before, unit, first).then_some(comes)
    }

    /// The cell has been taken at the meeting, which it came to at `now`, and comes to what is behind it at `next`.
    #[inline]
    pub(crate) fn pass(&mut self, now: Time, next: Time, ledger: &mut Ledger) {
        let arrives = next.later(self.behind);
        if now < ledger.window.from || arrives >= ledger.window.to {
            return self.pass_at_edge(next, arrives, ledger);
        }
        self.delivery.add(arrives.since(self.sent));
    }

    /// The cell is lost at the meeting.
    pub(crate) fn lose(&mut self) {
        self.tally.lost += 1;
    }

    /// At the end of the run everything is entered where it belongs; an interface has books of its own.
    pub(crate) fn close(self, network: &mut Network, ledger: &mut Ledger) -> Option<Box<Interface>> {
        let Stream { way, tally, delivery, .. } = self;
        let received = delivery.count;
        let (early, passed) = (tally.sent - self.astray, received - self.late);
        way.before.iter().for_each(|pass| ledger.enter_alike(pass, early));
        way.behind.iter().for_each(|pass| ledger.enter_alike(pass, passed));
        network.flows[way.flow].enter(tally.sent - self.unmeasured, received, delivery);
        let tally = Tally { arrived: tally.arrived + passed, ..tally };
        network.circuits[way.vc].enter(tally, received);
        self.interface
    }

    /// The cell waits at the interface for those before it; answers when it has passed, unless the run is over then.
    fn wait(&mut self, now: Time, ledger: &mut Ledger) -> Option<Time> {
        let unit = self.unit(0);
        let interface = self.interface.as_deref_mut().expect("cells wait at an interface");
        let Interface { fifo, queue, transit: Pass { vc, transit, .. }, pace, .. } = interface;
        let sent = fifo.take(queue, ledger.window, now, unit.bytes, pace, || (unit, *vc));
        let sent = sent.expect("an interface takes everything");
        if sent.starts >= ledger.window.to {
            return None;
        }
        ledger.work.cell_hops += 1;
        ledger.on_line(unit.vc, sent.starts.later(*transit))
    }

    #[cold]
    fn pass_at_edge(&mut self, next: Time, arrives: Time, ledger: &mut Ledger) {
        if !ledger.walk(&self.way.behind, self.unit(self.way.hop + 1), next) {
            return;
        }
        self.tally.arrived += 1;
        if arrives >= ledger.window.from {
            self.late += 1;
            self.delivery.add(arrives.since(self.sent));
        }
    }
}

impl Ledger {
    /// A cell passes ports at which nothing waits, beginning at `time`; answers whether it has arrived behind them before the
    /// end of the run.
    fn walk(&mut self, passes: &[Pass], mut unit: Unit, mut time: Time) -> bool {
        for pass in passes {
            if time >= self.window.to {
                break;
            }
            let ends = time.later(pass.whole);
            let (port, vc) = (pass.port as usize, pass.vc);
            let max = &mut self.books[port].max;
            *max = (*max).max(u64::from(ends >= self.window.from));
            self.enter_crossing(port, &Sojourn { unit, vc, size: 1, arrived: time, starts: time, ends });
            self.work.cell_hops += 1;
            unit.hop += 1;
            time = time.later(pass.transit);
        }
        self.on_line(unit.vc, time).is_some()
    }

    /// A cell is entered by itself.
    #[inline(never)]
    pub(crate) fn enter_crossing(&mut self, port: usize, stay: &Sojourn) {
        let books = &mut self.books[port];
        books.frames_whole_out += u64::from(self.window.holds(stay.ends));
        books.enter(stay);
    }

    /// A cell that has been sent comes at `time`, unless the run is over then.
    #[inline]
    pub(crate) fn on_line(&mut self, vc: u32, time: Time) -> Option<Time> {
        if time >= self.window.to {
            self.on_lines[vc as usize] += 1;
            return None;
        }
        Some(time)
    }

    /// So many cells have passed a port one like the other, all in the measured time.
    fn enter_alike(&mut self, pass: &Pass, cells: u64) {
        self.work.cell_hops += cells;
        let area = u128::from(cells) * u128::from(pass.whole.0);
        self.books[pass.port as usize].enter_whole(cells, cells * CELL_BYTES, area, u64::from(cells > 0));
    }
}
