//! The profile `linux` beside a kernel: every pattern of losses of ten segments, by the table of `vectors/recovery.json` or by the one
//! that `make laws` has measured.

use std::collections::VecDeque;

use pushout_core::language::read::{Format, read};
use pushout_core::language::spec::read_section;
use pushout_core::language::tree::{Node, Value as Key};
use pushout_core::rng::Stream;
use pushout_core::serde_json::{Value, from_str};
use pushout_core::transport::tcp::{Params, Receiver, SackBlocks, Segment, Sender, with_profile};
use pushout_core::units::{Span, Time};

const SEGMENT: u64 = 1448;
const SEGMENTS: u64 = 10;
/// Octets of the headers, with timestamps.
const HEADERS: u64 = 52;

/// Both ends, a line to the receiver, and a constant delay both ways; the first sending of some segments is lost.
struct Path {
    sender: Sender,
    receiver: Receiver,
    lost: u64,
    delay: Span,
    /// Picoseconds for an octet, and the end of the last transmission.
    octet: u64,
    free: Time,
    highest: u64,
    forth: VecDeque<(Time, Segment)>,
    back: VecDeque<(Time, Segment, SackBlocks)>,
}

impl Path {
    fn new(params: &Params, trip_ms: u64, mbps: u64, lost: u64) -> Path {
        Path {
            sender: Sender::new(params, Span::ZERO, Stream::new(1, "jitter")),
            receiver: Receiver::new(params, Span::ZERO),
            lost,
            delay: Span::micros(500 * trip_ms),
            octet: 8_000_000 / mbps,
            free: Time::ZERO,
            highest: 0,
            forth: VecDeque::new(),
            back: VecDeque::new(),
        }
    }

    /// Carry what one of the ends has sent.
    fn carry(&mut self, now: Time, out: &mut Vec<Segment>) {
        for segment in out.drain(..) {
            if segment.is_ack {
                let blocks = self.receiver.blocks(&segment);
                self.back.push_back((now + self.delay, segment, blocks));
                continue;
            }
            let is_new = segment.len > 0 && segment.seq >= self.highest;
            self.highest = self.highest.max(segment.seq + u64::from(segment.len));
            if is_new && self.lost >> (segment.seq / SEGMENT) & 1 == 1 {
                continue;
            }
            self.free = self.free.max(now) + Span(self.octet * (u64::from(segment.len) + HEADERS));
            self.forth.push_back((self.free + self.delay, segment));
        }
    }

    /// Handle the next arrival or timer.
    fn step(&mut self, out: &mut Vec<Segment>) -> Time {
        let next = [
            self.forth.front().map(|(at, _)| *at),
            self.back.front().map(|(at, ..)| *at),
            self.sender.next_timer(),
            self.receiver.next_timer(),
        ];
        let (place, now) =
            (0..4).filter_map(|i| Some((i, next[i]?))).min_by_key(|(i, at)| (*at, *i)).unwrap();
        match place {
            0 => self.receiver.on_segment(now, &self.forth.pop_front().unwrap().1, out),
            1 => {
                let (_, ack, blocks) = self.back.pop_front().unwrap();
                match ack.len {
                    0 => self.sender.on_segment(now, &ack, out),
                    _ => self.sender.on_sack(now, &ack, &blocks, out),
                }
            }
            2 => self.sender.on_timer(now, out),
            _ => self.receiver.on_timer(now, out),
        }
        now
    }

    /// Return the milliseconds from the SYN until ten segments are acknowledged.
    fn run(mut self) -> f64 {
        let (mut now, mut out) = (Time::ZERO, Vec::new());
        self.sender.open(now, &mut out);
        self.sender.write(now, SEGMENTS * SEGMENT, &mut out);
        while !self.sender.all_acked() {
            self.carry(now, &mut out);
            now = self.step(&mut out);
        }
        1000.0 * now.since(Time::ZERO).as_secs_f64()
    }
}

fn linux() -> Params {
    let table = read("kind = \"tcp\"\nprofile = \"linux\"", Format::Toml).unwrap();
    let Node { value: Key::Table(mut keys), place } = with_profile(&table) else { panic!("a table") };
    keys.retain(|(key, _)| key.name != "kind");
    read_section(&Node { value: Key::Table(keys), place }, "transport").unwrap()
}

/// The table of the kernel, and whether it is the recorded one.
fn table() -> (Value, bool) {
    match std::env::var("PUSHOUT_KERNEL") {
        Ok(path) => (from_str(&std::fs::read_to_string(path).unwrap()).unwrap(), false),
        Err(_) => {
            let vectors = include_str!("../../../../../vectors/recovery.json");
            (from_str::<Value>(vectors).unwrap()["kernel"].clone(), true)
        }
    }
}

/// Return the patterns, as a row of `x` for lost and `.` for arrived segments, with which the profile takes a time that differs from the
/// kernel's by more than 5 %, or by `ms` if that is more.
fn apart(case: &Value, mbps: u64, ms: f64) -> Vec<String> {
    let (params, trip_ms) = (linux(), case["trip_ms"].as_u64().unwrap());
    let times = case["ms"].as_array().unwrap().iter().map(|time| time.as_f64().unwrap());
    times
        .enumerate()
        .filter_map(|(pattern, kernel)| {
            let own = Path::new(&params, trip_ms, mbps, pattern as u64).run();
            let row: String =
                (0..SEGMENTS).map(|segment| if pattern >> segment & 1 == 1 { 'x' } else { '.' }).collect();
            let is_apart = (own - kernel).abs() > (0.05 * kernel).max(ms);
            is_apart.then(|| format!("{trip_ms} ms {row} {own:.1} for {kernel:.1}"))
        })
        .collect()
}

#[test]
fn ten_segments_take_as_long_as_in_a_kernel_whichever_of_them_are_lost() {
    let (table, is_recorded) = table();
    let mbps = table["mbps"].as_u64().unwrap();
    let cases = table["losses"].as_array().unwrap();
    assert!(cases.len() > 3 && cases.iter().all(|case| case["ms"].as_array().unwrap().len() == 1023));
    for case in cases {
        let trip_ms = case["trip_ms"].as_u64().unwrap();
        // two ticks of the kernel, at whose edges its timers expire
        let apart = apart(case, mbps, if trip_ms < 20 { 8.0 } else { 0.0 });
        let most = if is_recorded { 10 } else { 50 };
        assert!(apart.len() <= most, "{} of 1023: {:#?}", apart.len(), &apart[..most.min(apart.len())]);
    }
}
