//! Packets lost by number, in the network of ns-2's test suite of TCP variants: 8 Mb/s and 0.1 ms, then 800 kb/s and 100 ms
//! behind a queue of 8 packets; a window of 28 segments of 1000 bytes and an ACK for each. The sender begins at 1 s.
//!
//! Segment 0 is the SYN, as in ns-2, and slow start goes on from it: 1 2 | 3–6 | 7–14 | 15–28. A round trip lasts 212.08 ms
//! and a packet 10.4 ms on the slow line. So segment 14 is missed with the third duplicate at 1.83732 + 0.21208 + 2 · 0.0104
//! = 2.070 s. What follows counts from there.

use std::collections::VecDeque;

use pushout_core::rng::Stream;
use pushout_core::transport::tcp::congestion::Spec::{self, NewReno, Reno};
use pushout_core::transport::tcp::congestion::new_reno::PartialAck::{self, Impatient, SlowButSteady};
use pushout_core::transport::tcp::{HEADERS, Params, Receiver, Segment, Sender};
use pushout_core::units::{Bytes, Span, Time};

use super::defaults;

const MSS: u64 = 1000;
/// Places behind the packet in transmission.
const ROOM: usize = 8;

/// A line without losses, for any number of waiting packets.
struct Line {
    /// Picoseconds for a byte.
    byte: u64,
    delay: Span,
    free: Time,
}

impl Line {
    fn new(byte: Span, delay: Span) -> Line {
        Line { byte: byte.0, delay, free: Time::ZERO }
    }

    /// Return when a segment that begins to wait now has arrived.
    fn pass(&mut self, now: Time, segment: &Segment) -> Time {
        self.free = self.free.max(now) + Span(self.byte * u64::from(u32::from(segment.len) + HEADERS));
        self.free + self.delay
    }
}

/// Both ends and the path between them; the first transmission of some segments is lost before the slow line.
struct Path {
    sender: Sender,
    receiver: Receiver,
    lost: Vec<u64>,
    access: Line,
    slow: Line,
    slow_back: Line,
    access_back: Line,
    /// Departures of the packets at the slow line.
    departures: VecDeque<Time>,
    forth: VecDeque<(Time, Segment)>,
    back: VecDeque<(Time, Segment)>,
    /// `time:segment`, whole milliseconds.
    retransmitted: Vec<String>,
}

impl Path {
    fn new(params: &Params, lost: &[u64]) -> Path {
        let access = || Line::new(Span::micros(1), Span::micros(100));
        let slow = || Line::new(Span::micros(10), Span::millis(100));
        Path {
            sender: Sender::new(params, Span::ZERO, Stream::new(1, "jitter")),
            receiver: Receiver::new(params, Span::ZERO),
            lost: lost.to_vec(),
            access: access(),
            slow: slow(),
            slow_back: slow(),
            access_back: access(),
            departures: VecDeque::new(),
            forth: VecDeque::new(),
            back: VecDeque::new(),
            retransmitted: Vec::new(),
        }
    }

    /// Put the segments on the access line, and record the repeated ones.
    fn send(&mut self, now: Time, out: Vec<Segment>) {
        for segment in out {
            let number = if segment.syn { 0 } else { 1 + segment.seq / MSS };
            if segment.repeats > 0 {
                let millis = now.0 / Span::millis(1).0;
                self.retransmitted.push(format!("{}.{:03}:{number}", millis / 1000, millis % 1000));
            }
            let at = self.access.pass(now, &segment);
            self.departures.retain(|departure| *departure > at);
            let is_lost = segment.repeats == 0 && self.lost.contains(&number);
            if is_lost || self.departures.len() > ROOM {
                continue;
            }
            let arrival = self.slow.pass(at, &segment);
            self.departures.push_back(self.slow.free);
            self.forth.push_back((arrival, segment));
        }
    }

    /// Handle the next arrival or timer.
    fn step(&mut self) -> Time {
        let [data, ack] = [&self.forth, &self.back].map(|line| line.front().map(|(at, _)| *at));
        let next = [data, ack, self.sender.next_timer(), self.receiver.next_timer()];
        let (index, now) =
            (0..4).filter_map(|i| Some((i, next[i]?))).min_by_key(|(i, at)| (*at, *i)).unwrap();
        let mut out = Vec::new();
        match index {
            0 => self.receiver.on_segment(now, &self.forth.pop_front().unwrap().1, &mut out),
            1 => {
                let (_, ack) = self.back.pop_front().unwrap();
                match ack.len {
                    0 => self.sender.on_segment(now, &ack, &mut out),
                    _ => self.sender.on_sack(now, &ack, &self.receiver.blocks(&ack), &mut out),
                }
            }
            2 => self.sender.on_timer(now, &mut out),
            _ => self.receiver.on_timer(now, &mut out),
        }
        for segment in out.extract_if(.., |segment| segment.is_ack) {
            let at = self.slow_back.pass(now, &segment);
            self.back.push_back((self.access_back.pass(at, &segment), segment));
        }
        self.send(now, out);
        now
    }
}

fn params(congestion: Spec, partial_ack: PartialAck) -> Params {
    Params {
        congestion: congestion.into(),
        partial_ack,
        mss: MSS as u32,
        window: Bytes(28 * MSS),
        initial_window: 2,
        delayed_ack: false,
        slow_timer: Span(1),
        ..defaults()
    }
}

/// Retransmissions in the first five seconds, and how many timeouts there were.
fn run(params: &Params, lost: &[u64]) -> (String, u64) {
    let mut path = Path::new(params, lost);
    let (start, mut out) = (Time::ZERO + Span::secs(1), Vec::new());
    path.sender.open(start, &mut out);
    path.sender.write_forever(start, &mut out);
    path.send(start, out);
    while path.step() < start + Span::secs(4) {}
    (path.retransmitted.join(" "), path.sender.stats().timeouts)
}

/// The retransmissions of one congestion control, and its timeouts.
fn check(congestion: Spec, partial_ack: PartialAck, lost: &[u64], expected: &str, timeouts: u64) {
    let seen = run(&params(congestion, partial_ack), lost);
    assert_eq!(seen, (expected.to_string(), timeouts), "{congestion:?}, {partial_ack:?}, lost {lost:?}");
}

#[test]
fn new_reno_repairs_one_loss_in_each_round_trip_as_in_ns_2() {
    for partial_ack in [Impatient, SlowButSteady] {
        let check = |lost: &[u64], expected| check(NewReno, partial_ack, lost, expected, 0);
        check(&[14], "2.070:14");
        check(&[14, 28], "2.070:14 2.282:28");
        check(&[14, 26, 28], "2.070:14 2.282:26 2.494:28");
        check(&[11, 12, 13, 14, 16], "2.070:11 2.282:12 2.494:13 2.706:14 2.918:16");
        // by hand: one more loss is one more round trip
        check(&[14, 16, 18, 20], "2.070:14 2.282:16 2.494:18 2.706:20");
    }
}

#[test]
fn eight_losses_outlast_the_impatient_timer_and_not_the_steady_one() {
    // Of 14–28 there arrive 19 21 23 25 26 27 28. The third duplicate is that of 23, two slots later than above.
    let lost = [14, 15, 16, 17, 18, 20, 22, 24];
    let repaired = "2.091:14 2.303:15 2.515:16 2.727:17 2.939:18 3.151:20";
    check(NewReno, SlowButSteady, &lost, &format!("{repaired} 3.363:22 3.575:24"), 0);
    // RFC 6582: the timer runs for 1 s from the first partial ACK, at 2.303. Then slow start goes back to 20; the ACK of
    // its first repetition says 22, that of 22 says 24.
    check(
        NewReno,
        Impatient,
        &lost,
        &format!("{repaired} 3.303:20 3.363:22 3.363:23 3.575:24 3.575:25 3.575:26"),
        1,
    );
}

#[test]
fn reno_repairs_two_losses_by_a_second_fast_retransmission_as_in_ns_2() {
    check(Reno, Impatient, &[14], "2.070:14", 0);
    // without the "bug fix" of ns-2, which is not in RFC 5681
    check(Reno, Impatient, &[14, 28], "2.070:14 2.365:28", 0);
}

#[test]
fn reno_needs_a_timeout_for_what_two_fast_retransmissions_leave() {
    // By hand from RFC 5681: the window is 15, then 7. Duplicates inflate it to 18 or 19, so that 29 and later segments
    // leave from 2.132 on; three of their ACKs, for the second hole, are the next fast retransmission, which leaves a
    // window of 3. It is repaired at 2.577, and no segment is sent until the timeout a second later.
    check(Reno, Impatient, &[14, 26, 28], "2.070:14 2.365:26 3.577:28", 1);
    check(Reno, Impatient, &[14, 16, 18, 20], "2.070:14 2.365:16 3.577:18 3.789:20 3.789:21", 1);
}

#[test]
fn reno_needs_a_timeout_at_once_where_no_duplicates_are_left() {
    // By hand from RFC 5681: the first repetition is acknowledged a round trip later, the timer runs for 1 s from
    // there, and slow start goes back (ssthresh 3). It repeats segments that had arrived; three ACKs of those are taken
    // for a loss once more.
    check(
        Reno,
        Impatient,
        &[11, 12, 13, 14, 16],
        "2.070:11 3.282:12 3.494:13 3.494:14 3.706:15 3.706:16 3.716:17 3.716:18 3.716:19 3.960:24",
        1,
    );
    check(
        Reno,
        Impatient,
        &[14, 15, 16, 17, 18, 20, 22, 24],
        "2.091:14 3.303:15 3.515:16 3.515:17 3.727:18 3.727:19 3.737:20 3.737:21 3.939:22 3.939:23 3.960:24 \
         3.960:25 4.151:26 4.151:27 4.373:29",
        1,
    );
}

#[test]
fn with_one_fast_retransmit_reno_waits_for_a_timeout_as_ns_2_does_by_default() {
    // ns-2 2.35 with `bugFix_` (and without limited transmit), less the 11 ms by which its first packet is longer than a SYN
    let params = Params { one_fast_retransmit: true, ..params(Reno, Impatient) };
    let check = |lost: &[u64], expected: &str, timeouts| {
        assert_eq!(run(&params, lost), (expected.to_string(), timeouts), "lost {lost:?}");
    };
    check(&[14], "2.070:14", 0);
    check(&[14, 28], "2.070:14 3.282:28", 1);
    check(&[14, 26, 28], "2.070:14 3.282:26 3.494:28 3.494:29", 1);
    check(&[14, 16, 18, 20], "2.070:14 3.282:16 3.494:18 3.494:19 3.706:20 3.706:21 3.706:22", 1);
}
