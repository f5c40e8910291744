//! Ports that get recorded units, whatever happens elsewhere: a run in which sources do not react.
//!
//! # What it assumes
//! The units were recorded at these ports in the order in which they arrived; no credit and no pause reaches the ports.
//!
//! # What it skips
//! Every event of other ports, and all that hosts would do.
//!
//! # Why that is exact
//! Without such messages a port depends on its arrivals and its own clock alone, and ports that share a memory on the
//! arrivals of all of them. Departures and ticks of an instant come before its arrivals, as in every run.

use super::{Engine, after};
use crate::kernel::queue::{Class, Event};
use crate::network::branches::Hop;
use crate::trace::Tracer;
use crate::unit::Unit;
use crate::units::Time;
use crate::units::ids::{IdVec, LineId};

/// A unit that entered a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offered {
    /// The instant.
    pub time: Time,
    /// The port.
    pub port: LineId,
    /// The unit as it arrived.
    pub unit: Unit,
}

impl<T: Tracer> Engine<T> {
    /// Let these ports have the recorded units instead of those of the network, and go on to `end`, as long as
    /// `goes_on` allows it.
    pub(super) fn run_held(
        &mut self,
        ports: &IdVec<LineId, bool>,
        units: &[Offered],
        end: Time,
        goes_on: impl Fn(&T) -> bool,
    ) {
        for &Offered { time, port, unit } in units {
            if !goes_on(&self.tracer) {
                return;
            }
            self.handle_held(ports, after(time));
            let hop = self.network.circuits[unit.vc].hop(&unit).expect("a recorded unit was at a port");
            debug_assert_eq!(hop.port, port, "a unit is offered to the port at which it was recorded");
            self.enter_held(hop, unit, time);
        }
        self.handle_held(ports, end);
        self.lines.keys().filter(|&port| ports[port]).for_each(|port| self.catch_up(port, end));
    }

    /// Offer a recorded unit, which has crossed its link already.
    fn enter_held(&mut self, hop: Hop, unit: Unit, now: Time) {
        if self.tracer.refuses(hop.port, &unit) {
            return self.refuse(hop, unit, crate::verdict::Reason::Link, now);
        }
        self.admit(hop, unit, now);
    }

    /// Handle what these ports and their memory do by themselves before `end`.
    fn handle_held(&mut self, ports: &IdVec<LineId, bool>, end: Time) {
        while let Some(event) = self.queue.pop_before(end) {
            if self.is_own(ports, &event) {
                self.handle(event);
            }
        }
    }

    /// Return whether an event is a departure or a tick of one of these ports, or of a memory.
    fn is_own(&self, ports: &IdVec<LineId, bool>, event: &Event) -> bool {
        let entity = event.entity as usize;
        match event.class {
            Class::Free => ports[LineId::new(entity)],
            Class::Tick => match self.gates.port_of(entity) {
                Some(port) => ports[port],
                None => ports.get(LineId::new(entity)).copied().unwrap_or(entity < self.first_message()),
            },
            Class::Credit | Class::Arrive | Class::Timer => false,
        }
    }
}
