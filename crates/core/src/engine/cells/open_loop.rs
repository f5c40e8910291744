//! Sources without feedback send many units ahead of time.
//!
//! # What it assumes
//! The source has a clock and receives no answers: datagrams, single cells and packets with parity. No other flow
//! sends over the interface of its host.
//!
//! # What it skips
//! A timer event for each packet: when the source's timer fires, it sends a window of packets ahead of time.
//!
//! # Why that is exact
//! Such a source depends only on its own clock, and its interface takes frames in order, however early they come.
//!
//! # What turns it off
//! An acknowledged flow, a second flow at the host, or an interface that is not unlimited. A window ends with the part of the run
//! that is being computed, so that counters are reset in between.
//!
//! # What it saves
//! An event for each packet: without it mux-poisson takes 3.4 times the instructions, W2 6.4 times. Single cells that
//! meet at one port are sent by `combs.rs`.

use super::Cells;
use crate::engine::forms::{Form, allows, used};
use crate::host::end::End;
use crate::network::Network;
use crate::units::Time;
use crate::units::ids::FlowId;

/// Number of packets that a source sends ahead at a time.
const PACKETS: usize = 64;

impl Cells<'_> {
    /// Send the following units of a source without feedback, which has just sent.
    pub(super) fn send_ahead(&mut self, flow: FlowId) {
        if !self.plan.open_loop[flow] || !allows(Form::OpenLoop) {
            return;
        }
        if self.send_comb(flow) {
            return used(Form::OpenLoop);
        }
        for _ in 0..PACKETS {
            let Some(now) = self.next_of_open_loop(flow) else { return };
            used(Form::OpenLoop);
            let Network { flows, circuits, .. } = &mut self.network;
            self.emitted.ring(&mut flows[flow], End::Source, now, circuits);
            self.emit(now);
        }
    }

    /// Return when the source sends next, if that is in the part of the run that is being computed.
    fn next_of_open_loop(&self, flow: FlowId) -> Option<Time> {
        self.network.flows[flow].next_timer(End::Source).filter(|due| *due < self.end)
    }
}
