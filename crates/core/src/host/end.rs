//! The two ends of a flow, and the interface through which they send packets into the network.

use crate::transport::cargo::Cargo;
use crate::units::ids::{CircuitId, FlowId};

/// One end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The end at which the application sends.
    Source,
    /// The end at which its data are delivered.
    Sink,
}

impl End {
    /// Return the number of this end of a flow among the ends of all flows.
    #[inline]
    pub fn entity(self, flow: FlowId) -> usize {
        2 * flow.index() + self as usize
    }

    /// Return the flow and the end that have this number.
    #[inline]
    pub fn of_entity(entity: usize) -> (FlowId, End) {
        (FlowId::new(entity / 2), if entity.is_multiple_of(2) { End::Source } else { End::Sink })
    }
}

/// The interface through which a flow sends packets into the network.
pub(crate) trait Uplink {
    /// Send a packet of `bytes` octets, IP header included, on a circuit.
    fn send(&mut self, vc: CircuitId, flow: FlowId, bytes: u32, cargo: Cargo);
}
