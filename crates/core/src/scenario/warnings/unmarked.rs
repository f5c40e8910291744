//! Senders of L4S behind ports that never mark.

use crate::language::spec::Field;
use crate::scenario::model::{Flow, Line, Scenario};
use crate::scenario::warning::Warning;
use crate::transport::ecn::Ecn;
use crate::transport::tcp::congestion::Spec;
use crate::transport::{self, Transport};

/// Warn of senders with Prague whose packets no port marks: they fill each buffer like Reno, with half of their window for each loss.
pub(super) fn prague(scenario: &Scenario) -> Option<Warning> {
    let is_unmarked = |flow: &&Flow| {
        let transport::Spec::Tcp(params) = &*flow.transport else { return false };
        let ports = || scenario.vcs[flow.vc].routes().flatten().map(|line| &scenario.lines[*line]);
        params.congestion == Spec::Prague && params.ect().has(Ecn::L4S) && !ports().any(may_mark)
    };
    let mut flows = scenario.flows.iter().filter(is_unmarked);
    let first = &flows.next()?.name;
    let others = match flows.count() {
        0 => String::new(),
        1 => " (1 other flow likewise)".to_string(),
        others => format!(" ({others} other flows likewise)"),
    };
    let message = format!(
        "no port on the way of the flow {first:?} marks packets, and congestion = \"prague\" reacts to marks: it fills the buffers and \
         halves at losses{others}; give a port discipline = \"dualpi2\", or an admission policy with action = \"mark\""
    );
    Some(Warning { code: "prague-unmarked", message })
}

/// Return whether the policy of a port may mark packets; a program may.
fn may_mark(line: &Line) -> bool {
    let policy = line.port.admission.write();
    policy["action"] == "mark" || policy["policy"] == "program"
}

#[cfg(test)]
mod tests {
    use crate::scenario::checked;

    const TEXT: &str = r#"
        name = "unmarked"
        duration = "1 s"
        adaptation = { kind = "packet" }
        [topology]
        template = "dumbbell"
        sources = 2
        access = { rate = "100 Mb/s", delay = "1 ms" }
        bottleneck = { rate = "10 Mb/s", delay = "1 ms" }
        egress = { rate = "100 Mb/s", delay = "1 ms" }
        [port.bottleneck]
        buffer = "100 kB"
        [flows]
        transport = { kind = "tcp", congestion = "prague" }
        source = { kind = "greedy" }
    "#;

    fn warned(sets: &[&str]) -> Vec<String> {
        let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
        let warnings = checked(TEXT, "unmarked.toml", &sets).unwrap().warnings();
        warnings.into_iter().filter(|it| it.code == "prague-unmarked").map(|it| it.message).collect()
    }

    #[test]
    fn prague_is_warned_of_where_no_port_marks() {
        let messages = warned(&[]);
        assert!(
            messages[0].contains("the flow \"flow1\"") && messages[0].contains("(1 other flow likewise)"),
            "{messages:?}"
        );
        for sets in [
            "port.bottleneck.admission={ policy = \"step\", threshold = \"30 kB\" }",
            "port.bottleneck.admission={ policy = \"red\", action = \"mark\" }",
            "port.bottleneck.discipline=dualpi2",
            "flows.transport.congestion=bbr",
        ] {
            assert_eq!(warned(&[sets]), Vec::<String>::new(), "{sets}");
        }
        assert_eq!(warned(&["port.bottleneck.admission={ policy = \"red\" }"]).len(), 1);
    }
}
