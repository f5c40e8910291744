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

pub(crate) mod order;
pub(crate) mod route;

use std::iter;
use std::rc::Rc;

use self::order::upstream;
use crate::buffer::admission::{Interest, Rule, Shortcuts};
use crate::buffer::size::Measure;
use crate::engine::cells::topology::route::{DelayHop, Destination, Handoff, RouteSegment};
use crate::engine::exact::accounting::Window;
use crate::engine::exact::spacing::{SpacingTable, TransmissionTime};
use crate::engine::questions::{latency, policed_ports};
use crate::network::end::End;
use crate::scenario::contract::{Passing, context, contracts, passing_circuits};
use crate::scenario::model::{Flow, Line, Medium, NodeKind, Scenario};
use crate::scheduler;
use crate::transport::Transport;
use crate::units::{CELL_BYTES, Span, Time};

/// Form in which a port is run.
#[derive(Clone, Debug)]
pub(crate) enum PortForm {
    /// The unlimited interface of a host.
    HostInterface,
    /// A port at which no unit ever waits.
    Delay,
    /// One queue, and a rule that decides which units join it.
    Fifo(Rule),
    /// Cells, a queue for each circuit, and a policy that reads only the books.
    PerVc(Interest),
    /// Any other port.
    PerUnit,
}

/// The unchanging part of a network.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) forms: Vec<PortForm>,
    /// For every port the routes of the circuits that pass it, by their number there.
    pub(crate) routes: Vec<Vec<RouteSegment>>,
    pub(crate) delay_hops: Vec<DelayHop>,
    /// For every port the shortest time between the start of a unit and its arrival at the next stop.
    pub(crate) reach: Vec<Span>,
    /// For every port those that must advance before it and with it, in this order.
    pub(crate) upstream: Vec<Vec<u32>>,
    /// For every circuit the end of a flow that gets its frames, if the end depends only on them and on its own timers,
    /// receives them alone, and no other flow sends over the interface of its host.
    ///
    /// The circuits of its flow are listed with it.
    pub(crate) actors: Vec<Option<(u32, [u32; 2])>>,
    /// Flows whose source has a clock, receives no answers, and alone sends over an unlimited interface.
    pub(crate) open_loop: Vec<bool>,
    /// Circuits whose frames a host may answer.
    pub(crate) answerable: Vec<bool>,
    /// For every port the circuits that pass it, by their number there.
    pub(crate) passing: Passing,
    /// Ports with a queue for each circuit.
    pub(crate) per_vc: Vec<u32>,
    /// A time in which no unit gets from one port to the next, where circuits form a cycle.
    pub(crate) circle: Option<Span>,
    /// Ports at which circuits are policed.
    policed: Vec<bool>,
    /// For every port the lines that bring units to it, in the order of the scenario.
    lines: Vec<Vec<usize>>,
    /// For every port its lanes: a line, or one circuit of it if its units may be held back.
    pub(crate) lanes: Vec<Vec<(usize, Option<u32>)>>,
    paces: Vec<TransmissionTime>,
    spacings: Vec<Rc<SpacingTable>>,
}

impl Plan {
    /// The plan of a scenario.
    pub(crate) fn new(scenario: &Scenario) -> Plan {
        let passing = passing_circuits(scenario);
        let mut plan = Plan {
            forms: Vec::new(),
            routes: passing.iter().map(|vcs| Vec::with_capacity(vcs.len())).collect(),
            delay_hops: Vec::new(),
            reach: Vec::new(),
            upstream: Vec::new(),
            actors: Vec::new(),
            open_loop: Vec::new(),
            answerable: answerable(scenario),
            passing: Passing::default(),
            per_vc: Vec::new(),
            circle: None,
            policed: policed_ports(scenario),
            lines: lines(scenario),
            lanes: Vec::new(),
            paces: scenario.lines.iter().map(cell_pace).collect(),
            spacings: Vec::new(),
        };
        plan.spacings = spacings(&plan.paces);
        plan.find_forms(scenario, &passing);
        plan.find_routes(scenario, &passing);
        plan.find_actors(scenario);
        plan.reach = (0..plan.forms.len()).map(|port| plan.reach(scenario, port)).collect();
        plan.find_upstream();
        if plan.circle.is_some() {
            let routes = plan.routes.iter_mut().flatten().filter(|route| route.handoff == Handoff::Timed);
            routes.for_each(|route| route.handoff = Handoff::Singly); // all ports advance together, even those that hold units back
        }
        plan.find_lanes();
        let per_vc = |port: &u32| matches!(plan.forms[*port as usize], PortForm::PerVc(_));
        plan.passing = passing;
        plan.per_vc = (0..plan.forms.len() as u32).filter(per_vc).collect();
        plan
    }

    fn find_actors(&mut self, scenario: &Scenario) {
        let (mut frames, mut interfaces) = (vec![0; scenario.vcs.len()], vec![0; scenario.lines.len()]);
        let interface = |vc: usize| scenario.vcs[vc].path[0];
        for vc in scenario.flows.iter().flat_map(|flow| iter::once(flow.vc).chain(flow.back)) {
            frames[vc] += 1;
            interfaces[interface(vc)] += 1;
        }
        let sends_alone = |vc: usize| {
            let interface = interface(vc);
            interfaces[interface] == 1 && matches!(self.forms[interface], PortForm::HostInterface)
        };
        let acts_alone = |vc: usize, answers: usize| frames[vc] == 1 && sends_alone(answers);
        let is_open = |flow: &Flow| flow.back.is_none() && sends_alone(flow.vc);
        self.open_loop = scenario.flows.iter().map(is_open).collect();
        let mut actors = vec![None; scenario.vcs.len()];
        for (index, flow) in scenario.flows.iter().enumerate() {
            let Some(back) = flow.back else { continue };
            let circuits = [flow.vc as u32, back as u32];
            let end = |end: End| (end.entity(index) as u32, circuits);
            actors[flow.vc] = acts_alone(flow.vc, back).then(|| end(End::Sink));
            actors[back] = acts_alone(back, flow.vc).then(|| end(End::Source));
        }
        self.actors = actors;
    }

    /// The transmission time of cells at a port, tabulated.
    pub(crate) fn spacing(&self, port: usize) -> Rc<SpacingTable> {
        Rc::clone(&self.spacings[port])
    }

    /// Most units of a frame that passes a port.
    pub(crate) fn longest_frame(&self, scenario: &Scenario, port: usize) -> u64 {
        let contracts = contracts(scenario, &scenario.lines[port], &self.passing[port]);
        contracts.iter().map(|contract| contract.frame).max().unwrap_or(0)
    }

    /// Return whether units that arrive at a port may be marked or lost because their circuit is policed there.
    pub(crate) fn polices(&self, port: usize) -> bool {
        self.policed[port]
    }

    /// Return whether interleaved trains may pass a port by their ends: they keep the spacing of their lines, the port
    /// makes one simple decision for each frame, and the next stop does not need the departures of inner cells.
    pub(crate) fn may_pass_by_ends(&self, port: usize) -> bool {
        let plain = matches!(&self.forms[port], PortForm::Fifo(Rule::Fits | Rule::Frames { .. }));
        let even = self.lanes[port].len() > 1 && self.lanes[port].iter().all(|(_, vc)| vc.is_none());
        plain && even && self.routes[port].iter().all(|route| route.handoff == Handoff::Together)
    }

    /// The least time from the start of a unit at another port to its arrival at a port.
    pub(crate) fn min_arrival_delay(&self, port: usize) -> Span {
        let before = self.lines[port].iter().map(|&line| self.origin(line));
        before.map(|line| self.reach[line]).min().unwrap_or(Span::ZERO)
    }

    /// Return the instants at a port that separate cells: those before and after one are entered or forwarded
    /// separately, because the measured time begins or ends between them later on the route.
    pub(crate) fn cuts(&self, port: usize, window: Window) -> Vec<Time> {
        let mut cuts = Vec::new();
        let mut cut = |span: Span| {
            cuts.extend(
                [window.from, window.to].iter().filter_map(|end| end.0.checked_sub(span.0)).map(Time),
            );
        };
        cut(Span::ZERO);
        for route in &self.routes[port] {
            let mut span = self.paces[port].whole + route.latency;
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

    fn find_forms(&mut self, scenario: &Scenario, passing: &Passing) {
        for (line, vcs) in scenario.lines.iter().zip(passing.iter()) {
            let from_host = scenario.nodes[line.from].kind == NodeKind::Host;
            let fifo = matches!(line.port.scheduler, scheduler::Spec::Fifo(_));
            let rule = rule(scenario, line, vcs).filter(|_| line.port.gates.is_empty());
            self.forms.push(match rule {
                Some(Rule::Fits) if fifo && from_host && is_unlimited(line) => PortForm::HostInterface,
                Some(rule) if fifo && !from_host => PortForm::Fifo(rule),
                Some(rule) if !from_host && has_turns(line) => PortForm::PerVc(rule.interest()),
                _ => PortForm::PerUnit,
            });
        }
        // whether a port delays only depends on the ports before it, and no line precedes itself
        let mut found = true;
        while std::mem::take(&mut found) {
            for port in 0..scenario.lines.len() {
                if self.only_delays(scenario, port) {
                    self.forms[port] = PortForm::Delay;
                    found = true;
                }
            }
        }
    }

    /// Return whether no unit ever waits at a port: an ordinary one whose cells arrive over one line that is no faster,
    /// and are not policed.
    fn only_delays(&self, scenario: &Scenario, port: usize) -> bool {
        let line = &scenario.lines[port];
        let all_alike = is_unlimited(line) && !self.policed[port];
        let (PortForm::Fifo(Rule::Fits), true, Medium::Cells) = (&self.forms[port], all_alike, line.medium)
        else {
            return false;
        };
        match self.lines[port][..] {
            [only] => scenario.lines[self.origin(only)].rate <= line.rate,
            _ => false,
        }
    }

    /// Return the line that has set the spacing of the cells of a line: ports that only delay keep it.
    pub(crate) fn origin(&self, line: usize) -> usize {
        match (&self.forms[line], &self.lines[line][..]) {
            (PortForm::Delay, [before]) => self.origin(*before),
            _ => line,
        }
    }

    fn find_routes(&mut self, scenario: &Scenario, passing: &Passing) {
        let uniform = uniform(scenario);
        let mut routes = 0;
        for (line, vcs) in passing.iter().enumerate() {
            for &vc in vcs {
                let path = &scenario.vcs[vc].path;
                let place =
                    path.iter().position(|&other| other == line).expect("the circuit passes the line");
                let number = |port: usize| {
                    let number = passing[port].binary_search(&vc);
                    number.expect("a circuit passes the lines of its path") as u32
                };
                let (first, mut delay) = (self.delay_hops.len(), Span::ZERO);
                let mut on = place + 1;
                while let Some(&port) = path.get(on)
                    && let PortForm::Delay = self.forms[port]
                {
                    let whole = self.paces[port].whole;
                    let transit = whole + latency(scenario, &scenario.lines[port]);
                    self.delay_hops.push(DelayHop { port: port as u32, vc: number(port), whole, transit });
                    delay = delay + transit;
                    on += 1;
                }
                let to = match path.get(on) {
                    Some(&port) => {
                        Destination::Port { port: port as u32, lane: path[on - 1] as u32, vc: number(port) }
                    }
                    None => Destination::Host { line: path[on - 1] as u32 },
                };
                let handoff = if uniform[vc] { self.handoff(scenario, line, to) } else { Handoff::Singly };
                self.routes[line].push(RouteSegment {
                    to,
                    hop: on as u8,
                    answerable: self.answerable[vc],
                    handoff,
                    number: routes,
                    medium: scenario.lines[line].medium,
                    latency: latency(scenario, &scenario.lines[line]),
                    hops: first..self.delay_hops.len(),
                    delay,
                });
                routes += 1;
            }
        }
    }

    /// Choose how like units of a circuit that leave over a line are forwarded.
    fn handoff(&self, scenario: &Scenario, line: usize, to: Destination) -> Handoff {
        let Destination::Port { port, .. } = to else { return Handoff::Together };
        let suits = |port: usize| {
            matches!(self.forms[port], PortForm::Fifo(_)) && scenario.lines[port].medium == Medium::Cells
        };
        if suits(line) && suits(port as usize) { Handoff::Timed } else { Handoff::Singly }
    }

    /// The lanes of every port, and for every route the lane to which it leads, in place of the line.
    ///
    /// Units of a line arrive in order; if they are held back, only those of each circuit do.
    fn find_lanes(&mut self) {
        self.lanes = vec![Vec::new(); self.forms.len()];
        let lane = |route: &RouteSegment| match route.to {
            Destination::Port { port, lane, vc } => {
                Some((port as usize, (lane as usize, (route.handoff == Handoff::Timed).then_some(vc))))
            }
            Destination::Host { .. } => None,
        };
        for (port, lane) in self.routes.iter().flatten().filter_map(lane) {
            self.lanes[port].push(lane);
        }
        for lanes in &mut self.lanes {
            lanes.sort_unstable();
            lanes.dedup();
        }
        for route in self.routes.iter_mut().flatten() {
            let found = lane(route).map(|(port, lane)| self.lanes[port].binary_search(&lane));
            if let (Some(Ok(found)), Destination::Port { lane, .. }) = (found, &mut route.to) {
                *lane = found as u32;
            }
        }
    }

    fn reach(&self, scenario: &Scenario, port: usize) -> Span {
        let line = &scenario.lines[port];
        let shortest = match line.medium {
            Medium::Cells => self.paces[port].whole,
            Medium::Packets => TransmissionTime::of_bytes(line.rate, 1).whole,
        };
        let delay = self.routes[port].iter().map(|route| route.delay).min().unwrap_or_default();
        shortest + latency(scenario, line) + delay
    }

    /// The ports before each port, and whether any is on a cycle.
    fn find_upstream(&mut self) {
        let ports = self.routes.len();
        let mut before: Vec<Vec<u32>> = vec![Vec::new(); ports];
        for (from, routes) in self.routes.iter().enumerate().filter(|(port, _)| self.has_time(*port)) {
            for route in routes {
                let Destination::Port { port, .. } = route.to else { continue };
                let before = &mut before[port as usize];
                if before.last() != Some(&(from as u32)) {
                    before.push(from as u32);
                }
            }
        }
        let wanted: Vec<bool> = (0..ports).map(|port| self.has_time(port)).collect();
        let (upstream, circle) = upstream(&before, &wanted);
        self.upstream = upstream;
        if circle {
            self.circle = self.reach.iter().min().copied();
        }
    }

    /// Return whether a port must advance; other ports handle a unit immediately.
    pub(crate) fn has_time(&self, port: usize) -> bool {
        matches!(self.forms[port], PortForm::Fifo(_) | PortForm::PerVc(_) | PortForm::PerUnit)
    }
}

/// The pace of cells on a line.
fn cell_pace(line: &Line) -> TransmissionTime {
    TransmissionTime::of_bytes(line.rate, CELL_BYTES as u16).in_lowest_terms()
}

/// The spacing of every transmission time; equal ones are shared.
fn spacings(paces: &[TransmissionTime]) -> Vec<Rc<SpacingTable>> {
    let mut found: Vec<Rc<SpacingTable>> = Vec::new();
    let spacing = |pace: &TransmissionTime| match found.iter().find(|spacing| spacing.pace == *pace) {
        Some(spacing) => Rc::clone(spacing),
        None => {
            let spacing = Rc::new(SpacingTable::of(*pace));
            found.push(Rc::clone(&spacing));
            spacing
        }
    };
    paces.iter().map(spacing).collect()
}

/// Circuits whose frames a host may answer: those of flows with acknowledgements, in both directions.
fn answerable(scenario: &Scenario) -> Vec<bool> {
    let mut answerable = vec![false; scenario.vcs.len()];
    for flow in &scenario.flows {
        if let Some(back) = flow.back {
            (answerable[flow.vc], answerable[back]) = (true, true);
        }
    }
    answerable
}

/// Circuits whose units differ only in their position in the frame: no policer marks some of them as discardable, no
/// port sets a congestion mark on some, and no code completes a frame without its last unit.
fn uniform(scenario: &Scenario) -> Vec<bool> {
    let mut uniform: Vec<bool> = scenario.vcs.iter().map(|vc| vc.framing.parity() == 0).collect();
    scenario.flows.iter().filter(|flow| flow.police.is_some()).for_each(|flow| uniform[flow.vc] = false);
    let capable = || scenario.flows.iter().filter(|flow| flow.transport.ecn());
    if capable().next().is_some() {
        let may_mark = may_mark(scenario);
        for vc in capable().flat_map(|flow| iter::once(flow.vc).chain(flow.back)) {
            uniform[vc] &= !scenario.vcs[vc].path.iter().any(|&line| may_mark[line]);
        }
    }
    uniform
}

/// For every line whether its port may set congestion marks: a policy that is only a rule sets none.
fn may_mark(scenario: &Scenario) -> Vec<bool> {
    let passing = passing_circuits(scenario);
    scenario.lines.iter().zip(passing.iter()).map(|(line, vcs)| rule(scenario, line, vcs).is_none()).collect()
}

/// Return whether no cells can travel in trains and a switch judges each: then the reference engine needs no more work.
pub(crate) fn skips_nothing(scenario: &Scenario) -> bool {
    let is_asked = |(line, vcs): (&Line, &[usize])| {
        scenario.nodes[line.from].kind != NodeKind::Host && rule(scenario, line, vcs).is_none()
    };
    !uniform(scenario).contains(&true)
        && scenario.lines.iter().zip(passing_circuits(scenario).iter()).any(is_asked)
}

/// For every line those over which units arrive at its port, in the order of the scenario.
fn lines(scenario: &Scenario) -> Vec<Vec<usize>> {
    let mut lines = vec![Vec::new(); scenario.lines.len()];
    for vc in &scenario.vcs {
        for (&line, &port) in vc.path.iter().zip(&vc.path[1..]) {
            let lines: &mut Vec<usize> = &mut lines[port];
            if let Err(place) = lines.binary_search(&line) {
                lines.insert(place, line);
            }
        }
    }
    lines
}

/// The rule of a line's port, if its policy consists of one.
fn rule(scenario: &Scenario, line: &Line, vcs: &[usize]) -> Option<Rule> {
    let contracts = contracts(scenario, line, vcs);
    let policy = line.port.admission.build(&context(scenario, line, &contracts));
    policy.expect("a checked scenario can be built").rule()
}

/// Return whether a port has a queue of cells for each circuit, and only the scheduler decides departures.
fn has_turns(line: &Line) -> bool {
    let Line { medium, port, .. } = line;
    *medium == Medium::Cells && port.measure == Measure::Cells && !port.scheduler.kind().counts_octets()
}

/// Return whether every unit fits into a port.
fn is_unlimited(line: &Line) -> bool {
    !line.port.capacity.is_limited()
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
            let port = scenario.lines.iter().position(|line| line.name == name).unwrap();
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
        let port = scenario.lines.iter().position(|line| line.name == "egress1").unwrap();
        assert!(matches!(plan.forms[port], PortForm::Fifo(Rule::Fits)));
    }

    #[test]
    fn a_source_without_feedback_sends_ahead_if_it_alone_sends_over_its_interface() {
        let open = DUMBBELL.replace("'greedy'", "'cbr', rate = '1 Mb/s'").replace("'tcp'", "'udp'");
        assert_eq!(plan(&open).1.open_loop, [true, true]);
        assert_eq!(plan(DUMBBELL).1.open_loop, [false, false]);
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
            plan.may_pass_by_ends(scenario.lines.iter().position(|line| line.name == "bottleneck").unwrap())
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
