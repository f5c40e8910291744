//! Beginnings of frames as switches see them after a loss: whole runs, equal on both engines.

use pushout_core::api::{self, Request};
use pushout_core::serde_json::{Value as Json, json};

/// Four hosts on one switch with a slow line to the next, and a slower one from there.
const NETWORK: &str = r#"
name = "frames"
duration = "2 s"

[topology]
template = "dumbbell"
sources = 4
access = { rate = "155.52 Mb/s", delay = "5 us" }
bottleneck = { rate = "20 Mb/s", delay = "5 us" }
egress = { rate = "4 Mb/s", delay = "5 us" }

[port.default]
buffer = "40 cells"
admission = { policy = "epd", threshold = "20 cells" }

[flows]
transport = { kind = "udp" }
source = { kind = "poisson", rate = "6 Mb/s", size = "700 bytes" }
"#;

/// Return a report that is equal on both engines.
fn run(sets: &[&str]) -> Json {
    let sets: Vec<String> = sets.iter().map(|set| set.to_string()).collect();
    let [reference, fast] = ["reference", "fast"].map(|engine| {
        let request = Request {
            text: NETWORK,
            name: "frames.toml",
            sets: &sets,
            engine: Some(engine),
            audit: true,
            ..Request::default()
        };
        let document = api::run(&request, || 0.0).unwrap_or_else(|why| panic!("{why}"));
        assert_eq!(document["audit"]["failures"], json!([]));
        json!([document["flows"], document["ports"]])
    });
    assert_eq!(reference, fast);
    fast
}

fn port<'a>(document: &'a Json, name: &str) -> &'a Json {
    let ports = document[1].as_array().expect("ports");
    ports.iter().find(|port| port["name"] == name).expect("such a port")
}

fn count(port: &Json, key: &str) -> u64 {
    port[key].as_u64().unwrap_or_else(|| panic!("{key} of {port}"))
}

const POLICED: &str = "flows.police={ kind = 'random', probability = 0.3, action = 'drop' }";

#[test]
fn a_frame_whose_first_cell_was_policed_away_is_judged_at_the_next_one() {
    let closed = run(&[POLICED, "port.bottleneck.admission.threshold='0 cells'"]);
    let bottleneck = port(&closed, "bottleneck");
    assert!(count(bottleneck, "units_in") > 10_000);
    assert_eq!(count(bottleneck, "units_out"), 0, "every frame is refused, with or without its first cell");
}

#[test]
fn two_switches_in_a_row_agree_in_both_engines_on_where_frames_begin() {
    for upstream in ["tail-drop", "ppd", "epd", "drop-from-front"] {
        for downstream in ["epd", "ppd", "fba", "dfba", "dt-epd", "wfepd", "atm-red"] {
            let document = run(&[
                &format!("port.bottleneck.admission={{ policy = '{upstream}' }}"),
                &format!("port.default.admission={{ policy = '{downstream}' }}"),
            ]);
            assert!(port(&document, "bottleneck")["units_out"].as_u64() > Some(1000), "{upstream}");
        }
    }
}
