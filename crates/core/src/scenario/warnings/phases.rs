//! Flows that are locked to the slots of a line: S. Floyd, V. Jacobson, "On traffic phase effects in packet-switched
//! gateways" (Internetworking: Research and Experience 3, 1992).

use std::collections::BTreeSet;

use crate::buffer::admission;
use crate::language::tree::join;
use crate::scenario::contract::{Passing, carried};
use crate::scenario::model::{Flow, Line, Scenario};
use crate::scenario::warning::Warning;
use crate::source::{self, Source};
use crate::transport;
use crate::units::Span;
use crate::units::ids::{CircuitId, IdSlice, IdVec, LineId, PortVc};

/// Warn of a port with tail drop that greedy TCP flows reach over lines of its own rate, without any randomness: the
/// arrivals of each flow are locked to the departures, so one flow may always find the room that departures make.
pub(super) fn captured(scenario: &Scenario, passing: &Passing) -> Option<Warning> {
    let locked = locked_circuits(scenario);
    let meeting = |(line, circuits): (LineId, IdSlice<'_, PortVc, CircuitId>)| {
        let all_alike =
            drops_tails(&scenario.lines[line]) && !circuits.iter().any(|&vc| is_random(scenario, vc));
        let before = all_alike.then(|| lines_before(scenario, &locked, line, circuits))?;
        (before.len() > 1).then_some((line, before.len()))
    };
    let (line, lines) = scenario.lines.keys().zip(passing.iter()).find_map(meeting)?;
    let (line, circuits) = (&scenario.lines[line], passing.at(line));
    let octets = |&vc: &CircuitId| scenario.vcs[vc].framing.shape(scenario.vcs[vc].packet).line_bytes();
    let largest = circuits.iter().map(octets).max()?;
    let first =
        circuits.iter().find(|&&vc| locked[vc]).map(|&vc| &scenario.lines[scenario.vcs[vc].path[0]])?;
    let key = match first.class.as_str() {
        "access" => "topology.access.pause".to_string(),
        _ => join(&join("link", &first.name), "pause"),
    };
    let message = format!(
        "port {:?}: greedy TCP flows reach it over {lines} lines of its own rate of {}, and nothing on their way is random. \
         Under tail drop one of them can take most of the line for a whole run, with other seeds as well: give the links \
         of their hosts a pause, as in {key} = \"{}\"",
        line.name,
        line.rate,
        pause(line, largest)
    );
    Some(Warning { code: "phase-capture", message })
}

/// Return whether the flow of a circuit sends at random instants.
fn is_random(scenario: &Scenario, vc: CircuitId) -> bool {
    carried(scenario, vc).is_some_and(|flow| flow.source.is_random())
}

/// Return for every circuit whether greedy TCP flows use it whose units are never delayed by a random time.
fn locked_circuits(scenario: &Scenario) -> IdVec<CircuitId, bool> {
    let mut locked = IdVec::filled(false, scenario.vcs.len());
    for flow in scenario.flows.iter().filter(|flow| is_locked(flow)) {
        let path = &scenario.vcs[flow.vc].path;
        locked[flow.vc] = path.iter().all(|line| scenario.lines[*line].rest == Span::ZERO);
    }
    locked
}

fn is_locked(flow: &Flow) -> bool {
    let greedy = matches!(*flow.source, source::Spec::Greedy(_)) && flow.transfer.is_none();
    let tcp = matches!(*flow.transport, transport::Spec::Tcp(_));
    greedy && tcp && flow.processing_variation == Span::ZERO
}

fn drops_tails(line: &Line) -> bool {
    let tail = matches!(line.port.admission, admission::Spec::TailDrop(_)) && line.port.pushout.is_none();
    tail && line.port.capacity.is_limited()
        && line.port.gates.credit.is_none()
        && line.port.scheduler.shares_one_queue()
}

/// Return the incoming lines of equal rate that carry locked circuits.
fn lines_before(
    scenario: &Scenario,
    locked: &IdVec<CircuitId, bool>,
    line: LineId,
    circuits: IdSlice<'_, PortVc, CircuitId>,
) -> BTreeSet<LineId> {
    let before = |vc: CircuitId| {
        let path = &scenario.vcs[vc].path;
        let place = path.iter().position(|&each| each == line)?;
        path.get(place.checked_sub(1)?).copied()
    };
    let own = circuits.iter().filter(|&&vc| locked[vc]).filter_map(|&vc| before(vc));
    own.filter(|&each| scenario.lines[each].rate == scenario.lines[line].rate).collect()
}

/// Return the transmission time of a packet of `octets`, to two digits, as the paper recommends.
fn pause(line: &Line, octets: u64) -> Span {
    let time = line.rate.mean().time_of_bits(8 * octets).0.max(1);
    let step = 10u64.pow(time.ilog10().saturating_sub(1));
    Span(time.div_ceil(step) * step)
}

#[cfg(test)]
mod tests {
    use crate::scenario::checked;

    const DUMBBELL: &str = "name = 'd'\nduration = '1 s'\nadaptation = { kind = 'packet' }\n\
        [topology]\ntemplate = 'dumbbell'\nsources = 3\naccess = { rate = '10 Mb/s', delay = '1 ms' }\n\
        bottleneck = { rate = '10 Mb/s', delay = '1 ms' }\negress = { rate = '10 Mb/s', delay = '1 ms' }\n\
        [port.bottleneck]\nbuffer = '50 kB'\n\
        [flows]\nsource = { kind = 'greedy' }\ntransport = { kind = 'tcp' }\n";

    fn warned(sets: &[&str]) -> Option<String> {
        let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
        let warnings = checked(DUMBBELL, "x.toml", &sets).unwrap().warnings();
        warnings.into_iter().find(|warning| warning.code == "phase-capture").map(|warning| warning.message)
    }

    #[test]
    fn greedy_flows_over_equal_lines_are_reported_with_the_cure() {
        let warned = warned(&[]).unwrap();
        assert!(
            warned.starts_with("port \"bottleneck\": greedy TCP flows reach it over 3 lines of its own rate"),
            "{warned}"
        );
        assert!(warned.ends_with("topology.access.pause = \"1200 us\""), "{warned}");
    }

    #[test]
    fn without_a_template_the_cure_names_a_link() {
        let chip = include_str!("../../../../../scenarios/chip.toml");
        let warnings = checked(chip, "chip.toml", &[]).unwrap().warnings();
        let warned = warnings.into_iter().find(|warning| warning.code == "phase-capture").unwrap();
        assert!(warned.message.ends_with("as in link.bulk1.pause = \"1200 ns\""), "{}", warned.message);
        assert!(checked(chip, "chip.toml", &["link.bulk1.pause=1200 ns".to_string()]).is_ok());
    }

    #[test]
    fn a_pause_is_the_cure() {
        assert_eq!(warned(&["topology.access.pause=1300 us"]), None);
    }

    #[test]
    fn so_is_whatever_else_unlocks_the_flows() {
        for cure in [
            "topology.access.rate=100 Mb/s",
            "topology.sources=1",
            "port.bottleneck.buffer=unlimited",
            "port.bottleneck.admission={policy='red'}",
            "port.bottleneck.scheduler={policy='round-robin'}",
            "flows.source={kind='file', size='1 MB'}",
        ] {
            assert_eq!(warned(&[cure]), None, "{cure}");
        }
        assert_eq!(warned(&["flows.processing=1 us", "flows.processing_variation=1 us"]), None);
        let poisson =
            ["flow.flow1.source={kind='poisson', rate='1 Mb/s'}", "flow.flow1.transport={kind='udp'}"];
        assert_eq!(warned(&poisson), None);
    }
}
