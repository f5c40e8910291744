//! Schemes that discard at random before the buffer is full; a model draws from the same numbers.

use pushout_core::rng::Keyed;
use pushout_core::units::CELL_BYTES;
use pushout_core::verdict::Reason;

use crate::textbook::board::{Board, Cell, Model};
use crate::textbook::frames::Frames;
use crate::textbook::port::{RATE, Scheme};
use crate::textbook::{Draw, compare};

/// RED's average and its consequences.
struct Average {
    weight: f64,
    min: f64,
    max: f64,
    gentle: bool,
    /// Time to send a packet, in ps.
    packet: f64,
    average: f64,
    /// Packets since the last one that was discarded; -1 below minth.
    count: i64,
    /// Time since which no cell is queued.
    idle: u64,
    keyed: Keyed,
}

impl Average {
    /// Average in an arriving packet, and decide whether it is marked: with a maxp of its own, and only if it `may` be.
    fn meet(&mut self, board: &Board, cell: &Cell, max_p: f64, may: bool) -> bool {
        self.sample(board);
        self.take_count();
        may && self.is_marked(cell, max_p)
    }

    fn take_count(&mut self) {
        self.count = if self.average < self.min { -1 } else { self.count + 1 };
    }

    /// Draw with p_a = p_b / (1 − count · p_b), or 1 where that exceeds 1 or divides by 0.
    fn is_marked(&mut self, cell: &Cell, max_p: f64) -> bool {
        if self.average < self.min {
            return false;
        }
        let (base, spread) = (self.base(max_p), self.count as f64);
        let p = if spread * base < 1.0 { base / (1.0 - spread * base) } else { 1.0 };
        let marked = p >= 1.0 || self.keyed.unit(cell.subject()) < p;
        self.count = if marked { 0 } else { self.count };
        marked
    }

    /// avg ← (1 − w) · avg + w · q, or (1 − w)^m · avg with m = idle time / packet time.
    fn sample(&mut self, board: &Board) {
        let q = board.total();
        if q > 0 {
            self.average = (1.0 - self.weight) * self.average + self.weight * q as f64;
        } else if self.average > 0.0 {
            let m = (board.now - self.idle) as f64 / self.packet;
            self.average *= (1.0 - self.weight).powf(m);
            self.idle = board.now;
        }
    }

    /// Count a packet without room as a discarded one.
    fn overflow(&mut self, board: &Board) {
        if board.lost.last().is_some_and(|(_, reason)| *reason == Reason::Overflow) {
            self.count = 0;
        }
    }

    /// p_b: from 0 at minth to maxp at maxth, and gently on to 1 at twice maxth.
    fn base(&self, max_p: f64) -> f64 {
        match self.average {
            average if average < self.max => max_p * (average - self.min) / (self.max - self.min),
            average if self.gentle && average < 2.0 * self.max => {
                max_p + (1.0 - max_p) * (average - self.max) / self.max
            }
            _ => 1.0,
        }
    }
}

/// Draw parameters for a scenario, except for the name, and the model with the same values.
fn average(draw: &mut Draw, policy: &str) -> (String, Average, f64) {
    let (weight, max_p) = (draw.number(0.01, 1.0), draw.number(0.01, 1.0));
    let least = usize::from(policy == "fred"); // with 0 no circuit could hold a cell
    let min = draw.within(least, draw.capacity - 1);
    let max = draw.within(min + 1, draw.capacity);
    let curve = draw.word(&["classic", "gentle"]);
    let keys = format!(
        "policy = \"{policy}\"\nweight = {weight:?}\nmax_p = {max_p:?}\nmin_threshold = \"{min} cells\"\n\
         max_threshold = \"{max} cells\"\ncurve = \"{curve}\"\n"
    );
    let average = Average {
        weight,
        min: min as f64,
        max: max as f64,
        gentle: curve == "gentle",
        packet: RATE.time_of_bits(8 * CELL_BYTES).0 as f64,
        average: 0.0,
        count: -1,
        idle: 0,
        keyed: draw.keyed(policy),
    };
    (keys, average, max_p)
}

struct Red {
    frames: Frames,
    average: Average,
    max_p: f64,
    /// Time between two moves of maxp in ps, if it is adaptive.
    interval: Option<u64>,
}

impl Red {
    /// Adaptive RED, figure 2 of the paper of 2001: every interval seconds.
    fn adapt(&mut self, board: &Board) {
        let Average { weight, min, max, average, packet, idle, .. } = self.average;
        let avg = match board.total() {
            0 => average * (1.0 - weight).powf((board.now - idle) as f64 / packet),
            _ => average,
        };
        let [low, high] = [0.4, 0.6].map(|part| min + part * (max - min));
        if avg > high && self.max_p <= 0.5 {
            self.max_p += f64::min(0.01, self.max_p / 4.0);
        } else if avg < low && self.max_p >= 0.01 {
            self.max_p *= 0.9;
        }
    }
}

impl Model for Red {
    fn arrive(&mut self, board: &mut Board, cell: Cell) {
        let refuse = cell.first && self.average.meet(board, &cell, self.max_p, true);
        self.frames.arrive(board, cell, refuse.then_some(Reason::Random));
        self.average.overflow(board);
    }

    fn left(&mut self, board: &Board, _: Cell) {
        if board.total() == 0 {
            self.average.idle = board.now;
        }
    }

    fn tick(&mut self, board: &Board) -> Option<u64> {
        let interval = self.interval?;
        if board.now > 0 {
            self.adapt(board);
        }
        Some(board.now + interval)
    }
}

#[test]
fn red_discards_packets_the_more_probably_the_longer_the_queue_has_been() {
    let lost = compare(|draw| {
        let (keys, mut average, max_p) = average(draw, "red");
        let (pass_eom, packet) = (draw.coin(), draw.within(1, 5000));
        average.packet = packet as f64 * 1e6;
        let (frames, own) = Frames::marking(draw, pass_eom);
        let interval = draw.coin().then(|| draw.within(100, 5000) as u64);
        let clock = interval.map_or(String::new(), |us| format!("adaptive = true\ninterval = \"{us} us\"\n"));
        let interval = interval.map(|us| us * 1_000_000);
        let text = format!("{keys}packet_time = \"{packet} us\"\n{own}{clock}");
        Scheme::fifo(text, Red { frames, average, max_p, interval })
    });
    assert!(lost > 10_000, "{lost}");
}

/// State of a circuit: figure 3 of paper 000.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    AcceptFirst,
    AcceptCell,
    AcceptRest,
    DiscardCell,
    Broken { fragment: bool },
}

struct AtmRed {
    states: Vec<State>,
    average: Average,
    max_p: Vec<f64>,
    literal_eom: bool,
    pass_eom: bool,
    discard_rest: bool,
    marks: bool,
}

impl Model for AtmRed {
    fn arrive(&mut self, board: &mut Board, cell: Cell) {
        use State::{AcceptCell, AcceptFirst, AcceptRest, Broken, DiscardCell};
        let state = self.states[cell.vc];
        let open = state == AcceptFirst || state == AcceptCell;
        let drawn = self.average.meet(board, &cell, self.max_p[cell.vc], open);
        let bears = drawn && self.marks && cell.ect;
        let marked = drawn && !bears;
        let (discard, next) = match (state, marked, cell.eom) {
            (AcceptFirst | AcceptCell, false, false) => (None, AcceptCell),
            (AcceptFirst | AcceptCell, false, true) => (None, AcceptFirst),
            (AcceptFirst, true, false) => (Some(Reason::Random), DiscardCell),
            (AcceptFirst, true, true) => (Some(Reason::Random), AcceptFirst),
            (AcceptCell, true, false) => (None, AcceptRest),
            (AcceptCell, true, true) if self.literal_eom => (Some(Reason::Random), AcceptFirst),
            (AcceptCell, true, true) => (None, DiscardCell),
            (AcceptRest, _, false) => (None, AcceptRest),
            (AcceptRest, _, true) => (None, DiscardCell),
            (DiscardCell, _, eom) => (Some(Reason::Random), if eom { AcceptFirst } else { DiscardCell }),
            (Broken { fragment }, _, true) => {
                let passes = fragment && self.pass_eom && board.fits();
                ((!passes).then_some(Reason::Partial), AcceptFirst)
            }
            (Broken { .. }, _, false) => (Some(Reason::Partial), state),
        };
        self.states[cell.vc] = next;
        match discard {
            Some(reason) => board.lose(cell, reason),
            None if board.fits() => board.accept(Cell { ce: bears, ..cell }),
            None => {
                board.lose(cell, Reason::Overflow);
                self.average.count = 0;
                if self.discard_rest {
                    let broken = Broken { fragment: state != AcceptFirst };
                    self.states[cell.vc] = if cell.eom { AcceptFirst } else { broken };
                }
            }
        }
    }

    fn left(&mut self, board: &Board, _: Cell) {
        if board.total() == 0 {
            self.average.idle = board.now;
        }
    }
}

#[test]
fn atm_red_lets_a_marked_cell_pass_and_discards_the_next_frame() {
    let lost = compare(|draw| {
        let (keys, average, max_p) = average(draw, "atm-red");
        let [literal_eom, pass_eom, discard_rest, marks] = [(); 4].map(|()| draw.coin());
        let action = if marks { "mark" } else { "drop" };
        let frame = draw.coin().then(|| draw.within(1, 20) as u64);
        let own = frame.map_or(String::new(), |cells| format!("frame = \"{cells} cells\"\n"));
        let text = format!(
            "{keys}{own}literal_eom = {literal_eom}\npass_eom = {pass_eom}\ndiscard_rest = {discard_rest}\n\
             action = \"{action}\""
        );
        let max_p = draw.contracts.iter().map(|own| max_p / frame.unwrap_or(own.frame) as f64).collect();
        let states = vec![State::AcceptFirst; draw.contracts.len()];
        Scheme::fifo(text, AtmRed { states, average, max_p, literal_eom, pass_eom, discard_rest, marks })
    });
    assert!(lost > 10_000, "{lost}");
}

struct Espd {
    frames: Frames,
    listed: Vec<bool>,
    low: usize,
    high: usize,
}

impl Model for Espd {
    fn arrive(&mut self, board: &mut Board, cell: Cell) {
        let x = board.total();
        if x < self.low {
            self.listed.fill(false);
        }
        if cell.first && x >= self.high {
            let room = (board.capacity - self.high).max(1) as f64;
            let wanted = 1.0 + (board.active() * (x - self.high)) as f64 / room;
            let listed = self.listed.iter().filter(|is| **is).count();
            if (listed as f64) < wanted {
                self.listed[cell.vc] = true;
            }
        }
        let refuse = cell.first && self.listed[cell.vc];
        self.frames.arrive(board, cell, refuse.then_some(Reason::Early));
    }
}

#[test]
fn espd_lists_circuits_that_lose_every_frame_until_congestion_is_over() {
    let lost = compare(|draw| {
        let low = draw.within(1, draw.capacity);
        let (high, pass_eom) = (draw.within(low, draw.capacity), draw.coin());
        let text = format!(
            "policy = \"espd\"\nlow = \"{low} cells\"\nhigh = \"{high} cells\"\npass_eom = {pass_eom}"
        );
        let listed = vec![false; draw.contracts.len()];
        Scheme::fifo(text, Espd { frames: Frames::new(draw, pass_eom), listed, low, high })
    });
    assert!(lost > 10_000, "{lost}");
}

struct Fred {
    frames: Frames,
    average: Average,
    max_p: f64,
    min_packets: f64,
    /// For every circuit the size of a packet, and the number of times it exceeded its share.
    packet: Vec<f64>,
    strikes: Vec<u64>,
}

impl Fred {
    /// Return the reason for which a frame is discarded, if it is: its circuit exceeds its share, or a draw.
    fn discards(&mut self, board: &Board, cell: &Cell) -> Option<Reason> {
        let vc = cell.vc;
        self.average.sample(board);
        let Average { average, min, max, .. } = self.average;
        let (own, packet) = (board.of(vc) as f64, self.packet[vc]);
        let share = (average / board.active() as f64).max(packet);
        let most = if average >= max { 2.0 * packet } else { min };
        if own >= most || average >= max && own > 2.0 * share || own >= share && self.strikes[vc] > 1 {
            self.strikes[vc] += 1;
            return Some(Reason::Early);
        }
        self.average.take_count();
        let takes_part = own >= share.max(self.min_packets * packet) || average >= max;
        (takes_part && self.average.is_marked(cell, self.max_p)).then_some(Reason::Random)
    }
}

impl Model for Fred {
    fn arrive(&mut self, board: &mut Board, cell: Cell) {
        let why = if cell.first { self.discards(board, &cell) } else { None };
        let marks = self.frames.marks;
        self.frames.marks = marks && why == Some(Reason::Random); // who wants too much is refused
        self.frames.arrive(board, cell, why);
        self.frames.marks = marks;
        self.average.overflow(board);
    }

    fn left(&mut self, board: &Board, cell: Cell) {
        if cell.eom {
            let Average { weight, average, .. } = self.average;
            self.average.average = (1.0 - weight) * average + weight * board.total() as f64;
        }
        if board.of(cell.vc) == 0 {
            self.strikes[cell.vc] = 0;
        }
        if board.total() == 0 {
            self.average.idle = board.now;
        }
    }
}

#[test]
fn fred_holds_circuits_to_their_share_that_have_wanted_too_much() {
    let lost = compare(|draw| {
        draw.capacity = draw.capacity.max(2); // the lower threshold is not 0, and the upper one above it
        let (keys, average, max_p) = average(draw, "fred");
        let keys: Vec<&str> = keys.lines().filter(|line| !line.starts_with("curve")).collect();
        let (min_packets, pass_eom) = (draw.within(0, 4), draw.coin());
        let (frames, own) = Frames::marking(draw, pass_eom);
        let text = format!("{}\nmin_packets = {min_packets}\n{own}", keys.join("\n"));
        let packet: Vec<f64> = draw.contracts.iter().map(|contract| contract.frame as f64).collect();
        let strikes = vec![0; packet.len()];
        let mean = draw.contracts.iter().map(|contract| contract.octets).sum::<u64>() / packet.len() as u64;
        let average = Average { gentle: false, packet: RATE.time_of_bits(8 * mean).0 as f64, ..average };
        Scheme::fifo(text, Fred { frames, average, max_p, min_packets: min_packets as f64, packet, strikes })
    });
    assert!(lost > 10_000, "{lost}");
}
