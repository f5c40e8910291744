//! Buffers: their sizes and contents, admission and push-out.

pub mod capacity;

pub mod size;

pub mod pool;

pub mod set;

pub(crate) mod ring;

pub mod runs;

pub mod queue;

pub mod frame;

pub mod context;

pub mod admission;

pub mod pushout;
