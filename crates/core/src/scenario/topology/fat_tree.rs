//! # Source
//! M. Al-Fares, A. Loukissas, A. Vahdat, "A scalable, commodity data center network architecture", SIGCOMM 2008, section 3.
//!
//! # Idea
//! Switches of k ports in three tiers: k pods, each with k/2 edge and k/2 aggregation switches, and (k/2)² core switches. Every edge switch
//! has k/2 hosts. From a pod to another there are (k/2)² equal ways, and `routing = "ecmp"` is the default.
//!
//! # Parameters
//! `radix` k, an even number: k³/4 hosts. `host` and `fabric`: rate and delay of a link at a host and between switches. Hosts are called `host1`,
//! `host2`, … along the edge switches `edge1`, `edge2`, …; the aggregation switches `agg1`, `agg2`, … along the pods, the core switches `core1`,
//! `core2`, …. Aggregation switch j of a pod is linked to the core switches (j − 1) k/2 + 1 to j k/2. Ports have the names of their lines, as
//! `edge1->agg2`. Links have the classes `host`, `fabric` (edge to aggregation) and `core` on the way up, `host.back`, `fabric.back` and
//! `core.back` on the way down. Flow `flowI` goes from `hostI` to the host at the same place of the next pod, from the last pod to the first.
//! `host_latency` and `switch_latency` delay whatever passes a host or a switch.
//!
//! # Differences from the paper
//! Ways are chosen by a hash (`ecmp`), not by tables of two levels.
//!
//! # Complexity
//! Linear in hosts and links.

use super::leaf_spine::MOST;
use super::{NetworkSections, Template, TemplateFlows, Wire};
use crate::refused::{Refused, refuse_if};
use crate::scenario::model::Routing;
use crate::section;
use crate::units::Span;

section! {
    /// Three tiers of equal switches.
    pub struct Params {
        /// Ports of every switch.
        pub radix: u32,
        /// Links between hosts and edge switches.
        pub host: Wire,
        /// Links between switches.
        pub fabric: Wire,
        /// Time that a frame which arrives spends inside a host before the transport gets it.
        pub host_latency: Span = Span::ZERO,
        /// Time that a unit spends inside a switch before it reaches the output port.
        pub switch_latency: Span = Span::ZERO,
        /// Flows: `own`, those above, or `none` where `[[flow]]` names all.
        pub flows: TemplateFlows = TemplateFlows::Own,
    }
}

impl Template for Params {
    fn flows(&self) -> TemplateFlows {
        self.flows
    }

    fn routing(&self) -> Routing {
        Routing::Ecmp
    }

    fn expand(&self, network: &mut NetworkSections) -> Result<(), Refused> {
        let radix = u64::from(self.radix);
        refuse_if(radix < 2 || !radix.is_multiple_of(2), "radix", "must be an even number of at least 2")?;
        let hosts = radix.saturating_mul(radix).saturating_mul(radix) / 4;
        refuse_if(hosts > MOST, "radix", format!("must be at most 72: a fat tree has at most {MOST} hosts"))?;
        let (half, all) = (radix / 2, hosts);
        (1..=all).for_each(|host| network.host(&format!("host{host}")));
        for tier in ["edge", "agg"] {
            (1..=radix * half).for_each(|switch| network.relay(&format!("{tier}{switch}")));
        }
        (1..=half * half).for_each(|core| network.relay(&format!("core{core}")));
        self.link(network, half);
        network.delay_nodes(self.host_latency, self.switch_latency);
        network.shifted_flows(all, half * half);
        Ok(())
    }
}

impl Params {
    /// Link all tiers of switches with 2 × `half` ports.
    fn link(&self, network: &mut NetworkSections, half: u64) {
        for host in 0..2 * half * half * half {
            let (host, edge) = (host + 1, host / half + 1);
            network.between("host", &format!("host{host}"), &format!("edge{edge}"), 1, &self.host);
        }
        for switch in 0..2 * half * half {
            let (edge, pod) = (switch + 1, switch / half);
            for agg in (1..=half).map(|place| pod * half + place) {
                network.between("fabric", &format!("edge{edge}"), &format!("agg{agg}"), 1, &self.fabric);
            }
        }
        for switch in 0..2 * half * half {
            let (agg, place) = (switch + 1, switch % half);
            for core in (1..=half).map(|core| place * half + core) {
                network.between("core", &format!("agg{agg}"), &format!("core{core}"), 1, &self.fabric);
            }
        }
    }
}
