//! Lines whose delay changes, and links that repeat packets.

use crate::behaviour::both::{entry, run_on_both as run};
use pushout_core::scenario::{explain, load};
use pushout_core::serde_json::Value as Json;

/// A packet of 1250 octets each 1.25 ms over a line of 10 Mb/s, which takes a millisecond for it, and 20 ms of delay.
const LINE: &str = r#"
    name = "delays"
    duration = "1 s"
    adaptation = { kind = "packet" }
    node = [{ name = "a", kind = "host" }, { name = "r", kind = "router" }, { name = "b", kind = "host" }]
    link = [
        { name = "in", from = "a", to = "r", rate = "1 Gb/s", delay = "0 s" },
        { name = "out", from = "r", to = "b", rate = "10 Mb/s", delay = "20 ms" },
    ]
    [[flow]]
    name = "f"
    from = "a"
    to = "b"
    source = { kind = "cbr", rate = "8 Mb/s", size = "1222 bytes" }
    transport = { kind = "udp" }
    [measure]
    delivery = true
"#;

const GREEDY: [&str; 3] = [
    "duration=10 s",
    "flow.f.source={ kind = 'greedy' }",
    "flow.f.transport={ kind = 'tcp', congestion = 'new-reno' }",
];

fn delivery(document: &Json, key: &str) -> f64 {
    entry(document, "flows", "f")[key].as_f64().unwrap()
}

#[test]
fn a_packet_has_the_delay_of_the_instant_at_which_it_leaves() {
    let longer = "link.out.delay={ steps = [['0 s', '20 ms'], ['500 ms', '60 ms']] }";
    let document = run(LINE, &[longer]);
    assert!((delivery(&document, "delivery_time_min_s") - 0.021_01).abs() < 1e-9);
    assert!((delivery(&document, "delivery_time_max_s") - 0.061_01).abs() < 1e-9);
    // 400 packets leave by then, and 352 arrive of those that leave later: the first 940 ms of the run
    let mean = (400.0 * 0.021_01 + 352.0 * 0.061_01) / 752.0;
    assert!((delivery(&document, "delivery_time_mean_s") - mean).abs() < 1e-4, "{document}");
}

#[test]
fn when_the_delay_shrinks_packets_wait_for_those_before_them() {
    let document = run(LINE, &["link.out.delay={ steps = [['0 s', '100 ms'], ['500 ms', '20 ms']] }"]);
    assert!(
        (delivery(&document, "delivery_time_max_s") - 0.101_01).abs() < 1e-9,
        "none waits longer than the first delay"
    );
    // it left at about 500 ms and arrives at 600 ms, with those of the 80 ms behind it: 64 packets, which take 61 ms on average
    let mean = |from: f64, to: f64| (from + to) / 2.0;
    let all = 400.0 * 0.101_01 + 64.0 * mean(0.021_01, 0.101_01) + 320.0 * 0.021_01;
    assert!((delivery(&document, "delivery_time_mean_s") - all / 784.0).abs() < 5e-4, "{document}");
}

#[test]
fn a_step_longer_than_the_timer_makes_a_sender_repeat_what_is_under_way() {
    let steps = "link.out.delay={ steps = [['0 s', '20 ms'], ['2 s', '3 s']] }";
    let timeouts = |sets: &[&str]| {
        let document = run(LINE, &[&GREEDY, sets].concat());
        let lost = &entry(&document, "ports", "out")["lost"];
        assert!(lost.as_object().unwrap().is_empty(), "{lost}");
        entry(&document, "flows", "f")["timeouts"].as_u64().unwrap()
    };
    assert_eq!(timeouts(&[]), 0);
    assert!(timeouts(&[steps]) >= 1);
}

#[test]
fn a_packet_that_is_repeated_holds_up_those_behind_it() {
    let document =
        run(LINE, &["link.out.repeat={ share = '10 %', delay = '8 ms', most = 3 }", "duration=20 s"]);
    let repeats = entry(&document, "ports", "out")["repeats"].as_u64().unwrap();
    // 16000 packets, of which each is repeated 0.1 + 0.01 + 0.001 times
    assert!((repeats as f64 / 16_000.0 - 0.111).abs() < 0.008, "{repeats}");
    let most = delivery(&document, "delivery_time_max_s");
    assert!(most > 0.037 && most < 0.021_02 + 3.0 * 0.008, "{most}");
    // a repeated packet holds up those that leave in the 8 ms behind it, so more than a tenth are late
    assert!(delivery(&document, "delivery_time_mean_s") > 0.021_01 + 0.111 * 0.008 * 2.0);
    assert_eq!(
        entry(&document, "ports", "out.back").get("repeats"),
        Some(&0.into()),
        "as the link, the other way"
    );
    let forth = "link.out={ name='out', from='r', to='b', rate='10 Mb/s', delay='20 ms', repeat={share='10 %', delay='8 ms', most=3}, \
                 back={ repeat={share='0 %', delay='8 ms', most=3} } }";
    let only = run(LINE, &[forth]);
    assert_eq!(entry(&only, "ports", "out.back").get("repeats"), None);
}

#[test]
fn what_explain_writes_reads_back_as_the_same_lines() {
    let sets = [
        "link.out.delay={ steps = [['0 s', '20 ms'], ['500 ms', '60 ms']], period = '1 s' }",
        "link.out.repeat={ share = '10 %', delay = '8 ms', most = 3 }",
        "link.out.back={ delay = '7 ms', repeat = { share = '0 %', delay = '8 ms', most = 3 } }",
    ];
    let scenario = load(LINE, "x.toml", &sets.map(String::from)).unwrap();
    let again = load(&explain(&scenario).to_string(), "y.json", &[]).unwrap();
    assert_eq!(scenario.lines, again.lines);
    assert!(scenario.lines.iter().any(|line| line.repeat.is_some()));
}

#[test]
fn delays_and_repetitions_that_no_line_has_are_refused_with_the_remedy() {
    let told = |set: &str| load(LINE, "x.toml", &[set.to_string()]).unwrap_err().message;
    for (set, why) in [
        ("link.out.delay={ steps = [] }", "steps must have at least one time with its delay"),
        ("link.out.delay={ steps = [['1 s', '2 ms']] }", "step 1: the first time must be 0 s"),
        ("link.out.delay={ steps = [['0 s', '2 ms'], ['0 s', '3 ms']] }", "step 2: its time must be later"),
        ("link.out.delay={ steps = [['0 s', '7200 s']] }", "step 1: its delay must be at most an hour"),
        ("link.out.delay={ steps = [['0 s', '2 Mb/s']] }", "unknown unit \"Mb/s\" for a time"),
        (
            "link.out.delay={ steps = [['0 s', '2 ms']], period = '0 s' }",
            "period must be longer than the last time, 0 s",
        ),
        ("link.out.delay={ trace = 'a' }", "the key \"steps\" is missing"),
        ("link.out.delay='7200 s'", "must be at most an hour"),
        ("link.out.repeat={ share = '100 %', delay = '8 ms', most = 3 }", "share must be less than 100 %"),
        ("link.out.repeat={ share = '1 %', delay = '0 s', most = 3 }", "delay must be greater than 0 s"),
        ("link.out.repeat={ share = '1 %', delay = '8 ms', most = 0 }", "most must be from 1 to 1000"),
        ("link.out.repeat={ share = '1 %', delay = '8 ms' }", "most"),
    ] {
        assert!(told(set).contains(why), "{set}: {}", told(set));
    }
}

#[test]
fn a_link_of_cells_repeats_no_packets() {
    let lan = include_str!("../../../../scenarios/lan.toml");
    let set = "topology.bottleneck.repeat={ share = '1 %', delay = '8 ms', most = 3 }".to_string();
    let why = load(lan, "x.toml", &[set]).unwrap_err().message;
    assert!(why.contains("must be left out on a link of cells: it repeats packets"), "{why}");
}
