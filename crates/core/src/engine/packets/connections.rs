//! The connections of a run, from their start to their end.
//!
//! # What it assumes
//! A transfer that a source has drawn, or a list names, is the only one of its connection, and starts at an instant that the
//! scenario gives, or that another transfer gives when it ends.
//!
//! # What it skips
//! The state of transports that have not started, and of those that are over: of the latter only the counts are kept.
//!
//! # Why that is exact
//! A connection that starts later draws the same random numbers, since each flow has its own streams. A connection is
//! over when its transfer has been acknowledged, no timer is set at either end and no packet of it is in flight.
//!
//! # What turns it off
//! For a flow that the scenario lists nothing is skipped: it has its connection for the whole run.
//!
//! # What it saves
//! Memory: a leaf-spine with 159 092 transfers takes 466 MB instead of 1003, including the report in both cases.

use crate::host::end::End;
use crate::host::flow::Flow;
use crate::host::outcome::FlowOutcome;
use crate::network::circuit::Circuit;
use crate::scenario::model::Scenario;
use crate::units::Time;
use crate::units::ids::{CircuitId, FlowId, IdVec};

/// The flows of a run; only those under way have a transport.
#[derive(Debug)]
pub(crate) struct Connections<'a> {
    scenario: &'a Scenario,
    /// The flows under way.
    under_way: Vec<Flow>,
    /// For each flow its stage; empty if all flows are under way during the whole run: then `under_way` has them in
    /// order.
    stages: IdVec<FlowId, Stage>,
    /// Outcomes of the flows that are over.
    over: Vec<FlowOutcome>,
    /// Start of the measured time; `None` before it has begun.
    measured_from: Option<Time>,
    /// For each flow its start, if transfers wait for others; else empty.
    starts: IdVec<FlowId, Time>,
}

/// Stage of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Not started.
    Waiting,
    /// Under way: index in `under_way`.
    UnderWay(u32),
    /// Over: index in `over`.
    Over(u32),
}

impl<'a> Connections<'a> {
    /// Build the flows of a scenario, before the start.
    pub(crate) fn new(scenario: &'a Scenario) -> Connections<'a> {
        let is_drawn = |index: FlowId| scenario.flows[index].transfer.is_some();
        let count = scenario.flows.len();
        let standing = scenario.flows.keys().filter(|&index| !is_drawn(index));
        let mut under_way = Vec::with_capacity(standing.clone().count()); // flows are large
        under_way.extend(standing.map(|index| Flow::new(scenario, index)));
        let mut places = 0..;
        let stage = |index| {
            if is_drawn(index) {
                Stage::Waiting
            } else {
                Stage::UnderWay(places.next().expect("places do not run out"))
            }
        };
        let stages = if under_way.len() < count {
            scenario.flows.keys().map(stage).collect()
        } else {
            IdVec::default()
        };
        let start =
            |flow| if scenario.waits(flow) { Time::NEVER } else { Time::ZERO + scenario.flows[flow].start };
        let starts = match scenario.order() {
            Some(_) => scenario.flows.keys().map(start).collect(),
            None => IdVec::default(),
        };
        let over = Vec::with_capacity(count - under_way.len()); // pages that nothing is written to take no memory
        Connections { scenario, under_way, stages, over, measured_from: None, starts }
    }

    /// Return a flow that is under way.
    #[inline(always)]
    pub(crate) fn at(&mut self, flow: FlowId) -> &mut Flow {
        match self.stages.get(flow) {
            None => &mut self.under_way[flow.index()],
            Some(Stage::UnderWay(place)) => &mut self.under_way[*place as usize],
            Some(_) => unreachable!("a flow is under way as long as packets of it are"),
        }
    }

    /// Return the next instant at which the engine must call an end of a flow.
    pub(crate) fn next_timer(&self, flow: FlowId, end: End) -> Option<Time> {
        match self.stages.get(flow) {
            None => self.under_way[flow.index()].next_timer(end),
            Some(Stage::UnderWay(place)) => self.under_way[*place as usize].next_timer(end),
            Some(Stage::Waiting) => {
                let given = || Time::ZERO + self.scenario.flows[flow].start;
                (end == End::Source).then(|| self.starts.get(flow).copied().unwrap_or_else(given))
            }
            Some(Stage::Over(_)) => None,
        }
    }

    /// Return a flow whose timer is due; start it, if it has not started.
    pub(crate) fn started(&mut self, flow: FlowId) -> &mut Flow {
        if let Some(stage @ Stage::Waiting) = self.stages.get_mut(flow) {
            *stage = Stage::UnderWay(self.under_way.len() as u32);
            let mut connection = Flow::new(self.scenario, flow);
            if self.scenario.waits(flow) {
                connection.start_at(self.starts[flow]);
            }
            if let Some(from) = self.measured_from {
                connection.reset_counters(from);
            }
            self.under_way.push(connection);
        }
        self.at(flow)
    }

    /// Set the start of a transfer that has waited for others.
    pub(crate) fn start_at(&mut self, flow: FlowId, start: Time) {
        self.starts[flow] = start;
    }

    /// Return whether flows may be dropped when they are over.
    #[inline(always)]
    pub(crate) fn come_and_go(&self) -> bool {
        !self.stages.is_empty()
    }

    /// Replace a flow without packets in flight by its outcome, if its only transfer is over.
    #[inline(never)]
    pub(crate) fn forget_if_over(&mut self, flow: FlowId, now: Time) {
        let Stage::UnderWay(place) = self.stages[flow] else { return };
        if !self.under_way[place as usize].is_over() {
            return;
        }
        let connection = self.under_way.swap_remove(place as usize);
        if let Some(moved) = self.under_way.get(place as usize) {
            self.stages[moved.number()] = Stage::UnderWay(place);
        }
        self.stages[flow] = Stage::Over(self.over.len() as u32);
        self.over.push(connection.outcome(now, true)); // only a code asks
    }

    /// Close all flows at the end of the run, and return their outcomes.
    pub(crate) fn close(self, now: Time, circuits: &IdVec<CircuitId, Circuit>) -> IdVec<FlowId, FlowOutcome> {
        let Connections { scenario, under_way, stages, over, .. } = self;
        let under_way = under_way.into_iter().map(|flow| {
            let circuit = flow.circuit();
            flow.outcome(now, circuits[circuit].is_quiet())
        });
        if stages.is_empty() {
            return under_way.collect();
        }
        let mut under_way: Vec<Option<FlowOutcome>> = under_way.map(Some).collect();
        let mut over: Vec<Option<FlowOutcome>> = over.into_iter().map(|flow| Some(flow.close(now))).collect();
        let outcome = |(flow, stage): (FlowId, Stage)| match stage {
            Stage::Waiting => Some(Flow::new(scenario, flow).outcome(now, true)),
            Stage::UnderWay(place) => under_way[place as usize].take(),
            Stage::Over(place) => over[place as usize].take(),
        };
        let outcomes = scenario.flows.keys().zip(stages).map(outcome);
        outcomes.map(|outcome| outcome.expect("each flow has its own place")).collect()
    }

    /// Reset the counters: the measured time begins.
    pub(crate) fn reset_counters(&mut self, now: Time) {
        self.measured_from = Some(now);
        self.under_way.iter_mut().for_each(|flow| flow.reset_counters(now));
        self.over.iter_mut().for_each(|flow| flow.reset_counters(now));
    }
}

#[cfg(test)]
mod tests {
    use super::super::Packets;
    use super::*;
    use crate::engine::outcome::Stopwatch;
    use crate::scenario::load;
    use crate::units::Span;

    #[test]
    fn only_transfers_under_way_have_a_connection() {
        let line = "{ rate = '10 Gb/s', delay = '1 us' }";
        let text = format!(
            "name = 'transfers'
            duration = '20 ms'
            warmup = '5 ms'
            adaptation = {{ kind = 'packet' }}
            topology = {{ template = 'leaf-spine', leaves = 2, spines = 2, hosts = 4, host = {line}, fabric = {line} }}
            [flows]
            stop = '10 ms'
            source = {{ kind = 'arrivals', sizes = {{ exponential = {{ mean = '20 kB' }} }}, load = '30 %', to = 'any' }}
            transport = {{ kind = 'tcp', profile = 'datacenter' }}",
        );
        let scenario = load(&text, "transfers.toml", &[]).unwrap_or_else(|why| panic!("{why}"));
        let mut engine = Packets::new(&scenario, false, None);
        assert_eq!(engine.connections.under_way.len(), 0, "none has started");
        let at = |time| Time::ZERO + Span::millis(time);
        let under_way: Vec<usize> = [5, 10, 20]
            .map(at)
            .map(|end| {
                engine.run_until(end, &mut Stopwatch::default());
                engine.connections.under_way.len()
            })
            .to_vec();
        let all = scenario.flows.len();
        assert!(all > 500 && (1..50).contains(&under_way[0]) && under_way[1] < 50, "{under_way:?} of {all}");
        assert_eq!((under_way[2], engine.connections.over.len()), (0, all), "all have ended");
    }
}
