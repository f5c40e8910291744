//! Verdicts of policies, and reasons of losses.

use std::fmt;

use crate::choice;
use crate::unit::Unit;

choice! {
    /// Action of a policy on a frame that it has decided to refuse.
    pub enum Action {
        /// Refuse it.
        Drop = "drop",
        /// Accept it with a congestion mark if its transport reacts to marks (ECT) and there is room; refuse any other. A cell
        /// link marks the first cell of the frame (EFCI).
        Mark = "mark",
        /// Cut it to its headers, which go before everything else to the receiver, so that the sender learns of the loss at once;
        /// also where it finds no room. Only for packets, and with policies that decide when they arrive.
        Trim = "trim",
    }
}

impl Action {
    /// Return whether the action marks this unit, the first of a frame that is to be refused.
    #[inline]
    pub fn marks(self, unit: &Unit) -> bool {
        self == Action::Mark && unit.is_ect()
    }
}

/// Verdict of an admission policy on an arriving unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Accept it.
    Accept,
    /// Accept it with a congestion mark, for this reason: only if its transport reacts to marks.
    Mark(Reason),
    /// Discard it, for this reason.
    Discard(Reason),
    /// Accept it in the place of a unit that is already queued.
    Replace(Victim, Reason),
}

impl Verdict {
    /// Convert the verdict of a policy with a [rule](super::admission::Rule): the error is the reason for the loss.
    #[inline]
    pub(crate) fn taken(self) -> Result<(), Reason> {
        match self {
            Verdict::Accept => Ok(()),
            Verdict::Discard(reason) => Err(reason),
            Verdict::Mark(_) | Verdict::Replace(..) => {
                unreachable!("a policy with a rule neither marks nor takes back what it has accepted")
            }
        }
    }
}

/// Verdict of an admission policy on the unit at the head of a queue, which is about to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadVerdict {
    /// Send it.
    Send,
    /// Send it marked, for this reason.
    Mark(Reason),
    /// Discard it, for this reason.
    Discard(Reason),
}

/// A queued unit that an admission policy discards for an arriving one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Victim {
    /// The unit at the head of the queue; it is not yet in transmission.
    Head,
    /// The unit at this position of the queue.
    At(u64),
    /// Units at the head of the queue with the most octets: half of these, but at most this many units at a time. Only at a port
    /// that keeps arrival times.
    FattestQueue(u64),
}

/// Reason of a loss or a mark. A port counts every loss, and every mark, under exactly one reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// There was no room for the unit.
    Overflow,
    /// An earlier unit of the frame had been lost, so the rest was useless.
    Partial,
    /// The whole frame was refused before any of its units was queued.
    Early,
    /// The frame was chosen by a random, early discard.
    Random,
    /// The unit was at the head of a full queue, which an arriving unit needed.
    Front,
    /// The unit was pushed out of a queue to make room for another one.
    PushedOut,
    /// The unit was marked as discardable before others, and the occupancy had reached the threshold for such units.
    Marked,
    /// A gatekeeper refused the unit because its frame or block could spare it.
    Gatekeeper,
    /// A janitor removed the unit from the queue because its frame or block could spare it.
    Janitor,
    /// A policer found the unit in excess of its contract.
    Policed,
    /// Waits had been too long for a whole interval when the unit came to the head of its queue.
    Delay,
    /// The link lost the unit as the scenario requests.
    Link,
    /// The class of the unit had been paused for too long, so that a watchdog lost it.
    Watchdog,
}

impl Reason {
    /// Every reason, in the order of reports.
    pub const ALL: [Reason; 13] = [
        Reason::Overflow,
        Reason::Partial,
        Reason::Early,
        Reason::Random,
        Reason::Front,
        Reason::PushedOut,
        Reason::Marked,
        Reason::Gatekeeper,
        Reason::Janitor,
        Reason::Policed,
        Reason::Delay,
        Reason::Link,
        Reason::Watchdog,
    ];

    /// Return the name of the reason in reports.
    pub fn word(self) -> &'static str {
        match self {
            Reason::Overflow => "overflow",
            Reason::Partial => "partial",
            Reason::Early => "early",
            Reason::Random => "random",
            Reason::Front => "front",
            Reason::PushedOut => "pushed-out",
            Reason::Marked => "marked",
            Reason::Gatekeeper => "gatekeeper",
            Reason::Janitor => "janitor",
            Reason::Policed => "policed",
            Reason::Delay => "delay",
            Reason::Link => "link",
            Reason::Watchdog => "watchdog",
        }
    }

    /// Return the reason of a loss as a clause: "it was lost because …".
    pub fn meaning(self) -> &'static str {
        match self {
            Reason::Overflow => "the buffer, or the share of its circuit, was full",
            Reason::Partial => "an earlier unit of its frame was lost, so the rest of the frame is useless",
            Reason::Early => "its whole frame was refused before any of it was queued",
            Reason::Random => "a random draw decided so, before the buffer was full",
            Reason::Front => "it was at the head of a full queue, and a new unit replaced it",
            Reason::PushedOut => "it was queued, and was removed to make room for another circuit or frame",
            Reason::Marked => {
                "it was marked as discardable (CLP), and the occupancy had reached the threshold for such cells"
            }
            Reason::Gatekeeper => "its frame or block could be decoded without it, so it was refused",
            Reason::Janitor => {
                "its frame or block could be decoded without it, so it was removed from the queue"
            }
            Reason::Policed => "it exceeded its contract",
            Reason::Delay => "units had waited too long for too long when it came to the head of its queue",
            Reason::Link => "its link lost it by intent, before it reached the buffer",
            Reason::Watchdog => {
                "its class had been paused for too long, and the watchdog of the port lost it"
            }
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_of_measures_gives_every_reason_the_meaning_that_is_shown_elsewhere() {
        let page = include_str!("../../../docs/concepts/measures.md");
        for reason in Reason::ALL {
            let row = format!("| `{}` | {} |", reason.word(), reason.meaning());
            assert!(page.contains(&row), "no row {row}");
        }
    }

    #[test]
    fn a_rule_takes_a_unit_or_says_why_it_is_lost() {
        assert_eq!(Verdict::Accept.taken(), Ok(()));
        assert_eq!(Verdict::Discard(Reason::Early).taken(), Err(Reason::Early));
    }

    #[test]
    #[should_panic(expected = "a policy with a rule neither marks nor takes back")]
    fn a_rule_that_marks_is_not_taken_for_one_that_accepts() {
        let _ = Verdict::Mark(Reason::Early).taken();
    }
}
