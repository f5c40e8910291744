//! CoDel at a port.

use super::super::Spec;
use super::super::conformance::Rig;
use super::*;
use crate::buffer::size::Measure;

fn params() -> Params {
    Params {
        target: Span::millis(5),
        interval: Span::millis(100),
        law: Law::Exact,
        action: Action::Drop,
        ce_threshold: None,
        mtu: None,
        full: OverflowLoss::Arrival,
        batch: 64,
    }
}

#[test]
fn a_port_discards_packets_at_the_head_while_it_is_congested() {
    for (measure, capacity) in [(Measure::Packets, 100), (Measure::Bytes, 200_000)] {
        let mut rig = Rig::new(&Spec::Codel(params()), measure, capacity, 1, 1);
        (0..100).for_each(|_| rig.packet(0, 1500));
        rig.drain();
        // a packet takes 5.106 ms: the second one waits too long, the 22nd comes to the head at 107.2 ms, and the 43rd
        // at 209.4 ms, when the one that is due at 207.2 ms can be discarded
        assert_eq!(rig.lost()[..3], ["0:21.0 delay", "0:42.0 delay", "0:57.0 delay"]);
    }
}

#[test]
fn the_last_packets_are_sent_however_long_they_have_waited() {
    for (mtu, last) in
        [(None, "0:17.0 delay"), (Some(Bytes(2999)), "0:17.0 delay"), (Some(Bytes(3000)), "0:16.0 delay")]
    {
        let params = Params { interval: Span(1), target: Span(0), mtu, ..params() };
        let mut rig = Rig::new(&Spec::Codel(params), Measure::Packets, 100, 1, 1);
        (0..20).for_each(|_| rig.packet(0, 1500));
        rig.drain();
        assert_eq!(rig.lost().last().map(String::as_str), Some(last), "{mtu:?}");
    }
}

#[test]
fn a_full_buffer_loses_what_arrives() {
    let mut rig = Rig::new(&Spec::Codel(params()), Measure::Packets, 2, 1, 1);
    (0..3).for_each(|_| rig.packet(0, 1500));
    assert_eq!(rig.lost(), ["0:2.0 overflow"]);
}

#[test]
fn on_a_cell_link_frames_are_discarded_whole() {
    let params = Params { target: Span(1), interval: Span::millis(2), mtu: Some(Bytes(0)), ..params() };
    let mut rig = Rig::new(&Spec::Codel(params), Measure::Cells, 1000, 2, 1);
    for _ in 0..50 {
        rig.offer(0, "f.");
        rig.offer(1, "f.");
        rig.offer(0, "e");
        rig.offer(1, ".e");
    }
    let sent = rig.drain();
    let lost = rig.lost();
    let firsts: Vec<&str> = lost.iter().filter_map(|cell| cell.strip_suffix(".0 delay")).collect();
    assert!(firsts.len() > 5, "{lost:?}");
    for frame in firsts {
        assert!(sent.iter().all(|cell| !cell.starts_with(&format!("{frame}."))), "{frame} was sent in part");
        assert!(lost.contains(&format!("{frame}.2 partial")), "{lost:?}");
    }
    assert_eq!(sent.len() + lost.len(), 350);
}
