//! The ports that accept packets by a rule.

use crate::buffer::admission::Rule;
use crate::engine::exact::accounting::Window;
use crate::engine::exact::spacing::TransmissionTime;
use crate::engine::packets::port::{PacketFifo, PacketQueue};
use crate::link::law::Course;
use crate::link::port::Port;
use crate::scenario::model::{Line, Scenario};
use crate::units::Time;
use crate::units::ids::{IdVec, LineId};

/// The ports that accept packets by a rule. The lists have an entry for every port, so that a port's number is its
/// index; other ports do not use theirs.
#[derive(Debug)]
pub(super) struct RuledPorts {
    pub(super) fifos: IdVec<LineId, PacketFifo>,
    pub(super) queues: IdVec<LineId, PacketQueue>,
    /// The progress of lines whose rates change; empty if no rate does.
    courses: IdVec<LineId, Option<Course>>,
    is_ruled: IdVec<LineId, bool>,
}

impl RuledPorts {
    /// Build empty ports from the rules of those ports that have one.
    pub(super) fn new(
        scenario: &Scenario,
        rules: IdVec<LineId, Option<Rule>>,
        window: Window,
        ports: &IdVec<LineId, Port>,
    ) -> RuledPorts {
        let is_ruled = rules.iter().map(Option::is_some).collect();
        let port = |((number, port), rule): ((LineId, &Port), Option<Rule>)| {
            PacketFifo::new(scenario, number, rule.unwrap_or(Rule::Fits), window, port)
        };
        let (fifos, queues): (Vec<_>, Vec<_>) = ports.pairs().zip(rules).map(port).unzip();
        let course = |line: &Line| line.rate.course(scenario.seed, &line.name);
        let changes = scenario.lines.iter().any(|line| !line.rate.is_constant());
        let courses = if changes { scenario.lines.iter().map(course).collect() } else { IdVec::default() };
        RuledPorts { fifos: fifos.into(), queues: queues.into(), courses, is_ruled }
    }

    /// Return the parts of a port, and the progress of its line if the rate changes.
    #[inline(always)]
    pub(super) fn parts(&mut self, port: LineId) -> (&mut PacketFifo, &mut PacketQueue, Option<&mut Course>) {
        let course = self.courses.get_mut(port).and_then(Option::as_mut);
        (&mut self.fifos[port], &mut self.queues[port], course)
    }

    /// Return the number of all ports.
    pub(super) fn count(&self) -> usize {
        self.is_ruled.len()
    }

    /// Return when a port has sent all its packets; `None` if it does not accept packets by a rule.
    #[inline]
    pub(super) fn ends(&self, port: LineId) -> Option<Time> {
        self.is_ruled[port].then(|| self.fifos[port].ends())
    }

    /// Accept a packet as [`PacketFifo::pass`] does; returns its end, or `None` if the packet needs more work.
    #[inline(always)]
    pub(super) fn pass(
        &mut self,
        port: LineId,
        now: Time,
        bytes: u16,
        pace: &TransmissionTime,
        edge: Time,
    ) -> Option<Time> {
        let fifo = &mut self.fifos[port];
        match fifo.pass(now, bytes, pace, edge) {
            Some(ends) => Some(ends),
            None => fifo.pass_first(&mut self.queues[port], now, bytes, pace, edge),
        }
    }

    /// Transfer the counts to the ports at the end of the run.
    pub(super) fn close(&mut self, window: Window, ports: &mut IdVec<LineId, Port>) {
        let fifos = std::mem::take(&mut self.fifos).into_iter().zip(std::mem::take(&mut self.queues));
        for (((fifo, queue), port), _) in
            fifos.zip(ports.iter_mut()).zip(&self.is_ruled).filter(|(_, is_ruled)| **is_ruled)
        {
            fifo.close(queue, window, port);
        }
    }
}
