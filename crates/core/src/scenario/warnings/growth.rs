//! Queues without a limit that grow as long as the run lasts.

use crate::scenario::model::{Flow, Line, Scenario};
use crate::scenario::warning::Warning;
use crate::source::Source;
use crate::transport::{self, Transport};
use crate::units::Rate;
use crate::units::ids::{IdVec, LineId};

/// Warn of the queue of a host whose sources send faster than its line, without a transport that adapts.
pub(super) fn warning(scenario: &Scenario) -> Option<Warning> {
    let mut offered = IdVec::filled(0.0, scenario.lines.len());
    for flow in &scenario.flows {
        if let Some(&first) = scenario.vcs[flow.vc].path.first() {
            offered[first] += rate(scenario, flow, &scenario.lines[first]);
        }
    }
    let excess = |(line, offered): (LineId, f64)| {
        let spec = &scenario.lines[line];
        let above = offered - spec.sending_rate().as_f64();
        // Differences due to the rounding of rates do not count.
        (!spec.port.capacity.is_limited() && above > 1e-6 * offered).then_some((spec, offered, above / 8.0))
    };
    let mut growing = scenario.lines.keys().zip(offered).filter_map(excess);
    let (line, offered, grows) = growing.next()?;
    let others = match growing.count() {
        0 => String::new(),
        1 => " (1 other queue likewise)".to_string(),
        others => format!(" ({others} other queues likewise)"),
    };
    let seconds = scenario.duration.as_secs_f64();
    let message = format!(
        "sources send {} over the line {:?} of {}: the queue before it has no limit, grows by {:.1} MB a second and by {:.1} MB \
         until the end{others}; lower their rates, or give its port a buffer",
        Rate(offered as u64),
        line.name,
        line.rate,
        grows / 1e6,
        grows * seconds / 1e6,
    );
    Some(Warning { code: "growing-queue", message })
}

/// Return the bits on its first line that a source offers in a second by its clock; 0 if a transport paces it or it
/// stops after a number of packets.
fn rate(scenario: &Scenario, flow: &Flow, line: &Line) -> f64 {
    if matches!(*flow.transport, transport::Spec::Tcp(_)) || flow.source.packets().is_some() {
        return 0.0;
    }
    let framing = scenario.vcs[flow.vc].framing;
    let headers = flow.transport.header_bytes();
    let payload = flow.mean_of_packet(|packet| f64::from(packet - headers));
    let octets = flow.mean_of_packet(|packet| line.octets(framing.shape(packet).line_bytes()) as f64);
    let data = flow.source.mean_rate(payload, flow.mean_bits(framing.without_parity()));
    data.map_or(0.0, |data| data / payload * octets * flow.source.redundancy())
}

#[cfg(test)]
mod tests {
    use crate::scenario::checked;

    /// Two hosts that send 400 Mb/s of packets of 1000 octets together, 200 Mb/s over each line of 100 Mb/s.
    const TEXT: &str = r#"
        name = "over"
        duration = "10 s"
        adaptation = { kind = "packet" }
        [topology]
        template = "dumbbell"
        sources = 2
        access = { rate = "100 Mb/s", delay = "1 us" }
        bottleneck = { rate = "1 Gb/s", delay = "1 us" }
        egress = { rate = "1 Gb/s", delay = "1 us" }
        [flows]
        transport = { kind = "udp" }
        source = { kind = "cbr", rate = "200 Mb/s", size = "972 bytes" }
    "#;

    fn warned(sets: &[&str]) -> Vec<String> {
        let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
        let warnings = checked(TEXT, "over.toml", &sets).unwrap().warnings();
        warnings.into_iter().filter(|it| it.code == "growing-queue").map(|it| it.message).collect()
    }

    #[test]
    fn a_source_faster_than_its_line_is_named_with_what_waits() {
        let warned = warned(&[]);
        assert_eq!(warned.len(), 1);
        let start = "sources send 200 Mb/s over the line \"access1\" of 100 Mb/s: the queue before it has no limit, grows by 12.5 MB a \
                     second and by 125.0 MB until the end (1 other queue likewise)";
        assert!(warned[0].starts_with(start), "{}", warned[0]);
    }

    #[test]
    fn a_slower_source_and_a_limited_queue_do_not_grow() {
        assert!(warned(&["flows.source.rate=100 Mb/s"]).is_empty());
        assert!(warned(&["port.access.buffer=100 packets"]).is_empty());
    }
}
