//! A congested port of cells under every policy of the registries, so that a new scheme is measured without a line.
//!
//! Ten circuits in turn send frames of 32 cells at 1.1 times the rate of the line. What is measured is the port as the
//! reference engine drives it: arrival, start and end of each cell's transmission; no event queue, no hosts.

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput};
use pushout_core::buffer::admission;
use pushout_core::buffer::context::Context;
use pushout_core::buffer::pool::Pool;
use pushout_core::buffer::pushout;
use pushout_core::buffer::size::Measure;
use pushout_core::language::spec::Field;
use pushout_core::language::tree::{Key, Node, TextPlace, Value};
use pushout_core::link::line::Line;
use pushout_core::link::port::{Loss, Parts, Port};
use pushout_core::scheduler;
use pushout_core::unit::{Flags, Unit};
use pushout_core::units::ids::{CircuitId, PortVc};
use pushout_core::units::{CELL_BYTES, Span, Time};

const CELLS: u64 = 20_000;
const CAPACITY: u64 = 1000;
const CIRCUITS: usize = 10;
/// Cells of a frame: that of the contracts.
const FRAME: u64 = 32;
/// Cells that arrive in the time of ten.
const LOAD: u64 = 11;

/// The scheme of that name with its default parameters.
fn default_of<S: Field>(name: &str) -> S {
    let place = TextPlace::default();
    let key = Key { name: "policy".to_string(), place };
    let table = Value::Table(vec![(key, Node { value: Value::Text(name.to_string()), place })]);
    S::read(&Node { value: table, place }, "bench").expect("defaults suffice")
}

fn port(admission: &str, pushout: Option<&str>, scheduler: &str) -> Port {
    let context = Context::alone(CAPACITY, CIRCUITS);
    let scheduler: scheduler::Spec = default_of(scheduler);
    let pushout = pushout.map(default_of::<pushout::Spec>);
    Port::new(Parts {
        pushout: pushout.map(|spec| spec.build(&context).expect("defaults suffice")),
        shared_queue: scheduler.shares_one_queue(),
        ..Parts::plain(
            Measure::Cells,
            Pool::new(context.capacity, CIRCUITS),
            default_of::<admission::Spec>(admission).build(&context).expect("defaults suffice"),
            scheduler.build(&context).expect("defaults suffice"),
            Line::new(context.rate, Span::ZERO),
        )
    })
}

/// The cells and when they arrive.
fn traffic() -> Vec<(Time, Unit)> {
    let tenth = Context::alone(1, 1).rate.time_of_bits(8 * CELL_BYTES * 10).0;
    let cell = |number: u64| {
        let (vc, serial) = (number % CIRCUITS as u64, number / CIRCUITS as u64);
        let index = serial % FRAME;
        let first = if index == 0 { Flags::FIRST } else { Flags::default() };
        let flags = if index == FRAME - 1 { first.with(Flags::EOM) } else { first };
        let (frame, bytes) = ((serial / FRAME) as u32, CELL_BYTES as u16);
        (
            Time(number * tenth / LOAD),
            Unit {
                vc: CircuitId(vc as u32),
                frame,
                identity: frame,
                index: index as u16,
                bytes,
                hop: 0,
                flags,
            },
        )
    };
    (0..CELLS).map(cell).collect()
}

/// Everything that happens at the port while the traffic arrives; answers how many cells it has lost.
fn drive(port: &mut Port, traffic: &[(Time, Unit)]) -> usize {
    let mut losses: Vec<Loss> = Vec::new();
    let mut free = Time::NEVER;
    let mut tick = port.tick(Time::ZERO).unwrap_or(Time::NEVER);
    for &(now, unit) in traffic {
        while free.min(tick) <= now {
            if free <= tick {
                port.finish(free);
                let started = port.start(free, &mut losses);
                free = started.map_or(Time::NEVER, |started| started.sent.ends);
            } else {
                tick = port.tick(tick).unwrap_or(Time::NEVER);
            }
        }
        port.arrive(now, unit, PortVc(unit.vc.0), &mut losses);
        if let Some(started) = port.start(now, &mut losses) {
            free = started.sent.ends;
        }
    }
    losses.len()
}

pub(crate) fn every_policy(criterion: &mut Criterion) {
    let traffic = traffic();
    let mut group = criterion.benchmark_group("port");
    group.throughput(Throughput::Elements(CELLS));
    let mut bench = |kind: &str, name: &str, port: Port| {
        group.bench_function(BenchmarkId::new(kind, name), |bencher| {
            bencher.iter_batched(
                || port.clone(),
                |mut port| {
                    let lost = drive(&mut port, &traffic);
                    assert!(lost > 0, "{name}: the port is congested");
                    port
                },
                BatchSize::LargeInput,
            );
        });
    };
    for entry in admission::CATALOGUE {
        bench("admission", entry.name, port(entry.name, None, "fifo"));
    }
    for entry in pushout::CATALOGUE {
        bench("pushout", entry.name, port("tail-drop", Some(entry.name), "round-robin"));
    }
    for entry in scheduler::CATALOGUE {
        bench("scheduler", entry.name, port("epd", None, entry.name));
    }
    group.finish();
}
