//! The sending end of a line with credits: the units that each account may still send.

use super::{Terms, count};
use crate::link::control::{Control, Credit};
use crate::link::gate::{Build, Gate, Policy, Site};
use crate::metrics::state::Figure;
use crate::unit::Unit;
use crate::units::Time;
use crate::units::ids::{IdVec, PortVc};

/// The sending end of a line with credits.
#[derive(Clone, Debug)]
pub struct CreditSender {
    terms: Terms,
    /// The account of every circuit.
    account_of: IdVec<PortVc, u32>,
    accounts: Vec<CreditAccount>,
}

/// The sender's state of one account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CreditAccount {
    /// Units sent.
    pub sent: u64,
    /// Units that have left the receiver's buffer, as far as credits have reported.
    pub forwarded: u64,
}

impl CreditAccount {
    /// Return the units that may still be on the line or at the receiver.
    pub fn in_use(self) -> u64 {
        self.sent - self.forwarded
    }
}

impl CreditSender {
    /// Build the sending end of a line whose circuits have these accounts; it has sent nothing yet.
    pub fn new(terms: Terms, account_of: IdVec<PortVc, u32>) -> CreditSender {
        CreditSender { terms, accounts: vec![CreditAccount::default(); count(&account_of)], account_of }
    }

    /// Return the credit gate among the gates of a port, if the port has one.
    pub fn among(gates: &[Policy]) -> Option<&CreditSender> {
        gates.iter().find_map(|gate| if let Policy::Credit(sender) = gate { Some(sender) } else { None })
    }

    /// Return how much a circuit may send before the next credit.
    pub fn balance(&self, vc: PortVc) -> u64 {
        self.terms.room - self.account(vc).in_use()
    }

    /// Record a credit. Counts are compared by their difference, which is right even after one has wrapped to zero.
    pub fn credited(&mut self, credit: Credit) {
        let account = &mut self.accounts[credit.account as usize];
        let more = credit.forwarded.wrapping_sub(account.forwarded) & self.terms.report.bits();
        assert!(more <= account.in_use(), "credits only for what was sent");
        account.forwarded += more;
    }

    /// Return whether a unit may be sent.
    pub(crate) fn lets(&self, unit: &Unit, vc: PortVc) -> bool {
        self.terms.measure.size_of(unit) <= self.balance(vc)
    }

    /// Return the state of a circuit's account, for the audit.
    pub fn account(&self, vc: PortVc) -> CreditAccount {
        self.accounts[self.account_of[vc] as usize]
    }
}

impl Build for CreditSender {
    fn build(site: &Site<'_>) -> Option<Self> {
        let credit = site.keys.credit.as_ref()?;
        Some(CreditSender::new(credit.terms(), credit.accounts(site.classes)))
    }
}

impl Gate for CreditSender {
    fn holds(&self) -> bool {
        true
    }

    fn opens(&self, now: Time, unit: &Unit, vc: PortVc) -> Time {
        if self.lets(unit, vc) { now } else { Time::NEVER }
    }

    fn starts(&mut self, ready: Time, unit: &Unit, vc: PortVc) -> Time {
        assert!(self.lets(unit, vc), "no unit without credit");
        self.accounts[self.account_of[vc] as usize].sent += self.terms.measure.size_of(unit);
        ready
    }

    fn receives(&mut self, _now: Time, control: Control) {
        if let Control::Credit(credit) = control {
            self.credited(credit);
        }
    }

    /// List the balance of each account, and the amount that it has on the line and at the receiver, in the measure
    /// of the credits.
    fn state(&self) -> Vec<Figure> {
        let in_use = || self.accounts.iter().map(|account| account.in_use());
        let left = in_use().map(|in_use| (self.terms.room - in_use) as f64);
        let credits = Figure::of_queues("credits", left);
        credits.chain(Figure::of_queues("credits_in_use", in_use().map(|in_use| in_use as f64))).collect()
    }
}
