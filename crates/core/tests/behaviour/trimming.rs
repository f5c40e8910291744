//! Packets that ports cut to their headers instead of losing them, on both engines.

use crate::behaviour::both::{entry, run_on_both as run};
use pushout_core::scenario::load;
use pushout_core::serde_json::{Value as Json, json};

/// A burst of ten packets of 1000 octets to a port that is ten times slower and refuses what meets more than three.
const BURST: &str = r#"
    name = "burst"
    duration = "50 ms"
    adaptation = { kind = "packet" }
    [[node]]
    name = "a"
    kind = "host"
    [[node]]
    name = "r"
    kind = "router"
    [[node]]
    name = "b"
    kind = "host"
    [[link]]
    name = "in"
    from = "a"
    to = "r"
    rate = "80 Mb/s"
    delay = "0 s"
    [[link]]
    name = "out"
    from = "r"
    to = "b"
    rate = "8 Mb/s"
    delay = "10 us"
    [port.out]
    buffer = "100 packets"
    admission = { policy = "step", threshold = "3 packets", action = "trim" }
    [[flow]]
    name = "f"
    from = "a"
    to = "b"
    transport = { kind = "udp" }
    [flow.source]
    kind = "on-off"
    peak = "80 Mb/s"
    burst = 10
    total = 10
    off = "100 s"
    distribution = "periodic"
    phase = "aligned"
    size = "972 bytes"
"#;

/// A file of 40 segments with a window of 20 at once over the same network.
fn file(sets: &[&str]) -> Json {
    let source = "flow.f.source={kind=\"file\", size=\"57 kB\"}";
    let transport = "flow.f.transport={kind=\"tcp\", sack=true, initial_window=20, delayed_ack=false, min_rto=\"200 ms\", slow_timer=\"1 ms\"}";
    let all: Vec<&str> =
        [source, transport, "duration=\"3 s\""].into_iter().chain(sets.iter().copied()).collect();
    run(BURST, &all)
}

#[test]
fn a_refused_packet_is_cut_to_64_octets_that_arrive_first_and_carry_nothing() {
    let document = run(BURST, &[]);
    let port = entry(&document, "ports", "out");
    assert_eq!((&port["trimmed"], &port["lost"]), (&json!(6), &json!({})));
    assert_eq!((&port["units_out"], &port["octets_out"]), (&json!(10), &json!(4 * 1000 + 6 * 64)));
    assert_eq!((&port["frames_whole_out"], &port["occupancy_max"]), (&json!(4), &json!(10)));
    assert_eq!(entry(&document, "flows", "f")["segments_received"], json!(4));
    assert_eq!(document["circuits"][0]["frames_whole"], json!(4));
    // packet n sets out at n / 10 ms; the first takes 1.1 ms and 10 us, then the headers take 6 · 64 us, and then one comes each ms
    let mean = entry(&document, "flows", "f")["delivery_time_mean_s"].as_f64().unwrap();
    let expected = (1.11 + 3.0 * 0.384 + (2.01 + 3.01 + 4.01) - (0.0 + 0.1 + 0.2 + 0.3) + 0.3) / 4.0;
    assert!((mean - expected / 1e3).abs() < 1e-9, "{mean}, not {expected} ms");
}

#[test]
fn a_single_packet_that_is_cut_is_reported_and_none_leaves_no_key() {
    let trimmed = |packets: u64| {
        let sets = [format!("flow.f.source.burst={packets}"), format!("flow.f.source.total={packets}")];
        entry(&run(BURST, &sets.each_ref().map(String::as_str)), "ports", "out").get("trimmed").cloned()
    };
    assert_eq!((trimmed(5), trimmed(4)), (Some(json!(1)), None), "the fifth meets more than three");
}

#[test]
fn headers_need_room_as_well_and_packets_of_their_size_go_with_them_whole() {
    let tight = run(BURST, &["port.out.buffer=\"6 packets\""]);
    let port = entry(&tight, "ports", "out");
    assert_eq!((&port["trimmed"], &port["lost"]), (&json!(2), &json!({ "early": 4 })));
    let short = run(BURST, &["flow.f.source.size=\"36 bytes\""]);
    let port = entry(&short, "ports", "out");
    assert_eq!((port.get("trimmed"), &port["lost"]), (None, &json!({})));
    assert_eq!(entry(&short, "flows", "f")["segments_received"], json!(10));
}

#[test]
fn a_sender_with_selective_acknowledgements_repeats_what_was_cut_without_a_timeout() {
    let timeouts = |document: &Json| entry(document, "flows", "f")["timeouts"].as_u64().unwrap();
    let (cut, lost) = (file(&[]), file(&["port.out.admission.action=drop"]));
    assert!(entry(&cut, "ports", "out")["trimmed"].as_u64().unwrap() >= 10, "{:#}", cut["ports"]);
    assert_eq!(timeouts(&cut), 0);
    assert!(timeouts(&lost) > 0, "the last packets of a burst are lost, and nothing behind them says so");
    let time = |document: &Json| document["summary"]["transfer_time_mean_s"].as_f64().unwrap();
    assert!(time(&cut) < 0.2 && time(&lost) > 0.2, "{} and {}", time(&cut), time(&lost));
}

#[test]
fn a_packet_is_cut_once_and_goes_first_at_the_next_port_that_cuts() {
    let next = r#"
        [[node]]
        name = "q"
        kind = "router"
        [[link]]
        name = "slower"
        from = "r"
        to = "q"
        rate = "8 Mb/s"
        delay = "0 s"
        [[link]]
        name = "last"
        from = "q"
        to = "b"
        rate = "4 Mb/s"
        delay = "0 s"
        [port.slower]
        buffer = "100 packets"
        admission = { policy = "step", threshold = "3 packets", action = "trim" }
        [port.last]
        buffer = "100 packets"
        admission = { policy = "step", threshold = "0 packets", action = "trim" }
    "#;
    let document = run(&format!("{BURST}{next}"), &["flow.f.via=[\"r\", \"q\"]"]);
    let (first, last) = (entry(&document, "ports", "slower"), entry(&document, "ports", "last"));
    assert_eq!(first["trimmed"], json!(6));
    assert_eq!((&last["units_in"], &last["units_out"]), (&json!(10), &json!(10)));
    let whole = last["frames_whole_out"].as_u64().unwrap();
    assert_eq!(last["trimmed"].as_u64().unwrap() + whole, 4, "none of the headers is cut again");
}

/// A memory of 1000 cells of 100 octets; a queue may hold 150 of them.
const MEMORY: [&str; 7] = [
    "port.out={memory=\"chip\", admission={policy=\"step\", threshold=\"900 cells\", action=\"trim\"}}",
    "memory.chip={size=\"1000 cells\", cell=\"100 bytes\", admission={policy=\"static-threshold\", limit=\"150 cells\"}}",
    "link.in.rate=1 Gb/s",
    "link.out.rate=1 Mb/s",
    "flow.f.source.peak=1 Gb/s",
    "flow.f.source.size=1472 bytes",
    "duration=2 s",
];

#[test]
fn a_port_cuts_a_packet_that_the_memory_refuses_and_the_headers_need_room_in_the_memory_only() {
    let with = |others: &[&str]| {
        run(BURST, &[&MEMORY[..], &["flow.f.source.total=30", "flow.f.source.burst=30"], others].concat())
    };
    let report = with(&[]);
    let out = entry(&report, "ports", "out");
    assert_eq!((&out["units_in"], &out["trimmed"], &out["lost"]), (&json!(30), &json!(20), &json!({})));
    assert_eq!((&out["frames_whole_out"], &out["octets_out"]), (&json!(10), &json!(10 * 1500 + 20 * 64)));
    let report = with(&["memory.chip.size=155 cells", "port.out.admission.threshold=155 cells"]);
    let out = entry(&report, "ports", "out");
    assert_eq!((&out["trimmed"], &out["lost"]["overflow"]), (&json!(5), &json!(15)), "room for five headers");
}

/// Run with that memory for a class whose headers are of another one, at a port without an early policy.
fn by_class(trim: &str, others: &[&str]) -> Json {
    let class = format!("queue={{data={{trim={trim}}}, control={{}}}}");
    let burst = ["port.out={memory=\"chip\"}", "flow.f.source.total=30", "flow.f.source.burst=30", &class];
    run(BURST, &[&MEMORY[1..], &burst, others].concat())
}

#[test]
fn a_class_has_its_packets_cut_that_the_memory_refuses_and_counts_headers_in_another_one() {
    let report = by_class("{size=\"64 bytes\", queue=\"control\"}", &[]);
    let out = entry(&report, "ports", "out");
    assert_eq!((&out["units_in"], &out["trimmed"], &out["lost"]), (&json!(30), &json!(20), &json!({})));
    assert_eq!((&out["frames_whole_out"], &out["octets_out"]), (&json!(10), &json!(10 * 1500 + 20 * 64)));
    let queue = |name: &str| entry(&report["memories"][0], "queues", name).clone();
    let (data, control) = (queue("out/data"), queue("out/control"));
    assert_eq!(
        (&data["occupancy_max"], &data["trimmed"], &data["dropped"]),
        (&json!(150), &json!(20), &json!(0))
    );
    assert_eq!((&control["occupancy_max"], control.get("trimmed")), (&json!(20), None));
}

#[test]
fn headers_have_the_size_of_the_class_and_the_limits_of_theirs() {
    let long = by_class("{size=\"100 bytes\", queue=\"control\"}", &[]);
    assert_eq!(entry(&long, "ports", "out")["octets_out"], json!(10 * 1500 + 20 * 100));
    let tight = by_class("{queue=\"control\"}", &["queue.control.limit=5 cells"]);
    let out = entry(&tight, "ports", "out");
    assert_eq!(
        (&out["trimmed"], &out["lost"]),
        (&json!(5), &json!({ "overflow": 15 })),
        "the limit of their class"
    );
    let own = by_class("{}", &["memory.chip.size=155 cells"]);
    let out = entry(&own, "ports", "out");
    assert_eq!(
        (&out["trimmed"], &out["lost"]["overflow"]),
        (&json!(5), &json!(15)),
        "no limit but the memory"
    );
}

#[test]
fn what_an_early_policy_refuses_of_such_a_class_is_lost() {
    let early = "port.out.admission={policy=\"step\", threshold=\"100 cells\", action=\"drop\"}";
    let report = by_class("{queue=\"control\"}", &[early]);
    let out = entry(&report, "ports", "out");
    assert_eq!(
        (out.get("trimmed"), &out["lost"]["early"]),
        (None, &json!(23)),
        "seven of 15 cells met up to 100"
    );
}

#[test]
fn cuts_of_a_class_that_make_no_sense_are_refused_with_the_remedy() {
    let refused = |sets: &[&str]| {
        let sets = [&MEMORY[..], &["port.out={memory=\"chip\"}"], sets].concat();
        let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
        load(BURST, "burst.toml", &sets).unwrap_err().message
    };
    let cases = [
        (
            "data={trim={queue=\"contrl\"}}, control={}",
            "queue.data.trim.queue",
            "unknown queue \"contrl\"; did you mean \"control\"?",
        ),
        ("data={trim={queue=\"data\"}}", "queue.data.trim.queue", "must name another class"),
        (
            "data={trim={size=\"20 bytes\"}}",
            "queue.data.trim.size",
            "must be from 28 bytes, the headers of IP and UDP, to 65535",
        ),
        ("data={trim={}, pause={xoff=\"10 cells\"}}", "queue.data", ""),
    ];
    for (classes, place, why) in cases {
        let told = refused(&[&format!("queue={{{classes}}}")]);
        assert!(told.contains(place) && told.contains(why), "{classes}: {told}");
    }
    let ingress = "memory.chip.pool={in={side=\"ingress\"}}";
    let told = refused(&[ingress, "queue={data={trim={}, pause={xoff=\"10 cells\"}}}"]);
    assert!(told.contains("nothing is refused of a class that pauses"), "{told}");
    let told =
        refused(&[ingress, "queue={data={trim={queue=\"control\"}}, control={pause={xoff=\"10 cells\"}}}"]);
    assert!(told.contains("must name a class that does not pause, unlike \"control\""), "{told}");
}

#[test]
fn cutting_is_refused_where_it_cannot_be() {
    let refused = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
        load(BURST, "burst.toml", &sets).unwrap_err().message
    };
    let pushout = "port.out={buffer=\"20 kB\", admission={policy=\"red\", action=\"trim\"}, scheduler={policy=\"drr\"}, \
                   pushout={policy=\"longest-queue\"}}";
    for (sets, words) in [
        (
            &["port.out.admission={policy=\"codel\", action=\"trim\"}"][..],
            "decides about packets that have been queued",
        ),
        (&[pushout], "beside pushout"),
        (
            &[
                "node.r.kind=switch",
                "adaptation.kind=aal5",
                "port.out.buffer=\"100 cells\"",
                "port.out.admission={policy=\"epd\", action=\"trim\"}",
            ],
            "on a cell link",
        ),
    ] {
        let message = refused(sets);
        assert!(message.contains(words) && message.contains("must be \"drop\" or \"mark\""), "{message}");
    }
}
