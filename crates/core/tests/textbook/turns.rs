//! Schedulers, and the thresholds of queues of single circuits.

use pushout_core::buffer::context::Contract;
use pushout_core::verdict::Reason;

use crate::textbook::board::{Board, Cell, Model};
use crate::textbook::frames::Frames;
use crate::textbook::port::{RATE, Scheme};
use crate::textbook::{Draw, compare};

/// The cost of a cell, in bit · ps/s.
const CELL: i128 = 424 * 1_000_000_000_000;

/// Rule for the circuit served next.
#[derive(Clone, Debug)]
pub(crate) enum Turns {
    /// The next circuit with cells, after the one that was served last.
    RoundRobin { last: usize },
    /// The least number with cells; turns among equals.
    Priority { numbers: Vec<u32>, last: Vec<usize> },
    /// A queue that is owed a cell, in turn or by stamps, else a queue that has one, in turn.
    Owed { owed: Owed, guaranteed: usize, excess: usize },
    /// Visits in the order in which circuits got cells to send: each visit gives octets, and each cell uses its own.
    Deficits { list: Vec<usize>, is_visited: bool, cost: usize, quanta: Vec<usize>, deficits: Vec<usize> },
}

/// Debts to circuits. Rates are MCR', in whole bits of cells per second.
#[derive(Clone, Debug)]
pub(crate) enum Owed {
    /// Credits of each period, in bit · ps/s; at most one cell of the rest is carried over, or only whole cells are
    /// given.
    Credits { rates: Vec<i128>, balances: Vec<i128>, period: u64, exact: bool, begun: u64 },
    /// A cell every 424 bit / MCR': the time at which the next one becomes due, in ps times the rate.
    Clock { rates: Vec<i128>, due: Vec<i128>, exact: bool },
}

impl Owed {
    fn owes(&mut self, vc: usize, now: u64) -> bool {
        match self {
            Owed::Credits { rates, balances, period, exact, begun } => {
                while *begun * *period <= now {
                    *begun += 1;
                    for (balance, rate) in balances.iter_mut().zip(&*rates) {
                        let credit = i128::from(*period) * rate;
                        *balance = if *exact { (*balance).min(CELL) + credit } else { credit / CELL * CELL };
                    }
                }
                balances[vc] >= CELL
            }
            Owed::Clock { rates, due, .. } => rates[vc] > 0 && due[vc] / rates[vc] <= i128::from(now),
        }
    }

    fn charge(&mut self, vc: usize, now: u64) {
        match self {
            Owed::Credits { balances, .. } => balances[vc] -= CELL,
            Owed::Clock { rates, due, exact } => {
                let late = if *exact { CELL / rates[vc] } else { 0 };
                let earliest = (i128::from(now) - late).max(0) * rates[vc];
                due[vc] = due[vc].max(earliest) + CELL;
            }
        }
    }
}

/// Return the next circuit after this one for which a condition is true.
fn behind(last: usize, vcs: usize, is: impl Fn(usize) -> bool) -> Option<usize> {
    (1..=vcs).map(|step| (last + step) % vcs).find(|&vc| is(vc))
}

impl Turns {
    /// The circuit to be served.
    pub(crate) fn next(&mut self, board: &Board) -> Option<usize> {
        let vcs = board.last.len();
        let waits = |vc: usize| board.waiting.iter().any(|cell| cell.vc == vc);
        match self {
            Turns::RoundRobin { last } => {
                let vc = behind(*last, vcs, waits)?;
                *last = vc;
                Some(vc)
            }
            Turns::Priority { numbers, last } => {
                let least = (0..vcs).filter(|&vc| waits(vc)).map(|vc| numbers[vc]).min()?;
                let vc = behind(last[least as usize], vcs, |vc| waits(vc) && numbers[vc] == least)?;
                last[least as usize] = vc;
                Some(vc)
            }
            Turns::Owed { owed, guaranteed, excess } => {
                let is_owed: Vec<bool> = (0..vcs).map(|vc| owed.owes(vc, board.now)).collect();
                let wants = |vc: &usize| waits(*vc) && is_owed[*vc];
                let next = match owed {
                    Owed::Credits { .. } => behind(*guaranteed, vcs, |vc| wants(&vc)),
                    Owed::Clock { rates, due, .. } => {
                        (0..vcs).filter(wants).min_by_key(|&vc| due[vc] / rates[vc] + CELL / rates[vc])
                    }
                };
                if let Some(vc) = next {
                    owed.charge(vc, board.now);
                    *guaranteed = vc;
                    return Some(vc);
                }
                let vc = behind(*excess, vcs, waits)?;
                *excess = vc;
                Some(vc)
            }
            Turns::Deficits { list, is_visited, cost, quanta, deficits } => {
                for cell in &board.waiting {
                    if !list.contains(&cell.vc) {
                        list.push(cell.vc);
                    }
                }
                let vc = loop {
                    let vc = *list.first()?;
                    if !*is_visited {
                        deficits[vc] += quanta[vc];
                    }
                    *is_visited = deficits[vc] >= *cost;
                    if *is_visited {
                        break vc;
                    }
                    list.rotate_left(1);
                };
                deficits[vc] -= *cost;
                if board.queue(vc).len() == 1 {
                    list.remove(0);
                    (deficits[vc], *is_visited) = (0, false);
                }
                Some(vc)
            }
        }
    }
}

/// Draw a scheduler for a scenario, and its model.
pub(crate) fn scheduler(draw: &mut Draw) -> (String, Turns) {
    let vcs = draw.contracts.len();
    match draw.word(&["round-robin", "strict-priority", "wrr-mcr"]) {
        "round-robin" => ("policy = \"round-robin\"".to_string(), Turns::RoundRobin { last: vcs - 1 }),
        "strict-priority" => {
            let numbers: Vec<u32> = draw.contracts.iter().map(|contract| contract.priority).collect();
            ("policy = \"strict-priority\"".to_string(), Turns::Priority { numbers, last: vec![vcs - 1; 3] })
        }
        _ => weighted(draw),
    }
}

/// Weighted round robin for minimum cell rates.
fn weighted(draw: &mut Draw) -> (String, Turns) {
    let (period_us, exact, plus) = (draw.within(200, 5000) as u64, draw.coin(), draw.coin());
    let (layer, realisation) = (draw.word(&["cells", "tcp"]), draw.word(&["credits", "virtual-clock"]));
    let carry = if exact { "exact" } else { "floor" };
    let text = format!(
        "policy = \"wrr-mcr\"\nrealisation = \"{realisation}\"\nperiod = \"{period_us} us\"\n\
         carry = \"{carry}\"\nmcr_plus = {plus}\nreserved = \"5 %\"\nlayer = \"{layer}\""
    );
    // an MCR of application octets takes all cells of the frames that carry them
    let in_cells = |contract: &Contract| match layer {
        "tcp" => contract.mcr.0 * contract.octets / contract.payload.unwrap(),
        _ => contract.mcr.0,
    };
    let mut rates: Vec<u64> = draw.contracts.iter().map(in_cells).collect();
    if plus {
        let (sum, reserved) = (rates.iter().sum::<u64>().max(1), RATE.0 * 5 / 100);
        rates.iter_mut().for_each(|rate| *rate += reserved * *rate / sum); // equation (12)
    }
    let (vcs, rates) = (rates.len(), rates.into_iter().map(i128::from).collect());
    let owed = match realisation {
        "credits" => {
            Owed::Credits { rates, balances: vec![0; vcs], period: period_us * 1_000_000, exact, begun: 0 }
        }
        _ => Owed::Clock { rates, due: vec![0; vcs], exact },
    };
    (text, Turns::Owed { owed, guaranteed: vcs - 1, excess: vcs - 1 })
}

/// An admission rule at queues that take turns.
struct Queues<A> {
    admit: A,
    turns: Turns,
}

impl<A: FnMut(&mut Board, Cell)> Model for Queues<A> {
    fn arrive(&mut self, board: &mut Board, cell: Cell) {
        (self.admit)(board, cell);
    }

    fn next(&mut self, board: &mut Board) -> Option<Cell> {
        let vc = self.turns.next(board)?;
        board.queue(vc).first().copied()
    }
}

/// The first cell of the next circuit in turn, admission by this rule.
fn queues(draw: &mut Draw, admission: String, admit: impl FnMut(&mut Board, Cell) + 'static) -> Scheme {
    let (scheduler, turns) = scheduler(draw);
    Scheme { admission, pushout: None, scheduler, model: Box::new(Queues { admit, turns }) }
}

/// Visits to the queues of a port at which whatever fits is accepted: a visit gives a queue its quantum times its weight, and a cell
/// costs it `cost`.
fn visits(draw: &Draw, scheduler: String, cost: usize, quantum: usize) -> Scheme {
    let quanta: Vec<usize> = draw.contracts.iter().map(|own| quantum * own.weight as usize).collect();
    let deficits = vec![0; quanta.len()];
    let turns = Turns::Deficits { list: Vec::new(), is_visited: false, cost, quanta, deficits };
    let admit = |board: &mut Board, cell| match board.fits() {
        true => board.accept(cell),
        false => board.lose(cell, Reason::Overflow),
    };
    let admission = "policy = \"tail-drop\"".to_string();
    Scheme { admission, pushout: None, scheduler, model: Box::new(Queues { admit, turns }) }
}

#[test]
fn deficit_round_robin_gives_queues_octets_by_their_weights() {
    let lost = compare(|draw| {
        let quantum = draw.within(1, 400);
        visits(draw, format!("policy = \"drr\"\nquantum = \"{quantum} bytes\""), 53, quantum)
    });
    assert!(lost > 10_000, "{lost}");
}

#[test]
fn weighted_round_robin_gives_queues_packets_by_their_weights() {
    let lost = compare(|draw| visits(draw, "policy = \"wrr\"".to_string(), 1, 1));
    assert!(lost > 10_000, "{lost}");
}

/// T = α · (B − X).
fn threshold(alpha: f64, board: &Board) -> f64 {
    alpha * (board.capacity - board.total()) as f64
}

#[test]
fn queues_take_turns_as_their_scheduler_says() {
    let lost = compare(|draw| {
        queues(draw, "policy = \"tail-drop\"".to_string(), |board, cell| match board.fits() {
            true => board.accept(cell),
            false => board.lose(cell, Reason::Overflow),
        })
    });
    assert!(lost > 10_000, "{lost}");
}

#[test]
fn a_dynamic_threshold_blocks_cells_of_queues_longer_than_a_multiple_of_the_free_room() {
    let lost = compare(|draw| {
        let alpha = draw.number(0.1, 8.0);
        let text = format!("policy = \"dynamic-threshold\"\nalpha = {alpha:?}");
        queues(draw, text, move |board, cell| match board.of(cell.vc) as f64 >= threshold(alpha, board) {
            true => board.lose(cell, Reason::Overflow),
            false => board.accept(cell),
        })
    });
    assert!(lost > 10_000, "{lost}");
}

#[test]
fn a_static_threshold_blocks_cells_of_queues_that_have_their_limit() {
    let lost = compare(|draw| {
        let limit = draw.within(1, draw.capacity);
        let text = format!("policy = \"static-threshold\"\nlimit = \"{limit} cells\"");
        queues(draw, text, move |board, cell| match board.of(cell.vc) < limit && board.fits() {
            true => board.accept(cell),
            false => board.lose(cell, Reason::Overflow),
        })
    });
    assert!(lost > 10_000, "{lost}");
}

/// With the arriving cell the k longest queues hold at most B · H_k / H_N, for every k.
fn is_harmonic(board: &Board, vc: usize, vcs: usize) -> bool {
    let mut lengths: Vec<usize> = (0..vcs).map(|other| board.of(other) + usize::from(other == vc)).collect();
    lengths.sort_by(|one, other| other.cmp(one));
    let number = |most: usize| (1..=most).map(|k| 1.0 / k as f64).sum::<f64>();
    let all = board.capacity as f64 / number(vcs);
    (1..=vcs).all(|k| lengths[..k].iter().sum::<usize>() as f64 <= all * number(k) + 1e-9)
}

#[test]
fn the_harmonic_policy_limits_the_longest_queues_together() {
    let lost = compare(|draw| {
        let vcs = draw.contracts.len();
        queues(draw, "policy = \"harmonic\"".to_string(), move |board, cell| {
            match board.fits() && is_harmonic(board, cell.vc, vcs) {
                true => board.accept(cell),
                false => board.lose(cell, Reason::Overflow),
            }
        })
    });
    assert!(lost > 10_000, "{lost}");
}

#[test]
fn complete_sharing_takes_what_fits() {
    let lost = compare(|draw| {
        let text = "policy = \"complete-sharing\"".to_string();
        queues(draw, text, |board, cell| match board.fits() {
            true => board.accept(cell),
            false => board.lose(cell, Reason::Overflow),
        })
    });
    assert!(lost > 10_000, "{lost}");
}

#[test]
fn with_early_packet_discard_the_dynamic_threshold_refuses_frames() {
    let lost = compare(|draw| {
        let (alpha, pass_eom) = (draw.number(0.1, 8.0), draw.coin());
        let text = format!("policy = \"dt-epd\"\nalpha = {alpha:?}\npass_eom = {pass_eom}");
        let mut frames = Frames::new(draw, pass_eom);
        queues(draw, text, move |board, cell| {
            let refuse = board.of(cell.vc) as f64 >= threshold(alpha, board);
            frames.arrive(board, cell, refuse.then_some(Reason::Early));
        })
    });
    assert!(lost > 10_000, "{lost}");
}
