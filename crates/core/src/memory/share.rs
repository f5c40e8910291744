//! A port's share in a memory.

use std::sync::Arc;

use super::{Account, Charge, Leaving, Memory, Trim};
use crate::unit::Unit;
use crate::units::Time;
use crate::units::ids::{IdVec, MemoryId, PortVc};

/// The memory that a port shares, and the queues in which the circuits of the port are counted. The field `lent`
/// contains the memory itself, but only while the port runs.
#[derive(Clone, Debug)]
pub struct Share {
    number: MemoryId,
    accounts: Arc<IdVec<PortVc, Account>>,
    /// How packets of each circuit are cut that the memory refuses; empty if none are.
    trims: Arc<IdVec<PortVc, Option<Trim>>>,
    /// For each circuit whether the port has refused a unit of its arriving frame; empty unless the memory pushes out
    /// whole packets.
    spoilt: IdVec<PortVc, bool>,
    /// Packets lost at this port of classes that must lose nothing.
    lossless_drop: u64,
    lent: Option<Box<Memory>>,
    /// The room that the arriving packet takes, if it fits.
    charge: Option<Charge>,
}

impl Share {
    /// Build a share in memory `number`, with the queues of every circuit of the port.
    pub fn new(number: MemoryId, accounts: Arc<IdVec<PortVc, Account>>) -> Share {
        let (trims, spoilt) = (Arc::default(), IdVec::default());
        Share { number, accounts, trims, spoilt, lossless_drop: 0, lent: None, charge: None }
    }

    /// Return the share at a port that cuts packets of some classes that the memory refuses.
    pub fn with_trims(self, trims: Arc<IdVec<PortVc, Option<Trim>>>) -> Share {
        Share { trims, ..self }
    }

    /// Return whether the port cuts packets that the memory refuses.
    pub(crate) fn trims(&self) -> bool {
        !self.trims.is_empty()
    }

    /// Return how packets of a circuit are cut that the memory refuses, if they are.
    pub(crate) fn trim_of(&self, vc: PortVc) -> Option<Trim> {
        *self.trims.get(vc)?
    }

    /// Return the share with a record of refused frames, for a memory that pushes out whole packets.
    pub fn keeping_frames(self) -> Share {
        Share { spoilt: vec![false; self.accounts.len()].into(), ..self }
    }

    /// Return whether the port records refused frames for its memory.
    pub(crate) fn keeps_frames(&self) -> bool {
        !self.spoilt.is_empty()
    }

    /// Return the number of the memory.
    pub fn number(&self) -> MemoryId {
        self.number
    }

    /// Return the queues in which each circuit is counted.
    pub fn accounts(&self) -> &IdVec<PortVc, Account> {
        &self.accounts
    }

    /// Return the queues in which packets of the port are counted in the pools of their classes, headers included.
    pub(crate) fn queues(&self) -> impl Iterator<Item = usize> {
        let own = self.accounts.iter().flat_map(|account| [account.queue(), account.unscheduled()]);
        own.chain(self.trims.iter().flatten().filter_map(|trim| Some(trim.account?.queue())))
    }

    /// Return the queues in which a unit of a circuit is counted.
    #[inline]
    pub(crate) fn account(&self, unit: &Unit, vc: PortVc) -> Account {
        if unit.is_cut() {
            return self.account_of_headers(unit, vc);
        }
        self.accounts[vc].of(unit)
    }

    /// Return the queues in which headers are counted: those of their own class, if they have one.
    #[cold]
    fn account_of_headers(&self, unit: &Unit, vc: PortVc) -> Account {
        let own = self.trim_of(vc).and_then(|trim| trim.account);
        own.unwrap_or_else(|| self.accounts[vc].of(unit))
    }

    /// Swap the content of `lent` and the memory's entry in `memories`, to lend the memory or to return it.
    #[inline]
    pub(crate) fn swap(&mut self, memories: &mut IdVec<MemoryId, Option<Box<Memory>>>) {
        std::mem::swap(&mut self.lent, &mut memories[self.number]);
    }

    fn memory(&mut self) -> &mut Memory {
        self.lent.as_deref_mut().expect("a port has its memory while it works")
    }

    /// Report an arriving packet to the memory; returns whether it fits.
    pub(crate) fn offer(&mut self, now: Time, unit: &Unit, vc: PortVc, size: u64) -> bool {
        let account = self.account(unit, vc);
        self.charge = self.memory().offer(now, account, size, unit);
        self.charge.is_some()
    }

    /// Return whether a packet that has arrived fits now.
    pub(crate) fn admits(&mut self, now: Time, unit: &Unit, vc: PortVc, size: u64) -> bool {
        let account = self.account(unit, vc);
        self.charge = self.memory().admits(now, account, size, unit);
        self.charge.is_some()
    }

    /// Return whether the headers of a packet that does not fit have room: within the limits of their class if they have
    /// one of their own, else beyond those of the packet.
    pub(crate) fn admits_headers(&mut self, now: Time, unit: &Unit, vc: PortVc, size: u64) -> bool {
        if unit.is_cut() && self.trim_of(vc).is_some_and(|trim| trim.account.is_some()) {
            return self.admits(now, unit, vc, size);
        }
        let account = self.account(unit, vc);
        self.charge = self.memory().admits_headers(account, size);
        self.charge.is_some()
    }

    /// Count a packet that was cut to its headers.
    pub(crate) fn note_trim(&mut self, unit: &Unit, vc: PortVc) {
        let account = self.account(unit, vc);
        self.memory().note_trim(account);
    }

    /// Count a packet that fits in the memory.
    pub(crate) fn take_in(&mut self, now: Time, unit: &Unit, vc: PortVc, size: u64) {
        let charge = self.charge.take().expect("only what fits is taken in");
        let account = self.account(unit, vc);
        self.memory().take_in(now, account, charge, size);
    }

    pub(crate) fn release(&mut self, vc: PortVc, leaving: &Leaving<'_>) {
        let account = self.account(leaving.unit, vc);
        self.memory().release(account, leaving);
    }

    /// Return whether the port has refused a unit of the arriving frame, so that push-out for its rest would be in vain.
    pub(crate) fn is_rest(&mut self, unit: &Unit, vc: PortVc) -> bool {
        let Some(spoilt) = self.spoilt.get_mut(vc) else { return false };
        *spoilt &= !unit.is_first();
        *spoilt
    }

    /// Record that the port has refused a unit of a circuit's arriving frame.
    pub(crate) fn note_refusal(&mut self, vc: PortVc) {
        if let Some(spoilt) = self.spoilt.get_mut(vc) {
            *spoilt = true;
        }
    }

    pub(crate) fn note_loss(&mut self, unit: &Unit, vc: PortVc) {
        let account = self.account(unit, vc);
        self.memory().note_loss(account);
        if self.memory().is_lossless(account) {
            self.count_lossless_drop();
        }
    }

    /// Count a lost packet of a class that must lose nothing.
    pub(crate) fn count_lossless_drop(&mut self) {
        self.lossless_drop += 1;
    }

    /// Return the packets lost at the port of classes that must lose nothing, since the last reset.
    pub fn lossless_drop(&self) -> u64 {
        self.lossless_drop
    }

    /// Reset the counters.
    pub(crate) fn reset_counters(&mut self) {
        self.lossless_drop = 0;
    }

    pub(crate) fn note_pushed_out(&mut self, unit: &Unit, vc: PortVc) {
        let account = self.account(unit, vc);
        self.memory().note_pushed_out(account, unit.bytes.into());
    }

    pub(crate) fn note_mark(&mut self, unit: &Unit, vc: PortVc) {
        let account = self.account(unit, vc);
        self.memory().note_mark(account);
    }
}
