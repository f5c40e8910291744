//! Conservation: every unit that entered a port left it, was lost for a counted reason, or is still there; every octet
//! that a TCP receiver reports was sent, once and in order; no circuit has more cells behind a line than its credits allow,
//! and none of them is lost.

use crate::buffer::verdict::Reason;
use crate::engine::Outcome;
use crate::network::circuit::Hop;
use crate::scenario::model::Scenario;

/// What an audit found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    /// Number of balances checked.
    pub checks: u64,
    /// Balances that do not hold, in words.
    pub failures: Vec<String>,
}

impl Audit {
    fn check(&mut self, holds: bool, failure: impl FnOnce() -> String) {
        self.checks += 1;
        if !holds {
            self.failures.push(failure());
        }
    }
}

/// Audit the end of a run.
pub fn audit(scenario: &Scenario, outcome: &Outcome) -> Audit {
    let mut audit = Audit::default();
    ports(&mut audit, scenario, outcome);
    circuits(&mut audit, scenario, outcome);
    flows(&mut audit, scenario, outcome);
    credits(&mut audit, scenario, outcome);
    audit
}

fn ports(audit: &mut Audit, scenario: &Scenario, outcome: &Outcome) {
    for (line, port) in scenario.lines.iter().zip(&outcome.network.ports) {
        let counters = port.counters();
        let (units_in, units_out, queued) = (counters.units_in, counters.units_out, port.units_queued());
        let lost: u64 = Reason::ALL.iter().map(|&reason| counters.lost_for(reason)).sum();
        audit.check(units_in == units_out + lost + queued, || {
            format!("port {}: {units_in} in, but {units_out} out, {lost} lost and {queued} queued", line.name)
        });
        let (total, capacity) = (port.pool().total(), port.pool().capacity());
        audit.check(total <= capacity && counters.occupancy.max() <= capacity, || {
            format!("port {}: {} in a buffer of {capacity}", line.name, total.max(counters.occupancy.max()))
        });
        let by_vc: u64 = (0..port.pool().vcs()).map(|vc| port.pool().of(vc)).sum();
        audit.check(by_vc == total && port.size_queued() == total, || {
            format!(
                "port {}: the books say {total}, circuits {by_vc}, queues {}",
                line.name,
                port.size_queued()
            )
        });
        let (frames_in, whole_out) = (counters.frames_in, counters.frames_whole_out);
        audit.check(whole_out <= frames_in, || {
            format!("port {}: {whole_out} whole frames left, but only {frames_in} arrived", line.name)
        });
    }
}

fn circuits(audit: &mut Audit, scenario: &Scenario, outcome: &Outcome) {
    let mut under_way = outcome.on_lines.clone();
    for port in &outcome.network.ports {
        port.waiting().for_each(|unit| under_way[unit.vc as usize] += 1);
    }
    for (vc, circuit) in outcome.network.circuits.iter().enumerate() {
        let tally = circuit.tally();
        audit.check(tally.sent == tally.arrived + tally.lost + under_way[vc], || {
            format!(
                "circuit {}: {} units sent, but {} arrived, {} lost and {} under way",
                scenario.vcs[vc].name, tally.sent, tally.arrived, tally.lost, under_way[vc]
            )
        });
    }
}

fn flows(audit: &mut Audit, scenario: &Scenario, outcome: &Outcome) {
    for (spec, flow) in scenario.flows.iter().zip(&outcome.network.flows) {
        let Some((sent, delivered, acked)) = flow.sent_delivered_acked() else { continue };
        audit.check(acked <= delivered && delivered <= sent, || {
            format!("flow {}: {sent} bytes sent, {delivered} delivered, {acked} acknowledged", spec.name)
        });
    }
}

fn credits(audit: &mut Audit, scenario: &Scenario, outcome: &Outcome) {
    for (vc, circuit) in outcome.network.circuits.iter().enumerate() {
        let mut hops = (0..=u8::MAX).map_while(|hop| circuit.hop(hop)).peekable();
        while let Some(hop) = hops.next() {
            balance(audit, (scenario, outcome), vc, hop, hops.peek().copied());
        }
    }
}

/// The credits of a circuit on one line, and what they promise behind it.
fn balance(
    audit: &mut Audit,
    (scenario, outcome): (&Scenario, &Outcome),
    vc: usize,
    hop: Hop,
    next: Option<Hop>,
) {
    let (line, number) = (hop.port as usize, hop.vc as usize);
    let (ports, receiver) = (&outcome.network.ports, &outcome.network.receivers[line]);
    let (Some(sender), Some(receiver)) = (ports[line].credit(), receiver) else { return };
    let name = || format!("circuit {} behind {}", scenario.vcs[vc].name, scenario.lines[line].name);
    let (books, room) = (receiver.books(number), receiver.terms().room);
    let (sent, credited) = sender.sent_credited(number);
    audit.check(books.most <= room, || format!("{}: {} cells, but room for {room}", name(), books.most));
    audit.check(sent - credited <= room, || {
        format!("{}: {} cells without credit, but room for {room}", name(), sent - credited)
    });
    audit.check(credited <= books.told && books.forwarded + books.held <= sent, || {
        let books = format!("{} forwarded, {} held, {} told", books.forwarded, books.held, books.told);
        format!("{}: {sent} cells sent, {credited} credited, but {books}", name())
    });
    let Some(next) = next else { return };
    let behind = &ports[next.port as usize];
    let held = behind.pool().of(next.vc as usize);
    audit.check(held == books.held, || {
        format!("{}: {} cells by the credits, {held} by the port", name(), books.held)
    });
    let lost = behind.counters().lost_for(Reason::Overflow);
    audit.check(lost == 0, || format!("{}: {lost} cells lost", name()));
}
