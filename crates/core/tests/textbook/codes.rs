//! The scheme that loses cells which codes can restore: paper 004, section 4.2.
//!
//! Which of several candidates of one kind goes is the port's choice, as long as it is the oldest cell of its frame.

use std::collections::HashMap;

use pushout_core::transport::fec::Budget;
use pushout_core::verdict::Reason;

use crate::textbook::board::{Board, Cell, Model};
use crate::textbook::port::Scheme;
use crate::textbook::{Draw, compare};

/// A frame that has begun to arrive.
#[derive(Clone, Copy)]
struct Frame {
    /// Losses that it still allows, in cells; below 0 it is dead.
    fcf: i64,
    block: u32,
    /// True if a cell of it has been sent.
    sent: bool,
}

/// Kinds of cells to give up, in the order of step 6.
#[derive(Clone, Copy, PartialEq)]
enum Class {
    Dead,
    Marked,
    Unmarked,
    Whole,
}

struct GatekeeperJanitor {
    upper: usize,
    lower: usize,
    order: [Class; 4],
    keeps_dead_out: bool,
    sweeps_everything: bool,
    rearms_below_upper: bool,
    corrupted_blocks: bool,
    /// FCF and BLF of a new frame and block of every circuit, and whether only an EOM delimits its frames.
    budgets: Vec<(i64, i64)>,
    needs_eom: Vec<bool>,
    gate_closed: bool,
    janitor_ready: bool,
    frames: HashMap<(usize, u32), Frame>,
    /// The frame that every circuit is sending as far as a switch can infer, and the frame of which each frame is taken
    /// for a part.
    sending: Vec<u32>,
    taken_for: HashMap<(usize, u32), u32>,
    /// Losses that the blocks of a circuit still allow; the number of blocks that have begun, and whether the next
    /// frame begins another one.
    blocks: HashMap<(usize, u32), i64>,
    begun: Vec<u32>,
    block_ended: Vec<bool>,
    /// Circuits that have lost a whole frame since the janitor was called.
    swept: Vec<bool>,
}

impl GatekeeperJanitor {
    /// Return the frame of a cell as far as a switch can infer it: from the cell after an EOM to the next EOM.
    fn seen(&self, cell: &Cell) -> (usize, u32) {
        (cell.vc, self.taken_for[&(cell.vc, cell.frame)])
    }

    fn same_frame(&self, one: &Cell, other: &Cell) -> bool {
        self.seen(one) == self.seen(other)
    }

    fn frame(&mut self, cell: Cell) -> &mut Frame {
        let seen = self.seen(&cell);
        self.frames.get_mut(&seen).unwrap()
    }

    fn fcf(&self, cell: Cell) -> i64 {
        self.frames[&self.seen(&cell)].fcf
    }

    /// Start FCF anew, and BLF with the first frame of a block.
    fn begin(&mut self, cell: Cell) {
        let (fcf, blf) = self.budgets[cell.vc];
        if self.block_ended[cell.vc] {
            self.begun[cell.vc] += 1;
            self.blocks.insert((cell.vc, self.begun[cell.vc]), blf);
        }
        self.block_ended[cell.vc] = false;
        self.frames.insert((cell.vc, cell.frame), Frame { fcf, block: self.begun[cell.vc], sent: false });
    }

    /// Mark the frame of a cell as dead.
    fn kill(&mut self, cell: Cell) {
        let block = (cell.vc, self.frame(cell).block);
        self.frame(cell).fcf = -1;
        *self.blocks.get_mut(&block).unwrap() -= 1;
    }

    /// Return whether the block of a cell can spare its frame.
    fn spares_frame(&self, cell: Cell) -> bool {
        let blf = self.blocks[&(cell.vc, self.frames[&self.seen(&cell)].block)];
        blf > 0 || self.corrupted_blocks && blf < 0
    }

    /// Return whether the frames of a cell's circuit need it as a delimiter.
    fn ends(&self, cell: Cell) -> bool {
        self.needs_eom[cell.vc] && cell.eom
    }

    fn is_candidate(&self, cell: Cell, class: Class) -> bool {
        let fcf = self.fcf(cell);
        match class {
            Class::Dead => fcf < 0 && !self.ends(cell),
            Class::Marked => fcf > 0 && cell.marked && !self.ends(cell),
            Class::Unmarked => fcf > 0 && !cell.marked && !self.ends(cell),
            Class::Whole => {
                let sent = self.frames[&self.seen(&cell)].sent;
                fcf >= 0 && !sent && self.spares_frame(cell) && !self.swept[cell.vc]
            }
        }
    }

    /// Choose the cell to give up: of the first kind with candidates, the cell that the port has chosen, if it is the
    /// oldest of its frame.
    fn candidate(&self, board: &Board) -> Option<(Cell, Class)> {
        let next = board.heard.iter().find(|cell| board.waiting.contains(cell));
        self.order.iter().find_map(|&class| {
            let all: Vec<&Cell> =
                board.waiting.iter().filter(|cell| self.is_candidate(**cell, class)).collect();
            let oldest = |cell: &Cell| all.iter().find(|other| self.same_frame(cell, other)) == Some(&cell);
            let will_do = |cell: &Cell| class == Class::Whole || oldest(cell);
            let taken = all.iter().find(|cell| next == Some(**cell) && will_do(cell));
            taken.or(all.first()).map(|cell| (**cell, class))
        })
    }

    /// Return the cells that are lost with a candidate: itself, or all of its frame.
    fn give_up(&mut self, board: &Board, (cell, class): (Cell, Class)) -> Vec<Cell> {
        let mut cells: Vec<Cell> = match class {
            Class::Whole => {
                board.waiting.iter().filter(|other| self.same_frame(&cell, other)).copied().collect()
            }
            _ => vec![cell],
        };
        cells.sort_by_key(|cell| board.heard.iter().position(|taken| taken == cell)); // in whatever order they go
        match class {
            Class::Whole => {
                self.kill(cell);
                self.swept[cell.vc] = true;
            }
            Class::Marked | Class::Unmarked => self.frame(cell).fcf -= 1,
            Class::Dead => {}
        }
        cells
    }

    /// Put a critical cell, or one without room, in the place of a candidate (step 6).
    fn squeeze_in(&mut self, board: &mut Board, cell: Cell) {
        self.swept.fill(false);
        let Some(victim) = self.candidate(board) else {
            return self.without_candidate(board, cell);
        };
        let sweeps = self.janitor_ready && self.has_to_sweep(board);
        let mut doomed = self.give_up(board, victim).into_iter();
        if self.fcf(cell) < 0 {
            board.lose(cell, Reason::Janitor); // its own frame goes
        } else {
            board.remove(doomed.next().unwrap(), Reason::Janitor);
            board.accept(cell);
        }
        doomed.for_each(|gone| board.remove(gone, Reason::Janitor));
        if sweeps {
            self.janitor_ready = false;
            self.sweep(board);
        }
    }

    fn without_candidate(&mut self, board: &mut Board, cell: Cell) {
        if board.fits() {
            return board.accept(cell);
        }
        if self.fcf(cell) > 0 {
            self.frame(cell).fcf -= 1;
        } else {
            self.kill(cell);
        }
        board.lose(cell, Reason::Overflow);
    }

    fn has_to_sweep(&self, board: &Board) -> bool {
        self.sweeps_everything || board.total() >= self.upper
    }

    /// Run the janitor: one candidate after the other, and of each circuit one whole frame.
    fn sweep(&mut self, board: &mut Board) {
        while self.has_to_sweep(board) {
            let Some(victim) = self.candidate(board) else { return };
            for gone in self.give_up(board, victim) {
                board.remove(gone, Reason::Janitor);
            }
        }
    }
}

impl Model for GatekeeperJanitor {
    fn arrive(&mut self, board: &mut Board, cell: Cell) {
        let x = board.total();
        self.gate_closed = x >= self.upper || self.gate_closed && x > self.lower;
        self.janitor_ready |= if self.rearms_below_upper { x < self.upper } else { !self.gate_closed };
        if cell.first {
            self.sending[cell.vc] = cell.frame;
            self.begin(cell);
        }
        self.taken_for.insert((cell.vc, cell.frame), self.sending[cell.vc]);
        self.block_ended[cell.vc] |= cell.block_end;
        let (fcf, fits) = (self.fcf(cell), board.fits());
        let mut taken = board.last[cell.vc].iter().chain(&board.waiting);
        let has_part = taken.any(|other| self.same_frame(&cell, other));
        let delimiter = self.ends(cell) && has_part;
        let refusal = if fcf < 0 && delimiter {
            (!fits).then_some(Reason::Overflow)
        } else if fcf < 0 && self.keeps_dead_out {
            Some(Reason::Partial)
        } else if fits && (!cell.marked || !self.gate_closed) {
            None // steps 1 and 2
        } else if fcf < 0 {
            Some(Reason::Partial) // step 3
        } else if cell.marked && !delimiter && fcf > 0 {
            self.frame(cell).fcf -= 1; // step 4
            Some(Reason::Gatekeeper)
        } else if cell.marked && !delimiter && self.spares_frame(cell) {
            self.kill(cell); // step 5
            Some(Reason::Gatekeeper)
        } else {
            return self.squeeze_in(board, cell);
        };
        match refusal {
            Some(reason) => board.lose(cell, reason),
            None => board.accept(cell),
        }
    }

    fn next(&mut self, board: &mut Board) -> Option<Cell> {
        let cell = *board.waiting.first()?;
        self.frame(cell).sent = true;
        Some(cell)
    }
}

/// Random parameters, and circuits with codes.
fn gatekeeper_janitor(draw: &mut Draw) -> Scheme {
    let upper = draw.within(1, draw.capacity);
    let lower = draw.within(0, upper);
    let [keeps_dead_out, sweeps_everything, rearms_below_upper] = [(); 3].map(|()| draw.coin());
    let [corrupted_blocks, pass_eom, dead_first] = [(); 3].map(|()| draw.coin());
    let text = format!(
        "policy = \"gatekeeper-janitor\"\nupper = \"{upper} cells\"\nlower = \"{lower} cells\"\n\
         dead_frames = \"{}\"\nsweep = \"{}\"\nrearm = \"{}\"\norder = \"{}\"\n\
         corrupted_blocks = {corrupted_blocks}\npass_eom = {pass_eom}",
        if keeps_dead_out { "discard" } else { "gate" },
        if sweeps_everything { "everything" } else { "until-upper" },
        if rearms_below_upper { "below-upper" } else { "gate-open" },
        if dead_first { "dead-first" } else { "spare-first" },
    );
    for vc in 0..draw.contracts.len() {
        let (cells, packets) = (draw.within(0, 2) as u32, draw.within(0, 2) as u32);
        let codes = Budget { parity_cells: cells, parity_packets: packets, ..Budget::default() };
        draw.contracts[vc].budget = Some(codes);
    }
    let budgets: Vec<Budget> = draw.contracts.iter().filter_map(|contract| contract.budget).collect();
    let mut order = [Class::Dead, Class::Marked, Class::Unmarked, Class::Whole];
    if !dead_first {
        order[..3].rotate_left(1);
    }
    let model = GatekeeperJanitor {
        upper,
        lower,
        order,
        keeps_dead_out,
        sweeps_everything,
        rearms_below_upper,
        corrupted_blocks,
        budgets: budgets.iter().map(|own| (own.parity_cells.into(), own.parity_packets.into())).collect(),
        needs_eom: budgets.iter().map(|own| pass_eom && own.parity_cells == 0).collect(),
        gate_closed: false,
        janitor_ready: true,
        frames: HashMap::new(),
        sending: vec![0; budgets.len()],
        taken_for: HashMap::new(),
        blocks: HashMap::new(),
        begun: vec![0; budgets.len()],
        block_ended: vec![true; budgets.len()],
        swept: vec![false; budgets.len()],
    };
    Scheme::fifo(text, model)
}

#[test]
fn gatekeeper_and_janitor_give_up_first_what_codes_can_restore() {
    let lost = compare(gatekeeper_janitor);
    assert!(lost > 10_000, "{lost}");
}
