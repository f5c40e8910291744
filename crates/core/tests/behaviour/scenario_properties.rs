//! Properties of every scenario, and of every text that is not a scenario.

use proptest::prelude::*;
use pushout_core::scenario::{Refusal, RequestPart, explain, load, schema};

const LAN: &str = r#"name = "lan"
duration = "40 s"
[topology]
template = "dumbbell"
sources = 3
access = [{ rate = "10 Mb/s", delay = "1 us" }, { rate = "9 Mb/s", delay = "2 us" }, { rate = "8 Mb/s", delay = "0 s" }]
bottleneck = { rate = "149.76 Mb/s", delay = "100 us" }
egress = { rate = "2 Mb/s", delay = "100 us", back = { rate = "200 kb/s" } }
[adaptation]
kind = "aal5"
[port.bottleneck]
buffer = "8192 cells"
admission = { policy = "epd", threshold = "90 %" }
[flows]
source = { kind = "greedy" }
transport = { kind = "tcp", mss = 1460 }
[[flow]]
name = "flow2"
weight = 2.5
"#;

/// The rates of the links `access1`, `access2`, …, in Mb/s.
fn access_rates(scenario: &str) -> Vec<u64> {
    let loaded = load(scenario, "lan", &[]).expect("the scenario is correct");
    let access = loaded.lines.iter().filter(|line| line.name.strip_prefix("access").is_some_and(is_number));
    access.map(|line| line.rate.fixed().0 / 1_000_000).collect()
}

fn is_number(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

#[test]
fn a_list_of_links_repeats_over_the_sources() {
    let six = LAN.replace("sources = 3", "sources = 6");
    assert_eq!(access_rates(&six), [10, 9, 8, 10, 9, 8]);
    assert_eq!(access_rates(LAN), [10, 9, 8]);
    let seven = LAN.replace("sources = 3", "sources = 7");
    assert!(load(&seven, "lan", &[]).is_err(), "three links do not repeat evenly over seven sources");
}

/// Texts that resemble words of a scenario.
fn fragment() -> impl Strategy<Value = String> {
    let words = [
        "",
        "\"",
        "[",
        "]",
        "{",
        "}",
        "=",
        ".",
        ",",
        "\n",
        "-",
        "[[",
        "]]",
        "0",
        "65536",
        "\"0 s\"",
        "\"1 cell\"",
        "\"100 %\"",
        "\"1 packets\"",
        "\"1 b/s\"",
        "name",
        "[flows]",
        "[[flow]]",
        "[[link]]",
        "[[node]]",
        "kind",
        "packet",
        "via = [\"left\"]\n",
        "\u{0}",
        "ü",
        "inf",
        "null",
        "true",
        "'",
        "#",
        "\"unlimited\"",
        "9999999999999999999",
    ];
    prop_oneof![proptest::sample::select(words.to_vec()).prop_map(str::to_string), "\\PC{0,6}"]
}

/// The example with some places replaced.
fn mutated() -> impl Strategy<Value = String> {
    let edit = (any::<proptest::sample::Index>(), 0usize..12, fragment());
    proptest::collection::vec(edit, 1..5).prop_map(|edits| {
        edits.into_iter().fold(LAN.to_string(), |text, (at, cut, insert)| {
            let chars: Vec<char> = text.chars().collect();
            let start = at.index(chars.len() + 1);
            let end = (start + cut).min(chars.len());
            chars[..start].iter().copied().chain(insert.chars()).chain(chars[end..].iter().copied()).collect()
        })
    })
}

/// Check that loading returns; a refusal is a message that starts with a place, on a first line with a reason.
fn answers(text: &str, name: &str, sets: &[String]) -> Result<(), TestCaseError> {
    let Err(Refusal { message, part, .. }) = load(text, name, sets) else { return Ok(()) };
    let first = message.lines().next().unwrap_or_default();
    let located = match part {
        Some(RequestPart::Set(index)) => {
            first.starts_with(sets[index].chars().take(1).collect::<String>().as_str())
        }
        _ => first.starts_with(&format!("{name}:")),
    };
    prop_assert!(located && first.len() > name.len() + 10, "{message}");
    prop_assert!(message.lines().count() <= 3, "{message}");
    Ok(())
}

proptest! {
    #[test]
    fn noise_is_refused_with_a_message(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let text = String::from_utf8_lossy(&bytes);
        answers(&text, "noise.toml", &[])?;
        answers(&text, "noise.json", &[])?;
    }

    #[test]
    fn a_spoilt_scenario_loads_or_is_refused_with_a_message(text in mutated()) {
        answers(&text, "spoilt.toml", &[])?;
    }

    #[test]
    fn an_override_takes_effect_or_is_refused_with_a_message(key in "[a-z.\"]{0,12}", value in fragment()) {
        for key in [&key, "port.bottleneck.buffer", "flow.flow2.weight", "link.access1.delay", "duration"] {
            answers(LAN, "lan.toml", &[format!("{key}={value}")])?;
        }
    }
}

/// A quantity of each kind that ports, links and flows can have.
fn port() -> impl Strategy<Value = String> {
    let policy = prop_oneof![
        Just("{ policy = \"tail-drop\" }".to_string()),
        any::<bool>().prop_map(|keep| format!("{{ policy = \"ppd\", pass_eom = {keep} }}")),
        (0.0..100.0).prop_map(|share| format!("{{ policy = \"epd\", threshold = \"{share} %\" }}")),
    ];
    (1u64..1_000_000, policy).prop_map(|(size, policy)| {
        let size = size * 1500;
        format!("buffer = \"{size} bytes\"\nadmission = {policy}\n")
    })
}

fn wire() -> impl Strategy<Value = String> {
    let back = proptest::option::of(1u64..1_000_000_000);
    (1u64..1_000_000_000_000, 0u64..1_000_000_000_000, back).prop_map(|(rate, delay, back)| {
        let back = back.map_or(String::new(), |rate| format!(", back = {{ rate = \"{rate} b/s\" }}"));
        format!("{{ rate = \"{rate} b/s\", delay = \"{delay} ps\"{back} }}")
    })
}

fn ends() -> impl Strategy<Value = String> {
    prop_oneof![
        (1u32..1460, 0u64..9).prop_map(|(mss, start)| format!(
            "source = {{ kind = \"file\", size = \"5 MB\" }}\ntransport = {{ kind = \"tcp\", mss = {mss} }}\nstart = \"{start} ms\"\n"
        )),
        (1u64..1_000_000, 1u64..1400).prop_map(|(rate, size)| format!(
            "source = {{ kind = \"poisson\", rate = \"{rate} b/s\", size = \"{size} bytes\" }}\ntransport = {{ kind = \"udp\" }}\n"
        )),
    ]
}

/// A dumbbell with a detour of its own beside the template.
fn scenario() -> impl Strategy<Value = String> {
    let network = (1usize..5, proptest::collection::vec(wire(), 3), port(), proptest::option::of(port()));
    let traffic = (ends(), 0.001f64..1000.0, any::<bool>(), any::<bool>());
    (network, traffic, any::<u32>()).prop_map(|((sources, wires, port, default), (ends, weight, packet, detour), seed)| {
        let kind = if packet { "kind = \"packet\"\nheader = \"20 bytes\"" } else { "kind = \"aal5\"\nllc_snap = true" };
        let default = default.map_or(String::new(), |port| format!("[port.default]\n{port}"));
        let relay = if packet { "router" } else { "switch" };
        let hop = |from: &str, to: &str, duplex: bool| {
            format!("[[link]]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"5 Mb/s\"\ndelay = \"1 ms\"\nduplex = {duplex}\n")
        };
        let detour = match detour {
            true => format!(
                "[[node]]\nname = \"m\"\nkind = \"{relay}\"\nlatency = \"4 us\"\n{}{}[[flow]]\nname = \"flow1\"\nvia = [\"m\"]\n",
                hop("left", "m", true),
                hop("m", "right", false),
            ),
            false => String::new(),
        };
        format!(
            "name = \"random\"\ntitle = \"ü \\\"x\\\"\"\nseed = {seed}\nduration = \"1 s\"\nwarmup = \"3 ms\"\n\
            [topology]\ntemplate = \"dumbbell\"\nsources = {sources}\naccess = {}\nbottleneck = {}\negress = {}\n\
            [adaptation]\n{kind}\n[port.bottleneck]\n{port}{default}[flows]\nweight = {weight}\n{ends}{detour}",
            wires[0], wires[1], wires[2],
        )
    })
}

proptest! {
    #[test]
    fn the_canonical_form_is_a_scenario_and_says_the_same(text in scenario()) {
        let first = load(&text, "random.toml", &[]).map_err(|why| TestCaseError::fail(why.message))?;
        let canonical = explain(&first);
        let second = load(&canonical.to_string(), "random.json", &[]).map_err(|why| TestCaseError::fail(why.message))?;
        prop_assert_eq!(&first, &second);
        prop_assert_eq!(canonical, explain(&second));
    }
}

#[test]
fn the_canonical_form_leaves_nothing_to_templates_and_defaults() {
    let canonical = explain(&load(LAN, "lan.toml", &[]).unwrap());
    assert!(canonical.get("topology").is_none() && canonical.get("flows").is_none());
    let count = |key: &str| canonical[key].as_array().map_or(0, Vec::len);
    assert_eq!((count("node"), count("link"), count("flow")), (8, 7, 3));
    assert_eq!(canonical["port"].as_object().unwrap().len(), 14);
    assert_eq!(canonical["link"][4]["back"]["rate"], "200 kb/s");
    assert_eq!(canonical["flow"][1]["weight"], 2.5);
    assert_eq!(canonical["flow"][1]["via"], serde_json::json!(["left", "right"]));
    assert_eq!(canonical["flow"][0]["transport"]["mss"], 1460);
}

#[test]
fn every_key_of_the_canonical_form_can_be_overridden() {
    let sets = [
        "link.access2.delay=7 us",
        "node.left.latency=1 us",
        "flow.0.start=2 s",
        "port.egress2.buffer=99 cells",
    ];
    let scenario = load(LAN, "lan.toml", &sets.map(str::to_string)).unwrap();
    let canonical = explain(&scenario);
    assert_eq!(canonical["link"][1]["delay"], "7 us");
    assert_eq!(canonical["node"][3]["latency"], "1 us");
    assert_eq!(canonical["flow"][0]["start"], "2 s");
    assert_eq!(canonical["port"]["egress2"]["buffer"], "99 cells");
}

#[test]
fn the_schema_describes_every_section_with_its_keys() {
    let schema = schema();
    let properties = schema["properties"].as_object().unwrap();
    let canonical = explain(&load(LAN, "lan.toml", &[]).unwrap());
    for (section, value) in canonical.as_object().unwrap() {
        let described = &properties[section];
        assert!(!described["description"].as_str().unwrap_or_default().is_empty(), "{section}");
        let (keys, entry) = match value {
            serde_json::Value::Array(entries) => {
                (described["items"]["properties"].as_object(), entries[0].as_object())
            }
            _ => continue,
        };
        for key in entry.unwrap().keys() {
            assert!(keys.unwrap().contains_key(key), "{section}.{key}");
        }
    }
    assert_eq!(schema["required"], serde_json::json!(["name", "duration"]));
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(schema["properties"]["seed"]["default"], 1);
}
