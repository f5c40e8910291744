//! Reordering by intent: packets that a link holds back for a time behind its line, while others pass them.
//!
//! A packet that is held back has left the buffer and has been on the line as any other: it only arrives later. So packets behind it
//! may arrive before it, and no other packet is delayed. *Source* of the use: the test cases of draft-ietf-ccwg-bbr, appendix "BBR
//! example test cases", in which a sender takes reordering for loss; `netem` of Linux has the same by a share of the packets.

use serde_json::{Map, Value as Json};

use super::loss::Listed;
use super::{Build, Gate, Site};
use crate::rng::Keyed;
use crate::unit::Unit;
use crate::units::ids::LineId;
use crate::units::{PartsPerMillion, Span, Time};

/// Which packets a rule holds back.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    /// Packets with these numbers, in increasing order, from 1.
    Numbers(Vec<u64>),
    /// A share of all packets, drawn for each.
    Share(PartsPerMillion),
}

/// Packets of a line that are held back.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// The line.
    pub line: LineId,
    /// Which packets.
    pub choice: Choice,
    /// For how long.
    pub by: Span,
    /// Distinguishes the random numbers of this rule from those of others on the line.
    pub stream: String,
}

/// The reordering of one line.
#[derive(Clone, Debug)]
pub struct Reordering {
    rules: Vec<Rule>,
    /// Packets that were held back since the last reset.
    held: u64,
}

#[derive(Clone, Debug)]
struct Rule {
    by: Span,
    chosen: Chosen,
}

#[derive(Clone, Debug)]
enum Chosen {
    Numbers(Listed),
    Share(f64, Keyed),
}

impl Build for Reordering {
    fn build(site: &Site<'_>) -> Option<Self> {
        let rule = |spec: &&Spec| Rule {
            by: spec.by,
            chosen: match &spec.choice {
                Choice::Numbers(numbers) => Chosen::Numbers(Listed::new(numbers.clone())),
                Choice::Share(share) => {
                    let keyed = site.keyed(format_args!("reorder.{}", spec.stream));
                    Chosen::Share(share.0 as f64 / PartsPerMillion::WHOLE.0 as f64, keyed)
                }
            },
        };
        let rules: Vec<Rule> = site.reorders.iter().map(rule).collect();
        (!rules.is_empty()).then_some(Reordering { rules, held: 0 })
    }
}

impl Gate for Reordering {
    /// Hold a packet back if a rule says so; of several rules the longest time counts. Every rule counts every packet.
    fn arrives(&mut self, _ends: Time, arrives: Time, unit: &Unit) -> Time {
        let by = self.rules.iter_mut().filter_map(|rule| rule.chosen.is_held(unit).then_some(rule.by)).max();
        self.held += u64::from(by.is_some());
        arrives + by.unwrap_or_default()
    }

    fn report(&self, figures: &mut Map<String, Json>) {
        figures.insert("held_back".into(), self.held.into());
    }

    fn reset(&mut self, _now: Time) {
        self.held = 0;
    }
}

impl Chosen {
    fn is_held(&mut self, unit: &Unit) -> bool {
        match self {
            Chosen::Numbers(listed) => listed.is_next(),
            Chosen::Share(share, keyed) => keyed.unit(unit.subject()) < *share,
        }
    }
}
