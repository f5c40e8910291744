//! The network interfaces of hosts with paced senders: which flow sends next on a line, and when.
//!
//! A paced flow hands over a packet only in its turn. A line takes turns in the order of the instants at which the flows' next packets
//! are due; at one instant the flow that the scenario lists first comes first. A turn begins when the line is free, so a packet starts
//! when its flow writes it, and round trips are measured from there. In its turn a flow sends one burst. Acknowledgements, and packets
//! of flows that are not paced, go to the port at once: they pass what waits here. A class that the port must not send holds back the
//! flows of this class only.
//!
//! An engine calls an interface when its line becomes free, when a flow begins to wait, when a class may be sent again, and at the
//! instant that [`Nics::decide`] names: one call for all flows of a line, behind all other events of that instant at the host.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::link::gate::pause::Paused;
use crate::link::port::Port;
use crate::scenario::model::Scenario;
use crate::units::Time;
use crate::units::ids::{FlowId, IdVec, LineId};

/// The interfaces of all hosts that have paced senders.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nics {
    /// For each flow its interface and its state; empty without interfaces.
    flows: IdVec<FlowId, Option<PacedFlow>>,
    list: Vec<Nic>,
}

/// A paced flow.
#[derive(Clone, Copy, Debug)]
struct PacedFlow {
    nic: u32,
    /// The index of its class at the interface.
    class: u16,
    waits: bool,
}

/// The interface of one line.
#[derive(Clone, Debug)]
struct Nic {
    line: LineId,
    classes: Vec<ClassQueue>,
}

/// The flows of a class that wait for the line, each with its place.
#[derive(Clone, Debug)]
struct ClassQueue {
    class: u32,
    waiting: BinaryHeap<Reverse<(Time, FlowId)>>,
}

/// What an interface does at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// Nothing, until a flow begins to wait or the port calls.
    Sleep,
    /// It must be called at this instant.
    Wait(Time),
    /// It gives a flow its turn.
    Give(Turn),
}

/// The flow that comes next on a line, its place, and the index of its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Turn {
    pub(crate) place: Time,
    pub(crate) flow: FlowId,
    class: usize,
}

impl Nics {
    /// Build the interfaces of these lines, which are sorted; no flow waits.
    pub(crate) fn new(scenario: &Scenario, lines: &[LineId]) -> Nics {
        if lines.is_empty() {
            return Nics::default();
        }
        let mut list: Vec<Nic> = lines.iter().map(|&line| Nic { line, classes: Vec::new() }).collect();
        let paced = |flow: FlowId| {
            let (line, class) =
                (scenario.paced_line(flow)?, scenario.vcs[scenario.flows[flow].vc].queue as u32);
            let nic = list.binary_search_by_key(&line, |nic| nic.line).ok()?;
            Some(PacedFlow { nic: nic as u32, class: list[nic].index_of(class), waits: false })
        };
        let flows = scenario.flows.keys().map(paced).collect();
        Nics { flows, list }
    }

    /// Return whether there is none.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Return whether a flow has an interface here.
    pub(crate) fn has(&self, flow: FlowId) -> bool {
        self.flows.get(flow).is_some_and(Option::is_some)
    }

    /// Return the number of interfaces.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Return the line of an interface.
    pub(crate) fn line(&self, nic: usize) -> LineId {
        self.list[nic].line
    }

    /// Return the interface of a line, if it has one.
    pub(crate) fn at(&self, line: LineId) -> Option<usize> {
        self.list.binary_search_by_key(&line, |nic| nic.line).ok()
    }

    /// Let a flow wait for its turn at this place, unless it waits already; returns its interface, if it has one.
    pub(crate) fn join(&mut self, flow: FlowId, place: Time) -> Option<usize> {
        let paced = self.flows.get_mut(flow)?.as_mut()?;
        let nic = paced.nic as usize;
        if !std::mem::replace(&mut paced.waits, true) {
            self.list[nic].classes[usize::from(paced.class)].waiting.push(Reverse((place, flow)));
        }
        Some(nic)
    }

    /// Return whether any flow waits at an interface.
    pub(crate) fn has_waiting(&self, nic: usize) -> bool {
        self.list[nic].classes.iter().any(|queue| !queue.waiting.is_empty())
    }

    /// Decide what an interface does at `now`. Its line is free at `free`, or `Time::NEVER` if the port will call then; `lets` returns
    /// whether the port sends a class.
    pub(crate) fn decide(&self, nic: usize, now: Time, free: Time, lets: impl Fn(u32) -> bool) -> Act {
        match self.next(nic, lets) {
            None => Act::Sleep,
            Some(turn) if turn.place <= now && free <= now => Act::Give(turn),
            Some(turn) if free < Time::NEVER => Act::Wait(turn.place.max(free)),
            Some(turn) if turn.place > now => Act::Wait(turn.place),
            Some(_) => Act::Sleep,
        }
    }

    /// Return the flow that comes next among those whose class may be sent.
    fn next(&self, nic: usize, lets: impl Fn(u32) -> bool) -> Option<Turn> {
        let classes = self.list[nic].classes.iter().enumerate();
        let first = |(class, queue): (usize, &ClassQueue)| {
            let &Reverse((place, flow)) = queue.waiting.peek()?;
            Some(Turn { place, flow, class }).filter(|_| lets(queue.class))
        };
        classes.filter_map(first).min_by_key(|turn| (turn.place, turn.flow))
    }

    /// Remove the flow that comes next, at the beginning of its turn.
    pub(crate) fn take(&mut self, nic: usize, turn: Turn) {
        self.list[nic].classes[turn.class].waiting.pop();
        self.flows[turn.flow].iter_mut().for_each(|paced| paced.waits = false);
    }
}

impl Nic {
    /// Return the index of a class; add the class if it is new.
    fn index_of(&mut self, class: u32) -> u16 {
        let known = self.classes.iter().position(|queue| queue.class == class);
        let index = known.unwrap_or_else(|| {
            self.classes.push(ClassQueue { class, waiting: BinaryHeap::new() });
            self.classes.len() - 1
        });
        u16::try_from(index).expect("a scenario has fewer classes")
    }
}

/// Return whether a port whose line is free would send a packet of this class at once.
pub(crate) fn lets(port: &Port, class: u32) -> bool {
    Paused::among(port.gates()).is_none_or(|paused| paused.lets_class(class)) && !port.is_blocked()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::line::Line;
    use crate::transport::tcp::pacer::{Burst, Pacer, PacketSizes, Settings};
    use crate::units::{Rate, Span};

    /// Octets of data in the packets of the bench, which have no headers: 80 ns at 100 Gb/s.
    const LEN: u64 = 1000;

    /// An interface at a line of 100 Gb/s, with flows that always have data.
    struct Bench {
        nics: Nics,
        line: Line,
        pacers: Vec<Pacer>,
        paused: Vec<u32>,
        /// When a flow began to send a packet, in picoseconds, with the flow.
        sent: Vec<(usize, u64)>,
    }

    impl Bench {
        /// One flow for each rate in Mb/s, of class 0, with bursts of some packets.
        fn new(rates: &[u64], packets: u64) -> Bench {
            let paced = PacedFlow { nic: 0, class: 0, waits: false };
            let queue = |class| ClassQueue { class, waiting: BinaryHeap::new() };
            let nic = Nic { line: LineId(0), classes: vec![queue(0), queue(1)] };
            let settings = Settings { burst: Some(Burst::Packets(packets)) };
            let pacer = |rate: &u64| {
                let mut pacer = Pacer::new(&settings, PacketSizes::default(), LEN);
                pacer.set_rate(Rate(rate * 1_000_000));
                pacer
            };
            let nics = Nics { flows: vec![Some(paced); rates.len()].into(), list: vec![nic] };
            let line = Line::new(Rate(100_000_000_000), Span::ZERO);
            let mut bench = Bench {
                nics,
                line,
                pacers: rates.iter().map(pacer).collect(),
                paused: Vec::new(),
                sent: Vec::new(),
            };
            (0..rates.len()).for_each(|flow| bench.wait(flow, Time::ZERO));
            bench
        }

        /// Let a flow wait, which has no turn.
        fn wait(&mut self, flow: usize, now: Time) {
            assert!(!self.pacers[flow].admits(now, LEN));
            let place = self.pacers[flow].place().expect("the flow waits");
            self.nics.join(FlowId::new(flow), place);
        }

        /// Call the interface at `now`, and when it demands, before `end`.
        fn call(&mut self, mut now: Time, end: Time) {
            while now < end {
                let paused = &self.paused;
                match self.nics.decide(0, now, self.line.free(), |class| !paused.contains(&class)) {
                    Act::Sleep => return,
                    Act::Wait(at) => {
                        assert!(at > now);
                        now = at;
                    }
                    Act::Give(turn) => {
                        self.nics.take(0, turn);
                        let flow = turn.flow.index();
                        self.pacers[flow].begin_turn();
                        assert!(self.pacers[flow].admits(now, LEN));
                        self.pacers[flow].sent(now, LEN);
                        self.sent.push((flow, self.line.send(now, LEN as u16).starts.0));
                        self.wait(flow, now);
                        self.pacers[flow].end_turn();
                    }
                }
            }
        }

        /// Return which flows began to send, and at which nanoseconds.
        fn nanoseconds(&self) -> Vec<(usize, u64)> {
            self.sent.iter().map(|(flow, time)| (*flow, time / 1000)).collect()
        }
    }

    fn ns(nanoseconds: u64) -> Time {
        Time(1000 * nanoseconds)
    }

    #[test]
    fn one_flow_at_a_quarter_of_the_line_sends_every_fourth_time() {
        let mut bench = Bench::new(&[25_000], 1);
        bench.call(ns(0), ns(700));
        assert_eq!(bench.nanoseconds(), [(0, 0), (0, 320), (0, 640)]);
    }

    #[test]
    fn two_flows_at_half_the_line_take_turns() {
        let mut bench = Bench::new(&[50_000; 2], 1);
        bench.call(ns(0), ns(300));
        assert_eq!(bench.nanoseconds(), [(0, 0), (1, 80), (0, 160), (1, 240)]);
    }

    #[test]
    fn three_flows_at_half_the_line_get_a_third_each() {
        let mut bench = Bench::new(&[50_000; 3], 1);
        bench.call(ns(0), ns(480));
        assert_eq!(bench.nanoseconds(), [(0, 0), (1, 80), (2, 160), (0, 240), (1, 320), (2, 400)]);
    }

    #[test]
    fn a_class_that_is_paused_sends_when_it_is_resumed_and_another_class_all_the_time() {
        let mut bench = Bench::new(&[25_000], 1);
        bench.call(ns(0), ns(100));
        bench.paused = vec![0];
        bench.call(ns(320), ns(500));
        bench.paused = Vec::new();
        bench.call(ns(500), ns(900));
        assert_eq!(bench.nanoseconds(), [(0, 0), (0, 500), (0, 820)]);

        let mut bench = Bench::new(&[25_000; 2], 1);
        bench.nics = Nics { flows: bench.nics.flows.clone(), ..Bench::new(&[], 1).nics };
        (0..2).for_each(|flow| {
            bench.nics.flows[FlowId(flow)].iter_mut().for_each(|paced| {
                (paced.class, paced.waits) = (flow as u16, false);
            })
        });
        (0..2).for_each(|flow| bench.wait(flow, Time::ZERO));
        bench.paused = vec![0];
        bench.call(ns(0), ns(640));
        assert_eq!(bench.nanoseconds(), [(1, 0), (1, 320)]);
    }

    #[test]
    fn an_acknowledgement_passes_the_data_that_wait() {
        let mut bench = Bench::new(&[100_000; 2], 1);
        bench.call(ns(0), ns(10));
        let ack = bench.line.send(ns(10), 64);
        assert_eq!((ack.starts, ack.ends), (ns(80), Time(85_120)));
        bench.call(ns(80), ns(90));
        assert_eq!(bench.sent, [(0, 0), (1, 85_120)]);
    }

    #[test]
    fn seven_packets_at_seven_gigabits_take_8000_nanoseconds_and_a_million_their_exact_time() {
        let mut bench = Bench::new(&[7_000], 1);
        bench.call(ns(0), Time(8_000_001));
        let starts: Vec<u64> = bench.sent.iter().map(|(_, start)| *start).collect();
        assert_eq!(starts, (0..8).map(|n: u64| n * 8_000_000 / 7).collect::<Vec<_>>());
        let mut bench = Bench::new(&[7_000], 1);
        bench.call(ns(0), Time(1_000_000 * 8_000_000 / 7 + 1));
        assert_eq!(bench.sent.len(), 1_000_001);
        assert!((0..).zip(&bench.sent).all(|(n, (_, start))| *start == n * 8_000_000 / 7));
    }

    #[test]
    fn a_change_of_the_rate_keeps_the_remainder() {
        let mut pacer = Pacer::new(&Settings { burst: Some(Burst::Packets(1)) }, PacketSizes::default(), LEN);
        for turn in 0..7_000 {
            pacer.set_rate(Rate(if turn % 2 == 0 { 7_000_000_000 } else { 3_500_000_000 }));
            pacer.sent(Time::ZERO, LEN);
        }
        assert!(!pacer.admits(Time::ZERO, LEN));
        let exact = 3_500 * (8_000_000 + 16_000_000) / 7;
        assert!(pacer.place().unwrap().0.abs_diff(exact) <= 1, "{:?} and not {exact}", pacer.place());
    }

    #[test]
    fn a_flow_sends_a_burst_in_its_turn_and_rests_for_as_long_as_the_burst_takes() {
        let mut bench = Bench::new(&[25_000, 25_000], 2);
        bench.call(ns(0), ns(1_000));
        let expected = [(0, 0), (0, 80), (1, 160), (1, 240), (0, 640), (0, 720), (1, 800), (1, 880)];
        assert_eq!(bench.nanoseconds(), expected);
    }

    #[test]
    fn a_window_that_opens_late_makes_up_for_nothing() {
        let mut bench = Bench::new(&[25_000], 2);
        bench.call(ns(0), ns(100));
        bench.pacers[0].begin_turn(); // the window is closed
        bench.pacers[0].end_turn();
        bench.nics = Bench::new(&[25_000], 2).nics;
        bench.nics.take(0, bench.nics.next(0, |_| true).unwrap());
        bench.wait(0, ns(5_000));
        bench.call(ns(5_000), ns(6_000));
        assert_eq!(bench.nanoseconds(), [(0, 0), (0, 80), (0, 5_000), (0, 5_080), (0, 5_640), (0, 5_720)]);
    }
}
