//! Quasi-push-out in a memory: see `buffer/pushout/quasi_pushout.rs`.
//!
//! One register serves all pools: where a pool is full that queue LQ does not belong to, the next queue gives way.

use super::{Context, Cut, Full, Piece, PushOut};
use crate::buffer::pushout::{Fallback, longer};
use crate::memory::SharedQueue;
use crate::refused::Refused;
use crate::section;

section! {
    /// The quasi-longest queue loses its first entire packet.
    pub struct Params {
        /// What goes when the quasi-longest queue has no entire packet.
        pub fallback: Fallback = Fallback::NextQueue,
    }
}

/// The policy removes entire packets, or the rest of a packet whose first cells have been sent.
pub const GOES_BY_FRAMES: bool = true;

/// Quasi-push-out in one memory.
#[derive(Clone, Debug)]
pub struct Policy {
    fallback: Fallback,
    /// The register LQ with the number of the quasi-longest queue.
    longest: usize,
}

impl Policy {
    /// Build the policy of one memory.
    pub fn new(params: &Params, _: &Context<'_>) -> Result<Policy, Refused> {
        Ok(Policy { fallback: params.fallback, longest: 0 })
    }
}

impl PushOut for Policy {
    fn choose(&mut self, full: &Full<'_>) -> Option<Cut> {
        if !full.can_fit() {
            return None; // packets would be lost for nothing
        }
        let Policy { fallback, longest } = *self;
        let mut others = (longest + 1..full.memory.queues.len()).chain(0..longest);
        fallback.choose(
            full.cut(longest, Piece::Packet),
            || others.find_map(|queue| full.cut(queue, Piece::Packet)),
            || full.cut(longest, Piece::Head { keep_eom: false }),
        )
    }

    fn watches(&self) -> bool {
        true
    }

    fn changed(&mut self, queues: &[SharedQueue], queue: usize) {
        self.longest = longer(self.longest, queue, |queue| queues[queue].shared());
    }

    fn depends_on(&self) -> Option<&str> {
        Some("the register of the quasi-longest queue")
    }
}

#[cfg(test)]
mod tests {
    use super::super::Spec;
    use super::super::tests::{Ports, cut, memory_with};
    use super::*;
    use crate::memory::{Account, Charge, Leaving, Memory};
    use crate::unit::Unit;
    use crate::units::Time;

    fn take(memory: &mut Memory, queue: usize, cells: u64) {
        memory.take_in(Time(0), Account::new(queue, None), Charge::Shared, cells);
    }

    fn leave(memory: &mut Memory, queue: usize, sent: bool) {
        let leaving = Leaving { now: Time(0), unit: &Unit::default(), size: 1, sent };
        memory.release(Account::new(queue, None), &leaving);
    }

    fn victim(memory: &mut Memory, size: u64, waiting: &[&'static str; 3]) -> Option<Cut> {
        memory.victim(Time(0), Account::new(0, None), size, &Unit::default(), &Ports::new(waiting))
    }

    const ALL: &[&str; 3] = &["1p", "1p", "1p"];

    #[test]
    fn the_register_names_the_queue_that_was_longer_when_it_received_or_sent_a_unit() {
        let mut memory =
            memory_with(&Spec::QuasiPushout(Params { fallback: Fallback::NextQueue }), &[9, 9, 9], 0);
        assert_eq!(victim(&mut memory, 4, ALL), cut(0, Piece::Packet), "LQ stays on ties");
        take(&mut memory, 1, 1);
        assert_eq!(victim(&mut memory, 4, ALL), cut(1, Piece::Packet), "a unit joined");
        take(&mut memory, 2, 2);
        assert_eq!(victim(&mut memory, 4, ALL), cut(2, Piece::Packet));
        (0..3).for_each(|_| leave(&mut memory, 2, false));
        assert_eq!(victim(&mut memory, 4, ALL), cut(2, Piece::Packet), "a push-out compares nothing");
        leave(&mut memory, 0, true);
        assert_eq!(victim(&mut memory, 6, ALL), cut(2, Piece::Packet), "8 cells left there and 8 here");
        leave(&mut memory, 1, true);
        assert_eq!(victim(&mut memory, 6, ALL), cut(1, Piece::Packet), "a unit of 9 cells' queue was sent");
    }

    #[test]
    fn without_an_entire_packet_in_queue_lq_the_fallback_decides() {
        let chosen = |fallback, waiting: &[&'static str; 3]| {
            let mut memory = memory_with(&Spec::QuasiPushout(Params { fallback }), &[9, 9, 10], 0);
            victim(&mut memory, 4, waiting)
        };
        let head = cut(2, Piece::Head { keep_eom: false });
        let none_there = &["1p", "1p", "1h"];
        assert_eq!(chosen(Fallback::NextQueue, none_there), cut(0, Piece::Packet), "the next by its number");
        assert_eq!(chosen(Fallback::HeadFragment, none_there), head);
        assert_eq!(chosen(Fallback::Refuse, none_there), None);
        assert_eq!(chosen(Fallback::NextQueue, &["1h", "1", "1h"]), head);
    }
}
