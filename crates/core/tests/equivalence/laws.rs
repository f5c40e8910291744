//! Lines whose rate changes: random laws, on the lines of random networks.

use std::fmt::Write;

use pushout_core::engine;
use pushout_core::link::law::Law;
use pushout_core::rng::Stream;
use pushout_core::scenario::load;
use pushout_core::scenario::model::{EngineKind, Scenario};
use pushout_core::serde_json::{Value as Json, json};
use pushout_core::units::Span;

use super::generator::{circuits, fabrics, lists, scenario, together};
use super::{differences_of, how_many, run, seeds};

/// A law whose rate changes several times in `micros` microseconds, or in most of the packets of a slow one.
pub(crate) fn law(draw: &mut Stream, micros: u64) -> Json {
    let rate = |draw: &mut Stream| format!("{} kb/s", 1_000 << draw.up_to(7));
    let stop = |draw: &mut Stream| if draw.chance(0.3) { "0 b/s".to_string() } else { rate(draw) };
    let last = (micros / 4).max(10);
    match draw.up_to(5) {
        0 => {
            let steps = (0..1 + draw.up_to(6)).map(|step| {
                let rate = if step == 0 { rate(draw) } else { stop(draw) };
                json!([format!("{} ns", step * (1 + draw.up_to(last) / 8) * 1_000 + step), rate])
            });
            let mut steps: Vec<Json> = steps.collect();
            steps.sort_by_key(|step| {
                step[0].as_str().and_then(|time| time.split(' ').next()?.parse::<u64>().ok())
            });
            steps.dedup_by(|one, other| one[0] == other[0]);
            let mut law = json!({ "steps": steps });
            if draw.chance(0.5) {
                law["period"] = format!("{} us", last + draw.up_to(99) + 1).into();
            } else {
                let end = law["steps"].as_array().map_or(0, Vec::len) - 1;
                law["steps"][end][1] = rate(draw).into();
            }
            law
        }
        1 => {
            let mut text = "# seconds, bits per second\n0, 8000000\n".to_string();
            let mut time = 0;
            for _ in 0..draw.up_to(9) {
                time += 1 + draw.up_to(last / 4);
                let _ = writeln!(text, "{time} us; {}", stop(draw));
            }
            json!({ "trace": "rates.csv", "data": text, "period": format!("{} us", time + 1 + draw.up_to(50)) })
        }
        2 | 3 => {
            let (mut text, mut time) = (String::new(), 0);
            for _ in 0..1 + draw.up_to(12) {
                let _ = writeln!(text, "{time}");
                time += draw.up_to(2);
            }
            let _ = writeln!(text, "{}", time.max(1));
            let mut law = json!({ "trace": "cell.trace", "data": text });
            if draw.chance(0.5) {
                law["period"] = if draw.chance(0.5) {
                    json!("as-read")
                } else {
                    json!(format!("{} us", time.max(1) * 1000 + draw.up_to(3)))
                };
            }
            law
        }
        4 => {
            let every = 1 + draw.up_to(last.min(4_000));
            json!({ "grants": { "every": format!("{every} us"), "size": format!("{} bytes", 40 + draw.up_to(9_000)) } })
        }
        _ => {
            let changes = |draw: &mut Stream| format!("{} per s", 1 + 8_000_000 / last / (1 + draw.up_to(9)));
            json!({ "states": { "good": rate(draw), "bad": stop(draw), "to_bad": changes(draw), "to_good": changes(draw) } })
        }
    }
}

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

/// Have the rates of some lines change.
fn change(draw: &mut Stream, scenario: &mut Scenario) -> String {
    let (duration, mut said) = (scenario.duration, String::new());
    let share = if draw.chance(0.5) { 0.2 } else { 0.7 };
    for line in scenario.lines.iter_mut() {
        if draw.chance(share) {
            let keys = law(draw, duration.0 / 1_000_000);
            let _ = writeln!(said, "{}: {keys}", line.name);
            line.rate = read(&keys, duration);
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
