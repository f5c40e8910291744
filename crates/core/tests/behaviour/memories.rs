//! Memories that ports share: the part of each port, on both engines.

use std::fmt::Write;

use crate::behaviour::both::{entry, run_on_both as run};
use pushout_core::engine;
use pushout_core::report::report;
use pushout_core::rng::Stream;
use pushout_core::scenario::model::{EngineKind, Scenario};
use pushout_core::scenario::{explain, load, thresholds};
use pushout_core::serde_json::{Value as Json, json};

/// A router with `senders` senders and `ports` slow ports; sender `n` sends bursts of packets of 64 octets to port `n`, one
/// sender after another.
fn chip(senders: u64, ports: u64, packets: u64, sections: &str) -> String {
    let mut text =
        String::from("name = \"chip\"\nduration = \"400 ms\"\nadaptation = { kind = \"packet\" }\n");
    let mut node =
        |name: &str, kind: &str| writeln!(text, "[[node]]\nname = \"{name}\"\nkind = \"{kind}\"").unwrap();
    node("r", "router");
    (0..senders).for_each(|n| node(&format!("a{n}"), "host"));
    (0..ports).for_each(|n| node(&format!("b{n}"), "host"));
    let mut link = |name: &str, from: &str, to: &str, rate: &str| {
        let head = format!("[[link]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"");
        writeln!(text, "{head}\nrate = \"{rate}\"\ndelay = \"0 s\"").unwrap();
    };
    (0..senders).for_each(|n| link(&format!("in{n}"), &format!("a{n}"), "r", "10 Gb/s"));
    (0..ports).for_each(|n| link(&format!("out{n}"), "r", &format!("b{n}"), "1 kb/s"));
    for n in 0..senders {
        let (to, start) = (n % ports, n * 10);
        writeln!(text, "[[flow]]\nname = \"f{n}\"\nfrom = \"a{n}\"\nto = \"b{to}\"\nstart = \"{start} ms\"")
            .unwrap();
    }
    writeln!(text, "[flows]\ntransport = {{ kind = \"udp\" }}").unwrap();
    let source = "kind = \"on-off\", peak = \"10 Gb/s\", off = \"100 s\", distribution = \"periodic\", phase = \"aligned\"";
    let size = "size = \"36 bytes\"";
    writeln!(text, "source = {{ {source}, burst = {packets}, total = {packets}, {size} }}\n{sections}")
        .unwrap();
    text
}

/// Return the largest occupancy of each queue of the first memory.
fn held(document: &Json) -> Vec<u64> {
    let queues = document["memories"][0]["queues"].as_array().unwrap();
    queues.iter().map(|queue| queue["occupancy_max"].as_u64().unwrap()).collect()
}

const SHARED: &str = "[port.default]\nmemory = \"chip\"\n";

fn memory(keys: &str) -> String {
    format!("{SHARED}[memory.chip]\ncell = \"254 bytes\"\n{keys}\n")
}

const DYNAMIC: &str = "admission = { policy = \"dynamic-threshold\", alpha = 1.0 }";

/// The model of card 01: groups filled one after another each get half of the rest, and their reserved cells.
fn ladder(shared: u64, reserved: u64, groups: u64) -> Vec<u64> {
    let mut left = shared;
    let step = |_| {
        let own = left.div_ceil(2);
        left -= own;
        own + reserved
    };
    (0..groups).map(step).collect()
}

#[test]
fn groups_that_fill_one_after_another_take_half_of_what_is_left_and_their_reserved_cells() {
    let groups = "pool.lossless = { side = \"ingress\" }\n[queue.rdma]\nreserved = \"7 cells\"";
    let text = chip(10, 1, 600, &memory(&format!("size = \"{} cells\"\n{DYNAMIC}\n{groups}", 1000 + 10 * 7)));
    assert_eq!(held(&run(&text, &[])), ladder(1000, 7, 10));
}

#[test]
fn queues_of_ports_that_fill_together_get_equal_shares_of_the_threshold() {
    for (alpha, ports, share) in [(1.0, 4, 200), (0.5, 2, 250), (8.0, 1, 889), (2.0, 2, 400)] {
        let text = chip(ports, ports, 1000, &memory(&format!("size = \"1000 cells\"\n{DYNAMIC}")));
        let alpha = format!("memory.chip.admission.alpha={alpha:?}");
        let together: Vec<String> = (0..ports).map(|n| format!("flow.f{n}.start=\"0 s\"")).collect();
        let sets: Vec<&str> = together.iter().map(String::as_str).chain([alpha.as_str()]).collect();
        let found = held(&run(&text, &sets));
        assert!(found.iter().all(|cells| cells.abs_diff(share) <= 1), "{alpha} {ports}: {found:?}");
    }
}

#[test]
fn a_packet_takes_whole_cells_and_the_memory_of_a_port_can_be_given_in_them() {
    let text = chip(1, 1, 200, "[port.out0]\nbuffer = \"100 cells of 256 bytes\"");
    let larger = run(&text, &["flows.source.size=\"272 bytes\""]);
    let port = larger["ports"].as_array().unwrap().iter().find(|port| port["name"] == "out0").unwrap();
    assert_eq!((&port["occupancy_max"], &port["lost"]["overflow"]), (&json!(100), &json!(150)));
    assert_eq!(port["occupancy_unit"], "memory cells");
    let with_header = memory("size = \"100 cells\"\nheader = \"2 bytes\"");
    let text = chip(1, 1, 200, &with_header);
    let found = |size: &str| held(&run(&text, &[&format!("flows.source.size=\"{size} bytes\"")]))[0];
    assert_eq!(
        (found("224"), found("225")),
        (100, 100),
        "252 octets take a cell, 253 with the header of 2 take two"
    );
    let lost = |size: &str| {
        run(&text, &[&format!("flows.source.size=\"{size} bytes\"")])["memories"][0]["queues"][0]["dropped"]
            .clone()
    };
    assert_eq!((lost("224"), lost("225")), (json!(100), json!(150)));
}

#[test]
fn a_check_after_the_packet_leaves_one_packet_less_than_a_check_before_it() {
    let text = chip(1, 1, 2000, &memory(&format!("size = \"1001 cells\"\n{DYNAMIC}")));
    assert_eq!(held(&run(&text, &[])), [501], "500 < 501 is below, 501 < 500 is not");
    assert_eq!(held(&run(&text, &["memory.chip.dt_check=after"])), [501], "501 ≤ 501");
    let long = "flows.source.size=\"472 bytes\""; // two cells
    assert_eq!(held(&run(&text, &[long])), [502], "500 < 501 is below");
    assert_eq!(held(&run(&text, &[long, "memory.chip.dt_check=after"])), [500], "502 ≤ 501 does not hold");
}

#[test]
fn reserved_room_stays_free_for_its_queue_exactly() {
    let classes = "[queue.greedy]\n[queue.modest]\nreserved = \"30 cells\"\nlimit = \"5 cells\"";
    let text = chip(2, 1, 200, &memory(&format!("size = \"100 cells\"\n{classes}")));
    let document = run(&text, &["flow.f1.queue=modest"]);
    assert_eq!(held(&document), [70, 30], "one takes all shared room, and the other still gets its own");
    let first = run(&text, &["flow.f0.queue=modest", "flow.f1.queue=greedy"]);
    assert_eq!(held(&first), [35, 65], "a limit counts besides reserved room");
}

#[test]
fn pools_that_may_each_take_the_whole_memory_leave_reserved_room_free_together() {
    let pools = "pool.one = {}\npool.two = {}";
    let classes = "[queue.first]\npool = \"one\"\n[queue.second]\npool = \"two\"\n\
                   [queue.kept]\npool = \"one\"\nreserved = \"40 cells\"";
    let text = chip(3, 3, 200, &memory(&format!("size = \"100 cells\"\n{pools}\n{classes}")));
    let sets =
        ["flow.f0.queue=first", "flow.f1.queue=second", "flow.f2.queue=kept", "queue.first.limit=50 cells"];
    let document = run(&text, &sets);
    let queues = document["memories"][0]["queues"].as_array().unwrap();
    let held = ["out0/first", "out1/second", "out2/kept"].map(|name| {
        queues.iter().find(|queue| queue["name"] == name).unwrap()["occupancy_max"].as_u64().unwrap()
    });
    assert_eq!(held, [50, 10, 40]);
}

#[test]
fn a_queue_within_its_reserved_room_leaves_no_trace_in_the_pool() {
    let class = "[queue.small]\nreserved = \"50 cells\"";
    let text = chip(1, 1, 40, &memory(&format!("size = \"100 cells\"\n{class}")));
    let document = run(&text, &["link.out0.rate=\"1 Mb/s\""]);
    assert_eq!(
        (held(&document), &document["memories"][0]["pools"][0]["occupancy_max"]),
        (vec![40], &json!(0))
    );
}

#[test]
fn a_class_with_pools_on_both_sides_must_fit_both() {
    let pools = "pool.in = { side = \"ingress\" }\npool.out = { size = \"40 cells\" }";
    let class = "[queue.all]\npool = \"in\"\nopposite = { pool = \"out\", limit = \"25 cells\" }";
    let text = chip(2, 1, 200, &memory(&format!("size = \"100 cells\"\n{pools}\n{class}")));
    let document = run(&text, &[]);
    let queues = document["memories"][0]["queues"].as_array().unwrap();
    let found: Vec<(&str, &str, u64)> = queues
        .iter()
        .map(|queue| {
            let text = |key: &str| queue[key].as_str().unwrap();
            (text("name"), text("pool"), queue["occupancy_max"].as_u64().unwrap())
        })
        .collect();
    assert_eq!(found, [("in0/all", "in", 25), ("out0/all", "out", 25), ("in1/all", "in", 0)]);
    let wide = run(&text, &["queue.all.opposite.limit=\"60 %\""]);
    assert_eq!(held(&wide), [40, 40, 0], "the pool of the other side is full");
}

#[test]
fn headroom_is_taken_beyond_the_threshold_and_is_kept_free_for_that() {
    let pools = "pool.lossless = { side = \"ingress\", headroom = \"20 cells\" }";
    let text = chip(1, 1, 200, &memory(&format!("size = \"121 cells\"\n{DYNAMIC}\n{pools}")));
    let document = run(&text, &[]);
    assert_eq!(held(&document), [51 + 20]);
    let queue = &document["memories"][0]["queues"][0];
    assert_eq!((&queue["headroom_max"], &queue["threshold_min"]), (&json!(20), &json!(50.0)));
    assert_eq!(document["memories"][0]["pools"][0]["occupancy_max"], 51);
}

#[test]
fn a_queue_that_holds_headroom_takes_no_shared_room_until_it_has_returned_all() {
    let keys = "size = \"120 cells\"\ndt_check = \"after\"\npool.all = { headroom = \"20 cells\" }";
    let text = chip(2, 1, 4, &memory(&format!("{keys}\n[queue.q]\nlimit = \"10 cells\"")));
    // four packets of three cells, of which the last would exceed the limit; then four of one cell, of which one would fit
    let document = run(&text, &["flow.f0.source.size=700 bytes"]);
    let memory = &document["memories"][0];
    assert_eq!((held(&document), &memory["pools"][0]["occupancy_max"]), (vec![9 + 3 + 4], &json!(9)));
    assert_eq!(memory["queues"][0]["headroom_max"], json!(3 + 4));
}

#[test]
fn partitions_have_their_parts_of_every_pool_and_their_ports_in_turn() {
    let text = chip(4, 4, 400, &memory(&format!("size = \"400 cells\"\npartitions = 2\n{DYNAMIC}")));
    let document = run(&text, &[]);
    let names: Vec<&Json> =
        document["memories"].as_array().unwrap().iter().map(|memory| &memory["name"]).collect();
    assert_eq!(names, ["chip/1", "chip/2"]);
    assert_eq!(document["memories"][0]["cells"], 200);
    assert_eq!(held(&document)[..1], [100]);
}

#[test]
fn each_node_has_a_memory_of_its_own() {
    let two = r#"
        name = "two"
        duration = "1 s"
        adaptation = { kind = "packet" }
        node = [
            { name = "a", kind = "host" }, { name = "r1", kind = "router" }, { name = "r2", kind = "router" },
            { name = "b", kind = "host" },
        ]
        link = [
            { from = "a", to = "r1", rate = "1 Gb/s", delay = "1 us" },
            { from = "r1", to = "r2", rate = "100 Mb/s", delay = "1 us" },
            { from = "r2", to = "b", rate = "10 Mb/s", delay = "1 us" },
        ]
        port = { default = { memory = "chip" } }
        memory = { chip = { size = "100 cells", cell = "256 bytes" } }
        flow = [{ name = "f", from = "a", to = "b", source = { kind = "greedy" }, transport = { kind = "tcp" } }]
    "#;
    let document = run(two, &[]);
    let names: Vec<&Json> =
        document["memories"].as_array().unwrap().iter().map(|memory| &memory["name"]).collect();
    assert_eq!(names, ["chip@r1", "chip@r2"]);
    let traced = run(two, &["measure.memories=[\"chip\"]", "sample=\"1 ms\""]);
    let is_traced = |memory: &Json| memory["occupancy"]["values"].is_array();
    let memories = traced["memories"].as_array().unwrap();
    assert!(memories.iter().all(is_traced), "the name of a section stands for all its memories");
}

#[test]
fn cells_of_a_switch_share_a_memory_as_packets_do() {
    let lan = include_str!("../../../../scenarios/lan.toml");
    let sets =
        ["duration=\"100 ms\"", "port.bottleneck={memory=\"chip\"}", "memory.chip={size=\"500 cells\"}"];
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    let scenario = load(lan, "lan.toml", &sets).unwrap();
    let (engine, why) = engine::chosen(&scenario);
    assert_eq!(engine, EngineKind::Reference);
    assert!(why.is_some_and(|why| why.contains("share a memory")));
    let own = ["duration=\"100 ms\"", "port.bottleneck={buffer=\"500 cells\"}"].map(str::to_string);
    let own = load(lan, "lan.toml", &own).unwrap();
    let ports = |scenario: &Scenario| {
        let mut document = report(scenario, &engine::run(scenario, false), None);
        document["ports"]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .for_each(|port| port["occupancy_unit"] = Json::Null);
        document["ports"].clone()
    };
    assert_eq!(ports(&scenario), ports(&own), "a memory of one port is a buffer");
}

#[test]
fn queues_and_thresholds_are_reported_over_time() {
    let text = chip(2, 2, 100, &memory(&format!("size = \"100 cells\"\n{DYNAMIC}")));
    let document = run(&text, &["measure.memories=[\"chip\"]", "sample=\"15 ms\"", "duration=\"40 ms\""]);
    let queue = &document["memories"][0]["queues"][0];
    assert_eq!(queue["occupancy"]["values"], json!([0, 50, 50]));
    assert_eq!(queue["threshold"]["values"], json!([100.0, 25.0, 25.0]));
}

#[test]
fn an_explained_scenario_says_what_its_queues_may_hold_and_is_read_back_to_the_same() {
    let class = "[queue.lossy]\nalpha = 8.0\nreserved = \"8 cells\"\nlimit = \"90 %\"\npriority = 3";
    let text = chip(1, 1, 100, &memory(&format!("size = \"1008 cells\"\n{DYNAMIC}\n{class}")));
    let scenario = load(&text, "chip.toml", &[]).unwrap();
    let document = explain(&scenario);
    let again = load(&document.to_string(), "chip.json", &[]).unwrap();
    assert_eq!((explain(&again), &again.memories), (document, &scenario.memories));
    assert_eq!(
        thresholds(&scenario),
        [
            "memory \"chip\", pool \"all\", class \"lossy\": reserved 8 cells, then shared up to a threshold of 908 cells with \
          the 1000 shared cells empty, 908 half full, 0 full (a queue alone holds at most 897); headroom 0 cells"
        ]
    );
}

#[test]
fn what_cannot_be_is_refused_with_its_place() {
    let right = memory("size = \"100 cells\"\n[queue.q]\nreserved = \"1 cell\"");
    let text = chip(2, 1, 10, &right);
    let refused = |sets: &[&str]| {
        let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
        load(&text, "chip.toml", &sets).unwrap_err().message.lines().next().unwrap().to_string()
    };
    let mut wrong = Vec::new();
    let dynamic = "memory.chip.admission={policy=\"dynamic-threshold\"}";
    for (sets, words) in [
        (&["port.default.memory=\"chop\""][..], "unknown memory \"chop\"; did you mean \"chip\"?"),
        (&["flow.f0.queue=\"r\""], "unknown queue \"r\""),
        (&["queue.q.pool=\"lossy\""], "unknown pool \"lossy\" (allowed: all) (in the memory \"chip\")"),
        (&["queue.q.reserved=\"101 cells\""], "queue.q.reserved"),
        (
            &["memory.chip.pool.all={side=\"ingress\"}", "queue.q.reserved=\"51 cells\""],
            "must leave shared room in the pool \"all\", not \"51 cells\"; its queues reserve 102 cells",
        ),
        (&[dynamic, "queue.q.alpha=0.0"], "must be greater than 0 and finite, not 0"),
        (&["queue.q.alpha=1.0"], "must stand beside a policy with dynamic thresholds, not 1"),
        (
            &["memory.chip.pool.all={size=\"50 %\", headroom=\"51 cells\"}"],
            "must be at most the size of the pool, which is 50 cells, not \"51 cells\"",
        ),
        (
            &["memory.chip.pool={a={headroom=\"60 cells\"}, b={headroom=\"50 cells\"}}"],
            "must be at least 111 cells, which its queues reserve",
        ),
        (&["queue.q.opposite={pool=\"all\"}"], "must name a pool of the other side, not \"all\""),
        (&["memory.chip.cell=\"0 bytes\""], "must be from 1 to 65535 bytes, not \"0 bytes\""),
        (&["memory.chip.size=\"unlimited\""], "must be in cells of the memory or in bytes"),
        (&["memory.chip.partitions=0"], "must be from 1 to 64, not 0"),
        (&["memory.chip.admission={policy=\"epd\"}"], "\"epd\" decides about one port, not about a memory"),
        (&["memory.chip.pushout={policy=\"pushout-4\"}"], "unknown pushout \"pushout-4\""),
        (
            &["memory.chip.pushout={policy=\"longest-queue\"}", "memory.chip.pool.in={side=\"ingress\"}"],
            "must be \"egress\" beside pushout",
        ),
        (
            &["memory.chip.admission={policy=\"occamy\"}", "memory.chip.pool.in={side=\"ingress\"}"],
            "must be \"egress\" beside occamy",
        ),
        (
            &["memory.chip.admission={policy=\"occamy\", token_rate=\"0 per s\"}"],
            "must be greater than 0 per s, not \"0 per s\"",
        ),
        (&["port.default.buffer=\"10 kB\""], "must be left out beside memory, not \"10 kB\""),
        (&["port.in0={memory=\"chip\"}"], "must be left out at the port \"in0\" of a host"),
        (&["port.default={}"], "memory.chip: no port shares this memory"),
        (&["measure.memories=[\"chop\"]"], "unknown memory \"chop\"; did you mean \"chip\"?"),
    ] {
        let message = refused(sets);
        let path = sets.last().unwrap().split('=').next().unwrap();
        if !(message.contains(words) && message.contains(path.split('.').nth(1).unwrap())) {
            wrong.push(format!("{message}\n  is not {words}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_longest_queue_of_another_port_gives_way_and_what_it_loses_had_crossed_a_link_in_vain() {
    let pushout = "pushout = { policy = \"longest-queue\" }";
    let text = chip(2, 2, 200, &memory(&format!("size = \"100 cells\"\n{pushout}")));
    let document = run(&text, &[]);
    assert_eq!(held(&document), [100, 50], "the first takes all, the second then half of it");
    let queues = &document["memories"][0]["queues"];
    let of = |key: &str| [queues[0][key].clone(), queues[1][key].clone()];
    assert_eq!(of("dropped"), [json!(150), json!(150)]);
    assert_eq!(of("pushed_out_octets"), [json!(50 * 64), json!(0)]);
    let port = entry(&document, "ports", "out0");
    assert_eq!((&port["lost"]["pushed-out"], &port["lost"]["overflow"]), (&json!(50), &json!(100)));
}

/// Changes to a chip that make its ports send cells, and its memory push out packets of two cells.
fn by_packets(text: &str) -> String {
    text.replace("adaptation = { kind = \"packet\" }\n", "")
        .replace("\"router\"", "\"switch\"")
        .replace("cell = \"254 bytes\"", "cell = \"53 bytes\"\npushout = { policy = \"pushout-2\" }")
        .replace(
            SHARED,
            &format!(
                "{SHARED}admission = {{ policy = \"ppd\" }}\nscheduler = {{ policy = \"round-robin\" }}\n"
            ),
        )
}

#[test]
fn the_longest_queue_of_another_cell_port_loses_entire_packets_and_then_the_own_one() {
    let text = by_packets(&chip(2, 2, 60, &memory("size = \"100 cells\"")));
    let document = run(&text, &[]);
    // 60 packets for the first port leave 100 cells; those for the second then take two at a time, down to 48 and up to 52
    assert_eq!(held(&document), [100, 52]);
    let queues = &document["memories"][0]["queues"];
    let of = |key: &str| [queues[0][key].clone(), queues[1][key].clone()];
    assert_eq!(of("dropped"), [json!(120 - 48), json!(120 - 52)]);
    assert_eq!(of("pushed_out_octets"), [json!((120 - 48) * 53), json!((120 - 52) * 53)]);
    for name in ["out0", "out1"] {
        let lost = &entry(&document, "ports", name)["lost"];
        let all: u64 = lost.as_object().unwrap().values().filter_map(Json::as_u64).sum();
        assert_eq!(lost["pushed-out"], json!(all), "nothing is lost but what was pushed out");
    }
}

#[test]
fn the_queue_that_gives_way_is_in_the_pool_that_is_full_or_anywhere_if_the_memory_is() {
    let pushout = "pushout = { policy = \"longest-queue\" }";
    let classes = "[queue.first]\npool = \"one\"\n[queue.second]\npool = \"two\"";
    let sets = ["flow.f0.queue=first", "flow.f1.queue=second", "flow.f2.queue=second"];
    let outcome = |size: &str| {
        let pools = format!("pool.one = {{}}\npool.two = {{ size = \"{size}\" }}");
        let text = chip(3, 3, 200, &memory(&format!("size = \"100 cells\"\n{pushout}\n{pools}\n{classes}")));
        let document = run(&text, &sets);
        let queues = document["memories"][0]["queues"].as_array().unwrap();
        let of = |port: &str, class: &str| {
            let queue = queues.iter().find(|queue| queue["name"] == format!("{port}/{class}")).unwrap();
            [&queue["occupancy_max"], &queue["pushed_out_octets"]].map(|figure| figure.as_u64().unwrap())
        };
        [of("out0", "first"), of("out1", "second"), of("out2", "second")]
    };
    // the second pool is full with 20 cells: its queues share them, and the queue of 80 cells loses only the 20 for the memory
    assert_eq!(outcome("20 cells"), [[100, 20 * 64], [20, 10 * 64], [10, 0]]);
    // no pool is full, so the longest queue of the memory is cut: 100, then 50 and 50, then 33 or 34 each
    assert_eq!(outcome("100 %"), [[100, 67 * 64], [50, 16 * 64], [33, 0]]);
}

#[test]
fn push_out_spares_reserved_room_and_does_not_lift_a_threshold() {
    let pushout = "pushout = { policy = \"longest-queue\" }";
    let classes = "[queue.plain]\n[queue.kept]\nreserved = \"40 cells\"\n[queue.low]\nlimit = \"5 cells\"";
    let text = chip(3, 3, 200, &memory(&format!("size = \"100 cells\"\n{pushout}\n{classes}")));
    let document = run(&text, &["flow.f0.queue=kept", "flow.f1.queue=plain", "flow.f2.queue=low"]);
    assert_eq!(held(&document), [100, 30, 5], "60 cells are shared, the reserved 40 stay");
    let queues = document["memories"][0]["queues"].as_array().unwrap();
    let pushed_out: Vec<&Json> = queues.iter().map(|queue| &queue["pushed_out_octets"]).collect();
    assert_eq!(pushed_out, [(30 + 3) * 64, 2 * 64, 0], "no packet goes for one beyond its limit");
}

#[test]
fn occamy_takes_back_from_an_old_queue_what_a_new_one_may_have() {
    let occamy = |rate: &str| {
        let admission = format!("admission = {{ policy = \"occamy\", token_rate = \"{rate}\" }}");
        let text = chip(2, 2, 4000, &memory(&format!("size = \"1000 cells\"\n{admission}")));
        run(&text, &["memory.chip.admission.token_depth=\"1 cell\""])
    };
    let (quick, slow) = (occamy("1000000 per us"), occamy("1 per s"));
    let [old, new] = held(&quick)[..] else { panic!("two queues") };
    assert!(old.abs_diff(889) <= 1, "8/9 of the memory, and not {old}");
    assert!(new.abs_diff(471) <= 1, "8/17 of the memory, and not {new}");
    let gone = &quick["memories"][0]["queues"][0]["pushed_out_octets"];
    assert!(gone.as_u64().unwrap() > (889 - 471) * 64, "{gone}");
    assert!(held(&slow)[1].abs_diff(99) <= 1, "a queue in the way of a dynamic threshold: {:?}", held(&slow));
}

#[test]
fn busy_queues_of_different_factors_settle_at_shares_in_their_ratio() {
    let classes = "[queue.a]\nalpha = 0.5\n[queue.b]\nalpha = 2.0\n[queue.c]\nalpha = 4.0";
    let measured = "[measure]\nmemories = [\"chip\"]";
    let text =
        chip(3, 3, 40_000, &memory(&format!("size = \"1500 cells\"\n{DYNAMIC}\n{classes}\n{measured}")));
    let mut sets = vec!["sample=\"1 ms\"".to_string(), "duration=\"900 ms\"".to_string()];
    for (n, class) in ["a", "b", "c"].iter().enumerate() {
        sets.push(format!("flow.f{n}.queue={class}"));
        sets.push(format!("link.in{n}.rate=\"20 Mb/s\""));
        sets.push(format!("link.out{n}.rate=\"10 Mb/s\""));
    }
    let document = run(&text, &sets.iter().map(String::as_str).collect::<Vec<_>>());
    let queues = document["memories"][0]["queues"].as_array().unwrap();
    for (queue, alpha) in queues.iter().zip([0.5, 2.0, 4.0]) {
        let cells = queue["occupancy"]["values"].as_array().unwrap().last().unwrap().as_f64().unwrap();
        let share = alpha * 1500.0 / (1.0 + 6.5);
        assert!((cells - share).abs() <= 5.0, "{cells} instead of α B / (1 + Σ α) = {share}");
    }
}

/// Packets to a port: its number, their arrival in milliseconds, their number, and their octets.
type Burst = (u64, u64, u64, u64);

/// The first queue of a memory under ABM, which measures rates over 40 ms, with lines of 100 kb/s: 500 octets in an
/// interval. Between the packets there are no events, so that an interval begins with the first of them in it.
fn first_queue_of_abm((alpha, keys): (f64, &str), bursts: &[Burst]) -> Json {
    let count = bursts.len() as u64;
    let admission =
        format!("{{ policy = \"abm\", alpha = {alpha:?}, update = \"40 ms\", congested = \"1 MB\" }}");
    let text = chip(count, count, 1, &memory(&format!("admission = {admission}\n{keys}")));
    let mut sets = vec!["sample=400 ms".to_string()];
    for (n, (port, start, packets, octets)) in bursts.iter().enumerate() {
        sets.push(format!("link.out{n}.rate=100 kb/s"));
        sets.push(format!("flow.f{n}.to=b{port}"));
        sets.push(format!("flow.f{n}.start={start} ms"));
        for (key, value) in [("burst", packets), ("total", packets), ("size", &(octets - 28))] {
            let unit = if key == "size" { " bytes" } else { "" };
            sets.push(format!("flow.f{n}.source.{key}={value}{unit}"));
        }
    }
    let document = run(&text, &sets.iter().map(String::as_str).collect::<Vec<_>>());
    entry(&document["memories"][0], "queues", "out0/all").clone()
}

#[test]
fn a_rate_of_abm_is_that_of_the_last_interval_and_not_of_one_before_an_idle_one() {
    let threshold_at = |last: u64| {
        // they are sent until 30 ms, 50 ms and 170 ms: in the second interval 250 octets leave, and in the next two none
        let sent = [(0, 0, 1, 375), (0, 10, 1, 250), (0, 20, 1, 1500)];
        let bursts = [&sent[..], &[(0, last, 1, 64)]].concat();
        first_queue_of_abm((1.0, "size = \"100 cells\""), &bursts)["threshold_min"].as_f64().unwrap()
    };
    let free = 100.0 - 6.0; // the last packet meets the one of 1500 octets
    assert_eq!((threshold_at(100), threshold_at(150)), (free / 2.0, free));
}

#[test]
fn a_packet_that_abm_sees_pushed_out_is_not_one_that_was_sent() {
    // two of 300 octets wait behind one of 1500 that is sent until 120 ms; one is lost at 50 ms, for two cells of
    // another queue
    let bursts = [(0, 0, 1, 1500), (0, 10, 2, 300), (1, 50, 1, 300), (0, 90, 1, 64)];
    let keys = "size = \"11 cells\"\npushout = { policy = \"longest-queue\" }";
    let queue = first_queue_of_abm((100.0, keys), &bursts);
    assert_eq!(queue["pushed_out_octets"], 300);
    // at 90 ms the other queue is empty and three cells are free; a rate of 300 octets in 40 ms would leave 60 % of the threshold
    assert_eq!(queue["threshold_min"], 300.0);
}

/// Return the occupancies at the end of a memory of 1500 cells, by queue: ports with a lossy class, counted in both
/// pools, and incoming lines with a class that is counted on the ingress side only. All are overloaded; the lossy class
/// starts 60 ms later.
fn two_sides((lossy, a_e): (u64, f64), (lossless, a_i): (u64, f64), egress: u64) -> Vec<(String, f64)> {
    let pools = format!("pool.in = {{ side = \"ingress\" }}\npool.out = {{ size = \"{egress} cells\" }}");
    let classes = format!(
        "[queue.lossy]\npool = \"in\"\nalpha = 1024.0\nopposite = {{ pool = \"out\", alpha = {a_e:?} }}\n\
         [queue.lossless]\npool = \"in\"\nalpha = {a_i:?}\n[measure]\nmemories = [\"chip\"]"
    );
    let ports = lossy + lossless;
    let keys = format!("size = \"1500 cells\"\n{DYNAMIC}\n{pools}\n{classes}");
    let text = chip(ports, ports, 40_000, &memory(&keys));
    let mut sets = vec!["sample=\"1 ms\"".to_string(), "duration=\"300 ms\"".to_string()];
    for n in 0..ports {
        let (class, start) = if n < lossy { ("lossy", 60) } else { ("lossless", 0) };
        sets.push(format!("flow.f{n}.queue={class}"));
        sets.push(format!("flow.f{n}.start=\"{start} ms\""));
        sets.push(format!("link.in{n}.rate=\"20 Mb/s\""));
        sets.push(format!("link.out{n}.rate=\"10 Mb/s\""));
    }
    let document = run(&text, &sets.iter().map(String::as_str).collect::<Vec<_>>());
    let at_the_end = |queue: &Json| {
        let cells = queue["occupancy"]["values"].as_array().unwrap().last().unwrap().as_f64().unwrap();
        (queue["name"].as_str().unwrap().to_string(), cells)
    };
    document["memories"][0]["queues"].as_array().unwrap().iter().map(at_the_end).collect()
}

#[test]
fn lossy_queues_of_the_egress_side_leave_to_those_of_the_ingress_side_what_theory_says() {
    for (lossy, lossless, egress) in
        [((2, 1.0), (2, 1.0), 1000), ((3, 0.5), (1, 2.0), 600), ((1, 8.0), (4, 0.25), 1200)]
    {
        let (n_e, a_e, n_i, a_i) = (lossy.0 as f64, lossy.1, lossless.0 as f64, lossless.1);
        let (b_i, b_e) = (1500.0, egress as f64);
        let drops = a_e * b_e / (1.0 + n_e * a_e);
        let pauses = a_i * (b_i + n_e * a_e * (b_i - b_e)) / ((1.0 + n_i * a_i) * (1.0 + n_e * a_e));
        let found = two_sides(lossy, lossless, egress);
        assert_eq!(found.len() as u64, 2 * lossy.0 + lossless.0, "{found:?}");
        for (name, cells) in &found {
            let expected = if name.ends_with("lossless") { pauses } else { drops };
            assert!(
                (cells - expected).abs() <= 1.0,
                "{lossy:?} {lossless:?}: {name} has {cells}, not {expected}"
            );
        }
    }
}

/// Return whether a burst at R times the rate of its line is lost in part, when it comes to a chip of 4000 cells on
/// which `old` ports have a queue at its threshold.
fn loses_of_burst(alpha: f64, old: u64, times: u64, burst: u64) -> bool {
    let text = chip(old + 1, old + 1, 40_000, &memory(&format!("size = \"4000 cells\"\n{DYNAMIC}")));
    let mut sets = vec![format!("memory.chip.admission.alpha={alpha:?}"), "duration=\"900 ms\"".to_string()];
    for n in 0..=old {
        let rate = if n == old { 10 * times } else { 20 };
        sets.push(format!("link.in{n}.rate=\"{rate} Mb/s\""));
        sets.push(format!("link.out{n}.rate=\"10 Mb/s\""));
        sets.push(format!("flow.f{n}.start=\"{} ms\"", if n == old { 600 } else { 0 }));
    }
    sets.push(format!("flow.f{old}.source.burst={burst}"));
    sets.push(format!("flow.f{old}.source.total={burst}"));
    let document = run(&text, &sets.iter().map(String::as_str).collect::<Vec<_>>());
    entry(&document["memories"][0], "queues", &format!("out{old}/all"))["dropped"] != 0
}

#[test]
fn a_burst_is_absorbed_up_to_the_share_that_theory_gives() {
    for (alpha, old, times, share) in
        [(0.5, 1, 10, 0.2564), (1.0, 1, 10, 0.2941), (2.0, 1, 10, 0.2667), (1.0, 7, 10, 0.1136)]
    {
        let burst = |margin: f64| (4000.0 * share * margin) as u64;
        assert!(!loses_of_burst(alpha, old, times, burst(0.985)), "α {alpha}, {old} old queues");
        assert!(loses_of_burst(alpha, old, times, burst(1.015)), "α {alpha}, {old} old queues");
    }
}

#[test]
fn thresholds_of_follow_lqd_are_the_queue_lengths_of_longest_queue_drop() {
    let many =
        std::env::var("PUSHOUT_EQUIVALENCE").map_or(300, |count| count.parse::<u64>().unwrap().max(300));
    let mut pushed_out = 0;
    for seed in 0..many {
        let text = random_bursts(seed);
        let counts = seed % 2 == 0;
        let sets = |key: &str| format!("memory.chip.{key}, counts_arrival={counts}}}");
        let lqd = run_fast(&text, &sets("pushout={policy=\"longest-queue\""));
        let follow = run_fast(&text, &sets("admission={policy=\"follow-lqd\""));
        let queues = |document: &Json| document["memories"][0]["queues"].as_array().unwrap().clone();
        for (real, threshold) in queues(&lqd).iter().zip(queues(&follow)) {
            let lengths = real["occupancy"]["values"].as_array().unwrap().iter().map(|cells| cells.as_f64());
            let thresholds =
                threshold["threshold"]["values"].as_array().unwrap().iter().map(|cells| cells.as_f64());
            assert!(lengths.eq(thresholds), "seed {seed}: {}", real["name"]);
            pushed_out += real["pushed_out_octets"].as_u64().unwrap();
        }
    }
    assert!(pushed_out > 100_000, "{pushed_out} octets");
}

/// The report on the fast engine.
fn run_fast(text: &str, set: &str) -> Json {
    let scenario = load(text, "test.toml", &[set.to_string()]).unwrap();
    report(&scenario, &engine::run(&scenario, false), None)
}

/// Write this chip's scenario with all senders starting within microseconds of each other.
fn at_once(text: &str, senders: u64) -> String {
    (0..senders).fold(text.to_string(), |text, n| {
        text.replace(&format!("start = \"{} ms\"", 10 * n), &format!("start = \"{} us\"", 10 * n))
    })
}

/// A chip with one class and random bursts of packets of different sizes.
fn random_bursts(seed: u64) -> String {
    let mut draw = Stream::new(seed, "bursts");
    let mut below = |count: u64| draw.up_to(count - 1);
    let (senders, ports, size) = (2 + below(6), 2 + below(3), 30 + below(100));
    let measured = "[measure]\nmemories = [\"chip\"]";
    let mut text = chip(senders, ports, 20, &memory(&format!("size = \"{size} cells\"\n{measured}")));
    for n in 0..senders {
        let (burst, off, size) = (1 + below(60), 1 + below(300), 1 + below(900));
        let keys = format!("kind = \"on-off\", peak = \"1 Gb/s\", burst = {burst}, off = \"{off} us\"");
        let flow = format!("name = \"f{n}\"\n");
        text = text.replace(&flow, &format!("{flow}source = {{ {keys}, size = \"{size} bytes\" }}\n"));
    }
    let rate = 100 + below(900);
    at_once(&text, senders)
        .replace("\"1 kb/s\"", &format!("\"{rate} Mb/s\""))
        .replace("duration = \"400 ms\"", "duration = \"2 ms\"\nsample = \"7 us\"")
}

/// A random chip and its traffic.
fn random_chip(seed: u64) -> String {
    let mut draw = Stream::new(seed, "chips");
    let mut below = |count: u64| draw.up_to(count - 1);
    let (senders, ports) = (1 + below(6), 1 + below(3));
    let policies = [
        "complete-sharing",
        "static-threshold",
        "dynamic-threshold",
        "harmonic",
        "abm",
        "follow-lqd",
        "occamy",
    ];
    let policy = policies[below(7) as usize];
    let check = ["before", "after"][below(2) as usize];
    let size = 60 + below(200);
    let headroom = match below(14) {
        10.. => String::new(),
        cells => format!("headroom = \"{cells} cells\""),
    };
    let mut keys =
        format!("size = \"{size} cells\"\nheader = \"{} bytes\"\npartitions = {}\n", below(5), 1 + below(2));
    let tokens = match policy {
        "occamy" => format!(", token_rate = \"{} per us\", token_depth = \"9 cells\"", 1 + below(30)),
        _ => String::new(),
    };
    writeln!(keys, "dt_check = \"{check}\"\nadmission = {{ policy = \"{policy}\"{tokens} }}").unwrap();
    let pushes_out = below(3) == 0;
    if pushes_out {
        let (end, counts) = (["tail", "head"][below(2) as usize], below(2) == 0);
        let keys_of_it = match below(8) {
            0 => "policy = \"pushout-1\", keep_eom = true".to_string(),
            1 => "policy = \"pushout-2\"".to_string(),
            2 => "policy = \"pushout-3\", last_eom = \"goes\"".to_string(),
            3 => "policy = \"quasi-pushout\"".to_string(),
            4 => format!("policy = \"program\", end = \"{end}\""),
            _ => format!("policy = \"longest-queue\", end = \"{end}\", counts_arrival = {counts}"),
        };
        writeln!(keys, "pushout = {{ {keys_of_it} }}").unwrap();
    }
    let removes = pushes_out || policy == "occamy";
    let side = if removes { "egress" } else { "ingress" };
    writeln!(keys, "pool.in = {{ side = \"{side}\", {headroom} }}").unwrap();
    writeln!(keys, "pool.out = {{ size = \"{} %\" }}", 60 + below(41)).unwrap();
    let alpha = if ["dynamic-threshold", "abm", "occamy"].contains(&policy) {
        format!("alpha = 0.{}", 1 + below(9))
    } else {
        String::new()
    };
    let reserved = below(3);
    let xoff = below(20.min(size / (4 * senders))); // leaves shared room in each partition
    let pauses = format!("pause = {{ xoff = \"{xoff} cells\", xon = \"{} cells\" }}", below(9));
    let opposite = match below(2) {
        _ if removes => "",
        0 => pauses.as_str(),
        _ => "opposite = { pool = \"out\" }",
    };
    writeln!(keys, "[queue.a]\npool = \"in\"\n{alpha}\nreserved = \"{reserved} cells\"\n{opposite}").unwrap();
    writeln!(
        keys,
        "[queue.b]\npool = \"out\"\nlimit = \"{} cells\"\nreserved = \"{reserved} cells\"",
        below(30)
    )
    .unwrap();
    let mut text = chip(senders, ports, 20 + below(100), &memory(&keys));
    for n in 0..senders {
        let (queue, size) = (["a", "b"][below(2) as usize], 1 + below(900));
        let flow = format!("name = \"f{n}\"\n");
        let source = format!(
            "kind = \"on-off\", peak = \"1 Gb/s\", burst = {}, off = \"{} us\", distribution = \"periodic\", \
             size = \"{size} bytes\"",
            1 + below(60),
            1 + below(300)
        );
        let own = format!("{flow}queue = \"{queue}\"\nsource = {{ {source} }}\n");
        text = text.replace(&flow, &own);
    }
    let rate = 1 + below(900);
    at_once(&text, senders)
        .replace("\"1 kb/s\"", &format!("\"{rate} Mb/s\""))
        .replace("duration = \"400 ms\"", "duration = \"3 ms\"")
}

#[test]
fn random_memories_keep_their_balances_and_are_the_same_on_both_engines() {
    let many = std::env::var("PUSHOUT_EQUIVALENCE").map_or(200, |count| count.parse().unwrap());
    let lost = |document: Json| {
        let queues = document["memories"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|memory| memory["queues"].as_array().unwrap());
        queues.map(|queue| queue["dropped"].as_u64().unwrap()).sum::<u64>()
    };
    let losing = (0..many).filter(|&seed| lost(run(&random_chip(seed), &[])) > 0).count() as u64;
    assert!(losing * 3 > many, "only {losing} of {many} memories were too small for anything");
}

/// A shipped memory, and the occupancy of a single busy queue of a class that the acceptance tests of its chip expect.
const CHIPS: [(&str, &str, u64); 4] = [
    (include_str!("../../../../scenarios/trident-2.toml"), "lossy", 31_322),
    (include_str!("../../../../scenarios/tomahawk.toml"), "lossy", 9887),
    (include_str!("../../../../scenarios/tomahawk.toml"), "lossless", 6542),
    (include_str!("../../../../scenarios/tomahawk-5.toml"), "lossless", 120_117),
];

#[test]
fn shipped_memories_explain_what_acceptance_tests_of_the_chips_expect() {
    for (text, class, expected) in CHIPS {
        let lines = thresholds(&load(text, "chip.toml", &[]).unwrap());
        let of_class = format!("class \"{class}\"");
        let line = lines.iter().find(|line| line.contains(&of_class)).unwrap();
        let (_, alone) = line.split_once("holds at most ").unwrap();
        let held: u64 = alone.split(')').next().unwrap().parse().unwrap();
        assert!(held.abs_diff(expected) <= 4, "{class}: {held}, not {expected}: {line}");
    }
}

#[test]
fn shipped_memories_run_the_same_on_both_engines_and_lose_nothing_of_the_lossless_class() {
    let texts = CHIPS
        .map(|(text, ..)| text)
        .into_iter()
        .chain([include_str!("../../../../scenarios/trident-3.toml")]);
    for text in texts {
        let document = run(text, &[]);
        let ports = document["ports"].as_array().unwrap();
        assert!(ports.iter().all(|port| port["lossless_drop"].is_null()), "{}", document["scenario"]);
        let paused = |port: &Json| port["paused_s"].as_f64().is_some_and(|seconds| seconds > 0.0);
        assert!(ports.iter().any(paused), "{}: senders were stopped", document["scenario"]);
    }
}

/// Four flows of packets in cells, more than the line carries; each has a queue of its own.
const FRAMES: &str = r#"
    name = "frames"
    duration = "200 ms"
    topology = { template = "dumbbell", sources = 4, access = { rate = "155.52 Mb/s", delay = "5 us" }, bottleneck = { rate = "155.52 Mb/s", delay = "5 us" }, egress = { rate = "155.52 Mb/s", delay = "5 us" } }
    [flows]
    source = { kind = "poisson", rate = "45 Mb/s", size = "1460 bytes" }
    transport = { kind = "udp" }
    [port.bottleneck]
    buffer = "200 cells"
    admission = { policy = "dt-epd", alpha = 1.0 }
    scheduler = { policy = "round-robin" }
"#;

/// The changes that give the port a memory, which refuses frames, instead of a buffer.
const OF_A_MEMORY: [&str; 7] = [
    "memory={ chip = { size = \"200 cells\", admission = { policy = \"dt-epd\", alpha = 1.0 } } }",
    "queue={ q1 = {}, q2 = {}, q3 = {}, q4 = {} }",
    "port.bottleneck={ memory = \"chip\", admission = { policy = \"ppd\" }, scheduler = { policy = \"round-robin\" } }",
    "flow.flow1.queue=\"q1\"",
    "flow.flow2.queue=\"q2\"",
    "flow.flow3.queue=\"q3\"",
    "flow.flow4.queue=\"q4\"",
];

#[test]
fn a_memory_of_one_cell_port_refuses_the_frames_that_the_port_would_refuse() {
    for seed in 1..=5 {
        let seed = format!("seed={seed}");
        let alone = run(FRAMES, &[&seed]);
        let sets: Vec<&str> = OF_A_MEMORY.into_iter().chain([seed.as_str()]).collect();
        let shared = run(FRAMES, &sets);
        let port = |document: &Json| {
            let port = entry(document, "ports", "bottleneck").clone();
            let lost: u64 = port["lost"].as_object().unwrap().values().filter_map(Json::as_u64).sum();
            (port["units_in"].clone(), port["units_out"].clone(), port["frames_whole_out"].clone(), lost)
        };
        assert_eq!(port(&shared), port(&alone));
        let early = entry(&alone, "ports", "bottleneck")["lost"]["early"].as_u64().unwrap();
        assert!(early > 1000, "{early} cells of refused frames");
        let delivered = |document: &Json| {
            let flows = document["flows"].as_array().unwrap();
            flows.iter().map(|flow| flow["octets_delivered"].clone()).collect::<Vec<Json>>()
        };
        assert_eq!(delivered(&shared), delivered(&alone));
    }
}

#[test]
fn push_out_in_a_memory_of_one_cell_port_loses_the_cells_that_it_loses_in_the_port() {
    let lost = |sets: &[String]| {
        let scenario = load(FRAMES, "test.toml", sets).unwrap_or_else(|fault| panic!("{fault}"));
        let losses = engine::run(&scenario, true).losses;
        losses.iter().map(|loss| format!("{loss:?}")).collect::<Vec<_>>()
    };
    let rest = "scheduler = { policy = \"round-robin\" }";
    let (mut pushed_out, mut broken) = (0, 0);
    for seed in 0..96 {
        let mut draw = Stream::new(seed, "one port");
        let size = 32 + draw.up_to(100);
        let fallback = ["next-queue", "head-fragment", "refuse"][draw.up_to(2) as usize];
        let pass_eom = draw.up_to(1) == 0;
        let seed = format!("seed={seed}");
        let admission = format!("admission = {{ policy = \"ppd\", pass_eom = {pass_eom} }}, {rest}");
        let policy = match draw.up_to(3) {
            0 => format!("\"pushout-1\", keep_eom = {}", draw.up_to(1) == 0),
            1 => "\"pushout-2\"".to_string(),
            2 => format!("\"pushout-3\", last_eom = \"{}\"", ["stays", "goes"][draw.up_to(1) as usize]),
            _ => "\"quasi-pushout\"".to_string(),
        };
        let policy = format!("policy = {policy}, fallback = \"{fallback}\"");
        let own = format!(
            "port.bottleneck={{ buffer = \"{size} cells\", {rest}, pushout = {{ {policy}, pass_eom = {pass_eom} }} }}"
        );
        let mut shared = OF_A_MEMORY.map(String::from).to_vec();
        shared[0] = format!("memory={{ chip = {{ size = \"{size} cells\", pushout = {{ {policy} }} }} }}");
        shared[2] = format!("port.bottleneck={{ memory = \"chip\", {admission} }}");
        shared.push(seed.clone());
        let (alone, shared) = (lost(&[own, seed.clone()]), lost(&shared));
        assert_eq!(alone.len(), shared.len(), "{seed} {policy} {size}");
        for (alone, shared) in alone.iter().zip(&shared) {
            assert_eq!(alone, shared, "{seed} {policy} {size}");
        }
        pushed_out += alone.iter().filter(|loss| loss.contains("PushedOut")).count();
        broken += alone.iter().filter(|loss| loss.contains("Partial")).count();
    }
    assert!(pushed_out > 10_000 && broken > 100, "{pushed_out} cells pushed out, {broken} of broken frames");
}

#[test]
fn push_out_of_packets_needs_queues_of_circuits_and_ports_that_discard_the_rest_of_them() {
    let text = by_packets(&chip(2, 2, 60, &memory("size = \"100 cells\"")));
    let refused = |set: &str| load(&text, "test.toml", &[set.to_string()]).unwrap_err().to_string();
    for (set, words) in [
        ("port.default.scheduler={ policy = \"fifo\" }", "pushout-2 shortens the queue of one circuit"),
        (
            "port.default.admission={ policy = \"tail-drop\" }",
            "\"pushout-2\" pushes out by frames and refuses others",
        ),
        (
            "memory.chip.pushout={ policy = \"longest-queue\" }",
            "these policies do: pushout-1, pushout-2, pushout-3, quasi-pushout",
        ),
        (
            "memory.chip.admission={ policy = \"occamy\" }",
            "must be a policy that expels nothing where ports send cells",
        ),
    ] {
        let why = refused(set);
        assert!(why.contains(words), "{why}");
    }
}

#[test]
fn a_memory_that_refuses_frames_needs_ports_that_discard_the_rest_of_them() {
    let with = |policy: &str| {
        let mut sets = OF_A_MEMORY.map(String::from).to_vec();
        sets[2] = sets[2].replace("ppd", policy);
        load(FRAMES, "test.toml", &sets)
    };
    for policy in [
        "tail-drop",
        "complete-sharing",
        "static-threshold",
        "dynamic-threshold",
        "harmonic",
        "drop-from-front",
    ] {
        let why = with(policy).unwrap_err().to_string();
        assert!(why.contains("memory.chip.admission"), "{why}");
        assert!(
            why.contains("give the port a policy by frames, as in admission = { policy = \"ppd\" }"),
            "{why}"
        );
    }
    for policy in ["ppd", "epd", "dt-epd", "red"] {
        assert!(with(policy).is_ok(), "{policy}");
    }
}
