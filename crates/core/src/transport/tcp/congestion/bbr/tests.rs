//! The vectors, and rules of the draft by hand. `crates/core/tests/textbook/senders/bbr.rs` has the whole a second time.

use serde_json::Value as Json;

use super::model::{inflight_at_loss, is_too_high, lowered};
use super::state::{AckPhase, MaxFilter, Phase};
use super::*;
use crate::rng::Keyed;
use crate::transport::tcp::tests::defaults;
use crate::vectors::{numbers, vector};

const MSS: u64 = 1000;

fn at(ms: u64) -> Time {
    Time::ZERO + Span::millis(ms)
}

/// A sender of segments of [`MSS`] octets with a round trip of 40 ms, and its window.
fn started(rtt: Option<u64>) -> (Bbr, CongestionWindow) {
    let params =
        Params { mss: MSS as u32, initial_window: 10, window: crate::units::Bytes(64 << 20), ..defaults() };
    let (mut bbr, window) = (Bbr::new(&params), CongestionWindow::new(&params));
    let begin = Begin { now: at(0), rtt: rtt.map(Span::millis), draws: Keyed::new(1, "flow"), connection: 1 };
    bbr.begin(begin);
    (bbr, window)
}

/// A sample of a segment that was sent when all before this one was delivered; each takes one round trip.
fn sample(ms: u64, delivered: u64, bits: u64) -> RateSample {
    RateSample {
        now: at(ms),
        delivered,
        prior_delivered: delivered - MSS,
        rate: Some(Rate(bits)),
        is_app_limited: false,
        rtt: Some(Span::millis(40)),
        sent_in_flight: 10 * MSS,
        in_flight: 10 * MSS,
        newly_delivered: MSS,
        newly_lost: 0,
        newly_marked: 0,
        lost: 0,
        is_window_limited: false,
        starts_round: true,
        rounds: 0,
    }
}

fn cases(list: &str) -> Vec<Json> {
    vector("bbr")[list].as_array().unwrap().clone()
}

fn number(case: &Json, key: &str) -> u64 {
    case[key].as_u64().unwrap()
}

#[test]
fn the_first_rate_is_that_of_the_first_window_in_a_round_trip() {
    for case in cases("first_rate") {
        let initial_window = number(&case, "initial_window") as u32;
        let mut bbr = Bbr::new(&Params { initial_window, mss: number(&case, "mss") as u32, ..defaults() });
        bbr.init_pacing_rate(case["srtt_ms"].as_u64().map(Span::millis));
        assert_eq!(bbr.pacing_rate, number(&case, "rate_bps"), "{case}");
    }
}

#[test]
fn a_connection_without_a_handshake_paces_by_its_first_round_trip() {
    let (mut bbr, mut window) = started(None);
    assert_eq!(bbr.pacing_rate, 277 * 8 * 10 * MSS * 10, "10 segments in 1 ms");
    bbr.update(&mut window, &RateSample { rate: None, ..sample(40, MSS, 0) });
    assert_eq!(bbr.pacing_rate, 277 * 8 * 10 * MSS * 10 / 40);
}

/// What a sender does to enter a state.
type Entry = fn(&mut Bbr, &CongestionWindow);

#[test]
fn gains_and_windows_follow_from_the_model() {
    for case in cases("model") {
        let (mut bbr, mut window) = started(Some(number(&case, "rtt_ms")));
        (bbr.bw, bbr.full_bw_reached) = (number(&case, "rate_bps"), true);
        assert_eq!(bbr.bdp(bbr.bw), number(&case, "bdp"));
        let enter: [(&str, Entry); 6] = [
            ("drain", |bbr, _| {
                bbr.phase = Phase::Startup;
                bbr.check_startup_done(&sample(1, MSS, 1));
            }),
            ("down", |bbr, _| bbr.start_down(at(1))),
            ("cruise", |bbr, _| bbr.start_cruise()),
            ("refill", |bbr, _| bbr.start_refill()),
            ("up", |bbr, window| bbr.start_up(window, &sample(1, MSS, 1))),
            ("probe-rtt", |bbr, window| {
                bbr.probe_rtt_expired = true;
                bbr.check_probe_rtt(&mut window.clone(), &sample(1, MSS, 1));
            }),
        ];
        for (state, enter) in enter {
            enter(&mut bbr, &window);
            bbr.set_pacing_rate(bbr.pacing_gain);
            assert_eq!(bbr.pacing_rate, number(&case["pacing_bps"], state), "{state}");
        }
        bbr.start_cruise();
        for _ in 0..3000 {
            bbr.set_cwnd(&mut window, &sample(1, 1000 * MSS, 1));
        }
        assert_eq!(window.cwnd, number(&case, "largest_window"));
    }
}

#[test]
fn the_pipe_is_full_after_three_rounds_without_a_quarter_more() {
    for case in cases("full_pipe") {
        let (mut bbr, _) = started(Some(40));
        let rates = numbers(&case["rates"]);
        for (round, rate) in rates.iter().enumerate() {
            bbr.round_start = true;
            bbr.check_full_bw_reached(&sample(1, MSS, *rate as u64));
            let expected = (numbers(&case["baseline"])[round] as u64, numbers(&case["count"])[round] as u32);
            assert_eq!((bbr.full_bw, bbr.full_bw_count), expected, "{case}");
            assert_eq!(bbr.full_bw_reached, case["full"][round].as_bool().unwrap(), "{case}");
        }
    }
}

#[test]
fn rounds_that_the_application_limits_and_acks_within_a_round_say_nothing_of_the_pipe() {
    let (mut bbr, _) = started(Some(40));
    let limited = RateSample { is_app_limited: true, ..sample(1, MSS, 5) };
    for _ in 0..9 {
        bbr.round_start = true;
        bbr.check_full_bw_reached(&limited);
        bbr.round_start = false;
        bbr.check_full_bw_reached(&sample(1, MSS, 5));
    }
    assert_eq!((bbr.full_bw, bbr.full_bw_count, bbr.full_bw_reached), (0, 0, false));
}

#[test]
fn losses_bound_what_is_in_flight_as_in_the_vectors() {
    for case in cases("inflight_at_loss") {
        let [in_flight, lost, size] = ["in_flight", "lost", "size"].map(|key| number(&case, key));
        assert_eq!(inflight_at_loss(in_flight, lost, size), number(&case, "octets"), "{case}");
    }
    assert_eq!([(2, 100), (3, 100), (0, 0)].map(|(lost, all)| is_too_high(lost, all)), [false, true, false]);
}

#[test]
fn a_bound_for_the_short_term_falls_by_three_tenths_at_most() {
    for case in cases("shortterm") {
        let mut bound = number(&case, "bound");
        for (latest, after) in numbers(&case["latest"]).into_iter().zip(numbers(&case["after"])) {
            bound = lowered(bound, latest as u64);
            assert_eq!(bound, after as u64, "{case}");
        }
    }
}

#[test]
fn headroom_slope_and_quantum_are_those_of_the_vectors() {
    let (mut bbr, mut window) = started(Some(40));
    for case in cases("headroom") {
        bbr.inflight_longterm = MSS * number(&case, "inflight_longterm");
        assert_eq!(bbr.inflight_with_headroom(), MSS * number(&case, "window"), "{case}");
    }
    for case in cases("slope") {
        window.cwnd = MSS * number(&case, "cwnd");
        bbr.start_refill();
        for (round, acked) in numbers(&case["acked_per_packet"]).into_iter().enumerate() {
            match round {
                0 => bbr.start_up(&window, &sample(1, MSS, 1)),
                _ => bbr.raise_slope(&window),
            }
            assert_eq!(bbr.probe_up_acked_per_inc, MSS * acked as u64, "{case}");
        }
    }
    for case in cases("probe_rtt") {
        bbr.bw = number(&case, "bdp") * MSS * 8 * 25;
        assert_eq!(bbr.probe_rtt_cwnd(), MSS * number(&case, "window"), "{case}");
    }
    bbr.mss = 1460;
    for case in cases("quantum") {
        bbr.pacing_rate = number(&case, "pacing_bps");
        bbr.set_send_quantum();
        assert_eq!(bbr.send_quantum, number(&case, "octets"), "{case}");
    }
}

/// A sender in UP after a full pipe at 10 Mb/s and 40 ms: a BDP of 50 segments.
fn probing() -> (Bbr, CongestionWindow) {
    let (mut bbr, mut window) = started(Some(40));
    (bbr.bw, bbr.full_bw_reached, bbr.delivered) = (10_000_000, true, 1000 * MSS);
    bbr.max_bw_filter = [10_000_000; 2];
    window.cwnd = 100 * MSS;
    bbr.start_refill();
    bbr.round_start = true;
    bbr.update_probe_bw(&window, &sample(100, 1000 * MSS, 10_000_000));
    assert_eq!((bbr.phase, bbr.is_bw_probe_sample), (Phase::Up, true));
    (bbr, window)
}

fn lost(segments: u64, is_app_limited: bool) -> LostSegment {
    LostSegment {
        now: at(200),
        start: 0,
        size: MSS,
        sent_in_flight: 80 * MSS,
        lost: segments * MSS,
        is_app_limited,
        delivered: 1100 * MSS,
    }
}

#[test]
fn more_than_two_percent_lost_in_a_probe_end_it_and_bound_the_flight_once() {
    let (mut bbr, window) = probing();
    bbr.handle_lost(&window, &lost(1, false));
    assert_eq!((bbr.phase, bbr.inflight_longterm), (Phase::Up, INFINITE), "1.25 %");
    bbr.handle_lost(&window, &lost(2, false));
    assert_eq!((bbr.phase, bbr.inflight_longterm), (Phase::Down, 50 * 78 * MSS / 49));
    assert!(bbr.prev_probe_too_high && !bbr.is_bw_probe_sample);
    bbr.handle_lost(&window, &lost(40, false));
    assert_eq!(bbr.inflight_longterm, 50 * 78 * MSS / 49, "once in a probe");
    let (mut bbr, window) = probing();
    bbr.handle_lost(&window, &lost(70, false));
    assert_eq!(bbr.inflight_longterm, 35 * MSS, "no less than 70 % of a BDP of 50 segments");
}

#[test]
fn a_loss_where_the_application_is_the_limit_ends_the_probe_and_bounds_nothing() {
    let (mut bbr, window) = probing();
    bbr.handle_lost(&window, &lost(2, true));
    assert_eq!((bbr.phase, bbr.inflight_longterm), (Phase::Down, INFINITE));
}

#[test]
fn a_loss_that_was_none_restores_bounds_window_and_probe() {
    let (mut bbr, mut window) = probing();
    bbr.inflight_longterm = 120 * MSS;
    bbr.enter_recovery(&window);
    bbr.handle_lost(&window, &lost(9, false));
    assert_eq!((bbr.phase, bbr.undo_phase), (Phase::Down, Some(Phase::Up)));
    assert!(bbr.inflight_longterm < 120 * MSS);
    (window.cwnd, bbr.bw_shortterm) = (20 * MSS, 7_000_000);
    bbr.leave_recovery(&mut window);
    bbr.handle_spurious_loss(&mut window);
    assert_eq!((bbr.phase, window.cwnd, bbr.inflight_longterm), (Phase::Refill, 100 * MSS, 120 * MSS));
    assert_eq!((bbr.bw_shortterm, bbr.undo_phase, bbr.ack_phase), (INFINITE, None, AckPhase::Refilling));
    bbr.enter_recovery(&window);
    let mut control = Control(Box::new(bbr));
    control.on_undo(&mut window, 0, 0);
    assert_eq!((control.0.in_recovery, control.0.recovery_start), (false, None), "and the recovery is over");
}

#[test]
fn losses_that_were_none_are_not_those_of_a_round_and_do_not_end_startup() {
    let (mut bbr, mut window) = probing();
    bbr.start_cruise();
    bbr.handle_lost(&window, &lost(1, false));
    assert!(bbr.is_loss_in_round);
    bbr.handle_spurious_loss(&mut window);
    assert!(!bbr.is_loss_in_round, "no bound follows");
    for (phase, expected) in [(Phase::Drain, Phase::Startup), (Phase::ProbeRtt, Phase::ProbeRtt)] {
        (bbr.phase, bbr.full_bw_reached, bbr.undo_phase) = (phase, true, Some(Phase::Startup));
        (bbr.full_bw, bbr.full_bw_count) = (7, 2);
        bbr.handle_spurious_loss(&mut window);
        assert_eq!((bbr.phase, bbr.full_bw_reached), (expected, false), "{phase:?}");
        assert_eq!((bbr.full_bw, bbr.full_bw_count), (0, 0), "and the search for a full pipe begins anew");
    }
}

#[test]
fn a_probe_after_one_that_went_too_high_ends_at_its_bound_and_is_repeated_at_once() {
    let (mut bbr, window) = probing();
    (bbr.prev_probe_too_high, bbr.inflight_longterm) = (true, 60 * MSS);
    let reaches = RateSample { in_flight: 60 * MSS, ..sample(200, 1050 * MSS, 10_000_000) };
    bbr.round_start = false;
    bbr.update_probe_bw(&window, &reaches);
    assert_eq!((bbr.phase, bbr.prev_probe_precautionary), (Phase::Down, true));
    assert!(!bbr.prev_probe_too_high, "no loss so far");
    bbr.round_start = true;
    bbr.update_probe_bw(&window, &RateSample { in_flight: 90 * MSS, ..reaches });
    assert_eq!((bbr.phase, bbr.prev_probe_precautionary), (Phase::Refill, false), "a clean round");
    let (mut bbr, window) = probing();
    (bbr.prev_probe_too_high, bbr.inflight_longterm, bbr.round_start) = (true, 60 * MSS, false);
    bbr.update_probe_bw(&window, &reaches);
    bbr.handle_lost(&window, &lost(2, false));
    bbr.round_start = true;
    bbr.update_probe_bw(&window, &RateSample { in_flight: 90 * MSS, ..reaches });
    assert_eq!((bbr.phase, bbr.prev_probe_precautionary), (Phase::Down, true), "a loss of the probe");
}

#[test]
fn a_probe_follows_the_last_one_by_as_many_rounds_as_the_window_has_packets_but_at_most_63() {
    for (bdp, wait) in [(20, 20), (63, 63), (64, 63), (400, 63)] {
        let (mut bbr, mut window) = started(Some(40));
        (bbr.bw, bbr.full_bw_reached) = (bdp * MSS * 8 * 25, true);
        window.cwnd = 1000 * MSS;
        bbr.start_down(at(100));
        bbr.start_cruise();
        bbr.ack_phase = AckPhase::Init;
        for (rounds, phase) in [(wait - 1, Phase::Cruise), (wait, Phase::Refill)] {
            bbr.rounds_since_probe_up = rounds;
            bbr.update_probe_bw(&window, &sample(101, 1000 * MSS, 10_000_000));
            assert_eq!(bbr.phase, phase, "{bdp} packets, {rounds} rounds");
        }
    }
}

#[test]
fn a_probe_for_the_round_trip_ends_a_probe_for_bandwidth_and_takes_a_round_of_its_own() {
    let (mut bbr, mut window) = probing();
    let few = RateSample { in_flight: 4 * MSS, ..sample(6000, 1001 * MSS, 10_000_000) };
    bbr.probe_rtt_expired = true;
    assert!(bbr.check_probe_rtt(&mut window, &few));
    bbr.round_start = true;
    bbr.update_probe_bw(&window, &few);
    assert!(!bbr.is_bw_probe_sample, "losses from its second round on are none of the probe");
    bbr.inflight_longterm = 20 * MSS;
    bbr.set_cwnd(&mut window, &few);
    assert_eq!(window.cwnd, 17 * MSS, "with headroom, where that is less than half a BDP");
    for begin in [7000, 9000] {
        (bbr.phase, bbr.probe_rtt_expired, bbr.round_start) = (Phase::Cruise, true, false);
        assert!(bbr.check_probe_rtt(&mut window, &RateSample { now: at(begin), ..few }));
        assert!(bbr.check_probe_rtt(&mut window, &RateSample { now: at(begin + 300), ..few }));
        assert_eq!(bbr.phase, Phase::ProbeRtt, "200 ms without a round");
        bbr.round_start = true;
        assert!(bbr.check_probe_rtt(&mut window, &RateSample { now: at(begin + 301), ..few }));
        assert_eq!(bbr.phase, Phase::Cruise);
    }
}

#[test]
fn a_bound_that_limits_the_probe_grows_by_a_segment_then_two_then_four() {
    let (mut bbr, mut window) = probing();
    (window.cwnd, bbr.inflight_longterm) = (80 * MSS, 80 * MSS);
    bbr.probe_up_acked_per_inc = 80 * MSS;
    let mut grown = Vec::new();
    for _ in 0..3 {
        let before = bbr.inflight_longterm;
        for ack in 0..80 {
            bbr.round_start = ack == 79;
            let limited = RateSample {
                is_window_limited: true,
                sent_in_flight: 70 * MSS,
                ..sample(200, 1050 * MSS, 1)
            };
            window.cwnd = bbr.inflight_longterm;
            bbr.update_probe_bw(&window, &limited);
        }
        grown.push((bbr.inflight_longterm - before) / MSS);
    }
    assert_eq!((grown, bbr.phase), (vec![1, 2, 3], Phase::Up));
}

#[test]
fn a_probe_for_the_round_trip_lasts_200_ms_and_a_round_and_returns_to_where_it_began() {
    let phases = |full: bool| {
        let (mut bbr, mut window) = started(Some(40));
        (bbr.full_bw_reached, bbr.bw) = (full, 10_000_000);
        window.cwnd = 100 * MSS;
        let mut seen = vec![bbr.phase];
        let mut delivered = 100 * MSS;
        for ms in (4900..5500).step_by(20) {
            delivered += MSS;
            let sample = RateSample {
                rtt: Some(Span::millis(41)),
                in_flight: 20 * MSS,
                is_app_limited: !full,
                ..sample(ms, delivered, 9_000_000)
            };
            let limited = bbr.update(&mut window, &sample);
            assert!(limited || bbr.phase != Phase::ProbeRtt, "what is in flight counts as limited");
            if seen.last() != Some(&bbr.phase) {
                seen.push(bbr.phase);
                if bbr.phase == Phase::ProbeRtt {
                    assert!(ms > 5000 && window.cwnd <= 25 * MSS, "{ms}");
                }
            }
        }
        (seen, window.cwnd >= 50 * MSS)
    };
    assert_eq!(phases(false), (vec![Phase::Startup, Phase::ProbeRtt, Phase::Startup], true));
    // with less than a BDP in flight Drain and DOWN end with the ACK that begins them
    let way = vec![Phase::Startup, Phase::Cruise, Phase::ProbeRtt, Phase::Cruise];
    assert_eq!(phases(true), (way, true));
}

#[test]
fn a_flow_that_was_idle_does_not_probe_for_the_round_trip_and_paces_at_its_rate() {
    let (mut bbr, mut window) = probing();
    bbr.handle_restart(&mut window, at(6000));
    assert_eq!((bbr.idle_restart, bbr.pacing_rate), (true, 9_900_000));
    bbr.probe_rtt_expired = true;
    assert!(!bbr.check_probe_rtt(&mut window, &sample(6040, 1001 * MSS, 1)));
    assert_eq!((bbr.phase, bbr.idle_restart), (Phase::Up, false), "the first delivery ends the restart");
    bbr.handle_restart(&mut window, at(6050));
    let nothing = RateSample { prior_delivered: 1001 * MSS, ..sample(6060, 1001 * MSS, 1) };
    assert!(
        !bbr.check_probe_rtt(&mut window, &nothing) && bbr.idle_restart,
        "and no ACK that delivers nothing"
    );
    (bbr.phase, bbr.probe_rtt_done_stamp) = (Phase::ProbeRtt, Some(at(6100)));
    bbr.handle_restart(&mut window, at(6100));
    assert_eq!(bbr.phase, Phase::ProbeRtt);
    bbr.handle_restart(&mut window, at(6101));
    assert_eq!(bbr.phase, Phase::Cruise, "a rest that outlasts a probe for the round trip ends it");
}

#[test]
fn a_rate_that_the_application_limits_counts_only_if_it_is_the_largest_one() {
    let (mut bbr, window) = started(Some(40));
    let of = |bits: u64, is_app_limited| RateSample { is_app_limited, ..sample(1, MSS, bits) };
    bbr.update_congestion_signals(&window, &of(9_000_000, false));
    bbr.advance_max_bw_filter();
    bbr.update_congestion_signals(&window, &of(3_000_000, true));
    bbr.advance_max_bw_filter();
    assert_eq!(bbr.max_bw(), 9_000_000, "a cycle without a sample changes nothing");
    bbr.update_congestion_signals(&window, &of(9_500_000, true));
    bbr.update_congestion_signals(&window, &of(4_000_000, false));
    assert_eq!(bbr.max_bw(), 9_500_000);
    (0..2).for_each(|_| {
        bbr.advance_max_bw_filter();
        bbr.update_congestion_signals(&window, &of(5_000_000, false));
    });
    assert_eq!(bbr.max_bw(), 5_000_000, "of the last two cycles");
}

#[test]
fn the_shortest_round_trip_counts_for_ten_seconds_from_its_own_instant() {
    let (mut bbr, _) = started(Some(40));
    let mut at_ms = |ms: u64, rtt: u64| {
        bbr.update_min_rtt(&RateSample { rtt: Some(Span::millis(rtt)), ..sample(ms, MSS, 1) });
        bbr.min_rtt
    };
    assert_eq!([at_ms(4000, 60), at_ms(5001, 50), at_ms(10_000, 70)], [Span::millis(40); 3]);
    assert_eq!(at_ms(10_001, 70), Span::millis(50), "that of 5 s");
    assert_eq!([at_ms(10_002, 80), at_ms(15_001, 90)], [Span::millis(50); 2]);
    assert_eq!(at_ms(15_002, 90), Span::millis(80), "ten seconds after it, and not after 10 s");
}

#[test]
fn the_largest_value_of_ten_rounds_counts() {
    let mut filter = MaxFilter::default();
    assert_eq!(
        [(1, 5), (2, 9), (3, 4), (12, 3), (13, 2)].map(|(now, value)| filter.update(now, value, 10)),
        [5, 9, 9, 9, 4]
    );
    assert_eq!(filter.update(14, 1, 1), 2);
}

#[test]
fn waits_between_probes_are_drawn_by_connection_and_cycle() {
    let waits = |connection: u32| {
        let (mut bbr, _) = started(Some(40));
        bbr.connection = connection;
        (0..20)
            .map(|_| {
                bbr.start_down(at(1));
                (bbr.bw_probe_wait.0, bbr.rounds_since_probe_up)
            })
            .collect::<Vec<_>>()
    };
    let (first, other) = (waits(1), waits(2));
    assert!(
        first
            .iter()
            .all(|(wait, rounds)| (2_000_000_000_000..=3_000_000_000_000).contains(wait) && *rounds <= 1)
    );
    assert!(first.iter().any(|(_, rounds)| *rounds == 0) && first.iter().any(|(_, rounds)| *rounds == 1));
    assert_eq!(first, waits(1));
    assert!(first != other && first.windows(2).all(|pair| pair[0].0 != pair[1].0));
}

#[test]
fn start_up_ends_by_losses_in_six_ranges_over_a_round_of_recovery() {
    let ends = |ranges: u64, lost_share: u64, since: u64| {
        let (mut bbr, window) = started(Some(40));
        bbr.bw = 10_000_000;
        bbr.enter_recovery(&window);
        bbr.recovery_start = Some(since);
        for range in 0..ranges {
            let segment = LostSegment { start: 2 * range * MSS, delivered: 90 * MSS, ..lost(1, true) };
            bbr.handle_lost(&window, &segment);
            bbr.handle_lost(&window, &LostSegment { start: (2 * range + 1) * MSS, ..segment });
        }
        let after = LostSegment { start: 1000 * MSS, delivered: 90 * MSS, ..lost(1, true) };
        bbr.handle_lost(&window, &after);
        let sample = RateSample {
            is_app_limited: true,
            lost: lost_share * MSS,
            sent_in_flight: 100 * MSS,
            ..sample(200, 101 * MSS, 5)
        };
        bbr.update_latest_signals(&sample);
        bbr.check_startup_done(&sample);
        (bbr.phase, bbr.inflight_longterm)
    };
    // contiguous segments are one range; the last one is another
    assert_eq!(ends(9, 3, 90 * MSS), (Phase::Startup, INFINITE), "two ranges");
    let spread = |ranges: u64, share: u64, since: u64| {
        let (mut bbr, window) = started(Some(40));
        bbr.bw = 10_000_000;
        bbr.enter_recovery(&window);
        bbr.recovery_start = Some(since);
        for range in 0..ranges {
            bbr.handle_lost(
                &window,
                &LostSegment { start: 3 * range * MSS, delivered: 90 * MSS, ..lost(1, true) },
            );
        }
        let sample = RateSample { lost: share * MSS, sent_in_flight: 100 * MSS, ..sample(200, 101 * MSS, 5) };
        bbr.update_latest_signals(&sample);
        bbr.check_startup_done(&sample);
        (bbr.phase, bbr.inflight_longterm)
    };
    assert_eq!(spread(6, 3, 90 * MSS), (Phase::Drain, 50 * MSS), "at least a BDP");
    assert_eq!(spread(5, 3, 90 * MSS).0, Phase::Startup, "five ranges");
    assert_eq!(spread(6, 2, 90 * MSS).0, Phase::Startup, "2 % are not more than 2 %");
    assert_eq!(spread(6, 3, 100 * MSS).0, Phase::Drain, "a round in recovery, from its first segment on");
    assert_eq!(spread(6, 3, 101 * MSS).0, Phase::Startup, "less than a round in recovery");
}

#[test]
fn a_timeout_leaves_one_segment_and_its_end_the_window_before_it() {
    let (mut bbr, mut window) = started(Some(40));
    window.cwnd = 77 * MSS;
    bbr.enter_timeout(&mut window);
    assert_eq!(window.cwnd, MSS);
    bbr.enter_timeout(&mut window);
    bbr.leave_recovery(&mut window);
    assert_eq!((window.cwnd, bbr.in_recovery), (77 * MSS, false));
}
