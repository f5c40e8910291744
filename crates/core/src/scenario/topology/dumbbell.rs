//! # Source
//! Figures 4 and 5 of paper 000 (V. Rosolen, O. Bonaventure, G. Leduc, 1998); figure 4 of paper 002; the network of
//! paper 003, section 4.
//!
//! # Idea
//! Hosts `source1`…`sourceN` send to hosts `sink1`…`sinkN` through the switches `left` and `right`:
//!
//! ```text
//! source1 ──access1──╮                      ╭──egress1── sink1
//! source2 ──access2── left ──bottleneck── right ──egress2── sink2
//! sourceN ──accessN──╯                      ╰──egressN── sinkN
//! ```
//!
//! # Parameters
//! `sources` N; `access`, `bottleneck`, `egress`: rate and delay of a link, with `back` where the other direction
//! differs. `access` and `egress` may be lists with an entry for each source; a shorter list, whose length divides N,
//! repeats. Without `egress` those links are like `access`, without pauses. The links have the classes `access` and `egress`; flow `flowI` goes from `sourceI` to `sinkI`.
//! `host_latency` and `switch_latency` delay whatever passes a host or a switch, none by default. Where packets travel
//! whole, the switches are routers.

use super::{Each, NetworkSections, Template, TemplateFlows, Wire};
use crate::refused::{Refused, refuse};
use crate::section;
use crate::units::Span;

section! {
    /// Many sources that share one link.
    pub struct Params {
        /// Number of sources, and of sinks.
        pub sources: u32,
        /// Links from the sources to the left switch: one for all, or a list that repeats.
        pub access: Each<Wire>,
        /// The link that all share.
        pub bottleneck: Wire,
        /// Links from the right switch to the sinks: one for all, or a list that repeats; by default as `access`.
        pub egress: Option<Each<Wire>> = None,
        /// Time that an arriving frame spends inside a host before the transport gets it.
        pub host_latency: Span = Span::ZERO,
        /// Time that a unit spends inside a switch, or router, before it reaches the output port.
        pub switch_latency: Span = Span::ZERO,
        /// Flows: `own`, those above, or `none` where `[[flow]]` names all.
        pub flows: TemplateFlows = TemplateFlows::Own,
    }
}

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
        if let Some(egress) = &self.egress {
            egress.check("egress", count)?;
        }
        let egress = |i| {
            self.egress.as_ref().map_or_else(|| self.access.of(i).without_pause(), |each| each.of(i).clone())
        };
        let each = || (1..=count).map(|i| (i - 1, format!("source{i}"), format!("sink{i}")));
        each().for_each(|(_, source, _)| network.host(&source));
        network.relay("left");
        network.relay("right");
        each().for_each(|(_, _, sink)| network.host(&sink));
        for (i, source, _) in each() {
            network.link(&format!("access{}", i + 1), "access", &source, "left", self.access.of(i));
        }
        network.link("bottleneck", "", "left", "right", &self.bottleneck);
        for (i, _, sink) in each() {
            network.link(&format!("egress{}", i + 1), "egress", "right", &sink, &egress(i));
        }
        network.delay_nodes(self.host_latency, self.switch_latency);
        each().for_each(|(i, source, sink)| network.flow(&format!("flow{}", i + 1), &source, &sink));
        Ok(())
    }
}
