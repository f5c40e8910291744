//! A port that takes whatever comes and serves its circuits round robin, as far as they have credit: what it needs for a
//! cell, close together, for an engine that knows that it is one.
//!
//! The port's line, its counters and its credit cells stay with the port. Round robin passes over a circuit without credit
//! as it does over one without cells, so that both are the same here.

use std::collections::VecDeque;

use super::{Manner, Port};
use crate::buffer::set::Set;
use crate::buffer::size::Measure;
use crate::link::credit::Credit;
use crate::link::line::Sent;
use crate::scheduler;
use crate::unit::Unit;
use crate::units::Time;

/// The buffer of such a port.
#[derive(Debug)]
pub(crate) struct Relay {
    circuits: Vec<Circuit>,
    /// Circuits that have cells and may send them, and from which on the next one is looked for.
    ready: Set,
    from: usize,
    /// Cells in the buffer, that in transmission included.
    total: u64,
    /// The cell in transmission and its circuit.
    sending: Option<(Unit, usize)>,
}

/// A circuit there.
#[derive(Clone, Debug)]
struct Circuit {
    /// Cells that it may send: more than a run has, if nothing limits them.
    balance: u64,
    cells: VecDeque<Unit>,
}

impl Relay {
    /// The buffer of a port at time zero, if it is such a port for circuits that all find room.
    pub(crate) fn of(port: &Port) -> Option<Relay> {
        let in_turn = port.manner == Manner::InTurn && port.measure == Measure::Cells;
        let by_round_robin = matches!(port.scheduler, scheduler::Policy::RoundRobin(_));
        if !(in_turn && by_round_robin) {
            return None;
        }
        let balance = |vc| port.credit.as_ref().map_or(u64::MAX, |credit| credit.balance(vc));
        let circuits =
            (0..port.pool.vcs()).map(|vc| Circuit { balance: balance(vc), cells: VecDeque::new() });
        let ready = Set::new(port.pool.vcs());
        Some(Relay { circuits: circuits.collect(), ready, from: 0, total: 0, sending: None })
    }

    /// A cell arrives. If the line is free it sends that very cell, unless it has to wait for credit: then no other cell
    /// may be sent either.
    #[inline(always)]
    pub(crate) fn arrive(&mut self, port: &mut Port, now: Time, cell: Unit, vc: usize) -> Option<Sent> {
        port.counters.arrived(&cell);
        port.counters.occupancy.change(now, self.total, self.total + 1);
        self.total += 1;
        let circuit = &mut self.circuits[vc];
        if circuit.balance == 0 {
            circuit.cells.push_back(cell);
            return None;
        }
        if self.sending.is_some() || port.sending_credit {
            circuit.cells.push_back(cell);
            self.ready.insert(vc);
            return None;
        }
        circuit.balance -= 1;
        Some(self.send(port, now, cell, vc))
    }

    /// More cells of a frame arrive at the instant at which one has arrived.
    pub(crate) fn follow(
        &mut self,
        port: &mut Port,
        now: Time,
        cells: impl Iterator<Item = Unit>,
        vc: usize,
    ) {
        let circuit = &mut self.circuits[vc];
        let before = circuit.cells.len();
        circuit.cells.extend(cells.inspect(|cell| port.counters.arrived(cell)));
        let more = (circuit.cells.len() - before) as u64;
        port.counters.occupancy.change(now, self.total, self.total + more);
        self.total += more;
        if more > 0 && circuit.balance > 0 {
            self.ready.insert(vc);
        }
    }

    /// The last bit of what was being sent has left; answers it, unless it was a credit cell.
    #[inline(always)]
    pub(crate) fn leave(&mut self, port: &mut Port, now: Time) -> Option<Unit> {
        let Some((cell, vc)) = self.sending.take() else {
            port.sending_credit = false;
            return None;
        };
        port.counters.occupancy.change(now, self.total, self.total - 1);
        self.total -= 1;
        port.counters.departed(&cell, vc);
        Some(cell)
    }

    /// The line is free, and no credit cell waits: send the next cell.
    #[inline(always)]
    pub(crate) fn send_next(&mut self, port: &mut Port, now: Time) -> Option<(Unit, Sent)> {
        let vc = self.ready.next_round(self.from)?;
        let circuit = &mut self.circuits[vc];
        let cell = circuit.cells.pop_front().expect("a circuit that is ready has a cell");
        circuit.balance -= 1;
        if circuit.balance == 0 || circuit.cells.is_empty() {
            self.ready.remove(vc);
        }
        Some((cell, self.send(port, now, cell, vc)))
    }

    #[inline(always)]
    fn send(&mut self, port: &mut Port, now: Time, cell: Unit, vc: usize) -> Sent {
        self.from = vc + 1;
        self.sending = Some((cell, vc));
        if cell.begins_frame() {
            port.line.rest(now);
        }
        port.line.send(now, cell.bytes)
    }

    /// Whether the line is sending.
    pub(crate) fn is_busy(&self, port: &Port) -> bool {
        self.sending.is_some() || port.sending_credit
    }

    /// A credit has come.
    pub(crate) fn credited(&mut self, port: &mut Port, credit: Credit) {
        let vc = credit.vc as usize;
        let circuit = &mut self.circuits[vc];
        let sender = port.credit.as_mut().expect("credits come where they are asked for");
        circuit.balance = sender.renewed(credit, circuit.balance);
        if circuit.balance > 0 && !circuit.cells.is_empty() {
            self.ready.insert(vc);
        }
    }

    /// Take a sample of the occupancy.
    pub(crate) fn sample(&self, port: &mut Port) {
        port.sample_level(self.total, 1);
    }

    /// Forget what was counted so far.
    pub(crate) fn reset_counters(&self, port: &mut Port, now: Time) {
        let sending = self.sending.iter().map(|(cell, _)| cell);
        let waiting = self.circuits.iter().flat_map(|circuit| &circuit.cells);
        port.counters.reset(now, waiting.chain(sending).copied(), self.total);
    }

    /// The run is over: leave the port as if it had done everything by itself.
    pub(crate) fn close(&mut self, port: &mut Port) {
        for (vc, circuit) in self.circuits.iter_mut().enumerate() {
            circuit.cells.drain(..).for_each(|cell| port.restock(cell, vc, false));
            if let Some(credit) = &mut port.credit {
                credit.settle(vc, circuit.balance);
            }
        }
        if let Some((cell, vc)) = self.sending.take() {
            port.restock(cell, vc, true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Parts, Started};
    use super::*;
    use crate::buffer::admission::{self, tail_drop};
    use crate::buffer::capacity::Capacity;
    use crate::buffer::context::Context;
    use crate::buffer::pool::Pool;
    use crate::link::credit::{Sender, Terms};
    use crate::link::line::Line;
    use crate::scheduler::round_robin;
    use crate::unit::Flags;
    use crate::units::Span;
    use proptest::prelude::*;

    const VCS: usize = 3;
    const ROOM: u64 = 4;

    /// A port, perhaps with credit for a few cells of each circuit.
    fn port(governed: bool, scheduler: scheduler::Spec) -> Port {
        let context = Context { capacity: Capacity::UNLIMITED, ..Context::alone(1, VCS) };
        let admission = admission::Spec::TailDrop(tail_drop::Params { clp_threshold: None });
        let terms = Terms { room: ROOM, every: 1, charge: true };
        Port::new(Parts {
            measure: Measure::Cells,
            pool: Pool::new(context.capacity, VCS),
            admission: admission.build(&context).unwrap(),
            pushout: None,
            shared_queue: scheduler.shares_one_queue(),
            scheduler: scheduler.build(&context).unwrap(),
            credit: governed.then(|| Sender::new(terms, VCS)),
            line: Line::new(context.rate, Span::ZERO),
        })
    }

    fn round_robin() -> scheduler::Spec {
        scheduler::Spec::RoundRobin(round_robin::Params {})
    }

    fn cell(vc: usize, frame: u32) -> Unit {
        let flags = Flags::FIRST.with(Flags::EOM);
        Unit { vc: vc as u32, frame, index: 0, bytes: 53, hop: 0, flags }
    }

    /// The same port twice: one drives itself, the other is relayed.
    struct Twins {
        plain: Port,
        relayed: Port,
        relay: Relay,
        ends: Option<Time>,
        /// For every circuit the cells sent, and those that have left behind the line.
        passed: [(u64, u64); VCS],
    }

    impl Twins {
        fn new(governed: bool) -> Twins {
            let plain = port(governed, round_robin());
            let relay = Relay::of(&plain).expect("a port that takes whatever comes");
            Twins { relayed: plain.clone(), plain, relay, ends: None, passed: [(0, 0); VCS] }
        }

        fn arrive(&mut self, now: Time, cell: Unit) {
            let vc = cell.vc as usize;
            let plain = self.plain.pass(now, cell, vc, |unit| unit.vc as usize, &mut Vec::new());
            let relayed = self.relay.arrive(&mut self.relayed, now, cell, vc).map(|sent| (cell, sent));
            self.started(plain, relayed);
        }

        /// Cells leave up to `now`.
        fn go_on(&mut self, now: Time) {
            while let Some(ends) = self.ends.take_if(|ends| *ends <= now) {
                assert_eq!(self.plain.finish(ends), self.relay.leave(&mut self.relayed, ends));
                self.start(ends);
            }
        }

        fn start(&mut self, now: Time) {
            assert_eq!(self.plain.is_busy(), self.relay.is_busy(&self.relayed));
            if self.plain.is_busy() {
                return;
            }
            let credit = self.plain.start_credit(now);
            assert_eq!(credit, self.relayed.start_credit(now));
            if let Some((_, sent)) = credit {
                self.ends = Some(sent.ends);
                return;
            }
            let plain = self.plain.start(now, |unit| unit.vc as usize, &mut Vec::new());
            let relayed = self.relay.send_next(&mut self.relayed, now);
            self.started(plain, relayed);
        }

        fn started(&mut self, plain: Option<Started>, relayed: Option<(Unit, Sent)>) {
            assert_eq!(plain.map(|started| (started.unit, started.sent)), relayed);
            if let Some((unit, sent)) = relayed {
                self.passed[unit.vc as usize].0 += 1;
                self.ends = Some(sent.ends);
            }
        }

        /// A cell of a circuit has left behind the line, if there is one.
        fn credit(&mut self, now: Time, vc: usize) {
            let (sent, left) = &mut self.passed[vc];
            if *left < *sent && self.plain.credit().is_some() {
                *left += 1;
                let credit = Credit { vc: vc as u32, forwarded: *left };
                self.plain.credited(credit);
                self.relay.credited(&mut self.relayed, credit);
                self.start(now);
            }
        }
    }

    proptest! {
        #[test]
        fn a_relay_does_what_its_port_would_do(
            governed in any::<bool>(),
            steps in prop::collection::vec((0u64..3_000_000, 0u8..6, 0usize..VCS), 1..120),
        ) {
            let (mut twins, mut now) = (Twins::new(governed), Time::ZERO);
            for (number, (gap, kind, vc)) in (0..).zip(steps) {
                now += Span(gap);
                twins.go_on(now);
                match kind {
                    0..3 => twins.arrive(now, cell(vc, number)),
                    3 | 4 => twins.credit(now, vc),
                    _ => {
                        let credit = Credit { vc: vc as u32, forwarded: 1 };
                        twins.plain.queue_credit(credit);
                        twins.relayed.queue_credit(credit);
                        twins.start(now);
                    }
                }
            }
            let Twins { mut plain, mut relayed, mut relay, .. } = twins;
            relay.close(&mut relayed);
            [&mut plain, &mut relayed].into_iter().for_each(|port| port.close_counters(now));
            prop_assert_eq!(format!("{:?}", plain.counters), format!("{:?}", relayed.counters));
            prop_assert_eq!(format!("{:?}", plain.pool), format!("{:?}", relayed.pool));
            let waiting = |port: &Port| port.waiting().collect::<Vec<Unit>>();
            prop_assert_eq!(waiting(&plain), waiting(&relayed));
            for vc in (0..VCS).filter(|_| governed) {
                let account = |port: &Port| port.credit().map(|credit| credit.account(vc));
                prop_assert_eq!(account(&plain), account(&relayed));
            }
        }
    }

    #[test]
    fn a_frame_comes_as_its_cells_would() {
        let (mut whole, mut single) = (Twins::new(true), Twins::new(true));
        let cells = || (0..6).map(|index| Unit { index, ..cell(1, 7) });
        whole.arrive(Time::ZERO, cell(1, 7));
        whole.relay.follow(&mut whole.relayed, Time::ZERO, cells().skip(1), 1);
        cells().for_each(|cell| single.arrive(Time::ZERO, cell));
        for twins in [&mut whole, &mut single] {
            twins.relay.close(&mut twins.relayed);
        }
        assert_eq!(format!("{:?}", whole.relayed), format!("{:?}", single.relayed));
    }

    #[test]
    fn only_a_port_that_looks_at_nothing_but_turns_and_credit_is_relayed() {
        assert!(Relay::of(&port(true, round_robin())).is_some());
        assert!(Relay::of(&port(false, scheduler::Spec::Fifo(scheduler::fifo::Params {}))).is_none());
        let strict = scheduler::Spec::StrictPriority(scheduler::strict_priority::Params {});
        assert!(Relay::of(&port(true, strict)).is_none());
    }
}
