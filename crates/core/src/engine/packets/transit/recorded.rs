//! The record of packets at ports: each of these ports judges every packet.

use super::Transit;
use crate::engine::packets::route::Packet;
use crate::link::line::Sent;
use crate::trace::{TracedPackets, What};
use crate::unit::Unit;
use crate::units::Time;
use crate::units::ids::LineId;
use crate::verdict::Reason;

impl Transit {
    /// Return the record of packets, if there is one.
    pub(crate) fn take_record(&mut self) -> Option<TracedPackets> {
        self.judging.record.take().map(|record| *record)
    }

    /// Record the arrival of a packet at a port.
    #[cold]
    pub(super) fn record_arrival(&mut self, at: u32, packet: &Packet, now: Time) {
        let (port, unit) = (self.steps.port(at), packet.unit(&self.steps.extras[at as usize]));
        let content = || Some((packet.flow, packet.cargo));
        if let Some(record) = &mut self.judging.record {
            record.record(now, port, &unit, What::Arrives, content);
        }
    }

    /// Record the departure of a packet from a port, if the run does not end before.
    #[cold]
    pub(super) fn record_departure(&mut self, at: u32, packet: &Packet, sent: Sent) {
        if sent.ends >= self.window.to {
            return;
        }
        let (port, unit) = (self.steps.port(at), packet.unit(&self.steps.extras[at as usize]));
        if let Some(record) = &mut self.judging.record {
            record.record(sent.ends, port, &unit, What::Leaves, || None);
        }
    }

    /// Record the loss of a packet at a port.
    pub(super) fn record_loss(&mut self, port: LineId, unit: &Unit, reason: Reason, now: Time) {
        if let Some(record) = &mut self.judging.record {
            record.record(now, port, unit, What::Lost(reason), || None);
        }
    }
}
