use super::*;
use crate::refused::Refused;
use crate::scheduler::tests::{Bench, contracts};
use crate::units::ids::{IdSlice, QueueId};

const STM1: Rate = Rate(155_520_000);
pub(super) const DEFAULT: Params = Params {
    realisation: Realisation::Credits,
    period: Span::millis(1),
    carry: Carry::Exact,
    mcr_plus: false,
    reserved: PartsPerMillion(100_000),
    layer: Layer::Cells,
};
pub(super) const CLOCK: Params = Params { realisation: Realisation::VirtualClock, ..DEFAULT };
/// Minimum cell rates of paper 003, Tables 3 to 7, in kilobits per second.
const CASE_2: [u64; 10] = [2000, 4000, 8000, 10_000, 10_000, 15_000, 15_000, 18_000, 18_000, 20_000];

fn bench(params: &Params, mcr: &[u64]) -> Bench<Policy> {
    let contracts = contracts(mcr);
    let context = Context { contracts: IdSlice::new(&contracts), ..Context::alone(3000, 0) };
    Bench::new(&context, |context| Policy::new(params, context))
}

fn rates(params: &Params, mcr: &[u64]) -> Result<Vec<Rate>, Refused> {
    let contracts = contracts(mcr);
    guaranteed(params, &Context { contracts: IdSlice::new(&contracts), ..Context::alone(3000, 0) })
}

/// Return the cells served per circuit while the line sends for `span` and the circuits in `busy` always have cells.
fn serve_for(bench: &mut Bench<Policy>, busy: &[usize], span: Span) -> Vec<u64> {
    let mut served = vec![0; bench.lengths.len()];
    busy.iter().for_each(|&vc| bench.join(&[vc, vc]));
    for cell in 0.. {
        bench.now = Time(STM1.time_of_bits(424 * cell).0);
        if bench.now >= Time::ZERO + span {
            break;
        }
        let vc = bench.serve_one().expect("the line never rests while a cell waits");
        served[vc] += 1;
        bench.join(&[vc]);
    }
    served
}

#[test]
fn one_megabit_per_second_is_2_358_cells_per_millisecond_on_average() {
    let mut credits = Credits::new(&[Rate(1_000_000)], Span::millis(1), Carry::Exact).unwrap();
    let (mut owed, mut busy) = (Ring::new(1), NumberSet::new(1));
    busy.insert(QueueId(0));
    let mut counts = [0; 4];
    for ms in 0..1000 {
        credits.advance(Time::ZERO + Span::millis(ms), &busy, &mut owed);
        let mut cells = 0;
        while credits.owes(QueueId(0)) {
            credits.charge(QueueId(0), 1);
            cells += 1;
        }
        counts[cells] += 1;
    }
    assert_eq!(counts, [0, 0, 642, 358]);
}

#[test]
fn with_floor_it_is_two_cells_in_every_millisecond() {
    let floor = Params { carry: Carry::Floor, ..DEFAULT };
    let mut bench = bench(&floor, &[1000, 0]);
    for ms in 0..50 {
        bench.now = Time::ZERO + Span::millis(ms);
        bench.join(&[0, 0, 0, 1, 1]);
        assert_eq!(bench.serve(3)[..2], [0, 0]);
        assert_eq!(bench.policy.owed.members().iter().count(), 0);
        while bench.serve_one().is_some() {}
    }
}

#[test]
fn guaranteed_cells_go_first_in_turn_and_the_rest_of_the_period_is_round_robin() {
    let mut bench = bench(&DEFAULT, &[848, 424, 0]); // two cells, one and none in a period
    bench.join(&[0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2]);
    assert_eq!(bench.serve(3), [0, 1, 0], "weighted round robin");
    assert_eq!(bench.serve(4), [0, 1, 2, 0], "round robin");
    bench.now = Time::ZERO + Span::millis(1);
    assert_eq!(bench.serve(3), [1, 0, 0], "the weighted turn goes on where it was");
    assert_eq!(bench.serve(10), [1, 2, 1, 2], "and so does the other");
}

#[test]
fn every_circuit_gets_its_mcr_and_an_equal_share_of_the_excess_in_one_second() {
    for params in [DEFAULT, CLOCK] {
        let served = serve_for(&mut bench(&params, &CASE_2), &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9], Span::secs(1));
        for (cells, mcr) in served.iter().zip(CASE_2) {
            let ideal = (mcr * 1000) as f64 + (STM1.as_f64() - 120e6) / 10.0;
            let error = *cells as f64 - ideal / 424.0;
            assert!(error.abs() < 3.0, "{:?}: {cells} cells for {mcr} kb/s", params.realisation);
        }
        assert_eq!(served.iter().sum::<u64>(), 366_793);
    }
}

#[test]
fn guarantees_that_fill_the_line_are_kept_but_for_what_the_carry_forgets() {
    for params in [DEFAULT, CLOCK] {
        let served = serve_for(&mut bench(&params, &[100_000, 55_520, 0]), &[0, 1, 2], Span::secs(1));
        for (cells, mcr) in served.iter().zip([100e6, 55.52e6]) {
            let missing = 1.0 - *cells as f64 * 424.0 / mcr;
            assert!(missing.abs() < 3e-4, "{:?}: {served:?}", params.realisation);
        }
    }
}

#[test]
fn by_the_virtual_clock_a_large_mcr_is_kept_beside_many_small_ones_however_full_the_line() {
    for large in [77_760, 93_312] {
        let mcr = [large, 15_552, 15_552, 15_552, 15_552]; // nine tenths of the line, and all of it
        let served = serve_for(&mut bench(&CLOCK, &mcr), &[0, 1, 2, 3, 4], Span::secs(1));
        for (cells, mcr) in served.iter().zip(mcr) {
            assert!(*cells as f64 > (mcr * 1000) as f64 / 424.0 - 2.0, "{mcr} kb/s: {served:?}");
        }
    }
}

#[test]
fn credits_keep_every_mcr_while_a_period_has_a_cell_for_each_circuit_and_one_more() {
    let mcr = [89_900, 15_750, 15_750, 15_750, 15_750]; // 366.79 - 6 cells in a millisecond are 152.97 Mb/s
    let served = serve_for(&mut bench(&DEFAULT, &mcr), &[0, 1, 2, 3, 4], Span::secs(1));
    for (cells, mcr) in served.iter().zip(mcr) {
        assert!(*cells as f64 > (mcr * 1000) as f64 / 424.0 - 1.0, "{mcr} kb/s: {served:?}");
    }
}

#[test]
fn unused_guarantees_are_shared_like_the_excess() {
    for params in [DEFAULT, CLOCK] {
        let served = serve_for(&mut bench(&params, &[100_000, 10_000, 0]), &[1, 2], Span::secs(1));
        let excess = (STM1.as_f64() - 10e6) / 2.0 / 424.0;
        assert_eq!(served[0], 0);
        assert!((served[2] as f64 - excess).abs() < 3.0, "{:?}: {served:?}", params.realisation);
    }
}

#[test]
fn a_circuit_that_rested_is_owed_one_period_and_one_cell() {
    let mut bench = bench(&DEFAULT, &[1000, 0]);
    bench.now = Time::ZERO + Span::millis(100);
    bench.join(&[1]);
    assert_eq!(bench.serve(1), [1]);
    bench.join(&[0, 0, 0, 0, 0, 1, 1]);
    assert_eq!(bench.serve(4), [0, 0, 0, 0], "3.358 cells, and then the turn is its own");
    assert_eq!(bench.serve(2), [1, 0], "then turn by turn");
}

#[test]
fn so_is_one_whose_credits_are_whole_cells_and_were_used_up_before() {
    let mut bench = bench(&DEFAULT, &[848, 0]); // two cells in a period
    let mut owed = |ms, cells: &[usize]| {
        bench.now = Time::ZERO + Span::millis(ms);
        bench.join(cells);
        bench.join(&[1]);
        bench.serve(cells.len() + 1)
    };
    assert_eq!(owed(0, &[0, 0]), [0, 0, 1]);
    assert_eq!(owed(1, &[0, 0, 0, 0]), [0, 0, 0, 1, 0], "two, and then the turn is its own");
    assert_eq!(owed(9, &[0, 0, 0, 0]), [0, 0, 0, 1, 0], "three, and then the turn is the other's");
}

#[test]
fn by_the_virtual_clock_cells_fall_due_one_by_one() {
    let mut bench = bench(&CLOCK, &[1000, 0]); // a cell every 424 us
    bench.join(&[0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1]);
    assert_eq!(bench.serve(4), [0, 0, 1, 0], "one is owed, the other three go by turns");
    bench.now = Time::ZERO + Span::micros(423);
    assert_eq!(bench.serve(2), [1, 0]);
    bench.now = Time::ZERO + Span::micros(424);
    assert_eq!(bench.serve(3), [0, 1, 0]);
}

#[test]
fn by_the_virtual_clock_intervals_are_exact_over_any_time() {
    let mut clock = VirtualClock::new(&[STM1], Carry::Exact);
    (0..366_792).for_each(|_| clock.charge(QueueId(0), clock.due(QueueId(0))));
    // 366 792 · 424 bit / 155.52 Mb/s, rounded down once
    assert_eq!(clock.due(QueueId(0)), Time(999_998_765_432));
}

#[test]
fn by_the_virtual_clock_a_late_cell_delays_the_next_only_if_configured() {
    let due = |carry| {
        let mut bench = bench(&Params { carry, ..CLOCK }, &[1000, 0]);
        bench.join(&[0; 9]);
        bench.serve_one();
        bench.now = Time::ZERO + Span::micros(624); // 200 us late
        bench.serve_one();
        let Guarantees::VirtualClock(clock) = bench.policy.guarantees else { unreachable!() };
        clock.due(QueueId(0))
    };
    assert_eq!(due(Carry::Exact), Time::ZERO + Span::micros(848));
    assert_eq!(due(Carry::Floor), Time::ZERO + Span::micros(1048));
}

#[test]
fn a_circuit_without_credit_to_send_is_passed_over_and_keeps_what_it_is_owed() {
    for params in [DEFAULT, CLOCK] {
        let mut bench = bench(&params, &[424, 0]);
        bench.join(&[0, 1, 1]);
        bench.blocked.push(0);
        assert_eq!(bench.serve(1), [1]);
        bench.blocked.clear();
        assert_eq!(bench.serve(5), [0, 1]);
    }
}

#[test]
fn mcr_plus_raises_every_mcr_by_12_96_percent_when_120_megabits_are_promised() {
    let plus = Params { mcr_plus: true, ..DEFAULT };
    let raised = rates(&plus, &CASE_2).unwrap();
    // equation (12): 15.552 / 120 = 0.1296
    let expected: Vec<Rate> = CASE_2.iter().map(|kbps| Rate(kbps * 1000 * 11_296 / 10_000)).collect();
    assert_eq!(raised, expected);
    assert_eq!(raised[0], Rate(2_259_200));
    assert_eq!(raised.iter().map(|rate| rate.0).sum::<u64>(), 135_552_000);
}

#[test]
fn mcr_plus_leaves_circuits_without_a_promise_alone() {
    let plus = Params { mcr_plus: true, ..DEFAULT };
    assert_eq!(rates(&plus, &[0, 0]), Ok(vec![Rate(0), Rate(0)]));
    // Tables 8 and 9: 86 Mb/s are promised
    let raised = rates(&plus, &[0, 15_000, 15_000, 18_000, 18_000, 20_000]).unwrap();
    assert_eq!((raised[0], raised[5]), (Rate(0), Rate(20_000_000 + 15_552_000 * 20 / 86)));
}

#[test]
fn at_the_tcp_layer_an_mcr_counts_octets_in_full_frames() {
    // 2048 octets in 44 cells of 53 octets: 2332 / 2048
    let tcp = Params { layer: Layer::Tcp, ..DEFAULT };
    assert_eq!(rates(&tcp, &[10_000]), Ok(vec![Rate(11_386_718)]));
}

#[test]
fn what_cannot_be_guaranteed_is_refused() {
    let refused = |params: &Params, mcr: &[u64]| rates(params, mcr).unwrap_err().why;
    assert_eq!(rates(&DEFAULT, &[155_520]), Ok(vec![STM1]));
    assert_eq!(
        refused(&DEFAULT, &[100_000, 56_000]),
        "the guaranteed rates add up to 156 Mb/s on a line of 155520 kb/s: lower the mcr of its flows, or give the link a higher \
         rate"
    );
    let plus = Params { mcr_plus: true, ..DEFAULT };
    assert!(refused(&plus, &[145_000]).contains(", reserved bandwidth included, on a line"));
    let acks = Contract { payload: None, ..contracts(&[1000])[0] };
    let tcp = Params { layer: Layer::Tcp, ..DEFAULT };
    let acks = [acks];
    let context = Context { contracts: IdSlice::new(&acks), ..Context::alone(100, 0) };
    assert!(Policy::new(&tcp, &context).unwrap_err().why.contains("acknowledgements"));
    let packets = Context { measure: Measure::Bytes, ..Context::alone(100, 1) };
    assert!(Policy::new(&DEFAULT, &packets).unwrap_err().why.contains("packets"));
    let never = Params { period: Span::ZERO, ..DEFAULT };
    assert_eq!(Policy::new(&never, &Context::alone(100, 1)).unwrap_err().key, Some("period"));
}
