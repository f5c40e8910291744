//! The counters of the two ends of a connection.

/// Counts of a sender since its creation, over all its connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct SenderStats {
    /// Segments with data that were sent, including repeated ones; SYNs are not counted.
    pub segments_sent: u64,
    /// Sent segments whose first octet had been sent before.
    pub segments_retransmitted: u64,
    /// Expirations of the retransmission timer.
    pub timeouts: u64,
    /// Fast retransmissions; each starts a fast recovery.
    pub fast_retransmits: u64,
    /// Reductions of the window in answer to a congestion mark.
    pub mark_reactions: u64,
    /// Segments that selective acknowledgements declared lost, without those of timeouts.
    pub found_lost: u64,
    /// Tail-loss probes.
    pub tail_probes: u64,
    /// Segments sent by the persist timer because the window was closed or too small.
    pub window_probes: u64,
}

impl SenderStats {
    /// Return the counts after `earlier`, a copy of these statistics.
    pub fn since(&self, earlier: &SenderStats) -> SenderStats {
        SenderStats {
            segments_sent: self.segments_sent - earlier.segments_sent,
            segments_retransmitted: self.segments_retransmitted - earlier.segments_retransmitted,
            timeouts: self.timeouts - earlier.timeouts,
            fast_retransmits: self.fast_retransmits - earlier.fast_retransmits,
            mark_reactions: self.mark_reactions - earlier.mark_reactions,
            found_lost: self.found_lost - earlier.found_lost,
            tail_probes: self.tail_probes - earlier.tail_probes,
            window_probes: self.window_probes - earlier.window_probes,
        }
    }
}

/// Counts of a receiver since its creation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverStats {
    /// Segments with data that arrived.
    pub segments: u64,
    /// Arrived segments with a congestion mark.
    pub marked: u64,
    /// Arrived segments that did not continue the data in order.
    pub out_of_order: u64,
    /// Octets that arrived more than once.
    pub duplicate_bytes: u64,
    /// ACKs sent, SYN-ACKs included.
    pub acks: u64,
}
