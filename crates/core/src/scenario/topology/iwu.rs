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
//! `sources` N (10 in the paper); `access`: delay of a link from a source, one for all or a list, and its rate where that
//! is not r'; `trunk`: the link whose port is the buffer (155 Mb/s). The link from `sourceI` is called `accessI`, of the class
//! `access`, and flow `flowI` goes from `sourceI` to `sink`.
//!
//! r' follows from a bursty source: it is the peak rate of `on-off`. That of `fec-block` counts data packets without parity
//! cells; K + h packets take the time of K unless `parity_adds` is `time`, and p parity cells that of a packet of L, so
//!
//! > r' = peak · (1 + h / K) · (L + p) / L:
//!
//! 100 Mb/s becomes 113.4375 Mb/s with K = 10, h = p = 1 and 1500 octets.
//!
//! # Differences from the paper
//! Sources whose packets differ in length could queue in the unit; the equivalence above does not cover them.

use serde_json::Value as Json;

use super::{Each, NetworkSections, Template, TemplateFlows, Wire};
use crate::adaptation::{self, aal5};
use crate::language::spec::{Field, Nested, Section, Shape, object_schema, read_section};
use crate::language::tree::{Fault, Node};
use crate::link::law::SLOWEST;
use crate::refused::{Refused, refuse};
use crate::scenario::file::{BackSection, FlowSection};
use crate::section;
use crate::source::Source;
use crate::source::burst::{Added, BurstPattern};
use crate::transport::Transport;
use crate::units::{Rate, Span};

section! {
    /// Sources on local networks behind an interworking unit.
    pub struct Params {
        /// Number of sources.
        pub sources: u32,
        /// Links from the sources to the unit, by default at the rate of the spaced cells: one for all, or a list that repeats.
        pub access: Each<Spaced>,
        /// The link that all share.
        pub trunk: Wire,
        /// Flows: `own`, those above, or `none` where `[[flow]]` names all.
        pub flows: TemplateFlows = TemplateFlows::Own,
    }
}

section! {
    /// A link whose rate may follow from the traffic on it.
    pub struct SpacedKeys {
        /// Rate; by default that of cells which are spaced over the duration of their packet.
        pub rate: Option<Rate> = None,
        /// Propagation delay.
        pub delay: Span,
        /// Longest of the random pauses before each frame.
        pub pause: Span = Span::ZERO,
        /// Rate and delay of the other direction where they differ.
        pub back: Option<Nested<BackSection>> = None,
    }
}

/// A link of a template whose rate may follow from the traffic on it.
#[derive(Clone, Debug, PartialEq)]
pub struct Spaced(Wire);

impl Field for Spaced {
    fn read(node: &Node, path: &str) -> Result<Self, Fault> {
        read_section::<SpacedKeys>(node, path).map(|_| Spaced(Wire(node.clone())))
    }

    fn write(&self) -> Json {
        self.0.write()
    }

    fn shape() -> Shape {
        Shape { unit: Wire::shape().unit, schema: object_schema(&SpacedKeys::params()) }
    }
}

/// Class of the links from the sources.
const ACCESS: &str = "access";

/// Largest number of sources; more are rejected as a mistake, before they fill the memory.
const MOST_SOURCES: u32 = 100_000;

impl Template for Params {
    fn flows(&self) -> TemplateFlows {
        self.flows
    }

    fn expand(&self, network: &mut NetworkSections) -> Result<(), Refused> {
        let count = self.sources as usize;
        if !(1..=MOST_SOURCES).contains(&self.sources) {
            return refuse("sources", format!("must be from 1 to {MOST_SOURCES}"));
        }
        self.access.check("access", count)?;
        let each = || (1..=count).map(|i| (i, format!("source{i}")));
        each().for_each(|(_, source)| network.host(&source));
        network.relay("iwu");
        network.host("sink");
        for (i, source) in each() {
            network.link(&format!("access{i}"), ACCESS, &source, "iwu", &self.access.of(i - 1).0);
        }
        network.link("trunk", "", "iwu", "sink", &self.trunk);
        each().for_each(|(i, source)| network.flow(&format!("flow{i}"), &source, "sink"));
        Ok(())
    }

    fn rate(
        &self,
        class: &str,
        flows: &[FlowSection],
        adaptation: &adaptation::Spec,
    ) -> Result<Option<Rate>, Refused> {
        let missing = |why: String| refuse("access", format!("the key \"rate\" is missing: {why}"));
        match flows {
            _ if class != ACCESS => Ok(None),
            [flow] => match spaced(flow, adaptation) {
                Some(rate) => Ok(Some(rate)),
                None => missing(format!(
                    "none follows from the source {:?}, only from one with bursts, as on-off",
                    flow.source.name()
                )),
            },
            _ => missing(format!(
                "it follows from the only flow of a source, and one of them has {}",
                flows.len()
            )),
        }
    }
}

/// Return r' for a bursty source: at this rate a packet with all headers lasts as long as on the local network.
fn spaced(flow: &FlowSection, adaptation: &adaptation::Spec) -> Option<Rate> {
    let (BurstPattern { peak, .. }, Added { data, all, closer }) = flow.source.bursts()?;
    let all = if closer { all } else { data };
    if peak == Rate(0) {
        return Some(SLOWEST); // refused with the flow
    }
    let Some(needs) = flow.transport.needs(&flow.source) else {
        return Some(SLOWEST); // refused with the flow
    };
    let cells = aal5::cells(needs.octets(), adaptation.llc_snap());
    let parity = u64::from(flow.transport.parity_cells());
    let (grown, plain) = (u128::from(all) * u128::from(cells + parity), u128::from(data) * u128::from(cells));
    let plain = plain.max(1); // a block without data is refused with the flow
    let rate = (u128::from(peak.0) * grown + plain / 2) / plain;
    Some(Rate(u64::try_from(rate).unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use crate::link::line::Line;
    use crate::rng::Stream;
    use crate::scenario::{load, model::Scenario};
    use crate::units::{Rate, Span, Time};

    /// Return when packets that last `duration` start on the local network: back to back, or after a random silence.
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

    const GPJ: &str = include_str!("../../../../../scenarios/gpj.toml");

    fn gpj(sets: &[&str]) -> Result<Scenario, String> {
        let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
        Ok(load(GPJ, "gpj.toml", &sets)?)
    }

    /// Rate of the first source's link, there and back.
    fn rates(sets: &[&str]) -> (Rate, Rate) {
        let scenario = gpj(sets).unwrap();
        let of = |name: &str| scenario.lines.iter().find(|line| line.name == name).unwrap().rate.fixed();
        (of("access1"), of("access1.back"))
    }

    #[test]
    fn k_and_h_packets_take_the_time_of_k_and_their_parity_cells_none() {
        let of = |sets: &[&str]| rates(&[sets, &["flows.source.peak='100 Mb/s'"]].concat()).0.0;
        assert_eq!(of(&[]), 113_437_500, "11/10 packets of 33/32 cells");
        assert_eq!(of(&["flows.source.parity=0", "flows.transport.parity_cells=0"]), 100_000_000);
        assert_eq!(of(&["flows.source.block=5"]), 123_750_000, "6/5");
        assert_eq!(of(&["flows.source.parity_adds='time'"]), 103_125_000, "a longer burst at the same rate");
        assert_eq!(of(&["flows.source.mtu='512 bytes'"]), 120_000_000, "12/11 cells");
        assert_eq!(of(&["flows.source.mtu='512 bytes'", "adaptation.llc_snap=true"]), 120_000_000);
        assert_eq!(of(&["flows.source.mtu='520 bytes'", "adaptation.llc_snap=true"]), 119_166_667, "13/12");
        assert_eq!(of(&["flow.flow1.source.parity=2"]), 123_750_000, "its own source, 12/10");
    }

    #[test]
    fn a_rate_that_is_given_counts_and_the_other_direction_has_the_same() {
        let (there, back) = rates(&[]);
        assert_eq!(there, back);
        assert_eq!(rates(&["topology.access.rate='90 Mb/s'"]).0, Rate(90_000_000));
        let on_off = "flows.source={kind='on-off', peak='50 Mb/s', burst=5, activity=0.1, size='1 kB'}";
        assert_eq!(rates(&[on_off, "flows.transport={kind='udp'}"]).0, Rate(50_000_000));
    }

    #[test]
    fn where_no_rate_follows_the_message_says_why() {
        let first = |sets: &[&str]| gpj(sets).unwrap_err().lines().next().unwrap().to_string();
        let cbr = ["flows.source={kind='cbr', rate='5 Mb/s', size='1 kB'}", "flows.transport={kind='udp'}"];
        let missing = |why: &str| format!(": topology.access: the key \"rate\" is missing: {why}");
        let why = "none follows from the source \"cbr\", only from one with bursts, as on-off";
        assert!(first(&cbr).ends_with(&missing(why)));
        let why = "it follows from the only flow of a source, and one of them has 2";
        assert!(first(&["flow.flow2.from=source1"]).ends_with(&missing(why)));
        assert!(first(&["flows.source.block=0"]).contains("must be at least 1 packet"));
        assert!(first(&["flows.source.peak='0 Mb/s'"]).contains("must be greater than 0 b/s"));
        assert!(first(&["topology.access={}"]).contains("the key \"delay\" is missing"));
    }
}
