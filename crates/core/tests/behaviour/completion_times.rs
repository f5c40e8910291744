//! Completion times in reports, computed a second time from the list of transfers.

use crate::behaviour::both::run_on_both;
use pushout_core::serde_json::{Value as Json, json};

/// Two leaves with four hosts each.
const FABRIC: &str = r#"
    name = "fabric"
    duration = "400 ms"
    adaptation = { kind = "packet" }
    measure = { transfers = true }
    [topology]
    template = "leaf-spine"
    leaves = 2
    spines = 2
    hosts = 4
    host = { rate = "100 Mb/s", delay = "10 us" }
    fabric = { rate = "150 Mb/s", delay = "20 us" }
    [flows]
    source = { kind = "arrivals", sizes = { exponential = { mean = "20 kB" } }, rate = "50 per s", to = "any" }
    transport = { kind = "tcp", profile = "linux", handshake = false }
"#;

/// Octets of data in a full segment of the profile, and of headers before them.
const DATA: u64 = 1448;
const HEADERS: u64 = 52;

/// A line on the way of a transfer: megabits per second and seconds of delay.
type Line = (f64, f64);

/// The lines between two hosts of [`FABRIC`].
fn fabric(from: &str, to: &str) -> Vec<Line> {
    let leaf = |host: &str| host.trim_start_matches("host").parse::<u64>().unwrap().div_ceil(4);
    let (edge, inner) = ((100.0, 10e-6), (150.0, 20e-6));
    if leaf(from) == leaf(to) { vec![edge, edge] } else { vec![edge, inner, inner, edge] }
}

/// Compute the time of a transfer without other traffic, by following each packet through each line, and the ACK of the
/// last one back.
fn shortest_time(octets: u64, lines: &[Line]) -> f64 {
    let through = |packets: &[u64], lines: &mut dyn Iterator<Item = &Line>| {
        let arrivals = lines.fold(vec![0.0; packets.len()], |arrivals, &(rate, delay)| {
            let mut free = 0.0;
            let leave = |(at, octets): (f64, &u64)| {
                free = f64::max(free, at) + 8e-6 * *octets as f64 / rate;
                free + delay
            };
            arrivals.into_iter().zip(packets).map(leave).collect()
        });
        arrivals.last().copied().unwrap()
    };
    let packets: Vec<u64> =
        (0..octets.div_ceil(DATA)).map(|n| HEADERS + (octets - n * DATA).min(DATA)).collect();
    through(&packets, &mut lines.iter()) + through(&[HEADERS], &mut lines.iter().rev())
}

/// A transfer of the list.
struct Transfer {
    octets: u64,
    start: f64,
    /// Duration of the transfer, or its age if it has not ended.
    time: Result<f64, f64>,
    ideal: f64,
}

impl Transfer {
    fn of(row: &Json, end: f64, lines: &dyn Fn(&str, &str) -> Vec<Line>) -> Transfer {
        let name = |key: &str| row[key].as_str().unwrap();
        let (octets, start) = (row["octets"].as_u64().unwrap(), row["start_s"].as_f64().unwrap());
        let ideal = shortest_time(octets, &lines(name("from"), name("to")));
        let time = row["time_s"].as_f64().ok_or(end - start);
        match time {
            Ok(time) => near(&row["slowdown"], time / ideal, "slowdown"),
            Err(_) => assert_eq!(row["slowdown"], Json::Null),
        }
        Transfer { octets, start, time, ideal }
    }

    fn slowdown(&self) -> Option<f64> {
        self.time.ok().map(|time| time / self.ideal)
    }
}

fn near(value: &Json, wanted: f64, what: &str) {
    let value = value.as_f64().unwrap_or_else(|| panic!("{what} is {value}"));
    assert!((value / wanted - 1.0).abs() < 1e-12, "{what}: {value}, not {wanted}");
}

/// The number, or its absence.
fn same(value: &Json, wanted: Option<f64>, what: &str) {
    match wanted {
        Some(wanted) => near(value, wanted, what),
        None => assert_eq!(value, &Json::Null, "{what}"),
    }
}

/// Check count, mean and percentiles: the percentile p is the least value that at least the part p of all values do not
/// exceed.
fn check_spread(entry: &Json, values: &[f64], what: &str) {
    assert_eq!(entry["count"], values.len(), "{what}");
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    same(&entry["mean"], (!values.is_empty()).then_some(mean), &format!("{what}: mean"));
    for (name, permille) in [("p50", 500), ("p95", 950), ("p99", 990), ("p999", 999)] {
        let reaches = |x: f64| 1000 * values.iter().filter(|y| **y <= x).count() >= permille * values.len();
        let least = values.iter().copied().filter(|x| reaches(*x)).reduce(f64::min);
        same(&entry[name], least, &format!("{what}: {name}"));
    }
}

/// Check the slowdowns of some transfers: of those that ended, and the worst of the others so far.
fn check_slowdowns(entry: &Json, transfers: &[&Transfer], what: &str) {
    check_spread(entry, &transfers.iter().filter_map(|one| one.slowdown()).collect::<Vec<_>>(), what);
    let waiting: Vec<f64> =
        transfers.iter().filter_map(|one| one.time.err().map(|age| age / one.ideal)).collect();
    assert_eq!(entry["unfinished"], waiting.len(), "{what}");
    same(
        &entry["unfinished_max"],
        waiting.into_iter().reduce(f64::max),
        &format!("{what}: worst unfinished"),
    );
}

/// Check every figure of `summary.fct`, of the transfers that start after the warm-up.
fn check_completion(document: &Json, lines: &dyn Fn(&str, &str) -> Vec<Line>) -> Vec<Transfer> {
    let seconds = |key: &str| document[key].as_f64().unwrap();
    let rows = document["transfers"].as_array().unwrap().iter();
    let all = rows.map(|row| Transfer::of(row, seconds("duration_s"), lines));
    let counted: Vec<Transfer> = all.filter(|one| one.start >= seconds("warmup_s")).collect();
    let fct = &document["summary"]["fct"];
    let ages: Vec<f64> = counted.iter().filter_map(|one| one.time.err()).collect();
    assert_eq!(fct["count"], counted.len() - ages.len());
    assert_eq!(fct["unfinished"], ages.len());
    same(&fct["unfinished_age_max_s"], ages.into_iter().reduce(f64::max), "age");
    let classes = [("all", 0..u64::MAX), ("short", 0..100_000), ("medium", 100_000..1_000_000)];
    for (name, sizes) in classes.into_iter().chain([("long", 1_000_000..u64::MAX)]) {
        let of_class: Vec<&Transfer> = counted.iter().filter(|one| sizes.contains(&one.octets)).collect();
        check_slowdowns(&fct["slowdown"][name], &of_class, name);
    }
    counted
}

/// Only the first host draws transfers, `count` of them in the first second, and all have time to end.
fn of_one_host(count: u64) -> Json {
    let source = format!("flow.flow1.source.rate={count} per s");
    let mut sets = vec!["duration=3 s", "flow.flow1.stop=1 s", "flow.flow1.source.gaps=fixed", &source];
    let others: Vec<String> = (2..=8).map(|n| format!("flow.flow{n}.start=3 s")).collect();
    sets.extend(others.iter().map(String::as_str));
    run_on_both(FABRIC, &sets)
}

#[test]
fn percentiles_of_one_of_three_and_of_150_transfers_are_values_of_transfers() {
    for count in [1, 3, 150] {
        let transfers = check_completion(&of_one_host(count), &fabric);
        assert_eq!(transfers.iter().filter_map(Transfer::slowdown).count() as u64, count);
    }
}

#[test]
fn transfers_of_the_warm_up_do_not_count() {
    let document = run_on_both(FABRIC, &["warmup=100 ms"]);
    let counted = check_completion(&document, &fabric).len();
    let all = document["transfers"].as_array().unwrap().len();
    assert!(counted > 20 && all > counted + 20, "{counted} of {all}");
}

#[test]
fn transfers_under_way_count_with_their_ages() {
    let document = run_on_both(FABRIC, &["flows.source.rate=400 per s"]);
    let unfinished = document["summary"]["fct"]["unfinished"].as_u64().unwrap();
    assert!(unfinished > 20, "{unfinished}");
    check_completion(&document, &fabric);
}

#[test]
fn a_size_at_the_edge_of_a_class_belongs_to_the_larger_ones() {
    let sizes = [(1, 99_999), (2, 100_000), (3, 999_999), (4, 1_000_000)];
    let own = sizes.map(|(flow, size)| format!("flow.flow{flow}.source.sizes={size} B"));
    let others = (5..=8).map(|flow| format!("flow.flow{flow}.start=9 s"));
    let sets: Vec<String> = own
        .into_iter()
        .chain(others)
        .chain(["flows.source.rate=4 per s", "duration=1 s"].map(String::from))
        .collect();
    let document = run_on_both(FABRIC, &sets.iter().map(String::as_str).collect::<Vec<_>>());
    let transfers = check_completion(&document, &fabric);
    let of_sizes = sizes.map(|(_, size)| transfers.iter().filter(|one| one.octets == size).count());
    let slowdown = &document["summary"]["fct"]["slowdown"];
    let counts = ["short", "medium", "long"].map(|class| {
        slowdown[class]["count"].as_u64().unwrap() + slowdown[class]["unfinished"].as_u64().unwrap()
    });
    let [short, low, high, long] = of_sizes.map(|count| count as u64);
    assert_eq!(counts, [short, low + high, long]);
    assert!(of_sizes.iter().all(|count| *count >= 2), "{of_sizes:?}");
}

/// Five hosts around a switch. Each query requests 5 kB from two of four hosts; the line of one of them carries 2 kB in
/// the whole time.
const STAR: &str = r#"
    name = "star"
    duration = "2 s"
    warmup = "300 ms"
    adaptation = { kind = "packet" }
    measure = { transfers = true }
    node = [
        { name = "a", kind = "host" }, { name = "b", kind = "host" }, { name = "c", kind = "host" },
        { name = "d", kind = "host" }, { name = "silent", kind = "host" }, { name = "r", kind = "router", latency = "3 us" },
    ]
    link = [
        { from = "a", to = "r", rate = "100 Mb/s", delay = "10 us" },
        { from = "b", to = "r", rate = "100 Mb/s", delay = "10 us" },
        { from = "c", to = "r", rate = "50 Mb/s", delay = "10 us" },
        { from = "d", to = "r", rate = "20 Mb/s", delay = "10 us" },
        { from = "silent", to = "r", rate = "8 kb/s", delay = "10 us" },
    ]
    [[flow]]
    name = "ask"
    from = "a"
    to = "b"
    source = { kind = "query", fan_in = 2, size = "10 kB", rate = "40 per s" }
    transport = { kind = "tcp", profile = "linux", handshake = false }
"#;

#[test]
fn a_query_with_an_answer_that_never_ends_is_unfinished_and_the_others_end_with_their_last_answer() {
    let document = run_on_both(STAR, &[]);
    let rows = document["transfers"].as_array().unwrap();
    let queries = rows.chunks(2).filter(|answers| answers[0]["start_s"].as_f64().unwrap() >= 0.3);
    let silent = |answers: &&[Json]| answers.iter().any(|answer| answer["from"] == "silent");
    let (never, ended): (Vec<&[Json]>, Vec<&[Json]>) = queries.partition(silent);
    assert!(never.len() > 10 && ended.len() > 10, "{} and {}", never.len(), ended.len());
    assert!(never.iter().any(|answers| answers[0]["time_s"].is_null() && !answers[1]["time_s"].is_null()));
    assert!(never.iter().any(|answers| !answers[0]["time_s"].is_null() && answers[1]["time_s"].is_null()));
    let time = |answer: &Json| answer["time_s"].as_f64().unwrap();
    let times: Vec<f64> =
        ended.iter().map(|answers| f64::max(time(&answers[0]), time(&answers[1]))).collect();
    let entry = &document["summary"]["query"];
    check_spread(entry, &times, "query");
    assert_eq!(entry["unfinished"], never.len());
    assert_eq!(document["summary"]["fct"]["count"], json!(0), "answers are no transfers of their own");
}

#[test]
fn the_ideal_counts_each_line_on_the_way_of_an_answer_at_its_own_rate() {
    let lines = |from: &str, _: &str| {
        let rate = match from {
            "silent" => 0.008,
            "d" => 20.0,
            "c" => 50.0,
            _ => 100.0,
        };
        vec![(rate, 10e-6 + 3e-6), (100.0, 10e-6)] // with the latency of the router
    };
    let document = run_on_both(STAR, &[]);
    let rows = document["transfers"].as_array().unwrap().iter();
    let answers: Vec<Transfer> = rows.map(|row| Transfer::of(row, 2.0, &lines)).collect();
    let fastest = answers.iter().filter_map(Transfer::slowdown).fold(f64::INFINITY, f64::min);
    assert!((fastest - 1.0).abs() < 1e-9, "an answer that meets no other one: {fastest}");
}

#[test]
fn the_only_query_of_one_source_is_not_one_with_that_of_another_source() {
    let source = "{kind='query', fan_in=2, size='10 kB', rate='1 per s', gaps='fixed'}";
    let transport = "{kind='tcp', profile='linux', handshake=false}";
    let flow = |name: &str, from: &str, to: &str| {
        format!(
            "{{name='{name}', from='{from}', to='{to}', stop='1 s', source={source}, transport={transport}}}"
        )
    };
    let both = format!("flow=[{}, {}]", flow("ask", "a", "b"), flow("other", "b", "a"));
    let document = run_on_both(STAR, &[&both, "warmup=0 s"]);
    assert_eq!(document["transfers"].as_array().unwrap().len(), 4);
    let entry = &document["summary"]["query"];
    assert_eq!(entry["count"].as_u64().unwrap() + entry["unfinished"].as_u64().unwrap(), 2);
}
