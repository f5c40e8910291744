//! The books of a memory that has one pool and nothing else: what nearly every memory is.
//!
//! Without reserved room, limits of classes, headroom and pauses all that a queue holds is shared room, and what the queues of the
//! only pool share is what the memory holds. So one comparison decides, and the statistics of the pool's occupancy are those
//! of the memory, from which [`Memory::close_counters`] takes them.

use super::pushout::PushOut;
use super::queue::QueueLimits;
use super::{Account, Charge, Leaving, Memory};
use crate::unit::Unit;
use crate::units::Time;

/// The only pool.
const POOL: usize = 0;

impl Memory {
    /// Return whether it has one pool, without headroom, and queues that only its scheme limits and that no push-out policy
    /// watches.
    pub(super) fn can_be_lean(&self) -> bool {
        let [pool] = self.pools.as_slice() else { return false };
        let is_plain = self.queues.iter().all(|queue| queue.limits == QueueLimits::default());
        let is_watched = self.pushout.as_ref().is_some_and(PushOut::watches);
        pool.headroom() == 0 && self.promised == 0 && is_plain && !is_watched
    }

    /// Like `offer`.
    #[inline(always)]
    pub(super) fn offer_lean(
        &mut self,
        now: Time,
        account: Account,
        size: u64,
        unit: &Unit,
    ) -> Option<Charge> {
        let (queue, pool) = (&mut self.queues[account.queue()], &mut self.pools[POOL]);
        let threshold = pool.meets(now, queue.number, size, unit);
        queue.note_threshold(threshold);
        let is_below = !pool.judges(unit) || self.check.allows(queue.held(), size, threshold);
        let fits = is_below && self.used + size <= self.cells && pool.books.fits(size);
        fits.then_some(Charge::Shared)
    }

    /// Like `take_in`.
    #[inline(always)]
    pub(super) fn take_in_lean(&mut self, now: Time, account: Account, size: u64) {
        self.occupancy.change(now, self.used, self.used + size);
        self.used += size;
        self.shared = self.used;
        let queue = &mut self.queues[account.queue()];
        queue.enter(now, size);
        self.pools[POOL].books.add_ahead(queue.number, size); // `offer` has found room
    }

    /// Like `release`.
    #[inline(always)]
    pub(super) fn release_lean(&mut self, account: Account, leaving: &Leaving<'_>) {
        let &Leaving { now, size, .. } = leaving;
        self.occupancy.fall(now, self.used);
        self.used -= size;
        self.shared = self.used;
        let queue = &mut self.queues[account.queue()];
        queue.leave_shared(now, size);
        self.pools[POOL].give_back_lean(leaving, queue.number);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::*;
    use crate::memory::sharing::tests::{context, terms};
    use crate::memory::{MemoryParts, SharedPool, SharedQueue, ThresholdCheck, sharing};
    use crate::rng::Stream;
    use crate::unit::Flags;
    use crate::units::Rate;
    use crate::units::ids::{CircuitId, LineId, PoolQueue};

    const QUEUES: usize = 3;

    /// A memory of 100 cells with three queues that a scheme limits.
    fn memory(spec: &sharing::Spec, check: ThresholdCheck, limits: QueueLimits) -> Memory {
        let scheme = spec.build(&context(&[0, 1, 2].map(|line| terms(LineId(line), None)))).unwrap();
        let queue = |number| {
            SharedQueue::new(limits, LineId::new(number), Rate(8_000_000), POOL, PoolQueue::new(number))
        };
        let queues = (0..QUEUES).map(queue).collect();
        let pools = vec![SharedPool::new(100, QUEUES, 0, scheme)];
        Memory::new(MemoryParts { cells: 100, check, pools, queues, pushout: None })
    }

    /// Offer packets of up to eight cells at random, more than fit, and release them in order; return all decisions and figures.
    fn figures(mut memory: Memory) -> Vec<String> {
        let (mut draws, mut waiting) = (Stream::new(1, "memory"), VecDeque::new());
        let mut figures = Vec::new();
        for number in 0..2000 {
            let (now, size) = (Time(u64::from(number) * 1_000_000), 1 + draws.up_to(7));
            let account = Account::new(draws.up_to(QUEUES as u64 - 1) as usize, None);
            let (vc, bytes, flags) = (CircuitId(0), 100, Flags::FIRST.with(Flags::EOM));
            let unit = Unit { vc, frame: number, identity: number, index: 0, bytes, hop: 0, flags };
            let charge = memory.offer(now, account, size, &unit);
            figures.push(format!("{charge:?} {}", memory.used()));
            if let Some(charge) = charge {
                memory.take_in(now, account, charge, size);
                waiting.push_back((account, unit, size));
            }
            if draws.up_to(4) < 3 {
                let Some((account, unit, size)) = waiting.pop_front() else { continue };
                memory.release(account, &Leaving { now, unit: &unit, size, sent: true });
            }
        }
        memory.close_counters(Time(3_000_000_000));
        let pool = &memory.pools()[POOL];
        figures.push(format!("{} {}", pool.occupancy().mean(), pool.occupancy().max()));
        for queue in memory.queues() {
            let (mean, max) = (queue.occupancy().mean(), queue.occupancy().max());
            figures.push(format!("{mean} {max} {} {:?}", queue.shared(), queue.threshold_min()));
        }
        figures
    }

    #[test]
    fn the_books_of_one_pool_decide_and_count_as_those_of_any_memory() {
        for spec in sharing::Spec::plain() {
            for check in [ThresholdCheck::Before, ThresholdCheck::After] {
                let lean = memory(&spec, check, QueueLimits::default());
                assert!(lean.is_lean, "{}", spec.name());
                let full = Memory { is_lean: false, ..lean.clone() };
                let decisions = figures(lean);
                assert!(decisions.iter().any(|decision| decision.starts_with("None")), "{}", spec.name());
                assert_eq!(decisions, figures(full), "{}", spec.name());
            }
        }
    }

    #[test]
    fn a_memory_of_one_pool_is_quiet_up_to_its_size_or_to_where_its_scheme_may_expel() {
        let bound = |name: &str, limits| {
            let spec = sharing::Spec::plain().find(|spec| spec.name() == name).unwrap();
            memory(&spec, ThresholdCheck::Before, limits).quiet_bound()
        };
        assert_eq!(bound("complete-sharing", QueueLimits::default()), Some(100));
        assert_eq!(
            bound("occamy", QueueLimits::default()),
            Some(88),
            "8 times the free 12 cells are 96, of 11 only 88"
        );
        assert_eq!(bound("occamy", QueueLimits { reserved: 1, ..QueueLimits::default() }), None);
    }

    #[test]
    fn a_limit_or_reserved_room_of_a_class_needs_the_books_of_any_memory() {
        let spec = sharing::Spec::plain().next().unwrap();
        for limits in [
            QueueLimits { limit: Some(50), ..QueueLimits::default() },
            QueueLimits { reserved: 10, ..QueueLimits::default() },
        ] {
            assert!(!memory(&spec, ThresholdCheck::Before, limits).is_lean);
        }
    }
}
