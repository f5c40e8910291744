//! Networks in which credits govern lines.
//!
//! A unit that leaves a port may let a credit go out at once over another port of the same node, so that ports of one node
//! have to be computed together; what it lets a neighbour do is known there only after the way over a line. So all nodes
//! go on together, in windows of time in which nothing gets from one node to another (`agenda`): what comes to a node in
//! the present window is known, and in each window three things happen one after the other.
//!
//! * Cells arrive at hosts, which give credit back for each at once, and become frames (`hosts`).
//! * Hosts act, in the order of time: on frames and on their timers, the only things that stand in an event queue. What
//!   they send, and every credit that a port has to send or has waited for, is a note to a port (`notes`).
//! * Ports work through what comes to them (`ports`): units over lines (`lanes`), notes, the ends of their transmissions,
//!   ticks and samples, in the order that [`crate::kernel`] documents. Credits for what leaves go to other ports of the
//!   node. If these never hand on any credits to the former, they come later and know all that they have to send (`ways`);
//!   if they may, they take turns in the order of time.
//!
//! So a port works through a window by itself, and merges a few rows whose heads are at hand (`earliest`): no cell stands
//! in a queue of events, and none is allocated for. Any port may be asked what the reference engine asks it. One that takes
//! whatever comes and serves its circuits round robin, as nearly all do behind credits, is held in a form of its own
//! ([`crate::link::port::relay`]) and handles cells in one loop (`relay`).

mod agenda;
mod earliest;
mod hosts;
mod key;
mod lanes;
mod notes;
mod ports;
mod relay;
mod ways;

use std::collections::VecDeque;

use crate::engine::calls::Calls;
use crate::engine::{LossRecord, Outcome, Stopwatch, Work};
use crate::kernel::Ties;
use crate::kernel::queue::{Class, Event, EventQueue, LAST_RANK};
use crate::link::credit::Credit;
use crate::link::port::relay::Relay;
use crate::link::port::{Loss, Port};
use crate::network::Network;
use crate::network::circuit::Frame;
use crate::network::end::End;
use crate::network::flow::Outbox;
use crate::scenario::model::{Medium, Scenario};
use crate::units::Time;

use agenda::Agenda;
use earliest::Earliest;
use key::{Key, beginning, time_of};
use lanes::{Heads, Lanes};
use notes::{Note, Notes};
use ports::Station;
use ways::{Address, Answer, How, Ways};

/// Whether credits govern any line.
pub(super) fn knows(scenario: &Scenario) -> bool {
    scenario.lines.iter().any(|line| line.port.credit.is_some())
}

/// Run such a scenario as [`super::run()`] does.
pub(super) fn run(scenario: &Scenario, log: bool, watch: &mut Stopwatch<'_>) -> Outcome {
    let mut engine = Governed::new(scenario, log);
    watch.start();
    let (from, to) = (Time::ZERO + scenario.warmup, engine.end);
    engine.run_until(from);
    engine.reset_counters(from);
    engine.run_until(to);
    watch.stop();
    engine.close();
    engine.network.close_counters(to);
    engine.outcome()
}

struct Governed<'a> {
    scenario: &'a Scenario,
    ways: Ways,
    network: Network,
    stations: Vec<Station>,
    /// For each group of ports when each has something to do, and for each port its group and its place there.
    order: Vec<Earliest>,
    places: Vec<(usize, usize)>,
    /// When landings and, behind them, groups have something to do.
    agenda: Agenda,
    lanes: Lanes,
    /// How many lanes end at hosts: the first ones.
    landings: usize,
    /// For each line the frames that it has brought to a host, but about which the host does not know yet.
    frames: Vec<VecDeque<Frame>>,
    /// What makes hosts act: whole frames and timers.
    queue: EventQueue,
    calls: Calls,
    /// When the run is over.
    end: Time,
    work: Work,
    log: Option<Vec<LossRecord>>,
    outbox: Outbox,
    losses: Vec<Loss>,
}

impl Governed<'_> {
    fn new(scenario: &Scenario, log: bool) -> Governed<'_> {
        let mut network = Network::new(scenario);
        let ways = Ways::new(scenario, &network);
        let stations = stations(scenario, &ways, &mut network);
        let landings = ways.lanes.iter().filter(|way| way.port.is_none()).count();
        let mut engine = Governed {
            scenario,
            agenda: Agenda::new(ways.span, landings + ways.groups.len()),
            order: ways.groups.iter().map(|group| Earliest::new(group.len())).collect(),
            places: ways.places(),
            stations,
            lanes: Lanes::new(Ties::new(scenario.seed), ways.lanes.iter().map(|way| way.line)),
            landings,
            frames: vec![VecDeque::new(); scenario.lines.len()],
            queue: EventQueue::default(),
            calls: Calls::new(network.flows.len()),
            end: Time::ZERO + scenario.duration,
            work: Work::default(),
            log: log.then(Vec::new),
            outbox: Outbox::default(),
            losses: Vec::new(),
            ways,
            network,
        };
        for port in 0..engine.stations.len() {
            engine.come(port as u32, engine.stations[port].next());
        }
        (0..engine.network.flows.len()).for_each(|flow| engine.call(flow, End::Source));
        engine
    }

    /// Let happen what happens before `end`, in windows in which nothing gets from one node to another.
    fn run_until(&mut self, end: Time) {
        loop {
            let hosts = self.queue.first_time().unwrap_or(end);
            let (begins, ends) = self.agenda.go_on(hosts.min(end));
            if begins < end {
                self.pass(ends.min(end));
            }
            if ends > end {
                return;
            }
        }
    }

    /// Let happen what happens before `end`: first what comes to hosts, then what they do, then what ports do.
    fn pass(&mut self, end: Time) {
        let (landings, members) = (self.landings, self.landings + self.order.len());
        let mut from = 0;
        while let Some(landing) = self.agenda.take(from..landings) {
            self.land(landing as u32, end);
            from = landing + 1;
        }
        self.act(end);
        let mut from = landings;
        while let Some(member) = self.agenda.take(from..members) {
            self.take_turns(member - landings, beginning(end));
            from = member + 1;
        }
        while let Some(lane) = self.lanes.fresh.pop() {
            self.meet(lane);
        }
    }

    /// The first unit of a lane that was empty is on its way.
    fn meet(&mut self, lane: u32) {
        let key = self.lanes.head(lane);
        match self.ways.lanes[lane as usize].port {
            Some(port) => {
                self.stations[port as usize].heads.set(lane, key);
                self.come(port, key);
            }
            None => self.agenda.expect(lane as usize, time_of(key)),
        }
    }

    /// A note is on its way to a port.
    fn tell(&mut self, to: Address, key: Key, note: Note) {
        self.stations[to.port as usize].tell(to.row, key, note);
        self.come(to.port, key);
    }

    /// Something will come to a port at this place in the order.
    #[inline]
    fn come(&mut self, port: u32, key: Key) {
        let (number, place) = self.places[port as usize];
        let order = &mut self.order[number];
        if key < order.at(place) {
            order.set(place, key);
            self.agenda.expect(self.landings + number, time_of(key));
        }
    }

    /// A credit is due: it sets out, or a port has to send it.
    #[inline(never)]
    fn give_back(&mut self, answer: Answer, credit: Credit, event: Event) {
        match answer.how {
            How::Charged => self.tell(answer.to, event.key(), Note::Due(credit)),
            How::Beside(transit) => {
                // what leaves comes before what is lost on arrival
                let rank = if event.class == Class::Free { 0 } else { LAST_RANK };
                let (time, class) = (event.time + transit, Class::Credit);
                let arrival = Event { time, class, rank, entity: event.entity };
                self.tell(answer.to, arrival.key(), Note::Credit(credit));
            }
        }
    }

    /// The measured time begins.
    fn reset_counters(&mut self, now: Time) {
        self.network.reset_counters(now);
        for (station, port) in self.stations.iter().zip(&mut self.network.ports) {
            station.relay.iter().for_each(|relay| relay.reset_counters(port, now));
        }
    }

    /// The run is over.
    fn close(&mut self) {
        for (station, port) in self.stations.iter_mut().zip(&mut self.network.ports) {
            station.relay.iter_mut().for_each(|relay| relay.close(port));
        }
    }

    fn outcome(self) -> Outcome {
        let mut on_lines = vec![0; self.network.circuits.len()];
        self.lanes.units().for_each(|unit| on_lines[unit.vc as usize] += 1);
        let Governed { network, mut work, log, .. } = self;
        for (station, line) in self.stations.iter().zip(&self.scenario.lines) {
            let hops = if line.medium == Medium::Cells { &mut work.cell_hops } else { &mut work.packet_hops };
            *hops += station.hops;
        }
        Outcome { network, on_lines, work, losses: log.unwrap_or_default() }
    }
}

/// All ports at time zero.
fn stations(scenario: &Scenario, ways: &Ways, network: &mut Network) -> Vec<Station> {
    let take_all = ways.take_all(scenario);
    let station = |(index, port): (usize, &mut Port)| {
        let tick = port.tick(Time::ZERO).map(|time| Event::new(time, Class::Tick, index as u32));
        let relay = Relay::of(port).filter(|_| take_all[index]);
        let (heads, notes) = (Heads::new(ways.lanes_to(index)), Notes::new(ways.notes[index].len()));
        Station::new(heads, notes, tick, scenario.lines[index].is_sampled(), relay)
    };
    network.ports.iter_mut().enumerate().map(station).collect()
}
