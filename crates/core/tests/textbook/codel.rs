//! CoDel by its pseudocode: a loop that removes packets from the queue until it finds one to be sent.

use std::collections::BTreeMap;

use pushout_core::verdict::Reason;

use crate::textbook::board::{Board, Cell, Model};
use crate::textbook::port::Scheme;
use crate::textbook::{Draw, compare};

/// The arithmetic of a law, in its own units of time.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Law {
    Exact,
    /// With the reciprocal of the square root in units of 2⁻³².
    Linux {
        reciprocal: u64,
    },
}

#[derive(Clone)]
pub(crate) struct Codel {
    /// Circuits of its queue.
    pub(crate) circuits: Vec<usize>,
    law: Law,
    target: u64,
    interval: u64,
    ce_threshold: Option<u64>,
    mtu: usize,
    marks: bool,
    pub(crate) arrived: BTreeMap<(usize, u32), u64>,
    first_above: u64,
    dropping: bool,
    drop_next: u64,
    pub(crate) count: u32,
    last_count: u32,
}

impl Codel {
    /// Return a copy for a queue of these circuits.
    pub(crate) fn of(&self, circuits: Vec<usize>) -> Codel {
        Codel { circuits, ..self.clone() }
    }

    fn units(&self, time: u64) -> u64 {
        if self.law == Law::Exact { time } else { time / 1000 / 1024 }
    }

    fn waited(&self, board: &Board, cell: Cell) -> u64 {
        self.units(board.now) - self.units(self.arrived[&(cell.vc, cell.frame)])
    }

    /// Cells that wait in its queue, oldest first.
    pub(crate) fn queue<'b>(&'b self, board: &'b Board) -> impl Iterator<Item = Cell> + 'b {
        board.waiting.iter().copied().filter(|cell| self.circuits.contains(&cell.vc))
    }

    /// `dodequeue` of RFC 8289: the next packet, and whether it may be dropped.
    fn take(&mut self, board: &Board) -> Option<(Cell, bool)> {
        let own: Vec<Cell> = self.queue(board).collect();
        let Some(&head) = own.first() else {
            self.first_above = 0;
            return None;
        };
        let now = self.units(board.now);
        let behind = 53 * (own.len() - 1);
        if self.waited(board, head) < self.target || behind <= self.mtu {
            self.first_above = 0;
        } else if self.first_above == 0 {
            self.first_above = now + self.interval;
        } else if now > self.first_above || now == self.first_above && self.law == Law::Exact {
            return Some((head, true));
        }
        Some((head, false))
    }

    /// Drop the packet, and take the next one.
    fn drop(&mut self, board: &mut Board, cell: Cell) -> (Option<Cell>, bool) {
        board.remove(cell, Reason::Delay);
        self.take(board).map_or((None, false), |(next, ok)| (Some(next), ok))
    }

    /// x ← x · (3 − count · x²) / 2, with 16 bits.
    fn newton(&mut self) {
        if let Law::Linux { reciprocal: x } = &mut self.law {
            let square = (u128::from(*x) * u128::from(*x)) >> 32;
            let product = (u128::from(self.count) * square) as u64;
            let rest = (3 * (1_u64 << 32)).wrapping_sub(product) / 4;
            *x = (rest.wrapping_mul(*x) / (1 << 31) / (1 << 16) % (1 << 16)) << 16;
        }
    }

    fn control_law(&self, time: u64) -> u64 {
        let interval = self.interval;
        time + match self.law {
            Law::Exact => (interval as f64 / f64::from(self.count).sqrt()) as u64,
            Law::Linux { reciprocal } => ((u128::from(interval) * u128::from(reciprocal)) >> 32) as u64,
        }
    }

    fn begin(&mut self, now: u64) {
        let delta = self.count - self.last_count;
        self.dropping = true;
        if delta > 1 && (now as i64 - self.drop_next as i64) < 16 * self.interval as i64 {
            self.count = delta;
            self.newton();
        } else {
            self.count = 1;
            self.law = if self.law == Law::Exact { self.law } else { Law::Linux { reciprocal: 0xffff_0000 } };
        }
        self.last_count = self.count;
        self.drop_next = self.control_law(now);
    }

    /// `deque` of RFC 8289 with the marks of Linux; also returns whether the packet is marked.
    fn deque(&mut self, board: &mut Board) -> Option<(Cell, bool)> {
        let now = self.units(board.now);
        let (head, mut ok) = self.take(board)?;
        let mut next = Some(head);
        let can_mark = |cell: Option<Cell>, marks: bool| cell.filter(|cell| marks && cell.ect);
        if self.dropping {
            self.dropping = ok;
            while self.dropping && now >= self.drop_next {
                self.count += 1;
                self.newton();
                if let Some(cell) = can_mark(next, self.marks) {
                    self.drop_next = self.control_law(self.drop_next);
                    return Some((cell, true));
                }
                (next, ok) = self.drop(board, next.unwrap());
                match ok {
                    true => self.drop_next = self.control_law(self.drop_next),
                    false => self.dropping = false,
                }
            }
        } else if ok {
            let marked = can_mark(next, self.marks);
            if marked.is_none() {
                next = self.drop(board, head).0;
            }
            self.begin(now);
            return next.map(|cell| (cell, marked.is_some()));
        }
        next.map(|cell| (cell, false))
    }
}

impl Model for Codel {
    fn arrive(&mut self, board: &mut Board, cell: Cell) {
        self.arrived.insert((cell.vc, cell.frame), board.now);
        match board.fits() {
            true => board.accept(cell),
            false => board.lose(cell, Reason::Overflow),
        }
    }

    fn next(&mut self, board: &mut Board) -> Option<Cell> {
        let (cell, marked) = self.deque(board)?;
        let waited = board.now - self.arrived[&(cell.vc, cell.frame)];
        let old = cell.ect && self.ce_threshold.is_some_and(|threshold| waited > threshold);
        let head = board.waiting.iter_mut().find(|other| **other == cell).unwrap();
        head.ce |= marked || old;
        Some(*head)
    }
}

/// Draw parameters for a scenario, and the model with the same values.
pub(crate) fn codel(draw: &mut Draw) -> (String, Codel) {
    let interval = draw.within(1, 20_000) as u64;
    let target = draw.within(0, interval.min(5000) as usize) as u64;
    let (mtu, marks) = (draw.within(0, 300), draw.coin());
    let old = draw.coin().then(|| draw.within(100, 20_000) as u64);
    let (word, law) = match draw.coin() {
        true => ("exact", Law::Exact),
        false => ("linux", Law::Linux { reciprocal: 0 }),
    };
    let (action, threshold) = (
        if marks { "mark" } else { "drop" },
        old.map_or(String::new(), |old| format!("ce_threshold = \"{old} us\"\n")),
    );
    let text = format!(
        "policy = \"codel\"\ntarget = \"{target} us\"\ninterval = \"{interval} us\"\nlaw = \"{word}\"\n\
         mtu = \"{mtu} bytes\"\naction = \"{action}\"\n{threshold}"
    );
    let unit = if word == "exact" { 1 } else { 1_024_000 };
    let model = Codel {
        circuits: (0..draw.contracts.len()).collect(),
        law,
        target: target * 1_000_000 / unit,
        interval: interval * 1_000_000 / unit,
        ce_threshold: old.map(|old| old * 1_000_000),
        mtu,
        marks,
        arrived: BTreeMap::new(),
        first_above: 0,
        dropping: false,
        drop_next: 0,
        count: 0,
        last_count: 0,
    };
    (text, model)
}

#[test]
fn codel_discards_at_the_head_while_packets_wait_too_long() {
    let lost = compare(|draw| {
        draw.packets = true;
        let (text, model) = codel(draw);
        Scheme::fifo(text, model)
    });
    assert!(lost > 10_000, "{lost}");
}
