//! Grants on the way back: acknowledgements that wait for their turn leave in groups.

use std::collections::BTreeMap;

use pushout_core::engine::{Stopwatch, reference};
use pushout_core::network::circuit::Circuit;
use pushout_core::report::report;
use pushout_core::scenario::load;
use pushout_core::trace::{Tracer, What};
use pushout_core::unit::Unit;
use pushout_core::units::ids::{CircuitId, IdVec, LineId};
use pushout_core::units::{Span, Time};

use crate::behaviour::both::entry;

/// A download over a line of 10 Mb/s, whose acknowledgements wait for a turn every 10 ms.
const DOWNLOAD: &str = r#"
    name = "turns"
    duration = "2 s"
    adaptation = { kind = "packet" }
    node = [{ name = "a", kind = "host" }, { name = "r", kind = "router" }, { name = "b", kind = "host" }]
    [[link]]
    name = "in"
    from = "a"
    to = "r"
    rate = "1 Gb/s"
    delay = "1 ms"
    [[link]]
    name = "air"
    from = "r"
    to = "b"
    rate = "10 Mb/s"
    back.rate.grants = { every = "10 ms", size = "4 kB" }
    delay = "1 ms"
    [[flow]]
    name = "f"
    from = "a"
    to = "b"
    source = { kind = "greedy" }
    transport = { kind = "tcp", congestion = "new-reno", mss = 1460 }
"#;

/// The packets that leave a port at each instant.
struct Departures(LineId, BTreeMap<Time, u64>);

impl Tracer for Departures {
    fn see(&mut self, now: Time, line: LineId, _: &Unit, what: What, _: &IdVec<CircuitId, Circuit>) {
        if line == self.0 && what == What::Leaves {
            *self.1.entry(now).or_default() += 1;
        }
    }
}

#[test]
fn acknowledgements_leave_together_in_their_turns_and_the_line_stays_full() {
    let scenario = load(DOWNLOAD, "turns.toml", &[]).unwrap();
    let back = scenario.lines.position(|line| line.name == "air.back").unwrap();
    let tracer = Departures(back, BTreeMap::new());
    let (outcome, Departures(_, turns)) =
        reference::run_traced(&scenario, false, tracer, &mut Stopwatch::default());
    assert!(turns.keys().all(|time| time.0.is_multiple_of(Span::millis(10).0)), "{turns:?}");
    // 8.3 packets arrive in 10 ms, and at least each second one is acknowledged
    let full = turns.values().filter(|packets| **packets >= 4).count();
    assert!(full > 150, "{turns:?}");
    let document = report(&scenario, &outcome, None);
    let goodput = entry(&document, "flows", "f")["goodput_bps"].as_f64().unwrap();
    assert!(goodput > 0.9 * 10e6 * 1460.0 / 1500.0, "{goodput}");
}
