//! How packets of a class are cut that the memory refuses.

use super::Account;

/// The cut of the packets of a circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trim {
    /// Octets that are left of a packet.
    pub size: u16,
    /// The queue in which the headers are counted, if they have a class of their own.
    pub account: Option<Account>,
}
