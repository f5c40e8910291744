//! The timers of hosts in the reference engine and in the engine for cells.
//!
//! # What it assumes
//! An end of a flow has one next timer.
//!
//! # What it skips
//! Removing events: an outdated event is dropped when it is due.
//!
//! # Why that is exact
//! For every end the instant of its queued event is stored; an event for any other instant is outdated.

use crate::host::end::End;
use crate::host::flow::Flow;
use crate::kernel::queue::{Class, Event};
use crate::network::Network;
use crate::network::outbox::Outbox;
use crate::units::Time;
use crate::units::ids::{FlowId, IdVec};

/// For every end of a flow the instant of its queued event; an event for any other instant is outdated.
#[derive(Clone, Debug)]
pub(super) struct Timers(Vec<Time>);

impl Timers {
    /// Timers without any event in the queue.
    pub(super) fn new(flows: usize) -> Timers {
        Timers(vec![Time::NEVER; 2 * flows])
    }

    /// Return the event that calls an end for its next timer, unless an earlier call is pending.
    #[inline]
    pub(super) fn next(&mut self, flows: &IdVec<FlowId, Flow>, flow: FlowId, end: End) -> Option<Event> {
        let (due, entity) = (flows[flow].next_timer(end), end.entity(flow));
        let time = due.filter(|time| *time < self.0[entity])?;
        self.0[entity] = time;
        Some(Event::new(time, Class::Timer, entity as u32))
    }

    /// Return the instant of an end's queued event; none of the end's timers fires before it.
    #[inline]
    pub(super) fn at(&self, entity: usize) -> Time {
        self.0[entity]
    }

    /// Return whether the event of an end that is due at `now` is still valid, and forget it if so.
    #[inline]
    fn take(&mut self, entity: usize, now: Time) -> bool {
        let is_due = self.0[entity] == now;
        if is_due {
            self.0[entity] = Time::NEVER;
        }
        is_due
    }

    /// Handle the event of an end: call the end, if its timer is due. Returns the end, unless the event is outdated.
    pub(super) fn ring(
        &mut self,
        network: &mut Network,
        entity: usize,
        now: Time,
        out: &mut Outbox,
    ) -> Option<(FlowId, End)> {
        if !self.take(entity, now) {
            return None;
        }
        let (flow, end) = End::of_entity(entity);
        let Network { flows, circuits, .. } = network;
        if flows[flow].next_timer(end).is_some_and(|due| due <= now) {
            out.ring(&mut flows[flow], end, now, circuits);
        }
        Some((flow, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::load;

    fn flows() -> IdVec<FlowId, Flow> {
        let text = "name = 'a'\nduration = '1 s'\n[topology]\ntemplate = 'dumbbell'\nsources = 1
            access = { rate = '1 Mb/s', delay = '1 us' }\nbottleneck = { rate = '1 Mb/s', delay = '1 us' }
            egress = { rate = '1 Mb/s', delay = '1 us' }
            [flows]\nstart = '3 us'\nsource = { kind = 'greedy' }\ntransport = { kind = 'tcp' }";
        Network::new(&load(text, "a.toml", &[]).unwrap()).flows
    }

    #[test]
    fn an_end_is_put_into_the_queue_once_for_its_next_timer() {
        let (flows, mut timers) = (flows(), Timers::new(1));
        let event = timers.next(&flows, FlowId(0), End::Source).expect("the flow is to start");
        assert_eq!((event.time, timers.at(0)), (Time(3_000_000), Time(3_000_000)));
        assert!(timers.next(&flows, FlowId(0), End::Source).is_none(), "it is in the queue already");
    }

    #[test]
    fn an_event_for_another_instant_is_out_of_date() {
        let (flows, mut timers) = (flows(), Timers::new(1));
        timers.next(&flows, FlowId(0), End::Source);
        assert!(!timers.take(0, Time(2_000_000)));
        assert!(timers.take(0, Time(3_000_000)) && !timers.take(0, Time(3_000_000)));
    }
}
