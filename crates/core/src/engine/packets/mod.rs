//! Packets one by one, in the order of [`crate::kernel`].
//!
//! # What it assumes
//! All links carry packets: every packet is a frame and hence needs a decision, so there are no trains to merge.
//!
//! # What it skips
//! Most events. A port that accepts packets by a rule (`port.rs`) computes on arrival when each will leave. Where
//! packets arrive over one line only, or from the port's own host, the port handles a packet as soon as it is sent. A
//! host with one incoming line acts ahead of time. So do ports that share a memory which only limits what enters
//! (`shared.rs`). The remaining events are arrivals where lines meet and at other hosts, and timers (`agenda.rs`); a
//! mesh takes them day by day and port by port (`calendar.rs`). A policer is a step of a route.
//!
//! # Why that is exact
//! Such ports get their packets in the order in which they were sent, and only its line and its timers make such a
//! host act. Data and acknowledgements need not be interleaved if one affects the other only after a long time
//! (`lookahead.rs`).
//!
//! # What turns it off
//! A port without a rule, or whose packets are recorded, judges every packet, with an event for the end of each transmission. Ports of switches have an
//! order of their own for these events (`transit/stations.rs`), those of hosts a common one.
//!
//! # What it saves
//! With the reference engine W3-1000 takes 5.0 times as long, W1-packet 2.9 times, incast 3.3 times. A packet carries
//! its payload and touches one cache line at a port, one of its route and one of its host, because with a thousand
//! flows memory access dominates.

mod agenda;
mod calendar;
mod connections;
mod day;
mod groups;
mod host;
mod lookahead;
mod nics;
mod port;
mod route;
mod shared;
mod timer_wheel;
mod transit;

use crate::engine::exact::accounting::Window;
use crate::engine::forms::{Form, allows, used};
use crate::engine::outcome::{Outcome, Stopwatch, Work};
use crate::engine::waiting::Waiting;
use crate::host::end::{End, Uplink};
use crate::host::nic::Nics;
use crate::kernel::queue::{Class, Event};
use crate::scenario::model::{Medium, Scenario};
use crate::trace::TracedPackets;
use crate::transport::cargo::Cargo;
use crate::unit::Flags;
use crate::units::ids::{CircuitId, FlowId, LineId};
use crate::units::{Span, Time};

use agenda::{Arrival, Due};
use connections::Connections;
use day::Day;
use route::{Packet, PacketDestination};
use transit::{Onward, Passed, Transit};

/// Return whether all links of a scenario carry packets.
pub(crate) fn covers(scenario: &Scenario) -> bool {
    scenario.lines.iter().all(|line| line.medium == Medium::Packets)
}

/// Run such a scenario as [`super::run()`] does.
pub(crate) fn run(scenario: &Scenario, log: bool, watch: &mut Stopwatch<'_>) -> Outcome {
    Packets::new(scenario, log, None).run(watch).0
}

/// Run such a scenario, and record packets.
pub(crate) fn run_recorded(
    scenario: &Scenario,
    log: bool,
    packets: TracedPackets,
    watch: &mut Stopwatch<'_>,
) -> (Outcome, TracedPackets) {
    let (outcome, packets) = Packets::new(scenario, log, Some(packets)).run(watch);
    (outcome, packets.expect("the engine returns the record that it gets"))
}

/// Least number of rounds of a run in which the caller receives the progress: an agenda without others could be handled
/// to the end of the run at once.
const REPORTS: u64 = 1000;

/// The hosts, and everything between them.
struct Packets<'a> {
    scenario: &'a Scenario,
    connections: Connections<'a>,
    /// Transfers that start when others of their host have ended, if there are any.
    waiting: Option<Waiting>,
    /// Network interfaces of hosts with paced senders that share them.
    nics: Nics,
    /// Whether senders pace.
    is_paced: bool,
    /// Whether more than its transport follows from a packet that a host receives: flows end, wait, or pace.
    is_watched: bool,
    events: u64,
    transit: Transit,
    /// The longest time for which an agenda is handled alone.
    round: Span,
    /// The arrivals of the day in work, if arrivals are in a calendar.
    day: Day,
}

/// The route of a host's packets into the network.
struct Setout<'a> {
    transit: &'a mut Transit,
    now: Time,
}

impl Uplink for Setout<'_> {
    #[inline(always)] // the direction of the packet is a constant at each call
    fn send(&mut self, _vc: CircuitId, flow: FlowId, bytes: u32, cargo: Cargo) {
        let end = if cargo.is_back() { End::Sink } else { End::Source };
        self.transit.send(self.now, end.entity(flow), bytes, cargo);
    }
}

impl<'a> Packets<'a> {
    /// Build the engine at time zero; with `log` it records losses, and with `record` packets at ports.
    fn new(scenario: &'a Scenario, log: bool, record: Option<TracedPackets>) -> Packets<'a> {
        let (transit, connections) = (Transit::new(scenario, log, record), Connections::new(scenario));
        let round = transit.arrivals.division.lookahead.min(Span((scenario.duration.0 / REPORTS).max(1)));
        let nics = Nics::new(scenario, &transit.hosts.nics);
        let is_paced = scenario.is_paced();
        let mut engine = Packets {
            scenario,
            is_watched: connections.come_and_go() || is_paced,
            connections,
            waiting: Waiting::new(scenario),
            nics,
            is_paced,
            events: 0,
            transit,
            round,
            day: Day::default(),
        };
        scenario.flows.keys().for_each(|flow| engine.call(flow, End::Source));
        if engine.transit.has_stations() {
            used(Form::Stations);
            engine.open_calendar();
            engine.transit.note_first_visits();
        } else if allows(Form::Rows) {
            used(Form::Rows);
        } else {
            engine.open_calendar();
        }
        engine
    }

    /// Run to the end of the scenario; returns its outcome and the record of packets, if there is one.
    fn run(mut self, watch: &mut Stopwatch<'_>) -> (Outcome, Option<TracedPackets>) {
        watch.start();
        let Window { from, to } = self.transit.window;
        if from > Time::ZERO {
            self.run_until(from, watch);
            self.reset_counters(from);
        }
        self.run_until(to, watch);
        watch.stop();
        let record = self.transit.take_record();
        (self.close(to), record)
    }

    /// Handle all events before `end`, and take the samples that are due before it.
    fn run_until(&mut self, end: Time, watch: &mut Stopwatch<'_>) {
        self.transit.set_edge(end);
        while let Some(sample) = self.transit.next_sample().filter(|sample| *sample < end) {
            self.handle_until(sample, watch);
            self.transit.sample();
        }
        self.handle_until(end, watch);
    }

    fn handle_until(&mut self, end: Time, watch: &mut Stopwatch<'_>) {
        loop {
            if self.transit.arrivals.has_calendar() {
                return self.handle_days(end, watch);
            }
            let (agenda, first) = self.transit.arrivals.first();
            if first >= end {
                return;
            }
            let before = self.events;
            self.work_through(agenda, end.min(first + self.round));
            watch.reach_with(first, self.events - before);
            if self.transit.arrivals.overflows() {
                self.open_calendar();
            }
        }
    }

    /// Move all arrivals to a calendar, from now on.
    #[cold]
    fn open_calendar(&mut self) {
        self.day = Day::new(self.scenario.lines.len() + self.scenario.memories.len());
        let has_stations = self.transit.has_stations();
        self.transit.arrivals.open_calendar(self.scenario, has_stations);
    }

    /// Handle the events of an agenda before `end`; there is at least one.
    #[inline(always)]
    fn work_through(&mut self, agenda: usize, end: Time) {
        self.transit.arrivals.agendas[agenda].begin(end);
        loop {
            self.events += 1;
            match self.transit.arrivals.agendas[agenda].first() {
                Due::Row(row) => {
                    let arrival = self.transit.arrivals.agendas[agenda].pop_row(row);
                    self.arrive(&arrival);
                }
                Due::Call => {
                    let event = self.transit.arrivals.agendas[agenda].pop_call();
                    self.called(event, event.time);
                }
            }
            if self.transit.arrivals.agendas[agenda].is_done() {
                return;
            }
        }
    }

    fn called(&mut self, event: Event, now: Time) {
        let entity = event.entity as usize;
        match event.class {
            Class::Free => self.free(LineId(event.entity), now),
            Class::Tick => self.tick(entity, now),
            Class::Timer => self.timer(entity, now),
            Class::Credit => self.control(LineId(event.entity), now),
            Class::Arrive => unreachable!("no call is for these"),
        }
    }

    /// Handle the clock of a policy, of a memory, or of the gates of a port.
    #[inline(never)]
    fn tick(&mut self, entity: usize, now: Time) {
        let Some(port) = self.transit.gates_of(entity) else { return self.transit.tick(entity, now) };
        if let Some(onward) = self.transit.act_gates(port, now) {
            self.come_later(&onward);
        }
        self.notify_nic(port, now);
    }

    /// Handle a pause that reaches a port.
    #[inline(never)]
    fn control(&mut self, port: LineId, now: Time) {
        if let Some(onward) = self.transit.control(port, now) {
            self.come_later(&onward);
        }
        self.notify_nic(port, now);
    }

    /// Begin the measured time.
    fn reset_counters(&mut self, now: Time) {
        self.connections.reset_counters(now);
        self.transit.reset_counters(self.scenario, now);
    }

    /// End the run.
    fn close(self, now: Time) -> Outcome {
        let Transit { mut network, on_lines, packet_hops, log, .. } = self.transit.close(self.scenario);
        network.close_counters(now);
        let flows = self.connections.close(now, &network.circuits);
        let work = Work { packet_hops, events: self.events, ..Work::default() };
        Outcome { network, flows, on_lines, work, losses: log.unwrap_or_default() }
    }

    #[inline(always)]
    fn arrive(&mut self, arrival: &Arrival) {
        let &Arrival { time, at, ref packet, .. } = arrival;
        match self.transit.steps.stop(at) {
            PacketDestination::Alone | PacketDestination::Meet => {
                if let Some(Passed { at, stop, time, .. }) = self.transit.pass(at, packet.head, time) {
                    self.come(at, stop, packet, time);
                }
            }
            PacketDestination::Marking | PacketDestination::Shared => self.pass_any(at, packet, time),
            PacketDestination::Judging => self.judge(at, packet, time),
            PacketDestination::Host | PacketDestination::End | PacketDestination::Ends => {
                self.land(at, packet, time)
            }
        }
    }

    /// Handle a packet at a port that decides by a rule but may mark it, or shares a memory.
    #[inline(never)]
    fn pass_any(&mut self, at: u32, packet: &Packet, now: Time) {
        if let Some(Passed { at, stop, head, time }) = self.transit.pass_any(at, packet, now) {
            self.come(at, stop, &Packet { head, ..*packet }, time);
        }
    }

    /// Handle a packet at a port that judges every packet.
    #[inline(never)]
    fn judge(&mut self, at: u32, packet: &Packet, now: Time) {
        if let Some(onward) = self.transit.judge(at, packet, now) {
            self.come_later(&onward);
        }
    }

    /// Handle the end of a transmission at a port that judges every packet.
    #[inline(never)]
    fn free(&mut self, port: LineId, now: Time) {
        if let Some(onward) = self.transit.free(port, now) {
            self.come_later(&onward);
        }
        self.notify_nic(port, now);
    }

    /// Deliver a packet to a host that has not acted ahead of it.
    #[inline(never)]
    fn land(&mut self, at: u32, packet: &Packet, now: Time) {
        let place = self.transit.steps.place(at);
        match self.transit.steps.stop(at) {
            PacketDestination::End => self.transit.hosts.ends[place as usize].awaited -= 1,
            PacketDestination::Ends => self.transit.hosts.shared[place as usize].awaited -= 1,
            _ => {}
        }
        self.deliver(packet, now);
    }

    /// Announce a packet that will arrive at a step: a host that can act ahead of time does so now.
    #[inline(always)]
    fn come(&mut self, at: u32, stop: PacketDestination, packet: &Packet, time: Time) {
        if stop == PacketDestination::End && time < self.transit.edge {
            let entity = self.transit.steps.place(at) as usize;
            let host = &self.transit.hosts.ends[entity];
            if host.awaited == 0 {
                if host.called() < time {
                    self.ring_before(entity, time);
                }
                return self.deliver(packet, time);
            }
        }
        if stop == PacketDestination::Ends && time < self.transit.edge {
            return self.come_to_shared(at, packet, time);
        }
        self.transit.expect(at, *packet, time);
    }

    /// Deliver a packet to a host with ends of several flows.
    #[inline(never)]
    fn come_to_shared(&mut self, at: u32, packet: &Packet, time: Time) {
        let place = self.transit.steps.place(at);
        if self.transit.hosts.shared[place as usize].awaited > 0 {
            return self.transit.expect(at, *packet, time);
        }
        while let Some((due, entity)) = self.transit.hosts.shared[place as usize].take_before(time) {
            self.timer(entity as usize, due);
        }
        self.deliver(packet, time);
    }

    /// Like `come`, out of line: few hosts need it.
    #[inline(never)]
    fn come_later(&mut self, Onward { at, packet, time }: &Onward) {
        self.come(*at, self.transit.steps.stop(*at), packet, *time);
    }

    /// Deliver a packet to the host where its circuit ends.
    #[inline(always)]
    fn deliver(&mut self, packet: &Packet, now: Time) {
        let marked;
        let mut cargo = &packet.cargo;
        if packet.head.flags.0 & (Flags::CE.0 | Flags::CUT.0) != 0 {
            marked = self.transit.receive_marked(packet);
            cargo = &marked;
        }
        let flow = self.connections.at(packet.flow);
        let setout = &mut Setout { transit: &mut self.transit, now };
        let (end, due) = flow.receive(now, cargo, setout);
        let entity = end.entity(packet.flow);
        let host = &mut self.transit.hosts.ends[entity];
        host.receive();
        if let Some(event) = host.call(entity, due) {
            self.transit.call(event);
        }
        if self.is_watched {
            if self.connections.come_and_go() {
                if self.waiting.is_some() {
                    self.release(packet.flow, now);
                }
                if due.is_none() {
                    self.forget_if_over(packet.flow, now);
                }
            }
            if self.is_paced && end == End::Source {
                self.await_turn(packet.flow, now);
            }
        }
    }

    /// Drop a connection that is over, when no timer of an end is set.
    #[inline(never)] // where no transfers are drawn, packets do not pay for it
    fn forget_if_over(&mut self, flow: FlowId, now: Time) {
        if self.transit.is_quiet(flow) {
            self.connections.forget_if_over(flow, now);
        }
    }

    /// Fire the timers of an end that are due before `time`, since it acts ahead of time.
    #[inline(never)]
    fn ring_before(&mut self, entity: usize, time: Time) {
        let (flow, end) = End::of_entity(entity);
        if self.is_paced && end == End::Source {
            return self.ring_paced_before(flow, time);
        }
        let flow = self.connections.at(flow);
        while let Some(now) = flow.next_timer(end).filter(|due| *due < time) {
            flow.ring(end, now, &mut Setout { transit: &mut self.transit, now });
        }
    }

    /// Fire a timer of one end of a flow, unless it has already fired.
    fn timer(&mut self, entity: usize, now: Time) {
        if !self.transit.hosts.ends[entity].answer(now) {
            return;
        }
        if let Some(nic) = entity.checked_sub(self.first_nic()) {
            return self.serve(nic, now);
        }
        let (flow, end) = End::of_entity(entity);
        if self.connections.next_timer(flow, end).is_some_and(|due| due <= now) {
            self.connections.started(flow).ring(end, now, &mut Setout { transit: &mut self.transit, now });
            if self.waiting.is_some() {
                self.release(flow, now);
            }
        }
        if self.is_paced && end == End::Source {
            self.take_turns(flow, now);
        }
        self.call(flow, end);
    }

    /// Start the transfers that waited for the transfer of this flow, if it has ended.
    #[inline(never)]
    fn release(&mut self, flow: FlowId, now: Time) {
        let Some(waiting) = &mut self.waiting else { return };
        for (next, start) in waiting.release(self.connections.at(flow), now) {
            self.connections.start_at(next, start);
            self.call(next, End::Source);
        }
    }

    /// Call a flow's end for its next timer.
    #[inline]
    fn call(&mut self, flow: FlowId, end: End) {
        let (due, entity) = (self.connections.next_timer(flow, end), end.entity(flow));
        if let Some(event) = self.transit.hosts.ends[entity].call(entity, due) {
            self.transit.call(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::load;

    fn network(topology: &str, duration: &str) -> Scenario {
        let text = format!(
            "name = 'network'
            duration = '{duration}'
            adaptation = {{ kind = 'packet' }}
            topology = {{ {topology} }}
            [flows]
            source = {{ kind = 'greedy' }}
            transport = {{ kind = 'tcp', profile = 'datacenter', congestion = 'new-reno' }}",
        );
        load(&text, "network.toml", &[]).unwrap_or_else(|why| panic!("{why}"))
    }

    /// Return whether a network of this topology ends with its arrivals in a calendar.
    fn has_calendar(topology: &str) -> bool {
        let scenario = network(topology, "4 ms");
        let mut engine = Packets::new(&scenario, false, None);
        engine.run_until(Time::ZERO + scenario.duration, &mut Stopwatch::default());
        engine.transit.arrivals.has_calendar()
    }

    #[test]
    fn the_caller_receives_the_progress_of_networks_whose_rounds_are_few_and_long() {
        let line = "{ rate = '10 Gb/s', delay = '1 ms' }";
        let dumbbell = format!(
            "template = 'dumbbell', sources = 8, access = {line}, bottleneck = {line}, egress = {line}"
        );
        let fabric = format!(
            "template = 'leaf-spine', leaves = 2, spines = 2, hosts = 4, host = {line}, fabric = {line}"
        );
        for topology in [dumbbell, fabric] {
            let scenario = network(&topology, "40 ms");
            let reached = std::cell::RefCell::new(vec![Time::ZERO]);
            let report = |now| reached.borrow_mut().push(now);
            let mut engine = Packets::new(&scenario, false, None);
            engine.run_until(Time::ZERO + scenario.duration, &mut Stopwatch::telling(&|| 0.0, &report));
            let end = Time::ZERO + scenario.duration;
            let reached = [reached.into_inner(), vec![end]].concat();
            assert!(reached.is_sorted(), "time does not go back");
            let longest = reached.windows(2).map(|pair| pair[1].since(pair[0])).max().unwrap();
            // The first round trip, of 8 ms, has only a SYN for each flow: fewer events than a report takes.
            assert!(longest <= Span::millis(16), "no report within {longest}: {topology}");
            assert!(reached.len() >= 20, "{} reports: {topology}", reached.len());
        }
    }

    #[test]
    fn a_mesh_overflows_the_rows_and_a_dumbbell_does_not() {
        let line = "{ rate = '10 Gb/s', delay = '10 us' }";
        let fabric = format!(
            "template = 'leaf-spine', leaves = 4, spines = 4, hosts = 8, host = {line}, fabric = {line}"
        );
        assert!(has_calendar(&fabric));
        let lines = ["access", "bottleneck", "egress"].map(|class| format!("{class} = {line}")).join(", ");
        assert!(!has_calendar(&format!("template = 'dumbbell', sources = 32, {lines}")));
    }
}
