//! Workloads: which transfers hosts send, on any topology.
//!
//! A source belongs to a flow; a workload belongs to the scenario. With a workload a template makes no flows, and
//! `[flows]` has the transport and other defaults of its transfers.
//!
//! A workload is one file. To add one, write its file and add a line to the list below.

pub mod order;

pub mod rows;

use crate::registry;

registry! {
    /// A workload as a scenario specifies it.
    "workload" by "kind" {
        TransferList = "list" in list,
    }
}
