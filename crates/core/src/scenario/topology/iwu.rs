//! # Source
//! Figure 6 of paper 004 (S. Chatterjee, W. Xiao), section 5.1.
//!
//! # Idea
//! Hosts `source1`…`sourceN` on their local networks send packets to an interworking unit `iwu`, which cuts them into cells
//! and multiplexes these over a `trunk` to the host `sink`:
//!
//! ```text
//! source1 ──access1──╮
//! source2 ──access2── iwu ──trunk── sink
//! sourceN ──accessN──╯
//! ```
//!
//! The paper's unit queues a packet, then sends its cells into the buffer of the trunk "with inter-cell spacing equally
//! distributed over the duration of the packet". Here the access link carries these cells itself, at the rate
//!
//! > r' = cells of a packet · 424 bit / duration of a packet,
//!
//! and that is the same but for a constant delay. Let all packets of a source last D on its local network, which sends
//! them one after the other: packet n starts at t_n ≥ t_{n−1} + D. It has arrived at the unit at t_n + D, and by then the
//! spacing of packet n − 1, which began at t_{n−1} + D by induction, is over; so its cells leave the packet queue at
//! t_n + D + i·D/L without waiting. An access link at r' sends the cells of packet n from t_n on, one every D/L, and is
//! free again at t_n + D ≤ t_{n+1}: cell i enters the buffer at t_n + (i + 1)·D/L, the same instants up to D − D/L.
//!
//! # Parameters
//! `sources` N (10 in the paper); `access`: rate r' and delay of a link from a source, one for all or a list; `trunk`: the
//! link whose port is the buffer (155 Mb/s). The links have the classes `access` and `trunk`; flow `flowI` goes from
//! `sourceI` to `sink`. With the source `fec-block`, whose `peak` counts data packets without parity cells, K + h packets
//! take the time of K, so r' = peak · (1 + h / K) · (L + p) / L: 100 Mb/s becomes 113.4375 Mb/s with K = 10, h = p = 1 and
//! 1500 octets.
//!
//! # Differences from the paper
//! Sources whose packets differ in length could queue in the unit; the equivalence above does not cover them.

use super::{Each, Network, Template, Wire};
use crate::section;

section! {
    /// Sources on local networks behind an interworking unit.
    pub struct Params {
        /// Number of sources.
        pub sources: u32,
        /// Links from the sources to the unit, at the rate of the spaced cells: one for all, or a list.
        pub access: Each<Wire>,
        /// The link that all share.
        pub trunk: Wire,
    }
}

/// More sources than anybody simulates: a slip of the pen should not fill the memory.
const MOST_SOURCES: u32 = 100_000;

impl Template for Params {
    fn expand(&self, network: &mut Network) -> Result<(), String> {
        let count = self.sources as usize;
        if !(1..=MOST_SOURCES).contains(&self.sources) {
            return Err(format!("sources: {count} is not a number from 1 to {MOST_SOURCES}"));
        }
        self.access.check("access", count)?;
        let each = || (1..=count).map(|i| (i, format!("source{i}")));
        each().for_each(|(_, source)| network.host(&source));
        network.relay("iwu");
        network.host("sink");
        for (i, source) in each() {
            network.link(&format!("access{i}"), "access", &source, "iwu", self.access.of(i - 1));
        }
        network.link("trunk", "", "iwu", "sink", &self.trunk);
        each().for_each(|(i, source)| network.flow(&format!("flow{i}"), &source, "sink"));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::link::line::Line;
    use crate::rng::Stream;
    use crate::units::{Rate, Span, Time};

    /// When packets that last `duration` start on the local network: back to back, or after a random silence.
    fn starts(duration: u64) -> Vec<u64> {
        let mut stream = Stream::new(9, "iwu");
        let mut start = 0;
        let mut next = || {
            let silence = if stream.chance(0.7) { 0 } else { stream.up_to(3 * duration) };
            start += duration + silence;
            start
        };
        (0..500).map(|_| next()).collect()
    }

    /// The paper's unit: a packet that has arrived waits for the one before it, then its cells go out equally spaced.
    fn packet_queue(starts: &[u64], duration: u64, cells: u64) -> Vec<u64> {
        let mut free = 0;
        let mut times = Vec::new();
        for start in starts {
            let begin = free.max(start + duration);
            free = begin + duration;
            times.extend((0..cells).map(|i| begin + i * duration / cells));
        }
        times
    }

    /// The template's access link: the cells of a packet are handed over when it starts.
    fn access_link(starts: &[u64], rate: Rate, cells: u64) -> Vec<u64> {
        let mut line = Line::new(rate, Span::ZERO);
        let mut times = Vec::new();
        for start in starts {
            for _ in 0..cells {
                let now = line.free().max(Time(*start));
                times.push(line.send(now, 53).arrives.0);
            }
        }
        times
    }

    #[test]
    fn an_access_link_at_the_spaced_rate_is_the_packet_queue_with_spacing_but_for_a_constant_delay() {
        // 33 cells in the time of 10/11 of a packet of 32 cells at 100 Mb/s, and 32 cells at 100 Mb/s
        let coded = (32 * 424 * 10_000 * 10 / 11 + 1, 33, Rate(113_437_500));
        for (duration, cells, rate) in [coded, (32 * 424 * 10_000, 32, Rate(100_000_000))] {
            let starts = starts(duration);
            let queue = packet_queue(&starts, duration, cells);
            let link = access_link(&starts, rate, cells);
            let shift = duration - duration / cells;
            assert_eq!(queue.len(), 500 * cells as usize);
            // Whole picoseconds: each side rounds a cell's time down once or twice.
            assert!(queue.iter().zip(&link).all(|(queue, link)| queue.abs_diff(link + shift) <= 3));
        }
    }
}
