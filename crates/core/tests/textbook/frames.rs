//! Schemes on a shared queue that decide at the first cell of a frame.

use pushout_core::rng::Keyed;
use pushout_core::verdict::Reason;

use crate::textbook::board::{Board, Cell, Model};
use crate::textbook::port::Scheme;
use crate::textbook::{Draw, compare};

/// Fate of the frame that arrives on a circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Taken,
    /// Refused at its first cell, for this reason.
    Refused(Reason),
    /// One of its cells found no room; `fragment` if earlier ones had.
    Broken {
        fragment: bool,
    },
}

/// The frame rule: early discard at the first cell, partial packet discard after a loss.
pub(crate) struct Frames {
    pub(crate) fates: Vec<Fate>,
    pub(crate) pass_eom: bool,
    /// Frames of transports that react to marks are marked instead of being refused.
    pub(crate) marks: bool,
}

impl Frames {
    pub(crate) fn new(draw: &Draw, pass_eom: bool) -> Frames {
        Frames { fates: vec![Fate::Taken; draw.contracts.len()], pass_eom, marks: false }
    }

    /// Draw frames that may be marked, and the keys of the scenario that say so.
    pub(crate) fn marking(draw: &mut Draw, pass_eom: bool) -> (Frames, String) {
        let marks = draw.coin();
        let action = if marks { "mark" } else { "drop" };
        let text = format!("pass_eom = {pass_eom}\naction = \"{action}\"\n");
        (Frames { marks, ..Frames::new(draw, pass_eom) }, text)
    }

    /// Accept or lose a cell; at the first cell of a frame `refuse` is the reason to refuse the frame, if there is one.
    pub(crate) fn arrive(&mut self, board: &mut Board, cell: Cell, refuse: Option<Reason>) {
        if refuse.is_some() && self.marks && cell.ect {
            return self.arrive(board, Cell { ce: board.fits(), ..cell }, None);
        }
        let fate = &mut self.fates[cell.vc];
        if cell.first {
            *fate = refuse.map_or(Fate::Taken, Fate::Refused);
        }
        let why = match *fate {
            Fate::Refused(reason) => Some(reason),
            Fate::Broken { fragment } if cell.eom && fragment && self.pass_eom && board.fits() => None,
            Fate::Broken { .. } => Some(Reason::Partial),
            Fate::Taken if board.fits() => None,
            Fate::Taken => {
                *fate = Fate::Broken { fragment: !cell.first };
                Some(Reason::Overflow)
            }
        };
        match why {
            Some(reason) => board.lose(cell, reason),
            None => board.accept(cell),
        }
    }
}

/// A scheme that reads the buffer only at the beginning of a frame.
struct Early<R> {
    frames: Frames,
    refuse: R,
}

impl<R: FnMut(&Board, Cell) -> bool> Model for Early<R> {
    fn arrive(&mut self, board: &mut Board, cell: Cell) {
        let refuse = cell.first && (self.refuse)(board, cell);
        self.frames.arrive(board, cell, refuse.then_some(Reason::Early));
    }
}

/// Draw a scheme that a scenario names `policy` and configures with `keys`.
fn early(
    draw: &mut Draw,
    policy: &str,
    keys: &str,
    refuse: impl FnMut(&Board, Cell) -> bool + 'static,
) -> Scheme {
    let pass_eom = draw.coin();
    let (frames, own) = match policy {
        "ppd" => (Frames::new(draw, pass_eom), format!("pass_eom = {pass_eom}\n")),
        _ => Frames::marking(draw, pass_eom),
    };
    Scheme::fifo(format!("policy = \"{policy}\"\n{own}{keys}"), Early { frames, refuse })
}

struct TailDrop {
    marked: Option<usize>,
}

impl Model for TailDrop {
    fn arrive(&mut self, board: &mut Board, cell: Cell) {
        if cell.marked && self.marked.is_some_and(|threshold| board.total() >= threshold) {
            board.lose(cell, Reason::Marked);
        } else if board.fits() {
            board.accept(cell);
        } else {
            board.lose(cell, Reason::Overflow);
        }
    }
}

#[test]
fn tail_drop_takes_what_fits_and_marked_cells_only_below_their_threshold() {
    let lost = compare(|draw| {
        let marked = draw.coin().then(|| draw.level());
        let key = marked.map_or(String::new(), |cells| format!("clp_threshold = \"{cells} cells\""));
        Scheme::fifo(format!("policy = \"tail-drop\"\n{key}"), TailDrop { marked })
    });
    assert!(lost > 10_000, "{lost}");
}

#[test]
fn partial_packet_discard_loses_the_rest_of_what_has_lost_a_cell() {
    assert!(compare(|draw| early(draw, "ppd", "", |_, _| false)) > 10_000);
}

#[test]
fn early_packet_discard_refuses_frames_from_its_threshold_on() {
    let lost = compare(|draw| {
        let threshold = draw.level();
        let key = format!("threshold = \"{threshold} cells\"");
        early(draw, "epd", &key, move |board, _| board.total() >= threshold)
    });
    assert!(lost > 10_000, "{lost}");
}

#[test]
fn step_marking_marks_what_finds_more_than_its_threshold() {
    let lost = compare(|draw| {
        let threshold = draw.level();
        let key = format!("threshold = \"{threshold} cells\"");
        early(draw, "step", &key, move |board, _| board.total() > threshold)
    });
    assert!(lost > 10_000, "{lost}");
}

/// W_i = X_i · N_a / X: the occupancy of a circuit in fair shares.
fn share(board: &Board, vc: usize) -> f64 {
    (board.of(vc) * board.active()) as f64 / board.total() as f64
}

#[test]
fn selective_drop_refuses_frames_of_circuits_above_their_share() {
    let lost = compare(|draw| {
        let (threshold, scale) = (draw.level(), draw.number(0.3, 1.5));
        let keys = format!("threshold = \"{threshold} cells\"\nscale = {scale:?}");
        early(draw, "selective-drop", &keys, move |board, cell| {
            board.total() > threshold && share(board, cell.vc) > scale
        })
    });
    assert!(lost > 10_000, "{lost}");
}

#[test]
fn fair_buffer_allocation_lets_the_share_fall_as_the_buffer_fills() {
    let lost = compare(|draw| {
        let r = draw.within(0, draw.capacity.saturating_sub(1));
        let k = draw.within(r + 1, draw.capacity.max(r + 1));
        let z = draw.number(0.3, 1.5);
        let keys = format!("threshold = \"{r} cells\"\ncapacity = \"{k} cells\"\nscale = {z:?}");
        early(draw, "fba", &keys, move |board, cell| {
            let x = board.total();
            x > r && share(board, cell.vc) > z * (k - r) as f64 / (x - r) as f64
        })
    });
    assert!(lost > 10_000, "{lost}");
}

struct Dfba {
    frames: Frames,
    low: usize,
    high: usize,
    a: f64,
    /// W_i of every circuit.
    weights: Vec<u64>,
    keyed: Keyed,
}

impl Dfba {
    /// P, and 0 for a circuit within its part of the queue.
    fn probability(&self, board: &Board, vc: usize) -> f64 {
        let (x, own, sum) = (board.total(), board.of(vc), self.weights.iter().sum::<u64>());
        if own as u64 * sum <= x as u64 * self.weights[vc] {
            return 0.0;
        }
        let (r, z) = (self.weights[vc] as f64 / sum as f64, 1.0 - self.weights[vc] as f64 / sum as f64);
        let fairness = (own as f64 - x as f64 * r) / (x as f64 * (1.0 - r));
        let load = (x - self.low) as f64 / (self.high - self.low) as f64;
        z * (self.a * fairness + (1.0 - self.a) * load)
    }
}

impl Model for Dfba {
    fn arrive(&mut self, board: &mut Board, cell: Cell) {
        let x = board.total();
        let why = if !cell.first || x < self.low {
            None
        } else if cell.marked {
            Some(Reason::Marked)
        } else if x >= self.high {
            Some(Reason::Early)
        } else {
            let p = self.probability(board, cell.vc);
            (p > 0.0 && self.keyed.unit(cell.subject()) < p).then_some(Reason::Random)
        };
        self.frames.arrive(board, cell, why);
    }
}

#[test]
fn differential_fair_buffer_allocation_draws_for_circuits_above_their_weighted_share() {
    let lost = compare(|draw| {
        let low = draw.within(0, draw.capacity);
        let (high, a, pass_eom) = (draw.within(low, draw.capacity), draw.number(0.0, 1.0), draw.coin());
        let text = format!(
            "policy = \"dfba\"\nlow = \"{low} cells\"\nhigh = \"{high} cells\"\nfairness = {a:?}\n\
             pass_eom = {pass_eom}"
        );
        let mcrs: Vec<u64> = draw.contracts.iter().map(|contract| contract.mcr.0).collect();
        let weights = if mcrs.iter().all(|mcr| *mcr == 0) { vec![1; mcrs.len()] } else { mcrs };
        let frames = Frames::new(draw, pass_eom);
        Scheme::fifo(text, Dfba { frames, low, high, a, weights, keyed: draw.keyed("dfba") })
    });
    assert!(lost > 10_000, "{lost}");
}
