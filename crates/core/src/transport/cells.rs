//! # Source
//! The single cells of queueing analyses, as in J. W. Roberts, J. T. Virtamo, IEEE Trans. Communications 39(2), 1991.
//!
//! # Idea
//! Every unit of the source is one cell with 48 octets of payload, a frame by itself and without adaptation trailer.
//!
//! # Parameters
//! None.
//!
//! # Differences from the paper
//! None.
//!
//! # Complexity
//! Constant.

use crate::section;

section! {
    /// Single cells without adaptation.
    pub struct Params {}
}
