//! # Source
//! T. Hoeiland-Joergensen, P. McKenney, D. Taht, J. Gettys and E. Dumazet, RFC 8290, 2018; tc-fq_codel(8).
//!
//! # Idea
//! Flows are hashed to queues that take turns by octets, sparse flows first (`fair-queue`). Each queue is controlled by CoDel
//! at its head (`codel`). When the buffer is full, the queue with the most octets loses packets at its head.
//!
//! # Parameters
//! Those of its parts by default: `scheduler = { policy = "fair-queue" }` with 1024 buckets and a quantum of 1514 octets,
//! `admission = { policy = "codel", action = "mark", full = "fattest-queue" }` with 5 ms and 100 ms, and a buffer of 10 240
//! packets, all from tc-fq_codel(8). A port may have another `buffer`.
//!
//! # Differences from the paper
//! Those of its parts. Linux limits the memory to 32 MB as well; here the buffer is given in packets or in octets. The law of
//! CoDel is exact; write the parts with `law = "linux"` for the kernel's.
//!
//! # Complexity
//! That of its parts: constant per packet, and the number of queues per packet that finds a full buffer.

use super::Composition;
use crate::buffer::admission::{self, codel};
use crate::buffer::size::BufferSize;
use crate::scheduler::{self, fair_queue};
use crate::units::{Bytes, Span};
use crate::verdict::Action;

pub(super) fn composition() -> Composition {
    Composition {
        admission: admission::Spec::Codel(codel::Params {
            target: Span::millis(5),
            interval: Span::millis(100),
            law: codel::Law::Exact,
            action: Action::Mark,
            ce_threshold: None,
            mtu: None,
            full: codel::OverflowLoss::FattestQueue,
            batch: 64,
        }),
        scheduler: scheduler::Spec::FairQueue(fair_queue::Params { quantum: Bytes(1514), buckets: 1024 }),
        limit: BufferSize::Packets(10_240),
    }
}
