//! The floor under every simulator that handles each cell: a ring, counters and the test of early packet discard.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput};
use pushout_core::engine::floor::floor;

const CELLS: u64 = 1_000_000;

fn floor_of_a_cell(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("floor");
    group.throughput(Throughput::Elements(CELLS));
    group.bench_function("cell", |bencher| bencher.iter(|| floor(black_box(CELLS))));
    group.finish();
}

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .configure_from_args();
    floor_of_a_cell(&mut criterion);
    criterion.final_summary();
}
