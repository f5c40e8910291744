//! The floor under every simulator that handles each cell: a ring, counters and the test of early packet discard.

use std::hint::black_box;

use criterion::{Criterion, Throughput};
use pushout_core::engine::floor::floor;

const CELLS: u64 = 1_000_000;

pub(crate) fn floor_of_a_cell(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("floor");
    group.throughput(Throughput::Elements(CELLS));
    group.bench_function("cell", |bencher| bencher.iter(|| floor(black_box(CELLS))));
    group.finish();
}
