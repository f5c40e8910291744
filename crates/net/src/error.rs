//! What can be refused.

use std::fmt;

use crate::delivery::SHORTEST;
use crate::time::Time;

/// Why a path refused a call. The path is as it was before.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The instant is before the one that the path has reached.
    Past {
        /// The instant.
        given: Time,
        /// The instant that the path has reached.
        reached: Time,
    },
    /// The instant is beyond the last one of a path, 50 days after its start.
    TooLate(Time),
    /// The network has no such host, or it is not an end of the flow.
    UnknownHost(String),
    /// The path has no such flow, or it has been closed.
    UnknownFlow(String),
    /// The network has no such port.
    UnknownPort(String),
    /// The path has not returned such a handle.
    UnknownHandle(u64),
    /// A packet has too few octets, or too many.
    Length {
        /// Octets of the packet, IP header included.
        given: usize,
        /// The most octets of a packet.
        most: u32,
    },
    /// All flows between two hosts are in use, and time has passed, so that the network cannot get more.
    NoFlowLeft {
        /// Names of the hosts.
        hosts: [String; 2],
        /// Flows between them.
        flows: usize,
    },
    /// More flows than a path can have.
    TooManyFlows(usize),
    /// Time has passed, so that the network cannot change.
    Started(&'static str),
    /// The scenario was refused, with its message.
    Scenario(String),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Past { given, reached } => {
                write!(f, "now must be at least {reached}, which the path has reached, not {given}")
            }
            Error::TooLate(given) => write!(f, "now must be within 50 days of the start, not at {given}"),
            Error::UnknownHost(why) | Error::UnknownFlow(why) | Error::UnknownPort(why) => f.write_str(why),
            Error::UnknownHandle(number) => {
                write!(f, "handle {number} is not one that the path has returned")
            }
            Error::Length { given, most } => write!(
                f,
                "a packet must have {} to {most} octets, IP header included, not {given}; set mtu for longer ones",
                SHORTEST
            ),
            Error::NoFlowLeft { hosts: [one, other], flows } => write!(
                f,
                "all {flows} flows between {one:?} and {other:?} are open or have packets on their way: close one, or \
                 reserve more before the first packet"
            ),
            Error::TooManyFlows(most) => {
                write!(f, "a path must have at most {most} flows; close those that have ended")
            }
            Error::Started(what) => {
                write!(f, "{what} must be set before the first packet and before time passes")
            }
            Error::Scenario(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for Error {}
