//! The two ends of a flow, and where what they send sets out.

use super::circuit::Payload;

/// One end of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Where the application sends.
    Source,
    /// Where its data are delivered.
    Sink,
}

impl End {
    /// The number of this end of a flow among all ends.
    #[inline]
    pub fn entity(self, flow: usize) -> usize {
        2 * flow + self as usize
    }

    /// The flow and the end with this number.
    #[inline]
    pub fn of_entity(entity: usize) -> (usize, End) {
        (entity / 2, if entity.is_multiple_of(2) { End::Source } else { End::Sink })
    }
}

/// Where the packets of a flow set out.
pub(crate) trait Uplink {
    /// A packet of `bytes` octets, IP header included, sets out on a circuit.
    fn send(&mut self, vc: u32, flow: u32, bytes: u32, payload: Payload);
}
