//! Named queue disciplines: what is called by one name elsewhere, composed of the parts of a port.
//!
//! A discipline is nothing but an admission policy, a scheduler and a limit; `pushout explain` writes these out. To change a part
//! of it, write the parts instead of the name. One composition is one file. To add one, write its file and add a line to the
//! list below.

use crate::buffer::admission;
use crate::buffer::size::BufferSize;
use crate::registry;
use crate::scheduler;

registry! {
    /// The queue disciplines by name.
    "discipline" {
        /// Fair queueing by hashed flows with CoDel in each queue; the longest queue gives way when the buffer is full.
        FqCodel = "fq-codel" in fq_codel,
        /// Fair queueing by hashed flows with PIE in each queue.
        FqPie = "fq-pie" in fq_pie,
    }
}

/// What a discipline is composed of.
#[derive(Debug)]
pub struct Composition {
    /// Who is admitted, marked and discarded.
    pub admission: admission::Spec,
    /// Who is served.
    pub scheduler: scheduler::Spec,
    /// The buffer of a port that gives none.
    pub limit: BufferSize,
}

impl Spec {
    /// Its parts.
    pub fn composition(self) -> Composition {
        match self {
            Spec::FqCodel => fq_codel::composition(),
            Spec::FqPie => fq_pie::composition(),
        }
    }
}
