//! Push-out: when the buffer is full, a part of a long queue is removed.

use pushout_core::verdict::Reason;

use crate::textbook::board::{Board, Cell, Model};
use crate::textbook::port::{RATE, Scheme};
use crate::textbook::turns::{Turns, scheduler};
use crate::textbook::{Draw, compare};

/// Part of a queue that is pushed out.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Part {
    /// The partial packet at the head, up to the first EOM; with `keep_eom` without it if the receiver has begun to
    /// collect that packet.
    Head { keep_eom: bool },
    /// The first packet all cells of which are queued.
    Entire,
    /// The partial packet at the tail, after the last EOM; or with this EOM, which may be all of it.
    Tail { last_eom_goes: bool },
    /// The last packet, as far as it has arrived.
    Last,
}

/// Action when the queue does not have that part.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fallback {
    NextQueue,
    HeadFragment,
    Refuse,
}

struct PushOut {
    part: Part,
    fallback: Fallback,
    /// MCRs, if a circuit's share of the buffer does not count.
    shares: Option<Vec<u64>>,
    pass_eom: bool,
    discard_rest: bool,
    /// The register LQ, if queues are compared with it instead of with each other.
    register: Option<usize>,
    /// Only a queue that is longer than the arriving cell's is cut; that queue counts with the cell or without it.
    drop_longest: Option<usize>,
    turns: Turns,
    /// For every circuit whether the arriving frame has lost a cell, and whether a part of it was queued before.
    broken: Vec<Option<bool>>,
    /// The threshold of early packet discard before push-out, and for every circuit whether it refuses the arriving
    /// frame.
    threshold: Option<usize>,
    refused: Vec<bool>,
}

/// A packet in a queue: all cells after an EOM up to the next. Where an EOM is missing, two frames are one packet.
struct Packet {
    cells: Vec<Cell>,
    /// The receiver has begun to collect it.
    begun: bool,
}

impl Packet {
    /// Return whether it is one complete frame.
    fn is_entire(&self) -> bool {
        let (first, last) = (self.cells[0], self.cells[self.cells.len() - 1]);
        first.first && first.frame == last.frame && self.cells.len() == usize::from(last.index) + 1
    }
}

/// The packets of a queue that end in it.
fn packets(board: &Board, vc: usize) -> Vec<Packet> {
    let queue = board.queue(vc);
    let ended =
        queue.split_inclusive(|cell| cell.eom).filter(|cells| cells.last().is_some_and(|cell| cell.eom));
    let collecting = board.is_collecting(vc);
    ended
        .enumerate()
        .map(|(place, cells)| Packet { cells: cells.to_vec(), begun: place == 0 && collecting })
        .collect()
}

impl PushOut {
    /// Equations (10) and (11), times the rate of the line: VirtualQueueLength = QueueLength − MCR · BufferSize / LinkRate.
    fn length(&self, board: &Board, vc: usize) -> i128 {
        let share = self.shares.as_ref().map_or(0, |mcrs| mcrs[vc]);
        board.of(vc) as i128 * i128::from(RATE.0) - i128::from(share) * board.capacity as i128
    }

    /// Return the queues in the order in which they are searched.
    fn order(&self, board: &Board) -> Vec<usize> {
        let vcs = board.last.len();
        match self.register {
            Some(longest) => (0..vcs).map(|step| (longest + step) % vcs).collect(),
            None => {
                let mut order: Vec<usize> = (0..vcs).filter(|&vc| !board.queue(vc).is_empty()).collect();
                order.sort_by_key(|&vc| (-self.length(board, vc), vc));
                order
            }
        }
    }

    /// Return the part of a queue that is removed; empty if the queue does not have it.
    fn part(&self, board: &Board, vc: usize) -> Vec<Cell> {
        let (queue, packets) = (board.queue(vc), packets(board, vc));
        let found = match self.part {
            Part::Head { keep_eom: false } => packets.first().map(|packet| packet.cells.clone()),
            Part::Head { keep_eom: true } => {
                let without_eom = packets
                    .iter()
                    .map(|packet| &packet.cells[..packet.cells.len() - usize::from(packet.begun)]);
                without_eom.map(<[Cell]>::to_vec).find(|cells| !cells.is_empty())
            }
            Part::Entire => packets
                .iter()
                .find(|packet| packet.is_entire() && !packet.begun)
                .map(|packet| packet.cells.clone()),
            Part::Tail { last_eom_goes } => {
                let last = queue.iter().rposition(|cell| cell.eom);
                let from = last.map_or(0, |last| if last_eom_goes { last } else { last + 1 });
                Some(queue[from..].to_vec())
            }
            Part::Last => queue.split_inclusive(|cell| cell.eom).next_back().map(<[Cell]>::to_vec),
        };
        found.unwrap_or_default()
    }

    /// Return the cells that the longest queue with such a part loses for this cell.
    fn of_the_longest(&self, board: &Board, cell: Cell, added: usize) -> Vec<Cell> {
        let own = board.of(cell.vc) + added;
        let mut longer: Vec<usize> =
            (0..board.last.len()).filter(|&vc| vc != cell.vc && board.of(vc) > own).collect();
        longer.sort_by_key(|&vc| (usize::MAX - board.of(vc), vc));
        longer.into_iter().map(|vc| self.part(board, vc)).find(|part| !part.is_empty()).unwrap_or_default()
    }

    /// Return the cells that are pushed out for this cell.
    fn victims(&self, board: &Board, cell: Cell) -> Vec<Cell> {
        if let Some(added) = self.drop_longest {
            return self.of_the_longest(board, cell, added);
        }
        let order = self.order(board);
        let head = |vc| packets(board, vc).first().map_or(vec![], |packet| packet.cells.clone());
        let Some(&longest) = order.first() else { return vec![] };
        let asked = if self.fallback == Fallback::NextQueue { &order[..] } else { &order[..1] };
        let found = asked.iter().map(|&vc| self.part(board, vc)).find(|part| !part.is_empty());
        match (found, self.fallback) {
            (Some(part), _) => part,
            (None, Fallback::Refuse) => vec![],
            (None, _) => head(longest),
        }
    }

    /// Return whether a cell belongs to a frame that has lost one, and is not a delimiter of cells queued before.
    fn is_rest(&self, board: &Board, cell: Cell) -> bool {
        let delimits = |part: bool| cell.eom && part && self.pass_eom && board.fits();
        self.broken[cell.vc].is_some_and(|part| !delimits(part))
    }

    /// Record that the arriving frame of a circuit has lost a cell; `part` says whether some of its cells stay queued.
    fn spoil(&mut self, vc: usize, part: bool) {
        if self.discard_rest {
            self.broken[vc] = Some(part);
        }
    }

    /// Push out cells for this one. If the chosen frame is still arriving, its rest is lost on arrival, and so is this
    /// cell.
    fn push_out(&mut self, board: &mut Board, cell: Cell) {
        let victims = self.victims(board, cell);
        let Some(&last) = victims.last() else { return };
        victims.iter().for_each(|victim| board.remove(*victim, Reason::PushedOut));
        let was_tail = matches!(self.part, Part::Tail { .. } | Part::Last) && !last.eom;
        if was_tail && !(last.vc == cell.vc && cell.first) {
            let part = victims[0].eom || board.queue(last.vc).is_empty() && board.is_collecting(last.vc);
            self.spoil(last.vc, part);
        }
    }

    /// Compare LQ with a queue that has just received or sent a cell.
    fn look(&mut self, board: &Board, vc: usize) {
        if let Some(longest) = self.register
            && self.length(board, vc) > self.length(board, longest)
        {
            self.register = Some(vc);
        }
    }
}

impl Model for PushOut {
    fn arrive(&mut self, board: &mut Board, cell: Cell) {
        if cell.first {
            self.broken[cell.vc] = None;
            let has_room = board.fits() || !self.victims(board, cell).is_empty();
            self.refused[cell.vc] =
                has_room && self.threshold.is_some_and(|threshold| board.total() >= threshold);
        }
        if self.refused[cell.vc] {
            return board.lose(cell, Reason::Early); // and no cell is pushed out
        }
        if !self.is_rest(board, cell) && !board.fits() {
            self.push_out(board, cell);
        }
        if self.is_rest(board, cell) {
            board.lose(cell, Reason::Partial);
        } else if board.fits() {
            board.accept(cell);
            self.look(board, cell.vc);
        } else {
            board.lose(cell, Reason::Overflow);
            self.spoil(cell.vc, !cell.first);
        }
    }

    fn left(&mut self, board: &Board, cell: Cell) {
        self.look(board, cell.vc);
    }

    fn next(&mut self, board: &mut Board) -> Option<Cell> {
        let vc = self.turns.next(board)?;
        board.queue(vc).first().copied()
    }
}

fn push_out(draw: &mut Draw, policy: &str, keys: &str, part: Part) -> Scheme {
    let (buffer_share, pass_eom) = (draw.coin(), draw.coin());
    let word = draw.word(&["next-queue", "head-fragment", "refuse"]);
    let fallback = match word {
        "next-queue" => Fallback::NextQueue,
        "head-fragment" => Fallback::HeadFragment,
        _ => Fallback::Refuse,
    };
    let discard_rest = !keys.contains("discard_rest = false");
    let text = format!(
        "policy = \"{policy}\"\nbuffer_share = {buffer_share}\nfallback = \"{word}\"\npass_eom = {pass_eom}\n{keys}"
    );
    let threshold = (discard_rest && draw.coin()).then(|| draw.level());
    let admission = threshold.map_or("policy = \"tail-drop\"".to_string(), |cells| {
        format!("policy = \"epd\"\nthreshold = \"{cells} cells\"\npass_eom = {pass_eom}")
    });
    let mcrs = draw.contracts.iter().map(|contract| contract.mcr.0).collect();
    let (scheduler, turns) = scheduler(draw);
    let model = PushOut {
        part,
        fallback,
        shares: buffer_share.then_some(mcrs),
        pass_eom,
        discard_rest,
        register: (policy == "quasi-pushout").then_some(0),
        drop_longest: None,
        turns,
        broken: vec![None; draw.contracts.len()],
        threshold,
        refused: vec![false; draw.contracts.len()],
    };
    Scheme { admission, pushout: Some(text), scheduler, model: Box::new(model) }
}

#[test]
fn push_out_1_loses_the_head_of_the_longest_queue_up_to_its_first_eom() {
    let lost = compare(|draw| {
        let keep_eom = draw.coin();
        push_out(draw, "pushout-1", &format!("keep_eom = {keep_eom}"), Part::Head { keep_eom })
    });
    assert!(lost > 10_000, "{lost}");
}

#[test]
fn push_out_2_loses_the_first_entire_packet_of_the_longest_queue() {
    assert!(compare(|draw| push_out(draw, "pushout-2", "", Part::Entire)) > 10_000);
}

#[test]
fn quasi_push_out_loses_the_first_entire_packet_of_the_queue_in_its_register() {
    assert!(compare(|draw| push_out(draw, "quasi-pushout", "", Part::Entire)) > 10_000);
}

#[test]
fn push_out_3_loses_the_tail_of_the_longest_queue_back_to_its_last_eom() {
    let lost = compare(|draw| {
        let (last_eom, discard_rest) = (draw.word(&["stays", "goes"]), draw.coin());
        let keys = format!("last_eom = \"{last_eom}\"\ndiscard_rest = {discard_rest}");
        push_out(draw, "pushout-3", &keys, Part::Tail { last_eom_goes: last_eom == "goes" })
    });
    assert!(lost > 10_000, "{lost}");
}

fn longest_queue(draw: &mut Draw) -> Scheme {
    let (end, counts) = (draw.word(&["tail", "head"]), draw.coin());
    let (scheduler, turns) = scheduler(draw);
    let model = PushOut {
        part: if end == "tail" { Part::Last } else { Part::Head { keep_eom: false } },
        fallback: Fallback::Refuse,
        shares: None,
        pass_eom: true,
        discard_rest: true,
        register: None,
        drop_longest: Some(usize::from(counts)),
        turns,
        broken: vec![None; draw.contracts.len()],
        threshold: None,
        refused: vec![false; draw.contracts.len()],
    };
    let pushout = format!("policy = \"longest-queue\"\nend = \"{end}\"\ncounts_arrival = {counts}");
    let admission = "policy = \"tail-drop\"".to_string();
    Scheme { admission, pushout: Some(pushout), scheduler, model: Box::new(model) }
}

#[test]
fn longest_queue_drop_loses_a_packet_of_a_queue_that_is_longer_than_that_of_the_arriving_cell() {
    assert!(compare(longest_queue) > 10_000);
}
