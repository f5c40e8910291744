//! How each kind of port runs.

pub(in crate::engine) mod delay;
pub(in crate::engine) mod fifo;
pub(in crate::engine) mod host_interface;
pub(in crate::engine) mod per_unit;
pub(in crate::engine) mod per_vc;
