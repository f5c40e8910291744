//! Senders that measure against models of their own, ACK by ACK: a sender and its receiver over a line with a buffer, losses, late
//! segments, marks, rests of the application and changes of rate. What the sender reports to its congestion control, the model gets as
//! well; after every event their variables must be equal.

use std::collections::VecDeque;

use pushout_core::adaptation::packet::Padding;
use pushout_core::language::read::{Format, read};
use pushout_core::language::spec::read_section;
use pushout_core::rng::Stream;
use pushout_core::transport::ecn::Ecn;
use pushout_core::transport::tcp::congestion::Begin;
use pushout_core::transport::tcp::pacer::{Pacer, PacketSizes};
use pushout_core::transport::tcp::{Params, Receiver, SackBlocks, Segment, Sender};
use pushout_core::units::{Span, Time};

use crate::transport::tcp::congestion::{EVENTS, Event};

/// Octets of data in a full segment.
pub(super) const MSS: u64 = 1000;

/// A model of a congestion control that measures.
pub(super) trait Measures {
    /// A connection begins, with a first window of `initial` octets.
    fn begin(begin: &Begin, initial: u64) -> Self;
    fn event(&mut self, event: &Event);
    /// Variables by their names in reports.
    fn figures(&self) -> Vec<(&'static str, f64)>;
    fn cwnd(&self) -> u64;
    /// The situations, by numbers below [`PLACES`], in which it is.
    fn places(&self) -> Vec<usize>;
}

const PLACES: usize = 12;

/// What has been seen, to show that the traces lead everywhere.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    pub(super) samples: u64,
    pub(super) losses: u64,
    pub(super) timeouts: u64,
    pub(super) undone: u64,
    pub(super) restarts: u64,
    /// Packets that came with a mark, and marks of which the sender has been told.
    pub(super) marked: u64,
    pub(super) told: u64,
    pub(super) places: [u64; PLACES],
}

impl Seen {
    fn add(&mut self, event: &Event, places: &[usize]) {
        match event {
            Event::Sample(sample) => {
                (self.samples, self.told) = (self.samples + 1, self.told + sample.newly_marked)
            }
            Event::Lost(_) => self.losses += 1,
            Event::Timeout(_) => self.timeouts += 1,
            Event::Undo => self.undone += 1,
            Event::Restart(_) => self.restarts += 1,
            Event::Begin(_) | Event::Loss(_) | Event::Recovered => {}
        }
        places.iter().for_each(|&place| self.places[place] += 1);
    }

    fn join(&mut self, other: &Seen) {
        let Seen { samples, losses, timeouts, undone, restarts, marked, told, places } = other;
        self.samples += samples;
        self.losses += losses;
        self.timeouts += timeouts;
        self.undone += undone;
        self.restarts += restarts;
        self.marked += marked;
        self.told += told;
        self.places.iter_mut().zip(places).for_each(|(sum, more)| *sum += more);
    }
}

/// A line with a buffer, and the two ends.
struct Path<M> {
    chance: Stream,
    sender: Sender,
    receiver: Receiver,
    model: Option<M>,
    initial: u64,
    now: Time,
    slot: u64,
    delay: u64,
    buffer: u64,
    loss: f64,
    late: f64,
    mark: f64,
    free: u64,
    forth: Vec<(u64, Segment)>,
    back: VecDeque<(Time, Segment, SackBlocks)>,
    /// Instants at which the application writes, with octets; an endless write if there are none.
    writes: VecDeque<(Time, u64)>,
    seen: Seen,
}

impl<M: Measures> Path<M> {
    /// A path of a sender with these keys.
    fn new(seed: u64, keys: &str) -> Path<M> {
        let mut chance = Stream::new(seed, "measured");
        let (initial, handshake, laws) = (1 + chance.up_to(14), chance.chance(0.7), chance.up_to(1));
        let text = format!(
            "{keys}\nmss = {}\ntimestamps = true\nwindow = \"4 MiB\"\nhandshake = {handshake}\nslow_timer = \"1 ms\"\n\
             min_rto = \"200 ms\"\ninitial_window = {initial}\nsack = true\nrecovery = \"rack\"\ndsack = true\nlaws = \"{}\"\n",
            MSS + 12,
            ["rfc", "linux"][laws as usize]
        );
        let params: Params = read_section(&read(&text, Format::Toml).unwrap(), "transport").unwrap();
        let mut sender = Sender::new(&params, Span::ZERO, Stream::new(seed, "tcp"));
        let sizes = PacketSizes { headers: 52, padding: Padding::default(), minimum: 0 };
        sender.pace(Pacer::new(&read_section(&read("", Format::Toml).unwrap(), "").unwrap(), sizes, MSS));
        let rests = chance.chance(0.5);
        let writes = (0..if rests { 400 } else { 0 }).scan(0, |at, _| {
            *at += [5, 40, 400, 6000][chance.up_to(3) as usize] * chance.up_to(1_000_000_000);
            Some((Time(*at), MSS * (1 + chance.up_to(40))))
        });
        let writes = writes.collect();
        Path {
            slot: 1_000_000_000 * (1 + chance.up_to(12)),
            delay: 1_000_000_000 * (1 + chance.up_to(40)),
            buffer: 2 + chance.up_to(60),
            loss: [0.0, 0.0, 0.005, 0.03][chance.up_to(3) as usize],
            late: [0.0, 0.0, 0.004][chance.up_to(2) as usize],
            mark: [0.0, 0.02, 0.2, 1.0][chance.up_to(3) as usize],
            receiver: Receiver::new(&params, Span::ZERO),
            model: None,
            initial: initial * MSS,
            now: Time::ZERO,
            free: 0,
            forth: Vec::new(),
            back: VecDeque::new(),
            seen: Seen::default(),
            sender,
            chance,
            writes,
        }
    }

    /// Bring segments to the line, and ACKs on their way.
    fn carry(&mut self, out: &mut Vec<Segment>, acks: &mut Vec<Segment>) {
        for segment in out.drain(..) {
            let waiting = self.free.saturating_sub(self.now.0) / self.slot;
            if waiting > self.buffer || self.chance.chance(self.loss) {
                continue;
            }
            self.free = self.free.max(self.now.0) + self.slot;
            let held = if self.chance.chance(self.late) { self.chance.up_to(600_000_000_000) } else { 0 };
            let marked = segment.ecn.has(Ecn::ECT) && self.chance.chance(self.mark);
            let ecn = segment.ecn.with(Ecn::CE.when(marked));
            self.forth.push((self.free + self.delay + held, Segment { ecn, ..segment }));
        }
        for ack in acks.drain(..) {
            let blocks = self.receiver.blocks(&ack);
            if !self.chance.chance(self.loss / 2.0) {
                self.back.push_back((Time(self.now.0 + self.delay), ack, blocks));
            }
        }
    }

    /// Replay what the sender has reported, and compare.
    fn compare(&mut self) {
        let events = EVENTS.with_borrow_mut(|events| std::mem::take(events.as_mut().unwrap()));
        for event in &events {
            if let Event::Begin(begin) = event {
                self.model = Some(M::begin(begin, self.initial));
                continue;
            }
            let model = self.model.as_mut().unwrap();
            model.event(event);
            self.seen.add(event, &model.places());
        }
        let Some(model) = &self.model else { return };
        let state = self.sender.state();
        for (name, value) in model.figures() {
            let own = state.iter().find(|figure| figure.name == name).unwrap().value;
            assert_eq!(own, value, "{name} at {:?} after {events:?}", self.now);
        }
        assert_eq!(self.sender.cwnd(), model.cwnd(), "at {:?} after {events:?}", self.now);
    }

    /// Take the next event before `end`; false if there is none.
    fn step(&mut self, end: Time) -> bool {
        let earliest = (0..self.forth.len()).min_by_key(|&place| (self.forth[place].0, place));
        let times = [
            self.back.front().map(|(at, ..)| *at),
            earliest.map(|place| Time(self.forth[place].0)),
            self.receiver.next_timer(),
            self.writes.front().map(|(at, _)| *at),
            self.sender.next_timer(),
            self.sender.place(),
        ];
        let Some(next) = times.into_iter().flatten().map(|at| at.max(self.now)).min().filter(|at| *at < end)
        else {
            return false;
        };
        self.now = next;
        let (mut out, mut acks) = (Vec::new(), Vec::new());
        match times.iter().position(|at| at.is_some_and(|at| at <= next)).unwrap() {
            0 => {
                let (_, ack, blocks) = self.back.pop_front().unwrap();
                match ack.seq {
                    0 => self.sender.on_segment(next, &ack, &mut out),
                    _ => self.sender.on_sack(next, &ack, &blocks, &mut out),
                }
            }
            1 => {
                let (_, segment) = self.forth.remove(earliest.unwrap());
                self.receiver.on_segment(next, &segment, &mut acks);
            }
            2 => self.receiver.on_timer(next, &mut acks),
            3 => {
                let (_, octets) = self.writes.pop_front().unwrap();
                self.sender.write(next, octets, &mut out);
            }
            4 => self.sender.on_timer(next, &mut out),
            _ => self.sender.take_turn(next, &mut out),
        }
        self.carry(&mut out, &mut acks);
        self.compare();
        true
    }

    fn run(mut self) -> Seen {
        EVENTS.set(Some(Vec::new()));
        let mut out = Vec::new();
        self.sender.open(self.now, &mut out);
        if self.writes.is_empty() {
            self.sender.write_forever(self.now, &mut out);
        }
        self.carry(&mut out, &mut Vec::new());
        self.compare();
        let end = Time::ZERO + Span::secs(14);
        while self.step(end) {
            if self.chance.chance(0.001) {
                self.slot = 1_000_000_000 * (1 + self.chance.up_to(12));
            }
        }
        EVENTS.set(None);
        self.seen.marked = self.receiver.stats().marked;
        self.seen
    }
}

/// Run the traces of a model, `plain` of them with a push, and return what was seen and their number.
pub(super) fn compare<M: Measures>(keys: &[&str], plain: u64) -> (Seen, u64) {
    let count =
        std::env::var("PUSHOUT_EQUIVALENCE").ok().and_then(|count| count.parse().ok()).unwrap_or(plain);
    let mut all = Seen::default();
    for seed in 0..count {
        all.join(&Path::<M>::new(seed, keys[seed as usize % keys.len()]).run());
    }
    (all, count)
}
