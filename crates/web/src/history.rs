//! Figures of a run at equal intervals, for charts over time. They are taken when an instant is passed for the first time.

use serde_json::{Value as Json, json};

use pushout_core::engine::reference::Stepper;
use pushout_core::scenario::model::Scenario;
use pushout_core::trace::ring::RecordRing;
use pushout_core::units::{Span, Time};
use pushout_core::view::FlowProgress;

/// Rows so far, and the time of the next one.
#[derive(Debug)]
pub(crate) struct History {
    rows: Vec<Json>,
    every: Span,
}

impl History {
    /// No row yet.
    pub(crate) fn new(scenario: &Scenario) -> History {
        History { rows: Vec::new(), every: Span((scenario.duration.0 / ROWS).max(1)) }
    }

    /// Return when the next row is due.
    pub(crate) fn next(&self) -> Time {
        Time::ZERO + Span(self.every.0 * self.rows.len() as u64)
    }

    /// Take a row if it is due: time, occupancy, losses by reason, marks, the octets that all flows have delivered, then
    /// window and delivered octets of each of the first [`FLOWS`] flows.
    pub(crate) fn take(&mut self, stepper: &Stepper<RecordRing>, port: usize) {
        if stepper.now() < self.next() {
            return;
        }
        let network = stepper.network();
        let flows = network.flows.iter().take(FLOWS).map(|flow| {
            let FlowProgress { delivered, window } = FlowProgress::of(flow);
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
        ]));
    }

    /// Return the rows after the first `have` ones.
    pub(crate) fn since(&self, have: usize) -> &[Json] {
        &self.rows[have.min(self.rows.len())..]
    }
}

/// Rows of a whole run.
const ROWS: u64 = 2000;
/// Most flows with figures over time: more lines cannot be distinguished in a chart.
pub(crate) const FLOWS: usize = 16;
