//! The sending end of a hop: the units that each account may still send.

use super::{Credit, Terms, count};
use crate::metrics::state::Figure;
use crate::unit::Unit;

/// The sending end of a hop.
#[derive(Clone, Debug)]
pub struct Sender {
    terms: Terms,
    /// The account of every circuit.
    account_of: Vec<u32>,
    accounts: Vec<Account>,
}

/// The sender's state of one account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Units sent.
    pub sent: u64,
    /// Units that have left the receiver's buffer, as far as credits have reported.
    pub forwarded: u64,
}

impl Account {
    /// Return the units that may be behind the line.
    pub fn in_use(self) -> u64 {
        self.sent - self.forwarded
    }
}

impl Sender {
    /// A port that has sent nothing yet, with circuits of these accounts.
    pub fn new(terms: Terms, account_of: Vec<u32>) -> Sender {
        Sender { terms, accounts: vec![Account::default(); count(&account_of)], account_of }
    }

    /// List what each account may still send, and what it has behind the line, in the measure of the credits.
    pub fn state(&self) -> Vec<Figure> {
        let in_use = || self.accounts.iter().map(|account| account.in_use());
        let left = in_use().map(|in_use| (self.terms.room - in_use) as f64);
        let credits = Figure::of_queues("credits", left);
        credits.chain(Figure::of_queues("credits_in_use", in_use().map(|in_use| in_use as f64))).collect()
    }

    /// Return how much a circuit may send before the next credit.
    pub fn balance(&self, vc: usize) -> u64 {
        self.terms.room - self.account(vc).in_use()
    }

    /// Return whether a circuit may send a unit.
    pub fn lets(&self, vc: usize, unit: &Unit) -> bool {
        self.terms.measure.size_of(unit) <= self.balance(vc)
    }

    /// Count a unit of a circuit that is sent.
    pub fn sent(&mut self, vc: usize, unit: &Unit) {
        assert!(self.lets(vc, unit), "no unit without credit");
        self.accounts[self.account_of[vc] as usize].sent += self.terms.measure.size_of(unit);
    }

    /// Record a credit. Counts are compared by their difference, which is right even after one has wrapped to zero.
    pub fn credited(&mut self, credit: Credit) {
        let account = &mut self.accounts[credit.account as usize];
        let more = credit.forwarded.wrapping_sub(account.forwarded) & self.terms.report.bits();
        assert!(more <= account.in_use(), "credits only for what was sent");
        account.forwarded += more;
    }

    /// Return the state of a circuit's account, for the audit.
    pub fn account(&self, vc: usize) -> Account {
        self.accounts[self.account_of[vc] as usize]
    }
}
