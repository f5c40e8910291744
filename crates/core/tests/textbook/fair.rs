//! FQ-CoDel by RFC 8290 and Linux: lists of new and of old queues, CoDel in each, the fattest one cut when there is no
//! room.

use pushout_core::rng::Subject;
use pushout_core::units::ids::CircuitId;
use pushout_core::verdict::Reason;

use crate::textbook::board::{Board, Cell, Model};
use crate::textbook::codel::{Codel, codel};
use crate::textbook::port::Scheme;
use crate::textbook::{Draw, compare};

struct FqCodel {
    quantum: i64,
    /// Packets that the fattest queue loses at a time; `None` if a full buffer loses arrivals.
    batch: Option<usize>,
    queues: Vec<Queue>,
    new: Vec<usize>,
    old: Vec<usize>,
}

struct Queue {
    deficit: i64,
    codel: Codel,
}

impl FqCodel {
    fn queue_of(&self, vc: usize) -> usize {
        self.queues.iter().position(|queue| queue.codel.circuits.contains(&vc)).unwrap()
    }

    /// Drop from the head of the fattest queue, the arriving cell counted; returns whether a packet was dropped.
    fn drop_from_fattest(&mut self, board: &mut Board, cell: Cell, batch: usize) -> bool {
        let own = self.queue_of(cell.vc);
        let backlogs: Vec<usize> = (0..self.queues.len())
            .map(|queue| 53 * (self.queues[queue].codel.queue(board).count() + usize::from(queue == own)))
            .collect();
        let most = *backlogs.iter().max().unwrap();
        let fattest = backlogs.iter().position(|&backlog| backlog == most).unwrap();
        let codel = &mut self.queues[fattest].codel;
        let (mut packets, mut octets) = (0, 0);
        loop {
            let Some(head) = codel.queue(board).next() else { break };
            board.remove(head, Reason::PushedOut);
            (packets, octets) = (packets + 1, octets + 53);
            codel.count += 1;
            if packets >= batch || octets >= most / 2 {
                break;
            }
        }
        packets > 0
    }
}

impl Model for FqCodel {
    fn arrive(&mut self, board: &mut Board, cell: Cell) {
        let own = self.queue_of(cell.vc);
        self.queues[own].codel.arrived.insert((cell.vc, cell.frame), board.now);
        let nothing_helps = board.capacity == 1 && board.sending.is_some();
        while let Some(batch) = self.batch.filter(|_| !board.fits() && !nothing_helps) {
            if !self.drop_from_fattest(board, cell, batch) {
                break;
            }
        }
        if !board.fits() {
            return board.lose(cell, Reason::Overflow);
        }
        board.accept(cell);
        if !self.new.contains(&own) && !self.old.contains(&own) {
            self.queues[own].deficit = self.quantum;
            self.new.push(own);
        }
    }

    fn next(&mut self, board: &mut Board) -> Option<Cell> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let &number = list.first()?;
            let queue = &mut self.queues[number];
            if queue.deficit <= 0 {
                queue.deficit += self.quantum;
                list.remove(0);
                self.old.push(number);
                continue;
            }
            if let Some(cell) = queue.codel.next(board) {
                queue.deficit -= 53;
                return Some(cell);
            }
            list.remove(0);
            if is_new && !self.old.is_empty() {
                self.old.push(number);
            }
        }
    }
}

/// The circuits of each queue: those with the same draw.
fn hashed(draw: &Draw, buckets: usize) -> Vec<Vec<usize>> {
    let keyed = draw.keyed("fair-queue");
    let bucket = |vc: usize| keyed.about(Subject::circuit(CircuitId(vc as u32))).up_to(buckets as u64 - 1);
    let drawn: Vec<u64> = (0..draw.contracts.len()).map(bucket).collect();
    let mut queues: Vec<Vec<usize>> = Vec::new();
    for vc in 0..drawn.len() {
        match queues.iter_mut().find(|queue| drawn[queue[0]] == drawn[vc]) {
            Some(queue) => queue.push(vc),
            None => queues.push(vec![vc]),
        }
    }
    queues
}

#[test]
fn fq_codel_serves_sparse_flows_first_and_cuts_the_fattest_queue() {
    let lost = compare(|draw| {
        draw.packets = true;
        let (keys, plain) = codel(draw);
        let (quantum, buckets) = (draw.within(1, 400), draw.within(1, 12));
        let batch = draw.coin().then(|| draw.within(1, 20));
        let full =
            batch.map_or(String::new(), |batch| format!("full = \"fattest-queue\"\nbatch = {batch}\n"));
        let queue = |circuits| Queue { deficit: 0, codel: plain.of(circuits) };
        let queues = hashed(draw, buckets).into_iter().map(queue).collect();
        Scheme {
            admission: format!("{keys}{full}"),
            pushout: None,
            scheduler: format!("policy = \"fair-queue\"\nquantum = \"{quantum} bytes\"\nbuckets = {buckets}"),
            model: Box::new(FqCodel {
                quantum: quantum as i64,
                batch,
                queues,
                new: Vec::new(),
                old: Vec::new(),
            }),
        }
    });
    assert!(lost > 10_000, "{lost}");
}
