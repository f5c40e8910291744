//! Pauses from outside, and watchdogs that end them.

use crate::behaviour::both::{entry, run_on_both as run};
use pushout_core::scenario::load;
use pushout_core::serde_json::{Value as Json, json};

/// 10 Gb/s of packets of 1250 octets through a port of 20 Gb/s, which outside pauses from 1 to 2 ms.
const STORM: &str = r#"
    name = "storm"
    duration = "4 ms"
    adaptation = { kind = "packet" }
    node = [{ name = "a0", kind = "host" }, { name = "r", kind = "router" }, { name = "b", kind = "host" }]
    [[link]]
    name = "in0"
    from = "a0"
    to = "r"
    rate = "100 Gb/s"
    delay = "0 s"
    [[link]]
    name = "out"
    from = "r"
    to = "b"
    rate = "20 Gb/s"
    delay = "0 s"
    [port.out]
    memory = "chip"
    [memory.chip]
    size = "64 MB"
    cell = "1250 bytes"
    pool.lossless = { side = "ingress" }
    [queue.rdma]
    pool = "lossless"
    pause = { xoff = "1 MB", xon = "2 kB" }
    [queue.rest]
    pool = "lossless"
    [[flow]]
    name = "f0"
    from = "a0"
    to = "b"
    source = { kind = "cbr", rate = "10 Gb/s", size = "1222 bytes" }
    transport = { kind = "udp" }
    [[storm]]
    port = "out"
    queue = "rdma"
    from = "1 ms"
    to = "2 ms"
"#;

fn port(document: &Json) -> &Json {
    entry(document, "ports", "out")
}

#[test]
fn from_one_instant_to_the_other_nothing_leaves_and_then_the_queue_drains() {
    let document = run(STORM, &[]);
    // 1000 packets arrive in a millisecond, and before the first of them one may still be sent
    let most = port(&document)["occupancy_max"].as_u64().unwrap();
    assert!((1000..=1001).contains(&most), "{most}");
    assert_eq!(port(&document)["paused_s"], 0.001);
    let still = port(&run(STORM, &["duration=2 ms"]))["units_out"].as_u64().unwrap();
    assert_eq!(still, port(&run(STORM, &["duration=1.001 ms"]))["units_out"].as_u64().unwrap());
    assert_eq!((&port(&document)["lost"], &port(&document)["units_queued"]), (&json!({}), &json!(0)));
}

/// A storm over all classes, and one over another class than that of the flow.
#[test]
fn a_storm_stops_the_classes_that_it_names() {
    let of = |queue: &str| run(STORM, &[&format!("storm=[{{port='out', {queue} from='1 ms', to='2 ms'}}]")]);
    assert_eq!(port(&of(""))["occupancy_max"], port(&run(STORM, &[]))["occupancy_max"]);
    let other = of("queue='rest',");
    assert_eq!((&port(&other)["occupancy_max"], &port(&other)["paused_s"]), (&1.into(), &0.0.into()));
}

#[test]
fn storms_that_overlap_last_until_the_last_one_ends() {
    let two = "storm=[{port='out', from='1 ms', to='2 ms'}, {port='out', queue='rdma', from='1.5 ms', to='2.5 ms'}]";
    let document = run(STORM, &[two]);
    assert_eq!(port(&document)["paused_s"], 0.0015);
    let most = port(&document)["occupancy_max"].as_u64().unwrap();
    assert!((1500..=1501).contains(&most), "{most}");
}

#[test]
fn a_host_can_be_stormed_and_its_sender_waits() {
    let host = "storm=[{port='in0', from='1 ms', to='2 ms'}]";
    let document = run(STORM, &[host]);
    assert_eq!(entry(&document, "ports", "in0")["paused_s"], 0.001);
    let most = entry(&document, "ports", "in0")["occupancy_max"].as_u64().unwrap() / 1250; // it counts octets
    assert!((1000..=1001).contains(&most), "{most}");
}

#[test]
fn a_class_in_a_storm_pauses_the_line_before_it_when_it_has_no_more_room() {
    let full = ["memory.chip.size=1 MB", "queue.rdma.pause.xoff=400 kB"];
    let document = run(STORM, &full);
    assert_eq!(port(&document)["lost"], json!({}));
    let paused = entry(&document, "ports", "in0")["paused_s"].as_f64().unwrap();
    // 600 kB of shared room last for 0.48 ms of the storm of 1 ms, then the host waits until they have drained
    assert!((0.5e-3..1.0e-3).contains(&paused), "{paused}");
}

const WATCHDOG: &str = "port.out.watchdog={detect='200 us', restore='400 us'";

#[test]
fn the_watchdog_drops_what_waits_and_what_arrives_until_the_class_was_free_for_the_restoration_time() {
    let document = run(STORM, &[&format!("{WATCHDOG}}}")]);
    let out = port(&document);
    // detected at 1.2 ms, restored at 2.4 ms: a packet arrives each microsecond
    let lost = out["lost"]["watchdog"].as_u64().unwrap();
    assert!((1399..=1401).contains(&lost), "{lost}");
    let most = out["occupancy_max"].as_u64().unwrap();
    assert!((200..=201).contains(&most), "{most}");
    let given_up = out["units_given_up"].as_u64().unwrap();
    assert!((199..=201).contains(&given_up), "what waited at 1.2 ms: {given_up}");
    assert_eq!((&out["storms_detected"], &out["storms_restored"]), (&1.into(), &1.into()));
    assert_eq!(out["lost"], json!({ "watchdog": lost }));
    assert_eq!(out.get("lossless_drop"), None, "these losses are intended");
}

#[test]
fn the_watchdog_can_send_on_whatever_pause_frames_say() {
    let document = run(STORM, &[&format!("{WATCHDOG}, action='forward'}}")]);
    let out = port(&document);
    assert_eq!((&out["lost"], &out["storms_detected"]), (&json!({}), &json!(1)));
    let most = out["occupancy_max"].as_u64().unwrap();
    assert!((200..=201).contains(&most), "it sends again from 1.2 ms on: {most}");
    assert_eq!(out["paused_s"], 0.001, "the frames said so for all of the storm");
}

#[test]
fn a_storm_of_exactly_the_detection_time_is_none() {
    let sets = [format!("{WATCHDOG}}}"), "storm=[{port='out', from='1 ms', to='1.2 ms'}]".to_string()];
    let document = run(STORM, &[&sets[0], &sets[1]]);
    assert_eq!(port(&document)["storms_detected"], 0);
    let longer = "storm=[{port='out', from='1 ms', to='1.2 ms'}, {port='out', from='1.2 ms', to='1.3 ms'}]";
    assert_eq!(port(&run(STORM, &[&sets[0], longer]))["storms_detected"], 1, "without a break it is one");
}

#[test]
fn a_watchdog_that_never_acts_changes_nothing_else() {
    let plain = run(STORM, &[]);
    let mut watched = run(STORM, &["port.out.watchdog={detect='1 s', restore='1 s'}"]);
    let ports = watched["ports"].as_array_mut().unwrap();
    let out = ports.iter_mut().find(|port| port["name"] == "out").unwrap().as_object_mut().unwrap();
    assert_eq!(
        (out.remove("storms_detected"), out.remove("storms_restored")),
        (Some(0.into()), Some(0.into()))
    );
    assert_eq!(plain, watched);
}

/// The first line of the refusal of an override.
fn refused(sets: &[&str]) -> String {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    load(STORM, "x.toml", &sets).unwrap_err().message.lines().next().unwrap().to_string()
}

#[test]
fn storms_that_make_no_sense_are_refused_with_the_remedy() {
    let cases = [
        (
            "port='out', from='2 ms', to='1 ms'",
            "must be later than 2 ms, when the storm begins, not \"1 ms\"",
        ),
        ("port='out', from='1 ms', to='1 ms'", "must be later than 1 ms"),
        ("port='out', from='5 ms', to='6 ms'", "must be before the end of the run, at 4 ms"),
        ("port='oud', from='1 ms', to='2 ms'", "unknown port \"oud\"; did you mean \"out\"?"),
        (
            "port='out', queue='rdna', from='1 ms', to='2 ms'",
            "unknown queue \"rdna\"; did you mean \"rdma\"?",
        ),
        ("port='out', from='1 ms'", "the key \"to\" is missing"),
    ];
    for (storm, why) in cases {
        let told = refused(&[&format!("storm=[{{{storm}}}]")]);
        assert!(told.contains("storm[0]") && told.contains(why), "{storm}: {told}");
    }
    let table = refused(&["storm={port='out', from='1 ms', to='2 ms'}"]);
    assert!(table.contains("must be a list") && table.contains("write [[storm]]"), "{table}");
}

#[test]
fn watchdogs_that_make_no_sense_are_refused_with_the_remedy() {
    let alone = refused(&[&format!("{WATCHDOG}}}"), "storm=[{port='in0', from='1 ms', to='2 ms'}]"]);
    assert!(
        alone.contains("port.out.watchdog") && alone.contains("never acts, since nothing pauses the port"),
        "{alone}"
    );
    let zero = refused(&["port.out.watchdog={detect='0 s', restore='1 ms'}"]);
    assert!(zero.contains("port.out.watchdog.detect") && zero.contains("must be longer than 0 s"), "{zero}");
    let zero = refused(&["port.out.watchdog={detect='1 ms', restore='0 s'}"]);
    assert!(zero.contains("port.out.watchdog.restore"), "{zero}");
}

#[test]
fn a_watchdog_of_a_class_of_ports_stands_only_where_something_pauses_and_is_explained_so() {
    let sets =
        ["port.default={memory='chip', watchdog={detect='200 us', restore='400 us'}}", "port.out=null"];
    let sets: Vec<String> = sets[..1].iter().map(ToString::to_string).collect();
    let text = STORM.replace("[port.out]", "[port.default]");
    let scenario = load(&text, "x.toml", &sets).unwrap();
    let has = |name: &str| {
        let line = scenario.lines.iter().find(|line| line.name == name).unwrap();
        line.port.gates.watchdog.is_some()
    };
    assert_eq!(["out", "in0.back"].map(has), [true, false]);
    let explained = pushout_core::scenario::explain(&scenario).to_string();
    assert_eq!(load(&explained, "", &[]).unwrap(), scenario, "and it is read back");
    let other = "port.out.scheduler={policy='drr'}".to_string();
    assert!(
        load(&text, "x.toml", &[sets[0].clone(), other]).is_ok(),
        "an override gives a port a section of its own"
    );
}

#[test]
fn a_storm_of_a_cell_line_is_refused() {
    let text = "name = 'c'\nduration = '1 ms'\n[topology]\ntemplate = 'dumbbell'\nsources = 1\n\
                access = { rate = '10 Mb/s', delay = '1 us' }\nbottleneck = { rate = '10 Mb/s', delay = '1 us' }\n\
                egress = { rate = '10 Mb/s', delay = '1 us' }\n[flows]\nsource = { kind = 'greedy' }\n\
                transport = { kind = 'tcp' }\n[[storm]]\nport = 'bottleneck'\nfrom = '0 s'\nto = '1 us'\n";
    let told = load(text, "x.toml", &[]).unwrap_err().message;
    assert!(told.contains("must be a port of packets: \"bottleneck\" sends cells"), "{told}");
    let queue = text.replace("from = '0 s'", "queue = 'x'\nfrom = '0 s'");
    let told = load(&queue, "x.toml", &[]).unwrap_err().message;
    assert!(told.contains("must be left out without sections [queue.NAME]"), "{told}");
}
