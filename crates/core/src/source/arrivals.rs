//! # Source
//! The open-loop workloads of studies of data centres: M. Alizadeh et al., "pFabric: minimal near-optimal datacenter transport", SIGCOMM 2013,
//! section 5; V. Addanki et al., "ABM", SIGCOMM 2022, section 4.1, and its published scripts.
//!
//! # Idea
//! Transfers arrive whether or not earlier ones have ended, and each is a connection of its own. Arrivals at a mean rate of
//!
//! > λ = load · rate of the sender's link / (8 · mean size)
//!
//! # Parameters
//! `sizes`: one size, the name of a published table (`websearch`, `data-mining`, `hadoop`), `{ table = [[size, share], …] }` with the share of
//! transfers that are not larger, `{ file = "sizes.txt" }` with such a table in a file (octets and percentages, in two columns), `{ exponential = { mean } }`, `{ pareto = { mean, shape } }` or `{ log_normal = { mean, sigma } }`. `load`, the
//! share of the sender's link that the data fill, without headers and acknowledgements, or `rate`, transfers per second. `gaps` between arrivals:
//! `poisson` or `fixed`. `to`: a random other host (`any`), a random host at another switch (`other-leaf`), one of a list of
//! hosts (`["host3", "host4"]`), or by default the flow's own `to`.
//!
//! # Differences from the paper
//! Scripts of studies divide the load by the oversubscription of the fabric; here it is that of the sender's link.
//!
//! # Complexity
//! Every transfer costs its two circuits and its connection for the whole run, some 3 kB.

use serde_json::{Value as Json, json};

use super::sizes::Sizes;
use super::{Source, Traffic};
use crate::language::spec::{Field, Shape};
use crate::language::tree::{Fault, Node, Value};
use crate::refused::{Refused, refuse_if, unfit};
use crate::section;
use crate::units::{PartsPerMillion, PerSecond};

crate::choice! {
    /// Gaps between two arrivals.
    pub enum Gaps {
        /// Exponential gaps.
        Poisson = "poisson",
        /// Equal gaps; the first has a random length.
        Fixed = "fixed",
    }
}

crate::choice! {
    /// Destination of a transfer.
    pub enum TransferDestination {
        /// To any other host, all equally likely.
        Any = "any",
        /// To a host at another switch, all equally likely.
        OtherLeaf = "other-leaf",
    }
}

/// The hosts from which the destination of every transfer is drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum Destinations {
    /// Hosts that fit a rule.
    Rule(TransferDestination),
    /// Hosts of a list, all equally likely.
    Listed(Vec<String>),
}

impl Field for Destinations {
    fn read(node: &Node, path: &str) -> Result<Self, Fault> {
        match &node.value {
            Value::List(_) => Vec::read(node, path).map(Destinations::Listed),
            _ => TransferDestination::read(node, path).map(Destinations::Rule),
        }
    }

    fn write(&self) -> Json {
        match self {
            Destinations::Rule(rule) => rule.write(),
            Destinations::Listed(names) => names.write(),
        }
    }

    fn shape() -> Shape {
        let forms = [TransferDestination::shape().schema, Vec::<String>::shape().schema];
        Shape { unit: "rule or hosts", schema: json!({ "anyOf": forms }) }
    }
}

section! {
    /// Transfers that arrive as a random process, each a connection of its own.
    pub struct Params {
        /// Sizes of transfers.
        pub sizes: Sizes,
        /// Share of the sender's link that their data fill.
        pub load: Option<PartsPerMillion> = None,
        /// Mean number of arrivals, instead of `load`.
        pub rate: Option<PerSecond> = None,
        /// Times between arrivals.
        pub gaps: Gaps = Gaps::Poisson,
        /// Where they go: "any" other host, a host at another switch ("other-leaf"), or another one of a list of hosts, all equally likely; by
        /// default to the host that the flow names.
        pub to: Option<Destinations> = None,
    }
}

/// Kind of traffic, which decides the transports that can carry it.
pub const TRAFFIC: Traffic = Traffic::Data;

impl Source for Params {
    fn check(&self, _: u32) -> Result<(), Refused> {
        self.sizes.check()?;
        refuse_if(self.load == Some(PartsPerMillion(0)), "load", "must be greater than 0 %")?;
        refuse_if(self.rate == Some(PerSecond(0)), "rate", "must be greater than 0 per s")?;
        if self.load.is_some() == self.rate.is_some() {
            return unfit("must have load or rate, and not both");
        }
        Ok(())
    }

    fn draws_transfers(&self) -> bool {
        true
    }

    fn is_random(&self) -> bool {
        true
    }
}

impl Params {
    /// Return the mean number of arrivals in a second at a host whose link has a rate of `link` bits per second.
    pub fn per_second(&self, link: f64) -> f64 {
        let by_load = |load: PartsPerMillion| load.0 as f64 * 1e-6 * link / (8.0 * self.sizes.mean());
        self.rate.map_or_else(|| self.load.map_or(0.0, by_load), PerSecond::as_f64)
    }
}
