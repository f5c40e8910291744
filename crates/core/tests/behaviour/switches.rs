//! Gates by calendar and policers of ports, in whole runs on both engines.

use crate::behaviour::both::{entry, run_on_both as run};
use pushout_core::scenario::load;
use pushout_core::serde_json::json;

/// Eight packets of 400 octets, which take 320 ns each, arrive at once before a port that opens for 640 ns every 98.76 us.
const WINDOWS: &str = r#"
    name = "windows"
    duration = "1 ms"
    adaptation = { kind = "packet" }
    node = [{ name = "a", kind = "host" }, { name = "r", kind = "router" }, { name = "b", kind = "host" }]
    link = [
        { from = "a", to = "r", rate = "100 Gb/s", delay = "0 s" },
        { name = "out", from = "r", to = "b", rate = "10 Gb/s", delay = "0 s" },
    ]
    queue = { one = {}, two = {} }
    [port.out]
    buffer = "100 packets"
    gates = { period = "98.76 us", windows = [["0 ns", "640 ns"]] }
    [[flow]]
    name = "f"
    from = "a"
    to = "b"
    start = "90 us"
    transport = { kind = "udp" }
    source = { kind = "on-off", peak = "100 Gb/s", burst = 8, total = 8, off = "1 s", size = "372 bytes", phase = "aligned", distribution = "periodic" }
"#;

#[test]
fn a_frame_that_does_not_end_before_its_gate_closes_waits_for_the_next_window() {
    let sent = |duration: &str, more: &[&str]| {
        let sets: Vec<String> = [format!("duration={duration}")]
            .into_iter()
            .chain(more.iter().map(ToString::to_string))
            .collect();
        let report = run(WINDOWS, &sets.iter().map(String::as_str).collect::<Vec<_>>());
        entry(&report, "ports", "out")["units_out"].as_u64().unwrap()
    };
    // the gate opens at 98.76 us, 197.52 us, 296.28 us and 395.04 us
    let cases = [
        ("98.76 us", 0),
        ("99.079 us", 0),
        ("99.081 us", 1),
        ("99.401 us", 2),
        ("197.5 us", 2),
        ("198.161 us", 4),
    ];
    for (duration, count) in cases {
        assert_eq!(sent(duration, &[]), count, "after {duration}");
    }
    assert_eq!((sent("395.679 us", &[]), sent("395.681 us", &[])), (7, 8), "two in each of four windows");
    let short = "port.out.gates.windows=[['0 ns', '639 ns']]";
    assert_eq!((sent("197.5 us", &[short]), sent("1 ms", &[short])), (1, 8));
    let open = "port.out.gates.guard=false";
    assert_eq!(sent("197.5 us", &[short, open]), 2, "the second begins in the window and ends behind it");
}

#[test]
fn classes_are_sent_in_their_windows_and_hold_up_no_other() {
    let two =
        r#"flow=[{name='f', from='a', to='b', queue='one'}, {name='g', from='a', to='b', queue='two'}]"#;
    let defaults =
        ["flows.transport={kind='udp'}", "flows.source={kind='cbr', rate='9 Gb/s', size='972 bytes'}"];
    let gates = "port.out.gates={period='100 us', windows=[['0 us', '25 us', ['one']], ['25 us', '100 us', ['two']]]}";
    let scheduler = "port.out.scheduler={policy='strict-priority', queues='class'}";
    let limit = "port.out.admission={policy='static-threshold', limit='50 packets'}";
    let report = run(
        WINDOWS,
        &[two, defaults[0], defaults[1], gates, scheduler, limit, "duration=10 ms", "warmup=1 ms"],
    );
    let share = |name: &str| {
        entry(&report, "flows", name)["segments_received"].as_f64().unwrap() * 1000.0 * 8.0 / 9e-3 / 10e9
    };
    assert!(
        (share("f") - 0.25).abs() < 0.01 && (share("g") - 0.75).abs() < 0.02,
        "{} {}",
        share("f"),
        share("g")
    );
}

#[test]
fn impossible_calendars_are_refused_with_their_key() {
    let refused = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
        load(WINDOWS, "x.toml", &sets).unwrap_err().message
    };
    for (set, said) in [
        (
            "port.out.gates.windows=[['0 us', '2 us'], ['1 us', '3 us']]",
            "must not overlap, but one ends at 2 us and the next begins at 1 us",
        ),
        (
            "port.out.gates.windows=[['0 us', '2 us', ['one', 'tow']]]",
            "unknown queue \"tow\"; did you mean \"two\"?",
        ),
        ("port.out.gates.windows=[['0 us', '2 us', ['two']]]", "have none for \"one\""),
        (
            "port.out.gates.windows=[['0 us', '300 ns', ['one']]]",
            "must have one of at least 320 ns for the class \"one\"",
        ),
        ("port.out.gates.windows=[['0 us']]", "must be a begin, an end and a list of classes"),
        ("port.out.shaper={rate='1 Gb/s', burst='9 kB'}", "must be left out beside a shaper"),
    ] {
        let message = refused(&[set]);
        assert!(message.contains(said), "{message}");
    }
}

#[test]
fn a_meter_colours_what_exceeds_its_rates_and_a_policy_behind_it_sees_the_colour() {
    // 100 Mb/s and a line of 10 Gb/s: 30 Mb/s green, 30 Mb/s yellow, the rest red
    let source = "flow.f.source={kind='cbr', rate='100 Mb/s', size='472 bytes'}";
    let meter = "kind='trtcm', cir='30 Mb/s', cbs='3 kB', pir='60 Mb/s', pbs='3 kB'";
    let counts = |more: &str, admission: &str| {
        let police = format!("port.out.police={{{meter}{more}}}");
        let admission = format!("port.out.admission={admission}");
        let sets = [
            source,
            &police,
            &admission,
            "port.out.gates.windows=[['0 us', '98.76 us']]",
            "duration=1 s",
            "warmup=100 ms",
        ];
        let report = run(WINDOWS, &sets);
        let port = entry(&report, "ports", "out").clone();
        let share = |key: &str| port[key].as_f64().unwrap() * 4000.0 / 0.9 / 1e6;
        ([share("policed_green"), share("policed_yellow"), share("policed_red")], port["lost"].clone())
    };
    let (found, lost) = counts("", "{policy='tail-drop'}");
    assert!(
        found.iter().zip([30.0, 30.0, 40.0]).all(|(one, other): (&f64, f64)| (one - other).abs() < 0.1),
        "{found:?}"
    );
    let policed = lost["policed"].as_f64().unwrap() * 4000.0 / 0.9 / 1e6;
    assert!((policed - 40.0).abs() < 0.1 && lost.as_object().unwrap().len() == 1, "{lost}");
    let (_, lost) =
        counts(", red='mark'", "{policy='red', weight=1.0, red={min_threshold='0 %', max_threshold='0 %'}}");
    let random = lost["random"].as_f64().unwrap() * 4000.0 / 0.9 / 1e6;
    assert!((random - 40.0).abs() < 0.1, "RED loses every red packet, and no other: {lost}");
    let (_, lost) = counts(", yellow='drop', red='pass'", "{policy='tail-drop'}");
    assert!((lost["policed"].as_f64().unwrap() * 4000.0 / 0.9 / 1e6 - 30.0).abs() < 0.1, "{lost}");
    let (_, lost) = counts(", yellow='pass', red='pass'", "{policy='tail-drop'}");
    assert_eq!(lost, json!({}));
}

#[test]
fn a_full_bucket_lets_its_burst_pass_at_the_start() {
    // a committed burst of 1024 packets of 100 octets, and 100 packets a second in 30 s, of 200 a second
    let sets = [
        "duration=30 s",
        "port.out.gates.windows=[['0 us', '98.76 us']]",
        "flow.f.start=0 s",
        "flow.f.source={kind='cbr', rate='160 kb/s', size='72 bytes'}",
        "port.out.police={kind='gcra', cir='80 kb/s', cbs='102400 bytes'}",
    ];
    let report = run(WINDOWS, &sets);
    let passed = entry(&report, "ports", "out")["policed_green"].as_i64().unwrap();
    assert!((passed - 4024).abs() <= 1, "{passed}");
    let own = "port.out.police={kind='gcra', cir='80 kb/s', cbs='102400 bytes', by='circuit'}";
    assert_eq!(
        run(WINDOWS, &[sets[0], sets[1], sets[2], sets[3], own])["ports"],
        report["ports"],
        "there is one circuit"
    );
}

#[test]
fn impossible_policers_are_refused_with_their_key() {
    let refused = |police: &str| {
        load(WINDOWS, "x.toml", &[format!("port.out.police={{{police}}}")]).unwrap_err().message
    };
    for (police, said) in [
        (
            "kind='trtcm', cir='3 Mb/s', cbs='9 kB', pir='2 Mb/s', pbs='9 kB'",
            "port.out.police.cir must be at most pir, which is 2 Mb/s, not \"3 Mb/s\"",
        ),
        ("kind='trtcm', cir='3 Mb/s', cbs='9 kB'", "must be given for the meter trtcm"),
        (
            "kind='gcra', cir='3 Mb/s', cbs='399 bytes'",
            "must be at least 400 bytes, the largest packet on this line",
        ),
        ("kind='gcra', cir='3 Mb/s', cbs='3 packets'", "must be octets or a time"),
        ("kind='trtc', cir='3 Mb/s', cbs='9 kB'", "did you mean \"trtcm\"?"),
    ] {
        let message = refused(police);
        assert!(message.contains(said), "{message}");
    }
}
