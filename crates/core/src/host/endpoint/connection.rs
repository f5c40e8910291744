//! A TCP connection: its sender, its receiver, and the application that fills it.

use super::Endpoint;
use crate::adaptation::Framing;
use crate::host::application::{self, Application, OneTransfer};
use crate::host::earliest;
use crate::host::end::{End, Uplink};
use crate::host::figures::Figures;
use crate::host::files::Files;
use crate::host::outcome::{DataProgress, FlowOutcome, Transfers};
use crate::host::processor::Interfaces;
use crate::host::sources::{lengths, ticks};
use crate::metrics::state::Figure;
use crate::rng::{Stream, path_key};
use crate::scenario::model::{self, Scenario};
use crate::source::{self, Source};
use crate::transport::cargo::{Cargo, Wire};
use crate::transport::ecn::Ecn;
use crate::transport::tcp::pacer::{Pacer, PacketSizes};
use crate::transport::tcp::{Receiver, ReceiverStats, Segment, SegmentOutlet, Sender, SenderStats};
use crate::transport::{self, Transport, tcp};
use crate::units::ids::{FlowId, NodeId};
use crate::units::{Span, Time};

/// A TCP connection.
#[derive(Clone, Debug)]
#[repr(C)]
pub(in crate::host) struct Connection {
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

impl Endpoint for Connection {
    fn new(scenario: &Scenario, index: FlowId) -> Connection {
        let spec = &scenario.flows[index];
        let transport::Spec::Tcp(params) = &*spec.transport else { unreachable!("TCP carries the flow") };
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
        Connection {
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

    fn start<U: Uplink>(&mut self, out: &mut Interfaces<'_, U>) {
        let now = out.now;
        if let Some(application) = &mut self.application {
            return application.start(now, &mut self.sender, out);
        }
        self.sender.open(now, out);
        self.sender.write_forever(now, out);
    }

    fn on_timer<U: Uplink>(&mut self, end: End, out: &mut Interfaces<'_, U>) {
        let now = out.now;
        if end == End::Sink {
            return self.receiver.on_timer(now, out);
        }
        if let Some(application) = &mut self.application {
            application.on_timer(now, &mut self.sender, out);
        }
        if self.sender.next_timer().is_some_and(|due| due <= now) {
            self.sender.on_timer(now, out);
        }
    }

    fn take_turn<U: Uplink>(&mut self, out: &mut Interfaces<'_, U>) {
        self.sender.take_turn(out.now, out);
    }

    #[inline(always)] // see `Flow::receive`
    fn receive<U: Uplink>(&mut self, cargo: &Cargo, out: &mut Interfaces<'_, U>) {
        let (now, segment) = (out.now, Segment::unpack(cargo));
        if segment.is_ack {
            self.acknowledged(now, &segment, out);
        } else {
            self.receiver.on_segment(now, &segment, out);
            self.sender.count_delivered(now, self.receiver.delivered());
        }
    }

    fn delivered(&self) -> u64 {
        self.receiver.delivered()
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

    fn outcome(&self) -> FlowOutcome {
        FlowOutcome {
            figures: self.figures(),
            transfers: self.measured_transfers(),
            only_transfer: self.application.as_ref().and_then(|application| application.only_transfer()),
            progress: Some(self.progress()),
            began_in_slow_start: self.began_in_slow_start(),
            failure: self.sender.failure().cloned().map(Box::new),
            series: None,
        }
    }

    fn has_transferred(&self) -> bool {
        self.application.as_ref().is_some_and(|application| application.has_transferred())
    }

    fn cwnd(&self) -> u64 {
        self.sender.cwnd()
    }

    fn state(&self) -> Vec<Figure> {
        self.sender.state()
    }

    fn sender(&self) -> Option<&Sender> {
        Some(&self.sender)
    }
}

impl Connection {
    #[inline(always)] // see `Flow::receive`
    fn acknowledged(&mut self, now: Time, ack: &Segment, out: &mut impl SegmentOutlet) {
        let open = !self.sender.all_acked();
        if ack.len > 0 || (ack.seq > 0 && !ack.ecn.has(Ecn::CUT)) {
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
        let Connection { sender, receiver, .. } = self;
        DataProgress { sent: sender.sent(), delivered: receiver.delivered(), acked: sender.acked() }
    }

    /// Return whether a greedy flow was still in its first slow start when the measured time began; `None` for other
    /// flows.
    fn began_in_slow_start(&self) -> Option<bool> {
        let is_greedy = self.application.as_ref().is_none_or(|application| application.is_greedy());
        let in_slow_start = || self.baseline.as_ref().is_none_or(|totals| totals.in_slow_start);
        is_greedy.then(|| !self.sender.measures() && in_slow_start())
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
