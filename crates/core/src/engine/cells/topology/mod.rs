//! The unchanging part of a network: the form of each port, the destinations of its units, and the ports that depend on
//! each other.
//!
//! # What it assumes
//! Policies, rates and routes are those of the checked scenario.
//!
//! # What it skips
//! Repeated lookups during the run.
//!
//! # Why that is exact
//! None of these facts changes during a run.

pub(crate) mod actor;
pub(crate) mod combs;
pub(crate) mod form;
pub(crate) mod leg;
pub(crate) mod order;
pub(crate) mod policing;
pub(crate) mod route;

use std::rc::Rc;

use self::actor::{Actor, Usage, answerable};
use self::combs::{CombCircuit, CombSearch};
use self::form::{PortForm, forms, rule};
use self::leg::{Lane, Legs, uniform};
use self::order::upstream;
use self::policing::{PolicerUse, Policing};
use self::route::{DelayHop, Handoff, RouteSegment};
use crate::buffer::admission::Rule;
use crate::engine::exact::accounting::Window;
use crate::engine::exact::spacing::{SpacingTable, TransmissionTime};
use crate::engine::questions::latency;
use crate::scenario::contract::{Passing, contracts, passing_circuits};
use crate::scenario::model::{Line, Medium, NodeKind, Scenario};
use crate::units::ids::{CircuitId, FlowId, IdSlice, IdVec, LineId, PortVc};
use crate::units::{CELL_BYTES, Span, Time};

/// The unchanging part of a network.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) forms: IdVec<LineId, PortForm>,
    /// For every port the routes of the circuits that pass it, by the circuits' numbers there.
    pub(crate) routes: IdVec<LineId, IdVec<PortVc, RouteSegment>>,
    pub(crate) delay_hops: Vec<DelayHop>,
    /// For every port the shortest time between the start of a unit and its arrival at the next stop.
    pub(crate) reach: IdVec<LineId, Span>,
    /// For every port the ports that must advance before it, in this order, and last the port itself.
    pub(crate) upstream: IdVec<LineId, Vec<LineId>>,
    /// For every circuit the end of a flow that receives its frames, if this end depends on nothing else.
    pub(crate) actors: IdVec<CircuitId, Option<Actor>>,
    /// For every flow whether its source has a clock, receives no acknowledgements, and is the only sender over an
    /// unlimited interface.
    pub(crate) open_loop: IdVec<FlowId, bool>,
    /// For every circuit whether a host may answer its frames.
    pub(crate) answerable: IdVec<CircuitId, bool>,
    /// For every port the circuits that pass it, by the circuits' numbers there.
    pub(crate) passing: Passing,
    /// Ports that run in the form with a queue for each circuit.
    pub(crate) per_vc: Vec<LineId>,
    /// If circuits form a cycle: a span in which no unit gets from one port to the next.
    pub(crate) circle: Option<Span>,
    /// For every port its lanes: the incoming lines, divided by circuit where units carry the instant of each
    /// arrival.
    pub(crate) lanes: IdVec<LineId, Vec<Lane>>,
    /// For every circuit when the engine must ask its policer.
    pub(crate) policers: IdVec<CircuitId, PolicerUse>,
    /// For every port where only combs arrive the circuits of its lanes.
    pub(crate) combs: IdVec<LineId, Option<Vec<CombCircuit>>>,
    /// For every port the lines that bring units to it, in the order of the scenario.
    arriving: IdVec<LineId, Vec<LineId>>,
    /// For every line the line that has set the spacing of its cells, since ports that only delay keep the spacing.
    origins: IdVec<LineId, LineId>,
    spacings: IdVec<LineId, Rc<SpacingTable>>,
}

impl Plan {
    /// Build the plan of a scenario.
    pub(crate) fn new(scenario: &Scenario) -> Plan {
        let (passing, arriving) = (passing_circuits(scenario), arriving(scenario));
        let spacings = spacings(&scenario.lines);
        let (forms, origins) = forms(scenario, &passing, &arriving);
        let legs = Legs::new(scenario, &passing, &forms, &spacings);
        let has_time: IdVec<LineId, bool> = forms.iter().map(PortForm::has_time).collect();
        let (upstream, is_circular) = upstream(&legs.ports_before(&forms), &has_time);
        let reach = reach(scenario, &spacings, &legs);
        let usage = Usage::new(scenario, &forms);
        let (actors, open_loop, answerable) = (usage.actors(), usage.open_loop(), answerable(scenario));
        let policing = Policing::new(scenario, &forms);
        let handoffs = legs.handoffs(scenario, &policing, &forms, is_circular);
        let lanes = legs.lanes(&handoffs);
        let (delay_hops, mut routes) = legs.routes(scenario, &answerable, &policing, &handoffs, &lanes);
        let search = CombSearch {
            scenario,
            forms: &forms,
            passing: &passing,
            open_loop: &open_loop,
            policing: &policing,
        };
        let combs = if is_circular { IdVec::filled(None, forms.len()) } else { search.lanes(&mut routes) };
        let is_per_vc = |port: &LineId| matches!(forms[*port], PortForm::PerVc(_));
        Plan {
            per_vc: forms.keys().filter(is_per_vc).collect(),
            circle: if is_circular { reach.iter().min().copied() } else { None },
            policers: policing.uses,
            forms,
            routes,
            delay_hops,
            reach,
            upstream,
            actors,
            open_loop,
            answerable,
            passing,
            lanes,
            combs,
            arriving,
            origins,
            spacings,
        }
    }

    /// Return the table of the cell spacing at a port.
    pub(crate) fn spacing(&self, port: LineId) -> Rc<SpacingTable> {
        Rc::clone(&self.spacings[port])
    }

    /// Return the time that a cell takes at a port.
    pub(crate) fn cell_time(&self, port: LineId) -> Span {
        self.spacings[port].pace.whole
    }

    /// Return the spacing of the cells that arrive over a line.
    pub(crate) fn arriving_spacing(&self, line: LineId) -> Rc<SpacingTable> {
        self.spacing(self.origins[line])
    }

    /// Return the greatest number of units of a frame that passes a port.
    pub(crate) fn longest_frame(&self, scenario: &Scenario, port: LineId) -> u64 {
        let contracts = contracts(scenario, &scenario.lines[port], self.passing.at(port));
        contracts.iter().map(|contract| contract.frame).max().unwrap_or(0)
    }

    /// Return whether interleaved trains may pass a port by their ends: their cells keep the spacing of their lines,
    /// the port makes one simple decision for each frame, and the next stop does not need the departures of inner
    /// cells.
    pub(crate) fn may_pass_by_ends(&self, port: LineId) -> bool {
        let plain = matches!(&self.forms[port], PortForm::Fifo(Rule::Fits | Rule::Frames { .. }));
        let even = self.lanes[port].len() > 1 && self.lanes[port].iter().all(|lane| lane.vc.is_none());
        plain && even && self.routes[port].iter().all(|route| route.handoff == Handoff::Together)
    }

    /// Return the least time from the start of a unit at another port to its arrival at this port.
    pub(crate) fn min_arrival_delay(&self, port: LineId) -> Span {
        let before = self.arriving[port].iter().map(|&line| self.origins[line]);
        before.map(|line| self.reach[line]).min().unwrap_or(Span::ZERO)
    }

    /// Return the instants at a port at which cells are separated: cells before and after such an instant are counted
    /// or forwarded separately, because later on the route the measured time begins or ends between them.
    pub(crate) fn cuts(&self, port: LineId, window: Window) -> Vec<Time> {
        let mut cuts = Vec::new();
        let mut cut = |span: Span| {
            cuts.extend(
                [window.from, window.to].iter().filter_map(|end| end.0.checked_sub(span.0)).map(Time),
            );
        };
        cut(Span::ZERO);
        for route in &self.routes[port] {
            let mut span = self.spacings[port].pace.whole + route.latency;
            cut(span);
            for passage in &self.delay_hops[route.hops()] {
                cut(span + passage.whole);
                span = span + passage.transit;
                cut(span);
            }
        }
        cuts.sort_unstable();
        cuts.dedup();
        cuts
    }
}

/// Return for every port the shortest time between the start of a unit and its arrival at the next stop.
fn reach(
    scenario: &Scenario,
    spacings: &IdVec<LineId, Rc<SpacingTable>>,
    legs: &Legs,
) -> IdVec<LineId, Span> {
    let of_port = |(port, line): (LineId, &Line)| {
        let shortest = match line.medium {
            Medium::Cells => spacings[port].pace.whole,
            Medium::Packets => TransmissionTime::of_bytes(line.rate.fixed(), 1).whole,
        };
        shortest + latency(scenario, line) + legs.min_delay(port)
    };
    scenario.lines.pairs().map(of_port).collect()
}

/// Build the spacing tables of every line; lines with equal spacing share a table.
fn spacings(lines: &IdVec<LineId, Line>) -> IdVec<LineId, Rc<SpacingTable>> {
    let mut found: Vec<Rc<SpacingTable>> = Vec::new();
    let spacing = |line: &Line| {
        let pace = TransmissionTime::of_bytes(line.rate.fixed(), CELL_BYTES as u16).in_lowest_terms();
        if let Some(spacing) = found.iter().find(|spacing| spacing.pace == pace) {
            return Rc::clone(spacing);
        }
        let spacing = Rc::new(SpacingTable::of(pace));
        found.push(Rc::clone(&spacing));
        spacing
    };
    lines.iter().map(spacing).collect()
}

/// Return for every port the lines over which units arrive, in the order of the scenario.
fn arriving(scenario: &Scenario) -> IdVec<LineId, Vec<LineId>> {
    let mut arriving = IdVec::filled(Vec::new(), scenario.lines.len());
    for vc in &scenario.vcs {
        for (&line, &port) in vc.path.iter().zip(&vc.path[1..]) {
            let lines: &mut Vec<LineId> = &mut arriving[port];
            if let Err(place) = lines.binary_search(&line) {
                lines.insert(place, line);
            }
        }
    }
    arriving
}

/// Return whether no cells can travel in trains and a switch must judge each cell: then the reference engine needs no
/// more work than this one.
pub(crate) fn skips_nothing(scenario: &Scenario) -> bool {
    let is_asked = |(line, vcs): (&Line, IdSlice<'_, PortVc, CircuitId>)| {
        scenario.nodes[line.from].kind != NodeKind::Host && rule(scenario, line, vcs).is_none()
    };
    let mut travels = uniform(scenario);
    scenario.flows.iter().filter(|flow| flow.police.is_some()).for_each(|flow| travels[flow.vc] = false);
    !travels.iter().any(|&travels| travels)
        && scenario.lines.iter().zip(passing_circuits(scenario).iter()).any(is_asked)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::load;
    use std::fmt::Write;

    fn plan(text: &str) -> (Scenario, Plan) {
        let scenario = load(text, "test.toml", &[]).unwrap();
        let plan = Plan::new(&scenario);
        (scenario, plan)
    }

    const DUMBBELL: &str = "name = 'test'
        duration = '1 s'
        [topology]
        template = 'dumbbell'
        sources = 2
        access = { rate = '100 Mb/s', delay = '1 us' }
        bottleneck = { rate = '100 Mb/s', delay = '1 us' }
        egress = { rate = '100 Mb/s', delay = '1 us' }
        [port.bottleneck]
        buffer = '100 cells'
        admission = { policy = 'ppd' }
        [flows]
        source = { kind = 'greedy' }
        transport = { kind = 'tcp' }";

    #[test]
    fn only_where_circuits_meet_units_may_wait() {
        let (scenario, plan) = plan(DUMBBELL);
        let kind = |name: &str| {
            let port = scenario.lines.position(|line| line.name == name).unwrap();
            plan.forms[port].clone()
        };
        assert!(matches!(kind("access1"), PortForm::HostInterface));
        assert!(matches!(kind("bottleneck"), PortForm::Fifo(Rule::Frames { threshold: None, .. })));
        assert!(matches!(kind("egress2"), PortForm::Delay));
        assert!(matches!(kind("egress2.back"), PortForm::HostInterface));
        assert!(matches!(kind("bottleneck.back"), PortForm::Fifo(Rule::Fits)));
        assert!(matches!(kind("access1.back"), PortForm::Delay));
        assert_eq!(plan.circle, None);
    }

    #[test]
    fn a_slower_line_makes_units_wait() {
        let (scenario, plan) = plan(&DUMBBELL.replace("egress = { rate = '100", "egress = { rate = '99"));
        let port = scenario.lines.position(|line| line.name == "egress1").unwrap();
        assert!(matches!(plan.forms[port], PortForm::Fifo(Rule::Fits)));
    }

    /// A circuit from a host over three switches to a host: its four lines, and the plan. The rates are in Mb/s.
    fn row_of_switches(rates: [u32; 4]) -> (Vec<LineId>, Plan) {
        let mut text = "name = 'row'\nduration = '1 s'\n".to_string();
        let nodes = ["a", "s1", "s2", "s3", "b"];
        for node in nodes {
            let kind = if node.starts_with('s') { "switch" } else { "host" };
            write!(text, "[[node]]\nname = '{node}'\nkind = '{kind}'\n").unwrap();
        }
        for (ends, rate) in nodes.windows(2).zip(rates) {
            let (from, to) = (ends[0], ends[1]);
            write!(text, "[[link]]\nfrom = '{from}'\nto = '{to}'\nrate = '{rate} Mb/s'\ndelay = '1 us'\n")
                .unwrap();
        }
        text += "[[flow]]\nname = 'f'\nfrom = 'a'\nto = 'b'\ntransport = { kind = 'cells' }\n";
        text += "source = { kind = 'cbr', rate = '1 kb/s' }\n";
        let (scenario, plan) = plan(&text);
        (scenario.vcs[CircuitId(0)].path.clone(), plan)
    }

    #[test]
    fn ports_that_only_delay_keep_the_spacing_of_the_last_line_that_sets_one() {
        let origins = |rates| {
            let (path, plan) = row_of_switches(rates);
            let place = |line: &LineId| path.iter().position(|other| *other == plan.origins[*line]).unwrap();
            path.iter().map(place).collect::<Vec<_>>()
        };
        assert_eq!(origins([2, 2, 2, 2]), [0, 0, 0, 0]);
        assert_eq!(origins([2, 3, 2, 4]), [0, 0, 0, 0]);
        assert_eq!(origins([2, 1, 4, 3]), [0, 1, 1, 1]);
        let (path, plan) = row_of_switches([2, 1, 4, 3]);
        let route = &plan.routes[path[1]][PortVc(0)];
        assert_eq!((route.hop, route.hops().len()), (4, 2));
    }

    #[test]
    fn a_source_without_feedback_sends_ahead_if_it_alone_sends_over_its_interface() {
        let open = DUMBBELL.replace("'greedy'", "'cbr', rate = '1 Mb/s'").replace("'tcp'", "'udp'");
        assert_eq!(plan(&open).1.open_loop, [true, true].into());
        assert_eq!(plan(DUMBBELL).1.open_loop, [false, false].into());
    }

    #[test]
    fn single_cells_are_combs_where_nothing_else_arrives() {
        let cells = DUMBBELL.replace("'greedy'", "'cbr', rate = '1 Mb/s'").replace("'tcp'", "'cells'");
        let is_comb_port = |text: &str| {
            let (scenario, plan) = plan(text);
            let port = scenario.lines.position(|line| line.name == "bottleneck").unwrap();
            plan.combs[port].is_some()
        };
        assert!(is_comb_port(&cells));
        let with = |more: &str| is_comb_port(&format!("{cells}\n{more}"));
        assert!(!with("[[flow]]\nname = 'flow1'\ntransport = { kind = 'udp' }"), "frames of several cells");
        assert!(with(
            "[[flow]]\nname = 'flow2'\npolice = { kind = 'random', probability = 1, action = 'drop' }"
        ));
        assert!(!with("[measure]\nwindow = '1 ms'"), "each cell counts at its instant");
        let round_robin =
            cells.replace("admission = {", "scheduler = { policy = 'round-robin' }\nadmission = {");
        assert!(!is_comb_port(&round_robin));
        assert!(
            !is_comb_port(&cells.replace("egress = { rate = '100", "egress = { rate = '99")),
            "a second queue"
        );
    }

    #[test]
    fn only_a_tag_that_a_port_may_read_matters() {
        let policed = |policy: &str, action: &str| {
            let police = format!("police = {{ kind = 'random', probability = 0.5, action = '{action}' }}");
            let text = format!("{DUMBBELL}\n{police}").replace("'ppd'", policy);
            let (scenario, plan) = plan(&text);
            plan.policers[scenario.flows[FlowId(0)].vc]
        };
        assert_eq!(policed("'ppd'", "tag"), PolicerUse::Once);
        assert_eq!(policed("'ppd'", "drop"), PolicerUse::Always);
        assert_eq!(policed("'tail-drop', clp_threshold = '50 %'", "tag"), PolicerUse::Always);
        assert_eq!(plan(DUMBBELL).1.policers[CircuitId(0)], PolicerUse::Never);
    }

    #[test]
    fn an_end_of_a_flow_acts_alone_if_no_other_sends_over_its_interface() {
        let (scenario, alone) = plan(DUMBBELL);
        assert!(scenario.flows.iter().all(|flow| alone.actors[flow.vc].is_some()));
        let (scenario, open) =
            plan(&DUMBBELL.replace("'greedy'", "'cbr', rate = '1 Mb/s'").replace("'tcp'", "'udp'"));
        assert!(scenario.flows.iter().all(|flow| open.actors[flow.vc].is_none()), "no host answers");
    }

    #[test]
    fn trains_pass_by_their_ends_where_lines_meet_and_each_frame_is_asked_about_once() {
        let at_bottleneck = |text: &str| {
            let (scenario, plan) = plan(text);
            plan.may_pass_by_ends(scenario.lines.position(|line| line.name == "bottleneck").unwrap())
        };
        assert!(at_bottleneck(DUMBBELL));
        assert!(!at_bottleneck(&DUMBBELL.replace("sources = 2", "sources = 1")));
        assert!(!at_bottleneck(&DUMBBELL.replace("'ppd'", "'fba'")));
    }

    #[test]
    fn a_ring_is_a_circle_if_circuits_close_it() {
        let mut text = "name = 'ring'\nduration = '1 s'\n".to_string();
        for i in 0..3 {
            let next = (i + 1) % 3;
            let link = "rate = '1 Mb/s'\ndelay = '1 us'";
            write!(
                text,
                "[[node]]\nname = 's{i}'\nkind = 'switch'\n[[node]]\nname = 'h{i}'\nkind = 'host'\n"
            )
            .unwrap();
            write!(text, "[[link]]\nfrom = 's{i}'\nto = 's{next}'\n{link}\n").unwrap();
            write!(text, "[[link]]\nfrom = 'h{i}'\nto = 's{i}'\n{link}\n").unwrap();
        }
        for i in 0..3 {
            let (next, to) = ((i + 1) % 3, (i + 2) % 3);
            write!(text, "[[flow]]\nname = 'f{i}'\nfrom = 'h{i}'\nto = 'h{to}'\nvia = ['s{next}']\n")
                .unwrap();
            text += "source = { kind = 'cbr', rate = '1 kb/s' }\ntransport = { kind = 'cells' }\n";
        }
        let (_, round) = plan(&text);
        assert!(round.circle.is_some_and(|span| span > Span::ZERO));
        let (_, straight) = plan(&text[..text.rfind("[[flow]]").unwrap()]);
        assert_eq!(straight.circle, None);
    }
}
