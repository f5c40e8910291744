//! # Source
//! None: a policy for tests of the port, which no published scheme could drive as far.
//!
//! # Idea
//! Take whatever fits, and do what else a policy may do: mark units that arrive, and mark or lose units that have waited
//! too long when their turn comes. Only what reacts to marks is marked.
//!
//! # Parameters
//! `mark_from`: occupancy from which arriving units are marked. `mark_after` and `lose_after`: how long a unit may wait
//! before it is marked, or lost, at the head of its queue. By default nothing of this happens.
//!
//! # Differences from the paper
//! There is no paper.
//!
//! # Complexity
//! Constant, no state.

use super::{Admission, Arrival, Context, Head, Properties, Shortcuts};
use crate::buffer::size::Level;
use crate::refused::Refused;
use crate::section;
use crate::units::Span;
use crate::verdict::{HeadVerdict, Reason, Verdict};

section! {
    /// Mark and lose units as a test requests.
    pub struct Params {
        /// Occupancy from which arriving units are marked.
        pub mark_from: Option<Level> = None,
        /// Wait after which a unit is marked when it is sent.
        pub mark_after: Option<Span> = None,
        /// Wait after which a unit is lost instead of being sent.
        pub lose_after: Option<Span> = None,
    }
}

/// The policy at one port.
#[derive(Clone, Debug)]
pub struct Policy {
    mark_from: Option<u64>,
    mark_after: Option<Span>,
    lose_after: Option<Span>,
}

impl Policy {
    /// Build the policy of one port; the error says why its level cannot be used.
    pub fn new(params: &Params, context: &Context<'_>) -> Result<Policy, Refused> {
        let Params { mark_from, mark_after, lose_after } = *params;
        let mark_from = mark_from.map(|level| context.level("mark_from", level)).transpose()?;
        Ok(Policy { mark_from, mark_after, lose_after })
    }
}

impl Admission for Policy {
    fn judge(&mut self, arrival: &mut Arrival<'_>) -> Verdict {
        let high = self.mark_from.is_some_and(|level| arrival.pool.total() >= level);
        match arrival.fits() {
            true if high && arrival.unit.is_ect() => Verdict::Mark(Reason::Early),
            true => Verdict::Accept,
            false => Verdict::Discard(Reason::Overflow),
        }
    }

    fn at_head(&mut self, head: &Head<'_>) -> HeadVerdict {
        let arrived = head.arrived.expect("the port keeps arrival times");
        let waited = head.now.since(arrived);
        if self.lose_after.is_some_and(|limit| waited > limit) {
            HeadVerdict::Discard(Reason::Front)
        } else if head.unit.is_ect() && self.mark_after.is_some_and(|limit| waited > limit) {
            HeadVerdict::Mark(Reason::Random)
        } else {
            HeadVerdict::Send
        }
    }

    fn properties(&self) -> Properties {
        Properties { arrival_times: true, splits_frames: true, ..Properties::default() }
    }
}

impl Shortcuts for Policy {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::audit;
    use crate::buffer::admission;
    use crate::buffer::pushout;
    use crate::engine;
    use crate::language::read::{Format, read};
    use crate::language::spec::read_section;
    use crate::link::port::bench::Bench;
    use crate::report::report;
    use crate::scenario::load;
    use crate::scenario::model::{EngineKind, Scenario};
    use crate::serde_json::{Value as Json, json};

    fn probe(text: &str) -> admission::Spec {
        admission::Spec::Probe(read_section(&read(text, Format::Toml).unwrap(), "port").unwrap())
    }

    #[test]
    fn a_port_counts_marks_by_reason_and_keeps_what_is_marked() {
        let mut bench = Bench::with(4, &[0], probe("mark_from = '2 cells'"), None);
        assert_eq!(bench.offer(0, "p----q"), "AAAAoo");
        assert_eq!(bench.marked(Reason::Early), 2);
        assert_eq!(bench.outcome(), " / f...");
    }

    #[test]
    fn a_unit_counts_as_marked_only_if_push_out_makes_room_for_it() {
        let whole = read_section(&read("fallback = 'refuse'", Format::Toml).unwrap(), "port").unwrap();
        let pushout = pushout::Spec::Pushout2(whole);
        let mut bench = Bench::with(4, &[0, 0], probe("mark_from = '4 cells'"), Some(pushout));
        assert_eq!(bench.offer(0, "fe"), "AA");
        assert_eq!(bench.offer(1, "p-"), "AA");
        assert_eq!(bench.offer(1, "-"), "A", "the frame of circuit 0 goes");
        assert_eq!((bench.pushed_out().as_str(), bench.marked(Reason::Early)), ("0:fe", 1));
        assert_eq!(bench.offer(1, "."), "A");
        assert_eq!(bench.offer(0, "1"), "o", "nothing entire can go");
        assert_eq!(bench.marked(Reason::Early), 1);
    }

    #[test]
    fn a_unit_is_marked_or_lost_at_the_head_of_its_queue_by_the_time_that_it_waited() {
        let probe = probe("mark_after = '1 us'\nlose_after = '2 us'");
        let mut bench = Bench::with(9, &[0, 0], probe, None);
        bench.offer(0, "2");
        bench.wait(Span::micros(1));
        bench.offer(0, "2");
        bench.offer(1, "2");
        bench.wait(Span(1_000_001));
        assert_eq!(bench.start(), "11", "the oldest cell of circuit 0 is lost, and round robin goes on");
        assert_eq!(bench.marked(Reason::Random), 1);
        assert_eq!(bench.outcome(), " / 1,");
    }

    /// The report of one engine, and its losses.
    fn run(text: &str, engine: EngineKind) -> (Json, Vec<engine::LossRecord>) {
        let scenario = Scenario { engine, ..load(text, "probe.toml", &[]).unwrap() };
        let outcome = engine::run(&scenario, true);
        let mut document = report(&scenario, &outcome, Some(&audit(&scenario, &outcome)));
        assert_eq!(document["audit"]["failures"], json!([]));
        document["engine"] = Json::Null;
        (document, outcome.losses)
    }

    #[test]
    fn both_engines_mark_and_lose_the_same_units() {
        let (mut marked_early, mut marked_late, mut lost) = (0, 0, 0);
        for (adaptation, buffer, scheduler) in [
            ("aal5", "300 cells", "fifo"),
            ("aal5", "300 cells", "round-robin"),
            ("packet", "20 packets", "fifo"),
            ("packet", "20000 bytes", "round-robin"),
        ] {
            let text = SCENARIO
                .replace("ADAPTATION", adaptation)
                .replace("BUFFER", buffer)
                .replace("SCHEDULER", scheduler);
            let (fast, reference) = (run(&text, EngineKind::Fast), run(&text, EngineKind::Reference));
            assert_eq!(fast, reference, "{text}");
            let ports = fast.0["ports"].as_array().unwrap();
            let port = ports.iter().find(|port| port["name"] == "bottleneck").unwrap();
            let count = |table: &str, reason: &str| port[table][reason].as_u64().unwrap_or(0);
            marked_early += count("marked", "early");
            marked_late += count("marked", "random");
            lost += count("lost", "front");
        }
        assert!(marked_early > 100, "{marked_early} marks on arrival");
        assert!(marked_late > 100 && lost > 10, "{marked_late} marks and {lost} losses at the head");
    }

    const SCENARIO: &str = "name = 'probe'
        duration = '2 s'
        warmup = '100 ms'
        [topology]
        template = 'dumbbell'
        sources = 3
        access = { rate = '10 Mb/s', delay = '1 ms' }
        bottleneck = { rate = '10 Mb/s', delay = '2 ms' }
        egress = { rate = '10 Mb/s', delay = '1 ms' }
        [adaptation]
        kind = 'ADAPTATION'
        [port.bottleneck]
        buffer = 'BUFFER'
        scheduler = { policy = 'SCHEDULER' }
        admission = { policy = 'probe', mark_from = '60 %', mark_after = '6 ms', lose_after = '9 ms' }
        [flows]
        source = { kind = 'greedy' }
        transport = { kind = 'tcp', ecn = true, min_rto = '100 ms', slow_timer = '10 ms' }";
}
