//! Lines whose rate changes: random laws, on the lines of random networks.

use std::fmt::Write;

use pushout_core::engine;
use pushout_core::link::law::Law;
use pushout_core::rng::Stream;
use pushout_core::scenario::load;
use pushout_core::scenario::model::{EngineKind, Scenario};
use pushout_core::serde_json::{Value as Json, json};
use pushout_core::units::Span;

use crate::textbook::lines::law;

use super::generator::{circuits, fabrics, lists, scenario, together};
use super::{differences_of, how_many, run, seeds};

/// The law of these keys on a line of a run of this duration.
fn read(keys: &Json, duration: Span) -> Law {
    let text = json!({
        "name": "law", "duration": "1000 s", "adaptation": { "kind": "packet" },
        "node": [{ "name": "a", "kind": "host" }, { "name": "b", "kind": "host" }],
        "link": [{ "from": "a", "to": "b", "rate": keys, "delay": "0 s" }],
        "flow": [{ "name": "f", "from": "a", "to": "b", "source": { "kind": "cbr", "rate": "1 kb/s", "size": "99 bytes" }, "transport": { "kind": "udp" } }],
    });
    let scenario = load(&text.to_string(), "law.json", &[]).unwrap_or_else(|why| panic!("{why}\n{keys}"));
    let mut law = scenario.lines.iter().next().unwrap().rate.clone();
    law.settle(duration);
    law
}

/// Have the rates of some lines change, but not by opportunities: the reference engine runs these.
fn change(draw: &mut Stream, scenario: &mut Scenario) -> String {
    let (duration, mut said) = (scenario.duration, String::new());
    let share = if draw.chance(0.5) { 0.2 } else { 0.7 };
    for line in scenario.lines.iter_mut() {
        if !draw.chance(share) {
            continue;
        }
        let keys = law(draw, duration.0 / 1_000_000);
        let rate = read(&keys, duration);
        if !rate.sends_at_once() {
            let _ = writeln!(said, "{}: {keys}", line.name);
            line.rate = rate;
        }
    }
    said
}

#[test]
fn both_engines_agree_where_the_rates_of_lines_change() {
    let (mut compared, mut fast, mut lossy) = (0, 0, 0);
    for seed in seeds(1) {
        let draw = &mut Stream::new(seed, "laws");
        let text = [scenario, together, circuits, fabrics, lists][draw.up_to(4) as usize](seed);
        let Ok(mut checked) = load(&text, "laws.toml", &[]) else { continue };
        if text.contains("mcr") {
            continue; // a changing line may be too slow for what it promises
        }
        let pauses = checked.memories.iter().flat_map(|memory| &memory.queues);
        if pauses.filter(|queue| queue.limits.pause.is_some()).count() > 0
            || checked.lines.iter().any(|line| line.port.gates.credit.is_some())
        {
            continue; // a check of scenarios refuses these
        }
        let said = change(draw, &mut checked);
        let found = differences_of(seed, &checked);
        assert!(found.is_empty(), "seed {seed}:\n{}\n{said}{text}", found.join("\n"));
        compared += 1;
        fast += u64::from(!said.is_empty() && engine::chosen(&checked).0 == EngineKind::Fast);
        lossy += u64::from(!run(&checked, EngineKind::Fast, true).1.is_empty());
    }
    let count = how_many();
    assert!(compared * 3 >= count, "only {compared} of {count} texts are scenarios");
    assert!(fast * 4 >= compared, "the fast engine runs only {fast} of {compared}");
    assert!(lossy * 4 >= compared, "only {lossy} of {compared} runs lose anything");
}
