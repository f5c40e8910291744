//! The hosts: what arrives there, what they answer, and when their timers go off.

use super::{Fast, PortProcess};
use crate::kernel::queue::{Class, Event, Series};
use crate::network::Network;
use crate::network::circuit::Emission;
use crate::network::end::End;
use crate::units::Time;

use crate::engine::cells::inbox::Arriving;
use crate::engine::cells::port::host_interface::Departure;
use crate::engine::cells::train::Run;

/// Units that will arrive at a host, the last of them at `time`.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct Delivery {
    pub(in crate::engine) time: Time,
    pub(in crate::engine) run: Run,
}

/// Units are on their way to a host.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine) struct PendingDelivery {
    /// The line at the end of which they arrive.
    pub(in crate::engine) line: u32,
    pub(in crate::engine) landing: Delivery,
    /// Whether the last of them completes a frame that the host may answer.
    pub(in crate::engine) awaited: bool,
    /// What announces them.
    pub(in crate::engine) series: Series,
}

/// Runs before a host that nobody waits for: when there are so many, somebody looks after them.
const PATIENCE: usize = 256;

impl Fast<'_> {
    /// Units arrive at the host at the end of a line.
    pub(in crate::engine) fn arrive(&mut self, line: usize, now: Time) {
        while let Some(&Delivery { time, run }) = self.inboxes[line].front()
            && time <= now
        {
            self.inboxes[line].pop_front();
            self.deliver(run, time);
        }
    }

    /// Let hosts act now on what is known to come to them, if nothing that they do not know yet can come before it. For
    /// the rest there is an event.
    ///
    /// Nothing else may be at work, for what a host sends may be for any port.
    #[inline]
    pub(in crate::engine) fn act_ahead(&mut self) {
        let mut place = 0;
        while let Some(&coming) = self.coming.get(place) {
            let Delivery { time, run } = coming.landing;
            if self.inboxes[coming.line as usize].is_empty() && self.may_act(run.unit.vc, time) {
                self.deliver(run, time);
            } else {
                self.land(coming);
            }
            place += 1;
        }
        self.coming.clear();
    }

    /// A host is to act in its turn on what comes to it. If that may be an answer, there is an event.
    fn land(&mut self, PendingDelivery { line, landing, awaited, series }: PendingDelivery) {
        let inbox = &mut self.inboxes[line as usize];
        inbox.push_back(landing);
        if awaited || inbox.len().is_multiple_of(PATIENCE) {
            let (time, rank) = (landing.time, self.ties.rank(landing.time, line));
            self.queue.push_next(series, Event { time, class: Class::Arrive, rank, entity: line });
        }
    }

    /// Whether a host may already act on what arrives on a circuit at `time`: none of its timers goes off before that, and
    /// nobody else sends over its interface.
    #[inline]
    fn may_act(&self, vc: u32, time: Time) -> bool {
        let undisturbed = |end: u32| self.calls.at(end as usize) >= time;
        time < self.end && self.plan.actors[vc as usize].is_some_and(undisturbed)
    }

    /// A time before which nobody sends anything on a circuit, as far as that is known: nothing of its flow is under way, and
    /// no timer goes off.
    pub(in crate::engine) fn rests_until(&self, circuit: usize) -> Time {
        let Some(end) = self.plan.actors[circuit] else { return Time::ZERO };
        let (flow, _) = End::of_entity(end as usize);
        let spec = &self.scenario.flows[flow];
        let rests = |vc: usize| self.network.circuits[vc].tally().under_way() == 0;
        if !rests(spec.vc) || !spec.back.is_none_or(rests) {
            return Time::ZERO;
        }
        let [source, sink] = [End::Source, End::Sink].map(|end| self.calls.at(end.entity(flow)));
        source.min(sink)
    }

    fn deliver(&mut self, run: Run, now: Time) {
        let Network { flows, circuits, .. } = &mut self.network;
        let circuit = &mut circuits[run.unit.vc as usize];
        if !circuit.receive_run(&run.unit, run.units) {
            return;
        }
        let frame = circuit.take();
        let flow = frame.flow as usize;
        let end = flows[flow].deliver(now, &frame, circuits, &mut self.outbox);
        self.emit(now);
        self.call(flow, end);
    }

    /// A timer of one end of a flow goes off, unless it has gone off before.
    pub(in crate::engine) fn timer(&mut self, entity: usize, now: Time) {
        let rung = self.calls.ring(&mut self.network, entity, now, &mut self.outbox);
        if let Some((flow, end)) = rung {
            self.emit(now);
            self.call(flow, end);
        }
    }

    /// Put a flow's end into the queue for its next timer, unless it will be called before that anyway.
    pub(in crate::engine) fn call(&mut self, flow: usize, end: End) {
        if let Some(event) = self.calls.next(&self.network.flows, flow, end) {
            self.queue.push(event);
        }
    }

    /// Hand the frames that a host has written to its network interface.
    fn emit(&mut self, now: Time) {
        for place in 0..self.outbox.emissions.len() {
            self.emit_one(now, self.outbox.emissions[place]);
        }
        self.outbox.emissions.clear();
    }

    fn emit_one(&mut self, now: Time, emission: Emission) {
        let hop = self.network.circuits[emission.vc as usize].hop(0).expect("a circuit has a first port");
        let (port, vc) = (hop.port as usize, hop.vc);
        if let PortProcess::HostInterface(nic) = &mut self.stations[port] {
            let collected = self.plan.legs[port][vc as usize].is_collected();
            let Departure { first, last, whole, together } = nic.emit(now, emission, collected);
            if together {
                return self.send_on(port, vc, Run::of_frame(&emission), first, last, whole);
            }
            return self.with(port, |station, engine| {
                if let PortProcess::HostInterface(nic) = station {
                    nic.send_one_by_one(engine, port, vc, now, emission);
                }
            });
        }
        self.advance(port, now);
        let reach = self.plan.reach[port];
        self.with(port, |station, engine| {
            let PortProcess::PerUnit(general) = station else {
                unreachable!("the interface of a host is unlimited or asks about every unit")
            };
            for unit in emission.units() {
                general.enter(engine, port, &Arriving { time: now, unit, vc: hop.vc });
            }
            general.call_again(engine, port, now, reach);
        });
    }
}
