//! Candidates for removal from a queue: the frames of a port's circuits, the losses that each frame still allows, and
//! the places of their cells.
//!
//! Every class of candidates is a list of frames in the order in which they became candidates. A frame joins the list
//! of a class when one of its cells becomes a candidate of this class. A search removes frames without such cells
//! from the list, so that it takes amortised constant time. A candidate cache (paper 004, section 6) stores only the
//! cells queued last, in a circular list.

use crate::units::ids::{IdVec, PortVc};

use std::collections::VecDeque;

/// Reason for which a queued cell may be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CandidateClass {
    /// The cell's frame is dead.
    Dead,
    /// The cell has CLP = 1 (marked), and its frame can lose a cell.
    Marked,
    /// The cell has CLP = 0, and its frame can lose a cell.
    Unmarked,
    /// The block can spare the cell's frame, and no cell of the frame has left the queue.
    Whole,
}

/// A frame: its circuit and its serial number among the circuit's frames at this port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FrameId {
    vc: PortVc,
    serial: u64,
}

impl FrameId {
    pub(super) fn vc(self) -> PortVc {
        self.vc
    }
}

/// A cell that can be lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) class: CandidateClass,
    pub(super) frame: FrameId,
    /// Position of the cell in the queue.
    pub(super) position: u64,
}

/// A frame with cells in the buffer or still to arrive.
#[derive(Clone, Debug)]
struct CandidateFrame {
    block: u64,
    /// Number of cells that the frame can still lose (FCF); below 0 the frame is dead.
    fcf: i32,
    /// Units of the frame in the buffer, including one in transmission.
    held: u64,
    /// Whether a cell of the frame has left the queue for the line.
    left: bool,
    /// Positions of queued cells that may be lost one by one, unmarked and marked.
    cells: [VecDeque<u64>; 2],
    /// Position of the queued EOM, which must stay as long as any cell of the frame does.
    eom: Option<u64>,
    /// For each of the four lists of candidates, whether it contains this frame.
    listed: [bool; 4],
}

impl CandidateFrame {
    /// Return the position of the frame's first cell that is a candidate of a class. The queue starts at `head`; a
    /// cell with a lower position is in transmission.
    fn first(&self, class: CandidateClass, head: u64) -> Option<u64> {
        let queued = |cells: &VecDeque<u64>| cells.iter().copied().find(|position| *position >= head);
        let [unmarked, marked] = [0, 1].map(|kind: usize| queued(&self.cells[kind]));
        match class {
            CandidateClass::Marked => marked,
            CandidateClass::Unmarked => unmarked,
            CandidateClass::Dead => marked.into_iter().chain(unmarked).min(),
            CandidateClass::Whole => marked.into_iter().chain(unmarked).chain(self.eom).min(),
        }
    }

    /// Return whether no cell of the frame has left the queue.
    fn is_whole(&self, head: u64) -> bool {
        !self.left && self.oldest().is_none_or(|position| position >= head)
    }

    /// Return the position of the frame's oldest cell that has not been sent.
    fn oldest(&self) -> Option<u64> {
        self.cells.iter().filter_map(VecDeque::front).copied().chain(self.eom).min()
    }

    /// Remove the frame's oldest cell, which has been sent.
    fn send_oldest(&mut self) {
        let position = self.oldest().expect("a sent cell was queued");
        self.held -= 1;
        self.left = true;
        for cells in &mut self.cells {
            if cells.front() == Some(&position) {
                cells.pop_front();
            }
        }
        self.eom = self.eom.filter(|eom| *eom != position);
    }

    /// Return whether the cell at a position is one of the frame.
    fn holds(&self, position: u64) -> bool {
        self.eom == Some(position) || self.cells.iter().any(|cells| cells.binary_search(&position).is_ok())
    }

    /// Remove the cell at a position.
    fn remove(&mut self, position: u64) {
        self.held -= 1;
        for cells in &mut self.cells {
            if let Ok(index) = cells.binary_search(&position) {
                cells.remove(index);
            }
        }
        self.eom = self.eom.filter(|eom| *eom != position);
    }
}

/// The frames of one circuit, oldest first, and the budgets of their blocks.
#[derive(Clone, Debug, Default)]
struct CircuitFrames {
    frames: VecDeque<CandidateFrame>,
    first_frame: u64,
    blocks: VecDeque<i32>,
    first_block: u64,
}

/// Frames, blocks and candidates of a port.
#[derive(Clone, Debug)]
pub(super) struct Candidates {
    circuits: IdVec<PortVc, CircuitFrames>,
    lists: [VecDeque<FrameId>; 4],
    corrupted_blocks: bool,
    cache: Option<Cache>,
}

/// The candidate cache: the cells queued last that were likely candidates.
#[derive(Clone, Debug)]
struct Cache {
    room: usize,
    cells: VecDeque<(u64, FrameId)>,
}

impl Candidates {
    /// Build the record of an empty queue. With `corrupted_blocks` frames of blocks beyond repair are candidates;
    /// `cache` limits the number of stored cells.
    pub(super) fn new(vcs: usize, corrupted_blocks: bool, cache: Option<u32>) -> Candidates {
        let cache = cache.map(|room| Cache { room: room as usize, cells: VecDeque::new() });
        let circuits = IdVec::filled(CircuitFrames::default(), vcs);
        Candidates { circuits, lists: Default::default(), corrupted_blocks, cache }
    }

    /// Open a frame that starts to arrive and allows `fcf` losses; `block` is the budget of the block that it starts,
    /// if it starts one.
    pub(super) fn open(&mut self, vc: PortVc, fcf: i32, block: Option<i32>) -> FrameId {
        let circuit = &mut self.circuits[vc];
        circuit.blocks.extend(block);
        let (block, cells) = (circuit.first_block + circuit.blocks.len() as u64 - 1, Default::default());
        let frame = CandidateFrame { block, fcf, held: 0, left: false, cells, eom: None, listed: [false; 4] };
        circuit.frames.push_back(frame);
        circuit.trim();
        self.newest(vc)
    }

    /// Return the frame of a circuit that is arriving or has arrived last.
    pub(super) fn newest(&self, vc: PortVc) -> FrameId {
        let circuit = &self.circuits[vc];
        FrameId { vc, serial: circuit.first_frame + circuit.frames.len() as u64 - 1 }
    }

    /// Return the cells that a frame can still lose: below 0 when it is dead.
    pub(super) fn fcf(&self, id: FrameId) -> i32 {
        self.frame(id).expect("an arriving frame is known").fcf
    }

    /// Return the frames that the block of a frame can still lose: below 0 when it is beyond repair.
    pub(super) fn blf(&self, id: FrameId) -> i32 {
        let block = self.frame(id).expect("an arriving frame is known").block;
        let circuit = &self.circuits[id.vc];
        circuit.blocks[(block - circuit.first_block) as usize]
    }

    /// Return whether a part of a frame has been sent or is queued.
    pub(super) fn is_touched(&self, id: FrameId) -> bool {
        self.frame(id).is_some_and(|frame| frame.left || frame.held > 0)
    }

    /// Return whether the policy may discard the whole frame: its block can spare a frame, or is beyond repair and
    /// `corrupted_blocks` is set.
    pub(super) fn spares_frame(&self, id: FrameId) -> bool {
        let blf = self.blf(id);
        blf > 0 || blf < 0 && self.corrupted_blocks
    }

    /// Add a queued cell of the newest frame of a circuit; `keep` says that the cell is an EOM that must stay in the
    /// queue.
    pub(super) fn queued(&mut self, vc: PortVc, position: u64, marked: bool, keep: bool) {
        let id = self.newest(vc);
        let frame = self.frame_mut(id).expect("an arriving frame is known");
        frame.held += 1;
        match keep {
            true => frame.eom = Some(position),
            false => frame.cells[usize::from(marked)].push_back(position),
        }
        let dead = frame.fcf < 0;
        let spare = if marked { CandidateClass::Marked } else { CandidateClass::Unmarked };
        self.list(id, if dead { CandidateClass::Dead } else { spare });
        self.list(id, CandidateClass::Whole);
        let likely = !keep && (dead || self.fcf(id) > 0 || self.spares_frame(id));
        if let Some(cache) = self.cache.as_mut().filter(|_| likely) {
            if cache.cells.len() == cache.room {
                cache.cells.pop_front();
            }
            cache.cells.push_back((position, id));
        }
    }

    /// Record that a cell of a circuit has been sent. Its queue is FIFO, so the cell belongs to the oldest frame with
    /// cells.
    pub(super) fn sent(&mut self, vc: PortVc) {
        let circuit = &mut self.circuits[vc];
        circuit.trim();
        let frame = circuit.frames.front_mut().expect("a sent cell was of a known frame");
        frame.send_oldest();
        circuit.trim();
        // Remove frames that have left the buffer from the head of each list, since no search may do so for long.
        for class in 0..self.lists.len() {
            while let Some(&id) = self.lists[class].front() {
                match self.frame_mut(id) {
                    Some(frame) if frame.held > 0 => break,
                    Some(frame) => frame.listed[class] = false,
                    None => {}
                }
                self.lists[class].pop_front();
            }
        }
    }

    /// Record that a queued cell was lost by the decision of another component, as a watchdog. Of cells that the policy itself has
    /// given up nothing is left here.
    pub(super) fn lost(&mut self, vc: PortVc, position: u64) {
        let circuit = &mut self.circuits[vc];
        let Some(index) = circuit.frames.iter().position(|frame| frame.holds(position)) else { return };
        let id = FrameId { vc, serial: circuit.first_frame + index as u64 };
        circuit.frames[index].remove(position);
        match circuit.frames[index].fcf {
            0 => self.kill(id),
            fcf => self.circuits[vc].frames[index].fcf = fcf.max(0) - 1,
        }
    }

    /// Return the first candidate of a class, without circuits for which `passed` returns true; the queue starts at
    /// `head`.
    pub(super) fn find(
        &mut self,
        class: CandidateClass,
        head: u64,
        passed: impl Fn(PortVc) -> bool,
    ) -> Option<Candidate> {
        if self.cache.is_some() {
            return self.find_cached(class, head, passed);
        }
        while let Some(&id) = self.lists[class as usize].front() {
            if self.eligible(class, id, head) {
                break;
            }
            if let Some(frame) = self.frame_mut(id) {
                frame.listed[class as usize] = false;
            }
            self.lists[class as usize].pop_front();
        }
        let fits = |index: &usize| {
            let id = self.lists[class as usize][*index];
            !passed(id.vc) && self.eligible(class, id, head)
        };
        let index = (0..self.lists[class as usize].len()).find(fits)?;
        let frame = self.lists[class as usize][index];
        let position = self.frame(frame)?.first(class, head)?;
        Some(Candidate { class, frame, position })
    }

    fn find_cached(
        &mut self,
        class: CandidateClass,
        head: u64,
        passed: impl Fn(PortVc) -> bool,
    ) -> Option<Candidate> {
        let cells = std::mem::take(&mut self.cache.as_mut()?.cells);
        let found = cells.iter().find(|(position, id)| {
            let there = self.frame(*id).is_some_and(|frame| match class {
                CandidateClass::Marked => frame.cells[1].binary_search(position).is_ok(),
                CandidateClass::Unmarked => frame.cells[0].binary_search(position).is_ok(),
                CandidateClass::Dead | CandidateClass::Whole => {
                    frame.cells.iter().any(|at| at.binary_search(position).is_ok())
                }
            });
            there && *position >= head && !passed(id.vc) && self.eligible(class, *id, head)
        });
        let candidate = found.map(|&(position, frame)| Candidate { class, frame, position });
        self.cache.as_mut()?.cells = cells;
        candidate
    }

    /// Count the loss of a cell that the frame can spare.
    pub(super) fn spend(&mut self, id: FrameId) {
        self.frame_mut(id).expect("a frame with candidates is known").fcf -= 1;
    }

    /// Mark a frame as dead; its block can then spare one frame less.
    pub(super) fn kill(&mut self, id: FrameId) {
        let frame = self.frame_mut(id).expect("a frame that dies is known");
        frame.fcf = -1;
        let block = frame.block;
        let circuit = &mut self.circuits[id.vc];
        let blf = &mut circuit.blocks[(block - circuit.first_block) as usize];
        *blf = (*blf - 1).max(-1);
        let corrupted = *blf < 0;
        self.list(id, CandidateClass::Dead);
        if corrupted && self.corrupted_blocks {
            let serials = self.circuits[id.vc].first_frame..=self.newest(id.vc).serial;
            for other in serials.map(|serial| FrameId { vc: id.vc, serial }) {
                if self.frame(other).is_some_and(|frame| frame.block == block) {
                    self.list(other, CandidateClass::Whole);
                }
            }
        }
    }

    /// Remove a single candidate cell from the queue.
    pub(super) fn take(&mut self, candidate: Candidate) {
        self.frame_mut(candidate.frame).expect("a candidate's frame is known").remove(candidate.position);
    }

    /// Remove all cells of a frame that has not begun to leave the queue; append the positions of the cells to
    /// `positions`.
    pub(super) fn clear(&mut self, id: FrameId, positions: &mut VecDeque<u64>) {
        let frame = self.frame_mut(id).expect("a frame with candidates is known");
        let before = positions.len();
        frame.cells.iter_mut().for_each(|cells| positions.extend(cells.drain(..)));
        positions.extend(frame.eom.take());
        frame.held -= (positions.len() - before) as u64;
    }

    fn eligible(&self, class: CandidateClass, id: FrameId, head: u64) -> bool {
        let Some(frame) = self.frame(id) else { return false };
        let may_go = match class {
            CandidateClass::Dead => frame.fcf < 0,
            CandidateClass::Marked | CandidateClass::Unmarked => frame.fcf > 0,
            CandidateClass::Whole => frame.fcf >= 0 && frame.is_whole(head) && self.spares_frame(id),
        };
        may_go && frame.first(class, head).is_some()
    }

    fn list(&mut self, id: FrameId, class: CandidateClass) {
        let frame = self.frame_mut(id).expect("a listed frame is known");
        if !std::mem::replace(&mut frame.listed[class as usize], true) {
            self.lists[class as usize].push_back(id);
        }
    }

    fn frame(&self, id: FrameId) -> Option<&CandidateFrame> {
        let circuit = &self.circuits[id.vc];
        circuit.frames.get(id.serial.checked_sub(circuit.first_frame)? as usize)
    }

    fn frame_mut(&mut self, id: FrameId) -> Option<&mut CandidateFrame> {
        let circuit = &mut self.circuits[id.vc];
        circuit.frames.get_mut(id.serial.checked_sub(circuit.first_frame)? as usize)
    }
}

impl CircuitFrames {
    /// Remove the records of frames without cells, except the newest, and of blocks without frames.
    fn trim(&mut self) {
        while self.frames.len() > 1 && self.frames[0].held == 0 {
            self.frames.pop_front();
            self.first_frame += 1;
        }
        while self.frames[0].block > self.first_block {
            self.blocks.pop_front();
            self.first_block += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_been_sent_is_forgotten() {
        let mut candidates = Candidates::new(1, false, None);
        for position in 0..100u64 {
            candidates.open(PortVc(0), 1, (position % 10 == 0).then_some(1));
            candidates.queued(PortVc(0), position, position % 2 == 0, false);
            if position >= 2 {
                candidates.sent(PortVc(0));
            }
        }
        let circuit = &candidates.circuits[PortVc(0)];
        assert_eq!((circuit.frames.len(), circuit.blocks.len()), (2, 1));
        assert_eq!(candidates.lists.each_ref().map(VecDeque::len), [0, 1, 1, 2]);
    }

    #[test]
    fn a_cell_that_another_component_removes_costs_its_frame_and_is_no_candidate() {
        let mut candidates = Candidates::new(1, false, None);
        let frame = candidates.open(PortVc(0), 1, Some(0));
        (0..3).for_each(|at| candidates.queued(PortVc(0), at, false, false));
        candidates.lost(PortVc(0), 1);
        candidates.lost(PortVc(0), 1); // one that is known no longer
        assert_eq!(candidates.fcf(frame), 0);
        candidates.lost(PortVc(0), 0);
        assert_eq!((candidates.fcf(frame), candidates.blf(frame)), (-1, -1), "the frame is dead");
        assert_eq!(position(&mut candidates, CandidateClass::Dead, 0), Some(2));
        candidates.lost(PortVc(0), 2);
        assert_eq!((position(&mut candidates, CandidateClass::Dead, 0), candidates.fcf(frame)), (None, -1));
        assert!(!candidates.is_touched(frame), "nothing of it waits");
    }

    #[test]
    fn the_oldest_cell_of_a_dead_frame_goes_first_whether_it_is_marked_or_not() {
        let mut candidates = Candidates::new(1, false, None);
        let frame = candidates.open(PortVc(0), 0, Some(1));
        [true, false]
            .into_iter()
            .enumerate()
            .for_each(|(at, marked)| candidates.queued(PortVc(0), at as u64, marked, false));
        candidates.kill(frame);
        let candidate = candidates.find(CandidateClass::Dead, 0, |_| false);
        assert_eq!(candidate, Some(Candidate { class: CandidateClass::Dead, frame, position: 0 }));
    }

    /// Return the position of the first candidate of a class.
    fn position(candidates: &mut Candidates, class: CandidateClass, head: u64) -> Option<u64> {
        candidates.find(class, head, |_| false).map(|candidate| candidate.position)
    }

    #[test]
    fn a_frame_whose_only_cell_is_an_eom_that_must_stay_can_go_as_a_whole() {
        let mut candidates = Candidates::new(1, false, None);
        candidates.open(PortVc(0), 1, Some(1));
        candidates.queued(PortVc(0), 5, false, true);
        assert_eq!(position(&mut candidates, CandidateClass::Unmarked, 5), None);
        assert_eq!(position(&mut candidates, CandidateClass::Whole, 5), Some(5));
    }

    #[test]
    fn a_frame_of_which_a_cell_is_in_transmission_is_no_longer_whole() {
        let mut candidates = Candidates::new(1, false, None);
        candidates.open(PortVc(0), 1, Some(1));
        (0..2).for_each(|at| candidates.queued(PortVc(0), at, false, false));
        assert_eq!(position(&mut candidates, CandidateClass::Whole, 0), Some(0));
        assert_eq!(position(&mut candidates, CandidateClass::Whole, 1), None);
        assert_eq!(position(&mut candidates, CandidateClass::Unmarked, 1), Some(1));
    }

    #[test]
    fn a_dead_frame_is_given_up_cell_by_cell_whatever_its_block_can_spare() {
        let mut candidates = Candidates::new(1, false, None);
        let frame = candidates.open(PortVc(0), 0, Some(2));
        candidates.queued(PortVc(0), 0, false, false);
        candidates.kill(frame);
        assert!(candidates.spares_frame(frame));
        assert_eq!(position(&mut candidates, CandidateClass::Whole, 0), None);
        assert_eq!(position(&mut candidates, CandidateClass::Dead, 0), Some(0));
    }

    #[test]
    fn a_frame_that_was_looked_for_in_vain_is_found_again_with_its_next_cell() {
        let mut candidates = Candidates::new(1, false, None);
        let frame = candidates.open(PortVc(0), 0, Some(0));
        candidates.kill(frame);
        assert_eq!(position(&mut candidates, CandidateClass::Dead, 0), None);
        candidates.queued(PortVc(0), 0, false, false);
        assert_eq!(position(&mut candidates, CandidateClass::Dead, 0), Some(0));
    }

    #[test]
    fn a_frame_all_of_which_has_been_sent_so_far_is_found_again_with_its_next_cell() {
        let mut candidates = Candidates::new(1, false, None);
        candidates.open(PortVc(0), 1, Some(0));
        candidates.queued(PortVc(0), 0, false, false);
        candidates.sent(PortVc(0));
        candidates.queued(PortVc(0), 1, false, false);
        assert_eq!(position(&mut candidates, CandidateClass::Unmarked, 1), Some(1));
    }

    #[test]
    fn a_frame_is_touched_as_soon_as_a_cell_of_it_is_queued_and_stays_so() {
        let mut candidates = Candidates::new(1, false, None);
        let frame = candidates.open(PortVc(0), 1, Some(0));
        assert!(!candidates.is_touched(frame));
        candidates.queued(PortVc(0), 0, false, false);
        assert!(candidates.is_touched(frame));
        candidates.sent(PortVc(0));
        assert!(candidates.is_touched(frame));
    }

    #[test]
    fn a_cache_offers_a_cell_only_to_its_class_and_not_once_it_is_in_transmission() {
        let mut candidates = Candidates::new(1, false, Some(3));
        candidates.open(PortVc(0), 1, Some(0));
        [true, false, true]
            .iter()
            .zip(0..)
            .for_each(|(&marked, at)| candidates.queued(PortVc(0), at, marked, false));
        assert_eq!(position(&mut candidates, CandidateClass::Marked, 0), Some(0));
        assert_eq!(position(&mut candidates, CandidateClass::Marked, 1), Some(2));
        assert_eq!(position(&mut candidates, CandidateClass::Unmarked, 1), Some(1));
        assert_eq!(position(&mut candidates, CandidateClass::Dead, 0), None, "the frame can spare a cell");
        assert_eq!(
            position(&mut candidates, CandidateClass::Whole, 0),
            None,
            "its block cannot spare a frame"
        );
    }

    #[test]
    fn a_cache_passes_over_circuits_and_takes_marked_cells_of_dead_and_whole_frames_too() {
        let mut candidates = Candidates::new(2, false, Some(2));
        for vc in 0..2 {
            candidates.open(PortVc(vc), 0, Some(1));
            candidates.queued(PortVc(vc), vc as u64, true, false);
        }
        let found = candidates
            .find(CandidateClass::Whole, 0, |vc| vc == PortVc(0))
            .map(|candidate| candidate.position);
        assert_eq!(found, Some(1));
        candidates.kill(candidates.newest(PortVc(0)));
        assert_eq!(position(&mut candidates, CandidateClass::Dead, 0), Some(0));
    }

    #[test]
    fn a_cache_keeps_its_room_for_cells_that_may_go() {
        let mut candidates = Candidates::new(2, false, Some(1));
        candidates.open(PortVc(0), 1, Some(0));
        candidates.queued(PortVc(0), 0, false, false);
        candidates.queued(PortVc(0), 1, false, true);
        assert_eq!(
            position(&mut candidates, CandidateClass::Unmarked, 0),
            Some(0),
            "not the EOM that must stay"
        );
        let other = candidates.open(PortVc(1), 0, Some(0));
        candidates.queued(PortVc(1), 2, false, false);
        assert_eq!(
            position(&mut candidates, CandidateClass::Unmarked, 0),
            Some(0),
            "not one that cannot be spared"
        );
        candidates.kill(other);
        candidates.queued(PortVc(1), 3, false, false);
        assert_eq!(position(&mut candidates, CandidateClass::Unmarked, 0), None);
        assert_eq!(position(&mut candidates, CandidateClass::Dead, 0), Some(3), "but one of a dead frame");
    }
}
