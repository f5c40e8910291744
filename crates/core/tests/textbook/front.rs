//! The scheme that loses the cells that have waited longest.

use pushout_core::verdict::Reason;

use crate::textbook::board::{Board, Cell, Model};
use crate::textbook::compare;
use crate::textbook::port::Scheme;

struct DropFromFront {
    /// For the frame form: the last frame of each circuit that has lost a cell, and whether the receiver has a part of
    /// it.
    broken: Vec<Option<(u32, bool)>>,
    by_frames: bool,
    pass_eom: bool,
}

impl DropFromFront {
    /// Return whether a cell belongs to a frame that has lost one, and is not a needed delimiter.
    fn is_rest(&self, cell: Cell) -> bool {
        let Some((frame, sent)) = self.broken[cell.vc] else { return false };
        self.by_frames && frame == cell.frame && !(cell.eom && sent && self.pass_eom)
    }

    /// Mark the frame of a cell as broken, if the receiver has a part of it, or of a frame before it which it seems to
    /// continue.
    fn spoil(&mut self, board: &Board, cell: Cell) {
        if self.broken[cell.vc].is_none_or(|(frame, _)| frame != cell.frame) {
            self.broken[cell.vc] = Some((cell.frame, board.has_begun(cell) || !cell.first));
        }
    }
}

impl Model for DropFromFront {
    fn arrive(&mut self, board: &mut Board, cell: Cell) {
        if self.is_rest(cell) {
            return board.lose(cell, Reason::Partial);
        }
        if !board.fits() {
            let Some(&oldest) = board.waiting.first() else {
                self.spoil(board, cell);
                return board.lose(cell, Reason::Overflow);
            };
            board.remove(oldest, Reason::Front);
            self.spoil(board, oldest);
        }
        board.accept(cell);
    }

    fn next(&mut self, board: &mut Board) -> Option<Cell> {
        while let Some(&head) = board.waiting.first() {
            if !self.is_rest(head) {
                return Some(head);
            }
            board.remove(head, Reason::Partial);
        }
        None
    }
}

#[test]
fn drop_from_front_gives_up_the_oldest_cell_and_in_its_frame_form_the_rest_of_its_frame() {
    let lost = compare(|draw| {
        let (form, pass_eom) = (draw.word(&["cell", "frame"]), draw.coin());
        let text = format!("policy = \"drop-from-front\"\nform = \"{form}\"\npass_eom = {pass_eom}");
        let broken = vec![None; draw.contracts.len()];
        Scheme::fifo(text, DropFromFront { broken, by_frames: form == "frame", pass_eom })
    });
    assert!(lost > 10_000, "{lost}");
}
