//! A port that shares a memory and whose engine computes the departure of each packet on arrival: the port counts its
//! units, but has no queue.

use super::offer::Offer;
use super::{ONLY_QUEUE, Port, Sending};
use crate::buffer::queue::Queue;
use crate::link::line::Sent;
use crate::memory::{Account, Leaving, Memory};
use crate::pace::TransmissionTime;
use crate::scheduler::Scheduler;
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
    /// Judge an arriving packet by the memory alone, and count it if it fits; the error is the reason for its loss. Only for a port that
    /// sends in order of arrival and accepts what fits.
    #[inline]
    pub(crate) fn take_in_ahead(
        &mut self,
        memory: &mut Memory,
        now: Time,
        unit: &Unit,
        vc: PortVc,
    ) -> Result<(), Reason> {
        self.counters.arrived(unit);
        let (size, account) = (self.size_of(unit), self.account(unit, vc));
        let Some(charge) = memory.offer(now, account, size, unit) else {
            self.counters.lost(Reason::Overflow);
            memory.note_loss(account);
            if let Some(share) = self.share.as_mut().filter(|_| memory.is_lossless(account)) {
                share.count_lossless_drop();
            }
            return Err(Reason::Overflow);
        };
        self.counters.occupancy.change(now, self.pool.total(), self.pool.total() + size);
        self.pool.add_ahead(vc, size); // the memory has found room
        memory.take_in(now, account, charge, size);
        Ok(())
    }

    /// Count an arriving packet if it fits into the port's own buffer; the error is the reason for its loss. Only for a port that accepts
    /// what fits.
    #[inline]
    pub(crate) fn take_in_alone(&mut self, now: Time, unit: &Unit, vc: PortVc) -> Result<(), Reason> {
        self.counters.arrived(unit);
        let size = self.size_of(unit);
        if !self.pool.fits(size) {
            self.counters.lost(Reason::Overflow);
            return Err(Reason::Overflow);
        }
        self.take_in(now, vc, size);
        Ok(())
    }

    /// Send a packet that has been taken in, which takes `pace`, on the free line.
    #[inline]
    pub(crate) fn send_ahead(&mut self, now: Time, unit: Unit, vc: PortVc, pace: &TransmissionTime) -> Sent {
        self.sending = Some(Sending { unit, vc, size: self.size_of(&unit) });
        self.line.send_for(now, pace)
    }

    /// Release the packet in transmission at a port with a buffer of its own: its last bit has left.
    #[inline]
    pub(crate) fn finish_alone(&mut self, now: Time) {
        let Sending { unit, vc, size } = self.sending.take().expect("a line finishes what it has started");
        self.leave(now, &unit, vc, size);
    }

    /// Release the packet in transmission, whose last bit has left.
    #[inline]
    pub(crate) fn finish_ahead(&mut self, memory: &mut Memory, now: Time) {
        let Sending { unit, vc, size } = self.sending.take().expect("a line finishes what it has started");
        self.release(memory, now, &Accepted { unit, vc, size });
    }

    /// Show these packets as the only queue.
    pub(crate) fn line_up_only(&mut self, waiting: impl Iterator<Item = Unit>) {
        let frames = self.share.as_ref().is_some_and(|share| share.keeps_frames());
        self.queues[ONLY_QUEUE] = if frames { Queue::of_frames() } else { Queue::default() };
        waiting.for_each(|unit| {
            self.queues[ONLY_QUEUE].push(unit);
        });
    }

    /// Put packets that the port has taken in into the only queue, which is empty.
    pub(crate) fn enqueue_ahead(&mut self, waiting: impl Iterator<Item = Unit>) {
        for unit in waiting {
            self.queues[ONLY_QUEUE].push(unit);
            self.scheduler.joined(ONLY_QUEUE);
        }
    }

    /// Take the first packet that waits out of the only queue; the port still counts it.
    pub(crate) fn take_first(&mut self) -> Option<Unit> {
        let unit = self.queues[ONLY_QUEUE].pop()?;
        let is_empty = self.queues[ONLY_QUEUE].is_empty();
        self.scheduler.left(ONLY_QUEUE, is_empty);
        Some(unit)
    }

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
