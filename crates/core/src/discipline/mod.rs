//! Named queue disciplines: combinations of a port's parts that other systems give one name.
//!
//! A discipline consists only of an admission policy, a scheduler and a limit; `pushout explain --json` writes these out. To
//! change one part, write the parts instead of the name. One composition is one file. To add one, write its file and
//! add a line to the list below.

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
        /// A queue of low latency for scalable senders beside one for all others, both controlled by PI2.
        DualPi2 = "dualpi2" in dualpi2,
    }
}

/// The parts of a discipline.
#[derive(Debug)]
pub struct Composition {
    /// Admission policy.
    pub admission: admission::Spec,
    /// Scheduler.
    pub scheduler: scheduler::Spec,
    /// Buffer of a port whose section gives none.
    pub limit: BufferSize,
}

impl Spec {
    /// Return the parts of the discipline.
    pub fn composition(self) -> Composition {
        match self {
            Spec::FqCodel => fq_codel::composition(),
            Spec::FqPie => fq_pie::composition(),
            Spec::DualPi2 => dualpi2::composition(),
        }
    }
}
