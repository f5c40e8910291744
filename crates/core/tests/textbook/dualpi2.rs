//! DualPI2 by `sch_dualpi2.c` of Linux and appendix A of RFC 9332.

use std::collections::BTreeMap;

use pushout_core::rng::{Draws, Keyed};
use pushout_core::verdict::Reason;

use crate::textbook::board::{Board, Cell, Model};
use crate::textbook::port::Scheme;
use crate::textbook::{Draw, compare};

struct DualPi2 {
    /// True for two queues; false for PI2 alone.
    dual: bool,
    linux: bool,
    target: u64,
    update: u64,
    alpha: f64,
    beta: f64,
    coupling: f64,
    step: u64,
    marks: bool,
    drops_on_overload: bool,
    mtu: usize,
    /// Percent of the classic queue, and its credit in octets and percent.
    classic: i64,
    credit: i64,
    keyed: Keyed,
    arrived: BTreeMap<(usize, u32), u64>,
    pi2_prob: f64,
    last_qdelay: u64,
}

/// Decision of the AQM on a packet.
enum Fate {
    Send,
    Mark,
    Drop,
}

fn is_l4s(cell: &Cell) -> bool {
    cell.ect && (cell.ect1 || cell.ce)
}

impl DualPi2 {
    fn delay(&self, board: &Board, cell: &Cell) -> u64 {
        board.now - self.arrived[&(cell.vc, cell.frame)]
    }

    /// The head of a queue.
    fn head(&self, board: &Board, l4s: bool) -> Option<Cell> {
        board.waiting.iter().find(|cell| is_l4s(cell) == l4s).copied()
    }

    fn calculate_probability(&mut self, board: &Board) {
        let heads = match self.dual {
            true => [self.head(board, true), self.head(board, false)],
            false => [board.waiting.first().copied(), None],
        };
        let delays = heads.iter().flatten().map(|cell| self.delay(board, cell));
        let qdelay = delays.max().unwrap_or(0);
        let most = if self.drops_on_overload { 1.0 } else { 1.0 / self.coupling };
        let (error, change) =
            (qdelay as i128 - i128::from(self.target), qdelay as i128 - i128::from(self.last_qdelay));
        let delta = match self.linux {
            false => self.alpha * (error as f64 / 1e12) + self.beta * (change as f64 / 1e12),
            true => {
                let scale =
                    |gain: f64| ((256.0 * gain).round() as i128 * i128::from(u32::MAX) / 4) / 1_000_000_000;
                let delta = error / 1000 * scale(self.alpha) + change / 1000 * scale(self.beta);
                (delta / 64) as f64 / 4_294_967_296.0
            }
        };
        self.pi2_prob = (self.pi2_prob + delta).max(0.0).min(most);
        self.last_qdelay = qdelay;
    }

    fn must_drop(&mut self, cell: &Cell, backlog: usize) -> Fate {
        if backlog < 2 * self.mtu {
            return Fate::Send;
        }
        let prob = self.pi2_prob;
        let draws = &mut self.keyed.about(cell.subject());
        let overload = self.drops_on_overload && prob * self.coupling > 1.0;
        if is_l4s(cell) && !overload {
            return if roll(draws, prob * self.coupling) { Fate::Mark } else { Fate::Send };
        }
        match roll(draws, prob) && roll(draws, prob) {
            true if overload || !cell.ect || !self.marks => Fate::Drop,
            true => Fate::Mark,
            false if is_l4s(cell) => Fate::Mark,
            false => Fate::Send,
        }
    }

    /// Return the next packet in turn, and the change of the credit by its departure.
    fn dequeue_packet(&mut self, board: &Board) -> Option<(Cell, i64)> {
        if !self.dual {
            return board.waiting.first().map(|cell| (*cell, 0));
        }
        match (self.head(board, true), self.head(board, false)) {
            (None, None) => {
                self.credit = self.mtu as i64 * (self.classic - (100 - self.classic));
                None
            }
            (Some(cell), None) | (None, Some(cell)) => Some((cell, 0)),
            (Some(cell), Some(_)) if self.credit <= 0 => Some((cell, 53 * self.classic)),
            (Some(_), Some(cell)) => Some((cell, -53 * (100 - self.classic))),
        }
    }
}

fn roll(draws: &mut Draws, probability: f64) -> bool {
    probability > 0.0 && draws.unit() < probability
}

impl Model for DualPi2 {
    fn arrive(&mut self, board: &mut Board, cell: Cell) {
        self.arrived.insert((cell.vc, cell.frame), board.now);
        match board.fits() {
            true => board.accept(cell),
            false => board.lose(cell, Reason::Overflow),
        }
    }

    fn next(&mut self, board: &mut Board) -> Option<Cell> {
        loop {
            let (cell, credit_change) = self.dequeue_packet(board)?;
            let backlog = 53 * (board.waiting.len() - 1);
            let fate = self.must_drop(&cell, backlog);
            if matches!(fate, Fate::Drop) {
                board.remove(cell, Reason::Random);
                continue;
            }
            let together = |other: &&Cell| !self.dual || is_l4s(other) == is_l4s(&cell);
            let queued = 53 * board.waiting.iter().filter(together).count(); // compared with the guard Th_len
            let is_late = self.delay(board, &cell) > self.step;
            let stepped = is_l4s(&cell) && is_late && queued > self.mtu;
            self.credit += credit_change;
            let head = board.waiting.iter_mut().find(|other| **other == cell).unwrap();
            head.ce |= stepped || matches!(fate, Fate::Mark);
            return Some(*head);
        }
    }

    fn tick(&mut self, board: &Board) -> Option<u64> {
        if board.now > 0 {
            self.calculate_probability(board);
        }
        Some(board.now + self.update)
    }
}

/// Draw parameters for a scenario, and the model with the same values.
fn scheme(draw: &mut Draw, dual: bool) -> Scheme {
    draw.packets = true;
    let (target, update) = (draw.within(100, 20_000) as u64, draw.within(200, 5000) as u64);
    let (alpha, beta) = (draw.number(0.0, 20.0), draw.number(0.0, 200.0));
    let (coupling, step) = (draw.number(1.0, 4.0), draw.within(0, 5000) as u64);
    let (linux, marks, drops_on_overload) = (draw.coin(), draw.coin(), draw.coin());
    let (mtu, classic) = (draw.within(0, 300), draw.within(0, 100) as i64);
    let (law, action) = (if linux { "linux" } else { "exact" }, if marks { "mark" } else { "drop" });
    let overload = if drops_on_overload { "drop" } else { "overflow" };
    let admission = format!(
        "policy = \"pi2\"\ntarget = \"{target} us\"\nupdate = \"{update} us\"\nalpha = {alpha:?}\nbeta = {beta:?}\n\
         law = \"{law}\"\ncoupling = {coupling:?}\nstep = \"{step} us\"\naction = \"{action}\"\n\
         overload = \"{overload}\"\nmtu = \"{mtu} bytes\""
    );
    let picos = |micros: u64| micros * 1_000_000;
    let model = DualPi2 {
        dual,
        linux,
        target: picos(target),
        update: picos(update),
        alpha,
        beta,
        coupling,
        step: picos(step),
        marks,
        drops_on_overload,
        mtu,
        classic,
        credit: mtu as i64 * (2 * classic - 100),
        keyed: draw.keyed("pi2"),
        arrived: BTreeMap::new(),
        pi2_prob: 0.0,
        last_qdelay: 0,
    };
    let queues = format!("policy = \"dual-queue\"\nclassic_share = \"{classic} %\"\nmtu = \"{mtu} bytes\"");
    let scheduler = if dual { queues } else { "policy = \"fifo\"".to_string() };
    Scheme { admission, pushout: None, scheduler, model: Box::new(model) }
}

#[test]
fn dualpi2_serves_scalable_senders_first_and_couples_both_queues() {
    let lost = compare(|draw| scheme(draw, true));
    assert!(lost > 10_000, "{lost}");
}

#[test]
fn pi2_alone_does_the_same_with_one_queue() {
    let lost = compare(|draw| scheme(draw, false));
    assert!(lost > 10_000, "{lost}");
}
