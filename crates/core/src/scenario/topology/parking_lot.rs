//! # Source
//! Paper 001 (L. Kalampoukas, A. Varma, "Performance of TCP over multi-hop ATM networks", 1995), figure 3.1.
//!
//! # Idea
//! Four end-to-end flows share each of the links `a`, `b` and `c` with two flows that cross only that one:
//!
//! ```text
//! node1 ─access1─╮              node3      node4      node5
//!                │                │access3   │access4   │access5
//!               sw1 ──entry──── sw2 ══a══ sw3 ══b══ sw4 ══c══ node6
//!                │                          │exit7     │exit8
//! node2 ─access2─╯                        node7      node8
//! ```
//!
//! Flows `e2e1`, `e2e2` go from node1 and `e2e3`, `e2e4` from node2 to node6; `cross1`, `cross2` from node3 to node7,
//! `cross3`, `cross4` from node4 to node8, `cross5`, `cross6` from node5 to node6. They form the classes `end-to-end` and
//! `cross`. Where packets travel whole, the switches are routers.
//!
//! # Parameters
//! `rate` of all links. Their delays are of three classes, which are also classes for `[port.…]`: `near` (access1,
//! access2, entry, a, b, c), `cross` (access3, access4, exit7, exit8) and `far` (access5). These defaults are the paper's.
//! `pause` of the senders' links (access1 to access5): a sender pauses for a random time up to this before each
//! packet; default 0.
//!
//! # Differences from the paper
//! The figure is missing in the available copies. This network follows from the prose and is the only one that agrees
//! with Table 6.1, which counts 26, 8 and 2 circuits in the three classes; only which of the cross links is the far
//! one is chosen: the one that makes the round trips of the cross flows most alike.

use super::{NetworkSections, Template, TemplateFlows, Wire};
use crate::refused::Refused;
use crate::section;
use crate::units::{Rate, Span};

section! {
    /// Flows over several hops, and others that cross one of them.
    pub struct Params {
        /// Rate of all links.
        pub rate: Rate = Rate(149_760_000),
        /// Propagation delay of the links of class near: along the way of the end-to-end flows.
        pub near: Span = Span::micros(100),
        /// Propagation delay of the links of class cross: to and from the hosts of the cross flows.
        pub cross: Span = Span::micros(950),
        /// Propagation delay of the link of class far: from the host of the last two cross flows.
        pub far: Span = Span::micros(2500),
        /// Longest of the random pauses before each packet that a sender sends.
        pub pause: Span = Span::ZERO,
        /// Flows: `own`, those above, or `none` where `[[flow]]` names all.
        pub flows: TemplateFlows = TemplateFlows::Own,
    }
}

/// The links: name, class, and the two ends.
const LINKS: [[&str; 4]; 11] = [
    ["access1", "near", "node1", "sw1"],
    ["access2", "near", "node2", "sw1"],
    ["access3", "cross", "node3", "sw2"],
    ["access4", "cross", "node4", "sw3"],
    ["access5", "far", "node5", "sw4"],
    ["entry", "near", "sw1", "sw2"],
    ["a", "near", "sw2", "sw3"],
    ["b", "near", "sw3", "sw4"],
    ["c", "near", "sw4", "node6"],
    ["exit7", "cross", "sw3", "node7"],
    ["exit8", "cross", "sw4", "node8"],
];

/// The flows: name, class, and the two ends.
const FLOWS: [[&str; 4]; 10] = [
    ["e2e1", "end-to-end", "node1", "node6"],
    ["e2e2", "end-to-end", "node1", "node6"],
    ["e2e3", "end-to-end", "node2", "node6"],
    ["e2e4", "end-to-end", "node2", "node6"],
    ["cross1", "cross", "node3", "node7"],
    ["cross2", "cross", "node3", "node7"],
    ["cross3", "cross", "node4", "node8"],
    ["cross4", "cross", "node4", "node8"],
    ["cross5", "cross", "node5", "node6"],
    ["cross6", "cross", "node5", "node6"],
];

impl Template for Params {
    fn flows(&self) -> TemplateFlows {
        self.flows
    }

    fn expand(&self, network: &mut NetworkSections) -> Result<(), Refused> {
        (1..=8).for_each(|i| network.host(&format!("node{i}")));
        (1..=4).for_each(|i| network.relay(&format!("sw{i}")));
        for [name, class, from, to] in LINKS {
            let delay = match class {
                "near" => self.near,
                "cross" => self.cross,
                _ => self.far,
            };
            let pause = if name.starts_with("access") { self.pause } else { Span::ZERO };
            let wire = Wire::new(self.rate, delay, network.place).with_pause(pause);
            network.link(name, class, from, to, &wire);
        }
        FLOWS.iter().for_each(|[name, class, from, to]| network.flow_of_class(name, class, from, to));
        Ok(())
    }
}
