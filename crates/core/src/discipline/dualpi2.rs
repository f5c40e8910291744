//! # Source
//! K. De Schepper, B. Briscoe and G. White, "Dual-Queue Coupled Active Queue Management (AQM) for Low Latency, Low Loss, and
//! Scalable Throughput (L4S)", RFC 9332, 2023; tc-dualpi2(8) and `net/sched/sch_dualpi2.c` of Linux 6.17.
//!
//! # Idea
//! Packets with ECT(1) or CE have a queue of their own, which goes first and holds about a millisecond; all others wait in a
//! second one (`dual-queue`). One controller sets the probabilities of both, so that scalable and classic senders get about
//! the same rate (`pi2`).
//!
//! # Parameters
//! Those of its parts by default: `scheduler = { policy = "dual-queue" }` with a classic share of 10 %, `admission = { policy =
//! "pi2" }` with a target of 15 ms, an update every 16 ms, a coupling of 2 and a step at 1 ms, and a buffer of 10 000 packets, all
//! from tc-dualpi2(8). A port may have another `buffer`.
//!
//! # Differences from the paper
//! Those of its parts. RFC 9332 suggests other gains for other round trips; these are those of Linux. Senders of L4S are TCP with
//! `congestion = "dctcp"`, `ecn = true` and `l4s = true`; TCP Prague, which makes its rate independent of short round trips, is not
//! modelled.
//!
//! # Complexity
//! That of its parts: constant per packet.

use super::Composition;
use crate::buffer::admission::{self, pi2};
use crate::buffer::size::BufferSize;
use crate::scheduler::{self, dual_queue};
use crate::units::{PartsPerMillion, Span};
use crate::verdict::Action;

pub(super) fn composition() -> Composition {
    Composition {
        admission: admission::Spec::Pi2(pi2::Params {
            target: Span::millis(15),
            update: Span::millis(16),
            alpha: 0.16,
            beta: 3.2,
            law: pi2::Pi2Law::Exact,
            coupling: 2.0,
            step: Span::millis(1),
            action: Action::Mark,
            overload: pi2::Overload::Drop,
            mtu: None,
        }),
        scheduler: scheduler::Spec::DualQueue(dual_queue::Params {
            classic_share: PartsPerMillion(100_000),
            mtu: None,
        }),
        limit: BufferSize::Packets(10_000),
    }
}
