//! The receiving end of a line with credits: the buffered units of each account, and the times at which credits are
//! due.

use super::{CreditReport, Terms, count};
use crate::link::control::Credit;
use crate::unit::Unit;
use crate::units::ids::{IdVec, PortVc};
use crate::units::{Span, Time};

/// The receiving end of a line with credits.
#[derive(Clone, Debug)]
pub struct CreditReceiver {
    terms: Terms,
    /// The account of every circuit.
    account_of: IdVec<PortVc, u32>,
    accounts: Vec<Books>,
    messages: Messages,
}

/// The receiver's state of one account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Books {
    /// Units in the buffer.
    pub held: u64,
    /// Largest number of units that were ever in the buffer.
    pub most: u64,
    /// Units that have left the buffer.
    pub forwarded: u64,
    /// Units that had left the buffer when the last credit was written.
    pub reported: u64,
}

/// The schedule of messages with credits.
#[derive(Clone, Copy, Debug, Default)]
struct Messages {
    /// The earliest start of the next message.
    next: Time,
    /// Whether a message waits for the line.
    is_called: bool,
    /// The account with which the search for the next account to report begins.
    turn: usize,
}

impl CreditReceiver {
    /// Build the receiving end of a line whose circuits have these accounts.
    pub fn new(terms: Terms, account_of: IdVec<PortVc, u32>) -> CreditReceiver {
        let accounts = vec![Books::default(); count(&account_of)];
        CreditReceiver { terms, account_of, accounts, messages: Messages::default() }
    }

    /// Return what the hop guarantees to each account.
    pub fn terms(&self) -> Terms {
        self.terms
    }

    /// Return the account of a circuit.
    pub(crate) fn account_of(&self, vc: PortVc) -> usize {
        self.account_of[vc] as usize
    }

    /// Return the receiver's total buffer for this line, in all accounts.
    pub fn room(&self) -> u64 {
        self.terms.room * self.accounts.len() as u64
    }

    /// Return the state of a circuit's account, for the audit.
    pub fn books(&self, vc: PortVc) -> Books {
        self.accounts[self.account_of[vc] as usize]
    }

    /// Count a unit of a circuit that arrives over the line.
    pub fn arrived(&mut self, vc: PortVc, unit: &Unit) {
        let books = &mut self.accounts[self.account_of[vc] as usize];
        books.held += self.terms.measure.size_of(unit);
        books.most = books.most.max(books.held);
    }

    /// Count a unit of a circuit that leaves the buffer; returns the credit cell to send, if one is due.
    pub fn left(&mut self, vc: PortVc, unit: &Unit) -> Option<Credit> {
        let account = self.account_of[vc];
        let (size, books) = (self.terms.measure.size_of(unit), &mut self.accounts[account as usize]);
        books.held = books.held.checked_sub(size).expect("an account holds what it gives up");
        books.forwarded += size;
        match self.terms.report {
            CreditReport::Cells { every, .. } if books.forwarded - books.reported >= every => {
                Some(self.report(account))
            }
            _ => None,
        }
    }

    /// If freed credits are to be reported and no message is scheduled, return when the next message must be sent.
    /// The caller then schedules it, and calls [`CreditReceiver::message`] when it starts.
    pub fn call(&mut self, now: Time) -> Option<Time> {
        let sends = matches!(self.terms.report, CreditReport::Messages { .. });
        if !sends || self.messages.is_called || self.next_account().is_none() {
            return None;
        }
        self.messages.is_called = true;
        Some(self.messages.next.max(now))
    }

    /// Start a message and return its content. The next message starts at least `spacing` later.
    pub fn message(&mut self, now: Time, spacing: Span) -> Credit {
        let account = self.next_account().expect("a message is called for when there is something to report");
        self.messages = Messages { next: now + spacing, is_called: false, turn: account + 1 };
        self.report(account as u32)
    }

    /// Return the next account, in turn, with units that have left and are not yet reported.
    fn next_account(&self) -> Option<usize> {
        let has_news = |account: &usize| self.accounts[*account].reported < self.accounts[*account].forwarded;
        let (turn, count) = (self.messages.turn, self.accounts.len());
        (turn..count).chain(0..turn.min(count)).find(has_news)
    }

    fn report(&mut self, account: u32) -> Credit {
        let books = &mut self.accounts[account as usize];
        books.reported = books.forwarded;
        Credit { account, forwarded: books.forwarded & self.terms.report.bits() }
    }
}
