//! Minimum rates of classes: a class that has not had its rate goes before all others.
//!
//! An octet of a class is due every 8 / `minimum` seconds. When the octets that the class has sent are due, its next packet goes
//! before those of classes without a claim; of several such classes the one goes first that has waited the longest. A class that
//! had nothing to send, or was kept back, catches up with at most `burst` octets. What a class sends in its turn counts as well, so
//! that a minimum adds nothing to what the class gets anyway.
//!
//! Times are exact: a class stores when its next packet is due, in picoseconds times its rate.

use super::{Context, QueueFor, Terms};
use crate::refused::{Refused, unfit};
use crate::units::ids::{IdVec, QueueId};
use crate::units::{OCTET, Rate, Time};

/// The minimum rates at one port.
#[derive(Clone, Debug)]
pub(super) struct Guarantees {
    classes: Vec<Claim>,
    /// Whether each queue has units.
    waits: IdVec<QueueId, bool>,
}

/// The claim of a class.
#[derive(Clone, Debug)]
struct Claim {
    queue: QueueId,
    rate: u128,
    /// What the class may catch up with, and when its next packet is due: both in picoseconds times the rate.
    burst: u128,
    due: u128,
}

impl Guarantees {
    /// Build the claims at a port, if any class there has one; refuse minimum rates that add up to more than that of the line.
    pub(super) fn new(context: &Context<'_>) -> Result<Option<Guarantees>, Refused> {
        let queues = QueueFor::Class.divide(context).queues;
        let classes: Vec<Claim> = queues
            .pairs()
            .filter(|(_, terms)| terms.minimum > 0)
            .map(|(queue, Terms { minimum, class, .. })| {
                let rate = u128::from(*minimum);
                Claim { queue, rate, burst: OCTET * u128::from(class.burst), due: 0 }
            })
            .collect();
        let sum = classes.iter().fold(0_u128, |sum, claim| sum + claim.rate);
        if sum > u128::from(context.rate.0) {
            let sum = Rate(u64::try_from(sum).unwrap_or(u64::MAX));
            return unfit(format!(
                "the minimum rates of classes add up to {sum} on a line of {}",
                context.rate
            ));
        }
        let waits = IdVec::filled(false, queues.len());
        Ok((!classes.is_empty()).then_some(Guarantees { classes, waits }))
    }

    /// Record whether a queue has units.
    pub(super) fn set(&mut self, queue: QueueId, waits: bool) {
        self.waits[queue] = waits;
    }

    /// Return the queue whose claim is the oldest, if one has a claim now and may send.
    pub(super) fn next(&self, now: Time, may_send: &mut dyn FnMut(QueueId) -> bool) -> Option<QueueId> {
        let due = |claim: &&Claim| self.waits[claim.queue] && claim.due <= u128::from(now.0) * claim.rate;
        let due = self.classes.iter().filter(due).filter(|claim| may_send(claim.queue));
        // fractions of picoseconds do not decide: of claims within the same one, that of the first class is the oldest
        due.min_by_key(|claim| claim.due / claim.rate).map(|claim| claim.queue)
    }

    /// Record that a queue sends `octets` octets now.
    pub(super) fn sent(&mut self, now: Time, queue: QueueId, octets: u64) {
        if let Some(claim) = self.classes.iter_mut().find(|claim| claim.queue == queue) {
            let earliest = (u128::from(now.0) * claim.rate).saturating_sub(claim.burst);
            claim.due = claim.due.max(earliest) + OCTET * u128::from(octets);
        }
    }
}
