//! The hosts: what is kept of every end of a flow beside its transport.

use crate::kernel::queue::{Class, Event};
use crate::network::flow::End;
use crate::scenario::model::Scenario;
use crate::units::Time;

/// An end of a flow, on one half of a line of the cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct Host {
    /// For which instant it is in the agenda; a call for any other instant is out of date.
    called: Time,
    /// Packets that have arrived, and how many of them before the measured time began.
    arrived: u64,
    unmeasured: u64,
    /// Packets that will arrive although it acts ahead of time: the part of the run that is being computed ends before.
    pub(super) awaited: u64,
}

impl Default for Host {
    fn default() -> Host {
        Host { called: Time::NEVER, arrived: 0, unmeasured: 0, awaited: 0 }
    }
}

impl Host {
    /// A packet arrives.
    #[inline(always)]
    pub(super) fn receive(&mut self) {
        self.arrived += 1;
    }

    /// The instant for which it is called; no timer of it goes off before that.
    #[inline(always)]
    pub(super) fn called(&self) -> Time {
        self.called
    }

    /// The event that calls this end, whose number it is, for its next timer, unless it will be called before that anyway.
    #[inline(always)]
    pub(super) fn call(&mut self, entity: usize, due: Option<Time>) -> Option<Event> {
        let time = due.filter(|time| *time < self.called)?;
        self.called = time;
        Some(Event::new(time, Class::Timer, entity as u32))
    }

    /// Such an event comes: is it up to date?
    pub(super) fn answer(&mut self, now: Time) -> bool {
        let is_due = self.called == now;
        if is_due {
            self.called = Time::NEVER;
        }
        is_due
    }

    /// The measured time begins.
    pub(super) fn reset_counters(&mut self) {
        self.unmeasured = self.arrived;
    }
}

/// By circuit how many packets have arrived at its end, and how many of them in the measured time.
pub(super) fn received(scenario: &Scenario, hosts: &[Host]) -> Vec<(u64, u64)> {
    let mut received = vec![(0, 0); scenario.vcs.len()];
    for (index, flow) in scenario.flows.iter().enumerate() {
        for (vc, end) in [(Some(flow.vc), End::Sink), (flow.back, End::Source)] {
            let Host { arrived, unmeasured, .. } = hosts[end.entity(index)];
            if let Some(vc) = vc {
                received[vc].0 += arrived;
                received[vc].1 += arrived - unmeasured;
            }
        }
    }
    received
}
