//! # Source
//! D. Wu, H. J. Chao, "Buffer management and scheduling schemes for TCP/IP over ATM-GFR" (paper 003), sections 3.1 and
//! 4.3.5, equation (12); L. Zhang, "VirtualClock: a new traffic control algorithm for packet switching networks", ACM
//! TOCS 9(2), 1991, for the other way to keep a minimum rate.
//!
//! # Idea
//! Weighted round robin gives every circuit its minimum cell rate (MCR), round robin shares the rest. A slot goes to
//! the next circuit that has cells and is owed one; if there is none, to the next circuit that has cells. So unused
//! guarantees are shared like the excess, and the line is never idle while a cell waits.
//!
//! With the virtual clock, "next" is the circuit among those that are owed a cell whose following cell falls due
//! first: VirtualClock serves the cell with that time stamp. A circuit that always has cells then gets its MCR at any
//! load of the line. With credits it certainly does as long as the MCRs leave one cell for each circuit and one more
//! in every period. On a fuller line a part of what it is owed may be dropped at the end of a period, and a warning
//! names the shortest period that suffices.
//!
//! # Parameters
//! `realisation` says when a circuit is owed a cell: with `credits` (default) it receives `MCR · period / 424 bit`
//! credits at the start of every `period` (default 1 ms, paper 003's T) and a guaranteed cell costs one; with
//! `virtual-clock` its cells fall due one by one, 424 bit / MCR apart.
//! `carry`: with `exact` (default) a circuit that was served late, or whose credits are no whole number, keeps up to one
//! cell of what it is owed; with `floor` it keeps nothing, and credits are rounded down to whole cells (under
//! `virtual-clock` the next cell falls due a full interval after the last one was sent), so that it may get less than its
//! MCR.
//! `mcr_plus` (default off) raises every MCR by its share of the bandwidth `reserved` (default 10 % of the line's rate):
//!
//! > MCR'ᵢ = MCRᵢ + reserved · MCRᵢ / Σ MCR  (12)
//!
//! where the sum runs over all circuits with a contract, idle ones too. `layer`: an MCR is a rate of `cells` on the line
//! (default) or of application octets in full frames (`tcp`).
//!
//! # Differences from the paper
//! The paper does not say how weights become slots, nor at which layer it promises MCRs: hence `realisation`, `carry`
//! and `layer`. Of its tables the exact credits and the cell layer explain most. A cell sent in excess costs nothing.
//!
//! # Complexity
//! Per cell constant with credits, and once a period one step per circuit with cells; with the virtual clock the
//! logarithm of the number of circuits per guaranteed cell, and one step for every circuit that is owed one then. One step
//! more for every queue that has no credit to send.

mod credits;

mod promise;

mod virtual_clock;

use super::{Context, Place, Queues, Scheduler, shares};
use crate::buffer::context::Contract;
use crate::buffer::ring::Ring;
use crate::buffer::set::NumberSet;
use crate::buffer::size::Measure;
use crate::refused::{Refused, unfit};
use crate::units::ids::QueueId;
use crate::units::{CELL_BYTES, PartsPerMillion, Rate, Span, Time};
use crate::{choice, section};

use credits::Credits;
pub(crate) use promise::broken;
use virtual_clock::VirtualClock;

choice! {
    /// When a circuit is owed a cell.
    pub enum Realisation {
        /// Credits in every period.
        Credits = "credits",
        /// Cells fall due one by one.
        VirtualClock = "virtual-clock",
    }
}

choice! {
    /// How the fraction of a cell that a circuit is owed is treated.
    pub enum Carry {
        /// Up to one cell is kept.
        Exact = "exact",
        /// Nothing is kept.
        Floor = "floor",
    }
}

choice! {
    /// What a minimum cell rate counts.
    pub enum Layer {
        /// Cells on the line, headers included.
        Cells = "cells",
        /// Application octets in full frames.
        Tcp = "tcp",
    }
}

section! {
    /// Minimum cell rates by weighted round robin, the excess by round robin.
    pub struct Params {
        /// When a circuit is owed a cell.
        pub realisation: Realisation = Realisation::Credits,
        /// Time between two rounds of credits.
        pub period: Span = Span::millis(1),
        /// How the fraction of a cell that a circuit is owed is treated.
        pub carry: Carry = Carry::Exact,
        /// Whether to raise every MCR by its share of the reserved bandwidth.
        pub mcr_plus: bool = false,
        /// Bandwidth that MCR+ distributes, as a share of the line's rate.
        pub reserved: PartsPerMillion = PartsPerMillion(100_000),
        /// What a minimum cell rate counts.
        pub layer: Layer = Layer::Cells,
    }
}

/// How this scheduler divides units into queues.
pub const QUEUES: Queues = Queues::PerCircuit;

/// Whether this scheduler counts octets.
pub const COUNTS_OCTETS: bool = false;

/// Weighted round robin at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    guarantees: Guarantees,
    /// Circuits with cells to which a cell is owed.
    owed: Ring,
    /// Circuits with waiting cells.
    busy: Ring,
    /// Whether no circuit has a minimum cell rate.
    plain: bool,
}

/// The cells that are owed to circuits, as of the last call of [`Guarantees::advance`].
#[derive(Clone, Debug)]
enum Guarantees {
    Credits(Credits),
    VirtualClock(VirtualClock),
}

impl Policy {
    /// Build the scheduler of one port; the error says why the rates cannot be guaranteed there.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        let rates = guaranteed(params, context)?;
        let guarantees = match params.realisation {
            Realisation::Credits => Guarantees::Credits(Credits::new(&rates, params.period, params.carry)?),
            Realisation::VirtualClock => Guarantees::VirtualClock(VirtualClock::new(&rates, params.carry)),
        };
        let plain = rates.iter().all(|rate| *rate == Rate(0));
        Ok(Policy { guarantees, owed: Ring::new(context.vcs()), busy: Ring::new(context.vcs()), plain })
    }
}

impl Scheduler for Policy {
    fn joined(&mut self, queue: QueueId) {
        self.busy.insert(queue);
        if !self.plain && self.guarantees.owes(queue) {
            self.owed.insert(queue);
        }
    }

    fn left(&mut self, queue: QueueId, empty: bool) {
        if empty {
            self.busy.remove(queue);
            self.owed.remove(queue);
        }
    }

    fn next(&mut self, now: Time, may_send: &mut dyn FnMut(QueueId) -> bool) -> Option<QueueId> {
        self.pick(now, may_send)
    }

    #[inline]
    fn turn(&mut self, now: Time) -> Option<QueueId> {
        self.pick(now, |_| true)
    }

    fn rounds(&mut self, now: Time, most: usize, round: &mut Vec<Place>) -> Time {
        if self.plain {
            self.busy.rounds(most, round);
            return Time::NEVER;
        }
        self.guarantees.advance(now, self.busy.members(), &mut self.owed);
        if self.owed.members().is_empty() {
            self.busy.rounds(most, round);
        } else if let Guarantees::Credits(credits) = &self.guarantees {
            self.owed.rounds(most, round);
            round.iter_mut().for_each(|place| place.cells = Some(credits.cells(place.queue)));
        }
        self.guarantees.next_advance()
    }

    fn went_round(&mut self, round: &[Place], slots: u64) {
        match &mut self.guarantees {
            Guarantees::Credits(credits) if !self.owed.members().is_empty() => {
                self.owed.went_round(round, slots);
                for (place, cells) in round.iter().zip(shares(round.len(), slots)) {
                    credits.charge(place.queue, cells);
                    if !credits.owes(place.queue) {
                        self.owed.remove(place.queue);
                    }
                }
            }
            _ => self.busy.went_round(round, slots),
        }
    }

    fn goes_by_turns(&self) -> bool {
        true
    }
}

impl Policy {
    #[inline]
    fn pick(&mut self, now: Time, mut may_send: impl FnMut(QueueId) -> bool) -> Option<QueueId> {
        if self.plain {
            return self.busy.next(may_send);
        }
        self.guarantees.advance(now, self.busy.members(), &mut self.owed);
        let owed = match &self.guarantees {
            Guarantees::Credits(_) => self.owed.next(&mut may_send),
            Guarantees::VirtualClock(clock) => clock.first(self.owed.members(), &mut may_send),
        };
        let Some(queue) = owed else { return self.busy.next(may_send) };
        self.guarantees.charge(queue, now);
        if !self.guarantees.owes(queue) {
            self.owed.remove(queue);
        }
        Some(queue)
    }
}

impl Guarantees {
    /// Advance to `now`: add those of the `busy` circuits to the ring `owed` to which a cell has become owed.
    #[inline]
    fn advance(&mut self, now: Time, busy: &NumberSet<QueueId>, owed: &mut Ring) {
        match self {
            Guarantees::Credits(credits) => credits.advance(now, busy, owed),
            Guarantees::VirtualClock(clock) => clock.advance(now, busy, owed),
        }
    }

    /// Return the instant at which [`Guarantees::advance`] must be called next.
    fn next_advance(&self) -> Time {
        match self {
            Guarantees::Credits(credits) => credits.end(),
            Guarantees::VirtualClock(clock) => clock.next_due(),
        }
    }

    /// Return whether the circuit is owed a cell.
    fn owes(&mut self, queue: QueueId) -> bool {
        match self {
            Guarantees::Credits(credits) => credits.owes(queue),
            Guarantees::VirtualClock(clock) => clock.owes(queue),
        }
    }

    /// Subtract one owed cell, which the circuit sends.
    fn charge(&mut self, queue: QueueId, now: Time) {
        match self {
            Guarantees::Credits(credits) => credits.charge(queue, 1),
            Guarantees::VirtualClock(clock) => clock.charge(queue, now),
        }
    }
}

/// Return the rates to guarantee, in bits per second on the line; the error says why that is impossible.
fn guaranteed(params: &Params, context: &Context<'_>) -> Result<Vec<Rate>, Refused> {
    if context.measure != Measure::Cells {
        return unfit(
            "wrr-mcr guarantees cell rates, but this port sends packets: give its link medium = \"cells\", or take another scheduler, such as \"drr\"",
        );
    }
    let on_line = |contract: &Contract| match params.layer {
        Layer::Cells => Ok(contract.mcr),
        Layer::Tcp => line_rate(contract),
    };
    let mut rates = context.contracts.iter().map(on_line).collect::<Result<Vec<Rate>, Refused>>()?;
    if params.mcr_plus {
        mcr_plus(&mut rates, params.reserved.of(context.rate));
    }
    let sum = rates.iter().fold(0u64, |sum, rate| sum.saturating_add(rate.0));
    match sum <= context.rate.0 {
        true => Ok(rates),
        false => unfit(format!(
            "the guaranteed rates add up to {}{} on a line of {}: lower the mcr of its flows, or give the link a higher rate",
            Rate(sum),
            if params.mcr_plus { ", reserved bandwidth included," } else { "" },
            context.rate
        )),
    }
}

/// Return the rate on the line that a circuit needs for its minimum rate in application octets.
fn line_rate(contract: &Contract) -> Result<Rate, Refused> {
    match contract.payload {
        _ if contract.mcr == Rate(0) => Ok(Rate(0)),
        None => unfit("a circuit of acknowledgements has no application octets to guarantee"),
        Some(payload) => Ok(contract.mcr.scaled(contract.frame * CELL_BYTES, payload)),
    }
}

/// Raise the rates by paper 003, equation (12).
fn mcr_plus(rates: &mut [Rate], reserved: Rate) {
    let sum: u64 = rates.iter().map(|rate| rate.0).sum();
    for rate in rates.iter_mut().filter(|rate| **rate > Rate(0)) {
        rate.0 += reserved.scaled(rate.0, sum).0;
    }
}

#[cfg(test)]
mod tests;
