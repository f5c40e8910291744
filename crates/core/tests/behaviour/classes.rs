//! Schedulers with a queue for each class of traffic, which several flows share.

use crate::behaviour::both::{entry, run_on_both as run};
use pushout_core::rng::Stream;
use pushout_core::scenario::load;
use pushout_core::serde_json::{self, Value as Json};

/// Three flows of 100 Mb/s each before a line of 100 Mb/s: two of the class gold and one of the class bulk.
const THREE: &str = r#"
    name = "classes"
    duration = "200 ms"
    warmup = "20 ms"
    adaptation = { kind = "packet" }
    node = [
        { name = "a", kind = "host" }, { name = "b", kind = "host" }, { name = "c", kind = "host" },
        { name = "r", kind = "router" }, { name = "z", kind = "host" },
    ]
    link = [
        { from = "a", to = "r", rate = "1 Gb/s", delay = "1 us" },
        { from = "b", to = "r", rate = "1 Gb/s", delay = "2 us" },
        { from = "c", to = "r", rate = "1 Gb/s", delay = "3 us" },
        { name = "out", from = "r", to = "z", rate = "100 Mb/s", delay = "0 s" },
    ]
    queue = { gold = {}, bulk = {} }
    flow = [
        { name = "a", from = "a", to = "z", queue = "gold" }, { name = "b", from = "b", to = "z", queue = "gold" },
        { name = "c", from = "c", to = "z", queue = "bulk" },
    ]
    [port.out]
    buffer = "1000 packets"
    admission = { policy = "static-threshold", limit = "50 packets" }
    scheduler = { policy = "drr", queues = "class" }
    [flows]
    source = { kind = "cbr", rate = "100 Mb/s", size = "972 bytes" }
    transport = { kind = "udp" }
"#;

/// Return the shares of the line that the three flows get.
fn shares(sets: &[&str]) -> [f64; 3] {
    let report = run(THREE, sets);
    let packets = |name| entry(&report, "flows", name)["segments_received"].as_f64().unwrap();
    let all: f64 = ["a", "b", "c"].map(packets).iter().sum();
    ["a", "b", "c"].map(|name| packets(name) / all)
}

fn is_near(found: [f64; 3], expected: [f64; 3]) {
    let alike = found.iter().zip(expected).all(|(one, other)| (one - other).abs() < 0.01);
    assert!(alike, "{found:?} is not {expected:?}");
}

#[test]
fn classes_share_the_line_by_their_weights_and_flows_within_a_class_by_their_arrivals() {
    is_near(shares(&[]), [0.25, 0.25, 0.5]);
    is_near(shares(&["queue.gold.weight=3"]), [0.375, 0.375, 0.25]);
    is_near(shares(&["port.out.scheduler={policy='drr'}"]), [1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0]);
}

#[test]
fn the_class_with_the_lowest_priority_number_goes_first() {
    let strict = "port.out.scheduler={policy='strict-priority', queues='class'}";
    is_near(shares(&[strict, "queue.gold.priority=1"]), [0.0, 0.0, 1.0]);
    is_near(shares(&[strict, "queue.bulk.priority=1"]), [0.5, 0.5, 0.0]);
    is_near(
        shares(&[
            strict,
            "queue.bulk.priority=1",
            "flow.a.source.rate=20 Mb/s",
            "flow.b.source.rate=30 Mb/s",
        ]),
        [0.2, 0.3, 0.5],
    );
    is_near(shares(&[strict]), [0.25, 0.25, 0.5]);
}

#[test]
fn a_paused_class_holds_up_no_other_class_of_the_scheduler() {
    let storm = "storm=[{port='out', queue='gold', from='50 ms', to='150 ms'}]";
    let report = run(THREE, &[storm, "warmup=60 ms", "duration=140 ms"]);
    let received = |name: &str| entry(&report, "flows", name)["segments_received"].as_u64().unwrap();
    assert_eq!((received("a"), received("b")), (0, 0));
    assert_eq!(received("c"), 1000, "80 ms of packets of 80 us");
}

#[test]
fn push_out_still_needs_a_queue_for_each_circuit_and_weights_are_positive() {
    let refused = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
        load(THREE, "x.toml", &sets).unwrap_err().message
    };
    let pushout = ["port.out.admission={policy='tail-drop'}", "port.out.pushout={policy='longest-queue'}"];
    assert!(
        refused(&pushout).contains("with the scheduler drr the circuits of a class share one queue"),
        "{}",
        refused(&pushout)
    );
    assert!(refused(&["queue.gold.weight=0"]).contains("must be greater than 0 and finite"));
    let memory = refused(&["queue.gold.limit=5 cells"]);
    assert!(
        memory.contains(
            "no memory is given that flows could share: write [memory.NAME], or leave only what schedulers"
        ),
        "{memory}"
    );
}

#[test]
fn explain_writes_classes_that_are_read_back() {
    let scenario = load(THREE, "x.toml", &["queue.gold.weight=3".to_string()]).unwrap();
    let text = pushout_core::scenario::explain(&scenario).to_string();
    assert_eq!(load(&text, "", &[]).unwrap(), scenario);
    let found: Json = serde_json::from_str(&text).unwrap();
    assert_eq!(found["queue"]["gold"]["weight"], 3.0);
}

/// Four flows of UDP, of the classes control, bulk, web and mail, before a line of 100 Mb/s.
const SWITCH: &str = r#"
    name = "switch"
    duration = "120 ms"
    warmup = "40 ms"
    adaptation = { kind = "packet" }
    node = [
        { name = "a", kind = "host" }, { name = "b", kind = "host" }, { name = "c", kind = "host" },
        { name = "d", kind = "host" }, { name = "r", kind = "router" }, { name = "z", kind = "host" },
    ]
    link = [
        { from = "a", to = "r", rate = "1 Gb/s", delay = "1 us" }, { from = "b", to = "r", rate = "1 Gb/s", delay = "2 us" },
        { from = "c", to = "r", rate = "1 Gb/s", delay = "3 us" }, { from = "d", to = "r", rate = "1 Gb/s", delay = "4 us" },
        { name = "out", from = "r", to = "z", rate = "100 Mb/s", delay = "0 s" },
    ]
    queue = { control = {}, bulk = { weight = 5.0 }, web = { weight = 15.0 }, mail = { weight = 20.0 } }
    flow = [
        { name = "a", from = "a", to = "z", queue = "control" }, { name = "b", from = "b", to = "z", queue = "bulk" },
        { name = "c", from = "c", to = "z", queue = "web" }, { name = "d", from = "d", to = "z", queue = "mail" },
    ]
    [port.out]
    buffer = "4000 packets"
    admission = { policy = "static-threshold", limit = "100 packets" }
    scheduler = { policy = "strict-priority", queues = "class", group = { queues = ["bulk", "web", "mail"], quantum = "100 bytes" } }
    [flows]
    source = { kind = "cbr", rate = "50 Mb/s", size = "1472 bytes" }
    transport = { kind = "udp" }
"#;

/// Return the rates in Mb/s that the four flows get.
fn rates(sets: &[&str]) -> [f64; 4] {
    let report = run(SWITCH, sets);
    ["a", "b", "c", "d"].map(|name| {
        entry(&report, "flows", name)["segments_received"].as_f64().unwrap() * 1500.0 * 8.0 / 0.08 / 1e6
    })
}

/// What classes of these loads and weights get of a rate: the least load by its weight first, max-min.
fn shares_of(rate: f64, loads: [f64; 3], weights: [f64; 3]) -> [f64; 3] {
    let (mut got, mut open, mut rest) = ([0.0; 3], vec![0, 1, 2], rate);
    while !open.is_empty() {
        let all: f64 = open.iter().map(|&class| weights[class]).sum();
        let fits = open.iter().position(|&class: &usize| loads[class] <= rest * weights[class] / all);
        let Some(place) = fits else {
            open.iter().for_each(|&class| got[class] = rest * weights[class] / all);
            break;
        };
        let class = open.remove(place);
        got[class] = loads[class];
        rest -= loads[class];
    }
    got
}

#[test]
fn a_group_shares_what_strict_priority_leaves_by_5_15_20_under_200_random_loads() {
    let mut stream = Stream::new(1, "loads");
    let mut shared = 0;
    for _ in 0..200 {
        let loads = [(); 4].map(|()| 1 + stream.up_to(70));
        let sets = ["a", "b", "c", "d"].iter().zip(loads);
        let sets: Vec<String> =
            sets.map(|(flow, load)| format!("flow.{flow}.source.rate={load} Mb/s")).collect();
        let found = rates(&sets.iter().map(String::as_str).collect::<Vec<_>>());
        let [strict, others @ ..] = loads.map(|load| load as f64);
        let group = shares_of(100.0 - strict, others, [5.0, 15.0, 20.0]);
        let expected = [strict, group[0], group[1], group[2]];
        let alike = found.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1.0);
        assert!(alike, "{loads:?}: {found:?} is not {expected:?}");
        shared += u32::from(loads.iter().sum::<u64>() > 110);
    }
    assert!(shared > 60, "{shared}");
}

/// The rates of the flows where each offers twice what the line carries.
fn with(more: &[&str]) -> [f64; 4] {
    let full = ["a", "b", "c", "d"].map(|flow| format!("flow.{flow}.source.rate=200 Mb/s"));
    let sets: Vec<&str> = full.iter().map(String::as_str).chain(more.iter().copied()).collect();
    rates(&sets)
}

/// Check rates to a megabit per second.
#[track_caller]
fn near(found: [f64; 4], expected: [f64; 4]) {
    let is_near = found.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1.0);
    assert!(is_near, "{found:?}, not {expected:?}");
}

#[test]
fn a_minimum_goes_before_strict_priority_and_a_maximum_leaves_the_line_to_others() {
    near(with(&[]), [100.0, 0.0, 0.0, 0.0]);
    near(with(&["queue.bulk.minimum=20 Mb/s", "queue.mail.minimum=8 Mb/s"]), [72.0, 20.0, 0.0, 8.0]);
    near(with(&["queue.control.maximum=60 Mb/s"]), [60.0, 5.0, 15.0, 20.0]);
    near(with(&["queue.control.maximum=60 Mb/s", "queue.mail.maximum=10 Mb/s"]), [60.0, 7.5, 22.5, 10.0]);
    let all = ["control", "bulk", "web", "mail"].map(|class| format!("queue.{class}.maximum=10 Mb/s"));
    near(with(&all.iter().map(String::as_str).collect::<Vec<_>>()), [10.0; 4]);
}

#[test]
fn what_a_policer_lowers_waits_in_another_class_and_goes_on() {
    let loads = ["flow.a.source.rate=60 Mb/s", "flow.b.source.rate=1 Mb/s", "flow.c.source.rate=1 Mb/s"];
    let with = |more: &[&str]| {
        let police =
            "port.out.police={kind='gcra', cir='30 Mb/s', cbs='5 kB', by='circuit', red={class='mail'}}";
        rates(&[&loads[..], &["flow.d.source.rate=60 Mb/s", police], more].concat())
    };
    // 30 Mb/s of a are control; its rest shares the queue of mail, for 68 Mb/s, with 60 Mb/s of d
    let [a, b, c, d] = with(&[]);
    let part = 68.0 / 90.0;
    assert!((a - 30.0 - 30.0 * part).abs() < 2.0 && (d - 60.0 * part).abs() < 2.0, "{a} {d}");
    assert!((b - 1.0).abs() < 0.2 && (c - 1.0).abs() < 0.2, "{b} {c}");
    // a class without flows of its own, and a maximum for all that is in it; a limit for each circuit would count both classes of a
    let [a, .., d] = with(&[
        "queue.excess={priority=9, maximum='10 Mb/s'}",
        "port.out.police.red={class='excess'}",
        "port.out.admission={policy='tail-drop'}",
    ]);
    assert!((a - 35.0).abs() < 1.0 && (d - 35.0).abs() < 1.0, "{a} {d}");
}

#[test]
fn the_packets_of_a_lowered_flow_overtake_each_other_at_one_port_only() {
    let police = "port.out.police={kind='gcra', cir='10 Mb/s', cbs='5 kB', by='circuit', red={class='mail'}}";
    let report = run(SWITCH, &["flow.d.source.rate=100 Mb/s", "flow.a.source.rate=20 Mb/s", police]);
    let port = entry(&report, "ports", "out");
    assert!(port["policed_red"].as_u64().unwrap() > 50, "{port}");
    assert_eq!(port["lost"].get("policed"), None, "{}", port["lost"]);
}

#[test]
fn lower_classes_that_cannot_be_are_refused_with_their_key() {
    let refused = |sets: &[&str]| {
        let gcra = "port.out.police={kind='gcra', cir='30 Mb/s', cbs='5 kB', red={class='mail'}}";
        let sets: Vec<String> = [gcra].iter().chain(sets).map(ToString::to_string).collect();
        load(SWITCH, "x.toml", &sets).unwrap_err().message
    };
    for (sets, said) in [
        (&["port.out.police.red={class='male'}"][..], "unknown queue \"male\"; did you mean \"mail\"?"),
        (&["port.out.police.red=clas"], "unknown value \"clas\""),
        (&["port.out.police.red={klass='mail'}"], "did you mean \"class\", which is missing?"),
        (&["port.out.police.red=7"], "must be one of pass, mark, drop, or { class = \"NAME\" }, not 7"),
        (&["port.out.scheduler={policy='fifo'}"], "must stand beside a scheduler with queues = \"class\""),
        (
            &[
                "port.out.police.kind=srtcm",
                "port.out.police.ebs=5 kB",
                "port.out.police.yellow={class='web'}",
            ],
            "must name the class of yellow packets, \"web\"",
        ),
    ] {
        let message = refused(sets);
        assert!(message.contains(said), "{message}");
    }
    let memory = ["memory.chip.size=200 cells", "port.out.memory=chip", "port.out.buffer=unlimited"];
    assert!(refused(&memory[..1]).contains("no port shares this memory"), "the memory is read");
}

#[test]
fn a_credit_based_shaper_gives_a_class_its_idle_slope_and_spreads_its_packets() {
    near(with(&["queue.control.cbs={idle_slope='60 Mb/s'}"]), [60.0, 5.0, 15.0, 20.0]);
    let both = ["queue.control.cbs={idle_slope='30 Mb/s'}", "queue.mail.cbs={idle_slope='10 Mb/s'}"];
    near(with(&both), [30.0, 15.0, 45.0, 10.0]);
    near(with(&["queue.control.cbs={idle_slope='100 Mb/s'}"]), [100.0, 0.0, 0.0, 0.0]);
    let refused = |set: &str| load(SWITCH, "x.toml", &[set.to_string()]).unwrap_err().message;
    for (set, said) in [
        ("queue.bulk.cbs={idle_slope='0 b/s'}", "must be greater than 0"),
        (
            "queue.bulk.cbs={idle_slope='101 Mb/s'}",
            "must be at most the rate of each line that it shapes, also 100 Mb/s",
        ),
        (
            "port.out.cbs={idle_slope='9 Mb/s'}",
            "a credit-based shaper is of a class: write cbs in a section [queue.NAME]",
        ),
        ("port.out.taprio={}", "unknown key \"taprio\": it is called \"gates\" here, a calendar of windows"),
    ] {
        assert!(refused(set).contains(said), "{}", refused(set));
    }
    let sets =
        ["port.out.scheduler={policy='fifo'}", "queue.bulk.cbs={idle_slope='9 Mb/s'}"].map(String::from);
    assert!(load(SWITCH, "x.toml", &sets).unwrap_err().message.contains("is kept at no port"));
}

#[test]
fn a_program_serves_classes_by_their_numbers_and_reads_their_weights() {
    let full = ["a", "b", "c", "d"].map(|flow| format!("flow.{flow}.source.rate=200 Mb/s"));
    let with = |code: &str| {
        let program = format!("port.out.scheduler={{policy='program', queues='class', code={code}}}");
        let sets: Vec<&str> = full.iter().map(String::as_str).chain([program.as_str()]).collect();
        rates(&sets)
    };
    let last = with("['r0 = -1', 'r1 = next_backlogged r0', 'choose r1']");
    assert!((last[0] - 100.0).abs() < 1.0, "the first section is queue 0: {last:?}");
    // the heaviest of the classes that wait: mail, weight 20
    let heaviest = "['r0 = 3', 'choose r0']";
    let found = with(heaviest);
    assert!((found[3] - 100.0).abs() < 1.0, "{found:?}");
}

#[test]
fn groups_and_rates_of_classes_that_cannot_be_are_refused_with_their_key() {
    let refused = |set: &str| load(SWITCH, "x.toml", &[set.to_string()]).unwrap_err().message;
    let group = |queues: &str| refused(&format!("port.out.scheduler.group.queues={queues}"));
    for (message, said) in [
        (group("[]"), "must name at least one class; without a group leave the key group out"),
        (group("['bulk', 'wep']"), "unknown queue \"wep\"; did you mean \"web\"?"),
        (group("['bulk', 'web', 'bulk']"), "must name each class once, not \"bulk\" twice"),
        (refused("port.out.scheduler.queues=circuit"), "must stand beside queues = \"class\""),
        (refused("queue.bulk.weight=0"), "must be greater than 0 and finite"),
        (
            refused("queue.bulk.minimum=0 b/s"),
            "must be greater than 0, not \"0 b/s\"; for no limit leave the key out",
        ),
        (
            refused("queue.bulk.minimum=101 Mb/s"),
            "the minimum rates of classes add up to 101 Mb/s on a line of 100 Mb/s",
        ),
    ] {
        assert!(message.contains(said), "{message}");
    }
    let both = ["queue.bulk.minimum=9 Mb/s", "queue.bulk.maximum=8 Mb/s"].map(String::from);
    let message = load(SWITCH, "x.toml", &both).unwrap_err().message;
    assert!(message.contains("must be at most the maximum of the class, 8 Mb/s"), "{message}");
    for key in ["minimum", "maximum"] {
        let sets = ["port.out.scheduler={policy='fifo'}".to_string(), format!("queue.bulk.{key}=9 Mb/s")];
        let message = load(SWITCH, "x.toml", &sets).unwrap_err().message;
        assert!(message.contains("is kept at no port: give one"), "{message}");
    }
}
