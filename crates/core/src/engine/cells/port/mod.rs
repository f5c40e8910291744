//! The form in which each port runs.
//!
//! # What it assumes
//! The plan has chosen the form, and each form obeys the rules of `context.rs`.
//!
//! # What it skips
//! Virtual calls: the forms are variants of an enum.
//!
//! # Why that is exact
//! Each form gives the same results as `per_unit.rs`, which makes the calls of the reference engine.

pub(crate) mod context;
pub(crate) mod delay;
pub(crate) mod fifo;
mod gathered;
pub(crate) mod head_drop;
pub(crate) mod host_interface;
pub(crate) mod outbox;
pub(crate) mod per_unit;
pub(crate) mod per_vc;
#[cfg(test)]
pub(crate) mod scripted;

use crate::engine::cells::inbox::combs::Combs;
use crate::engine::cells::inbox::{Arriving, Inbox};
use crate::engine::cells::topology::form::PortForm;
use crate::network::circuit::Emission;
use crate::units::ids::PortVc;
use crate::units::{Span, Time};

use context::{Context, PortSetup};
use delay::Delay;
use fifo::CellFifo;
use head_drop::HeadDrop;
use host_interface::HostInterface;
use outbox::Outbox;
use per_unit::PerUnit;
use per_vc::PerVc;

/// A running port.
#[derive(Debug)]
pub(crate) enum PortProcess {
    HostInterface(Box<HostInterface>),
    Delay(Box<Delay>),
    Fifo(Box<CellFifo>),
    PerVc(Box<PerVc>),
    HeadDrop(Box<HeadDrop>),
    PerUnit(Box<PerUnit>),
}

impl PortProcess {
    /// Build a port at time zero, in the form that the plan has chosen.
    pub(crate) fn new(mut setup: PortSetup<'_>) -> PortProcess {
        let setup = &mut setup;
        match setup.plan.forms[setup.index].clone() {
            PortForm::HostInterface => PortProcess::HostInterface(Box::new(HostInterface::new(setup))),
            PortForm::Delay => {
                PortProcess::Delay(Box::new(Delay::new(setup.window, setup.port.pool().vcs())))
            }
            PortForm::Fifo(rule) => PortProcess::Fifo(Box::new(CellFifo::new(setup, rule))),
            PortForm::PerVc(interest) => PortProcess::PerVc(Box::new(PerVc::new(setup, interest))),
            PortForm::HeadDrop(rule) => PortProcess::HeadDrop(Box::new(HeadDrop::new(setup, rule))),
            PortForm::PerUnit => PortProcess::PerUnit(Box::new(PerUnit::new(setup))),
        }
    }

    /// Return the pending arrivals of the port, if it has an inbox.
    pub(crate) fn inbox(&self) -> Option<&Inbox> {
        match self {
            PortProcess::Fifo(fifo) => Some(&fifo.inbox),
            PortProcess::PerVc(per_vc) => Some(&per_vc.inbox),
            PortProcess::HeadDrop(queue) => Some(&queue.inbox),
            PortProcess::PerUnit(per_unit) => Some(&per_unit.inbox),
            PortProcess::HostInterface(_) | PortProcess::Delay(_) => None,
        }
    }

    /// Return the combs that arrive at the port, if nothing else does.
    pub(crate) fn combs(&self) -> Option<&Combs> {
        if let PortProcess::Fifo(fifo) = self { fifo.combs.as_deref() } else { None }
    }

    /// Return the pending arrivals of a port where units may wait.
    pub(crate) fn inbox_mut(&mut self) -> &mut Inbox {
        match self {
            PortProcess::Fifo(fifo) => &mut fifo.inbox,
            PortProcess::PerVc(per_vc) => &mut per_vc.inbox,
            PortProcess::HeadDrop(queue) => &mut queue.inbox,
            PortProcess::PerUnit(per_unit) => &mut per_unit.inbox,
            PortProcess::HostInterface(_) | PortProcess::Delay(_) => {
                unreachable!("units stop at ports that take their time")
            }
        }
    }

    /// Return whether the port has advanced to `time`; ports without an inbox are always up to date.
    pub(crate) fn has_reached(&self, time: Time) -> bool {
        let done = match self {
            PortProcess::Fifo(fifo) => fifo.done,
            PortProcess::PerVc(per_vc) => per_vc.done,
            PortProcess::HeadDrop(queue) => queue.done,
            PortProcess::PerUnit(per_unit) => per_unit.done,
            PortProcess::HostInterface(_) | PortProcess::Delay(_) => return true,
        };
        done.is_some_and(|done| done >= time)
    }

    /// Return the only wake-up for which the port is woken, if it stores one.
    #[inline]
    pub(crate) fn called(&self) -> Option<Time> {
        match self {
            PortProcess::Fifo(fifo) => Some(fifo.called),
            PortProcess::HeadDrop(queue) => Some(queue.called),
            _ => None,
        }
    }

    /// Return whether the port is idle until a unit arrives that is still unknown.
    pub(crate) fn is_quiet(&self) -> bool {
        match self {
            PortProcess::Fifo(fifo) => fifo.inbox.is_empty(),
            PortProcess::PerVc(per_vc) => per_vc.is_quiet(),
            PortProcess::HeadDrop(queue) => queue.is_quiet(),
            PortProcess::PerUnit(per_unit) => per_unit.is_quiet(),
            PortProcess::HostInterface(_) | PortProcess::Delay(_) => true,
        }
    }

    /// Advance to `until`, that instant included.
    pub(crate) fn step(&mut self, cx: &mut Context<'_>, out: &mut Outbox, until: Time) {
        match self {
            PortProcess::Fifo(fifo) => fifo.step(cx, out, until),
            PortProcess::PerVc(per_vc) => per_vc.step(cx, out, until),
            PortProcess::HeadDrop(queue) => queue.step(cx, out, until),
            PortProcess::PerUnit(per_unit) => per_unit.step(cx, out, until),
            PortProcess::HostInterface(_) | PortProcess::Delay(_) => {}
        }
    }

    /// Return the next wake-up of a port that has advanced to `now`; `reach` is the least time from the start of a
    /// unit to its arrival at the next stop. A port with per-circuit queues stores the wake-up itself.
    pub(crate) fn next_wakeup(
        &mut self,
        cx: &mut Context<'_>,
        out: &mut Outbox,
        now: Time,
        reach: Span,
    ) -> Option<Time> {
        match self {
            PortProcess::Fifo(fifo) => fifo.next_wakeup(reach),
            PortProcess::HeadDrop(queue) => queue.next_wakeup(cx, now, reach),
            PortProcess::PerUnit(per_unit) => per_unit.next_wakeup(now, reach),
            PortProcess::PerVc(per_vc) => {
                per_vc.find_wakeup(cx, out, now, reach);
                None
            }
            PortProcess::HostInterface(_) | PortProcess::Delay(_) => None,
        }
    }

    /// Accept a frame from the host of the port at `now`.
    pub(crate) fn take_frame(
        &mut self,
        cx: &mut Context<'_>,
        out: &mut Outbox,
        now: Time,
        emission: &Emission,
        vc: PortVc,
    ) {
        let PortProcess::PerUnit(per_unit) = self else {
            unreachable!("the interface of a host is unlimited or asks about every unit")
        };
        for unit in emission.units() {
            per_unit.enter(cx, out, &Arriving { time: now, unit, vc, lost: None });
        }
    }

    /// Forward the gathered units that wait to be forwarded to other ports.
    pub(crate) fn release(&mut self, out: &mut Outbox) {
        if let PortProcess::Fifo(fifo) = self
            && fifo.holds_back()
        {
            fifo.hand_on(out);
        }
    }

    /// Restore the state that the port would have if every unit had passed alone.
    pub(crate) fn settle(&mut self, cx: &mut Context<'_>, out: &mut Outbox) {
        match self {
            PortProcess::Fifo(fifo) => fifo.settle(cx, out),
            PortProcess::PerVc(per_vc) => per_vc.settle(cx, out),
            _ => {}
        }
    }

    /// At the end of the run, restore the state that the port would have if its own counters had counted every unit.
    pub(crate) fn close(&mut self, cx: &mut Context<'_>, out: &mut Outbox) {
        match self {
            PortProcess::HostInterface(interface) => interface.close(cx.port),
            PortProcess::Fifo(fifo) => fifo.close(cx, out),
            PortProcess::PerVc(per_vc) => per_vc.hand_on(cx, out),
            PortProcess::HeadDrop(queue) => queue.close(cx, out),
            PortProcess::PerUnit(per_unit) => per_unit.hand_on(out),
            PortProcess::Delay(_) => {}
        }
    }
}
