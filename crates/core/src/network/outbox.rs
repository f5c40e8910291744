//! The packets that hosts hand to circuits, for engines whose circuits store frames until they arrive.

use super::circuit::{Circuit, Emission};
use crate::host::end::{End, Uplink};
use crate::host::flow::Flow;
use crate::transport::cargo::Cargo;
use crate::units::Time;
use crate::units::ids::{CircuitId, FlowId, IdVec};

/// The frames that hosts have to send: one list for all hosts, emptied after each call.
#[derive(Clone, Debug, Default)]
pub struct Outbox {
    /// Frames for the network interfaces.
    pub emissions: Vec<Emission>,
}

impl Outbox {
    /// Handle a timer of one end of a flow, or a task that its processor has finished; finished tasks come first.
    pub fn ring(&mut self, flow: &mut Flow, end: End, now: Time, circuits: &mut IdVec<CircuitId, Circuit>) {
        flow.ring(end, now, &mut Framer { circuits, out: self });
    }

    /// Deliver a complete packet to its flow; returns the end at which it arrived.
    pub fn deliver(
        &mut self,
        flow: &mut Flow,
        now: Time,
        cargo: &Cargo,
        circuits: &mut IdVec<CircuitId, Circuit>,
    ) -> End {
        flow.receive(now, cargo, &mut Framer { circuits, out: self }).0
    }
}

/// The uplink of such engines: each packet becomes a frame in the outbox, and the network interface sends its units one by
/// one.
struct Framer<'a> {
    circuits: &'a mut IdVec<CircuitId, Circuit>,
    out: &'a mut Outbox,
}

impl Uplink for Framer<'_> {
    #[inline(always)] // see `Circuit::emit`
    fn send(&mut self, vc: CircuitId, flow: FlowId, bytes: u32, cargo: Cargo) {
        self.out.emissions.push(self.circuits[vc].emit(flow, bytes, cargo));
    }
}
