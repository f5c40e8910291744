//! Sender and receiver over pipes that delay and lose at random: in every case each octet arrives once and in order,
//! the books of both ends agree, the window is kept, and the transfer ends.

use std::collections::VecDeque;

use pushout_core::rng::Stream;
use pushout_core::transport::Transport;
use pushout_core::transport::tcp::congestion;
use pushout_core::transport::tcp::congestion::new_reno::PartialAck;
use pushout_core::transport::tcp::recovery;
use pushout_core::transport::tcp::{Backoff, InitialEstimate, Params, Receiver, Segment, Sender};
use pushout_core::units::{Bytes, Span, Time};

use super::defaults;

/// One way: segments leave it `slot` apart, `delay` later, unless chance loses them or `room` of them wait; sometimes
/// one overtakes the one before.
struct Pipe {
    line: VecDeque<(Time, Segment)>,
    free: Time,
    slot: Span,
    delay: Span,
    loss: f64,
    swap: f64,
    room: usize,
}

impl Pipe {
    fn push(&mut self, now: Time, segment: Segment, chance: &mut Stream) {
        let waiting = || self.line.iter().filter(|(at, _)| *at > now + self.delay).count();
        if chance.chance(self.loss) || (self.line.len() >= self.room && waiting() >= self.room) {
            return;
        }
        self.free = self.free.max(now) + self.slot;
        self.line.push_back((self.free + self.delay, segment));
        if let Some(before) = self.line.len().checked_sub(2).filter(|_| chance.chance(self.swap)) {
            let last = self.line[before + 1].1;
            self.line[before + 1].1 = std::mem::replace(&mut self.line[before].1, last);
        }
    }

    fn next(&self) -> Option<Time> {
        self.line.front().map(|(at, _)| *at)
    }
}

/// Octets that the receiver must deliver, computed without it: every octet that has arrived, and the first that has
/// not.
#[derive(Default)]
struct Arrived {
    octets: Vec<bool>,
    in_order: usize,
}

impl Arrived {
    fn add(&mut self, segment: &Segment) {
        let (start, end) = (segment.seq as usize, segment.seq as usize + segment.len as usize);
        self.octets.resize(self.octets.len().max(end), false);
        self.octets[start..end].fill(true);
        self.in_order += self.octets[self.in_order..].iter().take_while(|come| **come).count();
    }
}

struct Pair {
    sender: Sender,
    receiver: Receiver,
    forth: Pipe,
    back: Pipe,
    /// Times at which the receiving application stops or continues to read, if it does.
    reading: Option<(Time, bool)>,
    chance: Stream,
    now: Time,
    arrived: Arrived,
    /// The congestion window limits what is in the pipe, and not what is unacknowledged.
    by_pipe: bool,
}

impl Pair {
    fn new(params: &Params, seed: u64, loss: f64, room: usize) -> Pair {
        params.check().unwrap();
        let mut chance = Stream::new(seed, "pipe");
        let phase = |limit: Span, chance: &mut Stream| Span(chance.up_to(limit.0 - 1));
        let sender = Sender::new(params, phase(params.slow_timer, &mut chance), Stream::new(seed, "jitter"));
        let receiver = Receiver::new(params, phase(params.fast_timer, &mut chance));
        let delay = Span(chance.up_to(Span::millis(40).0));
        let pipe = |slot, loss, room| Pipe {
            line: VecDeque::new(),
            free: Time::ZERO,
            slot,
            delay,
            loss,
            swap: loss / 4.0,
            room,
        };
        Pair {
            sender,
            receiver,
            forth: pipe(Span::micros(1200), loss, room),
            back: pipe(Span::micros(40), loss / 2.0, usize::MAX),
            reading: None,
            chance,
            now: Time::ZERO,
            arrived: Arrived::default(),
            by_pipe: params.sack,
        }
    }

    /// Carry the segments that the sender has sent, and check that the window was kept.
    fn send(&mut self, out: &mut Vec<Segment>) {
        let window = (self.sender.cwnd() + self.sender.inflation()).min(self.sender.send_window());
        for segment in out.drain(..) {
            let end = segment.seq + u64::from(segment.len);
            let first = segment.seq == self.sender.acked() || (self.by_pipe && segment.repeats > 0);
            let window = if self.by_pipe { self.sender.send_window() } else { window };
            assert!(
                first || end <= self.sender.acked() + window,
                "{segment:?} is outside of the window {window}"
            );
            assert!(segment.syn || segment.len > 0);
            self.forth.push(self.now, segment, &mut self.chance);
        }
    }

    fn reply(&mut self, out: &mut Vec<Segment>) {
        for segment in out.drain(..) {
            assert_eq!(segment.ack, self.receiver.delivered());
            self.back.push(self.now, segment, &mut self.chance);
        }
        let in_order = self.arrived.in_order as u64;
        let all = if self.reading.is_some() { in_order.min(self.receiver.delivered()) } else { in_order };
        assert_eq!(self.receiver.delivered(), all, "a closed window may refuse, nothing else may");
    }

    /// Handle the next event; returns false if there is none.
    fn step(&mut self) -> bool {
        let reading = self.reading.map(|(at, _)| at);
        let (sender, receiver) = (self.sender.next_timer(), self.receiver.next_timer());
        let times = [sender, receiver, self.forth.next(), self.back.next(), reading];
        let Some((index, at)) = times
            .iter()
            .enumerate()
            .filter_map(|(i, at)| at.map(|at| (i, at)))
            .min_by_key(|(i, at)| (*at, *i))
        else {
            return false;
        };
        assert!(at >= self.now, "time goes back");
        self.now = at;
        let mut out = Vec::new();
        match index {
            0 => self.sender.on_timer(at, &mut out),
            1 => self.receiver.on_timer(at, &mut out),
            2 => {
                let (_, segment) = self.forth.line.pop_front().unwrap();
                self.arrived.add(&segment);
                self.receiver.on_segment(at, &segment, &mut out);
            }
            3 => {
                let (_, segment) = self.back.line.pop_front().unwrap();
                let blocks = self.receiver.blocks(&segment);
                match segment.len {
                    0 => self.sender.on_segment(at, &segment, &mut out),
                    _ => self.sender.on_sack(at, &segment, &blocks, &mut out),
                }
            }
            _ => self.read_or_stop(&mut out),
        }
        if index == 0 || index == 3 {
            self.send(&mut out)
        } else {
            self.reply(&mut out)
        }
        assert!(self.sender.acked() <= self.receiver.delivered());
        true
    }

    fn read_or_stop(&mut self, out: &mut Vec<Segment>) {
        let stops = self.reading.is_some_and(|(_, stops)| stops);
        self.receiver.set_window(if stops { self.chance.up_to(3_000) } else { u64::MAX }, out);
        let at_most = if stops { Span::secs(10) } else { Span::millis(200) };
        self.reading = Some((self.now + Span(self.chance.up_to(at_most.0)), !stops));
    }

    fn transfer(&mut self, bytes: u64, reconnect: bool) {
        let mut out = Vec::new();
        self.sender.restart(self.now, reconnect, &mut out);
        self.sender.write(self.now, bytes, &mut out);
        self.send(&mut out);
        let mut steps = 0u64;
        while !self.sender.all_acked() {
            assert!(self.step(), "stuck: data is left and nothing will happen");
            steps += 1;
            assert!(steps < 1_000_000, "it does not end: {:?}", self.sender);
        }
    }
}

fn random_params(chance: &mut Stream) -> Params {
    let mut params = defaults();
    let congestions =
        [congestion::Spec::Reno, congestion::Spec::NewReno, congestion::Spec::Cubic, congestion::Spec::Tahoe];
    params.congestion = congestions[chance.up_to(3) as usize].into();
    params.sack = chance.chance(0.5);
    let recoveries = [recovery::Spec::Rfc6675, recovery::Spec::Prr, recovery::Spec::Rack];
    params.recovery = recoveries[chance.up_to(2) as usize];
    params.limited_transmit = chance.chance(0.7);
    params.timestamps = chance.chance(0.3);
    params.byte_counting = chance.chance(0.3);
    if chance.chance(0.5) {
        params.partial_ack = PartialAck::SlowButSteady;
    }
    let tick = [Span(1), Span::micros(10), Span::millis(200), Span::millis(500)];
    params.slow_timer = tick[chance.up_to(3) as usize];
    params.fast_timer = tick[chance.up_to(3) as usize];
    params.min_rto = [Span::ZERO, Span::millis(400), Span::secs(1)][chance.up_to(2) as usize];
    params.backoff = [Backoff::Rfc6298, Backoff::Bsd][chance.up_to(1) as usize];
    params.initial_estimate = [InitialEstimate::Rfc6298, InitialEstimate::Bsd][chance.up_to(1) as usize];
    params.mss = [512, 1460, 9140][chance.up_to(2) as usize];
    params.window = Bytes(u64::from(params.mss) + chance.up_to(130_000));
    params.initial_window = 1 + chance.up_to(3) as u32;
    params.delayed_ack = chance.chance(0.5);
    params.handshake = chance.chance(0.5);
    params.extra_increase = chance.chance(0.2);
    params.halve_inflation = chance.chance(0.2);
    params.missed_deflation = chance.chance(0.2);
    params.rtt_jitter = Span(chance.up_to(Span::millis(1).0));
    params.one_fast_retransmit = chance.chance(0.2);
    params
}

#[test]
fn every_octet_arrives_once_and_in_order_whatever_is_lost() {
    let (mut lost, mut recovered, mut probes) = (0, 0, 0);
    for seed in 0..400 {
        let mut chance = Stream::new(seed, "scenario");
        let params = random_params(&mut chance);
        let loss = [0.0, 0.01, 0.05, 0.3][chance.up_to(3) as usize];
        let mut pair = Pair::new(&params, seed, loss, 2 + chance.up_to(60) as usize);
        pair.reading = chance.chance(0.3).then_some((Time::ZERO, false));
        let mut total = 0;
        for _ in 0..3 {
            let bytes = 1 + chance.up_to(300_000);
            pair.transfer(bytes, chance.chance(0.5));
            total += bytes;
            assert_eq!(pair.sender.acked(), total, "seed {seed}");
            assert_eq!(pair.receiver.delivered(), total, "seed {seed}");
        }
        let stats = pair.sender.stats();
        let new = stats.segments_sent - stats.segments_retransmitted;
        assert!(pair.reading.is_some() || new >= total.div_ceil(u64::from(params.mss)));
        lost += stats.segments_retransmitted;
        recovered += stats.fast_retransmits;
        probes += stats.window_probes;
    }
    assert!(lost > 10_000 && recovered > 1_000 && probes > 100, "too tame: {lost}, {recovered}, {probes}");
}

#[test]
fn a_pipe_without_loss_needs_no_retransmission_and_is_filled() {
    for congestion in [congestion::Spec::Reno, congestion::Spec::NewReno] {
        let params = Params { congestion: congestion.into(), ..defaults() };
        let mut pair = Pair::new(&params, 1, 0.0, usize::MAX);
        pair.transfer(20_000_000, true);
        assert_eq!(pair.sender.stats().segments_retransmitted, 0);
        assert_eq!(pair.receiver.stats().duplicate_bytes, 0);
        let ideal = 20_000_000.0 / 1460.0 * 1.2e-3;
        let slowness = pair.now.as_secs_f64() / ideal;
        assert!((1.0..1.05).contains(&slowness), "{slowness}");
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let run = || {
        let mut pair = Pair::new(&defaults(), 7, 0.05, 20);
        pair.transfer(500_000, true);
        (pair.now, pair.sender.stats(), *pair.receiver.stats())
    };
    assert_eq!(run(), run());
}
