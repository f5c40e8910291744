//! Workloads from lists: exact times on an empty path, the same as flows would have, order, and what is refused.

use crate::behaviour::both::run_on_both;
use pushout_core::api::Request;
use pushout_core::scenario::explain;
use pushout_core::scenario::model::Scenario;
use pushout_core::serde_json::{Value as Json, json};
use pushout_core::units::ids::FlowId;

/// Four lines between two hosts at two leaves; packets of 1500 octets, and acknowledgements of 52.
const LONE: &str = r#"
name = "list"
duration = "1 s"
adaptation = { kind = "packet" }
[topology]
template = "leaf-spine"
leaves = 2
spines = 1
hosts = 1
host = { rate = "1 Gb/s", delay = "5 us" }
fabric = { rate = "1 Gb/s", delay = "5 us" }
[flows]
transport = { kind = "tcp", profile = "linux", handshake = false }
[measure]
transfers = true
[workload]
kind = "list"
"#;

fn text(rows: &str) -> String {
    format!("{LONE}data = \"\"\"\n{rows}\"\"\"\n")
}

fn load(rows: &str, sets: &[&str]) -> Result<Scenario, String> {
    let sets: Vec<String> = sets.iter().map(ToString::to_string).collect();
    let text = text(rows);
    let request = Request { text: &text, name: "list.toml", sets: &sets, ..Request::default() };
    request.scenario().map(|(scenario, _)| scenario).map_err(|refusal| refusal.message)
}

/// The transfers of a report: name, start and time in picoseconds.
fn times(report: &Json) -> Vec<(String, u64, u64)> {
    let ps = |value: &Json| (value.as_f64().expect("a time") * 1e12).round() as u64;
    let one =
        |row: &Json| (row["name"].as_str().unwrap().to_string(), ps(&row["start_s"]), ps(&row["time_s"]));
    report["transfers"].as_array().unwrap().iter().map(one).collect()
}

/// A full packet takes 12 us on each of four lines, an acknowledgement 0.416 us, and each delay is 5 us.
const ALONE: u64 = 4 * 12_000_000 + 4 * 416_000 + 8 * 5_000_000;

#[test]
fn a_transfer_on_an_empty_path_takes_its_transmissions_and_delays() {
    let report =
        run_on_both(&text("from,to,bytes,start\nhost1,host2,1448,0\nhost2,host1,1448 B,1 ms\n"), &[]);
    assert_eq!(
        times(&report),
        [("workload.1".to_string(), 0, ALONE), ("workload.2".to_string(), 1_000_000_000, ALONE)]
    );
    let summary = &report["summary"];
    assert_eq!((&summary["fct"]["count"], &summary["transfers"]), (&json!(2), &json!(2)));
    let expected = json!({
        "transfers": 2, "completed": 2, "unfinished": 0, "not_started": 0, "octets": 2896,
        "first_start_s": 0.0, "last_finish_s": 1e-3 + ALONE as f64 / 1e12,
    });
    assert_eq!(summary["workload"], expected);
    assert_eq!(report["flows"], json!([]), "flows are those that the scenario names");
}

#[test]
fn a_transfer_waits_for_others_and_then_for_its_delay() {
    let rows = "from,to,bytes,start,name,after\n\
        0,1,1448,2 us,first,\n\
        1,0,1448,,second,first\n\
        0,1,1448,7 us,third,first;second\n\
        0,1,1448,0.9999,late,\n\
        1,0,1448,,never,late\n\
        1,0,1448,2,after the end,\n";
    let report = run_on_both(&text(rows), &["duration='1 s'"]);
    let second = 2_000_000 + ALONE;
    let third = second + ALONE + 7_000_000;
    let found: Vec<Json> =
        report["transfers"].as_array().unwrap().iter().map(|row| row["start_s"].clone()).collect();
    assert_eq!(found[..3], [json!(2e-6), json!(second as f64 / 1e12), json!(third as f64 / 1e12)]);
    assert_eq!(found[4], json!(0.9999 + ALONE as f64 / 1e12));
    let workload = &report["summary"]["workload"];
    assert_eq!(
        (&workload["completed"], &workload["unfinished"], &workload["not_started"]),
        (&json!(4), &json!(1), &json!(1))
    );
    assert_eq!(workload["critical_path"], json!(["late"]));
    assert_eq!(report["summary"]["fct"]["unfinished"], 1);
    let early = run_on_both(&text(&rows.replace("0.9999", "0")), &["duration='300 us'"]);
    assert_eq!(early["summary"]["workload"]["critical_path"], json!(["first", "second", "third"]));
}

#[test]
fn the_delay_of_all_that_wait_adds_to_the_start_of_a_row() {
    let rows = "from,to,bytes,start,name,after\n\
        0,1,1448,2 us,first,\n\
        1,0,1448,,second,first\n\
        0,1,1448,7 us,third,first;second\n";
    let delay = "workload.after_delay='3 us'";
    let report = run_on_both(&text(rows), &[delay]);
    let second = 2_000_000 + ALONE + 3_000_000;
    let third = second + ALONE + 3_000_000 + 7_000_000;
    let starts: Vec<u64> = times(&report).into_iter().map(|(_, start, _)| start).collect();
    assert_eq!(starts, [2_000_000, second, third]);
    let explicit = explain(&load(rows, &[delay]).unwrap()).to_string();
    assert_eq!(
        run_on_both(&explicit, &[])["transfers"],
        report["transfers"],
        "rows of the explicit form have the sums"
    );
}

#[test]
fn delays_that_make_no_sense_are_refused() {
    let why = |rows: &str, delay: &str| {
        let rows = format!("from,to,bytes,start,name,after\n0,1,1,0,a,\n{rows}");
        load(&rows, &[&format!("workload.after_delay='{delay}'")]).unwrap_err()
    };
    let late = "must be at most 50 days together with the start of a row that waits, not \"432000";
    for (rows, delay, part) in [
        ("1,0,1,,b,a\n", "-1 us", "a time cannot be negative"),
        ("1,0,1,,b,a\n", "3", "the unit is missing"),
        ("1,0,1,,b,a\n", "4320001 s", late),
        ("1,0,1,1 s,b,a\n", "4320000 s", late),
        (
            "1,0,1,0,b,\n",
            "1 us",
            "must be 0 s where no row names transfers in the column after, not \"1 us\"",
        ),
    ] {
        let message = why(rows, delay);
        assert!(message.contains("workload.after_delay") && message.contains(part), "{delay}: {message}");
    }
}

#[test]
fn transfers_that_start_after_the_run_are_named_in_a_warning() {
    let warned = |rows: &str| {
        let text = text(rows);
        let warnings = Request { text: &text, name: "list.toml", ..Request::default() }.scenario().unwrap().1;
        warnings
            .into_iter()
            .filter(|warning| warning.code == "late-transfers")
            .map(|warning| warning.message)
            .collect::<Vec<_>>()
    };
    assert_eq!(warned("from,to,bytes,start\n0,1,1,0\n"), Vec::<String>::new());
    let late = warned("from,to,bytes,start,name,after\n0,1,1,1,,\n0,1,1,2.5,,\n0,1,1,0,a,\n0,1,1,9,,a\n");
    assert_eq!(late.len(), 1);
    assert!(
        late[0].contains("2 of the 4 transfers") && late[0].contains("at 1 s, the last at 2500 ms"),
        "{late:?}"
    );
}

#[test]
fn the_warm_up_hides_transfers_from_figures_but_not_from_the_order() {
    let rows = "from,to,bytes,start,name,after\n0,1,1448,0,a,\n1,0,1448,200 us,b,a\n";
    let report = run_on_both(&text(rows), &["warmup='100 us'"]);
    assert_eq!(report["summary"]["fct"]["count"], 1);
    assert_eq!(report["transfers"][0]["time_s"], Json::Null);
    assert_eq!(report["summary"]["workload"]["completed"], 2);
    assert_eq!(times(&json!({ "transfers": [report["transfers"][1]] }))[0].1, ALONE + 200_000_000);
}

#[test]
fn a_list_gives_the_times_that_flows_with_these_transfers_have() {
    let rows = "from,to,bytes,start,name\n0,1,300000,0,flow1\n0,1,5000,40 us,b\n0,1,100000,50 us,c\n";
    let ports = ["port.default.buffer=20 packets", "topology.fabric.rate=200 Mb/s"];
    let listed = run_on_both(&text(rows), &ports);
    let flow = |(name, size, start): (&str, u64, u64)| {
        format!(
            "[[flow]]\nname = '{name}'\nfrom = 'host1'\nto = 'host2'\nstart = '{start} us'\n\
             source = {{ kind = 'file', size = '{size} B', off = '9 s' }}\n"
        )
    };
    let flows: String =
        [("flow1", 300_000, 0), ("b", 5_000, 40), ("c", 100_000, 50), ("flow2", 1, 2_000_000)]
            .map(flow)
            .concat();
    let flows = LONE
        .replace("[workload]\nkind = \"list\"\n", &flows)
        .replace("name = 'flow2'\nfrom = 'host1'\nto = 'host2'", "name = 'flow2'");
    let report = run_on_both(&flows, &ports);
    let of_flows = report["flows"].as_array().unwrap();
    let of = |name: &str| {
        of_flows.iter().find(|flow| flow["name"] == name).unwrap()["transfer_times_s"][0].clone()
    };
    let found: Vec<Json> =
        listed["transfers"].as_array().unwrap().iter().map(|row| row["time_s"].clone()).collect();
    assert_eq!(found, [of("flow1"), of("b"), of("c")]);
    assert!(report["summary"]["retransmission_ratio"].as_f64() > Some(0.0), "packets are lost");
}

#[test]
fn a_scenario_and_its_explicit_form_have_the_same_transfers() {
    let rows =
        "from,to,bytes,start,name,class,after\n0,1,3000,0,a,short,\n1,0,3000,1 us,\"b, the second\",,a\n";
    let scenario = load(rows, &[]).unwrap();
    assert_eq!(scenario.flows[FlowId(0)].class, "short");
    let explicit = explain(&scenario);
    assert_eq!(
        explicit["workload"]["data"],
        "from,to,bytes,start,name,queue,class,after\nhost1,host2,3000,0 s,a,,short,\nhost2,host1,3000,1 us,\"b, the second\",,,a\n"
    );
    let text = explicit.to_string();
    let again = Request { text: &text, name: "explicit.json", ..Request::default() }.scenario().unwrap().0;
    assert_eq!((again.flows, again.vcs, again.workload), (scenario.flows, scenario.vcs, scenario.workload));
}

#[test]
fn losses_of_the_flow_workload_count_the_packets_of_all_its_transfers() {
    let rows = "from,to,bytes,start\n0,1,1448,0\n0,1,1448,1 ms\n";
    let loss = "loss=[{link='fabric', flow='workload', packets=[1]}]";
    let report = run_on_both(&text(rows), &[loss, "duration=5 s"]);
    let lost: u64 =
        report["ports"].as_array().unwrap().iter().filter_map(|port| port["lost"]["link"].as_u64()).sum();
    assert!(lost > 0, "{:?}", report["ports"]);
    assert_eq!(report["summary"]["workload"]["completed"], 2);
}

#[test]
fn a_wrong_row_is_refused_with_its_line() {
    let why = |rows: &str| load(rows, &[]).unwrap_err();
    let head = "from,to,bytes,start,name,queue,after\n";
    for (rows, part) in [
        (
            "0,1,1,0,,,\n0,9,1,0,,,\n",
            "workload.data: line 3: to must be a host, from 0 to 1 in this scenario, not 9",
        ),
        ("0,hots1,1,0,,,\n", "line 2: to: unknown node \"hots1\"; did you mean \"host1\"?"),
        ("0,leaf1,1,0,,,\n", "line 2: to must be a host; flows start and end at hosts"),
        ("0,host1,1,0,,,\n", "line 2: to must be a host other than that of from"),
        ("0,1,1,0,a,,\n0,1,1,0,a,,\n", "line 3: the name \"a\" is given twice"),
        ("0,1,1,0,,fast,\n", "line 2: queue: unknown queue \"fast\""),
        ("0,1,1,-1 us,,,\n", "line 2: start must be from 0"),
        ("0,1,1,0,,,b\n", "line 2: after: unknown transfer \"b\""),
        (
            "0,1,1,0,a,,b\n0,1,1,0,b,,a\n",
            "line 2: after must not lead back to the same transfer: a waits for b",
        ),
    ] {
        let message = why(&format!("{head}{rows}"));
        assert!(message.contains(part), "{rows:?}: {message}");
    }
    let unread =
        load("from,to,bytes,start\n0,1,1,0\n", &["workload={kind='list', file='a.csv'}"]).unwrap_err();
    assert!(unread.contains("the file has not been read"), "{unread}");
}

#[test]
fn defaults_of_flows_that_contradict_a_workload_are_refused() {
    let why = |set: &str| load("from,to,bytes,start\n0,1,1,0\n", &[set]).unwrap_err();
    for set in ["flows.source={kind='greedy'}", "flows.start=1 s", "flows.pvc=one", "flows.stop=1 s"] {
        assert!(why(set).contains("cannot be a default beside [workload]"), "{}", why(set));
    }
    assert!(
        why("flows.transport={kind='udp'}").contains("does not fit the transport"),
        "{}",
        why("flows.transport={kind='udp'}")
    );
    assert!(why("flows.mcr=9 Tb/s").contains("flows.mcr"), "{}", why("flows.mcr=9 Tb/s"));
}
