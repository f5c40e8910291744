//! The sending end, as an application and an engine use it. `output` sends, `acks` handles acknowledgements, `timeouts`
//! handles timers.

mod acks;

mod output;

mod pacing;

mod repeats;

mod selective;

mod timeouts;

mod timers;

mod usage;

use repeats::Repeats;
use selective::Selective;
use timers::{Timer, Timers};
use usage::Usage;

use super::congestion::{Begin, CongestionControl, Facts};
use super::deliveries::Deliveries;
use super::pacer::Pacer;
use super::rate::DeliveryRate;
use super::sack::SackBlocks;
use super::{
    CONNECTIONS_APART, Estimator, InitialEstimate, Laws, Params, Segment, SegmentOutlet, SenderStats,
    TickClock,
};
use crate::metrics::durations::Durations;
use crate::metrics::state::Figure;
use crate::program::Failure;
use crate::rng::Stream;
use crate::transport::ecn::Ecn;
use crate::units::{Span, Time};

/// The sending end of a connection, and of later connections of the flow. The fields that every segment and every ACK
/// use come first, because with a thousand senders memory access dominates.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Sender {
    rtt_jitter: Span,
    pub(super) estimator: Estimator,
    connection: u32,
    /// Duplicate ACKs in a row (t_dupacks).
    duplicates: u32,
    pub(super) state: State,
    flags: Flags,
    /// The state for selective acknowledgements, if the connection uses them.
    selective: Option<Box<Selective>>,
    /// First octet that is not acknowledged (snd_una).
    pub(super) unacknowledged: u64,
    /// Next octet to send (snd_nxt); less than `sent` after a timeout.
    pub(super) next: u64,
    /// The octet after the last one that was ever sent (snd_max).
    pub(super) sent: u64,
    /// The octet after the last one that the application has written; [`ENDLESS`] for a greedy application.
    pub(super) written: u64,
    advertised: AdvertisedWindow,
    /// Time at which a segment was last sent.
    last_sent: Time,
    timers: Timers,
    pub(super) clock: TickClock,
    pub(super) control: CongestionControl,
    /// The segment whose round trip is measured.
    timed: Timed,
    pub(super) rare: Box<RareState>,
    deliveries: Deliveries,
    counts: SegmentCounts,
}

/// What holds for a connection or at this moment.
#[derive(Clone, Copy, Debug)]
struct Flags {
    timestamps: bool,
    /// Whether segments of new data are ECN-capable.
    ecn: bool,
    /// Whether new data are marked as sent before the first acknowledgement of the connection.
    is_unscheduled: bool,
    /// Whether the next segment of new data must report that the window has been reduced (RFC 3168, CWR).
    tells_reduced: bool,
    /// Whether the last octet that was written ends what the receiver waits for: the application closes the connection behind it, or
    /// the laws are those of Linux, where a segment with PSH is acknowledged at once (`tcp_measure_rcv_mss`).
    ends_writes: bool,
    /// Whether the application may limit the flow, so that the window must not grow meanwhile.
    heeds_application: bool,
    /// Whether segments wait for their turn.
    is_paced: bool,
}

/// The window that the receiver advertises.
#[derive(Clone, Copy, Debug, Default)]
struct AdvertisedWindow {
    /// The window, in octets (snd_wnd).
    window: u64,
    /// The `ack` of the segment that advertised that window (snd_wl2).
    ack: u64,
    /// Largest window ever advertised (max_sndwnd).
    largest: u64,
}

/// Counts of segments with data.
#[derive(Clone, Copy, Debug, Default)]
struct SegmentCounts {
    sent: u64,
    retransmitted: u64,
}

/// Octets that a greedy application has written: more than a connection ever sends, so that no special case is
/// needed.
const ENDLESS: u64 = u64::MAX;

/// State that is rarely needed: at the start of a connection, for measurements with random additions, and after a
/// timeout.
#[derive(Clone, Debug)]
pub(super) struct RareState {
    params: Params,
    /// Counts of rare events; the sender itself counts the segments.
    pub(super) stats: SenderStats,
    jitter: Stream,
    repeats: Repeats,
    /// Number of times the SYN of this connection has been sent.
    syns: u16,
    /// First octet of the segment that the retransmission timer sent last on this connection.
    timed_out: Option<u64>,
    /// The octet after the last one that had been sent when this connection's window was last reduced. Until a later
    /// octet is acknowledged, the window is not reduced for a congestion mark.
    reduced: Option<u64>,
    /// The octet whose acknowledgement begins the next round trip of measurements.
    round: u64,
    /// Use of the window by the data in flight.
    usage: Usage,
    /// What a sender that paces stores.
    pacer: Option<Box<Pacer>>,
    /// The measured round trips, if the scenario requests them.
    pub(super) round_trips: Option<Durations>,
}

impl RareState {
    fn new(params: &Params, jitter: Stream) -> RareState {
        RareState {
            params: params.clone(),
            stats: SenderStats::default(),
            jitter,
            repeats: Repeats::default(),
            syns: 0,
            timed_out: None,
            reduced: None,
            round: 0,
            usage: Usage::default(),
            pacer: None,
            round_trips: None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Closed,
    SynSent,
    Established,
}

/// The segment whose round trip is measured: its first octet, and the time at which it was sent (t_rtseq, t_rtt). Without one the time
/// is [`Time::NEVER`], instead of an `Option`, which would take 8 octets more in each sender.
#[derive(Clone, Copy, Debug)]
struct Timed {
    seq: u64,
    since: Time,
}

impl Timed {
    const NONE: Timed = Timed { seq: 0, since: Time::NEVER };

    #[inline]
    fn is_none(self) -> bool {
        self.since == Time::NEVER
    }

    /// Return the time at which the segment was sent, if there is one and `ack` covers it.
    #[inline]
    fn covered(self, ack: u64) -> Option<Time> {
        (!self.is_none() && ack > self.seq).then_some(self.since)
    }
}

impl Sender {
    /// Build a sender without a connection. `params` must have passed `Params::check`; `phase` is the first tick of
    /// the host's slow timer. If `rtt_jitter` is not zero, each round-trip measurement draws a number from `jitter`.
    pub fn new(params: &Params, phase: Span, jitter: Stream) -> Sender {
        let clock = TickClock::new(params.slow_timer, phase);
        Sender {
            connection: 0,
            duplicates: 0,
            state: State::Closed,
            flags: Flags {
                timestamps: params.timestamps,
                ecn: params.ecn,
                is_unscheduled: false,
                tells_reduced: false,
                ends_writes: false,
                heeds_application: false,
                is_paced: false,
            },
            selective: None,
            unacknowledged: 0,
            next: 0,
            sent: 0,
            written: 0,
            advertised: AdvertisedWindow::default(),
            last_sent: Time::ZERO,
            timers: Timers::STOPPED,
            estimator: Estimator::new(params, &clock),
            clock,
            control: CongestionControl::start(params),
            timed: Timed::NONE,
            counts: SegmentCounts::default(),
            deliveries: Deliveries::default(),
            rtt_jitter: params.rtt_jitter,
            rare: Box::new(RareState::new(params, jitter)),
        }
    }

    /// Set the first connection number, before the first connection opens, of a flow that shares a circuit; `key` is a hash of
    /// the flow's name, so that other flows of the circuit do not change the number.
    pub(crate) fn number_connections(&mut self, key: u64) {
        // The modulus leaves room for later connections. Two flows of a circuit share connection numbers with a probability
        // of 1 in 80 000: then equal segments have equal draws.
        self.connection = (key % 80_000) as u32 * CONNECTIONS_APART;
    }

    /// Open a connection: with SYN if there is a handshake, otherwise it is established at once. No octet of the
    /// previous connection may be outstanding; sequence numbers continue, all other state is new.
    pub fn open(&mut self, now: Time, out: &mut impl SegmentOutlet) {
        assert!(
            self.sent == self.unacknowledged,
            "a connection opens when nothing of the last is outstanding"
        );
        self.connection += 1;
        let params = &self.rare.params;
        (self.flags.ends_writes, self.flags.tells_reduced) = (params.laws == Laws::Linux, false);
        self.flags.is_unscheduled = params.unscheduled.is_some();
        self.control.restart(params);
        self.estimator = Estimator::new(params, &self.clock);
        let samples =
            || self.control.needs().samples.then(|| Box::new(DeliveryRate::new(now, params.feedback)));
        self.selective = params.sack.then(|| Box::new(Selective::new(params, self.next, samples())));
        self.duplicates = 0;
        self.timed = Timed::NONE;
        self.timers = Timers::STOPPED;
        self.last_sent = now;
        self.rare.pacer.iter_mut().for_each(|pacer| pacer.restart());
        (self.rare.timed_out, self.rare.reduced, self.rare.syns) = (None, None, 0);
        if self.rare.params.handshake {
            self.state = State::SynSent;
            self.advertised.window = 0;
            self.timed = Timed { seq: self.next, since: now };
            self.send_syn(now, out);
        } else {
            self.establish(self.rare.params.advertised_window());
            self.begin_sampling(now, None);
            self.output(now, out);
        }
    }

    /// Prepare for the next file: open a new connection, or keep the old one with its state.
    pub fn restart(&mut self, now: Time, reconnect: bool, out: &mut impl SegmentOutlet) {
        if reconnect || self.state == State::Closed {
            self.open(now, out);
        }
    }

    /// Accept `bytes` octets from the application.
    pub fn write(&mut self, now: Time, bytes: u64, out: &mut impl SegmentOutlet) {
        let expired = self.was_idle(now).then(|| self.rto());
        // in Linux after any idle time (CA_EVENT_TX_START)
        if expired.is_some() || (self.rare.params.laws == Laws::Linux && self.sent == self.unacknowledged) {
            self.control.on_idle(now.since(self.last_sent), expired);
        }
        self.written = self.written.saturating_add(bytes);
        self.output(now, out);
    }

    /// Accept `bytes` octets from the application, the last ones of this connection.
    pub fn write_last(&mut self, now: Time, bytes: u64, out: &mut impl SegmentOutlet) {
        self.flags.ends_writes = true;
        self.write(now, bytes, out);
    }

    /// From now on do not let the window grow while the application limits the flow; for an application that writes
    /// at instants of its own.
    pub fn heed_application(&mut self) {
        self.flags.heeds_application = true;
    }

    /// End the data: the application stops writing; outstanding octets are sent again until they are acknowledged.
    pub fn end_of_data(&mut self) {
        self.written = self.sent;
        if self.all_acked() && self.state == State::Established {
            self.timers = Timers::STOPPED;
        }
    }

    /// Send endless data from now on.
    pub fn write_forever(&mut self, now: Time, out: &mut impl SegmentOutlet) {
        self.write(now, ENDLESS, out);
    }

    /// Handle an ACK or SYN-ACK. Other segments, and those of an older connection, are ignored.
    #[inline(always)] // the caller has just built the segment
    pub fn on_segment(&mut self, now: Time, segment: &Segment, out: &mut impl SegmentOutlet) {
        if !segment.is_ack || segment.connection != self.connection {
            return;
        }
        self.flags.is_unscheduled &= segment.syn;
        match (self.state, segment.syn) {
            (State::SynSent, true) => {
                self.end_handshake(now, segment);
                self.output(now, out);
            }
            (State::Established, false) if segment.ecn.has(Ecn::CUT) => self.on_cut(now, segment, out),
            (State::Established, false) if self.is_selective() => {
                self.on_selective(now, segment, &SackBlocks::default(), out);
            }
            (State::Established, false) if segment.ack <= self.unacknowledged => {
                self.on_old_ack(now, segment, out);
            }
            (State::Established, false) if segment.ack <= self.sent => self.on_new_ack(now, segment, out),
            _ => {}
        }
    }

    /// Handle an ACK with blocks that have arrived out of order.
    pub fn on_sack(
        &mut self,
        now: Time,
        segment: &Segment,
        blocks: &SackBlocks,
        out: &mut impl SegmentOutlet,
    ) {
        let is_ours = segment.is_ack && segment.connection == self.connection && !segment.syn;
        if is_ours && self.is_selective() && self.state == State::Established {
            self.flags.is_unscheduled = false;
            self.on_selective(now, segment, blocks, out);
        }
    }

    /// Handle the timer, if it has expired; a call before [`Sender::next_timer`] has no effect.
    pub fn on_timer(&mut self, now: Time, out: &mut impl SegmentOutlet) {
        match self.timers.due(now) {
            Some(Timer::Retransmit) => self.time_out(now, out),
            Some(Timer::Persist) => {
                self.probe(now, out);
                self.note_window_probe(now);
            }
            Some(Timer::Reordering) => self.look_again(now, out),
            Some(Timer::Probe) => self.send_probe(now, out),
            None => {}
        }
    }

    /// Return the exact instant at which the earliest timer expires.
    pub fn next_timer(&self) -> Option<Time> {
        self.timers.next()
    }

    /// Return whether all written octets have been acknowledged.
    pub fn all_acked(&self) -> bool {
        self.unacknowledged == self.written
    }

    /// Return the octets acknowledged, over all connections.
    pub fn acked(&self) -> u64 {
        self.unacknowledged
    }

    /// Return the octets sent at least once, over all connections.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Return the octets sent and not acknowledged, as the sender counts them: after a timeout outstanding octets
    /// count as lost.
    pub fn flight(&self) -> u64 {
        self.next - self.unacknowledged
    }

    /// Return whether the congestion control measures the path, and has no slow start.
    pub fn measures(&self) -> bool {
        self.control.needs().samples
    }

    /// Return the first call that a program as congestion control could not compute, if there is one.
    pub fn failure(&self) -> Option<&Failure> {
        self.control.failure()
    }

    /// Return the variables of the congestion control.
    pub fn state(&self) -> Vec<Figure> {
        self.control.state()
    }

    /// Return the congestion window, in octets, without inflation.
    pub fn cwnd(&self) -> u64 {
        self.control.window().cwnd()
    }

    /// Return the octets that duplicate ACKs add to the congestion window in fast recovery.
    pub fn inflation(&self) -> u64 {
        self.control.window().inflation()
    }

    /// Return the slow-start threshold, in octets, if it has been set.
    pub fn ssthresh(&self) -> Option<u64> {
        self.control.window().threshold()
    }

    /// Return the window that the receiver advertised last, in octets.
    pub fn send_window(&self) -> u64 {
        self.advertised.window
    }

    /// Return the retransmission timeout of the next segment, back-off included.
    pub fn rto(&self) -> Span {
        self.clock.span(self.estimator.timeout())
    }

    /// Return the smoothed round-trip time, in whole ticks of the host's clock; `None` before the first measurement.
    pub fn srtt(&self) -> Option<Span> {
        self.estimator.srtt().map(|ticks| self.clock.span(ticks))
    }

    /// Return whether fast recovery is in progress.
    pub fn is_recovering(&self) -> bool {
        self.control.is_recovering() || self.selective.as_ref().is_some_and(|sack| sack.is_recovering())
    }

    /// Return the counts since the sender was made.
    pub fn stats(&self) -> SenderStats {
        let (segments_sent, segments_retransmitted) = (self.counts.sent, self.counts.retransmitted);
        SenderStats { segments_sent, segments_retransmitted, ..self.rare.stats }
    }

    /// Return the delivery times of segments since [`Sender::record`].
    pub fn deliveries(&self) -> &Durations {
        self.deliveries.times()
    }

    /// Return the round trips since [`Sender::record`], as the estimator measures them but exact, if they are recorded.
    pub fn round_trips(&self) -> Option<&Durations> {
        self.rare.round_trips.as_ref()
    }

    /// Record the delivery times of segments from now on; with percentiles also of all of them, and of round trips.
    pub fn record(&mut self, percentiles: bool) {
        self.deliveries.record(Durations::new(percentiles));
        self.rare.round_trips = percentiles.then(|| Durations::new(true));
    }

    /// Count the delivery times of segments that the receiver has passed to its application up to octet `next`. ACKs
    /// do not report this instant, so the flow, which owns both ends, calls this function.
    #[inline]
    pub fn count_delivered(&mut self, now: Time, next: u64) {
        self.deliveries.delivered(next, now);
    }

    fn end_handshake(&mut self, now: Time, segment: &Segment) {
        if self.timed.is_none() && self.rare.params.initial_estimate == InitialEstimate::Rfc6298 {
            self.estimator.restart_after_syn_loss(&self.clock);
        }
        let rtt = self.measure(now, segment.ack + 1);
        if let (Some(rtt), Some(sack)) = (rtt, &mut self.selective) {
            sack.measured(now, rtt);
        }
        self.timers = Timers::STOPPED;
        self.establish(u64::from(segment.window));
        self.begin_sampling(now, rtt);
    }

    /// Report the beginning of the connection to a control that asks for samples.
    fn begin_sampling(&mut self, now: Time, rtt: Option<Span>) {
        if self.control.needs().samples {
            let draws = self.rare.jitter.part("congestion");
            self.control.begin(Begin { now, rtt, draws, connection: self.connection });
        }
    }

    fn establish(&mut self, window: u64) {
        self.state = State::Established;
        self.advertised.window = window;
        self.advertised.ack = self.unacknowledged;
        self.advertised.largest = self.advertised.largest.max(window);
    }

    #[inline]
    pub(super) fn facts(&self, now: Time, rtt: Option<Span>) -> Facts {
        Facts {
            now,
            rtt,
            unacknowledged: self.unacknowledged,
            sent: self.sent,
            send_window: self.advertised.window,
            is_reduced: self.flags.ecn && self.rare.reduced.is_some_and(|sent| self.unacknowledged <= sent),
        }
    }
}

#[cfg(test)]
mod tests {
    // The scripts in tests/behaviour/tcp test the segments of a sender and their times.
    use super::*;
    use crate::transport::tcp::congestion::LAST_ACK;
    use crate::transport::tcp::tests::defaults;

    fn open(params: &Params) -> (Sender, Vec<Segment>) {
        let mut sender = Sender::new(params, Span::ZERO, Stream::new(1, "flow.0.tcp"));
        let mut out = Vec::new();
        sender.open(Time::ZERO, &mut out);
        sender.write_forever(Time::ZERO, &mut out);
        (sender, out)
    }

    fn ack(ack: u64) -> Segment {
        Segment { ack, window: 65_536, connection: 1, is_ack: true, ..Segment::default() }
    }

    fn exact() -> Params {
        Params { handshake: false, slow_timer: Span(1), min_rto: Span::ZERO, ..defaults() }
    }

    #[test]
    fn a_sender_takes_448_octets_at_most() {
        assert!(size_of::<Sender>() <= 448, "{}", size_of::<Sender>());
    }

    #[test]
    fn each_measurement_is_lengthened_by_up_to_the_jitter() {
        let params = Params { rtt_jitter: Span::millis(1), ..exact() };
        let (mut sender, mut out) = open(&params);
        sender.on_segment(Time::ZERO + Span::millis(10), &ack(1460), &mut out);
        let measured = sender.rto().0 / 3;
        assert!((Span::millis(10).0 + 2..Span::millis(11).0 + 2).contains(&measured), "{measured}");
    }

    #[test]
    fn a_segment_that_was_cut_is_sent_again_at_once() {
        let cut = |ack: u64, distance: u64| Segment {
            seq: distance,
            ack,
            window: 65_536,
            connection: 1,
            is_ack: true,
            ecn: Ecn::CUT,
            ..Segment::default()
        };
        let sent_again = |sack: bool, report: Segment| {
            let params = Params { initial_window: 4, sack, ..exact() };
            let (mut sender, mut out) = open(&params);
            out.clear();
            sender.on_segment(Time(1), &report, &mut out);
            let again = out.iter().filter(|segment| segment.repeats > 0);
            (again.map(|segment| segment.seq).collect::<Vec<_>>(), sender.is_recovering())
        };
        assert_eq!(sent_again(true, cut(0, 2920)), (vec![2920], true));
        assert_eq!(sent_again(false, cut(0, 0)), (vec![0], true));
        assert_eq!(sent_again(false, cut(0, 2920)), (vec![], false), "not the first one outstanding");
    }

    #[test]
    fn a_control_receives_what_each_ack_delivers_and_loses_also_in_a_recovery_with_sack() {
        let params = Params { initial_window: 10, sack: true, ..exact() };
        let (mut sender, mut out) = open(&params);
        let mut received = |acked: u64, block: Option<(u64, u64)>| {
            let block = block.map(|(start, end)| (start * 1460, end * 1460));
            let blocks = SackBlocks::of(block.as_slice());
            LAST_ACK.set(None);
            sender.on_sack(Time(1), &ack(acked * 1460), &blocks, &mut out);
            let last =
                LAST_ACK.get().map(|ack| [ack.acked, ack.delivered, ack.lost].map(|octets| octets / 1460));
            (last, sender.is_recovering())
        };
        assert_eq!(received(0, Some((1, 2))), (Some([0, 1, 0]), false), "before a recovery");
        assert_eq!(received(0, Some((1, 4))), (Some([0, 2, 1]), true), "the first segment is lost");
        assert_eq!(received(0, Some((1, 5))), (Some([0, 1, 0]), true));
        assert_eq!(received(6, Some((7, 8))), (Some([6, 3, 0]), true), "segments 0, 5 and 7");
        assert_eq!(received(9, None), (Some([3, 2, 0]), true));
        let rest: Vec<_> = (10..30).map(|acked| received(acked, None)).collect();
        let end = rest.iter().position(|(_, is_recovering)| !is_recovering).expect("the recovery ends");
        assert!(rest.iter().all(|(last, _)| *last == Some([1, 1, 0])), "{rest:?}");
        assert!(rest[end..].iter().all(|(_, is_recovering)| !is_recovering), "{rest:?}");
    }

    #[test]
    fn a_paced_sender_has_the_rates_of_linux() {
        use crate::transport::tcp::pacer::{Burst, PacketSizes, Settings};
        let params = Params {
            initial_window: 10,
            handshake: true,
            initial_ssthresh: Some(crate::units::Bytes(24 * 1460)),
            ..exact()
        };
        let mut sender = Sender::new(&params, Span::ZERO, Stream::new(1, "flow.0.tcp"));
        let sizes = PacketSizes { headers: 40, ..PacketSizes::default() };
        sender.pace(Pacer::new(&Settings { burst: Some(Burst::Packets(1)) }, sizes, params.segment_data()));
        let at = |ms| Time::ZERO + Span::millis(ms);
        let rate = |sender: &Sender| sender.pacing_rate().unwrap().0;
        let mut out = Vec::new();
        sender.open(at(0), &mut out);
        sender.write_forever(at(0), &mut out);
        assert_eq!((out.len(), sender.place()), (1, None), "a SYN, at once");
        sender.on_segment(at(10), &Segment { syn: true, ..ack(0) }, &mut out);
        // cwnd 10 is less than half of ssthresh 24: 200 % of 14 600 octets in the 10 ms of the handshake
        assert_eq!((rate(&sender), out.len(), sender.place()), (23_360_000, 1, Some(at(10))));
        out.clear();
        sender.take_turn(at(10), &mut out);
        let second = Time(at(10).0 + 12_000 * 1_000_000_000_000 / 23_360_000);
        assert_eq!((out.len(), out[0].seq, sender.place()), (1, 0, Some(second)));
        sender.take_turn(second, &mut out);
        sender.on_segment(at(28), &ack(1460), &mut out);
        // srtt = 7/8 · 10 ms + 18 ms / 8 = 11 ms; cwnd 11
        assert_eq!(rate(&sender), 2 * 11 * 1460 * 8 * 1000 / 11);
        sender.take_turn(at(28), &mut out);
        sender.on_segment(at(39), &ack(2 * 1460), &mut out);
        // cwnd 12 is no longer less: 120 %; the third segment, sent at 28 ms, was timed and has not arrived
        assert_eq!((sender.cwnd(), rate(&sender)), (12 * 1460, 12 * 12 * 1460 * 8 * 100 / 11));
        assert_eq!(out.len(), 3, "each turn sends one segment");
    }

    #[test]
    fn a_timeout_of_a_paced_sender_waits_for_its_turn_and_no_other_timer_runs_meanwhile() {
        use crate::transport::tcp::pacer::{Burst, PacketSizes, Settings};
        for sack in [false, true] {
            let params = Params { initial_window: 4, sack, ..exact() };
            let mut sender = Sender::new(&params, Span::ZERO, Stream::new(1, "flow.0.tcp"));
            let settings = Settings { burst: Some(Burst::Packets(1)) };
            sender.pace(Pacer::new(&settings, PacketSizes::default(), params.segment_data()));
            let mut out = Vec::new();
            sender.open(Time::ZERO, &mut out);
            sender.write_forever(Time::ZERO, &mut out);
            assert_eq!(sender.next_timer(), None, "nothing is outstanding");
            for _ in 0..4 {
                sender.take_turn(sender.place().unwrap(), &mut out);
            }
            assert_eq!((out.len(), sender.place()), (4, None));
            let due = sender.next_timer().unwrap();
            sender.on_timer(due, &mut out);
            assert_eq!((out.len(), sender.place()), (4, Some(due)), "sack {sack}");
            sender.take_turn(due, &mut out);
            assert_eq!((out[4].seq, out[4].repeats, sender.place()), (0, 1, None), "sack {sack}");
            assert!(sender.next_timer().is_some_and(|next| next > due), "sack {sack}");
        }
    }

    #[test]
    fn timestamps_take_twelve_octets_of_a_segment_and_measure_with_every_ack() {
        let params = Params { timestamps: true, initial_window: 2, ..exact() };
        let (mut sender, mut out) = open(&params);
        assert_eq!(
            out.iter().map(|segment| (segment.seq, segment.len)).collect::<Vec<_>>(),
            [(0, 1448), (1448, 1448)]
        );
        let echo = |ack_no: u64, stamp: Time| Segment { stamp, ..ack(ack_no) };
        let at = |ms| Time::ZERO + Span::millis(ms);
        sender.on_segment(at(8), &echo(1448, Time::ZERO), &mut out);
        let first = sender.rto();
        sender.on_segment(at(16), &echo(2896, Time::ZERO), &mut out);
        // 8 ms: srtt 8, mdev 4; then 16 ms: srtt 9, mdev 5
        assert_eq!((first.0 / 1_000_000_000, sender.rto().0 / 1_000_000_000), (24, 29));
    }

    #[test]
    fn new_data_before_the_first_ack_are_unscheduled_and_what_is_sent_again_is_not() {
        for (sack, ecn) in [(false, false), (true, true)] {
            let unscheduled = Some("first".to_string());
            let params = Params { initial_window: 3, unscheduled, sack, ecn, handshake: true, ..exact() };
            let (mut sender, mut out) = open(&params);
            let accept = Segment { syn: true, ..ack(0) };
            sender.on_segment(Time(1), &accept, &mut out);
            let timeout = sender.next_timer().unwrap();
            sender.on_timer(timeout, &mut out);
            sender.on_segment(timeout, &ack(3 * 1460), &mut out);
            let data = out.iter().filter(|segment| !segment.syn);
            let marks: Vec<_> =
                data.map(|segment| (segment.seq / 1460, segment.ecn.has(Ecn::UNSCHEDULED))).collect();
            assert_eq!(marks[..5], [(0, true), (1, true), (2, true), (0, false), (3, false)]);
            assert!(
                out.iter().filter(|segment| segment.syn).all(|segment| !segment.ecn.has(Ecn::UNSCHEDULED))
            );
        }
    }

    #[test]
    fn a_loss_in_the_first_window_of_a_connection_with_marks_reduces_it() {
        let (mut sender, mut out) = open(&Params { ecn: true, initial_window: 10, ..exact() });
        for _ in 0..4 {
            sender.on_segment(Time::ZERO + Span::millis(10), &ack(0), &mut out);
        }
        assert_eq!((sender.stats().fast_retransmits, sender.ssthresh()), (1, Some(5 * 1460)));
    }

    #[test]
    fn in_linux_a_timeout_is_taken_back_if_what_was_sent_again_had_arrived() {
        for (laws, threshold) in [(Laws::Linux, None), (Laws::Rfc, Some(2 * 1460))] {
            let params = Params { laws, sack: true, dsack: true, initial_window: 4, ..exact() };
            let (mut sender, mut out) = open(&params);
            let now = sender.next_timer().unwrap();
            sender.on_timer(now, &mut out);
            assert_eq!((out[4].seq, out[4].repeats, sender.ssthresh()), (0, 1, Some(2 * 1460)));
            sender.on_segment(now, &ack(4 * 1460), &mut out);
            let twice = SackBlocks::of(&[(0, 1460)]);
            sender.on_sack(now, &Segment { len: twice.octets(), ..ack(4 * 1460) }, &twice, &mut out);
            assert_eq!((sender.ssthresh(), sender.stats().timeouts), (threshold, 1), "{laws:?}");
        }
    }

    #[test]
    fn statistics_of_a_warm_up_can_be_taken_away() {
        let (mut sender, mut out) = open(&exact());
        sender.on_timer(sender.next_timer().unwrap(), &mut out);
        let warm = sender.stats();
        assert_eq!((warm.segments_sent, warm.segments_retransmitted, warm.timeouts), (2, 1, 1));
        sender.on_segment(Time::ZERO + Span::secs(7), &ack(1460), &mut out);
        let rest = sender.stats().since(&warm);
        assert_eq!((rest.segments_sent, rest.segments_retransmitted, rest.timeouts), (2, 0, 0));
    }

    #[test]
    #[should_panic(expected = "nothing of the last is outstanding")]
    fn a_connection_cannot_open_over_outstanding_data() {
        let (mut sender, mut out) = open(&exact());
        sender.open(Time::ZERO, &mut out);
    }

    #[test]
    fn nothing_happens_before_the_timer_is_due() {
        let (mut sender, mut out) = open(&exact());
        out.clear();
        let due = sender.next_timer().unwrap();
        sender.on_timer(Time(due.0 - 1), &mut out);
        assert!(out.is_empty());
        sender.on_timer(due, &mut out);
        assert_eq!(out.len(), 1);
    }
}
