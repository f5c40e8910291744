//! Ports that share a memory: effects on other ports when a packet joins or leaves.
//!
//! # What it assumes
//! What waits at a port with a free line is paused, and so is all behind it in its queue, so that a port that loses a packet for
//! another port has nothing to start.
//!
//! # Why that is exact
//! It is the definition, which both engines share.
//!
//! # What turns it off
//! A memory without push-out and without a policy that expels: its ports depend on each other only in what fits.

use super::questions::number_at_port;
use crate::buffer::pushout::longest_queue::End;
use crate::link::port::Loss;
use crate::network::Network;
use crate::unit::Unit;
use crate::units::Time;
use crate::verdict::Verdict;

/// Handle the arrival of a unit at a port, as its circuit `vc` there. If its memory makes room by push-out, other ports
/// may lose packets for it: the port of a loss is that of the unit's hop.
pub(super) fn arrive(
    network: &mut Network,
    now: Time,
    (port, vc): (usize, usize),
    unit: Unit,
    losses: &mut Vec<Loss>,
) {
    let Some(end) = network.pushout_end(port) else {
        return network.at(port, |port, circuits| {
            port.arrive(now, unit, vc, number_at_port(circuits), losses);
        });
    };
    let elastic = network.victim((port, vc), &unit).is_some();
    let verdict = network.at(port, |port, _| port.consult(now, unit, vc, elastic));
    if matches!(verdict, Verdict::Accept | Verdict::Mark(_)) {
        while let Some((other, queue)) = network.victim((port, vc), &unit) {
            network.at(other, |port, circuits| {
                port.expel(now, (queue, end), number_at_port(circuits), losses);
            });
        }
    }
    network.at(port, |port, circuits| {
        port.conclude(verdict, now, (unit, vc), number_at_port(circuits), losses);
    });
}

/// Run the actions that a memory takes by itself: lose packets that it expels now, at any port, and repeat pauses;
/// returns when the next one is due, if nothing happens before.
pub(super) fn act(network: &mut Network, memory: usize, now: Time, losses: &mut Vec<Loss>) -> Option<Time> {
    let repeats = network.repeat_pauses(memory, now);
    let expels = loop {
        match network.expulsion(memory, now) {
            Some(Ok((port, queue))) => network.at(port, |port, circuits| {
                port.expel(now, (queue, End::Head), number_at_port(circuits), losses);
            }),
            Some(Err(time)) => break Some(time),
            None => break None,
        }
    };
    expels.into_iter().chain(repeats).min()
}
