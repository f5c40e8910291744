//! Duties of every scheduler and every push-out policy, with random traffic through a port: the test covers all entries
//! of the registries, also new ones.

use std::collections::VecDeque;

use pushout_core::buffer::admission;
use pushout_core::buffer::context::{Context, Contract};
use pushout_core::buffer::pool::Pool;
use pushout_core::buffer::pushout;
use pushout_core::buffer::size::Measure;
use pushout_core::language::spec::Field;
use pushout_core::language::tree::Node;
use pushout_core::link::line::Line;
use pushout_core::link::port::{Loss, Parts, Port};
use pushout_core::rng::Stream;
use pushout_core::scheduler;
use pushout_core::unit::{Flags, Unit};
use pushout_core::units::ids::{CircuitId, IdSlice, PortVc};
use pushout_core::units::{Rate, Span, Time};
use pushout_core::verdict::Reason;

const VCS: usize = 5;
const ARRIVALS: usize = 4000;

/// Return the registry's entry of this name with its defaults.
fn by_name<S: Field>(name: &str) -> S {
    S::read(&Node::named("policy", name), "policy").unwrap()
}

/// Every combination that the registries allow, none without a name for messages.
fn combinations() -> Vec<(String, admission::Spec, scheduler::Spec, Option<pushout::Spec>)> {
    let mut combinations = Vec::new();
    let schemes = pushout::CATALOGUE.iter().map(|entry| Some(by_name::<pushout::Spec>(entry.name)));
    let schemes: Vec<Option<pushout::Spec>> = std::iter::once(None).chain(schemes).collect();
    for scheduler in scheduler::CATALOGUE.iter().map(|entry| by_name::<scheduler::Spec>(entry.name)) {
        for scheme in &schemes {
            if scheme.is_some() && !scheduler.has_queue_per_circuit() {
                continue;
            }
            for admission in ["tail-drop", "ppd", "dynamic-threshold", "dt-epd"] {
                let scheme_name = scheme.as_ref().map_or("no push-out", |scheme| scheme.name());
                let name = format!("{}, {scheme_name}, {admission}", scheduler.name());
                combinations.push((name, by_name(admission), scheduler.clone(), scheme.clone()));
            }
        }
    }
    combinations
}

/// Random frames of every circuit, and their fate.
struct Traffic {
    stream: Stream,
    measure: Measure,
    /// For every circuit the frame that arrives, the index of its next unit and its length.
    frames: [(u32, u16, u16); VCS],
    /// For every circuit the frame of which a unit has been refused.
    refused: [Option<u32>; VCS],
}

impl Traffic {
    fn next(&mut self) -> Unit {
        let vc = self.stream.up_to(VCS as u64 - 1) as usize;
        let (frame, index, length) = &mut self.frames[vc];
        if index == length {
            *frame += 1;
            *index = 0;
            *length = if self.measure == Measure::Cells { 1 + self.stream.up_to(11) as u16 } else { 1 };
        }
        let first = if *index == 0 { Flags::FIRST } else { Flags::default() };
        let flags = if *index + 1 == *length { first.with(Flags::EOM) } else { first };
        let bytes = if self.measure == Measure::Cells { 53 } else { 40 + self.stream.up_to(1460) as u16 };
        *index += 1;
        Unit {
            vc: CircuitId(vc as u32),
            frame: *frame,
            identity: *frame,
            index: *index - 1,
            bytes,
            hop: 0,
            flags,
        }
    }

    /// Check that a port with push-out accepts no more units of a frame after it has refused one, except for a
    /// delimiter.
    fn check_rest(&mut self, unit: &Unit, losses: &[Loss]) {
        let vc = unit.vc.index();
        let refused = losses.iter().any(|loss| loss.unit == *unit);
        let rest = self.refused[vc] == Some(unit.frame);
        assert!(refused || !rest || unit.is_eom(), "{unit:?} is the rest of a broken frame");
        if refused {
            self.refused[vc] = Some(unit.frame);
        }
    }
}

/// A port in a run, and all units that have left it.
struct Run {
    port: Port,
    now: Time,
    free: Time,
    queued: Vec<VecDeque<Unit>>,
    sent: Vec<Unit>,
    lost: Vec<(Unit, Reason)>,
}

impl Run {
    /// Let the port send until `now`.
    fn advance(&mut self, now: Time) {
        while self.port.is_busy() && self.free <= now {
            self.port.finish(self.free);
            self.start(self.free);
        }
        self.now = now;
    }

    fn start(&mut self, now: Time) {
        if let Some(started) = self.port.start(now, &mut Vec::new()) {
            self.free = started.sent.ends;
            let queued = self.queued[started.unit.vc.index()].pop_front().expect("what leaves was queued");
            let place = |unit: &Unit| (unit.vc, unit.frame, unit.index);
            assert_eq!(place(&queued), place(&started.unit), "a circuit's units leave in their order");
            self.sent.push(started.unit);
        }
        assert!(
            self.port.is_busy() || self.port.waiting().next().is_none(),
            "the line rests while a unit waits"
        );
    }

    fn arrive(&mut self, unit: Unit) -> Vec<Loss> {
        let mut losses = Vec::new();
        self.queued[unit.vc.index()].push_back(unit);
        self.port.arrive(self.now, unit, PortVc(unit.vc.0), &mut losses);
        for loss in &losses {
            let queue = &mut self.queued[loss.unit.vc.index()];
            let place = queue.iter().position(|unit| *unit == loss.unit).expect("what is lost was queued");
            queue.remove(place);
            self.lost.push((loss.unit, loss.reason));
        }
        self.start(self.now);
        self.check();
        losses
    }

    fn check(&self) {
        let (port, counters) = (&self.port, self.port.counters());
        assert_eq!(counters.units_in, counters.units_out + counters.lost_total() + port.units_queued());
        let by_vc: u64 = (0..VCS).map(|vc| port.pool().of(PortVc::new(vc))).sum();
        assert_eq!((by_vc, port.size_queued()), (port.pool().total(), port.pool().total()));
        assert!(port.pool().capacity().holds(port.pool().total()), "never over the buffer");
        assert!(port.pool().capacity().holds(counters.occupancy.max()), "never over the buffer");
        assert_eq!(self.queued.iter().map(VecDeque::len).sum::<usize>(), port.waiting().count());
    }
}

/// Run one combination; `None` if its scheduler refuses the port.
fn run(
    measure: Measure,
    (_, admission, scheduler, scheme): &(String, admission::Spec, scheduler::Spec, Option<pushout::Spec>),
) -> Option<Run> {
    let contract = |vc: usize| {
        let (mcr, frame) = (Rate(10_000_000 * vc as u64), if measure == Measure::Cells { 12 } else { 1500 });
        let plain = Context::alone(1, 1).contracts[PortVc(0)];
        Contract { mcr, priority: vc as u32 / 2, frame, payload: Some(500), ..plain }
    };
    let contracts: Vec<Contract> = (0..VCS).map(contract).collect();
    let capacity = if measure == Measure::Cells { 40 } else { 8000 };
    let context = Context { measure, contracts: IdSlice::new(&contracts), ..Context::alone(capacity, 0) };
    let port = Port::new(Parts {
        pushout: scheme.as_ref().map(|scheme| scheme.build(&context).unwrap()),
        shared_queue: scheduler.shares_one_queue(),
        ..Parts::plain(
            measure,
            Pool::new(context.capacity, VCS),
            admission.build(&context).unwrap(),
            scheduler.build(&context).ok()?,
            Line::new(context.rate, Span::ZERO),
        )
    });
    let stream = Stream::new(7, "traffic");
    let mut traffic = Traffic { stream, measure, frames: [(0, 0, 0); VCS], refused: [None; VCS] };
    let queued = vec![VecDeque::new(); VCS];
    let mut run = Run { port, now: Time::ZERO, free: Time::ZERO, queued, sent: Vec::new(), lost: Vec::new() };
    for arrival in 0..ARRIVALS {
        // Busy and quiet times in turn: at 0.5 and at 2 times the rate of the line.
        let mean = if arrival / 400 % 2 == 0 { 1_363_000.0 } else { 5_452_000.0 };
        let size = if measure == Measure::Cells { 1.0 } else { 15.0 };
        let gap = Span((traffic.stream.exponential() * mean * size) as u64);
        run.advance(run.now + gap);
        let unit = traffic.next();
        let losses = run.arrive(unit);
        // The dynamic threshold blocks single cells and ignores frames.
        if scheme.is_some() && admission.name() != "dynamic-threshold" {
            traffic.check_rest(&unit, &losses);
        }
    }
    Some(run)
}

#[test]
fn every_combination_keeps_its_books_its_order_and_its_line_busy() {
    for combination in combinations() {
        let run = run(Measure::Cells, &combination).expect("every scheduler serves cells");
        let name = &combination.0;
        assert!(run.lost.len() > 100 && run.sent.len() > 2000, "{name}: {} lost", run.lost.len());
        let pushed_out = run.lost.iter().any(|(_, reason)| *reason == Reason::PushedOut);
        let admits_all = name.ends_with("tail-drop") || name.ends_with("ppd");
        assert!(!pushed_out || combination.3.is_some(), "{name}: push-out without push-out");
        assert!(pushed_out || combination.3.is_none() || !admits_all, "{name}: nothing was pushed out");
    }
}

#[test]
fn packets_are_queued_and_pushed_out_alike() {
    let served =
        combinations().iter().filter(|combination| run(Measure::Bytes, combination).is_some()).count();
    assert!(served >= combinations().len() / 2, "{served}");
}

#[test]
fn the_same_traffic_gives_the_same_result() {
    for combination in combinations() {
        let (one, two) =
            (run(Measure::Cells, &combination).unwrap(), run(Measure::Cells, &combination).unwrap());
        assert_eq!((one.sent, one.lost), (two.sent, two.lost), "{}", combination.0);
    }
}

#[test]
fn more_frames_leave_whole_when_those_that_have_begun_to_leave_are_spared() {
    let whole = |scheme: &str| {
        let combination = (
            String::new(),
            by_name("tail-drop"),
            by_name("round-robin"),
            Some(by_name::<pushout::Spec>(scheme)),
        );
        run(Measure::Cells, &combination).unwrap().port.counters().frames_whole_out
    };
    assert!(whole("pushout-2") > whole("pushout-1"));
}

#[test]
fn every_entry_documents_itself() {
    for entry in scheduler::CATALOGUE.iter().chain(pushout::CATALOGUE) {
        let header = entry.header();
        for heading in ["Source", "Idea", "Parameters", "Differences from the paper", "Complexity"] {
            assert!(header.contains(&format!("# {heading}\n")), "{}: {heading}", entry.name);
        }
        for param in (entry.params)() {
            assert!(header.contains(param.name), "{}: {} is not explained", entry.name, param.name);
        }
    }
}
