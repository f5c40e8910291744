//! Senders that measure against models of their own, ACK by ACK: a sender and its receiver over a line with a buffer, losses, late
//! segments, marks, rests of the application and changes of rate. What the sender reports to its congestion control, the model gets as
//! well; after every event their variables must be equal. And what it reports must be what a second ledger finds, which is told what is
//! sent, what acknowledgements report, which segments are declared lost, and no more.

use std::collections::{BTreeMap, VecDeque};

use pushout_core::adaptation::packet::Padding;
use pushout_core::language::read::{Format, read};
use pushout_core::language::spec::read_section;
use pushout_core::rng::Stream;
use pushout_core::transport::ecn::Ecn;
use pushout_core::transport::tcp::congestion::{Begin, Evidence};
use pushout_core::transport::tcp::pacer::{Pacer, PacketSizes};
use pushout_core::transport::tcp::rate::{LostSegment, RateSample};
use pushout_core::transport::tcp::{Params, Receiver, SackBlocks, Segment, Sender};
use pushout_core::units::{Span, Time};

use crate::transport::tcp::congestion::{EVENTS, Event};

/// Octets of data in a full segment.
pub(super) const MSS: u64 = 1000;
/// Octets of headers that the pacer adds.
const HEADERS: u64 = 52;

/// A model of a congestion control that measures.
pub(super) trait Measures {
    /// A connection begins, with a first window of `initial` octets.
    fn begin(begin: &Begin, initial: u64) -> Self;
    fn event(&mut self, event: &Event);
    /// Variables by their names in reports.
    fn figures(&self) -> Vec<(&'static str, f64)>;
    fn cwnd(&self) -> u64;
    /// The pace in bits of data per second.
    fn pace(&self) -> u64;
    /// The situations, by numbers below [`PLACES`], in which it is.
    fn places(&self) -> Vec<usize>;
    /// What is in flight at its last ACK counts as limited by the application.
    fn limits(&self) -> bool {
        false
    }
}

/// A segment that is not acknowledged, with what it bears from its last sending.
#[derive(Clone, Copy)]
struct Borne {
    end: u64,
    at: u64,
    first_sent: u64,
    delivered: u64,
    delivered_at: u64,
    limited: bool,
    in_flight: u64,
    lost_before: u64,
    /// It is declared lost, and it is under way once more.
    lost: bool,
    again: bool,
}

/// A second sampler; instants in picoseconds, volumes in octets.
#[derive(Default)]
struct Ledger {
    segments: BTreeMap<u64, Borne>,
    delivered: u64,
    delivered_at: u64,
    first_sent: u64,
    lost: u64,
    written: u64,
    sent: u64,
    acked: u64,
    /// Segments that blocks report count against the window, but in a fast recovery or until all that was sent at a timeout is
    /// acknowledged.
    counts_reported: bool,
    is_fast: bool,
    is_after_timeout: bool,
    limited_until: Option<u64>,
    full_until: Option<u64>,
    shortest: Option<u64>,
}

impl Ledger {
    fn pipe(&self) -> u64 {
        let copies = |borne: &Borne| u64::from(!borne.lost) + u64::from(borne.again);
        self.segments.iter().map(|(start, borne)| (borne.end - start) * copies(borne)).sum()
    }

    /// Send a segment; returns whether the sender begins anew after a rest.
    fn send(&mut self, now: u64, start: u64, len: u64) -> bool {
        let restarts = self.limited_until.is_some() && self.pipe() == 0;
        let lost = self.segments.get(&start).is_some_and(|borne| borne.lost);
        let again = self.segments.contains_key(&start);
        let blank = Borne { end: start + len, at: now, lost, again, ..self.bearing() };
        self.segments.insert(start, blank);
        let in_flight = self.pipe();
        if in_flight <= len {
            (self.first_sent, self.delivered_at) = (now, now);
        }
        let borne = Borne { in_flight, end: start + len, at: now, lost, again, ..self.bearing() };
        self.segments.insert(start, borne);
        self.sent = self.sent.max(start + len);
        restarts
    }

    fn bearing(&self) -> Borne {
        Borne {
            end: 0,
            at: 0,
            first_sent: self.first_sent,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            limited: self.limited_until.is_some(),
            in_flight: 0,
            lost_before: self.lost,
            lost: false,
            again: false,
        }
    }

    /// Take what an ACK reports out of the list.
    fn report(&mut self, ack: u64, blocks: &[(u64, u64)]) -> Vec<(u64, Borne)> {
        self.acked = self.acked.max(ack);
        let reported =
            |start: u64, end: u64| end <= ack || blocks.iter().any(|(from, to)| *from <= start && end <= *to);
        let gone: Vec<(u64, Borne)> = self
            .segments
            .iter()
            .filter(|(start, borne)| reported(**start, borne.end))
            .map(|(start, borne)| (*start, *borne))
            .collect();
        self.segments.retain(|start, borne| !reported(*start, borne.end));
        gone
    }

    /// Compare the report of a lost segment; the ACK that shows it delivers `newly` octets.
    fn lose(&mut self, segment: &LostSegment, newly: u64) {
        self.lost += segment.size;
        let borne = self.segments.get_mut(&segment.start).unwrap();
        assert!(!borne.lost || borne.again, "once for each sending");
        (borne.lost, borne.again) = (true, false);
        let found = (segment.sent_in_flight, segment.lost, segment.is_app_limited, segment.delivered);
        let expected =
            (borne.in_flight, self.lost - borne.lost_before, borne.limited, self.delivered + newly);
        assert_eq!(found, expected, "{segment:?}");
    }

    /// Compare the sample of an ACK that reports these segments, with which `lost` octets became lost.
    fn sample(&mut self, sample: &RateSample, gone: &[(u64, Borne)], lost: u64) {
        let now = sample.now.0;
        let newly: u64 = gone.iter().map(|(start, borne)| borne.end - start).sum();
        self.delivered += newly;
        self.delivered_at = if newly > 0 { now } else { self.delivered_at };
        if let Some(rtt) = sample.rtt {
            self.shortest = Some(self.shortest.map_or(rtt.0, |least| least.min(rtt.0)));
        }
        let newest = gone.iter().map(|(_, borne)| *borne).max_by_key(|borne| (borne.at, borne.end));
        let full = self.full_until.is_some_and(|until| self.delivered <= until);
        let of_flow = (
            sample.delivered,
            sample.newly_delivered,
            sample.newly_lost,
            sample.in_flight,
            sample.is_window_limited,
        );
        assert_eq!(of_flow, (self.delivered, newly, lost, self.pipe(), full), "{sample:?}");
        let of_segment = (sample.prior_delivered, sample.sent_in_flight, sample.lost, sample.is_app_limited);
        let Some(newest) = newest else {
            assert_eq!((of_segment, sample.rate), ((self.delivered, 0, 0, false), None), "{sample:?}");
            return;
        };
        let expected = (newest.delivered, newest.in_flight, self.lost - newest.lost_before, newest.limited);
        assert_eq!(of_segment, expected, "{sample:?}");
        let interval = (newest.at - newest.first_sent).max(now - newest.delivered_at);
        self.first_sent = newest.at;
        let octets = u128::from(self.delivered - newest.delivered);
        let rate = (8_000_000_000_000 * octets).checked_div(interval.into()).map(|rate| rate as u64);
        let rate = rate.filter(|_| self.shortest.is_none_or(|least| interval >= least));
        assert_eq!(sample.rate.map(|rate| rate.0), rate, "{sample:?}");
        if self.limited_until.is_some_and(|until| self.delivered > until) {
            self.limited_until = None;
        }
    }

    fn limit(&mut self) {
        self.limited_until = Some((self.delivered + self.pipe()).max(1));
    }

    /// Follow the begin and the end of recoveries.
    fn follow(&mut self, event: &Event) {
        match event {
            Event::Loss(Evidence::Blocks) => self.is_fast = true,
            Event::Timeout(_) => (self.is_fast, self.is_after_timeout) = (false, true),
            Event::Undo => self.is_fast = false,
            Event::Recovered if self.is_fast => self.is_fast = false,
            Event::Recovered => self.is_after_timeout = false,
            _ => {}
        }
    }

    /// After all that a window permits has been sent: does the application limit the flow, or is the window full?
    fn look(&mut self, cwnd: u64) {
        let waits = self.segments.values().any(|borne| borne.lost && !borne.again);
        let all = self.counts_reported && !self.is_fast && !self.is_after_timeout;
        let used = if all { self.sent - self.acked } else { self.pipe() };
        if self.sent >= self.written && !waits && used < cwnd {
            self.limit();
        }
        if used + MSS > cwnd {
            self.full_until = Some(self.delivered + self.pipe());
        }
    }
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
    ledger: Ledger,
    lost_syns: u64,
    probes: u64,
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
             min_rto = \"200 ms\"\ninitial_window = {initial}\nsack = true\nrecovery = \"rack\"\ndsack = true\nlaws = \"{}\"\nlimited_transmit = {}\n",
            MSS + 12,
            ["rfc", "linux"][laws as usize],
            seed & 2 == 0
        );
        let params: Params = read_section(&read(&text, Format::Toml).unwrap(), "transport").unwrap();
        let mut sender = Sender::new(&params, Span::ZERO, Stream::new(seed, "tcp"));
        let sizes = PacketSizes { headers: HEADERS as u32, padding: Padding::default(), minimum: 0 };
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
            ledger: Ledger { counts_reported: seed & 2 > 0, ..Ledger::default() },
            lost_syns: 0,
            probes: 0,
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

    /// Replay what the sender has reported at an ACK, if there is one, and before it has sent these segments; compare.
    /// Returns whether there was anything.
    fn compare(&mut self, ack: Option<(u64, Vec<(u64, u64)>)>, sent: &[(u64, u64)]) -> bool {
        let events = EVENTS.with_borrow_mut(|events| std::mem::take(events.as_mut().unwrap()));
        let is_heeded = events.iter().any(|event| matches!(event, Event::Sample(_)));
        let gone =
            ack.filter(|_| is_heeded).map_or(Vec::new(), |(ack, blocks)| self.ledger.report(ack, &blocks));
        let newly = gone.iter().map(|(start, borne)| borne.end - start).sum();
        let (mut lost, mut restarts) = (0, 0);
        for event in &events {
            if let Event::Begin(begin) = event {
                let mut model = M::begin(begin, self.initial);
                (0..self.lost_syns).for_each(|_| model.event(&Event::Timeout(begin.now)));
                self.model = Some(model);
                continue;
            }
            let Some(model) = &mut self.model else {
                assert!(matches!(event, Event::Timeout(_)), "before the connection is established");
                self.lost_syns += 1;
                continue;
            };
            model.event(event);
            self.ledger.follow(event);
            self.seen.add(event, &model.places());
            match event {
                Event::Lost(segment) => {
                    self.ledger.lose(segment, newly);
                    lost += segment.size;
                }
                Event::Sample(sample) => {
                    self.ledger.sample(sample, &gone, lost);
                    if model.limits() {
                        self.ledger.limit();
                    }
                }
                Event::Restart(_) => restarts += 1,
                _ => {}
            }
        }
        let begun = sent.iter().filter(|(start, len)| self.ledger.send(self.now.0, *start, *len)).count();
        assert_eq!(restarts, begun, "rests that end at {:?}", self.now);
        let Some(model) = &self.model else { return false };
        let state = self.sender.state();
        for (name, value) in model.figures() {
            let own = state.iter().find(|figure| figure.name == name).unwrap().value;
            assert_eq!(own, value, "{name} at {:?} after {events:?}", self.now);
        }
        assert_eq!(self.sender.cwnd(), model.cwnd(), "at {:?} after {events:?}", self.now);
        if self.ledger.sent > 0 {
            let pace = u128::from(model.pace()) * u128::from(MSS + HEADERS) / u128::from(MSS);
            let own = self.sender.pacing_rate().map(|rate| u128::from(rate.0));
            assert_eq!(own, Some(pace.max(1)), "at {:?} after {events:?}", self.now);
        }
        !events.is_empty() || !sent.is_empty()
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
        let (mut out, mut acks, mut told, mut looks) = (Vec::new(), Vec::new(), None, false);
        match times.iter().position(|at| at.is_some_and(|at| at <= next)).unwrap() {
            0 => {
                let (_, ack, blocks) = self.back.pop_front().unwrap();
                let list = if ack.seq == 0 { SackBlocks::default() } else { blocks };
                told = Some((ack.ack, list.iter().filter(|(_, end)| *end > ack.ack).collect()));
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
                (self.ledger.written, looks) = (self.ledger.written + octets, true);
                self.sender.write(next, octets, &mut out);
            }
            4 => self.sender.on_timer(next, &mut out),
            _ => {
                looks = true;
                self.sender.take_turn(next, &mut out);
            }
        }
        self.follow(told, &mut out, looks);
        self.carry(&mut Vec::new(), &mut acks);
        true
    }

    /// Compare what the sender has done, and bring what it has sent to the line.
    /// It `looks` for more to send, or only if it has been told something.
    fn follow(&mut self, ack: Option<(u64, Vec<(u64, u64)>)>, out: &mut Vec<Segment>, looks: bool) {
        let data = out.iter().filter(|segment| segment.len > 0);
        let data: Vec<(u64, u64)> = data.map(|segment| (segment.seq, u64::from(segment.len))).collect();
        let acts = self.compare(ack, &data);
        let probes = self.sender.stats().tail_probes;
        let is_probe = std::mem::replace(&mut self.probes, probes) < probes; // sent beside the window
        if self.model.is_some() && (acts || looks) && !is_probe {
            self.ledger.look(self.sender.cwnd());
        }
        self.carry(out, &mut Vec::new());
    }

    fn run(mut self) -> Seen {
        EVENTS.set(Some(Vec::new()));
        let mut out = Vec::new();
        self.sender.open(self.now, &mut out);
        self.follow(None, &mut out, true);
        if self.writes.is_empty() {
            self.ledger.written = u64::MAX;
            self.sender.write_forever(self.now, &mut out);
            self.follow(None, &mut out, true);
        }
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
