//! Figures of a run at equal intervals, for charts over time. They are taken when an instant is passed for the first time.

use serde_json::{Value as Json, json};

use pushout_core::engine::reference::Stepper;
use pushout_core::link::port::Port;
use pushout_core::metrics::state::Figure;
use pushout_core::scenario::contract::passing_circuits;
use pushout_core::scenario::model::{Flow, Scenario};
use pushout_core::trace::ring::RecordRing;
use pushout_core::units::ids::{CircuitId, FlowId, LineId};
use pushout_core::units::{Span, Time};
use pushout_core::view::FlowProgress;

/// Rows so far, and the time of the next one.
#[derive(Debug)]
pub(crate) struct History {
    rows: Vec<Json>,
    every: Span,
    /// The flows that have figures over time.
    flows: Vec<FlowId>,
}

impl History {
    /// No row yet.
    pub(crate) fn new(scenario: &Scenario, port: LineId) -> History {
        let every = Span((scenario.duration.0 / ROWS).max(1));
        History { rows: Vec::new(), every, flows: listed(scenario, port) }
    }

    /// Return when the next row is due.
    pub(crate) fn next(&self) -> Time {
        Time::ZERO + Span(self.every.0 * self.rows.len() as u64)
    }

    /// Take a row if it is due: time, occupancy, losses by reason, marks, the octets that all flows have delivered, window
    /// and delivered octets of each of the [listed](listed()) flows, and the state of the port's policies.
    pub(crate) fn take(&mut self, stepper: &Stepper<RecordRing>, port: LineId) {
        if stepper.now() < self.next() {
            return;
        }
        let network = stepper.network();
        let flows = self.flows.iter().map(|&flow| {
            let FlowProgress { delivered, window } = FlowProgress::of(&network.flows[flow]);
            json!([window.map(|window| window.cwnd), delivered])
        });
        let flows: Json = flows.collect();
        let delivered: u64 = network.flows.iter().map(|flow| FlowProgress::of(flow).delivered).sum();
        let port_now = &network.ports[port];
        self.rows.push(json!([
            stepper.now().since(Time::ZERO).0,
            port_now.pool().total(),
            stepper.tracer().lost(port),
            port_now.counters().newly_marked(),
            delivered,
            flows,
            state(port_now).iter().map(|figure| figure.value).collect::<Vec<_>>(),
        ]));
    }

    /// Return the flows that have figures over time.
    pub(crate) fn flows(&self) -> &[FlowId] {
        &self.flows
    }

    /// Return the rows after the first `have` ones.
    pub(crate) fn since(&self, have: usize) -> &[Json] {
        &self.rows[have.min(self.rows.len())..]
    }
}

/// Return the flows whose data pass a port, in order; where no data pass, those whose acknowledgements do.
pub(crate) fn passing(scenario: &Scenario, port: LineId) -> Vec<FlowId> {
    let passing = passing_circuits(scenario);
    let circuits: Vec<CircuitId> = passing.at(port).iter().copied().collect();
    let passes = |circuit: CircuitId| circuits.binary_search(&circuit).is_ok();
    let those = |passes: &dyn Fn(&Flow) -> bool| -> Vec<FlowId> {
        scenario.flows.keys().filter(|&flow| passes(&scenario.flows[flow])).collect()
    };
    let data = those(&|flow| passes(flow.vc));
    if data.is_empty() { those(&|flow| flow.back.is_some_and(passes)) } else { data }
}

/// Return the flows with figures over time: all, or of many the first that pass the port in view.
pub(crate) fn listed(scenario: &Scenario, port: LineId) -> Vec<FlowId> {
    let all = scenario.flows.len();
    let passing = if all > FLOWS { passing(scenario, port) } else { Vec::new() };
    if passing.is_empty() {
        scenario.flows.keys().take(FLOWS).collect()
    } else {
        passing.into_iter().take(FLOWS).collect()
    }
}

/// Return the variables of a port's policies that have figures over time.
pub(crate) fn state(port: &Port) -> Vec<Figure> {
    let mut figures = port.state();
    figures.truncate(FIGURES);
    figures
}

/// Rows of a whole run.
const ROWS: u64 = 2000;
/// Most flows with figures over time: more lines cannot be distinguished in a chart.
const FLOWS: usize = 16;
/// Most variables with figures over time.
const FIGURES: usize = 16;
