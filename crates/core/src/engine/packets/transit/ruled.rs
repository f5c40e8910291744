//! The ports that accept packets by a rule.

use crate::buffer::admission::Rule;
use crate::engine::exact::accounting::Window;
use crate::engine::exact::spacing::TransmissionTime;
use crate::engine::packets::port::{PacketFifo, PacketQueue};
use crate::link::port::Port;
use crate::scenario::model::Scenario;
use crate::units::Time;

/// The ports that accept packets by a rule. The lists have an entry for every port, so that a port's number is its
/// index; other ports do not use theirs.
#[derive(Debug)]
pub(super) struct RuledPorts {
    pub(super) fifos: Vec<PacketFifo>,
    pub(super) queues: Vec<PacketQueue>,
    is_ruled: Vec<bool>,
}

impl RuledPorts {
    /// Build empty ports from the rules of those ports that have one.
    pub(super) fn new(
        scenario: &Scenario,
        rules: Vec<Option<Rule>>,
        window: Window,
        ports: &[Port],
    ) -> RuledPorts {
        let is_ruled = rules.iter().map(Option::is_some).collect();
        let port = |(number, (rule, port)): (usize, (Option<Rule>, &Port))| {
            PacketFifo::new(scenario, number, rule.unwrap_or(Rule::Fits), window, port)
        };
        let (fifos, queues) = rules.into_iter().zip(ports).enumerate().map(port).unzip();
        RuledPorts { fifos, queues, is_ruled }
    }

    /// Return the number of all ports.
    pub(super) fn count(&self) -> usize {
        self.is_ruled.len()
    }

    /// Accept a packet as [`PacketFifo::pass`] does; returns its end, or `None` if the packet needs more work.
    #[inline(always)]
    pub(super) fn pass(
        &mut self,
        port: u32,
        now: Time,
        bytes: u16,
        pace: &TransmissionTime,
        edge: Time,
    ) -> Option<Time> {
        let fifo = &mut self.fifos[port as usize];
        match fifo.pass(now, bytes, pace, edge) {
            Some(ends) => Some(ends),
            None => fifo.pass_first(&mut self.queues[port as usize], now, bytes, pace, edge),
        }
    }

    /// Transfer the counts to the ports at the end of the run.
    pub(super) fn close(&mut self, window: Window, ports: &mut [Port]) {
        let fifos = self.fifos.drain(..).zip(self.queues.drain(..));
        for (((fifo, queue), port), _) in
            fifos.zip(ports).zip(&self.is_ruled).filter(|(_, is_ruled)| **is_ruled)
        {
            fifo.close(queue, window, port);
        }
    }
}
