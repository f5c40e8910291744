//! Figures of a flow for its report.

use crate::metrics::durations::Durations;
use crate::transport::fec::BlockOutcomes;

/// Figures of a flow since the last reset.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// Octets of application data that reached the sink; over TCP each octet counts once, when it is delivered in
    /// order.
    pub bytes: u64,
    /// Octets of `bytes` that arrived in the second half of the measured time.
    pub late_bytes: u64,
    /// Segments, datagrams or cells sent, retransmissions included.
    pub sent: u64,
    /// Segments sent again.
    pub retransmitted: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Fast retransmissions.
    pub fast_retransmits: u64,
    /// Segments with data, datagrams or cells received, repeated arrivals included.
    pub received: u64,
    /// Received segments, datagrams or cells with a congestion mark.
    pub marked: u64,
    /// Reductions of the window in answer to a congestion mark.
    pub mark_reactions: u64,
    /// Segments declared lost by selective acknowledgements.
    pub found_lost: u64,
    /// Tail-loss probes.
    pub tail_probes: u64,
    /// Files whose last octet has been acknowledged.
    pub transfers: u64,
    /// Delivery times: of a segment from its first sending until the receiver passes its last octet to the application, in
    /// order; of a datagram until it arrives.
    pub delivery: Durations,
    /// The round trips that a TCP sender has measured, if the scenario requests them.
    pub round_trips: Option<Durations>,
    /// Figures of the parity code, if the flow has one.
    pub coded: Option<Box<Coding>>,
}

impl Figures {
    /// Build figures before the first packet, with percentiles of the delivery time or without.
    pub fn new(percentiles: bool) -> Figures {
        Figures { delivery: Durations::new(percentiles), ..Figures::default() }
    }

    /// Return the figures of a flow before its first packet.
    pub fn fresh(&self) -> Figures {
        let round_trips = self.round_trips.as_ref().map(Durations::fresh);
        Figures { delivery: self.delivery.fresh(), round_trips, ..Figures::default() }
    }
}

/// Figures of a code that adds parity packets to a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coding {
    /// Data packets sent, including those of blocks still in flight; a block that was in flight at the last reset is
    /// not counted.
    pub data_sent: u64,
    /// Outcomes of blocks that are decided: no more packets can arrive, or further packets change nothing.
    pub books: BlockOutcomes,
}

impl Coding {
    /// Return the sum of two sets of figures.
    pub fn plus(self, other: Coding) -> Coding {
        Coding { data_sent: self.data_sent + other.data_sent, books: self.books.plus(other.books) }
    }
}
