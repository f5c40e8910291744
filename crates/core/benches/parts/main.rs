//! Cost of single parts of the simulator; docs/performance.md interprets the figures.

mod floor;
mod port;
mod queue;

use std::time::Duration;

use criterion::Criterion;

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .configure_from_args();
    floor::floor_of_a_cell(&mut criterion);
    queue::take_one_add_one(&mut criterion);
    port::every_policy(&mut criterion);
    criterion.final_summary();
}
