//! Pacing: a sender with a window spreads its packets over the round trip.
//!
//! *Source*: Linux, `tcp_update_pacing_rate` and `tcp_update_skb_after_send` (net/ipv4/tcp_input.c, tcp_output.c), and the
//! queueing discipline `fq`, which counts whole packets. The rate is 2 · window ÷ srtt in slow start as long as cwnd is less
//! than half of ssthresh, else 1.2 · window ÷ srtt. The window is the larger one of cwnd and the octets in flight.
//!
//! After a packet that starts at `t` the next one is due at `max(t, due)` plus the time of the packet's octets at that rate.
//! The octets are those that the line carries: headers and what the line adds count, and a short packet counts as the least
//! one of the line. Due times carry their remainders, so the distances of packets add up exactly.
//!
//! Three details are not those of Linux: before the first round trip is measured, which the handshake does, the first window takes 1 ms
//! (`bbr_init_pacing_rate_from_rtt` assumes a round trip of 1 ms); round trips are measured in nanoseconds instead of
//! microseconds; and by default a burst is one packet, where Linux sends at least two segments at a time.

use serde_json::{Value as Json, json};

use crate::adaptation::packet::Padding;
use crate::language::spec::{Field, Nested, Shape};
use crate::language::tree::{Fault, Node, Value};
use crate::number::{self, Fraction};
use crate::pace::{ExactTime, TransmissionTime};
use crate::refused::{Refused, refuse_if};
use crate::section;
use crate::units::{Bytes, Quantity, Rate, Span, Time};

use super::congestion::Pace;

/// Whether a sender paces its packets.
#[derive(Clone, Debug, PartialEq)]
pub enum Pacing {
    /// As its congestion control demands: `bbr` paces, and none of those that send by a window alone.
    Auto,
    /// It sends as soon as the window permits.
    Off,
    /// It paces.
    On(Settings),
}

section! {
    /// Pacing of a sender.
    pub struct Settings {
        /// Packets, or octets with the headers of IP and TCP, that a sender may send in a row; by default 1 packet, or what its
        /// congestion control sets (`bbr`: the send quantum).
        pub burst: Option<Burst> = None,
    }
}

/// The size of a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Burst {
    /// Full packets.
    Packets(u64),
    /// Octets, with the headers of IP and TCP.
    Octets(Bytes),
}

impl Pacing {
    /// Return the settings of a sender that paces.
    /// `is_demanded` by its congestion control, it paces by default.
    pub fn settings(&self, is_demanded: bool) -> Option<&Settings> {
        const PLAIN: &Settings = &Settings { burst: None };
        match self {
            Pacing::On(settings) => Some(settings),
            Pacing::Auto => is_demanded.then_some(PLAIN),
            Pacing::Off => None,
        }
    }

    /// Refuse a burst that holds no packet; a full one has `packet` octets.
    pub(super) fn check(&self, packet: u64) -> Result<(), Refused> {
        let octets =
            self.settings(false).and_then(|settings| settings.burst).map(|burst| burst.octets(packet));
        let message = format!("must be at least 1 packet, which has {packet} bytes with its headers");
        refuse_if(octets.is_some_and(|octets| octets < packet), "pacing.burst", message)
    }
}

impl Field for Pacing {
    fn read(node: &Node, path: &str) -> Result<Self, Fault> {
        match &node.value {
            Value::Bool(false) => Ok(Pacing::Off),
            Value::Bool(true) => Ok(Pacing::On(Settings { burst: None })),
            Value::Text(word) if word == "auto" => Ok(Pacing::Auto),
            Value::Table(_) => Nested::read(node, path).map(|Nested(settings)| Pacing::On(settings)),
            Value::Text(word) if word == "fq" => {
                Err(node.fault(path, "must be true for what \"fq\" does in Linux: its senders pace"))
            }
            _ => {
                let message = format!(
                    "must be true, false, \"auto\" or a table, as in {{ burst = \"2 packets\" }}, not {}",
                    node.show()
                );
                Err(node.fault(path, message))
            }
        }
    }

    fn write(&self) -> Json {
        match self {
            Pacing::Auto => "auto".into(),
            Pacing::Off => false.into(),
            Pacing::On(Settings { burst: None }) => true.into(),
            Pacing::On(settings) => Nested(settings.clone()).write(),
        }
    }

    fn shape() -> Shape {
        let table = Nested::<Settings>::shape().schema;
        let schema = json!({ "oneOf": [{ "type": "boolean" }, { "const": "auto" }, table] });
        Shape { unit: "true, false, auto or table", schema }
    }
}

impl Burst {
    /// Return the octets of the burst, where a full packet has `packet` octets.
    fn octets(self, packet: u64) -> u64 {
        match self {
            Burst::Packets(packets) => packets.saturating_mul(packet),
            Burst::Octets(octets) => octets.0,
        }
    }

    /// Return the burst as a scenario writes it.
    pub(crate) fn show(self) -> String {
        match self {
            Burst::Packets(1) => "1 packet".to_string(),
            Burst::Packets(packets) => format!("{packets} packets"),
            Burst::Octets(octets) => octets.show(),
        }
    }

    fn parse(text: &str) -> Option<Burst> {
        let (number, unit) = number::split(text);
        let packets = || number::times(number, 1, Fraction::Refused).ok().map(Burst::Packets);
        if matches!(unit, "packet" | "packets") {
            packets()
        } else {
            Bytes::parse(text).ok().map(Burst::Octets)
        }
    }
}

impl Field for Burst {
    fn read(node: &Node, path: &str) -> Result<Self, Fault> {
        let burst = node.text().and_then(|text| Burst::parse(text.trim_ascii()));
        let message =
            || format!("must be packets or octets, as in \"2 packets\" or \"3 kB\", not {}", node.show());
        burst.ok_or_else(|| node.fault(path, message()))
    }

    fn write(&self) -> Json {
        self.show().into()
    }

    fn shape() -> Shape {
        let packets = json!({ "type": "string", "pattern": "^[0-9]+ packets?$", "examples": ["2 packets"] });
        Shape { unit: "packets or octets", schema: json!({ "anyOf": [packets, Bytes::shape().schema] }) }
    }
}

/// What the octets of a segment become on the line of a host.
#[derive(Clone, Copy, Debug, Default)]
pub struct PacketSizes {
    /// Octets of IP and TCP headers, options included.
    pub headers: u32,
    /// What the line adds.
    pub padding: Padding,
    /// Least octets of a packet on the line.
    pub minimum: u16,
}

impl PacketSizes {
    /// Return the octets that the line carries for a segment of `len` octets of data.
    fn on_line(&self, len: u64) -> u16 {
        self.padding.unit(self.headers + len as u32).max(self.minimum)
    }
}

/// Round trip of a connection without a measurement, in nanoseconds.
const FIRST_ROUND_TRIP: u64 = 1_000_000;
/// The highest rate, so that remainders fit.
const FASTEST: u64 = 1 << 62;
const PS_PER_NS: u64 = 1000;
/// Bits of a smoothed round-trip time after the binary point.
const SRTT_BITS: u32 = 3;

/// What determines the rate of a paced sender at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    /// The larger one of the congestion window and what is in flight, in octets.
    pub window: u64,
    /// Whether cwnd is less than half of ssthresh.
    pub is_early: bool,
}

/// When a sender may send its next packet.
#[derive(Clone, Debug)]
pub struct Pacer {
    sizes: PacketSizes,
    /// Octets of a full packet, and of a burst.
    packet: u64,
    burst: u64,
    /// Whether a congestion control that sets the rate sets the burst as well.
    is_burst_free: bool,
    /// The smoothed round-trip time in eighths of a nanosecond; 0 before the first measurement.
    srtt: u64,
    rate: Rate,
    /// The time of packets of the latest size on the line, at the present rate.
    octets: u16,
    time: TransmissionTime,
    /// When the next packet is due.
    next: ExactTime,
    /// Octets that are left of a burst that has begun.
    left: u64,
    /// The place in the order of the senders that wait for the line.
    place: Time,
    /// Whether the sender waits to send a packet, and whether it may send one now.
    waits: bool,
    may_send: bool,
}

impl Pacer {
    /// Build the pacer of a sender whose full segments carry `data` octets.
    pub fn new(settings: &Settings, sizes: PacketSizes, data: u64) -> Pacer {
        let packet = u64::from(sizes.headers) + data;
        Pacer {
            sizes,
            packet,
            burst: settings.burst.unwrap_or(Burst::Packets(1)).octets(packet),
            is_burst_free: settings.burst.is_none(),
            srtt: 0,
            rate: Rate(1),
            octets: 0,
            time: TransmissionTime::default(),
            next: ExactTime::default(),
            left: 0,
            place: Time::ZERO,
            waits: false,
            may_send: false,
        }
    }

    /// Begin a new connection: without a round trip.
    pub(super) fn restart(&mut self) {
        (self.srtt, self.left, self.waits) = (0, 0, false);
    }

    /// Add the measurement of a round trip, as `tcp_rtt_estimator` smooths it.
    pub(super) fn measured(&mut self, rtt: Span) {
        let rtt = (rtt.0 / PS_PER_NS).max(1);
        self.srtt = match self.srtt {
            0 => rtt << SRTT_BITS,
            srtt => srtt - (srtt >> SRTT_BITS) + rtt,
        };
    }

    /// Set the rate by the window in use.
    pub(super) fn renew(&mut self, Use { window, is_early }: Use) {
        let (percent, srtt) = match (self.srtt, is_early) {
            (0, _) => (100, FIRST_ROUND_TRIP << SRTT_BITS),
            (srtt, true) => (200, srtt),
            (srtt, false) => (120, srtt),
        };
        self.set_rate(rate_of(window, percent, srtt));
    }

    /// Set the rate and the burst that a congestion control sets, both in octets of data.
    pub(super) fn follow(&mut self, pace: Pace) {
        let data = self.packet - u64::from(self.sizes.headers);
        let rate = u128::from(pace.rate.0) * u128::from(self.sizes.on_line(data)) / u128::from(data);
        self.set_rate(Rate(rate.clamp(1, FASTEST.into()) as u64));
        if self.is_burst_free {
            self.burst = (pace.quantum / data).max(1) * self.packet;
        }
    }

    /// Set the rate of the packets that follow; what has been sent keeps its distance.
    pub(crate) fn set_rate(&mut self, rate: Rate) {
        if rate == self.rate {
            return;
        }
        self.next.carry = rescaled(self.next.carry, self.rate.0, rate.0);
        (self.rate, self.octets) = (rate, 0);
    }

    /// Return the present rate.
    pub fn rate(&self) -> Rate {
        self.rate
    }

    /// Record that a segment of `len` octets of data starts at `now`.
    pub(crate) fn sent(&mut self, now: Time, len: u64) {
        let octets = self.sizes.on_line(len);
        if octets != self.octets {
            (self.octets, self.time) = (octets, TransmissionTime::of(self.rate, 8 * u64::from(octets)));
        }
        self.next = self.next.not_before(now).next(&self.time);
    }

    /// Return whether a segment of `len` octets of data may be sent now; if not, the sender waits for its turn.
    pub(crate) fn admits(&mut self, now: Time, len: u64) -> bool {
        if std::mem::take(&mut self.may_send) {
            self.left = self.left.saturating_sub(u64::from(self.sizes.headers) + len);
            return true;
        }
        if self.left < self.packet {
            (self.left, self.place) = (0, self.next.time.max(now));
        }
        self.waits = true;
        false
    }

    /// Forget that the sender waits, before it looks for the next segment.
    pub(super) fn look_anew(&mut self) {
        self.waits = false;
    }

    /// Begin the turn of the sender: it may send one packet, the first one of a burst unless one has begun.
    pub(crate) fn begin_turn(&mut self) {
        if self.left < self.packet {
            self.left = self.burst;
        }
        (self.may_send, self.waits) = (true, false);
    }

    /// End the turn; a burst ends unless the sender has sent a packet and waits to send another one.
    pub(crate) fn end_turn(&mut self) {
        if std::mem::take(&mut self.may_send) || !self.waits {
            self.left = 0;
        }
    }

    /// Return whether the sender is in its turn.
    pub(super) fn is_in_turn(&self) -> bool {
        self.may_send
    }

    /// Return whether the sender waits to send a packet.
    pub(super) fn waits(&self) -> bool {
        self.waits
    }

    /// If the sender waits to send a packet, return its place in the order of the senders of a line. It may send at this
    /// instant at the earliest; within a burst the place of the first packet remains.
    pub fn place(&self) -> Option<Time> {
        self.waits.then_some(self.place)
    }
}

/// Return a remainder below `old` in parts of `new`, rounded down. Below 1 Tb/s it is computed in steps of 2⁻²⁴, at a fifth of the time.
fn rescaled(carry: u64, old: u64, new: u64) -> u64 {
    const BITS: u32 = 24;
    const MOST: u64 = 1 << (u64::BITS - BITS);
    if old < MOST && new < MOST {
        return ((carry << BITS) / old * new) >> BITS;
    }
    (u128::from(carry) * u128::from(new) / u128::from(old)) as u64
}

/// Return the rate at which `percent` of a window of `octets` octets last for a round trip of `srtt` eighths of a
/// nanosecond.
fn rate_of(octets: u64, percent: u64, srtt: u64) -> Rate {
    /// A second in eighths of a nanosecond, divided by 100 percent.
    const SECOND: u64 = 80_000_000;
    let bits = octets.checked_mul(8 * percent * SECOND);
    let wide = || u128::from(octets) * u128::from(8 * percent * SECOND) / u128::from(srtt);
    let rate = bits.map_or_else(|| u64::try_from(wide()).unwrap_or(u64::MAX), |bits| bits / srtt);
    Rate(rate.clamp(1, FASTEST))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vectors::vector;

    /// Octets of data in a full segment, whose packet has 1500.
    const DATA: u64 = 1460;

    fn pacer(packets: u64) -> Pacer {
        let burst = (packets > 1).then_some(Burst::Packets(packets));
        Pacer::new(&Settings { burst }, PacketSizes { headers: 40, ..PacketSizes::default() }, DATA)
    }

    fn list(case: &Json, key: &str) -> Vec<u64> {
        case[key].as_array().unwrap().iter().map(|number| number.as_u64().unwrap()).collect()
    }

    /// Return when packets of these octets start that nothing holds up but the pace; the second one not before `wait`.
    fn starts(mut pacer: Pacer, rate: u64, octets: &[u64], wait: Time) -> Vec<Time> {
        pacer.set_rate(Rate(rate));
        let mut now = Time::ZERO;
        let mut starts = vec![now];
        for (number, octets) in octets.iter().enumerate() {
            pacer.begin_turn();
            assert!(pacer.admits(now, octets - 40));
            pacer.sent(now, octets - 40);
            now = if number == 0 { now.max(wait) } else { now };
            pacer.look_anew();
            assert!(!pacer.admits(now, DATA));
            pacer.end_turn();
            now = pacer.place().unwrap().max(now);
            starts.push(now);
        }
        starts
    }

    #[test]
    fn round_trips_are_smoothed_and_rates_follow_from_windows_as_in_linux() {
        let vectors = vector("pacing");
        for case in vectors["srtt"].as_array().unwrap() {
            let mut pacer = pacer(1);
            let smoothed = list(case, "rtts").into_iter().map(|rtt| {
                pacer.measured(Span(rtt * PS_PER_NS));
                pacer.srtt
            });
            assert_eq!(smoothed.collect::<Vec<_>>(), list(case, "sequence"), "{case}");
        }
        for case in vectors["rate"].as_array().unwrap() {
            let number = |key: &str| case[key].as_u64().unwrap();
            let mut pacer = pacer(1);
            if number("srtt_ns") > 0 {
                pacer.measured(Span(number("srtt_ns") * PS_PER_NS));
            }
            pacer.renew(Use { window: number("window"), is_early: case["early"].as_bool().unwrap() });
            assert_eq!(pacer.rate(), Rate(number("rate")), "{case}");
        }
    }

    #[test]
    fn packets_are_due_after_the_time_of_those_before_them() {
        let vectors = vector("pacing");
        for case in vectors["due"].as_array().unwrap() {
            let expected: Vec<Time> = list(case, "starts_ps").into_iter().map(Time).collect();
            let rate = case["rate"].as_u64().unwrap();
            assert_eq!(starts(pacer(1), rate, &list(case, "octets"), Time::ZERO), expected, "{case}");
        }
        let times = |case: &Json| -> Vec<Time> {
            list(case, "starts_us").into_iter().map(|us| Time::ZERO + Span::micros(us)).collect()
        };
        for case in vectors["burst"].as_array().unwrap() {
            let (rate, packets) = (case["rate"].as_u64().unwrap(), case["packets"].as_u64().unwrap());
            let expected = times(case);
            let full = vec![1500; expected.len() - 1];
            assert_eq!(starts(pacer(packets), rate, &full, Time::ZERO), expected, "{case}");
        }
        for case in vectors["idle"].as_array().unwrap() {
            let wait = Time::ZERO + Span::micros(case["start_us"].as_u64().unwrap());
            let expected = times(case);
            let full = vec![1500; expected.len() - 1];
            assert_eq!(starts(pacer(1), case["rate"].as_u64().unwrap(), &full, wait), expected, "{case}");
        }
    }

    #[test]
    fn a_rate_of_data_is_that_of_packets_with_their_headers_and_a_quantum_whole_packets() {
        let ethernet = PacketSizes { headers: 40, padding: Padding { header: 38, minimum: 84 }, minimum: 0 };
        for (burst, packets) in [(None, 3), (Some(Burst::Packets(2)), 2)] {
            let mut pacer = Pacer::new(&Settings { burst }, ethernet, DATA);
            pacer.follow(Pace { rate: Rate(14_600_000), quantum: 4 * DATA - 1 });
            assert_eq!(pacer.rate(), Rate(15_380_000), "1538 octets on the line for 1460 of data");
            assert_eq!(pacer.burst, packets * 1500, "of the control, unless one is given");
        }
        let mut pacer = Pacer::new(&Settings { burst: None }, ethernet, DATA);
        pacer.follow(Pace { rate: Rate(1), quantum: 0 });
        assert_eq!(pacer.burst, 1500, "at least a packet");
    }
}
