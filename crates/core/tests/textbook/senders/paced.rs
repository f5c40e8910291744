//! A paced sender against a model of its instants, in rational numbers: Linux, `tcp_update_pacing_rate`, and the instant of the next packet
//! after each one. The window is that of Reno without losses.

use pushout_core::adaptation::packet::Padding;
use pushout_core::language::read::{Format, read};
use pushout_core::language::spec::read_section;
use pushout_core::rng::Stream;
use pushout_core::transport::tcp::pacer::{Pacer, PacketSizes};
use pushout_core::transport::tcp::{Params, Segment, Sender};
use pushout_core::units::{Span, Time};

const MSS: u64 = 1000;
/// Octets of a packet on the line: 40 of headers and 38 of Ethernet.
const ON_LINE: u64 = MSS + 78;

/// What the model stores: octets, eighths of a nanosecond, and the next instant in picoseconds and parts of the rate.
struct Model {
    cwnd: u64,
    ssthresh: u64,
    acked: u64,
    sent: u64,
    srtt: u64,
    rate: u64,
    next: (u64, u128),
    /// Packets that are left of a burst that has begun.
    left: u64,
    burst: u64,
}

impl Model {
    fn ack(&mut self, ack: u64, rtt: Span) {
        self.acked = ack;
        let rtt = rtt.0 / 1000;
        self.srtt = if self.srtt == 0 { 8 * rtt } else { self.srtt - self.srtt / 8 + rtt };
        let growth = if self.cwnd > self.ssthresh { (MSS * MSS / self.cwnd).max(1) } else { MSS };
        self.cwnd += growth;
        self.set_rate();
    }

    fn set_rate(&mut self) {
        let window = self.cwnd.max(self.sent - self.acked);
        let percent = if self.cwnd < self.ssthresh / 2 { 200 } else { 120 };
        let rate = match self.srtt {
            0 => u128::from(window) * 8 * 1000,
            srtt => u128::from(window) * 8 * percent * 8_000_000_000 / (100 * u128::from(srtt)),
        } as u64;
        self.next.1 = self.next.1 * u128::from(rate) / u128::from(self.rate);
        self.rate = rate;
    }

    /// When the next packet is sent if the line is free: `None` if the window permits none.
    fn due(&self, now: Time) -> Option<Time> {
        let may = self.sent + MSS <= self.acked + self.cwnd;
        may.then(|| if self.left > 0 { now } else { Time(self.next.0).max(now) })
    }

    fn send(&mut self, now: Time) {
        self.left = if self.left == 0 { self.burst - 1 } else { self.left - 1 };
        self.sent += MSS;
        if now.0 > self.next.0 {
            self.next = (now.0, 0);
        }
        let parts = self.next.1 + u128::from(8 * ON_LINE) * 1_000_000_000_000;
        self.next = (self.next.0 + (parts / u128::from(self.rate)) as u64, parts % u128::from(self.rate));
    }
}

fn params(initial: u64, ssthresh: u64) -> Params {
    let text = format!(
        "mss = {MSS}\nwindow = \"1 MiB\"\nhandshake = false\nslow_timer = \"1 ps\"\nmin_rto = \"60 s\"\n\
         timestamps = false\ninitial_window = {initial}\ninitial_ssthresh = \"{ssthresh} bytes\""
    );
    read_section(&read(&text, Format::Toml).unwrap(), "transport").unwrap()
}

/// Send for a while with random round trips and bursts, and compare every instant.
fn compare(seed: u64) -> (u64, u64) {
    let mut chance = Stream::new(seed, "paced");
    let (initial, burst) = (1 + chance.up_to(19), 1 + chance.up_to(3));
    let ssthresh = MSS * (2 + chance.up_to(60));
    let settings =
        read_section(&read(&format!("burst = \"{burst} packets\""), Format::Toml).unwrap(), "").unwrap();
    let padding = Padding { header: 38, minimum: 84 };
    let mut sender = Sender::new(&params(initial, ssthresh), Span::ZERO, Stream::new(seed, "jitter"));
    sender.pace(Pacer::new(&settings, PacketSizes { headers: 40, padding, minimum: 0 }, MSS));
    let cwnd = initial * MSS;
    let (mut model, mut now) = (
        Model { cwnd, ssthresh, acked: 0, sent: 0, srtt: 0, rate: 1, next: (0, 0), left: 0, burst },
        Time::ZERO,
    );
    model.set_rate();
    let mut out: Vec<Segment> = Vec::new();
    sender.open(now, &mut out);
    sender.write_forever(now, &mut out);
    assert!(out.is_empty(), "all wait for their turns");
    // segments under way, each with the instant at which its acknowledgement arrives; one at a time is measured
    let mut under_way: Vec<(Time, u64)> = Vec::new();
    let mut timed: Option<(u64, Time)> = None;
    let (mut packets, mut early) = (0, 0);
    while packets < 500 {
        let acked = under_way.first().map(|(at, _)| *at);
        let place = sender.place();
        assert_eq!(place.map(|place| place.max(now)), model.due(now), "packet {packets}");
        match place.map(|place| place.max(now)).filter(|due| acked.is_none_or(|at| *due < at)) {
            Some(due) => {
                now = due;
                sender.take_turn(now, &mut out);
                assert_eq!(out.pop().map(|segment| segment.seq), Some(model.sent));
                timed.get_or_insert((model.sent, now));
                model.send(now);
                if model.due(now).is_none() {
                    model.left = 0; // the turn ends with the window
                }
                let last = under_way.last().map_or(now, |(at, _)| *at);
                under_way.push((last.max(now + Span::micros(2_000 + chance.up_to(3_000))), model.sent));
                packets += 1;
                early += u64::from(model.cwnd < model.ssthresh / 2);
            }
            None => {
                let (at, ack) = under_way.remove(0);
                now = at;
                let segment =
                    Segment { ack, window: 1 << 20, connection: 1, is_ack: true, ..Segment::default() };
                sender.on_segment(now, &segment, &mut out);
                let Some((_, since)) = timed.take_if(|(seq, _)| ack > *seq) else {
                    model.acked = ack;
                    let growth =
                        if model.cwnd > model.ssthresh { (MSS * MSS / model.cwnd).max(1) } else { MSS };
                    model.cwnd += growth;
                    model.set_rate();
                    continue;
                };
                model.ack(ack, now.since(since));
            }
        }
        assert_eq!(sender.pacing_rate().map(|rate| rate.0), Some(model.rate), "packet {packets}");
    }
    (packets, early)
}

#[test]
fn paced_segments_leave_at_the_instants_of_the_model() {
    let all: Vec<(u64, u64)> = (0..60).map(compare).collect();
    assert!(
        all.iter().any(|(_, early)| *early > 50) && all.iter().any(|(packets, early)| packets - early > 400)
    );
}
