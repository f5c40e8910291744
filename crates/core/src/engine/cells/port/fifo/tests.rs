//! Scripted trains for each form of a FIFO port with the expected outcome: a normal case, one in which the form does
//! not apply, and a tie.

use crate::engine::cells::port::scripted::{Script, used};
use crate::engine::forms::Form;

/// Accepts every cell that fits.
const PLAIN: &str = "buffer = '100 cells'";
/// Its policy is called once for each frame, so that trains do not pass by their ends.
const ONCE: &str = "buffer = '100 cells'\nadmission = { policy = 'dt-epd', alpha = 10 }";
/// Its policy judges each cell.
const EACH: &str = "buffer = '100 cells'\nadmission = { policy = 'dynamic-threshold', alpha = 10 }";
/// Its policy observes each cell; within a frame its verdict is fixed.
const SEES: &str = "buffer = '100 cells'\nadmission = { policy = 'atm-red' }";

/// A line half as fast as the incoming lines, one as fast, and one twice as fast: 20, 10 and 5 µs a cell.
const SLOW: &str = "21.2 Mb/s";
const EQUAL: &str = "42.4 Mb/s";
const FAST: &str = "84.8 Mb/s";

#[test]
fn a_train_that_nothing_crosses_passes_whole() {
    let mut port = Script::new(PLAIN, SLOW, 2);
    assert_eq!(port.frame(0, 0, 3).run(100), "0x3e@40");
    assert_eq!(used(Form::WholeTrain), 1);
}

#[test]
fn a_train_whose_losses_are_logged_does_not_pass_whole() {
    let mut port = Script::new(PLAIN, SLOW, 2).logged();
    assert_eq!(port.frame(0, 0, 3).frame(1, 5, 3).run(100), "0x3e@80 1x3e@100");
    assert_eq!(used(Form::WholeTrain), 0);
}

#[test]
fn a_train_that_ends_when_another_begins_does_not_pass_whole_but_the_other_does() {
    let mut port = Script::new(PLAIN, SLOW, 2);
    assert_eq!(port.frame(0, 0, 3).frame(1, 20, 3).run(100), "0x3e@40 1x3e@100");
}

#[test]
fn trains_that_interleave_on_a_busy_line_pass_by_their_ends() {
    let mut port = Script::new(PLAIN, EQUAL, 2);
    assert_eq!(port.frame(0, 0, 5).frame(1, 1, 5).run(100), "0x5e@80 1x5e@90");
    assert!(used(Form::TrainEnds) > 0);
}

#[test]
fn trains_whose_losses_are_logged_do_not_pass_by_their_ends() {
    let mut port = Script::new(PLAIN, EQUAL, 2).logged();
    assert_eq!(port.frame(0, 0, 5).frame(1, 1, 5).run(100), "0x5e@80 1x5e@90");
    assert_eq!(used(Form::TrainEnds), 0);
}

#[test]
fn trains_that_begin_and_end_at_the_same_instants_pass_by_their_ends_in_one_order() {
    let mut port = Script::new(PLAIN, EQUAL, 2);
    assert_eq!(port.frame(0, 0, 5).frame(1, 0, 5).run(100), "0x5e@80 1x5e@90");
    assert!(used(Form::TrainEnds) > 0);
}

#[test]
fn a_segment_on_a_busy_line_passes_by_arithmetic() {
    let mut port = Script::new(ONCE, SLOW, 2);
    port.frame(0, 0, 12).frame(1, 1, 12).frame(0, 130, 6).frame(1, 131, 6);
    assert_eq!(port.run(800), "0x12e@440 1x12e@460 0x6e@680 1x6e@700");
    assert!(used(Form::BusySegment) > 0);
}

#[test]
fn a_segment_on_an_idle_line_does_not_pass_by_arithmetic() {
    let mut port = Script::new(ONCE, FAST, 2);
    assert_eq!(port.frame(0, 0, 6).frame(1, 2, 6).run(200), "0x6e@50 1x6e@55");
    assert_eq!(used(Form::BusySegment), 0);
}

#[test]
fn a_segment_of_cells_that_arrive_together_passes_by_arithmetic() {
    let mut port = Script::new(ONCE, SLOW, 2);
    port.frame(0, 0, 12).frame(1, 1, 12).run(125);
    assert_eq!(port.frame(0, 130, 6).frame(1, 130, 6).run(800), "1x6e@680 0x6e@700");
    assert!(used(Form::BusySegment) > 0);
}

#[test]
fn a_segment_on_an_idle_line_passes_in_one_loop() {
    let mut port = Script::new(ONCE, FAST, 2);
    assert_eq!(port.frame(0, 0, 6).frame(1, 2, 6).run(200), "0x6e@50 1x6e@55");
    assert!(used(Form::LoopedSegment) > 0);
}

#[test]
fn a_segment_that_may_not_fit_passes_cell_by_cell() {
    let mut port = Script::new("buffer = '3 cells'", SLOW, 3);
    assert_eq!(port.frame(0, 0, 6).frame(1, 2, 6).frame(2, 4, 6).run(400), "0x1@0 0x1@60");
    assert_eq!([port.lost(0), port.lost(1), port.lost(2)], [3, 5, 5]);
    assert_eq!(used(Form::LoopedSegment), 0);
}

#[test]
fn a_segment_of_cells_that_arrive_together_on_an_idle_line_passes_in_one_loop() {
    let mut port = Script::new(ONCE, FAST, 2);
    assert_eq!(port.frame(0, 0, 6).frame(1, 0, 6).run(200), "1x6e@50 0x6e@55");
    assert!(used(Form::LoopedSegment) > 0);
}

#[test]
fn cells_whose_fate_is_known_are_shown_to_the_policy() {
    let mut port = Script::new(SEES, EQUAL, 2);
    assert_eq!(port.frame(0, 0, 6).frame(1, 1, 6).run(200), "0x6e@100 1x6e@110");
    assert!(used(Form::ShownCells) > 0);
}

#[test]
fn cells_that_may_not_fit_are_judged_one_by_one() {
    let few = SEES.replace("100 cells", "5 cells");
    let mut port = Script::new(&few, SLOW, 3);
    assert_eq!(port.frame(0, 0, 6).frame(1, 2, 6).frame(2, 4, 6).run(400), "0x3@100 0x1e@120");
    assert_eq!([port.lost(0), port.lost(1), port.lost(2)], [2, 4, 5]);
}

#[test]
fn cells_that_arrive_together_are_shown_in_one_order() {
    let mut port = Script::new(SEES, EQUAL, 2);
    assert_eq!(port.frame(0, 0, 6).frame(1, 0, 6).run(200), "1x6e@100 0x6e@110");
    assert!(used(Form::ShownCells) > 0);
}

#[test]
fn a_policy_that_is_asked_about_each_cell_passes_frames() {
    let mut port = Script::new(EACH, EQUAL, 2);
    assert_eq!(port.frame(0, 0, 6).frame(1, 1, 6).run(200), "0x6e@100 1x6e@110");
}

#[test]
fn a_policy_that_is_asked_about_each_cell_may_lose_some_within_a_frame() {
    let mut port = Script::new(&EACH.replace("100", "4"), SLOW, 3);
    assert_eq!(port.frame(0, 0, 6).frame(1, 2, 6).frame(2, 4, 6).run(400), "0x3@80");
    assert_eq!([port.lost(0), port.lost(1), port.lost(2)], [2, 5, 5]);
}

#[test]
fn cells_that_arrive_together_are_asked_about_in_one_order() {
    let mut port = Script::new(EACH, EQUAL, 2);
    assert_eq!(port.frame(0, 0, 6).frame(1, 0, 6).run(200), "1x6e@100 0x6e@110");
}
