//! Circuits with several routes: their packets are divided among equally short routes, or use other routes while a
//! link is down.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::ecmp::{EqualRoutes, MOST_ROUTES, NoRoutes};
use super::flows::MOST_HOPS;
use super::losses::{self, Outage};
use super::model::{Medium, Period, RouteSpread, Routing, Scenario, SharedRoute};
use super::route::Routes;
use crate::language::tree::{Fault, Node};
use crate::rng::path_key;
use crate::transport;
use crate::units::Span;
use crate::units::ids::{CircuitId, IdVec, LineId, NodeId};

/// A refusal of routes: the entry of `[[loss]]` that causes it, or `None` if `routing` causes it, and the reason.
type RouteRefusal = (Option<usize>, String);

/// Set the routes of every circuit that needs several; `list` has the entries of `[[loss]]`.
pub(super) fn settle(
    scenario: &mut Scenario,
    root: &Node,
    list: Option<&Node>,
    outages: &[Outage],
) -> Result<(), Fault> {
    if !scenario.routing.divides_flows() && outages.is_empty() {
        return Ok(());
    }
    let spreads = spreads(scenario, outages).map_err(|(entry, message)| match entry {
        Some(entry) => losses::fault(list, entry, "reroute_after", message),
        None => root.fault_along("", "routing", message),
    })?;
    scenario.vcs.iter_mut().zip(spreads).for_each(|(vc, spread)| vc.spread = spread);
    Ok(())
}

/// Return for every circuit its routes, if it has several.
fn spreads(
    scenario: &Scenario,
    outages: &[Outage],
) -> Result<IdVec<CircuitId, Option<Box<RouteSpread>>>, RouteRefusal> {
    let sprays = scenario.routing.divides_flows();
    let entry = outages.first().map(|outage| outage.entry).filter(|_| !sprays);
    check(scenario).map_err(|message| (entry, message.to_string()))?;
    let states = states(scenario, outages);
    let mut finders: Vec<Finder<'_>> = states.iter().map(|state| Finder::new(scenario, state)).collect();
    let mut spreads = IdVec::filled(None, scenario.vcs.len());
    for flow in &scenario.flows {
        let back: Vec<NodeId> = flow.via.iter().rev().copied().collect();
        let ways = [(Some(flow.vc), flow.from, &flow.via, flow.to), (flow.back, flow.to, &back, flow.from)];
        for (vc, from, via, to) in ways {
            let Some(vc) = vc.filter(|vc| spreads[*vc].is_none()) else { continue };
            let way = RouteRequest { name: &scenario.vcs[flow.vc].name, vc, from, via, to };
            let spread = spread(scenario, &mut finders, &way);
            spreads[vc] =
                Some(spread.map_err(|(period, why)| refusal(scenario, outages, &states[period], why))?);
        }
    }
    Ok(spreads.into_iter().map(Option::flatten).collect())
}

/// Check that packets of this scenario can take several routes.
fn check(scenario: &Scenario) -> Result<(), &'static str> {
    let coded = |transport: &transport::Spec| matches!(transport, transport::Spec::Fec(_));
    if scenario.lines.iter().any(|line| line.medium == Medium::Cells) {
        return Err(
            "several routes for one flow need packet links everywhere, and this network has links of cells",
        );
    }
    match scenario.flows.iter().any(|flow| coded(&flow.transport)) {
        true => Err(
            "several routes for one flow change the order of its packets, which blocks with parity must keep",
        ),
        false => Ok(()),
    }
}

/// The lines that hosts avoid from some instant on, because they are down.
#[derive(Debug)]
struct LinesDown {
    since: Span,
    down: Vec<LineId>,
}

/// Return the sets of lines that are down, each with its beginning, from the start of the run.
fn states(scenario: &Scenario, outages: &[Outage]) -> Vec<LinesDown> {
    let changes = outages.iter().flat_map(|outage| [outage.from, outage.to]);
    let times: BTreeSet<Span> =
        changes.filter(|time| *time < scenario.duration).chain([Span::ZERO]).collect();
    let state = |since: Span| {
        let known = outages.iter().filter(|outage| outage.from <= since && since < outage.to);
        let down: BTreeSet<LineId> = known.map(|outage| outage.line).collect();
        LinesDown { since, down: down.into_iter().collect() }
    };
    times.into_iter().map(state).collect()
}

/// A request for the routes of a circuit.
struct RouteRequest<'a> {
    /// Name from which hashes are computed.
    name: &'a str,
    vc: CircuitId,
    from: NodeId,
    via: &'a [NodeId],
    to: NodeId,
}

/// A search for routes that avoid the lines which are down.
struct Finder<'a> {
    scenario: &'a Scenario,
    state: &'a LinesDown,
    first: Routes<'a>,
    equal: EqualRoutes<'a>,
    known: BTreeMap<(NodeId, Vec<NodeId>, NodeId), Arc<[SharedRoute]>>,
}

impl<'a> Finder<'a> {
    fn new(scenario: &'a Scenario, state: &'a LinesDown) -> Finder<'a> {
        let Scenario { nodes, lines, seed, .. } = scenario;
        Finder {
            scenario,
            state,
            first: Routes::new(nodes, lines, &state.down),
            equal: EqualRoutes::new(nodes, lines, *seed, &state.down),
            known: BTreeMap::new(),
        }
    }

    /// Find the routes of a circuit. A circuit with a single route keeps it unless a line of it is down.
    fn find(&mut self, way: &RouteRequest<'_>) -> Result<Arc<[SharedRoute]>, NoRoutes> {
        let &RouteRequest { name, vc, from, via, to } = way;
        let path = &self.scenario.vcs[vc].path;
        let found = match self.scenario.routing {
            Routing::EcmpPacket | Routing::EcmpFlowlet => return self.all(way),
            _ if !path.iter().any(|line| self.state.down.contains(line)) => Ok(path.clone()),
            Routing::Ecmp => self.equal.through(name, from, via, to),
            Routing::First => self.first.through(from, via, to).map(|route| route.path),
        };
        let path = found.map_err(|(from, to)| NoRoutes::Between(from, to))?;
        Ok(Arc::new([SharedRoute { path, last: u64::MAX }]))
    }

    fn all(&mut self, way: &RouteRequest<'_>) -> Result<Arc<[SharedRoute]>, NoRoutes> {
        let key = (way.from, way.via.to_vec(), way.to);
        if let Some(known) = self.known.get(&key) {
            return Ok(Arc::clone(known));
        }
        let routes: Arc<[SharedRoute]> = self.equal.all(way.from, way.via, way.to)?.into();
        self.known.insert(key, Arc::clone(&routes));
        Ok(routes)
    }
}

/// Find the routes of a circuit, if it has several; the error is the number of a period without a usable route, and
/// the reason.
fn spread(
    scenario: &Scenario,
    finders: &mut [Finder<'_>],
    way: &RouteRequest<'_>,
) -> Result<Option<Box<RouteSpread>>, (usize, NoRoutes)> {
    let mut periods: Vec<Period> = Vec::with_capacity(finders.len());
    for (number, finder) in finders.iter_mut().enumerate() {
        let routes = finder.find(way).map_err(|why| (number, why))?;
        if routes.iter().any(|route| route.path.len() > MOST_HOPS) {
            return Err((number, NoRoutes::Between(way.from, way.to)));
        }
        if periods.last().is_none_or(|period| period.routes != routes) {
            periods.push(Period { since: finder.state.since, routes });
        }
    }
    let several = periods.len() > 1 || periods[0].routes.len() > 1;
    let circuit = &scenario.vcs[way.vc].name;
    let key = path_key(scenario.seed, format_args!("flow.{circuit}.packets"));
    Ok(several.then(|| Box::new(RouteSpread { key, flowlet_gap: scenario.flowlet_gap, periods })))
}

/// Return the refusal with the entry of `[[loss]]` that causes missing routes.
fn refusal(scenario: &Scenario, outages: &[Outage], state: &LinesDown, why: NoRoutes) -> RouteRefusal {
    let name = |node: NodeId| &scenario.nodes[node].name;
    let (from, to) = match why {
        NoRoutes::Between(from, to) => (name(from), name(to)),
        NoRoutes::TooMany => {
            let message = format!(
                "a flow has more than {MOST_ROUTES} equally short routes: name nodes of them in via, or set routing = \"ecmp\""
            );
            return (None, message);
        }
    };
    let outage = outages.iter().find(|outage| outage.from <= state.since && state.since < outage.to);
    let outage = outage.expect("without an outage every flow has a route");
    let lines: Vec<&str> = state.down.iter().map(|line| scenario.lines[*line].name.as_str()).collect();
    let message = format!(
        "at {} no route of at most {MOST_HOPS} hops is left from {from:?} to {to:?}, with {} down: add a link, or leave \
         reroute_after out, so that flows keep their routes",
        state.since,
        lines.join(", ")
    );
    (Some(outage.entry), message)
}
