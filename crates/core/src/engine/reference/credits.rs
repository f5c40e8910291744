//! Credits in flight.

use super::{Engine, before};
use crate::kernel::queue::{Class, Event};
use crate::link::control::Control;
use crate::link::gate::credit::CreditReport;
use crate::network::Network;
use crate::trace::Tracer;
use crate::unit::Unit;
use crate::units::ids::LineId;
use crate::units::{CELL_BYTES, Time};

impl<T: Tracer> Engine<T> {
    /// Send a credit for a unit that has left the node at the end of its last line, or have the receiver schedule a
    /// message.
    #[inline(never)]
    pub(super) fn return_credit(&mut self, unit: &Unit, now: Time) {
        let Network { ports, receivers, circuits, .. } = &mut self.network;
        if unit.hop == 0 {
            return;
        }
        let last = circuits[unit.vc].hop(&before(unit)).expect("a unit comes over its circuit's lines");
        let port = last.port;
        let Some(receiver) = &mut receivers[port] else { return };
        let Some(credit) = receiver.left(last.vc, unit) else { return self.call_message(port, now) };
        if matches!(receiver.terms().report, CreditReport::Cells { charge: false, .. }) {
            let back = self.controls.back(port);
            let arrives = now + ports[back].line().transit(CELL_BYTES as u16);
            self.send_control(port, arrives, Control::Credit(credit));
        } else {
            self.send_back(port, Control::Credit(credit), now);
        }
    }

    /// Return the first event entity for messages of receivers, one for each line: these follow the entities of
    /// memories.
    pub(super) fn first_message(&self) -> usize {
        self.lines.len() + self.network.memories().count()
    }

    /// Send a control frame against the data of a line.
    pub(super) fn send_back(&mut self, line: LineId, control: Control, now: Time) {
        let back = self.controls.back(line);
        self.network.ports[back].queue_control(control);
        self.start(back, now);
    }

    /// Schedule a message with credits from the receiver at the end of a line, if the receiver has freed credits to
    /// report: now, or at the earliest time after its last message.
    fn call_message(&mut self, line: LineId, now: Time) {
        let receiver = self.network.receivers[line].as_mut().expect("credits govern the line");
        match receiver.call(now) {
            Some(time) if time > now => {
                let entity = self.first_message() + line.index();
                self.queue.push(Event::new(time, Class::Tick, entity as u32));
            }
            Some(_) => self.send_back(line, Control::Message, now),
            None => {}
        }
    }

    /// Build the message about a line whose transmission starts now, in the direction opposite to the line's data.
    pub(super) fn message(&mut self, line: LineId, now: Time) -> Control {
        let Network { ports, receivers, .. } = &mut self.network;
        let receiver = receivers[line].as_mut().expect("credits govern the line");
        let back = self.controls.back(line);
        let CreditReport::Messages { spacing } = receiver.terms().report else {
            unreachable!("it sends messages")
        };
        let credit = receiver.message(now, ports[back].line().duration(spacing));
        self.call_message(line, now);
        Control::Credit(credit)
    }
}
