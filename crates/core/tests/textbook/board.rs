//! The blackboard: the cells of a port in a list, with the counts that schemes need.

use std::fmt;

use pushout_core::rng::Subject;
use pushout_core::unit::{Flags, Unit};
use pushout_core::verdict::Reason;

/// A cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) vc: usize,
    pub(crate) frame: u32,
    pub(crate) index: u16,
    pub(crate) first: bool,
    pub(crate) eom: bool,
    pub(crate) marked: bool,
    /// It belongs to the last packet of its block.
    pub(crate) block_end: bool,
    /// Its transport reacts to congestion marks, and it bears one.
    pub(crate) ect: bool,
    pub(crate) ce: bool,
    /// It bears ECT(1).
    pub(crate) ect1: bool,
}

impl fmt::Display for Cell {
    /// Write circuit, frame and place, with a mark for the first cell of a frame, for the last, and for one with a
    /// congestion mark.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cell { vc, frame, index, first, eom, ce, .. } = self;
        let mark = |is_set: &bool, mark: &'static str| if *is_set { mark } else { "" };
        let (first, eom, ce) = (mark(first, "<"), mark(eom, ">"), mark(ce, "!"));
        write!(formatter, "{vc}:{first}{frame}.{index}{eom}{ce}")
    }
}

impl Cell {
    /// Return the subject of its random numbers.
    pub(crate) fn subject(&self) -> Subject {
        Subject::unit(self.vc as u32, self.frame, self.index)
    }
}

impl From<Unit> for Cell {
    fn from(unit: Unit) -> Cell {
        Cell {
            vc: unit.vc.index(),
            frame: unit.frame,
            index: unit.index,
            first: unit.is_first(),
            eom: unit.is_eom(),
            marked: unit.is_marked(),
            block_end: unit.flags.has(Flags::BLOCK_END),
            ect: unit.is_ect(),
            ce: unit.is_ce(),
            ect1: unit.flags.has(Flags::L4S),
        }
    }
}

/// Content of a port's buffer, and the cells lost since the last call.
#[derive(Clone, Debug)]
pub(crate) struct Board {
    /// Capacity B in cells.
    pub(crate) capacity: usize,
    /// Cells that wait, in the order of their arrivals.
    pub(crate) waiting: Vec<Cell>,
    /// The cell in transmission: it still counts, but cannot be removed.
    pub(crate) sending: Option<Cell>,
    pub(crate) lost: Vec<(Cell, Reason)>,
    /// Cells that the port has lost for the arriving cell, for models that leave the choice to it.
    pub(crate) heard: Vec<Cell>,
    /// For every circuit the cell that was the last to start.
    pub(crate) last: Vec<Option<Cell>>,
    /// The time in ps.
    pub(crate) now: u64,
}

impl Board {
    pub(crate) fn new(capacity: usize, vcs: usize) -> Board {
        Board {
            capacity,
            waiting: Vec::new(),
            sending: None,
            lost: Vec::new(),
            heard: Vec::new(),
            last: vec![None; vcs],
            now: 0,
        }
    }

    fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.waiting.iter().chain(&self.sending)
    }

    /// X: cells in the buffer.
    pub(crate) fn total(&self) -> usize {
        self.cells().count()
    }

    /// Xᵢ: cells of a circuit.
    pub(crate) fn of(&self, vc: usize) -> usize {
        self.cells().filter(|cell| cell.vc == vc).count()
    }

    /// N_a: circuits with cells.
    pub(crate) fn active(&self) -> usize {
        (0..self.last.len()).filter(|&vc| self.of(vc) > 0).count()
    }

    pub(crate) fn fits(&self) -> bool {
        self.total() < self.capacity
    }

    /// The queue of a circuit, head first.
    pub(crate) fn queue(&self, vc: usize) -> Vec<Cell> {
        self.waiting.iter().filter(|cell| cell.vc == vc).copied().collect()
    }

    pub(crate) fn accept(&mut self, cell: Cell) {
        self.waiting.push(cell);
    }

    pub(crate) fn lose(&mut self, cell: Cell, reason: Reason) {
        self.lost.push((cell, reason));
    }

    /// Remove a waiting cell from its queue and lose it.
    pub(crate) fn remove(&mut self, cell: Cell, reason: Reason) {
        self.waiting.retain(|other| *other != cell);
        self.lose(cell, reason);
    }

    /// Return whether the receiver has a part of this frame, or will have.
    pub(crate) fn has_begun(&self, cell: Cell) -> bool {
        self.last[cell.vc].is_some_and(|last| last.frame == cell.frame)
    }

    /// Return whether the receiver is collecting a packet of this circuit: its last cell was not an EOM.
    pub(crate) fn is_collecting(&self, vc: usize) -> bool {
        self.last[vc].is_some_and(|last| !last.eom)
    }
}

impl fmt::Display for Board {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cells =
            |cells: &mut dyn Iterator<Item = &Cell>| cells.map(Cell::to_string).collect::<Vec<_>>().join(" ");
        let (waiting, sending) = (cells(&mut self.waiting.iter()), cells(&mut self.sending.iter()));
        write!(
            formatter,
            "[{waiting}], in transmission [{sending}], last of each [{}], at {} ps",
            cells(&mut self.last.iter().flatten()),
            self.now
        )
    }
}

/// A scheme on the blackboard.
pub(crate) trait Model {
    /// Accept or lose an arriving cell, and the cells that are removed for it.
    fn arrive(&mut self, board: &mut Board, cell: Cell);

    /// Record that a cell has left the buffer: its last bit was sent.
    fn left(&mut self, board: &Board, cell: Cell) {
        let _ = (board, cell);
    }

    /// Run the clock of the scheme; returns when it must run again.
    fn tick(&mut self, board: &Board) -> Option<u64> {
        let _ = board;
        None
    }

    /// Choose the waiting cell to be sent next: by default the first one.
    fn next(&mut self, board: &mut Board) -> Option<Cell> {
        board.waiting.first().copied()
    }
}
