//! Losses by intent: units that a link loses as the scenario requests, before they reach its port.
//!
//! As the error models of ns-2 do (`lossmodel`), a loss takes a unit away where it would enter the buffer of the
//! link. Units that already wait there are sent. *Source* of the random losses: E. N. Gilbert, "Capacity of a
//! burst-noise channel", 1960, and E. O. Elliott, "Estimates of error rates for codes on burst-noise channels", 1963;
//! each unit is lost or not by the present state, and then the state may change, as in `netem` of Linux (`loss
//! gemodel`).

use std::collections::VecDeque;
use std::vec;

use super::{Build, Gate, Site};
use crate::refused::{Refused, probability};
use crate::rng::Keyed;
use crate::section;
use crate::unit::{Boundary, Unit};
use crate::units::ids::{CircuitId, IdVec, LineId, PortVc};
use crate::units::{Span, Time};
use crate::verdict::Reason;

section! {
    /// Losses in bursts: a link that is in a good or in a bad state (Gilbert, Elliott). It begins in the good one. In the long run it is
    /// in the bad state for the share to_bad/(to_bad + to_good) of its units.
    pub struct Gilbert {
        /// Probability that the good state ends after a unit.
        pub to_bad: f64,
        /// Probability that the bad state ends after a unit.
        pub to_good: f64,
        /// Probability that a unit is lost in the good state.
        pub good: f64 = 0.0,
        /// Probability that a unit is lost in the bad state.
        pub bad: f64 = 1.0,
    }
}

impl Gilbert {
    /// Check that all keys are probabilities.
    pub fn check(&self) -> Result<(), Refused> {
        let Gilbert { to_bad, to_good, good, bad } = *self;
        let keys = [("to_bad", to_bad), ("to_good", to_good), ("good", good), ("bad", bad)];
        keys.into_iter().try_for_each(|(key, value)| probability(key, value).map(|_| ()))
    }
}

/// Pattern of the units that are lost.
#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    /// Units with these numbers, in increasing order, from 1.
    Numbers(Vec<u64>),
    /// All units of the frames with these numbers on their circuits, in increasing order, from 1.
    Frames(Vec<u64>),
    /// Units that arrive in these intervals, each without its end, in increasing order.
    Down(Vec<[Span; 2]>),
    /// Units that a random process chooses.
    Gilbert(Gilbert),
}

/// A pattern of losses on a line.
#[derive(Clone, Debug, PartialEq)]
pub struct Spec {
    /// The line.
    pub line: LineId,
    /// The circuits that the pattern affects, in increasing order; `None` for all circuits of the line.
    pub circuits: Option<Vec<CircuitId>>,
    /// Pattern of the units that are lost.
    pub pattern: Pattern,
    /// Distinguishes the random numbers of this pattern from those of others on the line.
    pub stream: String,
}

/// The losses by intent of one line.
#[derive(Clone, Debug)]
pub struct Losses {
    rules: Vec<LossRule>,
    /// For every circuit, by its number at the port, the boundary of frames after the losses.
    boundaries: IdVec<PortVc, Boundary>,
}

#[derive(Clone, Debug)]
struct LossRule {
    circuits: Option<Vec<CircuitId>>,
    state: ChannelState,
}

#[derive(Clone, Debug)]
enum ChannelState {
    Numbers(Listed),
    Frames(Vec<u64>),
    Down(VecDeque<[Span; 2]>),
    Gilbert { terms: Gilbert, is_bad: bool, keyed: Keyed },
}

/// Units with given numbers, as they come one after another.
#[derive(Clone, Debug)]
pub(super) struct Listed {
    /// The units seen, the next one in the list, and those after it.
    seen: u64,
    next: u64,
    later: vec::IntoIter<u64>,
}

impl Listed {
    /// List the units with these numbers, in increasing order, from 1.
    pub(super) fn new(numbers: Vec<u64>) -> Listed {
        let mut later = numbers.into_iter();
        Listed { seen: 0, next: later.next().unwrap_or(u64::MAX), later }
    }

    /// Count a unit, and return whether it is in the list.
    #[inline]
    pub(super) fn is_next(&mut self) -> bool {
        self.seen += 1;
        let is_next = self.seen == self.next;
        if is_next {
            self.next = self.later.next().unwrap_or(u64::MAX);
        }
        is_next
    }
}

impl Losses {
    /// Build the losses of a line that `circuits` circuits pass; `keyed` returns the random numbers of a rule.
    fn new(specs: &[&Spec], circuits: usize, keyed: impl Fn(&str) -> Keyed) -> Losses {
        let rule = |spec: &&Spec| LossRule {
            circuits: spec.circuits.clone(),
            state: match &spec.pattern {
                Pattern::Numbers(lost) => ChannelState::Numbers(Listed::new(lost.clone())),
                Pattern::Frames(lost) => ChannelState::Frames(lost.clone()),
                Pattern::Down(times) => ChannelState::Down(times.iter().copied().collect()),
                Pattern::Gilbert(terms) => {
                    ChannelState::Gilbert { terms: terms.clone(), is_bad: false, keyed: keyed(&spec.stream) }
                }
            },
        };
        let rules: Vec<LossRule> = specs.iter().map(rule).collect();
        Losses { rules, boundaries: IdVec::filled(Boundary::default(), circuits) }
    }
}

impl Build for Losses {
    /// Build the losses of a line; each rule has its own random numbers.
    fn build(site: &Site<'_>) -> Option<Self> {
        let keyed = |stream: &str| site.keyed(format_args!("loss.{stream}"));
        (!site.losses.is_empty()).then(|| Losses::new(site.losses, site.classes.len(), keyed))
    }
}

impl Gate for Losses {
    /// Pass a unit on to the port. Every rule counts it, even if another one loses it.
    #[inline]
    fn enters(&mut self, now: Time, unit: Unit, vc: PortVc) -> Result<Unit, Reason> {
        let mut is_lost = false;
        for rule in &mut self.rules {
            is_lost |= rule.concerns(unit.vc) && rule.state.loses(now, &unit);
        }
        match is_lost {
            true => Err(Reason::Link),
            false => Ok(self.boundaries[vc].pass(unit)),
        }
    }

    fn only_loses(&self) -> bool {
        true
    }

    fn draws(&self) -> bool {
        self.rules.iter().any(|rule| matches!(rule.state, ChannelState::Gilbert { .. }))
    }
}

impl LossRule {
    /// Return whether it counts the units of a circuit.
    #[inline]
    fn concerns(&self, vc: CircuitId) -> bool {
        self.circuits.as_ref().is_none_or(|circuits| circuits.binary_search(&vc).is_ok())
    }
}

impl ChannelState {
    #[inline]
    fn loses(&mut self, now: Time, unit: &Unit) -> bool {
        match self {
            ChannelState::Numbers(lost) => lost.is_next(),
            ChannelState::Frames(lost) => lost.binary_search(&(u64::from(unit.frame) + 1)).is_ok(),
            ChannelState::Down(times) => {
                let now = now.since(Time::ZERO);
                while times.front().is_some_and(|[_, end]| *end <= now) {
                    times.pop_front();
                }
                times.front().is_some_and(|[begin, _]| *begin <= now)
            }
            ChannelState::Gilbert { terms, is_bad, keyed } => {
                let (loss, change) =
                    if *is_bad { (terms.bad, terms.to_good) } else { (terms.good, terms.to_bad) };
                if loss == 0.0 && change == 0.0 {
                    return false;
                }
                let mut draws = keyed.about(unit.subject());
                let is_lost = draws.chance(loss);
                *is_bad ^= draws.chance(change);
                is_lost
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::Flags;

    /// List which of these units are lost, by circuit and instant.
    fn lost(specs: &[Spec], units: &[(u32, u64)]) -> Vec<usize> {
        let mut losses = Losses::new(&specs.iter().collect::<Vec<_>>(), 2, |_| Keyed::new(1, "loss"));
        let mut number = 0;
        let mut is_lost = |&(vc, time): &(u32, u64)| {
            number += 1;
            let flags = Flags::default().with(Flags::FIRST).with(Flags::EOM);
            let unit = Unit {
                vc: CircuitId(vc),
                frame: number,
                identity: number,
                index: 0,
                bytes: 1500,
                hop: 0,
                flags,
            };
            losses.enters(Time(time), unit, PortVc(vc)).is_err()
        };
        (1..).zip(units).filter_map(|(number, unit)| is_lost(unit).then_some(number)).collect()
    }

    fn spec(circuits: &[CircuitId], pattern: Pattern) -> Spec {
        let circuits = (!circuits.is_empty()).then(|| circuits.to_vec());
        Spec { line: LineId(0), circuits, pattern, stream: "0".to_string() }
    }

    #[test]
    fn packets_are_lost_by_their_number_on_the_link_or_in_one_flow() {
        let units: Vec<(u32, u64)> = (0..10).map(|i| (i % 2, u64::from(i))).collect();
        let numbers = || Pattern::Numbers(vec![2, 5]);
        assert_eq!(lost(&[spec(&[], numbers())], &units), [2, 5]);
        assert_eq!(lost(&[spec(&[CircuitId(1)], numbers())], &units), [4, 10]);
        assert_eq!(lost(&[spec(&[], numbers()), spec(&[CircuitId(1)], numbers())], &units), [2, 4, 5, 10]);
    }

    #[test]
    fn frames_are_lost_by_their_numbers_on_their_circuits() {
        let units: Vec<(u32, u64)> = (0..10).map(|i| (i % 2, u64::from(i))).collect();
        let frames = Pattern::Frames(vec![2, 5, 9]); // the bench numbers frames of both circuits from 1 on
        assert_eq!(lost(&[spec(&[CircuitId(1)], frames)], &units), [4, 8]);
    }

    #[test]
    fn an_outage_loses_what_arrives_from_its_first_instant_to_before_its_last() {
        let units: Vec<(u32, u64)> = (0..10).map(|i| (0, i)).collect();
        let down = Pattern::Down(vec![[Span(2), Span(4)], [Span(7), Span(8)]]);
        assert_eq!(lost(&[spec(&[], down)], &units), [3, 4, 8]);
    }

    #[test]
    fn bursts_are_as_long_and_as_frequent_as_their_chain_says() {
        let terms = Gilbert { to_bad: 0.02, to_good: 0.25, good: 0.0, bad: 1.0 };
        let units = vec![(0, 0); 200_000];
        let lost = lost(&[spec(&[], Pattern::Gilbert(terms))], &units);
        let bursts = 1 + lost.windows(2).filter(|pair| pair[1] > pair[0] + 1).count();
        let (share, length) = (lost.len() as f64 / 200_000.0, lost.len() as f64 / bursts as f64);
        assert!((share - 0.02 / 0.27).abs() < 0.004, "{share}");
        assert!((length - 4.0).abs() < 0.2, "{length}");
    }

    #[test]
    fn the_first_unit_is_judged_in_the_good_state() {
        let terms = Gilbert { to_bad: 1.0, to_good: 0.0, good: 0.0, bad: 1.0 };
        assert_eq!(lost(&[spec(&[], Pattern::Gilbert(terms))], &[(0, 0); 4]), [2, 3, 4]);
    }

    #[test]
    fn a_probability_above_1_is_refused() {
        let refused = Gilbert { to_bad: 0.5, to_good: 1.5, good: 0.0, bad: 1.0 }.check().unwrap_err();
        assert_eq!((refused.key, refused.why.as_str()), (Some("to_good"), "must be from 0 to 1"));
    }
}
