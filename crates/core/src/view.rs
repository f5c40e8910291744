//! The network at one instant, for a viewer: queues head first, the thresholds, and the progress of flows.

use crate::buffer::admission::{Admission, Rule, Shortcuts, Spec};
use crate::buffer::size::Level;
use crate::host::flow::Flow;
use crate::language::spec::Field;
use crate::language::tree::Node;
use crate::link::port::Port;
use crate::network::Network;
use crate::scenario::catalogue::catalogue;
use crate::scenario::model::{Line, Scenario};
use crate::unit::Unit;
use crate::units::Span;
use crate::units::ids::{LineId, PortVc};

/// A unit in the buffer of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Queued {
    /// The unit.
    pub unit: Unit,
    /// The queue in which it waits; none for the unit in transmission.
    pub queue: Option<usize>,
}

/// Return all units in the buffer of a port: first the unit in transmission, then queue by queue, each from its head.
pub fn queued(port: &Port) -> impl Iterator<Item = Queued> + '_ {
    let sending = port.sending.iter().map(|sending| Queued { unit: sending.unit, queue: None });
    let waiting = port.queues.pairs();
    sending.chain(
        waiting.flat_map(|(queue, units)| {
            units.iter().map(move |unit| Queued { unit, queue: Some(queue.index()) })
        }),
    )
}

/// An occupancy with which a policy compares the buffer's.
#[derive(Clone, Debug, PartialEq)]
pub struct Threshold {
    /// The parameter that sets the threshold.
    pub name: String,
    /// The threshold, in the measure of the port.
    pub level: f64,
}

/// Return the constant thresholds of a port's admission policy, in the order of its parameters.
pub fn fixed_thresholds(scenario: &Scenario, port: LineId) -> Vec<Threshold> {
    let line = &scenario.lines[port];
    if let Some(Rule::Frames { threshold }) = Network::new(scenario).ports[port].admission.rule() {
        let threshold =
            threshold.map(|level| Threshold { name: "threshold".to_string(), level: level as f64 });
        return threshold.into_iter().collect();
    }
    let spec = &line.port.admission;
    let level_keys =
        catalogue().into_iter().filter(|entry| entry.kind == "admission" && entry.name == spec.name());
    let level_keys =
        level_keys.flat_map(|entry| (entry.params)()).filter(|param| param.shape.unit == LEVEL_UNIT);
    level_keys.filter_map(|param| threshold(line, spec, param.name)).collect()
}

/// Return the threshold that a parameter sets, if the parameter is given and has a meaning at this port.
fn threshold(line: &Line, spec: &Spec, key: &str) -> Option<Threshold> {
    let written = spec.write();
    let node = Node::named(key, written.get(key)?.as_str()?);
    let level = Level::read(node.get(key)?, key).ok()?.within(line.port.measure, line.port.capacity).ok()?;
    Some(Threshold { name: key.to_string(), level: level as f64 })
}

/// Return the present threshold of each queue of a port, by its admission policy or that of its shared memory, if it
/// depends on the occupancy; infinite without such a threshold.
pub fn queue_thresholds(network: &Network, port: LineId) -> Vec<f64> {
    let port = &network.ports[port];
    if let Some(share) = port.share() {
        let memory =
            network.memories().nth(share.number().index()).expect("a port shares a memory of its network");
        let mut queues: Vec<usize> = share.queues().collect();
        queues.sort_unstable();
        queues.dedup();
        let threshold = |&queue: &usize| {
            let queue = &memory.queues()[queue];
            memory.pools()[queue.pool].threshold(queue.number)
        };
        return queues.iter().map(threshold).collect();
    }
    let of = |vc: PortVc| port.admission.threshold(port.pool(), vc);
    (0..port.queues.len()).map(PortVc::new).map_while(of).collect()
}

/// Progress of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowProgress {
    /// Octets that the application has received: over TCP since the start of the run, otherwise since the warm-up.
    pub delivered: u64,
    /// Windows of the TCP sender, if TCP carries the flow.
    pub window: Option<SenderWindow>,
}

/// Windows of a TCP sender, in octets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SenderWindow {
    /// Congestion window.
    pub cwnd: u64,
    /// Slow-start threshold, if it has been set.
    pub ssthresh: Option<u64>,
    /// Smoothed round-trip time, in whole ticks of the host's clock, if it has been measured.
    pub srtt: Option<Span>,
    /// Octets in flight, as the sender counts them.
    pub flight: u64,
    /// Whether fast recovery is in progress.
    pub is_recovering: bool,
    /// Timeouts and fast retransmissions so far.
    pub reactions: [u64; 2],
}

impl FlowProgress {
    /// Return the progress of a flow.
    pub fn of(flow: &Flow) -> FlowProgress {
        let window = flow.sender().map(|sender| SenderWindow {
            cwnd: sender.cwnd(),
            ssthresh: sender.ssthresh(),
            srtt: sender.srtt(),
            flight: sender.flight(),
            is_recovering: sender.is_recovering(),
            reactions: [sender.stats().timeouts, sender.stats().fast_retransmits],
        });
        FlowProgress { delivered: flow.delivered(), window }
    }
}

/// The unit that the catalogue gives for a level within a buffer.
const LEVEL_UNIT: &str = "size or %";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::reference::Stepper;
    use crate::scenario::load;
    use crate::units::Time;
    use crate::units::ids::CircuitId;

    const LAN: &str = include_str!("../../../scenarios/lan.toml");

    fn scenario(text: &str, sets: &[&str]) -> (Scenario, LineId) {
        let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
        let scenario = load(text, "test.toml", &sets).unwrap();
        let port = scenario.lines.position(Line::is_sampled).unwrap();
        (scenario, port)
    }

    fn levels(set: &str) -> Vec<(String, f64)> {
        let (scenario, port) = scenario(LAN, &[set]);
        fixed_thresholds(&scenario, port).into_iter().map(|it| (it.name, it.level)).collect()
    }

    #[test]
    fn every_unit_in_the_buffer_is_shown_the_one_in_transmission_first() {
        let (scenario, port) = scenario(LAN, &["duration=300 ms", "warmup=0 s"]);
        let mut stepper = Stepper::new(&scenario, false, ());
        for time in [150, 200, 300] {
            stepper.advance(Time::ZERO + Span::millis(time));
            let port = &stepper.network().ports[port];
            let units: Vec<Queued> = queued(port).collect();
            assert_eq!(units.len() as u64, port.units_queued());
            assert_eq!(units.len() as u64, port.pool().total(), "cells are counted in cells");
            assert_eq!(units[0].queue, None, "at {time} ms");
            assert!(units[1..].iter().all(|unit| unit.queue == Some(0)));
            let of = |vc: CircuitId| units.iter().filter(move |it| it.unit.vc == vc);
            let place = |it: &Queued| (it.unit.frame, it.unit.index);
            assert!((0..20).all(|vc| of(CircuitId(vc)).map(place).is_sorted()), "circuits keep their order");
        }
    }

    #[test]
    fn thresholds_are_those_that_the_policy_compares_with() {
        let set = |table: &str| format!("port.bottleneck.admission={table}");
        assert_eq!(levels(&set("{policy='epd', threshold='90 %'}")), [("threshold".to_string(), 7373.0)]);
        assert_eq!(levels(&set("{policy='epd', reserve='1000 cells'}")), [("threshold".to_string(), 7192.0)]);
        assert_eq!(levels(&set("{policy='ppd'}")), []);
        let red = set("{policy='atm-red', min_threshold='1000 cells', max_threshold='50 %'}");
        assert_eq!(
            levels(&red),
            [("min_threshold".to_string(), 1000.0), ("max_threshold".to_string(), 4096.0)]
        );
    }

    #[test]
    fn a_dynamic_threshold_falls_as_the_buffer_fills() {
        let dynamic = "port.bottleneck.admission={policy='dynamic-threshold', alpha=1.0}";
        let (scenario, port) = scenario(LAN, &[dynamic, "duration=300 ms", "warmup=0 s"]);
        let mut stepper = Stepper::new(&scenario, false, ());
        let full = scenario.lines[port].port.capacity.limit().unwrap() as f64;
        assert_eq!(queue_thresholds(stepper.network(), port), [full]);
        stepper.advance(Time::ZERO + Span::millis(200));
        let used = stepper.network().ports[port].pool().total() as f64;
        assert!(used > 0.0);
        assert_eq!(queue_thresholds(stepper.network(), port), [full - used]);
        assert!(
            queue_thresholds(stepper.network(), LineId(0)).is_empty(),
            "tail drop has no threshold of a queue"
        );
    }

    #[test]
    fn windows_are_those_that_a_run_records() {
        let (scenario, _) =
            scenario(LAN, &["duration=300 ms", "warmup=0 s", "measure.cwnd=['flow1']", "sample=1 ms"]);
        let mut stepper = Stepper::new(&scenario, false, ());
        stepper.advance(stepper.end());
        let flow = scenario.flows.position(|flow| flow.name == "flow1").unwrap();
        let progress = FlowProgress::of(&stepper.network().flows[flow]);
        let (outcome, _) = stepper.finish();
        let recorded = outcome.flows[flow].cwnd().unwrap().last().copied();
        let window = progress.window.unwrap();
        assert!(window.srtt.is_some() && window.flight > 0);
        assert_eq!(Some(window.cwnd), recorded);
        assert_eq!(progress.delivered, outcome.flows[flow].figures.bytes);
    }
}
