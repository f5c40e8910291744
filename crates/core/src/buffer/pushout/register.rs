//! The register of the quasi-longest queue, and its value when changes are reported late.

use super::lengths::Lengths;
use crate::buffer::pool::Pool;
use crate::units::ids::{IdVec, PortVc};

/// The register LQ. Whenever a queue receives or sends a unit, this queue is compared with queue LQ and replaces it
/// if it is longer. So the port must report every change to the register, or at least the latest changes before the
/// register is read.
#[derive(Clone, Debug)]
pub struct Register {
    longest: PortVc,
    lengths: Lengths,
    /// Work space: lengths of the queues at an earlier instant.
    counted: IdVec<PortVc, i128>,
}

/// A change of a queue by one unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// The circuit of the queue.
    pub vc: PortVc,
    /// True if the queue has received a unit, false if it has sent one.
    pub joined: bool,
}

impl Register {
    /// Build a register that names the first circuit.
    pub(super) fn new(lengths: Lengths) -> Register {
        let counted = IdVec::filled(0, lengths.circuits());
        Register { longest: PortVc(0), lengths, counted }
    }

    /// Return the quasi-longest queue.
    pub fn longest(&self) -> PortVc {
        self.longest
    }

    pub(super) fn lengths(&self) -> &Lengths {
        &self.lengths
    }

    pub(super) fn lengths_mut(&mut self) -> &mut Lengths {
        &mut self.lengths
    }

    /// Compare queue `vc`, which has changed, with queue LQ.
    pub(super) fn compare(&mut self, vc: PortVc, pool: &Pool) {
        self.longest = longer(self.longest, vc, |queue| self.lengths.of(pool, queue));
    }

    /// Replay the latest changes, in order. `before` is the register's value before them; `None` if earlier changes
    /// are missing, so that this value is unknown. Returns whether the changes determine the register; if not, the
    /// register keeps its value.
    ///
    /// They determine it if after one of them a queue was longer than every other: from then on the register named
    /// this queue, whatever its value was before.
    pub fn recall(&mut self, pool: &Pool, changes: &[Change], before: Option<PortVc>) -> bool {
        let Register { lengths, counted, .. } = self;
        let unit = lengths.unit();
        for (vc, counted) in counted.pairs_mut() {
            *counted = lengths.of(pool, vc);
        }
        let mut top = counted.iter().copied().max().unwrap_or_default();
        let (mut known, mut seen) = (before, 0);
        for (place, change) in changes.iter().enumerate().rev() {
            let vc = change.vc;
            // a change moves the greatest length by at most one unit
            if counted[vc] >= top && is_longest(counted, vc) {
                (known, seen) = (Some(vc), place + 1);
                break;
            }
            counted[vc] -= change.by(unit);
            top -= unit;
        }
        let Some(mut longest) = known else { return false };
        for change in &changes[seen..] {
            let vc = change.vc;
            counted[vc] += change.by(unit);
            if counted[longest] < counted[vc] {
                longest = vc;
            }
        }
        self.longest = longest;
        true
    }
}

/// Return queue LQ after it was compared with a queue that has changed: "if (QL\[LQ\] < QL\[i\]) LQ = i".
pub(crate) fn longer<Q: Copy, L: Ord>(longest: Q, changed: Q, length: impl Fn(Q) -> L) -> Q {
    if length(longest) < length(changed) { changed } else { longest }
}

impl Change {
    fn by(self, unit: i128) -> i128 {
        if self.joined { unit } else { -unit }
    }
}

/// Return whether a queue is longer than every other.
fn is_longest(counted: &IdVec<PortVc, i128>, vc: PortVc) -> bool {
    counted.pairs().all(|(other, length)| other == vc || *length < counted[vc])
}

#[cfg(test)]
mod tests {
    use super::super::Context;
    use super::*;
    use crate::buffer::capacity::Capacity;
    use proptest::prelude::*;

    const VCS: usize = 3;

    proptest! {
        /// A register that receives the last units late names the queue that one names which receives each immediately.
        #[test]
        fn the_last_changes_say_what_all_of_them_said(
            steps in prop::collection::vec((0..VCS, any::<bool>()), 1..60), last in 0usize..60,
        ) {
            let register = || Register::new(Lengths::new(&Context::alone(100, VCS), false).unwrap());
            let (mut told, mut late) = (register(), register());
            let mut pool: Pool = Pool::new(Capacity::limited(100), VCS);
            let mut changes = Vec::new();
            for (vc, joined) in steps {
                let vc = PortVc::new(vc);
                if !joined && pool.of(vc) == 0 {
                    continue;
                }
                if joined { pool.add(vc, 1) } else { pool.remove(vc, 1) }
                told.compare(vc, &pool);
                changes.push(Change { vc, joined });
            }
            let all = changes.len();
            let known = late.recall(&pool, &changes[all.saturating_sub(last)..], None);
            prop_assert!(known || late.longest() == PortVc(0), "what is not known is not named");
            if known {
                prop_assert_eq!(late.longest(), told.longest());
            }
            prop_assert!(late.recall(&pool, &changes, Some(PortVc(0))), "all changes always say it");
            prop_assert_eq!(late.longest(), told.longest());
        }
    }

    #[test]
    fn of_two_equal_queues_the_last_units_do_not_say_which_is_named() {
        let mut register = Register::new(Lengths::new(&Context::alone(100, 2), false).unwrap());
        let mut pool: Pool = Pool::new(Capacity::limited(100), 2);
        pool.add(PortVc(0), 2);
        pool.add(PortVc(1), 2);
        let change = |vc, joined| Change { vc: PortVc(vc), joined };
        assert!(!register.recall(&pool, &[change(0, true)], None), "1, 2 and then 2, 2");
        assert!(register.recall(&pool, &[change(1, true), change(0, true)], None), "1, 1 and 1, 2 before");
        assert_eq!(register.longest(), PortVc(1));
    }
}
