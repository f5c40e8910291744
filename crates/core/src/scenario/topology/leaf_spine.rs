//! # Source
//! A. Greenberg et al., "VL2: a scalable and flexible data center network", SIGCOMM 2009, in the form of two tiers of C. Clos, "A study
//! of non-blocking switching networks", Bell System Technical Journal 32(2), 1953; the network of V. Addanki et al., "ABM", SIGCOMM
//! 2022, section 4.1.
//!
//! # Idea
//! Every leaf is linked to every spine; hosts stand at the leaves. From a leaf to another there are as many equal ways as spines and
//! parallel links, and `routing = "ecmp"` is the default.
//!
//! ```text
//! host1 ──╮                ╭── spine1 ──╮                ╭── host3
//! host2 ── leaf1 ──────────┤            ├────────── leaf2 ── host4
//!                          ╰── spine2 ──╯
//! ```
//!
//! # Parameters
//! `leaves`, `spines`; `hosts` at every leaf; `links` in parallel between a leaf and a spine; `host` and `fabric`: rate and delay of a
//! link at a host and between the tiers. Hosts are called `host1`, `host2`, … along the leaves. Ports have the names of their lines:
//! `host1->leaf1`, `leaf1->host1`, `leaf1->spine2`, `spine2->leaf1`, and of a second parallel link `leaf1->spine2.2`. Links have the classes
//! `host` and `fabric` on the way up, `host.back` and `fabric.back` on the way down. Flow `flowI` goes from `hostI` to the host at the same
//! place of the next leaf, from the last leaf to the first. `host_latency` and `switch_latency` delay whatever passes a host or a switch.
//!
//! # Differences from the paper
//! Any number of tiers' nodes and any rates.
//!
//! # Complexity
//! Linear in hosts and links.

use super::{NetworkSections, Template, TemplateFlows, Wire};
use crate::refused::{Refused, refuse_if};
use crate::scenario::model::Routing;
use crate::section;
use crate::units::Span;

section! {
    /// Two tiers of switches: every leaf is linked to every spine.
    pub struct Params {
        /// Switches with hosts.
        pub leaves: u32,
        /// Switches that link the leaves.
        pub spines: u32,
        /// Hosts at every leaf.
        pub hosts: u32,
        /// Parallel links between a leaf and a spine.
        pub links: u32 = 1,
        /// Links between hosts and leaves.
        pub host: Wire,
        /// Links between leaves and spines.
        pub fabric: Wire,
        /// Time that a frame which arrives spends inside a host before the transport gets it.
        pub host_latency: Span = Span::ZERO,
        /// Time that a unit spends inside a switch before it reaches the output port.
        pub switch_latency: Span = Span::ZERO,
        /// Flows: `own`, those above, or `none` where `[[flow]]` names all.
        pub flows: TemplateFlows = TemplateFlows::Own,
    }
}

/// Largest number of hosts, and of links between the tiers; more are rejected as a mistake, before they fill the memory.
pub(super) const MOST: u64 = 100_000;

impl Template for Params {
    fn flows(&self) -> TemplateFlows {
        self.flows
    }

    fn routing(&self) -> Routing {
        Routing::Ecmp
    }

    fn expand(&self, network: &mut NetworkSections) -> Result<(), Refused> {
        let Params { leaves, spines, hosts, links, .. } = *self;
        refuse_if(leaves < 2, "leaves", "must be at least 2")?;
        for (key, count) in [("spines", spines), ("hosts", hosts), ("links", links)] {
            refuse_if(count == 0, key, "must be at least 1")?;
        }
        let (many, pairs) = (u64::from(leaves), u64::from(leaves) * u64::from(spines));
        refuse_if(many > MOST, "leaves", format!("must be at most {MOST}"))?;
        for (key, count, groups) in
            [("hosts", hosts, many), ("spines", spines, many), ("links", links, pairs)]
        {
            let most = MOST / groups;
            let message = format!("must be at most {most} here, {MOST} at all leaves together");
            refuse_if(u64::from(count) > most, key, message)?;
        }
        let all = many * u64::from(hosts);
        (1..=all).for_each(|host| network.host(&format!("host{host}")));
        (1..=leaves).for_each(|leaf| network.relay(&format!("leaf{leaf}")));
        (1..=spines).for_each(|spine| network.relay(&format!("spine{spine}")));
        for host in 1..=all {
            let leaf = (host - 1) / u64::from(hosts) + 1;
            network.between("host", &format!("host{host}"), &format!("leaf{leaf}"), 1, &self.host);
        }
        for (leaf, spine) in (1..=leaves).flat_map(|leaf| (1..=spines).map(move |spine| (leaf, spine))) {
            network.between("fabric", &format!("leaf{leaf}"), &format!("spine{spine}"), links, &self.fabric);
        }
        network.delay_nodes(self.host_latency, self.switch_latency);
        network.shifted_flows(all, hosts.into());
        Ok(())
    }
}
