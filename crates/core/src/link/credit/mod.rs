//! Credits, link by link: a port sends a cell of a circuit only if the next node has reserved room for it.
//!
//! The sending port of a hop holds a [`Sender`]; the receiver of its line, the next port of each circuit or the host
//! where it ends, answers through a [`Receiver`]. A cell that leaves the buffer there, sent or lost, frees its room;
//! hosts forward immediately. The [`Credit`] cells travel on the line in the other direction.
//!
//! One published scheme is one file. To add a scheme, write its file and add a line to the list below.

use crate::refused::Refused;
use crate::registry;
use crate::units::{Rate, Span};

registry! {
    /// Credits as a scenario asks for them.
    "credit" by "policy" {
        N23 = "n23" in n23,
    }
}

/// The properties of a hop that a credit scheme may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    /// Rate of the line that carries the data.
    pub rate: Rate,
    /// Rate of the line that carries the credits.
    pub back: Rate,
    /// Propagation delay both ways and the latency of both nodes.
    pub delay: Span,
}

/// The guarantee of a hop to each of its circuits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Cells of one circuit for which there is room behind the line.
    pub room: u64,
    /// Cells that must have left before the next credit cell.
    pub every: u64,
    /// Whether credit cells take time on the line that carries them.
    pub charge: bool,
}

/// A credit cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credit {
    /// The circuit, numbered within the sending port.
    pub vc: u32,
    /// Cells of it that have left the receiver's buffer since the start of the run.
    pub forwarded: u64,
}

impl Spec {
    /// The same with every parameter fixed for one hop, or the error in it.
    pub fn settled(&self, way: &Way) -> Result<Spec, Refused> {
        match self {
            Spec::N23(params) => params.settled(way).map(Spec::N23),
        }
    }

    /// The guarantee of a scheme with fixed parameters.
    pub fn terms(&self) -> Terms {
        match self {
            Spec::N23(params) => params.terms(),
        }
    }
}

/// The sending end of a hop: the balance of every circuit.
#[derive(Clone, Debug)]
pub struct Sender {
    room: u64,
    of: Vec<Account>,
}

/// The sender's state of one circuit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// Cells sent.
    pub sent: u64,
    /// Cells that have left the receiver's buffer, as far as credits have reported.
    pub forwarded: u64,
}

impl Sender {
    /// A port that has sent nothing yet, with `vcs` circuits.
    pub fn new(terms: Terms, vcs: usize) -> Sender {
        Sender { room: terms.room, of: vec![Account::default(); vcs] }
    }

    /// Cells of a circuit that may be sent before the next credit.
    pub fn balance(&self, vc: usize) -> u64 {
        let Account { sent, forwarded } = self.of[vc];
        self.room - (sent - forwarded)
    }

    /// A cell of a circuit is sent.
    pub(crate) fn sent(&mut self, vc: usize) {
        assert!(self.balance(vc) > 0, "no cell without credit");
        self.of[vc].sent += 1;
    }

    /// A credit has come back.
    pub(crate) fn credited(&mut self, credit: Credit) {
        let account = &mut self.of[credit.vc as usize];
        let possible = account.forwarded..=account.sent;
        assert!(possible.contains(&credit.forwarded), "credits only for what was sent");
        account.forwarded = credit.forwarded;
    }

    /// For the audit: the state of a circuit.
    pub fn account(&self, vc: usize) -> Account {
        self.of[vc]
    }
}

/// The receiving end of a hop: the cells of every circuit in the buffer, and when a credit is due.
#[derive(Clone, Debug)]
pub struct Receiver {
    terms: Terms,
    of: Vec<Books>,
}

/// The receiver's state of one circuit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Books {
    /// Cells in the buffer.
    pub held: u64,
    /// The most that have ever been.
    pub most: u64,
    /// Cells that have left it.
    pub forwarded: u64,
    /// Cells that had left it when the last credit cell was written.
    pub told: u64,
}

impl Receiver {
    /// The receiving end of a line with `vcs` circuits.
    pub fn new(terms: Terms, vcs: usize) -> Receiver {
        Receiver { terms, of: vec![Books::default(); vcs] }
    }

    /// The guarantee.
    pub fn terms(&self) -> Terms {
        self.terms
    }

    /// Cells of all circuits for which there is room.
    pub fn room(&self) -> u64 {
        self.terms.room * self.of.len() as u64
    }

    /// For the audit: the state of a circuit.
    pub fn books(&self, vc: usize) -> Books {
        self.of[vc]
    }

    /// A cell of a circuit has come over the line.
    pub(crate) fn arrived(&mut self, vc: usize) {
        let books = &mut self.of[vc];
        books.held += 1;
        books.most = books.most.max(books.held);
    }

    /// A cell of a circuit has left the buffer; returns the credit cell to send, if one is due.
    pub(crate) fn left(&mut self, vc: usize) -> Option<Credit> {
        let books = &mut self.of[vc];
        books.held = books.held.checked_sub(1).expect("a circuit holds what it gives up");
        books.forwarded += 1;
        if books.forwarded - books.told < self.terms.every {
            return None;
        }
        books.told = books.forwarded;
        Some(Credit { vc: vc as u32, forwarded: books.forwarded })
    }
}
