//! # Source
//! V. Rosolen, O. Bonaventure, G. Leduc, "Impact of cell discard strategies on TCP/IP in ATM UBR networks", 1998
//! (paper 000), section 3: an on-off model whose on period is the transfer of a file.
//!
//! # Idea
//! Send a file; when its last byte has been acknowledged, rest; then send the next one, which slow-starts.
//!
//! # Parameters
//! `size` of a file (5 MB in the LAN, 512 kB in the access network), `off` time between two files (null in the
//! paper), `reconnect`: whether each file opens a connection of its own, or reuses the idle one.
//!
//! # Differences from the paper
//! The paper does not say whether a transfer opens a new connection; BSD applications of the time did.
//!
//! # Complexity
//! Constant per file.

use crate::section;
use crate::units::{Bytes, Span};

section! {
    /// An application that sends one file after another.
    pub struct Params {
        /// Octets of one file.
        pub size: Bytes,
        /// Pause between the last acknowledgement of a file and the start of the next.
        pub off: Span = Span::ZERO,
        /// Whether every file opens a new connection with fresh estimators; otherwise the old one slow-starts again.
        pub reconnect: bool = true,
    }
}
