//! The ideal against which goodput is measured, for the flows of a scenario.

use std::collections::BTreeMap;

use crate::metrics::ideal::{Demand, max_min};
use crate::scenario::model::{Flow, Scenario};
use crate::source::Source;
use crate::transport::{self, Transport};
use crate::units::ids::{IdVec, LineId};

/// Max–min fair payload rates of the flows over the measured time, in bits per second. A source that stops after a
/// number of packets needs only the rate that carries them.
pub fn ideal_rates(scenario: &Scenario) -> Vec<f64> {
    let capacities: IdVec<LineId, f64> =
        scenario.lines.iter().map(|line| line.measured_rate(scenario)).collect();
    let demands: Vec<Demand> = scenario.flows.iter().map(|flow| demand(scenario, flow)).collect();
    max_min(&capacities, &demands)
}

fn demand(scenario: &Scenario, flow: &Flow) -> Demand {
    let vc = &scenario.vcs[flow.vc];
    let headers = flow.transport.header_bytes();
    let payload = flow.mean_of_packet(|packet| f64::from(packet - headers));
    let cost = |minimum: u16| {
        let octets = |packet| vc.framing.shape(packet).line_bytes().max(minimum.into()) as f64;
        flow.mean_of_packet(octets) * flow.source.redundancy() / payload
    };
    let unpadded = cost(0);
    let mut lines = BTreeMap::new();
    for (path, share) in vc.shares() {
        for &line in path {
            let minimum = scenario.lines[line].minimum;
            let cost = if minimum > 0 { cost(minimum) } else { unpadded };
            *lines.entry(line).or_insert(0.0) += share * cost;
        }
    }
    let bits = flow.mean_bits(vc.framing.without_parity());
    let piece = match *flow.transport {
        transport::Spec::Tcp(_) => bits as f64 / 8.0, // headers count in no rate of an application
        _ => payload,
    };
    let offered = flow.source.mean_rate(piece, bits).unwrap_or(f64::INFINITY);
    let measured = (scenario.duration - scenario.warmup).as_secs_f64();
    let all = flow.source.packets().map_or(f64::INFINITY, |packets| 8.0 * piece * packets as f64 / measured);
    Demand { lines: lines.into_iter().collect(), limit: offered.min(all) }
}
