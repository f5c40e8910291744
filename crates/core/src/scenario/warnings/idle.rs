//! Keys that change nothing: classes that no packet enters, and defaults of flows that every flow replaces.

use std::collections::BTreeSet;

use crate::language::spec::Nested;
use crate::language::tree::join;
use crate::scenario::file::TrimSection;
use crate::scenario::model::Scenario;
use crate::scenario::warning::Warning;

/// Warn of classes of traffic that no packet enters.
pub(super) fn classes(scenario: &Scenario) -> Option<Warning> {
    let queues = &scenario.sections.queues.0;
    let of_flows: BTreeSet<usize> = scenario.vcs.iter().flat_map(|vc| [vc.queue, vc.unscheduled]).collect();
    let lower: BTreeSet<&str> = scenario.lines.iter().filter_map(|line| line.port.gates.lower()).collect();
    let cut: BTreeSet<&str> = queues
        .iter()
        .filter_map(|(_, class)| class.trim.as_ref())
        .filter_map(|Nested(TrimSection { queue, .. })| queue.as_deref())
        .collect();
    let is_idle = |name: &str, number: usize| {
        !of_flows.contains(&number) && !lower.contains(name) && !cut.contains(name)
    };
    let mut idle = (0..).zip(queues).filter(|(number, (name, _))| is_idle(name, *number));
    let (_, (first, _)) = idle.next()?;
    let (path, others) = (join("queue", first), others(idle.count(), "class", "classes"));
    let message = format!(
        "no flow enters the class {first:?}, so that {path} changes nothing{others}: give a flow queue = {first:?}, or leave \
         the class out"
    );
    Some(Warning { code: "idle-class", message })
}

/// Warn of keys of `[flows]` that every flow replaces.
pub(super) fn defaults(replaced: &[String]) -> Option<Warning> {
    let first = replaced.first()?;
    let others = others(replaced.len() - 1, "key", "keys");
    let message = format!(
        "every flow has its own {first}, so that flows.{first} changes nothing{others}: write flow.NAME.{first} of the flows that are \
         meant, or leave the default out"
    );
    Some(Warning { code: "idle-default", message })
}

/// Count further entries to which a warning applies; empty if there are none.
fn others(count: usize, one: &str, several: &str) -> String {
    match count {
        0 => String::new(),
        1 => format!(" (1 other {one} likewise)"),
        _ => format!(" ({count} other {several} likewise)"),
    }
}

#[cfg(test)]
mod tests {
    use crate::scenario::checked;

    const TEXT: &str = r#"
        name = "idle"
        duration = "1 s"
        adaptation = { kind = "packet" }
        node = [{ name = "a", kind = "host" }, { name = "r", kind = "router" }, { name = "b", kind = "host" }]
        link = [
            { name = "in", from = "a", to = "r", rate = "100 Mb/s", delay = "1 ms" },
            { name = "out", from = "r", to = "b", rate = "10 Mb/s", delay = "1 ms" },
        ]
        [port.out]
        memory = "chip"
        [memory.chip]
        size = "100 kB"
        cell = "100 bytes"
        [queue.web]
        [queue.bulk]
        [queue.cut]
        [flows]
        transport = { kind = "tcp", congestion = "reno" }
        [[flow]]
        name = "one"
        from = "a"
        to = "b"
        queue = "web"
        source = { kind = "greedy" }
        transport = { kind = "tcp", congestion = "cubic" }
        [[flow]]
        name = "two"
        from = "a"
        to = "b"
        queue = "web"
        source = { kind = "cbr", rate = "1 Mb/s", size = "1000 bytes" }
        transport = { kind = "udp" }
    "#;

    fn warned(code: &str, sets: &[&str]) -> Option<String> {
        let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
        let warnings = checked(TEXT, "idle.toml", &sets).unwrap().warnings();
        warnings.into_iter().find(|warning| warning.code == code).map(|warning| warning.message)
    }

    #[test]
    fn a_class_that_no_packet_enters_is_named_with_a_remedy() {
        let expected = "no flow enters the class \"bulk\", so that queue.bulk changes nothing (1 other class likewise): give a flow \
                        queue = \"bulk\", or leave the class out";
        assert_eq!(warned("idle-class", &[]).as_deref(), Some(expected));
        let trims = "queue.web.trim={ size = \"64 bytes\", queue = \"cut\" }";
        let one = warned("idle-class", &[trims]).unwrap_or_default();
        assert!(
            one.starts_with("no flow enters the class \"bulk\", so that queue.bulk changes nothing: "),
            "{one}"
        );
        assert_eq!(warned("idle-class", &[trims, "flow.one.queue=bulk"]), None);
    }

    #[test]
    fn a_default_that_every_flow_replaces_is_named_with_a_remedy() {
        let expected = "every flow has its own transport, so that flows.transport changes nothing: write flow.NAME.transport of the \
                        flows that are meant, or leave the default out";
        assert_eq!(warned("idle-default", &[]).as_deref(), Some(expected));
        let mss = warned("idle-default", &["flows.transport.mss=1000"]).unwrap_or_default();
        assert!(mss.starts_with("every flow has its own transport.congestion, "), "{mss}");
        assert_eq!(warned("idle-default", &["flow.one.transport={ kind = \"tcp\" }"]), None);
    }
}
