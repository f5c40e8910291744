//! # Source
//! The 4.4BSD-Lite implementation (Net/3) as W. R. Stevens and G. R. Wright describe it in "TCP/IP
//! Illustrated, Volume 2" (1995), chapters 24–30: segments leave as in `tcp_output`, acknowledgements act as in
//! `tcp_input`, timers count ticks as in `tcp_timer`. The congestion control is a part of its own: [`congestion`]. What is
//! done about losses and idle times follows M. Allman, V. Paxson and E. Blanton, RFC 5681 (2009), and what the timers say
//! V. Paxson, M. Allman, J. Chu and M. Sargent, RFC 6298 (2011), whose two differences from 4.4BSD are keys.
//!
//! # Idea
//! TCP for bulk data in one direction. [`Sender`] and [`Receiver`] are the two ends. Neither depends on the other, a
//! clock or a network: the engine hands over each [`Segment`] that arrives, calls `on_timer` at the instant that
//! `next_timer` names, and takes the segments from `out`. Simultaneous facts count in the order in which they are
//! reported.
//!
//! # Simpler than the protocol
//! On purpose:
//!
//! * Sequence numbers are 64-bit offsets of data and never wrap; neither SYN nor FIN takes one. Of closing a connection
//!   there is what delays data: FIN travels with the last of it, which is therefore neither held back nor left to the
//!   delayed ACK. The connection ends when the next one starts. [`Segment::connection`] stands for the port numbers
//!   that keep connections apart.
//! * The ACK of the SYN-ACK rides on the first data. The passive end does not repeat its SYN-ACK by itself, only in
//!   answer to a repeated SYN.
//! * The receiving application reads at once, so the advertised window is constant unless
//!   [`Receiver::set_window`] says otherwise; the send buffer is never what limits the sender.
//! * No options but window scaling, timestamps (RFC 1323) and blocks (RFC 2018), which travel beside their ACK: it has the
//!   number of their list. A timestamp is the instant itself; the sender that measures with it counts the ticks since.
//!
//! # Differences from 4.4BSD
//! Each for a reason:
//!
//! * A timeout in fast recovery halves the window without what duplicate ACKs had added to it. With it, each slow start
//!   would overshoot again, and one flow alone would go from timeout to timeout.
//! * Slow start after an idle time asks when a segment was sent last, and whether that is longer ago than the timeout (RFC
//!   5681 section 4.1); Net/3 asks when one was received.
//! * Timeouts in a row double the timeout in force, and the first measurement replaces what was there before it, as in RFC
//!   6298. `backoff` and `initial_estimate` give the ways of Net/3, where nothing doubles while the estimate is far below
//!   `min_rto`.
//! * Retransmission never gives up; Net/3 drops the connection after twelve timeouts, which no study wants.
//! * Fast recovery deflates the window also when exactly three duplicates came, and on the very next new ACK
//!   (RFC 2581 section 3.2); Net/3 misses it in both its header prediction and a comparison (L. S. Brakmo and
//!   L. L. Peterson, "Performance problems in BSD4.4 TCP", 1995). The ACK that ends fast recovery does not open the
//!   window as well.
//! * A segment is cut short by the window only when nothing is outstanding before it; Net/3 cuts any retransmission.
//! * A short segment at the end of what was written leaves at once, also where the application keeps the connection
//!   (as with `TCP_NODELAY`); Nagle's algorithm would hold it back then.
//! * A segment is timed only if all of it is new (P. Karn and C. Partridge, 1991); Net/3 also times a
//!   retransmission that carries some new data.

use super::ecn::Ecn;
use super::{IP_HEADER, Needs, Transport};
use crate::refused::{Refused, refuse, refuse_if};
use crate::section;
use crate::source::{self, Traffic};
use crate::units::{Bytes, Span, Time};

pub mod congestion;
mod deliveries;
mod feedback;
mod laws;
pub mod pacer;
mod profile;
mod ranges;
pub mod rate;
mod receiver;
pub mod recovery;
mod rtt;
mod sack;
pub mod scoreboard;
mod sender;
mod stats;
mod wire;

pub use feedback::Feedback;
pub use laws::Laws;
pub use profile::{Profile, with_profile};
pub use receiver::Receiver;
pub use rtt::{Backoff, Estimator, InitialEstimate, RtoFloor, TickClock};
pub use sack::SackBlocks;
pub use sender::Sender;
pub use stats::{ReceiverStats, SenderStats};

use congestion::hystart;
use congestion::new_reno::PartialAck;
use pacer::Pacing;

/// Distance between the connection numbers of flows that share a circuit, so that random draws for their segments
/// differ. In traces this number of connections can have different port numbers.
pub const CONNECTIONS_APART: u32 = 50_000;

/// A segment or an acknowledgement, without the data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Offset of the segment's first octet of data; on an ACK the number of its list of blocks (RFC 2018), 0 without
    /// blocks.
    pub seq: u64,
    /// Offset of the octet that the receiver expects next; on data 0.
    pub ack: u64,
    /// Octets of data; on an ACK octets of its option with blocks.
    pub len: u16,
    /// Congestion notification.
    pub ecn: Ecn,
    /// Octets that the receiver accepts from `ack` on, as the header's field and its scale express it; on data 0.
    pub window: u32,
    /// Number of the connection: from 1, or for a flow that shares a circuit, from a multiple of [`CONNECTIONS_APART`] that
    /// follows from the flow's name.
    pub connection: u32,
    /// With timestamps: on data the time of sending, on an ACK the stamp that it echoes.
    pub stamp: Time,
    /// Whether the segment opens a connection.
    pub syn: bool,
    /// Whether the segment carries the last data before the application closes the connection, like a segment with
    /// FIN.
    pub last: bool,
    /// Whether the segment travels from the receiver to the sender.
    pub is_ack: bool,
    /// Number of earlier sendings of the first octet; on an ACK, number of earlier ACKs with this `ack`. The receiver
    /// does not use it.
    pub repeats: u16,
}

/// The destination of the segments that an end writes.
pub trait SegmentOutlet {
    /// Send one more segment.
    fn put(&mut self, segment: Segment);
}

impl SegmentOutlet for Vec<Segment> {
    fn put(&mut self, segment: Segment) {
        self.push(segment);
    }
}

crate::choice! {
    /// The phase of the ticks of a host's timers.
    pub enum Phase {
        /// At random, drawn once for each host: hosts were not switched on together.
        Random = "random",
        /// At whole multiples of the tick on every host, as in a simulator with one clock.
        Aligned = "aligned",
    }
}

crate::choice! {
    /// Packets of a connection that ports may mark.
    pub enum EctPackets {
        /// Segments of new data (RFC 3168).
        Data = "data",
        /// All: SYN, acknowledgements, retransmissions and probes as well (Linux with `dctcp`).
        All = "all",
    }
}

section! {
    /// TCP, both ends: sender, receiver and their timers.
    pub struct Params {
        /// Defaults of a kind of host; explicit keys take precedence.
        pub profile: Option<Profile> = None,
        /// Which laws both ends follow where Linux and the RFCs part.
        pub laws: Laws = Laws::Rfc,
        /// Tick of the kernel, by which timers of a sender expire late on average (with `laws = "linux"`): 4 ms at 250 Hz.
        pub kernel_tick: Span = Span::ZERO,
        /// Congestion control of the sender.
        pub congestion: congestion::Chosen = congestion::Chosen::Word(congestion::Spec::Reno),
        /// Octets of data in a full segment; the default fills an Ethernet frame.
        pub mss: u32 = 1460,
        /// Receive buffer, hence largest window; above 65535 bytes the window field is scaled (RFC 1323) and the
        /// window rounded down to a value of the scaled field. The default is that of the studies.
        pub window: Bytes = Bytes(65_536),
        /// Whether the window-scale option is used; if not, a 64 KiB buffer advertises 65535 bytes.
        pub window_scaling: bool = true,
        /// Whether segments and ACKs carry the timestamp option (RFC 1323): twelve octets each, which reduce the data
        /// of a full segment, and a round-trip measurement with every ACK of new data.
        pub timestamps: bool = false,
        /// Explicit congestion notification (RFC 3168): segments say that ports may mark them instead of losing them,
        /// and the sender reacts to a mark as to a loss, at most once per round trip and without a retransmission.
        pub ecn: bool = false,
        /// Which packets ports may mark then.
        pub ect: EctPackets = EctPackets::Data,
        /// These packets bear ECT(1) instead of ECT(0): the sender is one of L4S (RFC 9331), whose packets `dualpi2` puts into its
        /// queue of low latency. Only with `congestion = "dctcp"` and `"prague"`, the scalable congestion controls.
        pub l4s: bool = false,
        /// What acknowledgements report about marks; `accecn` and `counters` only with `congestion = "prague"`, which needs one of them.
        pub feedback: Feedback = Feedback::Rfc3168,
        /// Acknowledge every second full segment, or at the next tick of the fast timer (4.4BSD); if not,
        /// every segment.
        pub delayed_ack: bool = true,
        /// Tick of the retransmission and persist timers and of round-trip measurements: 500 ms in 4.4BSD; 1 ps
        /// gives exact timers. A timer of n ticks lasts between n - 1 and n ticks.
        pub slow_timer: Span = Span::millis(500),
        /// Tick of the delayed-acknowledgement timer: 200 ms in 4.4BSD.
        pub fast_timer: Span = Span::millis(200),
        /// Where the ticks of both timers fall.
        pub timer_phase: Phase = Phase::Random,
        /// Shortest retransmission timeout: 1 s in 4.4BSD (TCPTV_MIN). Never less than one tick.
        pub min_rto: Span = Span::secs(1),
        /// What `min_rto` bounds.
        pub rto_floor: RtoFloor = RtoFloor::Sum,
        /// Longest retransmission timeout, back-off included: 64 s in 4.4BSD (TCPTV_REXMTMAX).
        pub max_rto: Span = Span::secs(64),
        /// How consecutive timeouts grow.
        pub backoff: Backoff = Backoff::Rfc6298,
        /// First retransmission timeout while there is no measurement: 1 s in RFC 6298, where a lost SYN is repeated after
        /// 1, 3, 7, … s; 6 s in 4.4BSD, where it is repeated after 6, 30 and 78 s.
        pub initial_rto: Span = Span::secs(1),
        /// Smoothed round-trip time before the first measurement; together with initial_mdev it replaces
        /// initial_rto by their sum srtt + 4 mdev.
        pub initial_srtt: Option<Span> = None,
        /// Mean deviation of the round-trip time before the first measurement.
        pub initial_mdev: Option<Span> = None,
        /// Role of the initial values in the first measurement and in the back-off before it.
        pub initial_estimate: InitialEstimate = InitialEstimate::Rfc6298,
        /// Each measurement is lengthened by a uniform random time up to this one, against phase effects
        /// (L. Kalampoukas and A. Varma, "Performance of TCP over Multi-Hop ATM Networks", 1995, section 3).
        pub rtt_jitter: Span = Span::ZERO,
        /// Congestion window of a new connection and after an idle time, in segments: 1 in 4.4BSD.
        pub initial_window: u32 = 1,
        /// Class in shared memories of the new data that a connection sends before its first acknowledgement, hence of its first
        /// `initial_window` segments: the name of a section `[queue.NAME]`, by default the flow's class. The sender marks these
        /// packets. What it sends again is of the flow's own class. Queues of ports and their schedulers do not heed the mark.
        pub unscheduled: Option<String> = None,
        /// Slow-start threshold of a new connection, up to and at which it slow-starts; unlimited in 4.4BSD.
        pub initial_ssthresh: Option<Bytes> = None,
        /// Duplicate ACKs that trigger a fast retransmission: 3 (4.3BSD-Reno, RFC 2581); a number that no window can
        /// produce turns fast retransmission off.
        pub dupack_threshold: u32 = 3,
        /// Which partial ACKs restart the retransmission timer (new-reno only).
        pub partial_ack: PartialAck = PartialAck::Impatient,
        /// After a timeout, no fast retransmission before more than everything sent until then is acknowledged (RFC
        /// 2582 section 5, the careful variant; new-reno only).
        pub send_high: bool = true,
        /// Selective acknowledgements (RFC 2018): ACKs report what has arrived out of order, and the sender repairs
        /// losses by the algorithm `recovery`.
        pub sack: bool = false,
        /// Recovery algorithm: what counts as lost, and how fast the window is refilled (with sack).
        pub recovery: recovery::Spec = recovery::Spec::Rfc6675,
        /// Restart the retransmission timer also when a block reports data that had been sent before the first unacknowledged segment was
        /// sent last, as Linux does (`tcp_clean_rtx_queue`); if not, only when new data is acknowledged (RFC 6298, 5.3; with sack).
        pub sack_restarts_timer: bool = false,
        /// ACKs report segments that arrive twice (RFC 2883). The sender then takes back a reduction of the window when all that it sent again
        /// had arrived, as Linux does, and `rack` waits longer for packets that others have overtaken (RFC 8985; with sack).
        pub dsack: bool = false,
        /// Let duplicate ACKs send new segments before a loss is found (RFC 3042; with sack).
        pub limited_transmit: bool = true,
        /// Open the window by the octets that are acknowledged instead of by the number of ACKs (RFC 3465, with a limit of two
        /// segments an ACK in slow start).
        pub byte_counting: bool = false,
        /// C, how fast the window grows, in segments per second³ (cubic only): RFC 9438 section 5.1.
        pub cubic_c: f64 = 0.4,
        /// How the window follows the curve and the window that Reno would have (cubic only).
        pub cubic_law: congestion::cubic::CubicLaw = congestion::cubic::CubicLaw::Rfc9438,
        /// How slow start ends before a loss (cubic only).
        pub hystart: hystart::Mode = hystart::Mode::Linux,
        /// Probe for bandwidth after as many rounds as the window has packets, at most 63, as the draft does for the sake of senders of Reno;
        /// if not, only after 2 to 3 s: for control experiments (bbr only).
        pub bbr_rounds: bool = true,
        /// Bound rate and flight by losses, as the draft does; if not, losses are only repaired: for control experiments (bbr only).
        pub bbr_loss_bounds: bool = true,
        /// Shortest virtual round trip, by whose clock flows with shorter round trips grow; with 0 s each follows its own round trip, as
        /// with `dctcp`: for control experiments (prague only).
        pub prague_rtt: Span = Span::millis(25),
        /// Open the window by a further mss/8 with each ACK in congestion avoidance, as 4.4BSD-Lite does although
        /// it should not (RFC 2525, "extra additive constant").
        pub extra_increase: bool = false,
        /// A timeout in fast recovery halves the window together with what duplicate ACKs have added to it, as 4.4BSD does
        /// and RFC 2582 by its letter; if not, without that part.
        pub halve_inflation: bool = false,
        /// A fast recovery that three duplicates began and no fourth followed leaves the window inflated by these three, as
        /// in 4.4BSD-Lite, which shrinks it only after more than three (RFC 2525, "failure of window deflation after loss
        /// recovery"; reno only).
        pub missed_deflation: bool = false,
        /// One fast retransmission in a window of data: no other one before more is acknowledged than had been sent at the last
        /// one or at a timeout, as in ns-2 by default (reno only).
        pub one_fast_retransmit: bool = false,
        /// Open each connection with SYN and SYN-ACK; if not, it is established at once.
        pub handshake: bool = true,
        /// The sender spreads its packets over the round trip instead of sending a window at once, as Linux does: at 2 · cwnd ÷ srtt
        /// in slow start below half of ssthresh, else at 1.2 · cwnd ÷ srtt. With `pacing.burst` up to that many packets or octets follow
        /// each other, by default 1 packet. "auto": as the congestion control demands; `bbr` paces, at its own rate and with its own
        /// bursts, and the others do not.
        pub pacing: Pacing = Pacing::Auto,
    }
}

impl Transport for Params {
    fn carries(&self) -> Traffic {
        Traffic::Data
    }

    fn header_bytes(&self) -> u32 {
        HEADERS
    }

    fn needs_for(&self, _: &source::Spec) -> Option<Needs> {
        Some(Needs {
            packet: Some(u64::from(HEADERS) + u64::from(self.mss)),
            packet_key: "transport.mss",
            reverse: Some(HEADERS + self.option_bytes() + if self.sack { sack::LARGEST } else { 0 }),
        })
    }

    fn ecn(&self) -> bool {
        self.ecn
    }

    fn ect(&self) -> Ecn {
        Ecn::ECT.with(Ecn::L4S.when(self.l4s)).when(self.ecn)
    }

    fn option_bytes(&self) -> u32 {
        if self.timestamps { TIMESTAMPS } else { 0 }
    }

    fn pacing(&self) -> Option<&pacer::Settings> {
        self.pacing.settings(self.congestion.pace_setter().is_some())
    }

    fn pace_setter(&self) -> Option<&'static str> {
        self.congestion.pace_setter()
    }

    fn check(&self) -> Result<(), Refused> {
        self.check_segments()?;
        self.check_window()?;
        self.check_timers()?;
        self.check_marks()?;
        self.pacing.check(u64::from(HEADERS) + u64::from(self.mss))?;
        self.check_congestion()
    }
}

impl Params {
    /// Refuse segments that IP or their options do not allow.
    fn check_segments(&self) -> Result<(), Refused> {
        refuse_if(self.mss == 0, "mss", "must be at least 1 byte")?;
        refuse_if(
            self.timestamps && self.mss <= TIMESTAMPS,
            "mss",
            "a segment with timestamps carries at least 13 bytes, 12 of them the option",
        )?;
        refuse_if(self.mss > 65_535, "mss", "must be at most 65535 bytes")
    }

    /// Refuse a window that the receiver cannot advertise, or that holds no segment.
    fn check_window(&self) -> Result<(), Refused> {
        refuse_if(
            !self.window_scaling && self.window.0 > 65_536,
            "window",
            "more than 64 KiB cannot be advertised without window_scaling",
        )?;
        refuse_if(
            self.window.0 > MAX_WINDOW_FIELD << MAX_SHIFT,
            "window",
            "more than 1073725440 bytes cannot be advertised (RFC 1323)",
        )?;
        refuse_if(
            self.advertised_window() < u64::from(self.mss),
            "window",
            "must hold at least one segment (mss)",
        )
    }

    /// Refuse timers and times that cannot be kept.
    fn check_timers(&self) -> Result<(), Refused> {
        refuse_if(
            self.slow_timer == Span::ZERO,
            "slow_timer",
            "must be longer than 0 s; \"1 ps\" gives exact timers",
        )?;
        refuse_if(
            self.fast_timer == Span::ZERO,
            "fast_timer",
            "must be longer than 0 s; \"1 ps\" gives exact timers",
        )?;
        refuse_if(self.max_rto == Span::ZERO, "max_rto", "must be longer than 0 s")?;
        refuse_if(self.min_rto > self.max_rto, "min_rto", "must be at most max_rto")?;
        refuse_if(self.initial_rto == Span::ZERO, "initial_rto", "must be longer than 0 s")?;
        refuse_if(
            self.initial_srtt.is_some() && self.initial_mdev.is_none(),
            "initial_mdev",
            "it is needed together with initial_srtt",
        )?;
        refuse_if(
            self.initial_mdev.is_some() && self.initial_srtt.is_none(),
            "initial_srtt",
            "it is needed together with initial_mdev",
        )?;
        refuse_if(self.initial_srtt == Some(Span::ZERO), "initial_srtt", "must be longer than 0 s")?;
        if let Some((key, _)) = self.spans().into_iter().find(|(_, span)| *span > MAX_SPAN) {
            return refuse(key, "must be at most 24 hours");
        }
        Ok(())
    }

    /// Refuse marks together with a congestion control that does not react to them as intended.
    fn check_marks(&self) -> Result<(), Refused> {
        let is_prague = self.congestion == congestion::Spec::Prague;
        let is_dctcp = self.congestion == congestion::Spec::Dctcp;
        refuse_if(
            is_dctcp && !self.ecn,
            "ecn",
            "must be true with congestion = \"dctcp\", which reacts to marks",
        )?;
        refuse_if(
            is_prague && !self.ecn,
            "ecn",
            "must be true with congestion = \"prague\", which reacts to marks",
        )?;
        refuse_if(
            self.l4s && !self.congestion.echoes_each() && !is_prague,
            "l4s",
            "must be false without congestion = \"dctcp\", \"prague\" or a program with echo_each: ECT(1) is for scalable senders (RFC \
             9331)",
        )?;
        refuse_if(
            is_prague && !self.l4s,
            "l4s",
            "must be true with congestion = \"prague\", a sender of L4S, whose packets bear ECT(1)",
        )?;
        self.check_feedback(is_prague)
    }

    /// Refuse acknowledgements whose report of marks the congestion control cannot use.
    fn check_feedback(&self, is_prague: bool) -> Result<(), Refused> {
        refuse_if(
            is_prague && self.feedback == Feedback::Rfc3168,
            "feedback",
            "must be \"accecn\" or \"counters\" with congestion = \"prague\", which needs the number of marks",
        )?;
        refuse_if(
            !is_prague && self.feedback != Feedback::Rfc3168,
            "feedback",
            "must be \"rfc3168\" without congestion = \"prague\"; dctcp has exact echoes by itself (RFC 8257)",
        )
    }

    /// Refuse parameters with which congestion control cannot start or grow.
    fn check_congestion(&self) -> Result<(), Refused> {
        refuse_if(!(self.cubic_c > 0.0 && self.cubic_c.is_finite()), "cubic_c", "must be greater than 0")?;
        self.congestion.measuring().map_or(Ok(()), |word| self.check_measuring(word))?;
        self.congestion.pace_setter().map_or(Ok(()), |word| self.check_pacing(word))?;
        refuse_if(self.prague_rtt > Span::secs(1), "prague_rtt", "must be at most 1 s")?;
        refuse_if(self.initial_window == 0, "initial_window", "must be at least 1 segment")?;
        refuse_if(self.initial_ssthresh == Some(Bytes(0)), "initial_ssthresh", "must be at least 1 byte")?;
        refuse_if(self.dupack_threshold == 0, "dupack_threshold", "must be at least 1 duplicate ACK")
    }

    /// Refuse what a congestion control that measures its path cannot work with.
    fn check_measuring(&self, word: &str) -> Result<(), Refused> {
        refuse_if(
            !self.sack,
            "sack",
            format!("must be true with congestion = \"{word}\", which measures what each segment delivers"),
        )?;
        refuse_if(
            self.ecn && word == "bbr",
            "ecn",
            "must be false with congestion = \"bbr\": the draft of BBR has no reaction to marks",
        )
    }

    /// Refuse to send without pacing by a congestion control that sets the rate.
    fn check_pacing(&self, word: &str) -> Result<(), Refused> {
        refuse_if(
            self.pacing == Pacing::Off,
            "pacing",
            format!(
                "must be \"auto\" or true with congestion = \"{word}\", which sends by a rate; leave it out"
            ),
        )
    }

    /// Return the octets of data in a full segment: `mss` without the options.
    pub fn segment_data(&self) -> u64 {
        u64::from(self.mss - self.option_bytes())
    }

    /// Return the ECN field of segments without new data.
    fn ect_of_others(&self) -> Ecn {
        self.ect().when(self.ect == EctPackets::All)
    }

    /// Return whether an ACK echoes the mark of the segments that it acknowledges, instead of repeating a mark until
    /// the sender has reacted.
    fn echoes_each(&self) -> bool {
        self.congestion.echoes_each()
    }

    /// Return the number of bits by which the window field is shifted (RFC 1323 section 2.3): the smallest shift with
    /// which the field can express the whole window.
    pub fn window_shift(&self) -> u32 {
        let enough = |shift: &u32| MAX_WINDOW_FIELD << shift >= self.window.0;
        if self.window_scaling { (0..MAX_SHIFT).find(enough).unwrap_or(MAX_SHIFT) } else { 0 }
    }

    /// Return the largest window that the receiver can advertise, in octets.
    pub fn advertised_window(&self) -> u64 {
        let shift = self.window_shift();
        self.window.0.min(MAX_WINDOW_FIELD << shift) >> shift << shift
    }

    /// Return every time that timers and estimators count in ticks, with its key.
    fn spans(&self) -> [(&'static str, Span); 8] {
        [
            ("slow_timer", self.slow_timer),
            ("fast_timer", self.fast_timer),
            ("max_rto", self.max_rto),
            ("kernel_tick", self.kernel_tick),
            ("initial_rto", self.initial_rto),
            ("initial_srtt", self.initial_srtt.unwrap_or_default()),
            ("initial_mdev", self.initial_mdev.unwrap_or_default()),
            ("rtt_jitter", self.rtt_jitter),
        ]
    }
}

/// Octets of a TCP header without options (RFC 793).
pub const HEADER: u32 = 20;
/// Octets of the IP and TCP headers before options and data.
pub const HEADERS: u32 = IP_HEADER + HEADER;
/// Octets of the timestamp option with its padding (RFC 1323 appendix A).
const TIMESTAMPS: u32 = 12;
/// The largest value of the window field of a header.
const MAX_WINDOW_FIELD: u64 = 65_535;
/// The largest shift of RFC 1323 section 2.3.
const MAX_SHIFT: u32 = 14;
/// Greatest length of times and ticks: longer times would overflow the estimator's fixed-point numbers at the finest
/// tick, and longer ticks the sums of the clock.
const MAX_SPAN: Span = Span::secs(86_400);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::spec::{Section, Table};
    use crate::language::tree::{Node, TextPlace, Value};

    pub(super) fn defaults() -> Params {
        let empty = Node { value: Value::Table(Vec::new()), place: TextPlace::default() };
        Params::take(&mut Table::new(&empty, "transport").unwrap()).unwrap()
    }

    #[test]
    fn the_defaults_are_ticks_of_44bsd_and_timeouts_of_rfc_6298_and_pass_the_check() {
        assert_eq!(defaults().check(), Ok(()));
        assert_eq!(defaults().slow_timer, Span::millis(500));
        assert_eq!((defaults().initial_rto, defaults().min_rto), (Span::secs(1), Span::secs(1)));
        assert_eq!(
            (defaults().backoff, defaults().initial_estimate),
            (Backoff::Rfc6298, InitialEstimate::Rfc6298)
        );
        assert_eq!(defaults().congestion, congestion::Spec::Reno);
    }

    #[test]
    fn a_window_above_65535_bytes_is_scaled_and_rounded_down() {
        let window = |window, window_scaling| Params { window: Bytes(window), window_scaling, ..defaults() };
        assert_eq!(window(65_535, true).window_shift(), 0);
        assert_eq!(window(65_536, true).window_shift(), 1);
        assert_eq!(window(65_536, true).advertised_window(), 65_536);
        assert_eq!(window(65_536, false).advertised_window(), 65_535);
        assert_eq!(window(131_071, true).window_shift(), 2);
        assert_eq!(window(131_071, true).advertised_window(), 131_068);
        assert_eq!(window(MAX_WINDOW_FIELD << MAX_SHIFT, true).window_shift(), 14);
    }

    fn bbr() -> Params {
        Params { congestion: congestion::Spec::Bbr.into(), sack: true, ..defaults() }
    }

    fn prague() -> Params {
        let feedback = Feedback::Counters;
        Params {
            congestion: congestion::Spec::Prague.into(),
            sack: true,
            ecn: true,
            l4s: true,
            feedback,
            ..defaults()
        }
    }

    #[test]
    fn a_control_that_measures_paces_unless_it_is_refused_and_others_do_not() {
        assert!([bbr(), prague()].iter().all(|params| params.check().is_ok() && params.pacing().is_some()));
        assert!(defaults().pacing().is_none());
    }

    #[test]
    fn impossible_combinations_are_refused_with_the_key_that_is_wrong() {
        let day = Span::secs(86_401);
        let cases = [
            ("mss", Params { mss: 0, ..defaults() }),
            ("mss", Params { mss: 65_536, window: Bytes(1 << 20), ..defaults() }),
            ("window", Params { window: Bytes(1459), ..defaults() }),
            ("window", Params { window: Bytes(65_537), window_scaling: false, ..defaults() }),
            ("window", Params { window: Bytes(1 << 30), ..defaults() }),
            ("window", Params { mss: 1461, window: Bytes(1460), ..defaults() }),
            ("slow_timer", Params { slow_timer: Span::ZERO, ..defaults() }),
            ("slow_timer", Params { slow_timer: day, ..defaults() }),
            ("slow_timer", Params { slow_timer: Span(u64::MAX), ..defaults() }),
            ("fast_timer", Params { fast_timer: Span::ZERO, ..defaults() }),
            ("fast_timer", Params { fast_timer: day, ..defaults() }),
            ("rtt_jitter", Params { rtt_jitter: day, ..defaults() }),
            ("initial_rto", Params { initial_rto: day, ..defaults() }),
            ("max_rto", Params { max_rto: Span::ZERO, ..defaults() }),
            ("max_rto", Params { max_rto: day, ..defaults() }),
            ("min_rto", Params { min_rto: Span::secs(65), ..defaults() }),
            ("initial_rto", Params { initial_rto: Span::ZERO, ..defaults() }),
            ("initial_mdev", Params { initial_srtt: Some(Span::millis(1)), ..defaults() }),
            ("initial_srtt", Params { initial_mdev: Some(Span::millis(1)), ..defaults() }),
            (
                "initial_mdev",
                Params { initial_srtt: Some(Span::millis(1)), initial_mdev: Some(day), ..defaults() },
            ),
            (
                "initial_srtt",
                Params { initial_srtt: Some(day), initial_mdev: Some(Span::millis(1)), ..defaults() },
            ),
            ("mss", Params { mss: 12, timestamps: true, ..defaults() }),
            (
                "initial_srtt",
                Params { initial_srtt: Some(Span::ZERO), initial_mdev: Some(Span::ZERO), ..defaults() },
            ),
            ("initial_window", Params { initial_window: 0, ..defaults() }),
            ("initial_ssthresh", Params { initial_ssthresh: Some(Bytes(0)), ..defaults() }),
            ("dupack_threshold", Params { dupack_threshold: 0, ..defaults() }),
            ("prague_rtt", Params { prague_rtt: Span::millis(1001), ..defaults() }),
            ("sack", Params { sack: false, ..bbr() }),
            ("pacing", Params { pacing: Pacing::Off, ..bbr() }),
            ("ecn", Params { ecn: true, ..bbr() }),
            ("feedback", Params { feedback: Feedback::Accecn, ..bbr() }),
            ("feedback", Params { feedback: Feedback::Rfc3168, ..prague() }),
            ("ecn", Params { ecn: false, ..prague() }),
            ("l4s", Params { l4s: false, ..prague() }),
            ("sack", Params { sack: false, ..prague() }),
            ("l4s", Params { l4s: true, ecn: true, ..defaults() }),
        ];
        for (key, params) in cases {
            assert_eq!(params.check().unwrap_err().key, Some(key));
        }
    }

    #[test]
    fn what_is_just_possible_is_allowed() {
        let (day, largest) = (Span::secs(86_400), MAX_WINDOW_FIELD << MAX_SHIFT);
        let cases = [
            Params { mss: 65_535, window: Bytes(1 << 20), ..defaults() },
            Params { mss: 13, timestamps: true, ..defaults() },
            Params { window: Bytes(65_536), window_scaling: false, ..defaults() },
            Params { window: Bytes(largest), window_scaling: true, ..defaults() },
            Params { mss: 1460, window: Bytes(1460), ..defaults() },
            Params { min_rto: Span::secs(9), max_rto: Span::secs(9), ..defaults() },
            Params { max_rto: day, slow_timer: day, fast_timer: day, ..defaults() },
        ];
        for params in cases {
            assert_eq!(params.check(), Ok(()), "{params:?}");
        }
    }

    #[test]
    fn a_segment_is_small() {
        assert!(size_of::<Segment>() <= 40);
    }
}
