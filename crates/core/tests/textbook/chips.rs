//! Chips: ports that share a memory, packet by packet.
//!
//! The reference engine tells what comes to each port and what leaves it; the model, which knows no engine, says from that
//! which packets are lost, in which order, and when another one has to leave.

use std::collections::VecDeque;
use std::fmt::Write;

use pushout_core::engine::{Stopwatch, reference};
use pushout_core::network::circuit::Circuit;
use pushout_core::rng::Stream;
use pushout_core::scenario::load;
use pushout_core::trace::{Tracer, What};
use pushout_core::unit::Unit;
use pushout_core::units::Time;
use pushout_core::units::ids::{CircuitId, IdVec, LineId};
use pushout_core::verdict::Reason;

/// Octets of a cell of the memory.
const CELL: usize = 64;

/// A packet at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Packet {
    vc: u32,
    frame: u32,
    bytes: u64,
    cells: usize,
}

/// Content of a memory: the packets of each port, the first of which is in transmission.
#[derive(Debug)]
pub(crate) struct Chip {
    cells: usize,
    ports: Vec<VecDeque<Packet>>,
    lost: Vec<(Packet, Reason)>,
}

impl Chip {
    /// Cells of a port's packets.
    pub(crate) fn of(&self, port: usize) -> usize {
        self.ports[port].iter().map(|packet| packet.cells).sum()
    }

    /// Cells in use.
    pub(crate) fn used(&self) -> usize {
        (0..self.ports.len()).map(|port| self.of(port)).sum()
    }

    pub(crate) fn fits(&self, packet: Packet) -> bool {
        self.used() + packet.cells <= self.cells
    }

    fn lose(&mut self, packet: Packet, reason: Reason) {
        self.lost.push((packet, reason));
    }
}

/// A policy of a memory.
pub(crate) trait Policy {
    /// Return whether a packet is accepted; others may be lost to make room.
    fn takes(&mut self, chip: &mut Chip, now: u64, port: usize, packet: Packet) -> bool;

    /// Advance to this instant, before which only departures have happened.
    fn advance(&mut self, _chip: &mut Chip, _until: u64) {}

    /// Record an accepted packet of a port.
    fn taken(&mut self, _chip: &mut Chip, _now: u64, _port: usize) {}

    /// Record a packet that has left.
    fn left(&mut self, _chip: &mut Chip, _now: u64, _port: usize, _packet: Packet) {}
}

/// The engine's chip and its model.
struct Pair {
    chip: Chip,
    policy: Box<dyn Policy>,
    /// For each line of the scenario the port of the chip.
    ports: IdVec<LineId, Option<usize>>,
    /// Losses that the engine has still to report.
    awaited: VecDeque<(Packet, Reason)>,
    lost: usize,
    said: String,
}

impl Pair {
    /// Run the actions that the policy takes by itself up to `now`; at `now` itself a departure comes first.
    fn pass_time(&mut self, now: u64, what: What) {
        self.policy.advance(&mut self.chip, now.saturating_sub(1));
        assert_eq!(self.chip.lost, [], "{}: what should have been lost before {now} ps", self.said);
        if what != What::Leaves && self.awaited.is_empty() {
            self.policy.advance(&mut self.chip, now);
            self.awaited.extend(self.chip.lost.drain(..));
        }
    }
}

impl Tracer for Pair {
    fn see(&mut self, now: Time, line: LineId, unit: &Unit, what: What, _: &IdVec<CircuitId, Circuit>) {
        let Some(port) = self.ports[line] else { return };
        let cells = usize::from(unit.bytes).div_ceil(CELL);
        let packet = Packet { vc: unit.vc.0, frame: unit.frame, bytes: unit.bytes.into(), cells };
        self.pass_time(now.0, what);
        if let What::Lost(reason) = what {
            assert_eq!(self.awaited.pop_front(), Some((packet, reason)), "{}: the next loss", self.said);
            self.lost += 1;
            return;
        }
        assert!(self.awaited.is_empty(), "{}: {:?} should be lost", self.said, self.awaited);
        if what == What::Leaves {
            assert_eq!(self.chip.ports[port].pop_front(), Some(packet), "{}: what leaves", self.said);
            self.policy.left(&mut self.chip, now.0, port, packet);
            return self.awaited.extend(self.chip.lost.drain(..));
        }
        match self.policy.takes(&mut self.chip, now.0, port, packet) {
            true => {
                self.chip.ports[port].push_back(packet);
                self.policy.taken(&mut self.chip, now.0, port);
            }
            false => self.chip.lose(packet, Reason::Overflow),
        }
        self.awaited.extend(self.chip.lost.drain(..));
    }
}

/// A chip of random size with random traffic to ports of a few megabits per second, at which no transmission time is rounded.
struct Draw {
    stream: Stream,
    cells: usize,
    ports: usize,
    rate: u64,
}

impl Draw {
    fn new(seed: u64) -> Draw {
        let mut stream = Stream::new(seed, "chips");
        let (cells, ports) = (40 + stream.up_to(100) as usize, 1 + stream.up_to(4) as usize);
        let rate = [1, 2, 4, 8][stream.up_to(3) as usize];
        Draw { stream, cells, ports, rate }
    }

    fn coin(&mut self) -> bool {
        self.stream.up_to(1) == 1
    }

    /// The scenario, with these keys of its memory.
    fn text(&mut self, keys: &str) -> String {
        let mut text =
            String::from("name = \"chip\"\nduration = \"30 ms\"\nadaptation = { kind = \"packet\" }\n");
        writeln!(text, "sample = \"100 us\"\nport = {{ default = {{ memory = \"chip\" }} }}").unwrap();
        let Draw { cells, ports, rate, .. } = *self;
        writeln!(text, "[memory.chip]\nsize = \"{cells} cells\"\ncell = \"{CELL} bytes\"\n{keys}").unwrap();
        writeln!(text, "[[node]]\nname = \"r\"\nkind = \"router\"").unwrap();
        let senders = ports + self.stream.up_to(3) as usize;
        for (name, to, count, rate) in [("a", true, senders, 100), ("b", false, ports, rate)] {
            for n in 0..count {
                let (from, to) =
                    if to { (format!("{name}{n}"), "r".into()) } else { ("r".into(), format!("{name}{n}")) };
                writeln!(
                    text,
                    "[[node]]\nname = \"{name}{n}\"\nkind = \"host\"\n[[link]]\nname = \"{from}-{to}\""
                )
                .unwrap();
                writeln!(text, "from = \"{from}\"\nto = \"{to}\"\nrate = \"{rate} Mb/s\"\ndelay = \"1 us\"")
                    .unwrap();
            }
        }
        for n in 0..senders {
            let mut below = |count: u64| self.stream.up_to(count - 1);
            let (size, burst, off) = (1 + below(600), 1 + below(40), 1 + below(8000));
            writeln!(text, "[[flow]]\nname = \"f{n}\"\nfrom = \"a{n}\"\nto = \"b{}\"", n % ports).unwrap();
            writeln!(
                text,
                "transport = {{ kind = \"udp\" }}\n[flow.source]\nkind = \"on-off\"\npeak = \"100 Mb/s\""
            )
            .unwrap();
            writeln!(text, "burst = {burst}\noff = \"{off} us\"\nsize = \"{size} bytes\"").unwrap();
        }
        text
    }
}

/// Compare two hundred chips with their models, each with the keys and the policy that are drawn for it; returns how
/// many packets were lost.
fn compare(scheme: impl Fn(&mut Draw) -> (String, Box<dyn Policy>)) -> usize {
    let one = |seed: u64| {
        let mut draw = Draw::new(seed);
        let (keys, policy) = scheme(&mut draw);
        let scenario =
            load(&draw.text(&keys), "chip.toml", &[]).unwrap_or_else(|wrong| panic!("{}", wrong.message));
        let mut ports = 0;
        let numbered = scenario.lines.iter().map(|line| {
            line.port.memory.is_some().then(|| {
                ports += 1;
                ports - 1
            })
        });
        let numbered = numbered.collect();
        let chip = Chip { cells: draw.cells, ports: vec![VecDeque::new(); ports], lost: Vec::new() };
        let said = format!("seed {seed}, {keys}");
        let pair = Pair { chip, policy, ports: numbered, awaited: VecDeque::new(), lost: 0, said };
        reference::run_traced(&scenario, false, pair, &mut Stopwatch::default()).1.lost
    };
    let many = std::env::var("PUSHOUT_EQUIVALENCE").map_or(200, |count| count.parse().unwrap());
    (0..many).map(one).sum()
}

/// Longest queue drop.
struct Longest {
    tail: bool,
    counts_arrival: bool,
}

impl Policy for Longest {
    fn takes(&mut self, chip: &mut Chip, _: u64, port: usize, packet: Packet) -> bool {
        while !chip.fits(packet) {
            let own = chip.of(port) + if self.counts_arrival { packet.cells } else { 0 };
            let longest = (0..chip.ports.len()).filter(|&other| other != port && chip.ports[other].len() > 1);
            let mut longest: Vec<usize> = longest.collect();
            longest.sort_by_key(|&other| (usize::MAX - chip.of(other), other));
            match longest.first() {
                Some(&victim) if chip.of(victim) > own => {
                    let last = chip.ports[victim].len() - 1;
                    let gone = chip.ports[victim].remove(if self.tail { last } else { 1 }).unwrap();
                    chip.lose(gone, Reason::PushedOut);
                }
                _ => return false,
            }
        }
        true
    }
}

#[test]
fn in_a_memory_the_longest_queue_of_any_port_loses_a_packet_for_one_that_finds_no_room() {
    let lost = compare(|draw| {
        let (tail, counts_arrival) = (draw.coin(), draw.coin());
        let end = if tail { "tail" } else { "head" };
        let keys = format!(
            "pushout = {{ policy = \"longest-queue\", end = \"{end}\", counts_arrival = {counts_arrival} }}"
        );
        (keys, Box::new(Longest { tail, counts_arrival }))
    });
    assert!(lost > 10_000, "{lost}");
}

/// Push-out of entire packets: a queue loses the first packet that waits, or the last one, unless the arriving one is too
/// long for what the ports do not send now.
#[derive(Default)]
struct Entire {
    tail: bool,
    /// The register LQ: the queue that gives way, if it is not the longest; then the next one by number.
    register: Option<usize>,
}

impl Entire {
    /// Compare a queue with queue LQ.
    fn look(&mut self, chip: &Chip, port: usize) {
        if let Some(longest) = &mut self.register
            && chip.of(port) > chip.of(*longest)
        {
            *longest = port;
        }
    }
}

impl Policy for Entire {
    fn takes(&mut self, chip: &mut Chip, _: u64, _: usize, packet: Packet) -> bool {
        let sent: usize = chip.ports.iter().filter_map(VecDeque::front).map(|packet| packet.cells).sum();
        while !chip.fits(packet) && sent + packet.cells <= chip.cells {
            let ports = chip.ports.len();
            let waiting = (0..ports).filter(|&port| chip.ports[port].len() > 1);
            let gives = match self.register {
                Some(longest) => waiting.min_by_key(|&port| ((port + ports - longest) % ports, port)),
                None => waiting.min_by_key(|&port| (usize::MAX - chip.of(port), port)),
            };
            let gives = gives.expect("something waits");
            let place = if self.tail { chip.ports[gives].len() - 1 } else { 1 };
            let gone = chip.ports[gives].remove(place).unwrap();
            chip.lose(gone, Reason::PushedOut);
        }
        chip.fits(packet)
    }

    fn taken(&mut self, chip: &mut Chip, _: u64, port: usize) {
        self.look(chip, port);
    }

    fn left(&mut self, chip: &mut Chip, _: u64, port: usize, _: Packet) {
        self.look(chip, port);
    }
}

/// Packets are frames of one unit: each is a head with its EOM, and an entire packet, and with it a tail whose EOM goes.
#[test]
fn in_a_memory_push_out_takes_a_waiting_packet_of_the_longest_queue_of_any_port() {
    let by_length = [
        ("policy = \"pushout-1\"", false),
        ("policy = \"pushout-1\", keep_eom = true", false),
        ("policy = \"pushout-2\"", false),
        ("policy = \"pushout-3\"", false),
        ("policy = \"pushout-3\", last_eom = \"goes\"", true),
    ];
    for (keys, tail) in by_length {
        let lost =
            compare(|_| (format!("pushout = {{ {keys} }}"), Box::new(Entire { tail, register: None })));
        assert!(lost > 10_000, "{keys}: {lost}");
    }
}

#[test]
fn in_a_memory_quasi_push_out_takes_the_first_waiting_packet_of_the_queue_in_its_register() {
    let quasi = || Box::new(Entire { tail: false, register: Some(0) });
    let lost = compare(|_| ("pushout = { policy = \"quasi-pushout\" }".to_string(), quasi()));
    assert!(lost > 10_000, "{lost}");
}

/// The virtual chip of FollowLQD, run by longest queue drop.
struct Virtual {
    rule: Longest,
    chip: Chip,
    /// Picoseconds for an octet, and for each port the end of its first packet's transmission.
    octet: u64,
    ends: Vec<u64>,
}

impl Virtual {
    fn send_until(&mut self, now: u64) {
        for (port, ends) in self.ends.iter_mut().enumerate() {
            while self.chip.ports[port].front().is_some() && *ends <= now {
                self.chip.ports[port].pop_front();
                *ends += self.chip.ports[port].front().map_or(0, |next| next.bytes * self.octet);
            }
        }
    }
}

impl Policy for Virtual {
    fn takes(&mut self, chip: &mut Chip, now: u64, port: usize, packet: Packet) -> bool {
        if self.chip.ports.is_empty() {
            self.chip =
                Chip { cells: chip.cells, ports: vec![VecDeque::new(); chip.ports.len()], lost: vec![] };
            self.ends = vec![0; chip.ports.len()];
        }
        self.send_until(now);
        if self.rule.takes(&mut self.chip, now, port, packet) {
            self.chip.ports[port].push_back(packet);
            if self.chip.ports[port].len() == 1 {
                self.ends[port] = now + packet.bytes * self.octet;
            }
        }
        chip.fits(packet) && chip.of(port) < self.chip.of(port)
    }
}

#[test]
fn follow_lqd_takes_what_fits_while_a_queue_is_shorter_than_with_longest_queue_drop() {
    let lost = compare(|draw| {
        let counts_arrival = draw.coin();
        let keys = format!("admission = {{ policy = \"follow-lqd\", counts_arrival = {counts_arrival} }}");
        let chip = Chip { cells: 0, ports: vec![], lost: vec![] };
        let rule = Longest { tail: true, counts_arrival };
        (keys, Box::new(Virtual { rule, chip, octet: 8_000_000 / draw.rate, ends: vec![] }))
    });
    assert!(lost > 10_000, "{lost}");
}

/// ABM with every packet that has left, and the length of every queue after each change.
struct Abm {
    alpha: f64,
    update: u64,
    congested: usize,
    /// Bits per second of a line.
    rate: f64,
    left: Vec<(u64, usize, u64)>,
    lengths: Vec<(u64, usize, usize)>,
}

impl Abm {
    /// The share of its line that a queue got in the last whole interval.
    fn share(&self, now: u64, port: usize) -> f64 {
        let Some(last) = (now / self.update).checked_sub(1) else { return 1.0 };
        let interval = last * self.update..(last + 1) * self.update;
        let before = self.lengths.iter().rev().find(|change| change.1 == port && change.0 < interval.start);
        let mut within =
            self.lengths.iter().filter(|change| change.1 == port && interval.contains(&change.0));
        let was_empty = before.is_none_or(|change| change.2 == 0) || within.any(|change| change.2 == 0);
        let sent = self.left.iter().filter(|(time, from, _)| *from == port && interval.contains(time));
        let octets: u64 = sent.map(|(_, _, bytes)| bytes).sum();
        if was_empty || octets == 0 {
            return 1.0;
        }
        (8.0 * octets as f64 * 1e12 / (self.rate * self.update as f64)).min(1.0)
    }
}

impl Policy for Abm {
    fn takes(&mut self, chip: &mut Chip, now: u64, port: usize, packet: Packet) -> bool {
        let ports = 0..chip.ports.len();
        let congested = ports.map(|port| (chip.of(port) as f64 / self.congested as f64).min(1.0));
        let congested = congested.sum::<f64>().max(1.0);
        let free = (chip.cells - chip.used()) as f64;
        let threshold = self.alpha * free * self.share(now, port) / congested;
        let takes = chip.fits(packet) && (chip.of(port) as f64) < threshold;
        if takes {
            self.lengths.push((now, port, chip.of(port) + packet.cells));
        }
        takes
    }

    fn left(&mut self, chip: &mut Chip, now: u64, port: usize, packet: Packet) {
        self.left.push((now, port, packet.bytes));
        self.lengths.push((now, port, chip.of(port)));
    }
}

#[test]
fn abm_divides_the_dynamic_threshold_by_congested_queues_and_scales_it_by_the_rate() {
    let lost = compare(|draw| {
        // some intervals are so short that no packet leaves in most of them
        let shortest = if draw.coin() { 20 } else { 500 };
        let (alpha, update) =
            ([0.25, 0.5, 1.0, 4.0][draw.stream.up_to(3) as usize], shortest * (1 + draw.stream.up_to(10)));
        let bytes = 1 + draw.stream.up_to(2000);
        let keys = format!(
            "admission = {{ policy = \"abm\", alpha = {alpha:?}, update = \"{update} us\", congested = \"{bytes} bytes\" }}"
        );
        let (rate, congested) = (draw.rate as f64 * 1e6, bytes.div_ceil(CELL as u64) as usize);
        let update = update * 1_000_000;
        (keys, Box::new(Abm { alpha, update, congested, rate, left: vec![], lengths: vec![] }))
    });
    assert!(lost > 10_000, "{lost}");
}

#[test]
fn a_dynamic_threshold_divides_the_free_room_of_a_memory() {
    struct Dynamic(f64);
    impl Policy for Dynamic {
        fn takes(&mut self, chip: &mut Chip, _: u64, port: usize, packet: Packet) -> bool {
            chip.fits(packet) && (chip.of(port) as f64) < self.0 * (chip.cells - chip.used()) as f64
        }
    }
    let lost = compare(|draw| {
        let alpha = [0.25, 0.5, 1.0, 8.0][draw.stream.up_to(3) as usize];
        let keys = format!("admission = {{ policy = \"dynamic-threshold\", alpha = {alpha:?} }}");
        (keys, Box::new(Dynamic(alpha)))
    });
    assert!(lost > 10_000, "{lost}");
}

/// Occamy with a bucket that counts in picoseconds of its rate.
struct Occamy {
    alpha: f64,
    /// Picoseconds of a token, and picoseconds of a full bucket.
    token: u64,
    full: u64,
    credit: u64,
    at: u64,
    turn: usize,
}

impl Occamy {
    fn refill(&mut self, now: u64) {
        (self.credit, self.at) = (self.full.min(self.credit + now - self.at), now);
    }

    fn pay(&mut self, now: u64, packet: Packet) {
        self.refill(now);
        self.credit = self.credit.saturating_sub(packet.cells as u64 * self.token);
    }

    /// Choose the first port in turn that is above its threshold and has a waiting packet.
    fn victim(&self, chip: &Chip) -> Option<usize> {
        let limit = self.alpha * (chip.cells - chip.used()) as f64;
        let count = chip.ports.len();
        let mut ports = (0..count).map(|step| (self.turn + step) % count);
        ports.find(|&port| chip.of(port) as f64 > limit && chip.ports[port].len() > 1)
    }
}

impl Policy for Occamy {
    fn takes(&mut self, chip: &mut Chip, _: u64, port: usize, packet: Packet) -> bool {
        chip.fits(packet) && (chip.of(port) as f64) < self.alpha * (chip.cells - chip.used()) as f64
    }

    fn advance(&mut self, chip: &mut Chip, until: u64) {
        while let Some(port) = self.victim(chip) {
            let needed = self.full.min(chip.ports[port][1].cells as u64 * self.token);
            let when = self.at + needed.saturating_sub(self.credit);
            if when > until {
                return;
            }
            let gone = chip.ports[port].remove(1).unwrap();
            self.pay(when, gone);
            chip.lose(gone, Reason::PushedOut);
            self.turn = port + 1;
        }
    }

    fn taken(&mut self, chip: &mut Chip, now: u64, _: usize) {
        self.refill(now);
        self.advance(chip, now);
    }

    fn left(&mut self, chip: &mut Chip, now: u64, _: usize, packet: Packet) {
        self.pay(now, packet);
        self.advance(chip, now);
    }
}

#[test]
fn occamy_expels_from_the_heads_of_queues_beyond_their_thresholds_while_there_are_tokens() {
    let lost = compare(|draw| {
        let alpha = [0.5, 1.0, 8.0][draw.stream.up_to(2) as usize];
        let (rate, depth) = ([1, 10, 50, 1000][draw.stream.up_to(3) as usize], 1 + draw.stream.up_to(30));
        let keys = format!(
            "admission = {{ policy = \"occamy\", alpha = {alpha:?}, token_rate = \"{rate} per ms\", token_depth = \"{depth} cells\" }}"
        );
        let token = 1_000_000_000 / rate;
        let full = depth * token;
        (keys, Box::new(Occamy { alpha, token, full, credit: full, at: 0, turn: 0 }))
    });
    assert!(lost > 10_000, "{lost}");
}
