//! # Source
//! M. Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, section 2: partition and aggregate; the incast workload of V. Addanki et al., "ABM",
//! SIGCOMM 2022, section 4.1.
//!
//! # Idea
//! The host of the flow asks `fan_in` other hosts at once, and each answers with its part of `size` over a connection of its own. The query is
//! complete when the last answer is. Requests take no time.
//!
//! # Parameters
//! `fan_in` hosts, drawn anew for every query without repetition; `size` of all answers together; `rate` of queries per second; `gaps` between
//! them, `poisson` or `fixed`; `among`: hosts of the whole network (`any`) or of other switches (`other-leaf`).
//!
//! # Differences from the paper
//! The requests themselves are not sent: answers start at the instant of the query.
//!
//! # Complexity
//! As of `arrivals`, for every answer.

use super::arrivals::{Gaps, TransferDestination};
use super::sizes::MOST;
use super::{Source, Traffic};
use crate::refused::{Refused, refuse_if};
use crate::section;
use crate::units::{Bytes, PerSecond};

section! {
    /// Queries that many hosts answer at once.
    pub struct Params {
        /// Hosts that answer a query.
        pub fan_in: u32,
        /// Octets of all answers together.
        pub size: Bytes,
        /// Mean number of queries.
        pub rate: PerSecond,
        /// Times between queries.
        pub gaps: Gaps = Gaps::Poisson,
        /// Which hosts answer.
        pub among: TransferDestination = TransferDestination::Any,
    }
}

/// Kind of traffic, which decides the transports that can carry it.
pub const TRAFFIC: Traffic = Traffic::Data;

impl Source for Params {
    fn check(&self, _: u32) -> Result<(), Refused> {
        refuse_if(self.fan_in == 0, "fan_in", "must be at least 1 host")?;
        let too_small = self.size.0 < u64::from(self.fan_in);
        refuse_if(too_small, "size", "must be at least 1 byte for every host that answers")?;
        refuse_if(self.size.0 > MOST, "size", "must be at most a petabyte (1000000 GB)")?;
        refuse_if(self.rate == PerSecond(0), "rate", "must be greater than 0 per s")
    }

    fn draws_transfers(&self) -> bool {
        true
    }

    fn is_random(&self) -> bool {
        true
    }
}
