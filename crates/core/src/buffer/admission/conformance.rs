//! Requirements on every admission scheme of the registry, checked with its default parameters at a real port.

use std::collections::BTreeMap;

use super::{Admission, Arrival, CATALOGUE, Interest, Policy, Rule, Shortcuts, Spec};
use crate::buffer::capacity::Capacity;
use crate::buffer::context::{Context, Contract};
use crate::buffer::pool::Pool;
use crate::buffer::queue::Queue;
use crate::buffer::size::Measure;
use crate::language::spec::Field;
use crate::language::tree::Node;
use crate::link::line::Line;
use crate::link::port::{Loss, Parts, Port};
use crate::refused::Refused;
use crate::rng::{Stream, UNNAMED};
use crate::scheduler::{self, fifo};
use crate::unit::{Flags, Unit};
use crate::units::ids::{CircuitId, IdVec, PortVc, QueueId};
use crate::units::{CELL_BYTES, Rate, Span, Time};
use crate::verdict::{Reason, Verdict};

/// Circuits through the port.
const VCS: usize = 5;

/// The line of paper 002: slow, so that every policy's clock is called often.
const RATE: Rate = Rate(2_350_000);

/// A FIFO port with a scheme: tests offer units to it and inspect losses and sent units.
pub(super) struct Rig {
    port: Port,
    now: Time,
    /// Time at which the busy line becomes free, and time of the next call of the policy's clock.
    free: Option<Time>,
    tick: Option<Time>,
    /// For every circuit the frame of its next unit, and the unit's index in this frame.
    next: IdVec<PortVc, (u32, u16)>,
    losses: Vec<Loss>,
    sent: Vec<Unit>,
}

fn circuit(unit: &Unit) -> PortVc {
    PortVc(unit.vc.0)
}

fn name(unit: &Unit) -> String {
    format!("{}:{}.{}", unit.vc, unit.frame, unit.index)
}

/// Circuits with frames of 32 cells or 1500 octets, every other one with a minimum rate.
fn contracts(measure: Measure, vcs: usize) -> IdVec<PortVc, Contract> {
    let contract = |vc: usize| Contract {
        circuit: CircuitId::new(vc),
        mcr: Rate(if vc.is_multiple_of(2) { 300_000 } else { 0 }),
        weight: 1.0 + vc as f64,
        frame: match measure {
            Measure::Cells => 32,
            Measure::Bytes => 1500,
            Measure::Packets | Measure::MemoryCells(_) => 1,
        },
        octets: if measure == Measure::Cells { 32 * CELL_BYTES } else { 1500 },
        ..Context::alone(1, 1).contracts[PortVc(0)]
    };
    (0..vcs).map(contract).collect()
}

impl Rig {
    pub(super) fn new(spec: &Spec, measure: Measure, capacity: u64, vcs: usize, seed: u64) -> Rig {
        let contracts = contracts(measure, vcs);
        let capacity = Capacity::limited(capacity);
        let context = Context {
            capacity,
            measure,
            rate: RATE,
            minimum: 0,
            contracts: contracts.view(),
            lowered: None,
            seed,
            port: "rig",
            circuits: &UNNAMED,
        };
        let fifo = scheduler::Spec::Fifo(fifo::Params {});
        let mut port = Port::new(Parts {
            shared_queue: true,
            ..Parts::plain(
                measure,
                Pool::new(context.capacity, vcs),
                spec.build(&context).unwrap(),
                fifo.build(&context).unwrap(),
                Line::new(RATE, Span::ZERO),
            )
        });
        let tick = port.tick(Time::ZERO);
        let next = IdVec::filled((0, 0), vcs);
        Rig { port, now: Time::ZERO, free: None, tick, next, losses: Vec::new(), sent: Vec::new() }
    }

    /// Offer cells of one circuit at once: `f` first, `.` middle, `e` last, `1` a frame of one cell. The line starts
    /// to send only when `start`, `wait` or `drain` is called.
    pub(super) fn offer(&mut self, vc: u32, cells: &str) {
        for cell in cells.chars() {
            self.arrive(PortVc(vc), CELL_BYTES as u16, matches!(cell, 'f' | '1'), matches!(cell, 'e' | '1'));
        }
    }

    /// Offer a packet of one circuit.
    pub(super) fn packet(&mut self, vc: u32, bytes: u16) {
        self.arrive(PortVc(vc), bytes, true, true);
    }

    fn arrive(&mut self, vc: PortVc, bytes: u16, first: bool, eom: bool) -> Unit {
        let mut flags = Flags::default();
        if first {
            flags = flags.with(Flags::FIRST);
        }
        if eom {
            flags = flags.with(Flags::EOM);
        }
        let (frame, index) = self.next[vc];
        self.next[vc] = if eom { (frame + 1, 0) } else { (frame, index + 1) };
        let unit = Unit { vc: CircuitId(vc.0), frame, identity: frame, index, bytes, hop: 0, flags };
        self.port.arrive(self.now, unit, vc, &mut self.losses);
        unit
    }

    /// Start to send the next unit, if the line is free.
    pub(super) fn start(&mut self) {
        if let Some(started) = self.port.start(self.now, &mut self.losses) {
            self.sent.push(started.unit);
            self.free = Some(started.sent.ends);
        }
    }

    /// Advance the time: the line sends, and the policy's clock is called.
    fn advance(&mut self, until: Time) {
        self.start();
        loop {
            let (free, tick) = (self.free.unwrap_or(Time::NEVER), self.tick.unwrap_or(Time::NEVER));
            if free.min(tick) > until {
                break;
            }
            self.now = free.min(tick);
            if free <= tick {
                self.port.finish(self.now);
                self.free = None;
                self.start();
            } else {
                self.tick = self.port.tick(self.now);
                assert!(self.tick.is_none_or(|next| next > tick), "a clock goes on");
            }
        }
        self.now = until;
    }

    /// Advance the time by `span`.
    pub(super) fn wait(&mut self, span: Span) {
        self.advance(self.now + span);
    }

    /// Send every waiting unit; returns all units sent so far.
    pub(super) fn drain(&mut self) -> Vec<String> {
        self.start();
        while let Some(free) = self.free {
            self.advance(free);
        }
        self.sent.iter().map(name).collect()
    }

    pub(super) fn waiting(&self) -> Vec<String> {
        self.port.waiting().map(|unit| name(&unit)).collect()
    }

    pub(super) fn lost(&self) -> Vec<String> {
        self.losses.iter().map(|loss| format!("{} {}", name(&loss.unit), loss.reason)).collect()
    }

    pub(super) fn pool_total(&self) -> u64 {
        self.port.pool().total()
    }

    /// Check that the occupancy is arrivals − departures − discards, both by the port's counters and by the test's
    /// own counts.
    fn check_books(&self, scheme: &str) {
        let (pool, counters) = (self.port.pool(), self.port.counters());
        assert!(pool.capacity().holds(pool.total()), "{scheme}: {pool:?}");
        assert_eq!(self.port.size_queued(), pool.total(), "{scheme}: queues and books");
        assert_eq!(pool.keys().map(|vc| pool.of(vc)).sum::<u64>(), pool.total(), "{scheme}: circuits");
        let gone = counters.units_out + counters.lost_total();
        assert_eq!(counters.units_in, gone + self.port.units_queued(), "{scheme}: units");
        assert_eq!(counters.lost_total(), self.losses.len() as u64, "{scheme}: losses");
    }
}

/// Return the spec of a scheme with all its defaults.
fn default_of(scheme: &str) -> Spec {
    Spec::read(&Node::named("policy", scheme), "admission").expect("defaults suffice")
}

/// Results of random traffic: every loss, and the length of every frame that arrived in full.
#[derive(Debug, PartialEq)]
struct TrafficResult {
    losses: Vec<Loss>,
    frames: BTreeMap<(CircuitId, u32), u16>,
}

/// Offer units of five circuits in random order and in bursts, on average at 1.4 times the rate of the line.
fn random_traffic(scheme: &str, measure: Measure, capacity: u64, seed: u64) -> TrafficResult {
    let mut rig = Rig::new(&default_of(scheme), measure, capacity, VCS, seed);
    let mut draw = Stream::new(seed, "traffic");
    let mut left = [0u64; VCS];
    let mut frames = BTreeMap::new();
    for step in 0..6000 {
        let burst = if step / 500 % 2 == 0 { 1.0 } else { 0.4 };
        let vc = draw.up_to(VCS as u64 - 1).min(draw.up_to(VCS as u64 - 1)) as usize;
        let (cells, first) = (measure == Measure::Cells, left[vc] == 0);
        let bytes = if cells { CELL_BYTES } else { 40 + draw.up_to(1460) };
        if first {
            left[vc] = if cells { 1 + draw.up_to(39) } else { 1 };
        }
        left[vc] -= 1;
        let gap = RATE.time_of_bits(8 * bytes).0 as f64 * draw.exponential() * burst;
        rig.advance(rig.now + Span(gap as u64));
        let unit = rig.arrive(PortVc::new(vc), bytes as u16, first, left[vc] == 0);
        if unit.is_eom() {
            frames.insert((unit.vc, unit.frame), unit.index + 1);
        }
        if step % 10 == 0 {
            rig.check_books(scheme);
        }
    }
    rig.drain();
    rig.check_books(scheme);
    assert_eq!(rig.pool_total(), 0, "{scheme}: what is queued can be sent");
    TrafficResult { losses: rig.losses, frames }
}

/// Build a scheme's policy for a port; a scheme that counts cells may refuse a port of packets.
fn policy_of(scheme: &str, measure: Measure, capacity: u64) -> Result<Policy, Refused> {
    let contracts = contracts(measure, VCS);
    let capacity = Capacity::limited(capacity);
    let context = Context {
        capacity,
        measure,
        rate: RATE,
        minimum: 0,
        contracts: contracts.view(),
        lowered: None,
        seed: 1,
        port: "rig",
        circuits: &UNNAMED,
    };
    default_of(scheme).build(&context)
}

/// Call `check` for every scheme at ports of cells and of packets, unless the scheme refuses packets, with buffers
/// from 1 to 1000 units.
fn every_port(mut check: impl FnMut(&'static str, Measure, u64)) {
    for entry in CATALOGUE {
        for capacity in [1, 2, 60, 1000] {
            check(entry.name, Measure::Cells, capacity);
            for (measure, capacity) in [(Measure::Packets, capacity), (Measure::Bytes, 1000 * capacity)] {
                if policy_of(entry.name, measure, capacity).is_ok() {
                    check(entry.name, measure, capacity);
                }
            }
        }
    }
}

#[test]
fn defaults_suffice_and_the_books_balance_whatever_arrives() {
    every_port(|scheme, measure, capacity| drop(random_traffic(scheme, measure, capacity, 1)));
}

#[test]
fn the_same_seed_gives_the_same_verdicts() {
    every_port(|scheme, measure, capacity| {
        let again = || random_traffic(scheme, measure, capacity, 2);
        assert_eq!(again(), again(), "{scheme}");
    });
}

#[test]
fn schemes_that_look_at_frames_lose_them_whole_unless_the_buffer_overflows() {
    every_port(|scheme, measure, capacity| {
        if policy_of(scheme, measure, capacity).unwrap().properties().splits_frames {
            return;
        }
        let story = random_traffic(scheme, measure, capacity, 3);
        let mut lost = BTreeMap::<(CircuitId, u32), Vec<&Loss>>::new();
        for loss in &story.losses {
            lost.entry((loss.unit.vc, loss.unit.frame)).or_default().push(loss);
        }
        for (frame, losses) in lost {
            let overflow = losses.iter().any(|loss| loss.reason == Reason::Overflow);
            let refused = losses[0].unit.is_first();
            if let (Some(&length), true) = (story.frames.get(&frame), refused || !overflow) {
                assert_eq!(losses.len(), usize::from(length), "{scheme}: {frame:?} {losses:?}");
            }
        }
    });
}

#[test]
fn a_port_with_little_to_do_loses_nothing() {
    for entry in CATALOGUE {
        let mut rig = Rig::new(&default_of(entry.name), Measure::Cells, 1000, 5, 4);
        for frame in 0..200 {
            rig.offer(frame % 5, "f..............................e");
            rig.advance(rig.now + Span::millis(23)); // a load of a quarter
        }
        assert_eq!(rig.lost(), Vec::<String>::new(), "{}", entry.name);
    }
}

/// Build the arrival of a unit of size 1 at time zero, at a port without push-out.
fn arrival<'a>(unit: &'a Unit, pool: &'a Pool, queue: &'a Queue) -> Arrival<'a> {
    let vc = circuit(unit);
    Arrival { now: Time::ZERO, unit, vc, size: 1, pool, queue, place: QueueId(0), waiting: 0, elastic: false }
}

#[test]
fn what_a_monotone_scheme_takes_it_takes_with_less_in_the_buffer() {
    const CAPACITY: u64 = 100;
    let unit = Unit {
        vc: CircuitId(0),
        frame: 0,
        identity: 0,
        index: 0,
        bytes: CELL_BYTES as u16,
        hop: 0,
        flags: Flags::FIRST,
    };
    let queue = Queue::default();
    for entry in CATALOGUE {
        let contracts = contracts(Measure::Cells, VCS);
        let context = Context { contracts: contracts.view(), ..Context::alone(CAPACITY, 0) };
        let mut policy = default_of(entry.name).build(&context).unwrap();
        let mut draw = Stream::new(5, "books");
        for _ in 0..if policy.properties().is_monotone { 2000 } else { 0 } {
            let mut more: Pool = Pool::new(context.capacity, VCS);
            let mut less = more.clone();
            for vc in context.contracts.keys() {
                let cells = draw.up_to(CAPACITY / VCS as u64);
                more.add(vc, cells);
                less.add(vc, draw.up_to(cells));
            }
            let mut judge = |pool: &Pool| policy.judge(&mut arrival(&unit, pool, &queue));
            let (first, again, alone) = (judge(&more), judge(&less), judge(&less));
            assert_eq!(again, alone, "{}: an answer changes the next one", entry.name);
            assert!(
                first != Verdict::Accept || again == Verdict::Accept,
                "{}: {more:?} {less:?}",
                entry.name
            );
        }
    }
}

#[test]
fn what_looks_at_the_books_when_units_leave_sees_every_unit_come() {
    for entry in CATALOGUE {
        let mut policy = policy_of(entry.name, Measure::Cells, 1000).unwrap();
        let looks = matches!(policy.rule(), Some(Rule::Asked(Interest::Ends | Interest::Every)));
        assert!(
            !looks || policy.asks_for_all(),
            "{}: frames may be in the books before they come",
            entry.name
        );
    }
}

#[test]
fn a_scheme_with_a_rule_neither_marks_what_it_takes_nor_takes_anything_back() {
    let (queue, mut draw) = (Queue::default(), Stream::new(6, "books"));
    every_port(|scheme, measure, capacity| {
        let mut policy = policy_of(scheme, measure, capacity).unwrap();
        let has_rule = policy.rule().is_some();
        for index in 0..if has_rule { 500 } else { 0 } {
            let vc = CircuitId(draw.up_to(VCS as u64 - 1) as u32);
            let mut pool: Pool = Pool::new(Capacity::limited(capacity), VCS);
            (0..VCS).for_each(|vc| pool.add(PortVc::new(vc), draw.up_to(capacity / VCS as u64)));
            let flags = if draw.chance(0.5) { Flags::FIRST } else { Flags::default() };
            let unit = &Unit { vc, frame: 0, identity: 0, index, bytes: 53, hop: 0, flags };
            let verdict = policy.judge(&mut arrival(unit, &pool, &queue));
            assert!(matches!(verdict, Verdict::Accept | Verdict::Discard(_)), "{scheme}: {verdict:?}");
        }
    });
}

#[test]
fn the_rest_of_a_frame_that_was_pushed_out_is_refused_but_for_the_eom_that_ends_a_fragment() {
    let (pool, queue) = (Pool::new(Capacity::limited(1000), VCS), Queue::default());
    for entry in CATALOGUE {
        for fragment in [true, false] {
            let mut policy = policy_of(entry.name, Measure::Cells, 1000).unwrap();
            if policy.properties().splits_frames {
                continue;
            }
            let judge = |policy: &mut Policy, flags| {
                let unit = &Unit {
                    vc: CircuitId(0),
                    frame: 0,
                    identity: 0,
                    index: 0,
                    bytes: CELL_BYTES as u16,
                    hop: 0,
                    flags,
                };
                policy.judge(&mut Arrival { elastic: true, ..arrival(unit, &pool, &queue) })
            };
            let first = judge(&mut policy, Flags::FIRST);
            policy.broken(PortVc(0), fragment);
            let rest = [Flags::default(), Flags::EOM, Flags::FIRST].map(|flags| judge(&mut policy, flags));
            let partial = Verdict::Discard(Reason::Partial);
            let eom = if fragment { Verdict::Accept } else { partial };
            let expected = (Verdict::Accept, [partial, eom, Verdict::Accept]);
            assert_eq!((first, rest), expected, "{}, fragment {fragment}", entry.name);
            policy.broken(PortVc(0), fragment);
            let next = judge(&mut policy, Flags::FIRST);
            assert_eq!(next, Verdict::Accept, "{}, when the port has kept its EOM away", entry.name);
        }
    }
}

#[test]
fn every_scheme_opens_with_the_same_five_headings() {
    for entry in CATALOGUE {
        let header = entry.header();
        let headings: Vec<&str> = header.lines().filter(|line| line.starts_with("# ")).collect();
        let expected = ["# Source", "# Idea", "# Parameters", "# Differences from the paper", "# Complexity"];
        assert_eq!(headings, expected, "{}", entry.name);
        assert!((entry.params)().iter().all(|param| param.default.is_some()), "{}", entry.name);
    }
}

#[test]
fn the_example_of_a_scheme_in_contributing_compiles_and_passes_its_tests() {
    const CONTRIBUTING: &str = include_str!("../../../../../CONTRIBUTING.md");
    assert!(CONTRIBUTING.contains(include_str!("example.rs")), "the same file as there");
}
