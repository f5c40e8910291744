//! A port that shares a memory and whose engine computes the departure of each packet on arrival: the port counts its
//! units, but has no queue.

use super::offer::Offer;
use super::{ONLY_QUEUE, Port, Sending};
use crate::buffer::queue::Queue;
use crate::link::line::Sent;
use crate::memory::{Account, Leaving, Memory};
use crate::unit::Unit;
use crate::units::Time;
use crate::units::ids::PortVc;
use crate::verdict::{Reason, Verdict};

/// A packet that such a port has accepted, with the number of its circuit at the port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Accepted {
    pub(crate) unit: Unit,
    pub(crate) vc: PortVc,
    size: u64,
}

impl Port {
    /// Judge an arriving packet. Return an accepted packet, possibly marked, and its departure; the error is the
    /// reason for its loss. Only for a port that sends in order of arrival and decides by a rule.
    #[inline]
    pub(crate) fn accept(
        &mut self,
        memory: &mut Memory,
        now: Time,
        mut unit: Unit,
        vc: PortVc,
    ) -> Result<(Accepted, Sent), Reason> {
        self.counters.arrived(&unit);
        let (size, account) = (self.size_of(&unit), self.account(&unit, vc));
        let charge = memory.offer(now, account, size, &unit);
        if charge.is_none() || !self.takes_all {
            self.pool.grant(if charge.is_some() { size } else { 0 });
            match self.judge_alone(&Offer { now, unit, vc, size }) {
                Verdict::Mark(reason) => {
                    self.mark(now, &mut unit, reason);
                    memory.note_mark(account);
                }
                verdict => verdict.taken().inspect_err(|&reason| {
                    self.counters.lost(reason);
                    memory.note_loss(account);
                })?,
            }
        }
        self.counters.occupancy.change(now, self.pool.total(), self.pool.total() + size);
        self.pool.add_ahead(vc, size); // the memory has found room
        memory.take_in(now, account, charge.expect("only what fits is taken in"), size);
        Ok((Accepted { unit, vc, size }, self.line.send(now, unit.bytes)))
    }

    /// Release an accepted packet whose last bit has left.
    #[inline]
    pub(crate) fn release(&mut self, memory: &mut Memory, now: Time, accepted: &Accepted) {
        let &Accepted { ref unit, vc, size } = accepted;
        self.counters.occupancy.fall(now, self.pool.total());
        self.pool.remove(vc, size);
        self.counters.departed(unit, vc);
        memory.release(self.account(unit, vc), &Leaving { now, unit, size, sent: true });
    }

    /// Put the port's packets, which the pool already counts, into its queue; the first one is in transmission.
    pub(crate) fn show<'a>(&mut self, mut packets: impl Iterator<Item = &'a Accepted>) {
        self.queues[ONLY_QUEUE] = Queue::default();
        let sending = |&Accepted { unit, vc, size }: &Accepted| Sending { unit, vc, size };
        self.sending = packets.next().map(sending);
        packets.for_each(|packet| {
            self.queues[ONLY_QUEUE].push(packet.unit);
        });
    }

    #[inline]
    fn account(&self, unit: &Unit, vc: PortVc) -> Account {
        self.share.as_ref().expect("a port that shares a memory").account(unit, vc)
    }
}
