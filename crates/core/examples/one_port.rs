//! One port, one policy, a handful of cells.
//!
//!     cargo run --package pushout-core --example one_port
//!
//! Two circuits send frames of four cells, in turn, to a port for eight cells. Together they send twice what its line
//! carries. Early packet discard refuses a frame that begins when four cells or more are in the buffer, and it refuses
//! the whole frame: also the later cells, for which there is room again.

#![allow(clippy::print_stdout)]

use pushout_core::buffer::admission::{self, epd};
use pushout_core::buffer::context::Context;
use pushout_core::buffer::pool::Pool;
use pushout_core::buffer::size::Level;
use pushout_core::link::line::Line;
use pushout_core::link::port::{Parts, Port, Started};
use pushout_core::refused::Refused;
use pushout_core::scheduler::{self, fifo};
use pushout_core::unit::{Flags, Unit};
use pushout_core::units::ids::{CircuitId, PortVc};
use pushout_core::units::{CELL_BYTES, Span, Time};
use pushout_core::verdict::Action;

const FRAME: u16 = 4;
const CELLS: u64 = 32;

fn main() -> Result<(), Refused> {
    let mut port = port()?;
    let line = Line::new(Context::alone(8, 2).rate, Span::ZERO);
    let gap = Span(line.transit(CELL_BYTES as u16).0 / 2); // twice the rate of the line
    let mut sending: Option<Started> = None;
    let mut losses = Vec::new();
    println!("time (us)  circuit  cell of frame  occupancy  verdict");
    for index in 0..CELLS {
        let now = Time::ZERO + Span(gap.0 * index);
        // Departures come before the arrivals of the same instant.
        while let Some(started) = sending.filter(|started| started.sent.ends <= now) {
            port.finish(started.sent.ends);
            sending = port.start(started.sent.ends, &mut losses);
        }
        let unit = cell(index);
        let occupancy = port.pool().total();
        port.arrive(now, unit, PortVc(unit.vc.0), &mut losses);
        let verdict = losses.pop().map_or("accepted".to_string(), |loss| format!("lost: {}", loss.reason));
        let (time, circuit_number) = (now.0 as f64 / 1e6, unit.vc);
        println!("{time:9.2}  {circuit_number:7}  {:13}  {occupancy:9}  {verdict}", unit.index + 1);
        sending = sending.or_else(|| port.start(now, &mut losses));
    }
    Ok(())
}

/// A port for eight cells at 155.52 Mb/s: admission policy, scheduler, line.
fn port() -> Result<Port, Refused> {
    let context = Context::alone(8, 2);
    let epd = epd::Params {
        threshold: Level::Percent(50.0),
        reserve: None,
        pass_eom: true,
        discard_rest: true,
        action: Action::Drop,
    };
    Ok(Port::new(Parts {
        shared_queue: true,
        ..Parts::plain(
            context.measure,
            Pool::new(context.capacity, context.vcs()),
            admission::Spec::Epd(epd).build(&context)?,
            scheduler::Spec::Fifo(fifo::Params {}).build(&context)?,
            Line::new(context.rate, Span::ZERO),
        )
    }))
}

/// The cells of two circuits in turn.
fn cell(index: u64) -> Unit {
    let (vc, number) = ((index % 2) as u32, index / 2);
    let position = (number % u64::from(FRAME)) as u16;
    let first = if position == 0 { Flags::FIRST } else { Flags::default() };
    let flags = if position == FRAME - 1 { Flags::EOM } else { first };
    Unit {
        vc: CircuitId(vc),
        frame: (number / u64::from(FRAME)) as u32,
        identity: (number / u64::from(FRAME)) as u32,
        index: position,
        bytes: CELL_BYTES as u16,
        hop: 0,
        flags,
    }
}
