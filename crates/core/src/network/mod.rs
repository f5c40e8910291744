//! The network of a run: circuits with their frames, ports, and the flows at the hosts.
//!
//! Nothing here knows how time advances. An engine moves units between ports in the order that [`crate::kernel`]
//! documents, and asks the hosts what to send next.

pub mod circuit;

mod coded;

pub mod end;

pub mod figures;

mod files;

pub mod flow;

mod halftime;

mod host;

use crate::buffer::pool::Pool;
use crate::link::credit::{Receiver, Sender};
use crate::link::line::{Line, Pause};
use crate::link::port::{Parts, Port};
use crate::link::shaper::Shaper;
use crate::rng::Stream;
use crate::scenario::contract::{context, contracts, passing_circuits};
use crate::scenario::model::{self, Measures, Scenario};
use crate::units::{Span, Time};

use circuit::Circuit;
use flow::Flow;

/// Everything that a run changes.
#[derive(Debug)]
pub struct Network {
    /// One port for each line of the scenario.
    pub ports: Vec<Port>,
    /// What the far end of each line keeps for the credits of that line, if they govern it.
    pub receivers: Vec<Option<Receiver>>,
    /// The circuits.
    pub circuits: Vec<Circuit>,
    /// The flows.
    pub flows: Vec<Flow>,
}

impl Network {
    /// The network of a checked scenario, at time zero.
    pub fn new(scenario: &Scenario) -> Network {
        let passing = passing_circuits(scenario);
        let ports = scenario.lines.iter().zip(passing.iter()).map(|(line, vcs)| port(scenario, line, vcs));
        let mut ports: Vec<Port> = ports.collect();
        let Measures { occupancy, meter, .. } = &scenario.measure;
        occupancy.iter().for_each(|&line| ports[line].counters_mut().occupancy.keep_trace());
        meter.iter().for_each(|&line| ports[line].counters_mut().meter = Some(Vec::new()));
        let receiver = |(line, vcs): (&model::Line, &[usize])| {
            line.port.credit.as_ref().map(|credit| Receiver::new(credit.terms(), vcs.len()))
        };
        let receivers = scenario.lines.iter().zip(passing.iter()).map(receiver).collect();
        let circuits =
            scenario.vcs.iter().enumerate().map(|(vc, spec)| Circuit::new(scenario, spec, vc, &passing));
        let circuits = circuits.collect();
        let flows = (0..scenario.flows.len()).map(|index| Flow::new(scenario, index)).collect();
        Network { ports, receivers, circuits, flows }
    }

    /// Forget what was counted so far: the measured time starts now.
    pub fn reset_counters(&mut self, now: Time) {
        self.ports.iter_mut().for_each(|port| port.reset_counters(now));
        self.flows.iter_mut().for_each(|flow| flow.reset_counters(now));
        self.circuits.iter_mut().for_each(Circuit::reset_counters);
    }

    /// Bring time averages, series and blocks up to the end of the run.
    pub fn close_counters(&mut self, now: Time) {
        self.ports.iter_mut().for_each(|port| port.close_counters(now));
        self.flows.iter_mut().for_each(|flow| flow.finish(now, &self.circuits));
    }
}

/// The pauses of a line: the stream is its own.
fn pause(scenario: &Scenario, line: &model::Line) -> Option<Pause> {
    let stream = || Stream::new(scenario.seed, format_args!("line.{}.pause", line.name));
    (line.pause > Span::ZERO).then(|| Pause::new(line.pause, stream()))
}

fn port(scenario: &Scenario, line: &model::Line, vcs: &[usize]) -> Port {
    let contracts = contracts(scenario, line, vcs);
    let context = context(scenario, line, &contracts);
    let latency = line.delay + scenario.nodes[line.to].latency;
    Port::new(Parts {
        measure: line.port.measure,
        pool: Pool::new(line.port.capacity, vcs.len()),
        admission: line.port.admission.build(&context).expect("a checked scenario can be built"),
        pushout: line
            .port
            .pushout
            .as_ref()
            .map(|spec| spec.build(&context).expect("a checked scenario can be built")),
        scheduler: line.port.scheduler.build(&context).expect("a checked scenario can be built"),
        shared_queue: line.port.scheduler.shares_one_queue(),
        credit: line.port.credit.as_ref().map(|credit| Sender::new(credit.terms(), vcs.len())),
        line: Line::new(line.rate, latency)
            .with_pause(pause(scenario, line))
            .with_shaper(line.port.shaper.as_ref().map(Shaper::new)),
    })
}
