//! # Source
//! tc-fq_pie(8) and `net/sched/sch_fq_pie.c` of Linux 6 (M. Tahiliani, S. Kandasamy and others).
//!
//! # Idea
//! Flows are hashed to queues that take turns by octets, sparse flows first (`fair-queue`). Each queue has a controller of
//! PIE, which discards arriving packets at random and is updated by the clock, idle or not (`pie`).
//!
//! # Parameters
//! Those of its parts by default: `scheduler = { policy = "fair-queue" }` with 1024 buckets and a quantum of 1514 octets,
//! `admission = { policy = "pie", law = "linux" }` with 15 ms, and a buffer of 10 240 packets, all from tc-fq_pie(8). A port may
//! have another `buffer`.
//!
//! # Differences from the paper
//! Those of its parts. Linux limits the memory to 32 MB as well; here the buffer is given in packets or in octets. A full buffer
//! loses what arrives.
//!
//! # Complexity
//! That of its parts: constant per packet, and the number of queues per update.

use super::Composition;
use crate::buffer::admission::{self, pie};
use crate::buffer::size::BufferSize;
use crate::scheduler::{self, fair_queue};
use crate::units::{Bytes, Span};
use crate::verdict::Action;

pub(super) fn composition() -> Composition {
    Composition {
        admission: admission::Spec::Pie(pie::Params {
            target: Span::millis(15),
            update: Span::millis(15),
            alpha: 0.125,
            beta: 1.25,
            burst: Span::millis(150),
            law: pie::PieVersion::Linux,
            action: Action::Drop,
            mark_limit: 0.1,
            derandomise: true,
            byte_mode: false,
            mtu: None,
        }),
        scheduler: scheduler::Spec::FairQueue(fair_queue::Params { quantum: Bytes(1514), buckets: 1024 }),
        limit: BufferSize::Packets(10_240),
    }
}
