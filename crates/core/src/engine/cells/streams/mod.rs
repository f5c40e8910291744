//! Networks of cell streams that nobody answers: what a source sends depends on its own clock alone, and what becomes of a
//! cell on the cells that it meets at one port.
//!
//! There is no event at all. Where streams meet (`meet`) they are merged by the instants at which their next cells come, each
//! of which the clock of its source and the way there give (`stream`); the way on is closed form as well. So a run is
//! one loop over cells for every such port, from the first instant to the last.
//!
//! Whatever a cell does in the measured time altogether is counted once for its stream and entered in the books of all
//! ports on its way in the end. Cells under way when the measured time begins or ends are entered one by one.

mod meet;
mod order;
mod stream;
mod ways;

use crate::engine::exact::accounting::{Accounting, Window};
use crate::engine::{LossRecord, Outcome, Stopwatch, Work};
use crate::link::port::Port;
use crate::network::Network;
use crate::scenario::model::Scenario;
use crate::units::Time;

use meet::Meet;
use stream::Interface;
use ways::Ways;

/// Run a scenario as [`super::run()`] does, if it is of this kind.
pub(crate) fn run(scenario: &Scenario, log: bool, watch: &mut Stopwatch<'_>) -> Option<Outcome> {
    let ways = Ways::of(scenario)?;
    let window = Window { from: Time::ZERO + scenario.warmup, to: Time::ZERO + scenario.duration };
    let mut network = Network::new(scenario);
    network.reset_counters(window.from);
    let mut ledger = Ledger {
        window,
        books: scenario.lines.iter().map(|_| Accounting::new(window)).collect(),
        on_lines: vec![0; scenario.vcs.len()],
        losses: log.then(Vec::new),
        work: Work::default(),
    };
    let unused = |port: &usize| scenario.lines[*port].is_sampled() && !ways.meets.contains_key(port);
    let unused: Vec<usize> = (0..scenario.lines.len()).filter(unused).collect();
    unused.into_iter().for_each(|port| sample_nothing(scenario, window, &mut network.ports[port]));
    watch.start();
    let mut interfaces = Vec::new();
    for (port, ways) in ways.meets {
        let mut meet = Meet::new(scenario, port, ways, &mut network, &mut ledger);
        meet.run(&mut network, &mut ledger);
        interfaces.extend(meet.close(&mut network, &mut ledger));
    }
    watch.stop();
    let Ledger { mut books, on_lines, losses, work, .. } = ledger;
    books.iter_mut().zip(&mut network.ports).for_each(|(books, port)| books.close(port));
    for interface in interfaces {
        let Interface { port, fifo, queue, .. } = *interface;
        fifo.close(queue, window, &mut network.ports[port]);
    }
    network.close_counters(window.to);
    Some(Outcome { network, on_lines, work, losses: losses.unwrap_or_default() })
}

/// Nothing ever comes to a port with a limited buffer, and its samples say so.
fn sample_nothing(scenario: &Scenario, window: Window, port: &mut Port) {
    let every = scenario.sample.0;
    let samples = window.to.0.div_ceil(every) - window.from.0.div_ceil(every);
    port.sample_level(0, samples);
}

/// What is counted.
#[derive(Debug)]
struct Ledger {
    window: Window,
    /// Of every port.
    books: Vec<Accounting>,
    /// Cells that are on a line at the end of the run, by circuit.
    on_lines: Vec<u64>,
    losses: Option<Vec<LossRecord>>,
    work: Work,
}
