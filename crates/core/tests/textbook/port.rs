//! Random traffic through a port and its model.

use pushout_core::buffer::admission;
use pushout_core::buffer::capacity::Capacity;
use pushout_core::buffer::context::{Context, Contract};
use pushout_core::buffer::pool::Pool;
use pushout_core::buffer::pushout;
use pushout_core::buffer::size::Measure;
use pushout_core::language::read::{Format, read};
use pushout_core::language::spec::Field;
use pushout_core::link::line::Line;
use pushout_core::link::port::{Loss, Parts, Port};
use pushout_core::refused::Refused;
use pushout_core::rng::{Keyed, Stream, UNNAMED};
use pushout_core::scheduler;
use pushout_core::unit::{Boundary, Flags, Unit};
use pushout_core::units::ids::{CircuitId, IdSlice, PortVc};
use pushout_core::units::{CELL_BYTES, Rate, Span, Time};
use pushout_core::verdict::Reason;

use crate::textbook::board::{Board, Cell, Model};

/// Sequences for each scheme.
const SEQUENCES: u64 = 1000;

/// The line of paper 002: slow, so that clocks of milliseconds tick every few cells.
pub(crate) const RATE: Rate = Rate(2_350_000);

/// Stream from which a sequence draws its parameters.
pub(crate) struct Draw {
    pub(crate) stream: Stream,
    /// One in eight is large: a buffer for hundreds of cells, frames of hundreds, more circuits.
    large: bool,
    /// Every frame is one cell, which stands for a packet.
    pub(crate) packets: bool,
    pub(crate) capacity: usize,
    pub(crate) contracts: Vec<Contract>,
    pub(crate) seed: u64,
}

impl Draw {
    fn new(seed: u64) -> Draw {
        let mut stream = Stream::new(seed, "textbook");
        let large = stream.up_to(7) == 0;
        let (capacity, vcs) = match large {
            true => (100 + stream.up_to(200) as usize, 4 + stream.up_to(8)),
            false => (1 + stream.up_to(59) as usize, 1 + stream.up_to(5)),
        };
        let plain = Context::alone(1, 1).contracts[PortVc(0)];
        let mut contract = || {
            let frame = 2 + stream.up_to(19);
            Contract {
                // all rates together fit the line, even if application octets are promised: 2.2 times as much in cells
                mcr: Rate(stream.up_to(1) * stream.up_to(2 * RATE.0 / (5 * vcs))),
                weight: 1.0 + stream.up_to(3) as f64,
                priority: stream.up_to(2) as u32,
                frame,
                octets: frame * CELL_BYTES,
                payload: Some(48 * (frame - 1)),
                ..plain
            }
        };
        let contracts =
            (0..vcs as u32).map(|circuit| Contract { circuit: CircuitId(circuit), ..contract() }).collect();
        Draw { stream, large, packets: false, capacity, contracts, seed }
    }

    /// One of some words.
    pub(crate) fn word<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.stream.up_to(words.len() as u64 - 1) as usize]
    }

    pub(crate) fn coin(&mut self) -> bool {
        self.stream.up_to(1) == 1
    }

    /// A whole number from a range.
    pub(crate) fn within(&mut self, low: usize, high: usize) -> usize {
        low + self.stream.up_to((high - low) as u64) as usize
    }

    /// An occupancy.
    pub(crate) fn level(&mut self) -> usize {
        self.within(0, self.capacity)
    }

    /// A number between two others, with two digits.
    pub(crate) fn number(&mut self, low: f64, high: f64) -> f64 {
        (100.0 * (low + (high - low) * self.stream.unit())).round() / 100.0
    }

    /// The policy's own random numbers.
    pub(crate) fn keyed(&self, policy: &str) -> Keyed {
        Keyed::new(self.seed, format_args!("port.blackboard.{policy}"))
    }
}

/// The text of a scheme in a scenario, and its model.
pub(crate) struct Scheme {
    pub(crate) admission: String,
    pub(crate) pushout: Option<String>,
    pub(crate) scheduler: String,
    pub(crate) model: Box<dyn Model>,
}

impl Scheme {
    /// An admission policy on a shared FIFO.
    pub(crate) fn fifo(admission: String, model: impl Model + 'static) -> Scheme {
        Scheme {
            admission,
            pushout: None,
            scheduler: "policy = \"fifo\"".to_string(),
            model: Box::new(model),
        }
    }
}

fn spec<S: Field>(text: &str) -> S {
    let node = read(text, Format::Toml).unwrap_or_else(|_| panic!("{text}"));
    S::read(&node, "policy").unwrap_or_else(|fault| panic!("{text}: {fault:?}"))
}

/// Build the port of a scheme.
fn port(scheme: &Scheme, draw: &Draw) -> Port {
    let (capacity, contracts) = (Capacity::limited(draw.capacity as u64), &draw.contracts);
    let seed = draw.seed;
    let context = Context {
        capacity,
        measure: Measure::Cells,
        rate: RATE,
        minimum: 0,
        contracts: IdSlice::new(contracts),
        lowered: None,
        seed,
        port: "blackboard",
        circuits: &UNNAMED,
    };
    let built = |refused: Refused| panic!("{}: {refused}", scheme.admission);
    let scheduler = spec::<scheduler::Spec>(&scheme.scheduler);
    Port::new(Parts {
        pushout: scheme.pushout.as_ref().map(|text| spec::<pushout::Spec>(text).build(&context).unwrap()),
        shared_queue: scheduler.shares_one_queue(),
        ..Parts::plain(
            Measure::Cells,
            Pool::new(capacity, contracts.len()),
            spec::<admission::Spec>(&scheme.admission).build(&context).unwrap_or_else(built),
            scheduler.build(&context).unwrap(),
            Line::new(RATE, Span::ZERO),
        )
    })
}

/// Cells of all circuits, mixed at random, in frames that are drawn as they begin.
struct Traffic {
    stream: Stream,
    next: Vec<(u32, u16, u16)>,
    /// Mean time from one cell to the next, in cell times, in busy and in quiet times.
    gaps: [f64; 2],
    /// Number of cells in such a time, and in all.
    spell: usize,
    cells: usize,
    longest: u64,
    /// Packets of a block.
    block: u32,
    /// Boundaries of frames among the cells not lost before the port, and the share of those: one in this number.
    boundaries: Vec<Boundary>,
    lost: Option<u64>,
}

impl Traffic {
    fn new(draw: &mut Draw) -> Traffic {
        let gaps = [draw.number(0.3, 0.9), draw.number(0.9, 3.0)];
        let (longest, spell, cells) = if draw.large { (200, 500, 2000) } else { (20, 50, 300) };
        let longest = if draw.packets { 1 } else { 1 + draw.stream.up_to(longest) };
        let stream = Stream::new(draw.seed, "traffic");
        Traffic {
            stream,
            next: vec![(0, 0, 0); draw.contracts.len()],
            gaps,
            spell,
            cells,
            longest,
            block: 1 + draw.stream.up_to(5) as u32,
            boundaries: vec![Boundary::default(); draw.contracts.len()],
            lost: draw.coin().then_some(20),
        }
    }

    fn gap(&mut self, place: usize) -> Span {
        let cell = RATE.time_of_bits(8 * CELL_BYTES).0 as f64;
        Span((self.gaps[place / self.spell % 2] * cell * self.stream.exponential()) as u64)
    }

    /// Return the next cell that has not been lost before, marked as the first of a frame if the one before it on its
    /// circuit ended one.
    fn cell(&mut self) -> Unit {
        loop {
            let cell = self.sent();
            if self.lost.is_none_or(|one_in| self.stream.up_to(one_in - 1) > 0) {
                return self.boundaries[circuit(&cell).index()].pass(cell);
            }
        }
    }

    /// Return the next cell that a host has sent.
    fn sent(&mut self) -> Unit {
        let vc = self.stream.up_to(self.next.len() as u64 - 1) as usize;
        let (frame, index, length) = &mut self.next[vc];
        if index == length {
            (*frame, *index, *length) = (*frame + 1, 0, 1 + self.stream.up_to(self.longest - 1) as u16);
        }
        let mut flags = Flags::default();
        for (flag, is_set) in [
            (Flags::EOM, *index + 1 == *length),
            (Flags::CLP, self.stream.up_to(3) == 0),
            (Flags::BLOCK_END, *frame % self.block == 0),
            (Flags::ECT, vc % 2 == 1),
            (Flags::L4S, vc % 4 == 3),
        ] {
            flags = if is_set { flags.with(flag) } else { flags };
        }
        *index += 1;
        Unit {
            vc: CircuitId(vc as u32),
            frame: *frame,
            identity: *frame,
            index: *index - 1,
            bytes: CELL_BYTES as u16,
            hop: 0,
            flags,
        }
    }
}

/// A port and its model, side by side.
struct Pair {
    port: Port,
    model: Box<dyn Model>,
    board: Board,
    /// Time at which the line is free again, and the next tick of the scheme's clock.
    free: Option<Time>,
    clock: Option<Time>,
    losses: Vec<Loss>,
    said: String,
}

fn circuit(unit: &Unit) -> PortVc {
    PortVc(unit.vc.0)
}

impl Pair {
    fn new(scheme: Scheme, draw: &Draw) -> Pair {
        let mut port = port(&scheme, draw);
        let said = format!("{}, {:?}, {}", scheme.admission, scheme.pushout, scheme.scheduler);
        let clock = port.tick(Time::ZERO);
        let (board, mut model) = (Board::new(draw.capacity, draw.contracts.len()), scheme.model);
        assert_eq!(clock.map(|time| time.0), model.tick(&board), "{said}: the clock");
        Pair { port, model, board, free: None, clock, losses: Vec::new(), said }
    }

    /// Run line and clock up to `until`: at one instant cells leave first.
    fn advance(&mut self, until: Time) {
        loop {
            let (free, clock) = (self.free.unwrap_or(Time::NEVER), self.clock.unwrap_or(Time::NEVER));
            if free.min(clock) > until {
                break;
            }
            self.board.now = free.min(clock).0;
            if free <= clock {
                self.finish(free);
            } else {
                self.clock = self.port.tick(clock);
                assert_eq!(
                    self.clock.map(|time| time.0),
                    self.model.tick(&self.board),
                    "{}: the clock",
                    self.said
                );
            }
        }
        self.board.now = until.0;
    }

    fn finish(&mut self, now: Time) {
        let unit = self.port.finish(now).map(Cell::from);
        let cell = self.board.sending.take();
        assert_eq!(unit, cell, "{}: the cell that leaves", self.said);
        self.free = None;
        self.model.left(&self.board, cell.unwrap());
        self.start(now);
    }

    fn start(&mut self, now: Time) {
        if self.free.is_some() {
            return;
        }
        let started = self.port.start(now, &mut self.losses);
        let next = self.model.next(&mut self.board);
        self.check();
        // the next node infers the beginning of a frame after an EOM
        let sent =
            next.map(|cell| Cell { first: self.board.last[cell.vc].is_none_or(|last| last.eom), ..cell });
        assert_eq!(started.map(|started| Cell::from(started.unit)), sent, "{}: the next cell", self.said);
        if let (Some(started), Some(cell)) = (started, next) {
            self.board.waiting.retain(|other| *other != cell);
            self.board.last[cell.vc] = Some(cell);
            self.board.sending = Some(cell);
            self.free = Some(started.sent.ends);
        }
    }

    fn arrive(&mut self, now: Time, unit: Unit) {
        self.port.arrive(now, unit, circuit(&unit), &mut self.losses);
        self.board.heard = self.losses.iter().map(|loss| Cell::from(loss.unit)).collect();
        self.model.arrive(&mut self.board, Cell::from(unit));
        self.check();
        self.start(now);
    }

    /// Compare the losses with their reasons, and the remaining cells.
    fn check(&mut self) {
        let said = |(cell, reason): (Cell, Reason)| format!("{cell} {reason}");
        let losses = self.losses.drain(..).map(|loss| said((Cell::from(loss.unit), loss.reason)));
        let lost = self.board.lost.drain(..).map(said);
        let [losses, lost]: [Vec<String>; 2] = [losses.collect(), lost.collect()];
        assert_eq!(losses, lost, "{}: losses; what is left: {}", self.said, self.board);
        let books: Vec<u64> =
            (0..self.board.last.len()).map(|vc| self.port.pool().of(PortVc::new(vc))).collect();
        let counted: Vec<u64> = (0..books.len()).map(|vc| self.board.of(vc) as u64).collect();
        assert_eq!(books, counted, "{}: occupancies", self.said);
    }
}

/// Compare a thousand sequences, each with parameters of its own; returns how many cells were lost.
pub(crate) fn compare(scheme: impl Fn(&mut Draw) -> Scheme) -> usize {
    let mut lost = 0;
    for seed in 0..SEQUENCES {
        let mut draw = Draw::new(seed);
        let mut pair = Pair::new(scheme(&mut draw), &draw);
        pair.said = format!("seed {seed}, {} cells, {}", draw.capacity, pair.said);
        let (mut traffic, mut now) = (Traffic::new(&mut draw), Time::ZERO);
        for place in 0..traffic.cells {
            now += traffic.gap(place);
            pair.advance(now);
            pair.arrive(now, traffic.cell());
        }
        pair.advance(Time(now.0 + Span::secs(1).0 / 50));
        lost += pair.port.counters().lost_total() as usize;
    }
    lost
}
