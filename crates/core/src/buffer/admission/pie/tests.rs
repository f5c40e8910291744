//! PIE at a port.

use super::super::Spec;
use super::super::conformance::Rig;
use super::super::tests::PolicyBench;
use super::*;
use crate::units::ids::QueueId;

pub(super) fn params() -> Params {
    Params {
        target: Span::millis(15),
        update: Span::millis(15),
        alpha: 0.125,
        beta: 1.25,
        burst: Span::millis(150),
        law: PieVersion::Rfc,
        action: Action::Drop,
        mark_limit: 0.1,
        derandomise: true,
        byte_mode: false,
        mtu: None,
    }
}

/// A port with waits of 30 ms at all updates, and this probability.
fn congested(probability: f64, action: Action) -> PolicyBench<Policy> {
    let params = Params { action, burst: Span::ZERO, mtu: Some(Bytes(0)), ..params() };
    let mut bench = PolicyBench::new(100, 2, |context| Policy::new(&params, context));
    bench.policy.controls[QueueId(0)].set(probability, 0.03);
    bench
}

#[test]
fn a_packet_that_is_drawn_is_discarded_or_marked_while_the_probability_is_at_most_the_limit() {
    let letters = |probability, action, cells: &str| {
        let mut bench = congested(probability, action);
        bench.waiting = 9000;
        bench.offer(0, &cells.repeat(100)).replace('A', "")
    };
    assert!(letters(0.1, Action::Drop, "2").starts_with("mm"));
    assert!(letters(0.1, Action::Mark, "2").starts_with("MM"));
    assert!(letters(0.11, Action::Mark, "2").starts_with("mm"), "above 10 % it is discarded");
    assert!(letters(0.1, Action::Mark, "1").starts_with("mm"), "it cannot be marked");
}

#[test]
fn on_a_cell_link_frames_are_refused_whole() {
    let mut bench = congested(0.9, Action::Drop);
    bench.waiting = 9000;
    let answer = bench.offer(0, &"f.e".repeat(30));
    assert!(answer.contains("mmm") && answer.replace("mmm", "").replace("AAA", "").is_empty(), "{answer}");
}

#[test]
fn the_wait_comes_from_packets_that_leave_others_behind() {
    let mut rig = Rig::new(&Spec::Pie(params()), Measure::Packets, 1000, 1, 1);
    for _ in 0..400 {
        (0..2).for_each(|_| rig.packet(0, 1500));
        rig.wait(Span::millis(8)); // a packet takes 5.1 ms
    }
    let lost = rig.lost();
    assert!((80..200).contains(&lost.len()), "of 800 packets {} are lost", lost.len());
    assert!(lost.iter().all(|loss| loss.ends_with("random")), "{lost:?}");
}

#[test]
fn impossible_parameters_are_refused() {
    let why = |params: Params| Policy::new(&params, &Context::alone(100, 1)).unwrap_err().to_string();
    assert_eq!(why(Params { update: Span::ZERO, ..params() }), "update: must be greater than 0");
    assert_eq!(why(Params { alpha: -1.0, ..params() }), "alpha: must be 0 or greater");
    let bytes = why(Params { byte_mode: true, ..params() });
    assert!(bytes.starts_with("byte_mode: must be false on a cell link"), "{bytes}");
}
