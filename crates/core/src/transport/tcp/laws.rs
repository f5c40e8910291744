//! The laws of a host where Linux and the RFCs part.
//!
//! *Source*: Linux 6.18, `net/ipv4/tcp_input.c`, `tcp_output.c`, `tcp_recovery.c`, `tcp_timer.c`; `vectors/recovery.json` has what
//! this kernel does.
//!
//! Not modelled: the receive window that opens with what arrives, compressed SACKs, F-RTO, the undoing of a reduction by timestamps, the
//! gradual reduction of the window for a mark (here it falls at once).

use super::Params;
use crate::choice;
use crate::units::{Span, Time};

choice! {
    /// Laws of a host where Linux and the RFCs part.
    pub enum Laws {
        /// RFC 1122, 5681, 6298 and 8985.
        Rfc = "rfc",
        /// Linux. The receiver acknowledges the first 500 segments of a connection and the end of each write at once, and others after
        /// `fast_timer` exactly. An idle time halves the window once for each timeout, and so does an application with what it leaves
        /// unused. The window grows by all that an ACK delivers, without a limit. Blocks measure round trips. With `dsack` a timeout
        /// is taken back as well if all that was sent again had arrived. A first segment that is
        /// sent again restarts the timer. A timeout in a recovery leaves the threshold as it is. A probe allows the ACK of a lone
        /// segment `min_rto`; the timers of probes and of reordering expire 2 ms later, and all timers of a sender by `kernel_tick`.
        Linux = "linux",
    }
}

/// Segments of a connection that the receiver acknowledges at once: as long as its window opens (`tcp_grow_window`), which on a path of
/// 10 Mb/s and 60 ms are the first 500 to 900.
pub(super) const QUICK_ACKS: u32 = 500;
/// What is added to the timers of probes and of reordering (TCP_TIMEOUT_MIN_US).
pub(super) const LEAST_TIMEOUT: Span = Span::millis(2);

/// The timer of a delayed ACK: it expires at the next tick, as in 4.4BSD, or in Linux after a whole tick.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckClock {
    tick: u64,
    /// What is added to an instant before and after it is rounded down to whole ticks.
    lead: u64,
    lag: u64,
}

impl AckClock {
    /// Build the clock of a host whose first tick is at `phase`.
    pub(super) fn new(params: &Params, phase: Span) -> AckClock {
        let (tick, phase) = (params.fast_timer.0, phase.0 % params.fast_timer.0);
        match params.laws {
            Laws::Rfc => AckClock { tick, lead: tick - phase, lag: phase },
            Laws::Linux => AckClock { tick: 1, lead: tick, lag: 0 },
        }
    }

    /// Return when an ACK is due that is delayed from now on.
    pub(super) fn after(self, now: Time) -> Time {
        Time(((now.0 + self.lead) / self.tick).saturating_mul(self.tick).saturating_add(self.lag))
    }
}
