//! Transports: what turns an application's data into packets or single cells.

pub mod udp;

pub mod cells;

crate::variants! {
    /// A transport as a scenario asks for it.
    "transport" by "kind" {
        Udp = "udp" in udp,
        Cells = "cells" in cells,
    }
}
