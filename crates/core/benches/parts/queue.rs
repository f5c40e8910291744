//! The event queue in the steady state of a simulation: the earliest event is taken and brings about a later one.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput};
use pushout_core::kernel::queue::{Class, Event, EventQueue};
use pushout_core::rng::Stream;
use pushout_core::units::{Span, Time};

/// Events taken and added in one go.
const TURNS: u64 = 100_000;
/// Mean time from an event to the one that it brings about, in picoseconds.
const MEAN: f64 = 1e6;

/// Exponential times ahead, drawn beforehand so that drawing is not measured.
fn ahead() -> Vec<Span> {
    let mut draw = Stream::new(1, "bench.queue");
    (0..TURNS).map(|_| Span((MEAN * draw.exponential()) as u64)).collect()
}

fn filled(pending: u32) -> EventQueue {
    let (mut queue, mut draw) = (EventQueue::default(), Stream::new(2, "bench.queue"));
    for entity in 0..pending {
        queue.push(Event::new(Time((MEAN * draw.exponential()) as u64), Class::Arrive, entity));
    }
    queue
}

pub(crate) fn take_one_add_one(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("queue");
    group.throughput(Throughput::Elements(TURNS));
    let ahead = ahead();
    for pending in [10, 100, 1_000, 10_000, 100_000] {
        let mut queue = filled(pending);
        group.bench_function(BenchmarkId::new("take-and-add", pending), |bencher| {
            bencher.iter(|| {
                for &span in &ahead {
                    let event = queue.pop_before(Time::NEVER).expect("as many are added as taken");
                    queue.push(Event { time: event.time + span, ..event });
                }
                black_box(queue.len())
            });
        });
    }
    group.finish();
}
