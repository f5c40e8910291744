//! Samples of the delivery rate against a second sampler, which keeps what each segment bore in a map and is told nothing
//! but what is sent and what ACKs report: by the draft's three steps, segment by segment.

use std::collections::{BTreeMap, VecDeque};

use pushout_core::adaptation::packet::Padding;
use pushout_core::language::read::{Format, read};
use pushout_core::language::spec::read_section;
use pushout_core::rng::Stream;
use pushout_core::transport::ecn::Ecn;
use pushout_core::transport::tcp::pacer::{Pacer, PacketSizes};
use pushout_core::transport::tcp::rate::RateSample;
use pushout_core::transport::tcp::{Params, Receiver, SackBlocks, Segment, Sender};
use pushout_core::units::{Span, Time};

use crate::transport::tcp::congestion::SAMPLES;

/// What a segment bore when it was last sent.
#[derive(Clone, Copy)]
struct Borne {
    end: u64,
    sent: u64,
    first_sent: u64,
    delivered: u64,
    delivered_at: u64,
}

/// The second sampler; instants in picoseconds.
#[derive(Default)]
struct Sampler {
    outstanding: BTreeMap<u64, Borne>,
    delivered: u64,
    delivered_at: u64,
    first_sent: u64,
    round_ends: u64,
    rounds: u64,
    min_rtt: Option<u64>,
}

impl Sampler {
    fn send(&mut self, now: u64, segment: &Segment) {
        if self.outstanding.is_empty() {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        let (first_sent, delivered, delivered_at) = (self.first_sent, self.delivered, self.delivered_at);
        let end = segment.seq + u64::from(segment.len);
        self.outstanding.insert(segment.seq, Borne { end, sent: now, first_sent, delivered, delivered_at });
    }

    /// Return delivered, prior delivered, rate, and rounds with whether one starts.
    fn receive(
        &mut self,
        now: u64,
        ack: u64,
        blocks: &[(u64, u64)],
        rtt: Option<u64>,
    ) -> (u64, u64, Option<u64>, u64, bool) {
        self.min_rtt = match (self.min_rtt, rtt) {
            (Some(least), Some(rtt)) => Some(least.min(rtt)),
            (least, rtt) => least.or(rtt),
        };
        let reported =
            |seq: u64, end: u64| end <= ack || blocks.iter().any(|(from, to)| *from <= seq && end <= *to);
        let gone: Vec<u64> = self
            .outstanding
            .iter()
            .filter(|(seq, borne)| reported(**seq, borne.end))
            .map(|(seq, _)| *seq)
            .collect();
        let gone: Vec<(u64, Borne)> =
            gone.into_iter().map(|seq| (seq, self.outstanding.remove(&seq).unwrap())).collect();
        for (seq, borne) in &gone {
            self.delivered += borne.end - seq;
            self.delivered_at = now;
        }
        let Some((_, newest)) = gone.iter().max_by_key(|(_, borne)| (borne.sent, borne.end)) else {
            return (self.delivered, self.delivered, None, self.rounds, false);
        };
        let interval = (newest.sent - newest.first_sent).max(now - newest.delivered_at);
        self.first_sent = newest.sent;
        let octets = u128::from(self.delivered - newest.delivered);
        let rate = (8_000_000_000_000 * octets).checked_div(interval.into()).map(|rate| rate as u64);
        let starts = newest.delivered >= self.round_ends;
        if starts {
            self.round_ends = self.delivered;
            self.rounds += 1;
        }
        let rate = rate.filter(|_| self.min_rtt.is_none_or(|least| interval >= least));
        (self.delivered, newest.delivered, rate, self.rounds, starts)
    }
}

fn both(sample: &RateSample) -> (u64, u64, Option<u64>, u64, bool) {
    let rate = sample.rate.map(|rate| rate.0);
    (sample.delivered, sample.prior_delivered, rate, sample.rounds, sample.starts_round)
}

/// A greedy sender over a line with random losses, late segments and lost ACKs; returns the samples that were compared.
fn run(params: &Params, seed: u64) -> usize {
    SAMPLES.set(Some(Vec::new()));
    let mut chance = Stream::new(seed, "samples");
    let (delay, slot, loss) = (
        Span::micros(200 + chance.up_to(20_000)),
        Span::micros(20 + chance.up_to(200)),
        chance.up_to(20) as f64 / 1000.0,
    );
    let mut sender = Sender::new(params, Span::ZERO, Stream::new(seed, "tcp"));
    let mut receiver = Receiver::new(params, Span::ZERO);
    let (mut sampler, mut compared) = (Sampler::default(), 0);
    let (mut forth, mut back) = (VecDeque::new(), VecDeque::<(Time, Segment, SackBlocks)>::new());
    let (mut free, mut out, mut acks) = (Time::ZERO, Vec::new(), Vec::new());
    sender.open(Time::ZERO, &mut out);
    sender.write_forever(Time::ZERO, &mut out);
    let mut now = Time::ZERO;
    for _ in 0..1500 {
        for segment in out.drain(..) {
            sampler.send(now.0, &segment);
            free = free.max(now) + slot;
            if !chance.chance(loss) {
                forth.push_back((free + delay, segment));
            }
        }
        for ack in acks.drain(..) {
            let blocks = receiver.blocks(&ack);
            if !chance.chance(loss) {
                back.push_back((now + delay, ack, blocks));
            }
        }
        let [arrives, answers] = [forth.front().map(|(at, _)| *at), back.front().map(|(at, ..)| *at)];
        let events = [answers, arrives, receiver.next_timer(), sender.next_timer()];
        let Some(next) = events.into_iter().flatten().min() else { break };
        now = next;
        match events.iter().position(|at| *at == Some(next)) {
            Some(0) => {
                let (_, ack, blocks) = back.pop_front().unwrap();
                SAMPLES.set(Some(Vec::new()));
                let list: Vec<(u64, u64)> = blocks.iter().filter(|(_, end)| *end > ack.ack).collect();
                match ack.len {
                    0 => sender.on_segment(now, &ack, &mut out),
                    _ => sender.on_sack(now, &ack, &blocks, &mut out),
                }
                let samples = SAMPLES.with_borrow_mut(|samples| samples.take().unwrap());
                SAMPLES.set(Some(Vec::new()));
                let Some(sample) = samples.first() else { continue };
                let expected = sampler.receive(now.0, ack.ack, &list, sample.rtt.map(|rtt| rtt.0));
                assert_eq!(both(sample), expected, "seed {seed}, ACK of {} at {now:?}", ack.ack);
                compared += 1;
            }
            Some(1) => receiver.on_segment(now, &forth.pop_front().unwrap().1, &mut acks),
            Some(2) => receiver.on_timer(now, &mut acks),
            _ => sender.on_timer(now, &mut out),
        }
        if sender.stats().timeouts > 0 {
            break; // what is in flight is then for the sender to say
        }
    }
    SAMPLES.set(None);
    compared
}

#[test]
fn a_second_sampler_finds_the_same_rates_and_rounds() {
    let params = |congestion: &str, recovery: &str| -> Params {
        let text = format!(
            "congestion = \"{congestion}\"\nwindow = \"1 MiB\"\nhandshake = false\nslow_timer = \"1 ps\"\n\
             min_rto = \"300 ms\"\nmax_rto = \"300 ms\"\ninitial_window = 10\nsack = true\n\
             recovery = \"{recovery}\"\n"
        );
        read_section(&read(&text, Format::Toml).unwrap(), "transport").unwrap()
    };
    let both = [params("cubic", "rack"), params("reno", "rfc6675")];
    let compared: usize = (0..60).map(|seed| run(&both[seed as usize % 2], seed)).sum();
    assert!(compared > 10_000, "{compared}");
}

/// A sender of BBR that begins without a handshake, with a window of ten segments.
fn measuring() -> Sender {
    let text = format!(
        "congestion = \"bbr\"\nmss = {MSS}\nwindow = \"1 MiB\"\nhandshake = false\nslow_timer = \"1 ps\"\n\
         initial_window = 10\nsack = true\nrecovery = \"rack\"\nlimited_transmit = true\n"
    );
    let params: Params = read_section(&read(&text, Format::Toml).unwrap(), "transport").unwrap();
    SAMPLES.set(Some(Vec::new()));
    Sender::new(&params, Span::ZERO, Stream::new(1, "tcp"))
}

const MSS: u64 = 1000;

fn at(ms: u64) -> Time {
    Time::ZERO + Span::millis(ms)
}

fn acks(segments: u64) -> Segment {
    Segment { ack: segments * MSS, window: 1 << 20, connection: 1, is_ack: true, ..Segment::default() }
}

/// Return whether the application limits the flow, by the samples so far.
fn limited() -> Vec<bool> {
    SAMPLES.with_borrow(|samples| samples.iter().flatten().map(|sample| sample.is_app_limited).collect())
}

#[test]
fn an_application_that_has_written_a_window_and_writes_on_before_an_ack_is_no_limit() {
    let (mut sender, mut out) = (measuring(), Vec::new());
    sender.open(at(0), &mut out);
    sender.write(at(0), 10 * MSS, &mut out);
    sender.write(at(10), 5 * MSS, &mut out);
    assert_eq!(out.len(), 10);
    sender.on_segment(at(40), &acks(1), &mut out);
    assert_eq!(out.len(), 12);
    sender.on_segment(at(80), &acks(12), &mut out);
    assert_eq!((out.len(), limited()), (15, vec![true, false]), "it had nothing to send when it began");
    sender.on_segment(at(120), &acks(15), &mut out);
    sender.write(at(130), MSS, &mut out);
    sender.on_segment(at(160), &acks(16), &mut out);
    assert_eq!(limited(), [true, false, false, true], "with nothing to send and room it is");
}

#[test]
fn a_lost_segment_that_waits_for_its_turn_is_something_to_send() {
    let (mut sender, mut out) = (measuring(), Vec::new());
    let sizes = PacketSizes { headers: 40, padding: Padding::default(), minimum: 0 };
    sender.pace(Pacer::new(&read_section(&read("", Format::Toml).unwrap(), "").unwrap(), sizes, MSS));
    let turns = |sender: &mut Sender, mut now: Time, out: &mut Vec<Segment>| {
        while let Some(place) = sender.place() {
            now = now.max(place);
            sender.take_turn(now, out);
        }
    };
    sender.open(at(0), &mut out);
    sender.write(at(0), 10 * MSS, &mut out);
    turns(&mut sender, at(0), &mut out);
    assert_eq!(out.len(), 10);
    // all but the first arrive
    let blocks = SackBlocks::of(&[(MSS, 10 * MSS)]);
    sender.on_sack(at(100), &Segment { seq: 1, ..acks(0) }, &blocks, &mut out);
    assert_eq!(out.len(), 10, "it is lost, and waits");
    turns(&mut sender, at(100), &mut out);
    assert_eq!(out.last().map(|segment| (segment.seq, out.len())), Some((0, 11)));
    sender.on_segment(at(200), &acks(10), &mut out);
    assert_eq!(limited(), [true, false], "but for what it sent when it began");
}

#[test]
fn a_short_packet_that_came_with_a_mark_counts_as_one() {
    let text = "congestion = \"prague\"\nfeedback = \"accecn\"\necn = true\nl4s = true\nwindow = \"1 MiB\"\n\
                handshake = false\nslow_timer = \"1 ps\"\nsack = true\nrecovery = \"rack\"\n";
    let params: Params = read_section(&read(text, Format::Toml).unwrap(), "transport").unwrap();
    let mut sender = Sender::new(&params, Span::ZERO, Stream::new(1, "tcp"));
    SAMPLES.set(Some(Vec::new()));
    let mut out = Vec::new();
    sender.open(Time::ZERO, &mut out);
    sender.write(Time::ZERO, 100, &mut out);
    assert_eq!(out.iter().map(|segment| u64::from(segment.len)).sum::<u64>(), 100);
    // ACE begins with 5, and is 6 after a mark
    let ecn = Ecn::AE.with(Ecn::CWR);
    let ack = Segment { ack: 100, window: 1 << 20, connection: 1, is_ack: true, ecn, ..Segment::default() };
    sender.on_segment(Time::ZERO + Span::millis(20), &ack, &mut out);
    let marked: Vec<u64> = SAMPLES.with_borrow_mut(|samples| {
        samples.take().unwrap().iter().map(|sample| sample.newly_marked).collect()
    });
    assert_eq!(marked, [1]);
}
