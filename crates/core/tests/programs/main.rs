//! Published schemes written once more as programs: they give the same bytes as the schemes themselves, on random networks
//! and on both engines. `PUSHOUT_EQUIVALENCE=10000` tries a tenth of that many instead of a few.

#![allow(clippy::unwrap_used)] // here a panic is the report

#[allow(dead_code)] // the audit uses all of it
#[path = "../random/mod.rs"]
mod random;

mod schemes;

use pushout_core::audit::audit;
use pushout_core::buffer::verdict::Reason;
use pushout_core::engine::{self, LossRecord};
use pushout_core::report::report;
use pushout_core::scenario::model::{Engine, Scenario};
use pushout_core::serde_json::Value as Json;

use random::schema::Draw;
use schemes::{Pair, SCHEMES};

/// For what reason a scheme loses units, if not only for want of room.
const OWN: [(&str, Reason); 4] =
    [("epd", Reason::Early), ("red", Reason::Random), ("codel", Reason::Delay), ("pie", Reason::Random)];

/// How many networks are tried for each scheme.
fn how_many() -> u64 {
    let asked = std::env::var("PUSHOUT_EQUIVALENCE").ok().and_then(|text| text.parse::<u64>().ok());
    asked.map_or(12, |asked| asked / 10)
}

/// What a run leaves behind, but for the engine's name, its work, and what it says of the scenario.
fn run(scenario: &Scenario, engine: Engine) -> (Json, Vec<LossRecord>) {
    let scenario = Scenario { engine, ..scenario.clone() };
    let outcome = engine::run(&scenario, true);
    outcome.complete(&scenario).unwrap();
    let mut document = report(&scenario, &outcome, Some(&audit(&scenario, &outcome)));
    document["engine"] = Json::Null;
    (document, outcome.losses)
}

/// The network with this admission policy at every port that can lose something; nothing if it cannot be.
fn with(document: &Json, admission: &Json) -> Result<Scenario, String> {
    let mut document = document.clone();
    let ports = document["port"].as_object_mut().unwrap();
    for port in ports.values_mut() {
        let port = port.as_object_mut().unwrap();
        ["discipline", "pushout"].iter().for_each(|key| _ = port.remove(*key));
        port.insert("admission".to_string(), admission.clone());
    }
    random::load(&document)
}

#[test]
fn a_published_scheme_as_a_program_gives_the_same_bytes_on_both_engines() {
    let mut lossy = 0;
    for (number, (name, pair)) in (0..).zip(SCHEMES) {
        let (mut compared, mut reasons) = (0, Vec::new());
        for seed in 0..how_many() {
            let (document, _) = random::scenario(number * 1_000_000 + seed);
            let Pair { native, program } = pair(&mut Draw::new(seed));
            let Ok(scheme) = with(&document, &native) else { continue };
            let program = with(&document, &program).unwrap_or_else(|why| panic!("{name}: {why}"));
            let expected = run(&scheme, Engine::Reference);
            for engine in [Engine::Reference, Engine::Fast] {
                assert_eq!(run(&program, engine), expected, "{name}, seed {seed}, {engine:?}\n{document:#}");
            }
            compared += 1;
            lossy += u64::from(!expected.1.is_empty());
            reasons.extend(expected.1.iter().map(|loss| loss.reason));
        }
        let own = OWN.iter().find(|(of, _)| *of == name);
        assert!(own.is_none_or(|(_, reason)| reasons.contains(reason)), "{name} loses nothing by itself");
        assert!(compared * 3 >= how_many(), "{name}: only {compared} networks");
    }
    assert!(lossy * 10 >= how_many() * SCHEMES.len() as u64, "only {lossy} runs lose anything");
}
