//! # Source
//! Paper 004 (S. Chatterjee, W. Xiao, "Increasing throughput in ATM/B-ISDN using simple buffer management and selective
//! discarding"), sections 4.1, 4.2 and 6, figure 5.
//!
//! # Idea
//! A frame can spare FCF cells and a block BLF frames, because a code restores them. Above a threshold a gatekeeper
//! refuses marked cells (CLP = 1) that can be spared. A cell that cannot be spared is critical: it takes the place of
//! a queued cell that can, and a janitor then sweeps the queue once. In order, for a cell of frame f in block b:
//!
//! 1. CLP = 0: admit, if there is room; 2. gate open: admit; 3. FCF < 0, a dead frame: discard;
//! 4. FCF > 0: discard, FCF − 1; 5. FCF = 0, BLF > 0: discard with the rest of f, FCF = −1, BLF − 1;
//! 6. FCF = BLF = 0, or no room: give up (a) a cell of a dead frame, (b) a marked one of a frame with FCF > 0, (c) an
//!    unmarked one of such a frame, (d) a whole frame of a block with BLF > 0; without any, admit while there is room.
//!
//! # Parameters
//! `upper` (80 %, footnote 7): occupancy at which the gate closes; `lower` (40 %): at or below which it opens. `fcf`,
//! `blf`: budgets of circuits whose contract states none; by default what their code repairs (1 and 1 in the paper).
//! `order`: dead cells first (default) or after (c). `dead_frames`: discard their cells before any other test
//! (default), or only in the third. `sweep`: the janitor gives up everything it can (default), or stops below `upper`.
//! `rearm`: it works once until the occupancy is below `upper` (default), or until the gate opens.
//! `corrupted_blocks` (false): whether frames of a block beyond repair may go (section 4.1's "good candidates").
//! `pass_eom` (true): keep the EOM of a dead frame of which a part is queued or sent, if EOMs are all that delimits the
//! circuit's frames. `cache`: number of addresses in the candidate cache (64 in section 6); by default no limit.
//!
//! # Differences from the paper
//! The paper contradicts itself; the order above is our reading. Its flowchart looks for FCF > 0, its analysis for
//! FCF < 0: here both are candidates, dead ones first, which is never worse. "Uncorrupted" in the third test must
//! read "corrupted". "All the following cells" of a frame given up are discarded even if CLP = 0. The gate compares
//! the occupancy without the arriving cell, hence only at arrivals. Within each kind, the frame that has been a
//! candidate longest goes first, with its oldest cell. (d) takes frames of which no cell has been sent, and the
//! janitor takes one per circuit. Circuits without a code have FCF = BLF = 0. Losses at other switches are unknown
//! here. On packet links a unit is a frame. Where a port counts octets, several short ones may be given up for a long
//! one, in vain if together they are not long enough.
//!
//! # Complexity
//! Amortised constant per cell: every class of candidates is a list of frames that a frame joins once. The janitor's
//! step (d) is linear in the frames queued, once per sweep. With `cache` the search is linear in its size.

mod candidates;

use std::collections::VecDeque;

use super::{Admission, Arrival, Context, Departure, Displaced, Measure, Properties, Settled, Shortcuts};
use crate::buffer::context::Contract;
use crate::buffer::pool::Pool;
use crate::buffer::queue::Queue;
use crate::buffer::size::Level;
use crate::refused::{Refused, refuse};
use crate::unit::{Flags, Unit};
use crate::units::ids::{IdVec, PortVc};
use crate::verdict::{Reason, Verdict, Victim};
use crate::{choice, section};

use candidates::{Candidate, CandidateClass, Candidates, FrameId};

choice! {
    /// When cells of dead frames are candidates.
    pub enum Order {
        /// Before any other.
        DeadFirst = "dead-first",
        /// After the single cells that frames can spare, as the text names these first.
        SpareFirst = "spare-first",
    }
}

choice! {
    /// What happens to the arriving cells of a dead frame.
    pub enum DeadFrames {
        /// They are discarded.
        Discard = "discard",
        /// Unmarked ones are admitted, and marked ones while the gate is open.
        GateState = "gate",
    }
}

choice! {
    /// How much the janitor gives up in a sweep.
    pub enum Sweep {
        /// Every candidate, and one whole frame of each circuit.
        Everything = "everything",
        /// Until the occupancy is below the upper threshold.
        UntilUpper = "until-upper",
    }
}

choice! {
    /// When the janitor may sweep again.
    pub enum Rearm {
        /// After the occupancy has been below the upper threshold.
        BelowUpper = "below-upper",
        /// After the gate has opened.
        GateOpen = "gate-open",
    }
}

section! {
    /// Refuse and give up what codes can restore.
    pub struct Params {
        /// Occupancy at which the gatekeeper becomes active.
        pub upper: Level = Level::Percent(80.0),
        /// Occupancy at or below which it rests again.
        pub lower: Level = Level::Percent(40.0),
        /// Cells that a frame can spare; by default what the circuit's code repairs.
        pub fcf: Option<u32> = None,
        /// Frames that a block can spare; by default what the circuit's code repairs.
        pub blf: Option<u32> = None,
        /// When cells of dead frames are candidates.
        pub order: Order = Order::DeadFirst,
        /// What happens to the arriving cells of a dead frame.
        pub dead_frames: DeadFrames = DeadFrames::Discard,
        /// How much the janitor gives up in a sweep.
        pub sweep: Sweep = Sweep::Everything,
        /// When the janitor may sweep again.
        pub rearm: Rearm = Rearm::BelowUpper,
        /// Whether frames of blocks that are beyond repair may be given up.
        pub corrupted_blocks: bool = false,
        /// Keep the last cell of a dead frame as a delimiter where it is needed, if it fits.
        pub pass_eom: bool = true,
        /// Addresses that the candidate cache holds; by default every candidate is known.
        pub cache: Option<u32> = None,
    }
}

/// Gatekeeper and janitor at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    params: Params,
    measure: Measure,
    upper: u64,
    lower: u64,
    gate: GateState,
    janitor: Janitor,
    circuits: IdVec<PortVc, CircuitBudgets>,
    candidates: Candidates,
    /// Cells that the policy has chosen to lose and that are still queued, until the port removes them.
    doomed: VecDeque<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GateState {
    Open,
    Closed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Janitor {
    Ready,
    Sweeping,
    Done,
}

/// The budgets and the state of a circuit.
#[derive(Clone, Debug)]
struct CircuitBudgets {
    fcf: i32,
    blf: i32,
    /// Whether the circuit's packets form blocks.
    blocks: bool,
    /// Whether the loss of an EOM would cost the next frame as well.
    needs_eom: bool,
    /// Whether the next frame starts a block.
    block_ended: bool,
    /// Whether the circuit has lost a whole frame since the janitor began to sweep.
    swept: bool,
}

impl CircuitBudgets {
    fn new(params: &Params, contract: &Contract) -> CircuitBudgets {
        let blocks = contract.budget.is_some();
        let (fcf, blf) = contract.budget.map_or((0, 0), |budget| {
            let stated = |own: Option<u32>, policy: Option<u32>, code| own.or(policy).unwrap_or(code);
            let fcf = stated(budget.cells, params.fcf, budget.parity_cells);
            (fcf, stated(budget.packets, params.blf, budget.parity_packets))
        });
        let sequenced = contract.budget.is_some_and(|budget| budget.parity_cells > 0);
        CircuitBudgets {
            fcf: i32::try_from(fcf).unwrap_or(i32::MAX),
            blf: i32::try_from(blf).unwrap_or(i32::MAX),
            blocks,
            needs_eom: params.pass_eom && !sequenced,
            block_ended: true,
            swept: false,
        }
    }
}

impl Policy {
    /// Build the policy of one port; the error says why it cannot work there.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        let (upper, lower) = (context.level("upper", params.upper)?, context.level("lower", params.lower)?);
        if lower > upper {
            return refuse(
                "lower",
                format!("{lower} is above the upper threshold of {upper} {}", context.measure.word()),
            );
        }
        if params.fcf.is_some_and(|fcf| fcf > 0) && context.measure != Measure::Cells {
            return refuse("fcf", "cannot be set on packet links, where a frame is a single unit");
        }
        if params.cache == Some(0) {
            return refuse("cache", "must be at least 1; a cache holds at least one address");
        }
        Ok(Policy {
            params: params.clone(),
            measure: context.measure,
            upper,
            lower,
            gate: GateState::Open,
            janitor: Janitor::Ready,
            circuits: context
                .contracts
                .iter()
                .map(|contract| CircuitBudgets::new(params, contract))
                .collect(),
            candidates: Candidates::new(context.vcs(), params.corrupted_blocks, params.cache),
            doomed: VecDeque::new(),
        })
    }

    /// Update the states of gate and janitor from the occupancy that an arriving cell meets.
    fn set_gate_and_janitor(&mut self, total: u64) {
        if total >= self.upper {
            self.gate = GateState::Closed;
        } else if total <= self.lower {
            self.gate = GateState::Open;
        }
        let rested = match self.params.rearm {
            Rearm::GateOpen => self.gate == GateState::Open,
            Rearm::BelowUpper => total < self.upper,
        };
        if rested {
            self.janitor = Janitor::Ready;
        }
    }

    /// Return the frame to which an arriving unit belongs. The first unit of a frame opens a new one with its full
    /// FCF, and the first frame of a block a new block with its full BLF.
    fn frame_of(&mut self, unit: &Unit, vc: PortVc) -> FrameId {
        let circuit = &mut self.circuits[vc];
        if unit.is_first() {
            let new_block = circuit.block_ended || !circuit.blocks;
            self.candidates.open(vc, circuit.fcf, new_block.then_some(circuit.blf));
            circuit.block_ended = false;
        }
        circuit.block_ended |= unit.flags.has(Flags::BLOCK_END);
        self.candidates.newest(vc)
    }

    /// Decide about a cell by steps 1 to 6 of the scheme.
    fn decide(&mut self, arrival: &Arrival<'_>, id: FrameId) -> Verdict {
        let unit = arrival.unit;
        let fcf = self.candidates.fcf(id);
        let dead = fcf < 0;
        let needs_eom = self.circuits[arrival.vc].needs_eom;
        let delimiter = needs_eom && unit.is_eom() && self.candidates.is_touched(id);
        if dead && delimiter {
            return if arrival.fits() { Verdict::Accept } else { Verdict::Discard(Reason::Overflow) };
        }
        if dead && self.params.dead_frames == DeadFrames::Discard {
            return Verdict::Discard(Reason::Partial);
        }
        if arrival.fits() && (!unit.is_marked() || self.gate == GateState::Open) {
            return Verdict::Accept; // steps 1 and 2
        }
        if dead {
            return Verdict::Discard(Reason::Partial); // step 3
        }
        let may_go = unit.is_marked() && !delimiter;
        if may_go && fcf > 0 {
            self.candidates.spend(id); // step 4
            return Verdict::Discard(Reason::Gatekeeper);
        }
        if may_go && self.candidates.spares_frame(id) {
            self.candidates.kill(id); // step 5
            return Verdict::Discard(Reason::Gatekeeper);
        }
        self.squeeze_in(arrival, id)
    }

    /// Remove candidates until a critical cell, or a cell that found no room, fits (step 6); a packet may need
    /// several.
    fn squeeze_in(&mut self, arrival: &Arrival<'_>, id: FrameId) -> Verdict {
        let head = arrival.queue.positions().start;
        let mut freed = 0;
        while self.doomed.is_empty() || !arrival.pool.fits(arrival.size.saturating_sub(freed)) {
            let Some(victim) = self.candidate(head, false) else {
                return self.without_candidate(arrival, id);
            };
            let before = self.doomed.len();
            self.call_janitor(arrival.pool);
            self.give_up(victim);
            let given_up = self.doomed.iter().skip(before).filter_map(|position| arrival.queue.at(*position));
            freed += given_up.map(|unit| self.measure.size_of(&unit)).sum::<u64>();
            if victim.frame == id && self.candidates.fcf(id) < 0 {
                return Verdict::Discard(Reason::Janitor); // its own frame goes, and so does the arriving cell
            }
        }
        let first = self.doomed.pop_front().expect("a candidate has a queued cell");
        Verdict::Replace(Victim::At(first), Reason::Janitor)
    }

    /// Judge a cell of step 6 where the queue holds no candidate to remove.
    fn without_candidate(&mut self, arrival: &Arrival<'_>, id: FrameId) -> Verdict {
        if arrival.fits() {
            return Verdict::Accept;
        }
        match self.candidates.fcf(id) > 0 {
            true => self.candidates.spend(id),
            false => self.candidates.kill(id),
        }
        Verdict::Discard(Reason::Overflow)
    }

    /// Start a sweep of the janitor at a critical cell, if the janitor is ready and the occupancy requires it.
    fn call_janitor(&mut self, pool: &Pool) {
        if self.janitor == Janitor::Ready && self.has_to_sweep(pool) {
            self.janitor = Janitor::Sweeping;
            self.circuits.iter_mut().for_each(|circuit| circuit.swept = false);
        }
    }

    /// Choose the next candidate in the order of step 6; in a sweep, circuits that have lost a frame are skipped.
    fn candidate(&mut self, head: u64, sweep: bool) -> Option<Candidate> {
        let order = match self.params.order {
            Order::DeadFirst => [
                CandidateClass::Dead,
                CandidateClass::Marked,
                CandidateClass::Unmarked,
                CandidateClass::Whole,
            ],
            Order::SpareFirst => [
                CandidateClass::Marked,
                CandidateClass::Unmarked,
                CandidateClass::Dead,
                CandidateClass::Whole,
            ],
        };
        let circuits = &self.circuits;
        order.into_iter().find_map(|class| {
            let passed = |vc: PortVc| sweep && class == CandidateClass::Whole && circuits[vc].swept;
            self.candidates.find(class, head, passed)
        })
    }

    /// Return whether the occupancy requires the janitor.
    fn has_to_sweep(&self, pool: &Pool) -> bool {
        self.params.sweep == Sweep::Everything || pool.total() >= self.upper
    }

    /// Mark the cells of a candidate for removal by the port.
    fn give_up(&mut self, candidate: Candidate) {
        let id = candidate.frame;
        if candidate.class == CandidateClass::Whole {
            self.circuits[id.vc()].swept = true;
            self.candidates.kill(id);
            return self.candidates.clear(id, &mut self.doomed);
        }
        if candidate.class != CandidateClass::Dead {
            self.candidates.spend(id);
        }
        self.candidates.take(candidate);
        self.doomed.push_back(candidate.position);
    }
}

impl Admission for Policy {
    fn judge(&mut self, arrival: &mut Arrival<'_>) -> Verdict {
        self.set_gate_and_janitor(arrival.pool.total());
        let id = self.frame_of(arrival.unit, arrival.vc);
        self.decide(arrival, id)
    }

    fn settled(&mut self, unit: &Unit, vc: PortVc, end: Settled) {
        if let Settled::Queued { position } = end {
            let keep = self.circuits[vc].needs_eom && unit.is_eom();
            self.candidates.queued(vc, position, unit.is_marked(), keep);
        }
    }

    fn sweep(&mut self, queue: &Queue, pool: &Pool) -> Option<(u64, Reason)> {
        if self.doomed.is_empty() && self.janitor == Janitor::Sweeping {
            let head = queue.positions().start;
            match self.has_to_sweep(pool).then(|| self.candidate(head, true)).flatten() {
                Some(candidate) => self.give_up(candidate),
                None => self.janitor = Janitor::Done,
            }
        }
        self.doomed.pop_front().map(|position| (position, Reason::Janitor))
    }

    fn departed(&mut self, departure: &Departure<'_>) {
        match departure.position {
            Some(position) => self.candidates.lost(departure.vc, position),
            None if departure.accepted => self.candidates.sent(departure.vc),
            None => {}
        }
    }

    fn properties(&self) -> Properties {
        Properties {
            displaces: Displaced::Any,
            one_queue: true,
            splits_frames: true,
            ..Properties::default()
        }
    }
}

impl Shortcuts for Policy {}

#[cfg(test)]
mod tests;
