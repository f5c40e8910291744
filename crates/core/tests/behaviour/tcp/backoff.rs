//! Back-off of the retransmission timer (RFC 6298, 2.4 and 5.5) over every ratio of `min_rto` to the round trip: the timeout
//! in force doubles until `max_rto`, whether the least timeout or the estimate decided the first one.

use pushout_core::rng::Stream;
use pushout_core::transport::tcp::{Params, Segment, Sender};
use pushout_core::units::{Span, Time};

use super::defaults;

/// Make a sender whose first segment is acknowledged after `round_trip`, and which receives no other ACK.
fn cut_off(params: &Params, round_trip: Span) -> Sender {
    let mut sender = Sender::new(params, Span::ZERO, Stream::new(1, "jitter"));
    let mut out = Vec::new();
    sender.open(Time::ZERO, &mut out);
    sender.write_forever(Time::ZERO, &mut out);
    let ack = Segment {
        ack: u64::from(out[0].len),
        window: params.window.0 as u32,
        connection: 1,
        is_ack: true,
        ..Segment::default()
    };
    sender.on_segment(Time::ZERO + round_trip, &ack, &mut out);
    sender
}

/// Time from each sending of the first segment to the next.
fn gaps(mut sender: Sender, since: Time, count: usize) -> Vec<Span> {
    let mut last = since;
    (0..count)
        .map(|_| {
            let due = sender.next_timer().unwrap();
            let mut out = Vec::new();
            sender.on_timer(due, &mut out);
            assert!(out[0].repeats > 0);
            due.since(std::mem::replace(&mut last, due))
        })
        .collect()
}

#[test]
fn each_timeout_in_a_row_doubles_the_last_one_until_the_longest() {
    let (min_rto, max_rto) = (Span::millis(200), Span::secs(60));
    for round_trip in [Span::micros(20), Span::millis(1), Span::millis(66), Span::millis(67), Span::secs(1)] {
        let params = Params { handshake: false, slow_timer: Span(1), min_rto, max_rto, ..defaults() };
        let first = Span(3 * (round_trip.0 + 1)).max(min_rto); // srtt + 4 mdev of the first measurement
        let wanted: Vec<Span> = (0..12).map(|n| Span((first.0 << n).min(max_rto.0))).collect();
        let seen = gaps(cut_off(&params, round_trip), Time::ZERO + round_trip, 12);
        assert_eq!(seen, wanted, "round trip {round_trip}");
        assert_eq!(seen.last(), Some(&max_rto));
    }
}

#[test]
fn a_lost_syn_is_repeated_after_the_first_timeout_and_its_doubles() {
    for initial_rto in [Span::millis(10), Span::secs(1), Span::secs(3)] {
        let params = Params {
            slow_timer: Span(1),
            min_rto: Span::ZERO,
            initial_rto,
            max_rto: Span::secs(64),
            ..defaults()
        };
        let mut sender = Sender::new(&params, Span::ZERO, Stream::new(1, "jitter"));
        let mut out = Vec::new();
        sender.open(Time::ZERO, &mut out);
        sender.write_forever(Time::ZERO, &mut out);
        for count in 1..15 {
            let due = sender.next_timer().unwrap();
            sender.on_timer(due, &mut out);
            assert!(out.pop().unwrap().syn);
            let wanted = Span((initial_rto.0 << count).min(params.max_rto.0));
            assert_eq!(sender.next_timer().unwrap().since(due), wanted, "{initial_rto}, timeout {count}");
        }
    }
}
