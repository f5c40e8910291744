//! Credits, link by link: a port sends a unit only if the next node has granted buffer space for it.
//!
//! The sending port of a hop holds a [`CreditSender`]; the receiver of its line, the next port of each circuit or the
//! host where it ends, returns credits through a [`CreditReceiver`]. A unit that leaves the receiver's buffer, sent
//! or lost, frees its space; a host frees it immediately. The [`Credit`](crate::link::control::Credit)s travel on the
//! line in the other direction.
//!
//! Both ends keep an **account** for all units that share one grant: those of a circuit, or of a class of traffic.
//!
//! One published scheme is one file. To add a scheme, write its file and add a line to the list below.

mod receiver;

mod sender;

use std::collections::BTreeSet;

use crate::buffer::size::Measure;
use crate::refused::Refused;
use crate::registry;
use crate::units::ids::{IdVec, PortVc};
use crate::units::{Rate, Span};

registry! {
    /// Credits as a scenario specifies them.
    "credit" by "policy" {
        N23 = "n23" in n23,
        Cbfc = "cbfc" in cbfc,
    }
}

pub use receiver::{Books, CreditReceiver};
pub use sender::{CreditAccount, CreditSender};

impl Spec {
    /// Return the buffer space that a circuit or class may use at the receiver, in the receiver's measure, in the
    /// worst case: every packet fills its credits.
    pub(crate) fn promised(&self, measure: Measure) -> u64 {
        let terms = self.terms();
        let per_credit = match (terms.measure, measure) {
            (Measure::MemoryCells(credit), Measure::Bytes) => credit.octets.into(),
            (Measure::MemoryCells(credit), Measure::MemoryCells(cell)) => {
                let header = cell.header.saturating_sub(credit.header);
                (u64::from(credit.octets) + u64::from(header)).div_ceil(cell.octets.into())
            }
            _ => 1, // a cell, or a packet of one credit
        };
        terms.room.saturating_mul(per_credit)
    }
}

/// The properties of a hop that a credit scheme may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HopContext {
    /// Rate of the line that carries the data.
    pub rate: Rate,
    /// Rate of the line that carries the credits.
    pub back: Rate,
    /// Propagation delay both ways and the latency of both nodes.
    pub delay: Span,
    /// Octets of the largest unit on the line with the data and on the line with the credits.
    pub largest: [u64; 2],
    /// Classes of traffic on the line that carries the data.
    pub classes: u64,
}

/// The terms of a hop for each account: buffer space at the receiver, and the form of the receiver's reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Largest amount that an account may have at the receiver and on the line.
    pub room: u64,
    /// Measure in which a unit is counted.
    pub measure: Measure,
    /// Form in which the receiver reports the units that have left it.
    pub report: CreditReport,
}

/// Form of the receiver's reports about the units that have left it. Counts are absolute, so the next report makes up
/// for a lost one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreditReport {
    /// A credit cell for an account after `every` departures since the last one.
    Cells {
        /// Number of units after which the receiver reports.
        every: u64,
        /// Whether credit cells take transmission time on their line.
        charge: bool,
    },
    /// A short message for one account after another; only accounts whose units have left since their last message get
    /// one.
    Messages {
        /// Least distance from the start of a message to the start of the next one, in octets of their line.
        spacing: u64,
    },
}

impl CreditReport {
    /// Return the mask of the bits of a count that are sent; the count wraps to zero beyond them.
    fn bits(self) -> u64 {
        match self {
            CreditReport::Cells { .. } => u64::MAX,
            CreditReport::Messages { .. } => cbfc::COUNTER,
        }
    }
}

impl Spec {
    /// Return the scheme with every parameter fixed for one hop; refuse parameters that the hop cannot have.
    pub fn settled(&self, way: &HopContext) -> Result<Spec, Refused> {
        match self {
            Spec::N23(params) => params.settled(way).map(Spec::N23),
            Spec::Cbfc(params) => params.settled(way).map(Spec::Cbfc),
        }
    }

    /// Return what the scheme guarantees to each account, computed from its fixed parameters.
    pub fn terms(&self) -> Terms {
        match self {
            Spec::N23(params) => params.terms(),
            Spec::Cbfc(params) => params.terms(),
        }
    }

    /// Return whether each circuit has an account; otherwise each class of traffic has one.
    pub fn is_per_circuit(&self) -> bool {
        matches!(self, Spec::N23(_))
    }

    /// Return the account of every circuit of a line, given their classes.
    pub fn accounts(&self, classes: &IdVec<PortVc, u32>) -> IdVec<PortVc, u32> {
        if self.is_per_circuit() {
            return (0..).take(classes.len()).collect();
        }
        let known: BTreeSet<u32> = classes.iter().copied().collect();
        let place = |class: &u32| known.range(..class).count() as u32;
        classes.iter().map(place).collect()
    }
}

/// Return the number of accounts, given the account of every circuit.
fn count(accounts: &IdVec<PortVc, u32>) -> usize {
    accounts.iter().max().map_or(0, |last| *last as usize + 1)
}
