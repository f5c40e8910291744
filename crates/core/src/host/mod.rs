//! Hosts: the ends of flows, the applications that use them, and how packets get from there into the network.
//!
//! An engine calls an end at the instants that [`flow::Flow`] names and hands over packets that arrive. What an end sends
//! leaves through an `end::Uplink`. [`endpoint`] lists what ends there are; one transport's ends are one file.

mod application;

pub mod end;

pub mod endpoint;

pub mod figures;

mod files;

pub mod flow;

mod halftime;

pub(crate) mod nic;

pub mod outcome;

mod processor;

mod sources;

use crate::units::Time;

fn earliest(a: Option<Time>, b: Option<Time>) -> Option<Time> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        _ => a.or(b),
    }
}
