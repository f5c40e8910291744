//! PIE by the pseudocode of RFC 8033 and of Linux.

use std::collections::BTreeMap;

use pushout_core::rng::Keyed;
use pushout_core::verdict::Reason;

use crate::textbook::board::{Board, Cell, Model};
use crate::textbook::frames::Frames;
use crate::textbook::port::Scheme;
use crate::textbook::{Draw, compare};

struct Pie {
    linux: bool,
    target: f64,
    update: u64,
    alpha: f64,
    beta: f64,
    max_burst: u64,
    mark_limit: f64,
    derandomise: bool,
    mtu: usize,
    marks: bool,
    frames: Frames,
    keyed: Keyed,
    arrived: BTreeMap<(usize, u32, u16), u64>,
    drop_prob: f64,
    qdelay: f64,
    qdelay_old: f64,
    burst: u64,
    accu_prob: f64,
    dq_tstamp: Option<u64>,
}

impl Pie {
    fn calculate_drop_prob(&mut self, board: &Board) {
        let (d, old) = (self.qdelay, self.qdelay_old);
        let mut p = self.alpha * (d - self.target) + self.beta * (d - old);
        for (limit, divisor) in
            [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (0.1, 2.0)]
        {
            if self.drop_prob < limit {
                p /= divisor;
                break;
            }
        }
        if self.drop_prob >= 0.1 && p > 0.02 {
            p = 0.02;
        }
        if self.linux && d > 0.25 {
            p += 0.02;
        }
        self.drop_prob = (self.drop_prob + p).clamp(0.0, 1.0);
        let idle = d == 0.0 && old == 0.0;
        if idle && !self.linux {
            self.drop_prob *= 0.98;
        }
        if idle && self.linux && board.waiting.is_empty() {
            self.drop_prob *= 0.984375;
        }
        if !self.linux {
            self.burst = self.burst.saturating_sub(self.update);
        }
        if self.drop_prob == 0.0 && d < self.target / 2.0 && old < self.target / 2.0 {
            self.burst = self.max_burst;
            if self.linux {
                (self.accu_prob, self.dq_tstamp) = (0.0, None);
            }
        }
        self.qdelay_old = d;
    }

    fn drop_early(&mut self, board: &Board, cell: &Cell) -> bool {
        let delay = if self.linux { self.qdelay } else { self.qdelay_old };
        let octets = 53 * board.waiting.len();
        let short = if self.linux { octets < 2 * self.mtu } else { octets <= 2 * self.mtu };
        if self.burst > 0 || (delay < self.target / 2.0 && self.drop_prob < 0.2) || short {
            return false;
        }
        if self.drop_prob == 0.0 {
            self.accu_prob = 0.0;
        }
        self.accu_prob += self.drop_prob;
        if self.derandomise && self.accu_prob < 0.85 {
            return false;
        }
        if self.derandomise && self.accu_prob >= 8.5 || self.keyed.unit(cell.subject()) < self.drop_prob {
            self.accu_prob = 0.0;
            return true;
        }
        false
    }
}

impl Model for Pie {
    fn arrive(&mut self, board: &mut Board, cell: Cell) {
        let drop = cell.first && self.drop_early(board, &cell);
        self.frames.marks = self.marks && self.drop_prob <= self.mark_limit;
        self.frames.arrive(board, cell, drop.then_some(Reason::Random));
        self.arrived.insert((cell.vc, cell.frame, cell.index), board.now);
        if board.lost.last().is_some_and(|(_, reason)| *reason == Reason::Overflow) {
            self.accu_prob = 0.0;
        }
    }

    fn next(&mut self, board: &mut Board) -> Option<Cell> {
        let head = *board.waiting.first()?;
        let since = self.arrived[&(head.vc, head.frame, head.index)];
        self.qdelay = match board.waiting.len() {
            1 => 0.0,
            _ => (board.now - since) as f64 / 1e12,
        };
        if self.linux {
            let gap = self.dq_tstamp.map_or(0, |last| board.now - last);
            self.burst = self.burst.saturating_sub(gap);
            self.dq_tstamp = Some(board.now);
        }
        Some(head)
    }

    fn tick(&mut self, board: &Board) -> Option<u64> {
        if board.now > 0 {
            self.calculate_drop_prob(board);
        }
        Some(board.now + self.update)
    }
}

/// Draw parameters for a scenario, and the model with the same values.
fn pie(draw: &mut Draw) -> (String, Pie) {
    let (target, update) = (draw.within(100, 20_000) as u64, draw.within(200, 5000) as u64);
    let (alpha, beta) = (draw.number(0.0, 20.0), draw.number(0.0, 200.0));
    let (burst, mtu) = (draw.within(0, 9000) as u64, draw.within(0, 300));
    let (linux, derandomise, marks) = (draw.coin(), draw.coin(), draw.coin());
    let mark_limit = draw.number(0.0, 0.5);
    let (law, action) = (if linux { "linux" } else { "rfc" }, if marks { "mark" } else { "drop" });
    let text = format!(
        "policy = \"pie\"\ntarget = \"{target} us\"\nupdate = \"{update} us\"\nalpha = {alpha:?}\nbeta = {beta:?}\n\
         burst = \"{burst} us\"\nlaw = \"{law}\"\naction = \"{action}\"\nmark_limit = {mark_limit:?}\n\
         derandomise = {derandomise}\nmtu = \"{mtu} bytes\""
    );
    let picos = |micros: u64| micros * 1_000_000;
    let model = Pie {
        linux,
        target: picos(target) as f64 / 1e12,
        update: picos(update),
        alpha,
        beta,
        max_burst: picos(burst),
        mark_limit,
        derandomise,
        mtu,
        marks,
        frames: Frames::new(draw, true),
        keyed: draw.keyed("pie"),
        arrived: BTreeMap::new(),
        drop_prob: 0.0,
        qdelay: 0.0,
        qdelay_old: 0.0,
        burst: picos(burst),
        accu_prob: 0.0,
        dq_tstamp: None,
    };
    (text, model)
}

#[test]
fn pie_discards_with_a_probability_that_holds_the_wait_at_a_target() {
    let lost = compare(|draw| {
        let (text, model) = pie(draw);
        Scheme::fifo(text, model)
    });
    assert!(lost > 10_000, "{lost}");
}
