//! Credits of classes of packets (CBFC): a host sends over a line with credits to a router, which passes the packets on to another
//! host.
//!
//! The reference engine reports what reaches the first port, and what leaves both. From the arrivals the model computes every
//! departure, with the counters of the published description. Times are picoseconds, and octets last whole nanoseconds.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write;

use pushout_core::engine::{Stopwatch, reference};
use pushout_core::network::circuit::Circuit;
use pushout_core::rng::Stream;
use pushout_core::scenario::load;
use pushout_core::trace::{Tracer, What};
use pushout_core::unit::Unit;
use pushout_core::units::Time;
use pushout_core::units::ids::{CircuitId, IdVec, LineId};

/// Octets of a message with freed credits.
const MESSAGE: u64 = 8;

/// Modulus of the counters, which have twenty bits.
const MODULUS: u64 = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Packet {
    circuit: u32,
    frame: u32,
    octets: u64,
}

/// A random hop.
#[derive(Debug)]
struct Hop {
    /// Octets of a credit, and those added to a packet.
    credit: u64,
    overhead: u64,
    /// Credits of each class.
    limit: u64,
    /// Octets between the starts of two messages.
    update: u64,
    /// The time of an octet there, back, and beyond the router; of a bit on the cable, each way.
    lasts: [u64; 3],
    cable: [u64; 2],
    /// When the run ends.
    end: u64,
    /// The class of every circuit, and whether each has a queue of its own, served by priority.
    classes: Vec<usize>,
    by_priority: bool,
    sizes: Vec<u64>,
}

impl Hop {
    fn draw(stream: &mut Stream) -> Hop {
        let is_long = stream.up_to(29) == 0; // so that counters start again from zero
        let mut speed = || 1000 << if is_long { 0 } else { stream.up_to(3) };
        let lasts = [speed(), speed(), speed()];
        let credit = if is_long { 1 } else { 1 + stream.up_to(400) };
        let (overhead, update) = (stream.up_to(40), 8 + stream.up_to(3000));
        let circuits = 1 + stream.up_to(4) as usize;
        let sizes: Vec<u64> = (0..circuits).map(|_| 29 + stream.up_to(900)).collect();
        let largest = sizes.iter().map(|octets| (octets + overhead).div_ceil(credit)).max().unwrap();
        Hop {
            limit: largest + if is_long { 30 * largest } else { stream.up_to(4 * largest) },
            cable: [stream.up_to(4_000_000), stream.up_to(4_000_000)],
            end: if is_long { 3_000_000_000 } else { 300_000_000 },
            classes: (0..circuits).map(|_| stream.up_to(2) as usize).collect(),
            by_priority: stream.up_to(1) == 1,
            credit,
            overhead,
            update,
            lasts,
            sizes,
        }
    }

    fn credits(&self, packet: &Packet) -> u64 {
        (packet.octets + self.overhead).div_ceil(self.credit)
    }

    /// Write the scenario: the router stores each class of the packets from the line in cells of the size of a credit.
    fn text(&self, stream: &mut Stream) -> String {
        let Hop { credit, overhead, limit, update, cable: [there, back], end, .. } = self;
        let [rate, rate_back, rate_out] = self.lasts.map(|octet| 8_000_000 / octet);
        let scheduler = if self.by_priority { "strict-priority" } else { "fifo" };
        let mut text = format!(
            "name = \"hop\"\nduration = \"{end} ps\"\nadaptation = {{ kind = \"packet\" }}\n\
             node = [{{ name = \"a\", kind = \"host\" }}, {{ name = \"r\", kind = \"router\" }}, {{ name = \"b\", kind = \"host\" }}]\n\
             link = [\n\
             {{ name = \"in\", from = \"a\", to = \"r\", rate = \"{rate} Mb/s\", delay = \"{there} ps\", back = {{ rate = \
             \"{rate_back} Mb/s\", delay = \"{back} ps\" }} }},\n\
             {{ name = \"out\", from = \"r\", to = \"b\", rate = \"{rate_out} Mb/s\", delay = \"0 s\" }},\n]\n\
             [port.in]\nscheduler = {{ policy = \"{scheduler}\" }}\n\
             credit = {{ policy = \"cbfc\", credit_size = \"{credit} bytes\", overhead = \"{overhead} bytes\", room = \"{} bytes\", \
             update = \"{update} bytes\" }}\n\
             [port.out]\nmemory = \"chip\"\n\
             [memory.chip]\nsize = \"{} cells\"\ncell = \"{credit} bytes\"\nheader = \"{overhead} bytes\"\n\
             pool.all = {{ side = \"ingress\" }}\n\
             [queue.c0]\n[queue.c1]\n[queue.c2]\n",
            limit * credit + stream.up_to(credit - 1),
            3 * limit
        );
        for (number, (class, size)) in self.classes.iter().zip(&self.sizes).enumerate() {
            let (burst, off, data) = (1 + stream.up_to(20), 1 + stream.up_to(9000), size - 28);
            writeln!(text, "[[flow]]\nname = \"f{number}\"\nfrom = \"a\"\nto = \"b\"\nqueue = \"c{class}\"")
                .unwrap();
            writeln!(text, "priority = {number}\ntransport = {{ kind = \"udp\" }}\n[flow.source]").unwrap();
            writeln!(text, "kind = \"on-off\"\npeak = \"6 Gb/s\"\nburst = {burst}\noff = \"{off} ns\"")
                .unwrap();
            writeln!(text, "size = \"{data} bytes\"").unwrap();
        }
        text
    }
}

/// Arrival of each packet at the first port, and its departures from the two ports.
#[derive(Default)]
struct Seen {
    lines: [LineId; 2],
    came: Vec<(u64, Packet)>,
    left: [Vec<(u64, Packet)>; 2],
}

impl Tracer for Seen {
    fn see(&mut self, now: Time, line: LineId, unit: &Unit, what: What, _: &IdVec<CircuitId, Circuit>) {
        let Some(port) = self.lines.iter().position(|own| *own == line) else { return };
        let packet = Packet { circuit: unit.vc.0, frame: unit.frame, octets: unit.bytes.into() };
        match what {
            What::Leaves => self.left[port].push((now.0, packet)),
            What::Arrives if port == 0 => self.came.push((now.0, packet)),
            What::Arrives => {}
            What::Lost(_) => panic!("nothing is lost"),
        }
    }
}

/// The counters of a class, at the sender (S) and at the receiver (R).
#[derive(Clone, Copy, Default)]
struct Counters {
    s_consumed: u64,
    s_freed: u64,
    r_freed: u64,
    reported: u64,
}

/// The state of the hop during the run.
struct Model<'a> {
    hop: &'a Hop,
    now: u64,
    /// Packets that wait in the host, in order of arrival, and in the router.
    waiting: Vec<Packet>,
    behind: VecDeque<Packet>,
    /// Packets in transmission on the two lines, with their ends.
    sending: [Option<(u64, Packet)>; 2],
    /// Packets and messages in flight, with their arrivals.
    packets: VecDeque<(u64, Packet)>,
    messages: VecDeque<(u64, usize, u64)>,
    counters: BTreeMap<usize, Counters>,
    /// The earliest start of the next message, the end of the last one, and the class after the last one's.
    next_message: u64,
    turn: usize,
    left: [Vec<(u64, Packet)>; 2],
    /// Number of times that a packet found the line free but lacked credits, and that a counter wrapped to zero.
    blocked: u64,
    wraps: u64,
}

impl Model<'_> {
    fn class(&self, packet: &Packet) -> usize {
        self.hop.classes[packet.circuit as usize]
    }

    /// Handle all events of this instant, in their order: departures, messages that may start, credits, arrivals.
    fn step(&mut self) {
        let now = self.now;
        for line in [1, 0] {
            if let Some((_, packet)) = self.sending[line].take_if(|(ends, _)| *ends == now) {
                self.left[line].push((now, packet));
                if line == 0 {
                    self.packets.push_back((now + self.hop.cable[0], packet));
                } else {
                    let (class, credits) = (self.class(&packet), self.hop.credits(&packet));
                    let counters = self.counters.get_mut(&class).unwrap();
                    self.wraps += (counters.r_freed + credits) / MODULUS;
                    counters.r_freed = (counters.r_freed + credits) % MODULUS;
                }
            }
        }
        self.start(); // before credits of the same instant
        self.start_message();
        while let Some(&(_, class, freed)) = self.messages.front().filter(|(time, ..)| *time == now) {
            self.counters.get_mut(&class).unwrap().s_freed = freed;
            self.messages.pop_front();
        }
        while let Some(&(_, packet)) = self.packets.front().filter(|(time, _)| *time == now) {
            self.behind.push_back(packet);
            self.packets.pop_front();
        }
        self.start();
    }

    /// Start transmissions at both ports if their lines are free.
    fn start(&mut self) {
        let now = self.now;
        if self.sending[1].is_none() {
            self.sending[1] =
                self.behind.pop_front().map(|packet| (now + packet.octets * self.hop.lasts[2], packet));
        }
        if self.sending[0].is_none() {
            self.sending[0] = self.next().map(|packet| (now + packet.octets * self.hop.lasts[0], packet));
        }
    }

    /// Send the next message, if there is one and it is permitted.
    fn start_message(&mut self) {
        if self.now < self.next_message {
            return;
        }
        let news = |counters: &Counters| counters.reported != counters.r_freed;
        let with_news: BTreeSet<usize> =
            self.counters.iter().filter(|(_, counters)| news(counters)).map(|(class, _)| *class).collect();
        let class = with_news.range(self.turn..).chain(&with_news).next().copied();
        let Some(class) = class else { return };
        let counters = self.counters.get_mut(&class).unwrap();
        counters.reported = counters.r_freed;
        let arrives = self.now + MESSAGE * self.hop.lasts[1] + self.hop.cable[1];
        self.messages.push_back((arrives, class, counters.r_freed));
        (self.next_message, self.turn) = (self.now + self.hop.update * self.hop.lasts[1], class + 1);
    }

    /// The packet that the host sends next.
    fn next(&mut self) -> Option<Packet> {
        let heads: Vec<Packet> = if self.hop.by_priority {
            let head = |circuit| self.waiting.iter().find(|packet| packet.circuit == circuit).copied();
            (0..self.hop.classes.len() as u32).filter_map(head).collect()
        } else {
            self.waiting.first().copied().into_iter().collect()
        };
        let lets = |packet: &&Packet| {
            let Counters { s_consumed, s_freed, .. } = self.counters[&self.class(packet)];
            (s_consumed + MODULUS - s_freed) % MODULUS + self.hop.credits(packet) <= self.hop.limit
        };
        let Some(packet) = heads.iter().find(lets).copied() else {
            self.blocked += u64::from(!heads.is_empty());
            return None;
        };
        let (class, credits) = (self.class(&packet), self.hop.credits(&packet));
        let counters = self.counters.get_mut(&class).unwrap();
        counters.s_consumed = (counters.s_consumed + credits) % MODULUS;
        self.waiting.retain(|other| *other != packet);
        Some(packet)
    }

    /// Return the next instant at which a transmission ends or may begin.
    fn next_instant(&self) -> Option<u64> {
        let has_news = self.counters.values().any(|counters| counters.reported != counters.r_freed);
        let sending = self.sending.iter().flatten().map(|(ends, _)| *ends);
        let arrivals = self.packets.front().map(|(time, _)| *time);
        let messages = self.messages.front().map(|(time, ..)| *time);
        let later = sending.chain(arrivals).chain(messages).chain(has_news.then_some(self.next_message));
        later.filter(|time| *time > self.now).min()
    }
}

/// Run the hop with these arrivals of packets at the first port, and return its final state.
fn run<'a>(hop: &'a Hop, came: &[(u64, Packet)]) -> Model<'a> {
    let counters = hop.classes.iter().map(|class| (*class, Counters::default())).collect();
    let mut model = Model {
        hop,
        now: 0,
        waiting: Vec::new(),
        behind: VecDeque::new(),
        sending: [None, None],
        packets: VecDeque::new(),
        messages: VecDeque::new(),
        counters,
        next_message: 0,
        turn: 0,
        left: [Vec::new(), Vec::new()],
        blocked: 0,
        wraps: 0,
    };
    let mut came = came.iter().peekable();
    loop {
        let soonest = came.peek().map(|(time, _)| *time).into_iter().chain(model.next_instant()).min();
        let Some(now) = soonest.filter(|time| *time < hop.end) else { return model };
        model.now = now;
        model.step();
        while let Some((_, packet)) = came.next_if(|(time, _)| *time == now) {
            model.waiting.push(*packet);
            model.step();
        }
    }
}

/// Compare a random hop with its model; returns counts of the model.
fn compare(seed: u64) -> [u64; 3] {
    let mut stream = Stream::new(seed, "credits");
    let hop = Hop::draw(&mut stream);
    let text = hop.text(&mut stream);
    let scenario = load(&text, "hop.toml", &[]).unwrap_or_else(|wrong| panic!("{}\n{text}", wrong.message));
    let line = |name: &str| scenario.lines.position(|line| line.name == name).unwrap();
    let seen = Seen { lines: [line("in"), line("out")], ..Seen::default() };
    let (outcome, seen) = reference::run_traced(&scenario, false, seen, &mut Stopwatch::default());
    let model = run(&hop, &seen.came);
    for port in [0, 1] {
        let (engine, model) = (&seen.left[port], &model.left[port]);
        let (said, mut same) =
            (format!("seed {seed}, port {port}: {hop:?}\n{text}"), engine.iter().zip(model));
        let differs = same.position(|(one, other)| one != other);
        assert_eq!(differs.map(|place| (place, engine[place], model[place])), None, "{said}");
        assert_eq!(engine.len(), model.len(), "{said}");
    }
    for memory in outcome.network.memories() {
        assert!(memory.queues().iter().all(|queue| queue.dropped == 0), "seed {seed}\n{text}");
    }
    [model.left[1].len() as u64, model.blocked, model.wraps]
}

#[test]
fn packets_are_sent_when_the_counters_of_their_class_allow_it() {
    let many = std::env::var("PUSHOUT_EQUIVALENCE").map_or(200, |count| count.parse().unwrap());
    let mut sums = [0; 3];
    for seed in 0..many {
        let of_hop = compare(seed);
        sums.iter_mut().zip(of_hop).for_each(|(sum, more)| *sum += more);
    }
    let [passed, blocked, wraps] = sums;
    assert!(passed > 50 * many && blocked > 20 * many && 100 * wraps > many, "{sums:?}");
}
