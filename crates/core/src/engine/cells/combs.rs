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
use super::topology::policing::PolicerUse;
use super::topology::route::{Destination, Entrance};
use crate::engine::exact::spacing::ExactTime;
use crate::engine::forms::{Form, used};
use crate::host::endpoint::datagrams::SingleCell;
use crate::network::Network;
use crate::network::circuit::{Circuit, Emission};
use crate::unit::Unit;
use crate::units::ids::{FlowId, LineId, PortVc};
use crate::units::{Span, Time};

/// Number of cells that a source sends at a time.
const CELLS: usize = 128;

/// Number of cells on a lane from which on the engine wakes the port.
const PATIENCE: usize = 128;

impl Cells<'_> {
    /// Send the following cells of a flow, if they are a comb; returns whether they are.
    #[inline(never)] // once for many cells
    pub(super) fn send_comb(&mut self, flow: FlowId) -> bool {
        let vc = self.scenario.flows[flow].vc;
        let hop = self.network.circuits[vc].route(0)[0];
        let (port, vc) = (hop.port, hop.vc);
        let Destination::Port { entrance: Entrance::Combs, .. } = self.plan.routes[port][vc].to else {
            return false;
        };
        let mut sends = std::mem::take(&mut self.comb);
        sends.clear();
        self.network.flows[flow].take_cells(self.end, CELLS, &mut sends);
        let mut rest = &sends[..];
        while let Some(&next) = rest.first() {
            used(Form::Combs);
            let PortProcess::HostInterface(interface) = &mut self.ports[port] else { break };
            let count = interface.pass_idle(rest);
            if count > 0 {
                self.forward_comb(flow, port, vc, &rest[..count]);
            } else {
                let emission = self.emit_cell(flow, next);
                self.emitted.emissions.extend(emission);
                self.emit(next);
            }
            rest = &rest[count.max(1)..];
        }
        self.comb = sends;
        true
    }

    /// Forward cells of a flow that start at their interface when their source sends them.
    fn forward_comb(&mut self, flow: FlowId, port: LineId, vc: PortVc, sends: &[Time]) {
        let (route, whole) = (&self.plan.routes[port][vc], self.plan.cell_time(port));
        let (span, cells) = (route.span(whole), sends.len());
        let Destination::Port { port: to, lane, .. } = route.to else { return };
        let circuit = self.scenario.flows[flow].vc;
        if self.passes_delays(port, vc, sends[0], sends[cells - 1]) {
            let passed = &mut self.passed[route.number];
            passed.frames += cells as u64;
            passed.units += cells as u64;
            let number = self.network.circuits[circuit].emit_singles(cells as u32);
            let cells = sends.iter().map(|&sent| SingleCell { at: sent.later(span), sent });
            return self.push_comb(to, lane, number, cells);
        }
        for &sent in sends {
            let emission = self.emit_cell(flow, sent);
            let Some(unit) = emission.and_then(|emission| emission.units().next()) else { return };
            self.forward(port, &departure(vc, unit, sent, whole));
        }
    }

    /// Put the single cell that the host of a flow sends at `now` on its circuit.
    fn emit_cell(&mut self, flow: FlowId, now: Time) -> Option<Emission> {
        let Network { flows, circuits, .. } = &mut self.network;
        let (bytes, cargo) = flows[flow].cell(now)?;
        Some(circuits[self.scenario.flows[flow].vc].emit(flow, bytes, cargo))
    }

    /// Return whether cells that start at a port from `first` to `last` may be only counted at the ports behind it that
    /// only delay: there are none, or the cells pass them in the measured time.
    fn passes_delays(&self, port: LineId, vc: PortVc, first: Time, last: Time) -> bool {
        let (route, whole) = (&self.plan.routes[port][vc], self.plan.cell_time(port));
        let [first, last] = [first, last].map(|start| route.first_arrival(start, whole));
        route.hops().is_empty() || first >= self.window.from && route.arrival_behind(last) < self.window.to
    }

    /// Push a cell of a comb that arrives at a port at `time`.
    pub(super) fn push_single(&mut self, port: LineId, lane: u32, unit: &Unit, time: Time) {
        if let Some(sent) = self.network.circuits[unit.vc].take_single(unit.frame) {
            self.push_comb(port, lane, unit.frame, iter::once(SingleCell { at: time, sent }));
        }
    }

    /// Push cells of a comb that arrive at a port; `number` is that of the first.
    fn push_comb(&mut self, port: LineId, lane: u32, number: u32, cells: impl Iterator<Item = SingleCell>) {
        let PortProcess::Fifo(fifo) = &mut self.ports[port] else { return };
        let Some(combs) = &mut fifo.combs else { return };
        let lane = &mut combs.lanes[lane as usize];
        lane.push(number, cells);
        let circuit = lane.of.circuit;
        if self.policers[circuit] != PolicerUse::Never {
            let before = self.window.to;
            police(&mut self.policers[circuit], &mut self.network.circuits[circuit], lane, number, before);
        }
        if let pending @ [.., SingleCell { at: last, .. }] = lane.pending()
            && pending.len() >= PATIENCE
        {
            let last = *last;
            self.look_after(port, last);
        }
    }

    /// Deliver the cells of combs that have left a port and arrive at their hosts in the part of the run that is being
    /// computed.
    #[inline(never)] // once for many cells
    pub(super) fn deliver_combs(&mut self, port: LineId) {
        let Some(mut combs) = self.take_combs(port) else { return };
        let whole = self.plan.cell_time(port);
        for lane in &mut combs.lanes {
            let (vc, end) = (lane.of.vc, self.end);
            let span = self.plan.routes[port][vc].span(whole);
            let count = lane.started().partition_point(|cell| cell.at.later(span) < end);
            let cells = &lane.started()[..count];
            let (Some(first), Some(last)) = (cells.first(), cells.last()) else { continue };
            if self.passes_delays(port, vc, first.at, last.at) {
                let passed = &mut self.passed[self.plan.routes[port][vc].number];
                passed.frames += count as u64;
                passed.units += count as u64;
            } else {
                for cell in cells {
                    let first = self.plan.routes[port][vc].first_arrival(cell.at, whole);
                    self.pass_one_by_one(port, &lane_departure(lane, cell, whole), first);
                }
            }
            let Network { flows, circuits, .. } = &mut self.network;
            circuits[lane.of.circuit].count_singles(cells.len() as u64);
            flows[lane.of.flow].receive_cells(span, cells);
            lane.deliver(count);
        }
        self.put_back_combs(port, combs);
    }

    /// At the end of the run, forward the cells that have left a port and are on their way to hosts.
    pub(super) fn leave_combs(&mut self, port: LineId) {
        let Some(combs) = self.take_combs(port) else { return };
        let whole = self.plan.cell_time(port);
        for lane in &combs.lanes {
            for cell in lane.started() {
                self.forward(port, &lane_departure(lane, cell, whole));
            }
        }
        self.put_back_combs(port, combs);
    }

    fn take_combs(&mut self, port: LineId) -> Option<Box<Combs>> {
        if let PortProcess::Fifo(fifo) = &mut self.ports[port] { fifo.combs.take() } else { None }
    }

    fn put_back_combs(&mut self, port: LineId, combs: Box<Combs>) {
        if let PortProcess::Fifo(fifo) = &mut self.ports[port] {
            fifo.combs = Some(combs);
        }
    }
}

/// Return the departure of a cell that starts at `start` and takes the time `whole`.
fn departure(vc: PortVc, unit: Unit, start: Time, whole: Span) -> Departure {
    Departure { vc, units: 1, unit, first: ExactTime::at(start), last: start, whole, starts: None }
}

/// Return the departure of a cell of a lane, which takes the time `whole`. Nothing behind the port reads its number.
fn lane_departure(lane: &CombLane, cell: &SingleCell, whole: Span) -> Departure {
    departure(lane.of.vc, lane.unit(0), cell.at, whole)
}

/// Police the cells of a lane from the one with this number on that arrive before the end of the run.
fn police(policer: &mut PolicerUse, circuit: &mut Circuit, lane: &mut CombLane, number: u32, end: Time) {
    let cells = lane.pending_from(number);
    let arrivals = cells.iter().map(|cell| cell.at).take_while(|time| *time < end);
    let (unit, mut excess) = (lane.unit(number), Vec::new());
    if *policer == PolicerUse::Always {
        circuit.police_singles(unit, arrivals, &mut excess);
        lane.mark_excess(excess.into_iter());
    } else if arrivals.clone().next().is_some() {
        circuit.police_singles(unit, arrivals.take(1), &mut excess);
        *policer = PolicerUse::Never;
    }
}
