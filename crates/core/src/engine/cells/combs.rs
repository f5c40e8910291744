//! Combs on their way: single cells of clocked sources, from their hosts to a port and from there to other hosts.
//!
//! # What it assumes
//! See `topology/combs.rs`.
//!
//! # What it skips
//! Emissions, departures and deliveries of single cells: a host sends a window of cells at once, and the cells that
//! have left a port are delivered at once.
//!
//! # Why that is exact
//! A sink without feedback only counts, each cell with its own instant of arrival.
//!
//! # What turns it off
//! A cell that waits at its interface, or during which the measured time begins or ends: it is sent alone.
//!
//! # What it saves
//! See `port/fifo/combs.rs`.

use std::iter;

use super::Cells;
use super::inbox::combs::{CombLane, Combs};
use super::port::PortProcess;
use super::port::outbox::Departure;
use super::topology::route::{Destination, Entrance};
use crate::engine::exact::spacing::ExactTime;
use crate::engine::forms::{Form, used};
use crate::network::Network;
use crate::network::circuit::Emission;
use crate::units::ids::PortVc;
use crate::units::{Span, Time};

/// Number of cells that a source sends at a time.
const CELLS: usize = 128;

/// Number of cells on a lane from which on the engine wakes the port.
const PATIENCE: usize = 512;

/// Cells that an interface sends at the instants at which their host hands them over.
struct StartedComb<'a> {
    port: usize,
    vc: PortVc,
    /// The first cell.
    first: Emission,
    starts: &'a [Time],
}

impl Cells<'_> {
    /// Send the following cells of a flow, if they are a comb; returns whether they are.
    #[inline(never)] // once for many cells
    pub(super) fn send_comb(&mut self, flow: usize) -> bool {
        let Network { flows, circuits, .. } = &mut self.network;
        let circuit = &mut circuits[self.scenario.flows[flow].vc];
        let hop = circuit.route(0)[0];
        let (port, vc) = (hop.port as usize, hop.vc);
        let Destination::Port { entrance: Entrance::Combs, .. } = self.plan.routes[port][vc].to else {
            return false;
        };
        let mut starts = std::mem::take(&mut self.comb);
        starts.clear();
        if let Some(first) = flows[flow].send_cells(self.end, CELLS, circuit, &mut starts) {
            used(Form::Combs);
            self.emit_comb(&StartedComb { port, vc, first, starts: &starts });
        }
        self.comb = starts;
        true
    }

    /// Hand cells to their interface.
    fn emit_comb(&mut self, comb: &StartedComb<'_>) {
        let &StartedComb { port, first, mut starts, .. } = comb;
        let mut frame = first.frame;
        while let Some(&next) = starts.first() {
            let PortProcess::HostInterface(interface) = &mut self.ports[port] else { return };
            let first = Emission { frame, identity: frame, ..first };
            let count = interface.pass_idle(starts);
            if count > 0 {
                self.forward_comb(&StartedComb { first, starts: &starts[..count], ..*comb });
            } else {
                self.emitted.emissions.push(first);
                self.emit(next);
            }
            starts = &starts[count.max(1)..];
            frame = frame.wrapping_add(count.max(1) as u32);
        }
    }

    /// Forward cells that have left their interface.
    fn forward_comb(&mut self, comb: &StartedComb<'_>) {
        let &StartedComb { port, vc, first, starts } = comb;
        let (route, whole) = (&self.plan.routes[port][vc], self.plan.cell_time(port));
        let (span, cells) = (route.span(whole), starts.len());
        let Destination::Port { port: to, lane, .. } = route.to else { return };
        if self.passes_delays(port, vc, starts[0], starts[cells - 1]) {
            let passed = &mut self.passed[route.number];
            passed.frames += cells as u64;
            passed.units += cells as u64;
            return self.push_comb(to, lane, first.frame, starts.iter().map(|start| start.later(span)));
        }
        for (place, &last) in (0..).zip(starts) {
            let frame = first.frame.wrapping_add(place);
            let mut units = Emission { frame, identity: frame, ..first }.units();
            let unit = units.next().expect("a frame has units");
            let first = ExactTime::at(last);
            self.forward(port, &Departure { vc, units: 1, unit, first, last, whole, starts: None });
        }
    }

    /// Return whether cells that start at a port from `first` to `last` may be only counted at the ports behind it that
    /// only delay: there are none, or the cells pass them in the measured time.
    fn passes_delays(&self, port: usize, vc: PortVc, first: Time, last: Time) -> bool {
        let (route, whole) = (&self.plan.routes[port][vc], self.plan.cell_time(port));
        let [first, last] = [first, last].map(|start| route.first_arrival(start, whole));
        route.hops().is_empty() || first >= self.window.from && route.arrival_behind(last) < self.window.to
    }

    /// Push a cell of a comb that arrives at a port at `time`.
    pub(super) fn push_single(&mut self, port: u32, lane: u32, number: u32, time: Time) {
        self.push_comb(port, lane, number, iter::once(time));
    }

    /// Push cells of a comb that arrive at a port at these instants; `number` is that of the first.
    fn push_comb(
        &mut self,
        port: u32,
        lane: u32,
        number: u32,
        arrivals: impl DoubleEndedIterator<Item = Time> + Clone,
    ) {
        let Some(last) = arrivals.clone().next_back() else { return };
        let PortProcess::Fifo(fifo) = &mut self.ports[port as usize] else { return };
        let Some(combs) = &mut fifo.combs else { return };
        if combs.push(lane, number, arrivals) >= PATIENCE {
            self.look_after(port, last);
        }
    }

    /// Deliver the cells of combs that have left a port and arrive at their hosts in the part of the run that is being
    /// computed.
    #[inline(never)] // once for many cells
    pub(super) fn deliver_combs(&mut self, port: usize) {
        let Some(mut combs) = self.take_combs(port) else { return };
        let whole = self.plan.cell_time(port);
        for lane in &mut combs.lanes {
            let (vc, end) = (lane.of.vc, self.end);
            let span = self.plan.routes[port][vc].span(whole);
            let count = lane.started.partition_point(|(_, start)| start.later(span) < end);
            let [Some(&(_, first)), Some(&(_, last))] = [lane.started.first(), lane.started[..count].last()]
            else {
                continue;
            };
            if self.passes_delays(port, vc, first, last) {
                let passed = &mut self.passed[self.plan.routes[port][vc].number];
                passed.frames += count as u64;
                passed.units += count as u64;
            } else {
                for &(number, start) in &lane.started[..count] {
                    let first = self.plan.routes[port][vc].first_arrival(start, whole);
                    self.pass_one_by_one(port, &departure(lane, number, start, whole), first);
                }
            }
            let Network { flows, circuits, .. } = &mut self.network;
            let circuit = &mut circuits[lane.of.circuit];
            let cells = lane.started.drain(..count).map(|(number, start)| (number, start.later(span)));
            flows[lane.of.flow].receive_cells(circuit, cells);
        }
        self.put_back_combs(port, combs);
    }

    /// At the end of the run, forward the cells that have left a port and are on their way to hosts.
    pub(super) fn leave_combs(&mut self, port: usize) {
        let Some(mut combs) = self.take_combs(port) else { return };
        let whole = self.plan.cell_time(port);
        for lane in &mut combs.lanes {
            for (number, start) in std::mem::take(&mut lane.started) {
                self.forward(port, &departure(lane, number, start, whole));
            }
        }
        self.put_back_combs(port, combs);
    }

    fn take_combs(&mut self, port: usize) -> Option<Box<Combs>> {
        if let PortProcess::Fifo(fifo) = &mut self.ports[port] { fifo.combs.take() } else { None }
    }

    fn put_back_combs(&mut self, port: usize, combs: Box<Combs>) {
        if let PortProcess::Fifo(fifo) = &mut self.ports[port] {
            fifo.combs = Some(combs);
        }
    }
}

/// Return a cell of a lane that starts at `start` and takes the time `whole`.
fn departure(lane: &CombLane, number: u32, start: Time, whole: Span) -> Departure {
    let (vc, unit, first) = (lane.of.vc, lane.unit(number), ExactTime::at(start));
    Departure { vc, units: 1, unit, first, last: start, whole, starts: None }
}
