//! Schemes with a clock, which divide the rate of the line among circuits.

use std::collections::VecDeque;

use pushout_core::rng::Keyed;
use pushout_core::units::CELL_BYTES;
use pushout_core::verdict::Reason;

use crate::textbook::board::{Board, Cell, Model};
use crate::textbook::compare;
use crate::textbook::frames::Frames;
use crate::textbook::port::{RATE, Scheme};

/// Credit for a cell, in bit · ps/s.
const CELL: i128 = 424 * 1_000_000_000_000;

/// Limit of a virtual queue.
#[derive(Clone, Copy, PartialEq)]
enum Share {
    Equal,
    Mean,
    Mcr,
    None,
}

struct VirtualQueueing {
    frames: Frames,
    threshold: usize,
    share: Share,
    /// The virtual queues M_i, and the rest of MCR_i · T in this period.
    lengths: Vec<usize>,
    credits: Vec<i128>,
    mcrs: Vec<u64>,
    counts_credits: bool,
    carry: bool,
    period: u64,
    next: u64,
    /// Circuit that was served last by its credit, and the one served last without.
    guaranteed: usize,
    excess: usize,
}

impl VirtualQueueing {
    /// M_i > Th_i, without a division.
    fn is_long(&self, board: &Board, vc: usize) -> bool {
        let (own, threshold) = (self.lengths[vc], self.threshold);
        let used = self.lengths.iter().filter(|length| **length > 0).count();
        let sum: u64 = self.mcrs.iter().sum();
        match self.share {
            Share::Mcr if sum > 0 => own as u64 * sum > threshold as u64 * self.mcrs[vc],
            Share::Equal | Share::Mcr => own * used > threshold,
            Share::Mean => own * used > board.total(),
            Share::None => own > 0,
        }
    }

    /// Return the next circuit after this one that has a virtual queue, and as much credit.
    fn behind(&self, last: usize, credit: i128) -> Option<usize> {
        let vcs = self.lengths.len();
        let will_do = |vc: &usize| self.lengths[*vc] > 0 && (credit == 0 || self.credits[*vc] >= credit);
        (1..=vcs).map(|step| (last + step) % vcs).find(will_do)
    }
}

impl Model for VirtualQueueing {
    fn arrive(&mut self, board: &mut Board, cell: Cell) {
        let refuse = board.total() >= self.threshold && self.is_long(board, cell.vc);
        self.frames.arrive(board, cell, refuse.then_some(Reason::Early));
        self.lengths[cell.vc] += usize::from(board.lost.is_empty());
    }

    fn left(&mut self, _: &Board, _: Cell) {
        if self.counts_credits
            && let Some(vc) = self.behind(self.guaranteed, CELL)
        {
            (self.guaranteed, self.credits[vc]) = (vc, self.credits[vc] - CELL);
            self.lengths[vc] -= 1;
        } else {
            self.excess = self.behind(self.excess, 0).unwrap();
            self.lengths[self.excess] -= 1;
        }
    }

    fn tick(&mut self, _: &Board) -> Option<u64> {
        if !self.counts_credits || self.mcrs.iter().all(|mcr| *mcr == 0) {
            return None;
        }
        for (credit, mcr) in self.credits.iter_mut().zip(&self.mcrs) {
            let kept = if self.carry { *credit % CELL } else { 0 };
            *credit = kept + i128::from(*mcr) * i128::from(self.period);
        }
        self.next += self.period;
        Some(self.next)
    }
}

#[test]
fn virtual_queueing_charges_each_departure_to_whom_per_circuit_queueing_would_have_served() {
    let lost = compare(|draw| {
        let (threshold, period_us) = (draw.level(), draw.within(200, 5000));
        let [counts_credits, carry, pass_eom] = [draw.coin(), draw.coin(), draw.coin()];
        let word = draw.word(&["equal", "mean", "mcr", "none"]);
        let share = match word {
            "equal" => Share::Equal,
            "mean" => Share::Mean,
            "mcr" => Share::Mcr,
            _ => Share::None,
        };
        let text = format!(
            "policy = \"virtual-queueing\"\nthreshold = \"{threshold} cells\"\nperiod = \"{period_us} us\"\n\
             share = \"{word}\"\ncredits = {counts_credits}\ncarry = {carry}\npass_eom = {pass_eom}"
        );
        let vcs = draw.contracts.len();
        let model = VirtualQueueing {
            frames: Frames::new(draw, pass_eom),
            threshold,
            share,
            lengths: vec![0; vcs],
            credits: vec![0; vcs],
            mcrs: draw.contracts.iter().map(|contract| contract.mcr.0).collect(),
            counts_credits,
            carry,
            period: period_us as u64 * 1_000_000,
            next: 0,
            guaranteed: vcs - 1,
            excess: vcs - 1,
        };
        Scheme::fifo(text, model)
    });
    assert!(lost > 10_000, "{lost}");
}

/// Class of a circuit, between two measurements.
#[derive(Clone, Copy, PartialEq)]
enum Class {
    Violating,
    /// Its frames are refused with this probability.
    Pending(f64),
    Clear,
}

struct Wfepd {
    frames: Frames,
    threshold: usize,
    /// δ and, for a sliding window, its number of intervals; otherwise q of the moving average.
    interval: u64,
    window: Option<usize>,
    memory: f64,
    bottom: f64,
    top: f64,
    max_p: f64,
    /// R, and for every circuit its share, its rate r, the octets of this interval and of the window.
    rate: f64,
    shares: Vec<f64>,
    rates: Vec<f64>,
    octets: Vec<u64>,
    past: Vec<VecDeque<u64>>,
    classes: Vec<Class>,
    next: u64,
    keyed: Keyed,
}

impl Wfepd {
    fn measure(&mut self) {
        let seconds = self.interval as f64 / 1e12;
        for vc in 0..self.rates.len() {
            let octets = std::mem::take(&mut self.octets[vc]);
            self.past[vc].push_back(octets);
            self.rates[vc] = match self.window {
                Some(intervals) => {
                    let out = self.past[vc].len().saturating_sub(intervals);
                    self.past[vc].drain(..out);
                    8.0 * self.past[vc].iter().sum::<u64>() as f64 / (intervals as f64 * seconds)
                }
                None => self.memory * self.rates[vc] + (1.0 - self.memory) * 8.0 * octets as f64 / seconds,
            };
        }
    }

    /// Classify circuits by equations (3) to (10), with the corrections that reproduce the paper's own examples.
    fn classify(&mut self) {
        let (r, a) = (&self.rates, &self.shares);
        let mut order: Vec<usize> = (0..r.len()).collect();
        order.sort_by(|&i, &j| (r[j] / a[j]).total_cmp(&(r[i] / a[i])));
        let psi = r.iter().sum::<f64>() - self.rate;
        // the joint rate of the first `count` circuits, for one unit of their shares
        let part = |count: usize| {
            let together: f64 = order[..count].iter().map(|&i| r[i]).sum();
            (together - psi) / order[..count].iter().map(|&i| a[i]).sum::<f64>()
        };
        let first = |times: f64| {
            (1..=r.len()).find(|&count| r[order[count - 1]] <= times * part(count) * a[order[count - 1]])
        };
        let omega = first(1.0).unwrap_or(r.len() + 1);
        let nu = first(self.bottom).unwrap_or(r.len() + 1);
        for (place, &i) in order.iter().enumerate() {
            let count = place + 1;
            let sch = if count < omega { part(omega - 1) * a[i] } else { r[i] };
            self.classes[i] = if count < omega && r[i] > self.top * sch {
                Class::Violating
            } else if count < omega || count < nu {
                let calc = part(nu - 1) * a[i];
                let (from, to) = (self.bottom * calc, self.top * calc);
                Class::Pending(self.max_p * ((r[i] - from) / (to - from)).clamp(0.0, 1.0))
            } else {
                Class::Clear
            };
        }
    }
}

impl Model for Wfepd {
    fn arrive(&mut self, board: &mut Board, cell: Cell) {
        let mut why = None;
        if cell.first && board.total() >= self.threshold {
            why = match self.classes[cell.vc] {
                Class::Violating => Some(Reason::Early),
                Class::Pending(p) if p >= 1.0 => Some(Reason::Early), // no chance is left
                Class::Pending(0.0) => None,
                Class::Pending(p) => (self.keyed.unit(cell.subject()) < p).then_some(Reason::Random),
                Class::Clear => None,
            };
        }
        self.frames.arrive(board, cell, why);
        self.octets[cell.vc] += CELL_BYTES * u64::from(board.lost.is_empty());
    }

    fn tick(&mut self, board: &Board) -> Option<u64> {
        if board.now > 0 {
            self.measure();
            self.classify();
        }
        self.next += self.interval;
        Some(self.next)
    }
}

#[test]
fn wfepd_divides_the_line_among_those_that_want_more_than_their_part() {
    let lost = compare(|draw| {
        let (threshold, interval_ms) = (draw.within(0, draw.capacity / 2), draw.within(1, 10));
        let (intervals, pass_eom) = (draw.within(1, 10), draw.coin());
        let sliding = draw.coin();
        let (memory, margin) = (draw.number(0.0, 0.95), draw.number(0.5, 1.2));
        let (bottom, max_p) = (draw.number(0.2, 0.9), draw.number(0.0, 1.0));
        let top = draw.number(1.0, 1.5);
        let meter = if sliding { "sliding-window" } else { "moving-average" };
        let text = format!(
            "policy = \"wfepd\"\nmeter = \"{meter}\"\ninterval = \"{interval_ms} ms\"\nmemory = {memory:?}\n\
             window = \"{} ms\"\nbottom = {bottom:?}\ntop = {top:?}\nmax_p = {max_p:?}\nmargin = {margin:?}\n\
             threshold = \"{threshold} cells\"\npass_eom = {pass_eom}",
            intervals * interval_ms
        );
        let vcs = draw.contracts.len();
        let model = Wfepd {
            frames: Frames::new(draw, pass_eom),
            threshold,
            interval: interval_ms as u64 * 1_000_000_000,
            window: sliding.then_some(intervals),
            memory,
            bottom,
            top,
            max_p,
            rate: margin * RATE.0 as f64,
            shares: draw.contracts.iter().map(|contract| contract.weight).collect(),
            rates: vec![0.0; vcs],
            octets: vec![0; vcs],
            past: vec![VecDeque::new(); vcs],
            classes: vec![Class::Clear; vcs],
            next: 0,
            keyed: draw.keyed("wfepd"),
        };
        Scheme::fifo(text, model)
    });
    assert!(lost > 10_000, "{lost}");
}
