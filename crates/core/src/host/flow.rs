//! A flow: an application and its transport at the two hosts.
//!
//! The engine calls an end at the instants that [`Flow::next_timer`] names and hands over packets that arrive; the end
//! sends through an `Uplink`.

use super::earliest;
use super::end::{End, Uplink};
use super::endpoint::datagrams::{Datagrams, SingleCell};
use super::endpoint::{Endpoint, Work, each};
use super::figures::Figures;
use super::halftime::HalfTimeCount;
use super::outcome::{CountSeries, FlowOutcome};
use super::processor::{FlowCircuits, Interfaces, Processor, Task};
use crate::metrics::steps::StepSeries;
use crate::rng::Stream;
use crate::scenario::model::Scenario;
use crate::source::Source;
use crate::transport::cargo::Cargo;
use crate::transport::tcp::Sender;
use crate::units::ids::{CircuitId, FlowId};
use crate::units::{Span, Time};

/// A running flow: first the cache line that every event of the flow uses, then the data of its transport.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct Flow {
    flow_circuits: FlowCircuits,
    start: Option<Time>,
    /// Processors of the two hosts, if they need time for each segment.
    processors: Option<Box<[Processor; 2]>>,
    /// The counts over time that the scenario requests, if any.
    series: Option<Box<CountSeries>>,
    halftime: HalfTimeCount,
    ends: Work,
}

impl CountSeries {
    /// Return the counts that the scenario requests, if it requests any.
    fn of(scenario: &Scenario, index: FlowId, ends: &Work) -> Option<Box<CountSeries>> {
        let octets = scenario.measure.throughput.map(|windows| StepSeries::new(windows.step));
        let wants_cwnd = scenario.measure.cwnd.binary_search(&index).is_ok();
        let mut cwnd = wants_cwnd.then(|| StepSeries::new(scenario.sample));
        cwnd.iter_mut().for_each(|cwnd| cwnd.reset(Time::ZERO, each!(ends, ends => ends.cwnd())));
        let wants_state = scenario.measure.state.flows.binary_search(&index).is_ok();
        let mut state = wants_state.then(|| StepSeries::new(scenario.sample));
        state.iter_mut().for_each(|state| state.reset(Time::ZERO, each!(ends, ends => ends.state())));
        let is_any = octets.is_some() || cwnd.is_some() || state.is_some();
        is_any.then(|| Box::new(CountSeries { octets, cwnd, state }))
    }
}

impl Flow {
    /// Build flow number `index` of a scenario, before its start.
    pub fn new(scenario: &Scenario, index: FlowId) -> Flow {
        let spec = &scenario.flows[index];
        let mut stream = Stream::new(scenario.seed, format_args!("flow.{}.start", spec.name));
        let start = if scenario.waits(index) {
            Time::NEVER // until the last of those that it waits for has ended
        } else {
            Time::ZERO + spec.start + Span(stream.up_to(spec.start_spread.0)) + spec.source.first()
        };
        let ends = Work::new(scenario, index);
        Flow {
            flow_circuits: FlowCircuits::of(spec, index),
            start: Some(start),
            processors: Processor::both(scenario, spec),
            series: CountSeries::of(scenario, index, &ends),
            halftime: HalfTimeCount::of(scenario),
            ends,
        }
    }

    /// Return the next instant at which the engine must call this end.
    pub fn next_timer(&self, end: End) -> Option<Time> {
        if self.start.is_some() {
            return if end == End::Source { self.start } else { None };
        }
        self.with_processor(end, each!(&self.ends, ends => ends.next_timer(end)))
    }

    /// Return the first instant at which this end must be called, if the timers of its transport ask for `timer`.
    #[inline(always)]
    fn with_processor(&self, end: End, timer: Option<Time>) -> Option<Time> {
        match &self.processors {
            Some(processors) => earliest(timer, processors[end as usize].next()),
            None => timer,
        }
    }

    /// Handle a timer of one end, or a task that its processor has finished; finished tasks come first.
    pub(crate) fn ring<U: Uplink>(&mut self, end: End, now: Time, uplink: &mut U) {
        if self.processors.is_some() {
            self.work_off(end, now, uplink);
        }
        let starts = self.start.take_if(|start| *start <= now).is_some();
        let processors = self.processors.as_deref_mut();
        let out = &mut Interfaces { flow_circuits: self.flow_circuits, now, processors, uplink };
        each!(&mut self.ends, ends => if starts { ends.start(out) } else { ends.on_timer(end, out) });
        if end == End::Source {
            self.record(end, now); // the sink counts what arrives, not what its timers do
        }
    }

    /// Deliver a packet of this flow. Returns the end at which it arrived, and what [`Flow::next_timer`] will return for
    /// that end.
    #[inline(always)] // once for each kind of uplink
    pub(crate) fn receive<U: Uplink>(
        &mut self,
        now: Time,
        cargo: &Cargo,
        uplink: &mut U,
    ) -> (End, Option<Time>) {
        let end = if cargo.is_back() { End::Source } else { End::Sink };
        if self.halftime.is_due(now) && end == End::Sink {
            self.halftime.pass(self.delivered());
        }
        let due = match &mut self.processors {
            Some(processors) => {
                processors[end as usize].add(now, Task::Receive(*cargo));
                self.next_timer(end)
            }
            None => {
                let flow_circuits = self.flow_circuits;
                let out = &mut Interfaces { flow_circuits, now, processors: None, uplink };
                each!(&mut self.ends, ends => {
                    ends.receive(cargo, out);
                    ends.next_timer(end)
                })
            }
        };
        self.record(end, now);
        (end, due)
    }

    /// If a paced sender waits to send, return its place in the order of the senders on its line.
    pub(crate) fn place(&self) -> Option<Time> {
        self.sender()?.place()
    }

    /// Send the packet for which a paced sender has waited, if the window still permits it.
    pub(crate) fn take_turn<U: Uplink>(&mut self, now: Time, uplink: &mut U) {
        let out = &mut Interfaces { flow_circuits: self.flow_circuits, now, processors: None, uplink };
        each!(&mut self.ends, ends => ends.take_turn(out));
        self.record(End::Source, now);
    }

    fn datagrams(&mut self) -> Option<&mut Datagrams> {
        if let Work::Datagrams(ends) = &mut self.ends { Some(ends) } else { None }
    }

    /// Append the instants at which single cells are due before `until`, at most `most`; the host sends them. Nothing but
    /// the clock influences the flow.
    pub(crate) fn take_cells(&mut self, until: Time, most: usize, sends: &mut Vec<Time>) {
        self.datagrams().into_iter().for_each(|ends| ends.take_cells(until, most, sends));
    }

    /// Return the single cell that the host sends at `now`, and its octets.
    pub(crate) fn cell(&mut self, now: Time) -> Option<(u32, Cargo)> {
        Some(self.datagrams()?.cell(now))
    }

    /// Receive single cells that arrive one after the other, `span` after they have started.
    pub(crate) fn receive_cells(&mut self, span: Span, cells: &[SingleCell]) {
        let early = cells.partition_point(|cell| !self.halftime.is_due(cell.at.later(span)));
        let Work::Datagrams(ends) = &mut self.ends else { return };
        if early < cells.len() {
            self.halftime.pass(ends.figures.bytes + early as u64 * ends.cell_bytes());
        }
        ends.receive_cells(span, cells);
    }

    /// Return the outcome of the flow, when the run is over or no more events of the flow can follow; `is_quiet` if no
    /// unit of its circuit is under way.
    pub(crate) fn outcome(mut self, now: Time, is_quiet: bool) -> FlowOutcome {
        self.finish(now, is_quiet);
        let outcome = each!(&self.ends, ends => ends.outcome());
        let late_bytes = self.delivered() - self.halftime.octets();
        let figures = Figures { late_bytes, ..outcome.figures };
        FlowOutcome { figures, series: self.series, ..outcome }
    }

    /// Return whether the flow's only transfer has ended, with no more segments to send or to wait for.
    pub(crate) fn is_over(&self) -> bool {
        let is_idle = [End::Source, End::Sink].iter().all(|&end| self.next_timer(end).is_none());
        is_idle && self.has_transferred()
    }

    /// Return whether the flow's only transfer has ended.
    pub(crate) fn has_transferred(&self) -> bool {
        each!(&self.ends, ends => ends.has_transferred())
    }

    /// Set the start of a flow that has not started.
    pub(crate) fn start_at(&mut self, start: Time) {
        self.start = Some(start);
    }

    /// Return the flow's number in the scenario.
    pub(crate) fn number(&self) -> FlowId {
        self.flow_circuits.flow
    }

    /// Return the circuit of the flow's data.
    pub(crate) fn circuit(&self) -> CircuitId {
        self.flow_circuits.vcs[0]
    }

    /// Return the flow's TCP sender, if TCP carries the flow.
    pub fn sender(&self) -> Option<&Sender> {
        each!(&self.ends, ends => ends.sender())
    }

    /// Return the circuit of the flow's data, if the flow sends datagrams.
    pub(crate) fn datagram_circuit(&self) -> Option<CircuitId> {
        matches!(self.ends, Work::Datagrams(_)).then_some(self.flow_circuits.vcs[0])
    }

    /// Return the octets that the application has received: over TCP since the start of the run, otherwise since the
    /// last reset.
    pub fn delivered(&self) -> u64 {
        each!(&self.ends, ends => ends.delivered())
    }

    /// Reset the counters of everything before `now`.
    pub fn reset_counters(&mut self, now: Time) {
        each!(&mut self.ends, ends => ends.reset_counters());
        if let Some(series) = &mut self.series {
            each!(&self.ends, ends => {
                series.octets.iter_mut().for_each(|octets| octets.reset(now, ends.delivered()));
                series.cwnd.iter_mut().for_each(|cwnd| cwnd.reset(now, ends.cwnd()));
                series.state.iter_mut().for_each(|state| state.reset(now, ends.state()));
            });
        }
    }

    /// Finish the flow, which has no more events.
    fn finish(&mut self, now: Time, is_quiet: bool) {
        self.halftime.finish(self.delivered());
        each!(&mut self.ends, ends => ends.finish(is_quiet));
        if let Some(series) = &mut self.series {
            let CountSeries { octets, cwnd, state } = &mut **series;
            octets.iter_mut().chain(cwnd).for_each(|steps| steps.catch_up(now));
            state.iter_mut().for_each(|steps| steps.catch_up(now));
        }
    }

    /// Handle the tasks that the processor of one end has finished by now.
    #[inline(never)] // few flows have a processor
    fn work_off<U: Uplink>(&mut self, end: End, now: Time, uplink: &mut U) {
        if self.halftime.is_due(now) && end == End::Sink {
            self.halftime.pass(self.delivered());
        }
        let Some(processors) = &mut self.processors else { return };
        let flow_circuits = self.flow_circuits;
        while let Some(task) = processors[end as usize].take(now) {
            match task {
                Task::Send(bytes, cargo) => {
                    Interfaces { flow_circuits, now, processors: None, uplink }.send(bytes, cargo);
                }
                Task::Receive(cargo) => {
                    let processors = Some(&mut **processors);
                    let out = &mut Interfaces { flow_circuits, now, processors, uplink };
                    each!(&mut self.ends, ends => ends.receive(&cargo, out));
                }
            }
        }
        self.record(end, now);
    }

    /// Record the counts at `now` in the time series: at the sink the octets, at the source the congestion window and
    /// the state.
    #[inline(always)] // few flows have time series
    fn record(&mut self, end: End, now: Time) {
        if self.series.is_some() {
            self.record_series(end, now);
        }
    }

    #[inline(never)]
    fn record_series(&mut self, end: End, now: Time) {
        let Some(series) = &mut self.series else { return };
        let CountSeries { octets, cwnd, state } = &mut **series;
        each!(&self.ends, ends => match end {
            End::Sink => octets.iter_mut().for_each(|octets| octets.record(now, ends.delivered())),
            End::Source => {
                cwnd.iter_mut().for_each(|cwnd| cwnd.record(now, ends.cwnd()));
                state.iter_mut().for_each(|state| state.record(now, ends.state()));
            }
        });
    }
}
