//! A flow: an application and its transport at the two hosts.
//!
//! The engine calls an end at the instants that [`Flow::next_timer`] names and hands over frames that arrive. The end
//! appends the frames that it sends to a list of [`Emission`]s.

use super::application::{self, Application, OneTransfer};
use super::circuit::{Circuit, Emission, Frame, Payload, SingleCell};
use super::coded::Coded;
use super::end::{End, Uplink};
use super::figures::Figures;
use super::files::Files;
use super::flow_outcome::{CountSeries, DataProgress, FlowOutcome, Transfers};
use super::halftime::HalfTimeCount;
use super::host::{FlowCircuits, Interfaces, Processor, Task};
use super::sources::clock;
use crate::adaptation::Framing;
use crate::metrics::state::Figure;
use crate::metrics::steps::StepSeries;
use crate::rng::{Stream, path_key};
use crate::scenario::model::{self, Scenario};
use crate::source::clock::Ticks;
use crate::source::length::PacketLengths;
use crate::source::{self, Source};
use crate::transport::ecn::Ecn;
use crate::transport::tcp::pacer::{Pacer, PacketSizes};
use crate::transport::tcp::{Receiver, ReceiverStats, Segment, SegmentOutlet, Sender, SenderStats};
use crate::transport::{self, Transport, tcp};
use crate::units::ids::{CircuitId, FlowId, IdVec, NodeId};
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
    work: FlowWork,
}

impl CountSeries {
    /// Return the counts that the scenario requests, if it requests any.
    fn of(scenario: &Scenario, index: FlowId, work: &FlowWork) -> Option<Box<CountSeries>> {
        let octets = scenario.measure.throughput.map(|windows| StepSeries::new(windows.step));
        let wants_cwnd = scenario.measure.cwnd.binary_search(&index).is_ok();
        let mut cwnd = wants_cwnd.then(|| StepSeries::new(scenario.sample));
        cwnd.iter_mut().for_each(|cwnd| cwnd.reset(Time::ZERO, work.cwnd()));
        let wants_state = scenario.measure.state.flows.binary_search(&index).is_ok();
        let mut state = wants_state.then(|| StepSeries::new(scenario.sample));
        state.iter_mut().for_each(|state| state.reset(Time::ZERO, work.state()));
        let is_any = octets.is_some() || cwnd.is_some() || state.is_some();
        is_any.then(|| Box::new(CountSeries { octets, cwnd, state }))
    }
}

/// The frames that hosts have to send: one list for all hosts, emptied after each call.
#[derive(Clone, Debug, Default)]
pub struct Outbox {
    /// Frames for the network interfaces.
    pub emissions: Vec<Emission>,
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
        let work = match &*spec.transport {
            transport::Spec::Tcp(params) => FlowWork::Tcp(Tcp::new(scenario, index, params)),
            transport::Spec::Udp(_) | transport::Spec::Cells(_) => {
                FlowWork::Datagrams(Box::new(Datagrams::new(scenario, spec)))
            }
            transport::Spec::Fec(_) => FlowWork::Coded(Box::new(Coded::new(scenario, spec))),
        };
        Flow {
            flow_circuits: FlowCircuits::of(spec, index),
            start: Some(start),
            processors: Processor::both(scenario, spec),
            series: CountSeries::of(scenario, index, &work),
            halftime: HalfTimeCount::of(scenario),
            work,
        }
    }

    /// Return the next instant at which the engine must call this end.
    pub fn next_timer(&self, end: End) -> Option<Time> {
        if self.start.is_some() {
            return if end == End::Source { self.start } else { None };
        }
        let timer = match (&self.work, end) {
            (FlowWork::Tcp(tcp), end) => tcp.next_timer(end),
            (FlowWork::Datagrams(source), End::Source) => Some(source.ticks.next()),
            (FlowWork::Coded(coded), End::Source) => Some(coded.next),
            (FlowWork::Datagrams(_) | FlowWork::Coded(_), End::Sink) => None,
        };
        match &self.processors {
            Some(processors) => earliest(timer, processors[end as usize].next()),
            None => timer,
        }
    }

    /// Handle a timer of one end, or a task that its processor has finished; finished tasks come first.
    pub fn on_timer(
        &mut self,
        end: End,
        now: Time,
        circuits: &mut IdVec<CircuitId, Circuit>,
        out: &mut Outbox,
    ) {
        self.ring(end, now, &mut Framer { circuits, out });
    }

    /// Like `on_timer`, for an engine with its own uplink.
    pub(crate) fn ring<U: Uplink>(&mut self, end: End, now: Time, uplink: &mut U) {
        if self.processors.is_some() {
            self.work_off(end, now, uplink);
        }
        let starts = self.start.take_if(|start| *start <= now).is_some();
        match (&mut self.work, end) {
            (FlowWork::Tcp(tcp), end) => {
                let processors = self.processors.as_deref_mut();
                let out = &mut Interfaces { flow_circuits: self.flow_circuits, now, processors, uplink };
                match end {
                    End::Source if starts => tcp.start(now, out),
                    End::Source => tcp.source_timer(now, out),
                    End::Sink => tcp.receiver.on_timer(now, out),
                }
            }
            (FlowWork::Datagrams(source), _) if starts => source.ticks.start(now),
            (FlowWork::Datagrams(source), _) => {
                let (bytes, payload) = source.send(now);
                uplink.send(self.flow_circuits.vcs[0], self.flow_circuits.flow, bytes, payload);
            }
            (FlowWork::Coded(coded), _) if starts => coded.start(now),
            (FlowWork::Coded(coded), _) => {
                let (bytes, payload) = coded.send(now);
                uplink.send(self.flow_circuits.vcs[0], self.flow_circuits.flow, bytes, payload);
            }
        }
        if end == End::Source {
            self.record(end, now); // the sink counts what arrives, not what its timers do
        }
    }

    /// Deliver a complete frame of this flow; returns the end at which it arrived.
    pub fn deliver(
        &mut self,
        now: Time,
        frame: &Frame,
        circuits: &mut IdVec<CircuitId, Circuit>,
        out: &mut Outbox,
    ) -> End {
        self.receive(now, &frame.payload, &mut Framer { circuits, out }).0
    }

    /// Like `deliver`, for an engine with its own uplink. Also return what [`Flow::next_timer`] will return for that
    /// end.
    #[inline(always)] // once for each kind of uplink
    pub(crate) fn receive<U: Uplink>(
        &mut self,
        now: Time,
        payload: &Payload,
        uplink: &mut U,
    ) -> (End, Option<Time>) {
        if self.halftime.is_due(now) && !payload.is_ack() {
            self.halftime.pass(self.work.bytes());
        }
        // by reference, since a payload that has just been copied is slow to copy again
        let answer = match (&mut self.work, payload) {
            (FlowWork::Tcp(tcp), Payload::Tcp(segment)) => {
                let end = if segment.is_ack { End::Source } else { End::Sink };
                match &mut self.processors {
                    Some(processors) => {
                        processors[end as usize].add(now, Task::Receive(*segment));
                        (end, earliest(tcp.next_timer(end), processors[end as usize].next()))
                    }
                    None => {
                        let out = &mut Interfaces {
                            flow_circuits: self.flow_circuits,
                            now,
                            processors: None,
                            uplink,
                        };
                        tcp.receive(now, segment, out);
                        (end, tcp.next_timer(end))
                    }
                }
            }
            (_, Payload::Datagram { ecn, .. }) if ecn.has(Ecn::CUT) => (End::Sink, None), // its data are lost
            (FlowWork::Datagrams(source), &Payload::Datagram { bytes, sent, ecn }) => {
                source.figures.received += 1;
                source.figures.marked += u64::from(ecn.has(Ecn::CE));
                source.figures.bytes += u64::from(bytes);
                source.figures.delivery.add(now.since(sent));
                (End::Sink, None)
            }
            (FlowWork::Coded(coded), &Payload::Coded { label, sent, .. }) => {
                coded.receive(now, label, sent);
                (End::Sink, None)
            }
            _ => unreachable!("a frame comes from its own flow"),
        };
        self.record(answer.0, now);
        answer
    }

    /// Append the instants at which single cells are due before `until`, at most `most`; the host sends them. Nothing but
    /// the clock influences the flow.
    pub(crate) fn take_cells(&mut self, until: Time, most: usize, sends: &mut Vec<Time>) {
        let FlowWork::Datagrams(source) = &mut self.work else { return };
        source.ticks.take_before(until, most, sends);
        source.figures.sent += sends.len() as u64;
    }

    /// Return the frame of a single cell that the host sends at `now`.
    pub(crate) fn emit_cell(&mut self, now: Time, circuit: &mut Circuit) -> Option<Emission> {
        let FlowWork::Datagrams(source) = &mut self.work else { return None };
        let (bytes, ecn) = (source.lengths.draw() as u32, source.ecn);
        Some(circuit.emit(self.flow_circuits.flow, bytes, Payload::Datagram { bytes, sent: now, ecn }))
    }

    /// Receive single cells that arrive one after the other, `span` after they have started.
    pub(crate) fn receive_cells(&mut self, circuit: &mut Circuit, span: Span, cells: &[SingleCell]) {
        let FlowWork::Datagrams(source) = &mut self.work else { return };
        let figures = &mut source.figures;
        let bytes = source.lengths.draw();
        let early = cells.partition_point(|cell| !self.halftime.is_due(cell.at.later(span)));
        if early < cells.len() {
            self.halftime.pass(figures.bytes + early as u64 * bytes);
        }
        circuit.count_singles(cells.len() as u64);
        figures.received += cells.len() as u64;
        figures.bytes += cells.len() as u64 * bytes;
        figures.delivery.add_all(cells.iter().map(|cell| Span(cell.at.0 + span.0 - cell.sent.0)));
    }

    /// Return the outcome of the flow, when the run is over or no more events of the flow can follow.
    pub(crate) fn outcome(mut self, now: Time, circuits: &IdVec<CircuitId, Circuit>) -> FlowOutcome {
        self.finish(now, circuits);
        let figures = match &self.work {
            FlowWork::Tcp(tcp) => tcp.figures(),
            FlowWork::Datagrams(source) => source.figures.clone(),
            FlowWork::Coded(coded) => coded.figures(),
        };
        let tcp = match &self.work {
            FlowWork::Tcp(tcp) => Some(tcp),
            FlowWork::Datagrams(_) | FlowWork::Coded(_) => None,
        };
        FlowOutcome {
            figures: Figures { late_bytes: self.work.bytes() - self.halftime.octets(), ..figures },
            transfers: tcp.and_then(Tcp::measured_transfers),
            only_transfer: tcp.and_then(|tcp| tcp.application.as_ref()?.only_transfer()),
            progress: tcp.map(Tcp::progress),
            began_in_slow_start: tcp.and_then(Tcp::began_in_slow_start),
            series: self.series,
        }
    }

    /// Return whether the flow's only transfer has ended, with no more segments to send or to wait for.
    pub(crate) fn is_over(&self) -> bool {
        let is_idle = [End::Source, End::Sink].iter().all(|&end| self.next_timer(end).is_none());
        is_idle && self.has_transferred()
    }

    /// Return whether the flow's only transfer has ended.
    pub(crate) fn has_transferred(&self) -> bool {
        let FlowWork::Tcp(Tcp { application: Some(application), .. }) = &self.work else { return false };
        application.has_transferred()
    }

    /// Set the start of a flow that has not started.
    pub(crate) fn start_at(&mut self, start: Time) {
        self.start = Some(start);
    }

    /// Return the flow's number in the scenario.
    pub(crate) fn number(&self) -> FlowId {
        self.flow_circuits.flow
    }

    /// Return the flow's TCP sender, if TCP carries the flow.
    pub fn sender(&self) -> Option<&Sender> {
        match &self.work {
            FlowWork::Tcp(tcp) => Some(&tcp.sender),
            FlowWork::Datagrams(_) | FlowWork::Coded(_) => None,
        }
    }

    /// Return the circuit of the flow's data, if the flow sends datagrams.
    pub(crate) fn datagram_circuit(&self) -> Option<CircuitId> {
        matches!(self.work, FlowWork::Datagrams(_)).then_some(self.flow_circuits.vcs[0])
    }

    /// Return the octets that the application has received: over TCP since the start of the run, otherwise since the
    /// last reset.
    pub fn delivered(&self) -> u64 {
        self.work.bytes()
    }

    /// Reset the counters of everything before `now`.
    pub fn reset_counters(&mut self, now: Time) {
        match &mut self.work {
            FlowWork::Tcp(tcp) => tcp.reset_counters(),
            FlowWork::Datagrams(source) => source.figures = source.figures.fresh(),
            FlowWork::Coded(coded) => coded.reset_counters(),
        }
        if let Some(series) = &mut self.series {
            series.octets.iter_mut().for_each(|octets| octets.reset(now, self.work.bytes()));
            series.cwnd.iter_mut().for_each(|cwnd| cwnd.reset(now, self.work.cwnd()));
            series.state.iter_mut().for_each(|state| state.reset(now, self.work.state()));
        }
    }

    /// Finish the flow, which has no more events.
    fn finish(&mut self, now: Time, circuits: &IdVec<CircuitId, Circuit>) {
        self.halftime.finish(self.work.bytes());
        if let FlowWork::Coded(coded) = &mut self.work {
            coded.finish(&circuits[self.flow_circuits.vcs[0]]);
        }
        if let Some(series) = &mut self.series {
            let CountSeries { octets, cwnd, state } = &mut **series;
            octets.iter_mut().chain(cwnd).for_each(|steps| steps.catch_up(now));
            state.iter_mut().for_each(|steps| steps.catch_up(now));
        }
    }

    /// Handle the tasks that the processor of one end has finished by now.
    #[inline(never)] // few flows have a processor
    fn work_off<U: Uplink>(&mut self, end: End, now: Time, uplink: &mut U) {
        let (FlowWork::Tcp(tcp), Some(processors)) = (&mut self.work, &mut self.processors) else { return };
        if self.halftime.is_due(now) && end == End::Sink {
            self.halftime.pass(tcp.receiver.delivered());
        }
        while let Some(task) = processors[end as usize].take(now) {
            match task {
                Task::Send(segment) => {
                    Interfaces { flow_circuits: self.flow_circuits, now, processors: None, uplink }
                        .put(segment);
                }
                Task::Receive(segment) => {
                    let processors = Some(&mut **processors);
                    tcp.receive(
                        now,
                        &segment,
                        &mut Interfaces { flow_circuits: self.flow_circuits, now, processors, uplink },
                    );
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
        match end {
            End::Sink => octets.iter_mut().for_each(|octets| octets.record(now, self.work.bytes())),
            End::Source => {
                cwnd.iter_mut().for_each(|cwnd| cwnd.record(now, self.work.cwnd()));
                state.iter_mut().for_each(|state| state.record(now, self.work.state()));
            }
        }
    }
}

impl Flow {
    /// If a paced sender waits to send, return its place in the order of the senders on its line.
    pub(crate) fn place(&self) -> Option<Time> {
        self.sender()?.place()
    }

    /// Send the packet for which a paced sender has waited, if the window still permits it.
    pub(crate) fn take_turn<U: Uplink>(&mut self, now: Time, uplink: &mut U) {
        let FlowWork::Tcp(tcp) = &mut self.work else { return };
        let flow_circuits = self.flow_circuits;
        tcp.sender.take_turn(now, &mut Interfaces { flow_circuits, now, processors: None, uplink });
        self.record(End::Source, now);
    }

    /// Like `take_turn`, for engines whose circuits store frames.
    pub(crate) fn take_turn_framed(
        &mut self,
        now: Time,
        circuits: &mut IdVec<CircuitId, Circuit>,
        out: &mut Outbox,
    ) {
        self.take_turn(now, &mut Framer { circuits, out });
    }
}

/// Return the pacer of a flow's sender, if it paces.
fn pacer(scenario: &Scenario, spec: &model::Flow, params: &tcp::Params) -> Option<Pacer> {
    let settings = spec.pacing()?;
    let vc = &scenario.vcs[spec.vc];
    let Framing::Packet(padding) = vc.framing else { return None };
    let headers = spec.transport.header_bytes() + spec.transport.option_bytes();
    let sizes = PacketSizes { headers, padding, minimum: scenario.lines[vc.path[0]].minimum };
    Some(Pacer::new(settings, sizes, params.segment_data()))
}

/// The uplink of engines whose circuits store frames until they arrive: each packet becomes a frame in the outbox,
/// and the network interface sends its units one by one.
struct Framer<'a> {
    circuits: &'a mut IdVec<CircuitId, Circuit>,
    out: &'a mut Outbox,
}

impl Uplink for Framer<'_> {
    #[inline(always)] // see `Circuit::emit`
    fn send(&mut self, vc: CircuitId, flow: FlowId, bytes: u32, payload: Payload) {
        self.out.emissions.push(self.circuits[vc].emit(flow, bytes, payload));
    }
}

/// Work of a flow, by its transport.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant)] // where there are many flows they are TCP, and then every memory access counts
enum FlowWork {
    Tcp(Tcp),
    Datagrams(Box<Datagrams>),
    Coded(Box<Coded>),
}

impl FlowWork {
    /// Return the octets of [`Figures::bytes`], but for TCP since the start of the run.
    fn bytes(&self) -> u64 {
        match self {
            FlowWork::Tcp(tcp) => tcp.receiver.delivered(),
            FlowWork::Datagrams(source) => source.figures.bytes,
            FlowWork::Coded(coded) => coded.figures().bytes,
        }
    }

    /// Return the figures of the congestion control; empty unless TCP carries the flow.
    fn state(&self) -> Vec<Figure> {
        match self {
            FlowWork::Tcp(tcp) => tcp.sender.state(),
            FlowWork::Datagrams(_) | FlowWork::Coded(_) => Vec::new(),
        }
    }

    /// Return the congestion window in octets; 0 unless TCP carries the flow.
    fn cwnd(&self) -> u64 {
        match self {
            FlowWork::Tcp(tcp) => tcp.sender.cwnd(),
            FlowWork::Datagrams(_) | FlowWork::Coded(_) => 0,
        }
    }
}

/// A TCP connection.
#[derive(Clone, Debug)]
#[repr(C)]
struct Tcp {
    /// The application that writes data to the connection; `None` if it never pauses. First field, because every
    /// acknowledgement uses it.
    application: Option<Box<Application>>,
    sender: Sender,
    /// Totals at the last reset, if there was one.
    baseline: Option<Box<FlowTotals>>,
    receiver: Receiver,
}

/// Totals of a TCP flow since its start.
#[derive(Clone, Debug, Default)]
struct FlowTotals {
    delivered: u64,
    received: u64,
    marked: u64,
    transfers: usize,
    stats: SenderStats,
    in_slow_start: bool,
}

impl Tcp {
    fn new(scenario: &Scenario, index: FlowId, params: &tcp::Params) -> Tcp {
        let spec = &scenario.flows[index];
        let phase = |node: NodeId, timer: &str, tick: Span| match params.timer_phase {
            tcp::Phase::Random => {
                let node = &scenario.nodes[node].name;
                Span(Stream::new(scenario.seed, format_args!("node.{node}.{timer}")).up_to(tick.0 - 1))
            }
            tcp::Phase::Aligned => Span::ZERO,
        };
        let jitter = Stream::new(scenario.seed, format_args!("flow.{}.rtt", spec.name));
        let application = application(scenario, spec).map(Box::new);
        let mut sender = Sender::new(params, phase(spec.from, "slow", params.slow_timer), jitter);
        sender.record(scenario.measure.delivery);
        pacer(scenario, spec, params).into_iter().for_each(|pacer| sender.pace(pacer));
        if scenario.vcs[spec.vc].name != spec.name {
            sender.number_connections(path_key(0, &spec.name));
        }
        Tcp {
            sender,
            receiver: Receiver::new(params, phase(spec.to, "fast", params.fast_timer)),
            application,
            baseline: None,
        }
    }

    fn next_timer(&self, end: End) -> Option<Time> {
        match end {
            End::Source => {
                let application = self.application.as_ref().and_then(|application| application.next_timer());
                earliest(self.sender.next_timer(), application)
            }
            End::Sink => self.receiver.next_timer(),
        }
    }

    /// Receive a segment at one end.
    #[inline(always)] // see `Flow::receive`
    fn receive(&mut self, now: Time, segment: &Segment, out: &mut impl SegmentOutlet) {
        if segment.is_ack {
            self.acknowledged(now, segment, out);
        } else {
            self.receiver.on_segment(now, segment, out);
            self.sender.count_delivered(now, self.receiver.delivered());
        }
    }

    fn start(&mut self, now: Time, out: &mut impl SegmentOutlet) {
        if let Some(application) = &mut self.application {
            return application.start(now, &mut self.sender, out);
        }
        self.sender.open(now, out);
        self.sender.write_forever(now, out);
    }

    fn source_timer(&mut self, now: Time, out: &mut impl SegmentOutlet) {
        if let Some(application) = &mut self.application {
            application.on_timer(now, &mut self.sender, out);
        }
        if self.sender.next_timer().is_some_and(|due| due <= now) {
            self.sender.on_timer(now, out);
        }
    }

    #[inline(always)] // see `Flow::receive`
    fn acknowledged(&mut self, now: Time, ack: &Segment, out: &mut impl SegmentOutlet) {
        let open = !self.sender.all_acked();
        if ack.len > 0 {
            let blocks = self.receiver.blocks(ack);
            self.sender.on_sack(now, ack, &blocks, out);
        } else {
            self.sender.on_segment(now, ack, out);
        }
        let Some(application) = &mut self.application else { return };
        if open && self.sender.all_acked() {
            application.all_acked(now, &mut self.sender, out);
        }
    }

    fn progress(&self) -> DataProgress {
        let Tcp { sender, receiver, .. } = self;
        DataProgress { sent: sender.sent(), delivered: receiver.delivered(), acked: sender.acked() }
    }

    /// Return whether a greedy flow was still in its first slow start when the measured time began; `None` for other
    /// flows.
    fn began_in_slow_start(&self) -> Option<bool> {
        let is_greedy = self.application.as_ref().is_none_or(|application| application.is_greedy());
        is_greedy.then(|| self.baseline.as_ref().is_none_or(|totals| totals.in_slow_start))
    }

    /// Return the durations of files since the last reset; `None` for a flow without files.
    fn measured_transfers(&self) -> Option<Transfers> {
        let (times, under_way) = self.application.as_ref()?.transfers()?;
        let before = self.baseline.as_ref().map_or(0, |totals| totals.transfers);
        Some(Transfers { times: times[before..].into(), under_way })
    }

    fn totals(&self) -> FlowTotals {
        let transfers = self.application.as_ref().and_then(|application| application.transfers());
        let transfers = transfers.map_or(0, |(times, _)| times.len());
        let ReceiverStats { segments: received, marked, .. } = *self.receiver.stats();
        FlowTotals {
            delivered: self.receiver.delivered(),
            received,
            marked,
            transfers,
            stats: self.sender.stats(),
            in_slow_start: self.is_in_first_slow_start(),
        }
    }

    /// Return whether no segment has been lost yet and the window still doubles: neither the slow-start threshold nor
    /// the receiver's window limits it.
    fn is_in_first_slow_start(&self) -> bool {
        let (sender, stats) = (&self.sender, self.sender.stats());
        let limit = sender.ssthresh().map_or(sender.send_window(), |level| level.min(sender.send_window()));
        let is_growing = sender.acked() == 0 || sender.cwnd() < limit;
        is_growing && stats.timeouts + stats.fast_retransmits == 0
    }

    fn reset_counters(&mut self) {
        self.baseline = Some(Box::new(self.totals()));
        self.sender.record(self.sender.round_trips().is_some());
    }

    fn figures(&self) -> Figures {
        let (now, then) = (self.totals(), self.baseline.as_deref().cloned().unwrap_or_default());
        let stats = now.stats.since(&then.stats);
        Figures {
            bytes: now.delivered - then.delivered,
            sent: stats.segments_sent,
            retransmitted: stats.segments_retransmitted,
            timeouts: stats.timeouts,
            fast_retransmits: stats.fast_retransmits,
            received: now.received - then.received,
            marked: now.marked - then.marked,
            mark_reactions: stats.mark_reactions,
            found_lost: stats.found_lost,
            tail_probes: stats.tail_probes,
            transfers: (now.transfers - then.transfers) as u64,
            delivery: self.sender.deliveries().clone(),
            round_trips: self.sender.round_trips().cloned(),
            ..Figures::default()
        }
    }
}

/// A source that sends packets at instants of its clock, and the sink of these packets.
#[derive(Clone, Debug)]
struct Datagrams {
    ticks: Ticks,
    lengths: PacketLengths,
    headers: u32,
    ecn: Ecn,
    figures: Figures,
}

impl Datagrams {
    fn new(scenario: &Scenario, spec: &model::Flow) -> Datagrams {
        let vc = &scenario.vcs[spec.vc];
        let ticks = ticks(scenario, spec, spec.mean_bits(vc.framing));
        let headers = spec.transport.header_bytes();
        let lengths = match *spec.transport {
            transport::Spec::Cells(_) => PacketLengths::Fixed(spec.payload().into()),
            _ => lengths(scenario, spec, headers),
        };
        let figures = Figures::new(scenario.measure.delivery);
        let ecn = spec.transport.ect();
        Datagrams { ticks, lengths, headers, ecn, figures }
    }

    fn send(&mut self, now: Time) -> (u32, Payload) {
        self.ticks.step();
        self.figures.sent += 1;
        let bytes = self.lengths.draw() as u32;
        (self.headers + bytes, Payload::Datagram { bytes, sent: now, ecn: self.ecn })
    }
}

/// Build the application of a TCP flow, unless it has endless data and never stops.
fn application(scenario: &Scenario, spec: &model::Flow) -> Option<Application> {
    if let Some(transfer) = spec.transfer {
        let work = application::WrittenData::Transfer(OneTransfer::new(transfer.octets));
        return Some(Application::new(work, Time::NEVER));
    }
    let work = match &*spec.source {
        source::Spec::File(params) => application::WrittenData::Files(Files::new(params)),
        source if source.length().is_some() => {
            let bits = spec.mean_bits(scenario.vcs[spec.vc].framing);
            application::WrittenData::Pieces(ticks(scenario, spec, bits), lengths(scenario, spec, 0))
        }
        _ if spec.stop.is_none() => return None,
        _ => application::WrittenData::Greedy,
    };
    Some(Application::new(work, spec.stops_at()))
}

/// Return the instants at which a source sends, if its mean packet has `bits` bits.
fn ticks(scenario: &Scenario, spec: &model::Flow, bits: u64) -> Ticks {
    Ticks::new(clock(scenario, spec, bits), spec.source.packets(), spec.stops_at())
}

/// Return the packet lengths of a flow whose source chooses them.
fn lengths(scenario: &Scenario, spec: &model::Flow, headers: u32) -> PacketLengths {
    let length = spec.source.length().expect("a source by time has lengths");
    length.draws(headers, Stream::new(scenario.seed, format_args!("flow.{}.sizes", spec.name)))
}

fn earliest(a: Option<Time>, b: Option<Time>) -> Option<Time> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        _ => a.or(b),
    }
}
