//! Scripted trains for each form of a port with per-circuit queues with the expected outcome: a normal case, one in
//! which the form does not apply, and a tie.

use crate::engine::cells::port::scripted::{Script, used};
use crate::engine::forms::Form;

/// Two circuits take turns; a frame is refused as a whole or not at all.
const ROBIN: &str = "buffer = '200 cells'\nscheduler = { policy = 'round-robin' }\nadmission = { policy = 'dt-epd', alpha = 10 }";
/// Like the one before, with a policy that decides about each cell.
const EACH: &str = "buffer = '200 cells'\nscheduler = { policy = 'round-robin' }\nadmission = { policy = 'dynamic-threshold', alpha = 10 }";

/// A line half as fast as the incoming lines, one as fast, and one twice as fast: 20, 10 and 5 µs a cell.
const SLOW: &str = "21.2 Mb/s";
const EQUAL: &str = "42.4 Mb/s";
const FAST: &str = "84.8 Mb/s";

/// A port with long frames in both of its queues and a former maximum above its occupancy: trains may join ahead
/// without a new maximum.
fn busy(keys: &str, rate: &str) -> Script {
    let mut port = Script::new(keys, rate, 2);
    for start in [0, 200, 400] {
        port.frame(0, start, 20).frame(1, start + 5, 20);
    }
    port.run(600);
    used(Form::Rotation);
    port
}

#[test]
fn a_train_is_reserved_when_it_begins() {
    let mut port = busy(ROBIN, SLOW);
    port.run(1200);
    used(Form::ReservedTrain);
    port.frame(0, 1205, 8).run(1206);
    assert!(used(Form::ReservedTrain) > 0);
    assert_eq!(port.run(2700).split(' ').next_back(), Some("0x8e@2540"));
}

#[test]
fn a_train_that_finds_an_empty_queue_is_not_reserved() {
    let mut port = Script::new(ROBIN, SLOW, 2);
    assert_eq!(port.frame(0, 0, 4).run(200), "0x4e@60");
    assert_eq!(used(Form::ReservedTrain), 0);
}

#[test]
fn trains_that_begin_together_are_both_reserved() {
    let mut port = busy(ROBIN, SLOW);
    port.run(1200);
    used(Form::ReservedTrain);
    port.frame(0, 1205, 8).frame(1, 1205, 8).run(1206);
    assert_eq!(used(Form::ReservedTrain), 2);
    assert_eq!(port.run(3000), "0x20e@1560 1x20e@1580 0x20e@2360 1x20e@2380 0x8e@2680 1x8e@2700");
}

#[test]
fn slots_rotate_among_queues_that_stay() {
    let mut port = busy(ROBIN, SLOW);
    port.run(1200);
    assert!(used(Form::Rotation) > 0);
}

#[test]
fn slots_do_not_rotate_on_an_idle_line() {
    let mut port = Script::new(ROBIN, FAST, 2);
    assert_eq!(port.frame(0, 0, 1).frame(1, 50, 1).run(200), "0x1e@0 1x1e@50");
    assert_eq!(used(Form::Rotation), 0);
}

#[test]
fn slots_rotate_among_queues_that_fill_at_the_same_instants() {
    let mut port = Script::new(ROBIN, SLOW, 2);
    for start in [0, 200, 400] {
        port.frame(0, start, 20).frame(1, start, 20);
    }
    port.run(600);
    used(Form::Rotation);
    assert_eq!(port.run(3000), "0x20e@760 1x20e@780 0x20e@1560 1x20e@1580 0x20e@2360 1x20e@2380");
    assert!(used(Form::Rotation) > 0);
}

#[test]
fn queues_that_fill_at_the_same_instants_share_the_slots_evenly() {
    let mut port = Script::new(ROBIN, SLOW, 2);
    assert_eq!(port.frame(0, 0, 6).frame(1, 0, 6).run(400), "0x6e@200 1x6e@220");
}

#[test]
fn a_frame_whose_last_slot_is_certain_is_handed_on_ahead() {
    let mut port = busy(ROBIN, SLOW);
    let ahead = port.look_ahead(600);
    assert!(used(Form::Lookahead) > 0, "{ahead}");
    assert!(ahead.split(' ').all(|frame| frame.contains("x20e@")), "{ahead}");
}

#[test]
fn a_frame_that_is_still_arriving_is_not_handed_on_ahead() {
    let mut port = Script::new(ROBIN, SLOW, 2);
    port.frame(0, 0, 20).frame(1, 5, 20).run(100);
    assert_eq!(port.look_ahead(100), "");
    assert_eq!(used(Form::Lookahead), 0);
}

#[test]
fn what_is_handed_on_ahead_is_not_handed_on_again() {
    let (mut one, mut other) = (busy(ROBIN, SLOW), busy(ROBIN, SLOW));
    let ahead = format!("{} {}", one.look_ahead(600), one.run(3000));
    let (mut ahead, late) = (ahead.split(' ').map(str::to_owned).collect::<Vec<_>>(), other.run(3000));
    let mut late: Vec<String> = late.split(' ').map(str::to_owned).collect();
    ahead.retain(|frame| !frame.is_empty());
    ahead.sort();
    late.sort();
    assert_eq!(ahead, late);
}

#[test]
fn a_cell_that_arrives_when_the_line_falls_idle_starts_at_once() {
    let mut port = Script::new(ROBIN, EQUAL, 2);
    port.frame(0, 0, 4).frame(1, 1, 4).run(100);
    assert_eq!(port.frame(0, 200, 8).frame(1, 280, 4).run(400), "0x8e@270 1x4e@310");
}

#[test]
fn a_policy_that_judges_each_cell_passes_frames() {
    let mut port = Script::new(EACH, SLOW, 2);
    assert_eq!(port.frame(0, 0, 6).frame(1, 1, 6).run(400), "0x6e@200 1x6e@220");
}

#[test]
fn a_policy_judges_cells_that_arrive_together_in_one_order() {
    let mut port = Script::new(EACH, SLOW, 2);
    assert_eq!(port.frame(0, 0, 6).frame(1, 0, 6).run(400), "0x6e@200 1x6e@220");
}
