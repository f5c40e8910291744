//! One test per sentence of section 4.2, on cells made by hand that pass a real port; then invariants on random traffic.

use std::collections::BTreeMap;

use super::super as admission;
use super::*;
use crate::buffer::capacity::Capacity;
use crate::buffer::size::BufferSize;
use crate::language::read::{Format, read};
use crate::language::spec::read_section;
use crate::link::line::Line;
use crate::link::port::{Loss, Parts, Port};
use crate::rng::Stream;
use crate::scheduler::{self, fifo};
use crate::transport::fec::Budget;
use crate::units::ids::{CircuitId, IdSlice, IdVec, PortVc};
use crate::units::{Rate, Span, Time};

/// A port with this policy; cells come in as letters, frames and blocks are numbered here.
struct Bench {
    port: Port,
    now: Time,
    block: u32,
    next: IdVec<PortVc, (u32, u16)>,
    /// Queued cells that were lost: circuit, frame, index.
    given_up: Vec<(u32, u32, u16)>,
}

const ONE_EACH: Budget = Budget { parity_cells: 1, parity_packets: 1, cells: None, packets: None };

fn params(text: &str) -> Params {
    read_section(&read(text, Format::Toml).unwrap(), "admission").unwrap()
}

fn policy(text: &str, measure: Measure, capacity: u64, budgets: &[Option<Budget>]) -> Policy {
    let plain = Context::alone(capacity, 1).contracts[PortVc(0)];
    let contracts: Vec<Contract> = budgets.iter().map(|&budget| Contract { budget, ..plain }).collect();
    let context = Context { contracts: IdSlice::new(&contracts), measure, ..Context::alone(capacity, 1) };
    Policy::new(&params(text), &context).unwrap()
}

impl Bench {
    /// A buffer of `capacity` cells; blocks have two frames.
    fn new(text: &str, capacity: u64, budgets: &[Option<Budget>]) -> Bench {
        Bench::of(Measure::Cells, text, capacity, budgets)
    }

    fn of(measure: Measure, text: &str, capacity: u64, budgets: &[Option<Budget>]) -> Bench {
        let context = Context::alone(capacity, budgets.len());
        let port = Port::new(Parts {
            shared_queue: true,
            ..Parts::plain(
                measure,
                Pool::new(context.capacity, budgets.len()),
                admission::Policy::GatekeeperJanitor(Box::new(policy(text, measure, capacity, budgets))),
                scheduler::Spec::Fifo(fifo::Params {}).build(&context).unwrap(),
                Line::new(Rate(155_520_000), Span::ZERO),
            )
        });
        let next = IdVec::filled((0, 0), budgets.len());
        Bench { port, now: Time::ZERO, block: 2, next, given_up: Vec::new() }
    }

    /// The next cell of a circuit: `f` first, `.` middle, `e` last, `1` a frame by itself; `F`, `:`, `E`, `!` marked.
    fn cell(&mut self, vc: PortVc, letter: char) -> Unit {
        let (frame, index) = self.next[vc];
        let flags = Flags::spelled(letter);
        let last_of_block = (frame + 1).is_multiple_of(self.block);
        let flags = if last_of_block { flags.with(Flags::BLOCK_END) } else { flags };
        self.next[vc] = if flags.has(Flags::EOM) { (frame + 1, 0) } else { (frame, index + 1) };
        Unit { vc: CircuitId(vc.0), frame, identity: frame, index, bytes: 53, hop: 0, flags }
    }

    fn arrive(&mut self, unit: Unit) -> Vec<Loss> {
        let mut losses = Vec::new();
        self.port.arrive(self.now, unit, PortVc(unit.vc.0), &mut losses);
        losses
    }

    /// Offer cells of one circuit; answers `A` accepted, `g` gatekeeper, `j` janitor, `p` partial, `o` overflow.
    fn offer(&mut self, vc: PortVc, cells: &str) -> String {
        let offer_one = |letter| {
            let unit = self.cell(vc, letter);
            let mut verdict = 'A';
            for loss in self.arrive(unit) {
                if loss.unit == unit {
                    verdict = loss.reason.word().chars().next().unwrap();
                } else {
                    assert_eq!(loss.reason, Reason::Janitor);
                    self.given_up.push((loss.unit.vc.0, loss.unit.frame, loss.unit.index));
                }
            }
            verdict
        };
        cells.chars().map(offer_one).collect()
    }

    /// Send `cells` cells.
    fn serve(&mut self, cells: usize) {
        for _ in 0..cells {
            let started = self.port.start(self.now, &mut Vec::new()).expect("something is queued");
            self.now = started.sent.ends;
            self.port.finish(self.now);
        }
    }

    fn given_up(&mut self) -> Vec<(u32, u32, u16)> {
        std::mem::take(&mut self.given_up)
    }
}

#[test]
fn a_cell_without_clp_is_admitted_into_the_buffer() {
    let mut bench = Bench::new("", 10, &[Some(ONE_EACH)]);
    assert_eq!(bench.offer(PortVc(0), "f........e"), "AAAAAAAAAA");
}

#[test]
fn a_marked_cell_is_admitted_below_the_threshold() {
    let mut bench = Bench::new("", 10, &[Some(ONE_EACH)]);
    assert_eq!(bench.offer(PortVc(0), "F:::::::"), "AAAAAAAA");
    assert_eq!(bench.offer(PortVc(0), ":"), "g");
}

#[test]
fn with_fcf_above_0_the_cell_is_discarded_and_fcf_is_decremented() {
    let mut bench = Bench::new("", 10, &[Some(ONE_EACH)]);
    bench.offer(PortVc(0), "f.......");
    assert_eq!(bench.offer(PortVc(0), ":e"), "gA");
}

#[test]
fn with_fcf_0_and_blf_1_the_cell_and_all_that_follow_of_its_packet_are_discarded() {
    let mut bench = Bench::new("", 20, &[Some(ONE_EACH)]);
    bench.offer(PortVc(0), "f...............");
    assert_eq!(bench.offer(PortVc(0), "::.:e"), "ggppp");
    assert_eq!(bench.given_up(), [], "nothing is given up without a critical cell");
}

#[test]
fn with_fcf_0_and_blf_0_the_cell_is_critical_and_a_cell_of_the_dead_frame_makes_room() {
    let mut bench = Bench::new("sweep = 'until-upper'\nrearm = 'gate-open'", 20, &[Some(ONE_EACH)]);
    bench.offer(PortVc(0), "f...............");
    bench.offer(PortVc(0), "::e");
    // The parity packet of the block: one cell can be lost, then cells are critical; the janitor starts.
    assert_eq!(bench.offer(PortVc(0), "F::E"), "gAAA");
    let dead = [0, 1, 2, 3].map(|index| (0, 0, index));
    assert_eq!(bench.given_up(), dead, "one for each critical cell, and one to get below 80 %");
}

#[test]
fn a_critical_cell_is_admitted_without_a_candidate_while_there_is_room() {
    let mut bench = Bench::new("upper = '50 %'\nlower = '50 %'\nfcf = 0\nblf = 0", 4, &[Some(ONE_EACH)]);
    assert_eq!(bench.offer(PortVc(0), "F:::"), "AAAA");
    assert_eq!(bench.offer(PortVc(0), "::e"), "opp", "then the frame is dead");
}

#[test]
fn fcf_starts_again_after_every_eom_and_blf_after_every_block() {
    let mut bench = Bench::new("lower = '0 %'\nupper = '0 %'", 100, &[Some(ONE_EACH)]);
    assert_eq!(bench.offer(PortVc(0), "F::E"), "ggpp", "the first packet of a block may be lost");
    assert_eq!(bench.offer(PortVc(0), "F::E"), "gAAA", "the second one may lose a cell");
    assert_eq!(bench.offer(PortVc(0), "F:.E"), "ggpp", "the next block may lose a packet again");
}

#[test]
fn the_gate_stays_closed_until_the_lower_threshold() {
    let mut bench = Bench::new("", 10, &[Some(ONE_EACH), Some(ONE_EACH)]);
    bench.offer(PortVc(0), "f.......");
    assert_eq!(bench.offer(PortVc(1), "!"), "g");
    bench.serve(3);
    assert_eq!(bench.offer(PortVc(1), "!"), "g", "5 cells are more than 40 % of 10");
    bench.serve(1);
    assert_eq!(bench.offer(PortVc(1), "!"), "A", "at 40 % the gate is open");
    assert_eq!(bench.offer(PortVc(1), "!"), "A", "and stays open below 80 %");
}

/// Circuit 0 has one dead frame, circuit 1 one with a marked and an unmarked cell, circuit 2 has no code.
fn mixed(text: &str) -> Bench {
    let text = format!("upper = '100 %'\nlower = '100 %'\n{text}");
    Bench::new(&text, 10, &[Some(ONE_EACH), Some(ONE_EACH), None, Some(ONE_EACH)])
}

#[test]
fn candidates_are_dead_cells_marked_ones_unmarked_ones_and_whole_frames_in_this_order() {
    let mut bench = mixed("fcf = 1\nsweep = 'until-upper'\nrearm = 'gate-open'");
    assert_eq!(bench.offer(PortVc(2), "1111"), "AAAA");
    assert_eq!(bench.offer(PortVc(0), "f.e"), "AAA");
    assert_eq!(bench.offer(PortVc(1), "f:e"), "AAA");
    // Full: circuit 2 needs room. There are no dead cells; the marked cell of circuit 1 is lost. The janitor continues,
    // once: no marked ones, the oldest unmarked one of a frame that can spare it.
    assert_eq!(bench.offer(PortVc(2), "1"), "A");
    assert_eq!(bench.given_up(), [(1, 0, 1), (0, 0, 0)]);
    // No frame can spare a cell: remove the oldest whole frame of a block that can spare it, with all its cells.
    assert_eq!(bench.offer(PortVc(2), "11"), "AA");
    assert_eq!(bench.given_up(), [(0, 0, 1), (0, 0, 2)]);
    assert_eq!(bench.offer(PortVc(2), "11"), "AA");
    assert_eq!(bench.given_up(), [(1, 0, 0), (1, 0, 2)]);
    // Circuit 2 has no code and loses no cell.
    assert_eq!(bench.offer(PortVc(2), "11"), "Ao");
    assert_eq!(bench.given_up(), []);
}

#[test]
fn cells_of_dead_frames_go_first_or_after_those_that_frames_can_spare() {
    for (order, expected) in [("dead-first", (0, 0, 0)), ("spare-first", (1, 0, 0))] {
        let mut bench = mixed(&format!("order = '{order}'"));
        bench.offer(PortVc(3), "f.........");
        assert_eq!(bench.offer(PortVc(3), ":"), "g", "one cell to spare");
        assert_eq!(bench.offer(PortVc(3), ":"), "g", "dead now");
        bench.serve(10);
        bench.given_up();
        assert_eq!(bench.offer(PortVc(0), "f."), "AA");
        assert_eq!(bench.offer(PortVc(2), "11111"), "AAAAA");
        assert_eq!(bench.offer(PortVc(1), "fe1"), "AAA");
        assert_eq!(bench.offer(PortVc(0), "::"), "gg", "circuit 0 is dead, with two cells in the queue");
        assert_eq!(bench.offer(PortVc(2), "1"), "A");
        assert_eq!(bench.given_up()[0], expected, "{order}");
    }
}

#[test]
fn an_entire_packet_is_only_given_up_while_nothing_of_it_has_left() {
    let mut bench = mixed("fcf = 0");
    bench.offer(PortVc(0), "f....");
    bench.offer(PortVc(1), "f...e");
    bench.serve(1);
    assert_eq!(bench.offer(PortVc(2), "11"), "AA");
    assert_eq!(bench.given_up().len(), 5, "all of circuit 1");
    assert_eq!(bench.given_up(), []);
    assert_eq!(
        bench.offer(PortVc(2), "11111"),
        "AAAAo",
        "what circuit 0 has sent of its frame shall not be in vain"
    );
}

#[test]
fn a_frame_that_is_its_own_best_candidate_goes_with_its_arriving_cell() {
    let mut bench = mixed("fcf = 0");
    bench.offer(PortVc(0), "f.........");
    assert_eq!(bench.offer(PortVc(0), ".e"), "jp");
    assert_eq!(bench.given_up().len(), 10);
    assert_eq!(bench.port.pool().total(), 0);
}

#[test]
fn the_janitor_works_once_until_the_gate_has_opened() {
    let budgets = [Some(ONE_EACH), None];
    for (rearm, second) in [("gate-open", 1), ("below-upper", 2)] {
        let text = format!("sweep = 'until-upper'\nrearm = '{rearm}'\nupper = '50 %'\nlower = '10 %'");
        let mut bench = Bench::new(&text, 10, &budgets);
        assert_eq!(bench.offer(PortVc(0), "11111"), "AAAAA");
        // Critical: one cell makes room, and the janitor takes one more to get below five.
        assert_eq!(bench.offer(PortVc(1), "!"), "A");
        assert_eq!(bench.given_up().len(), 2);
        assert_eq!(
            bench.offer(PortVc(1), "!"),
            "A",
            "X = 4 is below the upper threshold, but the gate is closed"
        );
        assert_eq!(bench.given_up().len(), 1);
        assert_eq!(bench.offer(PortVc(1), "1"), "A");
        assert_eq!(bench.offer(PortVc(1), "!"), "A", "X = 5 again");
        assert_eq!(bench.given_up().len(), second, "{rearm}");
    }
}

#[test]
fn a_sweep_of_everything_takes_one_cell_of_every_frame_and_one_frame_of_every_circuit() {
    let text = "rearm = 'gate-open'\nupper = '80 %'\nblf = 2";
    let mut bench = Bench::new(text, 20, &[Some(ONE_EACH), Some(ONE_EACH), None]);
    bench.block = 4;
    assert_eq!(bench.offer(PortVc(0), "f..ef..e"), "AAAAAAAA");
    assert_eq!(bench.offer(PortVc(1), "f..ef..e"), "AAAAAAAA");
    assert_eq!(bench.offer(PortVc(2), "!"), "A");
    let singles = [(0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 0)];
    let frames = [(0, 0, 1), (0, 0, 2), (0, 0, 3), (1, 0, 1), (1, 0, 2), (1, 0, 3)];
    assert_eq!(bench.given_up(), [&singles[..], &frames[..]].concat());
    // Seven cells remain. When the gate has opened and closed again, every circuit may lose a frame once more.
    assert_eq!(bench.offer(PortVc(2), ".........!"), "AAAAAAAAAA");
    let frames = [(0, 1, 1), (0, 1, 2), (0, 1, 3), (1, 1, 1), (1, 1, 2), (1, 1, 3)];
    assert_eq!(bench.given_up(), frames);
}

#[test]
fn a_cell_that_overflows_is_one_that_its_code_repairs_if_the_frame_can_spare_it() {
    let mut bench = Bench::new("blf = 0", 4, &[Some(ONE_EACH), None]);
    bench.offer(PortVc(1), "1111");
    assert_eq!(bench.offer(PortVc(0), "f"), "o");
    bench.serve(1);
    assert_eq!(bench.offer(PortVc(0), ".."), "Ao");
    bench.serve(2);
    assert_eq!(bench.offer(PortVc(0), "."), "p", "two are more than it can spare");
}

#[test]
fn a_frame_gives_up_a_marked_cell_of_its_own_for_one_that_is_not_marked() {
    let mut bench = mixed("blf = 0");
    bench.offer(PortVc(2), "11111111");
    assert_eq!(bench.offer(PortVc(0), "F:."), "AAA");
    assert_eq!(bench.given_up()[0], (0, 0, 0));
    assert_eq!(bench.offer(PortVc(0), "."), "o");
}

#[test]
fn frames_without_a_code_have_nothing_to_spare_and_lose_by_overflow_alone() {
    let mut bench = Bench::new("", 5, &[None]);
    assert_eq!(bench.offer(PortVc(0), "F::::::E"), "AAAAAopo");
    assert_eq!(bench.given_up(), []);
}

#[test]
fn the_eom_of_a_dead_frame_stays_where_nothing_else_delimits_frames() {
    let packets_only = Budget { parity_cells: 0, ..ONE_EACH };
    let verdicts = |text: &str, budget| Bench::new(text, 4, &[Some(budget)]).offer(PortVc(0), "f..::e");
    assert_eq!(verdicts("upper = '75 %'", packets_only), "AAAgpA");
    assert_eq!(verdicts("upper = '75 %'\npass_eom = false", packets_only), "AAAgpp");
    assert_eq!(verdicts("upper = '75 %'", ONE_EACH), "AAAggp", "numbered cells need no delimiter");
    let mut bench = Bench::new("upper = '0 %'\nlower = '0 %'", 4, &[Some(packets_only)]);
    assert_eq!(
        bench.offer(PortVc(0), "F:e"),
        "gpp",
        "nothing of the frame was queued, so nothing is to be delimited"
    );
}

#[test]
fn cells_of_a_dead_frame_may_be_left_to_the_gate_instead() {
    let text = "dead_frames = 'gate'\nupper = '50 %'\nlower = '20 %'";
    let mut bench = Bench::new(text, 10, &[Some(ONE_EACH)]);
    bench.offer(PortVc(0), "f....");
    assert_eq!(bench.offer(PortVc(0), "::.:"), "ggAp");
    bench.serve(4);
    assert_eq!(bench.offer(PortVc(0), ":"), "A", "the gate is open");
}

#[test]
fn a_contract_overrides_the_policy_and_the_policy_overrides_the_code() {
    let spent = |text: &str, budget: Budget| {
        let text = format!("upper = '0 %'\nlower = '0 %'\n{text}");
        Bench::new(&text, 9, &[Some(budget)]).offer(PortVc(0), "F::::E").matches('g').count()
    };
    assert_eq!(spent("", Budget { parity_cells: 2, ..ONE_EACH }), 3, "the code's two, then the packet");
    assert_eq!(spent("fcf = 1", Budget { parity_cells: 2, ..ONE_EACH }), 2);
    assert_eq!(spent("fcf = 1", Budget { cells: Some(4), ..ONE_EACH }), 5);
    assert_eq!(spent("blf = 0", Budget { cells: Some(4), ..ONE_EACH }), 4);
}

#[test]
fn frames_of_a_block_beyond_repair_may_be_given_up() {
    for (corrupted, expected) in [(false, 0), (true, 2)] {
        let text = format!("corrupted_blocks = {corrupted}\nfcf = 0\nblf = 0");
        let mut bench = Bench::new(&text, 4, &[Some(ONE_EACH), None]);
        bench.block = 4;
        assert_eq!(bench.offer(PortVc(0), "fe"), "AA");
        assert_eq!(bench.offer(PortVc(1), "11"), "AA");
        assert_eq!(bench.offer(PortVc(0), "f"), "o", "more than the block can stand");
        assert_eq!(bench.offer(PortVc(1), "1"), if corrupted { "A" } else { "o" });
        assert_eq!(bench.given_up().len(), expected);
    }
}

#[test]
fn a_block_that_can_spare_no_more_frames_is_not_yet_beyond_repair() {
    let mut bench = Bench::new("corrupted_blocks = true\nfcf = 0", 4, &[Some(ONE_EACH), None]);
    bench.block = 4;
    assert_eq!(bench.offer(PortVc(0), "fefe"), "AAAA");
    assert_eq!(bench.offer(PortVc(1), "111"), "AAo");
    assert_eq!(bench.given_up(), [(0, 0, 0), (0, 0, 1)]);
}

#[test]
fn a_frame_that_is_given_up_before_any_of_it_has_left_needs_no_delimiter() {
    let packets_only = Budget { parity_cells: 0, ..ONE_EACH };
    let mut bench = Bench::new("", 4, &[Some(packets_only), None]);
    assert_eq!(bench.offer(PortVc(0), "f..e"), "AAAA");
    assert_eq!(bench.offer(PortVc(1), "1"), "A");
    assert_eq!(bench.given_up(), [0, 1, 2, 3].map(|index| (0, 0, index)));
}

#[test]
fn a_cache_holds_the_cells_queued_last() {
    let text = "upper = '100 %'\nlower = '100 %'\ncache = 2";
    let mut bench = Bench::new(text, 6, &[Some(ONE_EACH), None]);
    bench.block = 10;
    assert_eq!(bench.offer(PortVc(0), "111111"), "AAAAAA");
    assert_eq!(bench.offer(PortVc(1), "1"), "A");
    assert_eq!(bench.given_up(), [(0, 4, 0), (0, 5, 0)], "the last two, the older one first");
    assert_eq!(bench.offer(PortVc(1), "11"), "Ao", "others could be spared, but are not in the cache");
}

#[test]
fn a_cache_offers_no_cell_that_has_left() {
    let text = "upper = '100 %'\nlower = '100 %'\ncache = 3\nfcf = 0\nblf = 3";
    let mut bench = Bench::new(text, 3, &[Some(ONE_EACH), None]);
    bench.block = 10;
    assert_eq!(bench.offer(PortVc(0), "111"), "AAA");
    bench.serve(2);
    assert_eq!(bench.offer(PortVc(1), "111"), "AAA");
    assert_eq!(bench.given_up(), [(0, 2, 0)]);
    assert_eq!(bench.offer(PortVc(1), "1"), "o");
}

#[test]
fn a_long_packet_may_cost_several_short_ones_of_their_block_but_no_more_than_it_needs() {
    let text = "upper = '100 %'\nlower = '100 %'\nblf = 9\nfcf = 0";
    let mut bench = Bench::of(Measure::Bytes, text, 2000, &[Some(ONE_EACH), None]);
    bench.block = 10;
    for _ in 0..4 {
        let packet = Unit { bytes: 500, ..bench.cell(PortVc(0), '1') };
        assert_eq!(bench.arrive(packet), []);
    }
    bench.serve(1);
    let packet = Unit { bytes: 1500, ..bench.cell(PortVc(1), '1') };
    let lost: Vec<u32> = bench.arrive(packet).iter().map(|loss| loss.unit.frame).collect();
    assert_eq!(lost, [1, 2], "500 octets are free, and a thousand are missing");
}

#[test]
fn parameters_that_cannot_work_are_refused() {
    let refused = |text: &str, context: &Context<'_>| Policy::new(&params(text), context).unwrap_err().key;
    let context = Context::alone(10, 1);
    assert_eq!(refused("upper = '30 %'", &context), Some("lower"));
    assert_eq!(refused("cache = 0", &context), Some("cache"));
    assert_eq!(refused("upper = '11 cells'", &context), Some("upper"));
    let packets = Context { measure: Measure::Packets, ..Context::alone(10, 1) };
    assert_eq!(refused("fcf = 1", &packets), Some("fcf"));
    assert_eq!(params("").upper.within(Measure::Cells, Capacity::limited(3500)), Ok(2800));
    assert_eq!(Level::Size(BufferSize::Cells(4)).within(Measure::Cells, Capacity::limited(10)), Ok(4));
}

/// Losses of a frame, as an observer counts them.
#[derive(Clone, Copy, Debug, Default)]
struct Losses {
    cells: u32,
    dead: bool,
}

/// Random traffic of four circuits through a port that is too slow for it; every loss is checked against the budgets.
fn random_traffic(seed: u64, text: &str, budget: Budget) -> [u64; 2] {
    let mut stream = Stream::new(seed, "traffic");
    let (cells, packets) = (budget.parity_cells, budget.parity_packets);
    let mut bench = Bench::new(text, 60, &[Some(budget), Some(budget), Some(budget), None]);
    bench.block = 5;
    let mut frames: BTreeMap<(CircuitId, u32), Losses> = BTreeMap::new();
    let mut killed: BTreeMap<(CircuitId, u32), u32> = BTreeMap::new();
    let mut deliberate = [0, 0];
    let mut left = [0u64; 4];
    for _ in 0..6000 {
        let vc = stream.up_to(3) as usize;
        let kinds = if left[vc] == 0 { ["1", "!", "f", "F"] } else { ["e", "E", ".", ":"] };
        left[vc] = if left[vc] == 0 { stream.up_to(12) } else { left[vc] - 1 };
        let kind = 2 * usize::from(left[vc] > 0) + usize::from(stream.chance(0.3));
        let unit = bench.cell(PortVc::new(vc), kinds[kind].chars().next().unwrap());
        let is_dead = |frames: &BTreeMap<(CircuitId, u32), Losses>, unit: &Unit| {
            frames.get(&(unit.vc, unit.frame)).is_some_and(|losses| losses.dead)
        };
        let mut dead_queued =
            bench.port.waiting().filter(|unit| is_dead(&frames, unit) && unit.vc != CircuitId(3)).count();
        for Loss { unit: lost, reason } in bench.arrive(unit) {
            let meant = matches!(reason, Reason::Gatekeeper | Reason::Janitor);
            let evicted = lost != unit;
            if evicted && dead_queued > 0 {
                assert!(is_dead(&frames, &lost), "dead frames first");
                dead_queued -= 1;
            }
            let budget = if lost.vc == CircuitId(3) { (0, 0) } else { (cells, packets) };
            let losses = frames.entry((lost.vc, lost.frame)).or_default();
            if losses.dead {
                continue;
            }
            losses.cells += 1;
            losses.dead = losses.cells > budget.0;
            deliberate[0] += u64::from(meant && !losses.dead);
            if losses.dead {
                let killed = killed.entry((lost.vc, lost.frame / 5)).or_default();
                assert!(!meant || *killed < budget.1, "a block gives up {} packets at most", budget.1);
                *killed += 1;
                deliberate[1] += u64::from(meant);
            }
        }
        if stream.chance(0.8) && bench.port.units_queued() > 0 {
            bench.serve(1);
        }
        let (port, counters) = (&bench.port, bench.port.counters());
        assert!(port.pool().total() <= 60);
        assert_eq!(port.size_queued(), port.pool().total());
        assert_eq!(counters.units_in, counters.units_out + counters.lost_total() + port.units_queued());
    }
    deliberate
}

#[test]
fn random_traffic_never_loses_more_than_its_budgets_on_purpose() {
    let mut seen = [0, 0];
    for seed in 0..4 {
        for text in ["", "sweep = 'until-upper'", "rearm = 'gate-open'"] {
            for (parity_cells, parity_packets) in [(1, 1), (2, 1), (1, 2), (0, 0)] {
                let budget = Budget { parity_cells, parity_packets, cells: None, packets: None };
                let text = format!("pass_eom = false\n{text}");
                let [cells, frames] = random_traffic(seed, &text, budget);
                assert!((cells > 0, frames > 0) == (parity_cells > 0, parity_packets > 0));
                seen = [seen[0] + cells, seen[1] + frames];
            }
        }
    }
    assert!(seen[0] > 500 && seen[1] > 200, "{seen:?}");
}
