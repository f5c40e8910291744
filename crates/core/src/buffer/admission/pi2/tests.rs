//! PI2 at a port, packet by packet.

use super::super::Spec;
use super::super::conformance::Rig;
use super::*;
use crate::buffer::queue::Queue;
use crate::buffer::size::Measure;
use crate::unit::Flags;
use crate::units::ids::{CircuitId, PortVc, QueueId};
use crate::vectors::vector;

fn params() -> Params {
    Params {
        target: Span::millis(15),
        update: Span::millis(16),
        alpha: 0.16,
        beta: 3.2,
        law: Pi2Law::Exact,
        coupling: 2.0,
        step: Span::millis(1),
        action: Action::Mark,
        overload: Overload::Drop,
        mtu: None,
    }
}

const CLASSIC: Flags = Flags::FIRST.with(Flags::EOM);
const ECT0: Flags = CLASSIC.with(Flags::ECT);
const ECT1: Flags = ECT0.with(Flags::L4S);
const SENT: HeadVerdict = HeadVerdict::Send;
const MARKED: HeadVerdict = HeadVerdict::Mark(Reason::Random);
const STEPPED: HeadVerdict = HeadVerdict::Mark(Reason::Delay);
const DISCARDED: HeadVerdict = HeadVerdict::Discard(Reason::Random);

/// A policy with a long queue and this base probability.
fn policy(params: &Params, base: f64) -> Policy {
    let mut policy = Policy::new(params, &Context::alone(100, 1)).unwrap();
    policy.octets = 1_000_000;
    policy.control = Control::new(Pi2Gains::new(Pi2Law::Exact, 1.0, 0.0), Span::ZERO, 1.0);
    policy.control.update(Span((base * 1e12).round() as u64));
    policy
}

/// Judge a packet that has waited for `micros`.
fn judge(policy: &mut Policy, flags: Flags, micros: u64) -> HeadVerdict {
    judge_packet(policy, (0, flags), micros)
}

/// Judge packet `number`, which has waited for `micros`.
fn judge_packet(policy: &mut Policy, (number, flags): (u32, Flags), micros: u64) -> HeadVerdict {
    let unit =
        Unit { vc: CircuitId(0), frame: number, identity: number, index: 0, bytes: 1500, hop: 0, flags };
    policy.judge_frame(&unit, Span::micros(micros), policy.octets)
}

/// The share of packets of a kind with this fate.
fn share(policy: &mut Policy, flags: Flags, fate: HeadVerdict) -> f64 {
    let packets = 200_000;
    (0..packets).filter(|&number| judge_packet(policy, (number, flags), 0) == fate).count() as f64
        / f64::from(packets)
}

#[test]
fn packets_of_scalable_senders_are_marked_in_proportion_and_classic_ones_by_the_square() {
    for case in vector("dualpi2")["coupled"].as_array().unwrap() {
        let number = |key: &str| case[key].as_f64().unwrap();
        let mut policy = policy(&Params { coupling: number("coupling"), ..params() }, number("base"));
        for (flags, fate, expected) in
            [(CLASSIC, DISCARDED, "classic"), (ECT0, MARKED, "classic"), (ECT1, MARKED, "l4s")]
        {
            let (found, p) = (share(&mut policy, flags, fate), number(expected));
            let deviation = 4.0 * (p * (1.0 - p) / 200_000.0).sqrt(); // four standard deviations
            assert!((found - p).abs() < deviation, "{expected}: {found} instead of {p}");
        }
    }
}

#[test]
fn a_packet_of_a_scalable_sender_that_has_waited_longer_than_the_step_is_marked() {
    let mut policy = policy(&params(), 0.0);
    assert_eq!(judge(&mut policy, ECT1, 1000), SENT);
    assert_eq!(judge(&mut policy, ECT1, 1001), STEPPED);
    assert_eq!(judge(&mut policy, ECT0.with(Flags::CE), 1001), STEPPED, "CE counts as L4S");
    assert_eq!(judge(&mut policy, ECT0, 9000), SENT);
    policy.octets = policy.mtu;
    assert_eq!(judge(&mut policy, ECT1, 1001), STEPPED, "also with a short queue");
}

#[test]
fn the_step_does_not_mark_a_lone_packet_that_a_slow_line_keeps_waiting() {
    let mut policy = policy(&Params { mtu: Some(Bytes(1500)), ..params() }, 0.0);
    for (behind, fate) in [(0, SENT), (1, STEPPED)] {
        policy.octets = behind;
        assert_eq!(judge(&mut policy, ECT1, 12_000), fate, "{behind} octets behind a full packet");
    }
    let mut without = self::policy(&Params { mtu: Some(Bytes(0)), ..params() }, 0.0);
    without.octets = 0;
    assert_eq!(judge(&mut without, ECT1, 12_000), STEPPED);
}

#[test]
fn with_less_than_two_full_packets_in_all_queues_the_probability_acts_on_nothing() {
    let mut policy = policy(&Params { mtu: Some(Bytes(1500)), ..params() }, 1.0);
    policy.octets = 2999;
    assert_eq!([CLASSIC, ECT0, ECT1].map(|flags| judge(&mut policy, flags, 0)), [SENT; 3]);
    policy.octets = 3000;
    assert_eq!(judge(&mut policy, CLASSIC, 0), DISCARDED);
}

#[test]
fn on_overload_packets_are_discarded_whatever_they_say() {
    let mut policy = policy(&params(), 0.6);
    for flags in [CLASSIC, ECT0, ECT1] {
        assert!((share(&mut policy, flags, DISCARDED) - 0.36).abs() < 0.005);
    }
    assert!((share(&mut policy, ECT1, MARKED) - 0.64).abs() < 0.005, "all others of L4S are marked");
    let overflow = Params { overload: Overload::Overflow, ..params() };
    assert_eq!(share(&mut self::policy(&overflow, 0.5), ECT1, MARKED), 1.0);
}

#[test]
fn with_drop_classic_packets_are_never_marked() {
    let mut policy = policy(&Params { action: Action::Drop, ..params() }, 0.5);
    assert!((share(&mut policy, ECT0, DISCARDED) - 0.25).abs() < 0.005);
}

#[test]
fn an_update_takes_the_longest_wait_that_the_port_has_seen() {
    let mut policy = Policy::new(&params(), &Context::alone(100, 1)).unwrap();
    let pool: Pool = Pool::new(Context::alone(100, 1).capacity, 1);
    let time = |millis| Time::ZERO + Span::millis(millis);
    assert_eq!(policy.tick(Time::ZERO, &pool, Span::ZERO), Some(time(16)));
    assert_eq!(policy.tick(time(16), &pool, Span::millis(10)), Some(time(32)));
    // .16 · (10 − 15) ms + 3.2 · 10 ms
    assert!((policy.control.probability() - 0.0312).abs() < 1e-12);
}

#[test]
fn a_full_buffer_loses_what_arrives_and_the_queue_is_forgotten_as_it_leaves() {
    let mut rig = Rig::new(&Spec::Pi2(params()), Measure::Packets, 2, 1, 1);
    (0..3).for_each(|_| rig.packet(0, 1500));
    rig.drain();
    assert_eq!(rig.lost(), ["0:2.0 overflow"]);
}

#[test]
fn octets_that_wait_are_those_that_have_come_and_not_left_in_any_way() {
    let mut policy = policy(&Params { mtu: Some(Bytes(0)), ..params() }, 0.0);
    policy.octets = 0;
    let (pool, queue) = (Pool::new(Context::alone(100, 1).capacity, 1), Queue::default());
    let unit =
        &Unit { vc: CircuitId(0), frame: 0, identity: 0, index: 0, bytes: 1500, hop: 0, flags: CLASSIC };
    let (now, pool, queue) = (Time(1), &pool, &queue);
    for _ in 0..4 {
        let mut arrival = Arrival {
            now,
            unit,
            vc: PortVc(0),
            size: 1,
            pool,
            queue,
            place: QueueId(0),
            waiting: 0,
            elastic: false,
        };
        assert_eq!(policy.judge(&mut arrival), Verdict::Accept);
    }
    policy.settled(unit, PortVc(0), Settled::TurnedAway { size: 1 });
    assert_eq!(policy.octets, 4500);
    let of_sent = || Departure::of_sent(now, unit, PortVc(0), 1, pool);
    let departure =
        |queue: Option<QueueId>| Departure { queue, position: None, sent: queue.is_none(), ..of_sent() };
    policy.departed(&Departure { accepted: false, sent: false, ..departure(None) });
    assert_eq!(policy.octets, 4500, "headers of a refused packet are not among them");
    policy.departed(&departure(Some(QueueId(0))));
    assert_eq!(policy.octets, 3000, "pushed out");
    let head = Head {
        now,
        arrived: Some(Time::ZERO),
        unit,
        queue: QueueId(0),
        vc: PortVc(0),
        size: 1,
        behind: 0,
        pool,
    };
    assert_eq!(policy.at_head(&head), SENT);
    policy.departed(&departure(None));
    assert_eq!(policy.octets, 1500);
    policy.control.update(Span::secs(1));
    assert_eq!(policy.at_head(&head), DISCARDED);
    policy.departed(&departure(Some(QueueId(0))));
    assert_eq!(policy.octets, 0);
}

#[test]
fn impossible_parameters_are_refused() {
    let why = |params: Params| Policy::new(&params, &Context::alone(100, 1)).unwrap_err().to_string();
    assert_eq!(why(Params { update: Span::ZERO, ..params() }), "update: must be greater than 0");
    assert_eq!(why(Params { coupling: 0.5, ..params() }), "coupling: must be from 1 to 1000000");
    assert_eq!(why(Params { beta: f64::NAN, ..params() }), "beta: must be from 0 to 1000000");
}
