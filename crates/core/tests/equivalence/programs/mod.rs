//! Published schemes written once more as programs: they give the same bytes as the schemes themselves, on random networks
//! and on both engines; so do congestion controls. `PUSHOUT_EQUIVALENCE=10000` tries a tenth of that many instead of a few.

mod schemes;

use pushout_core::audit::audit;
use pushout_core::engine::{self, LossRecord};
use pushout_core::report::report;
use pushout_core::scenario::model::{EngineKind, Scenario};
use pushout_core::serde_json::{Value as Json, json};
use pushout_core::verdict::Reason;

use crate::equivalence::random::schema::Draw;
use schemes::{Pair, SCHEMES, key_of, published};

/// For what reason a scheme loses units, if not only for want of room.
const OWN: [(&str, Reason); 5] = [
    ("epd", Reason::Early),
    ("red", Reason::Random),
    ("codel", Reason::Delay),
    ("pie", Reason::Random),
    ("longest-queue", Reason::PushedOut),
];

/// Return how many networks are tried for each scheme.
fn how_many() -> u64 {
    let asked = std::env::var("PUSHOUT_EQUIVALENCE").ok().and_then(|text| text.parse::<u64>().ok());
    asked.map_or(12, |asked| asked / 10)
}

/// Return the report and the losses of a run, without the engine's name, its work, and its description of the scenario.
fn run(scenario: &Scenario, engine: EngineKind) -> (Json, Vec<LossRecord>) {
    let scenario = Scenario { engine, ..scenario.clone() };
    let outcome = engine::run(&scenario, true);
    outcome.complete(&scenario).unwrap();
    let mut document = report(&scenario, &outcome, Some(&audit(&scenario, &outcome)));
    document["engine"] = Json::Null;
    (document, outcome.losses)
}

/// Admission policies beside a scheduler or push-out; CoDel discards units that a scheduler has chosen.
const BESIDE: [&str; 3] = ["ppd", "codel", "tail-drop"];

/// The network with this policy at every port that can lose something, under a key of ports, `beside` as admission policy
/// where it is none itself; nothing if it cannot be.
fn with(document: &Json, key: &str, policy: &Json, beside: &str) -> Result<Scenario, String> {
    let mut document = document.clone();
    let ports = document["port"].as_object_mut().unwrap();
    for port in ports.values_mut() {
        let port = port.as_object_mut().unwrap();
        let others: &[&str] = match key {
            "admission" => &["discipline", "pushout"],
            "pushout" => &["discipline"],
            _ => &["discipline", "pushout", "credit"], // a queue without credit keeps its place in the list of a program
        };
        others.iter().for_each(|other| _ = port.remove(*other));
        port.insert("admission".to_string(), json!({ "policy": beside }));
        if key == "pushout" {
            port.insert("scheduler".to_string(), json!({ "policy": "round-robin" }));
            port.get_mut("buffer").map(shorten);
        }
        port.insert(key.to_string(), policy.clone());
    }
    crate::equivalence::random::load(&document)
}

/// Make a buffer smaller, so that it is often full.
fn shorten(buffer: &mut Json) {
    let Some((number, unit)) = buffer.as_str().and_then(|text| text.split_once(' ')) else { return };
    if let Ok(size) = number.parse::<u64>() {
        *buffer = format!("{} {unit}", size.div_ceil(4)).into();
    }
}

#[test]
fn a_published_scheme_as_a_program_gives_the_same_bytes_on_both_engines() {
    let mut lossy = 0;
    for (number, (name, pair)) in (0..).zip(SCHEMES) {
        let (mut compared, mut reasons) = (0, Vec::new());
        let own = OWN.iter().find(|(of, _)| *of == name);
        // a scheme that seldom acts gets more networks, until it has
        for seed in 0..10 * how_many() {
            let has_acted = own.is_none_or(|(_, reason)| reasons.contains(reason));
            if seed >= how_many() && has_acted {
                break;
            }
            let (document, _) = crate::equivalence::random::scenario(number * 1_000_000 + seed);
            let Pair { native, program } = pair(&mut Draw::new(seed));
            let (key, beside) = (key_of(name), BESIDE[seed as usize % BESIDE.len()]);
            let Ok(scheme) = with(&document, key, &native, beside) else { continue };
            let program =
                with(&document, key, &program, beside).unwrap_or_else(|why| panic!("{name}: {why}"));
            let expected = run(&scheme, EngineKind::Reference);
            for engine in [EngineKind::Reference, EngineKind::Fast] {
                assert_eq!(run(&program, engine), expected, "{name}, seed {seed}, {engine:?}\n{document:#}");
            }
            compared += 1;
            lossy += u64::from(!expected.1.is_empty());
            reasons.extend(expected.1.iter().map(|loss| loss.reason));
        }
        assert!(own.is_none_or(|(_, reason)| reasons.contains(reason)), "{name} loses nothing by itself");
        assert!(compared * 3 >= how_many(), "{name}: only {compared} networks");
    }
    assert!(lossy * 10 >= how_many() * SCHEMES.len() as u64, "only {lossy} runs lose anything");
}

/// The network with this control at every TCP sender, which opens the window by ACKs, and with `marks` a policy that marks at every
/// port; nothing if it has no such sender, or no such ports.
fn controlled(document: &Json, control: &Json, marks: bool) -> Option<Scenario> {
    let mut document = document.clone();
    let mut count = 0;
    for flow in document["flow"].as_array_mut().unwrap() {
        let Some(transport) = flow["transport"].as_object_mut().filter(|keys| keys["kind"] == "tcp") else {
            continue;
        };
        for key in ["byte_counting", "extra_increase", "halve_inflation", "l4s"] {
            transport.insert(key.to_string(), false.into());
        }
        transport.insert("feedback".to_string(), "rfc3168".into());
        if marks {
            transport.insert("ecn".to_string(), true.into());
        }
        transport.insert("congestion".to_string(), control.clone());
        count += 1;
    }
    if count == 0 {
        return None;
    }
    let marking = json!({ "policy": "step", "threshold": "20 %" });
    match marks {
        true => with(&document, "admission", &marking, "tail-drop").ok(),
        false => Some(crate::equivalence::random::load(&document).unwrap()),
    }
}

#[test]
fn a_control_as_a_program_gives_the_same_bytes_as_that_of_the_simulator_on_both_engines() {
    for (number, name) in (0..).zip(["new-reno", "dctcp"]) {
        let program = published(name, &json!({}));
        let (mut compared, mut lossy, mut marked) = (0, 0, 0);
        for seed in 0..3 * how_many() {
            let (document, _) = crate::equivalence::random::scenario(50_000_000 + number * 1_000_000 + seed);
            let Some(native) = controlled(&document, &json!(name), name == "dctcp") else { continue };
            let mine = controlled(&document, &program, name == "dctcp").expect("the flows are the same");
            let expected = run(&native, EngineKind::Reference);
            for engine in [EngineKind::Reference, EngineKind::Fast] {
                assert_eq!(run(&mine, engine), expected, "{name}, seed {seed}, {engine:?}\n{document:#}");
            }
            compared += 1;
            lossy += u64::from(!expected.1.is_empty());
            let flows = expected.0["flows"].as_array().unwrap();
            marked += u64::from(
                flows.iter().any(|flow| flow["mark_reactions"].as_u64().is_some_and(|count| count > 0)),
            );
        }
        assert!(
            compared >= how_many() && 3 * lossy >= compared,
            "{name}: {compared} networks, {lossy} with losses"
        );
        assert!(name != "dctcp" || marked > 0, "no sender of DCTCP has met a mark");
    }
}
