//! Senders against models of their own, window by window: both get random losses, late segments, lost ACKs and echoes
//! of marks, and after every ACK cwnd, its inflation, ssthresh and the segments sent must be equal.

mod bbr;
mod measured;
mod paced;
mod plain;
mod prague;
mod rack;
mod samples;
mod selective;
mod timed;
mod window;

use std::collections::BTreeSet;

use pushout_core::language::read::{Format, read};
use pushout_core::language::spec::read_section;
use pushout_core::rng::Stream;
use pushout_core::transport::ecn::Ecn;
use pushout_core::transport::tcp::{Params, SackBlocks, Segment, Sender};
use pushout_core::units::{Span, Time};

use plain::Plain;
use selective::Selective;
use window::{Kind, MSS, Window};

/// Sequences for each scheme, and segments of each.
const SEQUENCES: u64 = 100;
const SEGMENTS: u64 = 400;

/// A model of a sender: it returns the first octets of the segments that it sends.
trait Sends {
    fn open(&mut self) -> Vec<u64>;
    fn ack(&mut self, now: f64, rtt: f64, ack: u64, blocks: &[(u64, u64)], echo: bool) -> Vec<u64>;
    fn timeout(&mut self) -> Vec<u64>;
    fn window(&self) -> &Window;
    fn is_recovering(&self) -> bool;
}

/// A sender, its model, and the path to a receiver.
struct Path {
    sender: Sender,
    model: Box<dyn Sends>,
    chance: Stream,
    now: Time,
    under_way: Vec<u64>,
    arrived: BTreeSet<u64>,
    ecn: bool,
    sacks: bool,
    seen: Seen,
}

/// Events of a sequence: they show that a test tests something.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    timeouts: u64,
    recoveries: u64,
    echoes: u64,
}

impl Path {
    /// Check that both have sent equal segments.
    fn compare(&mut self, out: &[Segment], expected: &[u64], what: &str) {
        let sent: Vec<u64> = out.iter().map(|segment| segment.seq).collect();
        let (real, model) = (&self.sender, self.model.window());
        let windows = (real.cwnd(), real.inflation(), real.ssthresh().unwrap_or(u64::MAX));
        assert_eq!(windows, (model.cwnd, model.inflation, model.ssthresh), "{what}");
        assert_eq!(sent, expected, "{what}: segments");
        assert_eq!(real.is_recovering(), self.model.is_recovering(), "{what}");
        self.under_way.extend(sent);
    }

    /// Blocks out of order, the one with the latest segment first.
    fn blocks(&self, ack: u64, latest: u64) -> Vec<(u64, u64)> {
        let mut blocks: Vec<(u64, u64)> = Vec::new();
        for &seq in self.arrived.range(ack..) {
            match blocks.last_mut() {
                Some((_, end)) if *end == seq => *end += MSS,
                _ => blocks.push((seq, seq + MSS)),
            }
        }
        blocks.sort_by_key(|(start, end)| (!(*start..*end).contains(&latest), u64::MAX - start));
        blocks.truncate(3);
        blocks
    }

    /// Deliver a segment and its ACK, unless one of them is lost.
    fn deliver(&mut self) {
        let late = self.chance.up_to(19) == 0;
        let index = if late { self.chance.up_to(self.under_way.len() as u64 - 1) as usize } else { 0 };
        let seq = self.under_way.remove(index);
        if self.chance.up_to(24) == 0 {
            return;
        }
        self.arrived.insert(seq);
        let ack = (0..).map(|n| n * MSS).find(|seq| !self.arrived.contains(seq)).unwrap();
        if self.chance.up_to(19) == 0 {
            return;
        }
        let blocks = self.blocks(ack, seq);
        let rtt = Span::micros(1000 + self.chance.up_to(50_000)).min(self.now.since(Time::ZERO));
        let echo = self.ecn && self.chance.up_to(9) == 0;
        let segment = Segment {
            ack,
            window: 1 << 20,
            connection: 1,
            is_ack: true,
            stamp: Time(self.now.0 - rtt.0),
            ecn: if echo { Ecn::ECE } else { Ecn::default() },
            ..Segment::default()
        };
        let (was, mut out) = (self.model.is_recovering(), Vec::new());
        match self.sacks {
            true => self.sender.on_sack(self.now, &segment, &SackBlocks::of(&blocks), &mut out),
            false => self.sender.on_segment(self.now, &segment, &mut out),
        }
        let now = self.now.since(Time::ZERO).as_secs_f64();
        let expected = self.model.ack(now, rtt.as_secs_f64(), ack, &blocks, echo);
        self.seen.recoveries += u64::from(!was && self.model.is_recovering());
        self.seen.echoes += u64::from(echo);
        self.compare(&out, &expected, &format!("ACK {ack} {blocks:?}, echo {echo}"));
    }
}

impl Path {
    /// A connection of a random kind of sender and its model.
    fn new(seed: u64, word: &str, sacks: bool) -> Path {
        let mut chance = Stream::new(seed, "senders");
        let [ecn, by_bytes, limited, once, linux] = [(); 5].map(|()| chance.up_to(1) == 1);
        let initial = 1 + chance.up_to(19);
        let once = once && word == "reno" && !sacks;
        let text = format!(
            "congestion = \"{word}\"\nmss = {}\ntimestamps = true\nwindow = \"1 MiB\"\nhandshake = false\n\
             slow_timer = \"1 ps\"\nmin_rto = \"60 s\"\nhystart = \"off\"\ninitial_window = {initial}\n\
             ecn = {ecn}\nbyte_counting = {by_bytes}\nlimited_transmit = {limited}\nsack = {sacks}\n\
             recovery = \"rfc6675\"\none_fast_retransmit = {once}\ncubic_law = \"{}\"\n",
            MSS + 12,
            if linux { "linux" } else { "rfc9438" }
        );
        let params: Params = read_section(&read(&text, Format::Toml).unwrap(), "transport").unwrap();
        let kind = match word {
            "reno" => Kind::Reno { once },
            "new-reno" => Kind::NewReno,
            "tahoe" => Kind::Tahoe,
            "cubic" => Kind::Cubic,
            _ => Kind::Dctcp,
        };
        let (mut window, written) = (Window::new(kind, by_bytes, initial), SEGMENTS * MSS);
        window.cubic.linux = linux;
        let model: Box<dyn Sends> = match sacks {
            true => Box::new(Selective::new(window, ecn, written, limited)),
            false => Box::new(Plain::new(window, ecn, written)),
        };
        let sender = Sender::new(&params, Span::ZERO, Stream::new(seed, "jitter"));
        let (under_way, arrived, seen) = (Vec::new(), BTreeSet::new(), Seen::default());
        Path { sender, model, chance, now: Time::ZERO, under_way, arrived, ecn, sacks, seen }
    }

    /// Run the whole transfer.
    fn run(mut self) -> Seen {
        let mut out = Vec::new();
        self.sender.open(self.now, &mut out);
        self.sender.write(self.now, SEGMENTS * MSS, &mut out);
        let expected = self.model.open();
        self.compare(&out, &expected, "the first window");
        while !self.sender.all_acked() {
            self.now += Span::micros(10 + self.chance.up_to(2000));
            if self.under_way.is_empty() {
                self.time_out();
            } else {
                self.deliver();
            }
        }
        self.seen
    }

    fn time_out(&mut self) {
        let mut out = Vec::new();
        self.now = self.sender.next_timer().unwrap();
        self.sender.on_timer(self.now, &mut out);
        let expected = self.model.timeout();
        self.seen.timeouts += 1;
        self.compare(&out, &expected, "timeout");
    }
}

/// Compare all sequences of one scheme; together they must contain every kind of event.
fn compare(word: &str, sacks: bool) {
    let mut all = Seen::default();
    for seed in 0..SEQUENCES {
        let seen = Path::new(seed, word, sacks).run();
        all.timeouts += seen.timeouts;
        all.recoveries += seen.recoveries;
        all.echoes += seen.echoes;
    }
    assert!(all.timeouts > SEQUENCES / 2 && all.echoes > SEQUENCES, "{all:?}");
    assert!(all.recoveries > SEQUENCES || word == "tahoe", "{all:?}");
}

#[test]
fn reno_follows_rfc_5681() {
    compare("reno", false);
}

#[test]
fn new_reno_follows_rfc_6582() {
    compare("new-reno", false);
}

#[test]
fn tahoe_begins_a_slow_start_after_three_duplicates() {
    compare("tahoe", false);
}

#[test]
fn cubic_follows_rfc_9438_or_linux() {
    compare("cubic", false);
    compare("cubic", true);
}

#[test]
fn dctcp_follows_rfc_8257_with_the_integers_of_linux() {
    compare("dctcp", false);
    compare("dctcp", true);
}

#[test]
fn losses_are_found_and_segments_sent_as_rfc_6675_says() {
    compare("reno", true);
}
