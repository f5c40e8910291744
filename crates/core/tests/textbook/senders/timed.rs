//! Senders whose timers find losses, against a model: segments and ACKs need time, overtake others and are lost.

use std::collections::BTreeMap;

use pushout_core::language::read::{Format, read};
use pushout_core::language::spec::read_section;
use pushout_core::rng::Stream;
use pushout_core::transport::tcp::{Params, SackBlocks, Segment, Sender};
use pushout_core::units::{Span, Time};

use super::rack::{Ack, Ps, Seen, Sender as Model};
use super::window::{Kind, MSS, Window};

const MICROSECOND: Ps = 1_000_000;
const MILLISECOND: Ps = 1000 * MICROSECOND;
/// The timeout, which neither measurements nor repetition change, and the longest delay of an ACK.
const TIMEOUT: Ps = 300 * MILLISECOND;
const ACK_DELAY: Ps = 5 * MILLISECOND;

/// Event under way.
enum Event {
    /// A segment of data from one octet to another, and its sending.
    Data(u64, u64, Ps),
    Ack(Ack),
}

/// A receiver that acknowledges each segment at once.
#[derive(Default)]
struct Receiver {
    /// Segments that have arrived, by first octet.
    arrived: BTreeMap<u64, u64>,
    reports_duplicates: bool,
}

impl Receiver {
    fn next(&self) -> u64 {
        self.arrived.iter().fold(0, |next, (start, end)| if *start <= next { next.max(*end) } else { next })
    }

    /// Return the blocks beyond this octet, the one with the latest segment first.
    fn blocks(&self, next: u64, latest: u64) -> Vec<(u64, u64)> {
        let mut blocks: Vec<(u64, u64)> = Vec::new();
        for (&start, &end) in self.arrived.range(next..) {
            match blocks.last_mut() {
                Some((_, last)) if *last == start => *last = end,
                _ => blocks.push((start, end)),
            }
        }
        blocks.sort_by_key(|(start, end)| (!(*start..*end).contains(&latest), u64::MAX - start));
        blocks.truncate(3);
        blocks
    }

    fn on_data(&mut self, now: Ps, (start, end): (u64, u64), stamp: Option<Ps>) -> Ack {
        let is_known = self.arrived.insert(start, end).is_some();
        let ack = self.next();
        let duplicate = (is_known && self.reports_duplicates).then_some((start, end));
        Ack { now, ack, duplicate, blocks: self.blocks(ack, start), stamp }
    }
}

/// A sender, its model, and the path to a receiver and back.
struct Path {
    sender: Sender,
    model: Model,
    receiver: Receiver,
    chance: Stream,
    /// Arrivals, by instant and number.
    under_way: BTreeMap<(Ps, u64), Event>,
    events: u64,
    now: Ps,
    has_timestamps: bool,
    /// Time at which the line is free, and its picoseconds for a segment; the delay one way.
    free: Ps,
    service: Ps,
    delay: Ps,
    /// Percentages of segments and ACKs that are lost, and of those that are late.
    losses: u64,
    late: u64,
    said: String,
}

impl Path {
    fn new(seed: u64) -> Path {
        let mut chance = Stream::new(seed, "rack");
        let [has_timestamps, by_bytes, limited, delayed, duplicates] = [(); 5].map(|()| chance.up_to(1) == 1);
        let initial = 1 + chance.up_to(29);
        let headers = if has_timestamps { 12 } else { 0 };
        let text = format!(
            "congestion = \"reno\"\nmss = {}\ntimestamps = {has_timestamps}\nwindow = \"1 MiB\"\nhandshake = false\n\
             slow_timer = \"1 ps\"\nmin_rto = \"300 ms\"\nmax_rto = \"300 ms\"\ndelayed_ack = {delayed}\n\
             fast_timer = \"5 ms\"\ninitial_window = {initial}\nbyte_counting = {by_bytes}\nhystart = \"off\"\n\
             limited_transmit = {limited}\nsack = true\ndsack = {duplicates}\nrecovery = \"rack\"\n",
            MSS + headers
        );
        let params: Params = read_section(&read(&text, Format::Toml).unwrap(), "transport").unwrap();
        let window = Window::new(Kind::Reno { once: false }, by_bytes, initial);
        let delays = (TIMEOUT, if delayed { ACK_DELAY } else { 0 });
        Path {
            sender: Sender::new(&params, Span::ZERO, Stream::new(seed, "jitter")),
            model: Model::new(window, limited, delays),
            receiver: Receiver { reports_duplicates: duplicates, ..Receiver::default() },
            under_way: BTreeMap::new(),
            events: 0,
            now: 0,
            has_timestamps,
            free: 0,
            service: MICROSECOND * (10 + chance.up_to(1500)),
            delay: MICROSECOND * (1000 + chance.up_to(29_000)),
            losses: [0, 2, 5, 15][chance.up_to(3) as usize],
            late: [0, 0, 5, 30][chance.up_to(3) as usize],
            said: format!("seed {seed}"),
            chance,
        }
    }

    fn happens(&mut self, percent: u64) -> bool {
        self.chance.up_to(99) < percent
    }

    /// Send an event on its way, unless it is lost.
    fn carry(&mut self, at: Ps, event: impl FnOnce(Ps) -> Event) {
        let extra = if self.happens(self.late) { self.chance.up_to(2 * self.delay) } else { 0 };
        let at = at + self.delay + extra + self.chance.up_to(MICROSECOND); // no two events at one instant
        if !self.happens(self.losses) {
            self.events += 1;
            self.under_way.insert((at, self.events), event(at));
        }
    }

    /// Check that both have sent equal segments and have equal states.
    fn compare(&mut self, out: &[Segment], expected: &[(u64, u64)], what: &str) {
        let said = format!("{}, {} us: {what}", self.said, self.now / MICROSECOND);
        let sent: Vec<(u64, u64)> = out.iter().map(|segment| (segment.seq, segment.len.into())).collect();
        assert_eq!(sent, expected, "{said}: segments");
        let (real, window) = (&self.sender, &self.model.window);
        let windows = (real.cwnd(), real.ssthresh().unwrap_or(u64::MAX), real.is_recovering());
        assert_eq!(windows, (window.cwnd, window.ssthresh, self.model.is_recovering()), "{said}");
        assert_eq!(real.next_timer().map(|at| at.0), self.model.next_timer(), "{said}: timer");
        for (seq, len) in sent {
            self.free = self.free.max(self.now) + self.service;
            let left = self.now;
            self.carry(self.free, |_| Event::Data(seq, seq + len, left));
        }
    }

    fn write(&mut self, octets: u64) {
        self.now += 1;
        let mut out = Vec::new();
        self.sender.write(Time(self.now), octets, &mut out);
        let expected = self.model.write(self.now, octets);
        self.compare(&out, &expected, "write");
    }

    fn on_ack(&mut self, ack: &Ack) {
        let segment = Segment {
            ack: ack.ack,
            window: 1 << 20,
            connection: 1,
            is_ack: true,
            stamp: Time(ack.stamp.unwrap_or(0)),
            ..Segment::default()
        };
        let blocks: Vec<(u64, u64)> = ack.duplicate.iter().chain(&ack.blocks).copied().collect();
        let mut out = Vec::new();
        self.sender.on_sack(Time(self.now), &segment, &SackBlocks::of(&blocks), &mut out);
        let expected = self.model.on_ack(ack);
        self.compare(&out, &expected, &format!("{ack:?}"));
    }

    fn on_timer(&mut self, at: Ps) {
        self.now = at;
        let mut out = Vec::new();
        self.sender.on_timer(Time(at), &mut out);
        let expected = self.model.on_timer(at);
        self.compare(&out, &expected, "timer");
    }

    fn step(&mut self) {
        let timer = self.sender.next_timer().map_or(Ps::MAX, |at| at.0);
        match self.under_way.first_key_value() {
            Some((&(at, _), _)) if at <= timer => {
                self.now = at;
                let (_, event) = self.under_way.pop_first().unwrap();
                match event {
                    Event::Ack(ack) => self.on_ack(&ack),
                    Event::Data(start, end, left) => {
                        let stamp = self.has_timestamps.then_some(left);
                        let ack = self.receiver.on_data(at, (start, end), stamp);
                        self.carry(at, |now| Event::Ack(Ack { now, ..ack }));
                    }
                }
            }
            _ => self.on_timer(timer),
        }
    }

    /// A transfer that the application writes in pieces, so that some segments are short.
    fn run(mut self) -> Seen {
        let mut out = Vec::new();
        self.sender.open(Time::ZERO, &mut out);
        assert!(out.is_empty());
        // some transfers are long enough that RACK resets its window after sixteen recoveries; without losses they
        // would fill the receive window
        let writes = if self.losses > 0 && self.happens(10) { 100 } else { 4 };
        for _ in 0..writes {
            let octets = 1 + self.chance.up_to(60 * MSS);
            self.write(octets);
            let events = self.chance.up_to(60);
            for _ in 0..events {
                if !self.sender.all_acked() {
                    self.step();
                }
            }
        }
        while !self.sender.all_acked() {
            self.step();
        }
        let (real, seen) = (self.sender.stats(), self.model.seen);
        assert_eq!((real.tail_probes, real.timeouts), (seen.probes, seen.timeouts), "{}", self.said);
        assert_eq!(real.fast_retransmits, seen.recoveries, "{}", self.said);
        seen
    }
}

#[test]
fn rack_finds_losses_by_time_and_the_window_falls_in_proportion() {
    let many = std::env::var("PUSHOUT_EQUIVALENCE").map_or(500, |count| count.parse().unwrap());
    let mut sums = [0; 6];
    for seed in 0..many {
        let Seen { timeouts, probes, recoveries, waits, undone, lost_again } = Path::new(seed).run();
        let seen = [timeouts, probes, recoveries, waits, undone, lost_again];
        sums.iter_mut().zip(seen).for_each(|(sum, more)| *sum += more);
    }
    assert!(sums.iter().all(|sum| 10 * sum > many), "{sums:?}");
}
