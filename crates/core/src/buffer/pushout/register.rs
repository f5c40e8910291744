//! The register of the quasi-longest queue, and its value after late reports.

use super::lengths::Lengths;
use crate::buffer::pool::Pool;
use crate::units::ids::{IdVec, PortVc};

/// The register LQ. Whenever a queue receives or sends a unit, it is compared with queue LQ, and replaces it if it is
/// longer. So every unit must be reported to it, or the last ones before it is read.
#[derive(Clone, Debug)]
pub struct Register {
    longest: PortVc,
    lengths: Lengths,
    /// Work space for the lengths of queues at some instant.
    counted: IdVec<PortVc, i128>,
}

/// A queue that has received or sent a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Its circuit.
    pub vc: PortVc,
    /// True if it has received one, false if it has sent one.
    pub joined: bool,
}

impl Register {
    /// A register that names the first circuit.
    pub(super) fn new(lengths: Lengths) -> Register {
        let counted = IdVec::filled(0, lengths.circuits());
        Register { longest: PortVc(0), lengths, counted }
    }

    /// The quasi-longest queue.
    pub fn longest(&self) -> PortVc {
        self.longest
    }

    pub(super) fn lengths(&self) -> &Lengths {
        &self.lengths
    }

    pub(super) fn lengths_mut(&mut self) -> &mut Lengths {
        &mut self.lengths
    }

    /// "if (QL\[LQ\] < QL\[i\]) LQ = i": the comparison at input and output.
    pub(super) fn compare(&mut self, vc: PortVc, pool: &Pool) {
        if self.lengths.of(pool, self.longest) < self.lengths.of(pool, vc) {
            self.longest = vc;
        }
    }

    /// Replay the last changes before now, in order, since the register named `before`; if they are only the last of
    /// many, that value is unknown. Returns whether the register follows from them; if not, nothing changes.
    ///
    /// It does if one of them made or left a queue longer than every other: then the register named that queue,
    /// whatever its value was before.
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
            // one change moves the top by at most one unit
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
