//! When the ends of flows want to be called: what every engine does with the timers of hosts.

use crate::kernel::queue::{Class, Event};
use crate::network::Network;
use crate::network::end::End;
use crate::network::flow::{Flow, Outbox};
use crate::units::Time;

/// For every end of a flow the instant for which it is in the event queue; an event for any other instant is out of date.
#[derive(Debug)]
pub(super) struct Timers(Vec<Time>);

impl Timers {
    /// Nobody is called yet.
    pub(super) fn new(flows: usize) -> Timers {
        Timers(vec![Time::NEVER; 2 * flows])
    }

    /// The event that calls an end for its next timer, unless it will be called before that anyway.
    #[inline]
    pub(super) fn next(&mut self, flows: &[Flow], flow: usize, end: End) -> Option<Event> {
        let (due, entity) = (flows[flow].next_timer(end), end.entity(flow));
        let time = due.filter(|time| *time < self.0[entity])?;
        self.0[entity] = time;
        Some(Event::new(time, Class::Timer, entity as u32))
    }

    /// The instant for which an end is in the event queue; no timer of it goes off before that.
    #[inline]
    pub(super) fn at(&self, entity: usize) -> Time {
        self.0[entity]
    }

    /// Such an event comes: is it up to date?
    #[inline]
    fn take(&mut self, entity: usize, now: Time) -> bool {
        let is_due = self.0[entity] == now;
        if is_due {
            self.0[entity] = Time::NEVER;
        }
        is_due
    }

    /// Such an event comes: the end does what is due, if it still is; answers whose timer it was, unless out of date.
    pub(super) fn ring(
        &mut self,
        network: &mut Network,
        entity: usize,
        now: Time,
        out: &mut Outbox,
    ) -> Option<(usize, End)> {
        if !self.take(entity, now) {
            return None;
        }
        let (flow, end) = End::of_entity(entity);
        let Network { flows, circuits, .. } = network;
        if flows[flow].next_timer(end).is_some_and(|due| due <= now) {
            flows[flow].on_timer(end, now, circuits, out);
        }
        Some((flow, end))
    }
}
